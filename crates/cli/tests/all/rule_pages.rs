//! The programs on the pages of rules: one that breaks the rule and one that does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::{OrderOptions, Profile, Program};
use tessera_check::examples::{Example, examples};
use tessera_cli::commands::explain::{explain, order};

#[test]
fn programs_break_and_keep_what_they_are_shown_for() {
    let mut shown = 0;
    for Example { rule, breaks, profile, text } in examples() {
        let found = Program::read(text, Profile::parse(profile)).check();
        assert_eq!(found.iter().any(|d| d.rule == *rule), *breaks, "{rule}: {text}");
        shown += 1;
    }
    assert!(shown > 100, "{shown}");
    let page = explain("tinsert-bounds").unwrap();
    assert!(page.contains("\nBreaks it") && page.contains("\nKeeps it") && page.contains("help: "), "{page}");
}

#[test]
fn programs_of_order_break_and_keep_what_they_are_shown_for() {
    let options = OrderOptions { redundant: true, ..OrderOptions::default() };
    for example in order::examples() {
        let found = [false, true].map(|mended| {
            let program = Program::read(example.program(mended), Some(Profile::A5));
            assert!(program.check().is_empty(), "{}: {:?}", example.rule, program.check());
            program.entry().unwrap().order(&options).unwrap().diagnostics
        });
        let [broken, mended] = found.map(|found| found.iter().any(|d| d.rule == example.rule));
        assert!(broken && !mended, "{}", example.rule);
        let page = explain(example.rule).unwrap();
        assert!(page.contains("\nWhy\n") && page.contains(example.lines.lines().next().unwrap()), "{page}");
    }
    assert!(order::examples().count() >= 9);
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
        ("conv_tile", "types, a topic"),
        ("events", "order, a topic"),
        ("DPS", "syntax, a topic"),
        ("box", "NZ, a layout"),
    ];
    for (name, title) in pages {
        let page = explain(name).unwrap_or_else(|| panic!("{name} has no page"));
        assert!(page.starts_with(title), "{name}: {page}");
    }
}
