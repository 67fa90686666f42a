//! The instruction table says what the tables of the specification say (docs/spec/isa/*.toml), row by row: two
//! statements of the same facts, written apart.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::LazyLock;
use tessera_isa::elem::Elem;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::sig::find;
use tessera_isa::ops::{AttrKind, AttrName, CommPart, Effect, Family, Form, Judged, Kind, Miss, Opcode, Role, Text};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, LayoutName, Loc, SLayout, Tile, TileType};
use toml::{Table, Value};

/// The additions of later versions to rows (isa/today.md).
static TODAY: LazyLock<Table> = LazyLock::new(|| include_str!("../../../../docs/spec/isa/today.toml").parse().unwrap());

const FILES: [&str; 6] = ["elementwise", "scalar", "reduce", "matrix", "memory", "irregular"];

fn rows() -> Vec<Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/isa");
    let read = |file: &str| {
        let text = std::fs::read_to_string(folder.join(format!("{file}.toml"))).unwrap();
        let all: Table = text.parse().unwrap();
        all["op"].as_array().unwrap().iter().map(|row| row.as_table().unwrap().clone()).collect::<Vec<_>>()
    };
    let later = |row: &Table| words(row, "aliases").iter().all(|alias| !alias.starts_with("comm."));
    let today: Vec<Table> = read("today").into_iter().filter(later).collect();
    let key = |row: &Table| (row["name"].clone(), row.get("form").cloned());
    let is_replaced = |row: &Table| today.iter().any(|new| key(new) == key(row));
    let old = FILES.into_iter().flat_map(read).filter(|row| !is_replaced(row)).collect::<Vec<_>>();
    old.into_iter().chain(today).collect()
}

fn words(row: &Table, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(Value::as_array);
    list.into_iter().flatten().map(|v| v.as_str().unwrap().to_string()).collect()
}

fn elems(list: &Value) -> Vec<Elem> {
    let list = list.as_array().unwrap().iter().map(|v| v.as_str().unwrap());
    list.flat_map(|word| match word {
        "any" => Elem::ALL.to_vec(),
        "any but fp4" => Elem::ALL.iter().copied().filter(|e| !e.is_fp4()).collect(),
        word => vec![Elem::parse(word).unwrap_or_else(|| panic!("no type {word}"))],
    })
    .collect()
}

/// One way of writing a row's operands: the form, and what stands in `ins` and `outs`.
struct Variant {
    form: Form,
    ins: Vec<String>,
    outs: Vec<String>,
}

/// `ins2` is the scalar first, `[dst_val]` a form of its own.
fn variants(row: &Table) -> Vec<Variant> {
    let (ins, outs) = (words(row, "ins"), words(row, "outs"));
    let plain: Vec<String> = outs.iter().filter(|o| *o != "[dst_val]").cloned().collect();
    let form = match row.get("form").map(|f| f.as_str().unwrap()) {
        Some("compare") => Form::Compare,
        Some("mask") => Form::Mask,
        Some("blocks") => Form::Blocks,
        Some("lists") => Form::Lists,
        Some("zz") => Form::Tmp,
        _ => Form::Plain,
    };
    let mut all = vec![Variant { form, ins: ins.clone(), outs: plain.clone() }];
    if row.contains_key("ins2") {
        all.push(Variant { form: Form::ScalarFirst, ins: words(row, "ins2"), outs: plain.clone() });
    }
    if outs != plain {
        let outs = outs.iter().map(|o| o.trim_matches(['[', ']']).to_string()).collect();
        all.push(Variant { form: Form::Valued, ins, outs });
    }
    all
}

/// Whether the specification's `types` take these.
fn takes(types: &Value, tiles: &[(Role, Elem)], irregular: bool) -> bool {
    let find = |name: &str| tiles.iter().find(|(r, _)| r.name() == name).map(|(_, e)| *e);
    let of = |name: &str| find(name).expect(name);
    let equal = |list: &Value, tiles: &[(Role, Elem)]| {
        elems(list).contains(&tiles[0].1) && tiles.iter().all(|t| t.1 == tiles[0].1)
    };
    let tuple = |rows: &Value, names: &[&str]| {
        rows.as_array().unwrap().iter().any(|row| {
            let row = elems(row);
            names.iter().zip(row).all(|(name, elem)| of(name) == elem)
        })
    };
    let Value::Table(table) = types else { return equal(types, tiles) };
    if irregular {
        return takes_irregular(table, tiles);
    }
    if table.contains_key("same") || table.contains_key("pairs") || table.contains_key("triples") {
        return table.iter().any(|(key, value)| match key.as_str() {
            "same" => equal(value, tiles),
            "pairs" => tuple(value, &["src", "dst"]),
            "triples" => tuple(value, &["a", "b", "dst"]),
            // Beside pairs they only list what occurs in them.
            "src" | "dst" => false,
            other => panic!("types has {other}"),
        });
    }
    // The sources of a comparison have one type (isa/notes.md).
    if !table.contains_key("data") && find("src0").zip(find("src1")).is_some_and(|(a, b)| a != b) {
        return false;
    }
    let valued = find("dst_val").is_some();
    table.iter().all(|(key, asked)| match (key.as_str(), asked) {
        ("data", list) => {
            let data: Vec<_> = tiles.iter().filter(|t| t.0 != Role::Mask).copied().collect();
            equal(list, &data)
        }
        // With values a key of that name counts instead.
        (role, _) if valued && table.contains_key(&format!("{role}_with_val")) => true,
        (key, asked) if key.contains("_with_val") => {
            if !valued {
                return true;
            }
            let size = of("src").size().unwrap_or(0);
            match (key, asked) {
                ("dst_with_val_2_byte_src", list) => size != 2 || elems(list).contains(&of("dst")),
                ("dst_with_val", Value::String(text)) => {
                    assert_eq!(text, "i16 u16 for 2-byte src, i32 u32 for 4-byte src");
                    match size {
                        2 => [Elem::I16, Elem::U16].contains(&of("dst")),
                        4 => [Elem::I32, Elem::U32].contains(&of("dst")),
                        _ => false,
                    }
                }
                (key, list) => elems(list).contains(&of(key.trim_end_matches("_with_val"))),
            }
        }
        ("dst", _) if valued && table.contains_key("dst_with_val_2_byte_src") && of("src").size() == Some(2) => true,
        (role, Value::String(other)) => find(role).is_none_or(|elem| elem == of(other)),
        (role, list) => elems(list).contains(&of(role)),
    })
}

const STANDARD_INDEX: &[Elem] = &[Elem::I16, Elem::U16, Elem::I32, Elem::U32];

/// Whether a list of pairs has one.
fn rows_have(table: &Table, value: &str, index: &str) -> bool {
    let pair = |row: &Value| row.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).eq([value, index]);
    table["pairs"].as_array().unwrap().iter().any(pair)
}

/// The same in the irregular family, where values and their indices have names of their own.
fn takes_irregular(table: &Table, tiles: &[(Role, Elem)]) -> bool {
    let operand = |name: &str| tiles.iter().find(|(r, _)| r.name() == name).map(|(_, e)| *e);
    let find = |name: &str| match name {
        "val" => operand("src0"),
        "idx" => operand("idx").or(operand("src0Idx")),
        name => operand(name),
    };
    table.iter().all(|(key, asked)| match (key.as_str(), asked) {
        // The wider of page and assembler (isa/today.md 6.8).
        ("pairs", _) if table.contains_key("src0Idx") && !table.contains_key("val") => {
            let (val, idx) = (find("val").unwrap(), find("idx").unwrap());
            let is_narrow = val != Elem::F32 || rows_have(table, "f32", "i16");
            let index = if is_narrow { STANDARD_INDEX } else { &STANDARD_INDEX[2..] };
            tessera_isa::ops::sig::STANDARD.contains(&val) && index.contains(&idx)
        }
        ("pairs", rows) => {
            let pair = |row: &Value| elems(row) == [find("val").unwrap(), find("idx").unwrap()];
            rows.as_array().unwrap().iter().any(pair)
        }
        // a2a3 compares it with equal only, which an attribute says; a scalar has a rule.
        ("src_equal_only" | "scalar", _) => true,
        (key, Value::String(text)) if text == "one of the same size" => {
            find(key).unwrap().bits() == find("src").unwrap().bits()
        }
        (key, Value::String(other)) => find(key).is_none_or(|elem| Some(elem) == find(other)),
        (key, list) => {
            let mut all = elems(list);
            if let (Some(more), "src") = (table.get("src_equal_only"), key) {
                all.extend(elems(more));
            }
            all.contains(&find(key).unwrap())
        }
    })
}

/// The allowed locations of the operand; `None` if the specification does not list them.
fn places(row: &Value, role: Role) -> Option<Vec<Loc>> {
    let words: Vec<&str> = match row {
        Value::Array(list) => list.iter().map(|v| v.as_str().unwrap()).collect(),
        table => vec![table[role.name()].as_str().unwrap()],
    };
    (words != ["any"]).then(|| words.iter().map(|word| Loc::parse(word).unwrap()).collect())
}

/// Masks are ND on every profile (isa/elementwise.md 2).
const MASKS: [(&str, Role); 4] =
    [("tcmp", Role::Dst), ("tcmps", Role::Dst), ("tsel", Role::Mask), ("tsels", Role::Mask)];

/// Whether the specification's `layout` takes this tile as this operand.
fn laid_out(op: &str, row: &Value, role: Role, tile: &Tile) -> bool {
    let name = tile.layout_name();
    if MASKS.contains(&(op, role)) {
        return name == LayoutName::Nd;
    }
    let word = match row {
        Value::String(all) => all.as_str(),
        // By location.
        Value::Table(by) if by.contains_key("vec") => by[tile.loc.name()].as_str().unwrap(),
        // The other source is ND, so this one may be the one that is repeated.
        Value::Table(by) if by.contains_key("full") && role != Role::Dst => {
            assert_eq!(by["broadcast"].as_str(), Some("dn with cols 1, or row_major"));
            "nd_or_dn1"
        }
        table => table.get(role.name()).map_or("any", |v| v.as_str().unwrap()),
    };
    match word.split_once(' ') {
        Some((_, "with slayout row_major")) => name == LayoutName::Zz,
        Some((layout, fractal)) => name.name() == layout && tile.fractal == fractal.parse::<u32>().unwrap(),
        None => match word {
            "any" => true,
            "row_major" => name == LayoutName::Nd,
            "nd_or_dn" => matches!(name, LayoutName::Nd | LayoutName::Dn),
            "nd_or_dn1" => name == LayoutName::Nd || name == LayoutName::Dn && tile.cols == 1,
            layout => name.name() == layout,
        },
    }
}

/// Checks that the table's attribute agrees with the specification's line: name, words in order, default.
fn is_attribute(name: AttrName, text: &str) {
    let (key, values) = text.split_once(" = ").unwrap();
    assert_eq!(name.name(), key);
    let info = name.info();
    let (family, list) = match values.strip_prefix("#pto<").and_then(|v| v.strip_suffix('>')) {
        Some(inner) => inner.split_once(' ').unwrap(),
        None => ("", values),
    };
    let listed: Vec<&str> = list.split(" | ").collect();
    // The default if the attribute is left out: the first word, except in isa/notes.md.
    let usual = match key {
        "rmode" => Some("CAST_RINT"),
        "sat_mode" | "src1Col" | "src0eqdst" => None,
        _ => Some(listed[0]),
    };
    match info.kind {
        AttrKind::Word { list, spelling, .. } => {
            assert_eq!(list.iter().map(|w| w.name).collect::<Vec<_>>(), listed, "{text}");
            assert_eq!(spelling.spell("x"), format!("#pto<{family} x>"), "{text}");
            let wanted = usual.map(|word| AttrValue::Word(listed.iter().position(|w| *w == word).unwrap() as u8));
            assert_eq!(info.default, wanted, "{text}");
        }
        AttrKind::Bool => assert_eq!(info.default, usual.map(|w| AttrValue::Bool(w == "true")), "{text}"),
        AttrKind::Int(_) => assert_eq!((info.default, usual, listed), (None, None, vec!["1"]), "{text}"),
        other => panic!("{text}: {other:?}"),
    }
}

/// The same for an attribute of the irregular family: which words and numbers there are, and which one counts.
fn is_irregular_attribute(attrs: &[AttrName], text: &str) {
    let (key, values) = text.split_once(" = ").unwrap();
    if key == "axis" {
        return;
    }
    let name = *attrs.iter().find(|a| a.name() == key).unwrap_or_else(|| panic!("no {key}"));
    let values = values.split(" : ").next().unwrap().split(" (required)").next().unwrap();
    let body = values.strip_prefix("#pto").map(|v| v.trim_end_matches('>'));
    let body = body.and_then(|v| v.split_once('<')).map_or(values, |(dialect, v)| match dialect {
        "" => v.split_once(' ').unwrap().1,
        _ => v,
    });
    let listed: Vec<&str> = body.split(" | ").map(|w| w.split(' ').next().unwrap()).collect();
    match name.info().kind {
        AttrKind::Word { list, .. } => {
            for word in &listed {
                assert!(list.iter().any(|w| w.name == *word || w.also.contains(word)), "{text}: {word}");
            }
            // maskPattern and quant_type have to be written.
            let default = ["cmpMode", "quantScaleAlg", "grpAxis"].contains(&key).then_some(AttrValue::Word(0));
            assert_eq!(name.info().default, default, "{text}");
        }
        AttrKind::Bool => assert_eq!(name.info().default, Some(AttrValue::Bool(listed[0] == "true")), "{text}"),
        // Without `byte`, isMSB says which (isa/notes.md).
        AttrKind::Int(ty) => {
            assert_eq!(ty, Some("i32"), "{text}");
            let first = listed[0].parse().ok().filter(|_| key != "byte");
            assert_eq!(name.info().default, first.map(AttrValue::Int), "{text}");
        }
        other => panic!("{text}: {other:?}"),
    }
}

/// The rules of a page, in the order in which they are asked (isa/elementwise.md 2, reduce.md 2).
fn order(family: Family) -> &'static [&'static str] {
    match family {
        Family::Reduce => &[
            "loc",
            "layout",
            "dtype",
            "valid",
            "empty",
            "index",
            "attr",
            "precision",
            "tmp",
            "tmp-size",
            "overlap",
            "zero",
        ],
        Family::Elementwise | Family::Scalar => &[
            "loc",
            "layout",
            "dtype",
            "valid",
            "shape",
            "tmp",
            "tmp-size",
            "mask",
            "dense",
            "mode",
            "scalar",
            "precision",
            "inplace",
            "overlap",
            "zero",
            "range",
        ],
        Family::Irregular => &[
            "operand-count",
            "profile",
            "loc",
            "layout",
            "dtype",
            "size",
            "scalar",
            "attr",
            "valid",
            "shape",
            "block",
            "param",
            "tmp",
            "tmp-size",
            "overlap",
            "footprint",
            "index",
            "room",
            "undefined-use",
            "duplicate",
            "unsorted",
            "hw",
        ],
        _ => &[],
    }
}

const LAYOUTS: [(BLayout, SLayout, u32); 8] = [
    (BLayout::RowMajor, SLayout::NoneBox, 512),
    (BLayout::ColMajor, SLayout::NoneBox, 512),
    (BLayout::ColMajor, SLayout::RowMajor, 512),
    (BLayout::ColMajor, SLayout::RowMajor, 1024),
    (BLayout::RowMajor, SLayout::ColMajor, 512),
    (BLayout::RowMajor, SLayout::RowMajor, 512),
    (BLayout::RowMajor, SLayout::RowMajor, 1024),
    (BLayout::ColMajor, SLayout::ColMajor, 512),
];

fn tile(loc: Loc, elem: Elem, layout: (BLayout, SLayout, u32), cols: u64, profile: Profile) -> Tile {
    let (b, s, f) = layout;
    Tile { blayout: b, ..TileType::new(loc, elem, 64, cols).with_layout(b, s, f).resolve(profile) }
}

/// All tuples of types for the operands; of more than three, all that have two types.
fn tuples(roles: &[Role], each: &mut impl FnMut(&[(Role, Elem)])) {
    let n = Elem::ALL.len();
    let mut give = |pick: &dyn Fn(usize) -> Elem| {
        let tuple: Vec<(Role, Elem)> = roles.iter().enumerate().map(|(i, r)| (*r, pick(i))).collect();
        each(&tuple);
    };
    if roles.len() <= 3 {
        for k in 0..n.pow(roles.len() as u32) {
            give(&|i| Elem::ALL[k / n.pow(i as u32) % n]);
        }
        return;
    }
    for (a, b) in Elem::ALL.iter().flat_map(|a| Elem::ALL.iter().map(move |b| (*a, *b))) {
        for which in 0..1usize << roles.len() {
            give(&|i| if which >> i & 1 == 0 { a } else { b });
        }
    }
}

/// Whether the instruction has a row that a program can read. Rows of moves and of global memory refer to pages; rows
/// of the matrix unit are compared in table_matrix.rs.
fn is_compared(op: Opcode) -> bool {
    !op.info().by_flows() && !matches!(op.info().family, Family::Memory | Family::Matrix)
}

#[test]
fn rows_say_what_the_specification_says() {
    let mut compared = Vec::new();
    for row in rows() {
        let name = row["name"].as_str().unwrap();
        let Some(op) = Opcode::parse(name) else { panic!("no row {name}") };
        // Exponents in another order are an instruction of their own (isa/today.md 6.5).
        let op = if row.get("form").and_then(Value::as_str) == Some("zz") { op.along("").unwrap() } else { op };
        let variants = variants(&row);
        // A pattern along an axis is an instruction of its own (isa/today.md 6.6).
        let by_axis = row.get("attrs").is_some_and(|_| words(&row, "attrs").iter().any(|a| a.starts_with("axis")));
        for op in ["row", "col"].into_iter().filter(|_| by_axis).filter_map(|axis| op.along(axis)) {
            assert_eq!(op.info().cpp[0], row["cpp"].as_str().unwrap(), "{name}");
            words(&row, "attrs").iter().for_each(|text| is_irregular_attribute(op.info().attrs, text));
            is_form(op, &variants[0], &row);
        }
        if !is_compared(op) || by_axis && op.form(variants[0].form).is_none() {
            continue;
        }
        let info = op.info();
        // Rows are keyed by name and form; the instruction is described by its first form.
        if variants[0].form != info.forms[0].form {
            is_form(op, &variants[0], &row);
            for form in info.forms.iter().filter(|f| f.form == variants[0].form && !by_axis) {
                assert_eq!(form.formula, row["formula"].as_str(), "{name}");
            }
            words(&row, "attrs").iter().for_each(|text| is_irregular_attribute(info.attrs, text));
            continue;
        }
        assert_eq!(info.cpp[0], row["cpp"].as_str().unwrap(), "{name}");
        assert_eq!(info.aliases, words(&row, "aliases"), "{name}");
        assert_eq!(info.summary, row["summary"].as_str().unwrap(), "{name}");
        assert_eq!(info.formula, row["formula"].as_str().unwrap(), "{name}");
        let (pipe, into_mat) = match row["pipe"].as_str().unwrap().split_once(", into Mat ") {
            Some((pipe, mat)) => (pipe, mat),
            // With scratch TCI works on another pipe.
            None => (row["pipe"].as_str().unwrap().split(", with").next().unwrap(), "V"),
        };
        assert_eq!(info.pipe.name(), pipe, "{name}");
        for sig in info.sigs {
            let is_mat = sig.locs.contains(&(Role::Dst, &[Loc::Mat]));
            // Of several phases the last is named (isa/today.md 8.1).
            let last = |p: Profile| -> Option<&str> {
                let phases = row.get(p.name())?.get("phases")?.as_array()?;
                phases.last()?.as_array()?.first()?.as_str()
            };
            if sig.forms == [Form::Tmp] && info.forms.len() > 1 {
                assert_eq!(row["pipe"].as_str(), Some("S, with tmp V"), "{name}");
                continue;
            }
            let pipe = match last(sig.on.iter().next().unwrap()) {
                Some(last) => last,
                _ if is_mat => into_mat,
                _ => pipe,
            };
            assert_eq!(sig.pipe.name(), pipe, "{name}");
        }
        let attrs = words(&row, "attrs");
        if info.family == Family::Irregular {
            attrs.iter().for_each(|text| is_irregular_attribute(info.attrs, text));
        } else {
            assert_eq!(info.attrs.len(), attrs.len(), "{name}");
            info.attrs.iter().zip(&attrs).for_each(|(attr, text)| is_attribute(*attr, text));
            let forms = |v: &Variant| v.form;
            assert!(info.forms.iter().map(|f| f.form).eq(variants.iter().map(forms)), "{name}");
        }
        for variant in &variants {
            is_form(op, variant, &row);
        }
        let places: Vec<Option<usize>> = info
            .rules
            .iter()
            .map(|r| r.id.strip_prefix(info.mnemonic).map_or(r.id, |suffix| &suffix[1..]))
            .map(|kind| order(info.family).iter().position(|k| *k == kind))
            .collect();
        assert!(places.is_sorted(), "{name}: rules are asked in the page's order");
        if is_compared(op) && op.info().axis.is_none() {
            compared.push(name.to_string());
        }
    }
    let table = Opcode::ALL.iter().filter(|op| is_compared(**op));
    let mut table: Vec<String> = table.map(|op| op.mnemonic().to_string()).collect();
    compared.sort_unstable();
    table.sort_unstable();
    assert_eq!(compared, table, "every row of a family has a row in the specification");
}

/// One form of a row: operands, and on every profile types, locations, layouts and rules.
fn is_form(op: Opcode, variant: &Variant, row: &Table) {
    let (name, info) = (row["name"].as_str().unwrap(), op.info());
    let form = op.form(variant.form).unwrap();
    let shown = |o: &tessera_isa::ops::Operand| match o.optional {
        true => format!("[{}]", o.role),
        false => o.role.to_string(),
    };
    let mut ins = form.ins.iter().map(shown).collect::<Vec<_>>();
    if op.form(Form::Tmp).is_some() && variant.form != Form::Tmp {
        ins.push("[tmp]".into());
    }
    assert_eq!(ins, variant.ins, "{name}");
    assert_eq!(form.outs.iter().map(shown).collect::<Vec<_>>(), variant.outs, "{name}");
    let judged = |o: &&tessera_isa::ops::Operand| o.role.kind() == Kind::Tile && o.effect != Effect::Scratch;
    let roles: Vec<Role> = form.operands().filter(judged).map(|o| o.role).collect();
    for profile in Profile::ALL {
        let Some(on) = row.get(profile.name()).map(|v| v.as_table().unwrap()) else {
            assert!(!info.sigs.iter().any(|s| s.on.has(profile)), "{name} is not on {profile}");
            continue;
        };
        let verdict = |tiles: &[Judged]| find(info.sigs, profile, variant.form, tiles).map(|_| ());
        let fits = |role: Role, tile: &Tile| laid_out(name, &on["layout"], role, tile);
        // A tuple of types that the row takes, in its usual places.
        let usual = |role: Role| places(&on["loc"], role).map_or(Loc::Vec, |locs| locs[0]);
        let mut legal: Option<Vec<Judged>> = None;
        tuples(&roles, &mut |tuple| {
            for cols in [64, 1] {
                let pick = |role: Role, elem: Elem| {
                    let in_place = |l: &(BLayout, SLayout, u32)| tile(usual(role), elem, *l, cols, profile);
                    LAYOUTS.iter().map(in_place).find(|t| fits(role, t)).map(|t| (role, t))
                };
                let Some(tiles) = tuple.iter().map(|(r, e)| pick(*r, *e)).collect::<Option<Vec<Judged>>>() else {
                    continue;
                };
                let wanted = if takes(&on["types"], tuple, info.family == Family::Irregular) {
                    Ok(())
                } else {
                    Err(Miss::Dtype)
                };
                assert_eq!(verdict(&tiles), wanted, "{name} on {profile}: {tuple:?}");
                if wanted.is_ok() {
                    legal.get_or_insert(tiles);
                }
            }
        });
        let legal = legal.unwrap_or_else(|| panic!("{name} is never legal on {profile}"));
        for n in 0..legal.len() {
            let role = legal[n].0;
            for loc in Loc::ALL {
                let mut tiles = legal.clone();
                tiles[n].1.loc = *loc;
                let is_place = places(&on["loc"], role).is_none_or(|locs| locs.contains(loc));
                let wanted = if is_place { Ok(()) } else { Err(Miss::Loc) };
                assert_eq!(verdict(&tiles), wanted, "{name} {profile} {role} {loc}");
                for (layout, cols) in LAYOUTS.into_iter().flat_map(|l| [(l, 64), (l, 1)]).filter(|_| is_place) {
                    let mut tiles = legal.clone();
                    tiles[n].1 = tile(*loc, legal[n].1.elem, layout, cols, profile);
                    let wanted = if fits(role, &tiles[n].1) { Ok(()) } else { Err(Miss::Layout) };
                    assert_eq!(verdict(&tiles), wanted, "{name} {profile}: {role} {loc} {layout:?} of {cols} columns");
                }
            }
        }
        if on["layout"].as_table().is_some_and(|by| by.contains_key("full")) {
            // One source is full, so it is ND; the other may be a column.
            let of = |n: usize, (layout, cols)| tile(Loc::Vec, legal[n].1.elem, layout, cols, profile);
            let ways = || LAYOUTS.into_iter().flat_map(|l| [(l, 64), (l, 1)]);
            for (a, b) in ways().flat_map(|a| ways().map(move |b| (a, b))) {
                let mut tiles = legal.clone();
                (tiles[0].1, tiles[1].1) = (of(0, a), of(1, b));
                let is_nd = |n: usize| tiles[n].1.layout_name() == LayoutName::Nd;
                let fits = [0, 1].iter().all(|n| fits(tiles[*n].0, &tiles[*n].1)) && (is_nd(0) || is_nd(1));
                assert_eq!(verdict(&tiles), if fits { Ok(()) } else { Err(Miss::Layout) }, "{name}: {a:?} {b:?}");
            }
        }
        let kinds = info.rules.iter().filter(|r| r.on.has(profile)).filter_map(|r| r.id.strip_prefix(name));
        let mut kinds: Vec<&str> = kinds.map(|k| &k[1..]).filter(|k| !["loc", "layout", "dtype"].contains(k)).collect();
        let mut wanted: Vec<String> = words(on, "rules");
        // Forms of one mnemonic share their ids.
        let is_one_of_several = row.contains_key("form");
        kinds.retain(|kind| !is_one_of_several || wanted.iter().any(|w| w == kind));
        // Rules that later versions add (today.toml).
        let added = TODAY["change"].as_array().unwrap().iter().filter(|change| {
            let change = change.as_table().unwrap();
            words(change, "names").contains(&name.to_string())
                && words(change, "profiles").contains(&profile.to_string())
        });
        wanted.extend(added.flat_map(|change| words(change.as_table().unwrap(), "add")));
        // Integers take no scratch, on a5 either (isa/today.md 6.2).
        if ["tpow", "tpows"].contains(&name) && profile == Profile::A5 {
            wanted.push("tmp".into());
        }
        kinds.sort_unstable();
        kinds.dedup();
        wanted.retain(|kind| !["loc", "layout", "dtype"].contains(&kind.as_str()));
        wanted.sort_unstable();
        assert_eq!(kinds, wanted, "{name} on {profile}");
    }
}

/// The rows of operations between ranks: operands, results, words, pipe and rules are those of isa/today.toml.
#[test]
fn operations_between_ranks_are_those_of_the_specification() {
    let mut count = 0;
    for row in TODAY["op"].as_array().unwrap().iter().filter_map(|row| row.as_table()) {
        let names = words(row, "aliases");
        let Some(name) = names.iter().find(|name| name.starts_with("comm.")) else { continue };
        let op = Opcode::parse(name).unwrap_or_else(|| panic!("no row {name}"));
        let info = op.info();
        assert_eq!(info.mnemonic, name);
        assert_eq!(info.pipe.name(), row["pipe"].as_str().unwrap(), "{name}");
        let Text::Comm(text) = info.text else { panic!("{name} has another text") };
        let roles: Vec<String> = text
            .parts
            .iter()
            .flat_map(|part| match part {
                CommPart::One(Role::Scalar) => vec!["value".to_string()],
                CommPart::One(role) => vec![role.name().to_string()],
                CommPart::Staging(_) => vec!["ping".to_string(), "[pong]".to_string()],
                CommPart::Group(_) => vec!["group…".to_string()],
            })
            .collect();
        assert_eq!(roles, words(row, "ins"), "{name}");
        assert_eq!(text.has_result, !words(row, "outs").is_empty(), "{name}");
        let attrs: Vec<String> = words(row, "attrs").iter().map(|a| a.split(' ').next().unwrap().to_string()).collect();
        let own: Vec<String> = info.attrs.iter().map(|a| a.to_string()).collect();
        assert_eq!(own, attrs, "{name}");
        let id = name.replace('.', "_");
        for rule in words(row["all"].as_table().unwrap(), "rules") {
            let is_own = !matches!(rule.as_str(), "gm-bounds" | "async-view");
            let rule = if is_own { format!("{id}-{rule}") } else { rule };
            assert!(info.rules.iter().any(|r| r.id == rule), "{name} lacks {rule}");
        }
        count += 1;
    }
    assert_eq!(count, 11);
}
