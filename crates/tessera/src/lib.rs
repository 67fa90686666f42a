//! The layout instructions of the PTO tile ISA as a library.
//!
//! [`program`] takes text to results: read, check, plan, run. What it is made of is re-exported: the tile model and the
//! instruction table ([`isa`]), the program between text and bytes ([`ir`]), and the stages.

pub mod program;

pub use program::Program;
pub use tessera_asm as asm;
pub use tessera_check as check;
pub use tessera_exec as exec;
pub use tessera_ir as ir;
pub use tessera_isa as isa;
pub use tessera_plan as plan;
