//! The `tessera` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tessera_cli::process::main(std::env::args_os()))
}
