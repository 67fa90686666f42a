//! The log of one block for the order between ranks (isa/comm.md 5): accesses of memory that other ranks may touch, and
//! what orders them. [`crate::ranks`] puts the logs of all blocks together.

use super::channels::Token;
use super::event::{Iterations, Point};
use super::shadow_memory::AccessKind;
use super::vector_clock::{Clock, Lane};
use crate::trace::Line;
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_ir::OpId;
use tessera_isa::inst::WaitCmp;
use tessera_isa::ops::Pipe;

/// Bytes of a region.
pub type RegionBytes = (u32, Arc<[(i64, i64)]>);

/// An event of a process: where it is in its block's order.
#[derive(Clone, Debug)]
pub struct Stamp {
    pub process: u8,
    pub lane: Lane,
    pub position: u32,
    /// By lane of the block: how many events are done.
    pub clock: Box<[u32]>,
    /// Its place in the run.
    pub now: u64,
    pub op: OpId,
    pub turns: Iterations,
}

impl Stamp {
    /// Whether the event at this position of a lane of the block is done before.
    pub fn has(&self, lane: Lane, position: u32) -> bool {
        self.clock.get(usize::from(lane)).is_some_and(|done| *done > position)
    }
}

/// An access of shared memory.
#[derive(Clone, Debug)]
pub struct SharedAccess {
    pub at: Stamp,
    /// Where what it started is over, if that is later; none if it never is.
    pub end: Option<(Lane, u32)>,
    pub pipe: Pipe,
    pub way: AccessKind,
    pub region: u32,
    pub ranges: Arc<[(i64, i64)]>,
    /// Whether S does it, through its cache.
    pub is_scalar: bool,
    /// The copy that it belongs to, if it runs on.
    pub copy: Option<u64>,
}

/// A word of a signal: its region and byte, and its contents before.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub region: u32,
    pub byte: u64,
    pub before: i32,
}

/// What a signal operation does.
#[derive(Clone, Debug)]
pub enum SignalAct {
    Notify { sets: bool, value: i32 },
    Await { cmp: WaitCmp, value: i32 },
    // The n-th meeting of a group of cores: a core arrives, and goes on.
    Arrive { meeting: (i64, u64) },
    Leave { meeting: (i64, u64) },
}

/// A signal operation.
#[derive(Clone, Debug)]
pub struct Signal {
    pub at: Stamp,
    pub words: SmallVec<[Word; 1]>,
    pub act: SignalAct,
}

/// What S does to the cache, and to what others see.
#[derive(Clone, Debug)]
pub struct CacheAct {
    pub at: Stamp,
    /// The lines that are written back and forgotten, by region; none is all of them.
    pub lines: Option<RegionBytes>,
    pub is_fence: bool,
}

/// The meeting of all blocks that a token is for.
pub(super) fn meeting((_, line, number): &Token) -> Option<(i64, u64)> {
    match line {
        Line::Meeting { group, id } => Some((id * 4 + *group as i64, *number)),
        _ => None,
    }
}

/// The log of a block.
#[derive(Clone, Debug, Default)]
pub struct SharedLog {
    pub accesses: Vec<SharedAccess>,
    pub signals: Vec<Signal>,
    pub cache: Vec<CacheAct>,
    /// The meetings of all blocks so far, of a process that has all pipes.
    pub(super) meetings: u64,
    /// Signal operations that have not happened yet, by number.
    pub(super) told: Vec<Told>,
}

/// A signal operation as it was told, before its place is known.
#[derive(Clone, Debug)]
pub(super) enum Told {
    Signal(SmallVec<[Word; 1]>, SignalAct, u64),
    Start(Vec<SharedAccess>),
    Done(Vec<u64>),
    Cache(Option<RegionBytes>, bool, u64),
}

impl SharedLog {
    /// The place of an event.
    pub(super) fn stamp<const W: usize>(
        process: usize,
        (lane, position): (Lane, u32),
        clock: &Clock<W>,
        point: &Point,
        now: u64,
    ) -> Stamp {
        let clock = (0..W).map(|lane| clock.done(lane as Lane)).collect();
        Stamp { process: process as u8, lane, position, clock, now, op: point.op, turns: point.turns }
    }

    /// What was told happens here.
    pub(super) fn happened<const W: usize>(
        &mut self,
        process: usize,
        at: (Lane, u32),
        clock: &Clock<W>,
        point: &Point,
        number: u32,
    ) {
        let Some(told) = self.told.get(number as usize).cloned() else { return };
        match told {
            Told::Signal(words, act, now) => {
                let at = SharedLog::stamp(process, at, clock, point, now);
                self.signals.push(Signal { at, words, act });
            }
            Told::Start(accesses) => {
                for mut access in accesses {
                    access.at = SharedLog::stamp(process, at, clock, point, access.at.now);
                    self.accesses.push(access);
                }
            }
            Told::Done(copies) => {
                let own = self.accesses.iter_mut().filter(|a| usize::from(a.at.process) == process);
                for access in own.filter(|a| a.copy.is_some_and(|copy| copies.contains(&copy))) {
                    access.end = Some(at);
                }
            }
            Told::Cache(lines, is_fence, now) => {
                let at = SharedLog::stamp(process, at, clock, point, now);
                self.cache.push(CacheAct { at, lines, is_fence });
            }
        }
    }
}
