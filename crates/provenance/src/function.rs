//! Functions of elements as terms know them: what they compute, and nothing else of the instruction that applied them.

use super::terms::{TermId, Terms, UNDEFINED};
use smallvec::SmallVec;
use tessera_isa::codec::QuantParam;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Fixpipe, Func};
use tessera_kernels::{Conversion, Mapped};

/// A function of elements, described so that two that compute the same compare equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Of one element, and of a parameter where that is data.
    Converted(Converted),
    /// Of one element of each of these types, one after the other; comparisons and places take them again and again.
    Mapped {
        func: Func,
        to: Elem,
        /// The types of the arguments.
        args: [Option<Elem>; 3],
    },
    /// Of the state that a fold starts as, and of the arguments of every step.
    Fold {
        /// The result of one more step of the fold.
        func: Func,
        /// The type of the result.
        to: Elem,
        /// The types of the arguments of a step.
        args: [Option<Elem>; 4],
    },
    /// Of any number of elements of the result's type, whose order does not matter: integers, and the greatest or least
    /// of floats. Of a single float, the same with a canonical NaN.
    Many {
        func: Func,
        /// The type of all of them.
        to: Elem,
    },
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Converted {
    /// Its types, whether ReLU follows, and whether the offset is added after rounding (fixpipe.md 4, i8 and u8 only).
    pub fixpipe: Fixpipe,
    pub quantized: Quantized,
}

/// The size in bytes of an element of a type.
pub(super) fn size(elem: Elem) -> usize {
    (elem.bits() as usize / 8).max(1)
}

impl Function {
    pub(super) fn of_mapped(mapped: &Mapped) -> Function {
        let mut types = mapped.args.iter().map(|(elem, _)| *elem);
        Function::Mapped { func: mapped.func, to: mapped.to, args: [types.next(), types.next(), types.next()] }
    }

    /// The type of the result.
    pub fn to(&self) -> Elem {
        match self {
            Function::Converted(converted) => converted.fixpipe.dst,
            Function::Mapped { to, .. } | Function::Fold { to, .. } | Function::Many { to, .. } => *to,
        }
    }

    /// The size in bytes of the result.
    pub fn bytes(&self) -> usize {
        size(self.to())
    }

    /// The types of its operands, one after the other, without end.
    pub fn types(&self) -> impl Iterator<Item = Elem> + use<> {
        let (first, rest): (Option<Elem>, [Option<Elem>; 4]) = match *self {
            Function::Converted(converted) => (None, [Some(converted.fixpipe.src), Some(Elem::U64), None, None]),
            Function::Mapped { args: [a, b, c], .. } => (None, [a, b, c, None]),
            Function::Fold { to, args, .. } => (Some(Func::state(to)), args),
            Function::Many { to, .. } => (None, [Some(to), None, None, None]),
        };
        first.into_iter().chain(rest.into_iter().cycle().flatten())
    }

    /// Whether it divides integers, so that some arguments have no result (`-zero`).
    pub(super) fn divides(&self) -> bool {
        matches!(self, Function::Mapped { func, to, .. } if !to.is_float() && !func.divisors().is_empty())
    }

    /// Whether these arguments have no result (`-zero`).
    pub fn is_by_zero(&self, args: &[(Elem, u64)]) -> bool {
        matches!(self, Function::Mapped { func, to, .. } if !to.is_float() && func.is_by_zero(args))
    }

    /// The bits of the result for the operands' types and bits; none where the function is not defined on them.
    pub fn eval(&self, args: &[(Elem, u64)]) -> Option<u64> {
        match (self, args) {
            (Function::Converted(converted), [(_, element), param @ ..]) => {
                converted.eval(*element, param.first().map(|p| p.1))
            }
            (Function::Mapped { func, to, .. }, args) => func.eval(*to, args),
            (Function::Fold { func, to, args: types }, [start, steps @ ..]) => {
                func.fold(*to, Some(*start), steps.chunks(types.iter().flatten().count().max(1)))
            }
            (Function::Many { func, to }, args) => func.fold(*to, None, args.chunks(1)),
            (Function::Converted(_) | Function::Fold { .. }, []) => None,
        }
    }
}

impl Converted {
    fn eval(&self, element: u64, param: Option<u64>) -> Option<u64> {
        let Fixpipe { src, dst, relu, .. } = self.fixpipe;
        let param = match self.quantized {
            Quantized::No if !relu => return Some(tessera_isa::sem::convert(src, dst, element)),
            Quantized::No if src.bits() != 32 => return Some(tessera_isa::sem::relu(dst, element)),
            Quantized::No => None,
            Quantized::Data => Some(QuantParam::vector(param?)),
            Quantized::Fixed { scale, shift, offset } => {
                Some(QuantParam { scale: f32::from_bits(scale), shift, offset, signed: false })
            }
        };
        Some(self.fixpipe.apply(element as u32, param.as_ref()))
    }
}

/// The quantization parameter of a function: only what the function uses of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantized {
    No,
    Fixed {
        /// The bits of the scale.
        scale: u32,
        /// The shift of i32→i16.
        shift: u32,
        /// The offset of i8 and u8 results.
        offset: i32,
    },
    Data,
}

/// A parameter on its way into a function.
pub enum Param {
    None,
    Fixed(QuantParam),
    /// The origins of its eight bytes.
    Data(SmallVec<[TermId; 8]>),
}

fn constant_bits(ids: &[TermId]) -> Option<u64> {
    ids.iter().rev().try_fold(0, |bits, id| Some(bits << 8 | u64::from(Terms::constant_of(*id)?)))
}

/// Describes a conversion by what it computes, and keeps of its parameter what it uses.
pub(super) fn converted(conversion: Conversion, param: Param) -> (Function, Param) {
    let mut fixpipe = match conversion {
        Conversion::Value { src, dst } => {
            Fixpipe { src, dst, relu: false, hardware_rounding: false, saturate_inf: false }
        }
        Conversion::Fixpipe(fixpipe) => fixpipe,
    };
    let shifts = (fixpipe.src, fixpipe.dst) == (Elem::I32, Elem::I16);
    let offsets = matches!(fixpipe.dst, Elem::I8 | Elem::U8);
    let param = match param {
        Param::Data(ids) => {
            // The vector form reads bits 31:13, and the shift or the offset where there is one (fixpipe.md 3).
            let used: &[usize] = match (shifts, offsets) {
                (true, _) => &[4],
                (_, true) => &[1, 2, 3, 4, 5],
                _ => &[1, 2, 3],
            };
            let used: SmallVec<[TermId; 8]> = (0..8)
                .map(|k| match used.contains(&k) {
                    true => ids.get(k).copied().unwrap_or(UNDEFINED),
                    false => Terms::constant(0),
                })
                .collect();
            match constant_bits(&used) {
                Some(bits) => Param::Fixed(QuantParam::vector(bits)),
                None => Param::Data(used),
            }
        }
        other => other,
    };
    let quantized = match &param {
        Param::None => Quantized::No,
        Param::Data(_) => Quantized::Data,
        Param::Fixed(p) if shifts => Quantized::Fixed { scale: 0, shift: p.shift, offset: 0 },
        Param::Fixed(p) => {
            Quantized::Fixed { scale: p.scale.to_bits(), shift: 0, offset: if offsets { p.offset } else { 0 } }
        }
    };
    // Without an offset both orders of rounding give the same (fixpipe.md 4).
    let has_offset = match quantized {
        Quantized::Fixed { offset, .. } => offset != 0,
        Quantized::Data => offsets,
        Quantized::No => false,
    };
    fixpipe.hardware_rounding &= has_offset;
    fixpipe.saturate_inf &= quantized != Quantized::No && matches!(fixpipe.dst, Elem::F16 | Elem::Bf16);
    fixpipe.relu &= fixpipe.dst != Elem::U8;
    (Function::Converted(Converted { fixpipe, quantized }), param)
}
