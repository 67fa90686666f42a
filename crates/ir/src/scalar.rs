//! Scalar arithmetic of the program: two's complement of the type's width, wrapping (syntax.md 4).
//!
//! A value is the bits of its width, sign-extended to 64; `i1` true is -1. Results that MLIR leaves undefined are
//! [`Undefined`]: a run stops there, and an analysis knows nothing.

use crate::{Arg, ArithOp, CastOp, CmpPred, Func, Module, Op, OpKind, ScalarType, Type, ValueId};
use std::fmt;
use tessera_isa::codec::Number;

/// The reason why an operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// A division by zero, of this number.
    DividedByZero(i64),
    /// The quotient by -1 does not fit the width.
    QuotientOverflow(i64, u32),
    /// A value of this width is shifted by as much or more.
    Shift(u32, u64),
    /// A float, as its bits, that an integer of this width, signed or not, does not hold.
    Range(u64, u32, bool),
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undefined::DividedByZero(a) => write!(f, "{a} is divided by zero"),
            Undefined::QuotientOverflow(a, width) => write!(f, "{a} / -1 does not fit {width} bits"),
            Undefined::Shift(width, by) => write!(f, "a value of {width} bits is shifted by {by}"),
            Undefined::Range(bits, width, signed) => {
                let kind = if *signed { "a signed" } else { "an unsigned" };
                write!(f, "{} does not fit {kind} integer of {width} bits", f64::from_bits(*bits))
            }
        }
    }
}

impl Undefined {
    /// A way out.
    pub fn help(self) -> &'static str {
        match self {
            Undefined::DividedByZero(_) => "guard the division with scf.if",
            Undefined::QuotientOverflow(..) => "use a wider type",
            Undefined::Shift(..) => "shift by less than the width",
            Undefined::Range(..) => "clamp the value first, or use a wider type",
        }
    }

    /// The rule that it breaks.
    pub fn rule(self) -> &'static str {
        if matches!(self, Undefined::Range(..)) { "scalar-range" } else { "arith" }
    }
}

/// The low bits of a value, sign-extended.
#[inline]
pub fn wrap(value: i64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    value << unused >> unused
}

/// The low bits of a value as an unsigned number.
#[inline]
pub fn unsigned(value: i64, width: u32) -> u64 {
    value as u64 & (u64::MAX >> (64 - width.clamp(1, 64)))
}

/// One operation on two integers of a width.
#[inline]
pub fn arith(op: ArithOp, width: u32, a: i64, b: i64) -> Result<i64, Undefined> {
    use ArithOp::*;
    let (ua, ub) = (unsigned(a, width), unsigned(b, width));
    let value = match op {
        Addi => a.wrapping_add(b),
        Subi => a.wrapping_sub(b),
        Muli => a.wrapping_mul(b),
        Minsi => a.min(b),
        Maxsi => a.max(b),
        Minui => ua.min(ub) as i64,
        Maxui => ua.max(ub) as i64,
        Andi => a & b,
        Ori => a | b,
        Xori => a ^ b,
        Absi => a.wrapping_abs(),
        Divsi | Remsi | Divui | Remui | Ceildivsi | Floordivsi | Ceildivui if b == 0 => {
            return Err(Undefined::DividedByZero(a));
        }
        Divsi | Ceildivsi | Floordivsi if b == -1 && a != 0 && wrap(a.wrapping_neg(), width) == a => {
            return Err(Undefined::QuotientOverflow(a, width));
        }
        Divsi => a.wrapping_div(b),
        Floordivsi => a.wrapping_div(b) - i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0)),
        Ceildivsi => a.wrapping_div(b) + i64::from(a.wrapping_rem(b) != 0 && (a < 0) == (b < 0)),
        Ceildivui => ua.div_ceil(ub) as i64,
        Remsi => a.wrapping_rem(b),
        Divui => (ua / ub) as i64,
        Remui => (ua % ub) as i64,
        Shli | Shrsi | Shrui if ub >= u64::from(width) => return Err(Undefined::Shift(width, ub)),
        Shli => a << ub,
        Shrsi => a >> ub,
        Shrui => (ua >> ub) as i64,
    };
    Ok(wrap(value, width))
}

/// A comparison of two integers of a width.
#[inline]
pub fn compare(pred: CmpPred, width: u32, a: i64, b: i64) -> bool {
    let (ua, ub) = (unsigned(a, width), unsigned(b, width));
    match pred {
        CmpPred::Eq => a == b,
        CmpPred::Ne => a != b,
        CmpPred::Slt => a < b,
        CmpPred::Sle => a <= b,
        CmpPred::Sgt => a > b,
        CmpPred::Sge => a >= b,
        CmpPred::Ult => ua < ub,
        CmpPred::Ule => ua <= ub,
        CmpPred::Ugt => ua > ub,
        CmpPred::Uge => ua >= ub,
    }
}

/// A conversion between integer widths.
#[inline]
pub fn cast(op: CastOp, from: u32, to: u32, value: i64) -> i64 {
    match op {
        CastOp::IndexCastui | CastOp::Extui => wrap(unsigned(value, from) as i64, to),
        _ => wrap(value, to),
    }
}

/// The widths of an operation of integer arithmetic: of its operands and of its result. A literal is as wide as what it
/// stands beside, 64 bits where it stands alone.
pub fn widths(module: &Module, func: &Func, op: &Op) -> (u32, u32) {
    let bits = |v: ValueId| match module.types.get(func.value(v).ty) {
        Type::Scalar(ty) => ty.bits(),
        _ => ScalarType::Index.bits(),
    };
    let alone = ScalarType::Index.bits();
    (op.values().next().map_or(alone, bits), op.results.first().map_or(alone, |v| bits(*v)))
}

/// Whether an operand or the result is a float. Floats are not followed without a run.
fn is_float(module: &Module, func: &Func, op: &Op) -> bool {
    let float = |v: ValueId| matches!(module.types.get(func.value(v).ty), Type::Scalar(ScalarType::Float(_)));
    op.values().chain(op.results.iter().copied()).any(float)
}

/// The result of an operation of integer arithmetic, if `int` knows its operands; `None` for every other operation.
pub fn compute(
    module: &Module,
    func: &Func,
    op: &Op,
    int: impl Fn(Arg) -> Option<i64>,
) -> Option<Result<i64, Undefined>> {
    let side = |n: usize| op.operands.get(n).and_then(|o| int(o.arg));
    let widths = || widths(module, func, op);
    Some(match op.kind {
        OpKind::Arith(kind) => arith(kind, widths().1, side(0)?, side(kind.arity() - 1)?),
        OpKind::Cmp(pred) => Ok(-i64::from(compare(pred, widths().0, side(0)?, side(1)?))),
        OpKind::Cast(kind) if !is_float(module, func, op) => Ok(cast(kind, widths().0, widths().1, side(0)?)),
        _ => return None,
    })
}

/// The integers that are known without running, by value: constants and what is computed from them.
#[derive(Clone, Debug, Default)]
pub struct Constants(Vec<Option<i64>>);

impl Constants {
    /// The constants of a function.
    pub fn new(module: &Module, func: &Func) -> Self {
        let mut known = Constants(vec![None; func.values.len()]);
        func.walk(&mut |_, op, _| {
            let value = match op.kind {
                OpKind::Constant(Number::Int(v)) => i64::try_from(v).ok(),
                _ => compute(module, func, op, |arg| known.get(arg)).and_then(Result::ok),
            };
            if let (Some(_), Some(result)) = (value, op.results.first()) {
                known.0[result.index()] = value;
            }
        });
        known
    }

    /// The integer of an operand, where it is known.
    pub fn get(&self, arg: Arg) -> Option<i64> {
        match arg {
            Arg::Int(v) => Some(v),
            Arg::Value(v) => self.0.get(v.index()).copied().flatten(),
        }
    }
}
