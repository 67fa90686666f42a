//! Meanings that differ by version (isa/today.md 1.2). What a version means by leaving an attribute out is put into the
//! operation as an implied attribute, so that everything behind the reader sees one meaning.

use crate::dialect::Mark;
use tessera_ir::{Dialect, Func, Op, TypeTable, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrName, Opcode, Role};
use tessera_isa::sem::Saturation;

/// The saturation of a conversion that has none written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Saturated {
    /// Up to 0.27: by the pair of types.
    pub usual: Saturation,
}

/// The saturation of an operation that writes none, where the versions differ about it.
pub(crate) fn saturation(types: &TypeTable, func: &Func, op: &Op) -> Option<Saturated> {
    let opcode = op.opcode()?;
    if !opcode.info().attrs.contains(&AttrName::SatMode) {
        return None;
    }
    let elem = |value| elem_of(types, func, value);
    let from = op.operand(Role::Src)?.arg.value().and_then(elem)?;
    let to = op.dsts().first().and_then(|(_, value)| elem(*value))?;
    let usual = Saturation::usual(from, to);
    // Into the fp8 types all versions saturate (isa/today.md 6.8).
    let differs = usual != Saturation::Off && !matches!(to, Elem::F8e4m3 | Elem::F8e5m2) && !holds_all(to, from);
    differs.then_some(Saturated { usual })
}

/// The element type of a tile. None of another value, and of one whose type has an error.
fn elem_of(types: &TypeTable, func: &Func, value: ValueId) -> Option<Elem> {
    let ty = func.value(value).ty;
    types.contains(ty).then(|| types.get(ty).tile()).flatten().map(|tile| tile.elem)
}

/// Whether the operation gives or takes a token between cores, of which 0.27 has another meaning on a5.
pub(crate) fn is_core_flag(op: &Op) -> bool {
    matches!(op.opcode(), Some(Opcode::SyncSet | Opcode::SyncWait))
}

/// Whether an integer type has every value of another one.
fn holds_all(to: Elem, from: Elem) -> bool {
    let is_wider = to.bits() > from.bits() && (!from.is_signed() || to.is_signed());
    !to.is_float() && !from.is_float() && (to == from || is_wider)
}

/// A spelling that a version lacks.
pub(crate) fn lacks(mark: &Mark, dialect: Dialect) -> Diagnostic {
    let what = match mark.known.spelling.gone.is_some_and(|gone| gone <= dialect) {
        true => format!("version {dialect} has {} no more", mark.name()),
        false => format!("version {dialect} does not have {}", mark.name()),
    };
    Diagnostic::warning("dialect-spelling", what).help(format!("write {}", mark.instead()))
}

/// The word of a saturation mode.
pub(crate) fn saturation_word(saturation: Saturation) -> &'static str {
    if saturation == Saturation::Off { "OFF" } else { "ON" }
}

/// Whether THISTOGRAM counts byte 1 because nothing else is said: `isMSB` of a 4-byte source is false otherwise.
pub(crate) fn counts_byte_1(types: &TypeTable, func: &Func, op: &Op) -> bool {
    let known = op.known_attrs();
    let size = |value| elem_of(types, func, value).and_then(Elem::size);
    let src = op.operand(Role::Src).and_then(|o| o.arg.value()).and_then(size);
    let is_top = known.get(AttrName::IsMsb).is_none_or(|value| value == AttrValue::Bool(true));
    src == Some(4) && known.get(AttrName::Byte).is_none() && is_top
}
