//! The meaning of instructions.
//!
//! The row of an instruction gives the *kind* of its meaning ([`Sem`]). [`steps`] turns that, for one instruction
//! whose values are known, into a short list of regular [`Step`]s over index maps. The simulator lowers them to nests,
//! the verifier derives `overlap` and `footprint` from them, and so on: none of them has code for individual
//! instructions. [`Func::eval`] is the function of elements, the one definition that kernels are compared with.

mod comm;
mod convert;
mod cpp_only;
mod cvt;
mod effects;
mod epilogue;
mod fifo;
mod fill;
mod fixpipe;
mod func;
mod img2col;
mod irregular;
pub mod math;
mod matrix;
mod memory;
mod mx;
mod notation;
mod notes;
mod random;
mod rearrange;
mod records;
mod route;
mod step;
mod table;
mod vector;
mod window;

pub use comm::Comm;
pub use convert::convert;
pub use cpp_only::{add_dequantize_relu, mul_add, named, pick_rows, spread_cols, spread_rows};
pub use cvt::{Rounding, Saturation, cvt};
pub use effects::{Effects, Touch, effects};
pub use epilogue::{Epilogue, PushLayout, PushParam, PushQuant};
pub use fifo::{Core, Dir, Fifo};
pub use fill::fillpad;
pub use fixpipe::{Fixpipe, relu};
pub use func::{Func, Quant};
pub use img2col::{Img2col, img2col, img2col_config};
pub use irregular::{
    count, counted_byte, dequantize, gather, gather_blocks, histogram, merge, quantize, random, record_columns,
    scatter, set_element, sort, stored, triangle,
};
pub use matrix::{Reduced, SCALE_BLOCK, SCALED_ALIGN, add_once, f32_mode, scale_address, scale_pairs};
pub use memory::{load, prefetch, store};
pub use mx::{MX_GROUP, Mx, Shared, exponents, quantize_mx};
pub use notation::{Piece, TIGHT, pieces};
pub use random::Random;
pub use rearrange::{concat, deinterleave, interleave, pack, reshape, transpose};
pub use records::before as record_order;
pub use route::{From, Read, Route, Routed, Routes, Routing, routes};
pub use step::{Apply, Arg, Map, Rect, Reduce, Side, Step};
pub use table::{Beyond, Table, TableSlot, coalesce, shape_of_indices, table, table_of};
pub use vector::{
    compare, convert_type, divide, expand_scalar, full_operand, leaky_relu, mask_is_dense, pair_sums, select,
};
pub use window::{extract, insert, mov};

use crate::inst::Inst;
use crate::ops::{Order, Role};

/// The steps of an instruction whose values are known.
pub type Steps = Option<Vec<Step>>;

/// The meaning of an instruction, as its row gives it.
#[derive(Clone, Copy, Debug)]
pub enum Sem {
    /// Elements move, by index maps alone.
    Moves(fn(&Inst) -> Steps),
    /// `dst(i, j) = func(args(i, j) …)` over dst's valid region.
    Map {
        /// The arguments: tiles, or scalars.
        args: &'static [Role],
        func: Func,
    },
    /// `dst(i, j) = func(src0, src1)` over dst's valid region, where one source has one value, or one block, for each row
    /// or one value for each column; without an operation, src(i, 0) or src(0, j).
    Expand {
        /// The axis that has one value each.
        each: Axis,
        func: Func,
    },
    /// `dst = func(… func(func(0, x0), x1) …)` along the rows or columns of `src`.
    Fold {
        /// Whether each row or each column has a result.
        each: Axis,
        /// The function that adds one more element to the result.
        func: Func,
    },
    /// `dst(i, j) = plus + Σk a(i, k) · b(k, j)`, in rising k.
    Contract {
        /// The operand that the sum starts with, and its element that belongs to (i, j); +0 without one.
        plus: Option<(Role, At)>,
        /// Whether the factors have scales, one for each 32 k (isa/matrix.md 3).
        scaled: bool,
        /// Whether a is one row (isa/matrix.md 4).
        one_row: bool,
    },
    /// An operation where both sources are valid, a copy where one is.
    Part(Func),
    /// Elements are computed, by steps of its own.
    Computes(fn(&Inst) -> Steps),
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
    /// An element of a tile becomes a scalar.
    Gets,
    /// A scalar becomes an element of global memory.
    Stores,
    /// Later instructions read what it leaves.
    Configures,
    /// From here on f32 operands of products are rounded, on these profiles (isa/matrix.md 5).
    RoundsF32 {
        /// Elsewhere it has no effect.
        on: crate::profile::Profiles,
        /// The number of bits of the mantissa that are dropped.
        dropped: u8,
    },
    /// A part of a FIFO between cores.
    Fifo(Fifo),
    /// Ranks communicate.
    Comm(Comm),
    /// Others are ordered, between pipes or between cores.
    Orders(Order),
    Traps,
    Prints,
    /// Nothing is said: the instruction cannot run.
    Nothing,
}

impl Sem {
    /// Whether data may decide where elements go.
    pub const fn routes(&self) -> bool {
        matches!(self, Sem::Data(_))
    }

    /// Whether the instruction writes elements, of tiles or of global memory.
    pub const fn computes(&self) -> bool {
        matches!(
            self,
            Sem::Moves(_)
                | Sem::Map { .. }
                | Sem::Expand { .. }
                | Sem::Fold { .. }
                | Sem::Contract { .. }
                | Sem::Part(_)
                | Sem::Computes(_)
                | Sem::Data(_)
        )
    }
}

/// The element of an operand that belongs to point (i, j) of the domain: a broadcast is an index map, not an
/// instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    Same,
    /// (0, j): one value a column.
    ColOf,
}

impl At {
    fn map(self) -> Map {
        match self {
            At::Same => Map::SAME,
            At::ColOf => at([[0, 0], [0, 1]]),
        }
    }
}

/// The axis along which there is one result, or one value, each.
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
    if inst.is_empty() {
        return Some(Vec::new());
    }
    match inst.op.info().sem {
        Sem::Moves(steps) | Sem::Computes(steps) | Sem::Data(steps) => steps(inst),
        Sem::Map { args, func } => vector::map(inst, args, func),
        Sem::Expand { each, func } => vector::expand(inst, each, func),
        Sem::Fold { each, func } => vector::fold(inst, each, func),
        Sem::Part(func) => irregular::part(inst, func),
        Sem::Contract { plus, scaled, .. } => matrix::contract(inst, plus, scaled),
        _ => None,
    }
}

fn at<const N: usize>(step: [[u64; N]; 2]) -> Map<N> {
    Map { origin: [0, 0], step }
}

/// The step of a scratch operand, where it is given and touched.
fn scratch(inst: &Inst) -> Vec<Step> {
    let is_used = inst
        .op
        .form(inst.form)
        .and_then(|f| f.operand(Role::Tmp))
        .is_some_and(|o| o.is_used(inst.profile, &inst.attrs));
    inst.tile_index(Role::Tmp).filter(|_| is_used).map(|tile| Step::Scratch { tile }).into_iter().collect()
}

fn valid(inst: &Inst, tile: usize) -> Option<[u64; 2]> {
    let [r, c] = inst.tiles.get(tile)?.valid;
    Some([r?, c?])
}

fn copy(extent: [u64; 2], src: (usize, Map), dst: (usize, Map)) -> Step {
    Step::Apply(Apply::copy(extent, (Side::Tile(src.0), src.1), (Side::Tile(dst.0), dst.1)))
}
