//! Tiles at run time.
//!
//! A tile is an [`Object`]: a type, a place, a layout and a valid region. Operations that bind, size and place tiles
//! change objects and move no data.

use super::Engine;
use tessera_isa::diag::Fault;
use tessera_isa::inst::{ConvType, Inst, Place as TilePlace, Root, TileArg};
use tessera_isa::layout::Layout;
use tessera_isa::ops::{Bind, Role};
use tessera_isa::sem::scale_address;
use tessera_isa::tile::{Extent, Loc, Tile, TileType};
use tessera_kernels::{Failure, MemoryId, Place, failure, internal_error, on_core};

/// A tile of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileId(u32);

impl TileId {
    /// No tile; using it is an `internal` error.
    pub const NONE: TileId = TileId(u32::MAX);

    pub const fn new(index: usize) -> TileId {
        TileId(index as u32)
    }

    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// A number that no other tile of the engine has.
    pub const fn number(self) -> usize {
        self.index()
    }
}

/// The source of a tile's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    Own,
    /// An address in the program.
    Manual,
    /// The storage of another tile.
    View,
    /// The storage of another tile, because TFILLPAD_INPLACE needs one.
    Inplace,
}

/// A tile at run time.
#[derive(Clone, Debug)]
pub struct Object {
    pub tile: Tile,
    pub conv: Option<ConvType>,
    /// The number of its type.
    pub kind: u32,
    pub place: Place,
    /// The number of its layout; views keep their source's pitch.
    pub layout: u32,
    /// Valid rows and columns, where they are set.
    pub valid: [Option<u64>; 2],
    pub binding: Binding,
    /// Its own place and layout, unless it is bound elsewhere.
    home: Place,
    pub(super) own_layout: u32,
    /// The handle of its storage in the pool, where it has one of its own.
    storage: Option<u32>,
}

impl Object {
    /// The tile as it is before anything happens to it.
    pub fn restart(&mut self) {
        self.place = self.home;
        self.layout = self.own_layout;
        self.valid = [self.tile.v_row.known(), self.tile.v_col.known()];
        self.binding = Binding::Own;
    }

    /// The same, at an address that it keeps.
    fn restart_at(&mut self, address: Option<Place>) {
        self.restart();
        if let Some(place) = address {
            (self.place, self.binding) = (place, Binding::Manual);
        }
    }

    fn set_extents(&mut self, valid: [Option<i64>; 2]) {
        for (extent, v) in self.valid.iter_mut().zip(valid) {
            if let Some(v) = v {
                *extent = Some(v as u64);
            }
        }
    }

    /// The start of its contents: the address that the program gave it, or its own place.
    pub fn start(&self) -> Place {
        self.address().unwrap_or(self.home)
    }

    fn address(&self) -> Option<Place> {
        (self.binding == Binding::Manual).then_some(self.place)
    }

    /// Bytes of the declared area.
    pub fn bytes(&self) -> u64 {
        self.tile.bytes()
    }

    /// The valid region, where all that is unset counts as declared.
    pub fn extent(&self) -> [u64; 2] {
        let at_most = |v: Option<u64>, declared: u64| v.map_or(declared, |v| v.min(declared));
        [at_most(self.valid[0], self.tile.rows), at_most(self.valid[1], self.tile.cols)]
    }
}

/// Turns a rule's finding into an error.
fn refused(fault: Option<Fault>) -> Result<(), Failure> {
    fault.map_or(Ok(()), |fault| Err(fault.into()))
}

/// `valid-range`.
fn check_extents(tile: &Tile, valid: [Option<i64>; 2]) -> Result<(), Failure> {
    if valid == [None, None] {
        return Ok(());
    }
    refused(tessera_check::check_valid(tile, valid.map(|v| v.map(i128::from))))
}

fn no_tile() -> Failure {
    internal_error("an operand is no tile of the engine")
}

impl Engine {
    /// A new tile without an address; its contents are undefined.
    pub fn tile(&mut self, ty: &TileType) -> Result<TileId, Failure> {
        let tile = ty.resolve(self.profile);
        refused(tessera_check::check_tile(&tile, self.profile).filter(Fault::is_error))?;
        self.add_stored(tile, None)
    }

    /// A new conv tile.
    pub fn conv_tile(&mut self, conv: ConvType) -> Result<TileId, Failure> {
        refused(tessera_check::check_conv(&conv, self.profile).filter(Fault::is_error))?;
        self.add_stored(conv.as_tile(), Some(conv))
    }

    fn add_stored(&mut self, tile: Tile, conv: Option<ConvType>) -> Result<TileId, Failure> {
        let handle = self.alloc_storage(tile.loc, tile.bytes())?;
        let at = self.storage(handle).ok_or_else(no_tile)?.at as usize;
        let mut object = self.object_at(tile, conv, Place { memory: MemoryId::POOL, at });
        object.storage = Some(handle);
        // The number of a released tile is used again.
        match self.released.pop() {
            Some(old) => {
                *self.object_mut(old)? = object;
                Ok(old)
            }
            None => Ok(self.push(object)),
        }
    }

    /// Gives a tile's storage back; the tile is not to be used any more.
    pub fn release(&mut self, id: TileId) {
        if let Ok(object) = self.object_mut(id)
            && let Some(handle) = object.storage.take()
        {
            self.free_storage(handle);
            self.released.push(id);
        }
    }

    /// A new tile, at an address of its memory or at a place in the pool.
    pub fn add(&mut self, tile: Tile, conv: Option<ConvType>, address: Option<u64>, pool: u64) -> TileId {
        let (memory, at) = match address {
            Some(address) => (MemoryId::of_loc(tile.loc), address),
            None => (MemoryId::POOL, pool),
        };
        self.add_at(tile, conv, Place { memory: self.own(memory, tile.loc), at: at as usize })
    }

    /// A new tile at a place.
    pub fn add_at(&mut self, tile: Tile, conv: Option<ConvType>, home: Place) -> TileId {
        let object = self.object_at(tile, conv, home);
        self.push(object)
    }

    /// A memory as the core that the engine stands for has it: what lies in UB is the core's own.
    fn own(&self, memory: MemoryId, loc: Loc) -> MemoryId {
        if loc == Loc::Vec { on_core(memory, self.core) } else { memory }
    }

    /// Puts a tile somewhere, with these valid extents.
    pub fn put_tile(&mut self, id: TileId, place: Place, valid: [u64; 2]) -> Result<(), Failure> {
        self.update(id, |o| {
            o.restart();
            (o.place, o.binding, o.valid) = (place, Binding::Manual, valid.map(Some));
        })
    }

    /// Removes a tile's place: later uses of the tile are refused.
    pub fn end_tile(&mut self, id: TileId) -> Result<(), Failure> {
        self.update(id, |o| o.place = Place { memory: MemoryId::NONE, at: 0 })
    }

    /// Makes tile `n` what the caller describes; there is a new one where there was none.
    pub fn describe(&mut self, n: usize, arg: &TileArg, conv: Option<ConvType>) -> Result<TileId, Failure> {
        let mut object = self.object_at(arg.tile, conv, self.place(arg));
        object.layout = self.layouts.number(&arg.layout);
        object.valid = arg.valid;
        if arg.place.is_some() {
            object.binding = Binding::Manual;
        }
        while self.objects.len() <= n {
            self.push(object.clone());
        }
        let id = TileId::new(n);
        *self.object_mut(id)? = object;
        Ok(id)
    }

    fn object_at(&mut self, tile: Tile, conv: Option<ConvType>, home: Place) -> Object {
        let own_layout = self.layouts.number(&tile.layout());
        let mut object = Object {
            tile,
            conv,
            kind: self.kinds.number(&(tile, conv)),
            place: home,
            layout: own_layout,
            valid: [None; 2],
            binding: Binding::Own,
            home,
            own_layout,
            storage: None,
        };
        object.restart();
        object
    }

    fn push(&mut self, object: Object) -> TileId {
        self.objects.push(object);
        TileId::new(self.objects.len() - 1)
    }

    /// The tile's type on the profile.
    pub fn type_of(&self, tile: TileId) -> Option<Tile> {
        self.object(tile).ok().map(|o| o.tile)
    }

    /// Valid rows and columns, where they are set.
    pub fn valid(&self, tile: TileId) -> [Option<u64>; 2] {
        self.object(tile).map_or([None; 2], |o| o.valid)
    }

    pub fn layout(&self, object: &Object) -> Layout {
        self.layouts.get(object.layout).cloned().unwrap_or_else(|| object.tile.layout())
    }

    #[inline]
    pub fn object(&self, id: TileId) -> Result<&Object, Failure> {
        self.objects.get(id.index()).ok_or_else(no_tile)
    }

    pub fn object_mut(&mut self, id: TileId) -> Result<&mut Object, Failure> {
        self.epoch += 1;
        self.objects.get_mut(id.index()).ok_or_else(no_tile)
    }

    /// Changes a tile; in a loop most changes set values that are there already.
    pub(super) fn update(&mut self, id: TileId, change: impl FnOnce(&mut Object)) -> Result<(), Failure> {
        let o = self.objects.get_mut(id.index()).ok_or_else(no_tile)?;
        let before = (o.place, o.layout, o.valid, o.binding);
        change(o);
        self.epoch += u64::from((o.place, o.layout, o.valid, o.binding) != before);
        Ok(())
    }

    /// The object as an operand.
    pub fn arg(&self, object: &Object, role: Role) -> TileArg {
        let Place { memory, at } = object.place;
        let (root, start) = match memory.as_host() {
            Some(slot) => (Some(Root::Host), self.lent.get(slot).copied().unwrap_or(0).wrapping_add(at as u64)),
            None if memory == MemoryId::NONE => (None, 0),
            // All of the pool is one address space, so that views of one tile can be compared.
            None if memory.on_core0() == MemoryId::POOL => (Some(Root::Auto(0)), at as u64),
            // A pointer may name a memory that is not the location's.
            None => (Loc::ALL.get(memory.on_core0().index()).map(|loc| Root::Memory(*loc)), at as u64),
        };
        TileArg {
            role,
            tile: object.tile,
            layout: self.layout(object),
            valid: object.valid,
            place: root.map(|root| TilePlace { root, start }),
        }
    }

    /// The place of a tile operand in the engine's memories.
    pub(super) fn place(&self, arg: &TileArg) -> Place {
        let loc = arg.tile.loc;
        match arg.place {
            None => Place { memory: MemoryId::NONE, at: 0 },
            Some(TilePlace { root: Root::Memory(root), start }) => {
                Place { memory: self.own(MemoryId::of_loc(root), loc), at: start as usize }
            }
            Some(TilePlace { root: Root::Auto(_), start }) => {
                Place { memory: self.own(MemoryId::POOL, loc), at: start as usize }
            }
            Some(TilePlace { root: Root::Host, start }) => self.pointer_place(start),
        }
    }

    /// Makes the memory of a tile operand long enough, on core 1, too, if it is used there: where the operand lies.
    pub(super) fn reserve_operand(&mut self, arg: &TileArg, uses_core1: bool) -> Result<Place, Failure> {
        let place = self.place(arg);
        let end = (place.at as u64).saturating_add(arg.tile.elem.bytes_of(arg.layout.footprint()));
        self.reserve(place.memory, end)?;
        if uses_core1 {
            self.reserve(on_core(place.memory, 1), end)?;
        }
        Ok(place)
    }

    /// Makes a memory long enough.
    pub fn reserve(&mut self, memory: MemoryId, end: u64) -> Result<(), Failure> {
        self.memories.reserve(memory, end)
    }

    /// Bytes that a tile spans, the gaps of a view included.
    pub fn span(&self, o: &Object) -> u64 {
        if o.layout == o.own_layout { o.bytes() } else { o.tile.elem.bytes_of(self.layout(o).footprint()) }
    }

    /// Makes the memory of a tile long enough.
    pub fn reserve_tile(&mut self, id: TileId, core: u8) -> Result<(), Failure> {
        let o = self.object(id)?;
        let end = (o.place.at as u64).saturating_add(self.span(o));
        self.reserve(on_core(o.place.memory, core), end)
    }

    /// The contents of a tile's own storage, or where it is bound by an address, begin undefined.
    pub fn undefine(&mut self, id: TileId) {
        if let Some(o) = self.objects.get(id.index())
            && self.memories.tracked
        {
            self.undefine_at(o.start(), o.bytes() as usize);
        }
    }

    /// The contents of a place become undefined, on both vector cores.
    pub(super) fn undefine_at(&mut self, place: Place, bytes: usize) {
        for core in [0, 1] {
            let memory = on_core(place.memory, core);
            if (core == 0 || memory != place.memory && !self.is_one_core)
                && let Some(memory) = self.memories.get_mut(memory)
            {
                // Bytes beyond the memory's end have never been touched.
                let end = place.at.saturating_add(bytes).min(memory.bytes().len());
                memory.defined_mut().remove(place.at, end.saturating_sub(place.at));
            }
        }
    }

    /// An instruction's result begins: all of it valid, at its own place unless TASSIGN named one before.
    pub fn begin(&mut self, id: TileId) -> Result<(), Failure> {
        self.update(id, |o| {
            o.restart_at(o.address());
            o.valid = o.extent().map(Some);
        })
    }

    /// `alloc_tile`: the tile begins, with an address if one is given, here or by an earlier TASSIGN (syntax.md 1).
    /// Returns whether it is at its own place.
    pub fn alloc(&mut self, id: TileId, addr: Option<i64>, valid: [Option<i64>; 2]) -> Result<bool, Failure> {
        let o = self.object(id)?;
        check_extents(&o.tile, valid)?;
        let place = match addr {
            Some(addr) => Some(self.address(o, addr)?),
            None => o.address(),
        };
        self.update(id, |o| {
            o.restart_at(place);
            o.set_extents(valid);
        })?;
        Ok(place.is_none())
    }

    /// The place of an address in a tile's memory, where it is one.
    fn address(&self, o: &Object, addr: i64) -> Result<Place, Failure> {
        refused(tessera_check::check_address(o.tile.loc, o.bytes(), addr.into(), self.profile))?;
        Ok(Place { memory: self.own(MemoryId::of_loc(o.tile.loc), o.tile.loc), at: addr as usize })
    }

    /// TASSIGN: binds a tile to an address; moves no data.
    pub fn assign(&mut self, id: TileId, addr: i64) -> Result<(), Failure> {
        let place = self.address(self.object(id)?, addr)?;
        self.assign_at(id, place)
    }

    fn assign_at(&mut self, id: TileId, place: Place) -> Result<(), Failure> {
        self.update(id, |o| {
            (o.place, o.binding, o.layout) = (place, Binding::Manual, o.own_layout);
        })
    }

    /// Sets valid extents.
    pub fn set_valid(&mut self, id: TileId, valid: [Option<i64>; 2]) -> Result<(), Failure> {
        check_extents(&self.object(id)?.tile, valid)?;
        self.update(id, |o| o.set_extents(valid))
    }

    /// The effect of TFILLPAD_EXPAND on a dynamic valid region.
    pub fn expand_valid(&mut self, id: TileId) -> Result<(), Failure> {
        self.update(id, |o| {
            let declared = [(o.tile.v_row, o.tile.rows), (o.tile.v_col, o.tile.cols)];
            for (v, (extent, declared)) in o.valid.iter_mut().zip(declared) {
                if extent == Extent::Dynamic {
                    *v = Some(declared);
                }
            }
        })
    }

    /// The destination becomes the window of the source's storage that TSUBVIEW or `pto.subset` asks for (ops.md 10).
    pub fn window(&mut self, inst: &Inst, src: TileId, dst: TileId) -> Result<(), Failure> {
        let (from, to) = (self.object(src)?, self.object(dst)?);
        let [row, col] = [Role::Row, Role::Col].map(|role| inst.index(role).unwrap_or(i128::MAX));
        let found = u64::try_from(row).ok().zip(u64::try_from(col).ok());
        let found = found.and_then(|(r, c)| self.layout(from).window(r, c, to.tile.rows, to.tile.cols));
        let found = found.and_then(|(offset, layout)| Some((u64::try_from(offset).ok()?, layout)));
        let Some((offset, layout)) = found else {
            let what = format!("the window at ({row}, {col}) is no window of {}", from.tile);
            return Err(failure("tsubview-window", what, "move it inside the source"));
        };
        let bytes = from.tile.elem.bytes_of(offset);
        let place = Place { memory: from.place.memory, at: from.place.at + bytes as usize };
        let layout = self.layouts.number(&layout);
        self.update(dst, |o| (o.place, o.layout, o.binding) = (place, layout, Binding::View))
    }

    /// The destination becomes a slot of the source, which the rules have found to exist (isa/today.md 5.2).
    pub fn slot(&mut self, inst: &Inst, src: TileId, dst: TileId) -> Result<(), Failure> {
        let (from, to) = (self.object(src)?, self.object(dst)?);
        let slots = from.bytes().checked_div(to.bytes()).unwrap_or(0);
        let Some(index) = inst.index_u64(Role::Index).filter(|k| *k < slots) else {
            let what = format!("the multi-buffer tile of {slots} slots has not the one that is asked for");
            return Err(failure("tile-multi", what, "use a slot that it has"));
        };
        let place = Place { at: from.place.at + (index * to.bytes()) as usize, ..from.place };
        self.update(dst, |o| (o.place, o.layout, o.binding) = (place, o.own_layout, Binding::View))
    }

    /// The destination becomes a view of the source; where an instruction works in place, only one without an address
    /// of its own.
    pub fn bind(&mut self, how: Bind, src: TileId, dst: TileId, is_result: bool) -> Result<(), Failure> {
        let binding = if how == Bind::InPlace { Binding::Inplace } else { Binding::View };
        let (from, to) = (self.object(src)?, self.object(dst)?);
        if how == Bind::Scale {
            // In the pool there are no addresses, and a scale tile keeps its own storage (isa/matrix.md 3).
            let (at, loc) = (scale_address(from.place.at as u64), to.tile.loc);
            return match from.place.memory == MemoryId::of_loc(from.tile.loc) {
                true => self.assign_at(dst, Place { memory: MemoryId::of_loc(loc), at: at as usize }),
                false => Ok(()),
            };
        }
        let keeps = !is_result && !matches!(to.binding, Binding::Own | Binding::Inplace);
        if binding == Binding::Inplace && keeps {
            return Ok(());
        }
        let place = from.place;
        let layout = if from.layout == from.own_layout {
            to.own_layout
        } else if binding == Binding::Inplace {
            from.layout
        } else {
            let layout = over(&from.tile, &self.layout(from), &to.tile)?;
            self.layouts.number(&layout)
        };
        self.update(dst, |o| (o.place, o.layout, o.binding) = (place, layout, binding))
    }
}

/// An instruction whose destination is bound to its source, as [`Engine::bind`] binds tiles of the engine. A destination that has
/// a place keeps it where the instruction works in place; where a window lies is the caller's business.
pub(super) fn bind_operands(how: Bind, mut inst: Inst) -> Result<Inst, Failure> {
    let from = inst.tile(Role::Src).cloned();
    let (Some(from), Some(to)) = (from, inst.tiles.iter_mut().find(|t| t.role == Role::Dst)) else { return Ok(inst) };
    match (how, from.place) {
        (Bind::New | Bind::Address | Bind::Window | Bind::Slot, _) => {}
        (Bind::InPlace, _) if to.place.is_some() => {}
        (Bind::Scale, Some(TilePlace { root, start })) if root == Root::Memory(from.tile.loc) => {
            (to.place, to.layout) =
                (Some(TilePlace { root: Root::Memory(to.tile.loc), start: scale_address(start) }), to.tile.layout());
        }
        (Bind::Scale, _) => {}
        (Bind::Bytes | Bind::Storage | Bind::InPlace, place) => {
            to.place = place;
            to.layout = match how {
                Bind::InPlace if from.layout != from.tile.layout() => from.layout,
                _ => over(&from.tile, &from.layout, &to.tile)?,
            };
        }
    }
    Ok(inst)
}

/// The layout of a tile over the bytes of another one.
fn over(from: &Tile, source: &Layout, to: &Tile) -> Result<Layout, Failure> {
    to.layout_over(from, source).ok_or_else(|| {
        let what = format!("{from} is a window of a wider tile, and {to} has other lines");
        failure("treshape-bytes", what, "move the window to a tile of its own first")
    })
}
