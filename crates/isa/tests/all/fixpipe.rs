//! The vectors of fixpipe.md 4, and every pair of fixpipe.md 2 against a second, slower reading of the same text.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_isa::codec::{Number, QuantFault, QuantParam};
use tessera_isa::elem::Elem;
use tessera_isa::sem::Fixpipe;

const SIGNED: u64 = 1 << 46;

fn scalar(scale: f32, offset: u64, flags: u64) -> QuantParam {
    QuantParam::scalar(u64::from(scale.to_bits()) | offset << 37 | flags)
}

fn fixpipe(src: Elem, dst: Elem, hardware_rounding: bool) -> Fixpipe {
    Fixpipe { src, dst, relu: false, hardware_rounding, saturate_inf: false }
}

fn to_i8(v: f32, param: &QuantParam, hardware_rounding: bool) -> i8 {
    fixpipe(Elem::F32, Elem::I8, hardware_rounding).apply(v.to_bits(), Some(param)) as i8
}

#[test]
fn the_fields_of_a_parameter() {
    let bits = 0xFFFF_8000_0000_0000 | SIGNED | 511 << 37 | 1 << 36 | 15 << 32 | u64::from(0.1f32.to_bits());
    assert_eq!(QuantParam::scalar(bits), QuantParam { scale: 0.1, shift: 16, offset: 511, signed: true });
    assert_eq!(f64::from(QuantParam::vector(bits).scale), 0.099_975_585_937_5);
    assert_eq!(QuantParam::vector(bits), QuantParam { scale: 0.099_975_586, ..QuantParam::scalar(bits) });
    assert_eq!(QuantParam::scalar(0), QuantParam { scale: 0.0, shift: 1, offset: 0, signed: false });
    // Bits 36 and 63:47 mean nothing.
    assert_eq!(QuantParam::scalar(1 << 36 | 0xFFFF_8000_0000_0000), QuantParam::scalar(0));
}

#[test]
fn parameters_are_checked_against_the_types() {
    let (signed, unsigned) = (scalar(1.0, 0, SIGNED), scalar(1.0, 0, 0));
    for src in [Elem::F32, Elem::I32] {
        assert_eq!(signed.check(src, Elem::I8), Ok(()));
        assert_eq!(unsigned.check(src, Elem::U8), Ok(()));
        assert_eq!(signed.check(src, Elem::U8), Err(QuantFault::Sign));
        assert_eq!(unsigned.check(src, Elem::I8), Err(QuantFault::Sign));
        assert_eq!(signed.check(src, Elem::F16).and(unsigned.check(src, Elem::F16)), Ok(()));
        for scale in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::from_bits(0x7F80_0001)] {
            let bits = u64::from(scale.to_bits()) | SIGNED;
            for param in [QuantParam::scalar(bits), QuantParam::vector(bits)] {
                assert_eq!(param.check(src, Elem::I8), Err(QuantFault::Scale));
                assert_eq!(param.check(src, Elem::Bf16), Err(QuantFault::Scale));
                assert_eq!(param.check(src, Elem::U8), Err(QuantFault::Sign));
            }
        }
    }
    assert_eq!(scalar(f32::NAN, 0, 0).check(Elem::I32, Elem::I16), Ok(()));
    assert_eq!([QuantFault::Sign, QuantFault::Scale].map(QuantFault::rule), ["quant-sign", "quant-scale"]);
}

#[test]
fn vectors_scale_one_signed_no_offset() {
    let param = scalar(1.0, 0, SIGNED);
    for (v, expected) in [
        (0.5, 0),
        (1.5, 2),
        (2.5, 2),
        (-0.5, 0),
        (-1.5, -2),
        (300.0, 127),
        (-300.0, -128),
        (f32::INFINITY, 127),
        (f32::NEG_INFINITY, -128),
        (f32::NAN, 0),
    ] {
        for hardware_rounding in [false, true] {
            assert_eq!(to_i8(v, &param, hardware_rounding), expected, "{v}");
        }
    }
}

#[test]
fn vectors_with_offset_three() {
    let param = scalar(1.0, 3, SIGNED);
    for (v, cpu, hardware) in [
        (0.5, 4, 3),
        (1.5, 4, 5),
        (2.5, 6, 5),
        (-0.5, 2, 3),
        (-1.5, 2, 1),
        (f32::NAN, 0, 0),
        (f32::INFINITY, 127, 127),
        (f32::NEG_INFINITY, -128, -128),
    ] {
        assert_eq!(to_i8(v, &param, false), cpu, "cpu {v}");
        assert_eq!(to_i8(v, &param, true), hardware, "a2a3, a5 {v}");
    }
    // The clamp to -256…255 comes before the offset.
    let far = scalar(1.0, 511, 0);
    let to_u8 = |v: f32, hardware| fixpipe(Elem::F32, Elem::U8, hardware).apply(v.to_bits(), Some(&far));
    assert_eq!((to_u8(-300.0, true), to_u8(-300.0, false)), (255, 211));
    assert_eq!((to_u8(f32::NEG_INFINITY, true), to_u8(f32::NEG_INFINITY, false)), (255, 0));
}

#[test]
fn vectors_shift_saturation_and_infinity() {
    let shift = fixpipe(Elem::I32, Elem::I16, true);
    let by = |v: i32, n: u64| shift.apply(v as u32, Some(&QuantParam::scalar(n << 32))) as i16;
    assert_eq!((by(70000, 0), by(-70000, 0)), (32767, -32768));
    assert_eq!((by(-1, 15), by(-3, 0), by(65536, 15), by(i32::MIN, 15)), (-1, -2, 1, -32768));
    let half = fixpipe(Elem::I32, Elem::F16, true);
    assert_eq!(half.apply(100_000, Some(&scalar(1.0, 0, 0))), 0x7BFF);
    let quant = |dst, v: f32| fixpipe(Elem::F32, dst, true).apply(v.to_bits(), Some(&scalar(1.0, 0, 0)));
    for (dst, infinity, largest) in [
        (Elem::F16, 0x7C00, 0x7BFF),
        (Elem::Bf16, 0x7F80, 0x7F7F),
        (Elem::F8e4m3, 0x7E, 0x7E),
        (Elem::Hif8, 0x6F, 0x6E),
    ] {
        let sign = 1 << (dst.bits() - 1);
        assert_eq!((quant(dst, f32::INFINITY), quant(dst, f32::MAX)), (infinity, largest), "{dst}");
        assert_eq!((quant(dst, f32::NEG_INFINITY), quant(dst, f32::MIN)), (sign | infinity, sign | largest), "{dst}");
        assert_eq!(Some(quant(dst, -f32::NAN)), dst.canonical_nan(), "{dst}");
    }
    let cast = |dst, v: f32| fixpipe(Elem::F32, dst, true).apply(v.to_bits(), None);
    assert_eq!((cast(Elem::F16, 65520.0), cast(Elem::F16, -65519.0)), (0x7C00, 0xFBFF));
    assert_eq!((cast(Elem::Bf16, f32::MAX), cast(Elem::Bf16, f32::NAN)), (0x7F80, 0x7FC0));
}

#[test]
fn same_type_keeps_bits_and_relu_cleans_them() {
    for bits in [0xFF80_0001u32, 0x7FFF_FFFF, 0x8000_0000, 1, 0x7F80_0000, 0xFF80_0000, 0xBF80_0000] {
        for elem in [Elem::F32, Elem::I32] {
            let plain = fixpipe(elem, elem, true);
            assert_eq!(plain.apply(bits, None), u64::from(bits));
            let v = if elem == Elem::I32 { f64::from(bits as i32) } else { f64::from(f32::from_bits(bits)) };
            let expected = if v > 0.0 { u64::from(bits) } else { 0 };
            assert_eq!(Fixpipe { relu: true, ..plain }.apply(bits, None), expected, "{elem} {bits:#x}");
        }
    }
}

/// An i32 rounded to binary32 by integer arithmetic, as a binary64 value.
fn rounded_i32(v: i32) -> f64 {
    let magnitude = i64::from(v).abs();
    let drop = (64 - magnitude.leading_zeros()).saturating_sub(24);
    let (whole, rest) = (magnitude >> drop, magnitude % (1 << drop));
    let up = 2 * rest > 1 << drop || 2 * rest == 1 << drop && whole % 2 == 1;
    let rounded = ((whole + i64::from(drop > 0 && up)) << drop) as f64;
    if v < 0 { -rounded } else { rounded }
}

/// The nearest integer, ties to even, from floor and the distance to it, clamped.
fn nearest_integer(v: f64, min: i64, max: i64) -> i64 {
    if v <= min as f64 || v >= max as f64 {
        return if v <= min as f64 { min } else { max };
    }
    let floor = v.floor() as i64;
    match v - v.floor() {
        d if d < 0.5 => floor,
        d if d > 0.5 => floor + 1,
        _ => floor + floor.rem_euclid(2),
    }
}

/// The nearest finite value of a type by looking at all of them; `away` breaks ties away from zero, else to even codes.
fn nearest_code(elem: Elem, v: f64, away: bool) -> u64 {
    let mut best = (f64::INFINITY, 0);
    for code in 0..=elem.mask() {
        let Number::Float(value) = elem.decode(code) else {
            continue;
        };
        let distance = (value - v).abs();
        let same_sign = value.is_sign_negative() == v.is_sign_negative() || elem == Elem::Hif8;
        let wins_tie = if away { value.abs() > v.abs() } else { code % 2 == 0 };
        if value.is_finite() && same_sign && (distance < best.0 || distance == best.0 && wins_tie) {
            best = (distance, code);
        }
    }
    best.1
}

/// fixpipe.md 4 once more: products are exact in binary64, and so is what rounding a binary64 sum to binary32 gives.
fn reference(form: &Fixpipe, bits: u32, param: Option<u64>, vector: bool) -> u64 {
    let x = if form.src == Elem::I32 { rounded_i32(bits as i32) } else { f64::from(f32::from_bits(bits)) };
    let stored = match param {
        None if form.src == form.dst => u64::from(bits),
        None if x.is_nan() => form.dst.canonical_nan().unwrap_or(0),
        None if form.dst == Elem::F16 => u64::from(half::f16::from_f32(x as f32).to_bits()),
        None => u64::from(half::bf16::from_f32(x as f32).to_bits()),
        Some(param) if form.dst == Elem::I16 => {
            let divisor = 2i64 << ((param >> 32) % 16);
            i64::from(bits as i32).div_euclid(divisor).clamp(-32768, 32767) as u16 as u64
        }
        Some(param) => {
            let scale_bits = param as u32;
            let scale = f32::from_bits(if vector { scale_bits / 8192 * 8192 } else { scale_bits });
            let offset = (param / (1 << 37) % 512) as i64;
            let t = (x * f64::from(scale)) as f32;
            let wide = f64::from(t);
            let (min, max) = if form.dst == Elem::I8 { (-128, 127) } else { (0, 255) };
            match form.dst {
                Elem::I8 | Elem::U8 if t.is_nan() => 0,
                Elem::I8 | Elem::U8 if form.hardware_rounding => {
                    (nearest_integer(wide, -256, 255) + offset).clamp(min, max) as u8 as u64
                }
                Elem::I8 | Elem::U8 => {
                    let sum = f64::from((wide + offset as f64) as f32);
                    nearest_integer(sum, min, max) as u8 as u64
                }
                _ if t.is_nan() => form.dst.canonical_nan().unwrap_or(0),
                Elem::F16 if t.is_infinite() => u64::from(half::f16::from_f32(t).to_bits()),
                Elem::F16 => u64::from(half::f16::from_f32(t.clamp(-65504.0, 65504.0)).to_bits()),
                Elem::Bf16 => match half::bf16::from_f32(t) {
                    rounded if rounded.is_infinite() && t.is_finite() && t > 0.0 => 0x7F7F,
                    rounded if rounded.is_infinite() && t.is_finite() => 0xFF7F,
                    rounded => u64::from(rounded.to_bits()),
                },
                Elem::Hif8 if t.is_infinite() => {
                    if t > 0.0 {
                        0x6F
                    } else {
                        0xEF
                    }
                }
                elem => nearest_code(elem, wide.clamp(-1e9, 1e9), elem == Elem::Hif8),
            }
        }
    };
    let positive = match form.dst.decode(stored) {
        Number::Int(v) => v > 0,
        Number::Float(v) => v > 0.0,
    };
    if form.relu && !positive { 0 } else { stored }
}

/// Accumulator patterns: specials, edges of every destination, middles between integers, and random ones.
fn inputs(src: Elem) -> Vec<u32> {
    let mut state = 0x1234_5678_9ABC_DEF1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let mut inputs: Vec<u32> = Vec::new();
    if src == Elem::I32 {
        inputs.extend((-520..520).map(|v: i32| v as u32));
        inputs.extend((0..32).flat_map(|k| [1u32 << k, (1 << k) - 1, (1 << k) + 1, u32::MAX << k]));
        inputs.extend([i32::MIN, i32::MAX, 16_777_217, -16_777_219, 70_000, -70_000].map(|v| v as u32));
    } else {
        let edges =
            [65504.0, 65519.99, 65520.0, 448.0, 464.0, 465.0, 32768.0, 40000.0, 1.5e-5, 2f32.powi(-23), 3.38e38];
        let specials = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.0];
        inputs.extend(edges.iter().chain(&specials).flat_map(|v| [v.to_bits(), (-v).to_bits()]));
        inputs.extend((-1100..1100).map(|v| (v as f32 / 2.0).to_bits()));
        inputs.extend((0..400).map(|_| ((random() % 4_000_000) as f32 / 4096.0 - 488.0).to_bits()));
        inputs.extend([0x7F80_0001, 0xFFC1_2345]);
    }
    inputs.extend((0..800).map(|_| random()));
    inputs
}

/// Every legal pair of fixpipe.md 2: source, destinations of the plain form, of the quantizing forms.
const PAIRS: [(Elem, &[Elem], &[Elem]); 2] = [
    (
        Elem::F32,
        &[Elem::F16, Elem::Bf16, Elem::F32],
        &[Elem::I8, Elem::U8, Elem::Hif8, Elem::F16, Elem::Bf16, Elem::F8e4m3],
    ),
    (Elem::I32, &[Elem::I32], &[Elem::I8, Elem::U8, Elem::F16, Elem::Bf16, Elem::I16]),
];

fn forms(src: Elem, dst: Elem) -> impl Iterator<Item = Fixpipe> {
    [(false, false), (false, true), (true, false), (true, true)]
        .into_iter()
        .map(move |(relu, hardware_rounding)| Fixpipe { src, dst, relu, hardware_rounding, saturate_inf: false })
}

#[test]
fn every_plain_pair_agrees_with_the_reference() {
    for (src, plain, _) in PAIRS {
        for form in plain.iter().flat_map(|&dst| forms(src, dst)) {
            for bits in inputs(src) {
                assert_eq!(form.apply(bits, None), reference(&form, bits, None, false), "{form:?} of {bits:#x}");
            }
        }
    }
}

#[test]
fn every_quantizing_pair_agrees_with_the_reference() {
    let scales = [1.0, 0.1, -0.5, 0.0, 3.0e-3, 1e30, 1e-30, 0.333_333_34].map(|s: f32| u64::from(s.to_bits()));
    for (src, _, quant) in PAIRS {
        let inputs = inputs(src);
        for form in quant.iter().flat_map(|&dst| forms(src, dst)) {
            for (k, scale) in scales.into_iter().enumerate() {
                let offset = [0, 3, 128, 511][k % 4];
                let param = scale | offset << 37 | (k as u64 * 5 % 16) << 32 | SIGNED;
                for &bits in &inputs {
                    let context = || format!("{form:?} of {bits:#x} with {param:#x}");
                    let (scalar, vector) = (QuantParam::scalar(param), QuantParam::vector(param));
                    let got = (form.apply(bits, Some(&scalar)), form.apply(bits, Some(&vector)));
                    let expected =
                        (reference(&form, bits, Some(param), false), reference(&form, bits, Some(param), true));
                    assert_eq!(got, expected, "{}", context());
                }
            }
        }
    }
}
