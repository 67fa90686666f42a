//! TSORT32 and TMRGSORT (isa/irregular.md 2 and 6).

use super::*;
use tessera_isa::sem::record_columns;

pub(super) fn check(inst: &Inst, rule: &RuleUse) -> Option<Fault> {
    let id = rule.id;
    match rule.kind {
        RuleKind::SortValid => sort_valid(inst, id),
        RuleKind::SortTmp => sort_tmp(inst, id),
        RuleKind::SortTmpSize => sort_tmp_size(inst, id),
        RuleKind::MergeValid => merge_valid(inst, id),
        RuleKind::MergeBlock => merge_block(inst, id),
        RuleKind::MergeTmp => merge_tmp(inst, id),
        RuleKind::MergeTmpSize => merge_tmp_size(inst, id),
        _ => None,
    }
}

fn sort_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let ((src, dst), idx) = (ends(inst)?, inst.tile(Role::Idx)?);
    let pairs = |axis: usize, other: &TileArg| src.valid[axis].zip(other.valid[axis]);
    if let Some((n, m)) = pairs(1, idx).filter(|(n, m)| n != m) {
        let what = format!("src has {n} valid columns and idx has {m}");
        return broken(inst, Role::Idx, rule, what, format!("set the valid columns of idx to {n}"));
    }
    if let Some((n, m)) = pairs(0, idx).filter(|(n, m)| n != m && *m != 1) {
        let what = format!("src has {n} valid rows and idx has {m}");
        return broken(inst, Role::Idx, rule, what, format!("set the valid rows of idx to {n}, or to 1 for all rows"));
    }
    if let Some((n, m)) = pairs(0, dst).filter(|(n, m)| n != m) {
        let what = format!("src has {n} valid rows and dst has {m}");
        return broken(inst, Role::Dst, rule, what, format!("set the valid rows of dst to {n}"));
    }
    let (cols, room) = pairs(1, dst)?;
    let wanted = record_columns(inst)? * cols;
    let what = format!("{cols} records take {wanted} columns, and dst has {room} valid ones");
    if room >= wanted {
        None
    } else {
        broken(inst, Role::Dst, rule, what, format!("set the valid columns of dst to {wanted}"))
    }
}

fn sort_tmp(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let src = inst.tile(Role::Src)?;
    let like = format!("give a Vec tile of {}, ND", src.tile.elem);
    let Some(tmp) = inst.tile(Role::Tmp) else {
        let cols = src.valid[1].filter(|cols| cols % 32 != 0 && !inst.finds_scratch)?;
        let what =
            format!("{cols} columns are no whole blocks of 32, and {} sorts such rows through tmp", inst.profile);
        return Some(Fault::new(rule, what).help(like));
    };
    broken(inst, Role::Tmp, rule, wrong_scratch(&tmp.tile, &src.tile, Role::Src)?, like)
}

fn sort_tmp_size(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (src, tmp) = (inst.tile(Role::Src)?, inst.tile(Role::Tmp)?);
    let cols = src.valid[1].filter(|cols| cols % 32 != 0)?;
    let wanted = if cols * src.tile.elem.size()? > 8160 { 32 } else { ceil_to(cols, 32) };
    too_narrow(inst, tmp, wanted, rule)
}

fn too_narrow(inst: &Inst, tmp: &TileArg, wanted: u64, rule: &'static str) -> Option<Fault> {
    let cols = tmp.tile.cols;
    let what = format!("{} needs {wanted} columns of tmp, and this one declares {cols}", inst.profile);
    if cols >= wanted {
        None
    } else {
        broken(inst, Role::Tmp, rule, what, format!("declare tmp with {wanted} columns"))
    }
}

/// The tiles of records: lists, or the one source, and the destination.
fn of_records(inst: &Inst) -> impl Iterator<Item = &TileArg> {
    inst.tiles.iter().filter(|t| t.role != Role::Executed && t.role != Role::Tmp)
}

fn merge_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    if let Some(tile) = of_records(inst).find(|t| t.tile.rows != 1) {
        let what = format!("records are merged in one row, and {} declares {}", tile.role, tile.tile.rows);
        return broken(inst, tile.role, rule, what, format!("declare {} with 1 row", tile.role));
    }
    let p = record_columns(inst)?;
    let broken_record = |t: &&TileArg| t.valid[1].is_some_and(|cols| cols % p != 0);
    if let Some(tile) = of_records(inst).find(broken_record) {
        let what = format!("a record takes {p} columns, and {} has {} valid ones", tile.role, tile.valid[1]?);
        return broken(inst, tile.role, rule, what, format!("set the valid columns to a multiple of {p}"));
    }
    let (src, dst) = ends(inst)?;
    let (n, m) = src.valid[1].zip(dst.valid[1]).filter(|(n, m)| n != m)?;
    let what = format!("src has {n} valid columns and dst has {m}");
    broken(inst, Role::Dst, rule, what, format!("set the valid columns of dst to {n}"))
}

fn merge_block(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let scalar = inst.scalar_arg(Role::Scalar)?;
    if !scalar.is_integer() {
        let what = "blockLen is an integer or index, and this one is a float";
        return Some(Fault::new("type-mismatch", what).help("give an integer"));
    }
    let Some(Number::Int(length)) = scalar.value else { return None };
    let unit = if inst.profile.is_npu() { 64 } else { i128::from(record_columns(inst)?) };
    if length <= 0 || length % unit != 0 {
        let what = format!("blockLen is {length}, and blocks have a positive multiple of {unit} columns");
        return Some(Fault::new(rule, what).help(format!("give a multiple of {unit}")));
    }
    let cols = inst.tile(Role::Src)?.valid[1].filter(|_| inst.profile.is_npu())?;
    let groups = i128::from(cols) / (4 * length);
    let fits = i128::from(cols) % (4 * length) == 0 && (1..=255).contains(&groups);
    let what =
        format!("src has {cols} valid columns, and {} merges 1 to 255 times {} of them", inst.profile, 4 * length);
    (!fits)
        .then(|| Fault::new(rule, what).help(format!("set the valid columns of src to a multiple of {}", 4 * length)))
}

fn merge_tmp(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (tmp, src) = (inst.tile(Role::Tmp)?, inst.tile(Role::Src0)?);
    let rows = || (tmp.tile.rows != 1).then(|| format!("tmp has 1 row, and this one declares {}", tmp.tile.rows));
    let what = wrong_scratch(&tmp.tile, &src.tile, Role::Src0).or_else(rows)?;
    broken(inst, Role::Tmp, rule, what, format!("give a Vec tile of {}, ND, with 1 row", src.tile.elem))
}

fn merge_tmp_size(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let tmp = inst.tile(Role::Tmp)?;
    let lists = of_records(inst).filter(|t| !t.role.is_dst());
    let wanted: Option<u64> = lists.map(|t| t.valid[1]).sum();
    too_narrow(inst, tmp, wanted?, rule)
}
