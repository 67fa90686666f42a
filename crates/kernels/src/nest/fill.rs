//! Fills: a nest without a source.

use super::fill_rows;
use super::runs::{Runs, write};
use super::{DST, Dim, Nest, Nests, OutOfBounds, fold};
use smallvec::SmallVec;

/// Writes one bit pattern to every element that its loops reach.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fill {
    runs: Runs,
    span: (i128, i128),
    block: [u8; 64],
}

impl Fill {
    /// A fill of elements of `bits` bits from `base` on, with loops of (extent, stride): bytes, or nibbles for 4 bits.
    pub fn new(bits: u32, pattern: u64, base: i64, dims: impl IntoIterator<Item = (u64, i64)>) -> Self {
        let runs = Runs::new(base, bits, dims.into_iter());
        let mut block = [0u8; 64];
        if bits == 4 {
            block = [(pattern & 15) as u8 * 0x11; 64];
        } else {
            for element in block.chunks_exact_mut((bits / 8).max(1) as usize) {
                write(element, 0, bits, pattern);
            }
        }
        Fill::of(runs.in_bytes().unwrap_or(runs), block)
    }

    fn of(runs: Runs, block: [u8; 64]) -> Self {
        Fill { span: runs.span(), runs, block }
    }

    /// The first and one past the last byte written, relative to where the operand starts.
    pub fn span(&self) -> (i128, i128) {
        self.span
    }

    /// The contiguous byte runs written.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Writes the pattern, with the operand at the start of `memory`.
    pub fn run(&self, memory: &mut [u8]) -> Result<(), OutOfBounds> {
        OutOfBounds::check(self.span, 0, memory.len())?;
        if self.runs.nibbles {
            let nibble = u64::from(self.block[0]);
            self.runs.for_each_nibbles(|at, len| (at..at + len as i64).for_each(|at| write(memory, at, 4, nibble)));
        } else {
            self.runs.for_each_rows(|rows| fill_rows(memory, &rows, &self.block));
        }
        Ok(())
    }

    pub(crate) fn same_value(&self, other: &Fill) -> bool {
        self.block == other.block
    }

    /// Folds fills of one value (see [`fold`]).
    pub(crate) fn fold<'a>(fills: impl IntoIterator<Item = &'a Fill>) -> SmallVec<[Fill; 4]> {
        let mut folded = SmallVec::new();
        let mut nests = Nests::new();
        let mut block = [0u8; 64];
        for fill in fills {
            if fill.runs.nibbles {
                folded.push(fill.clone());
            } else {
                // A fill is a nest over bytes that reads nothing.
                let dims = fill.runs.dims().map(|(extent, dst)| Dim { extent, step: [dst, 0, 0, 0] });
                nests.push(Nest { bits: [8, 0, 0, 0], base: [fill.runs.base, 0, 0, 0], dims: dims.collect() });
                block = fill.block;
            }
        }
        folded.extend(fold(nests).into_iter().map(|nest| Fill::of(nest.runs(DST), block)));
        folded
    }
}
