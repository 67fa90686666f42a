//! Names: what is visible where, definitions, and uses with their types.

use super::{Parser, Raw, RawArg, Res, Results, TypeAt, UNKNOWN};
use crate::sink::shown;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use tessera_ir::{Arg, Def, NameId, Operand, ScalarType, Sign, Type, TypeId, TypeTable, Value, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Kind, Role};

/// Types that the parser gives to operands without a written one.
#[derive(Default)]
pub(super) struct CommonTypes {
    pub index: TypeId,
    pub i1: TypeId,
    pub i64: TypeId,
}

impl CommonTypes {
    pub fn new(types: &mut TypeTable) -> Self {
        CommonTypes {
            index: types.intern(Type::Scalar(ScalarType::Index)),
            i1: types.intern(Type::Scalar(ScalarType::Int(1, Sign::None))),
            i64: types.intern(Type::Scalar(ScalarType::Int(64, Sign::None))),
        }
    }
}

/// The meaning of names at the place that is being read.
#[derive(Default)]
pub(super) struct Scope {
    /// By name: the value, with the function that has defined it; it is visible if that is the current one.
    visible: Vec<(u32, ValueId)>,
    /// The current function, counted from 1.
    function: u32,
    regions: Vec<Vec<NameId>>,
    /// By name: where it was defined in a region that has ended.
    ended: rustc_hash::FxHashMap<NameId, Span>,
    /// Names whose absence has been reported.
    reported: FxHashSet<NameId>,
    /// Values of broken statements, whose type is not known.
    pub poisoned: FxHashSet<ValueId>,
    /// Values that a listing's `tassign` has named before they are defined.
    pub forward: FxHashSet<ValueId>,
    /// The same values, also after they were defined.
    pub named_first: FxHashSet<ValueId>,
    /// The base from which a reinterpreted memref counts its offset: the value that its chain of casts starts with.
    pub bases: rustc_hash::FxHashMap<ValueId, ValueId>,
    /// Windows of views whose type is inferred: a use may say more, and has leading extents of 1 as it likes.
    pub windows: FxHashSet<ValueId>,
    /// Inputs of a listing whose type is only the usual one for their role, with that.
    pub defaulted: rustc_hash::FxHashMap<ValueId, Role>,
}

impl Scope {
    pub fn new() -> Self {
        let mut scope = Scope::default();
        scope.clear();
        scope
    }

    pub fn find(&self, name: NameId) -> Option<ValueId> {
        let (function, value) = *self.visible.get(name.index())?;
        (function == self.function).then_some(value)
    }

    fn set(&mut self, name: NameId, value: ValueId) {
        if self.visible.len() <= name.index() {
            self.visible.resize(name.index() + 1, (0, value));
        }
        self.visible[name.index()] = (self.function, value);
    }

    /// Makes a name stand for a value that has another one.
    pub fn rename(&mut self, name: NameId, value: ValueId) {
        self.set(name, value);
        if let Some(region) = self.regions.last_mut() {
            region.push(name);
        }
    }

    /// Forgets every name, for the next function; what is as long as the program is kept.
    pub fn clear(&mut self) {
        *self = Scope { visible: std::mem::take(&mut self.visible), function: self.function + 1, ..Scope::default() };
    }

    pub fn open(&mut self) {
        self.regions.push(Vec::new());
    }
}

impl Parser<'_> {
    /// The id of a `%name` or `@name` token.
    pub(super) fn name_of(&mut self, span: Span) -> NameId {
        let text = self.slice(span);
        let text = text.strip_prefix(['%', '@', '^']).unwrap_or(text);
        let text = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
        self.module.names.intern(text)
    }

    /// Makes names of the region that ends invisible.
    pub(super) fn close_scope(&mut self) {
        for name in self.scope.regions.pop().unwrap_or_default() {
            let Some(v) = self.scope.find(name) else { continue };
            self.scope.ended.insert(name, self.func.value(v).span);
            self.scope.visible[name.index()].0 = 0;
        }
    }

    fn add_value(&mut self, name: NameId, ty: TypeAt, def: Def, span: Span) -> ValueId {
        let value = self.func.add_value(Value { name, ty: ty.0, def, span, type_span: ty.1 });
        self.scope.set(name, value);
        if let Some(region) = self.scope.regions.last_mut() {
            region.push(name);
        }
        value
    }

    /// A new value; a name that is taken is reported, and the new value hides the old one.
    pub(super) fn define(&mut self, name: NameId, ty: TypeAt, def: Def, span: Span) -> ValueId {
        let Some(old) = self.scope.find(name) else {
            return self.add_value(name, ty, def, span);
        };
        if self.scope.forward.remove(&old) {
            *self.func.value_mut(old) = Value { name, ty: ty.0, def, span, type_span: ty.1 };
            return old;
        }
        if !self.scope.poisoned.contains(&old) {
            let first = self.func.value(old).span;
            let text = shown(self.module.names.text(name));
            if matches!(self.func.value(old).def, Def::Input | Def::ListingOut) {
                self.push(
                    Diagnostic::error("undefined-name", format!("%{text} is used before it is defined"))
                        .at(first, "used here")
                        .and_at(span, "defined here")
                        .help("move the definition up, or give it another name"),
                );
            } else {
                let _: Res<()> = self.redefined(format!("%{text} is defined twice"), span, first);
            }
        }
        self.add_value(name, ty, def, span)
    }

    /// Lets the results of a broken statement count as defined.
    pub(super) fn poison(&mut self, results: &Results) {
        for (name, span) in &results.names {
            let value = match self.scope.find(*name) {
                Some(v) if self.scope.forward.remove(&v) => v,
                Some(_) => continue,
                None => self.add_value(*name, (UNKNOWN, *span), Def::Input, *span),
            };
            self.scope.poisoned.insert(value);
        }
    }

    pub(super) fn type_of_value(&self, value: ValueId) -> Option<&Type> {
        let id = self.func.value(value).ty;
        (id != UNKNOWN).then(|| self.module.types.get(id))
    }

    /// The known type of an operand before the operand is resolved.
    pub(super) fn raw_type(&self, raw: &Raw) -> Option<TypeId> {
        if let RawArg::Name(name) = raw.what
            && let Some(v) = self.scope.find(name)
        {
            let id = self.func.value(v).ty;
            let usual = self.scope.defaulted.contains_key(&v) && raw.ty.is_some();
            if id != UNKNOWN && !usual {
                return Some(id);
            }
        }
        raw.ty.map(|(id, _)| id)
    }

    /// An operand that is looked up, with its type checked. `usual` is the type of a listing's input that has none.
    ///
    /// Gives `None` where the name is not defined, which is reported.
    pub(super) fn resolve(&mut self, raw: &Raw, role: Role, usual: Option<TypeId>) -> Option<Operand> {
        let type_span = raw.ty.map_or(raw.span, |(_, span)| span);
        let name = match raw.what {
            RawArg::Name(name) => name,
            RawArg::Int(n) => return Some(Operand { role, arg: Arg::Int(n), span: raw.span, type_span }),
        };
        let value = match self.scope.find(name) {
            Some(v) => {
                self.check_use(v, raw, role);
                v
            }
            None if self.lex.listing => self.new_input(name, raw, role, usual)?,
            None => {
                self.undefined(name, raw.span);
                return None;
            }
        };
        Some(Operand { role, arg: Arg::Value(value), span: raw.span, type_span })
    }

    /// A name that a listing uses and has not defined: an input, or a tile that it only writes.
    fn new_input(&mut self, name: NameId, raw: &Raw, role: Role, usual: Option<TypeId>) -> Option<ValueId> {
        let def = input_def(role);
        // Inputs belong to the whole listing, also when a loop uses them first.
        let frames = std::mem::take(&mut self.scope.regions);
        let value = match (raw.ty, usual) {
            (Some(ty), _) => Some(self.add_value(name, ty, def, raw.span)),
            (None, Some(usual)) => {
                let v = self.add_value(name, (usual, raw.span), def, raw.span);
                self.scope.defaulted.insert(v, role);
                Some(v)
            }
            (None, None) => None,
        };
        self.scope.regions = frames;
        if value.is_none() && self.scope.reported.insert(name) {
            let text = format!("%{} is not defined and has no type here", shown(self.module.names.text(name)));
            let at = (raw.span, "an input needs a type");
            let _: Res<()> = self.fail_at("undefined-name", at, text, "write the types behind `:`");
        }
        value
    }

    /// A use of a value that is known: the written type is the definition's.
    fn check_use(&mut self, value: ValueId, raw: &Raw, role: Role) {
        if self.scope.poisoned.contains(&value) {
            return;
        }
        if self.scope.forward.contains(&value) {
            // A listing's `tassign` has named it; now it is an input or output, if this use says its type.
            if let Some(ty) = raw.ty {
                self.scope.forward.remove(&value);
                let v = self.func.value_mut(value);
                (v.ty, v.type_span, v.def) = (ty.0, ty.1, input_def(role));
            }
            return;
        }
        let Some((written, span)) = raw.ty else { return };
        self.check_strides(value, span);
        let known = self.func.value(value).ty;
        if known == written || known == UNKNOWN {
            return;
        }
        let ty = self.module.types.get(written);
        let plays = |role: &Role| ty.plays(*role);
        if matches!(ty, Type::Scalar(_)) && self.scope.defaulted.get(&value).is_some_and(plays) {
            self.scope.defaulted.remove(&value);
            let v = self.func.value_mut(value);
            (v.ty, v.type_span) = (written, span);
            return;
        }
        if !self.module.types.get(known).same(self.module.types.get(written), self.profile())
            && !self.says(value, (written, span))
        {
            self.mismatch(value, written, span);
        }
    }

    /// Whether a type is a less specific form of a value's type, without contradicting it. A memref leaves out the
    /// layout and valid region of a tile, and may leave extents open. `tensor_view<2xf32>` gives the rank only
    /// (isa/structure.md 2 and 7).
    pub(super) fn says(&self, value: ValueId, (written, span): TypeAt) -> bool {
        let is_memref = self.slice(span).starts_with("memref");
        match (self.module.types.get(self.func.value(value).ty), self.module.types.get(written)) {
            (Type::Tile(a), Type::Tile(b)) => {
                is_memref && (a.loc, a.elem, a.rows, a.cols) == (b.loc, b.elem, b.rows, b.cols)
            }
            (Type::Memref(a), Type::Memref(b)) => {
                let fits = |(a, b): (&Option<u64>, &Option<u64>)| a.is_none() || b.is_none() || a == b;
                a.elem == b.elem && a.dims.len() == b.dims.len() && a.dims.iter().zip(&b.dims).all(fits)
            }
            (Type::View(a), Type::View(b)) if a.partition && b.partition && self.scope.windows.contains(&value) => {
                // Constants of another rank are upper bounds.
                let fits = |(a, b): (&Option<u64>, &Option<u64>)| a.zip(*b).is_none_or(|(a, b)| a <= b);
                let (own, other) = (without_ones(&a.dims), without_ones(&b.dims));
                a.elem == b.elem && own.len() == other.len() && own.iter().zip(other).all(fits)
            }
            (Type::View(a), Type::View(b)) => a.elem == b.elem && rank_of(&b.dims) == Some(a.dims.len()),
            _ => false,
        }
    }

    pub(super) fn undefined(&mut self, name: NameId, span: Span) {
        if !self.scope.reported.insert(name) {
            return;
        }
        let text = shown(self.module.names.text(name));
        let mut diagnostic = Diagnostic::error("undefined-name", format!("%{text} is not defined here"))
            .at(span, "not defined")
            .help("define it before its first use");
        if let Some(at) = self.scope.ended.get(&name) {
            diagnostic = diagnostic
                .and_at(*at, "this definition ends with its region")
                .help("define it outside of the region, or yield it as a result");
        } else {
            let function = self.scope.function;
            let visible = self.scope.visible.iter().enumerate().filter(|(_, v)| v.0 == function);
            let names: SmallVec<[&str; 16]> =
                visible.take(1000).map(|(i, _)| self.module.names.text(NameId(i as u32))).collect();
            let known = self.module.names.text(name);
            if let Some(near) = tessera_isa::diag::nearest(known, names.iter().copied().filter(|n| *n != known))
                && known.len() >= 3
            {
                diagnostic = diagnostic.help(format!("did you mean `%{near}`?"));
            }
        }
        self.push(diagnostic);
    }

    /// The type of an input that plays a role and has none written (syntax.md 1).
    pub(super) fn usual_type(&mut self, role: Role, elem: Option<Elem>) -> Option<TypeId> {
        match role.kind() {
            Kind::Index => Some(self.common.index),
            Kind::Quant => Some(self.common.i64),
            Kind::Fill => elem.map(|e| self.module.types.intern(Type::Scalar(ScalarType::of(e)))),
            Kind::Tile | Kind::Conv | Kind::Counts | Kind::Pipe | Kind::Async => None,
        }
    }
}

/// The rank that a view type of one number says, `tensor_view<2xf32>`.
pub(super) fn rank_of(dims: &[Option<u64>]) -> Option<usize> {
    match dims {
        [Some(rank @ 2..=5)] => Some(*rank as usize),
        _ => None,
    }
}

/// The extents behind leading ones.
fn without_ones(dims: &[Option<u64>]) -> &[Option<u64>] {
    let ones = dims.iter().take(dims.len().saturating_sub(1)).take_while(|n| **n == Some(1)).count();
    dims.get(ones..).unwrap_or_default()
}

fn input_def(role: Role) -> Def {
    if role.is_dst() { Def::ListingOut } else { Def::Input }
}
