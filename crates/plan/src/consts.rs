//! Integers that are known without running: addresses of manual tiles.

use tessera_ir::{Arg, ArithOp, Func, OpKind};
use tessera_isa::codec::Number;

/// By value: the integer, where constants and sums of constants tell it.
pub fn constants(func: &Func) -> Vec<Option<i128>> {
    let mut known: Vec<Option<i128>> = vec![None; func.values.len()];
    func.walk(&mut |_, op, _| {
        let value = match &op.kind {
            OpKind::Constant(Number::Int(v)) => Some(*v),
            OpKind::Arith(kind) => {
                let side = |n: usize| op.operands.get(n).and_then(|o| known_arg(&known, o.arg));
                side(0).zip(side(1)).and_then(|(a, b)| match kind {
                    ArithOp::Addi => a.checked_add(b),
                    ArithOp::Subi => a.checked_sub(b),
                    ArithOp::Muli => a.checked_mul(b),
                    _ => None,
                })
            }
            OpKind::Cast(_) => op.operands.first().and_then(|o| known_arg(&known, o.arg)),
            _ => None,
        };
        if let (Some(v), Some(result)) = (value, op.results.first()) {
            // A sum that leaves 64 bits wraps when it runs; such an address is not known here.
            known[result.index()] = i64::try_from(v).ok().map(i128::from);
        }
    });
    known
}

/// The integer of an operand, where it is known.
pub fn known_arg(known: &[Option<i128>], arg: Arg) -> Option<i128> {
    match arg {
        Arg::Int(v) => Some(v.into()),
        Arg::Value(v) => known.get(v.index()).copied().flatten(),
    }
}
