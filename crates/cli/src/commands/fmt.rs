//! `tessera fmt`: canonical text, in the form that it was written in or in another one.

use super::{Loaded, load};
use crate::policy::{Format, Policy};
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use tessera::{Dialect, Profile, TextForm};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tessera fmt kernel.pto\n  tessera fmt --to dps listing.pto\n  tessera fmt -w \
                        *.pto\n  tessera fmt --dialect 0.60 kernel.pto\n  tessera fmt --check *.pto    (exit code 1 if a file is not formatted)")]
pub struct Args {
    /// Programs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Convert to a form: asm (PTO-AS), ssa (Level 1), or dps (Level 2) in a module, as assemblers take it
    #[arg(long, value_parser = PossibleValuesParser::new(["asm", "ssa", "dps"]).map(form))]
    to: Option<TextForm>,
    /// The version of the text to print: 0.27, 0.60 or 0.64. Default: the file's own, else 0.60
    #[arg(long, value_name = "V", value_parser = super::dialect)]
    dialect: Option<Dialect>,
    /// Write nothing; exit with code 1 if a file would change
    #[arg(long, conflicts_with = "write")]
    check: bool,
    /// Write the files back
    #[arg(short, long)]
    write: bool,
    /// The profile on which types are compared. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
}

/// The forms of syntax.md 2.
fn form(name: String) -> TextForm {
    match name.as_str() {
        "asm" => TextForm::Asm,
        "ssa" => TextForm::Ssa,
        _ => TextForm::Dps,
    }
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let mut worst = FINE;
    for file in &args.files {
        if args.write && file == Path::new("-") {
            return Err(Failure::usage("standard input cannot be written back; leave -w out"));
        }
        let outcome = format(args, session, file);
        worst = worst.max(outcome.unwrap_or_else(|failure| session.complain(&failure)));
    }
    Ok(worst)
}

fn format(args: &Args, session: &mut Session<'_>, file: &Path) -> Outcome {
    let loaded = load(session, file, args.profile)?;
    let Loaded { source, program } = &loaded;
    if program.has_errors() {
        loaded.legal(session, Format::Human)?;
    }
    let (text, unsaid) = program.text_in(args.to, args.dialect);
    if !unsaid.is_empty() {
        loaded.report(session, &Policy::plain(Format::Human), &unsaid)?;
    }
    let changed = text != source.text;
    if args.check {
        if changed {
            writeln!(session.stdout, "{} is not formatted", source.name)?;
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
