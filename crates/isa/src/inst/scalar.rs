//! Scalar operands.

use crate::codec::{Number, Overflow};
use crate::elem::{Elem, ElemKind};
use crate::ops::Role;

/// How an integer type says its sign.
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

/// A scalar operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalarArg {
    /// What it is to the instruction.
    pub role: Role,
    /// Its type; `None` for a number that has none, as an interface of a language gives it.
    pub ty: Option<ScalarType>,
    /// What is known of it.
    pub value: Option<Number>,
}

impl ScalarArg {
    /// A number without a type.
    pub fn new(role: Role, value: impl Into<Number>) -> Self {
        ScalarArg { role, ty: None, value: Some(value.into()) }
    }

    /// Is it an integer, by its type or its value?
    pub fn is_integer(&self) -> bool {
        match self.ty {
            Some(ty) => !matches!(ty, ScalarType::Float(_)),
            None => matches!(self.value, None | Some(Number::Int(_))),
        }
    }

    /// The element that it stands for in a tile of this type (isa/scalar.md 2): the low bits of an integer, a float
    /// rounded to nearest even.
    pub fn bits(&self, elem: Elem) -> Option<u64> {
        Some(match self.value? {
            Number::Int(v) => v as u64 & elem.mask(),
            value => elem.encode(value, Overflow::Infinity),
        })
    }
}
