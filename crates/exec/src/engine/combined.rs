//! What is combined with what is there, atomic adds, maxima and minima: how, and a log of it.
//!
//! A [`Combination`] is made once, when an instruction is made ready, and applied anywhere any number of times. What a block
//! combined is logged as such, with the fresh elements in one buffer, so that blocks can be put together in order later
//! (isa/structure.md 4).

use super::memory::{Memory, MemoryId};
use crate::defined::Area;
use crate::kernels::{Level, MapKernel, Mapped};
use crate::nest::{DST, Dim, Nest, Place, SRC};
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// How elements of a buffer are combined with fresh ones, which lie side by side. No two of the elements are the same, so that
/// kernels may take them in any order.
#[derive(Debug)]
pub struct Combination {
    kernels: SmallVec<[MapKernel; 1]>,
    /// The elements of the buffer, from where its view starts on.
    area: Area,
    /// The bytes of the fresh elements.
    pub(crate) len: usize,
}

impl Combination {
    /// `func` of what is there and of a fresh element, both of type `elem`, by nests from the fresh ones to the buffer.
    pub(crate) fn new<'a>(func: Func, elem: Elem, nests: impl Iterator<Item = &'a Nest> + Clone) -> Self {
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
        Combination {
            area: Area::of_nests(nests.clone(), DST),
            kernels: nests.map(kernel).collect(),
            len: elements as usize * size,
        }
    }

    /// One element.
    pub(crate) fn one(func: Func, elem: Elem) -> Self {
        let nest = Nest { bits: [elem.bits(), elem.bits(), 0, 0], base: [0; 4], dims: SmallVec::new() };
        Combination::new(func, elem, std::iter::once(&nest))
    }

    /// Combines the elements of a buffer whose view starts at byte `at` with fresh ones; what lies outside is left out.
    pub(super) fn apply(&self, buffer: &mut [u8], at: usize, fresh: &mut [u8]) {
        let (there, new) = (Place { memory: MemoryId::new(0), at }, Place { memory: MemoryId::new(1), at: 0 });
        let mut sides = [buffer, fresh];
        for kernel in &self.kernels {
            kernel.run_inside(&mut sides, [there, there, new, there]);
        }
    }

    /// The bytes that it takes in a log.
    pub(super) fn log_bytes(&self) -> usize {
        self.len + size_of::<Entry>()
    }

    /// Which bytes of the buffer it touches.
    fn runs(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
        self.area.at(at)
    }
}

/// How, and where the view started.
type Entry = (Arc<Combination>, usize);

/// What was combined, in order.
#[derive(Clone, Debug, Default)]
pub struct Combined {
    list: Vec<Entry>,
    /// The fresh elements, one combination's after the other's.
    fresh: Vec<u8>,
}

impl Combined {
    /// Was nothing combined?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.fresh.len() + self.list.len() * size_of::<Entry>()
    }

    pub(super) fn push(&mut self, how: &Arc<Combination>, at: usize, fresh: &[u8]) {
        self.list.push((how.clone(), at));
        self.fresh.extend_from_slice(fresh);
    }

    /// Combines all of it with what is in a buffer: what lies outside is left out.
    pub fn put(&mut self, buffer: &mut [u8]) {
        let mut rest = self.fresh.as_mut_slice();
        for (how, at) in &self.list {
            let Some((fresh, others)) = rest.split_at_mut_checked(how.len) else { return };
            how.apply(buffer, *at, fresh);
            rest = others;
        }
    }

    /// The runs of bytes that it touches.
    pub(super) fn for_each_run(&self, mut f: impl FnMut(usize, usize)) {
        for (how, at) in &self.list {
            how.runs(*at).for_each(|(start, len)| f(start, len));
        }
    }
}

impl Memory {
    /// Combines fresh elements with what is there, and logs them where somebody watches. Those that were written before are
    /// written again: they win over the log, and where all are such there is none.
    pub(crate) fn combine(&mut self, how: &Arc<Combination>, at: usize, fresh: &mut [u8]) {
        if let Some(turn) = &mut self.turn {
            return turn.combine(&mut self.bytes, how, at, fresh);
        }
        how.apply(&mut self.bytes, at, fresh);
        if let Some(written) = &mut self.written
            && !how.runs(at).all(|(start, len)| written.has_all(start, len))
        {
            written.combined.push(how, at, fresh);
        }
    }
}
