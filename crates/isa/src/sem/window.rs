//! TMOV, TEXTRACT and TINSERT: a window of one tile becomes a window of another (ops.md 2 and 3, fixpipe.md 5 and 6).

use super::fill::{fill_bits, fill_outside};
use super::{Apply, Arg, Func, Map, Quant, Rect, Side, Step, Steps, ceil_to, valid};
use crate::codec::Number;
use crate::elem::Elem;
use crate::inst::{AccToVec, Inst};
use crate::ops::{Form, Role};
use crate::profile::Profile;
use crate::tile::{LayoutName, Loc, SLayout, Tile};
use smallvec::SmallVec;

/// The window that an instruction names: none, one of its source or one of its destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Window {
    Whole,
    OfSource,
    OfDestination,
}

/// TMOV and TMOV_FP.
pub fn mov(inst: &Inst) -> Steps {
    window(inst, Window::Whole, Role::Dst, [0, 0])
}

/// TEXTRACT and TEXTRACT_FP.
pub fn extract(inst: &Inst) -> Steps {
    let at = |row, col| Some([inst.index_u64(row)?, inst.index_u64(col)?]);
    if inst.form != Form::TwoWindows {
        return window(inst, Window::OfSource, Role::Dst, at(Role::Row, Role::Col)?);
    }
    let mut all = window(inst, Window::OfSource, Role::Dst0, at(Role::Row, Role::Col)?)?;
    all.extend(window(inst, Window::OfSource, Role::Dst1, at(Role::Row1, Role::Col1)?)?);
    Some(all)
}

/// TINSERT and TINSERT_FP.
pub fn insert(inst: &Inst) -> Steps {
    let at = [inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?];
    window(inst, Window::OfDestination, Role::Dst, at)
}

/// A window of the source becomes one of the destination; `at` is where the one begins that the instruction names.
fn window(inst: &Inst, which: Window, dst_role: Role, at: [u64; 2]) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(dst_role)?);
    let (src, dst) = (&inst.tiles.get(s)?.tile, &inst.tiles.get(d)?.tile);
    let extract = which == Window::OfSource;
    let (from, to) = if extract { (at, [0, 0]) } else { ([0, 0], at) };
    let (halves_m, halves_n) = inst.dual_division();
    // The size of one core's write: TEXTRACT takes it from the destination, the others from the source.
    let [rows, cols] = if extract {
        valid(inst, d)?
    } else {
        let [r, c] = valid(inst, s)?;
        [r / halves_m, c / halves_n]
    };
    let cores: &[(u8, u64)] = match inst.attrs.acc_to_vec() {
        Some(AccToVec::SingleModeVec1) => &[(1, 0)],
        Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN) => &[(0, 0), (1, 1)],
        _ => &[(0, 0)],
    };
    let (func, param) = value(inst, which, src, dst, from[1]);
    let mut all = Vec::new();
    for (core, half) in cores {
        let origin = [from[0] + half * rows * (halves_m - 1), from[1] + half * cols * (halves_n - 1)];
        if rows > 0
            && cols > 0
            && let Some([r, c]) = footprint(inst, which, src, dst, rows, cols)
        {
            let rect = Rect { row: to[0], col: to[1], rows: r, cols: c };
            all.push(Step::Clobber { dst: d, core: *core, rect });
        }
        let mut args = SmallVec::from_iter([Arg::Element(Side::Tile(s), Map::at(origin[0], origin[1]))]);
        args.extend(param);
        let dst = (Side::Tile(d), Map::at(to[0], to[1]));
        all.push(Step::Apply(Apply { func, core: *core, extent: [rows, cols], dst, args }));
    }
    if inst.form == Form::Fill {
        all.extend(fill_outside(inst, d, valid(inst, d)?, fill_bits(inst, d)?));
    }
    Some(all)
}

/// The function of an element on its way, and its parameter. The parameter of column j of the window is `fp[j]`, or
/// `fp[first + j]` if the window is the source's.
fn value(inst: &Inst, which: Window, src: &Tile, dst: &Tile, first: u64) -> (Func, Option<Arg>) {
    let on_hardware = inst.profile != Profile::Cpu;
    if inst.is_fixpipe() {
        return out_of_acc(inst, src, dst.elem, if which == Window::OfSource { first } else { 0 });
    }
    if src.elem != dst.elem {
        return (Func::Convert, None);
    }
    if which == Window::Whole && on_hardware && dst.loc == Loc::Bias && src.elem == Elem::F32 {
        // Hardware multiplies by one on the way to the bias table (`tmov-bias`): a number stays what it is, and a NaN
        // becomes the canonical one.
        let one = Arg::Scalar(Elem::U64, u64::from(1f32.to_bits()));
        return (
            Func::Fixpipe { relu: false, hardware_rounding: true, saturate_inf: false, quant: Some(Quant::Scalar) },
            Some(one),
        );
    }
    (Func::Bits, None)
}

/// The function of an accumulator's element (fixpipe.md 4), and its parameter: that of column j is `fp[first + j]`.
pub(super) fn out_of_acc(inst: &Inst, src: &Tile, to: Elem, first: u64) -> (Func, Option<Arg>) {
    let fp = inst
        .tile_index(Role::Fp)
        .map(|fp| (Quant::Vector, Arg::Element(Side::Tile(fp), Map { origin: [0, first], step: [[0, 0], [0, 1]] })));
    let scalar = || match inst.scalar(Role::Quant)? {
        Number::Int(bits) => Some((Quant::Scalar, Arg::Scalar(Elem::U64, bits as u64))),
        Number::Float(_) => None,
    };
    let (quant, param) = fp.or_else(scalar).unzip();
    if src.elem == to && !inst.relu() && quant.is_none() {
        // Bits are unchanged (fixpipe.md 4).
        return (Func::Bits, None);
    }
    let (hardware_rounding, saturate_inf) = (inst.profile != Profile::Cpu, inst.attrs.saturate_inf());
    (Func::Fixpipe { relu: inst.relu(), hardware_rounding, saturate_inf, quant }, param)
}

/// Rows and columns of the block that hardware writes from the window's origin, where it writes more than the window
/// (ops.md 2, 3.2; fixpipe.md 5).
fn footprint(inst: &Inst, which: Window, src: &Tile, dst: &Tile, rows: u64, cols: u64) -> Option<[u64; 2]> {
    let c0 = dst.elem.c0();
    let nz = |t: &Tile| t.layout_name() == LayoutName::Nz;
    let extract = which == Window::OfSource;
    match (inst.profile, src.loc, dst.loc) {
        (Profile::Cpu, ..) => None,
        (Profile::A2a3, Loc::Vec, Loc::Vec) if which == Window::Whole => Some(blocks(dst, rows, cols)),
        (_, Loc::Acc, Loc::Mat) => Some([if extract { rows } else { src.rows }, ceil_to(cols, c0)]),
        (_, Loc::Acc, Loc::Vec) if nz(dst) => {
            let (halves_m, halves_n) = inst.dual_division();
            let unit = match (halves_m, halves_n) {
                (2, _) => 16,
                (_, 2) => 32,
                _ => c0,
            };
            Some([if extract { rows } else { src.rows / halves_m }, ceil_to(cols, unit)])
        }
        (_, Loc::Vec, _) if which == Window::OfDestination && nz(src) => {
            let rows = if inst.attrs.split().is_some() { ceil_to(rows, 16) } else { rows };
            Some([rows, ceil_to(cols, c0)])
        }
        _ => None,
    }
}

/// A window from (0, 0) rounded up to whole 32-byte blocks, clipped to the declared area.
fn blocks(tile: &Tile, rows: u64, cols: u64) -> [u64; 2] {
    let c0 = tile.elem.c0();
    let along_rows = tile.layout_name() == LayoutName::Dn || tile.slayout == SLayout::ColMajor;
    let (br, bc) = match (tile.is_boxed(), tile.fractal, tile.box_dims()) {
        // A box of fractal 32 is one block.
        (true, 32, Some((ir, ic))) if ir > 1 => (ir, ic),
        _ if along_rows => (c0, 1),
        _ => (1, c0),
    };
    [ceil_to(rows, br).min(tile.rows), ceil_to(cols, bc).min(tile.cols)]
}
