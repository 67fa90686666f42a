//! TRESHAPE, TTRANS, TCONCAT, TPACK, TINTERLEAVE, TDEINTERLEAVE, and views (ops.md 4, 5, 6, 8, 10).

use super::AsTile;
use super::intrinsic::intrinsics;
use super::known::{self, legal};
use crate::dynamic::{Instruction, saturated};
use crate::{AttrName, Attrs, Form, Opcode, RecordEvent, Result, Role};

intrinsics! {
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
    ttrans[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Ttrans Plain if ttrans(Dst, Src);

    /// `TTRANS(dst, src, tmp)`: with a scratch tile, whose contents become undefined.
    ttrans_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Ttrans Tmp if ttrans(Dst, Src) if ttrans_tmp(Tmp, Src);

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
    treshape[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Treshape Plain if treshape(Dst, Src);

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
    tconcat[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tconcat Plain {Src: Src0, Dst: Dst} {Src: Src1, Dst: Dst};

    /// `TCONCAT(dst, src0, src1, idx0, idx1)`: per row, as many bytes of columns as the index tiles say (ops.md 6).
    tconcat_indexed[Dst: AsTile, Src0: AsTile, Src1: AsTile, Idx0: AsTile, Idx1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, idx0: read Idx0, idx1: read Idx1)
        = Tconcat Indexed {Src: Src0, Dst: Dst} {Src: Src1, Dst: Dst};

    /// `TCONCAT(dst, dstIdx, src0, src1, idx0, idx1)`: also gives the joined counts.
    tconcat_indexed_out[Dst: AsTile, DstIdx: AsTile, Src0: AsTile, Src1: AsTile, Idx0: AsTile, Idx1: AsTile](dst: write Dst, dst_idx: write DstIdx, src0: read Src0, src1: read Src1, idx0: read Idx0, idx1: read Idx1)
        = Tconcat IndexedOut {Src: Src0, Dst: Dst} {Src: Src1, Dst: Dst};

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
    tpack[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tpack Plain {Src: Src, Dst: Dst} if tpack(Dst, Src);

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
    tinterleave[Dst1: AsTile, Dst0: AsTile, Src1: AsTile, Src0: AsTile](dst1: write Dst1, dst0: write Dst0, src1: read Src1, src0: read Src0)
        = Tinterleave Plain {Src: Src0, Dst: Dst0} {Src: Src0, Dst: Dst1} {Src: Src1, Dst: Dst0};

    /// `TDEINTERLEAVE(dst1, dst0, src1, src0)`: even columns to `dst0`, odd ones to `dst1`.
    tdeinterleave[Dst1: AsTile, Dst0: AsTile, Src1: AsTile, Src0: AsTile](dst1: write Dst1, dst0: write Dst0, src1: read Src1, src0: read Src0)
        = Tdeinterleave Plain {Src: Src0, Dst: Dst0} {Src: Src0, Dst: Dst1} {Src: Src1, Dst: Dst0};

    /// `TDEINTERLEAVE(dst1, dst0, src)`: the same from one source with twice the columns.
    tdeinterleave_one[Dst1: AsTile, Dst0: AsTile, Src0: AsTile](dst1: write Dst1, dst0: write Dst0, src0: read Src0)
        = Tdeinterleave OneSource {Src: Src0, Dst: Dst0} {Src: Src0, Dst: Dst1};

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
    tsubview[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src, row: index Row, col: index Col)
        = Tsubview Plain if tsubview(Dst, Src);
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

/// `TCONCAT` with `dim = 0`: the sources' rows below each other (`cpu` only).
pub fn tconcat_rows<D: AsTile, A: AsTile, B: AsTile>(dst: &mut D, src0: &A, src1: &B) -> Result<RecordEvent> {
    legal!(
        known::refused(Opcode::Tconcat, Form::Plain, [(Role::Src, A::KNOWN), (Role::Dst, D::KNOWN)]),
        known::refused(Opcode::Tconcat, Form::Plain, [(Role::Src, B::KNOWN), (Role::Dst, D::KNOWN)])
    );
    Instruction::new(Opcode::Tconcat)
        .tile(Role::Src0, src0.buf())
        .tile(Role::Src1, src1.buf())
        .tile(Role::Dst, dst.buf())
        .attrs(Attrs::default().with(AttrName::Dim, 0))
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
