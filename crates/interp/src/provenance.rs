//! Watched runs: origins follow the data, and data that is not given is unknown.
//!
//! Buffers and input tiles without contents count as given; a buffer is as long as the part of it that is read.
//! Decisions by unknown data are noted ([`ProvenanceTracker::undecided`]), and so are all moves.

use super::Input;
use super::code::{Access, InstTemplate, TileSlot};
use super::step::Exec;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use tessera_exec::definedness::DefinednessTransfer;
use tessera_exec::engine::{Object, TileId};
use tessera_exec::lower::routed::RoutedRun;
use tessera_ir::{OpId, ValueId};
use tessera_isa::layout::Layout;
use tessera_isa::ops::{Role, RuleKind};
use tessera_isa::sem::{Routed, Sem, Step, steps};
use tessera_kernels::nest::lower_copy;
use tessera_kernels::{Failure, MemoryId, Place, internal_error, on_core};
use tessera_provenance::{Output, ProvenanceTracker, TileAt};

impl Exec<'_> {
    fn tile_at(&self, id: TileId, is_written: bool) -> Option<TileAt> {
        let object = self.engine.object(id).ok()?;
        Some(TileAt {
            value: self.cx.program.objects.get(id.index())?.value,
            tile: object.tile,
            layout: self.engine.layout(object),
            place: object.place,
            is_written,
        })
    }

    /// Sets the operation that acts next, and its tiles.
    pub fn announce(&mut self, op: Option<OpId>, tiles: &[(TileId, bool)]) {
        let keeps_log = self.watch.as_ref().is_some_and(|w| w.log.is_some());
        let tiles = match keeps_log {
            true => tiles.iter().filter_map(|(id, w)| self.tile_at(*id, *w)).collect(),
            false => Vec::new(),
        };
        if let Some(watch) = &mut self.watch {
            (watch.now.op, watch.now.tiles) = (op, tiles);
        }
    }

    pub fn watch_given(&mut self, value: ValueId, input: &Input) -> Result<(), Failure> {
        let (Some(slot), Input::Tile { .. }) = (self.cx.program.tile(value), input) else {
            return Ok(());
        };
        let id = self.object_of(slot);
        if !self.cx.process.has(self.engine.object(id)?.tile.loc) {
            return Ok(());
        }
        self.announce(None, &[(id, true)]);
        let object = self.engine.object(id)?;
        let [rows, cols] = object.extent();
        let from = Layout::row_major(rows, cols, cols);
        let nests = lower_copy([rows, cols], &from, &self.engine.layout(object), object.tile.elem.bits());
        let place = object.place;
        if let Some(watch) = &mut self.watch {
            watch.give(value, place, nests);
        }
        self.watch_contents(slot)
    }

    fn region(&mut self, value: ValueId, slot: TileSlot, core: u8) -> Result<Option<Output>, Failure> {
        let object: Object = self.engine.object(self.object_of(slot))?.clone();
        let layout = self.engine.layout(&object);
        let memory = on_core(object.place.memory, core);
        if core == 1 && memory == object.place.memory {
            return Ok(None);
        }
        let place = Place { memory, at: object.place.at };
        let watch = self.watch.as_mut();
        Ok(watch.map(|w| w.region(value, core, &object, &layout, place)))
    }

    pub fn watch_output(&mut self, value: ValueId, slot: TileSlot, core: u8) -> Result<(), Failure> {
        let region = self.region(value, slot, core)?;
        let tile = self.tile_at(self.object_of(slot), true);
        if let Some(watch) = &mut self.watch {
            watch.outputs.extend(region);
            if let Some(log) = &mut watch.log {
                // Whatever stands in the slot now is what the name means.
                log.finals.extend(tile.map(|t| TileAt { value, ..t }));
            }
        }
        Ok(())
    }

    /// `pto.tprint`: the printed contents are an output, too.
    pub fn watch_print(&mut self, slot: TileSlot) -> Result<(), Failure> {
        if let (Some(value), true) = (self.value_of(slot), self.watch.is_some()) {
            let region = self.region(value, slot, 0)?;
            if let Some(watch) = &mut self.watch {
                watch.printed.extend(region);
            }
        }
        Ok(())
    }

    /// The contents of a tile begin, undefined.
    pub fn undefine(&mut self, at: Option<OpId>, id: TileId) {
        // The contents of another core's tile begin when that core says so.
        if self.engine.object(id).is_ok_and(|o| !self.cx.process.has(o.tile.loc)) {
            return;
        }
        self.engine.undefine(id);
        if self.watch.is_none() {
            return;
        }
        self.announce(at, &[(id, true)]);
        let Ok(o) = self.engine.object(id) else { return };
        let (place, bytes) = (o.start(), o.bytes() as usize);
        if let Some(watch) = &mut self.watch {
            for core in [0, 1] {
                let memory = on_core(place.memory, core);
                if core == 0 || memory != place.memory && !self.engine.is_one_core {
                    watch.undefined(memory, place.at, bytes);
                }
            }
        }
    }

    /// A loop goes into its next round.
    pub fn watch_loop(&mut self, name: Option<ValueId>, round: i64) {
        if let Some(watch) = &mut self.watch {
            watch.now.loops.push((name, round));
        }
    }

    /// The round is over, and operation `at` hands values on.
    pub fn watch_loop_end(&mut self, at: OpId) {
        if let Some(watch) = &mut self.watch {
            watch.now.loops.pop();
            watch.now.op = Some(at);
        }
    }

    /// Carried tiles are about to be copied, all at once.
    pub fn watch_copies(&mut self, copies: &[(TileId, TileId)]) -> Result<(), Failure> {
        if self.watch.is_none() {
            return Ok(());
        }
        let op = self.watch.as_ref().and_then(|w| w.now.op);
        let tiles: Vec<(TileId, bool)> = copies.iter().flat_map(|(a, b)| [(*a, false), (*b, true)]).collect();
        self.announce(op, &tiles);
        let mut moves: Vec<DefinednessTransfer> = Vec::new();
        let mut places: Vec<Place> = Vec::new();
        for (from, to) in copies {
            let copy = self.engine.copy_of(*from, *to)?;
            let base = places.len() as u8;
            let has_two = |n: usize| copy.places.get(n).map(|p| p.memory) != copy.places.get(n + 1).map(|p| p.memory);
            for core in 0..=u8::from(has_two(0) && has_two(2) && !self.engine.is_one_core) {
                moves.extend(copy.shadow.iter().filter_map(|step| match step {
                    DefinednessTransfer::Move(mv) => {
                        Some(DefinednessTransfer::Move(Box::new(mv.renumbered(|n| base + n + core))))
                    }
                    _ => None,
                }));
            }
            places.extend(&copy.places);
        }
        if let Some(watch) = &mut self.watch {
            watch.moved(&moves.into(), &places, true);
        }
        Ok(())
    }

    /// Before an instruction: an unbound buffer has all bytes that are loaded from it.
    pub fn watch_view(&mut self, site: &InstTemplate) -> Result<(), Failure> {
        let view = site.global.map(|slot| self.global(slot));
        let Some(view) = view.filter(|view| view.grows) else {
            return Ok(());
        };
        let mut last = view.offset;
        let dims = view.dims.iter().zip(&view.strides);
        for (dim, stride) in dims {
            let steps = i64::try_from(dim.saturating_sub(1)).unwrap_or(i64::MAX);
            last = last.saturating_add(steps.saturating_mul(*stride).max(0));
        }
        if view.dims.is_empty() {
            // A bare pointer feeds a conv tile, densely.
            let conv = site.tiles.iter().find_map(|t| self.engine.object(self.object_of(t.1)).ok()?.conv);
            let elements = conv.map_or(0, |c| i64::try_from(c.elements()).unwrap_or(i64::MAX));
            last = last.saturating_add(elements.saturating_sub(1));
        }
        let (buffer, bits) = (view.buffer, view.elem.bits());
        self.open_buffer(buffer, last, bits)
    }

    /// Makes an unbound buffer reach to this element; the added bytes count as given.
    fn open_buffer(&mut self, buffer: MemoryId, last: i64, bits: u32) -> Result<(), Failure> {
        let Some(end) = last.checked_add(1).and_then(|n| u64::try_from(n).ok()) else {
            return Ok(());
        };
        let end = end.saturating_mul(u64::from(bits)).div_ceil(8);
        let have = self.engine.memories.get(buffer).map_or(0, |m| m.bytes().len());
        self.engine.reserve(buffer, end)?;
        if let Some(memory) = self.engine.memories.get_mut(buffer) {
            memory.defined_mut().insert(have, (end as usize).saturating_sub(have));
        }
        Ok(())
    }

    /// Checks, before an instruction, whether the data that decides about it is known.
    pub fn watch_decisions(&mut self, site: &InstTemplate) {
        let written = site.tiles.iter().map(|(role, slot)| (*slot, role.is_dst()));
        let operands = written.chain(site.init.map(|slot| (slot, false)));
        let tiles: Vec<_> = operands.map(|(slot, is_written)| (self.object_of(slot), is_written)).collect();
        self.announce(Some(site.at), &tiles);
        if let Some(routed) = self.routed(site) {
            return self.watch_routed(site, &routed);
        }
        let dst = site.tiles.iter().find(|t| t.0 == Role::Dst);
        let extent = dst.and_then(|t| Some(self.engine.object(self.object_of(t.1)).ok()?.extent()));
        for (role, slot) in &site.tiles {
            let Ok(object) = self.engine.object(self.object_of(*slot)) else {
                continue;
            };
            let ([rows, cols], [what, decides, how]) = match role {
                Role::Idx0 | Role::Idx1 => ([extent.map_or(0, |e| e[0]), 1], ["counts", "how much", "joins"]),
                Role::Idx if dst.is_none() => (object.extent(), ["indices", "where", "writes"]),
                Role::Idx => (object.extent(), ["indices", "what", "picks"]),
                _ => continue,
            };
            let (layout, place) = (self.engine.layout(object), object.place);
            let size = object.tile.elem.bytes_of(1) as usize;
            let name = self.tile_name(*slot);
            let Some(watch) = &mut self.watch else { continue };
            let mut elements = (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c)));
            let is_data = elements.any(|(r, c)| {
                let start = place.at + layout.offset(r, c).max(0) as usize * size;
                !watch.is_constant(place.memory, start, size)
            });
            if is_data {
                let op = site.inst.op.title();
                watch.undecide(format!("the {what} in {name} decide {decides} {op} {how}, and they are data"));
            }
        }
    }

    /// The reads and writes of a data-dependent instruction.
    fn routed(&self, site: &InstTemplate) -> Option<Routed> {
        if !matches!(site.inst.op.info().sem, Sem::Data(_) | Sem::Part(_)) {
            return None;
        }
        let inst = self.inst(site, None).ok()?;
        let step = |step| if let Step::Routed(routed) = step { Some(routed) } else { None };
        steps(&inst)?.into_iter().find_map(step)
    }

    /// Checks whether all data that decides the effect of such an instruction is known.
    fn watch_routed(&mut self, site: &InstTemplate, routed: &Routed) {
        for (n, rect) in &routed.reads {
            let Some((role, slot)) = site.tiles.get(*n).filter(|t| routed.how.deciders().contains(&t.0)) else {
                continue;
            };
            let Ok(object) = self.engine.object(self.object_of(*slot)) else { continue };
            let (layout, place) = (self.engine.layout(object), object.place);
            let size = object.tile.elem.bytes_of(1) as usize;
            let name = self.tile_name(*slot);
            let Some(watch) = &mut self.watch else { continue };
            let mut elements = (0..rect.rows).flat_map(|r| (0..rect.cols).map(move |c| (rect.row + r, rect.col + c)));
            let is_data = elements.any(|(r, c)| {
                let start = place.at + layout.offset(r, c).max(0) as usize * size;
                !watch.is_constant(place.memory, start, size)
            });
            if is_data {
                let op = site.inst.op.title();
                watch.undecide(format!("{role} {name} decides what {op} does, and it is data"));
            }
        }
    }

    /// An instruction ran; its view started at byte `start`.
    pub fn watch_issue(&mut self, index: usize, site: &InstTemplate, start: usize) -> Result<(), Failure> {
        self.watch_cache(index, start);
        let mut written = site.tiles.iter().filter(|(role, _)| role.is_dst());
        written.try_for_each(|(_, slot)| self.watch_contents(*slot))
    }

    /// After something between cores, which no site of the program is.
    pub fn watch_cache(&mut self, index: usize, start: usize) {
        if let Some(mut watch) = self.watch.take() {
            if let Err(failure) = self.note_issue(&mut watch, index, start) {
                watch.undecide(failure.message.clone());
            }
            self.watch = Some(watch);
        }
    }

    /// Keeps a hash of a tile's contents.
    fn watch_contents(&mut self, slot: TileSlot) -> Result<(), Failure> {
        if self.watch.as_ref().is_none_or(|w| w.contents.is_none()) {
            return Ok(());
        }
        let Some(value) = self.value_of(slot) else {
            return Ok(());
        };
        let region = self.region(value, slot, 0)?;
        if let (Some(watch), Some(region)) = (&mut self.watch, region)
            && let Some(contents) = &mut watch.contents
        {
            let mut hasher = FxHasher::default();
            (region.rows, region.cols, region.elem, region.origins).hash(&mut hasher);
            contents.insert(value, hasher.finish());
        }
        Ok(())
    }

    fn note_issue(&self, watch: &mut ProvenanceTracker, index: usize, start: usize) -> Result<(), Failure> {
        let issued = self.engine.caches.get(index).and_then(|c| c.key().zip(c.current()));
        let Some((key, entry)) = issued else {
            return Err(internal_error("an instruction was issued, and it is not there"));
        };
        if let Some(init) = &entry.init {
            watch.moved(&init.shadow.as_slice().into(), &init.places, false);
        }
        let Some(compiled) = &entry.compiled else {
            return Ok(());
        };
        let mut places = compiled.places.clone();
        if let (Some(view), true) = (places.last_mut(), compiled.global.is_some()) {
            view.at = start;
        }
        if let Some(joined) = &compiled.joined {
            let moves = joined.lowered.as_ref().map_or(&[][..], |lowered| &lowered.shadow);
            watch.moved(&moves.into(), &places, false);
            return joined.for_each_count(&places, |place, bytes| {
                watch.stored(place.memory, place.at, bytes);
                Ok(())
            });
        }
        if let Some(routed) = &compiled.routed {
            let (mut moves, routes) = (compiled.shadow.to_vec(), routed.last(&self.engine.memories, &places)?);
            moves.extend(RoutedRun::shadow(&routes));
            watch.moved(&moves.into(), &places, false);
            return RoutedRun::for_each_value(&routes, &places, |place, bytes| {
                watch.stored(place.memory, place.at, bytes);
            });
        }
        if let Some(looked) = &compiled.looked {
            let moves = looked.lowered.as_ref().map_or(&[][..], |lowered| &lowered.shadow);
            watch.moved(&moves.into(), &places, false);
            return Ok(());
        }
        if compiled.indexed.is_some() {
            // The selected elements are known by now; the index tile is unchanged.
            let mut moves = compiled.shadow.to_vec();
            for action in &mut moves {
                if let DefinednessTransfer::Move(mv) = action
                    && let Some(copy) = mv.as_copy(&self.engine.memories, &places)
                {
                    **mv = copy;
                }
            }
            watch.moved(&moves.into(), &places, false);
            return Ok(());
        }
        let ready = watch.ready.entry((index, key.into()));
        let moves = ready.or_insert_with(|| compiled.shadow.as_slice().into()).clone();
        watch.moved(&moves, &places, false);
        Ok(())
    }

    /// Whether this failure depends on data that is unknown, such as quantization parameters.
    pub fn is_about_data(&mut self, site: &InstTemplate, failure: &Failure) -> bool {
        let is_quant = matches!(failure.rule, "quant-sign" | "quant-scale");
        let rules = site.inst.op.info().rules;
        let is_of_data = |kind| matches!(kind, RuleKind::Zero | RuleKind::AtRun);
        let is_zero =
            || failure.rule != "undefined-use" && rules.iter().any(|r| is_of_data(r.kind) && r.id == failure.rule);
        if self.watch.is_none() || !(is_quant || is_zero()) {
            return false;
        }
        let read = site.tiles.iter().filter(|t| t.0 == Role::Fp || !(is_quant || t.0.is_dst() || t.0 == Role::Tmp));
        let areas: SmallVec<[_; 2]> = read
            .filter_map(|t| self.engine.object(self.object_of(t.1)).ok())
            .map(|object| (object.place, object.bytes() as usize))
            .collect();
        let watch = self.watch.as_mut();
        watch.is_some_and(|w| areas.iter().any(|(place, bytes)| !w.is_constant(place.memory, place.at, *bytes)))
    }

    /// Before an element becomes a scalar: it decides something sooner or later, so it must be known.
    pub fn watch_get(&mut self, op: OpId, tile: TileId, memory: MemoryId, start: usize, len: usize) {
        if self.watch.is_none() {
            return;
        }
        self.announce(Some(op), &[(tile, false)]);
        if let Some(watch) = &mut self.watch
            && !watch.is_constant(memory, start, len)
        {
            watch.undecide("an element of a tile becomes a scalar, and it is data".into());
        }
    }

    /// Before a scalar is loaded: it decides something sooner or later, so it must be known.
    pub fn watch_load(&mut self, op: OpId, access: &Access) -> Result<(), Failure> {
        if self.watch.is_none() {
            return Ok(());
        }
        self.announce(Some(op), &[]);
        let pointer = self.global(access.pointer);
        let at = pointer.offset.saturating_add(self.int(access.index));
        let (buffer, bits, grows) = (pointer.buffer, pointer.elem.bits(), pointer.grows);
        if grows {
            self.open_buffer(buffer, at, bits)?;
        }
        let Ok(element) = usize::try_from(at) else {
            // No element; the load itself will be refused.
            return Ok(());
        };
        let start = element.saturating_mul(bits as usize) / 8;
        if let Some(watch) = &mut self.watch
            && !watch.is_constant(buffer, start, (bits as usize / 8).max(1))
        {
            watch.undecide(format!("element {at} of a buffer is loaded as a scalar, and it is data"));
        }
        Ok(())
    }

    /// A scalar was stored: these bytes.
    pub fn watch_store(&mut self, at: OpId, buffer: MemoryId, start: usize, len: usize) {
        if self.watch.is_none() {
            return;
        }
        self.announce(Some(at), &[]);
        let memory = self.engine.memories.get(buffer);
        let bytes = memory.and_then(|m| m.bytes().get(start..start + len)).map(<[u8]>::to_vec);
        if let (Some(watch), Some(bytes)) = (&mut self.watch, bytes) {
            watch.stored(buffer, start, &bytes);
        }
    }
}
