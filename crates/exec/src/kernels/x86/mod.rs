//! Kernels for x86-64.

pub(super) mod contract;
mod convert;
mod halves;
mod narrow;
mod pair;
mod rows;
mod transpose;
mod vector;

pub(super) use convert::convert;
pub(super) use halves::{Avx2, Avx512};
pub(super) use narrow::narrow;
pub(super) use pair::pair;
pub(super) use rows::rows;
pub(super) use transpose::transpose;
