//! Instructions that C++ has and text has not, as steps (cpp.md 6.1 and 6.6).

use super::vector::map;
use super::{Arg, Func, Map, Rect, Step, Steps, copy, valid};
use crate::elem::Elem;
use crate::inst::Inst;
use crate::ops::Role;

/// TFUSEDMULADD: f16 is computed in f32 and rounded once, everything else after each operation.
pub fn mul_add(inst: &Inst) -> Steps {
    let func = if inst.dst()?.tile.elem == Elem::F16 { Func::Axpy } else { Func::MulThenAdd { relu: false } };
    map(inst, &[Role::Src0, Role::Dst, Role::Src1], func)
}

/// TADDDEQRELU: beyond f16 there is infinity on cpu, and the largest number on devices.
pub fn add_dequantize_relu(inst: &Inst) -> Steps {
    let func = Func::AddDequantizeRelu { saturates: inst.profile.is_npu() };
    let mut all = map(inst, &[Role::Src0, Role::Src1], func)?;
    let scale = inst.scalar_arg(Role::Scalar)?.bits(Elem::F32)?;
    if let Some(Step::Apply(apply)) = all.last_mut() {
        apply.args.push(Arg::Scalar(Elem::F32, scale));
    }
    Some(all)
}

/// The rows or columns that a pattern selects among `of`: their number, the first, and the distance between them.
pub fn named(inst: &Inst, of: u64) -> Option<(u64, u64, u64)> {
    let (every, first) = inst.attrs.mask_pattern()?.period();
    Some((of.saturating_sub(first).div_ceil(every), first, every))
}

/// Every `n`-th row, from row `first`.
fn rows(first: u64, n: u64) -> Map {
    Map { origin: [first, 0], step: [[n, 0], [0, 1]] }
}

/// TGATHER of rows.
pub fn pick_rows(inst: &Inst) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let [height, width] = valid(inst, s)?;
    let (kept, first, every) = named(inst, height)?;
    Some(vec![copy([kept, width], (s, rows(first, every)), (d, Map::SAME))])
}

/// dst's valid region becomes zero, then what the pattern names takes src's elements.
fn spread(inst: &Inst, axis: usize) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let mut extent = valid(inst, d)?;
    let dst = &inst.tiles.get(d)?.tile;
    let [rows_cleared, cols_cleared] =
        if inst.profile == crate::profile::Profile::A2a3 { [dst.rows, dst.cols] } else { extent };
    let rect = Rect { row: 0, col: 0, rows: rows_cleared, cols: cols_cleared };
    let (kept, first, every) = named(inst, *extent.get(axis)?)?;
    *extent.get_mut(axis)? = kept;
    let to = if axis == 0 { rows(first, every) } else { Map::columns(first, every) };
    Some(vec![Step::Fill { dst: d, rect, bits: 0 }, copy(extent, (s, Map::SAME), (d, to))])
}

/// TSCATTER to columns.
pub fn spread_cols(inst: &Inst) -> Steps {
    spread(inst, 1)
}

/// TSCATTER to rows.
pub fn spread_rows(inst: &Inst) -> Steps {
    spread(inst, 0)
}
