//! Origins: where every byte comes from.
//!
//! A program moves bytes, fills them and computes elements of others, so what a byte *is* can be said without any data: a
//! byte of an input, a constant, undefined, or a function of such bytes. [`Terms`] gives each of these a number, equal
//! things the same one; a [`ProvenanceTracker`] keeps one number per byte of every memory and lets the same nests move them that move
//! the data. Two programs whose outputs have equal numbers are equal **for all inputs**.
//!
//! A [`Log`] also keeps what happened, so that one byte can be followed back to where it came from, or forward to
//! wherever it went.

mod function;
mod log;
mod moves;
mod normal;
mod plane;
mod terms;
mod value;

pub use function::{Converted, Function, Param, Quantized};
pub use log::{ByteAt, Destinations, Event, EventSite, Log, Read, Source, Spot, TileAt, came_from};
pub use terms::{Bound, Bounds, Elements, Mark, Nibble, Term, TermId, Terms, UNDEFINED};
use tessera_kernels::memory::Area;
use tessera_kernels::nest::{Nests, lower_copy};
use tessera_kernels::{MemoryId, Place, is_buffer};
pub use value::Values;

use log::EventKind;
use moves::ReadSource;
use plane::Plane;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_exec::definedness::{DefinednessTransfer, TransferMove, Value};
use tessera_exec::engine::Object;
use tessera_exec::lower::ParamAt;
use tessera_ir::{OpId, ValueId};
use tessera_isa::elem::Elem;
use tessera_isa::layout::Layout;

/// The bytes that follow a byte. They may take as much memory as the terms.
const BYTES: u64 = size_of::<TermId>() as u64;

/// As many bytes are copied with the work of one operand.
const COPIED: u64 = 32;

/// The memory that stands for what is given to an input tile.
pub fn given(value: ValueId) -> MemoryId {
    MemoryId::given(value.index() as u32)
}

/// The effect of an action on provenance.
pub type Moves = Arc<[DefinednessTransfer]>;

/// Something that came out, by origins.
#[derive(Clone, Debug)]
pub struct Output {
    pub value: ValueId,
    pub core: u8,
    /// Rows of the valid region; a buffer is one row.
    pub rows: u64,
    /// Columns of the valid region.
    pub cols: u64,
    /// The type of its elements.
    pub elem: Elem,
    /// One origin per byte, elements row by row.
    pub origins: Vec<TermId>,
}

/// The reason why a program cannot be evaluated for all inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The operation that depends on data.
    pub op: Option<OpId>,
    pub why: String,
}

/// A moment of a run: the number of instructions that a block has run. Blocks do not see each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub block: u32,
    pub instructions: u64,
}

/// Follows every byte of a run.
#[derive(Clone, Debug, Default)]
pub struct ProvenanceTracker {
    pub terms: Terms,
    /// The event log, if it is requested.
    pub log: Option<Log>,
    /// The first thing that data decided, if any.
    pub undecided: Option<Undecided>,
    /// Buffers and wanted tiles when everything was done.
    pub outputs: Vec<Output>,
    /// The printed elements, in order.
    pub printed: Vec<Output>,
    /// The end of the run, if it stops before the end of the program.
    pub until: Option<Moment>,
    /// Instructions of the block that have run.
    issued: u64,
    /// Instructions of the blocks before.
    earlier: u64,
    /// By tile: a hash of the terms of its valid region at its last write, if requested.
    pub contents: Option<FxHashMap<ValueId, u64>>,
    /// The input number of each argument.
    inputs: Vec<(ValueId, u32)>,
    planes: FxHashMap<MemoryId, Plane>,
    /// By memory: the input that its first contents are.
    sources: FxHashMap<MemoryId, u32>,
    /// The buffers as earlier blocks left them.
    merged: FxHashMap<MemoryId, Plane>,
    /// The bytes of buffers that this block wrote.
    written: Vec<(MemoryId, usize, usize)>,
    /// Instructions made ready, by site and operands.
    pub ready: FxHashMap<(usize, Box<[u64]>), Moves>,
    pub now: EventSite,
}

impl ProvenanceTracker {
    /// A watch over a program whose arguments have these input numbers.
    pub fn new(mut terms: Terms, inputs: Vec<(ValueId, u32)>, log: bool) -> Self {
        terms.begin();
        ProvenanceTracker { terms, inputs, log: log.then(Log::default), ..ProvenanceTracker::default() }
    }

    /// The argument whose input number this is.
    pub fn argument(&self, input: u32) -> Option<ValueId> {
        self.inputs.iter().find(|(_, n)| *n == input).map(|(v, _)| *v)
    }

    /// The first contents of a memory are an argument's.
    pub fn bind(&mut self, memory: MemoryId, value: ValueId) {
        let input = self.inputs.iter().find(|(v, _)| *v == value).map(|(_, n)| *n);
        if let Some(input) = input {
            self.sources.insert(memory, input);
        }
        if let (Some(log), true) = (&mut self.log, is_buffer(memory)) {
            log.memories.insert(memory, value);
        }
    }

    /// A block begins: nothing is on the chip, and buffers hold what they held first.
    pub fn begin_block(&mut self, block: u32) {
        self.now = EventSite { block, ..EventSite::default() };
        self.planes.clear();
        self.written.clear();
        self.earlier += std::mem::take(&mut self.issued);
    }

    /// Whether nothing that happens from now on counts.
    pub fn is_over(&self) -> bool {
        self.undecided.is_some() || self.terms.met().is_some()
    }

    /// The number of instructions of all blocks that have run.
    pub fn instructions(&self) -> u64 {
        self.earlier + self.issued
    }

    /// Records that an instruction ran; returns whether it is the last one that counts.
    pub fn has_reached(&mut self) -> bool {
        self.issued += 1;
        if self.is_over() {
            return true;
        }
        self.until.is_some_and(|until| until.instructions == self.issued)
    }

    /// A block ends: what it wrote stands, over what lower blocks wrote.
    pub fn end_block(&mut self) {
        for (memory, start, len) in std::mem::take(&mut self.written) {
            let end = start.saturating_add(len);
            self.reach(memory, end);
            let mut merged = self.merged.remove(&memory).unwrap_or_default();
            grow(&mut merged, end, self.sources.get(&memory).copied(), &mut self.terms);
            if let Some(plane) = self.planes.get(&memory) {
                merged.copy_from(plane, start, len);
            }
            self.merged.insert(memory, merged);
        }
    }

    /// A buffer when everything is done, at least this long.
    pub fn buffer(&mut self, memory: MemoryId, len: usize) -> Vec<TermId> {
        let mut merged = self.merged.remove(&memory).unwrap_or_default();
        grow(&mut merged, len, self.sources.get(&memory).copied(), &mut self.terms);
        merged.ids().collect()
    }

    /// The run is over: only what came out is needed.
    pub fn end(&mut self) {
        self.planes = FxHashMap::default();
        self.merged = FxHashMap::default();
        self.ready = FxHashMap::default();
    }

    /// Notes that data decides something, unless something did before.
    pub fn undecide(&mut self, why: String) {
        let op = self.now.op;
        self.undecided.get_or_insert(Undecided { op, why });
    }

    fn reach(&mut self, memory: MemoryId, len: usize) {
        let have = self.planes.get(&memory).map_or(0, Plane::len);
        if have >= len {
            return;
        }
        let all: usize = self.planes.values().map(Plane::len).sum();
        let wanted = (all - have).saturating_add(len);
        if wanted as u64 > self.terms.bounds().memory / BYTES {
            self.terms.exceed(Bound::Memory);
            return;
        }
        let plane = self.planes.entry(memory).or_default();
        grow(plane, len, self.sources.get(&memory).copied(), &mut self.terms);
    }

    pub fn is_constant(&mut self, memory: MemoryId, start: usize, len: usize) -> bool {
        self.reach(memory, start.saturating_add(len));
        let plane = self.planes.get(&memory);
        plane.is_some_and(|p| (start..start + len).all(|b| Terms::constant_of(p.get(b)).is_some()))
    }

    /// Bytes begin, undefined.
    pub fn undefined(&mut self, memory: MemoryId, start: usize, len: usize) {
        if let Some(plane) = self.planes.get_mut(&memory) {
            plane.fill(start, len.min(plane.len().saturating_sub(start)), UNDEFINED);
        }
        self.record(EventKind::Begun { memory, start, len });
    }

    /// Bytes become constants.
    pub fn stored(&mut self, memory: MemoryId, start: usize, bytes: &[u8]) {
        self.reach(memory, start.saturating_add(bytes.len()));
        if let Some(plane) = self.planes.get_mut(&memory) {
            for (at, byte) in (start..).zip(bytes) {
                plane.set(at, Terms::constant(*byte));
            }
        }
        self.note_written(memory, start, bytes.len());
        self.record(EventKind::Stored { memory, start, bytes: bytes.into() });
    }

    pub fn give(&mut self, value: ValueId, place: Place, nests: Nests) {
        self.bind(given(value), value);
        let from = Place { memory: given(value), at: 0 };
        let copy = TransferMove::copy(0, 1, nests);
        self.moved(&Moves::from([DefinednessTransfer::Move(Box::new(copy))]), &[from, place], false);
    }

    /// Bytes move as these nests say, all at once where `together`.
    pub fn moved(&mut self, moves: &Moves, places: &[Place], together: bool) {
        if self.terms.met().is_some() {
            // There is no answer any more.
            return;
        }
        let before = together.then(|| self.planes.clone());
        let copied: usize = before.iter().flat_map(|planes| planes.values()).map(Plane::len).sum();
        self.terms.spend(1 + copied as u64 / COPIED);
        for action in moves.iter() {
            self.act(action, places, before.as_ref());
        }
        for action in moves.iter() {
            if let DefinednessTransfer::Clear { operand, area } = action {
                self.clear(moves, *operand, area, places);
            }
        }
        self.record(EventKind::Moved { moves: moves.clone(), places: places.into() });
    }

    fn act(&mut self, action: &DefinednessTransfer, places: &[Place], before: Option<&FxHashMap<MemoryId, Plane>>) {
        let place = |n: u8| places.get(usize::from(n)).copied();
        match action {
            DefinednessTransfer::Move(mv) => self.act_move(mv, places, before),
            DefinednessTransfer::Set { operand, area, pattern } => {
                let Some(to) = place(*operand) else { return };
                self.reach(to.memory, area.end(to.at));
                let Some(plane) = self.planes.get_mut(&to.memory) else {
                    return;
                };
                for (start, len) in area.at(to.at) {
                    for byte in start..start + len {
                        plane.set(byte, Terms::constant(pattern.byte(byte - to.at)));
                    }
                }
            }
            DefinednessTransfer::Clear { .. } => {}
        }
    }

    fn act_move(&mut self, mv: &TransferMove, places: &[Place], before: Option<&FxHashMap<MemoryId, Plane>>) {
        let place = |n: u8| places.get(usize::from(n)).copied();
        let Some(to) = place(mv.dst) else { return };
        let mut reads: SmallVec<[Place; 3]> = SmallVec::new();
        for (operand, area) in mv.reads.iter().map(|(o, a)| (*o, a)).chain([(mv.dst, &mv.to)]) {
            let Some(at) = place(operand) else { return };
            self.reach(at.memory, area.end(at.at));
            reads.push(at);
        }
        reads.pop();
        let params = match &mv.value {
            Value::Converted(_, ParamAt::Tile { operand, offset, count }) => place(*operand).map(|at| {
                self.reach(at.memory, at.at + offset + count * 8);
                Place { memory: at.memory, at: at.at + offset }
            }),
            _ => None,
        };
        let Some(mut dst) = self.planes.remove(&to.memory) else {
            return;
        };
        {
            let others = before.unwrap_or(&self.planes);
            let from = |at: Place| {
                let within = before.is_none() && at.memory == to.memory;
                ReadSource { plane: if within { None } else { others.get(&at.memory) }, at: at.at }
            };
            let reads: SmallVec<[ReadSource<'_>; 3]> = reads.into_iter().map(from).collect();
            moves::run(mv, &reads, params.map(from), (&mut dst, to.at), &mut self.terms);
        }
        self.planes.insert(to.memory, dst);
        let moved = mv.nests.iter().fold(0u64, |n, nest| n.saturating_add(nest.elements()));
        self.terms.spend(moved / COPIED);
        for (start, len) in mv.to.at(to.at) {
            self.note_written(to.memory, start, len);
        }
    }

    /// A footprint: what the instruction does not write of it becomes undefined (ops.md 1.3).
    fn clear(&mut self, moves: &[DefinednessTransfer], dst: u8, area: &Area, places: &[Place]) {
        let Some(place) = places.get(usize::from(dst)) else {
            return;
        };
        self.reach(place.memory, area.end(place.at));
        let Some(plane) = self.planes.get_mut(&place.memory) else {
            return;
        };
        let written: Vec<(Place, &Area)> = moves
            .iter()
            .filter(|a| !matches!(a, DefinednessTransfer::Clear { .. }))
            .filter_map(|a| Some((places.get(usize::from(a.target().0)).copied()?, a.target().1)))
            .filter(|(p, _)| p.memory == place.memory)
            .collect();
        for (start, len) in area.at(place.at) {
            let mut kept: Vec<(usize, usize)> = written
                .iter()
                .flat_map(|(p, a)| a.at(p.at))
                .map(|(s, n)| (s.max(start), (s + n).min(start + len)))
                .filter(|(s, e)| s < e)
                .collect();
            kept.sort_unstable();
            let mut at = start;
            self.terms.spend(1 + kept.len() as u64 / 4);
            for (s, e) in kept.into_iter().chain([(start + len, start + len)]) {
                if s > at {
                    plane.fill(at, s - at, UNDEFINED);
                }
                at = at.max(e);
            }
        }
    }

    fn note_written(&mut self, memory: MemoryId, start: usize, len: usize) {
        if is_buffer(memory) && memory.as_given().is_none() {
            self.terms.spend(8);
            self.written.push((memory, start, len));
        }
    }

    fn record(&mut self, what: EventKind) {
        if let Some(log) = &mut self.log {
            log.push(&self.now, what, self.terms.bounds().memory);
        }
    }

    /// The origins of a tile's valid region, row by row, as one core sees it.
    pub fn region(&mut self, value: ValueId, core: u8, object: &Object, layout: &Layout, place: Place) -> Output {
        let [rows, cols] = object.extent();
        let elem = object.tile.elem;
        let to = Layout::row_major(rows, cols, cols);
        let copy = TransferMove::copy(0, 1, lower_copy([rows, cols], layout, &to, elem.bits()));
        let mut dst = Plane::default();
        dst.grow(elem.bytes_of(rows.saturating_mul(cols)) as usize);
        self.reach(place.memory, copy.reads.first().map_or(0, |(_, area)| area.end(place.at)));
        let read = ReadSource { plane: self.planes.get(&place.memory), at: place.at };
        moves::run(&copy, &[read], None, (&mut dst, 0), &mut self.terms);
        Output { value, core, rows, cols, elem, origins: dst.ids().collect() }
    }
}

/// Makes a plane longer: with the bytes of an input, or undefined.
fn grow(plane: &mut Plane, len: usize, input: Option<u32>, terms: &mut Terms) {
    let have = plane.len();
    if have >= len {
        return;
    }
    plane.grow(len);
    if let Some(input) = input {
        terms.input_run(input, have as u64, (len - have) as u64, &mut |k, id| {
            plane.set(have + k as usize, id);
        });
    }
}
