//! Races between ranks, and signals whose value depends on time, in sentences (isa/comm.md 6).

use super::knowledge::World;
use super::{BlockLog, Text};
use crate::detector::AccessKind;
use crate::detector::shared_log::{SharedAccess, SignalAct, Stamp};
use crate::races::Conflict;
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::OpId;
use tessera_isa::diag::{Diagnostic, Severity};

/// More pairs of accesses than this are not compared.
const MAX_PAIRS: u64 = 100_000_000;
/// More findings than this are not told.
const MAX_FOUND: usize = 64;

/// One access with its block.
struct Item<'a> {
    block: usize,
    access: &'a SharedAccess,
    /// Whether it is an operation on a signal, and whether it sets.
    signal: Option<bool>,
}

/// An operation as messages name it.
fn name<'a>(text: &Text<'a>, block: &BlockLog, at: &Stamp) -> &'a str {
    text.funcs.get(block.rank as usize).map_or("an operation", |(_, func)| func.op(at.op).kind.name())
}

/// `V0 of rank 1`, with its block where there are several.
pub fn who(world: &World, block: &BlockLog, at: &Stamp) -> String {
    let core = block.cores.get(usize::from(at.process)).copied().unwrap_or("V0");
    let several = world.blocks.iter().filter(|other| other.rank == block.rank).count() > 1;
    let which = if several { format!(" block {}", block.block) } else { String::new() };
    let core = if block.cores.len() > 1 { format!("{core} of ") } else { String::new() };
    format!("{core}rank {}{which}", block.rank)
}

/// The ranges of an access that meet another one's.
fn meet(a: &[(i64, i64)], b: &[(i64, i64)]) -> Option<(i64, i64)> {
    let (mut i, mut j) = (0, 0);
    let mut all: Option<(i64, i64)> = None;
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        if from < to {
            all = Some(all.map_or((from, to), |(first, _)| (first, to)));
        }
        if x.1 <= y.1 { i += 1 } else { j += 1 }
    }
    all
}

/// Whether one of two accesses is done before the other one starts.
fn is_ordered(world: &World, x: &Item<'_>, y: &Item<'_>) -> bool {
    let before = |a: &Item<'_>, b: &Item<'_>| {
        a.access.end.is_some_and(|end| world.is_before(a.block, end, b.block, &b.access.at))
    };
    before(x, y) || before(y, x)
}

/// All races.
pub fn races(world: &World, text: &Text<'_>) -> Vec<Diagnostic> {
    // Signal operations are accesses of their words.
    let mut signals: Vec<(usize, SharedAccess, bool)> = Vec::new();
    for (n, block) in world.blocks.iter().enumerate() {
        for signal in &block.log.signals {
            let (way, sets) = match signal.act {
                SignalAct::Notify { sets, .. } => (AccessKind::Writes, sets),
                SignalAct::Await { .. } => (AccessKind::Reads, false),
                _ => continue,
            };
            for word in &signal.words {
                let from = word.byte as i64;
                let access = SharedAccess {
                    at: signal.at.clone(),
                    end: Some((signal.at.lane, signal.at.position)),
                    pipe: tessera_isa::ops::Pipe::S,
                    way,
                    region: word.region,
                    ranges: [(from, from + 4)].into(),
                    is_scalar: false,
                    copy: None,
                };
                signals.push((n, access, sets));
            }
        }
    }
    let mut by_region: FxHashMap<u32, Vec<Item<'_>>> = FxHashMap::default();
    for (n, block) in world.blocks.iter().enumerate() {
        for access in &block.log.accesses {
            by_region.entry(access.region).or_default().push(Item { block: n, access, signal: None });
        }
    }
    for (block, access, sets) in &signals {
        by_region.entry(access.region).or_default().push(Item { block: *block, access, signal: Some(*sets) });
    }
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut told: FxHashSet<(OpId, OpId, bool)> = FxHashSet::default();
    let mut pairs = 0;
    let mut regions: Vec<u32> = by_region.keys().copied().collect();
    regions.sort_unstable();
    for region in regions {
        let Some(items) = by_region.get_mut(&region) else { continue };
        let first = |item: &Item<'_>| item.access.ranges.first().map_or(0, |range| range.0);
        let last = |item: &Item<'_>| item.access.ranges.last().map_or(0, |range| range.1);
        items.sort_by_key(|item| (first(item), item.access.at.now));
        // Items that may still meet those that start later.
        let mut open: Vec<usize> = Vec::new();
        for n in 0..items.len() {
            let y = &items[n];
            open.retain(|m| last(&items[*m]) > first(y));
            for m in &open {
                pairs += 1;
                if pairs > MAX_PAIRS || found.len() >= MAX_FOUND {
                    return too_many(found, pairs);
                }
                let x = &items[*m];
                if let Some(d) = race(world, text, x, y, &mut told) {
                    found.push(d);
                }
            }
            open.push(n);
        }
    }
    found
}

fn too_many(mut found: Vec<Diagnostic>, pairs: u64) -> Vec<Diagnostic> {
    let what = match pairs > MAX_PAIRS {
        true => format!("more than {MAX_PAIRS} pairs of accesses of shared memory are not compared"),
        false => format!("more than {MAX_FOUND} races between ranks are not told"),
    };
    found.push(Diagnostic::new("undecided", Severity::Warning, what));
    found
}

/// The race of two accesses, if they have one that was not told.
fn race(
    world: &World,
    text: &Text<'_>,
    x: &Item<'_>,
    y: &Item<'_>,
    told: &mut FxHashSet<(OpId, OpId, bool)>,
) -> Option<Diagnostic> {
    let is_same = x.block == y.block && x.access.at.process == y.access.at.process;
    let is_copy = x.access.copy.is_some() || y.access.copy.is_some();
    let of_one = x.access.copy.is_some() && x.access.copy == y.access.copy && x.access.at.now == y.access.at.now;
    if is_same && (!is_copy || of_one) {
        return None;
    }
    // Both vector cores of a block do the same with the same bytes (sync.md 4).
    let (p, q) = (x.access, y.access);
    let is_alike = p.at.op == q.at.op && p.at.turns == q.at.turns && p.ranges == q.ranges;
    if x.block == y.block && is_alike && p.way == AccessKind::Writes && p.way == q.way {
        return None;
    }
    let conflict = match (x.signal, y.signal) {
        // Two waits, or two notifications that add: nothing depends on their order.
        (Some(a), Some(b)) => {
            let both = x.access.way.writes() && y.access.way.writes();
            (both && (a || b)).then_some(Conflict::Waw)?
        }
        _ => x.access.way.conflict(y.access.way)?,
    };
    let is_signal = x.signal.is_some() || y.signal.is_some();
    let (a, b) = (x.access.at.op, y.access.at.op);
    let key = (a.min(b), a.max(b), is_signal);
    if told.contains(&key) {
        return None;
    }
    let bytes = meet(&x.access.ranges, &y.access.ranges)?;
    if is_ordered(world, x, y) {
        return None;
    }
    told.insert(key);
    Some(sentence(world, text, (x, y), conflict, bytes))
}

fn sentence(
    world: &World,
    text: &Text<'_>,
    (x, y): (&Item<'_>, &Item<'_>),
    conflict: Conflict,
    (from, to): (i64, i64),
) -> Diagnostic {
    // The one that only reads is named first; of two writes the later one.
    let x_reads = !x.access.way.writes();
    let later = x.access.at.now > y.access.at.now;
    let (first, second) = if x_reads || later && y.access.way.writes() { (x, y) } else { (y, x) };
    let place = |item: &Item<'_>| {
        let block = &world.blocks[item.block];
        let (module, func) = text.funcs[block.rank as usize];
        let span = func.op(item.access.at.op).span;
        let rounds = item.access.at.turns.rounds();
        let turn = match rounds {
            [] => String::new(),
            all => format!(" (iteration {})", all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        };
        (name(text, block, &item.access.at), who(world, block, &item.access.at), span, module.lines.place(span), turn)
    };
    let (a, b) = (place(first), place(second));
    let does = |item: &Item<'_>| match (item.signal, item.access.way) {
        (Some(true), _) => "sets",
        (Some(false), AccessKind::Writes) => "notifies",
        (Some(_), _) => "waits for",
        (None, AccessKind::Reads) => "reads",
        (None, AccessKind::Writes) => "writes",
        (None, AccessKind::Adds) => "adds to",
    };
    let may = |item: &Item<'_>| match (item.signal, item.access.way) {
        (Some(true), _) => "set",
        (Some(false), AccessKind::Writes) => "notify",
        (Some(_), _) => "wait for",
        (None, AccessKind::Reads) => "read",
        (None, AccessKind::Writes) => "write",
        (None, AccessKind::Adds) => "add to",
    };
    let what = (text.name)(first.access.region, from as u64);
    let is_signal = first.signal.is_some() || second.signal.is_some();
    let rule = match conflict {
        _ if is_signal => "race-signal",
        Conflict::Waw => "race-waw",
        _ => "race-raw",
    };
    let copy = if second.access.copy.is_some() { ", which runs on," } else { "" };
    let message = format!(
        "{} on {} {} {what} while {}{copy} on {} may still {} it ({} bytes); nothing orders the two",
        a.0,
        a.1,
        does(first),
        b.0,
        b.1,
        may(second),
        to - from
    );
    let help = match (is_signal, first.access.copy.or(second.access.copy)) {
        (true, _) => "order the two by another signal, or add to the word where it is set",
        (_, Some(_)) => "wait for the copy's event before",
        _ => "notify a signal after the one and wait for it before the other, often enough that the wait needs it",
    };
    let label = |item: &Item<'_>, at: &(&str, String, tessera_isa::diag::Span, String, String)| {
        format!("{} on {}, {}{}", item.access.pipe, at.1, does(item), at.4)
    };
    let _ = (&a.3, &b.3);
    Diagnostic::error(rule, message).at(a.2, label(first, &a)).and_at(b.2, label(second, &b)).help(help)
}
