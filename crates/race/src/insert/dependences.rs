//! Dependences: what must be done before what, because both touch the same bytes and one writes them (sync.md 7.1).

use crate::byte_partition::BytePartition;
use crate::trace::{Access, Kind, Sets, Trace};
use smallvec::SmallVec;
use tessera_isa::ops::Pipe;

/// A dependence: the event that another one must follow.
#[derive(Clone, Copy, Debug)]
pub struct Dep {
    pub x: u32,
    /// The kinds of the first and the second access.
    pub accesses: [Access; 2],
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

/// By event: the events that it must follow, from the nearest to the farthest. Dependences that the last write of a
/// byte implies are left out.
pub fn deps(trace: &Trace, sets: &Sets) -> Vec<SmallVec<[Dep; 2]>> {
    let atoms = BytePartition::new(sets, trace.accesses.iter().map(|a| a.set));
    let mut since: Vec<LastAccess> = vec![LastAccess::default(); atoms.count];
    // By event: the one for which it was last found.
    let mut found = vec![u32::MAX; trace.events.len()];
    let mut all: Vec<SmallVec<[Dep; 2]>> = vec![SmallVec::new(); trace.events.len()];
    for (y, deps) in all.iter_mut().enumerate() {
        for access in trace.accesses_of(y) {
            for atom in atoms.of(access.set) {
                since[*atom as usize].conflicting(access, |x, other| {
                    if found[x as usize] != y as u32 {
                        found[x as usize] = y as u32;
                        deps.push(Dep { x, accesses: [*other, *access] });
                    }
                });
            }
        }
        deps.sort_by_key(|d| std::cmp::Reverse(d.x));
        for access in trace.accesses_of(y) {
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
                    let dep = |x: u32| Dep { x, accesses: [other, *access] };
                    all[n].extend(pipes.filter_map(|p| taken[p]).map(dep));
                    last[pipe as usize] = Some(Dep { x: n as u32, accesses: [*access, other] });
                }
            }
        }
        all
    };
    traces.iter().map(of).collect()
}
