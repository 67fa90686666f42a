//! Every operation by its name, looked up once per statement.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use tessera_ir::{ArithOp, CastOp, CmpPred};
use tessera_isa::ops::{Opcode, others};

/// A PTO instruction, by its mnemonic without `pto.`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pto {
    /// One of the table.
    Table(Opcode),
    /// Another one.
    Other(&'static str),
}

static PTO: LazyLock<FxHashMap<&'static str, Pto>> = LazyLock::new(|| {
    let others = others().map(|name| (name, Pto::Other(name)));
    let table = Opcode::ALL.iter().flat_map(|op| {
        let info = op.info();
        let names = std::iter::once(info.mnemonic).chain(info.aliases.iter().copied());
        names.map(|name| (name, Pto::Table(*op)))
    });
    others.chain(table).collect()
});

/// The instruction of a mnemonic, without `pto.`.
pub(crate) fn pto(mnemonic: &str) -> Option<Pto> {
    PTO.get(mnemonic).copied()
}

/// All names that a statement can start with, for suggestions.
pub(crate) fn all() -> impl Iterator<Item = String> {
    let pto = PTO.keys().map(|name| format!("pto.{name}"));
    let arith = ARITH.iter().map(|(name, _)| format!("arith.{name}"));
    let casts = CASTS.iter().map(|(name, _)| format!("arith.{name}"));
    let rest = [
        "arith.constant",
        "arith.cmpi",
        "arith.select",
        "scf.for",
        "scf.if",
        "scf.while",
        "scf.yield",
        "scf.condition",
        "func.call",
        "func.return",
        "func.func",
        "return",
        "module",
    ];
    pto.chain(arith).chain(casts).chain(rest.map(String::from))
}

/// Integer arithmetic, by its mnemonic without `arith.`.
pub(crate) static ARITH: &[(&str, ArithOp)] = &[
    ("addi", ArithOp::Addi),
    ("subi", ArithOp::Subi),
    ("muli", ArithOp::Muli),
    ("divsi", ArithOp::Divsi),
    ("divui", ArithOp::Divui),
    ("remsi", ArithOp::Remsi),
    ("remui", ArithOp::Remui),
    ("minsi", ArithOp::Minsi),
    ("maxsi", ArithOp::Maxsi),
    ("minui", ArithOp::Minui),
    ("maxui", ArithOp::Maxui),
    ("andi", ArithOp::Andi),
    ("ori", ArithOp::Ori),
    ("xori", ArithOp::Xori),
    ("shli", ArithOp::Shli),
    ("shrsi", ArithOp::Shrsi),
    ("shrui", ArithOp::Shrui),
];

/// Conversions, by their mnemonic without `arith.`.
pub(crate) static CASTS: &[(&str, CastOp)] = &[
    ("index_cast", CastOp::IndexCast),
    ("index_castui", CastOp::IndexCastui),
    ("extsi", CastOp::Extsi),
    ("extui", CastOp::Extui),
    ("trunci", CastOp::Trunci),
];

/// Comparisons, in the order of MLIR's numbers for them.
pub(crate) static PREDICATES: &[(&str, CmpPred)] = &[
    ("eq", CmpPred::Eq),
    ("ne", CmpPred::Ne),
    ("slt", CmpPred::Slt),
    ("sle", CmpPred::Sle),
    ("sgt", CmpPred::Sgt),
    ("sge", CmpPred::Sge),
    ("ult", CmpPred::Ult),
    ("ule", CmpPred::Ule),
    ("ugt", CmpPred::Ugt),
    ("uge", CmpPred::Uge),
];

/// The row of a table with this name.
pub(crate) fn named<T: Copy>(table: &[(&'static str, T)], name: &str) -> Option<T> {
    table.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
}

/// The name of a row of a table.
pub(crate) fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, v)| v == value).map_or("", |(n, _)| n)
}
