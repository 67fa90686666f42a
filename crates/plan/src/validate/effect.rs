//! What one step does to handles and storages.

use super::graph::Step;
use crate::Placement;
use std::collections::{BTreeMap, BTreeSet};
use tessera_ir::{Def, Func, Module, Op, OpId, OpKind, ValueId};
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::profile::Profile;

/// What a handle means by a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Means {
    /// The contents it had when control flow handed it on.
    Contents,
    /// Contents that were overwritten since.
    Gone,
    /// The storage, whatever it holds: an instruction bound a tile to it, "as by TASSIGN" (ops.md 4).
    Storage,
}

/// A storage that a handle refers to, by its root.
pub type Item = (ValueId, Means);

/// By handle: what it may refer to. A manual tile refers to nothing here.
pub type State = BTreeMap<ValueId, BTreeSet<Item>>;

/// What a step does.
#[derive(Default)]
pub struct Effect {
    /// Storages whose bytes it reads or writes.
    pub touch: BTreeSet<ValueId>,
    /// Those of them that are touched through their own name, which refers to nothing else: on every path, that is.
    pub sure: BTreeSet<ValueId>,
    /// Handles that it reads.
    pub uses: BTreeSet<ValueId>,
    /// Handles that it makes refer to something else.
    pub binds: BTreeSet<ValueId>,
    /// Storages that get new contents before it touches anything.
    pub renew: BTreeSet<ValueId>,
    /// A handle whose contents were overwritten before this use of it.
    pub stale: Option<ValueId>,
}

/// A program that is being checked.
pub struct Program<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    pub placement: &'a Placement,
    /// By operation: its place in a walk through the text.
    pub order: Vec<usize>,
    pub keep: BTreeSet<ValueId>,
}

impl Program<'_> {
    pub fn is_tile(&self, v: ValueId) -> bool {
        self.module.types.get(self.func.value(v).ty).is_tile()
    }

    /// Does the value hold contents when the function begins?
    pub fn is_input(&self, v: ValueId) -> bool {
        matches!(self.func.value(v).def, Def::Arg(_) | Def::Input | Def::ListingOut)
    }

    /// Does TASSIGN name the value before the operation that defines it?
    fn is_bound_early(&self, v: ValueId) -> bool {
        let Def::Result(def, _) = self.func.value(v).def else {
            return false;
        };
        self.func.ops.iter().enumerate().any(|(i, op)| {
            op.opcode() == Some(Opcode::Tassign)
                && op
                    .operands
                    .iter()
                    .any(|o| o.role != Role::Addr && o.arg.value() == Some(v))
                && self.order[i] < self.order[def.index()]
        })
    }

    fn touch(&self, state: &State, v: ValueId, effect: &mut Effect) {
        effect.uses.insert(v);
        let items = state.get(&v);
        for (root, means) in items.into_iter().flatten() {
            effect.touch.insert(*root);
            if *root == v && items.is_some_and(|i| i.len() == 1) {
                effect.sure.insert(*root);
            }
            if *means == Means::Gone {
                effect.stale = Some(v);
            }
        }
    }

    /// New contents for a storage: what control flow handed on by reference no longer means the same.
    fn renew(&self, state: &mut State, root: ValueId, effect: &mut Effect) {
        effect.renew.insert(root);
        for (v, items) in state.iter_mut() {
            if self.is_handed_on(*v) && items.remove(&(root, Means::Contents)) {
                items.insert((root, Means::Gone));
            }
        }
    }

    /// Does control flow hand the value on?
    fn is_handed_on(&self, v: ValueId) -> bool {
        match self.func.value(v).def {
            Def::BlockArg(..) => true,
            Def::Result(op, _) => !self.func.op(op).blocks.is_empty() || self.func.op(op).kind == OpKind::Select,
            _ => false,
        }
    }

    /// Runs a step.
    pub fn run(&self, step: Step, state: &mut State) -> Effect {
        let mut effect = Effect::default();
        match step {
            Step::Entry => {
                for i in 0..self.func.values.len() {
                    let v = ValueId(i as u32);
                    if self.is_input(v) && self.is_tile(v) {
                        state.insert(v, BTreeSet::from([(v, Means::Contents)]));
                    }
                }
            }
            Step::Exit => {
                for v in &self.keep {
                    self.touch(state, *v, &mut effect);
                }
                // A kept handle of an inner block shows what its storage holds in the end.
                effect.stale = None;
            }
            Step::Enter(id) => self.enter(id, state, &mut effect),
            Step::Head(_) => {}
            Step::Leave(id) => {
                let op = self.func.op(id);
                if op.kind == OpKind::For {
                    let args = self.carried(op);
                    self.assign(
                        state,
                        &mut effect,
                        op.results.iter().copied().zip(args.into_iter().map(Some)),
                    );
                }
            }
            Step::Op(id) => self.op(id, state, &mut effect),
        }
        effect
    }

    /// The values that a loop carries.
    fn carried(&self, op: &Op) -> Vec<ValueId> {
        let skip = usize::from(op.kind == OpKind::For);
        let first = op.blocks.first().map(|b| self.func.block(*b));
        first.map_or_else(Vec::new, |b| b.args.iter().skip(skip).copied().collect())
    }

    /// All at once: each value refers to what the other one refers to now.
    fn assign(&self, state: &mut State, effect: &mut Effect, pairs: impl Iterator<Item = (ValueId, Option<ValueId>)>) {
        let mut new: Vec<(ValueId, BTreeSet<Item>)> = Vec::new();
        for (to, from) in pairs.filter(|(to, _)| self.is_tile(*to)) {
            effect.uses.extend(from);
            effect.binds.insert(to);
            new.push((to, from.and_then(|v| state.get(&v).cloned()).unwrap_or_default()));
        }
        state.extend(new);
    }

    fn bind(&self, state: &mut State, effect: &mut Effect, v: ValueId, items: BTreeSet<Item>) {
        effect.binds.insert(v);
        state.insert(v, items);
    }

    fn enter(&self, id: OpId, state: &mut State, effect: &mut Effect) {
        let op = self.func.op(id);
        if op.kind == OpKind::If {
            return;
        }
        let args = self.carried(op);
        let inits = op.operands.iter().skip(if op.kind == OpKind::For { 3 } else { 0 });
        let inits: Vec<Option<ValueId>> = inits.map(|o| o.arg.value()).collect();
        self.assign(state, effect, args.iter().copied().zip(inits));
        for arg in args.iter().filter(|a| self.placement.slot(**a).is_some()) {
            self.renew(state, *arg, effect);
        }
    }

    fn op(&self, id: OpId, state: &mut State, effect: &mut Effect) {
        let op = self.func.op(id);
        let block = self.placement.points.block_of(id);
        let owner = self.placement.points.owner(block).map(|o| self.func.op(o));
        match (&op.kind, owner) {
            (OpKind::Yield, Some(owner)) if owner.kind == OpKind::If => {
                let from = op.operands.iter().map(|o| o.arg.value());
                self.assign(state, effect, owner.results.iter().copied().zip(from));
            }
            (OpKind::Yield, Some(owner)) => self.back(op, owner, state, effect),
            (OpKind::Condition, Some(owner)) => {
                let from: Vec<_> = op.operands.iter().skip(1).map(|o| o.arg.value()).collect();
                let second = owner.blocks.get(1).map(|b| self.func.block(*b).args.clone());
                let to = second.unwrap_or_default();
                let pairs = to.iter().zip(&from).chain(owner.results.iter().zip(&from));
                let pairs: Vec<_> = pairs.map(|(a, b)| (*a, *b)).collect();
                self.assign(state, effect, pairs.into_iter());
            }
            (OpKind::Pto(opcode, _), _) => self.instruction(op, *opcode, state, effect),
            (OpKind::Select, _) => {
                effect.uses.extend(op.values());
                let all: BTreeSet<Item> = op
                    .values()
                    .flat_map(|v| state.get(&v).cloned().unwrap_or_default())
                    .collect();
                op.results
                    .iter()
                    .for_each(|r| self.bind(state, effect, *r, all.clone()));
            }
            _ => self.execute(op, state, effect),
        }
    }

    /// The end of an iteration: buffers take copies, everything else is handed on by reference.
    fn back(&self, op: &Op, owner: &Op, state: &mut State, effect: &mut Effect) {
        let args = self.carried(owner);
        let from: Vec<Option<ValueId>> = op.operands.iter().map(|o| o.arg.value()).collect();
        let copied = |arg: &ValueId, from: &Option<ValueId>| self.placement.slot(*arg).is_some() && *from != Some(*arg);
        for (_, from) in args.iter().zip(&from).filter(|(a, f)| copied(a, f)) {
            from.iter().for_each(|v| self.touch(state, *v, effect));
        }
        let read = std::mem::take(&mut effect.touch);
        self.assign(state, effect, args.iter().copied().zip(from.iter().copied()));
        for (arg, _) in args.iter().zip(&from).filter(|(a, f)| copied(a, f)) {
            self.renew(state, *arg, effect);
            self.bind(state, effect, *arg, BTreeSet::from([(*arg, Means::Contents)]));
            effect.touch.insert(*arg);
        }
        effect.touch.extend(read);
    }

    /// Touches all operands, then defines the results.
    fn execute(&self, op: &Op, state: &mut State, effect: &mut Effect) {
        op.values().for_each(|v| self.touch(state, v, effect));
        for r in op.results.iter().filter(|r| self.is_tile(**r)) {
            if self.is_bound_early(*r) {
                continue;
            }
            let refers = |v: &ValueId| state.get(v).is_some_and(|i| i.contains(&(*r, Means::Contents)));
            effect.stale = effect
                .stale
                .or(op.values().find(|v| self.is_handed_on(*v) && refers(v)));
            self.renew(state, *r, effect);
            self.bind(state, effect, *r, BTreeSet::from([(*r, Means::Contents)]));
            effect.touch.insert(*r);
        }
    }

    fn instruction(&self, op: &Op, opcode: Opcode, state: &mut State, effect: &mut Effect) {
        let copies = self.profile == Profile::Cpu && matches!(opcode, Opcode::Treshape | Opcode::Bitcast);
        let view = match opcode {
            Opcode::Tsubview | Opcode::Subset | Opcode::Treshape | Opcode::Bitcast | Opcode::TfillpadInplace => {
                op.operand(Role::Src).and_then(|o| o.arg.value()).filter(|_| !copies)
            }
            _ => None,
        };
        match (opcode, view) {
            (Opcode::SetValidshape, _) => {}
            (Opcode::Tassign, _) => {
                let tiles = op
                    .operands
                    .iter()
                    .filter(|o| o.role != Role::Addr)
                    .filter_map(|o| o.arg.value());
                for v in tiles.chain(op.results.iter().copied()) {
                    self.bind(state, effect, v, BTreeSet::new());
                }
            }
            (Opcode::AllocTile, _) => {
                for r in &op.results {
                    let manual = op.operand(Role::Addr).is_some() || self.is_bound_early(*r);
                    let items = if manual {
                        BTreeSet::new()
                    } else {
                        BTreeSet::from([(*r, Means::Contents)])
                    };
                    self.bind(state, effect, *r, items);
                    effect.renew.extend((!manual).then_some(*r));
                }
            }
            (_, Some(src)) => {
                self.touch(state, src, effect);
                let items = state.get(&src).cloned().unwrap_or_default();
                let bound: BTreeSet<Item> = items.iter().map(|(root, _)| (*root, Means::Storage)).collect();
                let outs = op
                    .operands
                    .iter()
                    .filter(|o| o.role.is_dst())
                    .filter_map(|o| o.arg.value());
                for v in outs.chain(op.results.iter().copied()) {
                    let old = state.get(&v).cloned().unwrap_or_default();
                    let unplaced = !old.is_empty() && old.iter().all(|(root, _)| *root == v);
                    if op.results.contains(&v) {
                        self.bind(state, effect, v, items.clone());
                    } else if opcode == Opcode::TfillpadInplace && !unplaced {
                        // It has an address, or is a view already.
                        effect.uses.insert(v);
                        state.entry(v).or_default().extend(bound.iter().copied());
                    } else {
                        self.bind(state, effect, v, bound.clone());
                    }
                }
            }
            _ => self.execute(op, state, effect),
        }
    }
}
