//! Control flow and arithmetic.

use super::Printer;
use tessera_ir::edges::{CONDITION_FLAGS, Control, For, While};
use tessera_ir::{ArithOp, BlockId, Op, OpKind, Operand, ScalarType, Sign, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;

impl Printer<'_> {
    /// Everything that is no PTO instruction, up to the first region.
    pub(super) fn flow_or_arith(&mut self, op: &Op) -> &mut Self {
        match &op.kind {
            OpKind::Constant(value) => self.constant(op, value),
            OpKind::Dense(all) => {
                self.text("arith.constant dense<[");
                for (n, value) in all.iter().enumerate() {
                    self.text(if n == 0 { "" } else { ", " }).text(&match value {
                        Number::Int(v) => v.to_string(),
                        Number::Float(v) => decimal(*v),
                    });
                }
                self.text("]> : ").result_types(op)
            }
            OpKind::Arith(ArithOp::Absi) => self.same_type(op, "math.absi"),
            OpKind::Arith(kind) => self.same_type(op, &format!("arith.{}", kind.name())),
            OpKind::Float(kind) => self.same_type(op, kind.name()),
            OpKind::Select => self.same_type(op, "arith.select"),
            OpKind::CmpFloat(predicate) => {
                write!(self, "arith.cmpf {}, ", predicate.name()).operands(&op.operands);
                self.first_type(op)
            }
            OpKind::Cmp(predicate) => {
                write!(self, "arith.cmpi {}, ", predicate.name()).operands(&op.operands);
                self.first_type(op)
            }
            OpKind::Cast(cast) => {
                write!(self, "arith.{} ", cast.name()).operands(&op.operands);
                self.first_type(op).text(" to ").result_types(op)
            }
            OpKind::For | OpKind::While => match Control::of(self.func, op) {
                Ok(Control::For(f)) => self.for_head(op, &f),
                Ok(Control::While(w)) => self.while_head(op, &w),
                _ => self,
            },
            OpKind::If if op.scope_word().is_some() => self.scope_head(op),
            OpKind::If if op.results.is_empty() => self.text("scf.if ").operands(&op.operands),
            OpKind::If => self.text("scf.if ").operands(&op.operands).text(" -> (").result_types(op).text(")"),
            OpKind::Condition => {
                let (flag, rest) = op.operands.split_at(op.operands.len().min(CONDITION_FLAGS));
                self.text("scf.condition(").operands(flag).text(")").values_and_types(rest)
            }
            OpKind::Yield => self.text("scf.yield").values_and_types(&op.operands),
            OpKind::Return => self.text("return").values_and_types(&op.operands),
            OpKind::Call(name) => {
                let callee = self.module.names.text(*name);
                self.text("func.call ").symbol(callee).text("(").operands(&op.operands).text(") : (");
                self.operand_types(&op.operands).text(") -> ").parenthesised_results(op)
            }
            OpKind::Pto(..) | OpKind::Micro(_) | OpKind::Other(_) => self,
        };
        if op.blocks.is_empty() { self.unknown_attrs(op, " {", "}") } else { self }
    }

    /// ` : T`, the type of the first operand.
    pub(super) fn first_type(&mut self, op: &Op) -> &mut Self {
        self.text(" : ").operand_types(op.operands.get(..1).unwrap_or_default())
    }

    fn parenthesised_results(&mut self, op: &Op) -> &mut Self {
        if op.results.len() == 1 { self.result_types(op) } else { self.text("(").result_types(op).text(")") }
    }

    /// ` %a, %b : T, T`, or nothing.
    fn values_and_types(&mut self, operands: &[Operand]) -> &mut Self {
        if operands.is_empty() {
            return self;
        }
        self.text(" ").operands(operands).text(" : ").operand_types(operands)
    }

    fn same_type(&mut self, op: &Op, name: &str) -> &mut Self {
        write!(self, "{name} ").operands(&op.operands);
        if let Some(words) = op.attrs.as_deref().map(|a| &a.words).filter(|w| !w.is_empty()) {
            write!(self, " overflow<{}>", words.join(", "));
        }
        self.text(" : ").result_types(op)
    }

    fn constant(&mut self, op: &Op, value: &Number) -> &mut Self {
        self.text("arith.constant ");
        let ty = op.results.first().map(|v| self.func.value(*v).ty);
        let scalar = match ty.map(|id| self.module.types.get(id)) {
            Some(Type::Scalar(s)) => *s,
            _ => ScalarType::Index,
        };
        match (value, scalar) {
            (Number::Int(n), ScalarType::Int(1, Sign::None)) => {
                return self.text(if *n == 0 { "false" } else { "true" });
            }
            (Number::Int(n), ScalarType::Int(bits, Sign::Unsigned)) => write!(self, "{}", n & ((1i128 << bits) - 1)),
            (Number::Int(n), _) => write!(self, "{n}"),
            (Number::Float(v), _) if v.is_finite() => self.text(&decimal(*v)),
            // The bits of what is no number.
            (Number::Float(_), ScalarType::Float(elem)) => {
                write!(self, "0x{:X}", elem.encode_exact(value).unwrap_or(0))
            }
            (Number::Float(_), _) => write!(self, "0x{:X}", Elem::F32.encode_exact(value).unwrap_or(0)),
        };
        self.text(" : ").result_types(op)
    }

    fn for_head(&mut self, op: &Op, f: &For<'_>) -> &mut Self {
        self.text("scf.for ").name(f.variable);
        for (word, bound) in [(" = ", f.lower), (" to ", f.upper), (" step ", f.step)] {
            self.text(word).arg(bound);
        }
        if !f.inits.is_empty() {
            self.text(" iter_args(").carried(f.carried, f.inits).text(") -> (").result_types(op).text(")");
        }
        let ty = self.func.value(f.variable).ty;
        let is_index = *self.module.types.get(ty) == Type::Scalar(ScalarType::Index);
        if is_index { self } else { self.text(" : ").ty(ty) }
    }

    fn carried(&mut self, names: &[ValueId], inits: &[Operand]) -> &mut Self {
        self.list(names.iter().zip(inits), |p, (name, init)| p.name(*name).text(" = ").arg(init.arg))
    }

    fn while_head(&mut self, op: &Op, w: &While<'_>) -> &mut Self {
        self.text("scf.while");
        if !w.carried.is_empty() {
            self.text(" (").carried(w.carried, w.inits).text(")");
        }
        self.text(" : (").operand_types(&op.operands).text(") -> ").parenthesised_results(op)
    }

    pub(super) fn regions(&mut self, op: &Op) {
        for (n, block) in op.blocks.iter().enumerate() {
            let word = match (n, &op.kind) {
                (0, _) => " {",
                (_, OpKind::If) if self.func.block(*block).ops.is_empty() => continue,
                (_, OpKind::If) => " else {",
                _ => " do {",
            };
            self.text(word);
            if n == 0 {
                self.scope_label(op);
            }
            self.region(*block, n == 1 && op.kind == OpKind::While);
        }
        self.scope_types(op);
        if !op.blocks.is_empty() {
            self.unknown_attrs(op, " {", "}");
        }
    }

    fn region(&mut self, block: BlockId, labelled: bool) {
        let end = self.block_end(block);
        let body = self.func.block(block);
        if labelled && !body.args.is_empty() {
            self.text("\n").margin().text("^bb0(");
            let func = self.func;
            self.list(&body.args, |p, v| p.name(*v).text(": ").type_of(*v).loc(func.arg_loc(*v))).text("):");
        }
        self.end_line(body.ops.first().map_or(end, |op| self.func.op(*op).span.start));
        self.indent += 1;
        self.block(block);
        self.close_block(end);
        self.margin().text("}");
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
