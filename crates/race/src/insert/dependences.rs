//! Dependences: what must be done before what, because both touch the same bytes and one writes them (sync.md 7.1).

use crate::byte_partition::BytePartition;
use crate::linear_expr::Terms;
use crate::trace::{Access, Kind, Root, Sets, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_isa::ops::Pipe;

/// A dependence: the event that another one must follow.
#[derive(Clone, Copy, Debug)]
pub struct Dep {
    pub x: u32,
    /// The kinds of the first and the second access.
    pub accesses: [Access; 2],
    /// Whether it is not known that the two touch the same bytes.
    pub may_meet: bool,
}

/// The accesses of an atom since the last write, itself first, and the positions of those that write.
#[derive(Clone, Debug, Default)]
struct LastAccess {
    all: Vec<(u32, Access)>,
    writes: Vec<u32>,
}

impl LastAccess {
    /// The accesses that a new access must follow. Reads do not wait for reads, of which there may be many.
    fn conflicting(&self, access: &Access, mut see: impl FnMut(u32, &Access)) {
        let mut look = |(x, other): &(u32, Access)| {
            if !(other.adds && access.adds) {
                see(*x, other);
            }
        };
        match access.writes {
            true => self.all.iter().for_each(look),
            false => self.writes.iter().for_each(|at| look(&self.all[*at as usize])),
        }
    }

    fn push(&mut self, y: u32, access: &Access) {
        // Sums are not ordered among each other: what was before them stays.
        if access.writes && !access.adds {
            self.all.clear();
            self.writes.clear();
        }
        if self.all.last().is_none_or(|(x, last)| (*x, last.writes) != (y, access.writes)) {
            if access.writes {
                self.writes.push(self.all.len() as u32);
            }
            self.all.push((y, *access));
        }
    }
}

/// Accesses of one root whose symbols differ, so that their bytes cannot be compared: they are taken to meet. The set or
/// barrier that orders the latest event of a pipe orders everything before it on that pipe, too.
struct Incomparable {
    /// The roots with accesses of several forms, and their accesses by pipe and by whether they write.
    roots: FxHashMap<Root, FxHashMap<(Option<Pipe>, bool), Latest>>,
}

/// The latest access, and the latest whose form is another one.
type Latest = [Option<(u32, Access)>; 2];

impl Incomparable {
    fn new(trace: &Trace, sets: &Sets) -> Self {
        let mut terms: FxHashMap<Root, FxHashSet<&Terms>> = FxHashMap::default();
        for access in &trace.accesses {
            let set = sets.get(access.set);
            terms.entry(set.root).or_default().insert(&set.terms);
        }
        let several = terms.into_iter().filter(|(_, terms)| terms.len() > 1);
        Incomparable { roots: several.map(|(root, _)| (root, FxHashMap::default())).collect() }
    }

    fn conflicting(&self, trace: &Trace, sets: &Sets, access: &Access, mut see: impl FnMut(u32, &Access)) {
        let set = sets.get(access.set);
        let Some(lists) = self.roots.get(&set.root) else { return };
        for pipe in Pipe::ALL.iter().map(|pipe| Some(*pipe)).chain([None]) {
            for writes in [true, false].into_iter().filter(|writes| *writes || access.writes) {
                let latest = lists.get(&(pipe, writes)).into_iter().flatten().flatten();
                let other = latest.into_iter().find(|(_, other)| sets.get(other.set).terms != set.terms);
                if let Some((x, other)) = other.filter(|(_, other)| !(other.adds && access.adds)) {
                    debug_assert_eq!(trace.events[*x as usize].pipe, pipe);
                    see(*x, other);
                }
            }
        }
    }

    fn push(&mut self, trace: &Trace, sets: &Sets, y: u32, access: &Access) {
        let set = sets.get(access.set);
        let Some(lists) = self.roots.get_mut(&set.root) else { return };
        let [latest, other] = lists.entry((trace.events[y as usize].pipe, access.writes)).or_default();
        if latest.is_some_and(|(_, access)| sets.get(access.set).terms != set.terms) {
            *other = *latest;
        }
        *latest = Some((y, *access));
    }
}

/// By event: the events that it must follow, from the nearest to the farthest. Dependences that the last write of a
/// byte implies are left out.
pub fn deps(trace: &Trace, sets: &Sets) -> Vec<SmallVec<[Dep; 2]>> {
    let atoms = BytePartition::new(sets, trace.accesses.iter().map(|a| a.set));
    let mut since: Vec<LastAccess> = vec![LastAccess::default(); atoms.count];
    let mut unknown = Incomparable::new(trace, sets);
    // By event: the one for which it was last found.
    let mut found = vec![u32::MAX; trace.events.len()];
    let mut all: Vec<SmallVec<[Dep; 2]>> = vec![SmallVec::new(); trace.events.len()];
    for (y, deps) in all.iter_mut().enumerate() {
        for access in trace.accesses_of(y) {
            for atom in atoms.of(access.set) {
                since[*atom as usize].conflicting(access, |x, other| {
                    if found[x as usize] != y as u32 {
                        found[x as usize] = y as u32;
                        let may_meet = !(other.exact && access.exact);
                        deps.push(Dep { x, accesses: [*other, *access], may_meet });
                    }
                });
            }
        }
        for access in trace.accesses_of(y) {
            unknown.conflicting(trace, sets, access, |x, other| {
                if found[x as usize] != y as u32 {
                    found[x as usize] = y as u32;
                    deps.push(Dep { x, accesses: [*other, *access], may_meet: true });
                }
            });
        }
        deps.sort_by_key(|d| std::cmp::Reverse(d.x));
        for access in trace.accesses_of(y) {
            unknown.push(trace, sets, y as u32, access);
            for atom in atoms.of(access.set) {
                since[*atom as usize].push(y as u32, access);
            }
        }
    }
    all
}

/// By process and event: the events that tokens between cores must follow, and those that must follow them. A token
/// also stands for accesses of its core to bytes that another core accesses (sync.md 3 and 5): they are done before
/// the token is given, and start only after it is taken. Accesses on the pipe of the token are ordered anyway.
pub fn tokens(traces: &[Trace], sets: &Sets) -> Vec<Vec<SmallVec<[Dep; 2]>>> {
    let atoms = BytePartition::new(sets, traces.iter().flat_map(|t| &t.accesses).map(|a| a.set));
    let mut users = vec![(0u8, false); atoms.count];
    for (process, trace) in traces.iter().enumerate() {
        for access in &trace.accesses {
            for atom in atoms.of(access.set) {
                let (by, written) = &mut users[*atom as usize];
                *by |= 1 << process;
                *written |= access.writes;
            }
        }
    }
    let is_shared = |access: &&Access| {
        atoms.of(access.set).iter().any(|a| users[*a as usize].1 && users[*a as usize].0.count_ones() > 1)
    };
    let of = |trace: &Trace| {
        let mut last: [Option<Dep>; Pipe::ALL.len()] = Default::default();
        let mut taken: [Option<u32>; Pipe::ALL.len()] = Default::default();
        let mut all: Vec<SmallVec<[Dep; 2]>> = vec![SmallVec::new(); trace.events.len()];
        for (n, event) in trace.events.iter().enumerate() {
            let Some(pipe) = event.pipe else { continue };
            let elsewhere = |p: &usize| *p != pipe as usize;
            let pipes = (0..Pipe::ALL.len()).filter(elsewhere);
            match event.kind {
                Kind::Send(_) => all[n].extend(pipes.filter_map(|p| last[p])),
                Kind::Receive(_) => taken[pipe as usize] = Some(n as u32),
                _ => {
                    let Some(access) = trace.accesses_of(n).iter().find(is_shared) else { continue };
                    // The other end does the opposite.
                    let other = Access { writes: !access.writes, ..*access };
                    let dep = |x: u32| Dep { x, accesses: [other, *access], may_meet: false };
                    all[n].extend(pipes.filter_map(|p| taken[p]).map(dep));
                    last[pipe as usize] = Some(Dep { x: n as u32, accesses: [*access, other], may_meet: false });
                }
            }
        }
        all
    };
    traces.iter().map(of).collect()
}
