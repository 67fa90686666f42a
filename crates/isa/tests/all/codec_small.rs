//! Every code of every small float type, against value tables written down from the definitions (tile-model.md 3).
//!
//! The oracle knows nothing of the codecs' bit tricks: it lists the values of all codes, sorts them, and rounds by
//! comparing distances. Between binary64 numbers this close to each other, all sums and differences are exact.

use std::num::FpCategory;

use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;

/// The rounding of the middle between two values.
#[derive(Clone, Copy, PartialEq)]
enum Tie {
    EvenCode,
    AwayFromZero,
}

/// A type as its definition describes it.
struct Definition {
    elem: Elem,
    tie: Tie,
    value: fn(u64) -> f64,
}

/// A sign, `e` exponent bits and the rest mantissa; all exponents are ordinary ones.
fn fields(code: u64, exponent_bits: u32, mantissa_bits: u32, bias: i32) -> f64 {
    let mantissa = (code % (1 << mantissa_bits)) as f64 / f64::from(1 << mantissa_bits);
    let exponent = (code >> mantissa_bits) as i32 % (1 << exponent_bits);
    let sign = if code >> (mantissa_bits + exponent_bits) == 0 { 1.0 } else { -1.0 };
    if exponent == 0 {
        sign * mantissa * 2f64.powi(1 - bias)
    } else {
        sign * (1.0 + mantissa) * 2f64.powi(exponent - bias)
    }
}

/// IEEE's rule for the highest exponent: infinity, or NaN if the mantissa is not zero.
fn ieee(code: u64, exponent_bits: u32, mantissa_bits: u32, bias: i32) -> f64 {
    let sign = if code >> (mantissa_bits + exponent_bits) == 0 { 1.0 } else { -1.0 };
    match (code >> mantissa_bits) % (1 << exponent_bits) == (1 << exponent_bits) - 1 {
        true if code.is_multiple_of(1 << mantissa_bits) => sign * f64::INFINITY,
        true => f64::NAN,
        false => fields(code, exponent_bits, mantissa_bits, bias),
    }
}

/// The value of a string of binary digits.
fn binary(digits: &str) -> i32 {
    digits.chars().fold(0, |n, digit| 2 * n + i32::from(digit == '1'))
}

/// HiFloat8, read from its text as a string of binary digits (tile-model.md 3.1).
fn hif8(code: u64) -> f64 {
    match code {
        0x00 => return 0.0,
        0x80 => return f64::NAN,
        0x6F => return f64::INFINITY,
        0xEF => return f64::NEG_INFINITY,
        _ => {}
    }
    let digits = format!("{code:08b}");
    let sign = if digits.starts_with('1') { -1.0 } else { 1.0 };
    let table = [("11", 4, 1), ("10", 3, 2), ("01", 2, 3), ("001", 1, 3), ("0001", 0, 3), ("0000", 0, 3)];
    let (prefix, exponent_bits, mantissa_bits) =
        table.into_iter().find(|(prefix, ..)| digits[1..].starts_with(prefix)).unwrap_or_default();
    let rest = &digits[1 + prefix.len()..];
    assert_eq!(rest.len(), exponent_bits + mantissa_bits);
    let mantissa = binary(&rest[exponent_bits..]);
    if prefix == "0000" {
        return sign * 2f64.powi(mantissa - 23);
    }
    let exponent = match rest[..exponent_bits].chars().next() {
        None => 0,
        Some(negative) => {
            let magnitude = binary(&format!("1{}", &rest[1..exponent_bits]));
            if negative == '1' { -magnitude } else { magnitude }
        }
    };
    sign * (1.0 + f64::from(mantissa) / f64::from(1 << mantissa_bits)) * 2f64.powi(exponent)
}

const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
const E1M2: [f64; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75];

fn fp4(code: u64, values: [f64; 8]) -> f64 {
    let value = values[code as usize % 8];
    if code >= 8 { -value } else { value }
}

fn definitions() -> Vec<Definition> {
    let even = |elem, value| Definition { elem, tie: Tie::EvenCode, value };
    vec![
        even(Elem::F16, |c| ieee(c, 5, 10, 15)),
        even(Elem::Bf16, |c| ieee(c, 8, 7, 127)),
        even(Elem::F8e5m2, |c| ieee(c, 5, 2, 15)),
        even(Elem::F8e4m3, |c| if c % 128 == 127 { f64::NAN } else { fields(c, 4, 3, 7) }),
        even(Elem::F8e8m0, |c| if c == 255 { f64::NAN } else { 2f64.powi(c as i32 - 127) }),
        even(Elem::F4e2m1x2, |c| fp4(c, E2M1)),
        even(Elem::F4e1m2x2, |c| fp4(c, E1M2)),
        Definition { elem: Elem::Hif8, tie: Tie::AwayFromZero, value: hif8 },
    ]
}

impl Definition {
    fn codes(&self) -> std::ops::Range<u64> {
        0..1 << self.elem.bits()
    }

    /// The codes of the finite values, sorted; of two zeros the positive one.
    fn finite(&self) -> Vec<(f64, u64)> {
        let mut values: Vec<(f64, u64)> = self
            .codes()
            .map(|code| ((self.value)(code), code))
            .filter(|(value, _)| value.is_finite() && !(*value == 0.0 && value.is_sign_negative()))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values
    }

    /// The code that a finite value inside the type's range rounds to.
    fn nearest(&self, values: &[(f64, u64)], v: f64) -> u64 {
        let above = values.partition_point(|(value, _)| *value < v);
        let (low, high) = (values[above.saturating_sub(1)], values[above.min(values.len() - 1)]);
        let code = match (v - low.0).total_cmp(&(high.0 - v)) {
            std::cmp::Ordering::Less => low.1,
            std::cmp::Ordering::Greater => high.1,
            std::cmp::Ordering::Equal if low.1 == high.1 => low.1,
            std::cmp::Ordering::Equal => match self.tie {
                Tie::EvenCode if low.1 % 2 == 0 => low.1,
                Tie::EvenCode => high.1,
                Tie::AwayFromZero if v < 0.0 => low.1,
                Tie::AwayFromZero => high.1,
            },
        };
        // A negative value that rounds to zero keeps its sign where the type has a negative zero.
        let sign = 1 << (self.elem.bits() - 1);
        if code == 0 && v.is_sign_negative() && (self.value)(sign) == 0.0 { sign } else { code }
    }
}

fn assert_encodes(elem: Elem, v: f64, expected: u64) {
    for overflow in [Overflow::Infinity, Overflow::Saturate] {
        assert_eq!(elem.encode_f64(v, overflow), expected, "{elem} of {v:e} (f64)");
        if f64::from(v as f32) == v {
            assert_eq!(elem.encode_f32(v as f32, overflow), expected, "{elem} of {v:e} (f32)");
        }
    }
}

#[test]
fn every_code_decodes_to_its_definition_and_encodes_back() {
    for definition in definitions() {
        let elem = definition.elem;
        for code in definition.codes() {
            let expected = (definition.value)(code);
            let Number::Float(value) = elem.decode(code) else { unreachable!("{elem} is a float type") };
            if expected.is_nan() {
                assert!(value.is_nan(), "{elem} {code:#x}");
                assert_eq!((elem.classify(code), elem.is_nan(code)), (FpCategory::Nan, true));
                assert_eq!(elem.encode_f64(value, Overflow::Infinity), elem.canonical_nan().expect("a NaN code"));
                continue;
            }
            assert_eq!(value.to_bits(), expected.to_bits(), "{elem} {code:#x}");
            assert_eq!(elem.decode(code | !elem.mask()), Number::Float(value), "{elem} ignores bits above it");
            assert_encodes(elem, value, code);
            assert_eq!(elem.encode_exact(&Number::Float(value)), Some(code), "{elem} {code:#x}");
            let class = elem.classify(code);
            assert_eq!(class == FpCategory::Nan, elem.is_nan(code));
            assert_eq!(class == FpCategory::Zero, value == 0.0);
            assert_eq!(class == FpCategory::Infinite, value.is_infinite());
        }
    }
}

#[test]
fn every_middle_and_its_neighbours_round_to_the_right_side() {
    for definition in definitions() {
        let (elem, values) = (definition.elem, definition.finite());
        for pair in values.windows(2) {
            let (low, high) = (pair[0].0, pair[1].0);
            let middle = low + (high - low) / 2.0;
            assert!(low < middle && middle < high);
            let just_inside = [low.next_up(), high.next_down(), middle, middle.next_up(), middle.next_down()];
            let in_f32 = [middle as f32, (middle as f32).next_up(), (middle as f32).next_down()].map(f64::from);
            for v in just_inside.into_iter().chain(in_f32) {
                // f8e8m0 has no values below its smallest one, 2^-127.
                if low <= v && v <= high {
                    assert_encodes(elem, v, definition.nearest(&values, v));
                }
            }
            assert_eq!(elem.encode_exact(&Number::Float(middle)), None, "{elem} {middle:e}");
        }
    }
}

#[test]
fn random_values_round_to_the_nearest() {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for definition in definitions() {
        let (elem, values) = (definition.elem, definition.finite());
        let (smallest, largest) = (values[0].0, values[values.len() - 1].0);
        for _ in 0..40_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // An exponent in and around the type's range, and any mantissa.
            let exponent = (state >> 56) as i64 % 290 - 160;
            let v = f64::from_bits((((exponent + 1023) as u64) << 52) | (state >> 7) & ((1 << 52) - 1));
            for v in [v, -v, f64::from(v as f32)] {
                if smallest <= v && v <= largest {
                    assert_encodes(elem, v, definition.nearest(&values, v));
                }
            }
        }
    }
}

#[test]
fn beyond_the_largest_value() {
    use Overflow::{Infinity, Saturate};
    // Type, largest value, first value that rounds beyond it, code to infinity, code saturated.
    let limits = [
        (Elem::F16, 65504.0, 65520.0, 0x7C00, 0x7BFF),
        (Elem::Bf16, 255.0 * 2f64.powi(120), 511.0 * 2f64.powi(119), 0x7F80, 0x7F7F),
        (Elem::F8e5m2, 57344.0, 61440.0, 0x7C, 0x7B),
        // 464 is the middle between 448 (even) and 480, the value that 0x7F would have.
        (Elem::F8e4m3, 448.0, 464f64.next_up(), 0x7F, 0x7E),
        // 5 and 7, 1.75 and 2: the middles belong to the even code beyond.
        (Elem::F4e2m1x2, 6.0, 7.0, 7, 7),
        (Elem::F4e1m2x2, 1.75, 1.875, 7, 7),
        (Elem::F32, f64::from(f32::MAX), f64::from(f32::MAX) + 2f64.powi(103), 0x7F80_0000, 0x7F7F_FFFF),
    ];
    for (elem, largest, first, infinity, saturated) in limits {
        let sign = 1 << (elem.bits() - 1);
        let sign_of_infinity = if elem == Elem::F8e4m3 { 0 } else { sign };
        assert_eq!(elem.encode_f64(largest, Infinity), saturated, "{elem}");
        assert_eq!(elem.encode_f64(first.next_down(), Infinity), saturated, "{elem}");
        for v in [first, first * 4.0, 1e300, f64::MAX] {
            assert_eq!(elem.encode_f64(v, Infinity), infinity, "{elem} {v:e}");
            assert_eq!(elem.encode_f64(-v, Infinity), sign_of_infinity | infinity, "{elem} {v:e}");
            assert_eq!(elem.encode_f64(v, Saturate), saturated, "{elem} {v:e}");
            assert_eq!(elem.encode_f64(-v, Saturate), sign | saturated, "{elem} {v:e}");
            assert_eq!(elem.encode_exact(&Number::Float(v)), None, "{elem} {v:e}");
        }
        let has_infinity = elem.classify(infinity) == FpCategory::Infinite;
        let kept = if has_infinity { infinity } else { saturated };
        assert_eq!(elem.encode_f64(f64::INFINITY, Infinity), infinity);
        assert_eq!(elem.encode_f64(f64::NEG_INFINITY, Infinity), sign_of_infinity | infinity);
        assert_eq!(elem.encode_f32(f32::INFINITY, Saturate), kept, "{elem}");
        assert_eq!(elem.encode_f32(f32::NEG_INFINITY, Saturate), sign | kept, "{elem}");
        assert_eq!(elem.encode_exact(&Number::Float(f64::INFINITY)), has_infinity.then_some(infinity));
    }
}

#[test]
fn hifloat8_saturates_and_has_one_zero() {
    for overflow in [Overflow::Infinity, Overflow::Saturate] {
        for (v, code) in [
            (32768.0, 0x6E),
            (32769.0, 0x6E),
            (1e300, 0x6E),
            (-40000.0, 0xEE),
            (f64::INFINITY, 0x6F),
            (f64::NEG_INFINITY, 0xEF),
            (-0.0, 0x00),
            (f64::NAN, 0x80),
            (2f64.powi(-23), 0x01),
            (2f64.powi(-23).next_down(), 0x00),
            (-2f64.powi(-23), 0x81),
            (-2f64.powi(-23).next_down(), 0x00),
            (-f64::MIN_POSITIVE, 0x00),
            (5e-324, 0x00),
            // The step from the last subnormal, 2^-16, to the first normal value, 2^-15.
            (1.5 * 2f64.powi(-16), 0x7E),
        ] {
            assert_eq!(Elem::Hif8.encode_f64(v, overflow), code, "{v:e}");
        }
    }
    assert_eq!(Elem::Hif8.encode_exact(&Number::Float(-0.0)), Some(0));
}

#[test]
fn e8m0_has_neither_zero_nor_sign() {
    use Overflow::{Infinity, Saturate};
    let encode = |v, overflow| Elem::F8e8m0.encode_f64(v, overflow);
    assert_eq!([0.0, -0.0, 1e-300, 2f64.powi(-128)].map(|v| encode(v, Infinity)), [0; 4]);
    assert_eq!([-1.0, -1e-300, f64::NEG_INFINITY, f64::NAN].map(|v| encode(v, Saturate)), [0xFF; 4]);
    assert_eq!([1.0, 1.5, 3.0, 1.4, 1.6].map(|v| encode(v, Infinity)), [127, 128, 128, 127, 128]);
    let beyond = 1.5 * 2f64.powi(127);
    assert_eq!(encode(beyond.next_down(), Infinity), 0xFE);
    assert_eq!([beyond.next_up(), 1e300, f64::INFINITY].map(|v| encode(v, Infinity)), [0xFF; 3]);
    assert_eq!([beyond.next_up(), 1e300, f64::INFINITY].map(|v| encode(v, Saturate)), [0xFE; 3]);
    assert_eq!(Elem::F8e8m0.encode_exact(&Number::Float(0.0)), None);
}
