//! Micro instructions and vecscopes (micro/model.md 4): one grammar for all; the requirements of the row are checked
//! later.

use super::attr::{Attr, Entry, unquote};
use super::flow::set_types;
use super::{Parser, Raw, Raws, Res, Results, Types};
use crate::lex::Tok;
use crate::sink::shown;
use smallvec::smallvec;
use tessera_ir::{Arg, Def, Op, OpId, OpKind, Operand, TextForm, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Opcode, Order, Role};
use tessera_micro::{Call, GroupItem, Item};

/// Words that introduce the types of a group.
const GROUPS: [&str; 9] = ["nburst", "loop", "loop1", "loop2", "pad", "shape", "src_layout", "dst_group", "ctrl"];

/// An instruction on the way.
#[derive(Default)]
struct Draft {
    items: Vec<Item>,
    raws: Raws,
    /// The operands that are indices between brackets.
    indices: Vec<usize>,
    entries: Vec<Entry>,
    types: Types,
    results: Option<Types>,
}

impl Parser<'_> {
    /// A micro instruction or a vecscope, the mnemonic being next; none where the word is neither.
    pub(super) fn micro(&mut self, results: &Results, word: &str) -> Option<Res<()>> {
        let mnemonic = word.strip_prefix("pto.")?;
        match mnemonic {
            "vecscope" => Some(self.section(results, "vecscope")),
            "strict_vecscope" => Some(self.strict_vecscope(results)),
            _ => {
                // Tokens between cores are no part of what runs inside of one (isa/today.md 8.3).
                let is_token = |opcode: Opcode| matches!(opcode.order(), Some(Order::CoreSet | Order::CoreWait));
                if Opcode::parse(mnemonic).is_some_and(is_token) {
                    return None;
                }
                let (name, row) = tessera_micro::find(mnemonic)?;
                self.bump();
                Some(self.micro_instruction(results, Call { name, row, items: Vec::new(), attrs: Vec::new() }))
            }
        }
    }

    fn micro_instruction(&mut self, results: &Results, mut call: Call) -> Res<()> {
        let mut draft = Draft::default();
        self.micro_operands(&mut draft)?;
        if self.eat(Tok::Colon) {
            self.micro_types(&mut draft)?;
        }
        if self.eat(Tok::Arrow) {
            let mut types = self.type_list()?;
            while self.eat(Tok::Comma) {
                types.push(self.ty()?);
            }
            draft.results = Some(types);
        }
        let loc = self.tail(&mut draft.entries)?;
        for entry in std::mem::take(&mut draft.entries) {
            let value = match entry.value {
                Attr::Str(word) | Attr::Word(word) => tessera_micro::Attr::Word(word),
                Attr::Bool(v) => tessera_micro::Attr::Bool(v),
                Attr::Unit => tessera_micro::Attr::Bool(true),
                Attr::Int(v, ty) => {
                    tessera_micro::Attr::Int(i64::try_from(v).unwrap_or(i64::MAX), ty.map(|id| self.type_text(id)))
                }
                _ => {
                    let what = format!("{} is no word, integer or truth value", shown(self.slice(entry.value_span)));
                    return self.fail("syntax-attribute", entry.value_span, what, "write a quoted word");
                }
            };
            call.attrs.push((entry.key, value));
        }
        call.items = std::mem::take(&mut draft.items);
        let types = self.give_types(&mut draft, &call, results)?;
        let mut op = Op::new(OpKind::Micro(Box::new(call)), TextForm::Ssa, results.start);
        self.resolve_all(&mut op, &draft.raws, Role::Scalar);
        if op.operands.len() != draft.raws.len() {
            // A name that is not defined has been reported.
            return Err(super::Failed);
        }
        self.finish(op, results, &types, loc)
    }

    /// Operands, words, groups and attributes, up to the types.
    fn micro_operands(&mut self, draft: &mut Draft) -> Res<()> {
        let mut goes_on = true;
        loop {
            // A new line goes on with the statement after a comma only, or with a group.
            let here = goes_on || !self.tok.first;
            goes_on = false;
            match self.tok.kind {
                Tok::Percent | Tok::Int | Tok::Minus if here => {
                    draft.raws.push(self.operand()?);
                    if self.at(Tok::LBracket) {
                        let open = self.bump().span;
                        draft.indices.push(draft.raws.len());
                        draft.raws.push(self.operand()?);
                        self.close(Tok::RBracket, open)?;
                        draft.items.push(Item::Indexed);
                    } else {
                        draft.items.push(Item::Value);
                    }
                }
                Tok::Str | Tok::Less | Tok::Hash if here => {
                    let word = self.micro_word()?;
                    draft.items.push(Item::Word(word));
                }
                Tok::Word if here || GROUPS.contains(&self.here()) => {
                    if self.second().kind == Tok::LParen && self.here() != "loc" {
                        self.micro_group(draft)?;
                    } else if here && self.here() != "loc" && self.second().kind != Tok::Equal {
                        draft.items.push(Item::Word(self.here().to_string()));
                        self.bump();
                    } else {
                        return Ok(());
                    }
                }
                Tok::Comma => {
                    self.bump();
                    goes_on = true;
                }
                Tok::LBrace => self.attributes(&mut draft.entries)?,
                _ => return Ok(()),
            }
        }
    }

    /// `"WORD"`, `<WORD>`, `#pto.name<WORD>` or `WORD`.
    fn micro_word(&mut self) -> Res<String> {
        match self.tok.kind {
            Tok::Less => {
                let open = self.bump().span;
                let word = self.expect(Tok::Word, "a word")?.span;
                self.close(Tok::Greater, open)?;
                Ok(self.slice(word).to_string())
            }
            // As an attribute it would take the type behind it.
            Tok::Str => {
                let word = unquote(self.here());
                self.bump();
                Ok(word)
            }
            Tok::Hash => match self.attr()? {
                Attr::Dialect(_, body) => Ok(body.trim_matches(['<', '>', '"']).to_string()),
                _ => self.expected("a word"),
            },
            _ => {
                let word = self.expect(Tok::Word, "a word")?.span;
                Ok(self.slice(word).to_string())
            }
        }
    }

    /// `name(%a, %b)`, `name(word, word = %v)`.
    fn micro_group(&mut self, draft: &mut Draft) -> Res<()> {
        let name = self.here().to_string();
        self.bump();
        let open = self.bump().span;
        let mut items = Vec::new();
        self.items(open, Tok::RParen, |p| {
            if matches!(p.tok.kind, Tok::Percent | Tok::Int | Tok::Minus) {
                draft.raws.push(p.operand()?);
                items.push(GroupItem::Value);
                return Ok(());
            }
            let word = p.micro_word()?;
            if !p.eat(Tok::Equal) {
                items.push(GroupItem::Word(word));
            } else if matches!(p.tok.kind, Tok::Percent | Tok::Int | Tok::Minus) {
                draft.raws.push(p.operand()?);
                items.push(GroupItem::Named(word));
            } else {
                let value = p.micro_word()?;
                items.push(GroupItem::Pair(word, value));
            }
            Ok(())
        })?;
        draft.items.push(Item::Group(name, items));
        Ok(())
    }

    /// Types behind `:`; those of a group may stand behind its name or between its parentheses.
    fn micro_types(&mut self, draft: &mut Draft) -> Res<()> {
        loop {
            let is_word = self.at(Tok::Word) && crate::types::scalar(self.here()).is_none();
            if is_word && self.second().kind == Tok::LParen {
                self.bump();
                let open = self.bump().span;
                let inside: Types = self.list_of(open, Tok::RParen, Self::ty)?;
                draft.types.extend(inside);
            } else {
                if is_word && !self.here().starts_with("memref") {
                    self.bump();
                    // A word of its own, which has no type: nd2nz.
                    if self.eat(Tok::Comma) {
                        continue;
                    }
                }
                draft.types.push(self.ty()?);
            }
            if !self.eat(Tok::Comma) {
                return Ok(());
            }
        }
    }

    /// Pairs types with operands; gives the types of the results.
    fn give_types(&mut self, draft: &mut Draft, call: &Call, results: &Results) -> Res<Types> {
        let types = std::mem::take(&mut draft.types);
        let made = match draft.results.take() {
            Some(made) => made,
            // Without operands the only types are those of the results.
            None if draft.raws.is_empty() && !results.names.is_empty() => return Ok(types),
            None => Types::new(),
        };
        let is_value = |raw: &Raw| matches!(raw.what, super::RawArg::Name(_));
        let values = draft.raws.iter().filter(|raw| is_value(raw)).count();
        let given = types.len();
        if given == values {
            set_types(draft.raws.iter_mut().filter(|raw| is_value(raw)), &types);
        } else if given + draft.indices.len() == draft.raws.len() {
            let plain = draft.raws.iter_mut().enumerate().filter(|(n, _)| !draft.indices.contains(n));
            set_types(plain.map(|(_, raw)| raw), &types);
        } else if given > values {
            let what = format!("{} has {values} operands, and {given} types are written", call.name);
            let span = results.start.to(self.prev);
            return self.fail("operand-count", span, what, format!("write {}", call.row.text));
        } else {
            // Some rows leave the types of numbers out (vsunpack).
            let is_left_out = call.row.text.contains(", %h :");
            set_types(draft.raws.iter_mut().filter(|raw| is_value(raw)), &types);
            if !is_left_out {
                let what = format!("{} has {values} operands, and {given} types are written", call.name);
                let span = results.start.to(self.prev);
                let help = format!("write {}", call.row.text);
                self.push(Diagnostic::warning("operand-count", what).at(span, "types are missing").help(help));
            }
        }
        Ok(made)
    }

    /// `pto.strict_vecscope(%a, …) { ^bb0(%x: T, …): … } : (T, …) -> ()`.
    fn strict_vecscope(&mut self, results: &Results) -> Res<()> {
        self.bump();
        let open = self.expect(Tok::LParen, "`(` and the operands")?.span;
        let mut raws = self.operand_list(open, Tok::RParen)?;
        let head = results.start.to(self.prev);
        let body = self.region(&[])?;
        if self.eat(Tok::Colon) {
            let (ins, _) = self.arrow_types()?;
            set_types(&mut raws, &ins);
        }
        let args: Vec<ValueId> = self.func.block(body).args.to_vec();
        if args.len() != raws.len() {
            let what =
                format!("{} operands enter the vecscope, and its block has {} arguments", raws.len(), args.len());
            return self.fail("operand-count", head, what, "write one argument for each operand: ^bb0(%x: T):");
        }
        let mut handed: Vec<OpId> = Vec::new();
        for (raw, arg) in raws.iter().zip(&args) {
            let Some(operand) = self.resolve(raw, Role::Scalar, None) else { return Err(super::Failed) };
            let (known, wanted) = (operand.arg.value().and_then(|v| self.type_of_value(v)), self.type_of_value(*arg));
            if let (Some(known), Some(wanted)) = (known, wanted)
                && !known.same(wanted, self.profile())
            {
                let what =
                    format!("an operand of {} enters as {}", crate::print_type(known), crate::print_type(wanted));
                return self.fail("type-mismatch", raw.span, what, "give the argument the operand's type");
            }
            handed.push(self.hand_argument(operand, *arg));
        }
        let block = self.func.block_mut(body);
        block.args.clear();
        block.ops.splice(0..0, handed);
        self.section_of(results, "strict_vecscope", head, body)
    }

    /// Makes the argument that an operand becomes inside a strict vecscope.
    fn hand_argument(&mut self, operand: Operand, arg: ValueId) -> OpId {
        let span: Span = self.func.value(arg).span;
        let mut op = Op::new(OpKind::Select, TextForm::Ssa, span);
        let always = Operand { role: Role::Number, arg: Arg::Int(1), span, type_span: span };
        op.operands.extend([always, operand, operand]);
        op.results = smallvec![arg];
        let id = self.func.add_op(op);
        self.func.value_mut(arg).def = Def::Result(id, 0);
        id
    }
}
