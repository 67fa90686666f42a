//! Operations between ranks: `name(operands : types) {…} -> T` (isa/comm.md 1).

use super::attr::Attr;
use super::special::Draft;
use super::{Parser, Raws, Res, Results};
use crate::lex::Tok;
use crate::sink::shown;
use smallvec::SmallVec;
use tessera_isa::ops::{CommPart, CommText, Opcode, Role};

/// The operands of each part, as `operandSegmentSizes` counts them; empty where nothing does.
pub(super) fn counts(segments: Option<&Attr>, parts: usize) -> SmallVec<[usize; 4]> {
    let Some(Attr::List(list)) = segments else { return SmallVec::new() };
    let count = |a: &Attr| if let Attr::Int(n, _) = a { usize::try_from(*n).ok() } else { None };
    let counts: SmallVec<[usize; 4]> = list.iter().filter_map(count).collect();
    if counts.len() == parts { counts } else { SmallVec::new() }
}

impl Parser<'_> {
    /// Attributes, operands in parentheses and the result's type; the mnemonic has been read.
    pub(super) fn between_ranks(
        &mut self,
        draft: &mut Draft,
        results: &Results,
        op: Opcode,
        text: CommText,
    ) -> Res<()> {
        let mut raws = Raws::new();
        let mut counts: SmallVec<[usize; 4]> = SmallVec::new();
        loop {
            match self.tok.kind {
                Tok::LBrace => self.attributes(&mut draft.entries)?,
                Tok::LParen => self.comm_operands(op, text, &mut raws, &mut counts)?,
                Tok::Arrow => {
                    self.bump();
                    draft.types = self.type_list()?;
                }
                _ => break,
            }
        }
        let roles = self.comm_roles(op, text, &raws, &counts)?;
        draft.operands.extend(roles.into_iter().zip(raws));
        // A truth is i1, and need not be written.
        if text.has_result && draft.types.is_empty() && results.names.len() == 1 {
            return self.expected("`->` and the type of the result");
        }
        if draft.types.len() != results.names.len() || !text.has_result && !results.names.is_empty() {
            let what =
                format!("{op} has {} results, and {} are named", usize::from(text.has_result), results.names.len());
            return self.fail("operand-count", results.start.to(self.prev), what, "name as many as it has");
        }
        Ok(())
    }

    /// `(%a, word(%b, %c), %d : T, T, T, T)`; counts the operands of each part.
    fn comm_operands(
        &mut self,
        op: Opcode,
        text: CommText,
        raws: &mut Raws,
        counts: &mut SmallVec<[usize; 4]>,
    ) -> Res<()> {
        let open = self.bump().span;
        while !self.at(Tok::RParen) && !self.at(Tok::Colon) {
            let start = self.tok.span;
            if self.at(Tok::Word) {
                let expected = match text.parts.get(counts.len()) {
                    Some(CommPart::Staging(word) | CommPart::Group(word)) => *word,
                    _ => "",
                };
                if self.here() != expected {
                    let what = format!("{op} does not take `{}` here", shown(self.here()));
                    return self.fail("syntax-expected", start, what, format!("write ({} : …)", text.pattern()));
                }
                self.bump();
                let open = self.expect(Tok::LParen, "`(`")?.span;
                let group = self.operand_list(open, Tok::RParen)?;
                counts.push(group.len());
                raws.extend(group);
            } else {
                raws.push(self.operand()?);
                counts.push(1);
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        if self.eat(Tok::Colon) {
            for n in 0..raws.len() {
                if n > 0 {
                    self.expect(Tok::Comma, "`,` and the next type")?;
                }
                raws[n].ty = Some(self.ty()?);
            }
        }
        self.close(Tok::RParen, open)?;
        Ok(())
    }

    /// The roles of operands in the order of the text.
    pub(super) fn comm_roles(
        &mut self,
        op: Opcode,
        text: CommText,
        raws: &Raws,
        counts: &[usize],
    ) -> Res<SmallVec<[Role; 8]>> {
        let mut roles: SmallVec<[Role; 8]> = SmallVec::new();
        let is_counted = counts.len() == text.parts.len();
        for (n, part) in text.parts.iter().enumerate() {
            match part {
                CommPart::One(role) => roles.push(*role),
                CommPart::Staging(_) => {
                    let is_tile = |at: usize| {
                        let ty = raws.get(at).and_then(|raw| self.raw_type(raw));
                        ty.is_some_and(|ty| self.module.types.get(ty).is_tile())
                    };
                    // In generic form tiles come before the views of the group.
                    let several = if is_counted { counts[n] } else { 1 + usize::from(is_tile(roles.len() + 1)) };
                    roles.extend([Role::Ping, Role::Pong].into_iter().take(several));
                    if several == 0 || several > 2 {
                        roles.clear();
                        break;
                    }
                }
                CommPart::Group(_) => {
                    let rest = raws.len().saturating_sub(roles.len());
                    roles.extend((0..rest).map(|_| Role::Member));
                }
            }
        }
        if roles.len() == raws.len() && (is_counted || counts.is_empty()) {
            return Ok(roles);
        }
        let what = format!("{op} takes ({}), and {} operands are written", text.pattern(), raws.len());
        self.fail("operand-count", self.prev, what, format!("write ({} : …)", text.pattern()))
    }
}
