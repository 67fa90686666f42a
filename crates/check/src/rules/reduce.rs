//! Reductions (isa/reduce.md 2 and 4).

use super::{about, signature};
use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;
use tessera_isa::tile::{LayoutName, Loc};

/// `-valid`: one value for each row of src, in column 0 of dst.
pub(super) fn row_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let fault = |what: String, help: String| Some(about(inst, Role::Dst, Fault::new(rule, what).help(help)));
    if let (Some(from), Some(to)) = (src.valid[0], dst.valid[0])
        && from != to
    {
        let what = format!("src has {from} valid rows and dst has {to}");
        return fault(what, format!("set the valid rows of dst to {from}"));
    }
    let cols = dst.valid[1]?;
    let fits = if inst.profile.is_npu() { cols == 1 } else { cols >= 1 };
    if fits {
        return None;
    }
    let what = format!("each row has one value, and dst has {cols} valid columns");
    fault(what, "set the valid columns of dst to 1".into())
}

/// `-empty`: there is something to fold.
pub(super) fn empty(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let [rows, cols] = inst.tile(Role::Src)?.valid;
    let name = match (rows, cols) {
        (_, Some(0)) => "columns",
        (Some(0), _) if inst.profile.is_npu() => "rows",
        _ => return None,
    };
    let fault = Fault::new(rule, format!("src has no valid {name}, so there is nothing to fold"));
    Some(about(inst, Role::Src, fault.help(format!("give src at least 1 of its {name}"))))
}

/// `-tmp` of row reductions: in Vec, ND, of src's type.
pub(super) fn tmp(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (src, tmp) = (&inst.tile(Role::Src)?.tile, &inst.tile(Role::Tmp)?.tile);
    let what = if tmp.loc != Loc::Vec {
        format!("tmp is in Vec, and this one is in {}", tmp.loc.cpp())
    } else if tmp.layout_name() != LayoutName::Nd {
        format!("tmp is ND, and this one is {}", signature::layout(tmp))
    } else if tmp.elem != src.elem {
        format!("tmp has src's type {}, and this one is {}", src.elem, tmp.elem)
    } else {
        return None;
    };
    let fault = Fault::new(rule, what).help(format!("leave tmp out, or make it a Vec tile of {}, ND", src.elem));
    Some(about(inst, Role::Tmp, fault))
}
