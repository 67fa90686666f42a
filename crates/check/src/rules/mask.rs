//! Masks: one bit for each element (isa/elementwise.md 4).

use super::storage::shares;
use super::*;
use tessera_isa::inst::Cmp;
use tessera_isa::sem::{effects, mask_is_dense};

/// A mask, and the data whose bits it holds.
fn parts(inst: &Inst) -> Option<(&TileArg, &TileArg)> {
    match inst.tile(Role::Mask) {
        Some(mask) => Some((mask, inst.dst()?)),
        None => Some((inst.dst()?, inst.src()?)),
    }
}

/// The bytes of a row of bits, and those that a row of the mask has room for; `None` where they are not known.
fn row_bytes(inst: &Inst) -> Option<(u64, u64)> {
    let (mask, data) = parts(inst)?;
    let cols = if mask_is_dense(inst) { mask.valid[1]? } else { mask.tile.cols };
    Some((data.valid[1]?.div_ceil(8), mask.tile.elem.bytes_of(cols)))
}

/// `-valid` of comparisons: the sources have one valid region, and the mask their valid rows.
pub(super) fn valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    if let (Some(a), Some(b)) = (inst.tile(Role::Src0), inst.tile(Role::Src1))
        && let Some((axis, n, m)) = differ(a, b)
    {
        let name = ["rows", "columns"][axis];
        let what = format!("src0 has {n} valid {name} and src1 has {m}");
        return broken(inst, Role::Src1, rule, what, format!("set the valid {name} of src1 to {n}"));
    }
    let (mask, data) = parts(inst)?;
    let (n, m) = (data.valid[0]?, mask.valid[0]?);
    if n == m {
        return None;
    }
    let what = format!("{} has {n} valid rows and the mask {} has {m}", data.role, mask.role);
    broken(inst, mask.role, rule, what, format!("set the valid rows of {} to {n}", mask.role))
}

/// `-mask`: room for the bits, enough rows, and storage of its own.
pub(super) fn room(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (mask, data) = parts(inst)?;
    let (role, elem) = (mask.role, mask.tile.elem);
    if let Some((need, has)) = row_bytes(inst).filter(|(need, has)| has < need) {
        let which = if mask_is_dense(inst) { "valid" } else { "declared" };
        let cols = (need * 8).div_ceil(u64::from(elem.bits()));
        let what = format!(
            "{} columns need {need} bytes of bits a row, and a {which} row of {role} has {has}",
            data.valid[1]?
        );
        return broken(inst, role, rule, what, format!("give {role} at least {cols} {which} columns of {elem}"));
    }
    if let (Some(n), Some(m)) = (data.valid[0], mask.valid[0])
        && m < n
    {
        let what = format!("{} has {n} valid rows, and {role} has bits for {m}", data.role);
        return broken(inst, role, rule, what, format!("set the valid rows of {role} to {n}"));
    }
    // A comparison writes a byte after it has read the eight elements of its bits (isa/today.md 5.4).
    if inst.tile(Role::Mask).is_none() {
        return super::overlap::check(inst).map(|fault| Fault { rule, ..fault });
    }
    let touches = effects(inst).tiles;
    let mut others =
        inst.tiles.iter().zip(&touches).filter(|(t, touch)| t.role != role && touch.effect != Effect::Unused);
    let (other, _) = others.find(|(t, _)| shares(t, mask))?;
    let what = format!("the mask {role} and {} share storage", other.role);
    broken(inst, role, rule, what, format!("give {role} storage of its own"))
}

/// `tcmps-dense`: TSEL looks for the bits row by row.
pub(super) fn dense(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (mask, data) = parts(inst)?;
    let (need, has) = row_bytes(inst).filter(|(need, has)| has > need)?;
    let rows = data.valid[0].filter(|rows| *rows > 1)?;
    let what = format!(
        "the bits of {rows} rows, {need} bytes each, lie one after the other in valid rows of {has} bytes, and TSEL \
         reads them row by row"
    );
    broken(inst, mask.role, rule, what, format!("give {} {need} valid bytes a row", mask.role))
}

/// `-mode`: a2a3 compares i32 for equality, whatever mode is given.
pub(super) fn compare_mode(inst: &Inst, rule: Rule) -> Option<Fault> {
    let src = inst.src()?;
    let cmp = inst.attrs.cmp().filter(|cmp| *cmp != Cmp::Eq && src.tile.elem == Elem::I32)?;
    let what = format!("cmpMode is {} and {} is i32, which a2a3 compares with eq only", cmp.name(), src.role);
    broken(inst, src.role, rule, what, "compare with eq, or convert to f32 first")
}
