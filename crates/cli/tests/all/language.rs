//! The language reference: every example is a legal program, and every section a page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::{Diagnostic, Profile, Program};
use tessera_cli::commands::explain::{LANGUAGE, explain, topics};

/// The programs of a section.
fn programs(section: &str) -> impl Iterator<Item = &str> {
    section.split("```pto\n").skip(1).map(|rest| rest.split("```").next().unwrap())
}

#[test]
fn every_example_is_legal_somewhere_and_survives_formatting() {
    assert!(programs(LANGUAGE).count() >= 15);
    for program in programs(LANGUAGE) {
        let found = Profile::ALL.map(|p| Program::read(program, Some(p)).check());
        let is_legal = |found: &Vec<Diagnostic>| !found.iter().any(Diagnostic::is_error);
        assert!(found.iter().any(is_legal), "{program}\n{found:#?}");
        let read = Program::read(program, None);
        let printed = read.text(None);
        assert_eq!(Program::read(&printed, None).text(None), printed, "{program}");
        assert!(read.kernel_or_entry(None).is_ok(), "{program}");
    }
}

#[test]
fn every_section_is_a_page_that_fits() {
    assert!(topics().count() >= 10);
    for topic in topics() {
        let page = explain(topic).unwrap_or_else(|| panic!("{topic} has no page"));
        assert!(page.starts_with(topic), "{page}");
    }
}

#[test]
fn instructions_with_a_shape_of_their_own_are_shown() {
    let names = "alloc_tile partition_view make_tensor_view load_scalar store_scalar tassign set_validshape subset addptr \
                 set_flag wait_flag barrier";
    for name in names.split_whitespace() {
        assert!(explain(name).unwrap().contains("\nWritten\n"), "{name}");
    }
}
