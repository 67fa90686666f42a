//! Instructions made ready: lowered once, run any number of times.
//!
//! [`Prepared::new`] lowers the steps of an instruction whose values are all known to a [`Plan`] of kernels, and beside
//! it to what happens to defined bits (the *shadow*). Running it reads no instruction, layout or type any more.

use crate::area::Area;
use crate::joined::Joined;
use crate::memory::{Memories, MemoryId, is_buffer, on_core};
use crate::nest::{Nest, Place, Plan, Side};
use crate::quant::ParamSource;
use smallvec::SmallVec;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::Inst;
use tessera_isa::maps;

/// A failure while an instruction is made ready or runs; the caller adds the place.
pub type Failure = Box<Diagnostic>;

/// Where the operands of an instruction lie.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The tiles, in the order of [`Inst::tiles`], on core 0.
    pub tiles: &'a [Place],
    /// The memory of the view of global memory.
    pub global: Option<MemoryId>,
    /// Will defined bits be kept?
    pub tracked: bool,
}

/// What happens to defined bits.
#[derive(Clone, Debug)]
pub(crate) enum Shadow {
    /// Bytes become undefined.
    Clear { operand: u8, area: Area },
    /// Bytes become defined.
    Set { operand: u8, area: Area },
    /// Bytes become what others are.
    Move(Box<ShadowMove>),
}

#[derive(Clone, Debug)]
pub(crate) struct ShadowMove {
    pub src: u8,
    pub dst: u8,
    pub from: Area,
    pub to: Area,
    /// For the case that not all of the source is defined.
    pub nests: SmallVec<[Nest; 4]>,
    /// Does one undefined byte make the whole element undefined (conversions), or only itself (copies)?
    pub by_element: bool,
}

/// An instruction made ready.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) places: SmallVec<[Place; 8]>,
    pub(crate) shadow: SmallVec<[Shadow; 2]>,
    pub(crate) params: ParamSource,
    pub(crate) joined: Option<Box<Joined>>,
    /// What the view of global memory touches, relative to its first element.
    pub(crate) global: Option<Area>,
}

/// What a run did that is worth knowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Undefined bytes were stored to global memory, as zeros.
    pub stored_undefined: bool,
    /// Something that is not defined reached a destination, or was made undefined.
    pub left_undefined: bool,
}

/// The number of a tile operand's copy on a core.
pub(crate) fn operand(tile: usize, core: u8) -> u8 {
    (tile * 2 + usize::from(core)) as u8
}

impl Prepared {
    /// Lowers an instruction whose values are all known.
    pub fn new(inst: &Inst, at: Places<'_>) -> Result<Self, Failure> {
        if let Some(joined) = Joined::new(inst, at.tiles) {
            let mut prepared = Prepared::of_steps(inst, &[], at)?;
            prepared.joined = Some(Box::new(joined));
            return Ok(prepared);
        }
        let Some(steps) = maps::steps(inst) else {
            return Err(Box::new(Diagnostic::error(
                "not-executable",
                format!("{} cannot run in this form; give it all its operands", inst.op.title()),
            )));
        };
        Prepared::of_steps(inst, &steps, at)
    }

    /// The operands of an instruction by number: each tile on core 0 and core 1, then the view.
    pub(crate) fn all_places(at: Places<'_>) -> SmallVec<[Place; 8]> {
        let mut places: SmallVec<[Place; 8]> = SmallVec::new();
        for tile in at.tiles {
            for core in [0, 1] {
                places.push(Place {
                    memory: on_core(tile.memory, core),
                    at: tile.at,
                });
            }
        }
        places.extend(at.global.map(|memory| Place { memory, at: 0 }));
        places
    }

    /// Runs the instruction; `global` is the byte of its buffer where the view starts.
    pub fn run(&mut self, memories: &mut Memories, global: usize) -> Result<Effect, Failure> {
        if self.global.is_some()
            && let Some(view) = self.places.last_mut()
        {
            view.at = global;
        }
        if let Some(joined) = &mut self.joined {
            return joined.run(memories, &self.places);
        }
        self.params.load(memories, &self.places)?;
        if !memories.tracked {
            self.move_bytes(memories)?;
            self.note_stores(memories);
            return Ok(Effect::default());
        }
        // Sources first: an instruction may work in place, and a footprint must not hide what it reads.
        let mut partial: SmallVec<[Option<Partial>; 2]> = SmallVec::new();
        for step in &self.shadow {
            partial.push(match step {
                Shadow::Move(mv) => mv.undefined_part(memories, &self.places),
                _ => None,
            });
        }
        self.move_bytes(memories)?;
        let mut effect = Effect::default();
        for (step, partial) in self.shadow.iter().zip(&partial) {
            step.apply(memories, &self.places, partial.as_ref(), &mut effect);
        }
        self.note_stores(memories);
        Ok(effect)
    }

    fn move_bytes(&self, memories: &mut Memories) -> Result<(), Failure> {
        self.plan
            .run_with(memories.list_mut(), &self.places, self.params.loaded())
            .map_err(|e| {
                let rule = if self.global.is_some() {
                    "gm-bounds"
                } else {
                    "tassign-range"
                };
                Box::new(Diagnostic::error(rule, e.to_string()))
            })
    }

    /// Tells a watched buffer what was stored.
    fn note_stores(&self, memories: &mut Memories) {
        let (Some(area), Some(view)) = (&self.global, self.places.last()) else {
            return;
        };
        let stores = self
            .shadow
            .iter()
            .any(|s| matches!(s, Shadow::Move(mv) if usize::from(mv.dst) + 1 == self.places.len()));
        if let Some(memory) = memories.get_mut(view.memory).filter(|_| stores) {
            for (start, len) in area.at(view.at) {
                memory.note_written(start, len);
            }
        }
    }

    /// The bytes of its buffer that the view touches, relative to its first element.
    pub fn global_span(&self) -> Option<(i64, i64)> {
        self.global.as_ref()?.span()
    }
}

/// Which bytes of a destination will be undefined: 0xFF for defined ones, from the start of the area's span on.
pub(crate) struct Partial {
    bytes: Vec<u8>,
    start: i64,
}

impl ShadowMove {
    /// `None` where everything that moves is defined.
    fn undefined_part(&self, memories: &Memories, places: &[Place]) -> Option<Partial> {
        let src = places.get(usize::from(self.src))?;
        let defined = memories.get(src.memory)?.defined();
        if self.from.is_in(defined, src.at) {
            return None;
        }
        let (from, to) = (self.from.span()?, self.to.span()?);
        let first = usize::try_from(src.at as i64 + from.0).ok()?;
        let source = defined.expand(first, (from.1 - from.0) as usize);
        let mut bytes = vec![0u8; (to.1 - to.0) as usize];
        for nest in &self.nests {
            let scale = |bits: u32| if bits == 4 { 2 } else { 1 };
            let nest = Nest {
                src: nest.src - from.0 * scale(nest.bits.src),
                dst: nest.dst - to.0 * scale(nest.bits.dst),
                ..nest.clone()
            };
            let whole = !0u64 >> (64 - nest.bits.src);
            // The nest reaches no further than the spans that were made from it.
            let done = if self.by_element {
                nest.convert_with(&source, &mut bytes, |b, _| if b == whole { !0 } else { 0 })
            } else {
                nest.run(&source, &mut bytes)
            };
            debug_assert!(done.is_ok(), "{done:?}");
        }
        Some(Partial { bytes, start: to.0 })
    }

    /// The byte of the source that a byte of the destination comes from, both counted from their operands' starts.
    pub(crate) fn source_of(&self, byte: i64) -> Option<i64> {
        let mut found = None;
        for nest in &self.nests {
            let bytes = |offset: i64, bits: u32| if bits == 4 { offset.div_euclid(2) } else { offset };
            let size = i64::from(nest.bits.dst / 8).max(1);
            nest.for_each_element(|s, d, _| {
                let d = bytes(d, nest.bits.dst);
                if found.is_none() && (d..d + size).contains(&byte) {
                    let s = bytes(s, nest.bits.src);
                    found = Some(if self.by_element { s } else { s + byte - d });
                }
            });
        }
        found
    }
}

impl Shadow {
    fn apply(&self, memories: &mut Memories, places: &[Place], partial: Option<&Partial>, effect: &mut Effect) {
        let (operand, area) = match self {
            Shadow::Clear { operand, area } | Shadow::Set { operand, area } => (*operand, area),
            Shadow::Move(mv) => (mv.dst, &mv.to),
        };
        let Some(place) = places.get(usize::from(operand)) else {
            return;
        };
        let Some(memory) = memories.get_mut(place.memory) else {
            return;
        };
        let Some(partial) = partial else {
            let clear = matches!(self, Shadow::Clear { .. });
            effect.left_undefined |= clear;
            for (start, len) in area.at(place.at) {
                let defined = memory.defined_mut();
                if clear {
                    defined.remove(start, len);
                } else if !defined.has_all(start, len) {
                    defined.insert(start, len);
                }
            }
            return;
        };
        let to_buffer = is_buffer(place.memory);
        effect.left_undefined = true;
        effect.stored_undefined |= to_buffer;
        let base = (place.at as i64).saturating_add(partial.start);
        for (start, len) in area.at(place.at) {
            let first = (start as i64 - base) as usize;
            let Some(bytes) = partial.bytes.get(first..first + len) else {
                continue;
            };
            if to_buffer {
                // What reaches global memory is a number, if only zero (ops.md 1.3).
                if let Some(stored) = memory.as_mut().get_mut(start..start + len) {
                    stored.iter_mut().zip(bytes).for_each(|(b, defined)| *b &= defined);
                }
                memory.defined_mut().insert(start, len);
            } else {
                memory.defined_mut().assign(start, bytes);
            }
        }
    }
}

/// The area that a side of nests touches, if anybody wants to know.
pub(crate) fn area(nests: &[Nest], side: Side, wanted: bool) -> Area {
    if wanted {
        Area::of_nests(nests, side)
    } else {
        Area::default()
    }
}
