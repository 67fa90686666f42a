//! `plan --sync`: the flags and barriers that an automatic program needs, and no others (sync.md 7).
//!
//! The program is walked on a few paths; what depends on what is ordered by edges that are added from the first
//! instruction to the last, each where those before it do not order it yet; then every edge is tried once, from the
//! last to the first, and goes if nothing needs it. Ids are given at the end.

mod clocks;
pub(crate) mod dependences;
mod edges;
mod ids;
mod rewrite;
mod unroll;

pub use unroll::{Unrolled, insert_unrolled};

use crate::explore::{AnalysisInput, Core, PathChoices, walk};
use crate::races::Conflict;
use crate::trace::{Sets, Trace};
use crate::{Limits, Mode, Options, Undecided, Verdict, check, dependence, processes};
use clocks::{Actions, Path};
use dependences::Dep;
use edges::Edge;
use ids::Ids;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use tessera_ir::scalar::Constants;
use tessera_ir::{Func, Module, OpId, Runs, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::Role;
use tessera_isa::profile::Profile;
use tessera_plan::{Placement, Points};

/// Paths that are looked at first; what others need is found when the result is judged.
const FEW: usize = 64;
/// Paths that are looked at then, and events of all of them together.
const MANY: (usize, usize) = (4096, 2_000_000);

/// An order operation and what it is for.
#[derive(Clone, Debug)]
pub struct FlagUse {
    /// The operation.
    pub op: OpId,
    /// The edge that it belongs to: a barrier, or sets and waits that only make sense together.
    pub edge: usize,
    pub place: Place,
    /// The instruction that comes first, and the one that waits for it.
    pub first: OpId,
    pub second: OpId,
    /// The distance in iterations.
    pub later: u64,
    pub conflict: Conflict,
    /// The tile that both touch; none in global memory.
    pub tile: Option<ValueId>,
}

/// The position of an inserted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Before(OpId),
    After(OpId),
    /// Before a loop: a set for one of its first iterations.
    Primes(OpId),
    /// After a loop: a wait for one of its last iterations.
    Drains(OpId),
}

/// A program with flags.
#[derive(Clone, Debug)]
pub struct SyncPlan {
    pub func: Func,
    /// The purpose of each inserted operation, in the order in which dependences were found.
    pub table: Vec<FlagUse>,
    /// Whether ids ran out, so that flags were joined or became barriers.
    pub short_of_ids: bool,
    /// Loops that flags go round which have several ids, and the most of them.
    pub several: Vec<(OpId, u64)>,
    /// Whether accesses of global memory share bytes only after more iterations than are explored otherwise.
    pub meets_late: bool,
}

/// The dependence that an edge was made for.
#[derive(Clone, Copy, Debug)]
struct Reason {
    first: (OpId, Role),
    second: (OpId, Role),
    conflict: Conflict,
    /// The path, and the tick there, where it was not ordered.
    seen: (usize, usize),
}

/// Inserts the order operations that an inlined function needs whose tiles are placed, and judges the result.
pub fn insert(
    module: &mut Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
    limits: Limits,
) -> Result<SyncPlan, Box<Diagnostic>> {
    let is_mixed = func.runs() == Runs::Mixed;
    let options = Options { mode: Some(Mode::Manual), limits, ..Options::default() };
    // Only what is wrong between cores is handed on, with the places that it names.
    let text = if is_mixed { module.lines.0.clone() } else { "".into() };
    for brief in [true, false] {
        let (paths, meets_late) = paths(module, func, profile, placement, (limits, brief))?;
        let synced = SyncPlan { meets_late, ..insert_for(module, func, placement, paths) };
        // The tiles stay where they are, whatever placement would make of a program with flags.
        let report = check(module, &synced.func, profile, placement, &text, &options);
        match report.verdict {
            // Tokens through other cores may order events that a core's own clocks do not.
            Verdict::RaceFree if is_mixed => return Ok(fewest(module, synced, profile, placement, &options)),
            Verdict::RaceFree => return Ok(synced),
            Verdict::Undecided => {
                let why = report.diagnostics.into_iter().next_back();
                return Err(why.map_or_else(|| unknown("", None), |found| unknown(&found.message, found.span)));
            }
            Verdict::Races if brief => {}
            Verdict::Races if is_mixed => {
                let first = report.diagnostics.into_iter().find(Diagnostic::is_error);
                let why = "between cores nothing is inserted: give and take tokens there, or tiles";
                return Err(first.map_or_else(|| unknown("", None), |found| Box::new(found.note(why))));
            }
            Verdict::Races => break,
        }
    }
    let what = "the loops and branches have too many combinations to find the flags for all of them";
    Err(unknown(what, Some(func.span)))
}

fn unknown(why: &str, span: Option<Span>) -> Box<Diagnostic> {
    let what = format!("which flags the program needs is not known: {why}");
    let found = Diagnostic::error("undecided", what).help("write the flags by hand, or make the value a constant");
    Box::new(match span {
        Some(span) => found.at(span, "here"),
        None => found,
    })
}

/// Without every edge that nothing needs when all cores are looked at together, from the last to the first.
fn fewest(
    module: &Module,
    mut synced: SyncPlan,
    profile: Profile,
    placement: &Placement,
    options: &Options,
) -> SyncPlan {
    let edges = synced.table.iter().map(|served| served.edge + 1).max().unwrap_or(0);
    for edge in (0..edges).rev() {
        let out: FxHashSet<OpId> = synced.table.iter().filter(|s| s.edge == edge).map(|s| s.op).collect();
        let mut func = synced.func.clone();
        func.blocks.iter_mut().for_each(|block| block.ops.retain(|op| !out.contains(op)));
        if check(module, &func, profile, placement, "", options).verdict == Verdict::RaceFree {
            synced.func = func;
            synced.table.retain(|served| served.edge != edge);
        }
    }
    synced
}

/// Inserts what these paths need.
fn insert_for(module: &mut Module, func: &Func, placement: &Placement, paths: Vec<Path>) -> SyncPlan {
    let points = &placement.points;
    let (edges, reasons, actions) = Default::default();
    let mut work = Work { func, points, paths, edges, reasons, actions };
    work.add();
    work.reduce(false);
    let (mut short_of_ids, mut joined) = (false, false);
    let (edges, given) = loop {
        let edges = work.edges.iter().zip(0..);
        let edges: Vec<(Edge, usize)> = edges.filter_map(|(edge, n)| Some(((*edge)?, n))).collect();
        match ids::assign(points, &edges) {
            // A joined flag may order more than was required.
            Ids::Given(_) if joined => {
                joined = false;
                work.add();
                work.reduce(true);
            }
            Ids::Given(given) => break (edges, given),
            Ids::Fewer(left) => {
                (short_of_ids, joined) = (true, true);
                work.replace(&left);
            }
        }
    };
    let reasons: Vec<Reason> = edges.iter().map(|(_, n)| work.reasons[*n]).collect();
    let mut emit = rewrite::Emit::new(module, func, points, edges.len());
    for (n, (edge, _)) in edges.iter().enumerate() {
        emit.edge(n, edge, given[n]);
    }
    let (synced, made) = emit.done();
    let order = text_order(&synced);
    let mut table = Vec::new();
    for (edge, (ops, reason)) in made.iter().zip(&reasons).enumerate() {
        let of = |(op, role): (OpId, Role)| func.op(op).operand(role).and_then(|o| o.arg.value());
        let tile = of(reason.second).or_else(|| of(reason.first)).filter(|_| reason.second.1 != Role::Global);
        let (first, second, conflict) = (reason.first.0, reason.second.0, reason.conflict);
        let later = edges[edge].0.distance();
        let served = |&(op, place): &_| FlagUse { op, edge, place, first, second, later, conflict, tile };
        table.extend(ops.iter().map(served));
    }
    table.sort_by_key(|served: &FlagUse| order.get(&served.op).copied());
    let several = several(points, edges.iter().map(|(edge, _)| edge));
    SyncPlan { func: synced, table, short_of_ids, several, meets_late: false }
}

/// The positions of operations in the text.
fn text_order(func: &Func) -> FxHashMap<OpId, usize> {
    let mut order = FxHashMap::default();
    func.walk(&mut |id, _, _| _ = order.insert(id, order.len()));
    order
}

/// The loops that flags go round which have several ids, and the most of them.
fn several<'a>(points: &Points, edges: impl Iterator<Item = &'a Edge>) -> Vec<(OpId, u64)> {
    let mut most: BTreeMap<OpId, u64> = BTreeMap::new();
    for edge in edges {
        if let Edge::Pair { after, before, round: Some((id, distance)), .. } = edge {
            let known = most.entry(*id).or_default();
            *known = (*known).max(edges::ids(points, *after, *before, *distance));
        }
    }
    most.into_iter().filter(|(_, ids)| *ids > 1).collect()
}

/// The explored paths, and whether loops must run long before accesses of global memory share bytes.
fn paths(
    module: &Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
    (limits, brief): (Limits, bool),
) -> Result<(Vec<Path>, bool), Box<Diagnostic>> {
    let (automatic, ticks) = (true, true);
    let all = if func.runs() == Runs::Mixed { processes(func) } else { &[Core::Unsplit] };
    let subject = |core: &Core| {
        let whole = AnalysisInput::new(module, func, profile, placement, *core);
        AnalysisInput { automatic, ticks, brief, limits, ..whole }
    };
    let (most, events) = if brief { (FEW, usize::MAX) } else { MANY };
    let mut total = 0;
    let constants = Constants::new(module, func);
    let mut choices = PathChoices::default();
    let (mut paths, mut sets) = (Vec::new(), Sets::default());
    loop {
        sets.restart();
        let mut walked = |core: &Core| walk(subject(core), &constants, &mut choices, &mut sets);
        let traces = all.iter().map(&mut walked).collect::<Result<Vec<Trace>, _>>();
        let traces = traces.map_err(|Undecided { span, why }| unknown(&why, span))?;
        // Conflicts that occur too late to be explored here are found when the result is checked.
        _ = dependence::ask(&traces.iter().collect::<Vec<_>>(), &sets, None, &mut choices);
        let tokens = if traces.len() > 1 { dependences::tokens(&traces, &sets) } else { vec![Vec::new()] };
        for (trace, tokens) in traces.into_iter().zip(tokens) {
            total += trace.events.len();
            let mut deps = dependences::deps(&trace, &sets);
            for (deps, more) in deps.iter_mut().zip(tokens) {
                deps.extend(more);
                deps.sort_by_key(|dep| std::cmp::Reverse(dep.x));
            }
            paths.push(Path::new(trace, deps, profile));
        }
        if paths.len() >= most || total > events || !choices.advance() {
            return Ok((paths, choices.go_far()));
        }
    }
}

struct Work<'a> {
    func: &'a Func,
    points: &'a Points,
    paths: Vec<Path>,
    edges: Vec<Option<Edge>>,
    reasons: Vec<Reason>,
    actions: Actions,
}

impl Work<'_> {
    /// Adds edges until every dependence on every path is ordered.
    fn add(&mut self) {
        let (func, points) = (self.func, self.points);
        loop {
            let before = self.edges.len();
            for (number, path) in self.paths.iter_mut().enumerate() {
                let reasons = &mut self.reasons;
                let known: FxHashSet<Edge> = self.edges.iter().flatten().copied().collect();
                let mut made = FxHashSet::default();
                let mut missing = |trace: &Trace, dep: &Dep, (y, tick): (u32, usize)| {
                    let found = edges::edge(func, points, trace, dep.x as usize, y as usize)?;
                    // An edge that is there and does not order it would not the second time.
                    let found = match known.contains(&found) || !made.insert(found) {
                        true => Edge::Barrier { core: found.core(), pipe: None, before: trace.events[y as usize].op },
                        false => found,
                    };
                    reasons.push(reason(trace, dep, y, (number, tick)));
                    Some(found)
                };
                path.complete(&mut self.edges, &mut self.actions, &mut missing);
            }
            if self.edges.len() == before {
                return;
            }
        }
    }

    /// Tries every edge once, from the last to the first, and takes out what nothing needs. On a single path without
    /// loops each edge was made because those before it do not order its dependence, and none after it can, unless it
    /// moved.
    fn reduce(&mut self, all: bool) {
        let mut complex = all || self.paths.len() > 1 || self.paths.iter().any(|path| path.has_loops());
        for n in (0..self.edges.len()).rev() {
            let Some(edge) = self.edges[n] else { continue };
            complex |= !edge.is_simple(self.func);
            if !complex {
                continue;
            }
            // Most are needed for what they were made for.
            let (path, tick) = self.reasons[n].seen;
            if self.paths[path].shows_need(&self.edges, &self.actions, n, tick) {
                continue;
            }
            if self.paths.iter().all(|path| path.is_complete_without(&self.edges, &self.actions, n)) {
                self.paths.iter_mut().for_each(|path| path.remove(&self.edges, &self.actions, n));
                self.edges[n] = None;
            }
        }
    }

    /// Other edges in place of those that are there.
    fn replace(&mut self, left: &[(Edge, usize)]) {
        self.edges = left.iter().map(|(edge, _)| Some(*edge)).collect();
        self.reasons = left.iter().map(|(_, n)| self.reasons[*n]).collect();
        self.actions = Actions::default();
        left.iter().enumerate().for_each(|(n, (edge, _))| self.actions.add(n, edge));
    }
}

fn reason(trace: &Trace, dep: &Dep, y: u32, seen: (usize, usize)) -> Reason {
    let [a, b] = dep.accesses;
    let conflict = match (a.writes, b.writes) {
        (true, true) => Conflict::Waw,
        (true, false) => Conflict::Raw,
        _ => Conflict::War,
    };
    let op = |n: u32| trace.events[n as usize].op;
    Reason { first: (op(dep.x), a.role), second: (op(y), b.role), conflict, seen }
}
