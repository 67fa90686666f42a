//! Reductions (isa/reduce.md 2).

use super::*;
use tessera_isa::sem::Axis;

/// The axis of a fold that has one result for each of its places.
pub(super) fn each(inst: &Inst) -> Option<Axis> {
    match inst.op.info().sem {
        Sem::Fold { each, .. } => Some(each),
        _ => None,
    }
}

/// The axis with one result for each of its places, and the one that is folded, with their names.
fn axes(inst: &Inst) -> Option<[(usize, &'static str); 2]> {
    let [rows, cols] = [(0, "rows"), (1, "columns")];
    Some(if each(inst)? == Axis::Row { [rows, cols] } else { [cols, rows] })
}

/// `-valid`: one value for each row (column) of src, in column (row) 0 of every destination.
pub(super) fn valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let [(kept, name), (folded, across)] = axes(inst)?;
    let src = inst.tile(Role::Src)?;
    for role in [Role::Dst, Role::DstVal] {
        let Some(dst) = inst.tile(role) else { continue };
        if let (Some(from), Some(to)) = (src.valid[kept], dst.valid[kept])
            && from != to
        {
            let what = format!("src has {from} valid {name} and {role} has {to}");
            return broken(inst, role, rule, what, format!("set the valid {name} of {role} to {from}"));
        }
        let Some(n) = dst.valid[folded] else { continue };
        let fits = if inst.profile.is_npu() { n == 1 } else { n >= 1 };
        if !fits {
            let one = name.trim_end_matches('s');
            let what = format!("each {one} has one value, and {role} has {n} valid {across}");
            return broken(inst, role, rule, what, format!("set the valid {across} of {role} to 1"));
        }
    }
    None
}

/// `-empty`: there is something to fold. Hardware's row reductions and arg instructions take no empty region at all.
pub(super) fn empty(inst: &Inst, rule: Rule) -> Option<Fault> {
    let [(kept, name), (folded, across)] = axes(inst)?;
    let src = inst.tile(Role::Src)?;
    let finds = inst.op.info().rules.iter().any(|r| r.kind == RuleKind::ArgIndex);
    let both = inst.profile.is_npu() && (finds || each(inst)? == Axis::Row);
    let name = match (src.valid[folded], src.valid[kept]) {
        (Some(0), _) => across,
        (_, Some(0)) if both => name,
        _ => return None,
    };
    let what = format!("src has no valid {name}, so there is nothing to fold");
    broken(inst, Role::Src, rule, what, format!("give src at least 1 of its {name}"))
}

/// `-index`: the last place fits the type of the indices.
pub(super) fn index(inst: &Inst, rule: Rule) -> Option<Fault> {
    let [_, (folded, across)] = axes(inst)?;
    let (src, dst) = ends(inst)?;
    let elem = dst.tile.elem;
    let (n, last) = (src.valid[folded]?, elem.mask() >> u32::from(elem.is_signed()));
    if n == 0 || n - 1 <= last {
        return None;
    }
    let what = format!("src has {n} valid {across}, and {elem} holds places up to {last}");
    broken(inst, Role::Dst, rule, what, format!("make dst i32 or u32, or fold at most {} {across}", last + 1))
}
