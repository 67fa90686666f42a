//! Which rules a row adds to its signatures, in the order in which they are asked.

use crate::profile::Profiles;

/// A rule of an instruction: its id, the kind of question behind it, and where it is asked.
#[derive(Clone, Copy, Debug)]
pub struct RuleUse {
    /// The id that is reported.
    pub id: &'static str,
    /// What is asked.
    pub kind: RuleKind,
    /// The profiles on which it is asked; a rule of the layout set decides by itself.
    pub on: Profiles,
}

/// Rules in the order in which they are asked: the profiles, the kind, the ids.
macro_rules! rules {
    ($($on:ident $kind:ident $($id:expr),+;)*) => {
        &[$($(RuleUse { id: $id, kind: RuleKind::$kind, on: Profiles::$on }),+),*]
    };
}
pub(super) use rules;

/// The ids under which a missing signature is reported; `None` where the table cannot be missed in that way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ids {
    /// No signature on the profile; `loc` where there is no id of its own.
    pub profile: Option<&'static str>,
    /// None with these locations.
    pub loc: Option<&'static str>,
    /// None with these layouts.
    pub layout: Option<&'static str>,
    /// None with these types.
    pub dtype: Option<&'static str>,
}

impl Ids {
    /// No ids: the instruction has no signatures.
    pub(super) const NONE: Ids = Ids { profile: None, loc: None, layout: None, dtype: None };

    /// The usual three.
    pub(super) const fn new(loc: &'static str, layout: &'static str, dtype: &'static str) -> Ids {
        Ids { profile: None, loc: Some(loc), layout: Some(layout), dtype: Some(dtype) }
    }
}

/// A question about one instruction. Each is one function of the verifier; a family shares its kinds, the moves have
/// some of their own. Several ids of a row may belong to one question: it is asked where the first of them stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleKind {
    /// Is there a signature?
    Signature,
    /// Do operands share bytes that they must not share?
    Overlap,
    /// Does hardware write past the destination (warning)?
    Footprint,
    /// Does cpu convert where hardware does not (warning)?
    Conversion,
    /// Found while the instruction runs; nothing is asked before.
    AtRun,
    /// A rule of tile types, asked for every operand before the row's own rules.
    TileType,
    /// Asked of whole programs.
    Program,

    /// Have all tiles one valid region?
    SameValid,
    /// Has dst one value per row of src?
    RowFoldValid,
    /// Is there something to fold?
    FoldEmpty,
    /// Is tmp what a2a3's row reductions want?
    FoldTmp,
    /// Do M, K and N agree?
    ContractValid,
    /// Do the declared shapes agree?
    ContractShape,
    /// Are M, K and N in hardware's range?
    ContractRange,
    /// Have idx and dst one valid region?
    GatherValid,
    /// Is tmp what a2a3's gather wants?
    GatherTmp,

    /// AccToVecMode, quantization and `fp` (fixpipe.md).
    Fixpipe,
    /// Is the fill value exact?
    FillValue,
    /// TMOV into Bias.
    MoveBias,
    /// TMOV into Scaling.
    MoveScaling,
    /// TMOV's declared shapes.
    MoveShape,
    /// TMOV's valid regions.
    MoveValid,
    /// TMOV's ND→NZ pitch.
    MovePitch,
    /// TEXTRACT's signature, and what the two-window form adds to it.
    ExtractSignature,
    /// TEXTRACT's alignment.
    ExtractAlign,
    /// TEXTRACT's window.
    ExtractBounds,
    /// TEXTRACT's window divides the source (warning).
    ExtractDivides,
    /// TINSERT's signature, and what a split mode adds to it.
    InsertSignature,
    /// TINSERT's columns.
    InsertCols,
    /// TINSERT's alignment.
    InsertAlign,
    /// TINSERT's window.
    InsertBounds,
    /// TINSERT of ND rows into boxes (warning).
    InsertBoxed,
    /// TRESHAPE's location, boxes, bytes and shape.
    Reshape,
    /// TRESHAPE's valid elements (warning).
    ReshapeValid,
    /// TTRANS's sizes.
    TransposeSize,
    /// TTRANS's scratch tile.
    TransposeTmp,
    /// TTRANS's shapes.
    TransposeShape,
    /// TCONCAT's dimension.
    ConcatDim,
    /// TCONCAT's signature, index tiles included.
    ConcatSignature,
    /// TCONCAT's extents.
    ConcatExtents,
    /// TCONCAT's index tiles.
    ConcatIndex,
    /// TPACK's sizes and valid regions.
    Pack,
    /// TFILLPAD's signature, and what Mat tiles add to it.
    FillSignature,
    /// TFILLPAD's shapes, pad value and storage.
    FillPad,
    /// TFILLPAD without padding (warning).
    FillNoop,
    /// TIMG2COL's image and configuration.
    Img2col,
    /// TINTERLEAVE's extents.
    Interleave,
    /// TLOAD's view and tile.
    Load,
    /// TSTORE's tile and view.
    Store,
    /// TSUBVIEW's window.
    Window,
}
