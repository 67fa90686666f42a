//! One element of a tile as a scalar (isa/irregular.md 9).

use super::tiles::TileId;
use super::{Engine, IssueError};
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;
use tessera_isa::sem::stored;
use tessera_kernels::nest::read_bits;
use tessera_kernels::{Failure, MemoryId, failure, internal_error};

/// The address of an element.
pub struct ElementAddress {
    pub memory: MemoryId,
    /// Its first byte there.
    pub start: usize,
    pub elem: Elem,
    row: u64,
    col: u64,
}

impl Engine {
    /// The bits of the element that TGETVAL reads, if it is legal and defined.
    pub fn get(&mut self, inst: Inst, tiles: &[(Role, TileId)]) -> Result<u64, IssueError> {
        let inst = self.instruction(inst, tiles.iter().copied(), None)?;
        self.legal(&inst)?;
        let found = self.locate(&inst)?;
        Ok(self.fetch(&found)?)
    }

    /// Finds the element that an instruction names in storage order.
    pub fn locate(&mut self, inst: &Inst) -> Result<ElementAddress, Failure> {
        let found = inst.index_u64(Role::Index).and_then(|k| stored(inst, 0, k)).zip(inst.tiles.first());
        let ((row, col), tile) = found.ok_or_else(|| internal_error("no element has this index"))?;
        let place = self.reserve_operand(tile, false)?;
        let (elem, size) = (tile.tile.elem, tile.tile.elem.bits() as usize / 8);
        let start = place.at + tile.layout.offset(row, col).max(0) as usize * size;
        Ok(ElementAddress { memory: place.memory, start, elem, row, col })
    }

    /// The bits of an element.
    pub fn fetch(&self, at: &ElementAddress) -> Result<u64, Failure> {
        let Some(memory) = self.memories.get(at.memory) else { return Ok(0) };
        if self.memories.tracked && !memory.defined().has_all(at.start, at.elem.bits() as usize / 8) {
            let what = format!("element ({}, {}) of the tile was never written, and its value is used", at.row, at.col);
            return Err(failure("undefined-use", what, "write the tile first"));
        }
        Ok(read_bits(memory.bytes(), at.start as i64, at.elem.bits()))
    }
}
