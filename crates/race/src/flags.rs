//! The rules of flags and buffers' tokens (sync.md 2), on one path of one process.

use crate::happens_before::HappensBefore;
use crate::linear_expr::Terms;
use crate::trace::{Flag, Kind, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::OpId;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

/// A flag error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A wait that no set is for.
    NoSet,
    /// A wait whose set comes only after it: the events from the wait to its set.
    Cycle(Vec<usize>),
    /// A set that no wait takes.
    Leak,
    /// A token of this set is there while an instruction uses the flag inside.
    Hidden(usize),
    /// A set while the token of an earlier one, given here, is still there.
    Overwrite(usize),
    /// A second get of a buffer, after this one.
    TakenTwice(usize),
    /// A release of what was not taken.
    NotTaken,
}

impl Fault {
    /// The rule that it breaks.
    pub fn rule(&self) -> &'static str {
        match self {
            Fault::NoSet | Fault::Cycle(_) => "flag-unmatched-wait",
            Fault::Leak => "flag-leak",
            Fault::Overwrite(_) | Fault::Hidden(_) => "flag-overwrite",
            Fault::TakenTwice(_) | Fault::NotTaken => "buf-token",
        }
    }
}

/// A fault, and the event where it shows.
#[derive(Clone, Debug)]
pub struct FlagViolation {
    pub event: usize,
    pub fault: Fault,
    /// Each flag is reported once, at its first place: which one it is.
    pub flag: Option<Flag>,
}

/// Everything that is wrong with the flags of a process, in program order. Cycles that go through other cores are theirs.
pub fn check(trace: &Trace, order: &HappensBefore, process: usize, is_stuck_between: bool) -> Vec<FlagViolation> {
    let mut found = Vec::new();
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); trace.flags.len()];
    let mut waits: Vec<Vec<usize>> = vec![Vec::new(); trace.flags.len()];
    // By flag: the sets that came before the wait for the one before, by their numbers.
    let mut again: Vec<Option<usize>> = vec![None; trace.flags.len()];
    let mut taken: FxHashMap<(u32, Option<Pipe>), usize> = FxHashMap::default();
    for (n, event) in trace.events.iter().enumerate() {
        for (from, to, id) in trace.hidden.get(&(n as u32)).copied().into_iter().flatten() {
            let flag = Flag::Pipes(*from, *to, i64::from(*id).into());
            let Some(number) = trace.flags.iter().position(|known| *known == flag) else { continue };
            if let Some(set) = sets[number].get(waits[number].len())
                && !found.iter().any(|f: &FlagViolation| f.flag.as_ref() == Some(&flag))
            {
                found.push(FlagViolation { event: n, fault: Fault::Hidden(*set), flag: Some(flag) });
            }
        }
        match event.kind {
            Kind::Set(flag) => {
                let (given, used) = (&mut sets[flag as usize], waits[flag as usize].len());
                if given.len() > used {
                    again[flag as usize].get_or_insert(given.len());
                }
                given.push(n);
            }
            Kind::Wait(flag) => waits[flag as usize].push(n),
            Kind::Take(id) => {
                if let Some(before) = taken.insert((id, event.pipe), n) {
                    found.push(FlagViolation { event: n, fault: Fault::TakenTwice(before), flag: None });
                }
            }
            Kind::Release(id) if taken.remove(&(id, event.pipe)).is_none() => {
                found.push(FlagViolation { event: n, fault: Fault::NotTaken, flag: None });
            }
            _ => {}
        }
    }
    let named: FxHashSet<u32> = trace.named.values().flatten().copied().collect();
    for (n, (sets, waits)) in sets.iter().zip(&waits).enumerate() {
        let flag = Some(trace.flags[n].clone());
        if let Some(wait) = waits.get(sets.len()) {
            found.push(FlagViolation { event: *wait, fault: Fault::NoSet, flag: flag.clone() });
        }
        // A recorded event is consumed by every operation that waits for it.
        if let Some(set) = sets.iter().skip(waits.len()).find(|set| !named.contains(&(**set as u32))) {
            found.push(FlagViolation { event: *set, fault: Fault::Leak, flag: flag.clone() });
        }
        // A set without a wait is a leak.
        if let Some(k) = again[n].filter(|k| k - 1 < waits.len()) {
            found.push(FlagViolation { event: sets[k], fault: Fault::Overwrite(sets[k - 1]), flag });
        }
    }
    if !is_stuck_between {
        found.extend(cycles(trace, order, process, &sets, &waits));
    }
    found.sort_by_key(|b| b.event);
    found
}

/// The waits that wait for themselves: their sets come later in program order, and only after them.
fn cycles(
    trace: &Trace,
    order: &HappensBefore,
    process: usize,
    sets: &[Vec<usize>],
    waits: &[Vec<usize>],
) -> Vec<FlagViolation> {
    let first = order.first[process];
    let mut found = Vec::new();
    for (n, (sets, waits)) in sets.iter().zip(waits).enumerate().filter(|_| !order.stuck.is_empty()) {
        let stuck = |(set, wait): &(&usize, &usize)| set > wait && order.stuck.together(first + **set, first + **wait);
        if let Some((set, wait)) = sets.iter().zip(waits).find(stuck) {
            let way = order.stuck.way(first + wait, first + set).into_iter();
            let way = way.filter_map(|node| node.checked_sub(first)).filter(|e| *e < trace.events.len()).collect();
            found.push(FlagViolation { event: *wait, fault: Fault::Cycle(way), flag: Some(trace.flags[n].clone()) });
        }
    }
    found
}

/// Barriers that wait for what is done anyway (a5).
pub fn useless(trace: &Trace, profile: Profile) -> SmallVec<[(OpId, Pipe); 2]> {
    let mut found: SmallVec<[(OpId, Pipe); 2]> = SmallVec::new();
    if profile != Profile::A5 {
        return found;
    }
    for event in &trace.events {
        if let (Kind::Barrier, Some(pipe)) = (event.kind, event.pipe)
            && pipe.is_in_order(profile)
            && !found.iter().any(|(op, _)| *op == event.op)
        {
            found.push((event.op, pipe));
        }
    }
    found
}

/// Two flags of the same pipes whose symbolic ids may or may not be equal.
pub fn unclear(trace: &Trace) -> Option<(Pipe, Pipe)> {
    let mut first: FxHashMap<(Pipe, Pipe), &Terms> = FxHashMap::default();
    trace.flags.iter().find_map(|flag| match flag {
        Flag::Pipes(a, b, id) => (*first.entry((*a, *b)).or_insert(&id.terms) != &id.terms).then_some((*a, *b)),
        Flag::Cores(_) | Flag::Inner(..) => None,
    })
}
