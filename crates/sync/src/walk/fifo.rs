//! FIFOs between cores (isa/structure.md 6, sync.md 3): a push is a wait for a free slot, a move and a set, a pop is a wait
//! (on a2a3 then a load, which frees the slot), a free is a set.

use super::{Core, Object, Val, Walk};
use crate::bytes::{Ranges, rect_ranges};
use crate::trace::{Access, Kind, Line, Place, Root};
use smallvec::SmallVec;
use tessera_ir::{Fifo, FifoId, Op, OpId, ValueId, fifo};
use tessera_isa::layout::Layout;
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Fifo as Part, Rect};
use tessera_isa::tile::{Extent, Loc};

/// What of a FIFO is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Count {
    Pushes,
    Pops,
}

impl<'a> Walk<'a> {
    /// Is a section for the first vector core only?
    pub(super) fn is_for_first(&self, id: OpId, op: &Op) -> bool {
        let is_outer = self.kinds.get(id.index()).is_none_or(Option::is_none);
        let whole = || fifo::moves_whole_tiles(self.subject.func, &op.blocks);
        self.subject.profile != Profile::A2a3 && is_outer && whole()
    }

    /// The core whose memory an operand lies in: a vector core has its own UB, everybody else says which one.
    pub(super) fn memory_of(&self, loc: Loc, said: u8) -> u8 {
        match self.subject.core {
            Core::Vector(n) if loc == Loc::Vec => n,
            _ => said,
        }
    }

    pub(super) fn fifo(&mut self, id: OpId, op: &'a Op) {
        let moved = fifo::part(op).zip(self.fifos.of(id));
        match moved.map(|(part, n)| (part, n, self.fifos.list[n].clone())) {
            Some((part @ Part::Push(_), n, f)) => self.push(id, op, part, (n, &f)),
            Some((part @ Part::Pop(_), n, f)) => self.pop(id, op, part, (n, &f)),
            // On a2a3 the pop has freed the slot.
            Some((part @ Part::Free(_), n, f)) if self.subject.profile != Profile::A2a3 => {
                let pipe = part.pipe(f.dir, self.subject.profile);
                self.event(id, Some(pipe), Kind::Send(Line::Free(n)), &[]);
            }
            Some(_) => {}
            None => op.results.iter().for_each(|value| self.unknown(*value)),
        }
    }

    /// The number of the next push or pop of a FIFO, and the slot that it uses.
    fn next_slot(&mut self, n: FifoId, f: &Fifo, what: Count) -> u64 {
        let count = self.counts.entry((n, what)).or_default();
        *count += 1;
        (*count - 1) % f.slots.max(1)
    }

    /// Which half of a tile this vector core has.
    fn half(&self) -> u64 {
        if let Core::Vector(n) = self.subject.core { n.into() } else { 0 }
    }

    fn access(&mut self, place: &Place, ranges: Ranges, writes: bool, (role, exact): (Role, bool)) -> Access {
        Access { set: self.sets.of(place, &ranges), writes, adds: false, exact, role, start: place.start() }
    }

    /// The valid region of a tile, or all of it where nobody knows.
    fn region(object: &Object) -> ([u64; 2], bool) {
        match object.valid {
            [Some(rows), Some(cols)] => ([rows, cols], true),
            _ => ([object.tile.rows, object.tile.cols], false),
        }
    }

    fn push(&mut self, id: OpId, op: &'a Op, part: Part, (n, f): (FifoId, &Fifo)) {
        let profile = self.subject.profile;
        let pipe = Some(part.pipe(f.dir, profile));
        let slot = self.next_slot(n, f, Count::Pushes);
        self.event(id, pipe, Kind::Receive(Line::Free(n)), &[]);
        let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
        if let Some(Val::Tile(object)) = op.operand(Role::Src).map(|o| self.val(o.arg)) {
            let object = self.objects[object].clone();
            let (valid, exact) = Self::region(&object);
            let bits = u64::from(object.tile.elem.bits());
            let rect = |[row, col]: [u64; 2], [rows, cols]: [u64; 2]| Rect { row, col, rows, cols };
            let mut from = object.place.clone();
            if let Root::Chip(loc, core) = &mut from.root {
                *core = self.memory_of(*loc, 0);
            }
            let read = rect_ranges(&object.layout, bits, rect([0, 0], valid));
            accesses.push(self.access(&from, read.into(), false, (Role::Src, exact)));
            if profile == Profile::A2a3 {
                let [r, c] = if f.dir == Dir::V2c { f.division() } else { [1, 1] };
                let at = if f.dir == Dir::V2c { f.half_at(self.half(), valid) } else { [0, 0] };
                accesses.extend(self.global_slot(id, f, slot, bits, ([valid[0] * r, valid[1] * c], at, valid), true));
            } else if let Some(popped) = self.popped(f) {
                let [r, c] = f.division();
                let part = [valid[0] / r, valid[1] / c];
                let (cores, loc, at, extent): (&[u8], _, _, _) = match (f.dir, f.split) {
                    (Dir::C2v, 0) => (&[0], Loc::Vec, [0, 0], valid),
                    (Dir::C2v, _) => (&[0, 1], Loc::Vec, [0, 0], part),
                    (Dir::V2c, _) => (&[0], Loc::Mat, f.half_at(self.half(), valid), valid),
                };
                for core in cores {
                    let place = self.slot_place(f, slot, f.slot_size, Root::Chip(loc, *core));
                    let ranges = rect_ranges(&popped, bits, rect(at, extent));
                    accesses.push(self.access(&place, ranges.into(), true, (Role::Pipe, exact)));
                }
            }
        }
        self.event(id, pipe, Kind::Work, &accesses);
        self.event(id, pipe, Kind::Send(Line::Ready(n)), &[]);
    }

    /// The layout of the tiles that are popped.
    fn popped(&self, f: &Fifo) -> Option<Layout> {
        let op = self.subject.func.op(*f.pops.first()?);
        let value = popped_value(op)?;
        Some(self.ty(value).on(self.subject.profile)?.layout())
    }

    fn slot_place(&self, f: &Fifo, slot: u64, size: u64, root: Root) -> Place {
        let base = self.subject.placement.slots_of(self.subject.func, self.constants, f);
        let at = base.saturating_add(slot.saturating_mul(size));
        Place { root, at: i64::try_from(at).unwrap_or(i64::MAX).saturating_mul(8).into() }
    }

    /// a2a3: a part of a slot in global memory, dense row by row.
    fn global_slot(
        &mut self,
        id: OpId,
        f: &Fifo,
        slot: u64,
        bits: u64,
        (whole, at, extent): ([u64; 2], [u64; 2], [u64; 2]),
        writes: bool,
    ) -> Option<Access> {
        let init = self.subject.func.op(self.fifos.init(id)?);
        let Val::View(view) = self.val(init.operand(Role::Global)?.arg) else { return None };
        let Place { root, at: start } = self.views[view].place.clone();
        let bytes = f.offset(self.subject.func).saturating_add(slot.saturating_mul(f.slot_size));
        let by = i64::try_from(bytes).unwrap_or(i64::MAX).saturating_mul(8);
        let place = Place { root, at: start.plus(&by.into()) };
        let rect = Rect { row: at[0], col: at[1], rows: extent[0], cols: extent[1] };
        let ranges = rect_ranges(&Layout::row_major(whole[0], whole[1], whole[1]), bits, rect);
        Some(self.access(&place, ranges.into(), writes, (Role::Pipe, true)))
    }

    fn pop(&mut self, id: OpId, op: &'a Op, part: Part, (n, f): (FifoId, &Fifo)) {
        let profile = self.subject.profile;
        let pipe = Some(part.pipe(f.dir, profile));
        let slot = self.next_slot(n, f, Count::Pops);
        self.event(id, pipe, Kind::Receive(Line::Ready(n)), &[]);
        let Some((value, object)) = popped_value(op).and_then(|v| Some((v, self.new_tile(v)?))) else { return };
        let given = [Role::ValidRow, Role::ValidCol].map(|role| op.operand(role).and_then(|o| self.known(o.arg)));
        let tile = self.objects[object].tile;
        let size = if profile == Profile::A2a3 { tile.bytes() } else { f.slot_size };
        let core = self.memory_of(tile.loc, 0);
        let place = self.slot_place(f, slot, size, Root::Chip(tile.loc, core));
        let made = &mut self.objects[object];
        made.place = place;
        for (axis, extent) in [tile.v_row, tile.v_col].into_iter().enumerate() {
            if extent == Extent::Dynamic {
                made.valid[axis] = given[axis].and_then(|v| u64::try_from(v).ok());
            }
        }
        let made = made.clone();
        self.set(value, Val::Tile(object));
        if profile == Profile::A2a3 {
            self.load_slot(id, f, slot, &made, pipe);
            self.event(id, pipe, Kind::Send(Line::Free(n)), &[]);
        }
    }

    /// a2a3: a copy of the slot, or of its half.
    fn load_slot(&mut self, id: OpId, f: &Fifo, slot: u64, made: &Object, pipe: Option<Pipe>) {
        let (valid, exact) = Self::region(made);
        let bits = u64::from(made.tile.elem.bits());
        let ([r, c], at) = match f.dir {
            Dir::C2v => (f.division(), f.half_at(self.half(), valid)),
            Dir::V2c => ([1, 1], [0, 0]),
        };
        let whole = [valid[0] * r, valid[1] * c];
        let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
        accesses.extend(self.global_slot(id, f, slot, bits, (whole, at, valid), false));
        let all = Rect { row: 0, col: 0, rows: valid[0], cols: valid[1] };
        let ranges = rect_ranges(&made.layout, bits, all);
        accesses.push(self.access(&made.place, ranges.into(), true, (Role::Tile, exact)));
        self.event(id, pipe, Kind::Work, &accesses);
    }
}

/// The tile that a pop gives storage, or makes.
fn popped_value(op: &Op) -> Option<ValueId> {
    op.operand(Role::Tile).and_then(|o| o.arg.value()).or(op.results.first().copied())
}
