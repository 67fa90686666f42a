//! TINSERT and TINSERT_FP (PTO ISA, TINSERT page; ops.md 3.2).

use super::about;
use super::signature;
use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;
use tessera_isa::profile::Profile;
use tessera_isa::sem::ceil_to;
use tessera_isa::tile::{LayoutName, Loc};

pub(super) fn signature(inst: &Inst) -> Option<Fault> {
    split(inst).or_else(|| signature::check(inst))
}

/// The NZ split moves an NZ Vec tile into an NZ Mat tile, on a5 (PTO ISA, TINSERT page); cpu takes it as a plain insert.
fn split(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let split = inst.attrs.split().filter(|_| inst.profile.is_npu())?;
    let (s, d) = (&src.tile, &dst.tile);
    if inst.profile == Profile::A2a3 {
        let what = format!("a2a3 has no {} insert, and TINSERT there is Acc→Mat", split.cpp());
        return Some(Fault::new("tinsert-loc", what).help("a5 and cpu take it"));
    }
    if (s.loc, d.loc) != (Loc::Vec, Loc::Mat) {
        let what = format!("a {} insert is Vec→Mat, and this is {}→{}", split.cpp(), s.loc.cpp(), d.loc.cpp());
        return Some(Fault::new("tinsert-loc", what).help("leave out `mode`"));
    }
    if (s.layout_name(), d.layout_name()) != (LayoutName::Nz, LayoutName::Nz) {
        let what =
            format!("a {} insert is NZ→NZ, and this is {}→{}", split.cpp(), signature::layout(s), signature::layout(d));
        return Some(Fault::new("tinsert-layout", what).help("leave out `mode`"));
    }
    None
}

pub(super) fn cols(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let (s, d) = (&src.tile, &dst.tile);
    let applies =
        inst.profile == Profile::A5 && (s.loc, d.loc) == (Loc::Vec, Loc::Vec) && s.layout_name() == LayoutName::Nz;
    if !applies || s.cols <= d.cols {
        return None;
    }
    let what =
        format!("a5 Vec→Vec NZ inserts no wider tile: the source has {} cols, the destination {}", s.cols, d.cols);
    Some(Fault::new("tinsert-cols", what).help(format!("cols {} → {} in the source", s.cols, d.cols)))
}

pub(super) fn align(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let (s, d) = (&src.tile, &dst.tile);
    let applies =
        inst.profile == Profile::A5 && (s.loc, d.loc) == (Loc::Vec, Loc::Mat) && s.layout_name() == LayoutName::Nd;
    if !applies {
        return None;
    }
    let v = src.valid[1]?;
    let c0 = s.elem.c0();
    if v % c0 == 0 {
        return None;
    }
    let what = format!(
        "a5 Vec→Mat ND copies whole 32-byte blocks, and a valid row of {v} {} is {} bytes",
        s.elem,
        s.elem.bytes_of(v)
    );
    let fault = Fault::new("tinsert-align", what).help(format!("v_col {v} → {}", ceil_to(v, c0)));
    Some(about(inst, Role::Src, fault))
}

pub(super) fn bounds(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let axes = [(Role::Row, dst.tile.rows, src.valid[0], "rows"), (Role::Col, dst.tile.cols, src.valid[1], "cols")];
    for (role, limit, valid, word) in axes {
        let Some(index) = inst.index(role) else { continue };
        let name = role.cpp();
        // What is inserted has at least no extent.
        let extent = i128::from(valid.unwrap_or(0));
        let limit = i128::from(limit);
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
            return Some(about(inst, Role::Dst, Fault::new("tinsert-bounds", what).help(help)));
        }
    }
    None
}

/// `tinsert-nd-into-boxed`: here the result is the logical one, whatever hardware makes of it (ops.md 3.2).
pub(super) fn nd_into_boxed(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (&inst.tile(Role::Src)?.tile, &inst.tile(Role::Dst)?.tile);
    let applies = inst.profile == Profile::A5
        && (src.loc, dst.loc) == (Loc::Vec, Loc::Mat)
        && (src.layout_name(), dst.layout_name()) == (LayoutName::Nd, LayoutName::Nz);
    if !applies {
        return None;
    }
    let what = "ND rows are inserted into an NZ tile logically, and hardware copies them as they lie";
    Some(Fault::new("tinsert-nd-into-boxed", what).help("TMOV the source to an NZ tile first, and insert that"))
}
