//! What an instruction does.
//!
//! The row of an instruction says what *kind* of thing it does ([`Sem`]); [`steps`] turns that, for one instruction whose
//! values are known, into a short list of regular [`Step`]s over index maps. The simulator lowers them to nests, the
//! verifier derives `overlap` and `footprint` from them, and so on: none of them knows instructions. What becomes of an
//! element is [`Func::eval`], the one definition that kernels are compared with.

mod convert;
mod effects;
mod fill;
mod fixpipe;
mod func;
mod img2col;
mod rearrange;
mod step;
mod window;

pub use convert::convert;
pub use effects::{Effects, Touch, effects};
pub use fill::{fillpad, load, store};
pub use fixpipe::{Fixpipe, relu};
pub use func::{Func, Quant};
pub use img2col::{Img2col, img2col, img2col_config};
pub use rearrange::{concat, deinterleave, gather, interleave, pack, reshape, transpose};
pub use step::{Apply, Arg, Map, Rect, Reduce, Side, Step};
pub use window::{extract, insert, mov};

use crate::codec::Overflow;
use crate::inst::Inst;
use crate::ops::Role;
use crate::profile::Profile;
use smallvec::SmallVec;

/// The steps of an instruction whose values are known.
pub type Steps = Option<Vec<Step>>;

/// What an instruction does, as its row says it.
#[derive(Clone, Copy, Debug)]
pub enum Sem {
    /// Elements move, by index maps alone.
    Moves(fn(&Inst) -> Steps),
    /// `dst(i, j) = func(args …)` over the valid region of `domain`.
    Map {
        /// The tile whose valid region is the domain.
        domain: Role,
        /// The arguments, and which element of each belongs to (i, j).
        args: &'static [(Role, At)],
        func: Func,
    },
    /// `dst = func(… func(func(0, x0), x1) …)` along the rows or columns of `src`.
    Fold {
        /// The tile that is folded.
        src: Role,
        /// Whether each row or each column has a result.
        each: Axis,
        /// What one more element makes of it.
        func: Func,
    },
    /// `dst(i, j) = plus + Σk a(i, k) · b(k, j)`, in rising k.
    Contract {
        a: Role,
        b: Role,
        /// What the sum starts with, and which element of it belongs to (i, j); +0 without one.
        plus: Option<(Role, At)>,
    },
    /// Elements move, and in some form data decides where.
    Data(fn(&Inst) -> Steps),
    /// A tile gets another storage; no byte moves.
    Binds,
    Resizes,
    /// A value is made: a tile, a view, a pointer.
    Value,
    /// A number of the running block is made.
    Block,
    /// An element of global memory becomes a scalar.
    Loads,
    /// A scalar becomes an element of global memory.
    Stores,
    /// Later instructions read what it leaves.
    Configures,
    /// Instructions before it finish before those after it.
    Orders,
    Prints,
    /// Nothing is said: the instruction cannot run.
    Nothing,
}

impl Sem {
    /// Does the instruction write elements, of tiles or of global memory?
    pub const fn computes(&self) -> bool {
        matches!(self, Sem::Moves(_) | Sem::Map { .. } | Sem::Fold { .. } | Sem::Contract { .. } | Sem::Data(_))
    }
}

/// Which element of an operand belongs to point (i, j) of the domain: a broadcast is an index map, not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    Same,
    /// (i, 0): one value a row.
    RowOf,
    /// (0, j): one value a column.
    ColOf,
    Transposed,
    /// The operand is a scalar.
    Scalar,
}

impl At {
    fn map(self) -> Map {
        match self {
            At::Same => Map::SAME,
            At::RowOf => at([[1, 0], [0, 0]]),
            At::ColOf | At::Scalar => at([[0, 0], [0, 1]]),
            At::Transposed => Map::TRANSPOSED,
        }
    }
}

/// What a fold has one result for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Each row, in column 0 of the destination.
    Row,
    /// Each column, in row 0 of the destination.
    Col,
}

/// Rounds up to a multiple of `n`.
pub fn ceil_to(x: u64, n: u64) -> u64 {
    x.div_ceil(n.max(1)).saturating_mul(n.max(1))
}

/// The steps of an instruction; `None` where a value that they depend on is not known, or it changes no element.
pub fn steps(inst: &Inst) -> Steps {
    match inst.op.info().sem {
        Sem::Moves(steps) | Sem::Data(steps) => steps(inst),
        Sem::Map { domain, args, func } => map(inst, domain, args, func),
        Sem::Fold { src, each, func } => fold(inst, src, each, func),
        Sem::Contract { a, b, plus } => contract(inst, a, b, plus),
        _ => None,
    }
}

fn map(inst: &Inst, domain: Role, args: &[(Role, At)], func: Func) -> Steps {
    let (d, over) = (inst.tile_index(Role::Dst)?, inst.tile_index(domain)?);
    let elem = inst.tiles.get(d)?.tile.elem;
    let arg = |(role, at): &(Role, At)| match at {
        At::Scalar => Some(Arg::Scalar(elem.encode(inst.scalar(*role)?, Overflow::Infinity))),
        at => Some(Arg::Element(Side::Tile(inst.tile_index(*role)?), at.map())),
    };
    let args = args.iter().map(arg).collect::<Option<SmallVec<_>>>()?;
    // Elementwise instructions use scratch on a2a3 only (elementwise.md 6).
    let mut all = scratch(inst, inst.profile == Profile::A2a3);
    all.push(Step::Apply(Apply { func, core: 0, extent: valid(inst, over)?, dst: (Side::Tile(d), Map::SAME), args }));
    Some(all)
}

fn fold(inst: &Inst, src: Role, each: Axis, func: Func) -> Steps {
    let (s, d) = (inst.tile_index(src)?, inst.tile_index(Role::Dst)?);
    let [rows, cols] = valid(inst, s)?;
    let (extent, from, to) = match each {
        Axis::Row => ([rows, 1, cols], [[1, 0, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 0]]),
        Axis::Col => ([1, cols, rows], [[0, 0, 1], [0, 1, 0]], [[0, 0, 0], [0, 1, 0]]),
    };
    // Reductions use scratch on cpu and a2a3 (reduce.md 4).
    let mut all = scratch(inst, inst.profile != Profile::A5);
    let args = SmallVec::from_iter([(s, at(from))]);
    all.push(Step::Reduce(Reduce { func, extent, dst: (d, at(to)), start: None, args }));
    Some(all)
}

fn contract(inst: &Inst, a: Role, b: Role, plus: Option<(Role, At)>) -> Steps {
    let (a, b, d) = (inst.tile_index(a)?, inst.tile_index(b)?, inst.tile_index(Role::Dst)?);
    let ([m, k], [_, n]) = (valid(inst, a)?, valid(inst, b)?);
    let same = at([[1, 0, 0], [0, 1, 0]]);
    let start = match plus {
        Some((role, place)) => Some((inst.tile_index(role)?, at(place.map().step.map(|[i, j]| [i, j, 0])))),
        None => None,
    };
    let mut all = Vec::new();
    if inst.profile.is_npu() && m > 0 && n > 0 {
        // Hardware works in boxes of 16×16, or in one row where that is all there is (matrix.md 1 and 4).
        let dst = &inst.tiles.get(d)?.tile;
        let rows = if inst.tiles.get(a)?.tile.rows == 1 { 1 } else { ceil_to(m, 16) };
        let rect = Rect { row: 0, col: 0, rows, cols: ceil_to(n, 16) }.clip(dst.rows, dst.cols);
        all.push(Step::Clobber { dst: d, core: 0, rect });
    }
    let args = SmallVec::from_iter([(a, at([[1, 0, 0], [0, 0, 1]])), (b, at([[0, 0, 1], [0, 1, 0]]))]);
    all.push(Step::Reduce(Reduce { func: Func::MulAdd, extent: [m, n, k], dst: (d, same), start, args }));
    Some(all)
}

fn at<const N: usize>(step: [[u64; N]; 2]) -> Map<N> {
    Map { origin: [0, 0], step }
}

/// The step of a scratch operand, where it is given and touched.
fn scratch(inst: &Inst, is_touched: bool) -> Vec<Step> {
    inst.tile_index(Role::Tmp).filter(|_| is_touched).map(|tile| Step::Scratch { tile }).into_iter().collect()
}

fn valid(inst: &Inst, tile: usize) -> Option<[u64; 2]> {
    let [r, c] = inst.tiles.get(tile)?.valid;
    Some([r?, c?])
}

fn copy(extent: [u64; 2], src: (usize, Map), dst: (usize, Map)) -> Step {
    Step::Apply(Apply::copy(extent, (Side::Tile(src.0), src.1), (Side::Tile(dst.0), dst.1)))
}
