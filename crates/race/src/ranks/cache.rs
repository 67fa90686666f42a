//! What hardware's scalar cache would not see: `comm-unflushed` and `comm-stale` (isa/comm.md 5).

use super::Text;
use super::knowledge::World;
use super::report::who;
use crate::detector::shared_log::{CacheAct, SharedAccess, SignalAct};
use rustc_hash::FxHashSet;
use tessera_isa::diag::Diagnostic;

/// The bytes of a line of the cache.
const LINE: i64 = 64;
/// More pairs than this are not compared.
const MAX_PAIRS: u64 = 20_000_000;

/// The bytes that two accesses share.
fn meets(a: &SharedAccess, b: &SharedAccess) -> Option<(i64, i64)> {
    let all = a.ranges.iter().flat_map(|x| b.ranges.iter().map(move |y| (x.0.max(y.0), x.1.min(y.1))));
    all.filter(|(from, to)| from < to).min()
}

/// Whether lines that are written back hold a byte.
fn covers(act: &CacheAct, region: u32, byte: i64) -> bool {
    match &act.lines {
        None => !act.is_fence,
        Some((of, ranges)) => {
            let line = byte.div_euclid(LINE);
            *of == region
                && ranges
                    .iter()
                    .any(|(from, to)| from.div_euclid(LINE) <= line && line <= (to - 1).max(*from).div_euclid(LINE))
        }
    }
}

/// All findings.
pub fn findings(world: &World, text: &Text<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut told = FxHashSet::default();
    let mut pairs = 0u64;
    for (n, block) in world.blocks.iter().enumerate() {
        for scalar in block.log.accesses.iter().filter(|a| a.is_scalar) {
            for (m, other) in world.blocks.iter().enumerate() {
                let others = other.log.accesses.iter().filter(|a| a.region == scalar.region);
                for access in others.filter(|a| m != n || a.at.process != scalar.at.process) {
                    pairs += 1;
                    if pairs > MAX_PAIRS {
                        return found;
                    }
                    let stores = scalar.way.writes();
                    if stores == access.way.writes() || told.contains(&(scalar.at.op, access.at.op)) {
                        continue;
                    }
                    let Some((byte, _)) = meets(scalar, access) else { continue };
                    let d = match stores {
                        true => unflushed(world, text, (n, scalar), (m, access), byte),
                        false => stale(world, text, (n, scalar), (m, access), byte),
                    };
                    if let Some(d) = d {
                        told.insert((scalar.at.op, access.at.op));
                        found.push(d);
                    }
                }
            }
        }
    }
    found
}

fn span(world: &World, text: &Text<'_>, block: usize, access: &SharedAccess) -> tessera_isa::diag::Span {
    let (_, func) = text.funcs[world.blocks[block].rank as usize];
    func.op(access.at.op).span
}

/// A store that is read by another core before its line was written back and fenced.
fn unflushed(
    world: &World,
    text: &Text<'_>,
    (n, store): (usize, &SharedAccess),
    (m, read): (usize, &SharedAccess),
    byte: i64,
) -> Option<Diagnostic> {
    if !world.is_before(n, store.end?, m, &read.at) {
        return None;
    }
    let block = &world.blocks[n];
    let of_process = |act: &&CacheAct| act.at.process == store.at.process && act.at.now > store.at.now;
    let own: Vec<&CacheAct> = block.log.cache.iter().filter(of_process).collect();
    let flushed = own.iter().find(|act| covers(act, store.region, byte));
    let fenced = flushed.and_then(|flush| own.iter().find(|act| act.is_fence && act.at.now > flush.at.now));
    // The fence comes before what orders the two: what the reader knows must include it.
    if fenced.is_some_and(|fence| world.is_before(n, (fence.at.lane, fence.at.position), m, &read.at)) {
        return None;
    }
    let (a, b) = (who(world, block, &store.at), who(world, &world.blocks[m], &read.at));
    let what = (text.name)(store.region, byte as u64);
    let message =
        format!("{b} reads {what}, which {a} stored through its cache and did not write back before it notified");
    let help = "write pto.cmo.cacheinvalid of the line and pto.fence.barrier_all #pto.fence_scope<gm> behind the store";
    let found = Diagnostic::error("comm-unflushed", message).at(span(world, text, n, store), "stored here");
    Some(found.and_at(span(world, text, m, read), "read here").help(help))
}

/// A load of a line that was cached before another core wrote it.
fn stale(
    world: &World,
    text: &Text<'_>,
    (n, load): (usize, &SharedAccess),
    (m, write): (usize, &SharedAccess),
    byte: i64,
) -> Option<Diagnostic> {
    if !world.is_before(m, write.end?, n, &load.at) {
        return None;
    }
    let block = &world.blocks[n];
    let line = byte.div_euclid(LINE);
    let in_line = |access: &SharedAccess| {
        access.region == load.region
            && access.ranges.iter().any(|(from, to)| from.div_euclid(LINE) <= line && line <= (to - 1).div_euclid(LINE))
    };
    let is_own = |process: u8| process == load.at.process;
    // Whether S of this core accessed the line before the write could be seen.
    let last_wait = block.log.signals.iter().filter(|signal| {
        is_own(signal.at.process)
            && signal.at.now < load.at.now
            && matches!(signal.act, SignalAct::Await { .. } | SignalAct::Leave { .. })
    });
    let since = last_wait.map(|signal| signal.at.now).max()?;
    let mut before = block
        .log
        .accesses
        .iter()
        .filter(|access| access.is_scalar && is_own(access.at.process) && access.at.now < since && in_line(access));
    before.next()?;
    let forgets = |act: &CacheAct| {
        is_own(act.at.process) && act.at.now > since && act.at.now < load.at.now && covers(act, load.region, byte)
    };
    if block.log.cache.iter().any(forgets) {
        return None;
    }
    let (a, b) = (who(world, block, &load.at), who(world, &world.blocks[m], &write.at));
    let what = (text.name)(load.region, byte as u64);
    let message = format!("{a} loads {what} through its cache, where it had the line before {b} wrote it");
    let help = "write pto.cmo.cacheinvalid of the line, or of all, behind the wait";
    let found = Diagnostic::error("comm-stale", message).at(span(world, text, n, load), "loaded here");
    Some(found.and_at(span(world, text, m, write), "written here").help(help))
}
