//! Generators, histogram, gather and scatter, single elements (isa/irregular.md 2).

use super::*;
use tessera_isa::inst::{Cmp, ScalarArg, ScalarType};
use tessera_isa::ops::AttrName;
use tessera_isa::sem::{counted_byte, named};

pub(super) fn check(inst: &Inst, rule: &RuleUse) -> Option<Fault> {
    let id = rule.id;
    match rule.kind {
        RuleKind::StartNumber => start(inst, id),
        RuleKind::DiagonalNumber => number(inst, Role::Scalar, id, "an integer or index", |s| s.is_integer()),
        RuleKind::WordNumbers => words(inst, id),
        RuleKind::ElementNumber => element_number(inst, id),
        RuleKind::OneRow => one_row(inst, id),
        RuleKind::TriangleAttr => one_of(inst, AttrName::UpperOrLower, &[0, 1], id),
        RuleKind::RandomAttr => one_of(inst, AttrName::Rounds, &[10, 7], id),
        RuleKind::HistogramAttr => histogram_attr(inst, id),
        RuleKind::HistogramValid => histogram_valid(inst, id),
        RuleKind::PatternGiven => pattern(inst, id),
        RuleKind::GatherAttr => gather_attr(inst, id),
        RuleKind::GatherValid => match inst.form {
            Form::Compare => compare_valid(inst, id),
            Form::Mask => mask_valid(inst, id),
            _ => gather_valid(inst, id),
        },
        RuleKind::GatherTmp => gather_tmp(inst, id),
        RuleKind::BlockValid => block_valid(inst, id),
        RuleKind::ScatterSize => scatter_size(inst, id),
        RuleKind::ScatterValid => same_region(inst, Role::Idx, Role::Src, id),
        RuleKind::RowsPicked => patterned(inst, (Role::Dst, Role::Src), 0, id),
        RuleKind::ColsSpread => patterned(inst, (Role::Src, Role::Dst), 1, id),
        RuleKind::RowsSpread => patterned(inst, (Role::Src, Role::Dst), 0, id),
        RuleKind::ElementIndex => element_index(inst, id),
        _ => None,
    }
}

/// One tile has the valid region of another.
pub(super) fn same_region(inst: &Inst, role: Role, like: Role, rule: &'static str) -> Option<Fault> {
    let (axis, n, m) = differ(inst.tile(role)?, inst.tile(like)?)?;
    let name = ["rows", "columns"][axis];
    let what = format!("{role} has {n} valid {name} and {like} has {m}");
    broken(inst, role, rule, what, format!("set the valid {name} of {role} to {m}"))
}

/// An extent of a tile is at least so much.
fn at_least(inst: &Inst, role: Role, axis: usize, least: u64, why: &str, rule: &'static str) -> Option<Fault> {
    let have = inst.tile(role)?.valid[axis].filter(|n| *n < least)?;
    let name = ["rows", "columns"][axis];
    let what = format!("{role} has {have} valid {name}, and {why} {least}");
    broken(inst, role, rule, what, format!("set the valid {name} of {role} to at least {least}"))
}

/// Checks that the scalar is of the kind that the instruction requires.
fn number(
    inst: &Inst,
    role: Role,
    rule: &'static str,
    wanted: &str,
    fits: impl Fn(&ScalarArg) -> bool,
) -> Option<Fault> {
    let scalar = inst.scalar_arg(role).filter(|s| !fits(s))?;
    let is = match scalar.ty {
        Some(ScalarType::Index) => "index".to_string(),
        Some(ScalarType::Int(bits, _)) => format!("an integer of {bits} bits"),
        Some(ScalarType::Float(elem)) => elem.to_string(),
        None => "another number".to_string(),
    };
    let what = format!("{role} is {wanted}, and this one is {is}");
    Some(Fault::new(rule, what).help(format!("give {wanted}")))
}

fn is_int_of(scalar: &ScalarArg, width: u32) -> bool {
    match scalar.ty {
        Some(ScalarType::Int(bits, _)) => u32::from(bits) == width,
        Some(_) => false,
        None => scalar.is_integer(),
    }
}

/// TCI: an integer of dst's width; on cpu and into unsigned types any integer (isa/irregular.md 2).
fn start(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let elem = inst.dst()?.tile.elem;
    let any = inst.profile == Profile::Cpu || !elem.is_signed();
    let wanted = if any { "an integer".to_string() } else { format!("an integer of {} bits", elem.bits()) };
    number(inst, Role::Scalar, rule, &wanted, |s| {
        let is_int = !matches!(s.ty, Some(ScalarType::Index | ScalarType::Float(_))) && s.is_integer();
        is_int && (any || is_int_of(s, elem.bits()))
    })
}

fn words(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let roles = [Role::Key0, Role::Key1, Role::Counter0, Role::Counter1, Role::Counter2, Role::Counter3];
    let word = |role: &Role| number(inst, *role, rule, "an integer of 32 bits", |s| is_int_of(s, 32));
    roles.iter().find_map(word)
}

/// The scalar has the type of the tile's elements; an integer its width.
fn element_number(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let elem = inst.tile(Role::Src).or(inst.dst())?.tile.elem;
    let wanted = if elem.is_float() { elem.to_string() } else { format!("an integer of {} bits", elem.bits()) };
    number(inst, Role::Scalar, rule, &wanted, |s| match s.ty {
        Some(ScalarType::Float(float)) => float == elem,
        Some(_) => !elem.is_float() && is_int_of(s, elem.bits()),
        None => elem.is_float() || s.is_integer(),
    })
}

fn one_row(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let dst = inst.dst()?;
    if let Some(rows) = dst.valid[0].filter(|rows| *rows > 1) {
        let what = format!("{} fills one row, and dst has {rows} valid rows", inst.op.title());
        return broken(inst, Role::Dst, rule, what, "set the valid rows of dst to 1");
    }
    let what = format!("{} wants more than one column, and dst declares 1", inst.op.title());
    if dst.tile.cols > 1 { None } else { broken(inst, Role::Dst, rule, what, "declare dst wider") }
}

fn one_of(inst: &Inst, name: AttrName, list: &[i128], rule: &'static str) -> Option<Fault> {
    let value = inst.attrs.int(name).filter(|v| !list.contains(v))?;
    let wanted = list.iter().map(i128::to_string).collect::<Vec<_>>().join(" or ");
    Some(Fault::new(rule, format!("{name} is {wanted}, and it is {value}")).help(format!("write {wanted}")))
}

fn histogram_attr(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let elem = inst.tile(Role::Src)?.tile.elem;
    let (size, byte) = (i128::from(elem.size()?), counted_byte(inst)?);
    if !(0..size).contains(&byte) {
        let what = format!("byte is {byte}, and {elem} has bytes 0 to {}", size - 1);
        return Some(Fault::new(rule, what).help(format!("write a byte below {size}")));
    }
    // isMSB alone says which byte; where both are written they say the same.
    inst.attrs.get(AttrName::IsMsb)?;
    let meant = if inst.attrs.flag(AttrName::IsMsb) { size - 1 } else { 0 };
    let what = format!("isMSB means byte {meant}, and byte is {byte}");
    (byte != meant).then(|| Fault::new(rule, what).help("leave one of them out"))
}

fn histogram_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    if let (Some(n), Some(m)) = (src.valid[0], dst.valid[0])
        && n != m
    {
        let what = format!("src has {n} valid rows and dst has {m}");
        return broken(inst, Role::Dst, rule, what, format!("set the valid rows of dst to {n}"));
    }
    let size = src.tile.elem.size()?;
    let filters = u64::try_from(counted_byte(inst)?).ok().and_then(|byte| (size - 1).checked_sub(byte))?;
    at_least(inst, Role::Dst, 1, 256, "a row has counts", rule).or_else(|| {
        // The highest byte has no filter.
        let rows = if size == 2 { src.valid[0]? } else { filters };
        let has_filter = filters > 0;
        has_filter
            .then(|| at_least(inst, Role::Idx, 0, rows, "the filter has rows", rule))
            .flatten()
            .or_else(|| has_filter.then(|| at_least(inst, Role::Idx, 1, 1, "the filter has columns", rule)).flatten())
    })
}

/// One tile alone is the mask form, which needs its pattern (isa/irregular.md 9).
fn pattern(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let lacks = inst.form == Form::Mask && inst.attrs.get(AttrName::MaskPattern).is_none();
    let what = "TGATHER of one tile has no maskPattern, and nothing else says what it picks";
    lacks.then(|| Fault::new(rule, what).help("write {maskPattern = #pto.mask_pattern<P0101>}, or give indices"))
}

fn gather_attr(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (src, cmp) = (inst.tile(Role::Src)?, inst.attrs.cmp().filter(|_| inst.form == Form::Compare)?);
    if !matches!(cmp, Cmp::Eq | Cmp::Gt) {
        let what = format!("cmpMode is equal or greater_than, and it is {cmp}");
        return Some(Fault::new(rule, what).help("write equal or greater_than"));
    }
    let only_equal = inst.profile == Profile::A2a3 && src.tile.elem == Elem::I32 && cmp != Cmp::Eq;
    only_equal.then(|| Fault::new(rule, "a2a3 compares i32 with equal only").help("write equal, or convert to f32"))
}

/// By index: idx has dst's valid region; hardware takes whole rows of both.
fn gather_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (idx, dst) = (inst.tile(Role::Idx)?, inst.tile(Role::Dst)?);
    if let Some(fault) = same_region(inst, Role::Idx, Role::Dst, rule) {
        return Some(fault);
    }
    let narrow = |t: &&&TileArg| t.valid[1].is_some_and(|v| v != t.tile.cols);
    let arg = [dst, idx].iter().find(narrow).copied().filter(|_| inst.profile.is_npu())?;
    whole_rows(inst, arg, rule)
}

fn whole_rows(inst: &Inst, arg: &TileArg, rule: &'static str) -> Option<Fault> {
    let what = format!(
        "{} gathers whole rows, and {} has {} valid columns of {} declared ones",
        inst.profile, arg.role, arg.valid[1]?, arg.tile.cols
    );
    broken(inst, arg.role, rule, what, format!("set the valid columns of {} to {}", arg.role, arg.tile.cols))
}

/// One tile has, along an axis, what a pattern names of another one, and as much along the other axis.
fn patterned(inst: &Inst, (few, all): (Role, Role), axis: usize, rule: &'static str) -> Option<Fault> {
    for n in [0, 1] {
        let (have, of) = (inst.tile(few)?.valid[n]?, inst.tile(all)?.valid[n]?);
        let wanted = if n == axis { named(inst, of)?.0 } else { of };
        if have != wanted {
            let name = ["rows", "columns"][n];
            let what = format!("{few} has {have} valid {name}, and of the {of} {name} of {all} {wanted} are meant");
            return broken(inst, few, rule, what, format!("set the valid {name} of {few} to {wanted}"));
        }
    }
    None
}

fn compare_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let ((src, dst), counts) = (ends(inst)?, inst.tile(Role::Cdst)?);
    if let (Some(n), Some(m)) = (src.valid[0], dst.valid[0])
        && n != m
    {
        let what = format!("src has {n} valid rows and dst has {m}");
        return broken(inst, Role::Dst, rule, what, format!("set the valid rows of dst to {n}"));
    }
    let (wanted, [Some(rows), Some(cols)]) = (src.valid[0]?, counts.valid) else { return None };
    let what = format!("src has {wanted} rows, and cdst has {rows} valid rows of {cols}");
    let fits = rows == 1 && cols >= wanted || cols == 1 && rows >= wanted;
    if fits {
        None
    } else {
        broken(inst, Role::Cdst, rule, what, "give cdst one row, or one column, with a place for each")
    }
}

fn mask_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    let (factor, first) = inst.attrs.mask_pattern()?.period();
    if dst.valid[1].is_some_and(|v| v != dst.tile.cols) {
        return whole_rows(inst, dst, rule);
    }
    let (rows, cols) = (src.valid[0], dst.valid[1]);
    if let (Some(n), Some(cols), Some(rows)) = (src.valid[1], cols, rows) {
        let kept = n.saturating_sub(first).div_ceil(factor);
        if if rows == 1 { kept > cols } else { kept != cols } {
            let what = format!("{kept} columns of src are kept, and dst has {cols} valid ones");
            return broken(inst, Role::Dst, rule, what, format!("declare dst with {kept} columns"));
        }
    }
    at_least(inst, Role::Dst, 0, rows?, "src has", rule)
}

/// a2a3: scratch in Vec, ND; by index it is like idx.
fn gather_tmp(inst: &Inst, rule: &'static str) -> Option<Fault> {
    if inst.form != Form::Plain {
        let tmp = inst.tile(Role::Tmp)?;
        let what = wrong_scratch(&tmp.tile, &tmp.tile, Role::Tmp)?;
        return broken(inst, Role::Tmp, rule, what, "give a Vec tile, ND, or leave tmp out");
    }
    let idx = inst.tile(Role::Idx)?;
    let like = format!("give a Vec tile of {}, ND, with idx's valid region", idx.tile.elem);
    let Some(arg) = inst.tile(Role::Tmp) else {
        if inst.finds_scratch {
            return None;
        }
        return Some(Fault::new(rule, format!("{} TGATHER needs a scratch tile", inst.profile)).help(like));
    };
    let region = || differ(arg, idx).map(|(_, n, m)| format!("tmp has idx's valid region, and {n} is not {m}"));
    broken(inst, Role::Tmp, rule, wrong_scratch(&arg.tile, &idx.tile, Role::Idx).or_else(region)?, like)
}

fn block_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let dst = inst.dst()?;
    let c0 = dst.tile.elem.c0();
    if let Some(cols) = dst.valid[1].filter(|cols| !cols.is_multiple_of(c0)) {
        let what = format!("{cols} columns of {} are no whole blocks of 32 bytes", dst.tile.elem);
        let help = format!("set the valid columns of dst to {}", ceil_to(cols, c0));
        return broken(inst, Role::Dst, rule, what, help);
    }
    let short = |axis: usize, least: Option<u64>| at_least(inst, Role::Idx, axis, least?, "dst wants", rule);
    short(0, dst.valid[0]).or_else(|| short(1, dst.valid[1].map(|cols| cols / c0)))
}

/// Hardware has indices of 4 bytes for 4-byte data, of 2 for smaller data.
fn scatter_size(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (data, idx) = (inst.tile(Role::Src)?.tile.elem, inst.tile(Role::Idx)?.tile.elem);
    let wanted = match data.size()? {
        4 => 4,
        1 | 2 => 2,
        _ => return None,
    };
    let size = idx.size().filter(|size| *size != wanted)?;
    let what = format!("{data} is scattered by indices of {wanted} bytes on {}, and {idx} has {size}", inst.profile);
    broken(inst, Role::Idx, rule, what, format!("use {}", if wanted == 4 { "i32 or u32" } else { "i16 or u16" }))
}

fn element_index(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let tile = &inst.tile(Role::Src).or(inst.dst())?.tile;
    let elements = i128::from(tile.rows) * i128::from(tile.cols);
    let index = inst.index(Role::Index).filter(|k| !(0..elements).contains(k))?;
    let what = format!("the index is {index}, and the tile has elements 0 to {}", elements - 1);
    Some(Fault::new(rule, what).help(format!("give an index of 0 to {}", elements - 1)))
}
