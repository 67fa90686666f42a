//! `tessera opt`: a shorter program that provably does the same.

use super::equiv::{Known, stopped, undecided};
use super::{Loaded, load};
use crate::bind::{self, Bound};
use crate::output;
use crate::policy::Format;
use crate::session::{FINE, Outcome, Session, UNDECIDED};
use crate::source::Source;
use crate::words::{self, counted};
use std::path::PathBuf;
use tessera::opt::{Instruction, Step, optimize};
use tessera::{ErrorKind, Profile};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera opt kernel.pto\n  tessera opt kernel.pto --profile a5 -o shorter.pto\n\nA step is \
                  kept only if the new program is legal and proved equal to the old one for all inputs, as by `tessera \
                  equiv`. The proof holds for the given --set, --shape and --blocks. Exit code 3: nothing can be \
                  proved, and the program is printed unchanged."
)]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// The function to optimize
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// A tile whose contents must be kept, in addition to the program's outputs
    #[arg(long = "out", value_name = "NAME", value_parser = bind::name)]
    outputs: Vec<Bound<()>>,
    #[command(flatten)]
    known: Known,
    /// Write the program to this file instead of standard output (`-`)
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let loaded = load(session, &args.file, args.profile)?;
    loaded.legal(session, Format::Human)?;
    output::check(session, &args.output.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let Loaded { source, program } = &loaded;
    let (given, shown) = args.known.given("optimizing");
    let wanted: Vec<String> = args.outputs.iter().map(|o| o.name.clone()).collect();
    let better = optimize(program, args.entry.as_deref(), &given, &wanted);
    drop(shown);
    let (text, code) = match better {
        Ok(better) => {
            for line in better.steps.iter().flat_map(|step| lines(step, source)) {
                writeln!(session.stderr, "{}: {line}", source.name)?;
            }
            let removed: usize = better.steps.iter().map(|s| s.removed.len()).sum();
            let changed: usize = better.steps.iter().map(|s| s.changed.len()).sum();
            let limits = match (given.set.is_empty() && given.shapes.is_empty(), given.blocks) {
                (true, 1) => String::new(),
                _ => ", for the values and blocks that were given".to_string(),
            };
            let [changes, instructions, proofs] =
                [(changed, "change"), (removed, "instruction"), (better.proofs, "proof")]
                    .map(|(n, what)| counted(n as u64, what));
            let summary = format!("{changes}, {instructions} removed, {proofs} (profile {})", program.profile());
            writeln!(session.stderr, "{}: {summary}{limits}", source.name)?;
            if better.is_out_of_work {
                let work = given.work;
                let why = format!(
                    "stopped after {work} elements and operands were computed; --limit-work {} allows more",
                    work.saturating_mul(4)
                );
                writeln!(session.stderr, "{}: {why}", source.name)?;
            } else if better.is_cut {
                writeln!(session.stderr, "{}: there is more to try; run it again on the result", source.name)?;
            }
            (better.text, if better.is_out_of_work { UNDECIDED } else { FINE })
        }
        Err(error) if error.kind() == ErrorKind::Undecided => {
            // Findings go to standard error: standard output holds the program.
            for found in words::diagnostics(&error).iter().take(1) {
                session.stderr.write_all(undecided(Format::Human, source, found).as_bytes())?;
            }
            (program.text(None), UNDECIDED)
        }
        Err(error) => return stopped(session, Format::Human, &loaded, &error),
    };
    match &args.output {
        Some(file) => session.write(file, text.into_bytes())?,
        None => session.stdout.write_all(text.as_bytes())?,
    }
    Ok(code)
}

/// The effect of a step: a line for each change, and one for all that was removed.
fn lines(step: &Step, source: &Source) -> Vec<String> {
    let line = |i: &Instruction| source.line(i.span);
    let changed = step.changed.iter();
    let mut all: Vec<String> = changed.map(|(i, what)| format!("line {}, {}: {what}", line(i), i.mnemonic)).collect();
    let removed: Vec<String> = step.removed.iter().map(|i| format!("{} of line {}", i.mnemonic, line(i))).collect();
    all.push(format!("removed {}", removed.join(", ")));
    all
}
