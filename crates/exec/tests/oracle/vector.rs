//! Random instructions of the vector unit, from their rows.

use super::cases::{Case, Layout, lay, path, tile, units, value, with_valid};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Cmp, Inst, ScalarArg, ScalarType, Sign, TileArg};
use tessera_isa::ops::{AttrName, Effect, Family, Form, Lay, Opcode, Role, RuleKind, TypeOf, Types};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Axis, Rounding, Saturation, Sem};
use tessera_isa::tile::{BLayout, Loc, SLayout};
use tessera_testkit::random::Random;

pub const FAMILIES: [Family; 3] = [Family::Elementwise, Family::Scalar, Family::Reduce];

/// The traits that many cases should have.
pub const TRAITS: &[&str] = &["in place", "scratch", "scalar", "mask", "ragged", "empty", "block a row", "two results"];

/// The traits that a case has.
pub fn traits(case: &Case) -> Vec<&'static str> {
    let inst = &case.inst;
    let has = |role| inst.tile(role).is_some();
    let each_row = matches!(inst.op.info().sem, Sem::Expand { each: Axis::Row, .. });
    let narrow = [Role::Src0, Role::Src1].iter().filter_map(|r| inst.tile(*r)?.valid[1]).min();
    let all = [
        case.shared.is_some(),
        has(Role::Tmp),
        !inst.scalars.is_empty(),
        has(Role::Mask),
        inst.tiles.iter().any(|t| t.valid[1].is_some_and(|c| c % 8 != 0)),
        inst.tiles.iter().any(|t| t.valid.contains(&Some(0))),
        each_row && narrow.is_some_and(|n| n > 1) && inst.attrs.src1_col().is_none(),
        has(Role::DstVal),
    ];
    TRAITS.iter().zip(all).filter(|(_, is)| *is).map(|(name, _)| *name).collect()
}

const ND: Layout = (BLayout::RowMajor, SLayout::NoneBox, 512);

/// Something wrong now and then would be refused, so everything is as the row wants it, mostly.
pub fn vector(random: &mut Random, profile: Profile, op: Opcode, form: Form) -> Option<Case> {
    let sig = path(random, profile, op, form)?;
    let ways = sig.layouts;
    let way = if ways.is_empty() { &[][..] } else { random.pick(ways) };
    let loc = match sig.locs.iter().find(|(role, _)| *role == Role::Dst) {
        Some((_, locs)) => random.pick(locs),
        None => Loc::Vec,
    };
    let types = Typed::pick(random, sig.types)?;
    let region = [extent(random, 24), extent(random, 80)];
    // Hardware wants one declared shape for conversions.
    let shape = random.once_in(2).then(|| [32, 32 * random.range(1, 3)]);
    let mut inst = Inst::new(op, form, profile);
    let info = op.info().forms.iter().find(|f| f.form == form)?;
    attributes(random, &mut inst);
    for operand in info.operands() {
        let role = operand.role;
        if role == Role::Scalar {
            inst.scalars.push(scalar(random, op, profile, &types));
            continue;
        }
        let elem = types.of(role, op);
        let mut layout = match way.iter().find(|(r, _)| *r == role) {
            Some((_, named)) => lay(random, *named, Loc::Vec, profile),
            None if profile == Profile::Cpu && role != Role::Tmp => lay(random, Lay::Any, Loc::Vec, profile),
            None => ND,
        };
        if operand.effect == Effect::Scratch {
            if random.once_in(3) && (operand.optional || profile != Profile::A2a3) {
                continue;
            }
            layout = ND;
        }
        let one_column = way.iter().any(|(r, l)| *r == role && *l == Lay::OneColumnDn);
        let valid = valid(random, &inst, role, region, (elem, one_column));
        let (ru, cu) = units(elem, layout);
        let room = |n: u64, unit: u64, random: &mut Random| (n.max(1).next_multiple_of(unit)) + unit * random.below(2);
        let [rows, cols] = match shape {
            Some([r, c]) if r >= valid[0] && c >= valid[1] && !one_column => [r, c],
            _ if one_column => [room(valid[0], ru, random), 1],
            _ => [room(valid[0], ru, random), room(valid[1], cu, random)],
        };
        inst.tiles.push(with_valid(tile(loc, elem, rows, cols, layout, profile), valid, role));
    }
    // In place now and then: a source is the destination.
    let d = inst.tile_index(Role::Dst)?;
    let source = inst.tiles.iter().position(|t: &TileArg| {
        t.role != Role::Tmp && t.role != Role::Mask && !t.role.is_dst() && t.tile.elem == inst.tiles[d].tile.elem
    });
    let mut shared = None;
    if let (Some(s), true) = (source, random.once_in(4)) {
        let (role, valid) = (inst.tiles[s].role, inst.tiles[s].valid);
        if valid == inst.tiles[d].valid {
            inst.tiles[s] = TileArg { role, ..inst.tiles[d].clone() };
            shared = Some((s, d));
        }
    }
    let case = Case { inst, shared, buffer: 0 };
    // The rules about storage do not see that it is shared.
    (shared.is_none() || !refuses_in_place(op, profile)).then_some(case)
}

fn refuses_in_place(op: Opcode, profile: Profile) -> bool {
    use tessera_isa::ops::RuleKind;
    let rules = op.info().rules.iter().filter(|r| r.on.has(profile));
    !matches!(op.info().sem, Sem::Map { .. }) || rules.into_iter().any(|r| matches!(r.kind, RuleKind::NotInPlace))
}

fn extent(random: &mut Random, most: u64) -> u64 {
    match random.below(10) {
        0 => 0,
        1 => 1,
        _ => random.range(1, most),
    }
}

/// The types of the operands.
enum Typed {
    Same(Elem),
    Pair(Elem, Elem),
    ByRole(Vec<(Role, Elem)>),
}

impl Typed {
    fn pick(random: &mut Random, types: Types) -> Option<Typed> {
        Some(match types {
            Types::EqualOf(list) if !list.is_empty() => Typed::Same(random.pick(list)),
            Types::Pairs(pairs) if !pairs.is_empty() => {
                let (from, to) = random.pick(pairs);
                Typed::Pair(from, random.pick(to))
            }
            Types::ByRole(list) => {
                let mut all: Vec<(Role, Elem)> = Vec::new();
                for (role, of) in list {
                    let elem = match of {
                        TypeOf::One(list) => random.pick(list),
                        TypeOf::Like(other) => all.iter().find(|(r, _)| r == other)?.1,
                        TypeOf::SizeOf(_) | TypeOf::Alike(_) => return None,
                    };
                    all.push((*role, elem));
                }
                Typed::ByRole(all)
            }
            _ => return None,
        })
    }

    fn of(&self, role: Role, op: Opcode) -> Elem {
        let role = match role {
            Role::Tmp if op == Opcode::Tprelu => return Elem::U8,
            Role::Tmp if op.info().family == Family::Reduce => Role::Src,
            Role::Tmp => Role::Dst,
            role => role,
        };
        match self {
            Typed::Same(elem) => *elem,
            Typed::Pair(from, to) => {
                if role == Role::Dst {
                    *to
                } else {
                    *from
                }
            }
            Typed::ByRole(all) => all.iter().find(|(r, _)| *r == role).map_or(Elem::U8, |(_, elem)| *elem),
        }
    }
}

/// The valid region that the row wants of an operand.
fn valid(random: &mut Random, inst: &Inst, role: Role, region: [u64; 2], (elem, one_column): (Elem, bool)) -> [u64; 2] {
    let [rows, cols] = region;
    let mask = elem.c0() * cols.div_ceil(8).div_ceil(32).max(1);
    match (inst.op.info().sem, role) {
        (_, Role::Tmp) if inst.op == Opcode::Txor => region,
        (_, Role::Tmp) => [rows.max(2) + 1, cols.max(1)],
        (_, Role::Mask) => [rows, mask],
        (Sem::Computes(_), Role::Dst) if matches!(inst.op, Opcode::Tcmp | Opcode::Tcmps) => {
            let bytes = u64::from(elem.bits() / 8);
            let row = cols.div_ceil(8).div_ceil(bytes).max(1) + random.below(2);
            [rows, row]
        }
        (Sem::Fold { each: Axis::Row, .. }, Role::Dst | Role::DstVal) => {
            let wide = inst.profile == Profile::Cpu && random.once_in(4) && !one_column;
            [rows, if wide { 3 } else { 1 }]
        }
        (Sem::Fold { each: Axis::Col, .. }, Role::Dst | Role::DstVal) => {
            let wide = inst.profile == Profile::Cpu && random.once_in(4);
            [if wide { 3 } else { 1 }, cols]
        }
        (Sem::Expand { each: Axis::Row, .. }, Role::Src) => [rows, if one_column { 1 } else { random.range(1, 9) }],
        (Sem::Expand { each: Axis::Col, .. }, Role::Src) => [random.range(1, 9), cols],
        (Sem::Expand { each, .. }, Role::Src0 | Role::Src1) => {
            // One of the two is broadcast; the first one is full if it can be.
            let is_full = match role {
                Role::Src0 => !one_column && !random.once_in(3),
                _ => inst.tile(Role::Src0).is_some_and(|t| t.valid != [Some(rows), Some(cols)]),
            };
            match (is_full, each) {
                (true, _) => region,
                (false, Axis::Row) if one_column || (inst.profile == Profile::Cpu && random.once_in(2)) => [rows, 1],
                (false, Axis::Row) => [rows, elem.c0()],
                (false, Axis::Col) => [random.range(1, 3), cols],
            }
        }
        _ => region,
    }
}

fn attributes(random: &mut Random, inst: &mut Inst) {
    for name in inst.op.info().attrs {
        match name {
            AttrName::CmpMode => inst.attrs.set(*name, Some(random.pick(Cmp::ALL))),
            AttrName::Rmode => inst.attrs.set(*name, Some(random.pick(Rounding::ALL))),
            AttrName::SatMode if random.once_in(2) => inst.attrs.set(*name, Some(random.pick(&Saturation::ALL[..2]))),
            AttrName::Src1Col if random.once_in(4) => inst.attrs.set(*name, Some(1i64)),
            _ => {}
        }
    }
}

/// A scalar of the tile's type, or of another that it may have.
fn scalar(random: &mut Random, op: Opcode, profile: Profile, types: &Typed) -> ScalarArg {
    let source = if op == Opcode::Texpands { Role::Dst } else { Role::Src };
    let source =
        if matches!(types, Typed::ByRole(all) if all.iter().all(|(r, _)| *r != source)) { Role::Src0 } else { source };
    let elem = types.of(source, op);
    let by_value = op.info().rules.iter().any(|rule| rule.kind == RuleKind::ScalarNumber);
    if by_value && random.once_in(3) {
        // Of the other kind (isa/today.md 6.8).
        return match elem.is_float() {
            true => {
                let value = Number::Int(i128::from(random.next() as i32 >> random.pick(&[0, 8, 28])));
                ScalarArg { role: Role::Scalar, ty: Some(ScalarType::Int(32, Sign::None)), value: Some(value) }
            }
            false => {
                let value = Number::Float(random.below(1200) as f64 / 8.0 - if elem.is_signed() { 90.0 } else { 0.5 });
                ScalarArg { role: Role::Scalar, ty: Some(ScalarType::Float(Elem::F32)), value: Some(value) }
            }
        };
    }
    if elem.is_float() {
        let other = random.once_in(3) && (profile == Profile::Cpu || op == Opcode::Tlrelu);
        let elem = if other { Elem::F32 } else { elem };
        let number = match random.below(3) {
            0 => value(random, elem),
            _ => Number::Float(random.below(64) as f64 / 8.0 - 3.0),
        };
        return ScalarArg { role: Role::Scalar, ty: Some(ScalarType::Float(elem)), value: Some(number) };
    }
    let value = match random.below(3) {
        0 => value(random, elem),
        // Seldom zero, and a shift count of hardware.
        _ => Number::Int(if random.once_in(20) { 0 } else { i128::from(random.range(1, 9)) }),
    };
    let sign = if elem.is_signed() { Sign::None } else { Sign::Unsigned };
    ScalarArg { role: Role::Scalar, ty: Some(ScalarType::Int(elem.bits() as u8, sign)), value: Some(value) }
}
