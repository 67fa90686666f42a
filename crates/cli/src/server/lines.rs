//! JSON lines: one request a line, one answer a line, in the order in which answers are ready.
//!
//! `{"id": 1, "tool": "check", "arguments": {…}}` is answered by `{"id": 1, "result": {…}}` or
//! `{"id": 1, "error": {"code": "…", "message": "…"}}`; `{"cancel": 1}` takes a request back.

use super::{Answer, Refusal, Server};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A line of input.
pub enum Line {
    Text(Vec<u8>),
    /// It was longer than what is read, and is left out.
    TooLong,
    End,
}

/// Reads a line; a longer one than this is read over.
pub fn line(input: &mut dyn BufRead, most: u64) -> io::Result<Line> {
    let mut text = Vec::new();
    let mut is_long = false;
    loop {
        let buffer = match input.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if buffer.is_empty() {
            return Ok(match (is_long, text.is_empty()) {
                (true, _) => Line::TooLong,
                (_, true) => Line::End,
                _ => Line::Text(text),
            });
        }
        let end = buffer.iter().position(|b| *b == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        is_long |= (text.len() + part.len()) as u64 > most;
        if !is_long {
            text.extend_from_slice(part);
        }
        let read = part.len() + usize::from(end.is_some());
        input.consume(read);
        if end.is_some() {
            return Ok(if is_long { Line::TooLong } else { Line::Text(text) });
        }
    }
}

/// An output that several threads write lines to.
pub type Out = Arc<Mutex<Box<dyn Write + Send>>>;

/// Writes a line.
pub fn put(out: &Out, value: &Value) {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody is left to hear about an output that cannot be written.
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
}

/// The requests that can be cancelled, by their ids.
#[derive(Clone, Default)]
pub struct Open(Arc<Mutex<HashMap<String, Arc<AtomicBool>>>>);

impl Open {
    pub fn add(&self, id: &Value) -> Arc<AtomicBool> {
        let flag = Arc::new(AtomicBool::new(false));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_string(), flag.clone());
        flag
    }

    pub fn cancel(&self, id: &Value) {
        if let Some(flag) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id.to_string()) {
            flag.store(true, Ordering::SeqCst);
        }
    }

    pub fn remove(&self, id: &Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string());
    }
}

fn answered(id: &Value, answer: Answer) -> Value {
    match answer {
        Ok(result) => json!({"id": id, "result": result}),
        Err(refusal) => json!({"id": id, "error": refusal.json()}),
    }
}

/// Answers requests until the input ends.
pub fn serve(server: &Arc<Server>, input: &mut dyn BufRead, out: Out) -> io::Result<()> {
    let open = Open::default();
    loop {
        let text = match line(input, server.limits().request_size)? {
            Line::End => break,
            Line::TooLong => {
                let most = server.limits().request_size;
                let why = Refusal::new("too-large", format!("a request has more than {most} bytes"));
                put(&out, &answered(&Value::Null, Err(why)));
                continue;
            }
            Line::Text(text) => text,
        };
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let request: Value = match serde_json::from_slice(&text) {
            Ok(request) => request,
            Err(e) => {
                put(&out, &answered(&Value::Null, Err(Refusal::new("parse", format!("the line is no JSON: {e}")))));
                continue;
            }
        };
        if let Some(id) = request.get("cancel") {
            open.cancel(id);
            continue;
        }
        let id = request.get("id").cloned().unwrap_or(Value::Null);
        let Some(tool) = request.get("tool").and_then(Value::as_str) else {
            let why = Refusal::new("request", "a request is an object with \"id\", \"tool\" and \"arguments\"");
            put(&out, &answered(&id, Err(why)));
            continue;
        };
        if tool == "tools" {
            put(&out, &answered(&id, Ok(listing())));
            continue;
        }
        let arguments = request.get("arguments").cloned().unwrap_or(Value::Null);
        let flag = open.add(&id);
        let (open, out) = (open.clone(), out.clone());
        server.ask(tool, arguments, flag, move |answer| {
            open.remove(&id);
            put(&out, &answered(&id, answer));
        });
    }
    server.finish();
    Ok(())
}

/// The tools with their schemas.
pub fn listing() -> Value {
    let tool =
        |tool: &super::tools::Tool| json!({"name": tool.name, "description": tool.about, "inputSchema": tool.schema()});
    json!({"tools": super::TOOLS.iter().map(tool).collect::<Vec<_>>()})
}
