//! The spellings of a tile type: verbose, compact, short, page, and the notation that messages print.

use super::{Piece, Res, dims, elem, fault, fault_of, number};
use crate::sink::{did_you_mean, shown};
use tessera_ir::Type;
use tessera_isa::diag::{Span, nearest};
use tessera_isa::elem::Elem;
use tessera_isa::tile::{BLayout, Compact, Extent, LayoutName, Loc, Pad, PadLiteral, SLayout, TileType};

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

/// The places of a tile type's fields.
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
    if items.len() == 1 && !is_keyed(&first) && first.text.contains(char::is_whitespace) {
        printed(&mut tile, first, fields)?;
    } else if is_keyed(&first) && items.get(1).is_none_or(is_keyed) {
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
        if items.iter().skip(1).any(|item| space(item.text).is_some()) {
            return in_space(body, &items);
        }
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
    let is_paired = items.iter().take(2).any(|item| item.text.contains("!pto.f4"));
    if is_paired { in_elements(body, tile) } else { Ok(tile) }
}

/// `vec, 16x64xf32[, fields], count=2`, or a tile type and the count (isa/today.md 5.2).
pub(super) fn multi(body: Piece<'_>, fields: &mut Fields) -> Res<Type> {
    let items = body.items();
    let count = items.last().and_then(|item| Some((*item, item.key_value().filter(|(key, _)| key.text == "count")?.1)));
    let (Some((item, value)), [_, _, ..]) = (count, items.as_slice()) else {
        let what = "a multi-buffer tile has a number of slots";
        return fault(body, what, "write it last, as in vec, 16x64xf32, count=2");
    };
    let before = (item.start - body.start) as usize;
    let slot = Piece { text: body.text.get(..before).unwrap_or_default().trim_end().trim_end_matches(','), ..body };
    let slot = slot.trim();
    let inner = ["!pto.tile_buf<", "!pto.tile<"].into_iter().find_map(|open| slot.inside(open, ">"));
    let tile = parse(inner.unwrap_or(slot), fields)?;
    let count = number(value)?;
    if !(2..=16).contains(&count) {
        let what = format!("a multi-buffer tile of {count} slots does not exist");
        return fault_of("tile-multi", item, what, "write count=2 to count=16");
    }
    if tile.compact == Compact::RowPlusOne {
        let what = "the slots of a multi-buffer tile lie one after the other, and row_plus_one leaves a row between";
        return fault_of("tile-multi", slot, what, "leave compact out");
    }
    Ok(Type::Multi(tile, count))
}

/// The type of a tile whose extents count pairs, in elements: along columns in ND, NZ and ZZ, else along rows
/// (isa/today.md 2).
fn in_elements(body: Piece<'_>, mut tile: TileType) -> Res<TileType> {
    let by_rows = tile.packs_rows();
    let (declared, valid) = if by_rows { (&mut tile.rows, &mut tile.v_row) } else { (&mut tile.cols, &mut tile.v_col) };
    *declared = declared.saturating_mul(2);
    match valid {
        Extent::Static(n) => *n = n.saturating_mul(2),
        Extent::Dynamic => {
            let what = "a dynamic extent that counts pairs is not read";
            return fault(body, what, format!("write {}, whose extents count elements", tile.elem));
        }
    }
    Ok(tile)
}

/// The location of an address space on the chip, `#pto.address_space<vec>`.
pub(super) fn space(text: &str) -> Option<Loc> {
    let inner = text.strip_prefix("#pto.address_space<").or_else(|| text.strip_prefix("#pto<address_space "));
    space_word(inner?.strip_suffix('>')?.trim())
}

/// The location of the space that a pointer type says, `ub` or as above.
pub(crate) fn pointer_space(text: &str) -> Option<Loc> {
    space(text).or_else(|| space_word(text))
}

fn space_word(word: &str) -> Option<Loc> {
    Some(match word {
        "ub" => Loc::Vec,
        "l1" => Loc::Mat,
        "l0a" => Loc::Left,
        "l0b" => Loc::Right,
        "l0c" => Loc::Acc,
        "bt" => Loc::Bias,
        "fb" => Loc::Scaling,
        word => Loc::parse(word)?,
    })
}

/// `32x64xf32, #pto.address_space<vec>`: ND, all of it valid (isa/structure.md 2 and 7). The strides of a view are its
/// source's.
fn in_space(body: Piece<'_>, items: &[Piece<'_>]) -> Res<TileType> {
    let wrong = items.iter().skip(1).find(|item| space(item.text).is_none() && !item.text.starts_with("strided<"));
    if let Some(item) = wrong {
        let what = format!("`{}` is no address space", shown(item.text));
        return fault(*item, what, "write extents and #pto.address_space<vec>, or location, extents and fields");
    }
    let loc = items.iter().find_map(|item| space(item.text)).unwrap_or(Loc::Vec);
    let first = items.first().copied().unwrap_or(body);
    let (extents, _, rest) = dims(first)?;
    of_memref(first, loc, &extents, elem(rest)?)
}

/// A memref on the chip: its last extent is the columns, the others together are the rows (isa/structure.md 7).
pub(super) fn of_memref(piece: Piece<'_>, loc: Loc, extents: &[Option<u64>], elem: Elem) -> Res<TileType> {
    let known: Option<Vec<u64>> = extents.iter().copied().collect();
    let Some((cols, outer)) = known.as_deref().and_then(<[u64]>::split_last) else {
        let what = format!("`{}` is on the chip and has no known extents", shown(piece.text));
        return fault(piece, what, "write numbers, as in 16x32xf16, and bind what is valid with pto.bind_tile");
    };
    let rows = outer.iter().fold(1u64, |all, n| all.saturating_mul(*n));
    let mut tile = TileType::new(loc, elem, rows, *cols);
    (tile.blayout, tile.slayout, tile.fractal) = (Some(BLayout::RowMajor), Some(SLayout::NoneBox), Some(512));
    Ok(tile)
}

/// The fields of `#pto.tile_buf_config<blayout=…, slayout=…, s_fractal_size=…, pad=…>`, over those of a tile.
pub(crate) fn configure(tile: &mut TileType, body: Piece<'_>) -> Res<()> {
    for item in body.items() {
        let Some((key, value)) = item.key_value() else {
            return fault(item, format!("`{}` is no field of a tile", shown(item.text)), "write blayout=row_major");
        };
        // The words may carry their enumeration: `#pto.blayout<row_major>`, `<row_major>`.
        let inner = value.text.find('<').map(|at| value.cut(at, 1).1).filter(|v| v.text.ends_with('>'));
        let value = inner.map_or(value, |v| v.cut(v.text.len() - 1, 1).0.trim());
        // Numbers carry their type: `blayout=1 : i32`.
        let value = value.text.find(':').map_or(value, |at| value.cut(at, 1).0.trim());
        let field = match key.text {
            "blayout" => Field::BLayout,
            "slayout" => Field::SLayout,
            "s_fractal_size" | "fractal" => Field::Fractal,
            "pad" => Field::Pad,
            "compact" | "compactMode" | "compact_mode" => Field::Compact,
            _ => {
                let what = format!("`{}` is no field of a tile's configuration", shown(key.text));
                return fault(key, what, "fields are blayout, slayout, s_fractal_size, pad and compact");
            }
        };
        set(tile, field, value.inside("\"", "\"").unwrap_or(value))?;
    }
    Ok(())
}

/// `vec 33x32xf16 NZ 1024 valid 30x32`, as messages and pictures have it; location, fractal and valid region may be left out.
fn printed(tile: &mut TileType, body: Piece<'_>, fields: &mut Fields) -> Res<()> {
    let mut words = body.words().into_iter().peekable();
    if let Some(first) = words.next_if(|word| !word.text.starts_with(|c: char| c.is_ascii_digit())) {
        tile.loc = loc(first)?;
        fields.set(Field::Loc, first.span());
    }
    let notation =
        "write location, extents and layout, as in vec 33x32xf16 NZ, or fields, as in vec, 33x32xf16, pad=zero";
    let Some(extents) = words.next() else { return fault(body, "the tile type has no extents", notation) };
    shape(tile, extents, fields)?;
    let Some(layout) = words.next() else { return fault(body, "the tile type has no layout", notation) };
    let all: Vec<&str> = LayoutName::ALL.iter().map(|layout| layout.name()).collect();
    let Some(name) = LayoutName::parse(layout.text) else {
        let help = did_you_mean(layout.text, all.iter().copied(), || format!("layouts are {}", all.join(", ")));
        return fault(layout, format!("`{}` is no layout", shown(layout.text)), help);
    };
    let orders = BLayout::ALL.iter().flat_map(|b| SLayout::ALL.iter().map(move |s| (*b, *s)));
    (tile.blayout, tile.slayout) = orders.rev().find(|(b, s)| LayoutName::of(*b, *s) == name).unzip();
    fields.set(Field::BLayout, layout.span());
    fields.set(Field::SLayout, layout.span());
    let size = words.next_if(|word| name.is_boxed() && word.text != "valid");
    tile.fractal = Some(size.map_or(Ok(512), fractal)?);
    if let Some(word) = words.next_if(|word| word.text == "valid") {
        let Some(region) = words.next() else { return fault(word, "the valid region is missing", "write valid 30x32") };
        valid(tile, word, region, fields)?;
    }
    match words.next() {
        Some(word) => fault(word, format!("`{}` is not expected here", shown(word.text)), notation),
        None => Ok(()),
    }
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
        Field::BLayout => tile.blayout = Some(word(value, "blayout", BLayout::ALL, BLayout::name, &["0", "1"])?),
        Field::SLayout => tile.slayout = Some(word(value, "slayout", SLayout::ALL, SLayout::name, &["0", "1", "2"])?),
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
