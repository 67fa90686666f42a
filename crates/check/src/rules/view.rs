//! `tsubview-window`: TSUBVIEW and `pto.subset` (ops.md 10).

use super::*;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (s, d) = (&src.tile, &dst.tile);
    let fault = |what: String, help: String| broken(inst, Role::Dst, "tsubview-window", what, help);
    if let Some(boxed) = [s, d].into_iter().find(|t| t.is_boxed()) {
        let what = format!("a view is of a tile without boxes, and this one is {}", signature::layout(boxed));
        return fault(what, "TEXTRACT takes a window of a boxed tile".into());
    }
    if s.loc != d.loc || s.elem != d.elem || s.blayout != d.blayout {
        let what = format!("a view has its source's location, type and layout, and {d} is not like {s}");
        return fault(what, format!("make it {} {} {}", s.loc, s.elem, s.layout_name()));
    }
    let axes = [(Role::Row, s.rows, d.rows, "rows"), (Role::Col, s.cols, d.cols, "cols")];
    for (role, limit, extent, word) in axes {
        let Some(index) = inst.index(role) else { continue };
        let (limit, extent) = (i128::from(limit), i128::from(extent));
        let end = index.saturating_add(extent);
        if index < 0 || end > limit {
            let what =
                format!("the window of {extent} {word} at {role} {index} ends at {end}, and the source has {limit}");
            let help = if extent <= limit {
                format!("{role} is at most {}", limit - extent)
            } else {
                format!("the window has at most {limit} {word}")
            };
            return fault(what, help);
        }
    }
    let (r, c) = (inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?);
    let bits = src.layout.offset(r, c).checked_mul(i64::from(s.elem.bits()))?;
    if bits % (TILE_ALIGN as i64 * 8) != 0 {
        let what = format!("the window starts {} bytes into the tile, which is no multiple of {TILE_ALIGN}", bits / 8);
        return fault(what, format!("start it at a multiple of {} elements of a row", s.elem.c0()));
    }
    None
}
