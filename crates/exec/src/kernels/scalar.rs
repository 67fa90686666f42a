//! The safe twins: copies element by element, whatever the loops are.

use super::Loop;
use crate::nest::{read_bits, write_bits};
use std::ops::Range;

/// Two memories, or one that holds both sides.
pub(super) trait Bytes {
    /// Copies `len` bytes.
    fn copy(&mut self, src: usize, dst: usize, len: usize);
    /// The bytes of a source and of a destination run, where both exist and do not overlap.
    fn runs(&mut self, src: Range<usize>, dst: Range<usize>) -> Option<(&[u8], &mut [u8])>;
    /// Replaces the destination element by a function of the source element, each by its offset and its bits; offsets
    /// count nibbles where there are 4 bits.
    fn map(&mut self, src: (i64, u32), dst: (i64, u32), f: impl FnOnce(u64) -> u64);
}

pub(super) struct Two<'a> {
    pub src: &'a [u8],
    pub dst: &'a mut [u8],
}

impl Bytes for Two<'_> {
    fn copy(&mut self, src: usize, dst: usize, len: usize) {
        let (from, to) = (self.src.get(src..src.wrapping_add(len)), self.dst.get_mut(dst..dst.wrapping_add(len)));
        if let (Some(from), Some(to)) = (from, to) {
            to.copy_from_slice(from);
        }
    }

    fn runs(&mut self, src: Range<usize>, dst: Range<usize>) -> Option<(&[u8], &mut [u8])> {
        Some((self.src.get(src)?, self.dst.get_mut(dst)?))
    }

    fn map(&mut self, src: (i64, u32), dst: (i64, u32), f: impl FnOnce(u64) -> u64) {
        write_bits(self.dst, dst.0, dst.1, f(read_bits(self.src, src.0, src.1)));
    }
}

pub(super) struct One<'a> {
    pub memory: &'a mut [u8],
}

impl Bytes for One<'_> {
    fn copy(&mut self, src: usize, dst: usize, len: usize) {
        let end = src.checked_add(len).filter(|&end| end <= self.memory.len());
        if end.is_some() && dst.checked_add(len).is_some_and(|end| end <= self.memory.len()) {
            self.memory.copy_within(src..src + len, dst);
        }
    }

    fn runs(&mut self, src: Range<usize>, dst: Range<usize>) -> Option<(&[u8], &mut [u8])> {
        if src.end <= dst.start {
            let (low, high) = self.memory.split_at_mut_checked(dst.start)?;
            Some((low.get(src)?, high.get_mut(..dst.len())?))
        } else if dst.end <= src.start {
            let (low, high) = self.memory.split_at_mut_checked(src.start)?;
            Some((high.get(..src.len())?, low.get_mut(dst)?))
        } else {
            None
        }
    }

    fn map(&mut self, src: (i64, u32), dst: (i64, u32), f: impl FnOnce(u64) -> u64) {
        let value = f(read_bits(self.memory, src.0, src.1));
        write_bits(self.memory, dst.0, dst.1, value);
    }
}

/// Copies `run` bytes at every point of the loops, or one nibble where there is no run (offsets count nibbles then).
pub(super) fn copy(bytes: &mut impl Bytes, loops: &[Loop], src: isize, dst: isize, run: Option<usize>) {
    let Some((l, rest)) = loops.split_first() else {
        return match run {
            Some(run) => bytes.copy(src as usize, dst as usize, run),
            None => bytes.map((src as i64, 4), (dst as i64, 4), |nibble| nibble),
        };
    };
    for i in 0..l.n as isize {
        let (s, d) = (src.wrapping_add(i.wrapping_mul(l.src)), dst.wrapping_add(i.wrapping_mul(l.dst)));
        copy(bytes, rest, s, d, run);
    }
}
