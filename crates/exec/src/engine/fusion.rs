//! Chains: instructions that go through the data together, a share of the rows at a time.
//!
//! One after the other, instructions on tiles that do not fit the first-level cache send every tile to the second
//! level and back. A chain is cut into *strips*, and each strip goes through all of its instructions before the next
//! one begins. That is the same work in another order. It is legal if in two different strips no two instructions
//! touch the same byte, one of them writing. Elementwise instructions that follow each other become acts on registers
//! ([`FusedLoop`]): a result that only the next instruction reads is not written at all. A result that only other
//! instructions of the chain read is in scratch memory, a strip of it, so that it stays in the first-level cache. A
//! copied operand is read from the copy's source.

mod copy_forwarding;
mod deferred;

use crate::lower::CompiledInst;
use copy_forwarding::CopyForwarding;
pub use deferred::DeferredQueue;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_kernels::memory::{AlignedBytes, Memories};
use tessera_kernels::{Failure, FusedLoop, FusedOp, FusedStage, Place, run_stages};

/// The bytes that a strip touches: it stays in the first-level cache with room for other data.
const STRIP: u64 = 24 << 10;

/// The same where rows are folded: folds begin and end with a wait for what was written, so that there are fewer of them.
const FOLDED_STRIP: u64 = 36 << 10;

/// With less than this, the calls of the kernels take most of the time.
const LEAST: u64 = 4 << 10;

/// Groups of instructions, one after the other.
#[derive(Debug)]
struct FusionPlan {
    groups: Vec<Group>,
    /// By instruction that is left, the one of those that wait.
    numbers: Vec<usize>,
    /// The bytes of scratch memory that a group needs at most.
    scratch: usize,
}

/// Instructions that go through the data together, in `strips` strips.
#[derive(Debug)]
struct Group {
    /// The first of its instructions, in the chain's order.
    first: usize,
    strips: u64,
    /// The first parts of the instructions.
    links: Vec<FusedOp>,
    /// By first instruction: several that become acts, or one that does not.
    runs: Vec<(usize, Option<FusedLoop>)>,
    stages: Vec<FusedStage>,
    /// Operands that are read in a view that they were copied from: the instruction, the operand, the number of the instruction
    /// that has the view, and how much further on it is than that.
    moved: Vec<(usize, u8, usize, i64)>,
}

/// The bytes of an operand in the first strip, and how far on it is in the next one.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    memory: usize,
    first: i64,
    end: i64,
    step: i64,
    is_written: bool,
}

impl Bytes {
    /// The bytes of all strips.
    fn all(&self, strips: i64) -> Bytes {
        let end = self.end.saturating_add(self.step.saturating_mul(strips - 1));
        Bytes { end, step: 0, ..*self }
    }

    /// Whether no two different strips of these touch the same byte.
    fn is_apart(&self, other: &Bytes, strips: i64) -> bool {
        let together = self.end.max(other.end) - self.first.min(other.first);
        !self.all(strips).meets(&other.all(strips)) || (self.step == other.step && together <= self.step)
    }

    /// Whether the two overlap.
    fn meets(&self, other: &Bytes) -> bool {
        self.memory == other.memory && other.first < self.end && self.first < other.end
    }

    fn is_within(&self, other: &Bytes) -> bool {
        self.memory == other.memory && other.first <= self.first && self.end <= other.end
    }
}

/// The bytes that an instruction touches, those that it writes first.
fn bytes(link: &FusedOp) -> Option<SmallVec<[Bytes; 4]>> {
    let side = |n: usize| {
        let side = link.part.sides.get(n)?;
        let place = link.places.get(usize::from(side.operand))?;
        let at = i64::try_from(place.at).ok()?;
        let (first, end) = (at.checked_add(side.span.0)?, at.checked_add(side.span.1)?);
        let is_forward = side.step >= 0;
        let memory = place.memory.index();
        is_forward.then_some(Bytes { memory, first, end, step: side.step, is_written: n == 0 })
    };
    (0..link.part.sides.len()).map(side).collect()
}

impl Group {
    fn alone(first: usize, link: FusedOp) -> Group {
        let moved = Vec::new();
        Group { first, strips: 1, links: vec![link], runs: vec![(0, None)], stages: vec![FusedStage::One(0)], moved }
    }

    /// Whole instructions as one group, if they can be.
    fn new(first: usize, links: &[FusedOp]) -> Option<Group> {
        let made = |strips: u64, links: Vec<FusedOp>, runs| Group {
            first,
            strips,
            links,
            runs,
            stages: Vec::new(),
            moved: Vec::new(),
        };
        // Copies alone gain nothing by strips, and in registers none are needed.
        if links.iter().all(|link| link.part.is_copy()) {
            return Some(made(1, links.to_vec(), (0..links.len()).map(|n| (n, None)).collect()));
        }
        // Products and copies that change the places of elements go through all of their rows at once.
        if links.iter().any(|link| link.part.is_turned() || link.part.product().is_some()) {
            return None;
        }
        if let Some(run) = FusedLoop::new(links, 1) {
            return Some(made(1, links.to_vec(), vec![(0, Some(run))]));
        }
        let rounds = links.iter().map(|link| link.part.rounds).reduce(gcd)?;
        let touched = distinct(links)?;
        let most = links.iter().map(|link| link.part.rounds / link.part.least).min()?.max(1);
        let mut shares = (1..=rounds.min(most)).filter(|n| rounds.is_multiple_of(*n));
        let strip = if links.iter().any(|link| link.part.is_fold()) { FOLDED_STRIP } else { STRIP };
        let strips = shares.clone().find(|n| touched / n <= strip).or_else(|| shares.next_back())?;
        let part = |link: &FusedOp| Some(FusedOp::new(link.part.first_of(strips)?, link.places.clone()));
        let links: Vec<FusedOp> = links.iter().map(part).collect::<Option<_>>()?;
        let is_worth_it = strips == 1 || touched / strips >= LEAST;
        (is_worth_it && are_apart(&links, strips)?).then(|| made(strips, links, Vec::new()))
    }

    /// Finds the instructions that become acts together.
    fn find_runs(&mut self) {
        if !self.runs.is_empty() {
            return;
        }
        let strips = i64::try_from(self.strips).unwrap_or(i64::MAX);
        let mut n = 0;
        while n < self.links.len() {
            let run = self.links.get(n..).and_then(|links| FusedLoop::longest(links, strips));
            let len = run.as_ref().map_or(1, FusedLoop::len);
            self.runs.push((n, run));
            n += len;
        }
    }

    /// The run that an instruction is in, and its place there.
    fn member(&self, n: usize) -> Option<(&FusedLoop, usize)> {
        let (first, run) = self.runs.iter().rev().find(|(first, _)| *first <= n)?;
        Some((run.as_ref()?, n - first))
    }

    /// The readers from memory of an instruction's result, and whether the result is overwritten, or changed in part.
    fn readers(&self, n: usize, all: &[SmallVec<[Bytes; 4]>], strips: i64) -> Readers {
        let mut found = Readers::default();
        let Some(to) = all.get(n).and_then(|sides| sides.first()).map(|to| to.all(strips)) else { return found };
        for (later, sides) in all.iter().enumerate().skip(n + 1) {
            let run = self.member(later);
            for (k, _) in sides.iter().enumerate().filter(|(k, side)| *k > 0 && side.all(strips).meets(&to)) {
                if !run.is_some_and(|(run, at)| run.is_own(at, k)) {
                    found.list.push((later, k));
                }
            }
            if run.zip(self.member(n)).is_some_and(|((run, at), own)| run.overwrites(at, own)) {
                found.is_overwritten = true;
                break;
            }
            found.is_changed |= sides.first().is_some_and(|side| side.all(strips).meets(&to));
        }
        found
    }

    /// Decides which results are written, and to which bytes. `read` are the bytes that later groups read; `is_dead`
    /// says whether an instruction's result is dead after the chain. Returns the bytes of scratch memory that it
    /// takes.
    fn finish(&mut self, read: &[Bytes], is_dead: impl Fn(usize) -> bool) -> Option<usize> {
        self.find_runs();
        let strips = i64::try_from(self.strips).ok()?;
        let all: Vec<SmallVec<[Bytes; 4]>> = self.links.iter().map(bytes).collect::<Option<_>>()?;
        let mut slots: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        let mut homes: Vec<(usize, usize, usize)> = Vec::new();
        let mut scratch = 0usize;
        let mut is_put = vec![true; self.links.len()];
        for (n, put) in is_put.iter_mut().enumerate() {
            let Readers { list, is_overwritten, is_changed } = self.readers(n, &all, strips);
            let to = *all.get(n)?.first()?;
            let is_read = read.iter().any(|bytes| bytes.meets(&to.all(strips)));
            if !is_overwritten && (is_read || !is_dead(self.first + n)) {
                continue;
            }
            let run = self.member(n);
            if list.is_empty() {
                *put = !(run.is_some() || self.links.get(n)?.part.is_copy());
                continue;
            }
            // Some rows of it at a time, where all that read it do so in the same run.
            let is_near = |(later, side): &(usize, usize)| match (run, self.member(*later)) {
                (Some((run, at)), Some((other, its))) => std::ptr::eq(run, other) && run.rereads(its, *side, at),
                _ => false,
            };
            let touched = match run {
                Some((run, at)) if list.iter().all(is_near) => {
                    slots.extend(list.iter().copied().chain([(n, 0)]).map(|side| (side, scratch)));
                    run.slot_bytes(at)
                }
                _ => {
                    // A strip of it, where they read nothing else.
                    let near = |(later, side): &(usize, usize)| {
                        let bytes = all.get(*later)?.get(*side)?;
                        let is_inside = bytes.is_within(&to) && bytes.step == to.step;
                        is_inside.then(|| {
                            Some((*later, *side, scratch.checked_add_signed((bytes.first - to.first) as isize)?))
                        })?
                    };
                    let found = list.iter().map(near).collect::<Option<Vec<_>>>();
                    let is_whole = self.links.get(n)?.part.is_solid(0) && !is_changed && self.strips > 1;
                    let Some(found) = found.filter(|_| is_whole) else { continue };
                    homes.extend(found.into_iter().chain([(n, 0, scratch)]));
                    usize::try_from(to.end - to.first).ok()?
                }
            };
            scratch = scratch.checked_add(touched)?.next_multiple_of(64);
        }
        for (n, side, home) in homes {
            let link = self.links.get_mut(n)?;
            link.homes.resize(link.part.sides.len(), None);
            *link.homes.get_mut(side)? = Some(home);
        }
        let stage = |(first, run): &(usize, Option<FusedLoop>)| match run {
            Some(run) => Some(FusedStage::Fused(run.fused(*first, |n| is_put.get(n) != Some(&false), &slots))),
            None => (is_put.get(*first) != Some(&false)).then_some(FusedStage::One(*first)),
        };
        self.stages = self.runs.iter().filter_map(stage).collect();
        Some(scratch)
    }
}

/// The uses within a group of the result of one of its instructions.
#[derive(Debug, Default)]
struct Readers {
    /// The instructions and sides that read it from memory.
    list: Vec<(usize, usize)>,
    is_overwritten: bool,
    is_changed: bool,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The number of bytes that instructions touch, those that begin at the same place once.
fn distinct(links: &[FusedOp]) -> Option<u64> {
    let mut seen: Vec<(usize, i64)> = Vec::new();
    let mut sum = 0u64;
    for link in links {
        for b in bytes(link)? {
            if !seen.contains(&(b.memory, b.first)) {
                seen.push((b.memory, b.first));
                sum = sum.saturating_add(b.end.abs_diff(b.first));
            }
        }
    }
    Some(sum)
}

/// Whether the strips of these may go through all of them one after the other; `first` are the first parts.
fn are_apart(first: &[FusedOp], strips: u64) -> Option<bool> {
    let strips = i64::try_from(strips).ok()?;
    let mut before: Vec<Bytes> = Vec::new();
    for link in first {
        let own = bytes(link)?;
        let meets = |a: &Bytes, b: &Bytes| (a.is_written || b.is_written) && !a.is_apart(b, strips);
        if own.iter().any(|b| before.iter().any(|a| meets(a, b))) {
            return Some(false);
        }
        before.extend(own);
    }
    Some(true)
}

impl FusionPlan {
    /// A chain of instructions; by each of them, the operands (a bit each tile) that are dead after it.
    fn new(links: Vec<FusedOp>, dead: &[u32]) -> FusionPlan {
        let place = |n: usize, side: usize| {
            let link: &FusedOp = links.get(n)?;
            let operand = link.part.sides.get(side)?.operand;
            Some((operand, *link.places.get(usize::from(operand))?))
        };
        let ends = |n: usize, side: usize, at: Place| {
            let bit =
                |operand: u8| dead.get(n).and_then(|dead| dead.checked_shr(u32::from(operand) / 2)).unwrap_or(0) & 1;
            place(n, side).is_some_and(|(operand, place)| place == at && bit(operand) == 1)
        };
        let is_dead = |n: usize| {
            let Some((_, at)) = place(n, 0) else { return false };
            (n + 1..links.len()).any(|later| (1..4).any(|side| ends(later, side, at)))
        };
        let is_dead: Vec<bool> = (0..links.len()).map(is_dead).collect();
        let CopyForwarding { links, numbers, is_dead, moved } = CopyForwarding::new(links, is_dead);
        let is_dead = |n: usize| is_dead.get(n) == Some(&true);
        let mut groups = FusionPlan::groups(&links);
        let mut scratch = 0;
        for n in 0..groups.len() {
            let later =
                groups.get(n + 1..).unwrap_or(&[]).iter().map(|group| group.first).next().unwrap_or(links.len());
            let read = links.get(later..).unwrap_or(&[]).iter();
            let read: Option<Vec<Bytes>> = read
                .map(|link| Some(bytes(link)?.into_iter().skip(1)))
                .collect::<Option<Vec<_>>>()
                .map(|all| all.into_iter().flatten().collect());
            let Some(group) = groups.get_mut(n) else { continue };
            let done = read.and_then(|read| group.finish(&read, is_dead));
            match done {
                Some(bytes) => scratch = scratch.max(bytes),
                None => group.stages = (0..group.links.len()).map(FusedStage::One).collect(),
            }
            for m in moved.iter().filter(|m| (group.first..group.first + group.links.len()).contains(&m.link)) {
                if let Some((copy, by)) = m.view {
                    group.moved.push((m.link - group.first, m.operand, copy, by));
                }
            }
        }
        FusionPlan { groups, numbers, scratch }
    }

    fn groups(links: &[FusedOp]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        // The first of the whole instructions of the last group.
        let mut open = 0;
        for (n, link) in links.iter().enumerate() {
            let together =
                links.get(open..=n).filter(|links| links.len() > 1).and_then(|links| Group::new(open, links));
            match (together, groups.last_mut()) {
                (Some(group), Some(last)) => *last = group,
                _ => {
                    open = n;
                    groups.push(Group::alone(n, link.clone()));
                }
            }
        }
        groups
    }

    /// Runs it; views of global memory start where `view` says, by instruction.
    fn run(
        &mut self,
        memories: &mut Memories,
        scratch: &mut AlignedBytes,
        view: impl Fn(usize) -> Option<Place>,
    ) -> Result<(), Failure> {
        if scratch.len() < self.scratch {
            *scratch = AlignedBytes::zeroed(self.scratch);
        }
        for group in &mut self.groups {
            let numbers = self.numbers.get(group.first..).unwrap_or(&[]);
            for (link, number) in group.links.iter_mut().zip(numbers) {
                if let (Some(place), Some(view)) = (link.places.last_mut(), view(*number)) {
                    *place = view;
                }
            }
            for (n, operand, copy, by) in &group.moved {
                let place = group.links.get_mut(*n).and_then(|link| link.places.get_mut(usize::from(*operand)));
                if let (Some(place), Some(view)) = (place, view(*copy)) {
                    place.at = view.at.wrapping_add_signed(*by as isize);
                }
            }
            let done = run_stages(&group.links, &group.stages, group.strips, memories.list_mut(), scratch);
            done.map_err(|e| CompiledInst::outside(&e, false))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
