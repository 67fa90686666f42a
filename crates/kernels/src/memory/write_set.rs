//! The writes of a block to a buffer, and their effect on it.

use super::combine_log::CombineLog;
use crate::memory::ByteSet;
use rustc_hash::FxHashMap;

/// The writes of one block to a buffer.
#[derive(Clone, Debug, Default)]
pub struct WriteSet {
    /// Counted from `first` on: a block that writes a part of its own needs no bits for those before it.
    bytes: ByteSet,
    first: usize,
    /// All written bytes lie between these two.
    hull: Option<(usize, usize)>,
    /// The combinations, in order; written bytes win over them.
    pub combined: CombineLog,
    /// The operation that writes now.
    pub writer: u32,
    writers: Writers,
}

/// By operation: all that it wrote lies between these two.
pub type Writers = FxHashMap<u32, (usize, usize)>;

/// The effect of a block on a buffer: combinations with the result of other blocks first, then runs of written bytes.
#[derive(Clone, Debug, Default)]
pub struct BlockWrites {
    /// The written runs: the start and the length of each.
    pub runs: Vec<(usize, usize)>,
    /// The bytes of all runs, one run's after the other's.
    contents: Vec<u8>,
    /// The combinations, in order, which come before the writes.
    pub combined: CombineLog,
    pub writers: Writers,
}

impl BlockWrites {
    /// Whether it wrote and combined nothing.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.combined.is_empty()
    }

    /// The bytes that its contents take.
    pub fn bytes(&self) -> usize {
        self.contents.len().saturating_add(self.combined.bytes())
    }

    /// The runs with their bytes.
    pub fn writes(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut rest = self.contents.as_slice();
        self.runs.iter().map_while(move |(start, len)| {
            let (run, others) = rest.split_at_checked(*len)?;
            rest = others;
            Some((*start, run))
        })
    }

    /// Puts it into a buffer; bytes out of bounds are left out.
    pub fn put(&mut self, buffer: &mut [u8]) {
        self.combined.put(buffer);
        for (start, run) in self.writes() {
            if let Some(to) = buffer.get_mut(start..start + run.len()) {
                to.copy_from_slice(run);
            }
        }
    }
}

impl WriteSet {
    pub fn insert(&mut self, start: usize, len: usize) {
        if len > 0 {
            let (low, high) = self.hull.unwrap_or((start, start));
            if self.hull.is_none() || start < self.first {
                self.begin_at(start.saturating_sub(high - low));
            }
            self.bytes.grow(start + len - self.first);
            self.bytes.insert(start - self.first, len);
            self.hull = Some((low.min(start), high.max(start + len)));
            let (low, high) = self.writers.entry(self.writer).or_insert((start, start));
            (*low, *high) = ((*low).min(start), (*high).max(start + len));
        }
    }

    /// Marks each partly written element of `size` bytes in a run of contiguous ones as wholly written.
    pub fn complete(&mut self, start: usize, len: usize, size: usize) {
        let Some((low, high)) = self.hull else { return };
        let (low, high) = (low.max(start), high.min(start + len));
        let mut cut = Vec::new();
        if low < high {
            self.for_each_run(low, high, |at, len| {
                let (first, end) = ((at - start) / size * size, (at + len - start).next_multiple_of(size));
                if (start + first, end - first) != (at, len) {
                    cut.push((start + first, end - first));
                }
            });
        }
        cut.into_iter().for_each(|(start, len)| self.insert(start, len));
    }

    /// Counts from another byte on, which lies before all that was written.
    #[cold]
    fn begin_at(&mut self, first: usize) {
        let mut bytes = ByteSet::default();
        if let Some((low, high)) = self.hull {
            bytes.grow(high - first);
            self.for_each_run(low, high, |start, len| bytes.insert(start - first, len));
        }
        (self.bytes, self.first) = (bytes, first);
    }

    fn for_each_run(&self, low: usize, high: usize, mut f: impl FnMut(usize, usize)) {
        let first = self.first;
        self.bytes.for_each_run(low - first, high - first, |start, len| f(start + first, len));
    }

    /// Whether all bytes of a run were written.
    #[inline]
    pub fn has_all(&self, start: usize, len: usize) -> bool {
        start >= self.first && self.bytes.has_all(start - self.first, len)
    }

    /// Takes the writes to `bytes`, the combinations and the operations that made them. After this the set is empty.
    pub fn take(&mut self, bytes: &[u8]) -> BlockWrites {
        let (mut runs, mut contents) = (Vec::new(), Vec::new());
        if let Some((low, high)) = self.hull {
            self.for_each_run(low, high, |start, len| {
                let run = bytes.get(start..(start + len).min(bytes.len())).unwrap_or_default();
                runs.push((start, run.len()));
                contents.extend_from_slice(run);
            });
        }
        let WriteSet { combined, writers, .. } = std::mem::take(self);
        BlockWrites { runs, contents, combined, writers }
    }
}
