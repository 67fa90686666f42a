//! How long the language server takes to answer: a kernel of 10,000 instructions, one character typed before each request.
//!
//! `cargo run --release -p tessera-bench --bin editor`

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for people")]

use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tessera_cli::commands::lsp::CommandPages;
use tessera_lsp::{Connection, Message, Notification, Request};

const INSTRUCTIONS: usize = 10_000;
const URI: &str = "file:///kernel.pto";

fn program() -> String {
    let tile = "!pto.tile_buf<vec, 16x16xf32>";
    let mut text = String::from("module attributes {pto.target_arch = \"a5\"} {\n  func.func @kernel() {\n");
    for n in 0..100 {
        text += &format!("    %t{n} = pto.alloc_tile : {tile}\n");
    }
    for n in 0..INSTRUCTIONS {
        let (a, b, c) = (n % 100, (n * 7 + 1) % 100, (n * 13 + 2) % 100);
        text += &format!("    pto.tadd ins(%t{a}, %t{b} : {tile}, {tile}) outs(%t{c} : {tile})\n");
    }
    text + "    return\n  }\n}\n"
}

struct Client {
    connection: Connection,
    next: i32,
    version: i32,
    judged: i64,
    /// The name of the last answer.
    result: Option<String>,
}

impl Client {
    fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification::new(method.into(), params).into()).expect("the server listens");
    }

    /// Types a blank, or deletes it again, and asks: the time until the answer is written.
    fn timed(&mut self, method: &str, params: &Value) -> Duration {
        let start = Instant::now();
        self.version += 1;
        let (at, end) = (json!({"line": 5000, "character": 0}), json!({"line": 5000, "character": self.version % 2}));
        let text = if self.version % 2 == 0 { " " } else { "" };
        let change = json!([{"range": {"start": at, "end": end}, "text": text}]);
        let document = json!({"uri": URI, "version": self.version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": change}));
        let mut params = params.clone();
        if let Some(id) = self.result.take() {
            params["previousResultId"] = json!(id);
        }
        self.result = self.ask(method, &params);
        start.elapsed()
    }

    /// Asks; gives the name of the answer, where it has one.
    fn ask(&mut self, method: &str, params: &Value) -> Option<String> {
        self.next += 1;
        let request = Request::new(self.next.into(), method.into(), params);
        self.connection.sender.send(request.into()).expect("the server listens");
        loop {
            match self.connection.receiver.recv().expect("an answer") {
                Message::Response(response) => {
                    serde_json::to_string(&response).expect("an answer is text");
                    let answer = response.response_result.ok()?;
                    return answer["resultId"].as_str().map(String::from);
                }
                message => self.note(&message),
            }
        }
    }

    /// Which version diagnostics are of.
    fn note(&mut self, message: &Message) {
        if let Message::Notification(n) = message
            && let Some(version) = n.params["version"].as_i64()
        {
            self.judged = version;
        }
    }

    /// Waits until the newest version is judged.
    fn wait(&mut self) {
        while self.judged < i64::from(self.version) {
            let message = self.connection.receiver.recv().expect("a message");
            self.note(&message);
        }
    }
}

fn main() {
    let (connection, server) = Connection::memory();
    let server = std::thread::spawn(|| tessera_lsp::serve(server, Arc::new(CommandPages)).expect("a session"));
    let mut client = Client { connection, next: 0, version: 1, judged: 0, result: None };
    client.ask("initialize", &json!({"processId": null, "rootUri": null, "capabilities": {}}));
    client.tell("initialized", json!({}));
    let text = program();
    println!("{INSTRUCTIONS} instructions, {} kB", text.len() / 1000);
    let document = json!({"uri": URI, "languageId": "pto", "version": 1, "text": text});
    let start = Instant::now();
    client.tell("textDocument/didOpen", json!({"textDocument": document}));
    client.wait();
    println!("{:<32} {:>8.1} ms", "open to diagnostics", start.elapsed().as_secs_f64() * 1e3);
    let place = json!({"textDocument": {"uri": URI}, "position": {"line": 5000, "character": 18}});
    let mnemonic = json!({"textDocument": {"uri": URI}, "position": {"line": 5000, "character": 8}});
    let screen = json!({"start": {"line": 5000, "character": 0}, "end": {"line": 5060, "character": 0}});
    let of = |more: Value| {
        let mut params = json!({"textDocument": {"uri": URI}});
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        params
    };
    let requests = [
        ("hover", "textDocument/hover", place.clone()),
        ("hover over a mnemonic", "textDocument/hover", mnemonic),
        ("completion", "textDocument/completion", place.clone()),
        ("definition", "textDocument/definition", place.clone()),
        ("references", "textDocument/references", {
            let mut params = place.clone();
            params["context"] = json!({"includeDeclaration": true});
            params
        }),
        ("highlights", "textDocument/documentHighlight", place),
        ("symbols", "textDocument/documentSymbol", of(json!({}))),
        ("formatting", "textDocument/formatting", of(json!({"options": {"tabSize": 2, "insertSpaces": true}}))),
        ("semantic tokens, a screen", "textDocument/semanticTokens/range", of(json!({ "range": screen }))),
        ("semantic tokens, all", "textDocument/semanticTokens/full", of(json!({}))),
        ("semantic tokens, what changed", "textDocument/semanticTokens/full/delta", of(json!({}))),
        ("inlay hints, a screen", "textDocument/inlayHint", of(json!({ "range": screen }))),
        ("code actions", "textDocument/codeAction", of(json!({"range": screen, "context": {"diagnostics": []}}))),
    ];
    for (name, method, params) in requests {
        let mut times: Vec<Duration> = (0..7).map(|_| client.timed(method, &params)).collect();
        times.sort();
        println!("{name:<32} {:>8.1} ms", times[3].as_secs_f64() * 1e3);
    }
    client.wait();
    let start = Instant::now();
    client.timed("textDocument/formatting", &of(json!({"options": {"tabSize": 2, "insertSpaces": true}})));
    client.wait();
    println!("{:<32} {:>8.1} ms", "a character to diagnostics", start.elapsed().as_secs_f64() * 1e3);
    client.ask("shutdown", &Value::Null);
    client.tell("exit", Value::Null);
    server.join().expect("no panic");
}
