//! TFILLPAD: a region is copied and the rest is filled (ops.md 6).

use super::{Map, Rect, Step, Steps, copy, valid};
use crate::inst::Inst;
use crate::ops::{Bind, Form, Role};

/// TFILLPAD, TFILLPAD_EXPAND and TFILLPAD_INPLACE, whose source and destination are one tile.
pub fn fillpad(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    if inst.form == Form::Fill {
        return Some(fill_outside(inst, d, valid(inst, d)?, fill_bits(inst, d)?).collect());
    }
    let s = inst.tile_index(Role::Src)?;
    let kept = valid(inst, s)?;
    let fills = fill_outside(inst, d, kept, inst.tiles.get(d)?.tile.pad_bits()?);
    let is_one_tile = inst.op.info().binds == Some(Bind::InPlace);
    let copied = (!is_one_tile).then(|| copy(kept, (s, Map::SAME), (d, Map::SAME)));
    Some(copied.into_iter().chain(fills).collect())
}

/// The fill operand in the type of tile `dst`.
pub(super) fn fill_bits(inst: &Inst, dst: usize) -> Option<u64> {
    inst.tiles.get(dst)?.tile.elem.encode_exact(&inst.scalar(Role::Fill)?)
}

/// Fills everything of the declared area outside the first `kept` rows and columns.
pub(super) fn fill_outside(inst: &Inst, dst: usize, kept: [u64; 2], bits: u64) -> impl Iterator<Item = Step> + use<> {
    let [rows, cols] = inst.tiles.get(dst).map_or([0, 0], |t| [t.tile.rows, t.tile.cols]);
    let [r, c] = [kept[0].min(rows), kept[1].min(cols)];
    let right = Rect { row: 0, col: c, rows: r, cols: cols - c };
    let below = Rect { row: r, col: 0, rows: rows - r, cols };
    [right, below].into_iter().filter(|rect| !rect.is_empty()).map(move |rect| Step::Fill { dst, rect, bits })
}
