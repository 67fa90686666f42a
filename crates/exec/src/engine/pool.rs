//! The pool: storage of tiles that have no address, and the owners of its bytes.

use super::{Engine, Place};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use tessera_isa::profile::FP_ALIGN;
use tessera_isa::tile::Loc;
use tessera_kernels::{Failure, MemoryId, failure};

/// One storage.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    /// The location of the tile that it was made for.
    pub loc: Loc,
    pub bytes: u64,
    /// The first byte in the pool.
    pub at: u64,
}

/// The storage that is alive. Bytes that were freed are used again, lowest first; handles are not.
#[derive(Debug, Default)]
pub(super) struct Pool {
    alive: FxHashMap<u32, Storage>,
    /// Start, end and handle of each range that is in use.
    ranges: BTreeMap<u64, (u64, u32)>,
    /// Everything below is in use.
    low: u64,
    last: u32,
    used: [u64; Loc::ALL.len()],
}

impl Pool {
    /// New storage: its handle and first byte; `None` when there are no more handles.
    fn alloc(&mut self, loc: Loc, bytes: u64) -> Option<(u32, u64)> {
        let handle = self.last.checked_add(1)?;
        // Starts are as aligned as any operand needs to be.
        let size = bytes.max(1).checked_next_multiple_of(FP_ALIGN)?;
        let mut at = self.low;
        for (start, (end, _)) in self.ranges.range(self.low..) {
            if *start >= at.checked_add(size)? {
                break;
            }
            at = *end;
        }
        let end = at.checked_add(size)?;
        if at == self.low {
            self.low = end;
        }
        self.last = handle;
        self.ranges.insert(at, (end, handle));
        self.alive.insert(handle, Storage { loc, bytes, at });
        self.used[loc as usize] += bytes;
        Some((handle, at))
    }

    fn free(&mut self, handle: u32) -> Option<Storage> {
        let storage = self.alive.remove(&handle)?;
        self.ranges.remove(&storage.at);
        self.low = self.low.min(storage.at);
        self.used[storage.loc as usize] -= storage.bytes;
        Some(storage)
    }
}

impl Engine {
    /// New storage, undefined: its handle.
    pub fn alloc_storage(&mut self, loc: Loc, bytes: u64) -> Result<u32, Failure> {
        let Some((handle, at)) = self.pool.alloc(loc, bytes) else {
            let what = format!("the pool has no room for {bytes} more bytes");
            return Err(failure("memory-limit", what, "use fewer or smaller tiles"));
        };
        let end = at.saturating_add(bytes);
        let room = self.memories.get(MemoryId::POOL).map_or(0, |m| m.bytes().len() as u64);
        if end > room {
            // Grown by doubling, so that many small tiles cost little.
            let wanted = end.max(room.saturating_mul(2).min(self.memories.limit() / 2));
            if let Err(over) = self.memories.reserve(MemoryId::POOL, wanted) {
                self.pool.free(handle);
                return Err(over);
            }
        }
        if let Some(pool) = self.memories.get_mut(MemoryId::POOL) {
            // Pointers to what was here before are not to be used any more.
            pool.defined_mut().unpin(at as usize, bytes as usize);
        }
        self.undefine_at(Place { memory: MemoryId::POOL, at: at as usize }, bytes as usize);
        Ok(handle)
    }

    /// The storage that a byte of the pool belongs to.
    pub(super) fn storage_at(&self, at: u64) -> Option<Storage> {
        let (_, (end, handle)) = self.pool.ranges.range(..=at).next_back()?;
        self.pool.alive.get(handle).filter(|_| at < *end).copied()
    }

    /// Gives all storage back; handles are not used again.
    pub(super) fn free_all_storage(&mut self) {
        let all = self.memories.get(MemoryId::POOL).map_or(0, |m| m.bytes().len());
        if let Some(pool) = self.memories.get_mut(MemoryId::POOL) {
            pool.defined_mut().unpin(0, all);
            pool.defined_mut().remove(0, all);
        }
        self.pool = Pool { last: self.pool.last, ..Pool::default() };
    }

    /// Frees storage; returns whether it existed.
    pub fn free_storage(&mut self, handle: u32) -> bool {
        self.pool.free(handle).is_some()
    }

    /// The storage of a handle, while it is alive.
    pub fn storage(&self, handle: u32) -> Option<&Storage> {
        self.pool.alive.get(&handle)
    }

    /// Bytes of storage that are alive in a memory.
    pub fn storage_used(&self, loc: Loc) -> u64 {
        self.pool.used[loc as usize]
    }
}
