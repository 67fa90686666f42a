//! `overlap` against its definition (ops.md 1 rule 4): operands that share bytes are refused exactly when some order of
//! elements gives another result than disjoint operands do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use tessera_check::check;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Inst, Place, Root, ScalarArg, TileArg};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Side, Step, steps};
use tessera_isa::tile::{BLayout, Extent, Loc, Pad, SLayout, Tile, TileType};
use tessera_testkit::random::Random;

const MEMORY: usize = 1 << 14;

/// One element's way: from an operand to an operand, or a value to an operand.
#[derive(Clone, Copy)]
struct Action {
    from: Option<(usize, u64, u64)>,
    to: (usize, u64, u64),
    value: u8,
}

fn actions(inst: &Inst) -> Vec<Action> {
    let mut all = Vec::new();
    for step in steps(inst).unwrap() {
        match step {
            Step::Apply(apply) => {
                let (Side::Tile(d), to) = apply.dst else { panic!("a store") };
                let Some((Side::Tile(s), from)) = apply.elements().next() else { panic!("a load") };
                for i in 0..apply.extent[0] {
                    for j in 0..apply.extent[1] {
                        let ((r, c), (x, y)) = (from.of([i, j]), to.of([i, j]));
                        all.push(Action { from: Some((s, r, c)), to: (d, x, y), value: 0 });
                    }
                }
            }
            Step::Fill { dst, rect, .. } => {
                for r in rect.row..rect.row + rect.rows {
                    for c in rect.col..rect.col + rect.cols {
                        all.push(Action { from: None, to: (dst, r, c), value: 0xEE });
                    }
                }
            }
            _ => {}
        }
    }
    all
}

fn bytes(arg: &TileArg, r: u64, c: u64, base: u64) -> std::ops::Range<usize> {
    let size = arg.tile.elem.size().unwrap();
    let at = base + arg.layout.offset(r, c) as u64 * size;
    at as usize..(at + size) as usize
}

/// Runs the actions; `base` says where an operand lies in which memory.
fn run<'a>(
    inst: &Inst,
    order: impl Iterator<Item = &'a Action>,
    memories: &mut [Vec<u8>],
    place: impl Fn(usize) -> (usize, u64),
) {
    for action in order {
        let (d, x, y) = action.to;
        let (memory, base) = place(d);
        let to = bytes(&inst.tiles[d], x, y, base);
        let data: Vec<u8> = match action.from {
            Some((s, r, c)) => {
                let (memory, base) = place(s);
                memories[memory][bytes(&inst.tiles[s], r, c, base)][..to.len()].to_vec()
            }
            None => vec![action.value; to.len()],
        };
        memories[memory][to].copy_from_slice(&data);
    }
}

/// Does some order of elements change the result?
fn differs(inst: &Inst, rng: &mut Random) -> bool {
    let start: Vec<u8> = (0..MEMORY).map(|_| rng.below(251) as u8).collect();
    let all = actions(inst);
    let at = |n: usize| inst.tiles[n].place.unwrap().start;
    let mut apart: Vec<Vec<u8>> = inst.tiles.iter().map(|_| start.clone()).collect();
    run(inst, all.iter(), &mut apart, |n| (n, at(n)));
    let same = |together: &[u8]| {
        all.iter().all(|action| {
            let (d, x, y) = action.to;
            let range = bytes(&inst.tiles[d], x, y, at(d));
            together[range.clone()] == apart[d][range]
        })
    };
    let mut forward = [start.clone()];
    run(inst, all.iter(), &mut forward, |n| (0, at(n)));
    let mut backward = [start];
    run(inst, all.iter().rev(), &mut backward, |n| (0, at(n)));
    !same(&forward[0]) || !same(&backward[0])
}

const LAYOUTS: [(BLayout, SLayout); 4] = [
    (BLayout::RowMajor, SLayout::NoneBox),
    (BLayout::ColMajor, SLayout::NoneBox),
    (BLayout::ColMajor, SLayout::RowMajor),
    (BLayout::RowMajor, SLayout::ColMajor),
];

fn arg(
    rng: &mut Random,
    role: Role,
    elem: Elem,
    shape: [u64; 2],
    valid: [u64; 2],
    layout: (BLayout, SLayout),
) -> TileArg {
    let ty = TileType::new(Loc::Vec, elem, shape[0], shape[1])
        .with_layout(layout.0, layout.1, 512)
        .with_valid(Extent::Static(valid[0]), Extent::Static(valid[1]));
    let tile = Tile { pad: Pad::Max, ..ty.resolve(Profile::Cpu) };
    let start = rng.below(5) * rng.pick(&[0, 32, 64, 256, 512, 1024]);
    TileArg { place: Some(Place { root: Root::Memory(Loc::Vec), start }), ..TileArg::of_type(role, tile) }
}

/// A random instruction whose operands lie anywhere.
fn random(rng: &mut Random) -> Inst {
    let elem = rng.pick(&[Elem::U8, Elem::U16, Elem::U32]);
    let n = 32;
    let mut layout = || rng.pick(&LAYOUTS);
    let (one, other) = (layout(), layout());
    let nd = LAYOUTS[0];
    let valid = [1 + rng.below(n), 2 * (1 + rng.below(n / 2))];
    let shape = [n, n];
    let mut inst;
    match rng.below(7) {
        0 => {
            inst = Inst::new(Opcode::Tmov, Form::Plain, Profile::Cpu);
            inst.tiles.push(arg(rng, Role::Src, elem, shape, valid, one));
            inst.tiles.push(arg(rng, Role::Dst, elem, shape, valid, other));
        }
        1 => {
            inst = Inst::new(Opcode::Ttrans, Form::Plain, Profile::Cpu);
            inst.tiles.push(arg(rng, Role::Src, elem, shape, valid, one));
            inst.tiles.push(arg(rng, Role::Dst, elem, shape, [valid[1], valid[0]], other));
        }
        2 => {
            inst = Inst::new(Opcode::Textract, Form::Plain, Profile::Cpu);
            inst.scalars.push(ScalarArg::new(Role::Row, rng.below(n - valid[0] + 1).min(n - 1)));
            inst.scalars.push(ScalarArg::new(Role::Col, rng.below(n - valid[1] + 1).min(n - 1)));
            inst.tiles.push(arg(rng, Role::Src, elem, shape, shape, one));
            inst.tiles.push(arg(rng, Role::Dst, elem, shape, valid, other));
        }
        3 => {
            inst = Inst::new(Opcode::Tinsert, Form::Plain, Profile::Cpu);
            inst.scalars.push(ScalarArg::new(Role::Row, rng.below(n - valid[0] + 1)));
            inst.scalars.push(ScalarArg::new(Role::Col, rng.below(n - valid[1] + 1)));
            inst.tiles.push(arg(rng, Role::Src, elem, shape, valid, one));
            inst.tiles.push(arg(rng, Role::Dst, elem, shape, shape, other));
        }
        4 => {
            inst = Inst::new(Opcode::Tpack, Form::Plain, Profile::Cpu);
            inst.tiles.push(arg(rng, Role::Src, Elem::U32, shape, valid, nd));
            let narrow = rng.pick(&[Elem::U16, Elem::U8]);
            inst.tiles.push(arg(rng, Role::Dst, narrow, shape, valid, nd));
        }
        5 => {
            inst = Inst::new(Opcode::Tfillpad, Form::Plain, Profile::Cpu);
            inst.tiles.push(arg(rng, Role::Src, elem, shape, valid, one));
            inst.tiles.push(arg(rng, Role::Dst, elem, shape, shape, one));
        }
        _ => {
            inst = Inst::new(Opcode::Tinterleave, Form::Plain, Profile::Cpu);
            for role in [Role::Src0, Role::Src1, Role::Dst0, Role::Dst1] {
                let tile = arg(rng, role, elem, [4, n], [valid[0].min(4), valid[1]], nd);
                inst.tiles.push(tile);
            }
        }
    }
    inst
}

#[test]
fn overlap_is_refused_exactly_where_an_order_shows_it() {
    let mut rng = Random(0x9E37_79B9_7F4A_7C15);
    let (mut refused, mut shared) = (0, 0);
    for _ in 0..6_000 {
        let inst = random(&mut rng);
        let errors: Vec<_> = check(&inst).into_iter().filter(|f| f.is_error()).collect();
        let is_overlap = match errors.first() {
            None => false,
            Some(fault) if fault.rule == "overlap" => true,
            Some(fault) => panic!("{}: {inst:?}", fault.message),
        };
        assert_eq!(is_overlap, differs(&inst, &mut rng), "{inst:#?}");
        refused += u32::from(is_overlap);
        let starts: Vec<u64> = inst.tiles.iter().map(|t| t.place.unwrap().start).collect();
        shared += u32::from(!is_overlap && starts[0].abs_diff(starts[1]) < 512);
    }
    assert!(refused > 500 && shared > 200, "{refused} refused, {shared} shared without harm");
}

#[test]
fn nibbles_of_a_byte_are_two_elements() {
    let ty = TileType::new(Loc::Vec, Elem::F4e2m1x2, 16, 64).resolve(Profile::A5);
    let place = Some(Place { root: Root::Auto(3), start: 0 });
    let mut inst = Inst::new(Opcode::Tmov, Form::Plain, Profile::A5);
    for role in [Role::Src, Role::Dst] {
        inst.tiles.push(TileArg { place, ..TileArg::of_type(role, ty) });
    }
    assert!(check(&inst).is_empty(), "onto itself");
    inst.tiles[1].place = Some(Place { root: Root::Auto(4), start: 0 });
    assert!(check(&inst).is_empty(), "another storage");
}

#[test]
fn index_tiles_and_unknown_counts_are_careful() {
    let tile = |rows, cols, elem| TileType::new(Loc::Vec, elem, rows, cols).resolve(Profile::A5);
    let mut inst = Inst::new(Opcode::Tconcat, Form::Indexed, Profile::A5);
    let data = tile(16, 32, Elem::F16);
    let places = [0x0, 0x1000, 0x2000, 0x3000, 0x4000];
    let tiles = [data, data, tile(16, 8, Elem::I32), tile(16, 8, Elem::I32), data];
    let roles = [Role::Src0, Role::Src1, Role::Idx0, Role::Idx1, Role::Dst];
    for ((role, tile), start) in roles.into_iter().zip(tiles).zip(places) {
        inst.tiles.push(TileArg {
            place: Some(Place { root: Root::Memory(Loc::Vec), start }),
            ..TileArg::of_type(role, tile)
        });
    }
    assert!(check(&inst).is_empty());
    let at = |inst: &Inst, n: usize, start: u64| {
        let mut moved = inst.clone();
        moved.tiles[n].place.as_mut().unwrap().start = start;
        check(&moved).first().map(|f| f.rule)
    };
    assert_eq!(at(&inst, 4, 0x0), Some("overlap"), "dst onto src0");
    assert_eq!(at(&inst, 4, 0x3020), Some("overlap"), "dst onto idx1");
    assert_eq!(at(&inst, 1, 0x0), None, "two sources may be one tile");
}

#[test]
fn halves_of_a_tile_too_large_to_enumerate_are_told_apart() {
    let whole = TileType::new(Loc::Vec, Elem::F32, 8192, 8192).resolve(Profile::Cpu);
    let half = TileType::new(Loc::Vec, Elem::F32, 8192, 4096).resolve(Profile::Cpu);
    let layout = whole.layout().window(0, 0, 8192, 4096).unwrap().1;
    let at = |role, start| TileArg {
        layout: layout.clone(),
        place: Some(Place { root: Root::Auto(0), start }),
        ..TileArg::of_type(role, half)
    };
    let rule = |start| {
        let mut inst = Inst::new(Opcode::Tmov, Form::Plain, Profile::Cpu);
        inst.tiles.extend([at(Role::Src, 0), at(Role::Dst, start)]);
        check(&inst).first().map(|f| f.rule)
    };
    assert_eq!(rule(4096 * 4), None);
    assert_eq!(rule(4088 * 4), Some("overlap"));
    assert_eq!(rule(0), None, "onto itself");
}
