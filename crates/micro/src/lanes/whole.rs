//! Twins of lane-wise functions for whole registers: every lane on and defined.

use crate::reg::{Bits, Reg};
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// The NaN that every operation on f32 gives.
const NAN: u32 = 0x7FC0_0000;

/// A function of two whole registers, if it has a twin for the type.
pub(super) fn binary(func: Func, elem: Elem, x: &Reg, y: &Reg) -> Option<Reg> {
    match func {
        Func::Add => of_lanes(elem, x, y, |a, b| a + b, u32::wrapping_add),
        Func::Sub => of_lanes(elem, x, y, |a, b| a - b, u32::wrapping_sub),
        Func::Mul => of_lanes(elem, x, y, |a, b| a * b, u32::wrapping_mul),
        _ => None,
    }
}

fn of_lanes(
    elem: Elem,
    x: &Reg,
    y: &Reg,
    float: impl Fn(f32, f32) -> f32,
    integer: impl Fn(u32, u32) -> u32,
) -> Option<Reg> {
    match elem {
        Elem::F32 => Some(lanes(x, y, |a, b| {
            let value = float(f32::from_bits(a), f32::from_bits(b));
            if value.is_nan() { NAN } else { value.to_bits() }
        })),
        Elem::I32 | Elem::U32 => Some(lanes(x, y, integer)),
        _ => None,
    }
}

fn lanes(x: &Reg, y: &Reg, func: impl Fn(u32, u32) -> u32) -> Reg {
    let mut out = Reg { bytes: x.bytes, defined: Bits::ALL };
    let (lanes, _) = out.bytes.as_chunks_mut::<4>();
    for (to, from) in lanes.iter_mut().zip(y.bytes.as_chunks::<4>().0) {
        *to = func(u32::from_le_bytes(*to), u32::from_le_bytes(*from)).to_le_bytes();
    }
    out
}
