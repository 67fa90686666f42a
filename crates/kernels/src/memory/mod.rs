//! Memories: flat byte arrays with one **defined bit** per byte.
//!
//! Each location is a memory of its own (tile-model.md 2); UB exists twice, once per vector core. Tiles that have no
//! address lie in a memory of their own, the *pool*, so that they cannot meet anything. Global buffers come last. All
//! of them are one list, because a plan names memories by number.

mod aligned_bytes;
mod area;
mod byte_set;
mod combine_log;
mod overlay;
mod write_set;

pub use combine_log::{CombineLog, CombineOp};
pub use write_set::{BlockWrites, WriteSet, Writers};

use crate::{Failure, MemoryId, Place, failure};
pub use aligned_bytes::AlignedBytes;
pub use area::Area;
pub use byte_set::{ByteSet, Elements, WordMask};
pub use overlay::ArrayAccess;
use overlay::Overlay;

/// One memory.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) bytes: AlignedBytes,
    pub(super) defined: ByteSet,
    /// The bytes written, if writes are watched.
    pub(super) written: Option<WriteSet>,
    /// The array that `bytes` are a block's own version of.
    overlay: Option<Box<Overlay>>,
    /// Whether it stays at its address, whatever is added.
    pub(super) fixed: bool,
    /// Whether added bytes are defined, too: the host has cleared all of it.
    pub(super) cleared: bool,
    /// The number of bytes from its start on that stay defined, because they were lent.
    pub(super) lent: usize,
}

impl AsRef<[u8]> for Memory {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
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
        Memory::of(AlignedBytes::from(bytes.as_ref()), defined)
    }

    /// The same with bytes that are handed over.
    pub fn owned(bytes: Vec<u8>) -> Self {
        Memory::of(bytes.into(), true)
    }

    fn of(bytes: AlignedBytes, defined: bool) -> Self {
        let mut set = ByteSet::default();
        set.grow(bytes.len());
        if defined {
            set.insert(0, bytes.len());
        }
        Memory { bytes, defined: set, ..Memory::default() }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, handed over.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_vec()
    }

    /// The set of defined bytes.
    pub fn defined(&self) -> &ByteSet {
        &self.defined
    }

    /// Its bytes, and which of them are defined.
    pub fn bytes_and_defined(&mut self) -> (&mut [u8], &ByteSet) {
        (&mut self.bytes, &self.defined)
    }

    /// The set of defined bytes, to be changed.
    pub fn defined_mut(&mut self) -> &mut ByteSet {
        &mut self.defined
    }

    fn grow(&mut self, bytes: usize) {
        let had = self.bytes.len();
        self.bytes.grow(bytes);
        self.defined.grow(bytes);
        if self.cleared && bytes > had {
            self.defined.insert(had, bytes - had);
        }
    }

    /// Makes the memory stay where it is from here on, with so much room to grow in.
    pub fn fix(&mut self, room: usize) -> bool {
        if !self.fixed
            && let Some(mut fixed) = AlignedBytes::with_room(room.max(self.bytes.len()))
        {
            fixed.grow(self.bytes.len());
            fixed.copy_from_slice(&self.bytes);
            (self.bytes, self.fixed) = (fixed, true);
        }
        self.fixed
    }

    /// The addresses of the host that a fixed memory has, as far as it can grow.
    pub fn addresses(&self) -> Option<(u64, u64)> {
        let first = self.bytes.as_ptr() as u64;
        self.fixed.then(|| (first, first + self.bytes.room() as u64))
    }

    /// Takes bytes of the host's in place of its own; all of them stay defined.
    pub fn lend(&mut self, bytes: AlignedBytes) {
        if bytes.len() > self.lent {
            self.lent = bytes.len();
            self.defined.grow(self.lent);
            self.defined.pin(0, self.lent);
        }
        self.bytes = bytes;
    }

    /// Forgets its contents; pinned bytes stay defined. Bytes that the host clears are defined, and 0.
    pub fn clear(&mut self, by_host: bool) {
        let bytes = self.bytes.len();
        self.bytes.fill(0);
        self.defined.remove(0, bytes);
        self.cleared = by_host;
        if by_host {
            self.defined.insert(0, bytes);
        }
    }

    /// Remembers from here on which bytes are written, so that they can be taken out again.
    pub fn watch(&mut self) {
        self.written = Some(WriteSet::default());
    }

    /// Sets the operation that writes from here on, if writes are watched.
    pub fn set_writer(&mut self, writer: u32) {
        if let Some(written) = &mut self.written {
            written.writer = writer;
        }
    }

    /// Notes that a range was written, if writes are watched.
    #[inline]
    pub fn note_written(&mut self, start: usize, len: usize) {
        if let Some(written) = &mut self.written {
            written.insert(start, len);
        }
    }

    /// Puts the effect of a block into the buffer.
    pub fn put_taken(&mut self, taken: &mut BlockWrites) {
        for (start, len) in &taken.runs {
            self.grow(start + len);
            self.defined.insert(*start, *len);
        }
        taken.put(&mut self.bytes);
    }

    /// Takes the writes since [`Memory::watch`], or since they were taken last.
    pub fn take_written(&mut self) -> BlockWrites {
        self.written.as_mut().map_or_else(BlockWrites::default, |written| written.take(&self.bytes))
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

/// All memories of a block: on-chip ones, the pool, and the global buffers.
#[derive(Debug)]
pub struct Memories {
    list: Vec<Memory>,
    pub tracked: bool,
    /// Whether the bytes stand for all possible ones, so that rules about contents are not checked.
    pub stands_for_all: bool,
    limit: u64,
    /// The buffer of the fresh elements that are combined with a memory's contents.
    pub fresh: Vec<u8>,
}

impl Memories {
    /// The default limit of the bytes that all memories of a run have together.
    pub const LIMIT: u64 = 1 << 30;

    /// Empty memories.
    pub fn new(tracked: bool) -> Self {
        Self::with_limit(tracked, Self::LIMIT)
    }

    /// Empty memories with this limit in bytes.
    pub fn with_limit(tracked: bool, limit: u64) -> Self {
        let list = (0..MemoryId::buffer(0).index()).map(|_| Memory::default()).collect();
        Memories { list, tracked, stands_for_all: false, limit, fresh: Vec::new() }
    }

    /// The limit of the bytes that they have together.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Adds a global buffer; its present contents do not count against the limit.
    pub fn add_buffer(&mut self, buffer: Memory) -> MemoryId {
        self.limit = self.limit.saturating_add(buffer.bytes.len() as u64);
        self.list.push(buffer);
        MemoryId::new(self.list.len() - 1)
    }

    /// The memories as plans want them.
    #[inline]
    pub fn list_mut(&mut self) -> &mut [Memory] {
        &mut self.list
    }

    /// The global buffers.
    pub fn buffers_mut(&mut self) -> impl Iterator<Item = &mut Memory> {
        self.list.iter_mut().skip(MemoryId::buffer(0).index())
    }

    /// A memory.
    #[inline]
    pub fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.list.get(id.index())
    }

    /// A memory, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: MemoryId) -> Option<&mut Memory> {
        self.list.get_mut(id.index())
    }

    /// The start of an operand, and its memory.
    #[inline]
    pub fn operand(&self, places: &[Place], operand: u8) -> Option<(usize, &Memory)> {
        let place = places.get(usize::from(operand))?;
        Some((place.at, self.get(place.memory)?))
    }

    /// The same, to be changed.
    #[inline]
    pub fn operand_mut(&mut self, places: &[Place], operand: u8) -> Option<(usize, &mut Memory)> {
        let place = places.get(usize::from(operand))?;
        Some((place.at, self.get_mut(place.memory)?))
    }

    /// Makes a memory at least this long.
    pub fn reserve(&mut self, id: MemoryId, bytes: u64) -> Result<(), Failure> {
        let Some(memory) = self.list.get(id.index()) else {
            return Ok(());
        };
        let have = memory.bytes.len() as u64;
        if bytes <= have {
            return Ok(());
        }
        if memory.fixed && bytes > memory.bytes.room() as u64 {
            let what = format!("a tile ends at byte {bytes} of a memory that has room for {}", memory.bytes.room());
            return Err(failure("memory-limit", what, "use lower addresses or smaller tiles"));
        }
        let others: u64 = self.list.iter().map(|m| m.bytes.len() as u64).sum::<u64>() - have;
        let wanted = others.saturating_add(bytes);
        if wanted > self.limit {
            let what = format!("the program needs {wanted} bytes of memory, and a run may have {}", self.limit);
            let help = match id.index() < MemoryId::buffer(0).index() {
                true => "use lower addresses or smaller tiles, or allow more memory",
                false => "bind the buffer, store less far into it, or allow more memory",
            };
            return Err(failure("memory-limit", what, help));
        }
        if let Some(memory) = self.list.get_mut(id.index()) {
            memory.grow(bytes as usize);
        }
        Ok(())
    }

    /// Sets the operation that writes to buffers from here on.
    pub fn set_writer(&mut self, writer: u32) {
        self.buffers_mut().for_each(|memory| memory.set_writer(writer));
    }

    /// Copies bytes with their defined bits from one place to another that does not overlap it.
    pub fn copy(&mut self, from: (MemoryId, usize), to: (MemoryId, usize), len: usize) {
        let tracked = self.tracked;
        if from.0 == to.0 {
            let Some(memory) = self.list.get_mut(from.0.index()) else {
                return;
            };
            if from.1.max(to.1).saturating_add(len) > memory.bytes.len() {
                return;
            }
            memory.bytes.copy_within(from.1..from.1 + len, to.1);
            if tracked {
                memory.defined.copy_within(from.1, to.1, len);
            }
        } else if let Ok([source, target]) = self.list.get_disjoint_mut([from.0.index(), to.0.index()])
            && let (Some(read), Some(written)) =
                (source.bytes.get(from.1..from.1 + len), target.bytes.get_mut(to.1..to.1 + len))
        {
            written.copy_from_slice(read);
            if tracked {
                target.defined.copy_from(&source.defined, from.1, to.1, len);
            }
        }
    }

    /// Exchanges what lies on the chip: each of several blocks has its own, and one global memory goes from one to the
    /// next.
    pub fn swap_chip(&mut self, other: &mut Memories) {
        let chip = MemoryId::buffer(0).index();
        if let (Some(a), Some(b)) = (self.list.get_mut(..chip), other.list.get_mut(..chip)) {
            // Most memories of a core are empty.
            let used = |(a, b): &(&mut Memory, &mut Memory)| !a.bytes.is_empty() || !b.bytes.is_empty();
            a.iter_mut().zip(b).filter(used).for_each(|(a, b)| std::mem::swap(a, b));
        }
    }

    /// Forgets the contents of everything on the chip, for the next block.
    pub fn clear_chip(&mut self) {
        for memory in self.list.iter_mut().take(MemoryId::buffer(0).index()) {
            let bytes = memory.bytes.len();
            memory.defined.remove(0, bytes);
            if !self.tracked {
                // Undefined bytes are not reported here, so their values must not depend on the previous block.
                memory.bytes.fill(0);
            }
        }
    }
}
