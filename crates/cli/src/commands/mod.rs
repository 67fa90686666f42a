//! The subcommands, one file each.

mod bench;
mod bisect;
mod build;
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
mod gym;
mod info;
mod layout;
pub mod lsp;
mod mcp;
mod migrate;
mod opt;
mod order;
pub mod plan;
pub mod ptoas;
pub mod reduce;
mod run;
mod sanitize;
mod serve;
mod smith;
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
use tessera::{Dialect, Error, ErrorKind, Kernel, Profile, Program};
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
#[command(
    after_help = "Exit codes: 0 success (also with warnings), 1 the program has errors, also at run time, 2 the command \
                        line or a file is wrong, 3 undecided."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How long it may take.
    #[command(flatten)]
    pub bounds: Bounds,
    /// When messages are coloured. Default: if standard error is a terminal and NO_COLOR is not set
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub color: Option<Color>,
    /// Ignore tessera.toml
    #[arg(long, global = true)]
    pub no_config: bool,
}

/// When messages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// If standard error is a terminal and the environment allows it
    Auto,
    /// Also in files and pipes
    Always,
    /// No colours
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
    /// Open a page that shows layouts and instructions and runs programs
    Explore(explore::Args),
    /// Draw where the elements of a tile lie in memory
    Layout(layout::Args),
    /// Print programs as canonical text, or convert them to another form
    Fmt(fmt::Args),
    /// Rewrite programs for a version of the text
    Migrate(migrate::Args),
    /// Check programs against every rule of a profile, or of all profiles
    Check(check::Args),
    /// Show the kernels of a program, their arguments, and a command line that runs them
    Info(info::Args),
    /// Run a program
    Run(Box<run::Args>),
    /// Check, run and compare many programs; an interrupted sweep continues
    Sweep(sweep::Args),
    /// Show where tiles are placed, and which instruction waits for which
    Plan(plan::Args),
    /// Measure the speed of instructions, compared with a memcpy of as many bytes
    Bench(bench::Args),
    /// Run a small program on every profile and show what it does
    Demo(demo::Args),
    /// Make C++ for the vendor's compiler: placed, ordered, checked
    Build(build::Args),
    /// Print a program as C++ that calls the intrinsics, in the order that it has
    Emit(emit::Args),
    /// Show where an element comes from, or everywhere an input element goes
    Trace(trace::Args),
    /// Prove that two programs have the same outputs for all inputs, or show where they differ
    Equiv(equiv::Args),
    /// Remove instructions without effect, prove every step, and print the shorter program
    Opt(opt::Args),
    /// Make random legal programs from the instruction table
    Smith(smith::Args),
    /// Make a failing program small
    Reduce(reduce::Args),
    /// Look for errors of memory and order, in text and in C++ programs compiled with Tessera's header
    Sanitize(sanitize::Args),
    /// Serve tools and agents: JSON lines on standard input and output, or HTTP on this machine
    Serve(serve::Args),
    /// Serve agents: the Model Context Protocol on standard input and output
    Mcp(mcp::Args),
    /// List tasks for those who write kernels, show one, or score solutions
    Gym(gym::Args),
    /// Find the first instruction at which two programs differ on the same input
    Bisect(bisect::Args),
    /// Find the first instruction at which two runs differ, from files that `tessera run --trace` wrote
    Diff(diff::Args),
    /// Serve an editor: the Language Server Protocol on standard input and output
    Lsp(lsp::Args),
    /// Show the settings of tessera.toml that apply here
    Config(config::Args),
    /// Print a shell's completion script
    Completions(completions::Args),
}

impl Command {
    /// Whether it ends by itself: servers and measurements go on for as long as they are wanted.
    pub fn is_bounded(&self) -> bool {
        !matches!(self, Command::Lsp(_) | Command::Explore(_) | Command::Bench(_) | Command::Serve(_) | Command::Mcp(_))
    }

    /// The version of the text that the command line says.
    fn dialect(&self) -> Option<String> {
        let version = match self {
            Command::Check(args) => &args.version,
            Command::Info(args) => &args.version,
            Command::Run(args) => &args.version,
            Command::Sweep(args) => &args.version,
            Command::Plan(args) => &args.version,
            Command::Emit(args) => &args.version,
            Command::Trace(args) => &args.version,
            Command::Equiv(args) => &args.version,
            Command::Opt(args) => &args.version,
            Command::Migrate(args) => return args.from.clone(),
            _ => return None,
        };
        version.dialect.clone()
    }

    /// Runs the subcommand.
    pub fn run(self, session: &mut Session<'_>) -> Outcome {
        session.dialect = self.dialect();
        match self {
            Command::Explain(args) => explain::run(&args, session),
            Command::Explore(args) => explore::run(&args, session),
            Command::Layout(args) => layout::run(&args, session),
            Command::Fmt(args) => fmt::run(&args, session),
            Command::Migrate(args) => migrate::run(&args, session),
            Command::Check(args) => check::run(&args.ready(), session),
            Command::Info(args) => info::run(&args, session),
            Command::Run(args) => run::run(&(*args).ready(), session),
            Command::Sweep(args) => sweep::run(&args, session),
            Command::Plan(args) => plan::run(&args, session),
            Command::Bench(args) => bench::run(&args, session),
            Command::Demo(args) => demo::run(&args, session),
            Command::Build(args) => build::run(&args, session),
            Command::Emit(args) => emit::run(&args, session),
            Command::Trace(args) => trace::run(&args, session),
            Command::Equiv(args) => equiv::run(&args, session),
            Command::Opt(args) => opt::run(&args, session),
            Command::Smith(args) => smith::run(&args, session),
            Command::Reduce(args) => reduce::run(&args, session),
            Command::Sanitize(args) => sanitize::run(&args.ready(), session),
            Command::Serve(args) => serve::run(&args, session),
            Command::Mcp(args) => mcp::run(&args, session),
            Command::Gym(args) => gym::run(&args, session),
            Command::Bisect(args) => bisect::run(&args, session),
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

/// The version of the text, of commands that read programs.
#[derive(Debug, clap::Args)]
pub struct TextVersion {
    /// The version of the programs' text, such as 0.60. Default: the module's own, else by its spellings
    #[arg(long, value_name = "V", value_parser = version_of_text)]
    dialect: Option<String>,
}

/// A version of the text, as it is written.
fn version_of_text(text: &str) -> Result<String, String> {
    match Dialect::parse(text) {
        Some(_) => Ok(text.to_string()),
        None => {
            let (what, help) = Dialect::unknown(text);
            Err(format!("{what}; {help}"))
        }
    }
}

/// The named version that a number means.
fn dialect(text: &str) -> Result<Dialect, String> {
    version_of_text(text)?;
    Dialect::parse(text).map(|(dialect, _)| dialect).ok_or_else(String::new)
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
    let program = Program::read_as(&bytes, profile, entry, session.dialect.as_deref());
    Ok(Loaded { source: Source::of_file(file, bytes), program })
}

/// The level whose rules are asked.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Level {
    /// Also ask what the assembler asks at a level: 1 and 2 place every tile, 3 none. Default: the module's pto.level
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    level: Option<u8>,
}

impl Loaded {
    /// The same program at a level.
    fn at(self, level: Level) -> Loaded {
        Loaded { program: self.program.at_level(level.level), ..self }
    }

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
