//! Functions of elements: the one definition, slow and exact, that every kernel is a faster twin of.

use super::{Fixpipe, Reduced, Rounding, Saturation, convert, cvt, math, matrix};
use crate::codec::{Number, Overflow, QuantParam};
use crate::elem::Elem;
use crate::inst::Cmp;
use smallvec::SmallVec;

/// A function of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Func {
    /// The bits as they are.
    Bits,
    LowBytes,
    /// Converted between element types, as `cpu` and moves into Bias do (ops.md 1.5).
    Convert,
    /// Converted as TCVT does (isa/elementwise.md 5).
    Cvt {
        /// The rounding of a value between two neighbours.
        rounding: Rounding,
        /// The treatment of values beyond the ends of the type; if absent, the pair of types decides.
        saturation: Option<Saturation>,
    },
    /// Out of an accumulator, with a quantization parameter or without (fixpipe.md 4).
    Fixpipe {
        relu: bool,
        /// Whether an integer result is rounded before its offset is added.
        hardware_rounding: bool,
        /// Whether infinities saturate, too, and NaN becomes 0.
        saturate_inf: bool,
        /// The interpretation of the second argument, if there is one.
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
        /// The interpretation of the third argument, if there is one.
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
        /// Whether negative results become zero.
        relu: bool,
    },
    /// `x + y` or `x - y`, zero where it is negative, as the nearest element of the other type, clamped (cpp.md 6.1).
    ReluConvert {
        subtracts: bool,
    },
    /// `(x + y) · z` with a sum of i32, as f16, zero where it is negative (cpp.md 6.1).
    AddDequantizeRelu {
        /// Whether values beyond f16 become its largest number.
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
        /// The bit of the mask byte.
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

/// The interpretation of a quantization parameter (fixpipe.md 3).
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

/// The element that a fold leaves as it is.
#[derive(Clone, Copy)]
enum Neutral {
    Zero,
    One,
    /// All bits set.
    Ones,
    /// `-inf`, or the least integer.
    Lowest,
    /// `+inf`, or the greatest integer.
    Highest,
}

/// The uses of a function beyond one element after the other.
#[derive(Clone, Copy)]
struct Uses {
    /// The start of a fold, if it folds.
    neutral: Option<Neutral>,
    /// The parts of a function that combines ([`Func::combined`]).
    combined: Option<(Func, Func)>,
    /// The arguments that may be a divisor.
    divisors: &'static [usize],
}

/// An element: its type and its bits.
type Typed = (Elem, u64);

/// Why a function has no value for some arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoValue {
    /// It is not defined on these types, or on this number of arguments.
    Undefined,
    /// An integer is divided by zero (`-zero`).
    ByZero,
}

/// The arguments of a function and the type of its result. The method that computes a function names the domain on
/// which the function is defined. On any other domain, and with any other number of arguments, it is not defined.
struct Call<'a> {
    to: Elem,
    args: &'a [Typed],
}

impl Call<'_> {
    /// As many arguments as the function takes.
    fn typed<const N: usize>(&self) -> Result<[Typed; N], NoValue> {
        self.args.try_into().map_err(|_| NoValue::Undefined)
    }

    /// Of bits, whatever they mean.
    fn bits<const N: usize>(&self, f: impl FnOnce([u64; N]) -> u64) -> Result<u64, NoValue> {
        Ok(f(self.typed()?.map(|(_, bits)| bits)) & self.to.mask())
    }

    /// Of floats alone: widened to f32, computed there, and rounded once.
    fn floats<const N: usize>(&self, f: impl FnOnce([f32; N]) -> f32) -> Result<u64, NoValue> {
        let args = self.typed()?;
        if !self.to.is_float() || !args.iter().all(|(elem, _)| elem.is_float()) {
            return Err(NoValue::Undefined);
        }
        Ok(self.to.encode_f32(f(args.map(real)), Overflow::Infinity))
    }

    /// Of integers alone: exact, of which the low bits count.
    fn divided<const N: usize>(&self, f: impl FnOnce([i128; N]) -> Result<i128, NoValue>) -> Result<u64, NoValue> {
        let mut values = [0; N];
        for (value, (elem, bits)) in values.iter_mut().zip(self.typed::<N>()?) {
            let Number::Int(v) = elem.decode(bits) else { return Err(NoValue::Undefined) };
            *value = v;
        }
        if self.to.is_float() { Err(NoValue::Undefined) } else { Ok(f(values)? as u64 & self.to.mask()) }
    }

    /// Of integers alone, each of which has a result.
    fn integers<const N: usize>(&self, f: impl FnOnce([i128; N]) -> i128) -> Result<u64, NoValue> {
        self.divided(|args| Ok(f(args)))
    }

    /// Of floats or of integers.
    fn numbers<const N: usize>(
        &self,
        floats: impl FnOnce([f32; N]) -> f32,
        integers: impl FnOnce([i128; N]) -> i128,
    ) -> Result<u64, NoValue> {
        if self.to.is_float() { self.floats(floats) } else { self.integers(integers) }
    }

    /// Of floats, or of integers that may be divided by zero.
    fn quotients<const N: usize>(
        &self,
        floats: impl FnOnce([f32; N]) -> f32,
        integers: impl FnOnce([i128; N]) -> Option<i128>,
    ) -> Result<u64, NoValue> {
        if self.to.is_float() {
            return self.floats(floats);
        }
        self.divided(|args| integers(args).ok_or(NoValue::ByZero))
    }

    /// Of a float's bits, or of an integer.
    fn sign(&self, float: impl FnOnce(u64) -> u64, integer: impl FnOnce(i128) -> i128) -> Result<u64, NoValue> {
        let [(elem, bits)] = self.typed()?;
        match self.to.is_float() {
            true if elem == self.to => Ok(float(bits) & self.to.mask()),
            true => Err(NoValue::Undefined),
            false => self.integers(|[x]| integer(x)),
        }
    }

    /// Out of an accumulator (fixpipe.md 4). Only `cpu` moves types that are no accumulator's, and those keep theirs.
    fn fixpipe(&self, fixpipe: impl FnOnce(Elem) -> Fixpipe, quant: Option<Quant>) -> Result<u64, NoValue> {
        let [(src, x), param @ ..] = self.args else { return Err(NoValue::Undefined) };
        let param = match (quant, param) {
            (None, []) => None,
            (Some(quant), [(_, bits)]) => Some(quant.param(*bits)),
            _ => return Err(NoValue::Undefined),
        };
        let (fixpipe, is_kept) = (fixpipe(*src), *src == self.to && param.is_none());
        match (is_kept, *src) {
            (true, elem) if fixpipe.relu => Ok(super::fixpipe::relu(elem, x & elem.mask())),
            (true, elem) => Ok(x & elem.mask()),
            (false, Elem::F32 | Elem::I32) => Ok(fixpipe.apply(*x as u32, param.as_ref())),
            (false, _) => Err(NoValue::Undefined),
        }
    }
}

impl Func {
    /// The bits of the element of type `to` that some arguments become; each is its type and its bits. There is none where
    /// the function is not defined on these types or on this number of arguments: what the table makes legal is defined.
    ///
    /// Floats are widened to f32, computed there with each operation rounded to nearest even, and rounded once more to
    /// `to`; a NaN comes out canonical. Integers wrap (elementwise.md 3, reduce.md 5, matrix.md 1). An integer divided by
    /// zero counts as 0: the instruction is refused (`-zero`), or its divisor and with it the result is undefined.
    ///
    /// ```
    /// use tessera_isa::elem::Elem;
    /// use tessera_isa::sem::Func;
    ///
    /// let (one, tiny) = ((Elem::F16, 0x3C00), (Elem::F16, 0x0001));
    /// assert_eq!(Func::Add.eval(Elem::F16, &[one, one]), Some(0x4000));
    /// assert_eq!(Func::Add.eval(Elem::F16, &[one, tiny]), Some(0x3C00));
    /// assert_eq!(Func::Add.eval(Elem::U8, &[(Elem::U8, 200), (Elem::U8, 100)]), Some(44));
    /// assert_eq!(Func::Add.eval(Elem::U8, &[(Elem::U8, 200)]), None);
    /// assert_eq!(Func::Xor.eval(Elem::F16, &[one, tiny]), None);
    /// ```
    pub fn eval(self, to: Elem, args: &[(Elem, u64)]) -> Option<u64> {
        match self.value(to, args) {
            Ok(bits) => Some(bits),
            Err(NoValue::ByZero) => Some(0),
            Err(NoValue::Undefined) => None,
        }
    }

    /// Whether the function is defined on arguments of these types.
    pub fn is_defined(self, to: Elem, args: &[Elem]) -> bool {
        let zeros: SmallVec<[Typed; 4]> = args.iter().map(|elem| (*elem, 0)).collect();
        self.eval(to, &zeros).is_some()
    }

    /// Whether an integer function has no result for these arguments (`-zero`).
    pub fn is_by_zero(self, args: &[(Elem, u64)]) -> bool {
        args.first().is_some_and(|(elem, _)| self.value(*elem, args) == Err(NoValue::ByZero))
    }

    /// The definition: a function without an arm does not compile.
    fn value(self, to: Elem, args: &[Typed]) -> Result<u64, NoValue> {
        let call = Call { to, args };
        let then = |func: Func, to: Elem, args: &[Typed]| func.value(to, args);
        match self {
            Func::Bits | Func::LowBytes => call.bits(|[x]| x),
            Func::Convert => call.typed().map(|[(from, x)]| convert(from, to, x)),
            Func::Cvt { rounding, saturation } => {
                call.typed().map(|[(from, x)]| cvt(from, to, x, rounding, saturation))
            }
            Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant } => {
                call.fixpipe(|src| Fixpipe { src, dst: to, relu, hardware_rounding, saturate_inf }, quant)
            }
            Func::FixpipeAdd { relu, hardware_rounding, saturate_inf, quant } => {
                let [old, new @ ..] = args else { return Err(NoValue::Undefined) };
                let new = then(Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant }, to, new)?;
                then(Func::Add, to, &[*old, (to, new)])
            }
            Func::Abs => call.sign(|x| x & to.mask() >> 1, i128::abs),
            Func::Neg => call.sign(|x| x ^ (to.mask() ^ to.mask() >> 1), |x| -x),
            Func::Not => call.integers(|[x]| !x),
            Func::Relu => call.numbers(|[x]| if x > 0.0 || x.is_nan() { x } else { 0.0 }, |[x]| x.max(0)),
            Func::Recip => call.quotients(|[x]| 1.0 / x, |[x]| 1i128.checked_div(x)),
            Func::Exp => call.floats(|[x]| math::exp(x)),
            Func::Log => call.floats(|[x]| math::log(x)),
            Func::Sqrt => call.floats(|[x]| x.sqrt()),
            Func::Rsqrt => call.floats(|[x]| math::rsqrt(x)),
            Func::Add => call.numbers(|[x, y]| x + y, |[x, y]| x + y),
            Func::Sub => call.numbers(|[x, y]| x - y, |[x, y]| x - y),
            Func::Mul => call.numbers(|[x, y]| x * y, |[x, y]| x.wrapping_mul(y)),
            Func::Div => call.quotients(|[x, y]| x / y, |[x, y]| x.checked_div(y)),
            // Either zero has the reciprocal +inf (isa/scalar.md 3).
            Func::MulRecip => call.floats(|[x, y]| x * (1.0 / if y == 0.0 { 0.0 } else { y })),
            // The sign of the divisor; i64 keeps the dividend's (isa/elementwise.md 7).
            Func::Rem => call.quotients(
                |[x, y]| math::rem(x, y),
                |[x, y]| {
                    let r = x.checked_rem(y)?;
                    Some(if to != Elem::I64 && r != 0 && (r < 0) != (y < 0) { r + y } else { r })
                },
            ),
            Func::Fmod => call.quotients(|[x, y]| math::fmod(x, y), |[x, y]| x.checked_rem(y)),
            Func::Pow => call.quotients(|[x, y]| math::pow(x, y), |[x, y]| power(x, y)),
            Func::Max => {
                call.numbers(|[x, y]| ordered(x, y, x > y || (x == y && y.is_sign_negative())), |[x, y]| x.max(y))
            }
            Func::Min => {
                call.numbers(|[x, y]| ordered(x, y, x < y || (x == y && x.is_sign_negative())), |[x, y]| x.min(y))
            }
            Func::And => call.integers(|[x, y]| x & y),
            Func::Or => call.integers(|[x, y]| x | y),
            Func::Xor => call.integers(|[x, y]| x ^ y),
            Func::Shl => call.integers(|[x, y]| x << shift_count(to, y)),
            Func::Shr => call.integers(|[x, y]| x >> shift_count(to, y)),
            Func::Prelu => call.floats(|[x, y]| if x > 0.0 { x } else { y * x }),
            Func::ExpDif => call.floats(|[x, y]| math::exp(x - y)),
            Func::AddAdd => call.numbers(|[x, y, z]| (x + y) + z, |[x, y, z]| x + y + z),
            Func::SubAdd => call.numbers(|[x, y, z]| (x - y) + z, |[x, y, z]| x - y + z),
            Func::Axpy => call.floats(|[x, y, z]| z + x * y),
            Func::MulThenAdd { relu } => {
                let [x, y, z] = call.typed()?;
                let sum = then(Func::Add, to, &[(to, then(Func::Mul, to, &[x, y])?), z])?;
                if relu { then(Func::Relu, to, &[(to, sum)]) } else { Ok(sum) }
            }
            Func::ReluConvert { subtracts } => {
                let [x, y] = call.typed()?;
                let sum = then(if subtracts { Func::Sub } else { Func::Add }, x.0, &[x, y])?;
                let kept = then(Func::Relu, x.0, &[(x.0, sum)])?;
                Ok(if x.0 == to { kept } else { cvt(x.0, to, kept, Rounding::CastRint, Some(Saturation::On)) })
            }
            Func::AddDequantizeRelu { saturates } => {
                let [x, y, scale] = call.typed()?;
                let sum = then(Func::Add, Elem::I32, &[x, y])? as i32;
                let overflow = if saturates { Overflow::Saturate } else { Overflow::Infinity };
                then(Func::Relu, to, &[(to, to.encode_f32(sum as f32 * real(scale), overflow))])
            }
            Func::MulAdd(reduced) => call.numbers(
                |[s, x, y]| {
                    let round = |v: f32| reduced.map_or(v, |by| f32::from_bits(by.round(v.to_bits())));
                    round(x).mul_add(round(y), s)
                },
                |[s, x, y]| s.wrapping_add(x.wrapping_mul(y)),
            ),
            Func::ScaledMulAdd => call.typed().map(|[s, x, y, ex, ey]| {
                let sum = matrix::scaled_mul_add(real(s), [x, y, ex, ey].map(value_of));
                to.encode_f32(sum, Overflow::Infinity)
            }),
            Func::Quantize => match *args {
                [x, f] => Ok(quantize(to, real(x) * real(f))),
                [x, f, offset] => Ok(quantize(to, real(x) * real(f) + real(offset))),
                _ => Err(NoValue::Undefined),
            },
            Func::Dequantize => {
                call.typed().map(|[x, o, s]| to.encode_f32((real(x) - real(o)) * real(s), Overflow::Infinity))
            }
            Func::Compare(cmp) => match args.as_chunks() {
                (pairs @ [_, ..], []) if pairs.len() <= 8 && pairs.iter().all(|[x, y]| is_alike(*x, *y)) => {
                    let holds = pairs.iter().map(|[x, y]| u64::from(compare(cmp, *x, *y)));
                    Ok(holds.enumerate().fold(0, |byte, (bit, holds)| byte | holds << bit))
                }
                _ => Err(NoValue::Undefined),
            },
            Func::Select { bit } => {
                call.typed().map(|[(_, mask), (_, x), (_, y)]| if mask >> bit & 1 == 1 { x } else { y })
            }
            Func::Arg { greatest, value } => {
                let (place, (elem, bits)) = best(greatest, args.iter().copied()).ok_or(NoValue::Undefined)?;
                match (value, elem == to) {
                    (false, _) => Ok(place & to.mask()),
                    (true, true) => Ok(bits),
                    (true, false) => Err(NoValue::Undefined),
                }
            }
        }
    }

    /// A function that combines what is there with something new, as the two functions that it is made of: what becomes of
    /// the two, and what becomes of the new one first. Others combine nothing.
    pub fn combined(self) -> Option<(Func, Func)> {
        self.uses().combined
    }

    /// The fold of some elements into one of type `to`, from left to right: each step's arguments follow what came
    /// before. It starts as `start`, or as what changes nothing (reduce.md 5). There is none where a step is not defined,
    /// and none of no elements where nothing changes nothing.
    pub fn fold<'a>(
        self,
        to: Elem,
        start: Option<(Elem, u64)>,
        steps: impl IntoIterator<Item = &'a [(Elem, u64)]>,
    ) -> Option<u64> {
        if let Func::Arg { .. } = self {
            let elements: Option<Vec<Typed>> = steps.into_iter().map(|args| args.first().copied()).collect();
            return self.eval(to, &elements?);
        }
        let state = Func::state(to);
        let first = match start {
            Some((elem, bits)) => convert(elem, state, bits),
            None => self.start(state)?,
        };
        let mut args = Vec::with_capacity(5);
        let folded = steps.into_iter().try_fold(first, |s, step| {
            args.clear();
            args.push((state, s));
            args.extend_from_slice(step);
            self.eval(state, &args)
        });
        Some(convert(state, to, folded?))
    }

    /// The initial value of a fold: the neutral element. `None` for a function that is not used in folds.
    pub fn start(self, state: Elem) -> Option<u64> {
        let end = |number: Number, infinity: f64| match state.is_float() {
            true => state.encode_f64(infinity, Overflow::Infinity),
            false => state.encode(number, Overflow::Infinity),
        };
        let (lowest, highest) = state.range();
        Some(match self.uses().neutral? {
            Neutral::Zero => 0,
            Neutral::One => state.encode_int(1, Overflow::Infinity),
            Neutral::Ones => state.mask(),
            Neutral::Lowest => end(lowest, f64::NEG_INFINITY),
            Neutral::Highest => end(highest, f64::INFINITY),
        })
    }

    /// The arguments that decide [`Func::is_by_zero`].
    pub fn divisors(self) -> &'static [usize] {
        self.uses().divisors
    }

    /// What the function is used for beyond one element after the other: a function without an arm does not compile.
    fn uses(self) -> Uses {
        let mapped = Uses { neutral: None, combined: None, divisors: &[] };
        let folds = |neutral: Neutral| Uses { neutral: Some(neutral), ..mapped };
        let combines = |neutral: Neutral| Uses { combined: Some((self, Func::Bits)), ..folds(neutral) };
        match self {
            Func::Add => combines(Neutral::Zero),
            Func::Max => combines(Neutral::Lowest),
            Func::Min => combines(Neutral::Highest),
            Func::MulAdd(_) | Func::ScaledMulAdd | Func::Or | Func::Xor => folds(Neutral::Zero),
            Func::And => folds(Neutral::Ones),
            Func::Mul => folds(Neutral::One),
            Func::FixpipeAdd { relu, hardware_rounding, saturate_inf, quant } => {
                let new = Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant };
                Uses { combined: Some((Func::Add, new)), ..mapped }
            }
            Func::Recip => Uses { divisors: &[0], ..mapped },
            Func::Div | Func::Rem | Func::Fmod => Uses { divisors: &[1], ..mapped },
            Func::Pow => Uses { divisors: &[0, 1], ..mapped },
            // `fold` takes all elements of these at once.
            Func::Arg { .. } => mapped,
            Func::Bits
            | Func::LowBytes
            | Func::Convert
            | Func::Cvt { .. }
            | Func::Fixpipe { .. }
            | Func::Abs
            | Func::Neg
            | Func::Not
            | Func::Relu
            | Func::Exp
            | Func::Log
            | Func::Sqrt
            | Func::Rsqrt
            | Func::Sub
            | Func::MulRecip
            | Func::Shl
            | Func::Shr
            | Func::Prelu
            | Func::ExpDif
            | Func::AddAdd
            | Func::SubAdd
            | Func::Axpy
            | Func::MulThenAdd { .. }
            | Func::ReluConvert { .. }
            | Func::AddDequantizeRelu { .. }
            | Func::Quantize
            | Func::Dequantize
            | Func::Compare(_)
            | Func::Select { .. } => mapped,
        }
    }

    /// The type that a fold into `to` adds up in: f32 for every float, so that it rounds once at the end (reduce.md 5).
    pub fn state(to: Elem) -> Elem {
        if to.is_float() { Elem::F32 } else { to }
    }

    /// Whether it keeps bits, so that definedness is by byte and not by element.
    pub fn keeps_bits(self) -> bool {
        matches!(self, Func::Bits | Func::LowBytes)
    }
}

/// The value of an element.
fn value_of((elem, bits): Typed) -> f64 {
    match elem.decode(bits) {
        Number::Float(v) => v,
        Number::Int(v) => v as f64,
    }
}

/// The value of an element as f32, which holds every float exactly; an integer is rounded.
fn real((elem, bits): Typed) -> f32 {
    match elem.decode(bits) {
        Number::Float(v) => v as f32,
        Number::Int(v) => v as f32,
    }
}

/// The bits of a shift count that count (isa/elementwise.md 3).
fn shift_count(elem: Elem, count: i128) -> u32 {
    count as u32 & (elem.bits() - 1)
}

/// The nearest integer of a type, the even one of two; a NaN is 0.
fn quantize(to: Elem, v: f32) -> u64 {
    let (low, high) = if to == Elem::U8 { (0.0, 255.0) } else { (-128.0, 127.0) };
    // A conversion to an integer takes a NaN to 0.
    v.round_ties_even().clamp(low, high) as i64 as u64 & to.mask()
}

/// One of two floats; a NaN among them wins.
fn ordered(x: f32, y: f32, is_first: bool) -> f32 {
    match (x.is_nan() || y.is_nan(), is_first) {
        (true, _) => f32::NAN,
        (_, true) => x,
        (_, false) => y,
    }
}

/// `x^y` modulo 2^64; a negative exponent leaves 1, ±1 or 0, and 0 has no such power (isa/elementwise.md 3).
fn power(x: i128, y: i128) -> Option<i128> {
    Some(match (x, y) {
        (0, ..0) => return None,
        (1, _) => 1,
        (-1, y) if y & 1 == 0 => 1,
        (-1, _) => -1,
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
    })
}

/// Whether two elements can be compared: both are floats, or both integers.
fn is_alike(x: Typed, y: Typed) -> bool {
    x.0.is_float() == y.0.is_float()
}

/// Whether the comparison holds. With a NaN only `ne` does.
pub(super) fn compare(cmp: Cmp, x: Typed, y: Typed) -> bool {
    let order = match (x.0.decode(x.1), y.0.decode(y.1)) {
        (Number::Int(x), Number::Int(y)) => Some(x.cmp(&y)),
        (Number::Float(x), Number::Float(y)) => x.partial_cmp(&y),
        _ => None,
    };
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
pub(super) fn best(greatest: bool, elements: impl Iterator<Item = Typed>) -> Option<(u64, Typed)> {
    let is_nan = |(elem, bits): Typed| elem.is_nan(bits);
    (0..).zip(elements).reduce(|best, next| {
        let beats = if greatest { compare(Cmp::Gt, next.1, best.1) } else { compare(Cmp::Lt, next.1, best.1) };
        if !is_nan(best.1) && (beats || is_nan(next.1)) { next } else { best }
    })
}
