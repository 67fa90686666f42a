//! Micro instructions (micro/model.md): registers, masks and streams as values, the memories as they see them, and pointers
//! on the chip as byte addresses.

use super::code::{GlobalSlot, Int, IntSlot, MicroSlot, TileSlot};
use super::micro_fast::FastOp;
use super::micro_strip::StripState;
use super::step::Exec;
use smallvec::SmallVec;
use std::cell::RefCell;
use tessera_ir::{OpId, ScalarType, Type};
use tessera_isa::codec::Overflow;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::scalar_number;
use tessera_isa::tile::Loc;
use tessera_kernels::memory::{ArrayAccess, Memories};
use tessera_kernels::{Failure, MemoryId, failure, internal_error, on_core};
use tessera_micro::run::{Core, Made, Memory, Place, Specials, Value};
use tessera_micro::{Align, Call, Inst, Mask, Reg, Space, Ty};

/// An operand or a result of a micro instruction.
#[derive(Clone, Copy, Debug)]
pub enum MicroVar {
    Int(Int),
    /// A byte address of a memory on the chip.
    Address(Space, Int),
    Global(GlobalSlot),
    Micro(MicroSlot),
}

/// A micro instruction of the program.
#[derive(Debug)]
pub struct MicroOp {
    pub at: OpId,
    pub call: Call,
    pub arg_types: SmallVec<[Ty; 8]>,
    pub result_types: SmallVec<[Ty; 2]>,
    pub args: SmallVec<[MicroVar; 8]>,
    pub results: SmallVec<[MicroVar; 2]>,
    /// What was prepared when the program was compiled.
    pub fast: Option<FastOp>,
}

/// One element of a memory on the chip.
#[derive(Debug)]
pub struct ChipAccess {
    pub name: &'static str,
    pub space: Space,
    pub base: Int,
    pub index: Int,
    pub elem: Elem,
    pub ty: ScalarType,
}

/// The operations of micro programs other than micro instructions.
#[derive(Debug)]
pub enum MicroSupport {
    /// A vecscope begins, or ends.
    Begin,
    End,
    /// An address that stays, or moves by a number of units, whose size is given in bytes.
    Move {
        to: IntSlot,
        from: Int,
        by: Option<(Int, i64)>,
    },
    TileAddress {
        to: IntSlot,
        tile: TileSlot,
    },
    Load(ChipAccess, IntSlot),
    Store(ChipAccess, Int),
}

/// The contents of a register slot.
#[derive(Clone, Debug, Default)]
pub enum MicroValue {
    #[default]
    None,
    Reg(Box<Reg>),
    Mask(Box<Mask>),
    Align(Align),
}

/// The values and special registers of a process.
#[derive(Debug, Default)]
pub struct MicroState {
    pub values: Vec<MicroValue>,
    specials: Specials,
    /// The registers of loops that run in strips.
    pub strip: Option<Box<StripState>>,
}

impl MicroState {
    pub fn new(slots: usize) -> Self {
        MicroState { values: vec![MicroValue::default(); slots], specials: Specials::default(), strip: None }
    }

    /// A block before its first operation.
    pub fn reset(&mut self) {
        *self = MicroState::new(self.values.len());
    }
}

/// The memory on the chip that a pointer's space is, or none.
pub fn chip_space(ty: &Type) -> Option<Space> {
    ty.space().filter(|space| *space != Space::Gm)
}

/// Bytes of an element behind a pointer: a pair of fp4 codes is one.
pub fn step(elem: Elem) -> i64 {
    elem.bytes_of(1) as i64
}

/// The location of a memory on the chip.
pub fn loc_of(space: Space) -> Option<Loc> {
    Some(match space {
        Space::Ub => Loc::Vec,
        Space::L1 => Loc::Mat,
        Space::L0a => Loc::Left,
        Space::L0b => Loc::Right,
        Space::L0c => Loc::Acc,
        Space::Bt => Loc::Bias,
        Space::Fb => Loc::Scaling,
        Space::ScalesA => Loc::ScaleLeft,
        Space::ScalesB => Loc::ScaleRight,
        Space::Gm | Space::AnySpace => return None,
    })
}

/// Bytes that an instruction touched.
#[derive(Clone, Debug)]
pub struct Touched {
    pub place: Place,
    pub from: u64,
    pub to: u64,
    pub writes: bool,
    pub data: Option<Vec<u8>>,
}

/// The memories as one core's micro instructions see them.
struct View<'a> {
    memories: &'a mut Memories,
    /// The vector core that runs.
    core: u8,
    /// The global buffers of the operands, and whether they may grow.
    globals: SmallVec<[(u32, bool); 2]>,
    /// The number of undefined bytes that went to global memory.
    undefined: u64,
    failed: Option<Failure>,
    /// The accesses, if an observer looks for races.
    touched: Option<RefCell<Vec<Touched>>>,
}

impl View<'_> {
    /// Notes bytes that are touched.
    fn note(&self, place: Place, from: u64, len: u64, data: Option<&[u8]>) {
        let Some(touched) = &self.touched else { return };
        let mut touched = touched.borrow_mut();
        if let Some(last) = touched.last_mut()
            && (last.place, last.writes, last.to) == (place, data.is_some(), from)
        {
            last.to += len;
            if let (Some(all), Some(more)) = (&mut last.data, data) {
                all.extend(more);
            }
            return;
        }
        let (to, writes) = (from + len, data.is_some());
        touched.push(Touched { place, from, to, writes, data: data.map(<[u8]>::to_vec) });
    }

    fn id(&self, place: Place) -> MemoryId {
        match (place.space, loc_of(place.space)) {
            (Space::Ub, Some(loc)) => {
                let core = if place.unit > 0 { (place.unit - 1) as u8 } else { self.core };
                on_core(MemoryId::of_loc(loc), core)
            }
            (_, Some(loc)) => MemoryId::of_loc(loc),
            (_, None) => MemoryId::new(place.unit as usize),
        }
    }

    fn is_defined(&self, id: MemoryId, at: u64, len: usize) -> bool {
        !self.memories.tracked || self.memories.get(id).is_some_and(|m| m.defined().has_all(at as usize, len))
    }

    /// Writes bytes, each of which may be undefined; undefined bytes become 0 in global memory.
    fn write(&mut self, place: Place, at: u64, bytes: &[u8], is_defined: bool) {
        self.note(place, at, bytes.len() as u64, Some(bytes));
        let id = self.id(place);
        let (start, len) = (at as usize, bytes.len());
        let size = place.space.size().unwrap_or(0).max(at.saturating_add(len as u64));
        if let Err(failure) = self.memories.reserve(id, size) {
            self.failed.get_or_insert(failure);
            return;
        }
        let Some(memory) = self.memories.get_mut(id) else { return };
        let is_global = place.space == Space::Gm;
        if let Some(to) = memory.as_mut().get_mut(start..start + len) {
            to.copy_from_slice(bytes);
        }
        if is_defined || is_global {
            memory.defined_mut().insert(start, len);
        } else {
            memory.defined_mut().remove(start, len);
        }
        if is_global {
            memory.note_written(start, len);
            self.undefined += if is_defined { 0 } else { len as u64 };
        }
    }
}

impl Memory for View<'_> {
    fn byte(&self, place: Place, at: u64) -> Option<u8> {
        self.note(place, at, 1, None);
        let id = self.id(place);
        match self.memories.get(id).and_then(|m| m.bytes().get(at as usize)) {
            Some(byte) => self.is_defined(id, at, 1).then_some(*byte),
            None => (!self.memories.tracked).then_some(0),
        }
    }

    fn bytes(&self, place: Place, at: u64, len: usize) -> Option<&[u8]> {
        let id = self.id(place);
        let bytes = self.memories.get(id)?.bytes().get(at as usize..at as usize + len)?;
        let bytes = self.is_defined(id, at, len).then_some(bytes)?;
        self.note(place, at, len as u64, None);
        Some(bytes)
    }

    fn put(&mut self, place: Place, at: u64, value: Option<u8>) {
        self.write(place, at, &[value.unwrap_or(0)], value.is_some() || !self.memories.tracked);
    }

    fn put_all(&mut self, place: Place, at: u64, bytes: &[u8]) {
        self.write(place, at, bytes, true);
    }

    fn copy(&mut self, from: (Place, u64), to: (Place, u64), len: u64) -> Result<(), Failure> {
        if self.touched.is_none() {
            let (source, target) = (self.id(from.0), self.id(to.0));
            let size = to.0.space.size().unwrap_or(0).max(to.1.saturating_add(len));
            self.memories.reserve(target, size)?;
            let len = len as usize;
            if source != target && self.is_defined(source, from.1, len) {
                let both = self.memories.list_mut().get_disjoint_mut([source.index(), target.index()]);
                let (start, end) = (to.1 as usize, to.1 as usize + len);
                if let Ok([source, target]) = both
                    && let (Some(read), Some(written)) = (
                        source.bytes().get(from.1 as usize..from.1 as usize + len),
                        target.as_mut().get_mut(start..end),
                    )
                {
                    written.copy_from_slice(read);
                    if !target.defined().has_all(start, len) {
                        target.defined_mut().insert(start, len);
                    }
                    if to.0.space == Space::Gm {
                        target.note_written(start, len);
                    }
                    return Ok(());
                }
            }
        }
        if let Some(bytes) = self.bytes(from.0, from.1, len as usize).map(<[u8]>::to_vec) {
            self.write(to.0, to.1, &bytes, true);
            return Ok(());
        }
        let bytes: Vec<Option<u8>> = (0..len).map(|k| self.byte(from.0, from.1 + k)).collect();
        let mut k = 0;
        while k < bytes.len() {
            let is_defined = bytes[k].is_some();
            let run = bytes[k..].iter().take_while(|byte| byte.is_some() == is_defined).count();
            let values: Vec<u8> = bytes[k..k + run].iter().map(|byte| byte.unwrap_or(0)).collect();
            self.write(to.0, to.1 + k as u64, &values, is_defined);
            k += run;
        }
        Ok(())
    }

    fn global(&mut self, place: Place, at: i64, len: u64, writes: bool) -> Result<(), Failure> {
        if place.unit as usize == MemoryId::NONE.index() {
            return Err(failure("not-executable", "the pointer is no argument's", "pass it as an argument"));
        }
        let have = self.memories.get(MemoryId::new(place.unit as usize)).map_or(0, |m| m.bytes().len() as i128);
        let end = i128::from(at) + i128::from(len);
        let grows = writes && self.globals.iter().any(|(unit, grows)| *unit == place.unit && *grows) && end <= 1 << 32;
        if len > 0 && (at < 0 || end > have && !grows) {
            let what = format!("bytes {at} to {} of a buffer of {have} bytes are touched", end - 1);
            return Err(failure("gm-bounds", what, "give the argument a longer file, or stay inside it"));
        }
        let access = if writes { ArrayAccess::READS_AND_WRITES } else { ArrayAccess::READS };
        if let Some(memory) = self.memories.get_mut(MemoryId::new(place.unit as usize)) {
            memory.touch([(at.max(0) as usize, len as usize)].into_iter(), access)?;
        }
        Ok(())
    }
}

impl Exec<'_> {
    /// Runs one micro instruction.
    pub fn micro(&mut self, op: &MicroOp) -> Result<(), Failure> {
        if let Some(fast) = &op.fast
            && self.observer.as_ref().is_none_or(|observer| !observer.looks_at_bytes())
            && self.watch.is_none()
            && self.micro_fast(op, fast).is_some()
        {
            return Ok(());
        }
        if self.watch.is_some() {
            let what = format!("{} is not followed back to where its bytes come from", op.call.name);
            return Err(failure("not-executable", what, "trace a program of tile instructions"));
        }
        if self.cx.blocks > 1 {
            self.engine.memories.set_writer(op.at.0);
        }
        let mut state = std::mem::take(&mut self.micro);
        let outcome = self.micro_with(op, &mut state);
        self.micro = state;
        outcome
    }

    fn micro_with(&mut self, op: &MicroOp, state: &mut MicroState) -> Result<(), Failure> {
        let mut globals = SmallVec::new();
        let inst = Inst { call: &op.call, args: op.arg_types.clone(), results: op.result_types.clone() };
        let mut notes: Vec<Diagnostic> = Vec::new();
        let empty = MicroValue::default();
        let args: SmallVec<[Value<'_>; 8]> = op
            .args
            .iter()
            .map(|var| match var {
                MicroVar::Int(int) => Value::Int(self.int(*int)),
                MicroVar::Address(space, int) => Value::Ptr(Place { space: *space, unit: 0 }, self.int(*int)),
                MicroVar::Global(slot) => {
                    let (unit, at, grows) = self.global_byte(*slot);
                    globals.push((unit, grows));
                    Value::Ptr(Place { space: Space::Gm, unit }, at)
                }
                MicroVar::Micro(slot) => match state.values.get(slot.index()).unwrap_or(&empty) {
                    MicroValue::Reg(reg) => Value::Reg(reg),
                    MicroValue::Mask(mask) => Value::Mask(mask),
                    MicroValue::Align(align) => Value::Align(align),
                    MicroValue::None => Value::Int(0),
                },
            })
            .collect();
        let looks = self.observer.as_ref().is_some_and(|observer| observer.looks_at_bytes());
        let touched = looks.then(RefCell::default);
        // A load touches all bytes of its footprint, whichever lanes look at them.
        let reads =
            looks.then(|| tessera_micro::check::load_footprint(&inst, &tessera_micro::run::known(&args))).flatten();
        let core = self.engine.core;
        let mut view = View { memories: &mut self.engine.memories, core, globals, undefined: 0, failed: None, touched };
        let made = {
            let mut core = Core { specials: &mut state.specials, memory: &mut view, notes: &mut notes };
            tessera_micro::run::run(&inst, &args, &mut core)
        };
        drop(args);
        let (undefined, failed) = (view.undefined, view.failed.take());
        let mut touched = view.touched.take().map(RefCell::into_inner);
        if let (Some(touched), Some(reads)) = (&mut touched, reads) {
            let place = Place { space: Space::Ub, unit: 0 };
            let read =
                |(from, to): (i64, i64)| Touched { place, from: from as u64, to: to as u64, writes: false, data: None };
            *touched = reads.into_iter().map(read).collect();
        }
        for note in notes {
            self.found.warn(op.at, note.at(self.cx.span(op.at), "when this runs"));
        }
        let made = made.and_then(|made| failed.map_or(Ok(made), Err))?;
        if undefined > 0 {
            let what = format!("{} writes {undefined} undefined bytes to global memory, as 0", op.call.name);
            let note = Diagnostic::warning("undefined-read", what).help("write the bytes first, or store fewer");
            self.found.warn(op.at, note.at(self.cx.span(op.at), "when this runs"));
        }
        for (var, value) in op.results.iter().zip(made) {
            let held = match (var, value) {
                (
                    MicroVar::Int(Int::Slot(slot)) | MicroVar::Address(_, Int::Slot(slot)),
                    Made::Int(v) | Made::Ptr(v),
                ) => {
                    self.set(*slot, v);
                    continue;
                }
                (_, Made::Reg(reg)) => MicroValue::Reg(reg),
                (_, Made::Mask(mask)) => MicroValue::Mask(mask),
                (_, Made::Align(align)) => MicroValue::Align(align),
                _ => return Err(internal_error("a micro instruction makes what its result is not")),
            };
            if let MicroVar::Micro(slot) = var
                && let Some(to) = state.values.get_mut(slot.index())
            {
                *to = held;
            }
        }
        if let Some(touched) = touched {
            self.log_micro(op, touched);
        }
        Ok(())
    }

    /// The buffer of a global pointer, the byte that it means, and whether the buffer may grow.
    fn global_byte(&self, slot: GlobalSlot) -> (u32, i64, bool) {
        let pointer = self.global(slot);
        let bits = i128::from(pointer.offset) * i128::from(pointer.elem.bits());
        (pointer.buffer.index() as u32, i64::try_from(bits / 8).unwrap_or(i64::MAX), pointer.grows)
    }

    pub fn micro_support(&mut self, at: OpId, support: &MicroSupport) -> Result<(), Failure> {
        match support {
            MicroSupport::Begin => {
                self.micro.specials.kept = None;
                self.begin_log();
            }
            MicroSupport::End => {
                self.leave_vecscope(at);
                self.end_log(at);
            }
            MicroSupport::Move { to, from, by } => {
                let by = by.map_or(0, |(n, size)| self.int(n).wrapping_mul(size));
                self.set(*to, self.int(*from).wrapping_add(by));
            }
            MicroSupport::TileAddress { to, tile } => {
                let id = self.object_of(*tile);
                self.engine.reserve_tile(id, 0)?;
                let place = self.engine.object(id)?.place;
                if place.memory.on_core0() == MemoryId::POOL {
                    let what = "the tile has no address yet, and a pointer to its bytes is made";
                    return Err(failure("not-executable", what, "give the tile an address, or let it be placed"));
                }
                self.set(*to, place.at as i64);
            }
            MicroSupport::Load(access, to) => {
                let (place, at_byte) = self.chip_element(access)?;
                let view = self.view();
                let size = step(access.elem) as u64;
                let bytes: Option<Vec<u8>> = (0..size).map(|k| view.byte(place, at_byte + k)).collect();
                let Some(bytes) = bytes else {
                    let what = format!("{} byte {at_byte} is undefined, and is loaded as a scalar", place.space.name());
                    return Err(failure("undefined-use", what, "write it first"));
                };
                let raw = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
                self.set(*to, super::code::slot_bits(scalar_number(access.elem, raw), access.ty));
                let bytes = (at_byte, at_byte + size);
                if !self.log_scalar(at, &[access.base, access.index], bytes, None, Some(*to)) {
                    self.observe_chip(at, place, at_byte, size, false);
                }
            }
            MicroSupport::Store(access, value) => {
                let (place, at_byte) = self.chip_element(access)?;
                let (from, value) = (*value, self.int(*value));
                let raw = match access.ty {
                    ScalarType::Float(_) => access.elem.encode_f64(f64::from_bits(value as u64), Overflow::Infinity),
                    _ => access.elem.encode_int(value.into(), Overflow::Infinity),
                };
                let size = step(access.elem) as usize;
                let mut view = self.view();
                view.write(place, at_byte, raw.to_le_bytes().get(..size).unwrap_or_default(), true);
                if let Some(failed) = view.failed {
                    return Err(failed);
                }
                let (stored, bytes) = (raw.to_le_bytes(), (at_byte, at_byte + size as u64));
                let uses = [access.base, access.index, from];
                if !self.log_scalar(at, &uses, bytes, stored.get(..size), None) {
                    self.observe_chip(at, place, at_byte, size as u64, true);
                }
            }
        }
        Ok(())
    }

    fn view(&mut self) -> View<'_> {
        let core = self.engine.core;
        let globals = SmallVec::new();
        View { memories: &mut self.engine.memories, core, globals, undefined: 0, failed: None, touched: None }
    }

    /// The byte of an element on the chip: aligned, and inside its memory.
    fn chip_element(&self, access: &ChipAccess) -> Result<(Place, u64), Failure> {
        let size = step(access.elem);
        let at = self.int(access.base).wrapping_add(self.int(access.index).wrapping_mul(size));
        let name = access.space.name();
        if at.rem_euclid(size) != 0 {
            let rule = if access.name == "load_scalar" { "load_scalar-align" } else { "store_scalar-align" };
            let what = format!("the address is {name} byte {at}, which is no multiple of {size}");
            return Err(failure(rule, what, "use an address that is one"));
        }
        let most = access.space.size().unwrap_or(u64::MAX);
        match u64::try_from(at).ok().filter(|at| at.saturating_add(size as u64) <= most) {
            Some(at) => Ok((Place { space: access.space, unit: 0 }, at)),
            None => {
                let what = format!(
                    "{name} bytes {at} to {} are touched, and {name} has {most} bytes",
                    at.saturating_add(size - 1)
                );
                Err(failure(access.space.bounds_rule(), what, "stay inside the memory"))
            }
        }
    }

    /// Streams that a vecscope leaves with bytes that no flush has written.
    fn leave_vecscope(&mut self, at: OpId) {
        let waits = |value: &MicroValue| match value {
            MicroValue::Align(align) if align.stream == tessera_micro::Stream::Store => align.data.len(),
            _ => 0,
        };
        let left: usize = self.micro.values.iter().map(waits).max().unwrap_or(0);
        if left > 0 {
            let what =
                format!("{left} bytes of an unaligned stream wait at the end of the vecscope, and are never written");
            let note = Diagnostic::warning("align-leak", what).help("flush the stream with pto.vstas");
            self.found.warn(at, note.at(self.cx.span(at), "the vecscope ends"));
        }
        self.micro.values.iter_mut().for_each(|value| {
            if matches!(value, MicroValue::Align(_)) {
                *value = MicroValue::None;
            }
        });
    }
}
