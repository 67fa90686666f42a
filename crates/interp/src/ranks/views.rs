//! Views of any ranks' memory as loops over contiguous runs.

use super::super::step::Exec;
use smallvec::SmallVec;
use tessera_exec::engine::Global;
use tessera_ir::OpId;
use tessera_isa::elem::Elem;
use tessera_kernels::{Failure, MemoryId, failure};

/// A view: where it starts, its extents and the bytes from one element to the next along each.
#[derive(Clone, Debug)]
pub struct Shared {
    pub memory: MemoryId,
    pub start: i64,
    pub elem: Elem,
    pub dims: SmallVec<[u64; 6]>,
    pub steps: SmallVec<[i64; 6]>,
}

impl Shared {
    /// The bytes of an element.
    pub fn size(&self) -> u64 {
        self.elem.bytes_of(1)
    }

    pub fn count(&self) -> u64 {
        self.dims.iter().product()
    }

    /// The first byte that it touches, and the one behind the last.
    pub fn reach(&self) -> Option<(i64, i64)> {
        if self.dims.contains(&0) {
            return None;
        }
        let (mut low, mut high) = (self.start, self.start);
        for (extent, step) in self.dims.iter().zip(&self.steps) {
            let far = step.saturating_mul(*extent as i64 - 1);
            (low, high) = (low.saturating_add(far.min(0)), high.saturating_add(far.max(0)));
        }
        Some((low, high.saturating_add(self.size() as i64)))
    }

    /// Rows `first` to `first + rows` of the last dimension but one, or of the only one.
    pub fn rows(&self, first: u64, rows: u64) -> Shared {
        let axis = self.dims.len().saturating_sub(2);
        let mut part = self.clone();
        if let (Some(extent), Some(step)) = (part.dims.get_mut(axis), self.steps.get(axis)) {
            *extent = rows;
            part.start = part.start.saturating_add(step.saturating_mul(first as i64));
        }
        part
    }

    /// The bytes of each element in row-major order, one element at a time.
    pub fn elements(&self) -> impl Iterator<Item = i64> + '_ {
        runs([self]).flat_map(|([start], len)| {
            let size = self.size();
            (0..len / size.max(1)).map(move |n| start + (n * size) as i64)
        })
    }

    /// The byte ranges, in order, those that touch each other joined.
    pub fn ranges(&self) -> SmallVec<[(i64, i64); 4]> {
        let mut ranges: SmallVec<[(i64, i64); 4]> = SmallVec::new();
        for ([start], len) in runs([self]) {
            match ranges.last_mut() {
                Some(last) if last.1 == start => last.1 = start + len as i64,
                _ => ranges.push((start, start + len as i64)),
            }
        }
        ranges
    }
}

/// The contiguous runs that several views of equal extents have together, in row-major order: the start in each, and the
/// bytes.
pub fn runs<const N: usize>(views: [&Shared; N]) -> impl Iterator<Item = ([i64; N], u64)> + use<N> {
    let first = views[0];
    let size = first.size();
    // Dimensions that continue each other in every view are one.
    let mut dims: SmallVec<[(u64, [i64; N]); 6]> = SmallVec::new();
    for (n, extent) in first.dims.iter().enumerate().filter(|(_, extent)| **extent != 1) {
        let steps = std::array::from_fn(|v| views[v].steps.get(n).copied().unwrap_or(0));
        let joins = |(_, outer): &(u64, [i64; N])| {
            outer.iter().zip(&steps).all(|(outer, inner): (&i64, &i64)| *outer == inner.saturating_mul(*extent as i64))
        };
        match dims.last_mut() {
            Some(last) if joins(last) => *last = (last.0.saturating_mul(*extent), steps),
            _ => dims.push((*extent, steps)),
        }
    }
    let mut run = size;
    if let Some((extent, steps)) = dims.last()
        && steps.iter().all(|step| *step == size as i64)
    {
        run = extent.saturating_mul(size);
        dims.pop();
    }
    let total: u64 = if first.dims.contains(&0) { 0 } else { dims.iter().map(|d| d.0).product() };
    let mut at: SmallVec<[u64; 6]> = SmallVec::from_elem(0, dims.len());
    let mut starts = views.map(|view| view.start);
    (0..total).map(move |_| {
        let now = starts;
        for n in (0..dims.len()).rev() {
            let (extent, steps) = dims[n];
            at[n] += 1;
            starts.iter_mut().zip(&steps).for_each(|(start, step)| *start = start.saturating_add(*step));
            if at[n] < extent {
                break;
            }
            at[n] = 0;
            starts.iter_mut().zip(&steps).for_each(|(start, step)| {
                *start = start.saturating_sub(step.saturating_mul(extent as i64));
            });
        }
        (now, run)
    })
}

impl Exec<'_> {
    /// A view as an operation between ranks sees it: inside of its memory, which the rank may touch.
    pub(super) fn shared(&mut self, at: OpId, global: &Global, what: &str) -> Result<Shared, Failure> {
        let elem = global.elem;
        let unit = i64::from(elem.bits());
        if elem.is_fp4() && (global.offset % 2 != 0 || global.strides.iter().rev().skip(1).any(|s| s % 2 != 0)) {
            let what = format!("{what} starts in the middle of a byte");
            return Err(failure("gm-bounds", what, "use even offsets and strides of elements of four bits"));
        }
        // Two elements of four bits are one of eight.
        let bytes = |n: i64| n.saturating_mul(unit) / 8;
        let mut view = Shared {
            memory: global.buffer,
            start: bytes(global.offset),
            elem: if elem.is_fp4() { Elem::U8 } else { elem },
            dims: global.dims.clone(),
            steps: global.strides.iter().map(|s| bytes(*s)).collect(),
        };
        if elem.is_fp4()
            && let (Some(extent), Some(step)) = (view.dims.last_mut(), view.steps.last_mut())
        {
            (*extent, *step) = (extent.div_ceil(2), 1);
        }
        let Some((low, high)) = view.reach() else { return Ok(view) };
        let Some(rank) = self.cx.rank else { return Ok(view) };
        let grows = rank.space.region(view.memory).is_some_and(|(_, region)| region.grows);
        if grows && high > 0 {
            self.engine.reserve(view.memory, high as u64)?;
        }
        let have = self.engine.memories.get(view.memory).map_or(0, |m| m.bytes().len() as i64);
        if low >= 0 && high <= have && rank.space.may_touch(rank.number, view.memory) {
            return Ok(view);
        }
        let beyond = if low < 0 { low } else { low.max(have) };
        let name = self.cx.func.op(at).kind.name();
        let of = rank.space.region(view.memory).map_or(rank.number, |(_, region)| region.rank);
        let message = format!(
            "{what} of {name} on rank {} touches bytes {low} to {high} of a buffer of rank {of} that has {have}: {}",
            rank.number,
            rank.space.nearest(view.memory, beyond)
        );
        Err(failure("gm-bounds", message, "stay inside the rank's own buffers and the windows of all ranks"))
    }
}
