//! The command as a process: standard streams around [`run`].

use crate::{Session, interrupt, output, progress, render, run, watchdog};
use std::ffi::OsString;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

/// A stream whose reader may go away, as in `tessera explain | head`: the rest is dropped, and the exit code stays that of
/// the work.
struct Quiet<W>(W);

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// How wide the terminal is that the output goes to.
fn columns() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stdout()).or_else(|| terminal_size::terminal_size_of(io::stderr()));
    size.map(|(width, _)| usize::from(width.0))
}

/// What a process ends with that an interrupt stopped, as shells have it.
const INTERRUPTED: i32 = 130;

/// Runs a command line (the program's name first) on the streams of the process and gives its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    // Without a handler an interrupt still ends the process; it may then leave a file that was being written.
    let _ = ctrlc::set_handler(|| {
        interrupt::stop();
        let _held = output::abandon();
        std::process::exit(INTERRUPTED);
    });
    watchdog::enable();
    let is_set =
        |name: &str, none: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != none);
    let is_zero = |name: &str| std::env::var_os(name).is_some_and(|value| value == "0");
    // https://no-color.org and https://bixense.com/clicolors
    let no_color = is_set("NO_COLOR", "") || is_zero("CLICOLOR");
    let force_color = is_set("CLICOLOR_FORCE", "0") && !is_set("NO_COLOR", "");
    // None of them is locked: other threads tell how far the work is, and talk to editors.
    let mut stdout = BufWriter::new(Quiet(io::stdout()));
    let mut stderr = BufWriter::new(Quiet(io::stderr()));
    let is_plain = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let is_terminal = io::stderr().is_terminal() && !is_plain;
    if is_terminal {
        progress::enable();
    }
    if let Some(columns) = columns() {
        render::set_width(columns);
    }
    let mut session = Session {
        dir: PathBuf::new(),
        stdin: &mut io::stdin(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: force_color || is_terminal && !no_color,
        dialect: None,
    };
    let mut code = run(args, &mut session);
    if let Err(error) = stdout.flush() {
        let _ = writeln!(stderr, "error: cannot write the output: {error}");
        code = code.max(2);
    }
    // Nobody is left to hear about a standard error that cannot be written.
    let _ = stderr.flush();
    code
}
