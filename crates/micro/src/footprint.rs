//! The bytes that an instruction touches, as far as its numbers are known.

use crate::call::Inst;
use crate::check::Known;
use crate::run::Specials;
use crate::table::Sem;
use smallvec::SmallVec;

pub use crate::memory::Run;

/// The memory that an operand's bytes are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The memory that the pointer points to.
    Own,
    /// The scales of the operand at the pointer: bytes count from a sixteenth of its address.
    Scales,
    /// UB of this vector core.
    Core(u8),
}

/// Bytes that an instruction outside of vecscopes touches, from a pointer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub operand: usize,
    pub whose: Whose,
    pub at: i64,
    pub len: u64,
    pub writes: bool,
}

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

/// The bytes that an instruction outside of vecscopes touches, in at most `most` ranges; none where numbers are not known.
/// Loops in registers count as never set.
pub fn outside(inst: &Inst<'_>, known: &[Known], most: usize) -> Option<Vec<Touch>> {
    let runs = match inst.call.row.sem {
        Sem::Cube(_) => return crate::cube::footprint(inst, known, most),
        Sem::Sort(_) => crate::sort::footprint(inst, known)?,
        _ => crate::dma::footprint(inst, known, Some(&Specials::default()), most)?,
    };
    let core = crate::dma::other_core(inst, known);
    let touch = |(operand, at, len, writes): (usize, i64, u64, bool)| {
        let whose = core.filter(|_| writes).map_or(Whose::Own, Whose::Core);
        Touch { operand, whose, at, len, writes }
    };
    Some(runs.into_iter().map(touch).collect())
}

/// Whether an instruction touches bytes outside of vecscopes.
pub fn is_outside(inst: &Inst<'_>) -> bool {
    inst.call.is_on_pipe()
}
