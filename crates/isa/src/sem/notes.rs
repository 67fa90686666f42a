//! The edge cases of functions of elements, in words (isa/elementwise.md 3, isa/reduce.md 5): what `explain` tells.

use super::{Func, Sem};
use crate::ops::OpInfo;

const ROUNDED: &str = "f16 and bf16 are computed in f32 and rounded once; a NaN that comes out is canonical";
const WITHIN_AN_ULP: &str = "within 1 ulp of the correctly rounded result; special values are exact";
const WRAP: &str = "integers wrap";
const SHIFT: &str =
    "the low log2(W) bits of the count are used: one of W or more, or a negative one, is reduced modulo W";

impl Func {
    /// The behaviour of the function in edge cases, one fact each.
    pub const fn notes(self) -> &'static [&'static str] {
        match self {
            Func::Abs => &[
                "clears the sign bit, also of a NaN",
                "|most negative| is the most negative; unsigned types are left as they are",
            ],
            Func::Neg => {
                &["flips the sign bit, also of a NaN", "-(most negative) is itself; an unsigned x becomes 0 - x"]
            }
            Func::Relu => {
                &["-0 and every negative value: +0; NaN: the canonical NaN", "unsigned types are left as they are"]
            }
            Func::Prelu => &[
                "a source above 0 keeps its bits; ±0, negatives and NaN take the product: +0 with a negative slope is -0",
            ],
            Func::Max => &["any NaN operand: the canonical NaN; max(+0, -0) = +0; otherwise the chosen operand's bits"],
            Func::Min => &["any NaN operand: the canonical NaN; min(+0, -0) = -0; otherwise the chosen operand's bits"],
            Func::Add | Func::Sub | Func::Mul => &[ROUNDED, WRAP],
            Func::AddAdd | Func::SubAdd => &["left to right, two operations", ROUNDED, WRAP],
            Func::Axpy => &["the product is rounded to f32, then the sum: it is not fused", ROUNDED],
            Func::Div | Func::MulRecip => &[
                "x / ±0 = ±inf by the signs; 0 / 0 and inf / inf = NaN",
                "integers truncate toward zero; most negative / -1 is the most negative",
                ROUNDED,
            ],
            Func::Recip => &["±0 → ±inf, ±inf → ±0", "integers: 1 / x truncated", ROUNDED],
            Func::Sqrt => &["±0 → itself, +inf → +inf, negative → NaN", ROUNDED],
            Func::Rsqrt => &["±0 → ±inf, +inf → +0, negative → NaN", WITHIN_AN_ULP],
            Func::Exp => &["±0 → 1, -inf → +0, +inf → +inf", WITHIN_AN_ULP],
            Func::Log => &["1 → +0, ±0 → -inf, +inf → +inf, negative → NaN", WITHIN_AN_ULP],
            Func::ExpDif => &[
                "the difference is taken in f32; exp(±0) = 1, exp(-inf) = +0, exp(+inf) = +inf, inf - inf gives NaN",
                "a difference above 88.73 gives +inf, one below -103.98 gives +0",
                WITHIN_AN_ULP,
            ],
            Func::Rem => &[
                "a zero result has the divisor's sign; a divisor ±0 or a dividend ±inf: NaN",
                "a divisor ±inf: the dividend if the signs agree or it is ±0 (then with the divisor's sign), else the divisor",
                "integers: the divisor's sign (i64: the dividend's); most negative by -1 leaves 0",
            ],
            Func::Fmod => &[
                "exact; a zero result has the dividend's sign; a divisor ±0 or a dividend ±inf: NaN; a divisor ±inf: the dividend",
                "integers: the dividend's sign; most negative by -1 leaves 0",
            ],
            Func::Pow => &[
                "pow(x, ±0) = 1 and pow(1, y) = 1, also for NaN; a negative base with a non-integer exponent: NaN",
                "integers: modulo 2^W; a negative exponent gives 1, ±1 by its parity, or 0 for the bases 1, -1 and others",
                WITHIN_AN_ULP,
            ],
            Func::Shl => &[SHIFT],
            Func::Shr => &[SHIFT, "arithmetic for signed types, logical for unsigned ones"],
            Func::Arg { .. } => &[
                "the first NaN wins over every number; among equal numbers (-0 = +0) the lowest index wins",
                "dst_val gets the bits of that element, a NaN's payload included",
            ],
            _ => &[],
        }
    }
}

impl OpInfo {
    /// The edge cases of the instruction: its function's, then its own.
    pub fn edge_cases(&self) -> Vec<&'static str> {
        let (func, folds) = match self.sem {
            Sem::Map { func, .. } | Sem::Expand { func, .. } => (Some(func), false),
            Sem::Fold { func, .. } => (Some(func), true),
            _ => (None, false),
        };
        let order = match func {
            Some(Func::Add) if folds => Some("left to right from +0, so the sum of negative zeros is +0"),
            Some(Func::Mul) if folds => Some("left to right from 1"),
            _ => None,
        };
        let of_func = func.map_or(&[][..], Func::notes);
        order.into_iter().chain(of_func.iter().copied()).chain(self.notes.iter().copied()).collect()
    }
}
