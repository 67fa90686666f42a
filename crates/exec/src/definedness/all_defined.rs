//! The usual case of defined bits: everything that an instruction reads is defined.
//!
//! Then the steps of an instruction need not be examined one by one. The reads and the writes are two sets of bytes
//! for each operand, made when the instruction is compiled. The first set is checked to be defined; the second becomes
//! defined.

use crate::definedness::DefinednessTransfer;
use crate::lower::Effect;
use smallvec::SmallVec;
use tessera_kernels::memory::{Area, Memories, WordMask};
use tessera_kernels::{MemoryId, Place};

/// The bytes read and the bytes written, of all operands.
#[derive(Clone, Debug, Default)]
pub struct AllDefined {
    reads: SmallVec<[(u8, Bytes); 2]>,
    /// The operand, which bytes of it, and whether they become defined.
    writes: SmallVec<[(u8, Bytes, bool); 1]>,
    /// The memories of all of them, with the stamps that their sets had when everything that is read and written was
    /// defined; empty while that is not known.
    seen: SmallVec<[(MemoryId, u64); 2]>,
    /// Whether the check is worth remembering. It is not if something becomes undefined, or if an operand's place
    /// changes.
    lasts: bool,
    /// Whether there is nothing to check, since definedness is not tracked.
    is_idle: bool,
}

/// A set of bytes of one operand.
#[derive(Clone, Debug)]
enum Bytes {
    /// Few ranges, or an operand whose place changes.
    Ranges(Area),
    /// Many ranges close together, as the rows of a tile without its padding are: a mask for each word of bits.
    Mask(WordMask),
}

/// The check of a range takes about as long as the check of this number of words of a mask.
const WORDS_PER_RANGE: usize = 16;

impl AllDefined {
    /// Puts the shadows of an instruction together; `moving` is the operand whose place changes.
    pub fn new(shadow: &[DefinednessTransfer], places: &[Place], moving: Option<usize>) -> Self {
        let mut reads: SmallVec<[(u8, Area); 2]> = SmallVec::new();
        let mut writes: SmallVec<[(u8, Area, bool); 1]> = SmallVec::new();
        for step in shadow {
            let (operand, area, defined) = match step {
                DefinednessTransfer::Clear { operand, area } => (*operand, area, false),
                DefinednessTransfer::Set { operand, area, .. } => (*operand, area, true),
                DefinednessTransfer::Move(mv) => {
                    for (operand, area) in &mv.reads {
                        match reads.iter_mut().find(|r| r.0 == *operand) {
                            Some((_, read)) => read.extend(area),
                            None => reads.push((*operand, area.clone())),
                        }
                    }
                    if mv.combines {
                        continue;
                    }
                    (mv.dst, &mv.to, true)
                }
            };
            // A write that makes bytes undefined keeps its position in the order.
            let after = writes.iter().rposition(|w| w.2 != defined).map_or(0, |n| n + 1);
            match writes.iter_mut().skip(after).find(|w| w.0 == operand) {
                Some((_, written, _)) => written.extend(area),
                None => writes.push((operand, area.clone(), defined)),
            }
        }
        let bytes = |operand: u8, mut area: Area| {
            area.merge();
            let place = places.get(usize::from(operand));
            let fixed = place.filter(|_| moving != Some(usize::from(operand)));
            match fixed.and_then(|p| mask(&area, p.at)) {
                Some(mask) => Bytes::Mask(mask),
                None => Bytes::Ranges(area),
            }
        };
        let lasts = moving.is_none() && writes.iter().all(|w| w.2);
        AllDefined {
            seen: SmallVec::new(),
            lasts,
            is_idle: lasts && reads.is_empty() && writes.is_empty(),
            reads: reads.into_iter().map(|(o, area)| (o, bytes(o, area))).collect(),
            writes: writes.into_iter().map(|(o, area, defined)| (o, bytes(o, area), defined)).collect(),
        }
    }

    /// Whether all bytes read and written were defined when last checked, and nothing has become undefined since.
    #[inline]
    pub fn is_as_seen(&self, memories: &Memories) -> bool {
        let is_same = |(id, stamp): &(MemoryId, u64)| memories.get(*id).is_some_and(|m| m.defined().stamp() == *stamp);
        (self.is_idle || !self.seen.is_empty()) && self.seen.iter().all(is_same)
    }

    /// Remembers that everything is defined.
    pub fn see(&mut self, memories: &Memories, places: &[Place]) {
        self.seen.clear();
        if !self.lasts {
            return;
        }
        for operand in self.reads.iter().map(|r| r.0).chain(self.writes.iter().map(|w| w.0)) {
            let place = places.get(usize::from(operand));
            let Some((id, memory)) = place.and_then(|p| Some((p.memory, memories.get(p.memory)?))) else { continue };
            if !self.seen.iter().any(|s| s.0 == id) {
                self.seen.push((id, memory.defined().stamp()));
            }
        }
    }

    /// Whether everything that is read is defined.
    #[inline]
    pub fn holds(&self, memories: &Memories, places: &[Place]) -> bool {
        self.reads.iter().all(|(operand, bytes)| {
            memories.operand(places, *operand).is_some_and(|(at, memory)| match bytes {
                Bytes::Ranges(area) => area.is_in(memory.defined(), at),
                Bytes::Mask(mask) => memory.defined().has_mask(mask),
            })
        })
    }

    /// Notes the writes of an instruction that read no undefined bytes.
    #[inline]
    pub fn written(&self, memories: &mut Memories, places: &[Place]) -> Effect {
        let mut effect = Effect::default();
        for (operand, bytes, defined) in &self.writes {
            let Some((at, memory)) = memories.operand_mut(places, *operand) else {
                continue;
            };
            let set = memory.defined_mut();
            let is_nothing = matches!(bytes, Bytes::Ranges(area) if area.is_empty());
            effect.add(Effect::LEFT_UNDEFINED, !defined && !is_nothing);
            match (bytes, defined) {
                (Bytes::Ranges(area), true) if !set.is_full_to(area.end(at)) => {
                    // Mostly it is defined already, and reading is cheaper than writing.
                    for (start, len) in area.at(at) {
                        if !set.has_all(start, len) {
                            set.insert(start, len);
                        }
                    }
                }
                (Bytes::Ranges(_), true) => {}
                (Bytes::Ranges(area), false) => area.at(at).for_each(|(start, len)| set.remove(start, len)),
                (Bytes::Mask(mask), true) => {
                    if !set.has_mask(mask) {
                        set.insert_mask(mask);
                    }
                }
                (Bytes::Mask(mask), false) => set.remove_mask(mask),
            }
        }
        effect
    }
}

/// The area as a mask, where that is the faster way to ask for it.
fn mask(area: &Area, at: usize) -> Option<WordMask> {
    let (first, end) = area.span()?;
    let start = usize::try_from(i64::try_from(at).ok()?.checked_add(first)?).ok()?;
    let len = usize::try_from(end.checked_sub(first)?).ok()?;
    let ranges = area.len();
    (ranges > 1 && len / 64 <= ranges.saturating_mul(WORDS_PER_RANGE)).then(|| WordMask::new(start, len, area.at(at)))
}
