//! An array as one block sees it: its contents before the kernel, plus the block's own writes (isa/structure.md 4).
//!
//! All blocks read one allocation, which never changes while they run. A block writes to bytes of its own, the
//! *overlay*, and notes which bytes it wrote ([`WriteSet`]). A byte that the block reads before it writes it is copied
//! into the overlay then. The block's combinations with the array are logged, so that they can be repeated on the
//! result of the lower blocks.

use super::{AlignedBytes, BlockWrites, Memory, WriteSet};
use crate::memory::ByteSet;
use crate::{Failure, internal_error};

/// The accesses that a block, or an instruction, makes to an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayAccess {
    pub reads: bool,
    pub writes: bool,
    /// Atomic stores.
    pub combines: bool,
}

impl ArrayAccess {
    pub const READS: ArrayAccess = ArrayAccess { reads: true, writes: false, combines: false };
    pub const WRITES: ArrayAccess = ArrayAccess { reads: false, writes: true, combines: false };
    pub const COMBINES: ArrayAccess = ArrayAccess { reads: false, writes: false, combines: true };
    pub const READS_AND_WRITES: ArrayAccess = ArrayAccess { reads: true, writes: true, combines: false };

    pub const ALL: ArrayAccess = ArrayAccess { reads: true, writes: true, combines: true };

    /// The accesses of both.
    pub fn or(self, other: ArrayAccess) -> ArrayAccess {
        let (reads, writes) = (self.reads || other.reads, self.writes || other.writes);
        ArrayAccess { reads, writes, combines: self.combines || other.combines }
    }

    /// Whether it does nothing that `other` does not do.
    fn is_within(self, other: ArrayAccess) -> bool {
        self.reads <= other.reads && self.writes <= other.writes && self.combines <= other.combines
    }

    /// Whether blocks need the contents of the array before the kernel: they read it, or combine with what they wrote.
    pub fn needs_contents(self) -> bool {
        self.reads || self.writes && self.combines
    }

    /// Whether a block needs no bytes of its own.
    pub fn is_read_only(self) -> bool {
        !self.writes && !self.combines
    }
}

/// The state of a block's own version of an array, beside its bytes.
#[derive(Debug)]
pub(super) struct Overlay {
    access: ArrayAccess,
    /// The array before the kernel; empty where it may have changed meanwhile.
    base: AlignedBytes,
    /// The length of the array before the block.
    len: usize,
    /// The bytes of the overlay that are as the block sees them. They are not followed where no block reads.
    valid: ByteSet,
}

impl Overlay {
    /// Copies bytes of the array that the overlay does not have yet.
    fn fill(&mut self, bytes: &mut AlignedBytes, start: usize, len: usize) {
        let end = start.saturating_add(len).min(self.base.len());
        if start >= end || self.valid.has_all(start, end - start) {
            return;
        }
        let mut copy = |start: usize, end: usize| {
            if let (Some(to), Some(from)) = (bytes.get_mut(start..end), self.base.get(start..end)) {
                to.copy_from_slice(from);
            }
        };
        let mut from = start;
        self.valid.for_each_run(start, end, |at, len| {
            copy(from, at);
            from = at + len;
        });
        copy(from, end);
        self.valid.insert(start, end - start);
    }

    /// Forgets the block's writes.
    fn clear(&mut self) {
        self.valid = ByteSet::default();
        self.valid.grow(self.base.len());
    }
}

impl Memory {
    /// The array for one block after the other, none of which does more than `access` says; `len` is how long it is.
    /// Its bytes are [shared](Memory::shared), or they are not [needed](ArrayAccess::needs_contents).
    pub fn block_view(&self, access: ArrayAccess, len: usize) -> Memory {
        let bytes = if access.is_read_only() { self.bytes.clone() } else { AlignedBytes::zeroed(len) };
        let base = if access.needs_contents() { self.bytes.clone() } else { AlignedBytes::default() };
        let mut overlay = Overlay { access, base, len, valid: ByteSet::default() };
        overlay.clear();
        let written = (!access.is_read_only()).then(WriteSet::default);
        Memory { bytes, defined: self.defined.clone(), written, overlay: Some(Box::new(overlay)), ..Memory::default() }
    }

    /// A copy whose bytes are those of this one, until one of the two changes.
    pub fn shared(&mut self) -> Memory {
        self.bytes.share();
        Memory { bytes: self.bytes.clone(), defined: self.defined.clone(), ..Memory::default() }
    }

    /// The same with its bytes, which this one has no more.
    pub fn moved(&mut self) -> Memory {
        Memory { bytes: std::mem::take(&mut self.bytes), defined: self.defined.clone(), ..Memory::default() }
    }

    /// Makes runs of bytes ready for an instruction that accesses them in this way. Runs that it combines with are
    /// made ready in [`Memory::combine`].
    #[inline]
    pub fn touch(&mut self, runs: impl Iterator<Item = (usize, usize)>, access: ArrayAccess) -> Result<(), Failure> {
        let Some(overlay) = &mut self.overlay else { return Ok(()) };
        if !access.is_within(overlay.access) {
            return Err(internal_error("a block uses an array in another way than its program"));
        }
        if overlay.access.needs_contents() && !overlay.access.is_read_only() && !access.combines {
            for (start, len) in runs {
                if access.reads {
                    overlay.fill(&mut self.bytes, start, len);
                } else if start < overlay.base.len() {
                    overlay.valid.insert(start, len.min(overlay.base.len() - start));
                }
            }
        }
        Ok(())
    }

    /// Prepares runs of bytes that a block combines with; returns whether it may read them.
    pub(super) fn touch_combined(&mut self, runs: impl Iterator<Item = (usize, usize)>) -> bool {
        let Some(overlay) = &mut self.overlay else { return true };
        if overlay.access.needs_contents() {
            runs.for_each(|(start, len)| overlay.fill(&mut self.bytes, start, len));
        }
        overlay.access.needs_contents()
    }

    /// Takes the writes of a block. After this the memory is as before the block, when the array was `before`.
    pub fn end_block(&mut self, before: &Memory) -> BlockWrites {
        let taken = self.take_written();
        if let Some(overlay) = &mut self.overlay {
            overlay.clear();
            self.bytes.truncate(overlay.len);
            if !taken.runs.is_empty() {
                self.defined = before.defined.clone();
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: ArrayAccess = ArrayAccess::READS;
    const WRITES: ArrayAccess = ArrayAccess::WRITES;
    const BOTH: ArrayAccess = ArrayAccess::READS_AND_WRITES;

    #[test]
    fn a_block_sees_the_array_and_its_own_writes() {
        let mut array = Memory::new([1, 2, 3, 4, 5, 6, 7, 8], true);
        drop(array.shared());
        let mut block = array.block_view(BOTH, 8);
        for _ in 0..2 {
            block.touch([(2, 3)].into_iter(), WRITES).unwrap();
            block.as_mut()[2..5].copy_from_slice(&[30, 40, 50]);
            block.note_written(2, 3);
            block.touch([(1, 5), (7, 9)].into_iter(), READS).unwrap();
            assert_eq!((&block.bytes()[1..6], block.bytes()[7]), (&[2, 30, 40, 50, 6][..], 8));
            let taken = block.end_block(&array);
            assert_eq!(taken.writes().collect::<Vec<_>>(), [(2, &[30, 40, 50][..])]);
            assert_eq!(array.bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
        }
    }

    #[test]
    fn blocks_that_read_have_the_same_bytes() {
        let mut array = Memory::new([1, 2, 3], true);
        drop(array.shared());
        let place = array.bytes().as_ptr();
        let mut block = array.block_view(READS, 3);
        block.touch([(0, 3)].into_iter(), READS).unwrap();
        assert_eq!(block.bytes().as_ptr(), place);
        block.as_mut()[1] = 7;
        assert_eq!((array.bytes(), block.bytes()), (&[1, 2, 3][..], &[1, 7, 3][..]));
        drop(block);
        array.as_mut()[0] = 9;
        assert_eq!((array.bytes().as_ptr(), array.bytes()), (place, &[9, 2, 3][..]));
    }

    #[test]
    fn a_block_does_what_was_said() {
        let array = Memory::new([1, 2, 3], true);
        let touch = |may, does| array.block_view(may, 3).touch([(0, 2)].into_iter(), does);
        assert!(touch(WRITES, WRITES).is_ok() && touch(READS, READS).is_ok() && touch(BOTH, BOTH).is_ok());
        assert!(touch(WRITES, READS).is_err() && touch(READS, WRITES).is_err());
    }
}
