//! Placeholder.
pub mod convert;
pub mod fixpipe;
