//! The happens-before relation (sync.md 3): the smallest transitive relation of a program's events, as vector clocks
//! (Lamport, *Time, Clocks, and the Ordering of Events*, 1978; Mattern, *Virtual Time and Global States*, 1989).
//!
//! Every rule adds a few edges per event. A clock has one component per pipe of each process: the number of the pipe's
//! events, in program order, that happen before. This is exact, because the events that precede a set, a barrier or
//! any event on an in-order pipe form a prefix of the pipe.

use crate::channels::Channels;
use crate::trace::{Event, Kind, LANES, Trace};
use rustc_hash::FxHashMap;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

/// Pipes of a process.
const PIPES: usize = Pipe::ALL.len();

/// One event of several processes, counted through all of them.
pub type Node = usize;

/// The order of the events of some processes.
#[derive(Debug)]
pub struct HappensBefore {
    /// The number of pipes of all processes.
    width: usize,
    /// By node: the pipe, counted through all processes, and the position there.
    places: Vec<(u32, u32)>,
    clocks: Vec<u32>,
    /// By process: its first node.
    pub first: Vec<Node>,
    pub stuck: Deadlock,
    /// Whether the order agrees with program order wherever it relates events.
    pub forward: bool,
}

/// Whether everything before it on its pipe happens before it.
fn closes(kind: Kind) -> bool {
    matches!(kind, Kind::Set(_) | Kind::Send(_) | Kind::Release(_) | Kind::Barrier | Kind::Meets)
}

/// Whether everything after it on its pipe happens after it.
fn opens(kind: Kind) -> bool {
    matches!(kind, Kind::Wait(_) | Kind::Receive(_) | Kind::Take(_) | Kind::Barrier | Kind::Meets)
}

/// Edges into each node.
pub struct Edges {
    pub all: Vec<(u32, u32)>,
    forward: bool,
}

impl Edges {
    /// The edges inside each process.
    pub fn inside(traces: &[&Trace], profile: Profile) -> Edges {
        let mut edges = Edges { all: Vec::new(), forward: true };
        let mut first = 0;
        for trace in traces {
            process_edges(trace, first, profile, &mut edges);
            first += trace.events.len();
        }
        edges
    }

    fn add(&mut self, from: Option<Node>, to: Node) {
        if let Some(from) = from {
            self.forward &= from < to;
            self.all.push((from as u32, to as u32));
        }
    }
}

impl HappensBefore {
    /// The order of these processes, with edges between them.
    pub fn new(traces: &[&Trace], profile: Profile, between: &Channels) -> HappensBefore {
        let mut edges = Edges::inside(traces, profile);
        let (mut places, mut first, mut next) = (Vec::new(), Vec::new(), 0);
        for (process, trace) in traces.iter().enumerate() {
            first.push(next);
            let mut counts = [0u32; LANES];
            for event in &trace.events {
                match event.lane() {
                    Some(lane) => {
                        places.push(((process * LANES + lane) as u32, counts[lane]));
                        counts[lane] += 1;
                    }
                    None => places.push((u32::MAX, 0)),
                }
            }
            next += trace.events.len();
        }
        let between = between.edges(&first);
        for (from, to) in &between {
            edges.all.push((*from as u32, *to as u32));
        }
        let mut order = HappensBefore {
            width: LANES * traces.len(),
            clocks: vec![0; LANES * traces.len() * next],
            places,
            first,
            stuck: Deadlock::default(),
            forward: edges.forward,
        };
        order.run(traces, profile, edges.all, next);
        if !between.is_empty() {
            order.forward &= order.is_forward(traces);
        }
        order
    }

    /// Computes the clocks in an order that respects every edge.
    fn run(&mut self, traces: &[&Trace], profile: Profile, edges: Vec<(u32, u32)>, nodes: usize) {
        let mut starts = vec![0u32; nodes + 1];
        let mut open = vec![0u32; nodes];
        for (from, to) in &edges {
            starts[*from as usize + 1] += 1;
            open[*to as usize] += 1;
        }
        for n in 0..nodes {
            starts[n + 1] += starts[n];
        }
        let mut fill = starts.clone();
        let mut targets = vec![0u32; edges.len()];
        for (from, to) in &edges {
            let at = &mut fill[*from as usize];
            targets[*at as usize] = *to;
            *at += 1;
        }
        let events: Vec<(usize, &Event)> =
            traces.iter().enumerate().flat_map(|(p, t)| t.events.iter().map(move |e| (p, e))).collect();
        // A barrier of all pipes follows everything earlier in its process.
        let totals = totals(traces);
        let mut ready: Vec<u32> = (0..nodes as u32).rev().filter(|n| open[*n as usize] == 0).collect();
        let mut done = 0;
        let mut out = vec![0u32; self.width];
        while let Some(node) = ready.pop() {
            done += 1;
            let node = node as usize;
            let (process, event) = events[node];
            self.own(node, process, event, traces[process].automatic, profile, totals.get(&node));
            out.copy_from_slice(&self.clocks[node * self.width..][..self.width]);
            let (place, position) = self.places[node];
            if let Some(pipe) = event.pipe
                && (closes(event.kind)
                    || event.kind == Kind::Phase
                    || traces[process].automatic
                    || pipe.is_in_order(profile))
            {
                let own = &mut out[place as usize];
                *own = (*own).max(position + 1);
            }
            for target in &targets[starts[node] as usize..starts[node + 1] as usize] {
                let clock = &mut self.clocks[*target as usize * self.width..][..self.width];
                clock.iter_mut().zip(&out).for_each(|(a, b)| *a = (*a).max(*b));
                open[*target as usize] -= 1;
                if open[*target as usize] == 0 {
                    ready.push(*target);
                }
            }
        }
        if done < nodes {
            self.stuck = Deadlock::new(&edges, &open);
        }
    }

    /// Whether program order suffices: no token through another core puts an event before one that precedes it in
    /// program order.
    fn is_forward(&self, traces: &[&Trace]) -> bool {
        let mut node = 0;
        traces.iter().enumerate().all(|(process, trace)| {
            let mut counts = [0u32; LANES];
            trace.events.iter().all(|event| {
                let clock = &self.clocks[node * self.width + process * LANES..][..LANES];
                node += 1;
                let is_before = clock.iter().zip(&counts).all(|(done, count)| done <= count);
                if let Some(lane) = event.lane() {
                    counts[lane] += 1;
                }
                is_before
            })
        })
    }

    /// The predecessors of an event by its position alone.
    fn own(
        &mut self,
        node: Node,
        process: usize,
        event: &Event,
        automatic: bool,
        profile: Profile,
        total: Option<&[u32; LANES]>,
    ) {
        let clock = &mut self.clocks[node * self.width..][..self.width];
        match (event.pipe, total) {
            (_, Some(counts)) => {
                for (pipe, count) in counts.iter().enumerate() {
                    let own = &mut clock[process * LANES + pipe];
                    *own = (*own).max(*count);
                }
            }
            // A phase follows what is earlier on its pipe by edges.
            (Some(_), None) if event.kind == Kind::Phase => {}
            (Some(pipe), None) if closes(event.kind) || automatic || pipe.is_in_order(profile) => {
                let (at, position) = self.places[node];
                let own = &mut clock[at as usize];
                *own = (*own).max(position);
            }
            _ => {}
        }
    }

    /// Whether the first is done before the second starts.
    pub fn precedes(&self, x: Node, y: Node) -> bool {
        let (pipe, position) = self.places[x];
        self.clocks.get(y * self.width + pipe as usize).is_some_and(|done| *done > position)
    }

    /// Whether one of them is done before the other starts.
    pub fn ordered(&self, x: Node, y: Node) -> bool {
        self.precedes(x, y) || self.precedes(y, x)
    }
}

/// By node that waits for everything before it: how many events each pipe had by then.
fn totals(traces: &[&Trace]) -> FxHashMap<Node, [u32; LANES]> {
    let (mut all, mut node) = (FxHashMap::default(), 0);
    for trace in traces {
        let mut counts = [0u32; LANES];
        for event in &trace.events {
            let meets = event.kind == Kind::Meets || event.pipe.is_none() && event.kind == Kind::Barrier;
            if meets {
                all.insert(node, counts);
            }
            if let Some(lane) = event.lane() {
                counts[lane] += 1;
            }
            node += 1;
        }
    }
    all
}

/// The edges inside one process: rules 1, 2 and 3 of sync.md 3.
fn process_edges(trace: &Trace, first: Node, profile: Profile, edges: &mut Edges) {
    let mut last: [Option<Node>; PIPES] = [None; PIPES];
    let mut opened: [Option<Node>; PIPES] = [None; PIPES];
    let mut since: [Vec<Node>; PIPES] = Default::default();
    let mut issued = None;
    let mut flags: Vec<(Vec<Node>, Vec<Node>)> = vec![Default::default(); trace.flags.len()];
    let mut released: FxHashMap<u32, Vec<(Option<Pipe>, Node)>> = FxHashMap::default();
    for (n, event) in trace.events.iter().enumerate() {
        let node = first + n;
        if trace.automatic {
            edges.add(node.checked_sub(1).filter(|p| *p >= first), node);
        } else {
            edges.add(issued, node);
            let meets = event.kind == Kind::Meets;
            let here = |pipe: &Pipe| event.pipe == Some(*pipe) || meets || event.pipe.is_none();
            for pipe in Pipe::ALL.iter().filter(|p| here(p)) {
                let p = *pipe as usize;
                if event.kind == Kind::Joins {
                    continue;
                }
                if pipe.is_in_order(profile) {
                    edges.add(last[p].replace(node), node);
                    continue;
                }
                edges.add(opened[p], node);
                if closes(event.kind) {
                    since[p].drain(..).for_each(|before| edges.add(Some(before), node));
                }
                since[p].push(node);
                if opens(event.kind) {
                    opened[p] = Some(node);
                }
            }
            if issues(trace, n) {
                issued = Some(node);
            }
        }
        if n.checked_sub(1).is_some_and(|before| trace.events[before].kind == Kind::Phase) {
            edges.add(Some(node - 1), node);
        }
        for before in trace.named.get(&(n as u32)).into_iter().flatten() {
            edges.add(Some(first + *before as usize), node);
        }
        match event.kind {
            Kind::Set(flag) => flags[flag as usize].0.push(node),
            Kind::Wait(flag) => flags[flag as usize].1.push(node),
            Kind::Release(id) => released.entry(id).or_default().push((event.pipe, node)),
            // The latest release on another pipe.
            Kind::Take(id) if trace.is_micro => {
                // Every earlier release, on any pipe (micro/model.md 8).
                let before = released.get(&id).into_iter().flatten();
                before.for_each(|(_, release)| edges.add(Some(*release), node));
            }
            Kind::Take(id) => {
                let before = released.get(&id).into_iter().flatten().rev().find(|(pipe, _)| *pipe != event.pipe);
                edges.add(before.map(|b| b.1), node);
            }
            _ => {}
        }
    }
    for (sets, waits) in &flags {
        sets.iter().zip(waits).for_each(|(set, wait)| edges.add(Some(*set), *wait));
    }
}

/// Whether no later event starts before it is done (rule 3).
fn issues(trace: &Trace, n: usize) -> bool {
    let event = &trace.events[n];
    match (event.kind, event.pipe) {
        (Kind::Meets | Kind::Joins, _) | (Kind::Barrier, None) => true,
        (Kind::Wait(_) | Kind::Receive(_) | Kind::Take(_), Some(Pipe::S)) => true,
        (Kind::Work | Kind::Phase, Some(Pipe::S)) => trace.accesses_of(n).iter().any(|a| !a.writes),
        _ => false,
    }
}

/// Events that are before themselves: nothing of it ever happens.
#[derive(Debug, Default)]
pub struct Deadlock {
    /// Edges between events that never happen, by where they come from.
    edges: FxHashMap<u32, Vec<u32>>,
    /// By event: the circle that it is in.
    circles: FxHashMap<u32, u32>,
}

impl Deadlock {
    fn new(edges: &[(u32, u32)], open: &[u32]) -> Deadlock {
        let mut stuck = Deadlock::default();
        for (from, to) in edges.iter().filter(|(a, b)| open[*a as usize] > 0 && open[*b as usize] > 0) {
            stuck.edges.entry(*from).or_default().push(*to);
        }
        stuck.components(open);
        stuck
    }

    /// Whether all events are in order.
    pub fn is_empty(&self) -> bool {
        self.circles.is_empty()
    }

    /// Numbers the events that reach each other (Tarjan), with a stack of its own.
    fn components(&mut self, open: &[u32]) {
        let (mut index, mut low): (FxHashMap<u32, u32>, FxHashMap<u32, u32>) = Default::default();
        let mut path: Vec<u32> = Vec::new();
        for start in (0..open.len() as u32).filter(|n| open[*n as usize] > 0) {
            if index.contains_key(&start) {
                continue;
            }
            let mut calls: Vec<(u32, usize)> = vec![(start, 0)];
            while let Some((node, next)) = calls.pop() {
                if next == 0 {
                    let number = index.len() as u32;
                    index.insert(node, number);
                    low.insert(node, number);
                    path.push(node);
                }
                let target = self.edges.get(&node).and_then(|all| all.get(next)).copied();
                if let Some(target) = target {
                    calls.push((node, next + 1));
                    match index.get(&target) {
                        None => calls.push((target, 0)),
                        Some(number) if !self.circles.contains_key(&target) => {
                            let least = low.entry(node).or_insert(*number);
                            *least = (*least).min(*number);
                        }
                        Some(_) => {}
                    }
                    continue;
                }
                let least = low.get(&node).copied().unwrap_or(0);
                if index.get(&node) == Some(&least) {
                    while let Some(member) = path.pop() {
                        self.circles.insert(member, node);
                        if member == node {
                            break;
                        }
                    }
                }
                if let Some((caller, _)) = calls.last() {
                    let above = low.entry(*caller).or_insert(least);
                    *above = (*above).min(least);
                }
            }
        }
    }

    /// Whether each of the two precedes the other.
    pub fn together(&self, a: Node, b: Node) -> bool {
        let circle = |n: Node| self.circles.get(&(n as u32));
        circle(a).is_some() && circle(a) == circle(b)
    }

    /// A shortest way from one to the other.
    pub fn way(&self, from: Node, to: Node) -> Vec<Node> {
        let mut before: FxHashMap<u32, u32> = FxHashMap::default();
        let mut next = std::collections::VecDeque::from([from as u32]);
        while let Some(node) = next.pop_front().filter(|n| *n != to as u32) {
            for target in self.edges.get(&node).into_iter().flatten() {
                if *target != from as u32 && !before.contains_key(target) {
                    before.insert(*target, node);
                    next.push_back(*target);
                }
            }
        }
        let mut way = vec![to];
        while let Some(node) = way.last().and_then(|n| before.get(&(*n as u32))) {
            way.push(*node as usize);
        }
        way.reverse();
        way
    }
}
