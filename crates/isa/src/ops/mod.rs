//! The instruction table. Each instruction is one row; parser, printer, verifier, planner, simulator, `tessera explain`,
//! intrinsics, C++ emission and the C ABI read it and know nothing about an instruction besides.
//!
//! A row says which operands the instruction has and what it does with each, which attributes, which **signatures** take
//! them ([`sig`]: profiles, locations, layouts and types by role), which further questions the verifier asks
//! ([`RuleKind`]), how text writes it, on which pipe it runs, and **what it means** ([`crate::sem`]). Rules `-profile`,
//! `-loc`, `-layout` and `-dtype` are nothing but "no signature is left": what the table does not allow is refused.

mod attr;
mod elementwise;
mod irregular;
mod matrix;
mod names;
mod reduce;
mod rule;
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

pub use attr::{AttrInfo, AttrKind, AttrName, Spelling, Word};
pub use names::{other, others};
use rule::rules;
pub use rule::{Ids, RuleKind, RuleUse};
pub use sig::{Judged, Lay, Layouts, Miss, Sig, TypeOf, Types};

use crate::profile::{Profile, Profiles};
use crate::sem::Sem;
use crate::tile::words;
use std::fmt;
use std::sync::LazyLock;

words! {
    /// What an operand is to its instruction.
    #[non_exhaustive]
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
        /// The left matrix operand.
        A = "a", "a";
        /// The right matrix operand.
        B = "b", "b";
        /// A tile of indices.
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
        /// A scalar that is stored, or that every element meets.
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
    pub const fn kind(self) -> Kind {
        match self {
            Role::Quant => Kind::Quant,
            Role::Fill | Role::Scalar => Kind::Fill,
            Role::Row | Role::Col | Role::Row1 | Role::Col1 | Role::PosM | Role::PosK => Kind::Index,
            Role::Addr | Role::ValidRow | Role::ValidCol | Role::Number => Kind::Index,
            _ => Kind::Tile,
        }
    }

    /// Does the name say that it is a destination?
    pub fn is_dst(self) -> bool {
        matches!(self, Role::Dst | Role::Dst0 | Role::Dst1 | Role::DstIdx)
    }
}

/// What an instruction does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads it.
    Read,
    /// Writes it; what the formula does not name keeps its bits.
    Write,
    /// Reads it and writes it.
    ReadWrite,
    /// Leaves it undefined.
    Scratch,
    /// Makes it another name of its source's storage; moves nothing.
    View,
}

/// How much of an operand an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Its valid region.
    Valid,
    /// All of the declared area.
    Declared,
    /// As much as the sources hold together.
    Sources,
    /// A part; the rest is kept.
    Part,
}

/// An operand of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What it is to the instruction.
    pub role: Role,
    /// What the instruction does with it.
    pub effect: Effect,
    /// May it be left out?
    pub optional: bool,
    /// How much of it is written, where it is.
    pub covers: Covers,
    /// The profiles on which its valid region counts; elsewhere a dynamic one need not be set (`valid-unset`).
    pub valid: Profiles,
}

impl Operand {
    /// Do signatures judge it? Scratch has a rule of its own.
    pub const fn is_judged(&self) -> bool {
        !matches!(self.effect, Effect::Scratch) && matches!(self.role.kind(), Kind::Tile)
    }

    const fn new(role: Role, effect: Effect) -> Operand {
        Operand { role, effect, optional: false, covers: Covers::Valid, valid: Profiles::ALL }
    }

    const fn covers(self, covers: Covers) -> Operand {
        Operand { covers, ..self }
    }

    const fn valid_on(self, valid: Profiles) -> Operand {
        Operand { valid, ..self }
    }
}

const fn read(role: Role) -> Operand {
    Operand::new(role, Effect::Read)
}
/// Read by its declared shape.
const fn read_declared(role: Role) -> Operand {
    read(role).valid_on(Profiles::NONE)
}
const fn write(role: Role) -> Operand {
    Operand::new(role, Effect::Write)
}
/// Written in part.
const fn write_part(role: Role) -> Operand {
    write(role).covers(Covers::Part)
}
/// Written in a window, wherever the valid region is.
const fn write_window(role: Role) -> Operand {
    write_part(role).valid_on(Profiles::NONE)
}
/// Written as far as the sources go.
const fn write_sources(role: Role) -> Operand {
    write(role).covers(Covers::Sources)
}
/// Written inside and outside of its valid region.
const fn write_all(role: Role) -> Operand {
    write(role).covers(Covers::Declared)
}
/// Written in its declared area.
const fn write_declared(role: Role) -> Operand {
    write_all(role).valid_on(Profiles::NONE)
}
/// Another name of its source's storage.
const fn view(role: Role) -> Operand {
    Operand::new(role, Effect::View).covers(Covers::Declared).valid_on(Profiles::NONE)
}
const fn scratch(role: Role) -> Operand {
    Operand::new(role, Effect::Scratch).valid_on(Profiles::NONE)
}
/// Scratch that may be left out.
const fn optional_scratch(role: Role) -> Operand {
    Operand { optional: true, ..scratch(role) }
}

words! {
    /// How an instruction is used: which variant of its formula.
    #[non_exhaustive]
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
    pub ins: &'static [Operand],
    /// Operands that are written, in text order.
    pub outs: &'static [Operand],
    /// The arguments of the C++ intrinsic, where they are not `outs` and then `ins`.
    pub cpp: &'static [Role],
}

impl FormInfo {
    /// The operands that signatures judge together, in text order.
    pub fn judged(&self) -> impl Iterator<Item = Role> {
        self.operands().filter(|o| o.is_judged()).map(|o| o.role)
    }

    /// All operands, in text order.
    pub fn operands(&self) -> impl Iterator<Item = &'static Operand> {
        self.ins.iter().chain(self.outs)
    }

    /// The operand with this role.
    pub fn operand(&self, role: Role) -> Option<&'static Operand> {
        self.operands().find(|o| o.role == role)
    }

    /// The arguments of the C++ intrinsic, in order.
    pub fn cpp_order(&self) -> Vec<Role> {
        match self.cpp {
            [] => self.out_roles().chain(self.in_roles()).collect(),
            order => order.to_vec(),
        }
    }

    /// The roles of the operands that are read.
    pub fn in_roles(&self) -> impl Iterator<Item = Role> + Clone {
        self.ins.iter().map(|o| o.role)
    }

    /// The roles of the operands that are written.
    pub fn out_roles(&self) -> impl Iterator<Item = Role> + Clone {
        self.outs.iter().map(|o| o.role)
    }
}

/// A form with its optional operands decided: what is written in one line of text. Those left out come last.
#[derive(Debug)]
pub struct Shape {
    /// The form.
    pub form: Form,
    /// What is read, in text order.
    pub ins: Vec<Role>,
    /// What is written, in text order.
    pub outs: Vec<Role>,
}

static SHAPES: LazyLock<Vec<Vec<Shape>>> = LazyLock::new(|| {
    let of = |op: &Opcode| {
        let mut shapes = Vec::new();
        for form in op.info().forms {
            let optional = form.operands().filter(|o| o.optional).count() as u32;
            for left_out in 0..1u32 << optional {
                let mut bit = 0;
                let mut given = |o: &&Operand| {
                    bit += u32::from(o.optional);
                    !o.optional || left_out & (1 << (bit - 1)) == 0
                };
                let ins = form.ins.iter().filter(&mut given).map(|o| o.role).collect();
                let outs = form.outs.iter().filter(&mut given).map(|o| o.role).collect();
                shapes.push(Shape { form: form.form, ins, outs });
            }
        }
        shapes
    };
    Opcode::ALL.iter().map(of).collect()
});

/// A form: its name, what it reads, what it writes. Roles are read and written unless an effect is named.
macro_rules! form {
    ($form:ident: $($in:ident $(as $effect:ident)?),* => $($out:ident $(as $out_effect:ident)?),* $(; cpp $($arg:ident),*)?) => {
        FormInfo {
            form: Form::$form,
            ins: &[$(form!(@ read $in $($effect)?)),*],
            outs: &[$(form!(@ write $out $($out_effect)?)),*],
            cpp: &[$($(Role::$arg),*)?],
        }
    };
    (@ $usual:ident $role:ident) => { super::$usual(Role::$role) };
    (@ $usual:ident $role:ident $effect:ident) => { super::$effect(Role::$role) };
}
use form;

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
    /// As its forms say.
    Forms,
    /// `alloc_tile addr = … valid_row = … : type`.
    Alloc,
    /// `tassign tile, addr`.
    Assign,
    /// `set_validshape tile, rows, cols`.
    SetValid,
    /// `subset src[row, col] sizes […]`.
    Subset,
    /// `make_tensor_view ptr, shape = […], strides = […]`.
    MakeView,
    /// `partition_view view, offsets = […], sizes = […]`.
    Partition,
    /// `addptr ptr, n`.
    AddPtr,
    /// `load_scalar ptr[n]`.
    LoadScalar,
    /// `store_scalar v, ptr[n]`.
    StoreScalar,
    /// One scalar.
    Value,
    /// No operands, one number as a result.
    Number,
    /// Attributes only.
    Attributes,
    /// Attributes that nobody reads.
    Ignored,
    /// Whatever stands there, kept as written.
    AsWritten,
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
    /// dst lies where src lies, unless it has an address of its own (ops.md 6).
    InPlace,
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

/// An instruction of the table.
///
/// A number, so that programs are small; the names are constants (`Opcode::Tmov`), one for each row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Opcode(u16);

/// Rows of one family, each with the name of its constant. A row stands here and nowhere else.
macro_rules! family {
    (after $before:expr; $($(#[$doc:meta])* $Name:ident => $row:expr;)*) => {
        #[allow(dead_code, reason = "counts the rows")]
        enum Place { $($Name,)* }
        impl super::Opcode {
            $($(#[$doc])* #[allow(non_upper_case_globals, reason = "names of the ISA, used as patterns")]
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
    examples: &[],
};

/// The instructions of the layout set (ops.md).
mod layout {
    use super::{tconcat, textract, tfillpad, timg2col, tinsert, tinterleave, tmov, tpack, treshape, ttrans};

    super::family! { after 0;
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
    }
}

const COUNT: usize = irregular::END as usize;

/// Every row with the name of its constant, in table order.
static TABLE: [(&str, &OpInfo); COUNT] = {
    let families = [layout::ROWS, support::ROWS, elementwise::ROWS, reduce::ROWS, matrix::ROWS, irregular::ROWS];
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

const fn all() -> [Opcode; COUNT] {
    let mut all = [Opcode(0); COUNT];
    let mut n = 0;
    while n < COUNT {
        all[n] = Opcode(n as u16);
        n += 1;
    }
    all
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
    /// Reductions and expansions (isa/reduce.md).
    Reduce,
    /// Matrix products (isa/matrix.md).
    Matrix,
    /// Data decides where (isa/irregular.md).
    Irregular,
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
    /// Where it is described.
    pub source: &'static str,
    /// What it belongs to.
    pub family: Family,
    /// How text writes it.
    pub text: Text,
    /// Forms with their operands; empty for instructions with a text shape of their own (syntax.md 4).
    pub forms: &'static [FormInfo],
    /// Attributes.
    pub attrs: &'static [AttrName],
    /// The legality table; empty where the instruction takes no tiles.
    pub sigs: &'static [Sig],
    /// The ids under which a missing signature is reported.
    pub ids: Ids,
    /// The rules that can refuse it, in the order in which they are asked.
    pub rules: &'static [RuleUse],
    /// The pipe, where no signature names one.
    pub pipe: Pipe,
    /// What it does.
    pub sem: Sem,
    /// How it binds its destination to storage.
    pub binds: Option<Bind>,
    /// Does a dynamic valid region of its destination become the declared area?
    pub expands: bool,
    /// Types of operands with which the instruction is legal, where they are not the usual ones.
    pub examples: &'static [(Role, &'static str)],
}

impl Opcode {
    /// All instructions, in table order.
    pub const ALL: &'static [Opcode] = &all();

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

    /// The instruction of a mnemonic or alias, without `pto.`.
    pub fn parse(word: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| {
            let info = op.info();
            info.mnemonic == word || info.aliases.contains(&word)
        })
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

    /// What a form does with the operand of a role; an operand that only the text's shape names is read.
    pub fn effect(self, form: Form, role: Role) -> Effect {
        self.form(form).and_then(|f| f.operand(role)).map_or(Effect::Read, |o| o.effect)
    }

    /// How it binds its destination on a profile.
    pub fn binds(self, profile: Profile) -> Option<Bind> {
        self.info().binds.filter(|bind| *bind != Bind::Bytes || profile.is_npu())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_are_unique_and_found() {
        for op in Opcode::ALL {
            assert_eq!(Opcode::parse(op.mnemonic()), Some(*op));
            assert!(other(op.mnemonic()).is_none(), "{op} is listed twice");
        }
        assert_eq!(Opcode::parse("tmov.fp"), Some(Opcode::TmovFp));
        assert_eq!(format!("{:?} {:?}", Opcode::Tmov, Opcode::Tprint), "Tmov Tprint");
    }

    #[test]
    fn every_rule_of_a_row_is_a_rule() {
        for op in Opcode::ALL {
            let info = op.info();
            let ids = [info.ids.profile, info.ids.loc, info.ids.layout, info.ids.dtype];
            for id in ids.into_iter().flatten().chain(info.rules.iter().map(|r| r.id)) {
                assert!(crate::rules::rule(id).is_some(), "{op} names the unknown rule {id}");
                assert!(info.rules.iter().any(|r| r.id == id), "{op} does not list {id}");
            }
        }
    }

    /// A row with tile operands says which tiles it takes, and what it does with them.
    #[test]
    fn rows_are_complete() {
        for op in Opcode::ALL {
            let info = op.info();
            assert!(!info.summary.is_empty() && !info.source.is_empty(), "{op}");
            let tiles = info.forms.iter().flat_map(|f| f.operands()).any(|o| o.role.kind() == Kind::Tile);
            let judged = tiles && *op != Opcode::Tprint;
            assert_eq!(judged, !info.sigs.is_empty(), "{op} takes tiles and needs signatures");
            assert_eq!(judged, info.ids.loc.is_some(), "{op} needs ids for a missing signature");
            if info.family != Family::Support {
                assert!(!info.formula.is_empty() && !info.cpp.is_empty() && !info.rules.is_empty(), "{op}");
                assert!(!matches!(info.sem, Sem::Nothing), "{op} has no meaning");
            }
            for form in info.forms {
                let named = |role: Role| form.operand(role).is_some();
                assert!(form.outs.iter().all(|o| o.effect != Effect::Read), "{op}: what is written stands in outs");
                assert!(form.operands().all(|o| named(o.role)), "{op}");
                if !info.sigs.is_empty() {
                    assert!(info.sigs.iter().any(|s| s.forms.contains(&form.form)), "{op} {}: no signature", form.form);
                }
            }
        }
    }
}
