//! Instructions in their three forms (syntax.md 2): the text as written, before the table gives it a meaning.

use super::attr::{Attr, Entry, unquote};
use super::flow::set_types;
use super::{Failed, Parser, Raw, RawArg, Raws, Res, Results, TypeAt, Types};
use crate::dialect::{Part, shape};
use crate::lex::Tok;
use crate::sink::shown;
use tessera_ir::{LocId, Op, OpKind, TextForm};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{AttrName, Form, Kind, Opcode, Role, fill_of};
use tessera_isa::tile::Loc;

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
    pub loc: Option<LocId>,
}

impl Written {
    /// The number of operands that are read, without `init`.
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
        let op = self.by_clauses(op, &mut written)?;
        self.split_outs(results, op, &mut written);
        let tile = |raw: Option<&Raw>| {
            let id = raw.and_then(|raw| self.raw_type(raw))?;
            self.module.types.get(id).tile().map(|tile| ([tile.rows, tile.cols], tile.loc))
        };
        let ends = tile(written.ins.first()).zip(tile(written.outs.iter().flatten().next()));
        let fills = ends.map_or(op, |((src, _), (dst, _))| fill_of(op, src, dst));
        if fills != op {
            self.mark(Part::Shape, shape::EXPANDING, results.start);
        }
        // A tile in Vec that is padded onto itself is padded in place (isa/today.md 6.3).
        let name = |raw: Option<&Raw>| raw.map(|raw| raw.what).filter(|what| matches!(what, RawArg::Name(_)));
        let src = name(written.ins.first()).filter(|_| ends.is_some_and(|((_, loc), _)| loc == Loc::Vec));
        let is_in_place = src.is_some() && src == name(written.outs.iter().flatten().next());
        let op = if fills == Opcode::Tfillpad && is_in_place { Opcode::TfillpadInplace } else { fills };
        self.build(results, op, form, &mut written)
    }

    /// The row that the clauses mean: `fp %f` is an operand of the `_fp` row, `pre_quant %q` the last operand, and a word
    /// behind the types the axis of a pattern (isa/today.md 3).
    fn by_clauses(&mut self, op: Opcode, w: &mut Written) -> Res<Opcode> {
        let mut take = |key: &str| {
            let at =
                w.entries.iter().position(|e| e.key == key && matches!(e.value, Attr::Operand(_) | Attr::Str(_)))?;
            Some(w.entries.remove(at))
        };
        let (fp, quant, axis) = (take("fp"), take("pre_quant"), take("axis"));
        if let (Some(fp), Some(quant)) = (&fp, &quant) {
            let text = format!("{op} is quantized by fp and by pre_quant");
            let found = Diagnostic::error("syntax-duplicate", text).at(quant.span(), "again");
            self.push(found.and_at(fp.span(), "first written here").help("remove one of them"));
            return Err(Failed);
        }
        if let Some(Entry { value: Attr::Operand(raw), .. }) = quant {
            w.ins.push(raw);
        }
        let has_parameters = op.form(Form::VectorQuant).map(|_| op);
        let by_column = || has_parameters.or_else(|| Opcode::parse(&format!("{}_fp", op.mnemonic())));
        if let Some(Entry { value: Attr::Operand(raw), key_span, .. }) = fp {
            let Some(by_column) = by_column() else {
                let text = format!("{op} has no clause fp");
                return self.fail("syntax-attribute", key_span, text, "leave it out");
            };
            w.ins.insert(w.ins.len().min(1), raw);
            return Ok(by_column);
        }
        // `tmov ins(%e, %tmp : S, T)`: exponents go through a second tile in Vec (isa/today.md 6.5).
        let in_vec = |raw: &Raw| {
            let tile = self.raw_type(raw).and_then(|id| self.module.types.get(id).tile());
            tile.is_some_and(|tile| tile.loc == Loc::Vec)
        };
        if let (Some(staged), [first, second]) = (op.along(""), w.ins.as_slice())
            && in_vec(first)
            && in_vec(second)
        {
            return Ok(staged);
        }
        // `tmov ins(%s, %f : S, F)`: a second tile is one of parameters.
        if let [_, second] = w.ins.as_slice()
            && !op.shapes().iter().any(|s| matches!(s.ins.as_slice(), [_, role] if role.kind() == Kind::Tile))
            && self.raw_type(second).is_some_and(|id| self.module.types.get(id).is_tile())
            && let Some(by_column) = by_column().filter(|_| w.outs.is_some())
        {
            self.mark(Part::Word, "fp", second.span);
            return Ok(by_column);
        }
        let Some(Entry { value: Attr::Str(word), value_span, .. }) = axis else {
            let has_pattern = w.entries.iter().any(|e| e.key == AttrName::MaskPattern.name());
            return Ok(op.along("row").filter(|_| has_pattern && w.ins.len() == 1).unwrap_or(op));
        };
        if !matches!(word.as_str(), "row" | "col") {
            let text = format!("{} is no axis", shown(&word));
            return self.fail("syntax-attribute", value_span, text, "write \"row\" or \"col\"");
        }
        Ok(op.along(&word).unwrap_or(op))
    }

    /// The clauses behind the operands or their types in a group: `fp %f : F`, `pre_quant %q : i64`, `no_tmp`,
    /// `"row"`.
    fn clauses(&mut self, entries: &mut Vec<Entry>) -> Res<()> {
        loop {
            let key_span = self.tok.span;
            let key = match self.tok.kind {
                Tok::Word if matches!(self.here(), "fp" | "pre_quant") => self.here().to_string(),
                Tok::Word if self.here() == "no_tmp" => {
                    self.mark(Part::Word, "no_tmp", key_span);
                    self.bump();
                    continue;
                }
                _ => return Ok(()),
            };
            self.mark(Part::Word, &key, key_span);
            self.bump();
            let start = self.tok.span;
            let mut raw = self.operand()?;
            self.expect(Tok::Colon, "`:` and the type")?;
            raw.ty = Some(self.ty()?);
            entries.push(Entry { key, key_span, value: Attr::Operand(raw), value_span: start.to(self.prev) });
        }
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
            if let Some(entries) = &mut entries {
                self.clauses(entries)?;
                if self.at(Tok::LBrace) {
                    self.attributes(entries)?;
                }
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
                if let Some(entries) = &mut entries {
                    self.clauses(entries)?;
                }
            }
            if !self.eat(Tok::Comma) {
                break;
            }
            if let (Tok::Str, Some(entries)) = (self.tok.kind, &mut entries) {
                let span = self.bump().span;
                self.mark(Part::Shape, shape::AXIS, span);
                let value = Attr::Str(unquote(self.slice(span)));
                entries.push(Entry { key: "axis".into(), key_span: span, value, value_span: span });
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

    /// Refuses an operand behind the last one, outside of parentheses on its line.
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
        self.keep_other(results, name, w)
    }

    /// The operation with its operands and attributes.
    fn keep_other(&mut self, results: &Results, name: &'static str, mut w: Written) -> Res<()> {
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
        // Its attributes are unknown: they are kept without a warning.
        for entry in w.entries {
            let text = self.value_text(&entry);
            op.attrs_mut().unknown.push((entry.key, text, entry.key_span));
        }
        self.finish(op, results, &result_types, w.loc)
    }
}
