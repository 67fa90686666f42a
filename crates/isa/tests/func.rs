//! What an element becomes, by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

fn f32s(values: &[f32]) -> Vec<(Elem, u64)> {
    values.iter().map(|v| (Elem::F32, u64::from(v.to_bits()))).collect()
}

#[test]
fn floats_are_rounded_once_and_nans_are_canonical() {
    // 2048 + 1 + 1 in f16: each sum is rounded to f16 where it is stored.
    let (big, one) = ((Elem::F16, 0x6800), (Elem::F16, 0x3C00));
    assert_eq!(Func::Add.eval(Elem::F16, &[big, one]), 0x6800);
    // In the state of a fold nothing is lost.
    assert_eq!(Func::Add.eval(Elem::F32, &[big, one]), u64::from(2049f32.to_bits()));
    let nan = (Elem::Bf16, 0xFF81);
    assert_eq!(Func::Add.eval(Elem::Bf16, &[nan, nan]), 0x7FC0);
    assert_eq!(Func::Add.eval(Elem::F32, &f32s(&[f32::INFINITY, f32::NEG_INFINITY])), 0x7FC0_0000);
    assert_eq!(Func::Add.eval(Elem::F32, &f32s(&[-0.0, -0.0])), 0x8000_0000);
    assert_eq!(Func::Add.eval(Elem::F16, &[(Elem::F16, 0x7BFF), (Elem::F16, 0x7BFF)]), 0x7C00);
}

#[test]
fn a_product_is_exact_before_it_is_added() {
    let tiny = f32::from_bits(0x3480_0000); // 2^-22
    let (x, s) = (1.0 + tiny, -1.0 - 2.0 * tiny);
    let exact = Func::MulAdd.eval(Elem::F32, &f32s(&[s, x, x]));
    assert_eq!(f32::from_bits(exact as u32), tiny * tiny);
    let i8s = [(Elem::I32, 0x7FFF_FFFF), (Elem::I8, 0x80), (Elem::I8, 0xFF)];
    assert_eq!(Func::MulAdd.eval(Elem::I32, &i8s), 0x8000_007F);
}

#[test]
fn integers_wrap_in_the_width_of_the_result() {
    assert_eq!(Func::Add.eval(Elem::I64, &[(Elem::I64, u64::MAX), (Elem::I64, 1)]), 0);
    assert_eq!(Func::Add.eval(Elem::I32, &[(Elem::I32, 5), (Elem::I16, 0xFFFF)]), 4);
    assert_eq!(Func::Add.eval(Elem::U32, &[(Elem::U32, 5), (Elem::U16, 0xFFFF)]), 0x1_0004);
}
