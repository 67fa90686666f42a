//! The converting moves of the `cpu` profile (ops.md 1, rule 5).

use crate::codec::Overflow;
use crate::elem::Elem;

/// Converts an element's bits from one type to another, rounding once; equal types keep their bits.
///
/// Floats round to nearest even and overflow to infinity; a float becomes an integer by truncation toward zero and
/// saturation, with 0 for NaN; integers wrap among themselves and round to nearest even on the way to a float. A NaN
/// comes out canonical (fixpipe.md 4).
///
/// ```
/// use tessera_isa::elem::Elem;
/// use tessera_isa::sem::convert;
///
/// assert_eq!(convert(Elem::F32, Elem::F16, 0x3F80_0000), 0x3C00);
/// assert_eq!(convert(Elem::F32, Elem::U8, u64::from((-1.5f32).to_bits())), 0);
/// assert_eq!(convert(Elem::I16, Elem::U8, 0xFFFF), 0xFF);
/// ```
#[inline]
pub fn convert(src: Elem, dst: Elem, bits: u64) -> u64 {
    if src == dst { bits & src.mask() } else { dst.encode(src.decode(bits), Overflow::Infinity) }
}
