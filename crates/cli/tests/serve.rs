//! `tessera serve` and `tessera mcp` as processes: every request is answered once, whatever else is asked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const PROGRAM: &str = "%d = pto.tadd %a, %b : (!pto.tile<1x8xf32>, !pto.tile<1x8xf32>) -> !pto.tile<1x8xf32>";

/// A program that runs until a limit stops it.
const ENDLESS: &str = "%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%n = arith.constant 100000000000 : index
scf.for %i = %c0 to %n step %c1 {
  pto.tadd ins(%a, %b : !pto.tile<1x8xf32>, !pto.tile<1x8xf32>) outs(%d : !pto.tile<1x8xf32>)
}";

/// More steps than `ENDLESS` has.
const MANY_STEPS: &str = "1000000000000";

fn start(words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Gives all lines to a server and takes all of its answers.
fn talk(words: &[&str], lines: Vec<String>) -> Vec<Value> {
    let mut child = start(words);
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for line in lines {
            stdin.write_all(line.as_bytes()).unwrap();
            stdin.write_all(b"\n").unwrap();
        }
    });
    let out = BufReader::new(child.stdout.take().unwrap());
    let answers = out.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    answers
}

fn request(id: u64, tool: &str, arguments: &Value) -> String {
    json!({"id": id, "tool": tool, "arguments": arguments}).to_string()
}

#[test]
fn two_thousand_requests_with_hostile_ones_among_them() {
    let mut lines = Vec::new();
    let mut wanted: BTreeMap<u64, &str> = BTreeMap::new();
    let mut hostile = 0;
    for id in 0..2000u64 {
        let (line, answer) = match id % 10 {
            0 => (request(id, "nonsense", &json!({})), "unknown-tool"),
            1 => (request(id, "check", &json!({"program": 5})), "arguments"),
            2 => (request(id, "run", &json!({"program": PROGRAM, "inputs": {"a": [[1, 2]]}})), "arguments"),
            3 => (request(id, "check", &json!({"file": "../../etc/passwd"})), "file"),
            4 => (request(id, "explain", &json!({"topic": "tadd"})), "text"),
            5 => (request(id, "check", &json!({"program": "%d = pto.tadd %a"})), "findings"),
            _ => (request(id, "run", &json!({"program": PROGRAM, "inputs": {"a": "iota", "b": "ones"}})), "outputs"),
        };
        lines.push(line);
        wanted.insert(id, answer);
        if id % 100 == 50 {
            lines.push(["not json", "{\"id\": ", "[1, 2]", "{}", "\u{1}\u{2}"][(id / 100) as usize % 5].into());
            hostile += 1;
        }
    }
    lines.push(format!("{{\"id\": 1, \"tool\": \"check\", \"arguments\": \"{}\"}}", "x".repeat(2 << 20)));
    hostile += 1;
    let mut refused = 0;
    for answer in talk(&["serve", "--request-size", "1MiB"], lines) {
        let Some(id) = answer["id"].as_u64() else {
            refused += 1;
            assert!(["parse", "request", "too-large"].contains(&answer["error"]["code"].as_str().unwrap()), "{answer}");
            continue;
        };
        let want = wanted.remove(&id).unwrap_or_else(|| panic!("answered twice: {answer}"));
        match answer.get("result") {
            Some(result) => assert!(result.get(want).is_some(), "{want}: {answer}"),
            None => assert_eq!(answer["error"]["code"], want, "{answer}"),
        }
    }
    assert_eq!(refused, hostile);
    assert!(wanted.is_empty(), "{} requests were lost", wanted.len());
}

#[test]
fn what_takes_too_long_is_stopped() {
    let lines = (0..3).map(|id| request(id, "run", &json!({"program": ENDLESS}))).collect();
    let answers = talk(&["serve", "--request-time", "1s", "--request-steps", MANY_STEPS], lines);
    assert_eq!(answers.len(), 3);
    for answer in answers {
        assert_eq!(answer["error"]["code"], "time", "{answer}");
    }
}

#[test]
fn what_takes_too_many_steps_does_not_start() {
    let lines = vec![request(0, "run", &json!({"program": ENDLESS}))];
    let answers = talk(&["serve", "--request-time", "1h", "--request-steps", "200000000"], lines);
    assert_eq!(answers[0]["result"]["findings"][0]["rule"], "loop", "{answers:?}");
}

#[test]
fn what_is_cancelled_is_not_waited_for() {
    // No time limit ends the run: only the cancellation does.
    let run = request(0, "run", &json!({"program": ENDLESS}));
    let lines = vec![run, json!({"cancel": 0}).to_string(), request(1, "check", &json!({"program": PROGRAM}))];
    let answers = talk(&["serve", "--request-time", "1h", "--request-steps", MANY_STEPS], lines);
    assert_eq!(answers.len(), 2);
    for answer in answers {
        match answer["id"].as_u64().unwrap() {
            0 => assert_eq!(answer["error"]["code"], "cancelled", "{answer}"),
            _ => assert_eq!(answer["result"]["ok"], true, "{answer}"),
        }
    }
}

/// What waits takes memory, which is bounded whatever the number of requests is.
#[test]
fn requests_that_wait_have_bounded_memory() {
    let program = format!("{ENDLESS}\n// {}", "x".repeat(400 << 10));
    let mut lines: Vec<String> = (0..8).map(|id| request(id, "run", &json!({"program": program}))).collect();
    lines.extend((0..2).map(|id| json!({"cancel": id}).to_string()));
    let words = ["serve", "--queue-memory", "1MiB", "--request-time", "1h", "--request-steps", MANY_STEPS];
    let answers = talk(&words, lines);
    assert_eq!(answers.len(), 8);
    for answer in answers {
        // Two have room; both run until they are cancelled.
        let wanted = if answer["id"].as_u64().unwrap() < 2 { "cancelled" } else { "busy" };
        assert_eq!(answer["error"]["code"], wanted, "{answer}");
    }
}

/// Lines that are no requests, of both protocols: each has an answer that says so, and the next request has a good one.
#[test]
fn lines_that_make_no_sense_are_answered() {
    let deep = "[".repeat(200_000);
    let long = "x".repeat(10 << 20);
    let nonsense = [
        deep.as_str(),
        &"{\"a\":".repeat(5000),
        &long,
        "\"\\ud800\"",
        "1e999999",
        "null",
        "[]",
        "[null, 7]",
        "{\"id\": {\"x\": []}, \"tool\": 7}",
        "{\"jsonrpc\": \"2.0\", \"method\": 7, \"id\": null}",
        "{\"id\": 1, \"id\": 2}",
    ];
    for (mode, good) in [
        ("serve", request(9, "explain", &json!({"topic": "tadd"}))),
        ("mcp", json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}).to_string()),
    ] {
        let mut lines: Vec<String> = nonsense.iter().map(|line| line.to_string()).collect();
        lines.push(good);
        let answers = talk(&[mode, "--request-size", "1MiB"], lines);
        assert!(answers.len() > nonsense.len(), "{mode}: {answers:?}");
        let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer["id"] == 9);
        assert!(good.iter().all(|answer| answer["error"].is_null()) && good.len() == 1, "{good:?}");
        assert!(bad.iter().all(|answer| !answer["error"]["message"].as_str().unwrap().is_empty()), "{bad:?}");
    }
}

/// A client that no longer reads, and one that dies in the middle of a line, leave a server that ends.
#[test]
fn a_client_that_dies_ends_the_server() {
    for mode in ["serve", "mcp"] {
        let mut child = start(&[mode]);
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        for id in 0..50u64 {
            let call = json!({"jsonrpc": "2.0", "id": id, "tool": "check", "arguments": {"program": PROGRAM},
                "method": "tools/call", "params": {"name": "check", "arguments": {"program": PROGRAM}}});
            stdin.write_all(format!("{call}\n").as_bytes()).unwrap();
        }
        stdin.write_all(b"{\"id\": 51, \"tool\": \"che").unwrap();
        drop(stdin);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{mode}: {said}");
        assert!(!said.contains("panicked"), "{mode}: {said}");
    }
}

#[test]
fn files_are_read_below_the_root_and_nowhere_else() {
    let dir = std::env::temp_dir().join(format!("tessera-serve-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("in")).unwrap();
    std::fs::write(dir.join("in/k.pto"), PROGRAM).unwrap();
    std::fs::write(dir.join("secret.pto"), PROGRAM).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(dir.join("secret.pto"), dir.join("in/link.pto")).unwrap();
    let root = dir.join("in").display().to_string();
    let names = ["k.pto", "./k.pto", "../secret.pto", "link.pto", "/etc/passwd", ".", "none.pto"];
    let lines = (0..).zip(names).map(|(id, name)| request(id, "check", &json!({"file": name}))).collect();
    for answer in talk(&["serve", "--root", &root], lines) {
        match answer["id"].as_u64().unwrap() {
            0 | 1 => assert_eq!(answer["result"]["ok"], true, "{answer}"),
            _ => assert_eq!(answer["error"]["code"], "file", "{answer}"),
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}

fn http(place: &str, request: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(place).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

fn post(place: &str, tool: &str, body: &str, more: &str) -> (u16, Value) {
    let length = body.len();
    let head = format!(
        "POST /{tool} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n"
    );
    http(place, &(head + body))
}

#[test]
fn http_on_loopback() {
    let mut child = start(&["serve", "--http", "0"]);
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let place = line.trim().rsplit('/').next().unwrap().to_string();
    let body = json!({"program": PROGRAM}).to_string();
    std::thread::scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|| {
                let (status, answer) = post(&place, "check", &body, "");
                assert_eq!((status, &answer["result"]["ok"]), (200, &json!(true)), "{answer}");
            });
        }
    });
    assert_eq!(post(&place, "nonsense", "{}", "").0, 404);
    assert_eq!(post(&place, "check", "{", "").0, 400);
    assert_eq!(post(&place, "check", "{}", "").0, 400);
    assert_eq!(post(&place, "check", &body, "Origin: https://example.com\r\n").0, 403);
    assert_eq!(http(&place, "GET /tools HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n").0, 403);
    assert_eq!(http(&place, "POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n").0, 413);
    assert_eq!(http(&place, "POST /check HTTP/1.1\r\nHost: localhost\r\n\r\n").0, 411);
    assert_eq!(http(&place, "nonsense\r\n\r\n").0, 400);
    let long = format!("GET /tools HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(16 << 10));
    assert_eq!(http(&place, &long[..16 << 10]).0, 431);
    // Clients that die in the middle of a request.
    for half in [
        "",
        "POST",
        "POST /check HTTP/1.1\r\nHost: loc",
        "POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n{",
    ] {
        TcpStream::connect(&place).unwrap().write_all(half.as_bytes()).unwrap();
    }
    assert_eq!(post(&place, "check", &body, "").0, 200);
    let (status, tools) = http(&place, "GET /tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!(status, 200);
    assert!(tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "check"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn model_context_protocol() {
    let call = |id: u64, name: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
            .to_string()
    };
    let lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
        .to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string(),
        call(2, "check", json!({"program": PROGRAM})),
        call(3, "nonsense", json!({})),
        call(4, "check", json!({"what": 1})),
        json!({"jsonrpc": "2.0", "id": 5, "method": "resources/list"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 6, "method": "ping"}).to_string(),
        "nonsense".into(),
        json!({"id": 7}).to_string(),
    ];
    let answers = talk(&["mcp"], lines);
    assert_eq!(answers.len(), 9, "{answers:#?}");
    for answer in answers {
        assert_eq!(answer["jsonrpc"], "2.0");
        match answer["id"].as_u64() {
            Some(0) => assert_eq!(answer["result"]["protocolVersion"], "2025-03-26"),
            Some(1) => {
                for tool in answer["result"]["tools"].as_array().unwrap() {
                    jsonschema::validator_for(&tool["inputSchema"]).unwrap();
                }
            }
            Some(2) => assert_eq!(answer["result"]["structuredContent"]["ok"], true),
            Some(3) => assert_eq!(answer["error"]["code"], -32602),
            Some(4) => assert_eq!(answer["result"]["isError"], true),
            Some(5) => assert_eq!(answer["error"]["code"], -32601),
            Some(6) => assert_eq!(answer["result"], json!({})),
            Some(7) => assert_eq!(answer["error"]["code"], -32600),
            _ => assert_eq!(answer["error"]["code"], -32700),
        }
    }
}

/// The client that others use, where Python has it.
#[test]
fn the_public_client_of_the_protocol() {
    let python = std::env::var("TESSERA_MCP_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python).args(["-c", "import mcp"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        eprintln!(
            "SKIPPED: {python} has no package mcp (pip install mcp); TESSERA_MCP_PYTHON names a Python that has it"
        );
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/client.py");
    let done = Command::new(&python).args([script, env!("CARGO_BIN_EXE_tessera")]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
