//! Follows handles through the program: which roots exist, and which operation uses which of them.
//!
//! The walk is flow-sensitive, because TRESHAPE, DPS TSUBVIEW and TASSIGN bind a tile anew "from here on" (ops.md 4): in
//! straight-line code the newest binding replaces the older one, branches are joined, and loops are walked until what
//! enters them no longer grows. What enters a loop is remembered across walks and only ever grows, so nested loops add
//! up instead of multiplying.

use crate::binding::{Binding, RootId};
use crate::consts::{constants, known_arg};
use crate::points::Points;
use crate::tile_of;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::{BlockId, Def, Func, Module, Op, OpId, OpKind, ValueId};
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// A tile with a constant address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manual {
    /// The tile.
    pub value: ValueId,
    /// The `alloc_tile` or `tassign` that says the address.
    pub op: OpId,
    /// The memory.
    pub loc: Loc,
    /// The first byte.
    pub addr: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// A value that owns storage.
#[derive(Clone, Debug)]
pub struct Root {
    /// The value.
    pub value: ValueId,
    /// The memory.
    pub loc: Loc,
    /// Bytes of the declared area.
    pub bytes: u64,
    /// The block whose every execution gives it new contents.
    pub home: BlockId,
    /// The block it is alive in: wider than `home` where a tile from outside is bound to it.
    pub scope: BlockId,
    /// The operation that defines it, a loop for what it carries; none for what holds contents from the start.
    pub definition: Option<OpId>,
}

/// What the walk found.
pub struct Flow {
    /// The roots.
    pub roots: Vec<Root>,
    /// By root: too entangled to follow; it lives for the whole function.
    pub pinned: Vec<bool>,
    /// Which operation uses which root; repeated and in no order.
    pub uses: Vec<(RootId, OpId)>,
    /// Roots that are read after the end.
    pub kept: Vec<RootId>,
    /// Tiles with a constant address.
    pub manual: Vec<Manual>,
    /// By location: is there a tile with a computed address?
    pub computed: [bool; 9],
}

/// Walks a function.
pub fn trace(module: &Module, func: &Func, profile: Profile, keep: &[ValueId], points: &Points) -> Flow {
    let mut walk = Walk {
        module,
        func,
        profile,
        points,
        flow: Flow {
            roots: Vec::new(),
            pinned: Vec::new(),
            uses: Vec::new(),
            kept: Vec::new(),
            manual: Vec::new(),
            computed: [false; 9],
        },
        own: vec![None; func.values.len()],
        bound: vec![Binding::default(); func.values.len()],
        early: FxHashSet::default(),
        journal: Vec::new(),
        entries: FxHashMap::default(),
        kept: keep.iter().chain(&func.outputs).copied().collect(),
    };
    walk.manual_tiles();
    for (i, value) in func.values.iter().enumerate() {
        if matches!(value.def, Def::Arg(_) | Def::Input | Def::ListingOut) {
            let id = ValueId(i as u32);
            walk.bound[i] = walk.own(id);
        }
    }
    walk.block(func.body);
    walk.keep();
    walk.flow
}

struct Walk<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    points: &'a Points,
    flow: Flow,
    /// By value: its own root, once it has one.
    own: Vec<Option<RootId>>,
    /// By value: what it stands for now.
    bound: Vec<Binding>,
    /// Values that TASSIGN names before their definition (syntax.md 1).
    early: FxHashSet<ValueId>,
    /// Older bindings, newest last.
    journal: Vec<(ValueId, Binding)>,
    /// By loop: what its values may stand for when an iteration begins.
    entries: FxHashMap<OpId, FxHashMap<ValueId, Binding>>,
    kept: FxHashSet<ValueId>,
}

impl Walk<'_> {
    fn manual_tiles(&mut self) {
        let known = constants(self.func);
        let mut found = Vec::new();
        self.func.walk(&mut |id, op, _| {
            let tile = match op.opcode() {
                Some(Opcode::AllocTile) => op.results.first().copied(),
                Some(Opcode::Tassign) => tassign_tile(op),
                _ => None,
            };
            if let (Some(value), Some(addr)) = (tile, op.operand(Role::Addr)) {
                found.push((value, id, known_arg(&known, addr.arg)));
            }
        });
        for (value, op, addr) in found {
            let Some(tile) = tile_of(self.module, self.func, self.profile, value) else {
                continue;
            };
            match addr.map(u64::try_from) {
                Some(Ok(addr)) => self.flow.manual.push(Manual {
                    value,
                    op,
                    loc: tile.loc,
                    addr,
                    bytes: tile.bytes(),
                }),
                // A negative address is refused when it is checked; it blocks nothing.
                Some(Err(_)) => {}
                None => self.flow.computed[tile.loc as usize] = true,
            }
        }
    }

    /// The value's own storage.
    fn own(&mut self, value: ValueId) -> Binding {
        if let Some(id) = self.own[value.index()] {
            return Binding::root(id);
        }
        let Some(tile) = tile_of(self.module, self.func, self.profile, value) else {
            return Binding::default();
        };
        let definition = match self.func.value(value).def {
            // The buffer of a carried value belongs to the loop as a whole.
            Def::BlockArg(block, _) => self.points.owner(block),
            Def::Result(op, _) => Some(op),
            Def::Arg(_) | Def::Input | Def::ListingOut => None,
        };
        let home = definition.map_or(self.func.body, |op| self.points.block_of(op));
        let id = self.flow.roots.len() as RootId;
        self.flow.roots.push(Root {
            value,
            loc: tile.loc,
            bytes: tile.bytes(),
            home,
            scope: home,
            definition,
        });
        self.flow.pinned.push(false);
        self.own[value.index()] = Some(id);
        Binding::root(id)
    }

    fn joined(&mut self, a: &Binding, b: &Binding) -> Binding {
        let mut all = a.clone();
        all.join(b, &mut self.flow.pinned);
        all
    }

    /// Binds a tile that exists already.
    fn rebind(&mut self, value: ValueId, to: Binding) {
        let old = std::mem::replace(&mut self.bound[value.index()], to);
        self.journal.push((value, old));
    }

    /// Takes back all bindings since a mark.
    fn restore(&mut self, mark: usize) {
        while self.journal.len() > mark {
            let Some((value, old)) = self.journal.pop() else {
                return;
            };
            let newer = std::mem::replace(&mut self.bound[value.index()], old);
            if self.kept.contains(&value) {
                self.flow.kept.extend(newer.roots);
            }
        }
    }

    /// The values that were bound anew since a mark, with what they stood for before.
    fn changed(&self, mark: usize) -> Vec<(ValueId, Binding)> {
        let mut seen = FxHashSet::default();
        let since = self.journal.get(mark..).unwrap_or_default();
        since.iter().filter(|(v, _)| seen.insert(*v)).cloned().collect()
    }

    fn is_tile(&self, value: ValueId) -> bool {
        self.module.types.get(self.func.value(value).ty).is_tile()
    }

    fn use_value(&mut self, value: ValueId, op: OpId) {
        for root in &self.bound[value.index()].roots {
            self.flow.uses.push((*root, op));
        }
    }

    fn block(&mut self, block: BlockId) {
        let func = self.func;
        for id in &func.block(block).ops {
            self.op(*id, func.op(*id));
        }
    }

    fn op(&mut self, id: OpId, op: &Op) {
        match &op.kind {
            OpKind::Pto(opcode, _) => self.instruction(id, op, *opcode),
            OpKind::For | OpKind::While => self.uses(id, op, |_| true),
            OpKind::If => {}
            // Handed on: the result stands for any of the operands.
            OpKind::Select => {
                self.uses(id, op, |_| true);
                let all = self.union(op.values());
                op.results.iter().for_each(|r| self.bound[r.index()] = all.clone());
            }
            _ => {
                self.uses(id, op, |_| true);
                self.define_results(id, op);
            }
        }
        match op.kind {
            OpKind::If => self.branch(op),
            OpKind::For | OpKind::While => self.repeat(id, op),
            _ => {}
        }
    }

    fn uses(&mut self, id: OpId, op: &Op, counts: impl Fn(Role) -> bool) {
        for operand in &op.operands {
            if let Some(v) = operand.arg.value().filter(|_| counts(operand.role)) {
                self.use_value(v, id);
            }
        }
    }

    /// Results that own storage; each execution initialises it anew.
    fn define_results(&mut self, id: OpId, op: &Op) {
        for r in &op.results {
            if self.is_tile(*r) && !self.early.contains(r) {
                self.bound[r.index()] = self.own(*r);
            }
            self.use_value(*r, id);
        }
    }

    fn union(&mut self, values: impl Iterator<Item = ValueId>) -> Binding {
        let mut all = Binding::default();
        for v in values {
            all.join(&self.bound[v.index()], &mut self.flow.pinned);
        }
        all
    }

    fn instruction(&mut self, id: OpId, op: &Op, opcode: Opcode) {
        let src = op.operand(Role::Src).and_then(|o| o.arg.value());
        match (opcode, src) {
            (Opcode::AllocTile, _) => {
                if let Some(r) = op.results.first().filter(|r| !self.early.contains(r)) {
                    self.bound[r.index()] = if op.operand(Role::Addr).is_some() {
                        Binding::manual()
                    } else {
                        self.own(*r)
                    };
                }
            }
            (Opcode::Tassign, _) => {
                if let Some(tile) = tassign_tile(op) {
                    self.rebind(tile, Binding::manual());
                    if matches!(self.func.value(tile).def, Def::Result(d, _) if self.points.begin(d) > self.points.begin(id))
                    {
                        self.early.insert(tile);
                    }
                }
                op.results
                    .iter()
                    .for_each(|r| self.bound[r.index()] = Binding::manual());
            }
            // Sets extents, touches no byte.
            (Opcode::SetValidshape, _) => {}
            (_, Some(src)) if self.is_view(opcode) => self.view(id, op, opcode, src),
            _ => {
                self.uses(id, op, |_| true);
                self.define_results(id, op);
            }
        }
    }

    /// Does the instruction bind its destination to its source's storage? On `cpu` TRESHAPE copies (ops.md 4).
    fn is_view(&self, opcode: Opcode) -> bool {
        match opcode {
            Opcode::Tsubview | Opcode::Subset | Opcode::TfillpadInplace => true,
            Opcode::Treshape | Opcode::Bitcast => self.profile.is_npu(),
            _ => false,
        }
    }

    fn view(&mut self, id: OpId, op: &Op, opcode: Opcode, src: ValueId) {
        self.uses(id, op, |role| !role.is_dst());
        let source = self.bound[src.index()].clone();
        for r in &op.results {
            self.bound[r.index()] = source.clone();
        }
        let dsts: SmallVec<[ValueId; 2]> = op
            .operands
            .iter()
            .filter(|o| o.role.is_dst())
            .filter_map(|o| o.arg.value())
            .collect();
        for dst in dsts {
            let old = self.bound[dst.index()].clone();
            // In place, a destination that has an address keeps it, and one that is a view already stays one (ops.md 6).
            let stays = opcode == Opcode::TfillpadInplace
                && old != self.own[dst.index()].map(Binding::root).unwrap_or_default();
            let new = if stays {
                self.joined(&old, &source)
            } else {
                source.clone()
            };
            let home = self.points.home(self.func, dst);
            for root in &new.roots {
                if let Some(r) = self.flow.roots.get_mut(*root as usize) {
                    r.scope = self.points.common(r.scope, home);
                }
            }
            self.rebind(dst, new);
            if opcode == Opcode::TfillpadInplace {
                self.use_value(dst, id);
            }
        }
    }

    /// What the end of a block hands on, by position; none for a literal.
    fn yielded(&self, block: BlockId) -> SmallVec<[Option<ValueId>; 4]> {
        let last = self.func.block(block).ops.last().map(|id| self.func.op(*id));
        match last {
            Some(op) if op.kind == OpKind::Yield => op.operands.iter().map(|o| o.arg.value()).collect(),
            // scf.condition hands on all but the condition itself.
            Some(op) if op.kind == OpKind::Condition => op.operands.iter().skip(1).map(|o| o.arg.value()).collect(),
            _ => SmallVec::new(),
        }
    }

    fn branch(&mut self, op: &Op) {
        let mut results = vec![Binding::default(); op.results.len()];
        let mark = self.journal.len();
        // What each branch leaves bound anew, and what it was before.
        let mut after: FxHashMap<ValueId, SmallVec<[Binding; 2]>> = FxHashMap::default();
        for block in &op.blocks {
            self.block(*block);
            for (result, v) in results.iter_mut().zip(self.yielded(*block)) {
                if let Some(v) = v {
                    result.join(&self.bound[v.index()], &mut self.flow.pinned);
                }
            }
            for (v, _) in self.changed(mark) {
                after.entry(v).or_default().push(self.bound[v.index()].clone());
            }
            self.restore(mark);
        }
        for (v, bindings) in after {
            // A branch that does not bind it leaves it as it was.
            let unchanged = (bindings.len() < 2).then(|| self.bound[v.index()].clone());
            let mut all = Binding::default();
            for b in bindings.iter().chain(&unchanged) {
                all.join(b, &mut self.flow.pinned);
            }
            self.rebind(v, all);
        }
        for (r, binding) in op.results.iter().zip(results) {
            self.bound[r.index()] = binding;
        }
    }

    fn repeat(&mut self, id: OpId, op: &Op) {
        let is_for = op.kind == OpKind::For;
        let Some(first) = op.blocks.first().copied() else {
            return;
        };
        let last = op.blocks.last().copied().unwrap_or(first);
        // scf.for has an induction variable, and bounds and step before the initial values.
        let (skip_args, skip_operands) = if is_for { (1, 3) } else { (0, 0) };
        let args: SmallVec<[ValueId; 4]> = self.func.block(first).args.iter().skip(skip_args).copied().collect();
        loop {
            let mark = self.journal.len();
            let entry = self.entries.get(&id).cloned().unwrap_or_default();
            for (arg, init) in args.iter().zip(op.operands.iter().skip(skip_operands)) {
                self.bound[arg.index()] = init
                    .arg
                    .value()
                    .map(|v| self.bound[v.index()].clone())
                    .unwrap_or_default();
            }
            for (v, more) in entry {
                let all = self.joined(&self.bound[v.index()].clone(), &more);
                self.rebind(v, all);
            }
            let mut exit = self.journal.len();
            self.block(first);
            let mut handed = self.yielded(first);
            if !is_for {
                // The values of scf.condition go to the second block and out of the loop.
                exit = self.journal.len();
                let receivers = [&self.func.block(last).args, &op.results];
                for (to, from) in receivers.into_iter().flat_map(|r| r.iter().zip(&handed)) {
                    self.bound[to.index()] = from.map(|v| self.bound[v.index()].clone()).unwrap_or_default();
                }
                if last != first {
                    self.block(last);
                    handed = self.yielded(last);
                }
            }
            let grown = self.back_edge(id, &args, &handed, mark);
            if is_for {
                for (r, arg) in op.results.iter().zip(&args) {
                    self.bound[r.index()] = self.bound[arg.index()].clone();
                }
            }
            self.restore(if grown { mark } else { exit });
            if !grown {
                break;
            }
        }
    }

    /// Remembers what an iteration hands to the next one; does that say more than was known?
    fn back_edge(&mut self, id: OpId, args: &[ValueId], handed: &[Option<ValueId>], mark: usize) -> bool {
        let mut next: Vec<(ValueId, Binding)> = Vec::new();
        for (arg, from) in args.iter().zip(handed) {
            let Some(from) = from.filter(|from| self.is_tile(*arg) && from != arg) else {
                continue;
            };
            let binding = self.bound[from.index()].clone();
            if self.needs_buffer(id, *arg, args, &binding) {
                let own = self.own(*arg);
                self.flow.uses.extend(own.roots.iter().map(|r| (*r, id)));
                next.push((*arg, own));
            } else {
                next.push((*arg, binding));
            }
        }
        for (v, _) in self.changed(mark) {
            if !self.is_local(id, v) {
                next.push((v, self.bound[v.index()].clone()));
            }
        }
        let mut grown = false;
        let entry = self.entries.entry(id).or_default();
        for (v, binding) in next {
            let known = entry.entry(v).or_default();
            if !known.covers(&binding, &self.flow.pinned) {
                known.join(&binding, &mut self.flow.pinned);
                grown = true;
            }
        }
        grown
    }

    /// Is a value or home block inside a loop?
    fn is_local(&self, id: OpId, value: ValueId) -> bool {
        let home = self.points.home(self.func, value);
        self.func.op(id).blocks.iter().any(|b| self.points.is_inside(home, *b))
    }

    /// Must the loop copy what it yields? Yes if that may lie in storage which the next iteration writes anew: a root of
    /// the loop's own blocks, or the buffer of another carried value.
    fn needs_buffer(&self, id: OpId, arg: ValueId, args: &[ValueId], yielded: &Binding) -> bool {
        let others = |r: &RootId| args.iter().any(|a| *a != arg && self.own[a.index()] == Some(*r));
        let inside = |r: &RootId| {
            let home = self.flow.roots.get(*r as usize).map(|root| root.home);
            home.is_some_and(|home| self.func.op(id).blocks.iter().any(|b| self.points.is_inside(home, *b)))
        };
        yielded.pinned || yielded.roots.iter().any(|r| others(r) || inside(r))
    }

    fn keep(&mut self) {
        for v in self.kept.clone() {
            if let Some(binding) = self.bound.get(v.index()) {
                self.flow.kept.extend_from_slice(&binding.roots);
            }
        }
    }
}

/// The tile that a TASSIGN binds.
fn tassign_tile(op: &Op) -> Option<ValueId> {
    op.operands
        .iter()
        .find(|o| o.role != Role::Addr)
        .and_then(|o| o.arg.value())
}
