//! Scratch tiles (isa/elementwise.md 6, reduce.md 4): the requirements of hardware, and the part of them that it would
//! write.

use super::*;
use tessera_isa::inst::TileArg as Arg;
use tessera_isa::ops::{Given, TmpAsk, TmpElem, TmpExtent};
use tessera_isa::sem::{Axis, Saturation};

/// `-tmp` in general: given where it must be, in Vec, ND, of its type and size.
pub(super) fn tmp(inst: &Inst, rule: Rule, ask: TmpAsk) -> Option<Fault> {
    let dst = inst.dst()?;
    let elem = match ask.elem {
        TmpElem::Any => None,
        TmpElem::U8 => Some(Elem::U8),
        TmpElem::LikeDst => Some(dst.tile.elem),
        TmpElem::LikeSrc => Some(inst.src()?.tile.elem),
    };
    let Some(arg) = inst.tile(Role::Tmp) else {
        let is_asked = match ask.given {
            Given::Always => true,
            Given::ForFloats => dst.tile.elem.is_float(),
            Given::Optional => false,
        };
        return if is_asked { missing(inst, rule, elem) } else { None };
    };
    in_vec(inst, rule, arg).or_else(|| in_rows(inst, rule, arg)).or_else(|| of_type(inst, rule, arg, elem)).or_else(
        || {
            let mut axes = [("rows", ask.rows), ("columns", ask.cols)].into_iter().zip(arg.valid).zip(dst.valid);
            axes.find_map(|(((name, ask), has), like)| {
                let (has, like) = (has?, like?);
                let (is_right, asked) = match ask {
                    TmpExtent::Any => return None,
                    TmpExtent::AtLeast(n) => (has >= n, format!("at least {n}")),
                    TmpExtent::AtLeastDst => (has >= like, format!("at least dst's {like}")),
                    TmpExtent::LikeDst => (has == like, format!("dst's {like}")),
                };
                let what = || format!("tmp has {has} valid {name}, and {} needs {asked}", inst.op.title());
                if is_right { None } else { wrong(inst, rule, what(), format!("give tmp {asked} valid {name}")) }
            })
        },
    )
}

/// `-tmp` of a power, a warning: integers are multiplied without scratch (isa/today.md 6.2).
pub(super) fn of_integers(inst: &Inst, rule: Rule) -> Option<Fault> {
    inst.tile(Role::Tmp)?;
    let elem = inst.dst()?.tile.elem;
    let what = format!("{} of {elem} takes no scratch tile", inst.op.title());
    let fault = wrong(inst, rule, what, "leave tmp out")?;
    (!elem.is_float()).then(|| fault.warns())
}

/// `tci-tmp`: rows of 4-byte elements in which a2a3 counts (isa/today.md 6.2).
pub(super) fn count(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (arg, dst) = (inst.tile(Role::Tmp)?, inst.dst()?);
    let (tile, need) = (&arg.tile, if dst.tile.elem.bits() == 32 { 768 } else { 1792 });
    let has = tile.elem.bytes_of(tile.rows.saturating_mul(tile.cols));
    in_vec(inst, rule, arg).or_else(|| in_rows(inst, rule, arg)).or_else(|| {
        let what = if tile.elem.bits() != 32 {
            format!("tmp has a 4-byte type, and this one is {}", tile.elem)
        } else if has < need {
            format!("tmp has {has} bytes, and TCI into {} needs {need}", dst.tile.elem)
        } else {
            return None;
        };
        wrong(inst, rule, what, format!("give tmp a type of 32 bits and {need} bytes"))
    })
}

/// `tquant-tmp`: a tile like src (isa/today.md 6.4).
pub(super) fn quant(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (arg, src) = (inst.tile(Role::Tmp)?, inst.tile(Role::Src)?);
    in_vec(inst, rule, arg)
        .or_else(|| in_rows(inst, rule, arg))
        .or_else(|| of_type(inst, rule, arg, Some(Elem::F32)))
        .or_else(|| {
            let (t, s) = (&arg.tile, &src.tile);
            let help = format!("declare tmp {}x{}, with src's valid region", s.rows, s.cols);
            if (t.rows, t.cols) != (s.rows, s.cols) {
                let what = format!("tmp has src's shape {}x{}, and this one is {}x{}", s.rows, s.cols, t.rows, t.cols);
                return wrong(inst, rule, what, help);
            }
            let (axis, n, m) = differ(arg, src)?;
            let what = format!("tmp has {n} valid {} and src has {m}", ["rows", "columns"][axis]);
            wrong(inst, rule, what, help)
        })
}

fn wrong(inst: &Inst, rule: Rule, what: String, help: impl Into<String>) -> Option<Fault> {
    broken(inst, Role::Tmp, rule, what, help)
}

/// Scratch that is left out, where the assembler does not find it (isa/today.md 9).
fn missing(inst: &Inst, rule: Rule, elem: Option<Elem>) -> Option<Fault> {
    if inst.finds_scratch {
        return None;
    }
    let what = format!("{} on {} needs a scratch tile", inst.op.title(), inst.profile);
    let of = elem.map_or(String::new(), |elem| format!(" of {elem}"));
    Some(Fault::new(rule, what).help(format!("give tmp, a row_major tile{of} in Vec, after the sources")))
}

fn in_vec(inst: &Inst, rule: Rule, arg: &Arg) -> Option<Fault> {
    let loc = arg.tile.loc;
    let what = || format!("tmp is in Vec, and this one is in {}", loc.cpp());
    if loc == Loc::Vec { None } else { wrong(inst, rule, what(), "allocate tmp in Vec") }
}

fn in_rows(inst: &Inst, rule: Rule, arg: &Arg) -> Option<Fault> {
    let what = || format!("tmp is ND, and this one is {}", signature::layout(&arg.tile));
    if arg.tile.layout_name() == LayoutName::Nd { None } else { wrong(inst, rule, what(), "make tmp row_major") }
}

fn of_type(inst: &Inst, rule: Rule, arg: &Arg, elem: Option<Elem>) -> Option<Fault> {
    let (asked, has) = (elem?, arg.tile.elem);
    let what = || format!("tmp is {asked} here, and this one is {has}");
    if asked == has { None } else { wrong(inst, rule, what(), format!("make tmp {asked}")) }
}

/// `-tmp-size`: a warning, since the result here is the same.
fn small(inst: &Inst, rule: Rule, has: String, need: String) -> Option<Fault> {
    let what = format!("tmp has {has}, and hardware would write {need}");
    wrong(inst, rule, what, format!("declare tmp with {need}"))
}

fn bytes(inst: &Inst, rule: Rule, need: u64) -> Option<Fault> {
    let tile = &inst.tile(Role::Tmp)?.tile;
    let has = tile.elem.bytes_of(tile.rows.saturating_mul(tile.cols));
    if has >= need { None } else { small(inst, rule, format!("{has} bytes"), format!("{need} bytes")) }
}

fn shape(inst: &Inst, rule: Rule, rows: u64, cols: u64) -> Option<Fault> {
    let tile = &inst.tile(Role::Tmp)?.tile;
    if tile.rows >= rows && tile.cols >= cols {
        return None;
    }
    small(inst, rule, format!("{}x{} elements", tile.rows, tile.cols), format!("{rows}x{cols} elements"))
}

/// `tprelu-tmp-size`: more rows than dst.
pub(super) fn rows(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (has, rows) = (inst.tile(Role::Tmp)?.valid[0]?, inst.dst()?.valid[0]?);
    if has > rows {
        return None;
    }
    small(inst, rule, format!("{has} valid rows"), format!("{} valid rows", rows + 1))
}

/// `tcvt-tmp-size`: where hardware wraps by itself, it needs room for a row or a part of it.
pub(super) fn conversion(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    if inst.attrs.saturation() != Some(Saturation::Off) {
        return None;
    }
    let (rows, cols) = (src.valid[0]?, src.valid[1]?);
    let part = cols.min(64);
    let need = match (src.tile.elem, dst.tile.elem) {
        (Elem::F16, Elem::I16) => 32 * part.div_ceil(8),
        (Elem::F16, Elem::I8) => (32 * part.div_ceil(8)).max(128 + 32 * part.div_ceil(16)),
        (Elem::F32, Elem::I16) => {
            let whole = 256 * (cols / 64).min(255);
            let rest = match cols % 64 {
                0 => 0,
                // No rows, and what is left of one.
                _ if rows == 0 => 0,
                rest => 32 * ((rows.min(255) - 1) * src.tile.cols / 8 + rest.div_ceil(8)),
            };
            whole.max(rest)
        }
        _ => return None,
    };
    bytes(inst, rule, need)
}

/// The units in which the arg instructions count: elements of src that 256 bytes and 32 bytes hold.
fn units(inst: &Inst) -> Option<(u64, u64)> {
    let elem = inst.tile(Role::Src)?.tile.elem;
    Some((256 / elem.size()?, elem.c0()))
}

/// `-tmp` of arg instructions.
pub(super) fn arg(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (arg, src) = (inst.tile(Role::Tmp)?, inst.tile(Role::Src)?);
    let fault = in_vec(inst, rule, arg);
    if fault.is_some() {
        return fault;
    }
    if reduce::each(inst)? == Axis::Col {
        return of_type(inst, rule, arg, Some(src.tile.elem));
    }
    let (per_256, _) = units(inst)?;
    let is_long = src.valid[1].map(|cols| cols > per_256);
    let tile = &arg.tile;
    let is_column = tile.layout_name() == LayoutName::Dn && tile.cols == 1;
    let is_valued = inst.tile(Role::DstVal).is_some();
    let of_src = if is_valued || is_long == Some(true) { of_type(inst, rule, arg, Some(src.tile.elem)) } else { None };
    of_src.or_else(|| {
        if is_column && is_long != Some(true) {
            return None;
        }
        let asked = if is_long == Some(true) { "ND" } else { "ND, or DN with one column" };
        let what = || format!("tmp is {asked}, and this one is {} with {} columns", signature::layout(tile), tile.cols);
        if tile.layout_name() == LayoutName::Nd { None } else { wrong(inst, rule, what(), "make tmp row_major") }
    })
}

/// `-tmp-size` of arg instructions.
pub(super) fn arg_size(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (tmp, src) = (&inst.tile(Role::Tmp)?.tile, inst.tile(Role::Src)?);
    let (per_256, block) = units(inst)?;
    let (rows, cols) = (src.valid[0]?, src.valid[1]?);
    let up = |n: u64| ceil_to(n, block);
    let is_valued = inst.tile(Role::DstVal).is_some();
    if reduce::each(inst)? == Axis::Col {
        let group = if cols >= per_256 { per_256 } else { up(cols) };
        let is_half = matches!(src.tile.elem, Elem::F16 | Elem::U16);
        let need = match (is_half, is_valued) {
            (true, true) => 2 * group,
            (true, false) => 3 * group,
            (false, _) => group,
        };
        let has = tmp.rows.saturating_mul(tmp.cols);
        return if has >= need {
            None
        } else {
            small(inst, rule, format!("{has} elements"), format!("{need} elements"))
        };
    }
    let first = cols.div_ceil(per_256);
    match cols {
        _ if cols > per_256 * per_256 => {
            let second = first.div_ceil(per_256);
            shape(inst, rule, rows, up(2 * first).max(up(first) + up(2 * second)) + 2)
        }
        _ if cols > per_256 => shape(inst, rule, rows, up(2 * first) + up(first)),
        _ if !is_valued => None,
        _ if tmp.layout_name() == LayoutName::Dn => shape(inst, rule, 2 * rows, 1),
        _ => shape(inst, rule, rows, 2),
    }
}

/// `tcolsum-tmp`: adding in pairs needs a tile as wide as src; else a2a3 only requires that a given one is in Vec.
pub(super) fn pairs(inst: &Inst, rule: Rule) -> Option<Fault> {
    let src = inst.tile(Role::Src)?;
    let elem = src.tile.elem;
    let given = inst.tile(Role::Tmp);
    if !inst.attrs.is_binary() {
        return in_vec(inst, rule, given.filter(|_| inst.profile == Profile::A2a3)?);
    }
    let Some(arg) = given else { return missing(inst, rule, Some(elem)) };
    in_vec(inst, rule, arg)
        .or_else(|| of_type(inst, rule, arg, Some(elem)))
        .or_else(|| in_rows(inst, rule, arg))
        .or_else(|| {
            let (has, need) = (arg.tile.cols, src.valid[1]?);
            let what = || format!("tmp is declared with {has} columns, and src has {need} valid ones");
            if has >= need { None } else { wrong(inst, rule, what(), format!("declare tmp with {need} columns")) }
        })
}

/// `tcolsum-tmp-size`: half of src's rows.
pub(super) fn pairs_size(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (tmp, rows) = (inst.tile(Role::Tmp).filter(|_| inst.attrs.is_binary())?, inst.tile(Role::Src)?.valid[0]?);
    let (has, need) = (tmp.tile.rows, rows.div_ceil(2));
    if has >= need { None } else { small(inst, rule, format!("{has} rows"), format!("{need} rows")) }
}

/// `-tmp` of row expands: hardware spreads a column into it.
pub(super) fn expand(inst: &Inst, rule: Rule) -> Option<Fault> {
    let arg = inst.tile(Role::Tmp)?;
    in_vec(inst, rule, arg).or_else(|| {
        let other = expand::broadcast(inst)?;
        let cols = other.valid[1]?;
        if cols == 1 && other.tile.layout_name() == LayoutName::Dn {
            return None;
        }
        let (role, layout) = (other.role, signature::layout(&other.tile));
        let what = format!("tmp is for a DN operand with one valid column, and {role} is {layout} with {cols}");
        wrong(inst, rule, what, format!("leave tmp out, or make {role} a col_major tile of one column"))
    })
}

/// `-tmp-size` of row expands: 32 bytes for each row, up to what one repetition holds.
pub(super) fn expand_size(inst: &Inst, rule: Rule) -> Option<Fault> {
    let rows = inst.dst()?.valid[0]?;
    bytes(inst, rule, if rows < 256 { rows.div_ceil(8) * 256 } else { 7680 })
}
