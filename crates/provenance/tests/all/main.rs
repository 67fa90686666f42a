//! The tests of the crate as one program: each of its own would be linked by itself.

mod normal;
mod terms;
