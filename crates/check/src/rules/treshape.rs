//! TRESHAPE and `pto.bitcast` (PTO ISA, TRESHAPE page; ops.md 4). `treshape-alias` is about programs, not about one instruction.

use super::about;
use super::signature;
use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Family, Role};

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (&inst.tile(Role::Src)?.tile, &inst.tile(Role::Dst)?.tile);
    if src.loc != dst.loc {
        let what = format!("TRESHAPE stays in one location, and this is {}→{}", src.loc.cpp(), dst.loc.cpp());
        return Some(Fault::new("treshape-loc", what).help("TMOV changes the location"));
    }
    if src.is_boxed() != dst.is_boxed() {
        let what = format!(
            "TRESHAPE keeps boxes or their absence, and this is {}→{}",
            signature::layout(src),
            signature::layout(dst)
        );
        return Some(Fault::new("treshape-box", what).help("TMOV changes the layout"));
    }
    if src.bytes() != dst.bytes() {
        let what =
            format!("TRESHAPE keeps the declared bytes, and {src} has {} while {dst} has {}", src.bytes(), dst.bytes());
        let fit = dst.elem.bytes_of(dst.rows);
        let fault = Fault::new("treshape-bytes", what);
        return Some(if fit > 0 && src.bytes() % fit == 0 {
            fault.help(format!("cols {} → {}", dst.cols, src.bytes() / fit))
        } else {
            fault.help("declare a destination of the same size")
        });
    }
    shape(inst)
}

/// The family page's `newShape` says what dst's type says; a bitcast keeps the rows.
fn shape(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (&inst.tile(Role::Src)?.tile, &inst.tile(Role::Dst)?.tile);
    let declared = [dst.rows, dst.cols];
    if let Some(wanted) = inst.attrs.shape()
        && wanted.map(i128::from) != declared.map(i128::from)
    {
        let what = format!(
            "shape = [{}, {}] is not the destination's declared {}x{}",
            wanted[0], wanted[1], dst.rows, dst.cols
        );
        let help = format!("shape = [{}, {}], or leave it out", dst.rows, dst.cols);
        return Some(about(inst, Role::Dst, Fault::new("treshape-shape", what).help(help)));
    }
    if inst.op.info().family == Family::Support && src.rows != dst.rows {
        let what = format!("a bitcast keeps the rows, and these are {} and {}", src.rows, dst.rows);
        return Some(Fault::new("treshape-shape", what).help("treshape changes the rows"));
    }
    None
}

/// `treshape-valid`: the family page counts valid elements, the own page bytes; bytes decide (ops.md 9).
pub(super) fn valid(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    if src.tile.elem != dst.tile.elem {
        return None;
    }
    let ([Some(sr), Some(sc)], [Some(dr), Some(dc)]) = (src.valid, dst.valid) else {
        return None;
    };
    if sr.saturating_mul(sc) == dr.saturating_mul(dc) {
        return None;
    }
    let what = format!(
        "the source's valid {sr}x{sc} are {} elements, and the destination's {dr}x{dc} are {}",
        sr.saturating_mul(sc),
        dr.saturating_mul(dc)
    );
    let fault = Fault::new("treshape-valid", what).help("make both valid regions the same number of elements");
    Some(about(inst, Role::Dst, fault))
}
