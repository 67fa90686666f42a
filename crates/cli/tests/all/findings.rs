//! Findings as JSON against docs/findings.schema.json, and the page of the schema.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tessera_cli::{Session, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a command writes to standard output, as one object a line.
fn lines(words: &str, stdin: &str) -> Vec<Value> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: root(),
        stdin: &mut stdin.as_bytes(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    run(words.split(' ').map(OsString::from), &mut session);
    let text = String::from_utf8(stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// The names of all properties below a part of a schema.
fn properties(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(parts) => {
            let of = |(key, part): (&String, &Value)| match (key.as_str(), part) {
                ("properties", Value::Object(found)) => found.keys().cloned().collect(),
                _ => Vec::new(),
            };
            names.extend(parts.iter().flat_map(of));
            parts.values().for_each(|part| properties(part, names));
        }
        Value::Array(all) => all.iter().for_each(|part| properties(part, names)),
        _ => {}
    }
}

#[test]
fn findings_are_as_the_schema_says() {
    let schema: Value =
        serde_json::from_slice(&std::fs::read(root().join("docs/findings.schema.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let from = "func.func @k() {\n  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>\n  \
                %d = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>\n  \
                pto.tabs ins(%a : !pto.tile_buf<vec, 16x64xf32>) outs(%d : !pto.tile_buf<vec, 16x32xf32>) loc(\"m.py\":13:7)\n  \
                return\n}\n";
    let commands = [
        ("tessera check crates/check/tests/rules --profile a5 --format json", "", 100),
        ("tessera check crates/check/tests/rules --profile a2a3 --format json", "", 100),
        ("tessera check examples --profile a5 --races --format json", "", 4),
        ("tessera check - --profile a5 --format json", from, 1),
        ("tessera check - --profile cpu --format json", "%b = pto.nothing %ä", 1),
        ("tessera run examples/sync/race.pto --profile a5 --in x=iota --races --format json", "", 1),
        ("tessera run examples/ragged_edge.pto --format json", "", 1),
    ];
    let mut fields = BTreeSet::new();
    for (words, stdin, least) in commands {
        let found = lines(words, stdin);
        assert!(found.len() >= least, "{words}: {} findings", found.len());
        for finding in found {
            let wrong: Vec<String> =
                validator.iter_errors(&finding).map(|e| format!("{}: {e}", e.instance_path())).collect();
            assert!(wrong.is_empty(), "{words}: {wrong:#?}\n{finding:#}");
            fields.extend(finding.as_object().unwrap().keys().cloned());
        }
    }
    for field in ["source", "x", "y", "memory", "bytes", "missing", "add"] {
        assert!(fields.contains(field), "no finding here has {field}");
    }
    // What the schema does not know is found out.
    let mut wrong = lines("tessera check examples/sync/race.pto --profile a5 --races --format json", "").remove(0);
    wrong["add"][0]["afterwards"] = true.into();
    assert!(!validator.is_valid(&wrong));
    let page = std::fs::read_to_string(root().join("docs/findings.md")).unwrap();
    let mut names = BTreeSet::new();
    properties(&schema, &mut names);
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/findings.md does not explain {name}");
    }
}
