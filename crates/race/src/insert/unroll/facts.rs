//! Known facts about the numbers in a copy of a loop's body.

use rustc_hash::FxHashMap;
use tessera_ir::scalar::{Constants, compute};
use tessera_ir::{Arg, ArithOp, CmpPred, Func, Module, OpId, OpKind, ScalarType, Type, ValueId};
use tessera_isa::codec::Number;

/// `residue` modulo `modulus`; a modulus of 0 is this number and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    residue: i64,
    modulus: i64,
    /// It is not negative.
    natural: bool,
}

impl Known {
    fn exactly(n: i64) -> Known {
        Known { residue: n, modulus: 0, natural: n >= 0 }
    }

    /// A number that is `residue` more than a multiple of `modulus`.
    pub fn repeating(residue: i64, modulus: i64, natural: bool) -> Known {
        Known { residue: residue.rem_euclid(modulus.max(1)), modulus: modulus.max(1), natural }
    }

    fn exact(self) -> Option<i64> {
        (self.modulus == 0).then_some(self.residue)
    }

    /// Reduced to what a sum or a product still knows.
    fn within(residue: i64, modulus: i64, natural: bool) -> Known {
        match modulus {
            0 => Known { residue, modulus, natural },
            _ => Known::repeating(residue, modulus, natural),
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.saturating_abs() } else { gcd(b, a.wrapping_rem(b)) }
}

/// The facts, by value.
pub struct Facts {
    constants: Constants,
    known: FxHashMap<ValueId, Known>,
}

impl Facts {
    pub fn new(module: &Module, func: &Func) -> Facts {
        Facts { constants: Constants::new(module, func), known: FxHashMap::default() }
    }

    pub fn set(&mut self, value: ValueId, known: Known) {
        self.known.insert(value, known);
    }

    fn get(&self, arg: Arg) -> Option<Known> {
        let constant = || self.constants.get(arg).map(Known::exactly);
        arg.value().and_then(|v| self.known.get(&v).copied()).or_else(constant)
    }

    /// The number, where it is known.
    pub fn exact(&self, arg: Arg) -> Option<i64> {
        self.get(arg)?.exact()
    }

    /// Learns what the result of an operation is.
    pub fn of(&mut self, module: &Module, func: &Func, id: OpId) {
        let op = func.op(id);
        let Some(result) = op.results.first() else { return };
        let exact = match op.kind {
            OpKind::Constant(Number::Int(n)) => i64::try_from(n).ok(),
            _ => compute(module, func, op, |arg| self.exact(arg)).and_then(Result::ok),
        };
        let known = match (exact, &op.kind, op.operands.as_slice()) {
            (Some(n), ..) => Some(Known::exactly(n)),
            (None, OpKind::Arith(kind), [a, b]) if is_index(module, func, *result) => {
                self.get(a.arg).zip(self.get(b.arg)).and_then(|(a, b)| arith(*kind, a, b))
            }
            (None, OpKind::Cmp(pred), [a, b]) => self.get(a.arg).zip(self.get(b.arg)).and_then(|(a, b)| {
                let modulus = gcd(a.modulus, b.modulus);
                let differ = modulus > 0 && a.residue.checked_sub(b.residue)? % modulus != 0;
                match pred {
                    CmpPred::Eq => differ.then_some(Known::exactly(0)),
                    CmpPred::Ne => differ.then_some(Known::exactly(-1)),
                    _ => None,
                }
            }),
            _ => None,
        };
        if let Some(known) = known {
            self.known.insert(*result, known);
        }
    }
}

/// Numbers of fewer bits wrap sooner than counters.
fn is_index(module: &Module, func: &Func, value: ValueId) -> bool {
    matches!(module.types.get(func.value(value).ty), Type::Scalar(ScalarType::Index))
}

fn arith(kind: ArithOp, a: Known, b: Known) -> Option<Known> {
    let modulus = gcd(a.modulus, b.modulus);
    match kind {
        ArithOp::Addi => Some(Known::within(a.residue.checked_add(b.residue)?, modulus, a.natural && b.natural)),
        ArithOp::Subi => Some(Known::within(a.residue.checked_sub(b.residue)?, modulus, false)),
        ArithOp::Muli => {
            let (by, of) = match (a.exact(), b.exact()) {
                (Some(n), _) => (n, b),
                (_, Some(n)) => (n, a),
                _ => return None,
            };
            let modulus = of.modulus.checked_mul(by)?.checked_abs()?;
            Some(Known::within(of.residue.checked_mul(by)?, modulus, a.natural && b.natural))
        }
        ArithOp::Remui | ArithOp::Remsi => {
            let n = b.exact().filter(|n| *n > 0 && a.natural)?;
            (a.modulus % n == 0).then(|| Known::exactly(a.residue.rem_euclid(n)))
        }
        ArithOp::Andi => {
            let n = b.exact().and_then(|n| n.checked_add(1)).filter(|n| *n > 0 && n.count_ones() == 1)?;
            (a.modulus % n == 0).then(|| Known::exactly(a.residue.rem_euclid(n)))
        }
        _ => None,
    }
}
