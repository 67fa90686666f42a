//! f16 and bf16 that lie side by side, two vectors of 32 at once.
//!
//! Sums, differences and products are rounded once. f16 has instructions for them (AVX-512 FP16); computed in f32, with
//! 24 ≥ 2·11 + 2 bits, and rounded again it is the same number, which is what machines without them do. The library has no
//! functions for these in the oldest compiler that is supported, so they are written out. bf16 is computed in f32, even and odd elements apart, which needs
//! no shuffles. Maxima and minima compare the codes.

use super::super::map::{Loops, Op, SCALAR, rest_of_rows};
use super::Avx512;
use super::halves::without_payload;
use crate::nest::{DST, OPERANDS};
use std::arch::asm;
use std::arch::x86_64::*;
use std::hint::black_box;

/// Elements and bytes of a vector.
const STEP: usize = 32;
const BYTES: usize = 64;

/// Has the machine sums of f16?
pub(crate) fn has_f16() -> bool {
    is_x86_feature_detected!("avx512fp16")
}

/// Has it sums of products of words, which bf16 is rounded by?
pub(crate) fn has_dot() -> bool {
    is_x86_feature_detected!("avx512vnni")
}

/// A kernel for each function of two vectors of either operand; `$scalar` makes such a vector of the f32 that a scalar
/// enters as, where it is held.
macro_rules! kernels {
    ($($name:ident $features:literal $second:ty: $get:ident $scalar:ident |$x:ident, $y:ident| $of:expr;)*) => {$(
        /// Safety: the contract of [`RawMap`](super::super::map::RawMap), on a machine with these instructions.
        #[target_feature(enable = $features)]
        pub(crate) unsafe fn $name<O: Op>(at: [*mut u8; OPERANDS], loops: &Loops) {
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
                        let $y: [$second; 2] = match same {
                            Some(same) => [same; 2],
                            None => [$get(load(p[2].wrapping_add(i))), $get(load(p[2].wrapping_add(j)))],
                        };
                        let [first, second] = $of;
                        _mm512_storeu_si512(p[DST].wrapping_add(i).cast(), first);
                        _mm512_storeu_si512(p[DST].wrapping_add(j).cast(), second);
                        i = j + BYTES;
                    }
                    p.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
                }
                rest_of_rows::<O, Avx512>(at, loops, whole);
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

/// An instruction on f32, of bf16.
macro_rules! bf16 {
    ($instruction:ident $x:expr, $y:expr) => {{
        let x = [wide($x[0]), wide($x[1])];
        let lower = [$instruction(x[0][0], $y[0][0]), $instruction(x[1][0], $y[1][0])];
        let upper = [$instruction(x[0][1], $y[0][1]), $instruction(x[1][1], $y[1][1])];
        rounded(lower, upper)
    }};
}

kernels! {
    f16_add "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same f16_code
        |x, y| [f16!("vaddph" x[0], y[0]), f16!("vaddph" x[1], y[1])];
    f16_sub "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same f16_code
        |x, y| [f16!("vsubph" x[0], y[0]), f16!("vsubph" x[1], y[1])];
    f16_mul "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same f16_code
        |x, y| [f16!("vmulph" x[0], y[0]), f16!("vmulph" x[1], y[1])];
    f16_max "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same f16_code
        |x, y| [best::<F16_INFINITY, F16_NAN, true>(x[0], y[0]), best::<F16_INFINITY, F16_NAN, true>(x[1], y[1])];
    f16_min "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same f16_code
        |x, y| [best::<F16_INFINITY, F16_NAN, false>(x[0], y[0]), best::<F16_INFINITY, F16_NAN, false>(x[1], y[1])];
    f16_relu "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same f16_code
        |x, _y| [relu::<F16_INFINITY, F16_NAN>(x[0]), relu::<F16_INFINITY, F16_NAN>(x[1])];
    bf16_add "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma" [__m512; 2]: wide all
        |x, y| bf16!(_mm512_add_ps x, y);
    bf16_sub "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma" [__m512; 2]: wide all
        |x, y| bf16!(_mm512_sub_ps x, y);
    bf16_mul "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma" [__m512; 2]: wide all
        |x, y| bf16!(_mm512_mul_ps x, y);
    bf16_max "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same bf16_code
        |x, y| [best::<BF16_INFINITY, BF16_NAN, true>(x[0], y[0]), best::<BF16_INFINITY, BF16_NAN, true>(x[1], y[1])];
    bf16_min "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same bf16_code
        |x, y| [best::<BF16_INFINITY, BF16_NAN, false>(x[0], y[0]), best::<BF16_INFINITY, BF16_NAN, false>(x[1], y[1])];
    bf16_relu "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" __m512i: same bf16_code
        |x, _y| [relu::<BF16_INFINITY, BF16_NAN>(x[0]), relu::<BF16_INFINITY, BF16_NAN>(x[1])];
}

/// x·y or x·1 ± y of f16 that lie side by side, in f32, eight at a time.
///
/// Sums are multiply-adds: where adders also convert (Zen 4), they are the ones that are busy, and `one` is not known to the
/// compiler, which would take the product away.
macro_rules! kernels_in_f32 {
    ($($name:ident |$x:ident, $y:ident, $one:ident| $of:expr;)*) => {$(
        /// Safety: the contract of [`RawMap`](super::super::map::RawMap), on a machine with these instructions.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
        pub(crate) unsafe fn $name<O: Op>(at: [*mut u8; OPERANDS], loops: &Loops) {
            // SAFETY: the contract of this function.
            unsafe {
                match loops.step[2] == SCALAR {
                    true => rows::<O, true>(at, loops),
                    false => rows::<O, false>(at, loops),
                }
            }
            /// With one value for all elements of the second operand where `SAME`.
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
            unsafe fn rows<O: Op, const SAME: bool>(at: [*mut u8; OPERANDS], loops: &Loops) {
                /// Vectors of eight that are asked for NaN together: each question costs a twentieth of the work on four.
                const VECTORS: usize = 8;
                let is_dense = loops.step[DST] == 2 && loops.step[1] == 2 && (SAME || loops.step[2] == 2);
                let whole = if is_dense { loops.n / (8 * VECTORS) * (8 * VECTORS) } else { 0 };
                let $one = _mm256_set1_ps(black_box(1.0));
                let mut p = at;
                // SAFETY: the contract of this function: the first `whole` elements of every row are dense.
                unsafe {
                    let same = _mm256_set1_ps(if SAME { at[2].cast::<f32>().read_unaligned() } else { 0.0 });
                    for _ in 0..if whole > 0 { loops.rows } else { 0 } {
                        for i in (0..2 * whole).step_by(16 * VECTORS) {
                            let mut z = [same; VECTORS];
                            for (k, z) in z.iter_mut().enumerate() {
                                let $x = eight(p[1].wrapping_add(i + 16 * k));
                                let $y = if SAME { same } else { eight(p[2].wrapping_add(i + 16 * k)) };
                                *z = $of;
                            }
                            let mut is_nan = 0;
                            for z in z.as_chunks::<2>().0 {
                                is_nan |= _mm256_cmp_ps_mask::<_CMP_UNORD_Q>(z[0], z[1]);
                            }
                            if is_nan != 0 {
                                for z in &mut z {
                                    let is_nan = _mm256_cmp_ps_mask::<_CMP_UNORD_Q>(*z, *z);
                                    *z = _mm256_mask_mov_ps(*z, is_nan, _mm256_set1_ps(f32::NAN));
                                }
                            }
                            for (k, z) in z.iter().enumerate() {
                                _mm_storeu_si128(p[DST].wrapping_add(i + 16 * k).cast(), to_halves(*z));
                            }
                        }
                        p.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
                    }
                    rest_of_rows::<O, Avx512>(at, loops, whole);
                }
            }
        }
    )*};
}

kernels_in_f32! {
    f16_add_in_f32 |x, y, one| _mm256_fmadd_ps(x, one, y);
    f16_sub_in_f32 |x, y, one| _mm256_fmsub_ps(x, one, y);
    f16_mul_in_f32 |x, y, _one| _mm256_mul_ps(x, y);
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

const F16_INFINITY: i16 = 0x7C00;
const F16_NAN: i16 = 0x7E00;
const BF16_INFINITY: i16 = 0x7F80;
const BF16_NAN: i16 = 0x7FC0;

/// Safety: 64 bytes are readable, and the machine has AVX-512 F.
#[inline(always)]
unsafe fn load(at: *const u8) -> __m512i {
    // SAFETY: the contract of this function.
    unsafe { _mm512_loadu_si512(at.cast()) }
}

#[inline(always)]
fn same(v: __m512i) -> __m512i {
    v
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

/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn all(v: f32) -> Option<[__m512; 2]> {
    // SAFETY: the contract of this function.
    Some([unsafe { _mm512_set1_ps(v) }; 2])
}

/// bf16 as f32: the lower elements of pairs after a shift, the upper ones as they lie.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn wide(pairs: __m512i) -> [__m512; 2] {
    // SAFETY: the contract of this function.
    unsafe {
        let upper = _mm512_and_si512(pairs, _mm512_set1_epi32(0xFFFF_0000_u32 as i32));
        [_mm512_castsi512_ps(_mm512_slli_epi32::<16>(pairs)), _mm512_castsi512_ps(upper)]
    }
}

/// Two vectors of pairs, rounded to bf16.
///
/// Safety: the machine has AVX-512 F, BW and VNNI.
#[inline(always)]
unsafe fn rounded(mut lower: [__m512; 2], mut upper: [__m512; 2]) -> [__m512i; 2] {
    // SAFETY: the contract of this function.
    unsafe {
        let first = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(lower[0], upper[0]);
        let second = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(lower[1], upper[1]);
        if _kortestz_mask16_u8(first, second) == 0 {
            lower = [without_payload(lower[0]), without_payload(lower[1])];
            upper = [without_payload(upper[0]), without_payload(upper[1])];
        }
        [pairs(to_nearest(lower[0]), to_nearest(upper[0])), pairs(to_nearest(lower[1]), to_nearest(upper[1]))]
    }
}

/// The upper halves of lanes, as pairs.
///
/// Safety: the machine has AVX-512 BW.
#[inline(always)]
unsafe fn pairs(lower: __m512i, upper: __m512i) -> __m512i {
    // SAFETY: the contract of this function.
    unsafe { _mm512_mask_mov_epi16(_mm512_srli_epi32::<16>(lower), 0xAAAA_AAAA, upper) }
}

/// Rounded to bf16, ties to even, in the upper half of each lane; no NaN. Half of the last place and its parity are two
/// words, which one instruction adds; left to itself the compiler makes two of it.
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
    unsafe {
        let is_nan = _mm512_cmpgt_epu16_mask(_mm512_add_epi16(x, x), _mm512_set1_epi16(INFINITY << 1));
        _mm512_mask_mov_epi16(_mm512_max_epi16(x, _mm512_setzero_si512()), is_nan, _mm512_set1_epi16(NAN))
    }
}
