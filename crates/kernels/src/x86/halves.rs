//! Halves, and powers of two, by the instructions that machines have for them.

use super::super::element::{LANES, Simd};
use std::arch::x86_64::*;

/// [`Level::Avx2`](super::super::Level::Avx2).
pub struct Avx2;

/// [`Level::Avx512`](super::super::Level::Avx512).
pub struct Avx512;

/// To the nearest.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

/// The NaN that arithmetic gives (elementwise.md 1).
const NAN: i16 = 0x7E00;

impl Simd for Avx2 {
    #[inline(always)]
    unsafe fn from_halves(raw: [u16; LANES]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        for (to, from) in out.as_chunks_mut::<8>().0.iter_mut().zip(raw.as_chunks::<8>().0) {
            // SAFETY: the contract of the trait, and arrays of eight.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast()))) };
        }
        out
    }

    #[inline(always)]
    unsafe fn to_halves(values: [f32; LANES]) -> [u16; LANES] {
        let mut out = [0; LANES];
        for (to, from) in out.as_chunks_mut::<8>().0.iter_mut().zip(values.as_chunks::<8>().0) {
            // SAFETY: the contract of the trait, and arrays of eight.
            unsafe {
                let v = _mm256_loadu_ps(from.as_ptr());
                let halves = _mm256_cvtps_ph::<NEAREST>(v);
                let is_nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(v, v));
                let is_nan = _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256::<1>(is_nan));
                _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_blendv_epi8(halves, _mm_set1_epi16(NAN), is_nan));
            }
        }
        out
    }
}

impl Simd for Avx512 {
    #[inline(always)]
    unsafe fn from_halves(raw: [u16; LANES]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        for (to, from) in out.as_chunks_mut::<16>().0.iter_mut().zip(raw.as_chunks::<16>().0) {
            // SAFETY: the contract of the trait, and arrays of sixteen.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), _mm512_cvtph_ps(_mm256_loadu_si256(from.as_ptr().cast()))) };
        }
        out
    }

    #[inline(always)]
    unsafe fn to_halves(values: [f32; LANES]) -> [u16; LANES] {
        let mut out = [0; LANES];
        for (to, from) in out.as_chunks_mut::<16>().0.iter_mut().zip(values.as_chunks::<16>().0) {
            // SAFETY: the contract of the trait, and arrays of sixteen.
            unsafe {
                let v = _mm512_loadu_ps(from.as_ptr());
                let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v);
                let halves = _mm512_cvtps_ph::<NEAREST>(v);
                let halves = _mm256_mask_mov_epi16(halves, is_nan, _mm256_set1_epi16(NAN));
                _mm256_storeu_si256(to.as_mut_ptr().cast(), halves);
            }
        }
        out
    }

    /// The upper element of a pair is an f32 as it lies, the lower one after a shift, and nothing has to cross lanes.
    #[inline(always)]
    unsafe fn from_pairs(raw: [u16; LANES]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        // SAFETY: the contract of the trait, and two vectors of sixteen.
        unsafe {
            let pairs = _mm512_loadu_si512(raw.as_ptr().cast());
            let upper = _mm512_and_si512(pairs, _mm512_set1_epi32(0xFFFF_0000_u32 as i32));
            _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_slli_epi32::<16>(pairs));
            _mm512_storeu_si512(out.as_mut_ptr().add(16).cast(), upper);
        }
        out
    }

    #[inline(always)]
    unsafe fn to_pairs(values: [f32; LANES]) -> [u16; LANES] {
        let mut out = [0; LANES];
        // SAFETY: the contract of the trait, and two vectors of sixteen.
        unsafe {
            let mut lower = _mm512_loadu_ps(values.as_ptr());
            let mut upper = _mm512_loadu_ps(values.as_ptr().add(16));
            if _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(lower, upper) != 0 {
                (lower, upper) = (without_payload(lower), without_payload(upper));
            }
            let lower = _mm512_srli_epi32::<16>(to_nearest(lower));
            let pairs = _mm512_mask_mov_epi16(lower, 0xAAAA_AAAA, to_nearest(upper));
            _mm512_storeu_si512(out.as_mut_ptr().cast(), pairs);
        }
        out
    }

    #[inline(always)]
    unsafe fn among(table: &[u32; 32], mut index: [u32; LANES]) -> [u32; LANES] {
        for index in index.as_chunks_mut::<16>().0 {
            // SAFETY: the contract of the trait, and arrays of sixteen.
            unsafe {
                let (low, high) = table.split_at(16);
                let (low, high) = (_mm512_loadu_si512(low.as_ptr().cast()), _mm512_loadu_si512(high.as_ptr().cast()));
                let at = _mm512_loadu_si512(index.as_ptr().cast());
                _mm512_storeu_si512(index.as_mut_ptr().cast(), _mm512_permutex2var_epi32(low, at, high));
            }
        }
        index
    }

    #[inline(always)]
    unsafe fn greater(x: &[f32; LANES], y: &[f32; LANES]) -> [f32; LANES] {
        // SAFETY: the contract of the trait.
        unsafe { chosen::<0b0101>(x, y) }
    }

    #[inline(always)]
    unsafe fn smaller(x: &[f32; LANES], y: &[f32; LANES]) -> [f32; LANES] {
        // SAFETY: the contract of the trait.
        unsafe { chosen::<0b0100>(x, y) }
    }

    #[inline(always)]
    unsafe fn scaled(mut p: [f32; LANES], n: [f32; LANES]) -> [f32; LANES] {
        for (p, n) in p.as_chunks_mut::<16>().0.iter_mut().zip(n.as_chunks::<16>().0) {
            // SAFETY: the contract of the trait, and arrays of sixteen.
            unsafe {
                let (x, y) = (_mm512_loadu_ps(p.as_ptr()), _mm512_loadu_ps(n.as_ptr()));
                _mm512_storeu_ps(p.as_mut_ptr(), _mm512_scalef_ps(x, y));
            }
        }
        p
    }
}

/// One of two numbers, as VRANGEPS chooses with its sign, or NaN where one of them is: three instructions.
///
/// Safety: the machine has AVX-512 F and DQ.
#[inline(always)]
unsafe fn chosen<const HOW: i32>(x: &[f32; LANES], y: &[f32; LANES]) -> [f32; LANES] {
    let mut out = [0.0; LANES];
    let both = x.as_chunks::<16>().0.iter().zip(y.as_chunks::<16>().0);
    for (out, (x, y)) in out.as_chunks_mut::<16>().0.iter_mut().zip(both) {
        // SAFETY: the contract of this function, and arrays of sixteen.
        unsafe {
            let (x, y) = (_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(y.as_ptr()));
            let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, y);
            let chosen = _mm512_mask_mov_ps(_mm512_range_ps::<HOW>(x, y), is_nan, _mm512_set1_ps(f32::NAN));
            _mm512_storeu_ps(out.as_mut_ptr(), chosen);
        }
    }
    out
}

/// With the NaN that arithmetic gives in place of every other.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
pub(super) unsafe fn without_payload(v: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe {
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v);
        _mm512_mask_mov_ps(v, is_nan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC0_0000)))
    }
}

/// Rounded to bf16, ties to even, in the upper half of each lane; no NaN.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
pub(super) unsafe fn to_nearest(v: __m512) -> __m512i {
    // SAFETY: the contract of this function.
    unsafe {
        let bits = _mm512_castps_si512(v);
        let is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x1_0000));
        let half = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
        _mm512_mask_add_epi32(half, is_odd, half, _mm512_set1_epi32(1))
    }
}
