//! Order between the pipes of a PTO program (sync.md): the happens-before relation of instructions, races, flag errors
//! and deadlocks.
//!
//! A program is **explored** on every path that matters ([`explore`]): branches with unknown conditions are taken both
//! ways, and loops with unknown trip counts run as often as decides all other counts. Each path gives a [`Trace`] of
//! instructions and synchronisation operations with the bytes that they access. [`HappensBefore`] orders the trace;
//! [`races`] and [`flags`] report on it. Anything that cannot be known is *undecided*, with the reason.

mod byte_partition;
mod calls;
mod causes;
mod channels;
mod cross_core;
mod dependence;
pub mod detector;
mod explore;
mod fifo_slots;
mod flags;
mod footprint;
mod happens_before;
mod insert;
mod linear_expr;
mod placement;
mod races;
pub mod ranks;
mod redundant;
mod report;
mod sync_op;
pub mod timeline;
mod trace;
mod vecscope;

pub use explore::Core;
pub use insert::{Fallback, FlagUse, Place, SyncPlan, Unrolled, insert, insert_barriers, insert_unrolled};
pub use placement::{place, place_above};
pub use races::Conflict;

use channels::Channels;
use explore::{AnalysisInput, PathChoices};
use happens_before::HappensBefore;
use races::RaceFindings;
use report::Reporter;
use tessera_ir::scalar::Constants;
use tessera_ir::{Fifos, Func, Module, Op, Runs};
use tessera_isa::diag::{Diagnostic, Severity, Span};
use tessera_isa::profile::Profile;
use tessera_plan::Placement;
use trace::{Sets, Trace};

/// The limits of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Operations of one path.
    pub steps: u64,
    /// Instructions and order operations of one path.
    pub events: usize,
    /// Operations of all paths together.
    pub total: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 20_000_000, events: 2_000_000, total: 16_000_000 }
    }
}

/// The origin of a process's order: the program or the assembler (sync.md 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The program, with flags and barriers.
    Manual,
    /// The assembler.
    Auto,
}

/// The options of an analysis.
#[derive(Clone, Debug)]
pub struct Options {
    /// The origin of the order, if it overrides the program's.
    pub mode: Option<Mode>,
    /// Whether different arguments are different buffers.
    pub disjoint: bool,
    /// Whether other functions call this one, so that the tiles it is given may share bytes.
    pub is_called: bool,
    /// Whether flags and barriers that order nothing are reported, too.
    pub redundant: bool,
    /// Whether findings of one cause are one, with a repair that was tried.
    pub joined: bool,
    /// Whether other ranks run the same kernel and keep to signals, so that what they do is left out (isa/comm.md 6).
    pub assume_ranks: bool,
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: None,
            disjoint: true,
            is_called: false,
            redundant: false,
            joined: false,
            assume_ranks: false,
            limits: Limits::default(),
        }
    }
}

/// The verdict on a program's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    RaceFree,
    Races,
    Undecided,
}

impl Verdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::RaceFree => "race-free",
            Verdict::Races => "races",
            Verdict::Undecided => "undecided",
        }
    }
}

/// Why the analysis is inconclusive.
#[derive(Clone, Debug)]
pub struct Undecided {
    pub span: Option<Span>,
    pub why: String,
}

impl Undecided {
    pub(crate) fn at(span: Span, why: impl Into<String>) -> Self {
        Undecided { span: Some(span), why: why.into() }
    }
}

/// The findings.
#[derive(Clone, Debug)]
pub struct Report {
    pub verdict: Verdict,
    /// Races and broken rules of flags, in the order of the text; where nothing could be told, why.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether the program orders its pipes itself.
pub fn mode(func: &Func) -> Mode {
    written(&func.attrs).unwrap_or_else(|| if func.ops.iter().any(Op::is_manual) { Mode::Manual } else { Mode::Auto })
}

/// The mode that `pto.sync` states.
fn written(attrs: &[(String, String)]) -> Option<Mode> {
    let (_, value) = attrs.iter().find(|(key, _)| key == "pto.sync")?;
    match value.trim_matches('"') {
        "manual" => Some(Mode::Manual),
        "auto" => Some(Mode::Auto),
        _ => None,
    }
}

/// Whether one process of a kernel orders its pipes itself (sync.md 3). Of functions that run together, each decides
/// for its own kind of core.
pub(crate) fn process_mode(module: &Module, func: &Func, processes: &[Core], core: Core) -> Mode {
    if processes.len() == 1 {
        return mode(func);
    }
    let kind = if core == Core::Cube { tessera_ir::Core::Cube } else { tessera_ir::Core::Vector };
    let cores = func.cores();
    let (mut said, mut manual) = (None, false);
    func.walk(&mut |id, op, _| {
        if cores[id.index()].is_none_or(|core| core == kind) {
            manual |= op.is_manual();
        }
        if cores[id.index()] == Some(kind) && said.is_none() {
            let home = module.funcs.iter().find(|f| f.name == func.home(id));
            said = home.and_then(|home| written(&home.attrs));
        }
    });
    // Functions that run together are joined under the name of the first one, which is marked.
    let is_joined = module.funcs.iter().any(|f| f.name == func.name && f.core.is_some());
    let whole = || written(&func.attrs).filter(|_| !is_joined);
    said.or_else(whole).unwrap_or(if manual { Mode::Manual } else { Mode::Auto })
}

/// The processes of a kernel.
pub(crate) fn processes(func: &Func) -> &'static [Core] {
    match func.runs() {
        Runs::Unsplit => &[Core::Unsplit],
        Runs::One(tessera_ir::Core::Cube) => &[Core::Cube],
        Runs::One(tessera_ir::Core::Vector) => &[Core::Vector(0)],
        Runs::Mixed => &[Core::Cube, Core::Vector(0), Core::Vector(1)],
    }
}

/// Judges the order of an inlined function whose tiles are placed. The text is what messages count lines in.
pub fn check(
    module: &Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
    text: &str,
    options: &Options,
) -> Report {
    let constants = Constants::new(module, func);
    let Options { disjoint, is_called, limits, .. } = *options;
    let all = processes(func);
    let subject = |core: Core| AnalysisInput {
        automatic: options.mode.unwrap_or_else(|| process_mode(module, func, all, core)) == Mode::Auto,
        disjoint,
        is_called,
        limits,
        ..AnalysisInput::new(module, func, profile, placement, core)
    };
    let subjects: Vec<AnalysisInput<'_>> = all.iter().map(|core| subject(*core)).collect();
    let Judged { found, undecided, reporter, .. } = judged_with(&subjects, &constants, text);
    let others = (!options.assume_ranks).then(|| other_ranks(func)).flatten();
    let undecided = undecided.or(others);
    let diagnostics = match &reporter {
        Some(reporter) if options.joined => causes::join(&subjects, &constants, reporter, found, undecided.is_some()),
        _ => found.into_iter().map(|(diagnostic, _)| diagnostic).collect(),
    };
    let mut report = verdict(diagnostics, undecided);
    if options.redundant {
        let useless = redundant::find(&subjects, &constants, &report);
        report.diagnostics.extend(useless);
    }
    report
}

/// What other ranks do to the memory that they reach is not known on one rank.
fn other_ranks(func: &Func) -> Option<Undecided> {
    let is_shared = |op: &&Op| op.opcode().is_some_and(|o| matches!(o.info().sem, tessera_isa::sem::Sem::Comm(_)));
    let first = func.ops.iter().find(is_shared)?;
    let why = "what other ranks do to the memory that they reach is not known here: a run of several ranks decides it";
    Some(Undecided::at(first.span, why))
}

/// The outcome of all paths.
struct Judged<'a> {
    found: Vec<causes::Found>,
    undecided: Option<Undecided>,
    /// How much there was to look at.
    weight: u64,
    reporter: Option<Reporter<'a>>,
}

/// Judges these processes on every path; tells also how much there was to look at.
fn judged(subjects: &[AnalysisInput<'_>], constants: &Constants, text: &str) -> (Report, u64) {
    let Judged { found, undecided, weight, .. } = judged_with(subjects, constants, text);
    (verdict(found.into_iter().map(|(diagnostic, _)| diagnostic).collect(), undecided), weight)
}

/// The same, with each finding by itself.
fn judged_with<'a>(subjects: &[AnalysisInput<'a>], constants: &Constants, text: &'a str) -> Judged<'a> {
    let Some(AnalysisInput { module, func, profile, limits, .. }) = subjects.first().copied() else {
        return Judged { found: Vec::new(), undecided: None, weight: 0, reporter: None };
    };
    let fifos = Fifos::new(module, func);
    let mut reporter = Reporter::new(module, func, profile, text);
    let mut choices = PathChoices::default();
    let mut undecided = None;
    let mut total = 0;
    let mut sets = Sets::default();
    loop {
        sets.restart();
        let mut walked = |subject: &AnalysisInput<'_>| explore::walk(*subject, constants, &mut choices, &mut sets);
        match subjects.iter().map(&mut walked).collect::<Result<Vec<Trace>, _>>() {
            Ok(traces) => {
                total += choices.weight();
                total += traces.iter().map(|trace| trace.steps + 8 * trace.events.len() as u64).sum::<u64>();
                let traces: Vec<&Trace> = traces.iter().collect();
                let is_longer = traces.iter().flat_map(|t| &t.open).any(|l| l.trips > l.tried);
                if !choices.again || is_longer {
                    undecided = undecided.or(judge(&traces, &sets, &mut reporter, &fifos, &mut choices));
                }
            }
            Err(why) => {
                let misuses = std::mem::take(&mut choices.wrong);
                reporter.misused(&Trace { misuses, ..Trace::default() });
                undecided = Some(why);
                break;
            }
        }
        if !choices.advance() {
            break;
        }
        if total > limits.total {
            let what = "the loops and branches have too many combinations to look at all of them";
            undecided = undecided.or(Some(Undecided { span: Some(func.span), why: what.into() }));
            break;
        }
    }
    let found = reporter.findings();
    Judged { found, undecided, weight: total, reporter: Some(reporter) }
}

/// The report of findings.
fn verdict(mut diagnostics: Vec<Diagnostic>, undecided: Option<Undecided>) -> Report {
    let verdict = if diagnostics.iter().any(Diagnostic::is_error) {
        Verdict::Races
    } else if let Some(Undecided { span, why }) = undecided {
        let note = Diagnostic::new("undecided", Severity::Note, why);
        diagnostics.push(match span {
            Some(span) => note.at(span, "here"),
            None => note,
        });
        Verdict::Undecided
    } else {
        Verdict::RaceFree
    };
    Report { verdict, diagnostics }
}

/// Judges one path of all processes; gives the reason where something could not be told.
fn judge(
    traces: &[&Trace],
    sets: &Sets,
    reporter: &mut Reporter<'_>,
    fifos: &Fifos,
    choices: &mut PathChoices,
) -> Option<Undecided> {
    let between = Channels::new(traces, reporter.profile, fifos);
    let order = HappensBefore::new(traces, reporter.profile, &between);
    let stops = between.stops(traces, &order);
    let mut is_broken = stops;
    for (process, trace) in traces.iter().enumerate() {
        is_broken |= reporter.flags(trace, &order, process, stops);
        if let Some((a, b)) = flags::unclear(trace) {
            let what = format!("flags of {a} → {b} have ids of which nobody knows whether they are equal");
            return Some(Undecided { span: None, why: what });
        }
    }
    reporter.cores(traces, &order, &between, fifos, stops);
    if !stops && order.stuck.is_empty() {
        between.ask(traces, &order, choices);
    }
    // An event that never happens cannot race (sync.md 9).
    if is_broken || !order.stuck.is_empty() {
        return None;
    }
    for trace in traces {
        trace.scopes.iter().for_each(|found| reporter.in_scope(found));
    }
    let unclear = dependence::ask(traces, sets, Some(&order), choices);
    let mut all: Vec<RaceFindings> = Vec::new();
    let manual = (0..traces.len()).filter(|process| !traces[*process].automatic);
    all.extend(manual.map(|process| races::find(traces[process], &order, process, sets)));
    if traces.len() > 1 {
        all.push(cross_core::find(traces, &order, sets));
    }
    for found in &all {
        found.races.iter().for_each(|race| reporter.race(traces, sets, race));
        found.same.iter().for_each(|race| reporter.same(traces, sets, race));
    }
    if let Some(pair) = all.iter().find_map(|found| found.maybe) {
        let [x, y] = pair.map(|(process, event)| reporter.func.op(traces[process].events[event].op));
        let what = format!(
            "whether {} and {} touch the same bytes depends on values that are not known",
            x.kind.name(),
            y.kind.name()
        );
        return Some(Undecided::at(y.span, what));
    }
    if let Some([_, (process, event)]) = unclear {
        let what = "accesses of global memory meet only after very many iterations, or move in no regular way";
        return Some(Undecided::at(reporter.func.op(traces[process].events[event].op).span, what));
    }
    if let Some((span, why)) = traces.iter().find_map(|trace| trace.unclear.clone()) {
        return Some(Undecided::at(span, why));
    }
    let cut = all.iter().any(|found| found.cut_short && found.races.is_empty());
    cut.then(|| Undecided { span: None, why: "there are too many pairs of accesses to compare".into() })
}
