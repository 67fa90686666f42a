//! TFILLPAD and TLOAD: a region is copied and the rest is filled (ops.md 6, tile-model.md 7).

use super::{Map, Move, Side, Step, fill_bits, fill_outside, plain, valid};
use crate::inst::Inst;
use crate::ops::{Form, Opcode, Role};

pub(super) fn fillpad(inst: &Inst) -> Option<Vec<Step>> {
    let d = inst.tile_index(Role::Dst)?;
    let dst = &inst.tiles.get(d)?.tile;
    let mut all = Vec::new();
    if inst.form == Form::Fill {
        fill_outside(inst, d, valid(inst, d)?, fill_bits(inst, dst)?, &mut all);
        return Some(all);
    }
    let s = inst.tile_index(Role::Src)?;
    let [rows, cols] = valid(inst, s)?;
    if inst.op != Opcode::TfillpadInplace {
        let geometry = Move { rows, cols, src: Map::at(0, 0), dst: Map::at(0, 0) };
        all.push(plain(Side::Tile(s), Side::Tile(d), geometry));
    }
    fill_outside(inst, d, [rows, cols], dst.pad_bits()?, &mut all);
    Some(all)
}

pub(super) fn load(inst: &Inst) -> Option<Vec<Step>> {
    let d = inst.tile_index(Role::Dst)?;
    if let Some(conv) = inst.conv {
        return Some(vec![Step::LoadConv { dst: d, elements: conv.elements() }]);
    }
    let [rows, cols] = valid(inst, d)?;
    let geometry = Move { rows, cols, src: Map::at(0, 0), dst: Map::at(0, 0) };
    let mut all = vec![plain(Side::Global, Side::Tile(d), geometry)];
    if let Some(bits) = inst.tiles.get(d)?.tile.pad_bits() {
        fill_outside(inst, d, [rows, cols], bits, &mut all);
    }
    Some(all)
}
