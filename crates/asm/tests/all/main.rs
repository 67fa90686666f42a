//! The tests of the crate as one program: each of its own would be linked by itself.

mod convert;
mod dialects;
mod errors;
mod families;
mod forms;
mod locations;
mod mutation;
mod recovery;
mod round_trip;
mod support;
