//! The lines that would order two instructions that race (sync.md 4), placed as `plan --sync` places flags (sync.md 7).

use super::{IDS, Reporter, Source, Symptom};
use crate::causes::{Added, Extra};
use crate::explore::Core;
use crate::trace::{Flag, Kind, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::{BlockId, Def, OpId, OpKind, ValueId};
use tessera_isa::diag::{Diagnostic, Fact, Span};
use tessera_isa::ops::Pipe;

/// An edge that nothing makes: what runs on which pipe should be done before what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub core: Core,
    pub x: (Pipe, OpId),
    pub y: (Pipe, OpId),
    /// Whether the first waits for the second of its own iteration, so that only later iterations can wait for it.
    pub is_back: bool,
}

/// Whether an event waits by a flag for another operation of its iteration that comes later in program order.
pub(super) fn waits_back(trace: &Trace, x: usize, y: usize) -> bool {
    let (first, second) = (&trace.events[x], &trace.events[y]);
    if first.turn == second.turn {
        return false;
    }
    let same = (x..y).find(|n| trace.events[*n].op == second.op && trace.events[*n].turn == first.turn);
    let Some((same, (from, to))) = same.zip(second.pipe.zip(first.pipe)) else { return false };
    let mut tokens: FxHashMap<u32, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
    let is_back = |flag: &Flag| matches!(flag, Flag::Pipes(a, b, _) if (*a, *b) == (from, to));
    for (n, event) in trace.events.iter().enumerate() {
        match event.kind {
            Kind::Set(flag) if is_back(&trace.flags[flag as usize]) => tokens.entry(flag).or_default().0.push(n),
            Kind::Wait(flag) if is_back(&trace.flags[flag as usize]) => tokens.entry(flag).or_default().1.push(n),
            _ => {}
        }
    }
    tokens.values().any(|(sets, waits)| sets.iter().zip(waits).any(|(set, wait)| *wait < x && *set > same))
}

/// The ids of flags that a program uses on any path.
#[derive(Debug, Default)]
pub(super) struct Ids {
    known: FxHashSet<(Core, Pipe, Pipe, i64)>,
    /// Pipes between which some ids are not known.
    unknown: FxHashSet<(Core, Pipe, Pipe)>,
}

impl Ids {
    /// Notes those of a path.
    pub fn note(&mut self, trace: &Trace) {
        for flag in &trace.flags {
            match flag {
                Flag::Pipes(from, to, id) => match id.known() {
                    Some(id) => drop(self.known.insert((trace.core, *from, *to, id))),
                    None => drop(self.unknown.insert((trace.core, *from, *to))),
                },
                Flag::Cores(_) | Flag::Inner(..) => {}
            }
        }
        for (from, to, id) in trace.hidden.values().copied().flatten() {
            self.known.insert((trace.core, *from, *to, i64::from(*id)));
        }
    }

    /// The smallest that no flag of these pipes uses.
    pub fn free(&self, core: Core, from: Pipe, to: Pipe) -> Option<i64> {
        let is_open = self.unknown.contains(&(core, from, to));
        (0..IDS).find(|id| !is_open && !self.known.contains(&(core, from, to, *id)))
    }
}

/// Positions of operations: by operation, its block and its index there; by block, the operation that owns it.
pub(super) struct Places {
    of: FxHashMap<OpId, (BlockId, usize)>,
    around: FxHashMap<BlockId, OpId>,
}

/// The insertion points of a set and a wait: after and before these; around a loop also before and after it.
struct Spots {
    set: OpId,
    wait: OpId,
    round: Option<OpId>,
}

impl Places {
    pub fn new(func: &tessera_ir::Func) -> Places {
        let mut places = Places { of: FxHashMap::default(), around: FxHashMap::default() };
        let mut blocks = vec![func.body];
        while let Some(block) = blocks.pop() {
            for (n, id) in func.block(block).ops.iter().enumerate() {
                places.of.insert(*id, (block, n));
                for inner in &func.op(*id).blocks {
                    places.around.insert(*inner, *id);
                    blocks.push(*inner);
                }
            }
        }
        places
    }

    /// The operation and everything around it, from the inside out.
    fn outwards(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(Some(op), |op| self.around.get(&self.of.get(op)?.0).copied())
    }

    /// In the innermost block that holds both: what holds the one, and what holds the other.
    fn apart(&self, x: OpId, y: OpId) -> Option<(OpId, OpId)> {
        let block = |op: &OpId| self.of.get(op).map(|place| place.0);
        let around_x: FxHashMap<Option<BlockId>, OpId> = self.outwards(x).map(|op| (block(&op), op)).collect();
        self.outwards(y).find_map(|op| Some((*around_x.get(&block(&op))?, op)))
    }
}

impl Reporter<'_> {
    /// Every path executes the set and the wait equally often: they stand in one block (sync.md 7).
    fn spots(&self, places: &Places, missing: &Missing) -> Option<Spots> {
        let (x, y) = (missing.x.1, missing.y.1);
        let (set, wait) = places.apart(x, y)?;
        let home = self.func.home(x);
        let is_here = |op: OpId| self.func.home(op) == home;
        if !is_here(y) || !is_here(set) || !is_here(wait) {
            return None;
        }
        if places.of.get(&set)?.1 < places.of.get(&wait)?.1 && !missing.is_back {
            return Some(Spots { set, wait, round: None });
        }
        // Both parts of scf.while are run in turn.
        let is_while = |op: OpId| matches!(self.func.op(op).kind, OpKind::While);
        let is_loop = |op: &OpId| matches!(self.func.op(*op).kind, OpKind::For) || is_while(*op);
        if set == wait && is_while(set) {
            return None;
        }
        let round = places.outwards(set).skip(1).find(is_loop).filter(|op| is_here(*op))?;
        // One id is enough where the wait stands before the set.
        let set = if missing.is_back { wait } else { set };
        Some(Spots { set, wait, round: Some(round) })
    }

    /// The end of an operation: a loop or branch ends at its last brace, as its own span covers only its first line.
    fn end(&self, op: OpId) -> Span {
        let span = self.span(op);
        let text = self.source.text().get(span.start as usize..).filter(|_| !self.func.op(op).blocks.is_empty());
        let brace = text.and_then(last_brace).map(|at| span.start + at as u32);
        brace.map_or(span, |at| Span::new(at, at + 1))
    }

    /// `17:5`, `the loop at 12:3`.
    fn construct(&self, op: OpId) -> String {
        let what = match self.func.op(op).kind {
            _ if self.func.op(op).is_vecscope() => "the vecscope at ",
            OpKind::For | OpKind::While => "the loop at ",
            OpKind::If => "the branch at ",
            _ => "",
        };
        format!("{what}{}", self.place(op))
    }

    /// Notes what runs on which pipe, and the ends of flags.
    pub(super) fn note_pipes(&mut self, trace: &Trace) {
        for event in &trace.events {
            let flag = |n: u32| match &trace.flags[n as usize] {
                Flag::Pipes(from, to, _) => Some((*from, *to)),
                Flag::Cores(_) | Flag::Inner(..) => None,
            };
            let end = match event.kind {
                Kind::Set(n) => flag(n).map(|ends| (ends, true)),
                Kind::Wait(n) => flag(n).map(|ends| (ends, false)),
                _ => None,
            };
            match (end, event.pipe) {
                (Some(((from, to), sets)), _) => _ = self.ends.insert((event.op, trace.core, from, to, sets)),
                (None, Some(pipe)) => _ = self.work.insert((event.op, trace.core, pipe)),
                _ => {}
            }
        }
    }

    /// The instructions on a pipe of a core.
    pub(crate) fn on_pipe(&self, core: Core, pipe: Pipe) -> Vec<OpId> {
        self.work.iter().filter(|(_, c, p)| (*c, *p) == (core, pipe)).map(|(op, ..)| *op).collect()
    }

    /// The operation of a flag that lacks its other end, and others of the same kind between the same pipes.
    pub(crate) fn like(&self, symptom: &Symptom) -> impl Iterator<Item = OpId> + use<> {
        let same = self.ends.iter().filter(|(op, core, from, to, sets)| {
            *op != symptom.op && *core == symptom.core && symptom.pipes == Some((*from, *to)) && *sets == symptom.sets
        });
        let mut same: Vec<OpId> = same.map(|(op, ..)| *op).collect();
        same.sort_unstable();
        std::iter::once(symptom.op).chain(same)
    }

    /// What holds an operation in the innermost block that holds another one, too; none where that is itself.
    pub(crate) fn beside(&self, op: OpId, other: OpId) -> Option<OpId> {
        self.places().apart(op, other).map(|(holds, _)| holds).filter(|holds| *holds != op && *holds != other)
    }

    /// The loops around an operation, from the inside out.
    pub(crate) fn loops_around(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        self.places().outwards(op).skip(1).filter(|op| self.func.op(*op).kind.is_loop())
    }

    /// Whether a value is defined wherever this operation is reached.
    pub(crate) fn dominates(&self, value: ValueId, at: OpId) -> bool {
        let places = self.places();
        match self.func.value(value).def {
            Def::Result(op, _) => match places.of.get(&op) {
                Some((block, n)) => {
                    places.outwards(at).any(|op| places.of.get(&op).is_some_and(|(other, m)| other == block && n < m))
                }
                None => false,
            },
            Def::BlockArg(block, _) => {
                places.outwards(at).any(|op| places.of.get(&op).is_some_and(|(other, _)| *other == block))
            }
            _ => true,
        }
    }

    /// The pair of a set and a wait that would order two instructions.
    pub(crate) fn pair(&self, symptom: &Symptom) -> Option<SmallVec<[Extra; 4]>> {
        let ((from, to), x, core) = (symptom.pipes?, symptom.x?, symptom.core);
        let missing = Missing { core, x: (from, x), y: (to, symptom.op), is_back: symptom.is_back };
        let id = self.ids.free(core, from, to)?;
        let spots = self.spots(self.places(), &missing)?;
        let one =
            |at: OpId, after: bool, sets: bool| Extra { at, after, core, adds: Added::Flag { from, to, id, sets } };
        let mut pair: SmallVec<[Extra; 4]> = SmallVec::new();
        pair.extend([one(spots.set, true, true), one(spots.wait, false, false)]);
        pair.extend(spots.round.into_iter().flat_map(|op| [one(op, false, true), one(op, true, false)]));
        Some(pair)
    }

    /// A repair as a sentence, and as lines to add.
    pub(crate) fn repair(&self, repair: &[Extra]) -> (String, Vec<Fact>) {
        let mut lines = Vec::new();
        let mut sentences = Vec::new();
        for extra in repair {
            let text = match extra.adds {
                Added::Barrier(pipe) => self.source.barrier(pipe.map_or("PIPE_ALL", Pipe::cpp)),
                Added::Flag { from, to, id, sets } => self.source.flag(if sets { "set" } else { "wait" }, from, to, id),
                Added::Counterpart(of) => self.counterpart(of),
            };
            let at = if extra.after { self.end(extra.at) } else { self.span(extra.at) };
            let side = if extra.after { "after" } else { "before" };
            sentences.push(format!("{text} {side} {}", self.construct(extra.at)));
            lines.push(Fact::Parts(vec![("text", Fact::Text(text)), (side, Fact::Place(at))]));
        }
        (format!("add {}", sentences.join(" and ")), lines)
    }

    /// The text of the other end of a flag.
    fn counterpart(&self, of: OpId) -> String {
        let span = self.span(of);
        let text = self.source.text().get(span.start as usize..span.end as usize).unwrap_or_default().trim();
        let ends = [("set_flag", "wait_flag"), ("record_event", "wait_event")];
        for (set, wait) in ends {
            if text.contains(wait) {
                return text.replace(wait, set);
            }
            if text.contains(set) {
                return text.replace(set, wait);
            }
        }
        format!("the other end of {}", self.name(of))
    }

    /// Describes the missing edge, and the lines that would add it.
    pub(super) fn mend(&self, found: Diagnostic, missing: &Missing, places: &Places) -> Diagnostic {
        let Missing { core, x, y, .. } = *missing;
        let found = found.note(format!("missing: {} -> {}", x.0, y.0));
        let ends = [x.0, y.0].map(|pipe| Fact::Text(pipe.name().into()));
        let found = found.fact("missing", Fact::List(ends.into()));
        let line = |text: &str, side: &'static str, op: OpId| {
            let at = if side == "after" { self.end(op) } else { self.span(op) };
            Fact::Parts(vec![("text", Fact::Text(text.into())), (side, Fact::Place(at))])
        };
        let barrier = |found: Diagnostic, pipe: &str, why: &str| {
            let text = self.source.barrier(pipe);
            let found = found.fact("add", Fact::List(vec![line(&text, "before", y.1)]));
            found.help(format!("{why}add {text} before {}", self.place(y.1)))
        };
        if x.0 == y.0 {
            return barrier(found, y.0.cpp(), "");
        }
        let Some(id) = self.ids.free(core, x.0, y.0) else {
            return barrier(found, "PIPE_ALL", "all ids are in use: ");
        };
        let (set, wait) = (self.source.flag("set", x.0, y.0, id), self.source.flag("wait", x.0, y.0, id));
        if let Source::Calls(_) = self.source {
            let lines = vec![line(&set, "after", x.1), line(&wait, "before", y.1)];
            let pair = format!("add {set} after {} and {wait} before {}", self.place(x.1), self.place(y.1));
            // Calls are numbered in the order in which they are reached first.
            let round = match x.1 >= y.1 {
                true => {
                    ", and, because the edge goes round a loop, one set_flag before the loop and one wait_flag after it"
                }
                false => "",
            };
            return found.fact("add", Fact::List(lines)).help(format!("{pair}{round}"));
        }
        let Some(spots) = self.spots(places, missing) else {
            return barrier(found, "PIPE_ALL", "");
        };
        let mut lines = vec![line(&set, "after", spots.set), line(&wait, "before", spots.wait)];
        lines.extend(spots.round.into_iter().flat_map(|op| [line(&set, "before", op), line(&wait, "after", op)]));
        let found = found.fact("add", Fact::List(lines));
        let (after, before) = (self.construct(spots.set), self.construct(spots.wait));
        let pair = format!("add {set} after {after} and {wait} before {before}");
        found.help(match spots.round {
            Some(_) => format!(
                "{pair}, and, because the edge goes round the loop, one set_flag before the loop and one wait_flag after it"
            ),
            None => pair,
        })
    }
}

/// The brace that ends the construct that a text begins with.
fn last_brace(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut comment) = (0u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => comment = false,
            _ if comment => {}
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'/' if text[at..].starts_with("//") => comment = true,
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                let next = text[at + 1..].trim_start();
                if depth == 0 && !next.starts_with("else") && !next.starts_with("do") {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
