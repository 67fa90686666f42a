//! Widening: the values derived from a loop bound that stands for greater ones, too (sync.md 4).
//!
//! On the path with the greatest trip count that is tried, the loop bound stands for every greater number that the
//! period leads to. Values computed from it have a value on the path, which addresses and ids of flags take. If such a
//! value is compared, or bounds another loop, the greater values are explored as well.

use super::{PathWalk, Value};
use crate::linear_expr::{Expr, LinearExpr};
use tessera_absint::Val;
use tessera_ir::scalar;
use tessera_ir::{ArithOp, Op, OpKind, ValueId};

/// A symbol that stands for greater numbers than its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Widened {
    /// The greatest value that was tried.
    pub most: i64,
    /// The distance between the numbers that it stands for.
    pub period: u64,
}

impl PathWalk<'_> {
    fn is_endless(&self, form: &LinearExpr) -> bool {
        form.terms.iter().any(|(symbol, _)| self.endless.contains_key(symbol))
    }

    /// The result of an operation on such a number: a linear expression of the symbol itself if the operation is
    /// linear, else a symbol that stands for greater values as well. `None` if greater values add nothing new.
    pub(super) fn derived(&mut self, op: &Op) -> Option<LinearExpr> {
        if self.endless.is_empty() || self.subject.costs.is_some() {
            return None;
        }
        let side = |n: usize| op.operands.get(n).and_then(|o| self.raw(o.arg));
        let (a, b) = (side(0)?, side(1));
        if !self.is_endless(&a) && !b.as_ref().is_some_and(|b| self.is_endless(b)) {
            return None;
        }
        let (from, to) = scalar::widths(self.subject.module, self.subject.func, op);
        let kind = match &op.kind {
            // Indices are taken to fit their types.
            OpKind::Cast(_) => return (from > 1 && to > 1).then_some(a),
            OpKind::Arith(kind) => *kind,
            _ => return None,
        };
        let b = b?;
        let is_rising = match (kind, a.known(), b.known()) {
            // These take turns, as the period does.
            (ArithOp::Remui | ArithOp::Remsi | ArithOp::Andi, ..) => return None,
            (ArithOp::Addi | ArithOp::Subi, ..) => return Some(self.symbols.arith(kind, to, &a, &b)),
            (ArithOp::Muli, Some(_), _) | (ArithOp::Muli | ArithOp::Shli, _, Some(_)) => {
                return Some(self.symbols.arith(kind, to, &a, &b));
            }
            (ArithOp::Divui | ArithOp::Divsi | ArithOp::Shrui | ArithOp::Shrsi, _, Some(n)) => n >= 0,
            (ArithOp::Ceildivui | ArithOp::Ceildivsi | ArithOp::Floordivsi, _, Some(n)) => n >= 0,
            (ArithOp::Maxsi | ArithOp::Maxui | ArithOp::Minsi | ArithOp::Minui, ..) => true,
            _ => false,
        };
        let computed = scalar::compute(self.subject.module, self.subject.func, op, |arg| self.known_at(arg));
        let value = computed?.ok()?;
        let form = self.symbols.of(Expr::Arith(kind, to, a, b));
        self.stand_for_more(&form, value, if is_rising { value } else { i64::MIN }, 1);
        Some(form)
    }

    fn stand_for_more(&mut self, form: &LinearExpr, value: i64, most: i64, period: u64) {
        if let [(symbol, 1)] = form.terms.as_slice() {
            self.bound.insert(*symbol, value);
            self.endless.insert(*symbol, Widened { most, period });
        }
    }

    /// Whether this compares such a number with more than it was tried for. The outcome is then unknown, whatever the
    /// path assumes.
    pub(super) fn is_beyond(&self, a: &LinearExpr, b: &LinearExpr) -> bool {
        let difference = a.minus(b);
        let [(symbol, factor)] = difference.terms.as_slice() else { return false };
        let with = difference.constant.wrapping_neg().checked_div_euclid(*factor);
        self.endless.get(symbol).zip(with).is_some_and(|(endless, with)| with > endless.most)
    }

    /// A carried value that counted the loop's iterations stands for greater values if the loop does.
    pub(super) fn carried_on(&mut self, results: &[ValueId], before: &[Value], after: &mut [Value], period: u64) {
        if self.trial > 0 || self.subject.costs.is_some() {
            return;
        }
        for ((result, before), after) in results.iter().zip(before).zip(after) {
            let number = |val: &Value| match val {
                Val::Scalar(form) => form.with(&self.bound).known(),
                _ => None,
            };
            if let Some((_, new)) = number(before).zip(number(after)).filter(|(old, new)| old < new) {
                let form = self.symbols.of(Expr::Value(*result));
                self.stand_for_more(&form, new, new, period);
                *after = Val::Scalar(form);
            }
        }
    }

    /// By how much the count of a loop grows at a time where one of its bounds stands for more.
    pub(super) fn stride(&self, [lower, upper, step]: &[LinearExpr; 3]) -> Option<u64> {
        // Inside a loop its bound is what it is.
        if self.subject.costs.is_some()
            || !self.is_endless(&upper.minus(lower))
            || self.bounds_around(&upper.minus(lower)).is_some()
        {
            return None;
        }
        let over = upper.minus(lower);
        let ([(symbol, factor)], Some(step)) = (over.terms.as_slice(), step.known()) else { return Some(1) };
        // A bound that falls bounds fewer iterations.
        let by = i64::try_from(self.endless.get(symbol)?.period).ok()?.checked_mul(*factor)?;
        (by > 0 && step > 0).then(|| if by % step == 0 { (by / step) as u64 } else { 1 })
    }
}
