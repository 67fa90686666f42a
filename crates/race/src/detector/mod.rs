//! Dynamic race detector: races and flag errors of one run (sync.md 4, "at run time").
//!
//! It is a vector-clock detector in the manner of FastTrack (Flanagan and Freund, PLDI 2009), with one clock component
//! per pipe. The interpreter reports every instruction and synchronisation operation of each process to a [`Detector`]
//! in program order, with the bytes that it accesses. Flags and tokens carry clocks; cells of shadow memory hold the
//! latest accesses. An event that waits for a set later in program order is queued until that set. Memory use depends
//! on the bytes that the program accesses, not on the length of the run.

mod access_history;
mod calls;
mod cells;
mod channels;
mod event;
mod pipe_clocks;
mod report;
mod reported_pairs;
mod shadow_memory;
pub mod shared_log;
mod source_map;
mod vector_clock;

pub(crate) use calls::Calls;
pub use calls::{CallDetector, CallFifo, CallFinding, CallSite, Called};
pub use report::{BlockFindings, report};
pub use shadow_memory::{AccessKind, Space};
pub use shared_log::SharedLog;
pub use source_map::KernelText;
pub use vector_clock::LANES;

use crate::explore::Core;
use crate::fifo_slots::SlotPlace;
use crate::footprint::{self, rect_ranges};
use crate::sync_op::SyncOp;
use crate::trace::{Kind as Traced, Line};
use crate::vecscope::InScope;
use access_history::Touching;
use channels::Lines;
use event::{Done, Event, EventAction, Part, Point};
use pipe_clocks::Pipes;
use report::RunFindings;
use shadow_memory::{Access, Memory};
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_ir::OpId;
use tessera_isa::inst::{Inst, Root, ScatterAtomic, TileArg};
use tessera_isa::ops::{Phases, Pipe, Role};
use tessera_isa::sem::{Fifo as FifoRole, Rect};
use tessera_isa::tile::Loc;
use tessera_micro::order::Log;

/// No pipes at all: only the rules of flags are asked for, and memories are not looked at.
pub const FLAGS: usize = 0;
/// The pipes of one process.
pub const ONE: usize = vector_clock::LANES;
/// The pipes of three processes.
pub const THREE: usize = 3 * vector_clock::LANES;

/// More events than this are not kept for later.
const MAX_PENDING: usize = 1 << 18;

/// A range of bytes of a memory, and what is done with it.
pub type TouchedBytes = (Space, u64, u64, AccessKind);

/// The loops around something, with their rounds.
pub type Turn<'a> = &'a [(OpId, u64)];

/// A variant of an instruction, as a run knows it: what it touches, on which pipe.
#[derive(Clone, Copy, Debug)]
struct Variant {
    age: u64,
    pipe: Pipe,
    /// None where it touches nothing.
    what: Option<u32>,
    reads: bool,
    /// Its phases, in the detector's list, where it uses flags inside.
    phased: Option<u32>,
}

/// The phases of an instruction variant (isa/today.md 8.1).
#[derive(Clone, Debug)]
struct Phased {
    phases: &'static Phases,
    /// By phase: its pipe, its accesses, and whether it reads.
    parts: SmallVec<[(Pipe, u32, bool); 4]>,
}

/// One block of a run.
#[derive(Debug)]
pub struct Detector<const W: usize> {
    text: Arc<KernelText>,
    pipes: Vec<Pipes<W>>,
    memory: Memory,
    lines: Lines<W>,
    /// By process, site and number.
    variants: Vec<Vec<Vec<Option<Variant>>>>,
    phased: Vec<Phased>,
    told: RunFindings,
    /// Races inside of vecscopes.
    scopes: Vec<InScope>,
    /// What other ranks must be ordered with, where several run.
    shared: Option<Box<SharedLog>>,
    /// The place in the run of what is told next.
    now: u64,
    /// Whether the limit of findings is reached, so that going on is pointless.
    is_over: bool,
}

impl<const W: usize> Detector<W> {
    pub fn new(text: Arc<KernelText>) -> Detector<W> {
        let processes = &text.processes;
        let pipes = |(n, p): (usize, &source_map::ProcessText)| Pipes::new(n, (p.automatic, p.is_micro), text.profile);
        Detector {
            pipes: processes.iter().enumerate().map(pipes).collect(),
            memory: Memory::new(processes.iter().map(|p| p.automatic).collect()),
            lines: Lines::new(processes.iter().map(|p| p.core).collect()),
            variants: vec![Vec::new(); processes.len()],
            phased: Vec::new(),
            told: RunFindings::new(processes.len()),
            scopes: Vec::new(),
            shared: None,
            now: 0,
            is_over: false,
            text,
        }
    }

    /// The same with a log for the order between ranks.
    pub fn of_rank(text: Arc<KernelText>) -> Detector<W> {
        Detector { shared: Some(Box::default()), ..Detector::new(text) }
    }

    /// Says which place in the run the next events have.
    pub fn at(&mut self, now: u64) {
        self.now = now;
    }

    /// Takes the log for the order between ranks.
    pub fn take_shared(&mut self) -> Option<SharedLog> {
        self.shared.take().map(|log| *log)
    }

    fn core(&self, process: usize) -> Core {
        self.text.processes.get(process).map_or(Core::Unsplit, |p| p.core)
    }

    /// An event in program order: it happens now, or is kept until it can.
    #[inline]
    fn next(&mut self, process: usize, point: Point, act: EventAction) {
        if self.is_over {
            return;
        }
        let frees = act.frees();
        match self.happen(process, &point, act) {
            Some(act) => {
                let Some(pipes) = self.pipes.get_mut(process) else { return };
                pipes.keep(Event { point, act });
                if pipes.pending.len() > MAX_PENDING {
                    self.is_over = true;
                }
            }
            None if frees && self.pipes.iter().any(|pipes| !pipes.pending.is_empty()) => self.go_on(),
            None => {}
        }
    }

    /// Whatever was kept and can happen now does.
    #[cold]
    fn go_on(&mut self) {
        loop {
            let mut moved = false;
            for process in 0..self.pipes.len() {
                let kept = self.pipes[process].again();
                for Event { point, act } in kept {
                    match self.happen(process, &point, act) {
                        Some(act) => self.pipes[process].keep(Event { point, act }),
                        None => moved = true,
                    }
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// An event happens; it is given back where it cannot yet.
    #[inline]
    fn happen(&mut self, process: usize, point: &Point, act: EventAction) -> Option<EventAction> {
        let (now, Detector { pipes, lines, memory, text, shared, .. }) = (self.now, self);
        let own = pipes.get_mut(process)?;
        let Some(happens) = own.happens(&act, |token| lines.clock(token).copied()) else { return Some(act) };
        let (lane, position) = happens.at?;
        match &act {
            EventAction::Work { done, .. } | EventAction::Prints(done) if W != FLAGS => {
                let (clock, done, is_before_all) = (&happens.clock, *done, act.issues());
                memory.touch(&Touching { process, lane, position, clock, point, done, is_before_all });
                if let Some(log) = shared {
                    memory.log(log, (process, (lane, position)), clock, point, (done, now, act.pipe()));
                }
            }
            EventAction::Notify(number) | EventAction::Await(number) => {
                if let Some(log) = shared {
                    log.happened(process, (lane, position), &happens.clock, point, *number);
                }
            }
            EventAction::Send { token, .. } => {
                let mut out = happens.clock;
                out.raise(lane, position + 1);
                if let (Some(log), Some(meeting)) = (shared, shared_log::meeting(token)) {
                    let at = SharedLog::stamp(process, (lane, position), &out, point, now);
                    let act = shared_log::SignalAct::Arrive { meeting };
                    log.signals.push(shared_log::Signal { at, words: SmallVec::new(), act });
                }
                lines.given(*token, &out, &text.slots);
            }
            EventAction::Receive { needs, .. } => {
                let met = needs.iter().find_map(shared_log::meeting);
                if let (Some(log), Some(meeting)) = (shared, met) {
                    let at = SharedLog::stamp(process, (lane, position), &happens.clock, point, now);
                    let act = shared_log::SignalAct::Leave { meeting };
                    log.signals.push(shared_log::Signal { at, words: SmallVec::new(), act });
                }
                lines.taken(process, needs, (lane, position), &text.slots)
            }
            _ => {}
        }
        None
    }

    /// Issues an instruction variant that is already known; returns whether it is known.
    #[inline]
    pub fn issued(&mut self, process: usize, at: (OpId, Turn<'_>), variant: (usize, usize, u64), start: u64) -> bool {
        if W == FLAGS {
            return true;
        }
        let (site, number, age) = variant;
        let known = self.variants.get(process).and_then(|sites| sites.get(site)?.get(number).copied().flatten());
        let Some(known) = known.filter(|known| known.age == age) else { return false };
        if let Some(n) = known.phased {
            self.phases(process, at, n, start as i64);
        } else if let Some(what) = known.what {
            self.work(process, at, known.pipe, Done { what, start: start as i64 }, known.reads);
        }
        true
    }

    fn work(&mut self, process: usize, (op, turns): (OpId, Turn<'_>), pipe: Pipe, done: Done, reads: bool) {
        let events = self.text.events.get(op.index()).filter(|events| !events.is_empty());
        let Some(pipes) = self.pipes.get_mut(process) else { return };
        let named = events.map(|events| pipes.events(events)).unwrap_or_default();
        let point = pipes.point(op, turns);
        self.next(process, point, EventAction::Work { pipe, done, reads, named, part: Part::default() });
    }

    /// An instruction that uses flags inside: its phases, in order.
    fn phases(&mut self, process: usize, (op, turns): (OpId, Turn<'_>), n: u32, start: i64) {
        let Some(Phased { phases, parts }) = self.phased.get(n as usize).cloned() else { return };
        let Some(first) = parts.first().map(|part| part.0) else { return };
        phases.before.iter().for_each(|from| self.inner(process, (op, turns), (*from, first)));
        for (n, (pipe, what, reads)) in parts.iter().copied().enumerate() {
            let Some(pipes) = self.pipes.get_mut(process) else { return };
            let point = pipes.point(op, turns);
            if n == 0 {
                pipes.hides(phases.hidden, &point);
            }
            let part = Part { follows: n > 0, leads: n + 1 < parts.len() };
            let act = EventAction::Work { pipe, done: Done { what, start }, reads, named: SmallVec::new(), part };
            self.next(process, point, act);
        }
        phases.after.iter().for_each(|flag| self.inner(process, (op, turns), *flag));
    }

    /// A flag that is set and waited for inside of an instruction.
    fn inner(&mut self, process: usize, (op, turns): (OpId, Turn<'_>), (from, to): (Pipe, Pipe)) {
        for sets in [true, false] {
            let Some(pipes) = self.pipes.get_mut(process) else { return };
            let (flag, point) = (pipes.inner_flag(from, to), pipes.point(op, turns));
            let act = if sets { pipes.set(from, flag, &point, None) } else { pipes.wait(to, flag, &point) };
            self.next(process, point, act);
        }
    }

    /// The phases of an instruction that uses flags inside, with the accesses of each.
    fn learn_phases(&mut self, inst: &Inst, pipe: Pipe, accesses: &[Access]) -> Option<u32> {
        let phases = inst.phases();
        if phases.hidden.is_empty() {
            return None;
        }
        let mut parts: SmallVec<[(Pipe, u32, bool); 4]> = SmallVec::new();
        for (n, phase) in phases.phases.iter().enumerate() {
            let is = |access: &Access| {
                let touches = (phase.reads.contains(&access.role), phase.writes.contains(&access.role));
                if access.way == AccessKind::Reads { touches.0 } else { touches.1 }
            };
            let own: Vec<Access> = accesses.iter().filter(|access| is(access)).cloned().collect();
            let leads = n + 1 < phases.phases.len();
            let what = if leads { self.memory.phase(own, phase.pipe) } else { self.memory.number(own) };
            parts.push((phase.pipe, what, self.memory.reads(what)));
        }
        if parts.is_empty() {
            let what = self.memory.number(accesses.to_vec());
            parts.push((pipe, what, self.memory.reads(what)));
        }
        self.phased.push(Phased { phases, parts });
        Some(self.phased.len() as u32 - 1)
    }

    /// The key of an instruction variant.
    pub fn learn(&mut self, process: usize, variant: (usize, usize, u64), inst: &Inst, view: Option<Space>) {
        let accesses = self.accesses(process, inst, view);
        self.learn_accesses(process, variant, inst, accesses);
    }

    /// The same with the bytes that it touches.
    fn learn_accesses(&mut self, process: usize, variant: (usize, usize, u64), inst: &Inst, accesses: Vec<Access>) {
        let (site, number, age) = variant;
        let pipe = inst.pipe();
        let is_nothing = accesses.is_empty() && !inst.makes_dst || inst.op.only_names(self.text.profile);
        let phased = if is_nothing { None } else { self.learn_phases(inst, pipe, &accesses) };
        let what = (!is_nothing).then(|| self.memory.number(accesses));
        let reads = what.is_some_and(|what| self.memory.reads(what));
        let Some(sites) = self.variants.get_mut(process) else { return };
        if sites.len() <= site {
            sites.resize(site + 1, Vec::new());
        }
        let numbers = &mut sites[site];
        if numbers.len() <= number {
            numbers.resize(number + 1, None);
        }
        numbers[number] = Some(Variant { age, pipe, what, reads, phased });
    }

    /// Whether a variant was learned.
    fn is_known(&self, process: usize, (site, number, age): (usize, usize, u64)) -> bool {
        let known = self.variants.get(process).and_then(|sites| sites.get(site)?.get(number).copied().flatten());
        known.is_some_and(|known| known.age == age)
    }

    /// How many bytes from the start of its view on a variant touches (calls have one site).
    fn reach(&self, process: usize, number: usize) -> u64 {
        let known = self.variants.get(process).and_then(|sites| sites.first()?.get(number).copied().flatten());
        let Some(known) = known else { return 0 };
        let parts = known.phased.and_then(|n| self.phased.get(n as usize));
        let parts = parts.map(|phased| phased.parts.iter().map(|part| part.1).collect::<SmallVec<[u32; 4]>>());
        let whats = parts.unwrap_or_else(|| known.what.into_iter().collect());
        whats.iter().map(|what| self.memory.reach(*what)).max().unwrap_or(0)
    }

    /// The bytes of an instruction, operand by operand.
    fn accesses(&self, process: usize, inst: &Inst, view: Option<Space>) -> Vec<Access> {
        let adds = inst.attrs.adds() || inst.attrs.scatter_atomic().is_some_and(|a| a == ScatterAtomic::Add);
        let mut accesses = Vec::new();
        for part in footprint::parts(inst) {
            match part.tile.map(|n| inst.tiles.get(n)) {
                Some(Some(tile)) => {
                    let way = if part.writes { AccessKind::Writes } else { AccessKind::Reads };
                    let access = self.on_tile(process, tile, &part.ranges, (part.core, way));
                    // A tile that is an operand twice is touched once.
                    let is_new = |a: &Access| !accesses.iter().any(|b: &Access| b.is_like(a));
                    accesses.extend(access.filter(is_new));
                }
                // A sum is one access, which writes.
                None if adds && !part.writes => {}
                None => {
                    let way = match (part.writes, adds) {
                        (false, _) => AccessKind::Reads,
                        (true, false) => AccessKind::Writes,
                        (true, true) => AccessKind::Adds,
                    };
                    let (ranges, role) = (part.ranges.clone(), Role::Global);
                    accesses.extend(view.map(|space| Access { space, ranges, is_view: true, way, role, first: 0 }));
                }
                Some(None) => {}
            }
        }
        accesses
    }

    /// The core whose memory holds an operand: each vector core has a UB of its own; elsewhere the operand names the
    /// core.
    fn memory_of(&self, process: usize, loc: Loc, said: u8) -> u8 {
        match self.core(process) {
            Core::Vector(n) if loc == Loc::Vec => n,
            _ => said,
        }
    }

    fn on_tile(
        &self,
        process: usize,
        tile: &TileArg,
        ranges: &[(i64, i64)],
        (core, way): (u8, AccessKind),
    ) -> Option<Access> {
        // The host's own memory is no memory of a core.
        let place = tile.place.filter(|place| place.root != Root::Host)?;
        let core = self.memory_of(process, tile.tile.loc, core);
        let space = match place.root {
            Root::Memory(loc) => Space::Chip(loc, core),
            _ => Space::Pool(core),
        };
        let by = i64::try_from(place.start).ok()?;
        let ranges = ranges.iter().map(|(from, to)| (from + by, to + by)).collect();
        Some(Access { space, ranges, is_view: false, way, role: tile.role, first: by })
    }

    /// One element is read or written as a scalar.
    pub fn scalar(&mut self, process: usize, at: (OpId, Turn<'_>), space: Space, (from, to): (u64, u64), writes: bool) {
        if W == FLAGS {
            return;
        }
        let way = if writes { AccessKind::Writes } else { AccessKind::Reads };
        let role = if matches!(space, Space::Buffer(_) | Space::Shared(_)) { Role::Global } else { Role::Src };
        let ranges = [(0, to as i64 - from as i64)].into();
        let what = self.memory.number(vec![Access { space, ranges, is_view: true, way, role, first: 0 }]);
        self.work(process, at, Pipe::S, Done { what, start: from as i64 }, !writes);
    }

    /// Bytes are touched on a pipe, by what is no tile instruction.
    pub fn touched(&mut self, process: usize, at: (OpId, Turn<'_>), pipe: Pipe, bytes: Vec<(Space, u64, u64, bool)>) {
        let mut accesses: Vec<Access> = Vec::new();
        for (space, from, to, writes) in bytes {
            let way = if writes { AccessKind::Writes } else { AccessKind::Reads };
            let range = (from as i64, to as i64);
            match accesses.iter_mut().find(|access| (access.space, access.way) == (space, way)) {
                Some(access) => access.ranges = access.ranges.iter().copied().chain([range]).collect(),
                None => {
                    let role =
                        if matches!(space, Space::Buffer(_) | Space::Shared(_)) { Role::Global } else { Role::Src };
                    accesses.push(Access { space, ranges: [range].into(), is_view: false, way, role, first: range.0 });
                }
            }
        }
        if W == FLAGS || accesses.is_empty() {
            return;
        }
        let what = self.memory.number(accesses);
        self.work(process, at, pipe, Done { what, start: 0 }, false);
    }

    /// A transfer between ranks: the bytes of each of its phases, one after the other (isa/today.md 8.1).
    pub fn transferred(&mut self, process: usize, (op, turns): (OpId, Turn<'_>), phases: &[(Pipe, Vec<TouchedBytes>)]) {
        if W == FLAGS {
            return;
        }
        for (n, (pipe, bytes)) in phases.iter().enumerate() {
            let accesses: Vec<Access> = grouped(bytes);
            let leads = n + 1 < phases.len();
            let what = if leads { self.memory.phase(accesses, *pipe) } else { self.memory.number(accesses) };
            let reads = self.memory.reads(what);
            let Some(pipes) = self.pipes.get_mut(process) else { return };
            let point = pipes.point(op, turns);
            let (done, named, part) = (Done { what, start: 0 }, SmallVec::new(), Part { follows: n > 0, leads });
            self.next(process, point, EventAction::Work { pipe: *pipe, done, reads, named, part });
        }
        self.inner(process, (op, turns), (Pipe::Mte3, Pipe::Mte2));
    }

    /// A notification, or a wait that is over.
    pub fn signalled(
        &mut self,
        process: usize,
        at: (OpId, Turn<'_>),
        words: SmallVec<[shared_log::Word; 1]>,
        act: shared_log::SignalAct,
    ) {
        let is_notify = matches!(act, shared_log::SignalAct::Notify { .. });
        let now = self.now;
        self.tell(process, at, is_notify, shared_log::Told::Signal(words, act, now));
    }

    /// A copy starts that runs on, with a number in its process.
    pub fn started(&mut self, process: usize, at: (OpId, Turn<'_>), bytes: &[TouchedBytes], copy: u64) {
        let stamp = shared_log::Stamp {
            process: process as u8,
            lane: 0,
            position: 0,
            clock: Box::default(),
            now: self.now,
            op: at.0,
            turns: event::Iterations::new(at.1),
        };
        let logged = grouped(bytes).into_iter().filter_map(|access| {
            let Space::Shared(region) = access.space else { return None };
            Some(shared_log::SharedAccess {
                at: stamp.clone(),
                end: None,
                pipe: Pipe::S,
                way: access.way,
                region,
                ranges: access.ranges,
                is_scalar: false,
                copy: Some(copy),
            })
        });
        let logged = logged.collect();
        self.tell(process, at, false, shared_log::Told::Start(logged));
    }

    /// Copies are done.
    pub fn finished(&mut self, process: usize, at: (OpId, Turn<'_>), copies: &[u64]) {
        self.tell(process, at, false, shared_log::Told::Done(copies.to_vec()));
    }

    /// Lines of the cache are written back and forgotten (all of them where none are named), or a fence stands.
    pub fn cached(
        &mut self,
        process: usize,
        at: (OpId, Turn<'_>),
        lines: Option<shared_log::RegionBytes>,
        is_fence: bool,
    ) {
        let now = self.now;
        self.tell(process, at, false, shared_log::Told::Cache(lines, is_fence, now));
    }

    fn tell(&mut self, process: usize, (op, turns): (OpId, Turn<'_>), is_notify: bool, told: shared_log::Told) {
        let Some(log) = &mut self.shared else { return };
        let number = log.told.len() as u32;
        log.told.push(told);
        let Some(pipes) = self.pipes.get_mut(process) else { return };
        let point = pipes.point(op, turns);
        let act = if is_notify { EventAction::Notify(number) } else { EventAction::Await(number) };
        self.next(process, point, act);
    }

    /// A process that has all pipes arrives at a meeting of all blocks, and goes on.
    fn meets(&mut self, process: usize, at: (OpId, Turn<'_>)) {
        let Some(log) = &mut self.shared else { return };
        log.meetings += 1;
        let (meeting, now) = ((-1, log.meetings), self.now);
        for act in [shared_log::SignalAct::Arrive { meeting }, shared_log::SignalAct::Leave { meeting }] {
            self.tell(process, at, false, shared_log::Told::Signal(SmallVec::new(), act, now));
        }
    }

    /// A vecscope ended, in which this happened.
    pub fn scoped(&mut self, log: &Log) {
        for race in log.races() {
            let node = |n: usize| log.nodes.get(race.nodes[n]);
            if let (Some(x), Some(y)) = (node(0), node(1)) {
                let found = InScope::new(x, y, &race);
                if self.scopes.iter().all(|other| !other.is_like(&found)) {
                    self.scopes.push(found);
                }
            }
        }
    }

    /// A tile is printed.
    pub fn printed(&mut self, process: usize, (op, turns): (OpId, Turn<'_>), tile: &TileArg) {
        let ranges = valid_ranges(tile);
        let accesses = self.on_tile(process, tile, &ranges, (0, AccessKind::Reads)).into_iter().collect();
        let what = self.memory.number(accesses);
        let Some(pipes) = self.pipes.get_mut(process) else { return };
        let point = pipes.point(op, turns);
        self.next(process, point, EventAction::Prints(Done { what, start: 0 }));
    }

    /// An order operation, with the id that it is given.
    pub fn ordered(&mut self, process: usize, (op, turns): (OpId, Turn<'_>), id: Option<i64>) {
        let text = &*self.text;
        let own = text.processes.get(process);
        let Some((own, ordered)) = own.and_then(|own| Some((own, own.orders.get(op.index())?.as_deref()?))) else {
            return;
        };
        let id = ordered.written.or(id);
        let Some(pipes) = self.pipes.get_mut(process) else { return };
        match &ordered.sync_op {
            SyncOp::Flag { from, to, sets } => {
                let Some(id) = id else { return };
                if id < 0 || text.profile.is_npu() && id > 7 {
                    self.told.wrong_id(process, op, turns, id);
                }
                let (flag, point) = (pipes.flag(*from, *to, id), pipes.point(op, turns));
                let records = ordered.records;
                if W == FLAGS && records.is_none() && pipes.count(flag, *sets, &point) {
                    return self.told.flag(process, flag, *sets, &point);
                }
                let act = match sets {
                    true => pipes.set(*from, flag, &point, records),
                    false => pipes.wait(*to, flag, &point),
                };
                self.told.flag(process, flag, *sets, &point);
                if pipes.is_early(flag) {
                    self.told.early(process, flag);
                }
                self.next(process, point, act);
            }
            SyncOp::Barrier(_) if W == FLAGS && pipes.pending.is_empty() => {}
            SyncOp::Barrier(pipe) => {
                let point = pipes.point(op, turns);
                self.told.barrier(process, op, *pipe);
                self.next(process, point, EventAction::Barrier(*pipe));
            }
            SyncOp::Fence(of) => {
                let fence = *of;
                for pipe in fence {
                    let Some(pipes) = self.pipes.get_mut(process) else { return };
                    let point = pipes.point(op, turns);
                    self.next(process, point, EventAction::Barrier(*pipe));
                }
            }
            SyncOp::Events => {
                let named = text.events.get(op.index()).map(|events| pipes.events(events)).unwrap_or_default();
                let point = pipes.point(op, turns);
                self.next(process, point, EventAction::Joins(named));
            }
            SyncOp::Buffer { pipe, takes } => {
                let Some(id) = id.filter(|id| (0..32).contains(id)).map(|id| id as u32) else {
                    self.told.wrong_id(process, op, turns, id.unwrap_or(-1));
                    return;
                };
                let point = pipes.point(op, turns);
                self.told.buffer(process, (id, *pipe), *takes, &point);
                let act = if *takes { pipes.take(*pipe, id) } else { pipes.release(*pipe, id, &point) };
                self.next(process, point, act);
            }
            SyncOp::Token { pipe, sets } => {
                let small = ordered.wide || ordered.crosses.is_some() || matches!(own.core, Core::Vector(_));
                let Some(id) = id else { return };
                if !(0..if small { 16 } else { 32 }).contains(&id) {
                    self.told.wrong_id(process, op, turns, id);
                    return;
                }
                if own.core == Core::Unsplit {
                    if *sets && id >= 16 {
                        return;
                    }
                    let (flag, point) = (pipes.core_flag(id), pipes.point(op, turns));
                    let act = match sets {
                        true => pipes.set(*pipe, flag, &point, None),
                        false => pipes.wait(*pipe, flag, &point),
                    };
                    self.told.flag(process, flag, *sets, &point);
                    self.next(process, point, act);
                    return;
                }
                let point = pipes.point(op, turns);
                match (ordered.crosses, sets) {
                    (Some(group), true) => self.send(process, point, *pipe, Line::Meeting { group, id }),
                    (Some(group), false) => self.receive(process, point, *pipe, Line::Meeting { group, id }),
                    (None, true) => {
                        self.send(process, point, *pipe, Line::Token { id, meets: ordered.meets, wide: ordered.wide })
                    }
                    (None, false) => {
                        self.receive(process, point, *pipe, Line::Token { id, meets: false, wide: ordered.wide })
                    }
                }
            }
            // A process that has all pipes is a core of each kind.
            SyncOp::Meet(_) if own.core == Core::Unsplit => self.meets(process, (op, turns)),
            SyncOp::Meet(group) => {
                if group.cores().contains(&own.core) {
                    let (first, second) = (pipes.point(op, turns), pipes.point(op, turns));
                    let line = Line::Meeting { group: *group, id: -1 };
                    self.send(process, first, Pipe::S, line);
                    self.receive(process, second, Pipe::S, line);
                }
            }
            SyncOp::Nothing => {}
            SyncOp::Wrong(_) => self.told.wrong_pipe(process, op, turns, id),
        }
    }

    fn send(&mut self, process: usize, point: Point, pipe: Pipe, line: Line) {
        let number = self.lines.gives(process, line, point);
        self.next(process, point, EventAction::Send { pipe, token: (process, line, number) });
    }

    fn receive(&mut self, process: usize, point: Point, pipe: Pipe, line: Line) {
        let needs = self.lines.takes(process, line, &self.text.slots);
        self.next(process, point, EventAction::Receive { pipe, needs });
    }

    /// A push, the how-manieth of its process, a pop or a free.
    pub fn moved(
        &mut self,
        process: usize,
        (op, turns): (OpId, Turn<'_>),
        number: u64,
        tile: Option<&TileArg>,
        global: Option<(Space, u64)>,
    ) {
        let text = self.text.clone();
        let Some(Some(source_map::Move { part, fifo, pipe })) = text.moves.get(op.index()).copied() else { return };
        let Some(slots) = text.slots.get(fifo) else { return };
        let (is_copied, frees_at_pop) = (slots.fifo.is_global(text.profile), slots.fifo.frees_at_pop(text.profile));
        if slots.fifo.entries {
            return self.entry(process, (op, turns), (part, fifo, pipe));
        }
        let half = if let Core::Vector(n) = self.core(process) { u64::from(n) } else { 0 };
        let slot = slots.slot(number);
        let mut point = || self.pipes.get_mut(process).map(|pipes| pipes.point(op, turns));
        let Some(first) = point() else { return };
        let valid = tile.map_or([0, 0], TileArg::most_valid);
        let bits = tile.map_or(8, |tile| u64::from(tile.tile.elem.bits()));
        let spot = |spot: SlotPlace, ranges: &[(i64, i64)], way: AccessKind| {
            let (space, by) = match spot {
                SlotPlace::Chip(loc, core, at) => (Space::Chip(loc, core), at),
                SlotPlace::Global(at) => global.map(|(space, start)| (space, start.saturating_add(at)))?,
            };
            let by = i64::try_from(by).ok()?;
            let ranges = ranges.iter().map(|(from, to)| (from + by, to + by)).collect();
            Some(Access { space, ranges, is_view: false, way, role: Role::Pipe, first: by })
        };
        let mut accesses: Vec<Access> = Vec::new();
        match part {
            FifoRole::Push(_) => {
                let (Some(second), Some(third)) = (point(), point()) else { return };
                self.receive(process, first, pipe, Line::Free(fifo));
                if let Some(tile) = tile {
                    let tile = TileArg { role: Role::Src, ..tile.clone() };
                    accesses.extend(self.on_tile(process, &tile, &valid_ranges(&tile), (0, AccessKind::Reads)));
                    let pushed = slots.pushed(slot, half, bits, valid);
                    accesses.extend(pushed.iter().filter_map(|(at, ranges)| spot(*at, ranges, AccessKind::Writes)));
                }
                self.slot_work(process, second, pipe, accesses);
                self.send(process, third, pipe, Line::Ready(fifo));
            }
            FifoRole::Pop(_) => {
                let rest = if is_copied { point().zip(point()) } else { None };
                self.receive(process, first, pipe, Line::Ready(fifo));
                if let Some((second, third)) = rest {
                    let (at, ranges) = slots.loaded(slot, half, bits, valid);
                    accesses.extend(spot(at, &ranges, AccessKind::Reads));
                    if let Some(tile) = tile {
                        accesses.extend(self.on_tile(process, tile, &valid_ranges(tile), (0, AccessKind::Writes)));
                    }
                    self.slot_work(process, second, pipe, accesses);
                    self.send(process, third, pipe, Line::Free(fifo));
                }
            }
            // Where the pop frees the slot, a free does nothing.
            _ if frees_at_pop => {}
            _ => self.send(process, first, pipe, Line::Free(fifo)),
        }
    }

    /// An event is recorded on a pipe, or a pipe waits for it.
    fn event(&mut self, process: usize, op: OpId, (pipe, number): (Pipe, i64), records: bool) {
        let Some(pipes) = self.pipes.get_mut(process) else { return };
        let (flag, point) = (pipes.core_flag(number), pipes.point(op, &[]));
        let act = if records { pipes.set(pipe, flag, &point, None) } else { pipes.wait(pipe, flag, &point) };
        self.next(process, point, act);
    }

    /// An operation on the views of slots (isa/today.md 7.2).
    fn entry(
        &mut self,
        process: usize,
        at: (OpId, Turn<'_>),
        (part, fifo, pipe): (FifoRole, tessera_ir::FifoId, Pipe),
    ) {
        if matches!(part, FifoRole::Push(_)) && self.core(process) == Core::Cube {
            self.inner(process, at, (Pipe::Fix, Pipe::Mte3));
        }
        let Some(point) = self.pipes.get_mut(process).map(|pipes| pipes.point(at.0, at.1)) else { return };
        match part {
            FifoRole::Alloc(_) => self.receive(process, point, pipe, Line::Free(fifo)),
            FifoRole::Push(_) => self.send(process, point, pipe, Line::Ready(fifo)),
            FifoRole::Pop(_) => self.receive(process, point, pipe, Line::Ready(fifo)),
            _ => self.send(process, point, pipe, Line::Free(fifo)),
        }
    }

    fn slot_work(&mut self, process: usize, point: Point, pipe: Pipe, accesses: Vec<Access>) {
        let what = self.memory.number(accesses);
        let (done, reads, named) = (Done { what, start: 0 }, self.memory.reads(what), SmallVec::new());
        self.next(process, point, EventAction::Work { pipe, done, reads, named, part: Part::default() });
    }

    /// A loop ended after this many iterations.
    pub fn looped(&mut self, process: usize, at: OpId, rounds: u64) {
        self.told.looped(process, at, rounds);
    }
}

/// Accesses of the same memory in the same way as one.
fn grouped(bytes: &[TouchedBytes]) -> Vec<Access> {
    type Ranged = (Space, AccessKind, Vec<(i64, i64)>);
    let mut accesses: Vec<Ranged> = Vec::new();
    for (space, from, to, way) in bytes {
        let range = (*from as i64, *to as i64);
        match accesses.iter_mut().find(|access| (access.0, access.1) == (*space, *way)) {
            Some(access) => access.2.push(range),
            None => accesses.push((*space, *way, vec![range])),
        }
    }
    let access = |(space, way, mut ranges): Ranged| {
        ranges.sort_unstable();
        let role = if matches!(space, Space::Shared(_)) { Role::Global } else { Role::Ping };
        let first = ranges.first().map_or(0, |range| range.0);
        Access { space, ranges: ranges.into(), is_view: false, way, role, first }
    };
    accesses.into_iter().map(access).collect()
}

/// The bytes of a tile's valid region, from where it starts.
fn valid_ranges(tile: &TileArg) -> Vec<(i64, i64)> {
    let [rows, cols] = tile.most_valid();
    rect_ranges(&tile.layout, tile.tile.elem.bits().into(), Rect { row: 0, col: 0, rows, cols })
}

/// The kind of an event in a trace.
fn traced(act: &EventAction) -> Traced {
    match act {
        EventAction::Work { part, .. } if part.leads => Traced::Phase,
        EventAction::Work { .. } => Traced::Work,
        EventAction::Prints(_) | EventAction::Notify(_) => Traced::Meets,
        EventAction::Await(_) => Traced::Work,
        EventAction::Set { flag, .. } => Traced::Set(*flag),
        EventAction::Wait { flag, .. } => Traced::Wait(*flag),
        EventAction::Barrier(_) => Traced::Barrier,
        EventAction::Joins(_) => Traced::Joins,
        EventAction::Take { id, .. } => Traced::Take(*id),
        EventAction::Release { id, .. } => Traced::Release(*id),
        EventAction::Send { token, .. } => Traced::Send(token.1),
        // The caller supplies the line of the token.
        EventAction::Receive { .. } => Traced::Receive(Line::Ready(0)),
    }
}
