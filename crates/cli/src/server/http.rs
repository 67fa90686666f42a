//! HTTP/1.1 on loopback: `POST /TOOL` with the arguments as its body, `GET /tools` for the schemas.
//!
//! Only what that needs: a length that is told, connections that are kept. Requests whose `Host` is not this machine, or
//! whose `Origin` is a page of another one, are refused, so that no web page reaches the server through a browser.

use super::{Refusal, Server, lines};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Connections that are open at once.
const MOST_CONNECTIONS: usize = 4096;
/// Bytes of the lines before a body.
const MOST_HEAD: u64 = 16 << 10;
/// A client that says nothing for so long is left.
const PATIENCE: Duration = Duration::from_secs(60);

/// Listens on a port of loopback; 0 takes a free one.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Answers connections for as long as the process lives.
pub fn serve(server: &Arc<Server>, listener: &TcpListener) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            let why = Refusal::new("busy", format!("{MOST_CONNECTIONS} connections are open already"));
            let _ = reply(&mut stream, 503, &json!({"error": why.json()}), false);
            continue;
        }
        let (server, counted) = (server.clone(), open.clone());
        let made = std::thread::Builder::new().name("connection".into()).stack_size(256 << 10).spawn(move || {
            let _ = connection(&server, stream);
            counted.fetch_sub(1, Ordering::SeqCst);
        });
        if made.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// The requests of a connection, one after the other.
fn connection(server: &Arc<Server>, stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    loop {
        let Some(head) = head(&mut input)? else { return Ok(()) };
        let request = match head.and_then(|lines| Request::of(&lines, server.limits().request_size)) {
            Ok(request) => request,
            Err((status, why)) => {
                // What follows cannot be told apart from the body.
                return reply(&mut out, status, &json!({"error": why.json()}), false);
            }
        };
        if request.expects_continue {
            out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let _held = match server.hold(request.length as u64) {
            Ok(held) => held,
            Err(why) => return reply(&mut out, 503, &json!({"error": why.json()}), false),
        };
        let mut body = vec![0; request.length];
        input.read_exact(&mut body)?;
        let (status, answer) = request.answer(server, &body);
        reply(&mut out, status, &answer, request.is_kept)?;
        if !request.is_kept {
            return Ok(());
        }
    }
}

type Refused = (u16, Refusal);

fn bad(status: u16, what: impl Into<String>) -> Refused {
    (status, Refusal::new("request", what))
}

/// The lines before a body; none where the connection ends.
fn head(input: &mut dyn BufRead) -> io::Result<Option<Result<Vec<String>, Refused>>> {
    let mut lines: Vec<String> = Vec::new();
    let mut left = MOST_HEAD;
    loop {
        let mut line = Vec::new();
        let read = Read::take(&mut *input, left).read_until(b'\n', &mut line)?;
        left -= read as u64;
        if read == 0 {
            return Ok(match (left, lines.is_empty()) {
                (0, _) => Some(Err(bad(431, format!("the head of a request has more than {MOST_HEAD} bytes")))),
                _ => None,
            });
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_string();
        if text.is_empty() {
            if lines.is_empty() {
                continue;
            }
            return Ok(Some(Ok(lines)));
        }
        lines.push(text);
    }
}

struct Request {
    method: String,
    path: String,
    length: usize,
    is_kept: bool,
    expects_continue: bool,
}

impl Request {
    fn of(lines: &[String], most: u64) -> Result<Request, Refused> {
        let first: Vec<&str> = lines.first().map_or(Vec::new(), |line| line.split(' ').collect());
        let [method, path, version] = first[..] else {
            return Err(bad(400, "the first line is no request of HTTP/1.1"));
        };
        if !version.starts_with("HTTP/1.") {
            return Err(bad(505, format!("{version} is not spoken; HTTP/1.1 is")));
        }
        let header = |name: &str| {
            let all = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
            let mut found = all.filter(|(n, _)| n.trim().eq_ignore_ascii_case(name));
            found.next().map(|(_, value)| value.trim().to_string())
        };
        let host = header("host").unwrap_or_default();
        let name = host
            .rsplit_once(':')
            .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
            .map_or(host.as_str(), |(n, _)| n);
        if !matches!(name, "localhost" | "127.0.0.1" | "[::1]") {
            return Err(bad(403, format!("the host '{host}' is not this machine")));
        }
        let is_own = |origin: &String| {
            let rest = origin.strip_prefix("http://").unwrap_or(origin);
            let name = rest.split(':').next().unwrap_or_default();
            matches!(name, "localhost" | "127.0.0.1")
        };
        if let Some(origin) = header("origin").filter(|origin| !is_own(origin)) {
            return Err(bad(403, format!("the origin '{origin}' is not this machine")));
        }
        if header("transfer-encoding").is_some() {
            return Err(bad(501, "a request says its length: Content-Length, no Transfer-Encoding"));
        }
        let length = match header("content-length") {
            None if method == "POST" => return Err(bad(411, "a request says its length: Content-Length")),
            None => 0,
            Some(text) => text.parse::<u64>().map_err(|_| bad(400, format!("'{text}' is no length")))?,
        };
        if length > most {
            return Err((
                413,
                Refusal::new("too-large", format!("a request has at most {most} bytes, and this one {length}")),
            ));
        }
        let connection = header("connection").unwrap_or_default().to_ascii_lowercase();
        let is_kept = if version == "HTTP/1.1" { connection != "close" } else { connection == "keep-alive" };
        let expects_continue = header("expect").is_some_and(|e| e.eq_ignore_ascii_case("100-continue"));
        Ok(Request { method: method.into(), path: path.into(), length: length as usize, is_kept, expects_continue })
    }

    fn answer(&self, server: &Arc<Server>, body: &[u8]) -> (u16, Value) {
        let refuse = |status: u16, why: Refusal| (status, json!({"error": why.json()}));
        match (self.method.as_str(), self.path.as_str()) {
            ("GET", "/tools") => (200, lines::listing()),
            ("GET", "/") => (200, json!({"name": "tessera", "version": env!("CARGO_PKG_VERSION"), "tools": "/tools"})),
            ("POST", path) => {
                let tool = path.trim_start_matches('/');
                if !super::TOOLS.iter().any(|t| t.name == tool) {
                    let why = Refusal::new("unknown-tool", format!("there is no tool '{tool}'; GET /tools lists them"));
                    return refuse(404, why);
                }
                let arguments = match body.iter().all(u8::is_ascii_whitespace) {
                    true => Value::Null,
                    false => match serde_json::from_slice(body) {
                        Ok(arguments) => arguments,
                        Err(e) => return refuse(400, Refusal::new("parse", format!("the body is no JSON: {e}"))),
                    },
                };
                let (send, receive) = mpsc::channel();
                server.ask(tool, arguments, Arc::new(AtomicBool::new(false)), move |answer| _ = send.send(answer));
                match receive.recv() {
                    Ok(Ok(result)) => (200, json!({"result": result})),
                    Ok(Err(refusal)) => {
                        let status = match refusal.code {
                            "arguments" | "file" => 400,
                            "busy" => 503,
                            "time" => 504,
                            "output" => 413,
                            _ => 500,
                        };
                        refuse(status, refusal)
                    }
                    Err(_) => refuse(
                        500,
                        Refusal::new("internal", "the request was lost, which is a defect; please report it"),
                    ),
                }
            }
            (method, path) => {
                refuse(405, Refusal::new("request", format!("{method} {path}: there is POST /TOOL, and GET /tools")))
            }
        }
    }
}

fn reply(out: &mut TcpStream, status: u16, body: &Value, is_kept: bool) -> io::Result<()> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Internal Server Error",
    };
    let text = body.to_string();
    let connection = if is_kept { "keep-alive" } else { "close" };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n",
        text.len()
    );
    out.write_all(head.as_bytes())?;
    out.write_all(text.as_bytes())?;
    out.flush()
}
