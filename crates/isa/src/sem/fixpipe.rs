//! The conversion of a value on its way out of an accumulator (fixpipe.md 4): convert or quantize, then ReLU, then
//! store.

use crate::codec::{Overflow, QuantParam};
use crate::elem::Elem;

/// The conversion of one instruction; which pairs of types are legal is fixpipe.md 2's business.
///
/// ```
/// use tessera_isa::codec::QuantParam;
/// use tessera_isa::elem::Elem;
/// use tessera_isa::sem::Fixpipe;
///
/// let fixpipe = Fixpipe { src: Elem::F32, dst: Elem::I8, relu: false, hardware_rounding: false, saturate_inf: false };
/// let param = QuantParam::scalar(1 << 46 | u64::from(1f32.to_bits()));
/// assert_eq!(fixpipe.apply(2.5f32.to_bits(), Some(&param)), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fixpipe {
    /// The accumulator's type, f32 or i32.
    pub src: Elem,
    /// The type that is stored.
    pub dst: Elem,
    /// Whether ReLU acts on the value to be stored.
    pub relu: bool,
    /// `a2a3` and `a5` round to an integer before they add the offset of an i8 or u8 result, `cpu` afterwards.
    pub hardware_rounding: bool,
    /// Whether an f32 that is quantized to f16 or bf16 saturates from infinity, too, and NaN becomes 0 (cpp.md 8).
    pub saturate_inf: bool,
}

impl Fixpipe {
    /// The stored bits of an accumulator element: the plain form without a parameter, the quantizing ones with theirs.
    #[inline(always)]
    pub fn apply(&self, bits: u32, param: Option<&QuantParam>) -> u64 {
        let stored = match param {
            None => self.cast(bits),
            Some(param) => self.quantize(bits, param),
        };
        if self.relu { relu(self.dst, stored) } else { stored }
    }

    #[inline(always)]
    fn cast(&self, bits: u32) -> u64 {
        if self.src == self.dst { u64::from(bits) } else { self.dst.encode_f32(self.value(bits), Overflow::Infinity) }
    }

    #[inline(always)]
    fn quantize(&self, bits: u32, param: &QuantParam) -> u64 {
        if self.src == Elem::I32 && self.dst == Elem::I16 {
            let shifted = bits as i32 >> param.shift.min(31);
            return shifted.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as u16 as u64;
        }
        let t = self.value(bits) * param.scale;
        match self.dst {
            Elem::I8 => self.integer(t, param, -128, 127) as u8 as u64,
            Elem::U8 => self.integer(t, param, 0, 255) as u8 as u64,
            dst @ (Elem::F16 | Elem::Bf16) if self.saturate_inf && self.src == Elem::F32 => {
                dst.encode_f32(if t.is_nan() { 0.0 } else { t.clamp(f32::MIN, f32::MAX) }, Overflow::Saturate)
            }
            // Saturating keeps infinities where the type has them (f16, bf16, hif8) and clamps them where not (f8e4m3).
            dst => dst.encode_f32(t, Overflow::Saturate),
        }
    }

    /// The element as binary32: an i32 is rounded.
    #[inline(always)]
    fn value(&self, bits: u32) -> f32 {
        if self.src == Elem::I32 { bits as i32 as f32 } else { f32::from_bits(bits) }
    }

    #[inline(always)]
    fn integer(&self, t: f32, param: &QuantParam, min: i32, max: i32) -> i32 {
        let sum = if self.hardware_rounding {
            nearest_integer(t).clamp(-256, 255) + param.offset
        } else {
            nearest_integer(t + param.offset as f32)
        };
        if t.is_nan() { 0 } else { sum.clamp(min, max) }
    }
}

/// The nearest integer, ties to even, clamped to ±1024, beyond which every 8-bit result is clamped anyway.
///
/// The sum with 1.5·2^23 has the integer in its low bits, rounded by the adder: unlike a call of `round_ties_even`, this
/// is a few instructions on every processor.
#[inline(always)]
fn nearest_integer(v: f32) -> i32 {
    const ROUNDER: f32 = 12_582_912.0;
    (v.clamp(-1024.0, 1024.0) + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) as i32
}

/// `v > 0 ? v : +0` on an element's bits; NaN and negative zero become +0 (fixpipe.md 4).
#[inline(always)]
pub fn relu(elem: Elem, bits: u64) -> u64 {
    let negative = elem.is_signed() && bits >> (elem.bits() - 1) & 1 == 1;
    if negative | elem.is_nan(bits) { 0 } else { bits }
}
