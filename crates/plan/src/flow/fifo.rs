//! FIFOs: buffers that are reserved for the whole kernel, and tiles that lie in them (isa/structure.md 5).

use super::{Binding, Refs, Root, Walk};
use tessera_ir::{Core, Op, OpId, Runs, ValueId, fifo};
use tessera_isa::inst::Space;
use tessera_isa::ops::{AttrName, Role};
use tessera_isa::sem::Fifo;
use tessera_isa::tile::Loc;

impl Walk<'_> {
    /// Every `reserve_buffer` is memory in use from the start to the end.
    pub(super) fn reserved_buffers(&mut self) {
        let func = self.func;
        func.walk(&mut |id, op, _| {
            let (Some(Fifo::Reserve), Some(value)) = (fifo::part(op), op.results.first().copied()) else { return };
            let attrs = op.known_attrs();
            let bytes = attrs.int(AttrName::Size).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
            let base = attrs.int(AttrName::Base).map(|n| Some(u64::try_from(n).unwrap_or(u64::MAX)));
            let loc = if attrs.location() == Some(Space::Mat) { Loc::Mat } else { Loc::Vec };
            let root = Root {
                value,
                loc,
                bytes,
                home: func.body,
                scope: func.body,
                definition: Some(id),
                manual: base,
                pinned: true,
                scratch: None,
                shared: true,
            };
            self.flow.roots.push(root);
            self.buffers.insert(id, self.flow.roots.len() - 1);
        });
    }

    pub(super) fn fifo(&mut self, id: OpId, op: &Op, part: Fifo) {
        let reserve = self.fifos.of(id).and_then(|fifo| self.fifos.list.get(fifo)?.reserve);
        let buffer = Binding::of(reserve.and_then(|at| self.buffers.get(&at).copied()));
        match part {
            Fifo::Push(_) => {
                self.uses(id, op, |role| role == Role::Src);
                // The parameters by which it quantizes are read when it runs (isa/today.md 6.10).
                let quantizes = self.fifos.of(id).is_some_and(|n| self.fifos.list[n].epilogue.is_some());
                let set = if quantizes { fifo::quant_of(self.func, id) } else { None };
                if let Some(fp) = set.and_then(|set| self.func.op(set).operand(Role::Fp)?.arg.value()) {
                    self.use_value(fp, id, false);
                }
            }
            // The popped tile lies in a slot.
            Fifo::Pop(_) => {
                for made in &op.results {
                    self.lies_in(*made, &buffer);
                }
                if let Some(tile) = op.operand(Role::Tile).and_then(|o| o.arg.value()) {
                    self.bind(tile, &buffer);
                }
            }
            Fifo::Declare => op.results.iter().for_each(|made| self.lies_in(*made, &Binding::default())),
            _ => {}
        }
    }

    fn lies_in(&mut self, tile: ValueId, storage: &Binding) {
        self.refs[tile.index()] = Refs::tile(tile);
        self.bound[tile.index()] = storage.clone();
    }

    /// What cores of both kinds touch lives for the whole kernel: nobody knows which of them is how far. A core that
    /// touches the memory of the other kind does so while that one uses its memory.
    pub(super) fn share(&mut self) {
        let cores = self.func.cores();
        let is_mixed = self.func.runs() == Runs::Mixed;
        let mut by: Vec<[bool; 2]> = vec![[false; 2]; self.flow.roots.len()];
        for u in &self.flow.uses {
            match cores.get(u.op.index()).copied().flatten() {
                Some(core) => {
                    by[u.root][usize::from(core == Core::Vector)] = true;
                    by[u.root][usize::from(self.flow.roots[u.root].loc == Loc::Vec)] |= is_mixed;
                }
                None => by[u.root] = [true; 2],
            }
        }
        for (root, by) in self.flow.roots.iter_mut().zip(by) {
            if by == [true; 2] {
                (root.pinned, root.shared) = (true, true);
            }
        }
    }
}
