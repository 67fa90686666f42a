//! Types from text (syntax.md 3): all spellings of tiles, and the other types a program names.

mod micro;
mod tile;

pub(crate) use tile::{FIELDS, Field, Fields, configure, pointer_space};

use crate::sink::{did_you_mean, shown};
use smallvec::SmallVec;
use tessera_ir::{MemrefType, ScalarType, Sign, Strided, Type, ViewType};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::elem::Elem;
use tessera_isa::inst::ConvType;

/// A diagnostic is large, and types are read in the innermost loop.
pub(crate) type Res<T> = Result<T, Box<Diagnostic>>;

/// A piece of text with its place in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    pub text: &'a str,
    pub start: u32,
}

impl<'a> Piece<'a> {
    pub fn span(self) -> Span {
        Span::new(self.start, self.start + self.text.len() as u32)
    }

    pub fn trim(self) -> Self {
        let front = self.text.trim_start();
        Piece { text: front.trim_end(), start: self.start + (self.text.len() - front.len()) as u32 }
    }

    /// The pieces before and after a byte offset, with `skip` bytes between them left out.
    fn cut(self, at: usize, skip: usize) -> (Self, Self) {
        let head = self.text.get(..at).unwrap_or(self.text);
        let tail = self.text.get(at + skip..).unwrap_or("");
        (Piece { text: head, start: self.start }, Piece { text: tail, start: self.start + (at + skip) as u32 })
    }

    fn inside(self, open: &str, close: &str) -> Option<Self> {
        let text = self.text.strip_prefix(open)?.strip_suffix(close)?;
        Some(Piece { text, start: self.start + open.len() as u32 })
    }

    /// `key=value`, where there is a `=`.
    fn key_value(self) -> Option<(Self, Self)> {
        let at = self.text.find('=')?;
        let (key, value) = self.cut(at, 1);
        Some((key.trim(), value.trim()))
    }

    /// The parts between white space.
    fn words(self) -> SmallVec<[Piece<'a>; 12]> {
        let mut out = SmallVec::new();
        let mut rest = self.trim();
        while !rest.text.is_empty() {
            let end = rest.text.find(char::is_whitespace).unwrap_or(rest.text.len());
            let (word, after) = rest.cut(end, 0);
            out.push(word);
            rest = after.trim();
        }
        out
    }

    /// The parts between commas that stand in no bracket and no string.
    fn items(self) -> SmallVec<[Piece<'a>; 12]> {
        let mut out = SmallVec::new();
        let (mut depth, mut from, mut quoted) = (0u32, 0usize, false);
        for (i, b) in self.text.bytes().enumerate() {
            match b {
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'<' | b'(' | b'[' | b'{' => depth += 1,
                b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    out.push(self.cut(from, 0).1.cut(i - from, 0).0.trim());
                    from = i + 1;
                }
                _ => {}
            }
        }
        out.push(self.cut(from, 0).1.trim());
        out
    }
}

pub(crate) fn fault<T>(piece: Piece<'_>, what: impl Into<String>, help: impl Into<String>) -> Res<T> {
    fault_of("syntax-type", piece, what, help)
}

fn fault_of<T>(rule: &'static str, piece: Piece<'_>, what: impl Into<String>, help: impl Into<String>) -> Res<T> {
    Err(Box::new(Diagnostic::error(rule, what).at(piece.span(), "").help(help)))
}

/// The type parser's view of the module: its aliases.
pub(crate) type Aliases<'a> = &'a dyn Fn(&str) -> Option<Type>;

pub(crate) const TYPE_NAMES: &str = "!pto.tile !pto.tile_buf !pto.conv_tile !pto.multi_tile_buf !pto.ptr !pto.tensor_view \
    !pto.partition_tensor_view !pto.event !pto.hif8 !pto.f8E8M0 !pto.f4E2M1x2 !pto.f4E1M2x2 \
    memref index i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 f16 bf16 f32";

/// A type. `fields` receives the places of a tile's fields.
pub(crate) fn parse(piece: Piece<'_>, aliases: Aliases<'_>, fields: &mut Fields) -> Res<Type> {
    let piece = piece.trim();
    let (name, body) = match piece.text.find('<') {
        Some(at) => {
            let (name, rest) = piece.cut(at, 0);
            let Some(body) = rest.inside("<", ">") else {
                return fault(piece, "the type's `<` is not closed", "add the closing `>`");
            };
            (name.trim(), Some(body))
        }
        None => (piece, None),
    };
    let plain = name.text.strip_prefix("!pto.");
    match (name.text, plain, body) {
        (_, Some("tile" | "tile_buf"), Some(body)) => tile::parse(body, fields).map(Type::Tile),
        (_, Some("conv_tile"), Some(body)) => conv(body).map(Type::Conv),
        (_, Some("multi_tile_buf"), Some(body)) => tile::multi(body, fields),
        (_, Some("ptr"), Some(body)) => pointer(body),
        (_, Some("tensor_view"), Some(body)) => view(body, false),
        (_, Some("partition_tensor_view" | "tile_view"), Some(body)) => view(body, true),
        (_, Some("event"), None) => Ok(Type::Event),
        (_, Some("vreg" | "mask" | "align"), _) => micro::parse(name, body).map(Type::Micro),
        (_, Some("local_array" | "struct"), Some(_)) => stack_slots(piece).map(|()| Type::Opaque(piece.text.into())),
        (_, Some(plain), _) if OPAQUE.split_whitespace().any(|name| name == plain) => {
            Ok(Type::Opaque(piece.text.into()))
        }
        (text, Some(_), None) if named_elem(text).is_some() => elem(piece).map(ScalarType::Float).map(Type::Scalar),
        ("!pto", _, Some(body)) => wrapped(body, aliases, fields),
        ("", _, Some(body)) => bare(body, fields),
        ("memref", _, Some(body)) => memref(body),
        ("vector", _, Some(body)) => vector(body),
        (word, None, None) if word.starts_with('!') => aliases(word.get(1..).unwrap_or("")).map_or_else(
            || {
                let word = shown(word);
                let what = format!("the type alias `{word}` is not defined");
                fault_of("undefined-name", piece, what, format!("write `{word} = …` before its first use"))
            },
            Ok,
        ),
        (word, None, None) => scalar(word).map_or_else(|| unknown(name), |ty| Ok(Type::Scalar(ty))),
        _ => unknown(name),
    }
}

/// Types whose values nothing here looks into.
const OPAQUE: &str = "pipe async_session async_event prefetch_async_context eventid_array hif8x2 bf16x2";

/// `!pto.local_array<4x8xf32>`, `!pto.struct<f32, i8>`: what its elements are (isa/today.md 4.3).
fn stack_slots(piece: Piece<'_>) -> Res<()> {
    let fits = Type::Opaque(piece.text.into()).stack_slots().is_some();
    if fits {
        return Ok(());
    }
    let rule = if piece.text.starts_with("!pto.struct") { "struct-field" } else { "syntax-type" };
    let what = format!("`{}` has elements that are no scalars of 8 to 64 bits, or none", shown(piece.text));
    fault_of(rule, piece, what, "write !pto.local_array<4x8xf32> or !pto.struct<f32, i8>")
}

/// `!pto<tile_buf<…>>`: the same types with the dialect's name around them.
fn wrapped(body: Piece<'_>, aliases: Aliases<'_>, fields: &mut Fields) -> Res<Type> {
    let body = body.trim();
    if body.text.starts_with('!') || body.text.starts_with("memref") || body.text.starts_with("pto") {
        return unknown(body);
    }
    let start = body.start.saturating_sub("!pto.".len() as u32);
    parse(Piece { text: &format!("!pto.{}", body.text), start }, aliases, fields)
}

/// `<…>`: a tile, or a pointer where an element type comes first (isa/structure.md 2).
fn bare(body: Piece<'_>, fields: &mut Fields) -> Res<Type> {
    match body.items().as_slice() {
        [first] | [first, _] if named_elem(first.text).is_some() => pointer(body),
        _ => tile::parse(body, fields).map(Type::Tile),
    }
}

fn unknown<T>(name: Piece<'_>) -> Res<T> {
    let help = did_you_mean(name.text, TYPE_NAMES.split_whitespace(), || {
        "types are !pto.tile<…>, !pto.ptr<…>, views, memref<…>, index, iN, f16, bf16, f32".into()
    });
    fault(name, format!("`{}` is no type", shown(name.text)), help)
}

/// `index`, `i32`, `f16` and so on; the pages write `ui8` also as `u8`.
pub(crate) fn scalar(word: &str) -> Option<ScalarType> {
    if word == "index" {
        return Some(ScalarType::Index);
    }
    let signs = [("si", Sign::Signed), ("ui", Sign::Unsigned), ("u", Sign::Unsigned), ("i", Sign::None)];
    let Some((sign, digits)) = signs.into_iter().find_map(|(text, sign)| Some((sign, word.strip_prefix(text)?))) else {
        return named_elem(word).filter(|e| e.is_float()).map(ScalarType::Float);
    };
    let bits: u8 = digits.parse().ok().filter(|_| !digits.starts_with(['0', '+']))?;
    (1..=64).contains(&bits).then_some(ScalarType::Int(bits, sign))
}

/// Whether extents of this element type count pairs (isa/today.md 2).
fn is_paired(text: &str) -> bool {
    text.starts_with("!pto.f4")
}

/// An element type under any of its names, the dialect's own included (isa/today.md 2).
fn named_elem(text: &str) -> Option<Elem> {
    let text = text.strip_prefix("!pto.").unwrap_or(text);
    Elem::parse(text).or(match text {
        "f8E8M0" => Some(Elem::F8e8m0),
        "f4E2M1x2" => Some(Elem::F4e2m1x2),
        "f4E1M2x2" => Some(Elem::F4e1m2x2),
        _ => None,
    })
}

pub(crate) fn elem(piece: Piece<'_>) -> Res<Elem> {
    if let Some(elem) = named_elem(piece.text) {
        return Ok(elem);
    }
    let help = match Elem::nearest(piece.text) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "element types are f32, f16, bf16, i8 to i64, u8 to u64 and the fp8 and fp4 types".into(),
    };
    fault(piece, format!("`{}` is no element type", shown(piece.text)), help)
}

pub(crate) fn number(piece: Piece<'_>) -> Res<u64> {
    let digits = !piece.text.is_empty() && piece.text.bytes().all(|b| b.is_ascii_digit());
    if !digits {
        return fault(piece, format!("`{}` is no number", shown(piece.text)), "write a decimal number");
    }
    piece.text.parse().or_else(|_| {
        let what = format!("{} does not fit into 64 bits", shown(piece.text));
        fault_of("syntax-integer", piece, what, "no extent is larger than 2^32")
    })
}

type Dims = SmallVec<[Option<u64>; 5]>;

/// `16x?xf32`: extents, then whatever follows the last `x` that ends an extent.
pub(crate) fn dims(piece: Piece<'_>) -> Res<(Dims, SmallVec<[Span; 6]>, Piece<'_>)> {
    let mut out = Dims::new();
    let mut spans = SmallVec::new();
    let mut rest = piece;
    loop {
        let first = rest.text.as_bytes().first().copied().unwrap_or(0);
        if !first.is_ascii_digit() && first != b'?' {
            return Ok((out, spans, rest));
        }
        let Some(at) = rest.text.find('x') else {
            let what = format!("`{}` has no element type", shown(piece.text));
            return fault(rest, what, "write extents and element type joined by `x`, as in 16x64xf32");
        };
        let (head, tail) = rest.cut(at, 1);
        out.push(if head.text == "?" { None } else { Some(number(head)?) });
        spans.push(head.span());
        if out.len() > 8 {
            return fault(piece, "the type has more than 8 dimensions", "views have one to five");
        }
        rest = tail;
    }
}

fn view(body: Piece<'_>, partition: bool) -> Res<Type> {
    let (dims, _, rest) = dims(body.trim())?;
    if dims.is_empty() || dims.len() > 5 {
        let what = format!("a view of {} dimensions does not exist", dims.len());
        return fault(body, what, "write one to five extents, as in ?x?xf32");
    }
    let elem = elem(rest)?;
    if is_paired(rest.text) {
        let help = format!("write {elem}, whose extents count elements");
        return fault(rest, "a view of pairs is not read", help);
    }
    Ok(Type::View(ViewType { partition, dims, elem }))
}

/// `4xi16`.
fn vector(body: Piece<'_>) -> Res<Type> {
    let (dims, _, rest) = dims(body.trim())?;
    match (dims.as_slice(), scalar(rest.text)) {
        ([Some(len @ 1..=1024)], Some(ty)) => Ok(Type::Vector(*len, ty)),
        _ => fault(body, "a vector has one known extent of at most 1024 and a scalar type", "write vector<4xi16>"),
    }
}

fn pointer(body: Piece<'_>) -> Res<Type> {
    let items = body.items();
    match items.as_slice() {
        [e] => Ok(Type::Ptr(elem(*e)?, None)),
        [e, space] if !space.text.is_empty() => {
            micro::space(*space).and(Ok(Type::Ptr(elem(*e)?, Some(space.text.into()))))
        }
        _ => fault(body, "a pointer has an element type and at most an address space", "write !pto.ptr<f32>"),
    }
}

fn conv(body: Piece<'_>) -> Res<ConvType> {
    let items = body.items();
    let [loc, format, shape] = items.as_slice() else {
        let what = format!("a conv tile has 3 parts, and {} are written", items.len());
        let help = "write location, NC1HWC0 or NDC1HWC0, and extents, as in mat, NC1HWC0, 1x2x16x16x16xf16";
        return fault(body, what, help);
    };
    let loc = tile::loc(*loc)?;
    let has_depth = format.text == "NDC1HWC0";
    if !has_depth && format.text != "NC1HWC0" {
        let what = format!("`{}` is no format of a conv tile", shown(format.text));
        return fault(*format, what, "write NC1HWC0 or NDC1HWC0");
    }
    let (written, _, rest) = dims(*shape)?;
    let wanted = if has_depth { 6 } else { 5 };
    let known: SmallVec<[u64; 6]> = written.iter().copied().flatten().collect();
    if written.len() != wanted || known.len() != wanted {
        let what = format!("{} has {wanted} known extents, and {} are written", format.text, known.len());
        return fault(*shape, what, format!("write {wanted} numbers, then the element type"));
    }
    let mut dims = [1u64; 6];
    let slots = dims.iter_mut().enumerate().filter(|(i, _)| has_depth || *i != 1);
    for ((_, slot), n) in slots.zip(&known) {
        *slot = *n;
    }
    Ok(ConvType { loc, has_depth, dims, elem: elem(rest)? })
}

fn memref(body: Piece<'_>) -> Res<Type> {
    let items = body.items();
    let mut items = items.into_iter();
    let (dims, _, rest) = dims(items.next().unwrap_or(body))?;
    if dims.len() > 6 {
        return fault(body, "a memref has at most six dimensions here", "use a tensor view");
    }
    let mut out = MemrefType { dims, elem: elem(rest)?, strided: None, space: None };
    for item in items {
        if let (Some(inner), None) = (item.inside("strided<", ">"), &out.strided) {
            out.strided = Some(strided(inner, out.dims.len())?);
        } else if out.space.is_none() && !item.text.is_empty() && !item.text.starts_with("affine_map") {
            out.space = Some(item.text.into());
        } else {
            let what = format!("`{}` is no layout or address space of a memref", shown(item.text));
            return fault(item, what, "write strided<[…], offset: n> or #pto.address_space<…>");
        }
    }
    match out.space.as_deref().and_then(tile::space) {
        Some(loc) => tile::of_memref(body, loc, &out.dims, out.elem).map(Type::Tile),
        None => Ok(Type::Memref(out)),
    }
}

/// The strides that the text of a tile's type has.
pub(crate) fn strides_in(text: &str) -> Option<SmallVec<[Option<i64>; 5]>> {
    let (_, rest) = text.split_once("strided<[")?;
    let (list, _) = rest.split_once(']')?;
    list.split(',').map(|s| signed(Piece { text: s.trim(), start: 0 }).ok()).collect()
}

fn strided(body: Piece<'_>, rank: usize) -> Res<Strided> {
    let items = body.items();
    let mut items = items.into_iter();
    let list = items.next().unwrap_or(body);
    let Some(inner) = list.inside("[", "]") else {
        return fault(list, "the strides are not in brackets", "write strided<[16, 1]>");
    };
    let written = inner.items().into_iter().filter(|_| !inner.text.trim().is_empty());
    let strides = written.map(signed).collect::<Res<SmallVec<_>>>()?;
    if strides.len() != rank {
        let what = format!("{} strides do not fit {rank} dimensions", strides.len());
        return fault(list, what, "write one stride per dimension");
    }
    let offset = match items.next().map(|item| (item, item.inside("offset:", ""))) {
        Some((_, Some(value))) => signed(value.trim())?,
        Some((item, None)) => return fault(item, format!("`{}` is no offset", shown(item.text)), "write offset: 0"),
        None => Some(0),
    };
    if let Some(extra) = items.next() {
        return fault(extra, "nothing follows the offset", "remove it");
    }
    Ok(Strided { strides, offset })
}

fn signed(piece: Piece<'_>) -> Res<Option<i64>> {
    if piece.text == "?" {
        return Ok(None);
    }
    let no_stride = |_| fault(piece, format!("`{}` is no stride", shown(piece.text)), "write an integer or `?`");
    piece.text.parse().map(Some).or_else(no_stride)
}
