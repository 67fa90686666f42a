//! Kernels for x86-64.

pub(super) mod contract;
mod convert;
mod cvt;
mod f16;
mod fold;
mod halves;
mod mask;
mod narrow;
mod pair;
mod rows;
mod transpose;
mod vector;

pub(super) use convert::convert;
pub(super) use cvt::to_bytes;
pub(super) use f16::{f16_add, f16_mul, f16_sub, has_f16};
pub(super) use fold::row_fold;
pub(super) use halves::{Avx2, Avx512};
pub(super) use mask::{Question, bits};
pub(super) use narrow::narrow;
pub(super) use pair::pair;
pub(super) use rows::rows;
pub(super) use transpose::transpose;
