//! What an element becomes: the one definition, slow and exact, that every kernel is a faster twin of.

use super::{Fixpipe, convert};
use crate::codec::{Number, Overflow, QuantParam};
use crate::elem::Elem;

/// A function of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Func {
    /// The bits as they are.
    Bits,
    LowBytes,
    /// Converted between element types, as `cpu` and moves into Bias do (ops.md 1.5).
    Convert,
    /// Out of an accumulator, with a quantization parameter or without (fixpipe.md 4).
    Fixpipe {
        relu: bool,
        /// Whether an integer result is rounded before its offset is added.
        hardware_rounding: bool,
        /// How the second argument is read, where there is one.
        quant: Option<Quant>,
    },
    /// `x + y`.
    Add,
    /// `s + x · y`, rounded once.
    MulAdd,
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
            (Func::Fixpipe { relu, hardware_rounding, quant }, [(src, x), param @ ..]) => {
                let fixpipe = Fixpipe { src: *src, dst: to, relu, hardware_rounding };
                let param = quant.zip(param.first()).map(|(quant, (_, bits))| quant.param(*bits));
                fixpipe.apply(*x as u32, param.as_ref())
            }
            (Func::Add, [x, y]) if to.is_float() => rounded(to, float(*x) + float(*y)),
            (Func::Add, [x, y]) => integer(*x).wrapping_add(integer(*y)) & to.mask(),
            (Func::MulAdd, [s, x, y]) if to.is_float() => rounded(to, float(*x).mul_add(float(*y), float(*s))),
            (Func::MulAdd, [s, x, y]) => integer(*x).wrapping_mul(integer(*y)).wrapping_add(integer(*s)) & to.mask(),
            _ => 0,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Func::Bits => "copy",
            Func::LowBytes => "low bytes",
            Func::Convert => "conversion",
            Func::Fixpipe { .. } => "fixpipe",
            Func::Add => "sum",
            Func::MulAdd => "sum of products",
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

fn rounded(to: Elem, v: f32) -> u64 {
    to.encode_f32(v, Overflow::Infinity)
}

fn integer((elem, bits): (Elem, u64)) -> u64 {
    match elem.decode(bits) {
        Number::Int(v) => v as u64,
        Number::Float(_) => 0,
    }
}
