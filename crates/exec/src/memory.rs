//! Memories: flat byte arrays with one **defined bit** per byte.
//!
//! Each location is a memory of its own (tile-model.md 2); UB exists twice, once per vector core. Tiles that have no
//! address lie in a memory of their own, the *pool*, so that they cannot meet anything. Global buffers come last. All
//! of them are one list, because a plan names memories by number.

use crate::kernels::AlignedBytes;
use tessera_isa::tile::Loc;

/// The number of a memory in [`Memories`].
pub type MemoryId = usize;

/// UB of vector core 1.
const UB1: MemoryId = Loc::ALL.len();
/// Where tiles without an address live.
pub const POOL: MemoryId = UB1 + 1;
/// What vector core 1 has of them.
const POOL1: MemoryId = POOL + 1;
/// The first global buffer.
pub const BUFFERS: MemoryId = POOL1 + 1;

/// The memory of a location, on vector core 0.
pub fn of_loc(loc: Loc) -> MemoryId {
    loc as MemoryId
}

/// The same memory as one vector core sees it.
pub fn on_core(memory: MemoryId, core: u8) -> MemoryId {
    match (memory, core) {
        (m, 1) if m == Loc::Vec as MemoryId => UB1,
        (POOL, 1) => POOL1,
        (m, _) => m,
    }
}

/// Is it a global buffer?
pub fn is_buffer(memory: MemoryId) -> bool {
    memory >= BUFFERS
}

/// One bit per byte.
#[derive(Clone, Debug, Default)]
pub struct ByteSet {
    words: Vec<u64>,
}

/// The words that a range of bits touches, with the masks of the first and the last one.
#[inline]
fn cover(start: usize, len: usize) -> (usize, usize, u64, u64) {
    let last = start + len - 1;
    (start / 64, last / 64, !0 << (start % 64), !0 >> (63 - last % 64))
}

/// Are all words this one? Asked for eight at a time, which compiles to vectors.
#[inline]
fn all_words(words: &[u64], word: u64) -> bool {
    let (eights, rest) = words.as_chunks::<8>();
    eights
        .iter()
        .all(|eight| eight.iter().fold(0, |differ, w| differ | (w ^ word)) == 0)
        && rest.iter().all(|w| *w == word)
}

impl ByteSet {
    /// Room for this many bytes, none of them in the set.
    pub fn grow(&mut self, bytes: usize) {
        let words = bytes.div_ceil(64);
        if self.words.is_empty() {
            self.words = vec![0; words];
        } else if words > self.words.len() {
            self.words.resize(words, 0);
        }
    }

    /// Are all bytes of the range in the set?
    #[inline]
    pub fn has_all(&self, start: usize, len: usize) -> bool {
        if len == 0 {
            return true;
        }
        let (first, last, head, tail) = cover(start, len);
        match self.words.get(first..=last) {
            Some([only]) => *only & head & tail == head & tail,
            Some([a, middle @ .., z]) => a & head == head && z & tail == tail && all_words(middle, !0),
            _ => false,
        }
    }

    /// Is no byte of the range in the set?
    #[inline]
    pub fn has_none(&self, start: usize, len: usize) -> bool {
        if len == 0 {
            return true;
        }
        let (first, last, head, tail) = cover(start, len);
        match self.words.get(first..=last) {
            Some([only]) => *only & head & tail == 0,
            Some([a, middle @ .., z]) => a & head == 0 && z & tail == 0 && all_words(middle, 0),
            _ => false,
        }
    }

    /// Is the byte in the set?
    #[inline]
    pub fn has(&self, byte: usize) -> bool {
        self.words.get(byte / 64).is_some_and(|w| w >> (byte % 64) & 1 == 1)
    }

    /// The first byte of the range that is not in the set.
    pub fn first_missing(&self, start: usize, len: usize) -> Option<usize> {
        if self.has_all(start, len) {
            return None;
        }
        (start..start + len).find(|b| !self.has(*b))
    }

    /// Adds a range.
    #[inline]
    pub fn insert(&mut self, start: usize, len: usize) {
        self.apply(start, len, |word, mask| *word |= mask);
    }

    /// Takes a range out.
    #[inline]
    pub fn remove(&mut self, start: usize, len: usize) {
        self.apply(start, len, |word, mask| *word &= !mask);
    }

    #[inline]
    fn apply(&mut self, start: usize, len: usize, f: impl Fn(&mut u64, u64)) {
        if len == 0 {
            return;
        }
        let (first, last, head, tail) = cover(start, len);
        match self.words.get_mut(first..=last) {
            Some([only]) => f(only, head & tail),
            Some([a, middle @ .., z]) => {
                f(a, head);
                middle.iter_mut().for_each(|w| f(w, !0));
                f(z, tail);
            }
            _ => {}
        }
    }

    /// Are all bytes of the mask in the set?
    #[inline]
    pub(crate) fn has_mask(&self, mask: &WordMask) -> bool {
        let words = self.words.get(mask.first..mask.first + mask.words.len());
        words.is_some_and(|words| {
            let missing = |(word, mask): (&u64, &u64)| mask & !word;
            // All of them, whatever the first ones are: this compiles to vectors.
            words.iter().zip(&mask.words).map(missing).fold(0, |all, m| all | m) == 0
        })
    }

    /// Adds the bytes of a mask.
    pub(crate) fn insert_mask(&mut self, mask: &WordMask) {
        let words = self.words.iter_mut().skip(mask.first);
        words.zip(&mask.words).for_each(|(word, mask)| *word |= mask);
    }

    /// Takes the bytes of a mask out.
    pub(crate) fn remove_mask(&mut self, mask: &WordMask) {
        let words = self.words.iter_mut().skip(mask.first);
        words.zip(&mask.words).for_each(|(word, mask)| *word &= !mask);
    }

    /// The range as bytes: 0xFF for those in the set, 0 for the others. Also where nothing was ever added.
    pub fn expand(&self, start: usize, len: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; len];
        self.for_each_run(start, start + len, |at, n| {
            if let Some(run) = bytes.get_mut(at - start..at - start + n) {
                run.fill(0xFF);
            }
        });
        bytes
    }

    /// Sets the range from such bytes; a byte counts if all its bits do.
    pub fn assign(&mut self, start: usize, bytes: &[u8]) {
        let mut at = start;
        // Equal neighbours are written together.
        for run in bytes.chunk_by(|a, b| (*a == 0xFF) == (*b == 0xFF)) {
            if run.first() == Some(&0xFF) {
                self.insert(at, run.len());
            } else {
                self.remove(at, run.len());
            }
            at += run.len();
        }
    }

    /// Up to 64 bits from any bit on; those beyond the end are not in the set.
    #[inline]
    fn window(&self, at: usize) -> u64 {
        let low = self.words.get(at / 64).copied().unwrap_or(0) >> (at % 64);
        match at % 64 {
            0 => low,
            k => low | self.words.get(at / 64 + 1).copied().unwrap_or(0) << (64 - k),
        }
    }

    /// Makes a range what a range of another set is.
    pub fn copy_from(&mut self, other: &ByteSet, from: usize, to: usize, len: usize) {
        let mut done = 0;
        while done < len {
            let at = to + done;
            let n = (64 - at % 64).min(len - done);
            let mask = (!0u64 >> (64 - n)) << (at % 64);
            let bits = other.window(from + done) << (at % 64);
            if let Some(word) = self.words.get_mut(at / 64) {
                *word = *word & !mask | bits & mask;
            }
            done += n;
        }
    }

    /// Makes a range what another range of the same set is; the two do not overlap.
    pub fn copy_within(&mut self, from: usize, to: usize, len: usize) {
        let mut done = 0;
        while done < len {
            let at = to + done;
            let n = (64 - at % 64).min(len - done);
            let mask = (!0u64 >> (64 - n)) << (at % 64);
            let bits = self.window(from + done) << (at % 64);
            if let Some(word) = self.words.get_mut(at / 64) {
                *word = *word & !mask | bits & mask;
            }
            done += n;
        }
    }

    /// Calls `f(start, len)` for every run of bytes of the range that are in the set.
    pub fn for_each_run(&self, start: usize, end: usize, mut f: impl FnMut(usize, usize)) {
        let mut at = start;
        while at < end {
            let word = self.words.get(at / 64).copied().unwrap_or(0) >> (at % 64);
            let room = 64 - at % 64;
            if word == 0 {
                at += room;
                continue;
            }
            at += word.trailing_zeros() as usize;
            let first = at;
            while at < end {
                let rest = self.words.get(at / 64).copied().unwrap_or(0) >> (at % 64);
                let ones = (rest.trailing_ones() as usize).min(64 - at % 64);
                at += ones;
                if ones == 0 || !at.is_multiple_of(64) {
                    break;
                }
            }
            let last = at.min(end);
            if last > first {
                f(first, last - first);
            }
        }
    }
}

/// Some bytes of a memory, as masks of the words of a [`ByteSet`].
#[derive(Clone, Debug)]
pub(crate) struct WordMask {
    first: usize,
    words: Box<[u64]>,
}

impl WordMask {
    /// The ranges, all of which lie in the `len` bytes from `start` on.
    pub fn new(start: usize, len: usize, ranges: impl Iterator<Item = (usize, usize)>) -> Self {
        let first = start / 64;
        let mut set = ByteSet::default();
        set.grow(start % 64 + len);
        ranges.for_each(|(at, len)| set.insert(at - first * 64, len));
        WordMask {
            first,
            words: set.words.into(),
        }
    }
}

/// What one block wrote to a buffer.
#[derive(Clone, Debug, Default)]
pub struct Written {
    bytes: ByteSet,
    /// All written bytes lie between these two.
    hull: Option<(usize, usize)>,
}

impl Written {
    fn insert(&mut self, start: usize, len: usize) {
        if len > 0 {
            self.bytes.grow(start + len);
            self.bytes.insert(start, len);
            let (low, high) = self.hull.unwrap_or((start, start));
            self.hull = Some((low.min(start), high.max(start + len)));
        }
    }
}

/// One memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    bytes: AlignedBytes,
    defined: ByteSet,
    written: Option<Written>,
}

impl AsMut<[u8]> for Memory {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Memory {
    /// A memory with these contents, all of them defined or none.
    pub fn new(bytes: impl AsRef<[u8]>, defined: bool) -> Self {
        let bytes = AlignedBytes::from(bytes.as_ref());
        let mut set = ByteSet::default();
        set.grow(bytes.len());
        if defined {
            set.insert(0, bytes.len());
        }
        Memory {
            bytes,
            defined: set,
            written: None,
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes themselves.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_vec()
    }

    /// Which of them are defined.
    pub fn defined(&self) -> &ByteSet {
        &self.defined
    }

    /// Which of them are defined, to be changed.
    pub fn defined_mut(&mut self) -> &mut ByteSet {
        &mut self.defined
    }

    fn grow(&mut self, bytes: usize) {
        self.bytes.grow(bytes);
        self.defined.grow(bytes);
    }

    /// Remembers from here on which bytes are written, so that they can be taken out again.
    pub fn watch(&mut self) {
        self.written = Some(Written::default());
    }

    /// Notes that a range was written, where somebody watches.
    #[inline]
    pub fn note_written(&mut self, start: usize, len: usize) {
        if let Some(written) = &mut self.written {
            written.insert(start, len);
        }
    }

    /// What was written since [`Memory::watch`], and the contents as they were before: those of `before`.
    pub fn take_written(&mut self, before: &Memory) -> Vec<(usize, Vec<u8>)> {
        let mut taken = Vec::new();
        let Some(written) = self.written.replace(Written::default()) else {
            return taken;
        };
        if let Some((low, high)) = written.hull {
            written.bytes.for_each_run(low, high, |start, len| {
                let end = start + len;
                taken.push((start, self.bytes.get(start..end).unwrap_or(&[]).to_vec()));
                self.defined.remove(start, len);
                let kept = before.bytes.len().clamp(start, end) - start;
                if let (Some(to), Some(from)) = (
                    self.bytes.get_mut(start..start + kept),
                    before.bytes.get(start..start + kept),
                ) {
                    to.copy_from_slice(from);
                }
                before
                    .defined
                    .for_each_run(start, end, |at, n| self.defined.insert(at, n));
            });
        }
        self.bytes.truncate(before.bytes.len());
        taken
    }

    /// Writes defined bytes, growing the memory where it is too short.
    pub fn put(&mut self, start: usize, bytes: &[u8]) {
        let end = start.saturating_add(bytes.len());
        self.grow(end);
        if let Some(to) = self.bytes.get_mut(start..end) {
            to.copy_from_slice(bytes);
            self.defined.insert(start, bytes.len());
        }
    }
}

/// More memory is asked for than a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// Bytes of all memories together, as asked for.
    pub wanted: u64,
    /// How many there may be.
    pub limit: u64,
}

/// All memories of a block: on-chip ones, the pool, and the global buffers.
#[derive(Clone, Debug)]
pub struct Memories {
    list: Vec<Memory>,
    /// Are defined bits kept?
    pub tracked: bool,
    limit: u64,
}

impl Memories {
    /// How many bytes all memories of a run may have together.
    pub const LIMIT: u64 = 1 << 30;

    /// Empty memories.
    pub fn new(tracked: bool) -> Self {
        Memories {
            list: vec![Memory::default(); BUFFERS],
            tracked,
            limit: Self::LIMIT,
        }
    }

    /// Adds a global buffer.
    pub fn add_buffer(&mut self, buffer: Memory) -> MemoryId {
        self.list.push(buffer);
        self.list.len() - 1
    }

    /// The memories as plans want them.
    #[inline]
    pub fn list_mut(&mut self) -> &mut [Memory] {
        &mut self.list
    }

    /// A memory.
    #[inline]
    pub fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.list.get(id)
    }

    /// A memory, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: MemoryId) -> Option<&mut Memory> {
        self.list.get_mut(id)
    }

    /// Makes a memory at least this long.
    pub fn reserve(&mut self, id: MemoryId, bytes: u64) -> Result<(), OverLimit> {
        let Some(memory) = self.list.get(id) else {
            return Ok(());
        };
        let have = memory.bytes.len() as u64;
        if bytes <= have {
            return Ok(());
        }
        let others: u64 = self.list.iter().map(|m| m.bytes.len() as u64).sum::<u64>() - have;
        let wanted = others.saturating_add(bytes);
        if wanted > self.limit {
            return Err(OverLimit {
                wanted,
                limit: self.limit,
            });
        }
        if let Some(memory) = self.list.get_mut(id) {
            memory.grow(bytes as usize);
        }
        Ok(())
    }

    /// Copies bytes with their defined bits from one place to another that does not overlap it.
    pub fn copy(&mut self, from: (MemoryId, usize), to: (MemoryId, usize), len: usize) {
        let tracked = self.tracked;
        if from.0 == to.0 {
            let Some(memory) = self.list.get_mut(from.0) else {
                return;
            };
            if from.1.max(to.1).saturating_add(len) > memory.bytes.len() {
                return;
            }
            memory.bytes.copy_within(from.1..from.1 + len, to.1);
            if tracked {
                memory.defined.copy_within(from.1, to.1, len);
            }
        } else if let Ok([source, target]) = self.list.get_disjoint_mut([from.0, to.0])
            && let (Some(read), Some(written)) = (
                source.bytes.get(from.1..from.1 + len),
                target.bytes.get_mut(to.1..to.1 + len),
            )
        {
            written.copy_from_slice(read);
            if tracked {
                target.defined.copy_from(&source.defined, from.1, to.1, len);
            }
        }
    }

    /// Forgets the contents of everything on the chip, for the next block.
    pub fn clear_chip(&mut self) {
        for memory in self.list.iter_mut().take(BUFFERS) {
            let bytes = memory.bytes.len();
            memory.defined.remove(0, bytes);
            if !self.tracked {
                // Nobody will notice what is undefined, so it must not depend on who ran before.
                memory.bytes.fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_single_bytes() {
        let mut set = ByteSet::default();
        set.grow(300);
        let mut plain = vec![false; 300];
        let mut seed = 7u64;
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let start = (seed >> 33) as usize % 300;
            let len = (seed >> 20) as usize % (300 - start + 1);
            let on = seed >> 63 == 1;
            if on {
                set.insert(start, len);
            } else {
                set.remove(start, len);
            }
            plain.iter_mut().skip(start).take(len).for_each(|b| *b = on);
            let (a, n) = (start / 2, len);
            assert_eq!(set.has_all(a, n), plain[a..a + n].iter().all(|b| *b));
            assert_eq!(set.has_none(a, n), !plain[a..a + n].iter().any(|b| *b));
            assert_eq!(set.first_missing(a, n), (a..a + n).find(|i| !plain[*i]));
            let mut runs = vec![false; 300];
            set.for_each_run(a, a + n, |s, l| runs[s..s + l].iter_mut().for_each(|b| *b = true));
            assert_eq!(runs[a..a + n], plain[a..a + n]);
            let mut other = ByteSet::default();
            other.grow(300);
            other.insert(0, 300);
            other.assign(a, &set.expand(a, n));
            assert!((a..a + n).all(|i| other.has(i) == plain[i]));
            let mask = WordMask::new(a, n, [(a, n / 3), (a + n / 2, n - n / 2)].into_iter());
            let inside = |i: &usize| (a..a + n / 3).contains(i) || (a + n / 2..a + n).contains(i);
            assert_eq!(set.has_mask(&mask), (a..a + n).filter(inside).all(|i| plain[i]));
            let mut masked = set.clone();
            masked.insert_mask(&mask);
            assert!((0..300).all(|i| masked.has(i) == (plain[i] || inside(&i))));
            masked.remove_mask(&mask);
            assert!((0..300).all(|i| masked.has(i) == (plain[i] && !inside(&i))));
            let to = (seed >> 40) as usize % (300 - n + 1);
            other.copy_from(&set, a, to, n);
            assert!((0..n).all(|i| other.has(to + i) == plain[a + i]));
        }
    }

    #[test]
    fn what_was_written_can_be_taken_out() {
        let before = Memory::new(vec![1; 100], true);
        let mut memory = before.clone();
        memory.watch();
        memory.put(90, &[2; 20]);
        memory.note_written(90, 20);
        assert_eq!(memory.take_written(&before), vec![(90, vec![2; 20])]);
        assert_eq!(memory.bytes(), before.bytes());
        assert!(memory.defined().has_all(0, 100) && !memory.defined().has(100));
    }

    #[test]
    fn memory_is_limited() {
        let mut memories = Memories::new(true);
        memories.reserve(POOL, 64).unwrap();
        assert_eq!(memories.get(POOL).map(|m| m.bytes().len()), Some(64));
        assert!(memories.reserve(POOL, Memories::LIMIT + 1).is_err());
    }
}
