//! One simulated core behind a pointer of the C ABI, with what its last call found.

use crate::abi::{TesseraConv, TesseraDiagnostic, TesseraSeverity, TesseraStatus, TesseraTile};
use crate::convert::{self, Answer, Operands, Refusal};
use crate::engine::{Engine, legal, span};
use crate::key::Key;
use crate::pool::Storage;
use crate::view::View;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tessera_isa::diag::{Diagnostic, Fault, Severity};
use tessera_isa::inst::{Attrs, Inst, Root, TileArg};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Pad;

/// A simulated core. C sees only pointers to it.
pub struct TesseraMachine {
    profile: Profile,
    engine: Engine,
    /// What SETFMATRIX and SET_IMG2COL_PADDING left (ops.md 7).
    img2col: Attrs,
    found: Vec<Found>,
    /// A panic went through it: its memories may be half changed.
    broken: bool,
}

/// One finding, as C reads it.
pub(crate) struct Found {
    rule: CString,
    message: CString,
    text: CString,
    severity: TesseraSeverity,
}

/// Runs `f`; a panic is a refusal.
pub(crate) fn guarded<T>(f: impl FnOnce() -> Answer<T>) -> Answer<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        Err(Refusal {
            status: TesseraStatus::Internal,
            found: vec![Diagnostic::error("binding", "a defect of the library ended the call; please report it")],
        })
    })
}

impl TesseraMachine {
    pub(crate) fn new(profile: Profile) -> Self {
        TesseraMachine {
            profile,
            engine: Engine::new(profile),
            img2col: Attrs::default(),
            found: Vec::new(),
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
        // Most calls find nothing, and then nothing is allocated.
        machine.found.clear();
        machine.found.extend(found.iter().map(Found::new));
        status
    }

    pub(crate) fn found(&self) -> &[Found] {
        &self.found
    }

    pub(crate) fn undefined_stored(&self) -> u64 {
        self.engine.undefined_stored()
    }

    pub(crate) fn alloc_tile(&mut self, t: &TesseraTile) -> Answer<u64> {
        let tile = convert::tile(t, self.profile)?;
        if let Some(fault) = tile.fault(self.profile).filter(|f| f.is_error()) {
            return Err(fault.into());
        }
        self.engine.alloc(tile.loc, tile.bytes())
    }

    pub(crate) fn alloc_conv(&mut self, c: &TesseraConv) -> Answer<u64> {
        let conv = convert::conv(c)?;
        if let Some(fault) = tessera_check::check_conv(&conv, self.profile) {
            return Err(fault.into());
        }
        self.engine.alloc(conv.loc, conv.bytes())
    }

    pub(crate) fn free(&mut self, handle: u64) -> Answer<()> {
        self.engine.free(handle)
    }

    pub(crate) fn check_tile_place(&self, t: &TesseraTile) -> Answer<()> {
        self.check_place(&convert::tile_arg(Role::Tile, t, self.profile)?)
    }

    pub(crate) fn check_conv_place(&self, c: &TesseraConv) -> Answer<()> {
        let conv = convert::conv(c)?;
        self.check_place(&convert::conv_arg(Role::Tile, c, &conv, self.profile)?)
    }

    /// `tassign-range` and `tassign-align`; automatic storage is a memory of its own size.
    fn check_place(&self, arg: &TileArg) -> Answer<()> {
        let Some(place) = arg.place else { return Ok(()) };
        let bytes = span(arg);
        let fault = match place.root {
            Root::Memory(loc) => tessera_check::check_address(loc, bytes, place.start.into(), self.profile),
            Root::Auto(handle) => {
                let Storage { loc, bytes: size, .. } = *self.engine.storage(handle.into())?;
                if loc != arg.tile.loc {
                    let what = format!("the storage is in {}, and the tile is in {}", loc, arg.tile.loc);
                    Some(Fault::new("tassign-range", what).help("give both tiles one location"))
                } else if place.start.checked_add(bytes).is_none_or(|end| end > size) {
                    let what = format!("{bytes} bytes at {:#x} leave the storage of {size} bytes", place.start);
                    Some(
                        Fault::new("tassign-range", what)
                            .help("bind the tile to the storage of a tile that is as large"),
                    )
                } else {
                    None
                }
            }
        };
        fault.map_or(Ok(()), |f| Err(f.into()))
    }

    pub(crate) fn issue(&mut self, op: Opcode, mut operands: Operands<'_>) -> Answer<Vec<Diagnostic>> {
        match op {
            Opcode::Setfmatrix => {
                // What is not given stays as it was.
                self.img2col = operands.attrs.or(&self.img2col);
                return Ok(Vec::new());
            }
            Opcode::SetImg2colPadding => {
                let [value] = operands.scalars else {
                    return Err(Refusal::argument("SET_IMG2COL_PADDING has one scalar"));
                };
                self.img2col.set(AttrName::PadValue, Some(convert::number(value.kind, value.bits)?));
                return Ok(Vec::new());
            }
            Opcode::SetImg2colRpt => return Ok(Vec::new()),
            Opcode::Timg2col => {
                // An attribute on the instruction wins (ops.md 7).
                operands.attrs = operands.attrs.or(&self.img2col);
            }
            _ => {}
        }
        let key = Key::of_instruction(op, &operands, &self.engine)?;
        if let Some(answer) = self.engine.run(&key) {
            return answer;
        }
        let inst = convert::inst(op, self.profile, operands)?;
        self.check_places(&inst)?;
        let warnings = legal(&inst)?;
        self.engine.make_ready(key.clone(), &inst, warnings, 0)?;
        self.engine.run(&key).unwrap_or(Ok(Vec::new()))
    }

    /// Makes a transfer ready, unless it is.
    fn transfer(&mut self, key: &Key, view: &View, inst: impl FnOnce(Profile) -> Answer<Inst>) -> Answer<()> {
        if self.engine.is_ready(key) {
            return Ok(());
        }
        let mut inst = inst(self.profile)?;
        inst.global = Some(view.global.clone());
        self.check_places(&inst)?;
        let warnings = legal(&inst)?;
        self.engine.make_ready(key.clone(), &inst, warnings, 0)
    }

    pub(crate) fn load(&mut self, t: &TesseraTile, view: &View) -> Answer<Vec<Diagnostic>> {
        let key = Key::of_transfer(Opcode::Tload, t, view, &self.engine)?;
        self.transfer(&key, view, |profile| {
            let mut inst = Inst::new(Opcode::Tload, Form::Plain, profile);
            inst.tiles.push(convert::tile_arg(Role::Dst, t, profile)?);
            Ok(inst)
        })?;
        self.engine.load(&key, view.contents(), view.first())
    }

    pub(crate) fn load_conv(&mut self, c: &TesseraConv, view: &View) -> Answer<Vec<Diagnostic>> {
        let conv = convert::conv(c)?;
        let key = Key::of_conv_load(c, view, &self.engine)?;
        self.transfer(&key, view, |profile| {
            let mut inst = Inst::new(Opcode::Tload, Form::Plain, profile);
            inst.tiles.push(convert::conv_arg(Role::Dst, c, &conv, profile)?);
            inst.conv = Some(conv);
            Ok(inst)
        })?;
        self.engine.load(&key, view.contents(), view.first())
    }

    pub(crate) fn store(&mut self, view: &mut View, t: &TesseraTile) -> Answer<Vec<Diagnostic>> {
        let key = Key::of_transfer(Opcode::Tstore, t, view, &self.engine)?;
        self.transfer(&key, view, |profile| {
            let mut inst = Inst::new(Opcode::Tstore, Form::Plain, profile);
            inst.tiles.push(convert::tile_arg(Role::Src, t, profile)?);
            Ok(inst)
        })?;
        let (written, found) = self.engine.store(&key, view.len(), view.first(), 0)?;
        view.write(&written);
        Ok(found)
    }

    /// TLOAD or TSTORE as cpu has it, between any view and any tile.
    fn host_inst(&self, op: Opcode, role: Role, t: &TesseraTile, view: &View) -> Answer<Inst> {
        let mut arg = convert::tile_arg(role, t, self.profile)?;
        if arg.place.is_none() {
            return Err(Refusal::argument("the tile has no storage; allocate it or give it an address"));
        }
        self.check_place(&arg)?;
        // Only the valid region is meant, also where TLOAD would fill the padding.
        arg.tile.pad = Pad::Null;
        let mut inst = Inst::new(op, Form::Plain, Profile::Cpu);
        let (shape, valid) = (view.global.shape(), arg.valid);
        if view.global.elem != arg.tile.elem || shape != valid {
            return Err(Refusal::argument(format!(
                "the view has {:?} elements of {}, and the tile {} has {:?} valid ones",
                shape.map(|n| n.unwrap_or(0)),
                view.global.elem,
                arg.tile,
                valid.map(|n| n.unwrap_or(0))
            )));
        }
        inst.tiles.push(arg);
        inst.global = Some(view.global.clone());
        Ok(inst)
    }

    pub(crate) fn host_load(&mut self, t: &TesseraTile, view: &View) -> Answer<()> {
        let key = Key::of_host(t, view, &self.engine, 0)?;
        let inst = self.host_inst(Opcode::Tload, Role::Dst, t, view)?;
        self.engine.make_ready(key.clone(), &inst, Vec::new(), 0)?;
        self.engine.load(&key, view.contents(), view.first()).map(|_| ())
    }

    pub(crate) fn host_store(&mut self, view: &mut View, t: &TesseraTile, core: u32) -> Answer<Vec<Diagnostic>> {
        let core = u8::try_from(core).ok().filter(|c| *c < 2);
        let core = core.ok_or_else(|| Refusal::argument("there are vector cores 0 and 1"))?;
        let key = Key::of_host(t, view, &self.engine, core)?;
        let inst = self.host_inst(Opcode::Tstore, Role::Src, t, view)?;
        self.engine.make_ready(key.clone(), &inst, Vec::new(), core)?;
        let (written, found) = self.engine.store(&key, view.len(), view.first(), core)?;
        view.write(&written);
        Ok(found)
    }

    pub(crate) fn copy(&mut self, dst: &TesseraTile, src: &TesseraTile) -> Answer<()> {
        let (dst, src) = (self.whole(dst)?, self.whole(src)?);
        if span(&dst) != span(&src) {
            return Err(Refusal::argument(format!("{} bytes are copied to a tile of {}", span(&src), span(&dst))));
        }
        self.engine.copy(dst, src)
    }

    pub(crate) fn undefine(&mut self, t: &TesseraTile) -> Answer<()> {
        let arg = self.whole(t)?;
        self.engine.undefine(&arg)
    }

    fn check_places(&self, inst: &Inst) -> Answer<()> {
        inst.tiles.iter().try_for_each(|arg| self.check_place(arg))
    }

    /// A tile that is read or written as bytes: it needs storage.
    fn whole(&self, t: &TesseraTile) -> Answer<TileArg> {
        let arg = convert::tile_arg(Role::Tile, t, self.profile)?;
        if arg.place.is_none() {
            return Err(Refusal::argument("the tile has no storage; allocate it or give it an address"));
        }
        self.check_place(&arg)?;
        Ok(arg)
    }

    pub(crate) fn read(&self, t: &TesseraTile, len: usize) -> Answer<Vec<u8>> {
        let arg = self.whole(t)?;
        self.check_len(&arg, len)?;
        self.engine.read(&arg, 0, len)
    }

    pub(crate) fn write(&mut self, t: &TesseraTile, bytes: &[u8]) -> Answer<()> {
        let arg = self.whole(t)?;
        self.check_len(&arg, bytes.len())?;
        self.engine.write(&arg, 0, bytes)
    }

    fn check_len(&self, arg: &TileArg, len: usize) -> Answer<()> {
        let bytes = span(arg);
        if bytes != len as u64 {
            return Err(Refusal::argument(format!("the tile has {bytes} bytes, and the call says {len}")));
        }
        Ok(())
    }

    /// The byte of an element, from the start of the tile.
    pub(crate) fn element_offset(&self, t: &TesseraTile, at: [i64; 2], len: usize) -> Answer<u64> {
        let arg = self.whole(t)?;
        let (tile, [row, col]) = (&arg.tile, at);
        let inside = |v: i64, n: u64| u64::try_from(v).ok().filter(|v| *v < n);
        let (Some(r), Some(c)) = (inside(row, tile.rows), inside(col, tile.cols)) else {
            return Err(Refusal::argument(format!("element ({row}, {col}) is not in {tile}")));
        };
        match tile.elem.size() {
            Some(size) if size == len as u64 => Ok(arg.layout.offset(r, c).max(0) as u64 * size),
            Some(size) => {
                Err(Refusal::argument(format!("an element of {tile} has {size} bytes, and the call says {len}")))
            }
            None => Err(Refusal::argument(format!("elements of {} share bytes; read the whole tile", tile.elem))),
        }
    }

    pub(crate) fn read_element(&self, t: &TesseraTile, at: [i64; 2], len: usize) -> Answer<u64> {
        let offset = self.element_offset(t, at, len)?;
        let bytes = self.engine.read(&self.whole(t)?, offset, len)?;
        Ok(bytes.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b)))
    }

    pub(crate) fn write_at(&mut self, t: &TesseraTile, offset: u64, bytes: &[u8]) -> Answer<()> {
        let arg = self.whole(t)?;
        self.engine.write(&arg, offset, bytes)
    }
}

impl Found {
    fn new(d: &Diagnostic) -> Found {
        let mut text = format!("{}[{}]: {}", d.severity.name(), d.rule, d.message);
        for note in &d.notes {
            text.push_str("\nnote: ");
            text.push_str(note);
        }
        if let Some(help) = &d.help {
            text.push_str("\nhelp: ");
            text.push_str(help);
        }
        // A NUL inside a message would end it early; there is none, and if there were, the rest is lost, not the call.
        let c = |s: &str| CString::new(s.split('\0').next().unwrap_or("")).unwrap_or_default();
        Found {
            rule: c(d.rule),
            message: c(&d.message),
            text: c(&text),
            severity: match d.severity {
                Severity::Note => TesseraSeverity::Note,
                Severity::Warning => TesseraSeverity::Warning,
                Severity::Error => TesseraSeverity::Error,
            },
        }
    }

    /// The finding with pointers that live until the machine's next call.
    pub(crate) fn describe(&self) -> TesseraDiagnostic {
        TesseraDiagnostic {
            rule: self.rule.as_ptr(),
            message: self.message.as_ptr(),
            text: self.text.as_ptr(),
            severity: self.severity as u32,
            reserved: 0,
        }
    }
}
