//! Types of values, interned per module.

use crate::TypeId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::inst::ConvType;
pub use tessera_isa::inst::{ScalarType, Sign};
use tessera_isa::ops::{Kind, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Extent, Loc, SLayout, Tile, TileType};
use tessera_micro::{MicroType, Space, Ty};

/// A view of global memory, `!pto.tensor_view<…>` or `!pto.partition_tensor_view<…>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewType {
    /// A window of another view.
    pub partition: bool,
    /// Extents; `None` is `?`.
    pub dims: SmallVec<[Option<u64>; 5]>,
    pub elem: Elem,
}

/// `strided<[…], offset: n>` of a memref; `None` is `?`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strided {
    pub strides: SmallVec<[Option<i64>; 5]>,
    pub offset: Option<i64>,
}

/// A `memref<…>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemrefType {
    /// Extents; `None` is `?`.
    pub dims: SmallVec<[Option<u64>; 5]>,
    pub elem: Elem,
    /// `strided<[…], offset: n>`; left out is dense.
    pub strided: Option<Strided>,
    /// `#pto.address_space<…>`, as written.
    pub space: Option<Box<str>>,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Tile(TileType),
    Conv(ConvType),
    /// `!pto.multi_tile_buf<…, count=n>`: equal tiles, one after the other (isa/today.md 5.2).
    Multi(TileType, u64),
    /// `!pto.ptr<elem[, space]>`.
    Ptr(Elem, Option<Box<str>>),
    /// A view of global memory.
    View(ViewType),
    Memref(MemrefType),
    /// A vector register, a predicate register, or the state of an unaligned stream.
    Micro(MicroType),
    /// `!pto.event`.
    Event,
    /// Another type of the dialect, whose values nothing here looks into: `!pto.pipe`.
    Opaque(Box<str>),
    Scalar(ScalarType),
    /// `vector<4xi16>`: the number of elements, in which TMRGSORT counts (isa/irregular.md 9), and their type.
    Vector(u64, ScalarType),
}

impl Type {
    /// The tile type, if it is one.
    pub fn tile(&self) -> Option<&TileType> {
        match self {
            Type::Tile(t) => Some(t),
            _ => None,
        }
    }

    /// The tile on a profile; a conv tile, a multi-buffer tile and a vector count as one row.
    pub fn on(&self, profile: Profile) -> Option<Tile> {
        match self {
            Type::Tile(tile) => Some(tile.resolve(profile)),
            Type::Conv(conv) => Some(conv.as_tile()),
            Type::Multi(slot, count) => Some(row_of_slots(&slot.resolve(profile), *count)),
            Type::Vector(len, ty) => Some(row_of(*len, *ty)),
            _ => None,
        }
    }

    /// The type as micro instructions see it.
    pub fn micro(&self) -> Ty {
        match self {
            Type::Micro(ty) => Ty::Micro(*ty),
            Type::Scalar(ty) => Ty::Scalar(*ty),
            Type::Ptr(elem, _) => self.space().map_or(Ty::Other, |space| Ty::Ptr(*elem, space)),
            _ => Ty::Other,
        }
    }

    /// The memory that a pointer points into; none of what is no pointer, or where the word names no memory.
    pub fn space(&self) -> Option<Space> {
        match self {
            Type::Ptr(_, None) => Some(Space::Gm),
            Type::Ptr(_, Some(word)) => {
                let named = word.strip_prefix("#pto.address_space<").and_then(|text| text.strip_suffix('>'));
                Space::parse(named.unwrap_or(word))
            }
            _ => None,
        }
    }

    /// Whether it is `i1`.
    pub fn is_flag(&self) -> bool {
        matches!(self, Type::Scalar(ScalarType::Int(1, _)))
    }

    /// The element type behind a pointer, view or memref.
    pub fn global_elem(&self) -> Option<Elem> {
        match self {
            Type::Ptr(elem, _) => Some(*elem),
            Type::View(view) => Some(view.elem),
            Type::Memref(memref) => Some(memref.elem),
            _ => None,
        }
    }

    /// Whether a value of this type can play this role.
    pub fn plays(&self, role: Role) -> bool {
        match (role, role.kind()) {
            (role, _) if role.is_view() => self.global_elem().is_some(),
            (_, Kind::Tile | Kind::Conv) => matches!(self, Type::Tile(_) | Type::Conv(_)),
            (_, Kind::Index) => matches!(self, Type::Scalar(ScalarType::Index | ScalarType::Int(..))),
            (_, Kind::Quant) => matches!(self, Type::Scalar(ScalarType::Index | ScalarType::Int(64, _))),
            (_, Kind::Fill) => matches!(self, Type::Scalar(_)),
            (_, Kind::Pipe) => matches!(self, Type::Opaque(name) if &**name == "!pto.pipe"),
            (_, Kind::Async) => matches!(self, Type::Opaque(name) if name.starts_with("!pto.async_")),
            (_, Kind::Counts) => matches!(self, Type::Vector(4, ScalarType::Int(16, _))),
        }
    }

    /// The number of ids in an array of ids of flags (sync.md 2); `None` if it is no such array, or one of more than
    /// 64 ids.
    pub fn id_array(&self) -> Option<usize> {
        let Type::Opaque(text) = self else { return None };
        let count = text.strip_prefix("!pto.eventid_array<")?.strip_suffix('>')?;
        count.trim().parse().ok().filter(|n| *n <= 64)
    }

    /// The slots of an array of ids, a local array or a struct (sync.md 2, isa/today.md 4.3).
    pub fn stack_slots(&self) -> Option<StackSlots> {
        let Type::Opaque(text) = self else { return None };
        if let Some(count) = self.id_array() {
            return Some(StackSlots::Array { dims: SmallVec::from_slice(&[count as u64]), elem: ScalarType::Index });
        }
        if let Some(body) = text.strip_prefix("!pto.local_array<").and_then(|t| t.strip_suffix('>')) {
            let mut parts: Vec<&str> = body.trim().split('x').collect();
            let elem = slot_type(parts.pop()?)?;
            let dims =
                parts.iter().map(|n| n.parse().ok().filter(|n| *n > 0)).collect::<Option<SmallVec<[u64; 4]>>>()?;
            let count = dims.iter().fold(1u64, |all, n| all.saturating_mul(*n));
            return (!dims.is_empty() && count <= MAX_SLOTS).then_some(StackSlots::Array { dims, elem });
        }
        let fields = fields(text.strip_prefix("!pto.struct<")?.strip_suffix('>')?, 0)?;
        Some(StackSlots::Struct(fields))
    }

    /// Whether its values lie in a memory of the core: a tile, a conv tile or a multi-buffer tile.
    pub fn is_tile(&self) -> bool {
        matches!(self, Type::Tile(_) | Type::Conv(_) | Type::Multi(..))
    }

    /// The type of a slot of a multi-buffer tile, and the number of slots.
    pub fn slots(&self) -> Option<(&TileType, u64)> {
        match self {
            Type::Multi(slot, count) => Some((slot, *count)),
            _ => None,
        }
    }

    /// Whether the two may be the same type on some profile.
    pub fn may_become(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Tile(a), Type::Tile(b)) => {
                (a.loc, a.elem, a.rows, a.cols, a.v_row, a.v_col) == (b.loc, b.elem, b.rows, b.cols, b.v_row, b.v_col)
            }
            (Type::Multi(a, n), Type::Multi(b, m)) => n == m && Type::Tile(*a).may_become(&Type::Tile(*b)),
            _ => self == other,
        }
    }

    /// Whether two types are the same on a profile (syntax.md 3: compared after resolution).
    pub fn same(&self, other: &Type, profile: Profile) -> bool {
        match (self, other) {
            (Type::Tile(a), Type::Tile(b)) => same_tile(&a.resolve(profile), &b.resolve(profile)),
            (Type::Multi(a, n), Type::Multi(b, m)) => n == m && same_tile(&a.resolve(profile), &b.resolve(profile)),
            (Type::Ptr(a, _), Type::Ptr(b, _)) if self.space().is_some() => a == b && self.space() == other.space(),
            _ => self == other,
        }
    }
}

/// More elements than this are no stack.
const MAX_SLOTS: u64 = 1 << 16;

/// The slots of a stack value: scalars that operations copy in and out.
#[derive(Clone, Debug, PartialEq)]
pub enum StackSlots {
    Array { dims: SmallVec<[u64; 4]>, elem: ScalarType },
    Struct(Vec<Field>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Scalar(ScalarType),
    Struct(Vec<Field>),
}

impl Field {
    fn count(&self) -> usize {
        match self {
            Field::Scalar(_) => 1,
            Field::Struct(fields) => fields.iter().map(Field::count).sum(),
        }
    }
}

impl StackSlots {
    /// The number of scalars that it holds.
    pub fn count(&self) -> usize {
        match self {
            StackSlots::Array { dims, .. } => dims.iter().fold(1, |all, n| all * *n as usize),
            StackSlots::Struct(fields) => fields.iter().map(Field::count).sum(),
        }
    }

    /// The place of an element, counted from the first one; else the dimension and the index that leave the array.
    pub fn element(&self, places: &[i64]) -> Result<usize, (usize, i64)> {
        let StackSlots::Array { dims, .. } = self else {
            let last = places.last().copied().unwrap_or_default();
            return self.field(places).map(|(n, _)| n).ok_or((places.len().saturating_sub(1), last));
        };
        let mut at = 0usize;
        for (n, (dim, place)) in dims.iter().zip(places).enumerate() {
            let inside = u64::try_from(*place).ok().filter(|place| place < dim).ok_or((n, *place))?;
            at = at * *dim as usize + inside as usize;
        }
        Ok(at)
    }

    /// The type of what an operation with this path reads or writes.
    pub fn type_at(&self, path: &[i64]) -> Option<ScalarType> {
        match self {
            StackSlots::Array { elem, .. } => Some(*elem),
            StackSlots::Struct(_) => self.field(path).map(|(_, ty)| ty),
        }
    }

    /// The scalar of a path, counted from the first one, with its type; none where the path is no scalar's.
    pub fn field(&self, path: &[i64]) -> Option<(usize, ScalarType)> {
        let StackSlots::Struct(fields) = self else { return None };
        let (mut fields, mut at) = (fields.as_slice(), 0);
        for (n, step) in path.iter().enumerate() {
            let step = usize::try_from(*step).ok().filter(|step| *step < fields.len())?;
            at += fields.iter().take(step).map(Field::count).sum::<usize>();
            match fields.get(step)? {
                Field::Struct(inner) => fields = inner,
                Field::Scalar(ty) => return (n + 1 == path.len()).then_some((at, *ty)),
            }
        }
        None
    }
}

/// An element of an array or struct: a number of 8 to 64 bits.
fn slot_type(text: &str) -> Option<ScalarType> {
    let signs = [("si", Sign::Signed), ("ui", Sign::Unsigned), ("i", Sign::None)];
    let integer = signs.into_iter().find_map(|(prefix, sign)| Some((text.strip_prefix(prefix)?.parse().ok()?, sign)));
    match (text, integer) {
        (_, Some((bits @ (8 | 16 | 32 | 64), sign))) => Some(ScalarType::Int(bits, sign)),
        _ => Elem::parse(text).filter(|e| e.is_float() && e.bits() >= 8).map(ScalarType::Float),
    }
}

/// The fields between the brackets of a struct type.
fn fields(body: &str, depth: u32) -> Option<Vec<Field>> {
    let (mut out, mut rest) = (Vec::new(), body.trim());
    while !rest.is_empty() {
        let mut level = 0i32;
        let end = rest.find(|c| {
            level += i32::from(c == '<') - i32::from(c == '>');
            c == ',' && level == 0
        });
        let (item, tail) = rest.split_at(end.unwrap_or(rest.len()));
        let item = item.trim();
        let inner = item.strip_prefix("!pto.struct<").and_then(|t| t.strip_suffix('>'));
        out.push(match inner {
            Some(inner) if depth < 16 => Field::Struct(fields(inner, depth + 1)?),
            Some(_) => return None,
            None => Field::Scalar(slot_type(item)?),
        });
        rest = tail.trim_start_matches(',').trim();
    }
    (!out.is_empty()).then_some(out)
}

/// The numbers of a vector as the valid columns of a row; it lies in no memory of the core.
fn row_of(len: u64, ty: ScalarType) -> Tile {
    let elem = match ty {
        ScalarType::Float(elem) => elem,
        ScalarType::Int(..=8, _) => Elem::U8,
        ScalarType::Int(..=16, _) => Elem::U16,
        ScalarType::Int(..=32, _) => Elem::U32,
        _ => Elem::U64,
    };
    let row = TileType::new(Loc::Vec, elem, 1, len.next_multiple_of(elem.c0()));
    TileType { v_col: Extent::Static(len), ..row }.resolve(Profile::Cpu)
}

/// The bytes of a multi-buffer tile as one row: slot k begins at k times the bytes of a slot (isa/today.md 5.2).
fn row_of_slots(slot: &Tile, count: u64) -> Tile {
    let bytes = slot.bytes().saturating_mul(count);
    let row = TileType::new(slot.loc, Elem::U8, 1, bytes).with_layout(BLayout::RowMajor, SLayout::NoneBox, 512);
    Tile { loc: slot.loc, blayout: BLayout::RowMajor, ..row.resolve(Profile::Cpu) }
}

fn same_tile(a: &Tile, b: &Tile) -> bool {
    // Without boxes the fractal has no meaning, so it does not tell types apart.
    let unboxed = !a.is_boxed() && !b.is_boxed();
    let with = |t: &Tile| Tile { fractal: if unboxed { 512 } else { t.fractal }, ..*t };
    with(a) == with(b)
}

/// Every type of a module, once.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    types: Vec<Type>,
    ids: FxHashMap<Type, TypeId>,
}

impl TypeTable {
    /// The id of a type, new or known.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        let id = TypeId(self.types.len() as u32);
        self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// The type of an id of this module.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// Whether the id is one of this module's.
    pub fn contains(&self, id: TypeId) -> bool {
        id.index() < self.types.len()
    }
}
