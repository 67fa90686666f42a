//! The order between pipes: which instruction waits for which (ops.md 1 and 10).
//!
//! Instructions of one pipe run in program order. Where an instruction touches bytes that an earlier one on another pipe
//! touches too, and one of the two writes, it must wait for an event, unless its pipe has waited for that one or a later
//! one already. Program order is followed, with the body of a loop once more for what an iteration waits for from the
//! one before.

use crate::binding::RootId;
use crate::flow::{Flow, trace};
use crate::points::{Points, is_loop};
use crate::tile_of;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::{BlockId, Func, Module, Op, OpId, OpKind, ValueId};
use tessera_isa::ops::{Opcode, Pipe, Role, path};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

const PIPES: usize = Pipe::ALL.len();

/// Accesses that are remembered per storage; only many branches in a row make more.
const MAX_ACCESSES: usize = 16;

/// Why an instruction waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hazard {
    /// It reads what the other wrote.
    ReadAfterWrite,
    /// It writes what the other read.
    WriteAfterRead,
    /// It writes what the other wrote.
    WriteAfterWrite,
}

impl Hazard {
    /// The usual abbreviation.
    pub fn name(self) -> &'static str {
        match self {
            Hazard::ReadAfterWrite => "RAW",
            Hazard::WriteAfterRead => "WAR",
            Hazard::WriteAfterWrite => "WAW",
        }
    }
}

/// An event that is needed: `to` waits for `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wait {
    /// The earlier instruction.
    pub from: OpId,
    /// The one that waits.
    pub to: OpId,
    /// Why.
    pub hazard: Hazard,
    /// A tile that both touch.
    pub tile: ValueId,
}

/// The pipes of a function.
#[derive(Clone, Debug, Default)]
pub struct Pipes {
    /// The instructions that touch tiles, in program order, with their pipes.
    pub ops: Vec<(OpId, Pipe)>,
    /// The events that are needed, in the order of the instructions that wait.
    pub waits: Vec<Wait>,
}

/// The pipe of every instruction that touches tiles, and the events between them. The function is inlined.
pub fn pipes(module: &Module, func: &Func, profile: Profile) -> Pipes {
    let points = Points::new(func);
    let flow = trace(module, func, profile, &[], &points);
    let shared = shared(&flow);
    let mut touched: Vec<SmallVec<[(RootId, bool); 4]>> = vec![SmallVec::new(); func.ops.len()];
    for u in &flow.uses {
        let root = shared.get(u.root as usize).copied().unwrap_or(u.root);
        if let Some(list) = touched.get_mut(u.op.index()) {
            match list.iter_mut().find(|t| t.0 == root) {
                Some(known) => known.1 |= u.writes,
                None => list.push((root, u.writes)),
            }
        }
    }
    let mut order = Order {
        module,
        func,
        profile,
        points: &points,
        flow: &flow,
        touched,
        pipes: Pipes::default(),
        last: FxHashMap::default(),
        waited: [[0; PIPES]; PIPES],
        seen: FxHashSet::default(),
        time: 0,
    };
    order.block(func.body, true);
    order.pipes
}

/// By root: the root that speaks for its bytes. Manual tiles whose ranges overlap share one.
fn shared(flow: &Flow) -> Vec<RootId> {
    let mut speaker: Vec<RootId> = (0..flow.roots.len() as RootId).collect();
    let mut ranges: Vec<(Loc, u64, u64, usize)> = Vec::new();
    for (i, root) in flow.roots.iter().enumerate() {
        if let Some(Some(addr)) = root.manual {
            ranges.push((root.loc, addr, addr.saturating_add(root.bytes), i));
        }
    }
    ranges.sort_unstable();
    let mut until: Option<(Loc, u64, RootId)> = None;
    for (loc, from, to, i) in ranges {
        let group = match until {
            Some((l, end, first)) if l == loc && from < end => (loc, end.max(to), first),
            _ => (loc, to, i as RootId),
        };
        if let Some(s) = speaker.get_mut(i) {
            *s = group.2;
        }
        until = Some(group);
    }
    speaker
}

/// One access of a storage.
#[derive(Clone, Copy)]
struct Access {
    op: OpId,
    pipe: Pipe,
    block: BlockId,
    /// When the walk came by.
    time: u64,
    writes: bool,
}

struct Order<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    points: &'a Points,
    flow: &'a Flow,
    touched: Vec<SmallVec<[(RootId, bool); 4]>>,
    pipes: Pipes,
    /// By storage: the accesses that a later one may have to wait for.
    last: FxHashMap<RootId, SmallVec<[Access; 4]>>,
    /// By pipe and other pipe: everything that the other did up to then has been waited for.
    waited: [[u64; PIPES]; PIPES],
    seen: FxHashSet<(OpId, OpId)>,
    time: u64,
}

impl Order<'_> {
    fn block(&mut self, block: BlockId, first: bool) {
        let func = self.func;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            if let OpKind::Pto(opcode, _) = op.kind {
                self.instruction(*id, op, opcode, first);
            }
            // A branch or a body may be passed by, and its waits with it.
            let waited = self.waited;
            // Waits across iterations: one more round over the body, unless an outer loop is at it already.
            let again = first && is_loop(&op.kind);
            for round in 0..=usize::from(again) {
                for b in &op.blocks {
                    self.block(*b, first && round == 0);
                    if !is_loop(&op.kind) {
                        self.waited = waited;
                    }
                }
            }
            self.waited = if op.blocks.is_empty() { self.waited } else { waited };
        }
    }

    fn instruction(&mut self, id: OpId, op: &Op, opcode: Opcode, first: bool) {
        let touched = self.touched.get(id.index()).cloned().unwrap_or_default();
        if touched.is_empty() {
            return;
        }
        let pipe = self.pipe(op, opcode);
        if first {
            self.pipes.ops.push((id, pipe));
        }
        let is_view = matches!(opcode, Opcode::Tsubview | Opcode::Subset)
            || matches!(opcode, Opcode::Treshape | Opcode::Bitcast) && self.profile.is_npu();
        if is_view {
            return;
        }
        self.time += 1;
        let block = self.points.block_of(id);
        for (root, writes) in touched {
            let now = Access {
                op: id,
                pipe,
                block,
                time: self.time,
                writes,
            };
            let mut list = self.last.remove(&root).unwrap_or_default();
            // The newest first: waiting for it covers what its pipe did before.
            for from in list.iter().rev().filter(|a| a.writes || writes) {
                self.wait(from, &now, root);
            }
            // Whoever comes after this waits for this, unless it stands in a branch that is passed by.
            let points = self.points;
            list.retain(|a| !(points.is_inside(a.block, block) && (writes || !a.writes && a.pipe == pipe)));
            if list.len() >= MAX_ACCESSES {
                list.remove(0);
            }
            list.push(now);
            self.last.insert(root, list);
        }
    }

    fn wait(&mut self, from: &Access, to: &Access, root: RootId) {
        let waited = &mut self.waited[to.pipe as usize][from.pipe as usize];
        if from.pipe == to.pipe || *waited >= from.time {
            return;
        }
        *waited = from.time;
        let Some(root) = self.flow.roots.get(root as usize) else {
            return;
        };
        if self.seen.insert((from.op, to.op)) {
            self.pipes.waits.push(Wait {
                from: from.op,
                to: to.op,
                hazard: match (from.writes, to.writes) {
                    (true, true) => Hazard::WriteAfterWrite,
                    (true, false) => Hazard::ReadAfterWrite,
                    (false, _) => Hazard::WriteAfterRead,
                },
                tile: root.value,
            });
        }
    }

    /// The pipe of the path that the instruction takes; the row's own where no path fits.
    fn pipe(&self, op: &Op, opcode: Opcode) -> Pipe {
        let info = opcode.info();
        let OpKind::Pto(_, form) = op.kind else {
            return info.pipe;
        };
        let tile = |v: ValueId| tile_of(self.module, self.func, self.profile, v);
        let dst = op.dsts().first().and_then(|(_, v)| tile(*v));
        let read = |role| op.operand(role).and_then(|o| o.arg.value()).and_then(tile);
        let src = read(Role::Src).or_else(|| read(Role::Src0));
        // Without a source (TLOAD, a fill) or a destination (TSTORE) the tile that is there decides.
        match (src.or(dst), dst.or(src)) {
            (Some(s), Some(d)) => path::find(info.paths, self.profile, form, &s, &d).map_or(info.pipe, |p| p.pipe),
            _ => info.pipe,
        }
    }
}
