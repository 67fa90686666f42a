//! Every request on every sample program: no error, ranges that exist, and formatting that is `tessera fmt`'s.

use super::client::{Client, apply, byte, slice};
use serde_json::{Value, json};
use tessera::Program;
use tessera_testkit::cases::{self, Case, KINDS, SETS};

/// The programs of `tests/cases` and `tests/cases-compute`.
fn samples() -> Vec<Case> {
    let kinds = SETS.iter().flat_map(|set| KINDS.map(|kind| (set, kind)));
    let all: Vec<Case> = kinds.flat_map(|(set, kind)| cases::of(set, kind).expect("sample cases")).collect();
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

fn visit(text: &str) {
    let mut client = Client::with(text, Value::Null);
    let whole = json!({"start": {"line": 0, "character": 0}, "end": super::client::position(text, text.len())});
    let found = client.diagnostics(|_| true);
    for diagnostic in &found {
        check_ranges(text, diagnostic);
        let rule = diagnostic["code"].as_str().expect("a rule");
        assert!(tessera_isa::rules::rule(rule).is_some(), "{rule}");
        assert_eq!(diagnostic["codeDescription"]["href"], format!("tessera-explain:{rule}"));
    }
    for at in places(text) {
        for method in ["hover", "completion", "definition", "documentHighlight", "prepareRename", "signatureHelp"] {
            let answer = client.at(&format!("textDocument/{method}"), at, json!({})).expect(method);
            check_ranges(text, &answer);
        }
        let more = json!({"context": {"includeDeclaration": true}});
        let answer = client.at("textDocument/references", at, more).expect("references");
        check_ranges(text, &answer);
    }
    for method in ["documentSymbol", "semanticTokens/full", "foldingRange", "codeLens"] {
        let answer = client.of(&format!("textDocument/{method}"), json!({})).expect(method);
        check_ranges(text, &answer);
    }
    for method in ["semanticTokens/range", "inlayHint"] {
        let answer = client.of(&format!("textDocument/{method}"), json!({"range": whole})).expect(method);
        check_ranges(text, &answer);
    }
    let errors = |text: &str| Program::read(text, None).check().iter().filter(|d| d.is_error()).count();
    for action in client.actions(&whole) {
        let edits = action["edit"]["changes"][super::client::URI].as_array().expect("edits");
        let mended = apply(text, edits);
        assert!(errors(&mended) <= errors(text), "{action}");
    }
    let options = json!({"options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.of("textDocument/formatting", options).expect("formatting");
    let program = Program::read(text, None);
    match program.has_errors() {
        true => assert_eq!(edits, Value::Null),
        false => assert_eq!(apply(text, edits.as_array().expect("edits")), program.text(None)),
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
                for case in part {
                    let result = std::panic::catch_unwind(|| visit(&case.program));
                    assert!(result.is_ok(), "{}", case.name);
                }
            });
        }
    });
}

#[test]
fn renaming_a_value_changes_nothing_else() {
    for Case { name, program: text, .. } in samples().iter().step_by(16) {
        let (program, Some(at)) = (Program::read(text, None), text.find('%')) else { continue };
        if program.has_errors() || program.module().is_listing {
            continue;
        }
        let mut client = Client::with(text, Value::Null);
        let edit = client.at("textDocument/rename", at + 1, json!({"newName": "%renamed"}));
        let edit = edit.unwrap_or_else(|e| panic!("{name}: {e:?}"));
        client.apply(&edit);
        let renamed = Program::read(&client.text, None);
        let rules = |p: &Program| p.check().iter().map(|d| d.rule).collect::<Vec<_>>();
        assert_eq!(rules(&renamed), rules(&program), "{name}");
        assert!(client.text.contains("%renamed"), "{}", name);
    }
}
