//! The A5 micro instructions: a second instruction table below the tile level, with the meaning of every row.
//!
//! A [`Row`] holds an instruction's operands, results, words, text, pipe, class, rules and meaning ([`Sem`]). The meaning is
//! exact and slow: it works on registers of 256 bytes ([`Reg`]), masks of 256 bits ([`Mask`]) and states of unaligned
//! streams ([`Align`]), byte for byte and with one defined bit a byte. A [`Call`] is one instruction in a program;
//! [`check`](check::check) decides the rules of one, [`run`](run::run) computes it.
//!
//! `docs/spec/micro` specifies the table; a test compares the two.

mod call;
pub mod check;
mod cube;
mod dma;
pub mod footprint;
mod lanes;
mod memory;
pub mod order;
pub mod picture;
pub mod plan;
mod reg;
pub mod rules;
pub mod run;
mod sort;
mod table;
mod types;

pub use call::{Attr, Call, GroupItem, Inst, Item};
pub use reg::{Align, BYTES, Bits, Mask, Reg, Stream};
pub use table::*;
pub use types::{MicroType, Ty, lane_bits, lane_elem};
