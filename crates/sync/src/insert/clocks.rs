//! Passes over a trace with edges in it: which dependences they order.
//!
//! Everything goes forward in program order, so running clocks are enough: for each pipe what is before anything that
//! starts on it now, and what is done when everything on it is done (sync.md 3). The state is kept every few hundred
//! ticks, so that a change is followed only from where it begins to where it no longer makes a difference.

use super::deps::Dep;
use super::edges::Edge;
use crate::trace::{Kind, Tick, Trace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

const PIPES: usize = Pipe::ALL.len();
/// Ticks between two states that are kept.
const EVERY: usize = 256;
/// By pipe: so many of its events are done.
pub type Clock = [u32; PIPES];

fn join(a: &mut Clock, b: &Clock) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).max(*b));
}

/// What happens at an operation because of an edge.
#[derive(Clone, Copy, Debug)]
enum Action {
    Wait,
    Set,
    /// Sets before a loop, so many.
    Prime(u64),
    /// Waits after it.
    Drain(u64),
    Barrier,
}

/// The actions of edges, by operation: before it, and after it.
#[derive(Debug, Default)]
pub struct Actions {
    begin: FxHashMap<OpId, SmallVec<[(Action, usize); 2]>>,
    end: FxHashMap<OpId, SmallVec<[(Action, usize); 2]>>,
}

impl Actions {
    /// Adds the actions of an edge.
    pub fn add(&mut self, n: usize, edge: &Edge) {
        match edge {
            Edge::Barrier { before, .. } => put(&mut self.begin, *before, (Action::Barrier, n)),
            Edge::Pair { after, before, round, .. } => {
                put(&mut self.begin, *before, (Action::Wait, n));
                put(&mut self.end, *after, (Action::Set, n));
                if let Some((id, distance)) = round {
                    put(&mut self.begin, *id, (Action::Prime(*distance), n));
                    put(&mut self.end, *id, (Action::Drain(*distance), n));
                }
            }
        }
    }
}

/// Where several stand together, waits come first and sets last, as they are printed.
fn put(all: &mut FxHashMap<OpId, SmallVec<[(Action, usize); 2]>>, at: OpId, action: (Action, usize)) {
    let rank = |action: &Action| match action {
        Action::Wait | Action::Drain(_) => 0,
        Action::Barrier => 1,
        Action::Set | Action::Prime(_) => 2,
    };
    let list = all.entry(at).or_default();
    let place = list.iter().position(|(other, _)| rank(other) > rank(&action.0)).unwrap_or(list.len());
    list.insert(place, action);
}

/// Where a pass is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// By pipe: what is before anything that starts on it.
    start: [Clock; PIPES],
    /// By pipe: what is before the moment when all of it so far is done.
    done: [Clock; PIPES],
    count: Clock,
    issued: Clock,
    /// By edge: the tokens that nobody took yet.
    tokens: BTreeMap<usize, VecDeque<Clock>>,
}

impl State {
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

    fn give(&mut self, n: usize, from: Pipe, times: u64) {
        let token = self.token(from);
        let queue = self.tokens.entry(n).or_default();
        (0..times).for_each(|_| queue.push_back(token));
    }

    fn wait(&mut self, n: usize, to: Pipe) {
        let Some(queue) = self.tokens.get_mut(&n) else { return };
        let token = queue.pop_front();
        if queue.is_empty() {
            self.tokens.remove(&n);
        }
        if let Some(token) = token {
            self.take(to, &token);
        }
    }

    fn act(&mut self, action: Action, n: usize, edge: &Edge) {
        match (action, edge) {
            (Action::Set, Edge::Pair { from, .. }) => self.give(n, *from, 1),
            (Action::Prime(times), Edge::Pair { from, .. }) => self.give(n, *from, times),
            (Action::Wait, Edge::Pair { to, .. }) => self.wait(n, *to),
            (Action::Drain(times), Edge::Pair { to, .. }) => (0..times).for_each(|_| self.wait(n, *to)),
            (_, Edge::Barrier { pipe: Some(pipe), .. }) => {
                let token = self.token(*pipe);
                self.take(*pipe, &token);
            }
            (_, Edge::Barrier { pipe: None, .. }) => {
                let mut all = self.count;
                Pipe::ALL.iter().for_each(|p| join(&mut all, &self.done[*p as usize]));
                join(&mut self.issued, &all);
            }
            (Action::Barrier, Edge::Pair { .. }) => {}
        }
    }
}

/// A path, with what depends on what and where a pass over it was.
pub struct Path {
    pub trace: Trace,
    deps: Vec<SmallVec<[Dep; 2]>>,
    profile: Profile,
    /// By event: its place on its pipe.
    places: Vec<(u8, u32)>,
    /// By operation: the ticks at which it first begins and ends.
    first: FxHashMap<OpId, (usize, usize)>,
    /// By operation: the tick at which it last ends.
    last: FxHashMap<OpId, usize>,
    /// Every so many ticks: the state before it, and how many events there were.
    kept: Vec<(State, usize)>,
}

/// What a pass remembers for edges that come late.
#[derive(Default)]
struct Past {
    /// By event: what was done on its pipe right after it.
    after: Vec<Clock>,
    /// By pipe: its events.
    events: [Vec<u32>; PIPES],
    /// By operation: how many events there were when it last ended.
    ended: FxHashMap<OpId, u32>,
}

impl Past {
    /// What a set after an operation would have given when it last ended.
    fn token(&self, after: OpId, from: Pipe) -> Option<Clock> {
        let until = *self.ended.get(&after)?;
        let list = &self.events[from as usize];
        let at = list.partition_point(|e| *e < until);
        list.get(at.checked_sub(1)?).map(|e| self.after[*e as usize])
    }

    fn forget(&mut self, events: usize) {
        self.after.truncate(events);
        for list in &mut self.events {
            let keep = list.partition_point(|e| (*e as usize) < events);
            list.truncate(keep);
        }
    }
}

impl Path {
    pub fn new(trace: Trace, deps: Vec<SmallVec<[Dep; 2]>>, profile: Profile) -> Path {
        let mut count: Clock = Default::default();
        let places = trace.events.iter().map(|event| {
            let pipe = event.pipe.unwrap_or(Pipe::S) as usize;
            count[pipe] += 1;
            (pipe as u8, count[pipe] - 1)
        });
        let places = places.collect();
        let mut first: FxHashMap<OpId, (usize, usize)> = FxHashMap::default();
        let mut last: FxHashMap<OpId, usize> = FxHashMap::default();
        for (n, tick) in trace.ticks.iter().enumerate() {
            match tick {
                Tick::Begin(op) => _ = first.entry(*op).or_insert((n, usize::MAX)),
                Tick::End(op) => {
                    last.insert(*op, n);
                    if let Some((_, end)) = first.get_mut(op).filter(|(_, end)| *end == usize::MAX) {
                        *end = n;
                    }
                }
                Tick::Event(_) => {}
            }
        }
        Path { trace, deps, profile, places, first, last, kept: Vec::new() }
    }

    /// What is before an event when it starts.
    fn clock(&self, state: &State, n: usize) -> Clock {
        let event = &self.trace.events[n];
        let pipe = event.pipe.unwrap_or(Pipe::S);
        let p = pipe as usize;
        let mut clock = state.start[p];
        join(&mut clock, &state.issued);
        if event.kind == Kind::Meets {
            join(&mut clock, &state.count);
        }
        if pipe.is_in_order(self.profile) {
            join(&mut clock, &state.done[p]);
            clock[p] = state.count[p];
        }
        clock
    }

    fn end(&self, state: &mut State, n: usize, clock: &Clock) {
        let event = &self.trace.events[n];
        let pipe = event.pipe.unwrap_or(Pipe::S);
        let p = pipe as usize;
        state.count[p] += 1;
        join(&mut state.done[p], clock);
        let reads = || self.trace.accesses_of(n).iter().any(|a| !a.writes);
        if event.kind == Kind::Meets || pipe == Pipe::S && reads() {
            let mut known = *clock;
            known[p] = state.count[p];
            join(&mut state.issued, &known);
        }
    }

    fn is_before(&self, x: u32, clock: &Clock) -> bool {
        let (pipe, place) = self.places[x as usize];
        clock[pipe as usize] > place
    }

    /// The actions at a tick.
    fn act(&self, state: &mut State, tick: Tick, edges: &[Option<Edge>], actions: &Actions, without: usize) {
        let list = match tick {
            Tick::Begin(op) => actions.begin.get(&op),
            Tick::End(op) => actions.end.get(&op),
            Tick::Event(_) => None,
        };
        for (action, n) in list.into_iter().flatten().filter(|(_, n)| *n != without) {
            if let Some(edge) = &edges[*n] {
                state.act(*action, *n, edge);
            }
        }
    }

    /// Runs to the end, with new edges from `missing` where dependences are not ordered, and keeps the states.
    pub fn complete(
        &mut self,
        edges: &mut Vec<Option<Edge>>,
        actions: &mut Actions,
        missing: &mut dyn FnMut(&Trace, &Dep, u32) -> Option<Edge>,
    ) {
        let (mut state, mut past) = (State::default(), Past::default());
        self.kept.clear();
        let (mut at, mut events) = (0, 0);
        while at < self.trace.ticks.len() {
            if at.is_multiple_of(EVERY) {
                self.kept.truncate(at / EVERY);
                self.kept.push((state.clone(), events));
            }
            let tick = self.trace.ticks[at];
            if let Tick::End(op) = tick {
                past.ended.insert(op, events as u32);
            }
            self.act(&mut state, tick, edges, actions, usize::MAX);
            at += 1;
            let Tick::Event(n) = tick else { continue };
            let mut clock = self.clock(&state, n as usize);
            let mut again = None;
            for dep in &self.deps[n as usize] {
                if self.is_before(dep.x, &clock) {
                    continue;
                }
                let Some(edge) = missing(&self.trace, dep, n) else { continue };
                edges.push(Some(edge));
                actions.add(edges.len() - 1, &edge);
                match edge {
                    Edge::Pair { round: None, after, from, to, .. } => {
                        if let Some(token) = past.token(after, from) {
                            state.take(to, &token);
                        }
                    }
                    Edge::Barrier { .. } => state.act(Action::Barrier, edges.len() - 1, &edge),
                    Edge::Pair { round: Some((id, _)), .. } => {
                        again = Some(id);
                        break;
                    }
                }
                clock = self.clock(&state, n as usize);
            }
            if let Some(id) = again {
                // What goes round a loop began before it.
                let from = self.first.get(&id).map_or(0, |f| f.0) / EVERY;
                (state, events) = self.kept[from].clone();
                at = from * EVERY;
                past.forget(events);
                continue;
            }
            self.end(&mut state, n as usize, &clock);
            let pipe = self.trace.events[n as usize].pipe.unwrap_or(Pipe::S);
            past.after.push(state.token(pipe));
            past.events[pipe as usize].push(n);
            events += 1;
        }
    }

    /// Are all dependences ordered without one edge? The states that are kept then change as it says.
    pub fn without(&self, edges: &[Option<Edge>], actions: &Actions, n: usize) -> Option<Change> {
        let first = |op: &OpId| self.first.get(op).copied().unwrap_or((usize::MAX, usize::MAX));
        let from = match edges[n]? {
            Edge::Barrier { before, .. } => first(&before).0,
            Edge::Pair { before, round, .. } => first(&before).0.min(round.map_or(usize::MAX, |(id, _)| first(&id).1)),
        };
        if from == usize::MAX {
            return Some(Change { from: 0, states: Vec::new() });
        }
        let last = |op: &OpId| self.last.get(op).copied().unwrap_or(usize::MAX);
        let until = match edges[n]? {
            Edge::Barrier { before, .. } => last(&before),
            Edge::Pair { before, round, .. } => last(&before).max(round.map_or(0, |(id, _)| last(&id))),
        };
        let start = from / EVERY;
        let mut state = self.kept[start].0.clone();
        state.tokens.remove(&n);
        let mut states = Vec::new();
        for (at, tick) in self.trace.ticks.iter().enumerate().skip(start * EVERY) {
            if at.is_multiple_of(EVERY) && at > start * EVERY {
                let mut before = self.kept[at / EVERY].0.clone();
                before.tokens.remove(&n);
                if before == state && at > until {
                    break;
                }
                states.push(state.clone());
            }
            self.act(&mut state, *tick, edges, actions, n);
            if let Tick::Event(event) = *tick {
                let clock = self.clock(&state, event as usize);
                if !self.deps[event as usize].iter().all(|dep| self.is_before(dep.x, &clock)) {
                    return None;
                }
                self.end(&mut state, event as usize, &clock);
            }
        }
        Some(Change { from: start + 1, states })
    }

    /// Takes over the states of a pass without an edge.
    pub fn change(&mut self, change: Change, n: usize) {
        for (kept, state) in self.kept.iter_mut().skip(change.from).zip(change.states) {
            kept.0 = state;
        }
        self.kept.iter_mut().for_each(|(state, _)| _ = state.tokens.remove(&n));
    }
}

/// The states that are others without an edge.
pub struct Change {
    from: usize,
    states: Vec<State>,
}
