//! Links of the documentation: every relative link of a Markdown file leads to a file and a heading that exist, every page of
//! docs/ is in the contents of the site, and the pages that commands name exist.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tessera_cli::commands::explain;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The Markdown files below a folder, those of builds and of other packages left out.
fn pages(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_other = name.starts_with('.') || ["target", "node_modules", "corpus"].contains(&&*name);
        if path.is_dir() && !is_other {
            pages(&path, found);
        } else if name.ends_with(".md") || name == "llms.txt" {
            found.push(path);
        }
    }
}

/// The text without code: fenced blocks, indented blocks after an empty line, and code in a line.
fn prose(text: &str) -> String {
    let (mut out, mut is_fenced, mut is_indented, mut before) = (String::new(), false, false, "");
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        is_indented = line.starts_with("    ") && (is_indented || before.trim().is_empty());
        before = line;
        if is_fenced || is_fence || is_indented {
            continue;
        }
        // Every second part between backticks is code.
        let parts = line.split('`').enumerate().filter(|(n, _)| n % 2 == 0);
        out.extend(parts.map(|(_, part)| part));
        out.push('\n');
    }
    out
}

/// The ids of the headings of a page.
fn headings(text: &str) -> BTreeSet<String> {
    let mut is_fenced = false;
    let mut ids = BTreeSet::new();
    for line in text.lines() {
        is_fenced ^= line.starts_with("```");
        if let (false, Some(title)) = (is_fenced, line.strip_prefix('#')) {
            let title = title.trim_start_matches('#').trim().to_lowercase();
            let keep = |c: &char| c.is_alphanumeric() || "_- ".contains(*c);
            ids.insert(title.chars().filter(keep).map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    ids
}

/// The targets of the links of a text.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

#[test]
fn links_lead_somewhere() {
    let mut files = Vec::new();
    pages(&root(), &mut files);
    assert!(files.len() > 200, "{}", files.len());
    let (mut links, mut broken) = (0, Vec::new());
    for file in &files {
        let text = prose(&fs::read_to_string(file).unwrap());
        for target in targets(&text) {
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (path, id) = target.split_once('#').map_or((target, None), |(path, id)| (path, Some(id)));
            let to = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let has = |id: &str| fs::read_to_string(&to).is_ok_and(|text| headings(&text).contains(id));
            if !to.exists() || id.is_some_and(|id| to.extension().is_some_and(|e| e == "md") && !has(id)) {
                broken.push(format!("{}: {target}", file.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(links > 500, "{links}");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_page_is_in_the_contents() {
    let docs = root().join("docs");
    let contents = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<&str> = targets(&contents).collect();
    let mut files = Vec::new();
    pages(&docs, &mut files);
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "md") && !f.ends_with("SUMMARY.md")) {
        let name = file.strip_prefix(&docs).unwrap().to_str().unwrap().replace('\\', "/");
        assert!(listed.contains(&*name), "docs/{name} is not in docs/SUMMARY.md");
    }
}

#[test]
fn pages_that_commands_name_exist() {
    let folders = ["", "docs", "docs/spec", "docs/spec/isa", "docs/spec/micro"].map(|dir| root().join(dir));
    let is_name = |c: char| c.is_ascii_alphabetic() || "/-_".contains(c);
    let mut found = BTreeSet::new();
    for name in explain::names() {
        let page = explain::explain(name).unwrap_or_default();
        for (at, _) in page.match_indices(".md") {
            let start = page[..at].rfind(|c| !is_name(c)).map_or(0, |n| n + 1);
            // A line may end between a folder and a name.
            let page = format!("{}.md", page[start..at].trim_start_matches('/'));
            assert!(folders.iter().any(|dir| dir.join(&page).is_file()), "{name} names {page}");
            found.insert(page);
        }
    }
    assert!(found.contains("docs/spec/isa/cost.md") && found.len() > 10, "{found:?}");
}
