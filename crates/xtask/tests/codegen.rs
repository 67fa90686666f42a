//! Generated files are what the instruction table says: `cargo xtask codegen --check`, with the build of the other tests.

#[test]
fn generated_files_are_what_the_table_says() {
    let different = xtask::check();
    assert!(different.is_empty(), "cargo xtask codegen writes {different:?}");
}

#[test]
fn the_page_of_the_explorer_is_built_from_this_tree() {
    let committed = xtask::engine::committed();
    let is_same = committed.as_deref() == Some(xtask::engine::digest().as_str());
    assert!(is_same, "bash explorer/build makes the page of the sources that are here");
}
