//! Bytes that start at a cache line.

use std::alloc::{Layout, alloc_zeroed};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes of a cache line.
const LINE: usize = 64;

/// A buffer whose first byte starts a cache line.
///
/// Tiles lie at multiples of 32 bytes in their memory (tile-model.md 2). In a memory that itself starts anywhere, as a
/// `Vec<u8>` does, half of all vectors would straddle two lines, and a transpose takes half as long again.
///
/// ```
/// use tessera_kernels::memory::AlignedBytes;
/// let bytes = AlignedBytes::zeroed(100);
/// assert_eq!((bytes.len(), bytes.as_ptr().align_offset(64)), (100, 0));
///
/// let large = vec![7; 2 << 20];
/// let place = large.as_ptr();
/// let mut bytes = AlignedBytes::from(large);
/// assert_eq!((bytes.as_ptr(), bytes.len()), (place, 2 << 20));
/// bytes.grow(3 << 20);
/// assert_eq!((bytes[(2 << 20) - 1], bytes[2 << 20]), (7, 0));
/// ```
#[derive(Default)]
pub struct AlignedBytes {
    storage: Storage,
    len: usize,
}

/// The storage of the bytes.
enum Storage {
    Own(Room),
    /// One allocation that several threads read. It is copied before it is written.
    Shared(Arc<Room>),
    Lent(Lent),
}

/// Memory of one's own: the bytes, with up to one line before them.
#[derive(Default)]
struct Room {
    bytes: Vec<u8>,
    start: usize,
    /// The number of bytes that were ever in use; those behind are zeros.
    used: usize,
}

/// Memory of the host ([`AlignedBytes::lent`]).
struct Lent {
    first: NonNull<u8>,
    room: usize,
}

// SAFETY: `AlignedBytes::lent` is given memory that only the buffer uses, on whatever thread the buffer is.
unsafe impl Send for Lent {}
// SAFETY: a shared reference to the buffer only reads it.
unsafe impl Sync for Lent {}

impl Default for Storage {
    fn default() -> Self {
        Storage::Own(Room::default())
    }
}

impl Room {
    /// All of these bytes, from the first cache line that starts in them.
    fn new(bytes: Vec<u8>, used: usize) -> Self {
        // Miri may find no aligned byte.
        let start = bytes.as_ptr().align_offset(LINE).min(LINE - 1);
        Room { bytes, start, used }
    }

    /// A copy of these bytes.
    fn of(bytes: &[u8]) -> Self {
        let mut room = Room::new(vec![0; bytes.len().saturating_add(LINE - 1)], bytes.len());
        room.bytes_mut(bytes.len()).copy_from_slice(bytes);
        room
    }

    fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    #[inline]
    fn bytes(&self, len: usize) -> &[u8] {
        &self.bytes[self.start..self.start + len]
    }

    #[inline]
    fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + len]
    }
}

impl AlignedBytes {
    /// A buffer of zeros. Fresh pages cost nothing until they are touched.
    pub fn zeroed(len: usize) -> Self {
        let room = Room::new(vec![0; len.saturating_add(LINE - 1)], len);
        AlignedBytes { storage: Storage::Own(room), len }
    }

    /// An empty buffer that can grow to `room` bytes without moving; `None` where the machine has no such range of
    /// addresses. Pages cost nothing until they are touched.
    pub fn with_room(room: usize) -> Option<Self> {
        let layout = Layout::array::<u8>(room.checked_add(LINE - 1)?).ok()?;
        // SAFETY: the layout has at least one byte.
        let first = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: the global allocator, which is that of `Vec`, has just allocated this layout of bytes, all of them zero.
        let bytes = unsafe { Vec::from_raw_parts(first.as_ptr(), layout.size(), layout.size()) };
        Some(AlignedBytes { storage: Storage::Own(Room::new(bytes, 0)), len: 0 })
    }

    /// Bytes of the host, which stay where they are and keep their number.
    ///
    /// # Safety
    /// Until the buffer is dropped or replaced, the bytes are readable and writable, and nothing else reads or writes
    /// them while a reference to the buffer's bytes is in use.
    pub unsafe fn lent(first: NonNull<u8>, len: usize) -> Self {
        AlignedBytes { storage: Storage::Lent(Lent { first, room: len }), len }
    }

    /// The number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes [`Clone`] return the same bytes without a copy from here on. A buffer that is changed copies them first,
    /// unless no other buffer has them any more.
    ///
    /// ```
    /// use tessera_kernels::memory::AlignedBytes;
    /// let mut bytes = AlignedBytes::zeroed(100);
    /// bytes.share();
    /// let mut other = bytes.clone();
    /// assert_eq!(other.as_ptr(), bytes.as_ptr());
    /// other[1] = 7;
    /// assert_eq!((bytes[1], other[1]), (0, 7));
    /// ```
    pub fn share(&mut self) {
        self.make_own();
        if let Storage::Own(room) = &mut self.storage {
            self.storage = Storage::Shared(Arc::new(std::mem::take(room)));
        }
    }

    /// Makes the bytes the buffer's own: shared ones are copied, unless no other buffer has them any more.
    #[cold]
    #[inline(never)]
    fn make_own(&mut self) {
        let len = self.len;
        let room = match std::mem::take(&mut self.storage) {
            Storage::Own(room) => room,
            Storage::Shared(room) => Arc::try_unwrap(room).unwrap_or_else(|room| Room::of(room.bytes(len))),
            Storage::Lent(lent) => Room::of(lent.bytes(len)),
        };
        self.storage = Storage::Own(room);
    }

    /// To how many bytes it can grow without moving.
    pub fn room(&self) -> usize {
        match &self.storage {
            Storage::Own(room) => room.len(),
            Storage::Shared(room) => room.len(),
            Storage::Lent(lent) => lent.room,
        }
    }

    /// The bytes, moved to the start of their allocation.
    pub fn into_vec(mut self) -> Vec<u8> {
        self.make_own();
        let Storage::Own(Room { bytes: mut room, start, .. }) = self.storage else { return Vec::new() };
        // Bytes that were only reserved are not touched.
        room.truncate(start + self.len);
        room.drain(..start);
        if room.capacity() / 2 > room.len() {
            room.shrink_to_fit();
        }
        room
    }

    /// Makes the buffer at least this long; what is added is zero. Growing little by little costs as much as at once.
    pub fn grow(&mut self, len: usize) {
        if len <= self.len {
            return;
        }
        if let Storage::Shared(_) = self.storage {
            self.make_own();
        }
        if len > self.room() {
            let mut new = AlignedBytes::zeroed(len.max(self.len.saturating_mul(2)));
            new[..self.len].copy_from_slice(self);
            if let Storage::Own(room) = &mut new.storage {
                room.used = self.len;
            }
            *self = new;
        }
        if let Storage::Own(room) = &mut self.storage {
            let (old, dirty) = (room.start + self.len, room.start + room.used.min(len));
            if old < dirty {
                room.bytes[old..dirty].fill(0);
            }
            room.used = room.used.max(len);
        }
        self.len = len;
    }

    /// Keeps the first `len` bytes; a shorter buffer stays as it is.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl Lent {
    fn bytes(&self, len: usize) -> &[u8] {
        // SAFETY: `len` never exceeds the number of bytes that were lent (`AlignedBytes::grow`), which are readable and not
        // written meanwhile by the contract of `AlignedBytes::lent`.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), len) }
    }

    fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        // SAFETY: as above; they are writable, and nothing else uses them meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), len) }
    }
}

impl From<&[u8]> for AlignedBytes {
    fn from(bytes: &[u8]) -> Self {
        AlignedBytes { storage: Storage::Own(Room::of(bytes)), len: bytes.len() }
    }
}

/// Buffers from here on are not copied for the sake of their lines.
const LARGE: usize = 1 << 20;

impl From<Vec<u8>> for AlignedBytes {
    /// The bytes; of a large buffer where they are, for copying it costs more than vectors that straddle two lines.
    fn from(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        match len {
            LARGE.. => AlignedBytes { storage: Storage::Own(Room { bytes, start: 0, used: len }), len },
            _ => AlignedBytes::from(&*bytes),
        }
    }
}

// A copied `Vec` would start elsewhere in its line.
impl Clone for AlignedBytes {
    fn clone(&self) -> Self {
        match &self.storage {
            Storage::Shared(room) => AlignedBytes { storage: Storage::Shared(room.clone()), len: self.len },
            Storage::Own(_) | Storage::Lent(_) => AlignedBytes::from(&**self),
        }
    }
}

impl std::fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.storage {
            Storage::Own(room) => room.bytes(self.len),
            Storage::Shared(room) => room.bytes(self.len),
            Storage::Lent(lent) => lent.bytes(self.len),
        }
    }
}

impl DerefMut for AlignedBytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        if let Storage::Shared(_) = self.storage {
            self.make_own();
        }
        match &mut self.storage {
            Storage::Own(room) => room.bytes_mut(self.len),
            Storage::Shared(_) => &mut [],
            Storage::Lent(lent) => lent.bytes_mut(self.len),
        }
    }
}

impl AsRef<[u8]> for AlignedBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for AlignedBytes {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}
