//! `tessera sanitize`: the four tools of a sanitizer over programs in text and over C++ programs that were compiled with our header.

mod child;

use super::{Loaded, load_entry};
use crate::inputs;
use crate::policy::{Findings, Policy};
use crate::session::{FINE, Failure, Outcome, Session, UNDECIDED};
use crate::words;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::PathBuf;
use tessera::program::{Bindings, Kernel};
use tessera::{Diagnostic, Literal, OrderOptions, Profile, Verdict};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera sanitize kernel.pto --profile a5\n  tessera sanitize kernel.pto --tool racecheck \
                  --tool synccheck\n  tessera sanitize ./gemm -- 128 256\n  tessera sanitize build/tests --format sarif > \
                  findings.sarif\n\nA program in text is checked on all paths, and runs once with inputs that are made up \
                  (`tessera info` shows them). An executable runs with the arguments behind `--`; it has to be compiled \
                  with Tessera's header pto/pto-inst.hpp.\n\nExit codes: 0 nothing is wrong (warnings count as nothing), 1 \
                  errors, also of the executable itself, 2 a file is wrong, or calls no instruction, 3 undecided."
)]
pub struct Args {
    /// Programs in text, folders with such programs, or executables
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The kinds of mistakes that are looked for
    #[arg(long, value_enum, default_value = "all")]
    tool: Vec<Tool>,
    /// cpu, a2a3, a5 or a device name, of programs in text. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    #[command(flatten)]
    policy: Policy,
    /// The format of findings
    #[arg(long, value_enum, default_value = "human")]
    format: Findings,
    /// Arguments of the executable
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl Args {
    /// The options as one.
    pub fn ready(mut self) -> Args {
        self.policy.format = self.format;
        self
    }

    /// Whether a finding is one that these tools look for.
    fn wants(&self, d: &Diagnostic) -> bool {
        let wants = |tool: &Tool| *tool == Tool::All || Tool::of(d.rule) == Some(*tool);
        self.tool.iter().any(wants)
    }
}

/// The tools, by the names that users of accelerators know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tool {
    /// Accesses out of bounds or misaligned, tiles over each other, use after free
    Memcheck,
    /// Reads of what nothing wrote
    Initcheck,
    /// Accesses that nothing orders
    Racecheck,
    /// Waits without a set, leaks, overwrites, deadlocks
    Synccheck,
    /// All of them, and every other rule that is broken
    All,
}

impl Tool {
    /// The tool that looks for breaches of a rule; the rest are mistakes that the compiler finds.
    fn of(rule: &str) -> Option<Tool> {
        const INIT: [&str; 4] = ["undefined-read", "undefined-use", "never-written", "valid-unset"];
        const MEMORY: [&str; 12] = [
            "overlap",
            "tile-overlap",
            "view-overlap",
            "capacity",
            "footprint",
            "memory-limit",
            "fifo-use-after-free",
            "fifo-slot",
            "tmp-area",
            "tsubview-window",
            "fp-short",
            "binding",
        ];
        const PLACES: [&str; 6] = ["-bounds", "-index", "-room", "-align", "-range", "-address"];
        const SYNC: [&str; 5] = ["buf-token", "deadlock", "sync-overflow", "sync-ids", "barrier-useless"];
        match rule {
            _ if INIT.contains(&rule) => Some(Tool::Initcheck),
            _ if rule.starts_with("race-") || rule == "block-overlap" || rule == "undecided" => Some(Tool::Racecheck),
            _ if MEMORY.contains(&rule) => Some(Tool::Memcheck),
            _ if rule.starts_with("flag-") || rule.starts_with("fifo-") || SYNC.contains(&rule) => {
                Some(Tool::Synccheck)
            }
            _ if PLACES.iter().any(|end| rule.ends_with(end)) => Some(Tool::Memcheck),
            _ => None,
        }
    }
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    args.policy.check_options(session)?;
    let (mut worst, mut texts) = (FINE, Vec::new());
    for file in &args.files {
        let path = session.dir.join(file);
        match child::is_program(&path) {
            true => {
                let code = child::run(args, session, file);
                worst = worst.max(code.unwrap_or_else(|failure| session.complain(&failure)));
            }
            false => texts.push(file.clone()),
        }
    }
    if !args.args.is_empty() && texts.len() == args.files.len() {
        return Err(Failure::usage("arguments behind -- are for an executable, and none is given"));
    }
    if !texts.is_empty() {
        for file in &inputs::programs(session, &texts)? {
            let code = load_entry(session, file, args.profile, None).and_then(|loaded| text(args, session, &loaded));
            worst = worst.max(code.unwrap_or_else(|failure| session.complain(&failure)));
        }
    }
    args.policy.finish(session)?;
    Ok(worst)
}

/// Checks a program in text on all paths, and runs each kernel once.
fn text(args: &Args, session: &mut Session<'_>, loaded: &Loaded) -> Outcome {
    let mut found = loaded.program.check();
    // What is not legal does not run, whatever is looked for.
    let is_illegal = found.iter().any(Diagnostic::is_error);
    let mut is_undecided = false;
    let kernels = if is_illegal { Vec::new() } else { loaded.program.entries() };
    for name in kernels {
        let kernel = loaded.kernel(session, &args.policy, name.as_deref())?;
        let mut more = Vec::new();
        match kernel.order(&OrderOptions::default()) {
            Ok(report) => {
                is_undecided |= report.verdict == Verdict::Undecided;
                more.extend(report.diagnostics);
            }
            Err(error) => more.extend(words::diagnostics(&error)),
        }
        match trial(&kernel) {
            Ok(seen) => more.extend(seen),
            Err(why) if args.format == Findings::Human => {
                let name = name.map_or_else(|| "the listing".to_string(), |name| format!("@{name}"));
                writeln!(session.stderr, "note: {name} was checked and did not run: {why}")?;
            }
            Err(_) => {}
        }
        let is_unwritten = |d: &Diagnostic| d.rule == "never-written";
        for d in more {
            // A tile without a writer and what leaves it are one mistake.
            let is_same =
                |f: &Diagnostic| f.rule == d.rule && f.span == d.span || d.rule == "undefined-read" && is_unwritten(f);
            if !found.iter().any(is_same) {
                found.push(d);
            }
        }
    }
    found.retain(|d| args.wants(d) || is_illegal && d.is_error());
    let is_undecided = is_undecided && found.iter().any(|d| d.rule == "undecided");
    let found = args.policy.apply(found);
    let code = loaded.report(session, &args.policy, &found)?;
    Ok(if is_undecided && code == FINE { UNDECIDED } else { code })
}

/// The findings of a run with inputs that are made up; why there is none.
fn trial(kernel: &Kernel) -> Result<Vec<Diagnostic>, String> {
    let suggestion = kernel.suggest(&[], 1);
    let mut bindings = Bindings { blocks: 1, ..Bindings::default() };
    let sentence = |error: tessera::Error| error.diagnostic().message.clone();
    for (value, number) in &suggestion.set {
        bindings.inputs.push((*value, kernel.bind_number(*value, Literal::Number(*number)).map_err(sentence)?));
    }
    let extents = kernel.extents(&bindings.inputs, 1);
    for (value, fill, shape) in &suggestion.fill {
        let input = kernel.bind_fill(*value, *fill, shape.as_deref(), &extents).map_err(sentence)?;
        bindings.inputs.extend(input.map(|input| (*value, input)));
    }
    let (outcome, judged) = kernel.execute_judged(bindings);
    let mut found = words::found(kernel, outcome.diagnostics);
    // Inputs that are made up may be none that the kernel takes.
    if let Some(why) = suggestion.stops
        && found.iter().any(|d| d.is_error() && d.rule == why.rule && Tool::of(why.rule).is_none())
    {
        return Err(format!("no inputs were found with which it runs ({})", why.message));
    }
    found.extend(judged.into_iter().flat_map(|report| report.diagnostics).filter(|d| d.rule != "undecided"));
    Ok(found)
}
