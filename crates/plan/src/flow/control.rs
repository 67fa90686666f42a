//! Branches and loops: what is joined, and what an iteration hands to the next one.

use super::{Use, Walk};
use crate::binding::{Binding, Refs};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::edges::{Control, Edge, If, When};
use tessera_ir::{Arg, BlockId, Op, OpId, ValueId};

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
    fn refs_of(&self, arg: Arg) -> Refs {
        arg.value().map(|v| self.refs[v.index()].clone()).unwrap_or_default()
    }

    fn hand(&mut self, edge: Edge<'_>) {
        for (to, from) in edge.pairs() {
            let refs = self.refs_of(from);
            self.refer(to, refs);
        }
    }

    pub(super) fn branch(&mut self, op: &Op, choice: If<'_>) {
        let mut results = vec![Refs::default(); choice.results.len()];
        let mark = self.journal.len();
        let mut after: FxHashMap<ValueId, SmallVec<[Binding; 2]>> = FxHashMap::default();
        for (block, yields) in choice.blocks.into_iter().zip(choice.yields) {
            self.block(block);
            for (result, operand) in results.iter_mut().zip(yields) {
                let more = self.refs_of(operand.arg);
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
            bindings.iter().for_each(|b| all.join(b, &mut self.flow.roots));
            self.rebind(tile, all);
        }
        for (r, refs) in choice.results.iter().zip(results) {
            self.refer(*r, refs);
        }
    }

    pub(super) fn repeat(&mut self, id: OpId, op: &Op, control: Control<'_>) {
        let edges = control.edges();
        let at = |when: When| edges.iter().copied().filter(move |e| e.when == when);
        loop {
            let mark = self.journal.len();
            for edge in at(When::Enter) {
                self.hand(edge);
                for arg in edge.to {
                    // A buffer, once the loop is known to need one, is where it is whenever an iteration begins.
                    self.bound[arg.index()] = self.owned(*arg);
                }
            }
            let entry = self.entries.remove(&id).unwrap_or_default();
            for (arg, more) in &entry.refs {
                let mut all = self.refs[arg.index()].clone();
                self.join_refs(&mut all, more);
                self.refer(*arg, all);
            }
            for (tile, more) in &entry.bound {
                let mut all = self.bound[tile.index()].clone();
                all.join(more, &mut self.flow.roots);
                self.rebind(*tile, all);
            }
            self.entries.insert(id, entry);
            let mut exit = self.journal.len();
            match control {
                Control::While(w) => {
                    self.block(w.before);
                    exit = self.journal.len();
                    at(When::Proceed).chain(at(When::Leave)).for_each(|edge| self.hand(edge));
                    self.block(w.after);
                }
                _ => op.blocks.iter().for_each(|block| self.block(*block)),
            }
            let grown = at(When::Again).any(|edge| self.back_edge(id, op, edge, mark));
            if matches!(control, Control::For(_)) {
                at(When::Leave).for_each(|edge| self.hand(edge));
            }
            self.restore(if grown { mark } else { exit });
            if !grown {
                break;
            }
        }
    }

    /// Remembers what an iteration hands to the next one; does that say more than was known?
    fn back_edge(&mut self, id: OpId, op: &Op, edge: Edge<'_>, mark: usize) -> bool {
        let mut entry = self.entries.remove(&id).unwrap_or_default();
        let mut grown = false;
        // Whoever keeps growing is followed no longer.
        let (unlists, pins) = (entry.growths >= MAX_ROTATIONS, entry.growths >= MAX_MOVES);
        for (arg, from) in edge.pairs() {
            let Some(from) = from.value().filter(|from| self.is_tile(arg) && *from != arg) else {
                continue;
            };
            let mut next = self.refs[from.index()].clone();
            // What the next iteration makes anew cannot be handed to it by reference: the loop copies it.
            let local = |tile: &ValueId| *tile != arg && self.is_inside(op, self.points.home(self.func, *tile));
            if next.many || next.tiles.iter().any(local) {
                next = Refs::tile(arg);
                let buffer = self.own(arg);
                self.flow.uses.extend(buffer.roots.into_iter().map(|root| Use { root, op: id, writes: true }));
            }
            let known = entry.refs.entry(arg).or_default();
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
            } else if !known.covers(&binding, &self.flow.roots) {
                known.join(&binding, &mut self.flow.roots);
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
