//! Narrowing copies: the low half or quarter of every element (TPACK, ops.md 6).

use super::vector::cover;
use crate::Level;
use crate::copy::{Inner, Loop, Raw};
use crate::nest::{DST, OPERANDS, SRC};
use smallvec::SmallVec;
use std::arch::x86_64::*;

/// The kernel for a narrowing copy whose innermost loop is contiguous on both sides.
pub fn narrow(loops: &mut SmallVec<[Loop; 8]>, bits: [u32; OPERANDS], level: Level) -> Option<Raw> {
    let inner = loops.last()?;
    let contiguous = inner.src == (bits[SRC] / 8) as isize && inner.dst == (bits[DST] / 8) as isize;
    if !contiguous {
        return None;
    }
    match (bits[SRC], bits[DST], level) {
        (32, 16, Level::Avx512) => Some(dword_to_word),
        (32, 8, Level::Avx512) => Some(dword_to_byte),
        (16, 8, Level::Avx512) => Some(word_to_byte),
        (32, 16, Level::Avx2) if inner.n >= 16 => Some(halves::<2, 16>),
        (16, 8, Level::Avx2) if inner.n >= 32 => Some(halves::<1, 32>),
        (32, 8, Level::Avx2) if inner.n >= 32 => Some(quarters),
        _ => None,
    }
}

/// Elements of `2 · UNIT` bytes to their low halves, `N` at a time.
///
/// Safety: the contract of [`Raw`], where source elements have their full width and the inner loop at least `N`
/// elements, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn halves<const UNIT: usize, const N: usize>(src: *const u8, dst: *mut u8, inner: &Inner) {
    // Brings the low halves of a lane to its low eight bytes.
    let low = match UNIT {
        1 => _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1),
        _ => _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1),
    };
    let low = _mm256_broadcastsi128_si256(low);
    let Inner { a, b, .. } = inner;
    for i in 0..a.n as isize {
        let (s, d) = (src.wrapping_offset(i * a.src), dst.wrapping_offset(i * a.dst));
        cover(b.n, N, |k| {
            // SAFETY: elements `k` to `k + N` lie inside the row: 64 bytes of the source, 32 of the destination.
            unsafe {
                let s = s.add(k * 2 * UNIT);
                let x = _mm256_shuffle_epi8(_mm256_loadu_si256(s.cast()), low);
                let y = _mm256_shuffle_epi8(_mm256_loadu_si256(s.add(32).cast()), low);
                let both = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpacklo_epi64(x, y));
                _mm256_storeu_si256(d.add(k * UNIT).cast(), both);
            }
        });
    }
}

/// Elements of four bytes to their low bytes, 32 at a time.
///
/// Safety: the contract of [`Raw`], where source elements have their full width and the inner loop at least 32
/// elements, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn quarters(src: *const u8, dst: *mut u8, inner: &Inner) {
    let low = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    let low = _mm256_broadcastsi128_si256(low);
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let Inner { a, b, .. } = inner;
    for i in 0..a.n as isize {
        let (s, d) = (src.wrapping_offset(i * a.src), dst.wrapping_offset(i * a.dst));
        cover(b.n, 32, |k| {
            // SAFETY: elements `k` to `k + 32` lie inside the row: 128 bytes of the source, 32 of the destination.
            unsafe {
                let part = |v: usize| _mm256_shuffle_epi8(_mm256_loadu_si256(s.add(4 * k + 32 * v).cast()), low);
                let (front, back) = (_mm256_unpacklo_epi32(part(0), part(1)), _mm256_unpacklo_epi32(part(2), part(3)));
                let all = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(front, back), order);
                _mm256_storeu_si256(d.add(k).cast(), all);
            }
        });
    }
}

/// One kernel: `$step` elements of `$from` bytes at a time, the rest with masked loads and stores.
macro_rules! narrowing {
    ($($name:ident $from:literal => $to:literal, $step:literal, $mask:ty, $masked_load:ident, $narrow:ident, $store:ident,
       $masked_store:ident;)*) => {$(
        /// Safety: the contract of [`Raw`], where source elements have their full width, on a machine with AVX-512 BW
        /// and VL.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $name(src: *const u8, dst: *mut u8, inner: &Inner) {
            let Inner { a, b, .. } = inner;
            let whole = b.n / $step * $step;
            let mask: $mask = ((1u64 << (b.n - whole)) - 1) as $mask;
            for i in 0..a.n as isize {
                let (s, d) = (src.wrapping_offset(i * a.src), dst.wrapping_offset(i * a.dst));
                // SAFETY: `whole` elements are whole vectors of both rows, and the mask has the bits of the rest only.
                unsafe {
                    let mut k = 0;
                    while k < whole {
                        $store(d.add(k * $to).cast(), $narrow(_mm512_loadu_si512(s.add(k * $from).cast())));
                        k += $step;
                    }
                    if mask != 0 {
                        let rest = $masked_load(mask, s.add(whole * $from).cast());
                        $masked_store(d.add(whole * $to).cast(), mask, $narrow(rest));
                    }
                }
            }
        }
    )*};
}

narrowing! {
    dword_to_word 4 => 2, 16, __mmask16, _mm512_maskz_loadu_epi32, _mm512_cvtepi32_epi16, _mm256_storeu_si256,
        _mm256_mask_storeu_epi16;
    dword_to_byte 4 => 1, 16, __mmask16, _mm512_maskz_loadu_epi32, _mm512_cvtepi32_epi8, _mm_storeu_si128,
        _mm_mask_storeu_epi8;
    word_to_byte 2 => 1, 32, __mmask32, _mm512_maskz_loadu_epi16, _mm512_cvtepi16_epi8, _mm256_storeu_si256,
        _mm256_mask_storeu_epi8;
}
