//! The lines of `--trace`: one JSON object per instruction, so that two runs can be compared.

use crate::source::Source;
use serde::Serialize;
use tessera::program::Outcome;

#[derive(Serialize)]
struct Record<'a> {
    block: u32,
    index: u64,
    line: usize,
    op: &'a str,
    operands: &'a str,
    written: Vec<Write<'a>>,
}

#[derive(Serialize)]
struct Write<'a> {
    tile: &'a str,
    hash: String,
}

/// The trace of a run.
pub fn lines(source: &Source, outcome: &Outcome) -> String {
    let mut out = String::new();
    for line in &outcome.trace {
        let write = |w: &'_ tessera_exec::interp::TraceWrite| format!("{:016x}", w.hash);
        let record = Record {
            block: line.block,
            index: line.index,
            line: source.line(line.span),
            op: line.opcode.mnemonic(),
            operands: &line.operands,
            written: line.written.iter().map(|w| Write { tile: &w.name, hash: write(w) }).collect(),
        };
        // A record of strings and numbers always has a JSON form.
        out.push_str(&serde_json::to_string(&record).unwrap_or_default());
        out.push('\n');
    }
    out
}
