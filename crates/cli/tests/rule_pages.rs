//! The programs on the pages of rules: the shortest ones of the rules' own tests, one that breaks the rule and one that does
//! not. `BLESS=1 cargo test -p tessera-pto-cli --test rule_pages` takes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use tessera::{Profile, Program};
use tessera_cli::commands::explain::{explain, rule_programs};

const LONGEST: usize = 700;

/// By rule and what it shows: profile and program.
fn wanted() -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/rules");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut best: BTreeMap<(String, &str), (String, String)> = BTreeMap::new();
    for file in files {
        for program in std::fs::read_to_string(file).unwrap().split("// -----\n") {
            let value = |key: &str| program.lines().find_map(|l| l.strip_prefix(key)).map(str::trim);
            let (Some(profiles), Some(rules)) = (value("// profile:"), value("// rule:")) else { continue };
            let profile = profiles.split(' ').next_back().unwrap();
            let lines = program.lines().filter(|l| !l.starts_with("//"));
            let bare = |l: &str| l.split("// expected-").next().unwrap().trim_end().to_string();
            let text: String = lines.map(|l| bare(l) + "\n").collect();
            // A page is not the place for a long program.
            if text.len() > LONGEST {
                continue;
            }
            for rule in rules.split(' ') {
                let kind = match program.contains("// expected-") {
                    true if program.contains(&format!("{{{{{rule}}}}}")) => "breaks",
                    false => "keeps",
                    true => continue,
                };
                let slot = best.entry((rule.to_string(), kind)).or_insert((profile.into(), text.clone()));
                if (text.len(), &text) < (slot.1.len(), &slot.1) {
                    *slot = (profile.into(), text.clone());
                }
            }
        }
    }
    best.into_iter().map(|((rule, kind), (profile, text))| format!("=== {rule} {kind} {profile}\n{text}")).collect()
}

#[test]
fn programs_are_taken_from_the_tests_of_rules() {
    let wanted = wanted();
    if std::env::var_os("BLESS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands/explain/rules.txt");
        std::fs::write(&file, &wanted).unwrap();
    }
    assert!(wanted.contains("=== tinsert-bounds breaks"), "{wanted}");
}

#[test]
fn programs_break_and_keep_what_they_are_shown_for() {
    let mut shown = 0;
    for (rule, breaks, profile, text) in rule_programs() {
        let found = Program::read(text, Profile::parse(profile)).check();
        assert_eq!(found.iter().any(|d| d.rule == rule), breaks, "{rule}: {text}");
        shown += 1;
    }
    assert!(shown > 100, "{shown}");
    let page = explain("tinsert-bounds").unwrap();
    assert!(page.contains("\nBreaks it") && page.contains("\nKeeps it") && page.contains("help: "), "{page}");
}

#[test]
fn names_of_words_types_memories_and_fields_have_pages() {
    let pages = [
        ("SPLIT2", "mode, an attribute"),
        ("TInsertMode", "mode, an attribute"),
        ("NormalRelu", "reluPreMode, an attribute"),
        ("DualModeSplitM", "accToVecMode, an attribute"),
        ("float16", "f16, an element type"),
        ("bfloat16", "bf16, an element type"),
        ("int8", "i8, an element type"),
        ("L0A", "left, a location"),
        ("L1", "mat, a location"),
        ("fractal", "types, a topic"),
        ("blayout", "types, a topic"),
        ("fp4", "f4e2m1x2, an element type"),
        ("memref", "views, a topic"),
    ];
    for (name, title) in pages {
        let page = explain(name).unwrap_or_else(|| panic!("{name} has no page"));
        assert!(page.starts_with(title), "{name}: {page}");
    }
}
