//! exp, log, rsqrt, pow and the remainders: special values by table (elementwise.md 3), the rest against binary64
//! functions of the platform, which are 2^29 times finer than what is asked.

use std::f32::consts::{E, LN_2};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;
use tessera_isa::sem::math::{exp, fmod, fmod_near, log, pow, rem, rsqrt};

const NAN: u32 = 0x7FC0_0000;
const INF: f32 = f32::INFINITY;
const TINY: f32 = f32::from_bits(1);

type Function = (&'static str, fn(f32) -> f32, fn(f64) -> f64);

const FUNCTIONS: [Function; 3] =
    [("exp", |x| exp(x), f64::exp), ("log", |x| log(x), f64::ln), ("rsqrt", |x| rsqrt(x), |x| 1.0 / x.sqrt())];

/// The number of codes from one value of a type to the other: both zeros are one; a NaN is only near to itself.
fn distance(elem: Elem, x: u64, y: u64) -> u64 {
    let sign = 1 << (elem.bits() - 1);
    let place = |bits: u64| if bits & sign != 0 { -((bits ^ sign) as i64) } else { bits as i64 };
    match (elem.is_nan(x), elem.is_nan(y)) {
        (false, false) => place(x).abs_diff(place(y)),
        _ => u64::from(x != y) * u64::MAX,
    }
}

/// The result in a type is within one code of the correctly rounded one; NaN, zeros' signs and infinities are equal.
fn assert_near(what: &str, elem: Elem, got: f32, exact: f64) {
    let (got, want) = (elem.encode_f32(got, Overflow::Infinity), elem.encode_f64(exact, Overflow::Infinity));
    let allowed = u64::from(exact.is_finite() && exact != 0.0);
    assert!(distance(elem, got, want) <= allowed, "{what} in {elem}: {got:#x}, not {want:#x}");
    assert!(exact.is_nan() || got >> (elem.bits() - 1) == want >> (elem.bits() - 1), "{what} in {elem}: sign");
}

fn assert_bits(what: &str, got: f32, want: f32) {
    let want = if want.is_nan() { NAN } else { want.to_bits() };
    assert_eq!(got.to_bits(), want, "{what}: {got:e}, not {:e}", f32::from_bits(want));
}

/// Numbers that look random (splitmix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[test]
fn special_values_of_one_argument() {
    let nans = [f32::NAN, -f32::NAN, f32::from_bits(0x7F80_0001), f32::from_bits(0xFFFF_FFFF)];
    for x in nans {
        for (name, f, _) in FUNCTIONS {
            assert_bits(name, f(x), f32::NAN);
        }
    }
    for (x, want) in [(0.0, 1.0), (-0.0, 1.0), (-INF, 0.0), (INF, INF), (1.0, E), (TINY, 1.0), (-TINY, 1.0)] {
        assert_bits("exp", exp(x), want);
    }
    // The last result that is finite, and the last that is not zero.
    for (x, want) in [
        (f32::from_bits(0x42B1_7217), f32::from_bits(0x7F7F_FF84)),
        (f32::from_bits(0x42B1_7218), INF),
        (88.73, INF),
        (f32::MAX, INF),
        (f32::from_bits(0xC2CF_F1B4), TINY),
        (f32::from_bits(0xC2CF_F1B5), 0.0),
        (-103.98, 0.0),
        (f32::MIN, 0.0),
    ] {
        assert_bits("exp", exp(x), want);
    }
    let negative = [-TINY, -f32::MIN_POSITIVE, -1.0, f32::MIN, -INF];
    for (x, want) in [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (2.0, LN_2), (TINY, -103.278_93)] {
        assert_bits("log", log(x), want);
    }
    for (x, want) in [(0.0, INF), (-0.0, -INF), (INF, 0.0), (1.0, 1.0), (0.25, 2.0), (4.0, 0.5)] {
        assert_bits("rsqrt", rsqrt(x), want);
    }
    for x in negative {
        assert_bits("log", log(x), f32::NAN);
        assert_bits("rsqrt", rsqrt(x), f32::NAN);
    }
    for k in -149..=127 {
        let x = 2f64.powi(k) as f32;
        assert_near("log of a power of two", Elem::F32, log(x), f64::from(k) * std::f64::consts::LN_2);
    }
}

#[test]
fn every_f16_and_bf16() {
    for elem in [Elem::F16, Elem::Bf16] {
        for bits in 0..1 << 16 {
            let Number::Float(x) = elem.decode(bits) else { continue };
            for (name, f, exact) in FUNCTIONS {
                assert_near(&format!("{name} of {bits:#x}"), elem, f(x as f32), exact(x));
            }
        }
    }
}

#[test]
fn f32_in_strides_and_around_special_points() {
    let points = [0.0, 1.0, f32::MIN_POSITIVE, f32::MAX, 88.722_84, -87.336_55, -103.972_08, 0.346_573_6, 0.707_106_77];
    let around = points.iter().flat_map(|p| [*p, -*p]).flat_map(|p| {
        let bits = p.to_bits();
        (0..200u32).map(move |i| bits.wrapping_add(i).wrapping_sub(100))
    });
    for bits in (0..u32::MAX).step_by(4099).chain(around) {
        let x = f32::from_bits(bits);
        for (name, f, exact) in FUNCTIONS {
            assert_near(name, Elem::F32, f(x), exact(f64::from(x)));
        }
    }
}

/// The bits are ours: other machines, compilers and vector instructions must not change one.
#[test]
fn the_same_bits_everywhere() {
    let mut hashes = [0u64; 4];
    let mut state = 1;
    for bits in (0..u32::MAX).step_by(16_411) {
        let x = f32::from_bits(bits);
        let y = f32::from_bits(0x3F80_0000 ^ (random(&mut state) >> 35) as u32);
        for (hash, v) in hashes.iter_mut().zip([exp(x), log(x), rsqrt(x), pow(x.abs(), y)]) {
            *hash = (*hash ^ u64::from(v.to_bits())).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29);
        }
    }
    let expected = [0x0D71_A972_E6A0_7BF6, 0xD4DB_AD11_F6FE_FCCA, 0xBEB4_8D57_3CD0_E88C, 0x8DC6_CAE3_AD1A_E926];
    assert_eq!(hashes, expected, "{hashes:#x?}");
}

#[test]
fn special_values_of_pow() {
    let all = [0.0, TINY, 0.5, 1.0, 1.5, 2.0, 3.0, 16_777_215.0, 16_777_216.0, 2_147_483_648.0, f32::MAX, INF];
    let all: Vec<f32> = all.iter().flat_map(|v| [*v, -*v]).chain([f32::NAN, -f32::NAN]).collect();
    for &x in &all {
        for &y in &all {
            // C99 F.9.4.4 by hand; f64's pow has the same special values and decides the rest.
            let is_one = y == 0.0 || x == 1.0 || x.abs() == 1.0 && y.is_infinite();
            let is_nan =
                !is_one && (x.is_nan() || y.is_nan() || x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0);
            let got = pow(x, y);
            match (is_one, is_nan) {
                (true, _) => assert_bits("pow", got, 1.0),
                (_, true) => assert_bits("pow", got, f32::NAN),
                _ => assert_near(&format!("pow({x:e}, {y:e})"), Elem::F32, got, f64::from(x).powf(f64::from(y))),
            }
        }
    }
    for (x, y, want) in [
        (0.0, -1.0, INF),
        (-0.0, -1.0, -INF),
        (-0.0, -2.0, INF),
        (-0.0, -0.5, INF),
        (-0.0, 3.0, -0.0),
        (-0.0, 0.5, 0.0),
        (-0.0, INF, 0.0),
        (0.0, -INF, INF),
        (-INF, 3.0, -INF),
        (-INF, 0.5, INF),
        (-INF, -3.0, -0.0),
        (-INF, -2.0, 0.0),
        (-1.0, INF, 1.0),
        (-1.0, f32::NAN, f32::NAN),
        (f32::NAN, -0.0, 1.0),
        (1.0, f32::NAN, 1.0),
        (-8.0, 1.0 / 3.0, f32::NAN),
        (-1.0, 16_777_215.0, -1.0),
        (-1.0, 16_777_217.0, 1.0),
        (-2.0, 3.0, -8.0),
        (0.5, 149.0, TINY),
        (0.5, 151.0, 0.0),
        (2.0, 127.0, 1.701_411_8e38),
        (2.0, 128.0, INF),
        (-2.0, 129.0, -INF),
    ] {
        assert_bits(&format!("pow({x:e}, {y:e})"), pow(x, y), want);
    }
}

#[test]
fn pow_of_random_pairs() {
    let mut state = 7;
    for i in 0..1_000_000 {
        let bits = random(&mut state);
        let x = f32::from_bits(bits as u32);
        let y = match i % 4 {
            0 => f32::from_bits((bits >> 32) as u32),
            1 => (bits >> 59) as f32 - 16.0,
            // The result is somewhere between 2^-160 and 2^130.
            _ => (((bits >> 32) as f64 / 2f64.powi(32) * 290.0 - 160.0) / f64::from(x.abs()).log2()) as f32,
        };
        let x = if i % 4 == 2 { x.abs() } else { x };
        let exact = f64::from(x).powf(f64::from(y));
        assert_near("pow", Elem::F32, pow(x, y), exact);
        // Rounded once more to a narrower type, the result is within one code there too.
        for elem in [Elem::F16, Elem::Bf16] {
            let narrow = |v: f32| match elem.decode(elem.encode_f32(v, Overflow::Infinity)) {
                Number::Float(v) => v,
                Number::Int(_) => 0.0,
            };
            let (x, y) = (narrow(x), narrow(y));
            assert_near("pow", elem, pow(x as f32, y as f32), x.powf(y));
        }
    }
}

/// The rows of tfmod and trem; `%` is C's `fmod`.
fn check_remainders(a: f32, b: f32) {
    let want = a % b;
    let what = format!("of {a:e} ({:#x}) by {b:e} ({:#x})", a.to_bits(), b.to_bits());
    assert_bits(&format!("fmod {what}"), fmod(a, b), want);
    let (near, is_near) = fmod_near(a, b);
    if is_near {
        assert_bits(&format!("fmod_near {what}"), near, want);
    } else {
        assert!((f64::from(a) / f64::from(b)).abs() >= 268_435_456.0 && b != 0.0, "near {what}");
    }
    let floored = match want {
        0.0 => 0f32.copysign(b),
        r if r.is_sign_negative() != b.is_sign_negative() => r + b,
        r => r,
    };
    assert_bits(&format!("rem {what}"), rem(a, b), floored);
}

#[test]
fn remainders() {
    for (a, b, c, floored) in [
        (5.5, 2.0, 1.5, 1.5),
        (-5.5, 2.0, -1.5, 0.5),
        (5.5, -2.0, 1.5, -0.5),
        (-5.5, -2.0, -1.5, -1.5),
        (4.0, -2.0, 0.0, -0.0),
        (-4.0, 2.0, -0.0, 0.0),
        (-0.0, 3.0, -0.0, 0.0),
        (0.0, -3.0, 0.0, -0.0),
        (1.0, 0.0, f32::NAN, f32::NAN),
        (1.0, -0.0, f32::NAN, f32::NAN),
        (0.0, 0.0, f32::NAN, f32::NAN),
        (INF, 2.0, f32::NAN, f32::NAN),
        (-INF, INF, f32::NAN, f32::NAN),
        (2.0, f32::NAN, f32::NAN, f32::NAN),
        (2.0, INF, 2.0, 2.0),
        (-2.0, INF, -2.0, INF),
        (2.0, -INF, 2.0, -INF),
        (-2.0, -INF, -2.0, -2.0),
        (-0.0, INF, -0.0, 0.0),
        (0.0, -INF, 0.0, -0.0),
        // The sum is rounded.
        (-1e-30, 1.0, -1e-30, 1.0),
    ] {
        assert_bits(&format!("fmod({a:e}, {b:e})"), fmod(a, b), c);
        assert_bits(&format!("rem({a:e}, {b:e})"), rem(a, b), floored);
        check_remainders(a, b);
    }
    let mut state = 3;
    for i in 0..400_000u32 {
        let bits = random(&mut state);
        let (a, b) = (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
        check_remainders(a, b);
        // Quotients up to 2^30, those close to integers and middles among them.
        let quotient = f64::from(i % 4096) / 2.0 * 2f64.powi((bits >> 58) as i32 % 20);
        let near = (f64::from(b) * quotient) as f32;
        check_remainders(near, b);
        check_remainders(f32::from_bits(near.to_bits().wrapping_add(1)), b);
        check_remainders(f32::from_bits(near.to_bits().wrapping_sub(1)), b);
    }
}
