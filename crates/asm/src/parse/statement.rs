//! Statements: results, the operation's name, and going on after a broken one.

use super::suffix::suffixed;
use super::{Failed, Parser, Res, Results};
use crate::dialect::Part;
use crate::lex::Tok;
use crate::sink::{did_you_mean, shown};
use crate::words::{self, Pto};
use smallvec::SmallVec;
use tessera_ir::TextForm;
use tessera_isa::diag::Span;
use tessera_isa::ops::{IdArray, Opcode, Text, UNKNOWN_OP};

/// Words that stand inside of a statement, also at the start of a line.
const CONTINUES: &str = "ins outs init loc to step iter_args else do attributes shape strides offsets sizes \
    addr valid_row valid_col memref";

impl Parser<'_> {
    /// Statements up to the end of the region or text.
    pub(super) fn statements(&mut self) {
        while !self.at(Tok::RBrace) && !self.at(Tok::Eof) && !self.sink.is_full() && !self.at_next_function() {
            if self.eat(Tok::End) {
                continue;
            }
            self.statement_or_skip();
        }
        if self.sink.is_full() {
            self.give_up();
        }
    }

    /// Whether a function starts on this line. A brace of the previous one is then missing, and the error ends here.
    pub(super) fn at_next_function(&self) -> bool {
        !self.lex.listing && self.tok.first && self.at_module_op()
    }

    /// One statement; after a broken one, everything up to the next is skipped.
    pub(super) fn statement_or_skip(&mut self) {
        let (brackets, braces) = (self.lex.depth, self.lex.braces);
        if !self.or_skip(Self::statement) {
            self.broken.insert(self.block);
        } else if self.lex.listing && self.lex.depth == 0 && !self.at_end() {
            // In a listing a statement ends with its line.
            let _: Res<()> = self.expected("the end of the line");
            self.skip(self.tok.span.start, brackets, braces);
        }
    }

    /// Reads something that starts a statement; if it is broken, everything up to the next one is skipped.
    pub(super) fn or_skip(&mut self, read: impl FnOnce(&mut Self) -> Res<()>) -> bool {
        let (depth, brackets, braces) = (self.depth, self.lex.depth, self.lex.braces);
        let start = self.tok.span.start;
        self.statement_at = start;
        self.dictionaries = 0;
        let (before, regions) = (self.sink.list.len(), self.func.blocks.len());
        let outcome = read(self);
        if outcome.is_err() {
            self.depth = depth;
            let told = self.sink.list.len();
            self.skip(start, brackets, braces);
            // Errors of statements inside it are kept.
            if self.func.blocks.len() == regions && !self.sink.is_full() {
                self.sink.keep_one(before, told);
            }
        }
        outcome.is_ok()
    }

    /// Skips to the next statement: a line of its own that starts like one, outside of the broken one's braces.
    pub(super) fn skip(&mut self, start: u32, brackets: u32, braces: u32) {
        if self.tok.span.start == start && !self.at(Tok::Eof) && !self.at(Tok::RBrace) {
            self.bump();
        }
        // Braces of a dictionary do not hold other statements, those of a region do.
        let outside = braces + std::mem::take(&mut self.dictionaries);
        loop {
            let inside = self.lex.braces > outside;
            match self.tok.kind {
                Tok::Eof => break,
                _ if self.at_next_function() && self.tok.span.start > start => break,
                Tok::RBrace if self.lex.braces < braces || (self.tok.first && self.lex.braces < outside) => break,
                Tok::LBrace | Tok::RBrace => {}
                Tok::End if !inside => break,
                _ if self.tok.first && !inside && self.starts_statement() => break,
                _ => {}
            }
            self.bump();
        }
        // Brackets that the broken statement left open do not hold for the next one.
        let closing = u32::from(self.at(Tok::RBrace));
        self.lex.depth = brackets.saturating_sub(closing);
        self.lex.braces = braces.saturating_sub(closing);
    }

    /// Whether a statement certainly starts here: `%a =`, or an operation of a dialect.
    pub(super) fn at_next_statement(&mut self) -> bool {
        match self.tok.kind {
            Tok::Percent => self.second().kind == Tok::Equal,
            Tok::Word => self.here().contains('.') || self.here() == "return",
            _ => false,
        }
    }

    pub(super) fn starts_statement(&self) -> bool {
        match self.tok.kind {
            Tok::Percent | Tok::Bang | Tok::Hash | Tok::Str | Tok::Caret => true,
            Tok::Word => {
                let word = self.here();
                !CONTINUES.split_whitespace().any(|w| w == word) && crate::types::scalar(word).is_none()
            }
            _ => false,
        }
    }

    fn statement(&mut self) -> Res<()> {
        let is_alias = self.at_alias();
        match self.tok.kind {
            Tok::Bang if is_alias => return self.type_alias(),
            Tok::Hash if is_alias => return self.attr_alias(),
            Tok::Caret => return self.several_blocks("a region has one block here, and another label is written"),
            Tok::Word if self.here().starts_with("cf.") => {
                return self.several_blocks("a branch between blocks is written, and a region has one block here");
            }
            _ => {}
        }
        let results = self.results()?;
        let outcome = self.operation(&results);
        if outcome.is_err() {
            self.poison(&results);
        }
        outcome
    }

    /// Branches between blocks are reported once in a function; the statements behind them are read all the same.
    fn several_blocks(&mut self, text: &str) -> Res<()> {
        let block = self.func.body;
        if !self.blocks_told {
            self.blocks_told = true;
            let _: Res<()> =
                self.fail("syntax-blocks", self.tok.span, text, "write scf.if, scf.for or scf.while instead");
        }
        self.broken.insert(block);
        if self.at(Tok::Caret) && self.label().is_ok() {
            return Ok(());
        }
        Err(Failed)
    }

    /// `%a, %b =` or `%0:2 =`, or nothing.
    fn results(&mut self) -> Res<Results> {
        let mut out = Results { names: SmallVec::new(), start: self.tok.span };
        if !self.at(Tok::Percent) {
            return Ok(out);
        }
        loop {
            let span = self.expect(Tok::Percent, "a result `%name`")?.span;
            if self.at(Tok::Colon) && self.second().kind == Tok::Int {
                self.bump();
                let count = self.integer()?;
                self.pack(&mut out, span, count)?;
            } else {
                out.names.push((self.name_of(span), span));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Equal, "`=`")?;
        Ok(out)
    }

    /// `%0:2` defines `%0#0` and `%0#1`.
    fn pack(&mut self, out: &mut Results, span: Span, count: i128) -> Res<()> {
        const MOST: i128 = 64;
        if !(1..=MOST).contains(&count) {
            let text = format!("a pack of {count} results does not exist");
            return self.fail("syntax-limit", span, text, format!("packs have 1 to {MOST} results"));
        }
        let base = self.slice(span).get(1..).unwrap_or_default();
        for n in 0..count {
            let text = if count == 1 { base.to_string() } else { format!("{base}#{n}") };
            out.names.push((self.module.names.intern(&text), span));
        }
        Ok(())
    }

    fn operation(&mut self, results: &Results) -> Res<()> {
        match self.tok.kind {
            Tok::Str => return self.generic(results),
            Tok::Word => {}
            _ => return self.expected("an operation"),
        }
        let word = self.here();
        let span = self.tok.span;
        // The old use of the word, on a view (isa/today.md 5.1).
        let is_view = word == "pto.subview" && !self.is_window();
        let mnemonic = word.strip_prefix("pto.").or_else(|| words::pto(word).map(|_| word));
        if let Some(mnemonic) = mnemonic.filter(|_| !is_view) {
            self.mark(Part::Operation, mnemonic, span);
        }
        if let Some(outcome) = self.memref(results, word) {
            return outcome;
        }
        if matches!(word, "pto.section.cube" | "pto.section.vector" | "pto.section_cube" | "pto.section_vector") {
            let section = word.replace("pto.section_", "pto.section.");
            return self.section(results, section.trim_start_matches("pto."));
        }
        if let Some(outcome) = self.pto_scalar(results, word) {
            return outcome;
        }
        if matches!(word, "scf.execute_region" | "pto.fusion_region") {
            return self.spliced(results, word == "pto.fusion_region");
        }
        if let Some(outcome) = self.micro(results, word) {
            return outcome;
        }
        let (bare, text_form) = match word.strip_prefix("pto.") {
            Some(mnemonic) => (mnemonic, TextForm::Ssa),
            None => (word, TextForm::Asm),
        };
        if let Some((op, entries)) = suffixed(bare, span) {
            self.bump();
            return self.instruction(results, op, text_form, entries);
        }
        if let Some(mnemonic) = word.strip_prefix("pto.") {
            if let Some(known) = words::pto(mnemonic) {
                self.bump();
                return self.pto(results, known, TextForm::Ssa);
            }
        } else if let Some(outcome) = self.arith(results, word) {
            return outcome;
        } else if let Some(outcome) = self.flow(results, word) {
            return outcome;
        } else if let Some(known) = words::pto(word) {
            self.bump();
            return self.pto(results, known, TextForm::Asm);
        }
        // One of the pto dialect is kept as it is written, so that the rest of the program can be looked at.
        let Err(Failed) = self.unknown_op::<()>(word, span) else { return Ok(()) };
        if !word.starts_with("pto.") || self.lex.listing {
            return Err(Failed);
        }
        self.bump();
        let told = self.sink.list.len();
        let outcome = self.opaque(results, UNKNOWN_OP);
        // What is wrong with the text of an operation that does not exist is no news.
        self.sink.forget(told);
        outcome
    }

    /// Whether a window of a tile follows, `%t[…]`, and not one of a view.
    fn is_window(&self) -> bool {
        let rest = self.text.get(self.tok.span.end as usize..).unwrap_or_default();
        let name = rest.trim_start().trim_start_matches('%');
        name.trim_start_matches(|c: char| crate::lex::is_word(c as u8)).trim_start().starts_with('[')
    }

    fn pto(&mut self, results: &Results, known: Pto, form: TextForm) -> Res<()> {
        match known {
            // Sources and destinations in groups are the shape of older versions, whatever the name.
            Pto::Table(op) if self.at_word("ins") && matches!(op.info().text, Text::Comm(_)) => {
                let bare = op.mnemonic().rsplit('.').next().and_then(tessera_isa::ops::other);
                match bare {
                    Some(name) => self.other(results, name),
                    None => self.special(results, op, form),
                }
            }
            // The names without prefix are those of older versions (isa/comm.md 1).
            Pto::Other(name) if self.at(Tok::LParen) && between_ranks(name).is_some() => match between_ranks(name) {
                Some(op) => self.special(results, op, form),
                None => Ok(()),
            },
            Pto::Other(name)
                if self.at_opaque()
                    || self.at(Tok::Word) && self.second().kind == Tok::Equal
                    || name.contains('.')
                    || IdArray::parse(name).is_some() =>
            {
                self.opaque(results, name)
            }
            Pto::Other(name) => self.other(results, name),
            // The old use of the word, on a view (isa/today.md 5.1).
            Pto::Table(Opcode::Subset) if self.second().kind == Tok::Comma => {
                self.special(results, Opcode::PartitionView, form)
            }
            Pto::Table(op) if op.info().text != Text::Forms => self.special(results, op, form),
            Pto::Table(op) => self.instruction(results, op, form, Vec::new()),
        }
    }

    pub(super) fn unknown_op<T>(&mut self, word: &str, span: Span) -> Res<T> {
        let names: Vec<String> = words::all().collect();
        // A bare word is an assembly mnemonic.
        let candidates = names.iter().map(|n| if word.contains('.') { n } else { n.trim_start_matches("pto.") });
        let help = did_you_mean(word, candidates, || "`tessera explain` lists the operations".into());
        self.fail_at("unknown-op", (span, "unknown"), format!("there is no operation `{}`", shown(word)), help)
    }

    /// `!name = type`.
    pub(super) fn type_alias(&mut self) -> Res<()> {
        let span = self.bump().span;
        let name = self.slice(span).get(1..).unwrap_or_default();
        self.expect(Tok::Equal, "`=`")?;
        // MLIR's older printers write `!a = type !b`.
        self.eat_word("type");
        let (id, _) = self.ty()?;
        if let Some((_, first)) = self.type_aliases.insert(name, (id, span)) {
            return self.redefined(format!("the type alias !{} is defined twice", shown(name)), span, first);
        }
        self.trivia.type_aliases.push((name.to_string(), id, span));
        Ok(())
    }
}

/// The operation between ranks that an older version writes without its prefix.
fn between_ranks(name: &str) -> Option<Opcode> {
    Opcode::parse(&format!("comm.{name}")).filter(|op| matches!(op.info().text, Text::Comm(_)))
}
