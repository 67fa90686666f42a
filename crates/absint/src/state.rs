//! The abstract state: the properties of a program's values at one point of it.
//!
//! Scalars and views of global memory are values. A tile is an **object**: `set_validshape`, TASSIGN, TRESHAPE and views
//! change it in place, whichever name reaches it, so names hold an object's number. While a branch is open, every change
//! of an object is logged with its old contents: rolling the log back undoes the branch, and comparing what two branches
//! changed joins them. Straight lines pay nothing for branches.

use rustc_hash::FxHashMap;
use std::rc::Rc;
use tessera_ir::scalar::{self, Constants};
use tessera_ir::{Arg, Func, Module, Type, TypeId, ValueId};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Attrs, ConvType, ScalarType, ViewTags};
use tessera_isa::layout::Layout;
use tessera_isa::ops::AttrName;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Extent, Tile};

/// A value of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Val<I> {
    /// Nothing: not defined yet, or of a type that is not followed.
    #[default]
    None,
    /// A scalar.
    Scalar(I),
    /// A tile or conv tile: the number of its object.
    Tile(usize),
    /// A pointer, memref or view: its number in [`State::views`].
    View(usize),
    /// An event: its number in a trace.
    Event(u32),
    /// An array of flag ids, by number.
    Ids(usize),
}

/// A valid extent of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ext {
    Known(u64),
    Unknown,
    /// `?`, and never set.
    Unset,
}

impl Ext {
    /// The extent, where it is known.
    pub fn known(self) -> Option<u64> {
        match self {
            Ext::Known(n) => Some(n),
            Ext::Unknown | Ext::Unset => None,
        }
    }

    fn join(self, other: Ext) -> Ext {
        if self == other { self } else { Ext::Unknown }
    }
}

impl From<Option<u64>> for Ext {
    fn from(known: Option<u64>) -> Ext {
        known.map_or(Ext::Unknown, Ext::Known)
    }
}

/// The start of an object, in bits from its root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place<I, R> {
    pub root: R,
    pub at: I,
}

/// Why a tile lies where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// It has storage of its own, wherever placement puts it.
    Own,
    /// It has an address.
    Address,
    /// It is a view of another tile.
    View,
    /// It became a view because it had no address (ops.md 6), and becomes another one the same way.
    InPlace,
}

/// A tile as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Object<I, R> {
    pub tile: Tile,
    pub conv: Option<ConvType>,
    /// Differs from the type's own for views, which keep their source's pitch.
    pub layout: Layout,
    pub valid: [Ext; 2],
    pub place: Place<I, R>,
    pub binding: Binding,
    /// The object whose storage it shares on every profile.
    pub storage: usize,
    /// The `tile-*` rule that its type breaks.
    pub broken: Option<&'static str>,
    /// A number that an analysis gave to all of this but the place; gone once the tile changes.
    pub shape: Option<u32>,
}

impl<I, R> Object<I, R> {
    /// Sets the extents that the type leaves open, by axis and by what they are.
    pub fn set_open(&mut self, to: impl Fn(usize, Ext) -> Ext) {
        let extents = [self.tile.v_row, self.tile.v_col];
        for axis in [0, 1].into_iter().filter(|axis| extents[*axis] == Extent::Dynamic) {
            self.valid[axis] = to(axis, self.valid[axis]);
        }
    }

    /// Makes all of the tile valid, as far as the type leaves it open.
    pub fn fill(&mut self) {
        let declared = [self.tile.rows, self.tile.cols];
        self.set_open(|axis, _| Ext::Known(declared[axis]));
    }

    /// The valid extents, where known.
    pub fn valid(&self) -> [Option<u64>; 2] {
        self.valid.map(Ext::known)
    }

    /// Bytes of the declared area.
    pub fn bytes(&self) -> u64 {
        self.conv.map_or(self.tile.bytes(), |conv| conv.bytes())
    }

    /// Makes it what either of two is, but for the place; whether the place is that of both.
    pub(crate) fn join(&mut self, other: &Self) -> bool
    where
        Place<I, R>: PartialEq,
    {
        self.valid = [0, 1].map(|i| self.valid[i].join(other.valid[i]));
        if self.binding != other.binding {
            let has_address = [self.binding, other.binding].contains(&Binding::Address);
            self.binding = if has_address { Binding::Address } else { Binding::View };
        }
        self.place == other.place && self.layout == other.layout
    }
}

/// A pointer, memref or view of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct View<I, R> {
    pub elem: Elem,
    pub tags: ViewTags,
    /// Extents, outermost first; none for a pointer.
    pub dims: Rc<[I]>,
    /// In elements.
    pub strides: Rc<[I]>,
    pub place: Place<I, R>,
    /// Bits of the tile that it points into.
    pub bits: Option<u64>,
}

/// The origin of a value of which only the type is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The caller or a file.
    Argument,
    /// An operation that gives it storage.
    Own,
    /// A run.
    Found,
}

/// The properties of a tile type on the profile.
#[derive(Clone, Debug)]
pub struct TypeFacts {
    pub tile: Tile,
    pub conv: Option<ConvType>,
    pub layout: Layout,
    /// The fault of the type.
    pub fault: Option<Fault>,
}

/// Padding that is not known: it makes no output empty.
const ANY_PAD: [i64; 4] = [255; 4];

/// All that is known at one point.
pub struct State<'a, I, R> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    /// Whether scratch that is left out is found ([`Module::finds_scratch`]).
    pub finds_scratch: bool,
    /// Integers that are the same whenever the program runs.
    pub constants: &'a Constants,
    /// By value of the function.
    pub env: Vec<Val<I>>,
    pub objects: Vec<Object<I, R>>,
    pub views: Vec<View<I, R>>,
    /// The attributes that SETFMATRIX and SET_IMG2COL_PADDING set, as far as they are known.
    pub config: Attrs,
    /// Addresses that TASSIGN gives to values before their definition (syntax.md 1).
    pub early: FxHashMap<ValueId, I>,
    /// By type of the module.
    pub(crate) types: Vec<Option<Rc<TypeFacts>>>,
    pub(crate) log: Vec<(usize, Object<I, R>)>,
    /// The number of open branches; without one nothing is logged.
    open: usize,
}

/// The start of a branch.
pub struct Mark {
    log: usize,
    config: Attrs,
}

/// The outcome of a branch: the objects it changed, and the rest of the state at its end.
pub struct Outcome<I, R> {
    pub(crate) changed: FxHashMap<usize, Object<I, R>>,
    pub(crate) config: Attrs,
}

impl<'a, I: Clone, R: Clone> State<'a, I, R> {
    /// The state before anything of a function happened.
    pub fn new(module: &'a Module, func: &'a Func, profile: Profile, constants: &'a Constants) -> Self {
        State {
            module,
            func,
            profile,
            finds_scratch: module.finds_scratch(func),
            constants,
            env: std::iter::repeat_with(|| Val::None).take(func.values.len()).collect(),
            objects: Vec::new(),
            views: Vec::new(),
            config: Attrs::default(),
            early: FxHashMap::default(),
            types: Vec::new(),
            log: Vec::new(),
            open: 0,
        }
    }

    /// The abstract value of a value.
    #[inline]
    pub fn get(&self, value: ValueId) -> &Val<I> {
        &self.env[value.index()]
    }

    /// Sets the abstract value of a value.
    #[inline]
    pub fn set(&mut self, value: ValueId, val: Val<I>) {
        self.env[value.index()] = val;
    }

    /// Sets the abstract values of several values.
    pub fn set_all(&mut self, to: &[ValueId], values: impl IntoIterator<Item = Val<I>>) {
        for (value, val) in to.iter().zip(values) {
            self.set(*value, val);
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> &'a Type {
        self.module.types.get(self.func.value(value).ty)
    }

    /// The type of a value as a scalar's; `index` where it is none.
    pub fn scalar_type(&self, value: ValueId) -> ScalarType {
        match self.ty(value) {
            Type::Scalar(ty) => *ty,
            _ => ScalarType::Index,
        }
    }

    /// The object of an operand that is a tile.
    pub fn tile(&self, arg: Arg) -> Option<usize> {
        match self.get(arg.value()?) {
            Val::Tile(object) => Some(*object),
            _ => None,
        }
    }

    /// A literal as a value of the type has it.
    pub fn literal(&self, value: ValueId, number: Number) -> Number {
        match (self.scalar_type(value), number) {
            (ScalarType::Float(elem), Number::Float(v)) if elem.encode_exact(&number).is_none() => {
                elem.decode(elem.encode_f64(v, Overflow::Infinity))
            }
            (ScalarType::Float(_), _) | (_, Number::Float(_)) => number,
            (ty, Number::Int(v)) => Number::Int(scalar::wrap(v as i64, ty.bits()).into()),
        }
    }

    /// Adds a view.
    pub fn add_view(&mut self, view: View<I, R>) -> Val<I> {
        self.views.push(view);
        Val::View(self.views.len() - 1)
    }

    /// A tile that is about to become another one.
    pub fn change(&mut self, id: usize) -> &mut Object<I, R> {
        let object = &mut self.objects[id];
        if self.open > 0 {
            self.log.push((id, object.clone()));
        }
        object.shape = None;
        object
    }

    /// Begins a branch.
    pub fn branch(&mut self) -> Mark {
        self.open += 1;
        Mark { log: self.log.len(), config: self.config.clone() }
    }

    /// The objects that changed since a branch began, some of them more than once.
    pub fn changed(&self, mark: &Mark) -> impl Iterator<Item = usize> {
        self.log[mark.log..].iter().map(|(id, _)| *id)
    }

    /// Whether a branch left the configuration as it was.
    pub fn keeps_config(&self, mark: &Mark) -> bool {
        self.config == mark.config
    }

    /// Ends a branch: the state is what it was at the mark.
    pub fn undo(&mut self, mark: &Mark) -> Outcome<I, R> {
        self.open -= 1;
        let mut changed = FxHashMap::default();
        for (id, old) in self.log.drain(mark.log..).rev() {
            let new = std::mem::replace(&mut self.objects[id], old);
            // The newest change is the first to be taken back.
            changed.entry(id).or_insert(new);
        }
        Outcome { changed, config: std::mem::replace(&mut self.config, mark.config.clone()) }
    }

    /// Nothing is known of the configuration.
    pub fn forget_config(&mut self) {
        self.config = Attrs::default().with(AttrName::Pad, ANY_PAD);
    }

    /// A tile type on the profile, worked out once; `layout` of a type that is no type may not even fit its own arithmetic.
    pub(crate) fn facts(&mut self, ty: TypeId, fault: Option<Fault>) -> Option<Rc<TypeFacts>> {
        if self.types.len() <= ty.index() {
            self.types.resize(ty.index() + 1, None);
        }
        let slot = &mut self.types[ty.index()];
        if slot.is_none() {
            let written = self.module.types.get(ty);
            let tile = written.on(self.profile)?;
            let conv = if let Type::Conv(conv) = written { Some(*conv) } else { None };
            let is_sane = fault.as_ref().is_none_or(|f| !f.is_error());
            let layout = if is_sane { tile.layout() } else { Layout::row_major(1, 1, 1) };
            *slot = Some(Rc::new(TypeFacts { tile, conv, layout, fault }));
        }
        slot.clone()
    }
}

/// Joins the attributes that SETFMATRIX and SET_IMG2COL_PADDING set on two paths (ops.md 7); attributes that differ
/// become unknown.
pub(crate) fn join_config(a: &Attrs, b: &Attrs) -> Attrs {
    let mut all = a.or(b);
    for (name, _) in all.clone().iter().filter(|(name, _)| a.get(*name) != b.get(*name)) {
        all.set(name, Some(ANY_PAD).filter(|_| name == AttrName::Pad));
    }
    all
}
