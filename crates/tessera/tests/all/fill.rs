//! Contents that need no file are the same bits every time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::{Elem, Number};

fn numbers(fill: Fill, elem: Elem, count: u64) -> Vec<f64> {
    let array = fill.array(elem, &[count]).expect("an array");
    let wide = array.widened(elem, tessera::npy::Float::F64);
    wide.bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes"))).collect()
}

#[test]
fn random_is_what_the_page_says() {
    // Numbers 0 and 1 of splitmix64 from 0 on: 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4.
    let array = Fill::Random(Some(0)).array(Elem::I32, &[2]).expect("an array");
    assert_eq!(array.to_vec::<i32>().expect("i32"), [0xe - 8, 0x6 - 8]);
    let array = Fill::Random(Some(0)).array(Elem::U8, &[2]).expect("an array");
    assert_eq!(array.bytes, [0xe, 0x6]);
    let first = (0xe220a8397b1dcdafu64 >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let array = Fill::Random(Some(0)).array(Elem::F32, &[1]).expect("an array");
    assert_eq!(array.to_vec::<f32>().expect("f32"), [first as f32]);
}

#[test]
fn every_type_has_sensible_numbers() {
    for elem in Elem::ALL {
        let random = numbers(Fill::Random(Some(3)), *elem, 1024);
        assert!(random.iter().all(|v| v.is_finite() && v.abs() <= 16.0), "{elem}");
        let distinct: std::collections::BTreeSet<u64> = random.iter().map(|v| v.to_bits()).collect();
        assert!(distinct.len() >= 5, "{elem} has {} numbers", distinct.len());
        assert!(numbers(Fill::Ones, *elem, 4).iter().all(|v| *v == 1.0), "{elem}");
        assert!(numbers(Fill::Iota, *elem, 600).iter().all(|v| v.is_finite()), "{elem}");
        let zeros = Fill::Zeros.array(*elem, &[2, 2]).expect("an array");
        assert!(zeros.bytes.iter().all(|b| *b == 0), "{elem}");
    }
}

#[test]
fn iota_counts_as_far_as_the_type_does() {
    assert_eq!(numbers(Fill::Iota, Elem::F16, 2050)[2046..], [2046.0, 2047.0, 0.0, 1.0]);
    assert_eq!(numbers(Fill::Iota, Elem::F4e2m1x2, 6), [0.0, 1.0, 2.0, 3.0, 0.0, 1.0]);
    assert_eq!(numbers(Fill::Iota, Elem::F4e1m2x2, 4), [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(numbers(Fill::Iota, Elem::F8e4m3, 18)[15..], [15.0, 0.0, 1.0]);
    assert_eq!(numbers(Fill::Iota, Elem::F8e8m0, 9)[..3], [1.0, 2.0, 4.0]);
    assert_eq!(numbers(Fill::Iota, Elem::I8, 130)[127..], [127.0, -128.0, -127.0]);
}

#[test]
fn a_longer_array_begins_as_a_shorter_one() {
    let [short, long] = [16, 4096].map(|n| Fill::Random(Some(9)).array(Elem::Bf16, &[n]).expect("an array"));
    assert!(long.bytes.starts_with(&short.bytes));
}

#[test]
fn what_a_type_does_not_hold_is_refused() {
    for (number, elem) in
        [(Number::Int(256), Elem::U8), (Number::Float(0.5), Elem::I32), (Number::Float(7e4), Elem::F16)]
    {
        let error = Fill::Value(number).array(elem, &[2]).expect_err("out of range");
        assert!(error.message().contains("has no"), "{error}");
    }
    let error = Fill::Zeros.array(Elem::F4e2m1x2, &[2, 3]).expect_err("half a byte");
    assert!(error.message().contains("end at a byte"));
    assert!(Fill::Zeros.array(Elem::F32, &[1 << 40, 1 << 40]).is_err());
}

#[test]
fn casts_round_once_and_fp4_is_packed() {
    let array = Array::new(&[2, 2], &[0.5f32, -1.0, 6.0, 100.0]).expect("an array");
    let four = array.cast(Elem::F4e2m1x2).expect("fp4");
    assert_eq!((four.shape.as_slice(), four.bytes.as_slice()), (&[2, 1][..], &[0xA1, 0x77][..]));
    let eight = array.cast(Elem::F8e4m3).expect("fp8");
    assert_eq!(eight.bytes, [0x30, 0xB8, 0x4C, 0x6C]);
    let back = eight.widened(Elem::F8e4m3, tessera::npy::Float::F32).to_vec::<f32>().expect("f32");
    assert_eq!(back, [0.5, -1.0, 6.0, 96.0]);
    // 1 + 2^-8 lies between two bf16 numbers, a little above the middle as binary64.
    let wide = Array {
        dtype: tessera::npy::Dtype::Kind('f', 8),
        descr: "<f8".into(),
        shape: vec![1],
        bytes: (1.0f64 + 2f64.powi(-8) + 2f64.powi(-40)).to_le_bytes().to_vec(),
    };
    assert_eq!(wide.cast(Elem::Bf16).expect("bf16").bytes, [0x81, 0x3F]);
}
