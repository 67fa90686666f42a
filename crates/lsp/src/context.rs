//! The syntactic context of a place, derived from tokens alone, so that it works in an unfinished statement.

use crate::snapshot::Snapshot;
use tessera_asm::{Tok, Token};
use tessera_isa::diag::Span;
use tessera_isa::ops::{AttrName, Opcode};

/// A bracket that is open at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// `<…>` of a type, with the type's name.
    Type,
    /// `<…>` of something else: `#pto<…>`, a pipe.
    Angle,
    /// `{…}`.
    Braces,
    /// `(…)`, `[…]`, and whether it belongs to `outs`.
    Round(bool),
}

/// The syntactic context of a place.
#[derive(Debug)]
pub struct Context<'a> {
    /// The word before the place, with its sign.
    pub word: &'a str,
    pub word_span: Span,
    /// The mnemonic of the statement, `pto.` left out, if one stands before the word.
    pub mnemonic: Option<&'a str>,
    /// The innermost open bracket, with the token before it.
    pub open: Option<(Open, &'a str)>,
    /// Commas before the place, in the innermost bracket.
    pub commas: usize,
    /// The key whose value stands here: `key = …`.
    pub key: Option<&'a str>,
    /// Whether a type belongs here: behind `:` or `->`.
    pub after_colon: bool,
    /// Whether only results precede the word.
    pub at_start: bool,
    /// Whether nothing precedes the word.
    pub is_first: bool,
    /// The start of the statement.
    pub start: u32,
}

/// A byte of a word, or of a name with its sign.
pub fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-')
}

impl<'a> Context<'a> {
    pub fn new(snapshot: &'a Snapshot, at: u32) -> Context<'a> {
        let (text, tokens) = (&snapshot.text, &snapshot.tokens().list);
        let bytes = text.text.as_bytes();
        let mut start = (at as usize).min(bytes.len());
        while start > 0 && bytes.get(start - 1).copied().is_some_and(is_word) {
            start -= 1;
        }
        if start > 0 && matches!(bytes.get(start - 1), Some(b'%' | b'@' | b'!' | b'#')) {
            start -= 1;
        }
        let word_span = Span::new(start as u32, at);
        let before = tokens.partition_point(|t| t.span.start < word_span.start);
        let tokens = tokens.get(..before).unwrap_or_default();
        let statement = tokens.get(statement(snapshot, tokens)..).unwrap_or_default();
        let (line, _) = text.indent(word_span.start);
        let is_first = text.slice(Span::new(line, word_span.start)).trim().is_empty();
        let fresh = |start: u32| Context {
            word: text.slice(word_span),
            word_span,
            mnemonic: None,
            open: None,
            commas: 0,
            key: None,
            after_colon: false,
            at_start: true,
            is_first,
            start,
        };
        let mut context = fresh(statement.first().map_or(word_span.start, |t| t.span.start));
        context.follow(snapshot, statement);
        // A word that is first on its line starts a statement, unless the one before is still open.
        match is_first && context.open.is_none() && !continues(tokens.last()) {
            true => fresh(word_span.start),
            false => context,
        }
    }

    fn follow(&mut self, snapshot: &'a Snapshot, statement: &[Token]) {
        let slice = |t: &Token| snapshot.text.slice(t.span);
        // Open brackets, each with what stood outside of it.
        let mut stack: Vec<(Option<(Open, &'a str)>, usize)> = Vec::new();
        let mut last: Option<Token> = None;
        let mut results = true;
        for token in statement {
            let name = last.as_ref().map_or("", slice);
            let opened = match token.kind {
                Tok::Less if name.starts_with('!') || name == "memref" || name == "vector" => Some(Open::Type),
                Tok::Less => Some(Open::Angle),
                Tok::LBrace => Some(Open::Braces),
                Tok::LParen | Tok::LBracket => Some(Open::Round(name == "outs")),
                _ => None,
            };
            if let Some(opened) = opened {
                stack.push((self.open, self.commas));
                (self.open, self.commas) = (Some((opened, name)), 0);
                self.after_colon = false;
            }
            match token.kind {
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::Greater => {
                    (self.open, self.commas) = stack.pop().unwrap_or((None, 0));
                }
                Tok::Comma => self.commas += 1,
                Tok::Colon | Tok::Arrow => self.after_colon = true,
                Tok::Word if name != "outs" && slice(token) == "outs" => self.after_colon = false,
                Tok::Str | Tok::Word if self.mnemonic.is_none() && self.open.is_none() => {
                    let word = slice(token).trim_matches('"');
                    self.mnemonic = Some(word.strip_prefix("pto.").unwrap_or(word));
                }
                _ => {}
            }
            self.key = match token.kind {
                Tok::Equal if !results || self.open.is_some() => Some(name),
                _ => None,
            };
            results &= matches!(token.kind, Tok::Percent | Tok::Comma | Tok::Equal | Tok::Colon | Tok::Int);
            last = Some(*token);
        }
        if results {
            self.after_colon = false;
        }
        self.at_start = results && last.is_none_or(|t| t.kind == Tok::Equal);
    }

    /// The instruction of the statement.
    pub fn opcode(&self) -> Option<Opcode> {
        Opcode::parse(self.mnemonic?)
    }

    /// The attribute of the statement's instruction whose value stands here.
    pub fn attribute(&self) -> Option<AttrName> {
        let key = self.key?;
        self.opcode()?.info().attrs.iter().copied().find(|attr| attr.name() == key)
    }
}

/// The start of the statement that continues behind these tokens.
fn statement(snapshot: &Snapshot, tokens: &[Token]) -> usize {
    let starts = |n: usize| {
        let Some(token) = tokens.get(n) else { return false };
        let before = n.checked_sub(1).and_then(|n| tokens.get(n));
        let next = tokens.get(n + 1).map(|t| t.kind);
        let word = snapshot.text.slice(token.span);
        match token.kind {
            _ if before.is_some_and(|t| t.kind == Tok::End) => true,
            _ if !token.first => false,
            Tok::Percent => matches!(next, Some(Tok::Equal | Tok::Colon | Tok::Comma)) && !continues(before),
            Tok::Word => !matches!(word, "outs" | "else" | "do") && !continues(before),
            Tok::Str => !continues(before),
            Tok::RBrace | Tok::Caret | Tok::Hash | Tok::Bang => !continues(before),
            _ => false,
        }
    };
    let start = (0..tokens.len()).rev().find(|n| starts(*n)).unwrap_or(0);
    match tokens.last().map(|last| last.kind) {
        // Behind the end of a statement a new one starts.
        Some(Tok::End) => tokens.len(),
        Some(Tok::LBrace | Tok::RBrace) if is_region(snapshot, tokens.get(start..).unwrap_or_default()) => tokens.len(),
        _ => start,
    }
}

/// Whether a statement continues behind this token, on whatever line the next token is.
fn continues(before: Option<&Token>) -> bool {
    let kind = before.map(|t| t.kind);
    matches!(kind, Some(Tok::Comma | Tok::Equal | Tok::Colon | Tok::Arrow | Tok::LParen | Tok::LBracket))
}

/// Whether the brace at the end of a statement opens a region rather than attributes. A region's brace is the last
/// token of its line, and instructions have no region.
fn is_region(snapshot: &Snapshot, statement: &[Token]) -> bool {
    let Some(last) = statement.last() else { return false };
    let end = snapshot.text.line_end(last.span.start);
    let is_last = snapshot.text.slice(Span::new(last.span.end, end)).trim().is_empty();
    let word = statement.iter().find(|t| matches!(t.kind, Tok::Word | Tok::Str));
    let name = word.map_or("", |t| snapshot.text.slice(t.span).trim_matches('"'));
    let is_list = statement.iter().rev().nth(1).is_some_and(|t| snapshot.text.slice(t.span) == "attributes");
    is_last && !is_list && Opcode::parse(name.strip_prefix("pto.").unwrap_or(name)).is_none()
}
