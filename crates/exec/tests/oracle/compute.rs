//! Random instructions that compute.

use super::cases::{Case, Layout, tile, valid, with_valid};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AttrValue, F32Rounding, Inst};
use tessera_isa::ops::{AttrName, Form, Opcode, Role, Types};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_isa::tile::{BLayout, Loc, SLayout, Tile, TileType};
use tessera_testkit::random::Random;

const ND: Layout = (BLayout::RowMajor, SLayout::NoneBox, 512);
const ELEMS: [Elem; 11] = [
    Elem::F32,
    Elem::F16,
    Elem::Bf16,
    Elem::I8,
    Elem::I16,
    Elem::I32,
    Elem::I64,
    Elem::U8,
    Elem::U16,
    Elem::U32,
    Elem::U64,
];

/// Row by row on hardware, anyhow on cpu.
fn layout(random: &mut Random, profile: Profile) -> Layout {
    match profile {
        Profile::Cpu => random.pick(&[
            ND,
            (BLayout::ColMajor, SLayout::NoneBox, 512),
            (BLayout::ColMajor, SLayout::RowMajor, 512),
            (BLayout::RowMajor, SLayout::ColMajor, 512),
        ]),
        _ => ND,
    }
}

fn any(random: &mut Random, profile: Profile, elem: Elem, rows: u64, cols: u64) -> Tile {
    let layout = layout(random, profile);
    tile(Loc::Vec, elem, rows, cols, layout, profile)
}

fn extent(random: &mut Random) -> u64 {
    32 * random.range(1, 3)
}

pub fn compute(random: &mut Random, profile: Profile, op: Opcode) -> Option<Case> {
    let mut inst = Inst::new(op, Form::Plain, profile);
    let (rows, cols, elem) = (extent(random), extent(random), random.pick(&ELEMS));
    let mut shared = None;
    match op.info().sem {
        Sem::Contract { scaled, one_row, .. } => {
            let sig = op.info().sigs.iter().find(|s| s.is_for(profile, Form::Plain))?;
            let Types::Rows(_, triples) = sig.types else { return None };
            let [x, y, to, ..] = random.pick(triples) else { return None };
            // The oracle takes its time over every product.
            let (rows, cols) = (if one_row && profile.is_npu() { 1 } else { 32 }, cols.min(64));
            // fp4 in pairs; a row of scales, or a column, for every 32 of K.
            let depth = if scaled { 2 * extent(random) } else { extent(random) };
            let even = |n: u64| if x.is_fp4() { n.div_ceil(2) * 2 } else { n };
            let usual = |loc, elem, rows, cols| TileType::new(loc, elem, rows, cols).resolve(profile);
            let (left, right) = (usual(Loc::Left, *x, rows, depth), usual(Loc::Right, *y, depth, cols));
            let ([m, k], [_, n]) = (valid(random, &left), valid(random, &right));
            let (m, k, n) = (if one_row { 1 } else { m }, even(k), even(n));
            let blocks = depth / 32;
            for operand in op.form(Form::Plain)?.operands() {
                let (tile, region) = match operand.role {
                    Role::A => (left, [m, k]),
                    Role::B => (right, [k, n]),
                    Role::AScale => (usual(Loc::ScaleLeft, Elem::F8e8m0, rows, blocks), [rows, blocks]),
                    Role::BScale => (usual(Loc::ScaleRight, Elem::F8e8m0, blocks, cols), [blocks, cols]),
                    Role::Bias => (usual(Loc::Bias, *to, 1, cols), [1, cols]),
                    _ => (usual(Loc::Acc, *to, rows, cols), [m, n]),
                };
                inst.tiles.push(with_valid(tile, region, operand.role));
            }
            if random.once_in(2) && !scaled {
                inst.attrs.set(AttrName::Enable, Some(AttrValue::Bool(random.once_in(2))));
                inst.attrs.set(AttrName::F32Mode, Some(random.pick(F32Rounding::ALL)));
            }
            let acc = inst.tile_index(Role::Acc).filter(|_| random.once_in(2));
            shared = acc.zip(inst.tile_index(Role::Dst));
        }
        _ => {
            let index = random.pick(&[Elem::I32, Elem::U32, Elem::I16, Elem::U16]);
            let (src_rows, src_cols) = (extent(random), extent(random));
            let source = any(random, profile, elem, src_rows, src_cols);
            let (idx, dst) = (any(random, profile, index, rows, cols), any(random, profile, elem, rows, cols));
            let mut region = valid(random, &dst);
            if profile.is_npu() {
                region[1] = cols;
            }
            let seen = valid(random, &source);
            inst.tiles.push(with_valid(source, seen, Role::Src));
            inst.tiles.push(with_valid(idx, region, Role::Idx));
            if profile == Profile::A2a3 || random.once_in(3) {
                inst.tiles.push(with_valid(tile(Loc::Vec, index, rows, cols, ND, profile), region, Role::Tmp));
            }
            inst.tiles.push(with_valid(dst, region, Role::Dst));
        }
    }
    Some(Case { inst, shared, buffer: 0 })
}
