//! The memories of all ranks before the run, and their contents after it (isa/comm.md 2).

use super::super::blocks::{self, ArgBuffer};
use super::space::{AddressSpace, Part, Region};
use super::{MAX_RANKS, Ranks, RanksOutcome};
use crate::BufferOutput;
use tessera_ir::ValueId;
use tessera_isa::diag::Diagnostic;
use tessera_kernels::memory::Memory;
use tessera_kernels::{Failure, MemoryId, failure};

/// The most bytes of a window.
const MAX_WINDOW: u64 = 1 << 40;
/// Arguments of a window start at multiples of this.
const ALIGN: u64 = 64;
/// The words of a context: a workspace, the rank, the bytes, and twice the starts of the windows.
const CONTEXT_WORDS: usize = 4 + 2 * MAX_RANKS;

/// The address space, by rank the arguments in it, and the memories.
type Regions = (AddressSpace, Vec<Vec<ArgBuffer>>, Vec<Memory>);

/// The regions of all ranks, the arguments of each rank in them, and their memories.
pub fn regions(ranks: &mut Ranks<'_>) -> Result<Regions, Failure> {
    let count = ranks.runs.len();
    if count == 0 || count > MAX_RANKS {
        let what = format!("{count} ranks are asked for, and there may be 1 to {MAX_RANKS}");
        return Err(failure("comm-window", what, "run fewer ranks"));
    }
    let mut space = AddressSpace::default();
    let mut memories: Vec<Memory> = Vec::new();
    let mut args: Vec<Vec<ArgBuffer>> = Vec::new();
    let mut contexts = Vec::new();
    for rank in 0..count {
        let run = &mut ranks.runs[rank];
        let mut own: Vec<ArgBuffer> = Vec::new();
        let mut buffers = blocks::buffers(run);
        let name = |value: ValueId| run.module.names.text(run.func.value(value).name).to_string();
        let size = |value: ValueId| {
            let elem = run.module.types.get(run.func.value(value).ty).global_elem();
            elem.map_or(1, |elem| elem.bytes_of(1))
        };
        // Windows first, in their order.
        for window in &ranks.windows {
            let mut region = Region { rank: rank as u32, is_window: true, grows: false, len: 0, parts: Vec::new() };
            let members = window.args.get(rank).map(Vec::as_slice).unwrap_or_default();
            let mut pieces = Vec::new();
            for value in members {
                let Some(at) = buffers.iter().position(|b| b.value == *value) else { continue };
                let buffer = buffers.remove(at);
                let room = ranks.rooms.iter().find(|(r, v, _)| (*r as usize, *v) == (rank, *value)).map(|r| r.2);
                let len = match (buffer.grows, room) {
                    (true, Some(room)) => room,
                    (true, None) => {
                        let what = format!("%{} lies in a window, and its size is not known", name(*value));
                        let help = "give it a file, or say its extents";
                        return Err(failure("comm-window", what, help));
                    }
                    _ => buffer.memory.bytes().len() as u64,
                };
                let start = region.len.next_multiple_of(ALIGN);
                region.len = start + len;
                region.parts.push(Part { name: name(*value), size: size(*value), start, len });
                let (memory, dims) = (MemoryId::buffer(space.regions.len() as u32), buffer.dims.clone());
                own.push(ArgBuffer { value: *value, memory, byte: start, dims, grows: false });
                pieces.push((start as usize, buffer));
            }
            if region.len > MAX_WINDOW {
                let what = format!("a window has {} bytes, and 2^40 are the most", region.len);
                return Err(failure("comm-window", what, "use smaller arguments"));
            }
            memories.push(joined(pieces, region.len as usize));
            space.regions.push(region);
        }
        for buffer in buffers {
            let memory = MemoryId::buffer(space.regions.len() as u32);
            let (value, grows, dims) = (buffer.value, buffer.grows, buffer.dims.clone());
            let is_context = ranks.windows.iter().position(|w| w.contexts.get(rank) == Some(&Some(value)));
            let (memory_of, grows) = match is_context {
                Some(window) => {
                    contexts.push((space.regions.len(), rank, window));
                    (Memory::owned(vec![0; CONTEXT_WORDS * 8]), false)
                }
                None => (buffer.memory, grows),
            };
            let len = memory_of.bytes().len() as u64;
            let parts = vec![Part { name: name(value), size: size(value), start: 0, len }];
            space.regions.push(Region { rank: rank as u32, is_window: false, grows, len, parts });
            memories.push(memory_of);
            own.push(ArgBuffer { value, memory, byte: 0, dims, grows });
        }
        args.push(own);
    }
    same_windows(ranks, &space)?;
    bind(ranks, &mut space, &mut args, &mut memories)?;
    let per_rank = |rank: usize, window: usize| {
        let mut own = space.regions.iter().enumerate().filter(|(_, r)| r.rank as usize == rank);
        own.nth(window).map(|(n, region)| (space.base(n), region.len))
    };
    for (region, rank, window) in contexts {
        let mut words = vec![0i64; CONTEXT_WORDS];
        words[2] = rank as i64 | (count as i64) << 32;
        words[3] = per_rank(rank, window).map_or(0, |(_, len)| len as i64);
        for q in 0..count {
            let base = per_rank(q, window).map_or(0, |(base, _)| base);
            (words[4 + q], words[4 + MAX_RANKS + q]) = (base, base);
        }
        let bytes: Vec<u8> = words.into_iter().flat_map(i64::to_le_bytes).collect();
        memories[region] = Memory::owned(bytes);
    }
    Ok((space, args, memories))
}

/// Bytes that are 0, and undefined.
fn undefined(len: usize) -> Memory {
    let mut memory = Memory::owned(vec![0; len]);
    memory.defined_mut().remove(0, len);
    memory
}

/// One memory of the buffers that lie in it.
fn joined(pieces: Vec<(usize, blocks::Buffer)>, len: usize) -> Memory {
    let is_whole = |(at, buffer): &(usize, blocks::Buffer)| *at == 0 && buffer.memory.bytes().len() == len;
    if pieces.len() == 1 && pieces.iter().all(is_whole) {
        return pieces.into_iter().next().map(|(_, buffer)| buffer.memory).unwrap_or_default();
    }
    let mut whole = undefined(len);
    for (at, buffer) in pieces {
        whole.put(at, buffer.memory.bytes());
    }
    whole
}

/// `comm-window`: a window has the same arguments, of the same size, on every rank.
fn same_windows(ranks: &Ranks<'_>, space: &AddressSpace) -> Result<(), Failure> {
    for w in 0..ranks.windows.len() {
        let of = |rank: usize| space.regions.iter().filter(move |r| r.rank as usize == rank).nth(w);
        let Some(first) = of(0) else { continue };
        for rank in 1..ranks.runs.len() {
            let Some(other) = of(rank) else { continue };
            if other.parts.len() != first.parts.len() {
                let (a, b) = (first.parts.len(), other.parts.len());
                let what = format!("a window has {a} arguments on rank 0, and {b} on rank {rank}");
                return Err(failure("comm-window", what, "name arguments that every rank has"));
            }
            if let Some((a, b)) = first.parts.iter().zip(&other.parts).find(|(a, b)| a.len != b.len) {
                let what = format!(
                    "%{} has {} bytes on rank 0, and %{} has {} on rank {rank}: a window is alike on all ranks",
                    a.name, a.len, b.name, b.len
                );
                return Err(failure("comm-window", what, "give arrays of one size"));
            }
        }
    }
    Ok(())
}

/// Arguments that are arguments of other ranks.
fn bind(
    ranks: &Ranks<'_>,
    space: &mut AddressSpace,
    args: &mut [Vec<ArgBuffer>],
    memories: &mut [Memory],
) -> Result<(), Failure> {
    for [(rank, value), (other, to)] in &ranks.binds {
        let found = args.get(*other as usize).and_then(|own| own.iter().find(|a| a.value == *to));
        let Some((memory, byte)) = found.map(|arg| (arg.memory, arg.byte)) else {
            let what = format!("rank {other} has no such argument to bind");
            return Err(failure("comm-window", what, "name a pointer argument of that rank"));
        };
        let n = memory.index() - MemoryId::buffer(0).index();
        if let Some(region) = space.regions.get_mut(n) {
            region.is_window = true;
            if region.grows {
                let name = region.parts.first().map_or(String::new(), |part| part.name.clone());
                let room = ranks.rooms.iter().find(|(r, v, _)| (r, v) == (other, to));
                let Some((_, _, room)) = room else {
                    let what = format!("%{name} of rank {other} is another rank's argument, and its size is not known");
                    return Err(failure("comm-window", what, "give it a file, or say its extents"));
                };
                if let Some(memory) = memories.get_mut(n) {
                    *memory = undefined(*room as usize);
                }
                (region.grows, region.len) = (false, *room);
                region.parts.iter_mut().for_each(|part| part.len = *room);
            }
        }
        if let Some(arg) = args.get_mut(*rank as usize).and_then(|own| own.iter_mut().find(|a| a.value == *value)) {
            (arg.memory, arg.byte, arg.grows) = (memory, byte, false);
        }
    }
    Ok(())
}

/// The buffers of all ranks after the run, with warnings about bytes that nothing wrote.
pub fn outputs(
    ranks: &Ranks<'_>,
    args: &[Vec<ArgBuffer>],
    space: &AddressSpace,
    memories: &mut [Memory],
    outcome: &mut RanksOutcome,
) {
    for (rank, run) in ranks.runs.iter().enumerate() {
        for arg in &args[rank] {
            let Some((n, region)) = space.region(arg.memory) else { continue };
            let Some(memory) = memories.get_mut(n) else { continue };
            let part = region.parts.iter().find(|part| part.start == arg.byte);
            let total = memory.bytes().len();
            let is_whole = region.parts.len() == 1 || part.is_none();
            let (start, len) = match part {
                Some(part) if !is_whole => (part.start as usize, part.len as usize),
                _ => (0, total),
            };
            let missing = memory.defined().first_missing(start, len.min(total.saturating_sub(start)));
            if let (true, Some(byte)) = (run.outputs.iter().any(|o| o.0 == arg.value), missing)
                && run.tracked
            {
                let name = run.module.names.text(run.func.value(arg.value).name);
                let of = if ranks.runs.len() > 1 { format!(" of rank {rank}") } else { String::new() };
                let what = format!("byte {} of %{name}{of} was never written and is put out as 0", byte - start);
                let place = run.func.value(arg.value).span;
                let found = Diagnostic::warning("undefined-read", what).at(place, "this argument");
                outcome.diagnostics.push(found.help("give it contents, or store all of it"));
            }
            // An argument that is another rank's is put out by that one, too.
            let is_own = region.rank as usize == rank
                && !ranks.binds.iter().any(|b| (b[0].0 as usize, b[0].1) == (rank, arg.value));
            let is_last = !args
                .iter()
                .enumerate()
                .any(|(r, own)| own.iter().any(|a| (r, a.value) != (rank, arg.value) && a.memory == arg.memory));
            let is_defined = !memory.defined().has_none(start, len);
            let bytes = match is_whole && is_own && is_last {
                true => std::mem::take(memory).into_bytes(),
                false => memory.bytes().get(start..start + len).unwrap_or_default().to_vec(),
            };
            if let Some(output) = outcome.ranks.get_mut(rank) {
                output.buffers.push(BufferOutput { value: arg.value, bytes, is_defined });
            }
        }
        if let Some(output) = outcome.ranks.get_mut(rank) {
            output.buffers.sort_by_key(|buffer| buffer.value.index());
        }
    }
}
