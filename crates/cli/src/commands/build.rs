//! `tessera build`: a program as C++ for the vendor's compiler, placed and ordered (spec/build.md). `ptoas` is the same
//! under the assembler's flags.

use crate::output;
use crate::policy::{Format, Policy};
use crate::render::diagnostic::human;
use crate::session::{FINE, Failure, Outcome, Session};
use crate::source::Source;
use crate::words::{counted, diagnostics};
use std::path::{Path, PathBuf};
use tessera::{Error, Profile, Program};
use tessera_emit::{Built, Options};
use tessera_isa::diag::{Diagnostic, Severity};

const EXAMPLES: &str = "Examples:
  tessera build kernel.pto --profile a5 -o kernel.cpp
  tessera build kernel.pto --level 3 --no-sync > kernel.cpp
  front-end | tessera build - --profile a2a3 -o kernel.cpp -v
  tessera build kernel.pto --profile a5 --emit-ir | tessera check - --races
The same program under the name `ptoas` takes the public assembler's command lines; see `ptoas --help`.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// a2a3, a5, cpu or a device name. Default: the module's own, else a2a3
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    /// 1 or 2: no tile has an address, all are placed; 3: every tile has one, and nothing is placed. Default: what has no
    /// address is placed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    level: Option<u8>,
    /// Insert the flags and barriers that the program needs (default)
    #[arg(long, overrides_with = "no_sync")]
    sync: bool,
    /// Leave the order as it is written
    #[arg(long)]
    no_sync: bool,
    /// Take out the flags and barriers that the program has, and make new ones
    #[arg(long, conflicts_with = "no_sync")]
    resync: bool,
    /// The file to write. Default: standard output
    #[arg(short, long, value_name = "F")]
    output: Option<PathBuf>,
    /// Put `#line` before each statement: the place in loc(…), else the line of FILE
    #[arg(long)]
    debug_lines: bool,
    /// Print the placed, ordered program as text instead
    #[arg(long)]
    emit_ir: bool,
    /// List each flag and barrier that is stronger than the program may need, and why
    #[arg(long, short = 'v')]
    verbose: bool,
}

/// What is to be built, whoever asked.
#[derive(Debug)]
pub struct Request {
    pub file: PathBuf,
    pub profile: Option<Profile>,
    /// The profile where neither the request nor the module names one.
    pub default: Profile,
    pub level: Option<u8>,
    pub sync: bool,
    pub resync: bool,
    /// A barrier of all pipes before every instruction instead of flags.
    pub barriers: bool,
    pub output: Option<PathBuf>,
    pub debug_lines: bool,
    pub emit_ir: bool,
    pub verbose: bool,
    /// Whether findings of a legal program are shown, too, and fallbacks counted.
    pub talks: bool,
    /// The words of the command line that insert flags, for the warning where none are there.
    pub sync_flag: &'static str,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let request = Request {
        file: args.file.clone(),
        profile: args.profile,
        default: Profile::A2a3,
        level: args.level,
        sync: !args.no_sync,
        resync: args.resync,
        barriers: false,
        output: args.output.clone(),
        debug_lines: args.debug_lines,
        emit_ir: args.emit_ir,
        verbose: args.verbose,
        talks: true,
        sync_flag: "leave out --no-sync",
    };
    build(&request, session)
}

/// Reads, checks, places, orders and prints; nothing is written unless all of it went well.
pub fn build(request: &Request, session: &mut Session<'_>) -> Outcome {
    let stdout = PathBuf::from("-");
    let out = request.output.as_ref().unwrap_or(&stdout);
    refuse_objects(out)?;
    output::check(session, &[out])?;
    let bytes = session.read_source(&request.file)?;
    if bytes.starts_with(b"PTOBC\0") {
        let what =
            format!("{} is bytecode of the public assembler: give the text of the program", request.file.display());
        return Err(Failure::usage(what));
    }
    let mut program = Program::read(&bytes, request.profile);
    if request.profile.is_none() && program.module().target.is_none() && request.default != program.profile() {
        program = Program::read(&bytes, Some(request.default));
    }
    program = program.at_level(request.level);
    let source = Source::of_file(&request.file, bytes);
    let policy = Policy::plain(Format::Human);
    let mut found = program.check();
    if found.iter().any(Diagnostic::is_error) {
        return Err(Failure::reported(policy.report(session, &source, &found, program.profile())?));
    }
    let name = request.debug_lines.then_some(source.name.as_str());
    let options = Options {
        sync: request.sync || request.resync || request.barriers,
        resync: request.resync,
        barriers: request.barriers,
        debug_lines: name,
        entry: None,
    };
    let built = tessera_emit::build(program.module(), program.profile(), &options);
    let built = built.or_else(|error| refuse(session, &source, &program, Error::from(error)))?;
    if request.talks {
        found.retain(|d| d.severity == Severity::Warning);
        show(session, &source, &found)?;
    }
    talk(request, session, &source, &built)?;
    let text = match request.emit_ir {
        true => placed_text(&program, &options).or_else(|error| refuse(session, &source, &program, error))?,
        false => built.text,
    };
    output::write(session, &[(out.clone(), text.into_bytes())])?;
    Ok(FINE)
}

/// The C++ of a legal program in the order that it has: `tessera emit --cpp`.
pub fn as_written(program: &Program, entry: Option<&str>) -> tessera::Result<String> {
    let options = Options { entry, ..Options::default() };
    Ok(tessera_emit::build(program.module(), program.profile(), &options)?.text)
}

fn refuse<T>(session: &mut Session<'_>, source: &Source, program: &Program, error: Error) -> Result<T, Failure> {
    let found = program.with_locations(diagnostics(&error));
    Err(Failure::reported(Policy::plain(Format::Human).report(session, source, &found, program.profile())?))
}

/// Objects are the vendor's compiler's.
fn refuse_objects(out: &Path) -> Result<(), Failure> {
    if !out.extension().is_some_and(|e| e == "o" || e == "obj") {
        return Ok(());
    }
    let what = format!(
        "{} is an object file, which the vendor's compiler makes: write C++ (-o {}) and compile it",
        out.display(),
        out.with_extension("cpp").display()
    );
    Err(Failure::usage(what))
}

fn show(session: &mut Session<'_>, source: &Source, found: &[Diagnostic]) -> Result<(), Failure> {
    for diagnostic in found {
        session.stderr.write_all(human(diagnostic, source, session.color).as_bytes())?;
    }
    Ok(())
}

/// Says what was inserted that may be stronger than needed, and what was not inserted.
fn talk(request: &Request, session: &mut Session<'_>, source: &Source, built: &Built) -> Result<(), Failure> {
    let mut notes = built.notes();
    let plans = built.kernels.iter().filter_map(|k| Some((k, k.plan.as_ref()?)));
    let fallbacks: Vec<Diagnostic> = plans
        .filter(|_| !request.barriers)
        .flat_map(|(k, plan)| tessera::program::fallbacks(&built.module, &k.before, plan))
        .collect();
    let count = fallbacks.len() as u64;
    notes.extend(fallbacks);
    if request.verbose {
        show(session, source, &notes)?;
    } else if request.talks && count > 0 {
        let count = counted(count, "fallback");
        writeln!(session.stderr, "{}: {count} in the inserted order (-v lists them)", source.name)?;
    }
    if !request.sync && !request.resync && !request.barriers && !built.has_order() && built.has_work() {
        writeln!(
            session.stderr,
            "warning: {}: the program has no flags and no barriers, and none were inserted: its pipes race on a device \
             ({})",
            source.name, request.sync_flag
        )?;
    }
    Ok(())
}

/// The placed, ordered program as text.
fn placed_text(program: &Program, options: &Options<'_>) -> tessera::Result<String> {
    let program = program.with_allocations()?;
    let built = tessera_emit::build(program.module(), program.profile(), options)?;
    let functions = built.kernels.into_iter().map(|k| (k.func, k.placement, k.is_joined)).collect();
    Ok(program.with_functions(built.module, functions))
}
