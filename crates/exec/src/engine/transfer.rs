//! Input and output: TLOAD and TSTORE of a caller's bytes, and tiles as bytes.

use super::issue::stores;
use super::tiles::TileId;
use super::{Engine, Global, IssueError, IssueReport};
use crate::lower::{CompiledInst, Effect, Places};
use std::ops::Range;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{GlobalArg, Inst, ScatterAtomic};
use tessera_isa::ops::Role;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Pad;
use tessera_kernels::memory::{AlignedBytes, BlockWrites, Memory};
use tessera_kernels::{Failure, MemoryId, Place, internal_error, on_core};

/// Runs of bytes that were written: where each starts, and its bytes.
pub type Runs = Vec<(usize, Vec<u8>)>;

/// The buffer through which loads and stores go.
pub(super) const BUFFER: MemoryId = MemoryId::buffer(0);

impl Engine {
    /// Runs an instruction with a view of `bytes`; [`GlobalArg::buffer`] is taken from the bytes. Stored bytes are
    /// written to them, undefined ones as 0.
    pub fn transfer(
        &mut self,
        mut inst: Inst,
        tiles: &[(Role, TileId)],
        bytes: &mut [u8],
    ) -> Result<IssueReport<'_>, IssueError> {
        let range = match &mut inst.global {
            Some(view) => {
                let (range, moved) = touched(view, bytes.len())?;
                *view = moved;
                range
            }
            None => 0..0,
        };
        let outside = || internal_error("a view leaves the buffer that it was cut out of");
        let bytes = bytes.get_mut(range).ok_or_else(outside)?;
        let (mut taken, issued) = self.transfer_with(&inst, tiles, bytes.len(), |_| Memory::new(&*bytes, true))?;
        taken.put(bytes);
        Ok(issued)
    }

    /// Runs an instruction with a view of a buffer of `len` bytes, and returns its writes there. `contents` is called
    /// only after the rules have accepted the instruction, and only if it reads the view.
    pub fn transfer_with(
        &mut self,
        inst: &Inst,
        tiles: &[(Role, TileId)],
        len: usize,
        contents: impl FnOnce(&Inst) -> Memory,
    ) -> Result<(BlockWrites, IssueReport<'_>), IssueError> {
        let done = self.issue_at(inst, tiles, |buffer| {
            *buffer = if reads_view(inst) { contents(inst) } else { Memory::new(vec![0; len], true) };
            if stores(inst) {
                buffer.watch();
            }
        });
        let buffer = self.memories.get_mut(BUFFER).map(std::mem::take);
        let taken = buffer.map_or(BlockWrites::default(), |mut b| b.take_written());
        done.map(|done| (taken, self.report(done)))
    }

    /// Runs an instruction with a view of lent bytes. It reads and writes them in place, and combines nothing with
    /// them ([`combines`]).
    pub fn transfer_lent(
        &mut self,
        inst: &Inst,
        tiles: &[(Role, TileId)],
        bytes: AlignedBytes,
    ) -> Result<IssueReport<'_>, IssueError> {
        let done = self.issue_at(inst, tiles, |buffer| buffer.lend(bytes));
        // The bytes go back to their owner.
        if let Some(buffer) = self.memories.get_mut(BUFFER) {
            buffer.lend(AlignedBytes::default());
        }
        done.map(|done| self.report(done))
    }

    pub(super) fn set_buffer(&mut self, buffer: Memory) {
        if let Some(memory) = self.memories.get_mut(BUFFER) {
            *memory = buffer;
        }
    }

    fn take_stored(&mut self) -> Runs {
        let buffer = self.memories.get_mut(BUFFER).map(std::mem::take);
        let taken = buffer.map_or(BlockWrites::default(), |mut b| b.take_written());
        taken.writes().map(|(start, run)| (start, run.to_vec())).collect()
    }

    /// Fills a tile's valid region from a view, for any location and layout; its padding is left alone.
    pub fn host_load(&mut self, tile: TileId, view: GlobalArg, buffer: Memory) -> Result<(), Failure> {
        self.set_buffer(buffer);
        let done = self.host(Inst::tload(Profile::Cpu), (Role::Dst, tile), view, 0);
        self.set_buffer(Memory::default());
        done.map(|_| ())
    }

    /// Stores a tile's valid region into a view of a buffer of `len` bytes, as one vector core sees it; returns
    /// whether a byte was undefined.
    pub fn host_store(&mut self, tile: TileId, view: GlobalArg, len: usize, core: u8) -> Result<(Runs, bool), Failure> {
        self.set_buffer(empty(len));
        let done = self.host(Inst::tstore(Profile::Cpu), (Role::Src, tile), view, core);
        let runs = self.take_stored();
        done.map(|effect| (runs, effect.has(Effect::STORED_UNDEFINED)))
    }

    /// A transfer with the rules of cpu, which are not checked.
    fn host(&mut self, mut inst: Inst, tile: (Role, TileId), view: GlobalArg, core: u8) -> Result<Effect, Failure> {
        self.reserve_tile(tile.1, core)?;
        let object = self.object(tile.1)?;
        let mut arg = self.arg(object, tile.0);
        arg.tile.pad = Pad::Null;
        inst.tiles.push(arg);
        let from = Global::of_arg(&view, BUFFER)?;
        inst.global = Some(view);
        let place = Place { memory: on_core(object.place.memory, core), at: object.place.at };
        let at = Places { tiles: &[place], global: Some(BUFFER), tracked: self.memories.tracked };
        let mut compiled = CompiledInst::new(&inst, at)?;
        let start = from.start(|| compiled.global_span())?;
        compiled.run(&mut self.memories, start)
    }

    /// `undefined-read` of a store, and how many bytes it is about.
    pub fn undefined_stored(&self, tile: TileId, core: u8) -> Result<(Diagnostic, u64), Failure> {
        let bytes = self.undefined_bytes(tile, core)?;
        let first = self.first_undefined(tile, core);
        let first = first.map_or(String::new(), |e| format!(", the first in element ({}, {})", e.row, e.col));
        let ty = self.object(tile)?.tile;
        let what = format!("{bytes} bytes of {ty} have no defined value and are stored as 0{first}");
        let help = "write all of the valid region before TSTORE";
        Ok((Diagnostic::warning("undefined-read", what).help(help), bytes))
    }

    /// Writes the valid region, element by element in logical order, row by row.
    pub fn write(&mut self, tile: TileId, elements: &[u8]) -> Result<(), Failure> {
        let [rows, cols] = self.object(tile)?.extent();
        self.give(tile, rows, cols, elements)
    }

    /// Copies all bytes of a tile's declared area to another tile, definedness included.
    pub fn copy(&mut self, src: TileId, dst: TileId) -> Result<(), Failure> {
        self.copy_of(src, dst)?.run(&mut self.memories, 0).map(|_| ())
    }

    /// Bytes of a tile as they lie in memory, from an offset on; undefined ones are 0.
    pub fn read_bytes(&self, tile: TileId, offset: u64, len: usize) -> Result<Vec<u8>, Failure> {
        let place = self.object(tile)?.place;
        let at = place.at + offset as usize;
        let mut out = vec![0; len];
        if let Some(memory) = self.memories.get(place.memory) {
            memory.defined().for_each_run(at, at + len, |start, n| {
                if let (Some(to), Some(from)) =
                    (out.get_mut(start - at..start - at + n), memory.bytes().get(start..start + n))
                {
                    to.copy_from_slice(from);
                }
            });
        }
        Ok(out)
    }

    /// Writes bytes of a tile as they lie in memory, from an offset on.
    pub fn write_bytes(&mut self, tile: TileId, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        let place = self.object(tile)?.place;
        let at = place.at + offset as usize;
        self.reserve(place.memory, (at + bytes.len()) as u64)?;
        if let Some(memory) = self.memories.get_mut(place.memory) {
            memory.put(at, bytes);
        }
        Ok(())
    }

    /// Makes some declared bytes of a tile undefined: those whose mask is not 0xFF.
    pub fn undefine_bytes(&mut self, tile: TileId, mask: &[u8]) -> Result<(), Failure> {
        self.reserve_tile(tile, 0)?;
        let place = self.object(tile)?.place;
        if let Some(memory) = self.memories.get_mut(place.memory) {
            memory.defined_mut().assign(place.at, mask);
        }
        Ok(())
    }
}

/// Whether the instruction reads its view: a load, or a store that combines.
fn reads_view(inst: &Inst) -> bool {
    !stores(inst) || combines(inst)
}

/// Whether a store combines its elements with the old contents.
pub fn combines(inst: &Inst) -> bool {
    inst.attrs.adds() || inst.attrs.scatter_atomic().is_some_and(|op| op != ScatterAtomic::None)
}

/// A buffer that remembers the bytes stored into it.
fn empty(len: usize) -> Memory {
    let mut empty = Memory::new(vec![0; len], true);
    empty.watch();
    empty
}

/// The bytes of a buffer that a view touches, and the view as one of these alone: a window of a large array costs what
/// the window costs. All of the buffer where the view leaves it, or is a pointer; the rules will have to say something.
fn touched(view: &GlobalArg, len: usize) -> Result<(Range<usize>, GlobalArg), Failure> {
    let mut view = view.clone();
    let known = Global::of_arg(&view, BUFFER)?;
    let offset = i128::from(known.offset);
    let (mut low, mut high) = (offset, offset + 1);
    for (dim, stride) in known.dims.iter().zip(&known.strides) {
        let far = i128::from(dim.saturating_sub(1)).saturating_mul(i128::from(*stride));
        (low, high) = (low.saturating_add(far.min(0)), high.saturating_add(far.max(0)));
    }
    // Two fp4 elements share a byte.
    low = low.saturating_sub(low.rem_euclid(2));
    let bits = i128::from(view.elem.bits());
    let first = low.saturating_mul(bits) / 8;
    let end = high.saturating_mul(bits).saturating_add(7) / 8;
    let mut range = 0..len;
    if !view.dims.is_empty() && first >= 0 && end <= len as i128 {
        view.offset = Some((offset - low) as i64);
        range = first as usize..end as usize;
    }
    view.buffer = Some(range.len() as u64 * 8 / u64::from(view.elem.bits()));
    Ok((range, view))
}
