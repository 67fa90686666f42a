//! Passes over a trace with edges in it: which dependences they order.
//!
//! Everything goes forward in program order, so running clocks are enough: for each pipe what is before anything that
//! starts on it now, and what is done when everything on it is done (sync.md 3). The state is kept every few hundred
//! ticks, so that a change is followed only from where it begins to where it no longer makes a difference.

use super::dependences::Dep;
use super::edges::{Edge, kind};
use crate::trace::{Flag, Kind, LANES, PHASES, Tick, Trace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

const PIPES: usize = Pipe::ALL.len();
/// Ticks between two states that are kept, at least, and how many are.
const EVERY: usize = 256;
const KEPT: usize = 512;
/// By lane: the number of its events that are done.
pub type Clock = [u32; LANES];

fn join(a: &mut Clock, b: &Clock) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).max(*b));
}

/// The effect of an edge at an operation.
#[derive(Clone, Copy, Debug)]
enum Action {
    Wait,
    Set,
    /// The number of sets before a loop.
    Prime(u64),
    /// Waits after it.
    Drain(u64),
    Barrier,
}

/// The actions at one place, with their edges.
type Here = SmallVec<[(Action, usize); 2]>;

/// The actions of edges, by the number of the operation: before it, and after it.
#[derive(Debug, Default)]
pub struct Actions {
    begin: Vec<Here>,
    end: Vec<Here>,
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

/// Within one place, waits come first and sets last, as they are printed.
fn put(all: &mut Vec<Here>, at: OpId, action: (Action, usize)) {
    let rank = |action: &Action| match action {
        Action::Wait | Action::Drain(_) => 0,
        Action::Barrier => 1,
        Action::Set | Action::Prime(_) => 2,
    };
    if all.len() <= at.index() {
        all.resize_with(at.index() + 1, Here::new);
    }
    let list = &mut all[at.index()];
    let place = list.iter().position(|(other, _)| rank(other) > rank(&action.0)).unwrap_or(list.len());
    list.insert(place, action);
}

/// By edge: the tokens that are not taken yet.
type Tokens = FxHashMap<usize, SmallVec<[Clock; 2]>>;

/// The clock of completed events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Clocks {
    /// By pipe: what is before anything that starts on it.
    start: [Clock; PIPES],
    /// By pipe: what is before the moment when all of it so far is done.
    done: [Clock; PIPES],
    count: Clock,
    issued: Clock,
    /// What is done when the latest phase, or the set inside of an instruction, is.
    handed: Clock,
}

/// The state of a pass.
#[derive(Clone, Debug, Default)]
struct State {
    now: Clocks,
    /// By edge: its tokens, where they may be others than those that the pass began with.
    tokens: Tokens,
}

/// A saved state of a pass, with all tokens sorted by edge; tokens of removed edges may remain in it.
#[derive(Debug)]
struct SavedState {
    now: Clocks,
    tokens: Vec<(usize, Clock)>,
}

impl SavedState {
    fn new(state: &State) -> SavedState {
        let mut kept = SavedState { now: state.now, tokens: Vec::new() };
        kept.put(&state.tokens);
        kept
    }

    /// These tokens are others now.
    fn put(&mut self, tokens: &Tokens) {
        self.tokens.retain(|(n, _)| !tokens.contains_key(n));
        self.tokens.extend(tokens.iter().flat_map(|(n, queue)| queue.iter().map(|token| (*n, *token))));
        self.tokens.sort_by_key(|(n, _)| *n);
    }

    /// The tokens of an edge.
    fn queue(&self, n: usize) -> &[(usize, Clock)] {
        let from = self.tokens.partition_point(|(edge, _)| *edge < n);
        let count = self.tokens[from..].iter().take_while(|(edge, _)| *edge == n).count();
        &self.tokens[from..from + count]
    }
}

impl State {
    /// Whether it equals a saved state, apart from the tokens of one edge.
    fn is_like(&self, kept: &SavedState, without: usize) -> bool {
        let same = |(n, queue): (&usize, &SmallVec<[Clock; 2]>)| {
            *n == without || queue.iter().eq(kept.queue(*n).iter().map(|(_, token)| token))
        };
        self.now == kept.now && self.tokens.iter().all(same)
    }

    /// The clock that a set on a pipe carries now: everything on it so far is done.
    fn token(&self, pipe: Pipe) -> Clock {
        let mut token = self.now.done[pipe as usize];
        token[pipe as usize] = self.now.count[pipe as usize];
        token
    }

    fn take(&mut self, pipe: Pipe, token: &Clock) {
        join(&mut self.now.start[pipe as usize], token);
        join(&mut self.now.done[pipe as usize], token);
        if pipe == Pipe::S {
            // The wait comes after everything on S, and nothing is issued before it is over.
            let known = self.token(pipe);
            join(&mut self.now.issued, &known);
        }
    }

    /// The tokens of an edge, taken over from those at the beginning when they are first asked for.
    fn queue(&mut self, n: usize, base: Option<&SavedState>) -> &mut SmallVec<[Clock; 2]> {
        let given = || base.into_iter().flat_map(|kept| kept.queue(n)).map(|(_, token)| *token).collect();
        self.tokens.entry(n).or_insert_with(given)
    }

    fn give(&mut self, n: usize, from: Pipe, times: u64, base: Option<&SavedState>) {
        let token = self.token(from);
        let queue = self.queue(n, base);
        (0..times).for_each(|_| queue.push(token));
    }

    fn wait(&mut self, n: usize, to: Pipe, base: Option<&SavedState>) {
        let queue = self.queue(n, base);
        if !queue.is_empty() {
            let token = queue.remove(0);
            self.take(to, &token);
        }
    }

    fn act(&mut self, action: Action, n: usize, edge: &Edge, base: Option<&SavedState>) {
        match (action, edge) {
            (Action::Set, Edge::Pair { from, .. }) => self.give(n, *from, 1, base),
            (Action::Prime(times), Edge::Pair { from, .. }) => self.give(n, *from, times, base),
            (Action::Wait, Edge::Pair { to, .. }) => self.wait(n, *to, base),
            (Action::Drain(times), Edge::Pair { to, .. }) => (0..times).for_each(|_| self.wait(n, *to, base)),
            (_, Edge::Barrier { pipe: Some(pipe), .. }) => {
                let token = self.token(*pipe);
                self.take(*pipe, &token);
            }
            (_, Edge::Barrier { pipe: None, .. }) => {
                let mut all = self.now.count;
                Pipe::ALL.iter().for_each(|p| join(&mut all, &self.now.done[*p as usize]));
                join(&mut self.now.issued, &all);
            }
            (Action::Barrier, Edge::Pair { .. }) => {}
        }
    }
}

/// A callback that proposes an edge for a dependence that nothing orders at a tick.
pub type Missing<'a> = dyn FnMut(&Trace, &Dep, (u32, usize)) -> Option<Edge> + 'a;

/// A path, with what depends on what and where a pass over it was.
pub struct Path {
    pub trace: Trace,
    deps: Vec<SmallVec<[Dep; 2]>>,
    profile: Profile,
    /// By event: its place in its lane.
    places: Vec<(u8, u32)>,
    /// By operation: the ticks at which it begins, and at which it ends.
    moments: FxHashMap<OpId, (Vec<usize>, Vec<usize>)>,
    /// The saved state before every n-th tick.
    every: usize,
    kept: Vec<SavedState>,
}

/// The record of a pass for edges that are added late.
#[derive(Default)]
struct Past {
    /// By event: what was done on its pipe right after it.
    after: Vec<Clock>,
    /// By pipe: its events.
    events: [Vec<u32>; PIPES],
    /// By tick: how many events there were before it.
    until: Vec<u32>,
}

impl Past {
    /// The clock that a set at a tick would have carried.
    fn token(&self, tick: usize, from: Pipe) -> Option<Clock> {
        let until = *self.until.get(tick)?;
        let list = &self.events[from as usize];
        let at = list.partition_point(|e| *e < until);
        list.get(at.checked_sub(1)?).map(|e| self.after[*e as usize])
    }
}

impl Path {
    pub fn new(trace: Trace, deps: Vec<SmallVec<[Dep; 2]>>, profile: Profile) -> Path {
        let mut count: Clock = Default::default();
        let places = trace.events.iter().map(|event| {
            let lane = event.lane().unwrap_or(Pipe::S as usize);
            count[lane] += 1;
            (lane as u8, count[lane] - 1)
        });
        let places = places.collect();
        let mut moments: FxHashMap<OpId, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
        for (n, tick) in trace.ticks.iter().enumerate() {
            match tick {
                Tick::Begin(op) => moments.entry(*op).or_default().0.push(n),
                Tick::End(op) => moments.entry(*op).or_default().1.push(n),
                Tick::Event(_) => {}
            }
        }
        let every = EVERY.max(trace.ticks.len() / KEPT);
        Path { trace, deps, profile, places, moments, every, kept: Vec::new() }
    }

    /// The clock of everything before an event when it starts.
    fn clock(&self, state: &State, n: usize) -> Clock {
        let event = &self.trace.events[n];
        let pipe = event.pipe.unwrap_or(Pipe::S);
        let p = pipe as usize;
        let mut clock = state.now.start[p];
        join(&mut clock, &state.now.issued);
        if event.kind == Kind::Meets {
            join(&mut clock, &state.now.count);
        }
        if pipe.is_in_order(self.profile) {
            join(&mut clock, &state.now.done[p]);
            clock[p] = state.now.count[p];
        }
        if n.checked_sub(1).is_some_and(|before| self.trace.events[before].kind == Kind::Phase) {
            join(&mut clock, &state.now.handed);
        }
        clock
    }

    fn end(&self, state: &mut State, n: usize, clock: &Clock) {
        let event = &self.trace.events[n];
        let pipe = event.pipe.unwrap_or(Pipe::S);
        let (p, lane) = (pipe as usize, event.lane().unwrap_or(pipe as usize));
        state.now.count[lane] += 1;
        join(&mut state.now.done[p], clock);
        if lane == PHASES {
            state.now.handed = *clock;
            state.now.handed[lane] = state.now.count[lane];
            let handed = state.now.handed;
            join(&mut state.now.done[p], &handed);
        }
        let is_inner = |flag: u32| matches!(self.trace.flags.get(flag as usize), Some(Flag::Inner(..)));
        match event.kind {
            Kind::Set(flag) if is_inner(flag) => state.now.handed = state.token(pipe),
            Kind::Wait(flag) if is_inner(flag) => {
                let handed = state.now.handed;
                state.take(pipe, &handed);
            }
            _ => {}
        }
        let reads = || self.trace.accesses_of(n).iter().any(|a| !a.writes);
        let waits = matches!(event.kind, Kind::Receive(_));
        if event.kind == Kind::Meets || pipe == Pipe::S && (waits || reads()) {
            let mut known = *clock;
            known[lane] = state.now.count[lane];
            join(&mut state.now.issued, &known);
        }
    }

    fn is_before(&self, x: u32, clock: &Clock) -> bool {
        let (lane, place) = self.places[x as usize];
        clock[lane as usize] > place
    }

    /// The actions at a tick, without one edge.
    fn act(
        &self,
        (state, base): (&mut State, Option<&SavedState>),
        tick: Tick,
        edges: &[Option<Edge>],
        actions: &Actions,
        without: usize,
    ) {
        let list = match tick {
            Tick::Begin(op) => actions.begin.get(op.index()),
            Tick::End(op) => actions.end.get(op.index()),
            Tick::Event(_) => None,
        };
        for (action, n) in list.into_iter().flatten().filter(|(_, n)| *n != without) {
            if let Some(edge) = edges[*n].as_ref().filter(|edge| edge.core() == kind(self.trace.core)) {
                state.act(*action, *n, edge, base);
            }
        }
    }

    /// Whether an operation runs more than once, so that an edge also orders iterations other than those it was made
    /// for.
    pub fn has_loops(&self) -> bool {
        self.trace.turns.iter().any(|turn| !turn.is_empty())
    }

    fn begins(&self, op: OpId) -> &[usize] {
        self.moments.get(&op).map_or(&[], |m| &m.0)
    }

    fn ends(&self, op: OpId) -> &[usize] {
        self.moments.get(&op).map_or(&[], |m| &m.1)
    }

    /// Runs to the end, adds edges from `missing` for dependences that are not ordered, and saves the states. The
    /// effect that an edge around a loop has before the point at which it is found shows only in another pass.
    pub fn complete(&mut self, edges: &mut Vec<Option<Edge>>, actions: &mut Actions, missing: &mut Missing<'_>) {
        let (mut state, mut past) = (State::default(), Past::default());
        self.kept.clear();
        let mut events = 0;
        for at in 0..self.trace.ticks.len() {
            if at.is_multiple_of(self.every) {
                state.tokens.retain(|_, queue| !queue.is_empty());
                self.kept.push(SavedState::new(&state));
            }
            past.until.push(events);
            let tick = self.trace.ticks[at];
            self.act((&mut state, None), tick, edges, actions, usize::MAX);
            let Tick::Event(n) = tick else { continue };
            let mut clock = self.clock(&state, n as usize);
            for dep in &self.deps[n as usize] {
                if self.is_before(dep.x, &clock) {
                    continue;
                }
                let Some(edge) = missing(&self.trace, dep, (n, at)) else { continue };
                edges.push(Some(edge));
                let number = edges.len() - 1;
                actions.add(number, &edge);
                match edge {
                    Edge::Pair { round: None, after, from, to, .. } => {
                        let ends = self.ends(after);
                        let last = ends.partition_point(|t| *t < at).checked_sub(1).map(|n| ends[n]);
                        if let Some(token) = last.and_then(|tick| past.token(tick, from)) {
                            state.take(to, &token);
                        }
                    }
                    Edge::Barrier { .. } => state.act(Action::Barrier, number, &edge, None),
                    Edge::Pair { round: Some(_), .. } => self.catch_up(&mut state, &past, (number, &edge), at),
                }
                clock = self.clock(&state, n as usize);
            }
            self.end(&mut state, n as usize, &clock);
            let pipe = self.trace.events[n as usize].pipe.unwrap_or(Pipe::S);
            past.after.push(state.token(pipe));
            past.events[pipe as usize].push(n);
            events += 1;
        }
    }

    /// Takes the token that an edge round a loop would have at a tick, and puts those there that are on their way.
    fn catch_up(&self, state: &mut State, past: &Past, (number, edge): (usize, &Edge), at: usize) {
        let Edge::Pair { from, to, after, before, round: Some((id, distance)), .. } = *edge else { return };
        let start = self.begins(id).iter().copied().rfind(|t| *t < at).unwrap_or(0);
        let since = |list: &[usize]| {
            let first = list.partition_point(|t| *t < start);
            (first, list.partition_point(|t| *t < at))
        };
        let (waits, sets) = (since(self.begins(before)), since(self.ends(after)));
        let waited = (waits.1 - waits.0) as u64;
        let primed = (0..distance).map(|_| None);
        let set = self.ends(after)[sets.0..sets.1].iter().map(|tick| past.token(*tick, from));
        let mut tokens = primed.chain(set).skip(waited.saturating_sub(1) as usize);
        if let Some(Some(token)) = tokens.next() {
            state.take(to, &token);
        }
        state.tokens.insert(number, tokens.map(Option::unwrap_or_default).collect());
    }

    /// The ticks at which an edge makes a difference: those with a set; a wait alone changes nothing.
    fn moments_of(&self, edges: &[Option<Edge>], n: usize) -> SmallVec<[usize; 8]> {
        let Some(Edge::Barrier { before, .. } | Edge::Pair { before, .. }) = edges[n] else { return SmallVec::new() };
        let mut all = SmallVec::from_slice(self.begins(before));
        if let Some(Edge::Pair { round: Some((id, _)), .. }) = edges[n] {
            all.extend_from_slice(self.ends(id));
            all.sort_unstable();
        }
        all
    }

    /// Whether an edge proves necessary at a tick, because the dependence that it was made for is not ordered without
    /// it. The edge may still take effect before that tick: without it even less is ordered.
    pub fn shows_need(&self, edges: &[Option<Edge>], actions: &Actions, n: usize, tick: usize) -> bool {
        let moments = self.moments_of(edges, n);
        let last = moments.partition_point(|t| *t <= tick).checked_sub(1).map(|at| moments[at]);
        last.is_some_and(|last| self.follow(edges, actions, n, (last, tick + 1), |_, _| {}).is_none())
    }

    /// Whether all dependences are ordered without one edge.
    pub fn is_complete_without(&self, edges: &[Option<Edge>], actions: &Actions, n: usize) -> bool {
        self.follow_all(edges, actions, n, |_, _| {})
    }

    /// Changes the states that are kept to what they are without an edge that nothing needs.
    pub fn remove(&mut self, edges: &[Option<Edge>], actions: &Actions, n: usize) {
        let mut states = Vec::new();
        self.follow_all(edges, actions, n, |at, state| states.push((at, state.clone())));
        for (at, state) in states {
            let kept = &mut self.kept[at];
            kept.now = state.now;
            kept.put(&state.tokens);
        }
    }

    /// Follows what becomes of the states without an edge, wherever that makes a difference; false where a dependence is
    /// not ordered.
    fn follow_all(
        &self,
        edges: &[Option<Edge>],
        actions: &Actions,
        n: usize,
        mut keep: impl FnMut(usize, &State),
    ) -> bool {
        let moments = self.moments_of(edges, n);
        let mut next = 0;
        while let Some(from) = moments.get(next) {
            match self.follow(edges, actions, n, (*from, usize::MAX), &mut keep) {
                Some(same) => next = moments.partition_point(|t| *t < same),
                None => return false,
            }
        }
        true
    }

    /// Follows what becomes of the states without an edge, from a tick on, to where that makes no difference any more, or to
    /// another tick; gives where it came to, and nothing where a dependence is not ordered.
    fn follow(
        &self,
        edges: &[Option<Edge>],
        actions: &Actions,
        n: usize,
        (from, end): (usize, usize),
        mut keep: impl FnMut(usize, &State),
    ) -> Option<usize> {
        let start = from / self.every;
        let base = &self.kept[start];
        let mut state = State { now: base.now, tokens: Tokens::default() };
        for (at, tick) in self.trace.ticks.iter().enumerate().take(end).skip(start * self.every) {
            if at.is_multiple_of(self.every) && at > from {
                if state.is_like(&self.kept[at / self.every], n) {
                    return Some(at);
                }
                keep(at / self.every, &state);
            }
            self.act((&mut state, Some(base)), *tick, edges, actions, n);
            if let Tick::Event(event) = *tick {
                let clock = self.clock(&state, event as usize);
                if !self.deps[event as usize].iter().all(|dep| self.is_before(dep.x, &clock)) {
                    return None;
                }
                self.end(&mut state, event as usize, &clock);
            }
        }
        Some(usize::MAX)
    }
}
