//! What blocks will touch, found before they run.
//!
//! If no block touches a byte of an array that another one writes, nobody can tell whether blocks work on the array or on
//! copies of it. To know that, the interpreter itself walks through every block once, without what tiles hold: scalars,
//! control flow, pointers, views and tiles are what they will be, and instructions are made ready only to see what they touch
//! of the arrays in question. There is no answer where something comes out of data, and none where the walk would take
//! longer than the copies.

mod parts;

use super::blocks::Buffer;
use super::code::{InstTemplate, Support};
use super::cores::Cores;
use super::step::{Context, Exec, Stop};
use super::{Limits, Progress, Run};
use parts::{Touched, Verdict};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use tessera_isa::ops::{Effect, Role};
use tessera_kernels::memory::Memories;
use tessera_kernels::{Failure, MemoryId, internal_error};

/// What is asked about a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferAccess {
    /// Which blocks touch which bytes.
    Touched,
    /// Nothing. Nobody writes it, so that what it holds is known.
    Known,
    Nothing,
}

/// Copying so many bytes, and putting together what was written to the copies, takes longer than a step of the walk.
const COPIED_IN_A_STEP: u64 = 32;

/// What the beginning of a block costs, and an instruction that was not made ready before, in steps.
const BEGINNING: u64 = 256;
const LOWERING: u64 = 1024;

/// Why there is no answer; nobody is told.
const DATA: &str = "what a block touches depends on data";
const LONG: &str = "copies would take less time";

/// What is noted while a block is walked through.
pub struct FootprintAnalysis {
    asked: Vec<BufferAccess>,
    touched: Vec<Touched>,
    /// The steps that looking took, and how many it may take.
    spent: u64,
    most: u64,
}

/// By buffer: may blocks work on it where it is? That is, is it asked about, and does no block touch what another one writes?
/// `copies` is how many bytes copies would have, and `memories` makes those of a thread.
pub(super) fn parted(
    run: &Run<'_>,
    cx: &[Context<'_>],
    (buffers, asked): (&[Buffer], &[BufferAccess]),
    threads: usize,
    copies: u64,
    memories: impl Fn() -> Memories + Sync,
) -> Vec<bool> {
    let (blocks, most) = (run.blocks.max(1), copies / COPIED_IN_A_STEP);
    let limits = Limits { steps: most.min(run.limits.steps), ..run.limits };
    let progress = Progress::default();
    let cx: Vec<Context<'_>> = cx.iter().map(|cx| Context { limits, progress: Some(&progress), ..*cx }).collect();
    let next = AtomicU32::new(0);
    let verdict = Mutex::new(Verdict::new(asked));
    let work = || {
        let mut cores = Cores::new(&cx, memories(), false);
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                return;
            }
            let foresight = FootprintAnalysis::new(asked, most);
            let touched = foreseen(run, &mut cores, buffers, block, foresight).map(|foresight| {
                progress.steps.fetch_add(foresight.spent, Ordering::Relaxed);
                foresight.touched
            });
            let touched = touched.ok().filter(|_| progress.steps.load(Ordering::Relaxed) <= most);
            if !verdict.lock().is_ok_and(|mut verdict| verdict.add(block, touched)) {
                // Whatever the others find makes no difference.
                next.store(blocks, Ordering::Relaxed);
                progress.stop.store(true, Ordering::Relaxed);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    verdict.into_inner().map_or_else(|_| vec![false; asked.len()], Verdict::parted)
}

/// Walks through a block.
fn foreseen(
    run: &Run<'_>,
    cores: &mut Cores<'_>,
    buffers: &[Buffer],
    block: u32,
    foresight: FootprintAnalysis,
) -> Result<FootprintAnalysis, Failure> {
    cores.restart(run, buffers, block)?;
    cores.turn(0)?.foresight = Some(Box::new(foresight));
    if !cores.advance()? {
        return Err(cores.deadlock());
    }
    // Buffers that grew are as long as before.
    cores.take_written(buffers);
    let noted = cores.list.iter_mut().find_map(|exec| exec.foresight.take());
    noted.map(|foresight| *foresight).ok_or_else(|| internal_error("what was noted is lost"))
}

impl FootprintAnalysis {
    fn new(asked: &[BufferAccess], most: u64) -> Self {
        let touched = asked.iter().map(|_| Touched::default()).collect();
        FootprintAnalysis { asked: asked.to_vec(), touched, spent: BEGINNING, most }
    }

    fn asked(&self, buffer: MemoryId) -> BufferAccess {
        buffer.as_buffer().and_then(|n| self.asked.get(n)).copied().unwrap_or(BufferAccess::Nothing)
    }

    fn spend(&mut self, steps: u64) -> Result<(), Failure> {
        self.spent += steps;
        if self.spent <= self.most { Ok(()) } else { Err(internal_error(LONG)) }
    }

    /// Notes runs that are touched, or that data decides which they are.
    fn note(
        &mut self,
        buffer: MemoryId,
        is_written: bool,
        runs: Option<impl Iterator<Item = (usize, usize)>>,
    ) -> Result<(), Failure> {
        if self.asked(buffer) != BufferAccess::Touched {
            return Ok(());
        }
        let Some(touched) = buffer.as_buffer().and_then(|n| self.touched.get_mut(n)) else { return Ok(()) };
        let noted = touched.note(is_written, runs);
        self.spend(noted)
    }
}

/// What the interpreter does where nothing runs.
impl Exec<'_> {
    /// An instruction: what it does to its tiles, but for their contents, and what it would touch of global memory.
    pub fn foresee_site(&mut self, index: usize, site: &InstTemplate) -> Result<(), Stop> {
        self.begin_tiles(site)?;
        if let Some(view) = site.global.map(|slot| self.global(slot)) {
            let (buffer, grows) = (view.buffer, view.grows);
            let is_asked = self.foresight.as_ref().is_some_and(|f| f.asked(buffer) == BufferAccess::Touched);
            // A buffer that grows has to be as long as it will be.
            if is_asked || grows {
                self.choose(index, site)?;
                let start = self.engine.start(index, site.global.map(|slot| self.global(slot)))?;
                let prepared = self.engine.caches.get(index).and_then(|c| c.current()?.prepared.as_ref());
                if let (Some(foresight), Some(prepared)) = (&mut self.foresight, prepared) {
                    let is_written = site.inst.op.effect(site.inst.form, Role::Global) != Effect::Read;
                    foresight.note(buffer, is_written, prepared.reach(start))?;
                }
            }
        }
        Ok(self.end_tiles(site)?)
    }

    /// Is there nothing to do for an operation around the instructions?
    pub fn foresee_support(&self, support: &Support) -> Result<bool, Failure> {
        match support {
            Support::Get(_) => self.foresee_bytes().map(|()| true),
            Support::Fresh(_) | Support::Print(_) | Support::PrintText { .. } => Ok(true),
            _ => Ok(false),
        }
    }

    /// An instruction is made ready that was not before.
    pub fn foresee_lowering(&mut self) -> Result<(), Failure> {
        self.foresight.as_mut().map_or(Ok(()), |foresight| foresight.spend(LOWERING))
    }

    /// Contents of tiles or of global memory decide what happens.
    pub fn foresee_bytes(&self) -> Result<(), Failure> {
        if self.foresight.is_none() { Ok(()) } else { Err(internal_error(DATA)) }
    }

    /// A scalar is loaded.
    #[inline]
    pub fn foresee_load(&self, buffer: MemoryId) -> Result<(), Failure> {
        match &self.foresight {
            Some(foresight) if foresight.asked(buffer) != BufferAccess::Known => self.foresee_bytes(),
            _ => Ok(()),
        }
    }

    /// A scalar is stored: the first byte, and how many.
    pub fn foresee_store(&mut self, buffer: MemoryId, bytes: (usize, usize)) -> Result<(), Failure> {
        self.foresight.as_mut().map_or(Ok(()), |foresight| foresight.note(buffer, true, Some([bytes].into_iter())))
    }
}

#[cfg(test)]
mod tests;
