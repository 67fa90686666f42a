//! The order that needs no analysis: a barrier of all pipes before every instruction that another one may precede.

use super::{Fallback, FlagUse, Place, SyncPlan, rewrite, text_order};
use crate::calls;
use crate::insert::edges::Edge;
use crate::races::Conflict;
use tessera_ir::{BlockId, Func, Module, Op, OpId, OpKind};
use tessera_isa::ops::Text;
use tessera_isa::profile::Profile;
use tessera_plan::Placement;

/// Whether an operation gives work to a pipe.
pub(crate) fn has_work(op: &Op, profile: Profile) -> bool {
    match &op.kind {
        OpKind::Micro(_) => true,
        OpKind::Pto(opcode, _) if opcode.order().is_some() || opcode.only_names(profile) => false,
        OpKind::Pto(opcode, _) => matches!(
            opcode.info().text,
            Text::Forms
                | Text::Subset
                | Text::Slot
                | Text::LoadScalar
                | Text::StoreScalar
                | Text::Pipe(_)
                | Text::Print
        ),
        _ => false,
    }
}

/// The function with a barrier of all pipes before every instruction.
pub fn insert(module: &mut Module, func: &Func, profile: Profile, placement: &Placement) -> SyncPlan {
    let mut places = Vec::new();
    let mut calls: Vec<OpId> = calls::working(module, func, profile).into_iter().collect();
    calls.sort_unstable();
    let mut first = None;
    serialise(func, func.body, profile, &mut first, &mut places);
    let points = &placement.points;
    let mut emit = rewrite::Emit::new(module, func, points, places.len());
    for (n, (_, before)) in places.iter().enumerate() {
        emit.edge(n, &Edge::Barrier { core: None, pipe: None, before: *before }, 0);
    }
    let calls = calls.into_iter().map(|call| (call, emit.call(call))).collect::<Vec<_>>();
    let (synced, made) = emit.done();
    let mut table = around_calls(calls, places.len());
    for (edge, (ops, (first, second))) in made.iter().zip(&places).enumerate() {
        let fallback = Some(Fallback::Serial);
        let (first, second, later) = (*first, *second, 0);
        let (conflict, tile) = (Conflict::Raw, None);
        let served =
            |&(op, place): &(OpId, Place)| FlagUse { op, edge, place, first, second, later, conflict, tile, fallback };
        table.extend(ops.iter().map(served));
    }
    let order = text_order(&synced);
    table.sort_by_key(|served: &FlagUse| order.get(&served.op).copied());
    let (short_of_ids, meets_late, several) = (false, false, Vec::new());
    SyncPlan { func: synced, table, short_of_ids, several, meets_late, between: None, serial: None }
}

/// The purposes of the barriers around calls; their edges are counted from a number on.
pub(super) fn around_calls(calls: Vec<(OpId, [(OpId, Place); 2])>, from: usize) -> Vec<FlagUse> {
    let barrier = |(edge, (call, both)): (usize, (OpId, [(OpId, Place); 2]))| {
        both.map(|(op, place)| FlagUse {
            op,
            edge,
            place,
            first: call,
            second: call,
            later: 0,
            conflict: Conflict::Raw,
            tile: None,
            fallback: Some(Fallback::Call),
        })
    };
    (from..).zip(calls).flat_map(barrier).collect()
}

/// The instructions before which a barrier stands, each with the instruction before it in the text. Only the first of the
/// function has nothing before it.
fn serialise(func: &Func, block: BlockId, profile: Profile, before: &mut Option<OpId>, out: &mut Vec<(OpId, OpId)>) {
    for id in &func.block(block).ops {
        let op = func.op(*id);
        if has_work(op, profile) {
            // In a loop the last one may come before the first one.
            let in_loop = block != func.body;
            if let Some(first) = before.or(in_loop.then_some(*id)) {
                out.push((first, *id));
            }
            *before = Some(*id);
        }
        op.blocks.iter().for_each(|inner| serialise(func, *inner, profile, before, out));
    }
}
