//! The order of the crates: the dependencies between them follow the table of ARCHITECTURE.md, top to bottom.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs::read_to_string;

/// The folders of the crates in the order of the table.
fn order() -> Vec<String> {
    let page = read_to_string(xtask::root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = page.split_once("\n| crate | ").unwrap();
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.flat_map(|row| row.split('|').nth(1).unwrap().split(',').collect::<Vec<_>>());
    let name = |cell: &str| cell.trim().trim_matches('`').to_string();
    let folder = |name: String| match name.contains('/') || name == "explorer" {
        true => name,
        false => format!("crates/{name}"),
    };
    cells.map(|cell| folder(name(cell))).collect()
}

fn manifest(folder: &str) -> toml::Table {
    read_to_string(xtask::root().join(folder).join("Cargo.toml")).unwrap().parse().unwrap()
}

/// The crates of the repository that a crate is built from: folder by folder.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let workspace = manifest(".");
    let workspace = workspace["workspace"].as_table().unwrap();
    let path = |name: &String| workspace["dependencies"].get(name)?.get("path")?.as_str();
    let members = workspace["members"].as_array().unwrap().iter().map(|m| m.as_str().unwrap());
    members
        .map(|member| {
            let manifest = manifest(member);
            let own = manifest.get("dependencies").and_then(|d| d.as_table()).into_iter().flat_map(|d| d.keys());
            (member.to_string(), own.filter_map(path).map(String::from).collect())
        })
        .collect()
}

#[test]
fn dependencies_follow_the_table() {
    let order = order();
    let place = |folder: &str| order.iter().position(|known| known == folder);
    let mut wrong = Vec::new();
    for (folder, needs) in dependencies() {
        if place(&folder).is_none() {
            wrong.push(format!("{folder} is not in the table of ARCHITECTURE.md"));
        }
        wrong.extend(needs.iter().filter(|n| place(n) >= place(&folder)).map(|n| format!("{folder} needs {n}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `kernels` holds the `unsafe` code of the engine and knows neither instructions nor programs.
#[test]
fn kernels_import_no_engine() {
    let needs = dependencies();
    let allowed = ["crates/isa"];
    assert!(needs["crates/kernels"].iter().all(|n| allowed.contains(&n.as_str())), "{:?}", needs["crates/kernels"]);
}
