//! What the bits of an element mean, and which bits a value becomes (tile-model.md 3): by looking for the neighbours of the
//! value among the codes of its type.

use tessera_isa::elem::Elem;
use tessera_isa::sem::Rounding;

/// A type shaped like IEEE's: its magnitudes have the codes 0, 1, 2 … in rising order.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The bits of the mantissa, and what is added to the exponent.
    mantissa: u32,
    bias: i32,
    /// The code of the largest finite magnitude.
    pub largest: u64,
    /// The code of infinity, where there is one.
    pub infinity: Option<u64>,
    /// The canonical NaN; where there is none, a NaN becomes 0 (isa/elementwise.md 5).
    nan: u64,
}

pub fn shape(elem: Elem) -> Option<Shape> {
    let (mantissa, bias, largest, infinity, nan) = match elem {
        Elem::F32 => (23, 127, 0x7F7F_FFFF, Some(0x7F80_0000), 0x7FC0_0000),
        Elem::F16 => (10, 15, 0x7BFF, Some(0x7C00), 0x7E00),
        Elem::Bf16 => (7, 127, 0x7F7F, Some(0x7F80), 0x7FC0),
        Elem::F8e5m2 => (2, 15, 0x7B, Some(0x7C), 0x7F),
        Elem::F8e4m3 => (3, 7, 0x7E, None, 0x7F),
        Elem::F4e2m1x2 => (1, 1, 7, None, 0),
        Elem::F4e1m2x2 => (2, 1, 7, None, 0),
        _ => return None,
    };
    Some(Shape { mantissa, bias, largest, infinity, nan })
}

/// 2^n.
fn power(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

impl Shape {
    /// The value of a magnitude's code, as if the exponent had no limit.
    fn value(&self, code: u64) -> f64 {
        let (field, rest) = ((code >> self.mantissa) as i32, code & ((1 << self.mantissa) - 1));
        let hidden = if field == 0 { 0 } else { 1 << self.mantissa };
        (hidden + rest) as f64 * power(field.max(1) - self.bias - self.mantissa as i32)
    }

    /// The greatest code whose value is not above a magnitude; one beyond the largest at most.
    fn below(&self, magnitude: f64) -> u64 {
        let (mut low, mut high) = (0, self.largest + 1);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if self.value(middle) <= magnitude { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// The code of a magnitude in a mode; one beyond the largest is an overflow.
    pub fn round(&self, magnitude: f64, is_negative: bool, mode: Rounding) -> u64 {
        let low = self.below(magnitude);
        let (a, b) = (self.value(low), self.value(low + 1));
        if low > self.largest || a == magnitude {
            return low;
        }
        let (to_low, to_high) = (magnitude - a, b - magnitude);
        let up = match mode {
            Rounding::None | Rounding::Rint | Rounding::CastRint => {
                to_high < to_low || (to_high == to_low && low % 2 == 1)
            }
            Rounding::Round => to_high <= to_low,
            Rounding::Floor => is_negative,
            Rounding::Ceil => !is_negative,
            Rounding::Trunc => false,
            Rounding::Odd => low.is_multiple_of(2),
        };
        low + u64::from(up)
    }
}

/// The value of a float, exactly; none of an integer.
pub fn float(elem: Elem, bits: u64) -> Option<f64> {
    if elem == Elem::Hif8 {
        return Some(hif8(bits & 0xFF));
    }
    if elem == Elem::F8e8m0 {
        return Some(if bits & 0xFF == 0xFF { f64::NAN } else { power((bits & 0xFF) as i32 - 127) });
    }
    let shape = shape(elem)?;
    let sign = 1u64 << (elem.bits() - 1);
    let code = bits & (sign - 1);
    let magnitude = match code {
        _ if Some(code) == shape.infinity => f64::INFINITY,
        _ if code > shape.largest => f64::NAN,
        _ => shape.value(code),
    };
    Some(if bits & sign == 0 { magnitude } else { -magnitude })
}

/// tile-model.md 3.1, line by line of the table.
fn hif8(bits: u64) -> f64 {
    let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
    let code = bits & 0x7F;
    // The field's top bit is its sign, and its magnitude has an implicit leading one.
    let dot = |width: u32, mantissa: u32| {
        let field = code >> mantissa & ((1 << width) - 1);
        let magnitude = (1 << (width - 1) | field & ((1 << (width - 1)) - 1)) as i32;
        let exponent = if field >> (width - 1) & 1 == 1 { -magnitude } else { magnitude };
        (1.0 + (code & ((1 << mantissa) - 1)) as f64 / f64::from(1 << mantissa)) * power(exponent)
    };
    sign * match (bits, code) {
        (0x00, _) => 0.0,
        (0x80, _) => f64::NAN,
        (_, 0x6F) => f64::INFINITY,
        (_, 0x60..) => dot(4, 1),
        (_, 0x40..) => dot(3, 2),
        (_, 0x20..) => dot(2, 3),
        (_, 0x10..) => dot(1, 3),
        (_, 0x08..) => 1.0 + (code & 7) as f64 / 8.0,
        (_, m) => power(m as i32 - 23),
    }
}

/// The nearest HiFloat8, half away from zero; what is beyond the largest becomes it, and infinities stay.
fn to_hif8(v: f64) -> u64 {
    if v.is_nan() {
        return 0x80;
    }
    let magnitude = v.abs();
    let nearest = (0..0x80u64).filter(|code| *code != 0x6F || magnitude.is_infinite()).min_by(|a, b| {
        let distance = |code: u64| if hif8(code) == magnitude { 0.0 } else { (hif8(code) - magnitude).abs() };
        // Of two that are as far the greater one.
        distance(*a).total_cmp(&distance(*b)).then(hif8(*b).total_cmp(&hif8(*a)))
    });
    let code = if magnitude > 32768.0 && magnitude.is_finite() { 0x6E } else { nearest.unwrap_or(0) };
    if v < 0.0 && code != 0 { code | 0x80 } else { code }
}

/// What becomes of a value beyond the largest one.
#[derive(Clone, Copy, PartialEq)]
pub enum Beyond {
    /// Infinity; without one NaN, without both the largest.
    Infinite,
    /// The largest; an infinity stays where there is one.
    Largest,
    /// The largest, and infinities too.
    Clamped,
}

/// The nearest float, ties to the even code; none of an integer type.
pub fn encode(elem: Elem, v: f64, beyond: Beyond) -> Option<u64> {
    encode_in(elem, v, Rounding::Rint, beyond)
}

/// The float that a mode rounds to.
pub fn encode_in(elem: Elem, v: f64, mode: Rounding, beyond: Beyond) -> Option<u64> {
    if elem == Elem::Hif8 {
        return Some(to_hif8(v));
    }
    let shape = shape(elem)?;
    if v.is_nan() {
        return Some(shape.nan);
    }
    let sign = u64::from(v.is_sign_negative()) << (elem.bits() - 1);
    let code = shape.round(v.abs(), v < 0.0, mode);
    Some(match (beyond, shape.infinity) {
        _ if code <= shape.largest => sign | code,
        (Beyond::Largest, Some(infinity)) if v.is_infinite() => sign | infinity,
        (Beyond::Largest | Beyond::Clamped, _) => sign | shape.largest,
        (Beyond::Infinite, Some(infinity)) => sign | infinity,
        (Beyond::Infinite, None) if shape.nan != 0 => shape.nan,
        (Beyond::Infinite, None) => sign | shape.largest,
    })
}

/// The value of an integer; none of a float.
pub fn integer(elem: Elem, bits: u64) -> Option<i128> {
    let (bits, values) = (i128::from(bits & elem.mask()), 1i128 << elem.bits());
    match elem {
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => Some(if bits < values / 2 { bits } else { bits - values }),
        Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => Some(bits),
        _ => None,
    }
}

/// The nearest value of an integer type.
pub fn clamp(elem: Elem, v: i128) -> i128 {
    let values = 1i128 << elem.bits();
    match elem {
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => v.clamp(-values / 2, values / 2 - 1),
        _ => v.clamp(0, values - 1),
    }
}

/// An integer as binary64, with its lowest bit set where bits were lost: no narrower type rounds it otherwise than the
/// integer itself.
pub fn sticky(v: i128) -> f64 {
    let magnitude = v.unsigned_abs();
    let drop = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let kept = magnitude >> drop | u128::from(magnitude & ((1 << drop) - 1) != 0);
    let value = kept as f64 * power(drop as i32);
    if v < 0 { -value } else { value }
}
