//! The attributes: one entry each. Parser, printer, `tessera explain`, the C ABI and C++ emission read the entry and
//! know nothing about an attribute besides.

use super::Role;
use crate::inst::{
    AccToVec, AtomicType, AttrValue, Cmp, Coalesce, F32Rounding, GatherOob, GroupAxis, MaskPattern, NotifyOp, PadMode,
    PadWord, Phase, Precision, PrintFormat, QuantScaleAlg, QuantType, ReduceOp, Relu, ScatterAtomic, ScatterConflict,
    ScatterOob, Space, Split, StoreMode, ViewTag, WaitCmp,
};
use crate::sem::{Rounding, Saturation};
use crate::tile::words;

/// A word that an attribute can have.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub name: &'static str,
    pub cpp: &'static str,
    /// Other spellings that are read.
    pub also: &'static [&'static str],
}

/// How text writes a word; it is read bare and quoted, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `row`.
    Bare,
    /// `"split2"`.
    Quoted,
    /// `#pto<relu_pre_mode no_relu>`.
    Of(&'static str),
    /// `#pto.layout<nd>`.
    Dialect(&'static str),
}

impl Spelling {
    /// The word, or words, spelled so.
    pub fn spell(self, word: &str) -> String {
        match self {
            Spelling::Bare => word.into(),
            Spelling::Quoted => format!("\"{word}\""),
            Spelling::Of(family) => format!("#pto<{family} {word}>"),
            Spelling::Dialect(name) => format!("#pto.{name}<{word}>"),
        }
    }
}

/// What kind of value an attribute has.
#[derive(Clone, Copy, Debug)]
pub enum AttrKind {
    /// One of these words. In generic form the number of a word is its place in the list, counted from `first`.
    Word {
        list: &'static [Word],
        /// The number of the first one.
        first: u8,
        spelling: Spelling,
    },
    /// An integer, printed with this type.
    Int(Option<&'static str>),
    /// `true` or `false`.
    Bool,
    /// A list of that many integers, at most four.
    Ints(usize),
    /// An integer or a float.
    Number,
    /// A name in quotes or the symbol of a function, kept as it is written.
    Name,
}

impl AttrKind {
    /// What has to be written, for messages.
    pub fn wanted(self) -> String {
        match self {
            AttrKind::Word { list, .. } => {
                format!("one of {}", list.iter().map(|w| w.name).collect::<Vec<_>>().join(", "))
            }
            AttrKind::Int(_) => "an integer".into(),
            AttrKind::Bool => "true or false".into(),
            AttrKind::Ints(n) => format!("a list of {n} integers"),
            AttrKind::Number => "a number".into(),
            AttrKind::Name => "a name".into(),
        }
    }
}

/// How C++ gives an attribute (cpp.md 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CppAttr {
    Argument,
    /// As an argument that may be left out, with those behind it.
    Optional,
    /// As a template argument before the types of the operands.
    Ahead,
    /// As a template argument behind the types of the operands.
    Behind,
    /// As a template argument before everything else, which may be left out and changes no result.
    Phase,
    /// As the algorithm that the instruction's first template argument names.
    Algorithm,
    /// Not at all: another attribute says it.
    Implied,
    /// Not at all: a hint without effect.
    Hint,
}

/// The entry of an attribute.
#[derive(Debug)]
pub struct AttrInfo {
    /// What kind of value it has.
    pub kind: AttrKind,
    /// What counts where it is left out, if that is a value.
    pub default: Option<AttrValue>,
    /// Which values there are, in words; a list of words speaks for itself.
    pub about: &'static str,
    /// Does the DPS form print it inside `ins(…)`? It is read in both places.
    pub inside_ins: bool,
    /// The operand beside which its default is printed, where that is not everywhere.
    pub beside: Option<Role>,
    pub cpp: CppAttr,
}

impl AttrInfo {
    const fn new(kind: AttrKind, about: &'static str) -> Self {
        AttrInfo { kind, default: None, about, inside_ins: false, beside: None, cpp: CppAttr::Argument }
    }

    const fn word(list: &'static [Word], spelling: Spelling) -> Self {
        Self::new(AttrKind::Word { list, first: 0, spelling }, "")
    }

    const fn inside_ins(mut self) -> Self {
        self.inside_ins = true;
        self
    }

    const fn cpp(mut self, cpp: CppAttr) -> Self {
        self.cpp = cpp;
        self
    }

    const fn beside(mut self, role: Role) -> Self {
        self.beside = Some(role);
        self
    }

    const fn or(mut self, default: AttrValue) -> Self {
        self.default = Some(default);
        self
    }
}

macro_rules! attributes {
    ($($name:ident = $text:literal, $cpp:literal, $about:literal, $info:expr;)*) => {
        words! {
            /// An attribute of an instruction.
            #[non_exhaustive]
            AttrName { $($name = $text, $cpp, $about;)* }
        }
        impl AttrName {
            /// Its entry in the table.
            pub fn info(self) -> &'static AttrInfo {
                match self { $(AttrName::$name => { static INFO: AttrInfo = $info; &INFO })* }
            }
        }
    };
}

attributes! {
    AccToVecMode = "accToVecMode", "AccToVecMode", "Which vector core an Acc→Vec form writes (fixpipe.md 6).",
        AttrInfo::word(AccToVec::WORDS, Spelling::Dialect("acc_to_vec_mode"));
    ReluPreMode = "reluPreMode", "ReluPreMode", "ReLU on the way out of an accumulator (fixpipe.md 4).",
        AttrInfo::word(Relu::WORDS, Spelling::Of("relu_pre_mode")).or(AttrValue::Word(Relu::NoRelu as u8));
    Mode = "mode", "TInsertMode", "The NZ split forms of TINSERT (ops.md 4).",
        AttrInfo::word(Split::WORDS, Spelling::Quoted);
    Dim = "dim", "dim", "The axis TCONCAT joins.",
        AttrInfo::new(AttrKind::Int(None), "1 | 0, the axis that is joined (0 on cpu only)").or(AttrValue::Int(1));
    Kernel = "kernel", "kernel", "The kernel of TIMG2COL (ops.md 7).",
        AttrInfo::new(AttrKind::Ints(2), "[h, w], 1…511, required");
    Stride = "stride", "stride", "From one position of the kernel to the next.",
        AttrInfo::new(AttrKind::Ints(2), "[h, w], 1…255").or(AttrValue::Ints([1, 1, 0, 0]));
    Dilation = "dilation", "dilation", "From one element of the kernel to the next.",
        AttrInfo::new(AttrKind::Ints(2), "[h, w], 1…255").or(AttrValue::Ints([1, 1, 0, 0]));
    Pad = "pad", "pad", "Padding around the image.",
        AttrInfo::new(AttrKind::Ints(4), "[left, right, top, bottom], 0…255").or(AttrValue::Ints([0; 4]));
    PadValue = "pad_value", "padValue", "What TIMG2COL reads outside the image.",
        AttrInfo::new(AttrKind::Number, "a value of the element type").or(AttrValue::Int(0));
    Fmap = "fmap", "fmap", "The size of the image.", AttrInfo::new(AttrKind::Ints(2), "[h, w], the size of the image");
    Shape = "shape", "newShape", "The new shape of TRESHAPE.",
        AttrInfo::new(AttrKind::Ints(2), "[rows, cols], equal to the destination's declared shape");
    SaturateInf = "saturate_inf", "saturateInf", "Whether quantization to f16 or bf16 saturates infinities, too, and NaN becomes 0 (cpp.md 8).",
        AttrInfo::new(AttrKind::Bool, "false | true").or(AttrValue::Bool(false)).cpp(CppAttr::Implied);
    CmpMode = "cmpMode", "CmpMode", "How elements are compared (isa/elementwise.md 4).",
        AttrInfo::word(Cmp::WORDS, Spelling::Of("cmp")).or(AttrValue::Word(Cmp::Eq as u8)).inside_ins();
    PrecisionMode = "precision_mode", "PrecisionMode", "Kept; both modes give the same bits (isa/elementwise.md 3).",
        AttrInfo::word(Precision::WORDS, Spelling::Of("precision_mode")).or(AttrValue::Word(Precision::Default as u8)).cpp(CppAttr::Algorithm);
    Rmode = "rmode", "RoundMode", "How TCVT rounds (isa/elementwise.md 5).",
        AttrInfo::word(Rounding::WORDS, Spelling::Of("round_mode")).or(AttrValue::Word(Rounding::CastRint as u8)).inside_ins().cpp(CppAttr::Optional);
    SatMode = "sat_mode", "SaturationMode", "What TCVT does beyond the ends of a type (isa/elementwise.md 5).",
        AttrInfo::word(Saturation::WRITTEN, Spelling::Of("saturation_mode")).inside_ins().cpp(CppAttr::Optional);
    IsBinary = "isBinary", "isBinary", "The order in which hardware adds; the result is the same (isa/reduce.md 4).",
        AttrInfo::new(AttrKind::Bool, "false | true").or(AttrValue::Bool(false)).inside_ins().beside(Role::Tmp);
    Src1Col = "src1Col", "Src1Col", "Only column 0 of the broadcast operand counts (isa/reduce.md 6).",
        AttrInfo::new(AttrKind::Int(Some("i64")), "1, or the broadcast operand's valid columns").cpp(CppAttr::Optional);
    Src0EqDst = "src0eqdst", "src0eqdst", "A hint, kept and without effect (isa/reduce.md 6).",
        AttrInfo::new(AttrKind::Bool, "true | false").cpp(CppAttr::Hint);
    HighPrecision = "highPrecision", "highPrecision", "Kept; division is always exact (isa/reduce.md 5).",
        AttrInfo::new(AttrKind::Bool, "false | true").or(AttrValue::Bool(false)).cpp(CppAttr::Hint);
    Descending = "descending", "descending", "Whether TCI counts downward (isa/irregular.md 3).",
        AttrInfo::new(AttrKind::Bool, "false | true").or(AttrValue::Bool(false)).inside_ins().cpp(CppAttr::Behind);
    UpperOrLower = "upperOrLower", "upperOrLower", "Which triangle has the ones (isa/irregular.md 3).",
        AttrInfo::new(AttrKind::Int(Some("i32")), "0 (lower) | 1 (upper)").or(AttrValue::Int(0)).inside_ins().cpp(CppAttr::Behind);
    Rounds = "rounds", "rounds", "Rounds of the generator (isa/irregular.md 5).",
        AttrInfo::new(AttrKind::Int(Some("i32")), "10 | 7").or(AttrValue::Int(10)).inside_ins().cpp(CppAttr::Ahead);
    IsMsb = "isMSB", "isMSB", "Whether the highest byte is counted, or the lowest (isa/irregular.md 3).",
        AttrInfo::new(AttrKind::Bool, "true | false").or(AttrValue::Bool(true)).cpp(CppAttr::Implied);
    Byte = "byte", "HistByte", "Which byte is counted, 0 being the lowest (isa/irregular.md 3).",
        AttrInfo::new(AttrKind::Int(Some("i32")), "0 | 1 | 2 | 3").cpp(CppAttr::Ahead);
    Offset = "offset", "offset", "What is added to the indices of matches (isa/irregular.md 4).",
        AttrInfo::new(AttrKind::Int(Some("i32")), "an integer").or(AttrValue::Int(0)).inside_ins();
    MaskPattern = "maskPattern", "MaskPattern", "Which columns are kept (isa/irregular.md 4).",
        AttrInfo { kind: AttrKind::Word { list: MaskPattern::WORDS, first: 1, spelling: Spelling::Dialect("mask_pattern") },
            ..AttrInfo::word(MaskPattern::WORDS, Spelling::Quoted).inside_ins().cpp(CppAttr::Behind) };
    Exhausted = "exhausted", "exhausted", "Whether merging stops when one list is used up (isa/irregular.md 6).",
        AttrInfo::new(AttrKind::Bool, "false | true").or(AttrValue::Bool(false)).inside_ins().cpp(CppAttr::Behind);
    QuantType = "quant_type", "QuantType", "How TQUANT quantizes (isa/irregular.md 8).",
        AttrInfo::word(QuantType::WORDS, Spelling::Of("quant_type")).cpp(CppAttr::Ahead);
    QuantScaleAlg = "quantScaleAlg", "QuantScaleAlg", "How the shared exponent is found (isa/today.md 6.4).",
        AttrInfo::word(QuantScaleAlg::WORDS, Spelling::Of("quant_scale_alg")).or(AttrValue::Word(QuantScaleAlg::Ocp as u8)).cpp(CppAttr::Behind);
    GrpAxis = "grpAxis", "grpAxis", "Whether groups lie along the columns or the rows (isa/today.md 6.4).",
        AttrInfo::word(GroupAxis::WORDS, Spelling::Of("mx_group_axis")).or(AttrValue::Word(GroupAxis::Axis1 as u8)).cpp(CppAttr::Ahead);
    Interleave = "interleave", "interleave", "Whether exponents of two rows of groups stand side by side (isa/today.md 6.4).",
        AttrInfo::new(AttrKind::Bool, "false | true").or(AttrValue::Bool(false)).cpp(CppAttr::Ahead);
    StoreMode = "storeMode", "VecStoreMode", "Whether the exponents are also stored for the matrix unit (isa/today.md 6.4).",
        AttrInfo::word(StoreMode::WORDS, Spelling::Of("vec_store_mode")).cpp(CppAttr::Ahead);
    StPhase = "stPhase", "STPhase", "Kept; it changes nothing (isa/memory.md 3).",
        AttrInfo::word(Phase::WORDS, Spelling::Of("st_phase")).or(AttrValue::Word(Phase::Unspecified as u8));
    AtomicType = "atomicType", "AtomicType", "Whether a store adds (isa/memory.md 3).",
        AttrInfo::word(AtomicType::WORDS, Spelling::Of("atomic_type")).or(AttrValue::Word(AtomicType::None as u8));
    PadMode = "pad_mode", "PadMode", "What TLOAD writes into the padding (isa/memory.md 4).",
        AttrInfo::word(PadMode::WORDS, Spelling::Dialect("pad_mode")).or(AttrValue::Word(PadMode::PadNull as u8));
    InitOutBuffer = "init_out_buffer", "initOutBuffer", "Adds nothing to PadValue (isa/memory.md 4).",
        AttrInfo::new(AttrKind::Bool, "false | true").or(AttrValue::Bool(false));
    GatherOob = "gatherOob", "GatherOOB", "What MGATHER does with an index beyond the table (isa/memory.md 5).",
        AttrInfo::word(GatherOob::WORDS, Spelling::Of("gather_oob")).or(AttrValue::Word(0));
    ScatterAtomicOp = "scatterAtomicOp", "ScatterAtomicOp", "How MSCATTER combines (isa/memory.md 5).",
        AttrInfo::word(ScatterAtomic::WORDS, Spelling::Of("scatter_atomic_op")).or(AttrValue::Word(0));
    ScatterOob = "scatterOob", "ScatterOOB", "What MSCATTER does with an index beyond the table (isa/memory.md 5).",
        AttrInfo::word(ScatterOob::WORDS, Spelling::Of("scatter_oob")).or(AttrValue::Word(0));
    ScatterConflict = "scatterConflict", "ScatterConflict", "Which of two elements with one index stays (isa/today.md 6.7).",
        AttrInfo::word(ScatterConflict::WORDS, Spelling::Of("scatter_conflict")).or(AttrValue::Word(0)).cpp(CppAttr::Hint);
    PrintFormat = "printFormat", "PrintFormat", "How floats are printed (isa/today.md 6.8).",
        AttrInfo::word(PrintFormat::WORDS, Spelling::Of("print_format")).or(AttrValue::Word(0)).cpp(CppAttr::Hint);
    PadOfDst = "padValue", "padValue", "The pad of the destination, once more (isa/today.md 6.3).",
        AttrInfo::word(PadWord::WORDS, Spelling::Dialect("pad_value")).cpp(CppAttr::Hint);
    Coalesce = "coalesce", "Coalesce", "Whether an index means a row or an element (isa/memory.md 5).",
        AttrInfo::word(Coalesce::WORDS, Spelling::Bare);
    AccPhase = "accPhase", "AccPhase", "Kept; it changes no result (isa/matrix.md 6).",
        AttrInfo::word(Phase::WORDS, Spelling::Of("acc_phase")).or(AttrValue::Word(Phase::Unspecified as u8)).cpp(CppAttr::Phase);
    Enable = "enable", "enable", "Whether f32 operands of products are rounded from here on (isa/matrix.md 5).",
        AttrInfo::new(AttrKind::Bool, "true | false").or(AttrValue::Bool(true));
    F32Mode = "mode", "RoundMode", "How f32 operands of products are rounded (isa/matrix.md 5).",
        AttrInfo::word(F32Rounding::WORDS, Spelling::Quoted).or(AttrValue::Word(F32Rounding::Round as u8));
    Layout = "layout", "layout", "The layout tag of a view.", AttrInfo::word(ViewTag::WORDS, Spelling::Dialect("layout"));
    Name = "name", "name", "The name of a reserved buffer (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Name, "a name in quotes");
    PeerFunc = "peer_func", "peerFunc", "The function that reserves the buffer (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Name, "@function");
    Size = "size", "size", "Bytes of a reserved buffer (isa/structure.md 5).", AttrInfo::new(AttrKind::Int(None), "bytes");
    Location = "location", "location", "The memory of a reserved buffer (isa/structure.md 5).",
        AttrInfo::word(Space::WORDS, Spelling::Dialect("address_space"));
    Auto = "auto", "auto", "Whether the address of a reserved buffer is found for it (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Bool, "true | false").or(AttrValue::Bool(true));
    Base = "base", "base", "The address of a reserved buffer (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Int(None), "a multiple of 32, with auto = false");
    DirMask = "dir_mask", "dirMask", "Which directions a pipe has (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Int(None), "1 (cube to vector) | 2 (vector to cube) | 3 (both)");
    SlotSize = "slot_size", "slotSize", "Bytes of a whole tile in a FIFO (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Int(None), "bytes, a multiple of 32");
    SlotNum = "slot_num", "slotNum", "Slots of each direction of a pipe (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Int(None), "1 or more");
    LocalSlotNum = "local_slot_num", "localSlotNum", "Popped tiles that the consumer's reserve holds (isa/today.md 7.1).",
        AttrInfo::new(AttrKind::Int(None), "1 or more");
    FlagBase = "flag_base", "flagBase", "Kept, without effect (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Int(None), "an integer");
    PipeId = "id", "pipeId", "Which pipe of its function it is (isa/today.md 7.1).",
        AttrInfo::new(AttrKind::Int(None), "an integer from 0").or(AttrValue::Int(0));
    NoSplit = "nosplit", "noSplit", "Whether tiles go through a pipe whole (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Bool, "true | false");
    AccPushEpilogue = "acc_push_epilogue", "accPushEpilogue", "What a push does to each element of an accumulator (isa/today.md 7.3).",
        AttrInfo::new(AttrKind::Name, "#pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>");
    PipeSplit = "split", "split", "How a tile is shared between the vector cores (isa/structure.md 5).",
        AttrInfo::new(AttrKind::Int(None), "0 (not) | 1 (rows) | 2 (columns) | 3 (odd rows) | 4 (odd columns)").or(AttrValue::Int(0));
    NotifyOp = "notifyOp", "NotifyOp", "What a notification does to the words of a signal (isa/comm.md 3).",
        AttrInfo::word(NotifyOp::WORDS, Spelling::Of("notify_op"));
    WaitCmp = "cmp", "WaitCmp", "How the words of a signal are compared (isa/comm.md 3).",
        AttrInfo::word(WaitCmp::WORDS, Spelling::Of("wait_cmp"));
    ReduceOp = "reduceOp", "ReduceOp", "How the members' views are combined (isa/comm.md 3).",
        AttrInfo::word(ReduceOp::WORDS, Spelling::Of("reduce_op"));
    Root = "root", "root", "The caller's place in the group (isa/comm.md 3).",
        AttrInfo::new(AttrKind::Int(Some("i32")), "an integer from 0, required");
    SyncId = "sync_id", "syncId", "Kept, without effect (isa/comm.md 1).",
        AttrInfo::new(AttrKind::Int(Some("i32")), "an integer");
    BlockBytes = "block_bytes", "blockBytes", "Kept, without effect (isa/comm.md 1).",
        AttrInfo::new(AttrKind::Int(Some("i64")), "bytes");
    CommBlockOffset = "comm_block_offset", "commBlockOffset", "Kept, without effect (isa/comm.md 1).",
        AttrInfo::new(AttrKind::Int(Some("i64")), "bytes");
    QueueNum = "queue_num", "queueNum", "Kept, without effect (isa/comm.md 1).",
        AttrInfo::new(AttrKind::Int(Some("i32")), "an integer");
    ChannelGroupIdx = "channel_group_idx", "channelGroupIdx", "Kept, without effect (isa/comm.md 1).",
        AttrInfo::new(AttrKind::Int(Some("i64")), "an integer");
    FftsMode = "ffts_mode", "fftsMode", "Who meets: all cores of a kind, both vector cores, or nobody (sync.md 5).",
        AttrInfo::new(AttrKind::Int(None), "0 | 1 | 2").or(AttrValue::Int(2));
}
