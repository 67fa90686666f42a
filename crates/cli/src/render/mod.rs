//! How things look: diagnostics, tables, tile layouts. Nothing here decides anything.

pub mod diagnostic;
pub mod example;
pub mod grid;
pub(crate) mod json;
pub(crate) mod legality;
pub mod map;
mod svg;
pub mod table;
pub(crate) mod tile;
pub mod values;

/// Every page fits a terminal of this many columns.
pub const WIDTH: usize = 100;
