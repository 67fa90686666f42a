//! The types of the C ABI. `include/tessera.h` is generated from this file and `calls.rs`.
//!
//! Structures hold tags as plain integers, because a C caller may put anything there; the enums of the header give the
//! tags names. A tag of an instruction, a role, an element type and so on is a position in the table of `tessera-isa`; those
//! enums are generated into the header. Those below have no table.

use std::ffi::{c_char, c_void};

/// The version of this ABI: it changes when a structure, a tag or a function's meaning does.
pub const TESSERA_ABI_VERSION: u32 = 7;

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
    /// The element whose bits are the low ones of `pad_bits`.
    Custom = 4,
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
    /// At the address `storage` of the host: in one of the machine's memories, or in memory of the caller's own.
    Pointer = 3,
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
    /// The bits of a custom pad value: as many of the low bytes as an element has.
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
    /// A byte address, a handle or a pointer, as `storage_kind` says.
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
    /// A byte address, a handle or a pointer, as `storage_kind` says.
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

/// One digit of a row's or a column's number: so many values, so many elements apart.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraDigit {
    /// How many values the digit has; 0 is no digit.
    pub extent: u64,
    /// Elements between two of them.
    pub stride: i64,
}

/// An array as rows and columns, whatever dimensions it has: the number of a row, and that of a column, is split into digits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraMatrix {
    /// A `TesseraLoc`; of an array in memory of the caller's own any one.
    pub loc: u32,
    /// A `TesseraElem`.
    pub elem: u32,
    /// The digits of rows, outermost first.
    pub row: [TesseraDigit; 5],
    /// The digits of columns, outermost first.
    pub col: [TesseraDigit; 5],
    /// Where the first element is: an address of the host.
    pub data: *mut c_void,
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
    /// One more than the `TesseraElem` that is its type; 0 for a number without one.
    pub elem: u32,
    /// Zero.
    pub reserved: u32,
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
    /// A `TesseraForm`, where the operands alone do not tell it (TDIVS with the scalar first); 0 otherwise.
    pub form: u32,
    /// How many words.
    pub word_count: u32,
    /// The tile operands, destinations included, in any order; at most 8.
    pub tiles: *const TesseraTileArg,
    /// The scalar operands, in any order; at most 8. May be null if there are none.
    pub scalars: *const TesseraScalar,
    /// The attributes, in any order; at most 8. May be null if there are none.
    pub attrs: *const TesseraAttr,
    /// The source of TIMG2COL; null otherwise.
    pub conv: *const TesseraConv,
    /// Words of the caller's choice, at most 96, that tell the instruction from all others, but for the address of its view:
    /// `tessera_reissue` issues it again by them. May be null if there are none.
    pub words: *const u64,
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

/// One direction of a pipe between the cores of a block (TPUSH, TPOP, TFREE), as a judge of order sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraFifo {
    /// A number that tells it from all others: the address of its state.
    pub key: u64,
    /// Whether it goes from the cube core to the vector cores.
    pub to_vector: u32,
    /// 0 whole tiles, 1 rows halved, 2 columns halved.
    pub split: u32,
    /// Whether both vector cores have a part in every slot.
    pub both: u32,
    /// How many slots it has.
    pub slots: u32,
    /// Bytes of a slot.
    pub slot_size: u64,
    /// The address of the first slot in the consumer's memory.
    pub base: u64,
    /// The first slot in global memory; null where slots lie in the consumer's memory.
    pub global: *const c_void,
}

/// A finding about the order of calls. The strings end in NUL, are never null, and live as long as the process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TesseraRace {
    /// The finding, as `tessera_diagnostic` gives one.
    pub found: TesseraDiagnostic,
    /// The intrinsic that it is about; empty where there is none.
    pub name: *const c_char,
    /// The file of the call.
    pub file: *const c_char,
    /// The line of the call; 0 where it is not known.
    pub line: u32,
    /// Zero.
    pub reserved: u32,
    /// The finding as an object of JSON, on one line.
    pub json: *const c_char,
}
