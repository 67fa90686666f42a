//! The uses of each value, as seen from the block that defines it.

use rustc_hash::FxHashMap;
use tessera_ir::{BlockId, Def, Func, OpId, ValueId};
use tessera_isa::ops::Role;

/// One use of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub op: OpId,
    /// The role of the value in the operation.
    pub role: Role,
    /// The position, in the block that defines the value, of the operation or of the one around it.
    pub at: usize,
    /// Whether the operation is inside a region of that block.
    pub nested: bool,
}

#[derive(Default)]
pub(super) struct Events {
    uses: FxHashMap<ValueId, Vec<Event>>,
    /// Block and position of each operation.
    places: FxHashMap<OpId, (BlockId, usize)>,
}

impl Events {
    pub fn of(func: &Func) -> Self {
        let mut events = Events::default();
        // Places first: a listing's tassign may name a value before it is defined.
        for (n, block) in func.blocks.iter().enumerate() {
            let places = block.ops.iter().enumerate().map(|(at, id)| (*id, (BlockId(n as u32), at)));
            events.places.extend(places);
        }
        events.walk(func, func.body, &mut Vec::new());
        events
    }

    fn walk(&mut self, func: &Func, block: BlockId, around: &mut Vec<(BlockId, usize)>) {
        for (at, id) in func.block(block).ops.iter().enumerate() {
            around.push((block, at));
            let op = func.op(*id);
            for operand in &op.operands {
                let Some(value) = operand.arg.value() else { continue };
                let home = match func.value(value).def {
                    Def::Result(op, _) => self.place(op).map(|(block, _)| block),
                    _ => None,
                };
                let place = around.iter().find(|(b, _)| Some(*b) == home);
                let event = Event {
                    op: *id,
                    role: operand.role,
                    at: place.map_or(at, |(_, at)| *at),
                    nested: home != Some(block),
                };
                self.uses.entry(value).or_default().push(event);
            }
            for inner in &op.blocks {
                self.walk(func, *inner, around);
            }
            around.pop();
        }
    }

    /// The uses of a value, in text order.
    pub fn of_value(&self, value: ValueId) -> &[Event] {
        self.uses.get(&value).map(Vec::as_slice).unwrap_or_default()
    }

    /// A new operation stands where an old one does.
    pub fn stands_with(&mut self, new: OpId, old: OpId) {
        if let Some(place) = self.place(old) {
            self.places.insert(new, place);
        }
    }

    /// The uses of `new` are uses of `old` from now on.
    pub fn merge(&mut self, old: ValueId, new: ValueId) {
        let uses = self.uses.remove(&new).unwrap_or_default();
        self.uses.entry(old).or_default().extend(uses);
    }

    pub fn place(&self, op: OpId) -> Option<(BlockId, usize)> {
        self.places.get(&op).copied()
    }
}
