//! Scalar operands.

use crate::codec::{Number, Overflow};
use crate::elem::{Elem, ElemKind};
use crate::ops::Role;

/// The notation of an integer type's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// `i32`.
    None,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// `index`: 64 bits.
    Index,
    /// `iN`, `siN`, `uiN` with N of 1 to 64.
    Int(u8, Sign),
    /// A float type: f16, bf16, f32, the fp8 types.
    Float(Elem),
}

impl ScalarType {
    /// The type of a scalar that is an element; signed integers are written without a sign.
    pub fn of(elem: Elem) -> Self {
        match elem.kind() {
            ElemKind::Float => ScalarType::Float(elem),
            ElemKind::SignedInt => ScalarType::Int(elem.bits() as u8, Sign::None),
            ElemKind::UnsignedInt => ScalarType::Int(elem.bits() as u8, Sign::Unsigned),
        }
    }

    /// Bits of the scalar.
    pub fn bits(self) -> u32 {
        match self {
            ScalarType::Index => 64,
            ScalarType::Int(n, _) => n.into(),
            ScalarType::Float(e) => e.bits(),
        }
    }
}

/// The number that a scalar's bits are. A NaN of f32, f16 or bf16 keeps its payload, as the upper bits of a binary64's:
/// an element of the same type has the scalar's bits (isa/scalar.md 2).
pub fn scalar_number(elem: Elem, bits: u64) -> Number {
    match elem.decode(bits) {
        Number::Float(v) if v.is_nan() && kept(elem) => {
            let small = elem.small();
            let (sign, payload) = (bits >> (elem.bits() - 1) & 1, bits & ((1 << small.mantissa) - 1));
            Number::Float(f64::from_bits(sign << 63 | 0x7FF << 52 | payload << (52 - small.mantissa)))
        }
        number => number,
    }
}

fn kept(elem: Elem) -> bool {
    matches!(elem, Elem::F32 | Elem::F16 | Elem::Bf16)
}

/// A scalar operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalarArg {
    /// Its role in the instruction.
    pub role: Role,
    /// Its type; `None` for a number that has none, as an interface of a language gives it.
    pub ty: Option<ScalarType>,
    /// Its value, if it is known.
    pub value: Option<Number>,
}

impl ScalarArg {
    /// A number without a type.
    pub fn new(role: Role, value: impl Into<Number>) -> Self {
        ScalarArg { role, ty: None, value: Some(value.into()) }
    }

    /// Whether it is an integer, by its type or its value.
    pub fn is_integer(&self) -> bool {
        match self.ty {
            Some(ty) => !matches!(ty, ScalarType::Float(_)),
            None => matches!(self.value, None | Some(Number::Int(_))),
        }
    }

    /// The element that it becomes by value (isa/today.md 6.8): an integer is rounded to a float, a float is cut toward zero
    /// to an integer. There is none where the type has no such integer.
    pub fn converted(&self, elem: Elem) -> Option<u64> {
        match (self.value?, elem.is_float()) {
            (Number::Int(v), true) => Some(elem.encode_int(v, Overflow::Infinity)),
            (Number::Float(v), false) => {
                let (lowest, highest) = elem.range();
                let (Number::Int(lowest), Number::Int(highest)) = (lowest, highest) else { return None };
                let cut = v.trunc();
                let fits = cut.is_finite() && (lowest..=highest).contains(&(cut as i128));
                fits.then_some(cut as i128 as u64 & elem.mask())
            }
            _ => self.bits(elem),
        }
    }

    /// The element that it stands for in a tile of this type (isa/scalar.md 2): the low bits of an integer, a float
    /// rounded to nearest even.
    pub fn bits(&self, elem: Elem) -> Option<u64> {
        Some(match self.value? {
            Number::Int(v) => v as u64 & elem.mask(),
            // See `scalar_number`.
            Number::Float(v) if v.is_nan() && self.ty == Some(ScalarType::Float(elem)) && kept(elem) => {
                let small = elem.small();
                let payload = (v.to_bits() & !(0xFFF << 52)) >> (52 - small.mantissa);
                (v.to_bits() >> 63) << (elem.bits() - 1) | small.beyond | payload
            }
            value => elem.encode(value, Overflow::Infinity),
        })
    }
}
