//! Issuing instructions: checked and lowered the first time, and run.

use super::tiles::{TileId, bind_operands};
use super::transfer::BUFFER;
use super::{Cache, CachedInst, Engine, Global};
use crate::lower::{CompiledInst, Effect, Places};
use smallvec::SmallVec;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{AccToVec, Inst};
use tessera_isa::ops::{Bind, Effect as Touched, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Apply, Map, Side, Step, effects};
use tessera_kernels::memory::Memory;
use tessera_kernels::{Failure, MemoryId, Place, failure};

/// Why an instruction was not executed: all errors that the rules found, or the one that stopped it. Never empty.
#[derive(Clone, Debug)]
pub struct IssueError(pub Vec<Diagnostic>);

impl From<Failure> for IssueError {
    fn from(failure: Failure) -> Self {
        IssueError(vec![*failure])
    }
}

/// The findings about an executed instruction.
#[derive(Clone, Copy, Debug)]
pub struct IssueReport<'a> {
    /// The warnings of the rules about it, though it is legal.
    pub warnings: &'a [Diagnostic],
    /// Whether it was never issued before on these operands.
    pub is_new: bool,
    /// The finding about the contents of its operands this time.
    pub about_contents: Option<&'a Diagnostic>,
    /// Whether undefined bytes were stored to global memory, as zeros.
    pub stored_undefined: bool,
}

/// `valid-unset`.
pub fn is_valid_set(op: Opcode, role: Role, valid: [Option<u64>; 2]) -> Result<(), Failure> {
    let unset = valid.iter().zip(["v_row", "v_col"]).find(|(extent, _)| extent.is_none());
    unset.map_or(Ok(()), |(_, name)| Err(tessera_check::valid_unset(op, role, name).into()))
}

/// Whether an instruction writes its view of global memory.
pub fn stores(inst: &Inst) -> bool {
    inst.op.effect(inst.form, Role::Global) == Touched::Write
}

impl Engine {
    /// Issues an instruction. It has its tiles, or everything but its tiles, which are `tiles` of the engine's own.
    pub fn issue(&mut self, inst: &Inst, tiles: &[(Role, TileId)]) -> Result<IssueReport<'_>, IssueError> {
        let tile = |role| tiles.iter().find(|t| t.0 == role).map(|t| t.1);
        let bound = inst.op.binds(self.profile).filter(|how| how.follows_src());
        let done = match (bound, tile(Role::Src).zip(tile(Role::Dst))) {
            (Some(how), Some(ends)) => self.issue_bound(inst, tiles, how, ends)?,
            (Some(how), None) => self.issue_at(&bind_operands(how, inst.clone())?, tiles, |_| {})?,
            (None, _) => self.issue_at(inst, tiles, |_| {})?,
        };
        Ok(self.report(done))
    }

    /// Issues an instruction that binds one tile of the engine to another. If it is refused, its destination stays where it was.
    fn issue_bound(
        &mut self,
        inst: &Inst,
        tiles: &[(Role, TileId)],
        how: Bind,
        (src, dst): (TileId, TileId),
    ) -> Result<(bool, Effect), IssueError> {
        let before = self.object(dst)?.clone();
        let mut bind = || -> Result<_, IssueError> {
            if !matches!(how, Bind::Window | Bind::Slot) {
                self.bind(how, src, dst, false)?;
            }
            let done = self.issue_at(inst, tiles, |_| {})?;
            if how == Bind::Window {
                self.window(inst, src, dst)?;
            }
            if how == Bind::Slot {
                self.slot(inst, src, dst)?;
            }
            Ok(done)
        };
        let done = bind();
        if done.is_err() {
            *self.object_mut(dst)? = before;
        }
        done
    }

    pub(super) fn report(&self, (is_new, effect): (bool, Effect)) -> IssueReport<'_> {
        let current = self.caches.first().and_then(|c| c.current());
        IssueReport {
            warnings: current.map_or(&[], |entry| &entry.warnings),
            is_new,
            about_contents: current.filter(|_| effect.has(Effect::WARNED)).and_then(CachedInst::warning),
            stored_undefined: effect.has(Effect::STORED_UNDEFINED),
        }
    }

    /// Issues an instruction; the buffer of its view is filled when the rules have let it pass.
    pub(super) fn issue_at(
        &mut self,
        inst: &Inst,
        tiles: &[(Role, TileId)],
        fill: impl FnOnce(&mut Memory),
    ) -> Result<(bool, Effect), IssueError> {
        self.issued += 1;
        let view = inst.global.as_ref().map(|view| Global::of_arg(view, BUFFER)).transpose()?;
        self.name(inst, tiles, view.as_ref());
        let is_known = self.is_compiled(0, inst, view.as_ref())?;
        if !is_known {
            self.compile(inst, tiles, view.as_ref())?;
        }
        if view.is_some()
            && let Some(buffer) = self.memories.get_mut(BUFFER)
        {
            fill(buffer);
        }
        let start = self.start(0, view.as_ref())?;
        let effect = self.run(0, start)?;
        if inst.op.info().expands
            && let Some((_, dst)) = tiles.iter().find(|t| t.0 == Role::Dst)
        {
            self.expand_valid(*dst)?;
        }
        Ok((!is_known, effect))
    }

    /// Checks and compiles an instruction, and keeps it under the current key. It needs much room on the stack, which those that are
    /// known already would pay for.
    #[cold]
    #[inline(never)]
    fn compile(&mut self, inst: &Inst, tiles: &[(Role, TileId)], view: Option<&Global>) -> Result<(), IssueError> {
        let mut tiles: SmallVec<[_; 8]> = tiles.into();
        let place = |role| inst.op.form(inst.form)?.operands().position(|o| o.role == role);
        tiles.sort_by_key(|(role, _)| place(*role));
        let whole = self.instruction(inst.clone(), tiles, view)?;
        let warnings = self.legal(&whole)?;
        let compiled = self.lowered(&whole, view.map(|v| v.buffer))?;
        self.keep(0, CachedInst::new(whole, None, compiled, warnings));
        Ok(())
    }

    /// Makes the words that stand for an instruction the current key: tiles that it has, and `tiles` of the engine's own.
    pub(super) fn name(&mut self, inst: &Inst, tiles: &[(Role, TileId)], view: Option<&Global>) {
        let mut key = std::mem::take(&mut self.key);
        key.0.clear();
        // The counts keep lists of different lengths apart.
        key.push(
            (inst.op.index() as u64) << 32
                | (inst.form as u64) << 16
                | ((inst.tiles.len() + tiles.len()) as u64) << 8
                | inst.scalars.len() as u64,
        );
        for arg in &inst.tiles {
            let types = [self.kinds.number(&(arg.tile, inst.conv)), self.layouts.number(&arg.layout)];
            key.place(arg.role, types, self.place(arg), arg.valid);
        }
        for (role, id) in tiles {
            if let Some(o) = self.objects.get(id.index()) {
                key.tile(*role, o);
            }
        }
        for scalar in &inst.scalars {
            key.scalar(scalar);
        }
        if let Some(view) = view {
            key.view(view, view.elements(&self.memories));
        }
        key.0.extend(inst.attrs.bits());
        if inst.op.is_configured() {
            key.0.extend(self.config.bits());
        }
        self.key = key;
    }

    /// Makes the variant with the current key the current one, if there is one for the view as it lies now.
    #[inline]
    pub fn is_compiled(&mut self, cache: usize, inst: &Inst, view: Option<&Global>) -> Result<bool, Failure> {
        let is_known = self.caches.get_mut(cache).is_some_and(|c| c.find(&self.key.0));
        match view {
            Some(view) if is_known => self.fits(cache, inst, view),
            _ => Ok(is_known),
        }
    }

    /// Whether the cached footprint is in bounds at the view's new offset. A buffer that no file is bound to grows
    /// with the stores.
    pub fn fits(&mut self, cache: usize, inst: &Inst, view: &Global) -> Result<bool, Failure> {
        let Some(start) = view.byte() else { return Ok(false) };
        let Some(span) = self.caches.get(cache).and_then(|c| c.global_span()) else {
            // An empty window touches nothing.
            return Ok(true);
        };
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let (first, end) = (start.saturating_add(span.0), start.saturating_add(span.1));
        let len = i64::try_from(view.bytes(&self.memories)).unwrap_or(i64::MAX);
        if first < 0 || end <= len {
            return Ok(first >= 0);
        }
        if !view.grows || !stores(inst) {
            return Ok(false);
        }
        self.reserve(view.buffer, end as u64)?;
        Ok(true)
    }

    /// The instruction with everything known: its tiles as they are now, its view, and what was configured before.
    pub fn instruction(
        &self,
        mut inst: Inst,
        tiles: impl IntoIterator<Item = (Role, TileId)>,
        view: Option<&Global>,
    ) -> Result<Inst, Failure> {
        for (role, id) in tiles {
            let object = self.object(id)?;
            inst.conv = inst.conv.or(object.conv);
            inst.tiles.push(self.arg(object, role));
        }
        for (arg, touch) in inst.tiles.iter().zip(effects(&inst).tiles) {
            if touch.needs_valid {
                is_valid_set(inst.op, arg.role, arg.valid)?;
            }
        }
        if inst.op.is_configured() {
            // An attribute on the instruction wins (ops.md 7).
            inst.attrs = inst.attrs.or(&self.config);
        }
        if let Some(view) = view {
            self.with_view(view, &mut inst)?;
        }
        Ok(inst)
    }

    fn with_view(&self, view: &Global, inst: &mut Inst) -> Result<(), Failure> {
        if view.elem.is_fp4() && view.offset % 2 != 0 {
            let what = format!("the view starts at element {}, and two {} share a byte", view.offset, view.elem);
            return Err(failure("tile-fp4", what, "start it at an even element"));
        }
        let mut arg = view.arg(view.elements(&self.memories));
        if view.grows && stores(inst) {
            arg.buffer = None;
        }
        inst.set_view(arg, view.tags);
        Ok(())
    }

    /// Checks the rules: returns the warnings of a legal instruction, or the errors of another.
    pub(super) fn legal(&self, inst: &Inst) -> Result<Vec<Diagnostic>, IssueError> {
        let mut found: Vec<_> = tessera_check::check(inst).into_iter().map(Diagnostic::from).collect();
        if found.iter().any(Diagnostic::is_error) {
            found.retain(Diagnostic::is_error);
            return Err(IssueError(found));
        }
        Ok(found)
    }

    /// Lowers an instruction that the rules let pass; `None` for one that only binds.
    pub fn lowered(&mut self, inst: &Inst, buffer: Option<MemoryId>) -> Result<Option<CompiledInst>, Failure> {
        let how = inst.op.binds(self.profile);
        if matches!(how, Some(Bind::Window | Bind::Slot | Bind::Scale)) {
            return Ok(None);
        }
        let uses_core1 = matches!(
            inst.attrs.acc_to_vec(),
            Some(AccToVec::SingleModeVec1 | AccToVec::DualModeSplitM | AccToVec::DualModeSplitN)
        );
        let mut places: SmallVec<[Place; 6]> = SmallVec::new();
        for arg in &inst.tiles {
            places.push(self.reserve_operand(arg, uses_core1)?);
        }
        if matches!(how, Some(Bind::Bytes | Bind::Storage)) {
            return Ok(None);
        }
        CompiledInst::new(inst, Places { tiles: &places, global: buffer, tracked: self.memories.tracked }).map(Some)
    }

    /// A copy of one tile to another as an instruction, and where the two lie.
    fn copied(&mut self, from: TileId, to: TileId) -> Result<(Inst, [Place; 2]), Failure> {
        self.reserve_tile(from, 0)?;
        self.reserve_tile(to, 0)?;
        let (src, dst) = (self.object(from)?, self.object(to)?);
        let mut copy = Inst::new(Opcode::Treshape, Form::Plain, Profile::Cpu);
        copy.tiles.push(self.arg(src, Role::Src));
        copy.tiles.push(self.arg(dst, Role::Dst));
        Ok((copy, [src.place, dst.place]))
    }

    pub fn copy_of(&mut self, from: TileId, to: TileId) -> Result<CompiledInst, Failure> {
        let (copy, places) = self.copied(from, to)?;
        let len = self.object(to)?.bytes().min(self.object(from)?.bytes());
        let at = Places { tiles: &places, global: None, tracked: self.memories.tracked };
        CompiledInst::of_steps(&copy, &[Step::Bytes { src: 0, dst: 1, len }], at)
    }

    /// Copies a window of a tile into a window of another one with elements of the same type.
    pub fn copy_window(
        &mut self,
        cache: usize,
        (from, at): (TileId, [u64; 2]),
        (to, to_at): (TileId, [u64; 2]),
        extent: [u64; 2],
    ) -> Result<(), Failure> {
        let mut key = std::mem::take(&mut self.key);
        key.0.clear();
        key.tile(Role::Src, self.object(from)?);
        key.tile(Role::Dst, self.object(to)?);
        key.0.extend(at.into_iter().chain(to_at).chain(extent));
        self.key = key;
        if !self.caches.get_mut(cache).is_some_and(|c| c.find(&self.key.0)) {
            let (inst, compiled) = self.copy_of_window((from, at), (to, to_at), extent)?;
            self.keep(cache, CachedInst::new(inst, None, Some(compiled), Vec::new()));
        }
        self.issued += 1;
        self.run(cache, 0).map(|_| ())
    }

    /// The same once, for a caller whose tiles have layouts of their own; no rule is checked.
    pub fn copy_once(
        &mut self,
        from: (TileId, [u64; 2]),
        to: (TileId, [u64; 2]),
        extent: [u64; 2],
    ) -> Result<(), Failure> {
        self.copy_of_window(from, to, extent)?.1.run(&mut self.memories, 0).map(|_| ())
    }

    fn copy_of_window(
        &mut self,
        (from, at): (TileId, [u64; 2]),
        (to, to_at): (TileId, [u64; 2]),
        extent: [u64; 2],
    ) -> Result<(Inst, CompiledInst), Failure> {
        let (copy, places) = self.copied(from, to)?;
        let maps = [Map::at(at[0], at[1]), Map::at(to_at[0], to_at[1])];
        let step = Step::Apply(Apply::copy(extent, (Side::Tile(0), maps[0]), (Side::Tile(1), maps[1])));
        let at = Places { tiles: &places, global: None, tracked: self.memories.tracked };
        let compiled = CompiledInst::of_steps(&copy, &[step], at)?;
        Ok((copy, compiled))
    }

    /// Keeps an instruction under the current key.
    pub fn keep(&mut self, cache: usize, entry: CachedInst) {
        let Some(cache) = self.caches.get_mut(cache) else { return };
        // It is there already where another place of its buffer did not fit.
        if !cache.find(&self.key.0) {
            cache.insert(&self.key.0, entry);
        }
    }

    /// The byte of its buffer where the view of the current variant starts.
    #[inline]
    pub fn start(&self, cache: usize, view: Option<&Global>) -> Result<usize, Failure> {
        let touched = || self.caches.get(cache).and_then(Cache::global_span);
        view.map_or(Ok(0), |view| view.start(touched))
    }

    /// Runs the current variant; its view starts at byte `start` of its buffer.
    #[inline]
    pub fn run(&mut self, cache: usize, start: usize) -> Result<Effect, Failure> {
        match self.caches.get_mut(cache) {
            Some(cache) => cache.run(&mut self.memories, start, self.issued),
            None => Ok(Effect::default()),
        }
    }
}
