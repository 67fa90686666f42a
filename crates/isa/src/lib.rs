//! Placeholder.
pub mod codec;
pub mod elem;
pub mod layout;
