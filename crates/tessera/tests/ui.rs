//! What types decide is a compile error that starts with the rule's id.
//!
//! The cases are in `tests/ui`; the first line of each names the message. trybuild compares whole outputs, and what
//! surrounds a constant's panic differs from compiler to compiler, so a child process lets trybuild write the outputs
//! beside copies of the cases, and only our own line is compared. One case is legal: with it trybuild builds instead of
//! checking, and only a build evaluates the constants of generic functions.

use std::io::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui");
const COPIES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/ui");

/// A case.
struct Case {
    file: PathBuf,
    /// What trybuild compiles, and writes the output beside.
    copy: PathBuf,
    /// The message that the first line announces; none for the legal case.
    message: Option<String>,
}

fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(CASES)? {
        let entry = entry?;
        let text = std::fs::read_to_string(entry.path())?;
        let message = text.lines().next().and_then(|l| l.strip_prefix("// error: "));
        cases.push(Case {
            file: entry.path(),
            copy: Path::new(COPIES).join(entry.file_name()),
            message: message.map(String::from),
        });
    }
    cases.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(cases)
}

#[test]
fn compile_errors_start_with_the_rule() -> Result<()> {
    if std::env::var_os("TRYBUILD").is_some() {
        let build = trybuild::TestCases::new();
        for case in cases()? {
            match case.message {
                Some(_) => build.compile_fail(case.copy),
                None => build.pass(case.copy),
            }
        }
        return Ok(());
    }
    std::fs::create_dir_all(COPIES)?;
    for case in cases()? {
        std::fs::copy(&case.file, &case.copy)?;
        // An output of an earlier run must not pass for one of this run.
        std::fs::write(case.copy.with_extension("stderr"), "")?;
    }
    let child = Command::new(std::env::current_exe()?)
        .args(["compile_errors_start_with_the_rule", "--exact", "--nocapture"])
        .env("TRYBUILD", "overwrite")
        .output()?;
    let output = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{output}");
    let mut refused = 0;
    for case in cases()? {
        let Some(message) = case.message else { continue };
        let stderr = std::fs::read_to_string(case.copy.with_extension("stderr"))?;
        let found = stderr.lines().any(|l| l.starts_with("error") && l.contains(&message));
        assert!(found, "{}: no line with `{message}` in\n{stderr}", case.file.display());
        refused += 1;
    }
    assert_eq!(refused + 1, cases()?.len(), "one case is legal");
    Ok(())
}
