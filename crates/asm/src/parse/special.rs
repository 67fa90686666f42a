//! Instructions whose text has a shape of its own (syntax.md 4).
//!
//! Each shape is read into operands with roles and result types; the generic form gives the same by position.

use super::attr::{Attr, Entry};
use super::{Parser, Raw, RawArg, Res, Results, Types};
use crate::lex::Tok;
use crate::print::print_type;
use crate::sink::shown;
use smallvec::{SmallVec, smallvec};
use tessera_ir::{Def, Op, OpKind, TextForm, Type, TypeId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Form, Opcode, Role, Text};
use tessera_isa::tile::Extent;

/// An operation on the way: its operands by role, its result types, attributes and words.
#[derive(Default)]
pub(super) struct Draft {
    pub operands: SmallVec<[(Role, Raw); 8]>,
    pub types: Types,
    pub entries: Vec<Entry>,
    pub words: Vec<String>,
    pub sizes: Option<[u64; 2]>,
}

impl Parser<'_> {
    /// An instruction with a shape of its own; the mnemonic has been read.
    pub(super) fn special(&mut self, start: Span, results: &Results, opcode: Opcode, form: TextForm) -> Res<()> {
        let mut draft = Draft::default();
        match opcode.info().text {
            Text::Alloc => self.alloc_tile(&mut draft)?,
            Text::Assign => self.tassign(&mut draft, results)?,
            Text::SetValid => self.set_validshape(&mut draft)?,
            Text::Subset => self.subset(&mut draft)?,
            Text::MakeView => self.make_tensor_view(&mut draft)?,
            Text::Partition => self.partition_view(&mut draft)?,
            Text::AddPtr => self.addptr(&mut draft)?,
            Text::LoadScalar => self.load_scalar(&mut draft)?,
            Text::StoreScalar => self.store_scalar(&mut draft)?,
            Text::Value => self.padding(&mut draft)?,
            Text::Number => {
                let mut ty = (self.common.i64, start.to(self.prev));
                if self.eat(Tok::Colon) {
                    ty = self.ty()?;
                }
                draft.types.push(ty);
            }
            Text::Attributes | Text::Ignored => {}
            _ => self.synchronisation(&mut draft)?,
        }
        let loc = self.tail(&mut draft.entries)?;
        self.finish_special(start, results, opcode, form, draft, loc)
    }

    /// Looks the operands up, checks that their types play their roles, and puts the operation into the block.
    pub(super) fn finish_special(
        &mut self,
        start: Span,
        results: &Results,
        opcode: Opcode,
        form: TextForm,
        mut draft: Draft,
        loc: Option<Box<str>>,
    ) -> Res<()> {
        if opcode.info().text == Text::Subset {
            self.subset_type(&mut draft, start)?;
        }
        self.check_types(opcode, &draft, start)?;
        let mut op = Op::new(OpKind::Pto(opcode, Form::Plain), form, start);
        let pointer = self.pointer_of(opcode, &draft);
        for (role, raw) in &draft.operands {
            if opcode.info().text == Text::Assign && *role == Role::Tile {
                self.name_forward(raw);
            }
            let usual = match role {
                Role::Global => pointer,
                Role::Scalar => None,
                _ => self.usual_type(*role, None),
            };
            let Some(operand) = self.resolve(raw, *role, usual) else {
                continue;
            };
            if let Some(ty) = operand.arg.value().and_then(|v| self.type_of_value(v)) {
                // Events take any role; they have no effect here.
                if !ty.plays(*role) && *ty != Type::Event {
                    let text = format!(
                        "{} of {opcode} cannot be {}, which is {}",
                        role.name(),
                        shown(self.slice(raw.span)),
                        print_type(ty)
                    );
                    self.wrong_kind(raw.span, text, "give an operand of the right kind");
                }
            }
            op.operands.push(operand);
        }
        let info = opcode.info();
        op.attrs = if opcode.info().text == Text::Ignored {
            self.keep_words(&mut draft);
            None
        } else {
            self.sort_attrs(std::mem::take(&mut draft.entries), info.attrs, info.mnemonic)
        };
        if !draft.words.is_empty() || draft.sizes.is_some() {
            let attrs = op.attrs_mut();
            attrs.words = draft.words;
            attrs.sizes = draft.sizes;
        }
        self.finish(op, start, results, &draft.types, loc)
    }

    /// SET_IMG2COL_RPT takes any attributes and has no effect (ops.md 7).
    fn keep_words(&mut self, draft: &mut Draft) {
        for entry in std::mem::take(&mut draft.entries) {
            let value = self.expand(self.slice(entry.value_span));
            draft.words.push(match entry.value {
                Attr::Unit => entry.key,
                _ => format!("{} = {value}", entry.key),
            });
        }
    }

    /// The pointer type of a listing's input that a view is made of.
    fn pointer_of(&mut self, opcode: Opcode, draft: &Draft) -> Option<TypeId> {
        let (id, _) = draft.types.first()?;
        let elem = match (opcode.info().text, self.module.types.get(*id)) {
            (Text::MakeView, Type::View(v)) => v.elem,
            _ => return None,
        };
        Some(self.module.types.intern(Type::Ptr(elem, None)))
    }

    /// A listing's `tassign` may name a value that is defined later (syntax.md 1).
    fn name_forward(&mut self, raw: &Raw) {
        if let (RawArg::Name(name), None) = (raw.what, raw.ty)
            && self.lex.listing
            && self.scope.find(name).is_none()
        {
            let value = self.define(name, (super::UNKNOWN, raw.span), Def::Input, raw.span);
            self.scope.forward.insert(value);
        }
    }

    fn alloc_tile(&mut self, draft: &mut Draft) -> Res<()> {
        loop {
            let role = match self.tok.kind {
                Tok::Word if self.here() == "addr" => Role::Addr,
                Tok::Word if self.here() == "valid_row" => Role::ValidRow,
                Tok::Word if self.here() == "valid_col" => Role::ValidCol,
                _ => break,
            };
            let span = self.bump().span;
            if draft.operands.iter().any(|(r, _)| *r == role) {
                let text = format!("{} is written twice", role.name());
                return self.fail("syntax-attribute", span, text, "remove one of them");
            }
            self.expect(Tok::Equal, "`=`")?;
            let raw = self.operand()?;
            draft.operands.push((role, raw));
            self.eat(Tok::Comma);
        }
        draft.operands.sort_by_key(|(role, _)| match role {
            Role::Addr => 0,
            Role::ValidRow => 1,
            _ => 2,
        });
        if self.at(Tok::LBrace) {
            draft.entries = self.dictionary()?;
        }
        self.expect(Tok::Colon, "`:` and the tile's type")?;
        draft.types.push(self.ty()?);
        Ok(())
    }

    /// `%t, @tile(0x1000)`, or `%t, %addr [: T -> T]`.
    fn tassign(&mut self, draft: &mut Draft, results: &Results) -> Res<()> {
        let tile = self.operand()?;
        draft.operands.push((Role::Tile, tile));
        self.expect(Tok::Comma, "`,` and the address")?;
        let addr = if self.at(Tok::At) {
            let start = self.bump().span;
            if self.slice(start) != "@tile" {
                let text = format!("{} is no address", shown(self.slice(start)));
                return self.fail("syntax-expected", start, text, "write @tile(0x1000)");
            }
            let open = self.expect(Tok::LParen, "`(`")?.span;
            let raw = self.operand()?;
            self.close(Tok::RParen, open)?;
            Raw { span: start.to(self.prev), ..raw }
        } else {
            self.operand()?
        };
        draft.operands.push((Role::Addr, addr));
        if self.eat(Tok::Colon) {
            let mut types = self.type_list()?;
            while self.eat(Tok::Comma) {
                types.push(self.ty()?);
            }
            for ((_, raw), ty) in draft.operands.iter_mut().zip(&types) {
                raw.ty = Some(*ty);
            }
            if self.eat(Tok::Arrow) {
                draft.types = self.type_list()?;
            }
        } else if !results.names.is_empty() {
            let Some(id) = self.raw_type(&tile) else {
                return self.expected("`:` and the types");
            };
            draft.types.push((id, tile.span));
        }
        Ok(())
    }

    fn set_validshape(&mut self, draft: &mut Draft) -> Res<()> {
        for (n, role) in [Role::Tile, Role::ValidRow, Role::ValidCol].into_iter().enumerate() {
            if n > 0 {
                self.expect(Tok::Comma, "`,`")?;
            }
            let raw = self.operand()?;
            draft.operands.push((role, raw));
        }
        if self.eat(Tok::Colon) {
            let mut types = self.type_list()?;
            while self.eat(Tok::Comma) {
                types.push(self.ty()?);
            }
            for ((_, raw), ty) in draft.operands.iter_mut().zip(&types) {
                raw.ty = Some(*ty);
            }
        }
        Ok(())
    }

    /// `%t[%r, %c] sizes [n, m] : T`.
    fn subset(&mut self, draft: &mut Draft) -> Res<()> {
        let src = self.operand()?;
        draft.operands.push((Role::Src, src));
        let at = self.list(Tok::LBracket)?;
        let [row, col] = at.as_slice() else {
            let text = format!("subset takes a row and a column, and {} numbers are written", at.len());
            return self.fail("operand-count", self.prev, text, "write %t[%row, %col]");
        };
        draft.operands.extend([(Role::Row, *row), (Role::Col, *col)]);
        if !self.eat_word("sizes") {
            return self.expected("`sizes [rows, cols]`");
        }
        let open = self.expect(Tok::LBracket, "`[`")?.span;
        let rows = self.size()?;
        self.expect(Tok::Comma, "`,`")?;
        let cols = self.size()?;
        self.close(Tok::RBracket, open)?;
        draft.sizes = Some([rows, cols]);
        if self.at(Tok::LBrace) {
            draft.entries = self.dictionary()?;
        }
        self.expect(Tok::Colon, "`:` and the source's type")?;
        let ty = self.ty()?;
        if let Some((_, raw)) = draft.operands.first_mut() {
            raw.ty = Some(ty);
        }
        // `-> T` restates what follows from the sizes; it is checked below.
        if self.eat(Tok::Arrow) {
            draft.types.push(self.ty()?);
        }
        Ok(())
    }

    fn size(&mut self) -> Res<u64> {
        let n = self.integer()?;
        Ok(u64::try_from(n).unwrap_or(u64::MAX))
    }

    /// The result has the sizes as declared and valid extents and the source's other fields (syntax.md 4).
    fn subset_type(&mut self, draft: &mut Draft, start: Span) -> Res<()> {
        let src = draft.operands.first().map(|(_, raw)| *raw);
        let ty = src.and_then(|raw| self.raw_type(&raw));
        let (Some(raw), Some([rows, cols]), Some(Type::Tile(tile))) =
            (src, draft.sizes, ty.map(|id| self.module.types.get(id)))
        else {
            let text = "subset takes a tile and the sizes of a window";
            return self.fail("syntax-form", start.to(self.prev), text, "write pto.subset %t[%r, %c] sizes [n, m] : T");
        };
        let mut tile = *tile;
        (tile.rows, tile.cols) = (rows, cols);
        (tile.v_row, tile.v_col) = (Extent::Static(rows), Extent::Static(cols));
        let id = self.module.types.intern(Type::Tile(tile));
        let span = raw.ty.map_or(raw.span, |(_, span)| span);
        if let Some((written, at)) = draft.types.first() {
            let types = &self.module.types;
            if !types.get(*written).same(types.get(id), self.profile) {
                let text = format!(
                    "the result of subset is {}, and {} is written",
                    print_type(types.get(id)),
                    print_type(types.get(*written))
                );
                return self.fail("type-mismatch", *at, text, "leave the result's type out");
            }
        }
        draft.types = smallvec![(id, span)];
        Ok(())
    }

    /// `[%a, %b]`.
    fn list(&mut self, open: Tok) -> Res<SmallVec<[Raw; 5]>> {
        let open = self.expect(open, "`[`")?.span;
        let mut out = SmallVec::new();
        while !self.at(Tok::RBracket) {
            out.push(self.operand()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RBracket, open)?;
        Ok(out)
    }

    fn named_list(&mut self, word: &str) -> Res<SmallVec<[Raw; 5]>> {
        if !self.eat_word(word) {
            return self.expected(&format!("`{word} = […]`"));
        }
        self.expect(Tok::Equal, "`=`")?;
        self.list(Tok::LBracket)
    }

    /// Two lists of one length as Number operands.
    fn two_lists(&mut self, draft: &mut Draft, words: [&str; 2]) -> Res<()> {
        let first = self.named_list(words[0])?;
        self.eat(Tok::Comma);
        let second = self.named_list(words[1])?;
        if first.len() != second.len() || first.is_empty() || first.len() > 6 {
            let text = format!("{} has {} numbers and {} has {}", words[0], first.len(), words[1], second.len());
            return self.fail("operand-count", self.prev, text, "write one number per dimension, one to five");
        }
        draft.operands.extend(first.iter().chain(&second).map(|raw| (Role::Number, *raw)));
        Ok(())
    }

    fn make_tensor_view(&mut self, draft: &mut Draft) -> Res<()> {
        let pointer = self.operand()?;
        draft.operands.push((Role::Global, pointer));
        self.expect(Tok::Comma, "`,`")?;
        self.two_lists(draft, ["shape", "strides"])?;
        if self.at(Tok::LBrace) {
            draft.entries = self.dictionary()?;
        }
        self.expect(Tok::Colon, "`:` and the view's type")?;
        draft.types.push(self.ty()?);
        Ok(())
    }

    fn partition_view(&mut self, draft: &mut Draft) -> Res<()> {
        let view = self.operand()?;
        draft.operands.push((Role::Global, view));
        self.expect(Tok::Comma, "`,`")?;
        self.two_lists(draft, ["offsets", "sizes"])?;
        if self.at(Tok::LBrace) {
            draft.entries = self.dictionary()?;
        }
        self.expect(Tok::Colon, "`:` and the types")?;
        let from = self.ty()?;
        self.expect(Tok::Arrow, "`->`")?;
        let to = self.ty()?;
        if let Some((_, raw)) = draft.operands.first_mut() {
            raw.ty = Some(from);
        }
        draft.types.push(to);
        Ok(())
    }

    /// `%p, %n : P -> P`.
    fn addptr(&mut self, draft: &mut Draft) -> Res<()> {
        let mut pointer = self.operand()?;
        self.expect(Tok::Comma, "`,`")?;
        let count = self.operand()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        pointer.ty = Some(self.ty()?);
        self.expect(Tok::Arrow, "`->`")?;
        draft.types.push(self.ty()?);
        draft.operands.extend([(Role::Global, pointer), (Role::Number, count)]);
        Ok(())
    }

    /// `%p[%i] : P -> i32`.
    fn load_scalar(&mut self, draft: &mut Draft) -> Res<()> {
        let mut pointer = self.operand()?;
        let at = self.one_index()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        pointer.ty = Some(self.ty()?);
        self.expect(Tok::Arrow, "`->`")?;
        draft.types.push(self.ty()?);
        draft.operands.extend([(Role::Global, pointer), (Role::Number, at)]);
        Ok(())
    }

    /// `%v, %p[%i] : P, i32`.
    fn store_scalar(&mut self, draft: &mut Draft) -> Res<()> {
        let mut value = self.operand()?;
        self.expect(Tok::Comma, "`,`")?;
        let mut pointer = self.operand()?;
        let at = self.one_index()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        pointer.ty = Some(self.ty()?);
        self.expect(Tok::Comma, "`,`")?;
        value.ty = Some(self.ty()?);
        draft.operands.extend([(Role::Scalar, value), (Role::Global, pointer), (Role::Number, at)]);
        Ok(())
    }

    fn one_index(&mut self) -> Res<Raw> {
        let list = self.list(Tok::LBracket)?;
        match list.as_slice() {
            [one] => Ok(*one),
            _ => {
                let text = format!("one index is wanted, and {} are written", list.len());
                self.fail("operand-count", self.prev, text, "write %p[%i]")
            }
        }
    }

    fn padding(&mut self, draft: &mut Draft) -> Res<()> {
        let mut raw = self.operand()?;
        if self.eat(Tok::Colon) {
            raw.ty = Some(self.ty()?);
        }
        draft.operands.push((Role::Fill, raw));
        Ok(())
    }

    /// `[<PIPE_V>, <EVENT_ID0>]`, `<PIPE_ALL>`, quoted words, or events; order makes no difference to results.
    fn synchronisation(&mut self, draft: &mut Draft) -> Res<()> {
        let mut open = 0u32;
        loop {
            match self.tok.kind {
                Tok::LBracket | Tok::Less => open += 1,
                Tok::RBracket | Tok::Greater if open > 0 => open -= 1,
                Tok::Comma => {}
                Tok::Word | Tok::Int if open > 0 => draft.words.push(self.here().to_string()),
                Tok::Str if !self.tok.first || open > 0 => draft.words.push(super::attr::unquote(self.here())),
                Tok::Hash if !self.tok.first => {
                    if let Attr::Dialect(_, body) = self.attr()? {
                        draft.words.push(body.trim_matches(['<', '>', '"']).to_string());
                    }
                    continue;
                }
                // A name on a new line starts the next statement.
                Tok::Percent if !self.tok.first || open > 0 => {
                    let raw = self.operand()?;
                    draft.operands.push((Role::Scalar, raw));
                    continue;
                }
                Tok::Colon if open == 0 => break,
                Tok::Eof | Tok::RBrace | Tok::End if open > 0 => return self.expected("`]`"),
                _ if open == 0 => break,
                _ => return self.expected("a pipe or event"),
            }
            self.bump();
        }
        if self.at(Tok::LBrace) {
            draft.entries = self.dictionary()?;
        }
        if self.eat(Tok::Colon) {
            let mut types = self.type_list()?;
            while self.eat(Tok::Comma) {
                types.push(self.ty()?);
            }
            let operands = draft.operands.len();
            for ((_, raw), ty) in draft.operands.iter_mut().zip(&types) {
                raw.ty = Some(*ty);
            }
            draft.types.extend(types.into_iter().skip(operands));
            if self.eat(Tok::Arrow) {
                draft.types.extend(self.type_list()?);
            }
        }
        Ok(())
    }

    /// Reports a listing's `tassign` of a name that nothing defines.
    pub(super) fn check_forward(&mut self) {
        let left: Vec<_> = self.scope.forward.iter().copied().collect();
        for value in left {
            let v = self.func.value(value);
            let (name, span) = (shown(self.module.names.text(v.name)), v.span);
            self.push(
                Diagnostic::error("undefined-name", format!("%{name} has an address and no definition or type"))
                    .at(span, "nothing else names it")
                    .help("use it in an instruction, or remove the tassign"),
            );
        }
    }
}
