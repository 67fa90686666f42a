//! The lexer: bytes to tokens, on demand, without allocating.
//!
//! Newlines are blanks inside brackets and modules. In a listing they end a statement (syntax.md 1); the lexer then puts
//! out an [`Tok::End`], so that the grammar never looks at lines.

use crate::sink::Sink;
use crate::trivia::Trivia;
use tessera_isa::diag::{Diagnostic, Span};

/// Longest token; longer ones are refused with `syntax-limit`.
pub(crate) const MAX_TOKEN: usize = 64 * 1024;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "signs are named after themselves")]
pub enum Tok {
    /// `%name`, `%0#1`.
    Percent,
    /// `@name`, `@"name"`.
    At,
    /// `!name`; what follows in `<…>` is scanned by the type parser.
    Bang,
    Hash,
    Caret,
    /// A bare word, dots included.
    Word,
    /// `12`, `0x1F`.
    Int,
    /// `1.5`, `1e3`.
    Float,
    Str,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Less,
    Greater,
    Comma,
    Colon,
    Equal,
    Arrow,
    Minus,
    Question,
    Star,
    /// The end of a statement: `;`, or a newline in a listing.
    End,
    #[default]
    Eof,
}

/// A token with its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Token {
    pub kind: Tok,
    pub span: Span,
    /// Whether it is the first on its line.
    pub first: bool,
}

/// The state of the lexer; copying it is how the parser looks further ahead.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lexer<'a> {
    bytes: &'a [u8],
    pos: usize,
    /// Whether newlines end statements and `#` at the start of a line is a comment.
    pub listing: bool,
    /// Open brackets of all kinds.
    pub depth: u32,
    pub braces: u32,
    last: Tok,
}

fn is_word_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

/// By byte: whether it belongs to a word.
static WORD: [bool; 256] = by_byte(b"_$.");

/// By byte: whether a token may start with it.
static TOKEN: [bool; 256] = by_byte(b"%@!#^\"(){}[]<>,:=-;?*_");

/// Letters, digits and these.
const fn by_byte(mut others: &[u8]) -> [bool; 256] {
    let (mut table, mut n) = ([false; 256], 0);
    while n < table.len() {
        table[n] = (n as u8).is_ascii_alphanumeric();
        n += 1;
    }
    while let [b, rest @ ..] = others {
        table[*b as usize] = true;
        others = rest;
    }
    table
}

pub(crate) fn is_word(b: u8) -> bool {
    WORD[usize::from(b)]
}

fn is_token_start(b: u8) -> bool {
    TOKEN[usize::from(b)]
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let pos = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Lexer { bytes, pos, listing: true, depth: 0, braces: 0, last: Tok::End }
    }

    #[inline]
    fn at(&self, pos: usize) -> u8 {
        self.bytes.get(pos).copied().unwrap_or(0)
    }

    /// Goes on at a byte position; the type scanner uses it.
    pub fn seek(&mut self, pos: usize) {
        self.pos = pos.min(self.bytes.len());
        self.last = Tok::Greater;
    }

    /// Skips everything that is left.
    pub fn stop(&mut self) {
        self.pos = self.bytes.len();
    }

    fn end_of_line(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
    }

    /// Whether the `#` at `pos`, first on its line, is a comment. `#name = …` is an alias.
    fn is_hash_comment(&self, pos: usize) -> bool {
        if !is_word_start(self.at(pos + 1)) {
            return true;
        }
        if !self.listing {
            return false;
        }
        let mut ahead = Lexer { pos: pos + 1, ..*self };
        ahead.skip_while(is_word);
        ahead.skip_while(|b| matches!(b, b' ' | b'\t'));
        ahead.at(ahead.pos) != b'=' || ahead.at(ahead.pos + 1) == b'='
    }

    /// The next token. Comments and blank lines go to `trivia`, bad tokens to `sink`.
    pub fn next(&mut self, sink: &mut Sink, trivia: &mut Trivia) -> Token {
        let mut token = Token::default();
        self.read(&mut token, sink, trivia);
        token
    }

    /// The next token, written where it is kept: one that is copied at once waits for every write before it.
    pub fn read(&mut self, to: &mut Token, sink: &mut Sink, trivia: &mut Trivia) {
        let mut newlines = u32::from(self.pos == 0);
        let start = loop {
            match self.at(self.pos) {
                b'\n' => {
                    newlines += 1;
                    self.pos += 1;
                }
                b' ' | b'\t' | b'\r' | b'\x0C' => self.pos += 1,
                b'/' if self.at(self.pos + 1) == b'/' => newlines = self.comment(newlines, trivia),
                b'#' if newlines > 0 && self.is_hash_comment(self.pos) => newlines = self.comment(newlines, trivia),
                0 if self.pos >= self.bytes.len() => {
                    *to = self.token(Tok::Eof, self.pos, newlines > 0);
                    return;
                }
                b => {
                    if is_token_start(b) {
                        break self.pos;
                    }
                    self.bad_characters(sink);
                }
            }
        };
        let first = newlines > 0;
        if newlines > 1 {
            trivia.blank_before(start as u32);
        }
        if first && self.ends_statement(start) {
            // The token is read again by the next call, which sees no newline before it.
            self.last = Tok::End;
            *to = Token { kind: Tok::End, span: Span::new(start as u32, start as u32), first: false };
            return;
        }
        let kind = self.scan(start, sink);
        *to = self.token(kind, start, first);
    }

    fn token(&mut self, kind: Tok, start: usize, first: bool) -> Token {
        match kind {
            Tok::LParen | Tok::LBracket | Tok::LBrace => self.depth = self.depth.saturating_add(1),
            Tok::RParen | Tok::RBracket | Tok::RBrace => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        match kind {
            Tok::LBrace => self.braces = self.braces.saturating_add(1),
            Tok::RBrace => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        let first = first || self.last == Tok::End;
        self.last = kind;
        Token { kind, span: Span::new(start as u32, self.pos as u32), first }
    }

    /// Whether the newline before the token at `start` ends a statement.
    fn ends_statement(&self, start: usize) -> bool {
        if !self.listing || self.depth > 0 {
            return false;
        }
        if matches!(self.last, Tok::Comma | Tok::Equal | Tok::Colon | Tok::Arrow | Tok::End) {
            return false;
        }
        match self.at(start) {
            b':' | b'{' => false,
            b'-' => self.at(start + 1) != b'>',
            b'o' => self.bytes.get(start..start + 4) != Some(b"outs".as_slice()) || is_word(self.at(start + 4)),
            _ => true,
        }
    }

    /// Notes a comment; gives the newlines to count from here.
    fn comment(&mut self, newlines: u32, trivia: &mut Trivia) -> u32 {
        let end = self.end_of_line(self.pos);
        let mut text_end = end;
        while text_end > self.pos && matches!(self.at(text_end - 1), b' ' | b'\t' | b'\r') {
            text_end -= 1;
        }
        if newlines > 1 {
            trivia.blank_before(self.pos as u32);
        }
        trivia.comment(Span::new(self.pos as u32, text_end as u32), newlines == 0);
        self.pos = end;
        // The newline that ends the comment is still to come.
        0
    }

    /// Reports a run of bytes that start no token, once.
    fn bad_characters(&mut self, sink: &mut Sink) {
        let start = self.pos;
        self.pos += 1;
        while self.pos < self.bytes.len() {
            let b = self.at(self.pos);
            if is_token_start(b) || b.is_ascii_whitespace() || (b == b'/' && self.at(self.pos + 1) == b'/') {
                break;
            }
            self.pos += 1;
        }
        let bad = String::from_utf8_lossy(self.bytes.get(start..self.pos).unwrap_or_default());
        let shown: String = bad.chars().take(8).flat_map(char::escape_default).collect();
        sink.push_lexical(
            Diagnostic::error("syntax-token", format!("`{shown}` starts no token"))
                .at(Span::new(start as u32, self.pos as u32), "not PTO text")
                .help("remove it, or put it into a string or a comment"),
        );
    }

    fn scan(&mut self, start: usize, sink: &mut Sink) -> Tok {
        let b = self.at(start);
        self.pos = start + 1;
        let kind = match b {
            b'(' => Tok::LParen,
            b')' => Tok::RParen,
            b'{' => Tok::LBrace,
            b'}' => Tok::RBrace,
            b'[' => Tok::LBracket,
            b']' => Tok::RBracket,
            b'<' => Tok::Less,
            b'>' => Tok::Greater,
            b',' => Tok::Comma,
            b':' => Tok::Colon,
            b'=' => Tok::Equal,
            b';' => Tok::End,
            b'?' => Tok::Question,
            b'*' => Tok::Star,
            b'-' if self.at(self.pos) == b'>' => {
                self.pos += 1;
                Tok::Arrow
            }
            b'-' => Tok::Minus,
            b'"' => self.string(start, sink),
            b'%' => self.name(start, Tok::Percent, sink),
            b'^' => self.name(start, Tok::Caret, sink),
            b'@' if self.at(self.pos) == b'"' => {
                self.pos += 1;
                self.string(start, sink);
                Tok::At
            }
            b'@' => self.name(start, Tok::At, sink),
            b'!' => self.name(start, Tok::Bang, sink),
            b'#' => self.name(start, Tok::Hash, sink),
            b'0'..=b'9' => self.number(start),
            _ => {
                self.skip_while(is_word);
                Tok::Word
            }
        };
        if self.pos - start > MAX_TOKEN {
            let what = format!("a token of {} bytes is longer than the limit of {MAX_TOKEN}", self.pos - start);
            sink.push_lexical(
                Diagnostic::error("syntax-limit", what)
                    .at(Span::new(start as u32, start as u32 + 16), "starts here")
                    .help("use a shorter name"),
            );
            self.stop();
            return Tok::Eof;
        }
        kind
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        self.pos += rest.iter().position(|b| !belongs(*b)).unwrap_or(rest.len());
    }

    /// `%`, `@` or `^` and a suffix: digits, or letters, digits, `_ $ . -`. The suffix of `!` and `#` has no `-`.
    fn name(&mut self, start: usize, kind: Tok, sink: &mut Sink) -> Tok {
        self.skip_while(is_word);
        let dashes = !matches!(kind, Tok::Bang | Tok::Hash);
        while dashes && self.at(self.pos) == b'-' && self.at(self.pos + 1) != b'>' {
            self.pos += 1;
            self.skip_while(is_word);
        }
        if self.pos == start + 1 {
            self.nameless(start, sink);
        }
        if kind == Tok::Percent && self.at(self.pos) == b'#' && self.at(self.pos + 1).is_ascii_digit() {
            self.pos += 1;
            self.skip_while(|b| b.is_ascii_digit());
        }
        kind
    }

    fn nameless(&self, start: usize, sink: &mut Sink) {
        sink.push_lexical(
            Diagnostic::error("syntax-token", format!("`{}` is not followed by a name", char::from(self.at(start))))
                .at(Span::new(start as u32, start as u32 + 1), "a name belongs here")
                .help("names are digits, or letters, digits, `_`, `$`, `.` and `-`"),
        );
    }

    fn number(&mut self, start: usize) -> Tok {
        if self.at(start) == b'0' && self.at(self.pos) == b'x' && self.at(self.pos + 1).is_ascii_hexdigit() {
            self.pos += 1;
            self.skip_while(|b| b.is_ascii_hexdigit());
            return Tok::Int;
        }
        let digits = |lexer: &mut Self| lexer.skip_while(|b| b.is_ascii_digit());
        digits(self);
        let mut kind = Tok::Int;
        if self.at(self.pos) == b'.' {
            kind = Tok::Float;
            self.pos += 1;
            digits(self);
        }
        if matches!(self.at(self.pos), b'e' | b'E') {
            let sign = usize::from(matches!(self.at(self.pos + 1), b'-' | b'+'));
            if self.at(self.pos + 1 + sign).is_ascii_digit() {
                kind = Tok::Float;
                self.pos += 1 + sign;
                digits(self);
            }
        }
        kind
    }

    fn string(&mut self, start: usize, sink: &mut Sink) -> Tok {
        loop {
            match self.at(self.pos) {
                b'"' => {
                    self.pos += 1;
                    return Tok::Str;
                }
                b'\\' if self.pos + 1 < self.bytes.len() && self.at(self.pos + 1) != b'\n' => self.pos += 2,
                b'\n' => break,
                0 if self.pos >= self.bytes.len() => break,
                _ => self.pos += 1,
            }
        }
        sink.push_lexical(
            Diagnostic::error("syntax-string", "the string is not closed on its line")
                .at(Span::new(start as u32, self.pos as u32), "opened here")
                .help("add the closing `\"`"),
        );
        Tok::Str
    }
}
