//! Types of operands (micro/model.md 3).

use crate::table::Space;
use std::fmt;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ScalarType, Sign};

/// A type of the dialect that only micro instructions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MicroType {
    /// A vector register, by the type of its lanes.
    Vreg(ScalarType),
    /// A predicate register, by the bits of the lanes that it is meant for.
    Mask(u8),
    /// The state of an unaligned stream.
    Align,
}

/// Bits of a lane of this type: a pair of fp4 codes is one lane.
pub fn lane_bits(ty: ScalarType) -> u32 {
    ty.bits().max(8)
}

/// The element type by which the bits of a lane are read: signless integers are signed, pairs of fp4 are bytes.
pub fn lane_elem(ty: ScalarType) -> Elem {
    match ty {
        ScalarType::Float(elem) if elem.is_fp4() => Elem::U8,
        ScalarType::Float(elem) => elem,
        ScalarType::Int(..=8, Sign::Unsigned) => Elem::U8,
        ScalarType::Int(..=16, Sign::Unsigned) => Elem::U16,
        ScalarType::Int(..=32, Sign::Unsigned) => Elem::U32,
        ScalarType::Int(_, Sign::Unsigned) => Elem::U64,
        ScalarType::Int(..=8, _) => Elem::I8,
        ScalarType::Int(..=16, _) => Elem::I16,
        ScalarType::Int(..=32, _) => Elem::I32,
        ScalarType::Int(..) | ScalarType::Index => Elem::I64,
    }
}

/// The text of the type of an element.
pub(crate) fn element_text(ty: ScalarType) -> String {
    match ty {
        ScalarType::Index => "index".into(),
        ScalarType::Int(bits, Sign::None) => format!("i{bits}"),
        ScalarType::Int(bits, Sign::Signed) => format!("si{bits}"),
        ScalarType::Int(bits, Sign::Unsigned) => format!("ui{bits}"),
        ScalarType::Float(elem) => elem.mlir().into(),
    }
}

impl MicroType {
    /// A vector register of `lanes` lanes of a type, or the reason why there is none.
    pub fn vreg(lanes: u64, lane: ScalarType) -> Result<MicroType, String> {
        let is_lane = match lane {
            ScalarType::Index => false,
            ScalarType::Int(bits, _) => matches!(bits, 8 | 16 | 32 | 64),
            ScalarType::Float(_) => true,
        };
        let (name, bits) = (element_text(lane), u64::from(lane_bits(lane)));
        if !is_lane {
            return Err(format!("{name} is no type of lanes"));
        }
        if lanes.checked_mul(bits) != Some(2048) {
            let fits = 2048 / bits;
            return Err(format!("{lanes} lanes of {name} are no 2048 bits; a register has {fits} of them"));
        }
        Ok(MicroType::Vreg(lane))
    }
}

impl fmt::Display for MicroType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MicroType::Vreg(lane) => write!(f, "!pto.vreg<{}x{}>", 2048 / lane_bits(*lane), element_text(*lane)),
            MicroType::Mask(bits) => write!(f, "!pto.mask<b{bits}>"),
            MicroType::Align => f.write_str("!pto.align"),
        }
    }
}

/// The type of an operand, as the rules see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Micro(MicroType),
    Ptr(Elem, Space),
    Scalar(ScalarType),
    /// A type that no micro instruction takes.
    Other,
}

impl Ty {
    /// The type of a register's lanes.
    pub fn lane(self) -> Option<ScalarType> {
        match self {
            Ty::Micro(MicroType::Vreg(lane)) => Some(lane),
            _ => None,
        }
    }

    /// The granularity of a mask.
    pub fn granularity(self) -> Option<u8> {
        match self {
            Ty::Micro(MicroType::Mask(bits)) => Some(bits),
            _ => None,
        }
    }

    /// A pointer's memory, and the bytes of its element.
    pub fn pointer(self) -> Option<(Space, u64)> {
        match self {
            Ty::Ptr(elem, space) => Some((space, elem.bytes_of(1))),
            _ => None,
        }
    }

    /// The type of a scalar.
    pub fn scalar(self) -> Option<ScalarType> {
        match self {
            Ty::Scalar(ty) => Some(ty),
            _ => None,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Micro(ty) => ty.fmt(f),
            Ty::Ptr(elem, space) => write!(f, "!pto.ptr<{}, {}>", elem.mlir(), space.name()),
            Ty::Scalar(ty) => f.write_str(&element_text(*ty)),
            Ty::Other => f.write_str("another type"),
        }
    }
}
