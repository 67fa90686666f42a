//! Banks of UB on a2a3: 48 of 32-byte rows in 16 groups. Operands of one instruction that begin in the same group get in
//! each other's way, repeat after repeat.

use crate::trace::{Root, Sets, Trace};
use rustc_hash::FxHashMap;
use tessera_ir::OpId;
use tessera_isa::ops::Role;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// One operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side {
    pub role: Role,
    pub address: u64,
}

impl Side {
    /// The bank that it begins in.
    pub fn bank(self) -> u64 {
        16 * (self.address / (64 << 10)) + self.group()
    }

    pub fn group(self) -> u64 {
        self.address / 32 % 16
    }
}

/// Two operands of one instruction that meet in a group of banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankConflict {
    pub op: OpId,
    pub sides: [Side; 2],
    /// The number of conflicts, and the first one: the process and the slice there.
    pub times: u64,
    pub at: (usize, usize),
}

pub(super) fn add(
    profile: Profile,
    trace: &Trace,
    sets: &Sets,
    (process, slices): (usize, &[Option<usize>]),
    all: &mut Vec<BankConflict>,
) {
    if profile != Profile::A2a3 {
        return;
    }
    let mut known: FxHashMap<(OpId, [Side; 2]), usize> =
        all.iter().enumerate().map(|(n, m)| ((m.op, m.sides), n)).collect();
    for (n, event) in trace.events.iter().enumerate().filter(|(_, e)| e.kind.is_work()) {
        let mut sides: Vec<Side> = Vec::new();
        for access in trace.accesses_of(n) {
            let set = sets.get(access.set);
            let is_known = matches!(set.root, Root::Chip(Loc::Vec, _)) && set.terms.is_empty();
            let Some(address) = u64::try_from(set.span().0).ok().filter(|_| is_known) else { continue };
            // One that is read and written is one operand, and two at one place are the same row.
            if !sides.iter().any(|s| s.role == access.role || s.address == address) {
                sides.push(Side { role: access.role, address });
            }
        }
        for (k, b) in sides.iter().enumerate() {
            for a in sides[..k].iter().filter(|a| a.group() == b.group()) {
                let pair = [*a, *b];
                let number = *known.entry((event.op, pair)).or_insert_with(|| {
                    let at = (process, slices[n].unwrap_or(0));
                    all.push(BankConflict { op: event.op, sides: pair, times: 0, at });
                    all.len() - 1
                });
                all[number].times += 1;
            }
        }
    }
}
