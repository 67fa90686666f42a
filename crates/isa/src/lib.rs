//! The PTO tile model and the instruction table: what every other part of Tessera reads.
//!
//! - [`elem`]: element types, with exact codecs in [`codec`];
//! - [`layout`]: a layout is a function from (row, column) to offset, made of digits with strides;
//! - [`tile`]: tile types as written ([`tile::TileType`]) and on a profile ([`tile::Tile`]); `tile_rules`: which are legal ([`tile::Tile::fault`]);
//! - [`profile`]: the three targets, their memories and alignments;
//! - [`ops`]: **the instruction table**, and [`rules`]: every rule id with its text and source;
//! - [`inst`]: one instruction about to be issued, as the verifier and the simulator see it;
//! - [`sem`]: what an instruction does, as steps over index maps, and what an element becomes;
//! - [`diag`]: diagnostics as data.
//!
//! Nothing here knows about text, files or threads.

pub mod codec;
pub mod diag;
pub mod elem;
pub mod inst;
pub mod layout;

pub mod ops;
pub mod profile;
pub mod rules;
pub mod sem;
pub mod tile;
mod tile_rules;
