//! Files that a command writes: all or none, and never anything but a file replaced.
//!
//! A regular file or a new name is written beside its place and renamed, with the mode that it had; a link is followed;
//! devices, pipes and sockets are written through; `-` is standard output.

use crate::session::{Failure, Session};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most links that a name may lead through, as the kernel has it.
const MAX_LINKS: usize = 40;

/// Files that are written beside their place just now; [`abandon`] takes them away.
static STAGED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The destination of bytes.
#[derive(Debug)]
enum Target {
    Stdout,
    /// A regular file with what it is now, or a new name.
    File(PathBuf, Option<Metadata>),
    /// Something else that can be written to.
    Through(PathBuf),
}

/// Standard output's name.
pub fn is_stdout(name: &Path) -> bool {
    name == Path::new("-")
}

impl Target {
    fn of(session: &Session<'_>, name: &Path) -> io::Result<Target> {
        if is_stdout(name) {
            return Ok(Target::Stdout);
        }
        let mut path = session.path(name);
        for _ in 0..MAX_LINKS {
            let now = match fs::symlink_metadata(&path) {
                Ok(now) => now,
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    fs::metadata(directory(&path))?;
                    return Ok(Target::File(path, None));
                }
                Err(e) => return Err(e),
            };
            if !now.is_symlink() {
                return match now {
                    now if now.is_dir() => Err(ErrorKind::IsADirectory.into()),
                    now if now.is_file() => Ok(Target::File(path, Some(now))),
                    _ => Ok(Target::Through(path)),
                };
            }
            path = directory(&path).join(fs::read_link(&path)?);
        }
        Err(io::Error::other("its links lead in a circle"))
    }

    /// The identity of a file, by which two names of one file are recognised.
    fn identity(&self) -> Option<PathBuf> {
        match self {
            Target::Stdout => Some("-".into()),
            Target::File(path, None) => Some(fs::canonicalize(directory(path)).ok()?.join(path.file_name()?)),
            Target::File(path, Some(_)) => fs::canonicalize(path).ok(),
            Target::Through(_) => None,
        }
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses names that cannot be written, and two that mean one file, before anything is done for them.
pub fn check(session: &Session<'_>, names: &[&Path]) -> Result<(), Failure> {
    let mut seen: Vec<(PathBuf, &Path)> = Vec::new();
    for name in names {
        let target = Target::of(session, name).map_err(|e| Failure::file("write", name, &e))?;
        let Some(identity) = target.identity() else { continue };
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == identity) {
            let second = if first == name { "twice".into() } else { format!("also as {}", name.display()) };
            let what = if is_stdout(first) { "standard output".into() } else { first.display().to_string() };
            return Err(Failure::usage(format!("{what} is written {second}; each output needs a file of its own")));
        }
        seen.push((identity, name));
    }
    Ok(())
}

/// Writes all files or none.
pub fn write(session: &mut Session<'_>, files: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
    let mut renames = Vec::new();
    let written = write_staged(session, files, &mut renames);
    let mut staged = staged();
    for rename in &renames {
        staged.retain(|beside| *beside != rename.beside);
        if written.is_err() {
            let _ = fs::remove_file(&rename.beside);
        }
    }
    written
}

/// A file beside its place.
struct Rename<'f> {
    name: &'f Path,
    beside: PathBuf,
    path: PathBuf,
}

fn write_staged<'f>(
    session: &mut Session<'_>,
    files: &'f [(PathBuf, Vec<u8>)],
    renames: &mut Vec<Rename<'f>>,
) -> Result<(), Failure> {
    let mut through: Vec<(&Path, &[u8], Option<PathBuf>)> = Vec::new();
    for (name, bytes) in files {
        let wrong = |e: io::Error| Failure::file("write", name, &e);
        match Target::of(session, name).map_err(wrong)? {
            Target::Stdout => through.push((name, bytes, None)),
            Target::Through(path) => through.push((name, bytes, Some(path))),
            Target::File(path, now) => {
                let beside = beside(&path);
                renames.push(Rename { name, beside: beside.clone(), path: path.clone() });
                stage(&path, &beside, now.as_ref(), bytes).map_err(wrong)?;
            }
        }
    }
    for (name, bytes, path) in through {
        match path {
            None => session.stdout.write_all(bytes)?,
            Some(path) => {
                let file = OpenOptions::new().write(true).open(path);
                file.and_then(|mut f| f.write_all(bytes)).map_err(|e| Failure::file("write", name, &e))?;
            }
        }
    }
    // Held, so that nothing stops between two names.
    let _staged = staged();
    for Rename { name, beside, path } in renames {
        fs::rename(beside, path).map_err(|e| Failure::file("write", name, &e))?;
    }
    Ok(())
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Writes a file beside its place, with the mode and the owner of what is there.
fn stage(path: &Path, beside: &Path, now: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    if now.is_some() {
        // A file that may not be written is not replaced either.
        OpenOptions::new().write(true).open(path)?;
    }
    staged().push(beside.to_path_buf());
    let mut file = File::create(beside)?;
    if let Some(now) = now {
        own(&file, now);
        file.set_permissions(now.permissions())?;
    }
    file.write_all(bytes)
}

/// Gives a file the owner of another one, where that is allowed.
#[cfg(unix)]
fn own(file: &File, now: &Metadata) {
    use std::os::unix::fs::MetadataExt;
    let _ = std::os::unix::fs::fchown(file, Some(now.uid()), Some(now.gid()));
}

#[cfg(not(unix))]
fn own(_: &File, _: &Metadata) {}

fn staged() -> MutexGuard<'static, Vec<PathBuf>> {
    STAGED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes away what is half written and keeps everything else from being written: the process ends.
pub fn abandon() -> impl Sized {
    let mut staged = staged();
    for beside in staged.drain(..) {
        let _ = fs::remove_file(beside);
    }
    staged
}
