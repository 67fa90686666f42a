//! TMOV and TMOV_FP (ops.md 2).

use super::about;
use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Form, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::ceil_to;
use tessera_isa::tile::{Compact, LayoutName, Loc};

/// Into Bias the type may widen, and only so (ops.md 2, `tmov-bias`). On cpu it is an ordinary move.
pub(super) fn bias(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    if !inst.profile.is_npu() || dst.tile.loc != Loc::Bias {
        return None;
    }
    let (s, d) = (src.tile.elem, dst.tile.elem);
    if src.tile.rows != 1 || dst.tile.rows != 1 {
        let rows = src.tile.rows.max(dst.tile.rows);
        let what = format!("a move into Bias is one row, and this one has {rows}");
        return Some(Fault::new("tmov-bias", what).help("rows → 1 in both tiles"));
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
    let bytes = s.bytes_of(src.tile.cols);
    if bytes % 64 != 0 {
        let per = 64 / s.bytes_of(1).max(1);
        let up = ceil_to(src.tile.cols, per);
        let what = format!("the source row of {} {s} is {bytes} bytes, which is no multiple of 64", src.tile.cols);
        let help = format!("cols {} → {up} in both tiles, keep v_col", src.tile.cols);
        return Some(Fault::new("tmov-bias", what).help(help));
    }
    None
}

/// Into Scaling go rows of 64-bit parameters (ops.md 2, `tmov-scaling`).
pub(super) fn scaling(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    if !inst.profile.is_npu() || dst.tile.loc != Loc::Scaling {
        return None;
    }
    let (s, d) = (src.tile.elem, dst.tile.elem);
    if src.tile.rows != 1 || dst.tile.rows != 1 {
        let rows = src.tile.rows.max(dst.tile.rows);
        let what = format!("a move into Scaling is one row, and this one has {rows}");
        return Some(Fault::new("tmov-scaling", what).help("rows → 1 in both tiles"));
    }
    if s != d || !matches!(d, Elem::U64 | Elem::I64) {
        let what = format!("a move into Scaling is u64→u64 or i64→i64, and this is {s}→{d}");
        return Some(Fault::new("tmov-scaling", what).help("make both tiles u64"));
    }
    let cols = dst.tile.cols;
    if !cols.is_multiple_of(16) {
        let what = format!("{cols} parameters are {} bytes, which is no multiple of 128", cols * 8);
        let help = format!("cols {cols} → {} in both tiles, keep v_col={cols}", ceil_to(cols, 16));
        return Some(Fault::new("tmov-scaling", what).help(help));
    }
    None
}

pub(super) fn shape(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let (s, d) = (&src.tile, &dst.tile);
    let applies = match inst.profile {
        Profile::Cpu => false,
        Profile::A2a3 => true,
        Profile::A5 => s.loc == Loc::Mat,
    };
    if !applies || (s.rows, s.cols) == (d.rows, d.cols) {
        return None;
    }
    let what = format!(
        "{} moves between equal declared shapes here, and these are {}x{} and {}x{}",
        inst.profile, s.rows, s.cols, d.rows, d.cols
    );
    let help = format!("declare the destination {}x{}", s.rows, s.cols);
    Some(about(inst, Role::Dst, Fault::new("tmov-shape", what).help(help)))
}

/// Valid regions are equal; a dual mode leaves half of the source's to each core (fixpipe.md 6).
pub(super) fn valid(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let (halves_m, halves_n) = inst.dual_division();
    // Where the mode itself is refused (`acc-mode`, `quant-source`), it must not decide about extents.
    let refused = !super::fixpipe::mode_applies(inst);
    for (axis, name, halves) in [(0, "v_row", halves_m), (1, "v_col", halves_n)] {
        let (Some(s), Some(d)) = (src.valid[axis], dst.valid[axis]) else {
            continue;
        };
        // An odd extent cannot be halved at all: `acc-mode-split` says so.
        let fits = s == d && (halves == 1 || refused) || halves > 1 && (s % halves != 0 || s / halves == d);
        if !fits {
            let what = if halves == 1 {
                format!("the source's {name} is {s} and the destination's is {d}")
            } else {
                format!("each core gets half of the source's {name}={s}, and the destination's is {d}")
            };
            let help = format!("set the destination's {name} to {}", s / halves);
            return Some(about(inst, Role::Dst, Fault::new("tmov-valid", what).help(help)));
        }
    }
    None
}

/// a5 ND→NZ: hardware takes the pitch from the valid rows (ops.md 2, `tmov-pitch`).
pub(super) fn pitch(inst: &Inst) -> Option<Fault> {
    let (src, dst) = (inst.tile(Role::Src)?, inst.tile(Role::Dst)?);
    let (s, d) = (&src.tile, &dst.tile);
    let applies = inst.profile == Profile::A5
        && (s.loc, d.loc) == (Loc::Vec, Loc::Vec)
        && (s.layout_name(), d.layout_name()) == (LayoutName::Nd, LayoutName::Nz);
    if !applies {
        return None;
    }
    let v = dst.valid[0]?;
    let plus = u64::from(d.compact == Compact::RowPlusOne);
    let needed = ceil_to(v, 16) + plus;
    if d.rows == needed {
        return None;
    }
    let why = if plus == 1 { " plus one (row_plus_one)" } else { "" };
    let what = format!(
        "a5 ND→NZ uses the valid rows rounded up to 16{why} as pitch: {needed} for v_row={v}, and rows={}",
        d.rows
    );
    let fault = about(inst, Role::Dst, Fault::new("tmov-pitch", what));
    Some(if needed > plus {
        fault.help(format!("rows {} → {needed} in the destination", d.rows))
    } else {
        fault.help("move at least one row")
    })
}
