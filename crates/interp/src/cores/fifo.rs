//! Push, pop and free (isa/structure.md 6).
//!
//! On cpu and a5 a pushed tile waits, as it is, in the pool; the pop puts it, or its half, into the slot, which the
//! popped tile is. On a2a3, or where the pipe names a view of a slot, it goes through global memory.

use super::super::code::{Channel, InstTemplate, Pop, Push, TileSlot};
use super::super::step::{Exec, Stop};
use super::links::{Popped, Pushed, Wait};
use tessera_check::fifo;
use tessera_exec::engine::{CachedInst, Global, TileId, is_valid_set};
use tessera_exec::lower::Effect;
use tessera_ir::OpId;
use tessera_ir::fifo::part_of;
use tessera_isa::inst::{Inst, ViewTag, ViewTags};
use tessera_isa::ops::Role;
use tessera_isa::sem::Dir;
use tessera_isa::tile::{Loc, Tile};
use tessera_kernels::memory::ArrayAccess;
use tessera_kernels::{Failure, MemoryId, Place, failure, internal_error, on_core};

/// The internal error for a FIFO that was compiled and is missing.
const LOST: &str = "a FIFO, or a slot of it, is not there";

impl Exec<'_> {
    pub(super) fn push(&mut self, at: OpId, push: &Push) -> Result<(), Stop> {
        let (program, n) = (self.cx.program, push.channel);
        let (Some(channel), Some(links)) = (program.channels.get(n), self.links.as_deref()) else {
            return Err(internal_error(LOST).into());
        };
        let half = if channel.dir == Dir::V2c { usize::from(self.cx.process.number) } else { 0 };
        let number = links.channels.get(n).map_or(0, |state| state.pushed[half]);
        if number >= links.freed(n, channel).saturating_add(channel.slots) {
            return Err(self.wait(at, Wait::Slot { channel: n }));
        }
        self.is_alive(push.src)?;
        let object = self.engine.object(self.object_of(push.src))?;
        let (tile, valid) = (object.tile, object.valid);
        let op = self.cx.func.op(at).opcode().ok_or_else(|| internal_error("a push is no instruction"))?;
        is_valid_set(op, Role::Src, valid)?;
        let [Some(rows), Some(cols)] = valid else { return Err(internal_error(LOST).into()) };
        let valid = [rows, cols];
        if let Some(fault) = fifo::check_push(
            self.cx.profile,
            channel.dir,
            channel.split,
            channel.slot_size,
            &tile,
            valid,
            channel.epilogue,
        ) {
            return Err(Failure::from(fault).into());
        }
        let slot = number % channel.slots;
        if let Some(quant) = &push.quant {
            self.engine.put_tile(push.stage, stage(channel, slot, half as u64), valid)?;
            self.quantize(at, push, quant, channel)?;
        }
        match channel.is_global {
            false if push.quant.is_some() => {}
            true => self.store_slot(at, push, channel, (slot, number, half as u64), valid)?,
            false => {
                let from = self.object_of(push.src);
                let place = stage(channel, slot, half as u64);
                self.engine.put_tile(push.stage, place, valid)?;
                self.announce(Some(at), &[]);
                self.copy_tiles(&[(from, push.stage)])?;
            }
        }
        let global = push.global.filter(|_| self.observer.is_some()).map(|slot| self.global(slot).clone());
        self.observe_move(at, number, Some(self.object_of(push.src)), global.as_ref());
        if let Some(links) = &mut self.links
            && let Some(state) = links.channels.get_mut(n)
        {
            state.pushed[half] += 1;
            if let Some(waits) = state.slots.get_mut(slot as usize) {
                waits[half] = Pushed { number: push.number, valid };
            }
            links.events += 1;
        }
        Ok(())
    }

    pub(super) fn pop(&mut self, at: OpId, pop: &Pop) -> Result<(), Stop> {
        let (program, n) = (self.cx.program, pop.channel);
        let (Some(channel), Some(links)) = (program.channels.get(n), self.links.as_deref()) else {
            return Err(internal_error(LOST).into());
        };
        let me = if channel.dir == Dir::C2v { usize::from(self.cx.process.number) } else { 0 };
        let state = links.channels.get(n).ok_or_else(|| internal_error(LOST))?;
        let number = state.popped[me];
        if number >= links.ready(n, channel) {
            return Err(self.wait(at, Wait::Tile { channel: n }));
        }
        let slot = number % channel.slots;
        let pushed = *state.slots.get(slot as usize).ok_or_else(|| internal_error(LOST))?;
        let id = *pop.ring.get(slot as usize).ok_or_else(|| internal_error(LOST))?;
        let tile = self.engine.object(id)?.tile;
        let valid = self.popped_valid(pop, &tile)?;
        let first = pop.stages.get(pushed[0].number).map(|id| self.engine.object(*id)).transpose()?.map(|o| o.tile);
        let fault = first
            .filter(|_| channel.epilogue.is_none())
            .and_then(|first| fifo::check_meet(self.cx.profile, channel.dir, channel.split, &first, &tile, None));
        let halves = if channel.dir == Dir::V2c && channel.split != 0 { 2 } else { 1 };
        // A pop that leaves its extents open takes those of the pushed tile (isa/today.md 7.1).
        let is_open = tile.v_row.known().zip(tile.v_col.known()).is_none() && pop.valid.iter().all(Option::is_none);
        let fault = fault.or_else(|| {
            if is_open {
                return None;
            }
            if channel.split > 2 {
                return fifo::check_odd_part(channel.split, me as u64, pushed[0].valid, valid);
            }
            let given = pushed.iter().take(halves).map(|p| p.valid);
            fifo::check_valid(channel.dir, channel.split, given, valid)
        });
        if let Some(fault) = fault {
            return Err(Failure::from(fault).into());
        }
        let (memory, size) = match channel.is_global {
            true => (MemoryId::of_loc(tile.loc), tile.bytes()),
            false => (MemoryId::of_loc(tile.loc), channel.slot_size),
        };
        let memory = if tile.loc == Loc::Vec { on_core(memory, self.engine.core) } else { memory };
        let at_home = if channel.is_global { number % channel.local_slots.max(1) } else { slot };
        let place = Place { memory, at: channel.base.saturating_add(at_home * size) as usize };
        self.engine.put_tile(id, place, valid)?;
        self.undefine(Some(at), id);
        match channel.is_global {
            true => self.load_slot(at, pop, channel, (slot, me as u64), id, (pushed[0].valid, valid))?,
            false => self.take_slot(at, pop, channel, (slot, me as u64), &pushed[..halves], (id, valid))?,
        }
        self.set_tile(pop.to, id);
        let global = pop.global.filter(|_| self.observer.is_some()).map(|slot| self.global(slot).clone());
        self.observe_move(at, number, Some(id), global.as_ref());
        let mut gone = None;
        if let Some(links) = &mut self.links
            && let Some(state) = links.channels.get_mut(n)
        {
            state.popped[me] += 1;
            state.live[me].push_back(Popped { tile: id, views: pop.views.iter().copied().collect() });
            // A copy stays until its place is taken again.
            if channel.is_global && state.live[me].len() as u64 > channel.local_slots {
                gone = state.live[me].pop_front().filter(|old| old.tile != id);
            }
            links.events += 1;
        }
        if let Some(old) = gone {
            self.end(&old)?;
        }
        Ok(())
    }

    /// The valid region of a popped tile: from its type, or from the operands.
    fn popped_valid(&self, pop: &Pop, tile: &Tile) -> Result<[u64; 2], Failure> {
        let given = pop.valid.map(|v| v.map(|v| i128::from(self.int(v))));
        if let Some(fault) = fifo::check_popped(tile, given) {
            return Err(fault.into());
        }
        let known = [tile.v_row.known(), tile.v_col.known()];
        let declared = [tile.rows, tile.cols];
        Ok([0, 1].map(|k| known[k].or(given[k].and_then(|v| u64::try_from(v).ok())).unwrap_or(declared[k])))
    }

    pub(super) fn free(&mut self, at: OpId, n: usize) -> Result<(), Stop> {
        let channel = self.cx.program.channels.get(n).ok_or_else(|| internal_error(LOST))?;
        if channel.frees_at_pop {
            return Ok(());
        }
        let me = if channel.dir == Dir::C2v { usize::from(self.cx.process.number) } else { 0 };
        let state = self.links.as_deref_mut().and_then(|links| links.channels.get_mut(n));
        let Some(old) = state.and_then(|state| state.live[me].pop_front()) else {
            let what = format!("{} has no popped tile whose slot could be freed", channel.name);
            let failure = failure("fifo-free", what, "free once for each pop, after it");
            return Err(self.at(at, failure).into());
        };
        self.end(&old)?;
        if let Some(links) = &mut self.links {
            if let Some(state) = links.channels.get_mut(n) {
                state.freed[me] += 1;
            }
            links.events += 1;
        }
        self.observe_move(at, 0, None, None);
        Ok(())
    }

    /// A popped tile ends, and its views with it.
    fn end(&mut self, old: &Popped) -> Result<(), Failure> {
        let object = self.engine.object(old.tile)?;
        let (place, bytes) = (object.place, object.bytes() as usize);
        for view in &old.views {
            let at = self.engine.object(*view)?.place;
            if at.memory == place.memory && (place.at..place.at + bytes).contains(&at.at) {
                self.engine.end_tile(*view)?;
            }
        }
        self.engine.end_tile(old.tile)
    }

    /// `fifo-use-after-free`: the tile has a place.
    pub fn is_alive(&self, slot: TileSlot) -> Result<(), Failure> {
        let id = self.object_of(slot);
        if self.engine.object(id)?.place.memory != MemoryId::NONE {
            return Ok(());
        }
        let name = self.tile_name(slot);
        let is_own = self.cx.program.objects.get(id.index()).is_some_and(|o| o.is_own && !self.is_view(id));
        Err(match is_own {
            true => {
                failure("undefined-use", format!("{name} is used before a tpop gave it a slot"), "pop into it first")
            }
            false => {
                let what = format!("{name} is used, and its slot of the FIFO has been freed");
                failure("fifo-use-after-free", what, "free the slot after the last use of the tile")
            }
        })
    }

    /// `fifo-write`: an instruction must not write a popped tile.
    pub fn is_no_slot(&self, site: &InstTemplate) -> Result<(), Failure> {
        let is_popped = |slot: TileSlot| {
            let id = self.object_of(slot);
            self.cx.program.objects.get(id.index()).is_some_and(|o| !o.is_own)
        };
        let Some((_, slot)) = site.tiles.iter().find(|(role, slot)| role.is_dst() && is_popped(*slot)) else {
            return Ok(());
        };
        let what = format!("{} writes {}, which lies in a slot of a FIFO", site.inst.op, self.tile_name(*slot));
        Err(failure("fifo-write", what, "write a tile of its own"))
    }

    fn is_view(&self, id: TileId) -> bool {
        self.engine.object(id).is_ok_and(|o| o.binding != tessera_exec::engine::Binding::Own)
    }

    /// Puts what waits into the slot: a half of one tile, or the halves of one.
    fn take_slot(
        &mut self,
        at: OpId,
        pop: &Pop,
        channel: &Channel,
        (slot, me): (u64, u64),
        pushed: &[Pushed],
        (id, valid): (TileId, [u64; 2]),
    ) -> Result<(), Failure> {
        for (half, waits) in (0u64..).zip(pushed) {
            let Some(from) = pop.stages.get(waits.number).copied() else { continue };
            self.engine.put_tile(from, stage(channel, slot, half), waits.valid)?;
            let ([from_at, to_at], extent) = match channel.dir {
                Dir::C2v => ([half_at(channel, me, valid), [0, 0]], valid),
                Dir::V2c => ([[0, 0], half_at(channel, half, waits.valid)], waits.valid),
            };
            let cache = self.cx.program.sites.len() + pop.cache;
            self.announce(Some(at), &[(from, false), (id, true)]);
            self.engine.copy_window(cache, (from, from_at), (id, to_at), extent)?;
            self.watch_cache(cache, 0);
        }
        Ok(())
    }

    /// Slots in global memory: TSTORE of the valid region into the slot, dense, or into its half.
    fn store_slot(
        &mut self,
        at: OpId,
        push: &Push,
        channel: &Channel,
        (slot, number, half): (u64, u64, u64),
        valid: [u64; 2],
    ) -> Result<(), Failure> {
        let src = if push.quant.is_some() { push.stage } else { self.object_of(push.src) };
        let elem = self.engine.object(src)?.tile.elem;
        let whole = match channel.dir {
            Dir::C2v => valid,
            Dir::V2c => [valid[0] * channel.division()[0], valid[1] * channel.division()[1]],
        };
        let first = if channel.dir == Dir::V2c { half_at(channel, half, valid) } else { [0, 0] };
        let view = self.slot_view(push.global, channel, slot, elem, whole, (first, valid))?;
        let before = match self.other_push(push, channel, number, half) {
            true => self.bytes_of(&view, whole)?,
            false => None,
        };
        if self.cx.blocks > 1 {
            self.engine.memories.set_writer(at.0);
        }
        let inst = Inst::tstore(self.engine.profile);
        self.announce(Some(at), &[(src, false)]);
        let undefined = self.transfer(push.cache, inst, (Role::Src, src), &view)?;
        if undefined {
            self.warn_undefined(at, push.src, "is pushed");
        }
        if before.is_some() && before != self.bytes_of(&view, whole)? {
            let what = format!("V0 and V1 push different bytes into slot {slot} of {}, whole tiles both", channel.name);
            return Err(failure("fifo-split", what, "split the tile between them, or push the same"));
        }
        Ok(())
    }

    /// Whether the other vector core has pushed the same whole tile already.
    fn other_push(&self, push: &Push, channel: &Channel, number: u64, half: u64) -> bool {
        let state = self.links.as_deref().and_then(|links| links.channels.get(push.channel));
        let other = state.is_some_and(|state| state.pushed[usize::from(half == 0)] > number);
        channel.dir == Dir::V2c && channel.split == 0 && other
    }

    fn bytes_of(&mut self, view: &Global, extent: [u64; 2]) -> Result<Option<Vec<u8>>, Failure> {
        let (Some(start), Some(memory)) = (view.byte(), self.engine.memories.get_mut(view.buffer)) else {
            return Ok(None);
        };
        let len = view.elem.bytes_of(extent[0].saturating_mul(extent[1])) as usize;
        memory.touch([(start, len)].into_iter(), ArrayAccess::READS)?;
        Ok(memory.bytes().get(start..start.saturating_add(len)).map(<[u8]>::to_vec))
    }

    /// Slots in global memory: a copy of the slot, or of its half.
    fn load_slot(
        &mut self,
        at: OpId,
        pop: &Pop,
        channel: &Channel,
        (slot, me): (u64, u64),
        id: TileId,
        (pushed, valid): ([u64; 2], [u64; 2]),
    ) -> Result<(), Failure> {
        let elem = self.engine.object(id)?.tile.elem;
        let (whole, first) = match channel.dir {
            Dir::C2v if channel.split > 2 => (pushed, part_of(channel.split, me, pushed).0),
            Dir::C2v => {
                let [r, c] = channel.division();
                ([valid[0] * r, valid[1] * c], half_at(channel, me, valid))
            }
            Dir::V2c => (valid, [0, 0]),
        };
        let view = self.slot_view(pop.global, channel, slot, elem, whole, (first, valid))?;
        let inst = Inst::tload(self.engine.profile);
        self.announce(Some(at), &[(id, true)]);
        self.transfer(pop.cache, inst, (Role::Dst, id), &view).map_err(|e| self.at(at, e))?;
        Ok(())
    }

    /// A window of a slot in global memory, row by row.
    fn slot_view(
        &self,
        pointer: Option<super::super::code::GlobalSlot>,
        channel: &Channel,
        slot: u64,
        elem: tessera_isa::elem::Elem,
        whole: [u64; 2],
        (first, extent): ([u64; 2], [u64; 2]),
    ) -> Result<Global, Failure> {
        let refuse = |what: String| failure("fifo-gm", what, "give both ends a gm_slot_buffer with room for all slots");
        let Some(pointer) = pointer else {
            return Err(refuse(format!("{} has no gm_slot_buffer, and its slots lie in global memory", channel.name)));
        };
        let pointer = self.global(pointer);
        let room = channel.slots.saturating_mul(channel.slot_size);
        let needed = if channel.offset > 0 { room.saturating_mul(2) } else { room };
        let start = pointer.byte().unwrap_or(usize::MAX) as u64;
        let bytes = pointer.bytes(&self.engine.memories);
        if !pointer.grows && bytes.saturating_sub(start) < needed {
            let left = bytes.saturating_sub(start);
            return Err(refuse(format!(
                "{} needs {needed} bytes of global memory, and {left} are there",
                channel.name
            )));
        }
        let size = u64::from(elem.bits()).div_ceil(8).max(1);
        let byte = start.saturating_add(channel.offset).saturating_add(slot * channel.slot_size);
        let offset = byte / size + first[0] * whole[1] + first[1];
        Ok(Global {
            elem,
            offset: i64::try_from(offset).unwrap_or(i64::MAX),
            dims: extent.into_iter().collect(),
            strides: [whole[1] as i64, 1].into_iter().collect(),
            tags: ViewTags::written(ViewTag::Nd),
            ..pointer.clone()
        })
    }

    /// Moves a tile between its place and a view; returns whether undefined bytes were stored.
    fn transfer(&mut self, cache: usize, inst: Inst, tile: (Role, TileId), view: &Global) -> Result<bool, Failure> {
        let cache = self.cx.program.sites.len() + cache;
        let mut key = std::mem::take(&mut self.engine.key);
        key.0.clear();
        key.tile(tile.0, self.engine.object(tile.1)?);
        key.view(view, if view.grows { u64::MAX } else { view.elements(&self.engine.memories) });
        self.engine.key = key;
        self.engine.issued += 1;
        if !self.engine.is_compiled(cache, &inst, Some(view))? {
            let whole = self.engine.instruction(inst.clone(), [tile], Some(view))?;
            let compiled = self.engine.lowered(&whole, Some(view.buffer))?;
            self.engine.keep(cache, CachedInst::new(whole, None, compiled, Vec::new()));
            self.engine.fits(cache, &inst, view)?;
        }
        let start = self.engine.start(cache, Some(view))?;
        let effect = self.engine.run(cache, start)?;
        self.watch_cache(cache, start);
        Ok(effect.has(Effect::STORED_UNDEFINED))
    }
}

/// The place where a pushed tile, or half, waits.
fn stage(channel: &Channel, slot: u64, half: u64) -> Place {
    let at = channel.stage.saturating_add((slot * 2 + half).saturating_mul(channel.slot_size));
    Place { memory: MemoryId::POOL, at: at as usize }
}

/// The first element of a vector core's half, whose size is given.
fn half_at(channel: &Channel, half: u64, size: [u64; 2]) -> [u64; 2] {
    match channel.split {
        1 => [half * size[0], 0],
        2 => [0, half * size[1]],
        _ => [0, 0],
    }
}
