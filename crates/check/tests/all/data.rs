//! Rules about what only a run knows: parameters, counts, buffers, addresses and extents.

#![allow(clippy::unwrap_used, reason = "a test")]

use tessera_check::{check, check_address, check_concat_counts, check_quant_params, check_valid};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{GlobalArg, Inst, ScalarArg, TileArg, ViewTag};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::effects;
use tessera_isa::tile::{Extent, Loc, Tile, TileType};

fn tile(loc: Loc, elem: Elem, rows: u64, cols: u64) -> Tile {
    TileType::new(loc, elem, rows, cols).resolve(Profile::A5)
}

fn inst(op: Opcode, form: Form, tiles: &[(Role, Tile)]) -> Inst {
    let mut inst = Inst::new(op, form, Profile::A5);
    inst.tiles.extend(tiles.iter().map(|(role, tile)| TileArg::of_type(*role, *tile)));
    inst
}

fn uses_valid(inst: &Inst, role: Role) -> bool {
    effects(inst).tiles.iter().any(|t| t.role == role && t.needs_valid)
}

fn quantized(dst: Elem) -> Inst {
    let tiles = [
        (Role::Src, tile(Loc::Acc, Elem::F32, 16, 32)),
        (Role::Fp, tile(Loc::Scaling, Elem::U64, 1, 32)),
        (Role::Dst, tile(Loc::Mat, dst, 32, 32)),
    ];
    inst(Opcode::TmovFp, Form::VectorQuant, &tiles)
}

#[test]
fn vector_parameters_name_their_column() {
    let (one, signed) = (0x3F80_0000u64, 1u64 << 46);
    let to_i8 = quantized(Elem::I8);
    assert_eq!(check_quant_params(&to_i8, &[one | signed; 4]), None);
    let fault = check_quant_params(&to_i8, &[one | signed, one | signed, one]).unwrap();
    assert_eq!((fault.rule, fault.operand), ("quant-sign", Some(1)));
    assert!(fault.message.contains("column 2"), "{}", fault.message);
    let infinite = 0x7F80_0000 | signed;
    assert_eq!(check_quant_params(&to_i8, &[infinite]).unwrap().rule, "quant-scale");
    // The vector form reads the low 13 bits as zero, which makes no finite scale infinite.
    assert_eq!(check_quant_params(&to_i8, &[0x7F7F_FFFF | signed]), None);
    assert_eq!(check_quant_params(&quantized(Elem::F16), &[one, one | signed]), None);
}

#[test]
fn counts_of_an_indexed_concat_lie_inside_their_sources() {
    let data = tile(Loc::Vec, Elem::F16, 8, 16);
    let index = tile(Loc::Vec, Elem::I32, 8, 8);
    let tiles = [
        (Role::Src0, data),
        (Role::Src1, data),
        (Role::Idx0, index),
        (Role::Idx1, index),
        (Role::Dst, tile(Loc::Vec, Elem::F16, 8, 32)),
    ];
    let concat = inst(Opcode::Tconcat, Form::Indexed, &tiles);
    assert!(check(&concat).is_empty());
    assert_eq!(check_concat_counts(&concat, 0, [64, 0]), None);
    let long = check_concat_counts(&concat, 3, [64, 68]).unwrap();
    assert_eq!((long.rule, long.operand), ("tconcat-index", Some(3)));
    assert!(long.message.contains("idx1(3, 0) = 68 bytes are 17 columns"), "{}", long.message);
    assert_eq!(check_concat_counts(&concat, 0, [-4, 0]).unwrap().rule, "tconcat-index");
}

#[test]
fn a_view_stays_inside_its_buffer() {
    let mut load = inst(Opcode::Tload, Form::Plain, &[(Role::Dst, tile(Loc::Vec, Elem::F16, 16, 32))]);
    let view = |stride: i64, offset: i64, buffer: u64| GlobalArg {
        elem: Elem::F16,
        tag: ViewTag::Nd,
        dims: [Some(16), Some(32)].into_iter().collect(),
        strides: [Some(stride), Some(1)].into_iter().collect(),
        offset: Some(offset),
        buffer: Some(buffer),
    };
    let mut broken = |view: GlobalArg| {
        load.global = Some(view);
        check(&load).first().map(|f| (f.rule, f.message.clone()))
    };
    assert_eq!(broken(view(32, 0, 512)), None);
    assert_eq!(broken(view(-32, 480, 512)), None);
    let (rule, message) = broken(view(32, 0, 511)).unwrap();
    assert_eq!(rule, "gm-bounds");
    assert!(message.contains("element 511") && message.contains("511 elements"), "{message}");
    assert_eq!(broken(view(32, -1, 512)).unwrap().0, "gm-bounds");
    assert_eq!(broken(view(i64::MAX, 0, 512)).unwrap().0, "gm-bounds");
}

#[test]
fn addresses_are_in_range_and_aligned() {
    let rule = |address: i128, profile: Profile| check_address(Loc::Vec, 1024, address, profile).map(|f| f.rule);
    assert_eq!(rule(0x2FC00, Profile::A2a3), None);
    assert_eq!(rule(0x2FC20, Profile::A2a3), Some("tassign-range"));
    assert_eq!(rule(0x2FC20, Profile::A5), None);
    assert_eq!(rule(1 << 40, Profile::Cpu), None, "no capacity limit");
    assert_eq!(rule(0x11, Profile::Cpu), Some("tassign-align"));
    assert_eq!(rule(-32, Profile::Cpu), Some("tassign-range"));
    assert_eq!(rule(i128::MAX, Profile::Cpu), Some("tassign-range"));
}

#[test]
fn extents_are_set_where_the_type_leaves_them_open() {
    let dynamic = TileType::new(Loc::Vec, Elem::F16, 16, 32).with_valid(Extent::Dynamic, Extent::Static(20));
    let tile = dynamic.resolve(Profile::A5);
    let rule = |rows: i128, cols: i128| check_valid(&tile, [Some(rows), Some(cols)]).map(|f| f.rule);
    assert_eq!(rule(0, 20), None);
    assert_eq!(rule(17, 20), Some("valid-range"));
    assert_eq!(rule(-1, 20), Some("valid-range"));
    assert_eq!(rule(4, 21), Some("valid-range"), "the type says 20");
    assert_eq!(check_valid(&tile, [None, None]), None);
}

#[test]
fn an_instruction_uses_the_regions_that_its_formula_names() {
    let v = tile(Loc::Vec, Elem::F16, 16, 32);
    let both = [(Role::Src, v), (Role::Dst, v)];
    let insert = inst(Opcode::Tinsert, Form::Plain, &both);
    assert!(uses_valid(&insert, Role::Src) && !uses_valid(&insert, Role::Dst));
    let extract = inst(Opcode::Textract, Form::Plain, &both);
    assert!(!uses_valid(&extract, Role::Src) && uses_valid(&extract, Role::Dst));
    let mut transpose = inst(Opcode::Ttrans, Form::Plain, &both);
    assert!(!uses_valid(&transpose, Role::Src));
    transpose.profile = Profile::A2a3;
    assert!(uses_valid(&transpose, Role::Src));
    let expand = inst(Opcode::TfillpadExpand, Form::Plain, &both);
    assert!(uses_valid(&expand, Role::Src) && !uses_valid(&expand, Role::Dst));
}

#[test]
fn what_is_not_known_is_silent() {
    let v = tile(Loc::Vec, Elem::F16, 16, 32);
    let mut extract = inst(Opcode::Textract, Form::Plain, &[(Role::Src, v), (Role::Dst, v)]);
    extract.scalars.extend([Role::Row, Role::Col].map(|role| ScalarArg { role, ty: None, value: None }));
    assert!(check(&extract).is_empty());
    extract.scalars[0].value = Some(Number::Int(16));
    assert_eq!(check(&extract)[0].rule, "textract-bounds");
    let mut mov = inst(Opcode::Tmov, Form::Plain, &[(Role::Src, v), (Role::Dst, v)]);
    mov.tiles[0].valid = [None, Some(32)];
    assert!(check(&mov).is_empty());
    mov.tiles[0].valid = [None, Some(31)];
    assert_eq!(check(&mov)[0].rule, "tmov-valid");
}
