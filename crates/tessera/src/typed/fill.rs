//! TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND (ops.md 6), from a tile, whose valid region is kept while the rest becomes
//! the destination's pad value, or from a value, which everything outside the destination's own valid region becomes.

use super::known::{self, Wrong, legal};
use super::{AsTile, Operand, TileOrValue};
use crate::dynamic::{Instruction, TileBuf};
use crate::error::Result;
use crate::machine::RecordEvent;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::tile::TileType;

fn fill(op: Opcode, dst: &TileBuf, source: Operand<'_>) -> Result<RecordEvent> {
    let inst = Instruction::new(op).tile(Role::Dst, dst);
    match source {
        Operand::Tile(src) => inst.tile(Role::Src, src).issue_as(Form::Plain),
        Operand::Value(value) => inst.scalar(Role::Fill, value).issue_as(Form::Fill),
    }
}

/// What the signatures say of the types; a value has none.
const fn types(op: Opcode, dst: Option<TileType>, src: Option<TileType>) -> Wrong {
    known::refused(op, Form::Plain, [(Role::Src, src), (Role::Dst, dst)])
}

/// `TFILLPAD(dst, src)`: the source's valid region, and the destination's pad value around it; or `TFILLPAD(dst, v)`.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut src: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
/// let mut dst: Tile<loc::Vec, i32, 1, 8> = machine.tile_with(TileOptions::new().pad(Pad::Max))?;
/// src.set_valid(1, 3)?;
/// src.write(&[1, 2, 3])?;
/// tfillpad(&mut dst, &src)?;
/// assert_eq!(dst.to_vec()?[2..4], [3, i32::MAX]);
///
/// dst.set_valid(1, 2)?;
/// tfillpad(&mut dst, -1)?;
/// dst.set_valid(1, 8)?;
/// assert_eq!(dst.to_vec()?, [1, 2, -1, -1, -1, -1, -1, -1]);
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tfillpad<D: AsTile, S: TileOrValue>(dst: &mut D, src: S) -> Result<RecordEvent> {
    legal!(types(Opcode::Tfillpad, D::KNOWN, S::TILE), known::tfillpad(D::KNOWN, S::TILE));
    fill(Opcode::Tfillpad, dst.buf(), src.operand())
}

/// `TFILLPAD_INPLACE(dst, src)`: the destination becomes a view of the source, and only the padding is written; or
/// `TFILLPAD_INPLACE(dst, v)`.
pub fn tfillpad_inplace<D: AsTile, S: TileOrValue>(dst: &mut D, src: S) -> Result<RecordEvent> {
    legal!(types(Opcode::TfillpadInplace, D::KNOWN, S::TILE), known::tfillpad(D::KNOWN, S::TILE));
    fill(Opcode::TfillpadInplace, dst.buf(), src.operand())
}

/// `TFILLPAD_EXPAND(dst, src)`: into a larger tile, whose dynamic valid region is its declared area afterwards; or
/// `TFILLPAD_EXPAND(dst, v)`.
pub fn tfillpad_expand<D: AsTile, S: TileOrValue>(dst: &mut D, src: S) -> Result<RecordEvent> {
    legal!(types(Opcode::TfillpadExpand, D::KNOWN, S::TILE), known::tfillpad_expand(D::KNOWN, S::TILE));
    fill(Opcode::TfillpadExpand, dst.buf(), src.operand())
}
