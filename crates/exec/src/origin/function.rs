//! Functions of elements as terms know them: what they compute, and nothing else of the instruction that applied them.

use super::{TermId, Terms, UNDEFINED};
use crate::kernels::{Conversion, Mapped};
use smallvec::SmallVec;
use tessera_isa::codec::QuantParam;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Fixpipe, Func};

/// A function of elements, described so that two that compute the same compare equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Of one element, and of a parameter where that is data.
    Converted(Converted),
    /// Of one element of each of these types, one after the other.
    Mapped {
        /// What the result is.
        func: Func,
        /// Its type.
        to: Elem,
        /// The types of the arguments.
        args: [Option<Elem>; 3],
    },
    /// Of the state that a fold starts as, and of the arguments of every step.
    Fold {
        /// What one more step makes of the state.
        func: Func,
        /// The type of the result.
        to: Elem,
        /// The types of the arguments of a step.
        args: [Option<Elem>; 4],
    },
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Converted {
    /// Its types, whether ReLU follows, and whether the offset is added after rounding (fixpipe.md 4, i8 and u8 only).
    pub fixpipe: Fixpipe,
    /// The quantization parameter.
    pub quantized: Quantized,
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
            Function::Mapped { to, .. } | Function::Fold { to, .. } => *to,
        }
    }

    /// Cuts the bytes of its operands into one piece for each.
    pub fn split<'b, T>(&self, bytes: &'b [T]) -> Vec<(Elem, &'b [T])> {
        let size = |elem: Elem| (elem.bits() as usize / 8).max(1);
        let (state, rest): (Option<Elem>, SmallVec<[Elem; 4]>) = match self {
            Function::Converted(converted) => (None, SmallVec::from_iter([converted.fixpipe.src, Elem::U64])),
            Function::Mapped { args, .. } => (None, args.iter().flatten().copied().collect()),
            Function::Fold { to, args, .. } => (Some(Func::state(*to)), args.iter().flatten().copied().collect()),
        };
        let mut pieces = Vec::new();
        let mut left = bytes;
        for elem in state.into_iter().chain(rest.iter().copied().cycle()) {
            let Some((piece, others)) = left.split_at_checked(size(elem)).filter(|_| !left.is_empty()) else {
                break;
            };
            pieces.push((elem, piece));
            left = others;
        }
        pieces
    }

    /// The bits of the result for the bytes of the operands.
    pub fn eval(&self, bytes: &[u8]) -> u64 {
        let bits = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let args: Vec<(Elem, u64)> = self.split(bytes).into_iter().map(|(elem, bytes)| (elem, bits(bytes))).collect();
        match (self, args.as_slice()) {
            (Function::Converted(converted), [(_, element), param @ ..]) => {
                converted.eval(*element, param.first().map(|p| p.1))
            }
            (Function::Mapped { func, to, .. }, args) => func.eval(*to, args),
            (Function::Fold { func, to, args: types }, [(state, start), steps @ ..]) => {
                let n = types.iter().flatten().count().max(1);
                let step = |s: u64, args: &[(Elem, u64)]| {
                    let all: SmallVec<[(Elem, u64); 5]> =
                        [(*state, s)].into_iter().chain(args.iter().copied()).collect();
                    func.eval(*state, &all)
                };
                tessera_isa::sem::convert(*state, *to, steps.chunks(n).fold(*start, step))
            }
            _ => 0,
        }
    }
}

impl Converted {
    fn eval(&self, element: u64, param: Option<u64>) -> u64 {
        let Fixpipe { src, dst, relu, .. } = self.fixpipe;
        let param = match self.quantized {
            Quantized::No if !relu => return tessera_isa::sem::convert(src, dst, element),
            Quantized::No => None,
            Quantized::Data => Some(QuantParam::vector(param.unwrap_or(0))),
            Quantized::Fixed { scale, shift, offset } => {
                Some(QuantParam { scale: f32::from_bits(scale), shift, offset, signed: false })
            }
        };
        self.fixpipe.apply(element as u32, param.as_ref())
    }
}

/// The quantization parameter of a function: only what the function uses of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantized {
    /// None: a plain conversion.
    No,
    /// Known.
    Fixed {
        /// The bits of the scale.
        scale: u32,
        /// The shift of i32→i16.
        shift: u32,
        /// The offset of i8 and u8 results.
        offset: i32,
    },
    /// An operand.
    Data,
}

/// A parameter on its way into a function.
pub enum Param {
    /// None: a plain conversion.
    None,
    /// Known.
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
        Conversion::Value { src, dst } => Fixpipe { src, dst, relu: false, hardware_rounding: false },
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
    fixpipe.relu &= fixpipe.dst != Elem::U8;
    (Function::Converted(Converted { fixpipe, quantized }), param)
}
