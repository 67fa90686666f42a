//! A timeline as Chrome trace events, which Perfetto opens: a process for each core, a thread for each pipe, one cycle as
//! one microsecond.

use super::{Shown, path};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tessera_isa::ops::Pipe;
use tessera_race::Core;
use tessera_race::timeline::{Process, Slice, SliceKind};

/// One event, in the words of the format.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    ph: &'a str,
    ts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    pid: usize,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    /// An arrow ends at the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

impl Event<'_> {
    fn new<'a>(name: &'a str, ph: &'a str, (pid, tid): (usize, usize)) -> Event<'a> {
        Event { name, cat: None, ph, ts: 0, dur: None, pid, tid, id: None, bp: None, args: None }
    }
}

/// The whole file, an event in each line.
pub fn events(shown: &Shown<'_>) -> String {
    let mut writer = Writer { shown, lines: Vec::new() };
    for (n, process) in shown.line.processes.iter().enumerate() {
        writer.process(n, process);
    }
    writer.arrows();
    let line = shown.line;
    let notes: Vec<String> = line.meetings.iter().map(|m| shown.meeting(m)).collect();
    let about = json!({
        "kernel": shown.title(),
        "note": format!("{}; 1 cycle is shown as 1 us", shown.costs()),
        "total": line.total,
        "atLeast": line.unknown() > 0,
        "unknown": line.unknown(),
        "boundedBy": shown.bound(),
        "criticalPath": path(shown),
        "notes": notes,
    });
    format!("{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n", writer.lines.join(",\n"))
}

struct Writer<'a> {
    shown: &'a Shown<'a>,
    lines: Vec<String>,
}

impl Writer<'_> {
    fn push(&mut self, event: &Event<'_>) {
        // Strings and numbers always have a JSON form.
        self.lines.push(serde_json::to_string(event).unwrap_or_default());
    }

    fn process(&mut self, n: usize, process: &Process) {
        let pid = n + 1;
        let core = match process.core {
            Core::Unsplit => "core".to_string(),
            core => core.name().to_string(),
        };
        let name = format!("block {}, {core}", process.block);
        self.push(&Event { args: Some(json!({ "name": name })), ..Event::new("process_name", "M", (pid, 0)) });
        self.push(&Event {
            args: Some(json!({ "sort_index": pid })),
            ..Event::new("process_sort_index", "M", (pid, 0))
        });
        for pipe in Pipe::ALL.iter().filter(|pipe| process.slices.iter().any(|s| s.pipe == **pipe)) {
            let at = (pid, thread(*pipe));
            self.push(&Event { args: Some(json!({ "name": pipe.name() })), ..Event::new("thread_name", "M", at) });
            let index = Some(json!({ "sort_index": thread(*pipe) }));
            self.push(&Event { args: index, ..Event::new("thread_sort_index", "M", at) });
        }
        for slice in &process.slices {
            self.slice(pid, slice);
        }
        for memory in &process.memories {
            let core = if memory.core > 0 { format!(" of core {}", memory.core) } else { String::new() };
            let name = format!("{}{core} bytes in use", memory.loc.memory_name());
            for (ts, bytes) in &memory.used {
                let args = Some(json!({ "bytes": bytes }));
                self.push(&Event { ts: *ts, args, ..Event::new(&name, "C", (pid, 0)) });
            }
        }
    }

    fn slice(&mut self, pid: usize, slice: &Slice) {
        let (shown, at) = (self.shown, (pid, thread(slice.pipe)));
        let (ts, dur) = (slice.start, Some(slice.cycles()));
        let mut args = Map::new();
        args.insert("line".into(), json!(shown.number(slice)));
        if !slice.turns.is_empty() {
            args.insert("iteration".into(), json!(slice.turns));
        }
        match &slice.what {
            SliceKind::Work { known } => {
                let [read, written] = slice.bytes;
                args.insert("operands".into(), json!(shown.operands(slice)));
                args.insert("bytes".into(), json!(read + written));
                args.insert("bytes read".into(), json!(read));
                args.insert("bytes written".into(), json!(written));
                args.insert("cycles".into(), if *known { json!(slice.cycles()) } else { json!("unknown") });
                let cat = Some(if *known { "instruction" } else { "unknown" });
                let args = Some(Value::Object(args));
                self.push(&Event { cat, ts, dur, args, ..Event::new(shown.mnemonic(slice), "X", at) });
            }
            SliceKind::Wait(why) => {
                let why = why.to_string();
                args.insert("for".into(), json!(why));
                let (name, args) = (format!("wait {why}"), Some(Value::Object(args)));
                self.push(&Event { cat: Some("wait"), ts, dur, args, ..Event::new(&name, "X", at) });
            }
        }
    }

    /// Arrows from the end of one slice to the start of another.
    fn arrows(&mut self) {
        let line = self.shown.line;
        for (id, arrow) in line.arrows.iter().enumerate() {
            let [from, to] = [arrow.from, arrow.to].map(|at| self.shown.slice(at));
            let name = arrow.why.to_string();
            let event = |ph, at: (usize, usize), slice: &Slice| Event {
                cat: Some("flag"),
                id: Some(id),
                ..Event::new(&name, ph, (at.0 + 1, thread(slice.pipe)))
            };
            // Inside the slice that it begins in.
            let ts = from.end.saturating_sub(1).max(from.start);
            let begins = Event { ts, ..event("s", arrow.from, from) };
            let ends = Event { ts: to.start, bp: Some("e"), ..event("f", arrow.to, to) };
            self.push(&begins);
            self.push(&ends);
        }
    }
}

/// The number of a pipe's thread.
fn thread(pipe: Pipe) -> usize {
    pipe as usize + 1
}
