//! Vector registers, predicate registers, states of unaligned streams, and the spaces of pointers (micro/model.md 3).

use super::{Piece, Res, fault_of, number};
use crate::sink::shown;
use tessera_ir::ScalarType;
use tessera_micro::{MicroType, Space};

/// `vreg<64xf32>`, `mask<b32>` or `align`; `name` is the whole name, `body` stands between its brackets.
pub(super) fn parse(name: Piece<'_>, body: Option<Piece<'_>>) -> Res<MicroType> {
    match (name.text, body) {
        ("!pto.align", None) => Ok(MicroType::Align),
        ("!pto.vreg", Some(body)) => vreg(body.trim()),
        ("!pto.mask", Some(body)) => match body.text.trim() {
            "b8" => Ok(MicroType::Mask(8)),
            "b16" => Ok(MicroType::Mask(16)),
            "b32" => Ok(MicroType::Mask(32)),
            other => {
                let what = format!("`{}` is no granularity of a mask", shown(other));
                fault_of("mask-type", body, what, "write !pto.mask<b8>, !pto.mask<b16> or !pto.mask<b32>")
            }
        },
        _ => {
            let rule = if name.text == "!pto.mask" { "mask-type" } else { "vreg-type" };
            fault_of(
                rule,
                name,
                format!("`{}` is no type", shown(name.text)),
                "write !pto.vreg<64xf32> or !pto.mask<b32>",
            )
        }
    }
}

fn vreg(body: Piece<'_>) -> Res<MicroType> {
    const RULE: &str = "vreg-type";
    const HELP: &str = "write lanes and their type, 2048 bits together, as in !pto.vreg<64xf32>";
    let Some(at) = body.text.find('x').filter(|at| *at > 0) else {
        return fault_of(RULE, body, format!("`{}` says no number of lanes", shown(body.text)), HELP);
    };
    let (lanes, lane) = body.cut(at, 1);
    let Ok(lanes) = number(lanes) else {
        return fault_of(RULE, lanes, format!("`{}` is no number of lanes", shown(lanes.text)), HELP);
    };
    let float = || super::named_elem(lane.text).filter(|elem| elem.is_float()).map(ScalarType::Float);
    let Some(ty) = super::scalar(lane.text).or_else(float) else {
        return fault_of(RULE, lane, format!("`{}` is no type of lanes", shown(lane.text)), HELP);
    };
    MicroType::vreg(lanes, ty).or_else(|what| fault_of(RULE, body, what, HELP))
}

/// The word for a pointer's memory.
pub(super) fn space(word: Piece<'_>) -> Res<()> {
    let named =
        word.text.strip_prefix("#pto.address_space<").and_then(|text| text.strip_suffix('>')).unwrap_or(word.text);
    match Space::parse(named).is_some() || super::pointer_space(word.text).is_some() {
        true => Ok(()),
        false => {
            let what = format!("`{}` is no memory", shown(word.text));
            fault_of("ptr-space", word, what, "memories are gm, ub, l1, l0a, l0b, l0c, bt and fb")
        }
    }
}
