//! Steps: the meaning of an instruction, as data. Code that runs, checks or follows instructions reads these and no
//! opcode.

use super::{Func, Img2col, Routed, Table};
use crate::elem::Elem;
use smallvec::SmallVec;

/// An affine map from a domain of `N` indices to the elements of a tile: `(r, c) = origin + step · (i, j, …)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Map<const N: usize = 2> {
    /// Row and column of (0, 0).
    pub origin: [u64; 2],
    /// `step[a][b]`: how far axis `a` (row, column) goes when domain index `b` grows by one.
    pub step: [[u64; N]; 2],
}

impl Map {
    /// `(i, j)` is element `(i, j)`.
    pub const SAME: Map = Map::at(0, 0);

    /// `(i, j)` is element `(j, i)`.
    pub const TRANSPOSED: Map = Map { origin: [0, 0], step: [[0, 1], [1, 0]] };

    /// `(i, j)` is element `(r + i, c + j)`.
    pub const fn at(r: u64, c: u64) -> Self {
        Map { origin: [r, c], step: [[1, 0], [0, 1]] }
    }

    /// Every `n`-th column, from column `c`.
    pub const fn columns(c: u64, n: u64) -> Self {
        Map { origin: [0, c], step: [[1, 0], [0, n]] }
    }
}

impl<const N: usize> Map<N> {
    /// The element that a point of the domain stands for.
    pub fn of(&self, index: [u64; N]) -> (u64, u64) {
        let along = |axis: usize| self.step[axis].iter().zip(index).fold(self.origin[axis], |at, (s, i)| at + s * i);
        (along(0), along(1))
    }
}

/// One side of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The tile operand at this position of [`Inst::tiles`](crate::inst::Inst::tiles).
    Tile(usize),
    /// The bytes of that tile's rows, whatever its type (masks: isa/elementwise.md 4).
    Bytes(usize),
    /// The instruction's view of global memory.
    Global,
}

impl Side {
    /// The position of the tile, where it is one.
    pub fn tile(self) -> Option<usize> {
        match self {
            Side::Tile(n) | Side::Bytes(n) => Some(n),
            Side::Global => None,
        }
    }
}

/// An argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// An element, by the point of the domain.
    Element(Side, Map),
    /// An element of this type and these bits everywhere.
    Scalar(Elem, u64),
}

impl Arg {
    /// The position of the tile that it is an element of.
    pub fn tile(self) -> Option<usize> {
        match self {
            Arg::Element(side, _) => side.tile(),
            Arg::Scalar(..) => None,
        }
    }
}

/// For all (i, j) of the domain, `dst(i, j) = func(args(i, j) …)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Apply {
    pub func: Func,
    /// The vector core that is written.
    pub core: u8,
    /// Extents of i and j.
    pub extent: [u64; 2],
    pub dst: (Side, Map),
    /// The arguments of the function, in its order.
    pub args: SmallVec<[Arg; 2]>,
}

impl Apply {
    /// Elements move as they are.
    pub fn copy(extent: [u64; 2], src: (Side, Map), dst: (Side, Map)) -> Self {
        let args = SmallVec::from_iter([Arg::Element(src.0, src.1)]);
        Apply { func: Func::Bits, core: 0, extent, dst, args }
    }

    /// The arguments that lie somewhere.
    pub fn elements(&self) -> impl Iterator<Item = (Side, Map)> + '_ {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Element(side, map) => Some((*side, *map)),
            Arg::Scalar(..) => None,
        })
    }
}

/// For all (i, j) of the domain: `s` starts as +0 or an element, `s = func(s, args(i, j, k) …)` for every k in rising
/// order, and `dst(i, j) = s`, rounded to its type where `s` is wider ([`Func::state`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Reduce {
    /// The function that adds one more element to `s`.
    pub func: Func,
    /// Extents of i, j and k.
    pub extent: [u64; 3],
    /// The position of the destination, and where the results go; k does not count.
    pub dst: (usize, Map<3>),
    /// The element that `s` starts as, where it does not start as +0; k does not count.
    pub start: Option<(usize, Map<3>)>,
    /// The arguments of the function after `s`.
    pub args: SmallVec<[(usize, Map<3>); 2]>,
    /// The arguments after those, one for each block of k: the third index is `k / 32` (isa/matrix.md 3).
    pub scales: Option<[(usize, Map<3>); 2]>,
}

/// A rectangle of a tile's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    pub row: u64,
    pub col: u64,
    pub rows: u64,
    pub cols: u64,
}

impl Rect {
    /// The part inside a declared area.
    pub fn clip(self, rows: u64, cols: u64) -> Rect {
        Rect {
            rows: self.rows.min(rows.saturating_sub(self.row)),
            cols: self.cols.min(cols.saturating_sub(self.col)),
            ..self
        }
    }

    /// Whether the rectangle leaves a declared area.
    pub fn leaves(self, rows: u64, cols: u64) -> bool {
        self.row.saturating_add(self.rows) > rows || self.col.saturating_add(self.cols) > cols
    }

    /// Whether it has no elements.
    pub fn is_empty(self) -> bool {
        self.rows == 0 || self.cols == 0
    }
}

/// One step of an instruction, in the order in which they take effect. Tiles are named by their position in
/// [`Inst::tiles`](crate::inst::Inst::tiles).
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Elements of the rectangle that no later step writes become undefined (ops.md 1.3). Not clipped.
    Clobber {
        dst: usize,
        /// The vector core whose copy is meant.
        core: u8,
        /// The block that hardware writes.
        rect: Rect,
    },
    /// The tile's contents become undefined (scratch).
    Scratch { tile: usize },
    /// Every element becomes a function of others.
    Apply(Apply),
    /// Every element becomes a fold over others.
    Reduce(Reduce),
    /// Eight results of a function are one byte: byte k of dst, counted through the first `row_bytes` bytes of each of its
    /// rows, is `func(args(i, 8·b) …, args(i, 8·b + 7) …)` with `k = i · ceil(columns / 8) + b` (isa/elementwise.md 4).
    Pack {
        /// The function of eight pairs of elements.
        func: Func,
        /// Rows and columns of the domain.
        extent: [u64; 2],
        /// The arguments of the function for each element.
        args: [Arg; 2],
        dst: usize,
        /// Bytes of a row of the mask that count.
        row_bytes: u64,
    },
    /// `k = idx(i, j); dst(i, j) = src(k / C, k mod C)` with C columns declared (irregular.md 4).
    Gather {
        /// The tile that is picked from.
        src: usize,
        /// The tile of linear indices.
        idx: usize,
        dst: usize,
        /// Rows and columns of the domain.
        extent: [u64; 2],
    },
    /// Data decides what goes where (isa/irregular.md).
    Routed(Routed),
    /// Rows or elements of the view by index (isa/memory.md 5).
    Table(Table),
    /// Row by row: columns of the first source and then of the second, as many as the index tiles say (ops.md 6).
    Join,
    /// A rectangle becomes a value.
    Fill {
        dst: usize,
        rect: Rect,
        /// The bits of the value.
        bits: u64,
    },
    /// All bytes of the declared area are copied (TRESHAPE on cpu).
    Bytes { src: usize, dst: usize, len: u64 },
    /// The dense contents of a buffer are copied into a conv tile.
    LoadConv { dst: usize, elements: u64 },
    /// Image to columns (ops.md 7).
    Img2col { src: usize, dst: usize, conv: Img2col },
}

impl Step {
    /// Whether the step reads, writes or clobbers this tile.
    pub fn touches(&self, tile: usize) -> bool {
        match self {
            Step::Clobber { dst, .. } | Step::Fill { dst, .. } | Step::LoadConv { dst, .. } => *dst == tile,
            Step::Scratch { tile: scratch } => *scratch == tile,
            Step::Apply(apply) => {
                apply.dst.0 == Side::Tile(tile) || apply.elements().any(|(side, _)| side.tile() == Some(tile))
            }
            Step::Reduce(reduce) => {
                let scales = reduce.scales.iter().flatten();
                let mut all = reduce.args.iter().chain(&reduce.start).chain(scales).chain([&reduce.dst]);
                all.any(|(n, _)| *n == tile)
            }
            Step::Pack { args, dst, .. } => *dst == tile || args.iter().any(|arg| arg.tile() == Some(tile)),
            Step::Gather { src, idx, dst, .. } => [src, idx, dst].contains(&&tile),
            Step::Bytes { src, dst, .. } | Step::Img2col { src, dst, .. } => [src, dst].contains(&&tile),
            Step::Routed(routed) => routed.reads.iter().chain(&routed.writes).any(|(n, _)| *n == tile),
            Step::Table(table) => [table.data, table.idx].contains(&tile),
            Step::Join => true,
        }
    }
}
