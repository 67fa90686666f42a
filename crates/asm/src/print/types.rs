//! Canonical text of types (syntax.md 3).
//!
//! In a module nothing is left out of a tile's type, as assemblers want it; layouts that the text leaves out are those of
//! the profile that it was read on. In a listing a tile type with its layout written is printed compact, one with its
//! layout left out short or verbose, so that what was left out stays left out.

use std::fmt::Write;
use tessera_ir::{MemrefType, ScalarType, Sign, Strided, Type, TypeId, ViewType};
use tessera_isa::elem::Elem;
use tessera_isa::inst::ConvType;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Compact, Extent, Loc, Pad, SLayout, TileType};

/// The canonical text of a type.
///
/// ```
/// let ty = tessera_asm::parse_type("!pto.tile<loc=vec, dtype=half, rows=16, cols=32>").unwrap();
/// assert_eq!(tessera_asm::print_type(&ty), "!pto.tile<16x32xf16>");
/// ```
pub fn print_type(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty, "!pto.tile");
    out
}

pub(crate) fn pad_text(pad: &Pad) -> String {
    match pad {
        Pad::Null => "null".into(),
        Pad::Zero => "zero".into(),
        Pad::Max => "max".into(),
        Pad::Min => "min".into(),
        Pad::Custom(literal) => format!("custom({literal})"),
    }
}

impl super::Printer<'_> {
    /// The text of a type in the printed version. In a module of tile_bufs nothing is left out, as assemblers want it.
    pub(super) fn write_type(&mut self, id: TypeId) -> &mut Self {
        let (ty, tile) = (self.module.types.get(id), self.tile);
        if self.module.is_listing {
            write_type(&mut self.out, ty, tile);
            return self;
        }
        let in_dialect = tile == super::TILE;
        let later = |elem: Elem| later_elem(elem).filter(|_| self.is_later()).unwrap_or(elem.mlir());
        match ty {
            Type::Tile(t) => {
                let profile = self.module.profile.unwrap_or(Profile::Cpu);
                let whole = t.resolve(profile);
                let (b, s, fractal) = (whole.blayout, whole.slayout, whole.fractal);
                let mut written =
                    t.with_layout(t.blayout.unwrap_or(b), t.slayout.unwrap_or(s), t.fractal.unwrap_or(fractal));
                let mut elem = if in_dialect { t.elem.mlir() } else { t.elem.name() };
                if in_dialect && self.is_later() {
                    let by_layout = written.with_location(Loc::Scaling).resolve(profile).loc;
                    written.loc = if by_layout == t.loc { Loc::Scaling } else { t.loc };
                    elem = in_pairs(&mut written).unwrap_or(elem);
                }
                let _ = write!(self.out, "{tile}<");
                write_tile(&mut self.out, &written, elem, in_dialect);
                self.text(">")
            }
            Type::View(v) if !v.elem.is_fp4() => {
                let elem = later(v.elem);
                write_view(&mut self.out, v, elem);
                self
            }
            Type::Ptr(elem, space) if !elem.is_fp4() => match space {
                Some(space) => write!(self, "!pto.ptr<{}, {space}>", later(*elem)),
                None => write!(self, "!pto.ptr<{}>", later(*elem)),
            },
            _ => {
                write_type(&mut self.out, ty, tile);
                self
            }
        }
    }
}

/// The name of an element type that later versions have a type for (isa/today.md 2).
fn later_elem(elem: Elem) -> Option<&'static str> {
    match elem {
        Elem::Hif8 => Some("!pto.hif8"),
        Elem::F8e8m0 => Some("!pto.f8E8M0"),
        Elem::F4e2m1x2 => Some("!pto.f4E2M1x2"),
        Elem::F4e1m2x2 => Some("!pto.f4E1M2x2"),
        _ => None,
    }
}

/// The element type of a tile in later versions; extents of fp4 then count pairs, where they are whole pairs.
fn in_pairs(t: &mut TileType) -> Option<&'static str> {
    let name = later_elem(t.elem)?;
    if !t.elem.is_fp4() {
        return Some(name);
    }
    let is_even = |n: u64| n.is_multiple_of(2);
    let (declared, valid) = if t.packs_rows() { (&mut t.rows, &mut t.v_row) } else { (&mut t.cols, &mut t.v_col) };
    let Extent::Static(n) = valid else { return None };
    if !is_even(*declared) || !is_even(*n) {
        return None;
    }
    (*declared, *n) = (*declared / 2, *n / 2);
    Some(name)
}

fn write_view(out: &mut String, v: &ViewType, elem: &str) {
    let name = if v.partition { "partition_tensor_view" } else { "tensor_view" };
    let _ = write!(out, "!pto.{name}<");
    write_dims(out, &v.dims);
    let _ = write!(out, "{elem}>");
}

/// Writes a type; `tile` is the name that tiles get here, `!pto.tile` or `!pto.tile_buf`.
pub(crate) fn write_type(out: &mut String, ty: &Type, tile: &str) {
    // Writing to a string cannot fail.
    let _ = match ty {
        Type::Tile(t) => {
            let _ = write!(out, "{tile}<");
            let in_dialect = tile == super::TILE;
            write_tile(out, t, if in_dialect { t.elem.mlir() } else { t.elem.name() }, in_dialect);
            out.write_char('>')
        }
        Type::Conv(c) => write_conv(out, c),
        Type::Multi(slot, count) => {
            let _ = out.write_str("!pto.multi_tile_buf<");
            let in_dialect = tile == super::TILE;
            write_tile(out, slot, if in_dialect { slot.elem.mlir() } else { slot.elem.name() }, in_dialect);
            write!(out, ", count={count}>")
        }
        Type::Ptr(elem, None) => write!(out, "!pto.ptr<{}>", elem.mlir()),
        Type::Ptr(elem, Some(space)) => write!(out, "!pto.ptr<{}, {space}>", elem.mlir()),
        Type::View(v) => {
            write_view(out, v, v.elem.mlir());
            Ok(())
        }
        Type::Memref(m) => write_memref(out, m),
        Type::Micro(ty) => write!(out, "{ty}"),
        Type::Event => out.write_str("!pto.event"),
        Type::Opaque(text) => out.write_str(text),
        Type::Scalar(s) => write_scalar(out, *s),
        Type::Vector(len, s) => {
            let _ = write!(out, "vector<{len}x");
            let _ = write_scalar(out, *s);
            out.write_char('>')
        }
    };
}

fn write_scalar(out: &mut String, scalar: ScalarType) -> std::fmt::Result {
    match scalar {
        ScalarType::Index => out.write_str("index"),
        ScalarType::Int(bits, Sign::None) => write!(out, "i{bits}"),
        ScalarType::Int(bits, Sign::Signed) => write!(out, "si{bits}"),
        ScalarType::Int(bits, Sign::Unsigned) => write!(out, "ui{bits}"),
        ScalarType::Float(elem) => out.write_str(elem.mlir()),
    }
}

fn write_dims(out: &mut String, dims: &[Option<u64>]) {
    for dim in dims {
        let _ = match dim {
            Some(n) => write!(out, "{n}x"),
            None => out.write_str("?x"),
        };
    }
}

/// The fields of a tile type. In text that the dialect reads, element types are MLIR's, and pad and compact mode are
/// numbers.
fn write_tile(out: &mut String, t: &TileType, elem: &str, in_dialect: bool) {
    let whole = t.v_row == Extent::Static(t.rows) && t.v_col == Extent::Static(t.cols);
    let compact = t.blayout.is_some() && t.slayout.is_some() && t.fractal.is_some();
    let left_out = t.blayout.is_none() && t.slayout.is_none() && t.fractal.is_none();
    if compact {
        let _ = write!(out, "{}, {}x{}x{elem}", t.loc, t.rows, t.cols);
        if !whole {
            let _ = write!(out, ", valid={}x{}", t.v_row, t.v_col);
        }
    } else if left_out && whole && t.loc == Loc::Vec && t.pad == Pad::Null && t.compact == Compact::Null {
        let _ = write!(out, "{}x{}x{elem}", t.rows, t.cols);
        return;
    } else {
        let _ = write!(out, "loc={}, dtype={elem}, rows={}, cols={}", t.loc, t.rows, t.cols);
        if !whole {
            let _ = write!(out, ", v_row={}, v_col={}", t.v_row, t.v_col);
        }
    }
    // The compact spelling means ND when it says nothing.
    if let Some(b) = t.blayout.filter(|b| !compact || *b != BLayout::RowMajor) {
        let _ = write!(out, ", blayout={b}");
    }
    if let Some(s) = t.slayout.filter(|s| !compact || *s != SLayout::NoneBox) {
        let _ = write!(out, ", slayout={s}");
    }
    if let Some(fractal) = t.fractal.filter(|f| !compact || *f != 512) {
        let _ = write!(out, ", fractal={fractal}");
    }
    if t.pad != Pad::Null {
        let number = match t.pad {
            Pad::Zero => Some(1),
            Pad::Max => Some(2),
            Pad::Min => Some(3),
            Pad::Null | Pad::Custom(_) => None,
        };
        let _ = match number.filter(|_| in_dialect) {
            Some(n) => write!(out, ", pad={n}"),
            None => write!(out, ", pad={}", pad_text(&t.pad)),
        };
    }
    if t.compact != Compact::Null {
        let _ = match in_dialect {
            true => write!(out, ", compact={}", t.compact as u8),
            false => write!(out, ", compact={}", t.compact),
        };
    }
}

fn write_conv(out: &mut String, c: &ConvType) -> std::fmt::Result {
    let _ = write!(out, "!pto.conv_tile<{}, {}, ", c.loc, c.format());
    for n in c.written_dims() {
        let _ = write!(out, "{n}x");
    }
    write!(out, "{}>", c.elem)
}

fn write_memref(out: &mut String, m: &MemrefType) -> std::fmt::Result {
    let _ = out.write_str("memref<");
    write_dims(out, &m.dims);
    let _ = out.write_str(m.elem.mlir());
    if let Some(Strided { strides, offset }) = &m.strided {
        let show = |n: &Option<i64>| n.map_or("?".into(), |n| n.to_string());
        let list: Vec<String> = strides.iter().map(show).collect();
        let _ = write!(out, ", strided<[{}]", list.join(", "));
        if *offset != Some(0) {
            let _ = write!(out, ", offset: {}", show(offset));
        }
        let _ = out.write_char('>');
    }
    if let Some(space) = &m.space {
        let _ = write!(out, ", {space}");
    }
    out.write_char('>')
}
