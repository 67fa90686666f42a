//! A buffer that blocks on several threads have in common, as one of them sees it.

use super::Memory;
use super::write_set::WriteSet;
use super::{AlignedBytes, Claims, SharedBytes};
use crate::memory::ByteSet;
use std::sync::Arc;

/// What a block needs to know of the array of all.
#[derive(Clone, Debug)]
pub struct BlockShare {
    pub array: Arc<SharedBytes>,
    /// How long it is before the block.
    pub len: usize,
    pub block: u32,
    /// What other blocks had claimed before.
    pub aside: Option<Box<Overlay>>,
}

/// Bytes that a block wrote and that are another one's in the array.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    /// As long as the array. What was never written there is nowhere in memory.
    pub bytes: AlignedBytes,
    pub which: ByteSet,
}

impl BlockShare {
    pub fn new(array: Arc<SharedBytes>, len: usize) -> Self {
        BlockShare { array, len, block: 0, aside: None }
    }

    /// What is aside from here on, with room for so many bytes.
    pub fn aside(&mut self, len: usize) -> &mut Overlay {
        let aside = self.aside.get_or_insert_default();
        aside.bytes.grow(len);
        aside.which.grow(len);
        aside
    }

    /// Puts runs that were written aside where they belong: into the array what is this block's there.
    pub fn sort_out(&mut self, array: &mut AlignedBytes, runs: impl Iterator<Item = (usize, usize)>) {
        let Some(aside) = &mut self.aside else { return };
        for (start, len) in runs {
            for (piece, owner) in self.array.pieces(self.block, start..start + len) {
                if owner != self.block {
                    aside.which.insert(piece.start, piece.len());
                } else if let (Some(to), Some(from)) = (array.get_mut(piece.clone()), aside.bytes.get(piece)) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

impl Overlay {
    /// Puts into the array what lower blocks have there.
    pub fn put(&self, block: u32, array: &mut [u8], claims: &Claims) {
        self.which.for_each_run(0, self.bytes.len(), |start, len| {
            let pieces = claims.owners(start..start + len).into_iter();
            for (piece, _) in pieces.filter(|(_, owner)| owner.is_none_or(|owner| owner < block)) {
                if let (Some(to), Some(from)) = (array.get_mut(piece.clone()), self.bytes.get(piece)) {
                    to.copy_from_slice(from);
                }
            }
        });
    }
}

impl Memory {
    /// The array of all blocks, for one that only reads it.
    pub fn reading(array: &Arc<SharedBytes>, defined: &ByteSet) -> Memory {
        let bytes = array.lend();
        let share = Some(Box::new(BlockShare::new(array.clone(), bytes.len())));
        Memory { bytes, defined: defined.clone(), share, ..Memory::default() }
    }

    /// The array of all blocks, for one that only writes it. Since nobody asks, all of it counts as defined.
    pub fn writing(array: &Arc<SharedBytes>) -> Memory {
        let bytes = array.lend();
        let mut defined = ByteSet::default();
        defined.grow(bytes.len());
        defined.insert(0, bytes.len());
        let share = Some(Box::new(BlockShare::new(array.clone(), bytes.len())));
        let written = Some(WriteSet::default());
        Memory { bytes, defined, written, share, cleared: true, ..Memory::default() }
    }

    /// May what is written now, which is these runs, go to where it belongs? Not where another block has some of it.
    #[inline]
    pub fn claim(&mut self, runs: impl Iterator<Item = (usize, usize)> + Clone) -> bool {
        let (Some(share), Some(written)) = (&self.share, &self.written) else { return true };
        let is_known = share.aside.is_none() && runs.clone().all(|(start, len)| written.has_all(start, len));
        is_known || share.array.claim(share.block, runs)
    }

    /// What is written until [`Memory::sort_out`] goes aside.
    pub fn swap_aside(&mut self) {
        if let Some(share) = &mut self.share {
            let aside = share.aside(self.bytes.len());
            std::mem::swap(&mut self.bytes, &mut aside.bytes);
        }
    }

    /// What was written aside, which is these runs, goes into the array as far as it is this block's there.
    pub fn sort_out(&mut self, runs: impl Iterator<Item = (usize, usize)>) {
        self.swap_aside();
        if let Some(share) = &mut self.share {
            share.sort_out(&mut self.bytes, runs);
        }
    }
}
