//! Records of a value and an index, and their order (isa/irregular.md 6).

use super::From;
use super::func::compare;
use crate::elem::Elem;
use crate::inst::Cmp;
use std::cmp::Ordering;

/// A record of a list.
pub(super) struct Record {
    pub value: (Elem, u64),
    pub from: From,
}

/// The order of values: descending, every number before every NaN (isa/irregular.md 6).
pub fn before(x: (Elem, u64), y: (Elem, u64)) -> Ordering {
    match (x.0.is_nan(x.1), y.0.is_nan(y.1)) {
        (false, false) if compare(Cmp::Gt, x, y) => Ordering::Less,
        (false, false) if compare(Cmp::Lt, x, y) => Ordering::Greater,
        (a, b) => a.cmp(&b),
    }
}

/// Takes the head that comes first, and of equal ones that of the lower list, until all are used up or one is; gives
/// the records and how many each list gave.
pub(super) fn merge(lists: &[Vec<Record>], until_exhausted: bool) -> (Vec<From>, [u64; 4]) {
    let (mut taken, mut merged) = ([0u64; 4], Vec::new());
    let is_done =
        |taken: &[u64; 4]| until_exhausted && lists.iter().zip(taken).any(|(list, n)| *n == list.len() as u64);
    while !is_done(&taken) {
        let heads = lists.iter().zip(&taken).enumerate();
        let heads = heads.filter_map(|(k, (list, n))| Some((k, list.get(usize::try_from(*n).ok()?)?)));
        // The first of equal ones is the least.
        let Some((k, record)) = heads.min_by(|(_, x), (_, y)| before(x.value, y.value)) else { break };
        merged.push(record.from);
        if let Some(n) = taken.get_mut(k) {
            *n += 1;
        }
    }
    (merged, taken)
}
