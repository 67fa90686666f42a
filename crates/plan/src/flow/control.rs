//! Branches and loops: what is joined, and what an iteration hands to the next one.

use super::{Use, Walk};
use crate::binding::{Binding, Refs, RootId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::{BlockId, Op, OpId, OpKind, ValueId};

/// Real programs settle after one or two rounds; storages that still move after so many are pinned at once.
const MAX_MOVES: u32 = 8;
/// Handles may rotate for longer: each round tells one tile more.
const MAX_ROTATIONS: u32 = 40;

/// What enters an iteration of a loop, besides what entered the loop.
#[derive(Default)]
pub(super) struct Entry {
    refs: FxHashMap<ValueId, Refs>,
    bound: FxHashMap<ValueId, Binding>,
    growths: u32,
}

impl Walk<'_> {
    /// What the end of a block hands on, by position; none for a literal.
    fn yielded(&self, block: BlockId) -> SmallVec<[Option<ValueId>; 4]> {
        let last = self.func.block(block).ops.last().map(|id| self.func.op(*id));
        match last {
            Some(op) if op.kind == OpKind::Yield => op.operands.iter().map(|o| o.arg.value()).collect(),
            // scf.condition hands on all but the condition itself.
            Some(op) if op.kind == OpKind::Condition => op.operands.iter().skip(1).map(|o| o.arg.value()).collect(),
            _ => SmallVec::new(),
        }
    }

    pub(super) fn branch(&mut self, op: &Op) {
        let mut results = vec![Refs::default(); op.results.len()];
        let mark = self.journal.len();
        let mut after: FxHashMap<ValueId, SmallVec<[Binding; 2]>> = FxHashMap::default();
        for block in &op.blocks {
            self.block(*block);
            for (result, v) in results.iter_mut().zip(self.yielded(*block)) {
                let more = v.map(|v| self.refs[v.index()].clone()).unwrap_or_default();
                self.join_refs(result, &more);
            }
            for tile in self.changed(mark) {
                after.entry(tile).or_default().push(self.bound[tile.index()].clone());
            }
            self.restore(mark);
        }
        for (tile, bindings) in after {
            // A branch that does not bind the tile leaves it where it was, unless the tile is the other branch's own.
            let stays = bindings.len() < 2 && !self.is_inside(op, self.points.home(self.func, tile));
            let mut all = if stays { self.bound[tile.index()].clone() } else { Binding::default() };
            bindings.iter().for_each(|b| all.join(b, &mut self.flow.pinned));
            self.rebind(tile, all);
        }
        for (r, refs) in op.results.iter().zip(results) {
            self.refer(*r, refs);
        }
    }

    pub(super) fn repeat(&mut self, id: OpId, op: &Op) {
        let is_for = op.kind == OpKind::For;
        let Some(first) = op.blocks.first().copied() else {
            return;
        };
        let last = op.blocks.last().copied().unwrap_or(first);
        // scf.for has an induction variable, and bounds and step before the initial values.
        let (skip_args, skip_operands) = if is_for { (1, 3) } else { (0, 0) };
        let args: SmallVec<[ValueId; 4]> = self.func.block(first).args.iter().skip(skip_args).copied().collect();
        loop {
            let mark = self.journal.len();
            for (arg, init) in args.iter().zip(op.operands.iter().skip(skip_operands)) {
                let refs = init.arg.value().map(|v| self.refs[v.index()].clone());
                self.refer(*arg, refs.unwrap_or_default());
                // A buffer, once the loop is known to need one, is where it is whenever an iteration begins.
                self.bound[arg.index()] = self.own[arg.index()].map(Binding::root).unwrap_or_default();
            }
            let entry = self.entries.remove(&id).unwrap_or_default();
            for (arg, more) in &entry.refs {
                let mut all = self.refs[arg.index()].clone();
                self.join_refs(&mut all, more);
                self.refer(*arg, all);
            }
            for (tile, more) in &entry.bound {
                let mut all = self.bound[tile.index()].clone();
                all.join(more, &mut self.flow.pinned);
                self.rebind(*tile, all);
            }
            self.entries.insert(id, entry);
            let mut exit = self.journal.len();
            self.block(first);
            let mut handed = self.yielded(first);
            if !is_for {
                // The values of scf.condition go to the second block and out of the loop.
                exit = self.journal.len();
                let receivers = [&self.func.block(last).args, &op.results];
                for (to, from) in receivers.into_iter().flat_map(|r| r.iter().zip(&handed)) {
                    let refs = from.map(|v| self.refs[v.index()].clone());
                    self.refer(*to, refs.unwrap_or_default());
                }
                if last != first {
                    self.block(last);
                    handed = self.yielded(last);
                }
            }
            let grown = self.back_edge(id, op, &args, &handed, mark);
            if is_for {
                for (r, arg) in op.results.iter().zip(&args) {
                    self.refer(*r, self.refs[arg.index()].clone());
                }
            }
            self.restore(if grown { mark } else { exit });
            if !grown {
                break;
            }
        }
    }

    /// Remembers what an iteration hands to the next one; does that say more than was known?
    fn back_edge(&mut self, id: OpId, op: &Op, args: &[ValueId], handed: &[Option<ValueId>], mark: usize) -> bool {
        let mut entry = self.entries.remove(&id).unwrap_or_default();
        let mut grown = false;
        // Whoever keeps growing is followed no longer.
        let (unlists, pins) = (entry.growths >= MAX_ROTATIONS, entry.growths >= MAX_MOVES);
        for (arg, from) in args.iter().zip(handed) {
            let Some(from) = from.filter(|from| self.is_tile(*arg) && from != arg) else {
                continue;
            };
            let mut next = self.refs[from.index()].clone();
            // What the next iteration makes anew cannot be handed to it by reference: the loop copies it.
            let local = |tile: &ValueId| tile != arg && self.is_inside(op, self.points.home(self.func, *tile));
            if next.many || next.tiles.iter().any(local) {
                next = Refs::tile(*arg);
                let buffer = self.own(*arg);
                let written = |root: &RootId| Use { root: *root, op: id, writes: true };
                self.flow.uses.extend(buffer.roots.iter().map(written));
            }
            let known = entry.refs.entry(*arg).or_default();
            let before = known.clone();
            self.join_refs(known, &next);
            if unlists && *known != before {
                self.unlist(known);
            }
            grown |= *known != before;
        }
        for tile in self.changed(mark) {
            if self.is_inside(op, self.points.home(self.func, tile)) {
                continue;
            }
            let binding = self.bound[tile.index()].clone();
            let known = entry.bound.entry(tile).or_default();
            if pins {
                self.pin(&binding.roots);
                grown |= !known.pinned;
                known.pinned = true;
            } else if !known.covers(&binding, &self.flow.pinned) {
                known.join(&binding, &mut self.flow.pinned);
                grown = true;
            }
        }
        entry.growths += u32::from(grown);
        self.entries.insert(id, entry);
        grown
    }

    /// Is a block inside control flow?
    fn is_inside(&self, op: &Op, block: BlockId) -> bool {
        op.blocks.iter().any(|b| self.points.is_inside(block, *b))
    }
}
