//! Which bytes of an array each block touches, and whether they keep out of each other's way.

use super::BufferAccess;

/// Runs of bytes: where each starts and ends.
#[derive(Debug, Default)]
struct Runs {
    list: Vec<(usize, usize)>,
    /// When so many have come, those that meet become one.
    many: usize,
}

/// So many runs are never put in order before the end.
const FEW: usize = 1 << 10;

/// More runs of all blocks together are not compared.
const MOST: usize = 1 << 18;

impl Runs {
    fn insert(&mut self, start: usize, len: usize) {
        let end = start.saturating_add(len);
        match self.list.last_mut() {
            _ if len == 0 => {}
            Some((first, last)) if (*first..=*last).contains(&start) => *last = end.max(*last),
            _ => self.list.push((start, end)),
        }
        if self.list.len() > self.many.max(FEW) {
            self.merge();
            self.many = self.list.len() * 2;
        }
    }

    /// Brings them into order; those that meet become one.
    fn merge(&mut self) {
        self.list.sort_unstable();
        self.list.dedup_by(|(start, end), (_, last)| {
            let meets = start <= last;
            if meets {
                *last = (*last).max(*end);
            }
            meets
        });
    }

    /// Does one of them, which are in order and apart, have all of the run?
    fn covers(&self, (start, end): (usize, usize)) -> bool {
        let before = self.list.partition_point(|(first, _)| *first <= start);
        before.checked_sub(1).and_then(|n| self.list.get(n)).is_some_and(|(_, last)| end <= *last)
    }
}

/// What a block touches of an array.
#[derive(Debug, Default)]
pub(super) struct Touched {
    reads: Runs,
    writes: Runs,
    /// Does data decide what it touches?
    is_open: bool,
}

impl Touched {
    /// Notes runs that are read or written, first byte and length, unless data decides which; tells how many there are.
    pub fn note(&mut self, is_written: bool, runs: Option<impl Iterator<Item = (usize, usize)>>) -> u64 {
        self.is_open |= runs.is_none();
        let to = if is_written { &mut self.writes } else { &mut self.reads };
        let mut count = 0;
        for (start, len) in runs.into_iter().flatten() {
            to.insert(start, len);
            count += 1;
        }
        count
    }
}

/// What is known of all arrays after some blocks; nothing of those that blocks need copies of.
pub(super) struct Verdict {
    arrays: Vec<Option<Parts>>,
    blocks: u32,
}

impl Verdict {
    pub fn new(asked: &[BufferAccess]) -> Self {
        let arrays = asked.iter().map(|asked| (*asked == BufferAccess::Touched).then(Parts::default)).collect();
        Verdict { arrays, blocks: 0 }
    }

    /// Adds a block, of which everything is known or nothing. Does it make sense to go on?
    pub fn add(&mut self, block: u32, touched: Option<Vec<Touched>>) -> bool {
        let Some(touched) = touched else {
            self.arrays.fill_with(|| None);
            return false;
        };
        self.blocks += 1;
        for (parts, touched) in self.arrays.iter_mut().zip(touched) {
            // Blocks that all do the same are found out early: after two of them.
            let is_good = |parts: &mut Parts| parts.add(block, touched) && (self.blocks != 2 || parts.are_apart());
            if parts.as_mut().is_some_and(|parts| !is_good(parts)) {
                *parts = None;
            }
        }
        self.arrays.iter().any(Option::is_some)
    }

    /// By array: does no block touch what another one writes?
    pub fn parted(self) -> Vec<bool> {
        self.arrays.into_iter().map(|parts| parts.is_some_and(|mut parts| parts.are_apart())).collect()
    }
}

/// A run that a block touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    start: usize,
    end: usize,
    block: u32,
    is_written: bool,
}

/// What some blocks touch of one array.
#[derive(Debug, Default)]
struct Parts {
    list: Vec<Part>,
}

impl Parts {
    /// Adds what a block touches; there is no telling where data decides that, or where it is too much.
    fn add(&mut self, block: u32, touched: Touched) -> bool {
        let Touched { mut reads, mut writes, is_open } = touched;
        writes.merge();
        reads.merge();
        // What it writes is compared with everything.
        reads.list.retain(|run| !writes.covers(*run));
        let part = |is_written: bool| move |(start, end): (usize, usize)| Part { start, end, block, is_written };
        self.list.extend(writes.list.into_iter().map(part(true)));
        self.list.extend(reads.list.into_iter().map(part(false)));
        !is_open && self.list.len() <= MOST
    }

    /// Does no block touch what another one writes?
    fn are_apart(&mut self) -> bool {
        // They are mostly in order already, which this sort makes use of.
        self.list.sort();
        let (mut touched, mut written) = (Reach::default(), Reach::default());
        self.list.iter().all(|part| {
            let before = if part.is_written { &touched } else { &written };
            let is_apart = before.of_others(part.block) <= part.start;
            touched.add(part);
            if part.is_written {
                written.add(part);
            }
            is_apart
        })
    }
}

/// How far runs that start before a byte reach.
#[derive(Debug, Default)]
struct Reach {
    /// The block of the one that reaches farthest.
    block: u32,
    end: usize,
    /// How far those of other blocks do.
    other: usize,
}

impl Reach {
    fn of_others(&self, block: u32) -> usize {
        if block == self.block { self.other } else { self.end }
    }

    fn add(&mut self, part: &Part) {
        if part.block == self.block {
            self.end = self.end.max(part.end);
        } else if part.end > self.end {
            *self = Reach { block: part.block, end: part.end, other: self.end };
        } else {
            self.other = self.other.max(part.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Part, Parts, Touched};

    /// Byte by byte: who touches it, who writes it.
    fn are_apart_slowly(parts: &[Part]) -> bool {
        let meets = |a: &Part, b: &Part| a.start.max(b.start) < a.end.min(b.end);
        let hurts = |a: &Part, b: &Part| a.block != b.block && (a.is_written || b.is_written) && meets(a, b);
        !parts.iter().any(|a| parts.iter().any(|b| hurts(a, b)))
    }

    #[test]
    fn blocks_that_are_apart_are_found() {
        let mut seed = 5u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        let mut found = [0, 0];
        for round in 0..4000 {
            let (mut parts, mut plain) = (Parts::default(), Vec::new());
            for block in 0..3 {
                let mut touched = Touched::default();
                for _ in 0..next(5) {
                    let (start, len, is_written) = (next(200), next(1 + round % 20), next(2) == 0);
                    assert_eq!(touched.note(is_written, Some([(start, len)].into_iter())), 1);
                    plain.push(Part { start, end: start + len, block, is_written });
                }
                assert!(parts.add(block, touched));
            }
            let expected = are_apart_slowly(&plain);
            assert_eq!(parts.are_apart(), expected, "{plain:?}");
            found[usize::from(expected)] += 1;
        }
        assert!(found.iter().all(|n| *n > 500), "{found:?}");
    }

    #[test]
    fn many_runs_become_few() {
        let mut touched = Touched::default();
        // Every other byte first, then those in between.
        for first in [0, 1] {
            let runs = (0..50_000).map(|k| (first + 2 * k, 1));
            assert_eq!(touched.note(true, Some(runs)), 50_000);
        }
        touched.writes.merge();
        assert_eq!(touched.writes.list, [(0, 100_000)]);
    }

    #[test]
    fn too_many_runs_are_not_compared() {
        for (count, expected) in [(MOST, true), (MOST + 1, false)] {
            let mut touched = Touched::default();
            touched.note(true, Some((0..count).map(|k| (2 * k, 1))));
            assert_eq!(Parts::default().add(0, touched), expected);
        }
    }

    #[test]
    fn data_decides_nothing() {
        let mut touched = Touched::default();
        assert_eq!(touched.note(false, None::<std::iter::Empty<_>>), 0);
        assert!(!Parts::default().add(0, touched));
    }
}
