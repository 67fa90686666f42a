//! Codecs of f32 and the integers, NaNs, exactness, text; and f16 and bf16 against the `half` crate.

use std::num::FpCategory;

use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;

/// Binary32 patterns that cover every exponent and sign, a million of them.
fn f32_sweep() -> impl Iterator<Item = f32> {
    (0..u32::MAX).step_by(4099).map(f32::from_bits)
}

#[test]
fn half_crate_agrees_on_f16_and_bf16() {
    for code in 0..=u16::MAX {
        let (f16, bf16) = (half::f16::from_bits(code), half::bf16::from_bits(code));
        for (elem, value) in [(Elem::F16, f16.to_f64()), (Elem::Bf16, bf16.to_f64())] {
            let Number::Float(decoded) = elem.decode(u64::from(code)) else { unreachable!("a float type") };
            assert!(decoded.to_bits() == value.to_bits() || decoded.is_nan() && value.is_nan(), "{elem} {code:#x}");
        }
    }
    for v in f32_sweep().filter(|v| !v.is_nan()) {
        let (f16, bf16) = (half::f16::from_f32(v).to_bits(), half::bf16::from_f32(v).to_bits());
        assert_eq!(Elem::F16.encode_f32(v, Overflow::Infinity), u64::from(f16), "{v:e}");
        assert_eq!(Elem::Bf16.encode_f32(v, Overflow::Infinity), u64::from(bf16), "{v:e}");
    }
}

#[test]
fn the_binary32_paths_equal_the_binary64_path() {
    for v in f32_sweep() {
        for overflow in [Overflow::Infinity, Overflow::Saturate] {
            for &elem in Elem::ALL {
                assert_eq!(elem.encode_f32(v, overflow), elem.encode_f64(f64::from(v), overflow), "{elem} {v:e}");
            }
        }
    }
}

#[test]
fn binary64_rounds_to_binary32_as_the_processor_does() {
    let mut state = 1u64;
    for _ in 0..1_000_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Exponents around binary32's, subnormals and overflow included.
        let exponent = 1023 - 160 + (state >> 55) % 300;
        let v = f64::from_bits(state << 63 | exponent << 52 | (state >> 9) & ((1 << 52) - 1));
        assert_eq!(Elem::F32.encode_f64(v, Overflow::Infinity), u64::from((v as f32).to_bits()), "{v:e}");
        // Near and on the middle between two binary32 values.
        let tie = f64::from_bits(v.to_bits() & !((1 << 29) - 1) | 1 << 28);
        for v in [tie, tie.next_up(), tie.next_down()] {
            assert_eq!(Elem::F32.encode_f64(v, Overflow::Infinity), u64::from((v as f32).to_bits()), "{v:e}");
        }
    }
}

#[test]
fn a_value_is_rounded_once() {
    // Just above the middle of two f16 values; binary32 in between would fall back onto the middle.
    let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    assert_eq!(above as f32, 1.0 + 2f32.powi(-11));
    assert_eq!(Elem::F16.encode_f64(above, Overflow::Infinity), 0x3C01);
    assert_eq!(Elem::Bf16.encode_f64(1.0 + 2f64.powi(-8) + 2f64.powi(-40), Overflow::Infinity), 0x3F81);
    assert_eq!(Elem::F8e4m3.encode_f64(1.0 + 2f64.powi(-4) + 2f64.powi(-50), Overflow::Infinity), 0x39);
    // Integers: binary64 in between would fall back onto the middle of two bf16 or f32 values.
    let above = (1i128 << 63) + (1 << 55) + 1;
    assert_eq!(Elem::Bf16.encode_int(above, Overflow::Infinity), 0x5F01);
    assert_eq!(Elem::Bf16.encode_int(-above, Overflow::Infinity), 0xDF01);
    assert_eq!(Elem::Bf16.encode_int(above - 1, Overflow::Infinity), 0x5F00);
    assert_eq!(Elem::F32.encode_int((1 << 62) + (1 << 38) + 1, Overflow::Infinity), 0x5E80_0001);
}

#[test]
fn nans_come_out_canonical() {
    let canonical = [
        (Elem::F32, Some(0x7FC0_0000)),
        (Elem::F16, Some(0x7E00)),
        (Elem::Bf16, Some(0x7FC0)),
        (Elem::F8e4m3, Some(0x7F)),
        (Elem::F8e5m2, Some(0x7F)),
        (Elem::F8e8m0, Some(0xFF)),
        (Elem::Hif8, Some(0x80)),
    ];
    for &elem in Elem::ALL {
        let expected = canonical.iter().find(|(e, _)| *e == elem).and_then(|(_, nan)| *nan);
        assert_eq!(elem.canonical_nan(), expected, "{elem}");
        assert_eq!(elem.encode_exact(&Number::Float(f64::NAN)), expected, "{elem}");
        for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7F80_0001), f32::from_bits(0xFFFF_FFFF)] {
            for overflow in [Overflow::Infinity, Overflow::Saturate] {
                assert_eq!(elem.encode_f32(nan, overflow), expected.unwrap_or(0), "{elem}");
                assert_eq!(elem.encode_f64(f64::from(nan), overflow), expected.unwrap_or(0), "{elem}");
            }
        }
        if let Some(nan) = expected {
            assert_eq!(elem.classify(nan), FpCategory::Nan);
            assert_eq!(elem.format_bits(nan), "nan");
        }
    }
}

/// The range of an integer type, from its bits.
fn range(elem: Elem) -> (i128, i128) {
    let full = 1i128 << elem.bits();
    if elem.is_signed() { (-full / 2, full / 2 - 1) } else { (0, full - 1) }
}

#[test]
fn integers_decode_wrap_and_check_their_range() {
    for &elem in Elem::ALL.iter().filter(|elem| !elem.is_float()) {
        let (min, max) = range(elem);
        for v in [min, min + 1, -1, 0, 1, 2, max / 3, max - 1, max] {
            if min <= v && v <= max {
                let bits = v as u64 & elem.mask();
                assert_eq!(elem.decode(bits), Number::Int(v), "{elem}");
                assert_eq!(elem.decode(bits | !elem.mask()), Number::Int(v), "{elem} ignores bits above it");
                assert_eq!(elem.encode_exact(&Number::Int(v)), Some(bits), "{elem}");
                assert_eq!(elem.encode_int(v + (1 << elem.bits()), Overflow::Saturate), bits, "{elem} wraps");
                assert_eq!(elem.format_bits(bits), v.to_string());
            }
        }
        for v in [min - 1, max + 1, i128::MIN, i128::MAX] {
            assert_eq!(elem.encode_exact(&Number::Int(v)), None, "{elem} {v}");
        }
    }
}

#[test]
fn floats_become_integers_by_truncation_and_saturation() {
    for &elem in Elem::ALL.iter().filter(|elem| !elem.is_float()) {
        let (min, max) = range(elem);
        for v in
            [0.0, -0.0, 0.99, -0.99, 1.5, -1.5, 126.999, -128.5, 255.9, 1e10, -1e10, 9e18, -9e18, 1.8e19, 1e300, -1e300]
        {
            let expected = (v as i128).clamp(min, max) as u64 & elem.mask();
            assert_eq!(elem.encode_f64(v, Overflow::Infinity), expected, "{elem} {v}");
        }
        let limit = |v: i128| v as u64 & elem.mask();
        assert_eq!(elem.encode_f64(f64::INFINITY, Overflow::Infinity), limit(max));
        assert_eq!(elem.encode_f64(f64::NEG_INFINITY, Overflow::Infinity), limit(min));
    }
}

#[test]
fn exactness_between_kinds() {
    for (elem, v, expected) in [
        (Elem::I8, Number::Float(-128.0), Some(0x80)),
        (Elem::I8, Number::Float(128.0), None),
        (Elem::I8, Number::Float(0.5), None),
        (Elem::U8, Number::Float(-1.0), None),
        (Elem::U8, Number::Float(-0.0), Some(0)),
        (Elem::I64, Number::Float(2f64.powi(63)), None),
        (Elem::I64, Number::Float(-(2f64.powi(63))), Some(1 << 63)),
        (Elem::U64, Number::Float(2f64.powi(64)), None),
        (Elem::U64, Number::Float(f64::INFINITY), None),
        (Elem::F16, Number::Int(2048), Some(0x6800)),
        (Elem::F16, Number::Int(2049), None),
        (Elem::F16, Number::Int(65536), None),
        (Elem::F16, Number::Float(0.1), None),
        (Elem::F16, Number::Float(-0.0), Some(0x8000)),
        (Elem::F32, Number::Int(1 << 24), Some(0x4B80_0000)),
        (Elem::F32, Number::Int((1 << 24) + 1), None),
        (Elem::F32, Number::Int(i128::MAX), None),
        (Elem::F32, Number::Int(i128::MIN), Some(0xFF00_0000)),
        (Elem::F32, Number::Float(1e300), None),
        (Elem::F4e2m1x2, Number::Int(-6), Some(0xF)),
        (Elem::F4e2m1x2, Number::Int(5), None),
        (Elem::F8e8m0, Number::Int(2), Some(128)),
        (Elem::F8e8m0, Number::Int(-2), None),
        (Elem::Hif8, Number::Int(32768), Some(0x6E)),
        (Elem::Hif8, Number::Int(49152), None),
    ] {
        assert_eq!(elem.encode_exact(&v), expected, "{elem} {v:?}");
    }
}

#[test]
fn rounding_inside_the_range_only() {
    use Number::{Float, Int};
    let largest = f64::from(f32::MAX);
    for (elem, v, expected) in [
        (Elem::I8, Int(127), Some(0x7F)),
        (Elem::I8, Int(128), None),
        (Elem::I8, Float(126.5), Some(126)),
        (Elem::I8, Float(127.5), None),
        (Elem::U8, Float(-0.5), None),
        (Elem::U8, Float(0.5), Some(0)),
        (Elem::U8, Float(f64::NAN), None),
        (Elem::I64, Float(2f64.powi(63)), None),
        (Elem::I64, Float(-(2f64.powi(63))), Some(1 << 63)),
        (Elem::U64, Float(2f64.powi(64)), None),
        (Elem::F16, Float(0.1), Some(0x2E66)),
        (Elem::F16, Int(65504), Some(0x7BFF)),
        (Elem::F16, Int(65505), None),
        (Elem::F16, Int(-2049), Some(0xE800)),
        (Elem::F16, Float(f64::NEG_INFINITY), Some(0xFC00)),
        (Elem::F16, Float(f64::NAN), Some(0x7E00)),
        (Elem::F32, Float(largest), Some(0x7F7F_FFFF)),
        (Elem::F32, Float(largest.next_up()), None),
        (Elem::F32, Int(i128::MAX), Some(0x7F00_0000)),
        (Elem::F8e4m3, Float(449.0), None),
        (Elem::F8e4m3, Float(f64::INFINITY), None),
        (Elem::F8e8m0, Float(0.0), None),
        (Elem::F8e8m0, Float(1.25), Some(127)),
        (Elem::Hif8, Float(30000.0), Some(0x6E)),
        (Elem::Hif8, Float(32769.0), None),
        (Elem::F4e2m1x2, Float(-5.5), Some(0xF)),
        (Elem::F4e2m1x2, Float(6.5), None),
        (Elem::F4e2m1x2, Float(f64::NAN), None),
    ] {
        assert_eq!(elem.encode_in_range(&v), expected, "{elem} {v:?}");
    }
    assert_eq!(Elem::F8e4m3.range(), (Float(-448.0), Float(448.0)));
    assert_eq!(Elem::Hif8.range(), (Float(-32768.0), Float(32768.0)));
    assert_eq!(Elem::F8e8m0.range(), (Float(2f64.powi(-127)), Float(2f64.powi(127))));
    assert_eq!(Elem::F4e1m2x2.range(), (Float(-1.75), Float(1.75)));
    assert_eq!(Elem::I16.range(), (Int(-32768), Int(32767)));
}

#[test]
fn text_reads_back_as_the_same_bits() {
    for &elem in Elem::ALL.iter().filter(|elem| elem.is_float() && elem.bits() <= 16) {
        for code in 0..=elem.mask() {
            if elem.classify(code) != FpCategory::Nan {
                let text = elem.format_bits(code);
                let v: f64 = text.parse().expect("a number");
                assert_eq!(elem.encode_f64(v, Overflow::Infinity), code, "{elem} {text}");
                assert!(text.contains('.') || text.contains("inf"), "{elem} {text}");
                assert!(text.len() <= 14, "{elem} {text}");
            }
        }
    }
    for v in f32_sweep().filter(|v| !v.is_nan()).step_by(17) {
        let text = Elem::F32.format_bits(u64::from(v.to_bits()));
        let back: f64 = text.parse().expect("a number");
        assert_eq!(Elem::F32.encode_f64(back, Overflow::Infinity), u64::from(v.to_bits()), "{text}");
    }
}

#[test]
fn text_is_short() {
    for (elem, bits, text) in [
        (Elem::F32, 0x3DCC_CCCD, "0.1"),
        (Elem::F32, 0x4B80_0000, "16777216.0"),
        (Elem::F32, 0x7E96_7699, "1.0e38"),
        (Elem::F32, 0x8000_0000, "-0.0"),
        (Elem::F32, 0x0000_0001, "1.4e-45"),
        (Elem::F16, 0x7BFF, "65504.0"),
        (Elem::F16, 0x2E66, "0.1"),
        (Elem::F16, 0xFC00, "-inf"),
        (Elem::F8e4m3, 0x7E, "448.0"),
        (Elem::F8e5m2, 0x7C, "inf"),
        (Elem::Hif8, 0x6E, "32768.0"),
        (Elem::F4e1m2x2, 0xF, "-1.75"),
        (Elem::I8, 0xFF, "-1"),
        (Elem::U64, u64::MAX, "18446744073709551615"),
    ] {
        assert_eq!(elem.format_bits(bits), text, "{elem} {bits:#x}");
    }
}
