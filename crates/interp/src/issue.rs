//! Issuing tile instructions: an instruction that is compiled for the same operands runs at once.

use super::code::InstTemplate;
use super::step::{Exec, Stop};
use tessera_exec::engine::{Binding, CachedInst, Global, combines, stores};
use tessera_exec::lower::Effect;
use tessera_ir::OpId;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{Inst, ScalarArg};
use tessera_isa::ops::Role;
use tessera_kernels::Failure;

impl Exec<'_> {
    pub fn issue(&mut self, index: usize) -> Result<(), Stop> {
        let Some(site) = self.cx.program.sites.get(index) else {
            let what = format!("the program has no instruction {index}");
            return Err(Diagnostic::internal(self.cx.func.span, what).into());
        };
        let done = match site.may_wait && self.fuses() {
            true => self.defer(index, site),
            false => self.issue_site(index, site),
        };
        done.map_err(|stop| match stop {
            Stop::Failed(e) => self.at(site.at, e).into(),
            other => other,
        })
    }

    /// Whether the bytes of instructions may wait for those of the next ones: nothing reads them in between.
    #[inline]
    fn fuses(&self) -> bool {
        self.cx.fuses && self.watch.is_none() && self.trace.is_none()
    }

    /// Issues an instruction that may wait: its only effect is on the contents of its tiles.
    fn defer(&mut self, index: usize, site: &InstTemplate) -> Result<(), Stop> {
        self.engine.issued += 1;
        if !site.results.is_empty() {
            self.begin_results(site)?;
        }
        if site.global.is_some() && self.cx.blocks > 1 {
            self.engine.memories.set_writer(site.at.0);
        }
        self.choose(index, site)?;
        self.observe_issue(index, site)?;
        let start = self.engine.start(index, site.global.map(|slot| self.global(slot)))?;
        if self.engine.defer(index, start, site.dead)? {
            return Ok(());
        }
        self.settle()?;
        self.finish(index, site)
    }

    /// Nothing waits any more: bytes are where they belong.
    #[inline]
    pub fn settle(&mut self) -> Result<(), Failure> {
        if self.engine.waiting.is_empty() { Ok(()) } else { self.engine.settle() }
    }

    #[inline]
    fn issue_site(&mut self, index: usize, site: &InstTemplate) -> Result<(), Stop> {
        self.settle()?;
        self.engine.issued += 1;
        self.begin_tiles(site)?;
        if let (false, Some(watch)) = (site.views.is_empty(), &mut self.watch) {
            watch.undecide(format!("indices in global memory decide what {} does", site.inst.op.title()));
        }
        if self.watch.is_some() {
            self.watch_view(site)?;
            self.watch_decisions(site);
        }
        if site.global.is_some() && self.cx.blocks > 1 {
            self.engine.memories.set_writer(site.at.0);
        }
        self.choose(index, site)?;
        self.observe_issue(index, site)?;
        self.finish(index, site)
    }

    /// The tiles of an instruction are where it finds them.
    #[inline]
    pub fn begin_tiles(&mut self, site: &InstTemplate) -> Result<(), Failure> {
        if !site.results.is_empty() {
            self.begin_results(site)?;
        }
        if let Some((how, src, dst)) = site.binds {
            let (src, dst) = (self.object_of(src), self.object_of(dst));
            let is_result = !site.results.is_empty();
            self.engine.bind(how, src, dst, is_result)?;
        }
        Ok(())
    }

    /// The valid region of its destination is what an instruction leaves.
    #[inline]
    pub fn end_tiles(&mut self, site: &InstTemplate) -> Result<(), Failure> {
        match (site.expands, site.tiles.last()) {
            (true, Some((_, slot))) => self.engine.expand_valid(self.object_of(*slot)),
            _ => Ok(()),
        }
    }

    /// Runs the compiled instruction, and reports its findings.
    #[inline]
    fn finish(&mut self, index: usize, site: &InstTemplate) -> Result<(), Stop> {
        let start = self.engine.start(index, site.global.map(|slot| self.global(slot)))?;
        let effect = match self.engine.run(index, start) {
            Err(e) if self.is_about_data(site, &e) => Effect::default(),
            ran => ran?,
        };
        if self.watch.is_some() {
            self.watch_issue(index, site, start)?;
        } else if effect.has(Effect::WARNED)
            && let Some(warning) = self.engine.caches.get(index).and_then(|c| c.current()?.warning().cloned())
        {
            let warning = self.at(site.at, Box::new(warning));
            self.found.warn(site.at, *warning);
        }
        if effect.has(Effect::STORED_UNDEFINED) {
            self.report_store(site);
        }
        if let Some(merge) = self.cx.merge.filter(|_| site.global.is_some() && combines(&site.inst)) {
            let buffer = site.global.map(|slot| self.global(slot).buffer);
            let memory = buffer.and_then(|id| Some((id.as_buffer()?, self.engine.memories.get_mut(id)?)));
            memory.into_iter().for_each(|(array, memory)| merge.combine_early(self.block, array, memory));
        }
        self.undefine_scratch(site)?;
        self.end_tiles(site)?;
        if self.trace.is_some() {
            self.trace_line(site);
        }
        match self.watch.as_mut().is_some_and(|watch| watch.has_reached()) {
            true => Err(Stop::Reached),
            false => Ok(()),
        }
    }

    /// Makes the variant for the operands as they are the current one.
    #[inline]
    pub fn choose(&mut self, index: usize, site: &InstTemplate) -> Result<(), Failure> {
        let epoch = self.engine.epoch;
        if site.only_tiles && self.engine.caches.get(index).is_some_and(|c| c.epoch == epoch) {
            // No tile has changed since the last time.
            return Ok(());
        }
        if !site.views.is_empty() {
            self.indices = self.read_indices(site)?;
        }
        self.make_key(site);
        let view = site.global.map(|slot| &self.globals[slot.index()]);
        if !self.engine.is_compiled(index, &site.inst, view)? {
            self.compile(index, site)?;
        }
        if let Some(cache) = self.engine.caches.get_mut(index) {
            cache.epoch = epoch;
        }
        Ok(())
    }

    fn begin_results(&mut self, site: &InstTemplate) -> Result<(), Failure> {
        for (slot, object) in &site.results {
            self.engine.begin(*object)?;
            self.set_tile(*slot, *object);
            // Placed tiles begin where placement says; this is for those in the pool and those with an address.
            let pooled = self.cx.program.objects.get(object.index()).is_some_and(|i| i.address.is_none());
            let manual = self.engine.object(*object).is_ok_and(|o| o.binding == Binding::Manual);
            if site.init.is_none() && (manual || pooled) {
                self.undefine(Some(site.at), *object);
            }
        }
        Ok(())
    }

    /// Makes the key of the operands, which change from one time to the next; opcode, form, types and attributes are
    /// the site's.
    #[inline]
    fn make_key(&mut self, site: &InstTemplate) {
        let mut key = std::mem::take(&mut self.engine.key);
        key.0.clear();
        for (role, slot) in site.tiles.iter().copied().chain(site.init.map(|slot| (Role::Init, slot))) {
            if let Some(o) = self.engine.objects.get(self.object_of(slot).index()) {
                key.tile(role, o);
            }
        }
        for (_, scalar) in &site.scalars {
            key.push(self.int(scalar.int) as u64);
        }
        if let Some(view) = site.global.map(|slot| self.global(slot)) {
            let grows = view.grows && stores(&site.inst);
            key.view(view, if grows { u64::MAX } else { view.elements(&self.engine.memories) });
        }
        if site.is_configured {
            key.0.extend(self.engine.config.bits());
        }
        for (_, slot) in &site.views {
            let view = self.global(*slot);
            key.view(view, view.elements(&self.engine.memories));
            key.push(view.offset as u64);
        }
        key.0.extend(&self.indices[..if site.views.is_empty() { 0 } else { self.indices.len() }]);
        self.engine.key = key;
    }

    /// The instruction of a site, whole, with its operands as they are now.
    pub fn inst(&self, site: &InstTemplate, view: Option<&Global>) -> Result<Inst, Failure> {
        let mut inst = Inst::clone(&site.inst);
        inst.scalars.extend(site.scalars.iter().map(|(role, s)| ScalarArg {
            role: *role,
            ty: s.ty,
            value: Some(s.number(self.int(s.int))),
        }));
        for (role, slot) in &site.views {
            let view = self.global(*slot);
            inst.views.push((*role, view.arg(view.elements(&self.engine.memories))));
        }
        if !site.views.is_empty() {
            inst.indices = Some(self.indices.clone().into_boxed_slice());
        }
        self.engine.instruction(inst, site.tiles.iter().map(|(role, slot)| (*role, self.object_of(*slot))), view)
    }

    /// The instruction that was issued last for a site, with its view as it is now.
    pub fn issued_inst(&self, index: usize, site: &InstTemplate) -> Option<Inst> {
        let mut inst = Inst::clone(&self.engine.caches.get(index)?.current()?.inst);
        if let (Some(arg), Some(slot)) = (&mut inst.global, site.global) {
            arg.offset = Some(self.global(slot).offset);
        }
        Some(inst)
    }

    /// Checks an instruction with everything known, compiles it, and keeps it.
    fn compile(&mut self, index: usize, site: &InstTemplate) -> Result<(), Failure> {
        site.tiles.iter().try_for_each(|(_, slot)| self.is_alive(*slot))?;
        self.is_no_slot(site)?;
        let view = site.global.map(|slot| self.global(slot).clone());
        let inst = self.inst(site, view.as_ref())?;
        self.legal(site.at, &inst)?;
        self.look_up(&inst)?;
        let compiled = self.engine.lowered(&inst, view.as_ref().map(|v| v.buffer))?;
        // The old contents are those of the first destination; what follows it is written wholly.
        let init = match (site.init, site.tiles.iter().find(|(role, _)| role.is_dst())) {
            (Some(slot), Some((_, dst))) => Some(self.engine.copy_of(self.object_of(slot), self.object_of(*dst))?),
            _ => None,
        };
        self.engine.keep(index, CachedInst::new(inst, init, compiled, Vec::new()));
        // A buffer without a file may have to grow before the first store.
        if let Some(view) = &view {
            self.engine.fits(index, &site.inst, view)?;
        }
        Ok(())
    }

    /// Checks the rules; an error stops the program, a warning is kept.
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
