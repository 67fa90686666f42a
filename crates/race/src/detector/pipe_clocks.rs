//! The pipes of one process while a run goes on: clocks, flags, and what waits for tokens that come only later in program
//! order.

use super::channels::Token;
use super::event::{Event, EventAction, Iterations, Point};
use super::vector_clock::{Clock, Lane, lane, phase_lane};
use crate::linear_expr::LinearExpr;
use crate::trace::Flag;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use tessera_ir::{OpId, ValueId};
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

/// A pipe.
#[derive(Clone, Copy, Debug, Default)]
struct Line<const W: usize> {
    /// The clock of everything that the next event follows.
    base: Clock<W>,
    /// The clock of everything issued so far, on pipes whose instructions may overlap.
    all: Clock<W>,
    count: u32,
}

/// A token that was set.
#[derive(Clone, Debug)]
pub struct Set<const W: usize> {
    pub clock: Option<Clock<W>>,
    taken: bool,
    pub point: Point,
    /// Whether it is the event of a value.
    named: Option<u32>,
}

/// One flag: sets and waits are counted in program order.
#[derive(Clone, Debug)]
pub struct FlagState<const W: usize> {
    pub flag: Flag,
    pub sets: u64,
    pub waits: u64,
    /// The number of the first token that is kept.
    first: u64,
    tokens: VecDeque<Set<W>>,
    /// Waits that came before their sets.
    pub unset: VecDeque<Point>,
    /// The first set that came before the wait for the set before: its number, and both.
    pub again: Option<(u64, Point, Point)>,
    /// The first instruction that used the flag inside while a token was there, and the set of the token.
    pub hidden: Option<(Point, Point)>,
}

impl<const W: usize> FlagState<W> {
    fn token(&mut self, number: u64) -> Option<&mut Set<W>> {
        let first = self.first;
        number.checked_sub(first).and_then(|n| self.tokens.get_mut(n as usize))
    }

    /// The first set that no wait is for.
    pub fn left(&self) -> Option<&Set<W>> {
        self.waits.checked_sub(self.first).and_then(|n| self.tokens.get(n as usize))
    }
}

/// The latest release of a buffer on a pipe.
#[derive(Clone, Debug)]
struct Release<const W: usize> {
    index: u32,
    clock: Option<Clock<W>>,
}

/// The pipes of a process.
#[derive(Debug)]
pub struct Pipes<const W: usize> {
    process: usize,
    automatic: bool,
    /// Whether the process meets micro instructions.
    is_micro: bool,
    in_order: [bool; Pipe::ALL.len()],
    lines: [Line<W>; Pipe::ALL.len()],
    /// The clock that every event from now on follows.
    issued: Clock<W>,
    pub index: u32,
    pub flags: Vec<FlagState<W>>,
    numbers: FxHashMap<Flag, u32>,
    /// By pipes and small id: the number of the flag.
    quick: Vec<u32>,
    /// By number of an event that a value stands for: what is done when it is.
    named: Vec<Option<Clock<W>>>,
    values: FxHashMap<ValueId, u32>,
    /// Named events with a pending wait.
    pub awaited: FxHashMap<u32, ()>,
    released: FxHashMap<(u32, Pipe), Release<W>>,
    /// The number of phases that another one follows, what is done when the latest is, and whether one is pending.
    phases: u32,
    handed: Clock<W>,
    is_handing: bool,
    /// Pending events, in program order.
    pub pending: VecDeque<Event>,
    /// The pipes that wait, or all.
    blocked: u16,
}

const ALL_BLOCKED: u16 = 1 << 15;

/// The clock of an event, and its place where it has one.
pub struct Happens<const W: usize> {
    pub clock: Clock<W>,
    pub at: Option<(Lane, u32)>,
}

impl<const W: usize> Pipes<W> {
    pub fn new(process: usize, (automatic, is_micro): (bool, bool), profile: Profile) -> Pipes<W> {
        let mut in_order = [automatic; Pipe::ALL.len()];
        for pipe in Pipe::ALL {
            in_order[*pipe as usize] |= pipe.is_in_order(profile);
        }
        Pipes {
            process,
            automatic,
            is_micro,
            in_order,
            lines: [Line::default(); Pipe::ALL.len()],
            issued: Clock::default(),
            index: 0,
            flags: Vec::new(),
            numbers: FxHashMap::default(),
            quick: vec![u32::MAX; Pipe::ALL.len() * Pipe::ALL.len() * 8],
            named: Vec::new(),
            values: FxHashMap::default(),
            awaited: FxHashMap::default(),
            released: FxHashMap::default(),
            phases: 0,
            handed: Clock::default(),
            is_handing: false,
            pending: VecDeque::new(),
            blocked: 0,
        }
    }

    /// The next place in program order.
    pub fn point(&mut self, op: OpId, turns: &[(OpId, u64)]) -> Point {
        self.index += 1;
        Point { op, turns: Iterations::new(turns), index: self.index - 1 }
    }

    fn flag_number(&mut self, flag: Flag) -> u32 {
        let flags = &mut self.flags;
        *self.numbers.entry(flag).or_insert_with_key(|flag| {
            let (tokens, unset) = (VecDeque::new(), VecDeque::new());
            flags.push(FlagState {
                flag: flag.clone(),
                sets: 0,
                waits: 0,
                first: 0,
                tokens,
                unset,
                again: None,
                hidden: None,
            });
            flags.len() as u32 - 1
        })
    }

    /// The number of the flag between two pipes with an id.
    pub fn flag(&mut self, from: Pipe, to: Pipe, id: i64) -> u32 {
        let quick = (from as usize * Pipe::ALL.len() + to as usize) * 8 + id as usize % 8;
        let known = self.quick.get(quick).copied().unwrap_or(u32::MAX);
        if (0..8).contains(&id) && known != u32::MAX {
            return known;
        }
        let number = self.flag_number(Flag::Pipes(from, to, LinearExpr::from(id)));
        if let (true, Some(slot)) = ((0..8).contains(&id), self.quick.get_mut(quick)) {
            *slot = number;
        }
        number
    }

    /// The number of the flag that an id of `sync.set` and `sync.wait` is in a process that is not split.
    pub fn core_flag(&mut self, id: i64) -> u32 {
        self.flag_number(Flag::Cores(LinearExpr::from(id)))
    }

    /// The number of a flag that an instruction uses inside.
    pub fn inner_flag(&mut self, from: Pipe, to: Pipe) -> u32 {
        self.flag_number(Flag::Inner(from, to))
    }

    /// An instruction uses flags inside; a token on one of them is in its way.
    pub fn hides(&mut self, hidden: &[(Pipe, Pipe, u8)], point: &Point) {
        for (from, to, id) in hidden {
            let number = self.numbers.get(&Flag::Pipes(*from, *to, LinearExpr::from(i64::from(*id))));
            let Some(state) = number.and_then(|number| self.flags.get_mut(*number as usize)) else { continue };
            if state.sets > state.waits && state.hidden.is_none() {
                state.hidden = state.tokens.back().map(|set| (*point, set.point));
            }
        }
    }

    /// A set in program order.
    pub fn set(&mut self, pipe: Pipe, flag: u32, point: &Point, value: Option<ValueId>) -> EventAction {
        let records = value.map(|value| {
            // Without a pending wait, the earlier event of the value is no longer referenced.
            let number = self.values.get(&value).copied().filter(|_| self.pending.is_empty());
            let number = number.unwrap_or(self.named.len() as u32);
            match self.named.get_mut(number as usize) {
                Some(event) => *event = None,
                None => self.named.push(None),
            }
            self.values.insert(value, number);
            number
        });
        let state = &mut self.flags[flag as usize];
        let number = state.sets;
        if number > state.waits && state.again.is_none() {
            let before = state.tokens.back().map(|set| set.point);
            state.again = before.map(|before| (number, before, *point));
        }
        state.sets += 1;
        state.unset.pop_front();
        state.tokens.push_back(Set { clock: None, taken: false, point: *point, named: records });
        EventAction::Set { pipe, flag, number, records }
    }

    /// A wait in program order.
    pub fn wait(&mut self, pipe: Pipe, flag: u32, point: &Point) -> EventAction {
        let state = &mut self.flags[flag as usize];
        let number = state.waits;
        state.waits += 1;
        if number >= state.sets {
            state.unset.push_back(*point);
        }
        EventAction::Wait { pipe, flag, number }
    }

    /// Whether a wait came before its set.
    pub fn is_early(&self, flag: u32) -> bool {
        self.flags.get(flag as usize).is_some_and(|state| !state.unset.is_empty())
    }

    /// Fast path: a set or a wait while no event is pending and no clock is requested; not taken if the wait comes
    /// first.
    #[inline]
    pub fn count(&mut self, flag: u32, sets: bool, point: &Point) -> bool {
        let Some(state) = self.flags.get_mut(flag as usize).filter(|_| self.pending.is_empty()) else { return false };
        match sets {
            true if state.sets == state.waits => {
                state.sets += 1;
                let clock = Some(Clock::default());
                state.tokens.push_back(Set { clock, taken: false, point: *point, named: None });
            }
            false if state.waits < state.sets && state.tokens.pop_front().is_some() => {
                state.waits += 1;
                state.first += 1;
            }
            _ => return false,
        }
        true
    }

    /// The events that values stand for; they are waited for.
    pub fn events(&mut self, values: &[ValueId]) -> SmallVec<[u32; 1]> {
        let named: SmallVec<[u32; 1]> = values.iter().filter_map(|value| self.values.get(value).copied()).collect();
        for event in &named {
            self.awaited.insert(*event, ());
        }
        named
    }

    /// Whether a set has happened whose wait has not.
    pub fn has_happened(&self, flag: u32, number: u64) -> bool {
        let state = self.flags.get(flag as usize);
        let set = state.and_then(|s| s.tokens.get(usize::try_from(number.checked_sub(s.first)?).ok()?));
        set.is_some_and(|set| set.clock.is_some())
    }

    /// Whether it is the event of the pending wait.
    pub fn is_awaited(&self, set: &Set<W>) -> bool {
        set.named.is_some_and(|named| self.awaited.contains_key(&named))
    }

    /// A get of a buffer in program order: it waits for the latest release on another pipe.
    pub fn take(&self, pipe: Pipe, id: u32) -> EventAction {
        if self.is_micro {
            // All earlier ones, on any pipe (micro/model.md 8).
            return EventAction::Take { pipe, id, after: Some(self.index), all: true };
        }
        let others = self.released.iter().filter(|((n, on), _)| *n == id && *on != pipe);
        let after = others.map(|(_, release)| release.index).max();
        EventAction::Take { pipe, id, after, all: false }
    }

    pub fn release(&mut self, pipe: Pipe, id: u32, point: &Point) -> EventAction {
        self.released.insert((id, pipe), Release { index: point.index, clock: None });
        EventAction::Release { pipe, id }
    }

    /// The clock that an event waits for, if all of it has happened.
    fn incoming(&self, act: &EventAction, line_of: impl Fn(Token) -> Option<Clock<W>>) -> Option<Option<Clock<W>>> {
        let join = |clocks: SmallVec<[Option<Clock<W>>; 2]>| -> Option<Option<Clock<W>>> {
            let mut all: Option<Clock<W>> = None;
            for clock in clocks {
                all.get_or_insert_default().join(&clock?);
            }
            Some(all)
        };
        match act {
            EventAction::Wait { flag, number, .. } => {
                let state = self.flags.get(*flag as usize)?;
                let set = number.checked_sub(state.first).and_then(|n| state.tokens.get(n as usize))?;
                Some(Some(set.clock?))
            }
            EventAction::Joins(named) | EventAction::Work { named, .. } if !named.is_empty() => {
                join(named.iter().map(|n| self.named.get(*n as usize).copied().flatten()).collect())
            }
            EventAction::Take { id, after: Some(before), all: true, .. } => {
                let earlier = |((n, _), release): &(&(u32, Pipe), &Release<W>)| n == id && release.index < *before;
                join(self.released.iter().filter(earlier).map(|(_, release)| release.clock).collect())
            }
            EventAction::Take { id, after: Some(index), .. } => {
                // A later release of the same pipe takes the place of the one that is meant, and is after it.
                let mut others = self.released.iter().filter(|((n, _), release)| n == id && release.index >= *index);
                let found = others.find(|(_, release)| release.index == *index);
                match found {
                    Some((_, release)) => Some(Some(release.clock?)),
                    None => Some(None),
                }
            }
            EventAction::Receive { needs, .. } => join(needs.iter().map(|token| line_of(*token)).collect()),
            _ => Some(None),
        }
    }

    /// Whether a pending event precedes this one.
    #[inline]
    fn is_blocked(&self, act: &EventAction) -> bool {
        if self.blocked == 0 {
            return false;
        }
        let own = act.pipe().map_or(0, |pipe| 1 << pipe as u16);
        let is_next = matches!(act, EventAction::Work { part, .. } if part.follows);
        self.blocked & (ALL_BLOCKED | own) != 0 || act.meets() || is_next && self.is_handing
    }

    /// Notes that an event has to wait.
    fn block(&mut self, act: &EventAction) {
        self.is_handing |= matches!(act, EventAction::Work { part, .. } if part.leads);
        self.blocked |= act.pipe().map_or(0, |pipe| 1 << pipe as u16);
        if act.issues() || self.automatic {
            self.blocked |= ALL_BLOCKED;
        }
    }

    /// Keeps an event for later.
    pub fn keep(&mut self, event: Event) {
        self.block(&event.act);
        self.pending.push_back(event);
    }

    /// Begins to look through what waits once more.
    pub fn again(&mut self) -> VecDeque<Event> {
        self.blocked = 0;
        self.is_handing = false;
        std::mem::take(&mut self.pending)
    }

    /// An event happens, if everything that it waits for has.
    #[inline]
    pub fn happens(&mut self, act: &EventAction, line_of: impl Fn(Token) -> Option<Clock<W>>) -> Option<Happens<W>> {
        if self.is_blocked(act) {
            return None;
        }
        let incoming = match act {
            EventAction::Work { named, .. } if named.is_empty() => None,
            EventAction::Set { .. } | EventAction::Barrier(_) => None,
            _ => self.incoming(act, line_of)?,
        };
        let mut clock = self.issued;
        if let Some(incoming) = &incoming {
            clock.join(incoming);
        }
        if act.meets() {
            return Some(self.meet(act, clock));
        }
        let Some(pipe) = act.pipe() else {
            self.issued.join(&clock);
            return Some(Happens { clock, at: None });
        };
        if let EventAction::Work { part, .. } = act {
            if part.follows {
                clock.join(&self.handed);
            }
            if part.leads {
                return Some(self.phase(act, pipe, clock));
            }
        }
        let (own, in_order) = (lane(self.process, pipe), self.in_order[pipe as usize]);
        let line = &mut self.lines[pipe as usize];
        let position = line.count;
        line.count += 1;
        clock.join(&line.base);
        let closes = in_order || act.closes();
        if closes {
            if !in_order {
                clock.join(&line.all);
            }
            clock.raise(own, position);
        }
        let mut out = clock;
        if closes {
            out.raise(own, position + 1);
        }
        if in_order {
            line.base = out;
        } else {
            line.all.join(&out);
            if act.opens() {
                line.base.join(&out);
            }
        }
        if self.automatic || act.issues() {
            self.issued.join(&out);
        }
        self.leave(act, &out);
        Some(Happens { clock, at: Some((own, position)) })
    }

    /// A phase that another one follows.
    fn phase(&mut self, act: &EventAction, pipe: Pipe, mut clock: Clock<W>) -> Happens<W> {
        let (own, position) = (phase_lane(self.process), self.phases);
        self.phases += 1;
        let line = &mut self.lines[pipe as usize];
        clock.join(&line.base);
        let mut out = clock;
        out.raise(own, position + 1);
        if self.in_order[pipe as usize] {
            clock.raise(lane(self.process, pipe), line.count);
            out.raise(lane(self.process, pipe), line.count);
            line.base = out;
        } else {
            line.all.join(&out);
        }
        if self.automatic || act.issues() {
            self.issued.join(&out);
        }
        self.handed = out;
        Happens { clock, at: Some((own, position)) }
    }

    /// Everything before is done, and everything later starts after it.
    fn meet(&mut self, act: &EventAction, mut clock: Clock<W>) -> Happens<W> {
        for pipe in Pipe::ALL {
            let line = &self.lines[*pipe as usize];
            clock.join(&line.base);
            clock.join(&line.all);
            clock.raise(lane(self.process, *pipe), line.count);
        }
        clock.raise(phase_lane(self.process), self.phases);
        let mut out = clock;
        let at = act.pipe().map(|pipe| {
            let line = &mut self.lines[pipe as usize];
            line.count += 1;
            let own = lane(self.process, pipe);
            out.raise(own, line.count);
            (own, line.count - 1)
        });
        for line in &mut self.lines {
            (line.base, line.all) = (out, out);
        }
        self.issued = out;
        Happens { clock, at }
    }

    /// Leaves behind what others wait for.
    fn leave(&mut self, act: &EventAction, out: &Clock<W>) {
        match act {
            EventAction::Set { flag, number, records, .. } => {
                let state = &mut self.flags[*flag as usize];
                if let Some(set) = state.token(*number) {
                    set.clock = Some(*out);
                }
                if let Some(event) = records.and_then(|n| self.named.get_mut(n as usize)) {
                    *event = Some(*out);
                }
            }
            EventAction::Wait { flag, number, .. } => {
                let state = &mut self.flags[*flag as usize];
                if let Some(set) = state.token(*number) {
                    set.taken = true;
                }
                while state.tokens.front().is_some_and(|set| set.taken) {
                    state.tokens.pop_front();
                    state.first += 1;
                }
            }
            EventAction::Release { pipe, id } => {
                if let Some(release) = self.released.get_mut(&(*id, *pipe)) {
                    release.clock = Some(*out);
                }
            }
            _ => {}
        }
    }
}
