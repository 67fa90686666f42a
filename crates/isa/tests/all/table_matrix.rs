//! The rows of the matrix unit say what docs/spec/isa/matrix.toml says: two statements of the same facts, written apart.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use tessera_isa::elem::Elem;
use tessera_isa::ops::sig::find;
use tessera_isa::ops::{AttrName, Family, Form, Judged, Miss, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Loc, SLayout, Tile, TileType};
use toml::{Table, Value};

fn rows() -> Vec<Table> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/isa/matrix.toml");
    let all: Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    all["op"].as_array().unwrap().iter().map(|row| row.as_table().unwrap().clone()).collect()
}

fn words(row: &Table, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(Value::as_array);
    list.into_iter().flatten().map(|v| v.as_str().unwrap().to_string()).collect()
}

fn elem(word: &Value) -> Elem {
    Elem::parse(word.as_str().unwrap()).unwrap()
}

/// A type for every operand of a product: those of a triple, the destination's, or a scale's.
fn tuple(roles: &[Role], triple: &[Elem], types: &Table) -> Vec<Elem> {
    let named = |name: &str| match name {
        "a" => Some(triple[0]),
        "b" => Some(triple[1]),
        "dst" => Some(triple[2]),
        _ => None,
    };
    let asked = |role: &Role| types[role.name()].as_str().unwrap();
    roles.iter().map(|r| named(r.name()).or_else(|| named(asked(r))).unwrap_or(Elem::F8e8m0)).collect()
}

const LAYOUTS: [(&str, BLayout, SLayout, u32); 9] = [
    ("ND", BLayout::RowMajor, SLayout::NoneBox, 512),
    ("DN", BLayout::ColMajor, SLayout::NoneBox, 512),
    ("NZ 512", BLayout::ColMajor, SLayout::RowMajor, 512),
    ("NZ 1024", BLayout::ColMajor, SLayout::RowMajor, 1024),
    ("ZN 512", BLayout::RowMajor, SLayout::ColMajor, 512),
    ("ZZ 512", BLayout::RowMajor, SLayout::RowMajor, 512),
    ("ZZ 32", BLayout::RowMajor, SLayout::RowMajor, 32),
    ("NN 512", BLayout::ColMajor, SLayout::ColMajor, 512),
    ("NN 32", BLayout::ColMajor, SLayout::ColMajor, 32),
];

fn tile(loc: Loc, elem: Elem, layout: &str, profile: Profile) -> Tile {
    let fits = |l: &&(&str, BLayout, SLayout, u32)| l.0.starts_with(layout);
    let (_, b, s, f) = LAYOUTS.iter().find(fits).unwrap();
    Tile { blayout: *b, ..TileType::new(loc, elem, 64, 64).with_layout(*b, *s, *f).resolve(profile) }
}

/// The specification's requirement on one operand's layout; none on cpu.
fn layout(on: &Table, role: Role) -> &str {
    match &on["layout"] {
        Value::String(_) => "ND",
        table => table[role.name()].as_str().unwrap(),
    }
}

fn loc(on: &Table, role: Role) -> Loc {
    Loc::parse(on["loc"][role.name()].as_str().unwrap()).unwrap()
}

fn texts(op: Opcode, row: &Table) {
    let info = op.info();
    assert_eq!(info.cpp[0], row["cpp"].as_str().unwrap(), "{op}");
    assert_eq!(info.aliases, words(row, "aliases"), "{op}");
    assert_eq!(info.summary, row["summary"].as_str().unwrap(), "{op}");
    assert_eq!(info.formula, row["formula"].as_str().unwrap(), "{op}");
    assert_eq!(info.pipe.name(), row["pipe"].as_str().unwrap(), "{op}");
    let roles = |key: &str| words(row, key);
    let form = op.form(Form::Plain);
    let named = |list: Option<&[tessera_isa::ops::Operand]>| -> Vec<String> {
        list.into_iter().flatten().map(|o| o.role.to_string()).collect()
    };
    assert_eq!(named(form.map(|f| f.ins)), roles("ins"), "{op}");
    assert_eq!(named(form.map(|f| f.outs)), roles("outs"), "{op}");
    // accPhase is kept and changes no result (isa/matrix.md 6): the table of the specification does not list it.
    let attrs: Vec<String> =
        info.attrs.iter().filter(|a| **a != AttrName::AccPhase).map(|a| a.name().to_string()).collect();
    let wanted: Vec<String> = words(row, "attrs").iter().map(|a| a.split(' ').next().unwrap().into()).collect();
    assert_eq!(attrs, wanted, "{op}");
}

/// The rules of the page in its order, and those of the row on each profile.
fn rules(op: Opcode, profile: Profile, on: &Table) {
    const ORDER: [&str; 16] = [
        "profile",
        "loc",
        "layout",
        "dtype",
        "valid",
        "shape",
        "range",
        "pitch",
        "bias",
        "scale",
        "scale-addr",
        "addr",
        "inplace",
        "overlap",
        "mode",
        "noop",
    ];
    let info = op.info();
    let suffix = |id: &'static str| id.strip_prefix(info.mnemonic).map_or(id, |rest| &rest[1..]);
    let all: Vec<&str> = info.rules.iter().map(|r| suffix(r.id)).collect();
    let places: Vec<usize> = all.iter().map(|k| ORDER.iter().position(|o| o == k).unwrap()).collect();
    assert!(places.is_sorted(), "{op}: {all:?}");
    let mut kinds: Vec<&str> = info.rules.iter().filter(|r| r.on.has(profile)).map(|r| suffix(r.id)).collect();
    kinds.retain(|k| !["loc", "layout", "dtype", "overlap"].contains(k));
    let mut wanted = words(on, "rules");
    // A warning that later versions add (today.toml).
    if op.mnemonic().starts_with("tmatmul") && profile.is_npu() {
        wanted.push("pitch".into());
    }
    kinds.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(kinds, wanted, "{op} on {profile}");
}

fn product(op: Opcode, profile: Profile, on: &Table) {
    let roles: Vec<Role> = op.form(Form::Plain).unwrap().operands().map(|o| o.role).collect();
    let types = on["types"].as_table().unwrap();
    let triples: Vec<Vec<Elem>> =
        types["triples"].as_array().unwrap().iter().map(|t| t.as_array().unwrap().iter().map(elem).collect()).collect();
    let verdict = |tiles: &[Judged]| find(op.info().sigs, profile, Form::Plain, tiles).map(|_| ());
    let place = |role: Role, elem: Elem| (role, tile(loc(on, role), elem, layout(on, role), profile));
    let legal: Vec<Vec<Elem>> = triples.iter().map(|t| tuple(&roles, t, types)).collect();
    // Every triple of types, the others as they belong; and every operand alone with another type.
    let any = || Elem::ALL.iter().copied();
    for (a, b, dst) in any().flat_map(|a| any().flat_map(move |b| any().map(move |d| (a, b, d)))) {
        let elems = tuple(&roles, &[a, b, dst], types);
        let tiles: Vec<Judged> = roles.iter().zip(&elems).map(|(r, e)| place(*r, *e)).collect();
        let wanted = if legal.contains(&elems) { Ok(()) } else { Err(Miss::Dtype) };
        assert_eq!(verdict(&tiles), wanted, "{op} on {profile}: {elems:?}");
    }
    for elems in &legal {
        let tiles: Vec<Judged> = roles.iter().zip(elems).map(|(r, e)| place(*r, *e)).collect();
        for n in 0..tiles.len() {
            for other in any() {
                let (mut changed, mut types) = (tiles.clone(), elems.clone());
                (changed[n], types[n]) = (place(roles[n], other), other);
                assert_eq!(verdict(&changed).is_ok(), legal.contains(&types), "{op} on {profile}: {types:?}");
            }
        }
    }
    let tiles: Vec<Judged> = roles.iter().zip(&legal[0]).map(|(r, e)| place(*r, *e)).collect();
    for n in 0..tiles.len() {
        for other in Loc::ALL {
            let mut changed = tiles.clone();
            changed[n].1.loc = *other;
            let wanted = if loc(on, roles[n]) == *other { Ok(()) } else { Err(Miss::Loc) };
            assert_eq!(verdict(&changed), wanted, "{op} on {profile}: {} in {other}", roles[n]);
        }
        for (name, ..) in LAYOUTS {
            let mut changed = tiles.clone();
            changed[n].1 = tile(loc(on, roles[n]), legal[0][n], name, profile);
            let fits = on["layout"].is_str() || name.starts_with(layout(on, roles[n]));
            let wanted = if fits { Ok(()) } else { Err(Miss::Layout) };
            assert_eq!(verdict(&changed), wanted, "{op} on {profile}: {} {name}", roles[n]);
        }
    }
}

/// tget_scale_addr: pairs of locations.
fn binding(op: Opcode, profile: Profile, on: &Table) {
    let types = |role: Role, elem: Elem| match &on["types"] {
        Value::Table(list) => list[role.name()].as_array().unwrap().iter().any(|e| self::elem(e) == elem),
        _ => true,
    };
    let pairs: Vec<[Loc; 2]> = on["loc"]["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| [0, 1].map(|n| Loc::parse(pair[n].as_str().unwrap()).unwrap()))
        .collect();
    for (src, dst) in Loc::ALL.iter().flat_map(|s| Loc::ALL.iter().map(move |d| (*s, *d))) {
        for (from, to) in Elem::ALL.iter().flat_map(|s| Elem::ALL.iter().map(move |d| (*s, *d))) {
            for (name, ..) in LAYOUTS {
                let tiles = [(Role::Src, tile(src, from, "NZ", profile)), (Role::Dst, tile(dst, to, name, profile))];
                // Text has one word for three memories (isa/today.md 2).
                let dst = tiles[1].1.loc;
                let layout = on["layout"].get(dst.name()).map_or("", |word| word.as_str().unwrap());
                let wanted = match (pairs.contains(&[src, dst]), name.starts_with(layout)) {
                    (false, _) => Err(Miss::Loc),
                    (true, false) => Err(Miss::Layout),
                    (true, true) if types(Role::Src, from) && types(Role::Dst, to) => Ok(()),
                    (true, true) => Err(Miss::Dtype),
                };
                let found = find(op.info().sigs, profile, Form::Plain, &tiles).map(|_| ());
                assert_eq!(found, wanted, "{op} on {profile}: {src} {from} → {dst} {to} {name}");
            }
        }
    }
}

#[test]
fn rows_say_what_the_specification_says() {
    let mut compared = 0;
    for row in rows() {
        let op = Opcode::parse(row["name"].as_str().unwrap()).unwrap();
        texts(op, &row);
        compared += 1;
        for profile in Profile::ALL {
            let Some(on) = row.get(profile.name()).map(|v| v.as_table().unwrap()) else {
                assert!(!op.info().sigs.iter().any(|s| s.on.has(profile)), "{op} is not on {profile}");
                continue;
            };
            rules(op, profile, on);
            match on.get("loc") {
                Some(Value::Table(by)) if by.contains_key("pairs") => binding(op, profile, on),
                Some(_) => product(op, profile, on),
                None => assert!(op.info().sigs.is_empty(), "{op}"),
            }
        }
    }
    let family = Opcode::ALL.iter().filter(|op| op.info().family == Family::Matrix).count();
    assert_eq!(compared, family, "every row of the family has a row in the specification");
}
