//! The trace of one process on one path: its instructions and synchronisation operations in program order, with the
//! bytes that they access.

use crate::explore::{Core, SymbolicLoop};
use crate::footprint::Ranges;
use crate::linear_expr::{LinearExpr, Terms};
use crate::vecscope::InScope;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::{FifoId, OpId, ValueId};
use tessera_isa::diag::Span;
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::tile::Loc;

/// A memory, or a part of one that other parts cannot reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    /// A memory of a core, of which vector cores have one each.
    Chip(Loc, u8),
    /// The buffer behind an argument.
    Buffer(ValueId),
    /// Addresses that are numbers.
    Anywhere,
    /// The storage of a tile without an address.
    Tile(ValueId),
}

/// The start of a place, in bits.
pub type Place = tessera_absint::Place<LinearExpr, Root>;

/// The number of a set of bytes; equal numbers are equal sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(pub u32);

/// Bytes of a root. Sets whose symbols differ cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    pub root: Root,
    pub terms: Terms,
    pub ranges: SmallVec<[(i64, i64); 2]>,
}

impl Bytes {
    /// From the first byte to one past the last.
    pub fn span(&self) -> (i64, i64) {
        (self.ranges.first().map_or(0, |r| r.0), self.ranges.last().map_or(0, |r| r.1))
    }
}

/// The number of places with lists of ranges that are remembered.
const MAX_KNOWN: usize = 1 << 16;

/// All sets of bytes, each stored once. Sets found on one path are known on later ones, which number their sets anew.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    all: Vec<Bytes>,
    numbers: FxHashMap<Bytes, u32>,
    /// The same by place and by the very list of ranges, which is kept so that no other one lies where it does.
    known: FxHashMap<(Root, Terms, i64, usize), (u32, Ranges)>,
    /// By number on this path: which one of all it is.
    here: Vec<u32>,
    /// By all sets: their numbers on this path, if they have any.
    given: Vec<Option<SetId>>,
}

impl Sets {
    /// Another path begins, on which sets are counted from 0.
    pub fn restart(&mut self) {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.here.drain(..).for_each(|set| self.given[set as usize] = None);
    }

    /// The number of the set of ranges from a place on.
    pub fn of(&mut self, place: &Place, ranges: &Ranges) -> SetId {
        let start = place.at.byte();
        let key = (place.root, place.at.terms.clone(), start, ranges.as_ptr() as usize);
        let set = match self.known.get(&key) {
            Some((set, _)) => *set,
            None => {
                let set = self.number(place, start, ranges);
                if self.known.len() < MAX_KNOWN {
                    self.known.insert(key, (set, ranges.clone()));
                }
                set
            }
        };
        self.given(set)
    }

    /// The number on this path of one of all sets.
    pub fn given(&mut self, set: u32) -> SetId {
        *self.given[set as usize].get_or_insert_with(|| {
            self.here.push(set);
            SetId(self.here.len() as u32 - 1)
        })
    }

    /// Its number among all sets, independent of the path.
    pub fn which(&self, id: SetId) -> u32 {
        self.here[id.0 as usize]
    }

    fn number(&mut self, place: &Place, start: i64, ranges: &Ranges) -> u32 {
        let moved = |(from, to): &(i64, i64)| (from.saturating_add(start), to.saturating_add(start));
        let set = Bytes { root: place.root, terms: place.at.terms.clone(), ranges: ranges.iter().map(moved).collect() };
        *self.numbers.entry(set).or_insert_with_key(|set| {
            self.all.push(set.clone());
            self.given.push(None);
            self.all.len() as u32 - 1
        })
    }

    /// The set of a number.
    pub fn get(&self, id: SetId) -> &Bytes {
        &self.all[self.which(id) as usize]
    }
}

/// The access of one operand of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub set: SetId,
    pub writes: bool,
    /// Whether it adds atomically.
    pub adds: bool,
    /// Whether these are the exact bytes, not an upper bound.
    pub exact: bool,
    /// Whether they are touched if every row and column is valid, which a run decides.
    pub if_valid: bool,
    /// The operand, for messages, and its first byte.
    pub role: Role,
    pub start: i64,
}

impl Access {
    /// Whether the bytes are touched, at least where every row is valid.
    pub fn is_definite(&self) -> bool {
        self.exact || self.if_valid
    }
}

/// A flag of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// From one pipe to another, with an id.
    Pipes(Pipe, Pipe, LinearExpr),
    /// Between cores, with an id.
    Cores(LinearExpr),
    /// One that an instruction uses inside: its wait follows its set at once (isa/today.md 8.1).
    Inner(Pipe, Pipe),
}

/// Cores of a block that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    Cube,
    Vector,
    All,
}

impl Group {
    /// The group that a word of `syncall` names.
    pub fn of(word: &str) -> Group {
        match word {
            "aic_only" => Group::Cube,
            "aiv_only" => Group::Vector,
            _ => Group::All,
        }
    }

    /// Its cores, where a block has three.
    pub fn cores(self) -> &'static [Core] {
        match self {
            Group::Cube => &[Core::Cube],
            Group::Vector => &[Core::Vector(0), Core::Vector(1)],
            Group::All => &[Core::Cube, Core::Vector(0), Core::Vector(1)],
        }
    }
}

/// The kinds of tokens between cores (sync.md 5, isa/structure.md 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// `sync.set` and `sync.wait` of an id, whether the set stands for a meeting of cores of one kind, and whether it is as
    /// on a2a3 (isa/today.md 8.3).
    Token { id: i64, meets: bool, wide: bool },
    /// A meeting of a group of cores, with an id.
    Meeting { group: Group, id: i64 },
    /// Tiles that were pushed.
    Ready(FifoId),
    /// FifoSlots that are free again.
    Free(FifoId),
}

/// The role of an event in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Work,
    /// A phase of an instruction; the next event is the phase after it, which starts when it is done.
    Phase,
    /// Gives a token of the flag of this number.
    Set(u32),
    Wait(u32),
    Barrier,
    /// Takes, and gives back, the token of the buffer of this number.
    Take(u32),
    Release(u32),
    /// Gives a token to another core.
    Send(Line),
    /// Takes one.
    Receive(Line),
    /// It is before everything later; before it are those that it names.
    Joins,
    /// Everything before it is done before it, and it before everything later.
    Meets,
}

impl Kind {
    /// Whether it is an instruction, or a phase of one.
    pub fn is_work(self) -> bool {
        matches!(self, Kind::Work | Kind::Phase)
    }

    /// The buffer whose token it takes or gives back.
    pub fn buffer(self) -> Option<u32> {
        match self {
            Kind::Take(id) | Kind::Release(id) => Some(id),
            _ => None,
        }
    }
}

/// One instruction or order operation, once.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub op: OpId,
    /// The pipe that it is on; none is all of them.
    pub pipe: Option<Pipe>,
    pub kind: Kind,
    /// The number of its iteration in [`Trace::turns`].
    pub turn: u32,
    /// Its accesses, in [`Trace::accesses`].
    pub accesses: (u32, u32),
}

/// The lanes in which a process counts its events: the pipes, and one for phases that another one follows. What is done of
/// the last is always the first so many: each is done before anything that the next one is before.
pub const LANES: usize = Pipe::ALL.len() + 1;
/// The lane of phases.
pub const PHASES: usize = Pipe::ALL.len();

impl Event {
    /// The lane that counts it; none where it is on all pipes.
    pub fn lane(&self) -> Option<usize> {
        let pipe = self.pipe?;
        Some(if self.kind == Kind::Phase { PHASES } else { pipe as usize })
    }
}

/// The cost of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    pub cycles: Option<u64>,
    /// Whether the valid regions of its tiles are known.
    pub sized: bool,
}

/// One moment of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    Begin(OpId),
    Event(u32),
    End(OpId),
}

/// An error of a synchronisation operation by itself.
#[derive(Clone, Debug)]
pub struct Misuse {
    pub rule: &'static str,
    pub op: OpId,
    /// The flag that it is about: each is reported once.
    pub flag: String,
    pub what: String,
    pub help: String,
    /// Whether it is an error on every profile, or only a warning on cpu.
    pub always: bool,
}

/// One process on one path.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub core: Core,
    pub events: Vec<Event>,
    pub accesses: Vec<Access>,
    /// Iterations: the loops around, with their counts from 0.
    pub turns: Vec<SmallVec<[(OpId, u64); 2]>>,
    pub flags: Vec<Flag>,
    /// Events that an event waits for by name.
    pub named: FxHashMap<u32, SmallVec<[u32; 2]>>,
    pub misuses: Vec<Misuse>,
    /// The costs of events, in a run of which everything is known.
    pub costs: FxHashMap<u32, Spent>,
    /// When instructions and control flow begin and end, if that was asked for.
    pub ticks: Vec<Tick>,
    /// The number of operations that were visited.
    pub steps: u64,
    /// The loops whose trip counts were chosen.
    pub open: Vec<SymbolicLoop>,
    /// Loops that run as often as the bound of one around them says, and that one.
    pub rising: FxHashMap<OpId, OpId>,
    /// Whether the order is left to the assembler (sync.md 3).
    pub automatic: bool,
    /// Whether the process meets micro instructions.
    pub is_micro: bool,
    /// Races inside of vecscopes.
    pub scopes: Vec<InScope>,
    /// By instruction: the flags that it uses inside.
    pub hidden: FxHashMap<u32, &'static [(Pipe, Pipe, u8)]>,
    /// What of a vecscope is not known, and why.
    pub unclear: Option<(Span, String)>,
}

impl Trace {
    /// The accesses of an event.
    pub fn accesses_of(&self, event: usize) -> &[Access] {
        let (from, to) = self.events[event].accesses;
        &self.accesses[from as usize..to as usize]
    }
}
