//! Matrix products: a chain of fused multiply-adds for every result, in rising k (matrix.md 1).

use super::Level;
use super::fold::Bits;
use crate::nest::read_bits;
use tessera_isa::codec::{Number, f16_to_f32};
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// `start + a · b`: `a` row by row, `b` row by row (one row for each k), the result row by row.
pub(super) fn contract(
    elems: [Elem; 2],
    to: Elem,
    extent: [usize; 3],
    a: &[u8],
    b: &[u8],
    start: Option<&[u8]>,
) -> Vec<u8> {
    match (to, elems) {
        (Elem::F32, [x, y]) if x.is_float() && y.is_float() => {
            let start = start.map(|s| u32::all(s).map(f32::from_bits).collect());
            let sums = best_sums::<f32>(extent, &floats(x, a), &floats(y, b), start);
            let canonical = |v: f32| if v.is_nan() { 0x7FC0_0000 } else { v.to_bits() };
            sums.into_iter().flat_map(|v| canonical(v).to_le_bytes()).collect()
        }
        (Elem::I32, [Elem::I8, Elem::I8]) => {
            let wide = |x: &[u8]| i8::all(x).map(i32::from).collect::<Vec<i32>>();
            let start = start.map(|s| i32::all(s).collect());
            best_sums::<i32>(extent, &wide(a), &wide(b), start).into_iter().flat_map(i32::to_le_bytes).collect()
        }
        _ => by_definition(elems, to, extent, a, b, start),
    }
}

/// The values of elements that f32 holds exactly.
fn floats(elem: Elem, bytes: &[u8]) -> Vec<f32> {
    let value = |bits: u64| match elem.decode(bits) {
        Number::Float(v) => v as f32,
        Number::Int(v) => v as f32,
    };
    match elem {
        Elem::F32 => u32::all(bytes).map(f32::from_bits).collect(),
        Elem::F16 => u16::all(bytes).map(f16_to_f32).collect(),
        Elem::Bf16 => u16::all(bytes).map(|x| f32::from_bits(u32::from(x) << 16)).collect(),
        _ => {
            let table: Vec<f32> = (0..256).map(value).collect();
            bytes.iter().map(|b| table[usize::from(*b)]).collect()
        }
    }
}

/// A number that sums of products are made of.
trait Sum: Copy + Default {
    /// `self + x · y`, rounded once.
    fn add(self, x: Self, y: Self) -> Self;
}

impl Sum for f32 {
    #[inline(always)]
    fn add(self, x: f32, y: f32) -> f32 {
        x.mul_add(y, self)
    }
}

impl Sum for i32 {
    #[inline(always)]
    fn add(self, x: i32, y: i32) -> i32 {
        self.wrapping_add(x.wrapping_mul(y))
    }
}

/// Rows and columns of the results that are kept in registers.
const ROWS: usize = 4;
const COLS: usize = 32;

#[inline(always)]
fn sums<T: Sum>([m, n, k]: [usize; 3], a: &[T], b: &[T], start: Option<Vec<T>>) -> Vec<T> {
    let mut out = start.unwrap_or_else(|| vec![T::default(); m * n]);
    // The columns of a block, padded, so that every block is computed alike.
    let mut panel = vec![T::default(); k * COLS];
    for j in (0..n).step_by(COLS) {
        let width = COLS.min(n - j);
        for (row, to) in b.chunks_exact(n.max(1)).zip(panel.as_chunks_mut::<COLS>().0) {
            to[..width].copy_from_slice(&row[j..j + width]);
        }
        for i in (0..m).step_by(ROWS) {
            let height = ROWS.min(m - i);
            let mut block = [[T::default(); COLS]; ROWS];
            for (r, row) in block.iter_mut().enumerate().take(height) {
                row[..width].copy_from_slice(&out[(i + r) * n + j..][..width]);
            }
            let rows: [&[T]; ROWS] = std::array::from_fn(|r| &a[(i + r.min(height - 1)) * k..][..k]);
            for (k, columns) in panel.as_chunks::<COLS>().0.iter().enumerate() {
                for (row, values) in block.iter_mut().zip(rows) {
                    let x = values[k];
                    for (s, y) in row.iter_mut().zip(columns) {
                        *s = s.add(x, *y);
                    }
                }
            }
            for (r, row) in block.iter().enumerate().take(height) {
                out[(i + r) * n + j..][..width].copy_from_slice(&row[..width]);
            }
        }
    }
    out
}

leveled! {
    fn best_sums[T: Sum][T](extent: [usize; 3], a: &[T], b: &[T], start: Option<Vec<T>>) -> Vec<T> where [] {
        sums(extent, a, b, start)
    }
    "avx512f,fma", "avx2,fma"
}

/// Element by element.
fn by_definition(
    elems: [Elem; 2],
    to: Elem,
    [m, n, depth]: [usize; 3],
    a: &[u8],
    b: &[u8],
    start: Option<&[u8]>,
) -> Vec<u8> {
    let at = |elem: Elem, bytes: &[u8], n: usize| {
        (elem, read_bits(bytes, (n * elem.bits() as usize / 8) as i64, elem.bits()))
    };
    let [x, y] = elems;
    let sum = |r: usize| {
        let first = start.map_or(0, |s| at(to, s, r).1);
        let step = |s, k| Func::MulAdd.eval(to, &[(to, s), at(x, a, r / n * depth + k), at(y, b, k * n + r % n)]);
        (0..depth).fold(first, step)
    };
    (0..m * n).flat_map(|r| sum(r).to_le_bytes().into_iter().take(to.bits() as usize / 8)).collect()
}
