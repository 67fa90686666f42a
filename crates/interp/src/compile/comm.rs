//! Operations between ranks as code (isa/comm.md).

use super::super::code::*;
use super::{Compiler, lacks};
use tessera_ir::{Op, OpId};
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::sem::Sem;
use tessera_kernels::Failure;

impl Compiler<'_> {
    /// The lines that `cmo.cacheinvalid` names.
    pub(super) fn cached(&self, op: &Op) -> Cached {
        let operand = op.values().find_map(|v| self.var(v).global());
        operand.map_or(Cached::All, Cached::Lines)
    }

    /// Whether a fence is one of global memory.
    pub(super) fn is_global_fence(&self, op: &Op) -> bool {
        let words = op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
        words.iter().any(|word| word.contains("<gm>") || word.contains("<all>"))
    }

    /// An operation between ranks: its views, tiles and numbers by role.
    pub(super) fn between_ranks(
        &mut self,
        id: OpId,
        op: &Op,
        opcode: Opcode,
        code: &mut Vec<Code>,
    ) -> Result<(), Failure> {
        let Sem::Comm(comm) = opcode.info().sem else { return Err(lacks(op, "a meaning")) };
        let mut made = CommOp {
            opcode,
            comm,
            attrs: op.known_attrs().clone(),
            views: Default::default(),
            tiles: Default::default(),
            value: None,
            session: None,
            event: None,
            result: op.results.first().and_then(|r| self.var(*r).int()),
        };
        for operand in &op.operands {
            match (operand.role, operand.arg.value().map(|v| self.var(v))) {
                (role, Some(Var::Global(slot))) => made.views.push((role, slot)),
                (_, Some(Var::Tile(slot))) => made.tiles.push(slot),
                (Role::Session, _) => made.session = Some(self.int(op, operand.arg)?),
                (Role::AsyncEvent, _) => made.event = Some(self.int(op, operand.arg)?),
                _ => made.value = Some(self.int(op, operand.arg)?),
            }
        }
        code.push(Code::CoreSyncOp(id, Box::new(CoreSyncOp::Comm(Box::new(made)))));
        Ok(())
    }
}
