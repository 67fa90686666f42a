//! Blocks: several at once, each on memories of its own.
//!
//! A block sees the global buffers as they were before the kernel, plus its own writes, which go to an overlay
//! ([`Memory::block_view`]). A block's writes are put into the result in block order ([`BlockMerge`]).

use super::array_access::accesses;
use super::block_merge::{BlockMerge, Merged};
use super::code::{Program, TileSlot, Var, slot_bits};
use super::compile::compile;
use super::cores::{Cores, Process};
use super::grid_barrier;
use super::liveness;
use super::step::{Context, Exec};
use super::{BufferOutput, Input, Outcome, Printed, Progress, Recorded, Run, TileOutput, TraceLine};
use std::sync::atomic::{AtomicU32, Ordering};
use tessera_exec::engine::Global;
use tessera_ir::{Def, MemrefType, Type, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::tile::Extent;
use tessera_kernels::memory::{ArrayAccess, Memories, Memory};
use tessera_kernels::{Failure, MemoryId, failure};

/// A buffer before the run, and the argument it is bound to.
pub(super) struct Buffer {
    pub value: ValueId,
    pub memory: Memory,
    pub dims: Vec<u64>,
    pub grows: bool,
}

/// An argument of global memory, and where its buffer lies.
pub(super) struct ArgBuffer {
    pub value: ValueId,
    pub memory: MemoryId,
    /// The first byte in the memory.
    pub byte: u64,
    pub dims: Vec<u64>,
    pub grows: bool,
}

impl ArgBuffer {
    /// Each argument in a memory of its own, in this order.
    pub fn of(buffers: &[Buffer]) -> impl Iterator<Item = ArgBuffer> {
        (0..).zip(buffers).map(|(k, buffer)| ArgBuffer {
            value: buffer.value,
            memory: MemoryId::buffer(k),
            byte: 0,
            dims: buffer.dims.clone(),
            grows: buffer.grows,
        })
    }
}

/// The result of one block.
#[derive(Default)]
pub(super) struct BlockResult {
    pub failure: Option<Failure>,
    pub warnings: Vec<Diagnostic>,
    pub tiles: Vec<TileOutput>,
    pub printed: Vec<Printed>,
    pub trace: Vec<TraceLine>,
    recorded: Option<Recorded>,
}

impl BlockResult {
    pub fn failed(failure: Failure) -> Self {
        BlockResult { failure: Some(failure), ..BlockResult::default() }
    }
}

/// Runs a program, its blocks on `threads` threads at most.
pub fn run(mut run: Run<'_>, threads: usize) -> Result<Outcome, Failure> {
    if super::ranks::communicates(run.func) {
        return super::ranks::run_alone(run);
    }
    let processes = Process::all(run.func);
    let compiled =
        |process: &Process| compile(run.module, run.func, run.profile, run.placement, *process, run.observe.is_some());
    let mut programs = processes.iter().map(compiled).collect::<Result<Vec<_>, _>>()?;
    // Micro instructions read the bytes of tiles through pointers.
    if let [program] = programs.as_mut_slice()
        && run.fuses
        && !program.is_micro
    {
        let outputs = run.outputs.iter().map(|output| output.0).chain(run.func.outputs.iter().copied());
        liveness::find(program, run.placement, outputs, run.tracked);
    }
    let blocks = run.blocks.max(1);
    let progress = run.progress.clone();
    scalars_are_bound(&run)?;
    let mut buffers = buffers(&mut run);
    let bound: Vec<ValueId> = buffers.iter().map(|buffer| buffer.value).collect();
    let cx = contexts(&run, &processes, &programs, progress.as_deref(), &bound);
    let run = &run;
    let threads = threads.clamp(1, blocks as usize);
    let (left, overlaps) = match blocks {
        1 => (vec![alone(run, &cx, &mut buffers)], Vec::new()),
        _ if grid_barrier::is_met(run.module, run.func, run.profile) => {
            grid_barrier::run(run, &cx, &mut buffers, blocks, threads)
        }
        _ => together(run, &cx, &mut buffers, threads),
    };
    Ok(outcome(run, buffers, left, overlaps))
}

/// The contexts of the processes of a kernel, which never change while these run.
pub(super) fn contexts<'a>(
    run: &Run<'a>,
    processes: &[Process],
    programs: &'a [Program],
    progress: Option<&'a Progress>,
    buffers: &'a [ValueId],
) -> Vec<Context<'a>> {
    let context = |(process, program): (&Process, &'a Program)| Context {
        module: run.module,
        func: run.func,
        profile: run.profile,
        program,
        process: *process,
        blocks: run.blocks.max(1),
        limits: run.limits,
        fuses: run.fuses,
        progress,
        buffers,
        merge: None,
        rank: None,
    };
    processes.iter().zip(programs).map(context).collect()
}

/// One block: it works on the buffers themselves.
fn alone(run: &Run<'_>, cx: &[Context<'_>], buffers: &mut [Buffer]) -> BlockResult {
    let mut memories = Memories::with_limit(run.tracked, run.limits.memory);
    for buffer in buffers.iter_mut() {
        memories.add_buffer(std::mem::take(&mut buffer.memory));
    }
    let mut cores = Cores::new(cx, memories, run.trace || run.record);
    let left = one(run, &mut cores, buffers, 0);
    for (k, buffer) in buffers.iter_mut().enumerate() {
        if let Some(memory) = cores.memories().and_then(|m| m.get_mut(MemoryId::buffer(k as u32))) {
            buffer.memory = std::mem::take(memory);
        }
    }
    left
}

/// Runs several blocks on several threads; returns their results, and where they wrote the same bytes.
fn together(
    run: &Run<'_>,
    cx: &[Context<'_>],
    buffers: &mut [Buffer],
    threads: usize,
) -> (Vec<BlockResult>, Vec<Diagnostic>) {
    let blocks = run.blocks.max(1);
    let mut views = accesses(run, cx, buffers);
    if run.record {
        views = views.into_iter().map(|access| access.or(ArrayAccess::READS)).collect();
    }
    let (views, merge) = share(buffers, &views);
    let next = AtomicU32::new(0);
    let cx: Vec<Context<'_>> = cx.iter().map(|cx| Context { merge: Some(&merge), ..*cx }).collect();
    let work = || {
        let _guard = merge.guard();
        let mut cores = Cores::new(&cx, memories(run, buffers, &views, run.limits.memory), run.trace || run.record);
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                return;
            }
            let left = one(run, &mut cores, buffers, block);
            if left.failure.is_some() {
                // Blocks that have begun still end, so that the lowest failure is always the one that is reported.
                next.store(blocks, Ordering::Relaxed);
            }
            merge.add(block, left, cores.end_block(buffers));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    drop(cx);
    put_back(run, buffers, merge.finish())
}

/// A block's view of a buffer: the accesses that it may make, and the length.
pub(super) type View = (ArrayAccess, usize);

/// Prepares buffers for blocks that make these accesses. A buffer that no block reads moves to the merge, which
/// changes it in place.
pub(super) fn share(buffers: &mut [Buffer], accesses: &[ArrayAccess]) -> (Vec<View>, BlockMerge) {
    let views = buffers.iter().zip(accesses).map(|(buffer, access)| (*access, buffer.memory.bytes().len())).collect();
    let merged = buffers.iter_mut().zip(accesses).map(|(buffer, access)| {
        match access.needs_contents() || access.is_read_only() {
            true => buffer.memory.shared(),
            false => buffer.memory.moved(),
        }
    });
    let merge = BlockMerge::new(merged);
    (views, merge)
}

/// The buffers are as all blocks left them.
pub(super) fn put_back(run: &Run<'_>, buffers: &mut [Buffer], merged: Merged) -> (Vec<BlockResult>, Vec<Diagnostic>) {
    let warnings = merged.warnings(run, buffers);
    buffers.iter_mut().zip(merged.memories).for_each(|(buffer, memory)| buffer.memory = memory);
    (merged.results, warnings)
}

/// The memories of blocks that run one after the other.
pub(super) fn memories(run: &Run<'_>, buffers: &[Buffer], views: &[View], limit: u64) -> Memories {
    let mut memories = Memories::with_limit(run.tracked, limit);
    for (buffer, (access, len)) in buffers.iter().zip(views) {
        memories.add_buffer(buffer.memory.block_view(*access, *len));
    }
    memories
}

fn one(run: &Run<'_>, cores: &mut Cores<'_>, buffers: &[Buffer], block: u32) -> BlockResult {
    let result = cores.begin(run, buffers, block).and_then(|()| cores.run());
    left_by(run, cores, block, result)
}

/// The result of a block, after it ended or failed.
pub(super) fn left_by(run: &Run<'_>, cores: &mut Cores<'_>, block: u32, result: Result<(), Failure>) -> BlockResult {
    let mut left = BlockResult::default();
    if let Some(progress) = &run.progress {
        progress.blocks.fetch_add(1, Ordering::Relaxed);
    }
    let result = result.and_then(|()| read_outputs(run, cores, block, &mut left));
    left.failure = result.err();
    for exec in &mut cores.list {
        left.warnings.append(&mut exec.found.warnings);
        left.printed.append(&mut exec.printed);
        if let Some(trace) = &mut exec.trace {
            left.trace.append(trace);
        }
        left.recorded = left.recorded.or(exec.recorder.take().map(|recorder| recorder.block));
    }
    left
}

/// A buffer for every argument that is global memory, in the order of the arguments.
pub(super) fn buffers(run: &mut Run<'_>) -> Vec<Buffer> {
    let mut all = Vec::new();
    for (i, value) in run.func.values.iter().enumerate() {
        let id = ValueId(i as u32);
        let is_argument = matches!(value.def, Def::Arg(_) | Def::Input | Def::ListingOut);
        if !is_argument || run.module.types.get(value.ty).global_elem().is_none() {
            continue;
        }
        let bound = run.inputs.iter_mut().find_map(|(v, input)| match input {
            Input::Buffer { bytes, dims, .. } if *v == id => Some((std::mem::take(bytes), std::mem::take(dims))),
            _ => None,
        });
        all.push(match bound {
            Some((bytes, dims)) => Buffer { value: id, memory: Memory::owned(bytes), dims, grows: false },
            None => Buffer { value: id, memory: Memory::default(), dims: Vec::new(), grows: true },
        });
    }
    all
}

/// Binds arguments and inputs.
pub(super) fn set_up(run: &Run<'_>, exec: &mut Exec<'_>, args: &[ArgBuffer]) -> Result<(), Failure> {
    for arg in args {
        let ty = run.module.types.get(run.func.value(arg.value).ty);
        let global = super::global::global_argument(ty, arg.memory, &arg.dims, arg.grows);
        let (Var::Global(slot), Some(global)) = (exec.cx.program.vars[arg.value.index()], global) else {
            return Err(Diagnostic::internal(run.func.value(arg.value).span, "a buffer has no pointer to it"));
        };
        let mut global = strided(run, arg.value, global);
        global.offset += (arg.byte * 8 / u64::from(global.elem.bits())) as i64;
        exec.globals[slot.index()] = global;
    }
    exec.engine.reserve(MemoryId::POOL, exec.cx.program.pool)?;
    for (object, address) in &exec.cx.program.bound {
        // Refused where the program says it.
        let _ = exec.engine.assign(*object, *address);
    }
    for (value, input) in &run.inputs {
        match (exec.cx.program.vars.get(value.index()).copied(), input) {
            (Some(Var::Int(slot)), Input::Scalar(number)) => {
                if let Type::Scalar(ty) = run.module.types.get(run.func.value(*value).ty) {
                    exec.set(slot, slot_bits(*number, *ty));
                }
            }
            (Some(Var::Tile(slot)), Input::Tile { rows, cols, elements }) => {
                give_tile(exec, slot, *rows, *cols, elements)?;
            }
            (Some(Var::Tile(slot)), Input::Valid { rows, cols }) => {
                resize(exec, slot, *rows, *cols)?;
            }
            (Some(Var::Tile(slot)), Input::TileBytes(bytes)) => {
                // Bytes have no shape, so all of a dynamic region is valid.
                let id = exec.object_of(slot);
                exec.engine.expand_valid(id)?;
                exec.engine.write_raw(id, bytes)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The view of a memref with the strides that its type leaves open.
fn strided(run: &Run<'_>, value: ValueId, mut global: Global) -> Global {
    let given = run.inputs.iter().find_map(|(v, input)| match input {
        Input::Strides { strides, offset } if *v == value => Some((strides, *offset)),
        _ => None,
    });
    let Type::Memref(MemrefType { strided: Some(written), .. }) = run.module.types.get(run.func.value(value).ty) else {
        return global;
    };
    if let Some((strides, offset)) = given {
        for ((to, written), given) in global.strides.iter_mut().zip(&written.strides).zip(strides) {
            *to = written.unwrap_or(*given);
        }
        global.offset = written.offset.unwrap_or(offset);
    }
    global
}

/// Gives the `?` extents of a tile.
fn resize(exec: &mut Exec<'_>, slot: TileSlot, rows: u64, cols: u64) -> Result<(), Failure> {
    let id = exec.object_of(slot);
    let tile = exec.engine.object(id)?.tile;
    let given = [(tile.v_row, rows), (tile.v_col, cols)];
    exec.engine.set_valid(id, given.map(|(extent, n)| (extent == Extent::Dynamic).then_some(n as i64)))
}

/// Writes an input's valid region into its tile; `?` extents take the input's.
fn give_tile(exec: &mut Exec<'_>, slot: TileSlot, rows: u64, cols: u64, elements: &[u8]) -> Result<(), Failure> {
    resize(exec, slot, rows, cols)?;
    let id = exec.object_of(slot);
    let o = exec.engine.object(id)?;
    let tile = o.tile;
    let extent = o.extent();
    let wanted = tile.elem.bytes_of(extent[0].saturating_mul(extent[1]));
    // A conv tile is given as its dense array, with any rows and columns.
    let fits = o.conv.is_some() || extent == [rows, cols];
    if !fits || elements.len() as u64 != wanted {
        let what = format!(
            "an input of {rows}x{cols} with {} bytes is bound to {tile}, whose valid region is {}x{} in {wanted} bytes",
            elements.len(),
            extent[0],
            extent[1]
        );
        return Err(failure("binding", what, "bind an input of that shape"));
    }
    exec.engine.give(id, extent[0], extent[1], elements)
}

/// A scalar argument that is used has a value.
pub(super) fn scalars_are_bound(run: &Run<'_>) -> Result<(), Failure> {
    let is_scalar = |v: &ValueId| matches!(run.module.types.get(run.func.value(*v).ty), Type::Scalar(_));
    let is_free = |v: &ValueId| !run.inputs.iter().any(|(bound, _)| bound == v);
    let is_used = |v: &ValueId| run.func.ops.iter().any(|op| op.values().any(|used| used == *v));
    let Some(free) = run.func.args.iter().find(|v| is_scalar(v) && is_free(v) && is_used(v)) else {
        return Ok(());
    };
    let value = run.func.value(*free);
    let name = run.module.names.text(value.name);
    let what = format!("%{name} is used and has no value");
    Err(Box::new(
        Diagnostic::error("binding", what).at(value.span, "this argument").help(format!("give %{name} a number")),
    ))
}

fn read_outputs(run: &Run<'_>, cores: &mut Cores<'_>, block: u32, left: &mut BlockResult) -> Result<(), Failure> {
    if block + 1 != run.blocks.max(1) {
        return Ok(());
    }
    for (value, asked) in &run.outputs {
        let (exec, core) = cores.owner(*value, *asked)?;
        let Some(slot) = exec.cx.program.tile(*value) else {
            continue;
        };
        let data = exec.engine.read(exec.object_of(slot), core)?;
        if data.defined.iter().any(|d| *d != 0xFF)
            && let Some(mut d) = exec.undefined_read(slot, core, "is put out")
        {
            d.span = Some(run.func.value(*value).span);
            exec.found.warnings.push(d);
        }
        left.tiles.push(TileOutput { value: *value, core: *asked, data });
    }
    Ok(())
}

/// Everything together, in block order.
pub(super) fn outcome(
    run: &Run<'_>,
    buffers: Vec<Buffer>,
    left: Vec<BlockResult>,
    overlaps: Vec<Diagnostic>,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut told: Vec<(&'static str, Option<tessera_isa::diag::Span>)> = Vec::new();
    for block in left {
        for d in block.warnings {
            // Every block would say the same.
            if !told.contains(&(d.rule, d.span)) {
                told.push((d.rule, d.span));
                outcome.diagnostics.push(d);
            }
        }
        outcome.printed.extend(block.printed);
        outcome.trace.extend(block.trace);
        outcome.recorded.extend(block.recorded);
        outcome.tiles.extend(block.tiles);
        if let Some(failure) = block.failure {
            outcome.diagnostics.push(*failure);
            outcome.tiles.clear();
            return outcome;
        }
    }
    outcome.diagnostics.extend(overlaps);
    for buffer in buffers {
        let missing = buffer.memory.defined().first_missing(0, buffer.memory.bytes().len());
        if let (true, Some(byte)) = (run.outputs.iter().any(|o| o.0 == buffer.value), missing)
            && run.tracked
        {
            let name = run.module.names.text(run.func.value(buffer.value).name);
            let what = format!("byte {byte} of %{name} was never written and is put out as 0");
            let place = run.func.value(buffer.value).span;
            outcome.diagnostics.push(
                Diagnostic::warning("undefined-read", what)
                    .at(place, "this argument")
                    .help("give it contents, or store all of it"),
            );
        }
        let is_defined = !buffer.memory.defined().has_none(0, buffer.memory.bytes().len());
        outcome.buffers.push(BufferOutput { value: buffer.value, bytes: buffer.memory.into_bytes(), is_defined });
    }
    outcome
}
