//! TCVT (elementwise.md 5): every mode between every two types, from the exact value and rounded once.

use crate::codec::{Number, Overflow};
use crate::elem::Elem;
use crate::tile::words;

words! {
    /// What becomes of a value between two neighbours of the destination; the order is that of the numbers in text.
    Rounding {
        None = "NONE", "CAST_NONE", "TRUNC from floats to integers and from f32 to f32, else RINT.";
        Rint = "RINT", "CAST_RINT", "To the nearest, ties to the even code.";
        Round = "ROUND", "CAST_ROUND", "To the nearest, ties away from zero.";
        Floor = "FLOOR", "CAST_FLOOR", "Toward negative infinity.";
        Ceil = "CEIL", "CAST_CEIL", "Toward infinity.";
        Trunc = "TRUNC", "CAST_TRUNC", "Toward zero.";
        Odd = "ODD", "CAST_ODD", "To the neighbour whose code, of an integer the value, is odd.";
        CastRint = "CAST_RINT", "CAST_RINT", "As RINT; what it is when nothing is said.";
    }
}
words! {
    /// What becomes of a value beyond the destination's.
    Saturation {
        On = "ON", "ON", "It is clamped.";
        Off = "OFF", "OFF", "Integers wrap, floats become infinite.";
        Finite = "FINITE", "FINITE", "As ON, infinities too, and NaN becomes 0: what a5 does into 8-bit floats; no word of text.";
    }
}

/// Converts an element's bits as TCVT does; without a saturation mode, by the pair's own.
///
/// HiFloat8 knows neither mode (tile-model.md 3.1).
///
/// ```
/// use tessera_isa::elem::Elem;
/// use tessera_isa::sem::{Rounding, Saturation, cvt};
///
/// let bits = u64::from(2.5f32.to_bits());
/// assert_eq!(cvt(Elem::F32, Elem::I32, bits, Rounding::Rint, None), 2);
/// assert_eq!(cvt(Elem::F32, Elem::I32, bits, Rounding::Odd, None), 3);
/// assert_eq!(cvt(Elem::I32, Elem::U8, 300, Rounding::CastRint, Some(Saturation::Off)), 0x2C);
/// ```
pub fn cvt(from: Elem, to: Elem, bits: u64, rounding: Rounding, saturation: Option<Saturation>) -> u64 {
    let to_integral = !to.is_float() || (from, to) == (Elem::F32, Elem::F32);
    let rounding = match rounding {
        Rounding::None if from.is_float() && to_integral => Rounding::Trunc,
        Rounding::None | Rounding::CastRint => Rounding::Rint,
        other => other,
    };
    let saturation = saturation.unwrap_or_else(|| Saturation::usual(from, to));
    let (is_clamped, is_finite) = (saturation != Saturation::Off, saturation == Saturation::Finite);
    match from.decode(bits) {
        Number::Float(v) if v.is_nan() && is_finite => 0,
        Number::Float(v) if v.is_infinite() && is_finite => signed(to, v < 0.0, to.small().largest),
        Number::Float(v) if v.is_nan() => to.canonical_nan().unwrap_or(0),
        value if matches!(to, Elem::Hif8 | Elem::F8e8m0) => to.encode(value, Overflow::Saturate),
        Number::Float(v) if to.is_float() && to_integral => integral(v, rounding),
        Number::Float(v) if v.is_infinite() && to.is_float() => infinity(to, v < 0.0, is_clamped),
        value if to.is_float() => Exact::new(value).to_float(to, rounding, is_clamped),
        Number::Int(v) => integer(to, if is_clamped { clamp(to, v) } else { v }),
        value => {
            let v = Exact::new(value).to_integer(rounding);
            // Hardware converts to 32 or 64 bits and keeps the low ones.
            let wide = if to.bits() <= 16 { Elem::I32 } else { Elem::I64 };
            integer(to, clamp(if is_clamped { to } else { wide }, v))
        }
    }
}

impl Saturation {
    /// The words that text has for it.
    pub const WRITTEN: &'static [crate::ops::Word] = Self::WORDS.split_at(2).0;

    /// The mode of a pair where none is given.
    pub fn usual(from: Elem, to: Elem) -> Saturation {
        match (from, to) {
            (Elem::F16, Elem::I8 | Elem::U8 | Elem::I16) | (Elem::F32 | Elem::I32, Elem::I16) => Saturation::Off,
            (Elem::I64, Elem::I32) => Saturation::Off,
            (_, Elem::F8e4m3) => Saturation::On,
            _ if to.is_float() => Saturation::Off,
            _ => Saturation::On,
        }
    }
}

fn integer(to: Elem, v: i128) -> u64 {
    v as u64 & to.mask()
}

fn clamp(to: Elem, v: i128) -> i128 {
    let end = 1 << (to.bits() - u32::from(to.is_signed()));
    v.clamp(if to.is_signed() { -end } else { 0 }, end - 1)
}

/// f32 → f32: the neighbours are integers; infinities stay.
fn integral(v: f64, rounding: Rounding) -> u64 {
    if v.is_infinite() {
        return u64::from((v as f32).to_bits());
    }
    // At most 24 bits of it are not zero.
    let units = Exact::new(Number::Float(v)).to_units(rounding) as f32;
    u64::from(units.copysign(v as f32).to_bits())
}

/// An infinity in a float type.
fn infinity(to: Elem, is_negative: bool, is_clamped: bool) -> u64 {
    let small = to.small();
    let largest = if is_clamped && !small.has_infinity { small.largest } else { small.beyond };
    signed(to, is_negative, largest)
}

/// A magnitude's code with its sign; f8e4m3's NaN, which stands for its infinities, has none.
fn signed(to: Elem, is_negative: bool, magnitude: u64) -> u64 {
    if to.is_nan(magnitude) { to.small().nan } else { u64::from(is_negative) << (to.bits() - 1) | magnitude }
}

/// A value: `±magnitude · 2^exponent`. Infinity is a number beyond every type.
struct Exact {
    is_negative: bool,
    magnitude: u64,
    exponent: i32,
}

/// The distance of a value from the neighbour toward zero, in terms of the distance of the neighbours.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Rest {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

impl Exact {
    fn new(value: Number) -> Self {
        match value {
            // Elements have at most 64 bits.
            Number::Int(v) => Exact { is_negative: v < 0, magnitude: v.unsigned_abs() as u64, exponent: 0 },
            // Every element is zero or a normal binary64.
            Number::Float(v) => {
                let (field, fraction) = ((v.abs().to_bits() >> 52) as i32, v.to_bits() & ((1 << 52) - 1));
                let magnitude = if field == 0 { 0 } else { 1 << 52 | fraction };
                Exact { is_negative: v.is_sign_negative(), magnitude, exponent: field.min(1023 + 127) - 1075 }
            }
        }
    }

    /// The value in units of 2^`unit`, cut toward zero. No unit is more than 2^75 times smaller than 2^exponent.
    fn cut(&self, unit: i32) -> (u128, Rest) {
        let magnitude = u128::from(self.magnitude);
        // Any value is below half of 2^127 of its own units.
        let drop = (unit - self.exponent).min(127);
        if drop <= 0 {
            return (magnitude << -drop, Rest::Nothing);
        }
        let (rest, half) = (magnitude & ((1 << drop) - 1), 1 << (drop - 1));
        let rest = match rest {
            0 => Rest::Nothing,
            rest if rest < half => Rest::BelowHalf,
            rest if rest == half => Rest::Half,
            _ => Rest::AboveHalf,
        };
        (magnitude >> drop, rest)
    }

    /// Whether the neighbour away from zero is chosen.
    fn is_away(&self, rounding: Rounding, is_odd: bool, rest: Rest) -> bool {
        rest != Rest::Nothing
            && match rounding {
                Rounding::None | Rounding::Rint | Rounding::CastRint => {
                    rest > Rest::Half || rest == Rest::Half && is_odd
                }
                Rounding::Round => rest >= Rest::Half,
                Rounding::Floor => self.is_negative,
                Rounding::Ceil => !self.is_negative,
                Rounding::Trunc => false,
                Rounding::Odd => !is_odd,
            }
    }

    /// The magnitude as an integer.
    fn to_units(&self, rounding: Rounding) -> u128 {
        let (units, rest) = self.cut(0);
        units + u128::from(self.is_away(rounding, units & 1 == 1, rest))
    }

    /// As an integer, at most 2^100: beyond every type, as the value is then.
    fn to_integer(&self, rounding: Rounding) -> i128 {
        let magnitude = self.to_units(rounding).min(1 << 100) as i128;
        if self.is_negative { -magnitude } else { magnitude }
    }

    /// The code in a type shaped like IEEE's. Codes of magnitudes go up by one from each value to the next, and on
    /// beyond the largest as if the exponent field had no limit.
    fn to_float(&self, to: Elem, rounding: Rounding, is_clamped: bool) -> u64 {
        if self.magnitude == 0 {
            return signed(to, self.is_negative, 0);
        }
        let small = to.small();
        let (mantissa, bias) = (small.mantissa as i32, small.bias as i32);
        let leading = self.exponent + 63 - self.magnitude.leading_zeros() as i32;
        // Subnormals have the last place of exponent field 1.
        let field = (leading + bias).max(1);
        let (units, rest) = self.cut(field - bias - mantissa);
        let code = ((field as u64 - 1) << mantissa) + units as u64;
        let code = code + u64::from(self.is_away(rounding, code & 1 == 1, rest));
        let is_outward = match rounding {
            Rounding::Floor => self.is_negative,
            Rounding::Ceil => !self.is_negative,
            Rounding::Trunc | Rounding::Odd => false,
            _ => true,
        };
        let code = match code {
            code if code <= small.largest => code,
            _ if is_clamped || !is_outward => small.largest,
            _ => small.beyond,
        };
        signed(to, self.is_negative, code)
    }
}
