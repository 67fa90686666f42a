//! TMOV, TEXTRACT and TINSERT in all forms (ops.md 2, 3; fixpipe.md), and TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND
//! (ops.md 6), from a tile, whose valid region is kept while the rest becomes the destination's pad value, or from a value,
//! which everything outside the destination's own valid region becomes.

use super::known::{self, Wrong, legal};
use super::setters::setters;
use super::{AsTile, Operand, TileOrValue};
use crate::dynamic::issue_tiles;
use crate::{
    AccToVec, AttrName, Attrs, Form, Instruction, Number, Opcode, RecordEvent, Relu, Result, Role, Split, TileBuf,
    TileType,
};

/// What happens to values on their way out of an accumulator (fixpipe.md 1): quantization, ReLU, and which vector core
/// they go to.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut acc: Tile<loc::Acc, f32, 16, 32> = machine.tile()?;
/// acc.write(&[-1.0; 512])?;
/// let mut half: Tile<loc::Vec, f32, 8, 32> = machine.tile()?;
/// tmov_with(&mut half, &acc, Fixpipe::new().relu().mode(AccToVec::DualModeSplitM))?;
/// assert_eq!(half.to_vec()?, [0.0; 256]);
/// assert_eq!(half.to_vec_core1()?, [0.0; 256]);
/// # Ok::<(), tessera::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixpipe<'a> {
    relu: bool,
    mode: Option<AccToVec>,
    quant: Option<u64>,
    fp: Option<&'a TileBuf>,
}

impl<'a> Fixpipe<'a> {
    /// Nothing special.
    pub const fn new() -> Self {
        Fixpipe { relu: false, mode: None, quant: None, fp: None }
    }

    setters! {
        /// With ReLU: `v > 0 ? v : +0`.
        relu() { relu = true }
        /// With an AccToVecMode (fixpipe.md 6).
        mode(mode: AccToVec) { mode = Some(mode) }
    }

    /// Quantized with one 64-bit parameter for every column (fixpipe.md 3); takes the place of [`Fixpipe::fp`].
    pub const fn quant(mut self, param: u64) -> Self {
        (self.quant, self.fp) = (Some(param), None);
        self
    }

    /// Quantized with a Scaling tile, one parameter per column; takes the place of [`Fixpipe::quant`].
    pub fn fp<F: AsTile>(mut self, fp: &'a F) -> Self {
        legal!(known::fp(F::KNOWN));
        (self.fp, self.quant) = (Some(fp.buf()), None);
        self
    }

    fn attrs(&self) -> Attrs {
        let mut attrs = Attrs::default();
        attrs.set(AttrName::ReluPreMode, self.relu.then_some(Relu::NormalRelu));
        attrs.set(AttrName::AccToVecMode, self.mode);
        attrs
    }
}

/// Row and column of a window, where there is one.
type At = Option<(usize, usize)>;

/// The opcodes of one instruction: plain, and with an `fp` operand.
#[derive(Clone, Copy)]
struct Family {
    plain: Opcode,
    fp: Opcode,
}
const TMOV: Family = Family { plain: Opcode::Tmov, fp: Opcode::TmovFp };
const TEXTRACT: Family = Family { plain: Opcode::Textract, fp: Opcode::TextractFp };
const TINSERT: Family = Family { plain: Opcode::Tinsert, fp: Opcode::TinsertFp };

fn instruction<'a>(op: Opcode, dst: &'a TileBuf, src: &'a TileBuf, at: At) -> Instruction<'a> {
    let inst = Instruction::new(op).tile(Role::Src, src).tile(Role::Dst, dst);
    match at {
        Some((row, col)) => inst.index(Role::Row, row).index(Role::Col, col),
        None => inst,
    }
}

fn plain(family: Family, dst: &TileBuf, src: &TileBuf, at: At) -> Result<RecordEvent> {
    match at {
        Some(_) => with(family, dst, src, at, Fixpipe::new()),
        None => issue_tiles(family.plain, Form::Plain, [(Role::Src, src), (Role::Dst, dst)]),
    }
}

fn with(family: Family, dst: &TileBuf, src: &TileBuf, at: At, options: Fixpipe<'_>) -> Result<RecordEvent> {
    let op = if options.fp.is_some() { family.fp } else { family.plain };
    let inst = instruction(op, dst, src, at).attrs(options.attrs());
    match (options.quant, options.fp) {
        (Some(param), _) => inst.scalar(Role::Quant, Number::Int(param.into())).issue_as(Form::ScalarQuant),
        (None, Some(fp)) => inst.tile(Role::Fp, fp).issue_as(Form::VectorQuant),
        (None, None) => inst.issue_as(Form::Plain),
    }
}

fn with_fp(family: Family, dst: &TileBuf, src: &TileBuf, at: At, fp: Operand<'_>) -> Result<RecordEvent> {
    match fp {
        Operand::Tile(fp) => with(family, dst, src, at, Fixpipe::new().fp(fp)),
        Operand::Value(value) => {
            instruction(family.fp, dst, src, at).scalar(Role::Fill, converted(dst, value)).issue_as(Form::Fill)
        }
    }
}

/// The forms of one instruction that may read an accumulator: as is, with ReLU, with a parameter, with any options, with
/// a Scaling tile or a fill value.
macro_rules! moves {
    ($family:ident($($at:ident),*) $at_value:expr;
     $(#[$plain_doc:meta])* $plain:ident $relu:ident $quant:ident $with:ident $(#[$fp_doc:meta])* $fp:ident) => {
        $(#[$plain_doc])*
        pub fn $plain<D: AsTile, S: AsTile>(dst: &mut D, src: &S $(, $at: usize)*) -> Result<RecordEvent> {
            plain($family, dst.buf(), src.buf(), $at_value)
        }

        #[doc = concat!("[`", stringify!($plain), "`] out of an accumulator with ReLU.")]
        pub fn $relu<D: AsTile, S: AsTile>(dst: &mut D, src: &S $(, $at: usize)*) -> Result<RecordEvent> {
            legal!(known::fixpipe(S::KNOWN));
            with($family, dst.buf(), src.buf(), $at_value, Fixpipe::new().relu())
        }

        #[doc = concat!("[`", stringify!($plain), "`] out of an accumulator, quantized with one parameter.")]
        pub fn $quant<D: AsTile, S: AsTile>(
            dst: &mut D, src: &S, param: u64 $(, $at: usize)*
        ) -> Result<RecordEvent> {
            legal!(known::fixpipe(S::KNOWN));
            with($family, dst.buf(), src.buf(), $at_value, Fixpipe::new().quant(param))
        }

        #[doc = concat!("[`", stringify!($plain), "`] out of an accumulator with any combination of options.")]
        pub fn $with<D: AsTile, S: AsTile>(
            dst: &mut D, src: &S $(, $at: usize)*, options: Fixpipe<'_>
        ) -> Result<RecordEvent> {
            legal!(known::fixpipe(S::KNOWN));
            with($family, dst.buf(), src.buf(), $at_value, options)
        }

        $(#[$fp_doc])*
        pub fn $fp<D: AsTile, S: AsTile, F: TileOrValue>(
            dst: &mut D, src: &S, fp: F $(, $at: usize)*
        ) -> Result<RecordEvent> {
            legal!(known::fp_form(S::KNOWN, F::TILE, F::IS_VALUE));
            with_fp($family, dst.buf(), src.buf(), $at_value, fp.operand())
        }
    };
}

moves! {
    TMOV() None;
    /// `TMOV(dst, src)`: `dst(i,j) = src(i,j)` over the valid region.
    ///
    /// ```
    /// use tessera::prelude::*;
    ///
    /// let machine = Machine::new(Profile::A5);
    /// let mut nd: Tile<loc::Vec, f16, 16, 32> = machine.tile()?;
    /// let mut nz: Tile<loc::Vec, f16, 16, 32, layout::Nz> = machine.tile()?;
    /// nd.write(&[f16::ONE; 512])?;
    /// tmov(&mut nz, &nd)?;
    /// assert_eq!(nz.to_vec()?, nd.to_vec()?);
    /// # Ok::<(), tessera::Error>(())
    /// ```
    tmov tmov_relu tmov_quant tmov_with
    /// `TMOV_FP(dst, src, fp)`: a reference to a Scaling tile quantizes, a value fills the destination's padding.
    ///
    /// ```
    /// use tessera::prelude::*;
    ///
    /// let machine = Machine::new(Profile::Cpu);
    /// let mut src: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
    /// let mut dst: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
    /// src.set_valid(1, 2)?;
    /// dst.set_valid(1, 2)?;
    /// src.write(&[1, 2])?;
    /// tmov_fp(&mut dst, &src, 9)?;
    /// dst.set_valid(1, 8)?;
    /// assert_eq!(dst.to_vec()?, [1, 2, 9, 9, 9, 9, 9, 9]);
    /// # Ok::<(), tessera::Error>(())
    /// ```
    tmov_fp
}

moves! {
    TEXTRACT(row, col) Some((row, col));
    /// `TEXTRACT(dst, src, row, col)`: `dst(i,j) = src(row+i, col+j)` over the destination's valid region.
    ///
    /// ```
    /// use tessera::prelude::*;
    ///
    /// let machine = Machine::new(Profile::Cpu);
    /// let mut src: Tile<loc::Mat, i8, 32, 32> = machine.tile()?;
    /// let mut dst: Tile<loc::Left, i8, 16, 32> = machine.tile()?;
    /// src.write(&(0..1024).map(|i| (i / 32) as i8).collect::<Vec<_>>())?;
    /// textract(&mut dst, &src, 16, 0)?;
    /// assert_eq!(dst.get(0, 0)?, Some(16));
    /// assert_eq!(textract(&mut dst, &src, 17, 0).unwrap_err().rule(), "textract-bounds");
    /// # Ok::<(), tessera::Error>(())
    /// ```
    textract textract_relu textract_quant textract_with
    /// `TEXTRACT_FP(dst, src, fp, row, col)`: a reference to a Scaling tile quantizes (its parameters count from the
    /// source's column 0), a value fills the destination's padding.
    textract_fp
}

moves! {
    TINSERT(row, col) Some((row, col));
    /// `TINSERT(dst, src, row, col)`: `dst(row+i, col+j) = src(i,j)` over the source's valid region.
    ///
    /// ```
    /// use tessera::prelude::*;
    ///
    /// let machine = Machine::new(Profile::A5);
    /// let mut src: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
    /// let mut dst: Tile<loc::Vec, i32, 2, 16> = machine.tile()?;
    /// src.write(&[7; 8])?;
    /// dst.write(&[0; 32])?;
    /// tinsert(&mut dst, &src, 1, 8)?;
    /// assert_eq!(dst.to_vec()?[24..], [7; 8]);
    /// # Ok::<(), tessera::Error>(())
    /// ```
    tinsert tinsert_relu tinsert_quant tinsert_with
    /// `TINSERT_FP(dst, src, fp, row, col)`: a reference to a Scaling tile quantizes, a value fills the destination's
    /// padding.
    tinsert_fp
}

/// `TEXTRACT(dst0, dst1, src, row0, col0, row1, col1)`: two windows of one ND Vec tile into two NZ Vec tiles
/// (ops.md 3.3).
pub fn textract_pair<D0: AsTile, D1: AsTile, S: AsTile>(
    dst0: &mut D0,
    dst1: &mut D1,
    src: &S,
    at0: (usize, usize),
    at1: (usize, usize),
) -> Result<RecordEvent> {
    Instruction::new(Opcode::Textract)
        .tile(Role::Src, src.buf())
        .tile(Role::Dst0, dst0.buf())
        .tile(Role::Dst1, dst1.buf())
        .index(Role::Row, at0.0)
        .index(Role::Col, at0.1)
        .index(Role::Row1, at1.0)
        .index(Role::Col1, at1.1)
        .issue_as(Form::TwoWindows)
}

/// `TINSERT<TInsertMode::SPLIT2 or SPLIT4>(dst, src, row, col)`: a Vec→Mat NZ insert in groups of column blocks
/// (ops.md 3.2); the result is the plain insert's.
pub fn tinsert_split<D: AsTile, S: AsTile>(
    dst: &mut D,
    src: &S,
    split: Split,
    row: usize,
    col: usize,
) -> Result<RecordEvent> {
    let attrs = Attrs::default().with(AttrName::Mode, split);
    instruction(Opcode::Tinsert, dst.buf(), src.buf(), Some((row, col))).attrs(attrs).issue_as(Form::Plain)
}

/// A fill value as Rust would convert it: to the nearest one of the tile's type.
fn converted(dst: &TileBuf, value: Number) -> Number {
    dst.tile_type().map_or(value, |tile| tile.elem.converted(value))
}

fn fill(op: Opcode, dst: &TileBuf, source: Operand<'_>) -> Result<RecordEvent> {
    let inst = Instruction::new(op).tile(Role::Dst, dst);
    match source {
        Operand::Tile(src) => inst.tile(Role::Src, src).issue_as(Form::Plain),
        Operand::Value(value) => inst.scalar(Role::Fill, converted(dst, value)).issue_as(Form::Fill),
    }
}

/// The facts of the signatures about the types; a value has none.
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
