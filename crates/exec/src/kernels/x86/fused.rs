//! Functions of f32 one after the other, in registers: what one of them gives the next one takes.

use super::super::element::{Exp, ExpDif, Fun, LANES, Log, Rsqrt};
use super::super::fused::{Act, At, Bound, Form, SLOT_ROWS, Usual};
use super::Avx512;
use super::halves::{to_nearest, without_payload};
use std::arch::x86_64::*;

/// Elements of a register.
const STEP: usize = 16;

/// Runs all acts on rows of elements: 128 elements go through all of them before the next ones.
///
/// Safety: the machine has AVX-512 F, BW, DQ and VL, F16C and FMA; every element that an act reaches is readable, or writable
/// where it puts; what it writes overlaps what others touch element by element, or not at all.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
pub(crate) unsafe fn fused(acts: &[Bound], [rows, n]: [usize; 2], number: isize) {
    let mut row = 0;
    // SAFETY: the contract of this function; the rows are there, and elements `i` to `n` of each.
    unsafe {
        // Short rows go several at a time, at most `SLOT_ROWS`.
        if n == 4 * STEP {
            while row + 2 <= rows {
                block::<8, 2>(acts, number, row as isize, 0, !0);
                row += 2;
            }
        } else if n == 2 * STEP {
            while row + 4 <= rows {
                block::<8, 4>(acts, number, row as isize, 0, !0);
                row += 4;
            }
        }
        while row < rows {
            let mut i = 0;
            while i + 8 * STEP <= n {
                block::<8, 1>(acts, number, row as isize, i, !0);
                i += 8 * STEP;
            }
            while i + 2 * STEP <= n {
                block::<2, 1>(acts, number, row as isize, i, !0);
                i += 2 * STEP;
            }
            while i < n {
                let lanes = STEP.min(n - i);
                block::<1, 1>(acts, number, row as isize, i, (!0u32 >> (32 - lanes)) as __mmask16);
                i += STEP;
            }
            row += 1;
        }
    }
}

/// Every register of two arrays.
macro_rules! each {
    ($acc:ident = $f:ident($($arg:ident),*)) => {{
        let mut g = 0;
        while g < W {
            $acc[g] = $f($($arg[g]),*);
            g += 1;
        }
    }};
}

/// Every register, with one of f32 from memory.
macro_rules! usual {
    ($acc:ident = |$x:ident, $y:ident| $of:expr, $at:ident, $step:ident) => {{
        let mut g = 0;
        while g < W {
            let $y = _mm512_loadu_ps(register::<W, R>($at, $step, 64, g).cast());
            let $x = $acc[g];
            $acc[g] = $of;
            let _ = $x;
            g += 1;
        }
    }};
}

/// `W` registers, as many of each of `R` rows; where it is one of them only the lanes of the mask are there.
///
/// Safety: the contract of [`fused`] for the elements from `i` on.
#[inline(always)]
unsafe fn block<const W: usize, const R: usize>(acts: &[Bound], number: isize, row: isize, i: usize, mask: __mmask16) {
    // SAFETY: the contract of this function.
    unsafe {
        let mut acc = [_mm512_setzero_ps(); W];
        for bound in acts {
            let row = if bound.wraps { row % SLOT_ROWS as isize } else { row };
            let start = bound.start.wrapping_offset(bound.strip * number + bound.row * row);
            if W == 1 {
                acc = any::<W, R>(acc, bound, start, i, mask);
                continue;
            }
            // The usual ones, one jump and as many instructions as there are registers; `start` of a scalar is not used.
            let at = start.wrapping_add(4 * i);
            let step = bound.row;
            match bound.usual {
                Usual::Take => usual!(acc = |x, y| y, at, step),
                Usual::Add => usual!(acc = |x, y| _mm512_add_ps(x, y), at, step),
                Usual::Sub => usual!(acc = |x, y| _mm512_sub_ps(x, y), at, step),
                Usual::Mul => usual!(acc = |x, y| _mm512_mul_ps(x, y), at, step),
                Usual::Put => {
                    let mut g = 0;
                    while g < W {
                        _mm512_storeu_ps(register::<W, R>(at, step, 64, g).cast_mut().cast(), acc[g]);
                        g += 1;
                    }
                }
                Usual::AddScalar => {
                    let other = [_mm512_set1_ps(bound.value); W];
                    each!(acc = _mm512_add_ps(acc, other));
                }
                Usual::MulScalar => {
                    let other = [_mm512_set1_ps(bound.value); W];
                    each!(acc = _mm512_mul_ps(acc, other));
                }
                Usual::Relu => each!(acc = relu(acc)),
                Usual::Settle => {
                    if has_nan(&acc) {
                        acc = any::<W, R>(acc, bound, start, i, mask);
                    }
                }
                Usual::No => acc = any::<W, R>(acc, bound, start, i, mask),
            }
        }
    }
}

/// Any act; `start` is where the row of its operand begins.
///
/// Safety: the contract of [`fused`] for the elements from `i` on.
#[inline(always)]
unsafe fn any<const W: usize, const R: usize>(
    mut acc: [__m512; W],
    bound: &Bound,
    start: *mut u8,
    i: usize,
    mask: __mmask16,
) -> [__m512; W] {
    let Bound { act, at, value, .. } = *bound;
    // SAFETY: the contract of this function.
    unsafe {
        let other = match at {
            At::Own => acc,
            At::Dense(form) => load::<W, R>(start.wrapping_add(form.size() * i), bound.row, form, mask),
            At::One(form) if R == 1 => [one(start, form); W],
            At::One(form) => each_row::<W, R>(start, bound.row, form),
            At::Scalar => [_mm512_set1_ps(value); W],
        };
        match act {
            Act::Take => acc = other,
            Act::Put(form) => store::<W, R>(acc, start.wrapping_add(form.size() * i), bound.row, form, mask),
            Act::Settle => acc = settled(acc),
            Act::Add => each!(acc = _mm512_add_ps(acc, other)),
            Act::Sub => each!(acc = _mm512_sub_ps(acc, other)),
            Act::SubFrom => each!(acc = _mm512_sub_ps(other, acc)),
            Act::Mul => each!(acc = _mm512_mul_ps(acc, other)),
            Act::Div => each!(acc = _mm512_div_ps(acc, other)),
            Act::DivOf => each!(acc = _mm512_div_ps(other, acc)),
            Act::Max => each!(acc = greater(acc, other)),
            Act::Min => each!(acc = smaller(acc, other)),
            Act::Relu => each!(acc = relu(acc)),
            Act::Sqrt => each!(acc = _mm512_sqrt_ps(acc)),
            Act::Recip => each!(acc = recip(acc)),
            Act::Abs => each!(acc = _mm512_abs_ps(acc)),
            Act::Neg => each!(acc = negated(acc)),
            Act::Exp => acc = by_lanes::<Exp, W>(acc, acc),
            Act::ExpDif => acc = by_lanes::<ExpDif, W>(acc, other),
            Act::Log => acc = by_lanes::<Log, W>(acc, acc),
            Act::Rsqrt => acc = by_lanes::<Rsqrt, W>(acc, acc),
            Act::Round(form) => acc = rounded(acc, form),
        }
    }
    acc
}

/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn has_nan<const W: usize>(acc: &[__m512; W]) -> bool {
    let mut is_nan = 0;
    let mut g = 0;
    while g < W {
        // SAFETY: the contract of this function.
        is_nan |= unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(acc[g], acc[(g + 1).min(W - 1)]) };
        g += 2;
    }
    is_nan != 0
}

/// Safety: the elements of the mask are readable, and the machine has AVX-512 F, BW and VL.
#[inline(always)]
unsafe fn load<const W: usize, const R: usize>(
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

/// Where the bytes of a register are, of so many of each row.
#[inline(always)]
fn register<const W: usize, const R: usize>(start: *const u8, row: isize, bytes: usize, g: usize) -> *const u8 {
    let of_row = W / R;
    start.wrapping_offset(row * (g / of_row) as isize).wrapping_add(bytes * (g % of_row))
}

/// One element of each row, for all of it.
///
/// Safety: they are readable, and the machine has AVX-512 F and F16C.
#[inline(always)]
unsafe fn each_row<const W: usize, const R: usize>(start: *const u8, row: isize, form: Form) -> [__m512; W] {
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
unsafe fn store<const W: usize, const R: usize>(
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

/// With the NaN that arithmetic gives in place of every other; mostly there is none.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn settled<const W: usize>(mut acc: [__m512; W]) -> [__m512; W] {
    // SAFETY: the contract of this function.
    unsafe {
        if has_nan(&acc) {
            each!(acc = without_payload(acc));
        }
    }
    acc
}

/// As numbers of 16 bits have them, ties to even.
///
/// Safety: the machine has AVX-512 F and F16C.
#[inline(always)]
unsafe fn rounded<const W: usize>(acc: [__m512; W], form: Form) -> [__m512; W] {
    // SAFETY: the contract of this function.
    unsafe {
        let mut acc = settled(acc);
        let mut g = 0;
        while g < W {
            acc[g] = match form {
                Form::F16 => _mm512_cvtph_ps(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(acc[g])),
                Form::Bf16 => brain(acc[g]),
                _ => acc[g],
            };
            g += 1;
        }
        acc
    }
}

/// Rounded to bf16; a NaN stays what it is.
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

/// -0 is below +0, and NaN is what there is with one.
///
/// Safety: the machine has AVX-512 DQ.
#[inline(always)]
unsafe fn greater(x: __m512, y: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe { or_nan(_mm512_range_ps::<5>(x, y), x, y) }
}

/// Safety: the machine has AVX-512 DQ.
#[inline(always)]
unsafe fn smaller(x: __m512, y: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe { or_nan(_mm512_range_ps::<4>(x, y), x, y) }
}

/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn or_nan(v: __m512, x: __m512, y: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe {
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, y);
        _mm512_mask_mov_ps(v, is_nan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC0_0000)))
    }
}

/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn relu(x: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_NLE_UQ>(x, _mm512_setzero_ps()), x) }
}

/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn recip(x: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe { _mm512_div_ps(_mm512_set1_ps(1.0), x) }
}

/// Safety: the machine has AVX-512 DQ.
#[inline(always)]
unsafe fn negated(x: __m512) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe { _mm512_xor_ps(x, _mm512_set1_ps(-0.0)) }
}

/// What kernels of single instructions compute so many at a time.
///
/// Safety: the machine has what [`Avx512`] has.
#[inline(always)]
unsafe fn by_lanes<F: Fun<f32>, const W: usize>(mut x: [__m512; W], y: [__m512; W]) -> [__m512; W] {
    let mut g = 0;
    while g < W {
        // A register that has no neighbour is computed twice.
        let next = (g + 1).min(W - 1);
        // SAFETY: two registers are as many numbers; the contract of this function.
        unsafe {
            let a: [f32; LANES] = std::mem::transmute([x[g], x[next]]);
            let b: [f32; LANES] = std::mem::transmute([y[g], y[next]]);
            let out = F::of_all::<Avx512>(&a, &b, &[0.0; LANES]);
            let out: [__m512; 2] = std::mem::transmute(out);
            (x[g], x[next]) = (out[0], out[1]);
        }
        g += 2;
    }
    x
}
