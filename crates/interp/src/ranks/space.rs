//! One address space for the memories of all ranks (isa/comm.md 2).
//!
//! A region is a window, or a buffer of one rank. Regions lie far from each other, so that a pointer which leaves one
//! leads into another only by a distance between windows, and never by a small mistake.

use tessera_exec::engine::Global;
use tessera_kernels::MemoryId;

/// The distance between the starts of two regions; a window has half of it at most.
const APART: i128 = 1 << 41;

/// An argument that lies in a region.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    /// The bytes of an element.
    pub size: u64,
    pub start: u64,
    pub len: u64,
}

/// A window of a rank, or a buffer of its own.
#[derive(Clone, Debug)]
pub struct Region {
    pub rank: u32,
    /// Whether every rank may touch it.
    pub is_window: bool,
    /// Whether stores may make it longer.
    pub grows: bool,
    pub len: u64,
    pub parts: Vec<Part>,
}

/// The regions of all ranks; the memory of the n-th one is the n-th buffer.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    pub regions: Vec<Region>,
}

impl AddressSpace {
    /// The address at which a region starts.
    pub fn base(&self, region: usize) -> i64 {
        i64::try_from((region as i128 + 1) * APART).unwrap_or(i64::MAX)
    }

    fn number(memory: MemoryId) -> Option<usize> {
        memory.index().checked_sub(MemoryId::buffer(0).index()).filter(|_| memory != MemoryId::NONE)
    }

    /// The region of a memory.
    pub fn region(&self, memory: MemoryId) -> Option<(usize, &Region)> {
        let n = Self::number(memory)?;
        Some((n, self.regions.get(n)?))
    }

    /// The address of the start of a pointer's memory; 0 on the chip.
    pub fn base_of(&self, pointer: &Global) -> i64 {
        self.region(pointer.buffer).map_or(0, |(n, _)| self.base(n))
    }

    /// Whether a rank may touch a region.
    pub fn may_touch(&self, rank: u32, memory: MemoryId) -> bool {
        self.region(memory).is_none_or(|(_, region)| region.is_window || region.rank == rank)
    }

    /// A pointer that has moved out of its region points into the one at its address, if the rank may touch that one.
    pub fn rebase(&self, rank: u32, pointer: &mut Global) {
        if pointer.tile.is_some() {
            return;
        }
        let bits = i128::from(pointer.elem.bits());
        let at = i128::from(pointer.offset) * bits / 8;
        let own = self.region(pointer.buffer);
        let is_inside =
            |region: &Region, at: i128| at >= 0 && (at < i128::from(region.len) || region.grows && at < APART / 2);
        let base = match own {
            Some((_, region)) if is_inside(region, at) => return,
            Some((n, _)) => i128::from(self.base(n)),
            None if pointer.buffer == MemoryId::NONE => 0,
            None => return,
        };
        let address = base + at;
        let Ok(n) = usize::try_from(address / APART - 1) else { return };
        let offset = address % APART;
        // A pointer to where the rank may touch nothing makes no buffer longer.
        let target = self.regions.get(n).filter(|region| is_inside(region, offset));
        let target = target.filter(|region| region.is_window || region.rank == rank);
        let Some(region) = target.filter(|_| offset * 8 % bits == 0) else {
            pointer.grows = false;
            return;
        };
        (pointer.buffer, pointer.bound) = (MemoryId::buffer(n as u32), None);
        pointer.offset = (offset * 8 / bits) as i64;
        pointer.grows = region.grows;
    }

    /// A byte of a memory as messages write it: `flags[0] of rank 1`.
    pub fn named(&self, memory: MemoryId, byte: u64) -> String {
        Self::number(memory).map_or_else(|| format!("byte {byte} of a tile"), |n| self.name_of(n as u32, byte))
    }

    /// The same of a region.
    pub fn name_of(&self, region: u32, byte: u64) -> String {
        let Some(region) = self.regions.get(region as usize) else { return format!("byte {byte}") };
        let part = region.parts.iter().rev().find(|part| part.start <= byte).or_else(|| region.parts.first());
        let Some(part) = part else { return format!("byte {byte} of rank {}", region.rank) };
        let element = byte.saturating_sub(part.start) / part.size.max(1);
        format!("{}[{element}] of rank {}", part.name, region.rank)
    }

    /// The buffer that is nearest to a byte, which may lie outside of the memory: how far, and of which rank.
    pub fn nearest(&self, memory: MemoryId, byte: i64) -> String {
        let Some((n, _)) = self.region(memory) else { return "no buffer lies there".into() };
        let address = i128::from(self.base(n)) + i128::from(byte);
        let ends = self.regions.iter().enumerate().flat_map(|(n, region)| {
            let base = i128::from(self.base(n));
            region.parts.iter().map(move |part| {
                let first = base + i128::from(part.start);
                (region.rank, part, first, first + i128::from(part.len))
            })
        });
        let far = |(_, _, first, end): &(u32, &Part, i128, i128)| {
            if address < *first { first - address } else { (address - end + 1).max(0) }
        };
        let Some((rank, part, first, end)) = ends.min_by_key(far) else { return "there is no buffer".into() };
        let where_ = if address < first {
            format!("starts {} bytes later", first - address)
        } else if address >= end {
            format!("ended {} bytes before", address - end)
        } else {
            "lies there".into()
        };
        format!("the nearest buffer, %{} of rank {rank}, {where_}", part.name)
    }
}
