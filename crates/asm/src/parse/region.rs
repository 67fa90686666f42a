//! Regions: one block between braces, with its arguments and its end.

use super::{Failed, Parser, Res, TypeAt, Types};
use crate::lex::Tok;
use smallvec::SmallVec;
use tessera_ir::{BlockId, Def, LocId, NameId, OpKind};
use tessera_isa::diag::Span;

/// An argument of a block before the block exists.
pub(super) type BlockArg = (NameId, Span, TypeAt, Option<LocId>);

impl Parser<'_> {
    /// `{ … }` as a new block. Arguments stand in the operation's head or behind the label `^bb0(…):`.
    pub(super) fn region(&mut self, args: &[BlockArg]) -> Res<BlockId> {
        // Without the brace, what follows on lines of its own is the region all the same.
        let opened = self.at(Tok::LBrace);
        if !opened {
            let _: Res<()> = self.expected("`{`");
            if !self.tok.first || self.lex.listing || self.at_end() {
                return Err(Failed);
            }
            (self.lex.depth, self.lex.braces) = (self.lex.depth + 1, self.lex.braces + 1);
        }
        let open = self.tok.span;
        self.enter(open)?;
        if opened {
            self.bump();
        }
        let block = self.func.add_block();
        self.block_ends.push(0);
        let outer = std::mem::replace(&mut self.block, block);
        self.scope.open();
        let outcome = self.region_body(block, args, open);
        self.close_scope();
        self.block = outer;
        self.leave();
        outcome.and(if opened { Ok(block) } else { Err(Failed) })
    }

    /// The same where the head has all arguments: a label may stand there, and names none.
    pub(super) fn region_of(&mut self, args: &[BlockArg]) -> Res<BlockId> {
        let block = self.region(args)?;
        if let Some(more) = self.func.block(block).args.get(args.len()) {
            let at = (self.func.value(*more).span, "one too many");
            let text = format!("the label names arguments, and the region has the {} of its head", args.len());
            return self.fail_at("syntax-region", at, text, "leave the label out");
        }
        Ok(block)
    }

    fn region_body(&mut self, block: BlockId, args: &[BlockArg], open: Span) -> Res<()> {
        for arg in args {
            self.block_arg(block, arg);
        }
        if self.at(Tok::Caret) {
            let label = self.label()?;
            for arg in &label {
                self.block_arg(block, arg);
            }
        }
        self.statements();
        self.end_block(block);
        self.close(Tok::RBrace, open)?;
        Ok(())
    }

    pub(super) fn end_block(&mut self, block: BlockId) {
        if let Some(end) = self.block_ends.get_mut(block.index()) {
            *end = self.tok.span.start;
        }
    }

    fn block_arg(&mut self, block: BlockId, arg: &BlockArg) {
        let n = self.func.block(block).args.len() as u32;
        let value = self.define(arg.0, arg.2, Def::BlockArg(block, n), arg.1);
        self.func.arg_locs.extend(arg.3.map(|loc| (value, loc)));
        self.func.block_mut(block).args.push(value);
    }

    /// `^bb0(%a: T, %b: T):`, the label being next.
    pub(super) fn label(&mut self) -> Res<SmallVec<[BlockArg; 4]>> {
        self.bump();
        let mut out = SmallVec::new();
        if self.at(Tok::LParen) {
            let open = self.bump().span;
            out = self.list_of(open, Tok::RParen, |p| {
                let span = p.expect(Tok::Percent, "an argument `%name`")?.span;
                let name = p.name_of(span);
                p.expect(Tok::Colon, "`:` and a type")?;
                let ty = p.ty()?;
                Ok((name, span, ty, p.optional_location()?))
            })?;
        }
        self.expect(Tok::Colon, "`:`")?;
        Ok(out)
    }

    /// Nothing follows the operation that ends a block.
    pub(super) fn check_order(&mut self) {
        let Some(before) = self.func.block(self.block).ops.last().map(|id| self.func.op(*id)) else { return };
        if before.kind.is_end() {
            let text = "operations follow the one that ends the block";
            let at = (before.span, "the block ends here");
            let _: Res<()> = self.fail_at("syntax-region", at, text, "move it to the end of the block");
        }
    }

    /// The block ends with `kind`, which passes on values of these types; without results it may be left out.
    pub(super) fn check_yield(&mut self, block: BlockId, kind: &OpKind, types: &Types, at: Span) -> Res<()> {
        let word = match kind {
            OpKind::Condition => "scf.condition",
            OpKind::Return => "return",
            _ => "scf.yield",
        };
        let Some(id) = self.func.end(block).filter(|id| self.func.op(*id).kind == *kind) else {
            if types.is_empty() && *kind == OpKind::Yield {
                return Ok(());
            }
            if self.broken.contains(&block) {
                return Err(Failed);
            }
            let text = format!("the region does not end in {word}");
            let help = format!("add `{word}` with {} values at its end", types.len());
            return self.fail("syntax-region", at, text, help);
        };
        let (span, handed) = (self.func.op(id).span, self.func.handed(block));
        let given = handed.len();
        let values: SmallVec<[_; 4]> = handed.iter().filter_map(|o| o.arg.value()).collect();
        if given != types.len() {
            let text = format!("{word} hands on {given} values, and {} are wanted", types.len());
            return self.fail("operand-count", span, text, format!("hand on {} values", types.len()));
        }
        for (value, (wanted, _)) in values.iter().zip(types) {
            let known = self.func.value(*value).ty;
            if known == *wanted || self.scope.poisoned.contains(value) {
                continue;
            }
            let table = &self.module.types;
            if !table.get(known).same(table.get(*wanted), self.profile()) {
                let (known, wanted) = (self.type_text(known), self.type_text(*wanted));
                let text = format!("{word} hands on {known}, and {wanted} is wanted");
                return self.fail("type-mismatch", span, text, "hand on a value of that type");
            }
        }
        // A yield without operands is redundant.
        if *kind == OpKind::Yield && types.is_empty() {
            self.func.block_mut(block).ops.pop();
            if id.index() + 1 == self.func.ops.len() {
                self.func.ops.pop();
            }
        }
        Ok(())
    }
}
