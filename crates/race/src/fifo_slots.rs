//! The slots of a FIFO: their places, and the bytes that a push writes and a pop reads (isa/structure.md 6).

use crate::footprint::{Ranges, rect_ranges};
use smallvec::SmallVec;
use tessera_ir::scalar::Constants;
use tessera_ir::{Fifo, Func, Module};
use tessera_isa::layout::Layout;
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Rect};
use tessera_isa::tile::{Loc, Tile};
use tessera_plan::Placement;

/// The first byte of a slot, or of what lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotPlace {
    /// In a memory of a core, of which vector cores have one each.
    Chip(Loc, u8, u64),
    /// The distance in bytes from `gm_slot_buffer`.
    Global(u64),
}

/// The slots of one FIFO.
#[derive(Clone, Debug)]
pub struct FifoSlots {
    pub fifo: Fifo,
    profile: Profile,
    /// Their addresses in the consumer's memory.
    base: u64,
    /// Their addresses in `gm_slot_buffer`.
    offset: u64,
    /// The layout of the tiles that are popped.
    pub popped: Option<Layout>,
    /// Bits of an element in the slots, where pushes convert (isa/today.md 7.3).
    bits: Option<u64>,
    /// Whether both vector cores have a part in every slot.
    pub both: bool,
}

impl FifoSlots {
    pub fn new(
        (module, func): (&Module, &Func),
        constants: &Constants,
        placement: &Placement,
        profile: Profile,
        fifo: &Fifo,
    ) -> FifoSlots {
        let popped = fifo.pops.first().and_then(|pop| tessera_ir::fifo::popped(func.op(*pop)));
        let popped = popped.and_then(|v| module.types.get(func.value(v).ty).on(profile));
        let bits = popped.filter(|_| fifo.epilogue.is_some()).map(|tile| tile.elem.bits().into());
        let popped = popped.map(|tile| tile.layout());
        let (base, offset) = (placement.slots_of(func, constants, fifo), fifo.offset(func));
        let both = fifo.split != 0 || profile == Profile::A2a3;
        FifoSlots { fifo: fifo.clone(), profile, base, offset, popped, bits, both }
    }

    /// Those of a pipe of a C++ program; it says where the tiles that it pops lie when it pops the first one.
    pub fn of_calls(fifo: Fifo, profile: Profile, base: u64, both: bool) -> FifoSlots {
        FifoSlots { fifo, profile, base, offset: 0, popped: None, bits: None, both }
    }

    /// The slot of the how-manieth push or pop.
    pub fn slot(&self, number: u64) -> u64 {
        number % self.fifo.slots.max(1)
    }

    /// The place of the tile of the n-th pop.
    pub fn place(&self, number: u64, tile: &Tile) -> u64 {
        match self.fifo.is_global(self.profile) {
            true => self.base.saturating_add((number % self.fifo.local_slots.max(1)).saturating_mul(tile.bytes())),
            false => self.base.saturating_add(self.slot(number).saturating_mul(self.fifo.slot_size)),
        }
    }

    fn in_global(&self, slot: u64) -> SlotPlace {
        SlotPlace::Global(self.offset.saturating_add(slot.saturating_mul(self.fifo.slot_size)))
    }

    /// The bytes that a push of this valid region writes, for one vector core if it is given.
    pub fn pushed(&self, slot: u64, half: u64, bits: u64, valid: [u64; 2]) -> SmallVec<[(SlotPlace, Ranges); 2]> {
        let (f, bits) = (&self.fifo, self.bits.unwrap_or(bits));
        if f.is_global(self.profile) {
            let [r, c] = if f.dir == Dir::V2c { f.division() } else { [1, 1] };
            let at = if f.dir == Dir::V2c { f.half_at(half, valid) } else { [0, 0] };
            let ranges = dense([valid[0] * r, valid[1] * c], bits, (at, valid));
            return SmallVec::from_iter([(self.in_global(slot), ranges)]);
        }
        let Some(popped) = &self.popped else { return SmallVec::new() };
        let [r, c] = f.division();
        let part = [valid[0] / r, valid[1] / c];
        let (cores, loc, at, extent): (&[u8], _, _, _) = match (f.dir, f.split) {
            (Dir::C2v, 0) => (&[0], Loc::Vec, [0, 0], valid),
            (Dir::C2v, _) => (&[0, 1], Loc::Vec, [0, 0], part),
            (Dir::V2c, _) => (&[0], Loc::Mat, f.half_at(half, valid), valid),
        };
        let start = self.base.saturating_add(slot.saturating_mul(f.slot_size));
        let ranges: Ranges = rect_ranges(popped, bits, rect(at, extent)).into();
        cores.iter().map(|core| (SlotPlace::Chip(loc, *core, start), ranges.clone())).collect()
    }

    /// Slots in global memory: what a pop of this valid region, by this vector core where it is one, reads.
    pub fn loaded(&self, slot: u64, half: u64, bits: u64, valid: [u64; 2]) -> (SlotPlace, Ranges) {
        // What was pushed of an odd extent is not known here: all of the larger half that may be.
        if self.fifo.split > 2 {
            let [rows, cols] = valid;
            let whole = if self.fifo.split == 3 { [2 * rows + 1, cols] } else { [rows, 2 * cols + 1] };
            return (self.in_global(slot), dense(whole, bits, ([0, 0], whole)));
        }
        let ([r, c], at) = match self.fifo.dir {
            Dir::C2v => (self.fifo.division(), self.fifo.half_at(half, valid)),
            Dir::V2c => ([1, 1], [0, 0]),
        };
        (self.in_global(slot), dense([valid[0] * r, valid[1] * c], bits, (at, valid)))
    }
}

fn rect([row, col]: [u64; 2], [rows, cols]: [u64; 2]) -> Rect {
    Rect { row, col, rows, cols }
}

/// A part of a tile that lies row by row.
fn dense(whole: [u64; 2], bits: u64, (at, extent): ([u64; 2], [u64; 2])) -> Ranges {
    rect_ranges(&Layout::row_major(whole[0], whole[1], whole[1]), bits, rect(at, extent)).into()
}
