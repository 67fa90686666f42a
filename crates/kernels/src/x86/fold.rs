//! Folds along rows of f32: sixteen rows are turned in registers, so that each step takes one element of every row.

use super::super::fold::Folds;
use super::vector::{Vector, zipped};
use std::arch::x86_64::*;

/// Rows of a register.
pub(super) const LANES: usize = 16;

/// A kernel over rows: where they start, the bytes from one to the next, elements of a row, what a fold starts as, results.
///
/// Safety: the machine has AVX-512 F and DQ, and for every result there is such a row; there are [`LANES`] results or more.
pub type RowFold = unsafe fn(*const u8, isize, usize, f32, &mut [f32]);

/// The kernel of a fold.
pub fn row_fold(folds: Folds) -> RowFold {
    match folds {
        Folds::Sum => rows::<Add>,
        Folds::Greatest => rows::<Extreme<5>>,
        Folds::Least => rows::<Extreme<4>>,
    }
}

/// One more element of sixteen rows.
///
/// Safety: the machine has AVX-512 F and DQ.
pub(super) trait Step {
    /// Whether the result is independent of the order of elements.
    const IN_ANY_ORDER: bool;

    unsafe fn step(state: __m512, x: __m512) -> __m512;

    /// The lanes that had a NaN among four elements that the state does not show.
    unsafe fn hidden(x: &[__m512; 4]) -> __mmask16;
}

pub(super) struct Add;

impl Step for Add {
    const IN_ANY_ORDER: bool = false;

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
pub(super) struct Extreme<const WHICH: i32>;

impl<const WHICH: i32> Step for Extreme<WHICH> {
    const IN_ANY_ORDER: bool = true;

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

/// Sixteen rows, folded as far as they have come.
#[derive(Clone, Copy)]
pub(super) struct State {
    value: __m512,
    /// Rows with a NaN that the value does not show.
    no_number: __mmask16,
}

impl State {
    /// Safety: the machine has AVX-512 F.
    #[inline(always)]
    pub unsafe fn new(start: f32) -> State {
        // SAFETY: the contract of this function.
        State { value: unsafe { _mm512_set1_ps(start) }, no_number: 0 }
    }

    /// Four more elements of every row.
    ///
    /// Safety: the machine has AVX-512 F and DQ.
    #[inline(always)]
    unsafe fn four<S: Step>(&mut self, x: &[__m512; 4]) {
        // SAFETY: the contract of this function.
        unsafe {
            self.value = S::step(S::step(S::step(S::step(self.value, x[0]), x[1]), x[2]), x[3]);
            self.no_number |= S::hidden(x);
        }
    }

    /// Sixteen more elements of every row, which are registers here.
    ///
    /// Safety: the machine has AVX-512 F and DQ.
    #[inline(always)]
    pub unsafe fn sixteen<S: Step>(&mut self, rows: &[__m512; LANES]) {
        // SAFETY: the contract of this function.
        unsafe {
            let [a, b, c, d] = turned(rows);
            self.four::<S>(&a);
            self.four::<S>(&b);
            self.four::<S>(&c);
            self.four::<S>(&d);
        }
    }

    /// The results, with the NaN that arithmetic gives.
    ///
    /// Safety: the machine has AVX-512 F.
    #[inline(always)]
    pub unsafe fn results(self) -> __m512 {
        // SAFETY: the contract of this function.
        unsafe {
            let is_nan = self.no_number | _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.value, self.value);
            _mm512_mask_mov_ps(self.value, is_nan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC0_0000)))
        }
    }
}

/// Rows that lie a multiple of this apart share so few sets of the first-level cache that sixteen of them push each other out.
const CROWDED: isize = 1024;

/// Safety: the contract of [`RowFold`].
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn rows<S: Step>(src: *const u8, pitch: isize, depth: usize, start: f32, out: &mut [f32]) {
    let n = out.len();
    let is_free = S::IN_ANY_ORDER && depth >= 4 * LANES;
    let is_crowded = pitch % CROWDED == 0;
    let mut at = 0;
    // SAFETY: sixteen rows from each place on, the last ones again where they do not come out even.
    unsafe {
        // Two chains hide half of the latency of a step.
        while !is_free && !is_crowded && at + 2 * LANES <= n {
            let done = groups::<S, 2>([row(src, pitch, at), row(src, pitch, at + LANES)], pitch, depth, start);
            _mm512_storeu_ps(out.as_mut_ptr().add(at), done[0]);
            _mm512_storeu_ps(out.as_mut_ptr().add(at + LANES), done[1]);
            at += 2 * LANES;
        }
        while at < n {
            let first = at.min(n - LANES);
            let from = row(src, pitch, first);
            let done = if is_free {
                along::<S>(from, pitch, depth, start)
            } else if is_crowded {
                by_lines::<S>(from, pitch, depth, start)
            } else {
                groups::<S, 1>([from], pitch, depth, start)[0]
            };
            _mm512_storeu_ps(out.as_mut_ptr().add(first), done);
            at += LANES;
        }
    }
}

#[inline(always)]
fn row(src: *const u8, pitch: isize, r: usize) -> *const u8 {
    src.wrapping_offset(pitch.wrapping_mul(r as isize))
}

/// Sixteen rows where the order of elements does not matter: a register of each row, and then those.
///
/// Safety: the rows are readable and four registers long or more, and the machine has AVX-512 F and DQ.
#[inline(always)]
unsafe fn along<S: Step>(src: *const u8, pitch: isize, depth: usize, start: f32) -> __m512 {
    // SAFETY: the contract of this function; the last four registers overlap those before.
    unsafe {
        let mut found = [_mm512_setzero_ps(); LANES];
        for (r, found) in found.iter_mut().enumerate() {
            let from = row(src, pitch, r);
            let mut state = [_mm512_set1_ps(start); 4];
            let mut no_number = 0;
            let mut k = 0;
            while k < depth {
                let at = from.wrapping_add(4 * k.min(depth - 4 * LANES));
                let mut x = [_mm512_setzero_ps(); 4];
                let mut g = 0;
                while g < 4 {
                    x[g] = _mm512_loadu_ps(at.wrapping_add(64 * g).cast());
                    state[g] = S::step(state[g], x[g]);
                    g += 1;
                }
                no_number |= S::hidden(&x);
                k += 4 * LANES;
            }
            let all = S::step(S::step(state[0], state[1]), S::step(state[2], state[3]));
            *found = _mm512_mask_mov_ps(all, no_number, _mm512_set1_ps(f32::NAN));
        }
        let mut state = State::new(start);
        state.sixteen::<S>(&found);
        state.results()
    }
}

/// Sixteen rows of which whole lines are read, each once.
///
/// Safety: the rows are readable, and the machine has AVX-512 F and DQ.
#[inline(always)]
unsafe fn by_lines<S: Step>(src: *const u8, pitch: isize, depth: usize, start: f32) -> __m512 {
    // SAFETY: the contract of this function.
    unsafe {
        let mut state = State::new(start);
        let mut k = 0;
        while k + LANES <= depth {
            let mut lines = [_mm512_setzero_ps(); LANES];
            let mut r = 0;
            while r < LANES {
                lines[r] = _mm512_loadu_ps(row(src, pitch, r).wrapping_add(4 * k).cast());
                r += 1;
            }
            state.sixteen::<S>(&lines);
            k += LANES;
        }
        rest::<S>(&mut state, src, pitch, k, depth);
        state.results()
    }
}

/// The elements from `k` on, one by one.
///
/// Safety: the rows are readable, and the machine has AVX-512 F and DQ.
#[inline(always)]
unsafe fn rest<S: Step>(state: &mut State, src: *const u8, pitch: isize, k: usize, depth: usize) {
    for i in k..depth {
        // SAFETY: the contract of this function.
        unsafe {
            let x = column(src.wrapping_add(4 * i), pitch);
            state.value = S::step(state.value, x);
            state.no_number |= S::hidden(&[x; 4]);
        }
    }
}

/// The results of some groups of sixteen rows.
///
/// Safety: the rows are readable, and the machine has AVX-512 F and DQ.
#[inline(always)]
unsafe fn groups<S: Step, const N: usize>(src: [*const u8; N], pitch: isize, depth: usize, start: f32) -> [__m512; N] {
    // SAFETY: the contract of this function.
    unsafe {
        let mut state = [State::new(start); N];
        let mut k = 0;
        while k + 4 <= depth {
            let mut g = 0;
            while g < N {
                state[g].four::<S>(&columns(src[g].wrapping_add(4 * k), pitch));
                g += 1;
            }
            k += 4;
        }
        let mut done = [_mm512_setzero_ps(); N];
        let mut g = 0;
        while g < N {
            rest::<S>(&mut state[g], src[g], pitch, k, depth);
            done[g] = state[g].results();
            g += 1;
        }
        done
    }
}

/// Sixteen rows of sixteen elements as columns, four and four of them.
///
/// Safety: the machine has AVX-512 F.
#[inline(always)]
unsafe fn turned(rows: &[__m512; LANES]) -> [[__m512; 4]; 4] {
    let x = rows;
    // Zipping leaves rows and columns in this order.
    let mut r = [x[0], x[8], x[4], x[12], x[1], x[9], x[5], x[13], x[2], x[10], x[6], x[14], x[3], x[11], x[7], x[15]];
    // SAFETY: the contract of this function.
    unsafe {
        zipped!(r [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] low high low high low_lanes high_lanes low_lanes high_lanes);
    }
    [[r[0], r[4], r[8], r[12]], [r[2], r[6], r[10], r[14]], [r[1], r[5], r[9], r[13]], [r[3], r[7], r[11], r[15]]]
}

macro_rules! zips {
    ($($name:ident = $zip:expr;)*) => {$(
        /// Safety: the machine has AVX-512 F.
        #[inline(always)]
        unsafe fn $name(x: __m512, y: __m512) -> __m512 {
            // SAFETY: the contract of this function.
            unsafe { $zip(x, y) }
        }
    )*};
}
zips! {
    low = _mm512_unpacklo_ps;
    high = _mm512_unpackhi_ps;
    low_lanes = _mm512_shuffle_f32x4::<0b10_00_10_00>;
    high_lanes = _mm512_shuffle_f32x4::<0b11_01_11_01>;
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
