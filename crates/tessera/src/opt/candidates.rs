//! Candidates: steps that may make a program shorter. They are proved elsewhere.

use super::Instruction;
use super::edit::{Edit, is_instruction};
use tessera_ir::{Arg, BlockId, Module, Op, OpId, OpKind, Operand, ValueId};
use tessera_isa::ops::{Form, Opcode, Role};

/// The number of instructions to look back for an equal tile.
const DEPTH: usize = 6;

/// A step to try.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Candidate {
    /// Remove an instruction whose result is unused.
    Dead,
    /// Take an instruction out.
    Remove(OpId),
    /// Read other tiles instead of those that an instruction writes: pairs that cancel, copies, unused padding.
    Bypass { op: OpId, reads: Vec<(ValueId, ValueId)> },
    /// Make an instruction a move of a tile that lies further back.
    Move { op: OpId, src: ValueId },
    /// Let a move do what the instruction before it did.
    TakeOver { op: OpId, producer: OpId },
    /// Make one window of a window of a window.
    Window { op: OpId, producer: OpId },
}

/// Everything worth a try, the most promising first.
pub(super) fn candidates(module: &Module, index: usize) -> Vec<Candidate> {
    let mut module = module.clone();
    let Some(edit) = Edit::new(&mut module, index) else { return Vec::new() };
    let mut all = vec![Candidate::Dead];
    let ops: Vec<(BlockId, OpId)> =
        edit.ops().into_iter().filter(|(_, id)| is_instruction(edit.func.op(*id))).collect();
    for (block, id) in &ops {
        bypasses(&edit, *block, *id, &mut all);
    }
    for (block, id) in &ops {
        fusions(&edit, *block, *id, &mut all);
    }
    // The last instructions first: what they leave unread goes with them.
    all.extend(ops.iter().rev().map(|(_, id)| Candidate::Remove(*id)));
    all
}

/// The tiles that the contents of an instruction's destination may come from, the furthest first, none twice.
fn ancestors(edit: &Edit<'_>, block: BlockId, id: OpId) -> Vec<ValueId> {
    let mut found: Vec<ValueId> = Vec::new();
    let mut level = vec![id];
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for op in level {
            for source in edit.sources(op) {
                if !found.contains(&source) {
                    found.push(source);
                }
                next.extend(edit.producer(block, op, source));
            }
        }
        level = next;
    }
    found.reverse();
    found
}

fn bypasses(edit: &Edit<'_>, block: BlockId, id: OpId, all: &mut Vec<Candidate>) {
    let op = edit.func.op(id);
    let dsts: Vec<ValueId> = op.dsts().iter().map(|d| d.1).collect();
    let alike = |a: ValueId, b: ValueId| {
        let ty = |v: ValueId| edit.module.types.get(edit.func.value(v).ty).tile();
        matches!((ty(a), ty(b)), (Some(a), Some(b)) if a.elem == b.elem)
    };
    let from = ancestors(edit, block, id);
    match dsts.as_slice() {
        [dst] => {
            let others = from.iter().filter(|v| alike(**v, *dst) && *v != dst);
            all.extend(others.map(|v| Candidate::Bypass { op: id, reads: vec![(*dst, *v)] }));
        }
        [first, second] => {
            for a in &from {
                let others = from.iter().filter(|b| *b != a && alike(*a, *first) && alike(**b, *second));
                let reads = others.map(|b| vec![(*first, *a), (*second, *b)]);
                all.extend(reads.map(|reads| Candidate::Bypass { op: id, reads }));
            }
        }
        _ => {}
    }
}

fn fusions(edit: &Edit<'_>, block: BlockId, id: OpId, all: &mut Vec<Candidate>) {
    let op = edit.func.op(id);
    if op.opcode().is_none() || op.dsts().len() != 1 || op.operand(Role::Global).is_some() {
        return;
    }
    let direct = edit.sources(id);
    let producer = direct.first().and_then(|t| edit.producer(block, id, *t));
    if let (OpKind::Pto(Opcode::Textract, Form::Plain), Some(producer)) = (&op.kind, producer)
        && edit.func.op(producer).kind == OpKind::Pto(Opcode::Textract, Form::Plain)
    {
        all.push(Candidate::Window { op: id, producer });
    }
    if let (OpKind::Pto(Opcode::Tmov, Form::Plain), Some(producer)) = (&op.kind, producer) {
        let made = edit.func.op(producer);
        if made.operand(Role::Global).is_none() && made.dsts().len() == 1 {
            all.push(Candidate::TakeOver { op: id, producer });
        }
    }
    let further = ancestors(edit, block, id).into_iter().filter(|v| !direct.contains(v));
    all.extend(further.map(|src| Candidate::Move { op: id, src }));
}

impl Candidate {
    /// The instruction that it changes.
    pub fn op(&self) -> Option<OpId> {
        match self {
            Candidate::Dead => None,
            Candidate::Remove(op)
            | Candidate::Bypass { op, .. }
            | Candidate::Move { op, .. }
            | Candidate::TakeOver { op, .. }
            | Candidate::Window { op, .. } => Some(*op),
        }
    }

    /// Will it probably be proved? `same` tells whether two tiles hold the same.
    pub fn is_likely(&self, edit: &Edit<'_>, same: impl Fn(ValueId, ValueId) -> bool) -> bool {
        match self {
            Candidate::Dead | Candidate::Window { .. } | Candidate::TakeOver { .. } => true,
            Candidate::Remove(_) => false,
            Candidate::Bypass { reads, .. } => reads.iter().all(|(from, to)| same(*from, *to)),
            Candidate::Move { op, src } => edit.func.op(*op).dsts().iter().all(|(_, dst)| same(*dst, *src)),
        }
    }

    /// Makes the step where it makes sense. Gives the instruction that changed, and what became of it.
    pub fn apply(&self, edit: &mut Edit<'_>) -> Option<(Instruction, String)> {
        let id = self.op()?;
        let before = edit.instruction(id)?;
        let name = |edit: &Edit<'_>, v: ValueId| format!("%{}", edit.module.names.text(edit.func.value(v).name));
        let outs = |op: &Op| op.operands.iter().filter(|o| o.role.is_dst()).copied().collect::<Vec<Operand>>();
        let became = match self {
            Candidate::Dead => return None,
            Candidate::Remove(id) => {
                // A result that is read, or put out, must come from somewhere.
                let results = &edit.func.op(*id).results;
                if !results.iter().any(|r| edit.func.outputs.contains(r) || edit.is_named(*r)) {
                    edit.remove(*id);
                }
                return None;
            }
            Candidate::Bypass { reads, .. } => {
                let replaced: Vec<bool> = reads.iter().map(|(from, to)| edit.replace_uses(*from, *to, id)).collect();
                if !replaced.contains(&true) {
                    return None;
                }
                let text = |(from, to): &(ValueId, ValueId)| {
                    format!("{} is read instead of {}", name(edit, *to), name(edit, *from))
                };
                reads.iter().map(text).collect::<Vec<_>>().join(", ")
            }
            Candidate::Move { src, .. } => {
                let source = name(edit, *src);
                let op = edit.func.op_mut(id);
                let first = Operand { role: Role::Src, arg: Arg::Value(*src), ..op.operands.first().copied()? };
                op.kind = OpKind::Pto(Opcode::Tmov, Form::Plain);
                op.operands = std::iter::once(first).chain(outs(op)).collect();
                forget_attributes(op);
                format!("becomes tmov of {source}")
            }
            Candidate::TakeOver { producer, .. } => {
                let made = edit.func.op(*producer).clone();
                let op = edit.func.op_mut(id);
                if made.form != op.form || made.operand(Role::Init).is_some() || op.operand(Role::Init).is_some() {
                    return None;
                }
                op.operands = made.operands.iter().filter(|o| !o.role.is_dst()).copied().chain(outs(op)).collect();
                let mnemonic = made.opcode()?.mnemonic();
                (op.kind, op.attrs) = (made.kind, made.attrs);
                format!("becomes {mnemonic}")
            }
            Candidate::Window { producer, .. } => {
                let (made, op) = (edit.func.op(*producer).clone(), edit.func.op(id).clone());
                let sum = |role: Role| {
                    let at = |op: &Op| op.operand(role).and_then(|o| edit.constant(o.arg));
                    at(&made)?.checked_add(at(&op)?)
                };
                let (row, col) = (sum(Role::Row)?, sum(Role::Col)?);
                let src = made.operand(Role::Src)?.arg;
                let known: Vec<Operand> = made.operands.iter().chain(&op.operands).copied().collect();
                let [row_operand, col_operand] =
                    [(Role::Row, row), (Role::Col, col)].map(|(role, n)| edit.index(id, role, n, &known));
                for operand in &mut edit.func.op_mut(id).operands {
                    match operand.role {
                        Role::Src => operand.arg = src,
                        Role::Row => *operand = row_operand,
                        Role::Col => *operand = col_operand,
                        _ => {}
                    }
                }
                let source = src.value().map_or(String::new(), |v| name(edit, v));
                format!("takes its window of {source} at ({row}, {col})")
            }
        };
        Some((before, became))
    }
}

/// Attributes of the old instruction mean nothing to the new one; where the operation came from stays.
fn forget_attributes(op: &mut Op) {
    if let Some(attrs) = &mut op.attrs {
        attrs.known = Default::default();
        attrs.unknown.clear();
        attrs.sizes = None;
    }
}
