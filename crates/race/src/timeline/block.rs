//! One block of a run: its cores' events in time, as slices and arrows.

use super::schedule::{self, Schedule, schedule};
use super::{
    Arrow, Process, Slice, SliceKind, Timeline, Unknown, WaitReason, bank_conflicts, critical_path, memory_use,
};
use crate::channels::Channels;
use crate::explore::Core;
use crate::happens_before::Edges;
use crate::insert::dependences;
use crate::trace::{Event, Kind, Line, Sets, Trace};
use tessera_ir::{FifoId, Fifos, Func, OpId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

/// One block, with what its cores do.
pub(super) struct Block<'a> {
    pub func: &'a Func,
    pub profile: Profile,
    pub traces: &'a [Trace],
    pub sets: &'a Sets,
    pub fifos: &'a Fifos,
    /// By process: whether its dependences order it.
    pub automatic: &'a [bool],
}

impl Block<'_> {
    /// Adds what happens in it.
    pub fn add(&self, block: u32, cores: &[Core], line: &mut Timeline) -> Result<(), Unknown> {
        let traces: Vec<&Trace> = self.traces.iter().collect();
        let between = Channels::new(&traces, self.profile, self.fifos);
        self.never_waits(&between)?;
        let mut edges = Edges::inside(&traces, self.profile).all;
        let ends = self.traces.iter().scan(0, |end, trace| Some(std::mem::replace(end, *end + trace.events.len())));
        let first: Vec<usize> = ends.collect();
        edges.extend(between.edges(&first).iter().map(|(from, to)| (*from as u32, *to as u32)));
        let ordered = edges.len();
        edges.extend(self.dependences());
        let length = |trace: &Trace, n: usize| self.cycles(trace, n).unwrap_or(1);
        let found = schedule(&traces, &edges, ordered, length).map_err(|node| self.stuck(node))?;
        let first = line.processes.len();
        let mut slices: Vec<Option<usize>> = Vec::new();
        for (n, core) in cores.iter().enumerate() {
            let process = self.process(n, (block, *core), &found, &mut slices);
            line.processes.push(process);
        }
        let place = |node: usize| {
            let process = found.first.partition_point(|f| *f <= node) - 1;
            Some((first + process, slices[node]?))
        };
        self.arrows(&edges[..ordered], &found, &place, line);
        for (n, trace) in self.traces.iter().enumerate() {
            bank_conflicts::add(
                self.profile,
                trace,
                self.sets,
                (first + n, &slices[found.first[n]..]),
                &mut line.meetings,
            );
        }
        let end = line.processes[first..].iter().flat_map(|p| &p.slices).map(|s| s.end).max().unwrap_or(0);
        if end > line.path.last().map_or(0, |step| line.processes[step.at.0].slices[step.at.1].end) || first == 0 {
            line.path = critical_path::critical(self, &found, &place);
        }
        Ok(())
    }

    /// The event of a node.
    fn event(&self, found: &Schedule, node: usize) -> (&Trace, usize, &Event) {
        let process = found.first.partition_point(|f| *f <= node) - 1;
        let trace = &self.traces[process];
        let n = node - found.first[process];
        (trace, n, &trace.events[n])
    }

    /// The duration of an event, if it is known.
    fn cycles(&self, trace: &Trace, n: usize) -> Option<u64> {
        match trace.events[n].kind {
            Kind::Work | Kind::Phase | Kind::Meets => trace.costs.get(&(n as u32)).and_then(|spent| spent.cycles),
            _ => Some(0),
        }
    }

    /// The dependences that order events where flags do not.
    fn dependences(&self) -> Vec<(u32, u32)> {
        let (mut all, mut first) = (Vec::new(), 0u32);
        for (trace, automatic) in self.traces.iter().zip(self.automatic) {
            let deps = if *automatic { dependences::deps(trace, self.sets) } else { Vec::new() };
            for (y, deps) in (0u32..).zip(deps) {
                all.extend(deps.iter().map(|dep| (first + dep.x, first + y)));
            }
            first += trace.events.len() as u32;
        }
        all
    }

    /// A wait that has no set never ends.
    fn never_waits(&self, between: &Channels) -> Result<(), Unknown> {
        let stops = between.needs.iter().filter(|(_, needs)| needs.is_none()).map(|(at, _)| *at).min();
        if let Some((process, event)) = stops {
            return Err(self.never(self.traces[process].events[event].op, "nothing ever comes for it"));
        }
        for trace in self.traces {
            let mut tokens = vec![(0usize, Vec::new()); trace.flags.len()];
            for event in &trace.events {
                match event.kind {
                    Kind::Set(flag) => tokens[flag as usize].0 += 1,
                    Kind::Wait(flag) => tokens[flag as usize].1.push(event.op),
                    _ => {}
                }
            }
            if let Some(op) = tokens.iter().find_map(|(sets, waits)| waits.get(*sets)) {
                return Err(self.never(*op, "no set is left for it"));
            }
        }
        Ok(())
    }

    fn stuck(&self, node: (usize, usize)) -> Unknown {
        self.never(self.traces[node.0].events[node.1].op, "what it waits for comes after it")
    }

    fn never(&self, op: OpId, why: &str) -> Unknown {
        let op = self.func.op(op);
        let what = format!("{} waits for ever: {why}", op.kind.name());
        let found = Diagnostic::error("flag-unmatched-wait", what).at(op.span, "the program stops here");
        Unknown { diagnostic: Box::new(found.help("set the flag before it is waited for")), missing: Vec::new() }
    }

    /// The slices of a process. Also says which slice each of its nodes is.
    fn process(
        &self,
        n: usize,
        (block, core): (u32, Core),
        found: &Schedule,
        numbers: &mut Vec<Option<usize>>,
    ) -> Process {
        let trace = &self.traces[n];
        let first = found.first[n];
        let (mut slices, mut ends) = (Vec::new(), [0u64; Pipe::ALL.len()]);
        let mut last = [0usize; Pipe::ALL.len()];
        for (e, event) in trace.events.iter().enumerate().filter(|(_, event)| event.kind.is_work()) {
            last[event.pipe.unwrap_or(Pipe::S) as usize] = e + 1;
        }
        for (e, event) in trace.events.iter().enumerate() {
            let (start, end) = (found.start[first + e], found.end[first + e]);
            let waits = |pipe: &Pipe| match event.pipe {
                Some(own) if event.kind != Kind::Meets => own == *pipe,
                _ => event.kind != Kind::Joins && last[*pipe as usize] > e,
            };
            for pipe in Pipe::ALL.iter().filter(|p| waits(p)) {
                let idle = &mut ends[*pipe as usize];
                if start > *idle {
                    let why = self.why(found, first + e);
                    slices.push(self.slice(trace, e, (*pipe, *idle, start), SliceKind::Wait(why)));
                }
                *idle = (*idle).max(end);
            }
            let is_work = event.kind.is_work() || event.kind == Kind::Meets;
            numbers.push(is_work.then_some(slices.len()));
            if is_work {
                let known = self.cycles(trace, e).is_some();
                slices.push(self.slice(
                    trace,
                    e,
                    (event.pipe.unwrap_or(Pipe::S), start, end),
                    SliceKind::Work { known },
                ));
            }
        }
        let memories = memory_use::used(trace, self.sets, &found.start[first..], &found.end[first..]);
        Process { block, core, slices, memories }
    }

    fn slice(&self, trace: &Trace, n: usize, (pipe, start, end): (Pipe, u64, u64), what: SliceKind) -> Slice {
        let event = &trace.events[n];
        let mut bytes = [0; 2];
        for access in trace.accesses_of(n).iter().filter(|_| matches!(what, SliceKind::Work { .. })) {
            let ranges = &self.sets.get(access.set).ranges;
            bytes[usize::from(access.writes)] += ranges.iter().map(|r| r.1.abs_diff(r.0)).sum::<u64>();
        }
        let turns = trace.turns.get(event.turn as usize).map(|all| all.iter().map(|t| t.1).collect());
        let span = self.func.op(event.op).span;
        Slice { op: event.op, span, pipe, start, end, what, turns: turns.unwrap_or_default(), bytes }
    }

    /// Why a node does not start earlier.
    pub fn why(&self, found: &Schedule, node: usize) -> WaitReason {
        let (trace, _, event) = self.event(found, node);
        let Some((cause, edge)) = found.cause[node] else { return WaitReason::Start };
        let (other, _, before) = self.event(found, cause as usize);
        match (event.kind, before.kind) {
            (Kind::Wait(flag), Kind::Set(of)) if flag == of => WaitReason::token(trace, flag),
            (Kind::Receive(line), Kind::Send(_)) if !std::ptr::eq(trace, other) => self.line(line),
            (Kind::Take(id), Kind::Release(of)) if of == id => WaitReason::Buffer(id),
            (Kind::Barrier, _) => WaitReason::Barrier(event.pipe),
            (_, Kind::Barrier) if before.pipe.is_none() => WaitReason::Barrier(None),
            (Kind::Meets, _) | (_, Kind::Meets) => WaitReason::Barrier(None),
            _ if edge == schedule::Edge::Data => WaitReason::Data,
            _ if event.pipe == before.pipe => WaitReason::Pipe,
            _ => WaitReason::Issue,
        }
    }

    /// Edges from another core.
    fn line(&self, line: Line) -> WaitReason {
        let name = |n: FifoId| {
            let fifo = &self.fifos.list[n];
            format!("{} FIFO {}", fifo.dir, fifo.name).trim_end().to_string()
        };
        match line {
            Line::Token { id, .. } | Line::Meeting { id, .. } => WaitReason::Cores(id),
            Line::Ready(n) => WaitReason::Push(name(n)),
            Line::Free(n) => WaitReason::Free(name(n)),
        }
    }

    /// Flags as arrows from what is last before the set to what is first after the wait.
    fn arrows(
        &self,
        edges: &[(u32, u32)],
        found: &Schedule,
        place: &dyn Fn(usize) -> Option<(usize, usize)>,
        line: &mut Timeline,
    ) {
        let nodes = found.start.len();
        // By node: the nearest work on its pipe, before and after.
        let (mut before, mut after) = (vec![None; nodes], vec![None; nodes]);
        for (n, trace) in self.traces.iter().enumerate() {
            let first = found.first[n];
            let mut last = [None; Pipe::ALL.len()];
            for (e, event) in trace.events.iter().enumerate() {
                let Some(pipe) = event.pipe else { continue };
                before[first + e] = last[pipe as usize];
                if event.kind.is_work() {
                    last[pipe as usize] = Some(first + e);
                }
            }
            let mut next = [None; Pipe::ALL.len()];
            for (e, event) in trace.events.iter().enumerate().rev() {
                let Some(pipe) = event.pipe else { continue };
                after[first + e] = next[pipe as usize];
                if event.kind.is_work() {
                    next[pipe as usize] = Some(first + e);
                }
            }
        }
        for (x, y) in edges {
            let (x, y) = (*x as usize, *y as usize);
            let (other, _, from) = self.event(found, x);
            let (trace, _, to) = self.event(found, y);
            let why = match (from.kind, to.kind) {
                (Kind::Set(of), Kind::Wait(flag)) if flag == of => WaitReason::token(trace, flag),
                (Kind::Release(of), Kind::Take(id)) if of == id => WaitReason::Buffer(id),
                (Kind::Send(_), Kind::Receive(line)) if !std::ptr::eq(trace, other) => self.line(line),
                _ => continue,
            };
            let ends = before[x].and_then(place).zip(after[y].and_then(place));
            line.arrows.extend(ends.map(|(from, to)| Arrow { from, to, why }));
        }
    }
}
