//! Control flow: loops and branches, and what they hand on.

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Arg, BlockId, Op, OpKind, Type, ValueId};
use tessera_isa::tile::Extent;

impl Emitter<'_> {
    /// The operands of the operation that ends a block.
    fn last_args(&self, block: Option<BlockId>) -> Vec<Arg> {
        let last = block.and_then(|b| self.func.block(b).ops.last()).map(|id| self.func.op(*id));
        match last.map(|op| (&op.kind, op)) {
            Some((OpKind::Yield | OpKind::Condition, op)) => op.operands.iter().map(|o| o.arg).collect(),
            _ => Vec::new(),
        }
    }

    /// The type of a variable that control flow hands a value on in: tiles go by pointer.
    fn handed_type(&self, value: ValueId) -> Emitted<String> {
        match self.ty(value) {
            Type::Scalar(ty) => words::scalar_type(*ty, self.span(value)).map(str::to_string),
            Type::Tile(_) | Type::Conv(_) => {
                Ok(format!("{} *", words::object_type(self.ty(value), self.profile, self.span(value))?))
            }
            Type::Ptr(elem, _) => Ok(format!("{} *", elem.cpp())),
            Type::View(_) | Type::Memref(_) => Err(cannot(
                self.span(value),
                "a view that control flow hands on",
                "hand on its offsets and make the view where it is used",
            )),
            Type::Event => Ok("RecordEvent".into()),
        }
    }

    /// What is handed on for a value.
    fn handed(&self, arg: Arg) -> String {
        match arg {
            Arg::Value(v) if self.is_tile(v) => format!("&{}", self.value(v)),
            _ => self.int(arg),
        }
    }

    /// A variable for a value that control flow hands on; gives its name.
    fn variable(&mut self, value: ValueId, first: Option<String>) -> Emitted<String> {
        let own = self.names.object(value).to_string();
        // A carried tile with a buffer of its own keeps its name for the buffer.
        let name = if self.owns_object(value) { self.names.fresh(&format!("{own}_now")) } else { own };
        let ty = self.handed_type(value)?;
        let space = if ty.ends_with('*') { "" } else { " " };
        let init = first.map_or_else(|| "{}".into(), |f| format!(" = {f}"));
        self.line(&format!("{ty}{space}{name}{init};"));
        let expression = if self.is_tile(value) { format!("(*{name})") } else { name.clone() };
        self.names.stands_for(value, expression);
        Ok(name)
    }

    /// Assigns what is handed on to variables, all at once.
    fn assign_all(&mut self, names: &[String], args: &[Arg]) {
        let mut values: Vec<String> = args.iter().map(|a| self.handed(*a)).collect();
        if names.len() > 1 {
            for (name, value) in names.iter().zip(&mut values) {
                let next = self.names.fresh(&format!("{name}_next"));
                self.line(&format!("const auto {next} = {value};"));
                *value = next;
            }
        }
        for (name, value) in names.iter().zip(values) {
            self.line(&format!("{name} = {value};"));
        }
    }

    /// What a loop yields to the values that it carries; a carried tile may have a buffer that it is copied to.
    fn carry(&mut self, op: &Op, carried: &[ValueId], names: &[String], args: &[Arg]) -> Emitted<()> {
        let buffered: Vec<usize> =
            (0..carried.len()).filter(|i| carried.get(*i).is_some_and(|v| self.owns_object(*v))).collect();
        if buffered.len() > 1 {
            return Err(cannot(op.span, "a loop that exchanges several tiles", "carry one tile, or use TMOV"));
        }
        let mut args = args.to_vec();
        for i in buffered {
            let (Some(buffer), Some(Arg::Value(from))) = (carried.get(i).copied(), args.get(i).copied()) else {
                continue;
            };
            let (to, from) = (self.names.object(buffer).to_string(), self.value(from));
            self.line(&format!("HostCopy({to}, {from});"));
            if let Type::Tile(t) = self.ty(buffer) {
                let (row, col) = (t.v_row, t.v_col);
                if row == Extent::Dynamic {
                    self.line(&format!("{to}.SetValidRow({from}.GetValidRow());"));
                }
                if col == Extent::Dynamic {
                    self.line(&format!("{to}.SetValidCol({from}.GetValidCol());"));
                }
            }
            let own = format!("&{to}");
            let name = names.get(i).cloned().unwrap_or_default();
            // The variable points at the buffer from here on; the others are handed on below.
            self.line(&format!("{name} = {own};"));
            args.remove(i);
            let others: Vec<String> =
                names.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, n)| n.clone()).collect();
            self.assign_all(&others, &args);
            return Ok(());
        }
        self.assign_all(names, &args);
        Ok(())
    }

    fn nested(&mut self, block: Option<BlockId>) -> Emitted<()> {
        if let Some(block) = block {
            self.depth += 1;
            let done = self.block(block);
            self.depth -= 1;
            done?;
        }
        Ok(())
    }

    pub(crate) fn repeat(&mut self, op: &Op) -> Emitted<()> {
        let arg = |n: usize| op.operands.get(n).map_or(Arg::Int(0), |o| o.arg);
        let block = op.blocks.first().copied();
        let args: Vec<ValueId> = block.map_or_else(Vec::new, |b| self.func.block(b).args.to_vec());
        let Some((iv, carried)) = args.split_first() else {
            return Ok(());
        };
        let inits: Vec<Arg> = op.operands.iter().skip(3).map(|o| o.arg).collect();
        let mut names = Vec::new();
        for (value, init) in carried.iter().zip(&inits) {
            let first = self.handed(*init);
            names.push(self.variable(*value, Some(first))?);
        }
        let ty = words::scalar_type(self.scalar_of(Arg::Value(*iv)), op.span)?;
        let i = self.names.object(*iv).to_string();
        let (lower, upper, step) = (self.int(arg(0)), self.int(arg(1)), self.int(arg(2)));
        self.line(&format!("for ({ty} {i} = {lower}; {i} < {upper}; {i} += {step}) {{"));
        self.in_loop += 1;
        self.nested(block)?;
        self.depth += 1;
        let yields = self.last_args(block);
        self.carry(op, carried, &names, &yields)?;
        self.depth -= 1;
        self.in_loop -= 1;
        self.line("}");
        for (result, value) in op.results.iter().zip(carried) {
            let expression = self.names.expression(*value).to_string();
            self.names.stands_for(*result, expression);
        }
        Ok(())
    }

    pub(crate) fn branch(&mut self, op: &Op) -> Emitted<()> {
        let condition = op.operands.first().map_or_else(|| "false".into(), |o| self.int(o.arg));
        let mut names = Vec::new();
        for result in op.results.clone() {
            names.push(self.variable(result, None)?);
        }
        let (then, other) = (op.blocks.first().copied(), op.blocks.get(1).copied());
        self.line(&format!("if ({condition}) {{"));
        for (i, block) in [then, other].into_iter().enumerate() {
            if i == 1 {
                if block.is_none_or(|b| self.func.block(b).ops.is_empty()) {
                    break;
                }
                self.line("} else {");
            }
            self.nested(block)?;
            self.depth += 1;
            let yields = self.last_args(block);
            self.assign_all(&names, &yields);
            self.depth -= 1;
        }
        self.line("}");
        Ok(())
    }

    pub(crate) fn repeat_while(&mut self, op: &Op) -> Emitted<()> {
        let (before, after) = (op.blocks.first().copied(), op.blocks.get(1).copied());
        let args = |e: &Self, b: Option<BlockId>| b.map_or_else(Vec::new, |b| e.func.block(b).args.to_vec());
        let (before_args, after_args) = (args(self, before), args(self, after));
        let mut before_names = Vec::new();
        for (value, init) in before_args.iter().zip(&op.operands) {
            let first = self.handed(init.arg);
            before_names.push(self.variable(*value, Some(first))?);
        }
        let mut result_names = Vec::new();
        for result in op.results.clone() {
            result_names.push(self.variable(result, None)?);
        }
        let mut after_names = Vec::new();
        for value in &after_args {
            after_names.push(self.variable(*value, None)?);
        }
        self.line("while (true) {");
        self.in_loop += 1;
        self.nested(before)?;
        self.depth += 1;
        let handed = self.last_args(before);
        let condition = handed.first().map_or_else(|| "false".into(), |a| self.int(*a));
        let rest: Vec<Arg> = handed.iter().skip(1).copied().collect();
        self.line(&format!("if (!({condition})) {{"));
        self.depth += 1;
        self.assign_all(&result_names, &rest);
        self.line("break;");
        self.depth -= 1;
        self.line("}");
        self.carry(op, &after_args, &after_names, &rest)?;
        self.depth -= 1;
        self.nested(after)?;
        self.depth += 1;
        let yields = self.last_args(after);
        self.carry(op, &before_args, &before_names, &yields)?;
        self.depth -= 1;
        self.in_loop -= 1;
        self.line("}");
        Ok(())
    }

    pub(crate) fn select(&mut self, op: &Op) -> Emitted<()> {
        let Some(result) = op.results.first().copied() else {
            return Ok(());
        };
        let arg = |n: usize| op.operands.get(n).map_or(Arg::Int(0), |o| o.arg);
        let text = format!("{} ? {} : {}", self.int(arg(0)), self.handed(arg(1)), self.handed(arg(2)));
        self.variable(result, Some(text))?;
        Ok(())
    }
}
