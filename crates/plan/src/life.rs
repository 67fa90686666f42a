//! Lives: from where to where each root is needed.

use crate::Slot;
use crate::binding::RootId;
use crate::flow::{Flow, Root};
use crate::points::Points;
use tessera_ir::{Func, OpId, ValueId};
use tessera_isa::tile::Loc;

/// The life of a root that is used.
#[derive(Clone, Debug)]
pub struct Life {
    pub root: RootId,
    pub value: ValueId,
    pub loc: Loc,
    pub bytes: u64,
    pub start: u32,
    /// The last position, itself included.
    pub end: u32,
    /// The operation where its contents begin; none for inputs.
    pub fresh: Option<OpId>,
    /// Whether it is room for scratch, and no tile of the program.
    pub is_scratch: bool,
    /// The address that the text says, and the operation that says it; the address is none where it is computed.
    pub manual: Option<(OpId, Option<u64>)>,
}

/// The lives of all roots that are used, in the order of the roots.
pub fn lives(func: &Func, points: &Points, flow: &Flow) -> Vec<Life> {
    let mut lives: Vec<Option<Life>> = vec![None; flow.roots.len()];
    for u in &flow.uses {
        let root = &flow.roots[u.root];
        extend(func, points, root, lives[u.root].get_or_insert_with(|| Life::new(u.root, root)), u.op);
    }
    for id in &flow.kept {
        let root = &flow.roots[*id];
        let life = lives[*id].get_or_insert_with(|| Life::new(*id, root));
        life.end = points.exit();
        let Some(definition) = root.definition else {
            life.start = 0;
            continue;
        };
        life.fresh.get_or_insert(definition);
        // A kept tile of an inner block must survive whatever the blocks around it do next.
        let (_, outermost) = points.reach(func, definition, func.body);
        if outermost.is_some() || life.start == u32::MAX {
            life.start = life.start.min(points.begin(outermost.unwrap_or(definition)));
        }
    }
    for (id, (root, life)) in flow.roots.iter().zip(&mut lives).enumerate().filter(|(_, (root, _))| root.pinned) {
        let life = life.get_or_insert_with(|| Life::new(id, root));
        (life.start, life.end) = (0, points.exit());
        life.fresh = if root.shared { None } else { life.fresh.or(root.definition) };
    }
    lives.into_iter().flatten().collect()
}

impl Life {
    /// Not used yet.
    fn new(id: RootId, root: &Root) -> Self {
        let (value, loc, bytes, manual) = (root.value, root.loc, root.bytes, root.definition.zip(root.manual));
        Life {
            root: id,
            value,
            loc,
            bytes,
            start: u32::MAX,
            end: 0,
            fresh: None,
            is_scratch: root.scratch.is_some(),
            manual,
        }
    }

    /// The storage at an address.
    pub fn at(&self, addr: u64) -> Slot {
        Slot { loc: self.loc, addr, bytes: self.bytes, start: self.start, end: self.end }
    }
}

fn extend(func: &Func, points: &Points, root: &Root, life: &mut Life, op: OpId) {
    // A loop as a user is the loop of a carried value's buffer, or reads initial values: both where it begins.
    let (at, outermost) = points.reach(func, op, root.scope);
    let (mut start, mut end) = (points.begin(op), points.begin(op));
    if let Some(l) = outermost {
        (start, end) = (points.begin(l), points.end(l));
    }
    // Control flow may pass by a use in a branch, so a life begins where every use is still ahead.
    if let Some(at) = at {
        start = start.min(points.begin(at));
    }
    if is_buffer_of(func, root, op) {
        end = end.max(points.end(op));
    }
    life.start = if root.definition.is_none() { 0 } else { life.start.min(start) };
    life.end = life.end.max(end);
    // Contents begin at the first use after the definition; a use before it, through a tile from outside that an
    // earlier iteration bound to this storage, means the old contents.
    let first = points.reach(func, op, root.home).0;
    let after = |f: &OpId| root.definition.is_some_and(|d| points.begin(*f) >= points.begin(d));
    if let Some(first) = first.filter(after) {
        let earlier = |now: OpId| points.begin(first) < points.begin(now);
        if life.fresh.is_none_or(earlier) {
            life.fresh = Some(first);
        }
    }
}

/// Whether the root is the buffer of a value that this loop carries.
fn is_buffer_of(func: &Func, root: &Root, op: OpId) -> bool {
    func.op(op).kind.is_loop() && func.op(op).blocks.iter().any(|b| func.block(*b).args.contains(&root.value))
}
