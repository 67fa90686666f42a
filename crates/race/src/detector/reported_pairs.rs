//! Pairs of program points: one bit for each, so that a pair that was reported is passed by quickly.

use rustc_hash::FxHashMap;
use tessera_ir::OpId;

/// The bits of all first points that go with one second point.
#[derive(Clone, Debug, Default)]
pub struct Row(Vec<u64>);

impl Row {
    #[inline]
    pub fn contains(&self, first: OpId) -> bool {
        self.0.get(first.index() / 64).is_some_and(|word| word >> (first.index() % 64) & 1 == 1)
    }
}

/// A set of pairs.
#[derive(Debug, Default)]
pub struct Pairs(FxHashMap<OpId, Row>);

impl Pairs {
    /// The pairs with this second point.
    pub fn row(&self, second: OpId) -> Option<&Row> {
        self.0.get(&second)
    }

    pub fn contains(&self, (first, second): (OpId, OpId)) -> bool {
        self.row(second).is_some_and(|row| row.contains(first))
    }

    pub fn insert(&mut self, (first, second): (OpId, OpId)) {
        let Row(words) = self.0.entry(second).or_default();
        if words.len() <= first.index() / 64 {
            words.resize(first.index() / 64 + 1, 0);
        }
        words[first.index() / 64] |= 1 << (first.index() % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashSet;
    use tessera_testkit::random::Random;

    #[test]
    fn bits_are_a_set() {
        let (mut r, mut pairs, mut set) = (Random(1), Pairs::default(), FxHashSet::default());
        let pair = |r: &mut Random| (OpId(r.below(200) as u32), OpId(r.below(200) as u32));
        for _ in 0..2000 {
            let (known, asked) = (pair(&mut r), pair(&mut r));
            pairs.insert(known);
            set.insert(known);
            assert!(pairs.contains(known));
            assert_eq!(pairs.contains(asked), set.contains(&asked));
        }
    }
}
