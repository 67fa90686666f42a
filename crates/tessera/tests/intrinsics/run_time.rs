//! Tiles and instructions whose types are known at run time.

use crate::{ramp, rule};
use tessera::dynamic::Instruction;
use tessera::prelude::*;
use tessera::{AttrName, Attrs, Elem, Extent, Loc, Number, Opcode, Relu, Role, TileType};
use tessera::{Program, Result, TileBuf};

fn alloc(m: &Machine, loc: Loc, elem: Elem, rows: u64, cols: u64) -> Result<TileBuf> {
    m.alloc(&TileType::new(loc, elem, rows, cols))
}

#[test]
fn instructions_are_built_from_roles_in_any_order() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let mut src = alloc(&m, Loc::Vec, Elem::I32, 2, 8)?;
    let mut dst = alloc(&m, Loc::Vec, Elem::I32, 4, 16)?;
    src.write(&ramp::<i32>(16))?;
    dst.write(&[0i32; 64])?;
    Instruction::new(Opcode::Tinsert)
        .tile(Role::Dst, &dst)
        .index(Role::Col, 8)
        .index(Role::Row, 2)
        .tile(Role::Src, &src)
        .issue()?;
    assert_eq!(dst.to_vec::<i32>()?[40..48], ramp::<i32>(8));
    assert_eq!(dst.tile_type()?.to_string(), "vec 4x16xi32 ND");
    Ok(())
}

#[test]
fn a_listing_and_the_intrinsics_agree() -> Result<()> {
    let text = "%dst = pto.ttrans %src : !pto.tile<8x16xi16> -> !pto.tile<16x16xi16>";
    let program = Program::read(text, Some(Profile::A5));
    let m = Machine::new(Profile::A5);
    let src: Tile<loc::Vec, i16, 8, 16> = m.tile()?;
    let mut dst: Tile<loc::Vec, i16, 16, 16> = m.tile()?;
    let issued = rule(ttrans(&mut dst, &src));
    assert_eq!(program.check().first().map_or("legal", |d| d.rule), issued);
    Ok(())
}

#[test]
fn wrong_operands_and_attributes_are_named() -> Result<()> {
    let m = Machine::new(Profile::Cpu);
    let a = alloc(&m, Loc::Vec, Elem::I32, 8, 8)?;
    let b = alloc(&m, Loc::Vec, Elem::I32, 8, 8)?;
    let new = Instruction::new;
    assert_eq!(rule(new(Opcode::Ttrans).issue()), "operand-count");
    assert_eq!(rule(new(Opcode::Ttrans).tile(Role::Src, &a).issue()), "operand-count");
    let twice = new(Opcode::Ttrans).tile(Role::Src, &a).tile(Role::Src, &b).tile(Role::Dst, &b);
    assert_eq!(rule(twice.issue()), "operand-count");
    let scalar_as_tile = new(Opcode::Tmov).tile(Role::Quant, &a).tile(Role::Src, &a).tile(Role::Dst, &b);
    assert_eq!(rule(scalar_as_tile.issue()), "operand-count");
    let tile_as_scalar = new(Opcode::Tmov).scalar(Role::Src, Number::Int(1)).tile(Role::Dst, &b);
    assert_eq!(rule(tile_as_scalar.issue()), "operand-count");
    assert_eq!(rule(new(Opcode::Barrier).tile(Role::Dst, &a).issue()), "operand-count");
    let error = new(Opcode::Ttrans).tile(Role::Src, &a).issue().unwrap_err();
    assert_eq!(
        error.to_string(),
        "operand-count: TTRANS has no form with the operands (src) (help: give (src, dst) or (src, tmp, dst))"
    );
    let attrs = Attrs::default().with(AttrName::ReluPreMode, Relu::NormalRelu);
    let relu = new(Opcode::Ttrans).tile(Role::Src, &a).tile(Role::Dst, &b).attrs(attrs);
    assert_eq!(rule(relu.issue()), "unknown-attribute");
    let fraction = new(Opcode::Textract)
        .tile(Role::Src, &a)
        .tile(Role::Dst, &b)
        .scalar(Role::Row, Number::Float(0.5))
        .index(Role::Col, 0);
    assert!(fraction.issue().is_err());
    let negative = new(Opcode::Textract)
        .tile(Role::Src, &a)
        .tile(Role::Dst, &b)
        .scalar(Role::Row, Number::Int(-1))
        .index(Role::Col, 0);
    assert_eq!(rule(negative.issue()), "textract-bounds");
    Ok(())
}

#[test]
fn types_are_checked_when_they_are_known() -> Result<()> {
    let m = Machine::new(Profile::A5);
    assert_eq!(rule(alloc(&m, Loc::Vec, Elem::F32, 16, 2)), "tile-align");
    assert_eq!(rule(alloc(&m, Loc::Vec, Elem::F32, 0, 8)), "tile-shape");
    assert_eq!(rule(alloc(&m, Loc::Mat, Elem::F16, 15, 16)), "tile-box-rows");
    let ty = TileType::new(Loc::Vec, Elem::U8, 2, 32).with_valid(Extent::Dynamic, Extent::Dynamic);
    let mut tile = m.alloc(&ty)?;
    assert_eq!(rule(tile.valid()), "valid-unset");
    tile.set_valid(1, 2)?;
    assert_eq!(tile.valid()?, (1, 2));
    assert_eq!(rule(tile.to_vec::<i8>()), "tstore-dtype");
    assert_eq!(rule(tile.write(&[1i8, 2])), "tload-dtype");
    tile.write(&[1u8, 2])?;
    let mut out = [0u8; 2];
    tstore(&mut out, &tile)?;
    assert_eq!(out, [1, 2]);
    // Signedness does not matter to a store (isa/memory.md 1), the size does.
    assert_eq!(rule(tstore(&mut [0i8; 2], &tile)), "legal");
    assert_eq!(rule(tstore(&mut [0i16; 2], &tile)), "tstore-dtype");
    Ok(())
}

#[test]
fn tiles_of_two_machines_do_not_meet() -> Result<()> {
    let (m, other) = (Machine::new(Profile::Cpu), Machine::new(Profile::Cpu));
    let src = alloc(&m, Loc::Vec, Elem::I32, 8, 8)?;
    let mut dst = alloc(&other, Loc::Vec, Elem::I32, 8, 8)?;
    assert_eq!(rule(tmov(&mut dst, &src)), "undefined-name");
    Ok(())
}
