//! Tiles in the memory of the program that runs the simulator, and memories that such a program holds pointers into.
//!
//! A caller that hands out pointers *fixes* the memories: they stay at one address of the host. A tile may then be given
//! by a pointer ([`Root::Host`]): it is in a fixed memory, or in the caller's own memory, which the caller *lends* for the
//! time of an instruction.

use super::tiles::TileId;
use super::{Cache, Engine, OF_ALL, Place, Storage};
use tessera_isa::inst::Attrs;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;
use tessera_kernels::memory::AlignedBytes;
use tessera_kernels::{Failure, MemoryId, failure};

/// The addresses that a fixed memory reserves, and the pool. Only what is touched costs memory.
const ROOM: usize = 1 << 28;
const POOL_ROOM: usize = 1 << 30;

/// The target of a pointer.
#[derive(Clone, Copy, Debug)]
pub enum PointerTarget {
    /// A byte of a memory.
    Memory(Loc, u64),
    /// A byte of an automatic tile's storage, and the byte of the pool where that starts; nothing where it was freed.
    Pool(Option<Storage>, u64),
    /// Memory that is not the engine's.
    Elsewhere,
}

impl Engine {
    /// Fixes a memory, or the pool: its first byte.
    pub fn fix(&mut self, loc: Option<Loc>) -> Result<*mut u8, Failure> {
        let id = loc.map_or(MemoryId::POOL, MemoryId::of_loc);
        let mut room = if loc.is_some() { ROOM } else { POOL_ROOM };
        if let Some(memory) = self.memories.get_mut(id) {
            while room > 1 << 16 {
                if memory.fix(room) {
                    return Ok(memory.as_mut().as_mut_ptr());
                }
                room /= 2;
            }
        }
        Err(failure("memory-limit", "the machine has no addresses left for a memory", "end threads that are done"))
    }

    /// The number of bytes that a fixed memory has room for; 0 if it is not fixed.
    pub fn room(&self, loc: Loc) -> u64 {
        let addresses = self.memories.get(MemoryId::of_loc(loc)).and_then(|m| m.addresses());
        addresses.map_or(0, |(first, end)| end - first)
    }

    /// The target of an address of the host.
    pub fn pointed(&self, address: u64) -> PointerTarget {
        let at = |id: MemoryId| {
            let (first, end) = self.memories.get(id)?.addresses()?;
            (first..end).contains(&address).then(|| address - first)
        };
        let memory = Loc::ALL.iter().find_map(|loc| Some(PointerTarget::Memory(*loc, at(MemoryId::of_loc(*loc))?)));
        let pool = || at(MemoryId::POOL).map(|at| PointerTarget::Pool(self.storage_at(at), at));
        memory.or_else(pool).unwrap_or(PointerTarget::Elsewhere)
    }

    /// The place of a pointer: in a memory, or in lent memory.
    pub(super) fn pointer_place(&self, address: u64) -> Place {
        match self.pointed(address) {
            PointerTarget::Memory(loc, at) => Place { memory: MemoryId::of_loc(loc), at: at as usize },
            PointerTarget::Pool(_, at) => Place { memory: MemoryId::POOL, at: at as usize },
            PointerTarget::Elsewhere => {
                let slot = self.lent.iter().rposition(|first| *first <= address).unwrap_or(0);
                let at = address.saturating_sub(self.lent.get(slot).copied().unwrap_or(0));
                Place { memory: MemoryId::host(slot), at: at as usize }
            }
        }
    }

    /// Lends memory of the caller's until [`Engine::end_lending`]: pieces that do not meet, in rising order, each with its
    /// address.
    pub fn lend(&mut self, pieces: impl IntoIterator<Item = (u64, AlignedBytes)>) {
        self.end_lending();
        for (slot, (first, bytes)) in pieces.into_iter().take(MemoryId::HOST_COUNT).enumerate() {
            self.lent.push(first);
            if let Some(memory) = self.memories.get_mut(MemoryId::host(slot)) {
                memory.lend(bytes);
            }
        }
    }

    /// Forgets the caller's memory: from here on the caller may free it.
    #[inline]
    pub fn end_lending(&mut self) {
        for slot in 0..self.lent.len() {
            if let Some(memory) = self.memories.get_mut(MemoryId::host(slot)) {
                memory.lend(AlignedBytes::default());
            }
        }
        self.lent.clear();
    }

    /// A pointer to a tile's bytes is handed out: from here on they are defined, whatever instructions do to them.
    pub fn expose(&mut self, id: TileId) -> Result<(), Failure> {
        self.reserve_tile(id, 0)?;
        let object = self.object(id)?;
        let (place, bytes) = (object.place, self.span(object) as usize);
        if let Some(memory) = self.memories.get_mut(place.memory) {
            memory.defined_mut().pin(place.at, bytes);
        }
        Ok(())
    }

    /// Clears all memories on the chip: they hold zeros, which are defined.
    pub fn clear_memories(&mut self) {
        let memories = self.memories.list_mut().iter_mut().take(MemoryId::host(0).index());
        memories.for_each(|memory| memory.clear(true));
    }

    /// Begins anew on a profile. Fixed memories stay where they are; automatic storage and its pointers are gone.
    pub fn restart(&mut self, profile: Profile) {
        let memories = self.memories.list_mut().iter_mut().take(MemoryId::host(0).index());
        memories.for_each(|memory| memory.clear(false));
        self.free_all_storage();
        self.objects.clear();
        self.released.clear();
        (self.profile, self.config) = (profile, Attrs::default());
        self.caches = vec![Cache::new(OF_ALL)];
        self.epoch += 1;
    }
}
