//! Products of f32 whose factors and sums lie in runs, as in boxes: the left factor is read and the sums are written
//! where they lie, the right factor comes as panels of columns. The safe twin is [`contract`](super::contract).

use super::AlignedBytes;
use super::contract::{COLS, ROWS};
use super::pair::parts;
use super::stage::{Stage, Tile};
use crate::nest::{Map, Place};
use std::cell::Cell;
use tessera_isa::elem::Elem;
use tessera_isa::layout::{Axis, Layout};

/// Bytes of an element.
const SIZE: usize = 4;

/// A vector of sums, in elements: what lies side by side has at least so many.
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

    /// Where an element lies.
    fn at(&self, row: usize, column: usize) -> usize {
        row * self.row + column / self.len * self.step + column % self.len
    }

    /// Bytes up to the last of so many rows and columns, which are at least one.
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

/// Such a product, made ready.
#[derive(Clone, Debug)]
pub(super) struct Product {
    raw: RawBlock,
    extent: [usize; 3],
    /// Operand and rows of the left factor, and of the sums.
    left: (u8, Rows),
    sums: (u8, Rows),
    /// The operand that the sums start as; it lies as they do.
    start: Option<u8>,
    /// The right factor: panels of `COLS` columns, a row for each k.
    right: Stage,
}

impl Product {
    pub fn new(
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
        (sums.len == usize::MAX || sums.len.is_multiple_of(RUN)).then(|| Product {
            raw,
            extent,
            left: (a.0.0, left),
            sums: (dst.0, sums),
            start: start.map(|(tile, _)| tile.0),
            right: Stage::in_layout(b.0, b.1, [1, n, k], (b.1, &panels), true),
        })
    }

    /// Computes; `None`, with nothing written, where operands are not apart.
    pub fn run<M: AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Option<()> {
        let [m, n, k] = self.extent;
        let place = |operand: u8| places.get(usize::from(operand)).copied();
        let (left, sums, right) = (place(self.left.0)?, place(self.sums.0)?, place(self.right.operand)?);
        let start = place(self.start.unwrap_or(self.sums.0))?;
        let left_bytes = left.at..left.at.checked_add(self.left.1.bytes(m, k))?;
        let len = self.sums.1.bytes(m, n);
        let (to_bytes, start_bytes) = (sums.at..sums.at.checked_add(len)?, start.at..start.at.checked_add(len)?);
        let is_apart = |at: Place, bytes: &std::ops::Range<usize>| {
            at.memory != sums.memory || bytes.end <= to_bytes.start || to_bytes.end <= bytes.start
        };
        if !is_apart(left, &left_bytes) || (start != sums && !is_apart(start, &start_bytes)) {
            return None;
        }
        let mut panels = PANELS.take();
        if panels.len() < self.right.bytes() {
            panels = AlignedBytes::zeroed(self.right.bytes());
        }
        self.right.copy_to(memories.get_mut(right.memory.index())?.as_mut(), right.at, &mut panels).ok()?;
        let parts = parts(memories, [left, start, sums].map(|place| place.memory.index()))?;
        let ends = [left_bytes.end, start_bytes.end, to_bytes.end];
        if parts.iter().zip(ends).any(|((_, len), end)| end > *len) {
            return None;
        }
        let [a, from, to] = [(parts[0], left), (parts[1], start), (parts[2], sums)]
            .map(|((first, _), place)| first.wrapping_add(place.at).cast::<f32>());
        for j in (0..n).step_by(COLS) {
            let panel = panels.as_ptr().wrapping_add(j * k * SIZE).cast::<f32>();
            for i in (0..m).step_by(ROWS) {
                let halves = [self.sums.1.at(i, j), self.sums.1.at(i, j + RUN)];
                let from = self.start.map(|_| halves.map(|half| from.wrapping_add(half).cast_const()));
                let a = a.wrapping_add(i * self.left.1.row).cast_const();
                // SAFETY: every block lies inside the operands, whose ends were compared with their memories; these are
                // borrowed for this call, the sums are apart from the factors, and the machine was asked.
                unsafe {
                    (self.raw)(
                        (a, self.left.1),
                        k,
                        panel,
                        from,
                        halves.map(|half| to.wrapping_add(half)),
                        self.sums.1.row,
                    );
                }
            }
        }
        PANELS.set(panels);
        Some(())
    }
}

thread_local! {
    /// Where the right factor's panels lie, kept for the next product.
    static PANELS: Cell<AlignedBytes> = Cell::default();
}

#[cfg(target_arch = "x86_64")]
fn choose() -> Option<RawBlock> {
    super::x86::product(super::Level::best())
}

#[cfg(not(target_arch = "x86_64"))]
fn choose() -> Option<RawBlock> {
    None
}
