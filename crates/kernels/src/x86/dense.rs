//! f16 and bf16 that lie side by side, two vectors of 32 at once.
//!
//! Sums, differences and products of f16 by the instructions for them (AVX-512 FP16), which round once. The library has no
//! functions for these in the oldest compiler that is supported, so they are written out. Maxima and minima compare the codes.

use super::super::raw_map::{Loops, SCALAR};
use crate::nest::{DST, OPERANDS};
use std::arch::asm;
use std::arch::x86_64::*;

/// Elements and bytes of a vector.
pub(super) const STEP: usize = 32;
pub(super) const BYTES: usize = 64;

/// Whether the machine has f16 addition.
pub fn has_f16() -> bool {
    is_x86_feature_detected!("avx512fp16")
}

/// A kernel for each function of two vectors of either operand; `$scalar` makes such a vector of the f32 that a scalar
/// enters as, where it is held.
macro_rules! kernels {
    ($($name:ident $scalar:ident |$x:ident, $y:ident| $of:expr;)*) => {$(
        /// Safety: the contract of [`RawRows`](super::super::raw_map::RawRows), on a machine with these instructions.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
        pub unsafe fn $name(at: [*mut u8; OPERANDS], loops: &Loops) -> usize {
            // SAFETY: the contract of this function: the first `whole` elements of every row are dense.
            unsafe {
                let same = if loops.step[2] == SCALAR { $scalar(at[2].cast::<f32>().read_unaligned()) } else { None };
                let is_dense = loops.step[DST] == 2 && loops.step[1] == 2 && (loops.step[2] == 2 || same.is_some());
                let whole = if is_dense { loops.n / STEP * STEP } else { 0 };
                let mut p = at;
                for _ in 0..if whole > 0 { loops.rows } else { 0 } {
                    let mut i = 0;
                    while i < 2 * whole {
                        // A vector that has no neighbour is computed twice.
                        let j = if i + BYTES < 2 * whole { i + BYTES } else { i };
                        let $x = [load(p[1].wrapping_add(i)), load(p[1].wrapping_add(j))];
                        let $y = match same {
                            Some(same) => [same; 2],
                            None => [load(p[2].wrapping_add(i)), load(p[2].wrapping_add(j))],
                        };
                        let [first, second] = $of;
                        _mm512_storeu_si512(p[DST].wrapping_add(i).cast(), first);
                        _mm512_storeu_si512(p[DST].wrapping_add(j).cast(), second);
                        i = j + BYTES;
                    }
                    p.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
                }
                whole
            }
        }
    )*};
}

/// An instruction on vectors of f16, and the NaN that arithmetic gives where the result is one (elementwise.md 1).
macro_rules! f16 {
    ($instruction:literal $x:expr, $y:expr) => {{
        let (z, is_nan): (__m512i, u32);
        asm!(
            concat!($instruction, " {z}, {x}, {y}"),
            "vcmpph {k}, {z}, {z}, 3",
            z = lateout(zmm_reg) z,
            x = in(zmm_reg) $x,
            y = in(zmm_reg) $y,
            k = lateout(kreg) is_nan,
            options(pure, nomem, nostack, preserves_flags)
        );
        _mm512_mask_mov_epi16(z, is_nan, _mm512_set1_epi16(F16_NAN))
    }};
}

kernels! {
    f16_add f16_code |x, y| [f16!("vaddph" x[0], y[0]), f16!("vaddph" x[1], y[1])];
    f16_sub f16_code |x, y| [f16!("vsubph" x[0], y[0]), f16!("vsubph" x[1], y[1])];
    f16_mul f16_code |x, y| [f16!("vmulph" x[0], y[0]), f16!("vmulph" x[1], y[1])];
    f16_max f16_code |x, y| [best::<F16_INFINITY, F16_NAN, true>(x[0], y[0]), best::<F16_INFINITY, F16_NAN, true>(x[1], y[1])];
    f16_min f16_code |x, y| [best::<F16_INFINITY, F16_NAN, false>(x[0], y[0]), best::<F16_INFINITY, F16_NAN, false>(x[1], y[1])];
    f16_relu f16_code |x, _y| [relu::<F16_INFINITY, F16_NAN>(x[0]), relu::<F16_INFINITY, F16_NAN>(x[1])];
    bf16_max bf16_code |x, y| [best::<BF16_INFINITY, BF16_NAN, true>(x[0], y[0]), best::<BF16_INFINITY, BF16_NAN, true>(x[1], y[1])];
    bf16_min bf16_code |x, y| [best::<BF16_INFINITY, BF16_NAN, false>(x[0], y[0]), best::<BF16_INFINITY, BF16_NAN, false>(x[1], y[1])];
    bf16_relu bf16_code |x, _y| [relu::<BF16_INFINITY, BF16_NAN>(x[0]), relu::<BF16_INFINITY, BF16_NAN>(x[1])];
}

pub(super) const F16_INFINITY: i16 = 0x7C00;
pub(super) const F16_NAN: i16 = 0x7E00;
pub(super) const BF16_INFINITY: i16 = 0x7F80;
pub(super) const BF16_NAN: i16 = 0x7FC0;

/// Safety: 64 bytes are readable, and the machine has AVX-512 F.
#[inline(always)]
unsafe fn load(at: *const u8) -> __m512i {
    // SAFETY: the contract of this function.
    unsafe { _mm512_loadu_si512(at.cast()) }
}

/// A scalar that f16 holds; NaN is not such.
///
/// Safety: the machine has AVX-512 BW and F16C.
#[inline(always)]
unsafe fn f16_code(v: f32) -> Option<__m512i> {
    // SAFETY: the contract of this function.
    unsafe {
        let half = _mm_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm_set_ss(v));
        (_mm_cvtss_f32(_mm_cvtph_ps(half)) == v).then(|| _mm512_broadcastw_epi16(half))
    }
}

/// A scalar that bf16 holds; NaN is not such.
///
/// Safety: the machine has AVX-512 BW.
#[inline(always)]
unsafe fn bf16_code(v: f32) -> Option<__m512i> {
    let is_held = v.to_bits().trailing_zeros() >= 16 && !v.is_nan();
    // SAFETY: the contract of this function.
    is_held.then(|| unsafe { _mm512_set1_epi16((v.to_bits() >> 16) as i16) })
}

/// The greater or smaller of two numbers by their codes, -0 below +0, or NaN where one of them is.
///
/// Safety: the machine has AVX-512 F and BW.
#[inline(always)]
unsafe fn best<const INFINITY: i16, const NAN: i16, const GREATEST: bool>(x: __m512i, y: __m512i) -> __m512i {
    // SAFETY: the contract of this function.
    unsafe {
        let (a, b) = (rank(x), rank(y));
        let chosen = if GREATEST { _mm512_max_epi16(a, b) } else { _mm512_min_epi16(a, b) };
        // Without their signs, which fall out at the top.
        let largest = _mm512_max_epu16(_mm512_add_epi16(x, x), _mm512_add_epi16(y, y));
        let is_nan = _mm512_cmpgt_epu16_mask(largest, _mm512_set1_epi16(INFINITY << 1));
        _mm512_mask_mov_epi16(rank(chosen), is_nan, _mm512_set1_epi16(NAN))
    }
}

/// Rises with the number; its own inverse.
///
/// Safety: the machine has AVX-512 F and BW.
#[inline(always)]
unsafe fn rank(code: __m512i) -> __m512i {
    const XOR_OF_AND: i32 = 0x6C;
    // SAFETY: the contract of this function.
    unsafe { _mm512_ternarylogic_epi32::<XOR_OF_AND>(_mm512_srai_epi16::<15>(code), code, _mm512_set1_epi16(i16::MAX)) }
}

/// Safety: the machine has AVX-512 BW.
#[inline(always)]
unsafe fn relu<const INFINITY: i16, const NAN: i16>(x: __m512i) -> __m512i {
    // SAFETY: the contract of this function.
    unsafe { settled::<INFINITY, NAN>(x, _mm512_max_epi16(x, _mm512_setzero_si512())) }
}

/// Codes, with the NaN that arithmetic gives wherever `x` is one.
///
/// Safety: the machine has AVX-512 BW.
#[inline(always)]
pub(super) unsafe fn settled<const INFINITY: i16, const NAN: i16>(x: __m512i, codes: __m512i) -> __m512i {
    // SAFETY: the contract of this function. Without its sign, which falls out at the top.
    unsafe {
        let is_nan = _mm512_cmpgt_epu16_mask(_mm512_add_epi16(x, x), _mm512_set1_epi16(INFINITY << 1));
        _mm512_mask_mov_epi16(codes, is_nan, _mm512_set1_epi16(NAN))
    }
}
