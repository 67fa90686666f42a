//! Issuing tile instructions: what was made ready for the same operands runs straight away.

use super::code::{Site, TileSlot};
use super::step::Exec;
use crate::engine::cache::{Entry, Request};
use crate::engine::chip::Binding;
use crate::lower::{Effect, Failure};
use tessera_ir::OpId;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Opcode, Role};

impl Exec<'_> {
    /// Runs one tile instruction.
    pub fn issue(&mut self, index: usize) -> Result<(), Failure> {
        let Some(site) = self.cx.program.sites.get(index) else {
            return Ok(());
        };
        self.issued += 1;
        if !site.results.is_empty() {
            self.begin_results(site)?;
        }
        if let Some((src, dst)) = site.binds {
            let (src, dst) = (self.object_of(src), self.object_of(dst));
            let is_result = !site.results.is_empty();
            self.chip.bind(site.opcode, src, dst, is_result).map_err(|e| self.at(site.at, e))?;
        }
        if self.watch.is_some() {
            self.watch_view(site)?;
            self.watch_decisions(site);
        }
        self.choose(index, site)?;
        let start = match site.global {
            Some(slot) => self.global(slot).byte().unwrap_or(0),
            None => 0,
        };
        let now = self.issued;
        let ran = match self.caches.get_mut(index) {
            Some(cache) => cache.run(&mut self.chip, start, now),
            None => Ok(Effect::default()),
        };
        let effect = match ran {
            Err(e) if self.is_about_data(site, &e) => Effect::default(),
            ran => ran.map_err(|e| self.at(site.at, e))?,
        };
        if self.watch.is_some() {
            self.watch_issue(index, start)?;
        }
        if effect.stored_undefined {
            self.report_store(site);
        }
        if let (Opcode::TfillpadExpand, Some((_, slot))) = (site.opcode, site.tiles.last()) {
            self.chip.expand_valid(self.object_of(*slot))?;
        }
        if self.trace.is_some() {
            self.trace_line(site);
        }
        Ok(())
    }

    /// Makes the variant for the operands as they are the current one.
    #[inline]
    fn choose(&mut self, index: usize, site: &Site) -> Result<(), Failure> {
        let epoch = self.chip.epoch;
        if site.only_tiles && self.caches.get(index).is_some_and(|c| c.epoch == epoch) {
            // No tile has changed since the last time.
            return Ok(());
        }
        self.make_key(site);
        let known = self.caches.get_mut(index).is_some_and(|c| c.find(&self.key));
        if !known || (site.global.is_some() && !self.fits(index, site)?) {
            self.make_ready(index, site)?;
        }
        if let Some(cache) = self.caches.get_mut(index) {
            cache.epoch = epoch;
        }
        Ok(())
    }

    fn begin_results(&mut self, site: &Site) -> Result<(), Failure> {
        for (slot, object) in &site.results {
            self.chip.begin(*object)?;
            self.set_tile(*slot, *object);
            // Placed tiles begin where placement says; this is for those in the pool and those with an address.
            let pooled = self.cx.program.objects.get(*object as usize).is_some_and(|i| i.address.is_none());
            let manual = self.chip.object(*object).is_ok_and(|o| o.binding == Binding::Manual);
            if site.init.is_none() && (manual || pooled) {
                self.undefine(Some(site.at), *object);
            }
        }
        Ok(())
    }

    /// Everything that what is made ready depends on, but where in its buffer a view starts.
    #[inline]
    fn make_key(&mut self, site: &Site) {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for slot in site.tiles.iter().map(|t| &t.1).chain(&site.init) {
            if let Some(o) = self.chip.objects.get(self.object_of(*slot) as usize) {
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
        if let Some(slot) = site.global {
            let view = self.global(slot);
            let bound =
                if view.grows && site.opcode == Opcode::Tstore { u64::MAX } else { view.elements(&self.chip.memories) };
            key.extend_from_slice(&[view.buffer as u64, bound, view.tag as u64]);
            key.extend(view.dims.iter().copied());
            key.extend(view.strides.iter().map(|s| *s as u64));
        }
        if site.opcode == Opcode::Timg2col {
            key.extend(self.config.bits());
        }
        self.key = key;
    }

    /// Lies what was made ready for another place of the same buffer inside it here, too? A buffer that no file is
    /// bound to grows with what is stored.
    fn fits(&mut self, index: usize, site: &Site) -> Result<bool, Failure> {
        let (Some(slot), Some(cache)) = (site.global, self.caches.get(index)) else {
            return Ok(true);
        };
        let Some(span) = cache.global_span() else {
            // An empty window touches nothing.
            return Ok(true);
        };
        let view = self.global(slot);
        let Some(start) = view.byte() else { return Ok(false) };
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let (first, end) = (start.saturating_add(span.0), start.saturating_add(span.1));
        let len = self.chip.memories.get(view.buffer).map_or(0, |m| m.bytes().len() as i64);
        if first < 0 || end <= len {
            return Ok(first >= 0);
        }
        if !view.grows || site.opcode != Opcode::Tstore {
            return Ok(false);
        }
        let buffer = view.buffer;
        self.chip.reserve(buffer, end as u64).map_err(|e| self.at(site.at, e))?;
        Ok(true)
    }

    /// Checks an instruction with everything known, lowers it, and keeps it.
    fn make_ready(&mut self, index: usize, site: &Site) -> Result<(), Failure> {
        let view = site.global.map(|slot| self.global(slot).clone());
        let mut request = Request {
            opcode: site.opcode,
            form: site.form,
            tiles: site.tiles.iter().map(|(role, slot)| (*role, self.object_of(*slot))).collect(),
            scalars: site.scalars.iter().map(|(role, s)| (*role, s.number(self.int(s.int)))).collect(),
            attrs: site.attrs.clone(),
            global: view.as_ref(),
        };
        if site.opcode == Opcode::Timg2col {
            request.attrs = request.attrs.or(&self.config);
        }
        let inst = self.chip.instruction(&request).map_err(|e| self.at(site.at, e))?;
        self.legal(site.at, &inst)?;
        let prepared = self.chip.lowered(&request, &inst).map_err(|e| self.at(site.at, e))?;
        let init = match (site.init, request.tiles.last()) {
            (Some(slot), Some((_, dst))) => {
                let copy = self.chip.copy_of(self.object_of(slot), *dst);
                Some(copy.map_err(|e| self.at(site.at, e))?)
            }
            _ => None,
        };
        let entry = Entry { key: self.key.as_slice().into(), init, prepared, undefined_at: 0 };
        if let Some(cache) = self.caches.get_mut(index)
            && !cache.find(&self.key)
        {
            cache.insert(entry);
        }
        // A buffer without a file may have to grow before the first store.
        if site.global.is_some() {
            self.fits(index, site)?;
        }
        Ok(())
    }

    /// Asks the rules; an error stops the program, a warning is kept.
    pub fn legal(&mut self, at: OpId, inst: &Inst) -> Result<(), Failure> {
        for fault in tessera_check::check(inst) {
            let is_error = fault.is_error();
            let mut failure = Failure::from(fault);
            failure.notes.extend(self.operand_notes(at, inst));
            let failure = self.at(at, failure);
            if is_error {
                return Err(failure);
            }
            self.found.warn(at, *failure);
        }
        Ok(())
    }
}

/// The operands of an instruction that may make its destination a view.
pub(crate) fn binding_operands(opcode: Opcode, tiles: &[(Role, TileSlot)]) -> Option<(TileSlot, TileSlot)> {
    if !matches!(opcode, Opcode::Treshape | Opcode::Bitcast | Opcode::TfillpadInplace) {
        return None;
    }
    let slot = |role| tiles.iter().find(|t| t.0 == role).map(|t| t.1);
    slot(Role::Src).zip(slot(Role::Dst))
}
