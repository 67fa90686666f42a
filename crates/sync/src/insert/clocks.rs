//! One pass over a trace with edges in it: which dependences they order.
//!
//! Everything goes forward in program order, so running clocks are enough: for each pipe what is before anything that
//! starts on it now, and what is done when everything on it is done (sync.md 3).

use super::deps::Dep;
use super::edges::Edge;
use crate::trace::{Kind, Tick, Trace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

const PIPES: usize = Pipe::ALL.len();
/// By pipe: so many of its events are done.
pub type Clock = [u32; PIPES];

fn join(a: &mut Clock, b: &Clock) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).max(*b));
}

/// What happens at an operation because of edges.
#[derive(Clone, Copy, Debug)]
enum Action {
    Wait(usize),
    Set(usize),
    /// Sets before a loop, so many.
    Prime(usize, u64),
    /// Waits after it.
    Drain(usize, u64),
    Barrier(Option<Pipe>),
}

/// The actions of edges, by operation: before it, and after it.
#[derive(Debug, Default)]
pub struct Actions {
    begin: FxHashMap<OpId, SmallVec<[Action; 2]>>,
    end: FxHashMap<OpId, SmallVec<[Action; 2]>>,
}

impl Actions {
    /// Adds the actions of an edge.
    pub fn add(&mut self, n: usize, edge: &Edge) {
        match edge {
            Edge::Barrier { pipe, before } => put(&mut self.begin, *before, Action::Barrier(*pipe)),
            Edge::Pair { after, before, round, .. } => {
                put(&mut self.begin, *before, Action::Wait(n));
                put(&mut self.end, *after, Action::Set(n));
                if let Some((id, distance)) = round {
                    put(&mut self.begin, *id, Action::Prime(n, *distance));
                    put(&mut self.end, *id, Action::Drain(n, *distance));
                }
            }
        }
    }

    /// The actions of these edges.
    pub fn of(edges: &[Edge]) -> Actions {
        let mut actions = Actions::default();
        edges.iter().enumerate().for_each(|(n, edge)| actions.add(n, edge));
        actions
    }
}

/// Where several stand together, waits come first and sets last, as they are printed.
fn put(all: &mut FxHashMap<OpId, SmallVec<[Action; 2]>>, at: OpId, action: Action) {
    let rank = |action: &Action| match action {
        Action::Wait(_) | Action::Drain(..) => 0,
        Action::Barrier(_) => 1,
        Action::Set(_) | Action::Prime(..) => 2,
    };
    let list = all.entry(at).or_default();
    let place = list.iter().position(|other| rank(other) > rank(&action)).unwrap_or(list.len());
    list.insert(place, action);
}

/// The state of a pass.
pub struct Pass<'a> {
    trace: &'a Trace,
    profile: Profile,
    /// By pipe: what is before anything that starts on it.
    start: [Clock; PIPES],
    /// By pipe: what is before the moment when all of it so far is done.
    done: [Clock; PIPES],
    count: Clock,
    issued: Clock,
    /// By event: its place on its pipe.
    places: Vec<(u8, u32)>,
    /// By event: what was done on its pipe right after it.
    after: Vec<Clock>,
    /// By pipe: its events.
    events: [Vec<u32>; PIPES],
    /// By operation: how many events there were when it last ended.
    ended: FxHashMap<OpId, u32>,
    tokens: Vec<VecDeque<Clock>>,
}

impl<'a> Pass<'a> {
    pub fn new(trace: &'a Trace, profile: Profile, edges: usize) -> Self {
        Pass {
            trace,
            profile,
            start: Default::default(),
            done: Default::default(),
            count: Default::default(),
            issued: Default::default(),
            places: Vec::with_capacity(trace.events.len()),
            after: Vec::with_capacity(trace.events.len()),
            events: Default::default(),
            ended: FxHashMap::default(),
            tokens: vec![VecDeque::new(); edges],
        }
    }

    /// What a set on a pipe gives now: everything on it so far is done.
    fn token(&self, pipe: Pipe) -> Clock {
        let mut token = self.done[pipe as usize];
        token[pipe as usize] = self.count[pipe as usize];
        token
    }

    fn take(&mut self, pipe: Pipe, token: &Clock) {
        join(&mut self.start[pipe as usize], token);
        join(&mut self.done[pipe as usize], token);
        if pipe == Pipe::S {
            join(&mut self.issued, token);
        }
    }

    fn act(&mut self, edges: &[Edge], action: Action) {
        let pipes = |n: usize| match edges[n] {
            Edge::Pair { from, to, .. } => (from, to),
            Edge::Barrier { .. } => (Pipe::S, Pipe::S),
        };
        match action {
            Action::Set(n) => {
                let token = self.token(pipes(n).0);
                self.tokens[n].push_back(token);
            }
            Action::Prime(n, times) => {
                let token = self.token(pipes(n).0);
                (0..times).for_each(|_| self.tokens[n].push_back(token));
            }
            Action::Wait(n) => {
                if let Some(token) = self.tokens[n].pop_front() {
                    self.take(pipes(n).1, &token);
                }
            }
            Action::Drain(n, times) => (0..times).for_each(|_| self.act(edges, Action::Wait(n))),
            Action::Barrier(Some(pipe)) => {
                let token = self.token(pipe);
                self.take(pipe, &token);
            }
            Action::Barrier(None) => {
                let mut all = self.count;
                Pipe::ALL.iter().for_each(|p| join(&mut all, &self.done[*p as usize]));
                join(&mut self.issued, &all);
            }
        }
    }

    /// An event happens: its clock, before it starts.
    fn begin(&mut self, n: u32) -> Clock {
        let event = &self.trace.events[n as usize];
        let pipe = event.pipe.unwrap_or(Pipe::S);
        let p = pipe as usize;
        let mut clock = self.start[p];
        join(&mut clock, &self.issued);
        if event.kind == Kind::Meets {
            join(&mut clock, &self.count);
        }
        if pipe.is_in_order(self.profile) {
            join(&mut clock, &self.done[p]);
            clock[p] = self.count[p];
        }
        clock
    }

    fn end(&mut self, n: u32, clock: &Clock) {
        let event = &self.trace.events[n as usize];
        let pipe = event.pipe.unwrap_or(Pipe::S);
        let p = pipe as usize;
        self.places.push((p as u8, self.count[p]));
        self.count[p] += 1;
        self.events[p].push(n);
        join(&mut self.done[p], clock);
        let after = self.token(pipe);
        self.after.push(after);
        let reads = || self.trace.accesses_of(n as usize).iter().any(|a| !a.writes);
        if event.kind == Kind::Meets || pipe == Pipe::S && reads() {
            let mut known = *clock;
            known[p] = self.count[p];
            join(&mut self.issued, &known);
        }
    }

    /// Was the event done before the clock?
    fn is_before(&self, x: u32, clock: &Clock) -> bool {
        let (pipe, place) = self.places[x as usize];
        clock[pipe as usize] > place
    }

    /// What a set after an operation of this pipe would have given, when it last ended.
    fn past_token(&self, after: OpId, from: Pipe) -> Option<Clock> {
        let until = *self.ended.get(&after)?;
        let list = &self.events[from as usize];
        let at = list.partition_point(|e| *e < until);
        list.get(at.checked_sub(1)?).map(|e| self.after[*e as usize])
    }

    /// Runs to the end; gives the first dependence that is not ordered and for which `missing` has no new edge that
    /// takes effect at once.
    pub fn run(
        mut self,
        edges: &mut Vec<Edge>,
        actions: &mut Actions,
        deps: &[SmallVec<[Dep; 2]>],
        missing: &mut dyn FnMut(&Dep, u32) -> Option<Edge>,
    ) -> Outcome {
        for tick in &self.trace.ticks {
            match *tick {
                Tick::Begin(op) => {
                    for n in 0..actions.begin.get(&op).map_or(0, |a| a.len()) {
                        self.act(edges, actions.begin[&op][n]);
                    }
                }
                Tick::End(op) => {
                    self.ended.insert(op, self.places.len() as u32);
                    for n in 0..actions.end.get(&op).map_or(0, |a| a.len()) {
                        self.act(edges, actions.end[&op][n]);
                    }
                }
                Tick::Event(n) => {
                    let mut clock = self.begin(n);
                    for dep in &deps[n as usize] {
                        if self.is_before(dep.x, &clock) {
                            continue;
                        }
                        let Some(edge) = missing(dep, n) else { return Outcome::Unordered };
                        edges.push(edge);
                        self.tokens.push(VecDeque::new());
                        actions.add(edges.len() - 1, &edge);
                        match edge {
                            Edge::Pair { round: None, after, from, to, .. } => {
                                let Some(token) = self.past_token(after, from) else { return Outcome::Again };
                                self.take(to, &token);
                            }
                            Edge::Barrier { pipe, .. } => self.act(edges, Action::Barrier(pipe)),
                            Edge::Pair { .. } => return Outcome::Again,
                        }
                        clock = self.begin(n);
                    }
                    self.end(n, &clock);
                }
            }
        }
        Outcome::Ordered
    }
}

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ordered,
    /// A new edge goes round a loop: the pass begins again.
    Again,
    /// A dependence is not ordered.
    Unordered,
}
