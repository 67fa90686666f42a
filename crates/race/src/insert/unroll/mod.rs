//! `plan --sync --unroll`: bodies of loops repeated, so that every flag has an id that is written down (sync.md 7.4).

mod copy;
mod facts;

use super::{SyncPlan, insert};
use crate::Limits;
use copy::unroll;
use rustc_hash::FxHashSet;
use tessera_ir::{BlockId, Func, Module, OpId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;

/// The longest period of a loop is 16 iterations (sync.md 4).
const MAX_TIMES: u64 = 16;
/// A loop is not unrolled into more operations than this.
const MAX_OPS: u64 = 20_000;

/// A program whose loops were unrolled, and what was inserted.
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// The program without flags.
    pub func: Func,
    pub synced: SyncPlan,
    /// Loops that stay as they were, although their flags have ids that are computed.
    pub kept: Vec<OpId>,
}

/// Inserts what a function needs, whose tiles have addresses where it matters, with every loop unrolled around which flags
/// go that have several ids.
pub fn insert_unrolled(
    module: &mut Module,
    func: &Func,
    profile: Profile,
    limits: Limits,
) -> Result<Unrolled, Box<Diagnostic>> {
    let mut func = func.clone();
    let mut synced = insert_in(module, &func, profile, limits)?;
    let mut kept = FxHashSet::default();
    // The remainder behind a loop is explored for as many iterations as loops are tried, and no longer.
    if synced.meets_late {
        kept.extend(synced.several.iter().map(|(id, _)| *id));
    }
    loop {
        // Inner loops come first: they are copied with those around them.
        let left = synced.several.iter().filter(|(id, _)| !kept.contains(id));
        let Some((id, ids)) = left.max_by_key(|(id, _)| (depth(&func, *id), std::cmp::Reverse(*id))).copied() else {
            let mut kept: Vec<OpId> = kept.into_iter().collect();
            kept.sort_unstable();
            return Ok(Unrolled { func, synced, kept });
        };
        let weight = weight(&func, id);
        let times = (ids..=MAX_TIMES).take_while(|times| times.saturating_mul(weight) <= MAX_OPS);
        let plain = times.into_iter().find_map(|times| {
            let (mut module, mut func) = (module.clone(), func.clone());
            let synced =
                unroll(&mut module, &mut func, id, times).then(|| insert_in(&mut module, &func, profile, limits));
            let synced = synced?.ok().filter(|synced| synced.serial.is_none())?;
            synced.several.iter().all(|(other, _)| *other != id).then_some((module, func, synced))
        });
        match plain {
            Some(found) => (*module, func, synced) = found,
            None => _ = kept.insert(id),
        }
    }
}

fn insert_in(module: &mut Module, func: &Func, profile: Profile, limits: Limits) -> Result<SyncPlan, Box<Diagnostic>> {
    let placement = tessera_plan::plan(module, func, profile, &[])?;
    Ok(insert(module, func, profile, &placement, limits))
}

/// The number of operations inside an operation.
fn weight(func: &Func, id: OpId) -> u64 {
    let inner = |block: &BlockId| func.block(*block).ops.iter().map(|id| weight(func, *id)).sum::<u64>();
    1 + func.op(id).blocks.iter().map(inner).sum::<u64>()
}

/// The number of operations around an operation.
fn depth(func: &Func, id: OpId) -> usize {
    let mut found = 0;
    func.walk(&mut |other, _, depth| {
        if other == id {
            found = depth;
        }
    });
    found
}
