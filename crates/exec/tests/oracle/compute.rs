//! Random instructions that compute.

use super::cases::{Case, Layout, tile, valid, with_valid};
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Form, Opcode, Role};
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
    match op.info().sem {
        Sem::Contract { a, b, .. } => {
            let (x, to) = random.pick(&[
                (Elem::F16, Elem::F32),
                (Elem::Bf16, Elem::F32),
                (Elem::F32, Elem::F32),
                (Elem::I8, Elem::I32),
                (Elem::Hif8, Elem::F32),
            ]);
            let depth = extent(random);
            let usual = |loc, elem, rows, cols| TileType::new(loc, elem, rows, cols).resolve(profile);
            let (left, right) = (usual(Loc::Left, x, rows, depth), usual(Loc::Right, x, depth, cols));
            let ([m, k], [_, n]) = (valid(random, &left), valid(random, &right));
            inst.tiles.push(with_valid(left, [m, k], a));
            inst.tiles.push(with_valid(right, [k, n], b));
            inst.tiles.push(with_valid(usual(Loc::Acc, to, rows, cols), [m, n], Role::Dst));
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
    Some(Case { inst, shared: None, buffer: 0 })
}
