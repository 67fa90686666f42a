//! The intrinsics as data: how Rust and Python declare the instructions of the table.

pub mod python;
pub mod rust;
