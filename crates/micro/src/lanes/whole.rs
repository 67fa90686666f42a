//! Twins of lane-wise functions for whole registers: every lane on and defined.

use crate::reg::{Bits, Reg};
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// The NaN that every operation on f32 gives.
const NAN: u32 = 0x7FC0_0000;

/// Whether a function has a twin for a type.
pub(super) fn has(func: Func, elem: Elem) -> bool {
    matches!(func, Func::Add | Func::Sub | Func::Mul) && matches!(elem, Elem::F32 | Elem::I32 | Elem::U32)
}

/// A function of two whole registers that [`has`] one.
pub(super) fn binary(func: Func, elem: Elem, x: &Reg, y: &Reg) -> Reg {
    let float = |a: f32, b: f32| match func {
        Func::Add => a + b,
        Func::Sub => a - b,
        _ => a * b,
    };
    let integer = |a: u32, b: u32| match func {
        Func::Add => a.wrapping_add(b),
        Func::Sub => a.wrapping_sub(b),
        _ => a.wrapping_mul(b),
    };
    let mut out = Reg { bytes: x.bytes, defined: Bits::ALL };
    let (lanes, _) = out.bytes.as_chunks_mut::<4>();
    for (to, from) in lanes.iter_mut().zip(y.bytes.as_chunks::<4>().0) {
        let (a, b) = (u32::from_le_bytes(*to), u32::from_le_bytes(*from));
        let bits = if elem == Elem::F32 {
            let value = float(f32::from_bits(a), f32::from_bits(b));
            if value.is_nan() { NAN } else { value.to_bits() }
        } else {
            integer(a, b)
        };
        *to = bits.to_le_bytes();
    }
    out
}
