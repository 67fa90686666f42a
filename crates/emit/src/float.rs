//! Arithmetic on floats: the library computes it, so that no compiler fuses or widens anything (isa/structure.md 7).

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{CastOp, FloatOp, FloatPred, Op, ScalarType};

impl Emitter<'_> {
    fn float_arguments(&self, op: &Op) -> Vec<String> {
        op.operands.iter().map(|o| self.int(o.arg)).collect()
    }

    /// A call of the library's operation.
    pub(crate) fn float(&mut self, op: &Op, kind: FloatOp) -> Emitted<()> {
        let ty = words::scalar_type(self.result_type(op)?, op.span)?;
        let arguments = self.float_arguments(op);
        let given: Vec<&str> = arguments.iter().take(kind.arity()).map(String::as_str).collect();
        let name = format!("{kind:?}").to_uppercase();
        self.define(op, format!("HostFloat<{ty}>(TESSERA_FLOAT_OP_{name}, {})", given.join(", ")))
    }

    /// A comparison; floats of 16 bits are compared as the numbers that they are.
    pub(crate) fn compare_floats(&mut self, op: &Op, pred: FloatPred) -> Emitted<()> {
        use FloatPred::*;
        let arguments = self.float_arguments(op);
        let float = |n: usize| arguments.get(n).map_or_else(|| "0.0f".into(), |a| format!("static_cast<float>({a})"));
        let (a, b) = (float(0), float(1));
        let text = match pred {
            False => "false".into(),
            True => "true".into(),
            Ord => format!("{a} == {a} && {b} == {b}"),
            Uno => format!("{a} != {a} || {b} != {b}"),
            Oeq => format!("{a} == {b}"),
            Ogt => format!("{a} > {b}"),
            Oge => format!("{a} >= {b}"),
            Olt => format!("{a} < {b}"),
            Ole => format!("{a} <= {b}"),
            One => format!("{a} < {b} || {a} > {b}"),
            Ueq => format!("!({a} < {b} || {a} > {b})"),
            Ugt => format!("!({a} <= {b})"),
            Uge => format!("!({a} < {b})"),
            Ult => format!("!({a} >= {b})"),
            Ule => format!("!({a} > {b})"),
            Une => format!("{a} != {b}"),
        };
        self.define(op, text)
    }

    /// A conversion from, to or between floats.
    pub(crate) fn cast_float(&mut self, op: &Op, kind: CastOp) -> Emitted<()> {
        let arguments = self.float_arguments(op);
        let a = arguments.first().cloned().unwrap_or_default();
        let from = op.operands.first().map_or(ScalarType::Index, |o| self.scalar_of(o.arg));
        let to = self.result_type(op)?;
        let target = words::scalar_type(to, op.span)?;
        let text = match kind {
            CastOp::Bitcast => format!("__builtin_bit_cast({target}, {a})"),
            CastOp::Extf | CastOp::Truncf => format!("static_cast<{target}>(static_cast<float>({a}))"),
            CastOp::Fptosi => format!("static_cast<{target}>(static_cast<float>({a}))"),
            CastOp::Fptoui => {
                format!("static_cast<{target}>(static_cast<{}>(static_cast<float>({a})))", words::unsigned_type(to))
            }
            CastOp::Sitofp | CastOp::Uitofp if from.bits() > 32 && target != "float" => {
                let what = format!("an integer of {} bits as {target}", from.bits());
                return Err(cannot(op.span, what, "convert it to f32 first"));
            }
            // Binary64 has every integer of 32 bits, and f32 is rounded once from any integer.
            CastOp::Sitofp if target == "float" => format!("static_cast<float>({a})"),
            CastOp::Uitofp if target == "float" => {
                format!("static_cast<float>(static_cast<{}>({a}))", words::unsigned_type(from))
            }
            CastOp::Sitofp => format!("static_cast<{target}>(static_cast<double>({a}))"),
            _ => {
                format!("static_cast<{target}>(static_cast<double>(static_cast<{}>({a})))", words::unsigned_type(from))
            }
        };
        self.define(op, text)
    }
}
