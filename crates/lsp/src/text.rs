//! A text with its lines: positions of the protocol (line, UTF-16 units) and byte places, both ways.

use gen_lsp_types::{Position, Range, TextDocumentContentChangeEvent, TextEdit};
use std::sync::Arc;
use tessera_isa::diag::Span;

/// A text and where its lines start.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: Arc<str>,
    starts: Vec<u32>,
}

impl Text {
    /// A text; lines end with `\n`, `\r\n` or `\r`.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        let bytes = text.as_bytes();
        let ends = |i: usize, b: u8| b == b'\n' || b == b'\r' && bytes.get(i + 1) != Some(&b'\n');
        let behind = bytes.iter().enumerate().filter(|(i, b)| ends(*i, **b)).map(|(i, _)| i as u32 + 1);
        let starts = std::iter::once(0).chain(behind).collect();
        Text { text, starts }
    }

    /// The bytes of a line, without its end; nothing behind the last line.
    fn line(&self, line: usize) -> (usize, &str) {
        let end = self.text.len();
        let start = self.starts.get(line).map_or(end, |s| *s as usize);
        let next = self.starts.get(line + 1).map_or(end, |s| *s as usize);
        (start, self.text.get(start..next).unwrap_or_default().trim_end_matches(['\n', '\r']))
    }

    /// The line (from 0) that a byte stands in.
    pub fn line_of(&self, byte: u32) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The position of a byte; one inside a character counts as the character's start.
    pub fn position(&self, byte: u32) -> Position {
        let line = self.line_of(byte);
        let (start, text) = self.line(line);
        let mut at = (byte as usize).saturating_sub(start).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let head = text.get(..at).unwrap_or_default();
        let character = if head.is_ascii() { at } else { head.encode_utf16().count() };
        Position { line: line as u32, character: character as u32 }
    }

    /// Positions of bytes that come one after the other.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { text: self, line: 0, is_ascii: None }
    }

    /// The byte of a position; what lies behind the end of a line is its end, and behind the text the text's.
    pub fn offset(&self, position: Position) -> u32 {
        let (start, text) = self.line(position.line as usize);
        let (mut units, mut at) = (position.character as usize, 0);
        for c in text.chars() {
            if units < c.len_utf16() {
                break;
            }
            units -= c.len_utf16();
            at += c.len_utf8();
        }
        (start + at) as u32
    }

    /// A span as a range.
    pub fn range(&self, span: Span) -> Range {
        let start = self.position(span.start);
        Range { start, end: self.position(span.end).max(start) }
    }

    /// A range as a span, the right way round.
    pub fn span(&self, range: Range) -> Span {
        let (a, b) = (self.offset(range.start), self.offset(range.end));
        Span::new(a.min(b), a.max(b))
    }

    /// The whole text.
    pub fn whole(&self) -> Span {
        Span::new(0, self.text.len() as u32)
    }

    /// The bytes of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The blanks that a line starts with, and where it starts.
    pub fn indent(&self, byte: u32) -> (u32, &str) {
        let (start, text) = self.line(self.line_of(byte));
        let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
        (start as u32, text.get(..blanks).unwrap_or_default())
    }

    /// The end of the line of a byte, before its line break.
    pub fn line_end(&self, byte: u32) -> u32 {
        let (start, text) = self.line(self.line_of(byte));
        (start + text.len()) as u32
    }

    /// The text after changes of the client, one after the other.
    pub fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>) -> Text {
        let mut text = self.clone();
        for change in changes {
            text = match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => Text::new(whole.text),
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    text.with(vec![(text.span(part.range), part.text)])
                }
            };
        }
        text
    }

    /// The text with some spans replaced; they do not overlap.
    pub fn with(&self, mut edits: Vec<(Span, String)>) -> Text {
        edits.sort_by_key(|(span, _)| (span.start, span.end));
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (span, new) in edits {
            out.push_str(self.text.get(at..span.start as usize).unwrap_or_default());
            out.push_str(&new);
            at = at.max(span.end as usize);
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        Text::new(out)
    }

    /// Replacements as the protocol wants them.
    pub fn edits(&self, edits: Vec<(Span, String)>) -> Vec<TextEdit> {
        let edit = |(span, new_text): (Span, String)| TextEdit { range: self.range(span), new_text };
        edits.into_iter().map(edit).collect()
    }
}

/// Gives positions from the start of a text to its end.
pub struct Cursor<'a> {
    text: &'a Text,
    line: usize,
    /// Whether the line has only such characters, if that is known.
    is_ascii: Option<bool>,
}

impl Cursor<'_> {
    /// The position of a byte that is not before the last one's line.
    pub fn position(&mut self, byte: u32) -> Position {
        while self.text.starts.get(self.line + 1).is_some_and(|start| *start <= byte) {
            (self.line, self.is_ascii) = (self.line + 1, None);
        }
        let (start, text) = self.text.line(self.line);
        if *self.is_ascii.get_or_insert_with(|| text.is_ascii()) {
            let character = (byte as usize).saturating_sub(start).min(text.len());
            return Position { line: self.line as u32, character: character as u32 };
        }
        self.text.position(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gen_lsp_types::TextDocumentContentChangePartial;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_utf16_units() {
        // `é` is two bytes and one unit, `😀` four bytes and two units.
        let text = Text::new("a\n// é😀x\r\nb\rc");
        assert_eq!(text.position(2), at(1, 0));
        let x = text.text.find('x').unwrap() as u32;
        assert_eq!(text.position(x), at(1, 6));
        assert_eq!(text.offset(at(1, 6)), x);
        // Inside the pair of units is before the character.
        assert_eq!(text.offset(at(1, 5)), x - 4);
        assert_eq!(text.offset(at(1, 99)), x + 1);
        assert_eq!(text.position(text.text.find('b').unwrap() as u32), at(2, 0));
        assert_eq!(text.position(text.text.len() as u32), at(3, 1));
        assert_eq!(text.offset(at(9, 9)), text.text.len() as u32);
        // The end of a line is before its `\r\n`.
        assert_eq!(text.position(x + 2), at(1, 7));
        let mut cursor = text.cursor();
        for byte in 0..=text.text.len() as u32 {
            assert_eq!(cursor.position(byte), text.position(byte), "{byte}");
        }
    }

    #[test]
    fn changes_are_applied_in_their_order() {
        let text = Text::new("one\ntwo\n");
        let part = |range: (Position, Position), text: &str| {
            TextDocumentContentChangeEvent::TextDocumentContentChangePartial(TextDocumentContentChangePartial {
                range: Range { start: range.0, end: range.1 },
                text: text.into(),
                ..Default::default()
            })
        };
        let changed = text.changed(vec![part((at(0, 3), at(1, 0)), " "), part((at(0, 4), at(0, 7)), "2")]);
        assert_eq!(&*changed.text, "one 2\n");
        // A range that is upside down or behind the end does no harm.
        assert_eq!(&*text.changed(vec![part((at(7, 0), at(0, 3)), "!")]).text, "one!");
    }
}
