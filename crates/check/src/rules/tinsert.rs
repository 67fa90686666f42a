//! TINSERT and TINSERT_FP (PTO ISA, TINSERT page; ops.md 3.2).

use super::*;

pub(super) fn signature(inst: &Inst) -> Option<Fault> {
    split(inst).or_else(|| signature::check(inst))
}

/// The NZ split moves an NZ Vec tile into an NZ Mat tile, on a5 (PTO ISA, TINSERT page); cpu takes it as a plain insert.
fn split(inst: &Inst) -> Option<Fault> {
    let (s, d) = ends(inst).map(|(src, dst)| (&src.tile, &dst.tile))?;
    let split = inst.attrs.split().filter(|_| inst.profile.is_npu())?;
    if inst.profile == Profile::A2a3 {
        let what = format!("a2a3 has no {} insert, and TINSERT there is Acc→Mat", split.cpp());
        return Some(Fault::new("tinsert-loc", what).help("a5 and cpu take it"));
    }
    if (s.loc, d.loc) != (Loc::Vec, Loc::Mat) {
        let what = format!("a {} insert is Vec→Mat, and this is {}→{}", split.cpp(), s.loc.cpp(), d.loc.cpp());
        return Some(Fault::new("tinsert-loc", what).help("leave out `mode`"));
    }
    if (s.layout_name(), d.layout_name()) != (LayoutName::Nz, LayoutName::Nz) {
        let (from, to) = (signature::layout(s), signature::layout(d));
        let what = format!("a {} insert is NZ→NZ, and this is {from}→{to}", split.cpp());
        return Some(Fault::new("tinsert-layout", what).help("leave out `mode`"));
    }
    None
}

pub(super) fn cols(inst: &Inst) -> Option<Fault> {
    let (src, dst) = a5_ends(inst, Loc::Vec, Loc::Vec)?;
    let (s, d) = (src.tile.cols, dst.tile.cols);
    if src.tile.layout_name() != LayoutName::Nz || s <= d {
        return None;
    }
    let what = format!("a5 Vec→Vec NZ inserts no wider tile: the source has {s} cols, the destination {d}");
    Some(Fault::new("tinsert-cols", what).help(format!("cols {s} → {d} in the source")))
}

pub(super) fn align(inst: &Inst) -> Option<Fault> {
    let (src, _) = a5_ends(inst, Loc::Vec, Loc::Mat)?;
    let (v, elem) = (src.valid[1]?, src.tile.elem);
    if src.tile.layout_name() != LayoutName::Nd || v % elem.c0() == 0 {
        return None;
    }
    let bytes = elem.bytes_of(v);
    let what = format!("a5 Vec→Mat ND copies whole 32-byte blocks, and a valid row of {v} {elem} is {bytes} bytes");
    broken(inst, Role::Src, "tinsert-align", what, format!("v_col {v} → {}", ceil_to(v, elem.c0())))
}

pub(super) fn bounds(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let axes = [(Role::Row, dst.tile.rows, src.valid[0], "rows"), (Role::Col, dst.tile.cols, src.valid[1], "cols")];
    for (role, limit, valid, word) in axes {
        let Some(index) = inst.index(role) else { continue };
        let name = role.cpp();
        // What is inserted has at least no extent.
        let (extent, limit) = (i128::from(valid.unwrap_or(0)), i128::from(limit));
        let end = index.saturating_add(extent);
        if index < 0 || end > limit {
            let what = format!(
                "{extent} valid {word} inserted at {name}={index} end at {end}, and the destination has {limit} declared {word}"
            );
            let help = if extent <= limit {
                format!("{name} is at most {}", limit - extent)
            } else {
                format!("the source has at most {limit} valid {word}")
            };
            return broken(inst, Role::Dst, "tinsert-bounds", what, help);
        }
    }
    None
}

/// `tinsert-nd-into-boxed`: here the result is the logical one, whatever hardware makes of it (ops.md 3.2).
pub(super) fn nd_into_boxed(inst: &Inst) -> Option<Fault> {
    let (src, dst) = a5_ends(inst, Loc::Vec, Loc::Mat)?;
    if (src.tile.layout_name(), dst.tile.layout_name()) != (LayoutName::Nd, LayoutName::Nz) {
        return None;
    }
    let what = "ND rows are inserted into an NZ tile logically, and hardware copies them as they lie";
    Some(Fault::new("tinsert-nd-into-boxed", what).help("TMOV the source to an NZ tile first, and insert that"))
}
