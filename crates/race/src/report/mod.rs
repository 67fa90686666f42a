//! Findings as sentences: one per pair of program points, or per flag (sync.md 4 and 9).

mod cores;
mod fixit;
mod races;
mod source;

use crate::causes::Found;
use crate::explore::Core;
use crate::flags::{self, Fault, FlagViolation};
use crate::happens_before::HappensBefore;
use crate::trace::{Event, Flag, Kind, Trace};
use fixit::{Ids, Missing, Places};
use rustc_hash::{FxHashMap, FxHashSet};
pub(crate) use source::Source;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use tessera_ir::{Func, Module, OpId};
use tessera_isa::diag::{Diagnostic, Severity, Span};
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

/// Ids of flags.
const IDS: i64 = 8;

/// What a repair of a finding can go by. Findings are the same if their rules and their flags or operations are.
#[derive(Clone, Debug)]
pub(crate) struct Symptom {
    pub rule: &'static str,
    /// The set or wait, or the later one of two that race.
    pub op: OpId,
    /// The earlier one of two that race.
    pub x: Option<OpId>,
    pub core: Core,
    /// The pipes of a flag, or of an edge that is missing.
    pub pipes: Option<(Pipe, Pipe)>,
    /// Whether a set has no wait, not the other way.
    pub sets: bool,
    /// Whether only later iterations can wait.
    pub is_back: bool,
    flag: String,
}

impl PartialEq for Symptom {
    fn eq(&self, other: &Symptom) -> bool {
        let key = |s: &Symptom| (s.rule, s.x, s.x.map(|_| s.op));
        key(self) == key(other) && self.flag == other.flag
    }
}

/// The limit of reported flag errors of one path.
const MAX_FLAGS: usize = 1000;

pub(crate) struct Reporter<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    source: Source<'a>,
    /// By rule and pair of program points, or flag: how near, and what to say.
    races: FxHashMap<(OpId, OpId), (usize, Diagnostic, Option<Missing>)>,
    /// The ids of flags on all paths.
    ids: Ids,
    flags: BTreeMap<(&'static str, String), (u32, Diagnostic)>,
    /// By the same key: what a repair can go by.
    symptoms: BTreeMap<(&'static str, String), Symptom>,
    /// The operations that do something on a pipe.
    work: FxHashSet<(OpId, Core, Pipe)>,
    /// The sets and waits of each pair of pipes.
    ends: FxHashSet<(OpId, Core, Pipe, Pipe, bool)>,
    places: OnceCell<Places>,
    others: FxHashSet<(OpId, &'static str)>,
    pub(crate) found: Vec<Diagnostic>,
}

impl<'a> Reporter<'a> {
    pub fn new(module: &'a Module, func: &'a Func, profile: Profile, source: impl Into<Source<'a>>) -> Self {
        Reporter {
            module,
            func,
            profile,
            source: source.into(),
            races: FxHashMap::default(),
            ids: Ids::default(),
            flags: BTreeMap::new(),
            symptoms: BTreeMap::new(),
            work: FxHashSet::default(),
            ends: FxHashSet::default(),
            places: OnceCell::new(),
            others: FxHashSet::default(),
            found: Vec::new(),
        }
    }

    /// Everything, races from the nearest on.
    pub fn done(mut self) -> Vec<Diagnostic> {
        self.findings().into_iter().map(|(diagnostic, _)| diagnostic).collect()
    }

    /// The same, with what a repair can go by.
    pub fn findings(&mut self) -> Vec<Found> {
        let (mut found, races) = (std::mem::take(&mut self.found), std::mem::take(&mut self.races));
        let mended = |d, missing: Option<&Missing>| match missing {
            Some(missing) => self.mend(d, missing, self.places()),
            None => d,
        };
        let symptom = |(x, y): (OpId, OpId), rule, missing: Option<&Missing>| Symptom {
            rule,
            op: y,
            x: Some(x),
            core: missing.map_or(Core::Unsplit, |m| m.core),
            pipes: missing.map(|m| (m.x.0, m.y.0)),
            sets: false,
            is_back: missing.is_some_and(|m| m.is_back),
            flag: String::new(),
        };
        let mut races: Vec<(usize, Diagnostic, Symptom)> = races
            .into_iter()
            .map(|(pair, (distance, d, missing))| {
                let symptom = symptom(pair, d.rule, missing.as_ref());
                (distance, mended(d, missing.as_ref()), symptom)
            })
            .collect();
        let at = |d: &Diagnostic| d.span.map_or(0, |s| s.start);
        let flags = std::mem::take(&mut self.flags).into_iter();
        let mut flags: Vec<Found> = flags.map(|(key, (_, d))| (d, self.symptoms.get(&key).cloned())).collect();
        flags.sort_by_key(|(d, _)| at(d));
        races.sort_by_key(|(distance, d, _)| (*distance, at(d), d.secondary.first().map(|l| l.span.start)));
        found.sort_by_key(at);
        let found = found.into_iter().map(|d| (d, None)).chain(flags);
        found.chain(races.into_iter().map(|(_, d, symptom)| (d, Some(symptom)))).collect()
    }

    fn places(&self) -> &Places {
        self.places.get_or_init(|| Places::new(self.func))
    }

    fn span(&self, op: OpId) -> Span {
        self.func.op(op).span
    }

    fn name(&self, op: OpId) -> &str {
        match self.source {
            Source::Calls(calls) => calls.call(op).map_or("a call", |call| &call.name),
            Source::Text(_) => self.func.op(op).name(),
        }
    }

    /// `17:5`, or `gemm.cpp:17` of a call.
    pub(crate) fn place(&self, op: OpId) -> String {
        match self.source {
            Source::Calls(calls) => calls.call(op).map_or_else(String::new, |call| call.place()),
            Source::Text(text) => source::place(text, self.span(op)),
        }
    }

    /// A finding of a rule that cpu only warns of.
    fn finding(&self, rule: &'static str, always: bool, what: String) -> Diagnostic {
        let warns = !always && !self.profile.is_npu();
        let severity = if warns { Severity::Warning } else { Severity::Error };
        Diagnostic::new(rule, severity, what)
    }

    /// Reports flag errors; returns whether they are so severe that races mean nothing.
    pub fn flags(&mut self, trace: &Trace, order: &HappensBefore, process: usize, is_stuck_between: bool) -> bool {
        let misused = self.misused(trace);
        self.note_pipes(trace);
        let mut broken = flags::check(trace, order, process, is_stuck_between);
        // Ids that may be equal may be those of one flag.
        if let Some(unclear) = flags::unclear(trace) {
            broken.retain(|b| !matches!(b.flag, Some(Flag::Pipes(from, to, _)) if (from, to) == unclear));
        }
        self.broken_flags(trace, process, &broken) || misused
    }

    /// The same of order operations that are wrong, or useless, by themselves.
    pub fn misused(&mut self, trace: &Trace) -> bool {
        self.ids.note(trace);
        for (op, pipe) in flags::useless(trace, self.profile) {
            // A kernel in C++ is often compiled for several profiles.
            if !self.source.is_calls() && self.others.insert((op, "barrier-useless")) {
                let what = format!(
                    "{pipe} finishes its instructions in order on {}, so a barrier of it does nothing",
                    self.profile
                );
                let found = Diagnostic::warning("barrier-useless", what).at(self.span(op), "this barrier");
                self.found.push(found.help("leave it out"));
            }
        }
        for misuse in &trace.misuses {
            // Both vector cores run the same text.
            let whose = if matches!(trace.core, Core::Vector(_)) { "V" } else { "" };
            let (at, key) = (self.span(misuse.op).start, (misuse.rule, format!("{whose} {}", misuse.flag)));
            if self.flags.get(&key).is_none_or(|(before, _)| at < *before) {
                let found = self.finding(misuse.rule, misuse.always, misuse.what.clone());
                self.flags.insert(key, (at, found.at(self.span(misuse.op), "").help(misuse.help.clone())));
            }
        }
        trace.misuses.iter().any(|m| stops(m.rule) && (m.always || self.profile.is_npu()))
    }

    /// The same of flags.
    pub fn broken_flags(&mut self, trace: &Trace, process: usize, broken: &[FlagViolation]) -> bool {
        let named = |flag: String| if process == 0 { flag } else { format!("{} {flag}", trace.core.name()) };
        let mut on_this_path: FxHashSet<(&'static str, String)> = FxHashSet::default();
        for one in broken.iter().take(MAX_FLAGS) {
            let rule = one.fault.rule();
            let event = &trace.events[one.event];
            let at = self.span(event.op).start;
            let key = (rule, named(one.flag.as_ref().map_or_else(|| buffer_name(event), flag_name)));
            // Of a path the first in program order; of several paths the first in the text.
            let is_first = on_this_path.insert(key.clone());
            if is_first && self.flags.get(&key).is_none_or(|(before, _)| at < *before) {
                let found = self.broken(trace, one);
                if let Some(Flag::Pipes(from, to, _)) = one.flag {
                    let (pipes, sets) = (Some((from, to)), matches!(event.kind, Kind::Set(_)));
                    let (core, flag) = (trace.core, key.1.clone());
                    let symptom = Symptom { rule, op: event.op, x: None, core, pipes, sets, is_back: false, flag };
                    self.symptoms.insert(key.clone(), symptom);
                }
                self.flags.insert(key, (at, found));
            }
        }
        broken.iter().any(|b| stops(b.fault.rule()))
    }

    /// " of iteration 3", inside a loop.
    fn turn(&self, trace: &Trace, event: usize) -> String {
        let turn = &trace.turns[trace.events[event].turn as usize];
        match turn.as_slice() {
            [] => String::new(),
            [(_, n)] => format!(" of iteration {n}"),
            many => {
                let all: Vec<String> = many.iter().map(|(_, n)| n.to_string()).collect();
                format!(" of iteration ({})", all.join(", "))
            }
        }
    }

    fn broken(&self, trace: &Trace, FlagViolation { event, fault, flag }: &FlagViolation) -> Diagnostic {
        let op = trace.events[*event].op;
        let (name, turn) = (self.name(op), self.turn(trace, *event));
        let flag_text = flag.as_ref().map(flag_name).unwrap_or_default();
        let path = self.path(trace);
        match fault {
            Fault::NoSet => {
                let what = format!("{name} of {flag_text}{turn} waits for ever: no set is left for it{path}");
                let found = Diagnostic::error("flag-unmatched-wait", what).at(self.span(op), "this wait");
                match self.nearest_set(trace, *event, flag.as_ref()) {
                    Some((set, other)) => found
                        .and_at(self.span(set), format!("the nearest set is of {other}"))
                        .help(format!("set {flag_text} before it, or wait for {other}")),
                    None => found.help(format!("add {}", self.set_text("set", flag.as_ref()))),
                }
            }
            Fault::Cycle(around) => {
                let mut way: Vec<String> = Vec::new();
                for n in around {
                    let op = trace.events[*n].op;
                    let step = format!("{} {}", self.name(op), self.place(op));
                    if way.last() != Some(&step) {
                        way.push(step);
                    }
                }
                let what = format!(
                    "{name} of {flag_text}{turn} waits for ever: the set that it waits for comes only after it ({} → the wait)",
                    way.join(" → ")
                );
                let found = Diagnostic::error("flag-unmatched-wait", what).at(self.span(op), "this wait");
                found.help(format!(
                    "give the token before: {} before the loop or before it",
                    self.set_text("set", flag.as_ref())
                ))
            }
            Fault::Leak => {
                let what = format!("{name} of {flag_text}{turn} has no wait before the kernel ends{path}");
                let leaks = matches!(flag, Some(Flag::Cores(_)));
                let found = match leaks {
                    true => Diagnostic::warning("flag-leak", what),
                    false => self.finding("flag-leak", false, what),
                };
                found
                    .at(self.span(op), "this set")
                    .help(format!("add {} after it", self.set_text("wait", flag.as_ref())))
            }
            Fault::Overwrite(earlier) => {
                let before = trace.events[*earlier].op;
                let what = format!("{flag_text} is set again without a wait in between{turn}{path}");
                let found = self.finding("flag-overwrite", false, what).at(self.span(op), "the second set");
                found
                    .and_at(self.span(before), "the first one")
                    .help(format!("wait in between, or use another id: {}", self.free_id(trace, flag.as_ref())))
            }
            Fault::Hidden(earlier) => {
                let before = trace.events[*earlier].op;
                let what = format!(
                    "{name}{turn} uses {flag_text} inside, and the token of an earlier set is still there{path}"
                );
                let found = self.finding("flag-overwrite", false, what).at(self.span(op), "uses the flag inside");
                let help = "wait before the instruction, or use an id that it does not use";
                found.and_at(self.span(before), "this set").help(help)
            }
            Fault::TakenTwice(earlier) => {
                let before = trace.events[*earlier].op;
                let what = format!("{name}{turn} takes a token that its pipe holds already{path}");
                let found = Diagnostic::error("buf-token", what).at(self.span(op), "the second get");
                found.and_at(self.span(before), "the first one").help("give it back with rls_buf in between")
            }
            Fault::NotTaken => {
                let what = format!("{name}{turn} gives back a token that its pipe does not hold{path}");
                Diagnostic::error("buf-token", what).at(self.span(op), "").help("take it with get_buf first")
            }
        }
    }

    /// If the path is one of several: its choices.
    fn path(&self, trace: &Trace) -> String {
        let mut loops: BTreeMap<u32, u64> = BTreeMap::new();
        for (op, n) in trace.turns.iter().flatten() {
            let most = loops.entry(op.0).or_default();
            *most = (*most).max(n + 1);
        }
        let all: Vec<String> =
            loops.iter().map(|(op, n)| format!("the loop at {} runs {}", self.place(OpId(*op)), times(*n))).collect();
        if all.is_empty() { String::new() } else { format!(", where {}", all.join(" and ")) }
    }

    fn nearest_set(&self, trace: &Trace, wait: usize, flag: Option<&Flag>) -> Option<(OpId, String)> {
        let is_other = |event: &Event| match event.kind {
            Kind::Set(n) => {
                Some(&trace.flags[n as usize]).filter(|f| Some(*f) != flag).map(|f| (event.op, flag_name(f)))
            }
            _ => None,
        };
        let before = trace.events[..wait].iter().rev().find_map(is_other);
        before.or_else(|| trace.events[wait..].iter().find_map(is_other))
    }

    /// `pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]`.
    fn set_text(&self, what: &str, flag: Option<&Flag>) -> String {
        match flag {
            Some(Flag::Pipes(from, to, id)) => match id.known() {
                Some(id) => self.source.flag(what, *from, *to, id),
                None => format!("pto.{what}_flag_dyn[<{}>, <{}>, …]", from.cpp(), to.cpp()),
            },
            Some(Flag::Cores(id)) => format!("pto.sync.{what} of id {}", id.constant),
            Some(Flag::Inner(from, to)) => format!("a {what} of {from} → {to}"),
            None => format!("a {what}"),
        }
    }

    fn free_id(&self, trace: &Trace, flag: Option<&Flag>) -> String {
        let Some(Flag::Pipes(from, to, _)) = flag else { return "a free one".into() };
        self.ids.free(trace.core, *from, *to).map_or("all eight are in use".into(), |id| id.to_string())
    }
}

/// After a finding of this rule races mean nothing (sync.md 9).
fn stops(rule: &str) -> bool {
    matches!(rule, "flag-unmatched-wait" | "flag-pipe" | "flag-id-range")
}

/// A buffer's token on its pipe.
fn buffer_name(event: &Event) -> String {
    format!("{:?} of buffer {:?}", event.pipe, event.kind.buffer())
}

/// `V → MTE2 0`.
fn flag_name(flag: &Flag) -> String {
    match flag {
        Flag::Pipes(from, to, id) => match id.known() {
            Some(id) => format!("{from} → {to} {id}"),
            None => format!("{from} → {to} with a computed id"),
        },
        Flag::Cores(id) => format!("the cores' flag {}", id.constant),
        Flag::Inner(from, to) => format!("{from} → {to} inside an instruction"),
    }
}

/// A number of iterations in words.
fn times(n: u64) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}
