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
        // An unknown extent of the inserted tile counts as 0.
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

/// `tinsert-hw`: here the result is the logical one; hardware copies blocks of 32 bytes, and in the split form whole
/// boxes of 16 rows (PTO ISA, TINSERT page, A5).
pub(super) fn hardware(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst).filter(|(src, dst)| {
        inst.profile == Profile::A5 && src.tile.loc == Loc::Vec && matches!(dst.tile.loc, Loc::Vec | Loc::Mat)
    })?;
    let (s, d) = (&src.tile, &dst.tile);
    let (from, to) = (s.loc.cpp(), d.loc.cpp());
    let col = inst.index_u64(Role::Col).unwrap_or(0);
    let c0 = s.elem.c0();
    let flow = (s.layout_name(), d.layout_name());
    let is_cut =
        flow == (LayoutName::Nz, LayoutName::Nz) || flow == (LayoutName::Nd, LayoutName::Nd) && d.loc == Loc::Mat;
    if is_cut && !col.is_multiple_of(c0) {
        let what = format!(
            "a5 {from}→{to} copies whole 32-byte blocks, and indexCol={col} is inside one: a block has {c0} {} columns",
            s.elem
        );
        let help = format!("indexCol {col} → {}", col / c0 * c0);
        return Some(Fault::new("tinsert-hw", what).help(help));
    }
    let read = ceil_to(src.valid[0]?, BOX_ROWS);
    if inst.attrs.split().is_some() && s.rows < read {
        let what = format!("a split insert reads {read} rows, whole boxes of 16, and the source declares {}", s.rows);
        return Some(Fault::new("tinsert-hw", what).help(format!("rows {} → {read} in the source", s.rows)));
    }
    None
}

/// Rows of a box of the split form.
const BOX_ROWS: u64 = 16;
