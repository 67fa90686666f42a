//! Flags and barriers that order nothing that is not ordered anyway (sync.md 2, `barrier-useless` of all profiles).

use crate::explore::{AnalysisInput, PathChoices, walk};
use crate::trace::{Kind, Sets, Trace};
use crate::{Report, judged};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use tessera_ir::scalar::Constants;
use tessera_ir::{Func, OpId};
use tessera_isa::diag::{Diagnostic, Severity};

/// More operations than this are not tried one by one.
const MAX_TRIED: usize = 2000;

/// Warns of everything without which the same accesses are ordered, each by itself.
pub fn find(subjects: &[AnalysisInput<'_>], constants: &Constants, report: &Report) -> Vec<Diagnostic> {
    let Some(AnalysisInput { func, limits, .. }) = subjects.first().copied() else { return Vec::new() };
    let errors = |report: &Report| {
        let places = |d: &Diagnostic| (d.rule, d.span.map(|s| s.start), d.secondary.first().map(|l| l.span.start));
        report.diagnostics.iter().filter(|d| d.is_error()).map(places).collect::<BTreeSet<_>>()
    };
    let known = |op: OpId| {
        let span = Some(func.op(op).span);
        report.diagnostics.iter().any(|d| d.rule == "barrier-useless" && d.span == span)
    };
    let (mut found, mut total) = (Vec::new(), 0);
    for ops in groups(subjects, constants) {
        let [first, ..] = ops.as_slice() else { continue };
        if known(*first) {
            continue;
        }
        if total > 4 * limits.total {
            let what = "there are too many flags and barriers to try each of them";
            found.push(
                Diagnostic::new("barrier-useless", Severity::Note, what).at(func.op(*first).span, "from here on"),
            );
            break;
        }
        let less = without(func, &ops);
        let fewer: Vec<AnalysisInput<'_>> =
            subjects.iter().map(|subject| AnalysisInput { func: &less, ..*subject }).collect();
        let (tried, steps) = judged(&fewer, constants, "");
        total += steps;
        if tried.verdict != report.verdict || errors(&tried) != errors(report) {
            continue;
        }
        let what = match ops.len() {
            1 => "without this barrier the same accesses are ordered".to_string(),
            n => format!("without these {n} operations of a flag the same accesses are ordered"),
        };
        let mut warning = Diagnostic::warning("barrier-useless", what).at(func.op(*first).span, "this one");
        for op in &ops[1..] {
            warning = warning.and_at(func.op(*op).span, "and this one");
        }
        found.push(warning.help("leave it out"));
    }
    found
}

/// Barriers alone, and sets with the waits that take their tokens: each is there, or not, as a whole. The processes walk
/// the same paths.
fn groups(subjects: &[AnalysisInput<'_>], constants: &Constants) -> Vec<Vec<OpId>> {
    let mut groups: BTreeSet<BTreeSet<OpId>> = BTreeSet::new();
    let (mut choices, mut sets) = (PathChoices::default(), Sets::default());
    loop {
        sets.restart();
        let mut walked = |subject: &AnalysisInput<'_>| walk(*subject, constants, &mut choices, &mut sets);
        let Ok(traces) = subjects.iter().map(&mut walked).collect::<Result<Vec<Trace>, _>>() else { break };
        traces.iter().for_each(|trace| of_trace(trace, &mut groups));
        if groups.len() > MAX_TRIED || !choices.advance() {
            break;
        }
    }
    // Groups that share an operation are one.
    let mut joined: Vec<BTreeSet<OpId>> = Vec::new();
    for mut group in groups {
        let (with, without) = joined.into_iter().partition(|other| !other.is_disjoint(&group));
        joined = without;
        let with: Vec<BTreeSet<OpId>> = with;
        with.into_iter().for_each(|other| group.extend(other));
        joined.push(group);
    }
    joined.sort();
    joined.into_iter().take(MAX_TRIED).map(|group| group.into_iter().collect()).collect()
}

fn of_trace(trace: &Trace, groups: &mut BTreeSet<BTreeSet<OpId>>) {
    let mut flags: FxHashMap<u32, [Vec<OpId>; 2]> = FxHashMap::default();
    for event in &trace.events {
        match event.kind {
            Kind::Barrier => _ = groups.insert([event.op].into()),
            Kind::Set(flag) => flags.entry(flag).or_default()[0].push(event.op),
            Kind::Wait(flag) => flags.entry(flag).or_default()[1].push(event.op),
            _ => {}
        }
    }
    for [sets, waits] in flags.into_values() {
        groups.extend(sets.into_iter().zip(waits).map(|(set, wait)| [set, wait].into()));
    }
}

/// The function without some operations.
fn without(func: &Func, ops: &[OpId]) -> Func {
    let mut less = func.clone();
    less.blocks.iter_mut().for_each(|block| block.ops.retain(|op| !ops.contains(op)));
    less
}
