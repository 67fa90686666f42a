//! Tiles and instructions whose types are known at run time only, for tools.
//!
//! A [`TileBuf`] goes wherever a typed tile goes, so every intrinsic takes it; an [`Instruction`] is built from an
//! opcode, roles and attributes, which is what a front end has in hand.
//!
//! ```
//! use tessera::dynamic::Instruction;
//! use tessera::{Elem, Loc, Opcode, Role, TileType};
//! use tessera::prelude::*;
//!
//! let machine = Machine::new(Profile::A5);
//! let mut src = machine.alloc(&TileType::new(Loc::Vec, Elem::U8, 32, 32))?;
//! let mut dst = machine.alloc(&TileType::new(Loc::Vec, Elem::U8, 32, 32))?;
//! src.write(&(0..1024).map(|i| i as u8).collect::<Vec<u8>>())?;
//!
//! Instruction::new(Opcode::parse("ttrans").unwrap()).tile(Role::Src, &src).tile(Role::Dst, &dst).issue()?;
//! assert_eq!(dst.to_vec::<u8>()?[..3], [0, 32, 64]);
//!
//! // The intrinsics take it too, and report what a typed tile would not have let compile.
//! let wide = machine.alloc(&TileType::new(Loc::Vec, Elem::F32, 32, 32))?;
//! assert_eq!(ttrans(&mut dst, &wide).unwrap_err().rule(), "ttrans-size");
//! # Ok::<(), tessera::Error>(())
//! ```

use crate::machine::{Machine, RecordEvent, Slot};
use crate::typed::element::{pack, unpack};
use crate::typed::{AsTile, Element, Tensor, TensorMut};
use crate::{Elem, Error, Number, Profile, Result};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tessera_exec::engine::TileId;
use tessera_isa::inst::{Attrs, Inst, ScalarArg, ScalarType};
use tessera_isa::ops::{Bind, Form, Kind, Opcode, Role, Shape};
use tessera_isa::tile::{Tile as TileOnProfile, TileType};

pub use tessera_interp::TileData;
pub use tessera_isa::inst::GlobalArg;

/// A tile whose type is known at run time.
#[derive(Debug)]
pub struct TileBuf {
    slot: Arc<Slot>,
    /// The storages that this tile is a view of, which must not be given back before it.
    views: Mutex<Vec<Arc<Slot>>>,
}

impl AsTile for TileBuf {
    const KNOWN: Option<TileType> = None;

    fn buf(&self) -> &TileBuf {
        self
    }
}

impl TileBuf {
    pub(crate) fn new(slot: Slot) -> Self {
        TileBuf { slot: Arc::new(slot), views: Mutex::new(Vec::new()) }
    }

    /// The machine that the tile lives on.
    #[inline]
    pub fn machine(&self) -> &Machine {
        &self.slot.machine
    }

    /// The tile's type on the machine's profile.
    pub fn tile_type(&self) -> Result<TileOnProfile> {
        let state = self.machine().state()?;
        let ty = state.engine.type_of(self.slot.id);
        ty.ok_or_else(|| Error::new("undefined-name", "the tile is not on its machine any more").help("make a new one"))
    }

    /// Valid rows and columns; `valid-unset` where one was never set.
    pub fn valid(&self) -> Result<(usize, usize)> {
        match self.machine().state()?.engine.valid(self.slot.id) {
            [Some(rows), Some(cols)] => Ok((rows as usize, cols as usize)),
            _ => Err(Error::new("valid-unset", "the tile's valid region was never set").help("call set_valid first")),
        }
    }

    /// Sets a dynamic valid region (`set_validshape`).
    pub fn set_valid(&mut self, rows: usize, cols: usize) -> Result<()> {
        let [rows, cols] = [rows, cols].map(|n| Some(saturated(n)));
        Ok(self.machine().state()?.engine.set_valid(self.slot.id, [rows, cols])?)
    }

    /// TASSIGN: binds the tile to a byte address of its memory; moves no data.
    pub fn assign(&mut self, address: u64) -> Result<()> {
        self.bind(address)
    }

    pub(crate) fn bind(&self, address: u64) -> Result<()> {
        let address = i64::try_from(address).unwrap_or(i64::MAX);
        Ok(self.machine().state()?.engine.assign(self.slot.id, address)?)
    }

    /// The tile's contents: elements, declared bytes, and which of them are defined.
    pub fn data(&self) -> Result<TileData> {
        self.data_on(0)
    }

    /// The tile's contents as vector core 0 or 1 sees them (fixpipe.md 6).
    pub fn data_on(&self, core: u8) -> Result<TileData> {
        if core > 1 {
            let what = format!("there is no vector core {core}");
            return Err(Error::new("binding", what).help("the cores are 0 and 1"));
        }
        Ok(self.machine().state()?.engine.read(self.slot.id, core)?)
    }

    /// The valid region, row by row; unwritten elements are 0.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let data = self.data()?;
        self.check_elem::<T>("tstore-dtype")?;
        Ok(elements(&data.elements, data.rows, data.cols))
    }

    /// Writes the valid region, row by row, whatever the tile's location and layout.
    pub fn write<T: Element>(&mut self, values: &[T]) -> Result<()> {
        self.check_elem::<T>("tload-dtype")?;
        self.write_elements(values.len() as u64, &pack(values))
    }

    /// The same for a given number of elements of the tile's own type, packed.
    pub fn write_elements(&mut self, count: u64, packed: &[u8]) -> Result<()> {
        let tile = self.tile_type()?;
        let mut state = self.machine().state()?;
        let valid = state.engine.valid(self.slot.id);
        let [rows, cols] = [valid[0].unwrap_or(tile.rows), valid[1].unwrap_or(tile.cols)];
        let wanted = rows.saturating_mul(cols);
        if wanted != count || packed.len() as u64 != tile.elem.bytes_of(count) {
            let what = format!("{count} values are given, and the valid region of {tile} is {rows}x{cols}");
            return Err(Error::new("tload-shape", what).help(format!("give {wanted} values")));
        }
        Ok(state.engine.write(self.slot.id, packed)?)
    }

    /// Writes the declared bytes as they lie in memory.
    pub fn write_raw(&mut self, bytes: &[u8]) -> Result<()> {
        let tile = self.tile_type()?;
        if tile.bytes() != bytes.len() as u64 {
            let what = format!("{} bytes are given, and {tile} has {}", bytes.len(), tile.bytes());
            return Err(Error::new("tload-shape", what).help(format!("give {} bytes", tile.bytes())));
        }
        Ok(self.machine().state()?.engine.write_raw(self.slot.id, bytes)?)
    }

    fn check_elem<T: Element>(&self, rule: &'static str) -> Result<()> {
        let elem = self.tile_type()?.elem;
        if elem == T::ELEM {
            return Ok(());
        }
        let what = format!("the tile's elements are {elem}, and the slice's are {}", T::ELEM);
        Err(Error::new(rule, what).help(format!("use a slice of {elem}")))
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// From here on the tile may lie in another one's storage.
    fn may_view(&self, src: &TileBuf) {
        let storages = src.storages();
        let mut views = self.views();
        for root in storages {
            if !views.iter().any(|v| Arc::ptr_eq(v, &root)) {
                views.push(root);
            }
        }
    }

    /// From here on the tile lies in no other storage than this one's.
    fn views_only(&self, src: &TileBuf) {
        let storages = src.storages();
        let before = std::mem::replace(&mut *self.views(), storages);
        // The last handle of a tile gives its storage back.
        drop(before);
    }

    fn storages(&self) -> Vec<Arc<Slot>> {
        let mut storages = self.views().clone();
        storages.push(self.slot.clone());
        storages
    }

    fn views(&self) -> MutexGuard<'_, Vec<Arc<Slot>>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Elements out of packed bytes; fp4 may have half a byte too many.
pub(crate) fn elements<T: Element>(bytes: &[u8], rows: u64, cols: u64) -> Vec<T> {
    let mut elements = unpack(bytes);
    elements.truncate(rows.saturating_mul(cols) as usize);
    elements
}

/// An index or extent; what no machine has stays out of range.
pub(crate) fn saturated(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The tiles of an instruction, as the engine knows them.
type Tiles = SmallVec<[(Role, TileId); 8]>;

/// Issues an instruction that is nothing but its tiles.
#[inline]
pub(crate) fn issue_tiles<const N: usize>(op: Opcode, form: Form, tiles: [(Role, &TileBuf); N]) -> Result<RecordEvent> {
    let machine = tiles.first().map(|(_, tile)| tile.machine());
    if let Some(machine) = machine
        && tiles.iter().all(|(_, tile)| tile.machine().is(machine))
        && machine
            .state()?
            .reissue(&Inst::new(op, form, machine.profile()), &tiles.map(|(role, tile)| (role, tile.slot.id)))?
    {
        return Ok(RecordEvent::new());
    }
    tiles.into_iter().fold(Instruction::new(op), |inst, (role, tile)| inst.tile(role, tile)).issue_as(form)
}

/// An instruction that is put together at run time.
///
/// Operands come in any order, unless forms differ in nothing else (TDIVS); which form it is follows from their roles.
#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// Everything but the tiles.
    inst: Inst,
    tiles: SmallVec<[(Role, &'a TileBuf); 4]>,
    /// All operands, as they were given.
    given: SmallVec<[Role; 8]>,
}

impl<'a> Instruction<'a> {
    /// An instruction without operands.
    pub fn new(op: Opcode) -> Self {
        Instruction { inst: Inst::new(op, Form::Plain, Profile::Cpu), tiles: SmallVec::new(), given: SmallVec::new() }
    }

    /// With a tile.
    pub fn tile(mut self, role: Role, tile: &'a TileBuf) -> Self {
        self.tiles.push((role, tile));
        self.given.push(role);
        self
    }

    /// With a scalar that has no type: a fill value or a quantization parameter.
    pub fn scalar(self, role: Role, value: Number) -> Self {
        self.scalar_arg(ScalarArg::new(role, value))
    }

    /// With a scalar of a type.
    pub fn value<T: Element>(self, role: Role, value: T) -> Self {
        self.scalar_arg(ScalarArg { ty: Some(ScalarType::of(T::ELEM)), ..ScalarArg::new(role, value.number()) })
    }

    fn scalar_arg(mut self, scalar: ScalarArg) -> Self {
        self.given.push(scalar.role);
        self.inst.scalars.push(scalar);
        self
    }

    /// With an index.
    pub fn index(self, role: Role, value: usize) -> Self {
        self.scalar(role, Number::Int(value as i128))
    }

    /// With attributes.
    pub fn attrs(mut self, attrs: Attrs) -> Self {
        self.inst.attrs = attrs;
        self
    }

    /// Checks the instruction and runs it.
    pub fn issue(self) -> Result<RecordEvent> {
        let form = self.form()?;
        self.check_attrs()?;
        self.issue_as(form.form)
    }

    /// Checks the instruction and runs it on a view of global memory; what it stores is in the slice afterwards.
    ///
    /// ```
    /// use tessera::prelude::*;
    /// use tessera::{Attrs, AttrName, AtomicType, Instruction, Opcode, Role};
    ///
    /// let machine = Machine::new(Profile::A5);
    /// let mut tile: Tile<loc::Vec, f32, 1, 8> = machine.tile()?;
    /// tile.write(&[1.5; 8])?;
    /// let mut sums = [10f32; 8];
    /// let add = Attrs::default().with(AttrName::AtomicType, AtomicType::Add);
    /// let view = TensorMut::new(&mut sums).shape(&[1, 8]);
    /// let store = Opcode::parse("tstore").unwrap();
    /// Instruction::new(store).tile(Role::Src, tile.buf()).attrs(add).issue_on(view)?;
    /// assert_eq!(sums, [11.5; 8]);
    /// # Ok::<(), tessera::Error>(())
    /// ```
    pub fn issue_on<'v, T: Element>(self, view: impl Into<TensorMut<'v, T>>) -> Result<RecordEvent> {
        self.with_view(|dense, run| view.into().change(dense, run))
    }

    /// Checks the instruction and runs it on a view of global memory that it only reads.
    pub fn issue_from<'v, T: Element>(self, view: impl Into<Tensor<'v, T>>) -> Result<RecordEvent> {
        self.with_view(|dense, run| view.into().read(dense, run))
    }

    /// The same on a view of bytes, whose type is known at run time; what it stores is in them afterwards.
    pub fn issue_at(self, view: GlobalArg, bytes: &mut [u8]) -> Result<RecordEvent> {
        self.with_view(|_, run| run(view, bytes))
    }

    /// Runs the instruction on what gives it a view: the extents of a view that has none of its own are the tile's.
    fn with_view(
        mut self,
        give: impl FnOnce(&[u64], &mut dyn FnMut(GlobalArg, &mut [u8]) -> Result<()>) -> Result<()>,
    ) -> Result<RecordEvent> {
        self.given.push(Role::Global);
        let form = self.form()?.form;
        self.check_attrs()?;
        let (machine, tiles) = self.ready(form)?;
        let data = tiles.iter().find(|(role, _)| matches!(role, Role::Src | Role::Dst)).map(|t| t.0);
        let dense = match data.and_then(|role| self.operand(role)) {
            Some(tile) => tile.valid().map(|(rows, cols)| [rows as u64, cols as u64])?,
            None => [0, 0],
        };
        give(&dense, &mut |view, bytes| machine.state()?.transfer(self.inst.clone(), &tiles, view, bytes))?;
        Ok(RecordEvent::new())
    }

    /// Checks an instruction that reads one element as a scalar, and gives the element.
    pub fn get<T: Element>(self) -> Result<T> {
        let (elem, bits) = self.element()?;
        if elem != T::ELEM {
            let what = format!("the elements are {elem}, and {} is asked for", T::ELEM);
            return Err(Error::new("tgetval-dtype", what).help(format!("ask for {elem}")));
        }
        let element = unpack(&bits.to_le_bytes()).into_iter().next();
        element.ok_or_else(|| {
            Error::new("tgetval-dtype", "elements that share a byte are no scalars").help("use a wider type")
        })
    }

    /// The same where the element's type is known at run time.
    pub fn get_number(self) -> Result<Number> {
        self.element().map(|(elem, bits)| elem.decode(bits))
    }

    /// The element that the instruction reads: its type and its bits.
    fn element(mut self) -> Result<(Elem, u64)> {
        self.given.push(Role::Value);
        let form = self.form()?.form;
        let (machine, tiles) = self.ready(form)?;
        let Some((_, tile)) = self.tiles.first() else {
            return Err(Error::new("operand-count", "the instruction has no tile").help("give it its tile"));
        };
        let elem = tile.tile_type()?.elem;
        Ok((elem, machine.state()?.engine.get(self.inst, &tiles)?))
    }

    /// The form whose operands these are.
    fn form(&self) -> Result<&'static Shape> {
        let given = &self.given;
        let fits = |form: &&Shape| {
            let mut roles = form.ins.iter().chain(&form.outs);
            roles.clone().count() == given.len()
                && roles.all(|r| given.contains(r))
                && self.tiles.iter().all(|t| matches!(t.0.kind(), Kind::Tile | Kind::Counts))
                && self.inst.scalars.iter().all(|s| s.role.kind() != Kind::Tile)
        };
        let words = |roles: &mut dyn Iterator<Item = &Role>| roles.map(|r| r.name()).collect::<Vec<_>>().join(", ");
        let forms = self.inst.op.shapes();
        let in_order = |form: &&Shape| given.iter().filter(|r| form.ins.contains(r)).eq(&form.ins);
        let first = || forms.iter().find(fits);
        forms.iter().filter(fits).find(in_order).or_else(first).ok_or_else(|| {
            let what = format!("{} has no form with the operands ({})", self.inst.op.title(), words(&mut given.iter()));
            let known: Vec<String> =
                forms.iter().map(|f| format!("({})", words(&mut f.ins.iter().chain(&f.outs)))).collect();
            let help = match known.as_slice() {
                [] => "build one of the layout instructions".to_string(),
                _ => format!("give {}", known.join(" or ")),
            };
            Error::new("operand-count", what).help(help)
        })
    }

    fn check_attrs(&self) -> Result<()> {
        let known = self.inst.op.info().attrs;
        let Some((name, _)) = self.inst.attrs.iter().find(|(name, _)| !known.contains(name)) else { return Ok(()) };
        let what = format!("{} has no attribute {name}", self.inst.op.title());
        Err(Error::new("unknown-attribute", what).help("leave it out"))
    }

    /// The machine and the tiles of an instruction that has this form.
    fn ready(&mut self, form: Form) -> Result<(&'a Machine, Tiles)> {
        let Some((_, first)) = self.tiles.first() else {
            let what = format!("{} has no tile", self.inst.op.title());
            return Err(Error::new("operand-count", what).help("give it its tiles"));
        };
        let machine = first.machine();
        if self.tiles.iter().any(|(_, t)| !t.machine().is(machine)) {
            let what = format!("the tiles of {} live on different machines", self.inst.op.title());
            return Err(Error::new("undefined-name", what).help("make all tiles on one machine"));
        }
        (self.inst.form, self.inst.profile) = (form, machine.profile());
        Ok((machine, self.tiles.iter().map(|(role, tile)| (*role, tile.slot.id)).collect()))
    }

    /// Issues the instruction in a form that its operands are known to have.
    pub(crate) fn issue_as(mut self, form: Form) -> Result<RecordEvent> {
        let (machine, tiles) = self.ready(form)?;
        let ends = self.operand(Role::Src).zip(self.operand(Role::Dst));
        // The destination becomes a view of the source's storage and must keep it alive.
        let view = self.inst.op.binds(self.inst.profile).zip(ends);
        if let Some((_, (src, dst))) = view {
            dst.may_view(src);
        }
        machine.state()?.issue(&self.inst, &tiles)?;
        // TFILLPAD_INPLACE leaves a destination where it is that lies in the source's storage already.
        if let Some((Bind::Bytes | Bind::Storage | Bind::Window | Bind::Slot, (src, dst))) = view {
            dst.views_only(src);
        }
        Ok(RecordEvent::new())
    }

    fn operand(&self, role: Role) -> Option<&'a TileBuf> {
        self.tiles.iter().find(|t| t.0 == role).map(|t| t.1)
    }
}
