//! Integer arithmetic, exact for every width: values are the bits of their width, sign-extended to 64.

use crate::lower::Failure;
use tessera_ir::{ArithOp, CastOp, CmpPred};
use tessera_isa::diag::Diagnostic;

/// The low bits of a value, sign-extended.
#[inline]
pub(crate) fn wrap(value: i64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    value << unused >> unused
}

/// The low bits of a value as an unsigned number.
#[inline]
pub(crate) fn unsigned(value: i64, width: u32) -> u64 {
    value as u64 & (u64::MAX >> (64 - width.clamp(1, 64)))
}

fn refuse(what: String, help: &str) -> Failure {
    Box::new(Diagnostic::error("arith", what).help(help))
}

/// One operation on two integers of a width.
#[inline]
pub(crate) fn arith(op: ArithOp, width: u32, a: i64, b: i64) -> Result<i64, Failure> {
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
        Divsi | Remsi | Divui | Remui => return divide(op, width, a, b),
        Shli | Shrsi | Shrui => {
            if ub >= u64::from(width) {
                let what = format!("a value of {width} bits is shifted by {ub}");
                return Err(refuse(what, "shift by less than the width"));
            }
            match op {
                Shli => a << ub,
                Shrsi => a >> ub,
                _ => (ua >> ub) as i64,
            }
        }
    };
    Ok(wrap(value, width))
}

#[cold]
fn divided_by_zero(a: i64) -> Failure {
    refuse(format!("{a} is divided by zero"), "guard the division with scf.if")
}

fn divide(op: ArithOp, width: u32, a: i64, b: i64) -> Result<i64, Failure> {
    if b == 0 {
        return Err(divided_by_zero(a));
    }
    let (ua, ub) = (unsigned(a, width), unsigned(b, width));
    let value = match op {
        ArithOp::Divui => (ua / ub) as i64,
        ArithOp::Remui => (ua % ub) as i64,
        ArithOp::Remsi => a.wrapping_rem(b),
        _ => {
            let quotient = a.wrapping_div(b);
            if b == -1 && wrap(quotient, width) == a && a != 0 {
                let what = format!("{a} / -1 does not fit {width} bits");
                return Err(refuse(what, "use a wider type"));
            }
            quotient
        }
    };
    Ok(wrap(value, width))
}

/// A comparison of two integers of a width.
#[inline]
pub(crate) fn compare(pred: CmpPred, width: u32, a: i64, b: i64) -> bool {
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
pub(crate) fn cast(op: CastOp, from: u32, to: u32, value: i64) -> i64 {
    match op {
        CastOp::IndexCastui | CastOp::Extui => wrap(unsigned(value, from) as i64, to),
        CastOp::IndexCast | CastOp::Extsi | CastOp::Trunci => wrap(value, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_wraps_like_its_type() {
        let mut values = vec![0i64, 1, -1, 5, -7, 127, -128, 128, 32767, -32768, i64::MAX, i64::MIN];
        values.extend((0..64).map(|k| 1i64 << k));
        for &a in &values {
            for &b in &values {
                let (x, y) = (wrap(a, 8) as i8, wrap(b, 8) as i8);
                let (p, q) = (i64::from(x), i64::from(y));
                let of = |op| arith(op, 8, p, q).ok();
                assert_eq!(of(ArithOp::Addi), Some(i64::from(x.wrapping_add(y))));
                assert_eq!(of(ArithOp::Muli), Some(i64::from(x.wrapping_mul(y))));
                assert_eq!(of(ArithOp::Divsi), x.checked_div(y).map(i64::from));
                assert_eq!(of(ArithOp::Divui), (x as u8).checked_div(y as u8).map(|v| i64::from(v as i8)));
                assert_eq!(of(ArithOp::Remui), (x as u8).checked_rem(y as u8).map(|v| i64::from(v as i8)));
                assert_eq!(of(ArithOp::Maxui), Some(i64::from((x as u8).max(y as u8) as i8)));
                let shift = u32::from(y as u8);
                assert_eq!(of(ArithOp::Shli), x.checked_shl(shift).map(i64::from));
                assert_eq!(of(ArithOp::Shrsi), x.checked_shr(shift).map(i64::from));
                assert_eq!(of(ArithOp::Shrui), (x as u8).checked_shr(shift).map(|v| i64::from(v as i8)));
                assert_eq!(compare(CmpPred::Ult, 8, p, q), (x as u8) < (y as u8));
                assert_eq!(arith(ArithOp::Divsi, 64, a, b).ok(), a.checked_div(b));
                assert_eq!(arith(ArithOp::Subi, 64, a, b).ok(), Some(a.wrapping_sub(b)));
            }
        }
        assert_eq!(cast(CastOp::Extui, 1, 32, -1), 1);
        assert_eq!(cast(CastOp::Extsi, 1, 32, -1), -1);
        assert_eq!(cast(CastOp::Trunci, 32, 8, 200), -56);
        assert_eq!(cast(CastOp::IndexCastui, 8, 64, -56), 200);
    }
}
