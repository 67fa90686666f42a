//! Expansions (isa/reduce.md 2).

use super::*;
use tessera_isa::sem::full_operand;

/// `-valid` of TROWEXPAND: a value for each row of dst.
pub(super) fn column(inst: &Inst, rule: Rule) -> Option<Fault> {
    values(inst, rule, [(0, "rows"), (1, "columns")])
}

/// `-valid` of TCOLEXPAND: a value for each column of dst.
pub(super) fn row(inst: &Inst, rule: Rule) -> Option<Fault> {
    values(inst, rule, [(1, "columns"), (0, "rows")])
}

fn values(inst: &Inst, rule: Rule, [(kept, name), (other, across)]: [(usize, &str); 2]) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    if let (Some(from), Some(to)) = (src.valid[kept], dst.valid[kept])
        && from != to
    {
        let what = format!("src has {from} valid {name} and dst has {to}");
        let fault = broken(inst, Role::Src, rule, what, format!("set the valid {name} of src to {to}"))?;
        return Some(super::elementwise::into_padding(fault, src, dst, kept));
    }
    if src.valid[other]? > 0 {
        return None;
    }
    let what = format!("src has no valid {across}, so there is nothing to copy");
    broken(inst, Role::Src, rule, what, format!("give src at least 1 of its {across}"))
}

/// The operand that is repeated, where it is known which one that is: of a legal instruction one has dst's valid region,
/// so that a source with another extent is the one that is repeated.
pub(super) fn broadcast(inst: &Inst) -> Option<&TileArg> {
    let role = match full_operand(inst) {
        Some(full) => {
            if full == Role::Src0 {
                Role::Src1
            } else {
                Role::Src0
            }
        }
        None => {
            let dst = inst.dst()?;
            let apart = |role: &Role| {
                let pairs = inst.tile(*role).map(|t| t.valid.into_iter().zip(dst.valid));
                pairs.is_some_and(|mut p| p.any(|(a, b)| a.zip(b).is_some_and(|(a, b)| a != b)))
            };
            let mut found = [Role::Src0, Role::Src1].into_iter().filter(apart);
            found.next().filter(|_| found.next().is_none())?
        }
    };
    inst.tile(role)
}

fn region(t: &TileArg) -> String {
    let extent = |v: Option<u64>| v.map_or("?".into(), |v| v.to_string());
    format!("{}x{}", extent(t.valid[0]), extent(t.valid[1]))
}

/// One operand is full: it has dst's valid region and, on hardware, lies row by row.
fn full(inst: &Inst, rule: Rule) -> Option<Fault> {
    if full_operand(inst)? == Role::Src0 {
        return None;
    }
    let (dst, first, second) = (inst.dst()?, inst.tile(Role::Src0)?, inst.tile(Role::Src1)?);
    let is_skew = |t: &TileArg| inst.profile.is_npu() && t.tile.layout_name() != LayoutName::Nd;
    let other = differ(second, dst);
    if other.is_none() && !is_skew(second) {
        return None;
    }
    // A full operand in another layout is a matter of the layout (isa/notes.md).
    let skew = [first, second].into_iter().find(|t| is_skew(t) && t.valid == dst.valid && !t.valid.contains(&None));
    if let (Some(t), Some(layout)) = (skew, inst.op.info().ids.layout) {
        let what =
            format!("{} has dst's valid region and is {}, and a full operand is ND", t.role, t.tile.layout_name());
        return broken(inst, t.role, layout, what, format!("make {} row_major", t.role));
    }
    let what = format!(
        "src0 has the valid region {}, src1 {} and dst {}, and one source has dst's",
        region(first),
        region(second),
        region(dst)
    );
    broken(inst, Role::Src0, rule, what, format!("set the valid region of one source to {}", region(dst)))
}

/// `-valid` of a row expand with an operation: a full operand, and a value or a 32-byte block for each row.
pub(super) fn rows(inst: &Inst, rule: Rule) -> Option<Fault> {
    if let Some(fault) = full(inst, rule) {
        return Some(fault);
    }
    let (dst, other) = (inst.dst()?, broadcast(inst)?);
    let role = other.role;
    if let (Some(n), Some(m)) = (other.valid[0], dst.valid[0])
        && n != m
    {
        let what = format!("{role} has values for {n} rows, and dst has {m} valid rows");
        let fault = broken(inst, role, rule, what, format!("set the valid rows of {role} to {m}"))?;
        return Some(super::elementwise::into_padding(fault, other, dst, 0));
    }
    let (n, block) = (other.valid[1]?, other.tile.elem.c0());
    let in_rows = other.tile.layout_name() == LayoutName::Nd;
    let one = !inst.profile.is_npu() || !in_rows || inst.attrs.src1_col() == Some(1);
    let many = !inst.profile.is_npu() || in_rows;
    if n == 1 && one || n == block && many {
        return None;
    }
    let asked = match (one, many) {
        (true, true) => format!("1 or {block}"),
        (true, false) => "1".into(),
        _ => format!("{block}, or 1 with src1Col = 1 or in a col_major tile"),
    };
    let what = format!("{role} has {n} valid columns, and the operand that is repeated along the rows has {asked}");
    let columns = if many { block } else { 1 };
    let help = match n == 1 && in_rows {
        true => format!("write src1Col = 1, which repeats column 0 of {role}, or make {role} col_major"),
        false => format!("set the valid columns of {role} to {columns}"),
    };
    broken(inst, role, rule, what, help)
}

/// `-valid` of a column expand with an operation: a full operand, and one row.
pub(super) fn columns(inst: &Inst, rule: Rule) -> Option<Fault> {
    if let Some(fault) = full(inst, rule) {
        return Some(fault);
    }
    let (dst, other) = (inst.dst()?, broadcast(inst)?);
    let role = other.role;
    if let (Some(n), Some(m)) = (other.valid[1], dst.valid[1])
        && n != m
    {
        let what = format!("{role} has values for {n} columns, and dst has {m} valid columns");
        let fault = broken(inst, role, rule, what, format!("set the valid columns of {role} to {m}"))?;
        return Some(super::elementwise::into_padding(fault, other, dst, 1));
    }
    if other.valid[0]? > 0 {
        return None;
    }
    broken(
        inst,
        role,
        rule,
        format!("{role} has no valid rows, and its row 0 is repeated"),
        format!("give {role} a row"),
    )
}

/// `-attr`: src1Col says how many columns of the broadcast operand count.
pub(super) fn columns_written(inst: &Inst, rule: Rule) -> Option<Fault> {
    let written = inst.attrs.src1_col().filter(|n| *n != 1)?;
    let other = broadcast(inst)?;
    let n = other.valid[1]?;
    if written == i128::from(n) {
        return None;
    }
    let what = format!("src1Col is {written}, and {} has {n} valid columns", other.role);
    broken(inst, other.role, rule, what, "write src1Col = 1, or leave it out")
}
