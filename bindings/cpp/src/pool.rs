//! Automatic storage: who has which bytes of the pool.

use crate::convert::{Answer, Refusal};
use std::collections::{BTreeMap, HashMap};
use tessera_isa::profile::FP_ALIGN;
use tessera_isa::tile::Loc;

/// One storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storage {
    pub loc: Loc,
    pub bytes: u64,
    /// The first byte in the pool.
    pub at: u64,
}

/// The storage that is alive. Bytes that were freed are used again, lowest first; handles are not.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    alive: HashMap<u32, Storage>,
    /// Start and end of each range that is in use.
    ranges: BTreeMap<u64, u64>,
    last: u32,
    used: [u64; Loc::ALL.len()],
}

impl Pool {
    /// Bytes that are alive in a memory.
    pub fn used(&self, loc: Loc) -> u64 {
        self.used.get(loc as usize).copied().unwrap_or(0)
    }

    /// New storage: its handle and first byte.
    pub fn alloc(&mut self, loc: Loc, bytes: u64) -> Answer<(u32, u64)> {
        let handle =
            self.last.checked_add(1).ok_or_else(|| Refusal::argument("a core has 2^32 - 1 storages in its life"))?;
        // Starts are as aligned as any operand needs to be.
        let size = bytes.max(1).next_multiple_of(FP_ALIGN);
        let mut at = 0;
        for (start, end) in &self.ranges {
            if *start >= at + size {
                break;
            }
            at = *end;
        }
        self.last = handle;
        self.ranges.insert(at, at + size);
        self.alive.insert(handle, Storage { loc, bytes, at });
        if let Some(used) = self.used.get_mut(loc as usize) {
            *used += bytes;
        }
        Ok((handle, at))
    }

    /// Frees storage.
    pub fn free(&mut self, handle: u32) -> Answer<()> {
        let storage = self.alive.remove(&handle).ok_or_else(|| unknown(handle))?;
        self.ranges.remove(&storage.at);
        if let Some(used) = self.used.get_mut(storage.loc as usize) {
            *used -= storage.bytes;
        }
        Ok(())
    }

    /// The storage of a handle.
    pub fn get(&self, handle: u32) -> Answer<&Storage> {
        self.alive.get(&handle).ok_or_else(|| unknown(handle))
    }
}

fn unknown(handle: u32) -> Refusal {
    Refusal::argument(format!("{handle} is no handle of a storage, or it was freed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_bytes_are_used_again_and_handles_are_not() {
        let mut pool = Pool::default();
        let (a, at_a) = pool.alloc(Loc::Vec, 100).unwrap();
        let (b, at_b) = pool.alloc(Loc::Mat, 100).unwrap();
        assert_eq!((at_a, at_b, pool.used(Loc::Vec)), (0, 128, 100));
        pool.free(a).unwrap();
        let (c, at_c) = pool.alloc(Loc::Vec, 128).unwrap();
        assert_eq!((at_c, pool.used(Loc::Vec)), (0, 128));
        assert!(c != a && c != b && pool.get(a).is_err() && pool.free(a).is_err());
        let (_, at_d) = pool.alloc(Loc::Vec, 1).unwrap();
        assert_eq!(at_d, 256);
    }
}
