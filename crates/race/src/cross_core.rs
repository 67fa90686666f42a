//! Races between processes (sync.md 4): there is no program order between them, and so no nearest one.

use crate::byte_partition::BytePartition;
use crate::explore::Core;
use crate::happens_before::HappensBefore;
use crate::races::{ByPipe, Conflict, MAX_PAIRS, MAX_RACES, Race, RaceFindings, Side, conflict};
use crate::trace::{Access, Root, Sets, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::OpId;
use tessera_isa::ops::{Pipe, Role};

/// The key of recorded accesses: an atom, or a whole root for accesses that cannot be compared; and a pipe of a
/// process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Bucket {
    Atom(u32),
    Root(Root),
}

struct Search<'a> {
    traces: &'a [&'a Trace],
    order: &'a HappensBefore,
    sets: &'a Sets,
    lists: FxHashMap<(Bucket, usize, Pipe), ByPipe>,
    reported: FxHashSet<(OpId, OpId)>,
    same: FxHashSet<(OpId, OpId)>,
    found: RaceFindings,
    pairs: u64,
    /// The events of V0 that give other data than the same ones of V1, once this was asked.
    differs: Option<FxHashSet<usize>>,
}

/// The races between these processes.
pub fn find(traces: &[&Trace], order: &HappensBefore, sets: &Sets) -> RaceFindings {
    // The roots that several processes touch and one of them writes, and those of them whose accesses have several forms.
    let mut roots: FxHashMap<Root, (u8, bool, FxHashSet<_>)> = FxHashMap::default();
    for (process, trace) in traces.iter().enumerate() {
        for access in &trace.accesses {
            let set = sets.get(access.set);
            let (by, writes, terms) = roots.entry(set.root).or_default();
            *by |= 1 << process;
            *writes |= access.writes;
            terms.insert(&set.terms);
        }
    }
    roots.retain(|_, (by, writes, _)| by.count_ones() > 1 && *writes);
    if roots.is_empty() {
        return RaceFindings::default();
    }
    let is_shared = |access: &&Access| roots.contains_key(&sets.get(access.set).root);
    let used = traces.iter().flat_map(|t| &t.accesses).filter(is_shared).map(|a| a.set);
    let atoms = BytePartition::new(sets, used);
    let (lists, reported, same, found) = Default::default();
    let mut search = Search { traces, order, sets, lists, reported, same, found, pairs: 0, differs: None };
    for (process, trace) in traces.iter().enumerate() {
        for event in 0..trace.events.len() {
            for access in trace.accesses_of(event).iter().filter(is_shared) {
                let side = Side { process, event, access: *access };
                for atom in atoms.of(access.set) {
                    search.meet(Bucket::Atom(*atom), side);
                }
                let root = sets.get(access.set).root;
                if roots.get(&root).is_some_and(|(.., terms)| terms.len() > 1) {
                    search.meet(Bucket::Root(root), side);
                }
            }
            if search.pairs > MAX_PAIRS || search.found.races.len() > MAX_RACES {
                search.found.cut_short = true;
                return search.found;
            }
        }
        // Each process is compared with the processes before it.
        for (event, pipe) in trace.events.iter().map(|e| e.pipe).enumerate() {
            for access in trace.accesses_of(event).iter().filter(is_shared) {
                let Some(pipe) = pipe else { continue };
                let root = sets.get(access.set).root;
                let buckets = atoms.of(access.set).iter().map(|atom| Bucket::Atom(*atom)).chain([Bucket::Root(root)]);
                for bucket in buckets {
                    search.lists.entry((bucket, process, pipe)).or_default().push(event, access);
                }
            }
        }
    }
    search.found
}

/// Whether both vector cores write the same bytes with the same instruction in the same iteration.
fn is_same(traces: &[&Trace], race: &Race) -> bool {
    let [(x, s), (y, t)] = [race.x, race.y].map(|side| (traces[side.process].events[side.event], side));
    let turn = |side: &Side, turn: u32| &traces[side.process].turns[turn as usize];
    [s, t].iter().all(|side| matches!(traces[side.process].core, Core::Vector(_)))
        && race.conflict == Conflict::Waw
        && x.op == y.op
        && s.access.set == t.access.set
        && turn(&s, x.turn) == turn(&t, y.turn)
}

/// The events of V0 whose data differs from that of the same event of V1: it comes from other bytes of global memory.
fn differing(traces: &[&Trace], sets: &Sets) -> FxHashSet<usize> {
    let of = |n: u8| traces.iter().find(|trace| trace.core == Core::Vector(n)).copied();
    let Some((v0, v1)) = of(0).zip(of(1)) else { return FxHashSet::default() };
    let key = |trace: &Trace, n: usize| (trace.events[n].op, trace.turns[trace.events[n].turn as usize].clone());
    let twins: FxHashMap<_, usize> = (0..v1.events.len()).map(|n| (key(v1, n), n)).collect();
    let mut found = FxHashSet::default();
    // The bytes on the chip that differ.
    let mut tainted: Vec<(Root, (i64, i64))> = Vec::new();
    for n in 0..v0.events.len() {
        let Some(twin) = twins.get(&key(v0, n)) else { continue };
        let (mine, theirs) = (v0.accesses_of(n), v1.accesses_of(*twin));
        let mut reads = mine.iter().zip(theirs).filter(|(a, b)| !a.writes && !b.writes);
        let differs = reads.any(|(a, b)| {
            let bytes = sets.get(a.set);
            match bytes.root {
                Root::Buffer(_) => a.set != b.set && a.is_definite() && b.is_definite(),
                root => tainted.iter().any(|(other, (from, to))| {
                    *other == root && bytes.ranges.iter().any(|range| range.0 < *to && *from < range.1)
                }),
            }
        });
        for access in mine.iter().filter(|a| a.writes) {
            let bytes = sets.get(access.set);
            // What is written whole holds the new data only.
            let span = bytes.span();
            tainted.retain(|(root, (from, to))| *root != bytes.root || *from < span.0 || *to > span.1 || !access.exact);
            if differs {
                found.insert(n);
                tainted.push((bytes.root, span));
            }
        }
    }
    found
}

impl Search<'_> {
    fn meet(&mut self, bucket: Bucket, y: Side) {
        let node = self.order.first[y.process] + y.event;
        let op = |side: &Side| self.traces[side.process].events[side.event].op;
        for process in 0..y.process {
            let first = self.order.first[process];
            let monotone = self.traces[process].named.is_empty();
            for pipe in Pipe::ALL {
                let Some(list) = self.lists.get(&(bucket, process, *pipe)) else { continue };
                for (event, access) in list.unordered(y.access.writes, self.order, (first, node)) {
                    self.pairs += 1;
                    if self.order.precedes(node, first + event) {
                        if monotone {
                            break;
                        }
                        continue;
                    }
                    let x = Side { process, event: *event, access: *access };
                    let Some(conflict) = conflict(&x.access, &y.access) else { continue };
                    let same_terms = self.sets.get(x.access.set).terms == self.sets.get(y.access.set).terms;
                    let is_exact = x.access.is_definite() && y.access.is_definite();
                    match bucket {
                        Bucket::Root(_) if same_terms => continue,
                        Bucket::Atom(_) if is_exact => {}
                        _ => {
                            self.found.maybe.get_or_insert([x, y].map(|side| (side.process, side.event)));
                            continue;
                        }
                    }
                    // The one that writes is first.
                    let race = match conflict {
                        Conflict::War => Race { x: y, y: x, conflict: Conflict::Raw },
                        conflict => Race { x, y, conflict },
                    };
                    let pair = (op(&x).min(op(&y)), op(&x).max(op(&y)));
                    if is_same(self.traces, &race) {
                        // FifoSlots that both vector cores push whole tiles into hold the same (isa/structure.md 6).
                        if x.access.role == Role::Pipe {
                            continue;
                        }
                        let differs = self.differs.get_or_insert_with(|| differing(self.traces, self.sets));
                        if differs.contains(&x.event) {
                            if self.reported.insert(pair) {
                                self.found.races.push(race);
                            }
                        } else if self.same.insert(pair) {
                            self.found.same.push(race);
                        }
                    } else if self.reported.insert(pair) {
                        self.found.races.push(race);
                    }
                }
            }
        }
    }
}
