//! TGATHER by index (isa/irregular.md 2 and 4).

use super::{about, signature};
use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;
use tessera_isa::tile::{LayoutName, Loc};

/// `-valid`: idx has dst's valid region; hardware takes whole rows of both.
pub(super) fn valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (idx, dst) = (inst.tile(Role::Idx)?, inst.tile(Role::Dst)?);
    for (axis, name) in ["rows", "columns"].into_iter().enumerate() {
        if let (Some(n), Some(m)) = (idx.valid[axis], dst.valid[axis])
            && n != m
        {
            let what = format!("idx has {n} valid {name} and dst has {m}");
            let fault = Fault::new(rule, what).help(format!("set the valid {name} of idx to {m}"));
            return Some(about(inst, Role::Idx, fault));
        }
    }
    let narrow = |t: &&&tessera_isa::inst::TileArg| t.valid[1].is_some_and(|v| v != t.tile.cols);
    let arg = [dst, idx].iter().find(narrow).copied().filter(|_| inst.profile.is_npu())?;
    let what = format!(
        "{} gathers whole rows, and {} has {} valid columns of {} declared ones",
        inst.profile, arg.role, arg.valid[1]?, arg.tile.cols
    );
    let help = format!("set the valid columns of {} to {}", arg.role, arg.tile.cols);
    Some(about(inst, arg.role, Fault::new(rule, what).help(help)))
}

/// `-tmp`: a2a3 needs a scratch tile like idx.
pub(super) fn tmp(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let idx = inst.tile(Role::Idx)?;
    let like = format!("give a Vec tile of {}, ND, with idx's valid region", idx.tile.elem);
    let Some(arg) = inst.tile(Role::Tmp) else {
        return Some(Fault::new(rule, format!("{} TGATHER needs a scratch tile", inst.profile)).help(like));
    };
    let tmp = &arg.tile;
    let what = if tmp.loc != Loc::Vec {
        format!("tmp is in Vec, and this one is in {}", tmp.loc.cpp())
    } else if tmp.layout_name() != LayoutName::Nd {
        format!("tmp is ND, and this one is {}", signature::layout(tmp))
    } else if tmp.elem != idx.tile.elem {
        format!("tmp has idx's type {}, and this one is {}", idx.tile.elem, tmp.elem)
    } else {
        let differs = |axis: usize| arg.valid[axis].zip(idx.valid[axis]).filter(|(a, b)| a != b);
        let (n, m) = differs(0).or_else(|| differs(1))?;
        format!("tmp has idx's valid region, and {n} is not {m}")
    };
    Some(about(inst, Role::Tmp, Fault::new(rule, what).help(like)))
}
