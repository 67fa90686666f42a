//! Bytes that start at a cache line.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// A buffer whose first byte starts a cache line.
///
/// Tiles lie at multiples of 32 bytes in their memory (tile-model.md 2). In a memory that itself starts anywhere, as a
/// `Vec<u8>` does, half of all vectors would straddle two lines, and a transpose takes half as long again.
///
/// ```
/// use tessera_exec::kernels::AlignedBytes;
/// let bytes = AlignedBytes::zeroed(100);
/// assert_eq!((bytes.len(), bytes.as_ptr().align_offset(64)), (100, 0));
/// ```
#[derive(Default)]
pub struct AlignedBytes {
    /// The bytes, with up to one line before them.
    room: Vec<u8>,
    start: usize,
    len: usize,
    /// How many bytes there ever were; those behind are zeros that nobody has touched.
    used: usize,
}

impl AlignedBytes {
    /// A buffer of zeros. Fresh pages cost nothing until they are touched.
    pub fn zeroed(len: usize) -> Self {
        let room = vec![0; len.saturating_add(LINE - 1)];
        let start = room.as_ptr().align_offset(LINE).min(LINE - 1);
        AlignedBytes { room, start, len, used: len }
    }

    /// The bytes, moved to the start of their allocation.
    pub fn into_vec(mut self) -> Vec<u8> {
        self.room.drain(..self.start);
        self.room.truncate(self.len);
        self.room
    }

    /// Makes the buffer at least this long; what is added is zero. Growing little by little costs as much as at once.
    pub fn grow(&mut self, len: usize) {
        if len <= self.len {
            return;
        }
        if len > self.room.len() - self.start {
            let mut new = AlignedBytes::zeroed(len.max(self.len.saturating_mul(2)));
            new[..self.len].copy_from_slice(self);
            new.used = self.len;
            *self = new;
        }
        let (old, dirty) = (self.start + self.len, self.start + self.used.min(len));
        if old < dirty {
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
        &self.room[self.start..self.start + self.len]
    }
}

impl DerefMut for AlignedBytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..self.start + self.len]
    }
}

impl AsMut<[u8]> for AlignedBytes {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}
