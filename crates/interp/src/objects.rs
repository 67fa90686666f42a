//! The operations that make, bind and size tiles.

use super::code::{Alloc, BlockArgCopy, GetElement, TileSlot, Window, slot_bits};
use super::step::Exec;
use smallvec::SmallVec;
use tessera_exec::engine::TileId;
use tessera_ir::OpId;
use tessera_isa::inst::{Inst, ScalarArg, scalar_number};
use tessera_isa::ops::{Bind, Form, Role};
use tessera_kernels::Failure;

impl Exec<'_> {
    #[inline]
    pub fn object_of(&self, slot: TileSlot) -> TileId {
        self.tiles[slot.index()]
    }

    #[inline]
    pub fn set_tile(&mut self, slot: TileSlot, object: TileId) {
        let tile = &mut self.tiles[slot.index()];
        if *tile != object {
            *tile = object;
            self.engine.epoch += 1;
        }
    }

    pub fn alloc(&mut self, at: OpId, alloc: &Alloc) -> Result<(), Failure> {
        let valid = alloc.valid.map(|v| v.map(|v| self.int(v)));
        let addr = alloc.addr.map(|a| self.int(a));
        let own = self.engine.alloc(alloc.object, addr, valid)?;
        self.set_tile(alloc.slot, alloc.object);
        // Placement says where the contents of placed tiles begin.
        let info = self.cx.program.objects.get(alloc.object.index());
        if own && info.is_some_and(|i| i.address.is_none()) {
            self.undefine(Some(at), alloc.object);
        }
        Ok(())
    }

    /// TSUBVIEW, `pto.subview` and `pto.multi_tile_get`.
    pub fn window(&mut self, at: OpId, w: &Window) -> Result<(), Failure> {
        if let Some(result) = w.result {
            self.engine.begin(result)?;
            self.set_tile(w.dst, result);
        }
        self.is_alive(w.src)?;
        let (src, dst) = (self.object_of(w.src), self.object_of(w.dst));
        let mut inst = Inst::new(w.opcode, Form::Plain, self.engine.profile);
        for (role, v) in &w.at {
            inst.scalars.push(ScalarArg::new(*role, self.int(*v)));
        }
        let inst = self.engine.instruction(inst, [(Role::Src, src), (Role::Dst, dst)], None)?;
        self.legal(at, &inst)?;
        match inst.op.info().binds {
            Some(Bind::Slot) => self.engine.slot(&inst, src, dst)?,
            _ => self.engine.window(&inst, src, dst)?,
        }
        match w.valid.map(|v| v.map(|v| self.int(v))) {
            [None, None] => Ok(()),
            valid => self.engine.set_valid(dst, valid),
        }
    }

    /// TGETVAL: an element in storage order (isa/irregular.md 9).
    pub fn get_element(&mut self, at: OpId, get: &GetElement) -> Result<(), Failure> {
        self.is_alive(get.src)?;
        let src = self.object_of(get.src);
        let mut inst = Inst::new(get.opcode, Form::Plain, self.engine.profile);
        inst.scalars.push(ScalarArg::new(Role::Index, self.int(get.index)));
        let inst = self.engine.instruction(inst, [(Role::Src, src)], None)?;
        self.legal(at, &inst)?;
        let found = self.engine.locate(&inst)?;
        self.watch_get(at, src, found.memory, found.start, found.elem.bits() as usize / 8);
        let raw = self.engine.fetch(&found)?;
        self.set(get.to, slot_bits(scalar_number(found.elem, raw), get.ty));
        self.observe_scalar(at, found.memory, found.start, found.elem.bits() as usize / 8, false);
        Ok(())
    }

    /// `arith.constant dense<[…]>`.
    pub fn dense(&mut self, at: OpId, object: TileId, slot: TileSlot, bytes: &[u8]) -> Result<(), Failure> {
        self.engine.begin(object)?;
        self.set_tile(slot, object);
        self.undefine(Some(at), object);
        self.engine.reserve_tile(object, 0)?;
        let place = self.engine.object(object)?.place;
        if let Some(memory) = self.engine.memories.get_mut(place.memory) {
            memory.put(place.at, bytes);
        }
        self.watch_store(at, place.memory, place.at, bytes.len());
        Ok(())
    }

    /// Copies carried tiles into the buffers of their loop.
    pub fn copy_carried(&mut self, hands: &[BlockArgCopy]) -> Result<(), Failure> {
        let copied = |hand: &BlockArgCopy| match hand {
            BlockArgCopy::Tile { from, buffer: Some(buffer), .. } => Some((self.object_of(*from), *buffer)),
            _ => None,
        };
        let copies: SmallVec<[(TileId, TileId); 2]> = hands.iter().filter_map(copied).collect();
        match copies.is_empty() {
            true => Ok(()),
            false => self.copy_tiles(&copies),
        }
    }

    /// Copies the contents of tiles into others; a watched run follows the copies.
    pub fn copy_tiles(&mut self, copies: &[(TileId, TileId)]) -> Result<(), Failure> {
        self.watch_copies(copies)?;
        self.engine.copy_tiles(copies)
    }
}
