//! Which rules a row adds to its signatures, in the order in which they are asked.

use crate::profile::Profiles;

/// A rule of an instruction: its id, the kind of question behind it, and where it is asked.
#[derive(Clone, Copy, Debug)]
pub struct RuleUse {
    /// The id that is reported.
    pub id: &'static str,
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
    pub loc: Option<&'static str>,
    pub layout: Option<&'static str>,
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

macro_rules! kinds {
    ($($Kind:ident $asked:literal;)*) => {
        /// A question about one instruction. Each is one function of the verifier; a family shares its kinds, the moves
        /// have some of their own. Several ids of a row may belong to one question: it is asked where the first of them
        /// stands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RuleKind { $(#[doc = $asked] $Kind,)* }
    };
}

kinds! {
    Signature "Is there a signature?";
    Overlap "Do operands share bytes that they must not share?";
    Footprint "Does hardware write past the destination (warning)?";
    Conversion "Does cpu convert where hardware does not (warning)?";
    AtRun "Found while the instruction runs; nothing is asked before.";
    TileType "A rule of tile types, asked for every operand before the row's own rules.";
    Program "Asked of whole programs.";

    SameValid "Have all tiles one valid region?";
    RowFoldValid "Has dst one value per row of src?";
    FoldEmpty "Is there something to fold?";
    FoldTmp "Is tmp what a2a3's row reductions want?";
    ContractValid "Do M, K and N agree?";
    ContractShape "Do the declared shapes agree?";
    ContractRange "Are M, K and N in hardware's range?";
    GatherValid "Have idx and dst one valid region?";
    GatherTmp "Is tmp what a2a3's gather wants?";

    Fixpipe "AccToVecMode, quantization and `fp` (fixpipe.md).";
    FillValue "Is the fill value exact?";
    MoveBias "TMOV into Bias.";
    MoveScaling "TMOV into Scaling.";
    MoveShape "TMOV's declared shapes.";
    MoveValid "TMOV's valid regions.";
    MovePitch "TMOV's ND→NZ pitch.";
    ExtractSignature "TEXTRACT's signature, and what the two-window form adds to it.";
    ExtractAlign "TEXTRACT's alignment.";
    ExtractBounds "TEXTRACT's window.";
    ExtractDivides "TEXTRACT's window divides the source (warning).";
    InsertSignature "TINSERT's signature, and what a split mode adds to it.";
    InsertCols "TINSERT's columns.";
    InsertAlign "TINSERT's alignment.";
    InsertBounds "TINSERT's window.";
    InsertBoxed "TINSERT of ND rows into boxes (warning).";
    Reshape "TRESHAPE's location, boxes, bytes and shape.";
    ReshapeValid "TRESHAPE's valid elements (warning).";
    TransposeSize "TTRANS's sizes.";
    TransposeTmp "TTRANS's scratch tile.";
    TransposeShape "TTRANS's shapes.";
    ConcatDim "TCONCAT's dimension.";
    ConcatSignature "TCONCAT's signature, index tiles included.";
    ConcatExtents "TCONCAT's extents.";
    ConcatIndex "TCONCAT's index tiles.";
    Pack "TPACK's sizes and valid regions.";
    FillSignature "TFILLPAD's signature, and what Mat tiles add to it.";
    FillPad "TFILLPAD's shapes, pad value and storage.";
    FillNoop "TFILLPAD without padding (warning).";
    Img2col "TIMG2COL's image and configuration.";
    Interleave "TINTERLEAVE's extents.";
    Load "TLOAD's view and tile.";
    Store "TSTORE's tile and view.";
    Window "TSUBVIEW's window.";
}
