//! The types of the C ABI. `include/tessera.h` is generated from this file and `calls.rs`.
//!
//! Structures hold tags as plain integers, because a C caller may put anything there; the enums give the tags names.
//! Their values follow the order of the tables of `tessera-isa`, which a test compares.

use std::ffi::{c_char, c_void};

/// The version of this ABI: it changes when a structure, a tag or a function's meaning does.
pub const TESSERA_ABI_VERSION: u32 = 2;

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraStatus {
    /// It did what it says; warnings may be there.
    Ok = 0,
    /// A rule is broken, nothing was changed; the diagnostics say which.
    Rule = 1,
    /// A pointer that must not be null is.
    Null = 2,
    /// A tag, size, count or handle is not one that the call knows; the diagnostics say which.
    Argument = 3,
    /// A defect of the library; the machine is not to be used any more.
    Internal = 4,
}

/// Target profiles.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraProfile {
    /// The CPU simulator.
    Cpu = 0,
    /// Ascend A2 and A3.
    A2a3 = 1,
    /// Ascend A5.
    A5 = 2,
}

/// Locations of tiles.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraLoc {
    /// UB.
    Vec = 0,
    /// L1.
    Mat = 1,
    /// L0A.
    Left = 2,
    /// L0B.
    Right = 3,
    /// L0C.
    Acc = 4,
    /// The bias table.
    Bias = 5,
    /// The fixpipe buffer.
    Scaling = 6,
    /// The L0A scale area.
    ScaleLeft = 7,
    /// The L0B scale area.
    ScaleRight = 8,
}

/// Outer orders of a layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraBLayout {
    /// Rows of boxes lie one after the other.
    RowMajor = 0,
    /// Columns of boxes lie one after the other.
    ColMajor = 1,
}

/// Inner orders of a layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraSLayout {
    /// No boxes.
    NoneBox = 0,
    /// Rows of a box lie one after the other.
    RowMajor = 1,
    /// Columns of a box lie one after the other.
    ColMajor = 2,
}

/// Pad values.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraPad {
    /// No padding asked for.
    Null = 0,
    /// Zero.
    Zero = 1,
    /// The largest value.
    Max = 2,
    /// The smallest value.
    Min = 3,
    /// The value whose binary32 bits are in `pad_bits`, rounded to the element type.
    Custom = 4,
}

/// Compact modes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraCompact {
    /// None.
    Null = 0,
    /// Carried only.
    Normal = 1,
    /// NZ with one extra row.
    RowPlusOne = 2,
    /// Carried only.
    RowAlignedPadding = 3,
}

/// Layout tags of views.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraViewLayout {
    /// Row-major.
    Nd = 0,
    /// Column-major.
    Dn = 1,
    /// Boxed, five dimensions.
    Nz = 2,
}

/// Where a tile's bytes are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraStorage {
    /// Nowhere: the tile is only a type. TFILLPAD_INPLACE and views take such destinations.
    None = 0,
    /// At the byte address `storage` of the location's memory.
    Address = 1,
    /// In the automatic storage with the handle `storage`.
    Automatic = 2,
}

/// ReLU on the way out of an accumulator.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraRelu {
    /// None.
    NoRelu = 0,
    /// `v > 0 ? v : +0`.
    NormalRelu = 1,
}

/// Which vector core an Acc→Vec form writes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraAccToVec {
    /// Core 0.
    SingleModeVec0 = 0,
    /// Core 1.
    SingleModeVec1 = 1,
    /// Rows halved between both.
    DualModeSplitM = 2,
    /// Columns halved between both.
    DualModeSplitN = 3,
}

/// The NZ split forms of TINSERT.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraSplit {
    /// Two groups of column blocks.
    Split2 = 0,
    /// Four groups of column blocks.
    Split4 = 1,
}

/// The attributes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraAttrName {
    /// Which vector core an Acc→Vec form writes: a `TesseraAccToVec`.
    AccToVecMode = 0,
    /// ReLU on the way out of an accumulator: a `TesseraRelu`.
    ReluPreMode = 1,
    /// The NZ split forms of TINSERT: a `TesseraSplit`.
    Mode = 2,
    /// The axis that TCONCAT joins.
    Dim = 3,
    /// Kernel height and width.
    Kernel = 4,
    /// Stride, vertical and horizontal.
    Stride = 5,
    /// Dilation, vertical and horizontal.
    Dilation = 6,
    /// Padding: left, right, top, bottom.
    Pad = 7,
    /// What TIMG2COL reads outside the image: any number.
    PadValue = 8,
    /// Height and width of the image.
    Fmap = 9,
    /// Rows and columns that TRESHAPE's destination must have.
    Shape = 10,
    /// The layout of a view: a `TesseraViewLayout`.
    Layout = 11,
}

/// What a scalar is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraNumber {
    /// `bits` is an int64_t.
    Int = 0,
    /// `bits` is a uint64_t.
    Uint = 1,
    /// `bits` are the bits of a double.
    Float = 2,
}

/// Severities of diagnostics.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesseraSeverity {
    /// Worth knowing.
    Note = 0,
    /// Legal, and probably not meant.
    Warning = 1,
    /// Refused.
    Error = 2,
}

/// Element types.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of tile-model.md 3")]
pub enum TesseraElem {
    F32 = 0,
    F16 = 1,
    Bf16 = 2,
    I8 = 3,
    I16 = 4,
    I32 = 5,
    I64 = 6,
    U8 = 7,
    U16 = 8,
    U32 = 9,
    U64 = 10,
    F8e4m3 = 11,
    F8e5m2 = 12,
    F8e8m0 = 13,
    Hif8 = 14,
    F4e2m1x2 = 15,
    F4e1m2x2 = 16,
}

/// Instructions that `tessera_issue` takes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of ops.md")]
pub enum TesseraOp {
    Tmov = 0,
    TmovFp = 1,
    Treshape = 2,
    Ttrans = 3,
    Tconcat = 4,
    Tpack = 5,
    Textract = 6,
    TextractFp = 7,
    Tinsert = 8,
    TinsertFp = 9,
    Tfillpad = 10,
    TfillpadInplace = 11,
    TfillpadExpand = 12,
    Timg2col = 13,
    Tinterleave = 14,
    Tdeinterleave = 15,
    Tsubview = 16,
    Setfmatrix = 17,
    SetImg2colPadding = 18,
    SetImg2colRpt = 19,
}

/// What an operand is to its instruction.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of ops.md and syntax.md 2")]
pub enum TesseraRole {
    Src = 0,
    Src0 = 1,
    Src1 = 2,
    Dst = 3,
    Dst0 = 4,
    Dst1 = 5,
    Tmp = 6,
    Fp = 7,
    Quant = 8,
    Fill = 9,
    Row = 10,
    Col = 11,
    Row1 = 12,
    Col1 = 13,
    Idx0 = 14,
    Idx1 = 15,
    DstIdx = 16,
    PosM = 17,
    PosK = 18,
}

/// A tile: its type, its valid region and where its bytes are.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraTile {
    /// A `TesseraLoc`.
    pub loc: u32,
    /// A `TesseraElem`.
    pub elem: u32,
    /// Declared rows.
    pub rows: u64,
    /// Declared columns.
    pub cols: u64,
    /// A `TesseraBLayout`.
    pub blayout: u32,
    /// A `TesseraSLayout`.
    pub slayout: u32,
    /// 512, 1024 or 32.
    pub fractal: u32,
    /// A `TesseraCompact`.
    pub compact: u32,
    /// A `TesseraPad`.
    pub pad: u32,
    /// The binary32 bits of a custom pad value.
    pub pad_bits: u32,
    /// Valid rows as the type has them; -1 is dynamic.
    pub type_valid_row: i64,
    /// Valid columns as the type has them; -1 is dynamic.
    pub type_valid_col: i64,
    /// Valid rows now; -1 is not set yet.
    pub valid_row: i64,
    /// Valid columns now; -1 is not set yet.
    pub valid_col: i64,
    /// A `TesseraStorage`.
    pub storage_kind: u32,
    /// Zero.
    pub reserved: u32,
    /// A byte address or a handle, as `storage_kind` says.
    pub storage: u64,
    /// Bytes from there to the first element; views of windows have one.
    pub offset: u64,
    /// Elements between two rows (row_major) or columns (col_major) of a view; 0 is the tile's own.
    pub pitch: u64,
}

/// A conv tile: a dense array in L1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraConv {
    /// A `TesseraLoc`.
    pub loc: u32,
    /// A `TesseraElem`.
    pub elem: u32,
    /// 1 for NDC1HWC0, 0 for NC1HWC0.
    pub has_depth: u32,
    /// A `TesseraStorage`.
    pub storage_kind: u32,
    /// N, D, C1, H, W, C0; D is 1 without depth.
    pub dims: [u64; 6],
    /// A byte address or a handle, as `storage_kind` says.
    pub storage: u64,
}

/// A view of the caller's memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraView {
    /// The element at index 0 of every dimension.
    pub data: *mut c_void,
    /// A `TesseraElem`.
    pub elem: u32,
    /// A `TesseraViewLayout`.
    pub layout: u32,
    /// How many dimensions, 1 to 5; 0 is a pointer to a dense array, which conv tiles are loaded from.
    pub dims: u32,
    /// Zero.
    pub reserved: u32,
    /// Extents in elements, outermost first.
    pub shape: [i64; 5],
    /// Strides in elements.
    pub stride: [i64; 5],
    /// Elements of the buffer from `data` on; -1 where unknown: then the view itself is believed.
    pub extent: i64,
}

/// A tile operand.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraTileArg {
    /// A `TesseraRole`.
    pub role: u32,
    /// Zero.
    pub reserved: u32,
    /// The tile.
    pub tile: TesseraTile,
}

/// A scalar operand.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraScalar {
    /// A `TesseraRole`.
    pub role: u32,
    /// A `TesseraNumber`.
    pub kind: u32,
    /// The value, read as `kind` says.
    pub bits: u64,
}

/// An attribute.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraAttr {
    /// A `TesseraAttrName`.
    pub name: u32,
    /// A `TesseraNumber` where the attribute is any number; zero otherwise.
    pub kind: u32,
    /// The tag of a word, a number's bits, or as many integers as the attribute has; the others are zero.
    pub values: [i64; 4],
}

/// One instruction. Its form follows from the operands that are there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraInst {
    /// A `TesseraOp`.
    pub op: u32,
    /// How many tiles.
    pub tile_count: u32,
    /// How many scalars.
    pub scalar_count: u32,
    /// How many attributes.
    pub attr_count: u32,
    /// The tile operands, destinations included, in any order; at most 8.
    pub tiles: *const TesseraTileArg,
    /// The scalar operands, in any order; at most 8. May be null if there are none.
    pub scalars: *const TesseraScalar,
    /// The attributes, in any order; at most 8. May be null if there are none.
    pub attrs: *const TesseraAttr,
    /// The source of TIMG2COL; null otherwise.
    pub conv: *const TesseraConv,
}

/// One finding about the last call. The strings end in NUL, are never null, and live until the next call on the machine.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraDiagnostic {
    /// The id of the broken rule.
    pub rule: *const c_char,
    /// One sentence with the actual values.
    pub message: *const c_char,
    /// Severity, rule, message, notes and help, on one line each.
    pub text: *const c_char,
    /// A `TesseraSeverity`.
    pub severity: u32,
    /// Zero.
    pub reserved: u32,
}

/// The instructions behind [`TesseraOp`], in its order.
pub fn ops() -> &'static [tessera_isa::ops::Opcode] {
    crate::convert::OPS
}

/// The roles behind [`TesseraRole`], in its order.
pub fn roles() -> &'static [tessera_isa::ops::Role] {
    crate::convert::ROLES
}
