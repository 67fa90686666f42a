//! Between global memory and tiles (isa/memory.md).

use super::fill::{fill_bits, fill_outside};
use super::window::out_of_acc;
use super::{Apply, Arg, Func, Map, Rect, Side, Step, Steps, valid};
use crate::inst::{Inst, ViewTag};
use crate::ops::{Form, Role};
use smallvec::SmallVec;
use std::collections::HashMap;

/// TLOAD.
pub fn load(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    if let Some(conv) = inst.conv {
        return Some(vec![Step::LoadConv { dst: d, elements: conv.elements() }]);
    }
    let (kept, tile) = (valid(inst, d)?, &inst.tiles.get(d)?.tile);
    let mut all = vec![Step::Apply(Apply::copy(kept, (Side::Global, window(inst)?), (Side::Tile(d), Map::SAME)))];
    let pad = if inst.has_scalar(Role::Fill) { Some(fill_bits(inst, d)?) } else { tile.pad_bits() };
    if let Some(bits) = pad {
        all.extend(fill_outside(inst, d, kept, bits));
    } else if inst.profile.is_npu() && inst.form == Form::Plain {
        // Hardware takes the number of rows from the view, that of columns where it is dn (structure.md 8).
        let view = inst.global.as_ref()?;
        let ([rows, cols], [r, c]) = (view.shape(), kept);
        let rect = match view.tag {
            ViewTag::Dn => Rect { row: 0, col: c, rows: tile.rows, cols: cols?.saturating_sub(c) },
            _ => Rect { row: r, col: 0, rows: rows?.saturating_sub(r), cols: tile.cols },
        };
        all.extend(Some(Step::Clobber { dst: d, core: 0, rect }).filter(|_| !rect.is_empty()));
    }
    Some(all)
}

/// TPREFETCH: a load without padding where the shapes agree; else the data passes through dst in pieces.
pub fn prefetch(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let extent = valid(inst, d)?;
    let [rows, cols] = inst.global.as_ref()?.shape();
    if extent != [rows?, cols?] {
        return Some(vec![Step::Scratch { tile: d }]);
    }
    Some(vec![Step::Apply(Apply::copy(extent, (Side::Global, Map::SAME), (Side::Tile(d), Map::SAME)))])
}

/// TSTORE and TSTORE_FP.
pub fn store(inst: &Inst) -> Steps {
    let s = inst.tile_index(Role::Src)?;
    let (extent, to) = (valid(inst, s)?, window(inst)?);
    let (func, param) = match inst.is_fixpipe() {
        true => out_of_acc(inst, &inst.tiles.get(s)?.tile, inst.global.as_ref()?.elem, 0),
        false => (Func::Bits, None),
    };
    let stored = |func: Func, from: [u64; 2], at: [u64; 2], extent: [u64; 2]| {
        let to = Map::at(to.origin[0] + at[0], to.origin[1] + at[1]);
        let mut args: SmallVec<[Arg; 2]> = SmallVec::new();
        args.extend(inst.attrs.adds().then_some(Arg::Element(Side::Global, to)));
        args.push(Arg::Element(Side::Tile(s), Map::at(from[0], from[1])));
        args.extend(param.map(|param| moved(param, from[1])));
        Step::Apply(Apply { func, core: 0, extent, dst: (Side::Global, to), args })
    };
    if inst.attrs.adds() {
        let func = match func {
            Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant } => {
                Func::FixpipeAdd { relu, hardware_rounding, saturate_inf, quant }
            }
            Func::Bits => Func::Add,
            _ => return None,
        };
        return Some(vec![stored(func, [0, 0], [0, 0], extent)]);
    }
    let layout = inst.global.as_ref()?.layout()?;
    if layout.is_injective() {
        return Some(vec![stored(func, [0, 0], [0, 0], extent)]);
    }
    // Elements that lie on each other: the last one in row-major order stays (isa/memory.md 1).
    let points = (0..extent[0]).flat_map(|i| (0..extent[1]).map(move |j| [i, j]));
    let offset = |[i, j]: &[u64; 2]| layout.offset(to.origin[0] + i, to.origin[1] + j);
    Some(last_of_each(points, offset).into_iter().map(|at| stored(func, at, at, [1, 1])).collect())
}

/// The element of a view that (0, 0) means: the instruction may name a window (isa/memory.md 6).
fn window(inst: &Inst) -> Option<Map> {
    Some(Map::at(inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?))
}

/// A parameter by column, from another column on.
fn moved(param: Arg, by: u64) -> Arg {
    match param {
        Arg::Element(side, map) => {
            Arg::Element(side, Map { origin: [map.origin[0], map.origin[1] + by], step: map.step })
        }
        scalar => scalar,
    }
}

/// Of the points that have one key, the last.
pub(super) fn last_of_each<P: Copy>(points: impl Iterator<Item = P> + Clone, key: impl Fn(&P) -> i64) -> Vec<P> {
    let mut last: HashMap<i64, usize> = HashMap::new();
    for (n, point) in points.clone().enumerate() {
        last.insert(key(&point), n);
    }
    let stays = |(n, point): &(usize, P)| last.get(&key(point)) == Some(n);
    points.enumerate().filter(stays).map(|(_, point)| point).collect()
}
