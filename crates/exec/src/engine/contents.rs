//! The contents of tiles: copied, read in logical order, and written.

use super::Engine;
use super::tiles::{Object, TileId};
use crate::lower::byte_rows;
use smallvec::SmallVec;
use std::ops::Range;
use tessera_isa::elem::Elem;
use tessera_isa::inst::ConvType;
use tessera_isa::layout::Layout;
use tessera_isa::ops::Role;
use tessera_kernels::memory::Area;
use tessera_kernels::nest::{DST, Nest, SRC, lower_copy};
use tessera_kernels::{Failure, MemoryId, failure, internal_error, on_core};

/// The contents of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileData {
    pub rows: u64,
    pub cols: u64,
    pub elem: Elem,
    /// The type, for a conv tile, whose elements are the dense array.
    pub conv: Option<ConvType>,
    /// The valid region row by row, packed; undefined bytes are 0.
    pub elements: Vec<u8>,
    /// For each byte of it, 0xFF where it is defined.
    pub defined: Vec<u8>,
    /// The declared bytes as they lie in memory; undefined ones are 0.
    pub raw: Vec<u8>,
    /// For each of them, 0xFF where it is defined.
    pub raw_defined: Vec<u8>,
}

pub struct UndefinedElement {
    pub row: u64,
    pub col: u64,
    pub memory: MemoryId,
    /// The first of its bytes that is not defined.
    pub byte: usize,
}

impl Engine {
    /// Copies tiles, all at once: several may exchange their places.
    pub fn copy_tiles(&mut self, copies: &[(TileId, TileId)]) -> Result<(), Failure> {
        for (from, to) in copies {
            let valid = self.object(*from)?.valid;
            self.update(*to, |o| o.valid = valid)?;
            self.reserve_tile(*from, 0)?;
            self.reserve_tile(*to, 0)?;
        }
        if let [(from, to)] = copies
            && self.copy_whole(*from, *to)?
        {
            return Ok(());
        }
        let contents: SmallVec<[_; 2]> =
            copies.iter().map(|(from, _)| [self.contents(*from, 0), self.contents(*from, 1)]).collect();
        for ((_, to), cores) in copies.iter().zip(contents) {
            let place = self.object(*to)?.place;
            for (core, contents) in (0u8..).zip(cores) {
                let Some((bytes, defined)) = contents else { continue };
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

    /// Copies a tile whose bytes are contiguous, on core 0 only; returns whether it is such a tile.
    fn copy_whole(&mut self, from: TileId, to: TileId) -> Result<bool, Failure> {
        let (src, dst) = (self.object(from)?, self.object(to)?);
        let (a, b, bytes) = (src.place, dst.place, src.bytes() as usize);
        if a == b {
            return Ok(true);
        }
        let apart = a.memory != b.memory || a.at + bytes <= b.at || b.at + bytes <= a.at;
        let core1 = on_core(a.memory, 1);
        let other_core =
            core1 != a.memory && !self.is_one_core && self.memories.get(core1).is_some_and(|m| !m.bytes().is_empty());
        if src.layout != src.own_layout || !apart || other_core {
            return Ok(false);
        }
        self.memories.copy((a.memory, a.at), (b.memory, b.at), bytes);
        Ok(true)
    }

    /// The bytes of a tile's declared area and which of them are defined; nothing where the core has none.
    pub fn contents(&self, id: TileId, core: u8) -> Option<(Vec<u8>, Vec<u8>)> {
        let o = self.object(id).ok()?;
        let arg = self.arg(o, Role::Tile);
        let len = o.bytes();
        let dense = Layout::row_major(1, len, len);
        self.gather(o, core, &byte_rows(&arg), &dense, 8)
    }

    /// Elements of a tile in another order, with their definedness, as one core sees them. A tile that nothing ever
    /// touched may lie beyond the memory's end; then nothing of it is defined.
    fn gather(&self, o: &Object, core: u8, from: &Layout, to: &Layout, bits: u32) -> Option<(Vec<u8>, Vec<u8>)> {
        let memory = on_core(o.place.memory, core);
        if core == 1 && (memory == o.place.memory || self.is_one_core) {
            return None;
        }
        let memory = self.memories.get(memory)?;
        let (rows, cols) = (to.rows(), to.cols());
        let nests = lower_copy([rows, cols], from, to, bits);
        let len = (rows.saturating_mul(cols) * u64::from(bits)).div_ceil(8) as usize;
        let (mut bytes, mut defined) = (vec![0; len], vec![0; len]);
        let span = Area::of_nests(&nests, SRC).span().map_or(0, |s| s.1.max(0) as usize);
        let Some(source) = memory.bytes().get(o.place.at..o.place.at.saturating_add(span)) else {
            return (core == 0).then_some((bytes, defined));
        };
        let shadow = if self.memories.tracked { memory.defined().expand(o.place.at, span) } else { vec![0xFF; span] };
        for nest in &nests {
            // The source is as long as the nests reach.
            let moved = nest.run(source, &mut bytes).and_then(|()| nest.run(&shadow, &mut defined));
            debug_assert!(moved.is_ok(), "{moved:?}");
        }
        for (byte, defined) in bytes.iter_mut().zip(&mut defined) {
            // A byte that shares one undefined half is undefined.
            if *defined != 0xFF {
                (*byte, *defined) = (0, 0);
            }
        }
        Some((bytes, defined))
    }

    /// A tile's valid region in logical order and its declared bytes, as one vector core sees them.
    pub fn read(&self, id: TileId, core: u8) -> Result<TileData, Failure> {
        let o = self.object(id)?;
        let limit = self.memories.limit();
        if o.bytes() > limit {
            let what = format!("{} has {} bytes, and a run may have {limit}", o.tile, o.bytes());
            return Err(failure("memory-limit", what, "use a smaller tile, or allow more memory"));
        }
        let [rows, cols] = o.extent();
        let elem = o.tile.elem;
        let to = Layout::row_major(rows, cols, cols);
        let none = |bytes: u64| (vec![0; bytes as usize], vec![0; bytes as usize]);
        let (elements, defined) =
            self.gather(o, core, &self.layout(o), &to, elem.bits()).unwrap_or_else(|| none(elem.bytes_of(rows * cols)));
        let (raw, raw_defined) = self.contents(id, core).unwrap_or_else(|| none(o.bytes()));
        Ok(TileData { rows, cols, elem, conv: o.conv, elements, defined, raw, raw_defined })
    }

    /// Writes elements in logical order, row by row, into a tile's first rows and columns.
    pub fn give(&mut self, id: TileId, rows: u64, cols: u64, elements: &[u8]) -> Result<(), Failure> {
        self.reserve_tile(id, 0)?;
        let o = self.object(id)?;
        let from = Layout::row_major(rows, cols, cols);
        let nests = lower_copy([rows, cols], &from, &self.layout(o), o.tile.elem.bits());
        self.put(id, &nests, elements)
    }

    /// Writes a tile's declared bytes as they lie in memory.
    pub fn write_raw(&mut self, id: TileId, bytes: &[u8]) -> Result<(), Failure> {
        self.reserve_tile(id, 0)?;
        let arg = self.arg(self.object(id)?, Role::Tile);
        let len = arg.tile.bytes();
        let nests = lower_copy([1, len], &Layout::row_major(1, len, len), &byte_rows(&arg), 8);
        self.put(id, &nests, bytes)
    }

    fn put(&mut self, id: TileId, nests: &[Nest], bytes: &[u8]) -> Result<(), Failure> {
        let o = self.object(id)?;
        let (place, tile) = (o.place, o.tile);
        let memory = self.memories.get_mut(place.memory).ok_or_else(|| internal_error("a tile has no memory"))?;
        for nest in nests {
            let to =
                memory.as_mut().get_mut(place.at..).ok_or_else(|| internal_error("a tile is beyond its memory"))?;
            nest.run(bytes, to).map_err(|_| {
                let what = format!("{} bytes are given, and {tile} needs more", bytes.len());
                failure("binding", what, "give all elements")
            })?;
        }
        for (start, len) in Area::of_nests(nests, DST).at(place.at) {
            memory.defined_mut().insert(start, len);
        }
        Ok(())
    }

    pub fn first_undefined(&self, id: TileId, core: u8) -> Option<UndefinedElement> {
        let o = self.object(id).ok()?;
        let memory_id = on_core(o.place.memory, core);
        let memory = self.memories.get(memory_id)?;
        self.elements(o).find_map(|(row, col, bytes)| {
            let byte = memory.defined().first_missing(bytes.start, bytes.len())?;
            Some(UndefinedElement { row, col, memory: memory_id, byte })
        })
    }

    /// The number of bytes of a tile's valid region that have no defined value.
    pub(super) fn undefined_bytes(&self, id: TileId, core: u8) -> Result<u64, Failure> {
        let o = self.object(id)?;
        let Some(memory) = self.memories.get(on_core(o.place.memory, core)) else {
            return Ok(0);
        };
        let missing = |bytes: Range<usize>| bytes.filter(|b| !memory.defined().has(*b)).count() as u64;
        Ok(self.elements(o).map(|(_, _, bytes)| missing(bytes)).sum())
    }

    /// The elements of a tile's valid region, row by row, and the bytes of each.
    fn elements<'a>(&self, o: &'a Object) -> impl Iterator<Item = (u64, u64, Range<usize>)> + 'a {
        let layout = self.layout(o);
        let bits = i64::from(o.tile.elem.bits());
        let [rows, cols] = o.extent();
        let at = move |row, col| {
            let start = o.place.at + (layout.offset(row, col) * bits / 8).max(0) as usize;
            start..start + (bits as usize / 8).max(1)
        };
        (0..rows).flat_map(move |row| (0..cols).map(move |col| (row, col))).map(move |(r, c)| (r, c, at(r, c)))
    }
}
