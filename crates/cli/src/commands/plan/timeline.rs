//! `tessera plan --timeline`: when everything happens, as a file, and in words.

use super::Args;
use crate::bind::{self, Bound};
use crate::commands::{Loaded, order};
use crate::output::is_stdout;
use crate::policy::{Format, Policy};
use crate::render::timeline::{Shown, draw, events, page};
use crate::session::{FINE, Failure, Outcome, Session, UNDECIDED, USAGE_ERROR};
use crate::words;
use std::path::{Path, PathBuf};
use tessera::program::{InputError, Inputs, Setting, TimelineOptions};
use tessera::{Error, ErrorKind, Profile, costs};

/// The largest file of costs.
const MAX_COSTS: u64 = 16 << 20;

#[derive(Debug, clap::Args)]
pub struct TimelineArgs {
    /// Write when everything happens, by estimated costs: F.json for Perfetto, F.svg as a picture; `-` writes JSON to
    /// standard output and nothing else
    #[arg(long, value_name = "F", conflicts_with = "sync")]
    timeline: Option<PathBuf>,
    /// With `--timeline`: costs in place of the published ones, a file like docs/spec/isa/cost.toml
    #[arg(long, value_name = "FILE.toml", requires = "timeline")]
    costs: Option<PathBuf>,
    /// With `--timeline`: a number for a scalar that loops or branches depend on
    #[arg(long, value_name = "NAME=VALUE", value_parser = bind::setting, requires = "timeline")]
    set: Vec<Bound<Setting>>,
    /// With `--timeline`: the number of blocks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024),
          requires = "timeline")]
    blocks: u32,
    /// With `--timeline`: who inserts synchronization. Default: manual if the program has any flag or barrier, else
    /// auto
    #[arg(long, value_enum, value_name = "MODE", requires = "timeline")]
    order: Option<order::Mode>,
}

impl TimelineArgs {
    /// The file it is written to, if requested.
    pub fn file(&self) -> Option<&Path> {
        self.timeline.as_deref()
    }
}

/// Draws when everything happens.
pub fn run(args: &Args, file: &Path, session: &mut Session<'_>, loaded: &Loaded) -> Outcome {
    let picture = match file.extension().and_then(|e| e.to_str()) {
        Some("svg") => true,
        Some("json") => false,
        _ if is_stdout(file) => false,
        _ => {
            let what = "a timeline is written into a file that ends in .json or .svg";
            return Err(Failure::usage(format!("{}: {what}", file.display())));
        }
    };
    let kernel = loaded.with_entry(session, args.entry.as_deref(), Ok)?;
    if kernel.profile() == Profile::Cpu {
        let what = "cpu has no costs, so it has no timeline; --profile a2a3 or --profile a5 has";
        return Err(Failure::usage(format!("{}: {what}", loaded.source.name)));
    }
    let own = &args.timeline;
    let mut options = TimelineOptions { blocks: own.blocks, ..TimelineOptions::default() };
    options.mode = own.order.map(order::Mode::meant);
    if let Some(file) = &own.costs {
        let bytes = session.read(file, MAX_COSTS)?;
        let wrong = |what: String| Failure::usage(format!("{}: {what}", file.display()));
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is no text".into()))?;
        options.costs = Some(costs::parse(&text).map_err(|error| wrong(words::sentence(&error)))?);
    }
    let inputs = Inputs {
        set: own.set.iter().map(|bound| (bound.name.clone(), bound.to.clone())).collect(),
        ..Inputs::default()
    };
    let found =
        kernel.bind_inputs(inputs, own.blocks).map_err(|InputError { error, .. }| error).and_then(|(bindings, _)| {
            options.values = kernel.integers(&bindings);
            kernel.timeline(&options)
        });
    let line = match found {
        Ok(line) => line,
        Err(error) => {
            loaded.report(session, &Policy::plain(Format::Human), &words::diagnostics(&error))?;
            return Err(Failure::reported(code(&error)));
        }
    };
    let shown = Shown { line: &line, kernel: &kernel, source: &loaded.source, own_costs: own.costs.is_some() };
    if !is_stdout(file) {
        session.stdout.write_all(page(&shown).as_bytes())?;
    }
    let text = if picture { draw(&shown) } else { events(&shown) };
    session.write(file, text.into_bytes())?;
    Ok(FINE)
}

/// A missing input is an error of the command line; one that only a run can find is undecided.
fn code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Request => USAGE_ERROR,
        _ if error.missing().is_some() => USAGE_ERROR,
        ErrorKind::Undecided => UNDECIDED,
        _ => crate::session::PROGRAM_ERROR,
    }
}
