//! The Model Context Protocol over standard input and output: JSON-RPC 2.0, one message a line.
//!
//! The part of the protocol that a server of tools needs: `initialize`, `ping`, `tools/list`, `tools/call`,
//! `notifications/cancelled`. It is made by hand: the Rust SDK of the protocol brings an asynchronous runtime, which would
//! be a tenth of this program, for five methods on one stream.

use super::lines::{Line, Open, Out, line, listing, put};
use super::{Answer, Server};
use serde_json::{Value, json};
use std::io::{self, BufRead};
use std::sync::Arc;

/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

const PARSE: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const NO_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

fn error(id: &Value, code: i64, message: impl Into<String>) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message.into()}})
}

fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// The answer of a tool. What goes wrong in a tool is a result that says so, which the model reads.
fn called(answer: Answer) -> Value {
    let (is_error, content) = match answer {
        Ok(value) => (false, value),
        Err(refusal) => (true, json!({"error": refusal.json()})),
    };
    json!({
        "content": [{"type": "text", "text": content.to_string()}],
        "structuredContent": content,
        "isError": is_error,
    })
}

/// Answers messages until the input ends.
pub fn serve(server: &Arc<Server>, input: &mut dyn BufRead, out: Out) -> io::Result<()> {
    let open = Open::default();
    loop {
        match line(input, server.limits().request_size)? {
            Line::End => break,
            Line::TooLong => {
                let most = server.limits().request_size;
                put(&out, &error(&Value::Null, INVALID_REQUEST, format!("a message has more than {most} bytes")));
            }
            Line::Text(text) if text.iter().all(u8::is_ascii_whitespace) => {}
            Line::Text(text) => match serde_json::from_slice::<Value>(&text) {
                Err(e) => put(&out, &error(&Value::Null, PARSE, format!("the line is no JSON: {e}"))),
                // Messages may come in a list (version 2025-03-26).
                Ok(Value::Array(all)) if !all.is_empty() => {
                    all.iter().for_each(|message| handle(server, &open, &out, message));
                }
                Ok(message) => handle(server, &open, &out, &message),
            },
        }
    }
    server.finish();
    Ok(())
}

fn handle(server: &Arc<Server>, open: &Open, out: &Out, message: &Value) {
    let method = message.get("method").and_then(Value::as_str);
    let id = message.get("id").filter(|id| id.is_string() || id.is_number());
    let params = message.get("params").cloned().unwrap_or(Value::Null);
    let (Some(method), true) = (method, message.get("jsonrpc") == Some(&json!("2.0"))) else {
        // An answer to a request that was never made needs no answer.
        if message.get("result").is_none() && message.get("error").is_none() {
            let what = "a message is an object with \"jsonrpc\": \"2.0\" and a \"method\"";
            put(out, &error(id.unwrap_or(&Value::Null), INVALID_REQUEST, what));
        }
        return;
    };
    let Some(id) = id else {
        if method == "notifications/cancelled" {
            params.get("requestId").into_iter().for_each(|id| open.cancel(id));
        }
        return;
    };
    match method {
        "initialize" => {
            let wanted = params.get("protocolVersion").and_then(Value::as_str);
            let version = VERSIONS.into_iter().find(|v| Some(*v) == wanted).unwrap_or(VERSIONS[0]);
            let answer = json!({
                "protocolVersion": version,
                "capabilities": {"tools": {"listChanged": false}},
                "serverInfo": {"name": "tessera", "version": env!("CARGO_PKG_VERSION")},
                "instructions": "Tools for kernels of the PTO tile ISA: check judges legality, run computes on arrays, expect \
                                 compares with a golden, races judges the order of pipes, plan places tiles, explain has a \
                                 page on every instruction and rule.",
            });
            put(out, &result(id, answer));
        }
        "ping" => put(out, &result(id, json!({}))),
        "tools/list" => put(out, &result(id, listing())),
        "tools/call" => {
            let Some(name) = params.get("name").and_then(Value::as_str) else {
                return put(
                    out,
                    &error(id, INVALID_PARAMS, "tools/call names a tool: {\"name\": …, \"arguments\": {…}}"),
                );
            };
            if !super::TOOLS.iter().any(|tool| tool.name == name) {
                return put(out, &error(id, INVALID_PARAMS, format!("there is no tool '{name}'; tools/list has them")));
            }
            let arguments = params.get("arguments").cloned().unwrap_or(Value::Null);
            let flag = open.add(id);
            let (open, out, id) = (open.clone(), out.clone(), id.clone());
            server.ask(name, arguments, flag, move |answer| {
                open.remove(&id);
                // A request that the client took back is not answered.
                if answer.as_ref().err().is_none_or(|refusal| refusal.code != "cancelled") {
                    put(&out, &result(&id, called(answer)));
                }
            });
        }
        _ => put(out, &error(id, NO_METHOD, format!("there is no method '{method}' here; this is a server of tools"))),
    }
}
