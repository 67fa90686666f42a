//! The C ABI of Tessera, and the C++ intrinsics on top of it.
//!
//! `include/tessera.h` declares what [`calls`] and [`numbers`] export over the types of [`abi`]; `include/pto/pto-inst.hpp` is written
//! in terms of it. A [`TesseraMachine`] is one simulated core: memories, and the findings of its last call.
//!
//! Nothing here decides what an instruction means: descriptors become `tessera-isa` values (`convert`), and the engine
//! of `tessera-exec` takes them. No panic crosses the boundary.

pub mod abi;
pub mod addresses;
pub mod again;
pub mod calls;
mod convert;
mod machine;
pub mod matrix;
pub mod numbers;
mod places;
pub mod races;
mod view;

pub use machine::TesseraMachine;
