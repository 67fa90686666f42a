//! How things look: diagnostics, tables, tile layouts. Nothing here decides anything.

pub mod diagnostic;
pub mod document;
pub mod example;
pub(crate) mod json;
pub(crate) mod legality;
pub(crate) mod sarif;
pub mod table;
pub mod timeline;
pub mod values;

pub use tessera_draw::{grid, map, tile};

use std::sync::atomic::{AtomicUsize, Ordering};

/// Every page fits a terminal of this many columns.
pub const WIDTH: usize = 100;

/// The narrowest terminal that pages are made for.
const NARROWEST: usize = 60;

static COLUMNS: AtomicUsize = AtomicUsize::new(WIDTH);

/// Makes pages for a terminal with so many columns; what is wider than usual is not used.
pub fn set_width(columns: usize) {
    COLUMNS.store(columns.clamp(NARROWEST, WIDTH), Ordering::Relaxed);
}

/// How wide pages may be.
pub fn width() -> usize {
    COLUMNS.load(Ordering::Relaxed)
}
