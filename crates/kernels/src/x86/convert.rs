//! Conversions out of an accumulator, sixteen columns at a time.

use super::super::convert::{Lanes, RawConvert};
use crate::copy::Loop;
use std::arch::x86_64::*;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Fixpipe;

/// The kernel of a form, where there is one.
pub fn convert(fixpipe: &Fixpipe, quant: bool) -> Option<RawConvert> {
    if quant && fixpipe.saturate_inf {
        return None;
    }
    Some(match (fixpipe.src, fixpipe.dst, quant) {
        (Elem::F32, Elem::F16, false) => rows::<ToHalf<false, false>, false>,
        (Elem::F32, Elem::F16, true) => rows::<ToHalf<false, true>, false>,
        (Elem::I32, Elem::F16, true) => rows::<ToHalf<false, true>, true>,
        (Elem::F32, Elem::Bf16, false) => rows::<ToHalf<true, false>, false>,
        (Elem::F32, Elem::Bf16, true) => rows::<ToHalf<true, true>, false>,
        (Elem::I32, Elem::Bf16, true) => rows::<ToHalf<true, true>, true>,
        (Elem::F32, Elem::F32, false) => rows::<Same, false>,
        (Elem::F32, Elem::I8, true) => rows::<ToInteger<true>, false>,
        (Elem::I32, Elem::I8, true) => rows::<ToInteger<true>, true>,
        (Elem::F32, Elem::U8, true) => rows::<ToInteger<false>, false>,
        (Elem::I32, Elem::U8, true) => rows::<ToInteger<false>, true>,
        _ => return None,
    })
}

/// The conversion of sixteen values.
trait Form {
    /// Sixteen results.
    type Out: Out;

    /// Whether it takes parameters.
    const QUANT: bool;

    /// The results after ReLU.
    ///
    /// Safety: the machine has AVX-512 F, BW, DQ and VL.
    unsafe fn apply(t: __m512, offset: __m512i, fixpipe: &Fixpipe) -> Self::Out;
}

/// Sixteen elements in the register that they fill.
trait Out: Copy {
    /// Bytes of an element.
    const BYTES: usize;

    /// Safety: all sixteen are writable at `dst`.
    unsafe fn store(self, dst: *mut u8);

    /// Safety: those in the mask are writable at `dst`, and the machine has AVX-512 BW and VL.
    unsafe fn store_some(self, dst: *mut u8, mask: __mmask16);
}

macro_rules! out {
    ($register:ty, $bytes:literal, $store:ident, $store_some:ident) => {
        impl Out for $register {
            const BYTES: usize = $bytes;

            #[inline(always)]
            unsafe fn store(self, dst: *mut u8) {
                // SAFETY: the contract of the method.
                unsafe { $store(dst.cast(), self) }
            }

            #[inline(always)]
            unsafe fn store_some(self, dst: *mut u8, mask: __mmask16) {
                // SAFETY: the contract of the method.
                unsafe { $store_some(dst.cast(), mask, self) }
            }
        }
    };
}

out!(__m128i, 1, _mm_storeu_si128, _mm_mask_storeu_epi8);
out!(__m256i, 2, _mm256_storeu_si256, _mm256_mask_storeu_epi16);
out!(__m512i, 4, _mm512_storeu_si512, _mm512_mask_storeu_epi32);

/// Safety: the contract of [`RawConvert`], on a machine with AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn rows<F: Form, const INTEGER: bool>(
    src: *const u8,
    dst: *mut u8,
    rows: &Loop,
    n: usize,
    lanes: &Lanes,
    fixpipe: &Fixpipe,
) {
    let whole = n / 16 * 16;
    // SAFETY: columns `at..at + 16`, and the mask has the bits of columns `whole..n` only.
    unsafe {
        let mut at = 0;
        while at < whole {
            strip::<F, INTEGER, true>(src, dst, rows, at, !0, lanes, fixpipe);
            at += 16;
        }
        if whole < n {
            strip::<F, INTEGER, false>(src, dst, rows, whole, (1 << (n - whole)) - 1, lanes, fixpipe);
        }
    }
}

/// All rows of sixteen columns from `at` on; those in the mask where they are not `WHOLE`.
///
/// Safety: the contract of [`rows`], for the columns in the mask.
#[inline(always)]
unsafe fn strip<F: Form, const INTEGER: bool, const WHOLE: bool>(
    src: *const u8,
    dst: *mut u8,
    rows: &Loop,
    at: usize,
    mask: __mmask16,
    lanes: &Lanes,
    fixpipe: &Fixpipe,
) {
    // SAFETY: the contract of this function; parameters of one column, or of each column in the mask.
    unsafe {
        let (mut scale, mut offset) = (_mm512_setzero_ps(), _mm512_setzero_si512());
        if F::QUANT && lanes.per_column {
            scale = _mm512_maskz_loadu_ps(mask, lanes.scale.add(at));
            offset = _mm512_maskz_loadu_epi32(mask, lanes.offset.add(at));
        } else if F::QUANT {
            scale = _mm512_set1_ps(*lanes.scale);
            offset = _mm512_set1_epi32(*lanes.offset);
        }
        let (mut s, mut d) = (src.wrapping_add(4 * at), dst.wrapping_add(F::Out::BYTES * at));
        for _ in 0..rows.n {
            let x = if WHOLE { _mm512_loadu_si512(s.cast()) } else { _mm512_maskz_loadu_epi32(mask, s.cast()) };
            let mut t = if INTEGER { _mm512_cvtepi32_ps(x) } else { _mm512_castsi512_ps(x) };
            if F::QUANT {
                t = _mm512_mul_ps(t, scale);
            }
            let y = F::apply(t, offset, fixpipe);
            if WHOLE {
                y.store(d);
            } else {
                y.store_some(d, mask);
            }
            s = s.wrapping_offset(rows.src);
            d = d.wrapping_offset(rows.dst);
        }
    }
}

/// A finite value clamped to `±limit`; infinities and NaN pass.
///
/// Safety: the machine has AVX-512 F and DQ.
#[inline(always)]
unsafe fn saturate(t: __m512, limit: f32) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe {
        // Infinities of both signs and both kinds of NaN.
        let special = _mm512_fpclass_ps_mask::<0b1001_1001>(t);
        let clamped = _mm512_max_ps(_mm512_min_ps(t, _mm512_set1_ps(limit)), _mm512_set1_ps(-limit));
        _mm512_mask_mov_ps(clamped, special, t)
    }
}

/// The values that ReLU keeps. A positive value never rounds below +0, so looking at it before rounding is the same.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn positive(t: __m512) -> __mmask16 {
    // SAFETY: the contract of this function.
    unsafe { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(t, _mm512_setzero_ps()) }
}

/// To f16, or to bf16 where `BRAIN`.
struct ToHalf<const BRAIN: bool, const QUANT: bool>;

impl<const BRAIN: bool, const QUANT: bool> Form for ToHalf<BRAIN, QUANT> {
    type Out = __m256i;
    const QUANT: bool = QUANT;

    #[inline(always)]
    unsafe fn apply(t: __m512, _: __m512i, fixpipe: &Fixpipe) -> __m256i {
        let (largest, no_number) = if BRAIN { (f32::from_bits(0x7f7f_0000), 0x7fc0) } else { (65504.0, 0x7e00) };
        // SAFETY: the contract of the method.
        unsafe {
            let t = if QUANT { saturate(t, largest) } else { t };
            let y = if BRAIN {
                let bits = _mm512_castps_si512(t);
                // Half of the last place, less one where the last place is even: ties go to even.
                let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
                let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
                _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(rounded))
            } else {
                _mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(t)
            };
            if fixpipe.relu {
                return _mm256_maskz_mov_epi16(positive(t), y);
            }
            let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(t, t);
            _mm256_mask_mov_epi16(y, nan, _mm256_set1_epi16(no_number))
        }
    }
}

/// f32 to f32: bits unchanged without ReLU, NaN included.
struct Same;

impl Form for Same {
    type Out = __m512i;
    const QUANT: bool = false;

    #[inline(always)]
    unsafe fn apply(t: __m512, _: __m512i, fixpipe: &Fixpipe) -> __m512i {
        // SAFETY: the contract of the method.
        unsafe {
            let y = _mm512_castps_si512(t);
            if fixpipe.relu { _mm512_maskz_mov_epi32(positive(t), y) } else { y }
        }
    }
}

struct ToInteger<const SIGNED: bool>;

impl<const SIGNED: bool> Form for ToInteger<SIGNED> {
    type Out = __m128i;
    const QUANT: bool = true;

    #[inline(always)]
    unsafe fn apply(t: __m512, offset: __m512i, fixpipe: &Fixpipe) -> __m128i {
        // SAFETY: the contract of the method.
        unsafe {
            // Clamping to whole numbers before rounding to whole numbers gives what clamping afterwards would. Below the
            // range of i32 the rounding itself gives its smallest number.
            let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(t, t);
            let mut y = if fixpipe.hardware_rounding {
                let t = _mm512_max_ps(_mm512_min_ps(t, _mm512_set1_ps(255.0)), _mm512_set1_ps(-256.0));
                _mm512_maskz_add_epi32(number, _mm512_cvtps_epi32(t), offset)
            } else {
                let sum = _mm512_add_ps(t, _mm512_cvtepi32_ps(offset));
                _mm512_maskz_cvtps_epi32(number, _mm512_min_ps(sum, _mm512_set1_ps(255.0)))
            };
            if fixpipe.relu || !SIGNED {
                y = _mm512_max_epi32(y, _mm512_setzero_si512());
            }
            if SIGNED { _mm512_cvtsepi32_epi8(y) } else { _mm512_cvtusepi32_epi8(y) }
        }
    }
}
