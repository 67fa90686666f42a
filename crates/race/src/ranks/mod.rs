//! Order between ranks in one run (isa/comm.md 5 and 6): races, and signals whose value depends on time.
//!
//! The blocks of all ranks log their accesses of shared memory and their signal operations, each with its vector clock
//! inside of the block. A notification is ordered before a wait exactly if the wait **needs** it ([`needs`]); a meeting
//! orders arrivals before departures. Knowledge of other blocks grows only at waits and meetings, so that an event knows
//! of another block what the latest of those that it follows knew ([`knowledge`]).

mod cache;
mod knowledge;
mod needs;
mod report;

use crate::detector::SharedLog;
use knowledge::World;
use tessera_isa::diag::Diagnostic;

/// The log of one block of one rank.
#[derive(Debug)]
pub struct BlockLog {
    pub rank: u32,
    pub block: u32,
    /// The names of its processes.
    pub cores: Vec<&'static str>,
    pub log: SharedLog,
}

/// What the findings are worded with.
pub struct Text<'a> {
    /// By rank: the module and the function that it runs.
    pub funcs: Vec<(&'a tessera_ir::Module, &'a tessera_ir::Func)>,
    /// The name of a byte of a region, with elements of so many bytes: `y[3] of rank 1`.
    pub name: &'a dyn Fn(u32, u64) -> String,
    /// Whether plain stores of S and loads of S are looked at as hardware's cache sees them.
    pub cache: bool,
}

/// The findings of a run of several ranks.
pub fn judge(blocks: Vec<BlockLog>, text: &Text<'_>) -> Vec<Diagnostic> {
    let mut world = World::new(blocks);
    let is_decided = world.settle();
    let mut found = report::races(&world, text);
    if text.cache {
        found.extend(cache::findings(&world, text));
    }
    if !is_decided {
        let what = "which notifications a wait needs is not decided: too many orders of them are possible";
        found.push(Diagnostic::new("undecided", tessera_isa::diag::Severity::Warning, what));
    }
    found
}
