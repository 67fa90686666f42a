//! The table against its second statement, `docs/spec/micro/*.toml`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use tessera_micro::check::PAIRS;
use tessera_micro::{Class, Core, Row, rows};
use toml::{Table, Value};

/// Rows without a page's row: what pages say in prose.
const OWN: [&str; 2] = ["mem_bar", "vsld"];
/// Rules that pages add in prose (model.md 13, cube.md 7).
const ADDED: [(&str, &str); 3] = [("copy_gm_to_ubuf", "pad"), ("mte_ub_gm", "atomic"), ("copy_ubuf_to_gm", "atomic")];

fn page(name: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/micro").join(name);
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The rows of all pages, each with what its family says.
fn specified() -> BTreeMap<String, (String, Table)> {
    let mut all = BTreeMap::new();
    for name in ["memory", "predicate", "vector", "cube"] {
        let page = page(&format!("{name}.toml"));
        for op in page["op"].as_array().unwrap() {
            let op = op.as_table().unwrap();
            let mut whole = match op.get("family").and_then(Value::as_str) {
                Some(family) => page["family"][family].as_table().unwrap().clone(),
                None => Table::new(),
            };
            whole.extend(op.clone());
            let own = op["name"].as_str().unwrap().to_string();
            all.insert(own, (name.to_string(), whole));
        }
    }
    all
}

fn strings(op: &Table, key: &str) -> Vec<String> {
    let list = op.get(key).and_then(Value::as_array);
    list.into_iter().flatten().map(|v| v.as_str().unwrap().to_string()).collect()
}

fn string(op: &Table, key: &str) -> String {
    op.get(key).and_then(Value::as_str).unwrap_or_default().to_string()
}

#[test]
fn rows_are_those_of_the_pages() {
    let specified = specified();
    let own: Vec<&Row> = rows().filter(|row| !OWN.contains(&row.name)).collect();
    assert_eq!(own.len(), specified.len());
    for row in own {
        let (page, op) = specified.get(row.name).unwrap_or_else(|| panic!("no page has {}", row.name));
        let name = row.name;
        assert_eq!(row.aliases.to_vec(), strings(op, "aliases"), "{name}: aliases");
        assert_eq!(row.summary, string(op, "summary"), "{name}: summary");
        assert_eq!(row.formula, string(op, "formula"), "{name}: formula");
        assert_eq!(row.text, string(op, "text").replace("pto.NAME", &format!("pto.{name}")), "{name}: text");
        assert_eq!(row.inactive, string(op, "inactive"), "{name}: inactive lanes");
        let pipe = op.get("pipe").and_then(Value::as_str).unwrap_or("V");
        assert_eq!(row.pipe, pipe, "{name}: pipe");
        let class = match op.get("class").and_then(Value::as_str) {
            Some("vld") => Class::Vld,
            Some("vst") => Class::Vst,
            _ => Class::None,
        };
        assert_eq!(row.class, class, "{name}: class");
        assert_eq!(row.core == Core::Cube, op.contains_key("core"), "{name}: core");
        let added = ADDED.iter().filter(|(own, _)| *own == name).map(|(_, rule)| rule.to_string());
        let rules: Vec<String> = strings(op, "rules").into_iter().chain(added).collect();
        assert_eq!(row.rules.to_vec(), rules, "{name}: rules");
        if page == "vector"
            && let Some(types) = op.get("types").and_then(Value::as_array)
        {
            let types: Vec<&str> = types.iter().map(|v| v.as_str().unwrap()).collect();
            assert_eq!(row.types.to_vec(), types, "{name}: types");
        }
        operands(row, op);
        words(row, op);
    }
}

/// Operands and results by name; groups by name and by how many they hold.
fn operands(row: &Row, op: &Table) {
    let named = |text: &str| text.trim_start_matches('[').split([':', ' ']).next().unwrap().to_string();
    let given: Vec<String> =
        row.args.iter().filter(|arg| arg.name != "clauses").map(|arg| arg.name.to_string()).collect();
    let written: Vec<String> =
        strings(op, "args").iter().filter(|text| !text.starts_with("[atomic")).map(|t| named(t)).collect();
    // The numbers of two forms stand in one line, and a mode of a store is a clause.
    let plain = |names: &[String]| -> Vec<String> {
        names
            .iter()
            .map(|n| n.trim_end_matches(',').split('(').next().unwrap().to_string())
            .filter(|n| n != "m" && n != "n")
            .collect()
    };
    let extra = if row.name == "vldus" { vec!["n".to_string()] } else { Vec::new() };
    let mut expected = written.clone();
    expected.extend(extra);
    assert_eq!(plain(&given), plain(&expected), "{}: operands", row.name);
    let made: Vec<String> = row.results.iter().map(|arg| arg.name.to_string()).collect();
    let results: Vec<String> =
        strings(op, "results").iter().filter(|r| !r.starts_with("[next")).map(|r| named(r)).collect();
    assert_eq!(made, results, "{}: results", row.name);
    let moves = strings(op, "results").iter().any(|r| r.starts_with("[next"));
    assert!(row.moves || !moves, "{}: its pointer moves", row.name);
}

/// Every word that a page lists, in its order.
fn words(row: &Row, op: &Table) {
    let pages: Vec<String> = ["words", "attrs"].iter().flat_map(|key| strings(op, key)).collect();
    assert_eq!(row.words.len(), pages.len(), "{}: lists of words", row.name);
    for (list, page) in row.words.iter().zip(&pages) {
        let body = page.split_once(" = ").map_or(page.as_str(), |(_, body)| body);
        let body = body.split([',', ';']).next().unwrap().replace("NORM_B<w>", "NORM_B8 | NORM_B16 | NORM_B32");
        let words: Vec<String> = body.replace(" or ", " | ").split(" | ").map(|w| w.trim().to_string()).collect();
        assert_eq!(list.words.to_vec(), words, "{}: words of {}", row.name, list.key);
    }
}

#[test]
fn conversions_are_those_of_the_page() {
    let page = page("vector.toml");
    let listed = page["cvt"].as_array().unwrap();
    assert_eq!(listed.len(), PAIRS.len());
    for (line, (pair, pairs)) in listed.iter().zip(PAIRS) {
        assert_eq!(pair.rounding, line["rnd"].as_str().unwrap());
        assert_eq!(pair.saturates, line["sat"].as_bool().unwrap());
        assert_eq!(i64::from(pair.parts), line["part"].as_integer().unwrap());
        let names: Vec<String> = pairs.iter().map(|(from, to)| format!("{from} {to}")).collect();
        let written: Vec<&str> = line["pairs"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        assert_eq!(names, written);
    }
}

#[test]
fn every_rule_of_a_row_is_explained() {
    for (id, row) in tessera_micro::rule_ids() {
        assert!(tessera_micro::rules::rule(id).is_some(), "{}: nothing explains {id}", row.name);
    }
}
