//! Attributes: values, dictionaries and aliases.

use super::{Parser, Raw, Res, Types};
use crate::lex::Tok;
use crate::sink::shown;
use crate::types::{Fields, Piece};
use std::borrow::Cow;
use tessera_ir::{LocId, ScalarType, Type, TypeId};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Span};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attr {
    Unit,
    Bool(bool),
    /// An integer, with the type written behind it.
    Int(i128, Option<TypeId>),
    Float(f64, Option<TypeId>),
    Str(String),
    /// A bare word that is no type.
    Word(String),
    List(Vec<Attr>),
    /// `#pto.layout<nd>`: the name and what stands between the brackets.
    Dialect(String, String),
    Symbol(String),
    /// `%v : T`: an operand behind a word.
    Operand(Raw),
    Type(TypeId),
    /// `(T, T) -> T`.
    Function(Types, Types),
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct AliasValue {
    pub attr: Attr,
    /// Its text, on one line and without aliases.
    pub text: String,
}

/// `key = value`, with places.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Attr,
    pub value_span: Span,
}

impl Entry {
    pub fn span(&self) -> Span {
        self.key_span.to(self.value_span)
    }
}

/// A text does not grow beyond this when aliases are replaced by what they stand for.
const MAX_EXPANSION: usize = 64 * 1024;
/// Nor do all texts of a program together; a short text can name a long alias very often.
const MAX_EXPANSIONS: usize = 64 * 1024 * 1024;
/// More attributes than this are refused: each is compared with those before it.
const MAX_ATTRIBUTES: usize = 4096;

/// The value that uses of an alias copy: nothing large.
fn small(attr: Attr) -> Attr {
    match attr {
        Attr::List(list) if list.len() > 16 || list.iter().any(|a| matches!(a, Attr::List(_))) => Attr::Other,
        Attr::Function(..) => Attr::Other,
        other => other,
    }
}

impl<'a> Parser<'a> {
    pub(super) fn optional_dictionary(&mut self) -> Res<Vec<Entry>> {
        if self.at(Tok::LBrace) { self.dictionary() } else { Ok(Vec::new()) }
    }

    /// `{key = value, key}`, the opening brace being next.
    pub(super) fn dictionary(&mut self) -> Res<Vec<Entry>> {
        let open = self.bump().span;
        self.enter(open)?;
        self.dictionaries += 1;
        let mut out: Vec<Entry> = Vec::new();
        self.items(open, Tok::RBrace, |p| {
            let entry = p.entry()?;
            if let Some(first) = out.iter().find(|e| e.key == entry.key) {
                let text = format!("the attribute {} is written twice", shown(&entry.key));
                p.push(
                    Diagnostic::error("syntax-attribute", text)
                        .at(entry.key_span, "again")
                        .and_at(first.key_span, "first written here")
                        .help("remove one of them"),
                );
            } else if out.len() >= MAX_ATTRIBUTES {
                let text = format!("the operation has more than {MAX_ATTRIBUTES} attributes");
                return p.fail("syntax-limit", entry.key_span, text, "use fewer");
            } else {
                out.push(entry);
            }
            Ok(())
        })?;
        self.dictionaries = self.dictionaries.saturating_sub(1);
        self.leave();
        Ok(out)
    }

    /// `{…}`, which is next, beside what is written elsewhere: a key stands in one of the places (isa/structure.md 2).
    pub(super) fn attributes(&mut self, entries: &mut Vec<Entry>) -> Res<()> {
        for entry in self.dictionary()? {
            self.add_entry(entries, entry);
        }
        Ok(())
    }

    fn add_entry(&mut self, entries: &mut Vec<Entry>, entry: Entry) {
        let Some(first) = entries.iter().find(|e| e.key == entry.key) else { return entries.push(entry) };
        let text = format!("the attribute {} is written in two places", shown(&entry.key));
        let found = Diagnostic::error("syntax-duplicate", text).at(entry.key_span, "again");
        self.push(found.and_at(first.key_span, "first written here").help("remove one of them"));
    }

    fn entry(&mut self) -> Res<Entry> {
        let key_span = self.tok.span;
        let key = match self.tok.kind {
            Tok::Word => self.here().to_string(),
            Tok::Str => unquote(self.here()),
            _ => return self.expected("the name of an attribute"),
        };
        self.bump();
        self.entry_value(key, key_span)
    }

    fn entry_value(&mut self, key: String, key_span: Span) -> Res<Entry> {
        if !self.eat(Tok::Equal) {
            return Ok(Entry { key, key_span, value: Attr::Unit, value_span: key_span });
        }
        let start = self.tok.span;
        let value = self.attr()?;
        Ok(Entry { key, key_span, value, value_span: start.to(self.prev) })
    }

    /// `#key=value` behind operands or types (assembly form).
    pub(super) fn hash_entry(&mut self) -> Res<Entry> {
        let span = self.bump().span;
        let key = self.slice(span).get(1..).unwrap_or_default().to_string();
        self.need(Tok::Equal, "`=`")?;
        self.entry_value(key, span)
    }

    pub(super) fn attr(&mut self) -> Res<Attr> {
        self.enter(self.tok.span)?;
        let value = self.attr_inside()?;
        self.leave();
        Ok(value)
    }

    fn attr_inside(&mut self) -> Res<Attr> {
        match self.tok.kind {
            Tok::Int | Tok::Float | Tok::Minus => self.number_attr(),
            Tok::Str => {
                let text = unquote(self.here());
                self.bump();
                self.skip_attr_type()?;
                Ok(Attr::Str(text))
            }
            Tok::At => self.symbol_attr(),
            Tok::Percent => {
                let mut raw = self.operand()?;
                if self.eat(Tok::Colon) {
                    raw.ty = Some(self.ty()?);
                }
                Ok(Attr::Operand(raw))
            }
            Tok::Hash => self.hash_attr(),
            Tok::Bang => Ok(Attr::Type(self.ty()?.0)),
            Tok::LBrace => {
                self.dictionary()?;
                Ok(Attr::Other)
            }
            Tok::LBracket => self.list_attr(),
            Tok::LParen => {
                let (ins, outs) = self.arrow_types()?;
                Ok(Attr::Function(ins, outs))
            }
            Tok::Word => self.word_attr(),
            // The enumeration of the attribute: `location = <vec>` (isa/structure.md 2).
            Tok::Less => Ok(Attr::Word(self.raw_angles()?.trim().to_string())),
            _ => self.expected("the value of an attribute"),
        }
    }

    fn skip_attr_type(&mut self) -> Res<Option<TypeId>> {
        if self.eat(Tok::Colon) { self.ty().map(|ty| Some(ty.0)) } else { Ok(None) }
    }

    fn number_attr(&mut self) -> Res<Attr> {
        let negative = self.eat(Tok::Minus);
        if self.at(Tok::Float) {
            let v = self.float()?;
            let ty = self.skip_attr_type()?;
            return Ok(Attr::Float(if negative { -v } else { v }, ty));
        }
        let is_hex = self.here().starts_with("0x");
        let n = self.integer()?;
        let n = if negative { -n } else { n };
        let ty = self.skip_attr_type()?;
        if let Some(Type::Scalar(ScalarType::Float(elem))) = ty.map(|t| self.module.types.get(t)) {
            // A hexadecimal literal of a float type is its bits.
            let v = match (is_hex, elem.decode(n as u64)) {
                (true, Number::Float(v)) => v,
                _ => n as f64,
            };
            return Ok(Attr::Float(v, ty));
        }
        Ok(Attr::Int(n, ty))
    }

    fn symbol_attr(&mut self) -> Res<Attr> {
        let span = self.bump().span;
        let name = self.name_of(span);
        while self.at(Tok::Colon) && self.second().kind == Tok::Colon {
            self.bump();
            self.bump();
            self.expect(Tok::At, "`@name`")?;
        }
        Ok(Attr::Symbol(self.module.names.text(name).to_string()))
    }

    fn list_attr(&mut self) -> Res<Attr> {
        let open = self.bump().span;
        self.list_of(open, Tok::RBracket, Self::attr).map(Attr::List)
    }

    /// `#alias`, `#pto.layout<nd>` or `#pto<relu_pre_mode no_relu>`.
    fn hash_attr(&mut self) -> Res<Attr> {
        let span = self.bump().span;
        let name = self.slice(span).get(1..).unwrap_or_default();
        if self.at(Tok::Less) && self.adjacent() {
            let body = self.raw_angles()?;
            return Ok(Attr::Dialect(name.to_string(), body.trim().to_string()));
        }
        match self.attr_aliases.get(name) {
            Some(alias) => Ok(alias.attr.clone()),
            None if name.contains('.') => Ok(Attr::Dialect(name.to_string(), String::new())),
            None => {
                let text = format!("the attribute alias #{} is not defined", shown(name));
                let help = format!("write #{} = … before its first use", shown(name));
                self.fail("undefined-name", span, text, help)
            }
        }
    }

    /// The text between a bracket, which is next, and the one that closes it.
    fn raw(&mut self, opening: Tok, closing: Tok, what: &str) -> Res<&'a str> {
        let open = self.tok.span;
        let mut depth = 0u32;
        loop {
            match self.tok.kind {
                kind if kind == opening => depth += 1,
                kind if kind == closing => depth = depth.saturating_sub(1),
                Tok::Eof => return self.unclosed(open),
                Tok::Percent => return self.expected(what),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return Ok(self.slice(Span::new(open.end, self.prev.start)));
            }
        }
    }

    fn raw_angles(&mut self) -> Res<&'a str> {
        self.raw(Tok::Less, Tok::Greater, "`>`")
    }

    fn word_attr(&mut self) -> Res<Attr> {
        let word = self.here();
        match word {
            "true" | "false" => {
                self.bump();
                self.skip_attr_type()?;
                return Ok(Attr::Bool(word == "true"));
            }
            "unit" => {
                self.bump();
                return Ok(Attr::Unit);
            }
            "loc" => {
                self.location_text()?;
                return Ok(Attr::Other);
            }
            "array" => {
                self.bump();
                let body = if self.at(Tok::Less) { self.raw_angles()? } else { "" };
                let list = body.split_once(':').map_or("", |(_, list)| list);
                let numbers = list.split(',').filter_map(|n| n.trim().parse::<i64>().ok());
                return Ok(Attr::List(numbers.map(|n| Attr::Int(n.into(), None)).collect()));
            }
            "dense" | "sparse" | "affine_map" | "affine_set" | "strided" | "opaque" | "distinct" => {
                self.bump();
                if self.at(Tok::Less) {
                    self.raw_angles()?;
                }
                self.skip_attr_type()?;
                return Ok(Attr::Other);
            }
            _ => {}
        }
        let piece = Piece { text: word, start: self.tok.span.start };
        if self.second().kind != Tok::Less && self.type_of(piece, &mut Fields::default()).is_err() {
            self.bump();
            return Ok(Attr::Word(word.to_string()));
        }
        Ok(Attr::Type(self.ty()?.0))
    }

    /// `loc(…)`: what stands between the parentheses, on one line.
    fn location_text(&mut self) -> Res<Cow<'a, str>> {
        self.bump();
        self.need(Tok::LParen, "`(`")?;
        let text = self.raw(Tok::LParen, Tok::RParen, "`)`")?;
        Ok(if is_one_line(text) { text.trim().into() } else { one_line(text).trim().to_string().into() })
    }

    /// `loc(…)` as a location of the module.
    fn location(&mut self) -> Res<Option<LocId>> {
        let start = self.tok.span;
        let text = self.location_text()?;
        let loc = self.module.locs.intern(&text);
        // Aliases may be defined at the end of the file.
        if text.contains('#') {
            self.open_locs.extend(loc.map(|loc| (loc, start.to(self.prev))));
        }
        Ok(loc)
    }

    /// Whether `loc(…)` is next.
    pub(super) fn at_location(&mut self) -> bool {
        self.at_word("loc") && self.second().kind == Tok::LParen
    }

    /// `loc(…)`, if it is next.
    pub(super) fn optional_location(&mut self) -> Res<Option<LocId>> {
        if self.at_word("loc") { self.location() } else { Ok(None) }
    }

    /// `#name = value`, the name being next.
    pub(super) fn attr_alias(&mut self) -> Res<()> {
        let span = self.bump().span;
        let name = self.slice(span).get(1..).unwrap_or_default();
        self.expect(Tok::Equal, "`=`")?;
        let start = self.tok.span;
        let attr = self.attr()?;
        let text = self.expand(self.slice(start.to(self.prev)));
        let attr = small(attr);
        if self.attr_aliases.insert(name, AliasValue { attr, text }).is_some() {
            let text = format!("the attribute alias #{} is defined twice", shown(name));
            return self.fail("redefined-name", span, text, "give one of them another name");
        }
        Ok(())
    }

    /// The value of an attribute as it is kept.
    pub(super) fn value_text(&self, entry: &Entry) -> String {
        match entry.value {
            Attr::Unit => String::new(),
            _ => self.expand(self.slice(entry.value_span)),
        }
    }

    /// Text of an attribute on one line, with aliases replaced by what they stand for.
    pub(super) fn expand(&self, text: &str) -> String {
        let line = one_line(text);
        let mut out = String::new();
        let mut rest = line.as_str();
        while let Some(at) = find_outside_strings(rest, b'#') {
            out.push_str(rest.get(..at).unwrap_or_default());
            let tail = rest.get(at + 1..).unwrap_or_default();
            let len = tail.bytes().position(|b| !crate::lex::is_word(b)).unwrap_or(tail.len());
            let name = tail.get(..len).unwrap_or_default();
            match self.attr_aliases.get(name) {
                Some(alias)
                    if out.len() + alias.text.len() < MAX_EXPANSION && self.expansions.get() < MAX_EXPANSIONS =>
                {
                    self.expansions.set(self.expansions.get() + alias.text.len());
                    // Inside `loc(…)` an alias of a location stands for what is between its parentheses.
                    let inner = alias.text.strip_prefix("loc(").and_then(|t| t.strip_suffix(')'));
                    out.push_str(inner.unwrap_or(&alias.text));
                }
                Some(_) => out.push_str("unknown"),
                None => {
                    out.push('#');
                    out.push_str(name);
                }
            }
            rest = tail.get(len..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    /// `loc(…)` and `#key=value` behind an operation.
    pub(super) fn tail(&mut self, entries: &mut Vec<Entry>) -> Res<Option<LocId>> {
        loop {
            let at_loc = self.at_word("loc") && self.second().kind == Tok::LParen;
            let at_word = self.at(Tok::Word) && self.second().kind == Tok::Equal;
            match self.tok.kind {
                Tok::LBrace => self.attributes(entries)?,
                Tok::Hash if !self.tok.first => {
                    let entry = self.hash_entry()?;
                    self.add_entry(entries, entry);
                }
                // The words of TLOAD's padding stand without braces (isa/memory.md 6).
                Tok::Word if at_word => {
                    let entry = self.entry()?;
                    self.add_entry(entries, entry);
                }
                Tok::Word if at_loc => {
                    return self.location();
                }
                _ => return Ok(None),
            }
        }
    }
}

pub(super) fn unquote(text: &str) -> String {
    let inner = text.strip_prefix('"').unwrap_or(text);
    inner.strip_suffix('"').unwrap_or(inner).to_string()
}

fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\t', '\r']) && !text.contains("//") && !text.contains("  ")
}

/// Text without comments and with every run of blanks as one space, strings left alone.
pub(crate) fn one_line(text: &str) -> String {
    if is_one_line(text) {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => {
                out.push(c);
                out.extend(chars.next());
            }
            '"' => {
                quoted = !quoted;
                out.push(c);
            }
            _ if quoted => out.push(c),
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            c if c.is_whitespace() && out.ends_with(' ') => {}
            c if c.is_whitespace() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn find_outside_strings(text: &str, wanted: u8) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (i, b) in text.bytes().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b if b == wanted && !quoted => return Some(i),
            _ => {}
        }
    }
    None
}
