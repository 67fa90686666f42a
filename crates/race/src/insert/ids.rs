//! Ids of flags: per pair of pipes the smallest that is free (sync.md 7.5).

use super::edges::{Edge, ids};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;
use tessera_plan::Points;

/// Ids of one pair of pipes of a core.
const IDS: u64 = 8;

/// From when to when a flag is in use, in program order: waits before an operation come before sets before it, and waits
/// after a loop before sets after it.
fn life(points: &Points, edge: &Edge) -> Option<(u64, u64)> {
    let at = |point: u32, rank: u64| u64::from(point) * 4 + rank;
    match edge {
        Edge::Pair { round: Some((id, _)), .. } => Some((at(points.begin(*id), 1), at(points.end(*id), 2))),
        Edge::Pair { after, before, .. } => Some((at(points.end(*after), 3), at(points.begin(*before), 0))),
        Edge::Barrier { .. } => None,
    }
}

/// A flag in use: its edge, its first id, how many.
type Detector = (usize, u64, u64);

/// The first id of every edge, or a way to have fewer edges.
pub enum Ids {
    Given(Vec<u64>),
    /// The edges that are left: some were joined, or became barriers.
    Fewer(Vec<(Edge, usize)>),
}

/// Flags that instructions use inside, and no other may use (isa/today.md 8.1): from pipe to pipe, with an id.
pub type Hidden = FxHashSet<(Pipe, Pipe, u8)>;

/// Gives ids to edges. Each edge keeps the number of the dependence that it serves.
pub fn assign(points: &Points, edges: &[(Edge, usize)], hidden: &Hidden) -> Ids {
    let mut given = vec![0; edges.len()];
    let mut order: Vec<usize> = (0..edges.len()).filter(|n| life(points, &edges[*n].0).is_some()).collect();
    order.sort_by_key(|n| (life(points, &edges[*n].0), *n));
    let mut left: Vec<Option<(Edge, usize)>> = edges.iter().copied().map(Some).collect();
    let mut is_short = false;
    // By core and pair of pipes: the flags in use, with their ids.
    let mut live: BTreeMap<(Option<&str>, Pipe, Pipe), Vec<Detector>> = BTreeMap::new();
    for n in order {
        while let Some((Edge::Pair { core, from, to, .. }, _)) = left[n] {
            let start = life(points, &edges[n].0).map_or(0, |(start, _)| start);
            let wanted = many(points, &left[n]);
            let flags = live.entry((core.map(|c| c.name()), from, to)).or_default();
            let end = |k: usize| left[k].and_then(|(edge, _)| life(points, &edge)).map_or(0, |(_, end)| end);
            flags.retain(|(k, ..)| end(*k) > start);
            flags.iter_mut().for_each(|(k, _, ids)| *ids = many(points, &left[*k]));
            let is_open = |id: u64| !hidden.contains(&(from, to, id as u8));
            let is_unused = |first: u64| flags.iter().all(|(_, id, many)| id + many <= first || first + wanted <= *id);
            if let Some(first) = (0..(IDS + 1).saturating_sub(wanted))
                .find(|first| is_unused(*first) && (*first..first + wanted).all(is_open))
            {
                given[n] = first;
                flags.push((n, first, wanted));
                break;
            }
            // Later edges get their ids as if this had held from the beginning; the next pass shows whether it fits.
            is_short = true;
            let here: Vec<usize> = flags.iter().map(|f| f.0).chain([n]).collect();
            fewer(points, &mut left, &here);
        }
    }
    if is_short { Ids::Fewer(left.into_iter().flatten().collect()) } else { Ids::Given(given) }
}

/// The number of ids of an edge.
fn many(points: &Points, edge: &Option<(Edge, usize)>) -> u64 {
    match edge {
        Some((Edge::Pair { after, before, round: Some((_, distance)), .. }, _)) => {
            ids(points, *after, *before, *distance)
        }
        _ => 1,
    }
}

/// Joins two of these edges into one, the later set and the earlier wait, where that moves them least; else a flag round a
/// loop waits for the iteration before, which takes fewer ids; else the last one becomes a barrier of all pipes.
fn fewer(points: &Points, edges: &mut [Option<(Edge, usize)>], here: &[usize]) {
    let edge = |n: usize| edges[n].map(|(edge, _)| edge);
    let mut best: Option<(u64, usize, usize, Edge)> = None;
    for (k, i) in here.iter().enumerate() {
        for j in &here[k + 1..] {
            if let Some((a, b)) = edge(*i).zip(edge(*j))
                && let Some((moved, edge)) = joined(points, &a, &b)
                && best.as_ref().is_none_or(|b| moved < b.0)
            {
                best = Some((moved, *i, *j, edge));
            }
        }
    }
    if let Some((_, i, j, edge)) = best {
        edges[i] = edges[i].map(|(_, reason)| (edge, reason));
        edges[j] = None;
        return;
    }
    let far = here.iter().copied().max_by_key(|n| (edge(*n).map_or(0, |e| e.distance()), *n));
    let far = far.filter(|n| edge(*n).is_some_and(|e| e.distance() > 1));
    let Some((edge, _)) = far.or(here.last().copied()).and_then(|n| edges[n].as_mut()) else { return };
    match edge {
        Edge::Pair { round: Some((_, distance)), .. } if *distance > 1 => *distance -= 1,
        Edge::Pair { core, before, .. } => *edge = Edge::Barrier { core: *core, pipe: None, before: *before },
        Edge::Barrier { .. } => {}
    }
}

/// Two edges of the same pipes as one, and how far sets and waits move. Round a loop the joined one waits for the later of
/// two iterations; each iteration between is as far as the whole body.
fn joined(points: &Points, a: &Edge, b: &Edge) -> Option<(u64, Edge)> {
    let (
        Edge::Pair { core, from, to, after: s, before: w, round: a },
        Edge::Pair { after: t, before: v, round: b, .. },
    ) = (a, b)
    else {
        return None;
    };
    if points.block_of(*s) != points.block_of(*t) || points.block_of(*w) != points.block_of(*v) {
        return None;
    }
    let after = if points.begin(*s) > points.begin(*t) { *s } else { *t };
    let before = if points.begin(*w) < points.begin(*v) { *w } else { *v };
    let apart = |a: OpId, b: OpId| u64::from(points.begin(a).abs_diff(points.begin(b)));
    let moved = apart(*s, *t) + apart(*w, *v);
    let (round, moved) = match (a, b) {
        (None, None) if points.end(after) < points.begin(before) => (None, moved),
        (Some((id, d)), Some((other, e))) if id == other => {
            let body = u64::from(points.end(*id) - points.begin(*id));
            (Some((*id, *d.min(e))), moved + d.abs_diff(*e) * body)
        }
        _ => return None,
    };
    Some((moved, Edge::Pair { core: *core, from: *from, to: *to, after, before, round }))
}
