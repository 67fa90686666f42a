//! Functions of elements, compared with values by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_isa::elem::Elem;
use tessera_isa::ops::{Form, Opcode, Role, Types};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Func, Sem};

fn f32s(values: &[f32]) -> Vec<(Elem, u64)> {
    values.iter().map(|v| (Elem::F32, u64::from(v.to_bits()))).collect()
}

#[test]
fn floats_are_rounded_once_and_nans_are_canonical() {
    // 2048 + 1 + 1 in f16: each sum is rounded to f16 where it is stored.
    let (big, one) = ((Elem::F16, 0x6800), (Elem::F16, 0x3C00));
    assert_eq!(Func::Add.eval(Elem::F16, &[big, one]), Some(0x6800));
    // In the state of a fold nothing is lost.
    assert_eq!(Func::Add.eval(Elem::F32, &[big, one]), Some(u64::from(2049f32.to_bits())));
    let nan = (Elem::Bf16, 0xFF81);
    assert_eq!(Func::Add.eval(Elem::Bf16, &[nan, nan]), Some(0x7FC0));
    assert_eq!(Func::Add.eval(Elem::F32, &f32s(&[f32::INFINITY, f32::NEG_INFINITY])), Some(0x7FC0_0000));
    assert_eq!(Func::Add.eval(Elem::F32, &f32s(&[-0.0, -0.0])), Some(0x8000_0000));
    assert_eq!(Func::Add.eval(Elem::F16, &[(Elem::F16, 0x7BFF), (Elem::F16, 0x7BFF)]), Some(0x7C00));
}

#[test]
fn a_product_is_exact_before_it_is_added() {
    let tiny = f32::from_bits(0x3480_0000); // 2^-22
    let (x, s) = (1.0 + tiny, -1.0 - 2.0 * tiny);
    let exact = Func::MulAdd(None).eval(Elem::F32, &f32s(&[s, x, x])).unwrap();
    assert_eq!(f32::from_bits(exact as u32), tiny * tiny);
    let i8s = [(Elem::I32, 0x7FFF_FFFF), (Elem::I8, 0x80), (Elem::I8, 0xFF)];
    assert_eq!(Func::MulAdd(None).eval(Elem::I32, &i8s), Some(0x8000_007F));
}

/// `s · 2^-40` and `p · 2^-40` added exactly and rounded once to f32, to nearest even, on integers.
fn rounded_sum(s: i128, p: i128) -> f32 {
    let sum = s + p;
    let (sign, magnitude) = (if sum < 0 { -1.0 } else { 1.0 }, sum.unsigned_abs());
    let drop = (128 - magnitude.leading_zeros()).saturating_sub(24);
    let (kept, rest, half) = (magnitude >> drop, magnitude & ((1 << drop) - 1), (1u128 << drop) / 2);
    let up = drop > 0 && (rest > half || rest == half && kept & 1 == 1);
    sign * ((kept + u128::from(up)) as f32) * 2f32.powi(drop as i32 - 40)
}

#[test]
fn scaled_products_are_exact_and_rounded_once() {
    let eval = |s: f32, x: u64, y: u64, ex: u64, ey: u64| {
        let (e4m3, scale) = (Elem::F8e4m3, Elem::F8e8m0);
        let args = [(Elem::F32, s.to_bits().into()), (e4m3, x), (e4m3, y), (scale, ex), (scale, ey)];
        f32::from_bits(Func::ScaledMulAdd.eval(Elem::F32, &args).unwrap() as u32)
    };
    let one = 0x38;
    // isa/matrix.md 3: 1 · 1 at twice the scale.
    assert_eq!(eval(0.0, one, one, 128, 127), 2.0);
    // Neither the product nor a scale overflows or vanishes before the sum.
    assert_eq!(eval(0.0, one, one, 254, 0), 1.0);
    assert_eq!(eval(1.5, one, one, 0, 0), 1.5);
    assert_eq!(eval(0.0, one, one, 254, 254), f32::INFINITY);
    assert_eq!(eval(0.0, one, one, 0, 105), f32::from_bits(1));
    // Half of the smallest f32 and a little: up, because nothing was rounded before.
    assert_eq!(eval(0.0, one, one, 0, 104).to_bits(), 0);
    assert_eq!(eval(0.0, one + 1, one, 0, 104).to_bits(), 1);
    // A tie of f32 that the smallest product breaks, far below the last bit of binary64.
    let tie = 1.0 + f32::EPSILON;
    assert_eq!(eval(tie, one, one, 103, 127), 1.0 + 2.0 * f32::EPSILON, "ties to even");
    assert!(eval(0.0, 0, one, 255, 127).is_nan() && eval(1.0, one, one, 127, 255).is_nan());
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..20_000 {
        let (x, y) = (below(0x7F) | below(2) << 7, below(0x7F) | below(2) << 7);
        let (ex, ey) = (107 + below(30), 117 + below(20));
        let s = (below(1 << 24) as f32 - (1 << 23) as f32) * 2f32.powi(below(20) as i32 - 20);
        let value = |bits: u64| match Elem::F8e4m3.decode(bits) {
            tessera_isa::codec::Number::Float(v) => v,
            tessera_isa::codec::Number::Int(v) => v as f64,
        };
        // Elements are multiples of 2^-9, products of 2^-18; scales go down to 2^-30.
        let fixed = (value(x) * 512.0) as i128 * (value(y) * 512.0) as i128;
        let shift = ex as i32 + ey as i32 - 254 - 18 + 40;
        if shift >= 0 {
            let want = rounded_sum((f64::from(s) * 2f64.powi(40)) as i128, fixed << shift);
            assert_eq!(eval(s, x, y, ex, ey), want, "{s} {x:#x} {y:#x} {ex} {ey}");
        }
    }
}

#[test]
fn integers_wrap_in_the_width_of_the_result() {
    assert_eq!(Func::Add.eval(Elem::I64, &[(Elem::I64, u64::MAX), (Elem::I64, 1)]), Some(0));
    assert_eq!(Func::Add.eval(Elem::I32, &[(Elem::I32, 5), (Elem::I16, 0xFFFF)]), Some(4));
    assert_eq!(Func::Add.eval(Elem::U32, &[(Elem::U32, 5), (Elem::U16, 0xFFFF)]), Some(0x1_0004));
}

/// Every legal signature has a defined result: for every row whose function the table names, on every profile and in
/// every form, and for every combination of element types that the signature lists.
#[test]
fn what_the_table_makes_legal_is_defined() {
    let mut asked = 0;
    let mut defined = |op: Opcode, func: Func, to: Elem, args: &[Elem]| {
        asked += 1;
        assert!(func.is_defined(to, args), "{op}: {func:?} of {args:?} as {to} is legal and not defined");
    };
    for op in Opcode::ALL {
        let info = op.info();
        let sigs = |profile: Profile| info.sigs.iter().filter(move |s| Form::ALL.iter().any(|f| s.is_for(profile, *f)));
        for sig in Profile::ALL.into_iter().flat_map(sigs) {
            let equal = match sig.types {
                Types::EqualOf(list) | Types::EachOf(list) => list,
                _ => &[],
            };
            match info.sem {
                Sem::Map { args, func } => {
                    equal.iter().for_each(|elem| defined(*op, func, *elem, &vec![*elem; args.len()]));
                    if let (Types::Pairs(pairs), Func::Axpy) = (sig.types, func) {
                        for (src, to) in pairs.iter().flat_map(|(src, to)| to.iter().map(move |to| (*src, *to))) {
                            defined(*op, func, to, &[src, src, to]);
                        }
                    }
                }
                Sem::Expand { func: Func::Bits, .. } => {
                    equal.iter().for_each(|elem| defined(*op, Func::Bits, *elem, &[*elem]));
                }
                Sem::Expand { func, .. } => equal.iter().for_each(|elem| defined(*op, func, *elem, &[*elem; 2])),
                Sem::Fold { func, .. } if !matches!(func, Func::Arg { .. }) => equal.iter().for_each(|elem| {
                    let state = Func::state(*elem);
                    defined(*op, func, state, &[state, *elem]);
                    assert!(func.start(state).is_some(), "{op}: a fold of {elem} starts as nothing");
                }),
                Sem::Part(func) => equal.iter().for_each(|elem| defined(*op, func, *elem, &[*elem; 2])),
                Sem::Contract { scaled, .. } => {
                    let Types::Rows([Role::A, Role::B, Role::Dst, ..], rows) = sig.types else { continue };
                    for row in rows.iter() {
                        let [a, b, to, ..] = **row else { continue };
                        match scaled {
                            true => defined(*op, Func::ScaledMulAdd, to, &[to, a, b, Elem::F8e8m0, Elem::F8e8m0]),
                            false => defined(*op, Func::MulAdd(None), to, &[to, a, b]),
                        }
                    }
                }
                _ => {}
            }
        }
    }
    assert!(asked > 500, "{asked}");
}
