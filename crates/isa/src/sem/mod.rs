//! What an instruction does.

mod effects;
pub use effects::{Effects, Touch, effects};

use crate::inst::Inst;
use crate::maps::Step;
use crate::ops::Role;

/// The meaning of an instruction.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Sem {
    /// Elements move; index maps say which.
    Moves(fn(&Inst) -> Option<Vec<Step>>),
    /// Elements move, and in some form data decides where.
    Data(fn(&Inst) -> Option<Vec<Step>>),
    Map {
        domain: Role,
        args: &'static [(Role, At)],
        func: Func,
    },
    Fold {
        src: Role,
        each: Axis,
        func: Func,
    },
    Contract {
        a: Role,
        b: Role,
        plus: Option<(Role, At)>,
    },
    /// A tile gets another storage; no byte moves.
    Binds,
    /// A valid region changes.
    Resizes,
    /// A value is made: a tile, a view, a pointer.
    Value,
    /// A number of the running block is made.
    Block,
    /// An element of global memory becomes a scalar.
    Loads,
    /// A scalar becomes an element of global memory.
    Stores,
    /// Later instructions read what it leaves.
    Configures,
    /// Instructions before it finish before those after it.
    Orders,
    /// A tile is shown.
    Prints,
    /// Nothing is said: the instruction cannot run.
    Nothing,
}

impl Sem {
    /// Does the instruction write elements, of tiles or of global memory?
    pub const fn computes(&self) -> bool {
        matches!(self, Sem::Moves(_) | Sem::Map { .. } | Sem::Fold { .. } | Sem::Contract { .. } | Sem::Data(_))
    }
}

pub fn mov(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn extract(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn insert(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn transpose(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn concat(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn pack(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn fillpad(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn fillpad_inplace(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn interleave(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn deinterleave(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn reshape(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn img2col(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn load(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
pub fn store(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}

pub fn gather(inst: &Inst) -> Option<Vec<Step>> {
    crate::maps::steps(inst)
}
#[derive(Clone, Copy, Debug)]
pub enum At {
    Same,
}
#[derive(Clone, Copy, Debug)]
pub enum Axis {
    Row,
}
#[derive(Clone, Copy, Debug)]
pub enum Func {
    Add,
}
