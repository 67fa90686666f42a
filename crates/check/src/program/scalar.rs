//! Integers as the program computes them: two's complement of the type's width, wrapping (syntax.md 4).
//!
//! A value is kept sign-extended, as `arith.constant` keeps it. What MLIR leaves undefined (division by zero, a shift
//! beyond the width) has no value here; the run reports it.

use tessera_ir::{ArithOp, CastOp, CmpPred};

/// The value's low `bits` bits, sign-extended.
pub(super) fn wrap(v: i128, bits: u32) -> i128 {
    let spare = 128 - bits.clamp(1, 128);
    v << spare >> spare
}

/// The value's low `bits` bits, zero-extended.
pub(super) fn unsigned(v: i128, bits: u32) -> i128 {
    if bits >= 127 { v } else { v & ((1i128 << bits) - 1) }
}

/// `a op b` in a type of `bits` bits.
pub(super) fn arith(op: ArithOp, a: i128, b: i128, bits: u32) -> Option<i128> {
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
    let shift = || u32::try_from(ub).ok().filter(|n| *n < bits);
    let v = match op {
        ArithOp::Addi => a.wrapping_add(b),
        ArithOp::Subi => a.wrapping_sub(b),
        ArithOp::Muli => a.wrapping_mul(b),
        ArithOp::Divsi => a.checked_div(b).filter(|q| wrap(*q, bits) == *q)?,
        ArithOp::Divui => ua.checked_div(ub)?,
        ArithOp::Remsi => a.checked_rem(b)?,
        ArithOp::Remui => ua.checked_rem(ub)?,
        ArithOp::Minsi => a.min(b),
        ArithOp::Maxsi => a.max(b),
        ArithOp::Minui => ua.min(ub),
        ArithOp::Maxui => ua.max(ub),
        ArithOp::Andi => a & b,
        ArithOp::Ori => a | b,
        ArithOp::Xori => a ^ b,
        ArithOp::Shli => a << shift()?,
        ArithOp::Shrsi => a >> shift()?,
        ArithOp::Shrui => ua >> shift()?,
    };
    Some(wrap(v, bits))
}

/// `a pred b` in a type of `bits` bits.
pub(super) fn compare(pred: CmpPred, a: i128, b: i128, bits: u32) -> bool {
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
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

/// The conversion of `v` between types of these widths.
pub(super) fn cast(op: CastOp, v: i128, from: u32, to: u32) -> i128 {
    match op {
        CastOp::IndexCastui | CastOp::Extui => wrap(unsigned(v, from), to),
        CastOp::IndexCast | CastOp::Extsi | CastOp::Trunci => wrap(v, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_wraps_at_the_width() {
        assert_eq!(arith(ArithOp::Addi, 127, 1, 8), Some(-128));
        assert_eq!(arith(ArithOp::Muli, i64::MAX.into(), 2, 64), Some(-2));
        assert_eq!(arith(ArithOp::Divui, -1, 2, 8), Some(127));
        assert_eq!(arith(ArithOp::Divsi, -7, 2, 32), Some(-3));
        assert_eq!(arith(ArithOp::Remsi, -7, 2, 32), Some(-1));
        assert_eq!(arith(ArithOp::Shrui, -1, 4, 8), Some(15));
        assert_eq!(arith(ArithOp::Maxui, -1, 5, 16), Some(-1));
    }

    #[test]
    fn what_has_no_value_is_not_known() {
        assert_eq!(arith(ArithOp::Divsi, 1, 0, 32), None);
        assert_eq!(arith(ArithOp::Divsi, -128, -1, 8), None);
        assert_eq!(arith(ArithOp::Remui, 1, 0, 32), None);
        assert_eq!(arith(ArithOp::Shli, 1, 8, 8), None);
    }

    #[test]
    fn comparisons_and_casts_know_the_sign() {
        assert!(compare(CmpPred::Slt, -1, 0, 8) && !compare(CmpPred::Ult, -1, 0, 8));
        assert_eq!(cast(CastOp::Extui, -1, 8, 32), 255);
        assert_eq!(cast(CastOp::Extsi, -1, 8, 32), -1);
        assert_eq!(cast(CastOp::Trunci, 257, 32, 8), 1);
        assert_eq!(cast(CastOp::IndexCastui, -1, 32, 64), 0xFFFF_FFFF);
    }
}
