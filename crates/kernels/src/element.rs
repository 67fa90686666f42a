//! Elements as kernels see them: bits in memory, values for computation, and machine instructions for many of them at
//! once. Functions on values are in [`super::function`].

#![allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]

use super::function::{Fun, Max, Min};
use tessera_isa::codec::{Overflow, f16_to_f32};
use tessera_isa::elem::Elem;
use tessera_isa::sem::math;

/// An element type: the bits in memory, and the value that is computed with.
pub(super) trait Element {
    /// As it lies in memory.
    type Raw: Copy + Default;
    /// The type of values in computation.
    type Value: Copy + Default;
    /// The value of some bits.
    fn get(raw: Self::Raw) -> Self::Value;
    /// The bits of a value, rounded once.
    fn put(value: Self::Value) -> Self::Raw;

    /// [`Element::get`] of many.
    ///
    /// Safety: the machine has the instructions of `M`.
    #[inline(always)]
    unsafe fn get_all<M: Simd>(raw: [Self::Raw; LANES]) -> [Self::Value; LANES] {
        let mut values = [Self::Value::default(); LANES];
        values.iter_mut().zip(raw).for_each(|(value, raw)| *value = Self::get(raw));
        values
    }

    /// [`Element::put`] of many.
    ///
    /// Safety: the machine has the instructions of `M`.
    #[inline(always)]
    unsafe fn put_all<M: Simd>(values: [Self::Value; LANES]) -> [Self::Raw; LANES] {
        let mut raw = [Self::Raw::default(); LANES];
        raw.iter_mut().zip(values).for_each(|(raw, value)| *raw = Self::put(value));
        raw
    }
}

/// Elements that are computed together.
pub(super) const LANES: usize = 32;

/// Operations that the machine has instructions for and the compiler does not find by itself.
pub(super) trait Simd: Sized {
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

    /// bf16 as f32, in any order that [`Simd::to_pairs`] undoes.
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

impl Simd for Plain {}

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

/// Clamps overflow to the largest number; an infinity stays an infinity.
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
            unsafe fn get_all<M: Simd>(raw: [u16; LANES]) -> [f32; LANES] {
                // SAFETY: the contract of this function.
                unsafe { M::from_halves(raw) }
            }

            #[inline(always)]
            #[allow(clippy::almost_swapped, reason = "one of the functions changes nothing")]
            unsafe fn put_all<M: Simd>(mut values: [f32; LANES]) -> [u16; LANES] {
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

/// bf16 two by two, where the machine computes them so ([`Simd::from_pairs`]).
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
    unsafe fn get_all<M: Simd>(raw: [u16; LANES]) -> [f32; LANES] {
        // SAFETY: the contract of this function.
        unsafe { M::from_pairs(raw) }
    }

    #[inline(always)]
    unsafe fn put_all<M: Simd>(values: [f32; LANES]) -> [u16; LANES] {
        // SAFETY: the contract of this function.
        unsafe { M::to_pairs(values) }
    }
}

/// A float of 16 bits as its code: of a type with this infinity and this NaN.
#[derive(Clone, Copy, Default)]
pub(super) struct Code<const INFINITY: u16, const NO_NUMBER: u16>(pub u16);

impl<const INFINITY: u16, const NO_NUMBER: u16> Code<INFINITY, NO_NUMBER> {
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.0 & 0x7FFF > INFINITY
    }

    /// Rises with the number, -0 below +0.
    #[inline(always)]
    pub fn rank(self) -> i16 {
        let bits = self.0 as i16;
        bits ^ (bits >> 15 & 0x7FFF)
    }

    /// One of two numbers, or NaN where one of them is.
    #[inline(always)]
    pub fn either(self, other: Self, is_first: bool) -> Self {
        let chosen = if is_first { self } else { other };
        if self.is_nan() | other.is_nan() { Code(NO_NUMBER) } else { chosen }
    }
}

pub(super) type HalfCode = Code<0x7C00, 0x7E00>;
pub(super) type BrainCode = Code<0x7F80, 0x7FC0>;

element! {
    F16Code u16 as HalfCode: |x| Code(x), |v| v.0;
    Bf16Code u16 as BrainCode: |x| Code(x), |v| v.0;
}
