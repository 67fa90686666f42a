//! The vector unit: maps, folds and expansions, and what some instructions do besides (isa/elementwise.md, scalar.md,
//! reduce.md).

use super::{Apply, Arg, Axis, Func, Map, Rect, Reduce, Side, Step, Steps, at, ceil_to, scratch, valid};
use crate::inst::{Inst, ScalarArg};
use crate::ops::{Form, Role, RuleKind};
use crate::profile::Profile;
use crate::tile::Loc;
use smallvec::SmallVec;

/// An argument of a function over (i, j): the element of a tile, or a scalar as one of src's type, which is dst's too
/// except in TAXPY and comparisons (isa/scalar.md 2).
fn arg(inst: &Inst, role: Role) -> Option<Arg> {
    match inst.tile_index(role) {
        Some(tile) => Some(Arg::Element(Side::Tile(tile), Map::SAME)),
        None => {
            let elem = inst.tile(Role::Src).or(inst.dst())?.tile.elem;
            let scalar = inst.scalar_arg(role)?;
            // Scalars of another kind are converted where the row says so (isa/today.md 6.8).
            let by_value = inst.op.info().rules.iter().any(|rule| rule.kind == RuleKind::ScalarNumber);
            Some(Arg::Scalar(elem, if by_value { scalar.converted(elem)? } else { scalar.bits(elem)? }))
        }
    }
}

/// `dst(i, j) = func(args(i, j) …)` over dst's valid region.
pub(super) fn map(inst: &Inst, roles: &[Role], func: Func) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let args = roles.iter().map(|role| arg(inst, *role)).collect::<Option<SmallVec<_>>>()?;
    let mut all = scratch(inst);
    all.push(Step::Apply(Apply { func, core: 0, extent: valid(inst, d)?, dst: (Side::Tile(d), Map::SAME), args }));
    Some(all)
}

/// TCVT.
pub fn convert_type(inst: &Inst) -> Steps {
    use super::Saturation;
    use crate::elem::Elem::{F8e4m3, F8e5m2};
    let (rounding, saturation) = (inst.attrs.rounding()?, inst.attrs.saturation());
    // Into 8-bit floats a5 saturates, infinities too (isa/today.md 6.8).
    let is_finite = inst.profile == Profile::A5
        && matches!(inst.dst()?.tile.elem, F8e4m3 | F8e5m2)
        && saturation != Some(Saturation::Off);
    let saturation = if is_finite { Some(Saturation::Finite) } else { saturation };
    map(inst, &[Role::Src], Func::Cvt { rounding, saturation })
}

/// TDIVS: on a5 a tile of floats is multiplied by the reciprocal (isa/scalar.md 3).
pub fn divide(inst: &Inst) -> Steps {
    if inst.form == Form::ScalarFirst {
        return map(inst, &[Role::Scalar, Role::Src], Func::Div);
    }
    let multiplies = inst.profile == Profile::A5 && inst.dst()?.tile.elem.is_float();
    map(inst, &[Role::Src, Role::Scalar], if multiplies { Func::MulRecip } else { Func::Div })
}

/// TLRELU: the slope enters the product as the f32 that it is (isa/scalar.md 2).
pub fn leaky_relu(inst: &Inst) -> Steps {
    use crate::elem::Elem::F32;
    let mut all = map(inst, &[Role::Src], Func::Prelu)?;
    let slope = inst.scalar_arg(Role::Scalar)?.bits(F32)?;
    if let Some(Step::Apply(apply)) = all.last_mut() {
        apply.args.push(Arg::Scalar(F32, slope));
    }
    Some(all)
}

/// TEXPANDS: the valid region, or all of a Mat tile.
pub fn expand_scalar(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let tile = &inst.tiles.get(d)?.tile;
    let bits = inst.scalar_arg(Role::Scalar)?.bits(tile.elem)?;
    let [rows, cols] = if tile.loc == Loc::Mat { [tile.rows, tile.cols] } else { valid(inst, d)? };
    Some(vec![Step::Fill { dst: d, rect: Rect { row: 0, col: 0, rows, cols }, bits }])
}

/// TCMP and TCMPS: where the bytes of the mask lie is said in isa/elementwise.md 4.
pub fn compare(inst: &Inst) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let (roles, data) = match inst.tile_index(Role::Src) {
        Some(src) => ([Role::Src, Role::Scalar], src),
        None => ([Role::Src0, Role::Src1], inst.tile_index(Role::Src0)?),
    };
    let extent = valid(inst, data)?;
    let args = [arg(inst, *roles.first()?)?, arg(inst, *roles.get(1)?)?];
    let row_bytes = match mask_is_dense(inst) {
        true => inst.tiles.get(d)?.tile.elem.bytes_of(valid(inst, d)?[1]),
        false => extent[1].div_ceil(8),
    };
    Some(vec![Step::Pack { func: Func::Compare(inst.attrs.cmp()?), extent, args, dst: d, row_bytes }])
}

/// Whether the instruction writes its mask byte after byte, through the valid region (isa/elementwise.md 4).
pub fn mask_is_dense(inst: &Inst) -> bool {
    inst.profile != Profile::A2a3 && inst.tile(Role::Mask).is_none() && inst.has_scalar(Role::Scalar)
}

/// TSEL and TSELS: bit j mod 8 of byte j / 8 of the mask's row i picks. One step for each bit of a byte.
pub fn select(inst: &Inst) -> Steps {
    let (mask, d) = (inst.tile_index(Role::Mask)?, inst.tile_index(Role::Dst)?);
    let [rows, cols] = valid(inst, d)?;
    let elem = inst.tiles.get(d)?.tile.elem;
    let mut all = scratch(inst);
    for bit in 0..cols.min(8) {
        let every_eighth = Map::columns(bit, 8);
        let element = |role| Some(Arg::Element(Side::Tile(inst.tile_index(role)?), every_eighth));
        let scalar = |s: &ScalarArg| Some(Arg::Scalar(elem, s.bits(elem)?));
        let args = [
            Arg::Element(Side::Bytes(mask), Map::SAME),
            element(Role::Src0).or_else(|| element(Role::Src))?,
            element(Role::Src1).or_else(|| inst.scalar_arg(Role::Scalar).and_then(scalar))?,
        ];
        all.push(Step::Apply(Apply {
            func: Func::Select { bit: bit as u8 },
            core: 0,
            extent: [rows, (cols - bit).div_ceil(8)],
            dst: (Side::Tile(d), every_eighth),
            args: SmallVec::from_iter(args),
        }));
    }
    Some(all)
}

/// One result for each row or column of src.
pub(super) fn fold(inst: &Inst, each: Axis, func: Func) -> Steps {
    let s = inst.tile_index(Role::Src)?;
    let [rows, cols] = valid(inst, s)?;
    let (extent, from, to) = match each {
        Axis::Row => ([rows, 1, cols], [[1, 0, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 0]]),
        Axis::Col => ([1, cols, rows], [[0, 0, 1], [0, 1, 0]], [[0, 0, 0], [0, 1, 0]]),
    };
    let mut all = scratch(inst);
    for role in [Role::DstVal, Role::Dst] {
        let Some(d) = inst.tile_index(role) else { continue };
        let func = match func {
            Func::Arg { greatest, .. } => Func::Arg { greatest, value: role == Role::DstVal },
            func => {
                // The plain column reductions have a footprint on a2a3 (isa/reduce.md 3).
                all.extend(blocks(inst, d, [1, cols]).filter(|_| each == Axis::Col && rows > 0));
                func
            }
        };
        let args = SmallVec::from_iter([(s, at(from))]);
        all.push(Step::Reduce(Reduce { func, extent, dst: (d, at(to)), start: None, args, scales: None }));
    }
    Some(all)
}

/// The 32-byte blocks that a2a3 writes around `rows` rows and `cols` columns.
fn blocks(inst: &Inst, dst: usize, [rows, cols]: [u64; 2]) -> impl Iterator<Item = Step> + use<> {
    let tile = inst.tiles.get(dst).map(|t| &t.tile).filter(|_| inst.profile == Profile::A2a3 && rows > 0 && cols > 0);
    tile.map(|t| {
        let rect = Rect { row: 0, col: 0, rows, cols: ceil_to(cols, t.elem.c0()).min(t.cols) };
        Step::Clobber { dst, core: 0, rect }
    })
    .into_iter()
}

/// TROWEXPAND, TCOLEXPAND: column 0 or row 0 of src everywhere. With an operation: a full operand and one that is
/// broadcast.
pub(super) fn expand(inst: &Inst, each: Axis, func: Func) -> Steps {
    let d = inst.tile_index(Role::Dst)?;
    let extent = valid(inst, d)?;
    let broadcast = match each {
        Axis::Row => at([[1, 0], [0, 0]]),
        Axis::Col => at([[0, 0], [0, 1]]),
    };
    let mut all = scratch(inst);
    if let Some(src) = inst.tile_index(Role::Src) {
        all.extend(blocks(inst, d, extent).filter(|_| each == Axis::Col));
        let args = SmallVec::from_iter([Arg::Element(Side::Tile(src), broadcast)]);
        all.push(Step::Apply(Apply { func, core: 0, extent, dst: (Side::Tile(d), Map::SAME), args }));
        return Some(all);
    }
    let full = full_operand(inst)?;
    let other = if full == Role::Src0 { Role::Src1 } else { Role::Src0 };
    // The number of columns of the broadcast operand that count: one, or a block that is repeated along the row.
    let columns = match each {
        Axis::Row if inst.attrs.src1_col() != Some(1) => inst.tile(other)?.valid[1]?,
        _ => 1,
    };
    let (period, repeated) = if columns > 1 { (columns, Map::SAME) } else { (extent[1].max(1), broadcast) };
    let mut first = 0;
    while first < extent[1] {
        let here = Map::at(0, first);
        let side = |role| {
            let map = if role == full { here } else { repeated };
            Some(Arg::Element(Side::Tile(inst.tile_index(role)?), map))
        };
        all.push(Step::Apply(Apply {
            func,
            core: 0,
            extent: [extent[0], period.min(extent[1] - first)],
            dst: (Side::Tile(d), here),
            args: SmallVec::from_iter([side(Role::Src0)?, side(Role::Src1)?]),
        }));
        first += period;
    }
    Some(all)
}

/// The full operand of an expansion: src0 if its valid region is dst's and, on hardware, its rows are contiguous; else
/// src1 (isa/reduce.md 2).
pub fn full_operand(inst: &Inst) -> Option<Role> {
    let (dst, first) = (inst.dst()?, inst.tile(Role::Src0)?);
    let in_rows = !inst.profile.is_npu() || first.tile.layout_name() == crate::tile::LayoutName::Nd;
    let same = |axis: usize| Some((*first.valid.get(axis)?)? == (*dst.valid.get(axis)?)?);
    match (in_rows, same(0), same(1)) {
        (false, ..) | (_, Some(false), _) | (.., Some(false)) => Some(Role::Src1),
        (true, Some(true), Some(true)) => Some(Role::Src0),
        _ => None,
    }
}

/// TPAIRREDUCESUM: neighbours are added into the lower half of a row, the rest is zero.
pub fn pair_sums(inst: &Inst) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let [rows, cols] = valid(inst, d)?;
    let elem = inst.tiles.get(d)?.tile.elem;
    let pairs = cols / 2;
    let sum = |extent, args: [Arg; 2], to| {
        let dst = (Side::Tile(d), Map::at(0, to));
        Step::Apply(Apply { func: Func::Add, core: 0, extent, dst, args: SmallVec::from_iter(args) })
    };
    let column = |from| Arg::Element(Side::Tile(s), from);
    let mut all = vec![sum([rows, pairs], [column(Map::columns(0, 2)), column(Map::columns(1, 2))], 0)];
    let mut zeros = pairs;
    if inst.profile == Profile::Cpu && cols % 2 == 1 {
        all.push(sum([rows, 1], [column(Map::at(0, cols - 1)), Arg::Scalar(elem, 0)], pairs));
        zeros += 1;
    }
    let rect = Rect { row: 0, col: zeros, rows, cols: cols - zeros };
    if !rect.is_empty() {
        all.push(Step::Fill { dst: d, rect, bits: 0 });
    }
    Some(all)
}
