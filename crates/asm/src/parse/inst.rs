//! Instructions in their three forms (syntax.md 2): what is written, before the table says what it means.

use super::attr::Entry;
use super::{Parser, Raw, Res, Results, Types};
use crate::lex::Tok;
use smallvec::SmallVec;
use tessera_ir::{Op, OpKind, TextForm, TypeId};
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Role};

/// The types of an SSA or assembly instruction.
#[derive(Debug)]
pub(super) enum Signature {
    /// Left out.
    None,
    /// `: T`: one type for both sides.
    Once((TypeId, Span)),
    /// `: (T, …) -> (T, …)`.
    Arrow(Types, Types),
}

/// An instruction as it is written.
pub(super) struct Written {
    /// Operands that are read, without those in brackets.
    pub ins: SmallVec<[Raw; 6]>,
    /// `[row, col]` behind the source, if brackets are written.
    pub indices: Option<SmallVec<[Raw; 4]>>,
    /// `init(%old)`.
    pub init: Option<Raw>,
    /// `outs(…)`, if written.
    pub outs: Option<SmallVec<[Raw; 2]>>,
    pub signature: Signature,
    pub entries: Vec<Entry>,
    pub loc: Option<Box<str>>,
}

impl Written {
    pub fn new() -> Self {
        Written {
            ins: SmallVec::new(),
            indices: None,
            init: None,
            outs: None,
            signature: Signature::None,
            entries: Vec::new(),
            loc: None,
        }
    }
}

impl Parser<'_> {
    /// An instruction of the table whose operands follow one of its forms; the mnemonic has been read.
    pub(super) fn instruction(&mut self, start: Span, results: &Results, op: Opcode, form: TextForm) -> Res<()> {
        let mut written = Written::new();
        self.written(&mut written)?;
        self.build(start, results, op, form, &mut written)
    }

    /// Everything behind the mnemonic.
    pub(super) fn written(&mut self, w: &mut Written) -> Res<()> {
        if self.at_group("ins") || self.at_group("outs") {
            if self.eat_word("ins") {
                self.group(&mut w.ins, Some(&mut w.entries))?;
            }
            let mut outs = SmallVec::new();
            if self.at_group("outs") {
                self.bump();
                self.group(&mut outs, None)?;
            }
            w.outs = Some(outs);
        } else {
            self.operands(w)?;
            if self.at(Tok::LBrace) {
                w.entries = self.dictionary()?;
            }
            if self.eat(Tok::Colon) {
                w.signature = self.signature()?;
            }
        }
        w.loc = self.tail(&mut w.entries)?;
        Ok(())
    }

    fn at_group(&mut self, word: &str) -> bool {
        self.at_word(word) && self.second().kind == Tok::LParen
    }

    /// `(v, v : T, T)` or `(v : T, v : T)`, or a mixture; in `ins` attributes may stand behind the operands.
    fn group<A: smallvec::Array<Item = Raw>>(
        &mut self,
        out: &mut SmallVec<A>,
        mut entries: Option<&mut Vec<Entry>>,
    ) -> Res<()> {
        let open = self.expect(Tok::LParen, "`(`")?.span;
        if self.at(Tok::RParen) {
            self.bump();
            return Ok(());
        }
        let mut untyped = 0;
        loop {
            out.push(self.operand()?);
            if self.at(Tok::LBrace)
                && let Some(entries) = &mut entries
            {
                entries.extend(self.dictionary()?);
            }
            if self.eat(Tok::Colon) {
                let wanted = out.len() - untyped;
                for (n, raw) in out.iter_mut().skip(untyped).enumerate() {
                    if n > 0 {
                        if self.at(Tok::RParen) {
                            let text = format!("{wanted} operands have {n} types");
                            return self.fail("operand-count", open.to(self.prev), text, "write one type per operand");
                        }
                        self.expect(Tok::Comma, "`,` and the next type")?;
                    }
                    raw.ty = Some(self.ty()?);
                }
                untyped = out.len();
            }
            if !self.eat(Tok::Comma) {
                break;
            }
            if matches!(self.tok.kind, Tok::Bang | Tok::Word) {
                let text = format!("{} operands have more types than that", out.len());
                return self.fail("operand-count", self.tok.span, text, "write one type per operand");
            }
        }
        self.close(Tok::RParen, open)?;
        Ok(())
    }

    /// `%src[%r, %c], %x, init(%old)`.
    fn operands(&mut self, w: &mut Written) -> Res<()> {
        loop {
            match self.tok.kind {
                Tok::Percent | Tok::Int | Tok::Minus | Tok::Float => {
                    let raw = self.operand()?;
                    w.ins.push(raw);
                    while self.at(Tok::LBracket) {
                        let indices = w.indices.get_or_insert_default();
                        let open = self.bump().span;
                        while !self.at(Tok::RBracket) {
                            indices.push(self.operand()?);
                            if !self.eat(Tok::Comma) {
                                break;
                            }
                        }
                        self.close(Tok::RBracket, open)?;
                    }
                }
                Tok::Word if self.here() == "init" => {
                    self.bump();
                    let open = self.expect(Tok::LParen, "`(`")?.span;
                    w.init = Some(self.operand()?);
                    self.close(Tok::RParen, open)?;
                    return Ok(());
                }
                _ if w.ins.is_empty() => return Ok(()),
                _ => return self.expected("an operand `%name`"),
            }
            if !self.eat(Tok::Comma) {
                return Ok(());
            }
        }
    }

    fn signature(&mut self) -> Res<Signature> {
        let parenthesised = self.at(Tok::LParen);
        let ins = self.type_list()?;
        if self.eat(Tok::Arrow) {
            let outs = self.type_list()?;
            return Ok(Signature::Arrow(ins, outs));
        }
        match ins.first() {
            Some(ty) if ins.len() == 1 && !parenthesised => Ok(Signature::Once(*ty)),
            _ => self.expected("`->` and the types of the results"),
        }
    }

    /// A PTO instruction outside the table: operands without roles of their own.
    pub(super) fn other(&mut self, start: Span, results: &Results, name: &'static str) -> Res<()> {
        let mut w = Written::new();
        self.written(&mut w)?;
        let count = w.ins.len() + w.indices.as_ref().map_or(0, |i| i.len()) + usize::from(w.init.is_some());
        let mut result_types = Types::new();
        match &w.signature {
            Signature::None if results.names.is_empty() => {}
            Signature::None => return self.expected("`:` and the types"),
            Signature::Once(ty) => {
                for raw in &mut w.ins {
                    raw.ty = Some(*ty);
                }
                result_types = results.names.iter().map(|_| *ty).collect();
            }
            Signature::Arrow(ins, outs) => {
                if ins.len() != count && ins.len() != w.ins.len() {
                    let text = format!("{count} operands have {} types", ins.len());
                    return self.fail("operand-count", start, text, "write one type per operand");
                }
                let all = w.ins.iter_mut().chain(w.indices.iter_mut().flatten()).chain(&mut w.init);
                for (raw, ty) in all.zip(ins) {
                    raw.ty = Some(*ty);
                }
                result_types.extend(outs.iter().copied());
            }
        }
        let is_dps = w.outs.is_some();
        let mut op = Op::new(OpKind::Other(name), if is_dps { TextForm::Dps } else { TextForm::Ssa }, start);
        let all: SmallVec<[Raw; 8]> = w.ins.iter().chain(w.indices.iter().flatten()).chain(&w.init).copied().collect();
        for raw in &all {
            let tile = self.raw_type(raw).is_some_and(|id| self.module.types.get(id).is_tile());
            let role = if tile { Role::Src } else { Role::Number };
            let usual = Some(self.common.index).filter(|_| raw.ty.is_none() && !tile);
            op.operands.extend(self.resolve(raw, role, usual));
        }
        for raw in w.outs.iter().flatten() {
            op.operands.extend(self.resolve(raw, Role::Dst, None));
        }
        op.attrs = self.sort_other(std::mem::take(&mut w.entries));
        self.finish(op, start, results, &result_types, w.loc)
    }

    /// Attributes of an instruction that we do not know: kept without a warning.
    fn sort_other(&mut self, entries: Vec<Entry>) -> Option<Box<tessera_ir::OpAttrs>> {
        if entries.is_empty() {
            return None;
        }
        let mut out = Box::<tessera_ir::OpAttrs>::default();
        for e in entries {
            let text = match e.value {
                super::attr::Attr::Unit => String::new(),
                _ => self.expand(self.slice(e.value_span)),
            };
            out.unknown.push((e.key, text, e.key_span));
        }
        Some(out)
    }
}
