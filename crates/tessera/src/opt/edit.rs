//! Edits of a function: the instruction that made a tile, its readers, and unused results.

use super::Instruction;
use std::collections::HashSet;
use tessera_ir::{
    Arg, BlockId, Def, Func, Module, NameId, Op, OpId, OpKind, Operand, ScalarType, TextForm, Type, Value, ValueId,
};
use tessera_isa::codec::Number;
use tessera_isa::ops::{Bind, Opcode, Role, Text};
use tessera_isa::sem::Sem;

/// A function on its way to a shorter one.
pub(super) struct Edit<'a> {
    pub module: &'a mut Module,
    index: usize,
    pub func: Func,
}

/// Whether it is an instruction that moves data on the chip or onto it. Others order, bind or configure, and stay.
pub(super) fn is_instruction(op: &Op) -> bool {
    op.opcode().is_some_and(|o| o.info().sem.computes())
}

/// Instructions whose destination may be bound to their source.
fn binds(opcode: Opcode) -> bool {
    !matches!(opcode.info().binds, None | Some(Bind::New))
}

/// Operations without any effect but their results.
fn is_pure(op: &Op) -> bool {
    match op.kind {
        OpKind::Constant(_) | OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Select | OpKind::Cast(_) => true,
        OpKind::Float(_) | OpKind::CmpFloat(_) => true,
        // A window in result form makes nothing but its result.
        OpKind::Pto(opcode, _) => {
            matches!(opcode.info().sem, Sem::Value) || matches!(opcode.info().text, Text::Subset | Text::Slot)
        }
        _ => false,
    }
}

impl<'a> Edit<'a> {
    pub fn new(module: &'a mut Module, index: usize) -> Option<Self> {
        let func = module.funcs.get(index)?.clone();
        Some(Edit { module, index, func })
    }

    /// Puts the function back.
    pub fn finish(self) {
        if let Some(slot) = self.module.funcs.get_mut(self.index) {
            *slot = self.func;
        }
    }

    /// Every operation that is in a block, outer before inner, with its block.
    pub fn ops(&self) -> Vec<(BlockId, OpId)> {
        let mut all = Vec::new();
        let mut todo = vec![self.func.body];
        while let Some(block) = todo.pop() {
            for id in &self.func.block(block).ops {
                all.push((block, *id));
                todo.extend(self.func.op(*id).blocks.iter().copied());
            }
        }
        all.sort_by_key(|(_, id)| self.func.op(*id).span.start);
        all
    }

    /// The instructions, in the order of the text.
    pub fn instructions(&self) -> Vec<(OpId, Instruction)> {
        let all = self.ops().into_iter().filter(|(_, id)| is_instruction(self.func.op(*id)));
        all.filter_map(|(_, id)| Some((id, self.instruction(id)?))).collect()
    }

    pub fn instruction(&self, id: OpId) -> Option<Instruction> {
        let op = self.func.op(id);
        Some(Instruction { mnemonic: op.opcode()?.mnemonic(), span: op.span })
    }

    pub fn is_tile(&self, value: ValueId) -> bool {
        self.module.types.get(self.func.value(value).ty).is_tile()
    }

    /// The tiles that an instruction reads.
    pub fn sources(&self, id: OpId) -> Vec<ValueId> {
        let op = self.func.op(id);
        let read = op.operands.iter().filter(|o| !o.role.is_dst() && o.role != Role::Tmp);
        read.filter_map(|o| o.arg.value()).filter(|v| self.is_tile(*v)).collect()
    }

    /// The instruction that a tile's contents come from, as seen from an operation: the nearest one before it in its
    /// block that writes the tile, else the one that defines it.
    pub fn producer(&self, block: BlockId, before: OpId, tile: ValueId) -> Option<OpId> {
        let ops = &self.func.block(block).ops;
        let at = ops.iter().position(|id| *id == before).unwrap_or(ops.len());
        let writes = |id: &&OpId| {
            let op = self.func.op(**id);
            is_instruction(op) && op.dsts().iter().any(|(_, v)| *v == tile)
        };
        let near = ops.iter().take(at).rev().find(writes).copied();
        near.or_else(|| match self.func.value(tile).def {
            Def::Result(op, _) => Some(op).filter(|id| is_instruction(self.func.op(*id))),
            _ => None,
        })
    }

    /// Reads one tile instead of another, everywhere but in the instruction that makes it. Tells whether anything did.
    pub fn replace_uses(&mut self, from: ValueId, to: ValueId, except: OpId) -> bool {
        let mut changed = false;
        // Operations outside every block do not matter.
        let ops = (0..).map(OpId).zip(&mut self.func.ops);
        for (_, op) in ops.filter(|(id, op)| *id != except && is_instruction(op)) {
            let operands = op.operands.iter_mut();
            for operand in operands.filter(|o| !o.role.is_dst() && o.arg == Arg::Value(from)) {
                operand.arg = Arg::Value(to);
                changed = true;
            }
        }
        changed
    }

    /// Whether a value is an operand of any operation.
    pub fn is_named(&self, value: ValueId) -> bool {
        let mut ops = self.ops().into_iter();
        ops.any(|(_, id)| self.func.op(id).values().any(|v| v == value))
    }

    /// Whether an operation is a loop or branch with empty bodies.
    fn is_empty_flow(&self, op: &Op) -> bool {
        let is_end = |id: &OpId| matches!(self.func.op(*id).kind, OpKind::Yield);
        matches!(op.kind, OpKind::For | OpKind::If)
            && op.results.is_empty()
            && op.blocks.iter().all(|b| self.func.block(*b).ops.iter().all(is_end))
    }

    /// Takes an operation out of its block.
    pub fn remove(&mut self, id: OpId) {
        for block in &mut self.func.blocks {
            block.ops.retain(|o| *o != id);
        }
    }

    /// Dead-code elimination: removes instructions whose destinations are never read, then everything that only they
    /// needed.
    pub fn remove_dead(&mut self) {
        loop {
            let ops = self.ops();
            let roots = self.roots(&ops);
            let root = |v: ValueId| roots.get(v.index()).copied().unwrap_or(v);
            let mut read: HashSet<ValueId> =
                self.func.outputs.iter().chain(&self.func.args).map(|v| root(*v)).collect();
            let mut named: HashSet<ValueId> = self.func.outputs.iter().copied().collect();
            for (_, id) in &ops {
                let op = self.func.op(*id);
                for operand in &op.operands {
                    let Some(value) = operand.arg.value() else { continue };
                    named.insert(value);
                    // A view reads nothing until something reads the view.
                    let is_binding = op.opcode().is_some_and(binds) && self.is_tile(value);
                    if !operand.role.is_dst() && !is_binding {
                        read.insert(root(value));
                    }
                }
            }
            let dead: Vec<OpId> = ops
                .iter()
                .map(|(_, id)| *id)
                .filter(|id| {
                    let op = self.func.op(*id);
                    if self.is_empty_flow(op) {
                        return true;
                    }
                    if is_pure(op) {
                        return op.results.iter().all(|r| !named.contains(r));
                    }
                    let dsts = op.dsts();
                    // A view that nothing names is dead whatever happens to the bytes behind it.
                    let binds = op.opcode().and_then(|o| o.info().binds);
                    let is_view = matches!(binds, Some(Bind::Bytes | Bind::Storage));
                    let names = |other: OpId, v: ValueId| self.func.op(other).values().any(|w| w == v);
                    let alone = |v: ValueId| {
                        !self.func.outputs.contains(&v) && !ops.iter().any(|(_, other)| other != id && names(*other, v))
                    };
                    let unread = dsts.iter().all(|(_, v)| !read.contains(&root(*v)) || (is_view && alone(*v)));
                    let results = op.results.iter().all(|r| !named.contains(r));
                    is_instruction(op) && !dsts.is_empty() && unread && results
                })
                .collect();
            if dead.is_empty() {
                return;
            }
            let dead: HashSet<OpId> = dead.into_iter().collect();
            for block in &mut self.func.blocks {
                block.ops.retain(|op| !dead.contains(op));
            }
        }
    }

    /// By value: the tile whose bytes it may share.
    fn roots(&self, ops: &[(BlockId, OpId)]) -> Vec<ValueId> {
        let mut roots: Vec<ValueId> = (0..self.func.values.len() as u32).map(ValueId).collect();
        let find = |roots: &[ValueId], v: ValueId| {
            let mut at = v;
            while let Some(next) = roots.get(at.index()).filter(|n| **n != at) {
                at = *next;
            }
            at
        };
        for (_, id) in ops {
            let op = self.func.op(*id);
            if !op.opcode().is_some_and(binds) {
                continue;
            }
            let values = op.values().chain(op.results.iter().copied());
            let tiles: Vec<ValueId> = values.filter(|v| self.is_tile(*v)).collect();
            for pair in tiles.windows(2) {
                let [a, b] = pair else { continue };
                let (a, b) = (find(&roots, *a), find(&roots, *b));
                if let Some(slot) = roots.get_mut(b.index()).filter(|_| a != b) {
                    *slot = a;
                }
            }
        }
        (0..roots.len() as u32).map(|n| find(&roots, ValueId(n))).collect()
    }

    /// The constant behind an operand.
    pub fn constant(&self, arg: Arg) -> Option<i64> {
        match arg {
            Arg::Int(n) => Some(n),
            Arg::Value(v) => {
                let Def::Result(op, _) = self.func.value(v).def else { return None };
                let OpKind::Constant(Number::Int(n)) = self.func.op(op).kind else { return None };
                i64::try_from(n).ok()
            }
        }
    }

    /// An operand for a constant index of an instruction: one of these where it has the value, a literal where the form
    /// has them, else a new constant.
    pub fn index(&mut self, before: OpId, role: Role, n: i64, known: &[Operand]) -> Operand {
        let (form, span) = (self.func.op(before).form, self.func.op(before).span);
        let same = known.iter().map(|o| o.arg).find(|a| self.constant(*a) == Some(n));
        let arg = match (same, form) {
            (Some(arg @ Arg::Value(_)), _) => arg,
            (_, TextForm::Asm) => Arg::Int(n),
            (_, TextForm::Ssa | TextForm::Dps) => Arg::Value(self.add_constant(before, n)),
        };
        Operand { role, arg, span, type_span: span }
    }

    fn add_constant(&mut self, before: OpId, n: i64) -> ValueId {
        let span = self.func.op(before).span;
        let ty = self.module.types.intern(Type::Scalar(ScalarType::Index));
        let name = self.fresh(n);
        let id = OpId(self.func.ops.len() as u32);
        let value = self.func.add_value(Value { name, ty, def: Def::Result(id, 0), span, type_span: span });
        let mut op = Op::new(OpKind::Constant(Number::Int(n.into())), TextForm::Ssa, span);
        op.results.push(value);
        self.func.add_op(op);
        for block in &mut self.func.blocks {
            if let Some(at) = block.ops.iter().position(|o| *o == before) {
                block.ops.insert(at, id);
                break;
            }
        }
        value
    }

    fn fresh(&mut self, n: i64) -> NameId {
        let used: HashSet<NameId> = self.func.values.iter().map(|v| v.name).collect();
        let mut text = format!("c{n}");
        let mut k = 0;
        loop {
            let name = self.module.names.intern(&text);
            if !used.contains(&name) {
                return name;
            }
            text = format!("c{n}_{k}");
            k += 1;
        }
    }
}
