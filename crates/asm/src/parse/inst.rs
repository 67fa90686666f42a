//! Instructions in their three forms (syntax.md 2): what is written, before the table says what it means.

use super::attr::Entry;
use super::flow::set_types;
use super::{Parser, Raw, Raws, Res, Results, TypeAt, Types};
use crate::lex::Tok;
use crate::sink::shown;
use tessera_ir::{Op, OpKind, TextForm};
use tessera_isa::ops::{Opcode, Role};

/// The types of an SSA or assembly instruction.
#[derive(Debug, Default)]
pub(super) enum Signature {
    #[default]
    None,
    /// `: T`: one type for both sides.
    Once(TypeAt),
    /// `: (T, …) -> (T, …)`.
    Arrow(Types, Types),
}

#[derive(Default)]
pub(super) struct Written {
    /// Operands that are read, without those in brackets.
    pub ins: Raws,
    /// `[row, col]` behind the source, if brackets are written.
    pub indices: Option<Raws>,
    /// `init(%old)`.
    pub init: Option<Raw>,
    /// `outs(…)`, if written.
    pub outs: Option<Raws>,
    pub signature: Signature,
    pub entries: Vec<Entry>,
    pub loc: Option<Box<str>>,
}

impl Written {
    /// How many operands are read, `init` aside.
    pub fn count(&self) -> usize {
        self.ins.len() + self.indices.as_ref().map_or(0, |i| i.len())
    }
}

impl Parser<'_> {
    /// An instruction of the table whose operands follow one of its forms; the mnemonic has been read.
    pub(super) fn instruction(
        &mut self,
        results: &Results,
        op: Opcode,
        form: TextForm,
        entries: Vec<Entry>,
    ) -> Res<()> {
        let mut written = Written { entries, ..Written::default() };
        self.written(&mut written)?;
        self.split_outs(results, op, &mut written);
        self.build(results, op, form, &mut written)
    }

    pub(super) fn written(&mut self, w: &mut Written) -> Res<()> {
        if self.at_group("ins") || self.at_group("outs") {
            if self.eat_word("ins") {
                self.group(&mut w.ins, Some(&mut w.entries))?;
            }
            if self.at_word("outs") && self.second().kind == Tok::Colon {
                // `outs : f32`: a scalar that is made is a result (isa/irregular.md 9).
                self.bump();
                self.bump();
                let ins = w.ins.iter().filter_map(|raw| raw.ty).collect();
                w.signature = Signature::Arrow(ins, Types::from_iter([self.ty()?]));
                w.loc = self.tail(&mut w.entries)?;
                return Ok(());
            }
            let outs = w.outs.insert(Raws::new());
            if self.at_group("outs") {
                self.bump();
                self.group(outs, None)?;
            }
        } else {
            self.operands(w)?;
            if self.at(Tok::LBrace) {
                self.attributes(&mut w.entries)?;
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
    fn group(&mut self, out: &mut Raws, mut entries: Option<&mut Vec<Entry>>) -> Res<()> {
        let open = self.expect(Tok::LParen, "`(`")?.span;
        if self.eat(Tok::RParen) {
            return Ok(());
        }
        let mut untyped = 0;
        loop {
            // A comma before the attributes is allowed (isa/structure.md 2).
            if !self.at(Tok::LBrace) || out.is_empty() || entries.is_none() {
                out.push(self.operand()?);
            }
            if self.at(Tok::LBrace)
                && let Some(entries) = &mut entries
            {
                self.attributes(entries)?;
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
        self.no_operand_follows(true)?;
        self.close(Tok::RParen, open)?;
        Ok(())
    }

    /// `%src[%r, %c], %x, init(%old)`.
    fn operands(&mut self, w: &mut Written) -> Res<()> {
        loop {
            match self.tok.kind {
                Tok::Percent | Tok::Int | Tok::Minus | Tok::Float => {
                    w.ins.push(self.operand()?);
                    while self.at(Tok::LBracket) {
                        let open = self.bump().span;
                        let indices = self.operand_list(open, Tok::RBracket)?;
                        w.indices.get_or_insert_default().extend(indices);
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
                return self.no_operand_follows(false);
            }
        }
    }

    /// What stands behind the last operand, outside of parentheses on its line, is no other operand.
    fn no_operand_follows(&mut self, in_group: bool) -> Res<()> {
        if !self.at(Tok::Percent) || self.tok.first && !in_group {
            return Ok(());
        }
        let text = format!("a comma is missing before `{}`", shown(self.here()));
        self.fail("syntax-expected", self.tok.span, text, "write `,` between operands")
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
    pub(super) fn other(&mut self, results: &Results, name: &'static str) -> Res<()> {
        let mut w = Written::default();
        self.written(&mut w)?;
        let count = w.count() + usize::from(w.init.is_some());
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
                    return self.fail("operand-count", results.start, text, "write one type per operand");
                }
                set_types(w.ins.iter_mut().chain(w.indices.iter_mut().flatten()).chain(&mut w.init), ins);
                result_types = outs.clone();
            }
        }
        let form = if w.outs.is_some() { TextForm::Dps } else { TextForm::Ssa };
        let mut op = Op::new(OpKind::Other(name), form, results.start);
        for raw in w.ins.iter().chain(w.indices.iter().flatten()).chain(&w.init) {
            let tile = self.raw_type(raw).is_some_and(|id| self.module.types.get(id).is_tile());
            let role = if tile { Role::Src } else { Role::Number };
            let usual = Some(self.common.index).filter(|_| raw.ty.is_none() && !tile);
            op.operands.extend(self.resolve(raw, role, usual));
        }
        self.resolve_all(&mut op, &w.outs.unwrap_or_default(), Role::Dst);
        // Nobody knows what attributes it has: they are kept without a warning.
        for entry in w.entries {
            let text = self.value_text(&entry);
            op.attrs_mut().unknown.push((entry.key, text, entry.key_span));
        }
        self.finish(op, results, &result_types, w.loc)
    }
}
