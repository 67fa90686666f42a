//! Operands of steps that work on dense buffers: how they come there, and back.

use crate::Place;
use crate::nest::OutOfBounds;
use crate::nest::{DST, Map, Nests, Operand, SRC, lower};
use crate::{Kernel, Level, Sides};
use smallvec::SmallVec;
use std::borrow::Cow;
use tessera_isa::elem::Elem;
use tessera_isa::layout::Layout;

/// A tile operand of such a step: its number, its layout and its type.
pub type Tile<'a> = (u8, &'a Layout, Elem);

/// An operand and its dense buffer.
#[derive(Clone, Debug)]
pub struct PackedOperand {
    pub operand: u8,
    pub elem: Elem,
    pub nests: Nests,
    pub(super) kernels: SmallVec<[Kernel; 1]>,
    /// Elements of the buffer, and of a row of it.
    pub len: usize,
    pub columns: u64,
    /// See [`PackedOperand::dense_at`].
    pub(super) dense: Option<usize>,
    /// See [`PackedOperand::rows_of`].
    pub(super) rows: Option<(usize, isize)>,
}

impl PackedOperand {
    /// The operand's elements over a domain, and the buffer's as rows of `columns`.
    pub(super) fn new<const D: usize>(
        tile: Tile<'_>,
        map: Map<D>,
        extent: [u64; D],
        (buffer, columns): (Map<D>, u64),
        is_read: bool,
    ) -> PackedOperand {
        let len = extent.iter().fold(1u64, |n, e| n.saturating_mul(*e));
        let rows = Layout::row_major(len.div_ceil(columns.max(1)), columns, columns);
        PackedOperand::in_layout(tile, map, extent, (buffer, &rows), is_read)
    }

    /// The same with a buffer in a layout of its own.
    pub(super) fn in_layout<const D: usize>(
        (operand, layout, elem): Tile<'_>,
        map: Map<D>,
        extent: [u64; D],
        (buffer, dense): (Map<D>, &Layout),
        is_read: bool,
    ) -> PackedOperand {
        let len = extent.iter().fold(1u64, |n, e| n.saturating_mul(*e));
        let columns = dense.cols();
        let there = Operand { layout, map, bits: elem.bits() };
        let here = Operand { layout: dense, map: buffer, bits: elem.bits() };
        let nests = lower(extent, &if is_read { [here, there] } else { [there, here] });
        let kernels = nests.iter().map(|nest| Kernel::new(nest, Level::best())).collect();
        let (dense, rows) =
            (PackedOperand::dense_at(&nests, elem, len, is_read), PackedOperand::rows_of(&nests, elem, columns));
        PackedOperand { operand, elem, nests, kernels, len: len as usize, columns, dense, rows }
    }

    /// The offset in the operand of each element of the buffer.
    pub fn offsets(&self, is_read: bool) -> Vec<i64> {
        let (there, here) = if is_read { (SRC, DST) } else { (DST, SRC) };
        let mut offsets = vec![0; self.len];
        let size = i64::from(self.elem.bits() / 8).max(1);
        for nest in &self.nests {
            // Nibbles that come in aligned pairs are moved as bytes.
            let pair = if nest.bits[there] > self.elem.bits() { 2 } else { 1 };
            nest.for_each_element(|at| {
                for k in 0..pair {
                    if let Some(slot) = offsets.get_mut((at[here] * pair / size + k) as usize) {
                        *slot = at[there] * pair + k;
                    }
                }
            });
        }
        offsets
    }

    pub(super) fn bytes(&self) -> usize {
        (self.len * self.elem.bits() as usize).div_ceil(8)
    }

    /// The bytes of an element at an offset, which counts halves of bytes where elements are such.
    pub(super) fn element(&self, at: i64) -> std::ops::Range<i64> {
        let (unit, bits) = (i64::from(self.elem.bits().min(8)), i64::from(self.elem.bits()));
        let first = at * unit / 8;
        first..first + (bits / 8).max(1)
    }

    pub(super) fn gather<'a>(&self, memory: &'a [u8], at: usize) -> Result<Cow<'a, [u8]>, OutOfBounds> {
        if let Some(bytes) = self.dense.and_then(|first| memory.get(at + first..at + first + self.bytes())) {
            return Ok(Cow::Borrowed(bytes));
        }
        self.copy(memory, at).map(Cow::Owned)
    }

    pub(super) fn copy(&self, memory: &[u8], at: usize) -> Result<Vec<u8>, OutOfBounds> {
        let mut bytes = vec![0; self.bytes()];
        self.copy_to(memory, at, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills the buffer.
    pub(super) fn copy_to(&self, memory: &[u8], at: usize, buffer: &mut [u8]) -> Result<(), OutOfBounds> {
        self.kernels.iter().try_for_each(|kernel| kernel.run(Sides::Two(memory, &mut *buffer), [at, 0]))
    }

    /// Spreads the buffer.
    pub(super) fn spread(&self, buffer: &[u8], memory: &mut [u8], at: usize) -> Result<(), OutOfBounds> {
        self.kernels.iter().try_for_each(|kernel| kernel.run(Sides::Two(buffer, &mut *memory), [0, at]))
    }

    /// The byte of the operand where the buffer's first element lies, where all others follow in order.
    fn dense_at(nests: &Nests, elem: Elem, len: u64, is_read: bool) -> Option<usize> {
        let [nest] = nests.as_slice() else { return None };
        let [dim] = nest.dims.as_slice() else { return None };
        let (there, here) = if is_read { (SRC, DST) } else { (DST, SRC) };
        let size = i64::from(elem.bits() / 8);
        let in_order = dim.step[DST] == size && dim.step[SRC] == size && dim.extent == len && nest.base[here] == 0;
        (in_order && size > 0 && nest.bits[SRC] == elem.bits()).then(|| usize::try_from(nest.base[there]).ok())?
    }

    /// The byte of the first row and the bytes between rows, if a column of the buffer is a row of the operand.
    fn rows_of(nests: &Nests, elem: Elem, columns: u64) -> Option<(usize, isize)> {
        let [nest] = nests.as_slice() else { return None };
        let [along, across] = nest.dims.as_slice() else { return None };
        let size = i64::from(elem.bits() / 8);
        let is_turned = along.step[SRC] == size
            && along.step[DST] == size.checked_mul(columns as i64)?
            && across.step[DST] == size
            && across.extent == columns;
        (is_turned && nest.base[DST] == 0)
            .then(|| Some((usize::try_from(nest.base[SRC]).ok()?, across.step[SRC] as isize)))?
    }

    /// The bytes of an operand that [lies dense](Stage::dense_at).
    pub(super) fn range(&self, place: Place) -> Option<std::ops::Range<usize>> {
        let first = place.at.checked_add(self.dense?)?;
        Some(first..first.checked_add(self.bytes())?)
    }
}
