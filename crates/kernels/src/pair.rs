//! Two nests that interleave on one side, run as one: TINTERLEAVE and TDEINTERLEAVE (ops.md 8).
//!
//! Apart, each of them would touch every second element of the interleaved side, and so every line of it twice. The safe
//! twin is to run the two nests one after the other, which is what happens at [`Level::Scalar`].

use crate::Level;
use crate::Place;
use crate::copy::{Loop, ONCE, Outer};
use crate::nest::{DST, Nest, OutOfBounds, SRC, walk};
use smallvec::SmallVec;

/// A kernel over one loop of rows with `n` elements in each half: (half, half, interleaved, rows, n).
///
/// Safety: for every row, `n` elements of both halves and `2·n` of the interleaved side are readable, or writable where
/// the kernel writes, and the machine has the instructions that the kernel was compiled for.
pub(super) type RawPair = unsafe fn(*mut u8, *mut u8, *mut u8, &Loop, usize);

/// Two fused nests. In a row loop, `src` is the stride of the halves and `dst` that of the interleaved side.
#[derive(Clone, Debug)]
pub struct Pair {
    raw: RawPair,
    /// Whether it interleaves two operands into one.
    pub zip: bool,
    n: usize,
    rows: Loop,
    outer: SmallVec<[Outer<2>; 4]>,
    starts: [isize; 3],
    spans: [(i128, i128); 3],
}

impl Pair {
    /// Fuses two nests if they are the even and the odd elements of one side; returns whether `y` has the even ones.
    pub fn new(x: &Nest, y: &Nest, same_src: bool, same_dst: bool, level: Level) -> Option<(Pair, bool)> {
        if x.bits != y.bits || x.bits[DST] != x.bits[SRC] || x.bits[SRC] < 8 || x.dims != y.dims {
            return None;
        }
        let unit = i64::from(x.bits[SRC] / 8);
        let (last, outer) = x.dims.split_last()?;
        let (src, dst) = (last.step[SRC], last.step[DST]);
        let zip = match (src / unit, dst / unit) {
            (1, 2) if same_dst => true,
            (2, 1) if same_src => false,
            _ => return None,
        };
        let (half, both) = if zip { (SRC, DST) } else { (DST, SRC) };
        let (even, odd) = (x.base[both], y.base[both]);
        if src % unit != 0 || dst % unit != 0 || even.abs_diff(odd) != unit as u64 {
            return None;
        }
        let swapped = odd < even;
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        let n = last.extent as usize;
        let raw = choose(zip, unit, n, level.clamped())?;
        let start = |nest: &Nest, side: usize| nest.base[side] as isize;
        let mut loops: SmallVec<[Loop; 4]> = outer
            .iter()
            .map(|d| Loop { n: d.extent as usize, src: d.step[half] as isize, dst: d.step[both] as isize })
            .collect();
        let rows = loops.pop().unwrap_or(ONCE);
        let pair = Pair {
            raw,
            zip,
            n,
            rows,
            outer: loops.iter().map(Loop::outer).collect(),
            starts: [start(x, half), start(y, half), start(x, both)],
            spans: [x.span(half), y.span(half), (x.span(both).0, y.span(both).1)],
        };
        Some((pair, swapped))
    }

    /// Runs both nests. The places are those of the even half, the odd half and the interleaved side.
    pub fn run<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], places: [Place; 3]) -> Result<(), OutOfBounds> {
        let [x, y, both] = places;
        let parts = parts(memories, [(x, !self.zip), (y, !self.zip), (both, self.zip)]).ok_or(OutOfBounds::NOWHERE)?;
        for (k, (_, len)) in parts.into_iter().enumerate() {
            OutOfBounds::check(self.spans[k], places[k].at, len)?;
        }
        let [x, y, both] =
            [0, 1, 2].map(|k: usize| parts[k].0.wrapping_add(places[k].at).wrapping_offset(self.starts[k]));
        // SAFETY: every operand's span was checked against its memory, and the pointers come from one borrow of each
        // memory that lasts until the end of this call, a mutable one where the kernel writes; the level was clamped to what the machine has.
        walk(&self.outer, [0, 0], &mut |at| unsafe {
            let [half, step] = at.map(|at| at as isize);
            (self.raw)(x.wrapping_offset(half), y.wrapping_offset(half), both.wrapping_offset(step), &self.rows, self.n)
        });
        Ok(())
    }
}

/// The starts and the lengths of the memories of some operands; with each operand, whether it is written. A memory is
/// borrowed once, since borrowing it again would end the pointer made from the first borrow. It is borrowed mutably
/// only if one of its operands is written: memory that other threads read is never borrowed mutably.
pub(super) fn parts<M: AsRef<[u8]> + AsMut<[u8]>, const N: usize>(
    memories: &mut [M],
    operands: [(Place, bool); N],
) -> Option<[(*mut u8, usize); N]> {
    let is_written = |id: usize| operands.iter().any(|(place, is_written)| *is_written && place.memory.index() == id);
    let part = |memory: &mut M, id: usize| start(memory, is_written(id));
    let first = operands.first()?.0.memory;
    if operands.iter().all(|(place, _)| place.memory == first) {
        return Some([part(memories.get_mut(first.index())?, first.index()); N]);
    }
    let mut found = [None; N];
    let used = |id: &usize| operands.iter().any(|(place, _)| place.memory.index() == *id);
    for (id, memory) in memories.iter_mut().enumerate().filter(|(id, _)| used(id)) {
        let part = part(memory, id);
        let same = found.iter_mut().zip(operands).filter(|(_, (place, _))| place.memory.index() == id);
        same.for_each(|(found, _)| *found = Some(part));
    }
    let mut parts = [(std::ptr::null_mut(), 0); N];
    for (part, found) in parts.iter_mut().zip(found) {
        *part = found?;
    }
    Some(parts)
}

/// The start of a memory, and its length. Nothing may be written through the pointer unless `is_written`.
pub(super) fn start<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &mut M, is_written: bool) -> (*mut u8, usize) {
    if is_written {
        let bytes = memory.as_mut();
        return (bytes.as_mut_ptr(), bytes.len());
    }
    let bytes = (*memory).as_ref();
    (bytes.as_ptr().cast_mut(), bytes.len())
}

#[cfg(target_arch = "x86_64")]
fn choose(zip: bool, unit: i64, n: usize, level: Level) -> Option<RawPair> {
    (level >= Level::Avx2).then(|| super::x86::pair(zip, unit, n, level))?
}

#[cfg(not(target_arch = "x86_64"))]
fn choose(_: bool, _: i64, _: usize, _: Level) -> Option<RawPair> {
    None
}
