//! What was found, in sentences: one per pair of program points, or per flag (sync.md 4 and 9).

use crate::flags::{self, Broken, Fault};
use crate::order::Order;
use crate::races::{Conflict, Race};
use crate::trace::{Access, Bytes, Flag, Kind, Root, Sets, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use tessera_ir::{Func, Module, OpId};
use tessera_isa::diag::{Diagnostic, Fact, Severity, Span};
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::profile::Profile;

/// Ids of flags.
const IDS: i64 = 8;

pub(crate) struct Reporter<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    text: &'a str,
    /// By rule and pair of program points, or flag: how near, and what to say.
    races: FxHashMap<(OpId, OpId), (usize, Diagnostic)>,
    flags: BTreeMap<(&'static str, String), (u32, Diagnostic)>,
    others: FxHashSet<(OpId, &'static str)>,
    found: Vec<Diagnostic>,
}

impl<'a> Reporter<'a> {
    pub fn new(module: &'a Module, func: &'a Func, profile: Profile, text: &'a str) -> Self {
        Reporter {
            module,
            func,
            profile,
            text,
            races: FxHashMap::default(),
            flags: BTreeMap::new(),
            others: FxHashSet::default(),
            found: Vec::new(),
        }
    }

    /// Everything, races from the nearest on.
    pub fn done(self) -> Vec<Diagnostic> {
        let mut found = self.found;
        let at = |d: &Diagnostic| d.span.map_or(0, |s| s.start);
        let mut flags: Vec<Diagnostic> = self.flags.into_values().map(|(_, d)| d).collect();
        flags.sort_by_key(at);
        let mut races: Vec<(usize, Diagnostic)> = self.races.into_values().collect();
        races.sort_by_key(|(distance, d)| (*distance, at(d), d.secondary.first().map(|l| l.span.start)));
        found.sort_by_key(at);
        found.extend(flags);
        found.extend(races.into_iter().map(|(_, d)| d));
        found
    }

    fn span(&self, op: OpId) -> Span {
        self.func.op(op).span
    }

    fn name(&self, op: OpId) -> &'static str {
        self.func.op(op).kind.name()
    }

    /// `17:5`.
    fn place(&self, op: OpId) -> String {
        let start = (self.span(op).start as usize).min(self.text.len());
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        format!("{line}:{column}")
    }

    /// A finding of a rule that cpu only warns of.
    fn finding(&self, rule: &'static str, always: bool, what: String) -> Diagnostic {
        let warns = !always && !self.profile.is_npu();
        let severity = if warns { Severity::Warning } else { Severity::Error };
        Diagnostic::new(rule, severity, what)
    }

    /// Reports what is wrong with flags; is it so wrong that races mean nothing?
    pub fn flags(&mut self, trace: &Trace, order: &Order) -> bool {
        for (op, pipe) in flags::useless(trace, self.profile) {
            if self.others.insert((op, "barrier-useless")) {
                let what = format!(
                    "{pipe} finishes its instructions in order on {}, so a barrier of it does nothing",
                    self.profile
                );
                let found = Diagnostic::warning("barrier-useless", what).at(self.span(op), "this barrier");
                self.found.push(found.help("leave it out"));
            }
        }
        for misuse in &trace.misuses {
            if self.others.insert((misuse.op, misuse.rule)) {
                let found = self.finding(misuse.rule, misuse.always, misuse.what.clone());
                self.found.push(found.at(self.span(misuse.op), "").help(misuse.help.clone()));
            }
        }
        let broken = flags::check(trace, order, 0);
        for one in &broken {
            let rule = one.fault.rule();
            let event = &trace.events[one.event];
            let flag = one.flag.as_ref().map_or_else(|| format!("{:?}", event.op), |flag| flag_name(flag));
            let at = self.span(event.op).start;
            let key = (rule, flag);
            if self.flags.get(&key).is_none_or(|(before, _)| at < *before) {
                let found = self.broken(trace, one);
                self.flags.insert(key, (at, found));
            }
        }
        let stops = |rule: &str| matches!(rule, "flag-unmatched-wait" | "flag-pipe" | "flag-id-range");
        broken.iter().any(|b| stops(b.fault.rule()))
            || trace.misuses.iter().any(|m| stops(m.rule) && (m.always || self.profile.is_npu()))
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

    fn broken(&self, trace: &Trace, Broken { event, fault, flag }: &Broken) -> Diagnostic {
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
                let what = format!("{name} of {flag_text}{turn} is taken by no wait before the kernel ends{path}");
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
                let what = format!("{name} sets {flag_text}{turn} again before the wait for the set before it{path}");
                let found = self.finding("flag-overwrite", false, what).at(self.span(op), "the second set");
                found
                    .and_at(self.span(before), "the first one")
                    .help(format!("wait in between, or use another id: {}", self.free_id(trace, flag.as_ref())))
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

    /// Where the path is one of several: how it goes.
    fn path(&self, trace: &Trace) -> String {
        let mut loops: BTreeMap<u32, u64> = BTreeMap::new();
        for (op, n) in trace.turns.iter().flatten() {
            let most = loops.entry(op.0).or_default();
            *most = (*most).max(n + 1);
        }
        let all: Vec<String> =
            loops.iter().map(|(op, n)| format!("the loop at {} runs {n} times", self.place(OpId(*op)))).collect();
        if all.is_empty() { String::new() } else { format!(", where {}", all.join(" and ")) }
    }

    fn nearest_set(&self, trace: &Trace, wait: usize, flag: Option<&Flag>) -> Option<(OpId, String)> {
        let is_other = |event: &crate::trace::Event| match event.kind {
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
                Some(id) => flag_text(what, *from, *to, id),
                None => format!("pto.{what}_flag_dyn[<{}>, <{}>, …]", from.cpp(), to.cpp()),
            },
            Some(Flag::Cores(id)) => format!("pto.sync.{what} of id {}", id.constant),
            None => format!("a {what}"),
        }
    }

    fn free_id(&self, trace: &Trace, flag: Option<&Flag>) -> String {
        let Some(Flag::Pipes(from, to, _)) = flag else { return "a free one".into() };
        free_id(trace, *from, *to).map_or("all eight are in use".into(), |id| id.to_string())
    }

    pub fn race(&mut self, trace: &Trace, sets: &Sets, race: &Race) {
        let (x, y) = (race.x.0, race.y.0);
        let key = (trace.events[x].op, trace.events[y].op);
        if !self.races.contains_key(&key) {
            let found = self.sentence(trace, sets, race);
            self.races.insert(key, (y - x, found));
        }
    }

    fn sentence(&self, trace: &Trace, sets: &Sets, race: &Race) -> Diagnostic {
        let [(x, a), (y, b)] = [race.x, race.y];
        let events = [&trace.events[x], &trace.events[y]];
        let ops = events.map(|e| e.op);
        let names = ops.map(|op| self.name(op));
        let turns = events.map(|e| &trace.turns[e.turn as usize]);
        let whose = match (turns[0].as_slice(), turns[1].as_slice()) {
            (a, b) if a == b => String::new(),
            ([.., (l, i)], [.., (m, j)]) if l == m && i + 1 == *j => " of the iteration before".into(),
            _ => self.turn(trace, x),
        };
        let (does, still) = match race.conflict {
            Conflict::Raw => ("reads", "write"),
            Conflict::War => ("writes", "read"),
            Conflict::Waw => ("writes", "write"),
        };
        let what_y = self.operand(ops[1], b.role);
        let what = format!("{} {does} {what_y} while {}{whose} may still {still} it", names[1], names[0]);
        let (pipe_x, pipe_y) = (events[0].pipe.unwrap_or(Pipe::S), events[1].pipe.unwrap_or(Pipe::S));
        let bytes = shared(sets.get(a.set), sets.get(b.set));
        let line = |n: usize, pipe: Pipe, access: &Access| {
            let verb = if access.writes { "writes" } else { "reads" };
            let (operand, memory) = (self.operand(ops[n], access.role), self.memory(sets.get(access.set).root));
            let turn = match turns[n].as_slice() {
                [] => String::new(),
                all => {
                    let all: Vec<String> = all.iter().map(|(_, n)| n.to_string()).collect();
                    format!(" (iteration {})", all.join(", "))
                }
            };
            format!("{pipe} {verb} {operand}, {memory} {}{turn}", range(bytes))
        };
        let side = |n: usize, pipe: Pipe, access: &Access| {
            let turns = turns[n].iter().map(|(_, i)| Fact::Number(*i as i64)).collect();
            Fact::Parts(vec![
                ("at", Fact::Place(self.span(ops[n]))),
                ("instruction", Fact::Text(names[n].into())),
                ("pipe", Fact::Text(pipe.name().into())),
                ("access", Fact::Text(if access.writes { "writes" } else { "reads" }.into())),
                ("operand", Fact::Text(self.operand(ops[n], access.role))),
                ("iterations", Fact::List(turns)),
            ])
        };
        let found = Diagnostic::error(race.conflict.rule(), what)
            .at(self.span(ops[1]), line(1, pipe_y, &b))
            .and_at(self.span(ops[0]), line(0, pipe_x, &a))
            .fact("x", side(0, pipe_x, &a))
            .fact("y", side(1, pipe_y, &b))
            .fact("memory", Fact::Text(self.memory(sets.get(b.set).root)))
            .fact("bytes", Fact::List(vec![Fact::Number(bytes.0), Fact::Number(bytes.1)]));
        let round = match (turns[0].as_slice(), turns[1].as_slice()) {
            ([.., (l, i)], [.., (m, j)]) => l == m && i != j,
            _ => false,
        };
        self.mend(trace, found, (pipe_x, ops[0]), (pipe_y, ops[1]), round)
    }

    /// Says which edge is missing, and the lines that would be it.
    fn mend(&self, trace: &Trace, found: Diagnostic, x: (Pipe, OpId), y: (Pipe, OpId), round: bool) -> Diagnostic {
        let found = found.note(format!("missing: {} -> {}", x.0, y.0));
        let missing = [x.0, y.0].map(|pipe| Fact::Text(pipe.name().into()));
        let found = found.fact("missing", Fact::List(missing.into()));
        let line = |text: &str, side: &'static str, op: OpId| {
            Fact::Parts(vec![("text", Fact::Text(text.into())), (side, Fact::Place(self.span(op)))])
        };
        if x.0 == y.0 {
            let barrier = format!("pto.barrier <{}>", y.0.cpp());
            let found = found.fact("add", Fact::List(vec![line(&barrier, "before", y.1)]));
            return found.help(format!("add {barrier} before {}", self.place(y.1)));
        }
        let Some(id) = free_id(trace, x.0, y.0) else {
            return found.help(format!("all ids are in use: add pto.barrier <PIPE_ALL> before {}", self.place(y.1)));
        };
        let (set, wait) = (flag_text("set", x.0, y.0, id), flag_text("wait", x.0, y.0, id));
        let found = found.fact("add", Fact::List(vec![line(&set, "after", x.1), line(&wait, "before", y.1)]));
        let pair = format!("add {set} after {} and {wait} before {}", self.place(x.1), self.place(y.1));
        found.help(match round {
            true => format!(
                "{pair}, and, because the edge goes round the loop, one set_flag before the loop and one wait_flag after it"
            ),
            false => pair,
        })
    }

    /// `%a`.
    fn operand(&self, op: OpId, role: Role) -> String {
        let op = self.func.op(op);
        let made = || op.dsts().into_iter().find(|(r, _)| *r == role).map(|(_, v)| v);
        let value = op.operand(role).and_then(|o| o.arg.value()).or_else(made);
        let named = value.or_else(|| op.values().next()).map(|v| self.module.names.text(self.func.value(v).name));
        named.map_or_else(|| role.name().to_string(), |name| format!("%{name}"))
    }

    fn memory(&self, root: Root) -> String {
        match root {
            Root::Chip(loc, 0) => loc.memory_name().to_string(),
            Root::Chip(loc, core) => format!("{} of core {core}", loc.memory_name()),
            Root::Buffer(value) => format!("global memory of %{}", self.module.names.text(self.func.value(value).name)),
            Root::Anywhere => "global memory".into(),
            Root::Tile(value) => format!("the storage of %{}", self.module.names.text(self.func.value(value).name)),
        }
    }
}

/// `V → MTE2 0`.
fn flag_name(flag: &Flag) -> String {
    match flag {
        Flag::Pipes(from, to, id) => match id.known() {
            Some(id) => format!("{from} → {to} {id}"),
            None => format!("{from} → {to} with a computed id"),
        },
        Flag::Cores(id) => format!("the cores' flag {}", id.constant),
    }
}

fn flag_text(what: &str, from: Pipe, to: Pipe, id: i64) -> String {
    format!("pto.{what}_flag[<{}>, <{}>, <EVENT_ID{id}>]", from.cpp(), to.cpp())
}

/// The smallest id that no flag of these pipes uses.
fn free_id(trace: &Trace, from: Pipe, to: Pipe) -> Option<i64> {
    let used = |id: i64| {
        let is = |f: &Flag| matches!(f, Flag::Pipes(a, b, n) if (*a, *b) == (from, to) && n.known() == Some(id));
        trace.flags.iter().any(is)
    };
    (0..IDS).find(|id| !used(*id))
}

/// From the first to the last byte that two sets share.
fn shared(a: &Bytes, b: &Bytes) -> (i64, i64) {
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.ranges.get(i), b.ranges.get(j)) {
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        if from < to {
            (first, last) = (first.min(from), last.max(to));
        }
        if x.1 <= y.1 { i += 1 } else { j += 1 }
    }
    if first < last { (first, last) } else { a.span() }
}

fn range((from, to): (i64, i64)) -> String {
    let hex = |n: i64| if n < 0 { format!("-{:#06x}", n.unsigned_abs()) } else { format!("{n:#06x}") };
    format!("{}..{}", hex(from), hex(to))
}
