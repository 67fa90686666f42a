//! Definedness: one bit per byte, and how an instruction changes it.

mod all_defined;
mod transfer;

pub use all_defined::*;
pub use transfer::*;
