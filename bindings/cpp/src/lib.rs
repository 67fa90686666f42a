//! The C ABI of Tessera, and the C++ intrinsics on top of it.
//!
//! `include/tessera.h` declares what [`calls`] exports over the types of [`abi`]; `include/pto/pto-inst.hpp` is written
//! in terms of it. A [`TesseraMachine`] is one simulated core: memories, and the findings of its last call.
//!
//! Nothing here decides what an instruction means: descriptors become `tessera-isa` values (`convert`), rules are
//! asked of `tessera-check` and data moves in `tessera-exec`. No panic crosses the boundary.

pub mod abi;
pub mod calls;
mod convert;
mod engine;
mod key;
mod machine;
mod pool;
mod view;

pub use machine::TesseraMachine;
