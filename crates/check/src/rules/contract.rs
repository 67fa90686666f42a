//! Matrix products (isa/matrix.md 2).

use super::*;

/// An extent of one operand that equals an extent of another: what it is, and how a sentence names both.
type Equal = (Role, &'static str, Option<u64>, Role, &'static str, Option<u64>);

fn unequal(inst: &Inst, rule: Rule, pairs: [Equal; 3]) -> Option<Fault> {
    pairs.into_iter().find_map(|(a, a_name, n, b, b_name, m)| {
        let (n, m) = n.zip(m).filter(|(n, m)| n != m)?;
        let what = format!("{a} has {n} {a_name} and {b} has {m} {b_name}");
        broken(inst, b, rule, what, format!("make the {b_name} of {b} {n}, or the {a_name} of {a} {m}"))
    })
}

fn operands(inst: &Inst) -> Option<(&TileArg, &TileArg, &TileArg)> {
    Some((inst.tile(Role::A)?, inst.tile(Role::B)?, inst.tile(Role::Dst)?))
}

/// `-valid`: K of both factors, M and N of the result.
pub(super) fn valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b, dst) = operands(inst)?;
    let pairs = [
        (Role::A, "valid columns (K)", a.valid[1], Role::B, "valid rows", b.valid[0]),
        (Role::A, "valid rows (M)", a.valid[0], Role::Dst, "valid rows", dst.valid[0]),
        (Role::B, "valid columns (N)", b.valid[1], Role::Dst, "valid columns", dst.valid[1]),
    ];
    unequal(inst, rule, pairs)
}

/// `-shape`: the declared shapes likewise; one row is gemv's on hardware.
pub(super) fn shape(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b, dst) = operands(inst).map(|(a, b, d)| (&a.tile, &b.tile, &d.tile))?;
    let pairs = [
        (Role::A, "declared rows", Some(a.rows), Role::Dst, "declared rows", Some(dst.rows)),
        (Role::A, "declared columns", Some(a.cols), Role::B, "declared rows", Some(b.rows)),
        (Role::B, "declared columns", Some(b.cols), Role::Dst, "declared columns", Some(dst.cols)),
    ];
    unequal(inst, rule, pairs).or_else(|| {
        if !inst.profile.is_npu() || a.rows > 1 {
            return None;
        }
        let what = format!("a has one declared row, which {} takes in TGEMV only", inst.profile);
        broken(inst, Role::A, rule, what, "declare 16 rows and set the valid ones to 1")
    })
}

/// `-range`: what the hardware counts to.
pub(super) fn range(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (a, b, _) = operands(inst)?;
    let extents = [("M", Role::A, a.valid[0]), ("K", Role::A, a.valid[1]), ("N", Role::B, b.valid[1])];
    let outside = |n: &u64| !(1..=4095).contains(n);
    let (name, role, n) = extents.into_iter().find_map(|(name, role, n)| Some((name, role, n.filter(outside)?)))?;
    let what = format!("{name} = {n} is outside 1…4095, what {} multiplies at once", inst.profile);
    broken(inst, role, rule, what, "cut the product into several")
}
