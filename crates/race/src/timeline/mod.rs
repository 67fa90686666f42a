//! When everything happens in one run of a kernel (sync.md 8): each pipe does its instructions one after the other, and
//! what waits for something starts when that is done. Cycles are estimates (isa/cost.md).

mod bank_conflicts;
mod block;
mod critical_path;
mod memory_use;
mod result;
mod schedule;

pub use bank_conflicts::{BankConflict, Side};
pub use critical_path::Step;
pub use memory_use::Memory;
pub use result::{Arrow, Process, Slice, SliceKind, Timeline, Use, WaitReason};

use crate::explore::{AnalysisInput, Core, PathChoices, walk};
use crate::trace::Sets;
use crate::{Limits, Mode, Undecided, process_mode, processes};
use block::Block;
use tessera_ir::scalar::Constants;
use tessera_ir::{Fifos, Func, Module, Runs, ValueId};
use tessera_isa::cost::Costs;
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;
use tessera_plan::Placement;

/// The configuration of a run.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    pub costs: &'a Costs,
    /// The numbers of arguments.
    pub values: &'a [(ValueId, i64)],
    pub blocks: u32,
    /// The origin of the order, if it overrides the program's; used for kernels on several cores.
    pub mode: Option<Mode>,
    /// Whether only dependences order the pipes.
    pub automatic: bool,
    pub limits: Limits,
}

/// Why there is no timeline.
#[derive(Clone, Debug)]
pub struct Unknown {
    pub diagnostic: Box<Diagnostic>,
    /// Arguments whose numbers would help.
    pub missing: Vec<ValueId>,
}

/// When everything happens in a run of an inlined function whose tiles are placed.
pub fn timeline(
    module: &Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
    run: &Run<'_>,
) -> Result<Timeline, Unknown> {
    let constants = Constants::new(module, func);
    let (cores, fifos) = (processes(func), Fifos::new(module, func));
    let is_mixed = func.runs() == Runs::Mixed;
    let mode = |core: &Core| run.mode.unwrap_or_else(|| process_mode(module, func, cores, *core));
    let automatic: Vec<bool> = cores.iter().map(|core| run.automatic || is_mixed && mode(core) == Mode::Auto).collect();
    let mut line = Timeline::default();
    for block in 0..run.blocks {
        let (mut choices, mut sets) = (PathChoices::default(), Sets::default());
        let mut traces = Vec::new();
        for core in cores {
            let subject = AnalysisInput {
                values: run.values,
                limits: run.limits,
                block: Some([block.into(), run.blocks.into()]),
                costs: Some(run.costs),
                ..AnalysisInput::new(module, func, profile, placement, *core)
            };
            let trace = walk(subject, &constants, &mut choices, &mut sets);
            traces.push(trace.map_err(|why| not_known(why, &choices))?);
        }
        let spent = traces.iter().flat_map(|t| t.costs.values());
        line.unsized_work += spent.filter(|s| s.cycles.is_none() && !s.sized).count() as u64;
        let block_of = Block { func, profile, traces: &traces, sets: &sets, fifos: &fifos, automatic: &automatic };
        block_of.add(block, cores, &mut line)?;
    }
    line.total = line.processes.iter().flat_map(|p| &p.slices).map(|s| s.end).max().unwrap_or(0);
    Ok(line)
}

fn not_known(Undecided { span, why }: Undecided, choices: &PathChoices) -> Unknown {
    let error = Diagnostic::error("undecided", why);
    let error = match span {
        Some(span) => error.at(span, "here"),
        None => error,
    };
    let help = "write a constant, or take the part that is asked about by itself";
    Unknown { diagnostic: Box::new(error.help(help)), missing: choices.missing.clone() }
}
