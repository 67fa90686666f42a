//! Acts on registers: the list of them, and their functions.

use tessera_isa::elem::Elem;
use tessera_isa::sem::{Func, Rounding, Saturation};

/// An operation on the values in the registers, all of which are f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RegisterOp {
    /// Takes the operand in its place.
    Take,
    /// Writes it.
    Put(Form),
    /// Makes every NaN the one that arithmetic gives.
    Settle,
    Round(Form),
    Add,
    Sub,
    /// The operand minus the register.
    SubFrom,
    Mul,
    Div,
    /// The operand divided by the register.
    DivOf,
    Max,
    Min,
    Relu,
    Sqrt,
    Recip,
    Abs,
    Neg,
    Exp,
    ExpDif,
    Log,
    Rsqrt,
}

/// The element format in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    F32,
    F16,
    Bf16,
    I16,
    I8,
    U8,
}

impl Form {
    pub fn of(elem: Elem) -> Option<Form> {
        Some(match elem {
            Elem::F32 => Form::F32,
            Elem::F16 => Form::F16,
            Elem::Bf16 => Form::Bf16,
            Elem::I16 => Form::I16,
            Elem::I8 => Form::I8,
            Elem::U8 => Form::U8,
            _ => return None,
        })
    }

    /// Bytes of an element.
    #[inline(always)]
    pub fn size(self) -> usize {
        match self {
            Form::F32 => 4,
            Form::F16 | Form::Bf16 | Form::I16 => 2,
            Form::I8 | Form::U8 => 1,
        }
    }
}

/// The source of an act's operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// In the registers.
    Own,
    /// In memory, side by side.
    Dense,
    /// In memory, one for all of a row.
    One,
}

/// An act whose operand was found in its memory.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "acts run on x86-64 only"))]
pub struct Bound {
    pub act: RegisterOp,
    pub kind: Kind,
    pub form: Form,
    /// The start, and the distances to the next strip, to the next row and to the next element.
    pub start: *mut u8,
    pub strip: isize,
    pub row: isize,
    pub step: usize,
    /// Whether there are only [`SLOT_ROWS`] rows, or [`FOLDED`] rows and columns, which are reused.
    pub wraps: bool,
}

/// The rows of a slot in scratch memory: no more go through the acts at once.
pub const SLOT_ROWS: usize = 4;

/// The number of rows that are folded at once, and of columns at a time.
pub const FOLDED: usize = 16;

impl RegisterOp {
    /// Whether it needs no registers beside those of the f32 values.
    pub fn is_plain(self) -> bool {
        match self {
            RegisterOp::Put(form) => form == Form::F32,
            RegisterOp::Exp | RegisterOp::ExpDif | RegisterOp::Log | RegisterOp::Rsqrt | RegisterOp::Round(_) => false,
            _ => true,
        }
    }

    /// Whether its result has no NaN other than the one that arithmetic gives.
    pub fn settles(self) -> bool {
        matches!(
            self,
            RegisterOp::Settle
                | RegisterOp::Round(_)
                | RegisterOp::Max
                | RegisterOp::Min
                | RegisterOp::Exp
                | RegisterOp::ExpDif
                | RegisterOp::Log
                | RegisterOp::Rsqrt
        )
    }

    /// The act with its arguments the other way round.
    pub fn turned(self) -> Option<RegisterOp> {
        match self {
            RegisterOp::Add | RegisterOp::Mul | RegisterOp::Max | RegisterOp::Min => Some(self),
            RegisterOp::Sub => Some(RegisterOp::SubFrom),
            RegisterOp::Div => Some(RegisterOp::DivOf),
            _ => None,
        }
    }
}

pub(super) fn act(func: Func, elem: Elem) -> Option<RegisterOp> {
    Some(match func {
        Func::Add => RegisterOp::Add,
        Func::Sub => RegisterOp::Sub,
        Func::Mul => RegisterOp::Mul,
        Func::Div => RegisterOp::Div,
        Func::Max => RegisterOp::Max,
        Func::Min => RegisterOp::Min,
        Func::Relu => RegisterOp::Relu,
        Func::Sqrt => RegisterOp::Sqrt,
        Func::Recip => RegisterOp::Recip,
        Func::Exp => RegisterOp::Exp,
        Func::ExpDif => RegisterOp::ExpDif,
        Func::Log => RegisterOp::Log,
        Func::Rsqrt => RegisterOp::Rsqrt,
        // These only touch the sign, of a NaN too.
        Func::Abs if elem == Elem::F32 => RegisterOp::Abs,
        Func::Neg if elem == Elem::F32 => RegisterOp::Neg,
        _ => return None,
    })
}

/// A conversion to a float that f32 and one rounding come to.
pub(super) fn converts(from: Elem, to: Elem, rounding: Rounding, saturation: Option<Saturation>) -> Option<RegisterOp> {
    let is_clamped = saturation.unwrap_or_else(|| Saturation::usual(from, to)) == Saturation::On;
    let is_nearest = matches!(rounding, Rounding::None | Rounding::Rint | Rounding::CastRint);
    let is_exact = to == Elem::F32 && from != Elem::F32;
    let is_rounded = matches!(to, Elem::F16 | Elem::Bf16) && from == Elem::F32 && is_nearest && !is_clamped;
    (is_exact || is_rounded).then_some(RegisterOp::Take)
}
