//! Bytes that start at a cache line.

use std::alloc::{Layout, alloc_zeroed};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

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
    /// The bytes, with up to one line before them.
    room: Vec<u8>,
    start: usize,
    len: usize,
    /// How many bytes there ever were; those behind are zeros that nobody has touched.
    used: usize,
    /// Where the bytes are if they are somebody else's, and to how many they can grow.
    lent: Option<(NonNull<u8>, usize)>,
}

// SAFETY: the bytes are the buffer's own, or lent by somebody who vouches for their use ([`AlignedBytes::lent`]).
unsafe impl Send for AlignedBytes {}
// SAFETY: likewise; a shared buffer only reads.
unsafe impl Sync for AlignedBytes {}

impl AlignedBytes {
    /// A buffer of zeros. Fresh pages cost nothing until they are touched.
    pub fn zeroed(len: usize) -> Self {
        let room = vec![0; len.saturating_add(LINE - 1)];
        let start = room.as_ptr().align_offset(LINE).min(LINE - 1);
        AlignedBytes { room, start, len, used: len, lent: None }
    }

    /// An empty buffer that can grow to `room` bytes without moving; `None` where the machine has no such range of
    /// addresses. Pages cost nothing until they are touched.
    pub fn with_room(room: usize) -> Option<Self> {
        let layout = Layout::array::<u8>(room.checked_add(LINE - 1)?).ok()?;
        // SAFETY: the layout has at least one byte.
        let first = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: allocated with the layout of so many bytes, all of them zero, by the allocator of `Vec`.
        let room = unsafe { Vec::from_raw_parts(first.as_ptr(), layout.size(), layout.size()) };
        let start = room.as_ptr().align_offset(LINE).min(LINE - 1);
        Some(AlignedBytes { room, start, ..AlignedBytes::default() })
    }

    /// Bytes of somebody else's, which are where they are and stay as many.
    ///
    /// # Safety
    /// The bytes are readable and writable, and nobody else uses them while the buffer is used.
    pub unsafe fn lent(first: NonNull<u8>, len: usize) -> Self {
        AlignedBytes { len, used: len, lent: Some((first, len)), ..AlignedBytes::default() }
    }

    /// The same bytes once more. They grow as far as these have room, into what is there.
    ///
    /// # Safety
    /// These bytes stay where they are while the others are used, and nobody reads or writes a byte that another one
    /// writes at the same time.
    pub(super) unsafe fn lent_again(&mut self) -> Self {
        let own = self.room.get_mut(self.start..).unwrap_or_default();
        let (first, room) = self.lent.unwrap_or_else(|| (NonNull::from(&mut *own).cast(), own.len()));
        AlignedBytes { len: self.len, used: self.len, lent: Some((first, room)), ..AlignedBytes::default() }
    }

    /// To how many bytes it can grow without moving.
    pub fn room(&self) -> usize {
        self.lent.map_or_else(|| self.room.len() - self.start, |(_, room)| room)
    }

    /// The bytes, moved to the start of their allocation.
    pub fn into_vec(mut self) -> Vec<u8> {
        if self.lent.is_some() {
            return self.to_vec();
        }
        // What was only reserved is not touched.
        self.room.truncate(self.start + self.len);
        self.room.drain(..self.start);
        if self.room.capacity() / 2 > self.room.len() {
            self.room.shrink_to_fit();
        }
        self.room
    }

    /// Makes the buffer at least this long; what is added is zero. Growing little by little costs as much as at once.
    pub fn grow(&mut self, len: usize) {
        if len <= self.len {
            return;
        }
        if len > self.room() {
            let mut new = AlignedBytes::zeroed(len.max(self.len.saturating_mul(2)));
            new[..self.len].copy_from_slice(self);
            new.used = self.len;
            *self = new;
        }
        let (old, dirty) = (self.start + self.len, self.start + self.used.min(len));
        if old < dirty && self.lent.is_none() {
            self.room[old..dirty].fill(0);
        }
        self.len = len;
        self.used = self.used.max(len);
    }

    /// Keeps the first `len` bytes; a shorter buffer stays as it is.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl From<&[u8]> for AlignedBytes {
    fn from(bytes: &[u8]) -> Self {
        let mut new = AlignedBytes::zeroed(bytes.len());
        new.copy_from_slice(bytes);
        new
    }
}

/// Buffers from here on are not copied for the sake of their lines.
const LARGE: usize = 1 << 20;

impl From<Vec<u8>> for AlignedBytes {
    /// The bytes; of a large buffer where they are, for copying it costs more than vectors that straddle two lines.
    fn from(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        match len {
            LARGE.. => AlignedBytes { room: bytes, start: 0, len, used: len, lent: None },
            _ => AlignedBytes::from(&*bytes),
        }
    }
}

// A copied `Vec` would start elsewhere in its line.
impl Clone for AlignedBytes {
    fn clone(&self) -> Self {
        AlignedBytes::from(&**self)
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
        if let Some((first, _)) = self.lent {
            // SAFETY: so many bytes were lent.
            return unsafe { std::slice::from_raw_parts(first.as_ptr(), self.len) };
        }
        &self.room[self.start..self.start + self.len]
    }
}

impl DerefMut for AlignedBytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        if let Some((first, _)) = self.lent {
            // SAFETY: so many bytes were lent, and nobody else uses them meanwhile.
            return unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), self.len) };
        }
        &mut self.room[self.start..self.start + self.len]
    }
}

impl AsMut<[u8]> for AlignedBytes {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}
