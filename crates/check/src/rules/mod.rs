//! The rules: one function for each [`RuleKind`], called in the order of the instruction's row.

mod contract;
mod elementwise;
mod expand;
pub mod fifo;
pub(crate) mod fixpipe;
mod footprint;
mod global;
mod irregular;
mod mask;
pub(crate) mod memory;
mod mx;
mod overlap;
mod partial;
mod reduce;
mod scalar;
mod scratch;
pub(crate) mod signature;
mod sorting;
mod storage;
mod table;
pub(crate) mod tconcat;
mod textract;
mod tfillpad;
pub(crate) mod tile;
mod timg2col;
mod tinsert;
mod tinterleave;
mod tmov;
mod tpack;
mod treshape;
mod ttrans;
pub(crate) mod valid;
mod view;

// The words that all rules use.
use signature::join;
use tessera_isa::codec::Number;
use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AttrValue, ConvType, GlobalArg, Inst, TileArg};
use tessera_isa::ops::{Effect, Form, Role, RuleKind, RuleUse};
use tessera_isa::profile::{Profile, TILE_ALIGN};
use tessera_isa::sem::{Sem, Step, ceil_to, steps};
use tessera_isa::tile::{Extent, LayoutName, Loc, Tile};

/// The id of a rule.
type Rule = &'static str;

/// The fault, as one about the operand with this role.
fn about(inst: &Inst, role: Role, fault: Fault) -> Fault {
    Fault { operand: inst.tile_index(role), ..fault }
}

/// A rule that the operand with this role breaks, and a way out.
fn broken(inst: &Inst, role: Role, rule: Rule, what: impl Into<String>, help: impl Into<String>) -> Option<Fault> {
    Some(about(inst, role, Fault::new(rule, what).help(help)))
}

fn ends(inst: &Inst) -> Option<(&TileArg, &TileArg)> {
    inst.tile(Role::Src).zip(inst.tile(Role::Dst))
}

/// Source and destination of a move on a5 between these locations.
fn a5_ends(inst: &Inst, from: Loc, to: Loc) -> Option<(&TileArg, &TileArg)> {
    ends(inst).filter(|(src, dst)| inst.profile == Profile::A5 && (src.tile.loc, dst.tile.loc) == (from, to))
}

/// Whether the declared shapes are moved: always on a2a3, on a5 if the source is Mat (ops.md 2 and 3.1).
fn moves_declared(inst: &Inst, src: &Tile) -> bool {
    inst.profile == Profile::A2a3 || inst.profile == Profile::A5 && src.loc == Loc::Mat
}

/// The first axis along which two valid regions are known to differ, with both extents.
fn differ(a: &TileArg, b: &TileArg) -> Option<(usize, u64, u64)> {
    let known = |axis: usize| Some((axis, a.valid[axis]?, b.valid[axis]?));
    [0, 1].into_iter().filter_map(known).find(|(_, n, m)| n != m)
}

/// The fault of scratch that should be in Vec, ND, of the type of the operand `name`.
fn wrong_scratch(tmp: &Tile, like: &Tile, name: Role) -> Option<String> {
    Some(if tmp.loc != Loc::Vec {
        format!("tmp is in Vec, and this one is in {}", tmp.loc.cpp())
    } else if tmp.layout_name() != LayoutName::Nd {
        format!("tmp is ND, and this one is {}", signature::layout(tmp))
    } else if tmp.elem != like.elem {
        format!("tmp has {name}'s type {}, and this one is {}", like.elem, tmp.elem)
    } else {
        return None;
    })
}

/// The first broken rule that is an error, in the order of ops.md 1 rule 8; else every warning.
///
/// The row's rules come in addition: types of tiles, the signature and overlap are checked for every instruction, and
/// one without a meaning is refused.
pub(crate) fn all(inst: &Inst) -> Vec<Fault> {
    if let Some(fault) = tile::check(inst) {
        return vec![fault];
    }
    let mut warnings = Vec::new();
    let mut asked = Asked([0; 4]);
    let is_empty = inst.is_empty();
    for rule in inst.op.info().rules.iter().filter(|r| r.on.has(inst.profile)) {
        if is_empty && is_about_extents(rule.id) {
            continue;
        }
        match if asked.once(rule.kind) { ask(inst, rule) } else { None } {
            Some(fault) if !fault.is_error() => warnings.push(fault),
            Some(fault) => return vec![fault],
            None => {}
        }
    }
    use RuleKind::{
        ConcatSignature, ExtractSignature, FillSignature, InsertSignature, LoadSignature, Overlap, Signature,
    };
    let signed = [Signature, ConcatSignature, ExtractSignature, FillSignature, InsertSignature, LoadSignature];
    let judged = signed.into_iter().any(|kind| !asked.once(kind));
    let rest = meaning(inst)
        .or_else(|| if judged { None } else { signature::check(inst) })
        .or_else(|| if asked.once(Overlap) { overlap::check(inst) } else { None });
    match rest {
        Some(fault) => vec![fault],
        None => warnings,
    }
}

/// Whether a rule is not asked of an instruction on empty regions (isa/today.md 5.3).
fn is_about_extents(rule: &str) -> bool {
    ["-valid", "-shape", "-empty", "-range", "-tmp", "-tmp-size"].into_iter().any(|end| rule.ends_with(end))
}

struct Asked([u64; 4]);

impl Asked {
    fn once(&mut self, kind: RuleKind) -> bool {
        let n = kind.number();
        let (Some(word), bit) = (self.0.get_mut(n / 64), 1 << (n % 64)) else { return true };
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}

/// An instruction whose row has no meaning cannot be legal.
fn meaning(inst: &Inst) -> Option<Fault> {
    let nothing = matches!(inst.op.info().sem, Sem::Nothing);
    nothing.then(|| Fault::new("not-executable", format!("{} has no meaning in the table", inst.op.title())))
}

/// Checks that each attribute has the word that is written for it. Text keeps a foreign word for the row's own rule
/// (isa/notes.md).
fn words(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (name, _) = inst.attrs.iter().find(|(_, value)| *value == AttrValue::FOREIGN)?;
    let wanted = name.info().kind.wanted();
    let what = format!("{name} of {} is {wanted}, and another word is written", inst.op.title());
    Some(Fault::new(rule, what).help(format!("write {wanted}")))
}

fn ask(inst: &Inst, rule: &RuleUse) -> Option<Fault> {
    use RuleKind::*;
    match rule.kind {
        TileType | AtRun | Program => None,
        Signature => signature::check(inst),
        Overlap => overlap::check(inst),
        Footprint => footprint::check(inst),
        Conversion => signature::conversion(inst),
        SameValid => elementwise::same_valid(inst, rule.id),
        SameShape => elementwise::same_shape(inst, rule.id),
        CvtMode => elementwise::cvt_mode(inst, rule.id),
        NotInPlace => elementwise::not_in_place(inst, rule.id),
        NotInTmp => elementwise::not_in_tmp(inst, rule.id),
        Tmp(ask) => scratch::tmp(inst, rule.id, ask),
        TmpOfIntegers => scratch::of_integers(inst, rule.id),
        CountTmp => scratch::count(inst, rule.id),
        QuantTmp => scratch::quant(inst, rule.id),
        PreciseFloats => elementwise::precise_floats(inst, rule.id),
        PreciseWithTmp => elementwise::precise_with_tmp(inst, rule.id),
        TmpRows => scratch::rows(inst, rule.id),
        TmpOfCvt => scratch::conversion(inst, rule.id),
        MaskValid => mask::valid(inst, rule.id),
        Mask => mask::room(inst, rule.id),
        MaskDense => mask::dense(inst, rule.id),
        CompareMode => mask::compare_mode(inst, rule.id),
        Scalar => scalar::any(inst, rule.id),
        ScalarNumber => scalar::number(inst, rule.id),
        ScalarTyped => scalar::typed(inst, rule.id),
        ScalarShift => scalar::shift(inst, rule.id),
        ScalarSlope => scalar::slope(inst, rule.id),
        ScalarBits => scalar::bits(inst, rule.id),
        Zero => scalar::zero(inst, rule.id),
        Range => scalar::range(inst, rule.id),
        RowFoldValid | ColFoldValid => reduce::valid(inst, rule.id),
        FoldEmpty => reduce::empty(inst, rule.id),
        ArgIndex => reduce::index(inst, rule.id),
        ArgTmp => scratch::arg(inst, rule.id),
        ArgTmpSize => scratch::arg_size(inst, rule.id),
        PairTmp => scratch::pairs(inst, rule.id),
        PairTmpSize => scratch::pairs_size(inst, rule.id),
        RowOfValid => expand::column(inst, rule.id),
        ColOfValid => expand::row(inst, rule.id),
        RowExpandValid => expand::rows(inst, rule.id),
        ColExpandValid => expand::columns(inst, rule.id),
        ExpandColumn => expand::columns_written(inst, rule.id),
        ExpandTmp => scratch::expand(inst, rule.id),
        ExpandTmpSize => scratch::expand_size(inst, rule.id),
        ContractValid => contract::valid(inst, rule.id),
        ContractShape => contract::shape(inst, rule.id),
        ContractRange => contract::range(inst, rule.id),
        ContractPitch => contract::pitch(inst, rule.id),
        RowsPicked | ColsSpread | RowsSpread => irregular::check(inst, rule),
        GatherValid | GatherTmp | GatherAttr | PatternGiven | BlockValid | ScatterSize | ScatterValid => {
            irregular::check(inst, rule)
        }
        StartNumber | DiagonalNumber | WordNumbers | ElementNumber | OneRow | TriangleAttr | RandomAttr => {
            irregular::check(inst, rule)
        }
        HistogramAttr | HistogramValid | ElementIndex => irregular::check(inst, rule),
        SortValid | SortTmp | SortTmpSize | MergeValid | MergeBlock | MergeTmp | MergeTmpSize => {
            sorting::check(inst, rule)
        }
        MxAttr | MxDtype | MxValid | MxShape | MxRoom | MxHardware | Exponents => mx::check(inst, rule),
        PartValid | LikeDst | QuantAttr | QuantParam | DequantParam => partial::check(inst, rule),
        // Rules that depend on data are checked when the data is there.
        Duplicate | Unsorted => None,
        ContractBias => contract::bias(inst, rule.id),
        ContractScale => contract::scale(inst, rule.id),
        ScaleAddress => contract::scale_address(inst, rule.id),
        AccApart => contract::acc_apart(inst, rule.id),
        ScaleOf => contract::scale_of(inst, rule.id),
        Words => words(inst, rule.id),
        NoEffect => contract::no_effect(inst, rule.id),
        Fixpipe => fixpipe::check(inst),
        FillValue => fixpipe::fill_value(inst),
        MoveAttr => tmov::group_axis(inst),
        MoveBias => tmov::bias(inst),
        MoveScaling => tmov::scaling(inst),
        MoveShape => tmov::shape(inst),
        MoveValid => tmov::valid(inst),
        MovePitch => tmov::pitch(inst),
        ExtractSignature => textract::signature(inst),
        ExtractAlign => textract::align(inst),
        ExtractBounds => textract::bounds(inst),
        ExtractDivides => textract::divides(inst),
        InsertSignature => tinsert::signature(inst),
        InsertCols => tinsert::cols(inst),
        InsertAlign => tinsert::align(inst),
        InsertBounds => tinsert::bounds(inst),
        InsertBoxed => tinsert::nd_into_boxed(inst),
        InsertHardware => tinsert::hardware(inst),
        Reshape => treshape::check(inst),
        ReshapeValid => treshape::valid(inst),
        TransposeSize => ttrans::size(inst),
        TransposeTmp => ttrans::tmp(inst),
        TransposeShape => ttrans::shape(inst),
        ConcatDim => tconcat::dim(inst),
        ConcatSignature => tconcat::signature(inst),
        ConcatExtents => tconcat::extents(inst),
        ConcatIndex => tconcat::index_tiles(inst),
        Pack => tpack::check(inst),
        FillSignature => tfillpad::signature(inst),
        FillPad => tfillpad::check(inst),
        FillNoop => tfillpad::noop(inst),
        FillStatic => tfillpad::stays(inst),
        Img2col => timg2col::check(inst),
        Interleave => tinterleave::check(inst),
        ViewStride => global::stride(inst, rule.id),
        ViewOverlap => global::rows_overlap(inst, rule.id),
        ViewAttr => global::attribute(inst, rule.id),
        LoadSignature => global::load_signature(inst),
        LoadShape => global::load_shape(inst, rule.id),
        LargerView => global::larger_view(inst, rule.id),
        LoadPad => global::pad(inst, rule.id),
        TableShape => table::shape(inst, rule.id),
        TableDense => table::dense(inst, rule.id),
        PrintTmp => table::print_scratch(inst, rule.id),
        TableScratch => table::scratch(inst, rule.id),
        TableAttr => table::attributes(inst, rule.id),
        StoreRange => global::range(inst, rule.id),
        StoreAtomic => global::atomic(inst, rule.id),
        ViewHardware => global::hardware(inst, rule.id),
        StoreShape => global::store_shape(inst, rule.id),
        Bounds => global::bounds(inst),
        Window => view::check(inst),
        SlotIndex => view::slot(inst, rule.id),
        // The enum may grow; a kind without a check here is no rule.
        kind => Some(Fault::new("internal", format!("nothing asks {kind:?} of {}", inst.op.title()))),
    }
}
