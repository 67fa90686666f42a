//! An array that several blocks have at once, each on a thread of its own.
//!
//! One that is only read is read where it is. One that is only written is written where it is, too: a block *claims* bytes
//! before it writes them for the first time, and bytes that another block has claimed it keeps aside. One that is only
//! combined with a block touches in its turn alone. And one that is read and written is both where it is, if it was found
//! before that no block touches what another one writes. So no byte is written by two threads at a time, and none is read that
//! another one writes.

use super::AlignedBytes;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The array.
#[derive(Debug)]
pub struct SharedBytes {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    bytes: AlignedBytes,
    claims: Claims,
}

impl SharedBytes {
    pub fn new(bytes: AlignedBytes) -> Self {
        SharedBytes { inner: Mutex::new(Inner { bytes, claims: Claims::default() }) }
    }

    /// Works on what only one thread has at a time. A claim that panicked left nothing half done that others rely on.
    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The array for one thread, which keeps `self` as long as it uses it, and claims what it writes, or
    /// waits for its turn.
    pub fn lend(&self) -> AlignedBytes {
        // SAFETY: the array moves nowhere before all who have it are gone (`SharedBytes::into_parts` takes it by value).
        // Whoever has it writes only what it has claimed, and reads only where nobody writes the array at all; or it touches
        // the array only in its turn (`engine::turns`), which no two threads have at a time; or it reads and writes it, and no
        // other thread touches what it writes (`interp::foresight`).
        self.with(|inner| unsafe { inner.bytes.lent_again() })
    }

    /// See [`Claims::claim`].
    pub fn claim(&self, block: u32, runs: impl Iterator<Item = (usize, usize)> + Clone) -> bool {
        self.with(|inner| inner.claims.claim(block, runs))
    }

    /// See [`Claims::pieces`].
    pub fn pieces(&self, block: u32, run: Range<usize>) -> Vec<(Range<usize>, u32)> {
        self.with(|inner| inner.claims.pieces(block, run))
    }

    /// The array, and who wrote what.
    pub fn into_parts(self) -> (AlignedBytes, Claims) {
        let inner = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        (inner.bytes, inner.claims)
    }
}

/// Which block has which bytes.
#[derive(Debug, Default)]
pub struct Claims {
    /// By first byte: the end, and the block. Runs of one block that meet are one.
    runs: BTreeMap<usize, (usize, u32)>,
}

impl Claims {
    /// Claims runs (start and length) for a block, if no other block has a byte of them.
    pub fn claim(&mut self, block: u32, runs: impl Iterator<Item = (usize, usize)> + Clone) -> bool {
        if !runs.clone().filter(|run| run.1 > 0).all(|run| self.is_free(block, run)) {
            return false;
        }
        runs.filter(|run| run.1 > 0).for_each(|(start, len)| self.insert(block, start..start + len));
        true
    }

    /// Has no other block a byte of the run (start and length)?
    pub fn is_free(&self, block: u32, (start, len): (usize, usize)) -> bool {
        self.meeting(start..start + len).all(|(_, _, owner)| owner == block)
    }

    /// The runs that have bytes of a range, the last one first.
    fn meeting(&self, range: Range<usize>) -> impl Iterator<Item = (usize, usize, u32)> {
        let before = self.runs.range(..range.end).rev().map(|(start, (end, block))| (*start, *end, *block));
        before.take_while(move |(_, end, _)| *end > range.start)
    }

    /// Adds bytes that no other block has.
    fn insert(&mut self, block: u32, range: Range<usize>) {
        let Range { mut start, mut end } = range;
        // Own runs that meet it, or end or begin where it does, become one with it.
        if let Some((last, _)) = self.runs.get(&end).copied().filter(|(_, owner)| *owner == block) {
            self.runs.remove(&end);
            end = last;
        }
        while let Some((first, (last, owner))) = self.runs.range(..end).next_back().map(|(k, v)| (*k, *v)) {
            if last < start || owner != block {
                break;
            }
            self.runs.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        self.runs.insert(start, (end, block));
    }

    /// A run as pieces, each with the block that has it; what nobody had becomes this block's.
    pub fn pieces(&mut self, block: u32, run: Range<usize>) -> Vec<(Range<usize>, u32)> {
        let mut pieces = self.owners(run);
        for (range, owner) in &mut pieces {
            let owner = *owner.get_or_insert(block);
            if owner == block {
                self.insert(block, range.clone());
            }
        }
        pieces.into_iter().map(|(range, owner)| (range, owner.unwrap_or(block))).collect()
    }

    /// A run as pieces, each with the block that has it.
    pub fn owners(&self, run: Range<usize>) -> Vec<(Range<usize>, Option<u32>)> {
        let mut pieces = Vec::new();
        let mut end = run.end;
        for (first, last, owner) in self.meeting(run.clone()) {
            let (first, last) = (first.max(run.start), last.min(end));
            if last < end {
                pieces.push((last..end, None));
            }
            pieces.push((first..last, Some(owner)));
            end = first;
        }
        if run.start < end {
            pieces.push((run.start..end, None));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;

    /// Every byte's owner, one by one, is what claims are compared with.
    #[test]
    fn claims_agree_with_single_bytes() {
        let mut seed = 3u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        for _ in 0..300 {
            let (mut claims, mut plain) = (Claims::default(), vec![None; 100]);
            for _ in 0..40 {
                let (block, start) = (next(3) as u32, next(90));
                let run = (start, next(12).min(100 - start));
                let range = run.0..run.0 + run.1;
                if next(4) == 0 {
                    for (piece, owner) in claims.pieces(block, range.clone()) {
                        let bytes = &mut plain[piece];
                        assert!(bytes.iter().all(|byte| byte.unwrap_or(block) == owner));
                        bytes.fill(Some(owner));
                    }
                    continue;
                }
                let second = (run.0 / 2, 3);
                let both = [run, second].into_iter();
                let is_free = |(start, len): (usize, usize)| {
                    plain[start..start + len].iter().all(|o| o.is_none_or(|o| o == block))
                };
                let expected = both.clone().all(is_free);
                assert_eq!(claims.claim(block, both.clone()), expected);
                if expected {
                    both.for_each(|(start, len)| plain[start..start + len].fill(Some(block)));
                }
            }
            for (piece, owner) in claims.owners(0..100) {
                assert!(plain[piece].iter().all(|byte| *byte == owner));
            }
            let runs = plain.chunk_by(|a, b| a == b).filter(|run| run[0].is_some()).count();
            assert_eq!(claims.runs.len(), runs);
        }
    }
}
