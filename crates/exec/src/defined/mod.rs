//! Which bytes are defined: one bit per byte.

mod area;
mod fast;
mod set;
mod shadow;

pub use area::*;
pub(crate) use fast::*;
pub use set::{ByteSet, Elements, WordMask};
pub(crate) use shadow::*;
