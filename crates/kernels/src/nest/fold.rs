//! Folding: nests of one shape whose offsets advance evenly are one nest with one more loop.
//!
//! An instruction that is cut finer than its data (TIMG2COL goes by output row and kernel position, ops.md 7) comes
//! together again here, so that a plan has few steps and long loops.

use super::{Dim, Nest, Nests, OPERANDS};
use smallvec::SmallVec;

/// Folds nests that may run in any order. They move the same elements afterwards.
///
/// ```
/// use tessera_kernels::nest::{Dim, Nest, fold};
/// let row = |r: i64| Nest {
///     bits: [8, 8, 0, 0],
///     base: [64 * r, 100 * r, 0, 0],
///     dims: [Dim { extent: 32, step: [1, 1, 0, 0] }].into_iter().collect(),
/// };
/// let nests = fold((0..8).map(row).collect());
/// assert_eq!(nests.len(), 1);
/// assert_eq!(nests[0].dims[0], Dim { extent: 8, step: [64, 100, 0, 0] });
/// ```
pub fn fold(mut nests: Nests) -> Nests {
    while nests.len() > 1 {
        let before = nests.len();
        nests = round(nests);
        if nests.len() == before {
            break;
        }
    }
    nests
}

/// Brings equal shapes together by rising destination and turns every even progression into a loop.
fn round(mut nests: Nests) -> Nests {
    let shape = |n: &Nest| (n.bits, n.dims.iter().map(|d| (d.extent, d.step)).collect::<SmallVec<[_; 8]>>());
    nests.sort_by_cached_key(|n| (shape(n), n.base));
    let mut folded = Nests::new();
    let mut at = 0;
    while let Some(first) = nests.get(at) {
        let step = |from: &Nest, to: &Nest| {
            let mut step = [0; OPERANDS];
            for (s, (a, b)) in step.iter_mut().zip(from.base.into_iter().zip(to.base)) {
                *s = b.checked_sub(a)?;
            }
            (from.bits == to.bits && from.dims == to.dims).then_some(step)
        };
        let rest = nests.get(at..).unwrap_or_default();
        let even = rest.get(1).and_then(|second| step(first, second));
        let extent = match even {
            Some(_) => 1 + rest.windows(2).take_while(|w| matches!(w, [a, b] if step(a, b) == even)).count(),
            None => 1,
        };
        let mut nest = first.clone();
        if let (Some(step), true) = (even, extent > 1) {
            nest.dims.push(Dim { extent: extent as u64, step });
            nest.normalise();
        }
        folded.push(nest);
        at += extent;
    }
    folded
}
