//! The protocol: beginning, ending, cancelling, settings, and messages that make no sense.

use super::client::{Client, URI, position};
use serde_json::{Value, json};
use tessera_lsp::Exit;

const SOUND: &str = "%d = pto.ttrans %s : !pto.tile<8x16xf32> -> !pto.tile<16x8xf32>\n";

#[test]
fn a_session_begins_and_ends_in_order() {
    let mut client = Client::raw();
    let early = client.ask("textDocument/hover", json!({})).unwrap_err();
    assert_eq!(early.code, -32002);
    let answer = client.ask("initialize", json!({"processId": null, "rootUri": null, "capabilities": {}})).unwrap();
    assert_eq!(answer["serverInfo"]["name"], "tessera");
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    // Lenses name commands of the client, and this one has none.
    assert_eq!(answer["capabilities"]["codeLensProvider"], Value::Null);
    assert_eq!(client.ask("initialize", json!({"capabilities": {}})).unwrap_err().code, -32600);
    assert_eq!(client.ask("shutdown", Value::Null).unwrap(), Value::Null);
    assert_eq!(client.ask("textDocument/hover", json!({})).unwrap_err().code, -32600);
    client.tell("exit", Value::Null);
    assert_eq!(client.leave(), Exit::Orderly);

    let client = Client::new(Value::Null);
    client.tell("exit", Value::Null);
    assert_eq!(client.leave(), Exit::Abrupt);
    assert_eq!(Client::new(Value::Null).leave(), Exit::Abrupt);
}

#[test]
fn messages_that_make_no_sense_are_answered() {
    let mut client = Client::with(SOUND, Value::Null);
    assert_eq!(client.ask("textDocument/moniker", json!({})).unwrap_err().code, -32601);
    assert_eq!(client.ask("tessera/nothing", json!(7)).unwrap_err().code, -32601);
    assert_eq!(client.ask("textDocument/hover", json!({"textDocument": 7})).unwrap_err().code, -32602);
    let other = json!({"textDocument": {"uri": "file:///other.pto"}, "position": {"line": 0, "character": 0}});
    let refused = client.ask("textDocument/hover", other).unwrap_err();
    assert!(refused.message.contains("other.pto is not open"), "{}", refused.message);
    client.tell("textDocument/didChange", json!({"nonsense": true}));
    client.tell("nobody/knows", json!([1, 2]));
    // A place behind the end is the end.
    let far =
        json!({"textDocument": {"uri": URI}, "position": {"line": 4_000_000_000u32, "character": 4_000_000_000u32}});
    assert_eq!(client.ask("textDocument/hover", far).unwrap(), Value::Null);
    assert_eq!(client.close(), Exit::Orderly);
}

#[test]
fn what_is_cancelled_is_not_begun() {
    let mut client = Client::with(SOUND, Value::Null);
    // The cancellation waits behind the request when the server comes to it.
    let params =
        json!({"textDocument": {"uri": URI}, "range": {"start": position(SOUND, 0), "end": position(SOUND, 9)}});
    let ids: Vec<i32> = (0..200).map(|_| client.send("textDocument/semanticTokens/range", params.clone())).collect();
    ids.iter().for_each(|id| client.tell("$/cancelRequest", json!({ "id": id })));
    let answers: Vec<_> = ids.iter().map(|id| client.answer(*id)).collect();
    // Each has one answer; those that the server had begun have a good one.
    assert!(
        answers
            .iter()
            .all(|a| a.as_ref().is_ok_and(|v| v["data"].is_array()) || a.as_ref().is_err_and(|e| e.code == -32800))
    );
    assert_eq!(client.close(), Exit::Orderly);
}

#[test]
fn changes_are_followed_in_utf16() {
    let mut client = Client::with(&format!("// 😀\n{SOUND}"), json!({"profiles": ["cpu"]}));
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
    // Behind the smiley, which is two units.
    let at = json!({"line": 0, "character": 5});
    client.edit(json!([{"range": {"start": at, "end": at}, "text": "!\npto.tmvo"}]));
    let found = client.diagnostics(|_| true);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"]["start"], json!({"line": 1, "character": 0}));
    client.edit(
        json!([{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}, "text": ""}]),
    );
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    let hover = json!({"textDocument": {"uri": URI}, "position": at});
    assert!(client.ask("textDocument/hover", hover).is_err());
}

#[test]
fn profiles_are_the_users_the_modules_or_all() {
    let text = |target: &str| {
        format!(
            "module attributes {{{target}}} {{\n  func.func @k() {{\n    %a = pto.alloc_tile : !pto.tile_buf<vec, \
             16x32xf8e4m3>\n    return\n  }}\n}}\n"
        )
    };
    // f8e4m3 is a5's; without a target that is a matter of portability.
    let found = |text: &str, options: Value| {
        let list = Client::with(text, options).diagnostics(|_| true);
        list.iter()
            .map(|d| (d["severity"].as_u64().unwrap(), d["message"].as_str().unwrap().to_string()))
            .collect::<Vec<_>>()
    };
    let free = found(&text(""), Value::Null);
    assert!(free.iter().all(|(severity, text)| *severity == 2 && !text.contains("a5)")), "{free:?}");
    assert!(!free.is_empty());
    assert_eq!(found(&text("pto.target_arch = \"a5\""), Value::Null), []);
    assert!(found(&text("pto.target_arch = \"a5\""), json!({"profiles": "a2a3"})).iter().any(|(s, _)| *s == 1));

    let mut client = Client::with(&text(""), json!({"profiles": ["a9"]}));
    client.diagnostics(|_| true);
    let shown = client.notes.iter().find(|n| n.method == "window/showMessage").expect("a message");
    assert!(shown.params["message"].as_str().unwrap().contains("no profile 'a9'"));
    // Settings may change while documents are open.
    client.tell("workspace/didChangeConfiguration", json!({"settings": {"tessera": {"profiles": ["a5"]}}}));
    assert_eq!(client.diagnostics(<[Value]>::is_empty), Vec::<Value>::new());
}

#[test]
fn pages_have_addresses() {
    let mut client = Client::new(Value::Null);
    let page = client.ask("workspace/textDocumentContent", json!({"uri": "tessera-explain:tmov-loc"})).unwrap();
    assert!(page["text"].as_str().unwrap().starts_with("tmov-loc, a rule"));
    assert_eq!(
        client.ask("workspace/textDocumentContent", json!({"uri": "tessera-explain:nix"})).unwrap_err().code,
        -32602
    );
    assert_eq!(client.ask("workspace/textDocumentContent", json!({"uri": "file:///x"})).unwrap_err().code, -32602);
}

#[test]
fn no_text_ends_the_session() {
    let whole = "module {\n  func.func @k(%a: index) {\n    scf.for %i = %a to %a step %a {\n      %t = pto.alloc_tile : \
                 !pto.tile_buf<vec, 8x8xf32>\n    }\n    return\n  }\n}\n";
    let mut client = Client::new(Value::Null);
    client.open("");
    let mut texts: Vec<String> = (0..whole.len()).step_by(3).map(|n| whole[..n].into()).collect();
    texts.extend((0..whole.len()).step_by(7).map(|n| whole[n..].into()));
    texts.extend(["\u{feff}", "\0", "%", "\"", "<<<<", "!pto.tile<", "é😀", "}", "\r\r\n", "{%a"].map(String::from));
    texts.push("(".repeat(100_000));
    for text in texts {
        client.change(&text);
        let end = text.len();
        for method in ["hover", "completion", "definition", "documentHighlight"] {
            client.at(&format!("textDocument/{method}"), end, json!({})).expect(method);
        }
        for method in ["documentSymbol", "semanticTokens/full"] {
            client.of(&format!("textDocument/{method}"), json!({})).expect(method);
        }
        let range = json!({"start": position(&text, 0), "end": position(&text, end)});
        client.of("textDocument/inlayHint", json!({ "range": range })).expect("hints");
        client.actions(&range);
    }
    assert_eq!(client.close(), Exit::Orderly);
}

/// The command as a process: what it is sent, its exit code, and what it says on standard error.
fn process(input: &str) -> (Option<i32>, String) {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_command_ends_as_the_protocol_says() {
    let message = |value: Value| {
        let text = value.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    let initialize =
        message(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}));
    let shutdown = message(json!({"jsonrpc": "2.0", "id": "two", "method": "shutdown"}));
    let exit = message(json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(process(&format!("{initialize}{shutdown}{exit}")), (Some(0), String::new()));
    assert_eq!(process(&format!("{initialize}{exit}")), (Some(1), String::new()));
    assert_eq!(process(""), (Some(1), String::new()));
    for bad in
        ["hello\r\n\r\n", "Content-Length: 5\r\n\r\n{\"a\"", "Content-Length: x\r\n\r\n", "Content-Length: 2\r\n\r\n{}"]
    {
        let (code, text) = process(bad);
        assert_eq!(code, Some(1), "{bad}: {text}");
        assert!(text.starts_with("error: the editor's message cannot be read: "), "{bad}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn edits_out_of_order_and_beyond_the_end_leave_a_session() {
    let mut client = Client::with(SOUND, json!({"profiles": ["cpu"]}));
    let at = |line: u32, character: u32| json!({"line": line, "character": character});
    let ranges = [
        (at(0, 9), at(0, 2)),
        (at(u32::MAX, u32::MAX), at(0, 0)),
        (at(7, 0), at(9, 4)),
        (at(0, u32::MAX), at(u32::MAX, 0)),
    ];
    for (start, end) in ranges {
        for version in [5, -1, 5, 0] {
            let changes = json!([{"range": {"start": start, "end": end}, "text": "é😀"}]);
            let params = json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": changes});
            client.tell("textDocument/didChange", params);
        }
    }
    // The whole text once more: what came before does not matter.
    client.edit(json!([{"text": SOUND}]));
    assert_eq!(client.diagnostics(|_| true), Vec::<Value>::new());
    client.tell(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": URI, "languageId": "pto", "version": 1, "text": ""}}),
    );
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    assert_eq!(client.close(), Exit::Orderly);
}

#[test]
fn a_document_of_ten_megabytes_is_answered() {
    let long = SOUND.repeat(10 << 20 >> 6);
    let mut client = Client::with(&long, json!({"profiles": ["cpu"]}));
    let place = json!({"textDocument": {"uri": URI}, "position": position(SOUND, 9)});
    assert!(client.ask("textDocument/hover", place).is_ok());
    assert_eq!(client.close(), Exit::Orderly);
}
