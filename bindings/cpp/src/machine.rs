//! One simulated core behind a pointer of the C ABI, with what its last call found.
//!
//! Tiles are the caller's: each call describes those that it works on, and they are tiles of the engine for its time.

use crate::abi::{TesseraConv, TesseraDiagnostic, TesseraScalar, TesseraStatus, TesseraTile};
use crate::again::Calls;
use crate::convert::{self, Answer, Refusal};
use crate::places::lent_of;
use crate::races;
use crate::view::View;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tessera_exec::engine::{Engine, PointerTarget, TileId, combines};
use tessera_isa::diag::{Diagnostic, Fault};
use tessera_isa::inst::{Attrs, Inst, TileArg};
use tessera_isa::ops::{AttrName, Bind, Effect, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Sem, effects, f32_mode};
use tessera_isa::tile::Loc;
use tessera_kernels::memory::AlignedBytes;

/// A simulated core. C sees only pointers to it.
pub struct TesseraMachine {
    pub(crate) profile: Profile,
    pub(crate) engine: Engine,
    /// How many undefined bytes were stored as 0.
    pub(crate) undefined_stored: u64,
    pub(crate) found: Vec<CFinding>,
    pub(crate) calls: Calls,
    /// A panic went through it: its memories may be half changed.
    broken: bool,
}

/// One finding, as C reads it.
pub(crate) struct CFinding {
    rule: CString,
    message: CString,
    text: CString,
    /// Severities have the same order in the ABI.
    severity: u32,
}

/// Runs `f`; a panic is a refusal.
pub(crate) fn guarded<T>(f: impl FnOnce() -> Answer<T>) -> Answer<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        let found = Diagnostic::error("internal", "a defect of the library ended the call; please report it");
        Err(Refusal { status: TesseraStatus::Internal, found: vec![found] })
    })
}

impl TesseraMachine {
    pub(crate) fn new(profile: Profile) -> Self {
        let engine = Engine::new(profile, true);
        TesseraMachine {
            profile,
            engine,
            undefined_stored: 0,
            found: Vec::new(),
            calls: Calls::default(),
            broken: false,
        }
    }

    /// Runs one call on the machine behind a pointer and keeps what it found.
    pub(crate) fn call(
        machine: *mut TesseraMachine,
        f: impl FnOnce(&mut TesseraMachine) -> Answer<Vec<Diagnostic>>,
    ) -> TesseraStatus {
        // SAFETY: null, or made by `tessera_machine_create`, alive, and used by this thread only (see `calls`).
        let Some(machine) = (unsafe { machine.as_mut() }) else {
            return TesseraStatus::Null;
        };
        if machine.broken {
            return TesseraStatus::Internal;
        }
        let (status, found) = match guarded(|| f(machine)) {
            Ok(warnings) => (TesseraStatus::Ok, warnings),
            Err(refusal) => (refusal.status, refusal.found),
        };
        machine.broken = status == TesseraStatus::Internal;
        machine.engine.end_lending();
        // Most calls find nothing, and then nothing is allocated.
        machine.found.clear();
        machine.found.extend(found.iter().map(CFinding::new));
        status
    }

    /// Runs a call that finds nothing; where `f` says no it has to be made in full.
    pub(crate) fn call_again(
        machine: *mut TesseraMachine,
        f: impl FnOnce(&mut TesseraMachine) -> bool,
    ) -> TesseraStatus {
        // SAFETY: as in `call`.
        let Some(machine) = (unsafe { machine.as_mut() }) else {
            return TesseraStatus::Null;
        };
        if machine.broken {
            return TesseraStatus::Internal;
        }
        if !machine.found.is_empty() {
            machine.found.clear();
        }
        match catch_unwind(AssertUnwindSafe(|| f(machine))) {
            Ok(true) => TesseraStatus::Ok,
            Ok(false) => TesseraStatus::Argument,
            Err(_) => {
                machine.broken = true;
                TesseraStatus::Internal
            }
        }
    }

    pub(crate) fn alloc_tile(&mut self, t: &TesseraTile) -> Answer<u64> {
        let tile = convert::tile(t, self.profile)?;
        convert::legal(tile.fault(self.profile))?;
        self.alloc(tile.loc, tile.bytes())
    }

    pub(crate) fn alloc_conv(&mut self, c: &TesseraConv) -> Answer<u64> {
        let conv = convert::conv(c)?;
        convert::legal(tessera_check::check_conv(&conv, self.profile))?;
        self.alloc(conv.loc, conv.bytes())
    }

    /// New automatic storage, undefined. All that is alive in a memory fits it (`capacity`).
    fn alloc(&mut self, loc: Loc, bytes: u64) -> Answer<u64> {
        if let Some(memory) = self.profile.memory(loc)
            && let Some(limit) = memory.bytes.map(|b| b - memory.reserved)
        {
            let used = self.engine.storage_used(loc);
            if used.saturating_add(bytes) > limit {
                let memory = format!("{} on {}", loc.memory_name(), self.profile);
                let what = format!("{bytes} more bytes do not fit {memory}: automatic tiles have {used} of {limit}");
                return Err(Fault::new("capacity", what).help("let tiles that are not needed go out of scope").into());
            }
        }
        Ok(self.engine.alloc_storage(loc, bytes)?.into())
    }

    pub(crate) fn free(&mut self, handle: u64) -> Answer<()> {
        self.calls.forget_automatic();
        let freed = u32::try_from(handle).is_ok_and(|h| self.engine.free_storage(h));
        if freed { Ok(()) } else { Err(no_storage(handle)) }
    }

    pub(crate) fn check_tile_place(&self, t: &TesseraTile) -> Answer<()> {
        self.place(&mut convert::tile_arg(Role::Tile, t, self.profile)?)
    }

    pub(crate) fn check_conv_place(&self, c: &TesseraConv) -> Answer<()> {
        let conv = convert::conv(c)?;
        self.place(&mut convert::conv_arg(Role::Tile, c, &conv, self.profile)?)
    }

    /// A pointer to the tile's bytes was handed out.
    pub(crate) fn expose(&mut self, t: &TesseraTile) -> Answer<()> {
        let (_, tile) = self.whole(0, t)?;
        Ok(self.engine.expose(tile)?)
    }

    pub(crate) fn expose_conv(&mut self, c: &TesseraConv) -> Answer<()> {
        let conv = convert::conv(c)?;
        let mut arg = convert::conv_arg(Role::Dst, c, &conv, self.profile)?;
        self.place(&mut arg)?;
        self.lend([&arg]);
        let tile = self.engine.describe(0, &arg, Some(conv))?;
        Ok(self.engine.expose(tile)?)
    }

    /// All memories hold zeros.
    pub(crate) fn clear(&mut self) {
        self.engine.clear_memories();
    }

    /// Begins anew on a profile, with the memories where they are.
    pub(crate) fn restart(&mut self, profile: Profile) {
        self.calls.forget();
        self.engine.restart(profile);
        (self.profile, self.undefined_stored) = (profile, 0);
    }

    /// Instructions that have no tiles: SETFMATRIX and SET_IMG2COL_PADDING, the modes of f32 products; SET_IMG2COL_RPT
    /// gives nothing.
    pub(crate) fn configure(
        &mut self,
        op: Opcode,
        mut given: Attrs,
        scalars: &[TesseraScalar],
    ) -> Answer<Vec<Diagnostic>> {
        self.calls.forget();
        if matches!(op.info().sem, Sem::RoundsF32 { .. }) {
            if let Some(mode) = f32_mode(op, self.profile, &given) {
                self.engine.configure(&mode);
            }
            let mut inst = Inst::new(op, Form::Plain, self.profile);
            inst.attrs = given;
            return Ok(tessera_check::check(&inst).into_iter().map(Diagnostic::from).collect());
        }
        if let Some(value) = scalars.first() {
            given.set(AttrName::PadValue, Some(convert::number(value.kind, value.bits)?));
        }
        self.engine.configure(&given);
        Ok(Vec::new())
    }

    /// Issues an instruction, which these words may issue again.
    pub(crate) fn issue(&mut self, mut inst: Inst, words: &[u64]) -> Answer<Vec<Diagnostic>> {
        self.place_all(&mut inst)?;
        let found = self.engine.issue(&inst, &[])?.warnings.to_vec();
        let variant = self.keep(words, &inst, None);
        if races::is_on() {
            races::issued(self.profile, variant, None, Arc::new(inst.clone()));
        }
        Ok(found)
    }

    /// The bytes of the element that an instruction reads as a scalar.
    pub(crate) fn get(&mut self, mut inst: Inst, len: usize) -> Answer<Vec<u8>> {
        let size = inst.tiles.first().map_or(0, |t| t.tile.elem.bits() as usize / 8);
        if !matches!(inst.op.info().sem, Sem::Gets) || size != len {
            return Err(Refusal::argument(format!("{} does not give a scalar of {len} bytes", inst.op.title())));
        }
        self.place_all(&mut inst)?;
        if races::is_on() {
            races::issued(self.profile, None, None, Arc::new(inst.clone()));
        }
        let bits = self.engine.get(inst, &[])?;
        Ok(bits.to_le_bytes().into_iter().take(len).collect())
    }

    /// An instruction with a view of the caller's memory, which these words may issue again.
    pub(crate) fn transfer(&mut self, mut inst: Inst, view: &mut View, words: &[u64]) -> Answer<Vec<Diagnostic>> {
        self.place_all(&mut inst)?;
        inst.global = Some(view.global.clone());
        let is_alone = inst.tiles.iter().all(|t| lent_of(t).is_none());
        let mut variant = None;
        let (mut found, is_undefined) = match self.lent_view(&inst, view).filter(|_| is_alone) {
            Some(bytes) => {
                let done = self.engine.transfer_lent(&inst, &[], bytes)?;
                let told = (done.warnings.to_vec(), done.stored_undefined);
                variant = self.keep(words, &inst, Some(view));
                told
            }
            None => {
                let (mut taken, done) = self.engine.transfer_with(&inst, &[], view.len, |_| view.contents())?;
                let told = (done.warnings.to_vec(), done.stored_undefined);
                view.leave(&mut taken);
                told
            }
        };
        if races::is_on() {
            races::issued(self.profile, variant, Some(view.data()), Arc::new(inst.clone()));
        }
        if let (Some(arg), true) = (inst.tiles.first(), is_undefined) {
            let tile = self.engine.describe(0, arg, inst.conv)?;
            found.push(self.count_undefined(tile, 0)?);
        }
        Ok(found)
    }

    /// Checks where the tiles of an instruction lie, and lends the engine what is the caller's own.
    fn place_all(&mut self, inst: &mut Inst) -> Answer<()> {
        let how = inst.op.binds(self.profile);
        let touched = effects(inst).tiles;
        for arg in &mut inst.tiles {
            self.place(arg)?;
            // Views need no storage; what works in place takes its source's.
            let needs_storage = match how {
                Some(Bind::Bytes | Bind::Window | Bind::Slot) => false,
                Some(Bind::InPlace) => arg.role != Role::Dst,
                _ => !touched.iter().any(|t| t.role == arg.role && t.effect == Effect::Unused),
            };
            if needs_storage && arg.place.is_none() {
                return Err(Refusal::argument(format!("the tile {} has no storage", arg.role)));
            }
        }
        self.lend(&inst.tiles);
        Ok(())
    }

    pub(crate) fn load(&mut self, t: &TesseraTile, view: &mut View) -> Answer<Vec<Diagnostic>> {
        let mut inst = Inst::tload(self.profile);
        inst.tiles.push(convert::tile_arg(Role::Dst, t, self.profile)?);
        self.transfer(inst, view, &[])
    }

    pub(crate) fn load_conv(&mut self, c: &TesseraConv, view: &mut View) -> Answer<Vec<Diagnostic>> {
        let conv = convert::conv(c)?;
        let mut inst = Inst { conv: Some(conv), ..Inst::tload(self.profile) };
        inst.tiles.push(convert::conv_arg(Role::Dst, c, &conv, self.profile)?);
        self.transfer(inst, view, &[])
    }

    /// The view's bytes where they are: not those of the machine's own memories or of a tile in the caller's, and not what one
    /// thread after the other must change.
    fn lent_view(&self, inst: &Inst, view: &View) -> Option<AlignedBytes> {
        let is_elsewhere = |at: usize| matches!(self.engine.pointed(at as u64), PointerTarget::Elsewhere);
        let (first, last) = (view.start as usize, (view.start as usize).checked_add(view.len)?.checked_sub(1)?);
        let is_apart = |(start, end): (u64, u64)| end <= first as u64 || start > last as u64;
        let is_alone = inst.tiles.iter().filter_map(lent_of).all(is_apart);
        let is_own = is_alone && !combines(inst) && is_elsewhere(first) && is_elsewhere(last);
        view.lent().filter(|_| is_own)
    }

    pub(crate) fn store(&mut self, view: &mut View, t: &TesseraTile) -> Answer<Vec<Diagnostic>> {
        let arg = convert::tile_arg(Role::Src, t, self.profile)?;
        let mut inst = Inst::tstore(self.profile);
        inst.tiles.push(arg);
        self.transfer(inst, view, &[])
    }

    /// A tile that a pipe between cores moves, where it lies.
    pub(crate) fn moved_tile(&self, t: &TesseraTile) -> Answer<TileArg> {
        let mut arg = convert::tile_arg(Role::Src, t, self.profile)?;
        self.place(&mut arg)?;
        Ok(arg)
    }

    pub(crate) fn count_undefined(&mut self, tile: TileId, core: u8) -> Answer<Diagnostic> {
        let (warning, bytes) = self.engine.undefined_stored(tile, core)?;
        self.undefined_stored = self.undefined_stored.saturating_add(bytes);
        Ok(warning)
    }

    /// The tile of a host's transfer, whose view has its shape and type.
    fn host_tile(&mut self, t: &TesseraTile, view: &View) -> Answer<TileId> {
        let (arg, tile) = self.whole(0, t)?;
        let (shape, valid) = (view.global.shape(), arg.valid);
        if view.global.elem != arg.tile.elem || shape != valid {
            let [shape, valid] = [shape, valid].map(|extents| extents.map(Option::unwrap_or_default));
            return Err(Refusal::argument(format!(
                "the view has {shape:?} elements of {}, and the tile {} has {valid:?} valid ones",
                view.global.elem, arg.tile
            )));
        }
        Ok(tile)
    }

    pub(crate) fn host_load(&mut self, t: &TesseraTile, view: &View) -> Answer<()> {
        let tile = self.host_tile(t, view)?;
        Ok(self.engine.host_load(tile, view.global.clone(), view.contents())?)
    }

    pub(crate) fn host_store(&mut self, view: &mut View, t: &TesseraTile, core: u32) -> Answer<Vec<Diagnostic>> {
        let core = u8::try_from(core).ok().filter(|c| *c < 2);
        let core = core.ok_or_else(|| Refusal::argument("there are vector cores 0 and 1"))?;
        let tile = self.host_tile(t, view)?;
        let (written, is_undefined) = self.engine.host_store(tile, view.global.clone(), view.len, core)?;
        written.iter().for_each(|(at, bytes)| view.write(*at, bytes));
        if is_undefined { Ok(vec![self.count_undefined(tile, core)?]) } else { Ok(Vec::new()) }
    }

    pub(crate) fn copy(&mut self, dst: &TesseraTile, src: &TesseraTile) -> Answer<()> {
        let (to, from) = (self.stored(dst)?, self.stored(src)?);
        self.lend([&to, &from]);
        let (dst, src) = (self.engine.describe(0, &to, None)?, self.engine.describe(1, &from, None)?);
        if span(&to) != span(&from) {
            return Err(Refusal::argument(format!("{} bytes are copied to a tile of {}", span(&from), span(&to))));
        }
        Ok(self.engine.copy(src, dst)?)
    }

    pub(crate) fn undefine(&mut self, t: &TesseraTile) -> Answer<()> {
        let (_, tile) = self.whole(0, t)?;
        self.engine.undefine(tile);
        Ok(())
    }

    /// A tile that is read or written as bytes: it needs storage.
    fn stored(&self, t: &TesseraTile) -> Answer<TileArg> {
        let mut arg = convert::tile_arg(Role::Tile, t, self.profile)?;
        if arg.place.is_none() {
            return Err(Refusal::argument("the tile has no storage; allocate it or give it an address"));
        }
        self.place(&mut arg)?;
        Ok(arg)
    }

    /// Such a tile, as the engine's tile `n`.
    fn whole(&mut self, n: usize, t: &TesseraTile) -> Answer<(TileArg, TileId)> {
        let arg = self.stored(t)?;
        self.lend([&arg]);
        let tile = self.engine.describe(n, &arg, None)?;
        Ok((arg, tile))
    }

    /// All bytes of a tile; the caller says how many there are.
    pub(crate) fn bytes(&mut self, t: &TesseraTile, len: usize) -> Answer<TileId> {
        let (arg, tile) = self.whole(0, t)?;
        let bytes = span(&arg);
        if bytes != len as u64 {
            return Err(Refusal::argument(format!("the tile has {bytes} bytes, and the call says {len}")));
        }
        Ok(tile)
    }

    /// The tile of an element of so many bytes, and where it starts there.
    pub(crate) fn element(&mut self, t: &TesseraTile, at: [i64; 2], len: usize) -> Answer<(TileId, u64)> {
        let (arg, id) = self.whole(0, t)?;
        let (tile, [row, col]) = (&arg.tile, at);
        let inside = |v: i64, n: u64| u64::try_from(v).ok().filter(|v| *v < n);
        let (Some(r), Some(c)) = (inside(row, tile.rows), inside(col, tile.cols)) else {
            return Err(Refusal::argument(format!("element ({row}, {col}) is not in {tile}")));
        };
        match tile.elem.size() {
            Some(size) if size == len as u64 => Ok((id, arg.layout.offset(r, c).max(0) as u64 * size)),
            Some(size) => {
                Err(Refusal::argument(format!("an element of {tile} has {size} bytes, and the call says {len}")))
            }
            None => Err(Refusal::argument(format!("elements of {} share bytes; read the whole tile", tile.elem))),
        }
    }

    pub(crate) fn read(&mut self, tile: TileId, offset: u64, len: usize) -> Answer<Vec<u8>> {
        Ok(self.engine.read_bytes(tile, offset, len)?)
    }

    /// Element (0, 0) as the scalar of an instruction.
    pub(crate) fn scalar(&mut self, t: &TesseraTile, len: usize) -> Answer<Vec<u8>> {
        let (tile, _) = self.element(t, [0, 0], len)?;
        let data = self.engine.read(tile, 0)?;
        if data.defined.iter().take(len).any(|mask| *mask != 0xFF) {
            let found = Diagnostic::error("undefined-use", "element (0, 0), which is the scalar, is undefined");
            return Err(Refusal::rules(vec![found.help("write the tile first")]));
        }
        Ok(data.elements.into_iter().take(len).collect())
    }

    pub(crate) fn write(&mut self, tile: TileId, offset: u64, bytes: &[u8]) -> Answer<Vec<Diagnostic>> {
        self.engine.write_bytes(tile, offset, bytes)?;
        Ok(Vec::new())
    }
}

/// Bytes that a tile spans, the gaps of a view included.
pub(crate) fn span(arg: &TileArg) -> u64 {
    arg.tile.elem.bytes_of(arg.layout.footprint())
}

pub(crate) fn no_storage(handle: u64) -> Refusal {
    Refusal::argument(format!("{handle} is no handle of a storage, or it was freed"))
}

impl CFinding {
    pub(crate) fn new(d: &Diagnostic) -> CFinding {
        let mut text = format!("{}[{}]: {}", d.severity.name(), d.rule, d.message);
        let more = d.notes.iter().map(|note| ("note", note)).chain(d.help.iter().map(|help| ("help", help)));
        text.extend(more.map(|(what, line)| format!("\n{what}: {line}")));
        // A NUL inside a message would end it early; there is none, and if there were, the rest is lost, not the call.
        let c = |s: &str| CString::new(s.split('\0').next().unwrap_or("")).unwrap_or_default();
        CFinding { rule: c(d.rule), message: c(&d.message), text: c(&text), severity: d.severity as u32 }
    }

    /// The finding with pointers that live until the machine's next call.
    pub(crate) fn describe(&self) -> TesseraDiagnostic {
        let [rule, message, text] = [&self.rule, &self.message, &self.text].map(|string| string.as_ptr());
        TesseraDiagnostic { rule, message, text, severity: self.severity, reserved: 0 }
    }
}
