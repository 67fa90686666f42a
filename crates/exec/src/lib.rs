//! Placeholder.
pub mod convert;
pub mod fixpipe;
pub mod nest;
pub mod kernels;
