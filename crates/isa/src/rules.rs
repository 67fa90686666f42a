//! Every rule id the program can report, with its text, severity, profiles and source (rules.md).

use crate::diag::Severity;
use crate::ops::{Family, OpInfo, Opcode, RuleKind, RuleUse};
use crate::profile::Profiles;
use std::sync::LazyLock;

/// A row of the rule table.
#[derive(Debug)]
pub struct Rule {
    pub id: &'static str,
    /// The default severity; `--strict`, `--allow` and `--deny` change warnings.
    pub severity: Severity,
    /// The profiles on which it can fail.
    pub on: Profiles,
    /// The condition that must hold, in one sentence.
    pub text: &'static str,
    pub source: &'static str,
    /// Another rule implies it, so it cannot fail alone.
    pub implied: bool,
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|r| r.id == id)
}

/// Every rule: those written down here, then those that the families' rows make of their kinds of rules.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(DERIVED.iter())
}

static DERIVED: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut derived: Vec<Rule> = Vec::new();
    for op in Opcode::ALL {
        let info = op.info();
        for usage in info.rules {
            let known = RULES.iter().chain(&derived).any(|r| r.id == usage.id);
            // Of several conditions with one id, that a word is in the list says the least.
            let mut same = info.rules.iter().filter(|r| r.id == usage.id);
            let special = same.find(|r| !matches!(r.kind, RuleKind::Words)).unwrap_or(usage);
            if let (false, Some(text)) = (known, text(special)) {
                // Several questions may have one id.
                let on = info.rules.iter().filter(|r| r.id == usage.id).fold(usage.on, |on, r| on.or(r.on));
                let severity = if usage.kind.only_warns() { Severity::Warning } else { Severity::Error };
                derived.push(Rule { id: usage.id, severity, on, text, source: source(usage, info), implied: false });
            }
        }
    }
    derived
});

/// The condition of a rule about types, in one sentence. It is constant, so that compile errors contain it.
pub const fn sentence(id: &'static str) -> &'static str {
    let mut n = 0;
    while n < RULES.len() {
        if ends_with(RULES[n].id, id) && RULES[n].id.len() == id.len() {
            return RULES[n].text;
        }
        n += 1;
    }
    if ends_with(id, "-profile") {
        "the profile has the instruction"
    } else if ends_with(id, "-loc") {
        "the operands lie in the locations of a signature"
    } else if ends_with(id, "-layout") {
        "the operands have the layouts of a signature"
    } else {
        "the element types are those of a signature"
    }
}

const fn ends_with(word: &str, end: &str) -> bool {
    let (word, end) = (word.as_bytes(), end.as_bytes());
    let mut n = 0;
    while n < end.len() && n < word.len() && word[word.len() - 1 - n] == end[end.len() - 1 - n] {
        n += 1;
    }
    n == end.len()
}

/// The place in the specification of a rule of a family; its row names the page.
fn source(usage: &RuleUse, info: &OpInfo) -> &'static str {
    use RuleKind::*;
    match (info.family, usage.kind) {
        (Family::Elementwise | Family::Scalar, Tmp(_) | TmpRows | TmpOfCvt) => "isa/elementwise.md 6",
        (Family::Elementwise | Family::Scalar, MaskValid | Mask | MaskDense) => "isa/elementwise.md 4",
        (_, ScalarNumber) => "isa/today.md 6.8",
        (_, TmpOfIntegers | PreciseFloats | PreciseWithTmp | CountTmp) => "isa/today.md 6.2",
        (_, QuantTmp) => "isa/today.md 6.4",
        (_, ContractPitch) => "isa/today.md 5.4",
        (_, Scalar | ScalarTyped | ScalarShift | ScalarSlope | ScalarBits) => "isa/scalar.md 2",
        (Family::Elementwise | Family::Scalar, _) => "isa/elementwise.md 2",
        (Family::Reduce, Tmp(_) | ArgTmp | ArgTmpSize | PairTmp | PairTmpSize | ExpandTmp | ExpandTmpSize) => {
            "isa/reduce.md 4"
        }
        (Family::Reduce, _) => "isa/reduce.md 2",
        _ => info.source,
    }
}

/// The condition of a kind of rule, in one sentence.
fn text(usage: &RuleUse) -> Option<&'static str> {
    Some(match (usage.kind, usage.id.rsplit('-').next()?) {
        (RuleKind::Signature, _) => sentence(usage.id),
        (RuleKind::SameValid, _) => "sources and destination have equal valid regions",
        (RuleKind::RowFoldValid, _) => "dst has the valid rows of src and one valid column (cpu: at least one)",
        (RuleKind::ColFoldValid, _) => "dst has the valid columns of src and one valid row (cpu: at least one)",
        (RuleKind::FoldEmpty, _) => "there is something to fold (row reductions and arg on a2a3, a5: both extents)",
        (RuleKind::ArgIndex, _) => "the index type holds the last place",
        (RuleKind::ArgTmp | RuleKind::ExpandTmp, _) => "a given tmp is what isa/reduce.md 4 asks for",
        (RuleKind::PairTmp, _) => "isBinary: tmp is given, in Vec, ND, of src's type and at least as wide",
        (RuleKind::ArgTmpSize | RuleKind::PairTmpSize | RuleKind::ExpandTmpSize, _) => {
            "tmp is as large as hardware needs (isa/reduce.md 4)"
        }
        (RuleKind::RowOfValid, _) => "src has the valid rows of dst, and a column",
        (RuleKind::ColOfValid, _) => "src has the valid columns of dst, and a row",
        (RuleKind::RowExpandValid, _) => {
            "one source has dst's valid region; the other has dst's valid rows, and blocks of 32 bytes or one column (on a2a3 and a5 with src1Col = 1 or in a col_major tile)"
        }
        (RuleKind::ColExpandValid, _) => "one source has dst's valid region, the other its valid columns and a row",
        (RuleKind::ExpandColumn, _) => "src1Col is 1 or the valid columns of the broadcast operand",
        (RuleKind::SameShape, _) => "src and dst have one declared shape",
        (RuleKind::Tmp(_), _) => {
            "tmp is given where it is needed, in Vec, row-major, and of the type and size that are listed"
        }
        (RuleKind::TmpRows | RuleKind::TmpOfCvt, _) => "tmp is as large as hardware needs (isa/elementwise.md 6)",
        (RuleKind::MaskValid, _) => "sources have equal valid regions, and the mask has their valid rows",
        (RuleKind::Mask, _) => "the mask has room for a bit of each element, and storage of its own",
        (RuleKind::MaskDense, _) => "a mask of several rows has no more valid bytes a row than bits need",
        (RuleKind::CompareMode, _) => "i32 is compared with eq only",
        (RuleKind::CvtMode, _) => "into hif8 only NONE, ROUND and CAST_RINT",
        (RuleKind::Scalar, _) => {
            "the scalar is an integer with tiles of integers, f16, bf16 or f32 with tiles of floats"
        }
        (RuleKind::ScalarNumber, _) => "the scalar is an integer, f16, bf16 or f32",
        (RuleKind::ScalarTyped, _) => "the scalar is of the tile's kind (a2a3, a5: of its type, signedness aside)",
        (RuleKind::ScalarShift, _) => "the scalar is an integer (a2a3, a5: not a negative one)",
        (RuleKind::ScalarSlope, _) => "the scalar is f32 or of the tile's type (cpu: any float)",
        (RuleKind::ScalarBits, _) => "the scalar is an integer, or a float with tiles of floats",
        (RuleKind::NotInPlace | RuleKind::NotInTmp, _) => {
            "the sources share no storage with dst (tprelu: nor with tmp)"
        }
        (RuleKind::Zero, _) => "no integer is divided by zero, or zero raised to a negative power",
        (RuleKind::Range, _) => "the operands are within 2^24, where hardware is exact",
        (RuleKind::ContractValid, _) => {
            "a.Cv = b.Rv, dst.Rv = a.Rv, dst.Cv = b.Cv, and acc has dst's valid region (gemv: a.Rv = 1)"
        }
        (RuleKind::ContractShape, _) if usage.id.starts_with("tgemv") => {
            "a has one declared row (mx: and columns that are a multiple of 64)"
        }
        (RuleKind::ContractShape, _) => {
            "the declared shapes fit: a.R = dst.R, a.C = b.R, b.C = dst.C, acc's is dst's (a2a3, a5: a.R > 1; mx: a.C % 64 = 0)"
        }
        (RuleKind::ContractBias, _) => "bias has one declared row and at least N valid columns",
        (RuleKind::ContractScale, _) => "there is a scale for every row of a, column of b and block of 32 along K",
        (RuleKind::ScaleAddress, _) => "the scales of an operand lie at a 16th of its address",
        (RuleKind::AccApart, _) => "acc and dst are one tile; hardware reads dst's old contents",
        (RuleKind::ScaleOf, _) => {
            "src has an address that is a multiple of 512, or both tiles are placed automatically"
        }
        (RuleKind::Words, _) => "the word is one that the attribute has",
        (RuleKind::NoEffect, _) => "the profile has the mode; what is set here has no effect",
        (RuleKind::ContractRange, _) => "M, K and N are 0 to 4095 (mx: 1 to 4095)",
        (RuleKind::ContractPitch, _) => {
            "declared extents are M, N rounded up to 16 and K to 32 bytes, or the tile is compact=normal"
        }
        (RuleKind::TmpOfIntegers, _) => {
            "tmp is given where it is needed, in Vec, row-major, and of the type and size that are listed"
        }
        (RuleKind::CountTmp, _) => {
            "a given tmp is in Vec, ND, of a 4-byte type, with at least 768 bytes (16-bit dst: 1792)"
        }
        (RuleKind::QuantTmp, _) => "a given tmp is in Vec, ND, f32, with src's shape and valid region",
        (RuleKind::PreciseFloats, _) => "high_precision is for floats, on a5",
        (RuleKind::PreciseWithTmp, _) => "high_precision has a scratch tile",
        (RuleKind::GatherValid, _) => "the valid regions fit the form (isa/irregular.md 2)",
        (RuleKind::GatherTmp, _) => {
            "a given tmp is in Vec, ND; by index: it is given and has idx's type and valid region"
        }
        (RuleKind::GatherAttr, _) => "cmpMode is equal or greater_than (a2a3: i32 only with equal)",
        (RuleKind::BlockValid, _) => "rows of dst are whole blocks of 32 bytes, and idx has an offset for each",
        (RuleKind::ScatterSize, _) => "idx has 4 bytes for 4-byte data, 2 bytes for 2- and 1-byte data",
        (RuleKind::RowsPicked, _) => {
            "dst has as many valid rows as the pattern picks, and src's valid columns (cpp.md 6.6)"
        }
        (RuleKind::ColsSpread | RuleKind::RowsSpread, _) => {
            "src has as many valid columns, or rows, as the pattern names of dst's, and dst's along the other axis (cpp.md 6.6)"
        }
        (RuleKind::ScatterValid, _) => "idx has the valid region of src",
        (RuleKind::Unsorted, _) => "each list that is merged is sorted, the greatest value first",
        (RuleKind::Duplicate, _) => "no two elements have one index",
        (RuleKind::StartNumber, _) => {
            "the scalar is an integer of dst's width (cpu, and into unsigned types: any integer)"
        }
        (RuleKind::DiagonalNumber, _) => "the scalar is an integer or index",
        (RuleKind::WordNumbers, _) => "the six scalars are integers of 32 bits",
        (RuleKind::ElementNumber, _) => "the scalar has the tile's type (integers: its width)",
        (RuleKind::OneRow, _) => "dst has at most one valid row, and more than one declared column",
        (RuleKind::TriangleAttr, _) => "upperOrLower is 0 or 1",
        (RuleKind::RandomAttr, _) => "rounds is 10 or 7",
        (RuleKind::HistogramAttr, _) => {
            "byte is below the element's size, and agrees with isMSB where both are written"
        }
        (RuleKind::HistogramValid, _) => {
            "dst has src's valid rows and 256 valid columns, and idx has the filter's bytes"
        }
        (RuleKind::SortValid, _) => "idx has src's valid columns and its rows or one, and dst has room for the records",
        (RuleKind::SortTmp, _) => "a given tmp is in Vec, ND, of src's type; it is given where src.Cv % 32 != 0",
        (RuleKind::MergeValid, _) => "every tile has one declared row and whole records; blocks: dst.Cv = src.Cv",
        (RuleKind::MergeBlock, _) => {
            "blockLen is a positive multiple of 64 (cpu: of a record), and src.Cv is 1 to 255 times four blocks (cpu: any)"
        }
        (RuleKind::MergeTmp, _) => "a given tmp is in Vec, ND, of src's type, with one declared row",
        (RuleKind::SortTmpSize | RuleKind::MergeTmpSize, _) => "tmp is as large as hardware needs (isa/irregular.md 2)",
        (RuleKind::PartValid, _) => {
            "the sources' valid regions lie in dst's, and one of them equals it where that is asked"
        }
        (RuleKind::LikeDst, _) => "src has the valid region of dst",
        (RuleKind::MxAttr, _) => {
            "quant_type is MXFP8 or MXFP4_E2M1, interleave is axis0's, exp_zz and storeMode are axis1's"
        }
        (RuleKind::MxValid, _) => "there are whole groups of 32, and exp, max and scaling have a place for each",
        (RuleKind::MxShape, _) => {
            "dst.C = src.C; max and scaling are dense (axis0: as wide as src); MXFP4: src.C is even"
        }
        (RuleKind::MxRoom, _) => "scaling and exp_zz have room for what hardware writes (isa/today.md 6.4)",
        (RuleKind::MxHardware, _) => "the library has the combination (isa/today.md 6.4)",
        (RuleKind::QuantAttr, _) => "INT8_SYM has no offset and writes i8, INT8_ASYM has one and writes u8",
        (RuleKind::QuantParam, _) => {
            "fp and offset have dst's valid rows and 1 or 8 columns (cpu: or dst's valid region)"
        }
        (RuleKind::DequantParam, _) => "scale and offset have at least dst's valid rows and a column",
        (RuleKind::ElementIndex, _) => "the index is one of the declared elements",
        (RuleKind::AtRun, "room") => "no row has more matches than dst has valid columns",
        (RuleKind::AtRun, "index") => "every index names an element, or block, of the tile that it points into",
        (RuleKind::LoadSignature, _) => sentence(usage.id),
        (RuleKind::LoadShape, _) => {
            "the view has the tile's valid rows and columns (a2a3, a5: and at most its declared rows; dn: columns)"
        }
        (RuleKind::LargerView, _) => "the view is not larger than what is loaded",
        (RuleKind::StoreShape, _) => "the view's rows × columns equal the tile's valid region",
        (RuleKind::LoadPad, _) => "padding has a settled meaning: the tile's own pad, or PadValue with a pad_value",
        (RuleKind::TableShape, _) => {
            "elem: idx has the data's valid region; row: one index a row, and no more columns than the table has"
        }
        (RuleKind::TableDense, _) => {
            "the view is dense (a2a3, rows: its last dimension; a5, rows: also as wide as the data, in two dimensions)"
        }
        (RuleKind::PrintTmp, _) => "scratch belongs to tiles in Mat and Acc",
        (RuleKind::TableScratch, _) => {
            "into Mat: elem has a dense view of dst's type with R·C elements for scratch, row has none"
        }
        (RuleKind::TableAttr, _) => {
            "modes are words of isa/memory.md 5, and what is combined has a type of the row's list"
        }
        (RuleKind::StoreRange, _) => "out of Acc: 1 to 4095 columns, at most 8192 rows into nd, 65535 into nz",
        (RuleKind::StoreAtomic, _) => "what is added is i8, i16, i32, f16, bf16 or f32",
        (RuleKind::ViewHardware, _) => "public documentation does not refuse it (isa/memory.md 2)",
        _ => return None,
    })
}

macro_rules! rules {
    ($($severity:ident $on:ident $id:literal, $text:literal, $source:literal $(, $implied:ident)?;)*) => {
        &[$(Rule { id: $id, severity: Severity::$severity, on: Profiles::$on, text: $text, source: $source,
                   implied: rules!(@implied $($implied)?) },)*]
    };
    (@implied implied) => { true };
    (@implied) => { false };
}

/// All rules, grouped as in rules.md.
static RULES: &[Rule] = rules! {
    Error ALL "tload-dtype", "the view and the tile have one element type, signedness aside", "isa/memory.md 1";
    Error ALL "tstore-dtype", "the view and the tile have one element type, signedness aside; out of Acc a pair of isa/memory.md 3", "isa/memory.md 1";
    // No scalar has a type of four bits, so a result that would break it is `type-mismatch`.
    Error ALL "tgetval-dtype", "the element types are those of a signature", "isa/irregular.md 9", implied;

    // Tile types.
    Error ALL "tile-shape", "rows and cols are at least 1, and static valid extents are at most the declared ones", "tile-model.md 5";
    Error ALL "tile-align", "without boxes, the bytes of the major dimension (cols if row_major, rows if col_major) are a multiple of 32", "tile-model.md 5";
    Error ALL "tile-box-cols", "with boxes, cols is a multiple of the box's columns", "tile-model.md 5";
    Error ALL "tile-box-rows", "with boxes, rows is a multiple of the box's rows, except NZ in Vec", "tile-model.md 5";
    Error ALL "tile-fractal", "fractal is 512, 1024 (boxed, 4-byte types) or 32 (boxed, 1-byte types)", "tile-model.md 5";
    Error ALL "tile-compact", "row_plus_one on an NZ tile needs rows % 16 == 1", "tile-model.md 5";
    Error ALL "tile-pad", "a custom pad value fits the element type; one that is not exact is a warning", "tile-model.md 6";
    Error A5 "tile-fp4", "fp4: cols, v_col and indexCol are even; where two rows share a byte (DN, ZN, NN), v_row and indexRow too", "tile-model.md 3";
    Error CPU_A2A3 "tile-dtype", "the element type exists on the profile", "PTO ISA, layout family page, type support; tile-model.md 3";
    Error ALL "tile-multi", "a multi-buffer tile has 2 to 16 slots without row_plus_one, and only alloc_multi_tile and multi_tile_get name it, with a slot that it has", "isa/today.md 5.2";
    Error A2A3 "tile-loc", "the location exists on the profile", "tile-model.md 2";
    Error ALL "tile-size", "one tile's footprint fits its memory (not on cpu), and no dimension or product exceeds 2^32", "tile-model.md 5";
    // Meetings and reads ahead.
    Error ALL "syncall-mode", "a meeting has operands in soft mode, and none in hard mode", "isa/comm.md 7";
    Error ALL "syncall-workspace", "the workspace of a meeting is at least 16 i32 in global memory, whose first word is a multiple of the participants", "isa/comm.md 7";
    Error ALL "async-view", "a view that is read ahead or copied asynchronously is dense, and has one dimension; a session has 256 bytes of scratch, and its own events", "isa/today.md 6.9; isa/comm.md 4";
    // Communication between ranks.
    Error ALL "comm_tput-loc", "the views are in global memory, and the tiles in Vec", "isa/comm.md 4";
    Error ALL "comm_tput-dtype", "views and staging tiles have one element type; atomic_add takes i8, i16, i32, f16, bf16 and f32", "isa/comm.md 4";
    Error ALL "comm_tput-shape", "both views have one rank, and each extent is the same constant, or open in both and equal", "isa/comm.md 4";
    Error ALL "comm_tput-layout", "the views have one layout, and the tiles are ND", "isa/comm.md 4";
    Error ALL "comm_tput-stage", "staging tiles have positive valid extents, are of one type and apart; a view with more rows or columns than a tile has a multiple of its static ones", "isa/comm.md 4";
    Error ALL "comm_tput-attr", "atomicType is atomic_none or atomic_add", "isa/comm.md 1 and 4";
    Error ALL "comm_tget-loc", "the views are in global memory, and the tiles in Vec", "isa/comm.md 4";
    Error ALL "comm_tget-dtype", "views and staging tiles have one element type", "isa/comm.md 4";
    Error ALL "comm_tget-shape", "both views have one rank, and each extent is the same constant, or open in both and equal", "isa/comm.md 4";
    Error ALL "comm_tget-layout", "the views have one layout, and the tiles are ND", "isa/comm.md 4";
    Error ALL "comm_tget-stage", "staging tiles have positive valid extents, are of one type and apart; a view with more rows or columns than a tile has a multiple of its static ones", "isa/comm.md 4";
    Error ALL "comm_tnotify-loc", "the signal is in global memory", "isa/comm.md 4";
    Error ALL "comm_tnotify-dtype", "the signal is i32, and the value an integer of 32 bits or fewer", "isa/comm.md 4";
    Error ALL "comm_tnotify-shape", "the extents of the signal are constants, and positive", "isa/comm.md 4";
    Error ALL "comm_tnotify-attr", "notifyOp is written: atomic_add or set", "isa/comm.md 1 and 4";
    Error ALL "comm_twait-loc", "the signal is in global memory", "isa/comm.md 4";
    Error ALL "comm_twait-dtype", "the signal is i32, and the value an integer of 32 bits or fewer", "isa/comm.md 4";
    Error ALL "comm_twait-shape", "the extents of the signal are constants, and positive", "isa/comm.md 4";
    Error ALL "comm_twait-attr", "cmp is written: eq, ne, gt, ge, lt or le", "isa/comm.md 1 and 4";
    Error ALL "comm_ttest-loc", "the signal is in global memory", "isa/comm.md 4";
    Error ALL "comm_ttest-dtype", "the signal is i32, and the value an integer of 32 bits or fewer", "isa/comm.md 4";
    Error ALL "comm_ttest-shape", "the extents of the signal are constants, and positive", "isa/comm.md 4";
    Error ALL "comm_ttest-attr", "cmp is written: eq, ne, gt, ge, lt or le", "isa/comm.md 1 and 4";
    Error ALL "comm_tbroadcast-loc", "the views are in global memory, and the tiles in Vec", "isa/comm.md 4";
    Error ALL "comm_tbroadcast-dtype", "views and staging tiles have one element type", "isa/comm.md 4";
    Error ALL "comm_tbroadcast-shape", "the view has the extents of the members, which are constants", "isa/comm.md 4";
    Error ALL "comm_tbroadcast-layout", "the views have one layout, and the tiles are ND", "isa/comm.md 4";
    Error ALL "comm_tbroadcast-stage", "staging tiles have positive valid extents, are of one type and apart; a view with more rows or columns than a tile has a multiple of its static ones", "isa/comm.md 4";
    Error ALL "comm_tbroadcast-group", "there is a member, all members have one type, and root is one of them", "isa/comm.md 4";
    Error ALL "comm_tgather-loc", "the views are in global memory, and the tiles in Vec", "isa/comm.md 4";
    Error ALL "comm_tgather-dtype", "views and staging tiles have one element type", "isa/comm.md 4";
    Error ALL "comm_tgather-shape", "the view has the extents of the members, which are constants, with a row for each row of all members", "isa/comm.md 4";
    Error ALL "comm_tgather-layout", "the views have one layout, and the tiles are ND", "isa/comm.md 4";
    Error ALL "comm_tgather-stage", "staging tiles have positive valid extents, are of one type and apart; a view with more rows or columns than a tile has a multiple of its static ones", "isa/comm.md 4";
    Error ALL "comm_tgather-group", "there is a member, all members have one type, and root is one of them", "isa/comm.md 4";
    Error ALL "comm_tscatter-loc", "the views are in global memory, and the tiles in Vec", "isa/comm.md 4";
    Error ALL "comm_tscatter-dtype", "views and staging tiles have one element type", "isa/comm.md 4";
    Error ALL "comm_tscatter-shape", "the view has the extents of the members, which are constants, with a row for each row of all members", "isa/comm.md 4";
    Error ALL "comm_tscatter-layout", "the views have one layout, and the tiles are ND", "isa/comm.md 4";
    Error ALL "comm_tscatter-stage", "staging tiles have positive valid extents, are of one type and apart; a view with more rows or columns than a tile has a multiple of its static ones", "isa/comm.md 4";
    Error ALL "comm_tscatter-group", "there is a member, all members have one type, and root is one of them", "isa/comm.md 4";
    Error ALL "comm_treduce-loc", "the views are in global memory, and the tiles in Vec", "isa/comm.md 4";
    Error ALL "comm_treduce-dtype", "views and tiles have one element type: i8, u8, i16, u16, i32, u32, f16, bf16 or f32", "isa/comm.md 4";
    Error ALL "comm_treduce-shape", "the view has the extents of the members, which are constants", "isa/comm.md 4";
    Error ALL "comm_treduce-layout", "the views have one layout, and the tiles are ND", "isa/comm.md 4";
    Error ALL "comm_treduce-stage", "staging tiles have positive valid extents, are of one type and apart; a view with more rows or columns than a tile has a multiple of its static ones", "isa/comm.md 4";
    Error ALL "comm_treduce-group", "there is a member, all members have one type, and root is one of them", "isa/comm.md 4";
    Error ALL "comm_treduce-attr", "reduceOp is written: sum, max or min", "isa/comm.md 1 and 4";
    Error ALL "comm_build_async_session-loc", "the workspace is in global memory, and the scratch tile in Vec", "isa/comm.md 4";
    Error ALL "comm_tput_async-loc", "the views are in global memory", "isa/comm.md 4";
    Error ALL "comm_tput_async-dtype", "the views have one element type", "isa/comm.md 4";
    Error ALL "comm_tput_async-shape", "both views have one rank and the same extents", "isa/comm.md 4";
    Error ALL "comm_tget_async-loc", "the views are in global memory", "isa/comm.md 4";
    Error ALL "comm_tget_async-dtype", "the views have one element type", "isa/comm.md 4";
    Error ALL "comm_tget_async-shape", "both views have one rank and the same extents", "isa/comm.md 4";
    Error ALL "comm-window", "an argument lies in one window at most, a window has 2^40 bytes at most, and there are 1 to 64 ranks with the same windows", "isa/comm.md 2";
    Warning ALL "comm-root", "a collective runs on the rank whose own window holds the root's view", "isa/comm.md 4";
    Warning ALL "comm-poll", "no test of a signal decides control flow: the result may depend on time", "isa/comm.md 6";
    Warning ALL "comm-leak", "an asynchronous transfer is waited for before its process ends", "isa/comm.md 6";
    Error ALL "race-signal", "notifications that set a signal, and plain accesses of its words, are ordered", "isa/comm.md 6";
    Error ALL "comm-unflushed", "bytes that S stored are flushed before another core or rank reads them: cacheinvalid, then fence.barrier_all", "isa/comm.md 5";
    Error ALL "comm-stale", "S forgets a cached line before it loads what another core or rank wrote: cacheinvalid after the wait", "isa/comm.md 5";
    // Levels (isa/today.md 9).
    Error ALL "level-addr", "level 3: every tile has an address; level 1, 2: none has", "isa/today.md 9";
    Error ALL "level-assign", "level 3: tassign, with the order left to the program; level 1, 2: no tassign", "isa/today.md 9";
    Error ALL "level-reserve", "level 3: reserve_buffer has a base; level 1, 2: it is auto", "isa/today.md 9";
    Error A2A3 "level-tmp", "level 3: the scratch operands that hardware uses are written", "isa/today.md 9";
    Warning A2A3 "tmp-area", "no tile lies where the library keeps scratch that is left out: UB 184 to 192 KiB", "isa/today.md 9";
    // Regions and memory.
    Error ALL "valid-unset", "a dynamic valid extent is set before its first use", "tile-model.md 4";
    Error ALL "valid-range", "a run-time valid extent lies between 0 and the declared one", "tile-model.md 4";
    Error NPU "tassign-range", "a tile's address range lies inside its memory", "ops.md 10";
    Error ALL "tassign-align", "a tile's address is a multiple of 32", "tile-model.md 2";
    Error NPU "capacity", "the tiles alive together fit their memory", "ops.md 10";
    Error ALL "overlap", "operands of one instruction do not overlap, unless the result is the same as with disjoint ones", "ops.md 1";
    Error ALL "tile-overlap", "two tiles that are alive at once have bytes of their own: none is read after another tile at another place was written over it", "isa/notes.md";
    Warning ALL "never-written", "an instruction has written some byte of each tile that is read, on every path", "ops.md 1";
    Warning NPU "footprint", "the blocks that hardware writes stay inside the tile's declared area", "ops.md 1, fixpipe.md 5";
    Error ALL "tsubview-window", "a view is none_box, of the source's type, inside it, and starts at a 32-byte boundary", "ops.md 10";
    Warning ALL "undefined-read", "an element that reaches global memory, a file or the terminal has a defined value", "ops.md 1";
    Error ALL "undefined-use", "a value that decides anything (an index, an fp parameter, a count, a scalar) is defined", "ops.md 1";
    // Global memory.
    Warning ALL "view-layout", "a written layout tag is not contradicted by the view's last two strides", "isa/structure.md 8";
    Warning ALL "view-stride", "elements of a view that is stored to have places of their own: no stride is 0", "isa/memory.md 1";
    Warning ALL "view-overlap", "rows of a view that is stored to share no element", "isa/memory.md 1";
    Error ALL "gm-bounds", "every element touched lies inside the buffer, and a partition inside its view", "tile-model.md 7";
    // Fixpipe.
    Error ALL "quant-source", "relu, quantization and AccToVecMode need an Acc source", "fixpipe.md 1";
    Error ALL "quant-sign", "bit 46 of the parameter agrees with an i8 or u8 destination", "fixpipe.md 3";
    Error ALL "quant-scale", "the scale of a quantization parameter is finite", "fixpipe.md 3";
    Error ALL "fp-operand", "fp is a Scaling tile of u64 or i64, 1 × n, ND", "fixpipe.md 1; PTO ISA, TINSERT page, A2A3 checks";
    Error ALL "fp-align", "an fp operand's address is a multiple of 128", "tile-model.md 2";
    Error ALL "fp-short", "fp has a parameter for every column that is written", "fixpipe.md 1";
    Error ALL "fp-value", "a fill value is exactly representable in the element type", "PTO ISA, layout family page, constraints; ops.md 3.4";
    Error ALL "acc-mode", "an AccToVecMode belongs to Acc→Vec, on cpu and a5", "fixpipe.md 6; PTO ISA, TINSERT page, A5 checks";
    Error CPU_A5 "acc-mode-split", "a dual mode halves an even extent, is not quantized, keeps the type, and writes no DN tile", "PTO ISA, TINSERT page, A5 checks; fixpipe.md 6";
    // TMOV.
    Error NPU "tmov-loc", "the pair of locations has a path", "ops.md 2";
    Error NPU "tmov-layout", "the pair of layouts has a path", "ops.md 2";
    Error A5 "tmov-attr", "grpAxis belongs to exponents in Vec, without accToVecMode, reluPreMode, a scalar or parameters", "isa/today.md 6.5";
    Error ALL "tmov-dtype", "the element types have a path", "ops.md 2, fixpipe.md 2";
    Error NPU "tmov-shape", "declared shapes are equal (a5: when the source is Mat)", "ops.md 2";
    Error ALL "tmov-valid", "valid regions are equal", "ops.md 2";
    Error NPU "tmov-bias", "into Bias: one row, i32→i32, f32→f32, f16→f32 (a5: bf16→f32), source row a multiple of 64 bytes", "ops.md 2";
    Error NPU "tmov-scaling", "into Scaling: one row of u64 or i64, a multiple of 128 bytes", "ops.md 2";
    Error A5 "tmov-pitch", "ND→NZ in Vec: the destination's declared rows are its valid rows rounded up to 16 (plus one with row_plus_one)", "ops.md 2";
    // TEXTRACT.
    Error NPU "textract-loc", "the pair of locations has a path", "ops.md 3.1";
    Error NPU "textract-layout", "the pair of layouts has a path", "ops.md 3.1";
    Error ALL "textract-dtype", "the element types have a path", "ops.md 3.1, fixpipe.md 2";
    Error NPU "textract-align", "indices and extents are multiples of what the path moves at once", "ops.md 3.1";
    Error ALL "textract-bounds", "the window lies inside the source's declared shape", "PTO ISA, layout family page, cases not allowed; ops.md 3.1";
    Warning ALL "textract-divides", "the destination's declared shape divides the source's", "PTO ISA, layout family page, constraints";
    // TINSERT.
    Error NPU "tinsert-loc", "the pair of locations has a path", "PTO ISA, TINSERT page, A2A3 and A5 checks";
    Error NPU "tinsert-layout", "the pair of layouts has a path", "PTO ISA, TINSERT page, A2A3 and A5 checks";
    Error ALL "tinsert-dtype", "the element types have a path", "PTO ISA, TINSERT page, A2A3 and A5 checks";
    Error A5 "tinsert-align", "Vec→Mat ND: the bytes of a source row are a multiple of 32", "PTO ISA, TINSERT page, A5 Vec → Mat";
    Error A5 "tinsert-cols", "Vec→Vec NZ: source cols do not exceed destination cols", "PTO ISA, TINSERT page, A5 Vec → Vec";
    Error ALL "tinsert-bounds", "the inserted region lies inside the destination's declared shape", "PTO ISA, TINSERT page, runtime bounds; PTO ISA, layout family page";
    Warning A5 "tinsert-nd-into-boxed", "Vec→Mat ND→NZ is inserted logically here; hardware copies the rows as they lie", "ops.md 3.2";
    Warning A5 "tinsert-hw", "hardware copies whole blocks of 32 bytes, and the split form 16 rows at a time: indices and rows fit that", "PTO ISA, TINSERT page, A5 Vec → Vec and Vec → Mat";
    // TRESHAPE.
    Error ALL "treshape-loc", "both tiles have one location", "PTO ISA, TRESHAPE page, constraints";
    Error ALL "treshape-bytes", "both tiles have the same declared bytes", "PTO ISA, TRESHAPE page, constraints";
    Error ALL "treshape-box", "both tiles are boxed or both are not", "PTO ISA, TRESHAPE page, constraints";
    Error ALL "treshape-shape", "newShape equals the destination's declared shape", "PTO ISA, layout family page; ops.md 4";
    Warning ALL "treshape-valid", "with one element type, the valid regions have the same number of elements", "PTO ISA, layout family page, constraints";
    Warning ALL "treshape-alias", "neither tile is written and then the other read: cpu copies, a2a3 and a5 share the storage", "PTO ISA, TRESHAPE page, notes; ops.md 4";
    // TTRANS.
    Error NPU "ttrans-loc", "all tiles are in Vec", "ops.md 5";
    Error NPU "ttrans-layout", "both none_box; a2a3: both row-major", "PTO ISA, TTRANS page, A2A3 checks; ops.md 5";
    Error NPU "ttrans-dtype", "standard types: i8 u8 i16 u16 i32 u32 f16 bf16 f32", "PTO ISA, TTRANS page, A2A3 and A5 checks";
    Error ALL "ttrans-size", "both element types have the same size", "PTO ISA, TTRANS page, A2A3 and A5 checks";
    Error ALL "ttrans-shape", "the transposed domain fits the destination (cpu, a2a3: its valid region is the transposed one)", "PTO ISA, layout family page, constraints; ops.md 5";
    Error ALL "ttrans-tmp", "tmp has the source's location and element size", "ops.md 5";
    Error A5 "ttrans-align", "the major dimension's bytes of both tiles are a multiple of 32", "PTO ISA, TTRANS page, A5 checks", implied;
    // TCONCAT.
    Error NPU "tconcat-loc", "all tiles are in Vec", "ops.md 6";
    Error NPU "tconcat-layout", "all tiles are ND", "ops.md 6";
    Error ALL "tconcat-dtype", "all element types are alike (a2a3, a5: standard types)", "ops.md 6";
    Error ALL "tconcat-rows", "valid rows of all tiles are equal", "ops.md 6";
    Error ALL "tconcat-cols", "valid columns of the sources add up to the destination's (a2a3: to at most its cols)", "ops.md 6";
    Error NPU "tconcat-dim", "dim is 1 (cpu: or 0)", "ops.md 6";
    Error ALL "tconcat-index", "index tiles are alike, ND, long enough, and their counts lie between 0 and the source's valid columns", "ops.md 6";
    // TPACK.
    Error A2A3 "tpack-profile", "cpu and a5 have the instruction", "ops.md 6";
    Error CPU_A5 "tpack-layout", "both tiles are Vec ND", "ops.md 6";
    Error CPU_A5 "tpack-size", "elements narrow from 4 bytes to 2 or 1, or from 2 to 1", "ops.md 6";
    Error CPU_A5 "tpack-valid", "valid regions are equal", "ops.md 6";
    // TFILLPAD.
    Error NPU "tfillpad-loc", "tiles are in Vec or Mat", "ops.md 6";
    Error NPU "tfillpad-layout", "Vec tiles are ND; Mat tiles are NZ, one storage, filled with zero", "ops.md 6";
    Error ALL "tfillpad-dtype", "element types are equal", "ops.md 6";
    Error ALL "tfillpad-shape", "declared shapes are equal (EXPAND: the destination's are at least the source's)", "ops.md 6";
    Error ALL "tfillpad-pad", "the destination's pad is not null", "ops.md 6";
    Error ALL "tfillpad-inplace", "both tiles of TFILLPAD_INPLACE are views of one storage", "ops.md 6";
    Error ALL "tfillpad-valid", "a static valid region of EXPAND's destination covers the source's", "ops.md 6";
    Warning ALL "tfillpad-static", "TFILLPAD_EXPAND makes a dynamic valid region whole; a static one stays as it is", "PTO ISA, layout family page; ops.md 6";
    Warning ALL "tfillpad-noop", "there is something to pad", "ops.md 6";
    // TIMG2COL.
    Error ALL "timg2col-loc", "the source is a conv tile in Mat, the destination is in Left", "ops.md 7";
    Error ALL "timg2col-layout", "the destination has Left's usual layout", "ops.md 7";
    Error ALL "timg2col-dtype", "equal types: i8 f16 bf16 f32; cpu, a5 also u8 i16 u16 i32 u32; a5 also f8e4m3 f8e5m2", "PTO ISA, layout family page, cases not allowed; ops.md 7";
    Error ALL "timg2col-config", "kernel is given and 1…511, stride and dilation 1…255, padding 0…255", "PTO ISA, layout family page, constraints; ops.md 7";
    Error ALL "timg2col-c0", "C0 elements are 32 bytes (C0 = 4 also for 16-bit types)", "ops.md 7";
    Error ALL "timg2col-empty", "the output has at least one row and one column", "ops.md 7";
    Error ALL "timg2col-fmap", "a given fmap size equals the tile's", "ops.md 7";
    // TINTERLEAVE and TDEINTERLEAVE.
    Error A2A3 "tinterleave-profile", "cpu and a5 have the instruction", "ops.md 8";
    Error A5 "tinterleave-loc", "all tiles are in Vec", "ops.md 8";
    Error CPU_A5 "tinterleave-layout", "all tiles are row-major (a5: ND)", "PTO ISA, TINTERLEAVE page, A5 checks";
    Error CPU_A5 "tinterleave-dtype", "standard types, all alike", "PTO ISA, TINTERLEAVE page, A5 checks";
    Error CPU_A5 "tinterleave-shape", "all valid regions are equal (one source: it has twice the columns)", "PTO ISA, TINTERLEAVE page, A5 checks";
    Error CPU_A5 "tinterleave-even", "the number of valid columns is even", "PTO ISA, TINTERLEAVE page, A5 checks";
    // Conversion.
    Warning CPU "value-conversion", "a move between element types changes values; only cpu does it", "ops.md 1";
    // Text.
    Error ALL "syntax-token", "the text is made of known tokens", "syntax.md 1";
    Error ALL "syntax-expected", "the text follows the grammar", "syntax.md 1 to 4";
    Error ALL "syntax-integer", "an integer literal fits its range", "syntax.md 1";
    Error ALL "syntax-float", "a float literal is readable", "syntax.md 1";
    Error ALL "syntax-string", "a string literal is closed on its line", "syntax.md 1";
    Error ALL "syntax-unclosed", "every bracket that is opened is closed", "syntax.md 1";
    Error ALL "syntax-nesting", "brackets and regions nest at most 256 deep", "syntax.md 1";
    Error ALL "syntax-limit", "tokens, lines, files and programs keep their size limits", "syntax.md 1";
    Error ALL "syntax-encoding", "the file is UTF-8 text", "syntax.md 1";
    Error ALL "syntax-type", "a type is well formed", "syntax.md 3";
    Error ALL "syntax-attribute", "an attribute has the type the instruction expects", "syntax.md 2";
    Error ALL "syntax-duplicate", "an attribute is written in one place", "isa/structure.md 2";
    Error ALL "syntax-form", "an instruction is written in one of its forms", "syntax.md 2";
    Error ALL "syntax-mixed", "a file is a module or a listing, not both", "syntax.md 1";
    Error ALL "syntax-blocks", "a region has one block; control flow is scf", "isa/structure.md 10";
    Error ALL "syntax-region", "a region ends as its operation needs", "syntax.md 4";
    Error ALL "memref-space", "a memref that is allocated lies in a memory of the core", "isa/structure.md 7";
    Error ALL "type-mismatch", "a use has the type of its definition", "syntax.md 3";
    Error ALL "unknown-op", "the operation exists", "syntax.md 1";
    Error ALL "unknown-dialect", "the version of the text is 0.27 or later", "isa/today.md 1";
    Warning ALL "dialect-meaning", "the text has a version where versions differ about what it means", "isa/today.md 1.2";
    Warning ALL "dialect-spelling", "the version that the text states has its spellings", "isa/today.md 1.1";
    Error ALL "unknown-profile", "the profile exists", "tile-model.md 1";
    Warning ALL "unknown-attribute", "the instruction knows the attribute", "syntax.md 1";
    Error ALL "undefined-name", "a name is defined before it is used", "syntax.md 1";
    Error ALL "redefined-name", "a name is defined once", "syntax.md 1";
    Error ALL "operand-count", "an instruction has as many operands and results as one of its forms", "syntax.md 2";
    Error ALL "not-executable", "the instruction runs here: it has a row, and works on one device at the level of tiles", "isa/structure.md 10";
    // Running.
    Warning ALL "profile-override", "the profile of the command line is the module's own", "tile-model.md 1";
    Note ALL "left-blayout", "a Left tile is written in the profile's own outer order; another one is replaced", "syntax.md 3";
    Note NPU "treshape-address", "the destination of TRESHAPE lies where the source lies; an address of its own is given up", "ops.md 4";
    Error ALL "entry", "the program has one entry function with this name", "syntax.md 4";
    Error ALL "entry-ambiguous", "one function is the kernel: it is named, marked pto.entry, or the only one that nobody calls", "isa/structure.md 3";
    Error ALL "entry-result", "a kernel returns nothing", "isa/structure.md 3";
    Error ALL "call", "a call names a function of the module and fits its signature", "syntax.md 4";
    Error ALL "call-recursive", "the call graph has no cycle", "isa/structure.md 3";
    // Cores and FIFOs.
    Error ALL "section-kind", "a section stands in code of its own kind of core, or of none", "isa/structure.md 4";
    Error ALL "mixed-outside-section", "in a kernel of both kinds of cores, tiles and global memory are touched in sections", "isa/structure.md 4";
    Error ALL "kind-pipe", "the kind of core has the pipe of the instruction (cpu warns)", "isa/structure.md 4";
    Warning NPU "unsplit-core", "code without sections needs the pipes of one kind of core only", "isa/structure.md 4";
    Error ALL "deadlock", "some core of a block can always go on until all have ended", "isa/structure.md 4";
    Error ALL "fifo-init", "a function initializes one pipe, with dir_mask 1 to 3 and slots of a multiple of 32 bytes, before it moves tiles in its directions", "isa/structure.md 5";
    Error ALL "fifo-kind", "each operation of a FIFO stands in code for the kind of core that it is for", "isa/structure.md 5";
    Error ALL "fifo-peer", "both ends of a pipe are the same, in the buffer that the consumer reserves and the producer imports", "isa/structure.md 5";
    Error ALL "fifo-size", "a buffer has a name of its own, room for all slots, and lies in the consumer's memory", "isa/structure.md 5";
    Error ALL "fifo-slot", "a slot has room for the whole tile; a slot that is a view has its bytes", "isa/structure.md 5";
    Error ALL "fifo-split", "all pushes and pops of a direction have one split, which nosplit allows; whole tiles of both vector cores agree", "isa/structure.md 5";
    Error ALL "fifo-shape", "the popped tile is the pushed one, or its half, or two of them", "isa/structure.md 5";
    Error ALL "fifo-type", "one element type goes from Acc to Vec ND, or from Vec to a Mat tile that TINSERT writes", "isa/structure.md 5";
    Error ALL "fifo-valid", "a pop gives valid extents exactly where its type leaves both open, and inside of the tile", "isa/structure.md 5";
    Error A2A3 "fifo-gm", "a pipe has a gm_slot_buffer with room for all slots", "isa/structure.md 5";
    Error ALL "fifo-write", "a popped tile is not written", "isa/structure.md 6";
    Error ALL "fifo-use-after-free", "a popped tile is not used after its slot was freed (a2a3: after as many more pops as there are slots)", "isa/structure.md 6";
    Error ALL "fifo-free", "a slot is freed once for each pop, after it", "isa/structure.md 6";
    Error ALL "fifo-entry", "the slot that is pushed is the one allocated last, and one is allocated between two pushes", "isa/today.md 7.2";
    Error ALL "fifo-quant", "a push that quantizes follows, in its block, a set_quant_scalar or set_quant_vector of its pipe, as the pipe asks", "isa/today.md 7.3";
    Error NPU "fifo-flags", "the pipes of a function have at most 8 directions, each with two of 16 flags", "isa/today.md 7.1";
    Warning ALL "fifo-open", "both ends of a pipe are in the program", "isa/today.md 7.1";
    Error ALL "local-bounds", "an index lies inside the local array", "isa/today.md 4.3";
    Error ALL "struct-field", "the fields of a struct are scalars of 8 to 64 bits, or structs", "isa/today.md 4.3";
    Error ALL "struct-path", "a path of constants leads to a scalar field", "isa/today.md 4.3";
    Warning ALL "fifo-leak", "every pushed tile is popped", "isa/structure.md 4";
    Warning A5 "fifo-unfreed", "every popped slot is freed", "isa/structure.md 6";
    Error ALL "arith", "integer arithmetic is defined: no division by zero, no shift beyond the width", "syntax.md 4";
    Error ALL "tile-bounds", "a pointer into a tile is read and written inside the tile", "isa/structure.md 7";
    Error ALL "view-dim", "a dimension that is asked for is one of the view's", "isa/structure.md 7";
    Error ALL "trap", "the program does not reach pto.trap", "isa/structure.md 7";
    Error ALL "scalar-range", "a float that becomes an integer fits its width", "isa/structure.md 7";
    Error ALL "cast-width", "a cast of bits keeps their number; unrealized_conversion_cast is between integers", "isa/structure.md 7";
    Error ALL "loop", "a loop's step is positive and it ends within the limit", "syntax.md 4";
    Error ALL "memory-limit", "the program stays within the simulator's memory", "ARCHITECTURE.md, Cross-cutting";
    Warning ALL "block-overlap", "blocks write bytes of their own, other than by atomic adds", "tile-model.md 7";
    // Order between pipes and cores.
    Error ALL "flag-pipe", "a flag goes from one pipe of the core to another one (cpu warns)", "sync.md 2";
    Error ALL "flag-id-range", "a flag's id is 0 to 7, a buffer's 0 to 31 (cpu: at least 0)", "sync.md 2";
    Error ALL "flag-unmatched-wait", "every wait has a set, which does not need the wait", "sync.md 2";
    Error ALL "flag-leak", "every set is taken by a wait before the kernel ends, on every path (cpu warns)", "sync.md 2";
    Error ALL "flag-overwrite", "a flag is set again only after the wait for it (cpu warns)", "sync.md 2";
    Warning ALL "barrier-useless", "a barrier or a pair of set and wait orders something that nothing else orders", "sync.md 2";
    Error ALL "buf-token", "a pipe takes a buffer's token once before it gives it back", "sync.md 2";
    Error ALL "race-raw", "an instruction that reads what another writes is ordered after it", "sync.md 4";
    Error ALL "race-war", "an instruction that writes what another reads is ordered after it", "sync.md 4";
    Error ALL "race-waw", "instructions that write the same bytes are ordered", "sync.md 4";
    Error ALL "sync-overflow", "a counter between cores holds at most 15 tokens", "sync.md 5";
    Warning ALL "sync-ids", "the flags that a program needs have ids of their own", "sync.md 7";
    Note ALL "sync-fallback", "an order operation is no stronger than its dependence needs", "sync.md 7";
    Error ALL "binding", "every argument is bound to a file or value of its type and shape", "syntax.md 4";
    Error ALL "undecided", "a proof holds for all inputs: data decides neither what moves nor how often", "trace.md";
    Error ALL "internal", "the tool keeps its own invariants; a broken one is a defect of the tool", "ARCHITECTURE.md, Cross-cutting";
};
