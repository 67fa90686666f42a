//! Counters of loops, and the constants that they are compared with (sync.md 9).

use super::PathWalk;
use tessera_ir::edges::{For, While};
use tessera_ir::{Arg, ArithOp, BlockId, Def, OpKind, ValueId};

/// A value that is `first + step · i` in iteration i.
pub(super) struct Counter {
    value: ValueId,
    first: i64,
    step: i64,
}

impl PathWalk<'_> {
    /// The counters of `scf.for`: its induction variable, and carried values that count too.
    pub(super) fn counters(&self, f: &For<'_>, start: Option<(i64, i64)>) -> Vec<Counter> {
        let variable = start.map(|(first, step)| Counter { value: f.variable, first, step });
        let mut counters: Vec<Counter> = variable.into_iter().collect();
        for ((value, init), next) in f.carried.iter().zip(f.inits).zip(f.yields) {
            let own = self.known_at(init.arg).zip(self.step(next.arg, *value));
            // A function of the induction variable of the previous iteration.
            let before = self.linear(next.arg, f.variable, 0).zip(start).map(|((factor, plus), (first, step))| {
                let by = factor.wrapping_mul(step);
                (factor.wrapping_mul(first).wrapping_add(plus).wrapping_sub(by), by)
            });
            counters.extend(own.or(before).map(|(first, step)| Counter { value: *value, first, step }));
        }
        counters
    }

    /// The carried values of `scf.while` that count.
    pub(super) fn while_counters(&self, w: &While<'_>) -> Vec<Counter> {
        let mut counters = Vec::new();
        for ((carried, init), next) in w.carried.iter().zip(w.inits).zip(w.yields) {
            for (taken, handed) in w.taken.iter().zip(w.handed) {
                let steps = self.step(handed.arg, *carried).zip(self.step(next.arg, *taken));
                let (Some((plus, more)), Some(first)) = (steps, self.known_at(init.arg)) else { continue };
                let step = plus.wrapping_add(more);
                counters.push(Counter { value: *carried, first, step });
                counters.push(Counter { value: *taken, first: first.wrapping_add(plus), step });
            }
        }
        counters
    }

    /// The iterations up to a constant that a counter is compared with are looked at one by one.
    pub(super) fn peeled(&self, blocks: &[BlockId], counters: &[Counter]) -> u64 {
        let func = self.subject.func;
        let (mut peeled, mut blocks) = (0, blocks.to_vec());
        while let Some(block) = blocks.pop() {
            for id in &func.block(block).ops {
                let op = func.op(*id);
                blocks.extend(&op.blocks);
                let (OpKind::Cmp(_), [a, b]) = (&op.kind, op.operands.as_slice()) else { continue };
                for (side, other) in [(a.arg, b.arg), (b.arg, a.arg)] {
                    let Some(k) = self.state.constants.get(other) else { continue };
                    for counter in counters {
                        let Some((factor, plus)) = self.linear(side, counter.value, 0) else { continue };
                        let at = k.saturating_sub(plus).checked_div(factor).unwrap_or(0).saturating_sub(counter.first);
                        let at = at.checked_div(counter.step).unwrap_or(0);
                        peeled = peeled.max(u64::try_from(at.saturating_add(1)).unwrap_or(0));
                    }
                }
            }
        }
        peeled
    }

    /// The difference of this value from another one, if it is a constant.
    fn step(&self, arg: Arg, value: ValueId) -> Option<i64> {
        self.linear(arg, value, 0).filter(|(factor, _)| *factor == 1).map(|(_, plus)| plus)
    }

    /// `factor · counter + constant`, where a value is that.
    fn linear(&self, arg: Arg, variable: ValueId, depth: u32) -> Option<(i64, i64)> {
        let value = arg.value()?;
        if value == variable {
            return Some((1, 0));
        }
        let Def::Result(op, _) = self.subject.func.value(value).def else { return None };
        let op = self.subject.func.op(op);
        if depth > 8 {
            return None;
        }
        let side = |n: usize| op.operands.get(n).map(|o| o.arg);
        let of = |n: usize| self.linear(side(n)?, variable, depth + 1);
        let constant = |n: usize| self.state.constants.get(side(n)?);
        match &op.kind {
            OpKind::Cast(_) => of(0),
            OpKind::Arith(ArithOp::Addi) => match (of(0), constant(1)) {
                (Some((f, c)), Some(n)) => Some((f, c.wrapping_add(n))),
                _ => of(1).zip(constant(0)).map(|((f, c), n)| (f, c.wrapping_add(n))),
            },
            OpKind::Arith(ArithOp::Subi) => of(0).zip(constant(1)).map(|((f, c), n)| (f, c.wrapping_sub(n))),
            OpKind::Arith(ArithOp::Muli) => {
                let (f, n) = of(0).zip(constant(1)).or_else(|| of(1).zip(constant(0)))?;
                Some((f.0.wrapping_mul(n), f.1.wrapping_mul(n)))
            }
            _ => None,
        }
    }
}
