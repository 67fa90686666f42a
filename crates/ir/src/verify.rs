//! Verifier of the IR's structure: the invariants that every stage after the parser relies on.
//!
//! Checked, in one pass: ids are inside their arenas. Every block belongs to one operation and every operation to one
//! block. A value names its definition. A use comes after its definition, inside its region. An operation has the
//! operands, results and blocks of its kind, with types that fit. The values that control flow passes on
//! ([`crate::edges`]) fit their receivers. Only the last operation of a block ends it. Not checked: legality of
//! programs on a profile, and calls, which the inliner refuses ([`crate::inline`]).
//!
//! A finding is no error of the program but of the code that made the IR, so its rule is `internal`.

use crate::edges::Control;
use crate::{Arg, BlockId, CastOp, Def, Func, Module, Op, OpId, OpKind, Operand, ScalarType, Type, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Order, Role, Text};
use tessera_isa::sem::Sem;

/// Everything that is wrong with the shape of a function; at least one finding, and not all, once ids are out of range.
pub fn verify(module: &Module, func: &Func) -> Vec<Diagnostic> {
    let mut v = Verifier {
        module,
        func,
        found: Vec::new(),
        placed: vec![false; func.ops.len()],
        owned: vec![false; func.blocks.len()],
        visible: vec![false; func.values.len()],
        trail: Vec::new(),
    };
    v.values();
    if v.found.is_empty() {
        v.block(func.body, func.span, &OpKind::Return);
    }
    v.found
}

struct Verifier<'a> {
    module: &'a Module,
    func: &'a Func,
    found: Vec<Diagnostic>,
    /// By operation: whether it already has a block.
    placed: Vec<bool>,
    /// By block: whether it already belongs to an operation.
    owned: Vec<bool>,
    /// By value: whether it may be used here.
    visible: Vec<bool>,
    /// The values that became visible, to be taken back where their block ends.
    trail: Vec<ValueId>,
}

impl Verifier<'_> {
    fn wrong(&mut self, span: Span, what: impl Into<String>) {
        self.found.push(*Diagnostic::internal(span, what));
    }

    fn name(&self, value: ValueId) -> &str {
        self.module.names.text(self.func.value(value).name)
    }

    fn ty(&self, value: ValueId) -> &Type {
        self.module.types.get(self.func.value(value).ty)
    }

    /// Types and names of all values exist; arguments know that they are.
    fn values(&mut self) {
        let (func, module) = (self.func, self.module);
        for value in &func.values {
            if !module.types.contains(value.ty) || !module.names.contains(value.name) {
                self.wrong(value.span, "a value has a type or a name that the module does not have");
            }
        }
        for (n, id) in func.args.iter().enumerate() {
            let Some(value) = func.values.get(id.index()) else {
                self.wrong(func.span, format!("argument {n} is no value of the function"));
                continue;
            };
            if !matches!(value.def, Def::Input | Def::ListingOut) && value.def != Def::Arg(n as u32) {
                self.wrong(value.span, format!("argument {n} says that it is {:?}", value.def));
            }
            self.visible[id.index()] = true;
        }
        if func.outputs.iter().any(|v| v.index() >= func.values.len()) {
            self.wrong(func.span, "an output is no value of the function");
        }
    }

    fn define(&mut self, value: ValueId, def: Def, span: Span) {
        match self.func.values.get(value.index()) {
            Some(v) if v.def == def => {
                self.visible[value.index()] = true;
                self.trail.push(value);
            }
            Some(v) => {
                let what = format!("%{} is {def:?} and says that it is {:?}", self.name(value), v.def);
                self.wrong(span, what);
            }
            None => self.wrong(span, format!("{value:?} is no value of the function")),
        }
    }

    /// One block, which `end` ends.
    fn block(&mut self, block: BlockId, span: Span, end: &OpKind) {
        let func = self.func;
        let Some(body) = func.blocks.get(block.index()) else {
            return self.wrong(span, format!("{block:?} is no block of the function"));
        };
        if std::mem::replace(&mut self.owned[block.index()], true) {
            return self.wrong(span, format!("{block:?} belongs to two operations"));
        }
        let mark = self.trail.len();
        for (n, arg) in body.args.iter().enumerate() {
            self.define(*arg, Def::BlockArg(block, n as u32), span);
        }
        for (n, id) in body.ops.iter().enumerate() {
            let Some(op) = func.ops.get(id.index()) else {
                self.wrong(span, format!("{id:?} is no operation of the function"));
                continue;
            };
            if std::mem::replace(&mut self.placed[id.index()], true) {
                self.wrong(op.span, "the operation stands in two places");
                continue;
            }
            if op.kind.is_end() && (op.kind != *end || n + 1 != body.ops.len()) {
                self.wrong(op.span, "the operation ends a block that it does not end");
            }
            self.op(*id, op);
        }
        for value in self.trail.drain(mark..) {
            self.visible[value.index()] = false;
        }
    }

    fn op(&mut self, id: OpId, op: &Op) {
        if !self.operands(op) {
            return;
        }
        let before = self.found.len();
        for (n, block) in op.blocks.iter().enumerate() {
            let is_condition = op.kind == OpKind::While && n == 0;
            self.block(*block, op.span, if is_condition { &OpKind::Condition } else { &OpKind::Yield });
        }
        for (n, result) in op.results.iter().enumerate() {
            self.define(*result, Def::Result(id, n as u32), op.span);
        }
        // With errors inside, the shape may name values that do not exist.
        if self.found.len() == before
            && let Some(what) = self.shape(op)
        {
            self.wrong(op.span, what);
        }
    }

    /// Checks that all operands exist and may be used here.
    fn operands(&mut self, op: &Op) -> bool {
        for operand in &op.operands {
            let Arg::Value(value) = operand.arg else { continue };
            if value.index() >= self.func.values.len() {
                self.wrong(operand.span, format!("{value:?} is no value of the function"));
                return false;
            }
            // TASSIGN may name a tile that is defined later (syntax.md 1).
            if !self.visible[value.index()] && operand.role != Role::Tile {
                let what = format!("%{} is used where it is not defined", self.name(value));
                self.wrong(operand.span, what);
                return false;
            }
        }
        true
    }

    /// The fault in the counts and types of an operation.
    fn shape(&self, op: &Op) -> Option<String> {
        let counts = (op.operands.len(), op.results.len(), op.blocks.len());
        let integer = |t: &Type| t.plays(Role::Number);
        let float = |t: &Type| matches!(t, Type::Scalar(ScalarType::Float(_)));
        let operands = || op.values().map(|v| self.ty(v));
        let results = || op.results.iter().map(|v| self.ty(*v));
        let fits = match &op.kind {
            OpKind::Constant(_) => counts == (0, 1, 0) && results().all(|t| matches!(t, Type::Scalar(_))),
            OpKind::Dense(all) => {
                let is_whole = |t: &Type| matches!(t, Type::Vector(len, _) if *len == all.len() as u64);
                counts == (0, 1, 0) && results().all(is_whole)
            }
            OpKind::Arith(kind) => {
                counts == (kind.arity(), 1, 0)
                    && results().all(integer)
                    && results().all(|r| operands().all(|t| t == r))
            }
            OpKind::Cmp(_) => {
                let same = operands().all(|t| integer(t) && operands().next() == Some(t));
                counts == (2, 1, 0) && same && results().all(Type::is_flag)
            }
            OpKind::Float(kind) => {
                counts == (kind.arity(), 1, 0) && results().all(float) && results().all(|r| operands().all(|t| t == r))
            }
            OpKind::CmpFloat(_) => {
                let same = operands().all(|t| float(t) && operands().next() == Some(t));
                counts == (2, 1, 0) && same && results().all(Type::is_flag)
            }
            OpKind::Cast(CastOp::Bitcast) => {
                counts == (1, 1, 0) && operands().chain(results()).all(|t| integer(t) || float(t))
            }
            OpKind::Cast(cast) => {
                let (from, to) = cast.floats();
                let fits = |t: &Type, is_float: bool| if is_float { float(t) } else { integer(t) };
                counts == (1, 1, 0) && operands().all(|t| fits(t, from)) && results().all(|t| fits(t, to))
            }
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => return self.flow(op),
            OpKind::Pto(opcode, form) => {
                let forms = opcode.info().forms;
                if !forms.is_empty() && !forms.iter().any(|f| f.form == *form) {
                    return Some(format!("{opcode} has no form {form}"));
                }
                if let Some(role) = op.missing() {
                    return Some(format!("{opcode} lacks its operand {role}"));
                }
                let any = matches!(
                    opcode.info().sem,
                    Sem::Orders(Order::Nothing | Order::Cache | Order::Events | Order::Meet)
                );
                let is_source = |o: &Operand| opcode.info().text == Text::Slot && o.role == Role::Src;
                if let Some(o) = op.operands.iter().find(|o| !any && !is_source(o) && !self.plays(o)) {
                    return Some(format!("the operand {} of {opcode} has another type", o.role));
                }
                counts.2 == 0
            }
            OpKind::Other(_) | OpKind::Micro(_) | OpKind::Call(_) => counts.2 == 0,
            OpKind::Yield | OpKind::Condition | OpKind::Return => counts.1 == 0 && counts.2 == 0,
        };
        let (ins, outs, blocks) = counts;
        let kind = &op.kind;
        (!fits).then(|| {
            format!("{kind:?} has {ins} operands, {outs} results and {blocks} blocks, or types that do not fit")
        })
    }

    fn plays(&self, operand: &Operand) -> bool {
        match operand.arg {
            Arg::Int(_) => Type::Scalar(ScalarType::Index).plays(operand.role),
            // Events order pipes, whatever role they stand in.
            Arg::Value(v) => matches!(self.ty(v), Type::Event | Type::Opaque(_)) || self.ty(v).plays(operand.role),
        }
    }

    fn flow(&self, op: &Op) -> Option<String> {
        let control = match Control::of(self.func, op) {
            Ok(control) => control,
            Err(broken) => return Some(broken.message),
        };
        let is_integer = |arg: Arg, ty: &dyn Fn(&Type) -> bool| arg.value().is_none_or(|v| ty(self.ty(v)));
        let decides = match control {
            Control::For(f) => {
                let counter = self.ty(f.variable);
                counter.plays(Role::Number)
                    && [f.lower, f.upper, f.step].iter().all(|a| is_integer(*a, &|t| t == counter))
            }
            Control::If(i) => is_integer(i.condition, &Type::is_flag),
            Control::While(w) => is_integer(w.condition, &Type::is_flag),
            Control::Select(s) => is_integer(s.condition, &Type::is_flag),
        };
        if !decides {
            return Some("what decides about control flow is no integer of the right type".into());
        }
        for edge in control.edges() {
            let handed = edge.args().count();
            if handed != edge.to.len() {
                return Some(format!("{handed} values are handed to {}", edge.to.len()));
            }
            for (to, from) in edge.pairs() {
                let taken = self.ty(to);
                let same = match from {
                    Arg::Value(from) => self.ty(from).may_become(taken),
                    Arg::Int(_) => taken.plays(Role::Number),
                };
                if !same {
                    return Some(format!("%{} is handed a value of another type", self.name(to)));
                }
            }
        }
        None
    }
}
