//! Reductions (isa/reduce.md 2 and 4).

use super::*;

/// `-valid`: one value for each row of src, in column 0 of dst.
pub(super) fn row_valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    if let (Some(from), Some(to)) = (src.valid[0], dst.valid[0])
        && from != to
    {
        let what = format!("src has {from} valid rows and dst has {to}");
        return broken(inst, Role::Dst, rule, what, format!("set the valid rows of dst to {from}"));
    }
    let cols = dst.valid[1]?;
    let fits = if inst.profile.is_npu() { cols == 1 } else { cols >= 1 };
    if fits {
        return None;
    }
    let what = format!("each row has one value, and dst has {cols} valid columns");
    broken(inst, Role::Dst, rule, what, "set the valid columns of dst to 1")
}

/// `-empty`: there is something to fold.
pub(super) fn empty(inst: &Inst, rule: Rule) -> Option<Fault> {
    let [rows, cols] = inst.tile(Role::Src)?.valid;
    let name = match (rows, cols) {
        (_, Some(0)) => "columns",
        (Some(0), _) if inst.profile.is_npu() => "rows",
        _ => return None,
    };
    let what = format!("src has no valid {name}, so there is nothing to fold");
    broken(inst, Role::Src, rule, what, format!("give src at least 1 of its {name}"))
}
