//! `tessera emit`: a program as C++ that calls the intrinsics.

use super::load;
use crate::policy::{Format, Policy};
use crate::session::{FINE, Outcome, PROGRAM_ERROR, Session, USAGE_ERROR};
use crate::words;
use std::path::PathBuf;
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;

/// Print a program as C++ that calls the intrinsics
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
    #[arg(long, value_name = "P", value_parser = super::profile)]
    profile: Option<Profile>,
    /// The function to print
    #[arg(long, value_name = "F")]
    entry: Option<String>,
}

/// Runs the command.
pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let (source, program) = load(session, &args.file, args.profile)?;
    let profile = program.profile();
    let policy = Policy { strict: false, allow: Vec::new(), deny: Vec::new(), format: Format::Human };
    let mut errors = program.check();
    errors.retain(Diagnostic::is_error);
    if !errors.is_empty() {
        return policy.report(session, &source, &errors, profile);
    }
    match program
        .kernel_or_entry(args.entry.as_deref())
        .and_then(|kernel| Ok(tessera_emit::cpp(kernel.module(), kernel.func(), profile)?))
    {
        Ok(code) => {
            session.stdout.write_all(code.as_bytes())?;
            Ok(FINE)
        }
        Err(error) => {
            let is_usage = error.rule() == "entry" && args.entry.is_some();
            policy.report(session, &source, &words::diagnostics(&error), profile)?;
            Ok(if is_usage { USAGE_ERROR } else { PROGRAM_ERROR })
        }
    }
}
