//! HiFloat8 (tile-model.md 3.1): the larger the exponent, the wider its field and the narrower the mantissa.

use std::num::FpCategory;

pub(super) const NAN: u64 = 0x80;
const INFINITY: u64 = 0x6F;
pub(super) const LARGEST: u64 = 0x6E;

/// One row of the table of 3.1 for normal values: what precedes the exponent's sign, and the widths of the fields.
struct Row {
    prefix: u64,
    /// Bits of the exponent's magnitude below its implicit leading one.
    exponent: u32,
    mantissa: u32,
}

/// The row for an exponent of this magnitude, 1…15. (Exponent 0 has no sign bit and is written out.)
const fn row(magnitude: u64) -> Row {
    match magnitude {
        8.. => Row { prefix: 0x60, exponent: 3, mantissa: 1 },
        4..8 => Row { prefix: 0x40, exponent: 2, mantissa: 2 },
        2..4 => Row { prefix: 0x20, exponent: 1, mantissa: 3 },
        _ => Row { prefix: 0x10, exponent: 0, mantissa: 3 },
    }
}

/// The code of `mantissa · 2^(exponent - width)` with `width` the mantissa bits of that exponent, -15…15.
const fn code(exponent: i64, mantissa: u64) -> u64 {
    if exponent == 0 {
        return 0x08 | mantissa;
    }
    let magnitude = exponent.unsigned_abs();
    let row = row(magnitude);
    let negative = ((exponent < 0) as u64) << row.exponent;
    let rest = magnitude & ((1 << row.exponent) - 1);
    row.prefix | (negative | rest) << row.mantissa | mantissa
}

/// Rounds half away from zero and saturates; infinities keep their codes, and a negative zero has none of its own.
pub(super) const fn encode(v: f64) -> u64 {
    if v.is_nan() {
        return NAN;
    }
    let bits = v.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64 - 1023, bits & ((1 << 52) - 1));
    let magnitude = match exponent {
        1024 => INFINITY,
        15.. => LARGEST,
        -15..15 => {
            let width = if exponent == 0 { 3 } else { row(exponent.unsigned_abs()).mantissa };
            let rounded = ((fraction >> (51 - width)) + 1) >> 1;
            // A carry out of the mantissa is the next power of two.
            if rounded >> width == 1 { code(exponent + 1, 0) } else { code(exponent, rounded) }
        }
        // Below 2^-15 there are powers of two only, 2^(m-23); half of the smallest one rounds up to it.
        -23..-15 => match exponent + 23 + (exponent == -23 || fraction >> 51 == 1) as i64 {
            8 => code(-15, 0),
            m => m as u64,
        },
        _ => 0,
    };
    if v < 0.0 && magnitude != 0 { 0x80 | magnitude } else { magnitude }
}

/// The magnitude's code for each exponent and upper four mantissa bits of a binary32 value.
static FROM_F32: [u8; 1 << 12] = {
    let mut codes = [0; 1 << 12];
    let mut index = 0;
    while index < codes.len() {
        codes[index] = encode(f32::from_bits((index as u32) << 19) as f64) as u8;
        index += 1;
    }
    codes
};

/// [`encode`] of a binary32 value.
///
/// Rounding half away from zero looks at one bit beyond the mantissa, which has at most three; so four decide.
#[inline(always)]
pub(super) fn encode_f32(v: f32) -> u8 {
    let bits = v.to_bits();
    let magnitude = FROM_F32[(bits >> 19 & 0xFFF) as usize];
    let sign = if magnitude == 0 { 0 } else { (bits >> 24) as u8 & 0x80 };
    if v.is_nan() { NAN as u8 } else { sign | magnitude }
}

/// The value of a code, exactly.
#[inline]
pub(super) fn decode(bits: u64) -> f64 {
    let magnitude = bits & 0x7F;
    let value = match magnitude {
        0 if bits & 0x80 != 0 => return f64::NAN,
        0 => 0.0,
        1..8 => power_of_two(magnitude as i64 - 23),
        INFINITY => f64::INFINITY,
        8..16 => scaled(0, magnitude & 7, 3),
        _ => {
            let row = match magnitude {
                0x60.. => row(8),
                0x40.. => row(4),
                0x20.. => row(2),
                _ => row(1),
            };
            let field = (magnitude - row.prefix) >> row.mantissa;
            let leading = 1 << row.exponent;
            let exponent = (leading | (field & (leading - 1))) as i64;
            let exponent = if field & leading != 0 { -exponent } else { exponent };
            scaled(exponent, magnitude & ((1 << row.mantissa) - 1), row.mantissa)
        }
    };
    if bits & 0x80 != 0 { -value } else { value }
}

/// `(1 + mantissa / 2^width) · 2^exponent`.
#[inline]
fn scaled(exponent: i64, mantissa: u64, width: u32) -> f64 {
    f64::from_bits(power_of_two(exponent).to_bits() | mantissa << (52 - width))
}

#[inline]
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

pub(super) fn classify(bits: u64) -> FpCategory {
    match bits & 0x7F {
        0 if bits & 0x80 != 0 => FpCategory::Nan,
        0 => FpCategory::Zero,
        INFINITY => FpCategory::Infinite,
        1..8 => FpCategory::Subnormal,
        _ => FpCategory::Normal,
    }
}
