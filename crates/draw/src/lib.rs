//! Pictures: where the elements of a tile lie, what an instruction does with them, where tiles lie over time.
//!
//! Everything is drawn from the layout of a type or from the steps of an instruction ([`tessera_isa::sem::steps`]); no
//! picture knows an instruction. Pictures are SVG that follows the reader's choice of light or dark.
//!
//! - [`grid`]: which rows and columns of a tile to show, and the tile as text;
//! - [`tile`]: a tile, in logical order and as it lies in memory;
//! - [`flow`]: which elements an element of a destination is made of; [`instruction`]: the picture of that;
//! - [`map`]: the tiles of a function in their memories over time.

mod colour;
pub mod flow;
pub mod grid;
pub mod instruction;
pub mod map;
pub mod sample;
pub mod svg;
pub mod tile;
