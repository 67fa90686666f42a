//! Elements of memory as f32 in registers, and back.

use super::super::fused::Form;
use super::halves::{to_nearest, without_payload};
use std::arch::x86_64::*;

/// Safety: the elements of the mask are readable, and the machine has AVX-512 F, BW and VL.
#[inline(always)]
pub(super) unsafe fn load<const W: usize, const R: usize>(
    start: *const u8,
    row: isize,
    form: Form,
    mask: __mmask16,
) -> [__m512; W] {
    // SAFETY: the contract of this function.
    unsafe {
        let at = start;
        let mut all = [_mm512_setzero_ps(); W];
        let mut g = 0;
        match form {
            Form::F32 if W == 1 => all[0] = _mm512_maskz_loadu_ps(mask, at.cast()),
            Form::F32 => {
                while g < W {
                    all[g] = _mm512_loadu_ps(register::<W, R>(start, row, 64, g).cast());
                    g += 1;
                }
            }
            Form::F16 | Form::Bf16 | Form::I16 => {
                while g < W {
                    let raw = match W {
                        1 => _mm256_maskz_loadu_epi16(mask, at.cast()),
                        _ => _mm256_loadu_si256(register::<W, R>(start, row, 32, g).cast()),
                    };
                    all[g] = match form {
                        Form::F16 => _mm512_cvtph_ps(raw),
                        Form::I16 => _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(raw)),
                        _ => wide(raw),
                    };
                    g += 1;
                }
            }
            Form::I8 | Form::U8 => {
                while g < W {
                    let raw = match W {
                        1 => _mm_maskz_loadu_epi8(mask, at.cast()),
                        _ => _mm_loadu_si128(register::<W, R>(start, row, 16, g).cast()),
                    };
                    let number = if form == Form::I8 { _mm512_cvtepi8_epi32(raw) } else { _mm512_cvtepu8_epi32(raw) };
                    all[g] = _mm512_cvtepi32_ps(number);
                    g += 1;
                }
            }
        }
        all
    }
}

/// The address of the bytes of register `g`, which has `bytes` bytes of each row's.
#[inline(always)]
pub(super) fn register<const W: usize, const R: usize>(
    start: *const u8,
    row: isize,
    bytes: usize,
    g: usize,
) -> *const u8 {
    let of_row = W / R;
    start.wrapping_offset(row * (g / of_row) as isize).wrapping_add(bytes * (g % of_row))
}

/// One element of each row, for all of it.
///
/// Safety: they are readable, and the machine has AVX-512 F and F16C.
#[inline(always)]
pub(super) unsafe fn each_row<const W: usize, const R: usize>(start: *const u8, row: isize, form: Form) -> [__m512; W] {
    // SAFETY: the contract of this function.
    unsafe {
        let mut all = [_mm512_setzero_ps(); W];
        let mut g = 0;
        while g < W {
            all[g] = one(register::<W, R>(start, row, 0, g), form);
            g += 1;
        }
        all
    }
}

/// One element, for all of them.
///
/// Safety: it is readable, and the machine has AVX-512 F and F16C.
#[inline(always)]
unsafe fn one(at: *const u8, form: Form) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe {
        match form {
            Form::F32 => _mm512_set1_ps(at.cast::<f32>().read_unaligned()),
            Form::F16 => _mm512_cvtph_ps(_mm256_set1_epi16(at.cast::<i16>().read_unaligned())),
            Form::Bf16 => wide(_mm256_set1_epi16(at.cast::<i16>().read_unaligned())),
            Form::I16 => _mm512_set1_ps(at.cast::<i16>().read_unaligned().into()),
            Form::I8 => _mm512_set1_ps(at.cast::<i8>().read().into()),
            Form::U8 => _mm512_set1_ps(at.read().into()),
        }
    }
}

/// Floats only; what is no f32 was rounded before ([`rounded`]).
///
/// Safety: the elements of the mask are writable, and the machine has AVX-512 F, BW and VL.
#[inline(always)]
pub(super) unsafe fn store<const W: usize, const R: usize>(
    acc: [__m512; W],
    start: *mut u8,
    row: isize,
    form: Form,
    mask: __mmask16,
) {
    // SAFETY: the contract of this function.
    unsafe {
        let at = start;
        let mut g = 0;
        match form {
            Form::F32 if W == 1 => _mm512_mask_storeu_ps(at.cast(), mask, acc[0]),
            Form::F32 => {
                while g < W {
                    _mm512_storeu_ps(register::<W, R>(start, row, 64, g).cast_mut().cast(), acc[g]);
                    g += 1;
                }
            }
            _ => {
                while g < W {
                    let raw = match form {
                        Form::F16 => _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(acc[g]),
                        _ => _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(_mm512_castps_si512(acc[g]))),
                    };
                    match W {
                        1 => _mm256_mask_storeu_epi16(at.cast(), mask, raw),
                        _ => _mm256_storeu_si256(register::<W, R>(start, row, 32, g).cast_mut().cast(), raw),
                    }
                    g += 1;
                }
            }
        }
    }
}

/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn wide(raw: __m256i) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(raw))) }
}

/// As numbers of 16 bits have them, ties to even.
///
/// Safety: the machine has AVX-512 F and F16C.
#[inline(always)]
pub(super) unsafe fn rounded(v: __m512, form: Form) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe {
        let v = without_payload(v);
        match form {
            Form::F16 => _mm512_cvtph_ps(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(v)),
            Form::Bf16 => brain(v),
            _ => v,
        }
    }
}

/// Rounded to bf16; a NaN stays unchanged.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn brain(v: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe {
        let upper = _mm512_and_si512(to_nearest(v), _mm512_set1_epi32(0xFFFF_0000_u32 as i32));
        _mm512_mask_mov_ps(_mm512_castsi512_ps(upper), _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v), v)
    }
}
