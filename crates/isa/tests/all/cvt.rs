//! TCVT against a slow computation of its own: every value of the destination in a list, from which the neighbours are
//! picked (elementwise.md 5).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::LazyLock;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Rounding, Saturation, cvt};

const FLOATS: [Elem; 8] =
    [Elem::F32, Elem::F16, Elem::Bf16, Elem::F8e4m3, Elem::F8e5m2, Elem::Hif8, Elem::F4e1m2x2, Elem::F4e2m1x2];
const INTEGERS: [Elem; 8] = [Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::I64, Elem::U64];
const SATURATIONS: [Option<Saturation>; 3] = [None, Some(Saturation::On), Some(Saturation::Off)];

fn f32_bits(v: f32) -> u64 {
    u64::from(v.to_bits())
}

#[test]
fn words_and_numbers() {
    let names = ["NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD", "CAST_RINT"];
    assert_eq!(Rounding::ALL.iter().map(|r| r.name()).collect::<Vec<_>>(), names);
    assert!(Rounding::ALL.iter().enumerate().all(|(number, r)| *r as usize == number));
    assert_eq!((Saturation::On as u8, Saturation::Off as u8), (0, 1));
    assert_eq!(Rounding::parse("CAST_RINT"), Some(Rounding::CastRint));
    assert_eq!((Rounding::Odd.cpp(), Saturation::Off.cpp()), ("CAST_ODD", "OFF"));
}

#[test]
fn what_the_specification_checks() {
    use Rounding::{CastRint, Ceil, Floor, Odd, Rint, Round, Trunc};
    let (on, off) = (Some(Saturation::On), Some(Saturation::Off));
    let f32_to = |to, v: f32, mode, saturation| cvt(Elem::F32, to, f32_bits(v), mode, saturation);
    for (mode, up, down) in [(Rint, 2, -2), (Round, 3, -3), (Floor, 2, -3), (Ceil, 3, -2), (Trunc, 2, -2), (Odd, 3, -3)]
    {
        assert_eq!(f32_to(Elem::I32, 2.5, mode, None) as i32, up, "{mode}");
        assert_eq!(f32_to(Elem::I32, -2.5, mode, None) as i32, down, "{mode}");
    }
    assert_eq!(f32_to(Elem::I32, 3e9, CastRint, None), 2_147_483_647);
    assert_eq!(f32_to(Elem::I32, 3e9, CastRint, off), 0xB2D0_5E00);
    assert_eq!(f32_to(Elem::F16, 65520.0, Rint, None), 0x7C00);
    assert_eq!(f32_to(Elem::F16, 65520.0, Trunc, None), 0x7BFF);
    assert_eq!(f32_to(Elem::F16, 65520.0, Rint, on), 0x7BFF);
    let tie = 1.0 + 1.0 / 2048.0;
    assert_eq!([Rint, Round, Odd].map(|mode| f32_to(Elem::F16, tie, mode, None)), [0x3C00, 0x3C01, 0x3C01]);
    assert_eq!(cvt(Elem::I32, Elem::U8, 300, CastRint, None), 0xFF);
    assert_eq!(cvt(Elem::I32, Elem::U8, 300, CastRint, off), 0x2C);
    assert_eq!(cvt(Elem::I32, Elem::I16, 70000, CastRint, None), 0x1170);
    assert_eq!(cvt(Elem::I32, Elem::U16, 70000, CastRint, None), 0xFFFF);
    assert_eq!(cvt(Elem::I16, Elem::U32, 0xFFFF, CastRint, None), 0);
    for (v, want) in [(40000.0, 0x9C40), (3e9, 0xFFFF), (f32::INFINITY, 0xFFFF), (f32::NEG_INFINITY, 0)] {
        assert_eq!(f32_to(Elem::I16, v, CastRint, None), want, "{v}");
    }
    assert_eq!(f32_to(Elem::F32, 2.5, CastRint, None), f32_bits(2.0));
    assert_eq!(f32_to(Elem::F32, -2.5, Round, None), f32_bits(-3.0));
    assert_eq!(f32_to(Elem::F32, -0.25, CastRint, None), f32_bits(-0.0));
}

#[test]
fn what_is_left_out() {
    use Rounding::{CastRint, None as Unsaid};
    // NONE truncates to integers and from f32 to itself, and else is RINT.
    assert_eq!(cvt(Elem::F32, Elem::I32, f32_bits(1.75), Unsaid, None), 1);
    assert_eq!(cvt(Elem::F32, Elem::F32, f32_bits(-1.75), Unsaid, None), f32_bits(-1.0));
    assert_eq!(cvt(Elem::F32, Elem::Bf16, 0x3F80_C000, Unsaid, None), 0x3F81);
    // The six pairs that wrap, and some that do not.
    for (from, to, bits, want) in [
        (Elem::F16, Elem::I8, 0x5CB0, 0x2C),
        (Elem::F16, Elem::U8, 0x5CB0, 0x2C),
        (Elem::F16, Elem::I16, 0x7800, 0x8000),
        (Elem::F32, Elem::I16, f32_bits(40000.0), 0x9C40),
        (Elem::I32, Elem::I16, 40000, 0x9C40),
        (Elem::I64, Elem::I32, 1 << 31, 0x8000_0000),
        (Elem::F16, Elem::U16, 0xBC00, 0),
        (Elem::F32, Elem::I8, f32_bits(300.0), 0x7F),
        (Elem::Bf16, Elem::I16, 0x7F00, 0x7FFF),
        (Elem::I64, Elem::I16, 40000, 0x7FFF),
        // f8e4m3 saturates, the other floats do not.
        (Elem::F32, Elem::F8e4m3, f32_bits(1e6), 0x7E),
        (Elem::F32, Elem::F8e4m3, f32_bits(f32::NEG_INFINITY), 0xFE),
        (Elem::F32, Elem::F8e5m2, f32_bits(1e6), 0x7C),
        (Elem::Bf16, Elem::F16, 0xFF00, 0xFC00),
        // fp4 has neither infinity nor NaN; hif8 keeps its infinity.
        (Elem::Bf16, Elem::F4e2m1x2, 0xFF80, 0xF),
        (Elem::Bf16, Elem::F4e1m2x2, 0x7FC0, 0),
        (Elem::F32, Elem::Hif8, f32_bits(1e6), 0x6E),
        (Elem::F32, Elem::Hif8, f32_bits(f32::INFINITY), 0x6F),
        (Elem::F16, Elem::Hif8, 0x8000, 0),
    ] {
        assert_eq!(cvt(from, to, bits, CastRint, None), want, "{from} → {to} of {bits:#x}");
    }
    assert_eq!(cvt(Elem::F32, Elem::F8e4m3, f32_bits(-1e6), CastRint, Some(Saturation::Off)), 0x7F);
    assert_eq!(cvt(Elem::F32, Elem::U64, f32_bits(1e19), CastRint, Some(Saturation::Off)), i64::MAX as u64);
}

/// The values of a float destination from zero up, each by its code, as far as any source reaches.
struct Scale {
    values: Vec<f64>,
    /// Codes of finite values.
    finite: usize,
}

fn scale(to: Elem) -> Scale {
    // Mantissa bits, bias, how many codes are finite.
    let (mantissa, bias, finite) = match to {
        Elem::F16 => (10, 15, 0x7C00),
        Elem::Bf16 => (7, 127, 0x7F80),
        Elem::F8e4m3 => (3, 7, 0x7F),
        Elem::F8e5m2 => (2, 15, 0x7C),
        Elem::F4e1m2x2 => (2, 1, 8),
        _ => (1, 1, 8),
    };
    let value = |code: u32| {
        let (field, fraction) = (code >> mantissa, f64::from(code % (1 << mantissa)) / f64::from(1 << mantissa));
        let whole = f64::from(field.min(1) as u8) + fraction;
        whole * 2f64.powi(field.max(1) as i32 - bias)
    };
    let values = (0..).map(value).take_while(|v| *v < 2f64.powi(130)).collect();
    Scale { values, finite }
}

/// A value against a number, exactly.
fn compare(v: Number, number: f64) -> Ordering {
    match v {
        Number::Float(v) => v.total_cmp(&number),
        // If an f64 cannot hold the integers, the numbers are integers; if the numbers have fractions, an f64 holds
        // both.
        Number::Int(v) if number.fract() == 0.0 => v.cmp(&(number as i128)),
        Number::Int(v) => (v as f64).total_cmp(&number),
    }
}

/// The positions of a magnitude's neighbours, and how it lies to their middle; two times one if it is a value.
fn neighbours(v: Number, values: &[f64]) -> (usize, usize, Ordering) {
    let above = values.partition_point(|value| compare(v, *value).is_gt());
    if compare(v, values[above]).is_eq() {
        return (above, above, Ordering::Equal);
    }
    let (low, high) = (values[above - 1], values[above]);
    let middle = match v {
        Number::Float(_) => compare(v, low + (high - low) / 2.0),
        Number::Int(v) => (2 * v).cmp(&(low as i128 + high as i128)),
    };
    (above - 1, above, middle)
}

/// The neighbour that a mode picks, `low` being nearer to zero.
fn pick(mode: Rounding, negative: bool, (low, high, middle): (i128, i128, Ordering)) -> i128 {
    let even = if low % 2 == 0 { low } else { high };
    match mode {
        Rounding::Floor if negative => high,
        Rounding::Ceil if !negative => high,
        Rounding::Floor | Rounding::Ceil | Rounding::Trunc => low,
        Rounding::Odd => low + high - even,
        _ if middle.is_lt() => low,
        _ if middle.is_gt() => high,
        Rounding::Round => high,
        _ => even,
    }
}

fn oracle(
    scales: &HashMap<Elem, Scale>,
    from: Elem,
    to: Elem,
    bits: u64,
    mode: Rounding,
    sat: Option<Saturation>,
) -> u64 {
    let value = from.decode(bits);
    let nan = match to {
        Elem::F32 => 0x7FC0_0000,
        Elem::F16 => 0x7E00,
        Elem::Bf16 => 0x7FC0,
        Elem::F8e4m3 | Elem::F8e5m2 => 0x7F,
        Elem::Hif8 => 0x80,
        _ => 0,
    };
    let (negative, magnitude) = match value {
        Number::Float(v) if v.is_nan() => return nan,
        Number::Float(v) => (v.is_sign_negative(), Number::Float(v.abs())),
        Number::Int(v) => (v < 0, Number::Int(v.abs())),
    };
    let infinite = matches!(magnitude, Number::Float(f64::INFINITY));
    let wraps = [
        (Elem::F16, Elem::I8),
        (Elem::F16, Elem::U8),
        (Elem::F16, Elem::I16),
        (Elem::F32, Elem::I16),
        (Elem::I32, Elem::I16),
        (Elem::I64, Elem::I32),
    ];
    let on = match sat {
        Some(sat) => sat == Saturation::On,
        None if to.is_float() => to == Elem::F8e4m3,
        None => !wraps.contains(&(from, to)),
    };
    if !to.is_float() {
        let modulus = 1i128 << to.bits();
        let (min, max) = if to.is_signed() { (-modulus / 2, modulus / 2 - 1) } else { (0, modulus - 1) };
        let rounded = match magnitude {
            Number::Int(v) => v,
            // Beyond 2^64 all ends are alike.
            Number::Float(v) => {
                let v = v.min(2f64.powi(70));
                let mode = if mode == Rounding::None { Rounding::Trunc } else { mode };
                let middle = (v - v.floor()).total_cmp(&0.5);
                pick(mode, negative, (v.floor() as i128, v.ceil() as i128, middle))
            }
        };
        let v = if negative { -rounded } else { rounded };
        let v = match (on, from.is_float()) {
            (true, _) => v.clamp(min, max),
            (false, false) => v,
            (false, true) if to.bits() <= 16 => v.clamp(-(1 << 31), (1 << 31) - 1),
            (false, true) => v.clamp(-(1 << 63), (1 << 63) - 1),
        };
        return v.rem_euclid(modulus) as u64;
    }
    let sign = u64::from(negative) << (to.bits() - 1);
    if to == Elem::Hif8 {
        // Ties go away from zero; every larger value is the largest; no zero is negative.
        if infinite {
            return sign | 0x6F;
        }
        let code = match compare(magnitude, 32768.0) {
            Ordering::Less => {
                let (low, high, middle) = neighbours(magnitude, &HIF8.0);
                HIF8.1[if middle.is_lt() { low } else { high }]
            }
            _ => 0x6E,
        };
        return if code == 0 { 0 } else { sign | code };
    }
    if to == Elem::F32 {
        let f = match magnitude {
            Number::Float(v) if from == Elem::F32 && !infinite => {
                let mode = if mode == Rounding::None { Rounding::Trunc } else { mode };
                let middle = (v - v.floor()).total_cmp(&0.5);
                let (low, high) = (v.floor(), v.ceil());
                if v < 16_777_216.0 {
                    pick(mode, negative, (low as i128, high as i128, middle)) as f32
                } else {
                    v as f32
                }
            }
            // f32 holds every other float.
            Number::Float(v) => v as f32,
            Number::Int(v) => {
                let near = v as f32;
                let low = if near as i128 > v { near.next_down() } else { near };
                let high = if low as i128 == v { low } else { low.next_up() };
                let middle = (2 * v).cmp(&(low as i128 + high as i128));
                let pair = (i128::from(low.to_bits()), i128::from(high.to_bits()), middle);
                f32::from_bits(pick(mode, negative, pair) as u32)
            }
        };
        return sign | f32_bits(f);
    }
    let scale = &scales[&to];
    let largest = scale.finite as u64 - 1;
    let has_infinity = !matches!(to, Elem::F8e4m3 | Elem::F4e1m2x2 | Elem::F4e2m1x2);
    let beyond = match to {
        Elem::F8e4m3 => nan,
        Elem::F4e1m2x2 | Elem::F4e2m1x2 => sign | largest,
        _ => sign | scale.finite as u64,
    };
    if infinite {
        return if on && !has_infinity { sign | largest } else { beyond };
    }
    let (low, high, middle) = neighbours(magnitude, &scale.values);
    let code = pick(mode, negative, (low as i128, high as i128, middle)) as u64;
    let outward = match mode {
        Rounding::Floor => negative,
        Rounding::Ceil => !negative,
        Rounding::Trunc | Rounding::Odd => false,
        _ => true,
    };
    match code <= largest {
        true => sign | code,
        false if on || !outward => sign | largest,
        false => beyond,
    }
}

/// The finite HiFloat8 values from zero up, and their codes.
static HIF8: LazyLock<(Vec<f64>, Vec<u64>)> = LazyLock::new(|| {
    let mut codes: Vec<(f64, u64)> = (0..0x80).filter(|code| *code != 0x6F).map(|code| (hif8(code), code)).collect();
    codes.sort_by(|a, b| a.0.total_cmp(&b.0));
    codes.into_iter().unzip()
});

/// The value of a HiFloat8 magnitude, by the table of tile-model.md 3.1.
fn hif8(code: u64) -> f64 {
    let bit = |i: u32| code >> i & 1;
    let (exponent_bits, mantissa_bits) = match (bit(6), bit(5), bit(4), bit(3)) {
        (1, 1, ..) => (4, 1),
        (1, 0, ..) => (3, 2),
        (0, 1, ..) => (2, 3),
        (0, 0, 1, _) => (1, 3),
        (0, 0, 0, 1) => (0, 3),
        _ if code == 0 => return 0.0,
        _ => return 2f64.powi(code as i32 - 23),
    };
    let field = (code >> mantissa_bits) as i32 % (1 << exponent_bits);
    let exponent = match exponent_bits {
        0 => 0,
        _ => {
            let half = 1 << (exponent_bits - 1);
            let size = half + field % half;
            if field >= half { -size } else { size }
        }
    };
    let fraction = (code % (1 << mantissa_bits)) as f64 / f64::from(1 << mantissa_bits);
    (1.0 + fraction) * 2f64.powi(exponent)
}

/// Bits of a source: all if they are few, else edges, what lies near the values and middles of narrower types, and some.
fn inputs(from: Elem, scales: &HashMap<Elem, Scale>) -> Vec<u64> {
    if from.bits() <= 8 {
        return (0..=from.mask()).collect();
    }
    let mut state = u64::from(from.bits());
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.rotate_right(17)
    };
    let mut bits: Vec<u64> = (0..300).map(|_| random()).collect();
    // Powers of two, ties below their leading bits, and one more or less.
    for shift in 0..from.bits() {
        for place in [2, 3, 8, 11, 12, 24, 25] {
            let tie = (1u64 << shift) | (1 << shift.saturating_sub(place));
            bits.extend([tie, tie + 1, tie.wrapping_sub(1), !tie, tie.wrapping_neg(), 3 << shift]);
        }
    }
    let near = |bits: &mut Vec<u64>, v: f64| {
        let code = from.encode_f64(v, tessera_isa::codec::Overflow::Infinity);
        for code in [code.wrapping_sub(1), code, code + 1] {
            bits.extend([code, code | 1 << (from.bits() - 1)]);
        }
    };
    if from.is_float() {
        for to in FLOATS.iter().filter_map(|to| scales.get(to)) {
            let last = to.values.len() - 2;
            let some =
                (0..40).map(|_| random() as usize % last).chain([0, 1, 2, to.finite - 2, to.finite - 1, to.finite]);
            for i in some.collect::<Vec<_>>() {
                near(&mut bits, to.values[i]);
                near(&mut bits, (to.values[i] + to.values[i + 1]) / 2.0);
            }
        }
        for code in 0..0x6F {
            near(&mut bits, (hif8(code) + hif8(code + 1)) / 2.0);
        }
        for end in [7, 8, 15, 16, 31, 32, 63, 64] {
            for by in [-1.5, -1.0, -0.5, 0.0, 0.5] {
                near(&mut bits, 2f64.powi(end) + by);
            }
        }
        (0..12).for_each(|i| near(&mut bits, f64::from(i) / 2.0));
        near(&mut bits, f64::INFINITY);
    }
    bits.iter_mut().for_each(|b| *b &= from.mask());
    bits.sort_unstable();
    bits.dedup();
    bits
}

#[test]
fn every_pair_and_mode() {
    let narrow = FLOATS.iter().filter(|to| !matches!(to, Elem::F32 | Elem::Hif8));
    let scales: HashMap<Elem, Scale> = narrow.map(|to| (*to, scale(*to))).collect();
    for from in FLOATS.iter().chain(&INTEGERS).copied() {
        let inputs = inputs(from, &scales);
        for to in FLOATS.iter().chain(&INTEGERS).copied() {
            for &bits in &inputs {
                for &mode in Rounding::ALL {
                    for sat in SATURATIONS {
                        let (got, want) = (cvt(from, to, bits, mode, sat), oracle(&scales, from, to, bits, mode, sat));
                        assert_eq!(got, want, "{from} → {to} of {bits:#x}, {mode} {sat:?}: {got:#x}, not {want:#x}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_value_that_the_type_holds_is_never_changed() {
    for (narrow, wide) in [
        (Elem::F16, Elem::F32),
        (Elem::Bf16, Elem::F32),
        (Elem::F8e4m3, Elem::F32),
        (Elem::F8e5m2, Elem::F32),
        (Elem::Hif8, Elem::F32),
        (Elem::F4e1m2x2, Elem::Bf16),
        (Elem::F4e2m1x2, Elem::Bf16),
        (Elem::I16, Elem::F32),
        (Elem::I8, Elem::F16),
        (Elem::U8, Elem::I64),
    ] {
        for bits in (0..=narrow.mask()).filter(|bits| !narrow.is_nan(*bits)) {
            for &mode in Rounding::ALL {
                let there = cvt(narrow, wide, bits, mode, None);
                assert_eq!(cvt(wide, narrow, there, mode, None), bits, "{narrow} {bits:#x} through {wide}, {mode}");
            }
        }
    }
}
