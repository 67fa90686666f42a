//! Floats of the program: IEEE in the type of the operands, rounded to nearest even (isa/structure.md 7).
//!
//! Every float type of a scalar fits binary32, where an operation is computed, and the result is rounded to the type,
//! as the instructions on tiles do (isa/elementwise.md 3). A value is kept as the bits of its binary64 number.

use crate::scalar::{Undefined, unsigned, wrap};
use crate::{CastOp, FloatOp, FloatPred, ScalarType};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;
use tessera_isa::sem::math;

/// A number rounded to a type.
fn rounded(elem: Elem, v: f32) -> f64 {
    number(elem.decode(elem.encode_f32(v, Overflow::Infinity)))
}

fn number(n: Number) -> f64 {
    match n {
        Number::Float(v) => v,
        Number::Int(v) => v as f64,
    }
}

/// `a·b + c`, rounded once: the sum in binary64 is rounded to odd, which a second rounding cannot spoil.
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let (p, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = p + c;
    let there = sum - p;
    let lost = (p - (sum - there)) + (c - there);
    if !lost.is_finite() || lost == 0.0 || sum.to_bits() & 1 == 1 {
        return sum as f32;
    }
    let away = (lost > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 }) as f32
}

/// The larger of two numbers, or the smaller of their negations; zeros have an order.
fn larger(a: f32, b: f32) -> f32 {
    if a > b || (a == b && b.is_sign_negative()) { a } else { b }
}

/// One operation on floats of a type; operands beyond its arity do not count.
pub fn float(op: FloatOp, elem: Elem, args: [f64; 3]) -> f64 {
    use FloatOp::*;
    let [a, b, c] = args.map(|v| v as f32);
    let is_nan = a.is_nan() || b.is_nan();
    let value = match op {
        Addf => a + b,
        Subf => a - b,
        Mulf => a * b,
        Divf => a / b,
        Remf => math::fmod(a, b),
        Negf => -a,
        Maximumf | Minimumf if is_nan => f32::NAN,
        Maxnumf | Minnumf if a.is_nan() => b,
        Maxnumf | Minnumf if b.is_nan() => a,
        Maximumf | Maxnumf => larger(a, b),
        Minimumf | Minnumf => -larger(-a, -b),
        Sqrt => a.sqrt(),
        Exp => math::exp(a),
        Exp2 => math::exp2(a),
        Log => math::log(a),
        Log2 => math::log2(a),
        Rsqrt => math::rsqrt(a),
        Fma => fused(a, b, c),
        Absf => a.abs(),
        Floor => a.floor(),
        Ceil => a.ceil(),
        Powf => math::pow(a, b),
    };
    rounded(elem, value)
}

/// A comparison of two floats.
pub fn compare(pred: FloatPred, a: f64, b: f64) -> bool {
    use FloatPred::*;
    let unordered = a.is_nan() || b.is_nan();
    match pred {
        False => false,
        True => true,
        Ord => !unordered,
        Uno => unordered,
        Oeq => a == b,
        Ogt => a > b,
        Oge => a >= b,
        Olt => a < b,
        Ole => a <= b,
        One => a != b && !unordered,
        Ueq => a == b || unordered,
        Ugt => a > b || unordered,
        Uge => a >= b || unordered,
        Ult => a < b || unordered,
        Ule => a <= b || unordered,
        Une => a != b,
    }
}

/// A conversion between scalars of two types, as their slots hold them: integers sign-extended, floats as binary64.
pub fn cast(op: CastOp, from: ScalarType, to: ScalarType, value: i64) -> Result<i64, Undefined> {
    let float = f64::from_bits(value as u64);
    let (is_float, width) = (matches!(from, ScalarType::Float(_)), to.bits());
    Ok(match (op, to) {
        (CastOp::Extf | CastOp::Truncf, ScalarType::Float(elem)) => {
            number(elem.decode(elem.encode_f64(float, Overflow::Infinity))).to_bits() as i64
        }
        (CastOp::Sitofp | CastOp::Uitofp, ScalarType::Float(elem)) => {
            let int = match op {
                CastOp::Uitofp => i128::from(unsigned(value, from.bits())),
                _ => i128::from(value),
            };
            number(elem.decode(elem.encode_int(int, Overflow::Infinity))).to_bits() as i64
        }
        (CastOp::Fptosi | CastOp::Fptoui, _) => {
            let (whole, size) = (float.trunc(), (width as f64).exp2());
            let (low, high) = if op == CastOp::Fptosi { (-size / 2.0, size / 2.0) } else { (0.0, size) };
            if !(whole >= low && whole < high) {
                return Err(Undefined::Range(float.to_bits(), width, op == CastOp::Fptosi));
            }
            wrap(whole as i128 as i64, width)
        }
        (CastOp::Bitcast, to) => {
            let bits = match from {
                ScalarType::Float(elem) => elem.encode_f64(float, Overflow::Infinity),
                _ => unsigned(value, from.bits()),
            };
            match to {
                ScalarType::Float(elem) => number(elem.decode(bits)).to_bits() as i64,
                _ => wrap(bits as i64, width),
            }
        }
        _ if is_float => value,
        _ => crate::scalar::cast(op, from.bits(), width, value),
    })
}
