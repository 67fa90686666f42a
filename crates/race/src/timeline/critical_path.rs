//! The critical path: from the last end back through whatever was waited for.

use super::WaitReason;
use super::block::Block;
use super::schedule::Schedule;

/// An instruction of the path, and what it waited for before.
#[derive(Clone, Debug)]
pub struct Step {
    pub why: WaitReason,
    /// The process and the number of the slice there.
    pub at: (usize, usize),
}

pub(super) fn critical(
    block: &Block<'_>,
    found: &Schedule,
    place: &dyn Fn(usize) -> Option<(usize, usize)>,
) -> Vec<Step> {
    // The first of those that end last.
    let mut next = (0..found.end.len()).rev().max_by_key(|n| found.end[*n]);
    let mut path = Vec::new();
    let mut current: Option<Step> = None;
    while let Some(node) = next {
        if let Some(at) = place(node) {
            path.extend(current.replace(Step { why: WaitReason::Start, at }));
        }
        let cause = found.cause[node].filter(|_| found.start[node] > 0);
        if let (Some(step), Some(_)) = (&mut current, cause) {
            // Of several reasons on the way the first one that is no pipe's.
            if matches!(step.why, WaitReason::Start | WaitReason::Pipe) {
                step.why = block.why(found, node);
            }
        }
        next = cause.map(|(before, _)| before as usize);
    }
    path.extend(current);
    path.reverse();
    path
}
