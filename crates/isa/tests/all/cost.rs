//! The figures of costs are those of the specification.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tessera_isa::cost::{PUBLISHED, Timing, cost, figure};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Extent, Loc, TileType};
use toml::{Table, Value};

/// A figure as the file writes it, for a type: its own name goes first, `f` and `i` are all floats and integers.
fn written(value: &Value, elem: Elem) -> Option<u64> {
    let kind = if elem.is_float() { "f" } else { "i" };
    let number = match value {
        Value::Table(by_type) => by_type.get(elem.name()).or(by_type.get(kind))?,
        all => all,
    };
    Some(number.as_integer().unwrap() as u64)
}

#[test]
fn figures_are_those_of_the_file() {
    let file: Table = include_str!("../../../../docs/spec/isa/cost.toml").parse().unwrap();
    let mut listed = 0;
    for entry in file["vector"].as_array().unwrap() {
        let profile = Profile::parse(entry["profile"].as_str().unwrap()).unwrap();
        assert_eq!(entry["repeat_bytes"].as_integer(), Some(256));
        for name in entry["ops"].as_array().unwrap() {
            // Rows that are not there yet have no cost either.
            let Some(op) = Opcode::parse(name.as_str().unwrap()) else { continue };
            let found = cost(op, profile).unwrap_or_else(|| panic!("{op} has no cost on {profile}"));
            assert_eq!(found.published, entry["basis"].as_str() == Some("published"), "{op}");
            listed += 1;
            for elem in Elem::ALL.iter().copied() {
                let same =
                    |key: &str, ours: Option<u64>| assert_eq!(ours, written(&entry[key], elem), "{op} {key} {elem}");
                match &found.timing {
                    Timing::Startup { startup, completion, per_repeat, interval } => {
                        same("startup", Some((*startup).into()));
                        same("completion", figure(completion, elem));
                        same("per_repeat", figure(per_repeat, elem));
                        same("interval", Some((*interval).into()));
                    }
                    Timing::Latency { latency, per_repeat } => {
                        same("latency", figure(latency, elem));
                        same("per_repeat", figure(per_repeat, elem));
                    }
                }
            }
        }
    }
    assert_eq!(listed, PUBLISHED.vector.iter().map(|c| c.ops.len()).sum::<usize>());
}

/// The worked examples of isa/cost.md 1: 1024 elements of f32 are 16 repeats.
#[test]
fn cycles_are_those_of_the_page() {
    let cycles = |name: &str, profile| cost(Opcode::parse(name).unwrap(), profile)?.timing.cycles(Elem::F32, 16);
    assert_eq!([cycles("tadd", Profile::A2a3), cycles("tadd", Profile::A5)], [Some(335), Some(37)]);
    assert_eq!([cycles("texp", Profile::A2a3), cycles("texp", Profile::A5)], [Some(341), Some(46)]);
    assert_eq!([cycles("tabs", Profile::A5), cycles("tabs", Profile::Cpu)], [Some(20), None]);
    assert_eq!(cost(Opcode::Texp, Profile::A5).unwrap().timing.cycles(Elem::Bf16, 1), None);
}

/// An instruction on these tiles, all of them valid as far as their types say.
fn inst(name: &str, profile: Profile, tiles: &[(Role, TileType)]) -> Inst {
    let mut inst = Inst::new(Opcode::parse(name).unwrap(), Form::Plain, profile);
    inst.tiles.extend(tiles.iter().map(|(role, ty)| TileArg::of_type(*role, ty.resolve(profile))));
    inst
}

fn vec(elem: Elem, rows: u64, cols: u64) -> TileType {
    TileType::new(Loc::Vec, elem, rows, cols)
}

/// Two sources and a destination, one source and a destination, a load.
fn binary(name: &str, profile: Profile, tile: TileType) -> Option<u64> {
    PUBLISHED.cycles(&inst(name, profile, &[(Role::Src0, tile), (Role::Src1, tile), (Role::Dst, tile)]))
}

fn unary(name: &str, profile: Profile, src: TileType, dst: TileType) -> Option<u64> {
    PUBLISHED.cycles(&inst(name, profile, &[(Role::Src, src), (Role::Dst, dst)]))
}

#[test]
fn vector_instructions_take_repeats_of_their_domain() {
    let (a2a3, a5) = (Profile::A2a3, Profile::A5);
    let tile = vec(Elem::F32, 16, 64);
    assert_eq!([binary("tadd", a2a3, tile), binary("tadd", a5, tile)], [Some(335), Some(37)]);
    assert_eq!([unary("texp", a2a3, tile, tile), unary("texp", a5, tile, tile)], [Some(341), Some(46)]);
    assert_eq!([unary("tabs", a5, tile, tile), unary("tabs", Profile::Cpu, tile, tile)], [Some(20), None]);
    // Rows that are not full are done one by one: 16 of 132 bytes, which together would be 9 repeats.
    let ragged = vec(Elem::F32, 16, 128).with_valid(Extent::Static(16), Extent::Static(33));
    assert_eq!(binary("tadd", a5, ragged), Some(37));
    assert_eq!(binary("tadd", a5, vec(Elem::F32, 1, 128)), Some(9));
    let empty = vec(Elem::F32, 16, 64).with_valid(Extent::Static(0), Extent::Static(64));
    assert_eq!(binary("tadd", a2a3, empty), Some(0));
    // A repeat is 256 bytes of the larger type; only f32 to f16 is published.
    assert_eq!(unary("tcvt", a5, tile, vec(Elem::F16, 16, 64)), Some(22));
    assert_eq!(unary("tcvt", a5, tile, vec(Elem::Bf16, 16, 64)), None);
    assert_eq!(unary("texp", a5, vec(Elem::Bf16, 16, 64), vec(Elem::Bf16, 16, 64)), None);
    let dynamic = vec(Elem::F32, 16, 64).with_valid(Extent::Dynamic, Extent::Static(64));
    assert_eq!(binary("tadd", a5, dynamic), None);
}

#[test]
fn reductions_are_chains_of_steps() {
    let row = |name: &str, profile, src: TileType| {
        let dst = TileType::new(Loc::Vec, src.elem, src.rows, 1);
        let tiles = [(Role::Src, src), (Role::Tmp, src), (Role::Dst, dst)];
        PUBLISHED.cycles(&inst(name, profile, &tiles))
    };
    // 13 + Σ (19 + 2·n + 18·(n - 1)) of the repeats that isa/cost.md 2 lists.
    let chain = |steps: &[u64]| Some(13 + steps.iter().map(|n| 19 + 2 * n + 18 * (n - 1)).sum::<u64>());
    for (rows, cols, steps) in [
        (64, 128, &[128, 8, 8][..]),
        (32, 256, &[128, 8, 4, 4]),
        (16, 512, &[128, 16, 2]),
        (8, 1024, &[128, 16, 8, 8]),
        (16, 64, &[16, 2]),
        (1, 1, &[1]),
    ] {
        assert_eq!(row("trowsum", Profile::A2a3, vec(Elem::F32, rows, cols)), chain(steps), "{rows}x{cols}");
    }
    // f16: 16 to 1, and on a5 latency + 2·(n - 1) a step: 32 repeats, then 2.
    assert_eq!(row("trowmax", Profile::A5, vec(Elem::F16, 16, 256)), Some(21 + 62 + 21 + 2));
    assert_eq!(row("trowsum", Profile::A2a3, vec(Elem::Bf16, 16, 64)), None);
    // A column reduction folds row after row.
    let dst = vec(Elem::F32, 1, 64);
    let column = inst("tcolmax", Profile::A2a3, &[(Role::Src, vec(Elem::F32, 16, 64)), (Role::Dst, dst)]);
    assert_eq!(PUBLISHED.cycles(&column), Some(15 * (14 + 19 + 2)));
}

#[test]
fn moves_and_products() {
    let load = |profile, tile| PUBLISHED.cycles(&inst("tload", profile, &[(Role::Dst, tile)]));
    assert_eq!(load(Profile::A2a3, vec(Elem::F32, 16, 64)), Some(32));
    assert_eq!(load(Profile::A5, vec(Elem::F32, 16, 64)), None);
    // 5 columns of f32 are 20 bytes, which are 32 a row.
    assert_eq!(load(Profile::A2a3, vec(Elem::F32, 16, 8).with_valid(Extent::Static(16), Extent::Static(5))), Some(4));
    assert_eq!(load(Profile::A2a3, TileType::new(Loc::Mat, Elem::F16, 32, 64)), Some(16));
    let tile = vec(Elem::F32, 16, 64);
    assert_eq!(
        [unary("tmov", Profile::A2a3, tile, tile), unary("tmov", Profile::A5, tile, tile)],
        [Some(32), Some(24)]
    );
    let store = inst("tstore", Profile::A2a3, &[(Role::Src, tile)]);
    assert_eq!(PUBLISHED.cycles(&store), None);
    let product = |elem, m, k, n, profile| {
        let valid = |loc, rows: u64, cols: u64| {
            let ty = TileType::new(loc, elem, rows.div_ceil(64) * 64, cols.div_ceil(64) * 64);
            ty.with_valid(Extent::Static(rows), Extent::Static(cols))
        };
        let acc = TileType { elem: Elem::F32, ..valid(Loc::Acc, m, n) };
        let tiles = [(Role::A, valid(Loc::Left, m, k)), (Role::B, valid(Loc::Right, k, n)), (Role::Dst, acc)];
        PUBLISHED.cycles(&inst("tmatmul", profile, &tiles))
    };
    assert_eq!(product(Elem::F16, 40, 50, 60, Profile::A2a3), Some(62));
    assert_eq!(product(Elem::I8, 6, 7, 8, Profile::A2a3), Some(15));
    assert_eq!(product(Elem::F32, 120, 110, 50, Profile::A2a3), Some(910));
    assert_eq!(product(Elem::Bf16, 40, 50, 60, Profile::A2a3), None);
    assert_eq!(product(Elem::F16, 40, 50, 60, Profile::A5), None);
}
