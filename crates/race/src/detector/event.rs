//! Events of a process, and their position in a run.

use super::channels::{Needs, Token};
use smallvec::SmallVec;
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;

/// The rounds of the loops around something; of very many loops, those of the outermost ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iterations {
    depth: u8,
    rounds: [u32; 5],
}

impl Iterations {
    #[inline]
    pub fn new(turns: &[(OpId, u64)]) -> Iterations {
        let mut own = Iterations { depth: turns.len().min(5) as u8, ..Iterations::default() };
        own.rounds.iter_mut().zip(turns).for_each(|(to, (_, round))| *to = *round as u32);
        own
    }

    /// The outermost first.
    pub fn rounds(&self) -> &[u32] {
        &self.rounds[..usize::from(self.depth)]
    }
}

/// A place in a run: an operation, in a round of its loops, and how many events of its process came before.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub op: OpId,
    pub turns: Iterations,
    pub index: u32,
}

/// The accesses of an event: the number of an instruction variant, and the start of its view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub what: u32,
    pub start: i64,
}

/// The place of an event among the phases of its instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Whether a phase comes before it, and is done when it starts.
    pub follows: bool,
    /// Whether a phase comes after it.
    pub leads: bool,
}

/// The role of an event in the order.
#[derive(Clone, Debug)]
pub enum EventAction {
    Work {
        pipe: Pipe,
        done: Done,
        reads: bool,
        named: SmallVec<[u32; 1]>,
        part: Part,
    },
    /// Everything before it is done before it, and it before everything later.
    Prints(Done),
    Set {
        pipe: Pipe,
        flag: u32,
        number: u64,
        records: Option<u32>,
    },
    Wait {
        pipe: Pipe,
        flag: u32,
        number: u64,
    },
    Barrier(Option<Pipe>),
    /// A notification of another rank: everything earlier is done before it, and it before everything later. A wait on S
    /// for one: nothing later starts before it. Both by their number in the log.
    Notify(u32),
    Await(u32),
    Joins(SmallVec<[u32; 1]>),
    Take {
        pipe: Pipe,
        id: u32,
        after: Option<u32>,
        /// Every release before it counts, and not only the latest on another pipe.
        all: bool,
    },
    Release {
        pipe: Pipe,
        id: u32,
    },
    Send {
        pipe: Pipe,
        token: Token,
    },
    Receive {
        pipe: Pipe,
        needs: Needs,
    },
}

impl EventAction {
    /// The pipe that it is on; none is all of them.
    pub fn pipe(&self) -> Option<Pipe> {
        match self {
            EventAction::Work { pipe, .. }
            | EventAction::Set { pipe, .. }
            | EventAction::Wait { pipe, .. }
            | EventAction::Take { pipe, .. }
            | EventAction::Release { pipe, .. }
            | EventAction::Send { pipe, .. }
            | EventAction::Receive { pipe, .. } => Some(*pipe),
            EventAction::Prints(_) | EventAction::Notify(_) | EventAction::Await(_) => Some(Pipe::S),
            EventAction::Barrier(pipe) => *pipe,
            EventAction::Joins(_) => None,
        }
    }

    /// Whether it waits for everything before it in program order.
    pub fn meets(&self) -> bool {
        matches!(self, EventAction::Prints(_) | EventAction::Notify(_) | EventAction::Barrier(None))
    }

    /// Whether everything before it on its pipe happens before it.
    pub fn closes(&self) -> bool {
        matches!(
            self,
            EventAction::Set { .. }
                | EventAction::Send { .. }
                | EventAction::Release { .. }
                | EventAction::Barrier(_)
                | EventAction::Prints(_)
        )
    }

    /// Whether everything after it on its pipe happens after it.
    pub fn opens(&self) -> bool {
        matches!(
            self,
            EventAction::Wait { .. }
                | EventAction::Receive { .. }
                | EventAction::Take { .. }
                | EventAction::Barrier(_)
                | EventAction::Prints(_)
        )
    }

    /// Whether it may release a waiting event.
    pub fn frees(&self) -> bool {
        matches!(self, EventAction::Set { .. } | EventAction::Release { .. } | EventAction::Send { .. })
    }

    /// Whether no later event starts before it is done (sync.md 3, rule 3).
    pub fn issues(&self) -> bool {
        match self {
            EventAction::Prints(_) | EventAction::Joins(_) | EventAction::Barrier(None) => true,
            EventAction::Notify(_) | EventAction::Await(_) => true,
            EventAction::Wait { pipe, .. } | EventAction::Receive { pipe, .. } | EventAction::Take { pipe, .. } => {
                *pipe == Pipe::S
            }
            EventAction::Work { pipe, reads, .. } => *pipe == Pipe::S && *reads,
            _ => false,
        }
    }
}

/// One event that has not happened yet.
#[derive(Clone, Debug)]
pub struct Event {
    pub point: Point,
    pub act: EventAction,
}
