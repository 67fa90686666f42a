//! Abstract interpreter: the properties of a program's values, without running it.
//!
//! An analysis defines the abstraction of a number ([`Analysis::Int`]: a constant, an interval, a linear form) and the
//! roots of addresses ([`Analysis::Root`]). The transfer functions of scalars, tiles, views, pointers and bindings are
//! written here once, as methods that an analysis gets: [`GlobalMemory`], [`Tiles`] and [`ControlFlow`]. Loops are a
//! strategy of the analysis, which may unroll, widen or choose. So are branches, if the analysis does not join both
//! arms.
//!
//! An analysis looks at operations by overriding the hooks that have an empty default.

mod control;
mod global;
mod interval;
mod state;
mod tiles;

pub use control::ControlFlow;
pub use global::GlobalMemory;
pub use interval::Interval;
pub use state::{Binding, Ext, Mark, Object, Origin, Outcome, Place, State, TypeFacts, Val, View};
pub use tiles::{Operands, Tiles};

use smallvec::SmallVec;
use tessera_ir::edges::Control;
use tessera_ir::{Arg, Op, OpId, Operand, Type, ValueId, view};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Fault};
use tessera_isa::inst::ViewTags;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::tile::{Loc, Tile};

/// Values that control flow passes on.
pub type Vals<I> = SmallVec<[Val<I>; 2]>;

/// Whether to go on.
pub type Step<'a, A> = Result<(), <A as Analysis<'a>>::Stop>;

/// Control flow, or what is wrong with it.
pub type Flow<'a> = Result<Control<'a>, Box<Diagnostic>>;

/// A place of an analysis.
pub type PlaceOf<'a, A> = Place<<A as Analysis<'a>>::Int, <A as Analysis<'a>>::Root>;

/// A view of an analysis.
pub type ViewOf<'a, A> = View<<A as Analysis<'a>>::Int, <A as Analysis<'a>>::Root>;

/// An abstract interpretation of one function without calls.
pub trait Analysis<'a>: Sized {
    /// The abstraction of a number.
    type Int: Clone + PartialEq;
    /// The root that places are counted from: places of one root can be compared.
    type Root: Copy + PartialEq;
    /// Why it ends early.
    type Stop;

    fn state(&self) -> &State<'a, Self::Int, Self::Root>;
    fn state_mut(&mut self) -> &mut State<'a, Self::Int, Self::Root>;

    /// A number that is known.
    fn constant(&self, n: i64) -> Self::Int;
    /// A number that only a run knows.
    fn unknown(&mut self) -> Self::Int;
    /// The number, where it is one.
    fn known(&self, n: &Self::Int) -> Option<i128>;
    fn sum(&mut self, a: &Self::Int, b: &Self::Int) -> Self::Int;
    fn product(&mut self, a: &Self::Int, b: &Self::Int) -> Self::Int;
    /// Either of two numbers.
    fn either_int(&mut self, a: &Self::Int, b: &Self::Int) -> Self::Int;

    /// The number that an operand is, as its type reads it.
    fn read(&self, arg: Arg) -> Option<Self::Int> {
        match self.val(arg) {
            Val::Scalar(n) => Some(n),
            _ => None,
        }
    }

    /// The number of a scalar operand of an instruction.
    fn number(&self, arg: Arg) -> Option<Number> {
        self.int(arg).map(Number::Int)
    }
    /// The abstract value of a literal.
    fn literal(&mut self, value: ValueId, number: Number) -> Self::Int;
    /// A scalar of which only the type is known.
    fn scalar(&mut self, value: ValueId, origin: Origin) -> Self::Int;
    /// The abstract result of integer arithmetic.
    fn compute(&mut self, op: &Op) -> Self::Int;

    /// The place of a pointer or view of which only the type is known.
    fn buffer(&mut self, value: ValueId, origin: Origin) -> PlaceOf<'a, Self>;
    /// The place of a new tile without an address.
    fn storage(&mut self, _value: ValueId, _tile: &Tile, _origin: Origin) -> PlaceOf<'a, Self> {
        self.anywhere()
    }
    /// A place of which nothing is known.
    fn anywhere(&mut self) -> PlaceOf<'a, Self>;
    /// A memory, which addresses are counted in.
    fn memory(loc: Loc) -> Self::Root;
    /// The place that a pointer into a tile points to.
    fn pointee(&mut self, object: usize) -> PlaceOf<'a, Self> {
        self.state().objects[object].place.clone()
    }

    /// Comes to an operation.
    fn visit(&mut self, id: OpId, op: &'a Op) -> Step<'a, Self> {
        self.op(id, op)
    }

    /// An instruction.
    fn instruction(&mut self, id: OpId, op: &'a Op, opcode: Opcode, form: Form) -> Step<'a, Self>;

    /// An operation that is not of the table: its results are values of their types.
    fn other(&mut self, _id: OpId, op: &'a Op) {
        self.set_unknown(op);
    }

    /// Control flow: a loop, or a choice of arms or values.
    fn control(&mut self, id: OpId, op: &'a Op, control: Flow<'a>) -> Step<'a, Self>;

    /// Makes a tile of the value's type; none where tiles are not followed.
    fn new_tile(&mut self, value: ValueId, origin: Origin) -> Option<usize> {
        self.add_tile(value, origin)
    }

    /// Whether a pointer is an address on the chip, as a number.
    fn is_number(&self, _value: ValueId) -> bool {
        false
    }

    /// The fault of a tile type.
    fn type_fault(&self, _ty: &Type, _tile: &Tile) -> Option<Fault> {
        None
    }

    /// An address that is about to be given to a tile; unknown where it is refused.
    fn check_address(&mut self, _op: &Op, _tile: &TypeFacts, at: Self::Int) -> Self::Int {
        at
    }

    /// Whether valid extents may be given to a tile.
    fn check_extents(&mut self, _op: &Op, _object: usize, _extents: [Option<i128>; 2]) -> bool {
        true
    }

    /// Whether a partition may lie inside its view.
    fn check_partition(&mut self, _op: &Op, _base: &ViewOf<'a, Self>, _at: &[Self::Int], _sizes: &[Self::Int]) -> bool {
        true
    }

    /// Called for a dimension that a view does not have.
    fn check_dimension(&mut self, _op: &Op, _n: i128, _rank: usize) {}

    /// The destination of a TRESHAPE is about to lie where its source lies.
    fn check_rebind(&mut self, _op: &Op, _src: usize, _dst: usize) {}

    /// A tile became a window of another one.
    fn check_window(&mut self, _op: &Op, _dst: usize) {}

    /// A tile is bound to an address.
    fn bound(&mut self, _object: usize) {}

    /// The layout of a new view.
    fn view_tags(&mut self, op: &Op) -> ViewTags {
        let state = self.state();
        view::tags(state.module, state.func, state.constants, op)
    }

    /// The analysis's own state at this point, beside [`State`].
    type Own: Default;
    fn own(&self) -> Self::Own {
        Self::Own::default()
    }
    fn set_own(&mut self, _own: Self::Own) {}
    fn join_own(&mut self, _a: Self::Own, _b: Self::Own) {}

    /// The abstract value of an operand.
    fn val(&self, arg: Arg) -> Val<Self::Int> {
        match arg {
            Arg::Value(value) => self.state().get(value).clone(),
            Arg::Int(n) => Val::Scalar(self.constant(n)),
        }
    }

    /// The abstract values of operands.
    fn vals(&self, operands: &[Operand]) -> Vals<Self::Int> {
        operands.iter().map(|o| self.val(o.arg)).collect()
    }

    /// The integer that an operand is, where it is known.
    fn int(&self, arg: Arg) -> Option<i128> {
        self.known(&self.read(arg)?)
    }

    /// The integer of an operand of a role.
    fn int_at(&self, op: &Op, role: Role) -> Option<Option<i128>> {
        Some(self.int(op.operand(role)?.arg))
    }

    /// Sets the results to unknown values of their types.
    fn set_unknown(&mut self, op: &Op) {
        op.results.iter().for_each(|value| self.set_by_type(*value, Origin::Found));
    }

    /// Sets a value to an unknown value of its type.
    fn set_by_type(&mut self, value: ValueId, origin: Origin) {
        let val = match self.state().ty(value) {
            Type::Tile(_) | Type::Conv(_) | Type::Multi(..) | Type::Vector(..) => {
                self.new_tile(value, origin).map_or(Val::None, Val::Tile)
            }
            Type::Ptr(..) if self.is_number(value) => Val::Scalar(self.scalar(value, origin)),
            ty @ (Type::Ptr(..) | Type::View(_) | Type::Memref(_)) => {
                let place = self.buffer(value, origin);
                self.view_of_type(ty, place)
            }
            Type::Scalar(_) => Val::Scalar(self.scalar(value, origin)),
            Type::Event | Type::Opaque(_) | Type::Micro(_) => Val::None,
        };
        self.state_mut().set(value, val);
    }
}
