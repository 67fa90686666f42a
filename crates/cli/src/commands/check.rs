//! `tessera check`: every finding of a program without running it.

use super::{Level, Loaded, load_entry, order};
use crate::complete::Completed;
use crate::inputs;
use crate::policy::{Findings, Policy};
use crate::render::diagnostic;
use crate::render::table::Table;
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session, UNDECIDED};
use crate::source::Source;
use crate::words::counted;
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use std::path::{Path, PathBuf};
use tessera::{Diagnostic, OrderOptions, Profile, Program, Verdict};
use tessera_check::PortabilityRow;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera check kernel.pto --profile a5\n  tessera check kernel.pto --profile all\n  \
                        tessera check *.pto --strict --allow textract-divides --format json\n  \
                        tessera check kernel.pto --profile a5 --races\n  tessera check kernels/ --profile all --format sarif > \
                        findings.sarif\n  tessera check kernel.pto --profile a5 --races --fix"
)]
pub struct Args {
    /// Programs, or folders with programs in them; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// cpu, a2a3, a5 or a device name; `all` compares the three. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = targets(), hide_possible_values = true)]
    profile: Option<Target>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// With `--profile all`: list the instructions that every profile takes, too
    #[arg(long)]
    all: bool,
    /// Check only this function and the functions that it calls; separate several names by commas
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// Also check the order of the pipes: races, flags and deadlocks, for all trip counts and branches
    #[arg(long)]
    races: bool,
    /// With `--races`: also warn of flags and barriers that order nothing new
    #[arg(long, requires = "races")]
    redundant: bool,
    #[command(flatten)]
    level: Level,
    #[command(flatten)]
    order: order::OrderArgs,
    #[command(flatten)]
    policy: Policy,
    /// The format of diagnostics
    #[arg(long, value_enum, default_value = "human")]
    format: Findings,
    /// Apply the quick fixes that editors offer, then check the result
    #[arg(long)]
    fix: bool,
    /// Print the quick fixes as a unified diff without changing the file
    #[arg(long)]
    diff: bool,
}

impl Args {
    /// The options as one.
    pub fn ready(mut self) -> Args {
        self.policy.format = self.format;
        self
    }
}

#[derive(Clone, Copy, Debug)]
enum Target {
    One(Profile),
    All,
}

fn target(text: &str) -> Result<Target, String> {
    match text.eq_ignore_ascii_case("all") {
        true => Ok(Target::All),
        false => super::profile(text).map(Target::One),
    }
}

fn targets() -> Completed<Target> {
    let words = || Profile::ALL.iter().map(|p| p.name()).chain(["all"]).collect();
    Completed { parse: target, words }
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    args.policy.check_options(session)?;
    let mut worst = FINE;
    for file in &inputs::programs(session, &args.files)? {
        if args.fix || args.diff {
            let fixed = fix(args, session, file);
            if args.diff || fixed.is_err() || file == Path::new("-") {
                worst = worse(worst, fixed.unwrap_or_else(|failure| session.complain(&failure)));
                continue;
            }
        }
        let outcome = match args.profile {
            Some(Target::All) if args.races => Profile::ALL
                .into_iter()
                .try_fold(FINE, |worst, profile| Ok(worse(worst, check(args, session, file, Some(profile))?))),
            Some(Target::All) => check_all(args, session, file),
            Some(Target::One(profile)) => check(args, session, file, Some(profile)),
            None => check(args, session, file, None),
        };
        worst = worse(worst, outcome.unwrap_or_else(|failure| session.complain(&failure)));
    }
    args.policy.finish(session)?;
    Ok(worst)
}

/// Applies quick fixes to a file, or prints them as a diff. With a diff, exit code 1 says that there are some. The
/// text
/// of standard input is printed with its fixes.
fn fix(args: &Args, session: &mut Session<'_>, file: &Path) -> Outcome {
    let source = Source::of_file(file, session.read_source(file)?);
    let profiles = match args.profile {
        Some(Target::All) => Profile::ALL.to_vec(),
        Some(Target::One(profile)) => vec![profile],
        None => Vec::new(),
    };
    let fixed = tessera_lsp::fix(&source.text, &profiles, args.races);
    if args.diff {
        if !fixed.applied.is_empty() {
            let lines = InternedInput::new(source.text.as_str(), fixed.text.as_str());
            let mut changes = Diff::compute(Algorithm::Histogram, &lines);
            changes.postprocess_lines(&lines);
            let printer = BasicLineDiffPrinter(&lines.interner);
            let hunks = changes.unified_diff(&printer, UnifiedDiffConfig::default(), &lines);
            write!(session.stdout, "--- a/{0}\n+++ b/{0}\n{hunks}", source.name)?;
        }
        return Ok(if fixed.applied.is_empty() { FINE } else { PROGRAM_ERROR });
    }
    for done in &fixed.applied {
        writeln!(session.stderr, "fixed {}:{}: {} ({})", source.name, done.line, done.title, done.rule)?;
    }
    if file == Path::new("-") {
        session.stdout.write_all(fixed.text.as_bytes())?;
    } else if !fixed.applied.is_empty() {
        session.write(file, fixed.text.into_bytes())?;
    }
    Ok(FINE)
}

/// The worse of two exit codes: a wrong command line, then errors, then what is undecided.
fn worse(a: u8, b: u8) -> u8 {
    let rank = |code: u8| [FINE, UNDECIDED, PROGRAM_ERROR].iter().position(|c| *c == code).unwrap_or(usize::MAX);
    if rank(b) > rank(a) { b } else { a }
}

fn check(args: &Args, session: &mut Session<'_>, file: &Path, profile: Option<Profile>) -> Outcome {
    let loaded = load_entry(session, file, profile, args.entry.as_deref())?.at(args.level);
    for name in args.entry.iter().flat_map(|names| names.split(',')).filter(|_| !loaded.program.has_errors()) {
        loaded.known(session, &args.policy, name.trim())?;
    }
    let mut found = loaded.program.check();
    let judged = args.races && !found.iter().any(Diagnostic::is_error);
    let verdicts = if judged { judge(args, session, &loaded, &mut found)? } else { Vec::new() };
    let diagnostics = args.policy.apply(found);
    let code = loaded.report(session, &args.policy, &diagnostics)?;
    if args.format == Findings::Human {
        let module = loaded.program.module();
        if profile.is_none() && module.target.is_none() && !module.is_listing {
            let (name, profile) = (&loaded.source.name, loaded.program.profile());
            writeln!(session.stderr, "note: {name} names no target, so {profile} is assumed; --profile says another")?;
        }
    }
    for (name, verdict) in &verdicts {
        if args.format == Findings::Human {
            let profile = loaded.program.profile();
            writeln!(session.stdout, "{}: {} ({name}, profile {profile})", loaded.source.name, verdict.name())?;
        }
    }
    let undecided = verdicts.iter().any(|(_, verdict)| *verdict == Verdict::Undecided);
    Ok(if undecided && code == FINE { UNDECIDED } else { code })
}

/// Judges the order of every kernel, or of the one that is named.
fn judge(
    args: &Args,
    session: &mut Session<'_>,
    loaded: &Loaded,
    found: &mut Vec<Diagnostic>,
) -> Result<Vec<(String, Verdict)>, Failure> {
    let kernels = match &args.entry {
        Some(names) => vec![Some(names.clone())],
        None => loaded.program.entries(),
    };
    let options = OrderOptions { redundant: args.redundant, ..args.order.options() };
    let mut verdicts = Vec::new();
    for name in kernels {
        let kernel = loaded.kernel(session, &args.policy, name.as_deref())?;
        match kernel.order(&options) {
            Ok(report) => {
                // Ids that the text decides are found by both.
                let is_new = |d: &Diagnostic| !found.iter().any(|f| f.rule == d.rule && f.span == d.span);
                let new: Vec<Diagnostic> = report.diagnostics.into_iter().filter(is_new).collect();
                found.extend(new);
                let name = name.map_or("the listing".to_string(), |name| format!("@{}", name.trim_start_matches('@')));
                verdicts.push((name, report.verdict));
            }
            Err(error) => found.extend(crate::words::diagnostics(&error)),
        }
    }
    Ok(verdicts)
}

fn check_all(args: &Args, session: &mut Session<'_>, file: &Path) -> Outcome {
    let bytes = session.read_source(file)?;
    // The three readings differ where the text leaves a layout to the profile. The module's own profile is one of the
    // three here, so nothing is overridden.
    let findings = Profile::ALL.map(|p| {
        let program = Program::read_as(&bytes, Some(p), args.entry.as_deref(), args.version.dialect.as_deref())
            .at_level(args.level.level);
        let mut found = args.policy.apply(program.check());
        found.retain(|d| d.rule != "profile-override");
        (program, found)
    });
    let source = Source::of_file(file, bytes);
    if args.format != Findings::Human {
        let mut worst = FINE;
        for (profile, (_, found)) in Profile::ALL.into_iter().zip(&findings) {
            worst = worst.max(args.policy.report(session, &source, found, profile)?);
        }
        return Ok(worst);
    }
    let [(first, found), ..] = &findings;
    if first.has_errors() {
        return args.policy.report(session, &source, found, first.profile());
    }
    let rows = first.portability().rows;
    let mut table = Table::new(["line", "instruction", "cpu", "a2a3", "a5"]);
    let is_shown = |row: &&PortabilityRow| args.all || row.refused.iter().any(Option::is_some);
    for row in rows.iter().filter(is_shown) {
        let line = source.line(row.span).to_string();
        let cells = row.refused.map(|rule| rule.unwrap_or("legal").to_string());
        table.row([line, row.mnemonic.to_string()].into_iter().chain(cells));
    }
    let legal = rows.iter().filter(|row| row.refused.iter().all(Option::is_none)).count();
    let counted_legal = match (args.all, legal) {
        (true, _) | (_, 0) => String::new(),
        (false, n) if n == rows.len() => format!("  {} legal everywhere\n", counted(n as u64, "instruction")),
        (false, n) => format!("  and {} legal everywhere\n", counted(n as u64, "instruction")),
    };
    let table = if legal < rows.len() || args.all { table.render() } else { String::new() };
    let refused = Profile::ALL.map(|p| rows.iter().filter(|r| r.refused[p as usize].is_some()).count());
    let verdicts = Profile::ALL.map(|p| verdict(p, refused[p as usize], &findings[p as usize].1));
    let runs: Vec<&str> =
        Profile::ALL.iter().zip(&verdicts).filter(|(_, v)| v.is_none()).map(|(p, _)| p.name()).collect();
    let mut parts = vec![match runs.as_slice() {
        [] => "runs on no profile".to_string(),
        some => format!("runs on {}", some.join(", ")),
    }];
    for part in verdicts.into_iter().flatten() {
        // An operation that no profile can run is reported once.
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let code = if parts.len() == 1 { FINE } else { PROGRAM_ERROR };
    writeln!(session.stdout, "{}\n{table}{counted_legal}\n{}", source.name, parts.join("; "))?;
    Ok(code)
}

/// Why a profile refuses the program, if it does.
fn verdict(profile: Profile, refused: usize, found: &[Diagnostic]) -> Option<String> {
    let Some(first) = found.iter().find(|d| d.is_error()) else {
        let stuck = found.iter().find(|d| d.rule == diagnostic::STUCK)?;
        return Some(format!("it is accepted and does not run ({})", stuck.message));
    };
    Some(match refused {
        0 => format!("{profile} refuses it ({})", first.rule),
        n => format!("{profile} refuses {}", counted(n as u64, "instruction")),
    })
}
