//! TEXTRACT and TEXTRACT_FP (ops.md 3.1, 3.3).

use super::*;
use tessera_isa::tile::Compact;

/// A window of the source: the destination it becomes and the roles of its indices.
struct Window<'a> {
    dst: &'a TileArg,
    row: Role,
    col: Role,
}

fn windows(inst: &Inst) -> Vec<Window<'_>> {
    let roles: &[(Role, Role, Role)] = if inst.form == Form::TwoWindows {
        &[(Role::Dst0, Role::Row, Role::Col), (Role::Dst1, Role::Row1, Role::Col1)]
    } else {
        &[(Role::Dst, Role::Row, Role::Col)]
    };
    let window = |(dst, row, col): &(Role, Role, Role)| Some(Window { dst: inst.tile(*dst)?, row: *row, col: *col });
    roles.iter().filter_map(window).collect()
}

pub(super) fn signature(inst: &Inst) -> Option<Fault> {
    signature::check(inst).or_else(|| plus_one(inst))
}

pub(super) fn align(inst: &Inst) -> Option<Fault> {
    let src = inst.tile(Role::Src)?;
    windows(inst).iter().find_map(|w| window_align(inst, src, w))
}

pub(super) fn bounds(inst: &Inst) -> Option<Fault> {
    let src = inst.tile(Role::Src)?;
    windows(inst).iter().find_map(|w| window_bounds(inst, src, w))
}

/// a2a3 writes no `row_plus_one` destinations in the two-window form (ops.md 3.3).
fn plus_one(inst: &Inst) -> Option<Fault> {
    if inst.profile != Profile::A2a3 || inst.form != Form::TwoWindows {
        return None;
    }
    let windows = windows(inst);
    let window = windows.iter().find(|w| w.dst.tile.compact == Compact::RowPlusOne)?;
    let what = format!("a2a3 TEXTRACT (two windows) writes no row_plus_one tile, and {} is one", window.dst.role);
    broken(inst, window.dst.role, "textract-layout", what, "leave out compact=row_plus_one, or use a5")
}

/// The required divisors of dst.R, indexRow, dst.C and indexCol, by path; 0 or 1 is no requirement.
fn multiples(inst: &Inst, src: &TileArg, dst: &TileArg) -> [u64; 4] {
    let (s, d) = (&src.tile, &dst.tile);
    let c0 = s.elem.c0();
    match (s.loc, d.loc, s.layout_name()) {
        // One row of Left is 512 bytes at a time, whatever the source's boxes are.
        (Loc::Mat, Loc::Left, _) if d.rows == 1 => [0, 0, c0 * 16, c0 * 16],
        (Loc::Mat, Loc::Left, LayoutName::Nz) => [16, 16, c0, c0],
        (Loc::Mat, Loc::Right, LayoutName::Zn) => [c0, c0, 16, 16],
        (Loc::Mat, Loc::Left, LayoutName::Zn) | (Loc::Mat, Loc::Right, LayoutName::Nz) => {
            [if s.elem.bits() == 8 { 32 } else { 16 }; 4]
        }
        (Loc::Mat, Loc::ScaleLeft, _) => [0, 16, 0, 2],
        (Loc::Mat, Loc::ScaleRight, _) => [0, 2, 0, 16],
        (Loc::Vec, _, LayoutName::Nz) => [0, 16, 0, c0],
        (Loc::Vec, _, LayoutName::Nd) if inst.profile == Profile::A2a3 => match dst.valid {
            // One element goes by itself; an extent that is not known may be that one.
            [Some(1) | None, Some(1) | None] => [0; 4],
            _ => [0, 0, 0, c0],
        },
        _ => [0; 4],
    }
}

fn window_align(inst: &Inst, src: &TileArg, window: &Window) -> Option<Fault> {
    if !inst.profile.is_npu() || inst.form == Form::TwoWindows {
        return None;
    }
    let dst = &window.dst.tile;
    let of = multiples(inst, src, window.dst);
    let values = [
        ("the destination's rows", Some(i128::from(dst.rows))),
        ("indexRow", inst.index(window.row)),
        ("the destination's cols", Some(i128::from(dst.cols))),
        ("indexCol", inst.index(window.col)),
    ];
    let (name, v, n) = values.into_iter().zip(of).find_map(|((name, v), n)| {
        let v = v?;
        (n > 1 && v.rem_euclid(i128::from(n)) != 0).then_some((name, v, i128::from(n)))
    })?;
    let what = format!(
        "{name} {v} is no multiple of {n}, in which {} moves {}→{} {}→{} of {}",
        inst.profile,
        src.tile.loc.cpp(),
        dst.loc.cpp(),
        signature::layout(&src.tile),
        signature::layout(dst),
        dst.elem
    );
    let down = v.div_euclid(n) * n;
    let near = [down, down + n].into_iter().filter(|x| *x > 0 || name.starts_with("index") && *x == 0);
    Some(Fault::new("textract-align", what).help(format!("use {}", join(near, "or"))))
}

fn window_bounds(inst: &Inst, src: &TileArg, window: &Window) -> Option<Fault> {
    let s = &src.tile;
    let dst = window.dst;
    let (halves_m, halves_n) = if fixpipe::mode_applies(inst) { inst.dual_division() } else { (1, 1) };
    // Two windows go by what is valid.
    let declared = inst.form != Form::TwoWindows && moves_declared(inst, s);
    let axes = [
        (window.row, s.rows, dst.tile.rows, dst.valid[0], halves_m, "rows"),
        (window.col, s.cols, dst.tile.cols, dst.valid[1], halves_n, "cols"),
    ];
    for (role, limit, whole, valid, halves, word) in axes {
        let Some(index) = inst.index(role) else { continue };
        let name = role.cpp();
        let limit = i128::from(limit);
        let part = valid.map(|v| v.saturating_mul(halves));
        let extent = if declared { Some(whole.max(valid.unwrap_or(0))) } else { part }.map(i128::from);
        if index < 0 || index >= limit {
            let what = format!("{name}={index} is outside the source's {limit} declared {word}");
            let last = limit - extent.filter(|n| (1..=limit).contains(n)).unwrap_or(1);
            return Some(Fault::new("textract-bounds", what).help(format!("{name} is at most {last}")));
        }
        let Some(extent) = extent else { continue };
        let end = index + extent;
        if end > limit {
            let what = format!(
                "the window of {extent} {word} at {name}={index} ends at {end}, and the source has {limit} declared {word}"
            );
            let help = if extent <= limit {
                format!("{name} is at most {}", limit - extent)
            } else {
                format!("the destination has at most {} {word}", limit / i128::from(halves))
            };
            return Some(Fault::new("textract-bounds", what).help(help));
        }
    }
    None
}

/// `textract-divides`: the family page requires whole parts.
pub(super) fn divides(inst: &Inst) -> Option<Fault> {
    let src = &inst.tile(Role::Src)?.tile;
    let window = windows(inst).into_iter().find(|w| {
        let dst = &w.dst.tile;
        src.rows % dst.rows.max(1) != 0 || src.cols % dst.cols.max(1) != 0
    })?;
    let dst = &window.dst.tile;
    let what = format!(
        "the declared {}x{} of {} does not divide the source's {}x{}",
        dst.rows, dst.cols, window.dst.role, src.rows, src.cols
    );
    let help = "declare shapes of which one is a multiple of the other";
    broken(inst, window.dst.role, "textract-divides", what, help)
}
