//! The table: one row an instruction, in four families.

mod cube;
mod memory;
mod order;
mod predicate;
mod vector;

use std::collections::HashMap;
use std::sync::LazyLock;
use tessera_isa::sem::Func;

/// The imports of the files of rows.
mod words {
    pub(super) use super::Extreme;
    pub(super) use super::Gran::*;
    pub(super) use super::Kind::*;
    pub(super) use super::Lane::*;
    pub(super) use super::Number::*;
    pub(super) use super::Space::*;
    pub(super) use super::{
        Arg, Class, Core, Cube, Dma, Fold, Lanes, Load, Permute, Predicate, Register, Row, Sem, Sort, Start, Store,
        WordList,
    };
    pub(super) use tessera_isa::sem::Func;
}

/// The memory that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Gm,
    Ub,
    L1,
    L0a,
    L0b,
    L0c,
    Bt,
    Fb,
    /// Block scales of the operands in L0A; reached through the operand's address only.
    ScalesA,
    /// Block scales of the operands in L0B.
    ScalesB,
    /// Any of them; only in rows.
    AnySpace,
}

impl Space {
    /// The memory that a word names; without a word it is global memory (model.md 3).
    ///
    /// ```
    /// use tessera_micro::Space;
    /// assert_eq!(Space::parse("ubuf"), Some(Space::Ub));
    /// ```
    pub fn parse(word: &str) -> Option<Space> {
        Some(match word {
            "gm" => Space::Gm,
            "ub" | "vec" | "ubuf" => Space::Ub,
            "l1" | "mat" | "cbuf" => Space::L1,
            "l0a" | "left" => Space::L0a,
            "l0b" | "right" => Space::L0b,
            "l0c" | "acc" => Space::L0c,
            "bt" | "bias" => Space::Bt,
            "fb" | "scaling" => Space::Fb,
            _ => return None,
        })
    }

    /// The word that is printed.
    pub fn name(self) -> &'static str {
        match self {
            Space::Gm => "gm",
            Space::Ub => "ub",
            Space::L1 => "l1",
            Space::L0a => "l0a",
            Space::L0b => "l0b",
            Space::L0c => "l0c",
            Space::Bt => "bt",
            Space::Fb => "fb",
            Space::ScalesA => "the scales of l0a",
            Space::ScalesB => "the scales of l0b",
            Space::AnySpace => "any",
        }
    }

    /// Its bytes; global memory has as many as its buffer.
    pub fn size(self) -> Option<u64> {
        Some(match self {
            Space::Gm | Space::AnySpace => return None,
            Space::Ub | Space::L0c => 256 << 10,
            Space::L1 => 512 << 10,
            Space::L0a | Space::L0b => 64 << 10,
            Space::Bt | Space::ScalesA | Space::ScalesB => 4 << 10,
            Space::Fb => 0x11000,
        })
    }

    /// The rule that an access beyond its end breaks.
    pub fn bounds_rule(self) -> &'static str {
        match self {
            Space::Gm | Space::AnySpace => "gm-bounds",
            Space::Ub => "ub-bounds",
            Space::L1 => "l1-bounds",
            Space::L0a => "l0a-bounds",
            Space::L0b => "l0b-bounds",
            Space::L0c => "l0c-bounds",
            Space::Bt => "bt-bounds",
            Space::Fb => "fb-bounds",
            Space::ScalesA | Space::ScalesB => "mx-bounds",
        }
    }
}

/// The lanes of a register operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The row's type T; all operands of it have one type.
    T,
    /// Another type, which the meaning decides.
    To,
    /// Numbers of lanes, elements or bytes.
    Idx,
}

/// The granularity of a mask operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gran {
    /// The granularity of the lanes of T, at most 32 bits.
    ByLane,
    /// The granularity in the instruction's name.
    ByName,
    B8,
    B32,
    /// Any; how it goes with the others, the meaning decides.
    Free,
}

/// The type of a scalar operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    I1,
    I16,
    I32,
    I64,
    Index,
    /// One for a lane of T (vector.md 2).
    OfLane,
    AnyScalar,
}

/// The kind of an operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Reg(Lane),
    Mask(Gran),
    Align,
    Ptr(Space),
    Scalar(Number),
    /// A scalar or a register.
    ScalarOrReg,
    /// A word without quotes, or a pipe.
    Word,
    /// Operands between the parentheses of a group: their least and greatest number.
    Group(u8, u8),
    /// Consecutive integers: their least and greatest number.
    Numbers(u8, u8),
    /// The clauses of a store out of an accumulator.
    Clauses,
}

/// An operand or a result of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    pub name: &'static str,
    pub kind: Kind,
    pub is_optional: bool,
    /// Whether a group may stand any number of times.
    pub repeats: bool,
}

impl Arg {
    const fn new(name: &'static str, kind: Kind) -> Arg {
        Arg { name, kind, is_optional: false, repeats: false }
    }

    const fn optional(name: &'static str, kind: Kind) -> Arg {
        Arg { name, kind, is_optional: true, repeats: false }
    }

    const fn group(name: &'static str, least: u8, most: u8) -> Arg {
        Arg { name, kind: Kind::Group(least, most), is_optional: matches!(name.as_bytes(), b"pad"), repeats: false }
    }

    const fn loops() -> Arg {
        Arg { name: "loop", kind: Kind::Group(3, 3), is_optional: true, repeats: true }
    }

    const fn numbers(least: u8, most: u8) -> Arg {
        Arg { name: "n", kind: Kind::Numbers(least, most), is_optional: false, repeats: false }
    }

    const fn clauses() -> Arg {
        Arg { name: "clauses", kind: Kind::Clauses, is_optional: true, repeats: true }
    }
}

/// The accesses that `mem_bar` orders (model.md 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Register and predicate loads.
    Vld,
    /// Register and predicate stores.
    Vst,
    /// Scalar loads.
    Ld,
    /// Scalar stores.
    St,
    None,
}

/// The core that runs an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    Any,
    /// The cube core, or an unsplit process.
    Cube,
}

/// The place where an instruction is allowed (model.md 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    InVecscope,
    Outside,
    Anywhere,
}

/// Words that an instruction takes, the usual one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordList {
    /// The key of an attribute, or what the word says.
    pub key: &'static str,
    pub words: &'static [&'static str],
    /// Whether it stands in braces, and not among the operands.
    pub is_attribute: bool,
    pub is_required: bool,
}

/// Lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    Map(Func),
    /// `x ≥ 0 ? x : y·x`.
    LeakyRelu,
    Carry {
        subtracts: bool,
    },
    /// Operands a, b, c by their numbers: `a·b + c`, rounded once.
    MulAdd([u8; 3]),
    MulWide,
    ExpDif,
    MulConvert,
    Count,
    Convert,
    Integral,
    Compare,
    Select,
    Broadcast,
}

/// The greatest or the least of some lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The greatest.
    Max,
    /// The least.
    Min,
}

/// Several lanes into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Sum,
    /// The extreme lane and its number.
    Find(Extreme),
    /// The extreme value and all lanes that hold it.
    Mark(Extreme),
    /// The sum of every 32 bytes.
    GroupSum,
    /// The extreme value of every 32 bytes.
    GroupExtreme(Extreme),
    Pairs,
    Histogram,
}

/// Lanes to other places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permute {
    Same,
    ByIndex,
    Interleave,
    Deinterleave,
    /// One result of one of the two.
    Half,
    Squeeze,
    CountBelow,
    Pack,
    Widen,
}

/// Masks out of masks, words and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    Pattern,
    Below,
    Pack,
    Unpack,
    Logic,
    Not,
    Select,
    Interleave,
    Deinterleave,
    Same,
}

/// UB to registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    Dist,
    Pair,
    Blocks,
    Start,
    Unaligned,
    Gather,
    GatherBlocks,
    Predicate,
}

/// Registers to UB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    Dist,
    Pair,
    Blocks,
    Scatter,
    Empty,
    Append,
    AppendSqueezed,
    Flush,
    FlushSqueezed,
    Predicate,
    AppendPredicate,
}

/// Between memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dma {
    GmUb,
    UbGm,
    UbUb,
    UbL1,
    CopyGmUb,
    CopyUbGm,
    /// `copy_ubuf_to_ubuf` and its aliases.
    CopyBlocks,
    GmL1,
    CopyGmL1,
    L1Ub,
}

/// The first summand of a product's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Zero,
    Accumulator,
    Bias,
}

/// Instructions of the cube core other than transfers of rows (cube.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cube {
    /// Matrices of global memory into boxes.
    Boxes,
    Fill,
    /// A bias row, widened.
    Bias,
    /// Parameters of stores.
    Parameters,
    /// Boxes into L0A or L0B.
    Load,
    LoadScales,
    Product {
        start: Start,
        scaled: bool,
    },
    /// Out of an accumulator, with conversion.
    Store,
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    Loops,
    /// Loops of `copy_gm_to_cbuf`, two numbers in one.
    CubeLoops,
    Pad,
    ClearAr,
    Taken,
    Control,
}

/// Records in UB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Groups,
    Merge,
}

/// The meaning of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sem {
    Lanes(Lanes),
    Fold(Fold),
    Permute(Permute),
    Predicate(Predicate),
    Load(Load),
    Store(Store),
    Dma(Dma),
    Sort(Sort),
    Cube(Cube),
    Register(Register),
    /// A token between cores; read as the instruction of sync.md 5 that it is.
    Token,
    /// Scalars of global memory past the cache, and care of the cache.
    Device,
    /// Orders accesses of its vecscope.
    Bar,
    /// Read and printed; why it does not run.
    Unknown(&'static str),
}

/// One instruction of the second table, and those that share its row.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub args: &'static [Arg],
    pub results: &'static [Arg],
    pub words: &'static [WordList],
    /// Its text, as the pages write it.
    pub text: &'static str,
    pub summary: &'static str,
    pub formula: &'static str,
    /// The contents of inactive lanes of the result.
    pub inactive: &'static str,
    pub pipe: &'static str,
    pub class: Class,
    /// The types that T may be: `i16` and `u16` by signedness, `b16` any of 16 bits, `any`.
    pub types: &'static [&'static str],
    /// The ids of its rules: `name-rule`, or the whole id behind `=`.
    pub rules: &'static [&'static str],
    /// Whether a further result of the pointer's type is the pointer after the access (memory.md 7a).
    pub moves: bool,
    pub core: Core,
    pub stands: Stands,
    pub sem: Sem,
}

impl Row {
    const VECTOR: Row = Row {
        name: "",
        aliases: &[],
        args: &[],
        results: &[],
        words: &[],
        text: "",
        summary: "",
        formula: "",
        inactive: "",
        pipe: "V",
        class: Class::None,
        types: &[],
        rules: &[],
        moves: false,
        core: Core::Any,
        stands: Stands::InVecscope,
        sem: Sem::Bar,
    };
    const OUTSIDE: Row = Row { stands: Stands::Outside, ..Row::VECTOR };

    /// Its names, its own first.
    pub fn names(&'static self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// The words that a position of the text takes: the n-th list that is no attribute.
    pub fn word_list(&self, n: usize) -> Option<&'static WordList> {
        self.words.iter().filter(|list| !list.is_attribute).nth(n)
    }

    /// The words of an attribute.
    pub fn attribute(&self, key: &str) -> Option<&'static WordList> {
        self.words.iter().find(|list| list.is_attribute && list.key == key)
    }

    /// The whole id of one of its rules, for one of its names.
    pub fn rule(&self, name: &str, rule: &'static str) -> &'static str {
        RULES.get(&(name, rule)).copied().unwrap_or(rule)
    }
}

/// Rows are one where they are the same row.
impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        self.name == other.name
    }
}

/// Every row.
///
/// ```
/// assert!(tessera_micro::rows().any(|row| row.name == "vadd"));
/// ```
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [order::ROWS, memory::ROWS, predicate::ROWS, vector::ROWS, cube::ROWS].into_iter().flatten()
}

static NAMES: LazyLock<HashMap<&'static str, (&'static str, &'static Row)>> =
    LazyLock::new(|| rows().flat_map(|row| row.names().map(move |name| (name, (name, row)))).collect());

static RULES: LazyLock<HashMap<(&'static str, &'static str), &'static str>> = LazyLock::new(|| {
    let own = |row: &'static Row| row.rules.iter().filter(|rule| !rule.starts_with('='));
    let named = rows().flat_map(|row| row.names().flat_map(move |name| own(row).map(move |rule| (name, *rule))));
    named.map(|(name, rule)| ((name, rule), &*Box::leak(format!("{name}-{rule}").into_boxed_str()))).collect()
});

/// The row of a mnemonic without `pto.`, and the name as the table writes it.
///
/// ```
/// let (name, row) = tessera_micro::find("pge_b16").unwrap();
/// assert_eq!((name, row.name), ("pge_b16", "pset_b8"));
/// ```
pub fn find(mnemonic: &str) -> Option<(&'static str, &'static Row)> {
    NAMES.get(mnemonic).copied()
}

/// Whether a load into an operand's memory, of two names that share a row, is the one into L0B.
pub(crate) fn is_l0b(name: &str) -> bool {
    name.contains("l0b") || name.ends_with("_cb")
}

/// Ids of rules of the rows, with the rows that have them.
pub fn rule_ids() -> impl Iterator<Item = (&'static str, &'static Row)> {
    rows().flat_map(|row| {
        row.names().flat_map(move |name| {
            row.rules.iter().map(move |rule| (rule.strip_prefix('=').unwrap_or_else(|| row.rule(name, rule)), row))
        })
    })
}
