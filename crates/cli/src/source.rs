//! A source text with its lines, so that spans can be shown as line and column.

use std::path::Path;
use tessera_isa::diag::Span;

/// A named text.
#[derive(Debug)]
pub struct Source {
    /// What messages call it.
    pub name: String,
    /// The text.
    pub text: String,
    /// Where each line starts.
    lines: Vec<usize>,
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Source {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: String) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Source { name: name.into(), lines: std::iter::once(0).chain(starts).collect(), text }
    }

    /// The text of a file; `-` is standard input. Bytes that are no text are shown as such.
    pub fn of_file(file: &Path, bytes: Vec<u8>) -> Self {
        let name = if file == Path::new("-") { "<stdin>".into() } else { file.display().to_string() };
        let text = String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        Source::new(name, text)
    }

    /// The line (from 0) that a byte stands in.
    pub fn line_of(&self, byte: usize) -> usize {
        self.lines.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The bytes of a line (from 0), without its end.
    pub fn line_range(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.lines.get(line).copied().unwrap_or(self.text.len());
        let end = self.lines.get(line + 1).map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    /// A span as byte positions that lie inside the text, between characters.
    pub fn clamp(&self, span: Span) -> std::ops::Range<usize> {
        let start = self.floor(span.start as usize);
        start..self.floor(span.end as usize).max(start)
    }

    /// The last place between characters up to a byte.
    pub fn floor(&self, byte: usize) -> usize {
        let mut at = byte.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// The line (from 1) that a span begins in.
    pub fn line(&self, span: Span) -> usize {
        self.line_of(self.clamp(span).start) + 1
    }

    /// Line and column of a byte position.
    pub fn position(&self, byte: usize) -> Position {
        let line = self.line_of(byte);
        let start = self.line_range(line).start;
        let column = self.text.get(start..byte).map_or(0, |head| head.chars().count());
        Position { line: line + 1, column: column + 1 }
    }
}
