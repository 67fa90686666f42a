//! The cores of a block as processes that run in turn (isa/structure.md 4).
//!
//! A mixed kernel is compiled three times, for C, V0 and V1. Each core has tiles, scalars and a place in the program
//! of its own; the memories and the [`Links`] between them go to the running core. A core runs until it waits or ends;
//! then the next one runs. Since each FIFO has one writer and one reader and nothing can be polled, the values do not
//! depend on that order. If no core can continue, it is a `deadlock`.

mod entries;
mod fifo;
mod links;
mod meeting;
mod quant;
mod token;

pub use links::{Group, Links, Wait};
pub use meeting::complete;
use tessera_kernels::memory::{ArrayAccess, BlockWrites, Memories};
use tessera_kernels::{Failure, MemoryId, failure};

use super::Run;
use super::blocks::{ArgBuffer, Buffer, set_up};
use super::code::{CoreSyncOp, Int};
use super::ranks::RanksState;
use super::record::Recorder;
use super::step::{Context, Exec, Stop};
use tessera_ir::{Core, Func, OpId, Runs, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::tile::Loc;

/// One process of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The kind of core; none for a process that has all pipes and memories.
    pub core: Option<Core>,
    /// The number of the vector core.
    pub number: u8,
    pub is_mixed: bool,
}

impl Process {
    /// The processes of a kernel, in the order in which they run.
    pub fn all(func: &Func) -> Vec<Process> {
        let one = |core| Process { core, number: 0, is_mixed: false };
        let mixed = |core, number| Process { core: Some(core), number, is_mixed: true };
        match func.runs() {
            Runs::Unsplit => vec![one(None)],
            Runs::One(core) => vec![one(Some(core))],
            Runs::Mixed => vec![mixed(Core::Cube, 0), mixed(Core::Vector, 0), mixed(Core::Vector, 1)],
        }
    }

    /// Whether it is one of two vector cores, each with a UB of its own.
    pub fn is_vector_of_two(self) -> bool {
        self.is_mixed && self.core == Some(Core::Vector)
    }

    /// Its place among the cores of a block: the cube core, or one that has all pipes, is before the vector cores.
    pub fn place(self) -> usize {
        if self.core == Some(Core::Vector) { 1 + usize::from(self.number) } else { 0 }
    }

    /// Whether its core has the memory of tiles at this location. Each of several cores has its own (isa/structure.md
    /// 4).
    pub fn has(self, loc: Loc) -> bool {
        !self.is_mixed || (self.core == Some(Core::Vector)) == (loc == Loc::Vec)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match (self.core, self.number) {
            (Some(Core::Vector), 0) => "V0",
            (Some(Core::Vector), _) => "V1",
            _ => "C",
        }
    }

    /// The number of the vector core and how many there are.
    pub fn sub_block(self) -> (i64, i64) {
        (i64::from(self.number), if self.is_mixed { 2 } else { 1 })
    }
}

/// The processes of a block.
pub struct Cores<'a> {
    pub list: Vec<Exec<'a>>,
    /// The process that has the memories.
    at: usize,
    /// By process: whether it has ended.
    ended: Vec<bool>,
}

impl<'a> Cores<'a> {
    pub fn new(contexts: &'a [Context<'a>], memories: Memories, trace: bool) -> Self {
        let mut memories = Some(memories);
        let own = contexts.iter().map(|cx| {
            let memories = memories.take().unwrap_or_else(|| Memories::with_limit(false, 0));
            Exec::new(cx, memories, trace)
        });
        Cores { list: own.collect(), at: 0, ended: vec![false; contexts.len()] }
    }

    /// Switches to a process: it runs now, with the memories.
    pub fn turn(&mut self, to: usize) -> Result<&mut Exec<'a>, Failure> {
        let from = self.at;
        if from != to {
            let Ok([a, b]) = self.list.get_disjoint_mut([from, to]) else {
                return Err(Diagnostic::internal(tessera_isa::diag::Span::default(), "a core that is not there"));
            };
            std::mem::swap(&mut a.engine.memories, &mut b.engine.memories);
            std::mem::swap(&mut a.links, &mut b.links);
            // The loops that a core is in are its own.
            if let Some(mut watch) = a.watch.take() {
                a.loops = std::mem::replace(&mut watch.now.loops, std::mem::take(&mut b.loops));
                b.watch = Some(watch);
            }
            std::mem::swap(&mut a.recorder, &mut b.recorder);
            std::mem::swap(&mut a.observer, &mut b.observer);
            std::mem::swap(&mut a.ranks, &mut b.ranks);
            self.at = to;
        }
        let missing = || Diagnostic::internal(tessera_isa::diag::Span::default(), "a core that is not there");
        self.list.get_mut(to).ok_or_else(missing)
    }

    /// Hands global memory and what is known of all ranks to the block that runs next; memories on the chip stay.
    pub fn hand_over(&mut self, to: &mut Cores<'a>) {
        let (Some(a), Some(b)) = (self.list.get_mut(self.at), to.list.get_mut(to.at)) else { return };
        std::mem::swap(&mut a.engine.memories, &mut b.engine.memories);
        a.engine.memories.swap_chip(&mut b.engine.memories);
        std::mem::swap(&mut a.ranks, &mut b.ranks);
    }

    /// The state of all ranks, which the running process has.
    pub fn ranks(&mut self) -> Option<&mut RanksState> {
        self.list.get_mut(self.at).and_then(|exec| exec.ranks.as_deref_mut())
    }

    pub fn memories(&mut self) -> Option<&mut Memories> {
        self.list.get_mut(self.at).map(|exec| &mut exec.engine.memories)
    }

    /// Sets a block to the state before its first operation, with the recorder and the observer of the run.
    pub fn begin(&mut self, run: &Run<'_>, buffers: &[Buffer], block: u32) -> Result<(), Failure> {
        let args: Vec<ArgBuffer> = ArgBuffer::of(buffers).collect();
        self.restart(run, &args, block)?;
        if run.record {
            // The recorder compares all bytes.
            for memory in self.memories().into_iter().flat_map(Memories::buffers_mut) {
                memory.touch([(0, usize::MAX)].into_iter(), ArrayAccess::READS)?;
            }
            self.turn(0)?.recorder = Some(Box::new(Recorder::new(buffers.iter().map(|b| b.value))));
            for n in (0..self.list.len()).rev() {
                self.turn(n)?.record_start();
            }
        }
        self.turn(0)?.observer = run.observe.as_ref().map(|observe| observe(block));
        Ok(())
    }

    /// The same for a block of one of several ranks, whose arguments lie where they are said to.
    pub fn begin_with(&mut self, run: &Run<'_>, args: &[ArgBuffer], block: u32) -> Result<(), Failure> {
        self.restart(run, args, block)?;
        self.turn(0)?.observer = run.observe.as_ref().map(|observe| observe(block));
        Ok(())
    }

    /// A block before its first operation: everything is forgotten, arguments and inputs are bound.
    pub fn restart(&mut self, run: &Run<'_>, args: &[ArgBuffer], block: u32) -> Result<(), Failure> {
        let count = self.list.len();
        self.ended = vec![false; count];
        for n in 0..count {
            self.turn(n)?.reset(block);
        }
        for n in (0..count).rev() {
            set_up(run, self.turn(n)?, args)?;
        }
        let cores = [0, 1, 2].map(|n| self.list.iter().any(|exec| exec.cx.process.place() == n));
        let exec = self.turn(0)?;
        exec.links = Some(Box::new(Links::new(exec.cx.profile, &exec.cx.program.channels, cores)));
        Ok(())
    }

    /// The core that has a tile, as a vector core sees it, and the number by which that one knows itself.
    pub fn owner(&mut self, value: ValueId, core: u8) -> Result<(&mut Exec<'a>, u8), Failure> {
        let tile = self.list.first().and_then(|exec| {
            let id = exec.object_of(exec.cx.program.tile(value)?);
            exec.engine.object(id).ok().map(|o| o.tile)
        });
        match (self.list.len(), tile.is_some_and(|tile| tile.loc == Loc::Vec)) {
            (1, _) => Ok((self.turn(0)?, core)),
            (_, false) => Ok((self.turn(0)?, core)),
            (_, true) => Ok((self.turn(1 + usize::from(core.min(1)))?, 0)),
        }
    }

    /// Runs all processes to their ends.
    pub fn run(&mut self) -> Result<(), Failure> {
        if self.advance()? { self.report_left() } else { Err(self.deadlock()) }
    }

    /// Runs until no core can continue; returns whether all have ended.
    pub fn advance(&mut self) -> Result<bool, Failure> {
        loop {
            let before = self.links().map_or(0, |links| links.events);
            let mut moved = false;
            for n in 0..self.list.len() {
                if self.ended.get(n) != Some(&false) {
                    continue;
                }
                match self.turn(n)?.run() {
                    Ok(()) => {
                        self.ended[n] = true;
                        moved = true;
                    }
                    Err(Stop::DeferredInst) => {}
                    // Whatever the others do comes later.
                    Err(Stop::Reached) => return Ok(true),
                    Err(Stop::Failed(failure)) => return Err(failure),
                }
            }
            if self.ended.iter().all(|e| *e) {
                return Ok(true);
            }
            if !moved && before == self.links().map_or(0, |links| links.events) {
                return Ok(false);
            }
        }
    }

    /// The state that the cores share.
    pub fn links(&mut self) -> Option<&mut Links> {
        self.list.get_mut(self.at).and_then(|exec| exec.links.as_deref_mut())
    }

    /// Takes the block's writes, by buffer; after this the buffers are as they were before the block.
    pub fn end_block(&mut self, buffers: &[Buffer]) -> Vec<BlockWrites> {
        let Some(memories) = self.memories() else { return Vec::new() };
        let memory = |(k, buffer): (u32, &Buffer)| {
            memories.get_mut(MemoryId::buffer(k)).map(|memory| memory.end_block(&buffer.memory))
        };
        (0..).zip(buffers).filter_map(memory).collect()
    }

    /// The `deadlock` error: no core can run, and not all have ended.
    pub fn deadlock(&self) -> Failure {
        let links = self.list.get(self.at).and_then(|e| e.links.as_ref());
        let mut sentences = Vec::new();
        let mut found = Diagnostic::error("deadlock", "");
        for (exec, ended) in self.list.iter().zip(&self.ended) {
            let process = exec.cx.process;
            let (Some((at, wait)), Some(links), false) = (exec.waits, links, *ended) else {
                sentences.push(format!("{} has ended", process.name()));
                continue;
            };
            let span = exec.cx.span(at);
            let op = exec.cx.func.op(at).kind.name();
            let place = exec.cx.module.lines.place(span);
            let why = links.describe(wait, exec);
            sentences.push(format!("{} waits in {op} at {place}: {why}", process.name()));
            let label = format!("{} waits here", process.name());
            found = if found.span.is_none() { found.at(span, label) } else { found.and_at(span, label) };
        }
        found.message = sentences.join("; ");
        if let Some(exec) = self.list.first().filter(|exec| exec.cx.blocks > 1) {
            found.notes.push(format!("in block {} of {}", exec.block, exec.cx.blocks));
        }
        let help = if self.list.len() == 1 {
            "run it together with the function at the other end of its FIFOs"
        } else {
            "push and pop equally often, and free slots before more are needed than there are"
        };
        Box::new(found.help(help))
    }

    /// Reports tiles that were never popped, slots that were never freed, and tokens that were never taken.
    pub fn report_left(&mut self) -> Result<(), Failure> {
        let at = self.at;
        let exec = self.turn(at)?;
        if let Some(observer) = exec.observer.take() {
            observer.ended();
        }
        if let Some(links) = exec.links.take() {
            for (at, warning) in links.left(exec) {
                exec.found.warn(at, warning);
            }
        }
        Ok(())
    }
}

impl Exec<'_> {
    /// `aiv_subblockid`: it must be the vector core that runs the operation (isa/today.md 7.1).
    fn is_sub_block(&self, said: Option<Int>) -> Result<(), Stop> {
        let process = self.cx.process;
        let (Some(said), Some(Core::Vector)) = (said.map(|said| self.int(said)), process.core) else { return Ok(()) };
        if said == i64::from(process.number) {
            return Ok(());
        }
        let what = format!("aiv_subblockid is {said}, and {} runs it", process.name());
        Err(failure("fifo-split", what, "give the number of pto.get_subblock_idx").into())
    }

    /// Runs a communication with the other cores; this core may have to wait.
    pub fn meet(&mut self, at: OpId, meet: &CoreSyncOp) -> Result<(), Stop> {
        let met = match meet {
            CoreSyncOp::Push(push) => self.is_sub_block(push.sub_block).and_then(|()| self.push(at, push)),
            CoreSyncOp::Pop(pop) => self.is_sub_block(pop.sub_block).and_then(|()| self.pop(at, pop)),
            CoreSyncOp::Entry(entry) => self.is_sub_block(entry.sub_block).and_then(|()| self.entry(at, entry)),
            CoreSyncOp::Free { channel } => self.free(at, *channel),
            CoreSyncOp::Give { id, mode, is_wide } => {
                let id = self.counter_of(at, self.int(*id));
                self.give(id, *mode, *is_wide).map(|()| self.observe_order(at, Some(id)))
            }
            CoreSyncOp::Comm(comm) => self.communicate(at, comm),
            CoreSyncOp::Meet(meeting) => self.meeting(at, meeting).map(|()| self.observe_order(at, None)),
            CoreSyncOp::Take { id, crosses, is_wide } => {
                let id = self.counter_of(at, self.int(*id));
                self.take(at, id, (*crosses, *is_wide)).map(|()| self.observe_order(at, Some(id)))
            }
        };
        met.map_err(|stop| match stop {
            Stop::Failed(failure) => self.at(at, failure).into(),
            other => other,
        })
    }
}
