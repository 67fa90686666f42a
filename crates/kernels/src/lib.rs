//! Memory, loop nests and the kernels that run them.
//!
//! A **nest** ([`nest`]) is a loop nest of at most eight dimensions with one stride per operand: what an instruction over
//! tiles is lowered to. A **kernel** is a function that runs a nest over raw memory; it is chosen once by the shape of the
//! nest ([`Kernel`], [`Convert`], [`MapKernel`], [`PackedKernel`]) and has a scalar twin that tests compare it with. A
//! [`Plan`] is the list of kernels of one instruction. [`memory`] holds the bytes that kernels work on.
//!
//! *Architecture Invariant:* all `unsafe` code of the engine is in this crate, and this crate knows neither instructions nor
//! programs. A kernel touches only the elements that its loops reach, every byte of them lies inside the nest's spans, and the
//! spans are checked against the memories before any pointer is made. Source and destination may lie in one memory and
//! interleave, so kernels hold raw pointers and never references to the bytes.

#[macro_use]
mod level;

mod choose;
mod contract;
mod convert;
mod copy;
mod cvt;
mod element;
mod error;
mod fixpipe;
mod fold;
mod function;
mod fused;
mod indices;
mod map;
pub mod memory;
pub mod nest;
mod pack;
mod packed;
mod packed_operand;
mod pair;
mod place;
mod plan;
mod product;
mod raw_map;
mod records;
pub mod registers;
mod row_slice;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use convert::{Conversion, Convert, Params};
pub use copy::Kernel;
pub use error::{Failure, failure, internal_error};
pub use fused::FusedLoop;
pub use indices::{are_below, fold_indices, scatter};
pub use level::Level;
pub use map::{MapKernel, Mapped};
pub use packed::{PackedKernel, PackedOp};
pub use place::{MemoryId, Place, is_buffer, on_core};
pub use plan::{Plan, PlanStep};
pub use product::{LEFT, RIGHT, SUMS};
pub use records::{is_sorted, merge, sort};
pub use row_slice::{FusedOp, FusedStage, RowSlice, run_stages};
pub use scalar::Sides;
