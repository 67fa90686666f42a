//! The tests of the crate as one program: each of its own would be linked by itself.

mod codec;
mod codec_small;
mod convert;
mod cost;
mod cvt;
mod diag;
mod elem;
mod fixpipe;
mod func;
mod layout;
mod math;
mod memory;
mod phases;
mod rows;
mod rule_profiles;
mod sources;
mod table;
mod table_matrix;
mod tile;
