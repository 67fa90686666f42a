//! Functions of f32 one after the other, in registers: each takes the result of the one before.

use super::super::element::LANES;
use super::super::fold::{BoundRowFold, Folds};
use super::super::function::{Exp, ExpDif, Fun, Log, Rsqrt};
use super::super::fused::{Bound, FOLDED, Form, Kind, RegisterOp, SLOT_ROWS};
use super::Avx512;
use super::fold::{Add, Extreme, State};
use super::forms::{each_row, load, register, rounded, store};
use super::halves::without_payload;
use std::arch::x86_64::*;

/// Elements of a register.
const STEP: usize = 16;

/// Runs all acts on rows of elements: 256 elements go through all of them before the next ones, or 128 where some are not plain.
///
/// Safety: the machine has AVX-512 F, BW, DQ and VL, F16C and FMA; every element that an act reaches is readable, or writable
/// where it puts; what it writes overlaps what others touch element by element, or not at all; acts are plain where it says so.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
pub unsafe fn fused(acts: &[Bound], are_plain: bool, [rows, n]: [usize; 2], number: isize) {
    let mut row = 0;
    /// As many whole blocks as there are of some rows.
    macro_rules! rows {
        ($w:literal, $r:literal, $plain:literal) => {
            while row + $r <= rows {
                block::<$w, $r, $plain>(acts, number, row as isize, 0, !0);
                row += $r;
            }
        };
    }
    // SAFETY: the contract of this function; the rows are there, and elements `i` to `n` of each.
    unsafe {
        // Short rows go several at a time, at most `SLOT_ROWS`.
        match (n / STEP, n % STEP) {
            (8, 0) if are_plain => rows!(16, 2, true),
            (4, 0) if are_plain => rows!(16, 4, true),
            (4, 0) => rows!(8, 2, false),
            (2, 0) => rows!(8, 4, false),
            _ => {}
        }
        while row < rows {
            let mut i = 0;
            while are_plain && i + 16 * STEP <= n {
                block::<16, 1, true>(acts, number, row as isize, i, !0);
                i += 16 * STEP;
            }
            while i + 8 * STEP <= n {
                block::<8, 1, false>(acts, number, row as isize, i, !0);
                i += 8 * STEP;
            }
            while i + 2 * STEP <= n {
                block::<2, 1, false>(acts, number, row as isize, i, !0);
                i += 2 * STEP;
            }
            while i < n {
                let lanes = STEP.min(n - i);
                block::<1, 1, false>(acts, number, row as isize, i, (!0u32 >> (32 - lanes)) as __mmask16);
                i += STEP;
            }
            row += 1;
        }
    }
}

/// Runs all acts, and folds the rows of what they leave in the registers.
///
/// Safety: the contract of [`fused`]; all acts are plain, rows and elements of them come in whole [`FOLDED`], and what the fold writes
/// is read by acts on the same row at most.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")]
pub unsafe fn folded(acts: &[Bound], fold: &BoundRowFold, [rows, n]: [usize; 2], number: isize) {
    let mut row = 0;
    while row + FOLDED <= rows {
        // SAFETY: the contract of this function.
        unsafe {
            let mut state = State::new(fold.start);
            let mut i = 0;
            while i + STEP <= n {
                let made = block::<FOLDED, FOLDED, true>(acts, number, row as isize, i, !0);
                match fold.folds {
                    Folds::Sum => state.sixteen::<Add>(&made),
                    Folds::Greatest => state.sixteen::<Extreme<5>>(&made),
                    Folds::Least => state.sixteen::<Extreme<4>>(&made),
                }
                i += STEP;
            }
            let mut results = [0.0; FOLDED];
            _mm512_storeu_ps(results.as_mut_ptr(), state.results());
            fold.put(number, row as isize, &results);
        }
        row += FOLDED;
    }
}

/// Every register.
macro_rules! each {
    ($acc:ident = $f:ident($($arg:expr),*)) => {{
        let mut g = 0;
        while g < W {
            $acc[g] = $f($acc[g] $(, $arg)*);
            g += 1;
        }
    }};
}

/// Every register, with what the act's operand has for it.
macro_rules! both {
    ($acc:ident, $from:ident, |$x:ident, $y:ident| $of:expr) => {{
        let mut g = 0;
        match $from.kind {
            Kind::Own => {
                while g < W {
                    let ($x, $y) = ($acc[g], $acc[g]);
                    $acc[g] = $of;
                    g += 1;
                }
            }
            Kind::Dense => {
                while g < W {
                    let ($x, $y) = ($acc[g], $from.dense::<W, R>(g));
                    $acc[g] = $of;
                    g += 1;
                }
            }
            Kind::One => {
                while g < W {
                    let ($x, $y) = ($acc[g], $from.one::<W, R>(g));
                    $acc[g] = $of;
                    g += 1;
                }
            }
        }
    }};
}

/// The operand of the registers: the first element, and the bytes to the next row.
#[derive(Clone, Copy)]
struct From {
    kind: Kind,
    at: *const u8,
    row: isize,
    mask: __mmask16,
}

impl From {
    /// Safety: they are dense and readable, and the machine has AVX-512 F.
    #[inline(always)]
    unsafe fn dense<const W: usize, const R: usize>(&self, g: usize) -> __m512 {
        let at = register::<W, R>(self.at, self.row, 64, g);
        // SAFETY: the contract of this function.
        unsafe { if W == 1 { _mm512_maskz_loadu_ps(self.mask, at.cast()) } else { _mm512_loadu_ps(at.cast()) } }
    }

    /// Safety: it is readable, and the machine has AVX-512 F.
    #[inline(always)]
    unsafe fn one<const W: usize, const R: usize>(&self, g: usize) -> __m512 {
        // SAFETY: the contract of this function.
        unsafe { _mm512_set1_ps(register::<W, R>(self.at, self.row, 0, g).cast::<f32>().read_unaligned()) }
    }
}

/// `W` registers, the same number of each of `R` rows; a single register has only the lanes of the mask. Returns their
/// final contents. If all acts are plain ([`RegisterOp::is_plain`]) there is no code for others, which needs registers
/// of its own: with it, or with calls of it, sixteen would be in memory.
///
/// Safety: the contract of [`fused`] for the elements from `i` on.
#[inline(always)]
unsafe fn block<const W: usize, const R: usize, const PLAIN: bool>(
    acts: &[Bound],
    number: isize,
    row: isize,
    i: usize,
    mask: __mmask16,
) -> [__m512; W] {
    // SAFETY: the contract of this function.
    unsafe {
        let mut acc = [_mm512_setzero_ps(); W];
        for bound in acts {
            let (row, i) = match bound.wraps {
                true if R == FOLDED => (0, 0),
                true => (row % SLOT_ROWS as isize, i),
                false => (row, i),
            };
            let at = bound.start.wrapping_offset(bound.strip * number + bound.row * row).wrapping_add(bound.step * i);
            let mut from = From { kind: bound.kind, at, row: bound.row, mask };
            // Elements that are not f32 in memory are first converted into this.
            let wide: [__m512; W];
            if !PLAIN && bound.form != Form::F32 {
                if bound.act == RegisterOp::Take {
                    acc = widened::<W, R>(bound.form, &from);
                    continue;
                }
                wide = widened::<W, R>(bound.form, &from);
                from = From { kind: Kind::Dense, at: wide.as_ptr().cast(), row: 64 * (W / R) as isize, mask };
            }
            match bound.act {
                RegisterOp::Take => both!(acc, from, |_x, y| y),
                RegisterOp::Put(Form::F32) => store::<W, R>(acc, at, bound.row, Form::F32, mask),
                RegisterOp::Settle => acc = settled(acc),
                RegisterOp::Add => both!(acc, from, |x, y| _mm512_add_ps(x, y)),
                RegisterOp::Sub => both!(acc, from, |x, y| _mm512_sub_ps(x, y)),
                RegisterOp::SubFrom => both!(acc, from, |x, y| _mm512_sub_ps(y, x)),
                RegisterOp::Mul => both!(acc, from, |x, y| _mm512_mul_ps(x, y)),
                RegisterOp::Div => both!(acc, from, |x, y| _mm512_div_ps(x, y)),
                RegisterOp::DivOf => both!(acc, from, |x, y| _mm512_div_ps(y, x)),
                RegisterOp::Max => both!(acc, from, |x, y| greater(x, y)),
                RegisterOp::Min => both!(acc, from, |x, y| smaller(x, y)),
                RegisterOp::Relu => each!(acc = relu()),
                RegisterOp::Sqrt => each!(acc = _mm512_sqrt_ps()),
                RegisterOp::Recip => each!(acc = recip()),
                RegisterOp::Abs => each!(acc = _mm512_abs_ps()),
                RegisterOp::Neg => each!(acc = negated()),
                _ if PLAIN => {}
                RegisterOp::Exp => acc = by_lanes::<Exp, W>(acc, acc),
                RegisterOp::ExpDif => {
                    let mut other = acc;
                    both!(other, from, |_x, y| y);
                    acc = by_lanes::<ExpDif, W>(acc, other);
                }
                RegisterOp::Log => acc = by_lanes::<Log, W>(acc, acc),
                RegisterOp::Rsqrt => acc = by_lanes::<Rsqrt, W>(acc, acc),
                RegisterOp::Round(form) => each!(acc = rounded(form)),
                RegisterOp::Put(form) => store::<W, R>(acc, at, bound.row, form, mask),
            }
        }
        acc
    }
}

/// An operand in memory as f32.
///
/// Safety: the elements of the mask are readable, and the machine has AVX-512 F, BW and VL, and F16C.
#[inline(always)]
unsafe fn widened<const W: usize, const R: usize>(form: Form, from: &From) -> [__m512; W] {
    // SAFETY: the contract of this function.
    unsafe {
        match from.kind {
            Kind::One => each_row::<W, R>(from.at, from.row, form),
            _ => load::<W, R>(from.at, from.row, form, from.mask),
        }
    }
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

/// With the NaN that arithmetic gives in place of every other; mostly there is none.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn settled<const W: usize>(mut acc: [__m512; W]) -> [__m512; W] {
    // SAFETY: the contract of this function.
    unsafe {
        if has_nan(&acc) {
            each!(acc = without_payload());
        }
    }
    acc
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

/// Applies a function two registers at a time: as many lanes as kernels of single instructions compute at once.
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
