//! PTO operations: those with a meaning of their own, and tile instructions as sites.

use super::super::code::*;
use super::super::observe;
use super::{Compiler, lacks};
use tessera_ir::{Op, OpId, ScalarType};
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Bind, Form, Opcode, Order, Role, Text};
use tessera_isa::sem::{Sem, f32_mode};
use tessera_kernels::Failure;

impl Compiler<'_> {
    pub(super) fn pto(
        &mut self,
        id: OpId,
        op: &Op,
        opcode: Opcode,
        form: Form,
        code: &mut Vec<Code>,
    ) -> Result<(), Failure> {
        if let Some(support) = self.program.is_micro.then(|| self.chip_pointer(op, opcode)).transpose()?.flatten() {
            code.push(Code::Support(id, Box::new(Support::Micro(support))));
            return Ok(());
        }
        let result = op.results.first().copied();
        let wanted = |c: &Self, role| c.role(op, role)?.ok_or_else(|| lacks(op, "an operand"));
        let tile = |c: &Self| op.values().find_map(|v| c.var(v).tile()).ok_or_else(|| lacks(op, "a tile"));
        let global = |c: &Self| op.values().find_map(|v| c.var(v).global()).ok_or_else(|| lacks(op, "a pointer"));
        let made = |c: &Self| c.var(c.result(op)?).global().ok_or_else(|| lacks(op, "a view as its result"));
        let valid = |c: &Self| -> Result<_, Failure> { Ok([c.role(op, Role::ValidRow)?, c.role(op, Role::ValidCol)?]) };
        let support = match opcode.info().text {
            Text::Alloc => {
                let made = self.result(op)?;
                Support::Alloc(Alloc {
                    object: self.object(made)?,
                    slot: self.var(made).tile().ok_or_else(|| lacks(op, "a tile as its result"))?,
                    addr: self.role(op, Role::Addr)?,
                    // The valid extents of a multi-buffer tile are its slots'.
                    valid: if self.ty(made).slots().is_some() { [None, None] } else { valid(self)? },
                })
            }
            Text::Assign => Support::Assign {
                tile: tile(self)?,
                addr: wanted(self, Role::Addr)?,
                result: result.and_then(|r| self.var(r).tile()),
            },
            Text::SetValid => Support::SetValid { tile: tile(self)?, valid: valid(self)? },
            _ if matches!(opcode.info().binds, Some(Bind::Window | Bind::Slot)) => {
                let roles = op.operands.iter().filter(|o| matches!(o.role, Role::Row | Role::Col | Role::Index));
                let dst = op.dsts().first().map(|d| d.1).or(result);
                Support::Window(Window {
                    opcode,
                    src: tile(self)?,
                    dst: dst.and_then(|d| self.var(d).tile()).ok_or_else(|| lacks(op, "a destination"))?,
                    result: result.map(|r| self.object(r)).transpose()?,
                    at: roles.map(|o| Ok((o.role, self.int(op, o.arg)?))).collect::<Result<_, Failure>>()?,
                    valid: valid(self)?,
                })
            }
            text @ (Text::MakeView | Text::Partition) => {
                let numbers = op.operands.iter().filter(|o| o.role == Role::Number);
                let mut first = numbers.map(|o| self.int(op, o.arg)).collect::<Result<Vec<_>, _>>()?;
                let second = first.split_off(first.len() / 2);
                let elem = self.ty(self.result(op)?).global_elem();
                let view = MakeView {
                    src: global(self)?,
                    dst: made(self)?,
                    first,
                    second,
                    tags: tessera_ir::view::tags(self.module, self.func, &self.constants, op),
                    elem: elem.ok_or_else(|| lacks(op, "an element type"))?,
                };
                if text == Text::MakeView { Support::MakeView(view) } else { Support::Partition(view) }
            }
            Text::AddPtr => {
                let by = wanted(self, Role::Number)?;
                let is_pointer = result.is_some_and(|r| matches!(self.ty(r), tessera_ir::Type::Ptr(..)));
                Support::AddPtr { src: global(self)?, dst: made(self)?, by, is_pointer }
            }
            Text::Address(_) => {
                let from = op.values().next().map(|v| self.var(v)).ok_or_else(|| lacks(op, "an operand"))?;
                let made = self.result(op)?;
                Support::Address(Address { from, to: self.var(made), elem: self.ty(made).global_elem() })
            }
            Text::Extents(axes) => {
                let slot = |value| match self.var(value) {
                    Var::Int(slot) => Some(slot),
                    _ => None,
                };
                let to = axes.iter().copied().zip(op.results.iter().filter_map(|r| slot(*r))).collect();
                Support::Extents(tile(self)?, to)
            }
            Text::Dim => Support::ViewNumber(ViewNumber {
                view: global(self)?,
                index: wanted(self, Role::Number)?,
                is_stride: opcode == Opcode::GetTensorViewStride,
                to: self.int_result(op)?,
            }),
            Text::Print => Support::PrintText {
                format: op
                    .attrs
                    .as_deref()
                    .and_then(|a| a.words.first())
                    .map(|w| w.as_str().into())
                    .unwrap_or_default(),
                values: op.operands.iter().map(|o| self.scalar(op, o.arg)).collect::<Result<_, _>>()?,
            },
            Text::Ignored if matches!(opcode.info().sem, Sem::Traps) => Support::Trap,
            Text::LoadScalar | Text::StoreScalar => {
                let stored = op.operand(Role::Scalar).map(|o| o.arg);
                let value = result.or(stored.and_then(|a| a.value()));
                let access = Access {
                    pointer: global(self)?,
                    index: wanted(self, Role::Number)?,
                    ty: value.map_or(ScalarType::Index, |v| self.scalar_type(v)),
                };
                match stored {
                    Some(scalar) => Support::StoreScalar(access, self.int(op, scalar)?),
                    None => Support::LoadScalar(access, self.int_result(op)?),
                }
            }
            Text::Attributes if matches!(opcode.info().sem, Sem::RoundsF32 { .. }) => {
                let Some(attrs) = f32_mode(opcode, self.profile, op.known_attrs()) else { return Ok(()) };
                Support::Configure(Box::new(attrs))
            }
            Text::Attributes => Support::Configure(Box::new(op.known_attrs().clone())),
            Text::Value => Support::PadValue {
                scalar: op.operands.first().map(|o| self.scalar(op, o.arg)).transpose()?,
                attr: op.known_attrs().pad_value(),
            },
            Text::Number if opcode == Opcode::GetBlockIdx => Support::BlockIndex(self.int_result(op)?),
            Text::Number if matches!(opcode, Opcode::GetSubblockIdx | Opcode::GetSubblockNum) => {
                let (number, count) = self.process.sub_block();
                let value = if opcode == Opcode::GetSubblockNum { count } else { number };
                code.push(Code::Set { dst: self.int_result(op)?, value });
                return Ok(());
            }
            Text::Number => Support::BlockCount(self.int_result(op)?),
            _ if matches!(opcode.info().sem, Sem::Gets) => Support::Get(GetElement {
                opcode,
                src: tile(self)?,
                index: wanted(self, Role::Index)?,
                to: self.int_result(op)?,
                ty: self.scalar_type(self.result(op)?),
            }),
            _ if matches!(opcode.info().sem, Sem::Prints) && op.operand(Role::Global).is_some() => {
                let view = op.operand(Role::Global).and_then(|o| o.arg.value());
                let slot = view.and_then(|v| Some((v, self.var(v).global()?)));
                let (value, slot) = slot.ok_or_else(|| lacks(op, "a view"))?;
                Support::PrintView(value, slot)
            }
            _ if matches!(opcode.info().sem, Sem::Prints) => Support::Print(tile(self)?),
            _ if matches!(opcode.order(), Some(Order::Cache)) => match self.observed {
                true => Support::Cache(self.cached(op)),
                false => return Ok(()),
            },
            _ if matches!(opcode.order(), Some(Order::Nothing)) => return Ok(()),
            _ if matches!(opcode.order(), Some(Order::Meet)) => return self.meeting(id, op, code),
            Text::Comm(_) => return self.between_ranks(id, op, opcode, code),
            Text::Pipe(_) => return self.fifo(id, op, code),
            _ if op.token().is_some() => return self.token(id, op, opcode, code),
            Text::Ignored | Text::AsWritten | Text::Hint(_) => {
                if self.observed && opcode.order().is_some() {
                    code.push(observe::order(id, op, |arg| self.int(op, arg).ok()));
                }
                if self.observed && opcode.order() == Some(Order::Fence) && self.is_global_fence(op) {
                    code.push(Code::Support(id, Box::new(Support::Cache(Cached::Fence))));
                }
                return Ok(());
            }
            _ => {
                let site = self.site(id, op, opcode, form)?;
                self.program.sites.push(site);
                code.push(Code::Issue(self.program.sites.len() as u32 - 1));
                return Ok(());
            }
        };
        code.push(Code::Support(id, Box::new(support)));
        Ok(())
    }

    /// A tile instruction: ins in text order, then destinations.
    fn site(&mut self, id: OpId, op: &Op, opcode: Opcode, form: Form) -> Result<InstTemplate, Failure> {
        let mut tiles = Vec::new();
        let mut scalars = Vec::new();
        let mut global = None;
        let mut views = Vec::new();
        let mut init = None;
        let mut written = Vec::new();
        for operand in &op.operands {
            let var = operand.arg.value().map(|v| self.var(v));
            match var {
                Some(Var::Tile(slot)) if operand.role == Role::Init => init = Some(slot),
                Some(Var::Tile(slot)) if operand.role.is_dst() => written.push((operand.role, slot)),
                Some(Var::Tile(slot)) => tiles.push((operand.role, slot)),
                Some(Var::Global(slot)) if operand.role != Role::Global && operand.role.is_view() => {
                    views.push((operand.role, slot))
                }
                Some(Var::Global(slot)) => global = Some(slot),
                Some(Var::Nothing | Var::Ids(..)) => {}
                _ => scalars.push((operand.role, self.scalar(op, operand.arg)?)),
            }
        }
        let mut results = Vec::new();
        for (role, value) in op.dsts() {
            if let (true, Some(slot)) = (op.results.contains(&value), self.var(value).tile()) {
                written.push((role, slot));
                results.push((slot, self.object(value)?));
            }
        }
        tiles.extend(written);
        let slot = |role| tiles.iter().find(|t| t.0 == role).map(|t| t.1);
        let ends = slot(Role::Src).zip(slot(Role::Dst));
        let mut inst = Inst::new(opcode, form, self.profile);
        inst.attrs = op.known_attrs().clone();
        inst.makes_dst = !results.is_empty();
        inst.finds_scratch = self.finds_scratch;
        Ok(InstTemplate {
            binds: opcode.binds(self.profile).zip(ends).map(|(how, (src, dst))| (how, src, dst)),
            is_configured: opcode.is_configured(),
            expands: opcode.info().expands,
            only_tiles: global.is_none()
                && !opcode.is_configured()
                && scalars.iter().all(|(_, s)| matches!(s.int, Int::Imm(_))),
            at: id,
            inst: Box::new(inst),
            tiles,
            scalars,
            global,
            views,
            results,
            init,
            may_wait: false,
            dead: 0,
        })
    }
}
