//! What is known of a program's values while it is walked.
//!
//! Scalars and views of global memory are values. A tile is an **object**: `set_validshape`, TASSIGN, TRESHAPE and views
//! change it in place, whichever name reaches it, so names hold an object's number. Every change of an object is logged
//! with its old contents; a branch is undone by rolling the log back, and two branches are joined by comparing what
//! either changed. So straight lines cost nothing for the sake of branches.

use super::alias::Aliases;
use rustc_hash::FxHashMap;
use tessera_isa::codec::Number;
use tessera_isa::inst::{Attrs, ConvType, GlobalArg, Place, ViewTags};
use tessera_isa::layout::Layout;
use tessera_isa::ops::AttrName;
use tessera_isa::tile::{Extent, Tile};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Val {
    /// Nothing: not defined yet, or without contents (an event).
    #[default]
    None,
    Scalar(Option<Number>),
    /// A tile or conv tile: the number of its object.
    Tile(usize),
    /// A pointer, memref or view: its number in [`State::views`].
    View(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ext {
    Known(u64),
    Unknown,
    /// `?`, and never set.
    Unset,
}

impl Ext {
    pub(super) fn known(self) -> Option<u64> {
        match self {
            Ext::Known(n) => Some(n),
            Ext::Unknown | Ext::Unset => None,
        }
    }

    fn join(self, other: Ext) -> Ext {
        if self == other { self } else { Ext::Unknown }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object {
    pub tile: Tile,
    pub conv: Option<ConvType>,
    /// Differs from the type's own for views, which keep their source's pitch.
    pub layout: Layout,
    pub valid: [Ext; 2],
    pub place: Option<Place>,
    /// Has it an address of its own (and is no automatic tile)?
    pub manual: bool,
    /// The `tile-*` rule that its type breaks.
    pub broken: Option<&'static str>,
    /// The object whose storage it shares on every profile.
    pub storage: usize,
}

impl Object {
    /// Sets the extents that the type leaves open, by axis and by what they are.
    pub(super) fn set_open(&mut self, to: impl Fn(usize, Ext) -> Ext) {
        let extents = [self.tile.v_row, self.tile.v_col];
        for axis in [0, 1].into_iter().filter(|axis| extents[*axis] == Extent::Dynamic) {
            self.valid[axis] = to(axis, self.valid[axis]);
        }
    }

    /// What the type leaves open is all of the tile.
    pub(super) fn fill(&mut self) {
        let declared = [self.tile.rows, self.tile.cols];
        self.set_open(|axis, _| Ext::Known(declared[axis]));
    }

    fn join(&mut self, other: &Object) {
        self.valid = [0, 1].map(|i| self.valid[i].join(other.valid[i]));
        if self.place != other.place || self.layout != other.layout {
            self.place = None;
        }
        self.manual |= other.manual;
    }
}

/// Padding that is not known: it makes no output empty.
pub(super) const ANY_PAD: [i64; 4] = [255; 4];

/// What SETFMATRIX and SET_IMG2COL_PADDING left on one of two ways (ops.md 7); what differs is not known.
fn join_config(a: &Attrs, b: &Attrs) -> Attrs {
    let mut all = a.or(b);
    for (name, _) in all.clone().iter().filter(|(name, _)| a.get(*name) != b.get(*name)) {
        all.set(name, Some(ANY_PAD).filter(|_| name == AttrName::Pad));
    }
    all
}

#[derive(Default)]
pub(super) struct State {
    /// By value of the function.
    pub env: Vec<Val>,
    pub objects: Vec<Object>,
    pub views: Vec<(GlobalArg, ViewTags)>,
    /// What SETFMATRIX and SET_IMG2COL_PADDING left, as far as it is known.
    pub config: Attrs,
    pub aliases: Aliases,
    log: Vec<(usize, Object)>,
    /// How many branches are open; without one nothing is logged.
    open: usize,
}

pub(super) struct Mark {
    log: usize,
    config: Attrs,
    aliases: Aliases,
}

/// What a branch did: the objects it changed, and the rest of the state at its end.
pub(super) struct Outcome {
    changed: FxHashMap<usize, Object>,
    config: Attrs,
    aliases: Aliases,
}

impl State {
    /// The state before anything of a function with this many values happened.
    pub(super) fn new(values: usize) -> State {
        State { env: vec![Val::None; values], ..State::default() }
    }

    pub(super) fn add(&mut self, object: Object) -> usize {
        self.objects.push(object);
        self.objects.len() - 1
    }

    pub(super) fn change(&mut self, id: usize, with: impl FnOnce(&mut Object)) {
        let object = &mut self.objects[id];
        if self.open > 0 {
            self.log.push((id, object.clone()));
        }
        with(object);
    }

    pub(super) fn branch(&mut self) -> Mark {
        self.open += 1;
        Mark { log: self.log.len(), config: self.config.clone(), aliases: self.aliases.clone() }
    }

    /// Ends a branch: the state is what it was at the mark.
    pub(super) fn undo(&mut self, mark: &Mark) -> Outcome {
        self.open -= 1;
        let mut changed = FxHashMap::default();
        for (id, old) in self.log.drain(mark.log..).rev() {
            let new = std::mem::replace(&mut self.objects[id], old);
            // The newest change is the first to be taken back.
            changed.entry(id).or_insert(new);
        }
        Outcome {
            changed,
            config: std::mem::replace(&mut self.config, mark.config.clone()),
            aliases: std::mem::replace(&mut self.aliases, mark.aliases.clone()),
        }
    }

    /// Makes the state what holds after either branch.
    pub(super) fn join(&mut self, a: Outcome, b: Outcome) {
        for (id, left) in &a.changed {
            let right = b.changed.get(id);
            self.change(*id, |object| match right {
                Some(right) => {
                    *object = left.clone();
                    object.join(right);
                }
                None => object.join(left),
            });
        }
        for (id, right) in b.changed.iter().filter(|(id, _)| !a.changed.contains_key(id)) {
            self.change(*id, |object| object.join(right));
        }
        self.config = join_config(&a.config, &b.config);
        self.aliases = a.aliases;
        self.aliases.join(b.aliases);
    }

    /// The tile that either of two values is.
    pub(super) fn either(&mut self, a: Val, b: Val) -> Val {
        match (a, b) {
            _ if a == b => a,
            (Val::Tile(x), Val::Tile(y)) => {
                let mut joined = self.objects[x].clone();
                joined.join(&self.objects[y]);
                joined.place = None;
                Val::Tile(self.add(joined))
            }
            (Val::Scalar(_), Val::Scalar(_)) => Val::Scalar(None),
            (Val::View(x), Val::View(y)) => {
                let joined = join_views(&self.views[x], &self.views[y]);
                joined.map_or(Val::None, |(view, tags)| self.add_view(view, tags))
            }
            _ => Val::None,
        }
    }

    pub(super) fn add_view(&mut self, view: GlobalArg, tags: ViewTags) -> Val {
        self.views.push((view, tags));
        Val::View(self.views.len() - 1)
    }
}

/// What is known of a view that is one of two.
fn join_views((a, tags): &(GlobalArg, ViewTags), (b, others): &(GlobalArg, ViewTags)) -> Option<(GlobalArg, ViewTags)> {
    if a.dims.len() != b.dims.len() || tags != others {
        return None;
    }
    let mut view = a.clone();
    view.offset = a.offset.filter(|_| a.offset == b.offset);
    view.dims.iter_mut().zip(&b.dims).filter(|(a, b)| *a != *b).for_each(|(dim, _)| *dim = None);
    view.strides.iter_mut().zip(&b.strides).filter(|(a, b)| *a != *b).for_each(|(stride, _)| *stride = None);
    Some((view, *tags))
}
