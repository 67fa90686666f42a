//! Operations that order others: words for pipes, events and ids, and events as operands (sync.md 2).

use super::attr::{Attr, unquote};
use super::special::Draft;
use super::{Parser, Res};
use crate::dialect::{Part, shape};
use crate::lex::Tok;
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
}
