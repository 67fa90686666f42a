//! Instructions whose text has a shape of its own (syntax.md 4).
//!
//! Each shape is read into operands with roles and result types; the generic form gives the same by position.

use super::attr::{Attr, Entry};
use super::flow::set_types;
use super::names::rank_of;
use super::{Parser, Raw, RawArg, Raws, Res, Results, TypeAt, Types};
use crate::dialect::{Part, shape};
use crate::lex::Tok;
use crate::print::print_type;
use crate::sink::shown;
use crate::types::pointer_space;
use smallvec::{SmallVec, smallvec};
use tessera_ir::{Def, LocId, Op, OpKind, TextForm, Type, TypeId, ViewType};
use tessera_isa::diag::Span;
use tessera_isa::ops::{Form, Opcode, Order, Role, Text};
use tessera_isa::sem::Sem;
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
    pub(super) fn special(&mut self, results: &Results, opcode: Opcode, form: TextForm) -> Res<()> {
        let mut draft = Draft::default();
        let mut is_inferred = false;
        match opcode.info().text {
            Text::Alloc => self.alloc_tile(&mut draft)?,
            Text::Assign => self.tassign(&mut draft, results)?,
            Text::SetValid => self.set_validshape(&mut draft)?,
            Text::Subset => self.subset(&mut draft)?,
            Text::Slot => {
                self.plays(&mut draft, Role::Src)?;
                let at = self.list()?;
                let [index] = at.as_slice() else {
                    let text = format!("multi_tile_get takes one slot, and {} numbers are written", at.len());
                    return self.fail("operand-count", self.prev, text, "write %m[%k]");
                };
                draft.operands.push((Role::Index, *index));
                self.first_and_result(&mut draft)?;
            }
            Text::MakeView => {
                self.two_lists(&mut draft, ["shape", "strides"])?;
                self.result_type(&mut draft, "`:` and the view's type")?;
            }
            Text::Partition => {
                self.two_lists(&mut draft, ["offsets", "sizes"])?;
                draft.entries = self.optional_dictionary()?;
                is_inferred = self.view_and_window(&mut draft)?;
            }
            Text::AddPtr => {
                self.plays(&mut draft, Role::Global)?;
                self.expect(Tok::Comma, "`,`")?;
                self.plays(&mut draft, Role::Number)?;
                self.first_and_result(&mut draft)?;
            }
            Text::Address(roles) => self.address(&mut draft, opcode, roles)?,
            Text::Dim => {
                self.plays(&mut draft, Role::Global)?;
                self.expect(Tok::Comma, "`,`")?;
                self.plays(&mut draft, Role::Number)?;
                if self.eat(Tok::Colon) {
                    self.operand_types(&mut draft)?;
                    self.expect(Tok::Arrow, "`->`")?;
                    draft.types.push(self.ty()?);
                } else {
                    draft.types.push((self.common.index, self.prev));
                }
            }
            Text::Extents(axes) => {
                self.plays(&mut draft, Role::Tile)?;
                if self.eat(Tok::Colon) {
                    self.operand_types(&mut draft)?;
                }
                if self.eat(Tok::Arrow) {
                    draft.types = self.type_list()?;
                } else {
                    draft.types.extend(axes.iter().map(|_| (self.common.index, self.prev)));
                }
                if results.names.len() != axes.len() {
                    let text = format!("{opcode} has {} results, and {} are named", axes.len(), results.names.len());
                    return self.fail("operand-count", results.start, text, format!("name {} results", axes.len()));
                }
            }
            Text::Print => self.print_of(&mut draft)?,
            Text::LoadScalar => {
                self.element(&mut draft)?;
                self.first_and_result(&mut draft)?;
            }
            Text::StoreScalar => self.store_scalar(&mut draft)?,
            Text::Value => {
                self.plays(&mut draft, Role::Fill)?;
                if self.eat(Tok::Colon) {
                    let ty = self.ty()?;
                    set_types(draft.operands.iter_mut().map(|(_, raw)| raw), &smallvec![ty]);
                }
            }
            Text::Number => {
                let usual = (self.common.i64, results.start.to(self.prev));
                draft.types.push(if self.eat(Tok::Colon) { self.ty()? } else { usual });
            }
            Text::Pipe(text) => self.pipe_text(&mut draft, results, opcode, text)?,
            Text::Meet => self.meeting(&mut draft)?,
            Text::Comm(text) => self.between_ranks(&mut draft, results, opcode, text)?,
            Text::Hint(words) => self.hint(&mut draft, opcode, words)?,
            // `pto.trap "sentence"` (isa/today.md 3).
            Text::Ignored if self.at(Tok::Str) && !self.tok.first && matches!(opcode.info().sem, Sem::Traps) => {
                let span = self.bump().span;
                draft.words.push(self.slice(span).to_string());
            }
            Text::Attributes | Text::Ignored => {}
            _ => {
                self.synchronisation(&mut draft, opcode)?;
                // A token of another core is no value.
                if matches!(opcode.info().sem, Sem::Orders(Order::CoreSet | Order::CoreWait)) {
                    draft.types.clear();
                }
            }
        }
        let loc = self.tail(&mut draft.entries)?;
        self.finish_special(results, opcode, form, draft, loc)?;
        if is_inferred && let Some(made) = results.names.first().and_then(|(name, _)| self.scope.find(*name)) {
            self.scope.windows.insert(made);
        }
        Ok(())
    }

    /// Looks the operands up, checks that their types play their roles, and puts the operation into the block.
    pub(super) fn finish_special(
        &mut self,
        results: &Results,
        opcode: Opcode,
        form: TextForm,
        mut draft: Draft,
        loc: Option<LocId>,
    ) -> Res<()> {
        let info = opcode.info();
        if info.text == Text::Subset {
            self.subset_type(&mut draft, results.start)?;
        }
        self.write_rank(&mut draft);
        self.check_types(opcode, &draft, results.start)?;
        let mut op = Op::new(OpKind::Pto(opcode, Form::Plain), form, results.start);
        let pointer = self.pointer_of(opcode, &draft);
        for (role, raw) in &draft.operands {
            if info.text == Text::Assign && *role == Role::Tile {
                self.name_forward(raw);
            }
            let usual = match role {
                Role::Global => pointer,
                Role::Scalar => None,
                _ => self.usual_type(*role, None),
            };
            let Some(operand) = self.resolve(raw, *role, usual) else { continue };
            if let Some(ty) = operand.arg.value().and_then(|v| self.type_of_value(v)) {
                // Events take any role; they have no effect here. An operand that is synchronised, or given the
                // address of the flags, may be anything (sync.md 2, isa/today.md 3).
                let any = matches!(info.sem, Sem::Orders(Order::Nothing | Order::Cache | Order::Events | Order::Meet))
                    || info.text == Text::Slot && ty.slots().is_some();
                if !ty.plays(*role) && *ty != Type::Event && !any {
                    let (role, written) = (role.name(), shown(self.slice(raw.span)));
                    let text = format!("{role} of {opcode} cannot be {written}, which is {}", print_type(ty));
                    let _: Res<()> = self.fail("type-mismatch", raw.span, text, "give an operand of the right kind");
                }
            }
            op.operands.push(operand);
        }
        if info.text == Text::Slot {
            self.slot_extents(&mut op);
        }
        op.attrs = if info.text == Text::Ignored {
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
        self.finish(op, results, &draft.types, loc)
    }

    /// A slot has the valid extents that its multi-buffer tile was allocated with.
    fn slot_extents(&mut self, op: &mut Op) {
        let tiles = op.operand(Role::Src).and_then(|o| o.arg.value()).map(|tiles| self.func.value(tiles).def);
        let Some(Def::Result(alloc, _)) = tiles else { return };
        let given = [Role::ValidRow, Role::ValidCol].into_iter().filter_map(|role| self.func.op(alloc).operand(role));
        op.operands.extend(given.copied());
    }

    /// `tensor_view<2xf32>` with two numbers in each list says its rank (isa/structure.md 2).
    fn write_rank(&mut self, draft: &mut Draft) {
        let numbers = draft.operands.iter().filter(|(role, _)| *role == Role::Number).count();
        let written = draft.operands.iter_mut().filter_map(|(_, raw)| raw.ty.as_mut());
        for ty in written.chain(draft.types.first_mut()) {
            if let Type::View(view) = self.module.types.get(ty.0)
                && let Some(rank) = rank_of(&view.dims).filter(|rank| rank * 2 == numbers)
            {
                let view = ViewType { dims: SmallVec::from_elem(None, rank), ..view.clone() };
                ty.0 = self.module.types.intern(Type::View(view));
            }
        }
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
        match (opcode.info().text, self.module.types.get(*id)) {
            (Text::MakeView, Type::View(v)) => Some(self.module.types.intern(Type::Ptr(v.elem, None))),
            _ => None,
        }
    }

    /// A listing's `tassign` may name a value that is defined later (syntax.md 1).
    fn name_forward(&mut self, raw: &Raw) {
        if let (RawArg::Name(name), None) = (raw.what, raw.ty)
            && self.lex.listing
            && self.scope.find(name).is_none()
        {
            let value = self.define(name, (super::UNKNOWN, raw.span), Def::Input, raw.span);
            self.scope.forward.insert(value);
            self.scope.named_first.insert(value);
        }
    }

    fn alloc_tile(&mut self, draft: &mut Draft) -> Res<()> {
        const ROLES: [Role; 3] = [Role::Addr, Role::ValidRow, Role::ValidCol];
        while let Some(role) = ROLES.into_iter().find(|role| self.at_word(role.name())) {
            let span = self.bump().span;
            if draft.operands.iter().any(|(r, _)| *r == role) {
                let text = format!("{} is written twice", role.name());
                return self.fail("syntax-attribute", span, text, "remove one of them");
            }
            self.expect(Tok::Equal, "`=`")?;
            self.plays(draft, role)?;
            self.eat(Tok::Comma);
        }
        draft.operands.sort_by_key(|(role, _)| ROLES.iter().position(|r| r == role));
        self.result_type(draft, "`:` and the tile's type")
    }

    /// `%x : T -> T`: a tile, a view, a pointer or a number, and what it becomes.
    fn address(&mut self, draft: &mut Draft, opcode: Opcode, roles: &[Role]) -> Res<()> {
        let raw = self.plays(draft, Role::Global)?;
        let role = |ty: &Type| match ty {
            ty if ty.is_tile() => Role::Tile,
            Type::Scalar(_) => Role::Number,
            _ => Role::Global,
        };
        if self.at(Tok::Colon) {
            self.first_and_result(draft)?;
        } else {
            return self.expected("`:` and the types");
        }
        let written = draft.operands.first().and_then(|(_, raw)| raw.ty).map(|ty| ty.0);
        let known = self.raw_type(&raw).or(written).map(|id| role(self.module.types.get(id)));
        let Some((first, (made, at))) = draft.operands.first_mut().zip(draft.types.first().copied()) else {
            return Ok(());
        };
        first.0 = known.unwrap_or(Role::Global);
        let to = self.module.types.get(made);
        // A pointer becomes a number only where a number may become a pointer.
        let is_number = first.0 == Role::Global && roles.contains(&Role::Number) && to.plays(Role::Number);
        if roles.contains(&first.0) && (matches!(to, Type::Ptr(..)) || is_number) {
            return self.space_of(&raw, written, (made, at));
        }
        let text = format!("{opcode} cannot make {} of this operand", print_type(to));
        self.fail("type-mismatch", at, text, "write a pointer type, !pto.ptr<f32, ub>")
    }

    /// The address of a tile lies in the tile's memory.
    fn space_of(&mut self, raw: &Raw, written: Option<TypeId>, (made, at): TypeAt) -> Res<()> {
        let tile = match self.raw_type(raw).or(written).map(|id| self.module.types.get(id)) {
            Some(Type::Tile(tile)) => Some(tile.loc),
            _ => None,
        };
        let space = match self.module.types.get(made) {
            Type::Ptr(_, Some(space)) => pointer_space(space),
            _ => None,
        };
        let (Some(tile), Some(space)) = (tile, space.filter(|space| Some(*space) != tile)) else { return Ok(()) };
        let text = format!("the tile lies in {tile}, and its address is said to be one of {space}");
        self.fail("type-mismatch", at, text, "write the space of the tile's memory, as in !pto.ptr<f32, ub>")
    }

    /// `ins("format %d", %v : i32)`.
    fn print_of(&mut self, draft: &mut Draft) -> Res<()> {
        let in_group = self.eat_word("ins");
        let open = self.tok.span;
        if in_group {
            self.expect(Tok::LParen, "`(`")?;
        }
        if self.at(Tok::Str) {
            draft.words.push(super::attr::unquote(self.here()));
            self.bump();
        } else {
            return self.expected("the format, a string");
        }
        while self.eat(Tok::Comma) {
            self.plays(draft, Role::Scalar)?;
        }
        if self.eat(Tok::Colon) {
            self.operand_types(draft)?;
        }
        if in_group {
            self.close(Tok::RParen, open)?;
        }
        Ok(())
    }

    /// `all #pto.address_space<gm>`, `%v single_cache_line : T`, `#pto.fence_scope<gm>`.
    fn hint(&mut self, draft: &mut Draft, opcode: Opcode, words: &[&str]) -> Res<()> {
        loop {
            let (start, at_location) = (self.tok.span, self.at_location());
            match self.tok.kind {
                Tok::Percent if !self.tok.first => {
                    self.plays(draft, Role::Scalar)?;
                    continue;
                }
                Tok::Word if !self.tok.first && !at_location => {
                    self.bump();
                }
                Tok::Hash if !self.tok.first => {
                    self.attr()?;
                }
                _ => break,
            }
            let span = start.to(self.prev);
            let written = self.expand(self.slice(span));
            if !words.contains(&written.as_str()) {
                let text = format!("{opcode} does not know {}", shown(&written));
                return self.fail("syntax-attribute", span, text, format!("write {}", words.join(" or ")));
            }
            draft.words.push(written);
        }
        if self.eat(Tok::Colon) {
            self.operand_types(draft)?;
        }
        Ok(())
    }

    pub(super) fn plays(&mut self, draft: &mut Draft, role: Role) -> Res<Raw> {
        let raw = self.operand()?;
        draft.operands.push((role, raw));
        Ok(raw)
    }

    /// `T, T` behind the operands, in their order; gives the types that are left over.
    pub(super) fn operand_types(&mut self, draft: &mut Draft) -> Res<Types> {
        let mut types = self.type_list()?;
        while self.eat(Tok::Comma) {
            types.push(self.ty()?);
        }
        set_types(draft.operands.iter_mut().map(|(_, raw)| raw), &types);
        Ok(types.into_iter().skip(draft.operands.len()).collect())
    }

    /// `: T [-> T]`: the types of a view and of its window. A window of another rank, or without a type, has the view's
    /// rank and the extents that are constants (isa/today.md 3).
    fn view_and_window(&mut self, draft: &mut Draft) -> Res<bool> {
        self.expect(Tok::Colon, "`:` and the types")?;
        let from = self.ty()?;
        set_types(draft.operands.iter_mut().map(|(_, raw)| raw), &smallvec![from]);
        self.write_rank(draft);
        let written = if self.eat(Tok::Arrow) { Some(self.ty()?) } else { None };
        if written.is_none() {
            self.mark(Part::Shape, shape::UNTYPED_PARTITION, from.1);
        }
        let numbers: Vec<Raw> =
            draft.operands.iter().filter(|(r, _)| *r == Role::Number).map(|(_, raw)| *raw).collect();
        let rank = numbers.len() / 2;
        let dims = written.and_then(|(id, _)| match self.module.types.get(id) {
            Type::View(view) => Some(view.dims.clone()),
            _ => None,
        });
        if let Some(ty) = written.filter(|_| dims.as_ref().is_none_or(|dims| dims.len() == rank)) {
            draft.types.push(ty);
            return Ok(false);
        }
        let Some(elem) = self.module.types.get(from.0).global_elem() else {
            draft.types.push(written.unwrap_or(from));
            return Ok(false);
        };
        if let (Some(dims), Some((_, at))) = (&dims, written)
            && let Some(extra) = dims.iter().take(dims.len().saturating_sub(rank)).find(|n| **n != Some(1))
        {
            let extra = extra.map_or("?".into(), |n| n.to_string());
            let text = format!("a window of {rank} dimensions gets a leading extent of {extra}");
            return self.fail("type-mismatch", at, text, "add or drop leading extents of 1 only");
        }
        let extent = |raw: &Raw| self.constant_of(raw).and_then(|n| u64::try_from(n).ok());
        let dims = numbers.iter().skip(rank).map(extent).collect();
        let window = self.module.types.intern(Type::View(ViewType { partition: true, dims, elem }));
        draft.types.push((window, written.map_or(from.1, |(_, at)| at)));
        Ok(true)
    }

    /// `: T -> T`: the types of the first operand and of the result.
    fn first_and_result(&mut self, draft: &mut Draft) -> Res<()> {
        self.expect(Tok::Colon, "`:` and the types")?;
        let from = self.ty()?;
        self.expect(Tok::Arrow, "`->`")?;
        set_types(draft.operands.iter_mut().map(|(_, raw)| raw), &smallvec![from]);
        draft.types.push(self.ty()?);
        Ok(())
    }

    /// `{…} : T`: attributes and the type of the result.
    fn result_type(&mut self, draft: &mut Draft, what: &str) -> Res<()> {
        draft.entries = self.optional_dictionary()?;
        self.expect(Tok::Colon, what)?;
        draft.types.push(self.ty()?);
        Ok(())
    }

    /// `%t, @tile(0x1000)`, or `%t, %addr [: T -> T]`.
    fn tassign(&mut self, draft: &mut Draft, results: &Results) -> Res<()> {
        let tile = self.plays(draft, Role::Tile)?;
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
            self.operand_types(draft)?;
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
        self.plays(draft, Role::Tile)?;
        for role in [Role::ValidRow, Role::ValidCol] {
            self.expect(Tok::Comma, "`,`")?;
            self.plays(draft, role)?;
        }
        draft.entries = self.optional_dictionary()?;
        if self.eat(Tok::Colon) {
            self.operand_types(draft)?;
        }
        if let Some((_, raw)) = draft.operands.first().copied()
            && raw.ty.is_some_and(|(_, at)| self.slice(at).starts_with("memref"))
        {
            self.open_extents(&raw);
        }
        Ok(())
    }

    /// `%t[%r, %c] sizes [n, m] [valid [%r, %c]] : T [-> T]`.
    fn subset(&mut self, draft: &mut Draft) -> Res<()> {
        self.plays(draft, Role::Src)?;
        let at = self.list()?;
        let [row, col] = at.as_slice() else {
            let text = format!("subview takes a row and a column, and {} numbers are written", at.len());
            return self.fail("operand-count", self.prev, text, "write %t[%row, %col]");
        };
        draft.operands.extend([(Role::Row, *row), (Role::Col, *col)]);
        if !self.eat_word("sizes") {
            return self.expected("`sizes [rows, cols]`");
        }
        let open = self.expect(Tok::LBracket, "`[`")?.span;
        let rows = self.integer()?;
        self.expect(Tok::Comma, "`,`")?;
        let cols = self.integer()?;
        self.close(Tok::RBracket, open)?;
        draft.sizes = Some([rows, cols].map(|n| u64::try_from(n).unwrap_or(u64::MAX)));
        if self.eat_word("valid") {
            let valid = self.list()?;
            let [rows, cols] = valid.as_slice() else {
                let text = format!("valid takes rows and columns, and {} numbers are written", valid.len());
                return self.fail("operand-count", self.prev, text, "write valid [%rows, %cols]");
            };
            draft.operands.extend([(Role::ValidRow, *rows), (Role::ValidCol, *cols)]);
        }
        draft.entries = self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the source's type")?;
        let ty = self.ty()?;
        set_types(draft.operands.iter_mut().map(|(_, raw)| raw), &smallvec![ty]);
        // `-> T` restates what follows from the sizes, and says what is valid; it is checked below.
        if self.eat(Tok::Arrow) {
            draft.types.push(self.ty()?);
        }
        Ok(())
    }

    /// The result has the sizes as declared extents and the source's other fields; its valid extents are those that are
    /// written, else its type's, else the sizes (isa/today.md 5.1).
    fn subset_type(&mut self, draft: &mut Draft, start: Span) -> Res<()> {
        let src = draft.operands.first().map(|(_, raw)| *raw);
        let ty = src.and_then(|raw| self.raw_type(&raw));
        let (Some(raw), Some([rows, cols]), Some(Type::Tile(tile))) =
            (src, draft.sizes, ty.map(|id| self.module.types.get(id)))
        else {
            let text = "subview takes a tile and the sizes of a window";
            let help = "write pto.subview %t[%r, %c] sizes [n, m] : T -> T";
            return self.fail("syntax-form", start.to(self.prev), text, help);
        };
        let mut tile = *tile;
        (tile.rows, tile.cols) = (rows, cols);
        let given = [Role::ValidRow, Role::ValidCol].map(|role| {
            let raw = draft.operands.iter().find(|(r, _)| *r == role).map(|(_, raw)| raw)?;
            let extent = |n| u64::try_from(n).map_or(Extent::Dynamic, Extent::Static);
            Some(self.constant_of(raw).map_or(Extent::Dynamic, extent))
        });
        let written = draft.types.first().copied();
        let of_type = written.and_then(|(id, _)| match self.module.types.get(id) {
            Type::Tile(tile) => Some([tile.v_row, tile.v_col]),
            _ => None,
        });
        let [v_row, v_col] = [(0, rows), (1, cols)].map(|(axis, size)| {
            let given = given[axis];
            match of_type.map(|of_type| of_type[axis]) {
                // A constant that differs from the type is reported below; another value is reported when it is known.
                Some(Extent::Static(n)) if given.is_none_or(|g| g == Extent::Dynamic) => Extent::Static(n),
                Some(Extent::Dynamic) => Extent::Dynamic,
                _ => given.unwrap_or(Extent::Static(size)),
            }
        });
        (tile.v_row, tile.v_col) = (v_row, v_col);
        let id = self.module.types.intern(Type::Tile(tile));
        let span = raw.ty.map_or(raw.span, |(_, span)| span);
        if let Some((written, at)) = written
            && !self.module.types.get(written).same(self.module.types.get(id), self.profile())
        {
            let (is, written) = (self.type_text(id), self.type_text(written));
            let text = format!("the result of subview is {is}, and {written} is written");
            return self.fail("type-mismatch", at, text, "write the window's type, or leave it out");
        }
        draft.types = smallvec![(id, written.map_or(span, |(_, at)| at))];
        Ok(())
    }

    /// `[%a, %b]`.
    pub(super) fn list(&mut self) -> Res<Raws> {
        let open = self.expect(Tok::LBracket, "`[`")?.span;
        self.operand_list(open, Tok::RBracket)
    }

    fn named_list(&mut self, word: &str) -> Res<Raws> {
        if !self.eat_word(word) {
            return self.expected(&format!("`{word} = […]`"));
        }
        self.expect(Tok::Equal, "`=`")?;
        self.list()
    }

    /// `%p, shape = […], strides = […]`: two lists of one length as Number operands.
    fn two_lists(&mut self, draft: &mut Draft, words: [&str; 2]) -> Res<()> {
        self.plays(draft, Role::Global)?;
        self.expect(Tok::Comma, "`,`")?;
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

    /// `%p[%i]`.
    fn element(&mut self, draft: &mut Draft) -> Res<()> {
        self.plays(draft, Role::Global)?;
        let list = self.list()?;
        let [index] = list.as_slice() else {
            let text = format!("one index is wanted, and {} are written", list.len());
            return self.fail("operand-count", self.prev, text, "write %p[%i]");
        };
        draft.operands.push((Role::Number, *index));
        Ok(())
    }

    /// `%v, %p[%i] : P, i32`.
    fn store_scalar(&mut self, draft: &mut Draft) -> Res<()> {
        self.plays(draft, Role::Scalar)?;
        self.expect(Tok::Comma, "`,`")?;
        self.element(draft)?;
        self.expect(Tok::Colon, "`:` and the types")?;
        let pointer = self.ty()?;
        self.expect(Tok::Comma, "`,`")?;
        let types = smallvec![self.ty()?, pointer];
        set_types(draft.operands.iter_mut().map(|(_, raw)| raw), &types);
        Ok(())
    }

    /// Reports a listing's `tassign` of a name that nothing defines.
    pub(super) fn check_forward(&mut self) {
        let left: Vec<_> = self.scope.forward.iter().copied().collect();
        for value in left {
            let v = self.func.value(value);
            let (name, span) = (shown(self.module.names.text(v.name)), v.span);
            let text = format!("%{name} has an address and no definition or type");
            let help = "use it in an instruction, or remove the tassign";
            let _: Res<()> = self.fail_at("undefined-name", (span, "nothing else names it"), text, help);
        }
    }
}
