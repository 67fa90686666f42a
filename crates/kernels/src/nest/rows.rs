//! Fills: one pattern to rows of bytes. Safe code throughout; for wider registers it is only compiled again.

/// `n` rows of `len` bytes from `at` on, `stride` bytes apart.
pub struct Rows {
    pub at: i64,
    pub n: u64,
    pub stride: i64,
    pub len: u64,
}

multiversion! {
    /// Writes the pattern to every row. A row's length is a multiple of the pattern's period, which divides the block's.
    pub fn fill[][](memory: &mut [u8], rows: &Rows, block: &[u8; 64]) where [] {
        fill_rows(memory, rows, block)
    }
    "avx512f,avx512vl,avx512bw", "avx2"
}

#[inline(always)]
fn fill_rows(memory: &mut [u8], rows: &Rows, block: &[u8; 64]) {
    let mut at = rows.at;
    for _ in 0..rows.n {
        let row = usize::try_from(at).ok().and_then(|at| memory.get_mut(at..at.checked_add(rows.len as usize)?));
        if let Some(row) = row {
            fill_row(row, block);
        }
        at = at.wrapping_add(rows.stride);
    }
}

/// Fills a row with pieces of fixed size, the last one overlapping its neighbour: a call of memset or memcpy for each row
/// would cost more than the row.
#[inline(always)]
fn fill_row(row: &mut [u8], block: &[u8; 64]) {
    let _ = pieces::<64>(row, block)
        || pieces::<32>(row, block)
        || pieces::<16>(row, block)
        || pieces::<8>(row, block)
        || pieces::<4>(row, block)
        || pieces::<2>(row, block)
        || pieces::<1>(row, block);
}

/// Fills a row of at least `N` bytes.
#[inline(always)]
fn pieces<const N: usize>(row: &mut [u8], block: &[u8; 64]) -> bool {
    let (Some(piece), true) = (block.first_chunk::<N>(), row.len() >= N) else {
        return false;
    };
    let (whole, _) = row.as_chunks_mut::<N>();
    for chunk in whole {
        *chunk = *piece;
    }
    if let Some(last) = row.last_chunk_mut::<N>() {
        *last = *piece;
    }
    true
}
