//! Runs PTO programs byte for byte.
//!
//! An instruction is lowered to **nests** ([`nest`]) and run by **kernels** ([`kernels`]); what comes out of an
//! accumulator is converted by [`fixpipe`], other converting moves by [`convert`]. [`memory`] holds the bytes and which
//! of them are defined; [`prepared`] is an instruction made ready to run again and again.

pub mod area;
mod chip;
pub mod convert;
pub mod fixpipe;
mod global;
mod img2col;
pub mod interp;
mod joined;
pub mod kernels;
mod lower;
pub mod machine;
pub mod memory;
pub mod nest;
pub mod origin;
pub mod prepared;
mod quant;
mod ready;
pub mod reference;
mod usual;
