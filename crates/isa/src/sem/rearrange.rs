//! TTRANS, TCONCAT, TPACK, TINTERLEAVE, TDEINTERLEAVE, TRESHAPE and TGATHER (ops.md 4, 5, 6 and 8; irregular.md 4).

use super::{Apply, Func, Map, Rect, Side, Step, Steps, ceil_to, copy, scratch, valid};
use crate::inst::Inst;
use crate::ops::{Form, Role};
use crate::profile::Profile;

/// TTRANS.
pub fn transpose(inst: &Inst) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let (src, dst) = (&inst.tiles.get(s)?.tile, &inst.tiles.get(d)?.tile);
    // a5 transposes the declared shape, whatever is valid (PTO ISA, TTRANS page).
    let [rows, cols] = if inst.profile == Profile::A5 { [src.rows, src.cols] } else { valid(inst, s)? };
    let mut all = scratch(inst);
    if inst.profile == Profile::A2a3 && rows > 0 && cols > 0 {
        let rect = Rect { row: 0, col: 0, rows: cols, cols: ceil_to(rows, dst.elem.c0()).min(dst.cols) };
        all.push(Step::Clobber { dst: d, core: 0, rect });
    }
    all.push(copy([rows, cols], (s, Map::SAME), (d, Map::TRANSPOSED)));
    Some(all)
}

/// TCONCAT.
pub fn concat(inst: &Inst) -> Steps {
    let (s0, s1, d) = (inst.tile_index(Role::Src0)?, inst.tile_index(Role::Src1)?, inst.tile_index(Role::Dst)?);
    if inst.form != Form::Plain {
        return Some(vec![Step::Join]);
    }
    let ([r0, c0], [r1, c1]) = (valid(inst, s0)?, valid(inst, s1)?);
    let by_rows = inst.attrs.dim() == 0;
    let second = if by_rows { Map::at(r0, 0) } else { Map::at(0, c0) };
    let mut all = Vec::new();
    if inst.profile == Profile::A2a3 && r0 > 0 && c0 + c1 > 0 {
        let dst = &inst.tiles.get(d)?.tile;
        let cols = ceil_to(c0 + c1, dst.elem.c0()).min(dst.cols);
        all.push(Step::Clobber { dst: d, core: 0, rect: Rect { row: 0, col: 0, rows: r0, cols } });
    }
    all.push(copy([r0, c0], (s0, Map::SAME), (d, Map::SAME)));
    all.push(copy([r1, c1], (s1, Map::SAME), (d, second)));
    Some(all)
}

/// TPACK.
pub fn pack(inst: &Inst) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let apply = Apply::copy(valid(inst, s)?, (Side::Tile(s), Map::SAME), (Side::Tile(d), Map::SAME));
    Some(vec![Step::Apply(Apply { func: Func::LowBytes, ..apply })])
}

/// The even and the odd positions of an interleaved stream.
const EVEN: Map = Map::columns(0, 2);
const ODD: Map = Map::columns(1, 2);

/// TINTERLEAVE.
pub fn interleave(inst: &Inst) -> Steps {
    let (d0, d1) = (inst.tile_index(Role::Dst0)?, inst.tile_index(Role::Dst1)?);
    let (s0, s1) = (inst.tile_index(Role::Src0)?, inst.tile_index(Role::Src1)?);
    let [rows, v] = valid(inst, d0)?;
    let half = |src, at, dst, to| copy([rows, v / 2], (src, Map::at(0, at)), (dst, to));
    Some(vec![half(s0, 0, d0, EVEN), half(s1, 0, d0, ODD), half(s0, v / 2, d1, EVEN), half(s1, v / 2, d1, ODD)])
}

/// TDEINTERLEAVE.
pub fn deinterleave(inst: &Inst) -> Steps {
    let (d0, d1) = (inst.tile_index(Role::Dst0)?, inst.tile_index(Role::Dst1)?);
    let s0 = inst.tile_index(Role::Src0)?;
    let [rows, v] = valid(inst, d0)?;
    let Some(s1) = inst.tile_index(Role::Src1) else {
        // One source: it holds the whole stream.
        return Some(vec![copy([rows, v], (s0, EVEN), (d0, Map::SAME)), copy([rows, v], (s0, ODD), (d1, Map::SAME))]);
    };
    let half = |src, from, dst, at| copy([rows, v / 2], (src, from), (dst, Map::at(0, at)));
    Some(vec![half(s0, EVEN, d0, 0), half(s0, ODD, d1, 0), half(s1, EVEN, d0, v / 2), half(s1, ODD, d1, v / 2)])
}

/// TRESHAPE and `bitcast`: on cpu all bytes are copied; on a2a3 and a5 they are views and move nothing.
pub fn reshape(inst: &Inst) -> Steps {
    let (src, dst) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let len = inst.tiles.get(dst)?.tile.bytes();
    (inst.profile == Profile::Cpu).then(|| vec![Step::Bytes { src, dst, len }])
}
