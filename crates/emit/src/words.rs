//! C++ types and literals.

use crate::{Emitted, cannot};
use tessera_ir::{ScalarType, Sign, Type};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Span;
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Extent, Loc, Pad, Tile};

/// The type of a tile or conv tile object.
pub(crate) fn object_type(ty: &Type, profile: Profile, span: Span) -> Emitted<String> {
    match ty {
        Type::Tile(t) => tile_type(&t.resolve(profile), span),
        Type::Conv(c) => {
            let dims: Vec<String> = c.written_dims().iter().map(u64::to_string).collect();
            let (loc, elem, format, dims) = (c.loc.cpp(), c.elem.cpp(), c.format(), dims.join(", "));
            let bytes = c.bytes();
            Ok(format!("ConvTile<TileType::{loc}, {elem}, {bytes}, Layout::{format}, ConvTileShape<{dims}>>"))
        }
        _ => Err(cannot(span, "a value that is no tile", "this is a defect; please report it")),
    }
}

pub(crate) fn tile_type(t: &Tile, span: Span) -> Emitted<String> {
    let fits = |n: u64| i32::try_from(n).is_ok();
    if !fits(t.rows) || !fits(t.cols) || !fits(t.rows.saturating_mul(t.cols)) {
        return Err(cannot(span, format!("a tile of {} × {} elements", t.rows, t.cols), "split the tile"));
    }
    let extent = |e: Extent| match e {
        Extent::Static(n) => n.to_string(),
        Extent::Dynamic => "-1".into(),
    };
    let (loc, elem, blayout, slayout) = (t.loc.cpp(), t.elem.cpp(), t.blayout.cpp(), t.slayout.cpp());
    let (rows, cols, v_row, v_col) = (t.rows, t.cols, extent(t.v_row), extent(t.v_col));
    // Without boxes there is none, whatever the text says.
    let fractal = if t.is_boxed() { t.fractal } else { 512 };
    let (pad, compact) = (pad(t, span)?, t.compact.cpp());
    Ok(format!(
        "Tile<TileType::{loc}, {elem}, {rows}, {cols}, BLayout::{blayout}, {v_row}, {v_col}, SLayout::{slayout}, \
         {fractal}, {pad}, CompactMode::{compact}>"
    ))
}

fn pad(t: &Tile, span: Span) -> Emitted<String> {
    Ok(match t.pad {
        Pad::Null => "PadValue::Null".into(),
        Pad::Zero => "PadValue::Zero".into(),
        Pad::Max => "PadValue::Max".into(),
        Pad::Min => "PadValue::Min".into(),
        Pad::Custom(literal) => {
            // C++ carries the low 32 bits of the element behind those of CustomBase (cpp.md 8).
            let bits = t.pad_bits().and_then(|bits| u32::try_from(bits).ok());
            let wide = || format!("the pad value {literal}, which has more than 32 bits,");
            let bits = bits.ok_or_else(|| cannot(span, wide(), "use pad=zero, max or min"))?;
            custom_pad(bits)
        }
    })
}

/// A pad value by the bits of its element.
pub(crate) fn custom_pad(bits: u32) -> String {
    format!("static_cast<PadValue>(UINT64_C({:#x}))", 1u64 << 32 | u64::from(bits))
}

/// The qualifier of a pointer into a memory.
pub(crate) fn space(loc: Option<Loc>) -> &'static str {
    match loc {
        None => "__gm__",
        Some(Loc::Vec) => "__ubuf__",
        Some(Loc::Left) => "__ca__",
        Some(Loc::Right) => "__cb__",
        Some(Loc::Acc) => "__cc__",
        Some(Loc::Bias) => "__biasbuf__",
        Some(Loc::Scaling) => "__fbuf__",
        Some(_) => "__cbuf__",
    }
}

/// The type of a scalar variable. Integers are kept as signed ones of their width, as the text's arithmetic does.
pub(crate) fn scalar_type(ty: ScalarType, span: Span) -> Emitted<&'static str> {
    Ok(match ty {
        ScalarType::Index => "int64_t",
        ScalarType::Int(1, _) => "bool",
        ScalarType::Int(8, _) => "int8_t",
        ScalarType::Int(16, _) => "int16_t",
        ScalarType::Int(32, _) => "int32_t",
        ScalarType::Int(64, _) => "int64_t",
        ScalarType::Int(n, _) => {
            return Err(cannot(span, format!("an integer of {n} bits"), "use 8, 16, 32 or 64 bits"));
        }
        ScalarType::Float(elem) if elem.is_fp4() => {
            return Err(cannot(span, format!("a scalar of {elem}, which shares its byte,"), "use a wider float"));
        }
        ScalarType::Float(elem) => elem.cpp(),
    })
}

/// The unsigned type of the same width.
pub(crate) fn unsigned_type(ty: ScalarType) -> &'static str {
    match ty.bits() {
        8 => "uint8_t",
        16 => "uint16_t",
        32 => "uint32_t",
        _ => "uint64_t",
    }
}

/// Whether the text reads the type as unsigned.
pub(crate) fn is_unsigned(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Int(_, Sign::Unsigned))
}

/// An integer literal.
pub(crate) fn int(v: i64) -> String {
    match v {
        i64::MIN => "INT64_MIN".into(),
        _ if i32::try_from(v).is_ok() => v.to_string(),
        _ => format!("INT64_C({v})"),
    }
}

/// A constant of a type.
pub(crate) fn constant(value: &Number, ty: ScalarType, span: Span) -> Emitted<String> {
    match (value, ty) {
        (Number::Int(v), ScalarType::Int(1, _)) => Ok(if *v == 0 { "false" } else { "true" }.into()),
        (Number::Float(v), ScalarType::Float(elem)) => Ok(float(*v, elem)),
        (Number::Int(v), ScalarType::Float(elem)) => Ok(float(*v as f64, elem)),
        (Number::Int(v), _) => {
            let unused = 64 - ty.bits().clamp(1, 64);
            Ok(int((*v as i64) << unused >> unused))
        }
        (Number::Float(v), _) => Err(cannot(span, format!("the constant {v} of an integer type"), "write an integer")),
    }
}

/// A float constant, as its type makes it.
fn float(v: f64, elem: Elem) -> String {
    let bits = elem.encode_f64(v, Overflow::Infinity);
    let exact = match elem.decode(bits) {
        Number::Float(v) => v,
        Number::Int(v) => v as f64,
    };
    // Every float of 16 bits or less is one of binary32.
    let single = exact as f32;
    let literal = match single.is_finite() {
        true => format!("{single:?}f"),
        false => format!("__builtin_bit_cast(float, UINT32_C({:#010x}))", single.to_bits()),
    };
    match elem {
        Elem::F32 => literal,
        _ if single.is_finite() => format!("static_cast<{}>({literal})", elem.cpp()),
        _ => format!("__builtin_bit_cast({}, static_cast<uint{}_t>({bits:#x}))", elem.cpp(), elem.bits().max(8)),
    }
}

/// A number of an attribute.
pub(crate) fn number(value: &Number) -> String {
    match value {
        Number::Int(v) => i64::try_from(*v).map_or_else(|_| format!("UINT64_C({v})"), int),
        Number::Float(v) if v.is_finite() => format!("{v:?}"),
        Number::Float(v) => format!("__builtin_bit_cast(double, UINT64_C({:#x}))", v.to_bits()),
    }
}
