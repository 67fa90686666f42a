//! Known PTO operations without a row, in shapes of their own (isa/structure.md 5 and 10): FIFOs, sessions between
//! devices, and what lies below the tile level. Their names and values are looked up; their text is kept as it is.

use super::attr::Entry;
use super::{Parser, Raw, Raws, Res, Results, Types};
use crate::lex::Tok;
use tessera_ir::{BlockId, Op, OpKind, TextForm};
use tessera_isa::diag::Span;
use tessera_isa::ops::{IdArray, Role};

impl Parser<'_> {
    /// Does what follows the mnemonic have a shape of its own?
    pub(super) fn at_opaque(&self) -> bool {
        matches!(self.tok.kind, Tok::LParen | Tok::LBrace | Tok::LBracket | Tok::Less | Tok::Arrow | Tok::Str)
            && !(self.tok.first && self.at(Tok::Str))
    }

    /// `pto.NAME {…} (k = %a : T, …) {…} : T -> T`, in any order; the mnemonic has been read.
    pub(super) fn opaque(&mut self, results: &Results, name: &'static str) -> Res<()> {
        let start = self.prev;
        let (mut raws, mut entries, mut types) = (Raws::new(), Vec::new(), Types::new());
        loop {
            match self.tok.kind {
                Tok::LBrace if name == "vecscope" => self.skip_region()?,
                Tok::LBrace => self.attributes(&mut entries)?,
                Tok::LParen => {
                    self.labelled(&mut raws)?;
                }
                Tok::LBracket => self.bracketed(&mut raws)?,
                Tok::Less => {
                    self.attr()?;
                }
                Tok::Str if !self.tok.first => {
                    self.bump();
                }
                Tok::Percent | Tok::Int | Tok::Minus if !self.tok.first => raws.push(self.operand()?),
                Tok::Comma => {
                    self.bump();
                }
                Tok::Word if !self.tok.first && matches!(self.here(), "ins" | "outs") => {
                    self.bump();
                }
                Tok::Colon => {
                    self.bump();
                    let mut given = self.type_list()?;
                    while self.eat(Tok::Comma) {
                        given.push(self.ty()?);
                    }
                    let untyped = raws.iter_mut().filter(|raw| raw.ty.is_none());
                    untyped.zip(&given).for_each(|(raw, ty)| raw.ty = Some(*ty));
                    if raws.is_empty() {
                        types = given;
                    }
                }
                Tok::Arrow => {
                    self.bump();
                    types = self.type_list()?;
                }
                _ => break,
            }
        }
        if types.is_empty() && IdArray::parse(name) == Some(IdArray::Get) {
            types.push((self.common.index, start));
        }
        if types.is_empty() && !results.names.is_empty() {
            return self.expected("`->` and the type of the result");
        }
        let loc = self.tail(&mut entries)?;
        self.keep(results, name, start, (&raws, entries, types), loc)
    }

    /// The operation with its values, its attributes, and its text.
    fn keep(
        &mut self,
        results: &Results,
        name: &'static str,
        start: Span,
        (raws, entries, types): (&[Raw], Vec<Entry>, Types),
        loc: Option<Box<str>>,
    ) -> Res<()> {
        let mut op = Op::new(OpKind::Other(name), TextForm::Ssa, results.start);
        let index = self.common.index;
        for raw in raws {
            let is_tile = self.raw_type(raw).is_some_and(|id| self.module.types.get(id).is_tile());
            let role = if is_tile { Role::Src } else { Role::Scalar };
            op.operands.extend(self.resolve(raw, role, Some(index)));
        }
        let text = self.expand(self.slice(start.to(self.prev)));
        let text = match (&loc, text.rfind(" loc(")) {
            (Some(_), Some(at)) => text.get(..at).unwrap_or_default().to_string(),
            _ => text,
        };
        let attrs = op.attrs_mut();
        attrs.words.push(text);
        for entry in entries {
            let text = self.value_text(&entry);
            op.attrs_mut().unknown.push((entry.key, text, entry.key_span));
        }
        self.finish(op, results, &types, loc)
    }

    /// `(%a, %b : T, T)` or `(k = %a : T, k = %b : T)`; gives the words before the operands.
    pub(super) fn labelled(&mut self, out: &mut Raws) -> Res<Vec<Option<Span>>> {
        let open = self.bump().span;
        let mut untyped = out.len();
        let mut words = Vec::new();
        while !self.at(Tok::RParen) {
            let is_word = self.at(Tok::Word) && self.second().kind == Tok::Equal;
            words.push(is_word.then(|| self.bump().span));
            if is_word {
                self.bump();
            }
            out.push(self.operand()?);
            if self.eat(Tok::Colon) {
                for (n, raw) in out.iter_mut().skip(untyped).enumerate() {
                    if n > 0 {
                        self.expect(Tok::Comma, "`,` and the next type")?;
                    }
                    raw.ty = Some(self.ty()?);
                }
                untyped = out.len();
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, open)?;
        Ok(words)
    }

    /// `[<PIPE_V>, "EVENT_ID0", %i]`: words and values.
    fn bracketed(&mut self, out: &mut Raws) -> Res<()> {
        let open = self.bump().span;
        self.items(open, Tok::RBracket, |p| {
            if p.at(Tok::Percent) || p.at(Tok::Int) {
                out.push(p.operand()?);
                return Ok(());
            }
            p.attr().map(|_| ())
        })
    }

    /// Statements below the tile level, which nobody reads.
    fn skip_region(&mut self) -> Res<()> {
        let open = self.tok.span;
        let mut depth = 0u32;
        loop {
            match self.tok.kind {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                Tok::Eof => return self.unclosed(open),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// `pto.section.cube { … }`: a region that only cores of this kind run (isa/structure.md 4). It is a branch that is
    /// always taken, so that everything which follows branches follows sections.
    pub(super) fn section(&mut self, results: &Results, word: &str) -> Res<()> {
        self.bump();
        let head = results.start.to(self.prev);
        let body = self.region_of(&[])?;
        self.section_of(results, word, head, body)
    }

    /// A section whose region has been read.
    pub(super) fn section_of(&mut self, results: &Results, word: &str, head: Span, body: BlockId) -> Res<()> {
        let mut op = Op::new(OpKind::If, TextForm::Ssa, head);
        op.operands.push(tessera_ir::Operand {
            role: Role::Number,
            arg: tessera_ir::Arg::Int(1),
            span: head,
            type_span: head,
        });
        self.check_yield(body, &OpKind::Yield, &Types::new(), head)?;
        self.block_ends.push(self.prev.start);
        let other = self.func.add_block();
        op.blocks.extend([body, other]);
        op.attrs_mut().words.push(word.to_string());
        self.finish_region(op, results, &Types::new())
    }
}
