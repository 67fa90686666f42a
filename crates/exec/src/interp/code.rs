//! A function made ready to run: a tree of operations whose operands are slots.

use tessera_ir::{ArithOp, CastOp, CmpPred, OpId, ScalarType, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ConvType, Inst, ViewTag};
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::tile::Tile;

/// The number of a slot of one kind.
pub(crate) type Slot = u32;
pub(crate) use crate::engine::{Binds, TileId};

/// An integer operand. A float lives in the same slots, as the bits of its binary64 value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Int {
    Slot(Slot),
    Imm(i64),
}

/// An integer operand that becomes a number of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    pub int: Int,
    pub ty: Option<ScalarType>,
}

/// A place that control flow writes, by kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Var {
    Int(Slot),
    Tile(Slot),
    Global(Slot),
    /// An event, which is nothing.
    Nothing,
}

/// What control flow writes there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Int(Int),
    Tile(Slot),
    Global(Slot),
    Nothing,
}

/// One value that goes into a block: to where, from where, and through which buffer of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hand {
    pub to: Var,
    pub from: Source,
    pub buffer: Option<TileId>,
}

#[derive(Debug)]
pub(crate) struct For {
    pub at: OpId,
    pub name: ValueId,
    pub iv: Slot,
    pub lower: Int,
    pub upper: Int,
    pub step: Int,
    pub enter: Vec<Hand>,
    pub body: Vec<Code>,
    pub again: Vec<Hand>,
    pub leave: Vec<Hand>,
}

#[derive(Debug)]
pub(crate) struct If {
    pub condition: Int,
    pub then: (Vec<Code>, Vec<Hand>),
    pub other: (Vec<Code>, Vec<Hand>),
}

#[derive(Debug)]
pub(crate) struct While {
    pub at: OpId,
    pub enter: Vec<Hand>,
    pub before: Vec<Code>,
    pub condition: Int,
    /// Into the second block while the condition holds.
    pub proceed: Vec<Hand>,
    pub after: Vec<Code>,
    pub again: Vec<Hand>,
    pub leave: Vec<Hand>,
}

/// `alloc_tile`.
#[derive(Debug)]
pub(crate) struct Alloc {
    pub at: OpId,
    pub object: TileId,
    pub slot: Slot,
    pub addr: Option<Int>,
    pub valid: [Option<Int>; 2],
}

/// TSUBVIEW and `pto.subset`: the destination becomes a view.
#[derive(Debug)]
pub(crate) struct Window {
    pub at: OpId,
    pub opcode: Opcode,
    pub src: Slot,
    /// The slot of the destination; a result's object is put there first.
    pub dst: Slot,
    pub result: Option<TileId>,
    pub row: Int,
    pub col: Int,
}

/// `make_tensor_view` and `partition_view`.
#[derive(Debug)]
pub(crate) struct MakeView {
    pub at: OpId,
    pub src: Slot,
    pub dst: Slot,
    pub first: Vec<Int>,
    pub second: Vec<Int>,
    pub tag: ViewTag,
    pub elem: Elem,
}

/// A scalar read from or written to global memory.
#[derive(Debug)]
pub(crate) struct Access {
    pub at: OpId,
    pub pointer: Slot,
    pub index: Int,
    pub scalar: Int,
    pub slot: Slot,
    pub ty: ScalarType,
}

/// One operation.
#[derive(Debug)]
pub(crate) enum Code {
    Set {
        dst: Slot,
        value: i64,
    },
    Arith {
        op: ArithOp,
        width: u32,
        dst: Slot,
        a: Int,
        b: Int,
        at: OpId,
    },
    Cmp {
        pred: CmpPred,
        width: u32,
        dst: Slot,
        a: Int,
        b: Int,
    },
    Cast {
        op: CastOp,
        from: u32,
        to: u32,
        dst: Slot,
        a: Int,
    },
    Select {
        condition: Int,
        then: Hand,
        other: Hand,
    },
    For(Box<For>),
    If(Box<If>),
    While(Box<While>),
    /// The contents of these tiles begin here, undefined.
    Fresh(Box<[TileId]>),
    Alloc(Box<Alloc>),
    /// TASSIGN; a result is the same tile.
    Assign {
        at: OpId,
        tile: Slot,
        addr: Int,
        result: Option<Slot>,
    },
    SetValid {
        at: OpId,
        tile: Slot,
        valid: [Option<Int>; 2],
    },
    Window(Box<Window>),
    MakeView(Box<MakeView>),
    Partition(Box<MakeView>),
    AddPtr {
        at: OpId,
        src: Slot,
        dst: Slot,
        by: Int,
    },
    LoadScalar(Box<Access>),
    StoreScalar(Box<Access>),
    /// SETFMATRIX: whatever is given stays until it is given again.
    Configure {
        fmap: Option<[i64; 2]>,
        pad: Option<[i64; 4]>,
    },
    /// SET_IMG2COL_PADDING, with the value as an operand or as an attribute.
    PadValue {
        scalar: Option<Scalar>,
        attr: Option<Number>,
    },
    BlockIndex(Slot),
    BlockCount(Slot),
    Print {
        at: OpId,
        tile: Slot,
    },
    /// A tile instruction; the number of its site.
    Issue(u32),
    /// An instruction outside the table.
    Refuse {
        at: OpId,
        name: &'static str,
    },
}

/// A tile instruction of the program.
#[derive(Debug)]
pub(crate) struct Site {
    pub at: OpId,
    /// The instruction, without operands.
    pub inst: Inst,
    /// Tile operands in the form's order, destinations last.
    pub tiles: Vec<(Role, Slot)>,
    pub scalars: Vec<(Role, Scalar)>,
    pub global: Option<Slot>,
    /// The results: their slots and objects.
    pub results: Vec<(Slot, TileId)>,
    /// The old contents of the result.
    pub init: Option<Slot>,
    /// Does nothing but its tiles decide what it does?
    pub only_tiles: bool,
    /// How the instruction binds its destination to its source, and the two.
    pub binds: Option<(Binds, Slot, Slot)>,
}

/// A tile that the program makes, as it is before anything happens to it.
#[derive(Clone, Debug)]
pub(crate) struct ObjectInfo {
    pub value: ValueId,
    pub tile: Tile,
    pub conv: Option<ConvType>,
    /// Where placement put it; otherwise it lies in the pool.
    pub address: Option<u64>,
    /// Where in the pool it lies.
    pub pool: u64,
}

/// A compiled function.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub body: Vec<Code>,
    pub sites: Vec<Site>,
    pub objects: Vec<ObjectInfo>,
    pub ints: usize,
    pub tiles: usize,
    pub globals: usize,
    /// By value: its slot.
    pub vars: Vec<Var>,
    /// Bytes of the pool.
    pub pool: u64,
    /// Addresses that a first TASSIGN gives to tiles that exist from the start.
    pub bound: Vec<(TileId, i64)>,
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
