//! Blocks that meet (sync.md 5, `ffts_mode` 0): then all of them run at the same time, and where they meet their writes are
//! put together in increasing block number, and all see them (isa/structure.md 4).

use super::Run;
use super::block_overlap::Owners;
use super::blocks::{BlockResult, Buffer, copies, left_by};
use super::cores::Cores;
use super::step::Context;
use tessera_ir::Func;
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::AttrName;
use tessera_isa::profile::Profile;
use tessera_kernels::{Failure, MemoryId, failure};

/// May blocks of the function meet?
pub(super) fn is_met(func: &Func, profile: Profile) -> bool {
    let meets = |op: &tessera_ir::Op| op.token().is_some() && op.known_attrs().int(AttrName::FftsMode) == Some(0);
    profile == Profile::A2a3 && func.ops.iter().any(meets)
}

/// All blocks, each until it waits for others; then they meet, and go on.
pub(super) fn run(
    run: &Run<'_>,
    cx: &[Context<'_>],
    buffers: &mut [Buffer],
    blocks: u32,
    threads: usize,
) -> Vec<BlockResult> {
    let failed = |failure: Failure| vec![BlockResult::failed(failure)];
    let limit = run.limits.memory / u64::from(blocks);
    let held: u64 = buffers.iter().map(|buffer| buffer.memory.bytes().len() as u64).sum();
    if held > limit {
        let what = format!("{blocks} blocks meet, and each has a copy of {held} bytes of global memory");
        return failed(failure("memory-limit", what, "run fewer blocks, or allow more memory"));
    }
    let own = |_| Cores::new(cx, copies(buffers, run.tracked, limit), run.trace);
    let mut all: Vec<Cores<'_>> = (0..blocks).map(own).collect();
    for (block, cores) in (0..).zip(&mut all) {
        if let Err(failure) = cores.begin(run, buffers, block) {
            return failed(failure);
        }
    }
    let mut warnings = Vec::new();
    let mut results: Vec<Result<bool, Failure>> = (0..blocks).map(|_| Ok(false)).collect();
    loop {
        advance(&mut all, &mut results, threads);
        let is_over = results.iter().all(|result| matches!(result, Ok(true)));
        if is_over || results.iter().any(Result::is_err) {
            break;
        }
        if !meet(&mut all) {
            for (cores, result) in all.iter().zip(&mut results).filter(|(_, result)| matches!(result, Ok(false))) {
                *result = Err(cores.deadlock());
            }
            break;
        }
        put_together(run, &mut all, buffers, &mut warnings);
    }
    let mut left = Vec::new();
    for ((block, mut cores), result) in (0..).zip(all).zip(results) {
        let result = result.and_then(|_| cores.report_left());
        let mut one = left_by(run, &mut cores, block, result);
        one.writes = cores.take_written(buffers);
        one.warnings.append(&mut warnings);
        left.push(one);
    }
    left
}

/// Runs every block that has not ended until it waits.
fn advance(all: &mut [Cores<'_>], results: &mut [Result<bool, Failure>], threads: usize) {
    let share = all.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (cores, results) in all.chunks_mut(share).zip(results.chunks_mut(share)) {
            scope.spawn(move || {
                for (cores, result) in cores.iter_mut().zip(results).filter(|(_, r)| matches!(r, Ok(false))) {
                    *result = cores.advance();
                }
            });
        }
    });
}

/// Do all cores of a kind stand at a meeting? Then each gets its token.
fn meet(all: &mut [Cores<'_>]) -> bool {
    let mut any = false;
    for kind in 0..2 {
        for id in 0..16 {
            if all.iter_mut().all(|cores| cores.links().is_some_and(|links| links.have_come(kind, id))) {
                any = true;
                all.iter_mut().filter_map(Cores::links).for_each(|links| links.met_all(kind, id));
            }
        }
    }
    any
}

/// What the blocks wrote since they met last, for all of them.
fn put_together(run: &Run<'_>, all: &mut [Cores<'_>], buffers: &mut [Buffer], warnings: &mut Vec<Diagnostic>) {
    let mut owners: Vec<Owners> = buffers.iter().map(|_| Owners::default()).collect();
    let written: Vec<_> = all.iter_mut().map(|cores| cores.take_written(buffers)).collect();
    for (block, taken) in (0..).zip(written) {
        for ((buffer, taken), owners) in buffers.iter_mut().zip(taken).zip(&mut owners) {
            warnings.extend(owners.add(block, &taken).map(|overlap| overlap.diagnostic(run, buffer.value)));
            buffer.memory.put_taken(taken);
        }
    }
    for cores in all {
        let Some(memories) = cores.memories() else { continue };
        for (k, buffer) in (0..).zip(buffers.iter()) {
            if let Some(memory) = memories.get_mut(MemoryId::buffer(k)) {
                *memory = buffer.memory.watched();
            }
        }
    }
}
