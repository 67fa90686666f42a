//! Instructions of the FIFOs between cores: `name {…}(operands) -> T` (isa/structure.md 5).

use super::special::Draft;
use super::{Parser, Raws, Res, Results};
use crate::lex::Tok;
use crate::sink::{did_you_mean, shown};
use tessera_ir::{ScalarType, Type};
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, PipeText, Role};
use tessera_isa::sem::{Fifo, Sem};

impl Parser<'_> {
    /// Attributes, operands in parentheses and the result's type, in any order; the mnemonic has been read.
    pub(super) fn pipe_text(&mut self, draft: &mut Draft, results: &Results, op: Opcode, text: PipeText) -> Res<()> {
        let (mut raws, mut words) = (Raws::new(), Vec::new());
        let mut sub_block = Raws::new();
        loop {
            if self.at_word("aiv_subblockid") && matches!(op.info().sem, Sem::Fifo(Fifo::Push(_) | Fifo::Pop(_))) {
                self.bump();
                self.labelled(&mut sub_block)?;
                continue;
            }
            match self.tok.kind {
                Tok::LBrace => self.attributes(&mut draft.entries)?,
                // A parameter may stand without parentheses.
                Tok::Percent if raws.is_empty() && matches!(op.info().sem, Sem::Fifo(Fifo::SetQuant)) => {
                    raws.push(self.operand()?);
                    if self.eat(Tok::Colon) {
                        let ty = self.ty()?;
                        raws.iter_mut().for_each(|raw| raw.ty = Some(ty));
                    }
                }
                Tok::LParen => words.extend(self.labelled(&mut raws)?),
                Tok::Arrow => {
                    self.bump();
                    draft.types = self.type_list()?;
                }
                _ => break,
            }
        }
        self.pipe_roles(draft, op, text, raws, &words)?;
        draft.operands.extend(sub_block.first().map(|raw| (Role::Number, *raw)));
        if draft.types.len() != results.names.len() && text.has_result {
            return self.expected("`->` and the type of the result");
        }
        if !(text.has_result || draft.types.is_empty() && results.names.is_empty()) {
            let what = format!("{op} has no result");
            return self.fail("operand-count", results.start.to(self.prev), what, "leave the result and its type out");
        }
        Ok(())
    }

    /// Gives the operands their roles, by their words or by their places.
    pub(super) fn pipe_roles(
        &mut self,
        draft: &mut Draft,
        op: Opcode,
        text: PipeText,
        raws: Raws,
        words: &[Option<Span>],
    ) -> Res<()> {
        let at = self.prev;
        let listed = || text.operands.iter().map(|(_, word, _)| *word);
        let (most, count) = (text.operands.len(), raws.len());
        // A pipe without global memory leaves the first operand out.
        let first = raws.first().and_then(|raw| self.raw_type(raw)).map(|id| self.module.types.get(id));
        let is_pointer = first.is_some_and(|ty| ty.plays(Role::Global));
        let is_left_out = |(role, _, optional): &(Role, &str, bool)| *optional && *role == Role::Global && !is_pointer;
        let skipped = usize::from(text.operands.first().is_some_and(is_left_out));
        for (n, raw) in raws.into_iter().enumerate() {
            let place = match words.get(n).copied().flatten() {
                Some(span) => {
                    let word = self.slice(span);
                    let found = text.operands.iter().find(|(_, w, _)| *w == word);
                    if found.is_none() || !text.worded {
                        let what = format!("{op} has no operand `{}`", shown(word));
                        let help = did_you_mean(word, listed(), || {
                            format!("{op} takes ({})", Vec::from_iter(listed()).join(", "))
                        });
                        return self.fail("syntax-expected", span, what, help);
                    }
                    found
                }
                None => text.operands.get(n + skipped),
            };
            let Some((role, word, _)) = place else {
                let what = format!("{op} takes {most} operands at most, and {count} are written");
                let help = format!("write ({})", Vec::from_iter(listed()).join(", "));
                return self.fail("operand-count", raw.span, what, help);
            };
            // Views of slots go where tiles go, and slots of a view where others lie (isa/today.md 7.2).
            let is_view = self.raw_type(&raw).is_some_and(|id| matches!(self.module.types.get(id), Type::View(_)));
            let role = match role {
                Role::Src | Role::Tile if is_view => &Role::Global,
                Role::Global if is_view && matches!(op.info().sem, Sem::Fifo(Fifo::Initialize(_))) => &Role::SlotView,
                _ => role,
            };
            if draft.operands.iter().any(|(r, _)| r == role) {
                let what = format!("{word} of {op} is written twice");
                return self.fail("operand-count", raw.span, what, "write it once");
            }
            draft.operands.push((*role, raw));
        }
        let is_written = |role: Role| {
            let has = |role: Role| draft.operands.iter().any(|(r, _)| *r == role);
            match role {
                Role::Src | Role::Tile => has(role) || has(Role::Global),
                Role::Global => has(role) || has(Role::SlotView),
                _ => has(role),
            }
        };
        if let Some((_, word, _)) = text.operands.iter().find(|(role, _, optional)| !optional && !is_written(*role)) {
            let what = format!("{op} lacks its operand {word}");
            let help = format!("write ({})", Vec::from_iter(listed()).join(", "));
            return self.fail("operand-count", at, what, help);
        }
        draft.operands.sort_by_key(|(role, _)| text.operands.iter().position(|(r, ..)| r == role));
        Ok(())
    }

    /// The result of an instruction of the FIFOs: a tile, the view of a slot, a pipe, or an address.
    pub(super) fn pipe_result(&mut self, op: Opcode, draft: &Draft) -> Res<()> {
        let Some((id, at)) = draft.types.first().copied() else { return Ok(()) };
        let Sem::Fifo(fifo) = op.info().sem else { return Ok(()) };
        let ty = self.module.types.get(id);
        let (fits, wanted) = match fifo {
            Fifo::Reserve | Fifo::Import => {
                (matches!(ty, Type::Scalar(ScalarType::Int(..) | ScalarType::Index)), "i32")
            }
            Fifo::Initialize(_) => (ty.plays(Role::Pipe), "!pto.pipe"),
            Fifo::Alloc(_) | Fifo::DeclareView => (matches!(ty, Type::View(_)), "a tensor view type"),
            Fifo::Pop(_) if matches!(ty, Type::View(_)) => (true, "a tensor view type"),
            _ => (ty.tile().is_some(), "a tile type"),
        };
        if fits {
            return Ok(());
        }
        let text = format!("{op} gives {wanted}, and {} is written", self.type_text(id));
        self.fail("type-mismatch", at, text, format!("write {wanted}"))
    }
}
