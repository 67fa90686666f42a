//! The lines of `--trace`: one JSON object per instruction, so that two runs can be compared.

use crate::source::Source;
use serde::{Deserialize, Serialize};
use tessera::program::Outcome;
use tessera_interp::TraceWrite;

#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    pub block: u32,
    pub index: u64,
    pub line: usize,
    pub op: String,
    pub operands: String,
    pub written: Vec<Write>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Write {
    pub tile: String,
    pub hash: String,
}

pub fn lines(source: &Source, outcome: &Outcome) -> String {
    lines_of(source, outcome, None)
}

/// The lines of one of several ranks.
pub fn lines_of(source: &Source, outcome: &Outcome, rank: Option<usize>) -> String {
    let mut out = String::new();
    for line in &outcome.trace {
        let write = |w: &TraceWrite| Write { tile: w.name.clone(), hash: format!("{:016x}", w.hash) };
        let record = Record {
            rank,
            block: line.block,
            index: line.index,
            line: source.line(line.span),
            op: line.opcode.mnemonic().to_string(),
            operands: line.operands.clone(),
            written: line.written.iter().map(write).collect(),
        };
        // A record of strings and numbers always has a JSON form.
        out.push_str(&serde_json::to_string(&record).unwrap_or_default());
        out.push('\n');
    }
    out
}
