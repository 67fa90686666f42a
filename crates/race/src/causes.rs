//! Findings of one cause as one report: a wait that is missing leaks its flag, overwrites it and races in several places.
//!
//! A **repair** is one order operation (or a pair) at one place. It is tried before it is proposed: the program is judged
//! with it, and a repair that makes something new wrong is none. The findings that the best repair takes away have one
//! cause. They become one finding, whose help is the repair, with the others as notes.

use crate::explore::{AnalysisInput, Core};
use crate::judged_with;
use crate::report::{Reporter, Symptom};
use smallvec::SmallVec;
use tessera_ir::scalar::Constants;
use tessera_ir::{Arg, Func, OpId};
use tessera_isa::diag::{Diagnostic, Fact};
use tessera_isa::ops::Pipe;

/// The most causes that are looked for.
const MAX_CAUSES: usize = 16;

/// The most places of one kind that are tried for a repair.
const MAX_PLACES: usize = 12;

/// Events and operations of all tries together.
const MAX_WEIGHT: u64 = 1_500_000;

/// An order operation that is tried at a place of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extra {
    pub at: OpId,
    /// Behind the operation, not before it.
    pub after: bool,
    pub core: Core,
    pub adds: Added,
}

/// The operation that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The wait for the flag that this operation sets, or the set of the flag that it waits for.
    Counterpart(OpId),
    Barrier(Option<Pipe>),
    /// A set or a wait of a flag that the program does not use.
    Flag {
        from: Pipe,
        to: Pipe,
        id: i64,
        sets: bool,
    },
}

/// Operations that are added together.
type Repair = SmallVec<[Extra; 4]>;

/// A finding, and what a repair can go by.
pub(crate) type Found = (Diagnostic, Option<Symptom>);

/// Joins the findings of each cause.
pub(crate) fn join(
    subjects: &[AnalysisInput<'_>],
    constants: &Constants,
    reporter: &Reporter<'_>,
    mut found: Vec<Found>,
    undecided: bool,
) -> Vec<Diagnostic> {
    let symptoms = |found: &[Found]| found.iter().filter_map(|f| f.1.clone()).collect::<Vec<Symptom>>();
    let mut open = symptoms(&found);
    let mut applied: Vec<Extra> = Vec::new();
    let mut weight = 0;
    for _ in 0..MAX_CAUSES {
        let mut best: Option<(Vec<Symptom>, Repair)> = None;
        for repair in candidates(reporter, subjects, &open) {
            if weight > MAX_WEIGHT {
                break;
            }
            let extra = [applied.as_slice(), repair.as_slice()].concat();
            let tried: Vec<AnalysisInput<'_>> =
                subjects.iter().map(|subject| AnalysisInput { extra: &extra, ..*subject }).collect();
            let judged = judged_with(&tried, constants, "");
            weight += judged.weight + 1000;
            let left = symptoms(&judged.found);
            let is_worse = judged.undecided.is_some() && !undecided;
            if is_worse || left.len() >= open.len() || left.iter().any(|symptom| !open.contains(symptom)) {
                continue;
            }
            if best.as_ref().is_none_or(|(before, _)| left.len() < before.len()) {
                let is_all = left.is_empty();
                best = Some((left, repair));
                if is_all {
                    break;
                }
            }
        }
        let Some((left, repair)) = best else { break };
        let gone: Vec<usize> = (0..found.len())
            .filter(|n| found[*n].1.as_ref().is_some_and(|s| open.contains(s) && !left.contains(s)))
            .collect();
        merge(reporter, &mut found, &gone, &repair);
        open = left;
        applied.extend(repair);
        if open.is_empty() {
            break;
        }
    }
    found.into_iter().map(|(diagnostic, _)| diagnostic).collect()
}

/// Makes findings one: the nearest race, else the first one, with the repair as its help.
fn merge(reporter: &Reporter<'_>, found: &mut Vec<Found>, gone: &[usize], repair: &[Extra]) {
    let is_race = |n: &usize| found[*n].1.as_ref().is_some_and(|s| s.x.is_some());
    // The pair that a race asks for itself is described there already.
    let is_own = |n: &usize| found[*n].1.as_ref().and_then(|s| reporter.pair(s)).is_some_and(|own| own[..] == *repair);
    let own = gone.iter().copied().find(is_own);
    let Some(main) = own.or(gone.iter().copied().find(is_race)).or(gone.first().copied()) else { return };
    let others = gone.iter().filter(|n| **n != main);
    let notes: Vec<String> = others
        .map(|n| {
            let (diagnostic, symptom) = &found[*n];
            let place = symptom.as_ref().map_or_else(String::new, |s| format!(" at {}", reporter.place(s.op)));
            format!("of the same cause{place}: {} ({})", diagnostic.message, diagnostic.rule)
        })
        .collect();
    let (diagnostic, _) = &mut found[main];
    diagnostic.notes.extend(notes);
    if own.is_none() {
        let (help, lines) = reporter.repair(repair);
        diagnostic.facts.retain(|(name, _)| *name != "add");
        diagnostic.facts.push(("add", Fact::List(lines)));
        diagnostic.help = Some(help);
    }
    let mut n = 0;
    found.retain(|_| {
        n += 1;
        n - 1 == main || !gone.contains(&(n - 1))
    });
}

/// The repairs that may take away these findings, the smallest and nearest first.
fn candidates(reporter: &Reporter<'_>, subjects: &[AnalysisInput<'_>], open: &[Symptom]) -> Vec<Repair> {
    let Some(func) = subjects.first().map(|subject| subject.func) else { return Vec::new() };
    let mut all: Vec<Repair> = Vec::new();
    let add = |all: &mut Vec<Repair>, at: OpId, after: bool, core: Core, adds: Added| {
        let repair: Repair = [Extra { at, after, core, adds }].into_iter().collect();
        if !all.contains(&repair) {
            all.push(repair);
        }
    };
    for symptom in open.iter().filter(|s| s.x.is_none()).take(3) {
        let Some((from, to)) = symptom.pipes else { continue };
        let pipe = if symptom.sets { to } else { from };
        let after = !symptom.sets;
        // The other end of a flag: this operation's own, or that of others between the same pipes.
        let like: SmallVec<[OpId; 4]> = reporter.like(symptom).take(4).collect();
        let mut places: Vec<(OpId, bool)> = Vec::new();
        // Where a race says that something should wait.
        let races = open.iter().filter(|s| s.x.is_some() && s.core == symptom.core);
        places.extend(races.filter(|s| symptom.sets && s.pipes.is_some_and(|(_, y)| y == pipe)).map(|s| (s.op, false)));
        places.extend(near(reporter, symptom, pipe).map(|op| (op, after)));
        // An instruction in a branch or a loop stands for the whole of it.
        places = places
            .into_iter()
            .flat_map(|(op, after)| reporter.beside(op, symptom.op).into_iter().chain([op]).map(move |op| (op, after)))
            .collect();
        places.dedup();
        // Before and after the loops around.
        let around: Vec<OpId> = reporter.loops_around(symptom.op).collect();
        places.extend(around.iter().rev().map(|op| (*op, !after)).chain(around.iter().rev().map(|op| (*op, after))));
        let last = func.block(func.body).ops.last().filter(|_| symptom.sets);
        places.extend(last.map(|op| (*op, false)));
        for of in &like {
            for (at, after) in &places {
                if is_defined(func, reporter, *of, *at) {
                    add(&mut all, *at, *after, symptom.core, Added::Counterpart(*of));
                }
            }
        }
    }
    for symptom in open.iter().filter(|s| s.x.is_some()).take(3) {
        let Some((x, y)) = symptom.pipes else { continue };
        if x == y {
            add(&mut all, symptom.op, false, symptom.core, Added::Barrier(Some(y)));
            continue;
        }
        // A barrier of all pipes orders more than the edge that is missing: what it takes away besides has another cause.
        match reporter.pair(symptom) {
            Some(pair) => all.push(pair),
            None => add(&mut all, symptom.op, false, symptom.core, Added::Barrier(None)),
        }
    }
    all
}

/// Instructions on the pipe near a set or a wait, the nearest first on each side.
fn near<'a>(reporter: &'a Reporter<'_>, symptom: &Symptom, pipe: Pipe) -> impl Iterator<Item = OpId> + use<'a> {
    let at = reporter.func.op(symptom.op).span.start;
    let start = move |op: &OpId| reporter.func.op(*op).span.start;
    let on_pipe = reporter.on_pipe(symptom.core, pipe);
    let (mut before, mut behind): (Vec<OpId>, Vec<OpId>) = on_pipe.into_iter().partition(|op| start(op) < at);
    before.sort_by_key(|op| std::cmp::Reverse(start(op)));
    behind.sort_by_key(start);
    // A wait follows its set, a set precedes its wait; round a loop it is the other way.
    let [first, second] = if symptom.sets { [behind, before] } else { [before, behind] };
    // The farthest one round the loop is the first of the body.
    let second: Vec<OpId> = if symptom.sets { second.into_iter().rev().collect() } else { second };
    first.into_iter().take(MAX_PLACES).chain(second.into_iter().take(MAX_PLACES))
}

/// Whether the operands of an operation have values at a place.
fn is_defined(func: &Func, reporter: &Reporter<'_>, of: OpId, at: OpId) -> bool {
    let values = func.op(of).operands.iter().filter_map(|o| if let Arg::Value(v) = o.arg { Some(v) } else { None });
    values.into_iter().all(|value| reporter.dominates(value, at))
}
