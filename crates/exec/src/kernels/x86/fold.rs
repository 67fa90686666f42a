//! Folds along rows of f32: sixteen rows are turned in registers, so that each step takes one element of every row.

use super::vector::Vector;
use std::arch::x86_64::*;
use tessera_isa::sem::Func;

/// Rows of a register.
const LANES: usize = 16;

/// A kernel over rows: where they start, the bytes from one to the next, elements of a row, what a fold starts as, results.
///
/// Safety: the machine has AVX-512 F and DQ, and for every result there is such a row; there are [`LANES`] results or more.
pub(crate) type RowFold = unsafe fn(*const u8, isize, usize, f32, &mut [f32]);

/// The kernel of a function.
pub(crate) fn row_fold(func: Func) -> Option<RowFold> {
    match func {
        Func::Add => Some(rows::<Add>),
        Func::Max => Some(rows::<Extreme<5>>),
        Func::Min => Some(rows::<Extreme<4>>),
        _ => None,
    }
}

/// One more element of sixteen rows.
///
/// Safety: the machine has AVX-512 F and DQ.
trait Step {
    unsafe fn step(state: __m512, x: __m512) -> __m512;

    /// Which lanes have met a NaN among four elements that the state does not show.
    unsafe fn hidden(x: &[__m512; 4]) -> __mmask16;
}

struct Add;

impl Step for Add {
    #[inline(always)]
    unsafe fn step(state: __m512, x: __m512) -> __m512 {
        // SAFETY: the contract of the trait.
        unsafe { _mm512_add_ps(state, x) }
    }

    #[inline(always)]
    unsafe fn hidden(_: &[__m512; 4]) -> __mmask16 {
        0
    }
}

/// The greatest (5) or the least (4) number, with -0 below +0; it is no NaN while there is a number.
struct Extreme<const WHICH: i32>;

impl<const WHICH: i32> Step for Extreme<WHICH> {
    #[inline(always)]
    unsafe fn step(state: __m512, x: __m512) -> __m512 {
        // SAFETY: the contract of the trait.
        unsafe { _mm512_range_ps::<WHICH>(state, x) }
    }

    #[inline(always)]
    unsafe fn hidden(x: &[__m512; 4]) -> __mmask16 {
        // SAFETY: the contract of the trait.
        unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x[0], x[1]) | _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x[2], x[3]) }
    }
}

/// Safety: the contract of [`RowFold`].
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn rows<S: Step>(src: *const u8, pitch: isize, depth: usize, start: f32, out: &mut [f32]) {
    let n = out.len();
    let mut at = 0;
    // SAFETY: sixteen rows from each place on, the last ones again where they do not come out even.
    unsafe {
        // Two chains hide half of the latency of a step.
        while at + 2 * LANES <= n {
            let done = groups::<S, 2>([row(src, pitch, at), row(src, pitch, at + LANES)], pitch, depth, start);
            _mm512_storeu_ps(out.as_mut_ptr().add(at), done[0]);
            _mm512_storeu_ps(out.as_mut_ptr().add(at + LANES), done[1]);
            at += 2 * LANES;
        }
        while at < n {
            let first = at.min(n - LANES);
            let done = groups::<S, 1>([row(src, pitch, first)], pitch, depth, start);
            _mm512_storeu_ps(out.as_mut_ptr().add(first), done[0]);
            at += LANES;
        }
    }
}

#[inline(always)]
fn row(src: *const u8, pitch: isize, r: usize) -> *const u8 {
    src.wrapping_offset(pitch.wrapping_mul(r as isize))
}

/// The results of some groups of sixteen rows.
///
/// Safety: the rows are readable, and the machine has AVX-512 F and DQ.
#[inline(always)]
unsafe fn groups<S: Step, const N: usize>(src: [*const u8; N], pitch: isize, depth: usize, start: f32) -> [__m512; N] {
    // SAFETY: the contract of this function.
    unsafe {
        let mut state = [_mm512_set1_ps(start); N];
        let mut no_number: [__mmask16; N] = [0; N];
        let mut k = 0;
        while k < depth {
            let mut g = 0;
            while g < N {
                if k + 4 <= depth {
                    let x = columns(src[g].wrapping_add(4 * k), pitch);
                    state[g] = S::step(S::step(S::step(S::step(state[g], x[0]), x[1]), x[2]), x[3]);
                    no_number[g] |= S::hidden(&x);
                } else {
                    let mut i = k;
                    while i < depth {
                        let x = column(src[g].wrapping_add(4 * i), pitch);
                        state[g] = S::step(state[g], x);
                        no_number[g] |= S::hidden(&[x; 4]);
                        i += 1;
                    }
                }
                g += 1;
            }
            k += 4;
        }
        let nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC0_0000));
        let mut g = 0;
        while g < N {
            let is_nan = no_number[g] | _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(state[g], state[g]);
            state[g] = _mm512_mask_mov_ps(state[g], is_nan, nan);
            g += 1;
        }
        state
    }
}

/// Four elements of sixteen rows, each of the four as one vector.
///
/// Safety: they are readable, and the machine has AVX-512 F.
#[inline(always)]
unsafe fn columns(src: *const u8, pitch: isize) -> [__m512; 4] {
    // SAFETY: the contract of this function.
    unsafe {
        // Rows that are four apart share a register, so that two rounds sort it.
        let far = pitch.wrapping_mul(4);
        let (a, b) = __m512i::gather(src, far).zip::<4>(__m512i::gather(row(src, pitch, 2), far));
        let (c, d) = __m512i::gather(row(src, pitch, 1), far).zip::<4>(__m512i::gather(row(src, pitch, 3), far));
        let ((x, y), (z, w)) = (a.zip::<4>(c), b.zip::<4>(d));
        [_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), _mm512_castsi512_ps(z), _mm512_castsi512_ps(w)]
    }
}

/// One element of sixteen rows.
///
/// Safety: they are readable, and the machine has AVX-512 F.
#[inline(always)]
unsafe fn column(src: *const u8, pitch: isize) -> __m512 {
    let mut x = [0f32; LANES];
    let mut r = 0;
    while r < LANES {
        // SAFETY: the contract of this function.
        x[r] = unsafe { row(src, pitch, r).cast::<f32>().read_unaligned() };
        r += 1;
    }
    // SAFETY: sixteen numbers.
    unsafe { _mm512_loadu_ps(x.as_ptr()) }
}
