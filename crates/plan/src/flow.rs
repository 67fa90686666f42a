//! Follows handles through the program: which roots exist, and which operation uses which of them.
//!
//! The walk is flow-sensitive, because TRESHAPE, DPS TSUBVIEW and TASSIGN bind a tile anew "from here on" (ops.md 4): in
//! straight-line code the newest binding replaces the older one, branches are joined, and loops are walked until what
//! enters them no longer grows. What enters a loop is remembered across walks and only ever grows, so nested loops add
//! up instead of multiplying.

mod control;
mod fifo;

use crate::binding::{Binding, Refs, RootId};
use crate::points::Points;
use crate::{Slot, tile_of};
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::edges::Control;
use tessera_ir::scalar::Constants;
use tessera_ir::{BlockId, Def, Fifos, Func, Module, Op, OpId, OpKind, Runs, ValueId};
use tessera_isa::ops::{Bind, Effect, Judged, Opcode, Role, Text};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Sem, scale_pairs};
use tessera_isa::tile::Loc;

/// A tile with a constant address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manual {
    pub value: ValueId,
    /// The `alloc_tile` or `tassign` that says the address.
    pub op: OpId,
    /// Where it lies; its life is from its first use to its last one.
    pub slot: Slot,
}

/// A storage: of a value that owns one, or of an address in the text.
#[derive(Clone, Debug)]
pub struct Root {
    pub value: ValueId,
    pub loc: Loc,
    /// Bytes of the declared area.
    pub bytes: u64,
    /// The block whose every execution gives it new contents.
    pub home: BlockId,
    /// The block it is alive in: wider than `home` where a tile from outside is bound to it.
    pub scope: BlockId,
    /// The operation that defines it, a loop for what it carries; none for what holds contents from the start.
    pub definition: Option<OpId>,
    /// The bytes are where the text says: at a constant address, or at one that is computed.
    pub manual: Option<Option<u64>>,
    /// Too entangled to follow: it lives for the whole function.
    pub pinned: bool,
    /// It is room for scratch that this operation leaves out; `value` is then only the name in messages.
    pub scratch: Option<OpId>,
    /// Cores of both kinds touch it, so nobody knows when its contents begin.
    pub shared: bool,
}

/// An operation touches a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub root: RootId,
    pub op: OpId,
    pub writes: bool,
}

/// What the walk found.
#[derive(Default)]
pub struct Flow {
    pub roots: Vec<Root>,
    /// Which operation uses which root; loops say it repeatedly.
    pub uses: Vec<Use>,
    /// Roots that are read after the end.
    pub kept: Vec<RootId>,
    /// Operands and the scales that an instruction wants at a 16th of their address.
    pub scales: Vec<(RootId, RootId)>,
}

/// Walks a function.
pub fn trace(module: &Module, func: &Func, profile: Profile, keep: &[ValueId], points: &Points) -> Flow {
    let mut walk = Walk {
        module,
        func,
        profile,
        points,
        flow: Flow::default(),
        own: vec![None; func.values.len()],
        refs: vec![Refs::default(); func.values.len()],
        bound: vec![Binding::default(); func.values.len()],
        unlisted: FxHashSet::default(),
        early: FxHashSet::default(),
        addresses: FxHashMap::default(),
        journal: Vec::new(),
        entries: FxHashMap::default(),
        fifos: Fifos::new(module, func),
        buffers: FxHashMap::default(),
        kept: keep.iter().chain(&func.outputs).copied().collect(),
        finds_scratch: module.finds_scratch(func),
        rooms: FxHashSet::default(),
    };
    walk.manual_tiles();
    walk.reserved_buffers();
    for (i, value) in func.values.iter().enumerate() {
        if matches!(value.def, Def::Arg(_) | Def::Input | Def::ListingOut) {
            walk.define(ValueId(i as u32));
        }
    }
    walk.block(func.body);
    for v in walk.kept.clone().into_iter().filter(|v| v.index() < func.values.len()) {
        let binding = walk.binding(v);
        walk.flow.kept.extend(binding.roots);
    }
    if func.runs() == Runs::Mixed {
        walk.share();
    }
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
    /// By value: the tiles it may be.
    refs: Vec<Refs>,
    /// By tile: where it may lie now.
    bound: Vec<Binding>,
    /// Tiles that some handle may be without listing them: wherever they lie, it is pinned.
    unlisted: FxHashSet<ValueId>,
    /// Tiles that TASSIGN names before their definition (syntax.md 1).
    early: FxHashSet<ValueId>,
    /// By operation that says an address: the storage there.
    addresses: FxHashMap<OpId, RootId>,
    journal: Vec<(ValueId, Binding)>,
    /// By loop: what enters an iteration.
    entries: FxHashMap<OpId, control::Entry>,
    fifos: Fifos,
    /// By `reserve_buffer`: its storage.
    buffers: FxHashMap<OpId, RootId>,
    kept: FxHashSet<ValueId>,
    /// Whether scratch that is left out is found, and the operations that have room for it.
    finds_scratch: bool,
    rooms: FxHashSet<OpId>,
}

impl Walk<'_> {
    fn manual_tiles(&mut self) {
        let (func, known) = (self.func, Constants::new(self.module, self.func));
        func.walk(&mut |id, op, _| {
            let tile = match op.opcode().and_then(|o| o.info().binds) {
                Some(Bind::New) => op.results.first().copied(),
                Some(Bind::Address) => tassign_tile(op),
                _ => None,
            };
            if let (Some(value), Some(addr)) = (tile, op.operand(Role::Addr)) {
                // A negative address is refused when it is checked.
                let addr = known.get(addr.arg).map(|a| u64::try_from(a).unwrap_or(u64::MAX));
                let root = self.add_root(value, Some(id), Some(addr));
                self.addresses.extend(root.map(|root| (id, root)));
            }
        });
    }

    /// A new storage, of a value that is a tile.
    fn add_root(&mut self, value: ValueId, definition: Option<OpId>, manual: Option<Option<u64>>) -> Option<RootId> {
        let tile = tile_of(self.module, self.func, self.profile, value)?;
        let home = definition.map_or(self.func.body, |op| self.points.block_of(op));
        let (loc, bytes) = (tile.loc, tile.bytes());
        let root = Root {
            value,
            loc,
            bytes,
            home,
            scope: home,
            definition,
            manual,
            pinned: false,
            scratch: None,
            shared: false,
        };
        self.flow.roots.push(root);
        Some(self.flow.roots.len() - 1)
    }

    /// The value's own storage.
    fn own(&mut self, value: ValueId) -> Binding {
        if self.own[value.index()].is_some() {
            return self.owned(value);
        }
        let definition = match self.func.value(value).def {
            // The buffer of a carried value belongs to the loop as a whole.
            Def::BlockArg(block, _) => self.points.owner(block),
            Def::Result(op, _) => Some(op),
            Def::Arg(_) | Def::Input | Def::ListingOut => None,
        };
        self.own[value.index()] = self.add_root(value, definition, None);
        self.owned(value)
    }

    /// The value's own storage, where it has one by now.
    fn owned(&self, value: ValueId) -> Binding {
        Binding::of(self.own[value.index()])
    }

    /// A value that is a tile of its own, in its own storage unless TASSIGN came first.
    fn define(&mut self, value: ValueId) {
        self.refs[value.index()] = Refs::tile(value);
        if !self.early.contains(&value) {
            self.bound[value.index()] = self.own(value);
        }
    }

    /// Where a handle's tile may lie.
    fn binding(&mut self, value: ValueId) -> Binding {
        let mut all = Binding::default();
        for tile in &self.refs[value.index()].tiles {
            all.join(&self.bound[tile.index()], &mut self.flow.roots);
        }
        all.pinned |= self.refs[value.index()].many;
        all
    }

    fn pin(&mut self, roots: &[RootId]) {
        roots.iter().for_each(|root| self.flow.roots[*root].pinned = true);
    }

    /// Makes a handle one of these tiles.
    fn refer(&mut self, value: ValueId, refs: Refs) {
        if self.kept.contains(&value) {
            self.kept.extend(refs.tiles.iter().copied());
        }
        self.refs[value.index()] = refs;
    }

    fn join_refs(&mut self, into: &mut Refs, more: &Refs) {
        let unlisted = into.join(more, &self.unlisted);
        self.stop_following(unlisted);
    }

    fn stop_following(&mut self, tiles: impl IntoIterator<Item = ValueId>) {
        for tile in tiles {
            self.unlisted.insert(tile);
            let roots = self.bound[tile.index()].roots.clone();
            self.pin(&roots);
        }
    }

    /// Stops following the tiles of a handle.
    fn unlist(&mut self, refs: &mut Refs) {
        refs.many = true;
        self.stop_following(std::mem::take(&mut refs.tiles));
    }

    /// Binds a tile that exists already.
    fn rebind(&mut self, tile: ValueId, to: Binding) {
        if self.unlisted.contains(&tile) {
            self.pin(&to.roots);
        }
        let old = std::mem::replace(&mut self.bound[tile.index()], to);
        self.journal.push((tile, old));
    }

    /// Binds whichever tile a handle is.
    fn bind(&mut self, handle: ValueId, to: &Binding) {
        let refs = self.refs[handle.index()].clone();
        for tile in &refs.tiles {
            let home = self.points.home(self.func, *tile);
            for root in &to.roots {
                let root = &mut self.flow.roots[*root];
                root.scope = self.points.common(root.scope, home);
            }
            let mut binding = to.clone();
            if refs.tiles.len() > 1 || refs.many {
                binding.join(&self.bound[tile.index()], &mut self.flow.roots);
            }
            self.rebind(*tile, binding);
        }
        if refs.many {
            self.pin(&to.roots);
        }
    }

    /// Takes back all bindings since a mark.
    fn restore(&mut self, mark: usize) {
        for (tile, old) in self.journal.drain(mark..).rev() {
            let newer = std::mem::replace(&mut self.bound[tile.index()], old);
            if self.kept.contains(&tile) {
                self.flow.kept.extend(newer.roots);
            }
        }
    }

    /// The tiles that were bound anew since a mark.
    fn changed(&self, mark: usize) -> FxHashSet<ValueId> {
        self.journal[mark..].iter().map(|(tile, _)| *tile).collect()
    }

    fn is_tile(&self, value: ValueId) -> bool {
        self.module.types.get(self.func.value(value).ty).is_tile()
    }

    fn use_value(&mut self, value: ValueId, op: OpId, writes: bool) {
        for tile in &self.refs[value.index()].tiles {
            let roots = self.bound[tile.index()].roots.iter();
            self.flow.uses.extend(roots.map(|root| Use { root: *root, op, writes }));
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
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => {
                // `plan` has verified the function.
                let Ok(control) = Control::of(self.func, op) else { return };
                if let Control::If(choice) = control {
                    return self.branch(op, choice);
                }
                self.uses(id, op, |_| true);
                if op.kind.is_loop() {
                    return self.repeat(id, op, control);
                }
                let mut all = Refs::default();
                for v in op.values() {
                    let more = self.refs[v.index()].clone();
                    self.join_refs(&mut all, &more);
                }
                op.results.iter().for_each(|r| self.refer(*r, all.clone()));
            }
            _ => {
                self.uses(id, op, |_| true);
                self.define_results(id, op);
            }
        }
    }

    fn uses(&mut self, id: OpId, op: &Op, counts: impl Fn(Role) -> bool) {
        for operand in &op.operands {
            if let Some(v) = operand.arg.value().filter(|_| counts(operand.role)) {
                self.use_value(v, id, op.effect(operand.role) != Effect::Read);
            }
        }
    }

    /// Results that own storage; each execution initialises it anew.
    fn define_results(&mut self, id: OpId, op: &Op) {
        for r in &op.results {
            if self.is_tile(*r) {
                self.define(*r);
                self.use_value(*r, id, true);
            }
        }
    }

    fn instruction(&mut self, id: OpId, op: &Op, opcode: Opcode) {
        if let Sem::Fifo(part) = opcode.info().sem {
            return self.fifo(id, op, part);
        }
        let src = op.operand(Role::Src).and_then(|o| o.arg.value());
        match (opcode.binds(self.profile), src) {
            (Some(Bind::New), _) => {
                for r in &op.results {
                    self.define(*r);
                    if let Some(address) = self.addresses.get(&id) {
                        self.bound[r.index()] = Binding::of(Some(*address));
                    }
                }
            }
            (Some(Bind::Address), _) => self.assign(id, op),
            (Some(bind), Some(src)) if bind != Bind::Scale => self.view(id, op, bind, src),
            // Whoever has a tile's address may use it anywhere.
            _ if matches!(opcode.info().text, Text::Address(_)) => {
                for value in op.values() {
                    let binding = self.binding(value);
                    self.pin(&binding.roots);
                }
                self.uses(id, op, |_| true);
            }
            // Sets extents, touches no byte.
            _ if matches!(opcode.info().sem, Sem::Resizes) => {}
            _ => {
                let profile = self.profile;
                self.uses(id, op, |role| op.touches(role, profile));
                self.define_results(id, op);
                self.scales(op, opcode);
                if self.finds_scratch {
                    self.scratch(id, op, opcode);
                }
            }
        }
    }

    /// Room for scratch that an instruction asks for and leaves out (isa/today.md 9).
    fn scratch(&mut self, id: OpId, op: &Op, opcode: Opcode) {
        let (OpKind::Pto(_, form), Some((_, value))) = (&op.kind, op.dsts().first().copied()) else { return };
        let tile = |role: Role, value: ValueId| Some((role, tile_of(self.module, self.func, self.profile, value)?));
        let mut tiles: Vec<Judged> = op.operands.iter().filter_map(|o| tile(o.role, o.arg.value()?)).collect();
        if tiles.iter().any(|(role, _)| *role == Role::Tmp) {
            return;
        }
        tiles.extend(op.dsts().into_iter().filter_map(|(role, value)| tile(role, value)));
        let Some(tile) = opcode.scratch_tile(*form, op.known_attrs(), self.profile, &tiles) else { return };
        if self.rooms.contains(&id) {
            return;
        }
        let bytes = tile.resolve(self.profile).bytes();
        let home = self.points.block_of(id);
        let (definition, scratch) = (Some(id), Some(id));
        let (manual, pinned, shared) = (None, false, false);
        let root = Root { value, loc: Loc::Vec, bytes, home, scope: home, definition, manual, pinned, scratch, shared };
        self.flow.roots.push(root);
        self.rooms.insert(id);
        self.flow.uses.push(Use { root: self.flow.roots.len() - 1, op: id, writes: true });
    }

    /// Notes which storages an instruction wants at a 16th of the other's address.
    fn scales(&mut self, op: &Op, opcode: Opcode) {
        for (operand, scale) in scale_pairs(opcode) {
            let value = |role: Role| {
                let result = || op.dsts().into_iter().find(|(r, _)| *r == role).map(|(_, v)| v);
                op.operand(role).and_then(|o| o.arg.value()).or_else(result)
            };
            let (Some(operand), Some(scale)) = (value(*operand), value(*scale)) else { continue };
            if let ([operand], [scale]) = (self.binding(operand).roots.as_slice(), self.binding(scale).roots.as_slice())
            {
                self.flow.scales.push((*operand, *scale));
            }
        }
    }

    fn assign(&mut self, id: OpId, op: &Op) {
        let Some(tile) = tassign_tile(op) else { return };
        let later = |def: OpId| self.points.begin(def) > self.points.begin(id);
        if matches!(self.func.value(tile).def, Def::Result(def, _) if later(def)) {
            self.early.insert(tile);
            self.refs[tile.index()] = Refs::tile(tile);
        }
        self.bind(tile, &Binding::of(self.addresses.get(&id).copied()));
        let refs = self.refs[tile.index()].clone();
        op.results.iter().for_each(|r| self.refer(*r, refs.clone()));
    }

    fn view(&mut self, id: OpId, op: &Op, bind: Bind, src: ValueId) {
        self.uses(id, op, |role| !role.is_dst());
        let source = self.binding(src);
        for r in &op.results {
            self.refs[r.index()] = Refs::tile(*r);
            self.bound[r.index()] = source.clone();
        }
        let dsts = op.operands.iter().filter(|o| o.role.is_dst()).filter_map(|o| o.arg.value());
        for dst in dsts {
            let mut to = source.clone();
            if bind == Bind::InPlace {
                // A destination that has an address keeps it, and one that is a view already stays one (ops.md 6).
                let old = self.binding(dst);
                if old != self.owned(dst) {
                    to.join(&old, &mut self.flow.roots);
                }
            }
            self.bind(dst, &to);
            if bind == Bind::InPlace {
                self.use_value(dst, id, true);
            }
        }
    }
}

/// The tile that a TASSIGN binds.
fn tassign_tile(op: &Op) -> Option<ValueId> {
    op.operands.iter().find(|o| o.role != Role::Addr).and_then(|o| o.arg.value())
}
