//! Moving over tokens, and saying what is missing.

use super::{Failed, MAX_DEPTH, Parser, Raw, RawArg, Raws, Res, TypeAt, Types};
use crate::dialect::{Part, shape};
use crate::lex::{MAX_TOKEN, Tok, Token};
use crate::print::print_type;
use crate::sink::shown;
use crate::types::{self, Fields, Piece};
use smallvec::smallvec;
use tessera_ir::{Type, TypeId};
use tessera_isa::diag::{Diagnostic, Span};

/// The number of recent types that are compared before the text of a type is scanned.
const RECENT_TYPES: usize = 6;

impl<'a> Parser<'a> {
    pub(super) fn bump(&mut self) -> Token {
        let token = self.tok;
        if token.kind != Tok::End || token.span.start < token.span.end {
            self.prev = token.span;
        }
        self.lex.read(&mut self.tok, &mut self.sink, &mut self.trivia);
        token
    }

    /// The token after the next one.
    pub(super) fn second(&mut self) -> Token {
        let mut ahead = self.lex;
        let mut quiet = crate::sink::Sink::default();
        ahead.next(&mut quiet, &mut self.trivia)
    }

    pub(super) fn at(&self, kind: Tok) -> bool {
        self.tok.kind == kind
    }

    pub(super) fn eat(&mut self, kind: Tok) -> bool {
        let here = self.at(kind);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The text of the next token.
    pub(super) fn here(&self) -> &'a str {
        self.slice(self.tok.span)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.at(Tok::Word) && self.here() == word
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.at_word(word);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn at_end(&self) -> bool {
        matches!(self.tok.kind, Tok::End | Tok::Eof | Tok::RBrace)
    }

    pub(super) fn fail<T>(
        &mut self,
        rule: &'static str,
        span: Span,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Res<T> {
        self.fail_at(rule, (span, ""), what, help)
    }

    /// Reports an error and names the place.
    pub(super) fn fail_at<T>(
        &mut self,
        rule: &'static str,
        (span, label): (Span, &str),
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Res<T> {
        self.sink.push(Diagnostic::error(rule, what).at(span, label).help(help));
        Err(Failed)
    }

    /// Reports a definition of what is defined already.
    pub(super) fn redefined<T>(&mut self, what: String, again: Span, first: Span) -> Res<T> {
        self.push(
            Diagnostic::error("redefined-name", what)
                .at(again, "defined again")
                .and_at(first, "first defined here")
                .help("give one of them another name"),
        );
        Err(Failed)
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.sink.push(diagnostic);
    }

    /// The name of the next token in messages.
    pub(super) fn found(&self) -> String {
        match self.tok.kind {
            Tok::Eof => "the end of the text".into(),
            Tok::End if self.here() == ";" => "`;`".into(),
            Tok::End => "the end of the line".into(),
            _ => format!("`{}`", shown(self.here())),
        }
    }

    /// Reports that something else belongs here.
    pub(super) fn expected<T>(&mut self, what: &str) -> Res<T> {
        if self.stopped || self.after_bad_token() {
            return Err(Failed);
        }
        let found = self.found();
        // An end of line has no text to mark; what stands before it has.
        let span = if self.here().is_empty() || self.at_next_function() { self.prev } else { self.tok.span };
        let text = format!("{what} is expected here, and {found} is written");
        self.fail("syntax-expected", span, text, format!("write {what} here"))
    }

    /// Reports an error unless the token is next. The token is not taken.
    pub(super) fn need(&mut self, kind: Tok, what: &str) -> Res<()> {
        if self.at(kind) { Ok(()) } else { self.expected(what) }
    }

    pub(super) fn expect(&mut self, kind: Tok, what: &str) -> Res<Token> {
        if self.at(kind) { Ok(self.bump()) } else { self.expected(what) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Res<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// Items with commas between them, up to the bracket that closes `open`.
    pub(super) fn items(&mut self, open: Span, close: Tok, mut item: impl FnMut(&mut Self) -> Res<()>) -> Res<()> {
        while !self.at(close) {
            item(self)?;
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(close, open).map(|_| ())
    }

    /// The same, as a list.
    pub(super) fn list_of<T, L: Default + Extend<T>>(
        &mut self,
        open: Span,
        close: Tok,
        item: impl Fn(&mut Self) -> Res<T>,
    ) -> Res<L> {
        let mut out = L::default();
        self.items(open, close, |p| {
            out.extend([item(p)?]);
            Ok(())
        })?;
        Ok(out)
    }

    /// `%a, %b)` or `%a, %b]`.
    pub(super) fn operand_list(&mut self, open: Span, close: Tok) -> Res<Raws> {
        self.list_of(open, close, Self::operand)
    }

    pub(super) fn close(&mut self, kind: Tok, open: Span) -> Res<Token> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        let what = match kind {
            Tok::RParen => "`)`",
            Tok::RBrace => "`}`",
            Tok::RBracket => "`]`",
            _ => "`>`",
        };
        if self.at(Tok::Eof) {
            return self.unclosed(open);
        }
        if kind == Tok::RBrace && self.at_module_op() {
            return self.not_closed(open);
        }
        self.expected(what)
    }

    pub(super) fn unclosed<T>(&mut self, open: Span) -> Res<T> {
        if self.stopped || self.after_bad_token() {
            return Err(Failed);
        }
        self.give_up();
        self.not_closed(open)
    }

    fn not_closed<T>(&mut self, open: Span) -> Res<T> {
        // If one brace is missing, the enclosing ones cannot be told apart.
        let here = Some(self.tok.span.start);
        if std::mem::take(&mut self.open_region) || std::mem::replace(&mut self.missing_brace, here) == here {
            return Err(Failed);
        }
        let text = format!("this `{}` is never closed", shown(self.slice(open)));
        self.fail_at("syntax-unclosed", (open, "opened here"), text, "add the closing bracket")
    }

    /// Whether the statement has a token that was reported.
    fn after_bad_token(&self) -> bool {
        self.sink.bad_token.is_some_and(|at| at >= self.statement_at)
    }

    /// Reads no further.
    pub(super) fn give_up(&mut self) {
        self.stopped = true;
        self.lex.stop();
        let end = self.text.len() as u32;
        self.tok = Token { kind: Tok::Eof, span: Span::new(end, end), first: true };
    }

    /// One level deeper; text that nests too deep is given up.
    pub(super) fn enter(&mut self, at: Span) -> Res<()> {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            return Ok(());
        }
        if self.stopped {
            return Err(Failed);
        }
        self.give_up();
        let text = format!("brackets and regions nest deeper than {MAX_DEPTH}");
        self.fail_at("syntax-nesting", (at, "one too deep"), text, "move the inner part into a function of its own")
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether the next token directly follows the last one.
    pub(super) fn adjacent(&self) -> bool {
        self.tok.span.start == self.prev.end
    }

    /// An integer literal without sign, of at most 64 bits.
    pub(super) fn integer(&mut self) -> Res<i128> {
        let token = self.expect(Tok::Int, "an integer")?;
        let text = self.slice(token.span);
        let parsed = match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => text.parse::<u64>(),
        };
        parsed.map(i128::from).or_else(|_| {
            let what = format!("{} does not fit into 64 bits", shown(text));
            self.fail("syntax-integer", token.span, what, "use a smaller number")
        })
    }

    /// An integer literal that fits i64, with optional sign.
    pub(super) fn signed(&mut self) -> Res<i64> {
        let start = self.tok.span;
        let negative = self.eat(Tok::Minus);
        let n = self.integer()?;
        let n = if negative { -n } else { n };
        i64::try_from(n).or_else(|_| {
            let what = format!("{n} does not fit into a signed 64-bit integer");
            self.fail("syntax-integer", start.to(self.prev), what, "use a smaller number")
        })
    }

    pub(super) fn float(&mut self) -> Res<f64> {
        let token = self.bump();
        let text = self.slice(token.span);
        match text.parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(v),
            _ => {
                let what = format!("{} is no float of 64 bits", shown(text));
                self.fail("syntax-float", token.span, what, "use a smaller number")
            }
        }
    }

    /// `%name` or a literal.
    pub(super) fn operand(&mut self) -> Res<Raw> {
        let start = self.tok.span;
        let what = match self.tok.kind {
            Tok::Percent => {
                self.bump();
                RawArg::Name(self.name_of(start))
            }
            Tok::Int | Tok::Minus => RawArg::Int(self.signed()?),
            Tok::Float => {
                let text = "a float literal cannot be an operand";
                return self.fail("syntax-form", start, text, "define it with arith.constant");
            }
            _ => return self.expected("an operand `%name`"),
        };
        Ok(Raw { what, span: start.to(self.prev), ty: None })
    }

    pub(super) fn ty(&mut self) -> Res<TypeAt> {
        let start = self.tok.span.start;
        // A type that ends in its bracket ends there whatever follows.
        let here = &self.text[start as usize..];
        if let Some((text, id)) = self.recent_types.iter().find(|(text, _)| here.starts_with(text)).copied() {
            let span = Span::new(start, start + text.len() as u32);
            self.go_on_behind(span);
            return Ok((id, span));
        }
        let piece = self.scan_type()?;
        let span = piece.span();
        if let Some(id) = self.types.get(piece.text).copied() {
            self.remember_type(piece.text, id);
            return Ok((id, span));
        }
        let ty = self.type_of(piece, &mut Fields::default()).map_err(|diagnostic| {
            self.push(*diagnostic);
            Failed
        })?;
        self.has_strides |= piece.text.contains("strided<");
        self.mark_type(piece.text, &ty, span);
        let id = self.module.types.intern(ty);
        self.types.insert(piece.text, id);
        self.remember_type(piece.text, id);
        Ok((id, span))
    }

    /// Notes spellings of types that some version lacks.
    fn mark_type(&mut self, text: &str, ty: &Type, span: Span) {
        if text.starts_with("memref") && matches!(ty, Type::Tile(_)) {
            self.mark(Part::Shape, shape::MEMREF_TILE, span);
        }
        for name in text.split("!pto.").skip(1).map(|rest| rest.split([',', '>']).next().unwrap_or_default()) {
            if name.starts_with(['f', 'h']) {
                self.mark(Part::Type, &format!("!pto.{}", name.trim()), span);
            }
        }
    }

    fn remember_type(&mut self, text: &'a str, id: TypeId) {
        if text.ends_with('>') {
            self.recent_types.truncate(RECENT_TYPES - 1);
            self.recent_types.insert(0, (text, id));
        }
    }

    fn go_on_behind(&mut self, span: Span) {
        self.lex.seek(span.end as usize);
        self.prev = span;
        self.lex.read(&mut self.tok, &mut self.sink, &mut self.trivia);
    }

    pub(super) fn type_of(&self, piece: Piece<'_>, fields: &mut Fields) -> types::Res<Type> {
        let aliases = |name: &str| {
            let (id, _) = self.type_aliases.get(name)?;
            Some(self.module.types.get(*id).clone())
        };
        types::parse(piece, &aliases, fields)
    }

    /// The text of the type that starts here; goes on behind it.
    fn scan_type(&mut self) -> Res<Piece<'a>> {
        if !matches!(self.tok.kind, Tok::Bang | Tok::Word | Tok::Less) {
            return self.expected("a type");
        }
        let start = self.tok.span;
        let bytes = self.text.as_bytes();
        // A bare type is nothing but its brackets.
        let mut end = if self.at(Tok::Less) { start.start } else { start.end } as usize;
        if bytes.get(end) == Some(&b'<') {
            let open = Span::new(end as u32, end as u32 + 1);
            let limit = bytes.len().min(end + MAX_TOKEN);
            let mut depth = 0u32;
            loop {
                let b = if end < limit { bytes.get(end).copied() } else { None };
                match b {
                    Some(b'<') => depth += 1,
                    Some(b'>') if bytes.get(end.wrapping_sub(1)) == Some(&b'-') => {}
                    Some(b'>') => depth = depth.saturating_sub(1),
                    Some(b'"') => {
                        let rest = bytes.get(end + 1..limit).unwrap_or_default();
                        match rest.iter().position(|b| matches!(b, b'"' | b'\n')) {
                            Some(n) => end += n + 1,
                            None => end = limit,
                        }
                    }
                    // A type has none of these, so its `>` is missing.
                    Some(b'%' | b';' | b'{' | b'}') | None => {
                        self.lex.seek(open.end as usize);
                        self.lex.read(&mut self.tok, &mut self.sink, &mut self.trivia);
                        let text = "the type's `<` is never closed";
                        return self.fail("syntax-unclosed", open, text, "add the closing `>`");
                    }
                    _ => {}
                }
                end += 1;
                if depth == 0 {
                    break;
                }
            }
            self.lex.seek(end);
        }
        self.prev = Span::new(start.start, end as u32);
        self.lex.read(&mut self.tok, &mut self.sink, &mut self.trivia);
        Ok(Piece { text: self.slice(self.prev), start: start.start })
    }

    /// `T`, `(T, T)` or `()`.
    pub(super) fn type_list(&mut self) -> Res<Types> {
        if !self.at(Tok::LParen) {
            return Ok(smallvec![self.ty()?]);
        }
        let open = self.bump().span;
        self.list_of(open, Tok::RParen, Self::ty)
    }

    /// `T -> T`, each side a list.
    pub(super) fn arrow_types(&mut self) -> Res<(Types, Types)> {
        let ins = self.type_list()?;
        self.expect(Tok::Arrow, "`->`")?;
        Ok((ins, self.type_list()?))
    }

    pub(super) fn type_text(&self, id: TypeId) -> String {
        print_type(self.module.types.get(id))
    }
}
