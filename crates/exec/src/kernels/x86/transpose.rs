//! Blocked transposes of units of 1, 2, 4 and 8 bytes.
//!
//! Loop `a` is contiguous in the source, loop `b` in the destination: a row of the source is a column of the
//! destination. Blocks at the end overlap the ones before, so there is no scalar remainder; an extent below one block
//! leaves the transpose to the strided loop.

use super::super::{Inner, Level, Loop, Raw};
use smallvec::SmallVec;
use std::arch::x86_64::*;

/// The kernel for a transpose of units of `run` bytes, with its two loops moved to the end.
pub(crate) fn transpose(loops: &mut SmallVec<[Loop; 8]>, run: usize, _: Level) -> Option<Raw> {
    let unit = run as isize;
    let a = loops.iter().position(|l| l.src == unit && l.dst != unit)?;
    let b = loops.iter().position(|l| l.dst == unit && l.src != unit)?;
    let (across, along) = (loops[a], loops[b]);
    let fits = |m: usize, n: usize| across.n >= m && along.n >= n;
    let raw: Raw = match run {
        1 if fits(16, 32) => drive::<Bytes16x32>,
        1 if fits(8, 8) => drive::<Bytes8x8>,
        2 if fits(8, 16) => drive::<Words8x16>,
        2 if fits(8, 8) => drive::<Words8x8>,
        4 if fits(8, 8) => drive::<Dwords8x8>,
        4 if fits(4, 4) => drive::<Dwords4x4>,
        8 if fits(4, 4) => drive::<Qwords4x4>,
        _ => return None,
    };
    let mut k = 0;
    loops.retain(|_| {
        k += 1;
        k - 1 != a && k - 1 != b
    });
    loops.extend([across, along]);
    Some(raw)
}

/// A block of `ALONG` source rows of `ACROSS` units, written as `ACROSS` destination rows of `ALONG` units.
trait Block {
    const ACROSS: usize;
    const ALONG: usize;
    const UNIT: usize;

    /// # Safety
    ///
    /// The rows of the block are readable `src_stride` bytes and writable `dst_stride` bytes apart; the machine has AVX2.
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize);
}

/// # Safety
///
/// The contract of [`Raw`], with both loops at least as long as a block, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn drive<B: Block>(src: *const u8, dst: *mut u8, inner: &Inner) {
    // Blocks are taken in squares of one line by one line: every line of either side is used up while it is at hand,
    // however many lines share a set of the first-level cache.
    let square = 64 / B::UNIT;
    let Inner { a, b, .. } = inner;
    let mut i0 = 0;
    while i0 < a.n {
        let i1 = a.n.min(i0 + square);
        let mut j0 = 0;
        while j0 < b.n {
            let j1 = b.n.min(j0 + square);
            let mut i = i0;
            while i < i1 {
                let across = i.min(a.n - B::ACROSS);
                let mut j = j0;
                while j < j1 {
                    let along = j.min(b.n - B::ALONG);
                    let s = src
                        .wrapping_add(across * B::UNIT)
                        .wrapping_offset(along as isize * b.src);
                    let d = dst
                        .wrapping_add(along * B::UNIT)
                        .wrapping_offset(across as isize * a.dst);
                    // SAFETY: `across + ACROSS ≤ a.n` and `along + ALONG ≤ b.n`.
                    unsafe { B::run(s, b.src, d, a.dst) };
                    j += B::ALONG;
                }
                i += B::ACROSS;
            }
            j0 = j1;
        }
        i0 = i1;
    }
}

/// Sixteen bytes of row `i`, and of row `i + far` in the upper half.
///
/// # Safety
///
/// Both are readable; the machine has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load2(src: *const u8, stride: isize, i: isize, far: isize) -> __m256i {
    // SAFETY: the contract of this function.
    unsafe {
        let low = _mm_loadu_si128(src.wrapping_offset(i * stride).cast());
        let high = _mm_loadu_si128(src.wrapping_offset((i + far) * stride).cast());
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }
}

struct Dwords8x8;

impl Block for Dwords8x8 {
    const ACROSS: usize = 8;
    const ALONG: usize = 8;
    const UNIT: usize = 4;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize) {
        for half in 0..2isize {
            // SAFETY: rows 0 to 7 of the block, sixteen bytes from `half · 16` on; destination rows 0 to 7.
            unsafe {
                let s = src.wrapping_offset(half * 16);
                let r: [__m256i; 4] = [0, 1, 2, 3].map(|i| load2(s, src_stride, i, 4));
                let t0 = _mm256_unpacklo_epi32(r[0], r[1]);
                let t1 = _mm256_unpackhi_epi32(r[0], r[1]);
                let t2 = _mm256_unpacklo_epi32(r[2], r[3]);
                let t3 = _mm256_unpackhi_epi32(r[2], r[3]);
                let columns = [
                    _mm256_unpacklo_epi64(t0, t2),
                    _mm256_unpackhi_epi64(t0, t2),
                    _mm256_unpacklo_epi64(t1, t3),
                    _mm256_unpackhi_epi64(t1, t3),
                ];
                for (k, column) in columns.into_iter().enumerate() {
                    let d = dst.wrapping_offset((half * 4 + k as isize) * dst_stride);
                    _mm256_storeu_si256(d.cast(), column);
                }
            }
        }
    }
}

struct Dwords4x4;

impl Block for Dwords4x4 {
    const ACROSS: usize = 4;
    const ALONG: usize = 4;
    const UNIT: usize = 4;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize) {
        // SAFETY: rows 0 to 3 on both sides.
        unsafe {
            let r: [__m128i; 4] = [0, 1, 2, 3].map(|i| _mm_loadu_si128(src.wrapping_offset(i * src_stride).cast()));
            let t0 = _mm_unpacklo_epi32(r[0], r[1]);
            let t1 = _mm_unpackhi_epi32(r[0], r[1]);
            let t2 = _mm_unpacklo_epi32(r[2], r[3]);
            let t3 = _mm_unpackhi_epi32(r[2], r[3]);
            let columns = [
                _mm_unpacklo_epi64(t0, t2),
                _mm_unpackhi_epi64(t0, t2),
                _mm_unpacklo_epi64(t1, t3),
                _mm_unpackhi_epi64(t1, t3),
            ];
            for (k, column) in columns.into_iter().enumerate() {
                _mm_storeu_si128(dst.wrapping_offset(k as isize * dst_stride).cast(), column);
            }
        }
    }
}

struct Qwords4x4;

impl Block for Qwords4x4 {
    const ACROSS: usize = 4;
    const ALONG: usize = 4;
    const UNIT: usize = 8;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize) {
        for half in 0..2isize {
            // SAFETY: rows 0 to 3 of the block, sixteen bytes from `half · 16` on; destination rows 0 to 3.
            unsafe {
                let s = src.wrapping_offset(half * 16);
                let (even, odd) = (load2(s, src_stride, 0, 2), load2(s, src_stride, 1, 2));
                let d = dst.wrapping_offset(half * 2 * dst_stride);
                _mm256_storeu_si256(d.cast(), _mm256_unpacklo_epi64(even, odd));
                _mm256_storeu_si256(d.wrapping_offset(dst_stride).cast(), _mm256_unpackhi_epi64(even, odd));
            }
        }
    }
}

struct Words8x16;

impl Block for Words8x16 {
    const ACROSS: usize = 8;
    const ALONG: usize = 16;
    const UNIT: usize = 2;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize) {
        // SAFETY: source rows 0 to 15, destination rows 0 to 7.
        unsafe {
            let r: [__m256i; 8] = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| load2(src, src_stride, i, 8));
            let mut t = [r[0]; 8];
            for i in 0..4 {
                t[2 * i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
                t[2 * i + 1] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
            }
            for half in 0..2 {
                let (a, b, c, d) = (t[half], t[2 + half], t[4 + half], t[6 + half]);
                let (x0, x1) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                let (y0, y1) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
                let columns = [
                    _mm256_unpacklo_epi64(x0, y0),
                    _mm256_unpackhi_epi64(x0, y0),
                    _mm256_unpacklo_epi64(x1, y1),
                    _mm256_unpackhi_epi64(x1, y1),
                ];
                for (k, column) in columns.into_iter().enumerate() {
                    let row = dst.wrapping_offset((half * 4 + k) as isize * dst_stride);
                    _mm256_storeu_si256(row.cast(), column);
                }
            }
        }
    }
}

struct Words8x8;

impl Block for Words8x8 {
    const ACROSS: usize = 8;
    const ALONG: usize = 8;
    const UNIT: usize = 2;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize) {
        // SAFETY: rows 0 to 7 on both sides.
        unsafe {
            let r: [__m128i; 8] =
                [0, 1, 2, 3, 4, 5, 6, 7].map(|i| _mm_loadu_si128(src.wrapping_offset(i * src_stride).cast()));
            let mut t = [r[0]; 8];
            for i in 0..4 {
                t[2 * i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
                t[2 * i + 1] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
            }
            for half in 0..2 {
                let (a, b, c, d) = (t[half], t[2 + half], t[4 + half], t[6 + half]);
                let (x0, x1) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
                let (y0, y1) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
                let columns = [
                    _mm_unpacklo_epi64(x0, y0),
                    _mm_unpackhi_epi64(x0, y0),
                    _mm_unpacklo_epi64(x1, y1),
                    _mm_unpackhi_epi64(x1, y1),
                ];
                for (k, column) in columns.into_iter().enumerate() {
                    let row = dst.wrapping_offset((half * 4 + k) as isize * dst_stride);
                    _mm_storeu_si128(row.cast(), column);
                }
            }
        }
    }
}

struct Bytes16x32;

impl Block for Bytes16x32 {
    const ACROSS: usize = 16;
    const ALONG: usize = 32;
    const UNIT: usize = 1;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize) {
        // SAFETY: source rows 0 to 31, destination rows 0 to 15.
        unsafe {
            let mut r = [_mm256_setzero_si256(); 16];
            for (i, row) in r.iter_mut().enumerate() {
                *row = load2(src, src_stride, i as isize, 16);
            }
            // Pairs of rows i and i + 8 zip to bytes; four such rounds sort sixteen rows.
            for _ in 0..4 {
                let mut t = [r[0]; 16];
                for i in 0..8 {
                    t[2 * i] = _mm256_unpacklo_epi8(r[i], r[i + 8]);
                    t[2 * i + 1] = _mm256_unpackhi_epi8(r[i], r[i + 8]);
                }
                r = t;
            }
            for (k, column) in r.into_iter().enumerate() {
                _mm256_storeu_si256(dst.wrapping_offset(k as isize * dst_stride).cast(), column);
            }
        }
    }
}

struct Bytes8x8;

impl Block for Bytes8x8 {
    const ACROSS: usize = 8;
    const ALONG: usize = 8;
    const UNIT: usize = 1;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run(src: *const u8, src_stride: isize, dst: *mut u8, dst_stride: isize) {
        // SAFETY: eight bytes of rows 0 to 7 on both sides.
        unsafe {
            let r: [__m128i; 8] =
                [0, 1, 2, 3, 4, 5, 6, 7].map(|i| _mm_loadl_epi64(src.wrapping_offset(i * src_stride).cast()));
            // Zipping rows i and i + 4 three times sorts eight rows, two of them in one register at the end.
            let a: [__m128i; 4] = [0, 1, 2, 3].map(|i| _mm_unpacklo_epi8(r[i], r[i + 4]));
            let b = [
                _mm_unpacklo_epi8(a[0], a[2]),
                _mm_unpackhi_epi8(a[0], a[2]),
                _mm_unpacklo_epi8(a[1], a[3]),
                _mm_unpackhi_epi8(a[1], a[3]),
            ];
            let columns = [
                _mm_unpacklo_epi8(b[0], b[2]),
                _mm_unpackhi_epi8(b[0], b[2]),
                _mm_unpacklo_epi8(b[1], b[3]),
                _mm_unpackhi_epi8(b[1], b[3]),
            ];
            for (k, two) in columns.into_iter().enumerate() {
                let row = dst.wrapping_offset(2 * k as isize * dst_stride);
                _mm_storel_epi64(row.cast(), two);
                _mm_storel_epi64(row.wrapping_offset(dst_stride).cast(), _mm_unpackhi_epi64(two, two));
            }
        }
    }
}
