//! The synchronisation operations and FIFOs of each process, as a detector needs them.

use crate::explore::Core;
use crate::fifo_slots::FifoSlots;
use crate::sync_op::{SyncOp, SyncOpSite};
use crate::trace::Group;
use crate::{Mode, process_mode, processes};
use smallvec::SmallVec;
use tessera_ir::scalar::Constants;
use tessera_ir::{FifoId, Fifos, Func, Module, Op, OpId, Type, ValueId, fifo};
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;
use tessera_isa::sem::Fifo as FifoRole;
use tessera_plan::Placement;

/// An order operation of a process.
#[derive(Clone, Debug)]
pub struct Ordered {
    pub sync_op: SyncOp,
    pub written: Option<i64>,
    /// Whether its token stands for a meeting of cores of one kind.
    pub meets: bool,
    /// Whether a token is as on a2a3.
    pub wide: bool,
    /// The cores that a meeting across blocks is for.
    pub crosses: Option<Group>,
    /// The event that it records.
    pub records: Option<ValueId>,
}

/// The effect of an operation on a FIFO.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub part: FifoRole,
    pub fifo: FifoId,
    pub pipe: Pipe,
}

/// One process.
#[derive(Clone, Debug)]
pub struct ProcessText {
    pub core: Core,
    pub automatic: bool,
    /// Whether it meets micro instructions.
    pub is_micro: bool,
    /// By operation.
    pub orders: Vec<Option<Box<Ordered>>>,
}

/// A kernel, as a run that is observed needs to know it.
#[derive(Clone, Debug)]
pub struct KernelText {
    pub profile: Profile,
    pub processes: Vec<ProcessText>,
    /// By operation: what it does with FIFOs.
    pub moves: Vec<Option<Move>>,
    pub slots: Vec<FifoSlots>,
    /// By operation: the events among its operands.
    pub events: Vec<SmallVec<[ValueId; 1]>>,
    /// Events that control flow hands on: what they are is not followed.
    pub has_carried_events: bool,
}

impl KernelText {
    /// Collects those of an inlined function whose tiles are placed.
    pub fn new(
        module: &Module,
        func: &Func,
        profile: Profile,
        placement: &Placement,
        mode: Option<Mode>,
    ) -> KernelText {
        let all = processes(func);
        let fifos = Fifos::new(module, func);
        let constants = Constants::new(module, func);
        let slots =
            fifos.list.iter().map(|f| FifoSlots::new((module, func), &constants, placement, profile, f)).collect();
        let is_event = |v: &ValueId| matches!(module.types.get(func.value(*v).ty), Type::Event);
        let made =
            |v: &ValueId| matches!(func.value(*v).def, tessera_ir::Def::Result(op, _) if func.op(op).blocks.is_empty());
        let events: Vec<SmallVec<[ValueId; 1]>> =
            func.ops.iter().map(|op| op.values().filter(is_event).collect()).collect();
        let moves = func.ops.iter().enumerate().map(|(n, op)| {
            let (part, fifo) = fifo::part(op).zip(fifos.of(OpId(n as u32)))?;
            let of = fifos.list.get(fifo)?;
            let pipe = if of.entries { part.entry_pipe() } else { part.pipe(of.dir, profile) };
            Some(Move { part, fifo, pipe })
        });
        KernelText {
            profile,
            processes: all.iter().map(|core| process(module, func, profile, all, (*core, mode))).collect(),
            moves: moves.collect(),
            slots,
            has_carried_events: events.iter().flatten().any(|v| !made(v)),
            events,
        }
    }

    /// Whether a block has one process.
    pub fn is_alone(&self) -> bool {
        self.processes.len() == 1
    }

    /// Whether there are synchronisation operations.
    pub fn has_flags(&self) -> bool {
        self.processes.iter().any(|p| p.orders.iter().flatten().any(|o| !matches!(o.sync_op, SyncOp::Nothing)))
    }

    /// Whether no finding is possible: one process whose order is left to the assembler, without synchronisation
    /// operations.
    pub fn is_plain(&self) -> bool {
        self.is_alone() && self.processes.iter().all(|p| p.automatic) && !self.has_flags()
    }
}

fn process(
    module: &Module,
    func: &Func,
    profile: Profile,
    all: &[Core],
    (core, mode): (Core, Option<Mode>),
) -> ProcessText {
    ProcessText {
        core,
        automatic: mode.unwrap_or_else(|| process_mode(module, func, all, core)) == Mode::Auto,
        is_micro: crate::explore::is_micro(func),
        orders: func
            .ops
            .iter()
            .enumerate()
            .map(|(n, op)| ordered(module, profile, (OpId(n as u32), op), core))
            .collect(),
    }
}

/// What an operation does to the order of a process on this core.
pub(super) fn ordered(module: &Module, profile: Profile, (at, op): (OpId, &Op), core: Core) -> Option<Box<Ordered>> {
    let order = op.opcode().and_then(|o| o.order())?;
    let wide = op.is_wide_token(module, profile);
    let ordering = SyncOpSite { at, op, order, core, profile, wide };
    let (sync_op, written, meets) = (ordering.sync_op(), ordering.written_id(), ordering.meets());
    let crosses = ordering.crosses_blocks().then(|| ordering.group());
    Some(Box::new(Ordered { sync_op, written, meets, wide, crosses, records: op.results.first().copied() }))
}
