//! Products of f32 whose factors and sums lie in runs, as in boxes: the left factor is read and the sums are written
//! where they lie, the right factor comes as panels of columns. The safe twin is [`contract`](super::contract).

use super::contract::{COLS, ROWS};
use super::packed_operand::{PackedOperand, Tile};
use super::pair::parts;
use super::row_slice::Side;
use crate::Place;
use crate::memory::AlignedBytes;
use crate::nest::OutOfBounds;
use crate::nest::{Dim, Map, Nest, SRC};
use crate::{Kernel, Level};
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;
use tessera_isa::elem::Elem;
use tessera_isa::layout::{Axis, Layout};

/// Bytes of an element.
const SIZE: usize = 4;

/// The length of a vector of sums, in elements: contiguous runs are at least as long.
pub(super) const RUN: usize = 16;

/// Rows that lie in runs, in elements: rows are `row` apart, runs of `len` elements `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub row: usize,
    pub len: usize,
    pub step: usize,
}

impl Rows {
    fn new(layout: &Layout) -> Option<Rows> {
        let [row] = layout.row.digits.as_slice() else { return None };
        let (len, step) = match layout.col.digits.as_slice() {
            [run] if run.stride == 1 => (usize::MAX, 0),
            [outer, run] if run.stride == 1 && run.extent > 0 => {
                (usize::try_from(run.extent).ok()?, usize::try_from(outer.stride).ok()?)
            }
            _ => return None,
        };
        Some(Rows { row: usize::try_from(row.stride).ok()?, len, step })
    }

    /// Rows that lie like this, from the bytes of each element: those of the first row, then those of the next.
    fn of_offsets(offsets: &[i64], columns: usize) -> Option<Rows> {
        let unit = |n: usize| {
            let by = usize::try_from(offsets.get(n)?.checked_sub(*offsets.first()?)?).ok()?;
            by.is_multiple_of(SIZE).then_some(by / SIZE)
        };
        let row = unit(columns)?;
        let len = (0..columns).take_while(|n| unit(*n) == Some(*n)).count();
        let rows = match len == columns {
            true => Rows { row, len: usize::MAX, step: 0 },
            false => Rows { row, len, step: unit(len)? },
        };
        let is_so = |n: usize| unit(n) == Some(rows.at(n / columns, n % columns));
        (len > 0 && (0..offsets.len()).all(is_so)).then_some(rows)
    }

    /// The byte offsets of the elements of this number of rows and columns.
    fn offsets(&self, rows: usize, columns: usize) -> Vec<i64> {
        (0..rows * columns).map(|n| (self.at(n / columns, n % columns) * SIZE) as i64).collect()
    }

    /// Whether each vector of sums is contiguous.
    fn has_vectors(&self) -> bool {
        self.len == usize::MAX || self.len.is_multiple_of(RUN)
    }

    /// The offset of an element, in elements.
    fn at(&self, row: usize, column: usize) -> usize {
        row * self.row + column / self.len * self.step + column % self.len
    }

    /// The number of bytes up to the end of the last of these rows and columns, of which there is at least one each.
    fn bytes(&self, rows: usize, columns: usize) -> usize {
        // The last run may be shorter than the one before.
        let whole = columns / self.len * self.len;
        let last = self.at(rows - 1, columns - 1).max(if whole > 0 { self.at(rows - 1, whole - 1) } else { 0 });
        (last + 1) * SIZE
    }
}

/// A block of `ROWS` times `COLS` sums: the left factor's first row and how it lies, how many k, a panel, the two halves
/// of what the sums start as, if anything, those of the sums, and how far their rows are apart.
///
/// Safety: all of them are readable, the sums writable, and the machine has the instructions.
pub(super) type RawBlock =
    unsafe fn((*const f32, Rows), usize, *const f32, Option<[*const f32; 2]>, [*mut f32; 2], usize);

/// A compiled product.
#[derive(Clone, Debug)]
pub struct Product {
    raw: RawBlock,
    extent: [usize; 3],
    /// Operand and rows of the left factor, and of the sums.
    left: (u8, Rows),
    sums: (u8, Rows),
    /// The operand that the sums start as; it lies as they do.
    start: Option<u8>,
    /// The right factor: panels of `COLS` columns, a row for each k.
    right: PackedOperand,
}

/// The sides of a product, as [`Product::sides`] lists them.
pub const SUMS: usize = 0;
pub const LEFT: usize = 1;
pub const RIGHT: usize = 2;

impl Product {
    pub(super) fn new(
        [m, n, k]: [u64; 3],
        (dst, map): (Tile<'_>, Map<3>),
        [a, b]: [(Tile<'_>, Map<3>); 2],
        start: Option<(Tile<'_>, Map<3>)>,
    ) -> Option<Product> {
        let raw = choose()?;
        let is_f32 = [dst.2, a.0.2, b.0.2] == [Elem::F32; 3];
        let at = |step| Map { origin: [0, 0], step };
        let is_plain = map == at([[1, 0, 0], [0, 1, 0]])
            && a.1 == at([[1, 0, 0], [0, 0, 1]])
            && b.1 == at([[0, 0, 1], [0, 1, 0]])
            && start.is_none_or(|(tile, place)| place == map && tile.1 == dst.1);
        let is_whole = m > 0 && k > 0 && n > 0 && m.is_multiple_of(ROWS as u64) && n.is_multiple_of(COLS as u64);
        if !is_f32 || !is_plain || !is_whole {
            return None;
        }
        let (left, sums) = (Rows::new(a.0.1)?, Rows::new(dst.1)?);
        let columns = COLS as u64;
        let panels = Layout {
            row: Axis::linear(k, COLS as i64),
            col: Axis::boxed(n, columns, i64::try_from(k.checked_mul(columns)?).ok()?, 1),
        };
        let extent = [m, n, k].map(|n| n as usize);
        sums.has_vectors().then(|| Product {
            raw,
            extent,
            left: (a.0.0, left),
            sums: (dst.0, sums),
            start: start.map(|(tile, _)| tile.0),
            right: PackedOperand::in_layout(b.0, b.1, [1, n, k], (b.1, &panels), true),
        })
    }

    /// Its operands, by number of the side; the last one, the initial sums, may be missing.
    pub(super) fn sides(&self) -> Option<SmallVec<[Side; 4]>> {
        let [m, n, k] = self.extent;
        let rows = |(operand, rows): (u8, Rows), columns: usize| {
            Some(Side { operand, span: (0, i64::try_from(rows.bytes(m, columns)).ok()?), step: 0 })
        };
        let ends = self.right.nests.iter().map(|nest| nest.span(SRC));
        let (first, end) = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))?;
        let span = (i64::try_from(first).ok()?, i64::try_from(end).ok()?);
        let right = Side { operand: self.right.operand, span, step: 0 };
        let mut sides = SmallVec::from_iter([rows(self.sums, n)?, rows(self.left, k)?, right]);
        if let Some(start) = self.start {
            sides.push(rows((start, self.sums.1), n)?);
        }
        Some(sides)
    }

    /// The byte offsets of a side's elements: sums and left factor row by row, the right one panel by panel.
    pub fn offsets(&self, side: usize) -> Vec<i64> {
        let [m, n, k] = self.extent;
        match side {
            SUMS => self.sums.1.offsets(m, n),
            LEFT => self.left.1.offsets(m, k),
            _ => self.right.offsets(true),
        }
    }

    /// The same product with a side whose elements lie elsewhere, where it can be computed as well: `offsets` are as those of
    /// [`Product::offsets`], the first of them is 0.
    pub fn moved(&self, side: usize, offsets: &[i64]) -> Option<Product> {
        let [_, n, k] = self.extent;
        let mut product = self.clone();
        match side {
            SUMS => {
                product.sums.1 = Rows::of_offsets(offsets, n)?;
                (self.start.is_none() && product.sums.1.has_vectors()).then_some(product)
            }
            LEFT => {
                product.left.1 = Rows::of_offsets(offsets, k)?;
                (product.left.1.len >= SHORTEST).then_some(product)
            }
            _ => {
                let mut nest = Nest::of_offsets(u32::BITS, offsets)?;
                let is_in_runs = |dim: &Dim| dim.step[SRC] == SIZE as i64 && dim.extent >= SHORTEST as u64;
                let is_quick = nest.dims.iter().any(is_in_runs);
                // Rows are copied as they lie; the order of others is the kernel's affair.
                if let Some((run, outer)) = nest.dims.split_last_mut()
                    && is_in_runs(run)
                {
                    outer.sort_by_key(|dim| std::cmp::Reverse(dim.step[SRC]));
                }
                let kernel = Kernel::new(&nest, Level::best());
                let is_quick = is_quick && kernel.is_raw();
                product.right.kernels = SmallVec::from_iter([kernel]);
                product.right.nests = SmallVec::from_iter([nest]);
                (product.right.dense, product.right.rows) = (None, None);
                is_quick.then_some(product)
            }
        }
    }

    /// Whether it can be computed with operands at these places. The sums are written while the left factor and the
    /// initial sums are read, and the right factor is packed by raw kernels.
    pub fn is_possible(&self, places: &[Place]) -> bool {
        let Some(sides) = self.sides() else { return false };
        let bytes = |side: usize| {
            let side = sides.get(side)?;
            let place = places.get(usize::from(side.operand))?;
            Some((*place, place.at..place.at.saturating_add(usize::try_from(side.span.1).ok()?)))
        };
        let Some((sums, to)) = bytes(SUMS) else { return false };
        let is_apart = |(at, bytes): &(Place, Range<usize>)| {
            at.memory != sums.memory || bytes.end <= to.start || to.end <= bytes.start
        };
        let starts_apart = bytes(START).is_none_or(|start| start.0 == sums || is_apart(&start));
        bytes(LEFT).is_some_and(|left| is_apart(&left)) && starts_apart && self.right.kernels.iter().all(Kernel::is_raw)
    }

    /// Computes; `None`, with nothing written, where that is not [possible](Product::is_possible).
    pub(super) fn run<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Option<()> {
        if !self.is_possible(places) {
            return None;
        }
        let sides = self.sides()?;
        let place = |side: usize| places.get(usize::from(sides.get(side)?.operand)).copied();
        let (sums, left, right) = (place(SUMS)?, place(LEFT)?, place(RIGHT)?);
        let start = place(START).unwrap_or(sums);
        let all = [sums, left, right, start];
        let parts = parts(memories, [(sums, true), (left, false), (right, false), (start, false)])?;
        for (side, (place, (_, len))) in sides.iter().zip(all.iter().zip(parts)) {
            let span = (i128::from(side.span.0), i128::from(side.span.1));
            OutOfBounds::check(span, place.at, len).ok()?;
        }
        let at = [0, 1, 2, 3].map(|n: usize| parts[n].0.wrapping_add(all[n].at));
        // SAFETY: all sides lie inside their memories, which are borrowed for this call; the sums are apart from the others but
        // the right factor, which is packed before anything is written, or start as they are.
        unsafe { self.compute(at) };
        Some(())
    }

    /// Packs the right factor, and computes; the sides start at these places.
    ///
    /// Safety: all sides are readable, the sums writable and apart from the left factor, the kernels of the right
    /// factor are raw, and nothing else accesses the memories.
    unsafe fn compute(&self, [sums, left, right, start]: [*mut u8; 4]) {
        let Product { raw, extent: [m, n, k], left: (_, rows), sums: (_, lie), .. } = self;
        // Rows that share sets of the first-level cache are copied, a few at a time.
        let is_crowded = (rows.row * SIZE).is_multiple_of(CROWDED) && rows.len == usize::MAX;
        let together = (TOGETHER / (k * SIZE)).next_multiple_of(ROWS).max(ROWS);
        let pitch = k.next_multiple_of(RUN) + RUN;
        let packed = self.right.bytes().next_multiple_of(RUN * SIZE);
        let mut buffer = BUFFER.take();
        let len = packed + if is_crowded { together * pitch * SIZE } else { 0 };
        if buffer.len() < len {
            buffer = AlignedBytes::zeroed(len);
        }
        let panels = buffer.as_mut_ptr();
        for kernel in &self.right.kernels {
            // SAFETY: the right factor is readable, and the buffer has room for all of its panels.
            unsafe { kernel.run_at(right, panels) };
        }
        let (left, sums, start) = (left.cast::<f32>().cast_const(), sums.cast::<f32>(), start.cast::<f32>());
        for first in (0..*m).step_by(together) {
            let end = (first + together).min(*m);
            let mut some = (left.wrapping_add(first * rows.row), *rows);
            if is_crowded {
                let dense = panels.wrapping_add(packed).cast::<f32>();
                for row in 0..end - first {
                    let from = some.0.wrapping_add(row * rows.row);
                    // SAFETY: a row of the left factor is contiguous, and the buffer has room for `together` rows of it.
                    unsafe { std::ptr::copy_nonoverlapping(from, dense.wrapping_add(row * pitch), *k) };
                }
                some = (dense.cast_const(), Rows { row: pitch, ..*rows });
            }
            for j in (0..*n).step_by(COLS) {
                let panel = panels.wrapping_add(j * k * SIZE).cast::<f32>().cast_const();
                for i in (first..end).step_by(ROWS) {
                    let halves = [lie.at(i, j), lie.at(i, j + RUN)];
                    let from = self.start.map(|_| halves.map(|half| start.wrapping_add(half).cast_const()));
                    let a = some.0.wrapping_add((i - first) * some.1.row);
                    // SAFETY: every block lies inside the operands, and the machine's support was checked.
                    unsafe { raw((a, some.1), *k, panel, from, halves.map(|half| sums.wrapping_add(half)), lie.row) };
                }
            }
        }
        BUFFER.set(buffer);
    }
}

/// Shorter runs are not worth reading where they lie.
const SHORTEST: usize = 8;

/// Rows this number of bytes apart, or a multiple of it, share sets of the first-level cache.
const CROWDED: usize = 2048;

/// Bytes of the left factor that meet all panels before the next ones: they stay in the first-level cache beside a panel.
const TOGETHER: usize = 16 << 10;

/// The side with the initial sums.
const START: usize = 3;

thread_local! {
    /// The buffer for the panels of the right factor and rows of the left one, kept for the next product.
    static BUFFER: Cell<AlignedBytes> = Cell::default();
}

#[cfg(target_arch = "x86_64")]
fn choose() -> Option<RawBlock> {
    super::x86::product(super::Level::best())
}

#[cfg(not(target_arch = "x86_64"))]
fn choose() -> Option<RawBlock> {
    None
}
