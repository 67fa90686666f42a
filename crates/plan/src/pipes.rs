//! The order between pipes: which instruction waits for which (ops.md 1 and 10).
//!
//! Instructions of one pipe run in program order. Where an instruction touches bytes that an earlier one on another pipe
//! touches too, and one of the two writes, it must wait for an event, unless its pipe has waited for that one or a later
//! one already. Program order is followed, with the body of a loop once more for what an iteration waits for from the
//! one before.

use crate::binding::RootId;
use crate::flow::{Flow, trace};
use crate::points::Points;
use crate::{Placement, tile_of};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use tessera_ir::{BlockId, Core, Func, Module, Op, OpId, OpKind, Runs, ValueId};
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::{Form, Opcode, Pipe, Role};
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
    pub from: OpId,
    pub to: OpId,
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

/// The pipe of every instruction that touches tiles, and the events that its tiles ask for, wherever they will lie; with
/// a placement, a tile also waits for those whose bytes it takes over. The function is inlined.
pub fn pipes(module: &Module, func: &Func, profile: Profile, placement: Option<&Placement>) -> Pipes {
    let points = Points::new(func);
    let flow = trace(module, func, profile, &[], &points);
    let mut touched: Vec<SmallVec<[(RootId, bool); 4]>> = vec![SmallVec::new(); func.ops.len()];
    for u in &flow.uses {
        let list = &mut touched[u.op.index()];
        match list.iter_mut().find(|t| t.0 == u.root) {
            Some(known) => known.1 |= u.writes,
            None => list.push((u.root, u.writes)),
        }
    }
    let mut order = Order {
        module,
        func,
        profile,
        placement,
        points: &points,
        flow: &flow,
        touched,
        pipes: Pipes::default(),
        spaces: FxHashMap::default(),
        waited: [[0; PIPES]; PIPES],
        seen: FxHashSet::default(),
        time: 0,
        cores: func.cores(),
        core: None,
    };
    if func.runs() != Runs::Mixed {
        order.block(func.body, true);
        return order.pipes;
    }
    // Each core orders its own instructions; what orders cores is in the program.
    for core in Core::ALL {
        (order.core, order.waited) = (Some(*core), [[0; PIPES]; PIPES]);
        order.spaces.clear();
        order.block(func.body, true);
    }
    order.pipes.ops.sort_by_key(|(op, _)| points.begin(*op));
    order.pipes
}

/// Bytes that addresses count in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Space {
    Memory(Loc),
    /// A storage whose address is not known.
    Root(RootId),
}

/// One access of a range of bytes.
#[derive(Clone, Copy)]
struct Access {
    op: OpId,
    pipe: Pipe,
    block: BlockId,
    /// When the walk came by.
    time: u64,
    writes: bool,
}

type Ranges = BTreeMap<u64, (u64, SmallVec<[Access; 4]>)>;

/// Cuts a range in two, where one contains the byte.
fn cut(ranges: &mut Ranges, at: u64) {
    if let Some((_, (end, accesses))) = ranges.range_mut(..at).next_back()
        && *end > at
    {
        let rest = (*end, accesses.clone());
        *end = at;
        ranges.insert(at, rest);
    }
}

struct Order<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    placement: Option<&'a Placement>,
    points: &'a Points,
    flow: &'a Flow,
    touched: Vec<SmallVec<[(RootId, bool); 4]>>,
    pipes: Pipes,
    /// By range, named by its first byte: one past its last byte, and the accesses that a later one may have to wait for.
    spaces: FxHashMap<Space, Ranges>,
    /// By pipe and other pipe: everything that the other did up to then has been waited for.
    waited: [[u64; PIPES]; PIPES],
    seen: FxHashSet<(OpId, OpId)>,
    time: u64,
    /// By operation: the kind of core that runs it; and the kind that is looked at, where there are two.
    cores: Vec<Option<Core>>,
    core: Option<Core>,
}

impl Order<'_> {
    fn block(&mut self, block: BlockId, first: bool) {
        let func = self.func;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            if let OpKind::Pto(opcode, form) = op.kind {
                self.instruction(*id, op, (opcode, form), first);
            }
            // A branch or a body may be passed by, and its waits with it.
            let waited = self.waited;
            // Waits across iterations: one more round over the body, unless an outer loop is at it already.
            let again = first && op.kind.is_loop();
            for round in 0..=usize::from(again) {
                for b in &op.blocks {
                    self.block(*b, first && round == 0);
                    if !op.kind.is_loop() {
                        self.waited = waited;
                    }
                }
            }
            self.waited = if op.blocks.is_empty() { self.waited } else { waited };
        }
    }

    fn instruction(&mut self, id: OpId, op: &Op, (opcode, form): (Opcode, Form), first: bool) {
        let touched = self.touched[id.index()].clone();
        if touched.is_empty() || self.core.is_some() && self.core != self.cores[id.index()] {
            return;
        }
        let pipe = self.pipe(op, opcode, form);
        if first {
            self.pipes.ops.push((id, pipe));
        }
        if opcode.only_names(self.profile) {
            return;
        }
        self.time += 1;
        let block = self.points.block_of(id);
        for (root, writes) in touched {
            let now = Access { op: id, pipe, block, time: self.time, writes };
            self.access(root, now);
        }
    }

    /// The place of a root.
    fn place(&self, id: RootId) -> (Space, u64, u64) {
        let root = &self.flow.roots[id];
        let planned = || Some(self.placement?.slot(root.value)?.addr);
        let at = root.manual.unwrap_or_else(planned).and_then(|a| Some((a, a.checked_add(root.bytes)?)));
        at.map_or((Space::Root(id), 0, root.bytes), |(from, to)| (Space::Memory(root.loc), from, to))
    }

    fn access(&mut self, root: RootId, now: Access) {
        let (space, from, to) = self.place(root);
        let mut ranges = self.spaces.remove(&space).unwrap_or_default();
        cut(&mut ranges, from);
        cut(&mut ranges, to);
        let mut at = from;
        let mut gaps: SmallVec<[(u64, u64); 2]> = SmallVec::new();
        for (start, (end, accesses)) in ranges.range_mut(from..to) {
            if at < *start {
                gaps.push((at, *start));
            }
            at = *end;
            // The newest first: waiting for it covers what its pipe did before.
            for earlier in accesses.iter().rev().filter(|a| a.writes || now.writes) {
                self.wait(earlier, &now, root);
            }
            // A later access waits for this one, unless this one is in a branch that is not taken.
            let covers = |a: &Access| now.writes || !a.writes && a.pipe == now.pipe;
            accesses.retain(|a| !(self.points.is_inside(a.block, now.block) && covers(a)));
            if accesses.len() >= MAX_ACCESSES {
                accesses.remove(0);
            }
            accesses.push(now);
        }
        if at < to {
            gaps.push((at, to));
        }
        ranges.extend(gaps.into_iter().map(|(start, end)| (start, (end, smallvec![now]))));
        self.spaces.insert(space, ranges);
    }

    fn wait(&mut self, from: &Access, to: &Access, root: RootId) {
        let waited = &mut self.waited[to.pipe as usize][from.pipe as usize];
        if from.pipe == to.pipe || *waited >= from.time {
            return;
        }
        *waited = from.time;
        if self.seen.insert((from.op, to.op)) {
            self.pipes.waits.push(Wait {
                from: from.op,
                to: to.op,
                hazard: match (from.writes, to.writes) {
                    (true, true) => Hazard::WriteAfterWrite,
                    (true, false) => Hazard::ReadAfterWrite,
                    (false, _) => Hazard::WriteAfterRead,
                },
                tile: self.flow.roots[root].value,
            });
        }
    }

    /// The pipe of the signature that takes the instruction, the row's own where none does; of several phases the last
    /// one's.
    fn pipe(&self, op: &Op, opcode: Opcode, form: Form) -> Pipe {
        let tile = |(role, v): (Role, ValueId)| {
            Some(TileArg::of_type(role, tile_of(self.module, self.func, self.profile, v)?))
        };
        let operands = op.operands.iter().filter(|o| !o.role.is_dst()).filter_map(|o| Some((o.role, o.arg.value()?)));
        let mut inst = Inst::new(opcode, form, self.profile);
        inst.attrs = op.known_attrs().clone();
        inst.tiles = operands.chain(op.dsts()).filter_map(tile).collect();
        inst.pipe()
    }
}
