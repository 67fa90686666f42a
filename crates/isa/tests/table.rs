//! The instruction table says what the tables of the specification say (docs/spec/isa/*.toml), row by row: two
//! statements of the same facts, written apart.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use tessera_isa::elem::Elem;
use tessera_isa::ops::sig::find;
use tessera_isa::ops::{Effect, Family, Form, Judged, Kind, Miss, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, LayoutName, Loc, SLayout, Tile, TileType};
use toml::{Table, Value};

const FILES: [&str; 6] = ["elementwise", "scalar", "reduce", "matrix", "memory", "irregular"];

fn rows() -> Vec<Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/isa");
    let read = |file: &str| {
        let text = std::fs::read_to_string(folder.join(format!("{file}.toml"))).unwrap();
        let all: Table = text.parse().unwrap();
        all["op"].as_array().unwrap().iter().map(|row| row.as_table().unwrap().clone()).collect::<Vec<_>>()
    };
    FILES.into_iter().flat_map(read).collect()
}

fn words(row: &Table, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(Value::as_array);
    list.into_iter().flatten().map(|v| v.as_str().unwrap().to_string()).collect()
}

fn elems(list: &Value) -> Vec<Elem> {
    let list = list.as_array().unwrap().iter().map(|v| v.as_str().unwrap());
    list.flat_map(|word| match word {
        "any but fp4" => Elem::ALL.iter().copied().filter(|e| !e.is_fp4()).collect(),
        word => vec![Elem::parse(word).unwrap_or_else(|| panic!("no type {word}"))],
    })
    .collect()
}

/// Does the specification's `types` take these?
fn takes(types: &Value, tiles: &[(Role, Elem)]) -> bool {
    let of = |name: &str| tiles.iter().find(|(r, _)| r.name() == name).map(|(_, e)| *e).expect(name);
    let equal = |list: &Value| elems(list).contains(&tiles[0].1) && tiles.iter().all(|t| t.1 == tiles[0].1);
    let tuple = |rows: &Value, names: &[&str]| {
        rows.as_array().unwrap().iter().any(|row| {
            let row = elems(row);
            names.iter().zip(row).all(|(name, elem)| of(name) == elem)
        })
    };
    let Value::Table(table) = types else { return equal(types) };
    if table.contains_key("same") || table.contains_key("pairs") || table.contains_key("triples") {
        return table.iter().any(|(key, value)| match key.as_str() {
            "same" => equal(value),
            "pairs" => tuple(value, &["src", "dst"]),
            "triples" => tuple(value, &["a", "b", "dst"]),
            other => panic!("types has {other}"),
        });
    }
    table.iter().all(|(role, asked)| match asked {
        Value::String(other) => of(role) == of(other),
        list => elems(list).contains(&of(role)),
    })
}

fn place(row: &Value, role: Role) -> Option<Loc> {
    let word = match row {
        Value::Array(one) => one[0].as_str().unwrap(),
        table => table[role.name()].as_str().unwrap(),
    };
    (word != "any").then(|| Loc::parse(word).unwrap())
}

/// Does the specification's `layout` take this tile as this operand?
fn laid_out(row: &Value, role: Role, tile: &Tile) -> bool {
    let word = match row {
        Value::String(all) => all.as_str(),
        table => table.get(role.name()).map_or("any", |v| v.as_str().unwrap()),
    };
    let name = tile.layout_name();
    match word.split_once(' ') {
        Some((layout, fractal)) => name.name() == layout && tile.fractal == fractal.parse::<u32>().unwrap(),
        None => match word {
            "any" => true,
            "row_major" => name == LayoutName::Nd,
            "nd_or_dn1" => name == LayoutName::Nd || name == LayoutName::Dn && tile.cols == 1,
            layout => name.name() == layout,
        },
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

/// All tuples of types for the operands.
fn tuples(roles: &[Role], each: &mut impl FnMut(&[(Role, Elem)])) {
    let n = Elem::ALL.len();
    for k in 0..n.pow(roles.len() as u32) {
        let pick = |i: usize| Elem::ALL[k / n.pow(i as u32) % n];
        let tuple: Vec<(Role, Elem)> = roles.iter().enumerate().map(|(i, r)| (*r, pick(i))).collect();
        each(&tuple);
    }
}

#[test]
fn rows_say_what_the_specification_says() {
    let mut compared = Vec::new();
    for row in rows() {
        let name = row["name"].as_str().unwrap();
        // TLOAD and TSTORE are rows of the layout set here; their tables there are larger.
        let Some(op) = Opcode::parse(name).filter(|op| op.info().family != Family::Support) else { continue };
        // Rows are keyed by name and form; a form without an entry in the table is not there yet.
        if row.get("form").is_some_and(|f| f.as_str() != Some("index")) {
            continue;
        }
        let info = op.info();
        let form = info.forms.iter().find(|f| f.form == Form::Plain).unwrap();
        assert_eq!(info.cpp[0], row["cpp"].as_str().unwrap(), "{name}");
        assert_eq!(info.aliases, words(&row, "aliases"), "{name}");
        assert_eq!(info.summary, row["summary"].as_str().unwrap(), "{name}");
        assert_eq!(info.formula, row["formula"].as_str().unwrap(), "{name}");
        assert_eq!(info.pipe.name(), row["pipe"].as_str().unwrap(), "{name}");
        let shown = |o: &tessera_isa::ops::Operand| match o.optional {
            true => format!("[{}]", o.role),
            false => o.role.to_string(),
        };
        assert_eq!(form.ins.iter().map(shown).collect::<Vec<_>>(), words(&row, "ins"), "{name}");
        assert_eq!(form.outs.iter().map(shown).collect::<Vec<_>>(), words(&row, "outs"), "{name}");
        let attrs: Vec<String> =
            words(&row, "attrs").iter().map(|a| a.split(' ').next().unwrap().to_string()).collect();
        assert_eq!(info.attrs.iter().map(|a| a.name().to_string()).collect::<Vec<_>>(), attrs, "{name}");
        let judged = |o: &&tessera_isa::ops::Operand| o.role.kind() == Kind::Tile && o.effect != Effect::Scratch;
        let roles: Vec<Role> = form.operands().filter(judged).map(|o| o.role).collect();
        for profile in Profile::ALL {
            let Some(on) = row.get(profile.name()).map(|v| v.as_table().unwrap()) else {
                assert!(!info.sigs.iter().any(|s| s.on.has(profile)), "{name} is not on {profile}");
                continue;
            };
            let verdict = |tiles: &[Judged]| find(info.sigs, profile, Form::Plain, tiles).map(|_| ());
            // A tuple of types that the row takes, in its usual places.
            let usual = |role: Role| place(&on["loc"], role).unwrap_or(Loc::Vec);
            let mut legal: Option<Vec<Judged>> = None;
            tuples(&roles, &mut |tuple| {
                for cols in [64, 1] {
                    let pick = |role: Role, elem: Elem| {
                        let fits = |l: &&(BLayout, SLayout, u32)| {
                            laid_out(&on["layout"], role, &tile(Loc::Vec, elem, **l, cols, profile))
                        };
                        LAYOUTS.iter().find(fits).map(|l| (role, tile(usual(role), elem, *l, cols, profile)))
                    };
                    let Some(tiles) = tuple.iter().map(|(r, e)| pick(*r, *e)).collect::<Option<Vec<Judged>>>() else {
                        continue;
                    };
                    let wanted = if takes(&on["types"], tuple) { Ok(()) } else { Err(Miss::Dtype) };
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
                    let fits = place(&on["loc"], role).is_none_or(|l| l == *loc);
                    assert_eq!(
                        verdict(&tiles),
                        if fits { Ok(()) } else { Err(Miss::Loc) },
                        "{name} {profile} {role} {loc}"
                    );
                }
                for (layout, cols) in LAYOUTS.into_iter().flat_map(|l| [(l, 64), (l, 1)]) {
                    let mut tiles = legal.clone();
                    tiles[n].1 = tile(legal[n].1.loc, legal[n].1.elem, layout, cols, profile);
                    let fits = laid_out(&on["layout"], role, &tiles[n].1);
                    let wanted = if fits { Ok(()) } else { Err(Miss::Layout) };
                    assert_eq!(verdict(&tiles), wanted, "{name} on {profile}: {role} {layout:?} of {cols} columns");
                }
            }
            let kinds =
                info.rules.iter().filter(|r| r.on.has(profile)).filter_map(|r| r.id.strip_prefix(info.mnemonic));
            let mut kinds: Vec<&str> =
                kinds.map(|k| &k[1..]).filter(|k| !["loc", "layout", "dtype"].contains(k)).collect();
            let mut wanted: Vec<String> = words(on, "rules");
            kinds.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(kinds, wanted, "{name} on {profile}");
        }
        compared.push(name.to_string());
    }
    let table: Vec<&str> = Opcode::ALL.iter().filter(|op| !op.info().by_flows()).map(|op| op.mnemonic()).collect();
    compared.sort_unstable();
    let mut table: Vec<String> = table.iter().map(|m| m.to_string()).collect();
    table.sort_unstable();
    assert_eq!(compared, table, "every row of a family has a row in the specification");
}
