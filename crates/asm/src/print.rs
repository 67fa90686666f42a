//! Canonical text: printing, reading and printing again gives the same text (syntax.md 5).

mod types;

pub(crate) use types::pad_text;
pub use types::print_type;
