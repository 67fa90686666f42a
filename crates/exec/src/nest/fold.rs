//! Folding: nests of one shape whose offsets advance evenly are one nest with one more loop.
//!
//! An instruction that is cut finer than its data (TIMG2COL goes by output row and kernel position, ops.md 7) comes
//! together again here, so that a plan has few steps and long loops.

use super::{Dim, Nest};
use smallvec::SmallVec;

/// Folds nests that may run in any order. They move the same elements afterwards.
///
/// ```
/// use tessera_exec::nest::{Bits, Dim, Nest, fold};
/// let row = |r: i64| Nest {
///     bits: Bits::same(8),
///     src: 100 * r,
///     dst: 64 * r,
///     param: 0,
///     dims: [Dim { extent: 32, src: 1, dst: 1, param: 0 }].into_iter().collect(),
/// };
/// let nests = fold((0..8).map(row).collect());
/// assert_eq!(nests.len(), 1);
/// assert_eq!(nests[0].dims[0], Dim { extent: 8, src: 100, dst: 64, param: 0 });
/// ```
pub fn fold(mut nests: SmallVec<[Nest; 4]>) -> SmallVec<[Nest; 4]> {
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
fn round(mut nests: SmallVec<[Nest; 4]>) -> SmallVec<[Nest; 4]> {
    let shape = |n: &Nest| (n.bits.src, n.bits.dst, n.dims.iter().map(dim_key).collect::<SmallVec<[_; 8]>>());
    nests.sort_by_cached_key(|n| (shape(n), n.dst, n.src));
    let mut folded: SmallVec<[Nest; 4]> = SmallVec::new();
    let mut at = 0;
    while let Some(first) = nests.get(at) {
        let step = |from: &Nest, to: &Nest| {
            let same = from.bits == to.bits && from.dims == to.dims;
            let by = |a: i64, b: i64| b.checked_sub(a);
            same.then(|| Some([by(from.src, to.src)?, by(from.dst, to.dst)?, by(from.param, to.param)?])).flatten()
        };
        let rest = nests.get(at..).unwrap_or_default();
        let even = rest.get(1).and_then(|second| step(first, second));
        let extent = match even {
            Some(_) => 1 + rest.windows(2).take_while(|w| matches!(w, [a, b] if step(a, b) == even)).count(),
            None => 1,
        };
        let mut nest = first.clone();
        if let (Some([src, dst, param]), true) = (even, extent > 1) {
            nest.dims.push(Dim { extent: extent as u64, src, dst, param });
            nest.normalise();
        }
        folded.push(nest);
        at += extent;
    }
    folded
}

fn dim_key(d: &Dim) -> (u64, i64, i64, i64) {
    (d.extent, d.src, d.dst, d.param)
}
