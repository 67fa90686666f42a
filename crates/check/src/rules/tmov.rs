//! TMOV and TMOV_FP (ops.md 2).

use super::*;
use tessera_isa::ops::AttrName;
use tessera_isa::tile::Compact;

/// Source and destination of a move of hardware into a location; on cpu it is an ordinary move.
fn into_loc(inst: &Inst, loc: Loc) -> Option<(&Tile, &Tile)> {
    let (src, dst) = ends(inst).filter(|(_, dst)| inst.profile.is_npu() && dst.tile.loc == loc)?;
    Some((&src.tile, &dst.tile))
}

/// A move into Bias or Scaling is one row.
fn one_row(src: &Tile, dst: &Tile, rule: Rule) -> Option<Fault> {
    let rows = (src.rows != 1 || dst.rows != 1).then_some(src.rows.max(dst.rows))?;
    let what = format!("a move into {} is one row, and this one has {rows}", dst.loc.cpp());
    Some(Fault::new(rule, what).help("rows → 1 in both tiles"))
}

/// `tmov-attr`: grpAxis belongs to exponents in Vec, and they are neither clipped nor split (isa/today.md 6.5).
pub(super) fn group_axis(inst: &Inst) -> Option<Fault> {
    let is_of_exponents = inst.op.info().sem.routes();
    let other =
        [AttrName::AccToVecMode, AttrName::ReluPreMode].into_iter().find(|name| inst.attrs.get(*name).is_some());
    let (what, help) = match (is_of_exponents, other) {
        (true, Some(other)) => (format!("TMOV of exponents has no {other}"), format!("leave {other} out")),
        (false, _) if inst.attrs.get(AttrName::GrpAxis).is_some() => {
            ("grpAxis belongs to TMOV of exponents, which has a scratch tile in Vec".into(), "leave grpAxis out".into())
        }
        _ => return None,
    };
    Some(Fault::new("tmov-attr", what).help(help))
}

/// Into Bias the type may widen, and only so (ops.md 2, `tmov-bias`).
pub(super) fn bias(inst: &Inst) -> Option<Fault> {
    let (src, dst) = into_loc(inst, Loc::Bias)?;
    let (s, d, cols) = (src.elem, dst.elem, src.cols);
    if let Some(fault) = one_row(src, dst, "tmov-bias") {
        return Some(fault);
    }
    let widens = match (s, d) {
        (Elem::I32, Elem::I32) | (Elem::F32, Elem::F32) => true,
        // A fill value belongs to moves within one type (ops.md 3.4).
        (Elem::F16, Elem::F32) => inst.form != Form::Fill,
        (Elem::Bf16, Elem::F32) => inst.form != Form::Fill && inst.profile == Profile::A5,
        _ => false,
    };
    if !widens {
        let more = if inst.profile == Profile::A5 { ", bf16→f32" } else { "" };
        let what = format!("{} moves i32→i32, f32→f32, f16→f32{more} into Bias, and this is {s}→{d}", inst.profile);
        return Some(Fault::new("tmov-bias", what).help("use an f32 or i32 bias"));
    }
    let bytes = s.bytes_of(cols);
    if bytes % 64 != 0 {
        let up = ceil_to(cols, 64 / s.bytes_of(1).max(1));
        let what = format!("the source row of {cols} {s} is {bytes} bytes, which is no multiple of 64");
        return Some(Fault::new("tmov-bias", what).help(format!("cols {cols} → {up} in both tiles, keep v_col")));
    }
    None
}

/// Into Scaling go rows of 64-bit parameters (ops.md 2, `tmov-scaling`).
pub(super) fn scaling(inst: &Inst) -> Option<Fault> {
    let (src, dst) = into_loc(inst, Loc::Scaling)?;
    let (s, d, cols) = (src.elem, dst.elem, dst.cols);
    if let Some(fault) = one_row(src, dst, "tmov-scaling") {
        return Some(fault);
    }
    if s != d || !matches!(d, Elem::U64 | Elem::I64) {
        let what = format!("a move into Scaling is u64→u64 or i64→i64, and this is {s}→{d}");
        return Some(Fault::new("tmov-scaling", what).help("make both tiles u64"));
    }
    if !cols.is_multiple_of(16) {
        let what = format!("{cols} parameters are {} bytes, which is no multiple of 128", cols * 8);
        let help = format!("cols {cols} → {} in both tiles, keep v_col={cols}", ceil_to(cols, 16));
        return Some(Fault::new("tmov-scaling", what).help(help));
    }
    None
}

pub(super) fn shape(inst: &Inst) -> Option<Fault> {
    let (s, d) = ends(inst).map(|(src, dst)| (&src.tile, &dst.tile))?;
    if !moves_declared(inst, s) || (s.rows, s.cols) == (d.rows, d.cols) {
        return None;
    }
    let what = format!(
        "{} moves between equal declared shapes here, and these are {}x{} and {}x{}",
        inst.profile, s.rows, s.cols, d.rows, d.cols
    );
    broken(inst, Role::Dst, "tmov-shape", what, format!("declare the destination {}x{}", s.rows, s.cols))
}

/// Valid regions are equal; a dual mode leaves half of the source's to each core (fixpipe.md 6).
pub(super) fn valid(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (halves_m, halves_n) = inst.dual_division();
    // If the mode itself is refused (`acc-mode`, `quant-source`), it must not decide about extents.
    let refused = !fixpipe::mode_applies(inst);
    for (axis, name, halves) in [(0, "v_row", halves_m), (1, "v_col", halves_n)] {
        let (Some(s), Some(d)) = (src.valid[axis], dst.valid[axis]) else { continue };
        // An odd extent cannot be halved at all: `acc-mode-split` says so.
        let fits = s == d && (halves == 1 || refused) || halves > 1 && (s % halves != 0 || s / halves == d);
        if !fits {
            let what = if halves == 1 {
                format!("the source's {name} is {s} and the destination's is {d}")
            } else {
                format!("each core gets half of the source's {name}={s}, and the destination's is {d}")
            };
            let help = format!("set the destination's {name} to {}", s / halves);
            return broken(inst, Role::Dst, "tmov-valid", what, help);
        }
    }
    None
}

/// a5 ND→NZ: hardware takes the pitch from the valid rows (ops.md 2, `tmov-pitch`).
pub(super) fn pitch(inst: &Inst) -> Option<Fault> {
    let (src, dst) = a5_ends(inst, Loc::Vec, Loc::Vec)?;
    let (v, rows) = (dst.valid[0]?, dst.tile.rows);
    let plus = u64::from(dst.tile.compact == Compact::RowPlusOne);
    let needed = ceil_to(v, 16) + plus;
    let applies = (src.tile.layout_name(), dst.tile.layout_name()) == (LayoutName::Nd, LayoutName::Nz);
    if !applies || rows == needed {
        return None;
    }
    let why = if plus == 1 { " plus one (row_plus_one)" } else { "" };
    let what =
        format!("a5 ND→NZ uses the valid rows rounded up to 16{why} as pitch: {needed} for v_row={v}, and rows={rows}");
    let help = match needed > plus {
        true => format!("rows {rows} → {needed} in the destination"),
        false => "move at least one row".into(),
    };
    broken(inst, Role::Dst, "tmov-pitch", what, help)
}
