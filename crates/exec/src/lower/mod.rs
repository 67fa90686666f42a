//! From an instruction with all its values to nests that run again and again.

mod combine;
mod compiled;
mod contents;
pub mod data;
mod direct;
mod img2col;
mod inst;
mod params;
pub mod routed;
mod table_access;

pub use combine::*;
pub use compiled::*;
pub use contents::*;
pub use direct::Direct;
pub use inst::*;
pub use params::*;
pub use table_access::*;
