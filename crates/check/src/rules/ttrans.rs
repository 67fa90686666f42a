//! TTRANS (PTO ISA, TTRANS page; ops.md 5).

use super::*;

pub(super) fn size(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (s, d) = (src.tile.elem, dst.tile.elem);
    if s.bits() == d.bits() {
        return None;
    }
    let what = format!("TTRANS moves bits of one size, and {s} has {} while {d} has {}", s.bits(), d.bits());
    Some(Fault::new("ttrans-size", what).help(format!("make the destination {s}")))
}

pub(super) fn tmp(inst: &Inst) -> Option<Fault> {
    let (src, tmp) = (&inst.tile(Role::Src)?.tile, &inst.tile(Role::Tmp)?.tile);
    let what = if tmp.loc != src.loc {
        format!("tmp is in {}, and the source in {}", tmp.loc.cpp(), src.loc.cpp())
    } else if tmp.elem.bits() != src.elem.bits() {
        let (tmp, src) = (tmp.elem, src.elem);
        format!("tmp's {tmp} has {} bits, and the source's {src} has {}", tmp.bits(), src.bits())
    } else {
        return None;
    };
    broken(inst, Role::Tmp, "ttrans-tmp", what, "leave tmp out, or give it the source's location and type")
}

pub(super) fn shape(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (s, d) = (&src.tile, &dst.tile);
    let a5 = inst.profile == Profile::A5;
    let domain = if a5 { [Some(s.rows), Some(s.cols)] } else { src.valid };
    let word = if a5 { "declared" } else { "valid" };
    let axes =
        [(domain[1], "columns", d.rows, dst.valid[0], "rows"), (domain[0], "rows", d.cols, dst.valid[1], "columns")];
    for (from, name, declared, valid, into) in axes {
        let Some(from) = from else { continue };
        if from > declared {
            let what = format!(
                "the source's {from} {word} {name} become {into} of the destination, which has {declared} declared {into}"
            );
            let help = format!("declare at least {from} {into} in the destination");
            return broken(inst, Role::Dst, "ttrans-shape", what, help);
        }
        if let Some(valid) = valid.filter(|v| !a5 && *v != from) {
            let what = format!(
                "the source's {from} valid {name} become the destination's valid {into}, and those are {valid}"
            );
            let help = format!("set the destination's valid {into} to {from}");
            return broken(inst, Role::Dst, "ttrans-shape", what, help);
        }
    }
    None
}
