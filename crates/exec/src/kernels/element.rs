//! Elements and functions as kernels see them: bits in memory, values that are computed with, and for every function of
//! elements what it is on values. [`Func::eval`](tessera_isa::sem::Func::eval) is the definition, which tests compare
//! all of them with.

#![allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]

use tessera_isa::codec::{Overflow, f16_to_f32};
use tessera_isa::elem::Elem;
use tessera_isa::sem::math;

/// An element type: the bits in memory, and the value that is computed with.
pub(super) trait Element {
    /// As it lies in memory.
    type Raw: Copy + Default;
    /// What is computed with.
    type Value: Copy + Default;
    /// The value of some bits.
    fn get(raw: Self::Raw) -> Self::Value;
    /// The bits of a value, rounded once.
    fn put(value: Self::Value) -> Self::Raw;

    /// [`Element::get`] of many.
    ///
    /// Safety: the machine has the instructions of `M`.
    #[inline(always)]
    unsafe fn get_all<M: Machine>(raw: [Self::Raw; LANES]) -> [Self::Value; LANES] {
        let mut values = [Self::Value::default(); LANES];
        values.iter_mut().zip(raw).for_each(|(value, raw)| *value = Self::get(raw));
        values
    }

    /// [`Element::put`] of many.
    ///
    /// Safety: the machine has the instructions of `M`.
    #[inline(always)]
    unsafe fn put_all<M: Machine>(values: [Self::Value; LANES]) -> [Self::Raw; LANES] {
        let mut raw = [Self::Raw::default(); LANES];
        raw.iter_mut().zip(values).for_each(|(raw, value)| *raw = Self::put(value));
        raw
    }
}

/// Elements that are computed together.
pub(super) const LANES: usize = 32;

/// What a machine has instructions for that the compiler does not find by itself.
pub(super) trait Machine: Sized {
    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn from_halves(raw: [u16; LANES]) -> [f32; LANES] {
        let mut values = [0.0; LANES];
        values.iter_mut().zip(raw).for_each(|(value, raw)| *value = f16_to_f32(raw));
        values
    }

    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn to_halves(values: [f32; LANES]) -> [u16; LANES] {
        let mut raw = [0; LANES];
        raw.iter_mut().zip(values).for_each(|(raw, v)| *raw = Elem::F16.encode_f32(v, Overflow::Infinity) as u16);
        raw
    }

    /// bf16 as f32, in any order that [`Machine::to_pairs`] undoes.
    ///
    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn from_pairs(raw: [u16; LANES]) -> [f32; LANES] {
        // SAFETY: the contract of this function.
        unsafe { Bf16::get_all::<Self>(raw) }
    }

    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn to_pairs(values: [f32; LANES]) -> [u16; LANES] {
        // SAFETY: the contract of this function.
        unsafe { Bf16::put_all::<Self>(values) }
    }

    /// The entry that the low bits of each index name.
    ///
    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn among(table: &[u32; 32], mut index: [u32; LANES]) -> [u32; LANES] {
        for lane in 0..LANES {
            index[lane] = table[index[lane] as usize % table.len()];
        }
        index
    }

    /// [`Max`] of many.
    ///
    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn greater(x: &[f32; LANES], y: &[f32; LANES]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            out[lane] = Max::of(x[lane], y[lane], 0.0);
        }
        out
    }

    /// [`Min`] of many.
    ///
    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn smaller(x: &[f32; LANES], y: &[f32; LANES]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            out[lane] = Min::of(x[lane], y[lane], 0.0);
        }
        out
    }

    /// [`math::scaled`] of many.
    ///
    /// Safety: the machine has the instructions.
    #[inline(always)]
    unsafe fn scaled(mut p: [f32; LANES], n: [f32; LANES]) -> [f32; LANES] {
        for lane in 0..LANES {
            p[lane] = math::scaled(p[lane], n[lane]);
        }
        p
    }
}

/// Any machine.
pub(super) struct Plain;

impl Machine for Plain {}

macro_rules! element {
    ($($name:ident $raw:ty as $value:ty: |$x:ident| $get:expr, |$v:ident| $put:expr;)*) => {$(
        pub(super) struct $name;

        impl Element for $name {
            type Raw = $raw;
            type Value = $value;

            #[inline(always)]
            fn get($x: $raw) -> $value {
                $get
            }

            #[inline(always)]
            fn put($v: $value) -> $raw {
                $put
            }
        }
    )*};
}
pub(super) use element;

element! {
    F32 u32 as f32: |x| f32::from_bits(x), |v| if v.is_nan() { 0x7FC0_0000 } else { v.to_bits() };
    // Of functions that give no NaN but the one that arithmetic gives.
    F32Settled u32 as f32: |x| f32::from_bits(x), |v| v.to_bits();
    Bf16 u16 as f32: |x| f32::from_bits(u32::from(x) << 16), |v| bf16(v);
    Bf16Clamped u16 as f32: |x| f32::from_bits(u32::from(x) << 16), |v| bf16(clamped(v, BF16_MAX));
    I8 i8 as i8: |x| x, |v| v;
    I16 i16 as i16: |x| x, |v| v;
    I32 i32 as i32: |x| x, |v| v;
    I64 i64 as i64: |x| x, |v| v;
    U8 u8 as u8: |x| x, |v| v;
    U16 u16 as u16: |x| x, |v| v;
    U32 u32 as u32: |x| x, |v| v;
    U64 u64 as u64: |x| x, |v| v;
    // No argument.
    Nothing () as (): |x| x, |v| v;
}

/// The largest numbers of the types.
const F16_MAX: f32 = 65504.0;
const BF16_MAX: f32 = f32::from_bits(0x7F7F_0000);

/// Cut to 16 bits with half of the last place added, and its parity: ties go to even, and what overflows is infinity.
#[inline(always)]
fn bf16(v: f32) -> u16 {
    let bits = v.to_bits();
    let rounded = (bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16) as u16;
    if v.is_nan() { 0x7FC0 } else { rounded }
}

/// What overflows becomes the largest number; an infinity stays one.
#[inline(always)]
fn clamped(v: f32, largest: f32) -> f32 {
    let nearest = if v > largest { largest } else { v };
    let nearest = if v < -largest { -largest } else { nearest };
    if v.abs() == f32::INFINITY { v } else { nearest }
}

/// f16, and f16 where overflow gives the largest value.
macro_rules! halves {
    ($($name:ident |$v:ident| $value:expr;)*) => {$(
        pub(super) struct $name;

        impl Element for $name {
            type Raw = u16;
            type Value = f32;

            #[inline(always)]
            fn get(raw: u16) -> f32 {
                f16_to_f32(raw)
            }

            #[inline(always)]
            fn put($v: f32) -> u16 {
                Elem::F16.encode_f32($value, Overflow::Infinity) as u16
            }

            #[inline(always)]
            unsafe fn get_all<M: Machine>(raw: [u16; LANES]) -> [f32; LANES] {
                // SAFETY: the contract of this function.
                unsafe { M::from_halves(raw) }
            }

            #[inline(always)]
            #[allow(clippy::almost_swapped, reason = "one of the functions changes nothing")]
            unsafe fn put_all<M: Machine>(mut values: [f32; LANES]) -> [u16; LANES] {
                for lane in &mut values {
                    let $v = *lane;
                    *lane = $value;
                }
                // SAFETY: the contract of this function.
                unsafe { M::to_halves(values) }
            }
        }
    )*};
}
halves! {
    F16 |v| v;
    F16Clamped |v| clamped(v, F16_MAX);
}

/// bf16 two by two, where the machine computes them so ([`Machine::from_pairs`]).
pub(super) struct Bf16Pairs;

impl Element for Bf16Pairs {
    type Raw = u16;
    type Value = f32;

    #[inline(always)]
    fn get(raw: u16) -> f32 {
        Bf16::get(raw)
    }

    #[inline(always)]
    fn put(v: f32) -> u16 {
        bf16(v)
    }

    #[inline(always)]
    unsafe fn get_all<M: Machine>(raw: [u16; LANES]) -> [f32; LANES] {
        // SAFETY: the contract of this function.
        unsafe { M::from_pairs(raw) }
    }

    #[inline(always)]
    unsafe fn put_all<M: Machine>(values: [f32; LANES]) -> [u16; LANES] {
        // SAFETY: the contract of this function.
        unsafe { M::to_pairs(values) }
    }
}

/// A float of 16 bits as its code: of a type with this infinity and this NaN.
#[derive(Clone, Copy, Default)]
pub(super) struct Code<const INFINITY: u16, const NO_NUMBER: u16>(u16);

impl<const INFINITY: u16, const NO_NUMBER: u16> Code<INFINITY, NO_NUMBER> {
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.0 & 0x7FFF > INFINITY
    }

    /// Rises with the number, -0 below +0.
    #[inline(always)]
    fn rank(self) -> i16 {
        let bits = self.0 as i16;
        bits ^ (bits >> 15 & 0x7FFF)
    }

    /// One of two numbers, or NaN where one of them is.
    #[inline(always)]
    fn either(self, other: Self, is_first: bool) -> Self {
        let chosen = if is_first { self } else { other };
        if self.is_nan() | other.is_nan() { Code(NO_NUMBER) } else { chosen }
    }
}

type HalfCode = Code<0x7C00, 0x7E00>;
type BrainCode = Code<0x7F80, 0x7FC0>;

element! {
    F16Code u16 as HalfCode: |x| Code(x), |v| v.0;
    Bf16Code u16 as BrainCode: |x| Code(x), |v| v.0;
}

/// A function of up to three values of one type.
pub(super) trait Fun<V: Copy + Default> {
    /// The result.
    fn of(x: V, y: V, z: V) -> V;

    /// The results of many.
    ///
    /// Safety: the machine has the instructions of `M`.
    #[inline(always)]
    unsafe fn of_all<M: Machine>(x: &[V; LANES], y: &[V; LANES], z: &[V; LANES]) -> [V; LANES] {
        let mut out = [V::default(); LANES];
        for lane in 0..LANES {
            out[lane] = Self::of(x[lane], y[lane], z[lane]);
        }
        out
    }
}

/// Functions over a type, in the names of [`Func`](tessera_isa::sem::Func).
macro_rules! functions {
    ($type:ty: $($func:ident |$x:ident, $y:ident, $z:ident| $value:expr;)*) => {$(
        impl Fun<$type> for $func {
            #[inline(always)]
            fn of($x: $type, $y: $type, $z: $type) -> $type {
                $value
            }
        }
    )*};
}

macro_rules! markers {
    ($($name:ident)*) => {$(
        pub(super) struct $name;
    )*};
}

markers! {
    Abs Neg Not Relu Recip Exp Log Sqrt Rsqrt Add Sub Mul Div MulRecip Rem Fmod Pow Max Min And Or Xor Shl Shr Prelu ExpDif
    AddAdd SubAdd Axpy SignOff SignFlipped
}

functions! { f32:
    Relu |x, _y, _z| if x > 0.0 || x.is_nan() { x } else { 0.0 };
    Recip |x, _y, _z| 1.0 / x;
    Sqrt |x, _y, _z| x.sqrt();
    Add |x, y, _z| x + y;
    Sub |x, y, _z| x - y;
    Mul |x, y, _z| x * y;
    Div |x, y, _z| x / y;
    MulRecip |x, y, _z| x * (1.0 / if y == 0.0 { 0.0 } else { y });
    Pow |x, y, _z| math::pow(x, y);
    Prelu |x, y, _z| if x > 0.0 { x } else { y * x };
    AddAdd |x, y, z| (x + y) + z;
    SubAdd |x, y, z| (x - y) + z;
    Axpy |x, y, z| z + x * y;
}

macro_rules! ranked {
    ($($type:ty)*) => {$(functions! { $type:
        Relu |x, _y, _z| x.either(if x.rank() < 0 { Code(0) } else { x }, false);
        Max |x, y, _z| x.either(y, x.rank() > y.rank());
        Min |x, y, _z| x.either(y, x.rank() < y.rank());
    })*};
}
ranked! { HalfCode BrainCode }

/// One of two numbers, or NaN where one of them is.
#[inline(always)]
fn either(x: f32, y: f32, is_first: bool) -> f32 {
    let chosen = if is_first { x } else { y };
    if x.is_nan() | y.is_nan() { f32::NAN } else { chosen }
}

/// The greater and the smaller, -0 below +0: all lanes at once, by what the machine has.
macro_rules! either {
    ($($func:ident $all:ident |$x:ident, $y:ident| $is_first:expr;)*) => {$(
        impl Fun<f32> for $func {
            #[inline(always)]
            fn of($x: f32, $y: f32, _z: f32) -> f32 {
                either($x, $y, $is_first)
            }

            #[inline(always)]
            unsafe fn of_all<M: Machine>(x: &[f32; LANES], y: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
                // SAFETY: the contract of this function.
                unsafe { M::$all(x, y) }
            }
        }
    )*};
}

either! {
    Max greater |x, y| (x > y) | ((x == y) & y.is_sign_negative());
    Min smaller |x, y| (x < y) | ((x == y) & x.is_sign_negative());
}

/// e to some power: all lanes at once, by what the machine has to scale with.
macro_rules! powers {
    ($($func:ident |$x:ident, $y:ident| $power:expr;)*) => {$(
        impl Fun<f32> for $func {
            #[inline(always)]
            fn of($x: f32, $y: f32, _z: f32) -> f32 {
                math::exp($power)
            }

            #[inline(always)]
            unsafe fn of_all<M: Machine>(x: &[f32; LANES], y: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
                let (mut p, mut n) = ([0.0; LANES], [0.0; LANES]);
                for lane in 0..LANES {
                    let ($x, $y) = (x[lane], y[lane]);
                    (p[lane], n[lane]) = math::exp_parts($power);
                }
                // SAFETY: the contract of this function.
                let mut out = unsafe { M::scaled(p, n) };
                for lane in 0..LANES {
                    let ($x, $y) = (x[lane], y[lane]);
                    out[lane] = if $power.is_nan() { f32::NAN } else { out[lane] };
                }
                out
            }
        }
    )*};
}

powers! {
    Exp |x, _y| x;
    ExpDif |x, y| x - y;
}

/// Functions that are simple where [`math::is_usual`], and computed whole where one lane is not.
macro_rules! usually {
    ($($func:ident |$x:ident, $y:ident| $is_usual:expr, $usual:expr, $whole:expr;)*) => {$(
        impl Fun<f32> for $func {
            #[inline(always)]
            fn of($x: f32, $y: f32, _z: f32) -> f32 {
                $whole
            }

            #[inline(always)]
            unsafe fn of_all<M: Machine>(x: &[f32; LANES], y: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
                let mut out = [0.0; LANES];
                let mut all = true;
                for lane in 0..LANES {
                    let ($x, $y) = (x[lane], y[lane]);
                    all &= $is_usual;
                }
                if all {
                    for lane in 0..LANES {
                        let ($x, $y) = (x[lane], y[lane]);
                        out[lane] = $usual;
                    }
                } else {
                    for lane in 0..LANES {
                        let ($x, $y) = (x[lane], y[lane]);
                        out[lane] = $whole;
                    }
                }
                out
            }
        }
    )*};
}

usually! {
    Log |x, _y| math::is_usual(x), math::log_usual(x, 0), math::log(x);
    Fmod |x, y| math::fmod_near(x, y).1, math::fmod_near(x, y).0, math::fmod(x, y);
    Rem |x, y| math::fmod_near(x, y).1, math::floored(math::fmod_near(x, y).0, y), math::rem(x, y);
}

impl Fun<f32> for Rsqrt {
    #[inline(always)]
    fn of(x: f32, _: f32, _: f32) -> f32 {
        math::rsqrt(x)
    }

    #[inline(always)]
    unsafe fn of_all<M: Machine>(x: &[f32; LANES], _: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
        let (mut out, mut index) = ([0.0; LANES], [0; LANES]);
        let mut all = true;
        for lane in 0..LANES {
            all &= math::has_usual_root(x[lane]);
            index[lane] = x[lane].to_bits() >> math::RSQRT_INDEX;
        }
        if all {
            // SAFETY: the contract of this function.
            let guess = unsafe { M::among(&math::RSQRT_GUESS, index) };
            for lane in 0..LANES {
                out[lane] = math::rsqrt_from(x[lane], guess[lane]);
            }
        } else {
            for lane in 0..LANES {
                out[lane] = math::rsqrt(x[lane]);
            }
        }
        out
    }
}

/// What wraps, so that the sign of the type does not matter. Of floats, these only touch the sign bit.
macro_rules! wrapping {
    ($($type:ty)*) => {$(functions! { $type:
        Neg |x, _y, _z| x.wrapping_neg();
        Not |x, _y, _z| !x;
        Add |x, y, _z| x.wrapping_add(y);
        Sub |x, y, _z| x.wrapping_sub(y);
        Mul |x, y, _z| x.wrapping_mul(y);
        And |x, y, _z| x & y;
        Or |x, y, _z| x | y;
        Xor |x, y, _z| x ^ y;
        Shl |x, y, _z| x.wrapping_shl(y as u32);
        AddAdd |x, y, z| x.wrapping_add(y).wrapping_add(z);
        SubAdd |x, y, z| x.wrapping_sub(y).wrapping_add(z);
        SignOff |x, _y, _z| x & (<$type>::MAX >> 1);
        SignFlipped |x, _y, _z| x ^ !(<$type>::MAX >> 1);
    })*};
}
wrapping! { u8 u16 u32 u64 }

macro_rules! folding {
    ($($type:ty)*) => {$(functions! { $type:
        Add |x, y, _z| x.wrapping_add(y);
        Mul |x, y, _z| x.wrapping_mul(y);
    })*};
}
folding! { i8 i16 i32 i64 }

/// What depends on the sign. Nothing is divided by zero: `-zero` comes before, and lanes beyond the end count as 0.
macro_rules! integers {
    ($($type:ty, |$a:ident| $abs:expr, $minus_one:expr;)*) => {$(functions! { $type:
        Abs |$a, _y, _z| $abs;
        Relu |x, _y, _z| x.max(0);
        Recip |x, _y, _z| if x == 0 { 0 } else { <$type>::wrapping_div(1, x) };
        Div |x, y, _z| if y == 0 { 0 } else { x.wrapping_div(y) };
        Fmod |x, y, _z| if y == 0 { 0 } else { x.wrapping_rem(y) };
        Max |x, y, _z| x.max(y);
        Min |x, y, _z| x.min(y);
        Shr |x, y, _z| x.wrapping_shr(y as u32);
        Pow |x, y, _z| {
            let (mut result, mut square, mut left): ($type, $type, $type) = (1, x, y);
            if $minus_one == Some(x) {
                left &= 1;
            }
            // A negative exponent leaves 1 and -1 only (isa/elementwise.md 3).
            if left < 1 && left != 0 {
                return <$type>::from(x == 1);
            }
            while left != 0 {
                if left & 1 == 1 {
                    result = result.wrapping_mul(square);
                }
                square = square.wrapping_mul(square);
                left >>= 1;
            }
            result
        };
    })*};
}
integers! {
    i8, |x| x.wrapping_abs(), Some(-1);
    i16, |x| x.wrapping_abs(), Some(-1);
    i32, |x| x.wrapping_abs(), Some(-1);
    i64, |x| x.wrapping_abs(), Some(-1);
    u8, |x| x, None;
    u16, |x| x, None;
    u32, |x| x, None;
    u64, |x| x, None;
}

/// The remainder with the divisor's sign; i64 keeps the dividend's (isa/elementwise.md 7).
macro_rules! rem {
    ($($type:ty)*; $($other:ty)*) => {
        $(functions! { $type:
            Rem |x, y, _z| {
                let r = <Fmod as Fun<$type>>::of(x, y, 0);
                if (r != 0) & ((r < 0) != (y < 0)) { r + y } else { r }
            };
        })*
        $(functions! { $other: Rem |x, y, z| <Fmod as Fun<$other>>::of(x, y, z); })*
    };
}
rem! { i8 i16 i32; i64 u8 u16 u32 u64 }
