//! `tessera emit`: a program as C++, in the order that it has.

use super::{build, load_entry};
use crate::policy::Format;
use crate::session::{FINE, Outcome, Session};
use crate::words::diagnostics;
use std::path::PathBuf;
use tessera_isa::profile::Profile;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tessera emit kernel.pto --cpp --profile a5 > kernel.cpp\n\
                        `tessera build` also inserts the flags and barriers that the program needs.")]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// C++17 with the names of `pto/pto-inst.hpp`
    #[arg(long, required = true)]
    cpp: bool,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// The function to print, with what it calls. Default: all
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    #[command(flatten)]
    level: super::Level,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let loaded = load_entry(session, &args.file, args.profile, args.entry.as_deref())?.at(args.level);
    loaded.legal(session, Format::Human)?;
    if let Some(name) = args.entry.as_deref() {
        loaded.known(session, &crate::policy::Policy::plain(Format::Human), name)?;
    }
    match build::as_written(&loaded.program, args.entry.as_deref()) {
        Ok(code) => session.stdout.write_all(code.as_bytes())?,
        Err(error) => {
            let found = loaded.program.with_locations(diagnostics(&error));
            return loaded.report(session, &crate::policy::Policy::plain(Format::Human), &found);
        }
    }
    Ok(FINE)
}
