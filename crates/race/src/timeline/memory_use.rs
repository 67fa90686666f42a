//! Memory in use over time: a byte is in use from its write until its last read before the next write.

use crate::byte_partition::BytePartition;
use crate::trace::{Root, Sets, Trace};
use std::collections::BTreeMap;
use tessera_isa::tile::Loc;

/// A memory with the bytes in use, whenever their number changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub loc: Loc,
    /// The vector core that owns it.
    pub core: u8,
    pub used: Vec<(u64, u64)>,
}

/// From when to when an atom holds something, and who touched it last.
#[derive(Clone, Copy)]
struct Held {
    from: u64,
    to: u64,
    by: usize,
}

pub(super) fn used(trace: &Trace, sets: &Sets, start: &[u64], end: &[u64]) -> Vec<Memory> {
    let chip = |root: Root| if let Root::Chip(loc, core) = root { Some((loc, core)) } else { None };
    let on_chip = trace.accesses.iter().filter(|a| chip(sets.get(a.set).root).is_some());
    let atoms = BytePartition::new(sets, on_chip.map(|a| a.set));
    let mut held: Vec<Option<Held>> = vec![None; atoms.count];
    let mut changes: BTreeMap<(Loc, u8), BTreeMap<u64, i64>> = BTreeMap::new();
    let mut memories = vec![None; atoms.count];
    let mut done = |memory: Option<(Loc, u8)>, Held { from, to, .. }: Held, bytes: u64| {
        if let (Some(memory), Ok(bytes)) = (memory, i64::try_from(bytes)) {
            let of = changes.entry(memory).or_default();
            *of.entry(from).or_default() += bytes;
            *of.entry(to).or_default() -= bytes;
        }
    };
    for (n, (from, to)) in start.iter().zip(end).enumerate().take(trace.events.len()) {
        for access in trace.accesses_of(n) {
            for atom in atoms.of(access.set).iter().map(|a| *a as usize) {
                memories[atom] = chip(sets.get(access.set).root);
                match &mut held[atom] {
                    Some(now) if !access.writes || now.by == n => (now.to, now.by) = (now.to.max(*to), n),
                    // Bytes that are read first hold data from the start.
                    None if !access.writes => held[atom] = Some(Held { from: 0, to: *to, by: n }),
                    before => {
                        if let Some(before) = before.replace(Held { from: *from, to: *to, by: n }) {
                            done(memories[atom], before, atoms.sizes[atom]);
                        }
                    }
                }
            }
        }
    }
    for (atom, held) in held.into_iter().enumerate() {
        if let Some(held) = held {
            done(memories[atom], held, atoms.sizes[atom]);
        }
    }
    let memory = |((loc, core), changes): ((Loc, u8), BTreeMap<u64, i64>)| {
        let mut now = 0i64;
        let step = |(at, by): (u64, i64)| {
            now += by;
            (at, now.unsigned_abs())
        };
        Memory { loc, core, used: changes.into_iter().map(step).collect() }
    };
    changes.into_iter().map(memory).collect()
}
