//! Executes PTO instructions byte for byte, one at a time.
//!
//! An instruction about to be issued (`isa::Inst`) is [`lower`]ed to loop nests, which `tessera_kernels` runs. The
//! [`engine`] holds the memories and the tiles in them, keeps what it has compiled, and runs it again. [`definedness`] is the
//! set of bytes that have been written, and how an instruction changes it. The interpreter of programs, the Rust intrinsics
//! and the C ABI issue to one engine.

pub mod definedness;
pub mod engine;
pub mod lower;
