//! `strided<[s, 1], offset: …>` on the type of a tile: what is written must be the pitch of what the tile is a view of
//! (isa/structure.md 2).

use super::Parser;
use crate::types::strides_in;
use tessera_ir::{Def, Type, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Bind, Role};

impl Parser<'_> {
    /// Refuses strides of a use that are not those of the tile. Most texts have no strides at all.
    pub(super) fn check_strides(&mut self, value: ValueId, span: Span) {
        if self.has_strides
            && let Some(pitch) = self.pitch(value)
        {
            self.check_pitch(pitch, span);
        }
    }

    /// Refuses strides of a type other than those of rows that are `pitch` elements apart.
    pub(super) fn check_pitch(&mut self, pitch: u64, span: Span) {
        let text = self.slice(span);
        let text = self.type_aliases.get(text).map_or(text, |(_, at)| self.slice(*at));
        let (Some(written), Ok(pitch)) = (strides_in(text), i64::try_from(pitch)) else { return };
        let own = [Some(pitch), Some(1)];
        let is_wrong = |(w, own): (&Option<i64>, &Option<i64>)| w.is_some() && w != own;
        if written.iter().rev().zip(own.iter().rev()).any(is_wrong) {
            let list = written.iter().map(|s| s.map_or("?".into(), |s| s.to_string())).collect::<Vec<_>>().join(", ");
            let what = format!("the strides are [{list}] here, and the rows of the tile are {pitch} elements apart");
            let help = format!("write strided<[{pitch}, 1]>, or leave the strides out");
            self.push(Diagnostic::error("type-mismatch", what).at(span, "differs").help(help));
        }
    }

    /// The distance of the rows of a view of an ND tile, in elements: its source's columns. The distance is not known
    /// yet for a tile that an instruction binds later (`tsubview` into `outs`).
    fn pitch(&self, mut value: ValueId) -> Option<u64> {
        let mut is_view = false;
        while let Def::Result(op, _) = self.func.value(value).def {
            let op = self.func.op(op);
            let binds = op.opcode().is_some_and(|o| o.info().binds == Some(Bind::Window));
            match op.operand(Role::Src).and_then(|o| o.arg.value()).filter(|_| binds) {
                Some(source) => (value, is_view) = (source, true),
                None => break,
            }
        }
        match self.module.types.get(self.func.value(value).ty) {
            Type::Tile(tile) if is_view => Some(tile.cols),
            _ => None,
        }
    }
}
