//! The effect of an instruction on defined bits, operand by operand: the *shadow* of its steps. Origins use the same
//! description.

use crate::lower::{Effect, ParamAt};
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_isa::sem::Func;
use tessera_kernels::memory::{Area, ByteSet, Memories, Memory};
use tessera_kernels::nest::{DST, Nest, Nests, OPERANDS, SRC, fold, read_bits, write_bits};
use tessera_kernels::{Conversion, Mapped, PackedKernel, PackedOp, Place, is_buffer};

/// One step's effect on defined bits.
#[derive(Clone, Debug)]
pub enum DefinednessTransfer {
    /// Bytes become undefined.
    Clear { operand: u8, area: Area },
    /// Bytes become a value.
    Set { operand: u8, area: Area, pattern: Pattern },
    /// Bytes become as defined as others are.
    Move(Box<TransferMove>),
}

/// The value of a fill, by byte.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    bits: u64,
    size: usize,
}

impl Pattern {
    pub fn new(width: u32, bits: u64) -> Self {
        match width {
            4 => Pattern { bits: (bits & 15) * 0x11, size: 1 },
            _ => Pattern { bits, size: (width as usize / 8).clamp(1, 8) },
        }
    }

    /// The byte at a distance from the start of the operand.
    pub fn byte(&self, at: usize) -> u8 {
        (self.bits >> (8 * (at % self.size))) as u8
    }
}

#[derive(Clone, Debug)]
pub struct TransferMove {
    pub dst: u8,
    pub to: Area,
    /// The areas read: the operands of the nests after the first, in their order.
    pub reads: SmallVec<[(u8, Area); 2]>,
    /// For the case that not all that is read is defined.
    pub nests: Nests,
    pub value: Value,
    /// Whether it combines with the old contents, in a step of its own that handles defined bits.
    pub combines: bool,
}

/// The change of the elements of a move. One undefined byte makes the whole element undefined, except in a move that
/// keeps bits, where only that byte is undefined.
#[derive(Clone, Debug)]
pub enum Value {
    Bits,
    Converted(Conversion, ParamAt),
    /// They become a function of several.
    Mapped(Mapped),
    /// A function of whole rows, or of data, computes them; there are no nests.
    PackedKernel(Arc<PackedKernel>),
}

/// The definedness of a step's inputs.
pub enum Source {
    Defined,
    Undefined,
    /// Some: for each byte from the start of the written area's span on, whether it will be defined.
    Mixed(ByteSet),
}

/// The bit that selects, and for 0 and 1 the operand among those that are read; `None` for a scalar.
type Picks = (u8, [Option<usize>; 2]);

/// Shorter runs than this are moved as bytes, by the kernels, rather than bit by bit.
const BIT_RUN: u64 = 16;

impl TransferMove {
    /// The same move between other operands.
    pub fn renumbered(&self, operand: impl Fn(u8) -> u8) -> TransferMove {
        let mut mv = self.clone();
        mv.dst = operand(mv.dst);
        mv.reads.iter_mut().for_each(|read| read.0 = operand(read.0));
        mv
    }

    /// A move that keeps bits.
    pub fn copy(src: u8, dst: u8, nests: Nests) -> Self {
        let (to, from) = (Area::of_nests(&nests, DST), Area::of_nests(&nests, SRC));
        TransferMove { dst, to, reads: SmallVec::from_iter([(src, from)]), nests, value: Value::Bits, combines: false }
    }

    pub fn keeps_bits(&self) -> bool {
        matches!(self.value, Value::Bits)
    }

    /// The selection, if a bit of the first operand selects one of the others.
    fn picks(&self) -> Option<Picks> {
        let Value::Mapped(Mapped { func: Func::Select { bit }, args, .. }) = &self.value else {
            return None;
        };
        let is_element = |n: usize| args.get(n).is_some_and(|(_, scalar)| scalar.is_none());
        let (set, clear) = (is_element(1), is_element(2));
        Some((*bit, [clear.then_some(1 + usize::from(set)), set.then_some(1)]))
    }

    /// The current definedness of its inputs.
    #[inline]
    pub fn source(&self, memories: &Memories, places: &[Place]) -> Source {
        let mut all = true;
        for (n, (operand, area)) in self.reads.iter().enumerate() {
            let Some((at, memory)) = memories.operand(places, *operand) else {
                return Source::Undefined;
            };
            if area.is_in(memory.defined(), at) {
                continue;
            }
            // Every element that is written reads something of every operand, or the mask that picks one of them.
            let is_read = self.picks().is_none() || n == 0;
            if is_read && area.is_outside(memory.defined(), at) {
                return Source::Undefined;
            }
            all = false;
        }
        if all {
            return Source::Defined;
        }
        match self.as_copy(memories, places) {
            Some(copy) => copy.source(memories, places),
            None => self.mixed(memories, places).map_or(Source::Undefined, Source::Mixed),
        }
    }

    /// A data-dependent move as the copies that it performs with the current data.
    pub fn as_copy(&self, memories: &Memories, places: &[Place]) -> Option<TransferMove> {
        let Value::PackedKernel(staged) = &self.value else {
            return None;
        };
        let (PackedOp::Gather { .. }, [src, _]) = (staged.what, staged.inputs.as_slice()) else {
            return None;
        };
        let nests = fold(staged.copies(&staged.indices(memories, places).ok()?));
        Some(TransferMove::copy(src.operand, self.dst, nests))
    }

    fn mixed(&self, memories: &Memories, places: &[Place]) -> Option<ByteSet> {
        let to = self.to.span()?;
        let len = (to.1 - to.0) as usize;
        let mut result = ByteSet::default();
        result.grow(len);
        if self.keeps_bits() && self.nests.iter().all(|n| whole_rows(n).is_some_and(|run| run >= BIT_RUN)) {
            let (operand, _) = self.reads.first()?;
            let (at, memory) = memories.operand(places, *operand)?;
            for nest in &self.nests {
                let run = whole_rows(nest)?;
                let mut outer = nest.clone();
                outer.dims.pop();
                outer.for_each_element(|[d, s, ..]| {
                    if let (Ok(s), Ok(d)) = (usize::try_from(at as i64 + s), usize::try_from(d - to.0)) {
                        result.copy_from(memory.defined(), s, d, run as usize);
                    }
                });
            }
            return Some(result);
        }
        // The bytes read, from the start of the span on: 0xFF for every byte that is defined.
        let mut read: SmallVec<[(Vec<u8>, i64); 2]> = SmallVec::new();
        for (operand, area) in &self.reads {
            // An empty factor is read nowhere.
            let ((at, memory), span) = (memories.operand(places, *operand)?, area.span().unwrap_or_default());
            let first = usize::try_from(at as i64 + span.0).ok()?;
            read.push((memory.defined().expand(first, (span.1 - span.0) as usize), span.0));
        }
        let mut bytes = vec![0u8; len];
        if let Value::PackedKernel(staged) = &self.value {
            staged.defined(&read, (&mut bytes, to.0));
        }
        // Data decides which operand counts.
        let mask = self.picks().and_then(|picks| {
            let (operand, _) = self.reads.first()?;
            let place = places.get(usize::from(*operand))?;
            Some((picks, memories.get(place.memory)?.bytes().get(place.at..)?))
        });
        for nest in &self.nests {
            self.mix(nest, &read, (&mut bytes, to.0), mask);
        }
        result.assign(0, &bytes);
        Some(result)
    }

    /// Runs one nest over bytes that are 0xFF or 0; `mask` is where the mask lies, for one that picks.
    fn mix(
        &self,
        nest: &Nest,
        read: &[(Vec<u8>, i64)],
        (bytes, start): (&mut [u8], i64),
        mask: Option<(Picks, &[u8])>,
    ) {
        let mut starts = [0; OPERANDS];
        starts[DST] = start;
        starts.iter_mut().skip(SRC).zip(read).for_each(|(at, (_, start))| *at = *start);
        let mut nest = nest.clone();
        for ((base, start), bits) in nest.base.iter_mut().zip(starts).zip(nest.bits) {
            *base -= start * if bits == 4 { 2 } else { 1 };
        }
        if let (true, [(source, _)]) = (self.keeps_bits(), read) {
            // The nest reaches no further than the spans that were made from it.
            let done = nest.run(source, bytes);
            debug_assert!(done.is_ok(), "{done:?}");
            return;
        }
        let bits = nest.bits;
        nest.for_each_element(|at| {
            let is_whole = |n: usize| {
                let all = !0u64 >> (64 - bits[SRC + n].clamp(1, 64));
                read.get(n).is_some_and(|(bytes, _)| read_bits(bytes, at[SRC + n], bits[SRC + n]) == all)
            };
            let whole = match mask {
                Some(((bit, operands), mask)) => {
                    let byte = read_bits(mask, at[SRC] + starts[SRC], 8);
                    is_whole(0) && operands[usize::from(byte >> bit & 1 == 1)].is_none_or(is_whole)
                }
                None => (0..read.len()).all(is_whole),
            };
            write_bits(bytes, at[DST], bits[DST], if whole { !0 } else { 0 });
        });
    }
}

/// The bytes of a nest's innermost run, where it copies whole bytes in order.
fn whole_rows(nest: &Nest) -> Option<u64> {
    let (from, to) = (nest.bits[SRC], nest.bits[DST]);
    let whole = i64::from(from / 8);
    let last = nest.dims.last().filter(|d| d.step[DST] == whole && d.step[SRC] == whole);
    (from == to && from > 4).then_some(last.map_or(1, |d| d.extent) * whole as u64)
}

impl DefinednessTransfer {
    /// Whether it is a move that a combining step of its own performs.
    pub fn combines(&self) -> bool {
        matches!(self, DefinednessTransfer::Move(mv) if mv.combines)
    }

    /// The operand that it writes, and the bytes.
    pub fn target(&self) -> (u8, &Area) {
        match self {
            DefinednessTransfer::Clear { operand, area } | DefinednessTransfer::Set { operand, area, .. } => {
                (*operand, area)
            }
            DefinednessTransfer::Move(mv) => (mv.dst, &mv.to),
        }
    }

    pub fn apply(&self, memories: &mut Memories, places: &[Place], source: &Source, effect: &mut Effect) {
        let (operand, area) = self.target();
        let Some(place) = places.get(usize::from(operand)) else {
            return;
        };
        let Some(memory) = memories.get_mut(place.memory) else {
            return;
        };
        if matches!(source, Source::Defined) {
            let defined = memory.defined_mut();
            for (start, len) in area.at(place.at) {
                if !defined.has_all(start, len) {
                    defined.insert(start, len);
                }
            }
            return;
        }
        if area.is_empty() {
            return;
        }
        effect.add(Effect::LEFT_UNDEFINED, true);
        if is_buffer(place.memory) {
            effect.add(Effect::STORED_UNDEFINED, true);
            store_zeros(memory, area, place.at, source);
            return;
        }
        let base = place.at as i64 + area.span().map_or(0, |s| s.0);
        for (start, len) in area.at(place.at) {
            match source {
                Source::Mixed(bytes) => {
                    let from = (start as i64 - base) as usize;
                    memory.defined_mut().copy_from(bytes, from, start, len);
                }
                _ => memory.defined_mut().remove(start, len),
            }
        }
    }
}

/// Bytes that reach global memory are numbers, if only zero (ops.md 1.3).
fn store_zeros(memory: &mut Memory, area: &Area, at: usize, source: &Source) {
    let base = at as i64 + area.span().map_or(0, |s| s.0);
    for (start, len) in area.at(at) {
        if let Some(stored) = memory.as_mut().get_mut(start..start + len) {
            match source {
                Source::Mixed(bytes) => {
                    let from = (start as i64 - base) as usize;
                    let mask = bytes.expand(from, len);
                    stored.iter_mut().zip(mask).for_each(|(b, m)| *b &= m);
                }
                _ => stored.fill(0),
            }
        }
        memory.defined_mut().insert(start, len);
    }
}
