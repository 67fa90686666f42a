//! Placeholder.
pub mod elem;
pub mod layout;
