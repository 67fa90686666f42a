//! A function compiled for execution: a tree of operations whose operands are slots.

use super::cores::Group;
use super::micro::{MicroOp, MicroSupport, chip_space};
use super::micro_strip::StripLoop;
use smallvec::SmallVec;
use tessera_ir::{ArithOp, CastOp, CmpPred, FloatOp, FloatPred, OpId, ScalarType, StackSlots, Type, ValueId, scalar};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Attrs, ConvType, Inst, ViewTags};
use tessera_isa::ops::{Bind, Opcode, Role};
use tessera_isa::sem::{Comm, Dir, Epilogue, Fifo as Part};
use tessera_isa::tile::Tile;

macro_rules! slots {
    ($($(#[$doc:meta])* $name:ident $($kind:ident $get:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(u32);
        impl $name {
            /// The position among the slots of its kind; the compiler gives out no others.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
        $(impl Var {
            pub fn $get(self) -> Option<$name> {
                if let Var::$kind(slot) = self { Some(slot) } else { None }
            }
        })?
    )*};
}
slots! {
    /// The slot of an integer.
    IntSlot Int int;
    /// The slot that names a tile's object.
    TileSlot Tile tile;
    /// The slot of a pointer or view.
    GlobalSlot Global global;
    /// The slot of a register, a mask or the state of a stream.
    MicroSlot Micro micro;
}
pub use tessera_exec::engine::TileId;

impl IntSlot {
    /// The slot `n` further on.
    pub fn plus(self, n: u32) -> IntSlot {
        IntSlot(self.0 + n)
    }
}

/// An integer operand. A float lives in the same slots, as the bits of its binary64 value.
#[derive(Clone, Copy, Debug)]
pub enum Int {
    Slot(IntSlot),
    Imm(i64),
}

/// An integer operand that becomes a number of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    pub int: Int,
    pub ty: Option<ScalarType>,
}

/// The slot of a value, by kind.
#[derive(Clone, Copy, Debug)]
pub enum Var {
    Int(IntSlot),
    Tile(TileSlot),
    Global(GlobalSlot),
    Micro(MicroSlot),
    /// Consecutive integer slots, the first one and their number: ids of flags.
    Ids(IntSlot, u32),
    /// An event, which is nothing.
    Nothing,
}

/// One value that control flow hands on: to where, and from where.
#[derive(Clone, Copy, Debug)]
pub enum BlockArgCopy {
    Int { to: IntSlot, from: Int },
    // The tile is copied into the buffer, which is then what is handed on.
    Tile { to: TileSlot, from: TileSlot, buffer: Option<TileId> },
    Global { to: GlobalSlot, from: GlobalSlot },
    Micro { to: MicroSlot, from: MicroSlot },
}

#[derive(Debug)]
pub struct For {
    pub at: OpId,
    pub name: ValueId,
    pub iv: IntSlot,
    pub lower: Int,
    pub upper: Int,
    pub step: Int,
    /// The least steps of one round.
    pub least: u64,
    pub enter: Vec<BlockArgCopy>,
    pub body: Vec<Code>,
    pub again: Vec<BlockArgCopy>,
    pub leave: Vec<BlockArgCopy>,
    /// How several rounds of a loop of micro instructions run together.
    pub strip: Option<Box<StripLoop>>,
}

#[derive(Debug)]
pub struct If {
    pub condition: Int,
    pub then: (Vec<Code>, Vec<BlockArgCopy>),
    pub other: (Vec<Code>, Vec<BlockArgCopy>),
}

#[derive(Debug)]
pub struct While {
    pub at: OpId,
    pub enter: Vec<BlockArgCopy>,
    pub before: Vec<Code>,
    pub condition: Int,
    /// Into the second block while the condition holds.
    pub proceed: Vec<BlockArgCopy>,
    pub after: Vec<Code>,
    pub again: Vec<BlockArgCopy>,
    pub leave: Vec<BlockArgCopy>,
}

#[derive(Debug)]
pub struct Alloc {
    pub object: TileId,
    pub slot: TileSlot,
    pub addr: Option<Int>,
    pub valid: [Option<Int>; 2],
}

/// TSUBVIEW, `pto.subview` and `pto.multi_tile_get`: the destination becomes a view.
#[derive(Debug)]
pub struct Window {
    pub opcode: Opcode,
    pub src: TileSlot,
    /// The slot of the destination; a result's object is put there first.
    pub dst: TileSlot,
    pub result: Option<TileId>,
    /// Row and column of a window, or the slot.
    pub at: SmallVec<[(Role, Int); 2]>,
    /// The valid extents, if they are written.
    pub valid: [Option<Int>; 2],
}

/// `make_tensor_view` and `partition_view`.
#[derive(Debug)]
pub struct MakeView {
    pub src: GlobalSlot,
    pub dst: GlobalSlot,
    pub first: Vec<Int>,
    pub second: Vec<Int>,
    pub tags: ViewTags,
    pub elem: Elem,
}

/// A pointer made of a tile, a view, a pointer or a number; or a number made of a pointer, which has no element.
#[derive(Debug)]
pub struct Address {
    pub from: Var,
    pub to: Var,
    pub elem: Option<Elem>,
}

/// An extent or stride of a view.
#[derive(Debug)]
pub struct ViewNumber {
    pub view: GlobalSlot,
    pub index: Int,
    pub is_stride: bool,
    pub to: IntSlot,
}

/// One element of global memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub pointer: GlobalSlot,
    pub index: Int,
    pub ty: ScalarType,
}

#[derive(Debug)]
pub enum Code {
    Set { dst: IntSlot, value: i64 },
    Arith { op: ArithOp, width: u32, dst: IntSlot, a: Int, b: Int, at: OpId },
    Cmp { pred: CmpPred, width: u32, dst: IntSlot, a: Int, b: Int },
    Cast { op: CastOp, from: u32, to: u32, dst: IntSlot, a: Int },
    Float { op: FloatOp, elem: Elem, dst: IntSlot, args: Box<[Int; 3]> },
    CmpFloat { pred: FloatPred, dst: IntSlot, a: Int, b: Int },
    Convert { op: CastOp, from: ScalarType, to: ScalarType, dst: IntSlot, a: Int, at: OpId },
    For(Box<For>),
    If(Box<If>),
    While(Box<While>),
    // A tile instruction; the number of its site.
    Issue(u32),
    Support(OpId, Box<Support>),
    // An instruction below the tile level.
    Micro(Box<MicroOp>),
    // Communication between cores.
    CoreSyncOp(OpId, Box<CoreSyncOp>),
}

/// A FIFO between the cores of a block, as they run.
#[derive(Clone, Debug)]
pub struct Channel {
    pub dir: Dir,
    pub slots: u64,
    /// Popped tiles that lie in the consumer's memory at a time (a2a3).
    pub local_slots: u64,
    pub slot_size: u64,
    pub split: u8,
    pub name: String,
    /// The address of the slots in the consumer's memory.
    pub base: u64,
    /// The offset in the pool at which pushed tiles wait, and one at which parameters are widened.
    pub stage: u64,
    pub widened: u64,
    /// Whether slots lie in global memory, and tiles are copied into them and out of them.
    pub is_global: bool,
    /// Whether a pop frees its slot, because what is popped is a copy.
    pub frees_at_pop: bool,
    pub epilogue: Option<Epilogue>,
    /// Whether views of slots go through it (isa/today.md 7.2).
    pub entries: bool,
    /// The first byte of the slots in global memory, behind the pointer that `initialize` is given.
    pub offset: u64,
}

impl Channel {
    /// The divisors of rows and columns between the vector cores.
    pub fn division(&self) -> [u64; 2] {
        match self.split {
            1 => [2, 1],
            2 => [1, 2],
            _ => [1, 1],
        }
    }
}

#[derive(Debug)]
pub struct Push {
    pub channel: usize,
    /// The number of the push among those of the FIFO, in the text.
    pub number: usize,
    pub src: TileSlot,
    /// The tile that waits in a slot.
    pub stage: TileId,
    /// What is done to elements on the way (isa/today.md 7.3).
    pub quant: Option<QuantPush>,
    /// `gm_slot_buffer`.
    pub global: Option<GlobalSlot>,
    pub cache: usize,
    /// `aiv_subblockid`.
    pub sub_block: Option<Int>,
}

/// A push that converts.
#[derive(Debug)]
pub struct QuantPush {
    pub epilogue: Epilogue,
    pub param: PushArg,
}

/// The parameter by which a push quantizes.
#[derive(Debug)]
pub enum PushArg {
    None,
    Scalar(Int),
    /// A row of parameters, and where they lie as words of 64 bits if they are floats.
    Vector(TileSlot, Option<TileId>),
}

#[derive(Debug)]
pub struct Pop {
    pub channel: usize,
    pub to: TileSlot,
    /// The popped tiles, by slot.
    pub ring: Vec<TileId>,
    pub valid: [Option<Int>; 2],
    /// By push of the FIFO: the tile that it leaves in a slot.
    pub stages: Vec<TileId>,
    pub global: Option<GlobalSlot>,
    /// Tiles that may be views of a popped one.
    pub views: Vec<TileId>,
    pub cache: usize,
    /// `aiv_subblockid`.
    pub sub_block: Option<Int>,
}

/// An operation on views of slots in global memory (isa/today.md 7.2).
#[derive(Debug)]
pub struct Entry {
    pub channel: usize,
    pub part: Part,
    /// `gm_slot_tensor`.
    pub slot: GlobalSlot,
    /// The view that is made, or handed on.
    pub view: Option<GlobalSlot>,
    /// `aiv_subblockid`.
    pub sub_block: Option<Int>,
}

#[derive(Debug)]
pub enum CoreSyncOp {
    Entry(Entry),
    Push(Push),
    Pop(Pop),
    Free { channel: usize },
    // `sync.set` and `sync.wait`.
    Give { id: Int, mode: i128, is_wide: bool },
    Take { id: Int, crosses: bool, is_wide: bool },
    // `syncall`.
    Meet(Meeting),
    // An operation between ranks.
    Comm(Box<CommOp>),
}

/// An operation between ranks, with its operands by role.
#[derive(Debug)]
pub struct CommOp {
    pub opcode: Opcode,
    pub comm: Comm,
    pub attrs: Attrs,
    /// Views: destination, source, signal; then the members of a group.
    pub views: SmallVec<[(Role, GlobalSlot); 4]>,
    pub tiles: SmallVec<[TileSlot; 2]>,
    /// The value of a notification or comparison.
    pub value: Option<Int>,
    /// The session, and the event, of a transfer that runs on.
    pub session: Option<Int>,
    pub event: Option<Int>,
    pub result: Option<IntSlot>,
}

/// What an operation on the cache of S is about.
#[derive(Clone, Copy, Debug)]
pub enum Cached {
    All,
    /// The lines of a view, or the one of a pointer.
    Lines(GlobalSlot),
    /// No lines: what was written back is visible.
    Fence,
}

/// A meeting of cores, with the word that counts them and how many take part, where they are given.
#[derive(Debug)]
pub struct Meeting {
    pub group: Group,
    pub word: Option<(Access, IntSlot)>,
    pub wanted: Option<Int>,
}

/// The operations around the instructions.
/// One element of a tile that becomes a scalar.
#[derive(Debug)]
pub struct GetElement {
    pub opcode: Opcode,
    pub src: TileSlot,
    pub index: Int,
    pub to: IntSlot,
    pub ty: ScalarType,
}

#[derive(Debug)]
pub enum Support {
    // `pto.tprint` of a view.
    PrintView(ValueId, GlobalSlot),
    // The contents of these tiles begin here, undefined.
    Fresh(Box<[TileId]>),
    Alloc(Alloc),
    // TASSIGN; a result is the same tile.
    Assign {
        tile: TileSlot,
        addr: Int,
        result: Option<TileSlot>,
    },
    SetValid {
        tile: TileSlot,
        valid: [Option<Int>; 2],
    },
    Window(Window),
    MakeView(MakeView),
    Partition(MakeView),
    AddPtr {
        src: GlobalSlot,
        dst: GlobalSlot,
        by: Int,
        is_pointer: bool,
    },
    Address(Address),
    ViewNumber(ViewNumber),
    /// Valid extents of a tile, by axis.
    Extents(TileSlot, Vec<(usize, IntSlot)>),
    PrintText {
        format: Box<str>,
        values: Vec<Scalar>,
    },
    Trap,
    LoadScalar(Access, IntSlot),
    StoreScalar(Access, Int),
    // TGETVAL.
    Get(GetElement),
    // `dense<[…]>`: the vector and its numbers, one after the other.
    Dense {
        object: TileId,
        slot: TileSlot,
        bytes: Vec<u8>,
    },
    // SETFMATRIX: attributes stay until they are set again.
    Configure(Box<Attrs>),
    // SET_IMG2COL_PADDING, with the value as an operand or as an attribute.
    PadValue {
        scalar: Option<Scalar>,
        attr: Option<Number>,
    },
    BlockIndex(IntSlot),
    BlockCount(IntSlot),
    Print(TileSlot),
    // An instruction outside the table.
    Refuse(&'static str),
    // `declare_tile`: a tile without storage.
    Declare {
        object: TileId,
        slot: TileSlot,
    },
    // A rule that is broken here.
    Fault(&'static str, String),
    // An id out of an array of them, or into one.
    GetId {
        ids: (IntSlot, u32),
        shape: StackSlots,
        places: Vec<Int>,
        to: IntSlot,
    },
    SetId {
        ids: (IntSlot, u32),
        shape: StackSlots,
        places: Vec<Int>,
        id: Int,
    },
    // A new array, whose elements are not defined.
    NewIds(IntSlot, u32),
    // Vecscopes, and pointers on the chip of a micro program.
    Micro(MicroSupport),
    // An order operation, with its id; present only if the run is observed.
    Order(Option<Int>),
    // For observers: lines of the cache, or a fence.
    Cache(Cached),
}

/// A tile instruction of the program.
#[derive(Debug)]
pub struct InstTemplate {
    pub at: OpId,
    /// The instruction, without operands; the repeated path does not read it.
    pub inst: Box<Inst>,
    /// Tile operands in the form's order, destinations last.
    pub tiles: Vec<(Role, TileSlot)>,
    pub scalars: Vec<(Role, Scalar)>,
    pub global: Option<GlobalSlot>,
    /// Further views, of indices and of scratch.
    pub views: Vec<(Role, GlobalSlot)>,
    /// The results: their slots and objects.
    pub results: Vec<(TileSlot, TileId)>,
    /// The old contents of the result.
    pub init: Option<TileSlot>,
    /// Whether it takes attributes that SETFMATRIX set.
    pub is_configured: bool,
    /// Whether the valid region of its destination becomes the declared area.
    pub expands: bool,
    /// Whether its tiles alone decide its effect.
    pub only_tiles: bool,
    /// The kind of binding of its destination to its source, and the two.
    pub binds: Option<(Bind, TileSlot, TileSlot)>,
    /// Whether it is one of several in a row whose bytes may wait for each other.
    pub may_wait: bool,
    /// By tile operand, a bit each: the operand is dead after this instruction.
    pub dead: u32,
}

impl InstTemplate {
    /// Whether its only effect is on the contents of its tiles.
    fn is_simple(&self) -> bool {
        self.init.is_none() && self.binds.is_none() && !self.expands
    }
}

/// A tile that the program makes, as it is before anything happens to it.
#[derive(Clone, Debug)]
pub struct ObjectInfo {
    pub value: ValueId,
    pub tile: Tile,
    pub conv: Option<ConvType>,
    /// The address that placement chose; without one it is in the pool.
    pub address: Option<u64>,
    /// Its offset in the pool.
    pub pool: u64,
    /// Whether it is the value's own tile, and not one in a slot of a FIFO.
    pub is_own: bool,
}

#[derive(Debug, Default)]
pub struct Program {
    pub body: Vec<Code>,
    pub sites: Vec<InstTemplate>,
    pub objects: Vec<ObjectInfo>,
    pub ints: usize,
    pub tiles: usize,
    pub globals: usize,
    pub micros: usize,
    /// Whether it has micro instructions: pointers on the chip are byte addresses then.
    pub is_micro: bool,
    pub vars: Vec<Var>,
    pub pool: u64,
    pub channels: Vec<Channel>,
    /// The number of caches that it needs besides those of its instructions.
    pub moves: usize,
    /// Addresses that a first TASSIGN gives to tiles that exist from the start.
    pub bound: Vec<(TileId, i64)>,
}

impl Code {
    /// Whether its effect does not depend on the bytes that earlier instructions wrote.
    #[inline]
    pub fn reads_no_bytes(&self) -> bool {
        match self {
            Code::Support(_, support) => matches!(
                **support,
                Support::Fresh(_)
                    | Support::Alloc(_)
                    | Support::SetValid { .. }
                    | Support::BlockIndex(_)
                    | Support::BlockCount(_)
                    | Support::MakeView(_)
                    | Support::Partition(_)
                    | Support::AddPtr { .. }
                    | Support::NewIds(..)
                    | Support::GetId { .. }
                    | Support::SetId { .. }
                    | Support::Order(_)
            ),
            Code::For(_) | Code::While(_) | Code::CoreSyncOp(..) => false,
            // The branches of an `if` are checked on their own.
            _ => true,
        }
    }
}

impl Program {
    /// Finds instructions of a block, and of branches in it, that follow each other: their bytes may wait.
    pub fn find_chains(&mut self, code: &[Code]) {
        self.find_chains_after(None, code);
    }

    /// The same after an instruction that may wait; returns the last one that may.
    fn find_chains_after(&mut self, mut last: Option<usize>, code: &[Code]) -> Option<usize> {
        for c in code {
            match c {
                Code::Issue(site) => {
                    let site = *site as usize;
                    let is_simple = self.sites.get(site).is_some_and(InstTemplate::is_simple);
                    for n in last.into_iter().chain([site]).filter(|_| is_simple && last.is_some()) {
                        self.sites.get_mut(n).into_iter().for_each(|s| s.may_wait = true);
                    }
                    last = is_simple.then_some(site);
                }
                Code::If(branch) => {
                    let ends = [&branch.then.0, &branch.other.0].map(|code| self.find_chains_after(last, code));
                    last = ends.into_iter().flatten().next();
                }
                _ => last = last.filter(|_| c.reads_no_bytes()),
            }
        }
        last
    }

    /// The slot of a value that is a tile.
    pub fn tile(&self, value: ValueId) -> Option<TileSlot> {
        self.vars.get(value.index())?.tile()
    }

    /// A slot for a number of no value.
    pub fn temporary(&mut self) -> IntSlot {
        self.ints += 1;
        IntSlot(self.ints as u32 - 1)
    }

    /// A new slot for a value of this type.
    pub fn slot(&mut self, ty: &Type) -> Var {
        let next = |count: &mut usize| {
            *count += 1;
            *count as u32 - 1
        };
        match ty {
            Type::Scalar(_) => Var::Int(IntSlot(next(&mut self.ints))),
            Type::Ptr(..) if self.is_micro && chip_space(ty).is_some() => Var::Int(IntSlot(next(&mut self.ints))),
            Type::Micro(_) => Var::Micro(MicroSlot(next(&mut self.micros))),
            Type::Tile(_) | Type::Conv(_) | Type::Multi(..) | Type::Vector(..) => {
                Var::Tile(TileSlot(next(&mut self.tiles)))
            }
            Type::Ptr(..) | Type::View(_) | Type::Memref(_) => Var::Global(GlobalSlot(next(&mut self.globals))),
            // A session or an event is its number in the process.
            Type::Opaque(name) if name.starts_with("!pto.async_") => Var::Int(IntSlot(next(&mut self.ints))),
            Type::Event => Var::Nothing,
            Type::Opaque(_) => match ty.stack_slots().map(|slots| slots.count()) {
                // After the elements, a slot for each says whether it is defined.
                Some(count) => {
                    let first = self.ints;
                    self.ints += 2 * count;
                    Var::Ids(IntSlot(first as u32), count as u32)
                }
                None => Var::Nothing,
            },
        }
    }
}

impl Scalar {
    /// The number that an integer slot's contents stand for.
    pub fn number(&self, value: i64) -> Number {
        use tessera_ir::Sign;
        match self.ty {
            Some(ScalarType::Float(_)) => Number::Float(f64::from_bits(value as u64)),
            Some(ScalarType::Int(bits, Sign::Unsigned)) => {
                let mask = u64::MAX >> (64 - u32::from(bits).clamp(1, 64));
                Number::Int(i128::from(value as u64 & mask))
            }
            _ => Number::Int(i128::from(value)),
        }
    }
}

/// The bits of a number of this type in an integer slot.
pub fn slot_bits(number: Number, ty: ScalarType) -> i64 {
    match (number, ty) {
        (Number::Float(v), _) => v.to_bits() as i64,
        (Number::Int(v), ScalarType::Float(_)) => (v as f64).to_bits() as i64,
        (Number::Int(v), _) => scalar::wrap(v as i64, ty.bits()),
    }
}
