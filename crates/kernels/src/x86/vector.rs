//! Vectors of one, two and four lanes of sixteen bytes.

use std::arch::x86_64::*;

/// Rounds of zipping register `i` of an array with register `i + N/2`, written out with the instructions of each round: loops over
/// arrays of sixteen registers are not always unrolled, and then the registers go through memory.
macro_rules! zipped {
    ($r:ident [0 1] $($zips:ident)*) => { zipped!(@ $r [0 1] $($zips)*) };
    ($r:ident [0 1 2 3] $($zips:ident)*) => { zipped!(@ $r [0 2 1 3] $($zips)*) };
    ($r:ident [0 1 2 3 4 5 6 7] $($zips:ident)*) => { zipped!(@ $r [0 4 1 5 2 6 3 7] $($zips)*) };
    ($r:ident [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] $($zips:ident)*) => {
        zipped!(@ $r [0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15] $($zips)*)
    };
    (@ $r:ident $pairs:tt) => {};
    (@ $r:ident $pairs:tt $low:ident $high:ident $($zips:ident)*) => {
        zipped!(@@ $r $pairs $low $high);
        zipped!(@ $r $pairs $($zips)*);
    };
    (@@ $r:ident [$($i:literal $j:literal)*] $low:ident $high:ident) => {
        $r = [$($low($r[$i], $r[$j]), $high($r[$i], $r[$j])),*];
    };
}
pub(super) use zipped;

/// A vector register. The implementations are written out, and `pair` has its own: made by a macro and shared, the
/// transpose of bytes was three times slower.
pub(super) trait Vector: Copy {
    /// The number of lanes of sixteen bytes.
    const LANES: usize;

    /// Lane `k` comes from sixteen bytes at `src + k · far`.
    ///
    /// # Safety
    ///
    /// They are readable, and the machine has the vector.
    unsafe fn gather(src: *const u8, far: isize) -> Self;

    /// # Safety
    ///
    /// The bytes at `dst` are writable, and the machine has the vector.
    unsafe fn store(self, dst: *mut u8);

    /// Interleaves the units of the low and of the high halves of every lane.
    ///
    /// # Safety
    ///
    /// The machine has the vector.
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self);
}

impl Vector for __m128i {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn gather(src: *const u8, _: isize) -> Self {
        // SAFETY: the contract of the method.
        unsafe { _mm_loadu_si128(src.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: the contract of the method.
        unsafe { _mm_storeu_si128(dst.cast(), self) }
    }

    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            match UNIT {
                1 => (_mm_unpacklo_epi8(self, other), _mm_unpackhi_epi8(self, other)),
                2 => (_mm_unpacklo_epi16(self, other), _mm_unpackhi_epi16(self, other)),
                4 => (_mm_unpacklo_epi32(self, other), _mm_unpackhi_epi32(self, other)),
                _ => (_mm_unpacklo_epi64(self, other), _mm_unpackhi_epi64(self, other)),
            }
        }
    }
}

impl Vector for __m256i {
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn gather(src: *const u8, far: isize) -> Self {
        // SAFETY: the contract of the method.
        unsafe {
            let low = _mm256_castsi128_si256(_mm_loadu_si128(src.cast()));
            _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(src.wrapping_offset(far).cast()))
        }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: the contract of the method.
        unsafe { _mm256_storeu_si256(dst.cast(), self) }
    }

    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the contract of the method.
        unsafe {
            match UNIT {
                1 => (_mm256_unpacklo_epi8(self, other), _mm256_unpackhi_epi8(self, other)),
                2 => (_mm256_unpacklo_epi16(self, other), _mm256_unpackhi_epi16(self, other)),
                4 => (_mm256_unpacklo_epi32(self, other), _mm256_unpackhi_epi32(self, other)),
                _ => (_mm256_unpacklo_epi64(self, other), _mm256_unpackhi_epi64(self, other)),
            }
        }
    }
}

impl Vector for __m512i {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn gather(src: *const u8, far: isize) -> Self {
        // SAFETY: the contract of the method.
        unsafe {
            let lane = |k: isize| _mm_loadu_si128(src.wrapping_offset(k * far).cast());
            let v = _mm512_castsi128_si512(lane(0));
            let v = _mm512_inserti32x4::<1>(v, lane(1));
            let v = _mm512_inserti32x4::<2>(v, lane(2));
            _mm512_inserti32x4::<3>(v, lane(3))
        }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: the contract of the method.
        unsafe { _mm512_storeu_si512(dst.cast(), self) }
    }

    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the contract of the method.
        unsafe {
            match UNIT {
                1 => (_mm512_unpacklo_epi8(self, other), _mm512_unpackhi_epi8(self, other)),
                2 => (_mm512_unpacklo_epi16(self, other), _mm512_unpackhi_epi16(self, other)),
                4 => (_mm512_unpacklo_epi32(self, other), _mm512_unpackhi_epi32(self, other)),
                _ => (_mm512_unpacklo_epi64(self, other), _mm512_unpackhi_epi64(self, other)),
            }
        }
    }
}

/// The offsets of vectors of `step` elements that cover `n`, the last one overlapping.
#[inline(always)]
pub(super) fn cover(n: usize, step: usize, f: impl Fn(usize)) {
    let mut k = 0;
    while k + step < n {
        f(k);
        k += step;
    }
    f(n - step);
}
