//! f32 to integers of eight bits, sixty-four at a time, to the nearest or in a direction that the machine knows.

use super::super::raw_map::{Loops, RawRows};
use crate::nest::{DST, OPERANDS};
use std::arch::x86_64::*;

/// Elements at a time.
const STEP: usize = 64;

/// The kernel of a conversion in a direction of rounding, whose second and third argument are its bounds as f32.
pub fn to_bytes<const ROUND: i32>(is_signed: bool) -> RawRows {
    if is_signed { rows::<ROUND, true> } else { rows::<ROUND, false> }
}

/// Safety: the contract of [`RawRows`], on a machine with AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
unsafe fn rows<const ROUND: i32, const SIGNED: bool>(at: [*mut u8; OPERANDS], loops: &Loops) -> usize {
    let is_dense = loops.step[DST] == 1 && loops.step[1] == 4;
    let whole = if is_dense { loops.n / STEP * STEP } else { 0 };
    // SAFETY: the contract of this function: bounds are scalars, and the first `whole` elements of every row are dense.
    unsafe {
        let low = _mm512_set1_ps(at[2].cast::<f32>().read_unaligned());
        let high = _mm512_set1_ps(at[3].cast::<f32>().read_unaligned());
        let (mut to, mut from) = (at[DST], at[1].cast_const());
        for _ in 0..loops.rows {
            let mut i = 0;
            while i < whole {
                let part = from.wrapping_add(4 * i);
                let words = [
                    sixteen::<ROUND>(part, low, high),
                    sixteen::<ROUND>(part.wrapping_add(64), low, high),
                    sixteen::<ROUND>(part.wrapping_add(128), low, high),
                    sixteen::<ROUND>(part.wrapping_add(192), low, high),
                ];
                let halves = [_mm512_packs_epi32(words[0], words[1]), _mm512_packs_epi32(words[2], words[3])];
                let bytes = match SIGNED {
                    true => _mm512_packs_epi16(halves[0], halves[1]),
                    false => _mm512_packus_epi16(halves[0], halves[1]),
                };
                // Packing works within lanes of sixteen bytes.
                let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
                _mm512_storeu_si512(to.wrapping_add(i).cast(), _mm512_permutexvar_epi32(order, bytes));
                i += STEP;
            }
            to = to.wrapping_offset(loops.row_step[DST]);
            from = from.wrapping_offset(loops.row_step[1]);
        }
    }
    whole
}

/// Sixteen numbers between the bounds as integers; a NaN is 0.
///
/// Safety: they are readable, and the machine has AVX-512 F.
#[inline(always)]
unsafe fn sixteen<const ROUND: i32>(from: *const u8, low: __m512, high: __m512) -> __m512i {
    // SAFETY: the contract of this function.
    unsafe {
        let v = _mm512_loadu_ps(from.cast());
        let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(v, v);
        // The bounds are integers, so that what is beyond them may come to them before it is rounded.
        let v = _mm512_max_ps(_mm512_maskz_min_ps(number, v, high), low);
        _mm512_cvt_roundps_epi32::<ROUND>(v)
    }
}
