//! The four spellings of a tile type: verbose, compact, short and page.

use super::{Piece, Res, dims, elem, fault, fault_of, number};
use crate::sink::{did_you_mean, shown};
use tessera_isa::diag::{Span, nearest};
use tessera_isa::elem::Elem;
use tessera_isa::tile::{BLayout, Compact, Extent, Loc, Pad, PadLiteral, SLayout, TileType};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Loc,
    Elem,
    Rows,
    Cols,
    ValidRow,
    ValidCol,
    BLayout,
    SLayout,
    Fractal,
    Pad,
    Compact,
}

/// The fields and their keys in the verbose spelling.
pub(crate) const FIELDS: [(Field, &str); 11] = [
    (Field::Loc, "loc"),
    (Field::Elem, "dtype"),
    (Field::Rows, "rows"),
    (Field::Cols, "cols"),
    (Field::ValidRow, "v_row"),
    (Field::ValidCol, "v_col"),
    (Field::BLayout, "blayout"),
    (Field::SLayout, "slayout"),
    (Field::Fractal, "fractal"),
    (Field::Pad, "pad"),
    (Field::Compact, "compact"),
];

/// Where the fields of a tile type are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields([Option<Span>; 11]);

impl Fields {
    pub fn get(&self, field: Field) -> Option<Span> {
        self.0[field as usize]
    }

    /// Notes a field; false if it was there already.
    fn set(&mut self, field: Field, span: Span) -> bool {
        self.0[field as usize].replace(span).is_none()
    }
}

pub(super) fn parse(body: Piece<'_>, fields: &mut Fields) -> Res<TileType> {
    let body = body.trim();
    let items = body.items();
    let mut tile = TileType::new(Loc::Vec, Elem::F32, 0, 0);
    let first = items.first().copied().unwrap_or(body);
    let is_keyed = |p: &Piece<'_>| p.text.contains('=');
    if is_keyed(&first) && items.get(1).is_none_or(is_keyed) {
        for item in &items {
            keyed(&mut tile, *item, fields)?;
        }
        let [loc, elem, rows, cols, ..] = FIELDS;
        if let Some((_, key)) = [loc, elem, rows, cols].iter().find(|(field, _)| fields.get(*field).is_none()) {
            return fault(body, format!("the tile type has no {key}"), format!("add `{key}=…`"));
        }
    } else if is_keyed(&first) {
        page(&mut tile, &items, fields)?;
    } else if first.text.starts_with(|c: char| c.is_ascii_digit()) {
        shape(&mut tile, first, fields)?;
        if let Some(extra) = items.get(1) {
            let what = "the short spelling of a tile type is only extents and element";
            let help = format!("write the location first: vec, {}, {}", shown(first.text), shown(extra.text));
            return fault(*extra, what, help);
        }
    } else {
        tile.loc = loc(first)?;
        fields.set(Field::Loc, first.span());
        let Some(extents) = items.get(1) else {
            let what = "a tile type has extents and an element type";
            return fault(body, what, "write them after the location, as in vec, 16x64xf32");
        };
        shape(&mut tile, *extents, fields)?;
        for item in items.iter().skip(2) {
            keyed(&mut tile, *item, fields)?;
        }
        // The compact spelling means ND where it does not say otherwise (syntax.md 3).
        tile.blayout.get_or_insert(BLayout::RowMajor);
        tile.slayout.get_or_insert(SLayout::NoneBox);
        tile.fractal.get_or_insert(512);
    }
    if fields.get(Field::ValidRow).is_none() {
        tile.v_row = Extent::Static(tile.rows);
    }
    if fields.get(Field::ValidCol).is_none() {
        tile.v_col = Extent::Static(tile.cols);
    }
    Ok(tile)
}

/// `16x64xf32`.
fn shape(tile: &mut TileType, piece: Piece<'_>, fields: &mut Fields) -> Res<()> {
    let (extents, spans, rest) = dims(piece)?;
    let (&[Some(rows), Some(cols)], &[rows_at, cols_at]) = (extents.as_slice(), spans.as_slice()) else {
        let what = format!("a tile has 2 known extents, and `{}` has not", shown(piece.text));
        return fault(piece, what, "write rows, columns and element type joined by `x`, as in 16x64xf32");
    };
    (tile.elem, tile.rows, tile.cols) = (elem(rest)?, rows, cols);
    fields.set(Field::Rows, rows_at);
    fields.set(Field::Cols, cols_at);
    fields.set(Field::Elem, rest.span());
    Ok(())
}

fn keyed(tile: &mut TileType, item: Piece<'_>, fields: &mut Fields) -> Res<()> {
    let Some((key, value)) = item.key_value() else {
        let what = format!("`{}` is no field of a tile type", shown(item.text));
        return fault(item, what, "fields are written key=value, as in pad=zero");
    };
    if key.text == "valid" {
        return valid(tile, item, value, fields);
    }
    let Some((field, _)) = FIELDS.into_iter().find(|(_, name)| *name == key.text) else {
        let keys = FIELDS.map(|(_, key)| key);
        let help = did_you_mean(key.text, keys, || format!("fields are {}, valid", keys.join(", ")));
        return fault(key, format!("`{}` is no field of a tile type", shown(key.text)), help);
    };
    if !fields.set(field, item.span()) {
        return fault(item, format!("{} is written twice", key.text), "remove one of them");
    }
    set(tile, field, value)
}

fn set(tile: &mut TileType, field: Field, value: Piece<'_>) -> Res<()> {
    match field {
        Field::Loc => tile.loc = loc(value)?,
        Field::Elem => tile.elem = elem(value)?,
        Field::Rows => tile.rows = number(value)?,
        Field::Cols => tile.cols = number(value)?,
        Field::ValidRow => tile.v_row = extent(value)?,
        Field::ValidCol => tile.v_col = extent(value)?,
        Field::BLayout => tile.blayout = Some(word(value, "blayout", BLayout::ALL, BLayout::name, &[])?),
        Field::SLayout => tile.slayout = Some(word(value, "slayout", SLayout::ALL, SLayout::name, &[])?),
        Field::Fractal => tile.fractal = Some(fractal(value)?),
        Field::Pad => tile.pad = pad(value)?,
        Field::Compact => {
            tile.compact = word(value, "compact mode", Compact::ALL, Compact::name, &["0", "1", "2", "3"])?;
        }
    }
    Ok(())
}

/// `valid=4x?`; never hexadecimal, so `0x12` is 0 rows and 12 columns.
fn valid(tile: &mut TileType, item: Piece<'_>, value: Piece<'_>, fields: &mut Fields) -> Res<()> {
    let Some(at) = value.text.find('x') else {
        let what = format!("`{}` is no valid region", shown(value.text));
        return fault(value, what, "write rows x columns, as in valid=4x8 or valid=?x8");
    };
    let (rows, cols) = value.cut(at, 1);
    if !fields.set(Field::ValidRow, rows.span()) || !fields.set(Field::ValidCol, cols.span()) {
        return fault(item, "the valid region is written twice", "remove one of them");
    }
    (tile.v_row, tile.v_col) = (extent(rows)?, extent(cols)?);
    Ok(())
}

/// `loc=vec, f16, 16, 32[, RowMajor, NoneBox, 512, Null]`, as the reference pages write C++ template arguments.
fn page(tile: &mut TileType, items: &[Piece<'_>], fields: &mut Fields) -> Res<()> {
    let mut at = items.iter().copied();
    let Some(first) = at.next() else { return Ok(()) };
    keyed(tile, first, fields)?;
    if fields.get(Field::Loc).is_none() {
        return fault(first, "a tile type starts with its location", "write loc=vec or another location first");
    }
    if items.len() != 4 && items.len() != 8 {
        let what = format!("the page spelling of a tile type has 4 or 8 parts, and {} are written", items.len());
        let help = "write loc, element, rows, cols, and all or none of outer layout, inner layout, fractal, pad";
        return fault(first, what, help);
    }
    let order = [Field::Elem, Field::Rows, Field::Cols, Field::BLayout, Field::SLayout, Field::Fractal, Field::Pad];
    for (field, item) in order.into_iter().zip(at) {
        fields.set(field, item.span());
        match field {
            Field::BLayout => tile.blayout = Some(word(item, "outer layout", BLayout::ALL, BLayout::cpp, &[])?),
            Field::SLayout => tile.slayout = Some(word(item, "inner layout", SLayout::ALL, SLayout::cpp, &[])?),
            Field::Fractal if item.text == "None" => tile.fractal = Some(512),
            Field::Pad => {
                tile.pad = match item.text {
                    "Null" => Pad::Null,
                    "Zero" => Pad::Zero,
                    "Max" => Pad::Max,
                    "Min" => Pad::Min,
                    _ => pad(item)?,
                };
            }
            _ => set(tile, field, item)?,
        }
    }
    Ok(())
}

pub(super) fn loc(piece: Piece<'_>) -> Res<Loc> {
    let bare = piece.inside("\"", "\"").unwrap_or(piece).text;
    if bare == "ub" {
        return Ok(Loc::Vec);
    }
    if let Some(loc) = Loc::parse(bare) {
        return Ok(loc);
    }
    let names: Vec<&str> = Loc::ALL.iter().map(|l| l.name()).collect();
    let help = did_you_mean(bare, names.iter().copied(), || format!("locations are {}", names.join(", ")));
    fault(piece, format!("`{}` is no location", shown(bare)), help)
}

fn extent(piece: Piece<'_>) -> Res<Extent> {
    match piece.text {
        "?" | "-1" => Ok(Extent::Dynamic),
        _ => number(piece).map(Extent::Static),
    }
}

fn fractal(piece: Piece<'_>) -> Res<u32> {
    let n = number(piece)?;
    u32::try_from(n).or_else(|_| fault(piece, format!("a fractal of {n} does not exist"), "fractal is 512, 1024 or 32"))
}

/// One of a few words, or its number.
fn word<T: Copy>(
    piece: Piece<'_>,
    what: &str,
    all: &'static [T],
    name: fn(T) -> &'static str,
    numbers: &[&str],
) -> Res<T> {
    let numbered = || all.get(numbers.iter().position(|n| *n == piece.text)?);
    if let Some(found) = all.iter().find(|w| name(**w) == piece.text).or_else(numbered) {
        return Ok(*found);
    }
    let names: Vec<&str> = all.iter().map(|w| name(*w)).collect();
    let help = did_you_mean(piece.text, names.iter().copied(), || format!("write one of {}", names.join(", ")));
    fault(piece, format!("`{}` is no {what}", shown(piece.text)), help)
}

fn pad(piece: Piece<'_>) -> Res<Pad> {
    Ok(match piece.text {
        "0" | "null" => Pad::Null,
        "1" | "zero" => Pad::Zero,
        "2" | "max" => Pad::Max,
        "3" | "min" => Pad::Min,
        text => {
            let Some(inner) = piece.inside("custom(", ")") else {
                let names = ["null", "zero", "max", "min", "custom"];
                let help = match nearest(text, names) {
                    Some(near) if near != "custom" => format!("did you mean `{near}`?"),
                    _ => "write null, zero, max, min or custom(value)".to_string(),
                };
                return fault(piece, format!("`{}` is no pad value", shown(text)), help);
            };
            Pad::Custom(literal(inner.trim())?)
        }
    })
}

/// The literal of `custom(…)`: bits in hexadecimal, a whole number, or a float.
fn literal(piece: Piece<'_>) -> Res<PadLiteral> {
    let text = piece.text;
    if let Some(hex) = text.strip_prefix("0x") {
        let is_hex = !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
        if let (true, Ok(bits)) = (is_hex, u64::from_str_radix(hex, 16)) {
            return Ok(PadLiteral::Bits(bits));
        }
    } else if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        if let Ok(n) = text.parse() {
            return Ok(PadLiteral::Int(n));
        }
    } else if text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
        && let Ok(v) = text.parse::<f64>()
        && v.is_finite()
    {
        return Ok(PadLiteral::Float(v.to_bits()));
    }
    let rule = if text.contains('.') { "syntax-float" } else { "syntax-integer" };
    let what = format!("`{}` is no pad value of at most 64 bits", shown(text));
    fault_of(rule, piece, what, "write bits as 0x7FC0, an integer, or a float")
}
