//! Tokens between cores while a run goes on (sync.md 5, isa/structure.md 6).

use super::event::Point;
use super::vector_clock::{Clock, Lane};
use crate::explore::Core;
use crate::fifo_slots::FifoSlots;
use crate::trace::Line;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use tessera_isa::sem::Dir;

/// A counter of tokens holds no more than this.
const MOST: u64 = 15;

/// One token: who gives it, on which line, and its number there.
pub type Token = (usize, Line, u64);

/// The tokens that a wait needs.
pub type Needs = Vec<Token>;

/// A token that was given.
#[derive(Clone, Debug)]
struct Given<const W: usize> {
    /// The clock that it carries; none while it is not given yet.
    clock: Option<Clock<W>>,
    takes: u8,
    by: Point,
}

/// The tokens of one process on one line, from the first that some receiver has not taken.
#[derive(Clone, Debug)]
struct Sent<const W: usize> {
    first: u64,
    tokens: VecDeque<Given<W>>,
    is_told: bool,
}

impl<const W: usize> Default for Sent<W> {
    fn default() -> Self {
        Sent { first: 0, tokens: VecDeque::new(), is_told: false }
    }
}

/// Waits of one process on one line: how many, and where the last ones stand.
#[derive(Clone, Debug, Default)]
struct Received {
    count: u64,
    /// By number modulo sixteen: the number, and its place.
    last: [Option<(u64, Lane, u32)>; 16],
}

/// The vector cores that have a part in every tile of a FIFO.
fn vectors(both: bool) -> &'static [Core] {
    if both { &[Core::Vector(0), Core::Vector(1)] } else { &[Core::Vector(0)] }
}

/// Everything between the cores of a block.
#[derive(Clone, Debug)]
pub struct Lines<const W: usize> {
    cores: Vec<Core>,
    sent: FxHashMap<(usize, Line), Sent<W>>,
    received: FxHashMap<(usize, Line), Received>,
    /// Tokens that may be one too many: who gives them.
    pub too_many: Vec<(usize, Line, Point)>,
}

impl<const W: usize> Lines<W> {
    pub fn new(cores: Vec<Core>) -> Lines<W> {
        let (sent, received, too_many) = Default::default();
        Lines { cores, sent, received, too_many }
    }

    fn process(&self, core: Core) -> Option<usize> {
        self.cores.iter().position(|c| *c == core)
    }

    fn count(&self, core: Core, line: Line) -> u64 {
        let sent = self.process(core).and_then(|p| self.sent.get(&(p, line)));
        sent.map_or(0, |sent| sent.first + sent.tokens.len() as u64)
    }

    /// A process comes to a token that it gives; its number.
    pub fn gives(&mut self, process: usize, line: Line, by: Point) -> u64 {
        let sent = self.sent.entry((process, line)).or_default();
        sent.tokens.push_back(Given { clock: None, takes: 0, by });
        sent.first + sent.tokens.len() as u64 - 1
    }

    /// A process comes to a wait: what it needs.
    pub fn takes(&mut self, process: usize, line: Line, slots: &[FifoSlots]) -> Needs {
        let core = self.cores[process];
        let fifo = |n: usize| slots.get(n).map(|s| (s.fifo.dir, s.both, s.fifo.slots));
        let (line, from, number): (Line, SmallVec<[Core; 2]>, u64) = match line {
            Line::Ready(n) => {
                let (dir, both, _) = fifo(n).unwrap_or((Dir::C2v, false, 0));
                let from = if dir == Dir::C2v { &[Core::Cube] } else { vectors(both) };
                (line, SmallVec::from_slice(from), self.next(process, line))
            }
            Line::Free(n) => {
                let (dir, both, free) = fifo(n).unwrap_or((Dir::C2v, false, 0));
                let from = if dir == Dir::V2c { &[Core::Cube] } else { vectors(both) };
                // At first all slots are free.
                let Some(number) = self.next(process, line).checked_sub(free) else { return Needs::new() };
                (line, SmallVec::from_slice(from), number)
            }
            Line::Meeting { group, .. } => (line, SmallVec::from_slice(group.cores()), self.next(process, line)),
            Line::Token { id, wide: true, .. } => {
                let named = |meets: bool| Line::Token { id, meets, wide: true };
                let (plain, meets) = (named(false), named(true));
                let vectors = [Core::Vector(0), Core::Vector(1)];
                let (own, other): (&[Core], &[Core]) =
                    if core == Core::Cube { (&[Core::Cube], &vectors) } else { (&vectors, &[Core::Cube]) };
                // Tokens of a meeting are served first, as in a run.
                let met = self.received.get(&(process, meets)).map_or(0, |r| r.count);
                match own.iter().all(|core| self.count(*core, meets) > met) {
                    true => (meets, SmallVec::from_slice(own), self.next(process, meets)),
                    false => (plain, SmallVec::from_slice(other), self.next(process, plain)),
                }
            }
            Line::Token { id, .. } => {
                let number = self.next(process, line);
                let (from, id) = match core {
                    Core::Vector(n) => (Core::Cube, id + 16 * i64::from(n)),
                    _ => (Core::Vector(u8::from(id >= 16)), id % 16),
                };
                (Line::Token { id, meets: false, wide: false }, SmallVec::from_slice(&[from]), number)
            }
        };
        from.iter().filter_map(|core| Some((self.process(*core)?, line, number))).collect()
    }

    fn next(&mut self, process: usize, line: Line) -> u64 {
        let received = self.received.entry((process, line)).or_default();
        received.count += 1;
        received.count - 1
    }

    /// The clock that a token carries, once it is given.
    pub fn clock(&self, (process, line, number): Token) -> Option<&Clock<W>> {
        let sent = self.sent.get(&(process, line))?;
        sent.tokens.get(usize::try_from(number.checked_sub(sent.first)?).ok()?)?.clock.as_ref()
    }

    /// The number of receivers of a token of this process.
    fn readers(&self, process: usize, line: Line, slots: &[FifoSlots]) -> SmallVec<[(Core, Line); 2]> {
        let core = self.cores[process];
        let to = |cores: &[Core], line: Line| cores.iter().map(|core| (*core, line)).collect();
        let fifo = |n: usize| slots.get(n).map_or((Dir::C2v, false), |s| (s.fifo.dir, s.both));
        match line {
            Line::Ready(n) => match fifo(n) {
                (Dir::C2v, both) => to(vectors(both), line),
                _ => to(&[Core::Cube], line),
            },
            Line::Free(n) => match fifo(n) {
                (Dir::V2c, both) => to(vectors(both), line),
                _ => to(&[Core::Cube], line),
            },
            Line::Meeting { group, .. } => to(group.cores(), line),
            Line::Token { id, meets, wide } => {
                let named = |id: i64| Line::Token { id, meets, wide };
                let vectors = [Core::Vector(0), Core::Vector(1)];
                match (wide, core) {
                    (true, Core::Cube) if meets => to(&[Core::Cube], named(id)),
                    (true, Core::Cube) => to(&vectors, named(id)),
                    (true, _) if meets => to(&vectors, named(id)),
                    (true, _) => to(&[Core::Cube], named(id)),
                    (_, Core::Vector(n)) => to(&[Core::Cube], named(id + 16 * i64::from(n))),
                    _ => to(&[Core::Vector(u8::from(id >= 16))], named(id % 16)),
                }
            }
        }
    }

    /// A token is given, after what this clock says.
    pub fn given(&mut self, (process, line, number): Token, clock: &Clock<W>, slots: &[FifoSlots]) {
        if let (Line::Token { .. }, Some(before)) = (line, number.checked_sub(MOST)) {
            let is_taken = |(core, line): &(Core, Line)| {
                let received = self.process(*core).and_then(|p| self.received.get(&(p, *line)));
                let last = received.and_then(|r| r.last[before as usize % 16]);
                last.is_some_and(|(n, lane, position)| n == before && clock.has(lane, position))
            };
            let is_full = !self.readers(process, line, slots).iter().all(is_taken);
            if let Some(sent) = self.sent.get_mut(&(process, line)).filter(|sent| is_full && !sent.is_told) {
                sent.is_told = true;
                let at = number.checked_sub(sent.first).and_then(|n| sent.tokens.get(n as usize));
                self.too_many.extend(at.map(|given| (process, line, given.by)));
            }
        }
        if let Some(sent) = self.sent.get_mut(&(process, line))
            && let Some(token) = number.checked_sub(sent.first).and_then(|n| sent.tokens.get_mut(n as usize))
        {
            token.clock = Some(*clock);
        }
    }

    /// A wait took its tokens, at this place.
    pub fn taken(&mut self, process: usize, needs: &Needs, (lane, position): (Lane, u32), slots: &[FifoSlots]) {
        for (from, line, number) in needs {
            let readers = self.readers(*from, *line, slots);
            if let Line::Token { .. } = line
                && let Some((_, own)) = readers.iter().find(|(core, _)| self.process(*core) == Some(process))
                && let Some(received) = self.received.get_mut(&(process, *own))
            {
                received.last[*number as usize % 16] = Some((*number, lane, position));
            }
            let Some(sent) = self.sent.get_mut(&(*from, *line)) else { continue };
            if let Some(token) = number.checked_sub(sent.first).and_then(|n| sent.tokens.get_mut(n as usize)) {
                token.takes += 1;
            }
            while sent.tokens.front().is_some_and(|token| usize::from(token.takes) >= readers.len()) {
                sent.tokens.pop_front();
                sent.first += 1;
            }
        }
    }

    /// Whether every token was taken; of slots those that say that they are filled.
    pub fn is_drained(&self) -> bool {
        self.sent.iter().all(|((_, line), sent)| matches!(line, Line::Free(_)) || sent.tokens.is_empty())
    }

    /// The first token of each line that some receiver has not taken.
    pub fn left(&self) -> Vec<(usize, Line, Point)> {
        let is_token = |((_, line), _): &(&(usize, Line), &Sent<W>)| matches!(line, Line::Token { .. });
        let first = |((process, line), sent): (&(usize, Line), &Sent<W>)| {
            sent.tokens.front().map(|token| (*process, *line, token.by))
        };
        self.sent.iter().filter(is_token).filter_map(first).collect()
    }

    /// Every line that tokens were given on.
    pub fn lines(&self) -> impl Iterator<Item = &(usize, Line)> {
        self.sent.keys()
    }
}
