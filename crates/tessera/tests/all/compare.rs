//! When an output is right: bits without a tolerance, values with one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::compare::{Comparison, Tolerance, WORST, compare};
use tessera::npy::{Array, Dtype};
use tessera::{Elem, Number};

fn array(elem: Elem, bits: &[u64]) -> Array {
    let bytes = match elem.size() {
        Some(size) => bits.iter().flat_map(|b| b.to_le_bytes().into_iter().take(size as usize)).collect(),
        None => bits.chunks(2).map(|pair| (pair[0] | pair[1] << 4) as u8).collect(),
    };
    Array::of_elem(elem, vec![bits.len() as u64], bytes)
}

fn compared(elem: Elem, got: &[u64], want: &[u64], tolerance: Tolerance) -> Comparison {
    compare(elem, &array(elem, got), &array(elem, want), &tolerance).unwrap()
}

const EXACT: Tolerance = Tolerance { atol: None, rtol: None, ulp: None };
const VALUES: Tolerance = Tolerance { ulp: Some(0), ..EXACT };

fn ulp(n: u64) -> Tolerance {
    Tolerance { ulp: Some(n), ..EXACT }
}

fn atol(by: f64) -> Tolerance {
    Tolerance { atol: Some(by), ..EXACT }
}

#[test]
fn without_a_tolerance_bits_count() {
    let (zero, minus, nan, other) = (0, 0x8000_0000, 0x7FC0_0000, 0xFFC0_0001);
    assert!(compared(Elem::F32, &[zero, nan, 1], &[zero, nan, 1], EXACT).is_equal());
    assert_eq!(compared(Elem::F32, &[zero, nan], &[minus, other], EXACT).different, 2);
    assert!(compared(Elem::F32, &[zero, nan], &[minus, other], VALUES).is_equal());
    // Elements that look alike are told apart by their bits.
    let found = compared(Elem::F32, &[nan], &[other], EXACT);
    assert_eq!((found.worst[0].got.as_str(), found.worst[0].want.as_str()), ("nan (0x7fc00000)", "nan (0xffc00001)"));
}

#[test]
fn a_nan_is_near_a_nan_only_and_an_infinity_near_itself() {
    let (one, nan, inf) = (0x3C00, 0x7E00, 0x7C00);
    for (got, want) in [(one, nan), (nan, one), (one, inf), (inf, one), (inf, inf | 0x8000)] {
        assert!(!compared(Elem::F16, &[got], &[want], atol(1e30)).is_equal(), "{got:#x} {want:#x}");
    }
    assert!(compared(Elem::F16, &[nan, inf], &[nan | 1, inf], atol(0.0)).is_equal());
    // In values of the type an infinity follows the largest number.
    assert!(compared(Elem::F16, &[inf], &[0x7BFF], ulp(1)).is_equal());
}

/// The distance in values is that of the sorted list of all values, for every pair of every small type.
#[test]
fn ulps_count_the_values_between() {
    let small = Elem::ALL.iter().copied().filter(|e| e.bits() <= 8);
    for elem in small {
        let value = |bits: u64| match elem.decode(bits) {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        };
        let all: Vec<u64> = (0..=elem.mask()).filter(|b| !value(*b).is_nan()).collect();
        let mut values: Vec<f64> = all.iter().map(|b| value(*b)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| a == b);
        let rank = |bits: u64| values.partition_point(|v| *v < value(bits)) as u64;
        for got in &all {
            for want in all.iter().step_by(23) {
                let distance = rank(*got).abs_diff(rank(*want));
                let pair = |tolerance| compared(elem, &[*got, *got], &[*want, *want], tolerance);
                assert!(pair(ulp(distance)).is_equal(), "{elem} {got:#x} {want:#x} {distance}");
                if distance > 0 {
                    let found = pair(ulp(distance - 1));
                    assert_eq!((found.different, found.worst[0].ulp), (2, Some(distance)), "{elem} {got:#x} {want:#x}");
                }
            }
        }
    }
}

#[test]
fn numbers_of_another_type_are_compared_by_value() {
    let got = array(Elem::Bf16, &[0x3F80, 0xC000]);
    let want = Array::new(&[2], &[1.0f32, -2.0]).unwrap();
    assert!(compare(Elem::Bf16, &got, &want, &EXACT).unwrap().is_equal());
    let near = Array::new(&[2], &[1.001f32, -2.0]).unwrap();
    assert_eq!(compare(Elem::Bf16, &got, &near, &EXACT).unwrap().different, 1);
    // Values of the output's type are counted from what the golden number rounds to.
    assert!(compare(Elem::Bf16, &got, &near, &VALUES).unwrap().is_equal());
    assert!(compare(Elem::Bf16, &got, &near, &Tolerance { rtol: Some(0.01), ..EXACT }).unwrap().is_equal());
    // Bits without a meaning are taken as the output's own.
    let bits = Array { dtype: Dtype::Kind('V', 2), descr: "|V2".into(), ..got.clone() };
    assert!(compare(Elem::Bf16, &got, &bits, &EXACT).unwrap().is_equal());
    let wide = Array { dtype: Dtype::Kind('V', 4), descr: "|V4".into(), shape: vec![1], bytes: vec![0; 4] };
    assert!(compare(Elem::Bf16, &got, &wide, &EXACT).is_err());
}

#[test]
fn another_number_of_elements_is_refused() {
    let error = compare(Elem::U8, &array(Elem::U8, &[1, 2]), &array(Elem::U8, &[1]), &EXACT).unwrap_err();
    assert!(error.message().contains("1 elements") && error.message().contains("2"), "{error}");
}

#[test]
fn the_worst_come_first_with_their_place() {
    let count = 100;
    let got: Vec<i32> = (0..count).collect();
    let want: Vec<i32> = (0..count).map(|i| if i % 2 == 0 { i } else { i * 3 }).collect();
    let [got, want] = [got, want].map(|v| Array::new(&[10, 10], &v).unwrap());
    let found = compare(Elem::I32, &got, &want, &EXACT).unwrap();
    assert_eq!((found.elements, found.different, found.worst.len()), (100, 50, WORST));
    let places: Vec<_> = found.worst.iter().map(|d| (d.index.clone(), d.distance)).collect();
    assert_eq!(places[..2], [(vec![9, 9], 198.0), (vec![9, 7], 194.0)]);
    // Those that are equally bad stay in order.
    let zeros = Array::new(&[10, 10], &[0i32; 100]).unwrap();
    let ones = Array::new(&[10, 10], &[1i32; 100]).unwrap();
    let found = compare(Elem::I32, &ones, &zeros, &EXACT).unwrap();
    assert!(found.worst.iter().map(|d| d.element).eq(0..WORST as u64));
}

#[test]
fn large_integers_are_not_rounded() {
    let found = compared(Elem::I64, &[1 << 62], &[(1 << 62) + 1], EXACT);
    assert_eq!((found.different, found.worst[0].ulp), (1, Some(1)));
    assert!(compared(Elem::U64, &[u64::MAX], &[u64::MAX - 1], atol(1.0)).is_equal());
    assert!(!compared(Elem::U64, &[u64::MAX], &[u64::MAX - 1], atol(0.5)).is_equal());
}
