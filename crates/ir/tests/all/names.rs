//! Names are kept once each, whatever they have in common.

use std::collections::HashMap;
use tessera_ir::{NameId, Names};

/// Beside a plain map: names that differ in their last byte only, which are neighbours, and some that have nothing before it.
#[test]
fn every_name_has_one_id() {
    let mut names = Names::default();
    let mut plain: HashMap<String, NameId> = HashMap::new();
    let last = || (0x21u8..0x7F).map(char::from);
    let one = last().map(String::from);
    let two = last().flat_map(|first| last().map(move |last| format!("{first}{last}")));
    let numbered = (0..40_000).flat_map(|n| [format!("v{n}"), format!("{n}"), format!("w{n}#1")]);
    let all: Vec<String> =
        [String::new(), "ä".into(), "ö".into()].into_iter().chain(one).chain(two).chain(numbered).collect();
    for name in &all {
        let next = NameId(plain.len() as u32);
        let known = *plain.entry(name.clone()).or_insert(next);
        assert_eq!(names.intern(name), known, "{name:?}");
    }
    for name in &all {
        let id = names.find(name);
        assert_eq!(id, plain.get(name).copied(), "{name:?}");
        assert_eq!(id.map(|id| names.text(id)), Some(name.as_str()));
    }
    assert_eq!(names.find("never"), None);
    assert!(!names.contains(NameId(plain.len() as u32)));
}
