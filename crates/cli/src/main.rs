//! The `tessera` command: standard streams around [`tessera_cli::run`].

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tessera_cli::{Session, run};

fn main() -> ExitCode {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut stderr = BufWriter::new(io::stderr().lock());
    let mut session = Session {
        dir: PathBuf::new(),
        stdin: &mut io::stdin().lock(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: io::stderr().is_terminal() && !no_color,
    };
    let code = run(std::env::args_os(), &mut session);
    // Nobody is left to hear about a stream that is closed.
    let _ = stdout.flush();
    let _ = stderr.flush();
    ExitCode::from(code)
}
