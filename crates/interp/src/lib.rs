//! The interpreter: runs an inlined function, once per block.
//!
//! Plain data in, plain data out: no files, no printing. The function is compiled once; a block then runs on
//! memories of its own. **Global memory**: every block sees the initial contents plus its own writes; where two blocks
//! write the same byte, the higher block wins. So the result does not depend on the order or the number of threads.

mod address;
mod array_access;
mod block_merge;
mod block_overlap;
mod blocks;
mod code;
mod compile;
mod cores;
mod global;
mod grid_barrier;
mod index_view;
mod issue;
mod liveness;
mod micro;
mod micro_fast;
mod micro_order;
mod micro_strip;
mod objects;
mod observe;
mod output;
mod provenance;
mod ranks;
mod record;
mod report;
mod step;
mod symbolic_run;

pub use micro_order::Bytes;
pub use observe::{Communicated, Moment, Move, Moved, Moves, Observe, Observer, SignalWord, Space, TouchKind, Variant};
pub use ranks::{AddressSpace, RankOutput, Ranks, RanksOutcome, Window, communicates, run_ranks};
pub use record::{Recorded, Step, Stored};
pub use symbolic_run::run as watch;
pub use tessera_exec::engine::TileData;
use tessera_kernels::Failure;
use tessera_kernels::memory::Memories;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use tessera_ir::{Func, Module, OpId, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::elem::Elem;
use tessera_isa::ops::Opcode;
use tessera_isa::profile::Profile;
use tessera_plan::Placement;

/// A program and everything that it runs with.
pub struct Run<'a> {
    /// The module that the function's types and names belong to.
    pub module: &'a Module,
    /// The function, without calls ([`tessera_ir::inline`]).
    pub func: &'a Func,
    pub profile: Profile,
    pub placement: &'a Placement,
    /// The number of times that the kernel runs, at least once.
    pub blocks: u32,
    /// Whether defined bits are kept.
    pub tracked: bool,
    /// The inputs of arguments, and of a listing.
    pub inputs: Vec<(ValueId, Input)>,
    /// The tiles that are read at the end of the run, each as one vector core sees it; with several blocks, those of
    /// the highest one. All buffers are returned; requesting one reports its undefined bytes.
    pub outputs: Vec<(ValueId, u8)>,
    /// Whether every instruction leaves a line.
    pub trace: bool,
    /// Whether it is recorded step by step.
    pub record: bool,
    /// Whether instructions that follow each other may go through the data together. This affects only the time.
    pub fuses: bool,
    pub limits: Limits,
    /// The progress of the run, if it is reported.
    pub progress: Option<Arc<Progress>>,
    /// Makes the observer of each block, if the run is observed.
    pub observe: Option<Arc<Observe>>,
}

/// Limits on the work and the memory of a run, at which it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The steps of one block: operations, and rounds of loops.
    pub steps: u64,
    /// The bytes of all memories of one block together, besides bound buffers.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 250_000_000, memory: Memories::LIMIT }
    }
}

/// The progress of a run; another thread may read it, and may stop the run.
#[derive(Debug, Default)]
pub struct Progress {
    /// Steps of all blocks, now and then.
    pub steps: AtomicU64,
    pub blocks: AtomicU32,
    /// Whether the run is to end where it is, with an error.
    pub stop: AtomicBool,
}

/// The value bound to an argument or input before the program runs.
#[derive(Clone, Debug)]
pub enum Input {
    Scalar(Number),
    /// The buffer behind a pointer, view or memref.
    Buffer {
        bytes: Vec<u8>,
        /// The type of the file's elements.
        elem: Elem,
        /// The extents of the file, which a `?` of the argument's type stands for.
        dims: Vec<u64>,
    },
    /// A tile's valid region in logical order.
    Tile {
        /// Rows; a `?` extent of the tile takes them.
        rows: u64,
        cols: u64,
        /// The elements, row by row, packed.
        elements: Vec<u8>,
    },
    /// A tile's declared bytes as they lie in memory.
    TileBytes(Vec<u8>),
    /// The `?` extents of a tile that has no contents yet.
    Valid {
        rows: u64,
        cols: u64,
    },
    /// The `?` strides and the `?` offset of a memref, besides its buffer (isa/structure.md 3).
    Strides {
        strides: Vec<i64>,
        offset: i64,
    },
}

/// A requested tile.
#[derive(Clone, Debug)]
pub struct TileOutput {
    pub value: ValueId,
    pub core: u8,
    pub data: TileData,
}

/// A buffer after the run.
#[derive(Clone, Debug)]
pub struct BufferOutput {
    pub value: ValueId,
    /// The bytes; undefined ones are 0.
    pub bytes: Vec<u8>,
    /// Whether some byte of it is defined: it was bound, or something was stored.
    pub is_defined: bool,
}

/// The output of `pto.tprint` or `pto.print`.
#[derive(Clone, Debug)]
pub struct Printed {
    pub op: OpId,
    pub block: u32,
    pub what: PrintedValue,
    /// The width of a float and its digits after the point, where the program says so.
    pub format: Option<(usize, usize)>,
}

impl Printed {
    /// The contents of the tile, if it is one.
    pub fn tile(&self) -> Option<&TileData> {
        match &self.what {
            PrintedValue::Tile(_, data) => Some(data),
            PrintedValue::Text(_) => None,
        }
    }
}

/// Something printed.
#[derive(Clone, Debug)]
pub enum PrintedValue {
    /// A tile and its contents.
    Tile(ValueId, TileData),
    Text(String),
}

/// One instruction of a trace.
#[derive(Clone, Debug)]
pub struct TraceLine {
    /// The number of instructions of the block that ran before.
    pub index: u64,
    pub block: u32,
    pub op: OpId,
    pub span: Span,
    pub opcode: Opcode,
    /// Its operands: role, name, address, valid region; scalars with their values.
    pub operands: String,
    pub written: Vec<TraceWrite>,
}

/// A tile that an instruction wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceWrite {
    /// Its name; `NAME@1` on vector core 1.
    pub name: String,
    /// A hash of its declared bytes, which distinguishes undefined ones.
    pub hash: u64,
}

/// The result of a run. With an error there are no outputs.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The error that stopped it, if any, and warnings, each once per operation.
    pub diagnostics: Vec<Diagnostic>,
    pub buffers: Vec<BufferOutput>,
    /// The requested tiles, in the order of the request.
    pub tiles: Vec<TileOutput>,
    /// The printed output, by block.
    pub printed: Vec<Printed>,
    pub trace: Vec<TraceLine>,
    /// By block, if the run is recorded; includes the steps before an error.
    pub recorded: Vec<Recorded>,
}

impl Outcome {
    /// Whether an error stopped the run.
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome { diagnostics: vec![*failure], ..Outcome::default() }
    }
}

/// Runs a program.
pub fn run(run: Run<'_>) -> Outcome {
    run_on(std::thread::available_parallelism().map_or(1, |n| n.get()), run)
}

/// Runs a program, its blocks on `threads` threads at most. The number of threads affects only the time.
pub fn run_on(threads: usize, run: Run<'_>) -> Outcome {
    blocks::run(run, threads).unwrap_or_else(Outcome::from)
}
