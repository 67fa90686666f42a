//! Numbers of the C ABI: elements and their bits, and arithmetic on floats. Pointers are as in [`crate::calls`].
#![allow(clippy::missing_safety_doc, reason = "the module comment of `calls` says it for all")]

use crate::abi::TesseraStatus;
use crate::convert;
use tessera_ir::FloatOp;
use tessera_ir::float::float;
use tessera_isa::codec::{Number, Overflow};

/// The value of an element's bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_decode(elem: u32, bits: u64, value: *mut f64) -> TesseraStatus {
    // SAFETY: null, or a place for a value (module comment of `calls`).
    let (Ok(elem), Some(out)) = (convert::elem(elem), unsafe { value.as_mut() }) else {
        return if value.is_null() { TesseraStatus::Null } else { TesseraStatus::Argument };
    };
    *out = match elem.decode(bits) {
        Number::Int(v) => v as f64,
        Number::Float(v) => v,
    };
    TesseraStatus::Ok
}

/// One operation on floats of a type as programs compute it; operands that it does not have do not count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_float(op: u32, elem: u32, a: f64, b: f64, c: f64, result: *mut f64) -> TesseraStatus {
    // SAFETY: null, or a place for a value (module comment of `calls`).
    let Some(out) = (unsafe { result.as_mut() }) else { return TesseraStatus::Null };
    let (Ok(op), Ok(elem)) = (convert::word(FloatOp::ALL, op, "operation"), convert::elem(elem)) else {
        return TesseraStatus::Argument;
    };
    *out = float(op, elem, [a, b, c]);
    TesseraStatus::Ok
}

/// The bits of the element nearest to a value; beyond the largest one it is that one, infinities stay where there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_encode(elem: u32, value: f64, bits: *mut u64) -> TesseraStatus {
    // SAFETY: null, or a place for a value (module comment of `calls`).
    let (Ok(elem), Some(out)) = (convert::elem(elem), unsafe { bits.as_mut() }) else {
        return if bits.is_null() { TesseraStatus::Null } else { TesseraStatus::Argument };
    };
    *out = elem.encode_f64(value, Overflow::Saturate);
    TesseraStatus::Ok
}
