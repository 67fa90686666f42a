//! Regions that are their body: `scf.execute_region` with one block, and `fusion_region` (isa/today.md 4.2).

use super::{Failed, Parser, Raws, Res, Results, Types};
use crate::lex::Tok;
use rustc_hash::FxHashMap;
use tessera_ir::{NameId, ValueId};
use tessera_isa::ops::Role;

impl Parser<'_> {
    /// `scf.execute_region -> T { … scf.yield %x : T }`, or `pto.fusion_region { … pto.yield(%t) : (T) -> () } : T`. Its
    /// statements stand in the block around it, and its results are the values that it yields.
    pub(super) fn spliced(&mut self, results: &Results, is_fusion: bool) -> Res<()> {
        self.bump();
        let word = if is_fusion { "pto.yield" } else { "scf.yield" };
        if (self.eat_word("no_inline") || self.at(Tok::Arrow)) && self.eat(Tok::Arrow) {
            self.type_list()?;
        }
        let open = self.need(Tok::LBrace, "`{`").map(|()| self.tok.span)?;
        self.enter(open)?;
        self.bump();
        self.scope.open();
        let first = self.func.values.len();
        let outcome = self.spliced_body(word);
        self.close_scope();
        let inside = (first..self.func.values.len()).map(|n| ValueId(n as u32));
        self.spliced.extend(inside);
        let yielded = outcome?;
        self.close(Tok::RBrace, open)?;
        self.leave();
        if self.eat(Tok::Colon) {
            self.type_list()?;
        }
        self.tail(&mut Vec::new())?;
        // Nobody has to name what a region gives.
        if yielded.len() != results.names.len() && !(results.names.is_empty() && word == "pto.yield") {
            let text = format!(
                "the region yields {} values, and {} names stand before `=`",
                yielded.len(),
                results.names.len()
            );
            return self.fail("operand-count", results.start, text, "yield one value for each name");
        }
        for ((name, span), value) in results.names.iter().zip(yielded) {
            if let Some(old) = self.scope.find(*name) {
                let first = self.func.value(old).span;
                let text = format!("%{} is defined twice", self.module.names.text(*name));
                return self.redefined(text, *span, first);
            }
            // A value of the region gets the result's name, one from outside has a second one.
            if value.index() >= first && self.spliced_name(value) {
                self.func.value_mut(value).name = *name;
            }
            self.scope.rename(*name, value);
        }
        Ok(())
    }

    /// Whether the value keeps its name only inside the region.
    fn spliced_name(&mut self, value: ValueId) -> bool {
        let at = self.spliced.iter().position(|other| *other == value);
        at.map(|at| self.spliced.swap_remove(at)).is_some()
    }

    /// The statements, and the values that the last one yields.
    fn spliced_body(&mut self, word: &str) -> Res<Vec<ValueId>> {
        if self.at(Tok::Caret) {
            self.label()?;
        }
        let mut values = Vec::new();
        while !self.at(Tok::RBrace) && !self.at(Tok::Eof) && !self.sink.is_full() && !self.at_next_function() {
            if self.eat(Tok::End) {
                continue;
            }
            if self.at(Tok::Caret) {
                let text = "the region has several blocks, and one is its body";
                return self.fail("syntax-blocks", self.tok.span, text, "write scf.if, scf.for or scf.while instead");
            }
            if !self.at_word(word) {
                self.statement_or_skip();
                continue;
            }
            self.bump();
            let mut raws = Raws::new();
            let is_group = self.at(Tok::LParen);
            let open = if is_group { Some(self.bump().span) } else { None };
            while self.at(Tok::Percent) {
                raws.push(self.operand()?);
                self.eat(Tok::Comma);
            }
            if let Some(open) = open {
                self.close(Tok::RParen, open)?;
            }
            if self.eat(Tok::Colon) {
                let mut types: Types = self.type_list()?;
                while self.eat(Tok::Comma) {
                    types.extend(self.type_list()?);
                }
                if self.eat(Tok::Arrow) {
                    self.type_list()?;
                }
                super::flow::set_types(&mut raws, &types);
            }
            for raw in &raws {
                let operand = self.resolve(raw, Role::Scalar, None).ok_or(Failed)?;
                values.extend(operand.arg.value());
            }
            while self.eat(Tok::End) {}
            if !self.at(Tok::RBrace) {
                return self.expected("`}` behind the yield");
            }
        }
        Ok(values)
    }

    /// Gives values of such regions names of their own where others of the function have theirs.
    pub(super) fn name_spliced(&mut self) {
        let spliced = std::mem::take(&mut self.spliced);
        if spliced.is_empty() {
            return;
        }
        let mut uses: FxHashMap<NameId, usize> = FxHashMap::default();
        self.func.values.iter().for_each(|value| *uses.entry(value.name).or_default() += 1);
        for id in spliced {
            let name = self.func.value(id).name;
            if uses.get(&name).is_none_or(|n| *n < 2) {
                continue;
            }
            let base = self.module.names.text(name).to_string();
            let mut n = 2;
            let own = loop {
                let own = self.module.names.intern(&format!("{base}_{n}"));
                if !uses.contains_key(&own) {
                    break own;
                }
                n += 1;
            };
            uses.entry(name).and_modify(|n| *n -= 1);
            uses.insert(own, 1);
            self.func.value_mut(id).name = own;
        }
    }
}
