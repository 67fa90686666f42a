//! Where elements lie (cube.md 1).

use tessera_isa::elem::Elem;

/// Bytes of a box: 16 rows of 32 bytes.
pub const BOX: i64 = 512;
/// Bytes of a row of a box.
pub const ROW: i64 = 32;

/// `x` rounded up to a multiple of `n`.
pub fn up(x: i64, n: i64) -> i64 {
    x.saturating_add(n - 1).div_euclid(n) * n
}

/// `x / n` rounded up.
pub fn pieces(x: i64, n: i64) -> i64 {
    up(x, n) / n
}

/// Elements in a row of a box.
pub fn c0(elem: Elem) -> i64 {
    ROW * 8 / i64::from(elem.bits())
}

/// The first byte of row r of a box column; `stride` boxes lie between two columns of boxes.
pub fn row_of_box(r: i64, column: i64, stride: i64) -> i64 {
    BOX * (column * stride + r / 16) + ROW * (r % 16)
}

/// The byte of the accumulator's element (i, j); a column of 16 takes `stride` rows.
pub fn acc(i: i64, j: i64, stride: i64) -> i64 {
    64 * (j / 16 * stride + i) + 4 * (j % 16)
}

/// The byte of the scale of row i, block g; `blocks` is the number of pairs of blocks in a row.
pub fn scale(i: i64, g: i64, blocks: i64) -> i64 {
    32 * (i / 16 * blocks + g / 2) + 2 * (i % 16) + g % 2
}

/// The bits of element n of a row of a box or of a run of elements.
pub fn element(bytes: &[u8], elem: Elem, n: usize) -> u64 {
    if elem.is_fp4() {
        return u64::from(bytes.get(n / 2).copied().unwrap_or(0) >> (4 * (n % 2)) & 15);
    }
    let size = elem.bits() as usize / 8;
    let raw = bytes.get(n * size..(n + 1) * size).unwrap_or_default();
    raw.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// Bytes that n elements of a run take.
pub fn bytes_of(n: i64, elem: Elem) -> i64 {
    up(n * i64::from(elem.bits()), 8) / 8
}
