//! Rust types of the element types (tile-model.md 3).

use super::sealed::Sealed;
use half::{bf16, f16};
use std::fmt;
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;

/// A Rust type that is an element type of the tile model.
///
/// ```
/// use tessera::{Elem, Element, Hif8, f16};
///
/// assert_eq!(<f16 as Element>::ELEM, Elem::F16);
/// assert_eq!(f16::from_f32(1.0).to_element_bits(), 0x3C00);
/// assert_eq!(Hif8::from_f32(1.0).to_f32(), 1.0);
/// ```
pub trait Element: Copy + fmt::Debug + PartialEq + Sealed + 'static {
    /// The element type.
    const ELEM: Elem;

    /// The element with these bits; those above the element's are ignored.
    fn from_element_bits(bits: u64) -> Self;

    /// The element's bits, zero-extended.
    fn to_element_bits(self) -> u64;

    /// The element's value, exactly.
    fn number(self) -> Number {
        Self::ELEM.decode(self.to_element_bits())
    }
}

/// The bytes of elements as global memory holds them: little-endian, two fp4 elements to a byte.
pub(crate) fn pack<T: Element>(elements: &[T]) -> Vec<u8> {
    match T::ELEM.size() {
        Some(size) => {
            let mut bytes = Vec::with_capacity(elements.len().saturating_mul(size as usize));
            for element in elements {
                bytes.extend(element.to_element_bits().to_le_bytes().into_iter().take(size as usize));
            }
            bytes
        }
        None => elements
            .chunks(2)
            .map(|pair| {
                let nibble = |k: usize| pair.get(k).map_or(0, |e| e.to_element_bits() as u8 & 0xF);
                nibble(0) | nibble(1) << 4
            })
            .collect(),
    }
}

pub(crate) fn unpack<T: Element>(bytes: &[u8]) -> Vec<T> {
    match T::ELEM.size() {
        Some(size) => bytes
            .chunks_exact(size as usize)
            .map(|c| T::from_element_bits(c.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b))))
            .collect(),
        None => bytes.iter().flat_map(|b| [b & 0xF, b >> 4]).map(|n| T::from_element_bits(n.into())).collect(),
    }
}

/// The conversion of each type from and to bits of its width.
macro_rules! elements {
    ($($ty:ident($bits:ident) = $elem:ident, $from:expr, $to:expr;)*) => {$(
        impl Sealed for $ty {}
        impl Element for $ty {
            const ELEM: Elem = Elem::$elem;
            fn from_element_bits(bits: u64) -> Self { $from(bits as $bits) }
            fn to_element_bits(self) -> u64 { u64::from($to(self)) }
        }
    )*};
}
macro_rules! integers {
    ($($ty:ident as $bits:ident = $elem:ident;)*) => {
        elements! { $($ty($bits) = $elem, |bits: $bits| bits as $ty, |value: $ty| value as $bits;)* }
    };
}
integers! {
    i8 as u8 = I8; i16 as u16 = I16; i32 as u32 = I32; i64 as u64 = I64;
    u8 as u8 = U8; u16 as u16 = U16; u32 as u32 = U32; u64 as u64 = U64;
}
elements! {
    f32(u32) = F32, f32::from_bits, f32::to_bits;
    f16(u16) = F16, f16::from_bits, f16::to_bits;
    bf16(u16) = Bf16, bf16::from_bits, bf16::to_bits;
}

macro_rules! codes {
    ($($(#[$doc:meta])* $ty:ident = $elem:ident, $mask:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// Two are equal when their bits are: a NaN equals itself.
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $ty(u8);

        impl $ty {
            /// The element with these bits; those above the element's are ignored.
            pub const fn from_bits(bits: u8) -> Self {
                $ty(bits & $mask)
            }

            /// The bits.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest element to a value; a finite value beyond the largest becomes the largest.
            pub fn from_f32(value: f32) -> Self {
                $ty::from_bits(Elem::$elem.encode_f32(value, Overflow::Saturate) as u8)
            }

            /// The value; every one is exact in binary32.
            pub fn to_f32(self) -> f32 {
                match self.number() {
                    Number::Float(v) => v as f32,
                    Number::Int(v) => v as f32,
                }
            }
        }

        elements! { $ty(u8) = $elem, $ty::from_bits, $ty::to_bits; }

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&Elem::$elem.format_bits(self.0.into()))
            }
        }
    )*};
}
codes! {
    /// `f8e4m3`: OCP e4m3fn, largest 448.
    F8E4M3 = F8e4m3, 0xFF;
    /// `f8e5m2`: OCP e5m2, largest finite 57344.
    F8E5M2 = F8e5m2, 0xFF;
    /// `f8e8m0`: a power of two.
    F8E8M0 = F8e8m0, 0xFF;
    /// `hif8`: HiFloat8, largest finite 32768.
    Hif8 = Hif8, 0xFF;
    /// One element of `f4e2m1x2`: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. Two share a byte of a tile.
    F4E2M1 = F4e2m1x2, 0xF;
    /// One element of `f4e1m2x2`: 0, 0.25, …, 1.75 and their negatives. Two share a byte of a tile.
    F4E1M2 = F4e1m2x2, 0xF;
}
