//! Runs PTO programs byte for byte.
//!
//! An instruction about to be issued (`isa::Inst`) is [`lower`]ed to **nests** ([`nest`]): loops over the bytes of its
//! operands. Nests are run by **kernels** ([`kernels`]), the faster twins of `Func::eval`. The [`engine`] holds the memories and the tiles in them, keeps what it has lowered, and runs it again; [`defined`] says
//! which bytes have been written. The interpreter of whole programs ([`interp`]) and the intrinsics hand their
//! instructions to that one engine. [`origin`] runs the same nests on terms instead of bytes.

pub mod defined;
pub mod engine;
pub mod interp;
pub mod kernels;
pub mod lower;
pub mod nest;
pub mod origin;
