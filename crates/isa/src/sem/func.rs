//! What an element becomes: the one definition, slow and exact, that every kernel is a faster twin of.

use super::{Fixpipe, Reduced, Rounding, Saturation, convert, cvt, math, matrix};
use crate::codec::{Number, Overflow, QuantParam};
use crate::elem::Elem;
use crate::inst::Cmp;

/// A function of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Func {
    /// The bits as they are.
    Bits,
    LowBytes,
    /// Converted between element types, as `cpu` and moves into Bias do (ops.md 1.5).
    Convert,
    /// Converted as TCVT does (isa/elementwise.md 5).
    Cvt {
        /// How a value between two neighbours is rounded.
        rounding: Rounding,
        /// What happens beyond the ends of the type; left out, the pair of types decides.
        saturation: Option<Saturation>,
    },
    /// Out of an accumulator, with a quantization parameter or without (fixpipe.md 4).
    Fixpipe {
        relu: bool,
        /// Whether an integer result is rounded before its offset is added.
        hardware_rounding: bool,
        /// Whether infinities saturate, too, and NaN becomes 0.
        saturate_inf: bool,
        /// How the second argument is read, where there is one.
        quant: Option<Quant>,
    },
    /// `x + f(y)`, f that of [`Func::Fixpipe`]: a store that adds (isa/memory.md 3).
    FixpipeAdd {
        /// Whether ReLU follows the conversion.
        relu: bool,
        /// Whether an integer result is rounded before its offset is added.
        hardware_rounding: bool,
        /// Whether infinities saturate, too, and NaN becomes 0.
        saturate_inf: bool,
        /// How the third argument is read, where there is one.
        quant: Option<Quant>,
    },
    /// `|x|`: a float loses its sign bit.
    Abs,
    /// `-x`: a float flips its sign bit.
    Neg,
    /// `~x`.
    Not,
    /// `x > 0 ? x : +0`.
    Relu,
    /// `1 / x`.
    Recip,
    /// `e^x`.
    Exp,
    /// `ln x`.
    Log,
    Sqrt,
    /// `1 / sqrt x`, as one operation.
    Rsqrt,
    /// `x + y`.
    Add,
    /// `x - y`.
    Sub,
    /// `x · y`.
    Mul,
    /// `x / y`; integers truncate.
    Div,
    /// `x · (1 / y)` with two roundings, as a5 divides by a scalar (isa/scalar.md 3).
    MulRecip,
    Rem,
    Fmod,
    /// `x^y`.
    Pow,
    Max,
    Min,
    /// `x & y`.
    And,
    /// `x | y`.
    Or,
    /// `x ^ y`.
    Xor,
    /// `x << y`.
    Shl,
    /// `x >> y`.
    Shr,
    /// `x > 0 ? x : y · x`.
    Prelu,
    /// `e^(x - y)`.
    ExpDif,
    /// `(x + y) + z`.
    AddAdd,
    /// `(x - y) + z`.
    SubAdd,
    /// `z + x · y`, rounded twice.
    Axpy,
    /// `x · y + z`, rounded to the element type after each operation (cpp.md 6.1).
    MulThenAdd {
        /// Is it zero where it is negative?
        relu: bool,
    },
    /// `x + y` or `x - y`, zero where it is negative, as the nearest element of the other type, clamped (cpp.md 6.1).
    ReluConvert {
        subtracts: bool,
    },
    /// `(x + y) · z` with a sum of i32, as f16, zero where it is negative (cpp.md 6.1).
    AddDequantizeRelu {
        /// Does what is beyond f16 become its largest number?
        saturates: bool,
    },
    /// `s + x · y`, rounded once; f32 factors may be rounded before (isa/matrix.md 5).
    MulAdd(Option<Reduced>),
    /// `s + x · y` times two scales, rounded once (isa/matrix.md 3).
    ScaledMulAdd,
    /// `x · f`, or `x · f + o`, rounded to an integer and clamped (isa/irregular.md 8).
    Quantize,
    /// `(x - o) · s` (isa/irregular.md 8).
    Dequantize,
    /// Eight comparisons as the bits of a byte, lowest first: the arguments are pairs.
    Compare(Cmp),
    /// Bit `bit` of the first argument picks the second, where it is 1, or the third.
    Select {
        /// Which bit of the mask byte.
        bit: u8,
    },
    /// The place of the first greatest or least of some elements, or that element (isa/reduce.md 5).
    Arg {
        /// The greatest, not the least.
        greatest: bool,
        /// The element, not its place.
        value: bool,
    },
}

/// How a quantization parameter is read (fixpipe.md 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quant {
    /// One for all columns, with its whole scale.
    Scalar,
    /// One for each column; the low 13 bits of the scale count as zero.
    Vector,
}

impl Quant {
    /// The parameter of some bits.
    pub fn param(self, bits: u64) -> QuantParam {
        match self {
            Quant::Scalar => QuantParam::scalar(bits),
            Quant::Vector => QuantParam::vector(bits),
        }
    }
}

impl Func {
    /// The bits of the element of type `to` that some arguments become; each is its type and its bits. Without the
    /// arguments that the function takes there is no value, and the answer is 0.
    ///
    /// Floats are widened to f32, computed there with each operation rounded to nearest even, and rounded once more to
    /// `to`; a NaN comes out canonical. Integers wrap (elementwise.md 3, reduce.md 5, matrix.md 1).
    ///
    /// ```
    /// use tessera_isa::elem::Elem;
    /// use tessera_isa::sem::Func;
    ///
    /// let (one, tiny) = ((Elem::F16, 0x3C00), (Elem::F16, 0x0001));
    /// assert_eq!(Func::Add.eval(Elem::F16, &[one, one]), 0x4000);
    /// assert_eq!(Func::Add.eval(Elem::F16, &[one, tiny]), 0x3C00);
    /// assert_eq!(Func::Add.eval(Elem::U8, &[(Elem::U8, 200), (Elem::U8, 100)]), 44);
    /// ```
    pub fn eval(self, to: Elem, args: &[(Elem, u64)]) -> u64 {
        match (self, args) {
            (Func::Bits | Func::LowBytes, [(_, x)]) => x & to.mask(),
            (Func::Convert, [(from, x)]) => convert(*from, to, *x),
            (Func::Cvt { rounding, saturation }, [(from, x)]) => cvt(*from, to, *x, rounding, saturation),
            // Only cpu moves other types, and those keep theirs (fixpipe.md 2).
            (Func::Fixpipe { relu, .. }, [(src, x), ..]) if src.bits() != 32 => {
                if relu {
                    super::fixpipe::relu(to, *x & to.mask())
                } else {
                    x & to.mask()
                }
            }
            (Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant }, [(src, x), param @ ..]) => {
                let fixpipe = Fixpipe { src: *src, dst: to, relu, hardware_rounding, saturate_inf };
                let param = quant.zip(param.first()).map(|(quant, (_, bits))| quant.param(*bits));
                fixpipe.apply(*x as u32, param.as_ref())
            }
            (Func::FixpipeAdd { .. }, [old, new @ ..]) => {
                let (op, first) = self.combined();
                op.eval(to, &[*old, (to, first.eval(to, new))])
            }
            (Func::Compare(cmp), pairs) => {
                let holds = pairs.as_chunks().0.iter().map(|[x, y]| u64::from(compare(cmp, *x, *y)));
                holds.enumerate().fold(0, |byte, (bit, holds)| byte | holds << bit)
            }
            (Func::Select { bit }, [(_, mask), (_, x), (_, y)]) => {
                if mask >> bit & 1 == 1 {
                    *x
                } else {
                    *y
                }
            }
            (Func::MulThenAdd { relu }, [x, y, z]) => {
                let sum = Func::Add.eval(to, &[(to, Func::Mul.eval(to, &[*x, *y])), *z]);
                if relu { Func::Relu.eval(to, &[(to, sum)]) } else { sum }
            }
            (Func::ReluConvert { subtracts }, [x, y]) => {
                let from = x.0;
                let sum = if subtracts { Func::Sub } else { Func::Add }.eval(from, &[*x, *y]);
                let kept = Func::Relu.eval(from, &[(from, sum)]);
                if from == to { kept } else { cvt(from, to, kept, Rounding::CastRint, Some(Saturation::On)) }
            }
            (Func::AddDequantizeRelu { saturates }, [x, y, scale]) => {
                let sum = integer((Elem::I32, Func::Add.eval(Elem::I32, &[*x, *y])));
                let overflow = if saturates { Overflow::Saturate } else { Overflow::Infinity };
                Func::Relu.eval(to, &[(to, to.encode_f32(sum as f32 * float(*scale), overflow))])
            }
            (Func::Quantize, [x, f, offset @ ..]) => {
                let product = float(*x) * float(*f);
                quantize(to, offset.first().map_or(product, |o| product + float(*o)))
            }
            // The sign bit alone, also of a NaN.
            (Func::Abs, [(_, x)]) if to.is_float() => x & (to.mask() >> 1),
            (Func::Neg, [(_, x)]) if to.is_float() => x ^ (to.mask() ^ to.mask() >> 1),
            _ if to.is_float() => to.encode_f32(self.of_floats(args), Overflow::Infinity),
            _ => self.of_integers(to, args) as u64 & to.mask(),
        }
    }

    /// A function that combines what is there with something new, as the two functions that it is made of: what becomes of
    /// the two, and what becomes of the new one first.
    pub fn combined(self) -> (Func, Func) {
        match self {
            Func::FixpipeAdd { relu, hardware_rounding, saturate_inf, quant } => {
                (Func::Add, Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant })
            }
            other => (other, Func::Bits),
        }
    }

    fn of_floats(self, args: &[(Elem, u64)]) -> f32 {
        let value = |n: usize| args.get(n).map_or(0.0, |arg| float(*arg));
        let (x, y, z) = (value(0), value(1), value(2));
        match self {
            Func::Relu if x > 0.0 || x.is_nan() => x,
            Func::Relu => 0.0,
            Func::Recip => 1.0 / x,
            Func::Exp => math::exp(x),
            Func::Log => math::log(x),
            Func::Sqrt => x.sqrt(),
            Func::Rsqrt => math::rsqrt(x),
            Func::Add => x + y,
            Func::Sub => x - y,
            Func::Mul => x * y,
            Func::Div => x / y,
            // Either zero has the reciprocal +inf (isa/scalar.md 3).
            Func::MulRecip => x * (1.0 / if y == 0.0 { 0.0 } else { y }),
            Func::Rem => math::rem(x, y),
            Func::Fmod => math::fmod(x, y),
            Func::Pow => math::pow(x, y),
            Func::Max => ordered(x, y, x > y || (x == y && y.is_sign_negative())),
            Func::Min => ordered(x, y, x < y || (x == y && x.is_sign_negative())),
            Func::Prelu => {
                if x > 0.0 {
                    x
                } else {
                    y * x
                }
            }
            Func::ExpDif => math::exp(x - y),
            Func::AddAdd => (x + y) + z,
            Func::SubAdd => (x - y) + z,
            Func::Axpy => z + x * y,
            Func::MulAdd(None) => y.mul_add(z, x),
            Func::MulAdd(Some(reduced)) => {
                let [y, z] = [y, z].map(|v| f32::from_bits(reduced.round(v.to_bits())));
                y.mul_add(z, x)
            }
            Func::ScaledMulAdd => matrix::scaled_mul_add(args),
            Func::Dequantize => (x - y) * z,
            _ => 0.0,
        }
    }

    /// The result, of which the low bits count. A zero divisor has none (`-zero`); the answer is 0 then.
    fn of_integers(self, to: Elem, args: &[(Elem, u64)]) -> i128 {
        let value = |n: usize| args.get(n).map_or(0, |arg| integer(*arg));
        let (x, y, z) = (value(0), value(1), value(2));
        let count = y as u32 & (to.bits() - 1);
        match self {
            Func::Abs => x.abs(),
            Func::Neg => -x,
            Func::Not => !x,
            Func::Relu => x.max(0),
            Func::Recip => 1i128.checked_div(x).unwrap_or(0),
            Func::Add => x + y,
            Func::Sub => x - y,
            Func::Mul => x.wrapping_mul(y),
            Func::Div => x.checked_div(y).unwrap_or(0),
            // The sign of the divisor; i64 keeps the dividend's (isa/elementwise.md 7).
            Func::Rem if to != Elem::I64 => {
                let r = x.checked_rem(y).unwrap_or(0);
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            }
            Func::Rem | Func::Fmod => x.checked_rem(y).unwrap_or(0),
            Func::Pow => power(x, y),
            Func::Max => x.max(y),
            Func::Min => x.min(y),
            Func::And => x & y,
            Func::Or => x | y,
            Func::Xor => x ^ y,
            Func::Shl => x << count,
            Func::Shr => x >> count,
            Func::AddAdd => x + y + z,
            Func::SubAdd => x - y + z,
            Func::MulAdd(_) => x.wrapping_add(y.wrapping_mul(z)),
            _ => 0,
        }
    }

    /// The fold of some elements into one of type `to`, from left to right: each step's arguments follow what came
    /// before. It starts as `start`, or as what changes nothing (reduce.md 5).
    pub fn fold<'a>(
        self,
        to: Elem,
        start: Option<(Elem, u64)>,
        steps: impl IntoIterator<Item = &'a [(Elem, u64)]>,
    ) -> u64 {
        if let Func::Arg { greatest, value } = self {
            let elements = steps.into_iter().filter_map(|args| args.first().copied());
            let (place, (_, bits)) = best(greatest, elements).unwrap_or((0, (to, 0)));
            return if value { bits } else { place & to.mask() };
        }
        let state = Func::state(to);
        let first = start.map_or(self.start(state), |(elem, bits)| convert(elem, state, bits));
        let mut args = Vec::with_capacity(3);
        let folded = steps.into_iter().fold(first, |s, step| {
            args.clear();
            args.push((state, s));
            args.extend_from_slice(step);
            self.eval(state, &args)
        });
        convert(state, to, folded)
    }

    /// What a fold starts as: +0, 1, or the end of the type that every element is on the right side of.
    pub fn start(self, state: Elem) -> u64 {
        let end = |number: Number, infinity: f64| match state.is_float() {
            true => state.encode_f64(infinity, Overflow::Infinity),
            false => state.encode(number, Overflow::Infinity),
        };
        let (lowest, highest) = state.range();
        match self {
            Func::Mul => state.encode_int(1, Overflow::Infinity),
            Func::Max => end(lowest, f64::NEG_INFINITY),
            Func::Min => end(highest, f64::INFINITY),
            _ => 0,
        }
    }

    /// Has an integer function no result for these arguments (`-zero`)?
    pub fn is_by_zero(self, args: &[(Elem, u64)]) -> bool {
        let value = |n: usize| args.get(n).map(|arg| integer(*arg));
        match self {
            Func::Recip => value(0) == Some(0),
            Func::Div | Func::Rem | Func::Fmod => value(1) == Some(0),
            Func::Pow => value(0) == Some(0) && value(1).is_some_and(|y| y < 0),
            _ => false,
        }
    }

    /// The arguments that [`Func::is_by_zero`] looks at.
    pub fn divisors(self) -> &'static [usize] {
        match self {
            Func::Recip => &[0],
            Func::Div | Func::Rem | Func::Fmod => &[1],
            Func::Pow => &[0, 1],
            _ => &[],
        }
    }

    /// The type that a fold into `to` adds up in: f32 for every float, so that it rounds once at the end (reduce.md 5).
    pub fn state(to: Elem) -> Elem {
        if to.is_float() { Elem::F32 } else { to }
    }

    /// Does it keep bits, so that definedness is by byte and not by element?
    pub fn keeps_bits(self) -> bool {
        matches!(self, Func::Bits | Func::LowBytes)
    }
}

/// The value of a float of at most 32 bits, which f32 holds exactly.
fn float((elem, bits): (Elem, u64)) -> f32 {
    match elem.decode(bits) {
        Number::Float(v) => v as f32,
        Number::Int(v) => v as f32,
    }
}

/// The nearest integer of a type, the even one of two; a NaN is 0.
fn quantize(to: Elem, v: f32) -> u64 {
    let (low, high) = if to == Elem::U8 { (0.0, 255.0) } else { (-128.0, 127.0) };
    // A conversion to an integer takes a NaN to 0.
    v.round_ties_even().clamp(low, high) as i64 as u64 & to.mask()
}

fn integer((elem, bits): (Elem, u64)) -> i128 {
    match elem.decode(bits) {
        Number::Int(v) => v,
        Number::Float(_) => 0,
    }
}

/// One of two floats; a NaN among them wins.
fn ordered(x: f32, y: f32, is_first: bool) -> f32 {
    match (x.is_nan() || y.is_nan(), is_first) {
        (true, _) => f32::NAN,
        (_, true) => x,
        (_, false) => y,
    }
}

/// `x^y` modulo 2^64; a negative exponent leaves 1, ±1 or 0 (isa/elementwise.md 3).
fn power(x: i128, y: i128) -> i128 {
    match (x, y) {
        (1, _) => 1,
        (-1, y) => {
            if y & 1 == 0 {
                1
            } else {
                -1
            }
        }
        (_, ..0) => 0,
        (x, y) => {
            let (mut result, mut square, mut left) = (1u64, x as u64, y);
            while left > 0 {
                if left & 1 == 1 {
                    result = result.wrapping_mul(square);
                }
                square = square.wrapping_mul(square);
                left >>= 1;
            }
            i128::from(result)
        }
    }
}

/// Does the comparison hold? With a NaN only `ne` does.
pub(super) fn compare(cmp: Cmp, x: (Elem, u64), y: (Elem, u64)) -> bool {
    let order = if x.0.is_float() { float(x).partial_cmp(&float(y)) } else { Some(integer(x).cmp(&integer(y))) };
    match cmp {
        Cmp::Eq => order.is_some_and(|o| o.is_eq()),
        Cmp::Ne => order.is_none_or(|o| o.is_ne()),
        Cmp::Lt => order.is_some_and(|o| o.is_lt()),
        Cmp::Le => order.is_some_and(|o| o.is_le()),
        Cmp::Gt => order.is_some_and(|o| o.is_gt()),
        Cmp::Ge => order.is_some_and(|o| o.is_ge()),
    }
}

/// The first greatest or least element and its place; the first NaN wins over every number.
pub(super) fn best(greatest: bool, elements: impl Iterator<Item = (Elem, u64)>) -> Option<(u64, (Elem, u64))> {
    let is_nan = |(elem, bits): (Elem, u64)| elem.is_nan(bits);
    (0..).zip(elements).reduce(|best, next| {
        let beats = if greatest { compare(Cmp::Gt, next.1, best.1) } else { compare(Cmp::Lt, next.1, best.1) };
        if !is_nan(best.1) && (beats || is_nan(next.1)) { next } else { best }
    })
}
