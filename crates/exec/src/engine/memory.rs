//! Memories: flat byte arrays with one **defined bit** per byte.
//!
//! Each location is a memory of its own (tile-model.md 2); UB exists twice, once per vector core. Tiles that have no
//! address lie in a memory of their own, the *pool*, so that they cannot meet anything. Global buffers come last. All
//! of them are one list, because a plan names memories by number.

pub use crate::defined::ByteSet;
pub(crate) use crate::defined::WordMask;

use crate::kernels::AlignedBytes;
use tessera_isa::tile::Loc;

/// The number of a memory in [`Memories`].
pub type MemoryId = usize;

/// UB of vector core 1.
const UB1: MemoryId = Loc::ALL.len();
/// Where tiles without an address live.
pub const POOL: MemoryId = UB1 + 1;
/// What vector core 1 has of them.
const POOL1: MemoryId = POOL + 1;
/// The first global buffer.
pub const BUFFERS: MemoryId = POOL1 + 1;

/// The memory of a location, on vector core 0.
pub fn of_loc(loc: Loc) -> MemoryId {
    loc as MemoryId
}

/// The same memory as one vector core sees it.
pub fn on_core(memory: MemoryId, core: u8) -> MemoryId {
    match (memory, core) {
        (m, 1) if m == Loc::Vec as MemoryId => UB1,
        (POOL, 1) => POOL1,
        (m, _) => m,
    }
}

/// Is it a global buffer?
pub fn is_buffer(memory: MemoryId) -> bool {
    memory >= BUFFERS
}

/// What one block wrote to a buffer.
#[derive(Clone, Debug, Default)]
pub struct Written {
    bytes: ByteSet,
    /// All written bytes lie between these two.
    hull: Option<(usize, usize)>,
}

impl Written {
    fn insert(&mut self, start: usize, len: usize) {
        if len > 0 {
            self.bytes.grow(start + len);
            self.bytes.insert(start, len);
            let (low, high) = self.hull.unwrap_or((start, start));
            self.hull = Some((low.min(start), high.max(start + len)));
        }
    }
}

/// One memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    bytes: AlignedBytes,
    defined: ByteSet,
    written: Option<Written>,
}

impl AsMut<[u8]> for Memory {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Memory {
    /// A memory with these contents, all of them defined or none.
    pub fn new(bytes: impl AsRef<[u8]>, defined: bool) -> Self {
        let bytes = AlignedBytes::from(bytes.as_ref());
        let mut set = ByteSet::default();
        set.grow(bytes.len());
        if defined {
            set.insert(0, bytes.len());
        }
        Memory { bytes, defined: set, written: None }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes themselves.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_vec()
    }

    /// Which of them are defined.
    pub fn defined(&self) -> &ByteSet {
        &self.defined
    }

    /// Which of them are defined, to be changed.
    pub fn defined_mut(&mut self) -> &mut ByteSet {
        &mut self.defined
    }

    fn grow(&mut self, bytes: usize) {
        self.bytes.grow(bytes);
        self.defined.grow(bytes);
    }

    /// Remembers from here on which bytes are written, so that they can be taken out again.
    pub fn watch(&mut self) {
        self.written = Some(Written::default());
    }

    /// Notes that a range was written, where somebody watches.
    #[inline]
    pub fn note_written(&mut self, start: usize, len: usize) {
        if let Some(written) = &mut self.written {
            written.insert(start, len);
        }
    }

    /// What was written since [`Memory::watch`], and the contents as they were before: those of `before`.
    pub fn take_written(&mut self, before: &Memory) -> Vec<(usize, Vec<u8>)> {
        let mut taken = Vec::new();
        let Some(written) = self.written.replace(Written::default()) else {
            return taken;
        };
        if let Some((low, high)) = written.hull {
            written.bytes.for_each_run(low, high, |start, len| {
                let end = start + len;
                taken.push((start, self.bytes.get(start..end).unwrap_or(&[]).to_vec()));
                self.defined.remove(start, len);
                let kept = before.bytes.len().clamp(start, end) - start;
                if let (Some(to), Some(from)) =
                    (self.bytes.get_mut(start..start + kept), before.bytes.get(start..start + kept))
                {
                    to.copy_from_slice(from);
                }
                before.defined.for_each_run(start, end, |at, n| self.defined.insert(at, n));
            });
        }
        self.bytes.truncate(before.bytes.len());
        taken
    }

    /// Writes defined bytes, growing the memory where it is too short.
    pub fn put(&mut self, start: usize, bytes: &[u8]) {
        let end = start.saturating_add(bytes.len());
        self.grow(end);
        if let Some(to) = self.bytes.get_mut(start..end) {
            to.copy_from_slice(bytes);
            self.defined.insert(start, bytes.len());
        }
    }
}

/// More memory is asked for than a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// Bytes of all memories together, as asked for.
    pub wanted: u64,
    /// How many there may be.
    pub limit: u64,
}

/// All memories of a block: on-chip ones, the pool, and the global buffers.
#[derive(Clone, Debug)]
pub struct Memories {
    list: Vec<Memory>,
    /// Are defined bits kept?
    pub tracked: bool,
    limit: u64,
}

impl Memories {
    /// How many bytes all memories of a run may have together.
    pub const LIMIT: u64 = 1 << 30;

    /// Empty memories.
    pub fn new(tracked: bool) -> Self {
        Memories { list: vec![Memory::default(); BUFFERS], tracked, limit: Self::LIMIT }
    }

    /// Adds a global buffer; what it holds already does not count against the limit.
    pub fn add_buffer(&mut self, buffer: Memory) -> MemoryId {
        self.limit = self.limit.saturating_add(buffer.bytes.len() as u64);
        self.list.push(buffer);
        self.list.len() - 1
    }

    /// The memories as plans want them.
    #[inline]
    pub fn list_mut(&mut self) -> &mut [Memory] {
        &mut self.list
    }

    /// A memory.
    #[inline]
    pub fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.list.get(id)
    }

    /// A memory, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: MemoryId) -> Option<&mut Memory> {
        self.list.get_mut(id)
    }

    /// Makes a memory at least this long.
    pub fn reserve(&mut self, id: MemoryId, bytes: u64) -> Result<(), OverLimit> {
        let Some(memory) = self.list.get(id) else {
            return Ok(());
        };
        let have = memory.bytes.len() as u64;
        if bytes <= have {
            return Ok(());
        }
        let others: u64 = self.list.iter().map(|m| m.bytes.len() as u64).sum::<u64>() - have;
        let wanted = others.saturating_add(bytes);
        if wanted > self.limit {
            return Err(OverLimit { wanted, limit: self.limit });
        }
        if let Some(memory) = self.list.get_mut(id) {
            memory.grow(bytes as usize);
        }
        Ok(())
    }

    /// Copies bytes with their defined bits from one place to another that does not overlap it.
    pub fn copy(&mut self, from: (MemoryId, usize), to: (MemoryId, usize), len: usize) {
        let tracked = self.tracked;
        if from.0 == to.0 {
            let Some(memory) = self.list.get_mut(from.0) else {
                return;
            };
            if from.1.max(to.1).saturating_add(len) > memory.bytes.len() {
                return;
            }
            memory.bytes.copy_within(from.1..from.1 + len, to.1);
            if tracked {
                memory.defined.copy_within(from.1, to.1, len);
            }
        } else if let Ok([source, target]) = self.list.get_disjoint_mut([from.0, to.0])
            && let (Some(read), Some(written)) =
                (source.bytes.get(from.1..from.1 + len), target.bytes.get_mut(to.1..to.1 + len))
        {
            written.copy_from_slice(read);
            if tracked {
                target.defined.copy_from(&source.defined, from.1, to.1, len);
            }
        }
    }

    /// Forgets the contents of everything on the chip, for the next block.
    pub fn clear_chip(&mut self) {
        for memory in self.list.iter_mut().take(BUFFERS) {
            let bytes = memory.bytes.len();
            memory.defined.remove(0, bytes);
            if !self.tracked {
                // Nobody will notice what is undefined, so it must not depend on who ran before.
                memory.bytes.fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_can_be_taken_out() {
        let before = Memory::new(vec![1; 100], true);
        let mut memory = before.clone();
        memory.watch();
        memory.put(90, &[2; 20]);
        memory.note_written(90, 20);
        assert_eq!(memory.take_written(&before), vec![(90, vec![2; 20])]);
        assert_eq!(memory.bytes(), before.bytes());
        assert!(memory.defined().has_all(0, 100) && !memory.defined().has(100));
    }

    #[test]
    fn memory_is_limited() {
        let mut memories = Memories::new(true);
        memories.reserve(POOL, 64).unwrap();
        assert_eq!(memories.get(POOL).map(|m| m.bytes().len()), Some(64));
        assert!(memories.reserve(POOL, Memories::LIMIT + 1).is_err());
    }
}
