//! `footprint`: blocks that hardware writes and that leave the tile (ops.md 1 rule 3, fixpipe.md 5).

use super::*;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    if !inst.profile.is_npu() {
        return None;
    }
    steps(inst)?.into_iter().find_map(|step| {
        let Step::Clobber { dst, rect, .. } = step else { return None };
        let tile = &inst.tiles.get(dst)?.tile;
        if !rect.leaves(tile.rows, tile.cols) {
            return None;
        }
        let what = format!(
            "{} writes {}x{} elements at ({}, {}), past the destination's declared {}x{}",
            inst.profile, rect.rows, rect.cols, rect.row, rect.col, tile.rows, tile.cols
        );
        let (ir, ic) = tile.box_dims()?;
        let rows = ceil_to(tile.rows.max(rect.row.saturating_add(rect.rows)), ir);
        let cols = ceil_to(tile.cols.max(rect.col.saturating_add(rect.cols)), ic);
        Some(Fault::new("footprint", what).help(format!("declare the destination {rows}x{cols}")).on(dst))
    })
}
