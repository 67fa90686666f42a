//! A client that talks to the server in memory, as an editor does.

use serde_json::{Value, json};
use std::sync::Arc;
use std::thread::JoinHandle;
use tessera_cli::commands::lsp::CommandPages;
use tessera_lsp::{Connection, Exit, Message, Notification, Request, Response, ResponseError};

pub const URI: &str = "file:///kernel.pto";

pub struct Client {
    connection: Connection,
    server: Option<JoinHandle<Exit>>,
    next: i32,
    version: i32,
    /// What the server said without being asked.
    pub notes: Vec<Notification>,
    /// What the server asked.
    pub questions: Vec<Request>,
    pub text: String,
}

impl Client {
    /// A session that has not begun.
    pub fn raw() -> Client {
        let (connection, server) = Connection::memory();
        let server = std::thread::spawn(|| tessera_lsp::serve(server, Arc::new(CommandPages)).expect("a session"));
        let (notes, questions) = Default::default();
        Client { connection, server: Some(server), next: 0, version: 0, notes, questions, text: String::new() }
    }

    /// A session with settings.
    pub fn new(options: Value) -> Client {
        let mut client = Client::raw();
        let capabilities = json!({
            "textDocument": {"completion": {"completionItem": {"snippetSupport": true}}},
            "workspace": {"inlayHint": {"refreshSupport": true}},
        });
        let params =
            json!({"processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": options});
        client.ask("initialize", params).expect("the session begins");
        client.tell("initialized", json!({}));
        client
    }

    /// A session with one document.
    pub fn with(text: &str, options: Value) -> Client {
        let mut client = Client::new(options);
        client.open(text);
        client
    }

    pub fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification::new(method.into(), params).into()).expect("the server listens");
    }

    /// Sends a request and gives its id.
    pub fn send(&mut self, method: &str, params: Value) -> i32 {
        self.next += 1;
        let request = Request::new(self.next.into(), method.into(), params);
        self.connection.sender.send(request.into()).expect("the server listens");
        self.next
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The answer to a request; what comes in between is kept.
    pub fn answer(&mut self, id: i32) -> Result<Value, ResponseError> {
        loop {
            match self.connection.receiver.recv().expect("an answer") {
                Message::Response(Response { id: of, response_result }) if of == id.into() => return response_result,
                Message::Response(other) => panic!("nobody asked {other:?}"),
                Message::Notification(note) => self.notes.push(note),
                Message::Request(request) => self.questions.push(request),
            }
        }
    }

    /// What the server says by itself of the newest version, until it is what is waited for.
    pub fn diagnostics(&mut self, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        loop {
            let known = self.notes.iter().rev().find(|n| n.method == "textDocument/publishDiagnostics");
            if let Some(note) = known.filter(|n| n.params["version"] == json!(self.version)) {
                let list = note.params["diagnostics"].as_array().expect("a list").clone();
                if wanted(&list) {
                    return list;
                }
            }
            match self.connection.receiver.recv().expect("a message") {
                Message::Notification(note) => self.notes.push(note),
                Message::Request(request) => self.questions.push(request),
                Message::Response(other) => panic!("nobody asked {other:?}"),
            }
        }
    }

    pub fn open(&mut self, text: &str) {
        self.version += 1;
        self.text = text.into();
        let document = json!({"uri": URI, "languageId": "pto", "version": self.version, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces the whole text.
    pub fn change(&mut self, text: &str) {
        self.text = text.into();
        self.edit(json!([{ "text": text }]));
    }

    /// Sends changes; the text is the caller's to keep.
    pub fn edit(&mut self, changes: Value) {
        self.version += 1;
        let document = json!({"uri": URI, "version": self.version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// A request about a place, given by the text up to it.
    pub fn at(&mut self, method: &str, byte: usize, more: Value) -> Result<Value, ResponseError> {
        let mut params = json!({"textDocument": {"uri": URI}, "position": position(&self.text, byte)});
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        self.ask(method, params)
    }

    /// A request about the document.
    pub fn of(&mut self, method: &str, more: Value) -> Result<Value, ResponseError> {
        let mut params = json!({"textDocument": {"uri": URI}});
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        self.ask(method, params)
    }

    pub fn actions(&mut self, range: &Value) -> Vec<Value> {
        let more = json!({"range": range, "context": {"diagnostics": []}});
        let found = self.of("textDocument/codeAction", more).expect("actions");
        found.as_array().expect("a list").clone()
    }

    /// Applies the edits of an action or a rename, and tells the server.
    pub fn apply(&mut self, edit: &Value) {
        let edits = edit["changes"][URI].as_array().expect("edits of the document").clone();
        let text = apply(&self.text, &edits);
        self.change(&text);
    }

    pub fn close(mut self) -> Exit {
        self.ask("shutdown", Value::Null).expect("it shuts down");
        self.tell("exit", Value::Null);
        self.server.take().expect("a server").join().expect("no panic")
    }

    /// Ends without `shutdown`.
    pub fn leave(mut self) -> Exit {
        let server = self.server.take().expect("a server");
        drop(self);
        server.join().expect("no panic")
    }
}

/// A byte as a position of the protocol.
pub fn position(text: &str, byte: usize) -> Value {
    let before = &text[..byte];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    json!({"line": line, "character": before[start..].encode_utf16().count()})
}

/// The byte of a position, which must exist.
pub fn byte(text: &str, position: &Value) -> usize {
    let (line, character) =
        (position["line"].as_u64().expect("a line"), position["character"].as_u64().expect("a column"));
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(n, _)| n + 1));
    let start = starts.clone().nth(line as usize).unwrap_or_else(|| panic!("the text has no line {line}"));
    let (mut units, mut at) = (0, start);
    for c in text[start..].chars() {
        if units >= character || c == '\n' {
            break;
        }
        units += c.len_utf16() as u64;
        at += c.len_utf8();
    }
    assert_eq!(units, character, "line {line} has no such column");
    at
}

/// The text of a range.
pub fn slice<'a>(text: &'a str, range: &Value) -> &'a str {
    let (start, end) = (byte(text, &range["start"]), byte(text, &range["end"]));
    assert!(start <= end, "{range} is upside down");
    &text[start..end]
}

/// A text with edits, all of the text before.
pub fn apply(text: &str, edits: &[Value]) -> String {
    let place = |e: &Value| (byte(text, &e["range"]["start"]), byte(text, &e["range"]["end"]));
    let mut edits: Vec<&Value> = edits.iter().collect();
    edits.sort_by_key(|e| place(e));
    let mut out = text.to_string();
    for edit in edits.into_iter().rev() {
        let (start, end) = place(edit);
        out.replace_range(start..end, edit["newText"].as_str().expect("a text"));
    }
    out
}
