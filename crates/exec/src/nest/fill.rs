//! Fills: a nest without a source.

use super::OutOfBounds;
use super::runs::{Runs, write};

/// Writes one bit pattern to every element that its loops reach.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fill {
    runs: Runs,
    span: (i128, i128),
    /// The pattern, repeated.
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
        let runs = runs.in_bytes().unwrap_or(runs);
        Fill {
            span: runs.span(),
            runs,
            block,
        }
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
        if self.runs.nibbles() {
            let nibble = u64::from(self.block[0]);
            self.runs
                .for_each_nibbles(|at, len| (at..at + len as i64).for_each(|at| write(memory, at, 4, nibble)));
            return Ok(());
        }
        self.runs.for_each(|at, len| {
            let row = usize::try_from(at)
                .ok()
                .and_then(|at| memory.get_mut(at..at.checked_add(len as usize)?));
            if let Some(row) = row {
                fill_row(row, &self.block);
            }
        });
        Ok(())
    }
}

/// Fills a row whose length is a multiple of the pattern's period with pieces of fixed size, the last one overlapping
/// its neighbour: a call of memset or memcpy for each row would cost more than the row.
#[inline]
fn fill_row(row: &mut [u8], block: &[u8; 64]) {
    #[inline]
    fn pieces<const N: usize>(row: &mut [u8], block: &[u8; 64]) -> bool {
        let Some(piece) = block.first_chunk::<N>() else {
            return false;
        };
        if row.len() < N {
            return false;
        }
        let (whole, _) = row.as_chunks_mut::<N>();
        for chunk in whole {
            *chunk = *piece;
        }
        if let Some(last) = row.last_chunk_mut::<N>() {
            *last = *piece;
        }
        true
    }
    let _ = pieces::<64>(row, block)
        || pieces::<32>(row, block)
        || pieces::<16>(row, block)
        || pieces::<8>(row, block)
        || pieces::<4>(row, block)
        || pieces::<2>(row, block)
        || pieces::<1>(row, block);
}
