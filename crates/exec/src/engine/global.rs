//! Pointers and views of global memory at run time (tile-model.md 7).

use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{GlobalArg, ViewTag, ViewTags};
use tessera_kernels::memory::Memories;
use tessera_kernels::{Failure, MemoryId, internal_error};

/// A pointer or a view.
#[derive(Debug)]
pub struct Global {
    pub buffer: MemoryId,
    pub elem: Elem,
    /// The first element, counted from the buffer's start.
    pub offset: i64,
    /// Extents; none for a pointer.
    pub dims: SmallVec<[u64; 6]>,
    pub strides: SmallVec<[i64; 6]>,
    pub tags: ViewTags,
    /// Whether stores may make the buffer longer.
    pub grows: bool,
    /// A pointer into a tile: the tile's first element in its memory, and `bound` is its end.
    pub tile: Option<u64>,
    /// Elements of the buffer, where they are known before the buffer is there.
    pub bound: Option<u64>,
}

impl Clone for Global {
    // Extents and strides are copied whole, not one by one: every pointer that moves is such a copy.
    fn clone(&self) -> Self {
        let Global { buffer, elem, offset, ref dims, ref strides, tags, grows, tile, bound } = *self;
        let (dims, strides) = (SmallVec::from_slice(dims), SmallVec::from_slice(strides));
        Global { buffer, elem, offset, dims, strides, tags, grows, tile, bound }
    }
}

impl Default for Global {
    fn default() -> Self {
        Global {
            buffer: MemoryId::NONE,
            elem: Elem::U8,
            offset: 0,
            dims: SmallVec::new(),
            strides: SmallVec::new(),
            tags: ViewTags::ND,
            grows: false,
            tile: None,
            bound: None,
        }
    }
}

impl Global {
    /// Whether both are the same elements, in the same order.
    pub fn is_same(&self, other: &Global) -> bool {
        (self.buffer, self.offset, &self.dims, &self.strides)
            == (other.buffer, other.offset, &other.dims, &other.strides)
    }

    /// The view that an operand describes, in this buffer: what is issued knows all of its numbers.
    pub fn of_arg(arg: &GlobalArg, buffer: MemoryId) -> Result<Global, Failure> {
        let known = || {
            Some(Global {
                buffer,
                elem: arg.elem,
                offset: arg.offset?,
                dims: arg.dims.iter().copied().collect::<Option<_>>()?,
                strides: arg.strides.iter().copied().collect::<Option<_>>()?,
                tags: ViewTags::written(arg.tag),
                grows: false,
                tile: None,
                bound: arg.buffer,
            })
        };
        known().ok_or_else(|| internal_error("an instruction is issued with a view of unknown extents"))
    }

    /// The view as an operand, of a buffer with this many elements.
    pub fn arg(&self, elements: u64) -> GlobalArg {
        GlobalArg {
            elem: self.elem,
            tag: ViewTag::Nd,
            dims: self.dims.iter().map(|d| Some(*d)).collect(),
            strides: self.strides.iter().map(|s| Some(*s)).collect(),
            offset: Some(self.offset),
            buffer: Some(elements),
        }
    }

    /// The first byte of the view; `None` where it is no byte (before the buffer, or in the middle of one).
    pub fn byte(&self) -> Option<usize> {
        let offset = u64::try_from(self.offset).ok()?;
        if self.elem.is_fp4() {
            return offset.is_multiple_of(2).then_some((offset / 2) as usize);
        }
        usize::try_from(offset.checked_mul(self.elem.size()?)?).ok()
    }

    /// The byte where an instruction's view starts, which touches so much of the buffer; an empty one starts anywhere.
    #[inline]
    pub fn start(&self, touched: impl FnOnce() -> Option<(i64, i64)>) -> Result<usize, Failure> {
        match self.byte() {
            Some(byte) => Ok(byte),
            None if touched().is_none() => Ok(0),
            None => Err(internal_error("a view starts at no byte of its buffer")),
        }
    }

    pub fn elements(&self, memories: &Memories) -> u64 {
        self.bound.unwrap_or_else(|| self.bytes(memories) * 8 / u64::from(self.elem.bits()))
    }

    pub fn bytes(&self, memories: &Memories) -> u64 {
        match self.bound {
            Some(bound) => self.elem.bytes_of(bound),
            None => memories.get(self.buffer).map_or(0, |m| m.bytes().len() as u64),
        }
    }
}
