//! Nests: what every layout instruction comes down to.
//!
//! An instruction is an affine map between the (row, column) spaces of two tiles, and a layout splits each axis into
//! digits with a stride each. Lowering ([`lower`]) brings the digits of both sides together; what is left is a **nest**:
//! loops, each with an extent and one stride per side, around the move of one element. Everything that moves data (and
//! whatever travels along with it, such as definedness) works on nests and knows neither instructions nor layouts.
//!
//! [`Fill`] is a nest without a source, [`Plan`] a list of nests and fills with their kernels chosen, ready to be run
//! again and again.

mod fill;
mod fold;
mod lower;
mod plan;
mod runs;

pub use fill::Fill;
pub use fold::fold;
pub use lower::{DomainAxis, lower, lower_axes, lower_fill, lower_fill_axes, lower_with_params};
pub use plan::{Place, Plan, Step};
pub use runs::{Runs, Side};
pub(crate) use runs::{read as read_bits, write as write_bits};

use smallvec::SmallVec;

/// An affine map from the domain of a move to the rows and columns of one tile.
///
/// `(i, j)` goes to `r = origin[0] + step[0][0]·i + step[0][1]·j` and `c = origin[1] + step[1][0]·i + step[1][1]·j`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    /// Where `(0, 0)` goes.
    pub origin: [u64; 2],
    /// How far row and column move with `i` and `j`.
    pub step: [[u64; 2]; 2],
}

impl Map {
    /// `(i, j)` is element `(r + i, c + j)`.
    pub const fn window(r: u64, c: u64) -> Self {
        Map { origin: [r, c], step: [[1, 0], [0, 1]] }
    }

    /// `(i, j)` is element `(j, i)`.
    pub const TRANSPOSED: Map = Map { origin: [0, 0], step: [[0, 1], [1, 0]] };

    /// `(i, j)` is element `(i, j)`.
    pub const IDENTITY: Map = Map::window(0, 0);
}

/// One move: `dst(dst map of (i, j)) = src(src map of (i, j))` for every `i < rows`, `j < cols`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Extent of `i`.
    pub rows: u64,
    /// Extent of `j`.
    pub cols: u64,
    /// Where the elements come from.
    pub src: Map,
    /// Where they go.
    pub dst: Map,
}

/// How wide the elements of the two sides are: 4, 8, 16, 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    /// Bits of a source element.
    pub src: u32,
    /// Bits of a destination element.
    pub dst: u32,
}

impl Bits {
    /// The same width on both sides.
    pub const fn same(bits: u32) -> Self {
        Bits { src: bits, dst: bits }
    }
}

/// One loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// How often the loop runs.
    pub extent: u64,
    /// How far the source moves: bytes, or nibbles where source elements have 4 bits.
    pub src: i64,
    /// How far the destination moves, likewise.
    pub dst: i64,
    /// How far the parameter index of a conversion moves; 0 in a nest without parameters.
    pub param: i64,
}

/// Loops around the move of one element.
///
/// Offsets and strides count bytes from where the operand starts, except on a side whose elements have 4 bits: there
/// they count nibbles, the even one being the low half of its byte (tile-model.md 3). A nest that copies moves the low
/// bits of an element where the destination is narrower (TPACK, ops.md 6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nest {
    /// Widths of the elements.
    pub bits: Bits,
    /// Offset of the first source element.
    pub src: i64,
    /// Offset of the first destination element.
    pub dst: i64,
    /// Parameter index of the first element; 0 in a nest without parameters.
    pub param: i64,
    /// The loops, by falling destination stride; empty for a single element.
    pub dims: SmallVec<[Dim; 8]>,
}

impl Nest {
    /// How many elements the nest moves.
    pub fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |n, d| n.saturating_mul(d.extent))
    }

    /// The first and one past the last byte that one side touches, relative to where the operand starts.
    pub fn span(&self, side: Side) -> (i128, i128) {
        runs::span(self.base(side), self.bits(side), self.dims.iter().map(|d| (d.extent, side.stride(d))))
    }

    /// The first and one past the last parameter index of the nest.
    pub(crate) fn param_span(&self) -> (i128, i128) {
        runs::span(self.param, 8, self.dims.iter().map(|d| (d.extent, d.param)))
    }

    /// The contiguous byte runs of one side, in rising order where the loops nest.
    pub fn runs(&self, side: Side) -> Runs {
        Runs::new(self.base(side), self.bits(side), self.dims.iter().map(|d| (d.extent, side.stride(d))))
    }

    /// Calls `f(first byte, length)` for every contiguous byte run of one side.
    pub fn for_each_run(&self, side: Side, f: impl FnMut(i64, u64)) {
        self.runs(side).for_each(f);
    }

    /// Calls `f(source offset, destination offset, parameter index)` for every element, in loop order.
    pub fn for_each_element(&self, mut f: impl FnMut(i64, i64, i64)) {
        let outer: SmallVec<[(u64, [i64; 3]); 8]> =
            self.dims.iter().map(|d| (d.extent, [d.src, d.dst, d.param])).collect();
        runs::walk(&outer, [self.src, self.dst, self.param], &mut |[s, d, p]| f(s, d, p));
    }

    /// Writes `convert(source bits, parameter index)` to every destination element: the slow path for conversions that
    /// have no kernel, and the scalar twin of those that have one.
    pub fn convert_with(
        &self,
        src: &[u8],
        dst: &mut [u8],
        mut convert: impl FnMut(u64, i64) -> u64,
    ) -> Result<(), OutOfBounds> {
        OutOfBounds::check(self.span(Side::Source), 0, src.len())?;
        OutOfBounds::check(self.span(Side::Destination), 0, dst.len())?;
        let bits = self.bits;
        self.for_each_element(|s, d, p| {
            let value = read_bits(src, s, bits.src);
            write_bits(dst, d, bits.dst, convert(value, p));
        });
        Ok(())
    }

    /// Copies every element from `src` to `dst`. To run a nest more than once, make a [`Plan`] of it.
    pub fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<(), OutOfBounds> {
        crate::kernels::Kernel::new(self, crate::kernels::Level::best()).run((src, 0), (dst, 0))
    }

    /// Copies every element where both sides lie in `memory`, the source from byte `src` on, the destination from
    /// byte `dst` on. They may interleave; no byte that is written may be read for another element (ops.md 1, 4).
    pub fn run_within(&self, memory: &mut [u8], src: usize, dst: usize) -> Result<(), OutOfBounds> {
        crate::kernels::Kernel::new(self, crate::kernels::Level::best()).run_within(memory, src, dst)
    }

    fn base(&self, side: Side) -> i64 {
        match side {
            Side::Source => self.src,
            Side::Destination => self.dst,
        }
    }

    fn bits(&self, side: Side) -> u32 {
        match side {
            Side::Source => self.bits.src,
            Side::Destination => self.bits.dst,
        }
    }

    /// Brings the loops into normal form: no loop of extent 1, falling destination stride, nothing left to merge.
    pub(crate) fn normalise(&mut self) {
        self.dims.retain(|d| d.extent != 1);
        self.dims.sort_by_key(|d| std::cmp::Reverse((d.dst.unsigned_abs(), d.src.unsigned_abs())));
        let mut merged: SmallVec<[Dim; 8]> = SmallVec::new();
        for d in self.dims.drain(..) {
            if let Some(o) = merged.last_mut() {
                let spans = |outer: i64, inner: i64| Some(outer) == inner.checked_mul(d.extent as i64);
                if spans(o.src, d.src) && spans(o.dst, d.dst) && spans(o.param, d.param) {
                    *o = Dim { extent: o.extent.saturating_mul(d.extent), ..d };
                    continue;
                }
            }
            merged.push(d);
        }
        self.dims = merged;
    }

    /// The same nest over whole bytes, where the nibbles of both sides come in aligned pairs.
    fn in_bytes(&self) -> Option<Nest> {
        let (last, outer) = self.dims.split_last()?;
        let even = |x: i64| x % 2 == 0;
        let pairs = (last.src, last.dst, last.param) == (1, 1, 0) && last.extent % 2 == 0;
        if !pairs || !even(self.src) || !even(self.dst) || !outer.iter().all(|d| even(d.src) && even(d.dst)) {
            return None;
        }
        let mut dims: SmallVec<[Dim; 8]> = outer.iter().map(|d| Dim { src: d.src / 2, dst: d.dst / 2, ..*d }).collect();
        dims.push(Dim { extent: last.extent / 2, ..*last });
        let mut nest = Nest { bits: Bits::same(8), src: self.src / 2, dst: self.dst / 2, param: self.param, dims };
        nest.normalise();
        Some(nest)
    }
}

/// A nest reaches outside the bytes it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutOfBounds {
    /// The first byte touched.
    pub first: i128,
    /// One past the last byte touched.
    pub end: i128,
    /// How many bytes there are.
    pub len: usize,
}

impl OutOfBounds {
    /// Does the span, moved by `at`, lie in `len` bytes?
    #[inline]
    pub(crate) fn check(span: (i128, i128), at: usize, len: usize) -> Result<(), OutOfBounds> {
        let (first, end) = (span.0.saturating_add(at as i128), span.1.saturating_add(at as i128));
        if span.0 >= span.1 || (first >= 0 && end <= len as i128) {
            Ok(())
        } else {
            Err(OutOfBounds { first, end, len })
        }
    }
}

impl std::fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OutOfBounds { first, end, len } = self;
        write!(
            f,
            "the move touches bytes {first} to {end} of a memory of {len} bytes; give the operand a place inside it"
        )
    }
}

impl std::error::Error for OutOfBounds {}
