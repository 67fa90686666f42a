//! What the tests of C++ share: compilers, the static library, npy files.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::PathBuf;
use std::process::Command;

/// The folder of the crate.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Is a compiler here?
pub fn has_compiler(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// The compilers to try: g++ and a clang++ where they are here, or all of `TESSERA_COMPILERS` (`all`: every g++ from 12 and
/// clang++ from 14 that is installed). What is missing is said.
pub fn compilers() -> Vec<String> {
    let here = |names: Vec<String>| names.into_iter().filter(|n| has_compiler(n)).collect::<Vec<_>>();
    let versions = |name: &str, from: u32| (from..=30).rev().map(|v| format!("{name}-{v}")).collect::<Vec<_>>();
    let with_plain = |name: &str, from: u32| here([vec![name.to_string()], versions(name, from)].concat());
    let (gcc, clang) = (with_plain("g++", 12), with_plain("clang++", 14));
    let missing = |what: &str| {
        let line = format!("warning: no {what} is installed, and the headers are not tried with it\n");
        // Past the harness, which shows nothing of a test that passes.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    };
    gcc.is_empty().then(|| missing("g++ (12 or later)"));
    clang.is_empty().then(|| missing("clang++ (14 or later)"));
    match std::env::var("TESSERA_COMPILERS") {
        Ok(all) if all == "all" => [gcc, clang].concat(),
        Ok(names) if !names.is_empty() => here(names.split(',').map(str::to_string).collect()),
        _ => gcc.into_iter().take(1).chain(clang.into_iter().take(1)).collect(),
    }
}

/// The static library that was built with this test: cargo puts it beside the test, under a name with a hash.
pub fn library() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let entries = std::fs::read_dir(exe.parent().unwrap()).unwrap().filter_map(Result::ok);
    let archives = entries.filter(|e| {
        let name = e.file_name().to_string_lossy().into_owned();
        name.starts_with("libtessera_capi") && name.ends_with(".a")
    });
    let newest = archives.max_by_key(|e| e.metadata().and_then(|m| m.modified()).ok());
    newest.expect("cargo test builds the static library too").path()
}
