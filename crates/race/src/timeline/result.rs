//! A timeline: what each pipe of each core does and when, and what waits for what.

use super::{BankConflict, Memory, Step};
use crate::explore::Core;
use crate::trace::{Flag, Trace};
use std::fmt;
use tessera_ir::OpId;
use tessera_isa::diag::Span;
use tessera_isa::ops::Pipe;

/// When everything happens.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The lanes that run at the same time: the cores of every block.
    pub processes: Vec<Process>,
    /// The edges between slices.
    pub arrows: Vec<Arrow>,
    /// The critical path, from the start to the end.
    pub path: Vec<Step>,
    /// Cycles from the start to the last end.
    pub total: u64,
    /// The number of costs that are unknown because valid regions are unknown.
    pub unsized_work: u64,
    /// Operands of one instruction that meet in a group of banks (a2a3).
    pub meetings: Vec<BankConflict>,
}

/// The slices of one core of one block.
#[derive(Clone, Debug)]
pub struct Process {
    pub block: u32,
    pub core: Core,
    /// In program order.
    pub slices: Vec<Slice>,
    pub memories: Vec<Memory>,
}

/// A pipe is busy, or waits.
#[derive(Clone, Debug)]
pub struct Slice {
    pub op: OpId,
    /// Its position in the text; an inserted operation has the position of the instruction that it serves.
    pub span: Span,
    pub pipe: Pipe,
    pub start: u64,
    pub end: u64,
    pub what: SliceKind,
    /// The iterations that it is in, outermost first.
    pub turns: Vec<u64>,
    /// Bytes that it reads and writes.
    pub bytes: [u64; 2],
}

/// The kind of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SliceKind {
    /// An instruction; one without a known cost takes one cycle.
    Work {
        known: bool,
    },
    Wait(WaitReason),
}

/// Why something does not start earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Nothing is before it.
    Start,
    /// Its pipe does one thing after the other.
    Pipe,
    /// From one pipe to another, with an id.
    Flag(Pipe, Pipe, i64),
    /// A token between cores.
    Cores(i64),
    /// A tile that was pushed into a FIFO.
    Push(String),
    /// A slot of a FIFO that is free again.
    Free(String),
    /// A barrier of a pipe, or of all.
    Barrier(Option<Pipe>),
    /// The token of a buffer.
    Buffer(u32),
    /// A value that S reads, or an event.
    Issue,
    /// It touches what the other one does.
    Data,
}

impl WaitReason {
    pub(super) fn token(trace: &Trace, flag: u32) -> WaitReason {
        match &trace.flags[flag as usize] {
            Flag::Pipes(from, to, id) => WaitReason::Flag(*from, *to, id.known().unwrap_or(-1)),
            Flag::Inner(from, to) => WaitReason::Flag(*from, *to, 0),
            Flag::Cores(id) => WaitReason::Cores(id.known().unwrap_or(-1)),
        }
    }
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitReason::Start => f.write_str("start"),
            WaitReason::Pipe => f.write_str("same pipe"),
            WaitReason::Flag(from, to, id) => write!(f, "{from}→{to} EVENT_ID{id}"),
            WaitReason::Cores(id) => write!(f, "sync {id}"),
            WaitReason::Push(name) => write!(f, "push into {name}"),
            WaitReason::Free(name) => write!(f, "free slot of {name}"),
            WaitReason::Barrier(Some(pipe)) => write!(f, "barrier {pipe}"),
            WaitReason::Barrier(None) => f.write_str("barrier ALL"),
            WaitReason::Buffer(id) => write!(f, "buffer {id}"),
            WaitReason::Issue => f.write_str("value read by S"),
            WaitReason::Data => f.write_str("data"),
        }
    }
}

/// An edge from one slice to another: by process and index there.
#[derive(Clone, Debug)]
pub struct Arrow {
    pub from: (usize, usize),
    pub to: (usize, usize),
    pub why: WaitReason,
}

/// The load of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub pipe: Pipe,
    pub instructions: u64,
    /// The part of them without a known cost.
    pub unknown: u64,
    pub busy: u64,
}

impl Slice {
    pub fn cycles(&self) -> u64 {
        self.end - self.start
    }

    pub fn is_work(&self) -> bool {
        matches!(self.what, SliceKind::Work { .. })
    }
}

impl Process {
    /// The pipes that do something.
    pub fn uses(&self) -> Vec<Use> {
        let of = |pipe: &Pipe| {
            let mut all = Use { pipe: *pipe, instructions: 0, unknown: 0, busy: 0 };
            for slice in self.slices.iter().filter(|s| s.pipe == *pipe) {
                if let SliceKind::Work { known } = slice.what {
                    all.instructions += 1;
                    all.unknown += u64::from(!known);
                    all.busy += slice.cycles();
                }
            }
            all
        };
        Pipe::ALL.iter().map(of).filter(|u| u.instructions > 0).collect()
    }
}

impl Timeline {
    /// The number of instructions without a known cost; if there are any, all totals are lower bounds.
    pub fn unknown(&self) -> u64 {
        let slices = self.processes.iter().flat_map(|p| &p.slices);
        slices.filter(|s| s.what == SliceKind::Work { known: false }).count() as u64
    }

    /// The pipe that most of the critical path is on, with the cycles there.
    pub fn bound(&self) -> Option<(usize, Pipe, u64)> {
        let mut all: Vec<(usize, Pipe, u64)> = Vec::new();
        for step in &self.path {
            let slice = &self.processes[step.at.0].slices[step.at.1];
            match all.iter_mut().find(|(process, pipe, _)| (*process, *pipe) == (step.at.0, slice.pipe)) {
                Some(known) => known.2 += slice.cycles(),
                None => all.push((step.at.0, slice.pipe, slice.cycles())),
            }
        }
        // The first of equals.
        all.into_iter().rev().max_by_key(|(.., cycles)| *cycles)
    }
}
