//! A buffer that blocks on several threads have in common, as one of them sees it.

use crate::defined::ByteSet;
use crate::kernels::{AlignedBytes, Claims, SharedBytes};
use std::sync::Arc;

/// What a block needs to know of the array of all.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub array: Arc<SharedBytes>,
    /// How long it is before the block.
    pub len: usize,
    pub block: u32,
    /// What other blocks had claimed before.
    pub aside: Option<Box<Aside>>,
}

/// Bytes that a block wrote and that are another one's in the array.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aside {
    /// As long as the array. What was never written there is nowhere in memory.
    pub bytes: AlignedBytes,
    pub which: ByteSet,
}

impl Share {
    pub fn new(array: Arc<SharedBytes>, len: usize) -> Self {
        Share { array, len, block: 0, aside: None }
    }

    /// What is aside from here on, with room for so many bytes.
    pub fn aside(&mut self, len: usize) -> &mut Aside {
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

impl Aside {
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
