//! Order between the pipes of a PTO program (sync.md): which instruction happens before which, which accesses race, which
//! flags are wrong, and where a program stops for ever.
//!
//! A program is **walked** on every path that matters ([`walk`]): branches whose conditions are not known are taken both
//! ways, loops whose trip counts are not known run as often as decides all other counts. Each path gives a [`Trace`] of
//! instructions and order operations with the bytes that they touch; [`Order`] is what happens before what;
//! [`races`] and [`flags`] judge it. What cannot be known is *undecided*, with the reason.

mod atoms;
mod bytes;
mod flags;
mod form;
mod insert;
mod order;
mod place;
mod races;
mod report;
pub mod timeline;
mod trace;
mod walk;

pub use insert::{Served, Synced, insert};
pub use place::place;
pub use races::Conflict;
pub use walk::Core;

use order::Order;
use report::Reporter;
use tessera_ir::scalar::Constants;
use tessera_ir::{Func, Module, Runs, ValueId};
use tessera_isa::diag::{Diagnostic, Severity, Span};
use tessera_isa::profile::Profile;
use tessera_plan::Placement;
use trace::{Sets, Trace};
use walk::{Choices, Subject};

/// How far a program is followed.
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
        Limits { steps: 20_000_000, events: 2_000_000, total: 8_000_000 }
    }
}

/// Who orders the pipes of a process (sync.md 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The program, with flags and barriers.
    Manual,
    /// The assembler.
    Auto,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who orders the pipes, whatever the program says.
    pub mode: Option<Mode>,
    /// Are the buffers of different arguments different ones?
    pub disjoint: bool,
    /// Arguments whose numbers are known, as in one run.
    pub values: Vec<(ValueId, i64)>,
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options { mode: None, disjoint: true, values: Vec::new(), limits: Limits::default() }
    }
}

/// What is known of a program's order.
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

/// Why nobody can tell.
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

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    pub verdict: Verdict,
    /// Races and broken rules of flags, in the order of the text; where nothing could be told, why.
    pub diagnostics: Vec<Diagnostic>,
}

/// Does the program order its pipes itself?
pub fn mode(func: &Func) -> Mode {
    let written = func.attrs.iter().find(|(key, _)| key == "pto.sync").map(|(_, value)| value.trim_matches('"'));
    let orders = |op: &tessera_ir::Op| op.opcode().and_then(|o| o.order()).is_some_and(|o| o.is_manual());
    match written {
        Some("manual") => Mode::Manual,
        Some("auto") => Mode::Auto,
        _ if func.ops.iter().any(orders) => Mode::Manual,
        _ => Mode::Auto,
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
    let automatic = options.mode.unwrap_or_else(|| mode(func)) == Mode::Auto;
    let constants = Constants::new(module, func);
    let core = match func.runs() {
        Runs::Unsplit => Core::Unsplit,
        Runs::One(tessera_ir::Core::Cube) => Core::Cube,
        Runs::One(tessera_ir::Core::Vector) => Core::Vector(0),
        Runs::Mixed => return between_cores(func),
    };
    let Options { disjoint, limits, ref values, .. } = *options;
    let subject = Subject {
        module,
        func,
        profile,
        placement,
        core,
        automatic,
        disjoint,
        ticks: false,
        brief: false,
        values,
        limits,
        exact: None,
    };
    let mut reporter = Reporter::new(module, func, profile, text);
    let mut choices = Choices::default();
    let mut undecided = None;
    let mut total = 0;
    loop {
        let mut sets = Sets::default();
        match walk::walk(subject, &constants, &mut choices, &mut sets) {
            Ok(trace) => {
                total += trace.steps + 8 * trace.events.len() as u64;
                undecided = undecided.or(judge(&trace, &sets, &mut reporter, subject));
            }
            Err(why) => {
                undecided = Some(why);
                break;
            }
        }
        if total > options.limits.total {
            let what = "the loops and branches have too many combinations to look at all of them";
            undecided = undecided.or(Some(Undecided { span: Some(func.span), why: what.into() }));
            break;
        }
        if !choices.advance() {
            break;
        }
    }
    let mut diagnostics = reporter.done();
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

/// What one core does is ordered by others, too, and that order is not followed.
fn between_cores(func: &Func) -> Report {
    let what = "the kernel runs on a cube core and two vector cores, and the order between cores is not followed";
    let note = Diagnostic::new("undecided", Severity::Note, what).at(func.span, "the kernel");
    let help = "check the part of one kind of core by itself";
    Report { verdict: Verdict::Undecided, diagnostics: vec![note.help(help)] }
}

/// Judges one path of one process; gives the reason where something could not be told.
fn judge(trace: &Trace, sets: &Sets, reporter: &mut Reporter<'_>, subject: Subject<'_>) -> Option<Undecided> {
    let order = Order::new(&[trace], subject.profile, &[]);
    let is_broken = reporter.flags(trace, &order);
    if let Some((a, b)) = flags::unclear(trace) {
        let what = format!("flags of {a} → {b} have ids of which nobody knows whether they are equal");
        return Some(Undecided { span: None, why: what });
    }
    // What never happens cannot race (sync.md 9).
    if is_broken || !order.stuck.is_empty() {
        return None;
    }
    let found = races::find(trace, &order, 0, sets);
    for race in &found.races {
        reporter.race(trace, sets, race);
    }
    let span = |event: usize| subject.func.op(trace.events[event].op).span;
    if let Some((x, y)) = found.maybe {
        let names = [x, y].map(|n| subject.func.op(trace.events[n].op).kind.name());
        let what =
            format!("whether {} and {} touch the same bytes depends on values that are not known", names[0], names[1]);
        return Some(Undecided::at(span(y), what));
    }
    let cut = found.cut_short && found.races.is_empty();
    cut.then(|| Undecided { span: None, why: "there are too many pairs of accesses to compare".into() })
}
