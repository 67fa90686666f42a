//! Conversion between element types against exact arithmetic.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_isa::elem::Elem;
use tessera_isa::sem::convert;

const CPU: [Elem; 11] = [
    Elem::F32,
    Elem::F16,
    Elem::Bf16,
    Elem::I8,
    Elem::I16,
    Elem::I32,
    Elem::I64,
    Elem::U8,
    Elem::U16,
    Elem::U32,
    Elem::U64,
];

/// A finite value as an exact fraction of integers: `numerator · 2^exponent`.
#[derive(Clone, Copy, Debug)]
struct Exact {
    numerator: i128,
    exponent: i32,
}

enum Value {
    Finite(Exact, /* negative zero */ bool),
    Infinite(/* negative */ bool),
    Nan,
}

/// Exponent bits, mantissa bits, bias and canonical NaN of a cpu float type.
fn shape(elem: Elem) -> (u32, u32, i32, u64) {
    match elem {
        Elem::F16 => (5, 10, 15, 0x7E00),
        Elem::Bf16 => (8, 7, 127, 0x7FC0),
        _ => (8, 23, 127, 0x7FC0_0000),
    }
}

fn read(elem: Elem, bits: u64) -> Value {
    if !elem.is_float() {
        let modulus = 1i128 << elem.bits();
        let v = i128::from(bits) % modulus;
        let v = if elem.is_signed() && v >= modulus / 2 { v - modulus } else { v };
        return Value::Finite(Exact { numerator: v, exponent: 0 }, false);
    }
    let (exponent_bits, mantissa_bits, bias, _) = shape(elem);
    let mantissa = i128::from(bits) % (1 << mantissa_bits);
    let field = (bits >> mantissa_bits) as i32 % (1 << exponent_bits);
    let negative = bits >> (exponent_bits + mantissa_bits) == 1;
    if field == (1 << exponent_bits) - 1 {
        return if mantissa == 0 { Value::Infinite(negative) } else { Value::Nan };
    }
    let magnitude = if field == 0 { mantissa } else { mantissa + (1 << mantissa_bits) };
    let exponent = field.max(1) - bias - mantissa_bits as i32;
    let numerator = if negative { -magnitude } else { magnitude };
    Value::Finite(Exact { numerator, exponent }, negative && magnitude == 0)
}

/// Rounds an exact value by long division on integers: the quotient by the last place, and what is left over.
fn write_float(elem: Elem, v: Exact, negative: bool) -> u64 {
    let (exponent_bits, mantissa_bits, bias, _) = shape(elem);
    let sign = u64::from(negative) << (exponent_bits + mantissa_bits);
    let magnitude = v.numerator.unsigned_abs();
    if magnitude == 0 {
        return sign;
    }
    let length = (128 - magnitude.leading_zeros()) as i32;
    // The exponent of the last place of the result: mantissa_bits below the leading bit, or the subnormals' one.
    let mut last = (v.exponent + length - 1 - mantissa_bits as i32).max(1 - bias - mantissa_bits as i32);
    let drop = last - v.exponent;
    let mut quotient = if drop > 127 {
        0
    } else if drop <= 0 {
        magnitude << -drop
    } else {
        let (whole, rest) = (magnitude >> drop, magnitude % (1 << drop));
        let half = 1u128 << (drop - 1);
        whole + u128::from(rest > half || rest == half && whole % 2 == 1)
    };
    if quotient == 2 << mantissa_bits {
        quotient >>= 1;
        last += 1;
    }
    let normal = quotient >> mantissa_bits != 0;
    let field = if normal { last + mantissa_bits as i32 + bias } else { 0 };
    if field >= (1 << exponent_bits) - 1 {
        return sign | ((1 << exponent_bits) - 1) << mantissa_bits;
    }
    sign | (field as u64) << mantissa_bits | (quotient as u64 % (1 << mantissa_bits))
}

fn truncate(v: Exact) -> i128 {
    let magnitude = match v.exponent {
        e if e <= -128 => 0,
        e if e < 0 => v.numerator.abs() >> -e,
        e if e > 100 => i128::MAX,
        e => v.numerator.abs() << e,
    };
    if v.numerator < 0 { -magnitude } else { magnitude }
}

fn oracle(src: Elem, dst: Elem, bits: u64) -> u64 {
    if src == dst {
        return bits;
    }
    let modulus = 1i128 << dst.bits();
    let (min, max) = if dst.is_signed() { (-modulus / 2, modulus / 2 - 1) } else { (0, modulus - 1) };
    let wrap = |v: i128| v.rem_euclid(modulus) as u64;
    match (read(src, bits), dst.is_float()) {
        (Value::Nan, true) => shape(dst).3,
        (Value::Nan, false) => 0,
        (Value::Infinite(negative), true) => {
            let (exponent_bits, mantissa_bits, ..) = shape(dst);
            u64::from(negative) << (exponent_bits + mantissa_bits) | ((1 << exponent_bits) - 1) << mantissa_bits
        }
        (Value::Infinite(negative), false) => wrap(if negative { min } else { max }),
        (Value::Finite(v, zero), true) => write_float(dst, v, v.numerator < 0 || zero),
        (Value::Finite(v, _), false) if src.is_float() => wrap(truncate(v).clamp(min, max)),
        (Value::Finite(v, _), false) => wrap(v.numerator),
    }
}

/// Values at the edges of the types, and near the middles between values of narrower ones.
fn patterns(src: Elem) -> Vec<u64> {
    let mut patterns = Vec::new();
    for shift in 0..src.bits() {
        for low in 0..4u64 {
            for near in [1u64 << shift, u64::MAX << shift, (1 << shift) | (1 << (shift / 2))] {
                patterns.extend([near.wrapping_add(low), near.wrapping_sub(low), !near.wrapping_add(low)]);
                // Half an f32, bf16 or f16 last place below the leading bit, and one more or less.
                for place in [8, 11, 24] {
                    let tie = near ^ (1 << (shift.saturating_sub(place)));
                    patterns.extend([tie, tie.wrapping_add(1), tie.wrapping_sub(1)]);
                }
            }
        }
    }
    let mut state = 7u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        patterns.push(state.rotate_right(17));
    }
    patterns.iter_mut().for_each(|bits| *bits &= src.mask());
    patterns
}

#[test]
fn every_pair_of_cpu_types_agrees_with_integer_arithmetic() {
    for src in CPU {
        let all = if src.bits() <= 16 { (0..=src.mask()).collect() } else { patterns(src) };
        for dst in CPU {
            for &bits in &all {
                assert_eq!(convert(src, dst, bits), oracle(src, dst, bits), "{src} → {dst} of {bits:#x}");
            }
        }
    }
}

#[test]
fn f32_to_narrower_floats_over_all_exponents() {
    for bits in (0..u32::MAX).step_by(1021).map(u64::from) {
        for dst in [Elem::F16, Elem::Bf16] {
            assert_eq!(convert(Elem::F32, dst, bits), oracle(Elem::F32, dst, bits), "{dst} of {bits:#x}");
        }
    }
    // Every middle between two f16 values, subnormals included, and its neighbours.
    for code in 0..0x7C00u16 {
        let (low, high) = (half::f16::from_bits(code).to_f32(), half::f16::from_bits(code + 1).to_f32());
        let middle = if high.is_finite() { low + (high - low) / 2.0 } else { 65520.0 };
        for v in [middle.next_down(), middle, middle.next_up()] {
            for bits in [u64::from(v.to_bits()), u64::from((-v).to_bits())] {
                assert_eq!(convert(Elem::F32, Elem::F16, bits), oracle(Elem::F32, Elem::F16, bits), "{v:e}");
            }
        }
    }
}

#[test]
fn rounding_happens_once() {
    let (f32_tie, bf16_tie) = ((1u64 << 62) + (1 << 38), (1u64 << 63) + (1 << 55));
    for (src, dst, bits, expected) in [
        // A tie falls to even; one more in the last of 64 bits rounds up, which binary64 in between would lose.
        (Elem::I64, Elem::F32, f32_tie, 0x5E80_0000),
        (Elem::I64, Elem::F32, f32_tie + 1, 0x5E80_0001),
        (Elem::U64, Elem::Bf16, bf16_tie, 0x5F00),
        (Elem::U64, Elem::Bf16, bf16_tie + 1, 0x5F01),
        (Elem::U64, Elem::F32, u64::MAX, 0x5F80_0000),
        (Elem::U64, Elem::F16, u64::MAX, 0x7C00),
        (Elem::I64, Elem::F16, 65519, 0x7BFF),
        (Elem::I64, Elem::F16, 65520, 0x7C00),
        // Below the middle between zero and the smallest f16 subnormal, on it, above it.
        (Elem::F32, Elem::F16, 0x32FF_FFFF, 0x0000),
        (Elem::F32, Elem::F16, 0x3300_0000, 0x0000),
        (Elem::F32, Elem::F16, 0x3300_0001, 0x0001),
    ] {
        assert_eq!(convert(src, dst, bits), expected, "{src} → {dst} of {bits:#x}");
    }
}

#[test]
fn equal_types_keep_their_bits_and_other_nans_do_not() {
    assert_eq!(convert(Elem::F32, Elem::F32, 0xFF80_0001), 0xFF80_0001);
    assert_eq!(convert(Elem::F32, Elem::Bf16, 0xFF80_0001), 0x7FC0);
    assert_eq!(convert(Elem::Bf16, Elem::F32, 0xFFFF), 0x7FC0_0000);
    assert_eq!(convert(Elem::F16, Elem::I64, 0x7E00), 0);
}

#[test]
fn the_other_types_convert_too() {
    for &src in Elem::ALL {
        for &dst in Elem::ALL {
            for bits in 0..256 {
                assert!(convert(src, dst, bits) <= dst.mask(), "{src} → {dst} of {bits:#x}");
            }
        }
    }
    assert_eq!(convert(Elem::F8e4m3, Elem::F16, 0x7E), 0x5F00);
    assert_eq!(convert(Elem::F32, Elem::Hif8, 0x3F80_0000), 0x08);
    assert_eq!(convert(Elem::F4e2m1x2, Elem::I8, 0xF), 0xFA);
}
