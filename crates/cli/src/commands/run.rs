//! `tessera run`: binds files and values to a program, runs it, and writes what comes out.

mod expect;
mod inputs;
mod outputs;
mod ranks;
mod ready;
pub mod trace;

use super::{Loaded, load_entry};
use crate::bind::{self, Bound, Give, Take};
use crate::limits::Limits;
use crate::policy::{Format, Policy};
use crate::progress;
use crate::session::{Failure, Outcome, PROGRAM_ERROR, Session, USAGE_ERROR};
use crate::source::Source;
use crate::words;
use std::path::PathBuf;
use tessera::case::Case;
use tessera::program::Setting;
use tessera::{Diagnostic, Error, Kernel, Profile, Program, Severity};

pub use ready::Ready;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera run it.pto --in src0=a.npy --in src1=b.npy --out dst0=x.npy\n  tessera run \
                  kernel.pto --profile a5 --set n=16 --in x=x.npy --out y=y.npy --blocks 4\n  tessera run it.pto --in \
                  src=a.npy           (prints the outputs)\n  tessera run kernel.pto --in x=random --in w=random:7 \
                  --expect y=golden.npy --rtol 1e-3\n\nNames may be written with or without %. A tile's file holds \
                  its valid region; bf16, fp8, hif8 and e8m0 are unsigned integers, fp4 is packed two to a byte. Files are \
                  written only when the run succeeds; `-` is standard input or output."
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
    /// The function to run
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// An array for an argument, or for an input of a listing: a file, FILE.npy:cast to round its numbers to the
    /// argument's type, or random[:SEED], iota, zeros, ones, value:V (a file of such a name is ./random)
    #[arg(long = "in", value_name = "NAME=FILE.npy", value_parser = bind::give)]
    inputs: Vec<Bound<Give>>,
    /// The extents of an argument: for made-up contents if the views do not imply them; without --in the argument is
    /// zeros
    #[arg(long, value_name = "NAME=NxM", value_parser = bind::shape)]
    shape: Vec<(String, Vec<u64>)>,
    /// Write an argument or a tile to a file; NAME@1 is core 1's copy, FILE.npy:f32 (f16, f64) converts the numbers
    /// to that type
    #[arg(long = "out", value_name = "NAME=FILE.npy", value_parser = bind::take)]
    outputs: Vec<Bound<Take>>,
    /// Compare an argument or a tile after the run with a file: bit for bit, unless a tolerance is given
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = bind::give)]
    expect: Vec<Bound<Give>>,
    #[command(flatten)]
    tolerance: expect::Tolerances,
    /// Read a tile's declared bytes, in memory order, from a file
    #[arg(long, value_name = "NAME=FILE", value_parser = bind::file)]
    raw_in: Vec<Bound<PathBuf>>,
    /// Write a tile's declared bytes, in memory order, to a file
    #[arg(long, value_name = "NAME=FILE", value_parser = bind::file)]
    raw_out: Vec<Bound<PathBuf>>,
    /// A value for a scalar; NAME.valid=R,C for a tile's ? extents, NAME.strides=S,T and NAME.offset=N for a memref's
    #[arg(long, value_name = "NAME=VALUE", value_parser = bind::setting)]
    set: Vec<Bound<Setting>>,
    /// The number of blocks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65536))]
    blocks: u32,
    /// Run N ranks together: NAME@R in --in, --out, --set, --shape and --expect is the argument of rank R, NAME@ an array
    /// whose first axis is the rank; --set NAME=rank and NAME=ranks give its number and N. --entry may name a function
    /// for each rank: r0=@send,r1=@recv
    #[arg(long, value_name = "N")]
    ranks: Option<u32>,
    /// The arguments that lie in the window of a context, in their order; found in the program where left out
    #[arg(long, value_name = "CTX:A,B", requires = "ranks")]
    window: Vec<String>,
    /// An argument of a rank that is an argument of another rank
    #[arg(long, value_name = "A@R=B@Q", requires = "ranks")]
    bind: Vec<String>,
    /// Print a tile after the run; undefined elements are ?
    #[arg(long, value_name = "TILE", value_parser = bind::name)]
    dump: Vec<Bound<()>>,
    /// Write one JSON line per instruction: operands and a hash of what it wrote
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Do not track undefined bytes. Faster; an element that nothing wrote has the value that its memory holds
    #[arg(long)]
    untracked: bool,
    /// Finish every instruction before the next one starts. Slower, with the same results
    #[arg(long)]
    no_fuse: bool,
    /// Also check the order of the pipes in this run: races, flags and tokens between cores
    #[arg(long)]
    races: bool,
    /// Do not say that the order of the pipes was not judged
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    level: super::Level,
    #[command(flatten)]
    order: super::order::OrderArgs,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    policy: Policy,
    /// The format of diagnostics
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    args.policy.check_options(session)?;
    if args.ranks.is_some() {
        return ranks::run(args, session);
    }
    let loaded = load_entry(session, &args.file, args.profile, args.entry.as_deref())?.at(args.level);
    let Loaded { source, program } = &loaded;
    let found = program.check();
    let is_illegal = found.iter().any(Diagnostic::is_error);
    // A run tells what it comes across; warnings about the text are for `check`, unless they were made errors.
    let (mut findings, quiet): (Vec<_>, Vec<_>) =
        args.policy.apply(found).into_iter().partition(|d| d.is_error() || d.rule == "profile-override");
    if is_illegal {
        return loaded.report(session, &args.policy, &findings);
    }
    let kernel = loaded.kernel(session, &args.policy, args.entry.as_deref())?;
    let job = Job { args, source, kernel: &kernel };
    let bound = job.bindings(session).and_then(|bindings| Ok((bindings, args.read_expected(session)?)));
    let (mut bindings, wanted) = match bound {
        Ok(bound) => bound,
        Err(Stop::Failure(failure)) => return Err(failure),
        Err(Stop::Binding(found)) => {
            loaded.report(session, &args.policy, &found)?;
            return Ok(USAGE_ERROR);
        }
    };
    job.check_files(session)?;
    let shapes = kernel.shapes(&bindings);
    let (progress, shown) = progress::steps("running", args.blocks);
    bindings.progress = Some(progress);
    bindings.order = args.order.options().mode;
    let (mut outcome, judged) = match args.races {
        true => kernel.execute_judged(bindings),
        false => (kernel.execute(bindings), None),
    };
    drop(shown);
    findings.extend(judged.into_iter().flat_map(|report| args.policy.apply(report.diagnostics)));
    let mut found = args.policy.apply(words::found(&kernel, outcome.diagnostics.clone()));
    // A tile without a writer and the undefined elements that leave it are one mistake: what the run met, with the reason.
    let is_unwritten = |d: &Diagnostic| d.rule == "never-written";
    if let Some(undefined) = found.iter_mut().find(|d| d.rule == "undefined-read") {
        let unwritten = findings.iter().chain(&quiet).find(|d| is_unwritten(d));
        undefined.notes.extend(unwritten.map(|d| d.message.clone()));
        findings.retain(|d| !is_unwritten(d));
    }
    for d in found {
        if !findings.iter().any(|f| f.rule == d.rule && f.span == d.span) {
            findings.push(d);
        }
    }
    job.show_printed(session, &outcome)?;
    let has_undefined = findings.iter().any(|d| d.rule == "undefined-read");
    let counts = |d: &&Diagnostic| d.severity == Severity::Warning && !(has_undefined && is_unwritten(d));
    let quiet = quiet.iter().filter(counts).count();
    if quiet > 0 && args.format == Format::Human {
        let warnings = words::counted(quiet as u64, "warning");
        writeln!(session.stderr, "note: `tessera check` shows {warnings} about the text")?;
    }
    let is_open = !args.races && !args.quiet && kernel.orders_pipes(args.order.options().mode);
    if is_open && args.format == Format::Human {
        writeln!(session.stderr, "note: the order of the pipes was not judged: --races does, -q leaves this line out")?;
    }
    if args.untracked && args.format == Format::Human {
        let what =
            "with --untracked an element that nothing wrote counts as what its memory holds, and is not reported";
        writeln!(session.stderr, "note: {what}")?;
    }
    if !findings.is_empty() && loaded.report(session, &args.policy, &findings)? == PROGRAM_ERROR {
        return Ok(PROGRAM_ERROR);
    }
    job.put_out(session, &mut outcome, &shapes)?;
    job.compare(session, &outcome, &shapes, &wanted)
}

impl Args {
    /// The options as one.
    pub fn ready(mut self) -> Args {
        self.policy.format = self.format.into();
        self
    }

    /// The command line as a case: what it compares, and nothing that it writes. In a sentence, why it is none.
    pub fn case(&self, session: &mut Session<'_>, profile: Option<Profile>) -> Result<Case, String> {
        let wrong = |stop: Stop| match stop {
            Stop::Failure(failure) => failure.message,
            Stop::Binding(found) => found.first().map_or(String::new(), |d| d.message.clone()),
        };
        let bytes = session.read_source(&self.file).map_err(|failure| failure.message)?;
        let program =
            Program::read_as(bytes, profile.or(self.profile), self.entry.as_deref(), session.dialect.as_deref());
        Ok(Case {
            entry: self.entry.clone(),
            blocks: self.blocks,
            inputs: self.read_inputs(session).map_err(wrong)?,
            expect: self.read_expected(session).map_err(wrong)?,
            limits: self.limits.into(),
            ..Case::new(program)
        })
    }

    /// The profile that it names.
    pub fn profile(&self) -> Option<Profile> {
        self.profile
    }
}

/// A command line with the function that it runs.
struct Job<'a> {
    args: &'a Args,
    source: &'a Source,
    kernel: &'a Kernel,
}

/// Why a program cannot be run with what the command line binds.
enum Stop {
    /// A file cannot be read.
    Failure(Failure),
    /// A name, shape or type is wrong (`binding`).
    Binding(Vec<Diagnostic>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failure(failure)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Binding(words::diagnostics(&error))
    }
}

impl Stop {
    fn binding(message: String) -> Stop {
        Stop::Binding(vec![Diagnostic::error("binding", message)])
    }
}
