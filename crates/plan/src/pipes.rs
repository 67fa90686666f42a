//! The order between pipes: which instruction waits for which (ops.md 1 and 10).
//!
//! Instructions of one pipe run in program order. Where an instruction touches bytes that an earlier one on another pipe
//! touches too, and one of the two writes, it must wait for an event. Straight-line order is followed, with the body of
//! a loop once and once more for what an iteration waits for from the one before.

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
        flow: &flow,
        touched,
        pipes: Pipes::default(),
        last: FxHashMap::default(),
        seen: FxHashSet::default(),
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

/// The last accesses of a storage: the last write, and the reads since then, one per pipe.
#[derive(Clone, Default)]
struct Last {
    write: Option<(OpId, Pipe)>,
    reads: SmallVec<[(OpId, Pipe); 2]>,
}

struct Order<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    flow: &'a Flow,
    touched: Vec<SmallVec<[(RootId, bool); 4]>>,
    pipes: Pipes,
    last: FxHashMap<RootId, Last>,
    seen: FxHashSet<(OpId, OpId)>,
}

impl Order<'_> {
    fn block(&mut self, block: BlockId, first: bool) {
        let func = self.func;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            if let OpKind::Pto(opcode, _) = op.kind {
                self.instruction(*id, op, opcode, first);
            }
            op.blocks.iter().for_each(|b| self.block(*b, first));
            // Waits across iterations: one more round over the body, unless an outer loop is at it already.
            if first && is_loop(&op.kind) {
                op.blocks.iter().for_each(|b| self.block(*b, false));
            }
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
        for (root, writes) in touched {
            let last = self.last.entry(root).or_default();
            let before = last.clone();
            if writes {
                last.write = Some((id, pipe));
                last.reads.clear();
            } else {
                last.reads.retain(|(_, p)| *p != pipe);
                last.reads.push((id, pipe));
            }
            if let Some(from) = before.write {
                let hazard = if writes {
                    Hazard::WriteAfterWrite
                } else {
                    Hazard::ReadAfterWrite
                };
                self.wait(from, (id, pipe), hazard, root);
            }
            for from in before.reads.iter().filter(|_| writes) {
                self.wait(*from, (id, pipe), Hazard::WriteAfterRead, root);
            }
        }
    }

    fn wait(&mut self, from: (OpId, Pipe), to: (OpId, Pipe), hazard: Hazard, root: RootId) {
        let Some(root) = self.flow.roots.get(root as usize) else {
            return;
        };
        if from.1 != to.1 && self.seen.insert((from.0, to.0)) {
            self.pipes.waits.push(Wait {
                from: from.0,
                to: to.0,
                hazard,
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
