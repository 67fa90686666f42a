//! The instruction table. Each instruction is one declaration; parser, printer, verifier, simulator, `tessera explain`,
//! C++ emission and the C ABI read it and know nothing about an instruction besides.
//!
//! A row says which operands the instruction has in which form, which attributes, which rules, on which pipe it runs,
//! and by which **paths** data may flow: a path is one line of a legality table (profile, form, locations, layouts,
//! types). Rules `-profile`, `-loc`, `-layout` and `-dtype` are nothing but "no path matches any more".

mod attr;
mod names;
pub mod path;
mod support;
mod tconcat;
mod textract;
mod tfillpad;
mod timg2col;
mod tinsert;
mod tinterleave;
mod tmov;
mod tpack;
mod treshape;
mod ttrans;

pub use attr::{AttrInfo, AttrKind, AttrName, Spelling, Word};
pub use names::{OTHERS, other};
pub use path::{Lay, LayoutPair, Miss, Path, Types};

use crate::tile::words;
use std::fmt;

words! {
    /// What an operand is to its instruction.
    Role {
        /// The only source tile.
        Src = "src", "src";
        /// The first of two source tiles.
        Src0 = "src0", "src0";
        /// The second of two source tiles.
        Src1 = "src1", "src1";
        /// The only destination tile.
        Dst = "dst", "dst";
        /// The first of two destination tiles.
        Dst0 = "dst0", "dst0";
        /// The second of two destination tiles.
        Dst1 = "dst1", "dst1";
        /// A scratch tile.
        Tmp = "tmp", "tmp";
        /// A Scaling tile of quantization parameters.
        Fp = "fp", "fp";
        /// A scalar quantization parameter.
        Quant = "preQuantScalar", "preQuantScalar";
        /// A scalar fill value.
        Fill = "fill", "fp";
        /// Row index of the window.
        Row = "row", "indexRow";
        /// Column index of the window.
        Col = "col", "indexCol";
        /// Row index of the second window.
        Row1 = "row1", "indexRow1";
        /// Column index of the second window.
        Col1 = "col1", "indexCol1";
        /// Linear indices of elements.
        Idx = "idx", "idx";
        /// Byte counts of the first source's columns, per row.
        Idx0 = "idx0", "idx0";
        /// Byte counts of the second source's columns, per row.
        Idx1 = "idx1", "idx1";
        /// Byte counts of the joined columns, per row.
        DstIdx = "dstIdx", "dstIdx";
        /// First output position of TIMG2COL.
        PosM = "posM", "posM";
        /// First kernel position of TIMG2COL.
        PosK = "posK", "posK";
        /// A tile an instruction only names (alloc, assign, print).
        Tile = "tile", "tile";
        /// A byte address.
        Addr = "addr", "addr";
        /// A run-time valid extent, rows.
        ValidRow = "valid_row", "validRow";
        /// A run-time valid extent, columns.
        ValidCol = "valid_col", "validCol";
        /// A pointer, view or memref.
        Global = "global", "global";
        /// An element offset, index, extent or stride of global memory.
        Number = "number", "number";
        /// A scalar that is stored.
        Scalar = "scalar", "scalar";
        /// The old contents of an SSA result.
        Init = "init", "init";
    }
}

/// What kind of value an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tile.
    Tile,
    /// A conv tile.
    Conv,
    /// A scalar of type index or integer.
    Index,
    /// A scalar of 64 bits.
    Quant,
    /// A scalar of the element type.
    Fill,
}

impl Role {
    /// The kind of value that plays the role.
    pub fn kind(self) -> Kind {
        match self {
            Role::Quant => Kind::Quant,
            Role::Fill | Role::Scalar => Kind::Fill,
            Role::Row | Role::Col | Role::Row1 | Role::Col1 | Role::PosM | Role::PosK => Kind::Index,
            Role::Addr | Role::ValidRow | Role::ValidCol | Role::Number => Kind::Index,
            _ => Kind::Tile,
        }
    }

    /// What the instruction does with the operand.
    pub fn effect(self) -> Effect {
        match self {
            Role::Dst | Role::Dst0 | Role::Dst1 | Role::DstIdx => Effect::Write,
            Role::Tmp => Effect::Scratch,
            _ => Effect::Read,
        }
    }

    /// Is this a tile that the instruction writes?
    pub fn is_dst(self) -> bool {
        self.effect() == Effect::Write
    }
}

/// What an instruction does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads it.
    Read,
    /// Writes it; what the formula does not name keeps its bits.
    Write,
    /// Leaves it undefined.
    Scratch,
}

words! {
    /// How an instruction is used: which variant of its formula.
    Form {
        /// As is.
        Plain = "plain", "";
        /// With a scalar quantization parameter.
        ScalarQuant = "scalar quant", "";
        /// With a Scaling tile of parameters.
        VectorQuant = "vector quant", "";
        /// With a fill value for the padding (ops.md 3.4), or a fill value as the only source (ops.md 6).
        Fill = "fill", "";
        /// With a scratch tile.
        Tmp = "tmp", "";
        /// With index tiles.
        Indexed = "indexed", "";
        /// With index tiles in and out.
        IndexedOut = "indexed, counts out", "";
        /// Two windows of one source.
        TwoWindows = "two windows", "";
        /// One source instead of two.
        OneSource = "one source", "";
        /// Row and column left out.
        NoIndex = "no index", "";
    }
}

/// One form: its operands in text order. What is written stands in `outs`.
#[derive(Debug)]
pub struct FormInfo {
    /// Which form.
    pub form: Form,
    /// Operands that are read, in text order.
    pub ins: &'static [Role],
    /// Operands that are written, in text order.
    pub outs: &'static [Role],
}

words! {
    /// The pipes of a core.
    Pipe {
        /// Scalar.
        S = "S", "PIPE_S";
        /// Vector.
        V = "V", "PIPE_V";
        /// Matrix.
        M = "M", "PIPE_M";
        /// L1 to L0.
        Mte1 = "MTE1", "PIPE_MTE1";
        /// Global memory to on-chip memory.
        Mte2 = "MTE2", "PIPE_MTE2";
        /// UB to global memory or L1.
        Mte3 = "MTE3", "PIPE_MTE3";
        /// Out of the accumulator.
        Fix = "FIX", "PIPE_FIX";
    }
}

macro_rules! opcodes {
    ($($(#[$doc:meta])* $op:ident => $info:path;)*) => {
        /// An instruction of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Opcode { $($(#[$doc])* $op,)* }
        impl Opcode {
            /// All instructions, in table order.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$op,)*];
            /// The row of the table.
            pub fn info(self) -> &'static OpInfo { match self { $(Opcode::$op => &$info,)* } }
        }
    };
}

opcodes! {
    /// Move.
    Tmov => tmov::TMOV;
    /// Move with fill value or quantization tile.
    TmovFp => tmov::TMOV_FP;
    /// Reinterpret bytes.
    Treshape => treshape::TRESHAPE;
    /// Transpose.
    Ttrans => ttrans::TTRANS;
    /// Join.
    Tconcat => tconcat::TCONCAT;
    /// Narrow.
    Tpack => tpack::TPACK;
    /// Take a window out.
    Textract => textract::TEXTRACT;
    /// Take a window out, with fill value or quantization tile.
    TextractFp => textract::TEXTRACT_FP;
    /// Put a window in.
    Tinsert => tinsert::TINSERT;
    /// Put a window in, with fill value or quantization tile.
    TinsertFp => tinsert::TINSERT_FP;
    /// Fill the padding.
    Tfillpad => tfillpad::TFILLPAD;
    /// Fill the padding of the source itself.
    TfillpadInplace => tfillpad::TFILLPAD_INPLACE;
    /// Fill the padding of a larger tile.
    TfillpadExpand => tfillpad::TFILLPAD_EXPAND;
    /// Image to columns.
    Timg2col => timg2col::TIMG2COL;
    /// Interleave.
    Tinterleave => tinterleave::TINTERLEAVE;
    /// Deinterleave.
    Tdeinterleave => tinterleave::TDEINTERLEAVE;
    /// A view of a window.
    Tsubview => support::TSUBVIEW;
    /// A view of a window, result form.
    Subset => support::SUBSET;
    /// TRESHAPE to another element type.
    Bitcast => support::BITCAST;
    /// Global memory to tile.
    Tload => support::TLOAD;
    /// Tile to global memory.
    Tstore => support::TSTORE;
    /// A new tile.
    AllocTile => support::ALLOC_TILE;
    /// Bind a tile to an address.
    Tassign => support::TASSIGN;
    /// Set a dynamic valid region.
    SetValidshape => support::SET_VALIDSHAPE;
    /// A strided view of global memory.
    MakeTensorView => support::MAKE_TENSOR_VIEW;
    /// A window of a view.
    PartitionView => support::PARTITION_VIEW;
    /// Move a pointer.
    Addptr => support::ADDPTR;
    /// Read one element of global memory.
    LoadScalar => support::LOAD_SCALAR;
    /// Write one element of global memory.
    StoreScalar => support::STORE_SCALAR;
    /// Configuration of TIMG2COL.
    Setfmatrix => support::SETFMATRIX;
    /// Configuration of TIMG2COL: pad value.
    SetImg2colPadding => support::SET_IMG2COL_PADDING;
    /// Configuration of TIMG2COL: repetition, without effect here.
    SetImg2colRpt => support::SET_IMG2COL_RPT;
    /// Order between pipes.
    SetFlag => support::SET_FLAG;
    /// Order between pipes.
    WaitFlag => support::WAIT_FLAG;
    /// Order between pipes.
    RecordEvent => support::RECORD_EVENT;
    /// Order between pipes.
    WaitEvent => support::WAIT_EVENT;
    /// Order between pipes.
    Barrier => support::BARRIER;
    /// Order between pipes.
    Tsync => support::TSYNC;
    /// The number of the running block.
    GetBlockIdx => support::GET_BLOCK_IDX;
    /// How many blocks run.
    GetBlockNum => support::GET_BLOCK_NUM;
    /// Print a tile.
    Tprint => support::TPRINT;
}

/// The row of an instruction.
#[derive(Debug)]
pub struct OpInfo {
    /// The mnemonic of the assembly form; SSA and DPS add `pto.`.
    pub mnemonic: &'static str,
    /// Other accepted spellings.
    pub aliases: &'static [&'static str],
    /// C++ intrinsics, the one that emission uses first; empty where C++ has none.
    pub cpp: &'static [&'static str],
    /// One line on what it does.
    pub summary: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// Forms with their operands; empty for instructions with a text shape of their own (syntax.md 4).
    pub forms: &'static [FormInfo],
    /// Attributes.
    pub attrs: &'static [AttrName],
    /// The rules that can refuse it, in the order in which they are checked.
    pub rules: &'static [&'static str],
    /// The legality table; empty where legality is not about paths.
    pub paths: &'static [Path],
    /// The pipe, where no path names one.
    pub pipe: Pipe,
    /// Where it is described.
    pub source: &'static str,
    /// Is it one of the layout instructions (ops.md 2 to 8)?
    pub layout: bool,
}

impl Opcode {
    /// The mnemonic, `tinsert_fp`.
    pub fn mnemonic(self) -> &'static str {
        self.info().mnemonic
    }

    /// The instruction of a mnemonic or alias, without `pto.`.
    pub fn parse(word: &str) -> Option<Opcode> {
        // On the parser's hot path: most words of a program are among the first rows, and no row is far.
        Opcode::ALL.iter().copied().find(|op| {
            let info = op.info();
            info.mnemonic == word || info.aliases.contains(&word)
        })
    }

    /// The instruction's name as the seeds write it, `TINSERT_FP`.
    pub fn title(self) -> String {
        self.mnemonic().to_ascii_uppercase()
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mnemonic())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_are_unique_and_found() {
        for op in Opcode::ALL {
            assert_eq!(Opcode::parse(op.mnemonic()), Some(*op));
            assert!(other(op.mnemonic()).is_none() || *op == Opcode::Tprint, "{op} is listed twice");
        }
        assert_eq!(Opcode::parse("tmov.fp"), Some(Opcode::TmovFp));
    }

    #[test]
    fn every_rule_of_a_row_is_a_rule() {
        for op in Opcode::ALL {
            for id in op.info().rules {
                assert!(crate::rules::rule(id).is_some(), "{op} names the unknown rule {id}");
            }
        }
    }

    #[test]
    fn layout_instructions_are_complete() {
        let layout: Vec<_> = Opcode::ALL.iter().filter(|op| op.info().layout).collect();
        assert_eq!(layout.len(), 16);
        for op in layout {
            let info = op.info();
            assert!(!info.summary.is_empty() && !info.formula.is_empty() && !info.rules.is_empty(), "{op}");
            assert!(!info.forms.is_empty() && !info.cpp.is_empty(), "{op}");
        }
    }
}
