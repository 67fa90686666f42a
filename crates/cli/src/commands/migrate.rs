//! `tessera migrate`: programs rewritten for a version of the text.

use super::{Loaded, load};
use crate::policy::{Format, Policy};
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use std::path::{Path, PathBuf};
use tessera::{Dialect, Profile};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera migrate kernel.pto --to 0.60\n  tessera migrate --from 0.27 --to 0.64 -w \
                        *.pto\n  tessera migrate --to 0.27 --check *.pto    (exit code 1 if a file is not of 0.27)\n\n\
                        Every run of the new text has the same bytes. The module says its version from then on; what the \
                        version cannot say stays as it is, with a warning."
)]
pub struct Args {
    /// Programs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The version to write: 0.27, 0.60 or 0.64
    #[arg(long, value_name = "V", value_parser = super::dialect)]
    to: Dialect,
    /// The version that the programs are of. Default: the module's own, else by its spellings
    #[arg(long, value_name = "V", value_parser = super::version_of_text)]
    pub from: Option<String>,
    /// Write nothing; exit code 1 if a file would change
    #[arg(long, conflicts_with = "write")]
    check: bool,
    /// Write the files back
    #[arg(short, long)]
    write: bool,
    /// The profile on which meanings are compared. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let mut worst = FINE;
    for file in &args.files {
        if args.write && file == Path::new("-") {
            return Err(Failure::usage("standard input cannot be written back; leave -w out"));
        }
        let outcome = migrate(args, session, file);
        worst = worst.max(outcome.unwrap_or_else(|failure| session.complain(&failure)));
    }
    Ok(worst)
}

fn migrate(args: &Args, session: &mut Session<'_>, file: &Path) -> Outcome {
    let loaded = load(session, file, args.profile)?;
    let Loaded { source, program } = &loaded;
    if program.has_errors() {
        loaded.legal(session, Format::Human)?;
    }
    let policy = Policy::plain(Format::Human);
    let undecided = program.undecided_dialect();
    if !undecided.is_empty() {
        loaded.report(session, &policy, &undecided)?;
        let what = format!("{} states no version; --from 0.27 or --from 0.60 says which one it is of", source.name);
        return Err(Failure { code: PROGRAM_ERROR, message: what });
    }
    let (text, unsaid) = program.migrated(args.to);
    if !unsaid.is_empty() {
        loaded.report(session, &policy, &unsaid)?;
    }
    let changed = text != source.text;
    if args.check {
        if changed {
            writeln!(session.stdout, "{} is not of version {}", source.name, args.to)?;
        }
        return Ok(if changed { PROGRAM_ERROR } else { FINE });
    }
    if !args.write {
        session.stdout.write_all(text.as_bytes())?;
    } else if changed {
        session.write(file, text.into_bytes())?;
    }
    Ok(FINE)
}
