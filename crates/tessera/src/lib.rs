//! The PTO tile ISA as a library.
//!
//! A [`Program`] is text that runs on arrays:
//!
//! ```
//! use tessera::{Profile, Program};
//!
//! let program = Program::parse("%t = pto.ttrans %s : !pto.tile<8x16xf32> -> !pto.tile<16x8xf32>")?;
//! let matrix: Vec<f32> = (0..128).map(|i| i as f32).collect();
//! let outputs = program.entry()?.on(Profile::A5).input("s", &matrix)?.run()?;
//! assert_eq!(outputs.get::<f32>("t")?[..3], [0.0, 16.0, 32.0]);
//! # Ok::<(), tessera::Error>(())
//! ```
//!
//! A [`Machine`] simulates one core of a profile. [`Tile`]s live on it, with location, element type, shape and layout as
//! their Rust type, and every instruction is a function on tiles, destination first:
//!
//! ```
//! use tessera::prelude::*;
//!
//! let machine = Machine::new(Profile::A5);
//! let mut src: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
//! let mut dst: Tile<loc::Vec, f32, 16, 8> = machine.tile()?;
//! let data: Vec<f32> = (0..128).map(|i| i as f32).collect();
//!
//! tload(&mut src, &data)?;
//! ttrans(&mut dst, &src)?;
//!
//! let mut out = vec![0.0f32; 128];
//! tstore(&mut out, &dst)?;
//! assert_eq!(out[..3], [0.0, 16.0, 32.0]);
//! # Ok::<(), tessera::Error>(())
//! ```
//!
//! - [`typed`]: the tiles and the intrinsics. What types decide is a compile error, the rest an [`Error`] with a rule id;
//! - [`dynamic`]: the same for tools, with types that are known at run time;
//! - [`program`]: text to results: read, check, plan, run;
//! - [`info`]: what kernels a program has, and what they need; [`case`]: a program with what must come of it;
//! - [`mod@equiv`], [`trace`]: whether two programs are equal for all inputs, and where an element comes from;
//! - [`costs`]: other costs than the published ones, for [`Kernel::timeline`];
//! - [`opt`]: a shorter program that provably does the same;
//! - [`npy`]: arrays as numpy reads and writes them; [`fill`]: arrays that need no file; [`mod@compare`]: is an output right?
//!
//! # No panics
//!
//! No value that is handed to this library makes it panic: an index, an extent, a length or a parameter that does not fit
//! is an [`Error`] which names it. Tests throw hostile values at every intrinsic.

#![warn(missing_docs)]

pub mod case;
pub mod compare;
pub mod costs;
pub mod dynamic;
pub mod equiv;
mod error;
pub mod fill;
pub mod formula;
pub mod info;
pub mod intrinsics;
mod machine;
pub mod npy;
pub mod opt;
pub mod program;
mod symbolic;
pub mod trace;
pub mod typed;
mod witness;

pub use dynamic::{Instruction, TileBuf};
pub use error::{Error, ErrorKind, Missing, Result};
pub use half::{bf16, f16};
pub use machine::{Machine, RecordEvent, TileOptions, tsync};
pub use program::{Kernel, Literal, OrderMode, OrderOptions, OrderReport, Outputs, Program, Verdict};
pub use tessera_ir::{Dialect, TextForm};
pub use tessera_isa::codec::Number;
pub use tessera_isa::diag::{Diagnostic, Severity, Span};
pub use tessera_isa::elem::Elem;
pub use tessera_isa::inst::{
    AccToVec, AtomicType, Attrs, Cmp, Coalesce, ConvType, F32Rounding, GatherOob, PadMode, Precision, Relu,
    ScatterAtomic, ScatterOob, Split, ViewTag,
};
pub use tessera_isa::ops::{AttrName, Form, Opcode, Role};
pub use tessera_isa::profile::Profile;
pub use tessera_isa::sem::{Rounding, Saturation};
pub use tessera_isa::tile::{BLayout, Compact, Extent, Loc, Pad, PadLiteral, SLayout, TileType};
pub use typed::{ConvTile, Element, F4E1M2, F4E2M1, F8E4M3, F8E5M2, F8E8M0, Hif8, Tile, layout, loc};

/// The names that a program with intrinsics imports.
pub mod prelude {
    pub use crate::typed::*;
    pub use crate::{AccToVec, Cmp, Compact, Pad, PadLiteral, Profile, Rounding, Saturation, Split, ViewTag};
    pub use crate::{Machine, RecordEvent, TileBuf, TileOptions, bf16, f16, tsync};
}

/// The guide's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Guide;
