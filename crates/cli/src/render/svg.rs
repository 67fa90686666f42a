//! What pictures share: lines of SVG text. Two pictures need no more than this of a crate.

use std::fmt::{Arguments, Write};

/// A picture that is being written.
#[derive(Debug, Default)]
pub struct Svg(String);

impl Svg {
    /// A line of markup.
    pub fn line(&mut self, text: Arguments) {
        // Writing to a string does not fail.
        let _ = self.0.write_fmt(text);
        self.0.push('\n');
    }

    /// The whole text, closed.
    pub fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Text as markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
