//! Partial operations, TQUANT and TDEQUANT (isa/irregular.md 2, 7 and 8).

use super::irregular::same_region;
use super::*;
use tessera_isa::inst::QuantType;
use tessera_isa::sem::Func;

pub(super) fn check(inst: &Inst, rule: &RuleUse) -> Option<Fault> {
    let id = rule.id;
    match rule.kind {
        RuleKind::PartValid => part_valid(inst, id),
        RuleKind::LikeDst => same_region(inst, Role::Src, Role::Dst, id),
        RuleKind::QuantAttr => quant_attr(inst, id),
        RuleKind::QuantParam => quant_param(inst, id),
        RuleKind::DequantParam => dequant_param(inst, id),
        _ => None,
    }
}

/// The sources lie in dst, and one covers it, but on cpu and, where there is a value for nothing, on a5.
fn part_valid(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let dst = inst.dst()?;
    for role in [Role::Src0, Role::Src1] {
        let src = inst.tile(role)?;
        for (axis, name) in ["rows", "columns"].into_iter().enumerate() {
            if let Some((n, m)) = src.valid[axis].zip(dst.valid[axis]).filter(|(n, m)| n > m) {
                let what = format!("{role} has {n} valid {name}, and dst has {m}");
                return broken(inst, role, rule, what, format!("set the valid {name} of {role} to at most {m}"));
            }
        }
    }
    let may_miss = inst.profile == Profile::Cpu
        || inst.profile == Profile::A5 && matches!(inst.op.info().sem, Sem::Part(Func::Max | Func::Min));
    let [first, other] = [inst.tile(Role::Src0)?, inst.tile(Role::Src1)?].map(|src| differ(src, dst).is_some());
    if first && other && !may_miss {
        let what = "neither source has the valid region of dst";
        return broken(inst, Role::Src0, rule, what, "give one source dst's valid region");
    }
    let pairs = [(Role::Src0Idx, Role::Src0), (Role::Src1Idx, Role::Src1), (Role::DstIdx, Role::Dst)];
    pairs.into_iter().find_map(|(idx, value)| same_region(inst, idx, value, rule))
}

fn quant_attr(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let has_offset = inst.tile(Role::Offset).is_some();
    let dst = inst.dst()?.tile.elem;
    let Some(how) = inst.attrs.quant_type() else {
        let what = "TQUANT has no quant_type, and nothing else says how it quantizes";
        return Some(Fault::new(rule, what).help("write {quant_type = #pto<quant_type INT8_SYM>}"));
    };
    let (offset, wanted) = match how {
        QuantType::Int8Sym => (false, Elem::I8),
        QuantType::Int8Asym => (true, Elem::U8),
        QuantType::MxFp8 | QuantType::MxFp4 => {
            let what = format!("TQUANT quantizes to integers, and quant_type is {how}");
            return Some(Fault::new(rule, what).help("write INT8_SYM or INT8_ASYM, or use tquant.mx"));
        }
    };
    if has_offset != offset {
        let (has, help) = if offset { ("an", "give an offset") } else { ("no", "leave the offset out") };
        return Some(Fault::new(rule, format!("{how} has {has} offset")).help(help));
    }
    let what = format!("{how} writes {wanted}, and dst is {dst}");
    if dst == wanted { None } else { broken(inst, Role::Dst, rule, what, format!("make dst {wanted}")) }
}

/// The assignment of a tile's factors to elements.
fn shape(inst: &Inst, param: &TileArg) -> Option<Result<u64, String>> {
    let dst = inst.dst()?;
    let ([rows, cols], [Some(wanted), Some(width)]) = ([param.valid[0]?, param.valid[1]?], dst.valid) else {
        return None;
    };
    let (role, layout, npu) = (param.role, param.tile.layout_name(), inst.profile.is_npu());
    Some(match (rows == wanted, cols) {
        (false, _) => Err(format!("dst has {wanted} valid rows and {role} has {rows}")),
        (true, 1) if !npu || layout == LayoutName::Dn => Ok(1),
        (true, 8) if !npu || layout == LayoutName::Nd && param.tile.cols == 8 => Ok(8),
        (true, 1) => Err(format!("{role} with one value a row is DN on {}, and this one is {layout}", inst.profile)),
        (true, 8) => Err(format!("{role} with eight values a row is ND with 8 declared columns on {}", inst.profile)),
        (true, n) if !npu && n == width => Ok(n),
        (true, n) => Err(format!("{role} has {n} valid columns, and a row has 1 or 8 values")),
    })
}

fn quant_param(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let mut shapes = Vec::new();
    for role in [Role::Fp, Role::Offset] {
        let Some(param) = inst.tile(role) else { continue };
        match shape(inst, param)? {
            Ok(columns) => shapes.push(columns),
            Err(what) => {
                return broken(inst, role, rule, what, format!("give {role} dst's valid rows and 1 or 8 columns"));
            }
        }
    }
    let [fp, offset] = <[u64; 2]>::try_from(shapes).ok()?;
    let what = format!("fp has {fp} values a row and offset has {offset}");
    if fp == offset { None } else { broken(inst, Role::Offset, rule, what, "give both tiles one shape") }
}

fn dequant_param(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let wanted = inst.dst()?.valid[0];
    for role in [Role::Scale, Role::Offset] {
        let param = inst.tile(role)?;
        if let Some((n, m)) = param.valid[0].zip(wanted).filter(|(n, m)| n < m) {
            let what = format!("dst has {m} valid rows and {role} has {n}");
            return broken(inst, role, rule, what, format!("set the valid rows of {role} to at least {m}"));
        }
        if param.valid[1] == Some(0) {
            let what = format!("{role} has no valid column");
            return broken(inst, role, rule, what, format!("set the valid columns of {role} to at least 1"));
        }
    }
    None
}
