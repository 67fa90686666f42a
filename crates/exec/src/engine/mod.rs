//! The one engine: memories, the tiles in them, and the instructions that were made ready.

pub mod cache;
pub mod chip;
mod contents;
pub mod global;
pub mod machine;
pub mod memory;
