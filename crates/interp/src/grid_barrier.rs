//! Blocks that meet (sync.md 5, `ffts_mode` 0; isa/comm.md 7): then all of them run at the same time, and where they meet their writes are
//! put together in increasing block number, and all see them (isa/structure.md 4).

use super::Run;
use super::block_merge::BlockMerge;
use super::blocks::{self, BlockResult, Buffer, left_by};
use super::cores::{Cores, Group, complete};
use super::step::Context;
use tessera_ir::{Func, Module};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{Opcode, Order};
use tessera_isa::profile::Profile;
use tessera_kernels::memory::{ArrayAccess, Memories, Memory};
use tessera_kernels::{Failure, MemoryId, failure, internal_error};

/// Whether blocks of the function may meet at a grid barrier.
pub(super) fn is_met(module: &Module, func: &Func, profile: Profile) -> bool {
    func.ops.iter().any(|op| {
        let mode =
            op.opcode().map_or(2, |opcode| opcode.ffts_mode(op.is_wide_token(module, profile), op.known_attrs()));
        op.token().is_some() && mode == 0 || op.opcode().and_then(Opcode::order) == Some(Order::Meet)
    })
}

/// All blocks, each until it waits for others; then they meet, and go on.
pub(super) fn run(
    run: &Run<'_>,
    cx: &[Context<'_>],
    buffers: &mut [Buffer],
    blocks: u32,
    threads: usize,
) -> (Vec<BlockResult>, Vec<Diagnostic>) {
    let failed = |failure: Failure| (vec![BlockResult::failed(failure)], Vec::new());
    let limit = run.limits.memory / u64::from(blocks);
    let held: u64 = buffers.iter().map(|buffer| buffer.memory.bytes().len() as u64).sum();
    if held > limit {
        let what = format!("{blocks} blocks meet, and each has a copy of {held} bytes of global memory");
        return failed(failure("memory-limit", what, "run fewer blocks, or allow more memory"));
    }
    let accesses = vec![ArrayAccess::ALL; buffers.len()];
    let (mut views, mut merge) = blocks::share(buffers, &accesses);
    let own = |_| Cores::new(cx, blocks::memories(run, buffers, &views, limit), run.trace);
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
        // All blocks see the writes since the last grid barrier.
        end_all(&mut all, buffers, &merge, |_, _| BlockResult::default());
        all.iter_mut().filter_map(Cores::memories).flat_map(Memories::buffers_mut).for_each(|m| *m = Memory::default());
        warnings.extend(blocks::put_back(run, buffers, merge.finish()).1);
        (views, merge) = blocks::share(buffers, &accesses);
        for memories in all.iter_mut().filter_map(Cores::memories) {
            for ((k, buffer), (access, len)) in (0..).zip(buffers.iter()).zip(&views) {
                if let Some(memory) = memories.get_mut(MemoryId::buffer(k)) {
                    *memory = buffer.memory.block_view(*access, *len);
                }
            }
        }
    }
    let mut results = results.into_iter();
    end_all(&mut all, buffers, &merge, |block, cores| {
        let lost = || Err(internal_error("a block has no result"));
        let result = results.next().unwrap_or_else(lost).and_then(|_| cores.report_left());
        let mut one = left_by(run, cores, block, result);
        one.warnings.append(&mut warnings);
        one
    });
    drop(all);
    blocks::put_back(run, buffers, merge.finish())
}

/// Puts the writes of every block into the result.
fn end_all<'a>(
    all: &mut [Cores<'a>],
    buffers: &[Buffer],
    merge: &BlockMerge,
    mut result: impl FnMut(u32, &mut Cores<'a>) -> BlockResult,
) {
    for (block, cores) in (0..).zip(all) {
        let one = result(block, cores);
        merge.add(block, one, cores.end_block(buffers));
    }
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

/// Completes each meeting to which all cores of a kind have come: each core gets its token. Returns whether there was
/// one.
pub(super) fn meet(all: &mut [Cores<'_>]) -> bool {
    let mut any = false;
    for kind in 0..2 {
        for id in 0..16 {
            if all.iter_mut().all(|cores| cores.links().is_some_and(|links| links.have_come(kind, id))) {
                any = true;
                all.iter_mut().filter_map(Cores::links).for_each(|links| links.met_all(kind, id));
            }
        }
    }
    for group in Group::ALL {
        any |= complete(&mut all.iter_mut().filter_map(Cores::links).collect::<Vec<_>>(), group);
    }
    any
}
