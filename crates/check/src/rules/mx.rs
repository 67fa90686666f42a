//! Shared exponents: TQUANT_MX and TMOV of exponents (isa/today.md 6.4 and 6.5).

use super::*;
use tessera_isa::inst::{GroupAxis, QuantType, StoreMode};
use tessera_isa::ops::AttrName;
use tessera_isa::sem::{MX_GROUP, Mx};

pub(super) fn check(inst: &Inst, rule: &RuleUse) -> Option<Fault> {
    let id = rule.id;
    match rule.kind {
        RuleKind::MxAttr => attributes(inst, id),
        RuleKind::MxDtype => types(inst, id),
        RuleKind::MxValid => valid(inst, id),
        RuleKind::MxShape => shape(inst, id),
        RuleKind::MxRoom => room(inst, id),
        RuleKind::MxHardware => hardware(inst, id),
        RuleKind::Exponents => exponents(inst, id),
        _ => None,
    }
}

fn attributes(inst: &Inst, rule: Rule) -> Option<Fault> {
    let attrs = &inst.attrs;
    let help = "write {quant_type = #pto<quant_type MXFP8>}";
    match attrs.quant_type() {
        None => {
            return Some(Fault::new(rule, "TQUANT_MX has no quant_type, and nothing else says the format").help(help));
        }
        Some(how @ (QuantType::Int8Sym | QuantType::Int8Asym)) => {
            let what = format!("TQUANT_MX quantizes to MXFP8 or MXFP4_E2M1, and quant_type is {how}");
            return Some(Fault::new(rule, what).help(help));
        }
        Some(_) => {}
    }
    let by_rows = attrs.group_axis()? == GroupAxis::Axis0;
    let (mode, has_zz) = (attrs.store_mode(), inst.tile(Role::ExpZz).is_some());
    let (what, help) = if attrs.flag(AttrName::Interleave) && !by_rows {
        ("interleave belongs to groups along the rows, and these lie along the columns", "write grpAxis axis0")
    } else if by_rows && (mode.is_some() || has_zz) {
        ("storeMode and exp_zz belong to groups along the columns", "leave them out, or write grpAxis axis1")
    } else if has_zz != (mode == Some(StoreMode::Nz)) {
        ("exp_zz is written with storeMode nz, and only then", "give both, or neither")
    } else {
        return None;
    };
    Some(Fault::new(rule, what).help(help))
}

fn types(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (mx, src, dst) = (Mx::of(inst)?, inst.tile(Role::Src)?.tile.elem, inst.dst()?.tile.elem);
    if mx.is_fp4 && src == Elem::F32 {
        return broken(
            inst,
            Role::Src,
            rule,
            "MXFP4_E2M1 quantizes f16 and bf16, and src is f32",
            "convert src to bf16",
        );
    }
    if mx.is_fp4 == dst.is_fp4() {
        return None;
    }
    let wanted = if mx.is_fp4 { "f4e2m1x2" } else { "i8 or u8" };
    let what = format!("{} writes {wanted}, and dst is {dst}", inst.attrs.quant_type()?);
    broken(inst, Role::Dst, rule, what, format!("make dst {wanted}"))
}

/// Whether the exponents of all groups are one row.
fn is_flat(inst: &Inst, mx: &Mx) -> Option<bool> {
    let (src, exp) = (inst.tile(Role::Src)?, inst.tile(Role::Exp)?);
    let groups = mx.groups(src.known_valid()?);
    Some(!mx.by_rows && exp.tile.rows == 1 && exp.known_valid()? == [1, groups[0] * groups[1]])
}

fn valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (mx, src, dst) = (Mx::of(inst)?, inst.tile(Role::Src)?, inst.dst()?);
    if let Some(arg) = inst.tiles.iter().find(|t| t.tile.v_row.known().is_none() || t.tile.v_col.known().is_none()) {
        let what = format!("the extents of TQUANT_MX are static, and {} has a dynamic one", arg.role);
        return broken(inst, arg.role, rule, what, "write its valid extents in its type");
    }
    if let Some((axis, n, m)) = differ(dst, src) {
        let name = ["rows", "columns"][axis];
        let what = format!("dst has {n} valid {name} and src has {m}");
        return broken(inst, Role::Dst, rule, what, format!("set the valid {name} of dst to {m}"));
    }
    let region @ [rows, cols] = src.known_valid()?;
    let (axis, extent, unit) = match (mx.by_rows, mx.interleave) {
        (true, true) => ("rows", rows, 2 * MX_GROUP),
        (true, false) => ("rows", rows, MX_GROUP),
        (false, _) => ("columns", cols, MX_GROUP),
    };
    if !extent.is_multiple_of(unit) {
        let what = format!("{extent} valid {axis} are no whole groups of {unit}");
        return broken(
            inst,
            Role::Src,
            rule,
            what,
            format!("set the valid {axis} of src to {}", ceil_to(extent, unit)),
        );
    }
    let groups @ [n, m] = mx.groups(region);
    let flat = is_flat(inst, &mx)?;
    for role in [Role::Exp, Role::Max, Role::Scaling] {
        let has = inst.tile(role)?.known_valid()?;
        let wanted = match (role, mx.interleave) {
            (Role::Exp, true) => [n / 2, 2 * m],
            _ if flat => [1, n * m],
            _ => groups,
        };
        if has != wanted {
            let what = format!(
                "src has {n}x{m} groups, so {role} is {}x{}, and it is {}x{}",
                wanted[0], wanted[1], has[0], has[1]
            );
            let help = format!("make the valid region of {role} {}x{}", wanted[0], wanted[1]);
            return broken(inst, role, rule, what, help);
        }
    }
    let src_cols = src.tile.cols;
    if flat && src_cols != cols && n > 1 {
        let what =
            format!("with all exponents in one row src has no padding, and {cols} of {src_cols} columns are valid");
        return broken(
            inst,
            Role::Src,
            rule,
            what,
            "declare src with its valid columns, or exp with a row for each of src's",
        );
    }
    let odd = inst.tile(Role::ExpZz).filter(|_| !m.is_multiple_of(2));
    let what = format!("exp_zz holds pairs of columns, and a row has {m} groups");
    odd.and_then(|_| broken(inst, Role::ExpZz, rule, what, "use a multiple of 64 columns"))
}

fn shape(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (mx, src, dst) = (Mx::of(inst)?, &inst.tile(Role::Src)?.tile, &inst.dst()?.tile);
    if mx.is_fp4 && !src.cols.is_multiple_of(2) {
        let what = format!("src declares {} columns, and two fp4 elements share a byte", src.cols);
        return broken(inst, Role::Src, rule, what, "declare an even number of columns");
    }
    if !mx.by_rows {
        if dst.cols != src.cols {
            let what = format!("src declares {} columns and dst {}", src.cols, dst.cols);
            return broken(inst, Role::Dst, rule, what, format!("declare {} columns in dst", src.cols));
        }
        return [Role::Max, Role::Scaling].into_iter().find_map(|role| {
            let arg = inst.tile(role)?;
            let [rows, cols] = arg.known_valid()?;
            let what = format!("{role} is written without gaps, and {cols} of its {} columns are valid", arg.tile.cols);
            let is_dense = rows <= 1 || cols == arg.tile.cols;
            if is_dense { None } else { broken(inst, role, rule, what, format!("declare {role} with {cols} columns")) }
        });
    }
    if mx.interleave && !src.rows.is_multiple_of(2 * MX_GROUP) {
        let what = format!("src declares {} rows, no multiple of 64", src.rows);
        return broken(inst, Role::Src, rule, what, format!("declare {}", ceil_to(src.rows, 2 * MX_GROUP)));
    }
    [Role::Exp, Role::Max, Role::Scaling].into_iter().find_map(|role| {
        let tile = &inst.tile(role)?.tile;
        let (has, wanted) = match (role, mx.interleave) {
            (Role::Exp, true) => ([tile.rows, tile.cols], [src.rows / 64, ceil_to(2 * src.cols, 32)]),
            _ => ([tile.rows, tile.cols], [tile.rows, src.cols]),
        };
        let what = format!("{role} is declared {}x{}, and here it is {}x{}", has[0], has[1], wanted[0], wanted[1]);
        if has == wanted {
            None
        } else {
            broken(inst, role, rule, what, format!("declare {}x{}", wanted[0], wanted[1]))
        }
    })
}

fn bytes(tile: &Tile) -> u64 {
    tile.elem.bytes_of(tile.rows.saturating_mul(tile.cols))
}

fn holds(inst: &Inst, role: Role, need: u64, rule: Rule) -> Option<Fault> {
    let has = bytes(&inst.tile(role)?.tile);
    let what = format!("{role} has {has} bytes, and {need} are written");
    if has >= need {
        None
    } else {
        broken(inst, role, rule, what, format!("declare {role} with at least {need} bytes"))
    }
}

fn room(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (mx, src) = (Mx::of(inst)?, inst.tile(Role::Src)?);
    let region = src.known_valid()?;
    let [n, m] = mx.groups(region);
    if is_flat(inst, &mx)? {
        let (count, area) = (n * m, src.tile.rows.saturating_mul(src.tile.cols));
        let is_unrolled = area > 1024 && area.is_multiple_of(256) && (region[0] * src.tile.cols).is_multiple_of(256);
        let need = match (src.tile.elem, is_unrolled) {
            (Elem::F32, true) => 4 * ceil_to(2 * count, 64),
            (Elem::F32, false) => 4 * ceil_to(count, 64),
            _ => 2 * ceil_to(count, 128),
        };
        let fault = holds(inst, Role::Scaling, need, rule);
        if fault.is_some() {
            return fault;
        }
    }
    holds(inst, Role::ExpZz, ceil_to(n, 16) * m, rule)
}

fn hardware(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (mx, src) = (Mx::of(inst)?, inst.tile(Role::Src)?);
    let (elem, cols) = (src.tile.elem, src.tile.cols);
    let (is_half, flat) = (elem != Elem::F32, is_flat(inst, &mx)?);
    let is_padded = is_half && src.valid[1]? < cols;
    let (what, help) = if !mx.by_rows && is_half && !flat {
        (format!("groups of {elem} along the columns leave their exponents in one row"), "declare exp with one row")
    } else if flat && is_half && mx.is_nv {
        (format!("nv of {elem} along the columns is not in the library"), "write ocp, or use f32")
    } else if mx.by_rows && elem == Elem::F16 && mx.is_fp4 && !cols.is_multiple_of(64) {
        (
            format!("MXFP4_E2M1 of f16 along the rows takes a multiple of 64 columns, and src declares {cols}"),
            "declare src wider",
        )
    } else if mx.by_rows && elem == Elem::F32 && mx.interleave {
        ("interleave of f32 is not in the library".to_string(), "convert src to bf16")
    } else if is_padded && !cols.is_multiple_of(128) {
        (format!("a padded {elem} source declares a multiple of 128 columns, and this one {cols}"), "declare src wider")
    } else {
        return None;
    };
    broken(inst, Role::Src, rule, what, help)
}

fn exponents(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (src, dst, tmp) = (inst.tile(Role::Src)?, inst.dst()?, inst.tile(Role::Tmp)?);
    if let Some(arg) = [src, dst].into_iter().find(|t| t.tile.v_row.known().is_none() || t.tile.v_col.known().is_none())
    {
        let what = format!("the extents of exponents are static, and {} has a dynamic one", arg.role);
        return broken(inst, arg.role, rule, what, "write its valid extents in its type");
    }
    if tmp.tile.elem != src.tile.elem {
        let what = format!("tmp has src's type {}, and this one is {}", src.tile.elem, tmp.tile.elem);
        return broken(inst, Role::Tmp, "tmov-dtype", what, format!("make tmp {}", src.tile.elem));
    }
    let ([rows, cols], [dst_rows, dst_cols]) = (src.known_valid()?, dst.known_valid()?);
    if rows * cols != dst_rows * dst_cols {
        let what = format!("src has {rows}x{cols} exponents and dst {dst_rows}x{dst_cols}");
        return broken(inst, Role::Dst, rule, what, "give both as many");
    }
    if inst.attrs.group_axis()? == GroupAxis::Axis0 {
        let fits = rows >= 2 && rows.is_multiple_of(2) && cols == src.tile.cols && cols.is_multiple_of(16);
        let what = format!(
            "along the rows src has an even number of rows and whole blocks of 16 columns, and it is {rows}x{cols}"
        );
        if !fits {
            return broken(inst, Role::Src, rule, what, "declare src so, without padding");
        }
        return holds(inst, Role::Dst, rows * cols, rule);
    }
    if !dst_cols.is_multiple_of(2) {
        let what = format!("dst holds pairs of columns, and {dst_cols} are valid");
        return broken(inst, Role::Dst, rule, what, "use a multiple of 64 columns of elements");
    }
    if rows > 1 && cols != src.tile.cols {
        let what = format!("src has no gaps between its rows, and {cols} of its {} columns are valid", src.tile.cols);
        return broken(inst, Role::Src, rule, what, format!("declare src with {cols} columns"));
    }
    let whole = ceil_to(dst_rows, 16) * dst_cols;
    holds(inst, Role::Src, whole, rule)
        .or_else(|| holds(inst, Role::Dst, whole, rule))
        .or_else(|| holds(inst, Role::Tmp, 64 + whole / 16, rule))
}
