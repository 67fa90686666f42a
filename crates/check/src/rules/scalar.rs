//! The scalar of a tile-scalar instruction (isa/scalar.md 2 and 3).

use super::*;
use tessera_isa::inst::{ScalarArg, ScalarType, Sign};
use tessera_isa::sem::Sem;

/// The scalar, and the tile whose type it becomes: dst, but src where that is not the result's type.
fn parts(inst: &Inst) -> Option<(&ScalarArg, &TileArg)> {
    let tile = inst.tile(Role::Src).or_else(|| inst.dst())?;
    Some((inst.scalar_arg(Role::Scalar)?, tile))
}

/// The type as text writes it.
fn name(ty: Option<ScalarType>) -> String {
    match ty {
        Some(ScalarType::Index) => "index".into(),
        Some(ScalarType::Int(bits, Sign::None)) => format!("i{bits}"),
        Some(ScalarType::Int(bits, Sign::Signed)) => format!("si{bits}"),
        Some(ScalarType::Int(bits, Sign::Unsigned)) => format!("ui{bits}"),
        Some(ScalarType::Float(elem)) => elem.name().into(),
        None => "a number of another kind".into(),
    }
}

/// Whether the scalar is a float that tiles of floats take. A number without a type has the kind of its value.
fn is_float(scalar: &ScalarArg) -> bool {
    match scalar.ty {
        Some(ScalarType::Float(elem)) => matches!(elem, Elem::F16 | Elem::Bf16 | Elem::F32),
        _ => !scalar.is_integer(),
    }
}

/// Whether the scalar is a number of the tile's kind.
fn is_of_kind(scalar: &ScalarArg, elem: Elem) -> bool {
    if elem.is_float() { is_float(scalar) } else { scalar.is_integer() }
}

fn wrong(inst: &Inst, rule: Rule, takes: impl std::fmt::Display) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    let (title, elem) = (inst.op.title(), tile.tile.elem);
    let what = format!("the scalar is {}, and {title} of {elem} tiles takes {takes}", name(scalar.ty));
    Some(Fault::new(rule, what).help(format!("convert the scalar to {takes}")))
}

/// `-scalar`: an integer with tiles of integers, a float with tiles of floats.
pub(super) fn any(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    let elem = tile.tile.elem;
    if is_of_kind(scalar, elem) {
        return None;
    }
    wrong(inst, rule, if elem.is_float() { "f16, bf16 or f32" } else { "an integer" })
}

/// `-scalar` of an instruction whose scalar is converted by value (isa/today.md 6.8). A float that becomes an integer fits
/// the type, as far as its value is known.
pub(super) fn number(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    if !scalar.is_integer() && !is_float(scalar) {
        return wrong(inst, rule, "an integer, f16, bf16 or f32");
    }
    let elem = tile.tile.elem;
    if scalar.value.is_none() || scalar.converted(elem).is_some() {
        return None;
    }
    let Some(Number::Float(value)) = scalar.value else { return None };
    let what = format!("the scalar {value:?} becomes an integer, and {elem} has no such value");
    Some(Fault::new("scalar-range", what).help("give a number that the element type has"))
}

/// `-scalar` of an instruction whose scalar has the tile's type on hardware, signedness aside.
pub(super) fn typed(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    let elem = tile.tile.elem;
    let is_right = match scalar.ty.filter(|_| inst.profile.is_npu()) {
        Some(ScalarType::Index) => false,
        Some(ScalarType::Int(bits, _)) => !elem.is_float() && u32::from(bits) == elem.bits(),
        Some(ScalarType::Float(float)) => float == elem,
        None => return any(inst, rule),
    };
    if is_right {
        None
    } else {
        wrong(inst, rule, if elem.is_float() { elem.name().into() } else { format!("i{}", elem.bits()) })
    }
}

/// `-scalar` of a slope: f32 or the tile's type; cpu takes any float.
pub(super) fn slope(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    let elem = tile.tile.elem;
    let is_right = match scalar.ty {
        Some(ScalarType::Float(float)) if inst.profile.is_npu() => float == elem || float == Elem::F32,
        _ => is_float(scalar),
    };
    if is_right {
        return None;
    }
    let own = if elem == Elem::F32 { "f32".into() } else { format!("f32 or {elem}") };
    wrong(inst, rule, if inst.profile.is_npu() { own } else { "f16, bf16 or f32".into() })
}

/// `-scalar` of a shift: any integer; hardware has no negative counts.
pub(super) fn shift(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, _) = parts(inst)?;
    if !scalar.is_integer() {
        return wrong(inst, rule, "an integer");
    }
    let Some(Number::Int(count)) = scalar.value.filter(|_| inst.profile.is_npu()) else { return None };
    if count >= 0 {
        return None;
    }
    let what = format!("the shift count is {count}, and {} shifts by counts from 0 on", inst.profile);
    Some(Fault::new(rule, what).help("shift the other way by the positive count"))
}

/// `-scalar` of a selection: an element, or its bits.
pub(super) fn bits(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    if scalar.is_integer() || is_of_kind(scalar, tile.tile.elem) {
        return None;
    }
    wrong(inst, rule, if tile.tile.elem.is_float() { "f16, bf16, f32 or an integer" } else { "an integer" })
}

/// `-zero`, as far as the scalar alone decides, also with an empty domain; elements are looked at when it runs.
pub(super) fn zero(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    let elem = tile.tile.elem;
    let divides = match inst.op.info().sem {
        Sem::Map { func, .. } => func.is_by_zero(&[(elem, 1), (elem, 0)]),
        _ => inst.form == Form::Plain,
    };
    let by_value = inst.op.info().rules.iter().any(|r| r.kind == RuleKind::ScalarNumber);
    let bits = if by_value { scalar.converted(elem) } else { scalar.bits(elem) };
    if elem.is_float() || !divides || bits? != 0 {
        return None;
    }
    let value = match scalar.value? {
        Number::Int(value) => value,
        Number::Float(value) => value.trunc() as i128,
    };
    let low = if value == 0 { String::new() } else { format!(", whose low {} bits are 0", elem.bits()) };
    let what = format!("{} divides {elem} elements by the scalar {value}{low}", inst.op.title());
    Some(Fault::new(rule, what).help("divide by another number, or guard the instruction with scf.if"))
}

/// `-range`, as far as the scalar alone decides.
pub(super) fn range(inst: &Inst, rule: Rule) -> Option<Fault> {
    let (scalar, tile) = parts(inst)?;
    let Some(Number::Int(_)) = scalar.value.filter(|_| tile.tile.elem == Elem::I32) else { return None };
    let value = scalar.bits(Elem::I32)? as i32;
    if value.unsigned_abs() <= 1 << 24 {
        return None;
    }
    let what = format!("the scalar {value} is beyond ±2^24, where a2a3's remainder of i32 is not exact; here it is");
    Some(Fault::new(rule, what).help("keep the operands within ±16777216"))
}
