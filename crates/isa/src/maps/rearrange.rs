//! TTRANS, TCONCAT, TPACK, TINTERLEAVE and TDEINTERLEAVE (ops.md 5, 6 and 8).

use super::{How, Map, Move, Rect, Side, Step, ceil_to, plain, valid};
use crate::inst::Inst;
use crate::ops::{Opcode, Role};
use crate::profile::Profile;

pub(super) fn transpose(inst: &Inst) -> Option<Vec<Step>> {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let (src, dst) = (&inst.tiles.get(s)?.tile, &inst.tiles.get(d)?.tile);
    // a5 transposes the declared shape, whatever is valid (ttrans seed).
    let [rows, cols] = if inst.profile == Profile::A5 { [src.rows, src.cols] } else { valid(inst, s)? };
    let mut all = Vec::new();
    if let Some(tile) = inst.tile_index(Role::Tmp) {
        all.push(Step::Scratch { tile });
    }
    if inst.profile == Profile::A2a3 && rows > 0 && cols > 0 {
        let rect = Rect { row: 0, col: 0, rows: cols, cols: ceil_to(rows, dst.elem.c0()).min(dst.cols) };
        all.push(Step::Clobber { dst: d, core: 0, rect });
    }
    all.push(plain(Side::Tile(s), Side::Tile(d), Move { rows, cols, src: Map::at(0, 0), dst: Map::transposed() }));
    Some(all)
}

pub(super) fn concat(inst: &Inst) -> Option<Vec<Step>> {
    let (s0, s1, d) = (inst.tile_index(Role::Src0)?, inst.tile_index(Role::Src1)?, inst.tile_index(Role::Dst)?);
    let ([r0, c0], [r1, c1]) = (valid(inst, s0)?, valid(inst, s1)?);
    let by_rows = inst.attrs.dim() == 0;
    let second = if by_rows { Map::at(r0, 0) } else { Map::at(0, c0) };
    let mut all = Vec::new();
    if inst.profile == Profile::A2a3 && r0 > 0 && c0 + c1 > 0 {
        let dst = &inst.tiles.get(d)?.tile;
        let cols = ceil_to(c0 + c1, dst.elem.c0()).min(dst.cols);
        all.push(Step::Clobber { dst: d, core: 0, rect: Rect { row: 0, col: 0, rows: r0, cols } });
    }
    let first = Move { rows: r0, cols: c0, src: Map::at(0, 0), dst: Map::at(0, 0) };
    let then = Move { rows: r1, cols: c1, src: Map::at(0, 0), dst: second };
    all.push(plain(Side::Tile(s0), Side::Tile(d), first));
    all.push(plain(Side::Tile(s1), Side::Tile(d), then));
    Some(all)
}

pub(super) fn pack(inst: &Inst) -> Option<Vec<Step>> {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let [rows, cols] = valid(inst, s)?;
    let geometry = Move { rows, cols, src: Map::at(0, 0), dst: Map::at(0, 0) };
    Some(vec![Step::Move { src: Side::Tile(s), dst: Side::Tile(d), core: 0, how: How::LowBytes, geometry }])
}

pub(super) fn interleave(inst: &Inst) -> Option<Vec<Step>> {
    let (d0, d1) = (inst.tile_index(Role::Dst0)?, inst.tile_index(Role::Dst1)?);
    let s0 = inst.tile_index(Role::Src0)?;
    let [rows, v] = valid(inst, d0)?;
    let step = |s: usize, d: usize, cols: u64, src: Map, dst: Map| {
        plain(Side::Tile(s), Side::Tile(d), Move { rows, cols, src, dst })
    };
    let Some(s1) = inst.tile_index(Role::Src1) else {
        // One source: it holds the whole stream.
        return Some(vec![
            step(s0, d0, v, Map::columns(0, 2), Map::at(0, 0)),
            step(s0, d1, v, Map::columns(1, 2), Map::at(0, 0)),
        ]);
    };
    let h = v / 2;
    Some(if inst.op == Opcode::Tinterleave {
        vec![
            step(s0, d0, h, Map::at(0, 0), Map::columns(0, 2)),
            step(s1, d0, h, Map::at(0, 0), Map::columns(1, 2)),
            step(s0, d1, h, Map::at(0, h), Map::columns(0, 2)),
            step(s1, d1, h, Map::at(0, h), Map::columns(1, 2)),
        ]
    } else {
        vec![
            step(s0, d0, h, Map::columns(0, 2), Map::at(0, 0)),
            step(s0, d1, h, Map::columns(1, 2), Map::at(0, 0)),
            step(s1, d0, h, Map::columns(0, 2), Map::at(0, h)),
            step(s1, d1, h, Map::columns(1, 2), Map::at(0, h)),
        ]
    })
}
