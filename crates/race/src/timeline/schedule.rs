//! Starts and ends: the longest way to every event.

use crate::trace::{Kind, Trace};
use tessera_isa::ops::Pipe;

/// When every node starts and ends, counted through all processes.
#[derive(Debug)]
pub struct Schedule {
    /// By process: its first node.
    pub first: Vec<usize>,
    pub start: Vec<u64>,
    pub end: Vec<u64>,
    /// The predecessor of a node that ends last.
    pub cause: Vec<Option<(u32, Edge)>>,
}

/// The origin of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The order of the program.
    HappensBefore,
    /// A dependence that nothing in the program orders.
    Data,
}

/// Computes the schedule; the first `ordered` nodes follow from happens-before edges. On a cycle, returns the process and index of
/// a node on it.
pub fn schedule(
    traces: &[&Trace],
    edges: &[(u32, u32)],
    ordered: usize,
    length: impl Fn(&Trace, usize) -> u64,
) -> Result<Schedule, (usize, usize)> {
    let (mut first, mut nodes) = (Vec::new(), 0);
    let mut all: Vec<(u32, u32, Edge)> = Vec::new();
    for trace in traces {
        first.push(nodes);
        chain(trace, nodes as u32, &mut all);
        nodes += trace.events.len();
    }
    let kind = |n: usize| if n < ordered { Edge::HappensBefore } else { Edge::Data };
    all.extend(edges.iter().enumerate().map(|(n, (from, to))| (*from, *to, kind(n))));
    let mut starts = vec![0usize; nodes + 1];
    let mut open = vec![0u32; nodes];
    for (from, to, _) in &all {
        starts[*from as usize + 1] += 1;
        open[*to as usize] += 1;
    }
    for n in 0..nodes {
        starts[n + 1] += starts[n];
    }
    let mut fill = starts.clone();
    let mut targets = vec![(0u32, Edge::HappensBefore); all.len()];
    for (from, to, edge) in &all {
        let at = &mut fill[*from as usize];
        targets[*at] = (*to, *edge);
        *at += 1;
    }
    let mut found = Schedule { first, start: vec![0; nodes], end: vec![0; nodes], cause: vec![None; nodes] };
    let mut ready: Vec<usize> = (0..nodes).rev().filter(|n| open[*n] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        let process = found.first.partition_point(|f| *f <= node) - 1;
        let end = found.start[node].saturating_add(length(traces[process], node - found.first[process]));
        found.end[node] = end;
        for (target, edge) in &targets[starts[node]..starts[node + 1]] {
            let to = *target as usize;
            if found.cause[to].is_none() || end > found.start[to] {
                (found.start[to], found.cause[to]) = (end, Some((node as u32, *edge)));
            }
            open[to] -= 1;
            if open[to] == 0 {
                ready.push(to);
            }
        }
    }
    match (0..nodes).find(|n| done < nodes && open[*n] > 0) {
        None => Ok(found),
        Some(node) => {
            let process = found.first.partition_point(|f| *f <= node) - 1;
            Err((process, node - found.first[process]))
        }
    }
}

/// A pipe does one thing after the other (isa/cost.md 4).
fn chain(trace: &Trace, first: u32, all: &mut Vec<(u32, u32, Edge)>) {
    let mut last: [Option<u32>; Pipe::ALL.len()] = [None; Pipe::ALL.len()];
    for (node, event) in (first..).zip(&trace.events) {
        if event.kind == Kind::Joins {
            continue;
        }
        let here = |pipe: &&Pipe| event.pipe == Some(**pipe) || event.pipe.is_none() || event.kind == Kind::Meets;
        for pipe in Pipe::ALL.iter().filter(here) {
            if let Some(before) = last[*pipe as usize].replace(node) {
                all.push((before, node, Edge::HappensBefore));
            }
        }
    }
}
