//! Ids of flags: per pair of pipes the smallest that is free (sync.md 7.5).

use super::edges::{Edge, ids};
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
type Live = (usize, u64, u64);

/// The first id of every edge, or a way to have fewer edges.
pub enum Ids {
    Given(Vec<u64>),
    /// The edges that are left: some were joined, or became barriers.
    Fewer(Vec<(Edge, usize)>),
}

/// Gives ids to edges. Each edge keeps the number of the dependence that it serves.
pub fn assign(points: &Points, edges: &[(Edge, usize)]) -> Ids {
    let mut given = vec![0; edges.len()];
    let mut order: Vec<usize> = (0..edges.len()).filter(|n| life(points, &edges[*n].0).is_some()).collect();
    order.sort_by_key(|n| (life(points, &edges[*n].0), *n));
    // By core and pair of pipes: the flags in use, with their ids.
    let mut live: BTreeMap<(Option<&str>, Pipe, Pipe), Vec<Live>> = BTreeMap::new();
    for n in order {
        let (Edge::Pair { core, from, to, after, before, round }, Some((start, _))) =
            (edges[n].0, life(points, &edges[n].0))
        else {
            continue;
        };
        let wanted = round.map_or(1, |(_, distance)| ids(points, after, before, distance));
        let flags = live.entry((core.map(|c| c.name()), from, to)).or_default();
        flags.retain(|(k, ..)| life(points, &edges[*k].0).is_some_and(|(_, end)| end > start));
        let is_free = |first: u64| flags.iter().all(|(_, id, many)| id + many <= first || first + wanted <= *id);
        match (0..(IDS + 1).saturating_sub(wanted)).find(|first| is_free(*first)) {
            Some(first) => {
                given[n] = first;
                flags.push((n, first, wanted));
            }
            None => {
                let here: Vec<usize> = flags.iter().map(|f| f.0).chain([n]).collect();
                return Ids::Fewer(fewer(points, edges, &here));
            }
        }
    }
    Ids::Given(given)
}

/// Joins two of these edges into one, the later set and the earlier wait, where that moves them least; else the last
/// one becomes a barrier of all pipes.
fn fewer(points: &Points, edges: &[(Edge, usize)], here: &[usize]) -> Vec<(Edge, usize)> {
    let mut best: Option<(u64, usize, usize, Edge)> = None;
    for (k, i) in here.iter().enumerate() {
        for j in &here[k + 1..] {
            if let Some((moved, edge)) = joined(points, &edges[*i].0, &edges[*j].0)
                && best.as_ref().is_none_or(|b| moved < b.0)
            {
                best = Some((moved, *i, *j, edge));
            }
        }
    }
    let mut left = edges.to_vec();
    match best {
        Some((_, i, j, edge)) => {
            left[i].0 = edge;
            left.remove(j);
        }
        None => {
            let Some(last) = here.last().copied() else { return left };
            if let Edge::Pair { core, before, .. } = left[last].0 {
                left[last].0 = Edge::Barrier { core, pipe: None, before };
            }
        }
    }
    left
}

/// Two forward edges of the same pipes as one, and how far sets and waits move.
fn joined(points: &Points, a: &Edge, b: &Edge) -> Option<(u64, Edge)> {
    let (
        Edge::Pair { core, from, to, after: s, before: w, round: None },
        Edge::Pair { after: t, before: v, round: None, .. },
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
    (points.end(after) < points.begin(before)).then_some((
        apart(*s, *t) + apart(*w, *v),
        Edge::Pair { core: *core, from: *from, to: *to, after, before, round: None },
    ))
}
