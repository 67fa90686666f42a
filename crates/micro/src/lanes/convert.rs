//! One element converted as vcvt does (micro/vector.md 5).

use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Rounding, Saturation, cvt};

/// The meaning of a rounding word for a destination.
pub(crate) fn rounding(word: &str, to: Elem) -> Rounding {
    match word {
        "A" => Rounding::Round,
        "F" => Rounding::Floor,
        "C" => Rounding::Ceil,
        "Z" => Rounding::Trunc,
        "O" => Rounding::Odd,
        "H" if to == Elem::Hif8 => Rounding::Round,
        "H" => Rounding::Trunc,
        _ => Rounding::Rint,
    }
}

/// The bits of an element in another type. `saturates` is what `sat` says, where the pair takes it.
pub(super) fn convert(from: Elem, to: Elem, bits: u64, word: &str, saturates: Option<bool>) -> u64 {
    let mode = rounding(word, to);
    let with = |saturation: Saturation| cvt(from, to, bits, mode, Some(saturation));
    match (from.decode(bits), saturates) {
        _ if !to.is_float() => with(if saturates == Some(false) { Saturation::Off } else { Saturation::On }),
        _ if to.is_fp4() => with(Saturation::On),
        (_, None | Some(false)) => with(Saturation::Off),
        (Number::Float(v), Some(true)) if v.is_nan() => 0,
        (Number::Float(v), Some(true)) => {
            let sign = u64::from(v.is_sign_negative()) << (to.bits() - 1);
            if let Some(code) = odd_overflow(from, to, word).filter(|_| overflows(from, to, bits, mode)) {
                return sign | code;
            }
            match v.is_infinite() {
                true => sign | largest(to),
                false => with(Saturation::On),
            }
        }
        _ => with(Saturation::On),
    }
}

fn largest(to: Elem) -> u64 {
    match to.range().1 {
        Number::Float(v) => to.encode_f64(v, tessera_isa::codec::Overflow::Saturate),
        Number::Int(_) => 0,
    }
}

/// The codes that overflow gives between f32 and two types of 8 bits in some modes.
fn odd_overflow(from: Elem, to: Elem, word: &str) -> Option<u64> {
    match (from, to, word) {
        (Elem::F32, Elem::F8e4m3, "A") => Some(0x78),
        (Elem::F32, Elem::F8e5m2, "A") => Some(0x7D),
        (Elem::F32, Elem::F8e5m2, "H" | "Z") => Some(0x7C),
        _ => None,
    }
}

/// Whether the rounded value, with any exponent, lies beyond the largest finite one.
fn overflows(from: Elem, to: Elem, bits: u64, mode: Rounding) -> bool {
    let number = |elem: Elem, bits: u64| if let Number::Float(v) = elem.decode(bits) { v } else { 0.0 };
    if mode == Rounding::Trunc {
        // Toward zero nothing becomes infinite: what comes after the largest value is beyond.
        let last = number(to, largest(to));
        return number(from, bits).abs() >= last + (last - number(to, largest(to) - 1));
    }
    let code = cvt(from, to, bits, mode, Some(Saturation::Off));
    !number(to, code).is_finite()
}
