//! What one step does to handles and storages.

use super::graph::Step;
use std::collections::{BTreeMap, BTreeSet};
use tessera_ir::edges::{Control, When};
use tessera_ir::{Def, Func, Module, Op, OpId, OpKind, ValueId};
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Tile;
use tessera_plan::Placement;

/// A tile that a handle may be, by the value that defines it, and whether it was made anew since the handle got it.
pub type Ref = (ValueId, bool);

/// What is known before or after a step.
#[derive(Clone, Default)]
pub struct State {
    /// By handle: the tiles it may be.
    pub refs: BTreeMap<ValueId, BTreeSet<Ref>>,
    /// By tile: the storages, by their roots, that it may be bound to. A manual tile is bound to none of them.
    pub places: BTreeMap<ValueId, BTreeSet<ValueId>>,
}

impl State {
    /// The storages that a handle may refer to.
    pub fn storages(&self, v: ValueId) -> BTreeSet<ValueId> {
        let tiles = self.refs.get(&v).into_iter().flatten();
        tiles.filter_map(|(tile, _)| self.places.get(tile)).flatten().copied().collect()
    }

    /// Knows also what another path knows; was that news?
    pub fn join(&mut self, other: &State) -> bool {
        let mut grown = false;
        for (v, refs) in &other.refs {
            let known = self.refs.entry(*v).or_default();
            refs.iter().for_each(|r| grown |= known.insert(*r));
        }
        for (tile, places) in &other.places {
            let known = self.places.entry(*tile).or_default();
            places.iter().for_each(|p| grown |= known.insert(*p));
        }
        grown
    }
}

/// What a step does.
#[derive(Default)]
pub struct Effect {
    /// Storages whose bytes it reads or writes.
    pub touch: BTreeSet<ValueId>,
    /// Those of them that are touched through their own name, which refers to nothing else: on every path, that is.
    pub sure: BTreeSet<ValueId>,
    pub uses: BTreeSet<ValueId>,
    /// Handles that it makes other tiles.
    pub binds: BTreeSet<ValueId>,
    /// Tiles whose place it needs to know.
    pub reads: BTreeSet<ValueId>,
    /// Tiles that it puts into another place.
    pub moves: BTreeSet<ValueId>,
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
    pub fn values(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.func.values.len() as u32).map(ValueId)
    }

    pub fn name(&self, v: ValueId) -> String {
        format!("%{}", self.module.names.text(self.func.value(v).name))
    }

    /// The tile of a value; a conv tile counts as one row.
    pub fn tile(&self, v: ValueId) -> Option<Tile> {
        self.module.types.get(self.func.value(v).ty).on(self.profile)
    }

    fn is_tile(&self, v: ValueId) -> bool {
        self.tile(v).is_some()
    }

    /// Does the value hold contents when the function begins?
    pub fn is_input(&self, v: ValueId) -> bool {
        matches!(self.func.value(v).def, Def::Arg(_) | Def::Input | Def::ListingOut)
    }

    pub fn inputs(&self) -> impl Iterator<Item = ValueId> {
        self.values().filter(|v| self.is_input(*v) && self.is_tile(*v))
    }

    /// Does TASSIGN name the value before the operation that defines it?
    fn is_bound_early(&self, v: ValueId) -> bool {
        let Def::Result(def, _) = self.func.value(v).def else { return false };
        self.func.ops.iter().enumerate().any(|(i, op)| {
            op.opcode() == Some(Opcode::Tassign)
                && op.operands.iter().any(|o| o.role != Role::Addr && o.arg.value() == Some(v))
                && self.order[i] < self.order[def.index()]
        })
    }

    fn touch(&self, state: &State, v: ValueId, effect: &mut Effect) {
        effect.uses.insert(v);
        let storages = state.storages(v);
        if storages == BTreeSet::from([v]) {
            effect.sure.insert(v);
        }
        effect.touch.extend(storages);
        for (tile, anew) in state.refs.get(&v).into_iter().flatten() {
            effect.reads.insert(*tile);
            effect.stale = anew.then_some(v).or(effect.stale);
        }
    }

    /// A tile of its own, bound to these storages.
    fn define(&self, state: &mut State, effect: &mut Effect, v: ValueId, places: BTreeSet<ValueId>) {
        effect.binds.insert(v);
        effect.moves.insert(v);
        for (handle, refs) in state.refs.iter_mut() {
            // What control flow handed on no longer means the same.
            if self.is_handed_on(*handle) && refs.remove(&(v, false)) {
                refs.insert((v, true));
            }
        }
        state.refs.insert(v, BTreeSet::from([(v, false)]));
        state.places.insert(v, places);
    }

    /// The same with storage of its own, which begins anew.
    fn define_own(&self, state: &mut State, effect: &mut Effect, v: ValueId) {
        effect.renew.insert(v);
        self.define(state, effect, v, BTreeSet::from([v]));
    }

    /// Does control flow hand the value on?
    fn is_handed_on(&self, v: ValueId) -> bool {
        match self.func.value(v).def {
            Def::BlockArg(..) => true,
            Def::Result(op, _) => self.func.op(op).kind.is_flow(),
            _ => false,
        }
    }

    /// Runs a step.
    pub fn run(&self, step: Step, state: &mut State) -> Effect {
        let mut effect = Effect::default();
        match step {
            Step::Entry => {
                for v in self.inputs() {
                    self.define(state, &mut effect, v, BTreeSet::from([v]));
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
            Step::Head(id) => self.forget(id, state),
            // Only scf.for hands on its carried values when it is left; the others did so where a block ended.
            Step::Leave(id) if self.func.op(id).kind == OpKind::For => {
                self.hand_all(state, &mut effect, id, When::Leave);
            }
            Step::Leave(_) => {}
            Step::Op(id) => self.op(id, state, &mut effect),
        }
        effect
    }

    /// A new iteration defines the tiles of the loop's blocks before it uses them. (Nobody knows that of those which are
    /// kept: they may be of any iteration.)
    fn forget(&self, id: OpId, state: &mut State) {
        let op = self.func.op(id);
        let args = self.carried(id);
        let kept = self.keep.iter().filter_map(|v| state.refs.get(v)).flatten();
        let kept: BTreeSet<ValueId> = kept.map(|(tile, _)| *tile).collect();
        state.places.retain(|tile, _| {
            let home = self.placement.points.home(self.func, *tile);
            let local = op.blocks.iter().any(|b| self.placement.points.is_inside(home, *b));
            !local || args.contains(tile) || kept.contains(tile)
        });
    }

    /// Who takes which value then.
    fn pairs(&self, id: OpId, when: When) -> Vec<(ValueId, Option<ValueId>)> {
        let Ok(control) = Control::of(self.func, self.func.op(id)) else { return Vec::new() };
        let edges = control.edges().into_iter().filter(|e| e.when == when);
        edges.flat_map(|e| e.pairs()).map(|(to, from)| (to, from.value())).collect()
    }

    fn hand_all(&self, state: &mut State, effect: &mut Effect, id: OpId, when: When) {
        self.hand(state, effect, self.pairs(id, when).into_iter());
    }

    /// The values that a loop carries.
    fn carried(&self, id: OpId) -> Vec<ValueId> {
        self.pairs(id, When::Again).into_iter().map(|(to, _)| to).collect()
    }

    /// Hands tiles on by reference, all at once.
    fn hand(&self, state: &mut State, effect: &mut Effect, pairs: impl Iterator<Item = (ValueId, Option<ValueId>)>) {
        let mut new = Vec::new();
        for (to, from) in pairs.filter(|(to, _)| self.is_tile(*to)) {
            effect.uses.extend(from);
            effect.binds.insert(to);
            new.push((to, from.and_then(|v| state.refs.get(&v).cloned()).unwrap_or_default()));
        }
        state.refs.extend(new);
    }

    fn enter(&self, id: OpId, state: &mut State, effect: &mut Effect) {
        // The buffers begin with the loop; the first iteration does not use them.
        for arg in self.carried(id).iter().filter(|a| self.placement.slot(**a).is_some()) {
            self.define_own(state, effect, *arg);
        }
        self.hand_all(state, effect, id, When::Enter);
    }

    fn op(&self, id: OpId, state: &mut State, effect: &mut Effect) {
        let op = self.func.op(id);
        let block = self.placement.points.block_of(id);
        let owner = self.placement.points.owner(block);
        match (&op.kind, owner) {
            (OpKind::Yield, Some(owner)) if self.func.op(owner).kind == OpKind::If => {
                let from = op.operands.iter().map(|o| o.arg.value());
                self.hand(state, effect, self.func.op(owner).results.iter().copied().zip(from));
            }
            (OpKind::Yield, Some(owner)) => self.back(owner, state, effect),
            (OpKind::Condition, Some(owner)) => {
                self.hand_all(state, effect, owner, When::Proceed);
                self.hand_all(state, effect, owner, When::Leave);
            }
            (OpKind::Pto(opcode, _), _) => self.instruction(op, *opcode, state, effect),
            (OpKind::Select, _) => {
                effect.uses.extend(op.values());
                let all: BTreeSet<Ref> = op.values().filter_map(|v| state.refs.get(&v)).flatten().copied().collect();
                for r in &op.results {
                    effect.binds.insert(*r);
                    state.refs.insert(*r, all.clone());
                }
            }
            _ => self.execute(op, state, effect),
        }
    }

    /// The end of an iteration: buffers take copies, everything else is handed on by reference.
    fn back(&self, owner: OpId, state: &mut State, effect: &mut Effect) {
        let pairs = self.pairs(owner, When::Again);
        let copied =
            |(arg, from): &&(ValueId, Option<ValueId>)| self.placement.slot(*arg).is_some() && *from != Some(*arg);
        for (_, from) in pairs.iter().filter(copied) {
            from.iter().for_each(|v| self.touch(state, *v, effect));
        }
        self.hand(state, effect, pairs.iter().copied());
        for (arg, _) in pairs.iter().filter(copied) {
            self.define_own(state, effect, *arg);
            effect.touch.insert(*arg);
        }
    }

    /// Touches all operands, then defines the results.
    fn execute(&self, op: &Op, state: &mut State, effect: &mut Effect) {
        op.values().for_each(|v| self.touch(state, v, effect));
        for r in op.results.iter().filter(|r| self.is_tile(**r)) {
            let is = |v: &ValueId| state.refs.get(v).is_some_and(|refs| refs.contains(&(*r, false)));
            effect.stale = effect.stale.or(op.values().find(|v| self.is_handed_on(*v) && is(v)));
            if self.is_bound_early(*r) {
                self.define(state, effect, *r, BTreeSet::new());
            } else {
                self.define_own(state, effect, *r);
                effect.touch.insert(*r);
            }
        }
    }

    /// Binds whichever tile a handle is to storages.
    fn bind(&self, state: &mut State, effect: &mut Effect, v: ValueId, to: &BTreeSet<ValueId>) {
        let tiles = state.refs.get(&v).cloned().unwrap_or_default();
        for (tile, _) in &tiles {
            let places = state.places.entry(*tile).or_default();
            if tiles.len() == 1 {
                effect.moves.insert(*tile);
                places.clear();
            }
            places.extend(to);
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
                for v in op.operands.iter().filter(|o| o.role != Role::Addr).filter_map(|o| o.arg.value()) {
                    self.bind(state, effect, v, &BTreeSet::new());
                    self.hand(state, effect, op.results.iter().map(|r| (*r, Some(v))));
                }
            }
            (Opcode::AllocTile, _) => {
                for r in &op.results {
                    if op.operand(Role::Addr).is_some() || self.is_bound_early(*r) {
                        self.define(state, effect, *r, BTreeSet::new());
                    } else {
                        self.define_own(state, effect, *r);
                    }
                }
            }
            (_, Some(src)) => {
                self.touch(state, src, effect);
                let storages = state.storages(src);
                for v in op.operands.iter().filter(|o| o.role.is_dst()).filter_map(|o| o.arg.value()) {
                    let old = state.storages(v);
                    let mut to = storages.clone();
                    // In place: it has an address, or is a view already.
                    if opcode == Opcode::TfillpadInplace && old != BTreeSet::from([v]) {
                        effect.uses.insert(v);
                        let tiles = state.refs.get(&v).into_iter().flatten();
                        effect.reads.extend(tiles.map(|(tile, _)| *tile));
                        to.extend(old);
                    }
                    self.bind(state, effect, v, &to);
                }
                op.results.iter().for_each(|r| self.define(state, effect, *r, storages.clone()));
            }
            _ => self.execute(op, state, effect),
        }
    }
}
