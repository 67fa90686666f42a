//! Numbers that look random and are the same on every machine: a program depends on its seed alone.

/// A generator (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A generator for one purpose of a seed: its numbers have nothing to do with those of another purpose.
    pub fn of(seed: u64, purpose: u64) -> Random {
        let mut mixed = Random(seed ^ purpose.wrapping_mul(0xa076_1d64_78bd_642f));
        Random(mixed.bits() ^ seed.rotate_left(17))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.bits() % (high.saturating_sub(low) + 1)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of a list; `None` where it is empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.get(self.below(list.len())).copied()
    }

    /// One of a list, else something of the caller's.
    pub fn pick_or<T: Copy>(&mut self, list: &[T], other: T) -> T {
        self.pick(list).unwrap_or(other)
    }
}
