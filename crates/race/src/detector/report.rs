//! Findings of a run, worded like those of the static checker: each finding becomes a small trace per process.

use super::calls::EVENTS;
use super::event::{EventAction, Iterations, Point};
use super::pipe_clocks::{FlagState, Pipes};
use super::shadow_memory::{Race, Side, Space};
use super::source_map::{self, KernelText};
use super::{Detector, traced};
use crate::channels::Channels;
use crate::flags::{self, Fault, FlagViolation};
use crate::happens_before::HappensBefore;
use crate::report::Reporter;
use crate::sync_op::{SyncOp, SyncOpSite};
use crate::trace::{Access, Event, Flag, Kind, Line, Misuse, Place, Root, SetId, Sets, Trace};
use crate::{Report, Undecided, Verdict, races};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::{Func, Module, OpId, OpKind};
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_isa::ops::{Pipe, Role};

/// Notes made during the run.
#[derive(Debug, Default)]
pub struct RunFindings {
    processes: Vec<ProcessFindings>,
}

#[derive(Debug, Default)]
struct ProcessFindings {
    /// The greatest trip count of each loop.
    loops: FxHashMap<OpId, u64>,
    /// The first wrong id of each operation.
    ids: Vec<(OpId, Iterations, i64)>,
    /// Operations that name pipes they cannot, with the id that each has at first.
    pipes: Vec<(OpId, Iterations, Option<i64>)>,
    seen: FxHashSet<OpId>,
    barriers: Vec<(OpId, Pipe)>,
    /// Buffers that were taken, and by whom.
    taken: FxHashMap<(u32, Pipe), Point>,
    buffers: Vec<(Point, Option<Point>)>,
    /// The first two flags that were set, and the last two, each with its latest set.
    first: SmallVec<[(u32, Point); 2]>,
    last: [Option<(u32, Point)>; 2],
    /// By flag: the nearest set of another one before its first wait without a set.
    nearest: FxHashMap<u32, Point>,
}

impl RunFindings {
    pub fn new(processes: usize) -> RunFindings {
        RunFindings { processes: (0..processes).map(|_| ProcessFindings::default()).collect() }
    }

    pub fn wrong_id(&mut self, process: usize, op: OpId, turns: &[(OpId, u64)], id: i64) {
        let Some(told) = self.processes.get_mut(process) else { return };
        if told.seen.insert(op) {
            told.ids.push((op, Iterations::new(turns), id));
        }
    }

    pub fn wrong_pipe(&mut self, process: usize, op: OpId, turns: &[(OpId, u64)], id: Option<i64>) {
        let Some(told) = self.processes.get_mut(process) else { return };
        if told.seen.insert(op) {
            told.pipes.push((op, Iterations::new(turns), id));
        }
    }

    pub fn barrier(&mut self, process: usize, op: OpId, pipe: Option<Pipe>) {
        let (Some(told), Some(pipe)) = (self.processes.get_mut(process), pipe) else { return };
        if told.seen.insert(op) {
            told.barriers.push((op, pipe));
        }
    }

    pub fn buffer(&mut self, process: usize, key: (u32, Pipe), takes: bool, point: &Point) {
        let Some(told) = self.processes.get_mut(process) else { return };
        let before = if takes { told.taken.insert(key, *point) } else { told.taken.remove(&key) };
        if takes == before.is_some() && told.seen.insert(point.op) {
            told.buffers.push((*point, before.filter(|_| takes)));
        }
    }

    /// A set or a wait of a flag, in program order.
    #[inline]
    pub fn flag(&mut self, process: usize, flag: u32, sets: bool, point: &Point) {
        let Some(told) = self.processes.get_mut(process) else { return };
        if sets {
            if told.first.len() < 2 && told.first.iter().all(|(f, _)| *f != flag) {
                told.first.push((flag, *point));
            }
            match told.last {
                [Some((latest, _)), _] if latest == flag => told.last[0] = Some((flag, *point)),
                [before, _] => told.last = [Some((flag, *point)), before],
            }
        }
    }

    /// A wait comes before its set.
    #[cold]
    pub fn early(&mut self, process: usize, flag: u32) {
        let Some(told) = self.processes.get_mut(process) else { return };
        let other = told.last.iter().flatten().find(|(f, _)| *f != flag).map(|(_, point)| *point);
        if let Some(point) = other {
            told.nearest.entry(flag).or_insert(point);
        }
    }

    pub fn looped(&mut self, process: usize, at: OpId, rounds: u64) {
        let Some(told) = self.processes.get_mut(process) else { return };
        let most = told.loops.entry(at).or_default();
        *most = (*most).max(rounds);
    }
}

/// The findings of one block of a run.
pub struct BlockFindings(Box<dyn Describe + Send>);

impl<const W: usize> Detector<W> {
    /// The block ended.
    pub fn ended(self: Box<Self>) -> BlockFindings {
        BlockFindings(self)
    }
}

/// Puts what it found into sentences; gives the reason where something could not be told.
trait Describe {
    fn tell(&self, reporter: &mut Reporter<'_>, loops: &[SmallVec<[OpId; 2]>]) -> Option<Undecided>;
}

impl<const W: usize> Describe for Detector<W> {
    fn tell(&self, reporter: &mut Reporter<'_>, loops: &[SmallVec<[OpId; 2]>]) -> Option<Undecided> {
        tell(reporter, self, loops)
    }
}

/// Makes traces of what is worth telling.
struct FindingsTracer<'a> {
    func: &'a Func,
    /// By operation: the loops around it, the outermost first.
    loops: &'a [SmallVec<[OpId; 2]>],
    sets: Sets,
    traces: Vec<Trace>,
}

impl FindingsTracer<'_> {
    fn turn(&mut self, process: usize, op: OpId, turns: &[u32]) -> u32 {
        let around = self.loops.get(op.index()).into_iter().flatten();
        let turn = around.zip(turns).map(|(at, n)| (*at, u64::from(*n))).collect();
        self.traces[process].turns.push(turn);
        self.traces[process].turns.len() as u32 - 1
    }

    fn event(&mut self, process: usize, (op, turns): (OpId, &[u32]), pipe: Option<Pipe>, kind: Kind) -> usize {
        let turn = self.turn(process, op, turns);
        let trace = &mut self.traces[process];
        let none = trace.accesses.len() as u32;
        trace.events.push(Event { op, pipe, kind, turn, accesses: (none, none) });
        trace.events.len() - 1
    }

    fn set_of(&mut self, side: &Side) -> SetId {
        let root = match side.access.space {
            Space::Chip(loc, core) => Root::Chip(loc, core),
            Space::Buffer(value) => Root::Buffer(value),
            Space::Shared(_) => Root::Anywhere,
            Space::Pool(_) => {
                let op = self.func.op(side.op);
                let named = op.operand(side.access.role).and_then(|o| o.arg.value()).or(op.values().next());
                named.map_or(Root::Anywhere, Root::Tile)
            }
        };
        let ranges = side.access.bytes(side.start).to_vec().into();
        self.sets.of(&Place { root, at: 0.into() }, &ranges)
    }

    fn side(&mut self, side: &Side) -> races::Side {
        let event = self.event(side.process, (side.op, side.turns.rounds()), Some(side.pipe), Kind::Work);
        let (set, writes) = (self.set_of(side), side.access.way.writes());
        let access = Access {
            set,
            writes,
            adds: false,
            exact: true,
            if_valid: false,
            role: side.access.role,
            start: side.access.first,
        };
        races::Side { process: side.process, event, access }
    }

    fn race(&mut self, race: &Race) -> (races::Race, usize) {
        let (x, y) = (self.side(&race.x), self.side(&race.y));
        (races::Race { x, y, conflict: race.conflict }, race.apart)
    }

    fn point(&mut self, process: usize, point: &Point, kind: Kind) -> usize {
        self.event(process, (point.op, point.turns.rounds()), None, kind)
    }

    /// The flag errors of a process, worded like those of the static checker.
    fn flags<const W: usize>(
        &mut self,
        process: usize,
        pipes: &Pipes<W>,
        told: &ProcessFindings,
    ) -> Vec<FlagViolation> {
        let mut found: Vec<(u32, FlagViolation)> = Vec::new();
        for (point, before) in &told.buffers {
            let earlier = before.as_ref().map(|before| self.point(process, before, Kind::Barrier));
            let event = self.point(process, point, Kind::Barrier);
            let fault = earlier.map_or(Fault::NotTaken, Fault::TakenTwice);
            found.push((point.index, FlagViolation { event, fault, flag: None }));
        }
        for (n, state) in (0..).zip(&pipes.flags) {
            let FlagState { flag, waits, unset, again, hidden, .. } = state;
            let flag = Some(flag.clone());
            if let Some(wait) = unset.front() {
                let other = told.nearest.get(&n).or_else(|| told.first.iter().find(|(f, _)| *f != n).map(|f| &f.1));
                if let Some(other) = other {
                    let of = told
                        .first
                        .iter()
                        .chain(told.last.iter().flatten())
                        .find(|(_, p)| p.op == other.op)
                        .map_or(0, |f| f.0);
                    self.point(process, other, Kind::Set(of));
                }
                let event = self.point(process, wait, Kind::Wait(n));
                found.push((wait.index, FlagViolation { event, fault: Fault::NoSet, flag: flag.clone() }));
            }
            let is_event = matches!(&state.flag, Flag::Cores(id) if id.constant > EVENTS);
            if let Some(set) = state.left().filter(|set| !is_event && !pipes.is_awaited(set)) {
                let event = self.point(process, &set.point, Kind::Set(n));
                found.push((set.point.index, FlagViolation { event, fault: Fault::Leak, flag: flag.clone() }));
            }
            if let Some((point, set)) = hidden {
                let earlier = self.point(process, set, Kind::Set(n));
                let event = self.point(process, point, Kind::Work);
                found.push((point.index, FlagViolation { event, fault: Fault::Hidden(earlier), flag: flag.clone() }));
            }
            // A set without a wait is a leak.
            if let Some((_, before, set)) = again.as_ref().filter(|(k, ..)| k - 1 < *waits) {
                let earlier = self.point(process, before, Kind::Set(n));
                let event = self.point(process, set, Kind::Set(n));
                found.push((set.index, FlagViolation { event, fault: Fault::Overwrite(earlier), flag }));
            }
        }
        found.sort_by_key(|(index, _)| *index);
        found.into_iter().map(|(_, broken)| broken).collect()
    }
}

/// By operation: the loops around it, the outermost first.
fn loops(func: &Func) -> Vec<SmallVec<[OpId; 2]>> {
    let mut all = vec![SmallVec::new(); func.ops.len()];
    let mut blocks = vec![(func.body, SmallVec::<[OpId; 2]>::new())];
    while let Some((block, around)) = blocks.pop() {
        for id in &func.block(block).ops {
            let op = func.op(*id);
            let mut inner = around.clone();
            if matches!(op.kind, OpKind::For | OpKind::While) {
                inner.push(*id);
            }
            blocks.extend(op.blocks.iter().map(|block| (*block, inner.clone())));
            all[id.index()] = around.clone();
        }
    }
    all
}

/// The order operations of a process that are wrong by themselves.
fn misuses(
    func: &Func,
    text: &KernelText,
    process: usize,
    told: &ProcessFindings,
    loops: &[SmallVec<[OpId; 2]>],
) -> Vec<Misuse> {
    let (core, profile) = (text.processes[process].core, text.profile);
    let ordering = |op: OpId| {
        let order = func.op(op).opcode().and_then(|o| o.order())?;
        let wide = text.processes[process].orders.get(op.index())?.as_deref().is_some_and(|ordered| ordered.wide);
        Some(SyncOpSite { at: op, op: func.op(op), order, core, profile, wide })
    };
    let iteration = |op: OpId, turns: &Iterations| {
        let innermost = turns.rounds().last().filter(|_| loops.get(op.index()).is_some_and(|l| !l.is_empty()));
        innermost.map_or_else(String::new, |n| format!(" in iteration {n}"))
    };
    let pipes = told.pipes.iter().flat_map(|(op, turns, id)| {
        let ordering = ordering(*op);
        let wrong = ordering.map(|ordering| ordering.sync_op());
        let Some((ordering, SyncOp::Wrong(misuse))) = ordering.zip(wrong) else { return [None, None] };
        // A flag that is wrong has an id all the same: set and wait are one flag.
        match ordering.ends().zip(*id) {
            Some((ends, id)) => {
                let wrong_id = ordering.flag_id(&ends, id, &iteration(*op, turns));
                [Some(Misuse { flag: format!("{ends} {id}"), ..*misuse }), wrong_id]
            }
            None => [Some(*misuse), None],
        }
    });
    let ids = told.ids.iter().filter_map(|(op, turns, id)| {
        let ordering = ordering(*op)?;
        let iteration = iteration(*op, turns);
        match ordering.sync_op() {
            SyncOp::Flag { from, to, .. } => ordering.flag_id(&format!("{from} → {to}"), *id, &iteration),
            SyncOp::Buffer { .. } => ordering.buffer_id(Some(*id)).err(),
            SyncOp::Token { .. } => ordering.token_id(*id, &iteration),
            _ => None,
        }
    });
    pipes.flatten().chain(ids).collect()
}

/// The remaining traces of processes that wait for ever; everything else has happened.
fn stuck<const W: usize>(live: &Detector<W>, teller: &FindingsTracer<'_>) -> (Vec<Trace>, Channels) {
    let Detector { text, pipes, .. } = live;
    let process = |own: &source_map::ProcessText| Trace {
        core: own.core,
        automatic: own.automatic,
        turns: vec![SmallVec::new()],
        ..Trace::default()
    };
    let traces = text.processes.iter().map(process).collect();
    let mut rest = FindingsTracer { func: teller.func, loops: teller.loops, sets: Sets::default(), traces };
    let (mut between, mut tokens) = (Channels::default(), FxHashMap::default());
    for (process, own) in pipes.iter().enumerate() {
        rest.traces[process].flags = own.flags.iter().map(|f| f.flag.clone()).collect();
        // Tokens that are there for waits that have not come to take them.
        for event in &own.pending {
            if let EventAction::Wait { flag, number, .. } = &event.act
                && own.has_happened(*flag, *number)
            {
                let from = own.flags.get(*flag as usize).and_then(|state| match state.flag {
                    Flag::Pipes(from, ..) | Flag::Inner(from, _) => Some(from),
                    Flag::Cores(_) => None,
                });
                rest.event(
                    process,
                    (event.point.op, event.point.turns.rounds()),
                    from.or(Some(Pipe::S)),
                    Kind::Set(*flag),
                );
            }
        }
        for event in &own.pending {
            let at =
                rest.event(process, (event.point.op, event.point.turns.rounds()), event.act.pipe(), traced(&event.act));
            if let EventAction::Send { token, .. } = &event.act {
                tokens.insert(*token, (process, at));
            }
            // A read by S holds up everything: it is one access that is looked at for that only.
            if matches!(event.act, EventAction::Work { reads: true, .. }) {
                let set = rest.sets.of(&Place { root: Root::Anywhere, at: 0.into() }, &[(0, 1)].into());
                let trace = &mut rest.traces[process];
                trace.accesses.push(Access {
                    set,
                    writes: false,
                    adds: false,
                    exact: true,
                    if_valid: false,
                    role: Role::Src,
                    start: 0,
                });
                trace.events[at].accesses.1 += 1;
            }
        }
    }
    for (process, own) in pipes.iter().enumerate() {
        let first = rest.traces[process].events.len() - own.pending.len();
        for (n, event) in own.pending.iter().enumerate() {
            if let EventAction::Receive { needs, .. } = &event.act {
                let needs = needs.iter().filter_map(|token| tokens.get(token).copied()).collect();
                between.needs.insert((process, first + n), Some(needs));
            }
        }
    }
    (rest.traces, between)
}

/// Puts the findings of all blocks into sentences; the text is what messages count lines in.
pub fn report(module: &Module, func: &Func, text: &str, of: &KernelText, blocks: Vec<BlockFindings>) -> Report {
    let mut reporter = Reporter::new(module, func, of.profile, text);
    let loops = loops(func);
    let mut undecided = None;
    for BlockFindings(live) in blocks {
        undecided = undecided.or(live.tell(&mut reporter, &loops));
    }
    let mut diagnostics = reporter.done();
    let verdict = if diagnostics.iter().any(Diagnostic::is_error) {
        Verdict::Races
    } else if let Some(Undecided { why, .. }) = undecided {
        diagnostics.push(Diagnostic::new("undecided", Severity::Note, why));
        Verdict::Undecided
    } else {
        Verdict::RaceFree
    };
    Report { verdict, diagnostics }
}

/// The findings of one block.
pub(super) fn tell<const W: usize>(
    reporter: &mut Reporter<'_>,
    live: &Detector<W>,
    loops: &[SmallVec<[OpId; 2]>],
) -> Option<Undecided> {
    let Detector { text, pipes, memory, lines, told, .. } = live;
    let mut teller = FindingsTracer { func: reporter.func, loops, sets: Sets::default(), traces: Vec::new() };
    for (process, own) in text.processes.iter().enumerate() {
        let mut trace = Trace { core: own.core, automatic: own.automatic, ..Trace::default() };
        trace.flags = pipes[process].flags.iter().map(|f| f.flag.clone()).collect();
        trace.misuses = misuses(reporter.func, text, process, &told.processes[process], loops);
        trace.turns.push(SmallVec::new());
        // The trip count of each loop.
        let ran = told.processes[process].loops.iter().filter(|(_, n)| **n > 0);
        trace.turns.extend(ran.map(|(at, n)| SmallVec::from_slice(&[(*at, n - 1)])));
        teller.traces.push(trace);
        for (op, pipe) in &told.processes[process].barriers {
            teller.event(process, (*op, &[]), Some(*pipe), Kind::Barrier);
        }
    }
    for (process, line) in lines.lines() {
        if let Line::Token { .. } = line {
            teller.event(*process, (OpId(0), &[]), None, Kind::Send(*line));
        }
    }
    let mut is_broken = false;
    for (process, own) in pipes.iter().enumerate() {
        let broken = teller.flags(process, own, &told.processes[process]);
        is_broken |= reporter.broken_flags(&teller.traces[process], process, &broken);
        is_broken |= reporter.misused(&teller.traces[process]);
    }
    let is_stuck = pipes.iter().any(|own| !own.pending.is_empty());
    let mut has_circle = false;
    if is_stuck {
        let (rest, between) = stuck(live, &teller);
        let rest: Vec<&Trace> = rest.iter().collect();
        let order = HappensBefore::new(&rest, text.profile, &between);
        for (process, trace) in rest.iter().enumerate() {
            // Waits without a set have been reported already.
            let mut circles = flags::check(trace, &order, process, false);
            circles.retain(|broken| matches!(broken.fault, Fault::Cycle(_)));
            has_circle |= reporter.broken_flags(trace, process, &circles);
        }
    }
    if live.is_over && !has_circle && !is_broken {
        let why = "a wait comes so long before its set that not everything between them can be kept";
        return Some(Undecided { span: None, why: why.into() });
    }
    for (process, line, point) in &lines.too_many {
        let event = teller.point(*process, point, Kind::Send(*line));
        let traces: Vec<&Trace> = teller.traces.iter().collect();
        reporter.overflow(&traces, (*process, event));
    }
    let mut lines = lines.clone();
    for (process, own) in pipes.iter().enumerate() {
        for event in &own.pending {
            // A process that waits for ever for another token would have taken these.
            if let EventAction::Receive { needs, .. } = &event.act {
                lines.taken(process, needs, (0, 0), &text.slots);
            }
        }
    }
    let mut left = lines.left();
    left.sort_by_key(|(process, _, point)| (*process, point.index));
    for (process, line, point) in &left {
        let event = teller.point(*process, point, Kind::Send(*line));
        let traces: Vec<&Trace> = teller.traces.iter().collect();
        reporter.left(&traces, (*process, event));
    }
    // An event that never happens cannot race (sync.md 9).
    if is_broken || is_stuck {
        return None;
    }
    live.scopes.iter().for_each(|found| reporter.in_scope(found));
    let races: Vec<_> = memory.races.iter().map(|race| teller.race(race)).collect();
    let same: Vec<_> = memory.same.iter().map(|race| teller.race(race)).collect();
    let traces: Vec<&Trace> = teller.traces.iter().collect();
    races.iter().for_each(|(race, apart)| reporter.race_apart(&traces, &teller.sets, race, *apart));
    same.iter().for_each(|(race, _)| reporter.same(&traces, &teller.sets, race));
    let why = "events that control flow hands on are not followed in a run";
    text.has_carried_events.then(|| Undecided { span: None, why: why.into() })
}
