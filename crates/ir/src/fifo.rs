//! The FIFOs of a kernel (isa/structure.md 5): which operation belongs to which.
//!
//! A FIFO is one direction of a pipe. Its two ends are the `initialize` operations of the functions that push and pop;
//! they meet in the buffer that the consumer reserves and the producer imports. A push, pop or free belongs to the
//! pipe that it names, or else to the `initialize` of its own function for its kind of core.

use crate::{Arg, BlockId, Core, Def, Func, Module, NameId, Op, OpId, OpKind, ValueId};
use tessera_isa::ops::{AttrName, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Epilogue, Fifo as Part, Sem};

/// The position of a FIFO in [`Fifos::list`].
pub type FifoId = usize;

/// One direction of a pipe.
#[derive(Clone, Debug)]
pub struct Fifo {
    pub dir: Dir,
    /// The function that reserves the buffer, or the one whose `initialize` names none.
    pub owner: NameId,
    /// The name of the buffer, where it has one.
    pub name: String,
    /// The number that tells pipes of one function apart, where they have no buffer (isa/today.md 7.1).
    pub id: i128,
    pub reserve: Option<OpId>,
    /// The `initialize` operations of the producer and of the consumer.
    pub inits: [Vec<OpId>; 2],
    /// Whether its slots lie in the view that `gm_slot_tensor` names, on every profile.
    pub slot_view: bool,
    /// Whether views of these slots go through it, and no tiles (isa/today.md 7.2).
    pub entries: bool,
    pub allocs: Vec<OpId>,
    pub pushes: Vec<OpId>,
    pub pops: Vec<OpId>,
    pub frees: Vec<OpId>,
    /// What each push does to the elements of an accumulator.
    pub epilogue: Option<Epilogue>,
    pub slots: u64,
    /// Popped tiles that lie in the consumer's reserve at a time (a2a3).
    pub local_slots: u64,
    pub slot_size: u64,
    /// 0 whole tiles, 1 rows halved, 2 columns halved; 3 and 4 the same for odd extents.
    pub split: u8,
}

impl Fifo {
    /// Whether tiles go through slots in global memory: into them as by TSTORE, out of them as by TLOAD.
    pub fn is_global(&self, profile: Profile) -> bool {
        self.slot_view || profile == Profile::A2a3
    }

    /// Whether a pop frees its slot, because what is popped is a copy.
    pub fn frees_at_pop(&self, profile: Profile) -> bool {
        self.is_global(profile) && !self.entries
    }

    /// Whether its tiles may be split into halves of which the first is larger by one (isa/today.md 7.2).
    pub fn has_odd_splits(&self) -> bool {
        self.slot_view && !self.entries
    }

    /// The divisors of rows and columns between the vector cores.
    pub fn division(&self) -> [u64; 2] {
        match self.split {
            1 => [2, 1],
            2 => [1, 2],
            _ => [1, 1],
        }
    }

    /// The first element of a vector core's half, whose size is given.
    pub fn half_at(&self, half: u64, size: [u64; 2]) -> [u64; 2] {
        match self.split {
            1 => [half * size[0], 0],
            2 => [0, half * size[1]],
            _ => [0, 0],
        }
    }

    /// The offset of its slots in `gm_slot_buffer`: the slots of V2C follow those of C2V.
    pub fn offset(&self, func: &Func) -> u64 {
        let init = self.inits.iter().flatten().next().map(|at| func.op(*at));
        let both = init.is_some_and(|init| has_dir(init, Dir::C2v) && has_dir(init, Dir::V2c));
        if both && self.dir == Dir::V2c { self.slots.saturating_mul(self.slot_size) } else { 0 }
    }

    /// The name in messages: "the C2V FIFO of @mix".
    pub fn describe(&self, module: &Module) -> String {
        format!("the {} FIFO of @{}", self.dir, module.names.text(self.owner))
    }
}

/// The definition of a buffer operand of `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// A `reserve_buffer`.
    Reserve(OpId),
    /// An `import_reserved_buffer`.
    Import(OpId),
    /// Another value, or none.
    Other,
}

/// All FIFOs of a function without calls.
#[derive(Clone, Debug, Default)]
pub struct Fifos {
    pub list: Vec<Fifo>,
    /// By operation: the FIFO that it pushes into, pops from or frees a slot of.
    of: Vec<Option<FifoId>>,
    /// By operation: the `initialize` that says so.
    init: Vec<Option<OpId>>,
}

/// The part of a tile that a vector core has under a split: its first element, and its extents. Splits 3 and 4 give the
/// first core one row, or column, more (isa/today.md 7.2).
pub fn part_of(split: u8, half: u64, whole: [u64; 2]) -> ([u64; 2], [u64; 2]) {
    let axis = match split {
        1 | 3 => 0,
        2 | 4 => 1,
        _ => return ([0, 0], whole),
    };
    let first = if split > 2 { whole[axis].div_ceil(2) } else { whole[axis] / 2 };
    let (mut start, mut extent) = ([0, 0], whole);
    (start[axis], extent[axis]) = if half == 0 { (0, first) } else { (first, whole[axis] - first) };
    (start, extent)
}

/// Whether all pushes and pops of these blocks move whole tiles, so that only the first vector core runs them (cpu,
/// a5).
pub fn moves_whole_tiles(func: &Func, blocks: &[BlockId]) -> bool {
    let (mut next, mut any) = (blocks.to_vec(), false);
    while let Some(block) = next.pop() {
        for id in &func.block(block).ops {
            let op = func.op(*id);
            next.extend(op.blocks.iter().copied());
            if matches!(part(op), Some(Part::Push(_) | Part::Pop(_))) {
                any = true;
                if op.known_attrs().int(AttrName::PipeSplit) != Some(0) {
                    return false;
                }
            }
        }
    }
    any
}

/// The role of an operation in FIFOs.
pub fn part(op: &Op) -> Option<Part> {
    match op.kind {
        OpKind::Pto(opcode, _) => match opcode.info().sem {
            Sem::Fifo(part) => Some(part),
            _ => None,
        },
        _ => None,
    }
}

/// The directions that an `initialize` has.
pub fn has_dir(init: &Op, dir: Dir) -> bool {
    init.known_attrs().int(AttrName::DirMask).is_some_and(|mask| mask & dir.bit() != 0)
}

/// Slots of each direction: 8, or 4 where there are two, or what the lower form says.
pub fn slots(init: &Op) -> u64 {
    let attrs = init.known_attrs();
    let usual = if attrs.int(AttrName::DirMask) == Some(3) { 4 } else { 8 };
    attrs.int(AttrName::SlotNum).filter(|n| *n > 0).map_or(usual, |n| u64::try_from(n).unwrap_or(0))
}

/// Tiles that the consumer's reserve holds: as many as there are slots, or on a2a3 what is said.
pub fn local_slots(init: &Op) -> u64 {
    let said = init.known_attrs().int(AttrName::LocalSlotNum).and_then(|n| u64::try_from(n).ok());
    said.filter(|n| *n > 0).unwrap_or_else(|| slots(init))
}

/// The number of the pipe among those of its function.
pub fn pipe_id(op: &Op) -> i128 {
    op.known_attrs().int(AttrName::PipeId).unwrap_or(0)
}

/// Bytes of a slot.
pub fn slot_size(init: &Op) -> u64 {
    init.known_attrs().int(AttrName::SlotSize).and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}

/// The buffer operand of an `initialize` for a direction: a pipe of one direction may give only one.
pub fn buffer_operand(init: &Op, dir: Dir) -> Option<Arg> {
    let (own, other) = match dir {
        Dir::C2v => (Role::C2vBuf, Role::V2cBuf),
        Dir::V2c => (Role::V2cBuf, Role::C2vBuf),
    };
    let only = init.known_attrs().int(AttrName::DirMask) == Some(dir.bit()) && init.operand(own).is_none();
    init.operand(own).or_else(|| init.operand(other).filter(|_| only)).map(|o| o.arg)
}

/// The operation that makes a value, casts aside.
fn maker(func: &Func, mut value: ValueId) -> Option<OpId> {
    loop {
        let Def::Result(id, _) = func.value(value).def else { return None };
        match func.op(id).kind {
            OpKind::Cast(_) => value = func.op(id).values().next()?,
            _ => return Some(id),
        }
    }
}

/// The definition of a direction's buffer.
pub fn buffer(func: &Func, init: &Op, dir: Dir) -> Buffer {
    let made = buffer_operand(init, dir).and_then(Arg::value).and_then(|v| maker(func, v));
    match made.map(|id| (id, part(func.op(id)))) {
        Some((id, Some(Part::Reserve))) => Buffer::Reserve(id),
        Some((id, Some(Part::Import))) => Buffer::Import(id),
        _ => Buffer::Other,
    }
}

/// What an `initialize` says of the elements that are pushed, or what is wrong with that.
pub fn epilogue(init: &Op) -> Option<Result<Epilogue, String>> {
    let named = init.attrs.as_deref()?.names.iter().find(|(name, _)| *name == AttrName::AccPushEpilogue)?;
    Some(Epilogue::parse(&named.1))
}

/// Whether views of slots go through a direction of a pipe: it names the view of a slot, and no buffer of a consumer.
pub fn has_entries(func: &Func, init: &Op, dir: Dir) -> bool {
    init.operand(Role::SlotView).is_some() && buffer(func, init, dir) == Buffer::Other
}

/// The tile that a pop gives storage, or makes.
pub fn popped(op: &Op) -> Option<ValueId> {
    op.operand(Role::Tile).and_then(|o| o.arg.value()).or(op.results.first().copied())
}

/// The view that an operation hands on, or makes one of a slot.
pub fn entry(op: &Op) -> Option<ValueId> {
    op.operand(Role::Global).and_then(|o| o.arg.value()).or(op.results.first().copied())
}

/// The operation that sets the parameter of a push: the last one before it in its block with its number.
pub fn quant_of(func: &Func, push: OpId) -> Option<OpId> {
    let number = pipe_id(func.op(push));
    let block = func.blocks.iter().find(|block| block.ops.contains(&push))?;
    let before = block.ops.iter().take_while(|id| **id != push);
    before.filter(|id| part(func.op(**id)) == Some(Part::SetQuant) && pipe_id(func.op(**id)) == number).last().copied()
}

impl Fifos {
    /// The FIFOs of a function whose calls are inlined.
    pub fn new(module: &Module, func: &Func) -> Fifos {
        let mut fifos = Fifos { list: Vec::new(), of: vec![None; func.ops.len()], init: vec![None; func.ops.len()] };
        // Most functions have nothing to do with any.
        if !func.ops.iter().any(|op| part(op).is_some()) {
            return fifos;
        }
        let cores = func.cores();
        let inits: Vec<(OpId, Option<Core>)> = (0..)
            .map(OpId)
            .zip(&func.ops)
            .filter_map(|(id, op)| match part(op)? {
                Part::Initialize(core) => Some((id, core.or(cores[id.index()]))),
                _ => None,
            })
            .collect();
        func.walk(&mut |id, op, _| {
            let Some(core) = part(op).and_then(|part| part.core().or(cores[id.index()])) else { return };
            fifos.add(module, func, &inits, id, core);
        });
        fifos
    }

    fn add(&mut self, module: &Module, func: &Func, inits: &[(OpId, Option<Core>)], id: OpId, core: Core) {
        let op = func.op(id);
        let Some(part) = part(op) else { return };
        if matches!(part, Part::Initialize(_)) {
            self.init[id.index()] = Some(id);
            for dir in Dir::ALL.iter().copied().filter(|dir| has_dir(op, *dir)) {
                let fifo = self.find(module, func, op, id, dir);
                let inits = &mut self.list[fifo].inits[usize::from(dir.consumer() == core)];
                inits.push(id);
            }
            return;
        }
        let Some(dir) = part.dir(core) else { return };
        let Some(init) = init_of(func, inits, id, core) else { return };
        self.init[id.index()] = Some(init);
        if !has_dir(func.op(init), dir) {
            return;
        }
        let fifo = self.find(module, func, func.op(init), init, dir);
        self.of[id.index()] = Some(fifo);
        let split = op.known_attrs().int(AttrName::PipeSplit).and_then(|s| u8::try_from(s).ok()).unwrap_or(0);
        let known = &mut self.list[fifo];
        match part {
            Part::SetQuant => return,
            Part::Alloc(_) => return known.allocs.push(id),
            Part::Push(_) => known.pushes.push(id),
            Part::Pop(_) => known.pops.push(id),
            _ => return known.frees.push(id),
        }
        // All pushes and pops have one split (`fifo-split`).
        if known.pushes.len() + known.pops.len() == 1 {
            known.split = split;
        }
    }

    /// The FIFO of a direction of a pipe; a new one where none is known yet.
    fn find(&mut self, module: &Module, func: &Func, init: &Op, id: OpId, dir: Dir) -> FifoId {
        let (owner, name, reserve) = match buffer(func, init, dir) {
            Buffer::Reserve(at) => (func.home(at), func.op(at).name_attr(AttrName::Name).unwrap_or_default(), Some(at)),
            Buffer::Import(at) => {
                let peer = func.op(at).name_attr(AttrName::PeerFunc).and_then(|peer| module.names.find(peer));
                (peer.unwrap_or(func.home(at)), func.op(at).name_attr(AttrName::Name).unwrap_or_default(), None)
            }
            Buffer::Other => (func.home(id), "", None),
        };
        // Pipes that share no buffer are distinguished by their numbers.
        let number = if name.is_empty() { pipe_id(init) } else { 0 };
        let slot_view = init.operand(Role::SlotView).is_some();
        let entries = has_entries(func, init, dir);
        // The ends of one that has no buffer meet by number and direction (isa/today.md 7.1).
        let same = |f: &Fifo| {
            (f.dir, f.name.as_str(), f.id, f.entries) == (dir, name, number, entries) && (entries || f.owner == owner)
        };
        if let Some(found) = self.list.iter().position(same) {
            self.list[found].reserve = self.list[found].reserve.or(reserve);
            self.list[found].slot_view |= slot_view;
            return found;
        }
        self.list.push(Fifo {
            dir,
            owner,
            name: name.into(),
            id: number,
            reserve,
            slot_view,
            entries,
            allocs: Vec::new(),
            inits: Default::default(),
            pushes: Vec::new(),
            pops: Vec::new(),
            frees: Vec::new(),
            epilogue: epilogue(init).filter(|_| dir == Dir::C2v).and_then(Result::ok),
            slots: slots(init),
            local_slots: local_slots(init),
            slot_size: slot_size(init),
            split: 0,
        });
        self.list.len() - 1
    }

    /// The FIFO that an operation pushes into, pops from, or frees a slot of.
    pub fn of(&self, op: OpId) -> Option<FifoId> {
        self.of.get(op.index()).copied().flatten()
    }

    /// The `initialize` that an operation belongs to.
    pub fn init(&self, op: OpId) -> Option<OpId> {
        self.init.get(op.index()).copied().flatten()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// The `initialize` of the pipe that an operation names, or of its own function, kind of core and number.
fn init_of(func: &Func, inits: &[(OpId, Option<Core>)], id: OpId, core: Core) -> Option<OpId> {
    if let Some(pipe) = func.op(id).operand(Role::Pipe) {
        let made = pipe.arg.value().and_then(|v| maker(func, v));
        return made.filter(|id| inits.iter().any(|(init, _)| init == id));
    }
    let wanted = pipe_id(func.op(id));
    let same = |(init, of): &&(OpId, Option<Core>)| {
        func.home(*init) == func.home(id) && *of == Some(core) && pipe_id(func.op(*init)) == wanted
    };
    inits.iter().find(same).map(|(init, _)| *init)
}
