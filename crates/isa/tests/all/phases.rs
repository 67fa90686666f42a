//! The phases of instructions, compared with docs/spec/isa/today.toml.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use tessera_isa::ops::{Opcode, Pipe, Role, phase_rows};
use tessera_isa::profile::Profile;
use toml::Table;

/// What a row says of one use: pipes with what they read and write, flags inside, flags before, flags behind.
type Said = (Vec<(String, BTreeSet<Role>, BTreeSet<Role>)>, BTreeSet<String>, BTreeSet<String>, BTreeSet<String>);

fn list<'a>(row: &'a Table, profile: &str, key: &str) -> Vec<&'a toml::Value> {
    let of = row.get(profile).and_then(|of| of.get(key)).or_else(|| row.get(key));
    of.and_then(|all| all.as_array()).into_iter().flatten().collect()
}

/// The use that a text begins with, as in `row: S`, and the rest.
fn split(text: &str) -> (&str, &str) {
    text.split_once(": ").unwrap_or(("", text))
}

fn role(word: &str, in_memory: bool) -> Role {
    match word {
        "view" => Role::Global,
        "idx" if in_memory => Role::IdxView,
        "scratch" => Role::ScratchView,
        "idx" => Role::Idx,
        "src" => Role::Src,
        "dst" => Role::Dst,
        "tmp" => Role::Tmp,
        "cdst" => Role::Cdst,
        _ => panic!("no role {word}"),
    }
}

/// `idx (elem: view)`: by elements the words in parentheses are meant, besides `idx`; a view is replaced by them.
fn roles(text: &str, how: &str, in_memory: bool) -> BTreeSet<Role> {
    let (always, elem) = text.split_once('(').map_or((text, ""), |(a, b)| (a, b.trim_end_matches(')')));
    let elem = elem.strip_prefix("elem: ").unwrap_or_default();
    let by_elements = how.starts_with("elem");
    let mut words: Vec<&str> = always.split_whitespace().collect();
    if by_elements && !elem.is_empty() {
        words.retain(|word| *word != "view");
        words.extend(elem.split_whitespace());
    }
    words.into_iter().map(|word| role(word, in_memory)).collect()
}

fn specified() -> BTreeMap<(String, Profile, String), Said> {
    let today: Table = include_str!("../../../../docs/spec/isa/today.toml").parse().unwrap();
    let mut all = BTreeMap::new();
    for row in today["op"].as_array().unwrap().iter().filter_map(|row| row.as_table()) {
        let name = row["name"].as_str().unwrap();
        let form = row.get("form").and_then(|form| form.as_str()).unwrap_or_default();
        for profile in [Profile::A2a3, Profile::A5] {
            let phases = list(row, profile.name(), "phases");
            if phases.is_empty() || name.starts_with("comm_") || row.get(profile.name()).is_none() {
                continue;
            }
            let in_memory = form == "mat";
            let uses: BTreeSet<&str> = match in_memory {
                true => ["row into Mat", "elem into Mat"].into(),
                false => phases.iter().map(|phase| split(phase[0].as_str().unwrap()).0).collect(),
            };
            for how in uses {
                let mine =
                    |text: &str| if in_memory || split(text).0 == how { Some(split(text).1.to_string()) } else { None };
                let phase = |phase: &&toml::Value| {
                    let pipe = mine(phase[0].as_str()?)?;
                    let roles = |n: usize| roles(phase[n].as_str().unwrap(), how, in_memory);
                    Some((pipe, roles(1), roles(2)))
                };
                let flags = |key: &str| {
                    let all = list(row, profile.name(), key);
                    all.iter().filter_map(|text| mine(text.as_str()?)).collect::<BTreeSet<String>>()
                };
                let said =
                    (phases.iter().filter_map(phase).collect(), flags("hidden"), flags("before"), flags("after"));
                // The mask form that has phases is a row of its own.
                let name = if form == "mask" { "tscatter_cols" } else { name };
                all.insert((name.to_uppercase(), profile, how.to_string()), said);
            }
        }
    }
    all
}

#[test]
fn phases_are_those_of_the_specification() {
    let mut have = BTreeMap::new();
    for (op, on, how, phases) in phase_rows().filter(|(.., phases)| !phases.phases.is_empty()) {
        // TCI without scratch has one phase, which its row gives as a pipe.
        if op == Opcode::Tci {
            continue;
        }
        let first = phases.phases.first().map_or("", |phase| phase.pipe.name());
        let set = |roles: &[Role]| roles.iter().copied().collect::<BTreeSet<_>>();
        let said: Said = (
            phases.phases.iter().map(|p| (p.pipe.name().to_string(), set(p.reads), set(p.writes))).collect(),
            phases.hidden.iter().map(|(from, to, id)| format!("{from}>{to} {id}")).collect(),
            phases.before.iter().map(|from: &Pipe| format!("{from}>{first}")).collect(),
            phases.after.iter().map(|(from, to)| format!("{from}>{to}")).collect(),
        );
        for profile in on.iter().filter(|profile| profile.is_npu()) {
            have.insert((op.mnemonic().to_uppercase(), profile, how.to_string()), said.clone());
        }
    }
    let specified = specified();
    for (key, said) in &specified {
        assert_eq!(have.get(key), Some(said), "{key:?}");
    }
    let more: Vec<_> = have.keys().filter(|key| !specified.contains_key(*key)).collect();
    assert!(more.is_empty(), "{more:?}");
}
