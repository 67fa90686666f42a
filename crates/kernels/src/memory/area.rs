//! Areas: the bytes that one side of a step touches, as few ranges as possible.
//!
//! Whether bytes are defined does not depend on the order in which they move, so the runs of all nests of a step are
//! sorted and merged: a whole tile is one range in every layout.

use crate::memory::ByteSet;
use crate::nest::{Nest, Runs};
use smallvec::SmallVec;

/// Ranges of bytes relative to where an operand starts, rising and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Area {
    ranges: SmallVec<[(i64, u64); 1]>,
}

impl Area {
    /// The area of some runs.
    pub fn of_runs<'a>(all: impl IntoIterator<Item = &'a Runs>) -> Self {
        let mut area = Area::default();
        for runs in all {
            runs.for_each(|start, len| push(&mut area.ranges, start, len));
        }
        area.merge();
        area
    }

    /// Adds the ranges of another area; [`Area::merge`] brings them into order.
    pub fn extend(&mut self, other: &Area) {
        self.ranges.extend_from_slice(&other.ranges);
    }

    /// Brings the ranges into order and joins those that meet.
    pub fn merge(&mut self) {
        self.ranges.sort_unstable();
        let sorted = std::mem::take(&mut self.ranges);
        for (start, len) in sorted {
            push(&mut self.ranges, start, len);
        }
    }

    /// The area that one operand of some nests touches.
    pub fn of_nests<'a>(nests: impl IntoIterator<Item = &'a Nest>, operand: usize) -> Self {
        let runs: SmallVec<[Runs; 4]> = nests.into_iter().map(|n| n.runs(operand)).collect();
        Area::of_runs(&runs)
    }

    /// One range.
    pub fn range(start: i64, len: u64) -> Self {
        let mut ranges = SmallVec::new();
        push(&mut ranges, start, len);
        Area { ranges }
    }

    /// The number of ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The first byte and one past the last one, where there are any.
    pub fn span(&self) -> Option<(i64, i64)> {
        let (first, last) = (self.ranges.first()?, self.ranges.last()?);
        Some((first.0, last.0.saturating_add_unsigned(last.1)))
    }

    /// One past the last byte, with the operand at byte `at` of its memory; `at` where there are none.
    pub fn end(&self, at: usize) -> usize {
        at.saturating_add(self.span().map_or(0, |s| s.1.max(0) as usize))
    }

    /// The ranges, with the operand at byte `at` of its memory. Ranges before the memory's start are left out; the
    /// code that moved the data has refused them.
    #[inline]
    pub fn at(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
        self.ranges.iter().filter_map(move |(start, len)| {
            let start = usize::try_from(at as i64 + start).ok()?;
            Some((start, *len as usize))
        })
    }

    /// Whether every byte is in the set.
    #[inline]
    pub fn is_in(&self, set: &ByteSet, at: usize) -> bool {
        set.is_full_to(self.end(at)) || self.at(at).all(|(start, len)| set.has_all(start, len))
    }

    /// Whether no byte is in the set.
    #[inline]
    pub fn is_outside(&self, set: &ByteSet, at: usize) -> bool {
        self.at(at).all(|(start, len)| set.has_none(start, len))
    }

    /// Whether the area contains the byte.
    pub fn contains(&self, at: usize, byte: usize) -> bool {
        self.at(at).any(|(start, len)| (start..start + len).contains(&byte))
    }
}

/// Adds a range; one that continues or overlaps the last is merged with it.
fn push(ranges: &mut SmallVec<[(i64, u64); 1]>, start: i64, len: u64) {
    if len == 0 {
        return;
    }
    if let Some((last, n)) = ranges.last_mut() {
        let end = last.saturating_add_unsigned(*n);
        if *last <= start && start <= end {
            *n = (*n).max(start.abs_diff(*last).saturating_add(len));
            return;
        }
    }
    ranges.push((start, len));
}
