//! What types decide is a compile error that starts with the rule's id.
//!
//! The cases are in `tests/ui`; the first line of each names the message. The compiler is called with the library that this
//! test was linked with, so that nothing is built twice. What surrounds a constant's panic differs from compiler to
//! compiler: only our own line is compared.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui");
const OBJECTS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/ui");

/// Where the library lies that this test was linked with: the newest one that is not newer than the test.
fn library() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let linked = test.metadata()?.modified()?;
    let folder = test.parent().ok_or_else(|| Error::other("the test lies in no folder"))?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let (entry, is_library) = entry.map(|e| (e.path(), is_library(&e.file_name().to_string_lossy())))?;
        let built = entry.metadata()?.modified()?;
        if is_library && built <= linked {
            found.push((built, entry));
        }
    }
    found.into_iter().max().map(|(_, path)| path).ok_or_else(|| Error::other("there is no library beside the test"))
}

fn is_library(name: &str) -> bool {
    name.starts_with("libtessera-") && name.ends_with(".rlib")
}

/// Compiles a case as far as constants of generic functions are evaluated. Tells whether that went well, and what was said.
fn compile(case: &Path, library: &Path) -> Result<(bool, String)> {
    let mut library_is = std::ffi::OsString::from("tessera=");
    library_is.push(library);
    let ran = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2024", "--crate-type=bin", "--emit=obj", "--out-dir", OBJECTS, "--extern"])
        .arg(library_is)
        .arg("-L")
        .arg(library.parent().unwrap_or(Path::new(".")))
        .arg(case)
        .output()?;
    Ok((ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned()))
}

/// A case: what it should say, and what it says.
fn judge(case: &Path, library: &Path) -> Result<()> {
    let text = std::fs::read_to_string(case)?;
    let wanted = text.lines().next().and_then(|line| line.strip_prefix("// error: "));
    let (is_legal, said) = compile(case, library)?;
    let is_right = match wanted {
        None => is_legal,
        Some(message) => !is_legal && said.lines().any(|l| l.starts_with("error") && l.contains(message)),
    };
    assert!(is_right, "{}: wanted {}, the compiler says\n{said}", case.display(), wanted.unwrap_or("no error"));
    Ok(())
}

#[test]
fn compile_errors_start_with_the_rule() -> Result<()> {
    std::fs::create_dir_all(OBJECTS)?;
    let library = library()?;
    let cases: Vec<PathBuf> = std::fs::read_dir(CASES)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    assert!(cases.len() > 30, "the cases are in {CASES}");
    let hands = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        let shares: Vec<_> = cases.chunks(cases.len().div_ceil(hands)).collect();
        let judges: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(|| share.iter().try_for_each(|case| judge(case, &library))))
            .collect();
        judges.into_iter().try_for_each(|judge| judge.join().unwrap_or_else(|said| std::panic::resume_unwind(said)))
    })
}
