//! The subcommands, one file each.

mod bench;
mod check;
mod completions;
mod config;
mod demo;
mod diff;
mod emit;
mod equiv;
pub mod explain;
mod explore;
mod fmt;
mod info;
mod layout;
pub mod lsp;
mod opt;
mod order;
pub mod plan;
mod run;
mod sweep;
pub mod trace;

use crate::complete::Completed;
use crate::policy::{Format, Policy};
use crate::session::{Failure, Outcome, Session, UNDECIDED, USAGE_ERROR};
use crate::source::Source;
use crate::watchdog::Bounds;
use crate::words;
use clap::{Parser, Subcommand};
use std::path::Path;
use std::sync::LazyLock;
use tessera::{Error, ErrorKind, Kernel, Profile, Program};
use tessera_isa::diag::{Diagnostic, nearest};

/// The version of the package, with the commit of which a release was built.
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| match option_env!("TESSERA_COMMIT") {
        Some(commit) if !commit.is_empty() => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
        _ => env!("CARGO_PKG_VERSION").to_string(),
    });
    &TEXT
}

/// Assemble, verify, place and run programs of the PTO tile ISA.
#[derive(Debug, Parser)]
#[command(name = "tessera", version = version(), max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 fine (warnings too), 1 the program has errors, also at run time, 2 the command \
                        line or a file is wrong, 3 undecided.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How long it may take.
    #[command(flatten)]
    pub bounds: Bounds,
    /// Colour messages. Default: where standard error is a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub color: Option<Color>,
    /// Leave out the settings of tessera.toml
    #[arg(long, global = true)]
    pub no_config: bool,
}

/// When messages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// As the terminal and the environment say
    Auto,
    /// Also into files and pipes
    Always,
    /// Not at all
    Never,
}

impl Color {
    /// Whether messages are coloured, given what the terminal and the environment say.
    pub fn is_coloured(self, auto: bool) -> bool {
        match self {
            Color::Auto => auto,
            Color::Always => true,
            Color::Never => false,
        }
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Explain an instruction, rule, element type, profile, layout or location
    Explain(explain::Args),
    /// Open a page in which layouts, instructions and programs can be seen and tried
    Explore(explore::Args),
    /// Draw where the elements of a tile lie in memory
    Layout(layout::Args),
    /// Print programs as canonical text, or convert them to another form
    Fmt(fmt::Args),
    /// Check programs against every rule of a profile, or of all profiles
    Check(check::Args),
    /// Show the kernels of a program, their arguments, and a command line that runs them
    Info(info::Args),
    /// Run a program
    Run(Box<run::Args>),
    /// Check, run and compare many programs, and go on where it was stopped
    Sweep(sweep::Args),
    /// Show where tiles are placed, and which instruction waits for which
    Plan(plan::Args),
    /// Measure how fast instructions are, beside a memcpy of as many bytes
    Bench(bench::Args),
    /// Run a small program on every profile and show what it does
    Demo(demo::Args),
    /// Print a program as C++ that calls the intrinsics
    Emit(emit::Args),
    /// Show where an element comes from, or everywhere an input element goes
    Trace(trace::Args),
    /// Prove that two programs have the same outputs for all inputs, or show where they differ
    Equiv(equiv::Args),
    /// Take out what cannot matter, prove every step, and print the program that is left
    Opt(opt::Args),
    /// Find the first instruction at which two runs differ that `tessera run --trace` recorded
    Diff(diff::Args),
    /// Serve an editor: the Language Server Protocol on standard input and output
    Lsp(lsp::Args),
    /// Show the settings of tessera.toml that hold here
    Config(config::Args),
    /// Print a shell's completion script
    Completions(completions::Args),
}

impl Command {
    /// Whether it ends by itself: servers and measurements go on for as long as they are wanted.
    pub fn is_bounded(&self) -> bool {
        !matches!(self, Command::Lsp(_) | Command::Explore(_) | Command::Bench(_))
    }

    /// Runs the subcommand.
    pub fn run(self, session: &mut Session<'_>) -> Outcome {
        match self {
            Command::Explain(args) => explain::run(&args, session),
            Command::Explore(args) => explore::run(&args, session),
            Command::Layout(args) => layout::run(&args, session),
            Command::Fmt(args) => fmt::run(&args, session),
            Command::Check(args) => check::run(&args.ready(), session),
            Command::Info(args) => info::run(&args, session),
            Command::Run(args) => run::run(&(*args).ready(), session),
            Command::Sweep(args) => sweep::run(&args, session),
            Command::Plan(args) => plan::run(&args, session),
            Command::Bench(args) => bench::run(&args, session),
            Command::Demo(args) => demo::run(&args, session),
            Command::Emit(args) => emit::run(&args, session),
            Command::Trace(args) => trace::run(&args, session),
            Command::Equiv(args) => equiv::run(&args, session),
            Command::Opt(args) => opt::run(&args, session),
            Command::Diff(args) => diff::run(&args, session),
            Command::Lsp(args) => lsp::run(&args),
            Command::Config(args) => config::run(&args, session),
            Command::Completions(args) => completions::run(&args, session),
        }
    }
}

/// A profile of the command line, in any spelling.
fn profile(text: &str) -> Result<Profile, String> {
    Profile::parse(text).ok_or_else(|| {
        let near = nearest(text, Profile::spellings()).unwrap_or("cpu");
        format!("there is no profile '{text}'; did you mean '{near}'? (cpu, a2a3, a5)")
    })
}

/// The same, with the names that shells complete.
fn profiles() -> Completed<Profile> {
    Completed { parse: profile, words: || Profile::ALL.iter().map(|p| p.name()).collect() }
}

/// A program of the command line, with its text for messages.
struct Loaded {
    source: Source,
    program: Program,
}

fn load(session: &mut Session<'_>, file: &Path, profile: Option<Profile>) -> Result<Loaded, Failure> {
    load_entry(session, file, profile, None)
}

/// A program of which only a function counts, and what it reaches, if one is named.
fn load_entry(
    session: &mut Session<'_>,
    file: &Path,
    profile: Option<Profile>,
    entry: Option<&str>,
) -> Result<Loaded, Failure> {
    let bytes = session.read_source(file)?;
    let program = Program::read_entry(&bytes, profile, entry);
    Ok(Loaded { source: Source::of_file(file, bytes), program })
}

impl Loaded {
    /// Stops at a program that is illegal.
    fn legal(&self, session: &mut Session<'_>, format: Format) -> Result<(), Failure> {
        self.legal_but_for(session, format, &[])
    }

    /// The same, where errors of some rules do not matter.
    fn legal_but_for(&self, session: &mut Session<'_>, format: Format, rules: &[&str]) -> Result<(), Failure> {
        let mut errors = self.program.check();
        errors.retain(|d| d.is_error() && !rules.contains(&d.rule));
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Failure::reported(self.report(session, &Policy::plain(format), &errors)?)),
        }
    }

    /// The function of a name, else the entry. A wrong name is a fault of the command line.
    fn kernel(&self, session: &mut Session<'_>, policy: &Policy, entry: Option<&str>) -> Result<Kernel, Failure> {
        let kernel = self.program.kernel_or_entry(entry);
        kernel.or_else(|error| self.refuse(session, policy, &error, entry.is_some()))
    }

    /// Stops at a function that is not there.
    fn known(&self, session: &mut Session<'_>, policy: &Policy, name: &str) -> Result<(), Failure> {
        match self.program.kernel(name) {
            Err(error) if error.rule() == "entry" => self.refuse(session, policy, &error, true),
            _ => Ok(()),
        }
    }

    /// Applies a function to the function of a name, or to the entry.
    fn with_entry<T>(
        &self,
        session: &mut Session<'_>,
        entry: Option<&str>,
        work: impl FnOnce(Kernel) -> tessera::Result<T>,
    ) -> Result<T, Failure> {
        self.program.kernel_or_entry(entry).and_then(work).or_else(|error| {
            let is_usage = error.rule() == "entry" && entry.is_some();
            self.refuse(session, &Policy::plain(Format::Human), &error, is_usage)
        })
    }

    /// Reports an error that is the command line's fault or the program's.
    fn refuse<T>(&self, session: &mut Session<'_>, policy: &Policy, error: &Error, usage: bool) -> Result<T, Failure> {
        let code = self.report(session, policy, &words::diagnostics(error))?;
        Err(Failure::reported(match error.kind() {
            _ if usage => USAGE_ERROR,
            ErrorKind::Undecided => UNDECIDED,
            _ => code,
        }))
    }

    fn report(&self, session: &mut Session<'_>, policy: &Policy, found: &[Diagnostic]) -> Outcome {
        policy.report(session, &self.source, found, self.program.profile())
    }
}
