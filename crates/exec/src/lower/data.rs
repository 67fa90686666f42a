//! Steps that data decides: how many columns an indexed TCONCAT joins (ops.md 6), and which elements TGATHER picks
//! (irregular.md 4).

use crate::lower::{CompiledInst, Effect, Places, operand};
use tessera_isa::codec::Number;
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::Role;
use tessera_isa::sem::{Apply, Map, Side, Step};
use tessera_kernels::memory::Memories;
use tessera_kernels::nest::read_bits;
use tessera_kernels::{Failure, PackedKernel, PackedOp, Place, failure, internal_error};

/// An indexed TCONCAT, lowered again whenever its counts change.
#[derive(Clone, Debug)]
pub struct IndexedConcat {
    inst: Inst,
    tiles: Vec<Place>,
    /// The counts that `lowered` was made for, in columns.
    counts: Vec<[u64; 2]>,
    /// By row: the length that the last run wrote, in bytes of the index type.
    totals: Vec<u64>,
    pub lowered: Option<CompiledInst>,
}

impl IndexedConcat {
    pub fn new(inst: &Inst, tiles: &[Place]) -> Self {
        IndexedConcat {
            inst: inst.clone(),
            tiles: tiles.to_vec(),
            counts: Vec::new(),
            totals: Vec::new(),
            lowered: None,
        }
    }

    /// Reads the counts, then joins.
    pub fn run(&mut self, memories: &mut Memories, places: &[Place]) -> Result<Effect, Failure> {
        let counts = self.read_counts(memories, places)?;
        if self.lowered.is_none() || counts != self.counts {
            let steps = self.steps(&counts)?;
            let at = Places { tiles: &self.tiles, global: None, tracked: memories.tracked };
            self.lowered = Some(CompiledInst::of_steps(&self.inst, &steps, at)?);
            self.counts = counts;
        }
        let effect = match &mut self.lowered {
            Some(lowered) => lowered.run(memories, 0)?,
            None => Effect::default(),
        };
        self.for_each_count(places, |place, bytes| {
            memories.get_mut(place.memory).ok_or_else(no_counts)?.put(place.at, bytes);
            Ok(())
        })?;
        Ok(effect)
    }

    fn tile(&self, role: Role) -> Option<(u8, &TileArg)> {
        let index = self.inst.tile_index(role)?;
        Some((operand(index, 0), self.inst.tiles.get(index)?))
    }

    /// Rows and columns of the destination.
    fn extent(&self) -> Result<[u64; 2], Failure> {
        self.tile(Role::Dst).and_then(|(_, t)| t.known_valid()).ok_or_else(no_counts)
    }

    fn read_counts(&mut self, memories: &Memories, places: &[Place]) -> Result<Vec<[u64; 2]>, Failure> {
        let [rows, cols] = self.extent()?;
        let (_, counts) = self.tile(Role::Idx0).ok_or_else(no_counts)?;
        let size = counts.tile.elem.bytes_of(1);
        let (mut all, mut totals) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let bytes = [
                self.read_count(memories, places, Role::Idx0, row)?,
                self.read_count(memories, places, Role::Idx1, row)?,
            ];
            if let Some(fault) = tessera_check::check_concat_counts(&self.inst, row, bytes) {
                return Err(fault.into());
            }
            totals.push((bytes[0] + bytes[1]).min(i128::from(cols * size)) as u64);
            all.push(bytes.map(|b| b as u64 / size));
        }
        self.totals = totals;
        Ok(all)
    }

    /// One count, in bytes of the index type.
    fn read_count(&self, memories: &Memories, places: &[Place], role: Role, row: u64) -> Result<i128, Failure> {
        let (number, tile) = self.tile(role).ok_or_else(no_counts)?;
        let elem = tile.tile.elem;
        let size = elem.bytes_of(1) as usize;
        let (start, memory) = memories.operand(places, number).ok_or_else(no_counts)?;
        let at = start as i64 + tile.layout.offset(row, 0) * size as i64;
        if memories.tracked && !memory.defined().has_all(at as usize, size) {
            let what = format!("the count {role}({row}, 0) was never written, and it decides how much is joined");
            return Err(failure("undefined-use", what, "write the index tile first"));
        }
        match elem.decode(read_bits(memory.bytes(), at, elem.bits())) {
            Number::Int(v) => Ok(v),
            Number::Float(_) => Err(internal_error("the counts of an indexed TCONCAT are floats")),
        }
    }

    /// The moves; neighbouring rows with equal counts go together.
    fn steps(&self, counts: &[[u64; 2]]) -> Result<Vec<Step>, Failure> {
        let [_, cols] = self.extent()?;
        let mut steps = Vec::new();
        let mut row = 0;
        for rows in counts.chunk_by(|a, b| a == b) {
            let Some([n0, n1]) = rows.first().copied() else { continue };
            let n0 = n0.min(cols);
            let n1 = n1.min(cols - n0);
            for (role, n, at) in [(Role::Src0, n0, 0), (Role::Src1, n1, n0)] {
                let (Some(src), Some(dst)) = (self.inst.tile_index(role), self.inst.tile_index(Role::Dst)) else {
                    continue;
                };
                let extent = [rows.len() as u64, n];
                let (src, dst) = ((Side::Tile(src), Map::at(row, 0)), (Side::Tile(dst), Map::at(row, at)));
                steps.push(Step::Apply(Apply::copy(extent, src, dst)));
            }
            row += rows.len() as u64;
        }
        Ok(steps)
    }

    /// Calls `f(place, bytes)` for every count that the last run wrote, where the instruction has a tile for them.
    pub fn for_each_count(
        &self,
        places: &[Place],
        mut f: impl FnMut(Place, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some((number, tile)) = self.tile(Role::DstIdx) else { return Ok(()) };
        let size = tile.tile.elem.bytes_of(1) as usize;
        let place = places.get(usize::from(number)).ok_or_else(no_counts)?;
        for (row, total) in self.totals.iter().enumerate() {
            let at = place.at + tile.layout.offset(row as u64, 0) as usize * size;
            f(Place { at, ..*place }, &total.to_le_bytes()[..size])?;
        }
        Ok(())
    }
}

fn no_counts() -> Failure {
    internal_error("an indexed TCONCAT has no counts")
}

/// Checks that the indices of a gather are written, and in the tile that they point into. Nothing has moved yet.
pub fn check_indices(staged: &PackedKernel, memories: &Memories, places: &[Place]) -> Result<(), Failure> {
    let (PackedOp::Gather { columns }, [src, idx]) = (staged.what, staged.inputs.as_slice()) else {
        return Ok(());
    };
    if staged.is_in_range(memories, places) {
        return Ok(());
    }
    let outside = |_| internal_error("the indices of a gather are beyond their memory");
    let indices = staged.indices(memories, places).map_err(outside)?;
    let offsets = if memories.tracked { idx.offsets(true) } else { Vec::new() };
    let place = memories.operand(places, idx.operand);
    let row = idx.columns.max(1);
    let at = |k: usize| format!("idx({}, {})", k as u64 / row, k as u64 % row);
    for (k, bits) in indices.into_iter().enumerate() {
        if let (Some(offset), Some((start, memory))) = (offsets.get(k), place) {
            let size = idx.elem.bits() as usize / 8;
            let first = usize::try_from(start as i64 + offset);
            if !first.is_ok_and(|first| memory.defined().has_all(first, size)) {
                let what = format!("the index {} was never written, and it decides what is picked", at(k));
                return Err(failure("undefined-use", what, "write the index tile first"));
            }
        }
        let index = match idx.elem.decode(bits) {
            Number::Int(v) => v,
            Number::Float(_) => -1,
        };
        if !(0..src.len as i128).contains(&index) {
            let what = format!(
                "the index {} is {index}, and src has elements 0 to {} ({} rows of {columns})",
                at(k),
                src.len.saturating_sub(1),
                src.len as u64 / columns.max(1)
            );
            return Err(failure("tgather-index", what, "give indices of the declared area of src"));
        }
    }
    Ok(())
}
