//! Every source that `tessera explain` prints exists: a page of the specification in `docs/spec` with that section, or a
//! page of the PTO ISA by its name.

use std::path::Path;
use tessera_isa::ops::Opcode;
use tessera_isa::rules;

fn headings(file: &str) -> Option<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["docs/spec", "docs", ""].map(|folder| root.join(folder).join(file));
    let text = places.iter().find_map(|path| std::fs::read_to_string(path).ok())?;
    Some(text.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches(['#', ' ']).to_string()).collect())
}

/// The fault in a source such as `ops.md 3.2 and 3.4; PTO ISA, TINSERT page, A5 checks`.
fn fault(source: &str) -> Option<String> {
    let (mut page, mut found) = (None, false);
    for part in source.split(';').map(str::trim) {
        if part.starts_with("PTO ISA, ") && part.contains(" page") {
            found = true;
            continue;
        }
        for word in part.split([' ', ',']).filter(|w| !matches!(*w, "" | "and" | "to")) {
            if word.ends_with(".md") {
                page = headings(word);
                found = true;
                if page.is_none() {
                    return Some(format!("'{source}': there is no page {word}"));
                }
                continue;
            }
            let heading =
                |h: &String| h == word || h.strip_prefix(word).is_some_and(|rest| rest.starts_with(['.', ' ']));
            if !page.as_ref().is_some_and(|page| page.iter().any(heading)) {
                return Some(format!("'{source}': there is no section {word}"));
            }
        }
    }
    (!found).then(|| format!("'{source}' names no page"))
}

#[test]
fn sources_exist() {
    let instructions = Opcode::ALL.iter().map(|op| op.info().source);
    let wrong: Vec<String> = rules::all().map(|r| r.source).chain(instructions).filter_map(fault).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The check itself finds what is missing.
    assert!(fault("ops.md 3.2; PTO ISA, TINSERT page").is_none());
    for missing in ["ops.md 99", "nothing.md 1", "tinsert", ""] {
        assert!(fault(missing).is_some(), "{missing}");
    }
}
