//! The operations that make, bind and size tiles.

use super::code::{Alloc, Hand, Slot, Source, Window};
use super::exec::Exec;
use crate::chip::{Binding, ObjectId};
use crate::memory::POOL;
use crate::prepared::Failure;
use smallvec::SmallVec;

impl Exec<'_> {
    /// The tile in a slot.
    #[inline]
    pub fn object_of(&self, slot: Slot) -> ObjectId {
        self.tiles.get(slot as usize).copied().unwrap_or(0)
    }

    pub fn reserve_pool(&mut self) -> Result<(), Failure> {
        self.chip.reserve(POOL, self.cx.program.pool)
    }

    pub fn alloc(&mut self, alloc: &Alloc) -> Result<(), Failure> {
        let object = alloc.object;
        let o = self.chip.object_mut(object)?;
        // A TASSIGN that came first (syntax.md 1) still counts.
        let assigned = (o.binding == Binding::Manual && alloc.addr.is_none()).then_some(o.place);
        o.restart();
        if let Some(place) = assigned {
            (o.place, o.binding) = (place, Binding::Manual);
        }
        if let Some(tile) = self.tiles.get_mut(alloc.slot as usize) {
            *tile = object;
        }
        let valid = alloc.valid.map(|v| v.map(|v| self.int(v)));
        self.chip.set_valid(object, valid)?;
        let pooled = self
            .cx
            .program
            .objects
            .get(object as usize)
            .is_some_and(|i| i.address.is_none());
        if let Some(addr) = alloc.addr {
            self.chip.assign(object, self.int(addr))?;
        } else if assigned.is_none() && pooled {
            self.chip.undefine(object);
        }
        Ok(())
    }

    /// TSUBVIEW and `pto.subset`.
    pub fn window(&mut self, w: &Window) -> Result<(), Failure> {
        if let Some(result) = w.result {
            self.chip.begin(result);
            if let Some(tile) = self.tiles.get_mut(w.dst as usize) {
                *tile = result;
            }
        }
        let (src, dst) = (self.object_of(w.src), self.object_of(w.dst));
        let at = [self.int(w.row), self.int(w.col)];
        let inst = self.chip.window_inst(w.opcode, src, dst, at)?;
        self.legal(w.at, &inst)?;
        self.chip.window(src, dst, at)
    }

    /// Copies carried tiles into the buffers of their loop.
    pub fn copy_carried(&mut self, hands: &[Hand]) -> Result<(), Failure> {
        let mut copies: SmallVec<[(ObjectId, ObjectId); 2]> = SmallVec::new();
        for hand in hands {
            if let (Some(buffer), Source::Tile(slot)) = (hand.buffer, hand.from) {
                copies.push((self.object_of(slot), buffer));
            }
        }
        if copies.is_empty() {
            return Ok(());
        }
        self.chip.copy_tiles(&copies)
    }
}
