//! Shadow memory: the accesses of all memories, and the races among them (sync.md 4).
//!
//! A cell keeps the accesses with which a later access can still race and that no access between them hides: accesses
//! that happen before a write need not be kept after it. A kernel on several cores reports every pair of program
//! points, so there a cell keeps the last access of each point.

use super::access_history::{Entry, HistoryUpdate, Touching, meet};
use super::cells::{CellId, Cells, Shadow};
use super::event::{Done, Iterations, Point};
use super::reported_pairs::Pairs;
use super::shared_log::{SharedAccess, SharedLog};
use super::vector_clock::{Clock, LANES, Lane};
use crate::footprint::Ranges;
use crate::races::Conflict;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::{OpId, ValueId};
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::tile::Loc;

/// The limit of reported races.
const MAX_RACES: usize = crate::races::MAX_RACES;

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// A memory of a core, of which vector cores have one each.
    Chip(Loc, u8),
    /// The space of tiles without an address, per vector core.
    Pool(u8),
    /// The buffer behind an argument.
    Buffer(ValueId),
    /// A buffer of all ranks, by number.
    Shared(u32),
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    Reads,
    Writes,
    /// Adds atomically.
    Adds,
}

impl AccessKind {
    pub fn writes(self) -> bool {
        self != AccessKind::Reads
    }

    pub fn conflict(self, later: AccessKind) -> Option<Conflict> {
        match (self, later) {
            (AccessKind::Reads, AccessKind::Reads) | (AccessKind::Adds, AccessKind::Adds) => None,
            (AccessKind::Reads, _) => Some(Conflict::War),
            (_, AccessKind::Reads) => Some(Conflict::Raw),
            _ => Some(Conflict::Waw),
        }
    }

    /// Whether it conflicts with every access that the other one conflicts with.
    pub fn covers(self, other: AccessKind) -> bool {
        self == AccessKind::Writes || self == other
    }
}

/// One operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub space: Space,
    /// From where the view starts, where it is one; else in the memory.
    pub ranges: Ranges,
    pub is_view: bool,
    pub way: AccessKind,
    /// The operand, for messages, and the first byte of its tile.
    pub role: Role,
    pub first: i64,
}

impl Access {
    /// Whether two accesses are equal apart from their operand.
    pub fn is_like(&self, other: &Access) -> bool {
        (self.space, self.way, self.is_view) == (other.space, other.way, other.is_view) && self.ranges == other.ranges
    }

    fn shift(&self, start: i64) -> i64 {
        if self.is_view { start } else { 0 }
    }

    /// The bytes, in the memory.
    pub fn bytes(&self, start: i64) -> SmallVec<[(i64, i64); 2]> {
        let by = self.shift(start);
        self.ranges.iter().map(|(from, to)| (from + by, to + by)).collect()
    }
}

/// The cells of an operand, as they were found last.
#[derive(Clone, Debug, Default)]
struct CellsOfAccess {
    /// Its memory as list index plus one; 0 before the first lookup.
    shadow: usize,
    stamp: u64,
    start: i64,
    cells: SmallVec<[CellId; 2]>,
}

/// An instruction with its operands.
#[derive(Debug)]
struct InstVariant {
    accesses: Box<[Access]>,
    found: Box<[CellsOfAccess]>,
    /// Whether it writes bytes that it also reads; then all of its operands are compared with the history before any
    /// of them is recorded.
    in_place: bool,
}

/// Whether one of these accesses reads a byte that another one writes.
fn is_in_place(accesses: &[Access]) -> bool {
    let meet = |a: &Access, b: &Access| {
        let overlap = |(from, to): &(i64, i64)| b.ranges.iter().any(|(first, end)| first < to && from < end);
        (a.space, a.is_view) == (b.space, b.is_view) && a.ranges.iter().any(overlap)
    };
    let is_read = |a: &&Access| a.way == AccessKind::Reads;
    accesses.iter().filter(is_read).any(|a| accesses.iter().any(|b| b.way.writes() && meet(a, b)))
}

/// One of two accesses that race.
#[derive(Clone, Debug)]
pub struct Side {
    pub process: usize,
    pub pipe: Pipe,
    pub op: OpId,
    pub turns: Iterations,
    pub access: Access,
    pub start: i64,
}

/// Two of them; the first one in program order is first, or the one that writes.
#[derive(Clone, Debug)]
pub struct Race {
    pub x: Side,
    pub y: Side,
    pub conflict: Conflict,
    /// The number of events between them, within one process.
    pub apart: usize,
}

/// All memories of a block.
#[derive(Debug, Default)]
pub struct Memory {
    variants: Vec<InstVariant>,
    known: FxHashMap<Box<[Access]>, u32>,
    shadows: Vec<Shadow>,
    spaces: FxHashMap<Space, usize>,
    cells: Cells<Entry>,
    /// The pipes of phases that another one follows.
    phases: FxHashMap<u32, Pipe>,
    /// By process: whether its order is left to the assembler.
    automatic: Vec<bool>,
    reported: Pairs,
    /// By process: the last place in program order of what has happened, one more.
    latest: Vec<u32>,
    between: FxHashSet<(OpId, OpId)>,
    noted: FxHashSet<OpId>,
    pub races: Vec<Race>,
    /// Writes of the same bytes by the same instruction on both vector cores.
    pub same: Vec<Race>,
}

/// An access that races with an event: the recorded entry, and the operand of the event.
#[derive(Clone)]
struct Candidate {
    entry: Entry,
    own: u8,
    conflict: Conflict,
}

impl Memory {
    pub fn new(automatic: Vec<bool>) -> Memory {
        Memory { latest: vec![0; automatic.len()], automatic, ..Memory::default() }
    }

    /// The number of an instruction with these operands.
    pub fn number(&mut self, accesses: Vec<Access>) -> u32 {
        if let Some(known) = self.known.get(accesses.as_slice()) {
            return *known;
        }
        let accesses: Box<[Access]> = accesses.into();
        let found = vec![CellsOfAccess::default(); accesses.len()].into();
        let in_place = is_in_place(&accesses);
        self.variants.push(InstVariant { accesses: accesses.clone(), found, in_place });
        let number = self.variants.len() as u32 - 1;
        self.known.insert(accesses, number);
        number
    }

    /// The number of the accesses of a phase that another one follows.
    pub fn phase(&mut self, accesses: Vec<Access>, pipe: Pipe) -> u32 {
        let number = self.number(accesses);
        self.phases.insert(number, pipe);
        number
    }

    /// Whether an instruction reads.
    pub fn reads(&self, what: u32) -> bool {
        self.variants.get(what as usize).is_some_and(|w| w.accesses.iter().any(|a| a.way == AccessKind::Reads))
    }

    /// How many bytes from the start of its view on an instruction touches.
    pub fn reach(&self, what: u32) -> u64 {
        let accesses = self.variants.get(what as usize).into_iter().flat_map(|w| w.accesses.iter());
        let ends = accesses.filter(|a| a.is_view).filter_map(|a| a.ranges.last());
        ends.map(|range| u64::try_from(range.1).unwrap_or(0)).max().unwrap_or(0)
    }

    /// An event touches its bytes.
    pub fn touch<const W: usize>(&mut self, event: &Touching<'_, W>) {
        self.locate(event.done);
        let several = self.automatic.len() > 1;
        let is_next = self.latest.get(event.process).is_some_and(|latest| event.point.index >= *latest);
        if is_next && let Some(latest) = self.latest.get_mut(event.process) {
            *latest = event.point.index + 1;
        }
        if is_next
            && !several
            && !self.races.is_empty()
            && let Some(raced) = self.told(event)
        {
            self.meet_all(event, &[HistoryUpdate::Stays(&raced)], |_, _, _| ());
            return;
        }
        let mut candidates: SmallVec<[Candidate; 2]> = SmallVec::new();
        let found =
            |entry: &mut Entry, own, conflict| candidates.push(Candidate { entry: entry.clone(), own, conflict });
        let in_place = self.variants.get(event.done.what as usize).is_some_and(|what| what.in_place);
        let acts: &[HistoryUpdate<'_>] =
            if in_place { &[HistoryUpdate::Meets, HistoryUpdate::Stays(&[])] } else { &[HistoryUpdate::MeetsAndStays] };
        self.meet_all(event, acts, found);
        if !candidates.is_empty() {
            self.judge(event, candidates);
        }
    }

    /// Puts the accesses of shared memory into the log for the order between ranks.
    pub fn log<const W: usize>(
        &self,
        log: &mut SharedLog,
        (process, at): (usize, (Lane, u32)),
        clock: &Clock<W>,
        point: &Point,
        (done, now, pipe): (Done, u64, Option<Pipe>),
    ) {
        for access in self.accesses(done) {
            let Space::Shared(region) = access.space else { continue };
            let own = SharedAccess {
                at: SharedLog::stamp(process, at, clock, point, now),
                end: Some(at),
                pipe: pipe.unwrap_or(Pipe::S),
                way: access.way,
                region,
                ranges: if access.shift(done.start) == 0 {
                    access.ranges.clone()
                } else {
                    access.bytes(done.start).into_iter().collect()
                },
                is_scalar: pipe == Some(Pipe::S),
                copy: None,
            };
            log.accesses.push(own);
        }
    }

    /// Finds the cells of an instruction's operands, where they may be others than the last time.
    #[inline]
    fn locate(&mut self, Done { what, start }: Done) {
        let Some(InstVariant { accesses, found, .. }) = self.variants.get_mut(what as usize) else { return };
        // One operand may cut the cells of another one; the second time nothing is cut.
        loop {
            let mut is_cut = false;
            for (n, (access, found)) in accesses.iter().zip(found.iter_mut()).enumerate() {
                if found.shadow == 0 {
                    let next = self.shadows.len() + 1;
                    found.shadow = *self.spaces.entry(access.space).or_insert(next);
                    if found.shadow == next {
                        self.shadows.push(Shadow::new());
                    }
                }
                let Some(shadow) = self.shadows.get_mut(found.shadow - 1) else { continue };
                let by = access.shift(start);
                if found.stamp == shadow.stamp && found.start == by {
                    continue;
                }
                let before = shadow.stamp;
                let bytes =
                    access.ranges.iter().map(|(from, to)| ((from + by).max(0) as usize, (to + by).max(0) as usize));
                found.cells = shadow.locate(&mut self.cells, bytes);
                (found.stamp, found.start) = (shadow.stamp, by);
                is_cut |= n > 0 && shadow.stamp != before;
            }
            if !is_cut {
                return;
            }
        }
    }

    /// Whom an event that is next in program order races with, by their places there and sorted, if all of that was reported:
    /// then it is only noted.
    fn told<const W: usize>(&self, event: &Touching<'_, W>) -> Option<SmallVec<[u32; 32]>> {
        let mut raced = SmallVec::new();
        let Some(InstVariant { accesses, found, .. }) = self.variants.get(event.done.what as usize) else {
            return Some(raced);
        };
        if self.automatic[event.process] || self.races.len() > MAX_RACES {
            return Some(raced);
        }
        let row = self.reported.row(event.point.op);
        for (access, found) in accesses.iter().zip(found) {
            for entry in found.cells.iter().flat_map(|cell| self.cells.kept(*cell)) {
                let races = entry.index != event.point.index
                    && entry.way.conflict(access.way).is_some()
                    && !event.clock.has(entry.lane, entry.position);
                if races && !row.is_some_and(|row| row.contains(entry.op)) {
                    return None;
                }
                if races {
                    raced.push(entry.index);
                }
            }
        }
        raced.sort_unstable();
        Some(raced)
    }

    /// An event meets what is kept of all its cells, and tells of those that race with it.
    #[inline]
    fn meet_all<const W: usize>(
        &mut self,
        event: &Touching<'_, W>,
        acts: &[HistoryUpdate<'_>],
        mut race: impl FnMut(&mut Entry, u8, Conflict),
    ) {
        let Some(InstVariant { accesses, found, .. }) = self.variants.get(event.done.what as usize) else { return };
        let (several, automatic) = (self.automatic.len() > 1, self.automatic[event.process]);
        for act in acts {
            for (n, (access, found)) in accesses.iter().zip(found).enumerate() {
                for cell in &found.cells {
                    let Some(entries) = self.cells.entries(*cell) else { continue };
                    meet(entries, event, (access, n as u8), *act, (several, automatic), &mut race);
                }
            }
        }
    }

    fn side(
        &self,
        process: usize,
        lane: Lane,
        (op, turns): (OpId, Iterations),
        (done, access): (Done, u8),
    ) -> Option<Side> {
        let access = self.variants.get(done.what as usize)?.accesses.get(usize::from(access))?.clone();
        let of_lane = Pipe::ALL.iter().find(|pipe| **pipe as usize == usize::from(lane) % LANES);
        let pipe = of_lane.or_else(|| self.phases.get(&done.what)).copied()?;
        Some(Side { process, pipe, op, turns, access, start: done.start })
    }

    /// Chooses the races with an event that are worth reporting.
    #[cold]
    fn judge<const W: usize>(&mut self, event: &Touching<'_, W>, mut all: SmallVec<[Candidate; 2]>) {
        if self.automatic.len() > 1 {
            // Memory of all ranks is looked at with the signals that order it.
            let is_shared = |c: &&Candidate| {
                let access = self.accesses(event.done).get(usize::from(c.own));
                access.is_some_and(|access| matches!(access.space, Space::Shared(_)))
            };
            let others: SmallVec<[Candidate; 2]> =
                all.iter().filter(|c| c.entry.process() != event.process && !is_shared(c)).cloned().collect();
            for candidate in &others {
                self.tell_between(event, candidate);
            }
            all.retain(|c| c.entry.process() == event.process);
        }
        // The first iterations first; of one instruction first what the rules list first.
        let mut within = all;
        within.sort_by_key(|c| (c.entry.index, c.conflict));
        for n in 0..within.len() {
            let c = &within[n];
            if n > 0 && within[n - 1].entry.index == c.entry.index {
                continue;
            }
            // An event that waited for a later set happens after its successors in program order.
            let is_first = c.entry.index < event.point.index;
            let pair = if is_first { (c.entry.op, event.point.op) } else { (event.point.op, c.entry.op) };
            if self.reported.contains(pair) || self.races.len() > MAX_RACES || self.is_left_out(event, c, &within) {
                continue;
            }
            let x = self.side(event.process, c.entry.lane, (c.entry.op, c.entry.turns), (c.entry.done, c.entry.access));
            let y = self.side(event.process, event.lane, (event.point.op, event.point.turns), (event.done, c.own));
            let (Some(x), Some(y)) = (x, y) else { continue };
            let apart = c.entry.index.abs_diff(event.point.index) as usize;
            let race = match (is_first, c.conflict) {
                (true, conflict) => Race { x, y, conflict, apart },
                (false, Conflict::Raw) => Race { x: y, y: x, conflict: Conflict::War, apart },
                (false, Conflict::War) => Race { x: y, y: x, conflict: Conflict::Raw, apart },
                (false, conflict) => Race { x: y, y: x, conflict, apart },
            };
            self.reported.insert(pair);
            self.races.push(race);
        }
        self.mark(event, within.iter().map(|c| c.entry.index).collect());
    }

    /// Notes with all that is kept of them that some raced with this event, wherever they touched its bytes. They are given by
    /// their places in program order.
    fn mark<const W: usize>(&mut self, event: &Touching<'_, W>, mut raced: SmallVec<[u32; 32]>) {
        let Some(InstVariant { found, .. }) = self.variants.get(event.done.what as usize).filter(|_| !raced.is_empty())
        else {
            return;
        };
        let mut is_sorted = false;
        for cell in found.iter().flat_map(|found| &found.cells) {
            let Some(entries) = self.cells.entries(*cell) else { continue };
            let unmarked = |e: &&mut Entry| e.process() == event.process && !e.is_marked(event);
            for entry in entries.iter_mut().filter(unmarked) {
                if !std::mem::replace(&mut is_sorted, true) {
                    raced.sort_unstable();
                }
                if raced.binary_search(&entry.index).is_ok() {
                    entry.mark(event);
                }
            }
        }
    }

    /// Whether an event between the two races with one of them and is ordered with the other.
    fn is_left_out<const W: usize>(&self, event: &Touching<'_, W>, x: &Candidate, all: &[Candidate]) -> bool {
        let own = event.clock.of(event.process);
        let is_before = |raced: &[u32; LANES]| raced.iter().zip(&own).any(|(first, done)| *first > 0 && done >= first);
        let same = |c: &&Candidate| c.entry.index == x.entry.index;
        if all.iter().filter(same).any(|c| is_before(&c.entry.raced)) {
            return true;
        }
        let (low, high) = (x.entry.index.min(event.point.index), x.entry.index.max(event.point.index));
        let is_between = |z: &&Candidate| {
            z.entry.index > low
                && z.entry.index < high
                && z.entry.clock[usize::from(x.entry.lane) % LANES] > x.entry.position
        };
        let mut nearer = all.iter().filter(is_between).peekable();
        nearer.peek().is_some() && {
            let shared = self.shared(x.entry.done, event.done);
            nearer.any(|z| self.touches(z.entry.done, &shared))
        }
    }

    fn accesses(&self, done: Done) -> &[Access] {
        self.variants.get(done.what as usize).map_or(&[], |what| &what.accesses)
    }

    /// The bytes in which two instructions conflict.
    fn shared(&self, x: Done, y: Done) -> Vec<(Space, i64, i64)> {
        let mut all = Vec::new();
        for a in self.accesses(x) {
            for b in self.accesses(y).iter().filter(|b| b.space == a.space && a.way.conflict(b.way).is_some()) {
                let (a_bytes, b_bytes) = (a.bytes(x.start), b.bytes(y.start));
                for (from, to) in &a_bytes {
                    for (first, end) in b_bytes.iter().filter(|(first, end)| first < to && from < end) {
                        all.push((a.space, *from.max(first), *to.min(end)));
                    }
                }
            }
        }
        all
    }

    fn touches(&self, z: Done, bytes: &[(Space, i64, i64)]) -> bool {
        self.accesses(z).iter().any(|access| {
            let own = access.bytes(z.start);
            let meets = |(space, from, to): &(Space, i64, i64)| {
                *space == access.space && own.iter().any(|(first, end)| first < to && from < end)
            };
            bytes.iter().any(meets)
        })
    }

    /// Two processes: there is no program order, and no nearest one.
    fn tell_between<const W: usize>(&mut self, event: &Touching<'_, W>, c: &Candidate) {
        let (e, y_op) = (&c.entry, event.point.op);
        let both_vector = e.process() > 0 && event.process > 0;
        let own = self.accesses(event.done).get(usize::from(c.own));
        let other = self.accesses(e.done).get(usize::from(e.access));
        let starts = |access: &Access| access.shift(e.done.start) == access.shift(event.done.start);
        let is_same_place = own == other && own.is_some_and(starts);
        let is_same_way = both_vector && e.op == y_op && c.conflict == Conflict::Waw && is_same_place;
        let role = own.map(|access| access.role);
        if is_same_way && (e.turns == event.point.turns || e.first.0 == event.point.turns) {
            // FifoSlots that both vector cores push whole tiles into hold the same (isa/structure.md 6).
            if role != Some(Role::Pipe) && self.noted.insert(y_op) {
                let x = self.side(e.process(), e.lane, (e.op, e.turns), (e.done, e.access));
                let y = self.side(event.process, event.lane, (y_op, event.point.turns), (event.done, c.own));
                self.same.extend(x.zip(y).map(|(x, y)| Race { x, y, conflict: c.conflict, apart: 0 }));
            }
            if e.turns == event.point.turns {
                return;
            }
        }
        let pair = (e.op.min(y_op), e.op.max(y_op));
        if self.races.len() > MAX_RACES || !self.between.insert(pair) {
            return;
        }
        // The first round of all, where nothing orders that one either.
        let is_same_first = is_same_way && e.first.0 == event.point.turns;
        let is_ordered = event.clock.has(e.lane, e.first.1);
        let turns = if is_ordered || is_same_first { e.turns } else { e.first.0 };
        let x = self.side(e.process(), e.lane, (e.op, turns), (e.done, e.access));
        let y = self.side(event.process, event.lane, (y_op, event.point.turns), (event.done, c.own));
        let (Some(x), Some(y)) = (x, y) else { return };
        let race = match c.conflict {
            Conflict::Raw => Race { x, y, conflict: Conflict::Raw, apart: usize::MAX },
            Conflict::War => Race { x: y, y: x, conflict: Conflict::Raw, apart: usize::MAX },
            Conflict::Waw if x.process > y.process => Race { x: y, y: x, conflict: c.conflict, apart: usize::MAX },
            Conflict::Waw => Race { x, y, conflict: c.conflict, apart: usize::MAX },
        };
        self.races.push(race);
    }
}
