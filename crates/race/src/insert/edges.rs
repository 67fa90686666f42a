//! Edges: pairs of set and wait, or barriers, at places of the program (sync.md 7.3 and 7.4).

use crate::explore::Core as Process;
use crate::trace::Trace;
use tessera_ir::{BlockId, Core, Func, OpId, OpKind};
use tessera_isa::ops::Pipe;
use tessera_plan::Points;

/// An edge that orders two program points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// A set after one operation and a wait before another one of the same block; around a loop, this many iterations
    /// later.
    Pair {
        /// The kind of core that it is for; none is all that run the program.
        core: Option<Core>,
        from: Pipe,
        to: Pipe,
        /// The set stands after it.
        after: OpId,
        /// The wait stands before it.
        before: OpId,
        /// The loop that it goes round, and how many iterations.
        round: Option<(OpId, u64)>,
    },
    /// A barrier before an operation; none is all pipes.
    Barrier { core: Option<Core>, pipe: Option<Pipe>, before: OpId },
}

impl Edge {
    /// The kind of core that it is for.
    pub fn core(&self) -> Option<Core> {
        let (Edge::Pair { core, .. } | Edge::Barrier { core, .. }) = self;
        *core
    }

    /// The number of iterations from the set to the wait.
    pub fn distance(&self) -> u64 {
        match self {
            Edge::Pair { round: Some((_, distance)), .. } => *distance,
            _ => 0,
        }
    }

    /// Whether it goes from one instruction to a later one of the same block, with nothing hoisted.
    pub fn is_simple(&self, func: &Func) -> bool {
        match self {
            Edge::Pair { after, before, round, .. } => {
                round.is_none() && func.op(*after).blocks.is_empty() && func.op(*before).blocks.is_empty()
            }
            Edge::Barrier { .. } => true,
        }
    }
}

/// The kind of core that a process is, where there are several.
pub fn kind(process: Process) -> Option<Core> {
    match process {
        Process::Unsplit => None,
        Process::Cube => Some(Core::Cube),
        Process::Vector(_) => Some(Core::Vector),
    }
}

/// The most iterations that a flag goes around a loop: it has that many ids, or one more (sync.md 7.4). Operations
/// that are farther apart wait for a later iteration than necessary.
const MAX_DISTANCE: u64 = 7;

/// The edge that orders an event before another one.
pub fn edge(func: &Func, points: &Points, trace: &Trace, x: usize, y: usize) -> Option<Edge> {
    let (a, b) = (&trace.events[x], &trace.events[y]);
    let (core, from, to) = (kind(trace.core), a.pipe?, b.pipe?);
    if from == to {
        return Some(Edge::Barrier { core, pipe: Some(to), before: b.op });
    }
    let turns = [a, b].map(|e| &trace.turns[e.turn as usize]);
    // The outermost loop in which they are in different iterations.
    let apart = turns[0].iter().zip(turns[1]).find(|(s, t)| s.0 == t.0 && s.1 != t.1);
    let same_loop = turns[0].iter().zip(turns[1]).take_while(|(s, t)| s == t).count();
    let round = apart.filter(|(s, _)| turns[0].get(same_loop).is_some_and(|t| t.0 == s.0));
    let (block, round) = match round {
        Some(((id, i), (_, j))) => {
            let most = if func.op(*id).kind == OpKind::While { 1 } else { MAX_DISTANCE };
            let distance = j.saturating_sub(*i).clamp(1, most);
            let body = body_of(func, points, *id, a.op)?;
            (body, Some((*id, distance)))
        }
        None => (points.common(points.block_of(a.op), points.block_of(b.op)), None),
    };
    let after = holder(points, a.op, block)?;
    let before = holder(points, b.op, block)?;
    // Nothing counts the iterations of scf.while, so its flags have one id.
    if let Some((id, distance)) = round
        && func.op(id).kind == OpKind::While
        && ids(points, after, before, distance) > 1
    {
        return Some(Edge::Barrier { core, pipe: None, before: b.op });
    }
    Some(Edge::Pair { core, from, to, after, before, round })
}

/// The number of ids of a flag around a loop (sync.md 7.4).
pub fn ids(points: &Points, after: OpId, before: OpId, distance: u64) -> u64 {
    let waits_first = points.begin(before) <= points.begin(after);
    if waits_first { distance } else { distance + 1 }
}

/// The block of a loop that an operation stands in.
fn body_of(func: &Func, points: &Points, id: OpId, op: OpId) -> Option<BlockId> {
    func.op(id).blocks.iter().copied().find(|body| points.is_inside(points.block_of(op), *body))
}

/// The operation of a block that is, or holds, another one.
fn holder(points: &Points, op: OpId, block: BlockId) -> Option<OpId> {
    let mut at = op;
    while points.block_of(at) != block {
        at = points.owner(points.block_of(at))?;
    }
    Some(at)
}
