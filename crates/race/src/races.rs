//! Races (sync.md 4): accesses that conflict and that nothing orders.

use crate::byte_partition::{Atom, BytePartition};
use crate::happens_before::{HappensBefore, Node};
use crate::trace::{Access, Sets, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;

/// More pairs than this are not compared.
pub(crate) const MAX_PAIRS: u64 = 10_000_000;

/// The limit of reported races.
pub(crate) const MAX_RACES: usize = 1000;

/// The number of earlier iterations that are searched for the first occurrence of a race.
const MAX_EARLIER: usize = 16;

/// The conflict between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Conflict {
    /// The first writes, the second reads.
    Raw,
    /// The first reads, the second writes.
    War,
    /// Both write.
    Waw,
}

impl Conflict {
    /// The rule that a race of this kind breaks.
    pub fn rule(self) -> &'static str {
        match self {
            Conflict::Raw => "race-raw",
            Conflict::War => "race-war",
            Conflict::Waw => "race-waw",
        }
    }
}

/// One of two accesses.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub process: usize,
    pub event: usize,
    pub access: Access,
}

/// Two accesses that race. In one process the first one in program order is first; else the one that writes.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    pub x: Side,
    pub y: Side,
    pub conflict: Conflict,
}

/// The races of one process, or between processes.
#[derive(Debug, Default)]
pub struct RaceFindings {
    /// One for each pair of program points, in the order of the second one.
    pub races: Vec<Race>,
    /// Worth a note and no race: both vector cores write the same bytes with the same instruction.
    pub same: Vec<Race>,
    /// Accesses that may share bytes, for all that is known, and that nothing orders: process and event of each.
    pub maybe: Option<[(usize, usize); 2]>,
    /// Whether there were too many pairs to compare all of them.
    pub cut_short: bool,
}

/// An access of an atom.
#[derive(Clone, Copy)]
struct Entry {
    event: u32,
    access: Access,
}

/// The conflict of two accesses, if they conflict.
pub(crate) fn conflict(x: &Access, y: &Access) -> Option<Conflict> {
    match (x.writes, y.writes) {
        (false, false) => None,
        (true, true) if x.adds && y.adds => None,
        (true, true) => Some(Conflict::Waw),
        (true, false) => Some(Conflict::Raw),
        (false, true) => Some(Conflict::War),
    }
}

struct Search<'a> {
    trace: &'a Trace,
    order: &'a HappensBefore,
    process: usize,
    first: Node,
    atoms: BytePartition,
    /// By atom: its accesses in program order, and the positions of those that write.
    lists: Vec<(Vec<Entry>, Vec<u32>)>,
    pairs: u64,
}

/// The nearest races of a process.
pub fn find(trace: &Trace, order: &HappensBefore, process: usize, sets: &Sets) -> RaceFindings {
    let used = trace.accesses.iter().map(|a| a.set);
    let atoms = BytePartition::new(sets, used);
    let lists = vec![Default::default(); atoms.count];
    let mut search = Search { trace, order, process, first: order.first[process], atoms, lists, pairs: 0 };
    let mut found = search.run();
    if found.maybe.is_none() {
        found.maybe = maybe(trace, order, order.first[process], sets).map(|pair| pair.map(|event| (process, event)));
    }
    found
}

impl Search<'_> {
    fn ordered(&self, x: u32, y: u32) -> bool {
        self.order.ordered(self.first + x as usize, self.first + y as usize)
    }

    fn precedes(&self, x: u32, y: u32) -> bool {
        self.order.precedes(self.first + x as usize, self.first + y as usize)
    }

    fn run(&mut self) -> RaceFindings {
        let mut found = RaceFindings::default();
        let mut reported: FxHashSet<(OpId, OpId)> = FxHashSet::default();
        for y in 0..self.trace.events.len() {
            let accesses = self.trace.accesses_of(y);
            let mut candidates: SmallVec<[(u32, Access, Access); 8]> = SmallVec::new();
            for access in accesses {
                for n in 0..self.atoms.of(access.set).len() {
                    let atom = self.atoms.of(access.set)[n];
                    self.scan(y as u32, access, atom, &reported, &mut candidates, &mut found);
                }
            }
            // The nearest first; of one instruction first what the rules list first.
            candidates.sort_by_key(|(x, a, b)| (std::cmp::Reverse(*x), conflict(a, b)));
            candidates.dedup_by_key(|(x, ..)| *x);
            for nearest in &candidates {
                let op = self.trace.events[nearest.0 as usize].op;
                let pair = (op, self.trace.events[y].op);
                if !reported.contains(&pair) && !self.is_left_out(nearest.0, y as u32) {
                    reported.insert(pair);
                    // Of one program point the first iteration is told.
                    let same = candidates.iter().rev().filter(|c| self.trace.events[c.0 as usize].op == op);
                    let earlier = same.take_while(|c| c.0 < nearest.0).take(MAX_EARLIER);
                    let earlier: SmallVec<[_; 4]> = earlier.copied().collect();
                    let first = earlier.into_iter().find(|c| !self.is_left_out(c.0, y as u32));
                    let (x, a, b) = first.unwrap_or(*nearest);
                    if let Some(conflict) = conflict(&a, &b) {
                        let side = |event: usize, access| Side { process: self.process, event, access };
                        found.races.push(Race { x: side(x as usize, a), y: side(y, b), conflict });
                    }
                }
            }
            for access in accesses {
                for atom in self.atoms.of(access.set) {
                    let (all, writes) = &mut self.lists[*atom as usize];
                    if access.writes {
                        writes.push(all.len() as u32);
                    }
                    all.push(Entry { event: y as u32, access: *access });
                }
            }
            if self.pairs > MAX_PAIRS || found.races.len() > MAX_RACES {
                found.cut_short = true;
                break;
            }
        }
        found
    }

    /// Finds what races with an access on an atom, from the nearest on. Beyond a write that is before it nothing is
    /// nearest: whatever races with it races with that write first.
    fn scan(
        &mut self,
        y: u32,
        access: &Access,
        atom: Atom,
        reported: &FxHashSet<(OpId, OpId)>,
        out: &mut SmallVec<[(u32, Access, Access); 8]>,
        found: &mut RaceFindings,
    ) {
        let (all, writes) = &self.lists[atom as usize];
        let by_write = writes.iter().rev().map(|n| *n as usize);
        let every = (0..all.len()).rev();
        let (mut pairs, op) = (0, self.trace.events[y as usize].op);
        let mut look = |n: usize| {
            let Entry { event: x, access: other } = all[n];
            pairs += 1;
            if x == y {
                return true;
            }
            let before = self.precedes(x, y);
            if !before && !self.precedes(y, x) && conflict(&other, access).is_some() {
                if !other.is_definite() || !access.is_definite() {
                    found.maybe = found.maybe.or(Some([x, y].map(|event| (self.process, event as usize))));
                } else if !reported.contains(&(self.trace.events[x as usize].op, op)) {
                    out.push((x, other, *access));
                }
            }
            !(before && other.writes && !other.adds && other.exact && self.order.forward)
        };
        match access.writes {
            true => every.take_while(|n| look(*n)).for_each(drop),
            false => by_write.take_while(|n| look(*n)).for_each(drop),
        }
        self.pairs += pairs;
    }

    /// Whether two events conflict and nothing orders them.
    fn races(&self, x: u32, y: u32) -> bool {
        !self.ordered(x, y) && {
            let (a, b) = (self.trace.accesses_of(x as usize), self.trace.accesses_of(y as usize));
            let meet = |a: &Access, b: &Access| {
                conflict(a, b).is_some()
                    && a.is_definite()
                    && b.is_definite()
                    && self.atoms.shared(a.set, b.set).next().is_some()
            };
            a.iter().any(|a| b.iter().any(|b| meet(a, b)))
        }
    }

    /// Whether an event between the two races with one of them and is ordered with the other.
    fn is_left_out(&mut self, x: u32, y: u32) -> bool {
        let (a, b) = (self.trace.accesses_of(x as usize), self.trace.accesses_of(y as usize));
        let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b))).filter(|(a, b)| conflict(a, b).is_some());
        let shared: SmallVec<[Atom; 4]> = pairs.flat_map(|(a, b)| self.atoms.shared(a.set, b.set)).collect();
        let mut seen = 0;
        let mut left_out = false;
        let mut asked: FxHashMap<u32, ()> = FxHashMap::default();
        'all: for atom in shared {
            let (all, _) = &self.lists[atom as usize];
            let from = all.partition_point(|e| e.event <= x);
            for Entry { event: z, .. } in all[from..].iter().rev() {
                seen += 1;
                if *z == y || asked.insert(*z, ()).is_some() {
                    continue;
                }
                if self.precedes(x, *z) && self.races(*z, y) || self.precedes(*z, y) && self.races(x, *z) {
                    left_out = true;
                    break 'all;
                }
            }
        }
        self.pairs += seen;
        left_out
    }
}

/// Two accesses of one root whose symbols differ, of which one writes, and that nothing orders.
fn maybe(trace: &Trace, order: &HappensBefore, first: Node, sets: &Sets) -> Option<[usize; 2]> {
    let mut terms: FxHashMap<_, FxHashSet<_>> = FxHashMap::default();
    for access in &trace.accesses {
        let set = sets.get(access.set);
        terms.entry(set.root).or_default().insert(&set.terms);
    }
    terms.retain(|_, terms| terms.len() > 1);
    if terms.is_empty() {
        return None;
    }
    let mut lists: FxHashMap<(_, Option<Pipe>), ByPipe> = FxHashMap::default();
    let mut pairs = 0;
    for (y, event) in trace.events.iter().enumerate() {
        for b in trace.accesses_of(y) {
            let set = sets.get(b.set);
            for pipe in Pipe::ALL.iter().filter(|_| terms.contains_key(&set.root)) {
                let Some(list) = lists.get(&(set.root, Some(*pipe))) else { continue };
                let found = list.unordered(b.writes, order, (first, first + y)).find(|(x, a)| {
                    pairs += 1;
                    *x != y
                        && conflict(a, b).is_some()
                        && sets.get(a.set).terms != set.terms
                        && !order.precedes(first + y, first + x)
                });
                if let Some(x) = found.map(|f| f.0).or((pairs > MAX_PAIRS).then_some(y)) {
                    return Some([x.min(y), x.max(y)]);
                }
            }
        }
        for b in trace.accesses_of(y) {
            lists.entry((sets.get(b.set).root, event.pipe)).or_default().push(y, b);
        }
    }
    None
}

/// Accesses by events of one pipe of one process, in program order, and those of them that write.
#[derive(Debug, Default)]
pub(crate) struct ByPipe {
    all: Vec<(usize, Access)>,
    writes: Vec<(usize, Access)>,
}

impl ByPipe {
    pub fn push(&mut self, event: usize, access: &Access) {
        self.all.push((event, *access));
        if access.writes {
            self.writes.push((event, *access));
        }
    }

    /// The accesses that may conflict with an access of a node and do not precede it. The first node of the process is
    /// given.
    pub fn unordered<'a>(
        &'a self,
        writes: bool,
        order: &'a HappensBefore,
        (first, y): (Node, Node),
    ) -> impl Iterator<Item = &'a (usize, Access)> {
        let list = if writes { &self.all } else { &self.writes };
        // The predecessors of an event form a prefix of its pipe.
        list[list.partition_point(|(x, _)| order.precedes(first + x, y))..].iter()
    }
}
