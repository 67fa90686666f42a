//! What the tests of C++ share: compilers, the static library, npy files.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
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

/// The elements of an npy file, in C order and little-endian, and its shape.
pub struct Npy {
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

impl Npy {
    /// Reads a file of version 1 or 2.
    pub fn read(path: &Path) -> Result<Npy, String> {
        let file = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let long = file.get(6) == Some(&2);
        let start = if long { 12 } else { 10 };
        let len = if long {
            u32::from_le_bytes([file[8], file[9], file[10], file[11]]) as usize
        } else {
            usize::from(u16::from_le_bytes([file[8], file[9]]))
        };
        let header = String::from_utf8_lossy(&file[start..start + len]).into_owned();
        let between = |a: &str, b: &str| Some(header.split_once(a)?.1.split_once(b)?.0.to_string());
        let descr = between("'descr': '", "'").ok_or("no descr")?;
        let shape = between("'shape': (", ")").ok_or("no shape")?;
        let shape: Vec<u64> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        let size: usize = descr[2..].parse().map_err(|_| format!("descr {descr}"))?;
        let mut bytes = file[start + len..].to_vec();
        if descr.starts_with('>') {
            bytes.chunks_mut(size).for_each(<[u8]>::reverse);
        }
        if header.contains("'fortran_order': True") {
            bytes = c_order(&shape, size, &bytes);
        }
        Ok(Npy { shape, bytes })
    }
}

fn c_order(shape: &[u64], size: usize, bytes: &[u8]) -> Vec<u8> {
    let count: u64 = shape.iter().product();
    let mut out = Vec::new();
    for k in 0..count {
        let (mut rest, mut offset) = (k, 0);
        for (d, n) in shape.iter().enumerate().rev() {
            let stride: u64 = shape[..d].iter().product();
            offset += rest % n * stride;
            rest /= n;
        }
        let at = offset as usize * size;
        out.extend_from_slice(&bytes[at..at + size]);
    }
    out
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
