//! TPACK (ops.md 6).

use super::about;
use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let (s, d) = (src.tile.elem, dst.tile.elem);
    if !matches!((s.bits(), d.bits()), (32, 16) | (32, 8) | (16, 8)) {
        let what = format!("TPACK narrows 32 bits to 16 or 8, or 16 to 8, and {s}→{d} is {} to {}", s.bits(), d.bits());
        let help = match s.bits() {
            32 => "use a 2-byte or 1-byte destination",
            16 => "use a 1-byte destination",
            _ => "use a 4-byte or 2-byte source",
        };
        return Some(about(inst, Role::Dst, Fault::new("tpack-size", what).help(help)));
    }
    for (axis, name) in ["v_row", "v_col"].into_iter().enumerate() {
        if let (Some(a), Some(b)) = (src.valid[axis], dst.valid[axis])
            && a != b
        {
            let what = format!("the source's {name} is {a} and the destination's is {b}");
            let fault = Fault::new("tpack-valid", what).help(format!("set the destination's {name} to {a}"));
            return Some(about(inst, Role::Dst, fault));
        }
    }
    None
}
