//! The data of the safe twins of kernels: copies and functions of single elements.

use crate::nest::{OutOfBounds, read_bits, write_bits};
use std::ops::Range;

/// The bytes of both sides of a move: in two memories, or in one.
#[derive(Debug)]
pub enum Sides<'a> {
    /// The bytes read, and the bytes written.
    Two(&'a [u8], &'a mut [u8]),
    /// The memory that holds both. No byte that is written may be read for another element: then the order of elements
    /// does not matter.
    One(&'a mut [u8]),
}

impl Sides<'_> {
    /// Checks that both spans are in bounds, with the operands at these bytes.
    #[inline]
    pub(super) fn check(&self, spans: [(i128, i128); 2], at: [usize; 2]) -> Result<(), OutOfBounds> {
        let (Sides::Two(_, dst) | Sides::One(dst)) = self;
        OutOfBounds::check(spans[0], at[0], self.source().len())?;
        OutOfBounds::check(spans[1], at[1], dst.len())
    }

    /// The starts of both sides; pointers into one memory come from the one mutable borrow of it.
    #[inline]
    pub(super) fn pointers(&mut self) -> (*const u8, *mut u8) {
        match self {
            Sides::Two(src, dst) => (src.as_ptr(), dst.as_mut_ptr()),
            Sides::One(memory) => {
                let start = memory.as_mut_ptr();
                (start, start)
            }
        }
    }

    #[inline]
    pub(super) fn source(&self) -> &[u8] {
        match self {
            Sides::Two(src, _) => src,
            Sides::One(memory) => memory,
        }
    }

    pub(super) fn copy(&mut self, src: usize, dst: usize, len: usize) {
        let (src, dst) = (src..src.wrapping_add(len), dst..dst.wrapping_add(len));
        match self {
            Sides::Two(from, to) => {
                if let (Some(from), Some(to)) = (from.get(src), to.get_mut(dst)) {
                    to.copy_from_slice(from);
                }
            }
            Sides::One(memory) => {
                if memory.get(src.clone()).is_some() && memory.get(dst.clone()).is_some() {
                    memory.copy_within(src, dst.start);
                }
            }
        }
    }

    /// The bytes of a source and of a destination run, where both exist and do not overlap.
    pub(super) fn runs(&mut self, src: Range<usize>, dst: Range<usize>) -> Option<(&[u8], &mut [u8])> {
        match self {
            Sides::Two(from, to) => Some((from.get(src)?, to.get_mut(dst)?)),
            Sides::One(memory) => {
                let [from, to] = memory.get_disjoint_mut([src, dst]).ok()?;
                Some((from, to))
            }
        }
    }

    /// Replaces the destination element by a function of the source element, each by its offset and its bits; offsets
    /// count nibbles where there are 4 bits.
    #[inline]
    pub(super) fn map(&mut self, src: (i64, u32), dst: (i64, u32), f: impl FnOnce(u64) -> u64) {
        let value = f(read_bits(self.source(), src.0, src.1));
        let (Sides::Two(_, to) | Sides::One(to)) = self;
        write_bits(to, dst.0, dst.1, value);
    }
}
