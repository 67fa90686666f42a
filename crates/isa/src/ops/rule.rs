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

    /// With an id of its own where the profile lacks the instruction.
    pub(super) const fn profile(self, id: &'static str) -> Ids {
        Ids { profile: Some(id), ..self }
    }
}

/// When a scratch tile has to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Given {
    Always,
    ForFloats,
    Optional,
}

/// The type of a scratch tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TmpElem {
    Any,
    LikeDst,
    LikeSrc,
    /// u8.
    U8,
}

/// A valid extent of a scratch tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TmpExtent {
    Any,
    AtLeast(u64),
    /// As many as dst has, or more.
    AtLeastDst,
    /// As many as dst has.
    LikeDst,
}

/// What a2a3 asks of a scratch tile; it lies in Vec, row by row (isa/elementwise.md 6, reduce.md 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TmpAsk {
    /// When it has to be given.
    pub given: Given,
    pub elem: TmpElem,
    pub rows: TmpExtent,
    pub cols: TmpExtent,
}

impl TmpAsk {
    /// Given, and any tile.
    pub(super) const GIVEN: TmpAsk =
        TmpAsk { given: Given::Always, elem: TmpElem::Any, rows: TmpExtent::Any, cols: TmpExtent::Any };
    /// Of bytes.
    pub(super) const U8: TmpAsk = TmpAsk { elem: TmpElem::U8, ..Self::GIVEN };

    pub(super) const fn rows(self, n: u64) -> TmpAsk {
        TmpAsk { rows: TmpExtent::AtLeast(n), ..self }
    }

    pub(super) const fn rows_of_dst(self) -> TmpAsk {
        TmpAsk { rows: TmpExtent::AtLeastDst, ..self }
    }

    pub(super) const fn cols_of_dst(self) -> TmpAsk {
        TmpAsk { cols: TmpExtent::AtLeastDst, ..self }
    }

    pub(super) const fn valid_of_dst(self) -> TmpAsk {
        TmpAsk { rows: TmpExtent::LikeDst, cols: TmpExtent::LikeDst, ..self }
    }
}

macro_rules! kinds {
    ($($Kind:ident $(($ask:ident))? $asked:literal;)*) => {
        /// A question about one instruction. Each is one function of the verifier; a family shares its kinds, the moves
        /// have some of their own. Several ids of a row may belong to one question: it is asked where the first of them
        /// stands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RuleKind { $(#[doc = $asked] $Kind $(($ask))?,)* }

        #[allow(dead_code, reason = "counts the kinds")]
        enum Ordinal { $($Kind,)* }

        impl RuleKind {
            /// Its number, whatever it asks in particular.
            pub const fn number(self) -> usize {
                match self { $(RuleKind::$Kind { .. } => Ordinal::$Kind as usize,)* }
            }
        }
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
    SameShape "Have src and dst one declared shape?";
    Tmp(TmpAsk) "Is the scratch tile what a2a3 wants?";
    TmpRows "Has tmp more rows than dst (warning)?";
    TmpOfCvt "Is TCVT's tmp as large as hardware needs (warning)?";
    MaskValid "Has the mask as many rows as the sources?";
    Mask "Has the mask room for the bits, and storage of its own?";
    MaskDense "Do TSEL and TCMPS find the bits in one place (warning)?";
    CompareMode "Does hardware have the comparison?";
    CvtMode "Does hardware have the rounding?";
    Scalar "Is the scalar a number of the tile's kind?";
    ScalarNumber "Is the scalar a number?";
    ScalarTyped "Has the scalar the tile's type?";
    ScalarShift "Is the scalar a shift count?";
    ScalarSlope "Is the scalar a slope?";
    ScalarBits "Is the scalar an element, or its bits?";
    NotInPlace "Does hardware need the operands apart?";
    NotInTmp "Does hardware need the sources apart from scratch?";
    Zero "Is a divisor zero?";
    Range "Are the operands in the range in which hardware is exact (warning)?";
    RowFoldValid "Has dst one value per row of src?";
    ColFoldValid "Has dst one value per column of src?";
    FoldEmpty "Is there something to fold?";
    ArgIndex "Does the index type hold every place?";
    TmpOfIntegers "Do integers have a scratch tile that nothing uses (warning)?";
    CountTmp "Is tmp what a2a3 counts in?";
    QuantTmp "Is tmp what a2a3 quantizes in?";
    PreciseFloats "Is the more precise algorithm asked for where it is?";
    PreciseWithTmp "Has the more precise algorithm its scratch tile?";
    ArgTmp "Is tmp what a2a3's arg instructions want?";
    ArgTmpSize "Is it as large as hardware needs (warning)?";
    PairTmp "Is tmp what adding in pairs wants?";
    PairTmpSize "Is it as large as hardware needs (warning)?";
    RowOfValid "Has src a value for each row of dst?";
    ColOfValid "Has src a value for each column of dst?";
    RowExpandValid "Is one operand full, and has the other a value or a block for each row?";
    ColExpandValid "Is one operand full, and has the other a value for each column?";
    ExpandColumn "Is src1Col 1 or what is there?";
    ExpandTmp "Is tmp what a2a3's row expands want?";
    ExpandTmpSize "Is it as large as hardware needs (warning)?";
    ContractValid "Do M, K and N agree?";
    ContractShape "Do the declared shapes agree?";
    ContractRange "Are M, K and N in hardware's range?";
    ContractPitch "Do the declared extents have the pitch that hardware counts with (warning)?";
    ContractBias "Is the bias one row, and long enough?";
    ContractScale "Is there a scale for every block of 32?";
    ScaleAddress "Do the scales lie where hardware finds them?";
    AccApart "Does hardware read another accumulator (warning)?";
    ScaleOf "Has the operand an address that scales belong to?";
    Words "Is every word one that its attribute has?";
    NoEffect "Does the profile ignore what is set (warning)?";
    GatherValid "Do the valid regions of TGATHER's operands fit?";
    GatherTmp "Is tmp what a2a3's gather wants?";
    GatherAttr "Has TGATHER the comparison?";
    PatternGiven "Is TGATHER of one tile given a pattern?";
    BlockValid "Has idx an offset for each block of dst?";
    ScatterSize "Has hardware indices of this size for the data?";
    ScatterValid "Has each element an index?";
    RowsPicked "Has dst the rows that a pattern picks?";
    ColsSpread "Has src the columns that a pattern spreads?";
    RowsSpread "Has src the rows that a pattern spreads?";
    Duplicate "Have two elements one index (warning)?";
    Unsorted "Is a list that is merged not sorted (warning)?";
    StartNumber "Is the scalar an integer of dst's width?";
    DiagonalNumber "Is the scalar an integer or index?";
    WordNumbers "Are the scalars integers of 32 bits?";
    ElementNumber "Has the scalar the tile's type?";
    OneRow "Has dst one valid row, and more than one column?";
    TriangleAttr "Is upperOrLower 0 or 1?";
    RandomAttr "Are there 10 or 7 rounds?";
    HistogramAttr "Is the byte one of the element's?";
    HistogramValid "Has each row a filter and room for its counts?";
    SortValid "Has each element an index, and each record room?";
    SortTmp "Is tmp what hardware's sort wants?";
    SortTmpSize "Is it as large as hardware needs (warning)?";
    MergeValid "Are all tiles one row of whole records?";
    MergeBlock "Is the length of a block one that can be merged?";
    MergeTmp "Is tmp what hardware's merge wants?";
    MergeTmpSize "Is it as large as hardware needs (warning)?";
    PartValid "Do the sources lie in dst, and does one cover it?";
    LikeDst "Has src the valid region of dst?";
    MxAttr "Do the words of TQUANT_MX fit each other?";
    MxDtype "Has dst the type of the format?";
    MxValid "Are there whole groups, and a place for each?";
    MxShape "Do the declared shapes fit?";
    MxRoom "Is there room for what hardware writes?";
    MxHardware "Does the library have it?";
    Exponents "Do the sizes fit the order of the exponents?";
    QuantAttr "Do type, offset and quant_type fit?";
    QuantParam "Are there factors for the elements?";
    DequantParam "Is there a scale and an offset for each row?";
    ElementIndex "Is the index one of the tile's elements?";

    Fixpipe "AccToVecMode, quantization and `fp` (fixpipe.md).";
    FillValue "Is the fill value exact?";
    MoveAttr "Does grpAxis belong to exponents?";
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
    InsertHardware "TINSERT of what hardware copies in other pieces (warning).";
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
    FillStatic "Does TFILLPAD_EXPAND expand anything? (warning)";
    Img2col "TIMG2COL's image and configuration.";
    Interleave "TINTERLEAVE's extents.";
    ViewStride "Do elements of the view lie on each other (warning)?";
    ViewOverlap "Do rows of the view share elements (warning)?";
    ViewAttr "Is the layout that the instruction writes the view's (warning)?";
    LoadSignature "TLOAD's signature, conv tiles included.";
    LargerView "Is the view larger than what is loaded (warning)?";
    LoadPad "Has the padding a settled meaning?";
    StoreRange "Does a2a3's fixpipe count that far?";
    StoreAtomic "Can the type be added?";
    ViewHardware "Does public documentation refuse it (warning)?";
    TableShape "Do the indices fit the data?";
    TableDense "Can hardware count in the view?";
    PrintTmp "Does what is printed need scratch?";
    TableScratch "Is scratch a dense view, where elements are gathered into Mat?";
    TableAttr "Are the words those of the page, and the types those that combine?";
    LoadShape "Has the view what the tile wants?";
    StoreShape "Has the view the tile's valid region?";
    Bounds "Does the view stay in its buffer?";
    Window "TSUBVIEW's window.";
    SlotIndex "Has the multi-buffer tile the slot?";
}

impl RuleKind {
    /// Is the result the same, and hardware alone may differ or waste?
    pub fn only_warns(self) -> bool {
        matches!(
            self,
            RuleKind::TmpRows
                | RuleKind::TmpOfCvt
                | RuleKind::MaskDense
                | RuleKind::Range
                | RuleKind::ArgTmpSize
                | RuleKind::PairTmpSize
                | RuleKind::ExpandTmpSize
                | RuleKind::SortTmpSize
                | RuleKind::MergeTmpSize
                | RuleKind::Duplicate
                | RuleKind::Unsorted
                | RuleKind::ContractPitch
                | RuleKind::AccApart
                | RuleKind::NoEffect
                | RuleKind::LargerView
                | RuleKind::ViewStride
                | RuleKind::ViewOverlap
                | RuleKind::ViewAttr
                | RuleKind::ViewHardware
        )
    }
}
