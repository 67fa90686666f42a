//! What a command works with: streams, the directory that file names are relative to, and the ways it can fail.

use crate::watchdog;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The program was fine; warnings count as fine.
pub const FINE: u8 = 0;
/// The program has errors, also at run time.
pub const PROGRAM_ERROR: u8 = 1;
/// The command line or a file is wrong.
pub const USAGE_ERROR: u8 = 2;
/// The question has no answer that holds for all inputs.
pub const UNDECIDED: u8 = 3;

/// The largest source file that is read (`syntax-limit`).
const MAX_SOURCE: u64 = 256 << 20;

/// Everything outside that a command touches.
pub struct Session<'a> {
    /// Relative file names are relative to this directory; empty means the working directory.
    pub dir: PathBuf,
    /// What `-` reads.
    pub stdin: &'a mut dyn Read,
    /// Results and JSON.
    pub stdout: &'a mut dyn Write,
    /// Diagnostics for people.
    pub stderr: &'a mut dyn Write,
    /// May diagnostics be coloured?
    pub color: bool,
    /// The version of the text of programs, if the command line says one.
    pub dialect: Option<String>,
}

/// Why a command stops early: one sentence, and the exit code that goes with it.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// The sentence; empty where everything has been said.
    pub message: String,
}

impl Failure {
    /// The command line or a file is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure { code: USAGE_ERROR, message: message.into() }
    }

    /// What is wrong has been reported.
    pub fn reported(code: u8) -> Self {
        Failure { code, message: String::new() }
    }

    /// A file that cannot be read or written.
    pub fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        let why = match error.kind() {
            ErrorKind::NotFound if verb == "write" => "its directory does not exist".to_string(),
            ErrorKind::NotFound => "there is no such file".to_string(),
            ErrorKind::IsADirectory => "it is a directory".to_string(),
            ErrorKind::PermissionDenied => "permission is denied".to_string(),
            _ => error.to_string(),
        };
        Failure::usage(format!("cannot {verb} {}: {why}", path.display()))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::usage(format!("cannot write the output: {error}"))
    }
}

/// What a command ends with: an exit code, or a failure.
pub type Outcome = Result<u8, Failure>;

impl Session<'_> {
    /// A file name of the command line as a path.
    pub fn path(&self, name: &Path) -> PathBuf {
        self.dir.join(name)
    }

    /// The bytes of a file, or of standard input for `-`.
    pub fn read(&mut self, name: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let result = if name == Path::new("-") {
            (&mut *self.stdin).take(limit + 1).read_to_end(&mut bytes)
        } else {
            let path = self.path(name);
            std::fs::File::open(&path).and_then(|file| {
                if file.metadata()?.is_dir() {
                    return Err(ErrorKind::IsADirectory.into());
                }
                file.take(limit + 1).read_to_end(&mut bytes)
            })
        };
        result.map_err(|e| Failure::file("read", name, &e))?;
        if bytes.len() as u64 > limit {
            let what = format!("{} is longer than {} MiB, the largest file that is read", name.display(), limit >> 20);
            return Err(Failure::usage(what));
        }
        watchdog::has_read(bytes.len() as u64);
        Ok(bytes)
    }

    /// The bytes of a program.
    pub fn read_source(&mut self, name: &Path) -> Result<Vec<u8>, Failure> {
        self.read(name, MAX_SOURCE)
    }

    /// Says why something cannot be done, and goes on; gives the exit code.
    pub fn complain(&mut self, failure: &Failure) -> u8 {
        if !failure.message.is_empty() {
            // Nobody is left to hear about a standard error that cannot be written.
            let _ = writeln!(self.stderr, "error: {}", failure.message);
        }
        failure.code
    }

    /// Writes a file; see [`crate::output`].
    pub fn write(&mut self, name: &Path, bytes: Vec<u8>) -> Result<(), Failure> {
        crate::output::write(self, &[(name.to_path_buf(), bytes)])
    }
}
