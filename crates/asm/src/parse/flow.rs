//! Control flow: `scf`, calls and returns (syntax.md 4).

use super::region::BlockArg;
use super::{Parser, Raw, Res, Results, Types};
use crate::lex::Tok;
use smallvec::SmallVec;
use tessera_ir::edges::FOR_BOUNDS;
use tessera_ir::{NameId, Op, OpKind, TextForm};
use tessera_isa::diag::Span;
use tessera_isa::ops::Role;

/// The names of carried values, with their places.
type CarriedNames = SmallVec<[(NameId, Span); 4]>;

impl Parser<'_> {
    /// An operation of control flow, or `None` if the word names none.
    pub(super) fn flow(&mut self, start: Span, results: &Results, word: &str) -> Option<Res<()>> {
        Some(match word {
            "scf.for" => self.scf_for(start, results),
            "scf.if" => self.scf_if(start, results),
            "scf.while" => self.scf_while(start, results),
            "scf.yield" => self.hand_on(start, results, OpKind::Yield),
            "return" | "func.return" => self.hand_on(start, results, OpKind::Return),
            "scf.condition" => self.condition(start, results),
            "call" | "func.call" => self.call(start, results),
            "module" | "func.func" | "builtin.module" => {
                let text = format!("{word} stands inside of a function");
                self.fail("syntax-region", self.tok.span, text, "close the function first")
            }
            _ => return None,
        })
    }

    fn op(&self, kind: OpKind, start: Span) -> Op {
        Op::new(kind, TextForm::Ssa, start)
    }

    /// `iter_args(%a = %init, …)`, or `(%a = %init, …)` of `scf.while`: names and initial values.
    fn carried(&mut self) -> Res<(CarriedNames, SmallVec<[Raw; 4]>)> {
        let (mut names, mut inits) = (SmallVec::new(), SmallVec::new());
        let open = self.expect(Tok::LParen, "`(`")?.span;
        while !self.at(Tok::RParen) {
            let span = self.expect(Tok::Percent, "`%name = %value`")?.span;
            let name = self.name_of(span);
            names.push((name, span));
            self.expect(Tok::Equal, "`=`")?;
            inits.push(self.operand()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, open)?;
        Ok((names, inits))
    }

    /// Gives types to values and names, one each.
    fn pair(
        &mut self,
        names: &[(NameId, Span)],
        inits: &mut [Raw],
        types: &Types,
        at: Span,
    ) -> Res<SmallVec<[BlockArg; 4]>> {
        if names.len() != types.len() {
            let text = format!("{} carried values have {} types", names.len(), types.len());
            return self.fail("operand-count", at, text, "write one type per carried value");
        }
        for (init, ty) in inits.iter_mut().zip(types) {
            init.ty = Some(*ty);
        }
        Ok(names.iter().zip(types).map(|((n, s), t)| (*n, *s, *t)).collect())
    }

    fn scf_for(&mut self, start: Span, results: &Results) -> Res<()> {
        self.bump();
        self.eat_word("unsigned");
        let var_span = self.expect(Tok::Percent, "the induction variable `%name`")?.span;
        let var = self.name_of(var_span);
        self.expect(Tok::Equal, "`=`")?;
        let mut bounds = [self.operand()?; FOR_BOUNDS];
        for (word, slot) in [("to", 1), ("step", 2)] {
            if !self.eat_word(word) {
                return self.expected(&format!("`{word}`"));
            }
            if let Some(bound) = bounds.get_mut(slot) {
                *bound = self.operand()?;
            }
        }
        let (mut names, mut inits) = (SmallVec::new(), SmallVec::new());
        let mut types = Types::new();
        if self.eat_word("iter_args") {
            (names, inits) = self.carried()?;
            self.expect(Tok::Arrow, "`->` and the types")?;
            types = self.type_list()?;
        }
        let index = if self.eat(Tok::Colon) { self.ty()? } else { (self.common.index, var_span) };
        let carried = self.pair(&names, &mut inits, &types, start)?;
        let head_end = self.prev;
        let mut op = self.op(OpKind::For, start);
        for bound in &mut bounds {
            bound.ty = Some(index);
            op.operands.extend(self.resolve(bound, Role::Number, None));
        }
        self.check_integer(index, start);
        for init in &inits {
            op.operands.extend(self.resolve(init, Role::Init, None));
        }
        let mut args: SmallVec<[BlockArg; 4]> = SmallVec::new();
        args.push((var, var_span, index));
        args.extend(carried);
        let block = self.region(&args)?;
        op.blocks.push(block);
        self.check_yield(block, &OpKind::Yield, &types, start.to(head_end))?;
        self.finish_region(op, start.to(head_end), results, &types)
    }

    fn check_integer(&mut self, ty: (tessera_ir::TypeId, Span), at: Span) {
        let types = &self.module.types;
        if !types.get(ty.0).plays(Role::Number) {
            let text =
                format!("the loop counts in {}, which is no integer type", crate::print::print_type(types.get(ty.0)));
            self.wrong_kind(at, text, "use index or an integer type");
        }
    }

    fn scf_if(&mut self, start: Span, results: &Results) -> Res<()> {
        self.bump();
        let mut condition = self.operand()?;
        let mut types = Types::new();
        if self.eat(Tok::Arrow) {
            types = self.type_list()?;
        }
        let head = start.to(self.prev);
        let mut op = self.op(OpKind::If, start);
        condition.ty = Some((self.common.i1, condition.span));
        op.operands.extend(self.resolve(&condition, Role::Number, None));
        let then = self.region(&[])?;
        self.check_yield(then, &OpKind::Yield, &types, head)?;
        let other = if self.eat_word("else") {
            let block = self.region(&[])?;
            self.check_yield(block, &OpKind::Yield, &types, head)?;
            block
        } else {
            let block = self.func.add_block();
            self.block_ends.push(self.prev.start);
            if !types.is_empty() {
                let text = "scf.if has results and no else";
                return self.fail("syntax-region", head, text, "add `else { … scf.yield … }`");
            }
            block
        };
        op.blocks.extend([then, other]);
        self.finish_region(op, head, results, &types)
    }

    fn scf_while(&mut self, start: Span, results: &Results) -> Res<()> {
        self.bump();
        let (mut names, mut inits) = (SmallVec::new(), SmallVec::new());
        if self.at(Tok::LParen) {
            (names, inits) = self.carried()?;
        }
        self.expect(Tok::Colon, "`:` and the types")?;
        let ins = self.type_list()?;
        self.expect(Tok::Arrow, "`->`")?;
        let outs = self.type_list()?;
        let head = start.to(self.prev);
        let args = self.pair(&names, &mut inits, &ins, head)?;
        let mut op = self.op(OpKind::While, start);
        for init in &inits {
            op.operands.extend(self.resolve(init, Role::Init, None));
        }
        let before = self.region(&args)?;
        self.check_yield(before, &OpKind::Condition, &outs, head)?;
        if !self.eat_word("do") {
            return self.expected("`do`");
        }
        let after = self.region(&[])?;
        let taken = self.func.block(after).args.len();
        if taken != outs.len() {
            let text = format!("scf.condition hands on {} values, and the body takes {taken}", outs.len());
            return self.fail("operand-count", head, text, "give the body a label: ^bb0(%a: T):");
        }
        self.check_yield(after, &OpKind::Yield, &ins, head)?;
        op.blocks.extend([before, after]);
        self.finish_region(op, head, results, &outs)
    }

    /// The operation behind its regions: attributes, location, results.
    pub(super) fn finish_region(&mut self, op: Op, head: Span, results: &Results, types: &Types) -> Res<()> {
        let mut op = op;
        let mut entries = Vec::new();
        if self.at(Tok::LBrace) {
            entries = self.dictionary()?;
        }
        let loc = self.tail(&mut entries)?;
        let name = match op.kind {
            OpKind::For => "scf.for",
            OpKind::If => "scf.if",
            _ => "scf.while",
        };
        op.attrs = self.sort_attrs(entries, &[], name);
        // The span is the head's; `finish` would take in the regions.
        let prev = std::mem::replace(&mut self.prev, head);
        let outcome = self.finish(op, head, results, types, loc);
        self.prev = prev;
        outcome
    }

    /// `scf.yield %a, %b : T, T` or `return %a : T`.
    fn hand_on(&mut self, start: Span, results: &Results, kind: OpKind) -> Res<()> {
        self.bump();
        self.check_end(&kind, start)?;
        let values = self.typed_values()?;
        let mut op = self.op(kind, start);
        for raw in &values {
            op.operands.extend(self.resolve(raw, Role::Scalar, None));
        }
        self.simple(op, start, results, &Types::new())
    }

    /// `return` ends a function, the others a region inside of one.
    pub(super) fn check_end(&mut self, kind: &OpKind, start: Span) -> Res<()> {
        let in_body = self.block == self.func.body;
        if *kind == OpKind::Return && (self.lex.listing || !in_body) {
            let what = "return stands outside of a function's own block";
            return self.fail("syntax-region", start, what, "end a region with scf.yield, a listing with nothing");
        }
        if *kind != OpKind::Return && in_body {
            let what = "the operation ends a region, and there is none around it";
            return self.fail("syntax-region", start, what, "end a function with return");
        }
        Ok(())
    }

    /// `%a, %b : T, T`.
    fn typed_values(&mut self) -> Res<SmallVec<[Raw; 4]>> {
        let mut out: SmallVec<[Raw; 4]> = SmallVec::new();
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

    fn condition(&mut self, start: Span, results: &Results) -> Res<()> {
        self.bump();
        let open = self.expect(Tok::LParen, "`(`")?.span;
        let mut flag = self.operand()?;
        self.close(Tok::RParen, open)?;
        flag.ty = Some((self.common.i1, flag.span));
        self.check_end(&OpKind::Condition, start)?;
        let values = self.typed_values()?;
        let mut op = self.op(OpKind::Condition, start);
        for raw in std::iter::once(&flag).chain(&values) {
            op.operands.extend(self.resolve(raw, Role::Scalar, None));
        }
        self.simple(op, start, results, &Types::new())
    }

    /// `func.call @f(%a) : (T) -> T`.
    fn call(&mut self, start: Span, results: &Results) -> Res<()> {
        self.bump();
        let callee = self.expect(Tok::At, "`@function`")?.span;
        let callee = self.name_of(callee);
        let open = self.expect(Tok::LParen, "`(`")?.span;
        let mut args: SmallVec<[Raw; 4]> = SmallVec::new();
        while !self.at(Tok::RParen) {
            args.push(self.operand()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.close(Tok::RParen, open)?;
        self.expect(Tok::Colon, "`:` and the types")?;
        let ins = self.type_list()?;
        self.expect(Tok::Arrow, "`->`")?;
        let outs = self.type_list()?;
        self.build_call(start, results, callee, &mut args, &ins, &outs)
    }

    pub(super) fn build_call(
        &mut self,
        start: Span,
        results: &Results,
        callee: NameId,
        args: &mut [Raw],
        ins: &Types,
        outs: &Types,
    ) -> Res<()> {
        if ins.len() != args.len() {
            let text = format!("{} arguments have {} types", args.len(), ins.len());
            return self.fail("operand-count", start.to(self.prev), text, "write one type per argument");
        }
        let mut op = self.op(OpKind::Call(callee), start);
        for (raw, ty) in args.iter_mut().zip(ins) {
            raw.ty = Some(*ty);
            op.operands.extend(self.resolve(raw, Role::Scalar, None));
        }
        self.simple(op, start, results, outs)
    }

    /// The end of an operation without attributes of its own.
    pub(super) fn simple(&mut self, mut op: Op, start: Span, results: &Results, types: &Types) -> Res<()> {
        let mut entries = Vec::new();
        let loc = self.tail(&mut entries)?;
        op.attrs = self.sort_attrs(entries, &[], "the operation");
        self.finish(op, start, results, types, loc)
    }
}
