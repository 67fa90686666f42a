//! Operations that order others: words for pipes, events and ids, and events as operands (sync.md 2).

use super::attr::{Attr, unquote};
use super::special::Draft;
use super::{Parser, Raw, Raws, Res};
use crate::dialect::{Part, shape};
use crate::lex::Tok;
use crate::sink::shown;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Order, Role};
use tessera_isa::sem::Sem;

impl Parser<'_> {
    /// `[<PIPE_V>, <EVENT_ID0>]`, `<PIPE_ALL>`, quoted words, or events, also as `ins(%e : T)`; order makes no difference to
    /// results.
    pub(super) fn synchronisation(&mut self, draft: &mut Draft, opcode: Opcode) -> Res<()> {
        let is_group = self.at_word("ins") && self.second().kind == Tok::LParen;
        let group = is_group.then(|| [self.bump(), self.bump()][1].span);
        let (mut open, mut last) = (0u32, Tok::Comma);
        loop {
            let is_item = |tok: Tok| matches!(tok, Tok::Word | Tok::Int);
            if is_item(std::mem::replace(&mut last, self.tok.kind)) && is_item(self.tok.kind) && open > 0 {
                return self.expected("`,`");
            }
            if open > 0 && self.tok.first && self.at_next_statement() {
                return self.expected("`]`");
            }
            match self.tok.kind {
                Tok::LBracket | Tok::Less => open += 1,
                Tok::RBracket | Tok::Greater if open > 0 => open -= 1,
                Tok::Comma => {}
                Tok::Word | Tok::Int if open > 0 || (self.at(Tok::Int) && !self.tok.first) => {
                    draft.words.push(self.here().to_string())
                }
                Tok::Str if !self.tok.first || open > 0 => {
                    // Tokens of buffers quote their pipes in one version, flags too in others.
                    let span = self.tok.span;
                    let is_buffer = matches!(opcode.info().sem, Sem::Orders(Order::Take | Order::Release));
                    self.mark(Part::Shape, if is_buffer { shape::BUFFER_MODE } else { shape::QUOTED_FLAG }, span);
                    draft.words.push(unquote(self.here()));
                }
                Tok::Hash if !self.tok.first => {
                    if let Attr::Dialect(_, body) = self.attr()? {
                        draft.words.push(body.trim_matches(['<', '>', '"']).to_string());
                    }
                    continue;
                }
                // A name on a new line starts the next statement.
                Tok::Percent if !self.tok.first || open > 0 => {
                    self.plays(draft, Role::Scalar)?;
                    continue;
                }
                Tok::Colon if open == 0 => break,
                Tok::Eof | Tok::RBrace | Tok::End if open > 0 => return self.expected("`]`"),
                _ if open == 0 => break,
                _ => return self.expected("a pipe or event"),
            }
            self.bump();
        }
        draft.entries = self.optional_dictionary()?;
        if self.eat(Tok::Colon) {
            draft.types = self.operand_types(draft)?;
            if self.eat(Tok::Arrow) {
                draft.types.extend(self.type_list()?);
            }
        }
        group.map_or(Ok(()), |open| self.close(Tok::RParen, open).map(|_| ()))
    }

    /// `(%w[, %k] : V[, i32]) mode = …, core_type = …`; the words may stand in a dictionary (isa/comm.md 1 and 7).
    pub(super) fn meeting(&mut self, draft: &mut Draft) -> Res<()> {
        let mut raws = Raws::new();
        let start = self.prev;
        let mut said: [Option<(String, Span)>; 2] = [None, None];
        loop {
            let span = self.tok.span;
            let is_word = matches!(self.here(), "mode" | "core_type") && self.second().kind == Tok::Equal;
            match self.tok.kind {
                Tok::LParen => _ = self.labelled(&mut raws)?,
                Tok::LBrace => {
                    self.attributes(&mut draft.entries)?;
                    for entry in std::mem::take(&mut draft.entries) {
                        let text = self.expand(self.slice(entry.value_span));
                        match entry.key.as_str() {
                            "mode" => said[0] = Some((text, entry.value_span)),
                            "core_type" => said[1] = Some((text, entry.value_span)),
                            _ => draft.entries.push(entry),
                        }
                    }
                }
                Tok::Word if is_word => {
                    let n = usize::from(self.here() == "core_type");
                    self.bump();
                    self.bump();
                    let at = self.tok.span;
                    self.attr()?;
                    said[n] = Some((self.expand(self.slice(at.to(self.prev))), at.to(self.prev)));
                }
                Tok::Hash if !self.tok.first => {
                    self.attr()?;
                    let text = self.expand(self.slice(span.to(self.prev)));
                    let n = usize::from(text.contains("sync_core_type"));
                    said[n] = Some((text, span.to(self.prev)));
                }
                Tok::Comma if !self.tok.first => _ = self.bump(),
                _ => break,
            }
        }
        self.meeting_words(draft, said, start)?;
        let is_tile = |raw: &Raw| self.raw_type(raw).is_some_and(|id| self.module.types.get(id).is_tile());
        if let Some(raw) = raws.iter().find(|raw| is_tile(raw)) {
            let text = "syncall takes a workspace and a number, and no tile";
            return self.fail("operand-count", raw.span, text, "leave the tile between the operands out");
        }
        if raws.len() > 2 {
            let text = format!("syncall takes a workspace and a number, and {} operands are written", raws.len());
            return self.fail("operand-count", start.to(self.prev), text, "write (%w, %k : V, i32)");
        }
        draft.operands.extend([Role::Global, Role::Number].into_iter().zip(raws));
        Ok(())
    }

    /// The mode and the kinds of cores, as words.
    fn meeting_words(&mut self, draft: &mut Draft, said: [Option<(String, Span)>; 2], start: Span) -> Res<()> {
        let known: [(&str, &[&str]); 2] =
            [("mode", &["hard", "soft"]), ("core_type", &["aiv_only", "aic_only", "mix"])];
        for ((key, words), said) in known.into_iter().zip(said) {
            let help = format!("write {key} = {}", words.join(" or "));
            let Some((text, span)) = said else {
                let what = format!("syncall has no {key}");
                return self.fail("syntax-attribute", start.to(self.prev), what, help);
            };
            let word = text.rsplit_once('<').map_or(text.as_str(), |(_, rest)| rest.trim_end_matches('>'));
            let word = word.split_whitespace().next_back().unwrap_or_default();
            if !words.contains(&word) {
                let what = format!("{} is no {key} of syncall", shown(&text));
                return self.fail("syntax-attribute", span, what, help);
            }
            draft.words.push(word.to_string());
        }
        Ok(())
    }
}
