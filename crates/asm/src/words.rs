//! Every operation by its name, looked up once per statement.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use tessera_ir::{ArithOp, CastOp, FloatOp, OpKind};
use tessera_isa::ops::{Opcode, others};

/// A PTO instruction, by its mnemonic without `pto.`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pto {
    Table(Opcode),
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

/// The instruction of a mnemonic, without `pto.`; `.` and `_` are one letter (isa/structure.md 2).
pub(crate) fn pto(mnemonic: &str) -> Option<Pto> {
    let known = PTO.get(mnemonic).copied();
    let spelled = || PTO.get(mnemonic.contains('.').then(|| mnemonic.replace('.', "_"))?.as_str()).copied();
    known.or_else(spelled)
}

/// The first words of statements other than instructions and arithmetic.
const OTHERS: &str = "arith.constant arith.cmpi arith.cmpf arith.select math.absi scf.for scf.if scf.while scf.yield scf.condition scf.execute_region \
    func.call func.return func.func return module";

/// Regions that one vector core runs as one launch.
const SCOPES: [&str; 2] = ["pto.vecscope", "pto.strict_vecscope"];

/// All names that a statement can start with, for suggestions.
pub(crate) fn all() -> impl Iterator<Item = String> {
    let micro = tessera_micro::rows().flat_map(tessera_micro::Row::names).map(|name| format!("pto.{name}"));
    let pto = PTO.keys().map(|name| format!("pto.{name}")).chain(micro).chain(SCOPES.map(String::from));
    let arith = ArithOp::ALL.iter().map(|op| op.name()).chain(CastOp::ALL.iter().map(|op| op.name()));
    let floats = FloatOp::ALL.iter().map(|op| op.name().to_string());
    pto.chain(arith.map(|name| format!("arith.{name}")))
        .chain(floats)
        .chain(crate::dialect::scalars().map(|name| format!("pto.{name}")))
        .chain(OTHERS.split_whitespace().map(String::from))
}

/// An operation on scalars, by its name: arithmetic, a conversion or a choice.
pub(crate) fn arith(word: &str) -> Option<OpKind> {
    if let Some(op) = FloatOp::parse(word) {
        return Some(OpKind::Float(op));
    }
    match word {
        "math.absi" | "arith.absi" => return Some(OpKind::Arith(ArithOp::Absi)),
        "builtin.unrealized_conversion_cast" => return Some(OpKind::Cast(CastOp::Bitcast)),
        _ => {}
    }
    let name = word.strip_prefix("arith.")?;
    let op = ArithOp::parse(name).filter(|op| *op != ArithOp::Absi).map(OpKind::Arith);
    op.or_else(|| CastOp::parse(name).map(OpKind::Cast)).or((name == "select").then_some(OpKind::Select))
}
