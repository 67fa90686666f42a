//! Placement that never makes a race (sync.md 3): in a manual process two tiles share bytes only where every access of one
//! is ordered with every access of the other. Where there are too many paths to tell, liveness decides.

use crate::channels::Channels;
use crate::explore::{AnalysisInput, Core, PathChoices, walk};
use crate::happens_before::HappensBefore;
use crate::trace::{Root, Sets};
use crate::{Mode, process_mode, processes};
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::scalar::Constants;
use tessera_ir::{Func, Module, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;
use tessera_plan::{Placement, Sharing, plan_above};

/// More pairs of accesses than this are not compared: the tiles stay apart.
const MAX_PAIRS: usize = 20_000_000;

/// Places the automatic tiles of an inlined function whose pipes are ordered by the program.
pub fn place(
    module: &Module,
    func: &Func,
    profile: Profile,
    keep: &[ValueId],
    order: Option<Mode>,
) -> Result<Placement, Box<Diagnostic>> {
    place_above(module, func, profile, keep, order, &[0; 9])
}

/// The same, above the bytes that functions which this one calls use ([`tessera_plan::plan_above`]).
pub fn place_above(
    module: &Module,
    func: &Func,
    profile: Profile,
    keep: &[ValueId],
    order: Option<Mode>,
    floor: &[u64; 9],
) -> Result<Placement, Box<Diagnostic>> {
    let all = processes(func);
    let mode = |core: &Core| order.unwrap_or_else(|| process_mode(module, func, all, *core));
    if all.iter().all(|core| mode(core) == Mode::Auto) {
        return plan_above(module, func, profile, keep, Sharing::ByLife, floor);
    }
    // If there is room for all tiles, none share bytes.
    plan_above(module, func, profile, keep, Sharing::Never, floor).or_else(|_| {
        let apart: Option<Vec<DependenceDistance>> =
            all.iter().map(|core| apart(module, func, profile, (*core, mode(core)))).collect();
        let is_apart = |a: ValueId, b: ValueId, apart: &DependenceDistance| apart.contains(&(a.min(b), a.max(b)));
        let may_share =
            |a: ValueId, b: ValueId| apart.as_ref().is_none_or(|all| !all.iter().any(|apart| is_apart(a, b, apart)));
        plan_above(module, func, profile, keep, Sharing::Where(&may_share), floor)
    })
}

/// Pairs of tiles with two accesses that nothing orders, on some path of a process.
type DependenceDistance = FxHashSet<(ValueId, ValueId)>;

/// The dependences of a process, or none if the analysis is inconclusive.
fn apart(module: &Module, func: &Func, profile: Profile, (core, mode): (Core, Mode)) -> Option<DependenceDistance> {
    let placement = Placement::unplaced(func);
    let automatic = mode == Mode::Auto;
    let subject = AnalysisInput { automatic, ..AnalysisInput::new(module, func, profile, &placement, core) };
    let constants = Constants::new(module, func);
    let mut choices = PathChoices::default();
    let mut apart = FxHashSet::default();
    let (mut pairs, mut sets) = (0, Sets::default());
    loop {
        sets.restart();
        let trace = walk(subject, &constants, &mut choices, &mut sets).ok()?;
        let order = HappensBefore::new(&[&trace], profile, &Channels::default());
        let mut tiles: FxHashMap<ValueId, Vec<usize>> = FxHashMap::default();
        for event in 0..trace.events.len() {
            for access in trace.accesses_of(event) {
                if let Root::Tile(value) = sets.get(access.set).root {
                    tiles.entry(value).or_default().push(event);
                }
            }
        }
        let tiles: Vec<(ValueId, Vec<usize>)> = tiles.into_iter().collect();
        for (n, (a, of_a)) in tiles.iter().enumerate() {
            for (b, of_b) in &tiles[n + 1..] {
                // Lives that overlap in the program never share; the turns of a loop are lives of their own.
                let is_ordered = |x: usize, y: usize| order.precedes(x, y) || order.precedes(y, x);
                pairs += of_a.len() * of_b.len();
                if pairs > MAX_PAIRS {
                    return None;
                }
                if !of_a.iter().all(|x| of_b.iter().all(|y| is_ordered(*x, *y))) {
                    apart.insert((*a.min(b), *a.max(b)));
                }
            }
        }
        if !choices.advance() {
            return Some(apart);
        }
    }
}
