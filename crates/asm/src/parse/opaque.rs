//! Known PTO operations without a row, in shapes of their own (isa/structure.md 5 and 10): FIFOs, sessions between
//! devices, and what lies below the tile level. Their names and values are looked up; their text is kept as it is.

use super::attr::Entry;
use super::{Parser, Raw, Raws, Res, Results, Types};
use crate::lex::Tok;
use crate::print::print_type;
use tessera_ir::{BlockId, LocId, Op, OpKind, ScalarType, StackSlots, TextForm, Type};
use tessera_isa::diag::Span;
use tessera_isa::ops::{IdArray, Role, UNKNOWN_OP};

impl Parser<'_> {
    /// Whether the text after the mnemonic has a shape of its own.
    pub(super) fn at_opaque(&self) -> bool {
        let may_start = matches!(self.tok.kind, Tok::Str | Tok::Hash | Tok::Less);
        matches!(
            self.tok.kind,
            Tok::LParen | Tok::LBrace | Tok::LBracket | Tok::Less | Tok::Arrow | Tok::Str | Tok::Hash
        ) && !(self.tok.first && may_start)
    }

    /// `pto.NAME {…} (k = %a : T, …) {…} : T -> T`, in any order; the mnemonic has been read.
    pub(super) fn opaque(&mut self, results: &Results, name: &'static str) -> Res<()> {
        let start = self.prev;
        let (mut raws, mut entries, mut types) = (Raws::new(), Vec::new(), Types::new());
        // Places of elements have no types in the text.
        let mut places = 0..0;
        loop {
            // Words behind the operands are the operation's, but a location is not, nor the next statement.
            let at_location = self.at_location();
            let starts = self.tok.first && (self.starts_statement() || self.at_next_statement());
            let is_region = matches!(name, "vecscope" | "strict_vecscope" | "section.simt") || self.opens_region(name);
            match self.tok.kind {
                Tok::LBrace if is_region => self.skip_region()?,
                Tok::LBrace => self.attributes(&mut entries)?,
                Tok::LParen => {
                    self.labelled(&mut raws)?;
                }
                Tok::LBracket => {
                    let first = raws.len();
                    self.bracketed(&mut raws)?;
                    if IdArray::parse(name).is_some() {
                        places = first..raws.len();
                    }
                }
                Tok::Less => {
                    self.attr()?;
                }
                Tok::Str if !self.tok.first => {
                    self.bump();
                }
                Tok::Percent | Tok::Int | Tok::Minus if !self.tok.first => raws.push(self.operand()?),
                Tok::Comma | Tok::Equal if !self.tok.first => {
                    self.bump();
                }
                // Words and groups of their own: `nd2nz`, `shape(%n, %n)`.
                Tok::Word if !at_location && !starts => {
                    self.bump();
                }
                Tok::Hash if !self.tok.first => {
                    self.attr()?;
                }
                Tok::Float if !self.tok.first => {
                    self.bump();
                }
                Tok::Colon => {
                    self.bump();
                    let given = self.worded_types()?;
                    let untyped =
                        raws.iter_mut().enumerate().filter(|(n, raw)| raw.ty.is_none() && !places.contains(n));
                    untyped.zip(&given).for_each(|((_, raw), ty)| raw.ty = Some(*ty));
                    // The type of what is made stands alone; extents are numbers.
                    if raws.is_empty() {
                        raws.iter_mut().for_each(|raw| raw.ty = None);
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
        let array = IdArray::parse(name);
        if types.is_empty() && array == Some(IdArray::Get) {
            types.push((self.common.index, start));
        }
        if let Some(how) = array.filter(|how| *how != IdArray::Declare) {
            self.check_element(how, &raws, &types, start)?;
        }
        // Extents are numbers.
        if types.is_empty() && name == "get_validshape" {
            types.extend(results.names.iter().map(|_| (self.common.index, start)));
        }
        if types.is_empty() && !results.names.is_empty() {
            return self.expected("`->` and the type of the result");
        }
        let loc = self.tail(&mut entries)?;
        self.keep(results, name, start, (&raws, entries, types), loc)
    }

    /// An element of a local array or struct: as many places as dimensions, a path to a scalar, and its type
    /// (isa/today.md 4.3).
    fn check_element(&mut self, how: IdArray, raws: &Raws, types: &Types, start: Span) -> Res<()> {
        let span = start.to(self.prev);
        let [array, rest @ ..] = raws.as_slice() else {
            let help = "write the array, and which element in brackets";
            return self.fail("operand-count", span, "the operation names no array", help);
        };
        let ty = self.raw_type(array).map(|id| self.module.types.get(id));
        let Some(slots) = ty.and_then(Type::stack_slots) else {
            let of = ty.map_or_else(|| "a value without a type".into(), print_type);
            let text = format!("an element is taken of {of}, which is no array and no struct");
            return self.fail("type-mismatch", span, text, "write !pto.local_array<4x8xf32> or !pto.struct<f32, i8>");
        };
        let places = rest.len() - usize::from(how == IdArray::Set && !rest.is_empty());
        let known: Option<Vec<i64>> = rest.iter().take(places).map(|raw| self.constant_of(raw)).collect();
        if let StackSlots::Array { dims, .. } = &slots
            && dims.len() != places
        {
            let text = format!("{places} indices are written for {} dimensions", dims.len());
            return self.fail("operand-count", span, text, "write one index for each dimension");
        }
        let is_struct = matches!(slots, StackSlots::Struct(_));
        let element = known.as_deref().map(|path| (slots.element(path), slots.type_at(path)));
        match element {
            None if is_struct => {
                self.fail("struct-path", span, "the path of a field is not constant", "write numbers in brackets")
            }
            Some((Err((n, at)), _)) if is_struct => {
                let text = format!("step {n} of the path, {at}, leads to no scalar field");
                self.fail("struct-path", span, text, "write the numbers of fields down to a scalar")
            }
            Some((Err((n, at)), _)) if how != IdArray::Declare && slots.type_at(&[]) != Some(ScalarType::Index) => {
                let text = format!("index {at} of dimension {n} is outside of the local array");
                self.fail("local-bounds", span, text, "use an index inside the array")
            }
            _ => {
                let of = slots.type_at(known.as_deref().unwrap_or_default());
                let written = match how {
                    IdArray::Set => rest.last().and_then(|raw| self.raw_type(raw)),
                    _ => types.first().map(|(id, _)| *id),
                };
                let written = written.map(|id| self.module.types.get(id).clone());
                let fits = |of: ScalarType| written.as_ref().is_none_or(|ty| *ty == Type::Scalar(of));
                let is_ids = of == Some(ScalarType::Index);
                if let Some(of) = of.filter(|of| !is_ids && !fits(*of)) {
                    let text = format!("an element is {}, and another type is written", print_type(&Type::Scalar(of)));
                    return self.fail("type-mismatch", span, text, "write the type of the element");
                }
                Ok(())
            }
        }
    }

    /// `T, word, word T, word(T, T)`: types, with words between them.
    fn worded_types(&mut self) -> Res<Types> {
        let mut types = Types::new();
        loop {
            let is_word =
                self.at(Tok::Word) && crate::types::scalar(self.here()).is_none() && !self.here().contains("memref");
            if is_word && self.second().kind != Tok::Less && !self.tok.first {
                self.bump();
                if matches!(self.tok.kind, Tok::Comma | Tok::End | Tok::Eof) || self.tok.first {
                    if !self.eat(Tok::Comma) {
                        return Ok(types);
                    }
                    continue;
                }
            }
            types.extend(self.type_list()?);
            if !self.eat(Tok::Comma) {
                return Ok(types);
            }
        }
    }

    /// The operation with its values, its attributes, and its text.
    fn keep(
        &mut self,
        results: &Results,
        name: &'static str,
        start: Span,
        (raws, entries, types): (&[Raw], Vec<Entry>, Types),
        loc: Option<LocId>,
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
            if self.at(Tok::Word) && self.second().kind == Tok::LParen {
                // `buf(%a, %b)`: a group, whose types stand behind with the others'.
                self.bump();
                let open = self.bump().span;
                let group = self.operand_list(open, Tok::RParen)?;
                words.extend(group.iter().map(|_| None));
                out.extend(group);
                if !self.at(Tok::Colon) {
                    if self.eat(Tok::Comma) {
                        continue;
                    }
                    break;
                }
            } else {
                words.push(is_word.then(|| self.bump().span));
                if is_word {
                    self.bump();
                }
                out.push(self.operand()?);
            }
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

    /// Whether the brace of an operation that is not known opens a region and no dictionary.
    fn opens_region(&mut self, name: &str) -> bool {
        let next = self.second();
        name == UNKNOWN_OP && (next.first || matches!(next.kind, Tok::Percent | Tok::Caret))
    }

    /// Skips statements below the tile level, which are not read.
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
