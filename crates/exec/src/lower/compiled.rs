//! Compiled instructions: lowered once, run any number of times.
//!
//! [`CompiledInst::new`] lowers the steps of an instruction whose values are all known to a [`Plan`] of kernels, and
//! to their effect on defined bits (the *shadow*). Running it reads no instruction, layout or type any more.

use crate::definedness::{AllDefined, DefinednessTransfer, Source};
use crate::lower::data::{self, IndexedConcat};
use crate::lower::routed::RoutedRun;
use crate::lower::{Combine, ContentRule, ParamSource, TableAccess};
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::Inst;
use tessera_isa::sem;
use tessera_kernels::memory::{Area, ArrayAccess, Memories};
use tessera_kernels::nest::OutOfBounds;
use tessera_kernels::{Failure, Plan};
use tessera_kernels::{MemoryId, PackedKernel, Place, RowSlice, on_core};

/// The places of an instruction's operands.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The tiles, in the order of [`Inst::tiles`], on core 0.
    pub tiles: &'a [Place],
    pub global: Option<MemoryId>,
    pub tracked: bool,
}

/// A compiled instruction.
#[derive(Clone, Debug)]
pub struct CompiledInst {
    pub plan: Plan,
    pub places: SmallVec<[Place; 8]>,
    pub shadow: SmallVec<[DefinednessTransfer; 2]>,
    pub usual: AllDefined,
    pub params: ParamSource,
    pub joined: Option<Box<IndexedConcat>>,
    pub routed: Option<Box<RoutedRun>>,
    pub looked: Option<Box<TableAccess>>,
    /// The gather of elements by indices.
    pub indexed: Option<Arc<PackedKernel>>,
    /// The rules about the contents of operands, and the last warning of one.
    pub contents: SmallVec<[ContentRule; 2]>,
    pub warning: Option<Failure>,
    /// The stores that combine with the old contents.
    pub combines: Vec<Combine>,
    /// The bytes of global memory that the view touches, relative to its first element.
    pub global: Option<Area>,
    /// Its accesses to the bytes of its view.
    pub access: ArrayAccess,
    /// Whether nothing depends on contents. Most instructions are plain, and a loop of tiny ones is slowed by each
    /// further check.
    pub is_plain: bool,
    /// The bytes that it touches, where they can be moved later, together with those of instructions after it; else 0.
    pub shared: u64,
}

/// The reportable effects of a run, a bit each. They are one word: a load of several bytes that were written one by
/// one waits until all earlier stores, which are the bytes that the instruction moved, have left for the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect(usize);

impl Effect {
    /// Undefined bytes were stored to global memory, as zeros.
    pub const STORED_UNDEFINED: Effect = Effect(1);
    /// Something that is not defined reached a destination, or was made undefined.
    pub const LEFT_UNDEFINED: Effect = Effect(2);
    /// There is a warning about the contents of operands.
    pub const WARNED: Effect = Effect(4);

    #[inline]
    pub fn has(self, other: Effect) -> bool {
        self.0 & other.0 != 0
    }

    /// Adds one of them, if it is so.
    #[inline]
    pub fn add(&mut self, other: Effect, is_so: bool) {
        self.0 |= if is_so { other.0 } else { 0 };
    }
}

/// The number of a tile operand's copy on a core.
pub fn operand(tile: usize, core: u8) -> u8 {
    (tile * 2 + usize::from(core)) as u8
}

impl CompiledInst {
    /// Lowers an instruction whose values are all known.
    pub fn new(inst: &Inst, at: Places<'_>) -> Result<Self, Failure> {
        let Some(steps) = sem::steps(inst) else {
            let what = format!("{} cannot run in this form; give it all its operands", inst.op.title());
            return Err(Box::new(Diagnostic::error("not-executable", what)));
        };
        CompiledInst::of_steps(inst, &steps, at)
    }

    /// The operands of an instruction by number: each tile on core 0 and core 1, then the view.
    pub fn all_places(at: Places<'_>) -> SmallVec<[Place; 8]> {
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
    #[inline]
    pub fn run(&mut self, memories: &mut Memories, global: usize) -> Result<Effect, Failure> {
        self.set_view(global);
        if self.is_plain { self.change(memories) } else { self.run_by_contents(memories, global) }
    }

    /// Whether data decides the index map.
    fn is_routed(&self) -> bool {
        self.joined.is_some() || self.looked.is_some() || self.indexed.is_some() || self.routed.is_some()
    }

    /// Whether it runs the same way with any contents of its operands.
    pub fn reads_no_contents(&self) -> bool {
        !self.is_routed() && self.contents.is_empty() && matches!(self.params, ParamSource::Fixed(_))
    }

    #[inline(never)]
    fn run_by_contents(&mut self, memories: &mut Memories, global: usize) -> Result<Effect, Failure> {
        if let Some(joined) = &mut self.joined {
            return joined.run(memories, &self.places);
        }
        if let Some(looked) = &mut self.looked {
            return looked.run(memories, &self.places, global);
        }
        self.params.load(memories, &self.places)?;
        if let Some(indexed) = &self.indexed {
            data::check_indices(indexed, memories, &self.places)?;
        }
        let mut warned = self.ask_contents(memories)?;
        if let Some(routed) = &mut self.routed {
            self.warning = routed.find(memories, &self.places)?;
            warned = self.warning.is_some();
        }
        let mut effect = self.change(memories)?;
        effect.add(Effect::WARNED, warned);
        if let Some(routed) = &self.routed {
            effect.add(Effect::LEFT_UNDEFINED, routed.run(memories, &self.places)?);
        }
        Ok(effect)
    }

    /// Checks the rules about contents; returns whether there is a warning.
    fn ask_contents(&mut self, memories: &Memories) -> Result<bool, Failure> {
        self.warning = None;
        for rule in self.contents.iter().filter(|_| !memories.stands_for_all) {
            match rule.internal_error(memories, &self.places) {
                Some(found) if found.is_error() => return Err(Box::new(found)),
                found => self.warning = found.map(Box::new).or(self.warning.take()),
            }
        }
        Ok(self.warning.is_some())
    }

    #[inline]
    fn change(&mut self, memories: &mut Memories) -> Result<Effect, Failure> {
        // An instruction whose check is remembered has no view of global memory.
        if self.usual.is_as_seen(memories) && self.combines.is_empty() {
            self.move_bytes(memories)?;
            return Ok(Effect::default());
        }
        self.change_defined(memories)
    }

    #[inline(never)]
    fn change_defined(&mut self, memories: &mut Memories) -> Result<Effect, Failure> {
        self.touch_view(memories)?;
        self.change_here(memories)
    }

    /// Makes the bytes of its view ready.
    fn touch_view(&self, memories: &mut Memories) -> Result<(), Failure> {
        let (Some(area), Some(view)) = (&self.global, self.places.last()) else { return Ok(()) };
        let memory = memories.get_mut(view.memory);
        memory.map_or(Ok(()), |memory| memory.touch(area.at(view.at), self.access))
    }

    fn change_here(&mut self, memories: &mut Memories) -> Result<Effect, Failure> {
        let is_defined = self.usual.holds(memories, &self.places);
        let mut effect = if is_defined {
            self.move_bytes(memories)?;
            let effect = self.usual.written(memories, &self.places);
            self.usual.see(memories, &self.places);
            effect
        } else {
            self.change_each(memories)?
        };
        for combine in &self.combines {
            combine.run(memories, &self.places, self.params.loaded(), is_defined, &mut effect);
        }
        if self.global.is_some() {
            self.note_stores(memories);
        }
        Ok(effect)
    }

    /// Step by step, where something that is read is not defined.
    #[cold]
    fn change_each(&self, memories: &mut Memories) -> Result<Effect, Failure> {
        // Sources first: an instruction may work in place, and a footprint must not hide what it reads.
        let source = |step: &DefinednessTransfer| match step {
            DefinednessTransfer::Move(mv) if mv.combines => Source::Defined,
            DefinednessTransfer::Move(mv) => mv.source(memories, &self.places),
            DefinednessTransfer::Set { .. } => Source::Defined,
            DefinednessTransfer::Clear { .. } => Source::Undefined,
        };
        let sources: SmallVec<[Source; 2]> = self.shadow.iter().map(source).collect();
        self.move_bytes(memories)?;
        let mut effect = Effect::default();
        for (step, source) in self.shadow.iter().zip(&sources) {
            if !step.combines() {
                step.apply(memories, &self.places, source, &mut effect);
            }
        }
        Ok(effect)
    }

    /// Applies the effect of a run on defined bits, if no byte that is read is undefined; [`CompiledInst::move_bytes`]
    /// is the rest of the run.
    pub fn note(&mut self, memories: &mut Memories, global: usize) -> Option<Effect> {
        self.set_view(global);
        if self.usual.is_as_seen(memories) {
            return Some(Effect::default());
        }
        self.touch_view(memories).ok()?;
        let effect = self.usual.holds(memories, &self.places).then(|| self.usual.written(memories, &self.places))?;
        self.usual.see(memories, &self.places);
        if self.global.is_some() {
            self.note_stores(memories);
        }
        Some(effect)
    }

    #[inline]
    fn set_view(&mut self, global: usize) {
        if self.global.is_some()
            && let Some(view) = self.places.last_mut()
        {
            view.at = global;
        }
    }

    /// The current place of its view of global memory.
    pub fn view(&self) -> Option<Place> {
        self.global.as_ref().and(self.places.last().copied())
    }

    #[inline]
    pub fn move_bytes(&self, memories: &mut Memories) -> Result<(), Failure> {
        let done = self.plan.run_with(memories.list_mut(), &self.places, self.params.loaded());
        done.map_err(|e| CompiledInst::outside(&e, self.global.is_some()))
    }

    #[cold]
    pub fn outside(e: &OutOfBounds, is_global: bool) -> Failure {
        let rule = if is_global { "gm-bounds" } else { "tassign-range" };
        Box::new(Diagnostic::error(rule, e.to_string()))
    }

    /// The number of bytes that it touches, if all of its work is an operation that rows can share; otherwise 0.
    pub fn shares(&self) -> u64 {
        let touched = |part: RowSlice| part.sides.iter().map(|side| side.span.1.abs_diff(side.span.0)).sum();
        let is_alone = self.is_plain && self.combines.is_empty();
        let is_possible = |part: &RowSlice| part.product().is_none_or(|product| product.is_possible(&self.places));
        self.plan.part().filter(|part| is_alone && is_possible(part)).map_or(0, touched)
    }

    /// Notes the stored bytes in a watched buffer.
    fn note_stores(&self, memories: &mut Memories) {
        let (Some(area), Some(view)) = (&self.global, self.places.last()) else {
            return;
        };
        if let Some(memory) = memories.get_mut(view.memory).filter(|_| self.access.writes) {
            for (start, len) in area.at(view.at) {
                memory.note_written(start, len);
            }
        }
    }

    /// Whether a step writes the view, other than by combining.
    pub fn writes_view(&self) -> bool {
        let stores = |s: &DefinednessTransfer| matches!(s, DefinednessTransfer::Move(mv) if !mv.combines && usize::from(mv.dst) + 1 == self.places.len());
        self.global.is_some() && self.shadow.iter().any(stores)
    }

    pub fn global_span(&self) -> Option<(i64, i64)> {
        self.global.as_ref()?.span()
    }
}
