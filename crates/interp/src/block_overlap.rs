//! `block-overlap`: several blocks that write the same bytes, other than by combining. The highest one wins here; on a
//! chip the last one does, whichever that is (tile-model.md 7).

use super::Run;
use std::collections::BTreeMap;
use tessera_ir::{OpId, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_kernels::memory::{BlockWrites, Writers};

/// For each written byte of a buffer, the block that wrote it.
#[derive(Default)]
pub(super) struct Owners {
    /// By first byte: the end, and the block.
    runs: BTreeMap<usize, (usize, u32)>,
    is_told: bool,
}

/// Bytes that two blocks wrote.
pub(super) struct Overlap {
    blocks: [u32; 2],
    bytes: (usize, usize),
    op: Option<OpId>,
}

impl Owners {
    /// Adds the writes of a block; returns the first bytes that another block wrote before, once.
    pub fn add(&mut self, block: u32, taken: &BlockWrites) -> Option<Overlap> {
        if self.is_told {
            return None;
        }
        for (start, len) in &taken.runs {
            let end = start + len;
            let before = self.runs.range(..end).next_back().map(|(from, (to, other))| (*from, *to, *other));
            if let Some((from, to, other)) = before.filter(|(_, to, _)| to > start) {
                let bytes = ((*start).max(from), end.min(to));
                self.is_told = true;
                self.runs.clear();
                return Some(Overlap { blocks: [other, block], bytes, op: writer(&taken.writers, bytes.0) });
            }
            self.runs.insert(*start, (end, block));
        }
        None
    }
}

/// The first operation that may have written a byte.
fn writer(writers: &Writers, byte: usize) -> Option<OpId> {
    let may = writers.iter().filter(|(_, (low, high))| (*low..*high).contains(&byte));
    may.map(|(op, _)| OpId(*op)).min()
}

impl Overlap {
    pub fn diagnostic(&self, run: &Run<'_>, buffer: ValueId) -> Diagnostic {
        let name = run.module.names.text(run.func.value(buffer).name);
        let ([a, b], (first, end)) = (self.blocks, self.bytes);
        let what =
            format!("blocks {a} and {b} both write bytes {first} to {} of %{name}; the higher one wins", end - 1);
        let at = self.op.and_then(|op| run.func.ops.get(op.index())).map_or(run.func.value(buffer).span, |op| op.span);
        Diagnostic::warning("block-overlap", what)
            .at(at, format!("written here in block {b}"))
            .help("give every block bytes of its own, or add atomically")
    }
}
