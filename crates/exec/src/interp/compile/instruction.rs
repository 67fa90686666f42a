//! PTO operations: those with a meaning of their own, and tile instructions as sites.

use super::super::code::*;
use super::{Compiler, global_elem};
use crate::engine::binds;
use tessera_ir::{Op, OpId, ScalarType};
use tessera_isa::inst::{Inst, ViewTag};
use tessera_isa::ops::{Form, Opcode, Role};

impl Compiler<'_> {
    pub(super) fn pto(&mut self, id: OpId, op: &Op, opcode: Opcode, form: Form, code: &mut Vec<Code>) {
        use Opcode::*;
        let result = op.results.first().copied();
        let int_result = || match result.map(|r| self.var(r)) {
            Some(Var::Int(slot)) => slot,
            _ => 0,
        };
        let tile = op.values().find_map(|v| self.tile_slot(v));
        let global = op.values().find_map(|v| self.global_slot(v));
        let global_result = result.and_then(|r| self.global_slot(r)).unwrap_or(0);
        let number = |c: &Self| {
            let numbers = op.operands.iter().filter(|o| o.role == Role::Number);
            numbers.map(|o| c.int(o.arg)).collect::<Vec<_>>()
        };
        match opcode {
            AllocTile => {
                if let Some(r) = result {
                    code.push(Code::Alloc(Box::new(Alloc {
                        at: id,
                        object: self.object(r),
                        slot: self.tile_slot(r).unwrap_or(0),
                        addr: self.role(op, Role::Addr),
                        valid: [self.role(op, Role::ValidRow), self.role(op, Role::ValidCol)],
                    })));
                }
            }
            Tassign => code.push(Code::Assign {
                at: id,
                tile: tile.unwrap_or(0),
                addr: self.role(op, Role::Addr).unwrap_or(Int::Imm(0)),
                result: result.and_then(|r| self.tile_slot(r)),
            }),
            SetValidshape => code.push(Code::SetValid {
                at: id,
                tile: tile.unwrap_or(0),
                valid: [self.role(op, Role::ValidRow), self.role(op, Role::ValidCol)],
            }),
            Tsubview | Subset => {
                let dst = op.dsts().first().map(|d| d.1).or(result);
                let dst_slot = dst.and_then(|d| self.tile_slot(d)).unwrap_or(0);
                code.push(Code::Window(Box::new(Window {
                    at: id,
                    opcode,
                    src: tile.unwrap_or(0),
                    dst: dst_slot,
                    result: result.map(|r| self.object(r)),
                    row: self.role(op, Role::Row).unwrap_or(Int::Imm(0)),
                    col: self.role(op, Role::Col).unwrap_or(Int::Imm(0)),
                })));
            }
            MakeTensorView | PartitionView => {
                let mut first = number(self);
                let second = first.split_off(first.len() / 2);
                let elem = result.map(|r| self.ty(r)).and_then(global_elem);
                let view = Box::new(MakeView {
                    at: id,
                    src: global.unwrap_or(0),
                    dst: global_result,
                    first,
                    second,
                    tag: op.known_attrs().and_then(|a| a.layout).unwrap_or(ViewTag::Nd),
                    elem: elem.unwrap_or(tessera_isa::elem::Elem::U8),
                });
                code.push(if opcode == MakeTensorView { Code::MakeView(view) } else { Code::Partition(view) });
            }
            Addptr => code.push(Code::AddPtr {
                at: id,
                src: global.unwrap_or(0),
                dst: global_result,
                by: number(self).first().copied().unwrap_or(Int::Imm(0)),
            }),
            LoadScalar | StoreScalar => {
                let stored = op.operand(Role::Scalar).map(|o| o.arg);
                let value = result.or(stored.and_then(|a| a.value()));
                let access = Box::new(Access {
                    at: id,
                    pointer: global.unwrap_or(0),
                    index: number(self).first().copied().unwrap_or(Int::Imm(0)),
                    scalar: stored.map_or(Int::Imm(0), |a| self.int(a)),
                    slot: int_result(),
                    ty: value.map_or(ScalarType::Index, |v| self.scalar_type(v)),
                });
                code.push(if opcode == LoadScalar { Code::LoadScalar(access) } else { Code::StoreScalar(access) });
            }
            Setfmatrix => {
                let attrs = op.known_attrs();
                code.push(Code::Configure { fmap: attrs.and_then(|a| a.fmap), pad: attrs.and_then(|a| a.pad) });
            }
            SetImg2colPadding => {
                let attr = op.known_attrs().and_then(|a| a.pad_value);
                let scalar = op.operands.first().map(|o| self.scalar(o.arg));
                code.push(Code::PadValue { scalar, attr });
            }
            GetBlockIdx => code.push(Code::BlockIndex(int_result())),
            GetBlockNum => code.push(Code::BlockCount(int_result())),
            Tprint => code.push(Code::Print { at: id, tile: tile.unwrap_or(0) }),
            SetImg2colRpt | SetFlag | WaitFlag | RecordEvent | WaitEvent | Barrier | Tsync => {}
            _ => {
                let site = self.site(id, op, opcode, form);
                self.program.sites.push(site);
                code.push(Code::Issue(self.program.sites.len() as u32 - 1));
            }
        }
    }

    /// A tile instruction: ins in text order, then destinations.
    fn site(&mut self, id: OpId, op: &Op, opcode: Opcode, form: Form) -> Site {
        let mut tiles = Vec::new();
        let mut scalars = Vec::new();
        let mut global = None;
        let mut init = None;
        let mut written = Vec::new();
        for operand in &op.operands {
            let var = operand.arg.value().map(|v| self.var(v));
            match var {
                Some(Var::Tile(slot)) if operand.role == Role::Init => init = Some(slot),
                Some(Var::Tile(slot)) if operand.role.is_dst() => written.push((operand.role, slot)),
                Some(Var::Tile(slot)) => tiles.push((operand.role, slot)),
                Some(Var::Global(slot)) => global = Some(slot),
                Some(Var::Nothing) => {}
                _ => scalars.push((operand.role, self.scalar(operand.arg))),
            }
        }
        let mut results = Vec::new();
        for (role, value) in op.dsts() {
            if let (true, Some(slot)) = (op.results.contains(&value), self.tile_slot(value)) {
                written.push((role, slot));
                results.push((slot, self.object(value)));
            }
        }
        tiles.extend(written);
        let slot = |role| tiles.iter().find(|t| t.0 == role).map(|t| t.1);
        let ends = slot(Role::Src).zip(slot(Role::Dst));
        let mut inst = Inst::new(opcode, form, self.profile);
        inst.attrs = op.known_attrs().cloned().unwrap_or_default();
        Site {
            binds: binds(opcode, self.profile).zip(ends).map(|(how, (src, dst))| (how, src, dst)),
            only_tiles: global.is_none()
                && opcode != Opcode::Timg2col
                && scalars.iter().all(|(_, s)| matches!(s.int, Int::Imm(_))),
            at: id,
            inst,
            tiles,
            scalars,
            global,
            results,
            init,
        }
    }
}
