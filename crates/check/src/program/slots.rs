//! `fifo-use-after-free` and `flag-id-range`, as far as the text decides them: slots of FIFOs, and ids of flags.

use super::walk::Walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;
use tessera_absint::{Analysis, Operands, Place, Val, View};
use tessera_ir::{Core, FifoId, Op, OpId, fifo};
use tessera_isa::diag::Fault;
use tessera_isa::ops::{Order, Role};
use tessera_isa::sem::Fifo;

/// Tiles that were popped, by FIFO in the order of the pops, and those whose slot is free again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slots {
    held: FxHashMap<FifoId, VecDeque<usize>>,
    freed: FxHashSet<usize>,
}

impl Slots {
    fn pop(&mut self, fifo: FifoId, tile: usize) {
        self.freed.remove(&tile);
        self.held.entry(fifo).or_default().push_back(tile);
    }

    /// The oldest popped tile of a FIFO ends, unless it was popped anew.
    fn free(&mut self, fifo: FifoId) {
        let Some(held) = self.held.get_mut(&fifo) else { return };
        if let Some(oldest) = held.pop_front().filter(|tile| !held.contains(tile)) {
            self.freed.insert(oldest);
        }
    }

    /// What holds on both of two paths.
    pub(super) fn join(&mut self, other: &Slots) {
        self.freed.retain(|tile| other.freed.contains(tile));
        self.held.retain(|fifo, held| other.held.get(fifo) == Some(held));
    }
}

impl Walk<'_> {
    /// A pop or a free.
    pub(super) fn slot(&mut self, id: OpId, op: &Op) {
        if matches!(fifo::part(op), Some(Fifo::Initialize(_))) {
            return self.slot_bytes(id, op);
        }
        let Some(n) = self.fifos.of(id) else { return };
        let is_a2a3 = self.fifos.list[n].frees_at_pop(self.state.profile);
        if self.fifos.list[n].entries {
            return self.entry(id, op);
        }
        match fifo::part(op) {
            Some(Fifo::Pop(_)) => {
                let value = op.results.first().copied().or_else(|| op.operand(Role::Tile)?.arg.value());
                let Some(Val::Tile(tile)) = value.map(|v| *self.state.get(v)) else { return };
                let slots = self.fifos.list[n].slots;
                let contents = Rc::make_mut(&mut self.contents);
                contents.slots.pop(n, tile);
                // On a2a3 a tile ends when its place is popped into again.
                if is_a2a3 && contents.slots.held.get(&n).is_some_and(|held| held.len() as u64 > slots) {
                    contents.slots.free(n);
                }
            }
            Some(Fifo::Free(_)) if !is_a2a3 => Rc::make_mut(&mut self.contents).slots.free(n),
            _ => {}
        }
    }

    /// The view of a slot: that of the pipe, somewhere in its memory (isa/today.md 7.2). `fifo-slot` of the view.
    fn entry(&mut self, id: OpId, op: &Op) {
        let init = self.fifos.init(id).map(|init| self.state.func.op(init));
        let slot = init.and_then(|init| init.operand(Role::SlotView)).and_then(|o| o.arg.value());
        let Some(Val::View(slot)) = slot.map(|v| *self.state.get(v)) else { return };
        let view = self.state.views[slot].clone();
        let made = match fifo::part(op) {
            Some(Fifo::Alloc(_) | Fifo::Pop(_)) => fifo::entry(op),
            _ => None,
        };
        if let Some(made) = made {
            let at = self.unknown();
            let place = Place { at, ..view.place.clone() };
            let val = self.state.add_view(View { place, ..view });
            self.state.set(made, val);
        }
    }

    /// `fifo-slot` of slots that are views: the pipe says how many bytes one has (isa/today.md 7.2).
    fn slot_bytes(&mut self, id: OpId, op: &Op) {
        let Some(Val::View(slot)) = op.operand(Role::SlotView).and_then(|o| o.arg.value()).map(|v| *self.state.get(v))
        else {
            return;
        };
        let view = &self.state.views[slot];
        let extent = |dim| self.known(dim).and_then(|n| u64::try_from(n).ok());
        let count = view.dims.iter().try_fold(1u64, |n, dim| n.checked_mul(extent(dim)?));
        let Some(bytes) = count.map(|n| view.elem.bytes_of(n)) else { return };
        let said = fifo::slot_size(op);
        // A vector core may describe its half of what is split.
        let ends = self.fifos.list.iter().filter(|f| f.inits.iter().flatten().any(|init| *init == id));
        let is_half = self.core == Some(Core::Vector) && ends.into_iter().any(|f| f.split != 0);
        if bytes != said && !(is_half && bytes.saturating_mul(2) == said) {
            let what = format!("gm_slot_tensor has {bytes} bytes, and slot_size is {said}");
            let fault = Fault::new("fifo-slot", what).help(format!("write slot_size = {bytes}"));
            self.found(op, fault);
        }
    }

    /// `fifo-use-after-free`: no operand is a popped tile whose slot was freed.
    pub(super) fn is_popped(&mut self, op: &Op, operands: &Operands) {
        let freed = &self.contents.slots.freed;
        if self.dead || freed.is_empty() {
            return;
        }
        let is_freed = |n: &usize| freed.contains(n) || freed.contains(&self.state.objects[*n].storage);
        if let Some((role, _)) = operands.iter().find(|(_, object)| is_freed(object)) {
            let what = format!("{role} is used, and its slot of the FIFO has been freed");
            let fault = Fault::new("fifo-use-after-free", what).help("free the slot after the last use of the tile");
            self.found_on(op, operands, fault);
        }
    }

    /// `flag-id-range` of an id that is known.
    pub(super) fn flag_id(&mut self, op: &Op, order: Order) {
        let is_buffer = matches!(order, Order::Take | Order::Release);
        let is_flag = matches!(order, Order::Set | Order::Wait | Order::Record | Order::Await);
        let words = op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
        if self.dead || !is_buffer && (!is_flag || words.first() == words.get(1)) {
            return;
        }
        let given = op.operands.first().and_then(|o| self.int(o.arg)).and_then(|n| i64::try_from(n).ok());
        let Some(id) = op.written_id(order).or(given) else { return };
        let limit = match (is_buffer, self.state.profile.is_npu()) {
            (true, _) => 32,
            (false, true) => 8,
            (false, false) => i64::MAX,
        };
        let ends = words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
        // Each flag is reported once.
        if !(0..limit).contains(&id) && self.wrong_ids.insert((ends, id)) {
            let ids = if limit == i64::MAX { "at least 0".to_string() } else { format!("0 to {}", limit - 1) };
            let what = format!("{} has id {id}, and ids are {ids}", op.kind.name());
            self.found(op, Fault::new("flag-id-range", what).help("use an id from there that nothing else uses"));
        }
    }
}
