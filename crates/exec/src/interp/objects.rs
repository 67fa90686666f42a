//! The operations that make, bind and size tiles.

use super::code::{Alloc, Hand, TileSlot, Window};
use super::step::Exec;
use crate::engine::chip::ObjectId;
use crate::engine::memory::POOL;
use crate::lower::Failure;
use smallvec::SmallVec;

impl Exec<'_> {
    /// The tile in a slot.
    #[inline]
    pub fn object_of(&self, slot: TileSlot) -> ObjectId {
        self.tiles[slot.index()]
    }

    /// Puts a tile into a slot.
    #[inline]
    pub fn set_tile(&mut self, slot: TileSlot, object: ObjectId) {
        let tile = &mut self.tiles[slot.index()];
        if *tile != object {
            *tile = object;
            self.chip.epoch += 1;
        }
    }

    pub fn reserve_pool(&mut self) -> Result<(), Failure> {
        self.chip.reserve(POOL, self.cx.program.pool)
    }

    pub fn alloc(&mut self, alloc: &Alloc) -> Result<(), Failure> {
        let valid = alloc.valid.map(|v| v.map(|v| self.int(v)));
        let addr = alloc.addr.map(|a| self.int(a));
        let own = self.chip.alloc(alloc.object, addr, valid)?;
        self.set_tile(alloc.slot, alloc.object);
        // Placement says where the contents of placed tiles begin.
        let info = self.cx.program.objects.get(alloc.object as usize);
        if own && info.is_some_and(|i| i.address.is_none()) {
            self.undefine(Some(alloc.at), alloc.object);
        }
        Ok(())
    }

    /// TSUBVIEW and `pto.subset`.
    pub fn window(&mut self, w: &Window) -> Result<(), Failure> {
        if let Some(result) = w.result {
            self.chip.begin(result)?;
            self.set_tile(w.dst, result);
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
            if let Hand::Tile { from, buffer: Some(buffer), .. } = hand {
                copies.push((self.object_of(*from), *buffer));
            }
        }
        if copies.is_empty() {
            return Ok(());
        }
        self.watch_copies(&copies)?;
        self.chip.copy_tiles(&copies)
    }
}
