//! The functions of floats that IEEE 754 does not fix: exp, log, rsqrt, pow, and the two remainders (elementwise.md 3).
//!
//! One algorithm each, of IEEE additions, products, fused multiply-adds, quotients, square roots and integer operations
//! only, none of them contracted: the bits are the same on every machine, whatever vector instructions a loop over it
//! becomes. Nothing branches but the far case of the remainders, so that a loop becomes vector instructions: special
//! values are selected.
//!
//! exp, log and rsqrt work in binary32, where a vector has twice the lanes; `cargo run --release -p tessera-bench --bin
//! ulp` finds their errors over every argument. The rest works in binary64, where every f32 is normal, and rounds to f32
//! once at the end; that makes subnormal results, overflow and underflow come out by themselves. With a relative error of
//! ε there, the result is within 0.5 + 2^24·ε units in the last place of f32, so 2^-44 leaves one result in about 2^19 not
//! correctly rounded, and that one off by one.
//!
//! ```
//! use tessera_isa::sem::math;
//!
//! assert_eq!(math::exp(1.0), std::f32::consts::E);
//! assert_eq!(math::pow(-2.0, 3.0), -8.0);
//! assert_eq!((math::fmod(-5.5, 2.0), math::rem(-5.5, 2.0)), (-1.5, 0.5));
//! ```

/// The NaN that arithmetic gives.
const NAN: f32 = f32::from_bits(0x7FC0_0000);

/// Its sum with a binary64 of magnitude below 2^51 has the nearest integer in its low bits, rounded by the adder:
/// unlike a call of `round_ties_even`, this is one instruction on every processor.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln 2 = HIGH + LOW: HIGH has 42 bits, so that its product with an integer of 11 bits is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEFA_3800);
const LN2_LOW: f64 = f64::from_bits(0x3D2E_F357_93C7_6730);

/// The same for a binary32 of magnitude below 2^22.
const SMALL_ROUNDER: f32 = 12_582_912.0;

/// ln 2 = LN2_10 + LN2_REST: the first has 10 bits, so that its products with exponents of two are exact.
const LN2_10: f32 = 0.693_359_4;
const LN2_REST: f32 = -2.121_944_4e-4;

/// `e^x`.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (p, n) = exp_parts(x);
    let e = scaled(p, n);
    if x.is_nan() { NAN } else { e }
}

/// `e^x` = p·2^n with 0.7 < p < 1.5 and an integer n, of any number.
#[inline(always)]
pub fn exp_parts(x: f32) -> (f32, f32) {
    // e^-104 is below half of the smallest f32, e^89 above the largest.
    let x = if x < -104.0 { -104.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    // x = n·ln 2 + r with |r| ≤ ln 2 / 2 and a bit, which is rounded once.
    let n = x.mul_add(std::f32::consts::LOG2_E, SMALL_ROUNDER) - SMALL_ROUNDER;
    let r = n.mul_add(-LN2_REST, n.mul_add(-LN2_10, x));
    // e^r = 1 + r·(1 + r·q(r)), q by Remez' exchange for the relative error of e^r, which is 2^-28.2.
    let q = EXP[4].mul_add(r, EXP[3]);
    let q = q.mul_add(r, EXP[2]);
    let q = q.mul_add(r, EXP[1]);
    let q = q.mul_add(r, EXP[0]);
    (q.mul_add(r, 1.0).mul_add(r, 1.0), n)
}

const EXP: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_39, 0.008_368_718, 0.001_381_462_8];

/// p·2^n, rounded once, of an integer n between -150 and 128.
#[inline(always)]
pub fn scaled(p: f32, n: f32) -> f32 {
    // Two factors, neither of which leaves the range: 2^⌊n/2⌋ times p is exact. The low bits of the sum are n + 254.
    let k = (n + (SMALL_ROUNDER + 254.0)).to_bits();
    let first = (k >> 1) << 23;
    let second = (k << 23).wrapping_sub(first);
    p * f32::from_bits(first) * f32::from_bits(second)
}

/// Whether it is positive, finite and not subnormal.
#[inline(always)]
pub fn is_usual(x: f32) -> bool {
    x.to_bits().wrapping_sub(0x0080_0000) < 0x7F00_0000
}

/// The natural logarithm.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    let is_small = x < f32::MIN_POSITIVE;
    let l = log_usual(if is_small { x * 33_554_432.0 } else { x }, if is_small { -25 } else { 0 });
    let l = if x == f32::INFINITY { x } else { l };
    let l = if x == 0.0 { f32::NEG_INFINITY } else { l };
    if x >= 0.0 { l } else { NAN }
}

/// `ln(x·2^shift)` where [`is_usual`].
#[inline(always)]
pub fn log_usual(x: f32, shift: i32) -> f32 {
    const ROOT_HALF: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();
    // x = 2^k·(1 + r) with √½ ≤ 1 + r < √2, exact.
    let above = x.to_bits().wrapping_sub(ROOT_HALF);
    let k = ((above as i32 >> 23) + shift) as f32;
    let r = f32::from_bits(x.to_bits().wrapping_sub(above & 0xFF80_0000)) - 1.0;
    // ln(1 + r) = r + r²·p(r), p by Remez' exchange for the relative error of it, which is 2^-27.8.
    let p = LOG[8].mul_add(r, LOG[7]);
    let p = p.mul_add(r, LOG[6]);
    let p = p.mul_add(r, LOG[5]);
    let p = p.mul_add(r, LOG[4]);
    let p = p.mul_add(r, LOG[3]);
    let p = p.mul_add(r, LOG[2]);
    let p = p.mul_add(r, LOG[1]);
    let p = p.mul_add(r, LOG[0]);
    k.mul_add(std::f32::consts::LN_2, (r * r).mul_add(p, r))
}

const LOG: [f32; 9] = [
    -0.499_999_88,
    0.333_333_25,
    -0.250_015_97,
    0.200_020_88,
    -0.166_087_94,
    0.141_792_37,
    -0.132_427_22,
    0.129_220_75,
    -0.076_451_525,
];

/// `2^x`.
pub fn exp2(x: f32) -> f32 {
    pow(2.0, x)
}

/// The logarithm to base 2; powers of two are exact.
pub fn log2(x: f32) -> f32 {
    let l = (log_f64(f64::from(x)) * std::f64::consts::LOG2_E) as f32;
    if x > 0.0 && x < f32::INFINITY { l } else { log(x) }
}

/// `1 / √x`; -0 gives -inf.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    // Brought into the range of the usual ones by an even power of two.
    let (up, down) = if x < f32::MIN_POSITIVE {
        (16_777_216.0, 4096.0)
    } else if x.to_bits() >= ROOTS_END {
        (1.0 / 16_777_216.0, 1.0 / 4096.0)
    } else {
        (1.0, 1.0)
    };
    let y = rsqrt_usual(x * up) * down;
    let y = if x == f32::INFINITY { 0.0 } else { y };
    let y = if x == 0.0 { f32::INFINITY.copysign(x) } else { y };
    if x >= 0.0 { y } else { NAN }
}

/// The bits of 2^126, from which on the square of a root is subnormal.
const ROOTS_END: u32 = 0x7E80_0000;

/// Whether it is positive, not subnormal, and below 2^126.
#[inline(always)]
pub fn has_usual_root(x: f32) -> bool {
    x.to_bits().wrapping_sub(0x0080_0000) < ROOTS_END - 0x0080_0000
}

/// `1 / √x` where [`has_usual_root`].
#[inline(always)]
pub fn rsqrt_usual(x: f32) -> f32 {
    rsqrt_from(x, RSQRT_GUESS[(x.to_bits() >> RSQRT_INDEX) as usize % RSQRT_GUESS.len()])
}

/// `1 / √x` where [`has_usual_root`], from the entry of [`RSQRT_GUESS`] that the bits of x above [`RSQRT_INDEX`] name.
#[inline(always)]
pub fn rsqrt_from(x: f32, guess: u32) -> f32 {
    // Half of the exponent with its sign turned, and a line through each sixteenth of a binade. With 12 bits its square is
    // exact, so that 1 - x·y², below 2^-6, is rounded once. y + y·e·p(e) leaves 2^-28 and the rounding of the sum.
    let y = f32::from_bits(guess.wrapping_sub(x.to_bits() >> 1) & 0xFFFF_F000);
    let e = (-x).mul_add(y * y, 1.0);
    let p = RSQRT[2].mul_add(e, RSQRT[1]).mul_add(e, RSQRT[0]);
    (y * e).mul_add(p, y)
}

const RSQRT: [f32; 3] = [0.499_999_94, 0.375_043_42, 0.313_058_82];

/// The position of the last bit of the exponent and the first four of the mantissa.
pub const RSQRT_INDEX: u32 = 19;

/// The minuend from which half of the bits are subtracted, for the smallest error in each sixteenth of two binades.
pub const RSQRT_GUESS: [u32; 32] = [
    0x5F34_5000,
    0x5F33_2800,
    0x5F32_6800,
    0x5F32_0800,
    0x5F31_F800,
    0x5F32_3800,
    0x5F32_B000,
    0x5F33_6800,
    0x5F34_5000,
    0x5F35_7000,
    0x5F36_B000,
    0x5F38_2000,
    0x5F39_A800,
    0x5F3B_5800,
    0x5F3D_2800,
    0x5F3E_B800,
    0x5F3E_2800,
    0x5F3A_D800,
    0x5F38_2000,
    0x5F35_F000,
    0x5F34_3800,
    0x5F32_E800,
    0x5F31_F000,
    0x5F31_4800,
    0x5F30_F000,
    0x5F30_D000,
    0x5F30_F800,
    0x5F31_5000,
    0x5F31_D800,
    0x5F32_9000,
    0x5F33_7800,
    0x5F34_8000,
];

/// `x^y`, C99's.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let size = x.abs();
    let l = log_f64(f64::from(size));
    let l = if size == f32::INFINITY { f64::INFINITY } else { l };
    let l = if size == 0.0 { f64::NEG_INFINITY } else { l };
    // If the result is finite, the product is at most 104. Its relative error of 2^-50 is then 2^-43.3 in the result,
    // to which exp_f64 adds little: ε < 2^-43. Infinite products are correct.
    let power = exp_f64(f64::from(y) * l) as f32;

    // From 2^24 on every f32 is an even integer; below, the adder rounds to the nearest one.
    let height = y.abs();
    let height = f64::from(if height < 16_777_216.0 { height } else { 16_777_216.0 });
    let sum = height + ROUNDER;
    let is_integer = sum - ROUNDER == height;
    let is_odd = is_integer & (sum.to_bits() & 1 == 1);

    let power = if is_odd & x.is_sign_negative() { -power } else { power };
    let has_no_root = (x < 0.0) & (size < f32::INFINITY) & !is_integer;
    let power = if has_no_root | x.is_nan() | y.is_nan() { NAN } else { power };
    // 0 · inf is no product: (-1)^±inf is 1 too.
    let is_one = (y == 0.0) | (x == 1.0) | ((size == 1.0) & (y.abs() == f32::INFINITY));
    if is_one { 1.0 } else { power }
}

/// C's `fmod`, exact: what is left of `a` after whole `b`s toward zero; it has `a`'s sign.
#[inline(always)]
pub fn fmod(a: f32, b: f32) -> f32 {
    let (near, is_near) = fmod_near(a, b);
    if is_near { near } else { fmod_far(a, b) }
}

/// The floored remainder, which has `b`'s sign: [`fmod`], and `b` is added (rounded) where the signs differ.
#[inline(always)]
pub fn rem(a: f32, b: f32) -> f32 {
    floored(fmod(a, b), b)
}

/// [`rem`] from [`fmod`]'s result.
#[inline(always)]
pub fn floored(fmod: f32, b: f32) -> f32 {
    let differs = (fmod < 0.0) != b.is_sign_negative();
    let r = if differs { fmod + b } else { fmod };
    let r = if fmod == 0.0 { 0f32.copysign(b) } else { r };
    if r.is_nan() { NAN } else { r }
}

/// [`fmod`] without branches, and whether it holds: not where the quotient is finite and 2^28 or more.
#[inline(always)]
pub fn fmod_near(a: f32, b: f32) -> (f32, bool) {
    let (size, unit) = (f64::from(a.abs()), f64::from(b.abs()));
    let r = (left_over(size, unit) as f32).copysign(a);
    let r = if b.abs() == f32::INFINITY { a } else { r };
    let is_nan = a.is_nan() | b.is_nan() | (b == 0.0) | (a.abs() == f32::INFINITY);
    // The product is exact.
    (if is_nan { NAN } else { r }, is_nan | (size < NEAR * unit))
}

/// Up to here a quotient's product with 24 bits is exact in binary64.
const NEAR: f64 = 268_435_456.0;

/// `a mod b` of numbers of 24 bits, `0 ≤ a < NEAR·b`.
///
/// With n the integer nearest to the quotient, n·b is exact, and so is `a - n·b`: it is a multiple of b's last place of
/// at most b, or n ≤ 1 and a is so near to b that no bit is lost. The quotient's own rounding may choose the other n
/// where it is close to a middle; that only changes whether b is added back, and the sum is a number of 24 bits again.
#[inline(always)]
fn left_over(a: f64, b: f64) -> f64 {
    let n = a / b + ROUNDER - ROUNDER;
    let r = a - n * b;
    if r < 0.0 { r + b } else { r }
}

/// [`fmod`] of finite numbers with a quotient of 2^28 or more.
///
/// A multiple of b by a power of two is taken off first, as large as keeps the quotient below 2^28: 26 bits a time.
#[cold]
fn fmod_far(a: f32, b: f32) -> f32 {
    let (mut r, unit) = (f64::from(a.abs()), f64::from(b.abs()));
    while r >= NEAR * unit {
        let exponents = (r.to_bits() >> 52) - (unit.to_bits() >> 52);
        r = left_over(r, f64::from_bits(unit.to_bits() + ((exponents - 27) << 52)));
    }
    (left_over(r, unit) as f32).copysign(a)
}

/// `e^x`, ε < 2^-50; beyond f32's range some number that is beyond it too.
#[inline(always)]
fn exp_f64(x: f64) -> f64 {
    // e^-110 is below half of the smallest f32, e^90 above the largest.
    let x = if x < -110.0 { -110.0 } else { x };
    let x = if x > 90.0 { 90.0 } else { x };
    // x = k·ln 2 + r with |r| ≤ ln 2 / 2 and a bit. k·HIGH is exact, and so is the difference: both are multiples of
    // 2^-54 or k = 0. The error of LOW is below 2^-97.
    let sum = x * std::f64::consts::LOG2_E + ROUNDER;
    let k = sum - ROUNDER;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    // e^r = 1 + r + r²·q(r), q by Remez' exchange for the relative error of e^r, which is 2^-51.6 on |r| ≤ 0.34661. The
    // roundings of q weigh r²/2 < 0.06, those of the two sums 2^-53 each.
    let (r2, r4) = (r * r, (r * r) * (r * r));
    let low = (EXP_64[0] + EXP_64[1] * r) + (EXP_64[2] + EXP_64[3] * r) * r2;
    let high = (EXP_64[4] + EXP_64[5] * r) + (EXP_64[6] + EXP_64[7] * r) * r2 + EXP_64[8] * r4;
    let e = 1.0 + (r + r2 * (low + high * r4));
    // Times 2^k: the exponent field of e, which lies between 0.7 and 1.5, stays in range. k is in the low bits of the sum.
    f64::from_bits(e.to_bits().wrapping_add(sum.to_bits() << 52))
}

const EXP_64: [f64; 9] = [
    0.4999999999999833,
    0.16666666666611488,
    0.04166666666813302,
    0.008333333370901065,
    0.0013888888516974164,
    0.00019841185192353194,
    2.4801931003330617e-05,
    2.763501015197413e-06,
    2.7477048717654876e-07,
];

/// `ln x` of a positive normal number, ε < 2^-50.
#[inline(always)]
fn log_f64(x: f64) -> f64 {
    const ONE: u64 = 1f64.to_bits();
    const ROOT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    // x = 2^k·m with √½ ≤ m < √2: adding the distance from √½ to 1 carries into the exponent field where m ≥ √2. The
    // field is k + 1023; below the exponent of 2^52 it is an integer as binary64.
    let field = x.to_bits().wrapping_add(ONE - ROOT_HALF) >> 52;
    let k = f64::from_bits(field | TWO_TO_52.to_bits()) - (TWO_TO_52 + 1023.0);
    let m = f64::from_bits(x.to_bits().wrapping_sub(field << 52).wrapping_add(ONE));
    // ln m = 2 artanh s = 2s + s·z·p(z), z = s² ≤ 0.02945. m - 1 is exact where x is an f32 and m + 1 rounds, so s has
    // ε < 2^-52. p by Remez' exchange for the relative error of ln m, which is 2^-52.2; p's term weighs below 0.01.
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let z2 = z * z;
    let p = (LOG_64[0] + LOG_64[1] * z) + ((LOG_64[2] + LOG_64[3] * z) + (LOG_64[4] + LOG_64[5] * z) * z2) * z2;
    let log_m = 2.0 * s + s * (z * p);
    // With k = 0 nothing is added. Else |k·ln 2| is at least twice |ln m|, so cancellation costs one bit at most.
    k * std::f64::consts::LN_2 + log_m
}

const LOG_64: [f64; 6] = [
    0.666666666665871,
    0.40000000052328694,
    0.28571417120131637,
    0.2222337241381786,
    0.18123617739327116,
    0.16820133284094635,
];
