//! Matrix products: a chain of fused multiply-adds for every result, in rising k (matrix.md 1).

use super::fold::Bits;
#[cfg(target_arch = "x86_64")]
use super::{Level, x86};
use crate::nest::read_bits;
use std::borrow::Cow;
use tessera_isa::codec::{Number, f16_to_f32};
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Func, Reduced, SCALE_BLOCK, add_once};

const BLOCK: usize = SCALE_BLOCK as usize;

/// Elements of a factor: `a` row by row, `b` row by row (one row for each k).
type Factor<'a> = (Elem, &'a [u8]);

/// `start + a · b`, row by row; f32 elements may be rounded before (matrix.md 5).
pub(super) fn contract(
    a: Factor<'_>,
    b: Factor<'_>,
    reduced: Option<Reduced>,
    to: Elem,
    extent: [usize; 3],
    start: Option<&[u8]>,
) -> Option<Vec<u8>> {
    Some(match (to, a.0, b.0) {
        (Elem::F32, x, y) if x.is_float() && y.is_float() => {
            let [a, b] = [a, b].map(|(elem, bytes)| floats(elem, bytes, reduced));
            float_sums(extent, &a, &b, start)
        }
        (Elem::I32, Elem::I8, Elem::I8) => {
            let [m, n, k] = extent;
            let start = start.map(|s| i32::all(s).collect());
            let (a, b) = (pairs_along(k, a.1), pairs_across(n, b.1));
            bytes_of(&best_sums::<i32>([m, n, k.div_ceil(2)], &a, &b, start), i32::to_le_bytes)
        }
        _ => return by_definition(a, b, reduced, to, extent, start),
    })
}

fn float_sums(extent: [usize; 3], a: &[f32], b: &[f32], start: Option<&[u8]>) -> Vec<u8> {
    let start = start.map(|s| u32::all(s).map(f32::from_bits).collect());
    bytes_of(&best_sums::<f32>(extent, a, b, start), canonical)
}

fn bytes_of<T: Copy>(values: &[T], bytes: impl Fn(T) -> [u8; 4]) -> Vec<u8> {
    let mut out = vec![0; values.len() * 4];
    out.as_chunks_mut().0.iter_mut().zip(values).for_each(|(to, v)| *to = bytes(*v));
    out
}

fn canonical(v: f32) -> [u8; 4] {
    if v.is_nan() { 0x7FC0_0000 } else { v.to_bits() }.to_le_bytes()
}

/// A factor and its scales: those of `a` row by row, those of `b` one row for each block of k.
type ScaledFactor<'a> = (Elem, &'a [u8], &'a [u8]);

/// Exponents with which an element of at most 8 bits stays exact in f32: 2^-100 to 2^100, and NaN.
const EXACT: std::ops::RangeInclusive<u8> = 27..=227;
const NAN_SCALE: u8 = 255;

/// `start + a · b` with a scale for every block of k on both sides (matrix.md 3).
pub(super) fn scaled(a: ScaledFactor<'_>, b: ScaledFactor<'_>, extent: [usize; 3], start: Option<&[u8]>) -> Vec<u8> {
    let [_, n, k] = extent;
    let blocks = k.div_ceil(BLOCK).max(1);
    let left = |i: usize| i / k.max(1) * blocks + i % k.max(1) / BLOCK;
    let right = |i: usize| i / n.max(1) / BLOCK * n + i % n.max(1);
    let exponents: Vec<f64> = (0..=255).map(|bits| value(Elem::F8e8m0, bits)).collect();
    let scale = |bits: u8| exponents[usize::from(bits)];
    let [x, y] = [(a.0, a.1), (b.0, b.1)].map(|(elem, bytes)| floats(elem, bytes, None));
    if a.2.iter().chain(b.2).all(|e| EXACT.contains(e) || *e == NAN_SCALE) {
        // Exact before the product, which fused multiply-adds take as it is.
        let times = |v: &[f32], scales: &[u8], at: &dyn Fn(usize) -> usize| -> Vec<f32> {
            v.iter().enumerate().map(|(i, v)| v * scale(scales[at(i)]) as f32).collect()
        };
        return float_sums(extent, &times(&x, a.2, &left), &times(&y, b.2, &right), start);
    }
    let times = |v: &[f32], scales: &[u8], at: &dyn Fn(usize) -> usize| -> Vec<f64> {
        v.iter().enumerate().map(|(i, v)| f64::from(*v) * scale(scales[at(i)])).collect()
    };
    let (x, y) = (times(&x, a.2, &left), times(&y, b.2, &right));
    let mut sums: Vec<f32> =
        start.map_or_else(|| vec![0.0; extent[0] * n], |s| u32::all(s).map(f32::from_bits).collect());
    for (row, sums) in x.chunks_exact(k.max(1)).zip(sums.chunks_exact_mut(n.max(1))) {
        for (x, columns) in row.iter().zip(y.chunks_exact(n.max(1))) {
            sums.iter_mut().zip(columns).for_each(|(s, y)| *s = add_once(*s, x * y));
        }
    }
    bytes_of(&sums, canonical)
}

fn value(elem: Elem, bits: u64) -> f64 {
    match elem.decode(bits) {
        Number::Float(v) => v,
        Number::Int(v) => v as f64,
    }
}

/// Halves as floats, where the machine has an instruction for it.
fn halves(bytes: &[u8]) -> Option<Vec<f32>> {
    #[cfg(target_arch = "x86_64")]
    return x86::contract::halves(bytes, Level::best());
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = bytes;
        None
    }
}

/// The values of elements that f32 holds exactly.
fn floats(elem: Elem, bytes: &[u8], reduced: Option<Reduced>) -> Cow<'_, [f32]> {
    // SAFETY: every bit pattern is an f32.
    if let (Elem::F32, None, ([], floats, [])) = (elem, reduced, unsafe { bytes.align_to::<f32>() }) {
        return Cow::Borrowed(floats);
    }
    Cow::Owned(match elem {
        Elem::F32 => u32::all(bytes).map(|x| f32::from_bits(reduced.map_or(x, |r| r.round(x)))).collect(),
        Elem::F16 => halves(bytes).unwrap_or_else(|| u16::all(bytes).map(f16_to_f32).collect()),
        Elem::Bf16 => u16::all(bytes).map(|x| f32::from_bits(u32::from(x) << 16)).collect(),
        _ => {
            let table: Vec<f32> = (0..=elem.mask()).map(|bits| value(elem, bits) as f32).collect();
            let halves = |b: &u8| [table[usize::from(b & 15)], table[usize::from(b >> 4)]];
            match elem.bits() {
                4 => bytes.iter().flat_map(halves).collect(),
                _ => bytes.iter().map(|b| table[usize::from(*b)]).collect(),
            }
        }
    })
}

/// A number that sums of products are made of.
trait Sum: Copy + Default {
    /// `self + x · y`, rounded once.
    fn add(self, x: Self, y: Self) -> Self;

    /// A block of sums in the machine's own vectors, where it has such.
    #[cfg(target_arch = "x86_64")]
    fn vectors(level: Level) -> Option<x86::contract::Block<Self>>;
}

impl Sum for f32 {
    #[inline(always)]
    fn add(self, x: f32, y: f32) -> f32 {
        x.mul_add(y, self)
    }

    #[cfg(target_arch = "x86_64")]
    fn vectors(level: Level) -> Option<x86::contract::Block<f32>> {
        x86::contract::floats(level)
    }
}

/// Factors are pairs of words, for two k: sums that wrap do not depend on their order.
impl Sum for i32 {
    #[inline(always)]
    fn add(self, x: i32, y: i32) -> i32 {
        let words = |v: i32| [i32::from(v as i16), v >> 16];
        let ([a, b], [c, d]) = (words(x), words(y));
        self.wrapping_add(a * c + b * d)
    }

    #[cfg(target_arch = "x86_64")]
    fn vectors(level: Level) -> Option<x86::contract::Block<i32>> {
        x86::contract::integers(level)
    }
}

/// Two bytes as words.
#[inline(always)]
fn pair([x, y]: [u8; 2]) -> i32 {
    i32::from(x as i8) & 0xFFFF | i32::from(y as i8) << 16
}

/// Rows of `k` bytes as pairs of neighbours; the last one of an odd row meets 0.
#[inline(always)]
fn along(k: usize, bytes: &[u8]) -> Vec<i32> {
    if k.is_multiple_of(2) {
        return bytes.as_chunks::<2>().0.iter().map(|two| pair(*two)).collect();
    }
    let two = |two: &[u8]| pair([two[0], two.get(1).copied().unwrap_or(0)]);
    bytes.chunks_exact(k).flat_map(|row| row.chunks(2).map(two)).collect()
}

/// Rows of `n` bytes as rows of pairs, of one and the next.
#[inline(always)]
fn across(n: usize, bytes: &[u8]) -> Vec<i32> {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(2) + n);
    for two in bytes.chunks((2 * n).max(1)) {
        let (x, y) = two.split_at(n.min(two.len()));
        match y.is_empty() {
            true => out.extend(x.iter().map(|x| pair([*x, 0]))),
            false => out.extend(x.iter().zip(y).map(|(x, y)| pair([*x, *y]))),
        }
    }
    out
}

multiversion! {
    fn pairs_along[][](k: usize, bytes: &[u8]) -> Vec<i32> where [] { along(k, bytes) }
    "avx512f,avx512bw", "avx2"
}

multiversion! {
    fn pairs_across[][](n: usize, bytes: &[u8]) -> Vec<i32> where [] { across(n, bytes) }
    "avx512f,avx512bw", "avx2"
}

/// Rows and columns of the results that are kept in registers.
pub(super) const ROWS: usize = 8;
pub(super) const COLS: usize = 32;

/// One block of sums, whose rows are a pitch apart: the safe twin of the vector kernels.
fn block<T: Sum>(rows: &[&[T]; ROWS], panel: &[[T; COLS]], sums: &mut [T], pitch: usize) {
    for (k, columns) in panel.iter().enumerate() {
        for (r, row) in rows.iter().enumerate() {
            let x = row[k];
            sums[r * pitch..].iter_mut().zip(columns).for_each(|(s, y)| *s = s.add(x, *y));
        }
    }
}

fn best_sums<T: Sum>([m, n, k]: [usize; 3], a: &[T], b: &[T], start: Option<Vec<T>>) -> Vec<T> {
    #[cfg(target_arch = "x86_64")]
    let add = T::vectors(Level::best()).unwrap_or(block);
    #[cfg(not(target_arch = "x86_64"))]
    let add = block;
    let mut out = start.unwrap_or_else(|| vec![T::default(); m * n]);
    // The columns of a block, padded, so that every block is computed alike.
    let mut panel = vec![[T::default(); COLS]; k];
    for j in (0..n).step_by(COLS) {
        let width = COLS.min(n - j);
        for (row, to) in b.chunks_exact(n.max(1)).zip(&mut panel) {
            match row[j..].first_chunk() {
                Some(whole) => *to = *whole,
                None => to[..width].copy_from_slice(&row[j..]),
            }
        }
        for i in (0..m).step_by(ROWS) {
            let height = ROWS.min(m - i);
            let rows: [&[T]; ROWS] = std::array::from_fn(|r| &a[(i + r.min(height - 1)) * k..][..k]);
            if (height, width) == (ROWS, COLS) {
                add(&rows, &panel, &mut out[i * n + j..], n);
                continue;
            }
            let mut sums = [T::default(); ROWS * COLS];
            for (r, row) in sums.chunks_exact_mut(COLS).enumerate().take(height) {
                row[..width].copy_from_slice(&out[(i + r) * n + j..][..width]);
            }
            add(&rows, &panel, &mut sums, COLS);
            for (r, row) in sums.chunks_exact(COLS).enumerate().take(height) {
                out[(i + r) * n + j..][..width].copy_from_slice(&row[..width]);
            }
        }
    }
    out
}

/// Element by element.
fn by_definition(
    a: Factor<'_>,
    b: Factor<'_>,
    reduced: Option<Reduced>,
    to: Elem,
    [m, n, depth]: [usize; 3],
    start: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let at = |(elem, bytes): Factor<'_>, n: usize| {
        (elem, read_bits(bytes, (n * elem.bits() as usize / 8) as i64, elem.bits()))
    };
    let sum = |r: usize| {
        let first = start.map_or(Func::MulAdd(reduced).start(to), |s| Some(at((to, s), r).1))?;
        let step = |s, k| {
            let args = [(to, s), at(a, r / n * depth + k), at(b, k * n + r % n)];
            Func::MulAdd(reduced).eval(to, &args)
        };
        (0..depth).try_fold(first, step)
    };
    let mut out = Vec::with_capacity(m * n * to.bits() as usize / 8);
    for r in 0..m * n {
        out.extend(sum(r)?.to_le_bytes().into_iter().take(to.bits() as usize / 8));
    }
    Some(out)
}
