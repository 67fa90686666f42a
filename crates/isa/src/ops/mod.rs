//! The instruction table. Each instruction is one row; parser, printer, verifier, planner, simulator, `tessera explain`,
//! intrinsics, C++ emission and the C ABI read it and know nothing about an instruction besides.
//!
//! A row says which operands the instruction has and what it does with each, which attributes, which **signatures** take
//! them ([`sig`]: profiles, locations, layouts and types by role), which further questions the verifier asks
//! ([`RuleKind`]), how text writes it, on which pipe it runs, and **what it means** ([`crate::sem`]). Rules `-profile`,
//! `-loc`, `-layout` and `-dtype` are nothing but "no signature is left": what the table does not allow is refused.

mod attr;
mod comm;
pub mod cost;
mod cpp_only;
mod elementwise;
mod irregular;
mod matrix;
mod memory;
mod mx;
mod names;
mod operand;
mod order;
mod partial;
mod phases;
mod pipes;
mod reduce;
mod rule;
mod scalar;
mod scratch;
pub mod sig;
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
mod vector;

pub use attr::{AttrInfo, AttrKind, AttrName, CppAttr, Spelling, Word};
pub use comm::{CommPart, CommText};
pub use names::{DECLARED, UNKNOWN_OP, other, others, why_not};
use operand::*;
pub use operand::{Covers, Effect, Form, FormInfo, Kind, Operand, Role, Shape};
pub use order::{IdArray, Order, Ordered};
pub use phases::{Phase, Phases, phase_rows};
use rule::rules;
pub use rule::{Given, Ids, RuleKind, RuleUse, TmpAsk, TmpElem, TmpExtent};
pub use scratch::wraps_through_scratch;
pub use sig::{Judged, Lay, Layouts, Miss, Sig, TypeOf, Types};
pub use tfillpad::fill_of;

use crate::profile::{Profile, Profiles};
use crate::sem::{self, Sem};
use crate::tile::{LayoutName, Loc, words};
use sig::*;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// The one form of most instructions.
const PLAIN: &[Form] = &[Form::Plain];

/// The usual ids of a missing signature.
macro_rules! ids {
    ($mnemonic:literal) => {
        Ids::new(concat!($mnemonic, "-loc"), concat!($mnemonic, "-layout"), concat!($mnemonic, "-dtype"))
    };
}
use ids;

/// How text writes an instruction (syntax.md 2 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    Forms,
    /// `alloc_tile addr = … valid_row = … : type`.
    Alloc,
    /// `tassign tile, addr`.
    Assign,
    /// `set_validshape tile, rows, cols`.
    SetValid,
    /// `subview src[row, col] sizes […] valid […]`.
    Subset,
    /// `multi_tile_get tiles[k] : T -> T`.
    Slot,
    /// `make_tensor_view ptr, shape = […], strides = […]`.
    MakeView,
    /// `partition_view view, offsets = […], sizes = […]`.
    Partition,
    /// `addptr ptr, n`.
    AddPtr,
    /// `tile_buf_addr x : T -> T`: one operand of one of these roles, one result.
    Address(&'static [Role]),
    /// `get_tensor_view_dim view, n : T -> index`.
    Dim,
    /// `get_validshape tile : T`: a result for each of these axes.
    Extents(&'static [usize]),
    /// `print ins("format", values : types)`.
    Print,
    /// `load_scalar ptr[n]`.
    LoadScalar,
    /// `store_scalar v, ptr[n]`.
    StoreScalar,
    Value,
    /// `initialize_pipe {…}(word = %v : T, …) -> T`: attributes and operands in parentheses.
    Pipe(PipeText),
    /// No operands, one number as a result.
    Number,
    Attributes,
    Ignored,
    /// Whatever stands there, kept as written.
    AsWritten,
    /// `syncall(view, n : T, T) mode = …, core_type = …`.
    Meet,
    /// `comm.tput(dst, src, buf(ping) : T, T, T) {…}`: an operation between ranks.
    Comm(CommText),
    /// Words and at most one operand, for those who look on: `cmo.cacheinvalid %v single_cache_line : T`.
    Hint(&'static [&'static str]),
}

/// How an instruction of the FIFOs is written (isa/structure.md 5): what stands in its parentheses, if any does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeText {
    /// Do the attributes stand before the operands?
    pub attrs_first: bool,
    /// Has each operand its word before it?
    pub worded: bool,
    /// The operands, each with its word and with whether it may be left out.
    pub operands: &'static [(Role, &'static str, bool)],
    pub has_result: bool,
}

/// How an instruction binds a tile to storage, besides or instead of moving bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// The tile gets storage of its own.
    New,
    /// The tile goes to an address.
    Address,
    /// dst is a window of src and keeps its pitch (ops.md 10).
    Window,
    /// dst lies where src lies, on a2a3 and a5; cpu copies (ops.md 4).
    Bytes,
    /// dst lies where src lies, on every profile (isa/structure.md 7).
    Storage,
    /// dst lies where src lies, unless it has an address of its own (ops.md 6).
    InPlace,
    /// dst is a slot of src, which is several tiles (isa/today.md 5.2).
    Slot,
    /// dst lies at a 16th of src's address, in the memory of scales (isa/matrix.md 3).
    Scale,
}

impl Bind {
    /// Whether the instruction touches no byte: it says only where its destination lies.
    pub fn only_names(self) -> bool {
        matches!(self, Bind::Window | Bind::Slot | Bind::Bytes | Bind::Storage | Bind::Scale)
    }

    /// Whether the destination lies in the bytes of the source.
    pub fn is_view(self) -> bool {
        matches!(self, Bind::Window | Bind::Slot | Bind::Bytes | Bind::Storage | Bind::InPlace)
    }

    /// Whether the source says where the destination lies.
    pub fn follows_src(self) -> bool {
        self.only_names() || self.is_view()
    }
}

words! {
    /// The pipes of a core.
    Pipe {
        S = "S", "PIPE_S", "Scalar.";
        V = "V", "PIPE_V", "Vector.";
        M = "M", "PIPE_M", "Matrix.";
        Mte1 = "MTE1", "PIPE_MTE1", "L1 to L0.";
        Mte2 = "MTE2", "PIPE_MTE2", "Global memory to on-chip memory.";
        Mte3 = "MTE3", "PIPE_MTE3", "UB to global memory or L1.";
        Fix = "FIX", "PIPE_FIX", "Out of the accumulator.";
    }
}

/// An instruction of the table.
///
/// A number, so that programs are small; the names are constants (`Opcode::Tmov`), one for each row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Opcode(u16);

/// Rows of one family, each with the name of its constant. A row stands here and nowhere else.
macro_rules! family {
    (after $before:expr; $($Name:ident => $row:expr;)*) => {
        #[allow(dead_code, clippy::enum_variant_names, reason = "counts the rows")]
        enum Place { $($Name,)* }
        impl super::Opcode {
            $(#[doc = concat!("The instruction `", stringify!($Name), "`: its row says what it does.")]
            #[allow(non_upper_case_globals, reason = "names of the ISA, used as patterns")]
            pub const $Name: super::Opcode = super::Opcode($before + Place::$Name as u16);)*
        }
        /// One past the last row.
        pub(super) const END: u16 = $before + ROWS.len() as u16;
        /// The rows, with the names of their constants.
        pub(super) const ROWS: &[(&str, &super::OpInfo)] = &[$((stringify!($Name), &$row),)*];
    };
}
use family;

/// What rows of the layout set share.
const LAYOUT: OpInfo = OpInfo {
    mnemonic: "",
    aliases: &[],
    cpp: &[],
    value: None,
    summary: "",
    formula: "",
    source: "",
    family: Family::Layout,
    text: Text::Forms,
    forms: &[],
    attrs: &[],
    sigs: &[],
    ids: Ids::NONE,
    rules: &[],
    pipe: Pipe::V,
    sem: Sem::Nothing,
    binds: None,
    expands: false,
    notes: &[],
    examples: &[],
    axis: None,
    axis_cpp: None,
};

/// The instructions of the layout set (ops.md).
mod layout {
    use super::{tconcat, textract, tfillpad, timg2col, tinsert, tinterleave, tmov, tpack, treshape, ttrans};

    super::family! { after 0;
        Tmov => tmov::TMOV;
        TmovFp => tmov::TMOV_FP;
        Treshape => treshape::TRESHAPE;
        Ttrans => ttrans::TTRANS;
        Tconcat => tconcat::TCONCAT;
        Tpack => tpack::TPACK;
        Textract => textract::TEXTRACT;
        TextractFp => textract::TEXTRACT_FP;
        Tinsert => tinsert::TINSERT;
        TinsertFp => tinsert::TINSERT_FP;
        Tfillpad => tfillpad::TFILLPAD;
        TfillpadInplace => tfillpad::TFILLPAD_INPLACE;
        TfillpadExpand => tfillpad::TFILLPAD_EXPAND;
        Timg2col => timg2col::TIMG2COL;
        Tinterleave => tinterleave::TINTERLEAVE;
        Tdeinterleave => tinterleave::TDEINTERLEAVE;
    }
}

const COUNT: usize = cpp_only::END as usize;

/// Every row with the name of its constant, in table order.
static TABLE: [(&str, &OpInfo); COUNT] = {
    let families = [
        layout::ROWS,
        support::ROWS,
        elementwise::ROWS,
        scalar::ROWS,
        reduce::ROWS,
        matrix::ROWS,
        irregular::ROWS,
        partial::ROWS,
        mx::ROWS,
        memory::ROWS,
        pipes::ROWS,
        comm::ROWS,
        cpp_only::ROWS,
    ];
    let mut table = [layout::ROWS[0]; COUNT];
    let (mut at, mut family) = (0, 0);
    while family < families.len() {
        let mut n = 0;
        while n < families[family].len() {
            table[at] = families[family][n];
            (at, n) = (at + 1, n + 1);
        }
        family += 1;
    }
    table
};

const fn first<const N: usize>() -> [Opcode; N] {
    let mut all = [Opcode(0); N];
    let mut n = 0;
    while n < N {
        all[n] = Opcode(n as u16);
        n += 1;
    }
    all
}

/// The value that C++ callers give as an intrinsic's first template argument (cpp.md 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CppValue {
    /// An enumerator of `XAlgorithm`: the default one, or the more precise one.
    Algorithm(&'static str),
    /// A flag that is on unless it is given, and without effect here.
    Flag(&'static str),
}

/// What an instruction belongs to: a page of the specification and a kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Moves and rearrangements (ops.md 2 to 8).
    Layout,
    /// What programs need around them (ops.md 10, syntax.md 4).
    Support,
    /// Elementwise, unary ones included (isa/elementwise.md).
    Elementwise,
    /// With a scalar for one of the tiles (isa/scalar.md).
    Scalar,
    Reduce,
    Matrix,
    Irregular,
    /// Between global memory and tiles (isa/memory.md).
    Memory,
}

/// The row of an instruction.
#[derive(Debug)]
pub struct OpInfo {
    /// The mnemonic of the assembly form; SSA and DPS add `pto.`.
    pub mnemonic: &'static str,
    pub aliases: &'static [&'static str],
    /// C++ intrinsics, the one that emission uses first; empty where C++ has none.
    pub cpp: &'static [&'static str],
    /// The value among the intrinsics' template arguments.
    pub value: Option<CppValue>,
    /// One line on what it does.
    pub summary: &'static str,
    pub formula: &'static str,
    pub source: &'static str,
    pub family: Family,
    pub text: Text,
    /// Forms with their operands; empty for instructions with a text shape of their own (syntax.md 4).
    pub forms: &'static [FormInfo],
    pub attrs: &'static [AttrName],
    /// The legality table; empty where the instruction takes no tiles.
    pub sigs: &'static [Sig],
    /// The ids under which a missing signature is reported.
    pub ids: Ids,
    /// The rules that can refuse it, in the order in which they are asked.
    pub rules: &'static [RuleUse],
    /// The pipe, where no signature names one.
    pub pipe: Pipe,
    pub sem: Sem,
    /// How it binds its destination to storage.
    pub binds: Option<Bind>,
    /// Does a dynamic valid region of its destination become the declared area?
    pub expands: bool,
    /// Edge cases that are not its function's ([`crate::sem::Func::notes`]), in words.
    pub notes: &'static [&'static str],
    /// Types of operands with which the instruction is legal, where they are not the usual ones.
    pub examples: &'static [(Role, &'static str)],
    /// How text writes an instruction that follows a pattern: its mnemonic, and the word behind the types
    /// (isa/today.md 6.6).
    pub axis: Option<(&'static str, &'static str)>,
    /// The axis as a template argument, and whether it stands with the pattern before the types or behind them (cpp.md
    /// 6.6).
    pub axis_cpp: Option<(CppAttr, &'static str)>,
}

impl OpInfo {
    /// The attributes that intrinsics of a form take.
    pub fn attrs_of(&self, form: &FormInfo) -> &'static [AttrName] {
        form.attrs.unwrap_or(self.attrs)
    }

    /// Is it judged flow by flow, from each source to each destination ([`sig`]), and not by the roles of all operands?
    pub const fn by_flows(&self) -> bool {
        match self.family {
            Family::Layout | Family::Support => true,
            Family::Memory => matches!(self.sem, Sem::Moves(_)),
            _ => false,
        }
    }
}

impl Opcode {
    /// All instructions that text has, in table order.
    pub const ALL: &'static [Opcode] = &first::<{ comm::END as usize }>();

    /// The same, and behind them those that only C++ has (cpp.md 6.1 and 6.6).
    pub const WITH_CPP: &'static [Opcode] = &first::<COUNT>();

    /// The row of the table.
    pub const fn info(self) -> &'static OpInfo {
        TABLE[self.index()].1
    }

    /// The position in [`Opcode::ALL`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The mnemonic, `tinsert_fp`.
    pub fn mnemonic(self) -> &'static str {
        self.info().mnemonic
    }

    /// The instruction of a mnemonic or alias, without `pto.`; `.` and `_` are one letter (isa/structure.md 2).
    pub fn parse(word: &str) -> Option<Opcode> {
        static NAMES: LazyLock<HashMap<String, Opcode>> = LazyLock::new(|| {
            let names = |op: &Opcode| [op.info().mnemonic].into_iter().chain(op.info().aliases.iter().copied());
            // The first row with a name has it.
            let all = Opcode::ALL.iter().rev().flat_map(|op| names(op).map(|name| (name.replace('.', "_"), *op)));
            all.collect()
        });
        match word.contains('.') {
            true => NAMES.get(&word.replace('.', "_")).copied(),
            false => NAMES.get(word).copied(),
        }
    }

    /// The mnemonic as programs are printed: products have dots in it (isa/structure.md 2).
    pub fn printed(self) -> &'static str {
        let info = self.info();
        if let Some((mnemonic, _)) = &info.axis {
            return mnemonic;
        }
        let dotted = info.aliases.iter().find(|alias| alias.contains('.') && matches!(info.family, Family::Matrix));
        dotted.unwrap_or(&info.mnemonic)
    }

    /// The instruction that follows a pattern along an axis, `tgather … "col"`.
    pub fn along(self, axis: &str) -> Option<Opcode> {
        let text = (self.mnemonic(), axis);
        Opcode::WITH_CPP.iter().copied().find(|op| op.info().axis == Some(text))
    }

    /// The instruction's name as the ISA writes it, `TINSERT_FP`.
    pub fn title(self) -> String {
        self.mnemonic().to_ascii_uppercase()
    }

    /// One of its forms.
    pub fn form(self, form: Form) -> Option<&'static FormInfo> {
        self.info().forms.iter().find(|f| f.form == form)
    }

    /// Its forms as they are written, with and without their optional operands.
    pub fn shapes(self) -> &'static [Shape] {
        SHAPES.get(self.index()).map_or(&[], |shapes| shapes)
    }

    /// Would the C++ arguments of a form be those of an earlier one, tile for tile? Then the call says that it has no
    /// scratch.
    pub fn looks_like_another(self, shape: &Shape) -> bool {
        let kinds = |s: &Shape| {
            let arguments = self.form(s.form).map(|form| s.arguments(form)).unwrap_or_default();
            arguments.into_iter().map(Role::kind).collect::<Vec<_>>()
        };
        self.shapes().iter().take_while(|s| !std::ptr::eq(*s, shape)).any(|s| kinds(s) == kinds(shape))
    }

    /// What a form does with the operand of a role; an operand that only the text's shape names is read,
    /// and a tile through which ranks communicate is scratch.
    pub fn effect(self, form: Form, role: Role) -> Effect {
        let is_staging = matches!(self.info().sem, Sem::Comm(_)) && role.kind() == Kind::Tile && !role.is_view();
        let usual = if is_staging { Effect::Scratch } else { Effect::Read };
        self.form(form).and_then(|f| f.operand(role)).map_or(usual, |o| o.effect)
    }

    /// How it binds its destination on a profile.
    pub fn binds(self, profile: Profile) -> Option<Bind> {
        self.info().binds.filter(|bind| *bind != Bind::Bytes || profile.is_npu())
    }

    /// Whether it touches no byte on a profile ([`Bind::only_names`]).
    pub fn only_names(self, profile: Profile) -> bool {
        self.binds(profile).is_some_and(Bind::only_names)
    }

    /// Whether its destination lies in the bytes of its source on a profile ([`Bind::is_view`]).
    pub fn is_view(self, profile: Profile) -> bool {
        self.binds(profile).is_some_and(Bind::is_view)
    }

    /// Whether it takes attributes that SETFMATRIX (ops.md 7), SETHF32MODE or SETTF32MODE (isa/matrix.md 5) left.
    pub fn is_configured(self) -> bool {
        let info = self.info();
        info.attrs.contains(&AttrName::Fmap) || matches!(info.sem, Sem::Contract { scaled: false, .. })
    }
}

impl fmt::Debug for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TABLE[self.index()].0)
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mnemonic())
    }
}
