//! The floating-point encodings that are shaped like IEEE's: sign, exponent field, mantissa field, subnormals.

use super::Overflow;
use std::num::FpCategory;

/// The parameters of one encoding. A code is the sign bit above a *magnitude* whose order is that of the values.
#[derive(Clone, Copy)]
pub(crate) struct Small {
    /// Bits of the mantissa field, at least 1.
    pub(crate) mantissa: u32,
    /// Bits of exponent and mantissa field together; the sign lies above them.
    width: u32,
    /// The exponent bias, subtracted from the exponent field.
    pub(crate) bias: u64,
    /// The magnitude of the largest finite value.
    pub(crate) largest: u64,
    /// The result of an overflow to infinity: infinity, else NaN, else the largest finite value.
    pub(crate) beyond: u64,
    /// The canonical NaN (fixpipe.md 4); zero in the fp4 types, which have none.
    pub(crate) nan: u64,
    /// Whether `beyond` is an infinity.
    pub(crate) has_infinity: bool,
}

/// An encoding with IEEE's infinity and NaNs, whose canonical NaN is given.
const fn ieee(mantissa: u32, width: u32, bias: u64, nan: u64) -> Small {
    let infinity = (1 << width) - (1 << mantissa);
    Small { mantissa, width, bias, largest: infinity - 1, beyond: infinity, nan, has_infinity: true }
}

pub(super) const F32: Small = ieee(23, 31, 127, 0x7FC0_0000);
pub(super) const F16: Small = ieee(10, 15, 15, 0x7E00);
pub(super) const BF16: Small = ieee(7, 15, 127, 0x7FC0);
pub(super) const F8E5M2: Small = ieee(2, 7, 15, 0x7F);
pub(super) const F8E4M3: Small =
    Small { mantissa: 3, width: 7, bias: 7, largest: 0x7E, beyond: 0x7F, nan: 0x7F, has_infinity: false };
pub(super) const F4E2M1: Small =
    Small { mantissa: 1, width: 3, bias: 1, largest: 7, beyond: 7, nan: 0, has_infinity: false };
pub(super) const F4E1M2: Small =
    Small { mantissa: 2, width: 3, bias: 1, largest: 7, beyond: 7, nan: 0, has_infinity: false };

impl Small {
    /// Rounds to nearest, ties to even.
    ///
    /// Below the smallest normal value the adder rounds: the sum with a power of two whose last place is the smallest
    /// subnormal has the code in its low bits. Above it, the exponent is rebiased and the cut-off bits are rounded.
    #[inline(always)]
    pub(super) fn encode_f64(self, v: f64, overflow: Overflow) -> u64 {
        if v.is_nan() {
            return self.nan;
        }
        let a = v.abs().to_bits();
        let rebias = (1023 - self.bias) << 52;
        let magnitude = if a < rebias + (1 << 52) {
            let rounder = (1023 + 53 - self.bias - u64::from(self.mantissa)) << 52;
            (v.abs() + f64::from_bits(rounder)).to_bits() - rounder
        } else {
            let cut = 52 - self.mantissa;
            (a - rebias + (1 << (cut - 1)) - 1 + ((a >> cut) & 1)) >> cut
        };
        self.finish(magnitude, v.is_sign_negative(), v.is_infinite(), overflow)
    }

    /// The same from binary32; not for [`F32`], where nothing is cut off.
    ///
    /// In 32-bit arithmetic and without branches, so that loops over it become vector instructions.
    #[inline(always)]
    pub(super) fn encode_f32(self, v: f32, overflow: Overflow) -> u32 {
        const INFINITY: u32 = f32::INFINITY.to_bits();
        let (bias, largest, beyond, nan) = (self.bias as u32, self.largest as u32, self.beyond as u32, self.nan as u32);
        let a = v.abs().to_bits();
        let rebias = (127 - bias) << 23;
        let rounder = (127 + 24 - bias - self.mantissa) << 23;
        let below = (v.abs() + f32::from_bits(rounder)).to_bits().wrapping_sub(rounder);
        let cut = 23 - self.mantissa;
        let above = a.wrapping_sub(rebias).wrapping_add((1 << (cut - 1)) - 1 + ((a >> cut) & 1)) >> cut;
        let magnitude = if a < rebias + (1 << 23) { below } else { above };
        let too_large = match overflow {
            Overflow::Saturate if !(self.has_infinity && a == INFINITY) => largest,
            _ => beyond,
        };
        let magnitude = if magnitude > largest { too_large } else { magnitude };
        let sign = (v.to_bits() >> 31) << self.width;
        if a > INFINITY || magnitude > largest && !self.has_infinity { nan } else { sign | magnitude }
    }

    #[inline(always)]
    fn finish(self, magnitude: u64, negative: bool, infinite: bool, overflow: Overflow) -> u64 {
        let sign = u64::from(negative) << self.width;
        if magnitude <= self.largest {
            return sign | magnitude;
        }
        match overflow {
            Overflow::Saturate if !(infinite && self.has_infinity) => sign | self.largest,
            // The fp8 type without infinity has one canonical NaN, which carries no sign.
            _ if self.beyond == self.nan => self.nan,
            _ => sign | self.beyond,
        }
    }

    /// The value of a code, exactly.
    #[inline]
    pub(super) fn decode(self, bits: u64) -> f64 {
        let magnitude = bits & ((1 << self.width) - 1);
        let value = if magnitude > self.largest {
            if self.has_infinity && magnitude == self.beyond { f64::INFINITY } else { f64::NAN }
        } else if magnitude >> self.mantissa == 0 {
            let last_place = 1023 + 1 - self.bias - u64::from(self.mantissa);
            magnitude as f64 * f64::from_bits(last_place << 52)
        } else {
            f64::from_bits((magnitude << (52 - self.mantissa)) + ((1023 - self.bias) << 52))
        };
        if (bits >> self.width) & 1 == 1 { -value } else { value }
    }

    #[inline(always)]
    pub(super) fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & ((1 << self.width) - 1);
        magnitude > if self.has_infinity { self.beyond } else { self.largest }
    }

    pub(super) fn classify(self, bits: u64) -> FpCategory {
        let magnitude = bits & ((1 << self.width) - 1);
        match magnitude {
            0 => FpCategory::Zero,
            _ if self.is_nan(bits) => FpCategory::Nan,
            _ if magnitude > self.largest => FpCategory::Infinite,
            _ if magnitude >> self.mantissa == 0 => FpCategory::Subnormal,
            _ => FpCategory::Normal,
        }
    }
}
