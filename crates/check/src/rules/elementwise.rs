//! Elementwise instructions (isa/elementwise.md 2); scratch, masks and scalars have files of their own.

use super::storage::shares;
use super::*;
use tessera_isa::inst::Precision;
use tessera_isa::ops::AttrName;
use tessera_isa::sem::Rounding;

/// `-valid`: sources and destination have equal valid regions; scratch and masks have rules of their own. If an extent
/// came from a `?`, dst's extent counts, and a source is read in its padding (isa/today.md 5.4).
pub(super) fn same_valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let counts = |t: &&TileArg| inst.op.effect(inst.form, t.role) != Effect::Scratch && t.role != Role::Mask;
    let tiles = || inst.tiles.iter().filter(counts);
    for (axis, name) in ["rows", "columns"].into_iter().enumerate() {
        let known = || tiles().filter_map(|t| Some((t, t.valid[axis]?)));
        let Some((last, n)) = known().next_back() else { continue };
        if let Some((tile, m)) = known().find(|(_, m)| *m != n) {
            let (role, last_role) = (tile.role, last.role);
            let what = format!("{role} has {m} valid {name} and {last_role} has {n}");
            let fault = broken(inst, role, rule, what, format!("set the valid {name} of {role} to {n}"))?;
            return Some(into_padding(fault, tile, last, axis));
        }
    }
    None
}

/// A difference between the valid extents of a source and of dst is a warning where one of them is dynamic in its type
/// and the source's declared area holds dst's.
pub(super) fn into_padding(fault: Fault, src: &TileArg, dst: &TileArg, axis: usize) -> Fault {
    let extents = |t: &TileArg| [(t.tile.v_row, t.tile.rows), (t.tile.v_col, t.tile.cols)][axis];
    let ((from, room), (to, _)) = (extents(src), extents(dst));
    let is_static = from.known().is_some() && to.known().is_some();
    if is_static || !dst.role.is_dst() || dst.valid[axis].is_some_and(|n| n > room) { fault } else { fault.warns() }
}

/// `-shape`: hardware converts and accumulates between tiles of one declared shape.
pub(super) fn same_shape(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (s, d) = (&src.tile, &dst.tile);
    if (s.rows, s.cols) == (d.rows, d.cols) {
        return None;
    }
    let what = format!("src is declared {}x{} and dst {}x{}", s.rows, s.cols, d.rows, d.cols);
    broken(inst, Role::Dst, rule, what, format!("declare dst {}x{}, and keep its valid region", s.rows, s.cols))
}

/// `tcvt-mode`: a5 knows one rounding into hif8.
pub(super) fn cvt_mode(inst: &Inst, rule: Rule) -> Option<Fault> {
    let rounding = inst.attrs.rounding()?;
    let is_known = matches!(rounding, Rounding::None | Rounding::Round | Rounding::CastRint);
    if is_known || inst.dst()?.tile.elem != Elem::Hif8 {
        return None;
    }
    let what = format!("rmode is {}, and a5 rounds to hif8 with ties away from zero only", rounding.name());
    broken(inst, Role::Dst, rule, what, "write NONE, ROUND or CAST_RINT, or leave rmode out")
}

/// Whether the more precise algorithm is asked for.
fn wants_precision(inst: &Inst) -> bool {
    inst.attrs.precision() == Some(Precision::High) || inst.attrs.flag(AttrName::HighPrecision)
}

/// `-precision` of a power: floats, on a5 (isa/today.md 6.2).
pub(super) fn precise_floats(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (elem, title) = (inst.dst()?.tile.elem, inst.op.title());
    let what = match (inst.profile, elem.is_float()) {
        (_, false) => format!("high_precision is for floats, and this {title} is of {elem}"),
        (Profile::A2a3, true) => format!("{title} has no high_precision on a2a3"),
        _ => return None,
    };
    wants_precision(inst).then(|| Fault::new(rule, what).help("leave precisionType out"))
}

/// `-precision` of the others: floats compute in scratch (isa/today.md 6.2). Integers have one algorithm.
pub(super) fn precise_with_tmp(inst: &Inst, rule: Rule) -> Option<Fault> {
    let is_float = inst.dst()?.tile.elem.is_float();
    let lacks = is_float && wants_precision(inst) && inst.tile(Role::Tmp).is_none();
    let what = format!("{} with high_precision needs a scratch tile on {}", inst.op.title(), inst.profile);
    lacks.then(|| Fault::new(rule, what).help("give tmp after the sources, or leave precisionType out"))
}

/// `-inplace`: hardware writes before it has read everything.
pub(super) fn not_in_place(inst: &Inst, rule: Rule) -> Option<Fault> {
    apart(inst, rule, Role::Dst)
}

/// The same of scratch, which TPRELU writes first.
pub(super) fn not_in_tmp(inst: &Inst, rule: Rule) -> Option<Fault> {
    apart(inst, rule, Role::Tmp)
}

fn apart(inst: &Inst, rule: Rule, role: Role) -> Option<Fault> {
    let written = inst.tile(role)?;
    let is_source = |t: &&TileArg| inst.op.effect(inst.form, t.role) == Effect::Read;
    let src = inst.tiles.iter().filter(is_source).find(|t| shares(t, written))?;
    let (name, title, profile) = (src.role, inst.op.title(), inst.profile);
    let what = format!("{name} and {role} share storage, and {title} on {profile} does not work in place");
    broken(inst, name, rule, what, format!("give {role} storage of its own"))
}
