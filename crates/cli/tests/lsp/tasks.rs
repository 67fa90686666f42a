//! Tasks: a program that does not work comes in, and goes out mended.

use super::client::{Client, URI, apply, slice};
use serde_json::{Value, json};
use tessera_lsp::Exit;

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().map(|d| d["code"].as_str().unwrap()).collect()
}

fn hover(client: &mut Client, at: usize) -> String {
    let answer = client.at("textDocument/hover", at, json!({})).unwrap();
    answer["contents"]["value"].as_str().unwrap_or_default().to_string()
}

/// The labels of what could be written at the end of a text.
fn labels(client: &mut Client, at: usize) -> Vec<String> {
    let answer = client.at("textDocument/completion", at, json!({})).unwrap();
    answer["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_string()).collect()
}

const LAYOUT: &str = "module attributes {pto.target_arch = \"a5\"} {
  func.func @load(%g: !pto.ptr<f16>) {
    %src = pto.alloc_tile : !pto.tile_buf<mat, 64x64xf16>
    %dst = pto.alloc_tile : !pto.tile_buf<loc=left, f16, 64, 64>
    pto.tmov ins(%src : !pto.tile_buf<mat, 64x64xf16>) outs(%dst : !pto.tile_buf<loc=left, f16, 64, 64>)
    return
  }
}
";

#[test]
fn a_wrong_layout_is_found_and_mended() {
    let mut client = Client::with(LAYOUT, Value::Null);
    let found = client.diagnostics(|_| true);
    assert_eq!(codes(&found), ["tmov-layout"], "{found:?}");
    assert_eq!(found[0]["severity"], 1);
    assert!(found[0]["message"].as_str().unwrap().contains("help: write <loc=mat, …> for src"), "{found:?}");
    // Why: the type draws as rows of 64 elements, and the instruction is refused by this rule on a5.
    let drawn = hover(&mut client, LAYOUT.find("%src").unwrap() + 1);
    assert!(drawn.contains("mat 64x64xf16 ND on a5") && drawn.contains("offset(r, c) = r·cols + c"), "{drawn}");
    let refused = hover(&mut client, LAYOUT.find("pto.tmov").unwrap() + 5);
    assert!(refused.contains("✗ a5: tmov-layout") && refused.contains("TMOV, an instruction"), "{refused}");

    let actions = client.actions(&found[0]["range"]);
    let action = actions.iter().find(|a| a["title"] == "Make %src mat 64x64xf16 NZ").expect("the way out");
    assert_eq!((&action["kind"], &action["diagnostics"][0]["code"]), (&json!("quickfix"), &json!("tmov-layout")));
    client.apply(&action["edit"]);
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
    let at = client.text.find("pto.tmov").unwrap() + 5;
    assert!(hover(&mut client, at).contains("✓ a5"));
    // The type leaves its layout to the profile now, and the editor shows it.
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let hints = client.of("textDocument/inlayHint", json!({ "range": whole })).unwrap();
    let hints: Vec<&str> = hints.as_array().unwrap().iter().map(|h| h["label"].as_str().unwrap()).collect();
    assert!(hints.contains(&"NZ"), "{hints:?}");
    assert_eq!(client.close(), Exit::Orderly);
}

const RACE: &str = "module attributes {pto.target_arch = \"a5\"} {
  func.func @twice(%g: !pto.ptr<f32>, %o: !pto.ptr<f32>) {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %v = pto.make_tensor_view %g, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
    %w = pto.make_tensor_view %o, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    %c = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    pto.tload ins(%v : !pto.tensor_view<16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)
    pto.tadd ins(%a, %a : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%c : !pto.tile_buf<vec, 16x16xf32>)
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%c : !pto.tile_buf<vec, 16x16xf32>) outs(%w : !pto.tensor_view<16x16xf32>)
    return
  }
}
";

#[test]
fn a_race_is_found_and_its_flags_inserted() {
    let mut client = Client::with(RACE, Value::Null);
    let found = client.diagnostics(|list| !list.is_empty());
    assert_eq!(codes(&found), ["race-raw"], "{found:?}");
    // The place is the instruction that reads too early; the other one is beside it.
    assert!(slice(RACE, &found[0]["range"]).starts_with("pto.tadd"));
    let related = found[0]["relatedInformation"].as_array().unwrap();
    let writes =
        related.iter().find(|r| r["message"].as_str().unwrap().contains("MTE2 writes %a")).expect("who writes");
    assert!(slice(RACE, &writes["location"]["range"]).starts_with("pto.tload"));
    let page =
        client.ask("workspace/textDocumentContent", json!({"uri": found[0]["codeDescription"]["href"]})).unwrap();
    assert!(page["text"].as_str().unwrap().starts_with("race-raw, a rule"));

    let actions = client.actions(&found[0]["range"]);
    let action = actions.iter().find(|a| a["kind"] == "quickfix").expect("the missing flags");
    assert_eq!(
        action["title"],
        "Insert pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>] and pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"
    );
    client.apply(&action["edit"]);
    let lines: Vec<&str> = client.text.lines().map(str::trim).collect();
    let load = lines.iter().position(|l| l.starts_with("pto.tload")).unwrap();
    assert_eq!(lines[load + 1], "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]");
    assert_eq!(lines[load + 2], "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]");
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
}

#[test]
fn a_loop_that_races_gets_all_its_flags() {
    let text = RACE.replace("    pto.tload", "    scf.for %i = %c1 to %c16 step %c1 {\n    pto.tload");
    let text = text.replace("    return", "    }\n    return");
    let mut client = Client::with(&text, Value::Null);
    let found = client.diagnostics(|list| !list.is_empty());
    assert!(codes(&found).iter().all(|rule| rule.starts_with("race-")), "{found:?}");
    let actions = client.actions(&found[0]["range"]);
    let action = actions.iter().find(|a| a["kind"] == "refactor.rewrite").expect("all flags");
    assert_eq!(action["title"], "Replace the flags and barriers of @twice by those that it needs");
    client.apply(&action["edit"]);
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
    // And they are needed: without one of them it races again.
    let flag = client.text.lines().find(|l| l.contains("wait_flag")).unwrap().to_string();
    let broken = client.text.replacen(&format!("{flag}\n"), "", 1);
    client.change(&broken);
    assert!(!client.diagnostics(|list| !list.is_empty()).is_empty());
}

/// What is other than before, put into what was there, is what there is.
#[test]
fn colours_change_where_the_text_does() {
    let mut client = Client::with(RACE, Value::Null);
    let document = json!({"uri": URI});
    let full = client.ask("textDocument/semanticTokens/full", json!({"textDocument": document})).unwrap();
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>();
    let (mut data, mut id) = (numbers(&full["data"]), full["resultId"].clone());
    let changes = [
        RACE.replace("%c16, %c16", "%c16,   %c16"),
        RACE.replace("    pto.tload", "    // é😀\n    pto.tload"),
        RACE.replace("    return\n", ""),
        String::new(),
        RACE.to_string(),
    ];
    for text in changes {
        client.change(&text);
        let params = json!({"textDocument": document, "previousResultId": id});
        let delta = client.ask("textDocument/semanticTokens/full/delta", params).unwrap();
        for edit in delta["edits"].as_array().unwrap() {
            let start = edit["start"].as_u64().unwrap() as usize;
            let end = start + edit["deleteCount"].as_u64().unwrap() as usize;
            data.splice(start..end, numbers(&edit["data"]));
        }
        id = delta["resultId"].clone();
        let full = client.ask("textDocument/semanticTokens/range", json!({
            "textDocument": document, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}},
        }));
        assert_eq!(data, numbers(&full.unwrap()["data"]), "{text}");
    }
    // Who names an answer that is gone gets everything.
    let params = json!({"textDocument": document, "previousResultId": "long ago"});
    assert_eq!(numbers(&client.ask("textDocument/semanticTokens/full/delta", params).unwrap()["data"]), data);
}

/// Each race of the loop has a quick fix; those that go round it get a set before the loop and a wait after it.
#[test]
fn a_loop_that_races_is_mended_flag_by_flag() {
    let text = RACE.replace("    pto.tload", "    scf.for %i = %c1 to %c16 step %c1 {\n    pto.tload");
    let text = text.replace("    return", "    }\n    return");
    let mut client = Client::with(&text, Value::Null);
    let mut found = client.diagnostics(|list| !list.is_empty());
    let mut titles = Vec::new();
    while let Some(first) = found.first() {
        assert!(titles.len() < 8, "it does not end: {titles:?}");
        let actions = client.actions(&first["range"]);
        let action = actions.iter().find(|a| a["kind"] == "quickfix").expect("a way out");
        titles.push(action["title"].as_str().unwrap().to_string());
        client.apply(&action["edit"]);
        found = client.diagnostics(|_| true);
    }
    let round: Vec<&String> = titles.iter().filter(|t| t.contains("before the loop of line 9")).collect();
    assert!(!round.is_empty() && round.len() < titles.len(), "{titles:?}");
    let lines: Vec<&str> = client.text.lines().map(str::trim).collect();
    let head = lines.iter().position(|l| l.starts_with("scf.for")).unwrap();
    let end = lines.iter().position(|l| *l == "}").unwrap();
    assert!(lines[head - 1].starts_with("pto.set_flag"), "{}", client.text);
    assert!(lines[end + 1].starts_with("pto.wait_flag"), "{}", client.text);
}

#[test]
fn a_slip_is_mended_by_what_the_help_says() {
    let cases = [
        ("pto.tmvo ins(%s : !pto.tile<8x8xf32>) outs(%d : !pto.tile<8x8xf32>)\n", "Change to `pto.tmov`"),
        ("pto.tmov ins(%s : !pto.tile<vek, 8x8xf32>) outs(%d : !pto.tile<8x8xf32>)\n", "Change to `vec`"),
        ("pto.tmov ins(%s : !pto.tile<8x2xf32>) outs(%d : !pto.tile<8x2xf32>)\n", "Make %s"),
    ];
    for (text, title) in cases {
        let mut client = Client::with(text, json!({"profiles": ["a5"]}));
        let found = client.diagnostics(|_| true);
        assert!(!found.is_empty(), "{text}");
        let actions = client.actions(&found[0]["range"]);
        let titles: Vec<&str> = actions.iter().map(|a| a["title"].as_str().unwrap()).collect();
        let action = actions.iter().find(|a| a["title"].as_str().unwrap().starts_with(title));
        client.apply(&action.unwrap_or_else(|| panic!("{text}: {titles:?}, {found:?}"))["edit"]);
        assert!(client.diagnostics(|_| true).len() < found.len().max(1), "{}", client.text);
    }
}

#[test]
fn operands_types_and_attributes_are_completed_from_the_table() {
    let head = "module attributes {pto.target_arch = \"a5\"} {\n  func.func @k(%g: !pto.ptr<f32>, %n: index) {\n    \
                %u = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>\n    %l = pto.alloc_tile : !pto.tile_buf<loc=left, f32, 16, 16>\n    ";
    let tail = "\n    return\n  }\n}\n";
    let mut client = Client::new(Value::Null);
    client.open("");
    let mut at = |written: &str| {
        client.change(&format!("{head}{written}{tail}"));
        labels(&mut client, head.len() + written.len())
    };
    // The start of a statement: every instruction, and what stands around them.
    for start in ["", "p", "%x = ", "%x = pto.ta"] {
        let all = at(start);
        assert!(all.len() > 150, "{start}: {all:?}");
        for name in ["pto.tadd", "pto.tmatmul", "arith.constant", "scf.for"] {
            assert!(all.iter().any(|l| l == name), "{start}: {name}");
        }
    }
    // TADD works on Vec tiles, TMATMUL's first operand is in Left; scalars and pointers are neither.
    assert_eq!(at("pto.tadd ins(%"), ["%u"]);
    assert_eq!(at("pto.tadd ins(%u, %"), ["%u"]);
    assert_eq!(
        at("pto.tadd ins(%u, %u : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%"),
        ["%u"]
    );
    assert_eq!(at("pto.tmatmul ins(%"), ["%l"]);
    assert_eq!(at("%v = pto.addptr %"), ["%l", "%u", "%n", "%g"]);
    // Types, their fields and the words of those.
    assert!(at("%x = pto.alloc_tile : !").contains(&"!pto.tile_buf".to_string()));
    let fields = at("%x = pto.alloc_tile : !pto.tile_buf<loc=vec, ");
    assert!(fields.contains(&"blayout=".to_string()) && fields.contains(&"f16".to_string()), "{fields:?}");
    assert_eq!(at("%x = pto.alloc_tile : !pto.tile_buf<loc=vec, blayout="), ["row_major", "col_major"]);
    // Attributes of the instruction, and their words as they are spelled.
    let attributes = at("pto.tstore ins(%u : !pto.tile_buf<vec, 16x16xf32>) outs(%g : !pto.ptr<f32>) {");
    assert!(attributes.contains(&"atomicType = ".to_string()), "{attributes:?}");
    let words = at("pto.tstore ins(%u : !pto.tile_buf<vec, 16x16xf32>) outs(%g : !pto.ptr<f32>) {atomicType = ");
    assert!(words.iter().any(|w| w.starts_with("#pto<atomic_type ")), "{words:?}");
    assert!(at("pto.barrier <").contains(&"PIPE_MTE2".to_string()));
    assert_eq!(at("func.call @"), ["@k"]);
    // Nothing is completed in a comment.
    assert_eq!(at("// pto.ta"), Vec::<String>::new());
    // The attributes of functions and modules, and their values; a quote that stands there already stays.
    for written in ["func.func @f() attributes {", "func.func @f() attributes {pto.entry, pt"] {
        assert_eq!(at(written), ["pto.entry", "pto.sync = ", "pto.kernel_kind = "], "{written}");
    }
    assert_eq!(at("func.func @f() attributes {pto.sync = "), ["\"manual\"", "\"auto\""]);
    assert_eq!(at("func.func @f() attributes {pto.sync = \"ma"), ["manual", "auto"]);
    assert_eq!(at("module attributes {pto.target_arch = "), ["\"cpu\"", "\"a2a3\"", "\"a5\""]);
    assert_eq!(
        at("func.func @f() attributes {pto.kernel_kind = "),
        ["#pto.kernel_kind<cube>", "#pto.kernel_kind<vector>"]
    );
    let item = json!({"label": "pto.tadd", "data": "tadd"});
    let resolved = client.ask("completionItem/resolve", item).unwrap();
    assert!(resolved["documentation"]["value"].as_str().unwrap().contains("TADD, an instruction"));
}

#[test]
fn a_completed_instruction_is_a_snippet_that_reads() {
    let mut client = Client::with("", Value::Null);
    let answer = client.at("textDocument/completion", 0, json!({})).unwrap();
    let mut snippets = 0;
    for item in answer["items"].as_array().unwrap().iter().filter(|i| i["insertTextFormat"] == 2) {
        snippets += 1;
        let text = item["textEdit"]["newText"].as_str().unwrap();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (place, after) = after.split_once('}').expect("a place ends");
            plain += &format!("{before}{}", place.split_once(':').expect("a place has a text").1);
            rest = after;
        }
        plain += rest;
        let program = tessera::Program::read(plain.replace("\\}", "}"), None);
        assert!(!program.has_errors(), "{text}: {plain}: {:?}", program.check());
    }
    assert!(snippets > 100, "{snippets}");
}

#[test]
fn names_are_found_and_renamed() {
    let text = "module {\n  func.func private @f(%x: index) -> index {\n    return %x : index\n  }\n  func.func @k(%n: index) \
                attributes {pto.entry} {\n    %c0 = arith.constant 0 : index\n    scf.for %i = %c0 to %n step %n {\n      %x = \
                func.call @f(%i) : (index) -> index\n    }\n    scf.for %i = %c0 to %n step %n {\n      %y = func.call @f(%i) : \
                (index) -> index\n    }\n    return\n  }\n}\n";
    let mut client = Client::with(text, Value::Null);
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
    let nth = |what: &str, n: usize| text.match_indices(what).nth(n).unwrap().0 + 1;
    // The second %i is another value than the first.
    let definition = client.at("textDocument/definition", nth("%i)", 1), json!({})).unwrap();
    assert_eq!(super::client::byte(text, &definition["range"]["start"]), nth("%i =", 1));
    let more = json!({"context": {"includeDeclaration": true}});
    let references = client.at("textDocument/references", nth("%i)", 0), more).unwrap();
    assert_eq!(references.as_array().unwrap().len(), 2);
    let highlights = client.at("textDocument/documentHighlight", nth("%c0", 0), json!({})).unwrap();
    let kinds: Vec<u64> = highlights.as_array().unwrap().iter().map(|h| h["kind"].as_u64().unwrap()).collect();
    assert_eq!(kinds, [3, 2, 2]);

    for bad in ["", "1a", "a b", "a->b", "%", "n", "c0"] {
        let refused = client.at("textDocument/rename", nth("%i", 0), json!({ "newName": bad }));
        assert_eq!(refused.unwrap_err().code, -32803, "{bad}");
    }
    assert_eq!(client.at("textDocument/rename", nth("@f(%i", 0), json!({"newName": "k"})).unwrap_err().code, -32803);
    let edit = client.at("textDocument/rename", nth("@f(%i", 0), json!({"newName": "@helper"})).unwrap();
    client.apply(&edit);
    assert_eq!(client.text.matches("@helper").count(), 3);
    let at = client.text.find("%i").unwrap() + 1;
    let edit = client.at("textDocument/rename", at, json!({"newName": "turn"})).unwrap();
    client.apply(&edit);
    assert_eq!((client.text.matches("%turn").count(), client.text.matches("%i").count()), (2, 2));
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
    let symbols = client.of("textDocument/documentSymbol", json!({})).unwrap();
    let names: Vec<&str> = symbols.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["@helper", "@k"]);
}

#[test]
fn broken_text_keeps_what_was_known() {
    let mut client = Client::with(RACE, Value::Null);
    client.diagnostics(|list| !list.is_empty());
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 30, "character": 0}});
    let places = |client: &mut Client| {
        let hints = client.of("textDocument/inlayHint", json!({ "range": whole })).unwrap();
        let labels = hints.as_array().unwrap().iter().map(|h| h["label"].as_str().unwrap().to_string());
        labels.filter(|l| l.starts_with("UB")).collect::<Vec<_>>()
    };
    // The server says when there are placements.
    while client.questions.is_empty() {
        client.of("textDocument/documentSymbol", json!({})).unwrap();
        std::thread::yield_now();
    }
    let before = places(&mut client);
    assert_eq!(before, ["UB 0x0", "UB 0x400"]);
    let broken = client.text.replace("    return", "    pto.tadd ins(%a, \n    return");
    client.change(&broken);
    let found = client.diagnostics(|_| true);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(places(&mut client), before);
    let at = client.text.find("%a =").unwrap() + 1;
    assert!(hover(&mut client, at).contains("UB 0x0"));
    let at = client.text.find("ins(%a, \n").unwrap() + "ins(%a, ".len();
    assert_eq!(labels(&mut client, at), ["%c", "%a"]);
    // A head that cannot be read takes its function with it; what was known of its values is not lost.
    let broken = RACE.replace("@twice(%g: !pto.ptr<f32>,", "@twice(%g !pto.ptr<f32>,");
    client.change(&broken);
    let at = client.text.find("%c =").unwrap() + 1;
    assert!(hover(&mut client, at).contains("UB 0x400"));
    // Nothing is formatted that cannot be read.
    let options = json!({"options": {"tabSize": 2, "insertSpaces": true}});
    assert_eq!(client.of("textDocument/formatting", options).unwrap(), Value::Null);
}

#[test]
fn formatting_moves_only_what_differs() {
    let text = LAYOUT.replace("    return", "  return");
    let mut client = Client::with(&text, Value::Null);
    let options = json!({"options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.of("textDocument/formatting", options).unwrap();
    let formatted = apply(&text, edits.as_array().unwrap());
    assert_eq!(formatted, tessera::Program::read(&text, None).text(None));
    let lines = formatted.lines().filter(|l| !text.lines().any(|old| old == *l)).count();
    let changed = edits[0]["newText"].as_str().unwrap().lines().count();
    assert!(changed <= lines.max(1) + 2, "{edits}");
}

#[test]
fn instructions_are_sorted_by_what_fits() {
    let text = "func.func @k() attributes {pto.target_arch = \"a5\"} {\n  pto.tm\n  return\n}\n";
    let mut client = Client::with(text, json!({"profiles": ["a5"]}));
    let at = text.find("pto.tm").unwrap() + 6;
    let answer = client.at("textDocument/completion", at, json!({})).unwrap();
    let key = |item: &Value| item["sortText"].as_str().or(item["label"].as_str()).unwrap().to_string();
    let mut items: Vec<&Value> = answer["items"].as_array().unwrap().iter().collect();
    items.retain(|item| item["label"].as_str().unwrap().starts_with("pto.tm"));
    items.sort_by_key(|item| key(item));
    let first: Vec<&str> = items.iter().take(4).map(|item| item["label"].as_str().unwrap()).collect();
    assert_eq!(first, ["pto.tmov", "pto.tmax", "pto.tmin", "pto.tmul"]);
    // An instruction that the text uses comes before them.
    let lines = "  %a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  %c = arith.constant 2.0 : f32
  pto.tmuls ins(%a, %c : !pto.tile_buf<vec, 8x8xf32>, f32) outs(%a : !pto.tile_buf<vec, 8x8xf32>)
  return";
    let used = text.replace("  return", lines);
    client.change(&used.replace("  pto.tm\n", ""));
    client.change(&used);
    let answer = client.at("textDocument/completion", at, json!({})).unwrap();
    let items = answer["items"].as_array().unwrap();
    let find = |label: &str| key(items.iter().find(|item| item["label"] == label).expect(label));
    assert!(find("pto.tmuls") < find("pto.tmov"), "{} {}", find("pto.tmuls"), find("pto.tmov"));
    assert!(find("scf.for") > find("pto.tmov"));
}

#[test]
fn operands_are_shown_while_they_are_written() {
    let text = "func.func @k() {\n  %a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>\n  pto.tadd ins(%a, %a : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>) outs(%a : !pto.tile_buf<vec, 8x8xf32>)\n  return\n}\n";
    let mut client = Client::with(text, Value::Null);
    let mut active = |at: usize| {
        let found = client.at("textDocument/signatureHelp", at, json!({})).unwrap();
        let one = &found["signatures"][found["activeSignature"].as_u64()? as usize];
        let range = &one["parameters"][found["activeParameter"].as_u64().unwrap() as usize]["label"];
        let [start, end] = [0, 1].map(|n| range[n].as_u64().unwrap() as usize);
        let label = one["label"].as_str().unwrap();
        Some((label.to_string(), label[start..end].to_string()))
    };
    let label = "pto.tadd ins(src0, src1) outs(dst)".to_string();
    let of = |part: &str, more: usize| text.find(part).unwrap() + more;
    assert_eq!(active(of("ins(%a", 4)), Some((label.clone(), "src0".into())));
    assert_eq!(active(of("ins(%a, %a", 10)), Some((label.clone(), "src1".into())));
    assert_eq!(active(of("outs(%a", 5)), Some((label, "dst".into())));
    // Not inside of types, nor outside of instructions.
    assert_eq!(active(of("8x8xf32>, !pto", 2)), None);
    assert_eq!(active(of("return", 3)), None);
    let listing = "%d = tadd %a, %b";
    let mut client = Client::with(listing, Value::Null);
    let found = client.at("textDocument/signatureHelp", listing.len(), json!({})).unwrap();
    assert_eq!(
        (&found["signatures"][0]["label"], &found["activeParameter"]),
        (&json!("tadd src0, src1 -> dst"), &json!(1))
    );
}

#[test]
fn braces_and_comments_fold_and_kernels_have_lenses() {
    let text = "// One.\n// Two.\nfunc.func @k() {\n  %c0 = arith.constant 0 : index // three\n  %c1 = arith.constant 1 : index\n  scf.for %i = %c0 to %c1 step %c1 {\n    // Alone.\n    %x = arith.addi %i, %i : index\n  }\n  return\n}\n";
    let mut client = Client::with(text, json!({"commands": true}));
    let found = client.of("textDocument/foldingRange", json!({})).unwrap();
    let mut lines: Vec<(u64, u64)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["startLine"].as_u64().unwrap(), f["endLine"].as_u64().unwrap()))
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [(0, 1), (2, 9), (5, 7)]);
    let lenses = client.of("textDocument/codeLens", json!({})).unwrap();
    let lenses: Vec<_> = lenses
        .as_array()
        .unwrap()
        .iter()
        .map(|l| (l["range"]["start"]["line"].as_u64().unwrap(), l["command"].clone()))
        .collect();
    assert_eq!(lenses.len(), 2, "{lenses:?}");
    assert_eq!(
        (lenses[0].0, &lenses[0].1["command"], &lenses[0].1["arguments"]),
        (2, &json!("tessera.run"), &json!([URI, "k"]))
    );
    assert_eq!(
        (lenses[1].0, &lenses[1].1["command"], &lenses[1].1["arguments"]),
        (2, &json!("tessera.explore"), &json!([URI]))
    );
}
