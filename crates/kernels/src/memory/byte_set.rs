//! Sets of bytes of a memory: which of them are defined, which were written.

use std::sync::atomic::{AtomicU64, Ordering};

/// One bit per byte.
#[derive(Debug)]
pub struct ByteSet {
    /// One bit per byte; none while the bytes before `full` are all that there is: arrays that are bound need no bits.
    words: Vec<u64>,
    /// The number of bytes that have room, up to the end of a word.
    room: usize,
    /// Bytes that stay in the set whatever is removed from it.
    pinned: Vec<u64>,
    /// Grows whenever something is taken out; no two sets have the same.
    stamp: u64,
    /// All bytes before this one are in the set, and perhaps more: buffers that are bound are defined wholly, and a question
    /// about a window of one is answered without looking.
    full: usize,
}

/// A stamp for a new set: far from those of others.
fn new_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1 << 40, Ordering::Relaxed)
}

impl Default for ByteSet {
    fn default() -> Self {
        ByteSet { words: Vec::new(), room: 0, pinned: Vec::new(), stamp: new_stamp(), full: 0 }
    }
}

impl Clone for ByteSet {
    fn clone(&self) -> Self {
        let (words, pinned) = (self.words.clone(), self.pinned.clone());
        ByteSet { words, room: self.room, pinned, stamp: new_stamp(), full: self.full }
    }
}

/// The words that a range of bits touches, with the masks of the first and the last one.
#[inline]
fn cover(start: usize, len: usize) -> (usize, usize, u64, u64) {
    let last = start + len - 1;
    (start / 64, last / 64, !0 << (start % 64), !0 >> (63 - last % 64))
}

/// Whether all words equal this one. Eight are compared at a time, which compiles to vectors.
#[inline]
fn all_words(words: &[u64], word: u64) -> bool {
    let (eights, rest) = words.as_chunks::<8>();
    eights.iter().all(|eight| eight.iter().fold(0, |differ, w| differ | (w ^ word)) == 0)
        && rest.iter().all(|w| *w == word)
}

/// Changes the words that a range of bits touches, with the mask of the range in each.
#[inline]
fn apply(words: &mut [u64], start: usize, len: usize, f: impl Fn(&mut u64, u64)) {
    if len == 0 {
        return;
    }
    let (first, last, head, tail) = cover(start, len);
    match words.get_mut(first..=last) {
        Some([only]) => f(only, head & tail),
        Some([a, middle @ .., z]) => {
            f(a, head);
            middle.iter_mut().for_each(|w| f(w, !0));
            f(z, tail);
        }
        _ => {}
    }
}

/// The lowest bit of every group of 8, 16, 32 and 64.
const LOWEST: [u64; 4] = [0x0101_0101_0101_0101, 0x0001_0001_0001_0001, 0x0000_0001_0000_0001, 1];

/// The lowest `size` bits of every byte, side by side.
#[inline(always)]
fn lowest_bits(bytes: u64, size: usize) -> u64 {
    let mask = |n: usize| LOWEST[n] * (!0 >> (64 - (size << n)));
    let joined = |bits: u64, n: usize| (bits | bits >> ((8 - size) << (n - 1))) & mask(n);
    joined(joined(joined(bytes & mask(0), 1), 2), 3)
}

impl ByteSet {
    /// Room for this many bytes, none of them in the set.
    pub fn grow(&mut self, bytes: usize) {
        self.room = self.room.max(bytes.next_multiple_of(64));
        if !self.words.is_empty() {
            self.words.resize(self.room / 64, 0);
        }
    }

    /// Whether the set is exactly the bytes before `full`.
    #[inline]
    fn is_prefix(&self) -> bool {
        self.words.is_empty()
    }

    /// Switches to a representation with one bit per byte.
    #[cold]
    fn spell_out(&mut self) {
        self.words = vec![0; self.room / 64];
        apply(&mut self.words, 0, self.full, |word, mask| *word |= mask);
    }

    /// The bits of 64 bytes.
    #[inline]
    fn word(&self, n: usize) -> u64 {
        match self.words.get(n) {
            Some(word) => *word,
            None if self.is_prefix() => match self.full.saturating_sub(n.saturating_mul(64)) {
                0 => 0,
                bytes => !0 >> (64 - bytes.min(64)),
            },
            None => 0,
        }
    }

    /// Whether all bytes of the range are in the set.
    #[inline]
    pub fn has_all(&self, start: usize, len: usize) -> bool {
        self.is_full_to(start.saturating_add(len)) || self.is_all(start, len, !0)
    }

    /// Whether all bytes before this one are known to be in the set, without looking at the bits.
    #[inline]
    pub fn is_full_to(&self, end: usize) -> bool {
        end <= self.full
    }

    /// Whether no byte of the range is in the set.
    #[inline]
    pub fn has_none(&self, start: usize, len: usize) -> bool {
        if self.is_prefix() { len == 0 || start >= self.full } else { self.is_all(start, len, 0) }
    }

    /// Whether every word of the range equals this one, as far as it belongs to the range.
    #[inline(always)]
    fn is_all(&self, start: usize, len: usize, word: u64) -> bool {
        if len == 0 {
            return true;
        }
        let (first, last, head, tail) = cover(start, len);
        match self.words.get(first..=last) {
            Some([only]) => (only ^ word) & head & tail == 0,
            Some([a, middle @ .., z]) => (a ^ word) & head == 0 && (z ^ word) & tail == 0 && all_words(middle, word),
            _ => false,
        }
    }

    /// Whether the byte is in the set.
    #[inline]
    pub fn has(&self, byte: usize) -> bool {
        self.word(byte / 64) >> (byte % 64) & 1 == 1
    }

    /// The first byte of the range that is not in the set.
    pub fn first_missing(&self, start: usize, len: usize) -> Option<usize> {
        if self.has_all(start, len) {
            return None;
        }
        (start.max(self.full)..start + len).find(|b| !self.has(*b))
    }

    /// Adds a range.
    #[inline]
    pub fn insert(&mut self, start: usize, len: usize) {
        let end = start.saturating_add(len);
        if self.is_prefix() && start > self.full && end <= self.room {
            self.spell_out();
        }
        apply(&mut self.words, start, len, |word, mask| *word |= mask);
        if start <= self.full && end <= self.room {
            self.full = self.full.max(end);
        }
    }

    /// While this is unchanged, everything that was in the set still is.
    #[inline]
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Elements of `size` bytes, 1, 2, 4 or 8, from `start` on; none where there are no bits, or those of one would be in two
    /// words.
    pub fn elements(&self, start: usize, size: usize) -> Option<Elements<'_>> {
        let words = self.words.get(start / 64..).filter(|_| start.is_multiple_of(size) && !self.is_prefix())?;
        Some(Elements { words, first: start % 64 })
    }

    /// Adds those of the elements of `size` bytes from `start` on whose marks are 0xFF; the others' are 0. Elements in no order
    /// are marked faster than they are added one by one.
    pub fn insert_elements(&mut self, start: usize, size: usize, marks: &[u8]) {
        if self.is_prefix() {
            self.spell_out();
        }
        for (n, marks) in marks.chunks(8).enumerate() {
            let mut eight = [0; 8];
            eight.iter_mut().zip(marks).for_each(|(to, from)| *to = *from);
            let (at, bits) = (start + n * 8 * size, lowest_bits(u64::from_le_bytes(eight), size));
            let halves = [(at / 64, bits << (at % 64)), (at / 64 + 1, bits.unbounded_shr(64 - at as u32 % 64))];
            for (at, bits) in halves {
                self.words.get_mut(at).into_iter().for_each(|word| *word |= bits);
            }
        }
    }

    /// Takes a range out.
    #[inline]
    pub fn remove(&mut self, start: usize, len: usize) {
        if self.has_none(start, len) {
            return;
        }
        self.stamp += 1;
        let is_cut = start.saturating_add(len) >= self.full && self.pinned.is_empty();
        if self.is_prefix() && !is_cut {
            self.spell_out();
        }
        self.full = self.full.min(start);
        apply(&mut self.words, start, len, |word, mask| *word &= !mask);
        self.keep_pinned(start / 64, start.saturating_add(len).div_ceil(64));
    }

    /// Adds a range that no removal takes out.
    pub fn pin(&mut self, start: usize, len: usize) {
        self.insert(start, len);
        self.pinned.resize((self.room / 64).max(self.pinned.len()), 0);
        apply(&mut self.pinned, start, len, |word, mask| *word |= mask);
    }

    /// A range can be taken out again.
    pub fn unpin(&mut self, start: usize, len: usize) {
        let end = len.min((self.pinned.len() * 64).saturating_sub(start));
        apply(&mut self.pinned, start, end, |word, mask| *word &= !mask);
    }

    /// Puts back what must stay, in these words.
    #[inline]
    fn keep_pinned(&mut self, first: usize, end: usize) {
        if !self.pinned.is_empty() {
            let pinned = self.pinned.iter().enumerate().take(end).skip(first);
            pinned.for_each(|(n, pinned)| self.words.get_mut(n).into_iter().for_each(|word| *word |= pinned));
        }
    }

    /// Whether all bytes of the mask are in the set.
    #[inline]
    pub fn has_mask(&self, mask: &WordMask) -> bool {
        if self.is_full_to((mask.first + mask.words.len()) * 64) {
            return true;
        }
        if self.is_prefix() {
            return mask.words.iter().zip(mask.first..).all(|(mask, n)| mask & !self.word(n) == 0);
        }
        let words = self.words.get(mask.first..mask.first + mask.words.len());
        words.is_some_and(|words| {
            let missing = |(word, mask): (&u64, &u64)| mask & !word;
            // All of them, whatever the first ones are: this compiles to vectors.
            words.iter().zip(&mask.words).map(missing).fold(0, |all, m| all | m) == 0
        })
    }

    /// Adds the bytes of a mask.
    pub fn insert_mask(&mut self, mask: &WordMask) {
        if self.is_prefix() {
            self.spell_out();
        }
        let words = self.words.iter_mut().skip(mask.first);
        words.zip(&mask.words).for_each(|(word, mask)| *word |= mask);
    }

    /// Takes the bytes of a mask out.
    pub fn remove_mask(&mut self, mask: &WordMask) {
        self.stamp += 1;
        if self.is_prefix() {
            self.spell_out();
        }
        self.full = self.full.min(mask.first * 64);
        let words = self.words.iter_mut().skip(mask.first);
        words.zip(&mask.words).for_each(|(word, mask)| *word &= !mask);
        self.keep_pinned(mask.first, mask.first + mask.words.len());
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
        let low = self.word(at / 64) >> (at % 64);
        match at % 64 {
            0 => low,
            k => low | self.word(at / 64 + 1) << (64 - k),
        }
    }

    /// Copies the bits of a range of another set into a range.
    pub fn copy_from(&mut self, other: &ByteSet, from: usize, to: usize, len: usize) {
        self.replace(to, len, |_, done| other.window(from + done));
    }

    /// Copies the bits of a range into another range of the same set; the two do not overlap.
    pub fn copy_within(&mut self, from: usize, to: usize, len: usize) {
        self.replace(to, len, |set, done| set.window(from + done));
    }

    /// Writes a range word by word: `bits` gives those from a distance from its start on.
    #[inline]
    fn replace(&mut self, to: usize, len: usize, bits: impl Fn(&ByteSet, usize) -> u64) {
        self.stamp += 1;
        if self.is_prefix() {
            self.spell_out();
        }
        self.full = self.full.min(to);
        let mut done = 0;
        while done < len {
            let at = to + done;
            let n = (64 - at % 64).min(len - done);
            let mask = (!0u64 >> (64 - n)) << (at % 64);
            let bits = bits(self, done) << (at % 64);
            if let Some(word) = self.words.get_mut(at / 64) {
                *word = *word & !mask | bits & mask;
            }
            done += n;
        }
        self.keep_pinned(to / 64, to.saturating_add(len).div_ceil(64));
    }

    /// Calls `f(start, len)` for every run of bytes of the range that are in the set.
    pub fn for_each_run(&self, start: usize, end: usize, mut f: impl FnMut(usize, usize)) {
        if self.is_prefix() {
            let end = end.min(self.full);
            if start < end {
                f(start, end - start);
            }
            return;
        }
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

/// Elements of a memory, which may be queried in any order.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    words: &'a [u64],
    first: usize,
}

impl Elements<'_> {
    /// The bits of the bytes of an element, lowest first; those behind it follow.
    #[inline(always)]
    pub fn bits(&self, size: usize, k: usize) -> u64 {
        let at = self.first + k * size;
        self.words.get(at / 64).map_or(0, |word| word >> (at % 64))
    }
}

/// Some bytes of a memory, as masks of the words of a [`ByteSet`].
#[derive(Clone, Debug)]
pub struct WordMask {
    first: usize,
    words: Box<[u64]>,
}

impl WordMask {
    /// The ranges, all of which lie in the `len` bytes from `start` on.
    pub fn new(start: usize, len: usize, ranges: impl Iterator<Item = (usize, usize)>) -> Self {
        let first = start / 64;
        let mut set = ByteSet::default();
        set.grow(start % 64 + len);
        set.spell_out();
        ranges.for_each(|(at, len)| set.insert(at - first * 64, len));
        WordMask { first, words: set.words.into() }
    }
}
