//! Places: a memory by number, and a byte in it.

use tessera_isa::tile::Loc;

/// A memory of a block: an index into [`Memories`](crate::memory::Memories).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(u32);

impl MemoryId {
    /// UB of vector core 1.
    const UB1: MemoryId = MemoryId(Loc::ALL.len() as u32);
    /// The memory of tiles without an address.
    pub const POOL: MemoryId = MemoryId(Self::UB1.0 + 1);
    /// The pool of vector core 1.
    const POOL1: MemoryId = MemoryId(Self::POOL.0 + 1);
    /// Memory of the host that an instruction's tiles lie in: as many pieces as it has tiles.
    const HOSTS: u32 = Self::POOL1.0 + 1;
    const BUFFERS: u32 = Self::HOSTS + Self::HOST_COUNT as u32;
    pub const HOST_COUNT: usize = 8;
    /// The memory of vector core 0 that it stands for on core 1.
    pub fn on_core0(self) -> MemoryId {
        match self {
            Self::UB1 => MemoryId::of_loc(Loc::Vec),
            Self::POOL1 => Self::POOL,
            other => other,
        }
    }

    /// No memory; looking it up fails.
    pub const NONE: MemoryId = MemoryId(u32::MAX);
    /// Memories from here on hold inputs that have no address ([`MemoryId::given`]).
    const GIVEN: u32 = 1 << 30;

    /// The memory with this place in the list.
    pub const fn new(index: usize) -> MemoryId {
        MemoryId(index as u32)
    }

    /// The memory of a location, on vector core 0.
    pub const fn of_loc(loc: Loc) -> MemoryId {
        MemoryId(loc as u32)
    }

    /// A global buffer, counted from 0.
    pub const fn buffer(number: u32) -> MemoryId {
        MemoryId(Self::BUFFERS + number)
    }

    /// The number of the global buffer, if it is one.
    pub fn as_buffer(self) -> Option<usize> {
        self.index().checked_sub(Self::BUFFERS as usize)
    }

    /// A piece of the host's memory, counted from 0.
    pub const fn host(number: usize) -> MemoryId {
        MemoryId(Self::HOSTS + number as u32)
    }

    /// The number of the piece of host memory, if it is one.
    pub fn as_host(self) -> Option<usize> {
        self.0.checked_sub(Self::HOSTS).filter(|n| *n < Self::HOST_COUNT as u32).map(|n| n as usize)
    }

    /// The contents of an input tile, before they are in the tile; a memory of the terms only.
    pub const fn given(number: u32) -> MemoryId {
        MemoryId(Self::GIVEN + number)
    }

    /// The number of the input whose contents it is.
    pub const fn as_given(self) -> Option<u32> {
        self.0.checked_sub(Self::GIVEN)
    }

    /// Its place in the list.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The same memory as one vector core sees it.
#[inline]
pub fn on_core(memory: MemoryId, core: u8) -> MemoryId {
    match (memory, core) {
        (m, 1) if m == MemoryId::of_loc(Loc::Vec) => MemoryId::UB1,
        (MemoryId::POOL, 1) => MemoryId::POOL1,
        (m, _) => m,
    }
}

/// Whether it is a global buffer, or a given input.
#[inline]
pub fn is_buffer(memory: MemoryId) -> bool {
    memory >= MemoryId::buffer(0)
}

/// The memory of an operand, and its first byte there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub memory: MemoryId,
    /// First byte of the operand.
    pub at: usize,
}
