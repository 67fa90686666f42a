//! Random layouts, and elements by their definition.

use tessera_isa::layout::{Axis, Digit, Layout};
use tessera_kernels::nest::{Map, Nests, Operand, lower};
pub use tessera_testkit::random::Random;

/// The layouts of tile-model.md 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nd,
    Dn,
    Nz,
    Zn,
    Zz,
    Nn,
    View,
}

pub const KINDS: [Kind; 7] = [Kind::Nd, Kind::Dn, Kind::Nz, Kind::Zn, Kind::Zz, Kind::Nn, Kind::View];

/// Rows and columns of a box; `fractal` is 512, 1024 or 32.
pub fn box_of(kind: Kind, fractal: u64, bits: u32) -> (u64, u64) {
    let c0 = 256 / u64::from(bits);
    let (rows, cols) = match fractal {
        1024 => (16, 16),
        32 => (16, 2),
        _ => (16, c0),
    };
    match kind {
        Kind::Nz | Kind::Zz => (rows, cols),
        Kind::Zn | Kind::Nn => (cols, rows),
        _ => (1, 1),
    }
}

pub fn layout(kind: Kind, rows: u64, cols: u64, (ir, ic): (u64, u64)) -> Layout {
    let n = (ir * ic) as i64;
    let (r, c, ir_, ic_) = (rows as i64, cols as i64, ir as i64, ic as i64);
    match kind {
        Kind::Nd | Kind::View => Layout::row_major(rows, cols, cols),
        Kind::Dn => Layout::col_major(rows, cols, rows),
        Kind::Nz => Layout { row: Axis::boxed(rows, ir, n, ic_), col: Axis::boxed(cols, ic, r * ic_, 1) },
        Kind::Zn => Layout { row: Axis::boxed(rows, ir, c * ir_, 1), col: Axis::boxed(cols, ic, n, ir_) },
        Kind::Zz => Layout { row: Axis::boxed(rows, ir, c * ir_, ic_), col: Axis::boxed(cols, ic, n, 1) },
        Kind::Nn => Layout { row: Axis::boxed(rows, ir, n, 1), col: Axis::boxed(cols, ic, r * ic_, ir_) },
    }
}

/// A random legal layout of at least `rows × cols`, often larger.
pub fn random_layout(random: &mut Random, rows: u64, cols: u64, bits: u32) -> Layout {
    let kind = KINDS[random.range(0, 6) as usize];
    if kind == Kind::View {
        return view(random, rows, cols);
    }
    let fractal = match bits {
        32 => [512, 1024][random.range(0, 1) as usize],
        8 => [512, 32][random.range(0, 1) as usize],
        _ => 512,
    };
    let (ir, ic) = box_of(kind, fractal, bits);
    let up = |random: &mut Random, n: u64, m: u64| n.next_multiple_of(m) + m * random.range(0, 2);
    // NZ in Vec may have any number of rows (tile-box-rows).
    let rows =
        if kind == Kind::Nz && random.range(0, 1) == 0 { rows + random.range(0, 5) } else { up(random, rows, ir) };
    let cols = up(random, cols, ic);
    // If rows or columns share a byte, fp4 needs even extents; tiles are multiples of 32 bytes anyway.
    let (rows, cols) = if bits == 4 { (rows.next_multiple_of(2), cols.next_multiple_of(2)) } else { (rows, cols) };
    layout(kind, rows, cols, (ir, ic))
}

/// A strided view of global memory with up to four digits on its row axis (tile-model.md 7).
fn view(random: &mut Random, rows: u64, cols: u64) -> Layout {
    let inner = random.range(1, 7);
    let middle = random.range(1, 4);
    let outer = rows.div_ceil(inner * middle).max(1);
    let pitch = cols + random.range(0, 3) * 2;
    let plane = pitch * inner + random.range(0, 2) * 2;
    let volume = plane * middle + random.range(0, 2) * 2;
    let digits = [(outer, volume), (middle, plane), (inner, pitch)]
        .map(|(extent, stride)| Digit { extent, stride: stride as i64 });
    let row = Axis::from_digits(&digits);
    Layout { row, col: Axis::linear(cols, 1) }
}

/// Bytes of `elements` elements.
pub fn bytes_of(elements: u64, bits: u32) -> usize {
    (elements * u64::from(bits)).div_ceil(8) as usize
}

/// One element, by the definition of tile-model.md 3.
pub fn get(bytes: &[u8], at: u64, bits: u32) -> u64 {
    if bits == 4 {
        return u64::from(bytes[at as usize / 2] >> (4 * (at % 2)) & 15);
    }
    let len = bits as usize / 8;
    (0..len).rev().fold(0, |v, k| v << 8 | u64::from(bytes[at as usize * len + k]))
}

pub fn put(bytes: &mut [u8], at: u64, bits: u32, value: u64) {
    if bits == 4 {
        let byte = &mut bytes[at as usize / 2];
        let shift = 4 * (at % 2);
        *byte = *byte & !(15 << shift) | ((value & 15) as u8) << shift;
        return;
    }
    let len = bits as usize / 8;
    for k in 0..len {
        bytes[at as usize * len + k] = (value >> (8 * k)) as u8;
    }
}

/// Bits of an element on both sides of a move.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    pub src: u32,
    pub dst: u32,
}

impl Bits {
    pub const fn same(bits: u32) -> Self {
        Bits { src: bits, dst: bits }
    }
}

/// `dst(i, j) = src(i, j)`, through a map on either side.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub rows: u64,
    pub cols: u64,
    pub src: Map,
    pub dst: Map,
}

pub fn lower_move(mv: &Move, src: &Layout, dst: &Layout, bits: Bits) -> Nests {
    let from = Operand { layout: src, map: mv.src, bits: bits.src };
    lower([mv.rows, mv.cols], &[Operand { layout: dst, map: mv.dst, bits: bits.dst }, from])
}
