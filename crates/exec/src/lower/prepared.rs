//! Instructions made ready: lowered once, run any number of times.
//!
//! [`Prepared::new`] lowers the steps of an instruction whose values are all known to a [`Plan`] of kernels, and beside
//! it to what happens to defined bits (the *shadow*). Running it reads no instruction, layout or type any more.

use crate::defined::Area;
use crate::defined::Usual;
use crate::engine::memory::{ByteSet, Memories, Memory, MemoryId, is_buffer, on_core};
use crate::lower::ParamSource;
use crate::lower::tconcat_indexed::Joined;
use crate::nest::{Nest, Place, Plan, Side};
use smallvec::SmallVec;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::Inst;
use tessera_isa::sem;

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
    pub(crate) usual: Usual,
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
        let Some(steps) = sem::steps(inst) else {
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
                places.push(Place { memory: on_core(tile.memory, core), at: tile.at });
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
        if self.usual.holds(memories, &self.places) {
            self.move_bytes(memories)?;
            let effect = self.usual.written(memories, &self.places);
            self.note_stores(memories);
            return Ok(effect);
        }
        // Sources first: an instruction may work in place, and a footprint must not hide what it reads.
        let mut sources: SmallVec<[Source; 2]> = SmallVec::new();
        for step in &self.shadow {
            sources.push(match step {
                Shadow::Move(mv) => mv.source(memories, &self.places),
                Shadow::Set { .. } => Source::Defined,
                Shadow::Clear { .. } => Source::Undefined,
            });
        }
        self.move_bytes(memories)?;
        let mut effect = Effect::default();
        for (step, source) in self.shadow.iter().zip(&sources) {
            step.apply(memories, &self.places, source, &mut effect);
        }
        self.note_stores(memories);
        Ok(effect)
    }

    fn move_bytes(&self, memories: &mut Memories) -> Result<(), Failure> {
        self.plan.run_with(memories.list_mut(), &self.places, self.params.loaded()).map_err(|e| {
            let rule = if self.global.is_some() { "gm-bounds" } else { "tassign-range" };
            Box::new(Diagnostic::error(rule, e.to_string()))
        })
    }

    /// Tells a watched buffer what was stored.
    fn note_stores(&self, memories: &mut Memories) {
        let (Some(area), Some(view)) = (&self.global, self.places.last()) else {
            return;
        };
        let stores =
            self.shadow.iter().any(|s| matches!(s, Shadow::Move(mv) if usize::from(mv.dst) + 1 == self.places.len()));
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

/// How much of what a step reads is defined.
pub(crate) enum Source {
    /// All of it.
    Defined,
    /// Nothing.
    Undefined,
    /// Some: for each byte from the start of the written area's span on, whether it will be defined.
    Mixed(ByteSet),
}

/// Shorter runs than this are moved as bytes, by the kernels, rather than bit by bit.
const BIT_RUN: u64 = 16;

impl ShadowMove {
    #[inline]
    fn source(&self, memories: &Memories, places: &[Place]) -> Source {
        let place = places.get(usize::from(self.src));
        let Some((src, memory)) = place.and_then(|p| Some((p, memories.get(p.memory)?))) else {
            return Source::Undefined;
        };
        if self.from.is_in(memory.defined(), src.at) {
            Source::Defined
        } else if self.from.is_outside(memory.defined(), src.at) {
            Source::Undefined
        } else {
            self.mixed(memory.defined(), src.at).map_or(Source::Undefined, Source::Mixed)
        }
    }

    fn mixed(&self, defined: &ByteSet, at: usize) -> Option<ByteSet> {
        let (from, to) = (self.from.span()?, self.to.span()?);
        let len = (to.1 - to.0) as usize;
        let mut result = ByteSet::default();
        result.grow(len);
        let rows = |nest: &Nest| {
            let last = nest.dims.last().copied();
            let whole = i64::from(nest.bits.src / 8);
            let run = last.filter(|d| (d.src, d.dst) == (whole, whole)).map_or(1, |d| d.extent);
            (nest.bits.src == nest.bits.dst && nest.bits.src > 4).then_some(run * whole as u64)
        };
        if !self.by_element && self.nests.iter().all(|n| rows(n).is_some_and(|run| run >= BIT_RUN)) {
            for nest in &self.nests {
                let run = rows(nest)?;
                let mut outer = nest.clone();
                outer.dims.pop();
                outer.for_each_element(|s, d, _| {
                    if let (Ok(s), Ok(d)) = (usize::try_from(at as i64 + s), usize::try_from(d - to.0)) {
                        result.copy_from(defined, s, d, run as usize);
                    }
                });
            }
            return Some(result);
        }
        let first = usize::try_from(at as i64 + from.0).ok()?;
        let source = defined.expand(first, (from.1 - from.0) as usize);
        let mut bytes = vec![0u8; len];
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
        result.assign(0, &bytes);
        Some(result)
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
    fn apply(&self, memories: &mut Memories, places: &[Place], source: &Source, effect: &mut Effect) {
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
        effect.left_undefined = true;
        if is_buffer(place.memory) {
            effect.stored_undefined = true;
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

/// What reaches global memory is a number, if only zero (ops.md 1.3).
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

/// The area that a side of nests touches, if anybody wants to know.
pub(crate) fn area(nests: &[Nest], side: Side, wanted: bool) -> Area {
    if wanted { Area::of_nests(nests, side) } else { Area::default() }
}
