//! Issuing tile instructions: what was made ready for the same operands runs straight away.

use super::code::Site;
use super::exec::Exec;
use super::objects::{Binding, UNSET, refused};
use crate::memory::on_core;
use crate::nest::Place;
use crate::prepared::{Effect, Failure, Places, Prepared};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{AccToVec, Inst};
use tessera_isa::layout::{Axis, Layout};
use tessera_isa::maps::Step;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Extent};

/// More variants of one instruction than this are not kept.
const MAX_ENTRIES: usize = 256;

/// An instruction made ready for certain operands.
#[derive(Debug)]
pub(crate) struct Entry {
    key: Box<[u64]>,
    /// Copies the old contents into the result.
    init: Option<Prepared>,
    /// What the instruction moves; nothing for one that only binds.
    pub prepared: Option<Prepared>,
    /// When it last left something undefined.
    pub undefined_at: u64,
}

/// The variants of one instruction, by everything that they depend on.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub entries: Vec<Entry>,
    last: usize,
    by_key: FxHashMap<Box<[u64]>, usize>,
}

impl Cache {
    #[inline]
    fn find(&mut self, key: &[u64]) -> bool {
        if self.entries.get(self.last).is_some_and(|e| *e.key == *key) {
            return true;
        }
        match self.by_key.get(key) {
            Some(at) => {
                self.last = *at;
                true
            }
            None => false,
        }
    }

    fn insert(&mut self, entry: Entry) {
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.clear();
            self.by_key.clear();
        }
        self.last = self.entries.len();
        self.by_key.insert(entry.key.clone(), self.last);
        self.entries.push(entry);
    }
}

impl Exec<'_> {
    /// Runs one tile instruction.
    pub fn issue(&mut self, index: usize) -> Result<(), Failure> {
        let Some(site) = self.cx.program.sites.get(index) else {
            return Ok(());
        };
        self.issued += 1;
        self.begin_results(site);
        self.bind(site).map_err(|e| self.at(site.at, e))?;
        let global = self.make_key(site);
        let known = self.caches.get_mut(index).is_some_and(|c| c.find(&self.key));
        if !known || !(self.fits(index, site, global) || self.grows(index, site)?) {
            self.make_ready(index, site)?;
        }
        let start = match site.global {
            Some(slot) => self.global(slot)?.byte().unwrap_or(0),
            None => 0,
        };
        let effect = self.run_entry(index, start).map_err(|e| self.at(site.at, e))?;
        self.finish(index, site, effect)
    }

    #[inline]
    fn run_entry(&mut self, index: usize, start: usize) -> Result<Effect, Failure> {
        let Some(cache) = self.caches.get_mut(index) else {
            return Ok(Effect::default());
        };
        let Some(entry) = cache.entries.get_mut(cache.last) else {
            return Ok(Effect::default());
        };
        if let Some(init) = &mut entry.init {
            init.run(&mut self.memories, 0)?;
        }
        let Some(prepared) = &mut entry.prepared else {
            return Ok(Effect::default());
        };
        let effect = prepared.run(&mut self.memories, start)?;
        if effect.left_undefined {
            entry.undefined_at = self.issued;
        }
        Ok(effect)
    }

    /// What happens after the data has moved.
    fn finish(&mut self, index: usize, site: &Site, effect: Effect) -> Result<(), Failure> {
        if effect.stored_undefined {
            self.report_store(site)?;
        }
        if site.opcode == Opcode::TfillpadExpand
            && let Some((_, slot)) = site.tiles.last()
        {
            let object = self.object_of(*slot);
            if let Some(o) = self.objects.get_mut(object as usize) {
                for (v, (extent, declared)) in o
                    .valid
                    .iter_mut()
                    .zip([(o.tile.v_row, o.tile.rows), (o.tile.v_col, o.tile.cols)])
                {
                    if extent == Extent::Dynamic {
                        *v = declared;
                    }
                }
            }
        }
        if self.trace.is_some() {
            self.trace_line(index, site);
        }
        Ok(())
    }

    fn begin_results(&mut self, site: &Site) {
        for (slot, object) in &site.results {
            self.begin(*object);
            if let Some(tile) = self.tiles.get_mut(*slot as usize) {
                *tile = *object;
            }
            // Placed tiles begin where placement says; this is for those in the pool and those with an address.
            let info = self.cx.program.objects.get(*object as usize);
            let manual = self
                .objects
                .get(*object as usize)
                .is_some_and(|o| o.binding == Binding::Manual);
            if site.init.is_none() && (manual || info.is_some_and(|i| i.address.is_none())) {
                self.undefine(*object);
            }
        }
    }

    /// Instructions that make their destination a view of their source.
    fn bind(&mut self, site: &Site) -> Result<(), Failure> {
        let slot = |role| site.tiles.iter().find(|t| t.0 == role).map(|t| t.1);
        let (Some(src), Some(dst)) = (slot(Role::Src), slot(Role::Dst)) else {
            return Ok(());
        };
        let binding = match site.opcode {
            Opcode::Treshape | Opcode::Bitcast if self.cx.profile != Profile::Cpu => Binding::View,
            Opcode::TfillpadInplace => Binding::Inplace,
            _ => return Ok(()),
        };
        let (from, to) = (self.tile(src)?.clone(), self.tile(dst)?.clone());
        let is_result = !site.results.is_empty();
        if binding == Binding::Inplace && !is_result && !matches!(to.binding, Binding::Own | Binding::Inplace) {
            return Ok(());
        }
        let source = self.layouts.get(from.layout);
        let dense = source == from.tile.layout();
        let layout = if dense {
            to.tile.layout()
        } else if binding == Binding::Inplace {
            source
        } else {
            pitched(&from.tile, &source, &to.tile)?
        };
        let layout = self.layouts.intern(layout);
        let object = self.object_of(dst);
        if let Some(o) = self.objects.get_mut(object as usize) {
            (o.place, o.layout, o.binding) = (from.place, layout, binding);
        }
        Ok(())
    }

    /// Everything that what is made ready depends on; tells how many elements the buffer has.
    #[inline]
    fn make_key(&mut self, site: &Site) -> u64 {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let init = site.init.iter();
        for slot in site.tiles.iter().map(|t| &t.1).chain(init) {
            if let Some(o) = self.objects.get(self.object_of(*slot) as usize) {
                key.extend_from_slice(&[
                    (o.place.memory as u64) << 32 | u64::from(o.layout),
                    o.place.at as u64,
                    o.valid[0],
                    o.valid[1],
                ]);
            }
        }
        for (_, scalar) in &site.scalars {
            key.push(self.int(scalar.int) as u64);
        }
        let mut elements = 0;
        if let Some(slot) = site.global
            && let Some(view) = self.globals.get(slot as usize)
        {
            elements = self.elements(view);
            let bound = if view.grows && site.opcode == Opcode::Tstore {
                u64::MAX
            } else {
                elements
            };
            key.extend_from_slice(&[view.buffer as u64, bound, view.tag as u64]);
            key.extend(view.dims.iter().copied());
            key.extend(view.strides.iter().map(|s| *s as u64));
        }
        if site.opcode == Opcode::Timg2col {
            self.key_of_config(&mut key);
        }
        self.key = key;
        elements
    }

    fn key_of_config(&self, key: &mut Vec<u64>) {
        let c = &self.config;
        key.extend(c.fmap.into_iter().flatten().map(|v| v as u64));
        key.extend(c.pad.into_iter().flatten().map(|v| v as u64));
        key.extend(match c.pad_value {
            Some(Number::Int(v)) => [1, v as u64],
            Some(Number::Float(v)) => [2, v.to_bits()],
            None => [0, 0],
        });
    }

    /// Lies what was made ready for another place of the same buffer inside it here, too?
    fn fits(&self, index: usize, site: &Site, elements: u64) -> bool {
        let Some(slot) = site.global else { return true };
        let Some(view) = self.globals.get(slot as usize) else {
            return false;
        };
        let entry = self.caches.get(index).and_then(|c| c.entries.get(c.last));
        let Some(span) = entry.and_then(|e| e.prepared.as_ref()).and_then(Prepared::global_span) else {
            // An empty window touches nothing.
            return true;
        };
        let Some(start) = view.byte() else { return false };
        let end = view.elem.bytes_of(elements) as i64;
        start as i64 + span.0 >= 0 && start as i64 + span.1 <= end
    }

    /// Checks an instruction with everything known, lowers it, and keeps it.
    fn make_ready(&mut self, index: usize, site: &Site) -> Result<(), Failure> {
        let inst = self.instruction(site).map_err(|e| self.at(site.at, e))?;
        self.legal(site.at, &inst)?;
        let uses_core1 = matches!(
            inst.attrs.acc_to_vec,
            Some(AccToVec::SingleModeVec1 | AccToVec::DualModeSplitM | AccToVec::DualModeSplitN)
        );
        let mut places: SmallVec<[Place; 4]> = SmallVec::new();
        for (_, slot) in site.tiles.iter() {
            let object = self.object_of(*slot);
            self.reserve_tile(object, 0).map_err(|e| self.at(site.at, e))?;
            if uses_core1 && on_core(self.tile(*slot)?.place.memory, 1) != self.tile(*slot)?.place.memory {
                self.reserve_tile(object, 1).map_err(|e| self.at(site.at, e))?;
            }
            places.push(self.tile(*slot)?.place);
        }
        let global = match site.global {
            Some(slot) => Some(self.global(slot)?.buffer),
            None => None,
        };
        let at = Places {
            tiles: &places,
            global,
            tracked: self.memories.tracked,
        };
        let binds_only = matches!(site.opcode, Opcode::Treshape | Opcode::Bitcast) && self.cx.profile != Profile::Cpu;
        let prepared = if binds_only {
            None
        } else {
            Some(Prepared::new(&inst, at).map_err(|e| self.at(site.at, e))?)
        };
        if let (Some(prepared), Some(slot)) = (&prepared, site.global) {
            self.grow_buffer(site, slot, prepared.global_span())?;
        }
        let init = match site.init {
            Some(slot) => self.prepare_init(site, slot, &inst, &places)?,
            None => None,
        };
        let entry = Entry {
            key: self.key.as_slice().into(),
            init,
            prepared,
            undefined_at: 0,
        };
        if let Some(cache) = self.caches.get_mut(index)
            && !cache.find(&self.key)
        {
            cache.insert(entry);
        }
        Ok(())
    }

    /// Does what is known fit when the buffer grows?
    fn grows(&mut self, index: usize, site: &Site) -> Result<bool, Failure> {
        let entry = self.caches.get(index).and_then(|c| c.entries.get(c.last));
        let span = entry.and_then(|e| e.prepared.as_ref()).and_then(Prepared::global_span);
        match site.global {
            Some(slot) => self.grow_buffer(site, slot, span),
            None => Ok(false),
        }
    }

    /// A buffer that no file is bound to grows with what is stored; tells whether it holds the store now.
    fn grow_buffer(&mut self, site: &Site, slot: u32, span: Option<(i64, i64)>) -> Result<bool, Failure> {
        let view = self.global(slot)?;
        let (Some(span), Some(start)) = (span, view.byte()) else {
            return Ok(false);
        };
        let (first, end) = (
            (start as i64).saturating_add(span.0),
            (start as i64).saturating_add(span.1),
        );
        if site.opcode != Opcode::Tstore || !view.grows || first < 0 {
            return Ok(false);
        }
        let buffer = view.buffer;
        self.reserve(buffer, u64::try_from(end).unwrap_or(0))
            .map_err(|e| self.at(site.at, e))?;
        Ok(true)
    }

    /// The copy of `init(%old)` into the result.
    fn prepare_init(
        &mut self,
        site: &Site,
        slot: u32,
        inst: &Inst,
        places: &[Place],
    ) -> Result<Option<Prepared>, Failure> {
        let Some(dst) = inst.tiles.last().cloned() else {
            return Ok(None);
        };
        let old_object = self.object_of(slot);
        self.reserve_tile(old_object, 0).map_err(|e| self.at(site.at, e))?;
        let old = self.tile(slot)?;
        let mut copy = Inst::new(Opcode::Treshape, Form::Plain, Profile::Cpu);
        let (from, len) = (old.place, dst.tile.bytes());
        copy.tiles.push(old.arg(Role::Src, &self.layouts));
        copy.tiles.push(dst);
        let step = Step::Bytes { src: 0, dst: 1, len };
        let to = places.last().copied().unwrap_or(from);
        let at = Places {
            tiles: &[from, to],
            global: None,
            tracked: self.memories.tracked,
        };
        Prepared::of_steps(&copy, &[step], at).map(Some)
    }

    /// The instruction with everything known.
    fn instruction(&self, site: &Site) -> Result<Inst, Failure> {
        let mut inst = Inst::new(site.opcode, site.form, self.cx.profile);
        for (role, slot) in &site.tiles {
            let object = self.tile(*slot)?;
            if object.valid.contains(&UNSET) && needs_valid(site, *role) {
                let name = self.tile_name(*slot);
                let axis = if object.valid[0] == UNSET { "rows" } else { "columns" };
                let what = format!("the valid {axis} of {name} are `?` and were never set");
                let help = "give them with valid_row and valid_col, or with pto.set_validshape";
                return Err(Box::new(Diagnostic::error("valid-unset", what).help(help)));
            }
            let conv = object.conv.filter(|_| matches!(role, Role::Src | Role::Dst));
            if conv.is_some() {
                inst.conv = conv;
            }
            inst.tiles.push(object.arg(*role, &self.layouts));
        }
        for (role, scalar) in &site.scalars {
            let value = scalar.number(self.int(scalar.int));
            inst.scalars.push((*role, Some(value)));
        }
        inst.attrs = site.attrs.clone();
        if site.opcode == Opcode::Timg2col {
            inst.attrs.fmap = inst.attrs.fmap.or(self.config.fmap);
            inst.attrs.pad = inst.attrs.pad.or(self.config.pad);
            inst.attrs.pad_value = inst.attrs.pad_value.or(self.config.pad_value);
        }
        if let Some(slot) = site.global {
            let view = self.global(slot)?;
            if view.elem.is_fp4() && view.offset % 2 != 0 {
                let what = format!(
                    "the view starts at element {}, and two {} share a byte",
                    view.offset, view.elem
                );
                return Err(Box::new(
                    Diagnostic::error("tile-fp4", what).help("start it at an even element"),
                ));
            }
            let tile = inst.tiles.first().map(|t| t.valid);
            let dense = tile.and_then(|[r, c]| Some([r?, c?])).filter(|_| inst.conv.is_none());
            let mut arg = view.arg(self.elements(view), dense);
            if view.grows && site.opcode == Opcode::Tstore {
                arg.buffer = None;
            }
            inst.global = Some(arg);
        }
        Ok(inst)
    }

    /// Asks the rules; an error stops the program, a warning is kept.
    pub fn legal(&mut self, at: tessera_ir::OpId, inst: &Inst) -> Result<(), Failure> {
        for fault in tessera_check::check(inst) {
            let warning = fault.warning;
            let mut failure = refused(fault);
            failure.notes.extend(self.operand_notes(at, inst));
            let failure = self.at(at, failure);
            if !warning {
                return Err(failure);
            }
            self.found.warn(at, *failure);
        }
        Ok(())
    }
}

/// Does the instruction read the operand's valid region?
fn needs_valid(site: &Site, role: Role) -> bool {
    match site.opcode {
        Opcode::Treshape | Opcode::Bitcast => false,
        Opcode::TfillpadExpand => role == Role::Src || site.form == Form::Fill,
        _ => true,
    }
}

/// The layout of a reinterpreted view that keeps its source's pitch.
fn pitched(from: &tessera_isa::tile::Tile, source: &Layout, to: &tessera_isa::tile::Tile) -> Result<Layout, Failure> {
    let line = |t: &tessera_isa::tile::Tile| match t.blayout {
        BLayout::RowMajor => (t.rows, t.cols * u64::from(t.elem.bits())),
        BLayout::ColMajor => (t.cols, t.rows * u64::from(t.elem.bits())),
    };
    if to.is_boxed() || line(from) != line(to) {
        let what = format!("{from} is a window of a wider tile, and {to} has other lines");
        let help = "move the window to a tile of its own first";
        return Err(Box::new(Diagnostic::error("treshape-bytes", what).help(help)));
    }
    let stride = match from.blayout {
        BLayout::RowMajor => source.offset(1, 0),
        BLayout::ColMajor => source.offset(0, 1),
    };
    let stride = stride.saturating_mul(i64::from(from.elem.bits())) / i64::from(to.elem.bits());
    Ok(match to.blayout {
        BLayout::RowMajor => Layout {
            row: Axis::linear(to.rows, stride),
            col: Axis::linear(to.cols, 1),
        },
        BLayout::ColMajor => Layout {
            row: Axis::linear(to.rows, 1),
            col: Axis::linear(to.cols, stride),
        },
    })
}
