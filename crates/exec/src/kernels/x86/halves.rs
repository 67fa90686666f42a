//! Halves by the instructions that machines have for them.

use super::super::element::{LANES, Machine};
use std::arch::x86_64::*;

/// [`Level::Avx2`](super::super::Level::Avx2).
pub(crate) struct Avx2;

/// [`Level::Avx512`](super::super::Level::Avx512).
pub(crate) struct Avx512;

/// To the nearest.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

/// The NaN that arithmetic gives (elementwise.md 1).
const NAN: i16 = 0x7E00;

impl Machine for Avx2 {
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

impl Machine for Avx512 {
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
}
