//! The programs that a command line names: files, folders with programs in them, and patterns.

use crate::session::{Failure, Session};
use std::path::{Path, PathBuf};

/// What a program's file name ends with.
const EXTENSION: &str = "pto";

/// How deep folders are looked into; links are not followed.
const DEPTH: usize = 64;

/// The files of a command line. A folder stands for every `.pto` file below it, hidden folders left out; a name that is no
/// file and holds `*`, `?` or `[` is a pattern, for shells that expand none.
pub fn programs(session: &Session<'_>, names: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for name in names {
        let path = session.path(name);
        if name != Path::new("-") && path.is_dir() {
            let before = all.len();
            // The working directory needs no name.
            let prefix = if name == Path::new(".") { Path::new("") } else { name };
            below(prefix, &path, DEPTH, &mut all).map_err(|e| Failure::file("read", name, &e))?;
            if all.len() == before {
                return Err(Failure::usage(format!("there is no .{EXTENSION} file in {}", name.display())));
            }
        } else if let Some(pattern) = pattern(name).filter(|_| !path.exists()) {
            let found = matching(session, pattern)?;
            if found.is_empty() {
                return Err(Failure::usage(format!("no file is called like {pattern}")));
            }
            all.extend(found);
        } else {
            all.push(name.clone());
        }
    }
    Ok(all)
}

fn pattern(name: &Path) -> Option<&str> {
    name.to_str().filter(|text| text.contains(['*', '?', '[']))
}

/// The programs below a folder, in the order of their names.
fn below(name: &Path, path: &Path, depth: usize, all: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let (file, kind) = (entry.file_name(), entry.file_type()?);
        let is_hidden = file.to_string_lossy().starts_with('.');
        if kind.is_dir() && !is_hidden && depth > 0 {
            below(&name.join(&file), &path.join(&file), depth - 1, all)?;
        } else if !kind.is_dir() && Path::new(&file).extension().is_some_and(|e| e == EXTENSION) {
            all.push(name.join(&file));
        }
    }
    Ok(())
}

/// The files whose names a pattern fits, as they would be typed.
fn matching(session: &Session<'_>, pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let whole = session.path(Path::new(pattern));
    let wrong = |why: String| Failure::usage(format!("{pattern} is no pattern: {why}"));
    let paths = glob::glob(&whole.to_string_lossy()).map_err(|e| wrong(e.to_string()))?;
    let mut found: Vec<PathBuf> = paths.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    for path in &mut found {
        if let Ok(relative) = path.strip_prefix(&session.dir) {
            *path = relative.to_path_buf();
        }
    }
    Ok(found)
}
