//! Tokens between cores (sync.md 5, isa/structure.md 6): which event lets which one go on.

use crate::explore::{Core, PathChoices};
use crate::happens_before::{HappensBefore, Node};
use crate::trace::{Kind, Line, Trace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::Fifos;
use tessera_isa::profile::Profile;
use tessera_isa::sem::Dir;

/// An event of a process.
pub type EventRef = (usize, usize);

/// The tokens that a wait needs.
type Needs = SmallVec<[EventRef; 2]>;

/// A counter of tokens holds no more than this.
const MOST: usize = 15;

/// Tokens between the processes of a kernel.
#[derive(Debug, Default)]
pub struct Channels {
    /// By wait: what must be done; none where nothing ever comes.
    pub needs: FxHashMap<EventRef, Option<Needs>>,
    /// Tokens that some receiver has not taken.
    pub left: Vec<EventRef>,
    /// The givers to a counter and its takers, in order.
    counters: Vec<(Vec<EventRef>, Vec<EventRef>)>,
}

struct Lines<'a> {
    traces: &'a [&'a Trace],
    profile: Profile,
    fifos: &'a Fifos,
    sent: FxHashMap<(usize, Line), Vec<EventRef>>,
    received: FxHashMap<(usize, Line), Vec<EventRef>>,
}

impl Channels {
    pub fn new(traces: &[&Trace], profile: Profile, fifos: &Fifos) -> Channels {
        let (sent, received) = Default::default();
        let mut lines = Lines { traces, profile, fifos, sent, received };
        for (process, trace) in traces.iter().enumerate() {
            for (event, kind) in trace.events.iter().map(|e| e.kind).enumerate() {
                match kind {
                    Kind::Send(line) => lines.sent.entry((process, line)).or_default().push((process, event)),
                    Kind::Receive(line) => lines.received.entry((process, line)).or_default().push((process, event)),
                    _ => {}
                }
            }
        }
        lines.pair()
    }

    /// The edges between processes whose first nodes are given.
    pub fn edges(&self, first: &[Node]) -> Vec<(Node, Node)> {
        let node = |at: &EventRef| first[at.0] + at.1;
        let needs = self.needs.iter().flat_map(|(to, needs)| needs.iter().flatten().map(move |from| (from, to)));
        let mut edges: Vec<(Node, Node)> = needs.map(|(from, to)| (node(from), node(to))).collect();
        edges.sort_unstable();
        edges
    }

    /// Whether a process waits for ever: for a token that never comes, or that comes only after the wait. If the
    /// processes reach their ends when their operations run one after the other, a flag is the cause.
    pub fn stops(&self, traces: &[&Trace], order: &HappensBefore) -> bool {
        self.needs.values().any(Option::is_none)
            || self.edges(&order.first).iter().any(|(from, to)| order.stuck.together(*from, *to))
                && self.standstill(traces).iter().any(Option::is_some)
    }

    /// The first token for each counter that may be one too many.
    pub fn overflows(&self, order: &HappensBefore) -> Vec<EventRef> {
        let node = |at: &EventRef| order.first[at.0] + at.1;
        let is_full = |(k, gives): &(usize, &EventRef), takes: &[EventRef]| match takes.get(k - MOST) {
            Some(taken) => !order.precedes(node(taken), node(gives)),
            None => true,
        };
        let first = |(gives, takes): &(Vec<EventRef>, Vec<EventRef>)| {
            gives.iter().enumerate().skip(MOST).find(|one| is_full(one, takes)).map(|(_, at)| *at)
        };
        self.counters.iter().filter_map(first).collect()
    }

    /// Asks for runs so long that a counter overflows which holds more tokens after each period of a loop: on a path on
    /// which every loop runs as often as it is tried.
    pub fn ask(&self, traces: &[&Trace], order: &HappensBefore, choices: &mut PathChoices) {
        if traces.iter().flat_map(|t| &t.open).any(|open| open.trips < open.tried) {
            return;
        }
        let node = |at: &EventRef| order.first[at.0] + at.1;
        let turns = |at: &EventRef| traces[at.0].turns[traces[at.0].events[at.1].turn as usize].as_slice();
        for (gives, takes) in &self.counters {
            let held = |k: usize| {
                let taken = takes.iter().filter(|take| order.precedes(node(take), node(&gives[k]))).count();
                (k + 1).saturating_sub(taken)
            };
            let Some(last) = gives.len().checked_sub(1) else { continue };
            let trace = traces[gives[last].0];
            for (level, (op, turn)) in turns(&gives[last]).iter().enumerate() {
                let Some(open) = trace.open.iter().find(|open| open.op == *op) else { continue };
                let mut before = turns(&gives[last]).to_vec();
                before[level].1 = turn.saturating_sub(open.period);
                let is_before =
                    |at: &&EventRef| trace.events[at.1].op == trace.events[gives[last].1].op && turns(at) == before;
                let Some(k) = gives[..last].iter().rposition(|at| is_before(&at)) else { continue };
                let (now, more) = (held(last), held(last).saturating_sub(held(k)));
                if more > 0 && now <= MOST {
                    let periods = (MOST + 1 - now).div_ceil(more) as u64;
                    choices.also(&open.key, open.trips + periods * open.period);
                }
            }
        }
    }

    /// The position of every process when none can go on: the event it waits in, or none if it has ended.
    pub fn standstill(&self, traces: &[&Trace]) -> Vec<Option<usize>> {
        let mut at = vec![0; traces.len()];
        loop {
            let before = at.clone();
            for process in 0..traces.len() {
                while at[process] < traces[process].events.len() {
                    let is_there = |need: &EventRef| at[need.0] > need.1;
                    match self.needs.get(&(process, at[process])) {
                        Some(None) => break,
                        Some(Some(needs)) if !needs.iter().all(is_there) => break,
                        _ => at[process] += 1,
                    }
                }
            }
            if at == before {
                return at.into_iter().zip(traces).map(|(at, t)| Some(at).filter(|at| *at < t.events.len())).collect();
            }
        }
    }
}

impl Lines<'_> {
    fn of(&self, core: Core, line: Line) -> &[EventRef] {
        let process = self.traces.iter().position(|t| t.core == core);
        process.and_then(|p| self.sent.get(&(p, line))).map_or(&[], Vec::as_slice)
    }

    /// The tokens of both vector cores, in order.
    fn both(&self, line: Line) -> Vec<Needs> {
        let [a, b] = [0, 1].map(|n| self.of(Core::Vector(n), line));
        a.iter().zip(b).map(|(a, b)| SmallVec::from_slice(&[*a, *b])).collect()
    }

    fn one(&self, core: Core, line: Line) -> Vec<Needs> {
        self.of(core, line).iter().map(|at| SmallVec::from_slice(&[*at])).collect()
    }

    /// The vector cores that give tokens of a FIFO: both if both own a part of every tile.
    fn vectors(&self, split: u8, line: Line) -> Vec<Needs> {
        match split != 0 || self.profile == Profile::A2a3 {
            true => self.both(line),
            false => self.one(Core::Vector(0), line),
        }
    }

    /// The tokens for a process, one after the other.
    fn tokens(&self, core: Core, line: Line) -> Vec<Needs> {
        match line {
            Line::Ready(n) => match self.fifos.list[n].dir {
                Dir::C2v => self.one(Core::Cube, line),
                Dir::V2c => self.vectors(self.fifos.list[n].split, line),
            },
            Line::Free(n) => {
                let fifo = &self.fifos.list[n];
                let freed = match fifo.dir {
                    Dir::C2v => self.vectors(fifo.split, line),
                    Dir::V2c => self.one(Core::Cube, line),
                };
                // At first all slots are free.
                let waits = self.received.values().map(Vec::len).max().unwrap_or(0);
                let free = usize::try_from(fifo.slots).unwrap_or(usize::MAX).min(waits);
                std::iter::repeat_n(Needs::new(), free).chain(freed).collect()
            }
            Line::Meeting { group, .. } => {
                let sent: Vec<&[EventRef]> = group.cores().iter().map(|core| self.of(*core, line)).collect();
                let count = sent.iter().map(|sent| sent.len()).min().unwrap_or(0);
                (0..count).map(|n| sent.iter().filter_map(|sent| sent.get(n).copied()).collect()).collect()
            }
            Line::Token { id, wide: true, .. } => {
                let line = |meets: bool| Line::Token { id, meets, wide: true };
                let (plain, meets) = (line(false), line(true));
                match core {
                    Core::Cube => [self.one(Core::Cube, meets), self.both(plain)].concat(),
                    _ => [self.one(Core::Cube, plain), self.both(meets)].concat(),
                }
            }
            Line::Token { id, .. } => match core {
                Core::Vector(n) => {
                    self.one(Core::Cube, Line::Token { id: id + 16 * i64::from(n), meets: false, wide: false })
                }
                _ => {
                    let from = Core::Vector(u8::from(id >= 16));
                    self.one(from, Line::Token { id: id % 16, meets: false, wide: false })
                }
            },
        }
    }

    /// The receivers of a token, and their name for it.
    fn readers(&self, core: Core, id: i64, (meets, wide): (bool, bool)) -> SmallVec<[(Core, Line); 2]> {
        let line = |id: i64| Line::Token { id, meets: false, wide };
        let both = || SmallVec::from_slice(&[(Core::Vector(0), line(id)), (Core::Vector(1), line(id))]);
        let one = |core: Core, id: i64| SmallVec::from_slice(&[(core, line(id))]);
        match (wide, core) {
            (true, Core::Cube) if meets => one(Core::Cube, id),
            (true, Core::Cube) => both(),
            (true, _) if meets => both(),
            (true, _) => one(Core::Cube, id),
            (_, Core::Vector(n)) => one(Core::Cube, id + 16 * i64::from(n)),
            _ => one(Core::Vector(u8::from(id >= 16)), id % 16),
        }
    }

    fn pair(&self) -> Channels {
        let mut between = Channels::default();
        let mut taken: FxHashMap<EventRef, usize> = FxHashMap::default();
        let mut received: Vec<_> = self.received.iter().collect();
        received.sort_unstable_by_key(|(_, waits)| waits.first().copied());
        for ((process, line), waits) in received {
            let tokens = self.tokens(self.traces[*process].core, *line);
            for (n, wait) in waits.iter().enumerate() {
                let needs = tokens.get(n);
                needs.into_iter().flatten().for_each(|at| *taken.entry(*at).or_default() += 1);
                between.needs.insert(*wait, needs.cloned());
            }
        }
        for ((process, line), sends) in &self.sent {
            let Line::Token { id, meets, wide } = *line else { continue };
            let readers = self.readers(self.traces[*process].core, id, (meets, wide));
            let is_left = |at: &&EventRef| taken.get(*at).copied().unwrap_or(0) < readers.len();
            between.left.extend(sends.iter().find(is_left));
            for (core, line) in readers {
                let reader = self.traces.iter().position(|t| t.core == core);
                let waits = reader.and_then(|reader| self.received.get(&(reader, line)));
                between.counters.push((sends.clone(), waits.cloned().unwrap_or_default()));
            }
        }
        between.left.sort_unstable();
        between
    }
}
