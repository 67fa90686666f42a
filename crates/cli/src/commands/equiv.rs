//! `tessera equiv`: are two programs equal for all inputs?

use super::{Loaded, load_entry};
use crate::bind::{self, Bound};
use crate::limits::{self, Limits};
use crate::policy::{Format, Policy};
use crate::progress::{self, Shown};
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session, UNDECIDED};
use crate::source::Source;
use crate::words::{self, counted};
use serde::Serialize;
use std::path::PathBuf;
use tessera::equiv::{Answer, Different, Given, Which, Witness, equiv};
use tessera::{Diagnostic, Error, ErrorKind, Literal, Profile};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera equiv before.pto after.pto\n  tessera equiv mine.pto theirs.pto --profile-a a2a3 \
                  --profile-b a5 --set n=4\n\nInputs and outputs are matched by name, the rest by position. The \
                  outputs are the buffers that a kernel writes, the output tiles of a listing, and printed text. Two \
                  programs are equal if their outputs are equal for every input with which both run. Exit codes: 0 \
                  equal, 1 different or illegal, 2 the command line or a file is wrong, 3 undecided: data decides what \
                  moves, or neither a proof nor a counterexample was found."
)]
pub struct Args {
    /// The first program; `-` is standard input
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second program
    #[arg(value_name = "B")]
    b: PathBuf,
    /// cpu, a2a3, a5 or a device name, for both. Default: each module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// The profile of the first program
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile_a: Option<Profile>,
    /// The profile of the second program
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile_b: Option<Profile>,
    /// The function of the first program
    #[arg(long, value_name = "F")]
    entry_a: Option<String>,
    /// The function of the second program
    #[arg(long, value_name = "F")]
    entry_b: Option<String>,
    /// Compare these tiles or arguments instead of the programs' outputs
    #[arg(long = "out", value_name = "NAME", value_parser = bind::name)]
    outputs: Vec<Bound<()>>,
    #[command(flatten)]
    known: Known,
    /// The format of the answer
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What is known before a run without data.
#[derive(Debug, clap::Args)]
pub struct Known {
    /// A value for a scalar argument
    #[arg(long, value_name = "NAME=VALUE", value_parser = bind::value)]
    set: Vec<Bound<Literal>>,
    /// A shape for an argument whose type leaves it open
    #[arg(long, value_name = "NAME=NxM", value_parser = bind::shape)]
    shape: Vec<(String, Vec<u64>)>,
    /// The number of blocks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65536))]
    blocks: u32,
    #[command(flatten)]
    limits: Limits,
    /// Stop a proof after this much work: computed elements and their operands; K, M, G as above
    #[arg(long, value_name = "N", default_value = "64M", value_parser = limits::steps)]
    limit_work: u64,
}

impl Known {
    /// What is known, and a line about how far the work is.
    pub fn given(&self, what: &'static str) -> (Given, Shown) {
        let (progress, shown) = progress::steps(what, self.blocks);
        let given = Given {
            set: self.set.iter().map(|b| (b.name.clone(), b.to)).collect(),
            shapes: self.shape.clone(),
            blocks: self.blocks,
            limits: self.limits.into(),
            work: self.limit_work,
            progress: Some(progress),
            ..Given::default()
        };
        (given, shown)
    }
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let profiles = [args.profile_a.or(args.profile), args.profile_b.or(args.profile)];
    let first = load_entry(session, &args.a, profiles[0], args.entry_a.as_deref())?;
    let second = load_entry(session, &args.b, profiles[1], args.entry_b.as_deref())?;
    first.legal(session, args.format)?;
    second.legal(session, args.format)?;
    let policy = Policy::plain(args.format);
    let a = first.kernel(session, &policy, args.entry_a.as_deref())?;
    let b = second.kernel(session, &policy, args.entry_b.as_deref())?;
    let wanted: Vec<String> = args.outputs.iter().map(|o| o.name.clone()).collect();
    let names = [&first, &second].map(|l| format!("{} ({})", l.source.name, l.program.profile()));
    let (given, shown) = args.known.given("comparing");
    let answer = equiv(&a, &b, &given, &wanted);
    drop(shown);
    match answer {
        Answer::Equal(equal) => {
            let (outputs, elements, undefined) = (equal.outputs, equal.elements, equal.undefined);
            if args.format == Format::Json {
                let record = serde_json::json!({
                    "answer": "equal", "outputs": outputs, "elements": elements, "undefined": undefined,
                });
                writeln!(session.stdout, "{record}")?;
                return Ok(FINE);
            }
            let [elements, outputs] = [counted(elements, "element"), counted(outputs as u64, "output")];
            let undefined = match undefined {
                0 => String::new(),
                n => format!("; {n} of them are undefined in both"),
            };
            let [a, b] = names;
            writeln!(
                session.stdout,
                "equal for all inputs: {a} and {b}\n  {elements} compared in {outputs}{undefined}"
            )?;
            Ok(FINE)
        }
        Answer::Different(different) => show_differences(session, args.format, &names, &different),
        Answer::Stopped(which, error) => {
            stopped(session, args.format, if which == Which::A { &first } else { &second }, &error)
        }
    }
}

fn show_differences(session: &mut Session<'_>, format: Format, names: &[String; 2], different: &Different) -> Outcome {
    if format == Format::Json {
        for d in &different.first {
            let side = |n: usize| serde_json::json!({ "program": names[n], "element": d.at[n], "is": d.is[n] });
            let mut record = serde_json::json!({
                "answer": "different", "elements": different.elements, "a": side(0), "b": side(1),
            });
            if let Some(Witness { inputs, more, values }) = &d.witness {
                record["witness"] =
                    serde_json::json!({ "inputs": inputs, "more": more, "a": values[0], "b": values[1] });
            }
            writeln!(session.stdout, "{record}")?;
        }
        return Ok(PROGRAM_ERROR);
    }
    let how_many = match different.elements {
        0 => String::new(),
        n => format!(": {} of {}", counted(n, "element"), "the outputs"),
    };
    writeln!(session.stdout, "different: {} and {}{how_many}", names[0], names[1])?;
    for d in &different.first {
        let at = if d.at[0] == d.at[1] { d.at[0].clone() } else { format!("{} and {}", d.at[0], d.at[1]) };
        writeln!(session.stdout, "  {at}")?;
        for (mark, is) in ["a", "b"].into_iter().zip(&d.is) {
            writeln!(session.stdout, "    {mark}: {is}")?;
        }
        if let Some(Witness { inputs, more, values: [a, b] }) = &d.witness {
            let mut with: Vec<String> = inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            with.extend((*more > 0).then(|| format!("… {more} more")));
            writeln!(session.stdout, "    with {}: a is {a}, b is {b}", with.join(", "))?;
        }
    }
    let rest = different.elements.saturating_sub(different.first.len() as u64);
    if rest > 0 {
        writeln!(session.stdout, "  … and {} more", counted(rest, "element"))?;
    }
    if different.open > 0 {
        let more = counted(different.open, "element");
        writeln!(
            session.stdout,
            "  {more} more are computed in different ways; no inputs were found with which they differ"
        )?;
    }
    if let (true, Some(d)) = (different.elements > 0, different.first.first()) {
        writeln!(session.stdout, "  `tessera trace A --at '{}'` shows the way of an element", d.at[0])?;
    }
    Ok(PROGRAM_ERROR)
}

/// Why a run without data gives no answer, and the exit code of it.
pub fn stopped(session: &mut Session<'_>, format: Format, loaded: &Loaded, error: &Error) -> Outcome {
    let found = words::diagnostics(error);
    match (error.kind(), found.first()) {
        (ErrorKind::Request, _) => Err(Failure::usage(words::sentence(error))),
        (ErrorKind::Undecided, Some(found)) => {
            session.stdout.write_all(undecided(format, &loaded.source, found).as_bytes())?;
            Ok(UNDECIDED)
        }
        _ => loaded.report(session, &Policy::plain(format), &found),
    }
}

#[derive(Serialize)]
struct UndecidedRecord<'a> {
    answer: &'a str,
    file: &'a str,
    line: Option<usize>,
    why: &'a str,
    help: Option<&'a str>,
}

/// Why there is no answer that holds for all inputs.
pub fn undecided(format: Format, source: &Source, undecided: &Diagnostic) -> String {
    let line = undecided.span.map(|s| source.line(s));
    if format == Format::Json {
        let record = UndecidedRecord {
            answer: "undecided",
            file: &source.name,
            line,
            why: &undecided.message,
            help: undecided.help.as_deref(),
        };
        // A record of strings and numbers always has a JSON form.
        return serde_json::to_string(&record).unwrap_or_default() + "\n";
    }
    let at = line.map_or(String::new(), |l| format!(":{l}"));
    let place = undecided.span.and_then(|s| source.text.get(source.clamp(s))).and_then(|t| t.lines().next());
    let place = place.map_or(String::new(), |text| format!("  {}\n", text.trim()));
    let help = undecided.help.as_ref().map_or(String::new(), |help| format!("  help: {help}\n"));
    format!("undecided: {}{at}: {}\n{place}{help}", source.name, undecided.message)
}
