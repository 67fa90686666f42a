//! TMOV, TEXTRACT and TINSERT: a window of one tile becomes a window of another (ops.md 2 and 3, fixpipe.md 5 and 6).

use super::{How, Map, Move, Rect, Side, Step, ceil_to, fill_bits, fill_outside, valid};
use crate::inst::{AccToVec, Inst};
use crate::ops::{Form, Opcode, Role};
use crate::profile::Profile;
use crate::tile::{LayoutName, Loc, SLayout, Tile};

/// TMOV, TEXTRACT and TINSERT: a window of the source at `from` becomes a window of the destination at `to`.
pub(super) fn window(inst: &Inst, dst_role: Role, from: [u64; 2], to: [u64; 2]) -> Option<Vec<Step>> {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(dst_role)?);
    let (src, dst) = (&inst.tiles.get(s)?.tile, &inst.tiles.get(d)?.tile);
    let extract = matches!(inst.op, Opcode::Textract | Opcode::TextractFp);
    let (halves_m, halves_n) = inst.dual_division();
    // What one core writes: TEXTRACT takes its size from the destination, the others from the source.
    let [rows, cols] = if extract {
        valid(inst, d)?
    } else {
        let [r, c] = valid(inst, s)?;
        [r / halves_m, c / halves_n]
    };
    let cores: &[(u8, u64)] = match inst.attrs.acc_to_vec() {
        Some(AccToVec::SingleModeVec1) => &[(1, 0)],
        Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN) => &[(0, 0), (1, 1)],
        _ => &[(0, 0)],
    };
    let how = if inst.is_fixpipe() {
        How::Fixpipe { first: if extract { from[1] } else { 0 } }
    } else if src.elem != dst.elem {
        How::Convert
    } else {
        How::Bits
    };
    let mut all = Vec::new();
    for (core, half) in cores {
        let origin = [from[0] + half * rows * (halves_m - 1), from[1] + half * cols * (halves_n - 1)];
        if rows > 0
            && cols > 0
            && let Some([r, c]) = footprint(inst, src, dst, rows, cols, extract)
        {
            let rect = Rect { row: to[0], col: to[1], rows: r, cols: c };
            all.push(Step::Clobber { dst: d, core: *core, rect });
        }
        let geometry = Move { rows, cols, src: Map::at(origin[0], origin[1]), dst: Map::at(to[0], to[1]) };
        all.push(Step::Move { src: Side::Tile(s), dst: Side::Tile(d), core: *core, how, geometry });
    }
    if inst.form == Form::Fill {
        fill_outside(inst, d, valid(inst, d)?, fill_bits(inst, dst)?, &mut all);
    }
    Some(all)
}

/// Rows and columns of the block that hardware writes from the window's origin, where it writes more than the window
/// (ops.md 2, 3.2; fixpipe.md 5).
fn footprint(inst: &Inst, src: &Tile, dst: &Tile, rows: u64, cols: u64, extract: bool) -> Option<[u64; 2]> {
    let c0 = dst.elem.c0();
    let nz = |t: &Tile| t.layout_name() == LayoutName::Nz;
    let is_move = matches!(inst.op, Opcode::Tmov | Opcode::TmovFp);
    let is_insert = matches!(inst.op, Opcode::Tinsert | Opcode::TinsertFp);
    match (inst.profile, src.loc, dst.loc) {
        (Profile::Cpu, ..) => None,
        (Profile::A2a3, Loc::Vec, Loc::Vec) if is_move => Some(blocks(dst, rows, cols)),
        (_, Loc::Acc, Loc::Mat) => Some([if extract { rows } else { src.rows }, ceil_to(cols, c0)]),
        (_, Loc::Acc, Loc::Vec) if nz(dst) => {
            let (halves_m, halves_n) = inst.dual_division();
            let unit = if halves_m == 2 {
                16
            } else if halves_n == 2 {
                32
            } else {
                c0
            };
            Some([if extract { rows } else { src.rows / halves_m }, ceil_to(cols, unit)])
        }
        (Profile::A5, Loc::Vec, _) if is_insert && nz(src) => {
            let rows = if inst.attrs.split().is_some() { ceil_to(rows, 16) } else { rows };
            Some([rows, ceil_to(cols, c0)])
        }
        _ => None,
    }
}

/// A window from (0, 0) rounded up to whole 32-byte blocks, clipped to the declared area.
fn blocks(tile: &Tile, rows: u64, cols: u64) -> [u64; 2] {
    let c0 = tile.elem.c0();
    let along_rows = tile.layout_name() == LayoutName::Dn || tile.slayout == SLayout::ColMajor;
    let (br, bc) = match (tile.is_boxed(), tile.fractal, tile.box_dims()) {
        // A box of fractal 32 is one block.
        (true, 32, Some((ir, ic))) if ir > 1 => (ir, ic),
        _ if along_rows => (c0, 1),
        _ => (1, c0),
    };
    [ceil_to(rows, br).min(tile.rows), ceil_to(cols, bc).min(tile.cols)]
}
