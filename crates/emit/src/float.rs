//! Arithmetic on floats (isa/structure.md 7).

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{CastOp, FloatOp, FloatPred, Op, ScalarType};

impl Emitter<'_> {
    fn float_arguments(&self, op: &Op) -> Vec<String> {
        op.operands.iter().map(|o| self.int(o.arg)).collect()
    }

    /// An operation on floats: in binary32, rounded once to its type. No compiler fuses two statements.
    pub(crate) fn float(&mut self, op: &Op, kind: FloatOp) -> Emitted<()> {
        use FloatOp::*;
        let ty = words::scalar_type(self.result_type(op)?, op.span)?;
        let arguments = self.float_arguments(op);
        let f = |n: usize| match (arguments.get(n), ty) {
            (Some(a), "float") => a.clone(),
            (Some(a), _) => format!("static_cast<float>({a})"),
            (None, _) => "0.0f".into(),
        };
        let (a, b) = (f(0), f(1));
        let d = |text: &str| format!("static_cast<double>({text})");
        // The transcendental ones are computed in binary64 and rounded once.
        let wide = |name: &str| format!("static_cast<float>({name}({}))", d(&a));
        let nan = format!("({a} != {a} || {b} != {b})");
        let text = match kind {
            Addf => format!("{a} + {b}"),
            Subf => format!("{a} - {b}"),
            Mulf => format!("{a} * {b}"),
            Divf => format!("{a} / {b}"),
            Remf => format!("__builtin_fmodf({a}, {b})"),
            Negf => format!("-{}", if a.starts_with('-') { format!("({a})") } else { a.clone() }),
            // The larger zero is the positive one; a NaN wins, or loses in the `num` forms.
            Maximumf => {
                format!("{nan} ? {a} + {b} : ({a} > {b} || ({a} == {b} && !__builtin_signbit({a}))) ? {a} : {b}")
            }
            Minimumf => {
                format!("{nan} ? {a} + {b} : ({a} < {b} || ({a} == {b} && __builtin_signbit({a}))) ? {a} : {b}")
            }
            Maxnumf => format!(
                "{a} != {a} ? {b} : {b} != {b} ? {a} : ({a} > {b} || ({a} == {b} && !__builtin_signbit({a}))) ? {a} : {b}"
            ),
            Minnumf => format!(
                "{a} != {a} ? {b} : {b} != {b} ? {a} : ({a} < {b} || ({a} == {b} && __builtin_signbit({a}))) ? {a} : {b}"
            ),
            Sqrt => format!("__builtin_sqrtf({a})"),
            Rsqrt => format!("static_cast<float>(1.0 / __builtin_sqrt({}))", d(&a)),
            Exp => wide("__builtin_exp"),
            Exp2 => wide("__builtin_exp2"),
            Log => wide("__builtin_log"),
            Log2 => wide("__builtin_log2"),
            Powf => format!("static_cast<float>(__builtin_pow({}, {}))", d(&a), d(&b)),
            Fma => format!("__builtin_fmaf({a}, {b}, {})", f(2)),
            Absf => format!("__builtin_fabsf({a})"),
            Floor => format!("__builtin_floorf({a})"),
            Ceil => format!("__builtin_ceilf({a})"),
        };
        let text = if ty == "float" { text } else { format!("static_cast<{ty}>({text})") };
        self.define(op, text)
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
