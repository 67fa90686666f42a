//! Indices and scratch in global memory (isa/today.md 6.7): indices are read before the instruction is issued, and count
//! as scalar accesses.

use super::code::InstTemplate;
use super::step::Exec;
use tessera_exec::engine::Global;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;
use tessera_isa::sem::table_of;
use tessera_kernels::memory::ArrayAccess;
use tessera_kernels::nest::read_bits;
use tessera_kernels::{Failure, failure};

/// The elements of a view, row by row, counted from the start of its buffer.
fn elements(view: &Global) -> Vec<i64> {
    let mut all = vec![view.offset];
    for (dim, stride) in view.dims.iter().zip(&view.strides) {
        all = all
            .iter()
            .flat_map(|at| (0..*dim as i64).map(move |n| at.saturating_add(n.saturating_mul(*stride))))
            .collect();
    }
    all
}

/// Views of more elements are refused.
const MOST: u64 = 1 << 24;

impl Exec<'_> {
    fn view_of(&self, site: &InstTemplate, wanted: Role) -> Option<Global> {
        site.views.iter().find(|(role, _)| *role == wanted).map(|(_, slot)| self.global(*slot).clone())
    }

    /// Checks that a view lies in its buffer, and returns its elements.
    pub(super) fn inside(&self, view: &Global, name: &str) -> Result<Vec<i64>, Failure> {
        let count = view.dims.iter().fold(1u64, |n, dim| n.saturating_mul(*dim));
        if count > MOST {
            let what = format!("the view of {name} has {count} elements, and at most {MOST} are read");
            return Err(failure("memory-limit", what, "gather in several pieces"));
        }
        let (all, room) = (elements(view), view.elements(&self.engine.memories));
        match all.iter().find(|at| u64::try_from(**at).map_or(true, |at| at >= room)) {
            Some(at) => {
                let what = format!("element {at} of the buffer of {name} is accessed, and it has {room} elements");
                Err(failure("gm-bounds", what, "check the view's shape, strides and offsets"))
            }
            None => Ok(all),
        }
    }

    /// The indices of an instruction, row by row; an undefined one is an error.
    pub fn read_indices(&mut self, site: &InstTemplate) -> Result<Vec<u64>, Failure> {
        let Some(view) = self.view_of(site, Role::IdxView) else { return Ok(Vec::new()) };
        let (all, size, tracked) =
            (self.inside(&view, "idx")?, view.elem.bytes_of(1) as usize, self.engine.memories.tracked);
        let mut indices = Vec::with_capacity(all.len());
        for (n, at) in all.into_iter().enumerate() {
            let byte = at as usize * size;
            if let Some(memory) = self.engine.memories.get_mut(view.buffer) {
                memory.touch([(byte, size)].into_iter(), ArrayAccess::READS)?;
                if tracked && !memory.defined().has_all(byte, size) {
                    let what = format!("index {n} of idx was never written, and it decides what is moved");
                    return Err(failure("undefined-use", what, "write the indices first"));
                }
                indices.push(read_bits(memory.bytes(), byte as i64, view.elem.bits()));
            }
            self.observe_scalar(site.at, view.buffer, byte, size, false);
        }
        Ok(indices)
    }

    /// Checks that the indices lead into the table.
    pub fn look_up(&self, inst: &Inst) -> Result<(), Failure> {
        let (Some(indices), Some(table)) = (&inst.indices, table_of(inst)) else { return Ok(()) };
        let Some((n, k)) = indices.iter().enumerate().find(|(_, k)| table.find(**k).is_none()) else { return Ok(()) };
        let units = if table.by_row { "rows" } else { "elements" };
        let what = format!("index {n} of idx is {k}, and the table has {} {units}", table.capacity);
        let rules = inst.op.info().rules.iter();
        let rule = rules.map(|r| r.id).find(|id| id.ends_with("-index")).unwrap_or("internal");
        Err(failure(rule, what, "give indices of the table, or say what happens with others"))
    }

    /// Scratch in global memory holds nothing afterwards.
    pub fn undefine_scratch(&mut self, site: &InstTemplate) -> Result<(), Failure> {
        let Some(view) = self.view_of(site, Role::ScratchView) else { return Ok(()) };
        let size = view.elem.bytes_of(1) as usize;
        for at in self.inside(&view, "scratch")? {
            let byte = at as usize * size;
            if let Some(memory) = self.engine.memories.get_mut(view.buffer) {
                memory.touch([(byte, size)].into_iter(), ArrayAccess::WRITES)?;
                memory.defined_mut().remove(byte, size);
                memory.note_written(byte, size);
            }
            self.observe_scalar(site.at, view.buffer, byte, size, true);
        }
        Ok(())
    }
}
