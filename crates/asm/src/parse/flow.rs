//! Control flow: `scf`, calls and returns (syntax.md 4).

use super::region::BlockArg;
use super::{Parser, Raw, Raws, Res, Results, Types};
use crate::lex::Tok;
use smallvec::SmallVec;
use tessera_ir::edges::FOR_BOUNDS;
use tessera_ir::{NameId, Op, OpKind, TextForm};
use tessera_isa::diag::Span;
use tessera_isa::ops::Role;

/// Carried values: their names with places, and their initial values.
#[derive(Default)]
struct Carried {
    names: SmallVec<[(NameId, Span); 4]>,
    inits: Raws,
}

impl Parser<'_> {
    /// An operation of control flow, or `None` if the word names none.
    pub(super) fn flow(&mut self, results: &Results, word: &str) -> Option<Res<()>> {
        Some(match word {
            "scf.for" => self.scf_for(results),
            "scf.if" => self.scf_if(results),
            "scf.while" => self.scf_while(results),
            "scf.yield" => self.hand_on(results, OpKind::Yield),
            "return" | "func.return" => self.hand_on(results, OpKind::Return),
            "scf.condition" => self.hand_on(results, OpKind::Condition),
            "call" | "func.call" => self.call(results),
            "module" | "func.func" | "builtin.module" => {
                let text = format!("{word} stands inside of a function");
                self.fail("syntax-region", self.tok.span, text, "close the function first")
            }
            _ => return None,
        })
    }

    pub(super) fn resolve_all(&mut self, op: &mut Op, raws: &[Raw], role: Role) {
        for raw in raws {
            op.operands.extend(self.resolve(raw, role, None));
        }
    }

    /// `iter_args(%a = %init, …)`, or `(%a = %init, …)` of `scf.while`.
    fn carried(&mut self) -> Res<Carried> {
        let mut out = Carried::default();
        let open = self.expect(Tok::LParen, "`(`")?.span;
        self.items(open, Tok::RParen, |p| {
            let span = p.expect(Tok::Percent, "`%name = %value`")?.span;
            out.names.push((p.name_of(span), span));
            p.expect(Tok::Equal, "`=`")?;
            out.inits.push(p.operand()?);
            Ok(())
        })?;
        Ok(out)
    }

    /// Gives types to carried values, one each; they are arguments of the loop's block.
    fn pair(&mut self, carried: &mut Carried, types: &Types, at: Span) -> Res<SmallVec<[BlockArg; 4]>> {
        if carried.names.len() != types.len() {
            let text = format!("{} carried values have {} types", carried.names.len(), types.len());
            return self.fail("operand-count", at, text, "write one type per carried value");
        }
        set_types(&mut carried.inits, types);
        Ok(carried.names.iter().zip(types).map(|((n, s), t)| (*n, *s, *t, None)).collect())
    }

    fn scf_for(&mut self, results: &Results) -> Res<()> {
        self.bump();
        self.eat_word("unsigned");
        let var_span = self.expect(Tok::Percent, "the induction variable `%name`")?.span;
        let var = self.name_of(var_span);
        self.expect(Tok::Equal, "`=`")?;
        let mut bounds = [self.operand()?; FOR_BOUNDS];
        for (word, bound) in ["to", "step"].into_iter().zip(bounds.iter_mut().skip(1)) {
            self.expect_word(word)?;
            *bound = self.operand()?;
        }
        let (mut carried, mut types) = (Carried::default(), Types::new());
        if self.eat_word("iter_args") {
            carried = self.carried()?;
            self.expect(Tok::Arrow, "`->` and the types")?;
            types = self.type_list()?;
        }
        let index = if self.eat(Tok::Colon) { self.ty()? } else { (self.common.index, var_span) };
        let mut args: SmallVec<[BlockArg; 4]> = SmallVec::new();
        args.push((var, var_span, index, None));
        args.extend(self.pair(&mut carried, &types, results.start)?);
        let head = results.start.to(self.prev);
        let mut op = Op::new(OpKind::For, TextForm::Ssa, head);
        for bound in &mut bounds {
            bound.ty = Some(index);
        }
        self.resolve_all(&mut op, &bounds, Role::Number);
        if !self.module.types.get(index.0).plays(Role::Number) {
            let text = format!("the loop counts in {}, which is no integer type", self.type_text(index.0));
            let _: Res<()> = self.fail("type-mismatch", results.start, text, "use index or an integer type");
        }
        self.resolve_all(&mut op, &carried.inits, Role::Init);
        let block = self.region_of(&args)?;
        op.blocks.push(block);
        self.check_yield(block, &OpKind::Yield, &types, head)?;
        self.finish_region(op, results, &types)
    }

    fn scf_if(&mut self, results: &Results) -> Res<()> {
        self.bump();
        let mut condition = self.operand()?;
        let types = if self.eat(Tok::Arrow) { self.type_list()? } else { Types::new() };
        let head = results.start.to(self.prev);
        let mut op = Op::new(OpKind::If, TextForm::Ssa, head);
        condition.ty = Some((self.common.i1, condition.span));
        self.resolve_all(&mut op, &[condition], Role::Number);
        let then = self.region_of(&[])?;
        self.check_yield(then, &OpKind::Yield, &types, head)?;
        let other = if self.eat_word("else") {
            let block = self.region_of(&[])?;
            self.check_yield(block, &OpKind::Yield, &types, head)?;
            block
        } else {
            if !types.is_empty() {
                let text = "scf.if has results and no else";
                return self.fail("syntax-region", head, text, "add `else { … scf.yield … }`");
            }
            self.block_ends.push(self.prev.start);
            self.func.add_block()
        };
        op.blocks.extend([then, other]);
        self.finish_region(op, results, &types)
    }

    fn scf_while(&mut self, results: &Results) -> Res<()> {
        self.bump();
        let mut carried = if self.at(Tok::LParen) { self.carried()? } else { Carried::default() };
        self.expect(Tok::Colon, "`:` and the types")?;
        let (ins, outs) = self.arrow_types()?;
        let head = results.start.to(self.prev);
        let args = self.pair(&mut carried, &ins, head)?;
        let mut op = Op::new(OpKind::While, TextForm::Ssa, head);
        self.resolve_all(&mut op, &carried.inits, Role::Init);
        let before = self.region_of(&args)?;
        self.check_yield(before, &OpKind::Condition, &outs, head)?;
        self.expect_word("do")?;
        let after = self.region(&[])?;
        let taken = self.func.block(after).args.len();
        if taken != outs.len() {
            let text = format!("scf.condition hands on {} values, and the body takes {taken}", outs.len());
            return self.fail("operand-count", head, text, "give the body a label: ^bb0(%a: T):");
        }
        self.check_yield(after, &OpKind::Yield, &ins, head)?;
        op.blocks.extend([before, after]);
        self.finish_region(op, results, &outs)
    }

    /// The operation behind its regions: attributes, location, results.
    pub(super) fn finish_region(&mut self, mut op: Op, results: &Results, types: &Types) -> Res<()> {
        let mut entries = self.optional_dictionary()?;
        let loc = self.tail(&mut entries)?;
        let words = op.attrs.take().map(|attrs| attrs.words).unwrap_or_default();
        op.attrs = self.sort_attrs(entries, &[], op.kind.name());
        if !words.is_empty() {
            op.attrs_mut().words = words;
        }
        // The span is the head's; `finish` would take in the regions.
        let prev = std::mem::replace(&mut self.prev, op.span);
        let outcome = self.finish(op, results, types, loc);
        self.prev = prev;
        outcome
    }

    /// `scf.yield %a, %b : T, T`, `return %a : T` or `scf.condition(%c) %a : T`.
    fn hand_on(&mut self, results: &Results, kind: OpKind) -> Res<()> {
        self.bump();
        let mut values = Raws::new();
        if kind == OpKind::Condition {
            let open = self.expect(Tok::LParen, "`(`")?.span;
            let flag = self.operand()?;
            self.close(Tok::RParen, open)?;
            values.push(Raw { ty: Some((self.common.i1, flag.span)), ..flag });
        }
        self.check_end(&kind, results.start)?;
        values.extend(self.typed_values()?);
        let mut op = Op::new(kind, TextForm::Ssa, results.start);
        self.resolve_all(&mut op, &values, Role::Scalar);
        self.simple(op, results, &Types::new())
    }

    /// `return` ends a function, the others a region inside of one.
    pub(super) fn check_end(&mut self, kind: &OpKind, at: Span) -> Res<()> {
        let in_body = self.block == self.func.body;
        if *kind == OpKind::Return && (self.lex.listing || !in_body) {
            // The region's brace is missing, which is no other mistake.
            self.open_region = !self.lex.listing;
            let what = "return stands outside of a function's own block";
            return self.fail("syntax-region", at, what, "end a region with scf.yield, a listing with nothing");
        }
        if *kind != OpKind::Return && in_body {
            let what = "the operation ends a region, and there is none around it";
            return self.fail("syntax-region", at, what, "end a function with return");
        }
        Ok(())
    }

    /// `%a, %b : T, T`.
    fn typed_values(&mut self) -> Res<Raws> {
        let mut out = Raws::new();
        if !self.at(Tok::Percent) {
            return Ok(out);
        }
        loop {
            out.push(self.operand()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Colon, "`:` and the types")?;
        for (n, raw) in out.iter_mut().enumerate() {
            if n > 0 {
                self.expect(Tok::Comma, "`,` and the next type")?;
            }
            raw.ty = Some(self.ty()?);
        }
        Ok(out)
    }

    /// `func.call @f(%a) : (T) -> T`.
    fn call(&mut self, results: &Results) -> Res<()> {
        self.bump();
        let callee = self.expect(Tok::At, "`@function`")?.span;
        let callee = self.name_of(callee);
        let open = self.expect(Tok::LParen, "`(`")?.span;
        let mut args = self.operand_list(open, Tok::RParen)?;
        self.expect(Tok::Colon, "`:` and the types")?;
        let (ins, outs) = self.arrow_types()?;
        if ins.len() != args.len() {
            let text = format!("{} arguments have {} types", args.len(), ins.len());
            return self.fail("operand-count", results.start.to(self.prev), text, "write one type per argument");
        }
        let mut op = Op::new(OpKind::Call(callee), TextForm::Ssa, results.start);
        set_types(&mut args, &ins);
        self.resolve_all(&mut op, &args, Role::Scalar);
        self.simple(op, results, &outs)
    }

    /// The end of an operation without attributes of its own.
    pub(super) fn simple(&mut self, mut op: Op, results: &Results, types: &Types) -> Res<()> {
        let mut entries = Vec::new();
        let loc = self.tail(&mut entries)?;
        op.attrs = self.sort_attrs(entries, &[], "the operation");
        self.finish(op, results, types, loc)
    }
}

/// The types that are written for operands, one each.
pub(super) fn set_types<'r>(raws: impl IntoIterator<Item = &'r mut Raw>, types: &Types) {
    for (raw, ty) in raws.into_iter().zip(types) {
        raw.ty = Some(*ty);
    }
}
