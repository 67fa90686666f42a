//! Vectors of one, two and four lanes of sixteen bytes.

use std::arch::x86_64::*;

/// A vector register.
pub(super) trait Vector: Copy {
    /// How many lanes of sixteen bytes it has.
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

/// One register: its lanes, how they are gathered and stored, and how units of 1, 2, 4 and 8 bytes are interleaved.
macro_rules! vector {
    ($register:ty, $lanes:literal, $store:ident, |$src:ident, $far:pat_param| $gather:expr,
     $($unit:pat => $low:ident $high:ident;)*) => {
        impl Vector for $register {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn gather($src: *const u8, $far: isize) -> Self {
                // SAFETY: the contract of the method.
                unsafe { $gather }
            }

            #[inline(always)]
            unsafe fn store(self, dst: *mut u8) {
                // SAFETY: the contract of the method.
                unsafe { $store(dst.cast(), self) }
            }

            #[inline(always)]
            unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
                // SAFETY: the contract of the method.
                unsafe {
                    match UNIT {
                        $($unit => ($low(self, other), $high(self, other)),)*
                    }
                }
            }
        }
    };
}

vector! {
    __m128i, 1, _mm_storeu_si128,
    |src, _| _mm_loadu_si128(src.cast()),
    1 => _mm_unpacklo_epi8 _mm_unpackhi_epi8;
    2 => _mm_unpacklo_epi16 _mm_unpackhi_epi16;
    4 => _mm_unpacklo_epi32 _mm_unpackhi_epi32;
    _ => _mm_unpacklo_epi64 _mm_unpackhi_epi64;
}
vector! {
    __m256i, 2, _mm256_storeu_si256,
    |src, far| {
        let low = _mm256_castsi128_si256(_mm_loadu_si128(src.cast()));
        _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(src.wrapping_offset(far).cast()))
    },
    1 => _mm256_unpacklo_epi8 _mm256_unpackhi_epi8;
    2 => _mm256_unpacklo_epi16 _mm256_unpackhi_epi16;
    4 => _mm256_unpacklo_epi32 _mm256_unpackhi_epi32;
    _ => _mm256_unpacklo_epi64 _mm256_unpackhi_epi64;
}
vector! {
    __m512i, 4, _mm512_storeu_si512,
    |src, far| {
        let lane = |k: isize| _mm_loadu_si128(src.wrapping_offset(k * far).cast());
        let v = _mm512_castsi128_si512(lane(0));
        let v = _mm512_inserti32x4::<1>(v, lane(1));
        let v = _mm512_inserti32x4::<2>(v, lane(2));
        _mm512_inserti32x4::<3>(v, lane(3))
    },
    1 => _mm512_unpacklo_epi8 _mm512_unpackhi_epi8;
    2 => _mm512_unpacklo_epi16 _mm512_unpackhi_epi16;
    4 => _mm512_unpacklo_epi32 _mm512_unpackhi_epi32;
    _ => _mm512_unpacklo_epi64 _mm512_unpackhi_epi64;
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
