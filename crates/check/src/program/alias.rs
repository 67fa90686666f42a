//! `treshape-alias`: after a TRESHAPE one of the tiles is written, then the other read (ops.md 4).
//!
//! cpu copies and the others share the storage, so such a program means two things. Reads and writes go through views
//! to the storage behind them; a write of the whole tile makes what the other one wrote before it not matter.

use super::operand::Operand;
use super::state::{Alias, Val};
use super::walk::Walk;
use tessera_ir::Op;
use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Bind, Role};
use tessera_isa::sem::effects;

/// More pairs of tiles than this are not watched at once.
const MAX_ALIASES: usize = 2048;

impl Walk<'_> {
    pub(super) fn alias(&mut self, op: &Op, inst: &Inst, operands: &[Operand]) {
        let reshapes = inst.op.info().binds == Some(Bind::Bytes);
        let storage = |n: usize| self.state.objects[n].storage;
        // Most instructions touch no tile that was ever reshaped, and need not look at the pairs.
        let mut touched = op.operands.iter().filter_map(|o| match self.get(o.arg.value()?) {
            Val::Tile(object) => Some(storage(object)),
            _ => None,
        });
        if !reshapes && !touched.any(|tile| self.state.reshaped.contains(&tile)) {
            return;
        }
        let effects = effects(inst);
        let mut read = Vec::new();
        let mut written = Vec::new();
        for (operand, touch) in operands.iter().zip(&effects.tiles) {
            // On hardware a TRESHAPE moves nothing, and yet gives on what src holds.
            if touch.reads() || reshapes && touch.role == Role::Src {
                read.push(storage(operand.object));
            }
            if touch.writes() {
                written.push((storage(operand.object), touch.covers));
            }
        }
        for init in op.operands.iter().filter(|o| o.role == Role::Init) {
            if let Some(Val::Tile(object)) = init.arg.value().map(|v| self.get(v)) {
                read.push(storage(object));
            }
        }
        let stale = |alias: &Alias| {
            let reads = |side: usize| read.contains(&alias.tiles[side]) && alias.written[1 - side];
            reads(0) || reads(1)
        };
        if self.state.aliases.iter().any(stale) {
            let what = "the tile that is read shares its storage with one written since their TRESHAPE on a2a3 and a5, \
                        and is a copy of its own on cpu";
            let fault = Fault::new("treshape-alias", what).help("read it before the write, or write another tile");
            self.found(op, operands, fault);
        }
        if reshapes {
            self.reshape(operands);
            return;
        }
        for alias in &mut self.state.aliases {
            for side in [0, 1] {
                if let Some((_, whole)) = written.iter().find(|(tile, _)| *tile == alias.tiles[side]) {
                    alias.written[side] = true;
                    alias.written[1 - side] &= !whole;
                }
            }
        }
    }

    /// From here on dst is src's storage, or a copy of it; what dst was before does not matter any more.
    fn reshape(&mut self, operands: &[Operand]) {
        let find = |role: Role| {
            let object = operands.iter().find(|o| o.role == role)?.object;
            Some(self.state.objects[object].storage)
        };
        let ends = find(Role::Src).zip(find(Role::Dst)).filter(|(src, dst)| src != dst);
        let Some((src, dst)) = ends else { return };
        self.state.aliases.retain(|alias| !alias.tiles.contains(&dst));
        self.state.reshaped.extend([src, dst]);
        // Tiles that already share src's storage share dst's now.
        let mut partners: Vec<usize> = vec![src];
        for alias in &self.state.aliases {
            match alias.tiles {
                [a, b] if a == src => partners.push(b),
                [a, b] if b == src => partners.push(a),
                _ => {}
            }
        }
        let new = partners.into_iter().map(|partner| Alias { tiles: [partner, dst], written: [false; 2] });
        self.state.aliases.extend(new);
        // The oldest pairs are forgotten first: every instruction looks at all of them.
        let excess = self.state.aliases.len().saturating_sub(MAX_ALIASES);
        self.state.aliases.drain(..excess);
    }
}
