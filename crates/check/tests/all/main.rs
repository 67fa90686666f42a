//! The tests of the crate as one program: each of its own would be linked by itself.

mod data;
mod overlap;
mod program;
mod robust;
