//! Kernels for x86-64.

mod boxes;
pub(super) mod contract;
mod convert;
mod cvt;
mod dense;
mod fold;
mod forms;
mod fused;
mod halves;
mod in_f32;
mod mask;
mod narrow;
mod pair;
mod product;
mod rows;
mod transpose;
mod transpose_set_conflict;
mod vector;

pub(super) use boxes::boxes;
pub(super) use convert::convert;
pub(super) use cvt::to_bytes;
pub(super) use dense::{bf16_max, bf16_min, bf16_relu, f16_add, f16_max, f16_min, f16_mul, f16_relu, f16_sub, has_f16};
pub(super) use fold::row_fold;
pub(super) use fused::{folded, fused};
pub(super) use halves::{Avx2, Avx512};
pub(super) use in_f32::{
    bf16_add, bf16_add_normal, bf16_mul, bf16_sub, bf16_sub_normal, f16_add_in_f32, f16_mul_in_f32, f16_sub_in_f32,
    has_bf16, has_dot, has_normal_sums,
};
pub(super) use mask::{Question, bits, select};
pub(super) use narrow::narrow;
pub(super) use pair::pair;
pub(super) use product::product;
pub(super) use rows::rows;
pub(super) use transpose::transpose;
