//! The log of events on bytes, and the path of one byte through it.

use super::{Function, Moves};
use crate::moves::{function, scalars};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_exec::definedness::{DefinednessTransfer, TransferMove, Value};
use tessera_exec::lower::ParamAt;
use tessera_ir::{OpId, ValueId};
use tessera_isa::elem::Elem;
use tessera_isa::layout::Layout;
use tessera_isa::tile::Tile;
use tessera_kernels::nest::{DST, SRC, size_of_element, whole_bytes};
use tessera_kernels::{MemoryId, PackedOp, Place, is_buffer, on_core};

/// A byte of a memory.
pub type ByteAt = (MemoryId, usize);

/// A tile as an instruction saw it.
#[derive(Clone, Debug)]
pub struct TileAt {
    pub value: ValueId,
    pub tile: Tile,
    /// Its layout; a view keeps its source's pitch.
    pub layout: Layout,
    /// Its place, on core 0.
    pub place: Place,
    pub is_written: bool,
}

/// A byte as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// An element of a tile.
    Tile {
        value: ValueId,
        core: u8,
        row: u64,
        col: u64,
        /// The byte's number within the element.
        byte: u64,
    },
    /// A byte of an argument's buffer.
    Buffer { value: ValueId, byte: u64 },
    /// A byte of what an input tile is given, elements row by row.
    Given { value: ValueId, byte: u64 },
    /// A byte that no operand covers.
    Nowhere,
}

/// The operation of an event, and its time.
#[derive(Clone, Debug, Default)]
pub struct EventSite {
    /// The operation; none for what is there from the start.
    pub op: Option<OpId>,
    pub block: u32,
    /// The loops around it, outermost first: induction variable and value, or the round of a `scf.while`.
    pub loops: SmallVec<[(Option<ValueId>, i64); 2]>,
    pub tiles: Vec<TileAt>,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Event {
    pub now: EventSite,
    what: EventKind,
}

#[derive(Clone, Debug)]
pub(super) enum EventKind {
    Moved { moves: Moves, places: Box<[Place]> },
    Begun { memory: MemoryId, start: usize, len: usize },
    Stored { memory: MemoryId, start: usize, bytes: Box<[u8]> },
}

/// The arguments of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// The bytes of an element.
    Element(Vec<ByteAt>),
    Scalar(Elem, u64),
}

impl Read {
    /// The bytes of an element; a scalar has none.
    pub fn bytes(self) -> Vec<ByteAt> {
        match self {
            Read::Element(bytes) => bytes,
            Read::Scalar(..) => Vec::new(),
        }
    }
}

/// The origin of a byte in one event.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Copied(ByteAt),
    Computed {
        function: Function,
        /// The arguments, in the order of the formula.
        operands: Vec<Read>,
        /// The first byte of the parameter, where that is data.
        param: Option<ByteAt>,
    },
    /// A fill, or a scalar that was stored.
    Constant(u8),
    /// Undefined: hardware writes whole blocks.
    Clobbered,
    /// Undefined: the contents of a tile begin here.
    Begun,
}

/// The destinations of a byte in one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Destinations {
    /// Whether it is still at its old place.
    pub is_kept: bool,
    /// Its new places, each with the function that it went through.
    pub to: Vec<(ByteAt, Option<Function>)>,
    /// Whether it was (part of) a quantization parameter.
    pub is_param: bool,
}

/// Everything that happened.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub events: Vec<Event>,
    /// Whether the log was cut.
    pub is_cut: bool,
    /// The bytes that the events take.
    bytes: u64,
    pub(super) memories: FxHashMap<MemoryId, ValueId>,
    /// The wanted tiles when everything was done.
    pub finals: Vec<TileAt>,
}

impl Log {
    pub(super) fn push(&mut self, now: &EventSite, what: EventKind, most: u64) {
        let held = match &what {
            EventKind::Moved { places, .. } => size_of_val::<[Place]>(places),
            EventKind::Stored { bytes, .. } => bytes.len(),
            EventKind::Begun { .. } => 0,
        };
        let tiles = size_of_val::<[TileAt]>(&now.tiles) + size_of_val(now.loops.as_slice());
        self.bytes += (size_of::<Event>() + tiles + held) as u64;
        if self.bytes > most {
            self.is_cut = true;
            return;
        }
        self.events.push(Event { now: now.clone(), what });
    }

    /// The memory of an argument's buffer.
    pub fn buffer(&self, value: ValueId) -> Option<MemoryId> {
        self.memories.iter().find(|(_, v)| **v == value).map(|(m, _)| *m)
    }

    /// The bytes of an element of a wanted tile, when everything was done.
    pub fn element(&self, value: ValueId, core: u8, row: u64, col: u64) -> Option<Vec<ByteAt>> {
        let tile = self.finals.iter().find(|t| t.value == value)?;
        tile.bytes_of(core, row, col)
    }

    /// The last event before `before` that wrote a byte, and where the byte came from. Blocks do not see each other:
    /// with a block, only its own events count.
    pub fn writer(&self, at: ByteAt, before: usize, block: Option<u32>) -> Option<(usize, Source)> {
        let events = self.events.get(..before.min(self.events.len()))?;
        let mut all = events.iter().enumerate().rev();
        all.find_map(|(n, event)| {
            let counts = block.is_none_or(|b| b == event.now.block);
            counts.then(|| event.wrote(at)).flatten().map(|source| (n, source))
        })
    }

    /// A byte as an event's operands name it: a destination where `written`.
    pub fn spot(&self, event: usize, at: ByteAt, written: bool) -> Spot {
        if let Some(spot) = self.outside(at) {
            return spot;
        }
        let tiles = self.events.get(event).map_or(&[][..], |e| &e.now.tiles);
        let named = |w: bool| tiles.iter().filter(move |t| t.is_written == w).find_map(|t| t.spot(at));
        named(written).or_else(|| named(!written)).unwrap_or(Spot::Nowhere)
    }

    /// A byte that is not on the chip.
    fn outside(&self, (memory, byte): ByteAt) -> Option<Spot> {
        let byte = byte as u64;
        if let Some(value) = memory.as_given() {
            return Some(Spot::Given { value: ValueId(value), byte });
        }
        let value = *self.memories.get(&memory).filter(|_| is_buffer(memory))?;
        Some(Spot::Buffer { value, byte })
    }
}

impl TileAt {
    fn bytes_of(&self, core: u8, row: u64, col: u64) -> Option<Vec<ByteAt>> {
        let memory = on_core(self.place.memory, core);
        let bits = i64::from(self.tile.elem.bits());
        let first = self.place.at as i64 + self.layout.offset(row, col).checked_mul(bits)? / 8;
        let first = usize::try_from(first).ok()?;
        Some((first..first + (bits as usize / 8).max(1)).map(|b| (memory, b)).collect())
    }

    fn spot(&self, (memory, byte): ByteAt) -> Option<Spot> {
        let core = [0u8, 1].into_iter().find(|c| on_core(self.place.memory, *c) == memory)?;
        let bits = i64::from(self.tile.elem.bits());
        let away = i64::try_from(byte).ok()? - self.place.at as i64;
        let (row, col) = self.layout.inverse(away.checked_mul(8)?.div_euclid(bits))?;
        Some(Spot::Tile { value: self.value, core, row, col, byte: (away % (bits / 8).max(1)) as u64 })
    }
}

impl Event {
    /// The origin of a byte, if this event wrote it.
    fn wrote(&self, at: ByteAt) -> Option<Source> {
        let (memory, byte) = at;
        match &self.what {
            EventKind::Begun { memory: m, start, len } => {
                (*m == memory && (*start..start.saturating_add(*len)).contains(&byte)).then_some(Source::Begun)
            }
            EventKind::Stored { memory: m, start, bytes } => {
                let stored = byte.checked_sub(*start).and_then(|k| bytes.get(k));
                stored.filter(|_| *m == memory).map(|b| Source::Constant(*b))
            }
            EventKind::Moved { moves, places } => {
                let place = |n: u8| places.get(usize::from(n));
                let mut clobbered = None;
                for action in moves.iter().rev() {
                    let (dst, area) = action.target();
                    let Some(to) = place(dst).filter(|p| p.memory == memory && area.contains(p.at, byte)) else {
                        continue;
                    };
                    match action {
                        DefinednessTransfer::Move(mv) => return came_from(mv, places, byte as i64 - to.at as i64),
                        DefinednessTransfer::Set { pattern, .. } => {
                            return Some(Source::Constant(pattern.byte(byte - to.at)));
                        }
                        DefinednessTransfer::Clear { .. } => clobbered = Some(Source::Clobbered),
                    }
                }
                clobbered
            }
        }
    }

    /// The effect on a byte.
    pub fn carry(&self, at: ByteAt) -> Destinations {
        let mut carried =
            Destinations { is_kept: self.wrote(at).is_none_or(|s| s == Source::Copied(at)), ..Destinations::default() };
        let EventKind::Moved { moves, places } = &self.what else {
            return carried;
        };
        let (memory, byte) = at;
        for action in moves.iter() {
            let DefinednessTransfer::Move(mv) = action else { continue };
            let Some(to) = places.get(usize::from(mv.dst)) else { continue };
            for (k, (operand, area)) in mv.reads.iter().enumerate() {
                let from = places.get(usize::from(*operand));
                let Some(from) = from.filter(|p| p.memory == memory && area.contains(p.at, byte)) else {
                    continue;
                };
                destinations(mv, k, byte as i64 - from.at as i64, &mut |d| {
                    if let Ok(d) = usize::try_from(to.at as i64 + d)
                        && (to.memory, d) != at
                    {
                        carried.to.push(((to.memory, d), function(mv)));
                    }
                });
            }
            if let Value::Converted(_, ParamAt::Tile { operand, offset, count }) = mv.value
                && let Some(tile) = places.get(usize::from(operand))
                && tile.memory == memory
            {
                let first = tile.at + offset;
                carried.is_param |= (first..first + count * 8).contains(&byte);
            }
        }
        carried
    }
}

/// The origin of the byte at this distance from the destination's start.
pub fn came_from(mv: &TransferMove, places: &[Place], byte: i64) -> Option<Source> {
    let at = |operand: u8, b: i64| {
        let from = places.get(usize::from(operand))?;
        Some((from.memory, usize::try_from(from.at as i64 + b).ok()?))
    };
    let element = |operand: u8, first: i64, bytes: i64| (first..first + bytes).filter_map(|b| at(operand, b)).collect();
    if let (Value::PackedKernel(staged), Some(function)) = (&mv.value, function(mv)) {
        let mut operands = Vec::new();
        staged.sources_of(byte, |input, first| {
            let stage = &staged.inputs[input];
            operands.push(Read::Element(element(stage.operand, first, size_of_element(stage.elem.bits()))));
            if let PackedOp::Pack { scalar: Some((elem, bits)), .. } = staged.what {
                operands.push(Read::Scalar(elem, bits));
            }
        });
        return Some(Source::Computed { function, operands, param: None });
    }
    let mut found = None;
    for nest in &mv.nests {
        nest.for_each_element(|offsets| {
            let to = whole_bytes(offsets[DST], nest.bits[DST]);
            if found.is_none() && (to..to + size_of_element(nest.bits[DST])).contains(&byte) {
                found = Some((nest.bits, offsets, byte - to));
            }
        });
    }
    let (bits, offsets, k) = found?;
    let (first, _) = mv.reads.first()?;
    let Some(function) = function(mv) else {
        return Some(Source::Copied(at(*first, whole_bytes(offsets[SRC], bits[SRC]) + k)?));
    };
    let read = mv.reads.iter().zip(offsets.iter().zip(bits).skip(SRC));
    let mut operands: Vec<Read> = read
        .map(|((operand, _), (at, bits))| element(*operand, whole_bytes(*at, bits), size_of_element(bits)))
        .map(Read::Element)
        .collect();
    for (n, elem, bits) in scalars(mv) {
        operands.insert(n.min(operands.len()), Read::Scalar(elem, bits));
    }
    let param = match mv.value {
        Value::Converted(_, ParamAt::Tile { operand, offset, .. }) => {
            places.get(usize::from(operand)).map(|tile| (tile.memory, tile.at + offset + offsets[2].max(0) as usize))
        }
        _ => None,
    };
    Some(Source::Computed { function, operands, param })
}

/// Calls `f` for every place that the byte at this distance from the start of what is read k-th goes to.
fn destinations(mv: &TransferMove, k: usize, byte: i64, f: &mut impl FnMut(i64)) {
    if let Value::PackedKernel(staged) = &mv.value {
        let offsets = staged.inputs[k].offsets(true);
        let bytes = size_of_element(staged.inputs[k].elem.bits());
        for (result, d) in staged.output.offsets(false).into_iter().enumerate() {
            let mut is_read = false;
            staged.reads(result, |input, element| {
                is_read |= input == k && (offsets[element]..offsets[element] + bytes).contains(&byte);
            });
            if is_read {
                (d..d + size_of_element(staged.output.elem.bits())).for_each(&mut *f);
            }
        }
    }
    for nest in &mv.nests {
        let (from, to) = (nest.bits[SRC + k], nest.bits[DST]);
        nest.for_each_element(|at| {
            let (s, d) = (whole_bytes(at[SRC + k], from), whole_bytes(at[DST], to));
            if !(s..s + size_of_element(from)).contains(&byte) {
                return;
            }
            if !mv.keeps_bits() {
                (d..d + size_of_element(to)).for_each(&mut *f);
            } else if byte - s < size_of_element(to) {
                f(d + byte - s);
            }
        });
    }
}
