//! Dependences: what must be done before what, because both touch the same bytes and one writes them (sync.md 7.1).

use crate::atoms::Atoms;
use crate::trace::{Access, Kind, Sets, Trace};
use smallvec::SmallVec;
use tessera_isa::ops::Pipe;

/// What an event waits for.
#[derive(Clone, Copy, Debug)]
pub struct Dep {
    pub x: u32,
    /// What the first and the second do.
    pub accesses: [Access; 2],
}

/// By event: what it must come after, from the nearest to the farthest. What is implied through the last write of a
/// byte is left out.
pub fn deps(trace: &Trace, sets: &Sets) -> Vec<SmallVec<[Dep; 2]>> {
    let atoms = Atoms::new(sets, trace.accesses.iter().map(|a| a.set));
    // By atom: the accesses since the last write, itself first.
    let mut since: Vec<Vec<(u32, Access)>> = vec![Vec::new(); atoms.count];
    let mut all: Vec<SmallVec<[Dep; 2]>> = vec![SmallVec::new(); trace.events.len()];
    for (y, deps) in all.iter_mut().enumerate() {
        for access in trace.accesses_of(y) {
            for atom in atoms.of(access.set) {
                for (x, other) in &since[*atom as usize] {
                    let conflict = (other.writes || access.writes) && !(other.adds && access.adds);
                    if conflict && !deps.iter().any(|d| d.x == *x) {
                        deps.push(Dep { x: *x, accesses: [*other, *access] });
                    }
                }
            }
        }
        deps.sort_by_key(|d| std::cmp::Reverse(d.x));
        for access in trace.accesses_of(y) {
            for atom in atoms.of(access.set) {
                let list = &mut since[*atom as usize];
                // Sums are not ordered among each other: what was before them stays.
                if access.writes && !access.adds {
                    list.clear();
                }
                if list.last().is_none_or(|(x, last)| (*x as usize, last.writes) != (y, access.writes)) {
                    list.push((y as u32, *access));
                }
            }
        }
    }
    all
}

/// By process and event: what tokens between cores must come after, and what must come after them. A token stands for what
/// its core did with the bytes that another one touches, too (sync.md 3 and 5): all of that is done before it is given,
/// and starts only after it is taken. What is on the pipe of the token is so anyway.
pub fn tokens(traces: &[Trace], sets: &Sets) -> Vec<Vec<SmallVec<[Dep; 2]>>> {
    let atoms = Atoms::new(sets, traces.iter().flat_map(|t| &t.accesses).map(|a| a.set));
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
                    // Whoever is at the other end does the opposite.
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
