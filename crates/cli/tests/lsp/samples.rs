//! Every request on every sample program: no error, ranges that exist, and formatting that is `tessera fmt`'s.

use super::client::{Client, apply, byte, slice};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tessera::Program;

/// The programs of `tests/cases` and `tests/cases-compute`.
fn samples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut all = Vec::new();
    for set in ["cases", "cases-compute"] {
        for group in ["legal", "illegal", "warning", "runtime"] {
            let folders = fs::read_dir(root.join(set).join(group)).into_iter().flatten().flatten();
            for folder in folders {
                let files = fs::read_dir(folder.path()).into_iter().flatten().flatten().map(|f| f.path());
                all.extend(files.filter(|f| f.extension().is_some_and(|e| e == "pto")));
            }
        }
    }
    all.sort();
    assert!(all.len() > 900, "{} programs", all.len());
    all
}

/// Every range and position that an answer has lies in the text.
fn check_ranges(text: &str, answer: &Value) {
    match answer {
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "range" | "selectionRange" => {
                        slice(text, value);
                    }
                    "position" => {
                        byte(text, value);
                    }
                    _ => check_ranges(text, value),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| check_ranges(text, value)),
        _ => {}
    }
}

/// Places worth asking about: the start of every kind of token, a few of each program.
fn places(text: &str) -> Vec<usize> {
    let mut all = Vec::new();
    for sign in ["%", "@", "!pto", "pto.", "outs", "{", "<", ":", "index"] {
        let found: Vec<usize> = text.match_indices(sign).map(|(n, _)| n + sign.len().min(2)).collect();
        all.extend(found.iter().take(2).chain(found.last()));
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn visit(file: &Path) {
    let text = fs::read_to_string(file).expect("a program");
    let mut client = Client::with(&text, Value::Null);
    let whole = json!({"start": {"line": 0, "character": 0}, "end": super::client::position(&text, text.len())});
    let found = client.diagnostics(|_| true);
    for diagnostic in &found {
        check_ranges(&text, diagnostic);
        let rule = diagnostic["code"].as_str().expect("a rule");
        assert!(tessera_isa::rules::rule(rule).is_some(), "{rule}");
        assert_eq!(diagnostic["codeDescription"]["href"], format!("tessera-explain:{rule}"));
    }
    for at in places(&text) {
        for method in ["hover", "completion", "definition", "documentHighlight", "prepareRename"] {
            let answer = client.at(&format!("textDocument/{method}"), at, json!({})).expect(method);
            check_ranges(&text, &answer);
        }
        let more = json!({"context": {"includeDeclaration": true}});
        let answer = client.at("textDocument/references", at, more).expect("references");
        check_ranges(&text, &answer);
    }
    for method in ["documentSymbol", "semanticTokens/full"] {
        let answer = client.of(&format!("textDocument/{method}"), json!({})).expect(method);
        check_ranges(&text, &answer);
    }
    for method in ["semanticTokens/range", "inlayHint"] {
        let answer = client.of(&format!("textDocument/{method}"), json!({"range": whole})).expect(method);
        check_ranges(&text, &answer);
    }
    let errors = |text: &str| Program::read(text, None).check().iter().filter(|d| d.is_error()).count();
    for action in client.actions(&whole) {
        let edits = action["edit"]["changes"][super::client::URI].as_array().expect("edits");
        let mended = apply(&text, edits);
        assert!(errors(&mended) <= errors(&text), "{action}");
    }
    let options = json!({"options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.of("textDocument/formatting", options).expect("formatting");
    let program = Program::read(&text, None);
    match program.has_errors() {
        true => assert_eq!(edits, Value::Null),
        false => assert_eq!(apply(&text, edits.as_array().expect("edits")), program.text(None)),
    }
    assert_eq!(client.close(), tessera_lsp::Exit::Orderly);
}

/// So many clients at once: each of them waits for its answers most of the time where others compute.
const CLIENTS: usize = 12;

#[test]
fn every_request_works_on_every_sample() {
    let all = samples();
    std::thread::scope(|scope| {
        for part in all.chunks(all.len().div_ceil(CLIENTS)) {
            scope.spawn(move || {
                for file in part {
                    let result = std::panic::catch_unwind(|| visit(file));
                    assert!(result.is_ok(), "{}", file.display());
                }
            });
        }
    });
}

#[test]
fn renaming_a_value_changes_nothing_else() {
    for file in samples().iter().step_by(16) {
        let text = fs::read_to_string(file).expect("a program");
        let (program, Some(at)) = (Program::read(&text, None), text.find('%')) else { continue };
        if program.has_errors() || program.module().is_listing {
            continue;
        }
        let mut client = Client::with(&text, Value::Null);
        let edit = client.at("textDocument/rename", at + 1, json!({"newName": "%renamed"}));
        let edit = edit.unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
        client.apply(&edit);
        let renamed = Program::read(&client.text, None);
        let rules = |p: &Program| p.check().iter().map(|d| d.rule).collect::<Vec<_>>();
        assert_eq!(rules(&renamed), rules(&program), "{}", file.display());
        assert!(client.text.contains("%renamed"), "{}", file.display());
    }
}
