//! TCVT (isa/elementwise.md 5) in vectors: between floats and integers of up to 32 bits in every mode of rounding,
//! between floats to the nearest, and between integers. All other conversions use the definition,
//! [`tessera_isa::sem::cvt`].

use super::Level;
use super::element::*;
#[cfg(target_arch = "x86_64")]
use super::raw_map::RawRows;
use super::raw_map::{Op, RawMap, Value, leveled, narrow};
use std::marker::PhantomData;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Rounding, Saturation};

element! {
    // Integers as numbers that f32 takes.
    I8AsI32 i8 as i32: |x| x.into(), |v| v as i8;
    I16AsI32 i16 as i32: |x| x.into(), |v| v as i16;
    U8AsI32 u8 as i32: |x| x.into(), |v| v as u8;
    U16AsI32 u16 as i32: |x| x.into(), |v| v as u16;
    // Integers as i64, of which the low bits are kept.
    I8AsI64 i8 as i64: |x| x.into(), |v| v as i8;
    I16AsI64 i16 as i64: |x| x.into(), |v| v as i16;
    I32AsI64 i32 as i64: |x| x.into(), |v| v as i32;
    U8AsI64 u8 as i64: |x| x.into(), |v| v as u8;
    U16AsI64 u16 as i64: |x| x.into(), |v| v as u16;
    U32AsI64 u32 as i64: |x| x.into(), |v| v as u32;
    // A bound.
    F64 u64 as f64: |x| f64::from_bits(x), |v| v.to_bits();
}

/// The rounding of a value between two integers.
trait Mode<V> {
    /// Whether the value rounds to the upper integer. `rest` is the value minus the lower integer, and `is_odd`
    /// whether the lower integer is odd.
    fn is_up(v: V, rest: V, is_odd: bool) -> bool;
}

macro_rules! modes {
    ($($name:ident |$v:ident, $rest:ident, $odd:ident| $up:expr;)*) => {$(
        struct $name;

        impl Mode<f64> for $name {
            #[inline(always)]
            fn is_up($v: f64, $rest: f64, $odd: bool) -> bool {
                $up
            }
        }

        impl Mode<f32> for $name {
            #[inline(always)]
            fn is_up($v: f32, $rest: f32, $odd: bool) -> bool {
                $up
            }
        }
    )*};
}

modes! {
    Rint |_v, rest, is_odd| (rest > 0.5) | ((rest == 0.5) & is_odd);
    Round |v, rest, _odd| (rest > 0.5) | ((rest == 0.5) & (v > 0.0));
    Floor |_v, _rest, _odd| false;
    Ceil |_v, rest, _odd| rest > 0.0;
    Trunc |v, rest, _odd| (rest > 0.0) & (v < 0.0);
    Odd |_v, rest, is_odd| (rest > 0.0) & !is_odd;
}

/// Its sum with a binary64 of magnitude below 2^51 has the nearest integer in its low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// A number of magnitude below 2^50 as an integer.
#[inline(always)]
fn rounded<M: Mode<f64>>(v: f64) -> f64 {
    let nearest = (v + ROUNDER) - ROUNDER;
    let below = if nearest > v { nearest - 1.0 } else { nearest };
    let is_odd = (below + ROUNDER).to_bits() & 1 == 1;
    if M::is_up(v, v - below, is_odd) { below + 1.0 } else { below }
}

/// From a float to an integer of at most 32 bits, between two bounds.
struct ToInteger<E, D, M>(PhantomData<(E, D, M)>);

impl<E: Element<Value = f32>, D: Element<Value = i64>, M: Mode<f64>> Op for ToInteger<E, D, M> {
    type A = E;
    type B = F64;
    type C = F64;
    type D = D;
    const BOUNDED: bool = true;

    #[inline(always)]
    fn apply(v: f32, low: f64, high: f64) -> i64 {
        const FAR: f64 = 1_099_511_627_776.0;
        let v = if v.is_nan() { 0.0 } else { f64::from(v) };
        // Beyond every bound, rounding does not matter.
        let v = if v > FAR { FAR } else { v };
        let v = if v < -FAR { -FAR } else { v };
        let v = rounded::<M>(v);
        let v = if v > high { high } else { v };
        let v = if v < low { low } else { v };
        (v + ROUNDER).to_bits() as i64
    }
}

/// Its sum with a binary32 of magnitude below 2^22 has the nearest integer in its low bits.
const SMALL_ROUNDER: f32 = 12_582_912.0;

/// From a float to an integer of at most 16 bits, between the bounds of its type.
struct ToSmall<E, D, M>(PhantomData<(E, D, M)>);

impl<E: Element<Value = f32>, D: Element<Value = i32>, M: Mode<f32>> Op for ToSmall<E, D, M> {
    type A = E;
    type B = F32;
    type C = F32;
    type D = D;
    const BOUNDED: bool = true;

    #[inline(always)]
    fn apply(v: f32, low: f32, high: f32) -> i32 {
        let v = if v.is_nan() { 0.0 } else { v };
        // The bounds are integers, so that what is beyond them may come to them before it is rounded.
        let v = if v > high { high } else { v };
        let v = if v < low { low } else { v };
        let nearest = (v + SMALL_ROUNDER) - SMALL_ROUNDER;
        let below = if nearest > v { nearest - 1.0 } else { nearest };
        let is_odd = (below + SMALL_ROUNDER).to_bits() & 1 == 1;
        let v = if M::is_up(v, v - below, is_odd) { below + 1.0 } else { below };
        (v + SMALL_ROUNDER).to_bits() as i32
    }
}

/// From f32 to an integral f32.
struct ToIntegral<M>(PhantomData<M>);

impl<M: Mode<f64>> Op for ToIntegral<M> {
    type A = F32;
    type B = Nothing;
    type C = Nothing;
    type D = F32;

    #[inline(always)]
    fn apply(v: f32, (): (), (): ()) -> f32 {
        // From 2^23 on every f32 is integral.
        let is_small = v.abs() < 8_388_608.0;
        let small = if is_small { v } else { 0.0 };
        let integral = (rounded::<M>(f64::from(small)) as f32).copysign(v);
        if is_small { integral } else { v }
    }
}

/// From a float to a float, to the nearest.
struct ToFloat<E, D>(PhantomData<(E, D)>);

impl<E: Element<Value = f32>, D: Element<Value = f32>> Op for ToFloat<E, D> {
    type A = E;
    type B = Nothing;
    type C = Nothing;
    type D = D;

    #[inline(always)]
    fn apply(v: f32, (): (), (): ()) -> f32 {
        v
    }
}

/// From an integer that i32 holds to a float, to the nearest.
struct FromInteger<E, D>(PhantomData<(E, D)>);

impl<E: Element<Value = i32>, D: Element<Value = f32>> Op for FromInteger<E, D> {
    type A = E;
    type B = Nothing;
    type C = Nothing;
    type D = D;

    #[inline(always)]
    fn apply(v: i32, (): (), (): ()) -> f32 {
        v as f32
    }
}

/// From an integer to an integer, between two bounds.
struct Clamped<E, D>(PhantomData<(E, D)>);

impl<E: Element<Value = i64>, D: Element<Value = i64>> Op for Clamped<E, D> {
    type A = E;
    type B = I64;
    type C = I64;
    type D = D;
    const BOUNDED: bool = true;

    #[inline(always)]
    fn apply(v: Value<E>, low: i64, high: i64) -> i64 {
        let v = if v > high { high } else { v };
        if v < low { low } else { v }
    }
}

type Chosen = (RawMap, [[u8; 8]; 3]);

/// The kernel of a pair of types, with the bounds as its second and third argument.
pub(super) fn choose(
    from: Elem,
    to: Elem,
    rounding: Rounding,
    saturation: Option<Saturation>,
    level: Level,
) -> Option<Chosen> {
    let is_clamped = saturation.unwrap_or_else(|| Saturation::usual(from, to)) == Saturation::On;
    let is_nearest = matches!(rounding, Rounding::None | Rounding::Rint | Rounding::CastRint);
    match (from.is_float(), to.is_float()) {
        (true, false) => {
            let as_if = match (is_clamped, to.bits()) {
                (true, _) => to,
                (false, ..32) => Elem::I32,
                _ => return None,
            };
            let (low, high) = ends(as_if)?;
            if is_clamped && to.bits() <= 16 {
                let bounds = [low, high].map(|v| u64::from((v as f32).to_bits()).to_le_bytes());
                return Some((to_small(from, to, rounding, level)?, [[0; 8], bounds[0], bounds[1]]));
            }
            let bounds = [low as f64, high as f64].map(|v| v.to_ne_bytes());
            Some((to_integer(from, to, rounding, level)?, [[0; 8], bounds[0], bounds[1]]))
        }
        (true, true) if from == Elem::F32 && to == Elem::F32 => Some((to_integral(rounding, level)?, [[0; 8]; 3])),
        (true, true) if is_nearest || to == Elem::F32 => Some((to_float(from, to, is_clamped, level)?, [[0; 8]; 3])),
        (false, true) if is_nearest || (to == Elem::F32 && from.bits() <= 16) => {
            Some((from_integer(from, to, is_clamped, level)?, [[0; 8]; 3]))
        }
        (false, false) => {
            let (low, high) = if is_clamped { ends(to)? } else { (i64::MIN, i64::MAX) };
            let bounds = [low, high].map(|v| v.to_ne_bytes());
            Some((clamped(from, to, level)?, [[0; 8], bounds[0], bounds[1]]))
        }
        _ => None,
    }
}

/// The least and the greatest integer of a type, as far as i64 has them.
fn ends(elem: Elem) -> Option<(i64, i64)> {
    Some(match elem {
        Elem::I8 => (i8::MIN.into(), i8::MAX.into()),
        Elem::I16 => (i16::MIN.into(), i16::MAX.into()),
        Elem::I32 => (i32::MIN.into(), i32::MAX.into()),
        Elem::I64 => (i64::MIN, i64::MAX),
        Elem::U8 => (0, u8::MAX.into()),
        Elem::U16 => (0, u16::MAX.into()),
        Elem::U32 => (0, u32::MAX.into()),
        Elem::U64 => (0, i64::MAX),
        _ => return None,
    })
}

/// Applies `$mode` to the mode of a rounding.
macro_rules! modes_of {
    ($rounding:expr, $mode:ident) => {
        match $rounding {
            Rounding::Rint | Rounding::CastRint => $mode!(Rint),
            Rounding::Round => $mode!(Round),
            Rounding::Floor => $mode!(Floor),
            Rounding::Ceil => $mode!(Ceil),
            Rounding::None | Rounding::Trunc => $mode!(Trunc),
            Rounding::Odd => $mode!(Odd),
        }
    };
}

/// The kernel for a pair of types among some.
macro_rules! pairs {
    ($key:expr, $level:expr, $leveled:ident $op:ident: $($from:ident $to:ident => $e:ident $d:ident $($more:ident)*;)*) => {
        match $key {
            $((Elem::$from, Elem::$to) => Some($leveled::<$op<$e, $d $(, $more)*>>($level)),)*
            _ => None,
        }
    };
}

fn to_small(from: Elem, to: Elem, rounding: Rounding, level: Level) -> Option<RawMap> {
    macro_rules! mode {
        ($mode:ident) => {
            match (from, to.bits()) {
                (Elem::F32, 8) => Some(leveled::<ToSmall<F32, U8AsI32, $mode>>(level)),
                (Elem::F32, 16) => Some(leveled::<ToSmall<F32, U16AsI32, $mode>>(level)),
                (Elem::F16, 8) => Some(leveled::<ToSmall<F16, U8AsI32, $mode>>(level)),
                (Elem::F16, 16) => Some(leveled::<ToSmall<F16, U16AsI32, $mode>>(level)),
                (Elem::Bf16, 8) => Some(leveled::<ToSmall<Bf16, U8AsI32, $mode>>(level)),
                (Elem::Bf16, 16) => Some(leveled::<ToSmall<Bf16, U16AsI32, $mode>>(level)),
                _ => None,
            }
        };
    }
    let raw = modes_of!(rounding, mode)?;
    #[cfg(target_arch = "x86_64")]
    if (from, to.bits(), level) == (Elem::F32, 8, Level::Avx512)
        && let Some(first) = to_bytes(to == Elem::I8, rounding)
    {
        return Some(raw.after(first));
    }
    Some(raw)
}

/// By the machine's own conversion, where it knows the mode.
#[cfg(target_arch = "x86_64")]
fn to_bytes(is_signed: bool, rounding: Rounding) -> Option<RawRows> {
    use super::x86::to_bytes;
    use std::arch::x86_64::*;
    match rounding {
        Rounding::Rint | Rounding::CastRint => {
            Some(to_bytes::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(is_signed))
        }
        Rounding::Floor => Some(to_bytes::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(is_signed)),
        Rounding::Ceil => Some(to_bytes::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(is_signed)),
        Rounding::None | Rounding::Trunc => Some(to_bytes::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(is_signed)),
        Rounding::Round | Rounding::Odd => None,
    }
}

fn to_integer(from: Elem, to: Elem, rounding: Rounding, level: Level) -> Option<RawMap> {
    // Of the type only the low bits count.
    let low = match to.bits() {
        8 => Elem::U8,
        16 => Elem::U16,
        32 => Elem::U32,
        _ => return None,
    };
    macro_rules! mode {
        ($mode:ident) => {
            pairs! { (from, low), level, narrow ToInteger:
                F32 U8 => F32 U8AsI64 $mode; F32 U16 => F32 U16AsI64 $mode; F32 U32 => F32 U32AsI64 $mode;
                F16 U8 => F16 U8AsI64 $mode; F16 U16 => F16 U16AsI64 $mode; F16 U32 => F16 U32AsI64 $mode;
                Bf16 U8 => Bf16 U8AsI64 $mode; Bf16 U16 => Bf16 U16AsI64 $mode; Bf16 U32 => Bf16 U32AsI64 $mode;
            }
        };
    }
    modes_of!(rounding, mode)
}

fn to_integral(rounding: Rounding, level: Level) -> Option<RawMap> {
    macro_rules! mode {
        ($mode:ident) => {
            Some(narrow::<ToIntegral<$mode>>(level))
        };
    }
    modes_of!(rounding, mode)
}

fn to_float(from: Elem, to: Elem, is_clamped: bool, level: Level) -> Option<RawMap> {
    if is_clamped {
        return pairs! { (from, to), level, leveled ToFloat:
            F32 F16 => F32 F16Clamped; F32 Bf16 => F32 Bf16Clamped; F16 F32 => F16 F32; Bf16 F32 => Bf16 F32;
            F16 Bf16 => F16 Bf16Clamped; Bf16 F16 => Bf16 F16Clamped;
        };
    }
    pairs! { (from, to), level, leveled ToFloat:
        F32 F16 => F32 F16; F32 Bf16 => F32 Bf16; F16 F32 => F16 F32; Bf16 F32 => Bf16 F32;
        F16 Bf16 => F16 Bf16; Bf16 F16 => Bf16 F16;
    }
}

/// Rounding to f32 first is exact, or f16 overflows anyway; an i32 would be rounded twice on its way to bf16.
fn from_integer(from: Elem, to: Elem, is_clamped: bool, level: Level) -> Option<RawMap> {
    if is_clamped && to != Elem::F32 {
        return pairs! { (from, to), level, narrow FromInteger:
            I8 F16 => I8AsI32 F16Clamped; I16 F16 => I16AsI32 F16Clamped; I32 F16 => I32 F16Clamped;
            U8 F16 => U8AsI32 F16Clamped; U16 F16 => U16AsI32 F16Clamped;
            I8 Bf16 => I8AsI32 Bf16Clamped; I16 Bf16 => I16AsI32 Bf16Clamped;
            U8 Bf16 => U8AsI32 Bf16Clamped; U16 Bf16 => U16AsI32 Bf16Clamped;
        };
    }
    pairs! { (from, to), level, narrow FromInteger:
        I8 F32 => I8AsI32 F32; I16 F32 => I16AsI32 F32; I32 F32 => I32 F32; U8 F32 => U8AsI32 F32; U16 F32 => U16AsI32 F32;
        I8 F16 => I8AsI32 F16; I16 F16 => I16AsI32 F16; I32 F16 => I32 F16; U8 F16 => U8AsI32 F16; U16 F16 => U16AsI32 F16;
        I8 Bf16 => I8AsI32 Bf16; I16 Bf16 => I16AsI32 Bf16; U8 Bf16 => U8AsI32 Bf16; U16 Bf16 => U16AsI32 Bf16;
    }
}

/// A u64 may be beyond i64.
fn clamped(from: Elem, to: Elem, level: Level) -> Option<RawMap> {
    macro_rules! into {
        ($d:ident) => {
            match from {
                Elem::I8 => Some(narrow::<Clamped<I8AsI64, $d>>(level)),
                Elem::I16 => Some(narrow::<Clamped<I16AsI64, $d>>(level)),
                Elem::I32 => Some(narrow::<Clamped<I32AsI64, $d>>(level)),
                Elem::I64 => Some(narrow::<Clamped<I64, $d>>(level)),
                Elem::U8 => Some(narrow::<Clamped<U8AsI64, $d>>(level)),
                Elem::U16 => Some(narrow::<Clamped<U16AsI64, $d>>(level)),
                Elem::U32 => Some(narrow::<Clamped<U32AsI64, $d>>(level)),
                _ => None,
            }
        };
    }
    match to.bits() {
        8 => into!(U8AsI64),
        16 => into!(U16AsI64),
        32 => into!(U32AsI64),
        64 => into!(I64),
        _ => None,
    }
}
