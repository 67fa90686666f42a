//! From an instruction with all its values to nests that run again and again.

mod combine;
mod contents;
pub(crate) mod data;
mod direct;
mod img2col;
mod inst;
mod params;
mod prepared;
pub(crate) mod routed;
mod table;

pub(crate) use combine::*;
pub(crate) use contents::*;
pub(crate) use direct::Direct;
pub(crate) use inst::*;
pub(crate) use params::*;
pub use prepared::Failure;
pub(crate) use prepared::*;
pub(crate) use table::*;
