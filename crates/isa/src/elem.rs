//! Element types: one table, one row a type (tile-model.md 3), from which names, sizes, pads and file types derive.
//!
//! ```
//! use tessera_isa::elem::Elem;
//!
//! let elem = Elem::parse("f8E4M3FN").unwrap();
//! assert_eq!(elem, Elem::F8e4m3);
//! assert_eq!((elem.name(), elem.cpp(), elem.bits(), elem.c0()), ("f8e4m3", "float8_e4m3_t", 8, 32));
//! assert_eq!(Elem::nearest("flaot"), Some("float"));
//! ```

use crate::diag::distance;
use std::fmt;

/// The interpretation of an element type's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElemKind {
    Float,
    SignedInt,
    UnsignedInt,
}

/// The pad values that have a bit pattern of their own in every element type (tile-model.md 6).
///
/// `null` asks for no padding and a custom pad carries its own bits, so neither is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadKind {
    Zero,
    /// The largest value, infinity where the type has one.
    Max,
    /// The smallest value, negative infinity where the type has one.
    Min,
}

/// One row of the table of element types.
#[derive(Debug)]
pub struct ElemInfo {
    /// The type of this row.
    pub elem: Elem,
    /// Every spelling that text may use, the canonical name first.
    pub spellings: &'static [&'static str],
    pub cpp: &'static str,
    /// The MLIR spelling of a scalar of this type; our own name where MLIR has none.
    pub mlir: &'static str,
    pub bits: u32,
    /// The interpretation of the bits.
    pub kind: ElemKind,
    /// Whether `cpu` and `a2a3` have the type; `a5` has all of them (tile-model.md 3).
    pub on_cpu_and_a2a3: bool,
    /// The npy descriptor that files are written with (syntax.md 4).
    pub npy: &'static str,
    /// The numpy and `ml_dtypes` names that files may use instead of a descriptor.
    pub dtype_names: &'static [&'static str],
    /// The bit pattern of the pad value `max`.
    pub pad_max: u64,
    /// The bit pattern of the pad value `min`.
    pub pad_min: u64,
    /// The encoding in one line.
    pub about: &'static str,
}

/// Expands the rows into the enum, the table and the lookup by spelling, so that a type is declared in one place.
macro_rules! elems {
    ($(
        $elem:ident $name:literal $(| $other:literal)*,
        cpp $cpp:literal, mlir $mlir:literal, $bits:literal bits, $kind:ident, on_cpu_and_a2a3 $everywhere:literal,
        npy $npy:literal [$($dtype:literal)*], pad $min:literal .. $max:literal, $about:literal;
    )*) => {
        /// An element type of the tile model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Elem {
            $(#[doc = $about] $elem,)*
        }

        static TABLE: &[ElemInfo] = &[$(ElemInfo {
            elem: Elem::$elem,
            spellings: &[$name $(, $other)*],
            cpp: $cpp,
            mlir: $mlir,
            bits: $bits,
            kind: ElemKind::$kind,
            on_cpu_and_a2a3: $everywhere,
            npy: $npy,
            dtype_names: &[$($dtype),*],
            pad_max: $max,
            pad_min: $min,
            about: $about,
        },)*];

        impl Elem {
            /// Every element type, in the order of the table.
            pub const ALL: &'static [Elem] = &[$(Elem::$elem),*];

            /// The type that a text spelling names; spellings are case-sensitive, as in MLIR and C++.
            pub fn parse(spelling: &str) -> Option<Elem> {
                match spelling {
                    $($name $(| $other)* => Some(Elem::$elem),)*
                    _ => None,
                }
            }

            /// Bits of one element: 4 for the fp4 types.
            #[inline]
            pub const fn bits(self) -> u32 {
                match self { $(Elem::$elem => $bits,)* }
            }

            /// How the bits are read.
            #[inline]
            pub const fn kind(self) -> ElemKind {
                match self { $(Elem::$elem => ElemKind::$kind,)* }
            }
        }
    };
}

elems! {
    F32 "f32" | "float",
        cpp "float", mlir "f32", 32 bits, Float, on_cpu_and_a2a3 true,
        npy "<f4" ["float32"], pad 0xFF80_0000 .. 0x7F80_0000, "IEEE binary32";
    F16 "f16" | "half",
        cpp "half", mlir "f16", 16 bits, Float, on_cpu_and_a2a3 true,
        npy "<f2" ["float16"], pad 0xFC00 .. 0x7C00, "IEEE binary16";
    Bf16 "bf16" | "bfloat16_t",
        cpp "bfloat16_t", mlir "bf16", 16 bits, Float, on_cpu_and_a2a3 true,
        npy "<u2" ["bfloat16"], pad 0xFF80 .. 0x7F80, "bfloat16: 1 sign, 8 exponent, 7 mantissa bits, bias 127";
    I8 "i8" | "si8" | "int8_t",
        cpp "int8_t", mlir "i8", 8 bits, SignedInt, on_cpu_and_a2a3 true,
        npy "|i1" ["int8"], pad 0x80 .. 0x7F, "8-bit two's complement";
    I16 "i16" | "si16" | "int16_t",
        cpp "int16_t", mlir "i16", 16 bits, SignedInt, on_cpu_and_a2a3 true,
        npy "<i2" ["int16"], pad 0x8000 .. 0x7FFF, "16-bit two's complement";
    I32 "i32" | "si32" | "int32_t",
        cpp "int32_t", mlir "i32", 32 bits, SignedInt, on_cpu_and_a2a3 true,
        npy "<i4" ["int32"], pad 0x8000_0000 .. 0x7FFF_FFFF, "32-bit two's complement";
    I64 "i64" | "si64" | "int64_t",
        cpp "int64_t", mlir "i64", 64 bits, SignedInt, on_cpu_and_a2a3 true,
        npy "<i8" ["int64"], pad 0x8000_0000_0000_0000 .. 0x7FFF_FFFF_FFFF_FFFF, "64-bit two's complement";
    U8 "u8" | "ui8" | "uint8_t",
        cpp "uint8_t", mlir "ui8", 8 bits, UnsignedInt, on_cpu_and_a2a3 true,
        npy "|u1" ["uint8"], pad 0 .. 0xFF, "8-bit unsigned";
    U16 "u16" | "ui16" | "uint16_t",
        cpp "uint16_t", mlir "ui16", 16 bits, UnsignedInt, on_cpu_and_a2a3 true,
        npy "<u2" ["uint16"], pad 0 .. 0xFFFF, "16-bit unsigned";
    U32 "u32" | "ui32" | "uint32_t",
        cpp "uint32_t", mlir "ui32", 32 bits, UnsignedInt, on_cpu_and_a2a3 true,
        npy "<u4" ["uint32"], pad 0 .. 0xFFFF_FFFF, "32-bit unsigned";
    U64 "u64" | "ui64" | "uint64_t",
        cpp "uint64_t", mlir "ui64", 64 bits, UnsignedInt, on_cpu_and_a2a3 true,
        npy "<u8" ["uint64"], pad 0 .. 0xFFFF_FFFF_FFFF_FFFF, "64-bit unsigned";
    F8e4m3 "f8e4m3" | "f8E4M3FN" | "f8E4M3" | "float8_e4m3_t",
        cpp "float8_e4m3_t", mlir "f8E4M3FN", 8 bits, Float, on_cpu_and_a2a3 false,
        npy "|u1" ["float8_e4m3fn"], pad 0xFE .. 0x7E, "OCP e4m3fn: largest 448, no infinity, 0x7F and 0xFF are NaN";
    F8e5m2 "f8e5m2" | "f8E5M2" | "float8_e5m2_t",
        cpp "float8_e5m2_t", mlir "f8E5M2", 8 bits, Float, on_cpu_and_a2a3 false,
        npy "|u1" ["float8_e5m2"], pad 0xFC .. 0x7C, "OCP e5m2: largest finite 57344, 0x7C is infinity";
    F8e8m0 "f8e8m0" | "f8E8M0FNU" | "float8_e8m0_t",
        cpp "float8_e8m0_t", mlir "f8E8M0FNU", 8 bits, Float, on_cpu_and_a2a3 false,
        npy "|u1" ["float8_e8m0fnu"], pad 0 .. 0xFE, "OCP e8m0: the power of two 2^(b-127), 0xFF is NaN";
    Hif8 "hif8" | "hifloat8_t",
        cpp "hifloat8_t", mlir "hif8", 8 bits, Float, on_cpu_and_a2a3 false,
        npy "|u1" ["hifloat8"], pad 0xEF .. 0x6F, "HiFloat8: exponent field of 0 to 4 bits, largest finite 32768, 0x80 is NaN";
    F4e2m1x2 "f4e2m1x2" | "float4_e2m1x2_t",
        cpp "float4_e2m1x2_t", mlir "f4e2m1x2", 4 bits, Float, on_cpu_and_a2a3 false,
        npy "|u1" [], pad 0xF .. 0x7, "fp4, two to a byte: 0 .5 1 1.5 2 3 4 6 and their negatives";
    F4e1m2x2 "f4e1m2x2" | "float4_e1m2x2_t",
        cpp "float4_e1m2x2_t", mlir "f4e1m2x2", 4 bits, Float, on_cpu_and_a2a3 false,
        npy "|u1" [], pad 0xF .. 0x7, "fp4, two to a byte: 0 .25 .5 .75 1 1.25 1.5 1.75 and their negatives";
}

impl Elem {
    /// The row of the table.
    #[inline]
    pub const fn info(self) -> &'static ElemInfo {
        // The variants are declared by the rows, in their order.
        &TABLE[self as usize]
    }

    /// The canonical name.
    pub const fn name(self) -> &'static str {
        self.info().spellings[0]
    }

    /// The C++ type.
    pub fn cpp(self) -> &'static str {
        self.info().cpp
    }

    /// The MLIR spelling of a scalar of this type.
    pub fn mlir(self) -> &'static str {
        self.info().mlir
    }

    /// The known spelling closest to a misspelt one, if one is close.
    pub fn nearest(spelling: &str) -> Option<&'static str> {
        // The longest spelling has 15 characters; a much longer word is no misspelling of it.
        if spelling.len() > 32 {
            return None;
        }
        let lower = spelling.to_ascii_lowercase();
        TABLE
            .iter()
            .flat_map(|row| row.spellings)
            // Case counts only between spellings that are otherwise as close.
            .map(|&known| (distance(&lower, &known.to_ascii_lowercase()), distance(spelling, known), known))
            .min_by_key(|&(distance, with_case, _)| (distance, with_case))
            .filter(|&(distance, _, known)| distance <= known.len().div_ceil(3))
            .map(|(_, _, known)| known)
    }

    /// Whether two elements share a byte.
    #[inline]
    pub const fn is_fp4(self) -> bool {
        self.bits() == 4
    }

    /// Bytes of one element; `None` for fp4, of which two share a byte.
    #[inline]
    pub const fn size(self) -> Option<u64> {
        match self.bits() {
            4 => None,
            bits => Some((bits / 8) as u64),
        }
    }

    /// Bytes that this many consecutive elements take, the half byte of an odd fp4 count rounded up.
    ///
    /// Saturates: a count near 2^64 is for the caller to refuse (`tile-size`).
    #[inline]
    pub const fn bytes_of(self, elements: u64) -> u64 {
        match self.size() {
            None => elements.div_ceil(2),
            Some(size) => elements.saturating_mul(size),
        }
    }

    /// The number of elements in 32 bytes: `C0` of tile-model.md.
    #[inline]
    pub const fn c0(self) -> u64 {
        (256 / self.bits()) as u64
    }

    /// Whether the type is a floating-point encoding.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), ElemKind::Float)
    }

    /// Whether the type has negative values: all but the unsigned integers and f8e8m0.
    #[inline]
    pub const fn is_signed(self) -> bool {
        !matches!(self.kind(), ElemKind::UnsignedInt) && !matches!(self, Elem::F8e8m0)
    }

    /// The bits that an element of this type occupies, as a mask.
    #[inline]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The bit pattern of a pad value (tile-model.md 6).
    pub fn pad_bits(self, pad: PadKind) -> u64 {
        match pad {
            PadKind::Zero => 0,
            PadKind::Max => self.info().pad_max,
            PadKind::Min => self.info().pad_min,
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
