//! The memory map: what `tessera plan` shows, as data.

use crate::{Placement, Slot, name_of, tile_of};
use tessera_ir::{Func, Module, OpId, ValueId};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// One tile of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub value: ValueId,
    /// Its name, with `%`.
    pub name: String,
    /// Its type, as messages name it.
    pub ty: String,
    /// Its place and size.
    pub slot: Slot,
    /// The operation at the start; none for the entry of the function.
    pub first: Option<OpId>,
    /// The operation at the end; none for the exit.
    pub last: Option<OpId>,
    /// The address is in the text.
    pub is_manual: bool,
}

/// One memory of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRows {
    /// The memory, by the location that lives in it.
    pub loc: Loc,
    /// Its tiles: by address, then by start.
    pub rows: Vec<Row>,
    /// Bytes that automatic placement may use; none without limit.
    pub capacity: Option<u64>,
    /// Bytes after them that are left to the runtime.
    pub reserved: u64,
    /// One past the highest byte in use.
    pub high_water: u64,
    /// The most bytes of tiles that are alive at one point.
    pub peak: u64,
}

/// The memories that a function uses, with their tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryMap {
    pub function: String,
    pub profile: Profile,
    /// The memories that are used, in the order of [`Loc::ALL`].
    pub memories: Vec<MemoryRows>,
    pub exit: u32,
    /// By position: a short name of the operation there; empty at the entry and the exit.
    pub steps: Vec<&'static str>,
}

/// The type of a tile; of a multi-buffer tile that of a slot, and how many there are.
fn type_text(module: &Module, func: &Func, profile: Profile, value: ValueId) -> String {
    match module.types.get(func.value(value).ty).slots() {
        Some((slot, count)) => format!("{count} of {}", slot.resolve(profile)),
        None => tile_of(module, func, profile, value).map_or_else(String::new, |t| t.to_string()),
    }
}

/// The map of a placement.
pub fn map(module: &Module, func: &Func, profile: Profile, placement: &Placement) -> MemoryMap {
    let points = &placement.points;
    let row = |value: ValueId, slot: Slot, is_manual: bool| Row {
        value,
        name: name_of(module, func, value),
        ty: type_text(module, func, profile, value),
        slot,
        first: points.op_at(slot.start),
        last: points.op_at(slot.end),
        is_manual,
    };
    let memories = Loc::ALL.iter().copied().filter_map(|loc| {
        let automatic = placement.tiles.iter().enumerate();
        let automatic = automatic.filter_map(|(i, slot)| Some((ValueId(i as u32), (*slot)?, false)));
        let all = automatic.chain(placement.manual.iter().map(|m| (m.value, m.slot, true)));
        let mut rows: Vec<Row> =
            all.filter(|(_, slot, _)| slot.loc == loc).map(|(v, slot, is_manual)| row(v, slot, is_manual)).collect();
        if rows.is_empty() {
            return None;
        }
        rows.sort_by_key(|r| (r.slot.addr, r.slot.start, r.value));
        let memory = profile.memory(loc);
        Some(MemoryRows {
            loc,
            rows,
            capacity: memory.and_then(|m| m.room()),
            reserved: memory.map_or(0, |m| m.reserved),
            high_water: placement.high_water[loc as usize],
            peak: placement.peak[loc as usize].bytes,
        })
    });
    MemoryMap {
        function: module.names.text(func.name).to_string(),
        profile,
        memories: memories.collect(),
        exit: points.exit(),
        steps: (0..=points.exit()).map(|p| points.op_at(p).map_or("", |op| func.op(op).kind.name())).collect(),
    }
}
