//! Control flow and arithmetic.

use super::Printer;
use crate::words::{self, ARITH, CASTS, PREDICATES};
use std::fmt::Write;
use tessera_ir::edges::{CONDITION_FLAGS, Control, For, While};
use tessera_ir::{Arg, BlockId, Op, OpKind, Operand, ScalarType, Sign, Type, TypeId};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;

const TILE: &str = "!pto.tile_buf";

impl Printer<'_> {
    /// Everything that is no PTO instruction, up to the first region.
    pub(super) fn flow_or_arith(&mut self, op: &Op) {
        match &op.kind {
            OpKind::Constant(value) => self.constant(op, value),
            OpKind::Arith(kind) => self.same_type(op, words::name_of(ARITH, kind)),
            OpKind::Select => self.same_type(op, "select"),
            OpKind::Cmp(predicate) => {
                let _ = write!(self.out, "arith.cmpi {}, ", words::name_of(PREDICATES, predicate));
                self.operands(&op.operands);
                self.text(" : ");
                self.first_type(op);
            }
            OpKind::Cast(cast) => {
                let _ = write!(self.out, "arith.{} ", words::name_of(CASTS, cast));
                self.operands(&op.operands);
                self.text(" : ");
                self.first_type(op);
                self.text(" to ");
                self.result_types(op);
            }
            OpKind::For | OpKind::While => match Control::of(self.func, op) {
                Ok(Control::For(f)) => self.for_head(op, &f),
                Ok(Control::While(w)) => self.while_head(op, &w),
                _ => {}
            },
            OpKind::If => {
                self.text("scf.if ");
                self.operands(&op.operands);
                if !op.results.is_empty() {
                    self.text(" -> (");
                    self.result_types(op);
                    self.text(")");
                }
            }
            OpKind::Condition => {
                self.text("scf.condition(");
                let (flag, rest) = op.operands.split_at(op.operands.len().min(CONDITION_FLAGS));
                self.operands(flag);
                self.text(")");
                self.values_and_types(rest);
            }
            OpKind::Yield => {
                self.text("scf.yield");
                self.values_and_types(&op.operands);
            }
            OpKind::Return => {
                self.text("return");
                self.values_and_types(&op.operands);
            }
            OpKind::Call(name) => {
                self.text("func.call ");
                self.symbol(*name);
                self.text("(");
                self.operands(&op.operands);
                self.text(") : (");
                self.operand_types(&op.operands);
                self.text(") -> ");
                self.parenthesised_results(op);
            }
            OpKind::Pto(..) | OpKind::Other(_) => {}
        }
        if op.blocks.is_empty() {
            self.other_attrs(op);
        }
    }

    fn other_attrs(&mut self, op: &Op) {
        if let Some(attrs) = op.attrs.as_deref().filter(|a| !a.unknown.is_empty()) {
            self.text(" {");
            self.unknown_attrs(attrs, true);
            self.text("}");
        }
    }

    pub(super) fn operands(&mut self, operands: &[Operand]) {
        self.list(operands.iter().map(|o| o.arg), Self::arg);
    }

    fn operand_types(&mut self, operands: &[Operand]) {
        self.list(operands.iter().map(|o| o.arg), |p, arg| p.arg_type(arg, TILE));
    }

    fn first_type(&mut self, op: &Op) {
        if let Some(operand) = op.operands.first() {
            self.arg_type(operand.arg, TILE);
        }
    }

    pub(super) fn result_types(&mut self, op: &Op) {
        let types = op.results.iter().map(|v| self.func.value(*v).ty);
        self.list(types, |p, ty: TypeId| p.ty(ty, TILE));
    }

    fn parenthesised_results(&mut self, op: &Op) {
        if op.results.len() == 1 {
            self.result_types(op);
        } else {
            self.text("(");
            self.result_types(op);
            self.text(")");
        }
    }

    /// ` %a, %b : T, T`, or nothing.
    fn values_and_types(&mut self, operands: &[Operand]) {
        if !operands.is_empty() {
            self.text(" ");
            self.operands(operands);
            self.text(" : ");
            self.operand_types(operands);
        }
    }

    fn same_type(&mut self, op: &Op, name: &str) {
        let _ = write!(self.out, "arith.{name} ");
        self.operands(&op.operands);
        if let Some(words) = op.attrs.as_deref().map(|a| &a.words).filter(|w| !w.is_empty()) {
            let _ = write!(self.out, " overflow<{}>", words.join(", "));
        }
        self.text(" : ");
        self.result_types(op);
    }

    fn constant(&mut self, op: &Op, value: &Number) {
        self.text("arith.constant ");
        let ty = op.results.first().map(|v| self.func.value(*v).ty);
        let scalar = match ty.map(|id| self.module.types.get(id)) {
            Some(Type::Scalar(s)) => *s,
            _ => ScalarType::Index,
        };
        match (value, scalar) {
            (Number::Int(n), ScalarType::Int(1, Sign::None)) => {
                self.text(if *n == 0 { "false" } else { "true" });
                return;
            }
            (Number::Int(n), ScalarType::Int(bits, Sign::Unsigned)) => {
                let _ = write!(self.out, "{}", n & ((1i128 << bits) - 1));
            }
            (Number::Int(n), _) => {
                let _ = write!(self.out, "{n}");
            }
            (Number::Float(v), ScalarType::Float(elem)) => self.float(*v, elem),
            (Number::Float(v), _) => self.float(*v, Elem::F32),
        }
        self.text(" : ");
        self.result_types(op);
    }

    /// A float that is exact in its type: decimal, or its bits where it is no number.
    fn float(&mut self, v: f64, elem: Elem) {
        if v.is_finite() {
            self.text(&decimal(v));
        } else {
            let bits = elem.encode_exact(&Number::Float(v)).unwrap_or(0);
            let _ = write!(self.out, "0x{bits:X}");
        }
    }

    fn for_head(&mut self, op: &Op, f: &For<'_>) {
        self.text("scf.for ");
        self.name(f.variable);
        for (word, bound) in [(" = ", f.lower), (" to ", f.upper), (" step ", f.step)] {
            self.text(word);
            self.arg(bound);
        }
        if !f.inits.is_empty() {
            self.text(" iter_args(");
            self.list(f.carried.iter().copied().zip(f.inits.iter().map(|i| i.arg)), Self::carried);
            self.text(") -> (");
            self.result_types(op);
            self.text(")");
        }
        let ty = self.func.value(f.variable).ty;
        if *self.module.types.get(ty) != Type::Scalar(ScalarType::Index) {
            self.text(" : ");
            self.ty(ty, TILE);
        }
    }

    fn carried(&mut self, (arg, init): (tessera_ir::ValueId, Arg)) {
        self.name(arg);
        self.text(" = ");
        self.arg(init);
    }

    fn while_head(&mut self, op: &Op, w: &While<'_>) {
        self.text("scf.while");
        if !w.carried.is_empty() {
            self.text(" (");
            self.list(w.carried.iter().copied().zip(w.inits.iter().map(|i| i.arg)), Self::carried);
            self.text(")");
        }
        self.text(" : (");
        self.operand_types(&op.operands);
        self.text(") -> ");
        self.parenthesised_results(op);
    }

    /// The regions of an operation.
    pub(super) fn regions(&mut self, op: &Op) {
        for (n, block) in op.blocks.iter().enumerate() {
            let is_else = n == 1 && op.kind == OpKind::If;
            if is_else && self.func.block(*block).ops.is_empty() {
                continue;
            }
            self.text(match (n, &op.kind) {
                (0, _) => " {",
                (_, OpKind::If) => " else {",
                _ => " do {",
            });
            let is_body = n == 1 && op.kind == OpKind::While;
            self.region(*block, is_body);
        }
        if !op.blocks.is_empty() {
            self.other_attrs(op);
        }
    }

    fn region(&mut self, block: BlockId, labelled: bool) {
        let end = self.block_end(block);
        let body = self.func.block(block);
        let first = body.ops.first().map_or(end, |op| self.func.op(*op).span.start);
        let args = body.args.clone();
        self.indent += 1;
        if labelled && !args.is_empty() {
            self.out.push('\n');
            self.indent -= 1;
            self.margin();
            self.indent += 1;
            self.text("^bb0(");
            self.list(args.iter().copied(), |p, v| {
                p.name(v);
                p.text(": ");
                p.ty(p.func.value(v).ty, TILE);
            });
            self.text("):");
        }
        self.end_line(first);
        self.block(block);
        self.close_block(end);
        self.margin();
        self.text("}");
    }
}

/// A finite float as MLIR reads it: always with a point.
pub(super) fn decimal(v: f64) -> String {
    // The shortest digits that are still the same value; values of narrow types need few.
    let mut text = if f64::from(v as f32) == v { format!("{:?}", v as f32) } else { format!("{v:?}") };
    if !text.contains('.') {
        match text.find('e') {
            Some(at) => text.insert_str(at, ".0"),
            None => text.push_str(".0"),
        }
    }
    text
}
