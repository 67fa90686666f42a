//! Narrowing copies: the low half or quarter of every element (TPACK, ops.md 6).

use super::super::{Inner, Level, Loop, Raw};
use crate::nest::Bits;
use smallvec::SmallVec;
use std::arch::x86_64::*;

/// The kernel for a narrowing copy whose innermost loop is contiguous on both sides.
pub(crate) fn narrow(loops: &mut SmallVec<[Loop; 8]>, bits: Bits, level: Level) -> Option<Raw> {
    let inner = loops.last()?;
    let contiguous = inner.src == (bits.src / 8) as isize && inner.dst == (bits.dst / 8) as isize;
    if level < Level::Avx512 || !contiguous {
        return None;
    }
    match (bits.src, bits.dst) {
        (32, 16) => Some(dword_to_word),
        (32, 8) => Some(dword_to_byte),
        (16, 8) => Some(word_to_byte),
        _ => None,
    }
}

/// One kernel: `$step` elements of `$from` bytes at a time, the rest with masked loads and stores.
macro_rules! narrowing {
    ($name:ident, $from:literal, $to:literal, $step:literal, $mask:ty, $load:ident, $masked_load:ident, $narrow:ident,
     $store:ident, $masked_store:ident) => {
        /// # Safety
        ///
        /// The contract of [`Raw`], where source elements have their full width, on a machine with AVX-512 BW and VL.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $name(src: *const u8, dst: *mut u8, inner: &Inner) {
            let Inner { a, b, .. } = inner;
            let whole = b.n / $step * $step;
            let mask: $mask = ((1u64 << (b.n - whole)) - 1) as $mask;
            for i in 0..a.n as isize {
                let (s, d) = (src.wrapping_offset(i * a.src), dst.wrapping_offset(i * a.dst));
                // SAFETY: `whole` elements are whole vectors of both rows, and the mask has the bits of the rest only.
                unsafe {
                    let mut k = 0;
                    while k < whole {
                        $store(d.add(k * $to).cast(), $narrow($load(s.add(k * $from).cast())));
                        k += $step;
                    }
                    if mask != 0 {
                        let rest = $masked_load(mask, s.add(whole * $from).cast());
                        $masked_store(d.add(whole * $to).cast(), mask, $narrow(rest));
                    }
                }
            }
        }
    };
}

narrowing!(
    dword_to_word,
    4,
    2,
    16,
    __mmask16,
    _mm512_loadu_si512,
    _mm512_maskz_loadu_epi32,
    _mm512_cvtepi32_epi16,
    _mm256_storeu_si256,
    _mm256_mask_storeu_epi16
);
narrowing!(
    dword_to_byte,
    4,
    1,
    16,
    __mmask16,
    _mm512_loadu_si512,
    _mm512_maskz_loadu_epi32,
    _mm512_cvtepi32_epi8,
    _mm_storeu_si128,
    _mm_mask_storeu_epi8
);
narrowing!(
    word_to_byte,
    2,
    1,
    32,
    __mmask32,
    _mm512_loadu_si512,
    _mm512_maskz_loadu_epi16,
    _mm512_cvtepi16_epi8,
    _mm256_storeu_si256,
    _mm256_mask_storeu_epi8
);
