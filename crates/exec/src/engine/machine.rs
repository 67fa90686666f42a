//! One instruction at a time: the machine behind the intrinsics.
//!
//! Tiles are made, bound and sized one by one, and instructions are issued on them; rules, lowering and memories are the
//! interpreter's. An instruction that was issued before with the same operands runs without being looked at again.
//!
//! ```
//! use tessera_exec::engine::machine::{Issue, Machine};
//! use tessera_isa::elem::Elem;
//! use tessera_isa::ops::{Form, Opcode, Role};
//! use tessera_isa::profile::Profile;
//! use tessera_isa::tile::{Loc, TileType};
//!
//! let mut machine = Machine::new(Profile::Cpu);
//! let nd = machine.tile(&TileType::new(Loc::Vec, Elem::U8, 32, 32)).unwrap();
//! let nz = machine.tile(&TileType::new(Loc::Mat, Elem::U8, 32, 32)).unwrap();
//! machine.write(nd, &[7; 1024]).unwrap();
//! let mov = Issue::new(Opcode::Tmov, Form::Plain).tile(Role::Src, nd).tile(Role::Dst, nz);
//! machine.issue(&mov).unwrap();
//! assert_eq!(machine.read(nz, 0).unwrap().elements, vec![7; 1024]);
//! ```

use crate::engine::cache::{Cache, Entry, Request};
use crate::engine::chip::{Chip, ObjectId, TileData, UNSET};
use crate::engine::global::Global;
use crate::engine::memory::{BUFFERS, Memories, Memory, POOL};
use crate::lower::Failure;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{Attrs, ConvType, GlobalArg, Inst};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::{FP_ALIGN, Profile};
use tessera_isa::tile::{Tile, TileType};

/// A tile of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileId(ObjectId);

/// An instruction with its operands.
#[derive(Clone, Debug)]
pub struct Issue {
    /// The instruction.
    pub op: Opcode,
    /// Its form.
    pub form: Form,
    /// Tile operands in the form's order: ins, then outs.
    pub tiles: SmallVec<[(Role, TileId); 6]>,
    /// Scalar operands.
    pub scalars: SmallVec<[(Role, Number); 4]>,
    /// Attributes.
    pub attrs: Attrs,
}

impl Issue {
    /// An instruction without operands.
    pub fn new(op: Opcode, form: Form) -> Self {
        Issue { op, form, tiles: SmallVec::new(), scalars: SmallVec::new(), attrs: Attrs::default() }
    }

    /// With a tile operand; sources come before destinations.
    pub fn tile(mut self, role: Role, tile: TileId) -> Self {
        self.tiles.push((role, tile));
        self
    }

    /// With a scalar operand.
    pub fn scalar(mut self, role: Role, value: Number) -> Self {
        self.scalars.push((role, value));
        self
    }

    /// With an index operand.
    pub fn index(self, role: Role, value: i64) -> Self {
        self.scalar(role, Number::Int(value.into()))
    }

    /// With attributes.
    pub fn attrs(mut self, attrs: Attrs) -> Self {
        self.attrs = attrs;
        self
    }
}

/// A chip that takes one instruction at a time.
#[derive(Debug)]
pub struct Machine {
    chip: Chip,
    cache: Cache,
    key: Vec<u64>,
    types: FxHashMap<Tile, u64>,
    /// By tile: the number of its type, and where in the pool its storage lies.
    tiles: Vec<(u64, u64)>,
    /// Storage of released tiles, by size.
    free: FxHashMap<u64, Vec<u64>>,
    released: Vec<ObjectId>,
    pool: u64,
    issued: u64,
    warnings: Vec<Diagnostic>,
}

impl Machine {
    /// A machine that keeps track of what is defined.
    pub fn new(profile: Profile) -> Self {
        Machine::with_tracking(profile, true)
    }

    /// A machine that keeps track of what is defined, or does not.
    pub fn with_tracking(profile: Profile, tracked: bool) -> Self {
        let mut memories = Memories::new(tracked);
        // The buffer through which loads and stores go.
        memories.add_buffer(Memory::default());
        Machine {
            chip: Chip::new(profile, memories),
            cache: Cache::default(),
            key: Vec::new(),
            types: FxHashMap::default(),
            tiles: Vec::new(),
            free: FxHashMap::default(),
            released: Vec::new(),
            pool: 0,
            issued: 0,
            warnings: Vec::new(),
        }
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.chip.profile
    }

    /// The warnings since the last call.
    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.warnings)
    }

    /// A new tile without an address; its contents are undefined.
    pub fn tile(&mut self, ty: &TileType) -> Result<TileId, Failure> {
        let tile = ty.resolve(self.chip.profile);
        match tessera_check::check_tile(&tile, self.chip.profile) {
            Some(fault) if fault.is_error() => Err(fault.into()),
            _ => self.add(tile, None),
        }
    }

    /// A new conv tile.
    pub fn conv_tile(&mut self, conv: ConvType) -> Result<TileId, Failure> {
        match tessera_check::check_conv(&conv, self.chip.profile) {
            Some(fault) if fault.is_error() => Err(fault.into()),
            _ => self.add(conv.as_tile(), Some(conv)),
        }
    }

    fn add(&mut self, tile: Tile, conv: Option<ConvType>) -> Result<TileId, Failure> {
        let size = tile.bytes().div_ceil(FP_ALIGN) * FP_ALIGN;
        let place = match self.free.get_mut(&size).and_then(Vec::pop) {
            Some(place) => place,
            None => {
                let place = self.pool;
                let end = place.saturating_add(size);
                // Grown by doubling, so that many small tiles cost little.
                let room = self.chip.memories.get(POOL).map_or(0, |m| m.bytes().len() as u64);
                if end > room {
                    let wanted = end.max(room.saturating_mul(2).min(Memories::LIMIT / 2));
                    self.chip.reserve(POOL, wanted)?;
                }
                self.pool = end;
                place
            }
        };
        let next = self.types.len() as u64;
        let ty = *self.types.entry(tile).or_insert(next);
        let id = self.chip.add(tile, conv, None, place);
        let id = match self.released.pop() {
            // The number of a released tile is used again.
            Some(old) => {
                if let (Some(new), Ok(slot)) = (self.chip.objects.pop(), self.chip.object_mut(old)) {
                    *slot = new;
                }
                if let Some(slot) = self.tiles.get_mut(old as usize) {
                    *slot = (ty, place);
                }
                old
            }
            None => {
                self.tiles.push((ty, place));
                id
            }
        };
        self.chip.undefine(id);
        Ok(TileId(id))
    }

    /// Gives a tile's storage back; the tile is not to be used any more.
    pub fn release(&mut self, tile: TileId) {
        let bytes = self.chip.object(tile.0).map(|o| o.bytes());
        if let (Ok(bytes), Some((_, place))) = (bytes, self.tiles.get(tile.0 as usize)) {
            let size = bytes.div_ceil(FP_ALIGN) * FP_ALIGN;
            self.free.entry(size).or_default().push(*place);
            self.released.push(tile.0);
        }
    }

    /// TASSIGN: binds a tile to an address of its memory; moves no data.
    pub fn assign(&mut self, tile: TileId, address: i64) -> Result<(), Failure> {
        self.chip.assign(tile.0, address)
    }

    /// Sets the dynamic ones of a tile's valid extents.
    pub fn set_valid(&mut self, tile: TileId, rows: Option<i64>, cols: Option<i64>) -> Result<(), Failure> {
        self.chip.set_valid(tile.0, [rows, cols])
    }

    /// Valid rows and columns, where they are set.
    pub fn valid(&self, tile: TileId) -> [Option<u64>; 2] {
        let valid = self.chip.object(tile.0).map_or([UNSET; 2], |o| o.valid);
        valid.map(|v| (v != UNSET).then_some(v))
    }

    /// The tile's type on the profile.
    pub fn type_of(&self, tile: TileId) -> Option<Tile> {
        self.chip.object(tile.0).ok().map(|o| o.tile)
    }

    /// TSUBVIEW: `dst` becomes a window of `src`.
    pub fn subview(&mut self, dst: TileId, src: TileId, row: i64, col: i64) -> Result<(), Failure> {
        let inst = self.chip.window_inst(Opcode::Tsubview, src.0, dst.0, [row, col])?;
        self.legal(&inst)?;
        self.chip.window(src.0, dst.0, [row, col])
    }

    /// Issues an instruction on tiles.
    pub fn issue(&mut self, issue: &Issue) -> Result<(), Failure> {
        self.issue_with(issue, None)
    }

    /// TLOAD: a view of `bytes` into a tile; [`GlobalArg::buffer`] is taken from the bytes.
    pub fn load(&mut self, tile: TileId, view: &GlobalArg, bytes: &[u8]) -> Result<(), Failure> {
        let (touched, view) = touched(view, bytes.len());
        self.set_buffer(Memory::new(bytes.get(touched).unwrap_or(bytes), true));
        let issue = Issue::new(Opcode::Tload, Form::Plain).tile(Role::Dst, tile);
        let result = self.issue_with(&issue, Some(view));
        self.set_buffer(Memory::default());
        result
    }

    /// TSTORE: a tile into a view of `bytes`. Undefined bytes are written as 0, with a warning.
    pub fn store(&mut self, tile: TileId, view: &GlobalArg, bytes: &mut [u8]) -> Result<(), Failure> {
        let (touched, view) = touched(view, bytes.len());
        let bytes = bytes.get_mut(touched).unwrap_or_default();
        self.set_buffer(Memory::new(&*bytes, true));
        let issue = Issue::new(Opcode::Tstore, Form::Plain).tile(Role::Src, tile);
        let result = self.issue_with(&issue, Some(view));
        if let (Ok(()), Some(memory)) = (&result, self.chip.memories.get(BUFFERS)) {
            bytes.copy_from_slice(memory.bytes());
        }
        self.set_buffer(Memory::default());
        result
    }

    fn set_buffer(&mut self, buffer: Memory) {
        if let Some(memory) = self.chip.memories.get_mut(BUFFERS) {
            *memory = buffer;
        }
    }

    fn issue_with(&mut self, issue: &Issue, global: Option<Global>) -> Result<(), Failure> {
        let tile = |role| issue.tiles.iter().find(|t| t.0 == role).map(|t| t.1.0);
        let binds = matches!(issue.op, Opcode::Treshape | Opcode::Bitcast | Opcode::TfillpadInplace);
        let (Some(src), Some(dst), true) = (tile(Role::Src), tile(Role::Dst), binds) else {
            return self.issue_bound(issue, global);
        };
        let before = self.chip.object(dst)?.clone();
        let bound = self.chip.bind(issue.op, src, dst, false);
        let result = bound.and_then(|()| self.issue_bound(issue, global));
        // A refused instruction leaves its destination where it was.
        if let (Err(_), Ok(object)) = (&result, self.chip.object_mut(dst)) {
            *object = before;
        }
        result
    }

    /// Issues an instruction whose destination lies where the instruction wants it.
    fn issue_bound(&mut self, issue: &Issue, global: Option<Global>) -> Result<(), Failure> {
        self.issued += 1;
        let tile = |role| issue.tiles.iter().find(|t| t.0 == role).map(|t| t.1.0);
        self.make_key(issue, global.as_ref());
        let mut key = std::mem::take(&mut self.key);
        if !self.cache.find(&key) {
            let request = Request {
                opcode: issue.op,
                form: issue.form,
                tiles: issue.tiles.iter().map(|(role, t)| (*role, t.0)).collect(),
                scalars: issue.scalars.clone(),
                attrs: issue.attrs.clone(),
                global: global.as_ref(),
            };
            let inst = self.chip.instruction(&request)?;
            self.legal(&inst)?;
            let prepared = self.chip.lowered(&request, &inst)?;
            self.cache.insert(Entry { key: key.as_slice().into(), init: None, prepared, undefined_at: 0 });
        }
        let start = global.as_ref().and_then(Global::byte).unwrap_or(0);
        let effect = self.cache.run(&mut self.chip, start, self.issued);
        key.clear();
        self.key = key;
        if effect?.stored_undefined {
            let at = tile(Role::Src).and_then(|t| self.chip.first_undefined(t, 0));
            let element = at.map_or(String::new(), |e| format!(" ({}, {})", e.row, e.col));
            let what = format!("element{element} of the tile is undefined and stored; a 0 is written in its place");
            self.warnings
                .push(Diagnostic::warning("undefined-read", what).help("write the element before it is stored"));
        }
        if let (Opcode::TfillpadExpand, Some(dst)) = (issue.op, tile(Role::Dst)) {
            self.chip.expand_valid(dst)?;
        }
        Ok(())
    }

    fn legal(&mut self, inst: &Inst) -> Result<(), Failure> {
        for fault in tessera_check::check(inst) {
            if fault.is_error() {
                return Err(fault.into());
            }
            self.warnings.push(fault.into());
        }
        Ok(())
    }

    /// Everything that what is made ready depends on.
    fn make_key(&mut self, issue: &Issue, global: Option<&Global>) {
        let key = &mut self.key;
        key.clear();
        key.push((issue.op.index() as u64) << 8 | issue.form as u64);
        for (role, TileId(id)) in &issue.tiles {
            let ty = self.tiles.get(*id as usize).map_or(0, |t| t.0);
            if let Ok(o) = self.chip.object(*id) {
                key.extend_from_slice(&[
                    ty << 8 | *role as u64,
                    (o.place.memory as u64) << 32 | u64::from(o.layout),
                    o.place.at as u64,
                    o.valid[0],
                    o.valid[1],
                ]);
                if let Some(conv) = &o.conv {
                    key.extend_from_slice(&conv.dims);
                }
            }
        }
        for (role, value) in &issue.scalars {
            key.push(*role as u64);
            push_number(key, *value);
        }
        key.extend(issue.attrs.bits());
        if let Some(view) = global {
            key.extend_from_slice(&[
                view.elem as u64,
                view.offset as u64,
                view.elements(&self.chip.memories),
                view.tag as u64,
            ]);
            key.extend(view.dims.iter().copied());
            key.extend(view.strides.iter().map(|s| *s as u64));
        }
    }

    /// A tile's contents, as one vector core sees them.
    pub fn read(&self, tile: TileId, core: u8) -> Result<TileData, Failure> {
        self.chip.tile_data(tile.0, core)
    }

    /// Writes the valid region, element by element in logical order, row by row.
    pub fn write(&mut self, tile: TileId, elements: &[u8]) -> Result<(), Failure> {
        let [rows, cols] = self.chip.object(tile.0)?.extent();
        self.chip.give(tile.0, rows, cols, elements)
    }

    /// Writes the declared bytes as they lie in memory.
    pub fn write_raw(&mut self, tile: TileId, bytes: &[u8]) -> Result<(), Failure> {
        self.chip.give_raw(tile.0, bytes)
    }

    /// Makes some declared bytes of a tile undefined: those whose mask is not 0xFF.
    pub fn undefine(&mut self, tile: TileId, mask: &[u8]) -> Result<(), Failure> {
        self.chip.reserve_tile(tile.0, 0)?;
        let place = self.chip.object(tile.0)?.place;
        if let Some(memory) = self.chip.memories.get_mut(place.memory) {
            memory.defined_mut().assign(place.at, mask);
        }
        Ok(())
    }
}

/// The bytes of a buffer that a view touches, and the view as one of these alone: a window of a large array costs what
/// the window costs. All of the buffer where the view leaves it, or is a pointer; the rules will have to say something.
fn touched(view: &GlobalArg, len: usize) -> (Range<usize>, Global) {
    let mut global = Global::of_arg(view, BUFFERS);
    let whole = (0..len, global.clone());
    let (mut low, mut high) = (i128::from(global.offset), i128::from(global.offset) + 1);
    for (dim, stride) in global.dims.iter().zip(&global.strides) {
        let far = i128::from(dim.saturating_sub(1)).saturating_mul(i128::from(*stride));
        (low, high) = (low.saturating_add(far.min(0)), high.saturating_add(far.max(0)));
    }
    // Two fp4 elements share a byte.
    low = low.saturating_sub(low.rem_euclid(2));
    let bits = i128::from(global.elem.bits());
    let first = low.saturating_mul(bits) / 8;
    let end = high.saturating_mul(bits).saturating_add(7) / 8;
    if global.dims.is_empty() || first < 0 || end > len as i128 {
        return whole;
    }
    global.offset = (i128::from(global.offset) - low) as i64;
    (first as usize..end as usize, global)
}

fn push_number(key: &mut Vec<u64>, value: Number) {
    key.extend(match value {
        Number::Int(v) => [1, v as u64, (v >> 64) as u64],
        Number::Float(v) => [2, v.to_bits(), 0],
    });
}
