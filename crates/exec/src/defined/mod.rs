//! Which bytes are defined: one bit per byte.

mod area;
mod fast;
mod set;
mod shadow;

pub use area::*;
pub(crate) use fast::*;
pub use set::{ByteSet, WordMask};
pub(crate) use shadow::*;
