//! Legality of PTO programs on each profile.
//!
//! # The contract of the rules
//!
//! [`check`] takes one instruction about to be issued, an [`Inst`], and gives the rules that it breaks:
//!
//! - at most one **error**: the first broken rule in the order of ops.md 1 rule 8 (`tile-*`, `-profile`, `-loc`,
//!   `-layout`, `-dtype`/`-size`, `-shape`/`-valid`/`-rows`/`-cols`, `-align`, `-bounds`, `acc-*`/`quant-*`/`fp-*`,
//!   `overlap`);
//! - without an error, every **warning** (`footprint`, `textract-divides`, `value-conversion`, …).
//!
//! A rule that needs a value which the [`Inst`] does not know is silent, so the verifier, which knows what it can prove,
//! and the simulator, which knows everything, call the same function and report the same ids.
//!
//! Checks beyond a single instruction have functions of their own: tile types ([`check_tile`], [`check_conv`]),
//! addresses ([`check_address`]), run-time valid extents ([`check_valid`]), and rules about data that only a run has
//! ([`check_quant_params`], [`check_concat_counts`]).
//!
//! # Whole programs
//!
//! [`check_module`] and [`check_program`] walk the IR, find what is known at each instruction, and report with places.
//! [`portability`] says which instruction is legal on which profile, [`instructions`] gives them with what is known.
//!
//! Not here: `capacity` (what is alive together is known where tiles are placed), `undefined-*` and `not-executable`
//! (found when the program runs), and everything about text.

pub mod examples;
mod program;
mod rules;

pub use program::{Portability, PortabilityRow, check_module, check_program, instructions, portability};
pub use rules::fifo;
pub use rules::fixpipe::check_quant_params;
pub use rules::memory::check_address;
pub use rules::tconcat::check_concat_counts;
pub use rules::tile::{check_conv, check_tile};
pub use rules::valid::{check_valid, unset as valid_unset};

use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Sig;

/// The rules that an instruction breaks: one error, or any number of warnings.
///
/// ```
/// use tessera_check::check;
/// use tessera_isa::elem::Elem;
/// use tessera_isa::inst::{Inst, TileArg};
/// use tessera_isa::ops::{Form, Opcode, Role};
/// use tessera_isa::profile::Profile;
/// use tessera_isa::tile::{Loc, TileType};
///
/// let tile = |loc| TileType::new(loc, Elem::F16, 16, 32).resolve(Profile::A2a3);
/// let tmov = Opcode::parse("tmov").unwrap();
/// let mut inst = Inst::new(tmov, Form::Plain, Profile::A2a3);
/// inst.tiles.push(TileArg::of_type(Role::Src, tile(Loc::Vec)));
/// inst.tiles.push(TileArg::of_type(Role::Dst, tile(Loc::Mat)));
/// assert_eq!(check(&inst)[0].rule, "tmov-loc");
/// ```
pub fn check(inst: &Inst) -> Vec<Fault> {
    rules::all(inst)
}

/// The one answer to an instruction: the signature that takes it, or the rule that refuses it.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// Legal, by this line of the legality table.
    Legal(&'static Sig),
    Rejected(&'static str),
}

/// Decides one instruction (ops.md 1 rule 1); `None` for the instructions that take no tiles.
pub fn decide(inst: &Inst) -> Option<Decision> {
    match check(inst).into_iter().find(|f| f.is_error()) {
        Some(fault) => Some(Decision::Rejected(fault.rule)),
        None => rules::signature::of(inst).map(Decision::Legal),
    }
}
