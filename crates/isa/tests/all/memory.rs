//! The rows of global memory say what docs/spec/isa/memory.toml says; what the two sides of a transfer may be is compared by
//! the verifier's tests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use tessera_isa::elem::Elem;
use tessera_isa::ops::sig::find;
use tessera_isa::ops::{AttrKind, Family, Form, Judged, Opcode, Role, Types};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, TileType};
use toml::{Table, Value};

fn rows() -> Vec<Table> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/isa/memory.toml");
    let all: Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    all["op"].as_array().unwrap().iter().map(|row| row.as_table().unwrap().clone()).collect()
}

fn words(row: &Table, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(Value::as_array);
    list.into_iter().flatten().map(|v| v.as_str().unwrap().to_string()).collect()
}

fn elems(list: &Value) -> Vec<Elem> {
    let word = |v: &Value| Elem::parse(v.as_str().unwrap()).unwrap();
    list.as_array().unwrap().iter().map(word).collect()
}

#[test]
fn rows_say_what_the_page_says() {
    let rows = rows();
    let table: Vec<&str> =
        Opcode::ALL.iter().filter(|op| op.info().family == Family::Memory).map(|op| op.mnemonic()).collect();
    let mut named: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(named.len(), table.len());
    named.retain(|name| !table.contains(name));
    assert!(named.is_empty(), "{named:?}");
    for row in &rows {
        let name = row["name"].as_str().unwrap();
        let info = Opcode::parse(name).unwrap().info();
        assert_eq!(info.cpp, [row["cpp"].as_str().unwrap()], "{name}");
        assert_eq!(info.aliases, words(row, "aliases"), "{name}");
        assert_eq!(info.summary, row["summary"].as_str().unwrap(), "{name}");
        assert_eq!(info.formula, row["formula"].as_str().unwrap(), "{name}");
        let pipe = row["pipe"].as_str().unwrap();
        assert!(pipe.starts_with(info.pipe.name()), "{name}: {pipe}");
        for text in words(row, "attrs") {
            let (key, values) = text.split_once(" = ").unwrap();
            let Some(attr) = info.attrs.iter().find(|a| a.name() == key) else {
                let worded = info.forms[0].ins.iter().find(|o| o.word() == Some(key));
                assert!(worded.is_some(), "{name}: {key}");
                continue;
            };
            if let AttrKind::Word { list, .. } = attr.info().kind {
                let values = values.split(['<', '>']).nth(1).unwrap_or(values);
                let mut listed = values.split(" | ").map(|w| w.rsplit(' ').next().unwrap());
                assert!(listed.all(|word| list.iter().any(|w| w.name == word)), "{name}: {text}");
            }
        }
        for profile in Profile::ALL {
            let on = row[profile.name()].as_table().unwrap();
            let mut wanted = words(on, "rules");
            wanted.retain(|rule| rule != "dtype" && rule != "gm-bounds");
            // With indices in global memory there is one more (isa/today.md 6.7).
            if name == "mgather" {
                wanted.push("scratch".into());
            }
            wanted.sort_unstable();
            let asked = info.rules.iter().filter(|r| r.on.has(profile));
            let mut kinds: Vec<&str> = asked
                .filter_map(|r| r.id.strip_prefix(name)?.strip_prefix('-'))
                .filter(|kind| !["loc", "layout", "dtype"].contains(kind))
                .collect();
            kinds.sort_unstable();
            kinds.dedup();
            assert_eq!(kinds, wanted, "{name} on {profile}");
        }
    }
}

/// The pairs of types out of an accumulator.
#[test]
fn accumulators_store_the_pairs_of_the_page() {
    for row in rows() {
        let name = row["name"].as_str().unwrap();
        if !name.starts_with("tstore") {
            continue;
        }
        let info = Opcode::parse(name).unwrap().info();
        for (profile, form) in Profile::ALL.into_iter().flat_map(|p| info.forms.iter().map(move |f| (p, f.form))) {
            let types = row[profile.name()]["types"].as_table().unwrap();
            let key = if matches!(form, Form::ScalarQuant | Form::VectorQuant) { "acc_quant" } else { "acc_plain" };
            let pairs: Vec<Vec<Elem>> = types[key].as_array().unwrap().iter().map(elems).collect();
            for (src, dst) in Elem::ALL.iter().flat_map(|s| Elem::ALL.iter().map(move |d| (*s, *d))) {
                let tile = |loc, elem| TileType::new(loc, elem, 16, 16).resolve(profile);
                let tiles: Vec<Judged> = vec![
                    (Role::Src, tile(Loc::Acc, src)),
                    (Role::Dst, tile(Loc::Vec, dst)),
                    (Role::Fp, tile(Loc::Scaling, Elem::U64)),
                ];
                let takes = find(info.sigs, profile, form, &tiles).is_ok();
                assert_eq!(takes, pairs.contains(&vec![src, dst]), "{name} {form} on {profile}: {src}→{dst}");
            }
        }
    }
}

/// The types of tables.
#[test]
fn tables_hold_the_types_of_the_page() {
    for (name, data) in [("mgather", Role::Dst), ("mscatter", Role::Src)] {
        let row = rows().into_iter().find(|row| row["name"].as_str() == Some(name)).unwrap();
        let info = Opcode::parse(name).unwrap().info();
        for profile in Profile::ALL {
            let wanted = elems(&row[profile.name()]["types"][data.name()]);
            let sig = info.sigs.iter().find(|s| s.is_for(profile, Form::Plain)).unwrap();
            let Types::ByRole([(role, tessera_isa::ops::TypeOf::One(list)), ..]) = sig.types else { panic!("{name}") };
            assert_eq!((*role, list.to_vec()), (data, wanted), "{name} on {profile}");
        }
    }
}
