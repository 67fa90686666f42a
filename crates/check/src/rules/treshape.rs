//! TRESHAPE and `pto.bitcast` (PTO ISA, TRESHAPE page; ops.md 4). `treshape-alias` is about programs, not about one instruction.

use super::*;
use tessera_isa::ops::Family;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst).map(|(src, dst)| (&src.tile, &dst.tile))?;
    if src.loc != dst.loc {
        let what = format!("TRESHAPE stays in one location, and this is {}→{}", src.loc.cpp(), dst.loc.cpp());
        return Some(Fault::new("treshape-loc", what).help("TMOV changes the location"));
    }
    if src.is_boxed() != dst.is_boxed() {
        let (from, to) = (signature::layout(src), signature::layout(dst));
        let what = format!("TRESHAPE keeps boxes or their absence, and this is {from}→{to}");
        return Some(Fault::new("treshape-box", what).help("TMOV changes the layout"));
    }
    // A bitcast of the same shape is the first bytes (isa/today.md 5.4).
    let shrinks = inst.op.info().family == Family::Support
        && (src.rows, src.cols) == (dst.rows, dst.cols)
        && dst.bytes() < src.bytes();
    if src.bytes() != dst.bytes() && !shrinks {
        let what =
            format!("TRESHAPE keeps the declared bytes, and {src} has {} while {dst} has {}", src.bytes(), dst.bytes());
        let fit = dst.elem.bytes_of(dst.rows);
        let help = if fit > 0 && src.bytes() % fit == 0 {
            format!("cols {} → {}", dst.cols, src.bytes() / fit)
        } else {
            "declare a destination of the same size".into()
        };
        return Some(Fault::new("treshape-bytes", what).help(help));
    }
    // The family page's `newShape` says what dst's type says; a bitcast keeps the rows.
    let (rows, cols) = (dst.rows, dst.cols);
    if let Some([r, c]) = inst.attrs.shape()
        && [r, c].map(i128::from) != [rows, cols].map(i128::from)
    {
        let what = format!("shape = [{r}, {c}] is not the destination's declared {rows}x{cols}");
        let help = format!("shape = [{rows}, {cols}], or leave it out");
        return broken(inst, Role::Dst, "treshape-shape", what, help);
    }
    if inst.op.info().family == Family::Support && src.rows != dst.rows {
        let what = format!("a bitcast keeps the rows, and these are {} and {}", src.rows, dst.rows);
        return Some(Fault::new("treshape-shape", what).help("treshape changes the rows"));
    }
    None
}

/// `treshape-valid`: the family page counts valid elements, the own page bytes; bytes decide (ops.md 9).
pub(super) fn valid(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let ([Some(sr), Some(sc)], [Some(dr), Some(dc)]) = (src.valid, dst.valid) else { return None };
    let (have, need) = (sr.saturating_mul(sc), dr.saturating_mul(dc));
    if src.tile.elem != dst.tile.elem || have == need {
        return None;
    }
    let what = format!("the source's valid {sr}x{sc} are {have} elements, and the destination's {dr}x{dc} are {need}");
    broken(inst, Role::Dst, "treshape-valid", what, "make both valid regions the same number of elements")
}
