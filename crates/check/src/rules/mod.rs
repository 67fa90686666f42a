//! The rules, one file per instruction family, and the order in which they are asked.

pub(crate) mod fixpipe;
mod footprint;
mod global;
pub(crate) mod memory;
mod overlap;
pub(crate) mod path;
pub(crate) mod tconcat;
mod textract;
mod tfillpad;
pub(crate) mod tile;
mod timg2col;
mod tinsert;
mod tinterleave;
mod tmov;
mod tpack;
mod treshape;
mod ttrans;
pub(crate) mod valid;
mod view;

use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Opcode, Role};

/// The fault, as one about the operand with this role.
pub(crate) fn about(inst: &Inst, role: Role, fault: Fault) -> Fault {
    Fault { operand: inst.tile_index(role), ..fault }
}

/// The first broken rule that is an error, in the order of ops.md 1 rule 8.
pub(crate) fn error(inst: &Inst) -> Option<Fault> {
    tile::check(inst).or_else(|| own(inst)).or_else(|| fixpipe::check(inst)).or_else(|| overlap::check(inst))
}

/// The instruction's own rules, from `-profile` to `-bounds`.
fn own(inst: &Inst) -> Option<Fault> {
    use Opcode::*;
    match inst.op {
        Tmov | TmovFp => tmov::check(inst),
        Textract | TextractFp => textract::check(inst),
        Tinsert | TinsertFp => tinsert::check(inst),
        Treshape | Bitcast => treshape::check(inst),
        Ttrans => ttrans::check(inst),
        Tconcat => tconcat::check(inst),
        Tpack => tpack::check(inst),
        Tfillpad | TfillpadInplace | TfillpadExpand => tfillpad::check(inst),
        Timg2col => timg2col::check(inst),
        Tinterleave | Tdeinterleave => tinterleave::check(inst),
        Tload => global::load(inst),
        Tstore => global::store(inst),
        Tsubview | Subset => view::check(inst),
        _ => None,
    }
}

/// Every warning of a legal instruction.
pub(crate) fn warnings(inst: &Inst) -> Vec<Fault> {
    use Opcode::*;
    let own: &[fn(&Inst) -> Option<Fault>] = match inst.op {
        Tmov | TmovFp => &[path::conversion],
        Textract | TextractFp => &[textract::divides, path::conversion],
        Tinsert | TinsertFp => &[tinsert::nd_into_boxed, path::conversion],
        Treshape | Bitcast => &[treshape::valid],
        Tfillpad | TfillpadInplace | TfillpadExpand => &[tfillpad::noop],
        _ => &[],
    };
    footprint::check(inst).into_iter().chain(own.iter().filter_map(|rule| rule(inst))).collect()
}
