//! Comparisons packed eight to a byte, by instructions that make such bits.

use std::arch::x86_64::*;
use tessera_isa::elem::Elem;

/// The comparison of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Equal,
    Less,
    LessOrEqual,
}

/// A kernel over two rows of `n` elements: `n` bits, each the opposite where `flip`, and zeros up to a whole byte.
///
/// Safety: the elements are readable and the bytes writable, and the machine has AVX-512 F, BW and VL.
pub type RawBits = unsafe fn(*const u8, *const u8, usize, bool, *mut u8);

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
pub fn bits(elem: Elem, question: Question) -> Option<RawBits> {
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

/// A kernel over rows of `n` elements: those of the first operand where the bit of the mask is 1, else of the second.
///
/// Safety: the bits and the elements are readable, the results writable and apart from them, and the machine has AVX-512
/// F, BW and VL.
pub type RawSelect = unsafe fn(*const u8, [*const u8; 2], usize, *mut u8);

macro_rules! selections {
    ($($name:ident $size:literal $lanes:literal $mask:ident $load:ident $blend:ident $store:ident;)*) => {$(
        /// Safety: the contract of [`RawSelect`].
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        unsafe fn $name(mask: *const u8, [x, y]: [*const u8; 2], n: usize, out: *mut u8) {
            let mut i = 0;
            while i + $lanes <= n {
                // SAFETY: the bits of elements `i` to `i + $lanes`, and the elements.
                unsafe {
                    let bits = mask.add(i / 8).cast::<$mask>().read_unaligned();
                    let y = $load(!0, y.add($size * i).cast());
                    $store(out.add($size * i).cast(), !0, $blend(y, bits, x.add($size * i).cast()));
                }
                i += $lanes;
            }
            let left = n - i;
            if left > 0 {
                let all: $mask = (1 << left) - 1;
                let mut bytes = [0; $lanes / 8];
                // SAFETY: the bytes of the last bits, and the elements that are left.
                unsafe {
                    mask.add(i / 8).copy_to_nonoverlapping(bytes.as_mut_ptr(), left.div_ceil(8));
                    let y = $load(all, y.add($size * i).cast());
                    let bits = <$mask>::from_le_bytes(bytes) & all;
                    $store(out.add($size * i).cast(), all, $blend(y, bits, x.add($size * i).cast()));
                }
            }
        }
    )*};
}

selections! {
    select_8 1 64 u64 _mm512_maskz_loadu_epi8 _mm512_mask_loadu_epi8 _mm512_mask_storeu_epi8;
    select_16 2 32 u32 _mm512_maskz_loadu_epi16 _mm512_mask_loadu_epi16 _mm512_mask_storeu_epi16;
    select_32 4 16 u16 _mm512_maskz_loadu_epi32 _mm512_mask_loadu_epi32 _mm512_mask_storeu_epi32;
    select_64 8 8 u8 _mm512_maskz_loadu_epi64 _mm512_mask_loadu_epi64 _mm512_mask_storeu_epi64;
}

/// The kernel for elements of this number of bytes.
pub fn select(size: usize) -> RawSelect {
    match size {
        1 => select_8,
        2 => select_16,
        4 => select_32,
        _ => select_64,
    }
}
