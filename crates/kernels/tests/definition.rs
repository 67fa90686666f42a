//! The definition of every function, `Func::eval`, against a second one that is written from the specification and calls
//! nothing of the first.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use tessera_isa::elem::Elem;
use tessera_isa::inst::Cmp;
use tessera_isa::sem::{Func, Quant, Reduced, Rounding, Saturation};
use tessera_testkit::definition;
use tessera_testkit::random::Random;

/// The numbers of arguments that a function takes; the match names every function, so that none is forgotten below.
fn arities(func: Func) -> &'static [usize] {
    match func {
        Func::Bits | Func::LowBytes | Func::Convert | Func::Cvt { .. } => &[1],
        Func::Abs | Func::Neg | Func::Not | Func::Relu | Func::Recip => &[1],
        Func::Exp | Func::Log | Func::Sqrt | Func::Rsqrt => &[1],
        Func::Fixpipe { .. } => &[1, 2],
        Func::Add | Func::Sub | Func::Mul | Func::Div | Func::MulRecip | Func::Rem | Func::Fmod | Func::Pow => &[2],
        Func::Max | Func::Min | Func::And | Func::Or | Func::Xor | Func::Shl | Func::Shr => &[2],
        Func::Prelu | Func::ExpDif | Func::ReluConvert { .. } => &[2],
        Func::FixpipeAdd { .. } | Func::Quantize => &[2, 3],
        Func::AddAdd | Func::SubAdd | Func::Axpy | Func::MulThenAdd { .. } | Func::AddDequantizeRelu { .. } => &[3],
        Func::MulAdd(_) | Func::Dequantize | Func::Select { .. } => &[3],
        Func::ScaledMulAdd => &[5],
        Func::Compare(_) => &[2, 6, 16],
        Func::Arg { .. } => &[1, 2, 5],
    }
}

fn functions() -> Vec<Func> {
    let mut all = vec![
        Func::Bits,
        Func::LowBytes,
        Func::Convert,
        Func::Abs,
        Func::Neg,
        Func::Not,
        Func::Relu,
        Func::Recip,
        Func::Exp,
        Func::Log,
        Func::Sqrt,
        Func::Rsqrt,
        Func::Add,
        Func::Sub,
        Func::Mul,
        Func::Div,
        Func::MulRecip,
        Func::Rem,
        Func::Fmod,
        Func::Pow,
        Func::Max,
        Func::Min,
        Func::And,
        Func::Or,
        Func::Xor,
        Func::Shl,
        Func::Shr,
        Func::Prelu,
        Func::ExpDif,
        Func::AddAdd,
        Func::SubAdd,
        Func::Axpy,
        Func::MulAdd(None),
        Func::ScaledMulAdd,
        Func::Quantize,
        Func::Dequantize,
        Func::Select { bit: 3 },
    ];
    for rounding in Rounding::ALL.iter().copied() {
        let saturations = [None, Some(Saturation::On), Some(Saturation::Off)];
        all.extend(saturations.map(|saturation| Func::Cvt { rounding, saturation }));
    }
    for flag in [false, true] {
        all.extend([Func::MulThenAdd { relu: flag }, Func::ReluConvert { subtracts: flag }]);
        all.push(Func::AddDequantizeRelu { saturates: flag });
        all.extend([12, 13].map(|dropped| Func::MulAdd(Some(Reduced { dropped, to_even: flag }))));
        all.extend([false, true].map(|value| Func::Arg { greatest: flag, value }));
        for (hardware_rounding, saturate_inf) in [(false, false), (false, true), (true, false), (true, true)] {
            for quant in [None, Some(Quant::Scalar), Some(Quant::Vector)] {
                all.push(Func::Fixpipe { relu: flag, hardware_rounding, saturate_inf, quant });
                all.push(Func::FixpipeAdd { relu: flag, hardware_rounding, saturate_inf, quant });
            }
        }
    }
    all.extend([Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge].map(Func::Compare));
    all
}

/// Random bits, with the ends of every type, zeros, NaNs and halves among them.
fn bits(random: &mut Random, elem: Elem) -> u64 {
    let sign = 1u64 << (elem.bits() - 1);
    let numbers = [0.5f32, 1.0, 1.5, 2.5, -0.5, -2.5, 127.5, 255.5, 300.0, 70000.0, 65520.0, 3e9, 1e-3, -88.9, 464.0];
    let infinity = match elem {
        Elem::F32 => 0x7F80_0000,
        Elem::F16 => 0x7C00,
        Elem::Bf16 => 0x7F80,
        _ => sign - 1,
    };
    elem.mask()
        & match random.range(0, 12) {
            0 => 0,
            1 => sign,
            2 => sign - 1,
            3 => random.range(0, 3),
            4 => infinity | (sign * random.range(0, 1)) | random.range(0, 2),
            5 => infinity - random.range(0, 2),
            6 => u64::MAX,
            7 | 8 if elem == Elem::F32 => (random.pick(&numbers) * random.range(1, 4) as f32).to_bits().into(),
            7 | 8 if elem.is_float() => {
                definition::convert(elem, (Elem::F32, random.pick(&numbers).to_bits().into())).unwrap_or(1)
            }
            9 if !elem.is_float() => (random.range(0, 600) as i64 - 300) as u64,
            _ => random.next(),
        }
}

/// A parameter as fixpipe.md 3 lays it out, with a finite scale.
fn parameter(random: &mut Random) -> u64 {
    let scale = random.pick(&[1.0f32, 0.1, -2.5, 1e30, 0.0, 3.0e-5]).to_bits();
    random.next() << 32 | u64::from(scale)
}

/// The types of the arguments, one after the other, for a result of type `to`; `x` is the type of the first ones.
fn types(func: Func, to: Elem, x: Elem, n: usize) -> Vec<Elem> {
    match func {
        Func::FixpipeAdd { .. } => [to, x, Elem::U64][..n].to_vec(),
        Func::Fixpipe { .. } => [x, Elem::U64][..n].to_vec(),
        Func::MulAdd(_) => vec![to, x, x],
        Func::ScaledMulAdd => vec![to, x, x, Elem::F8e8m0, Elem::F8e8m0],
        Func::Axpy => vec![x, x, to],
        Func::Select { .. } => vec![Elem::U8, to, to],
        Func::AddDequantizeRelu { .. } => vec![x, x, Elem::F32],
        Func::Dequantize => vec![x, Elem::F32, Elem::F32],
        Func::Quantize => vec![Elem::F32; n],
        _ => vec![x; n],
    }
}

/// Whether both definitions are about the types: what the specification gives a result of its own, and e8m0 as a result,
/// which it gives nowhere.
fn is_specified(func: Func, to: Elem, x: Elem) -> bool {
    let numbers = |elem: Elem| !elem.is_float() || matches!(elem, Elem::F32 | Elem::F16 | Elem::Bf16);
    match func {
        Func::Convert | Func::Cvt { .. } => to != Elem::F8e8m0 && x != Elem::F8e8m0,
        Func::Fixpipe { quant, .. } | Func::FixpipeAdd { quant, .. } => {
            matches!(x, Elem::F32 | Elem::I32)
                && to != Elem::F8e8m0
                && (to.is_float()
                    || quant.is_some() && to.bits() == 8
                    || (x, to) == (Elem::I32, Elem::I16) && quant.is_some())
        }
        Func::ScaledMulAdd => to == Elem::F32 && x.is_float() && x.bits() <= 8 && x != Elem::F8e8m0 && x != Elem::Hif8,
        Func::MulAdd(_) => (to == Elem::F32 && x.is_float() && x != Elem::F8e8m0) || (to == Elem::I32 && x == Elem::I8),
        Func::Quantize => matches!(to, Elem::I8 | Elem::U8),
        Func::Dequantize => to == Elem::F32 && matches!(x, Elem::I8 | Elem::I16),
        Func::AddDequantizeRelu { .. } => (to, x) == (Elem::F16, Elem::I32),
        Func::ReluConvert { .. } => to != Elem::F8e8m0 && numbers(x),
        Func::Arg { value: false, .. } => !to.is_float() && numbers(x),
        Func::Compare(_) => to == Elem::U8 && numbers(x),
        Func::Axpy => to.is_float() && numbers(to) && numbers(x),
        Func::Bits | Func::LowBytes | Func::Select { .. } => true,
        _ => to == x && numbers(x),
    }
}

#[test]
fn every_function_is_what_the_specification_says() {
    let mut random = Random(31);
    let mut asked = 0;
    for func in functions() {
        for to in Elem::ALL.iter().copied() {
            for x in Elem::ALL.iter().copied().filter(|x| is_specified(func, to, *x)) {
                for n in arities(func).iter().copied() {
                    let types = types(func, to, x, n);
                    for _ in 0..150 {
                        let args: Vec<(Elem, u64)> = types
                            .iter()
                            .map(|elem| {
                                (
                                    *elem,
                                    if *elem == Elem::U64 && x != Elem::U64 {
                                        parameter(&mut random)
                                    } else {
                                        bits(&mut random, *elem)
                                    },
                                )
                            })
                            .collect();
                        let (got, want) = (func.eval(to, &args), definition::eval(func, to, &args));
                        assert_eq!(got, want, "{func:?} of {args:x?} as {to}: {got:x?} and not {want:x?}");
                        asked += u64::from(got.is_some());
                    }
                }
            }
        }
    }
    assert!(asked > 300_000, "{asked}");
}

/// Too few or too many arguments are no zeros, and a function of integers is none of floats.
#[test]
fn what_is_not_defined_has_no_value() {
    for func in functions() {
        let arities = arities(func);
        for n in (0..4).filter(|n| !arities.contains(n) && !matches!(func, Func::Compare(_) | Func::Arg { .. })) {
            assert!(!func.is_defined(Elem::F32, &vec![Elem::F32; n]), "{func:?} of {n}");
            assert!(!func.is_defined(Elem::I32, &vec![Elem::I32; n]), "{func:?} of {n}");
        }
    }
    for func in [Func::Not, Func::And, Func::Or, Func::Xor, Func::Shl, Func::Shr] {
        let n = arities(func)[0];
        assert!(func.is_defined(Elem::I32, &vec![Elem::I32; n]) && !func.is_defined(Elem::F32, &vec![Elem::F32; n]));
    }
    for func in [Func::Exp, Func::Log, Func::Sqrt, Func::Rsqrt, Func::Prelu, Func::ExpDif, Func::MulRecip, Func::Axpy] {
        let n = arities(func)[0];
        assert!(func.is_defined(Elem::F16, &vec![Elem::F16; n]) && !func.is_defined(Elem::I32, &vec![Elem::I32; n]));
    }
    assert!(!Func::Add.is_defined(Elem::F32, &[Elem::F32, Elem::I32]));
    assert!(!Func::Compare(Cmp::Eq).is_defined(Elem::U8, &[Elem::F32, Elem::I32]));
}

/// The arguments that decide about a zero divisor are those that the function says.
#[test]
fn divisors_are_where_integers_have_no_quotient() {
    for func in functions() {
        for n in arities(func).iter().copied().filter(|n| *n <= 3) {
            let zeros = vec![(Elem::I32, 0); n];
            let ones = vec![(Elem::I32, 1); n];
            assert!(!func.is_by_zero(&ones), "{func:?}");
            let is_by_zero =
                func.is_by_zero(&zeros) || func.is_by_zero(&[(Elem::I32, 0), (Elem::I32, 0xFFFF_FFFF)][..n.min(2)]);
            assert_eq!(is_by_zero, !func.divisors().is_empty(), "{func:?}");
            for k in 0..n {
                let mut one = ones.clone();
                one[k].1 = 0;
                assert!(!func.is_by_zero(&one) || func.divisors() == [k], "{func:?}");
            }
        }
    }
}

#[test]
fn a_fold_starts_as_what_changes_nothing() {
    let mut random = Random(32);
    for func in functions() {
        for elem in [Elem::F32, Elem::I8, Elem::U16, Elem::I32, Elem::I64, Elem::U64] {
            let is_step = func.is_defined(elem, &[elem; 2]);
            let Some(start) = func.start(elem).filter(|_| is_step) else { continue };
            for _ in 0..50 {
                let x = bits(&mut random, elem);
                let is_nan = elem == Elem::F32 && f32::from_bits(x as u32).is_nan();
                // The sum with +0 takes the sign of a zero (reduce.md 5).
                let want = if is_nan {
                    0x7FC0_0000
                } else if func == Func::Add && elem == Elem::F32 && x == 1 << 31 {
                    0
                } else {
                    x
                };
                assert_eq!(func.eval(elem, &[(elem, start), (elem, x)]), Some(want), "{func:?} {elem} {x:x}");
            }
        }
    }
}
