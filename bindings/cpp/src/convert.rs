//! From descriptors of the C ABI to the types of `tessera-isa`. Every tag and number is checked here.

use crate::abi::*;
use smallvec::SmallVec;
use tessera_exec::engine::IssueError;
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Fault};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AttrValue, Attrs, ConvType, Inst, Place, Root, ScalarArg, ScalarType, TileArg};
use tessera_isa::layout::Layout;
use tessera_isa::ops::{AttrKind, AttrName, Form, Opcode, Role, Shape};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_isa::tile::{BLayout, Compact, Extent, Loc, Pad, PadLiteral, SLayout, Tile, TileType};
use tessera_kernels::Failure;

/// Why a call did nothing.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub status: TesseraStatus,
    pub found: Vec<Diagnostic>,
}

impl Refusal {
    pub fn null() -> Self {
        let found = Diagnostic::error("binding", "a pointer that must not be null is null");
        Refusal { status: TesseraStatus::Null, found: vec![found] }
    }

    /// A tag, size, count or handle is not one that the call knows.
    pub fn argument(message: impl Into<String>) -> Self {
        Refusal { status: TesseraStatus::Argument, found: vec![Diagnostic::error("binding", message)] }
    }

    pub fn rules(found: Vec<Diagnostic>) -> Self {
        Refusal { status: TesseraStatus::Rule, found }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal::rules(vec![fault.into()])
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Refusal::rules(vec![*failure])
    }
}

impl From<IssueError> for Refusal {
    fn from(refused: IssueError) -> Self {
        Refusal::rules(refused.0)
    }
}

pub(crate) type Answer<T> = Result<T, Refusal>;

/// A broken rule that is an error refuses the call.
pub(crate) fn legal(fault: Option<Fault>) -> Answer<()> {
    fault.filter(Fault::is_error).map_or(Ok(()), |fault| Err(fault.into()))
}

/// What a tag stands for.
pub(crate) fn word<T: Copy>(all: &[T], tag: u32, what: &str) -> Answer<T> {
    let known = all.get(tag as usize).copied();
    known.ok_or_else(|| Refusal::argument(format!("{tag} is no tag of a {what}; there are 0 to {}", all.len() - 1)))
}

pub(crate) fn elem(tag: u32) -> Answer<Elem> {
    word(Elem::ALL, tag, "element type")
}

/// An instruction, which has a view of global memory or has none.
pub(crate) fn op(tag: u32, with_view: bool) -> Answer<Opcode> {
    let op = word(Opcode::WITH_CPP, tag, "instruction")?;
    let mut operands = op.info().forms.iter().flat_map(|f| f.operands());
    if operands.any(|o| o.role == Role::Global) != with_view {
        let what = if with_view { "has no view of global memory" } else { "has calls of its own" };
        return Err(Refusal::argument(format!("{} {what}", op.title())));
    }
    Ok(op)
}

fn extent(v: i64, what: &str) -> Answer<Extent> {
    match v {
        -1 => Ok(Extent::Dynamic),
        _ => u64::try_from(v)
            .map(Extent::Static)
            .map_err(|_| Refusal::argument(format!("a tile type has {v} {what}; they are -1 (dynamic) or at least 0"))),
    }
}

pub(crate) fn tile(t: &TesseraTile, profile: Profile) -> Answer<Tile> {
    let elem = elem(t.elem)?;
    // The low bytes of the payload are the element (cpp.md 8).
    let custom = Pad::Custom(PadLiteral::Bits(u64::from(t.pad_bits) & elem.mask()));
    let pad = word(&[Pad::Null, Pad::Zero, Pad::Max, Pad::Min, custom], t.pad, "pad value")?;
    let ty = TileType {
        loc: word(Loc::ALL, t.loc, "location")?,
        elem,
        rows: t.rows,
        cols: t.cols,
        v_row: extent(t.type_valid_row, "valid rows")?,
        v_col: extent(t.type_valid_col, "valid columns")?,
        blayout: Some(word(BLayout::ALL, t.blayout, "outer layout")?),
        slayout: Some(word(SLayout::ALL, t.slayout, "inner layout")?),
        fractal: Some(t.fractal),
        pad,
        compact: word(Compact::ALL, t.compact, "compact mode")?,
    };
    Ok(ty.resolve(profile))
}

/// Where a descriptor's storage is; `None` for a tile that is only a type.
pub(crate) fn place(kind: u32, storage: u64, offset: u64, loc: Loc) -> Answer<Option<Place>> {
    let beyond = || Refusal::argument(format!("address {storage:#x} plus offset {offset:#x} is beyond 2^64"));
    let unknown = |_| Refusal::argument(format!("{storage} is no handle of a storage"));
    let (root, start) = match kind {
        0 => return Ok(None),
        1 => (Root::Memory(loc), storage.checked_add(offset).ok_or_else(beyond)?),
        2 => (Root::Auto(u32::try_from(storage).map_err(unknown)?), offset),
        3 => (Root::Host, storage.checked_add(offset).ok_or_else(beyond)?),
        other => return Err(Refusal::argument(format!("{other} is no tag of a storage; there are 0 to 3"))),
    };
    Ok(Some(Place { root, start }))
}

/// A tile operand: type, layout, valid region and place, with the rules about them that no instruction owns.
pub(crate) fn tile_arg(role: Role, t: &TesseraTile, profile: Profile) -> Answer<TileArg> {
    let tile = tile(t, profile)?;
    // Type rules come first, so that later ones need not fear impossible shapes.
    legal(tile.fault(profile))?;
    let now = |v: i64, ty: Extent| {
        if v == -1 { ty.known().map(i128::from) } else { Some(i128::from(v)) }
    };
    let valid = [now(t.valid_row, tile.v_row), now(t.valid_col, tile.v_col)];
    legal(tessera_check::check_valid(&tile, valid))?;
    let place = place(t.storage_kind, t.storage, t.offset, tile.loc)?;
    Ok(TileArg {
        role,
        layout: layout(&tile, t.pitch)?,
        valid: valid.map(|v| v.and_then(|v| u64::try_from(v).ok())),
        tile,
        place,
    })
}

/// The layout of a tile, or of a view with a pitch of its own.
fn layout(tile: &Tile, pitch: u64) -> Answer<Layout> {
    if pitch == 0 {
        return Ok(tile.layout());
    }
    let (rows, cols) = (tile.rows, tile.cols);
    let own = if tile.blayout == BLayout::RowMajor { cols } else { rows };
    if tile.is_boxed() || pitch < own || pitch > u64::from(u32::MAX) {
        return Err(Refusal::argument(format!(
            "a pitch of {pitch} elements does not fit {tile}; a view has no boxes and a pitch of at least {own}"
        )));
    }
    Ok(match tile.blayout {
        BLayout::RowMajor => Layout::row_major(rows, cols, pitch),
        BLayout::ColMajor => Layout::col_major(rows, cols, pitch),
    })
}

pub(crate) fn conv(c: &TesseraConv) -> Answer<ConvType> {
    let has_depth = match c.has_depth {
        0 => false,
        1 => true,
        other => return Err(Refusal::argument(format!("has_depth is {other}; it is 0 or 1"))),
    };
    if !has_depth && c.dims[1] != 1 {
        return Err(Refusal::argument(format!("a conv tile without depth has D = {}; D is 1", c.dims[1])));
    }
    Ok(ConvType { loc: word(Loc::ALL, c.loc, "location")?, has_depth, dims: c.dims, elem: elem(c.elem)? })
}

pub(crate) fn number(kind: u32, bits: u64) -> Answer<Number> {
    word(&[(bits as i64).into(), bits.into(), Number::Float(f64::from_bits(bits))], kind, "number")
}

pub(crate) fn attrs(op: Opcode, list: &[TesseraAttr]) -> Answer<Attrs> {
    let mut attrs = Attrs::default();
    for attr in list {
        let name = word(AttrName::ALL, attr.name, "attribute")?;
        // SETFMATRIX takes its part of a configuration of TIMG2COL.
        if !op.info().attrs.contains(&name) {
            continue;
        }
        let [first, ..] = attr.values;
        let value = match name.info().kind {
            AttrKind::Word { list, .. } => {
                let tag = u32::try_from(first).unwrap_or(u32::MAX);
                word(list, tag, name.cpp()).map(|_| AttrValue::Word(tag as u8))?
            }
            AttrKind::Int(_) => first.into(),
            AttrKind::Bool => AttrValue::Bool(first != 0),
            AttrKind::Ints(_) => attr.values.into(),
            AttrKind::Number => number(attr.kind, first as u64)?.into(),
            // Names belong to text.
            AttrKind::Name => continue,
        };
        attrs.set(name, Some(value));
    }
    Ok(attrs)
}

/// What a caller says of an instruction besides its opcode and form.
pub(crate) struct Operands<'a> {
    pub tiles: &'a [TesseraTileArg],
    pub scalars: &'a [TesseraScalar],
    pub attrs: &'a [TesseraAttr],
    pub words: &'a [u64],
    pub conv: Option<&'a TesseraConv>,
}

/// The instruction in the form that its operands make.
pub(crate) fn inst(op: Opcode, form: u32, profile: Profile, operands: &Operands<'_>) -> Answer<Inst> {
    let attrs = attrs(op, operands.attrs)?;
    let form = word(Form::ALL, form, "form")?;
    let role = |tag| word(Role::ALL, tag, "role");
    let tiles = operands.tiles.iter().map(|arg| Ok((role(arg.role)?, &arg.tile)));
    let tiles = tiles.collect::<Answer<SmallVec<[_; 8]>>>()?;
    let scalars = operands.scalars.iter().map(|s| {
        let ty = s.elem.checked_sub(1).map(|tag| elem(tag).map(ScalarType::of)).transpose()?;
        Ok(ScalarArg { ty, ..ScalarArg::new(role(s.role)?, number(s.kind, s.bits)?) })
    });
    let scalars = scalars.collect::<Answer<SmallVec<[_; 4]>>>()?;
    let conv = operands.conv.map(|c| conv(c).map(|ty| (c, ty))).transpose()?;
    let conv_role = conv.as_ref().map(|_| Role::Src);
    // The view is given beside the instruction.
    let has_view = op.form(form).or(op.info().forms.first()).is_some_and(|f| f.operand(Role::Global).is_some());
    let view = has_view.then_some(Role::Global);
    // And the scalar that it gives comes back.
    let value = matches!(op.info().sem, Sem::Gets).then_some(Role::Value);
    // What text writes behind a word tells no forms apart.
    let is_worded = |s: &&ScalarArg| op.info().forms.iter().any(|f| f.operand(s.role).is_some_and(|o| o.is_worded));
    let numbers = || scalars.iter().filter(|s| !is_worded(s)).map(|s| s.role);
    let given = || tiles.iter().map(|t| t.0).chain(numbers()).chain(conv_role).chain(view).chain(value);
    // The first form with these operands, unless one is asked for that has them in another order.
    let is_asked = |f: &&Shape| form == Form::Plain || f.form == form;
    let form = op.shapes().iter().filter(is_asked).find(|f| same_roles(f, given())).ok_or_else(|| {
        let roles: Vec<&str> = given().map(Role::name).collect();
        Refusal::argument(format!("{} has no form with the operands {}", op.title(), roles.join(", ")))
    })?;
    let mut inst = Inst { attrs, ..Inst::new(op, form.form, profile) };
    for role in form.ins.iter().chain(&form.outs) {
        if let Some((_, t)) = tiles.iter().find(|t| t.0 == *role) {
            inst.tiles.push(tile_arg(*role, t, profile)?);
        } else if let Some(scalar) = scalars.iter().find(|s| s.role == *role) {
            inst.scalars.push(*scalar);
        } else if let Some((descriptor, conv)) = conv.as_ref().filter(|_| *role == Role::Src) {
            inst.tiles.push(conv_arg(*role, descriptor, conv, profile)?);
        }
    }
    inst.scalars.extend(scalars.iter().filter(is_worded).copied());
    inst.conv = conv.map(|(_, conv)| conv);
    // A fill value converts as C++ converts it: to the nearest one.
    if let Some(elem) = inst.dst().map(|dst| dst.tile.elem) {
        let fills = inst.scalars.iter_mut().filter(|s| s.role == Role::Fill && s.ty.is_none());
        fills.for_each(|s| s.value = s.value.map(|v| elem.converted(v)));
    }
    Ok(inst)
}

/// A conv tile as an operand: placement and paths see it as one row.
pub(crate) fn conv_arg(role: Role, c: &TesseraConv, conv: &ConvType, profile: Profile) -> Answer<TileArg> {
    legal(tessera_check::check_conv(conv, profile))?;
    Ok(TileArg { place: place(c.storage_kind, c.storage, 0, conv.loc)?, ..TileArg::of_type(role, conv.as_tile()) })
}

/// Has the form exactly these operands?
fn same_roles(form: &Shape, given: impl Iterator<Item = Role> + Clone) -> bool {
    let wanted = || form.ins.iter().chain(&form.outs);
    given.clone().count() == wanted().count() && wanted().all(|role| given.clone().filter(|g| g == role).count() == 1)
}
