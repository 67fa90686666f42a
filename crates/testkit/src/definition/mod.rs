//! Every function of elements a second time, from the formulas of the specification, with codecs of its own: what
//! [`Func::eval`] is compared with. It calls nothing of what it checks.
//!
//! Where the specification leaves an ulp (isa/elementwise.md 3: exp, log, rsqrt, pow), the bits are those of
//! `tessera_isa::sem::math` where they are within it of the result in binary64, and else that result.

pub mod codec;

use codec::{Beyond, clamp, encode, encode_in, float, integer, sticky};
use std::cmp::Ordering;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Cmp;
use tessera_isa::sem::{Func, Quant, Reduced, Rounding, Saturation, math};

/// An element: its type and its bits.
pub type Typed = (Elem, u64);

/// The bits of the element of type `to` that some arguments become; none where the function is not defined on them.
pub fn eval(func: Func, to: Elem, args: &[Typed]) -> Option<u64> {
    match func {
        Func::Bits | Func::LowBytes => of::<1>(args).map(|[(_, x)]| x & to.mask()),
        Func::Convert => convert(to, one(args)?),
        Func::Cvt { rounding, saturation } => cvt(to, one(args)?, rounding, saturation),
        Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant } => {
            let [x, param @ ..] = args else { return None };
            fixpipe(to, *x, FixpipeMode { relu, hardware_rounding, saturate_inf }, parameter(quant, param)?)
        }
        Func::FixpipeAdd { relu, hardware_rounding, saturate_inf, quant } => {
            let [old, x, param @ ..] = args else { return None };
            let new = fixpipe(to, *x, FixpipeMode { relu, hardware_rounding, saturate_inf }, parameter(quant, param)?)?;
            eval(Func::Add, to, &[*old, (to, new)])
        }
        Func::Abs if to.is_float() => of::<1>(args).map(|[(_, x)]| x & !sign_bit(to) & to.mask()),
        Func::Neg if to.is_float() => of::<1>(args).map(|[(_, x)]| (x ^ sign_bit(to)) & to.mask()),
        Func::Abs => ints(to, args, |[x]| if x < 0 { -x } else { x }),
        Func::Neg => ints(to, args, |[x]| -x),
        Func::Not => ints(to, args, |[x]| -x - 1),
        Func::Relu if to.is_float() => floats(to, args, |[x]| if x <= 0.0 { 0.0 } else { x }),
        Func::Relu => ints(to, args, |[x]| if x < 0 { 0 } else { x }),
        Func::Recip if to.is_float() => floats(to, args, |[x]| 1.0 / x),
        Func::Recip => ints(to, args, |[x]| truncated(1, x)),
        Func::Exp => near(to, args, |[x]| (math::exp(x), f64::from(x).exp(), x == 0.0 || x.is_infinite())),
        Func::Log => near(to, args, |[x]| (math::log(x), f64::from(x).ln(), x <= 0.0 || x == 1.0 || x.is_infinite())),
        Func::Sqrt => floats(to, args, |[x]| x.sqrt()),
        Func::Rsqrt => near(to, args, |[x]| (math::rsqrt(x), f64::from(x).sqrt().recip(), x <= 0.0 || x.is_infinite())),
        Func::Add if to.is_float() => floats(to, args, |[x, y]| x + y),
        Func::Add => ints(to, args, |[x, y]| x + y),
        Func::Sub if to.is_float() => floats(to, args, |[x, y]| x - y),
        Func::Sub => ints(to, args, |[x, y]| x - y),
        Func::Mul if to.is_float() => floats(to, args, |[x, y]| x * y),
        Func::Mul => ints(to, args, low_product),
        Func::Div if to.is_float() => floats(to, args, |[x, y]| x / y),
        Func::Div => ints(to, args, |[x, y]| truncated(x, y)),
        Func::MulRecip => floats(to, args, |[x, y]| x * (1.0 / if y == 0.0 { 0.0f32 } else { y })),
        Func::Rem if to.is_float() => floats(to, args, |[x, y]| floored(x, y)),
        Func::Rem => ints(to, args, |[x, y]| {
            let r = x - truncated(x, y) * y;
            if y == 0 {
                0
            } else if to != Elem::I64 && r != 0 && (r < 0) != (y < 0) {
                r + y
            } else {
                r
            }
        }),
        Func::Fmod if to.is_float() => floats(to, args, |[x, y]| x % y),
        Func::Fmod => ints(to, args, |[x, y]| if y == 0 { 0 } else { x - truncated(x, y) * y }),
        Func::Pow if to.is_float() => near(to, args, |[x, y]| {
            let is_special = |v: f64| v == 0.0 || v == 1.0 || v.is_infinite();
            (math::pow(x, y), f64::from(x).powf(y.into()), is_special(x.into()) || is_special(y.into()))
        }),
        Func::Pow => ints(to, args, |[x, y]| integer_power(x, y)),
        Func::Max if to.is_float() => floats(to, args, |[x, y]| chosen(x, y, true)),
        Func::Max => ints(to, args, |[x, y]| if x < y { y } else { x }),
        Func::Min if to.is_float() => floats(to, args, |[x, y]| chosen(x, y, false)),
        Func::Min => ints(to, args, |[x, y]| if x < y { x } else { y }),
        Func::And => bitwise(to, args, |x, y| x && y),
        Func::Or => bitwise(to, args, |x, y| x || y),
        Func::Xor => bitwise(to, args, |x, y| x != y),
        Func::Shl => ints(to, args, |[x, y]| x * (1 << y.rem_euclid(to.bits().into()))),
        Func::Shr => ints(to, args, |[x, y]| x.div_euclid(1 << y.rem_euclid(to.bits().into()))),
        Func::Prelu => floats(to, args, |[x, y]| if x > 0.0 { x } else { y * x }),
        Func::ExpDif => near(to, args, |[x, y]| {
            let d = x - y;
            (math::exp(d), f64::from(d).exp(), d == 0.0 || d.is_infinite())
        }),
        Func::AddAdd if to.is_float() => floats(to, args, |[x, y, z]| (x + y) + z),
        Func::AddAdd => ints(to, args, |[x, y, z]| x + y + z),
        Func::SubAdd if to.is_float() => floats(to, args, |[x, y, z]| (x - y) + z),
        Func::SubAdd => ints(to, args, |[x, y, z]| x - y + z),
        Func::Axpy => floats(to, args, |[x, y, z]| {
            let product = x * y;
            z + product
        }),
        // Each operation is rounded in the element type (cpp.md 6.1).
        Func::MulThenAdd { relu } => {
            let [x, y, z] = of(args)?;
            let sum = eval(Func::Add, to, &[(to, eval(Func::Mul, to, &[x, y])?), z])?;
            if relu { eval(Func::Relu, to, &[(to, sum)]) } else { Some(sum) }
        }
        Func::ReluConvert { subtracts } => {
            let [x, y] = of(args)?;
            let sum = eval(if subtracts { Func::Sub } else { Func::Add }, x.0, &[x, y])?;
            let kept = (x.0, eval(Func::Relu, x.0, &[(x.0, sum)])?);
            if x.0 == to { Some(kept.1) } else { cvt(to, kept, Rounding::Rint, Some(Saturation::On)) }
        }
        Func::AddDequantizeRelu { saturates } => {
            let [x, y, scale] = of(args)?;
            let sum = wrapped(integer(x.0, x.1)? + integer(y.0, y.1)?, Elem::I32);
            let t = nearest_f32(integer(Elem::I32, sum)?) * float(scale.0, scale.1)? as f32;
            let beyond = if saturates { Beyond::Largest } else { Beyond::Infinite };
            let bits = encode(to, t.into(), beyond)?;
            eval(Func::Relu, to, &[(to, bits)])
        }
        Func::MulAdd(reduced) if to.is_float() => floats(to, args, |[s, x, y]| {
            let [x, y] = [x, y].map(|v| reduced.map_or(v, |reduced| fewer_bits(v, reduced)));
            x.mul_add(y, s)
        }),
        Func::MulAdd(_) => ints(to, args, |[s, x, y]| s + x * y),
        Func::ScaledMulAdd => {
            let [s, x, y, ex, ey] = of(args)?;
            let [s, x, y, ex, ey] = [value(s)?, value(x)?, value(y)?, value(ex)?, value(ey)?];
            encode(to, scaled_sum(s, x * y * (ex * ey)).into(), Beyond::Infinite)
        }
        Func::Quantize => {
            let ([x, f], offset) = match args {
                [x, f] => ([*x, *f], None),
                [x, f, offset] => ([*x, *f], Some(*offset)),
                _ => return None,
            };
            let t = float(x.0, x.1)? as f32 * float(f.0, f.1)? as f32;
            let t = match offset {
                Some((elem, bits)) => t + float(elem, bits)? as f32,
                None => t,
            };
            (!to.is_float()).then(|| wrapped(clamp(to, rounded(t.into(), Rounding::Rint)), to))
        }
        Func::Dequantize => {
            let [x, o, s] = of(args)?;
            let difference = nearest_f32(integer(x.0, x.1)?) - float(o.0, o.1)? as f32;
            encode(to, (difference * float(s.0, s.1)? as f32).into(), Beyond::Infinite)
        }
        Func::Compare(cmp) => {
            let (pairs, []) = args.as_chunks() else { return None };
            pairs
                .iter()
                .enumerate()
                .try_fold(0, |byte, (bit, [x, y])| Some(byte | u64::from(holds(cmp, order(*x, *y)?)) << bit))
        }
        Func::Select { bit } => of(args).map(|[(_, mask), (_, x), (_, y)]| if mask >> bit & 1 == 1 { x } else { y }),
        Func::Arg { greatest, value } => {
            let wanted = if greatest { Ordering::Greater } else { Ordering::Less };
            let mut best: Option<(usize, Typed)> = None;
            for (n, x) in args.iter().enumerate() {
                best = match best {
                    Some(first) if order(first.1, first.1)?.is_none() => Some(first),
                    Some(first) if order(*x, *x)?.is_some() && order(*x, first.1)? != Some(wanted) => Some(first),
                    _ => Some((n, *x)),
                };
            }
            let (place, (_, bits)) = best?;
            Some(if value { bits } else { place as u64 & to.mask() })
        }
    }
}

/// A value in another type (ops.md 1, rule 5): floats round to nearest even, integers truncate and clamp or wrap.
pub fn convert(to: Elem, (from, bits): Typed) -> Option<u64> {
    if from == to {
        return Some(bits & to.mask());
    }
    match (float(from, bits), integer(from, bits)) {
        (Some(v), _) if to.is_float() => encode(to, v, Beyond::Infinite),
        (Some(v), _) => Some(wrapped(clamp(to, rounded(v, Rounding::Trunc)), to)),
        (None, Some(v)) if to.is_float() => encode(to, sticky(v), Beyond::Infinite),
        (None, v) => Some(wrapped(v?, to)),
    }
}

/// TCVT (isa/elementwise.md 5).
fn cvt(to: Elem, (from, bits): Typed, mode: Rounding, saturation: Option<Saturation>) -> Option<u64> {
    let is_f32 = (from, to) == (Elem::F32, Elem::F32);
    let mode = match mode {
        Rounding::None if from.is_float() && (!to.is_float() || is_f32) => Rounding::Trunc,
        Rounding::None => Rounding::Rint,
        mode => mode,
    };
    let wraps = matches!(
        (from, to),
        (Elem::F16, Elem::I8 | Elem::U8 | Elem::I16)
            | (Elem::F32 | Elem::I32, Elem::I16)
            | (Elem::I64, Elem::I32)
            | (_, Elem::F32 | Elem::F16 | Elem::Bf16 | Elem::F8e5m2)
    );
    let is_on = saturation.map_or(!wraps, |mode| mode == Saturation::On);
    if to.is_float() {
        let v = match (float(from, bits), integer(from, bits)) {
            (Some(v), _) => v,
            (None, v) => sticky(v?),
        };
        if is_f32 {
            let v = if v.is_finite() { integral(v, mode).copysign(v) } else { v };
            return encode(to, v, Beyond::Infinite);
        }
        let points_outward = match mode {
            Rounding::Floor => v < 0.0,
            Rounding::Ceil => v > 0.0,
            Rounding::Trunc | Rounding::Odd => false,
            _ => true,
        };
        let beyond = match to {
            Elem::F4e2m1x2 | Elem::F4e1m2x2 => Beyond::Clamped,
            Elem::F8e4m3 if is_on => Beyond::Clamped,
            Elem::F8e4m3 if v.is_infinite() => Beyond::Infinite,
            _ if is_on || !points_outward => Beyond::Largest,
            _ => Beyond::Infinite,
        };
        return encode_in(to, v, mode, beyond);
    }
    Some(match float(from, bits) {
        Some(v) => {
            let v = rounded(v, mode);
            let wide = if to.bits() <= 16 { Elem::I32 } else { Elem::I64 };
            wrapped(clamp(if is_on { to } else { wide }, v), to)
        }
        None => {
            let v = integer(from, bits)?;
            wrapped(if is_on { clamp(to, v) } else { v }, to)
        }
    })
}

/// What a conversion out of an accumulator is told besides its types and its parameter.
#[derive(Clone, Copy)]
pub struct FixpipeMode {
    pub relu: bool,
    /// Whether an integer result is rounded before its offset is added.
    pub hardware_rounding: bool,
    pub saturate_inf: bool,
}

/// The parameter of a way out of an accumulator: 64 bits, of which the vector form reads fewer (fixpipe.md 3). None where
/// there is one too many or too few.
fn parameter(quant: Option<Quant>, given: &[Typed]) -> Option<Option<u64>> {
    match (quant, given) {
        (None, []) => Some(None),
        (Some(Quant::Scalar), [(_, bits)]) => Some(Some(*bits)),
        (Some(Quant::Vector), [(_, bits)]) => Some(Some(bits >> 13 << 13)),
        _ => None,
    }
}

/// Out of an accumulator (fixpipe.md 4).
pub fn fixpipe(to: Elem, (from, bits): Typed, way: FixpipeMode, param: Option<u64>) -> Option<u64> {
    let stored = match param {
        None if from == to => bits & to.mask(),
        None => convert(to, (from, bits)).filter(|_| matches!(from, Elem::F32 | Elem::I32))?,
        Some(param) => quantized(to, (from, bits), way, param)?,
    };
    if !way.relu {
        return Some(stored);
    }
    let is_positive = match float(to, stored) {
        Some(v) => v > 0.0,
        None => integer(to, stored)? > 0,
    };
    Some(if is_positive { stored } else { 0 })
}

fn quantized(to: Elem, (from, bits): Typed, way: FixpipeMode, param: u64) -> Option<u64> {
    let x = match from {
        Elem::F32 => float(from, bits)? as f32,
        Elem::I32 => nearest_f32(integer(from, bits)?),
        _ => return None,
    };
    if (from, to) == (Elem::I32, Elem::I16) {
        let n = param >> 32 & 0xF;
        return Some(wrapped(clamp(to, integer(from, bits)?.div_euclid(2 << n)), to));
    }
    let (t, offset) = (x * f32::from_bits(param as u32), i128::from(param >> 37 & 0x1FF));
    match to {
        Elem::I8 | Elem::U8 if t.is_nan() => Some(0),
        Elem::I8 | Elem::U8 => {
            let v = match way.hardware_rounding {
                true => rounded(t.into(), Rounding::Rint).clamp(-256, 255) + offset,
                false => rounded((t + offset as f32).into(), Rounding::Rint),
            };
            Some(wrapped(clamp(to, v), to))
        }
        Elem::F16 | Elem::Bf16 if way.saturate_inf && from == Elem::F32 => {
            encode(to, if t.is_nan() { 0.0 } else { t.into() }, Beyond::Clamped)
        }
        _ => encode(to, t.into(), Beyond::Largest),
    }
}

/// As many arguments as the function takes.
fn of<const N: usize>(args: &[Typed]) -> Option<[Typed; N]> {
    args.try_into().ok()
}

fn one(args: &[Typed]) -> Option<Typed> {
    of(args).map(|[x]| x)
}

/// The value of an element as binary64.
fn value((elem, bits): Typed) -> Option<f64> {
    float(elem, bits)
}

/// A formula of floats: in f32, rounded once at the end; a NaN is canonical.
fn floats<const N: usize>(to: Elem, args: &[Typed], f: impl FnOnce([f32; N]) -> f32) -> Option<u64> {
    let mut values = [0.0; N];
    for (value, (elem, bits)) in values.iter_mut().zip(of::<N>(args)?) {
        *value = float(elem, bits)? as f32;
    }
    encode(to, f(values).into(), Beyond::Infinite)
}

/// A formula of floats that the specification gives an ulp: what the engine computes in f32, the result in binary64, and
/// whether it is special and so exact.
fn near<const N: usize>(to: Elem, args: &[Typed], f: impl FnOnce([f32; N]) -> (f32, f64, bool)) -> Option<u64> {
    let mut values = [0.0; N];
    for (value, (elem, bits)) in values.iter_mut().zip(of::<N>(args)?) {
        *value = float(elem, bits)? as f32;
    }
    let (engine, result, is_special) = f(values);
    let (engine, result) = (encode(to, engine.into(), Beyond::Infinite)?, encode(to, result, Beyond::Infinite)?);
    // Codes of one sign are in the order of their values.
    let is_near = !is_special && (engine ^ result) & sign_bit(to) == 0 && engine.abs_diff(result) <= 1;
    let is_nan = |bits| float(to, bits).is_some_and(f64::is_nan);
    Some(if is_near && !is_nan(engine) && !is_nan(result) { engine } else { result })
}

/// A formula of integers, of whose result the low bits count.
fn ints<const N: usize>(to: Elem, args: &[Typed], f: impl FnOnce([i128; N]) -> i128) -> Option<u64> {
    let mut values = [0; N];
    for (value, (elem, bits)) in values.iter_mut().zip(of::<N>(args)?) {
        *value = integer(elem, bits)?;
    }
    (!to.is_float()).then(|| wrapped(f(values), to))
}

/// Bit by bit.
fn bitwise(to: Elem, args: &[Typed], f: impl Fn(bool, bool) -> bool) -> Option<u64> {
    let [(a, x), (b, y)] = of(args)?;
    if to.is_float() || a.is_float() || b.is_float() {
        return None;
    }
    let bit = |k: u32| u64::from(f(x >> k & 1 == 1, y >> k & 1 == 1)) << k;
    Some((0..to.bits()).map(bit).sum())
}

fn sign_bit(elem: Elem) -> u64 {
    1 << (elem.bits() - 1)
}

/// The low bits of an integer.
fn wrapped(v: i128, to: Elem) -> u64 {
    v.rem_euclid(1 << to.bits()) as u64
}

/// The low 64 bits of a product; those of two 64-bit numbers have 128.
fn low_product([x, y]: [i128; 2]) -> i128 {
    i128::from((x as u64).wrapping_mul(y as u64))
}

/// A quotient toward zero; of a zero divisor there is none, and 0 stands for it.
fn truncated(x: i128, y: i128) -> i128 {
    if y == 0 {
        return 0;
    }
    let quotient = (x.unsigned_abs() / y.unsigned_abs()) as i128;
    if (x < 0) == (y < 0) { quotient } else { -quotient }
}

/// `x^y`, of which the low 64 bits count; a negative y leaves 1, ±1 or 0.
fn integer_power(x: i128, y: i128) -> i128 {
    match (x, y) {
        (1, _) => 1,
        (-1, y) => 1 - 2 * (y & 1),
        (_, ..0) => 0,
        (0, y) => i128::from(y == 0),
        // Every factor of an even base adds a zero bit; odd ones repeat with a period of 2^62.
        (x, y) if x % 2 == 0 && y >= 64 => 0,
        (x, y) => {
            let mut result = 1u64;
            for bit in (0..64).rev() {
                result = result.wrapping_mul(result);
                if y >> bit & 1 == 1 {
                    result = result.wrapping_mul(x as u64);
                }
            }
            result.into()
        }
    }
}

/// trem: fmod, moved to the divisor's sign (isa/elementwise.md 3).
fn floored(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() || a.is_infinite() || b == 0.0 {
        return f32::NAN;
    }
    let is_alike = a.is_sign_negative() == b.is_sign_negative();
    if b.is_infinite() {
        return match a {
            0.0 => 0f32.copysign(b),
            _ if is_alike => a,
            _ => b,
        };
    }
    match a % b {
        0.0 => 0f32.copysign(b),
        r if is_alike => r,
        r => r + b,
    }
}

/// The greater or the smaller; -0 is below +0, and a NaN wins.
fn chosen(x: f32, y: f32, greater: bool) -> f32 {
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    // For numbers, the order of IEEE's totalOrder is that of values with -0 below +0.
    let wanted = if greater { Ordering::Less } else { Ordering::Greater };
    if x.total_cmp(&y) == wanted { y } else { x }
}

/// A float as a whole number.
fn integral(v: f64, mode: Rounding) -> f64 {
    match mode {
        Rounding::None | Rounding::Trunc => v.trunc(),
        Rounding::Rint | Rounding::CastRint => v.round_ties_even(),
        Rounding::Round => v.round(),
        Rounding::Floor => v.floor(),
        Rounding::Ceil => v.ceil(),
        Rounding::Odd if v.floor() == v || v.floor() % 2.0 != 0.0 => v.floor(),
        Rounding::Odd => v.ceil(),
    }
}

/// A float as an integer: clamped far beyond every type, a NaN is 0.
fn rounded(v: f64, mode: Rounding) -> i128 {
    integral(v, mode) as i128
}

/// The f32 that is nearest to an integer.
fn nearest_f32(v: i128) -> f32 {
    sticky(v) as f32
}

/// An f32 whose mantissa keeps fewer bits (isa/matrix.md 5).
fn fewer_bits(v: f32, reduced: Reduced) -> f32 {
    if v.is_nan() || v.is_infinite() {
        return v;
    }
    let (bits, unit) = (v.to_bits(), 1u32 << reduced.dropped);
    let (magnitude, sign) = (bits & 0x7FFF_FFFF, bits & 0x8000_0000);
    let (kept, rest) = (magnitude / unit, magnitude % unit);
    let up = rest > unit / 2 || rest == unit / 2 && (!reduced.to_even || kept % 2 == 1);
    f32::from_bits(sign | ((kept + u32::from(up)) * unit))
}

/// `s + p`, rounded once to f32; both are integers times powers of two of few bits.
fn scaled_sum(s: f64, p: f64) -> f32 {
    if !s.is_finite() || !p.is_finite() || s == 0.0 || p == 0.0 {
        return (s + p) as f32;
    }
    // An integer of 53 bits, and the exponent of its unit.
    let parts = |v: f64| {
        let (field, fraction) = ((v.to_bits() >> 52 & 0x7FF) as i32, v.to_bits() & ((1 << 52) - 1));
        let magnitude = i128::from(fraction | 1 << 52);
        (if v < 0.0 { -magnitude } else { magnitude }, field - 1075)
    };
    let (a, b) = if s.abs() < p.abs() { (parts(p), parts(s)) } else { (parts(s), parts(p)) };
    // The greater one with 60 more bits; of the smaller one, what lies below them only tells that it is there.
    let unit = a.1 - 60;
    let below = match b.1 - unit {
        up @ 0.. => b.0 << up,
        down => b.0.div_euclid(1 << (-down).min(100)) | i128::from(b.0.rem_euclid(1 << (-down).min(100)) != 0),
    };
    let sum = sticky((a.0 << 60) + below);
    // The unit may be far below the smallest binary64, the sum never is: two factors.
    let half = unit / 2;
    (sum * 2f64.powi(half) * 2f64.powi(unit - half)) as f32
}

/// The order of two numbers by value; none inside with a NaN, none at all of a float and an integer.
pub fn order(x: Typed, y: Typed) -> Option<Option<Ordering>> {
    match (float(x.0, x.1), float(y.0, y.1)) {
        (Some(x), Some(y)) => Some(x.partial_cmp(&y)),
        (None, None) => Some(Some(integer(x.0, x.1)?.cmp(&integer(y.0, y.1)?))),
        _ => None,
    }
}

pub fn holds(cmp: Cmp, order: Option<Ordering>) -> bool {
    match cmp {
        Cmp::Eq => order == Some(Ordering::Equal),
        Cmp::Ne => order != Some(Ordering::Equal),
        Cmp::Lt => order == Some(Ordering::Less),
        Cmp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Cmp::Gt => order == Some(Ordering::Greater),
        Cmp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}
