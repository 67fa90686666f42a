//! Observation of a run: every instruction and order operation of a process in program order, with its values. The
//! contents of bytes are not observed, and nothing else of the run depends on the observer.

use super::code::{Cached, Code, InstTemplate, Int, Support};
use super::micro_order::Bytes;
use super::step::Exec;
use tessera_exec::engine::{Global, TileId};
use tessera_ir::{Op, OpId, ValueId};
use tessera_isa::inst::{Inst, TileArg, WaitCmp};
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::tile::Loc;
use tessera_kernels::{Failure, MemoryId};
use tessera_micro::order::Log;
use tessera_micro::run::Place;

/// The memory that bytes are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// A memory of a core, of which vector cores have one each.
    Chip(Loc, u8),
    /// The memory of tiles without an address, on each vector core.
    Pool(u8),
    /// The buffer behind an argument.
    Buffer(ValueId),
    /// A buffer of all ranks, by number.
    Shared(u32),
}

/// The process and the operation of an event, and the iterations of the loops around it, the innermost last.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The process's place among those of its block.
    pub process: usize,
    pub op: OpId,
    pub turns: &'a [(OpId, u64)],
}

/// An instruction with its operands as they are: the same number is the same in everything but where its view starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    pub site: usize,
    pub number: usize,
    /// Numbers of another age mean other variants.
    pub age: u64,
}

/// A tile that goes into a FIFO, or comes out of one, or a slot that is free again.
#[derive(Clone, Debug)]
pub struct Moved {
    /// Its number among those of this process, from 0.
    pub number: u64,
    /// The tile that is pushed or popped.
    pub tile: Option<TileArg>,
    /// `gm_slot_buffer`, and the byte where it starts.
    pub global: Option<(Space, u64)>,
}

/// Bytes that an operation between ranks touches.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub memory: MemoryId,
    pub from: u64,
    pub to: u64,
    pub kind: TouchKind,
}

/// What is done with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchKind {
    Reads,
    Writes,
    /// Adds atomically.
    Adds,
}

/// The bytes that a pipe touches.
#[derive(Clone, Debug)]
pub struct Moves {
    pub pipe: Pipe,
    pub list: Vec<Move>,
}

/// A word of a signal, and its contents before the operation.
#[derive(Clone, Copy, Debug)]
pub struct SignalWord {
    pub memory: MemoryId,
    pub byte: u64,
    pub before: i32,
}

/// An operation between ranks, with the place of signal operations in the order of the run.
#[derive(Clone, Copy, Debug)]
pub enum Communicated<'a> {
    Moves { phases: &'a [Moves] },
    Notify { words: &'a [SignalWord], sets: bool, value: i32, order: u64 },
    // A wait that is over, or a test that is true.
    Wait { words: &'a [SignalWord], cmp: WaitCmp, value: i32, order: u64 },
    // Lines of the cache of S are written back and forgotten (all where none are named), or a fence stands.
    Cache { lines: Option<(MemoryId, &'a [(i64, i64)])>, is_fence: bool },
    // A copy that runs on begins, or copies are done.
    Start { moves: &'a Moves, number: u64 },
    Done { numbers: &'a [u64] },
}

/// The observer of one block.
pub trait Observer {
    /// An instruction is issued, whose view starts at this byte. Returns whether its variant is known.
    fn issued(&mut self, at: Moment<'_>, variant: Variant, start: u64) -> bool;
    /// Describes a variant, and the memory of its view; then it is issued.
    fn learn(&mut self, at: Moment<'_>, variant: Variant, inst: &Inst, view: Option<Space>);
    /// One element is read or written as a scalar: its bytes.
    fn scalar(&mut self, at: Moment<'_>, space: Space, bytes: (u64, u64), writes: bool);
    /// Whether it looks at bytes, and not only at order operations.
    fn looks_at_bytes(&self) -> bool;
    /// An operation that is no tile instruction touches bytes on a pipe.
    fn touched(&mut self, at: Moment<'_>, pipe: Pipe, bytes: Bytes);
    /// A vecscope ends, in which this happened.
    fn scoped(&mut self, at: Moment<'_>, log: &Log);
    /// A tile is printed.
    fn printed(&mut self, at: Moment<'_>, tile: &TileArg);
    /// An order operation, with the id that it is given.
    fn ordered(&mut self, at: Moment<'_>, id: Option<i64>);
    /// A push, a pop or a free.
    fn moved(&mut self, at: Moment<'_>, moved: Moved);
    /// An operation between ranks; memories are named by `space`.
    fn communicated(&mut self, at: Moment<'_>, what: Communicated<'_>, space: &dyn Fn(MemoryId) -> Option<Space>);
    /// A loop ended after this number of rounds.
    fn looped(&mut self, process: usize, at: OpId, rounds: u64);
    /// The block ended as it should.
    fn ended(self: Box<Self>);
}

/// Makes an observer for a block.
pub type Observe = dyn Fn(u32) -> Box<dyn Observer + Send> + Send + Sync;

/// An order operation as code: its only effect is on the observer.
pub(super) fn order(id: OpId, op: &Op, int: impl Fn(tessera_ir::Arg) -> Option<Int>) -> Code {
    let given = op.operands.first().and_then(|operand| int(operand.arg));
    Code::Support(id, Box::new(Support::Order(given)))
}

impl Exec<'_> {
    /// Calls `tell` with the observer, if there is one.
    #[inline]
    fn tell_of(&mut self, op: OpId, tell: impl FnOnce(&mut (dyn Observer + Send), Moment<'_>, &Self)) {
        if let Some(mut observer) = self.observer.take() {
            let moment = Moment { process: self.process_number(), op, turns: &self.turns };
            tell(observer.as_mut(), moment, self);
            self.observer = Some(observer);
        }
    }

    fn process_number(&self) -> usize {
        if self.cx.process.is_mixed { self.cx.process.place() } else { 0 }
    }

    fn space(&self, memory: MemoryId) -> Option<Space> {
        let core = u8::from(memory.on_core0() != memory);
        let base = memory.on_core0();
        if base == MemoryId::POOL {
            return Some(Space::Pool(core));
        }
        let buffer = memory.index().checked_sub(MemoryId::buffer(0).index());
        if let (Some(n), Some(_)) = (buffer, self.cx.rank) {
            return Some(Space::Shared(n as u32));
        }
        match buffer.and_then(|n| self.cx.buffers.get(n)) {
            Some(value) => Some(Space::Buffer(*value)),
            None => Loc::ALL.get(base.index()).map(|loc| Space::Chip(*loc, core)),
        }
    }

    /// An instruction is issued, on operands that it is compiled for.
    #[inline]
    pub fn observe_issue(&mut self, index: usize, site: &InstTemplate) -> Result<(), Failure> {
        if self.observer.is_none() {
            return Ok(());
        }
        let Some((number, _, age)) = self.engine.caches.get(index).and_then(|cache| cache.current_at()) else {
            return Ok(());
        };
        let view = site.global.map(|slot| self.global(slot));
        let start = self.engine.start(index, view)? as u64;
        let variant = Variant { site: index, number, age };
        self.tell_of(site.at, |observer, moment, this| {
            if !observer.issued(moment, variant, start) {
                let Some(inst) = this.issued_inst(index, site) else { return };
                let view = site.global.and_then(|slot| this.space(this.global(slot).buffer));
                observer.learn(moment, variant, &inst, view);
                observer.issued(moment, variant, start);
            }
        });
        Ok(())
    }

    pub fn observe_scalar(&mut self, op: OpId, memory: MemoryId, start: usize, len: usize, writes: bool) {
        self.tell_of(op, |observer, moment, this| {
            if let Some(space) = this.space(memory) {
                observer.scalar(moment, space, (start as u64, (start + len) as u64), writes);
            }
        });
    }

    /// One element on the chip is read or written as a scalar.
    pub fn observe_chip(&mut self, op: OpId, place: Place, start: u64, len: u64, writes: bool) {
        self.tell_of(op, |observer, moment, this| {
            if let Some(space) = this.micro_space(place) {
                observer.scalar(moment, space, (start, start + len), writes);
            }
        });
    }

    /// Bytes are touched on a pipe.
    pub fn observe_bytes(&mut self, op: OpId, pipe: Pipe, bytes: Bytes) {
        self.tell_of(op, |observer, moment, _| observer.touched(moment, pipe, bytes));
    }

    /// A vecscope ends.
    pub fn observe_scope(&mut self, op: OpId, log: &Log) {
        self.tell_of(op, |observer, moment, _| observer.scoped(moment, log));
    }

    /// The memory of the bytes behind a pointer of a micro instruction.
    pub fn micro_space(&self, place: Place) -> Option<Space> {
        let memory = match super::micro::loc_of(place.space) {
            Some(Loc::Vec) => {
                let core = if place.unit > 0 { (place.unit - 1) as u8 } else { self.engine.core };
                tessera_kernels::on_core(MemoryId::of_loc(Loc::Vec), core)
            }
            Some(loc) => MemoryId::of_loc(loc),
            None => MemoryId::new(place.unit as usize),
        };
        self.space(memory)
    }

    pub fn observe_print(&mut self, op: OpId, id: TileId) {
        self.tell_of(op, |observer, moment, this| {
            if let Ok(object) = this.engine.object(id) {
                observer.printed(moment, &this.engine.arg(object, Role::Tile));
            }
        });
    }

    pub fn observe_communicated(&mut self, op: OpId, what: Communicated<'_>) {
        self.tell_of(op, |observer, moment, this| observer.communicated(moment, what, &|memory| this.space(memory)));
    }

    /// An operation on the cache of S. A view names all of its lines, a pointer the one of its first element.
    pub fn observe_cache(&mut self, op: OpId, cached: Cached) {
        let (lines, is_fence) = match cached {
            Cached::All => (None, false),
            Cached::Fence => (None, true),
            Cached::Lines(slot) => {
                let view = self.global(slot).clone();
                let first = view.byte().unwrap_or(0) as i64;
                let ranges = match super::ranks::reach_of(&view) {
                    Some(reach) if !view.dims.is_empty() => vec![reach],
                    _ => vec![(first, first + 1)],
                };
                (Some((view.buffer, ranges)), false)
            }
        };
        let lines = lines.as_ref().map(|(memory, ranges)| (*memory, ranges.as_slice()));
        self.observe_communicated(op, Communicated::Cache { lines, is_fence });
    }

    pub fn observe_order(&mut self, op: OpId, id: Option<i64>) {
        self.tell_of(op, |observer, moment, _| observer.ordered(moment, id));
    }

    /// A push, pop or free, the how-manieth, of a tile and with a buffer in global memory.
    pub fn observe_move(&mut self, op: OpId, number: u64, tile: Option<TileId>, global: Option<&Global>) {
        if self.observer.is_none() {
            return;
        }
        let global = global.and_then(|global| Some((self.space(global.buffer)?, global.byte()? as u64)));
        self.tell_of(op, |observer, moment, this| {
            let tile = tile.and_then(|id| this.engine.object(id).ok());
            let tile = tile.map(|object| this.engine.arg(object, Role::Tile));
            observer.moved(moment, Moved { number, tile, global });
        });
    }

    /// A round of a loop begins, at this depth of loops.
    #[inline]
    pub fn observe_round(&mut self, level: usize, at: OpId, round: u64) {
        if self.observer.is_some() {
            self.turns.truncate(level);
            self.turns.push((at, round));
        }
    }

    /// A loop ends.
    pub fn observe_loop_end(&mut self, level: usize, at: OpId) {
        self.depth = level;
        if let Some(observer) = &mut self.observer {
            let rounds = self.turns.get(level).map_or(0, |turn| turn.1 + 1);
            self.turns.truncate(level);
            let is_mixed = self.cx.process.is_mixed;
            observer.looped(if is_mixed { self.cx.process.place() } else { 0 }, at, rounds);
        }
    }
}
