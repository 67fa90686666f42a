//! The scale type f8e8m0: code `b` is 2^(b-127), 0xFF is NaN. There is no zero, no sign and no infinity.

use super::Overflow;

pub(super) const NAN: u64 = 0xFF;
pub(super) const LARGEST: u64 = 0xFE;

/// Rounds to the nearest power of two, the middle of two (1.5·2^k) to the even code.
///
/// Zero and what lies below 2^-127 become 2^-127, the nearest value there is; negative values become NaN.
#[inline]
pub(super) fn encode(v: f64, overflow: Overflow) -> u64 {
    if v.is_nan() || v < 0.0 {
        return NAN;
    }
    let bits = v.abs().to_bits();
    let rebias: u64 = (1023 - 127) << 52;
    if bits < rebias {
        return 0;
    }
    let code = (bits - rebias + (1 << 51) - 1 + ((bits >> 52) & 1)) >> 52;
    match overflow {
        _ if code <= LARGEST => code,
        Overflow::Saturate => LARGEST,
        Overflow::Infinity => NAN,
    }
}

/// The value of a code, exactly.
#[inline]
pub(super) fn decode(bits: u64) -> f64 {
    if bits == NAN { f64::NAN } else { f64::from_bits((bits + 1023 - 127) << 52) }
}
