//! MGATHER and MSCATTER (isa/memory.md 5): the indices are read and checked first, and the resulting moves are
//! lowered; again whenever the indices change.

use crate::lower::{CompiledInst, Effect, Places, operand};
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::RuleKind;
use tessera_isa::sem::{Table, TableSlot};
use tessera_kernels::memory::Memories;
use tessera_kernels::nest::read_bits;
use tessera_kernels::{Failure, MemoryId, Place, failure, internal_error};

/// Such an instruction.
#[derive(Clone, Debug)]
pub struct TableAccess {
    inst: Inst,
    tiles: Vec<Place>,
    global: Option<MemoryId>,
    table: Table,
    /// The indices that `lowered` was made for.
    indices: Vec<u64>,
    pub lowered: Option<CompiledInst>,
}

impl TableAccess {
    pub fn new(inst: &Inst, at: Places<'_>, table: Table) -> Self {
        let (tiles, global) = (at.tiles.to_vec(), at.global);
        TableAccess { inst: inst.clone(), tiles, global, table, indices: Vec::new(), lowered: None }
    }

    /// Reads the indices, then moves; `start` is the byte of its buffer where the view starts.
    pub fn run(&mut self, memories: &mut Memories, places: &[Place], start: usize) -> Result<Effect, Failure> {
        let indices = self.read(memories, places)?;
        let is_known = self.lowered.is_some() && indices == self.indices;
        if !is_known {
            let found = self.find(&indices)?;
            let steps = self.table.steps(&self.inst, &found);
            let at = Places { tiles: &self.tiles, global: self.global, tracked: memories.tracked };
            self.lowered = Some(CompiledInst::of_steps(&self.inst, &steps, at)?);
            self.indices = indices;
        }
        let Some(lowered) = &mut self.lowered else { return Ok(Effect::default()) };
        // Elements that are touched lie in the buffer, wherever its view starts now (`gm-bounds`).
        if let (Some((first, end)), Some(memory)) = (lowered.global_span(), self.global.and_then(|m| memories.get(m))) {
            let (start, len) = (start as i64, memory.bytes().len() as i64);
            if start + first < 0 || start + end > len {
                let size = i64::from(self.inst.global.as_ref().map_or(8, |v| v.elem.bits()) / 8).max(1);
                let outside = if start + first < 0 { start + first } else { start + end - size };
                let what = format!(
                    "an index leads to element {} of the buffer, and it has {} elements",
                    outside / size,
                    len / size
                );
                return Err(failure("gm-bounds", what, "check the view's shape, strides and offsets"));
            }
        }
        lowered.run(memories, start)
    }

    fn idx(&self) -> Option<&TileArg> {
        self.inst.tiles.get(self.table.idx)
    }

    /// The indices that count, unsigned; an undefined one is an error, even where it would be skipped.
    fn read(&self, memories: &Memories, places: &[Place]) -> Result<Vec<u64>, Failure> {
        let nowhere = || internal_error("an index tile lies nowhere");
        let tile = self.idx().ok_or_else(nowhere)?;
        let (start, memory) = memories.operand(places, operand(self.table.idx, 0)).ok_or_else(nowhere)?;
        let one = |n: u64| {
            let (r, c) = self.table.index_at(n);
            let at = start as i64 + tile.layout.offset(r, c) * 4;
            if memories.tracked && !usize::try_from(at).is_ok_and(|at| memory.defined().has_all(at, 4)) {
                let what = format!("the index idx({r}, {c}) was never written, and it decides what is moved");
                return Err(failure("undefined-use", what, "write the index tile first"));
            }
            Ok(read_bits(memory.bytes(), at, 32))
        };
        (0..self.table.count()).map(one).collect()
    }

    fn find(&self, indices: &[u64]) -> Result<Vec<TableSlot>, Failure> {
        let find = |(n, k): (u64, &u64)| {
            self.table.find(*k).ok_or_else(|| {
                let ((r, c), units) = (self.table.index_at(n), if self.table.by_row { "rows" } else { "elements" });
                let what = format!("the index idx({r}, {c}) is {k}, and the table has {} {units}", self.table.capacity);
                failure(self.rule(), what, "give indices of the table, or say what happens with others")
            })
        };
        (0..).zip(indices).map(find).collect()
    }

    fn rule(&self) -> &'static str {
        let rules = self.inst.op.info().rules.iter();
        rules.filter(|r| r.kind == RuleKind::AtRun).find(|r| r.id.ends_with("-index")).map_or("internal", |r| r.id)
    }
}
