//! Sums, differences and products of f16 by AVX-512 FP16.
//!
//! Each is rounded once, to 11 bits; computed in f32, with 24 ≥ 2·11 + 2 bits, and rounded again it is the same number. The
//! library has no functions for these instructions in the oldest compiler that is supported, so they are written out.

#![allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]

use super::super::map::{Loops, Op, SCALAR, rest_of_rows};
use super::Avx512;
use crate::nest::{DST, OPERANDS};
use std::arch::asm;
use std::arch::x86_64::*;

/// Elements of a vector.
const STEP: usize = 32;

/// Has the machine these instructions?
pub(crate) fn has_f16() -> bool {
    is_x86_feature_detected!("avx512fp16")
}

/// The second operand of a row: a vector for each step, or one for all of them.
#[derive(Clone, Copy)]
enum Second {
    Each,
    Same(__m512i),
}

/// A scalar enters as an f32; `None` where f16 does not hold it.
///
/// Safety: it is readable, and the machine has AVX-512 F, BW and F16C.
#[inline(always)]
unsafe fn scalar(at: *const u8) -> Option<Second> {
    // SAFETY: the contract of this function.
    unsafe {
        let v = at.cast::<f32>().read_unaligned();
        let half = _mm_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm_set_ss(v));
        let is_held = _mm_cvtss_f32(_mm_cvtph_ps(half)) == v;
        is_held.then(|| Second::Same(_mm512_broadcastw_epi16(half)))
    }
}

macro_rules! kernels {
    ($($name:ident $instruction:literal;)*) => {$(
        /// Safety: the contract of [`RawMap`](super::super::map::RawMap), on a machine with AVX-512 F, BW, DQ, VL and FP16.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
        pub(crate) unsafe fn $name<O: Op>(at: [*mut u8; OPERANDS], loops: &Loops) {
            let [to, x, y, _] = loops.step;
            // SAFETY: the contract of this function: the first `whole` elements of every row are dense.
            unsafe {
                let second = if y == 2 { Some(Second::Each) } else if y == SCALAR { scalar(at[2]) } else { None };
                let is_dense = to == 2 && x == 2 && second.is_some();
                let whole = if is_dense { loops.n / STEP * STEP } else { 0 };
                let nan = _mm512_set1_epi16(0x7E00);
                let mut p = at;
                for _ in 0..if whole > 0 { loops.rows } else { 0 } {
                    let mut i = 0;
                    while i < 2 * whole {
                        let x = _mm512_loadu_si512(p[1].wrapping_add(i).cast());
                        let y = match second {
                            Some(Second::Same(y)) => y,
                            _ => _mm512_loadu_si512(p[2].wrapping_add(i).cast()),
                        };
                        let (z, is_nan): (__m512i, u32);
                        asm!(
                            concat!($instruction, " {z}, {x}, {y}"),
                            "vcmpph {k}, {z}, {z}, 3",
                            z = lateout(zmm_reg) z,
                            x = in(zmm_reg) x,
                            y = in(zmm_reg) y,
                            k = lateout(kreg) is_nan,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                        _mm512_storeu_si512(p[DST].wrapping_add(i).cast(), _mm512_mask_mov_epi16(z, is_nan, nan));
                        i += 2 * STEP;
                    }
                    for k in 0..3 {
                        p[k] = p[k].wrapping_offset(loops.row_step[k]);
                    }
                }
                rest_of_rows::<O, Avx512>(at, loops, whole);
            }
        }
    )*};
}

kernels! {
    f16_add "vaddph";
    f16_sub "vsubph";
    f16_mul "vmulph";
}
