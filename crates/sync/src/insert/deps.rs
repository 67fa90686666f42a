//! Dependences: what must be done before what, because both touch the same bytes and one writes them (sync.md 7.1).

use crate::atoms::Atoms;
use crate::trace::{Access, Sets, Trace};
use smallvec::SmallVec;

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
    for y in 0..trace.events.len() {
        let deps = &mut all[y];
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
