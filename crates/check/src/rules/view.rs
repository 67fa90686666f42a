//! Views of tiles: windows (ops.md 10, isa/today.md 5.1), and slots of multi-buffer tiles (isa/today.md 5.2).
//!
//! A window breaks `tsubview-window`, whatever is wrong with it.

use super::*;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (s, d) = (&src.tile, &dst.tile);
    let fault = |what: String, help: String| broken(inst, Role::Dst, "tsubview-window", what, help);
    if s.loc != d.loc || s.elem != d.elem || s.layout_name() != d.layout_name() || s.fractal != d.fractal {
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
    if let Some((box_rows, box_cols)) = s.box_dims().filter(|_| s.is_boxed()) {
        let asked = [
            ("rows", i128::from(d.rows), box_rows),
            ("columns", i128::from(d.cols), box_cols),
            ("row", inst.index(Role::Row).unwrap_or(0), box_rows),
            ("col", inst.index(Role::Col).unwrap_or(0), box_cols),
        ];
        if let Some((word, n, side)) = asked.into_iter().find(|(_, n, side)| n % i128::from(*side) != 0) {
            let what = format!("{word} {n} of the window is no multiple of the box's {side} ({box_rows}x{box_cols})");
            return fault(
                what,
                format!(
                    "write {} or {}",
                    n / i128::from(side) * i128::from(side),
                    (n / i128::from(side) + 1) * i128::from(side)
                ),
            );
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

/// `tile-multi`: the slot that `pto.multi_tile_get` asks for (isa/today.md 5.2).
pub(super) fn slot(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let slots = src.tile.bytes().checked_div(dst.tile.bytes())?;
    let index = inst.index(Role::Index)?;
    if (0..i128::from(slots)).contains(&index) {
        return None;
    }
    let what = format!("slot {index} is asked for of a multi-buffer tile of {slots}");
    let help = match slots.checked_sub(1) {
        Some(last) => format!("slots are 0 to {last}; buffers take turns with i mod {slots}"),
        None => format!("a slot of {} bytes is larger than the whole tile", dst.tile.bytes()),
    };
    broken(inst, Role::Src, rule, what, help)
}
