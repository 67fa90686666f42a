//! Conversions out of an accumulator, sixteen columns at a time.

use super::super::Loop;
use super::super::convert::{Lanes, RawConvert};
use crate::fixpipe::Fixpipe;
use std::arch::x86_64::*;
use tessera_isa::elem::Elem;

/// The kernel of a form, where there is one.
pub(crate) fn convert(fixpipe: &Fixpipe, quant: bool) -> Option<RawConvert> {
    Some(match (fixpipe.src, fixpipe.dst, quant) {
        (Elem::F32, Elem::F16, false) => rows::<ToF16, false, false>,
        (Elem::F32, Elem::Bf16, false) => rows::<ToBf16, false, false>,
        (Elem::F32, Elem::F32, false) => rows::<Same, false, false>,
        (Elem::F32, Elem::F16, true) => rows::<ToF16, false, true>,
        (Elem::I32, Elem::F16, true) => rows::<ToF16, true, true>,
        (Elem::F32, Elem::Bf16, true) => rows::<ToBf16, false, true>,
        (Elem::I32, Elem::Bf16, true) => rows::<ToBf16, true, true>,
        (Elem::F32, Elem::I8 | Elem::U8, true) => rows::<ToInteger, false, true>,
        (Elem::I32, Elem::I8 | Elem::U8, true) => rows::<ToInteger, true, true>,
        _ => return None,
    })
}

/// What becomes of sixteen values.
trait Form {
    /// Bytes of a result.
    const BYTES: usize;

    /// The results after ReLU, each in the low bits of its lane.
    ///
    /// # Safety
    ///
    /// The machine has AVX-512 F, BW, DQ and VL.
    unsafe fn apply(t: __m512, offset: __m512i, quant: bool, fixpipe: &Fixpipe) -> __m512i;
}

/// # Safety
///
/// The contract of [`RawConvert`], on a machine with AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn rows<F: Form, const INTEGER: bool, const QUANT: bool>(
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
            strip::<F, INTEGER, QUANT, true>(src, dst, rows, at, !0, lanes, fixpipe);
            at += 16;
        }
        if whole < n {
            strip::<F, INTEGER, QUANT, false>(src, dst, rows, whole, (1 << (n - whole)) - 1, lanes, fixpipe);
        }
    }
}

/// All rows of sixteen columns from `at` on; those in the mask where they are not `WHOLE`.
///
/// # Safety
///
/// The contract of [`rows`], for the columns in the mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn strip<F: Form, const INTEGER: bool, const QUANT: bool, const WHOLE: bool>(
    src: *const u8,
    dst: *mut u8,
    rows: &Loop,
    at: usize,
    mask: __mmask16,
    lanes: &Lanes,
    fixpipe: &Fixpipe,
) {
    let (mut scale, mut offset) = (_mm512_setzero_ps(), _mm512_setzero_si512());
    // SAFETY: the contract of this function; parameters of one column, or of each column in the mask.
    unsafe {
        if QUANT && lanes.per_column {
            scale = _mm512_maskz_loadu_ps(mask, lanes.scale.add(at));
            offset = _mm512_maskz_loadu_epi32(mask, lanes.offset.add(at));
        } else if QUANT {
            scale = _mm512_set1_ps(*lanes.scale);
            offset = _mm512_set1_epi32(*lanes.offset);
        }
        let (mut s, mut d) = (src.wrapping_add(4 * at), dst.wrapping_add(F::BYTES * at));
        for _ in 0..rows.n {
            let x = if WHOLE {
                _mm512_loadu_si512(s.cast())
            } else {
                _mm512_maskz_loadu_epi32(mask, s.cast())
            };
            let mut t = if INTEGER {
                _mm512_cvtepi32_ps(x)
            } else {
                _mm512_castsi512_ps(x)
            };
            if QUANT {
                t = _mm512_mul_ps(t, scale);
            }
            let y = F::apply(t, offset, QUANT, fixpipe);
            match (F::BYTES, WHOLE) {
                (1, true) => _mm_storeu_si128(d.cast(), _mm512_cvtepi32_epi8(y)),
                (1, false) => _mm_mask_storeu_epi8(d.cast(), mask, _mm512_cvtepi32_epi8(y)),
                (2, true) => _mm256_storeu_si256(d.cast(), _mm512_cvtepi32_epi16(y)),
                (2, false) => _mm256_mask_storeu_epi16(d.cast(), mask, _mm512_cvtepi32_epi16(y)),
                (_, true) => _mm512_storeu_si512(d.cast(), y),
                (_, false) => _mm512_mask_storeu_epi32(d.cast(), mask, y),
            }
            s = s.wrapping_offset(rows.src);
            d = d.wrapping_offset(rows.dst);
        }
    }
}

/// A finite value clamped to `±limit`; infinities and NaN pass.
///
/// # Safety
///
/// The machine has AVX-512 F and DQ.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn saturate(t: __m512, limit: f32) -> __m512 {
    // Infinities of both signs and both kinds of NaN.
    let special = _mm512_fpclass_ps_mask::<0b1001_1001>(t);
    let clamped = _mm512_max_ps(_mm512_min_ps(t, _mm512_set1_ps(limit)), _mm512_set1_ps(-limit));
    _mm512_mask_mov_ps(clamped, special, t)
}

/// Replaces the results of NaN by `nan`, and with ReLU those that do not come from a positive value by +0. A positive
/// value never rounds below +0, so looking at the value before rounding is the same.
///
/// # Safety
///
/// The machine has AVX-512 F.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn finish(t: __m512, y: __m512i, nan: i32, relu: bool) -> __m512i {
    if relu {
        return _mm512_maskz_mov_epi32(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(t, _mm512_setzero_ps()), y);
    }
    _mm512_mask_mov_epi32(y, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(t, t), _mm512_set1_epi32(nan))
}

struct ToF16;

impl Form for ToF16 {
    const BYTES: usize = 2;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn apply(t: __m512, _: __m512i, quant: bool, fixpipe: &Fixpipe) -> __m512i {
        // SAFETY: the contract of this function.
        unsafe {
            let t = if quant { saturate(t, 65504.0) } else { t };
            let y = _mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(t);
            finish(t, _mm512_cvtepu16_epi32(y), 0x7e00, fixpipe.relu)
        }
    }
}

struct ToBf16;

impl Form for ToBf16 {
    const BYTES: usize = 2;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn apply(t: __m512, _: __m512i, quant: bool, fixpipe: &Fixpipe) -> __m512i {
        // SAFETY: the contract of this function.
        unsafe {
            let t = if quant {
                saturate(t, f32::from_bits(0x7f7f_0000))
            } else {
                t
            };
            let bits = _mm512_castps_si512(t);
            // Half of the last place, less one where the last place is even: ties go to even.
            let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
            finish(t, _mm512_srli_epi32::<16>(rounded), 0x7fc0, fixpipe.relu)
        }
    }
}

/// f32 to f32: bits unchanged without ReLU, NaN included.
struct Same;

impl Form for Same {
    const BYTES: usize = 4;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn apply(t: __m512, _: __m512i, _: bool, fixpipe: &Fixpipe) -> __m512i {
        let y = _mm512_castps_si512(t);
        // SAFETY: the contract of this function.
        if fixpipe.relu {
            unsafe { finish(t, y, 0, true) }
        } else {
            y
        }
    }
}

struct ToInteger;

impl Form for ToInteger {
    const BYTES: usize = 1;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn apply(t: __m512, offset: __m512i, _: bool, fixpipe: &Fixpipe) -> __m512i {
        let (low, high) = if fixpipe.dst == Elem::I8 { (-128, 127) } else { (0, 255) };
        let low = if fixpipe.relu { 0 } else { low };
        let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(t, t);
        // Clamping to whole numbers before rounding to whole numbers gives what clamping afterwards would.
        let y = if fixpipe.hardware_rounding {
            let t = _mm512_max_ps(_mm512_min_ps(t, _mm512_set1_ps(255.0)), _mm512_set1_ps(-256.0));
            let sum = _mm512_add_epi32(_mm512_cvtps_epi32(t), offset);
            _mm512_max_epi32(_mm512_min_epi32(sum, _mm512_set1_epi32(high)), _mm512_set1_epi32(low))
        } else {
            let sum = _mm512_add_ps(t, _mm512_cvtepi32_ps(offset));
            let (low, high) = (_mm512_set1_ps(low as f32), _mm512_set1_ps(high as f32));
            _mm512_cvtps_epi32(_mm512_max_ps(_mm512_min_ps(sum, high), low))
        };
        _mm512_maskz_mov_epi32(number, y)
    }
}
