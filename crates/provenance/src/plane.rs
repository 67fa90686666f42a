//! One origin per byte of a memory.

use super::TermId;

/// The origins of a memory, four bytes each, so that the kernels that move data move them too.
#[derive(Clone, Debug, Default)]
pub struct Plane {
    bytes: Vec<u8>,
}

pub(super) const SIZE: usize = size_of::<TermId>();

impl Plane {
    pub fn len(&self) -> usize {
        self.bytes.len() / SIZE
    }

    /// Covers at least this many; new ones are undefined.
    pub fn grow(&mut self, len: usize) {
        if len > self.len() {
            self.bytes.resize(len * SIZE, 0);
        }
    }

    /// The origin of a byte; undefined beyond the end.
    #[inline]
    pub fn get(&self, at: usize) -> TermId {
        let place = self.bytes.get(at * SIZE..(at + 1) * SIZE);
        let id = place.and_then(|b| b.first_chunk());
        id.map_or(super::UNDEFINED, |b| TermId::from_le_bytes(*b))
    }

    /// Sets the origin of a byte, unless it lies beyond the end.
    #[inline]
    pub fn set(&mut self, at: usize, id: TermId) {
        if let Some(place) = self.bytes.get_mut(at * SIZE..(at + 1) * SIZE) {
            place.copy_from_slice(&id.to_le_bytes());
        }
    }

    /// Sets a run, as far as there is one.
    pub fn fill(&mut self, start: usize, len: usize, id: TermId) {
        let end = start.saturating_add(len).min(self.len());
        if start >= end {
            return;
        }
        if let Some(run) = self.bytes.get_mut(start * SIZE..end * SIZE) {
            run.as_chunks_mut::<SIZE>().0.fill(id.to_le_bytes());
        }
    }

    /// Takes a run of another plane, at the same place.
    pub fn copy_from(&mut self, other: &Plane, start: usize, len: usize) {
        let range = start * SIZE..(start + len) * SIZE;
        if let (Some(to), Some(from)) = (self.bytes.get_mut(range.clone()), other.bytes.get(range)) {
            to.copy_from_slice(from);
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = TermId> {
        self.bytes.as_chunks::<SIZE>().0.iter().map(|b| TermId::from_le_bytes(*b))
    }

    /// The plane as kernels see it.
    pub fn raw(&self) -> &[u8] {
        &self.bytes
    }

    pub fn raw_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
