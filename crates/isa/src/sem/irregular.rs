//! The irregular instructions as steps (isa/irregular.md): what is regular in them, and which elements the rest touches.

use super::random::Random;
use super::route::{Routed, Routing};
use super::{Apply, Arg, Func, Map, Rect, Side, Step, Steps, at, copy, scratch, valid};
use crate::codec::{Number, Overflow};
use crate::inst::{Inst, QuantType};
use crate::ops::{AttrName, Form, Role};
use smallvec::SmallVec;

/// The given number of rows and columns, from the first element on.
pub(super) fn top([rows, cols]: [u64; 2]) -> Rect {
    Rect { row: 0, col: 0, rows, cols }
}

pub(super) fn declared(inst: &Inst, tile: usize) -> Option<Rect> {
    inst.tiles.get(tile).map(|t| top([t.tile.rows, t.tile.cols]))
}

/// A step whose data decides, which reads and writes in these rectangles.
pub(super) fn routed(how: Routing, reads: &[(usize, Rect)], writes: &[(usize, Rect)]) -> Step {
    Step::Routed(Routed { how, reads: SmallVec::from_slice(reads), writes: SmallVec::from_slice(writes) })
}

/// An instruction that makes dst's valid region of scalars alone.
fn made(inst: &Inst, how: Routing) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    Some(vec![routed(how, &[], &[(d, top(valid(inst, d)?))])])
}

fn integer(inst: &Inst, role: Role) -> Option<i128> {
    match inst.scalar(role)? {
        Number::Int(v) => Some(v),
        Number::Float(_) => None,
    }
}

/// TCI.
pub fn count(inst: &Inst) -> Steps {
    let how = Routing::Count { start: integer(inst, Role::Scalar)?, down: inst.attrs.flag(AttrName::Descending) };
    let mut all = scratch(inst);
    all.extend(made(inst, how)?);
    Some(all)
}

/// TTRI.
pub fn triangle(inst: &Inst) -> Steps {
    let upper = inst.attrs.int(AttrName::UpperOrLower)? == 1;
    made(inst, Routing::Triangle { diagonal: integer(inst, Role::Scalar)?, upper })
}

/// TRANDOM.
pub fn random(inst: &Inst) -> Steps {
    let word = |role| integer(inst, role).map(|v| v as u32);
    let key = [word(Role::Key0)?, word(Role::Key1)?];
    let roles = [Role::Counter0, Role::Counter1, Role::Counter2, Role::Counter3];
    let mut counter = 0u128;
    for (n, role) in roles.into_iter().enumerate() {
        counter |= u128::from(word(role)?) << (32 * n);
    }
    made(inst, Routing::Random(Random { key, counter, rounds: inst.attrs.int(AttrName::Rounds)? as u32 }))
}

/// The byte that THISTOGRAM counts: the one that is named, else the highest or the lowest (isa/irregular.md 3).
pub fn counted_byte(inst: &Inst) -> Option<i128> {
    let size = inst.tile(Role::Src)?.tile.elem.size()?;
    let named = inst.attrs.get(AttrName::Byte).and(inst.attrs.int(AttrName::Byte));
    Some(named.unwrap_or(if inst.attrs.flag(AttrName::IsMsb) { i128::from(size) - 1 } else { 0 }))
}

/// THISTOGRAM.
pub fn histogram(inst: &Inst) -> Steps {
    let (s, x, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Idx)?, inst.tile_index(Role::Dst)?);
    let [rows, cols] = valid(inst, s)?;
    let size = inst.tiles.get(s)?.tile.elem.size()?;
    let byte = u64::try_from(counted_byte(inst)?).ok()?.min(size - 1);
    let filter = match size {
        // One filter for each row, or one for all of them.
        2 => [(1 - byte) * rows, 1],
        _ => [3 - byte, 1],
    };
    let how = Routing::Histogram { byte };
    Some(vec![routed(how, &[(s, top([rows, cols])), (x, top(filter))], &[(d, top([rows, 256]))])])
}

/// TGATHER in its three forms.
pub fn gather(inst: &Inst) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let mut all = scratch(inst);
    match inst.form {
        Form::Compare => {
            let c = inst.tile_index(Role::Cdst)?;
            let region = valid(inst, s)?;
            let src = inst.tiles.get(s)?;
            let bits = inst.scalar_arg(Role::Scalar)?.bits(src.tile.elem)?;
            let how = Routing::Compare { cmp: inst.attrs.cmp()?, bits, offset: inst.attrs.int(AttrName::Offset)? };
            let mut writes = vec![(d, top([region[0], valid(inst, d)?[1]]))];
            for i in 0..region[0] {
                let (row, col) = stored(inst, c, i)?;
                writes.push((c, Rect { row, col, rows: 1, cols: 1 }));
            }
            all.push(routed(how, &[(s, top(region))], &writes));
        }
        Form::Mask => {
            let (factor, first) = inst.attrs.mask_pattern()?.period();
            let [rows, cols] = valid(inst, s)?;
            let kept = cols.saturating_sub(first).div_ceil(factor);
            all.push(copy([rows, kept], (s, Map::columns(first, factor)), (d, Map::SAME)));
        }
        _ => {
            let idx = inst.tile_index(Role::Idx)?;
            all.push(Step::Gather { src: s, idx, dst: d, extent: valid(inst, d)? });
        }
    }
    Some(all)
}

/// Element `k` of a tile in storage order (isa/irregular.md 9).
pub fn stored(inst: &Inst, tile: usize, k: u64) -> Option<(u64, u64)> {
    inst.tiles.get(tile)?.tile.layout().inverse(i64::try_from(k).ok()?)
}

/// TGATHERB.
pub fn gather_blocks(inst: &Inst) -> Steps {
    let (s, x, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Idx)?, inst.tile_index(Role::Dst)?);
    let [rows, cols] = valid(inst, d)?;
    let blocks = [rows, cols / inst.tiles.get(d)?.tile.elem.c0()];
    Some(vec![routed(Routing::Blocks, &[(s, declared(inst, s)?), (x, top(blocks))], &[(d, top([rows, cols]))])])
}

/// TSCATTER.
pub fn scatter(inst: &Inst) -> Steps {
    let (s, x, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Idx)?, inst.tile_index(Role::Dst)?);
    let region = top(valid(inst, s)?);
    let all = declared(inst, d)?;
    // Both hardware libraries clear the destination first (isa/today.md 6.6).
    let clear = inst.profile.is_npu().then_some(Step::Fill { dst: d, rect: all, bits: 0 });
    let mut steps: Vec<Step> = clear.into_iter().collect();
    steps.push(routed(Routing::Scatter, &[(s, region), (x, region)], &[(d, all)]));
    Some(steps)
}

/// Columns that a record takes (isa/irregular.md 6).
pub fn record_columns(inst: &Inst) -> Option<u64> {
    Some(8 / inst.dst()?.tile.elem.size()?)
}

/// TSORT32; hardware writes whole blocks of 32 records.
pub fn sort(inst: &Inst) -> Steps {
    let (s, x, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Idx)?, inst.tile_index(Role::Dst)?);
    let ([rows, cols], [indices, _], p) = (valid(inst, s)?, valid(inst, x)?, record_columns(inst)?);
    let mut all = scratch(inst);
    let rest = cols.next_multiple_of(32) - cols;
    if inst.profile.is_npu() && rows > 0 && rest > 0 {
        all.push(Step::Clobber { dst: d, core: 0, rect: Rect { row: 0, col: p * cols, rows, cols: p * rest } });
    }
    let reads = [(s, top([rows, cols])), (x, top([indices.min(rows), cols]))];
    all.push(routed(Routing::Sort, &reads, &[(d, top([rows, p * cols]))]));
    Some(all)
}

/// TMRGSORT, of the blocks of one tile or of several tiles.
pub fn merge(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let mut all = scratch(inst);
    if let Some(s) = inst.tile_index(Role::Src) {
        let length = u64::try_from(integer(inst, Role::Scalar)?).ok().filter(|n| *n > 0)?;
        let whole = length.checked_mul(4)?;
        let merged = valid(inst, s)?[1] / whole * whole;
        let region = top([1, merged]);
        all.push(routed(Routing::MergeBlocks { length }, &[(s, region)], &[(d, region)]));
        return Some(all);
    }
    let (p, executed) = (record_columns(inst)?, inst.tile_index(Role::Executed)?);
    let lists = [Role::Src0, Role::Src1, Role::Src2, Role::Src3].into_iter().filter_map(|role| inst.tile_index(role));
    let reads = lists.map(|s| Some((s, top([1, valid(inst, s)?[1]])))).collect::<Option<Vec<_>>>()?;
    let room = reads.iter().map(|r| r.1.cols).sum::<u64>().min(valid(inst, d)?[1]) / p * p;
    let how = Routing::MergeLists { exhausted: inst.attrs.flag(AttrName::Exhausted) };
    all.push(routed(how, &reads, &[(d, top([1, room])), (executed, top([1, 4]))]));
    Some(all)
}

/// TSETVAL.
pub fn set_element(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let (row, col) = stored(inst, d, inst.index_u64(Role::Index)?)?;
    let bits = inst.scalar_arg(Role::Scalar)?.bits(inst.tiles.get(d)?.tile.elem)?;
    Some(vec![Step::Fill { dst: d, rect: Rect { row, col, rows: 1, cols: 1 }, bits }])
}

/// A partial operation: rectangles where both sources, one or none of them is valid (isa/irregular.md 7).
pub(super) fn part(inst: &Inst, func: Func) -> Steps {
    let (a, b, d) = (inst.tile_index(Role::Src0)?, inst.tile_index(Role::Src1)?, inst.tile_index(Role::Dst)?);
    let (x, y, whole) = (valid(inst, a)?, valid(inst, b)?, valid(inst, d)?);
    if let Func::Arg { greatest, .. } = func {
        let indices = [Role::Src0Idx, Role::Src1Idx, Role::DstIdx].map(|role| inst.tile_index(role));
        let [i, j, k] = [indices[0]?, indices[1]?, indices[2]?];
        let reads = [(a, top(x)), (b, top(y)), (i, top(x)), (j, top(y))];
        return Some(vec![routed(Routing::Pick { greatest }, &reads, &[(d, top(whole)), (k, top(whole))])]);
    }
    let elem = inst.tiles.get(d)?.tile.elem;
    let (lowest, highest) = elem.range();
    let nothing = match func {
        Func::Max => elem.encode(lowest, Overflow::Infinity),
        Func::Min => elem.encode(highest, Overflow::Infinity),
        Func::Add | Func::Mul => 0,
        _ => return None,
    };
    let cuts = |axis: usize| {
        let mut cuts = [0, x[axis], y[axis], whole[axis]].map(|cut: u64| cut.min(whole[axis]));
        cuts.sort_unstable();
        cuts
    };
    let mut all = Vec::new();
    for rows in cuts(0).windows(2) {
        for cols in cuts(1).windows(2) {
            let ([row, end], [col, last]) = (<[u64; 2]>::try_from(rows).ok()?, <[u64; 2]>::try_from(cols).ok()?);
            let (here, extent) = (Map::at(row, col), [end - row, last - col]);
            if extent.contains(&0) {
                continue;
            }
            let is_in = |region: [u64; 2]| row < region[0] && col < region[1];
            all.push(match (is_in(x), is_in(y)) {
                (true, true) => {
                    let args = [a, b].map(|tile| Arg::Element(Side::Tile(tile), here));
                    let args = SmallVec::from_iter(args);
                    Step::Apply(Apply { func, core: 0, extent, dst: (Side::Tile(d), here), args })
                }
                (true, false) => copy(extent, (a, here), (d, here)),
                (false, true) => copy(extent, (b, here), (d, here)),
                (false, false) => {
                    Step::Fill { dst: d, rect: Rect { row, col, rows: extent[0], cols: extent[1] }, bits: nothing }
                }
            });
        }
    }
    Some(all)
}

/// TQUANT: factors by row, by row and column modulo 8, or by element (isa/irregular.md 8).
pub fn quantize(inst: &Inst) -> Steps {
    let (s, f, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Fp)?, inst.tile_index(Role::Dst)?);
    let offset = inst.tile_index(Role::Offset).filter(|_| inst.attrs.quant_type() == Some(QuantType::Int8Asym));
    let [rows, cols] = valid(inst, d)?;
    let params = valid(inst, f)?[1];
    let period = if params == 8 { 8 } else { 1 };
    let mut all = scratch(inst);
    for first in 0..period.min(cols) {
        let every = Map::columns(first, period);
        let factor = match params {
            1 | 8 => Map { origin: [0, first], step: [[1, 0], [0, 0]] },
            _ => Map::SAME,
        };
        let args = [(s, every), (f, factor)].into_iter().chain(offset.map(|o| (o, factor)));
        let args = args.map(|(tile, map)| Arg::Element(Side::Tile(tile), map)).collect();
        let extent = [rows, (cols - first).div_ceil(period)];
        all.push(Step::Apply(Apply { func: Func::Quantize, core: 0, extent, dst: (Side::Tile(d), every), args }));
    }
    Some(all)
}

/// TDEQUANT.
pub fn dequantize(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let by_row = at([[1, 0], [0, 0]]);
    let arg = |role, map| Some(Arg::Element(Side::Tile(inst.tile_index(role)?), map));
    let args = [arg(Role::Src, Map::SAME)?, arg(Role::Offset, by_row)?, arg(Role::Scale, by_row)?];
    let (extent, args) = (valid(inst, d)?, SmallVec::from_iter(args));
    Some(vec![Step::Apply(Apply { func: Func::Dequantize, core: 0, extent, dst: (Side::Tile(d), Map::SAME), args })])
}
