//! What each event knows of the other blocks.

use super::BlockLog;
use super::needs::Words;
use crate::detector::shared_log::{Signal, SignalAct, Stamp};
use rustc_hash::FxHashMap;

/// Passes over all waits before the order is given up as undecided.
const MAX_PASSES: usize = 64;

/// By process of all blocks: how many of its releases (notifications and arrivals) are known.
pub type Known = Vec<u32>;

/// By rank and meeting: the processes that arrive, and which of their releases that is.
type Meetings = FxHashMap<(u32, (i64, u64)), Vec<(usize, usize)>>;

/// A notification or an arrival: what happened before it is known to whoever needs it.
#[derive(Debug)]
pub struct Release {
    pub signal: usize,
    /// The clock of its block when it is over.
    pub clock: Box<[u32]>,
}

/// A wait that is over, or a departure.
#[derive(Debug)]
pub struct Acquire {
    pub signal: usize,
    pub known: Known,
}

/// A process of a block.
#[derive(Debug, Default)]
pub struct ProcessSignals {
    pub releases: Vec<Release>,
    pub acquires: Vec<Acquire>,
}

/// The logs of all blocks, with what each wait knows.
#[derive(Debug)]
pub struct World {
    pub blocks: Vec<BlockLog>,
    /// By block: the number of its first process among all.
    pub first: Vec<usize>,
    /// By process.
    pub processes: Vec<ProcessSignals>,
    /// By process: its block.
    pub block_of: Vec<usize>,
    /// Whether every question about needs was answered exactly.
    pub is_exact: bool,
}

impl World {
    pub fn new(mut blocks: Vec<BlockLog>) -> World {
        let (mut first, mut block_of) = (Vec::new(), Vec::new());
        for (n, block) in blocks.iter_mut().enumerate() {
            first.push(block_of.len());
            block_of.extend(std::iter::repeat_n(n, block.cores.len()));
            block.log.signals.sort_by_key(|signal| signal.at.now);
        }
        let mut processes: Vec<ProcessSignals> = block_of.iter().map(|_| ProcessSignals::default()).collect();
        let count = block_of.len();
        for (block, first) in blocks.iter().zip(&first) {
            for (n, signal) in block.log.signals.iter().enumerate() {
                let Some(own) = processes.get_mut(first + usize::from(signal.at.process)) else { continue };
                match signal.act {
                    SignalAct::Notify { .. } | SignalAct::Arrive { .. } => {
                        let mut clock = signal.at.clock.clone();
                        if let Some(done) = clock.get_mut(usize::from(signal.at.lane)) {
                            *done = (*done).max(signal.at.position + 1);
                        }
                        own.releases.push(Release { signal: n, clock });
                    }
                    SignalAct::Await { .. } | SignalAct::Leave { .. } => {
                        own.acquires.push(Acquire { signal: n, known: vec![0; count] });
                    }
                }
            }
        }
        World { blocks, first, processes, block_of, is_exact: true }
    }

    pub fn signal(&self, process: usize, signal: usize) -> &Signal {
        &self.blocks[self.block_of[process]].log.signals[signal]
    }

    /// The processes of a block.
    pub fn of_block(&self, block: usize) -> std::ops::Range<usize> {
        let end = self.first.get(block + 1).copied().unwrap_or(self.block_of.len());
        self.first[block]..end
    }

    /// The latest wait of a process that an event of its block follows.
    fn latest(&self, block: usize, process: usize, at: &Stamp) -> Option<&Acquire> {
        let acquires = &self.processes[process].acquires;
        let follows = |acquire: &Acquire| {
            let wait = &self.blocks[block].log.signals[acquire.signal].at;
            at.has(wait.lane, wait.position)
        };
        let count = acquires.partition_point(follows);
        count.checked_sub(1).and_then(|n| acquires.get(n))
    }

    /// What an event knows of the other processes.
    pub fn known_to(&self, block: usize, at: &Stamp) -> Known {
        let mut known = vec![0; self.block_of.len()];
        for process in self.of_block(block) {
            if let Some(acquire) = self.latest(block, process, at) {
                join(&mut known, &acquire.known);
            }
        }
        known
    }

    /// How many releases of one process an event knows.
    pub fn knows_of(&self, block: usize, at: &Stamp, other: usize) -> u32 {
        let of = |process| self.latest(block, process, at).map_or(0, |acquire| acquire.known[other]);
        self.of_block(block).map(of).max().unwrap_or(0)
    }

    /// Whether an event at this place of a block is done before another event starts.
    pub fn is_before(&self, block: usize, (lane, position): (u8, u32), other: usize, at: &Stamp) -> bool {
        if block == other && at.has(lane, position) {
            return true;
        }
        self.of_block(block).any(|process| {
            let count = self.knows_of(other, at, process) as usize;
            let release = count.checked_sub(1).and_then(|n| self.processes[process].releases.get(n));
            release.is_some_and(|r| r.clock.get(usize::from(lane)).is_some_and(|done| *done > position))
        })
    }

    /// Adds what waits need to what they know, until nothing new is known; whether all of it was decided.
    pub fn settle(&mut self) -> bool {
        let words = Words::new(self);
        let meetings = self.meetings();
        let mut order: Vec<(u64, usize, usize)> = Vec::new();
        for (process, own) in self.processes.iter().enumerate() {
            for (n, acquire) in own.acquires.iter().enumerate() {
                order.push((self.signal(process, acquire.signal).at.now, process, n));
            }
        }
        order.sort_unstable();
        for _ in 0..MAX_PASSES {
            let mut grown = false;
            for (_, process, n) in &order {
                let known = self.learned(*process, *n, &words, &meetings);
                let own = &mut self.processes[*process].acquires[*n].known;
                let before = own.clone();
                join(own, &known);
                grown |= *own != before;
            }
            if !grown {
                return self.is_exact;
            }
        }
        false
    }

    /// The arrivals at each meeting of a rank.
    fn meetings(&self) -> Meetings {
        let mut all = Meetings::default();
        for (process, own) in self.processes.iter().enumerate() {
            for (n, release) in own.releases.iter().enumerate() {
                if let SignalAct::Arrive { meeting } = self.signal(process, release.signal).act {
                    let rank = self.blocks[self.block_of[process]].rank;
                    all.entry((rank, meeting)).or_default().push((process, n));
                }
            }
        }
        all
    }

    /// What a wait knows: what its process knew before, and what those know that it needs.
    fn learned(&mut self, process: usize, n: usize, words: &Words, meetings: &Meetings) -> Known {
        let block = self.block_of[process];
        let signal = self.signal(process, self.processes[process].acquires[n].signal).clone();
        let mut known = self.known_to(block, &signal.at);
        if let Some(before) = n.checked_sub(1) {
            join(&mut known, &self.processes[process].acquires[before].known);
        }
        let needed: Vec<(usize, usize)> = match signal.act {
            SignalAct::Await { cmp, value } => {
                let mut needed = Vec::new();
                for word in &signal.words {
                    let (found, is_exact) =
                        words.needed(self, (block, process), &signal.at, *word, (cmp, value), &known);
                    self.is_exact &= is_exact;
                    needed.extend(found);
                }
                needed
            }
            SignalAct::Leave { meeting } => {
                let rank = self.blocks[block].rank;
                meetings.get(&(rank, meeting)).cloned().unwrap_or_default()
            }
            _ => Vec::new(),
        };
        for (other, n) in needed {
            if known[other] > n as u32 && self.block_of[other] != block {
                continue;
            }
            let release = self.processes[other].releases[n].signal;
            let at = self.signal(other, release).at.clone();
            let theirs = self.known_to(self.block_of[other], &at);
            join(&mut known, &theirs);
            known[other] = known[other].max(n as u32 + 1);
        }
        known
    }
}

/// The greater number of each.
pub fn join(to: &mut Known, from: &Known) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a = (*a).max(*b));
}
