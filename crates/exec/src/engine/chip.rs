//! The chip: memories, and the tiles that lie in them.
//!
//! A tile at run time is an [`Object`]: a type, a place, a layout and a valid region. The interpreter and the
//! single-instruction [`Machine`](crate::engine::machine::Machine) share everything here; they differ in where instructions come
//! from.

pub use super::contents::TileData;
pub(crate) use super::contents::UndefinedElement;

use crate::engine::memory::{Memories, MemoryId, POOL, of_loc, on_core};
use crate::lower::Failure;
use crate::nest::Place;
use rustc_hash::FxHashMap;
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{ConvType, Inst, Place as TilePlace, Root, TileArg};
use tessera_isa::layout::{Axis, Layout};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Extent, Tile};

/// The number of a tile object.
pub(crate) type ObjectId = u32;

/// A valid extent that nobody has set.
pub(crate) const UNSET: u64 = u64::MAX;

/// What decides where a tile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// Placement, or the pool.
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
pub(crate) struct Object {
    pub tile: Tile,
    pub conv: Option<ConvType>,
    pub place: Place,
    /// The number of its layout; views keep their source's pitch.
    pub layout: u32,
    pub valid: [u64; 2],
    pub binding: Binding,
    /// Where it lies, and how, unless it is bound elsewhere.
    home: Place,
    pub(super) own_layout: u32,
}

/// Every layout that occurs, once.
#[derive(Debug, Default)]
struct Layouts {
    list: Vec<Layout>,
    ids: FxHashMap<Layout, u32>,
}

/// Memories and tiles.
#[derive(Debug)]
pub(crate) struct Chip {
    pub profile: Profile,
    pub memories: Memories,
    pub objects: Vec<Object>,
    layouts: Layouts,
    /// Grows whenever a tile may have changed in anything but its contents.
    pub epoch: u64,
}

impl Object {
    /// The tile as it is before anything happens to it.
    pub fn restart(&mut self) {
        let known = |e: Extent| e.known().unwrap_or(UNSET);
        self.place = self.home;
        self.layout = self.own_layout;
        self.valid = [known(self.tile.v_row), known(self.tile.v_col)];
        self.binding = Binding::Own;
    }

    fn set_extents(&mut self, valid: [Option<i64>; 2]) {
        for (extent, v) in self.valid.iter_mut().zip(valid) {
            if let Some(v) = v {
                *extent = v as u64;
            }
        }
    }

    /// Where its contents begin: the address that the program gave it, or its own place.
    pub fn start(&self) -> Place {
        if self.binding == Binding::Manual { self.place } else { self.home }
    }

    /// Bytes of the declared area.
    pub fn bytes(&self) -> u64 {
        self.tile.bytes()
    }

    /// The valid region, where all that is unset counts as declared.
    pub fn extent(&self) -> [u64; 2] {
        [self.valid[0].min(self.tile.rows), self.valid[1].min(self.tile.cols)]
    }
}

/// `valid-range`.
fn check_extents(tile: &Tile, valid: [Option<i64>; 2]) -> Result<(), Failure> {
    if valid == [None, None] {
        return Ok(());
    }
    match tessera_check::check_valid(tile, valid.map(|v| v.map(i128::from))) {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}

fn no_tile() -> Failure {
    Box::new(Diagnostic::error("undefined-name", "the operation names no tile; give it one"))
}

impl Chip {
    pub fn new(profile: Profile, memories: Memories) -> Self {
        Chip { profile, memories, objects: Vec::new(), layouts: Layouts::default(), epoch: 1 }
    }

    /// A new tile, at an address of its memory or at a place in the pool.
    pub fn add(&mut self, tile: Tile, conv: Option<ConvType>, address: Option<u64>, pool: u64) -> ObjectId {
        let home = match address {
            Some(address) => Place { memory: of_loc(tile.loc), at: address as usize },
            None => Place { memory: POOL, at: pool as usize },
        };
        let own_layout = self.intern(tile.layout());
        let mut object = Object {
            tile,
            conv,
            place: home,
            layout: own_layout,
            valid: [UNSET; 2],
            binding: Binding::Own,
            home,
            own_layout,
        };
        object.restart();
        self.objects.push(object);
        self.objects.len() as ObjectId - 1
    }

    fn intern(&mut self, layout: Layout) -> u32 {
        if let Some(id) = self.layouts.ids.get(&layout) {
            return *id;
        }
        let id = self.layouts.list.len() as u32;
        self.layouts.list.push(layout.clone());
        self.layouts.ids.insert(layout, id);
        id
    }

    /// The layout of an object.
    pub fn layout(&self, object: &Object) -> Layout {
        let layout = self.layouts.list.get(object.layout as usize).cloned();
        layout.unwrap_or_else(|| object.tile.layout())
    }

    pub fn object(&self, id: ObjectId) -> Result<&Object, Failure> {
        self.objects.get(id as usize).ok_or_else(no_tile)
    }

    pub fn object_mut(&mut self, id: ObjectId) -> Result<&mut Object, Failure> {
        self.epoch += 1;
        self.objects.get_mut(id as usize).ok_or_else(no_tile)
    }

    /// Changes a tile; in a loop most changes bring about what is there already.
    pub(super) fn update(&mut self, id: ObjectId, change: impl FnOnce(&mut Object)) -> Result<(), Failure> {
        let o = self.objects.get_mut(id as usize).ok_or_else(no_tile)?;
        let before = (o.place, o.layout, o.valid, o.binding);
        change(o);
        self.epoch += u64::from((o.place, o.layout, o.valid, o.binding) != before);
        Ok(())
    }

    /// The object as an operand.
    pub fn arg(&self, object: &Object, role: Role) -> TileArg {
        let root = if object.place.memory == POOL {
            // All of the pool is one address space, so that views of one tile can be compared.
            Root::Auto(0)
        } else {
            Root::Memory(object.tile.loc)
        };
        TileArg {
            role,
            tile: object.tile,
            layout: self.layout(object),
            valid: object.valid.map(|v| (v != UNSET).then_some(v)),
            place: Some(TilePlace { root, start: object.place.at as u64 }),
        }
    }

    /// Makes a memory long enough.
    pub fn reserve(&mut self, memory: MemoryId, end: u64) -> Result<(), Failure> {
        self.memories.reserve(memory, end).map_err(|over| {
            let what = format!("the program needs {} bytes of memory, and a run may have {}", over.wanted, over.limit);
            Box::new(Diagnostic::error("memory-limit", what).help("use lower addresses or smaller tiles"))
        })
    }

    /// Makes the memory of a tile long enough.
    pub fn reserve_tile(&mut self, id: ObjectId, core: u8) -> Result<(), Failure> {
        let o = self.object(id)?;
        let bytes = if o.layout == o.own_layout { o.bytes() } else { o.tile.elem.bytes_of(self.layout(o).footprint()) };
        let (memory, at) = (on_core(o.place.memory, core), o.place.at as u64);
        self.reserve(memory, at.saturating_add(bytes))
    }

    /// The contents of a tile's own storage begin, undefined.
    pub fn undefine(&mut self, id: ObjectId) {
        let (Some(o), true) = (self.objects.get(id as usize), self.memories.tracked) else {
            return;
        };
        let place = o.start();
        let bytes = o.bytes() as usize;
        for core in [0, 1] {
            let memory = on_core(place.memory, core);
            if (core == 0 || memory != place.memory)
                && let Some(memory) = self.memories.get_mut(memory)
            {
                // What lies beyond the memory's end has never been touched.
                let end = (place.at + bytes).min(memory.bytes().len());
                memory.defined_mut().remove(place.at, end.saturating_sub(place.at));
            }
        }
    }

    /// An instruction's result begins: all of it valid, at its own place unless TASSIGN named one before.
    pub fn begin(&mut self, id: ObjectId) -> Result<(), Failure> {
        self.update(id, |o| {
            let manual = (o.binding == Binding::Manual).then_some(o.place);
            o.restart();
            o.valid = o.extent();
            if let Some(place) = manual {
                (o.place, o.binding) = (place, Binding::Manual);
            }
        })
    }

    /// `alloc_tile`: the tile begins, with an address where one is given, here or by an earlier TASSIGN (syntax.md 1).
    /// Tells whether it lies at its own place.
    pub fn alloc(&mut self, id: ObjectId, addr: Option<i64>, valid: [Option<i64>; 2]) -> Result<bool, Failure> {
        let o = self.object(id)?;
        check_extents(&o.tile, valid)?;
        let place = match addr {
            Some(addr) => Some(self.address(o, addr)?),
            None => (o.binding == Binding::Manual).then_some(o.place),
        };
        self.update(id, |o| {
            o.restart();
            o.set_extents(valid);
            if let Some(place) = place {
                (o.place, o.binding) = (place, Binding::Manual);
            }
        })?;
        Ok(place.is_none())
    }

    /// The place of an address in a tile's memory, where it is one.
    fn address(&self, o: &Object, addr: i64) -> Result<Place, Failure> {
        match tessera_check::check_address(o.tile.loc, o.bytes(), addr.into(), self.profile) {
            Some(fault) => Err(fault.into()),
            None => Ok(Place { memory: of_loc(o.tile.loc), at: addr as usize }),
        }
    }

    /// TASSIGN: binds a tile to an address; moves no data.
    pub fn assign(&mut self, id: ObjectId, addr: i64) -> Result<(), Failure> {
        let place = self.address(self.object(id)?, addr)?;
        self.update(id, |o| {
            (o.place, o.binding, o.layout) = (place, Binding::Manual, o.own_layout);
        })
    }

    /// Sets valid extents.
    pub fn set_valid(&mut self, id: ObjectId, valid: [Option<i64>; 2]) -> Result<(), Failure> {
        check_extents(&self.object(id)?.tile, valid)?;
        self.update(id, |o| o.set_extents(valid))
    }

    /// What TFILLPAD_EXPAND does to a dynamic valid region.
    pub fn expand_valid(&mut self, id: ObjectId) -> Result<(), Failure> {
        self.update(id, |o| {
            let declared = [(o.tile.v_row, o.tile.rows), (o.tile.v_col, o.tile.cols)];
            for (v, (extent, declared)) in o.valid.iter_mut().zip(declared) {
                if extent == Extent::Dynamic {
                    *v = declared;
                }
            }
        })
    }

    /// TSUBVIEW and `pto.subset` as an instruction.
    pub fn window_inst(&self, opcode: Opcode, src: ObjectId, dst: ObjectId, at: [i64; 2]) -> Result<Inst, Failure> {
        let mut inst = Inst::new(opcode, Form::Plain, self.profile);
        inst.tiles.push(self.arg(self.object(src)?, Role::Src));
        inst.tiles.push(self.arg(self.object(dst)?, Role::Dst));
        for (role, v) in [Role::Row, Role::Col].into_iter().zip(at) {
            inst.scalars.push((role, Some(Number::Int(v.into()))));
        }
        Ok(inst)
    }

    /// The destination becomes a window of the source's storage (ops.md 10).
    pub fn window(&mut self, src: ObjectId, dst: ObjectId, at: [i64; 2]) -> Result<(), Failure> {
        let (from, to) = (self.object(src)?, self.object(dst)?);
        let [r, c] = at.map(u64::try_from);
        let found = r.ok().zip(c.ok()).and_then(|(r, c)| self.layout(from).window(r, c, to.tile.rows, to.tile.cols));
        let Some((offset, layout)) = found else {
            let what = format!("the window at ({}, {}) is no window of {}", at[0], at[1], from.tile);
            return Err(Box::new(Diagnostic::error("tsubview-window", what).help("move it inside the source")));
        };
        let bytes = from.tile.elem.bytes_of(u64::try_from(offset).unwrap_or(0));
        let place = Place { memory: from.place.memory, at: from.place.at + bytes as usize };
        let layout = self.intern(layout);
        self.update(dst, |o| (o.place, o.layout, o.binding) = (place, layout, Binding::View))
    }

    /// Instructions that make their destination a view of their source: TRESHAPE on hardware, and TFILLPAD_INPLACE
    /// where the destination has no address of its own.
    pub fn bind(&mut self, opcode: Opcode, src: ObjectId, dst: ObjectId, is_result: bool) -> Result<(), Failure> {
        let binding = match opcode {
            Opcode::Treshape | Opcode::Bitcast if self.profile != Profile::Cpu => Binding::View,
            Opcode::TfillpadInplace => Binding::Inplace,
            _ => return Ok(()),
        };
        let (from, to) = (self.object(src)?, self.object(dst)?);
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
            let layout = pitched(&from.tile, &self.layout(from), &to.tile)?;
            self.intern(layout)
        };
        self.update(dst, |o| (o.place, o.layout, o.binding) = (place, layout, binding))
    }
}

/// The layout of a reinterpreted view that keeps its source's pitch.
fn pitched(from: &Tile, source: &Layout, to: &Tile) -> Result<Layout, Failure> {
    let lines = |t: &Tile| match t.blayout {
        BLayout::RowMajor => (t.rows, t.cols * u64::from(t.elem.bits())),
        BLayout::ColMajor => (t.cols, t.rows * u64::from(t.elem.bits())),
    };
    if to.is_boxed() || lines(from) != lines(to) {
        let what = format!("{from} is a window of a wider tile, and {to} has other lines");
        let help = "move the window to a tile of its own first";
        return Err(Box::new(Diagnostic::error("treshape-bytes", what).help(help)));
    }
    let stride = match from.blayout {
        BLayout::RowMajor => source.offset(1, 0),
        BLayout::ColMajor => source.offset(0, 1),
    };
    let stride = stride.saturating_mul(i64::from(from.elem.bits())) / i64::from(to.elem.bits());
    Ok(match to.blayout {
        BLayout::RowMajor => Layout { row: Axis::linear(to.rows, stride), col: Axis::linear(to.cols, 1) },
        BLayout::ColMajor => Layout { row: Axis::linear(to.rows, 1), col: Axis::linear(to.cols, stride) },
    })
}
