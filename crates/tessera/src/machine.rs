//! The machine that tiles live on.

use crate::typed::known::{self, legal};
use crate::typed::setters::setters;
use crate::typed::{ConvTile, Element, LayoutMarker, Location, Tile};
use crate::{AttrName, Compact, Diagnostic, Elem, Error, Extent, Loc, Pad, Profile, Result, Role, TileBuf, TileType};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tessera_exec::engine::{Engine, IssueReport, TileId};
use tessera_isa::inst::{AttrValue, Attrs, ConvType, F32Rounding, GlobalArg, Inst};
use tessera_isa::ops::{Form, Opcode};
use tessera_isa::sem::f32_mode;

/// A simulated core with a profile: its memories, and the tiles in them.
///
/// A machine is a handle; clones are the same machine, and every tile carries one. Instructions find the machine by
/// their tiles. It may go to another thread; one instruction is issued after the other.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::Cpu);
/// let mut src: Tile<loc::Vec, i32, 8, 8> = machine.tile()?;
/// let mut dst: Tile<loc::Mat, i32, 16, 16> = machine.tile()?;
/// tload(&mut src, &[7; 64])?;
/// tinsert(&mut dst, &src, 8, 8)?;
/// assert_eq!(dst.get(15, 15)?, Some(7));
/// assert_eq!(dst.get(0, 0)?, None, "nobody has written it");
/// # Ok::<(), tessera::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machine(Arc<Core>);

#[derive(Debug)]
struct Core {
    profile: Profile,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub engine: Engine,
    warnings: Vec<Diagnostic>,
}

impl State {
    /// Issues an instruction again that was issued on the same tiles as they are now; tells whether it was.
    #[inline]
    pub fn reissue(&mut self, inst: &Inst, tiles: &[(Role, TileId)]) -> Result<bool> {
        let done = self.engine.reissue_on(inst, tiles)?;
        Ok(done.map(|done| keep(&mut self.warnings, done)).is_some())
    }

    /// Issues an instruction; what the rules have against it is kept the first time.
    pub fn issue(&mut self, inst: &Inst, tiles: &[(Role, TileId)]) -> Result<()> {
        keep(&mut self.warnings, self.engine.issue(inst, tiles)?);
        Ok(())
    }

    /// Issues an instruction with a view of `bytes`. Undefined bytes are written as 0, with a warning.
    pub fn transfer(
        &mut self,
        mut inst: Inst,
        tiles: &[(Role, TileId)],
        view: GlobalArg,
        bytes: &mut [u8],
    ) -> Result<()> {
        inst.global = Some(view);
        let done = self.engine.transfer(inst, tiles, bytes)?;
        keep(&mut self.warnings, done);
        if let (true, Some((_, tile))) = (done.stored_undefined, tiles.iter().find(|t| t.0 == Role::Src)) {
            self.warnings.push(self.engine.undefined_stored(*tile, 0)?.0);
        }
        Ok(())
    }
}

#[inline]
fn keep(warnings: &mut Vec<Diagnostic>, done: IssueReport<'_>) {
    if done.is_new {
        warnings.extend_from_slice(done.warnings);
    }
    if let Some(warning) = done.about_contents
        && !warnings.iter().any(|w| w.rule == warning.rule)
    {
        warnings.push(warning.clone());
    }
}

/// A tile's storage; it is given back when nobody uses it any more.
#[derive(Debug)]
pub(crate) struct Slot {
    pub machine: Machine,
    pub id: TileId,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Nothing on this thread holds the state while a tile is dropped.
        self.machine.0.state.lock().unwrap_or_else(PoisonError::into_inner).engine.release(self.id);
    }
}

/// What a tile is besides its Rust type: pad value, compact mode, valid region, address.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let options = TileOptions::new().pad(Pad::Zero).valid(3, 40).address(0x1000);
/// let tile: Tile<loc::Vec, f32, 8, 64> = machine.tile_with(options)?;
/// assert_eq!(tile.valid()?, (3, 40));
/// # Ok::<(), tessera::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TileOptions {
    pad: Pad,
    compact: Compact,
    /// The type's valid extents; `None` is one that is set at run time, at first to all of the declared area.
    valid: Option<[Extent; 2]>,
    address: Option<u64>,
}

impl Default for TileOptions {
    fn default() -> Self {
        TileOptions::new()
    }
}

impl TileOptions {
    /// No pad value, no compact mode, no address; the valid region is the declared area until
    /// [`set_valid`](Tile::set_valid) changes it.
    pub const fn new() -> Self {
        TileOptions { pad: Pad::Null, compact: Compact::Null, valid: None, address: None }
    }

    setters! {
        /// The value that padding is filled with (tile-model.md 6).
        pad(pad: Pad) { pad = pad }
        /// The compact mode (tile-model.md 5).
        compact(compact: Compact) { compact = compact }
        /// A valid region that is part of the type, and does not change.
        valid(rows: usize, cols: usize) { valid = Some([Extent::Static(rows as u64), Extent::Static(cols as u64)]) }
        /// A valid region that has to be set before it is used (`valid-unset`).
        unset() { valid = Some([Extent::Dynamic; 2]) }
        /// TASSIGN: the tile lies at this byte address of its memory.
        address(address: u64) { address = Some(address) }
    }
}

impl Machine {
    /// A machine with nothing in its memories.
    pub fn new(profile: Profile) -> Self {
        let state = State { engine: Engine::new(profile, true), warnings: Vec::new() };
        Machine(Arc::new(Core { profile, state: Mutex::new(state) }))
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.0.profile
    }

    /// A new tile of a Rust type; its contents are undefined, its valid region is all of it.
    ///
    /// A type that no profile allows is a compile error, one that this profile does not allow an error here.
    pub fn tile<L: Location, T: Element, const R: usize, const C: usize, Lay: LayoutMarker>(
        &self,
    ) -> Result<Tile<L, T, R, C, Lay>> {
        // Asked here and not in a function below, so that the compiler points at the caller's line.
        legal!(known::tile(Tile::<L, T, R, C, Lay>::TYPE));
        self.alloc_with(Tile::<L, T, R, C, Lay>::TYPE, TileOptions::new()).map(Tile::new)
    }

    /// A new tile of a Rust type, with options.
    pub fn tile_with<L: Location, T: Element, const R: usize, const C: usize, Lay: LayoutMarker>(
        &self,
        options: TileOptions,
    ) -> Result<Tile<L, T, R, C, Lay>> {
        legal!(known::tile(Tile::<L, T, R, C, Lay>::TYPE));
        self.alloc_with(Tile::<L, T, R, C, Lay>::TYPE, options).map(Tile::new)
    }

    fn alloc_with(&self, mut ty: TileType, options: TileOptions) -> Result<TileBuf> {
        (ty.pad, ty.compact) = (options.pad, options.compact);
        [ty.v_row, ty.v_col] = options.valid.unwrap_or([Extent::Dynamic; 2]);
        let mut buf = self.alloc(&ty)?;
        if options.valid.is_none() {
            buf.set_valid(ty.rows as usize, ty.cols as usize)?;
        }
        if let Some(address) = options.address {
            buf.assign(address)?;
        }
        Ok(buf)
    }

    /// A new tile of a run-time type; its contents are undefined.
    pub fn alloc(&self, ty: &TileType) -> Result<TileBuf> {
        let id = self.state()?.engine.tile(ty)?;
        Ok(TileBuf::new(Slot { machine: self.clone(), id }))
    }

    /// A new conv tile in L1: NC1HWC0 with five extents, NDC1HWC0 with six (tile-model.md 7).
    ///
    /// ```
    /// use tessera::prelude::*;
    ///
    /// let machine = Machine::new(Profile::A5);
    /// let image = machine.conv_tile::<f16>(&[1, 2, 8, 8, 16])?;
    /// assert_eq!(image.len(), 2048);
    /// assert_eq!(machine.conv_tile::<f16>(&[1, 2]).unwrap_err().rule(), "timg2col-config");
    /// # Ok::<(), tessera::Error>(())
    /// ```
    pub fn conv_tile<T: Element>(&self, extents: &[usize]) -> Result<ConvTile<T>> {
        let (buf, conv) = self.alloc_conv(T::ELEM, extents)?;
        Ok(ConvTile::new(buf, conv))
    }

    /// The same with an element type that is known at run time.
    pub fn alloc_conv(&self, elem: Elem, extents: &[usize]) -> Result<(TileBuf, ConvType)> {
        let dims = match *extents {
            [n, c1, h, w, c0] => [n, 1, c1, h, w, c0],
            [n, d, c1, h, w, c0] => [n, d, c1, h, w, c0],
            _ => {
                let what = format!("a conv tile has 5 or 6 extents, and these are {}", extents.len());
                return Err(Error::new("timg2col-config", what).help("give [N, C1, H, W, C0] or [N, D, C1, H, W, C0]"));
            }
        };
        let conv = ConvType { loc: Loc::Mat, has_depth: extents.len() == 6, dims: dims.map(|d| d as u64), elem };
        let id = self.state()?.engine.conv_tile(conv)?;
        let slot = Slot { machine: self.clone(), id };
        Ok((TileBuf::new(slot), conv))
    }

    /// SETFMATRIX: the image's size and padding for every TIMG2COL that does not say otherwise (ops.md 7).
    pub fn setfmatrix(&self, fmap: [i64; 2], pad: [i64; 4]) -> Result<()> {
        let given = Attrs::default().with(AttrName::Fmap, fmap).with(AttrName::Pad, pad);
        self.state()?.engine.configure(&given);
        Ok(())
    }

    /// SET_IMG2COL_PADDING: the pad value for every TIMG2COL that does not say otherwise (ops.md 7).
    pub fn set_img2col_padding<T: Element>(&self, value: T) -> Result<()> {
        let given = Attrs::default().with(AttrName::PadValue, value.number());
        self.state()?.engine.configure(&given);
        Ok(())
    }

    /// SET_IMG2COL_RPT: accepted, without effect (ops.md 7).
    pub fn set_img2col_rpt(&self) {}

    /// SETHF32MODE: from here on f32 operands of products are rounded to 11 bits of mantissa (a2a3; isa/matrix.md 5).
    ///
    /// ```
    /// use tessera::prelude::*;
    /// use tessera::F32Rounding;
    ///
    /// let machine = Machine::new(Profile::A5);
    /// let mut a: Tile<loc::Left, f32, 16, 8> = machine.tile()?;
    /// let mut b: Tile<loc::Right, f32, 8, 16> = machine.tile()?;
    /// let mut c: Tile<loc::Acc, f32, 16, 16> = machine.tile()?;
    /// a.write(&[1.0 + f32::EPSILON; 128])?;
    /// b.write(&[1.0; 128])?;
    /// machine.settf32mode(true, F32Rounding::Round)?;
    /// tmatmul(&mut c, &a, &b)?;
    /// assert_eq!(c.get(0, 0)?, Some(8.0));
    /// machine.settf32mode(false, F32Rounding::Round)?;
    /// tmatmul(&mut c, &a, &b)?;
    /// assert_eq!(c.get(0, 0)?, Some(8.0 + 8.0 * f32::EPSILON));
    /// # Ok::<(), tessera::Error>(())
    /// ```
    pub fn sethf32mode(&self, enable: bool, mode: F32Rounding) -> Result<()> {
        self.f32_mode(Opcode::Sethf32mode, enable, mode)
    }

    /// SETTF32MODE: the same to 10 bits (a5). See [`Machine::sethf32mode`].
    pub fn settf32mode(&self, enable: bool, mode: F32Rounding) -> Result<()> {
        self.f32_mode(Opcode::Settf32mode, enable, mode)
    }

    fn f32_mode(&self, op: Opcode, enable: bool, mode: F32Rounding) -> Result<()> {
        let mut inst = Inst::new(op, Form::Plain, self.profile());
        inst.attrs = Attrs::default().with(AttrName::Enable, AttrValue::Bool(enable)).with(AttrName::F32Mode, mode);
        let mut state = self.state()?;
        state.warnings.extend(tessera_check::check(&inst).into_iter().map(Diagnostic::from));
        if let Some(set) = f32_mode(op, self.profile(), &inst.attrs) {
            state.engine.configure(&set);
        }
        Ok(())
    }

    /// The warnings since the last call (`undefined-read`, `value-conversion`, `footprint`, …). What the rules find about an
    /// instruction is reported when it is first issued on its operands, not when the same is repeated.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        self.state().map(|mut s| std::mem::take(&mut s.warnings)).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn is(&self, other: &Machine) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The state. It is never kept across a call into user code.
    #[inline]
    pub(crate) fn state(&self) -> Result<MutexGuard<'_, State>> {
        let broken = || Error::new("internal", "an instruction on another thread ended in a defect of the library");
        self.0.state.lock().map_err(|_| broken().help("make a new machine, and report the defect"))
    }
}

/// What an intrinsic returns: a mark in the order of a pipe.
///
/// The simulator finishes each instruction before the next begins, so a wait has nothing to do; programs written for
/// hardware keep their events.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::Cpu);
/// let mut tile: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
/// let loaded = tload(&mut tile, &[1; 8])?;
/// loaded.wait();
/// tsync([loaded]);
/// # Ok::<(), tessera::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordEvent(());

impl RecordEvent {
    pub(crate) fn new() -> Self {
        RecordEvent(())
    }

    /// Waits until the instruction is done.
    pub fn wait(self) {}
}

/// TSYNC: waits for events.
pub fn tsync(events: impl IntoIterator<Item = RecordEvent>) {
    events.into_iter().for_each(RecordEvent::wait);
}
