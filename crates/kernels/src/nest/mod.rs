//! Nests: what every instruction over tiles comes down to.
//!
//! An instruction is an affine map between the (row, column) spaces of its tiles, and a layout splits each axis into
//! digits with a stride each. Lowering ([`lower`]) brings the digits of all operands together; what is left is a
//! **nest**: loops, each with an extent and one stride per operand, around what happens to one element. Everything that
//! moves data (and whatever travels along with it, such as definedness) works on nests and knows neither instructions nor
//! layouts.
//!
//! [`Fill`] is a nest without a source. A [`Plan`](crate::Plan) is a list of nests and fills with their kernels chosen.

mod fill;
mod fold;
mod lower;
mod offsets;
mod rows;
mod runs;

pub use fill::Fill;
pub use fold::fold;
pub use lower::{Operand, lower, lower_copy, lower_fill};
pub use rows::{Rows, fill as fill_rows};
pub use runs::Runs;
pub use runs::{read as read_bits, size_of_element, walk, whole_bytes, write as write_bits};

pub use tessera_isa::sem::Map;

use smallvec::SmallVec;

/// Operands of a nest at most: the written one, and up to three that are read.
pub const OPERANDS: usize = 4;

/// The operand of a nest that is written.
pub const DST: usize = 0;

/// The first operand that is read; the others follow.
pub const SRC: usize = 1;

/// One loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// The trip count.
    pub extent: u64,
    /// The stride of each operand: bytes, or nibbles if its elements have 4 bits.
    pub step: [i64; OPERANDS],
}

/// Loops around what happens to one element.
///
/// Offsets and strides count bytes from where the operand starts, except for an operand whose elements have 4 bits: there
/// they count nibbles, the even one being the low half of its byte (tile-model.md 3). A nest that copies moves the low
/// bits of an element where the destination is narrower (TPACK, ops.md 6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nest {
    /// Bits of an element of each operand: 4, 8, 16, 32 or 64, and 0 where there is no operand.
    pub bits: [u32; OPERANDS],
    /// The offset of each operand's first element.
    pub base: [i64; OPERANDS],
    /// The loops, by falling destination stride; empty for a single element.
    pub dims: SmallVec<[Dim; 8]>,
}

/// The nests of one step.
pub type Nests = SmallVec<[Nest; 4]>;

impl Nest {
    /// The number of operands.
    pub fn operands(&self) -> usize {
        self.bits.iter().take_while(|bits| **bits != 0).count()
    }

    /// The number of elements that the nest moves.
    pub fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |n, d| n.saturating_mul(d.extent))
    }

    /// The first and one past the last byte that one operand touches, relative to where it starts.
    pub fn span(&self, operand: usize) -> (i128, i128) {
        runs::span(self.base[operand], self.bits[operand], self.dims.iter().map(|d| (d.extent, d.step[operand])))
    }

    /// The contiguous byte runs of one operand, in rising order where the loops nest.
    pub fn runs(&self, operand: usize) -> Runs {
        let dims = self.dims.iter().map(|d| (d.extent, d.step[operand]));
        Runs::new(self.base[operand], self.bits[operand], dims)
    }

    /// Calls `f` with the offset of every operand's element, for every point in loop order.
    pub fn for_each_element(&self, mut f: impl FnMut([i64; OPERANDS])) {
        let outer: SmallVec<[(u64, [i64; OPERANDS]); 8]> = self.dims.iter().map(|d| (d.extent, d.step)).collect();
        runs::walk(&outer, self.base, &mut f);
    }

    /// Brings the loops into normal form: no loop of extent 1, falling destination stride, nothing left to merge.
    pub fn normalise(&mut self) {
        self.dims.retain(|d| d.extent != 1);
        self.dims.sort_by_key(|d| std::cmp::Reverse(d.step.map(i64::unsigned_abs)));
        let mut merged: SmallVec<[Dim; 8]> = SmallVec::new();
        for d in self.dims.drain(..) {
            if let Some(o) = merged.last_mut() {
                let spans = |(outer, inner): (&i64, i64)| Some(*outer) == inner.checked_mul(d.extent as i64);
                if o.step.iter().zip(d.step).all(spans) {
                    *o = Dim { extent: o.extent.saturating_mul(d.extent), ..d };
                    continue;
                }
            }
            merged.push(d);
        }
        self.dims = merged;
    }

    /// The same nest over whole bytes, where the nibbles of its two operands come in aligned pairs.
    fn in_bytes(&self) -> Option<Nest> {
        let (last, outer) = self.dims.split_last()?;
        let even = |x: &i64| x % 2 == 0;
        let pairs = last.step == [1, 1, 0, 0] && last.extent % 2 == 0;
        if !pairs || !self.base.iter().all(even) || !outer.iter().all(|d| d.step.iter().all(even)) {
            return None;
        }
        let halved = |d: &Dim| Dim { extent: d.extent, step: d.step.map(|s| s / 2) };
        let mut dims: SmallVec<[Dim; 8]> = outer.iter().map(halved).collect();
        dims.push(Dim { extent: last.extent / 2, ..*last });
        let mut nest = Nest { bits: [8, 8, 0, 0], base: self.base.map(|b| b / 2), dims };
        nest.normalise();
        Some(nest)
    }
}

/// A nest reaches outside the bytes it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutOfBounds {
    pub first: i128,
    /// One past the last byte touched.
    pub end: i128,
    /// The number of bytes in the memory.
    pub len: usize,
}

impl OutOfBounds {
    /// An operand that has no place.
    pub const NOWHERE: OutOfBounds = OutOfBounds { first: 0, end: 0, len: 0 };

    /// Checks that the span, moved by `at`, is inside `len` bytes.
    #[inline(always)]
    pub fn check(span: (i128, i128), at: usize, len: usize) -> Result<(), OutOfBounds> {
        // Neither difference can overflow, as a sum with the span's ends might.
        let (at, room) = (at as i128, len as i128 - at as i128);
        if span.0 >= span.1 || (span.0 >= -at && span.1 <= room) {
            Ok(())
        } else {
            Err(OutOfBounds { first: span.0.saturating_add(at), end: span.1.saturating_add(at), len })
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
