//! Comparisons packed eight to a byte, by instructions that make such bits.

use std::arch::x86_64::*;
use tessera_isa::elem::Elem;

/// What is asked of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Equal,
    Less,
    LessOrEqual,
}

/// A kernel over two rows of `n` elements: `n` bits, each the opposite where `flip`, and zeros up to a whole byte.
///
/// Safety: the elements are readable and the bytes writable, and the machine has AVX-512 F, BW and VL.
pub(crate) type RawBits = unsafe fn(*const u8, *const u8, usize, bool, *mut u8);

macro_rules! kernels {
    ($($name:ident $size:literal $lanes:literal $mask:ident [$equal:literal $less:literal $less_or_equal:literal]
       |$k:ident, $at:ident| $load:expr, $compare:ident;)*) => {$(
        mod $name {
            use super::*;

            pub(super) fn choose(question: Question) -> RawBits {
                match question {
                    Question::Equal => bits::<$equal>,
                    Question::Less => bits::<$less>,
                    Question::LessOrEqual => bits::<$less_or_equal>,
                }
            }

            /// Safety: the contract of [`RawBits`].
            #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
            unsafe fn bits<const OP: i32>(x: *const u8, y: *const u8, n: usize, flip: bool, out: *mut u8) {
                let flip: $mask = if flip { !0 } else { 0 };
                let mut i = 0;
                while i < n {
                    let left = n - i;
                    let $k: $mask = if left >= $lanes { !0 } else { (1 << left) - 1 };
                    // SAFETY: elements `i` to `i + $lanes` that are among the `n`, and the bytes of their bits.
                    unsafe {
                        let $at = x.add($size * i);
                        let a = $load;
                        let $at = y.add($size * i);
                        let b = $load;
                        let bits = ($compare::<OP>(a, b) ^ flip) & $k;
                        let bytes = bits.to_le_bytes();
                        let to = out.add(i / 8);
                        if left >= $lanes {
                            to.cast::<[u8; $lanes / 8]>().write_unaligned(bytes);
                        } else {
                            to.copy_from_nonoverlapping(bytes.as_ptr(), left.div_ceil(8));
                        }
                    }
                    i += $lanes;
                }
            }
        }
    )*};
}

kernels! {
    f32 4 16 u16 [0 17 18] |k, at| _mm512_maskz_loadu_ps(k, at.cast()), _mm512_cmp_ps_mask;
    f16 2 16 u16 [0 17 18] |k, at| _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(k, at.cast())), _mm512_cmp_ps_mask;
    bf16 2 16 u16 [0 17 18] |k, at| _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(
        _mm256_maskz_loadu_epi16(k, at.cast())))), _mm512_cmp_ps_mask;
    i32 4 16 u16 [0 1 2] |k, at| _mm512_maskz_loadu_epi32(k, at.cast()), _mm512_cmp_epi32_mask;
    u32 4 16 u16 [0 1 2] |k, at| _mm512_maskz_loadu_epi32(k, at.cast()), _mm512_cmp_epu32_mask;
    i16 2 32 u32 [0 1 2] |k, at| _mm512_maskz_loadu_epi16(k, at.cast()), _mm512_cmp_epi16_mask;
    u16 2 32 u32 [0 1 2] |k, at| _mm512_maskz_loadu_epi16(k, at.cast()), _mm512_cmp_epu16_mask;
    i8 1 64 u64 [0 1 2] |k, at| _mm512_maskz_loadu_epi8(k, at.cast()), _mm512_cmp_epi8_mask;
    u8 1 64 u64 [0 1 2] |k, at| _mm512_maskz_loadu_epi8(k, at.cast()), _mm512_cmp_epu8_mask;
    i64 8 8 u8 [0 1 2] |k, at| _mm512_maskz_loadu_epi64(k, at.cast()), _mm512_cmp_epi64_mask;
    u64 8 8 u8 [0 1 2] |k, at| _mm512_maskz_loadu_epi64(k, at.cast()), _mm512_cmp_epu64_mask;
}

/// The kernel of a question about elements of a type.
pub(crate) fn bits(elem: Elem, question: Question) -> Option<RawBits> {
    Some(match elem {
        Elem::F32 => f32::choose(question),
        Elem::F16 => f16::choose(question),
        Elem::Bf16 => bf16::choose(question),
        Elem::I64 => i64::choose(question),
        Elem::I32 => i32::choose(question),
        Elem::I16 => i16::choose(question),
        Elem::I8 => i8::choose(question),
        Elem::U64 => u64::choose(question),
        Elem::U32 => u32::choose(question),
        Elem::U16 => u16::choose(question),
        Elem::U8 => u8::choose(question),
        _ => return None,
    })
}
