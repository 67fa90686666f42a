//! Between global memory and tiles (isa/memory.md).

use super::fill::fill_outside;
use super::window::out_of_acc;
use super::{Apply, Arg, Func, Map, Side, Step, Steps, valid};
use crate::inst::Inst;
use crate::ops::Role;
use smallvec::SmallVec;

/// TLOAD.
pub fn load(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    if let Some(conv) = inst.conv {
        return Some(vec![Step::LoadConv { dst: d, elements: conv.elements() }]);
    }
    let kept = valid(inst, d)?;
    let mut all = vec![Step::Apply(Apply::copy(kept, (Side::Global, Map::SAME), (Side::Tile(d), Map::SAME)))];
    if let Some(bits) = inst.tiles.get(d)?.tile.pad_bits() {
        all.extend(fill_outside(inst, d, kept, bits));
    }
    Some(all)
}

/// TSTORE and TSTORE_FP.
pub fn store(inst: &Inst) -> Steps {
    let s = inst.tile_index(Role::Src)?;
    let extent = valid(inst, s)?;
    let (func, param) = match inst.is_fixpipe() {
        true => out_of_acc(inst, &inst.tiles.get(s)?.tile, inst.global.as_ref()?.elem, 0),
        false => (Func::Bits, None),
    };
    let mut args = SmallVec::from_iter([Arg::Element(Side::Tile(s), Map::SAME)]);
    args.extend(param);
    Some(vec![Step::Apply(Apply { func, core: 0, extent, dst: (Side::Global, Map::SAME), args })])
}
