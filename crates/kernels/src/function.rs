//! Functions as kernels see them: for every function of elements what it is on values, one or many.
//! [`Func::eval`](tessera_isa::sem::Func::eval) is the definition, which tests compare all of them with.

#![allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]

use super::element::{BrainCode, Code, HalfCode, LANES, Simd};
use tessera_isa::sem::math;

/// A function of up to three values of one type.
pub(super) trait Fun<V: Copy + Default> {
    /// The result.
    fn of(x: V, y: V, z: V) -> V;

    /// The results of many.
    ///
    /// Safety: the machine has the instructions of `M`.
    #[inline(always)]
    unsafe fn of_all<M: Simd>(x: &[V; LANES], y: &[V; LANES], z: &[V; LANES]) -> [V; LANES] {
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
            unsafe fn of_all<M: Simd>(x: &[f32; LANES], y: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
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
            unsafe fn of_all<M: Simd>(x: &[f32; LANES], y: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
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
            unsafe fn of_all<M: Simd>(x: &[f32; LANES], y: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
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
    unsafe fn of_all<M: Simd>(x: &[f32; LANES], _: &[f32; LANES], _: &[f32; LANES]) -> [f32; LANES] {
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

/// Functions that wrap, so that the sign of the type does not matter. Of floats, these only touch the sign bit.
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

/// Functions that depend on the sign. Nothing is divided by zero: `-zero` comes before, and lanes beyond the end count
/// as 0.
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
