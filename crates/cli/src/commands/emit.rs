//! `tessera emit`: a program as C++ that calls the intrinsics.

use super::load_entry;
use crate::policy::Format;
use crate::session::{FINE, Outcome, Session};
use std::path::PathBuf;
use tessera_isa::profile::Profile;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tessera emit kernel.pto --cpp --profile a5 > kernel.hpp")]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// C++17 for `#include <pto/pto-inst.hpp>`
    #[arg(long, required = true)]
    cpp: bool,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// The function to print
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    #[command(flatten)]
    level: super::Level,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let loaded = load_entry(session, &args.file, args.profile, args.entry.as_deref())?.at(args.level);
    loaded.legal(session, Format::Human)?;
    let code = loaded.with_entry(session, args.entry.as_deref(), |kernel| {
        Ok(tessera_emit::cpp(kernel.module(), kernel.func(), kernel.profile())?)
    })?;
    session.stdout.write_all(code.as_bytes())?;
    Ok(FINE)
}
