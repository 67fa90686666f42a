//! Micro instructions and vecscopes as code.

use super::super::code::*;
use super::super::micro::{ChipAccess, MicroOp, MicroSupport, MicroVar, chip_space, step};
use super::super::micro_fast::FastOp;
use super::{Compiler, lacks};
use smallvec::SmallVec;
use tessera_ir::{Op, OpId, ScalarType, ValueId};
use tessera_isa::ops::{Opcode, Role, Text};
use tessera_kernels::Failure;
use tessera_micro::Call;

impl Compiler<'_> {
    /// The vecscope that an operation is begins here.
    pub(super) fn begin_scope(&self, id: OpId, op: &Op, code: &mut Vec<Code>) {
        if op.is_vecscope() {
            code.push(Code::Support(id, Box::new(Support::Micro(MicroSupport::Begin))));
        }
    }

    /// It has ended.
    pub(super) fn end_scope(&self, id: OpId, op: &Op, code: &mut Vec<Code>) {
        if op.is_vecscope() {
            code.push(Code::Support(id, Box::new(Support::Micro(MicroSupport::End))));
        }
    }

    fn micro_var(&self, op: &Op, value: ValueId) -> Result<MicroVar, Failure> {
        Ok(match (self.var(value), chip_space(self.ty(value))) {
            (Var::Int(slot), Some(space)) => MicroVar::Address(space, Int::Slot(slot)),
            (Var::Int(slot), None) => MicroVar::Int(Int::Slot(slot)),
            (Var::Global(slot), _) => MicroVar::Global(slot),
            (var, _) => MicroVar::Micro(var.micro().ok_or_else(|| lacks(op, "an operand of its kind"))?),
        })
    }

    pub(super) fn micro(&mut self, id: OpId, op: &Op, call: &Call) -> Result<Code, Failure> {
        let inst = op.micro(self.module, self.func).ok_or_else(|| lacks(op, "its row"))?;
        let args = op.operands.iter().map(|operand| match operand.arg {
            tessera_ir::Arg::Int(v) => Ok(MicroVar::Int(Int::Imm(v))),
            tessera_ir::Arg::Value(value) => self.micro_var(op, value),
        });
        let results = op.results.iter().map(|value| self.micro_var(op, *value));
        let results: SmallVec<[MicroVar; 2]> = results.collect::<Result<_, _>>()?;
        let fast = FastOp::new(&inst, &results);
        Ok(Code::Micro(Box::new(MicroOp {
            at: id,
            call: call.clone(),
            args: args.collect::<Result<_, _>>()?,
            results,
            fast,
            arg_types: inst.args,
            result_types: inst.results,
        })))
    }

    /// The operation on an on-chip pointer, which is a number in a micro program. `None` if the operation has no such
    /// pointer.
    pub(super) fn chip_pointer(&self, op: &Op, opcode: Opcode) -> Result<Option<MicroSupport>, Failure> {
        let chip = |value: ValueId| chip_space(self.ty(value)).filter(|_| self.var(value).int().is_some());
        let first = op.values().next();
        let result = op.results.first().copied();
        let size = |value: ValueId| self.ty(value).global_elem().map_or(1, step);
        Ok(match opcode.info().text {
            Text::AddPtr => match (result.filter(|r| chip(*r).is_some()), first) {
                (Some(result), Some(_)) => Some(MicroSupport::Move {
                    to: self.int_result(op)?,
                    from: self.operand(op, 0)?,
                    by: Some((self.operand(op, 1)?, size(result))),
                }),
                _ => None,
            },
            Text::Address(_) => match (first, result) {
                (Some(from), Some(to)) if matches!(self.var(from), Var::Tile(_)) && chip(to).is_some() => {
                    let tile = self.var(from).tile().ok_or_else(|| lacks(op, "a tile"))?;
                    Some(MicroSupport::TileAddress { to: self.int_result(op)?, tile })
                }
                (Some(from), Some(to))
                    if chip(from).is_some() || (chip(to).is_some() && self.var(from).int().is_some()) =>
                {
                    Some(MicroSupport::Move { to: self.int_result(op)?, from: self.operand(op, 0)?, by: None })
                }
                _ => None,
            },
            Text::LoadScalar | Text::StoreScalar => {
                let pointer = op.operand(Role::Global).and_then(|o| o.arg.value());
                let Some((pointer, space)) = pointer.and_then(|p| Some((p, chip(p)?))) else { return Ok(None) };
                let stored = op.operand(Role::Scalar).map(|o| o.arg);
                let value = result.or(stored.and_then(|a| a.value()));
                let access = ChipAccess {
                    name: opcode.mnemonic(),
                    space,
                    base: self.int(op, tessera_ir::Arg::Value(pointer))?,
                    index: self.role(op, Role::Number)?.ok_or_else(|| lacks(op, "an index"))?,
                    elem: self.ty(pointer).global_elem().ok_or_else(|| lacks(op, "an element type"))?,
                    ty: value.map_or(ScalarType::Index, |v| self.scalar_type(v)),
                };
                Some(match stored {
                    Some(scalar) => MicroSupport::Store(access, self.int(op, scalar)?),
                    None => MicroSupport::Load(access, self.int_result(op)?),
                })
            }
            _ => None,
        })
    }
}
