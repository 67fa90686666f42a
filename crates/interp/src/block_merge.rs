//! Blocks that have ended and wait to be put together.
//!
//! What a block wrote to its copy of an array is kept until all blocks have ended, since the others still begin with what the
//! array held at the start. Where that is more than the array itself, a result takes it in, block by block in their order.

use super::blocks::{BlockResult, Buffer};
use std::collections::BTreeMap;
use tessera_kernels::memory::Memory;

/// What blocks left.
pub(super) struct FinishedBlocks {
    left: BTreeMap<u32, BlockResult>,
    /// By buffer, where threads have copies of it.
    kept: Vec<Option<PendingWrites>>,
}

/// What is kept of a buffer.
#[derive(Default)]
struct PendingWrites {
    /// The bytes of what blocks left and the result does not have.
    bytes: usize,
    result: Option<Memory>,
    /// How many blocks the result has.
    blocks: u32,
}

impl FinishedBlocks {
    /// No block has ended. By buffer: has every thread a copy of it?
    pub fn new(copied: impl Iterator<Item = bool>) -> Self {
        FinishedBlocks {
            left: BTreeMap::new(),
            kept: copied.map(|copied| copied.then(PendingWrites::default)).collect(),
        }
    }

    pub fn add(&mut self, block: u32, left: BlockResult, buffers: &[Buffer]) {
        for (kept, taken) in self.kept.iter_mut().zip(&left.writes) {
            kept.iter_mut().for_each(|kept| kept.bytes = kept.bytes.saturating_add(taken.bytes()));
        }
        self.left.insert(block, left);
        for (n, (kept, buffer)) in self.kept.iter_mut().zip(buffers).enumerate() {
            // How long a buffer that grows will be is not known.
            if let Some(kept) = kept.as_mut().filter(|kept| kept.bytes > buffer.memory.bytes().len() && !buffer.grows) {
                kept.take_in(n, &mut self.left, buffer);
            }
        }
    }

    /// What the blocks left, in their order; what results have is in the buffers.
    pub fn finish(self, buffers: &mut [Buffer]) -> Vec<BlockResult> {
        for (buffer, result) in buffers.iter_mut().zip(self.kept.into_iter().map(|kept| kept?.result)) {
            if let Some(result) = result {
                buffer.memory = result;
            }
        }
        self.left.into_values().collect()
    }
}

impl PendingWrites {
    /// Takes in what blocks wrote to the buffer with this number, up to the first one that has not ended.
    fn take_in(&mut self, number: usize, left: &mut BTreeMap<u32, BlockResult>, buffer: &Buffer) {
        let result = self.result.get_or_insert_with(|| buffer.memory.clone());
        while let Some(left) = left.get_mut(&self.blocks) {
            left.writes.get_mut(number).into_iter().for_each(|taken| result.put_taken(taken.take_contents()));
            self.blocks += 1;
        }
        let others = left.values().filter_map(|left| left.writes.get(number));
        self.bytes = others.fold(0, |sum, taken| sum.saturating_add(taken.bytes()));
    }
}
