//! Tiles one level lower (isa/structure.md 7): `memref` and what binds it, read as the instructions that mean the same.
//!
//! A memref on the chip is a tile ([`crate::types`]), so its uses need nothing here.

use super::attr::{Attr, Entry};
use super::{Parser, Raw, RawArg, Raws, Res, Results, TypeAt, Types};
use crate::lex::Tok;
use crate::types::{Piece, configure};
use smallvec::smallvec;
use tessera_ir::{Arg, ArithOp, Def, NameId, Op, OpId, OpKind, Operand, TextForm, Type, TypeId, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::tile::{BLayout, Extent, SLayout, TileType};

/// The numbers of `offset: […], sizes: […], strides: […]`.
struct Strides {
    offset: Raws,
    sizes: Raws,
    strides: Raws,
}

impl Parser<'_> {
    /// An operation on memrefs, or `None` if the word names none.
    pub(super) fn memref(&mut self, results: &Results, word: &str) -> Option<Res<()>> {
        let read = match word {
            "memref.alloc" | "memref.alloca" => Self::alloc_memref,
            "memref.dealloc" => Self::dealloc,
            "memref.cast" => Self::cast_memref,
            "memref.reinterpret_cast" => Self::reinterpret,
            "memref.subview" => Self::subview_memref,
            "pto.bind_tile" => Self::bind_tile,
            "pto.pointer_cast" => Self::pointer_cast,
            "pto.declare_tile_memref" => Self::declare_memref,
            _ => return None,
        };
        self.bump();
        Some(read(self, results))
    }

    /// `memref.alloc() : memref<16x32xf16, #pto.address_space<vec>>`.
    fn alloc_memref(&mut self, results: &Results) -> Res<()> {
        let open = self.expect(Tok::LParen, "`()`")?.span;
        self.close(Tok::RParen, open)?;
        self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        self.made_tile(results, ty)
    }

    /// A tile of a memref's type.
    pub(super) fn made_tile(&mut self, results: &Results, ty: TypeAt) -> Res<()> {
        self.tile_at(ty)?;
        self.made(results, Opcode::AllocTile, &[], ty)
    }

    /// `pto.declare_tile_memref -> M`: a tile that a pop gives its storage.
    fn declare_memref(&mut self, results: &Results) -> Res<()> {
        if self.at(Tok::LParen) {
            let open = self.bump().span;
            self.operand_list(open, Tok::RParen)?;
        }
        self.optional_dictionary()?;
        if !self.eat(Tok::Arrow) {
            self.expect(Tok::Colon, "`->` and the type")?;
        }
        let ty = self.ty()?;
        self.tile_at(ty)?;
        self.made(results, Opcode::DeclareTile, &[], ty)
    }

    /// The tile type of a memref; one in global memory is nothing that a kernel can make.
    fn tile_at(&mut self, ty: TypeAt) -> Res<TileType> {
        if let Type::Tile(tile) = self.module.types.get(ty.0) {
            return Ok(*tile);
        }
        let text = format!("{} lies in no memory of the core", self.type_text(ty.0));
        self.fail("memref-space", ty.1, text, "write #pto.address_space<vec> or another one on the chip")
    }

    /// `memref.dealloc %m : T`: the last use of a tile ends its life.
    fn dealloc(&mut self, results: &Results) -> Res<()> {
        let mut raw = self.operand()?;
        self.expect(Tok::Colon, "`:` and the type")?;
        raw.ty = Some(self.ty()?);
        self.resolve(&raw, Role::Tile, None);
        self.tail(&mut Vec::new())?;
        match results.names.first() {
            None => Ok(()),
            Some((_, span)) => self.fail("operand-count", *span, "memref.dealloc has no result", "leave the name out"),
        }
    }

    /// `memref.cast %m : A to B`: another name of the same thing.
    fn cast_memref(&mut self, results: &Results) -> Res<()> {
        let mut raw = self.operand()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        raw.ty = Some(self.ty()?);
        self.expect_word("to")?;
        let to = self.ty()?;
        self.tail(&mut Vec::new())?;
        let Some(value) = self.resolve(&raw, Role::Tile, None).and_then(|o| o.arg.value()) else { return Ok(()) };
        if !self.says(value, to) {
            let text = format!("{} cannot be {}", self.type_text(self.func.value(value).ty), self.type_text(to.0));
            return self.fail("type-mismatch", to.1, text, "a cast keeps element type, rank and known extents");
        }
        self.alias(results, value)
    }

    /// Lets a statement's result be a value that is there already.
    fn alias(&mut self, results: &Results, value: ValueId) -> Res<()> {
        let [(name, span)] = results.names.as_slice() else {
            return self.fail("operand-count", results.start, "the operation has one result", "write one name");
        };
        if let Some(old) = self.scope.find(*name) {
            let first = self.func.value(old).span;
            let text = format!("%{} is defined twice", self.module.names.text(*name));
            return self.redefined(text, *span, first);
        }
        self.scope.rename(*name, value);
        Ok(())
    }

    /// `pto.bind_tile %m, %r, %c {config = …} : M -> M`, or `pto.bind_tile %m : T -> T` where the type says all of it.
    fn bind_tile(&mut self, results: &Results) -> Res<()> {
        if self.at_word("ins") {
            return self.instruction(results, Opcode::BindTile, TextForm::Ssa, Vec::new());
        }
        let mut src = self.operand()?;
        let mut valid = Raws::new();
        while self.eat(Tok::Comma) {
            valid.push(self.operand()?);
        }
        let entries = self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        src.ty = Some(self.ty()?);
        self.expect(Tok::Arrow, "`->`")?;
        let to = self.ty()?;
        self.bind(results, src, &valid, &entries, to)
    }

    /// The storage of a tile with the layout of `config` and a valid region.
    pub(super) fn bind(&mut self, results: &Results, src: Raw, valid: &Raws, entries: &[Entry], to: TypeAt) -> Res<()> {
        let (from, result) = (self.tile_at(src.ty.unwrap_or(to))?, self.tile_at(to)?);
        // Lowered text says which operation it was.
        let view = entries.iter().find(|e| e.key == "pto.view_semantics").map(|e| self.value_text(e));
        let is_other = from.loc == result.loc && view.is_some();
        if !is_other
            && (from.loc, from.elem, from.rows, from.cols) != (result.loc, result.elem, result.rows, result.cols)
        {
            let text = format!("{} is bound as {}", self.type_text(src.ty.unwrap_or(to).0), self.type_text(to.0));
            return self.fail("type-mismatch", to.1, text, "bind_tile keeps location, element type and extents");
        }
        let (ty, valid) = self.bound_type(result, to, entries, valid)?;
        // Lowered text writes the strides inside of boxes.
        let by_rows = |ty: &Type| matches!(ty, Type::Tile(t) if t.blayout != Some(BLayout::ColMajor) && t.slayout != Some(SLayout::RowMajor) && t.slayout != Some(SLayout::ColMajor));
        if by_rows(self.module.types.get(ty.0)) {
            self.check_pitch(result.cols, to.1);
        }
        let Some(src) = self.resolve(&src, Role::Src, None) else { return Ok(()) };
        let opcode = match view {
            Some(_) if from.elem != result.elem => Opcode::Bitcast,
            Some(_) if (from.rows, from.cols) != (result.rows, result.cols) => Opcode::Treshape,
            _ => Opcode::BindTile,
        };
        self.made(results, opcode, &[src], ty)?;
        if let (Some(valid), Some((name, span))) = (valid, results.names.first())
            && let Some(tile) = self.scope.find(*name)
        {
            let mut op = Op::new(OpKind::Pto(Opcode::SetValidshape, Form::Plain), TextForm::Ssa, results.start);
            op.span = results.start.to(self.prev);
            op.operands.push(Operand { role: Role::Tile, arg: Arg::Value(tile), span: *span, type_span: *span });
            op.operands.extend(valid);
            self.func.push_op(self.block, op);
        }
        Ok(())
    }

    /// `pto.pointer_cast(%addr) [%r, %c] {config = …} : M`.
    fn pointer_cast(&mut self, results: &Results) -> Res<()> {
        let open = self.expect(Tok::LParen, "`(` and the address")?.span;
        let addr = self.operand()?;
        self.close(Tok::RParen, open)?;
        let mut valid = if self.at(Tok::LBracket) { self.list()? } else { Raws::new() };
        // Lowered text has no brackets.
        while self.at(Tok::Percent) && !self.tok.first {
            valid.push(self.operand()?);
            self.eat(Tok::Comma);
        }
        let entries = self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the type")?;
        let ty = self.ty()?;
        let tile = self.tile_at(ty)?;
        let (ty, valid) = self.bound_type(tile, ty, &entries, &valid)?;
        let index = self.common.index;
        let addr = self.resolve(&addr, Role::Addr, Some(index));
        let dynamic = valid.into_iter().flatten();
        let operands: Vec<Operand> = addr.into_iter().chain(dynamic).collect();
        self.made(results, Opcode::AllocTile, &operands, ty)
    }

    /// A tile type with the layout of `config` and with a valid region; the region's operands where it is not constant.
    fn bound_type(
        &mut self,
        mut tile: TileType,
        at: TypeAt,
        entries: &[Entry],
        valid: &Raws,
    ) -> Res<(TypeAt, Option<Vec<Operand>>)> {
        for entry in entries {
            let body = match (entry.key.as_str(), &entry.value) {
                ("config", Attr::Dialect(_, body)) => body.clone(),
                _ => continue,
            };
            let body =
                body.strip_prefix("tile_buf_config").map_or(body.as_str(), |rest| rest.trim_matches(['<', '>', ' ']));
            configure(&mut tile, Piece { text: body, start: entry.value_span.start }).map_err(|mut found| {
                found.span = Some(entry.value_span);
                self.push(*found);
                super::Failed
            })?;
        }
        let known: Vec<Option<i64>> = valid.iter().map(|raw| self.constant_of(raw)).collect();
        let dynamic = match known.as_slice() {
            [] => None,
            // A region that is set later is dynamic from the start.
            [Some(rows), Some(cols)] if !entries.iter().any(|e| e.key == "pto.force_dynamic_valid_shape") => {
                let extent = |n: &i64| Extent::Static(u64::try_from(*n).unwrap_or(u64::MAX));
                (tile.v_row, tile.v_col) = (extent(rows), extent(cols));
                None
            }
            [_, _] => {
                (tile.v_row, tile.v_col) = (Extent::Dynamic, Extent::Dynamic);
                let index = self.common.index;
                let roles = [Role::ValidRow, Role::ValidCol];
                Some(valid.iter().zip(roles).filter_map(|(raw, role)| self.resolve(raw, role, Some(index))).collect())
            }
            more => {
                let text = format!("a tile has valid rows and columns, and {} numbers are written", more.len());
                return self.fail("operand-count", at.1, text, "write both or none");
            }
        };
        Ok(((self.module.types.intern(Type::Tile(tile)), at.1), dynamic))
    }

    /// The type of a memref does not say that its valid region is set later: the tile that it is gets a dynamic one, which is
    /// all of it at first.
    pub(super) fn open_extents(&mut self, raw: &Raw) {
        let RawArg::Name(name) = raw.what else { return };
        let Some(value) = self.scope.find(name) else { return };
        let Some(tile) = self.type_of_value(value).and_then(Type::tile).copied() else { return };
        let Def::Result(made, _) = self.func.value(value).def else { return };
        let op = self.func.op(made);
        let is_whole = (tile.v_row, tile.v_col) == (Extent::Static(tile.rows), Extent::Static(tile.cols));
        if op.opcode() != Some(Opcode::AllocTile) || !is_whole {
            return;
        }
        let span = op.span;
        let home = (0..self.func.blocks.len()).find(|n| self.func.blocks[*n].ops.contains(&made));
        let Some(home) = home else { return };
        let index = self.common.index;
        for (role, n) in [(Role::ValidRow, tile.rows), (Role::ValidCol, tile.cols)] {
            let base = self.module.names.text(name).to_string();
            let own = self.module.names.intern(&format!("{base}.{}", role.name()));
            let id = OpId(self.func.ops.len() as u32);
            let mut constant = Op::new(OpKind::Constant(Number::Int(n.into())), TextForm::Ssa, span);
            let def = Def::Result(id, 0);
            let extent = self.func.add_value(tessera_ir::Value { name: own, ty: index, def, span, type_span: span });
            constant.results.push(extent);
            self.func.add_op(constant);
            let ops = &mut self.func.blocks[home].ops;
            let at = ops.iter().position(|id| *id == made).unwrap_or(0);
            ops.insert(at, id);
            let operand = Operand { role, arg: Arg::Value(extent), span, type_span: span };
            self.func.op_mut(made).operands.push(operand);
        }
        let tile = TileType { v_row: Extent::Dynamic, v_col: Extent::Dynamic, ..tile };
        self.func.value_mut(value).ty = self.module.types.intern(Type::Tile(tile));
    }

    /// The integer that an operand is, where it is a literal or a constant.
    pub(super) fn constant_of(&self, raw: &Raw) -> Option<i64> {
        let value = match raw.what {
            RawArg::Int(n) => return Some(n),
            RawArg::Name(name) => self.scope.find(name)?,
        };
        let Def::Result(op, _) = self.func.value(value).def else { return None };
        match self.func.ops.get(op.index())?.kind {
            OpKind::Constant(Number::Int(n)) => i64::try_from(n).ok(),
            _ => None,
        }
    }

    /// `memref.reinterpret_cast %m to offset: […], sizes: […], strides: […] : A to B`.
    fn reinterpret(&mut self, results: &Results) -> Res<()> {
        let mut src = self.operand()?;
        self.expect_word("to")?;
        let mut lists = Vec::new();
        for word in ["offset", "sizes", "strides"] {
            self.expect_word(word)?;
            self.expect(Tok::Colon, "`:`")?;
            lists.push(self.list()?);
            self.eat(Tok::Comma);
        }
        let mut lists = lists.into_iter();
        let mut next = || lists.next().unwrap_or_default();
        let strides = Strides { offset: next(), sizes: next(), strides: next() };
        self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        src.ty = Some(self.ty()?);
        self.expect_word("to")?;
        let to = self.ty()?;
        self.tail(&mut Vec::new())?;
        if strides.offset.len() != 1 || strides.sizes.len() != strides.strides.len() || strides.sizes.is_empty() {
            let text = "reinterpret_cast has one offset, and as many sizes as strides";
            return self.fail("operand-count", results.start.to(self.prev), text, "write one of each per dimension");
        }
        let Some(value) = self.resolve(&src, Role::Tile, None).and_then(|o| o.arg.value()) else { return Ok(()) };
        if self.type_of_value(value).is_some_and(Type::is_tile) {
            return self.window_of(results, value, &strides);
        }
        self.view_of(results, value, &strides, to)
    }

    /// `memref.subview %v[0, 0] [16, 16] [1, 1] : A to B`: in global memory a window of a view.
    fn subview_memref(&mut self, results: &Results) -> Res<()> {
        let mut src = self.operand()?;
        let (offsets, sizes, steps) = (self.list()?, self.list()?, self.list()?);
        self.optional_dictionary()?;
        self.expect(Tok::Colon, "`:` and the types")?;
        src.ty = Some(self.ty()?);
        self.expect_word("to")?;
        let to = self.ty()?;
        self.tail(&mut Vec::new())?;
        let span = results.start.to(self.prev);
        if offsets.len() != sizes.len() || steps.iter().any(|raw| self.constant_of(raw) != Some(1)) {
            let text = "a window of a memref has as many offsets as sizes, and steps of 1";
            return self.fail("operand-count", span, text, "write one of each per dimension, and 1 for each step");
        }
        let Some(src) = self.resolve(&src, Role::Global, None) else { return Ok(()) };
        if src.arg.value().and_then(|v| self.type_of_value(v)).is_some_and(Type::is_tile) {
            let text = "a window of a tile is taken with pto.subview";
            return self.fail("memref-space", span, text, "write pto.subview %t[%r, %c] sizes [n, m]");
        }
        let index = self.common.index;
        let mut operands = vec![src];
        for raw in offsets.iter().chain(&sizes) {
            operands.extend(self.resolve(raw, Role::Number, Some(index)));
        }
        self.made(results, Opcode::PartitionView, &operands, to)
    }

    /// In global memory: a view, whose offset counts from the start of what was given to the kernel.
    fn view_of(&mut self, results: &Results, value: ValueId, numbers: &Strides, to: TypeAt) -> Res<()> {
        let base = self.scope.bases.get(&value).copied().unwrap_or(value);
        let index = self.common.index;
        let span = results.start.to(self.prev);
        let global = |value: ValueId| Operand { role: Role::Global, arg: Arg::Value(value), span, type_span: span };
        let mut pointer = base;
        let offset = numbers.offset.first().copied();
        if let (Some(raw), Some(elem)) =
            (offset.filter(|raw| raw.what != RawArg::Int(0)), self.module.types.get(to.0).global_elem())
        {
            let Some(by) = self.resolve(&raw, Role::Number, Some(index)) else { return Ok(()) };
            let ty = self.module.types.intern(Type::Ptr(elem, None));
            pointer = self.emit(results, OpKind::Pto(Opcode::Addptr, Form::Plain), &[global(base), by], ty, "at");
        }
        let mut operands = vec![global(pointer)];
        for raw in numbers.sizes.iter().chain(&numbers.strides) {
            operands.extend(self.resolve(raw, Role::Number, Some(index)));
        }
        self.made(results, Opcode::MakeTensorView, &operands, to)?;
        if let Some(made) = results.names.first().and_then(|(name, _)| self.scope.find(*name)) {
            self.scope.bases.insert(made, base);
        }
        Ok(())
    }

    /// On the chip: what TSUBVIEW can say, a window that keeps the pitch of the tile it is in.
    fn window_of(&mut self, results: &Results, value: ValueId, numbers: &Strides) -> Res<()> {
        let root = self.scope.bases.get(&value).copied().unwrap_or(value);
        let span = results.start.to(self.prev);
        let Some(Type::Tile(tile)) = self.type_of_value(root).cloned() else { return Ok(()) };
        let known = |raws: &Raws| raws.iter().map(|raw| self.constant_of(raw)).collect::<Option<Vec<i64>>>();
        let (sizes, strides) = (known(&numbers.sizes), known(&numbers.strides));
        let window = match (sizes.as_deref(), strides.as_deref()) {
            (Some([cols]), Some([1])) => Some([1, *cols]),
            (Some([rows, cols]), Some([pitch, 1])) if *pitch == tile.cols as i64 || *rows == 1 => Some([*rows, *cols]),
            _ => None,
        };
        let window = window.and_then(|[r, c]| Some([u64::try_from(r).ok()?, u64::try_from(c).ok()?]));
        let (Some([rows, cols]), Some(offset)) = (window, numbers.offset.first().copied()) else {
            let text =
                format!("the window has sizes {sizes:?} and strides {strides:?} in a tile of pitch {}", tile.cols);
            let help = format!("on the chip sizes are constant, and strides are [{}, 1]", tile.cols);
            return self.fail("tsubview-window", span, text.replace("Some(", "").replace(')', ""), help);
        };
        let at = match self.constant_of(&offset) {
            Some(n) => [n.div_euclid(tile.cols.max(1) as i64), n.rem_euclid(tile.cols.max(1) as i64)].map(Arg::Int),
            None => {
                let index = self.common.index;
                let Some(by) = self.resolve(&offset, Role::Number, Some(index)) else { return Ok(()) };
                let pitch = Operand { arg: Arg::Int(tile.cols as i64), ..by };
                let pitch = self.emit_constant(results, pitch, index);
                [(ArithOp::Divui, "row"), (ArithOp::Remui, "col")]
                    .map(|(op, what)| Arg::Value(self.emit(results, OpKind::Arith(op), &[by, pitch], index, what)))
            }
        };
        let operand = |role, arg| Operand { role, arg, span, type_span: span };
        let [row, col] = at;
        let operands = [operand(Role::Src, Arg::Value(root)), operand(Role::Row, row), operand(Role::Col, col)];
        let mut window = tile;
        (window.rows, window.cols) = (rows, cols);
        (window.v_row, window.v_col) = (Extent::Static(rows), Extent::Static(cols));
        let ty = (self.module.types.intern(Type::Tile(window)), span);
        self.made(results, Opcode::Subset, &operands, ty)?;
        if let Some(op) = self.func.ops.last_mut() {
            op.attrs_mut().sizes = Some([rows, cols]);
        }
        if let Some(made) = results.names.first().and_then(|(name, _)| self.scope.find(*name)) {
            self.scope.bases.insert(made, root);
        }
        Ok(())
    }

    /// Puts the instruction that the statement means into the block.
    fn made(&mut self, results: &Results, opcode: Opcode, operands: &[Operand], ty: TypeAt) -> Res<()> {
        let mut op = Op::new(OpKind::Pto(opcode, Form::Plain), TextForm::Ssa, results.start);
        op.operands.extend(operands.iter().copied());
        let loc = self.tail(&mut Vec::new())?;
        let types: Types = smallvec![ty];
        self.finish(op, results, &types, loc)
    }

    /// A name of the reader's own, beside the statement's result.
    fn beside(&mut self, results: &Results, what: &str) -> (NameId, Span) {
        let (name, span) = results.names.first().copied().unwrap_or((NameId(0), results.start));
        let base = self.module.names.text(name).to_string();
        let mut n = 0;
        loop {
            let text = if n == 0 { format!("{base}.{what}") } else { format!("{base}.{what}{n}") };
            let name = self.module.names.intern(&text);
            if self.scope.find(name).is_none() {
                return (name, span);
            }
            n += 1;
        }
    }

    /// An operation that the statement needs before its own.
    pub(super) fn emit(
        &mut self,
        results: &Results,
        kind: OpKind,
        operands: &[Operand],
        ty: TypeId,
        what: &str,
    ) -> ValueId {
        let (name, span) = self.beside(results, what);
        let id = OpId(self.func.ops.len() as u32);
        let mut op = Op::new(kind, TextForm::Ssa, results.start.to(self.prev));
        op.operands.extend(operands.iter().copied());
        let value = self.define(name, (ty, span), Def::Result(id, 0), span);
        op.results.push(value);
        self.func.push_op(self.block, op);
        value
    }

    fn emit_constant(&mut self, results: &Results, operand: Operand, ty: TypeId) -> Operand {
        let Arg::Int(n) = operand.arg else { return operand };
        let value = self.emit(results, OpKind::Constant(Number::Int(n.into())), &[], ty, "pitch");
        Operand { arg: Arg::Value(value), ..operand }
    }
}
