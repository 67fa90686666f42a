//! Integers: arithmetic, comparisons and conversions in the text's widths, wrapping around.

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Arg, ArithOp, CastOp, CmpPred, Op, OpKind, ScalarType, StackSlots, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{IdArray, Role};

impl Emitter<'_> {
    /// An operand as a C++ expression.
    pub(crate) fn int(&self, arg: Arg) -> String {
        match arg {
            Arg::Int(v) => words::int(v),
            Arg::Value(v) => self.value(v),
        }
    }

    /// A value as a C++ expression: constants are literals.
    pub(crate) fn value(&self, v: ValueId) -> String {
        if let tessera_ir::Def::Result(op, _) = self.func.value(v).def
            && let (OpKind::Constant(number), Type::Scalar(ty)) = (&self.func.op(op).kind, self.ty(v))
            && let Ok(text) = words::constant(number, *ty, self.span(v))
        {
            return text;
        }
        // What constants make is a constant.
        if let (Some(known), Type::Scalar(ty @ (ScalarType::Int(..) | ScalarType::Index))) =
            (self.constants.get(Arg::Value(v)), self.ty(v))
            && let Ok(text) = words::constant(&Number::Int(known.into()), *ty, self.span(v))
        {
            return text;
        }
        self.names.expression(v).to_string()
    }

    pub(crate) fn scalar_of(&self, arg: Arg) -> ScalarType {
        match arg.value().map(|v| self.ty(v)) {
            Some(Type::Scalar(ty)) => *ty,
            _ => ScalarType::Index,
        }
    }

    pub(crate) fn role(&self, op: &Op, role: Role) -> Option<String> {
        op.operand(role).map(|o| self.int(o.arg))
    }

    /// An index; one that is left out is 0.
    pub(crate) fn index(&self, op: &Op, role: Role) -> String {
        self.role(op, role).unwrap_or_else(|| "0".into())
    }

    /// An operand as the type of its text reads it.
    pub(crate) fn signed_or_not(&self, arg: Arg) -> String {
        let (ty, text) = (self.scalar_of(arg), self.int(arg));
        if words::is_unsigned(ty) { format!("static_cast<{}>({text})", words::unsigned_type(ty)) } else { text }
    }

    pub(crate) fn result(&self, op: &Op) -> Emitted<ValueId> {
        let result = op.results.first().copied();
        result.ok_or_else(|| Diagnostic::internal(op.span, "an operation lacks its result"))
    }

    pub(crate) fn result_type(&self, op: &Op) -> Emitted<ScalarType> {
        Ok(self.scalar_of(Arg::Value(self.result(op)?)))
    }

    /// A scalar result with its expression.
    pub(crate) fn define(&mut self, op: &Op, expression: String) -> Emitted<()> {
        let ty = words::scalar_type(self.result_type(op)?, op.span)?;
        self.line(&format!("const {ty} {} = {expression};", self.names.object(self.result(op)?)));
        Ok(())
    }

    fn two(&self, op: &Op) -> (String, String) {
        let arg = |n: usize| op.operands.get(n).map_or_else(|| "0".into(), |o| self.int(o.arg));
        (arg(0), arg(1))
    }

    /// A small array or struct on the stack: C++ arrays, and a variable for each field.
    pub(crate) fn slots(&mut self, op: &Op) -> Emitted<()> {
        let which = op.id_array();
        let array = match which {
            Some(IdArray::Declare) => self.result(op)?,
            _ => op
                .operands
                .first()
                .and_then(|o| o.arg.value())
                .ok_or_else(|| Diagnostic::internal(op.span, "an array lacks its name"))?,
        };
        let shape =
            self.ty(array).stack_slots().ok_or_else(|| cannot(op.span, "this array", "use one of at most 64 ids"))?;
        let name = self.names.object(array).to_string();
        let places: Vec<Arg> = op.places().iter().map(|o| o.arg).collect();
        if which == Some(IdArray::Declare) {
            match &shape {
                StackSlots::Array { dims, elem } => {
                    let ty = words::scalar_type(*elem, op.span)?;
                    let dims: String = dims.iter().map(|n| format!("[{n}]")).collect();
                    self.line(&format!("{ty} {name}{dims} = {{}};"));
                }
                StackSlots::Struct(fields) => {
                    let mut types = Vec::new();
                    flatten(fields, &mut types);
                    for (n, ty) in types.into_iter().enumerate() {
                        let ty = words::scalar_type(ty, op.span)?;
                        self.line(&format!("[[maybe_unused]] {ty} {name}_{n} = {{}};"));
                    }
                }
            }
            return Ok(());
        }
        let place = match &shape {
            StackSlots::Array { .. } => {
                let indices: String = places.iter().map(|arg| format!("[{}]", self.int(*arg))).collect();
                format!("{name}{indices}")
            }
            StackSlots::Struct(_) => {
                let path: Option<Vec<i64>> = places.iter().map(|arg| self.constant(*arg)).collect();
                let field = path.and_then(|path| shape.field(&path)).map(|(n, _)| n);
                let field =
                    field.ok_or_else(|| cannot(op.span, "a field that is computed", "name it with constants"))?;
                format!("{name}_{field}")
            }
        };
        match which {
            Some(IdArray::Set) => {
                let value = op.operands.last().map(|o| self.int(o.arg)).unwrap_or_default();
                self.line(&format!("{place} = {value};"));
                Ok(())
            }
            _ if op.results.iter().all(|v| !self.needed[v.index()]) => Ok(()),
            _ => self.define(op, place),
        }
    }

    pub(crate) fn arith(&mut self, op: &Op, kind: ArithOp) -> Emitted<()> {
        use ArithOp::*;
        let (a, b) = self.two(op);
        let ty = self.result_type(op)?;
        let signed = words::scalar_type(ty, op.span)?;
        if signed == "bool" && !matches!(kind, Andi | Ori | Xori) {
            return Err(cannot(op.span, "this arithmetic on i1", "use arith.select, or a wider type"));
        }
        let unsigned = words::unsigned_type(ty);
        let natural = |x: &str| format!("static_cast<{unsigned}>({x})");
        let cast = |text: String| format!("static_cast<{signed}>({text})");
        // Sums wrap around; unsigned arithmetic says so. An index is plainly an index.
        let wraps = |sign: &str| match ty {
            ScalarType::Index => format!("{a} {sign} {b}"),
            _ => cast(format!("static_cast<uint64_t>({a}) {sign} static_cast<uint64_t>({b})")),
        };
        let plain = |sign: &str| cast(format!("{a} {sign} {b}"));
        let naturals = |sign: &str| format!("{} {sign} {}", natural(&a), natural(&b));
        let text = match kind {
            Addi => wraps("+"),
            Subi => wraps("-"),
            Muli => wraps("*"),
            // A quotient that is cut off toward zero is one too small, or too large, where something is left.
            Ceildivsi => cast(format!("{a} / {b} + ({a} % {b} != 0 && ({a} < 0) == ({b} < 0) ? 1 : 0)")),
            Floordivsi => cast(format!("{a} / {b} - ({a} % {b} != 0 && ({a} < 0) != ({b} < 0) ? 1 : 0)")),
            Ceildivui => {
                let (a, b) = (natural(&a), natural(&b));
                cast(format!("{a} / {b} + ({a} % {b} != 0 ? 1 : 0)"))
            }
            Absi => cast(format!("{a} < 0 ? 0 - static_cast<uint64_t>({a}) : static_cast<uint64_t>({a})")),
            Divsi => plain("/"),
            Remsi => plain("%"),
            Divui => cast(naturals("/")),
            Remui => cast(naturals("%")),
            Minsi => format!("{a} < {b} ? {a} : {b}"),
            Maxsi => format!("{a} > {b} ? {a} : {b}"),
            Minui => format!("{} ? {a} : {b}", naturals("<")),
            Maxui => format!("{} ? {a} : {b}", naturals(">")),
            Andi => plain("&"),
            Ori => plain("|"),
            Xori => plain("^"),
            Shli => cast(format!("static_cast<uint64_t>({a}) << {b}")),
            Shrsi => plain(">>"),
            Shrui => cast(format!("{} >> {b}", natural(&a))),
        };
        self.define(op, text)
    }

    pub(crate) fn compare(&mut self, op: &Op, pred: CmpPred) -> Emitted<()> {
        use CmpPred::*;
        let (a, b) = self.two(op);
        let values = op.operands.iter().map(|o| o.arg).find(|a| a.value().is_some());
        let ty = values.map_or(ScalarType::Index, |a| self.scalar_of(a));
        let signed = words::scalar_type(ty, op.span)?;
        if signed == "bool" && !matches!(pred, Eq | Ne) {
            return Err(cannot(op.span, "an order of two i1", "compare wider integers"));
        }
        let sign = match pred {
            Eq => "==",
            Ne => "!=",
            Slt | Ult => "<",
            Sle | Ule => "<=",
            Sgt | Ugt => ">",
            Sge | Uge => ">=",
        };
        let natural = |x: &str| format!("static_cast<{}>({x})", words::unsigned_type(ty));
        // Nothing unsigned is below 0; compilers warn about asking.
        let text = match pred {
            Uge if b == "0" => "true".into(),
            Ult if b == "0" => "false".into(),
            Ule if a == "0" => "true".into(),
            Ugt if a == "0" => "false".into(),
            Ult | Ule | Ugt | Uge => format!("{} {sign} {}", natural(&a), natural(&b)),
            _ => format!("{a} {sign} {b}"),
        };
        self.define(op, text)
    }

    pub(crate) fn cast(&mut self, op: &Op, kind: CastOp) -> Emitted<()> {
        let (a, _) = self.two(op);
        let from = op.operands.first().map_or(ScalarType::Index, |o| self.scalar_of(o.arg));
        let to = self.result_type(op)?;
        let target = words::scalar_type(to, op.span)?;
        let zero_extends = matches!(kind, CastOp::Extui | CastOp::IndexCastui);
        let text = match (from.bits(), to.bits()) {
            // The one bit of i1 is its sign.
            (1, _) if !zero_extends => format!("static_cast<{target}>({a} ? -1 : 0)"),
            (1, _) => format!("static_cast<{target}>({a} ? 1 : 0)"),
            (_, 1) => format!("({a} & 1) != 0"),
            _ if zero_extends => format!("static_cast<{target}>(static_cast<{}>({a}))", words::unsigned_type(from)),
            _ => format!("static_cast<{target}>({a})"),
        };
        self.define(op, text)
    }
}

/// The scalars of a struct, in order.
fn flatten(fields: &[tessera_ir::Field], out: &mut Vec<ScalarType>) {
    for field in fields {
        match field {
            tessera_ir::Field::Scalar(ty) => out.push(*ty),
            tessera_ir::Field::Struct(inner) => flatten(inner, out),
        }
    }
}
