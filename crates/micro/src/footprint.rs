//! The bytes that an instruction touches, as far as its numbers are known.

use crate::call::Inst;
use crate::check::Known;
use crate::run::Specials;
use smallvec::SmallVec;

pub use crate::memory::Run;

/// Bytes that a transfer or a sort touches: the operand, the first byte, how many, and whether they are written.
pub type OperandRun = (usize, i64, u64, bool);

/// The bytes that a load or store surely touches; none where masks, indices or addresses are not known.
pub fn sure(inst: &Inst<'_>, known: &[Known]) -> Option<SmallVec<[Run; 8]>> {
    crate::memory::footprint(inst, known)
}

/// The bytes that it touches with any mask.
pub fn reach(inst: &Inst<'_>, known: &[Known]) -> Option<SmallVec<[Run; 8]>> {
    crate::memory::reach(inst, known)
}

/// The address that a load or store starts at.
pub fn address(inst: &Inst<'_>, known: &[Known]) -> Option<i64> {
    crate::memory::address(inst, known)
}

/// The rows of a transfer, if there are at most `most`. Loops in registers count as never set.
pub fn of_transfer(inst: &Inst<'_>, known: &[Known], most: usize) -> Option<Vec<OperandRun>> {
    crate::dma::footprint(inst, known, Some(&Specials::default()), most)
}

/// The bytes that a sort reads and writes.
pub fn of_sort(inst: &Inst<'_>, known: &[Known]) -> Option<Vec<OperandRun>> {
    crate::sort::footprint(inst, known)
}
