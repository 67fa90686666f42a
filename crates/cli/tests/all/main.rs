//! The tests of the crate as one program: each of its own would be linked by itself.

mod every_instruction;
mod findings;
mod language;
mod limits;
mod links;
mod options;
mod origins;
mod outputs;
mod pages;
mod reference;
mod render;
mod rule_pages;
mod sarif;
mod sweep;
mod terminal;
