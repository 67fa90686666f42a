//! The parts of a program around the instructions: tiles, views, pointers, numbers of the block.

use crate::{Emitted, Emitter, words};
use tessera_ir::{Arg, Op, OpId, ValueId};
use tessera_isa::ops::{Form, Opcode, Role, Text};
use tessera_isa::sem::Sem;
use tessera_isa::tile::Extent;

impl Emitter<'_> {
    /// An instruction of the table.
    pub(crate) fn pto(&mut self, id: OpId, op: &Op, opcode: Opcode, form: Form) -> Emitted<()> {
        match opcode.info().text {
            Text::Alloc => self.alloc(op),
            Text::Slot => self.slot(op),
            Text::Assign => self.assign(id, op),
            Text::SetValid => {
                let tile = self.tile(op, Role::Tile)?;
                self.set_valid(&tile, op);
                Ok(())
            }
            Text::MakeView => self.make_view(op),
            Text::Partition => self.partition(op),
            Text::AddPtr => self.addptr(op),
            Text::LoadScalar | Text::StoreScalar => self.scalar_access(op, opcode),
            Text::Number => {
                let call = match opcode {
                    Opcode::GetBlockIdx => "get_block_idx()",
                    Opcode::GetBlockNum => "get_block_num()",
                    Opcode::GetSubblockIdx => "get_subblockid()",
                    _ => "get_subblockdim()",
                };
                let ty = words::scalar_type(self.result_type(op)?, op.span)?;
                self.define(op, format!("static_cast<{ty}>({call})"))
            }
            Text::Address(_) => self.address_of(op),
            Text::Dim => self.dim(op, opcode),
            Text::Print => self.print(op),
            Text::Pipe(_) if opcode.order().is_some() => self.read_ahead(op, opcode),
            Text::Pipe(_) => self.pipe(id, op),
            Text::Comm(_) => self.communicate(op, opcode),
            Text::AsWritten | Text::Hint(_) => self.order(op, opcode),
            Text::Ignored if matches!(opcode.info().sem, Sem::Traps) => {
                self.line("trap();");
                Ok(())
            }
            Text::Extents(axes) => {
                let tile = self.tile(op, Role::Tile)?;
                for (axis, result) in axes.iter().zip(&op.results) {
                    if !self.needed[result.index()] {
                        continue;
                    }
                    let ty = words::scalar_type(self.scalar_of(Arg::Value(*result)), op.span)?;
                    let call = if *axis == 0 { "GetValidRow" } else { "GetValidCol" };
                    let name = self.names.object(*result);
                    self.line(&format!("const {ty} {name} = static_cast<{ty}>({tile}.{call}());"));
                }
                Ok(())
            }
            Text::Ignored => Ok(()),
            Text::Meet => self.meet(op),
            _ if matches!(opcode.info().sem, Sem::Prints) => self.print_tile(op),
            _ => self.instruction(op, opcode, form),
        }
    }

    fn alloc(&mut self, op: &Op) -> Emitted<()> {
        let tile = self.result(op)?;
        if self.ty(tile).slots().is_some() {
            return self.alloc_slots(op, tile);
        }
        let name = self.names.object(tile).to_string();
        self.declare(tile)?;
        match op.operand(Role::Addr) {
            Some(addr) => self.line(&format!("TASSIGN({name}, {});", self.address(addr.arg))),
            None => self.place(tile),
        }
        self.set_valid(&name, op);
        Ok(())
    }

    /// A multi-buffer tile is the address of its first slot.
    fn alloc_slots(&mut self, op: &Op, tiles: ValueId) -> Emitted<()> {
        // One that nothing uses lies nowhere.
        if self.uses[tiles.index()].is_empty() {
            return Ok(());
        }
        let planned = || self.placement.slot(tiles).map(|slot| format!("{:#x}", slot.addr));
        let address = op.operand(Role::Addr).map(|addr| self.address(addr.arg)).or_else(planned);
        let Some(address) = address else {
            return Err(crate::cannot(op.span, "a multi-buffer tile without a place", "write an address"));
        };
        self.line(&format!("const uint64_t {} = {address};", self.names.object(tiles)));
        Ok(())
    }

    /// One of the tiles of a multi-buffer tile.
    fn slot(&mut self, op: &Op) -> Emitted<()> {
        let (tiles, index) = (self.tile(op, Role::Src)?, self.index(op, Role::Index));
        let slot = self.result(op)?;
        self.begin_results(op)?;
        let bytes = self.ty(slot).on(self.profile).map_or(0, |tile| tile.bytes());
        self.line(&format!("TASSIGN({}, {tiles} + {index} * {bytes});", self.names.object(slot)));
        Ok(())
    }

    fn set_valid(&mut self, tile: &str, op: &Op) {
        match (self.role(op, Role::ValidRow), self.role(op, Role::ValidCol)) {
            (Some(r), Some(c)) => self.line(&format!("{tile}.SetValidShape({r}, {c});")),
            (Some(r), None) => self.line(&format!("{tile}.SetValidRow({r});")),
            (None, Some(c)) => self.line(&format!("{tile}.SetValidCol({c});")),
            (None, None) => {}
        }
    }

    /// Sets the extents of a tile that its type leaves open.
    pub(crate) fn set_dynamic(&mut self, value: ValueId, rows: &str, cols: &str) {
        let Some(t) = self.ty(value).tile().copied() else { return };
        for (extent, name, text) in [(t.v_row, "Row", rows), (t.v_col, "Col", cols)] {
            if extent == Extent::Dynamic {
                self.line(&format!("{}.SetValid{name}({text});", self.names.object(value)));
            }
        }
    }

    fn assign(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        let expression = self.tile(op, Role::Tile)?;
        // A tile that does not exist yet is bound where it begins.
        if !self.early.iter().any(|(_, early, _)| *early == id)
            && let Some(addr) = op.operand(Role::Addr)
        {
            self.line(&format!("TASSIGN({expression}, {});", self.address(addr.arg)));
        }
        if let Some(result) = op.results.first() {
            self.names.stands_for(*result, expression);
        }
        Ok(())
    }
}
