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
mod serial;
mod unroll;

pub(crate) use serial::has_work;
pub use unroll::{Unrolled, insert_unrolled};

use crate::explore::{AnalysisInput, Core, PathChoices, walk};
use crate::races::Conflict;
use crate::trace::{Sets, Trace};
use crate::{Limits, Mode, Options, Undecided, Verdict, calls, check, dependence, processes};
use clocks::{Actions, Path};
use dependences::Dep;
use edges::Edge;
use ids::Ids;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use tessera_ir::scalar::Constants;
use tessera_ir::{Func, Module, OpId, Runs, ValueId};
use tessera_isa::diag::{Diagnostic, Severity, Span};
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
    /// Why it is not the flag or barrier that the dependence would have if more were known.
    pub fallback: Option<Fallback>,
}

/// Why an order operation is stronger than the program may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// Whether the two touch the same bytes is not known, so they are taken to.
    MayMeet,
    /// All ids of the pair of pipes are in use.
    NoId,
    /// No place for a set and a wait where every path passes both equally often.
    NoPlace,
    /// The order of the program could not be analysed: every instruction waits for everything before it.
    Serial,
    /// A call of a function that uses pipes: everything before it is done before it, and it before everything later.
    Call,
}

impl Fallback {
    /// The reason, as a clause.
    pub fn why(self) -> &'static str {
        match self {
            Fallback::MayMeet => "whether the two touch the same bytes is not known, so they are taken to",
            Fallback::NoId => "all event ids of the two pipes are in use here",
            Fallback::NoPlace => "no place for a flag is passed equally often by every path",
            Fallback::Serial => "the loops and branches around it could not be analysed",
            Fallback::Call => "the called function orders its own instructions only",
        }
    }
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
    /// What is wrong between the cores of a block, where nothing is inserted.
    pub between: Option<Box<Diagnostic>>,
    /// Why the order could not be analysed, where barriers stand before every instruction for that reason.
    pub serial: Option<Box<Diagnostic>>,
}

impl SyncPlan {
    /// The order operations that are stronger than the program may need: their purposes, one for each edge.
    pub fn fallbacks(&self) -> impl Iterator<Item = (&FlagUse, Fallback)> {
        let mut seen = FxHashSet::default();
        let all = self.table.iter().filter_map(|served| Some((served, served.fallback?)));
        all.filter(move |(served, _)| seen.insert(served.edge))
    }
}

/// The dependence that an edge was made for.
#[derive(Clone, Copy, Debug)]
struct Reason {
    first: (OpId, Role),
    second: (OpId, Role),
    conflict: Conflict,
    /// The path, and the tick there, where it was not ordered.
    seen: (usize, usize),
    /// Whether it is not known that the two touch the same bytes.
    may_meet: bool,
    /// Whether no flag could order them.
    no_place: bool,
}

/// Inserts the order operations that an inlined function needs whose tiles are placed, and judges the result. No program is
/// refused: accesses that may touch the same bytes are ordered, and where the analysis ends, barriers stand.
pub fn insert(module: &mut Module, func: &Func, profile: Profile, placement: &Placement, limits: Limits) -> SyncPlan {
    match least(module, func, profile, placement, limits) {
        Ok(synced) => synced,
        Err(why) => SyncPlan { serial: Some(why), ..serial::insert(module, func, profile, placement) },
    }
}

/// Inserts a barrier of all pipes before every instruction that another one may precede.
pub fn insert_barriers(module: &mut Module, func: &Func, profile: Profile, placement: &Placement) -> SyncPlan {
    serial::insert(module, func, profile, placement)
}

/// Inserts what the paths of the program need, and nothing else.
fn least(
    module: &mut Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
    limits: Limits,
) -> Result<SyncPlan, Box<Diagnostic>> {
    let is_mixed = func.runs() == Runs::Mixed;
    let is_called = calls::is_called(module, func);
    let (mode, disjoint) = (Some(Mode::Manual), !is_called);
    let options = Options { mode, disjoint, is_called, limits, ..Options::default() };
    // Only what is wrong between cores is handed on, with the places that it names.
    let text = if is_mixed { module.lines.0.clone() } else { "".into() };
    for brief in [true, false] {
        let (paths, meets_late) = paths(module, func, profile, placement, (limits, brief))?;
        let synced = SyncPlan { meets_late, ..insert_for(module, func, profile, placement, paths) };
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
                let between = first.map(|found| Box::new(found.note(why)));
                return Ok(SyncPlan { between, ..synced });
            }
            Verdict::Races => break,
        }
    }
    let what = "the loops and branches have too many combinations to find the flags for all of them";
    Err(unknown(what, Some(func.span)))
}

fn unknown(why: &str, span: Option<Span>) -> Box<Diagnostic> {
    let what = format!("which flags the program needs is not known: {why}");
    let found = Diagnostic::new("undecided", Severity::Note, what).help("make the value a constant");
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
fn insert_for(module: &mut Module, func: &Func, profile: Profile, placement: &Placement, paths: Vec<Path>) -> SyncPlan {
    let mut calls: Vec<OpId> = calls::working(module, func, profile).into_iter().collect();
    calls.sort_unstable();
    let points = &placement.points;
    let hidden: ids::Hidden =
        paths.iter().flat_map(|path| path.trace.hidden.values().copied().flatten().copied()).collect();
    let (edges, reasons, actions) = Default::default();
    let mut work = Work { func, points, paths, edges, reasons, actions };
    work.add();
    work.reduce(false);
    let (mut short_of_ids, mut joined) = (false, false);
    let (edges, given) = loop {
        let edges = work.edges.iter().zip(0..);
        let edges: Vec<(Edge, usize)> = edges.filter_map(|(edge, n)| Some(((*edge)?, n))).collect();
        match ids::assign(points, &edges, &hidden) {
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
    let calls = calls.into_iter().map(|call| (call, emit.call(call))).collect();
    let (synced, made) = emit.done();
    let order = text_order(&synced);
    let mut table = serial::around_calls(calls, edges.len());
    for (edge, (ops, reason)) in made.iter().zip(&reasons).enumerate() {
        let of = |(op, role): (OpId, Role)| func.op(op).operand(role).and_then(|o| o.arg.value());
        let tile = of(reason.second).or_else(|| of(reason.first)).filter(|_| reason.second.1 != Role::Global);
        let (first, second, conflict) = (reason.first.0, reason.second.0, reason.conflict);
        let later = edges[edge].0.distance();
        let fallback = fallback(&edges[edge].0, reason);
        let served = |&(op, place): &_| FlagUse { op, edge, place, first, second, later, conflict, tile, fallback };
        table.extend(ops.iter().map(served));
    }
    table.sort_by_key(|served: &FlagUse| order.get(&served.op).copied());
    let several = several(points, edges.iter().map(|(edge, _)| edge));
    SyncPlan { func: synced, table, short_of_ids, several, meets_late: false, between: None, serial: None }
}

/// Why an edge is not the one that its dependence would have if more were known.
fn fallback(edge: &Edge, reason: &Reason) -> Option<Fallback> {
    match edge {
        _ if reason.may_meet => Some(Fallback::MayMeet),
        Edge::Barrier { pipe: None, .. } if reason.no_place => Some(Fallback::NoPlace),
        Edge::Barrier { pipe: None, .. } => Some(Fallback::NoId),
        _ => None,
    }
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
    let is_called = calls::is_called(module, func);
    let (automatic, ticks, disjoint) = (true, true, !is_called);
    let all = if func.runs() == Runs::Mixed { processes(func) } else { &[Core::Unsplit] };
    let subject = |core: &Core| {
        let whole = AnalysisInput::new(module, func, profile, placement, *core);
        AnalysisInput { automatic, ticks, disjoint, is_called, brief, limits, ..whole }
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
                    let no_place = matches!(found, Edge::Barrier { pipe: None, .. });
                    reasons.push(Reason { no_place, ..reason(trace, dep, y, (number, tick)) });
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
    let (first, second) = ((op(dep.x), a.role), (op(y), b.role));
    Reason { first, second, conflict, seen, may_meet: dep.may_meet, no_place: false }
}
