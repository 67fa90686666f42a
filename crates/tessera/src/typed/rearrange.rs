//! TRESHAPE, TTRANS, TCONCAT, TPACK, TINTERLEAVE, TDEINTERLEAVE, and views (ops.md 4, 5, 6, 8, 10).

use super::AsTile;
use super::known::{self, legal};
use crate::dynamic::{Instruction, saturated};
use crate::error::Result;
use crate::machine::RecordEvent;
use tessera_isa::inst::Attrs;
use tessera_isa::ops::{AttrName, Form, Opcode, Role};

/// `TTRANS(dst, src)`: `dst(j,i) = src(i,j)`.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A2a3);
/// let mut src: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
/// let mut dst: Tile<loc::Vec, f32, 16, 8> = machine.tile()?;
/// src.write(&(0..128).map(|i| i as f32).collect::<Vec<_>>())?;
/// ttrans(&mut dst, &src)?;
/// assert_eq!(dst.get(1, 0)?, Some(1.0));
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn ttrans<D: AsTile, S: AsTile>(dst: &mut D, src: &S) -> Result<RecordEvent> {
    legal!(known::ttrans(D::KNOWN, S::KNOWN));
    Instruction::new(Opcode::Ttrans).tile(Role::Src, src.buf()).tile(Role::Dst, dst.buf()).issue_as(Form::Plain)
}

/// `TTRANS(dst, src, tmp)`: with a scratch tile, whose contents become undefined.
pub fn ttrans_tmp<D: AsTile, S: AsTile, M: AsTile>(dst: &mut D, src: &S, tmp: &mut M) -> Result<RecordEvent> {
    legal!(known::ttrans(D::KNOWN, S::KNOWN));
    legal!(known::ttrans_tmp(S::KNOWN, M::KNOWN));
    Instruction::new(Opcode::Ttrans)
        .tile(Role::Src, src.buf())
        .tile(Role::Tmp, tmp.buf())
        .tile(Role::Dst, dst.buf())
        .issue_as(Form::Tmp)
}

/// `TRESHAPE(dst, src)`: the same bytes as another tile type. On `cpu` it copies them; on `a2a3` and `a5` the
/// destination lies in the source's storage from here on.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::Cpu);
/// let mut src: Tile<loc::Vec, u8, 1, 64> = machine.tile()?;
/// let mut dst: Tile<loc::Vec, u32, 2, 8> = machine.tile()?;
/// src.write(&[1; 64])?;
/// treshape(&mut dst, &src)?;
/// assert_eq!(dst.to_vec()?, [0x0101_0101; 16]);
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn treshape<D: AsTile, S: AsTile>(dst: &mut D, src: &S) -> Result<RecordEvent> {
    legal!(known::treshape(D::KNOWN, S::KNOWN));
    Instruction::new(Opcode::Treshape).tile(Role::Src, src.buf()).tile(Role::Dst, dst.buf()).issue_as(Form::Plain)
}

/// `TRESHAPE(dst, src, newShape)`: the shape must be the destination's declared one.
pub fn treshape_to<D: AsTile, S: AsTile>(dst: &mut D, src: &S, rows: usize, cols: usize) -> Result<RecordEvent> {
    legal!(known::treshape(D::KNOWN, S::KNOWN));
    let attrs = Attrs::default().with(AttrName::Shape, [saturated(rows), saturated(cols)]);
    Instruction::new(Opcode::Treshape)
        .tile(Role::Src, src.buf())
        .tile(Role::Dst, dst.buf())
        .attrs(attrs)
        .issue_as(Form::Plain)
}

fn join<'a, D: AsTile, A: AsTile, B: AsTile>(dst: &'a D, src0: &'a A, src1: &'a B) -> Instruction<'a> {
    Instruction::new(Opcode::Tconcat)
        .tile(Role::Src0, src0.buf())
        .tile(Role::Src1, src1.buf())
        .tile(Role::Dst, dst.buf())
}

/// `TCONCAT(dst, src0, src1)`: the sources' columns side by side.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut a: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
/// let mut b: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
/// let mut joined: Tile<loc::Vec, i32, 1, 16> = machine.tile()?;
/// a.write(&[1; 8])?;
/// b.write(&[2; 8])?;
/// tconcat(&mut joined, &a, &b)?;
/// assert_eq!(joined.to_vec()?[6..10], [1, 1, 2, 2]);
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tconcat<D: AsTile, A: AsTile, B: AsTile>(dst: &mut D, src0: &A, src1: &B) -> Result<RecordEvent> {
    legal!(known::tconcat(D::KNOWN, A::KNOWN));
    legal!(known::tconcat(D::KNOWN, B::KNOWN));
    join(dst, src0, src1).issue_as(Form::Plain)
}

/// `TCONCAT` with `dim = 0`: the sources' rows below each other (`cpu` only).
pub fn tconcat_rows<D: AsTile, A: AsTile, B: AsTile>(dst: &mut D, src0: &A, src1: &B) -> Result<RecordEvent> {
    legal!(known::tconcat(D::KNOWN, A::KNOWN));
    legal!(known::tconcat(D::KNOWN, B::KNOWN));
    let attrs = Attrs::default().with(AttrName::Dim, 0);
    join(dst, src0, src1).attrs(attrs).issue_as(Form::Plain)
}

/// `TCONCAT(dst, src0, src1, idx0, idx1)`: per row, as many bytes of columns as the index tiles say (ops.md 6).
pub fn tconcat_indexed<D, A, B, I, J>(dst: &mut D, src0: &A, src1: &B, idx0: &I, idx1: &J) -> Result<RecordEvent>
where
    D: AsTile,
    A: AsTile,
    B: AsTile,
    I: AsTile,
    J: AsTile,
{
    legal!(known::tconcat(D::KNOWN, A::KNOWN));
    legal!(known::tconcat(D::KNOWN, B::KNOWN));
    join(dst, src0, src1).tile(Role::Idx0, idx0.buf()).tile(Role::Idx1, idx1.buf()).issue_as(Form::Indexed)
}

/// `TCONCAT(dst, dstIdx, src0, src1, idx0, idx1)`: also gives the joined counts.
pub fn tconcat_indexed_out<D, K, A, B, I, J>(
    dst: &mut D,
    dst_idx: &mut K,
    src0: &A,
    src1: &B,
    idx0: &I,
    idx1: &J,
) -> Result<RecordEvent>
where
    D: AsTile,
    K: AsTile,
    A: AsTile,
    B: AsTile,
    I: AsTile,
    J: AsTile,
{
    legal!(known::tconcat(D::KNOWN, A::KNOWN));
    legal!(known::tconcat(D::KNOWN, B::KNOWN));
    join(dst, src0, src1)
        .tile(Role::Idx0, idx0.buf())
        .tile(Role::Idx1, idx1.buf())
        .tile(Role::DstIdx, dst_idx.buf())
        .issue_as(Form::IndexedOut)
}

/// `TPACK(dst, src)`: the low bytes of every element.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut src: Tile<loc::Vec, u32, 1, 32> = machine.tile()?;
/// let mut dst: Tile<loc::Vec, u8, 1, 32> = machine.tile()?;
/// src.write(&[0x1234; 32])?;
/// tpack(&mut dst, &src)?;
/// assert_eq!(dst.to_vec()?, [0x34; 32]);
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tpack<D: AsTile, S: AsTile>(dst: &mut D, src: &S) -> Result<RecordEvent> {
    legal!(known::tpack(D::KNOWN, S::KNOWN));
    Instruction::new(Opcode::Tpack).tile(Role::Src, src.buf()).tile(Role::Dst, dst.buf()).issue_as(Form::Plain)
}

/// `TINTERLEAVE(dst1, dst0, src1, src0)`: elements of both sources in turn; the first halves go to `dst0`.
///
/// The operand order is C++'s (ops.md 8).
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let tile = || machine.tile::<loc::Vec, i32, 1, 8, layout::Nd>();
/// let (mut dst1, mut dst0, mut src1, mut src0) = (tile()?, tile()?, tile()?, tile()?);
/// src0.write(&[0, 1, 2, 3, 4, 5, 6, 7])?;
/// src1.write(&[10, 11, 12, 13, 14, 15, 16, 17])?;
/// tinterleave(&mut dst1, &mut dst0, &src1, &src0)?;
/// assert_eq!(dst0.to_vec()?, [0, 10, 1, 11, 2, 12, 3, 13]);
/// assert_eq!(dst1.to_vec()?, [4, 14, 5, 15, 6, 16, 7, 17]);
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tinterleave<D1, D0, S1, S0>(dst1: &mut D1, dst0: &mut D0, src1: &S1, src0: &S0) -> Result<RecordEvent>
where
    D1: AsTile,
    D0: AsTile,
    S1: AsTile,
    S0: AsTile,
{
    legal!(known::tinterleave(D0::KNOWN, S0::KNOWN));
    legal!(known::tinterleave(D1::KNOWN, S0::KNOWN));
    legal!(known::tinterleave(D0::KNOWN, S1::KNOWN));
    pair(Opcode::Tinterleave, dst1, dst0, src1, src0).issue_as(Form::Plain)
}

/// `TDEINTERLEAVE(dst1, dst0, src1, src0)`: even columns to `dst0`, odd ones to `dst1`.
pub fn tdeinterleave<D1, D0, S1, S0>(dst1: &mut D1, dst0: &mut D0, src1: &S1, src0: &S0) -> Result<RecordEvent>
where
    D1: AsTile,
    D0: AsTile,
    S1: AsTile,
    S0: AsTile,
{
    legal!(known::tinterleave(D0::KNOWN, S0::KNOWN));
    legal!(known::tinterleave(D1::KNOWN, S0::KNOWN));
    legal!(known::tinterleave(D0::KNOWN, S1::KNOWN));
    pair(Opcode::Tdeinterleave, dst1, dst0, src1, src0).issue_as(Form::Plain)
}

fn pair<'a, D1, D0, S1, S0>(op: Opcode, dst1: &'a D1, dst0: &'a D0, src1: &'a S1, src0: &'a S0) -> Instruction<'a>
where
    D1: AsTile,
    D0: AsTile,
    S1: AsTile,
    S0: AsTile,
{
    Instruction::new(op)
        .tile(Role::Src0, src0.buf())
        .tile(Role::Src1, src1.buf())
        .tile(Role::Dst0, dst0.buf())
        .tile(Role::Dst1, dst1.buf())
}

/// `TDEINTERLEAVE(dst1, dst0, src)`: the same from one source with twice the columns.
pub fn tdeinterleave_one<D1, D0, S>(dst1: &mut D1, dst0: &mut D0, src: &S) -> Result<RecordEvent>
where
    D1: AsTile,
    D0: AsTile,
    S: AsTile,
{
    legal!(known::tinterleave(D0::KNOWN, S::KNOWN));
    legal!(known::tinterleave(D1::KNOWN, S::KNOWN));
    Instruction::new(Opcode::Tdeinterleave)
        .tile(Role::Src0, src.buf())
        .tile(Role::Dst0, dst0.buf())
        .tile(Role::Dst1, dst1.buf())
        .issue_as(Form::OneSource)
}

/// `TSUBVIEW(dst, src, row, col)`: the destination becomes a window of the source's storage.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::Cpu);
/// let mut src: Tile<loc::Vec, i32, 4, 16> = machine.tile()?;
/// let mut window: Tile<loc::Vec, i32, 2, 8> = machine.tile()?;
/// src.write(&(0..64).collect::<Vec<_>>())?;
/// tsubview(&mut window, &src, 1, 8)?;
/// assert_eq!(window.get(1, 0)?, Some(40));
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tsubview<D: AsTile, S: AsTile>(dst: &mut D, src: &S, row: usize, col: usize) -> Result<RecordEvent> {
    legal!(known::tsubview(D::KNOWN, S::KNOWN));
    Instruction::new(Opcode::Tsubview)
        .tile(Role::Src, src.buf())
        .tile(Role::Dst, dst.buf())
        .index(Role::Row, row)
        .index(Role::Col, col)
        .issue_as(Form::Plain)
}

/// `TASSIGN(tile, addr)`: binds the tile to a byte address of its memory; moves no data.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut tile: Tile<loc::Vec, f32, 16, 64> = machine.tile()?;
/// tassign(&mut tile, 0x1000)?;
/// assert_eq!(tassign(&mut tile, 0x1001).unwrap_err().rule(), "tassign-align");
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tassign<T: AsTile>(tile: &mut T, address: u64) -> Result<RecordEvent> {
    tile.buf().bind(address)?;
    Ok(RecordEvent::new())
}
