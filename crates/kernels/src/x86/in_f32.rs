//! Sums, differences and products of f16 and bf16 that lie side by side, computed in f32, 32 at a time, and rounded again: with
//! 24 ≥ 2·11 + 2 bits that is the number that rounding once gives. bf16 is computed even and odd elements apart, which needs few
//! shuffles.
//!
//! NaN is asked for once per stretch of a row: results are stored as they come, and where one of them is NaN, the codes of the
//! stretch are looked at again. Asking before a vector is stored took a fifth of the time of f16.

#![allow(clippy::needless_range_loop, reason = "iterators of arrays go through memory here")]

use super::super::raw_map::{Loops, SCALAR};
use super::dense::{BF16_INFINITY, BF16_NAN, BYTES, F16_INFINITY, F16_NAN, STEP, settled};
use crate::nest::{DST, OPERANDS};
use std::arch::asm;
use std::arch::x86_64::*;
use std::hint::black_box;

/// Whether the machine has sums of products of words, which round to bf16.
pub fn has_dot() -> bool {
    is_x86_feature_detected!("avx512vnni")
}

/// Whether the machine has instructions that round to bf16.
pub fn has_bf16() -> bool {
    is_x86_feature_detected!("avx512bf16")
}

/// Bytes of a row between two questions for NaN.
const STRETCH: usize = 2048;

/// 32 elements as f32, in any order that `put` undoes.
trait Wide: Copy {
    /// Lanes that had no NaN so far.
    type Lanes: Copy + Eq;
    const ALL: Self::Lanes;
    /// Infinity, and the NaN that arithmetic gives.
    const CODES: [i16; 2];

    /// Safety: the machine has the vectors.
    unsafe fn same(v: f32) -> Self;
    /// Safety: 64 bytes are readable, and the machine has the vectors.
    unsafe fn get(at: *const u8) -> Self;
    /// Those of `lanes` that have no NaN here either.
    ///
    /// Safety: the machine has the vectors.
    unsafe fn numbers(self, lanes: Self::Lanes) -> Self::Lanes;
    /// Rounded once; NaN becomes some NaN.
    ///
    /// Safety: 64 bytes are writable, and the machine has the vectors.
    unsafe fn put(self, at: *mut u8);
}

/// f16, where conversions go eight at a time.
#[derive(Clone, Copy)]
struct F16([__m256; 4]);

impl Wide for F16 {
    type Lanes = (__mmask8, __mmask8);
    const ALL: Self::Lanes = (!0, !0);
    const CODES: [i16; 2] = [F16_INFINITY, F16_NAN];

    #[inline(always)]
    unsafe fn same(v: f32) -> Self {
        // SAFETY: the contract of the method.
        F16([unsafe { _mm256_set1_ps(v) }; 4])
    }

    #[inline(always)]
    unsafe fn get(at: *const u8) -> Self {
        // SAFETY: the contract of the method.
        unsafe { F16([eight(at), eight(at.wrapping_add(16)), eight(at.wrapping_add(32)), eight(at.wrapping_add(48))]) }
    }

    /// Two chains: one waits for its last question longer than the work takes.
    #[inline(always)]
    unsafe fn numbers(self, (even, odd): Self::Lanes) -> Self::Lanes {
        let F16([a, b, c, d]) = self;
        // SAFETY: the contract of the method.
        unsafe { (_mm256_mask_cmp_ps_mask::<_CMP_ORD_Q>(even, a, b), _mm256_mask_cmp_ps_mask::<_CMP_ORD_Q>(odd, c, d)) }
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8) {
        let F16([a, b, c, d]) = self;
        // SAFETY: the contract of the method.
        unsafe {
            _mm_storeu_si128(at.cast(), to_halves(a));
            _mm_storeu_si128(at.wrapping_add(16).cast(), to_halves(b));
            _mm_storeu_si128(at.wrapping_add(32).cast(), to_halves(c));
            _mm_storeu_si128(at.wrapping_add(48).cast(), to_halves(d));
        }
    }
}

/// bf16: the lower elements of pairs, and the upper ones.
#[derive(Clone, Copy)]
struct Bf16([__m512; 2]);

impl Wide for Bf16 {
    type Lanes = __mmask16;
    const ALL: __mmask16 = !0;
    const CODES: [i16; 2] = [BF16_INFINITY, BF16_NAN];

    #[inline(always)]
    unsafe fn same(v: f32) -> Self {
        // SAFETY: the contract of the method.
        Bf16([unsafe { _mm512_set1_ps(v) }; 2])
    }

    /// The lower elements after a shift, the upper ones as they lie.
    #[inline(always)]
    unsafe fn get(at: *const u8) -> Self {
        // SAFETY: the contract of the method.
        unsafe {
            let pairs = _mm512_loadu_si512(at.cast());
            let upper = _mm512_and_si512(pairs, _mm512_set1_epi32(0xFFFF_0000_u32 as i32));
            Bf16([_mm512_castsi512_ps(_mm512_slli_epi32::<16>(pairs)), _mm512_castsi512_ps(upper)])
        }
    }

    #[inline(always)]
    unsafe fn numbers(self, lanes: __mmask16) -> __mmask16 {
        // SAFETY: the contract of the method.
        unsafe { _mm512_mask_cmp_ps_mask::<_CMP_ORD_Q>(lanes, self.0[0], self.0[1]) }
    }

    /// NaN that came from bf16 has nothing in its lower half, so that rounding leaves it one.
    #[inline(always)]
    unsafe fn put(self, at: *mut u8) {
        const LOWER: __mmask64 = 0x3333_3333_3333_3333;
        // SAFETY: the contract of the method.
        unsafe {
            let upper_halves = _mm512_set4_epi32(0x0F0E_0F0E, 0x0B0A_0B0A, 0x0706_0706, 0x0302_0302);
            let [lower, upper] = [to_nearest(self.0[0]), to_nearest(self.0[1])];
            _mm512_storeu_si512(at.cast(), _mm512_mask_shuffle_epi8(upper, LOWER, lower, upper_halves));
        }
    }
}

/// The same by the machine's own conversion, for which subnormal numbers are zeros.
#[derive(Clone, Copy)]
struct Bf16Normal(Bf16);

impl Wide for Bf16Normal {
    type Lanes = __mmask16;
    const ALL: __mmask16 = Bf16::ALL;
    const CODES: [i16; 2] = Bf16::CODES;

    #[inline(always)]
    unsafe fn same(v: f32) -> Self {
        // SAFETY: the contract of the method.
        Bf16Normal(unsafe { Bf16::same(v) })
    }

    #[inline(always)]
    unsafe fn get(at: *const u8) -> Self {
        // SAFETY: the contract of the method.
        Bf16Normal(unsafe { Bf16::get(at) })
    }

    #[inline(always)]
    unsafe fn numbers(self, lanes: __mmask16) -> __mmask16 {
        // SAFETY: the contract of the method.
        unsafe { self.0.numbers(lanes) }
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8) {
        /// One of the lower half, then one of the upper half.
        const ZIPPED: [i16; 32] = {
            let mut order = [0; 32];
            let mut k = 0;
            while k < 32 {
                order[k] = (k / 2 + k % 2 * 16) as i16;
                k += 1;
            }
            order
        };
        // SAFETY: the contract of the method, and an order of 32.
        unsafe {
            let halves = two_to_bf16(self.0.0[0], self.0.0[1]);
            let pairs = _mm512_permutexvar_epi16(_mm512_loadu_si512(ZIPPED.as_ptr().cast()), halves);
            _mm512_storeu_si512(at.cast(), pairs);
        }
    }
}

/// Kernels of x·y, or x ± y; of vectors with their inner arrays by `$inner`.
macro_rules! kernels {
    ($($name:ident $features:literal $wide:ident $(.$inner:tt)*: |$x:ident, $y:ident, $one:ident| $of:expr;)*) => {$(
        /// Safety: the contract of [`RawRows`](super::super::raw_map::RawRows), on a machine with these instructions.
        #[target_feature(enable = $features)]
        pub unsafe fn $name(at: [*mut u8; OPERANDS], loops: &Loops) -> usize {
            /// With one value for all elements of the second operand where `SAME`.
            #[target_feature(enable = $features)]
            unsafe fn rows<const SAME: bool>(at: [*mut u8; OPERANDS], loops: &Loops) -> usize {
                let is_dense = loops.step[DST] == 2 && loops.step[1] == 2 && (SAME || loops.step[2] == 2);
                let whole = if is_dense { loops.n / STEP * STEP } else { 0 };
                let mut p = at;
                // SAFETY: the contract of this function: the first `whole` elements of every row are dense.
                unsafe {
                    // It is not known to the compiler, which would take the product away.
                    let $one = $wide::same(black_box(1.0)) $(.$inner)* [0];
                    let scalar = if SAME { at[2].cast::<f32>().read_unaligned() } else { 0.0 };
                    let same = $wide::same(if scalar.is_nan() { f32::NAN } else { scalar });
                    for _ in 0..if whole > 0 { loops.rows } else { 0 } {
                        let mut start = 0;
                        while start < 2 * whole {
                            let end = (start + STRETCH).min(2 * whole);
                            let mut lanes = $wide::ALL;
                            for i in (start..end).step_by(BYTES) {
                                let mut z = $wide::get(p[1].wrapping_add(i));
                                let y = if SAME { same } else { $wide::get(p[2].wrapping_add(i)) };
                                for k in 0..z $(.$inner)*.len() {
                                    let ($x, $y) = (z $(.$inner)*[k], y $(.$inner)*[k]);
                                    z $(.$inner)*[k] = $of;
                                }
                                lanes = z.numbers(lanes);
                                z.put(p[DST].wrapping_add(i));
                            }
                            if lanes != $wide::ALL {
                                const CODES: [i16; 2] = $wide::CODES;
                                settle::<{ CODES[0] }, { CODES[1] }>(p[DST].wrapping_add(start), end - start);
                            }
                            start = end;
                        }
                        p.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
                    }
                }
                whole
            }

            // SAFETY: the contract of this function.
            unsafe {
                match loops.step[2] == SCALAR {
                    true => rows::<true>(at, loops),
                    false => rows::<false>(at, loops),
                }
            }
        }
    )*};
}

// Sums of f16 are multiply-adds: where adders also convert (Zen 4), they are the ones that are busy.
kernels! {
    f16_add_in_f32 "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" F16.0: |x, y, one| _mm256_fmadd_ps(x, one, y);
    f16_sub_in_f32 "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" F16.0: |x, y, one| _mm256_fmsub_ps(x, one, y);
    f16_mul_in_f32 "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" F16.0: |x, y, _one| _mm256_mul_ps(x, y);
    bf16_add "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma" Bf16.0: |x, y, _one| _mm512_add_ps(x, y);
    bf16_sub "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma" Bf16.0: |x, y, _one| _mm512_sub_ps(x, y);
    bf16_mul "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma" Bf16.0: |x, y, _one| _mm512_mul_ps(x, y);
    bf16_add_normal "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,f16c,fma" Bf16Normal.0.0:
        |x, y, _one| _mm512_add_ps(x, y);
    bf16_sub_normal "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,f16c,fma" Bf16Normal.0.0:
        |x, y, _one| _mm512_sub_ps(x, y);
}

/// Whether the sum of this number and any bf16 is zero or at least 2^-126, not subnormal. With a bf16 smaller than
/// 2^-101 the sum is large enough. Otherwise both are multiples of 2^-123, and so is the sum.
pub fn has_normal_sums(v: f32) -> bool {
    const SMALLEST: f32 = f32::from_bits((127 - 100) << 23);
    v.abs() >= SMALLEST
}

/// Gives every NaN among codes that lie side by side the code that arithmetic gives (elementwise.md 1).
///
/// Safety: as many bytes, whole vectors, are readable and writable, and the machine has AVX-512 F and BW.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn settle<const INFINITY: i16, const NAN: i16>(at: *mut u8, bytes: usize) {
    for i in (0..bytes).step_by(BYTES) {
        let at = at.wrapping_add(i);
        // SAFETY: the contract of this function.
        unsafe {
            let codes = _mm512_loadu_si512(at.cast());
            _mm512_storeu_si512(at.cast(), settled::<INFINITY, NAN>(codes, codes));
        }
    }
}

/// Safety: 16 bytes are readable, and the machine has F16C.
#[inline(always)]
unsafe fn eight(at: *const u8) -> __m256 {
    // SAFETY: the contract of this function.
    unsafe { _mm256_cvtph_ps(_mm_loadu_si128(at.cast())) }
}

/// To the nearest f16, in a register: as part of a store, which the compiler makes of the library's function, it takes Zen 4
/// half as long again.
///
/// Safety: the machine has F16C.
#[inline]
#[target_feature(enable = "avx,f16c")]
unsafe fn to_halves(v: __m256) -> __m128i {
    let halves: __m128i;
    // SAFETY: the contract of this function; nothing but the two registers is touched.
    unsafe {
        asm!(
            "vcvtps2ph {halves}, {v}, 0",
            halves = lateout(xmm_reg) halves,
            v = in(ymm_reg) v,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    halves
}

/// Rounded to bf16, ties to even, in the upper half of each lane; of NaN, one that has nothing in its lower half. Half of the
/// last place and its parity are two words, which one instruction adds; left to itself the compiler makes two of it.
///
/// Safety: the machine has AVX-512 F and VNNI.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn to_nearest(v: __m512) -> __m512i {
    const AND_OR: i32 = 0xEA;
    let mut bits = _mm512_castps_si512(v);
    let (parity, half) = (_mm512_set1_epi32(0x1_0000), _mm512_set1_epi32(0x7FFF));
    let words = _mm512_ternarylogic_epi32::<AND_OR>(bits, parity, half);
    // SAFETY: nothing but registers is touched.
    unsafe {
        asm!(
            "vpdpwssd {bits}, {words}, {ones}",
            bits = inout(zmm_reg) bits,
            words = in(zmm_reg) words,
            ones = in(zmm_reg) _mm512_set1_epi16(1),
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    bits
}

/// Rounded to bf16, ties to even, those of the first in the lower half; subnormal numbers become zeros.
///
/// Safety: the machine has AVX-512 F and BF16.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn two_to_bf16(first: __m512, second: __m512) -> __m512i {
    // SAFETY: both are 64 bytes of any contents.
    unsafe { std::mem::transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(second, first)) }
}
