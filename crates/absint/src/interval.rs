//! Integers of which only bounds are known.

use tessera_ir::scalar::{arith, cast, wrap};
use tessera_ir::{ArithOp, CastOp};

/// All integers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub low: i64,
    pub high: i64,
}

impl Interval {
    /// One integer.
    pub fn one(value: i64) -> Interval {
        Interval { low: value, high: value }
    }

    /// The integer, where it is one.
    pub fn single(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Both, and what lies between them.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn corners(self) -> [i64; 2] {
        [self.low, self.high]
    }

    pub fn plus(self, other: Interval) -> Option<Interval> {
        Some(Interval { low: self.low.checked_add(other.low)?, high: self.high.checked_add(other.high)? })
    }

    /// The product.
    pub fn times(self, other: Interval) -> Option<Interval> {
        Interval::of(self.corners().into_iter().flat_map(|a| other.corners().map(|b| a.checked_mul(b))))
    }

    /// The distances of both ends from another range's.
    pub fn from(self, other: Interval) -> Option<Interval> {
        Some(Interval { low: self.low.checked_sub(other.low)?, high: self.high.checked_sub(other.high)? })
    }

    /// The range after `times` steps, together with all ranges before.
    pub fn stepped(self, step: Interval, times: i64) -> Option<Interval> {
        let low = self.low.checked_add(step.low.min(0).checked_mul(times)?)?;
        let high = self.high.checked_add(step.high.max(0).checked_mul(times)?)?;
        Some(Interval { low, high })
    }

    fn of(values: impl Iterator<Item = Option<i64>>) -> Option<Interval> {
        let values: Vec<i64> = values.collect::<Option<_>>()?;
        Some(Interval { low: *values.iter().min()?, high: *values.iter().max()? })
    }

    /// The range of an arithmetic result, if it neither wraps nor jumps between the operands' ends.
    pub fn arith(op: ArithOp, width: u32, a: Interval, b: Interval) -> Option<Interval> {
        use ArithOp::*;
        if let (Some(a), Some(b)) = (a.single(), b.single()) {
            return arith(op, width, a, b).ok().map(Interval::one);
        }
        let counted = a.low >= 0 && b.low >= 0;
        let is_monotone = match op {
            Addi | Subi | Muli | Minsi | Maxsi => true,
            Divsi | Floordivsi | Ceildivsi => b.low > 0,
            Divui | Ceildivui => counted && b.low > 0,
            Minui | Maxui | Shrsi | Shrui => counted,
            Shli => counted && b.single().is_some(),
            Remsi | Remui => {
                let divisor = b.single().filter(|b| *b > 0 && a.low >= 0)?;
                return Some(if a.high < divisor { a } else { Interval { low: 0, high: divisor - 1 } });
            }
            Andi if counted => return Some(Interval { low: 0, high: a.high.min(b.high) }),
            _ => false,
        };
        let corner = |x: i64, y: i64| {
            let exact = match op {
                Addi => i128::from(x) + i128::from(y),
                Subi => i128::from(x) - i128::from(y),
                Muli => i128::from(x) * i128::from(y),
                Shli => i128::from(x).checked_shl(u32::try_from(y).ok()?)?,
                _ => return arith(op, width, x, y).ok(),
            };
            i64::try_from(exact).ok().filter(|v| wrap(*v, width) == *v)
        };
        let pairs = a.corners().into_iter().flat_map(|x| b.corners().map(|y| corner(x, y)));
        is_monotone.then(|| Interval::of(pairs)).flatten()
    }

    /// The same integers in another width, where all of them fit it.
    pub fn cast(self, op: CastOp, from: u32, to: u32) -> Option<Interval> {
        Interval::of(self.corners().into_iter().map(|v| Some(cast(op, from, to, v)).filter(|c| *c == v)))
    }
}
