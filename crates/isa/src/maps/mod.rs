//! Index maps: what an instruction moves, fills and clobbers, as data.
//!
//! [`steps`] turns an [`Inst`] whose values are known into a short list of regular steps. The simulator lowers them to
//! nests, the verifier derives `overlap` and `footprint` from them; neither lists instructions.

mod fill;
mod img2col;
mod rearrange;
mod window;

pub use img2col::{Img2col, img2col_config};

use crate::inst::Inst;
use crate::ops::{Form, Opcode, Role};
use crate::profile::Profile;
use crate::tile::Tile;

/// An affine map from the domain of a move to the elements of a tile: `(r, c) = origin + step · (i, j)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    /// Row and column of (0, 0).
    pub origin: [u64; 2],
    /// `step[a][b]`: how far axis `a` (row, column) goes when domain index `b` (i, j) grows by one.
    pub step: [[u64; 2]; 2],
}

impl Map {
    /// The identity, from an origin.
    pub fn at(r: u64, c: u64) -> Self {
        Map { origin: [r, c], step: [[1, 0], [0, 1]] }
    }

    /// Rows and columns swapped.
    pub fn transposed() -> Self {
        Map { origin: [0, 0], step: [[0, 1], [1, 0]] }
    }

    /// Every `n`-th column, from column `c`.
    pub fn columns(c: u64, n: u64) -> Self {
        Map { origin: [0, c], step: [[1, 0], [0, n]] }
    }

    /// The element that (i, j) stands for.
    pub fn apply(&self, i: u64, j: u64) -> (u64, u64) {
        let [[a, b], [c, d]] = self.step;
        (self.origin[0] + a * i + b * j, self.origin[1] + c * i + d * j)
    }
}

/// A regular move: for all (i, j) of the domain, `dst[dst(i,j)] = src[src(i,j)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Extent of i.
    pub rows: u64,
    /// Extent of j.
    pub cols: u64,
    /// Where the element comes from.
    pub src: Map,
    /// Where it goes.
    pub dst: Map,
}

/// One side of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The tile operand at this position of [`Inst::tiles`].
    Tile(usize),
    /// The instruction's view of global memory.
    Global,
}

/// What happens to an element on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// Bits are kept.
    Bits,
    /// The low bytes are kept (TPACK).
    LowBytes,
    /// Converted between element types, as `cpu` and moves into Bias do (ops.md 1.5).
    Convert,
    /// Through fixpipe; the parameter of column j is `fp[first + j]`.
    Fixpipe {
        /// The parameter of the first column.
        first: u64,
    },
}

/// A rectangle of a tile's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    /// First row.
    pub row: u64,
    /// First column.
    pub col: u64,
    /// Rows.
    pub rows: u64,
    /// Columns.
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

    /// Does the rectangle leave a declared area?
    pub fn leaves(self, rows: u64, cols: u64) -> bool {
        self.row.saturating_add(self.rows) > rows || self.col.saturating_add(self.cols) > cols
    }

    /// Has it no elements?
    pub fn is_empty(self) -> bool {
        self.rows == 0 || self.cols == 0
    }
}

/// One step of an instruction, in the order in which they take effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Elements of the rectangle that no later step writes become undefined (ops.md 1.3). Not clipped.
    Clobber {
        /// The destination's position in [`Inst::tiles`].
        dst: usize,
        /// The vector core whose copy is meant.
        core: u8,
        /// The block that hardware writes.
        rect: Rect,
    },
    /// The tile's contents become undefined (scratch).
    Scratch {
        /// The tile's position in [`Inst::tiles`].
        tile: usize,
    },
    /// Elements move.
    Move {
        /// From.
        src: Side,
        /// To.
        dst: Side,
        /// The vector core that is written.
        core: u8,
        /// What happens on the way.
        how: How,
        /// Which elements.
        geometry: Move,
    },
    /// A rectangle becomes a value.
    Fill {
        /// The destination's position in [`Inst::tiles`].
        dst: usize,
        /// Which elements.
        rect: Rect,
        /// The bits of the value.
        bits: u64,
    },
    /// All bytes of the declared area are copied (TRESHAPE on cpu).
    Bytes {
        /// The source's position.
        src: usize,
        /// The destination's position.
        dst: usize,
        /// How many bytes.
        len: u64,
    },
    /// The dense contents of a buffer are copied into a conv tile.
    LoadConv {
        /// The conv tile's position.
        dst: usize,
        /// How many elements.
        elements: u64,
    },
    /// Image to columns (ops.md 7).
    Img2col {
        /// The conv tile's position.
        src: usize,
        /// The destination's position.
        dst: usize,
        /// The configuration.
        conv: Img2col,
    },
}

/// Rounds up to a multiple of `n`.
pub fn ceil_to(x: u64, n: u64) -> u64 {
    x.div_ceil(n.max(1)).saturating_mul(n.max(1))
}

/// The steps of an instruction; `None` where a value that they depend on is not known, or the instruction moves
/// nothing by itself (views, indexed TCONCAT, whose counts are data).
pub fn steps(inst: &Inst) -> Option<Vec<Step>> {
    match inst.op {
        Opcode::Tmov | Opcode::TmovFp => window::window(inst, Role::Dst, [0, 0], [0, 0]),
        Opcode::Textract if inst.form == Form::TwoWindows => {
            let (r0, c0) = (inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?);
            let (r1, c1) = (inst.index_u64(Role::Row1)?, inst.index_u64(Role::Col1)?);
            let mut all = window::window(inst, Role::Dst0, [r0, c0], [0, 0])?;
            all.extend(window::window(inst, Role::Dst1, [r1, c1], [0, 0])?);
            Some(all)
        }
        Opcode::Textract | Opcode::TextractFp => {
            window::window(inst, Role::Dst, [inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?], [0, 0])
        }
        Opcode::Tinsert | Opcode::TinsertFp => {
            window::window(inst, Role::Dst, [0, 0], [inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?])
        }
        Opcode::Ttrans => rearrange::transpose(inst),
        Opcode::Tconcat if inst.form == Form::Plain => rearrange::concat(inst),
        Opcode::Tpack => rearrange::pack(inst),
        Opcode::Tfillpad | Opcode::TfillpadInplace | Opcode::TfillpadExpand => fill::fillpad(inst),
        Opcode::Tinterleave | Opcode::Tdeinterleave => rearrange::interleave(inst),
        Opcode::Treshape | Opcode::Bitcast if inst.profile == Profile::Cpu => {
            let (src, dst) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
            Some(vec![Step::Bytes { src, dst, len: inst.tiles.get(dst)?.tile.bytes() }])
        }
        Opcode::Timg2col => img2col::img2col(inst),
        Opcode::Tload => fill::load(inst),
        Opcode::Tstore => {
            let src = inst.tile_index(Role::Src)?;
            let [rows, cols] = valid(inst, src)?;
            Some(vec![plain(
                Side::Tile(src),
                Side::Global,
                Move { rows, cols, src: Map::at(0, 0), dst: Map::at(0, 0) },
            )])
        }
        _ => None,
    }
}

fn valid(inst: &Inst, tile: usize) -> Option<[u64; 2]> {
    let [r, c] = inst.tiles.get(tile)?.valid;
    Some([r?, c?])
}

fn plain(src: Side, dst: Side, geometry: Move) -> Step {
    Step::Move { src, dst, core: 0, how: How::Bits, geometry }
}

fn fill_bits(inst: &Inst, dst: &Tile) -> Option<u64> {
    dst.elem.encode_exact(&inst.scalar(Role::Fill)?)
}

/// Fills everything of the declared area outside the first `kept` rows and columns.
fn fill_outside(inst: &Inst, dst: usize, kept: [u64; 2], bits: u64, all: &mut Vec<Step>) {
    let Some(tile) = inst.tiles.get(dst).map(|t| &t.tile) else {
        return;
    };
    let [r, c] = [kept[0].min(tile.rows), kept[1].min(tile.cols)];
    let right = Rect { row: 0, col: c, rows: r, cols: tile.cols - c };
    let below = Rect { row: r, col: 0, rows: tile.rows - r, cols: tile.cols };
    all.extend([right, below].into_iter().filter(|rect| !rect.is_empty()).map(|rect| Step::Fill { dst, rect, bits }));
}
