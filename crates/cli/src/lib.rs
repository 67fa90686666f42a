//! The `tessera` command as a library, so that tests can run it without a process.
//!
//! Each subcommand is a file of [`commands`]; how things look is in [`render`]. [`run`] takes a command line and a
//! [`Session`] (streams, directory) and gives the exit code: 0 fine, 1 the program has errors, 2 the command line or a
//! file is wrong, 3 undecided.

pub mod bench;
pub mod bind;
pub mod commands;
mod complete;
mod inputs;
mod interrupt;
pub mod limits;
mod memory;
pub mod output;
pub mod policy;
pub mod process;
pub mod progress;
pub mod render;
mod server;
pub mod session;
pub mod settings;
pub mod source;
mod watchdog;
mod words;

pub use commands::Cli;
pub use session::{Failure, Session};

use clap::Parser;
use session::USAGE_ERROR;
use std::ffi::OsString;

/// Runs a command line (the program's name first) and gives its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>, session: &mut Session<'_>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    // One program with two names: the other one has command lines of its own.
    if args.first().is_some_and(commands::ptoas::is_called) {
        return commands::ptoas::run(&args, session);
    }
    let (args, settings) = match settings::apply(args, &session.dir) {
        Ok(applied) => applied,
        Err(failure) => return session.complain(&failure),
    };
    match Cli::try_parse_from(args) {
        Ok(cli) => {
            if let Some(choice) = cli.color {
                session.color = choice.is_coloured(session.color);
            }
            if cli.command.is_bounded() {
                watchdog::start(cli.bounds);
            }
            let outcome = cli.command.run(session);
            outcome.unwrap_or_else(|failure| session.complain(&failure))
        }
        Err(error) => {
            let text = error.render();
            // Help and version are answers, everything else is a complaint.
            let (stream, code) = match error.use_stderr() {
                true => (&mut *session.stderr, USAGE_ERROR),
                false => (&mut *session.stdout, session::FINE),
            };
            let _ = write!(stream, "{text}");
            if let Some(path) = settings.filter(|_| code != session::FINE) {
                let _ = writeln!(
                    session.stderr,
                    "note: options of {} count, too; --no-config leaves them out",
                    path.display()
                );
            }
            code
        }
    }
}
