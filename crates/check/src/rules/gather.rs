//! TGATHER by index (isa/irregular.md 2 and 4).

use super::*;

/// `-valid`: idx has dst's valid region; hardware takes whole rows of both.
pub(super) fn valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (idx, dst) = (inst.tile(Role::Idx)?, inst.tile(Role::Dst)?);
    if let Some((axis, n, m)) = differ(idx, dst) {
        let name = ["rows", "columns"][axis];
        let what = format!("idx has {n} valid {name} and dst has {m}");
        return broken(inst, Role::Idx, rule, what, format!("set the valid {name} of idx to {m}"));
    }
    let narrow = |t: &&&TileArg| t.valid[1].is_some_and(|v| v != t.tile.cols);
    let arg = [dst, idx].iter().find(narrow).copied().filter(|_| inst.profile.is_npu())?;
    let what = format!(
        "{} gathers whole rows, and {} has {} valid columns of {} declared ones",
        inst.profile, arg.role, arg.valid[1]?, arg.tile.cols
    );
    broken(inst, arg.role, rule, what, format!("set the valid columns of {} to {}", arg.role, arg.tile.cols))
}

/// `-tmp`: a2a3 needs a scratch tile like idx.
pub(super) fn tmp(inst: &Inst, rule: Rule) -> Option<Fault> {
    let idx = inst.tile(Role::Idx)?;
    let like = format!("give a Vec tile of {}, ND, with idx's valid region", idx.tile.elem);
    let Some(arg) = inst.tile(Role::Tmp) else {
        return Some(Fault::new(rule, format!("{} TGATHER needs a scratch tile", inst.profile)).help(like));
    };
    let region = || differ(arg, idx).map(|(_, n, m)| format!("tmp has idx's valid region, and {n} is not {m}"));
    broken(inst, Role::Tmp, rule, wrong_scratch(&arg.tile, &idx.tile, Role::Idx).or_else(region)?, like)
}
