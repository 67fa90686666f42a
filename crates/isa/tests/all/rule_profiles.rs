//! Rows have the rules that the specification lists for them, on the profiles that it lists (docs/spec/isa/rules.md).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tessera_isa::ops::{Family, Form, Kind, Opcode, RuleKind};
use tessera_isa::profile::Profile;
use tessera_isa::rules;

/// A rule of an instruction on a profile, and how it is listed.
type Listed = BTreeMap<(String, &'static str, &'static str), Mark>;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    warns: bool,
    at_run: bool,
}

fn profiles(word: &str) -> Vec<Profile> {
    match word {
        "all" => Profile::ALL.to_vec(),
        "N" => vec![Profile::A2a3, Profile::A5],
        list => list.split(", ").map(|p| Profile::parse(p).unwrap_or_else(|| panic!("no profile {p}"))).collect(),
    }
}

/// The rules of one family's table.
fn listed(text: &str, family: Family, heading: &str) -> Listed {
    let ops = || Opcode::ALL.iter().filter(|op| op.info().family == family).map(|op| op.mnemonic());
    let groups: BTreeMap<&str, Vec<&str>> = text
        .lines()
        .filter_map(|l| l.strip_prefix('*')?.split_once("* = "))
        .map(|(name, list)| (name, list.trim_end_matches('.').split(' ').collect()))
        .collect();
    let members = |list: &str| -> BTreeSet<&'static str> {
        let mut list = list.to_string();
        for (name, of) in &groups {
            list = list.replace(&format!("*{name}*"), &of.join(" "));
        }
        let named = |list: &str| list.split(' ').map(str::to_string).collect::<BTreeSet<_>>();
        let rest = list.strip_prefix("every one").map(|but| named(but.trim_start_matches(" but ")));
        ops().filter(|op| rest.as_ref().map_or_else(|| named(&list).contains(*op), |but| !but.contains(*op))).collect()
    };
    let section = text.split(&format!("## {heading} (")).nth(1).unwrap().split("\n## ").next().unwrap();
    let mut all = Listed::new();
    for line in section.lines().filter(|l| l.starts_with("| `")) {
        let (id, cells) = line.trim_matches(['|', ' ']).split_once(" | ").unwrap();
        let id = id.trim_matches('`');
        for cell in cells.split(" · ") {
            let (mut head, list) = cell.split_once(": ").unwrap();
            let mut mark = Mark { warns: false, at_run: false };
            while let Some((word, rest)) = head.split_once(' ') {
                match word {
                    "W" => mark.warns = true,
                    "R" => mark.at_run = true,
                    "implied" => {}
                    _ => break,
                }
                head = rest;
            }
            for (profile, op) in profiles(head).iter().flat_map(|p| members(list).into_iter().map(move |op| (p, op))) {
                let id = if id.starts_with('-') { format!("{op}{id}") } else { id.to_string() };
                assert!(all.insert((id, op, profile.name()), mark).is_none(), "{line} lists {op} twice");
            }
        }
    }
    all
}

#[test]
fn rows_have_the_rules_of_the_specification() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/isa/rules.md");
    let text = std::fs::read_to_string(path).unwrap();
    let today: toml::Table = include_str!("../../../../docs/spec/isa/today.toml").parse().unwrap();
    let families = [
        (Family::Elementwise, "elementwise"),
        (Family::Scalar, "scalar"),
        (Family::Reduce, "reduce"),
        (Family::Matrix, "matrix"),
    ];
    for (family, heading) in families {
        let mut wanted = listed(&text, family, heading);
        // Rules that later versions add (today.toml).
        for change in today["change"].as_array().unwrap() {
            let words = |key: &str| {
                let list = change.get(key).and_then(|list| list.as_array());
                list.into_iter().flatten().map(|v| v.as_str().unwrap()).collect::<Vec<_>>()
            };
            for op in words("names").into_iter().filter_map(Opcode::parse).filter(|op| op.info().family == family) {
                for (kind, warns) in words("add")
                    .into_iter()
                    .map(|k| (k, false))
                    .chain(words("add_warning").into_iter().map(|k| (k, true)))
                {
                    // The MX products are a5's alone.
                    for profile in
                        words("profiles").into_iter().filter(|p| *p == "a5" || !op.mnemonic().contains("_mx"))
                    {
                        wanted.insert(
                            (format!("{op}-{kind}"), op.mnemonic(), Profile::parse(profile).unwrap().name()),
                            Mark { warns, at_run: false },
                        );
                    }
                }
            }
        }
        if family == Family::Elementwise {
            for (id, on) in [
                ("profile", &["a5"][..]),
                ("loc", &["a2a3"]),
                ("layout", &["a2a3"]),
                ("dtype", &["cpu", "a2a3"]),
                ("valid", &["cpu", "a2a3"]),
            ] {
                for profile in on {
                    wanted
                        .insert((format!("taddrelu-{id}"), "taddrelu", profile), Mark { warns: false, at_run: false });
                }
            }
        }
        wanted.retain(|(id, op, profile), _| id == "taddrelu-profile" || (*op, *profile) != ("taddrelu", "a5"));
        // Integers take no scratch, on a5 either (isa/today.md 6.2).
        for op in ["tpow", "tpows"].into_iter().filter_map(Opcode::parse).filter(|op| op.info().family == family) {
            wanted.insert((format!("{op}-tmp"), op.mnemonic(), "a5"), Mark { warns: false, at_run: false });
        }
        // The assembler's, before there is an instruction.
        wanted.retain(|(id, ..), _| id != "operand-count");
        let mut found = Listed::new();
        for op in Opcode::ALL.iter().filter(|op| op.info().family == family) {
            // One operand overlaps nothing.
            let tiles =
                op.form(Form::Plain).into_iter().flat_map(|f| f.operands()).filter(|o| o.role.kind() == Kind::Tile);
            let alone = tiles.count() < 2;
            let rules = op.info().rules.iter().filter(|r| !alone || r.kind != RuleKind::Overlap);
            for (rule, profile) in rules.flat_map(|r| r.on.iter().map(move |p| (r, p))) {
                let at_run = matches!(rule.kind, RuleKind::AtRun | RuleKind::Zero | RuleKind::Range);
                let mark = Mark { warns: rule.kind.only_warns(), at_run };
                found.insert((rule.id.to_string(), op.mnemonic(), profile.name()), mark);
                let known = rules::rule(rule.id).expect(rule.id);
                assert!(known.on.has(profile), "{} on {profile}", rule.id);
            }
        }
        let differs = |a: &Listed, b: &Listed| a.iter().find(|(k, m)| b.get(*k) != Some(*m)).map(|(k, _)| k.clone());
        assert_eq!(differs(&wanted, &found), None, "{heading}: listed, and not in the row");
        assert_eq!(differs(&found, &wanted), None, "{heading}: in the row, and not listed");
    }
}
