//! Loops from a list of places.

use super::{Dim, Nest, OPERANDS};
use smallvec::SmallVec;

impl Nest {
    /// The copy of elements with this number of bits, from these byte offsets to contiguous ones; `None` if no loops
    /// produce the offsets.
    pub fn of_offsets(bits: u32, offsets: &[i64]) -> Option<Nest> {
        let mut dims: SmallVec<[Dim; 8]> = SmallVec::new();
        let mut unit = i64::from(bits / 8);
        let mut left: Vec<i64> = offsets.to_vec();
        while let [first, second, ..] = left.as_slice() {
            // The innermost loop is the longest that all of them are made of.
            let step = second.checked_sub(*first)?;
            let is_loop = |list: &[i64]| list.windows(2).all(|two| two[1].checked_sub(two[0]) == Some(step));
            let most = left.windows(2).take_while(|two| is_loop(two)).count() + 1;
            let divides = |n: &usize| left.len().is_multiple_of(*n) && left.chunks_exact(*n).all(is_loop);
            let extent = (2..=most).rev().find(divides)?;
            dims.insert(0, Dim { extent: extent as u64, step: [unit, step, 0, 0] });
            unit = unit.checked_mul(extent as i64)?;
            left = left.iter().step_by(extent).copied().collect();
        }
        let mut nest = Nest { bits: [bits, bits, 0, 0], base: [0, *left.first()?, 0, 0], dims };
        nest.normalise();
        (nest.dims.len() <= 2 * OPERANDS).then_some(nest)
    }
}

#[cfg(test)]
mod tests {
    use crate::nest::{Dim, Nest};
    use tessera_testkit::random::Random;

    /// Random loops are found again: the same bytes in the same order.
    #[test]
    fn loops_are_found_in_their_offsets() {
        let mut random = Random(31);
        for _ in 0..200 {
            let dims = (0..random.range(0, 4)).map(|_| {
                let step = [0, random.pick(&[4, 4, 8, 32, 128, 4096, 12, -4]), 0, 0];
                Dim { extent: random.range(1, 5), step }
            });
            let nest = Nest { bits: [32, 32, 0, 0], base: [0, 64, 0, 0], dims: dims.collect() };
            let mut offsets = Vec::new();
            nest.for_each_element(|at| offsets.push(at[1]));
            let found = Nest::of_offsets(32, &offsets).expect("they are loops");
            let mut pairs = Vec::new();
            found.for_each_element(|at| pairs.push((at[0], at[1])));
            pairs.sort_unstable();
            let want: Vec<(i64, i64)> = offsets.iter().enumerate().map(|(n, at)| (4 * n as i64, *at)).collect();
            assert_eq!(pairs, want, "{nest:?}");
        }
        assert_eq!(Nest::of_offsets(32, &[0, 4, 12, 100, 104]), None);
    }
}
