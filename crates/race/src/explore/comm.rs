//! Operations between ranks on the paths of one rank (isa/today.md 8.1, isa/comm.md 5). What other ranks do is not
//! followed.

use super::PathWalk;
use crate::footprint::Ranges;
use crate::trace::{Access, Flag, Kind, Root};
use smallvec::SmallVec;
use tessera_absint::{Analysis, Val};
use tessera_ir::{Op, OpId};
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::sem::{Comm, Sem};

impl<'a> PathWalk<'a> {
    pub(super) fn between_ranks(&mut self, id: OpId, op: &'a Op) {
        let Some(Sem::Comm(comm)) = op.opcode().map(|o| o.info().sem) else { return };
        let is_written = |role: Role| match role {
            Role::DstView => true,
            Role::Member => matches!(comm, Comm::Broadcast | Comm::Scatter),
            _ => false,
        };
        let adds = comm == Comm::Put && op.known_attrs().adds();
        match comm {
            _ if comm.is_staged() => {
                let (written, read): (Vec<Access>, Vec<Access>) =
                    self.shared_views(op, is_written, adds).into_iter().partition(|access| access.writes);
                let tiles = |this: &mut Self, writes| this.staging(op, writes);
                let (fills, drains) = (tiles(self, true), tiles(self, false));
                let first: Vec<Access> = read.into_iter().chain(fills.iter().copied()).collect();
                self.event(id, Some(Pipe::Mte2), Kind::Phase, &first);
                if comm == Comm::Reduce {
                    let both: Vec<Access> = drains.iter().chain(&fills).copied().collect();
                    self.event(id, Some(Pipe::V), Kind::Phase, &both);
                }
                let last: Vec<Access> = drains.into_iter().chain(written).collect();
                self.event(id, Some(Pipe::Mte3), Kind::Work, &last);
                let flag = self.flag_number(Flag::Inner(Pipe::Mte3, Pipe::Mte2));
                self.event(id, Some(Pipe::Mte3), Kind::Set(flag), &[]);
                self.event(id, Some(Pipe::Mte2), Kind::Wait(flag), &[]);
            }
            Comm::Notify => {
                self.event(id, Some(Pipe::S), Kind::Meets, &[]);
            }
            Comm::Wait | Comm::Test => {
                let read = self.shared_views(op, |_| false, false);
                self.event(id, Some(Pipe::S), Kind::Work, &read);
            }
            _ => {}
        }
        self.set_unknown(op);
    }

    fn shared_views(&mut self, op: &Op, is_written: impl Fn(Role) -> bool, adds: bool) -> SmallVec<[Access; 4]> {
        let mut accesses = SmallVec::new();
        for operand in op.operands.iter().filter(|o| o.role.is_shared()) {
            let Val::View(view) = self.val(operand.arg) else { continue };
            let view = self.state.views[view].clone();
            let steps = view.dims.iter().zip(&*view.strides);
            let last = steps.map(|(dim, stride)| (dim.known()? - 1).max(0).checked_mul(stride.known()?));
            let last = last.sum::<Option<i64>>();
            let bytes = last.map(|last| view.elem.bytes_of(u64::try_from(last).unwrap_or(0) + 1) as i64);
            let ranges: Ranges = [(0, bytes.unwrap_or(i64::MAX / 16))].into();
            let (writes, exact) = (is_written(operand.role), bytes.is_some());
            let (set, start) = (self.sets.of(&view.place, &ranges), view.place.at.byte());
            accesses.push(Access {
                set,
                writes,
                adds: adds && writes,
                exact,
                role: Role::Global,
                start,
                if_valid: false,
            });
        }
        accesses
    }

    /// The tiles through which the bytes pass.
    fn staging(&mut self, op: &Op, writes: bool) -> Vec<Access> {
        let mut accesses = Vec::new();
        for operand in &op.operands {
            let Some(object) = self.state.tile(operand.arg) else { continue };
            let object = &self.state.objects[object];
            let (mut place, bytes, loc) = (object.place.clone(), object.bytes(), object.tile.loc);
            if let Root::Chip(_, core) = &mut place.root {
                *core = self.memory_of(loc, *core);
            }
            let ranges: Ranges = [(0, bytes as i64)].into();
            let (set, start) = (self.sets.of(&place, &ranges), place.at.byte());
            accesses.push(Access { set, writes, adds: false, exact: true, role: operand.role, start, if_valid: false });
        }
        accesses
    }
}
