//! `tessera completions`: completion scripts, generated from the command line itself.

use super::Cli;
use crate::session::{FINE, Outcome, Session};
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: tessera completions bash > ~/.local/share/bash-completion/completions/tessera")]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tessera", &mut script);
    session.stdout.write_all(&script)?;
    Ok(FINE)
}
