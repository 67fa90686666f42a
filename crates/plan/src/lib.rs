//! Automatic placement: which tile lies where, from when to when.
//!
//! Tiles without an address are placed by us (ops.md 10). A **root** is a value that owns storage: an `alloc_tile`
//! without address, the result of a tile instruction, an input or output tile of a listing, and a carried value that
//! needs a buffer of its own. Everything else that has a tile type is a *handle*: a view (TSUBVIEW, `subset`, TRESHAPE
//! on hardware, TFILLPAD_INPLACE), or a value that control flow hands on by reference. A use of a handle is a use of
//! every root it may stand for at that point.
//!
//! A root lives from its first use to its last one. A write is a use too, because an instruction keeps what its formula
//! does not name (ops.md 1). A root that is defined outside a loop and used inside it lives for the whole loop; one that
//! is defined inside it lives within one iteration. Two roots whose lives share a program point never share bytes, so
//! the destination of an instruction never overlaps its sources.
//!
//! Control flow hands tiles on by reference. Only what a loop yields out of its own blocks is copied into a buffer of the
//! carried value, because the next iteration makes it anew. A tile from outside a loop that an instruction binds to a
//! storage of the loop's own (TRESHAPE, DPS TSUBVIEW) means that storage, whatever later iterations put there.
//!
//! Manual tiles (an address in the text) keep their bytes to themselves for the whole function, where the address is a
//! constant. Where an address is computed at run time, nobody can know the bytes: automatic tiles of that memory are
//! then placed above the highest constant manual range, and that is all the protection there is.
//!
//! ```
//! use tessera_ir::{Func, Module};
//! use tessera_isa::{diag::Span, profile::Profile};
//!
//! let mut module = Module::default();
//! let func = Func::new(module.names.intern("kernel"), Span::default());
//! let placement = tessera_plan::plan(&module, &func, Profile::A5, &[])?;
//! assert_eq!(placement.high_water, [0; 9]);
//! # Ok::<(), Box<tessera_isa::diag::Diagnostic>>(())
//! ```
//!
//! [`plan`] places, [`pipes`] gives the order between pipes, [`map`] is the memory map that people look at.

mod binding;
mod capacity;
mod flow;
mod life;
mod map;
mod pipes;
mod place;
mod points;
mod scales;

pub use flow::Manual;
pub use map::{MemoryMap, MemoryRows, Row, map};
pub use pipes::{Hazard, Pipes, Wait, pipes};
pub use place::Peak;
pub use points::Points;

use smallvec::SmallVec;
use tessera_ir::scalar::Constants;
use tessera_ir::{Fifo, Func, Module, ValueId, fifo};
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, Tile};

/// The storage of one root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub loc: Loc,
    pub addr: u64,
    /// The size in bytes of the tile's declared area.
    pub bytes: u64,
    /// The position where its life begins ([`Points`]).
    pub start: u32,
    /// The position where its life ends, itself included.
    pub end: u32,
}

impl Slot {
    /// One past the last byte.
    pub fn limit(&self) -> u64 {
        self.addr.saturating_add(self.bytes)
    }
}

/// The places of all automatic tiles of a function.
#[derive(Clone, Debug)]
pub struct Placement {
    /// By value: the storage of each root that is used. For a carried value (an argument of a loop's block) it is the
    /// private buffer into which the loop copies what it yields, whenever it yields; all copies of one yield happen at
    /// once. A carried value without a slot is handed on by reference.
    pub tiles: Vec<Option<Slot>>,
    /// By operation: the roots whose contents begin here. Their bytes are undefined just before the operation runs.
    pub fresh: Vec<SmallVec<[ValueId; 2]>>,
    /// By location ([`Loc::ALL`]): one past the highest byte that a tile with a known address uses.
    pub high_water: [u64; 9],
    /// By location: the most bytes that tiles hold at one point, those with a constant address too.
    pub peak: [Peak; 9],
    /// The tiles with a constant address.
    pub manual: Vec<Manual>,
    /// By location: whether the address of a tile is computed at run time.
    pub computed: [bool; 9],
    /// The positions that slots count in.
    pub points: Points,
}

impl Placement {
    /// One in which no tile has a place.
    pub fn unplaced(func: &Func) -> Placement {
        Placement {
            tiles: vec![None; func.values.len()],
            fresh: vec![SmallVec::new(); func.ops.len()],
            high_water: [0; 9],
            peak: [Peak::default(); 9],
            manual: Vec::new(),
            computed: [false; 9],
            points: Points::new(func),
        }
    }

    /// The storage of a value, if it is a root that is used.
    pub fn slot(&self, value: ValueId) -> Option<&Slot> {
        self.tiles.get(value.index()).and_then(Option::as_ref)
    }

    /// The address of a `reserve_buffer`, found or written.
    pub fn reserved(&self, value: ValueId) -> Option<u64> {
        let written = || self.manual.iter().find(|m| m.value == value).map(|m| m.slot.addr);
        self.slot(value).map(|slot| slot.addr).or_else(written)
    }

    /// The place of a FIFO's slots in its consumer's memory.
    pub fn slots_of(&self, func: &Func, constants: &Constants, f: &Fifo) -> u64 {
        let init = f.inits.iter().flatten().next().map(|at| func.op(*at));
        let written = init.and_then(|init| fifo::buffer_operand(init, f.dir)).and_then(|arg| constants.get(arg));
        let reserved = f.reserve.and_then(|at| self.reserved(*func.op(at).results.first()?));
        reserved.or(written.and_then(|v| u64::try_from(v).ok())).unwrap_or(0)
    }
}

/// The tiles that may share bytes.
#[derive(Clone, Copy)]
pub enum Sharing<'a> {
    /// Tiles that are never alive together: program order is the order of the pipes.
    ByLife,
    Never,
    /// Tiles for which this function says so.
    Where(&'a dyn Fn(ValueId, ValueId) -> bool),
}

/// Places the automatic tiles of an inlined function. The tiles in `keep`, and the outputs of a listing, live to the end.
///
/// The function is well formed ([`tessera_ir::verify`]). The error is `capacity`: more tiles are alive together than their
/// memory holds.
pub fn plan(module: &Module, func: &Func, profile: Profile, keep: &[ValueId]) -> Result<Placement, Box<Diagnostic>> {
    plan_with(module, func, profile, keep, Sharing::ByLife)
}

/// The same, where not all tiles that are never alive together may share bytes.
pub fn plan_with(
    module: &Module,
    func: &Func,
    profile: Profile,
    keep: &[ValueId],
    sharing: Sharing<'_>,
) -> Result<Placement, Box<Diagnostic>> {
    plan_above(module, func, profile, keep, sharing, &[0; 9])
}

/// The same, above the bytes that functions which this one calls use: by location ([`Loc::ALL`]), the first free one.
pub fn plan_above(
    module: &Module,
    func: &Func,
    profile: Profile,
    keep: &[ValueId],
    sharing: Sharing<'_>,
    floor: &[u64; 9],
) -> Result<Placement, Box<Diagnostic>> {
    // Callers inline and verify; debug builds verify the plan once more.
    if cfg!(debug_assertions)
        && let Some(broken) = tessera_ir::verify(module, func).into_iter().next()
    {
        return Err(Box::new(broken));
    }
    let points = Points::new(func);
    let flow = flow::trace(module, func, profile, keep, &points);
    let lives = life::lives(func, &points, &flow);
    let mut placement = Placement { points, ..Placement::unplaced(func) };
    let mut scales = scales::Scales::new(&lives, &flow.scales);
    for life in lives.iter().filter(|l| l.manual.is_none() && !l.is_scratch) {
        if let Some(op) = life.fresh {
            placement.fresh[op.index()].push(life.value);
        }
    }
    for life in lives.iter().filter(|l| l.manual.is_some()) {
        match life.manual {
            // A negative address, or one whose end is out of reach, is refused by `tassign-range`; it blocks nothing.
            Some((_, Some(addr))) if addr.checked_add(life.bytes).is_none() => {}
            Some((op, Some(addr))) => placement.manual.push(Manual { value: life.value, op, slot: life.at(addr) }),
            _ => placement.computed[life.loc as usize] = true,
        }
    }
    for loc in Loc::ALL.iter().copied() {
        let floor = floor[loc as usize];
        place_memory(module, func, (profile, loc, floor), &lives, &mut scales, &mut placement, sharing)?;
    }
    Ok(placement)
}

fn place_memory(
    module: &Module,
    func: &Func,
    (profile, loc, floor): (Profile, Loc, u64),
    lives: &[life::Life],
    scales: &mut scales::Scales,
    placement: &mut Placement,
    sharing: Sharing<'_>,
) -> Result<(), Box<Diagnostic>> {
    let all: Vec<usize> = (0..lives.len()).filter(|n| lives[*n].loc == loc && lives[*n].manual.is_none()).collect();
    let align = scales.align(lives, loc);
    let mut kept = scales::taken(scales, lives, loc);
    kept.extend((floor > 0).then_some((0, floor)));
    let space = place::Space::new(profile, (loc, align), &placement.manual, kept, placement.computed[loc as usize]);
    // A tile at a place that another tile requires has no block of its own.
    let own = |n: &usize| scales.addr(*n).is_none() && !scales.follows(*n);
    let here: Vec<usize> = all.iter().copied().filter(own).collect();
    let block = |n: &usize| {
        let life = &lives[*n];
        scales.block(lives, *n).unwrap_or(place::Block {
            bytes: bytes_of(life, align),
            start: life.start,
            end: life.end,
        })
    };
    let mut blocks: Vec<place::Block> = here.iter().map(block).collect();
    if matches!(sharing, Sharing::Never) {
        blocks.iter_mut().for_each(|b| (b.start, b.end) = (0, placement.points.exit()));
    }
    let known = |life: &&life::Life| life.loc == loc && life.manual.is_none_or(|(_, addr)| addr.is_some());
    let alone: Vec<place::Block> = lives
        .iter()
        .filter(known)
        .map(|life| place::Block { bytes: bytes_of(life, align), start: life.start, end: life.end })
        .collect();
    placement.peak[loc as usize] = place::peak(&alone);
    let placed = match sharing {
        Sharing::ByLife | Sharing::Never => place::place(&blocks, &space),
        Sharing::Where(may_share) => place::place_where(&blocks, &space, &|i, j| {
            let alone = |n: usize| scales.block(lives, n).is_none();
            alone(here[i]) && alone(here[j]) && may_share(lives[here[i]].value, lives[here[j]].value)
        }),
    };
    let addrs = placed.map_err(|overflow| {
        let here: Vec<&life::Life> = here.iter().map(|n| &lives[*n]).collect();
        capacity::report(module, func, profile, loc, &here, &space, placement, overflow)
    })?;
    let mut high = space.manual_limit().max(floor);
    let mut addr_of: Vec<Option<u64>> = vec![None; lives.len()];
    for (n, addr) in here.iter().zip(addrs) {
        scales.place(*n, addr);
        addr_of[*n] = Some(addr);
    }
    for n in all {
        let life = &lives[n];
        let addr = addr_of[n].or_else(|| scales.addr(n)).ok_or_else(|| {
            let what = format!("{} was given no place", name_of(module, func, life.value));
            Diagnostic::internal(func.value(life.value).span, what)
        })?;
        let slot = life.at(addr);
        high = high.max(slot.limit());
        if !life.is_scratch {
            placement.tiles[life.value.index()] = Some(slot);
        }
    }
    placement.high_water[loc as usize] = high;
    Ok(())
}

/// The bytes of a tile, so that whatever follows it is aligned.
fn bytes_of(life: &life::Life, align: u64) -> u64 {
    life.bytes.max(1).checked_next_multiple_of(align).unwrap_or(u64::MAX)
}

/// The tile of a value on a profile; a conv tile counts as one row.
pub(crate) fn tile_of(module: &Module, func: &Func, profile: Profile, value: ValueId) -> Option<Tile> {
    module.types.get(func.value(value).ty).on(profile)
}

/// The name of a value in messages and maps.
pub(crate) fn name_of(module: &Module, func: &Func, value: ValueId) -> String {
    format!("%{}", module.names.text(func.value(value).name))
}
