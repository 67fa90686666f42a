//! Ranks: several devices in one run (isa/comm.md).
//!
//! Every rank runs its function with blocks and cores of its own. The memories of all ranks are one list that is shared
//! live: the running process has it, with what is known of signals. A round takes the processes by rank, block and core;
//! each runs until it waits or ends. So every run has one outcome. A round in which nothing changed is a `deadlock`.

mod comm;
mod deadlock;
mod set_up;
mod space;
mod transfer;
mod views;

use super::blocks::{self, ArgBuffer, left_by};
use super::compile::compile;
use super::cores::{Cores, Process, Wait};
use super::grid_barrier;
use super::step::{Context, Stop};
use super::{BufferOutput, Outcome, Printed, Run, TileOutput, TraceLine};
pub use comm::Wanted;
use rustc_hash::FxHashMap;
pub use space::AddressSpace;
use tessera_ir::{Func, OpId, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::sem::Sem;
use tessera_kernels::memory::{Memories, Memory};
use tessera_kernels::{Failure, MemoryId};

/// The largest number of ranks.
pub const MAX_RANKS: usize = 64;

/// Arguments that lie at the same place on every rank, and the argument through which the kernel finds them.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// By rank: the context, if there is one.
    pub contexts: Vec<Option<ValueId>>,
    /// By rank: the arguments in their order.
    pub args: Vec<Vec<ValueId>>,
}

/// Several ranks that run together.
pub struct Ranks<'a> {
    /// What each rank runs.
    pub runs: Vec<Run<'a>>,
    pub windows: Vec<Window>,
    /// Arguments of a rank that are arguments of another one: rank and argument, and what that is.
    pub binds: Vec<[(u32, ValueId); 2]>,
    /// The bytes of arguments in windows that have no contents.
    pub rooms: Vec<(u32, ValueId, u64)>,
}

/// What one rank leaves.
#[derive(Clone, Debug, Default)]
pub struct RankOutput {
    pub buffers: Vec<BufferOutput>,
    pub tiles: Vec<TileOutput>,
    pub printed: Vec<Printed>,
    pub trace: Vec<TraceLine>,
}

/// The result of a run of several ranks. With an error there are no outputs.
#[derive(Clone, Debug, Default)]
pub struct RanksOutcome {
    pub diagnostics: Vec<Diagnostic>,
    pub ranks: Vec<RankOutput>,
    /// The names of the memories of all ranks.
    pub space: AddressSpace,
}

/// The rank of a process.
#[derive(Clone, Copy, Debug)]
pub struct Rank<'a> {
    pub number: u32,
    pub count: u32,
    pub space: &'a AddressSpace,
}

/// The last notification of a word.
#[derive(Clone, Copy, Debug)]
pub struct Notification {
    pub count: u64,
    pub rank: u32,
    /// Its place in the text: ranks may run different functions.
    pub at: tessera_isa::diag::Span,
}

/// What is known of all ranks besides their memories.
#[derive(Debug, Default)]
pub struct RanksState {
    pub notified: FxHashMap<(MemoryId, usize), Notification>,
    /// Grows with every notification and every wait that is over.
    pub events: u64,
    pub passed: u64,
}

/// A copy that was started (isa/comm.md 9).
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    pub at: OpId,
    pub session: i64,
    pub is_done: bool,
}

/// The signals and copies of one process.
#[derive(Debug, Default)]
pub struct SignalState {
    pub wanted: Option<Box<Wanted>>,
    /// The test that was false, and is asked again.
    pub asked: Option<OpId>,
    pub sessions: i64,
    pub copies: Vec<Copy>,
}

/// The bytes that a view reaches, from the first to the last.
pub(super) fn reach_of(view: &tessera_exec::engine::Global) -> Option<(i64, i64)> {
    let bytes = |n: i64| n.saturating_mul(i64::from(view.elem.bits())) / 8;
    let shared = views::Shared {
        memory: view.buffer,
        start: bytes(view.offset),
        elem: view.elem,
        dims: view.dims.clone(),
        steps: view.strides.iter().map(|s| bytes(*s)).collect(),
    };
    shared.reach()
}

/// Whether a function communicates between ranks.
pub fn communicates(func: &Func) -> bool {
    func.ops.iter().any(|op| op.opcode().is_some_and(|opcode| matches!(opcode.info().sem, Sem::Comm(_))))
}

/// Runs a program that communicates on one rank: remote is local.
pub(super) fn run_alone(run: Run<'_>) -> Result<Outcome, Failure> {
    let ranks = Ranks { runs: vec![run], windows: Vec::new(), binds: Vec::new(), rooms: Vec::new() };
    let RanksOutcome { diagnostics, ranks, .. } = run_ranks(ranks);
    let RankOutput { buffers, tiles, printed, trace } = ranks.into_iter().next().unwrap_or_default();
    Ok(Outcome { diagnostics, buffers, tiles, printed, trace, recorded: Vec::new() })
}

/// Runs several ranks together.
pub fn run_ranks(ranks: Ranks<'_>) -> RanksOutcome {
    let failed = |failure: Failure| RanksOutcome { diagnostics: vec![*failure], ..RanksOutcome::default() };
    run(ranks).unwrap_or_else(failed)
}

/// The blocks of a rank that runs.
struct Running<'a> {
    /// By block.
    blocks: Vec<Cores<'a>>,
    /// By block and process: whether it has ended.
    ended: Vec<Vec<bool>>,
}

/// All ranks, and the block that has the memories.
struct World<'a> {
    ranks: Vec<Running<'a>>,
    at: (usize, usize),
}

fn run(mut ranks: Ranks<'_>) -> Result<RanksOutcome, Failure> {
    let count = ranks.runs.len() as u32;
    for run in &ranks.runs {
        blocks::scalars_are_bound(run)?;
    }
    let (space, args, buffers) = set_up::regions(&mut ranks)?;
    // Ranks that run the same function share its code.
    let mut kernels: Vec<(usize, Vec<Process>, Vec<super::code::Program>)> = Vec::new();
    let mut kernel_of = Vec::new();
    for (n, run) in ranks.runs.iter().enumerate() {
        let same = |(other, _, _): &(usize, _, _)| {
            let other: &Run<'_> = &ranks.runs[*other];
            std::ptr::eq(other.func, run.func) && std::ptr::eq(other.placement, run.placement)
        };
        let known = kernels.iter().position(same);
        if known.is_none() {
            let processes = Process::all(run.func);
            let observed = run.observe.is_some();
            let compiled =
                |process: &Process| compile(run.module, run.func, run.profile, run.placement, *process, observed);
            let programs = processes.iter().map(compiled).collect::<Result<Vec<_>, _>>()?;
            kernels.push((n, processes, programs));
        }
        kernel_of.push(known.unwrap_or(kernels.len() - 1));
    }
    let none: [ValueId; 0] = [];
    let mut contexts: Vec<Vec<Context<'_>>> = Vec::new();
    for (n, run) in ranks.runs.iter().enumerate() {
        let (_, processes, programs) = &kernels[kernel_of[n]];
        let mut own = blocks::contexts(run, processes, programs, run.progress.as_deref(), &none);
        let rank = Rank { number: n as u32, count, space: &space };
        own.iter_mut().for_each(|cx| cx.rank = Some(rank));
        contexts.push(own);
    }
    let Some(first) = ranks.runs.first() else { return Ok(RanksOutcome::default()) };
    let limit = first.limits.memory;
    let mut memories = Some(Memories::with_limit(first.tracked, limit));
    if let Some(memories) = &mut memories {
        buffers.into_iter().for_each(|buffer| _ = memories.add_buffer(buffer));
    }
    let mut world = World { ranks: Vec::new(), at: (0, 0) };
    for (run, contexts) in ranks.runs.iter().zip(&contexts) {
        let mut running = Running { blocks: Vec::new(), ended: Vec::new() };
        for _ in 0..run.blocks.max(1) {
            let own = memories.take().unwrap_or_else(|| Memories::with_limit(run.tracked, limit));
            running.blocks.push(Cores::new(contexts, own, run.trace));
            running.ended.push(vec![false; contexts.len()]);
        }
        world.ranks.push(running);
    }
    for (rank, run) in ranks.runs.iter().enumerate() {
        for block in 0..run.blocks.max(1) {
            world.ranks[rank].blocks[block as usize].begin_with(run, &args[rank], block)?;
        }
    }
    if let Some(exec) = world.ranks.first_mut().and_then(|r| r.blocks.first_mut()) {
        exec.turn(0)?.ranks = Some(Box::default());
    }
    let result = world.rounds();
    let mut outcome = world.finish(&ranks, &args, &space, result)?;
    drop(contexts);
    outcome.space = space;
    Ok(outcome)
}

impl<'a> World<'a> {
    /// Gives the memories to a block.
    fn switch(&mut self, rank: usize, block: usize) -> Result<&mut Cores<'a>, Failure> {
        let (from, to) = (self.at, (rank, block));
        if from != to {
            let missing = || tessera_kernels::internal_error("a block that is not there");
            if from.0 == rank {
                let blocks = &mut self.ranks.get_mut(rank).ok_or_else(missing)?.blocks;
                let Ok([a, b]) = blocks.get_disjoint_mut([from.1, block]) else { return Err(missing()) };
                a.hand_over(b);
            } else {
                let Ok([a, b]) = self.ranks.get_disjoint_mut([from.0, rank]) else { return Err(missing()) };
                let (a, b) = a.blocks.get_mut(from.1).zip(b.blocks.get_mut(block)).ok_or_else(missing)?;
                a.hand_over(b);
            }
            self.at = to;
        }
        Ok(&mut self.ranks[rank].blocks[block])
    }

    fn events(&mut self) -> u64 {
        let (rank, block) = self.at;
        let cores = self.ranks.get_mut(rank).and_then(|r| r.blocks.get_mut(block));
        cores.and_then(|cores| cores.ranks().map(|ranks| ranks.events)).unwrap_or(0)
    }

    /// Rounds until all processes have ended (isa/comm.md 8).
    fn rounds(&mut self) -> Result<(), Failure> {
        loop {
            let (mut moved, mut open) = (false, false);
            for rank in 0..self.ranks.len() {
                for block in 0..self.ranks[rank].blocks.len() {
                    for n in 0..self.ranks[rank].ended[block].len() {
                        if self.ranks[rank].ended[block][n] {
                            continue;
                        }
                        moved |= self.process(rank, block, n)?;
                        open |= !self.ranks[rank].ended[block][n];
                    }
                }
                let running = &mut self.ranks[rank];
                if running.blocks.len() > 1 {
                    moved |= grid_barrier::meet(&mut running.blocks);
                }
            }
            if !open {
                return Ok(());
            }
            if !moved {
                return Err(deadlock::found(self));
            }
        }
    }

    /// Runs a process until it waits or ends; whether anything changed that others may wait for.
    fn process(&mut self, rank: usize, block: usize, n: usize) -> Result<bool, Failure> {
        let before = self.events();
        let cores = self.switch(rank, block)?;
        let links = cores.links().map_or(0, |links| links.events);
        let exec = cores.turn(n)?;
        let wanted = exec.signals.wanted.take();
        if let (Some((_, Wait::Signal)), Some(wanted)) = (exec.waits, wanted)
            && !exec.is_signalled(&wanted)
        {
            exec.signals.wanted = Some(wanted);
            return Ok(false);
        }
        let (steps, waited) = (exec.steps, exec.waits);
        let result = exec.run();
        let tests = |waits: Option<(OpId, Wait)>| waits.filter(|(_, w)| matches!(w, Wait::Test)).map(|(at, _)| at);
        let moved = match result {
            Ok(()) => {
                exec.waits = None;
                exec.leaked_copies();
                self.ranks[rank].ended[block][n] = true;
                return Ok(true);
            }
            // A test that is asked again, and is false again, changes nothing.
            Err(Stop::DeferredInst) if tests(waited).is_some() => tests(waited) != tests(exec.waits),
            Err(Stop::DeferredInst) => exec.steps != steps || waited.map(|w| w.0) != exec.waits.map(|w| w.0),
            Err(Stop::Reached) => true,
            Err(Stop::Failed(failure)) => return Err(failure),
        };
        let cores = self.switch(rank, block)?;
        let links = links != cores.links().map_or(0, |links| links.events);
        Ok(moved || links || before != self.events())
    }

    /// The outputs of all ranks, or the error.
    fn finish(
        mut self,
        ranks: &Ranks<'_>,
        args: &[Vec<ArgBuffer>],
        space: &AddressSpace,
        result: Result<(), Failure>,
    ) -> Result<RanksOutcome, Failure> {
        let mut outcome = RanksOutcome::default();
        let mut told: Vec<(&'static str, Option<tessera_isa::diag::Span>)> = Vec::new();
        for (rank, run) in ranks.runs.iter().enumerate() {
            let mut output = RankOutput::default();
            for block in 0..run.blocks.max(1) {
                let cores = self.switch(rank, block as usize)?;
                let ended = if result.is_ok() { cores.report_left() } else { Ok(()) };
                let left = left_by(run, cores, block, ended);
                for mut d in left.warnings {
                    // Every rank would say the same.
                    if !told.contains(&(d.rule, d.span)) {
                        told.push((d.rule, d.span));
                        if ranks.runs.len() > 1 {
                            d.notes.push(format!("on rank {rank} of {}", ranks.runs.len()));
                        }
                        outcome.diagnostics.push(d);
                    }
                }
                output.printed.extend(left.printed);
                output.trace.extend(left.trace);
                output.tiles.extend(left.tiles);
                if let Some(failure) = left.failure.filter(|_| result.is_ok()) {
                    outcome.diagnostics.push(*failure);
                    outcome.ranks.clear();
                    return Ok(outcome);
                }
            }
            outcome.ranks.push(output);
        }
        if let Err(failure) = result {
            outcome.diagnostics.push(*failure);
            outcome.ranks.clear();
            return Ok(outcome);
        }
        let (rank, block) = self.at;
        let missing = || tessera_kernels::internal_error("the memories are lost");
        let memories = self.ranks.get_mut(rank).and_then(|r| r.blocks.get_mut(block)).and_then(Cores::memories);
        let mut buffers: Vec<Memory> = memories.ok_or_else(missing)?.buffers_mut().map(std::mem::take).collect();
        set_up::outputs(ranks, args, space, &mut buffers, &mut outcome);
        Ok(outcome)
    }
}
