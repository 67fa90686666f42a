//! The parts of a program around the instructions: tiles, global memory, order, arithmetic.

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Arg, ArithOp, CastOp, CmpPred, Op, OpId, OpKind, ScalarType, Type, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Form, Opcode, Role, Text};
use tessera_isa::sem::Sem;
use tessera_isa::tile::Extent;

const PIPES: &[&str] = &["PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX", "PIPE_ALL"];

/// A Shape or Stride and its type: numbers are part of the type, everything else is given to its constructor.
fn list(name: &str, items: &[String]) -> (String, String) {
    let is_number = |s: &&String| s.parse::<i64>().is_ok_and(|n| n != -1);
    let types: Vec<&str> = items.iter().map(|s| if is_number(&s) { s.as_str() } else { "-1" }).collect();
    let given: Vec<&str> = items.iter().filter(|s| !is_number(s)).map(String::as_str).collect();
    let ty = format!("{name}<{}>", types.join(", "));
    (format!("{ty}({})", given.join(", ")), ty)
}

/// A GlobalTensor.
pub(crate) fn tensor(elem: Elem, tag: &str, shape: &[String], strides: &[String], data: &str) -> String {
    let ((shape, shape_type), (stride, stride_type)) = (list("Shape", shape), list("Stride", strides));
    let cpp = elem.cpp();
    format!("GlobalTensor<{cpp}, {shape_type}, {stride_type}, Layout::{tag}>({data}, {shape}, {stride})")
}

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

    fn numbers(&self, op: &Op) -> Vec<String> {
        op.operands.iter().filter(|o| o.role == Role::Number).map(|o| self.int(o.arg)).collect()
    }

    /// The pointer, view or memref of an operation, with its element type.
    pub(crate) fn global_operand(&self, op: &Op) -> Emitted<(ValueId, Elem)> {
        let found = op.values().find_map(|v| Some((v, self.ty(v).global_elem()?)));
        found.ok_or_else(|| Diagnostic::internal(op.span, "an operation lacks its global memory"))
    }

    /// An operand as the type of its text reads it.
    pub(crate) fn signed_or_not(&self, arg: Arg) -> String {
        let (ty, text) = (self.scalar_of(arg), self.int(arg));
        if words::is_unsigned(ty) { format!("static_cast<{}>({text})", words::unsigned_type(ty)) } else { text }
    }

    /// An instruction of the table.
    pub(crate) fn pto(&mut self, id: OpId, op: &Op, opcode: Opcode, form: Form) -> Emitted<()> {
        match opcode.info().text {
            Text::Alloc => self.alloc(op),
            Text::Assign => self.assign(id, op),
            Text::SetValid => {
                let tile = self.tile(op, Role::Tile)?;
                self.set_valid(&tile, op);
                Ok(())
            }
            Text::MakeView => self.make_view(op),
            Text::Partition => self.partition(op),
            Text::AddPtr => self.addptr(op),
            Text::LoadScalar | Text::StoreScalar => self.scalar_access(op, opcode),
            Text::Number => {
                let name = match opcode {
                    Opcode::GetBlockIdx => "block_idx",
                    Opcode::GetBlockNum => "block_num",
                    Opcode::GetSubblockIdx => "0",
                    _ => "1",
                };
                self.names.stands_for(self.result(op)?, name.into());
                Ok(())
            }
            Text::Address(_) | Text::Dim | Text::Extents(_) | Text::Print | Text::Pipe(_) => {
                Err(cannot(op.span, format!("pto.{opcode}"), "take it out of the program"))
            }
            Text::AsWritten => {
                self.order(op, opcode);
                Ok(())
            }
            Text::Ignored | Text::Hint(_) => Ok(()),
            _ if matches!(opcode.info().sem, Sem::Prints) => {
                let tile = self.tile(op, Role::Tile).or_else(|_| self.tile(op, Role::Src))?;
                self.line(&format!("TPRINT({tile});"));
                Ok(())
            }
            _ => self.instruction(op, opcode, form),
        }
    }

    /// Flags and barriers; instructions run in the order of the text, so there is nothing else to wait for.
    fn order(&mut self, op: &Op, opcode: Opcode) {
        let words = op.attrs.as_ref().map_or(&[][..], |a| &a.words);
        let is_pipe = |word: &&String| PIPES.contains(&word.as_str());
        match (opcode, words) {
            (Opcode::SetFlag | Opcode::WaitFlag, [from, to, event])
                if is_pipe(&from) && is_pipe(&to) && event.starts_with("EVENT_ID") =>
            {
                let name = if opcode == Opcode::SetFlag { "set_flag" } else { "wait_flag" };
                self.line(&format!("{name}({from}, {to}, {event});"));
            }
            (Opcode::Barrier, _) => {
                let pipe = words.first().filter(is_pipe).map_or("PIPE_ALL", |w| w);
                self.line(&format!("pipe_barrier({pipe});"));
            }
            _ => {}
        }
    }

    fn alloc(&mut self, op: &Op) -> Emitted<()> {
        let tile = self.result(op)?;
        self.declare(tile)?;
        let name = self.names.object(tile).to_string();
        match op.operand(Role::Addr) {
            Some(addr) => self.line(&format!("TASSIGN({name}, {});", self.address(addr.arg))),
            None => self.place(tile),
        }
        self.set_valid(&name, op);
        Ok(())
    }

    fn set_valid(&mut self, tile: &str, op: &Op) {
        match (self.role(op, Role::ValidRow), self.role(op, Role::ValidCol)) {
            (Some(r), Some(c)) => self.line(&format!("{tile}.SetValidShape({r}, {c});")),
            (Some(r), None) => self.line(&format!("{tile}.SetValidRow({r});")),
            (None, Some(c)) => self.line(&format!("{tile}.SetValidCol({c});")),
            (None, None) => {}
        }
    }

    /// Sets the extents of a tile that its type leaves open.
    pub(crate) fn set_dynamic(&mut self, value: ValueId, rows: &str, cols: &str) {
        let Some(t) = self.ty(value).tile().copied() else { return };
        for (extent, name, text) in [(t.v_row, "Row", rows), (t.v_col, "Col", cols)] {
            if extent == Extent::Dynamic {
                self.line(&format!("{}.SetValid{name}({text});", self.names.object(value)));
            }
        }
    }

    fn assign(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        let expression = self.tile(op, Role::Tile)?;
        // A tile that does not exist yet is bound where it begins.
        if !self.early.iter().any(|(_, early, _)| *early == id)
            && let Some(addr) = op.operand(Role::Addr)
        {
            self.line(&format!("TASSIGN({expression}, {});", self.address(addr.arg)));
        }
        if let Some(result) = op.results.first() {
            self.names.stands_for(*result, expression);
        }
        Ok(())
    }

    fn make_view(&mut self, op: &Op) -> Emitted<()> {
        let ((pointer, elem), result) = (self.global_operand(op)?, self.result(op)?);
        let mut shape = self.numbers(op);
        let strides = shape.split_off(shape.len() / 2);
        if shape.is_empty() || shape.len() > 5 {
            return Err(cannot(op.span, format!("a view of {} dimensions", shape.len()), "use one to five dimensions"));
        }
        let tag = self.tag_of(op, result)?;
        if self.ty(result).global_elem().is_some_and(|e| e != elem) {
            return Err(cannot(op.span, "a view of another element type than its pointer's", "give both one type"));
        }
        let data = match self.ty(pointer) {
            Type::Ptr(..) => self.value(pointer),
            _ => format!("{}.data()", self.value(pointer)),
        };
        let text = tensor(elem, tag.cpp(), &shape, &strides, &data);
        self.line(&format!("const auto {} = {text};", self.names.object(result)));
        Ok(())
    }

    fn partition(&mut self, op: &Op) -> Emitted<()> {
        let ((view, _), result) = (self.global_operand(op)?, self.result(op)?);
        let mut offsets = self.numbers(op);
        let sizes = offsets.split_off(offsets.len() / 2);
        if matches!(self.ty(view), Type::Ptr(..)) || sizes.is_empty() || sizes.len() > 5 {
            return Err(cannot(op.span, "a window of this view", "make a view of one to five dimensions first"));
        }
        let (name, (shape, _), offsets) = (self.names.object(result), list("Shape", &sizes), offsets.join(", "));
        self.line(&format!("const auto {name} = {}.Partition({shape}, {{{offsets}}});", self.value(view)));
        Ok(())
    }

    fn addptr(&mut self, op: &Op) -> Emitted<()> {
        let ((pointer, elem), result) = (self.global_operand(op)?, self.result(op)?);
        if elem.is_fp4() || !matches!(self.ty(pointer), Type::Ptr(..)) {
            return Err(cannot(op.span, format!("a moved pointer to {elem}"), "make a view with offsets instead"));
        }
        let (cpp, name, by) = (elem.cpp(), self.names.object(result), self.index(op, Role::Number));
        self.line(&format!("{cpp} *{name} = {} + {by};", self.value(pointer)));
        Ok(())
    }

    fn scalar_access(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        let (pointer, elem) = self.global_operand(op)?;
        if elem.is_fp4() || !matches!(self.ty(pointer), Type::Ptr(..)) {
            return Err(cannot(op.span, format!("one element of {elem}"), "load a tile instead"));
        }
        let place = format!("{}[{}]", self.value(pointer), self.index(op, Role::Number));
        if opcode == Opcode::LoadScalar {
            let ty = words::scalar_type(self.result_type(op)?, op.span)?;
            return self.define(op, format!("static_cast<{ty}>({place})"));
        }
        if let Some(stored) = op.operand(Role::Scalar) {
            self.line(&format!("{place} = static_cast<{}>({});", elem.cpp(), self.int(stored.arg)));
        }
        Ok(())
    }

    fn result(&self, op: &Op) -> Emitted<ValueId> {
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
