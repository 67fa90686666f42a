//! Matrix products (isa/matrix.md 2).

use super::*;
use tessera_isa::inst::{Place, Root};
use tessera_isa::sem::{SCALE_BLOCK, SCALED_ALIGN, scale_pairs};
use tessera_isa::tile::Compact;

/// An extent of one operand that equals an extent of another: what it is, and how a sentence names both.
type Equal = (Role, &'static str, Option<u64>, Role, &'static str, Option<u64>);

fn unequal(inst: &Inst, rule: Rule, pairs: &[Equal]) -> Option<Fault> {
    pairs.iter().find_map(|(a, a_name, n, b, b_name, m)| {
        let (n, m) = n.zip(*m).filter(|(n, m)| n != m)?;
        let what = format!("{a} has {n} {a_name} and {b} has {m} {b_name}");
        broken(inst, *b, rule, what, format!("make the {b_name} of {b} {n}, or the {a_name} of {a} {m}"))
    })
}

fn operands(inst: &Inst) -> Option<(&TileArg, &TileArg, &TileArg)> {
    Some((inst.tile(Role::A)?, inst.tile(Role::B)?, inst.tile(Role::Dst)?))
}

/// Whether the instruction is a product of one row.
fn is_gemv(inst: &Inst) -> bool {
    matches!(inst.op.info().sem, Sem::Contract { one_row: true, .. })
}

/// `-valid`: K of both factors; the result, and the accumulator, have room for M and N (isa/today.md 5.4).
pub(super) fn valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b, dst) = operands(inst)?;
    let one = a.valid[0].filter(|m| is_gemv(inst) && *m != 1);
    if let Some(m) = one {
        let what = format!("a has {m} valid rows, and {} takes one", inst.op.title());
        return broken(inst, Role::A, rule, what, "set its valid rows to 1, or use tmatmul");
    }
    let results = [Some(dst), inst.tile(Role::Acc)];
    let room = results.into_iter().flatten().find_map(|to| {
        let role = to.role;
        let asked = [(Role::A, "valid rows", "M", a.valid[0], 0), (Role::B, "valid columns", "N", b.valid[1], 1)];
        asked.into_iter().find_map(|(from, what, name, extent, axis)| {
            let (n, m) = extent.zip(to.valid[axis]).filter(|(n, m)| n > m)?;
            let text = format!("{from} has {n} {what} ({name}) and {role} has {m} {what}");
            broken(inst, role, rule, text, format!("make the {what} of {role} {n} or more"))
        })
    });
    let names = (Role::A, "valid columns (K)", a.valid[1], Role::B, "valid rows", b.valid[0]);
    room.or_else(|| depth(inst, rule, a, b, names))
}

/// Checks the factors' extents along k. If one is `?` in its type, the other factor's padding is read.
fn depth(inst: &Inst, rule: Rule, a: &TileArg, b: &TileArg, names: Equal) -> Option<Fault> {
    let fault = unequal(inst, rule, &[names])?;
    let k = if is_gemv(inst) { b.valid[0]? } else { a.valid[1]? };
    let are_static = a.tile.v_col.known().is_some() && b.tile.v_row.known().is_some();
    if are_static || k > a.tile.cols || k > b.tile.rows { Some(fault) } else { Some(fault.warns()) }
}

/// `-shape`: the declared shapes likewise; on hardware one row is gemv's, and scales require whole pairs of blocks.
pub(super) fn shape(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b, dst) = operands(inst).map(|(a, b, d)| (&a.tile, &b.tile, &d.tile))?;
    let acc = inst.tile(Role::Acc).map(|acc| &acc.tile);
    let pairs = [
        (Role::A, "declared rows", Some(a.rows), Role::Dst, "declared rows", Some(dst.rows)),
        (Role::A, "declared columns", Some(a.cols), Role::B, "declared rows", Some(b.rows)),
        (Role::B, "declared columns", Some(b.cols), Role::Dst, "declared columns", Some(dst.cols)),
        (Role::Dst, "declared rows", Some(dst.rows), Role::Acc, "declared rows", acc.map(|t| t.rows)),
        (Role::Dst, "declared columns", Some(dst.cols), Role::Acc, "declared columns", acc.map(|t| t.cols)),
    ];
    let found = if is_gemv(inst) { None } else { unequal(inst, rule, &pairs) };
    found.or_else(|| {
        let is_row = a.rows == 1;
        if inst.profile.is_npu() && is_row != is_gemv(inst) {
            let (what, help) = match is_row {
                true => ("one declared row, which TGEMV takes".into(), "declare 16 rows and set the valid ones to 1"),
                false => (format!("{} declared rows, and TGEMV takes one", a.rows), "declare one row, or use tmatmul"),
            };
            return broken(inst, Role::A, rule, format!("on {} a has {what}", inst.profile), help);
        }
        if inst.tile(Role::AScale).is_none() || a.cols.is_multiple_of(2 * SCALE_BLOCK) {
            return None;
        }
        let what = format!("a has {} declared columns, no multiple of 64", a.cols);
        broken(inst, Role::A, rule, what, format!("declare {}", ceil_to(a.cols, 2 * SCALE_BLOCK)))
    })
}

/// `-bias`: one row, and a value for every column.
pub(super) fn bias(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (bias, n) = (inst.tile(Role::Bias)?, inst.tile(Role::B)?.valid[1]);
    if bias.tile.rows != 1 {
        let what = format!("bias has {} declared rows, and it is one row", bias.tile.rows);
        return broken(inst, Role::Bias, rule, what, "declare one row");
    }
    let (have, n) = bias.valid[1].zip(n).filter(|(have, n)| have < n)?;
    let what = format!("bias has {have} valid columns, and the product has N = {n}");
    broken(inst, Role::Bias, rule, what, format!("give it {n} valid columns"))
}

/// `-scale`: a scale for every row or column, and every block of k.
pub(super) fn scale(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b) = (inst.tile(Role::A)?, inst.tile(Role::B)?);
    let (a_scale, b_scale) = (inst.tile(Role::AScale)?, inst.tile(Role::BScale)?);
    let blocks = a.valid[1].map(|k| k.div_ceil(SCALE_BLOCK));
    let asked = [
        (Role::AScale, "valid rows", a_scale.valid[0], "M", a.valid[0]),
        (Role::AScale, "valid columns", a_scale.valid[1], "K / 32, rounded up,", blocks),
        (Role::BScale, "valid rows", b_scale.valid[0], "K / 32, rounded up,", blocks),
        (Role::BScale, "valid columns", b_scale.valid[1], "N", b.valid[1]),
    ];
    asked.into_iter().find_map(|(role, what, have, name, wanted)| {
        let (have, wanted) = have.zip(wanted).filter(|(have, wanted)| have < wanted)?;
        let text = format!("{role} has {have} {what}, and {name} is {wanted}");
        broken(inst, role, rule, text, format!("give it {wanted} {what}"))
    })
}

/// `-scale-addr`: hardware finds the scales of an operand at a 16th of its address, and nowhere else.
pub(super) fn scale_address(inst: &Inst, rule: Rule) -> Option<Fault> {
    scale_pairs(inst.op).iter().find_map(|(operand, scale)| {
        let (at, found) = (address(inst, *operand)?, address(inst, *scale)?);
        let wanted = tessera_isa::sem::scale_address(at);
        if found == wanted {
            return None;
        }
        let what = format!("{operand} is at {at:#x} and {scale} at {found:#x}; its scales are read at {wanted:#x}");
        broken(inst, *scale, rule, what, format!("put it at {wanted:#x}, or leave the addresses out"))
    })
}

/// The address that an operand has in its memory.
fn address(inst: &Inst, role: Role) -> Option<u64> {
    match inst.tile(role)?.place? {
        Place { root: Root::Memory(_), start } => Some(start),
        _ => None,
    }
}

/// `-addr` of TGET_SCALE_ADDR.
pub(super) fn scale_of(inst: &Inst, rule: Rule) -> Option<Fault> {
    match address(inst, Role::Src) {
        Some(at) if !at.is_multiple_of(SCALED_ALIGN) => {
            let what = format!("src is at {at:#x}, and its scales at {:#x} would not be 32-byte aligned", at >> 4);
            broken(inst, Role::Src, rule, what, format!("put it at a multiple of {SCALED_ALIGN}"))
        }
        Some(_) => None,
        None => {
            inst.tile(Role::Src)?.place?;
            let at = address(inst, Role::Dst)?;
            let what = format!("src has no address, and dst is at {at:#x}");
            broken(inst, Role::Src, rule, what, "give src an address, or take dst's away")
        }
    }
}

/// `-inplace`, a warning: hardware adds to what dst holds. In SSA the two are different values by nature.
pub(super) fn acc_apart(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (acc, dst) = (inst.tile(Role::Acc)?.place?, inst.tile(Role::Dst)?.place?);
    if inst.makes_dst || acc == dst {
        return None;
    }
    let what = format!("acc is another tile than dst; {} would add to what dst holds", inst.profile);
    Some(about(inst, Role::Acc, Fault::new(rule, what).help("use one tile for both")))
}

/// `-noop`, a warning: nothing is set on this profile.
pub(super) fn no_effect(inst: &Inst, rule: Rule) -> Option<Fault> {
    if inst.attrs.enable() == Some(false) {
        return None;
    }
    let what = format!("{} has no effect on {}", inst.op.title(), inst.profile);
    Some(Fault::new(rule, what).help("leave it out"))
}

/// `-range`: what the hardware counts to.
pub(super) fn range(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b, _) = operands(inst)?;
    let extents = [("M", Role::A, a.valid[0]), ("K", Role::A, a.valid[1]), ("N", Role::B, b.valid[1])];
    let least = u64::from(inst.tile(Role::AScale).is_some());
    let outside = |n: &u64| !(least..=4095).contains(n);
    let (name, role, n) = extents.into_iter().find_map(|(name, role, n)| Some((name, role, n.filter(outside)?)))?;
    let what = format!("{name} = {n} is outside {least}…4095, what {} multiplies at once", inst.profile);
    broken(inst, role, rule, what, "cut the product into several")
}

/// `-pitch`, a warning: hardware lays the operands out by M, N and K, here the declared extents count (isa/today.md 5.4).
pub(super) fn pitch(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b, dst) = operands(inst)?;
    let (m, k, n) = (a.valid[0]?, a.valid[1]?, b.valid[1]?);
    if [m, k, n].contains(&0) {
        return None;
    }
    let (c0, is_a5) = (a.tile.elem.c0(), inst.profile == Profile::A5);
    let (whole_m, whole_n, whole_k) = (ceil_to(m, 16), ceil_to(n, 16), ceil_to(k, c0));
    let is_free = |tile: &TileArg| tile.tile.compact == Compact::Normal;
    let asked = [
        (dst, "rows", dst.tile.rows, "M", m, whole_m, n > 16),
        (a, "rows", a.tile.rows, "M", m, whole_m, is_a5 && k > c0),
        (a, "columns", a.tile.cols, "K", k, whole_k, !is_a5 && m > 16),
        (b, "columns", b.tile.cols, "N", n, whole_n, k > c0),
    ];
    let found =
        asked.into_iter().find(|(tile, _, has, _, _, wanted, counts)| *counts && has != wanted && !is_free(tile));
    let (tile, what, has, name, value, wanted, _) = found?;
    let role = tile.role;
    let text = format!("{role} declares {has} {what}, and {} counts with {wanted} for {name} = {value}", inst.profile);
    broken(inst, role, rule, text, format!("declare {wanted} {what}, or make {role} compact=normal"))
}
