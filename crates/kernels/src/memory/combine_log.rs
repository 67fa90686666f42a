//! Combining, that is atomic adds, maxima and minima: the operation, and a log of it.
//!
//! A [`CombineOp`] is made once, when an instruction is compiled, and applied anywhere any number of times. A block's
//! combinations are logged with the fresh elements in one buffer, so that blocks can be put together in order later
//! (isa/structure.md 4).

use super::{Memory, MemoryId};
use crate::Place;
use crate::memory::Area;
use crate::nest::{DST, Dim, Nest, SRC};
use crate::{Level, MapKernel, Mapped};
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// Combines elements of a buffer with fresh ones, which are contiguous. No two of the elements are the same, so that
/// kernels may take them in any order.
#[derive(Debug)]
pub struct CombineOp {
    kernels: SmallVec<[MapKernel; 1]>,
    /// The elements of the buffer, from where its view starts on.
    area: Area,
    /// The bytes of the fresh elements.
    pub len: usize,
    /// The bytes of one element.
    size: usize,
}

impl CombineOp {
    /// `func` of an old and a fresh element, both of type `elem`, by nests from the fresh ones to the buffer.
    pub fn new<'a>(func: Func, elem: Elem, nests: impl Iterator<Item = &'a Nest> + Clone) -> Self {
        let size = elem.bits() as usize / 8;
        let elements: u64 = nests.clone().map(Nest::elements).sum();
        let kernel = |nest: &Nest| {
            let three = |at: [i64; 4]| [at[DST], at[DST], at[SRC], 0];
            let dims = nest.dims.iter().map(|dim| Dim { extent: dim.extent, step: three(dim.step) }).collect();
            let bits = [elem.bits(), elem.bits(), elem.bits(), 0];
            let mut nest = Nest { bits, base: three(nest.base), dims };
            nest.normalise();
            let args = SmallVec::from_iter([(elem, None), (elem, None)]);
            MapKernel::new(nest, Mapped { func, to: elem, args }, Level::best())
        };
        CombineOp {
            area: Area::of_nests(nests.clone(), DST),
            kernels: nests.map(kernel).collect(),
            len: elements as usize * size,
            size,
        }
    }

    /// One element.
    pub fn one(func: Func, elem: Elem) -> Self {
        let nest = Nest { bits: [elem.bits(), elem.bits(), 0, 0], base: [0; 4], dims: SmallVec::new() };
        CombineOp::new(func, elem, std::iter::once(&nest))
    }

    /// Combines the elements of a buffer whose view starts at byte `at` with fresh ones; elements out of bounds are
    /// left out.
    pub(super) fn apply(&self, buffer: &mut [u8], at: usize, fresh: &mut [u8]) {
        let (there, new) = (Place { memory: MemoryId::new(0), at }, Place { memory: MemoryId::new(1), at: 0 });
        let mut sides = [buffer, fresh];
        for kernel in &self.kernels {
            kernel.run_inside(&mut sides, [there, there, new, there]);
        }
    }

    /// The byte ranges of the buffer that it touches.
    fn runs(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
        self.area.at(at)
    }
}

/// The operation, and the start of the view.
type Entry = (Arc<CombineOp>, usize);

/// The logged combinations, in order.
#[derive(Clone, Debug, Default)]
pub struct CombineLog {
    list: Vec<Entry>,
    /// The fresh elements, one combination's after the other's.
    fresh: Vec<u8>,
}

impl CombineLog {
    /// Whether nothing was combined.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.fresh.len() + self.list.len() * size_of::<Entry>()
    }

    pub(super) fn push(&mut self, how: &Arc<CombineOp>, at: usize, fresh: &[u8]) {
        self.list.push((how.clone(), at));
        self.fresh.extend_from_slice(fresh);
    }

    /// Combines all of it with a buffer, in order; elements out of bounds are left out.
    pub fn put(&mut self, buffer: &mut [u8]) {
        let mut rest = self.fresh.as_mut_slice();
        for (how, at) in &self.list {
            let Some((fresh, others)) = rest.split_at_mut_checked(how.len) else { return };
            how.apply(buffer, *at, fresh);
            rest = others;
        }
    }
}

impl Memory {
    /// Combines fresh elements with the contents, and logs them if writes are watched. Elements that were written
    /// before, even in part, are written again: they win over the log, and if all are such there is no log entry.
    pub fn combine(&mut self, how: &Arc<CombineOp>, at: usize, fresh: &mut [u8]) {
        if self.touch_combined(how.runs(at)) {
            how.apply(&mut self.bytes, at, fresh);
        }
        if let Some(written) = &mut self.written
            && !how.runs(at).all(|(start, len)| written.has_all(start, len))
        {
            written.combined.push(how, at, fresh);
            how.runs(at).for_each(|(start, len)| written.complete(start, len, how.size));
        }
    }

    /// The size of the log in bytes.
    pub fn logged(&self) -> usize {
        self.written.as_ref().map_or(0, |written| written.combined.bytes())
    }

    /// Takes the log of the combinations since it was taken last.
    pub fn take_log(&mut self) -> CombineLog {
        self.written.as_mut().map(|written| std::mem::take(&mut written.combined)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ArrayAccess;

    /// A block writes the lower half of a number and adds to all of it, which carries: what it leaves is what it saw, and the
    /// neighbour of the number is what lower blocks make of it.
    #[test]
    fn what_is_written_in_part_is_written() {
        let how = Arc::new(CombineOp::one(Func::Add, Elem::I32));
        let start: Vec<u8> = [0x0001_0002i32, 5].iter().flat_map(|n| n.to_le_bytes()).collect();
        let mut before = Memory::new(&start, true);
        drop(before.shared());
        let mut memory = before.block_view(ArrayAccess::WRITES.or(ArrayAccess::COMBINES), 8);
        memory.touch([(0, 2)].into_iter(), ArrayAccess::WRITES).unwrap();
        memory.as_mut()[..2].copy_from_slice(&0xFFFFu16.to_le_bytes());
        memory.note_written(0, 2);
        memory.combine(&how, 0, &mut 1i32.to_le_bytes());
        memory.combine(&how, 4, &mut 1i32.to_le_bytes());
        let mut all = Memory::new([0x0001_0002i32, 50].map(i32::to_le_bytes).as_flattened(), true);
        all.put_taken(&mut memory.end_block(&before));
        assert_eq!(all.bytes(), [0x0002_0000i32, 51].map(i32::to_le_bytes).as_flattened());
        assert_eq!(before.bytes(), start);
    }
}
