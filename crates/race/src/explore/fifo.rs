//! FIFOs between cores (isa/structure.md 6, sync.md 3): a push is a wait for a free slot, a move and a set, a pop is a wait
//! (on a2a3 then a load, which frees the slot), a free is a set.

use super::{AnalysisInput, Core, Object, PathWalk};
use crate::fifo_slots::{FifoSlots, SlotPlace};
use crate::footprint::{Ranges, rect_ranges};
use crate::linear_expr::LinearExpr;
use crate::trace::{Access, Kind, Line, Place, Root};
use smallvec::SmallVec;
use tessera_absint::{Analysis, Ext, Origin, Val};
use tessera_ir::{FifoId, Op, OpId, fifo};
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Fifo as FifoRole, Rect};
use tessera_isa::tile::Loc;

/// The operations of a FIFO that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Count {
    Pushes,
    Pops,
}

impl<'a> PathWalk<'a> {
    /// Whether a section is for the first vector core only.
    pub(super) fn is_for_first(&self, id: OpId, op: &Op) -> bool {
        let is_outer = self.kinds.get(id.index()).is_none_or(Option::is_none);
        let whole = || fifo::moves_whole_tiles(self.subject.func, &op.blocks);
        self.subject.profile != Profile::A2a3 && is_outer && whole()
    }

    /// The core whose memory holds an operand. A vector core has its own UB; other cores give the core explicitly.
    pub(super) fn memory_of(&self, loc: Loc, said: u8) -> u8 {
        match self.subject.core {
            Core::Vector(n) if loc == Loc::Vec => n,
            _ => said,
        }
    }

    pub(super) fn fifo(&mut self, id: OpId, op: &'a Op) {
        let moved = fifo::part(op).zip(self.fifos.of(id));
        match moved {
            Some((part, n)) if self.fifos.list[n].entries => self.entry(id, op, part, n),
            Some((part @ FifoRole::Push(_), n)) => self.push(id, op, part, n),
            Some((part @ FifoRole::Pop(_), n)) => self.pop(id, op, part, n),
            // Where the pop frees the slot, a free does nothing.
            Some((part @ FifoRole::Free(_), n)) if !self.fifos.list[n].frees_at_pop(self.subject.profile) => {
                let pipe = part.pipe(self.fifos.list[n].dir, self.subject.profile);
                self.event(id, Some(pipe), Kind::Send(Line::Free(n)), &[]);
            }
            Some(_) => {}
            None => self.set_unknown(op),
        }
    }

    /// A FIFO, and the slot that its next push or pop uses, with its number.
    fn next_slot(&mut self, n: FifoId, what: Count) -> (FifoSlots, u64, u64) {
        let AnalysisInput { module, func, placement, profile, .. } = self.subject;
        let slots = FifoSlots::new((module, func), self.state.constants, placement, profile, &self.fifos.list[n]);
        let count = self.counts.entry((n, what)).or_default();
        *count += 1;
        let number = *count - 1;
        let slot = slots.slot(number);
        (slots, slot, number)
    }

    /// The half of a tile that this vector core has.
    fn half(&self) -> u64 {
        if let Core::Vector(n) = self.subject.core { n.into() } else { 0 }
    }

    fn access(&mut self, place: &Place, ranges: &Ranges, writes: bool, (role, exact): (Role, bool)) -> Access {
        Access {
            set: self.sets.of(place, ranges),
            writes,
            adds: false,
            exact,
            if_valid: false,
            role,
            start: place.at.byte(),
        }
    }

    /// The valid region of a tile, or all of it if the region is unknown.
    fn region(object: &Object) -> ([u64; 2], bool) {
        match object.valid() {
            [Some(rows), Some(cols)] => ([rows, cols], true),
            _ => ([object.tile.rows, object.tile.cols], false),
        }
    }

    /// An operation on the views of slots (isa/today.md 7.2).
    fn entry(&mut self, id: OpId, op: &'a Op, part: FifoRole, n: FifoId) {
        let pipe = Some(part.entry_pipe());
        match part {
            FifoRole::Alloc(_) => {
                self.event(id, pipe, Kind::Receive(Line::Free(n)), &[]);
                self.slot_view(id, op, n, Count::Pushes);
            }
            FifoRole::Push(_) => {
                if self.subject.core == Core::Cube {
                    self.inner_flag(id, Pipe::Fix, Pipe::Mte3);
                }
                self.event(id, pipe, Kind::Send(Line::Ready(n)), &[]);
            }
            FifoRole::Pop(_) => {
                self.event(id, pipe, Kind::Receive(Line::Ready(n)), &[]);
                self.slot_view(id, op, n, Count::Pops);
            }
            _ => drop(self.event(id, pipe, Kind::Send(Line::Free(n)), &[])),
        }
    }

    /// Makes a value the view of the next slot, or of the half that is this vector core's.
    fn slot_view(&mut self, id: OpId, op: &'a Op, n: FifoId, what: Count) {
        let (slots, slot, _) = self.next_slot(n, what);
        let Some(made) = fifo::entry(op) else { return };
        let init = self.fifos.init(id).map(|init| self.subject.func.op(init));
        let view = init.and_then(|init| init.operand(Role::SlotView)).map(|o| self.val(o.arg));
        let Some(Val::View(view)) = view else { return self.set_unknown(op) };
        let mut view = self.state.views[view].clone();
        let by = i64::try_from(slot.saturating_mul(slots.fifo.slot_size).saturating_mul(8)).unwrap_or(i64::MAX);
        view.place.at = view.place.at.plus(&by.into());
        let known = |n: &LinearExpr| n.known().and_then(|n| u64::try_from(n).ok());
        let elements = view.dims.iter().try_fold(1u64, |n, dim| n.checked_mul(known(dim)?));
        let is_half = elements.map(|n| view.elem.bytes_of(n).saturating_mul(2)) == Some(slots.fifo.slot_size);
        let axis = view.dims.len().checked_sub(if slots.fifo.split == 1 { 2 } else { 1 });
        if let (Core::Vector(1), Some(axis), true) =
            (self.subject.core, axis.filter(|_| slots.fifo.split != 0), is_half)
        {
            let by = view.dims.get(axis).and_then(&known).zip(view.strides.get(axis).and_then(known));
            let bits = by.and_then(|(extent, stride)| extent.checked_mul(stride)?.checked_mul(view.elem.bits().into()));
            view.place.at = match bits.and_then(|bits| i64::try_from(bits).ok()) {
                Some(bits) => view.place.at.plus(&bits.into()),
                None => self.unknown(),
            };
        }
        let val = self.state.add_view(view);
        self.state.set(made, val);
    }

    fn push(&mut self, id: OpId, op: &'a Op, part: FifoRole, n: FifoId) {
        let (slots, slot, _) = self.next_slot(n, Count::Pushes);
        let pipe = Some(part.pipe(slots.fifo.dir, self.subject.profile));
        self.event(id, pipe, Kind::Receive(Line::Free(n)), &[]);
        let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
        if let Some(Val::Tile(object)) = op.operand(Role::Src).map(|o| self.val(o.arg)) {
            let object = self.state.objects[object].clone();
            let (valid, exact) = Self::region(&object);
            let bits = u64::from(object.tile.elem.bits());
            let mut from = object.place.clone();
            if let Root::Chip(loc, core) = &mut from.root {
                *core = self.memory_of(*loc, 0);
            }
            let all = Rect { row: 0, col: 0, rows: valid[0], cols: valid[1] };
            let read = rect_ranges(&object.layout, bits, all);
            accesses.push(self.access(&from, &read.into(), false, (Role::Src, exact)));
            for (spot, ranges) in slots.pushed(slot, self.half(), bits, valid) {
                let Some(place) = self.spot(id, spot) else { continue };
                accesses.push(self.access(&place, &ranges, true, (Role::Pipe, exact)));
            }
        }
        accesses.extend(self.parameters(id, &slots.fifo));
        self.event(id, pipe, Kind::Work, &accesses);
        self.event(id, pipe, Kind::Send(Line::Ready(n)), &[]);
    }

    /// The parameters of columns that a push reads when it runs (isa/today.md 6.10).
    fn parameters(&mut self, id: OpId, of: &tessera_ir::Fifo) -> Option<Access> {
        of.epilogue?;
        let set = fifo::quant_of(self.subject.func, id).map(|set| self.subject.func.op(set))?;
        let Val::Tile(object) = self.val(set.operand(Role::Fp)?.arg) else { return None };
        let object = self.state.objects[object].clone();
        let (valid, exact) = Self::region(&object);
        let all = Rect { row: 0, col: 0, rows: valid[0], cols: valid[1] };
        let read = rect_ranges(&object.layout, object.tile.elem.bits().into(), all);
        Some(self.access(&object.place, &read.into(), false, (Role::Fp, exact)))
    }

    /// The place of a slot in the FIFO of an operation.
    fn spot(&self, id: OpId, spot: SlotPlace) -> Option<Place> {
        let bits = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX).saturating_mul(8);
        match spot {
            SlotPlace::Chip(loc, core, at) => Some(Place { root: Root::Chip(loc, core), at: bits(at).into() }),
            SlotPlace::Global(by) => {
                let init = self.subject.func.op(self.fifos.init(id)?);
                let slots = init.operand(Role::SlotView).or_else(|| init.operand(Role::Global));
                let Val::View(view) = self.val(slots?.arg) else { return None };
                let Place { root, at } = self.state.views[view].place.clone();
                Some(Place { root, at: at.plus(&bits(by).into()) })
            }
        }
    }

    fn pop(&mut self, id: OpId, op: &'a Op, part: FifoRole, n: FifoId) {
        let (slots, slot, number) = self.next_slot(n, Count::Pops);
        let pipe = Some(part.pipe(slots.fifo.dir, self.subject.profile));
        self.event(id, pipe, Kind::Receive(Line::Ready(n)), &[]);
        let Some((value, object)) = fifo::popped(op).and_then(|v| Some((v, self.new_tile(v, Origin::Own)?))) else {
            return;
        };
        let given = [Role::ValidRow, Role::ValidCol].map(|role| op.operand(role).map(|o| self.known_at(o.arg)));
        let tile = self.state.objects[object].tile;
        let core = self.memory_of(tile.loc, 0);
        let place = self.spot(id, SlotPlace::Chip(tile.loc, core, slots.place(number, &tile)));
        let made = self.state.change(object);
        made.place = place.unwrap_or_else(|| made.place.clone());
        let declared = [tile.rows, tile.cols];
        let known = |n: Option<i64>| Ext::from(n.and_then(|n| u64::try_from(n).ok()));
        made.set_open(|axis, _| given[axis].map_or(Ext::Known(declared[axis]), known));
        let made = made.clone();
        self.state.set(value, Val::Tile(object));
        if slots.fifo.is_global(self.subject.profile) {
            // A copy of the slot, or of its half.
            let (valid, exact) = Self::region(&made);
            let bits = u64::from(made.tile.elem.bits());
            let (spot, ranges) = slots.loaded(slot, self.half(), bits, valid);
            let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
            if let Some(place) = self.spot(id, spot) {
                accesses.push(self.access(&place, &ranges, false, (Role::Pipe, exact)));
            }
            let all = Rect { row: 0, col: 0, rows: valid[0], cols: valid[1] };
            let ranges = rect_ranges(&made.layout, bits, all);
            accesses.push(self.access(&made.place, &ranges.into(), true, (Role::Tile, exact)));
            self.event(id, pipe, Kind::Work, &accesses);
            self.event(id, pipe, Kind::Send(Line::Free(n)), &[]);
        }
    }
}
