//! Selection of the kernel that computes a function over its types.

use super::element::*;
use super::function::*;
use super::map::{ARGS, Mapped};
use super::raw_map::{Op, RawMap, RawRows, Value, Values, leveled, narrow, paired, scalar};
use super::{Level, cvt};
use std::marker::PhantomData;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// A function of one, two or three elements; the third is of the result's type.
struct One<F, E, D = E>(PhantomData<(F, E, D)>);
struct Two<F, E, D = E>(PhantomData<(F, E, D)>);
struct Three<F, E, D>(PhantomData<(F, E, D)>);
/// A function of an f32 and an element.
struct OfScalar<F, E>(PhantomData<(F, E)>);

impl<F: Fun<Value<E>>, E: Element, D: Element<Value = Value<E>>> Op for One<F, E, D> {
    type A = E;
    type B = Nothing;
    type C = Nothing;
    type D = D;

    #[inline(always)]
    fn apply(a: Value<E>, (): (), (): ()) -> Value<E> {
        F::of(a, Value::<E>::default(), Value::<E>::default())
    }

    #[inline(always)]
    unsafe fn apply_all<M: Simd>(a: &Values<E>, _: &Values<Nothing>, _: &Values<Nothing>) -> Values<E> {
        let none = [Value::<E>::default(); LANES];
        // SAFETY: the contract of the method.
        unsafe { F::of_all::<M>(a, &none, &none) }
    }
}

impl<F: Fun<Value<E>>, E: Element, D: Element<Value = Value<E>>> Op for Two<F, E, D> {
    type A = E;
    type B = E;
    type C = Nothing;
    type D = D;

    #[inline(always)]
    fn apply(a: Value<E>, b: Value<E>, (): ()) -> Value<E> {
        F::of(a, b, Value::<E>::default())
    }

    #[inline(always)]
    unsafe fn apply_all<M: Simd>(a: &Values<E>, b: &Values<E>, _: &Values<Nothing>) -> Values<E> {
        // SAFETY: the contract of the method.
        unsafe { F::of_all::<M>(a, b, &[Value::<E>::default(); LANES]) }
    }
}

impl<F: Fun<Value<E>>, E: Element, D: Element<Value = Value<E>>> Op for Three<F, E, D> {
    type A = E;
    type B = E;
    type C = D;
    type D = D;

    #[inline(always)]
    fn apply(a: Value<E>, b: Value<E>, c: Value<E>) -> Value<E> {
        F::of(a, b, c)
    }
}

impl<F: Fun<f32>, E: Element<Value = f32>> Op for OfScalar<F, E> {
    type A = F32;
    type B = E;
    type C = Nothing;
    type D = E;

    #[inline(always)]
    fn apply(a: f32, b: f32, (): ()) -> f32 {
        F::of(a, b, 0.0)
    }
}

/// The kernel of a function with its types, and the values of its scalars.
pub(super) fn choose(mapped: &Mapped, level: Level) -> Option<(RawMap, [[u8; 8]; ARGS])> {
    let to = mapped.to;
    let first = mapped.elements().next()?;
    if let Func::Cvt { rounding, saturation } = mapped.func {
        return cvt::choose(first, to, rounding, saturation, level);
    }
    // The third argument alone may be of another type: the result's.
    let is_kept = |(n, (elem, scalar)): (usize, &(Elem, Option<u64>))| match scalar {
        Some(_) => elem.is_float() == first.is_float(),
        None => *elem == if n == 2 { to } else { first },
    };
    if !mapped.args.iter().enumerate().all(is_kept) || (first != to && mapped.func != Func::Axpy) {
        return None;
    }
    let mut scalars = [[0; 8]; ARGS];
    for ((elem, bits), bytes) in mapped.args.iter().zip(&mut scalars).filter_map(|((e, s), b)| Some(((*e, (*s)?), b))) {
        match elem.decode(bits) {
            // A float enters as the f32 that it is, whatever the type of the elements (isa/scalar.md 2).
            Number::Float(v) => bytes[..4].copy_from_slice(&(v as f32).to_ne_bytes()),
            Number::Int(v) => *bytes = (v as u64).to_le_bytes(),
        }
    }
    let has_scalar = |n: usize| mapped.args.get(n).is_some_and(|(_, scalar)| scalar.is_some());
    let raw = match to.is_float() {
        true if has_scalar(0) => of_scalar(mapped.func, to, level),
        // It stands as f32, and is read as an element.
        true if has_scalar(2) && to != Elem::F32 => None,
        true => {
            let codes = if has_scalar(1) { None } else { of_codes(mapped.func, first, level) };
            let raw = codes.or_else(|| of_floats(mapped.func, first, to, level));
            let [_, [a, b, c, d, ..], _] = scalars;
            let second = has_scalar(1).then_some(f32::from_ne_bytes([a, b, c, d]));
            match of_halves(mapped.func, first, second, level).filter(|_| first == to) {
                Some(halves) => raw.map(|raw| raw.after(halves)),
                None => raw,
            }
        }
        false => wrapping(mapped.func, to, level).or_else(|| of_integers(mapped.func, to, level)),
    };
    Some((raw?, scalars))
}

/// The kernel of one of some functions; `$types` makes it of a function and how many arguments it has.
macro_rules! among {
    ($func:expr, $types:ident: $($arity:ident $($name:ident)*;)*) => {
        match $func {
            $($(Func::$name => $types!($arity $name),)*)*
            _ => None,
        }
    };
}

/// Elements of 16 bits that are compared as they are; scalars are no such.
fn of_codes(func: Func, elem: Elem, level: Level) -> Option<RawMap> {
    macro_rules! codes {
        ($arity:ident $name:ident) => {
            match elem {
                Elem::F16 => Some(leveled::<$arity<$name, F16Code>>(level)),
                Elem::Bf16 => Some(leveled::<$arity<$name, Bf16Code>>(level)),
                _ => None,
            }
        };
    }
    among! { func, codes:
        One Relu;
        Two Max Min;
    }
}

fn of_floats(func: Func, elem: Elem, to: Elem, level: Level) -> Option<RawMap> {
    macro_rules! floats {
        (Three $name:ident) => {
            match (elem, to) {
                (Elem::F32, Elem::F32) => Some(leveled::<Three<$name, F32, F32>>(level)),
                (Elem::F16, Elem::F16) => Some(leveled::<Three<$name, F16, F16>>(level)),
                (Elem::Bf16, Elem::Bf16) => Some(paired::<Three<$name, Bf16, Bf16>, Three<$name, Bf16Pairs, Bf16Pairs>>(level)),
                (Elem::F16, Elem::F32) => Some(leveled::<Three<$name, F16, F32>>(level)),
                (Elem::Bf16, Elem::F32) => Some(leveled::<Three<$name, Bf16, F32>>(level)),
                _ => None,
            }
        };
        (@ $arity:ident $name:ident $f32:ident) => {
            match elem {
                Elem::F32 => Some(leveled::<$arity<$name, F32, $f32>>(level)),
                Elem::F16 => Some(leveled::<$arity<$name, F16>>(level)),
                Elem::Bf16 => Some(paired::<$arity<$name, Bf16>, $arity<$name, Bf16Pairs>>(level)),
                _ => None,
            }
        };
        // The results of these have no NaN other than the one that arithmetic gives.
        ($arity:ident Max) => { floats!(@ $arity Max F32Settled) };
        ($arity:ident Min) => { floats!(@ $arity Min F32Settled) };
        ($arity:ident Exp) => { floats!(@ $arity Exp F32Settled) };
        ($arity:ident Log) => { floats!(@ $arity Log F32Settled) };
        ($arity:ident Rsqrt) => { floats!(@ $arity Rsqrt F32Settled) };
        ($arity:ident ExpDif) => { floats!(@ $arity ExpDif F32Settled) };
        ($arity:ident $name:ident) => { floats!(@ $arity $name F32) };
    }
    macro_rules! bits {
        ($name:ident) => {
            match elem.bits() {
                32 => Some(narrow::<One<$name, U32>>(level)),
                16 => Some(narrow::<One<$name, U16>>(level)),
                _ => None,
            }
        };
    }
    match func {
        Func::Abs => bits!(SignOff),
        Func::Neg => bits!(SignFlipped),
        _ => among! { func, floats:
            One Relu Recip Exp Log Sqrt Rsqrt;
            Two Add Sub Mul Div MulRecip Rem Fmod Pow Max Min Prelu ExpDif;
            Three AddAdd SubAdd Axpy;
        },
    }
}

/// A scalar divided by elements.
fn of_scalar(func: Func, elem: Elem, level: Level) -> Option<RawMap> {
    match (func, elem) {
        (Func::Div, Elem::F32) => Some(leveled::<OfScalar<Div, F32>>(level)),
        (Func::Div, Elem::F16) => Some(leveled::<OfScalar<Div, F16>>(level)),
        (Func::Div, Elem::Bf16) => Some(leveled::<OfScalar<Div, Bf16>>(level)),
        _ => None,
    }
}

/// Elements of 16 bits that lie side by side, where the machine has instructions for them; `second` is the second argument
/// where that is a scalar.
#[cfg(target_arch = "x86_64")]
fn of_halves(func: Func, elem: Elem, second: Option<f32>, level: Level) -> Option<RawRows> {
    use super::x86;
    if level < Level::Avx512 {
        return None;
    }
    let is_normal = x86::has_bf16() && second.is_some_and(x86::has_normal_sums);
    match (elem, func) {
        (Elem::F16, Func::Max) => Some(x86::f16_max),
        (Elem::F16, Func::Min) => Some(x86::f16_min),
        (Elem::F16, Func::Relu) => Some(x86::f16_relu),
        (Elem::F16, Func::Add) if x86::has_f16() => Some(x86::f16_add),
        (Elem::F16, Func::Sub) if x86::has_f16() => Some(x86::f16_sub),
        (Elem::F16, Func::Mul) if x86::has_f16() => Some(x86::f16_mul),
        (Elem::F16, Func::Add) => Some(x86::f16_add_in_f32),
        (Elem::F16, Func::Sub) => Some(x86::f16_sub_in_f32),
        (Elem::F16, Func::Mul) => Some(x86::f16_mul_in_f32),
        (Elem::Bf16, Func::Max) => Some(x86::bf16_max),
        (Elem::Bf16, Func::Min) => Some(x86::bf16_min),
        (Elem::Bf16, Func::Relu) => Some(x86::bf16_relu),
        (Elem::Bf16, Func::Add) if is_normal => Some(x86::bf16_add_normal),
        (Elem::Bf16, Func::Sub) if is_normal => Some(x86::bf16_sub_normal),
        (Elem::Bf16, Func::Add) if x86::has_dot() => Some(x86::bf16_add),
        (Elem::Bf16, Func::Sub) if x86::has_dot() => Some(x86::bf16_sub),
        (Elem::Bf16, Func::Mul) if x86::has_dot() => Some(x86::bf16_mul),
        _ => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn of_halves(_: Func, _: Elem, _: Option<f32>, _: Level) -> Option<RawRows> {
    None
}

/// Integer functions for which the sign of the type does not matter.
fn wrapping(func: Func, elem: Elem, level: Level) -> Option<RawMap> {
    macro_rules! unsigned {
        (@ $($op:tt)*) => { Some(narrow::<$($op)*>(level)) };
        (Three $name:ident) => {
            match elem.bits() {
                8 => unsigned!(@ Three<$name, U8, U8>),
                16 => unsigned!(@ Three<$name, U16, U16>),
                32 => unsigned!(@ Three<$name, U32, U32>),
                64 => unsigned!(@ Three<$name, U64, U64>),
                _ => None,
            }
        };
        ($arity:ident $name:ident) => {
            match elem.bits() {
                8 => unsigned!(@ $arity<$name, U8>),
                16 => unsigned!(@ $arity<$name, U16>),
                32 => unsigned!(@ $arity<$name, U32>),
                64 => unsigned!(@ $arity<$name, U64>),
                _ => None,
            }
        };
    }
    among! { func, unsigned:
        One Neg Not;
        Two Add Sub Mul And Or Xor Shl;
        Three AddAdd SubAdd;
    }
}

fn of_integers(func: Func, elem: Elem, level: Level) -> Option<RawMap> {
    macro_rules! integers {
        // No machine divides integers in vectors.
        ($arity:ident Recip) => { integers!($arity Recip scalar()) };
        ($arity:ident Div) => { integers!($arity Div scalar()) };
        ($arity:ident Rem) => { integers!($arity Rem scalar()) };
        ($arity:ident Fmod) => { integers!($arity Fmod scalar()) };
        ($arity:ident Pow) => { integers!($arity Pow scalar()) };
        ($arity:ident $name:ident) => { integers!($arity $name narrow(level)) };
        ($arity:ident $name:ident $kernel:ident($($level:ident)?)) => {
            integers!($arity $name $kernel($($level)?): I8 I16 I32 I64 U8 U16 U32 U64)
        };
        ($arity:ident $name:ident $kernel:ident $level:tt: $($elem:ident)*) => {
            match elem {
                $(Elem::$elem => Some($kernel::<$arity<$name, $elem>>$level),)*
                _ => None,
            }
        };
    }
    among! { func, integers:
        One Abs Relu Recip;
        Two Div Rem Fmod Pow Max Min Shr;
    }
}
