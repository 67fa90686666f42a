//! Codecs: what the bits of an element mean as a number, and which bits a number becomes, rounded exactly once.
//!
//! Encoding rounds to nearest, ties to even, except that HiFloat8 rounds half away from zero (tile-model.md 3.1) and
//! integers truncate (ops.md 1, rule 5). A NaN always comes out as the type's canonical one (fixpipe.md 4); moves that
//! keep the type move bits and have no business here.
//!
//! ```
//! use tessera_isa::codec::{Number, Overflow};
//! use tessera_isa::elem::Elem;
//!
//! assert_eq!(Elem::F16.decode(0x3C00), Number::Float(1.0));
//! assert_eq!(Elem::F16.encode_f64(1e6, Overflow::Infinity), 0x7C00);
//! assert_eq!(Elem::F16.encode_f64(1e6, Overflow::Saturate), 0x7BFF);
//! assert_eq!(Elem::U8.encode_exact(&Number::Float(256.0)), None);
//! assert_eq!(Elem::F16.format_bits(0x2E66), "0.1");
//! ```

mod e8m0;
mod hif8;
mod quant;
pub(crate) mod small;

use crate::elem::{Elem, ElemKind, PadKind};
use std::num::FpCategory;

pub use quant::{QuantFault, QuantParam};

/// The value of an element: integers of every width and every float encoding fit exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i128),
    /// A float; also holds infinities and NaN.
    Float(f64),
}

macro_rules! numbers {
    ($($variant:ident($to:ident): $($from:ident)*;)*) => {$($(
        impl From<$from> for Number {
            fn from(value: $from) -> Self {
                Number::$variant($to::from(value))
            }
        }
    )*)*};
}
numbers! {
    Int(i128): bool i8 i16 i32 i64 u8 u16 u32 u64;
    Float(f64): f32 f64;
}

/// The treatment of a finite value beyond the largest one, and of an infinity in a type that has none.
///
/// HiFloat8 ignores it: it saturates finite values and keeps infinities (tile-model.md 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Infinity; NaN where the type has no infinity; the largest value where it has neither (fp4).
    Infinity,
    /// The largest finite value. An infinity still stays one where the type has it.
    Saturate,
}

impl Elem {
    /// The value of an element's bits, exactly; bits above the element's are ignored.
    #[inline]
    pub fn decode(self, bits: u64) -> Number {
        match self.kind() {
            ElemKind::Float => Number::Float(self.decode_float(bits)),
            ElemKind::SignedInt => {
                let unused = 64 - self.bits();
                Number::Int(i128::from((bits << unused) as i64 >> unused))
            }
            ElemKind::UnsignedInt => Number::Int(i128::from(bits & self.mask())),
        }
    }

    #[inline]
    fn decode_float(self, bits: u64) -> f64 {
        match self {
            Elem::F32 => f64::from(f32::from_bits(bits as u32)),
            Elem::F8e8m0 => e8m0::decode(bits & 0xFF),
            Elem::Hif8 => hif8::decode(bits & 0xFF),
            _ => self.small().decode(bits),
        }
    }

    /// The parameters of an encoding shaped like IEEE's; not called for other encodings and integers.
    #[inline]
    pub(crate) const fn small(self) -> small::Small {
        match self {
            Elem::F16 => small::F16,
            Elem::Bf16 => small::BF16,
            Elem::F8e4m3 => small::F8E4M3,
            Elem::F8e5m2 => small::F8E5M2,
            Elem::F4e2m1x2 => small::F4E2M1,
            Elem::F4e1m2x2 => small::F4E1M2,
            _ => small::F32,
        }
    }

    /// The bits nearest to a value, rounded once.
    ///
    /// Integers truncate toward zero and saturate, and NaN gives 0 (ops.md 1, rule 5); so does NaN in the fp4 types.
    #[inline]
    pub fn encode_f64(self, v: f64, overflow: Overflow) -> u64 {
        match self {
            Elem::F32 => small::F32.encode_f64(v, overflow),
            Elem::F16 => small::F16.encode_f64(v, overflow),
            Elem::Bf16 => small::BF16.encode_f64(v, overflow),
            Elem::F8e4m3 => small::F8E4M3.encode_f64(v, overflow),
            Elem::F8e5m2 => small::F8E5M2.encode_f64(v, overflow),
            Elem::F4e2m1x2 => small::F4E2M1.encode_f64(v, overflow),
            Elem::F4e1m2x2 => small::F4E1M2.encode_f64(v, overflow),
            Elem::F8e8m0 => e8m0::encode(v, overflow),
            Elem::Hif8 => hif8::encode(v),
            Elem::I8 => (v as i8) as u8 as u64,
            Elem::I16 => (v as i16) as u16 as u64,
            Elem::I32 => (v as i32) as u32 as u64,
            Elem::I64 => (v as i64) as u64,
            Elem::U8 => (v as u8) as u64,
            Elem::U16 => (v as u16) as u64,
            Elem::U32 => (v as u32) as u64,
            Elem::U64 => v as u64,
        }
    }

    /// [`Elem::encode_f64`] of a binary32 value.
    #[inline(always)]
    pub fn encode_f32(self, v: f32, overflow: Overflow) -> u64 {
        match self {
            Elem::F32 if v.is_nan() => small::F32.nan,
            Elem::F32 => u64::from(v.to_bits()),
            Elem::F16 => u64::from(small::F16.encode_f32(v, overflow)),
            Elem::Bf16 => u64::from(small::BF16.encode_f32(v, overflow)),
            Elem::F8e4m3 => u64::from(small::F8E4M3.encode_f32(v, overflow)),
            Elem::F8e5m2 => u64::from(small::F8E5M2.encode_f32(v, overflow)),
            Elem::Hif8 => u64::from(hif8::encode_f32(v)),
            _ => self.encode_f64(f64::from(v), overflow),
        }
    }

    /// The bits nearest to an integer, rounded once. Integer types wrap (ops.md 1, rule 5).
    #[inline]
    pub fn encode_int(self, v: i128, overflow: Overflow) -> u64 {
        if self.is_float() { self.encode_f64(to_odd(v), overflow) } else { v as u64 & self.mask() }
    }

    /// The bits nearest to a number, rounded once.
    #[inline]
    pub fn encode(self, v: Number, overflow: Overflow) -> u64 {
        match v {
            Number::Int(v) => self.encode_int(v, overflow),
            Number::Float(v) => self.encode_f64(v, overflow),
        }
    }

    /// The number after a language's conversion: the nearest value of a float type. A number that is out of range is
    /// unchanged, and so is a fraction for an integer type; [`Elem::encode_exact`] refuses them.
    pub fn converted(self, v: Number) -> Number {
        match self.encode_in_range(&v) {
            Some(bits) if self.is_float() => self.decode(bits),
            _ => v,
        }
    }

    /// The bits of a number that the type holds exactly, else `None`.
    ///
    /// Values count, not signs: a negative zero is zero where the type has no negative zero. NaN is the canonical one.
    pub fn encode_exact(self, v: &Number) -> Option<u64> {
        let bits = self.encode(*v, Overflow::Infinity);
        let is_exact = match (*v, self.decode(bits)) {
            (Number::Float(v), _) if v.is_nan() => return self.canonical_nan(),
            (Number::Float(v), Number::Float(back)) => back == v,
            (Number::Float(v), Number::Int(back)) => v as i128 == back && v.trunc() == v,
            // The bound keeps `as` from saturating onto i128::MAX; a fraction (2^-127 of f8e8m0) is no integer.
            (Number::Int(v), Number::Float(back)) => back < TWO_TO_127 && back as i128 == v && back.trunc() == back,
            (Number::Int(v), Number::Int(back)) => back == v,
        };
        is_exact.then_some(bits)
    }

    /// The bits nearest to a number, or `None` if it lies beyond the type's finite values and is no infinity or NaN of
    /// the type.
    ///
    /// By value, before rounding: 127.5 is beyond i8, 65505 beyond f16, and zero beyond f8e8m0.
    pub fn encode_in_range(self, v: &Number) -> Option<u64> {
        let inside = match (*v, self.range()) {
            (Number::Float(v), _) if !v.is_finite() => return self.encode_exact(&Number::Float(v)),
            (Number::Float(v), (Number::Float(min), Number::Float(max))) => min <= v && v <= max,
            (Number::Float(v), (Number::Int(min), Number::Int(max))) => {
                min <= v.floor() as i128 && v.ceil() as i128 <= max
            }
            (Number::Int(v), (Number::Float(min), Number::Float(max))) => min <= to_odd(v) && to_odd(v) <= max,
            (Number::Int(v), (Number::Int(min), Number::Int(max))) => min <= v && v <= max,
            _ => false,
        };
        inside.then(|| self.encode(*v, Overflow::Infinity))
    }

    /// The smallest and the largest finite value.
    pub fn range(self) -> (Number, Number) {
        let largest = match self {
            Elem::F8e8m0 => e8m0::LARGEST,
            Elem::Hif8 => hif8::LARGEST,
            _ if self.is_float() => self.small().largest,
            _ => self.pad_bits(PadKind::Max),
        };
        let smallest = match self {
            Elem::F8e8m0 => 0,
            _ if self.is_float() => largest | 1 << (self.bits() - 1),
            _ => self.pad_bits(PadKind::Min),
        };
        (self.decode(smallest), self.decode(largest))
    }

    /// The NaN that conversions produce (fixpipe.md 4), if the type has NaN.
    pub const fn canonical_nan(self) -> Option<u64> {
        match self {
            Elem::F8e8m0 => Some(e8m0::NAN),
            Elem::Hif8 => Some(hif8::NAN),
            _ if self.is_float() && !self.is_fp4() => Some(self.small().nan),
            _ => None,
        }
    }

    /// Whether an element's bits are a NaN of its type.
    #[inline]
    pub fn is_nan(self, bits: u64) -> bool {
        match self {
            Elem::F8e8m0 => bits & 0xFF == e8m0::NAN,
            Elem::Hif8 => bits & 0xFF == hif8::NAN,
            _ => self.is_float() && self.small().is_nan(bits),
        }
    }

    /// The class of an element's bits in its own type: an f16 subnormal is `Subnormal`. Integers are zero or normal.
    pub fn classify(self, bits: u64) -> FpCategory {
        match self {
            Elem::F8e8m0 if self.is_nan(bits) => FpCategory::Nan,
            Elem::F8e8m0 => FpCategory::Normal,
            Elem::Hif8 => hif8::classify(bits),
            _ if self.is_float() => self.small().classify(bits),
            _ if bits & self.mask() == 0 => FpCategory::Zero,
            _ => FpCategory::Normal,
        }
    }

    /// An element's value as short text that reads back as the same bits: `448.0`, `0.1`, `1.0e38`, `-inf`, `nan`.
    ///
    /// All NaNs are `nan`. Floats always have a point, as MLIR requires.
    pub fn format_bits(self, bits: u64) -> String {
        match self.decode(bits) {
            Number::Int(v) => v.to_string(),
            Number::Float(v) if v.is_nan() => "nan".to_owned(),
            Number::Float(v) if v.is_infinite() => if v > 0.0 { "inf" } else { "-inf" }.to_owned(),
            Number::Float(v) => {
                // Six digits show most values as they are; more only where the bits need them, fewer where three do.
                let read_back = |digits: usize| {
                    let near = format!("{v:.digits$e}").parse::<f64>().ok()?;
                    (self.encode_f64(near, Overflow::Infinity) == bits & self.mask()).then_some(near)
                };
                let exact = read_back(5).filter(|&near| near == v);
                with_point(exact.or_else(|| (2..9).find_map(read_back)).unwrap_or(v))
            }
        }
    }
}

/// The binary32 of a binary16, exactly and without branches.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7FFF) << 13;
    // The exponents are 112 apart; the product is exact for subnormals too, and infinities and NaNs only lack bits above.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let special = if magnitude >= 0x0F80_0000 { 0x7F80_0000 } else { 0 };
    f32::from_bits(scaled.to_bits() | special | u32::from(bits & 0x8000) << 16)
}

const TWO_TO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// An integer as binary64, cut to 53 bits with the last bit set if anything was cut off ("round to odd"), so that
/// rounding the result to fewer bits is the same as rounding the integer.
#[inline]
fn to_odd(v: i128) -> f64 {
    let magnitude = v.unsigned_abs();
    let cut = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let kept = magnitude >> cut;
    let lost = u128::from(kept << cut != magnitude);
    let value = (kept | lost) as u64 as f64 * f64::from_bits((1023 + u64::from(cut)) << 52);
    if v < 0 { -value } else { value }
}

/// A finite float in the shortest digits of binary64, always with a point; very large and small ones with an exponent.
fn with_point(v: f64) -> String {
    if v == 0.0 || (1e-4..1e10).contains(&v.abs()) {
        return format!("{v:?}");
    }
    let text = format!("{v:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}
