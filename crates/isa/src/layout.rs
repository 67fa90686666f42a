//! Layouts as values: a function from (row, column) to an element offset, made of axis digits.
//!
//! A layout splits each axis into digits, outermost first. A digit has an extent and a stride; the offset of an element
//! is the sum of `digit value × stride` over the digits of both axes. ND is one digit per axis; a boxed layout has an
//! outer digit (which box) and an inner digit (where in the box); a five-dimensional view of global memory has up to
//! four digits on one axis. Nothing else about a layout matters to those who move data, so nothing else is here.

use smallvec::SmallVec;

/// One digit of an axis: `extent` values, `stride` elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    /// The number of values of the digit. The outermost digit may be cut short by the axis length.
    pub extent: u64,
    /// Elements between two neighbouring values.
    pub stride: i64,
}

/// One axis of a layout: its length and its digits, outermost first.
///
/// The product of the digits' extents is at least the length: NZ with 33 rows has boxes of 16 rows, three of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// The number of indices of the axis.
    pub len: u64,
    /// The digits, outermost first; never empty.
    pub digits: SmallVec<[Digit; 4]>,
}

impl Axis {
    /// Indices that one value of the outermost digit holds.
    fn inner(digits: &[Digit]) -> u64 {
        digits.iter().skip(1).fold(1u64, |n, d| n.saturating_mul(d.extent)).max(1)
    }

    /// An axis of one digit: index `i` lies at `i · stride`.
    pub fn linear(len: u64, stride: i64) -> Self {
        Axis { len, digits: SmallVec::from_slice(&[Digit { extent: len, stride }]) }
    }

    /// An axis of boxes: index `i` lies at `(i / inner) · outer_stride + (i % inner) · inner_stride`.
    pub fn boxed(len: u64, inner: u64, outer_stride: i64, inner_stride: i64) -> Self {
        if inner <= 1 {
            return Axis::linear(len, outer_stride);
        }
        if outer_stride == inner_stride.saturating_mul(inner as i64) {
            return Axis::linear(len, inner_stride);
        }
        let outer = Digit { extent: len.div_ceil(inner), stride: outer_stride };
        Axis { len, digits: SmallVec::from_slice(&[outer, Digit { extent: inner, stride: inner_stride }]) }
    }

    /// An axis of several digits, outermost first, as a strided view has; the length is the product of the extents.
    pub fn from_digits(digits: &[Digit]) -> Self {
        let len = digits.iter().fold(1u64, |n, d| n.saturating_mul(d.extent));
        let digits = if digits.is_empty() { &[Digit { extent: 1, stride: 0 }] } else { digits };
        Axis { len, digits: SmallVec::from_slice(digits) }
    }

    /// The offset that index `i` contributes.
    #[inline]
    pub fn offset(&self, i: u64) -> i64 {
        let mut rest = i;
        let mut sum = 0i64;
        let mut digits = self.digits.iter().rev().peekable();
        while let Some(d) = digits.next() {
            // The outermost digit takes all that is left, so that a cut-short last box needs no special case.
            let v = if digits.peek().is_none() || d.extent == 0 {
                std::mem::take(&mut rest)
            } else {
                let v = rest % d.extent;
                rest /= d.extent;
                v
            };
            sum = sum.wrapping_add((v as i64).wrapping_mul(d.stride));
        }
        sum
    }
}

/// The least and the greatest offset of the first `len` indices of some digits, of which there is at least one.
fn reach(digits: &[Digit], len: u64) -> (i128, i128) {
    let [first, rest @ ..] = digits else { return (0, 0) };
    let inner = Axis::inner(digits);
    let last = (len - 1) / inner;
    let at = |value: u64| i128::from(value).saturating_mul(i128::from(first.stride));
    let (low, high) = reach(rest, len - last * inner);
    let (mut low, mut high) = (low.saturating_add(at(last)), high.saturating_add(at(last)));
    if last > 0 {
        let (full_low, full_high) = reach(rest, inner);
        low = low.min(full_low.saturating_add(at(last - 1).min(0)));
        high = high.max(full_high.saturating_add(at(last - 1).max(0)));
    }
    (low, high)
}

/// A layout: two axes. Offsets are in elements; a tile's first element has offset 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    pub row: Axis,
    pub col: Axis,
}

impl Layout {
    /// Row-major with the given pitch (ND, and views of it).
    pub fn row_major(rows: u64, cols: u64, pitch: u64) -> Self {
        Layout { row: Axis::linear(rows, pitch as i64), col: Axis::linear(cols, 1) }
    }

    /// Column-major with the given pitch (DN, and views of it).
    pub fn col_major(rows: u64, cols: u64, pitch: u64) -> Self {
        Layout { row: Axis::linear(rows, 1), col: Axis::linear(cols, pitch as i64) }
    }

    /// Rows of the layout.
    pub fn rows(&self) -> u64 {
        self.row.len
    }

    /// Columns of the layout.
    pub fn cols(&self) -> u64 {
        self.col.len
    }

    /// The element offset of `(r, c)`.
    #[inline]
    pub fn offset(&self, r: u64, c: u64) -> i64 {
        self.row.offset(r).wrapping_add(self.col.offset(c))
    }

    /// The element that lies at `offset`, where there is one: the inverse of [`Layout::offset`].
    ///
    /// Takes the digits by falling stride, which is exact for every layout whose digits nest (all tile layouts do).
    pub fn inverse(&self, offset: i64) -> Option<(u64, u64)> {
        // (stride, extent, weight of the digit in its axis, is it a row digit)
        let mut digits: SmallVec<[(i64, u64, u64, bool); 8]> = SmallVec::new();
        for (axis, is_row) in [(&self.row, true), (&self.col, false)] {
            let mut weight = 1u64;
            for d in axis.digits.iter().rev() {
                if d.extent > 1 {
                    digits.push((d.stride, d.extent, weight, is_row));
                }
                weight = weight.saturating_mul(d.extent);
            }
        }
        digits.sort_by_key(|d| std::cmp::Reverse(d.0));
        let (mut rest, mut r, mut c) = (offset, 0u64, 0u64);
        for (stride, extent, weight, is_row) in digits {
            if stride <= 0 {
                return None;
            }
            let v = ((rest / stride).max(0) as u64).min(extent - 1);
            rest -= v as i64 * stride;
            *(if is_row { &mut r } else { &mut c }) += v * weight;
        }
        (rest == 0 && r < self.rows() && c < self.cols() && self.offset(r, c) == offset).then_some((r, c))
    }

    /// One past the largest offset: how many elements the layout spans.
    pub fn footprint(&self) -> u64 {
        if self.rows() == 0 || self.cols() == 0 {
            return 0;
        }
        // Offsets grow with every digit, and the last index of an axis is not always the one with the largest offset
        // (a cut-short last box), so the maximum of an axis is taken over its last two boxes.
        let top = |axis: &Axis| {
            let inner = Axis::inner(&axis.digits);
            let last = axis.len - 1;
            let full = (axis.len / inner * inner).saturating_sub(1);
            axis.offset(last).max(axis.offset(full)).max(0)
        };
        (top(&self.row) + top(&self.col)) as u64 + 1
    }

    /// The least and the greatest offset of the elements (r, c) … (r + rows - 1, c + cols - 1); `None` where there are
    /// none.
    pub fn reach(&self, [r, c]: [u64; 2], [rows, cols]: [u64; 2]) -> Option<(i128, i128)> {
        if rows == 0 || cols == 0 {
            return None;
        }
        let axis = |axis: &Axis, at: u64, len: u64| {
            if at == 0 {
                return reach(&axis.digits, len);
            }
            let all = (at..at.saturating_add(len)).map(|i| i128::from(axis.offset(i)));
            all.fold((i128::MAX, i128::MIN), |(low, high), at| (low.min(at), high.max(at)))
        };
        let ((row_low, row_high), (col_low, col_high)) = (axis(&self.row, r, rows), axis(&self.col, c, cols));
        Some((row_low + col_low, row_high + col_high))
    }

    /// Whether every element certainly has an offset of its own. Sufficient condition: by rising stride, each digit's
    /// stride is beyond the reach of the digits before it.
    pub fn is_injective(&self) -> bool {
        let mut digits: SmallVec<[Digit; 8]> = self.row.digits.iter().chain(&self.col.digits).copied().collect();
        digits.retain(|d| d.extent > 1);
        digits.sort_by_key(|d| d.stride.unsigned_abs());
        let mut reach = 0u128;
        digits.iter().all(|d| {
            let (stride, fits) = (u128::from(d.stride.unsigned_abs()), u128::from(d.stride.unsigned_abs()) > reach);
            reach += stride * u128::from(d.extent - 1);
            fits
        })
    }

    /// The layout of the window of `rows × cols` elements at `(r, c)`, with the offset where it starts, where the
    /// window is a layout again: on each axis it starts at a box edge or lies inside one box.
    pub fn window(&self, r: u64, c: u64, rows: u64, cols: u64) -> Option<(i64, Layout)> {
        let (row_start, row) = window_axis(&self.row, r, rows)?;
        let (col_start, col) = window_axis(&self.col, c, cols)?;
        Some((row_start + col_start, Layout { row, col }))
    }

    /// The layout seen with rows and columns swapped.
    pub fn transposed(&self) -> Layout {
        Layout { row: self.col.clone(), col: self.row.clone() }
    }
}

fn window_axis(axis: &Axis, at: u64, len: u64) -> Option<(i64, Axis)> {
    if at.checked_add(len)? > axis.len {
        return None;
    }
    let mut digits = axis.digits.clone();
    loop {
        let inner = Axis::inner(&digits);
        if digits.len() == 1 || (at.is_multiple_of(inner) && len > inner) {
            break;
        }
        // The window lies inside one value of the outermost digit: that digit is constant.
        if at / inner != (at + len.max(1) - 1) / inner {
            return None;
        }
        digits.remove(0);
    }
    let inner = Axis::inner(&digits);
    if let Some(first) = digits.first_mut() {
        first.extent = len.div_ceil(inner).max(1);
    }
    Some((axis.offset(at), Axis { len, digits }))
}
