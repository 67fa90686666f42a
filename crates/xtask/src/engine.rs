//! The engine of the explorer's page: a digest of the sources that it is built from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PAGE: &str = "crates/cli/assets/explorer.html";

/// The path dependencies of a manifest, as folders of the repository, with their own ones.
fn crates(workspace: &toml::Table, dir: &str, all: &mut BTreeSet<String>) {
    if !all.insert(dir.to_string()) {
        return;
    }
    let manifest = std::fs::read_to_string(crate::root().join(dir).join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("a manifest is TOML");
    let known = &workspace["workspace"]["dependencies"];
    for name in manifest.get("dependencies").and_then(|d| d.as_table()).into_iter().flat_map(|d| d.keys()) {
        if let Some(path) = known.get(name).and_then(|d| d.get("path")).and_then(|p| p.as_str()) {
            crates(workspace, path, all);
        }
    }
}

fn files(dir: &Path, all: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, all) } else { all.extend(Some(path)) }
    }
}

/// A digest (FNV-1a) of the sources of the page: the crates that the engine is linked from, the page's own files, and the examples.
pub fn digest() -> String {
    let root = crate::root();
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let mut dirs = BTreeSet::new();
    crates(&workspace.parse().expect("a manifest is TOML"), "explorer", &mut dirs);
    let mut all = BTreeSet::from(
        ["explorer/pack.mjs", "explorer/samples.txt", "explorer/examples.txt"].map(|file| root.join(file)),
    );
    files(&root.join("explorer/page"), &mut all);
    files(&root.join("examples"), &mut all);
    for dir in &dirs {
        files(&root.join(dir).join("src"), &mut all);
        all.insert(root.join(dir).join("Cargo.toml"));
    }
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for file in all {
        let name = file.strip_prefix(&root).expect("a file of the repository").to_string_lossy().into_owned();
        let text = std::fs::read(&file).expect("a source");
        for byte in name.bytes().chain([0]).chain(text).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    format!("{hash:016x}")
}

/// The digest that the committed page carries.
pub fn committed() -> Option<String> {
    let page = std::fs::read_to_string(crate::root().join(PAGE)).ok()?;
    let (_, rest) = page.split_once("<meta name=\"sources\" content=\"")?;
    rest.split('"').next().map(String::from)
}
