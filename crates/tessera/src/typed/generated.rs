//! The intrinsics of the instruction table's rows outside the layout set, by family.

mod elementwise;
mod irregular;
mod matrix;
mod memory;
mod reduce;
mod scalar;

pub use elementwise::*;
pub use irregular::*;
pub use matrix::*;
pub use memory::*;
pub use reduce::*;
pub use scalar::*;
