//! TPACK (ops.md 6).

use super::*;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (s, d) = (src.tile.elem, dst.tile.elem);
    if !matches!((s.bits(), d.bits()), (32, 16) | (32, 8) | (16, 8)) {
        let what = format!("TPACK narrows 32 bits to 16 or 8, or 16 to 8, and {s}→{d} is {} to {}", s.bits(), d.bits());
        let help = match s.bits() {
            32 => "use a 2-byte or 1-byte destination",
            16 => "use a 1-byte destination",
            _ => "use a 4-byte or 2-byte source",
        };
        return broken(inst, Role::Dst, "tpack-size", what, help);
    }
    let (axis, a, b) = differ(src, dst)?;
    let name = ["v_row", "v_col"][axis];
    let what = format!("the source's {name} is {a} and the destination's is {b}");
    broken(inst, Role::Dst, "tpack-valid", what, format!("set the destination's {name} to {a}"))
}
