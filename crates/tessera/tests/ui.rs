//! What types decide is a compile error that starts with the rule's id.
//!
//! The cases are in `tests/ui`; the first line of each names the message. trybuild compares whole outputs, and what
//! surrounds a constant's panic differs from compiler to compiler, so a child process lets trybuild write the outputs
//! beside copies of the cases, and only our own line is compared. One case is legal: with it trybuild builds instead of
//! checking, and only a build evaluates the constants of generic functions.

use std::path::{Path, PathBuf};
use std::process::Command;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui");
const COPIES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/ui");

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(CASES)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    cases.sort();
    cases
}

fn copy_of(case: &Path) -> PathBuf {
    Path::new(COPIES).join(case.file_name().unwrap())
}

/// The message that the first line of a case announces; none for the legal one.
fn message(case: &Path) -> Option<String> {
    let text = std::fs::read_to_string(case).unwrap();
    text.lines()
        .next()
        .and_then(|l| l.strip_prefix("// error: "))
        .map(String::from)
}

#[test]
fn compile_errors_start_with_the_rule() {
    if std::env::var_os("TRYBUILD").is_some() {
        let build = trybuild::TestCases::new();
        for case in cases() {
            match message(&case) {
                Some(_) => build.compile_fail(copy_of(&case)),
                None => build.pass(copy_of(&case)),
            }
        }
        return;
    }
    std::fs::create_dir_all(COPIES).unwrap();
    for case in cases() {
        std::fs::copy(&case, copy_of(&case)).unwrap();
        let _ = std::fs::remove_file(copy_of(&case).with_extension("stderr"));
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["compile_errors_start_with_the_rule", "--exact", "--nocapture"])
        .env("TRYBUILD", "overwrite")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stderr).into_owned() + &String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{output}");
    let failing: Vec<_> = cases()
        .into_iter()
        .filter_map(|c| message(&c).map(|m| (c, m)))
        .collect();
    assert!(
        failing.len() >= 15 && failing.len() < cases().len(),
        "one case is legal"
    );
    for (case, message) in failing {
        let stderr = std::fs::read_to_string(copy_of(&case).with_extension("stderr")).unwrap();
        let found = stderr.lines().any(|l| l.starts_with("error") && l.contains(&message));
        assert!(found, "{}: no line with `{message}` in\n{stderr}", case.display());
    }
}
