//! Tiles at run time: a type, a place, a layout, and a valid region.
//!
//! Values refer to objects: a tile that control flow hands on stays the same tile. An object of an instruction's result
//! begins anew whenever the instruction runs.

use super::code::{Alloc, Hand, ObjectId, ObjectInfo, Slot, Source, Window};
use super::exec::Exec;
use crate::lower::{byte_rows, declared_area};
use crate::memory::{MemoryId, POOL, of_loc, on_core};
use crate::nest::{Bits, Map, Move, Place, lower};
use crate::prepared::Failure;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{ConvType, Inst, TileArg};
use tessera_isa::inst::{Place as TilePlace, Root};
use tessera_isa::layout::Layout;
use tessera_isa::ops::{Form, Role};
use tessera_isa::tile::{Extent, Tile};
use tessera_isa::tile_rules::Fault;

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
}

/// Every layout that occurs, once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layouts {
    list: Vec<Layout>,
    ids: FxHashMap<Layout, u32>,
}

impl Layouts {
    pub fn intern(&mut self, layout: Layout) -> u32 {
        if let Some(id) = self.ids.get(&layout) {
            return *id;
        }
        let id = self.list.len() as u32;
        self.list.push(layout.clone());
        self.ids.insert(layout, id);
        id
    }

    pub fn get(&self, id: u32) -> Layout {
        self.list
            .get(id as usize)
            .cloned()
            .unwrap_or_else(|| Layout::row_major(0, 0, 0))
    }
}

impl Object {
    pub fn new(info: &ObjectInfo, layouts: &mut Layouts) -> Self {
        let known = |e: Extent| e.known().unwrap_or(UNSET);
        Object {
            tile: info.tile,
            conv: info.conv,
            place: info.home(),
            layout: layouts.intern(info.tile.layout()),
            valid: [known(info.tile.v_row), known(info.tile.v_col)],
            binding: Binding::Own,
        }
    }

    /// The object as an operand.
    pub fn arg(&self, role: Role, layouts: &Layouts) -> TileArg {
        let root = if self.place.memory == POOL {
            // All of the pool is one address space, so that views of one tile can be compared.
            Root::Auto(0)
        } else {
            Root::Memory(self.tile.loc)
        };
        TileArg {
            role,
            tile: self.tile,
            layout: layouts.get(self.layout),
            valid: self.valid.map(|v| (v != UNSET).then_some(v)),
            place: Some(TilePlace {
                root,
                start: self.place.at as u64,
            }),
        }
    }
}

impl ObjectInfo {
    /// Where the tile lies before anybody binds it elsewhere.
    pub fn home(&self) -> Place {
        match self.address {
            Some(address) => Place {
                memory: of_loc(self.tile.loc),
                at: address as usize,
            },
            None => Place {
                memory: POOL,
                at: self.pool as usize,
            },
        }
    }
}

/// A broken rule as a failure.
pub(crate) fn refused(fault: Fault) -> Failure {
    let mut d = Diagnostic::error(fault.rule, fault.message);
    d.help = fault.help;
    Box::new(d)
}

impl Exec<'_> {
    #[inline]
    pub fn object_of(&self, slot: Slot) -> ObjectId {
        self.tiles.get(slot as usize).copied().unwrap_or(0)
    }

    /// The tile in a slot. A program without tiles has no slots to ask for.
    pub fn tile(&self, slot: Slot) -> Result<&Object, Failure> {
        self.objects.get(self.object_of(slot) as usize).ok_or_else(no_tile)
    }

    fn tile_mut(&mut self, slot: Slot) -> Result<&mut Object, Failure> {
        let object = self.object_of(slot);
        self.objects.get_mut(object as usize).ok_or_else(no_tile)
    }

    /// Makes a memory long enough.
    pub fn reserve(&mut self, memory: MemoryId, end: u64) -> Result<(), Failure> {
        self.memories.reserve(memory, end).map_err(|over| {
            let what = format!(
                "the program needs {} bytes of memory, and a run may have {}",
                over.wanted, over.limit
            );
            Box::new(Diagnostic::error("memory-limit", what).help("use lower addresses or smaller tiles"))
        })
    }

    pub fn reserve_pool(&mut self) -> Result<(), Failure> {
        self.reserve(POOL, self.cx.program.pool)
    }

    /// Makes the memory of a tile long enough.
    pub fn reserve_tile(&mut self, object: ObjectId, core: u8) -> Result<(), Failure> {
        let Some(o) = self.objects.get(object as usize) else {
            return Ok(());
        };
        let bytes = o.tile.elem.bytes_of(self.layouts.get(o.layout).footprint());
        let memory = on_core(o.place.memory, core);
        self.reserve(memory, (o.place.at as u64).saturating_add(bytes))
    }

    /// The contents of a tile begin, undefined.
    pub fn undefine(&mut self, object: ObjectId) {
        let (Some(o), true) = (self.objects.get(object as usize), self.memories.tracked) else {
            return;
        };
        // Placement speaks of the tile's own storage, wherever it may be bound meanwhile.
        let own = o.binding == Binding::Own || o.binding == Binding::Manual;
        let home = self.cx.program.objects.get(object as usize).map(ObjectInfo::home);
        let place = if own { o.place } else { home.unwrap_or(o.place) };
        let bytes = o.tile.bytes() as usize;
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

    pub fn alloc(&mut self, alloc: &Alloc) -> Result<(), Failure> {
        let Some(info) = self.cx.program.objects.get(alloc.object as usize) else {
            return Ok(());
        };
        let assigned = self
            .objects
            .get(alloc.object as usize)
            .filter(|o| o.binding == Binding::Manual && alloc.addr.is_none())
            .map(|o| o.place);
        let mut object = Object::new(info, &mut self.layouts);
        if let Some(place) = assigned {
            // A TASSIGN that came first (syntax.md 1) still counts.
            (object.place, object.binding) = (place, Binding::Manual);
        }
        if let Some(slot) = self.objects.get_mut(alloc.object as usize) {
            *slot = object;
        }
        if let Some(tile) = self.tiles.get_mut(alloc.slot as usize) {
            *tile = alloc.object;
        }
        let valid = alloc.valid.map(|v| v.map(|v| self.int(v)));
        self.set_valid(alloc.slot, valid).map_err(|e| self.at(alloc.at, e))?;
        if let Some(addr) = alloc.addr {
            self.assign(alloc.slot, self.int(addr))
                .map_err(|e| self.at(alloc.at, e))?;
        } else if assigned.is_none() && info.address.is_none() {
            self.undefine(alloc.object);
        }
        Ok(())
    }

    /// Binds a tile to an address; moves no data.
    pub fn assign(&mut self, slot: Slot, addr: i64) -> Result<(), Failure> {
        let profile = self.cx.profile;
        let object = self.tile_mut(slot)?;
        let bytes = object.conv.map_or(object.tile.bytes(), |c| c.bytes());
        if let Some(fault) = tessera_check::check_address(object.tile.loc, bytes, addr.into(), profile) {
            return Err(refused(fault));
        }
        object.place = Place {
            memory: of_loc(object.tile.loc),
            at: addr as usize,
        };
        object.binding = Binding::Manual;
        let layout = object.tile.layout();
        let layout = self.layouts.intern(layout);
        self.tile_mut(slot)?.layout = layout;
        Ok(())
    }

    /// Sets the dynamic ones of a tile's valid extents.
    pub fn set_valid(&mut self, slot: Slot, valid: [Option<i64>; 2]) -> Result<(), Failure> {
        if valid == [None, None] {
            return Ok(());
        }
        let object = self.tile_mut(slot)?;
        if let Some(fault) = tessera_check::check_valid(&object.tile, valid.map(|v| v.map(i128::from))) {
            return Err(refused(fault));
        }
        for (extent, v) in object.valid.iter_mut().zip(valid) {
            if let Some(v) = v {
                *extent = v as u64;
            }
        }
        Ok(())
    }

    /// TSUBVIEW and `pto.subset`: the destination becomes a window of the source's storage.
    pub fn window(&mut self, w: &Window) -> Result<(), Failure> {
        if let Some(result) = w.result {
            self.begin(result);
            if let Some(tile) = self.tiles.get_mut(w.dst as usize) {
                *tile = result;
            }
        }
        let (row, col) = (self.int(w.row), self.int(w.col));
        let (src, dst) = (self.tile(w.src)?.clone(), self.tile(w.dst)?.clone());
        let mut inst = Inst::new(w.opcode, Form::Plain, self.cx.profile);
        inst.tiles.push(src.arg(Role::Src, &self.layouts));
        inst.tiles.push(dst.arg(Role::Dst, &self.layouts));
        for (role, v) in [(Role::Row, row), (Role::Col, col)] {
            inst.scalars.push((role, Some(Number::Int(v.into()))));
        }
        self.legal(w.at, &inst)?;
        let outside = || {
            let what = format!("the window at ({row}, {col}) is no window of {}", src.tile);
            Box::new(Diagnostic::error("tsubview-window", what).help("move it inside the source"))
        };
        let (r, c) = (u64::try_from(row).ok(), u64::try_from(col).ok());
        let (offset, layout) = r
            .zip(c)
            .and_then(|(r, c)| self.layouts.get(src.layout).window(r, c, dst.tile.rows, dst.tile.cols))
            .ok_or_else(outside)?;
        let bytes = src.tile.elem.bytes_of(u64::try_from(offset).unwrap_or(0));
        let layout = self.layouts.intern(layout);
        let object = self.tile_mut(w.dst)?;
        object.place = Place {
            memory: src.place.memory,
            at: src.place.at + bytes as usize,
        };
        object.layout = layout;
        object.binding = Binding::View;
        Ok(())
    }

    /// An instruction's result begins: all of it valid, at its own place unless TASSIGN named one before.
    pub fn begin(&mut self, object: ObjectId) {
        let Some(info) = self.cx.program.objects.get(object as usize) else {
            return;
        };
        let mut new = Object::new(info, &mut self.layouts);
        new.valid = [new.valid[0].min(new.tile.rows), new.valid[1].min(new.tile.cols)];
        if let Some(old) = self.objects.get_mut(object as usize) {
            if old.binding == Binding::Manual {
                (new.place, new.binding) = (old.place, Binding::Manual);
            }
            *old = new;
        }
    }

    /// Copies carried tiles into the buffers of their loop, all at once.
    pub fn copy_carried(&mut self, hands: &[Hand]) -> Result<(), Failure> {
        let mut copies: SmallVec<[(ObjectId, ObjectId); 2]> = SmallVec::new();
        for hand in hands {
            if let (Some(buffer), Source::Tile(slot)) = (hand.buffer, hand.from) {
                copies.push((self.object_of(slot), buffer));
            }
        }
        match copies.as_slice() {
            [] => return Ok(()),
            [(from, to)] if self.copy_whole(*from, *to)? => return Ok(()),
            _ => {}
        }
        // Several at once may exchange their places: read all before the first is written.
        let mut contents = Vec::new();
        for (from, to) in &copies {
            self.adopt(*from, *to)?;
            contents.push([self.contents(*from, 0), self.contents(*from, 1)]);
        }
        for ((_, to), cores) in copies.iter().zip(contents) {
            for (core, (bytes, defined)) in (0u8..).zip(cores) {
                let Some(place) = self.objects.get(*to as usize).map(|o| o.place) else {
                    continue;
                };
                if core == 1 && bytes.is_empty() {
                    continue;
                }
                let memory = on_core(place.memory, core);
                self.reserve(memory, (place.at + bytes.len()) as u64)?;
                if let Some(memory) = self.memories.get_mut(memory) {
                    memory.put(place.at, &bytes);
                    memory.defined_mut().assign(place.at, &defined);
                }
            }
        }
        Ok(())
    }

    /// A buffer takes the state of the tile that is copied into it.
    fn adopt(&mut self, from: ObjectId, to: ObjectId) -> Result<(), Failure> {
        let valid = self.objects.get(from as usize).map(|o| o.valid);
        if let (Some(valid), Some(buffer)) = (valid, self.objects.get_mut(to as usize)) {
            buffer.valid = valid;
        }
        for object in [from, to] {
            self.reserve_tile(object, 0)?;
        }
        Ok(())
    }

    /// Copies a tile whose bytes lie together; tells whether it is one.
    fn copy_whole(&mut self, from: ObjectId, to: ObjectId) -> Result<bool, Failure> {
        let (Some(src), Some(dst)) = (self.objects.get(from as usize), self.objects.get(to as usize)) else {
            return Ok(true);
        };
        let bytes = src.tile.bytes() as usize;
        let (a, b) = (src.place, dst.place);
        if a == b {
            return Ok(true);
        }
        let apart = a.memory != b.memory || a.at + bytes <= b.at || b.at + bytes <= a.at;
        // What core 1 has of it goes the long way.
        let core1 = on_core(a.memory, 1);
        let other_core = core1 != a.memory && self.memories.get(core1).is_some_and(|m| !m.bytes().is_empty());
        if self.layouts.get(src.layout) != src.tile.layout() || !apart || other_core {
            return Ok(false);
        }
        self.adopt(from, to)?;
        self.memories.copy((a.memory, a.at), (b.memory, b.at), bytes);
        Ok(true)
    }

    /// The bytes of a tile's declared area and which of them are defined; nothing where the core has none.
    pub fn contents(&self, object: ObjectId, core: u8) -> (Vec<u8>, Vec<u8>) {
        let Some(o) = self.objects.get(object as usize) else {
            return Default::default();
        };
        let id = on_core(o.place.memory, core);
        let Some(memory) = self.memories.get(id).filter(|_| core == 0 || id != o.place.memory) else {
            return Default::default();
        };
        let arg = o.arg(Role::Tile, &self.layouts);
        let len = o.tile.bytes();
        let span = declared_area(&arg).span().map_or(0, |s| s.1.max(0) as usize);
        if core == 1 && memory.bytes().len() < o.place.at + span {
            return Default::default();
        }
        let mv = Move {
            rows: 1,
            cols: len,
            src: Map::IDENTITY,
            dst: Map::IDENTITY,
        };
        let nests = lower(&mv, &byte_rows(&arg), &Layout::row_major(1, len, len), Bits::same(8));
        let (mut bytes, mut defined) = (vec![0; len as usize], vec![0; len as usize]);
        let shadow = if self.memories.tracked {
            memory.defined().expand(o.place.at, span)
        } else {
            vec![0xFF; span]
        };
        for nest in &nests {
            let source = memory.bytes().get(o.place.at..).unwrap_or(&[]);
            // A tile that was never used may lie beyond the memory's end; then it has no contents.
            if nest.run(source, &mut bytes).is_ok() {
                let _ = nest.run(&shadow, &mut defined);
            }
        }
        (bytes, defined)
    }
}

fn no_tile() -> Failure {
    Box::new(Diagnostic::error(
        "undefined-name",
        "the operation names no tile; give it one",
    ))
}
