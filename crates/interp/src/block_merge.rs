//! The results of blocks, put together in block order while the kernel runs.
//!
//! A block that ends leaves what it wrote. The lowest block that has not ended is the *next* one: when it ends, its writes
//! go into the result, and so do those of the blocks after it that have ended already. So the result is the same for any
//! number of threads. Blocks begin in increasing number and the next one never waits, so others may wait for their turn.

use super::Run;
use super::block_overlap::{Overlap, Owners};
use super::blocks::{BlockResult, Buffer};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tessera_ir::ValueId;
use tessera_isa::diag::Diagnostic;
use tessera_kernels::memory::{BlockWrites, Memory};

/// A block whose writes take more bytes than this, together with those of others, waits until they are in the result.
const PENDING: usize = 64 << 20;

/// A log of at least this number of bytes goes into the result at once when it is the block's turn.
const LOG_IN_TURN: usize = 1 << 20;

/// A block with a log of more bytes than this waits for its turn.
const LOG: usize = 8 << 20;

/// The merge of the blocks' results, from the first block on.
pub(super) struct BlockMerge {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The lowest block that has not ended.
    next: u32,
    pending: BTreeMap<u32, (BlockResult, Vec<BlockWrites>)>,
    pending_bytes: usize,
    /// Whether a thread has panicked, so that some block never ends.
    is_abandoned: bool,
    /// By buffer: the contents after the blocks before `next`.
    arrays: Vec<MergedArray>,
    results: Vec<BlockResult>,
    overlaps: Vec<(usize, Overlap)>,
}

struct MergedArray {
    memory: Memory,
    owners: Owners,
}

/// The merged results of all blocks.
pub(super) struct Merged {
    /// By buffer.
    pub memories: Vec<Memory>,
    pub results: Vec<BlockResult>,
    overlaps: Vec<(usize, Overlap)>,
}

impl BlockMerge {
    /// A merge before any block has ended; `memories` are the contents by buffer.
    pub fn new(memories: impl Iterator<Item = Memory>) -> Self {
        let arrays = memories.map(|memory| MergedArray { memory, owners: Owners::default() }).collect();
        let state = State {
            next: 0,
            pending: BTreeMap::new(),
            pending_bytes: 0,
            is_abandoned: false,
            arrays,
            results: Vec::new(),
            overlaps: Vec::new(),
        };
        BlockMerge { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A merge that panics is reported by the thread that panicked.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn of a block.
    fn wait_for<'s>(&'s self, block: u32, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        while state.next < block && !state.is_abandoned {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Adds the result of a block that has ended, and its writes, by buffer.
    pub fn add(&self, block: u32, result: BlockResult, writes: Vec<BlockWrites>) {
        let mut state = self.state();
        state.pending_bytes = writes.iter().fold(state.pending_bytes, |sum, one| sum.saturating_add(one.bytes()));
        state.pending.insert(block, (result, writes));
        if state.pending_bytes > PENDING {
            state = self.wait_for(block, state);
        }
        state.merge();
        self.changed.notify_all();
    }

    /// Puts a block's combinations with an array into the result early if their log is large.
    pub fn combine_early(&self, block: u32, array: usize, memory: &mut Memory) {
        if memory.logged() < LOG_IN_TURN {
            return;
        }
        let mut state = self.state();
        if memory.logged() >= LOG {
            state = self.wait_for(block, state);
        }
        if state.next == block
            && let Some(array) = state.arrays.get_mut(array)
        {
            memory.take_log().put(array.memory.as_mut());
        }
    }

    /// A thread that panics ends the waiting of the others.
    pub fn guard(&self) -> impl Drop + '_ {
        struct Guard<'a>(&'a BlockMerge);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.state().is_abandoned = true;
                    self.0.changed.notify_all();
                }
            }
        }
        Guard(self)
    }

    /// The merged results of the blocks, in block order.
    pub fn finish(self) -> Merged {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let memories = state.arrays.into_iter().map(|array| array.memory).collect();
        Merged { memories, results: state.results, overlaps: state.overlaps }
    }
}

impl State {
    /// Puts the writes of the next blocks into the result.
    fn merge(&mut self) {
        while let Some((result, writes)) = self.pending.remove(&self.next) {
            for (number, (array, mut writes)) in self.arrays.iter_mut().zip(writes).enumerate() {
                self.pending_bytes = self.pending_bytes.saturating_sub(writes.bytes());
                if !writes.is_empty() {
                    self.overlaps.extend(array.owners.add(self.next, &writes).map(|overlap| (number, overlap)));
                    array.memory.put_taken(&mut writes);
                }
            }
            self.results.push(result);
            self.next += 1;
        }
    }
}

impl Merged {
    /// `block-overlap` of the buffers, which are in the order of `buffers`.
    pub fn warnings(&self, run: &Run<'_>, buffers: &[Buffer]) -> Vec<Diagnostic> {
        let value = |number: &usize| buffers.get(*number).map_or(ValueId(0), |buffer| buffer.value);
        self.overlaps.iter().map(|(number, overlap)| overlap.diagnostic(run, value(number))).collect()
    }
}
