//! The PTO tile model and the instruction table: the basis of every other part of Tessera.
//!
//! A **tile** is a rectangle of elements in one of a core's memories (its *location*), of which the *valid region*
//! counts. A **layout** maps element (row, column) to its offset: each axis is split into digits, and each digit has a
//! stride, so that row-major, column-major and boxed layouts are one kind of value. A **profile** is a target: its
//! memories, alignments and element types. The same text means the same program on every profile, and may be legal on
//! some only.
//!
//! An **instruction** is a row of the table: operands by role with the effect on each, attributes, signatures (legal
//! combinations of operands), rules, and its meaning. One instruction about to be issued is an [`inst::Inst`]: its row
//! and the known properties of its operands. Its effect follows from both, as steps over index maps that the simulator
//! runs and the verifier reasons about. A broken rule is a [`diag::Fault`]; with a place in a text it is a
//! [`diag::Diagnostic`].
//!
//! ```
//! use tessera_isa::{elem::Elem, ops::Opcode, profile::Profile, tile::{Loc, TileType}};
//!
//! // An NZ tile: boxes of 16 rows and 8 columns of f32, column by column.
//! let tile = TileType::new(Loc::Mat, Elem::F32, 32, 16).resolve(Profile::A5);
//! assert_eq!((tile.layout().offset(0, 7), tile.layout().offset(1, 0), tile.layout().offset(0, 8)), (7, 8, 256));
//! assert_eq!(Opcode::parse("ttrans").map(|op| op.info().cpp[0]), Some("TTRANS"));
//! ```
//!
//! - [`elem`]: element types, with exact codecs in [`codec`];
//! - [`layout`]: a layout is a function from (row, column) to offset, made of digits with strides;
//! - [`tile`]: tile types as written ([`tile::TileType`]) and on a profile ([`tile::Tile`]); `tile_rules`: which are legal ([`tile::Tile::fault`]);
//! - [`profile`]: the three targets, their memories and alignments;
//! - [`ops`]: **the instruction table**, and [`rules`]: every rule id with its text and source;
//! - [`inst`]: one instruction about to be issued, as the verifier and the simulator see it;
//! - [`sem`]: the meaning of instructions, as steps over index maps, and the functions of elements;
//! - [`cost`]: the costs of instructions, for reports;
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

pub use ops::cost;
