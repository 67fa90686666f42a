//! A run that follows where every byte comes from.

use super::cores::Process;
use super::parallel::{self, Buffer};
use super::step::{Context, Exec, Stop};
use super::{Outcome, Run};
use crate::engine::memory::MemoryId;
use crate::lower::Failure;
use crate::origin::{Output, Watch};
use tessera_ir::Fifos;

/// Why there is no answer about cores that run together.
const NOT_FOLLOWED: &str = "several cores run together, and what goes between them is not followed";

fn not_followed(mut watch: Watch) -> (Outcome, Watch) {
    watch.undecide(NOT_FOLLOWED.into());
    (Outcome::default(), watch)
}

/// Runs a program and follows every byte; data that is not given is unknown.
pub fn run(mut run: Run<'_>, watch: Watch) -> (Outcome, Watch) {
    let [process] = Process::all(run.func)[..] else { return not_followed(watch) };
    if !Fifos::new(run.module, run.func).is_empty() {
        return not_followed(watch);
    }
    let program = match super::compile::compile(run.module, run.func, run.profile, run.placement, process) {
        Ok(program) => program,
        Err(e) => return (e.into(), watch),
    };
    let blocks = run.blocks.max(1);
    let (limits, progress) = (run.limits, run.progress.clone());
    let cx = Context {
        module: run.module,
        func: run.func,
        profile: run.profile,
        program: &program,
        process,
        blocks,
        limits,
        progress: progress.as_deref(),
    };
    let buffers = parallel::buffers(&mut run);
    let mut exec = Exec::new(&cx, parallel::copies(&buffers, true, limits.memory), false);
    exec.engine.memories.stands_for_all = true;
    exec.watch = Some(Box::new(watch));
    let mut left = Vec::new();
    let mut lengths = vec![0usize; buffers.len()];
    for block in 0..blocks {
        let mut one = parallel::Left::default();
        one.failure = exec.watched_block(&run, &buffers, block).err();
        one.warnings = std::mem::take(&mut exec.found.warnings);
        for ((k, buffer), length) in buffers.iter().enumerate().zip(&mut lengths) {
            if let Some(memory) = exec.engine.memories.get_mut(MemoryId::buffer(k as u32)) {
                *length = memory.bytes().len().max(*length);
                one.writes.push(memory.take_written(&buffer.memory));
            }
        }
        let has_failed = one.failure.is_some();
        left.push(one);
        if has_failed {
            break;
        }
    }
    let mut watch = *exec.watch.take().unwrap_or_default();
    drop(exec);
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
    (parallel::merge(&run, buffers, left), watch)
}

impl Exec<'_> {
    fn watched_block(&mut self, run: &Run<'_>, buffers: &[Buffer], block: u32) -> Result<(), Failure> {
        self.reset(block);
        if let Some(watch) = &mut self.watch {
            watch.begin_block(block);
            for (k, buffer) in buffers.iter().enumerate() {
                watch.bind(MemoryId::buffer(k as u32), buffer.value);
            }
        }
        parallel::set_up(run, self, buffers)?;
        for (value, input) in &run.inputs {
            self.watch_given(*value, input)?;
        }
        match self.run() {
            Err(Stop::Failed(failure)) => return Err(failure),
            Err(Stop::Waits) => {
                if let Some(watch) = &mut self.watch {
                    watch.undecide(NOT_FOLLOWED.into());
                }
            }
            Ok(()) => {}
        }
        if block + 1 == self.cx.blocks {
            for (value, core) in &run.outputs {
                if let Some(slot) = self.cx.program.tile(*value) {
                    self.watch_output(*value, slot, *core)?;
                }
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.end_block();
        }
        Ok(())
    }
}
