//! A run that follows where every byte comes from.

use super::blocks::{self, BlockResult, Buffer};
use super::cores::{Cores, Process};
use super::{Outcome, Run, grid_barrier};
use tessera_kernels::memory::ArrayAccess;
use tessera_kernels::{Failure, MemoryId, internal_error};
use tessera_provenance::{Moment, Output, ProvenanceTracker};

/// Why there is no answer about blocks that see each other's writes.
const NOT_FOLLOWED: &str = "all blocks meet, and what goes between them is not followed";

/// Runs a program and follows every byte; data that is not given is unknown.
pub fn run(mut run: Run<'_>, mut watch: ProvenanceTracker) -> (Outcome, ProvenanceTracker) {
    let blocks = run.blocks.max(1);
    if blocks > 1 && grid_barrier::is_met(run.module, run.func, run.profile) {
        watch.undecide(NOT_FOLLOWED.into());
        return (Outcome::default(), watch);
    }
    let processes = Process::all(run.func);
    let compile = |p: &Process| super::compile::compile(run.module, run.func, run.profile, run.placement, *p, false);
    let programs = match processes.iter().map(compile).collect::<Result<Vec<_>, _>>() {
        Ok(programs) => programs,
        Err(e) => return (e.into(), watch),
    };
    let progress = run.progress.clone();
    let mut buffers = blocks::buffers(&mut run);
    let cx = blocks::contexts(&run, &processes, &programs, progress.as_deref(), &[]);
    let accesses = vec![ArrayAccess::ALL; buffers.len()];
    let (views, merge) = blocks::share(&mut buffers, &accesses);
    let mut memories = blocks::memories(&run, &buffers, &views, run.limits.memory);
    memories.tracked = true;
    memories.stands_for_all = true;
    let mut cores = Cores::new(&cx, memories, false);
    if let Some(first) = cores.list.first_mut() {
        first.watch = Some(Box::new(watch));
    }
    let mut lengths = vec![0usize; buffers.len()];
    let only = cores.list.first().and_then(|exec| exec.watch.as_ref()?.until);
    let blocks = (0..blocks).filter(|block| only.is_none_or(|only| only.block == *block));
    for (number, block) in (0..).zip(blocks) {
        let mut one = BlockResult::default();
        one.failure = watched_block(&mut cores, &run, &buffers, block, only).err();
        for exec in &mut cores.list {
            one.warnings.append(&mut exec.found.warnings);
        }
        for (k, length) in (0..).zip(&mut lengths) {
            let memory = cores.memories().and_then(|m| m.get(MemoryId::buffer(k)));
            *length = memory.map_or(0, |m| m.bytes().len()).max(*length);
        }
        let has_failed = one.failure.is_some();
        merge.add(number, one, cores.end_block(&buffers));
        let is_over = cores.list.first().and_then(|exec| exec.watch.as_ref()).is_some_and(|watch| watch.is_over());
        if has_failed || is_over {
            break;
        }
    }
    let Some(mut watch) = cores.list.iter_mut().find_map(|exec| exec.watch.take()).map(|watch| *watch) else {
        return (internal_error("a run has lost its origins").into(), ProvenanceTracker::default());
    };
    drop(cores);
    for (k, (buffer, length)) in buffers.iter().zip(&lengths).enumerate() {
        let ty = run.module.types.get(run.func.value(buffer.value).ty);
        if let Some(elem) = ty.global_elem() {
            let origins = watch.buffer(MemoryId::buffer(k as u32), *length);
            watch.outputs.push(Output {
                value: buffer.value,
                core: 0,
                rows: 1,
                cols: origins.len() as u64 * 8 / u64::from(elem.bits()),
                elem,
                origins,
            });
        }
    }
    watch.end();
    let (left, overlaps) = blocks::put_back(&run, &mut buffers, merge.finish());
    (blocks::outcome(&run, buffers, left, overlaps), watch)
}

fn watched_block(
    cores: &mut Cores<'_>,
    run: &Run<'_>,
    buffers: &[Buffer],
    block: u32,
    until: Option<Moment>,
) -> Result<(), Failure> {
    if let Some(watch) = &mut cores.turn(0)?.watch {
        watch.begin_block(block);
        for (k, buffer) in (0..).zip(buffers) {
            watch.bind(MemoryId::buffer(k), buffer.value);
        }
    }
    cores.begin(run, buffers, block)?;
    for n in 0..cores.list.len() {
        let exec = cores.turn(n)?;
        for (value, input) in &run.inputs {
            exec.watch_given(*value, input)?;
        }
    }
    let is_before = until.is_some_and(|until| until.instructions == 0);
    if !is_before && !cores.advance()? {
        return Err(cores.deadlock());
    }
    if until.is_some() || block + 1 == run.blocks.max(1) {
        for (value, core) in &run.outputs {
            // A tile lies at the same place on both vector cores.
            let (exec, _) = cores.owner(*value, 0)?;
            if let Some(slot) = exec.cx.program.tile(*value) {
                exec.watch_output(*value, slot, *core)?;
            }
        }
    }
    if let Some(watch) = &mut cores.turn(0)?.watch {
        watch.end_block();
    }
    Ok(())
}
