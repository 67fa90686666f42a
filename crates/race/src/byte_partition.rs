//! Sets of bytes cut into atoms: two sets share bytes exactly if they share an atom.

use crate::trace::{Bytes, SetId, Sets};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The number of an atom.
pub type Atom = u32;

/// The atoms of the sets of some accesses.
#[derive(Debug, Default)]
pub struct BytePartition {
    of: FxHashMap<SetId, SmallVec<[Atom; 2]>>,
    pub count: usize,
    /// By atom: its bytes.
    pub sizes: Vec<u64>,
}

impl BytePartition {
    /// Cuts these sets.
    pub fn new(sets: &Sets, used: impl IntoIterator<Item = SetId>) -> BytePartition {
        let mut atoms = BytePartition::default();
        // Only sets of one root with the same symbols can be compared.
        let mut groups: FxHashMap<_, Vec<SetId>> = FxHashMap::default();
        let mut used: Vec<SetId> = used.into_iter().collect();
        used.sort_unstable();
        used.dedup();
        for id in used {
            let Bytes { root, terms, .. } = sets.get(id);
            groups.entry((*root, terms.clone())).or_default().push(id);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_unstable();
        for group in groups {
            atoms.cut(sets, &group);
        }
        atoms
    }

    fn cut(&mut self, sets: &Sets, group: &[SetId]) {
        let mut edges: Vec<(i64, bool, SetId)> = Vec::new();
        for id in group {
            for (from, to) in &sets.get(*id).ranges {
                edges.push((*from, true, *id));
                edges.push((*to, false, *id));
            }
            self.of.entry(*id).or_default();
        }
        edges.sort_unstable();
        let mut known: FxHashMap<SmallVec<[SetId; 4]>, Atom> = FxHashMap::default();
        let mut active: SmallVec<[SetId; 4]> = SmallVec::new();
        let mut n = 0;
        while n < edges.len() {
            let at = edges[n].0;
            while let Some((_, begins, id)) = edges.get(n).filter(|e| e.0 == at) {
                match (begins, active.binary_search(id)) {
                    (true, Err(place)) => active.insert(place, *id),
                    (false, Ok(place)) => {
                        active.remove(place);
                    }
                    _ => {}
                }
                n += 1;
            }
            let Some(next) = edges.get(n).filter(|_| !active.is_empty()) else { continue };
            let bytes = next.0.abs_diff(at);
            if let Some(atom) = known.get(&active) {
                self.sizes[*atom as usize] += bytes;
                continue;
            }
            let atom = self.count as Atom;
            self.count += 1;
            self.sizes.push(bytes);
            known.insert(active.clone(), atom);
            for id in &active {
                self.of.entry(*id).or_default().push(atom);
            }
        }
    }

    /// The atoms of a set, sorted.
    pub fn of(&self, set: SetId) -> &[Atom] {
        self.of.get(&set).map_or(&[], |atoms| atoms)
    }

    /// The atoms that two sets share.
    pub fn shared<'a>(&'a self, a: SetId, b: SetId) -> impl Iterator<Item = Atom> + 'a {
        let other = self.of(b);
        self.of(a).iter().copied().filter(move |atom| other.binary_search(atom).is_ok())
    }
}
