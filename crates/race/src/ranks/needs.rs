//! The notifications that a wait needs (isa/comm.md 5, rule 2): a notification of the word without which no set of the
//! run's notifications that is closed backwards, and holds none after the wait, makes the comparison true.
//!
//! The notifications of a word by one process are in order, so a closed set is a prefix of each process's. Where numbers
//! are only added, none negative, the largest such set without a notification decides; else the sets are tried one by
//! one, within a limit.

use super::knowledge::{Known, World};
use crate::detector::shared_log::{SignalAct, Stamp, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_isa::inst::WaitCmp;

/// More sets than this are not tried.
const MAX_SETS: usize = 20_000;

/// A notification of a word: the release of its process, and what it does.
#[derive(Clone, Copy, Debug)]
struct Note {
    release: usize,
    sets: bool,
    value: i32,
}

/// The notifications of one word.
#[derive(Debug, Default)]
struct WordNotes {
    initial: i32,
    /// By process that notifies: its notifications in order, and the sums of what they add before each.
    of: Vec<(usize, Vec<Note>, Vec<i64>)>,
    has_sets: bool,
    has_negative: bool,
    is_unit: bool,
}

/// The notifications of all words.
#[derive(Debug, Default)]
pub struct Words(FxHashMap<(u32, u64), WordNotes>);

impl Words {
    pub fn new(world: &World) -> Words {
        let mut words: FxHashMap<(u32, u64), WordNotes> = FxHashMap::default();
        let mut earliest: FxHashMap<(u32, u64), (u64, i32)> = FxHashMap::default();
        for block in &world.blocks {
            for signal in &block.log.signals {
                for word in &signal.words {
                    let first = earliest.entry((word.region, word.byte)).or_insert((signal.at.now, word.before));
                    if signal.at.now < first.0 {
                        *first = (signal.at.now, word.before);
                    }
                }
            }
        }
        for (process, own) in world.processes.iter().enumerate() {
            for (release, of) in own.releases.iter().enumerate() {
                let signal = world.signal(process, of.signal);
                let SignalAct::Notify { sets, value } = signal.act else { continue };
                for word in &signal.words {
                    let notes = words
                        .entry((word.region, word.byte))
                        .or_insert(WordNotes { is_unit: true, ..WordNotes::default() });
                    notes.has_sets |= sets;
                    notes.has_negative |= value < 0;
                    notes.is_unit &= (0..=1).contains(&value);
                    let at = match notes.of.iter().position(|(p, ..)| *p == process) {
                        Some(at) => at,
                        None => {
                            notes.of.push((process, Vec::new(), vec![0]));
                            notes.of.len() - 1
                        }
                    };
                    let (_, list, sums) = &mut notes.of[at];
                    list.push(Note { release, sets, value });
                    sums.push(sums.last().copied().unwrap_or(0) + i64::from(value));
                }
            }
        }
        for (key, notes) in &mut words {
            notes.initial = earliest.get(key).map_or(0, |first| first.1);
        }
        Words(words)
    }

    /// The releases that a wait needs, each the latest of its process; and whether that is exact.
    pub fn needed(
        &self,
        world: &World,
        (block, process): (usize, usize),
        at: &Stamp,
        word: Word,
        (cmp, value): (WaitCmp, i32),
        known: &Known,
    ) -> (Vec<(usize, usize)>, bool) {
        let Some(notes) = self.0.get(&(word.region, word.byte)) else { return (Vec::new(), true) };
        // How many of each process do not come after the wait.
        let cuts: Vec<usize> = notes
            .of
            .iter()
            .map(|(other, list, _)| {
                let is_after = |note: &Note| {
                    let stamp = &world.signal(*other, world.processes[*other].releases[note.release].signal).at;
                    *other == process && stamp.now > at.now
                        || world.is_before(block, (at.lane, at.position), world.block_of[*other], stamp)
                };
                list.partition_point(|note| !is_after(note))
            })
            .collect();
        let mut needed = Vec::new();
        let mut is_exact = true;
        for (p, (other, list, _)) in notes.of.iter().enumerate() {
            if *other == process {
                continue;
            }
            // Those that are known already come first in their process.
            let mut n = list.partition_point(|note| note.release < known[*other] as usize);
            let mut last = None;
            while n < cuts[p] {
                let caps = self.without(world, notes, &cuts, p, n);
                let (is_needed, exact) = notes.is_needed(world, &caps, cmp, i64::from(value));
                is_exact &= exact;
                if !is_needed {
                    break;
                }
                last = Some(list[n].release);
                n += 1;
            }
            needed.extend(last.map(|release| (*other, release)));
        }
        (needed, is_exact)
    }

    /// How many of each process a set may hold that lacks a notification, and so all that come after it.
    fn without(&self, world: &World, notes: &WordNotes, cuts: &[usize], p: usize, n: usize) -> Vec<usize> {
        let (lacking, list, _) = &notes.of[p];
        let release = list[n].release as u32;
        let cap = |(q, (other, list, _)): (usize, &(usize, Vec<Note>, Vec<i64>))| {
            if q == p {
                return n;
            }
            let comes_after = |note: &Note| {
                let stamp = &world.signal(*other, world.processes[*other].releases[note.release].signal).at;
                let block = world.block_of[*other];
                if block == world.block_of[*lacking] {
                    let own = &world.signal(*lacking, world.processes[*lacking].releases[release as usize].signal).at;
                    return stamp.has(own.lane, own.position);
                }
                world.knows_of(block, stamp, *lacking) > release
            };
            list.partition_point(|note| !comes_after(note)).min(cuts[q])
        };
        notes.of.iter().enumerate().map(cap).collect()
    }
}

impl WordNotes {
    /// Whether no closed set within these caps makes the comparison true; and whether that is exact.
    fn is_needed(&self, world: &World, caps: &[usize], cmp: WaitCmp, value: i64) -> (bool, bool) {
        let initial = i64::from(self.initial);
        if !self.has_sets && !self.has_negative {
            let most = initial + self.of.iter().zip(caps).map(|((_, _, sums), cap)| sums[*cap]).sum::<i64>();
            let wraps = most > i64::from(i32::MAX);
            match cmp {
                _ if wraps => {}
                WaitCmp::Ge => return (most < value, true),
                WaitCmp::Gt => return (most <= value, true),
                WaitCmp::Lt => return (initial >= value, true),
                WaitCmp::Le => return (initial > value, true),
                WaitCmp::Ne => return (initial == value && most == initial, true),
                WaitCmp::Eq if self.is_unit => return (most < value || initial > value, true),
                WaitCmp::Eq => {}
            }
        }
        // Words are 32 bits wide, and wrap.
        self.try_all(world, caps, |word| cmp.holds(word as i32, value as i32))
    }

    /// Tries the closed sets within these caps, in every order in which they can come about.
    fn try_all(&self, world: &World, caps: &[usize], is_true: impl Fn(i64) -> bool) -> (bool, bool) {
        let mut seen: FxHashSet<(Vec<usize>, i64)> = FxHashSet::default();
        let mut next = vec![(vec![0usize; caps.len()], i64::from(self.initial))];
        while let Some((counts, word)) = next.pop() {
            if is_true(word) {
                return (false, true);
            }
            if seen.len() > MAX_SETS {
                return (true, false);
            }
            if !seen.insert((counts.clone(), word)) {
                continue;
            }
            for p in 0..caps.len() {
                if counts[p] >= caps[p] || !self.is_closed(world, &counts, p) {
                    continue;
                }
                let note = self.of[p].1[counts[p]];
                let mut more = counts.clone();
                more[p] += 1;
                let after =
                    if note.sets { i64::from(note.value) } else { i64::from((word + i64::from(note.value)) as i32) };
                next.push((more, after));
            }
        }
        (true, true)
    }

    /// Whether all notifications of the word that come before the next one of a process are in the set.
    fn is_closed(&self, world: &World, counts: &[usize], p: usize) -> bool {
        let (process, list, _) = &self.of[p];
        let note = list[counts[p]];
        let stamp = &world.signal(*process, world.processes[*process].releases[note.release].signal).at;
        let block = world.block_of[*process];
        self.of.iter().zip(counts).enumerate().all(|(q, ((other, list, _), count))| {
            let Some(missing) = list.get(*count).filter(|_| q != p) else { return true };
            if world.block_of[*other] == block {
                let own = &world.signal(*other, world.processes[*other].releases[missing.release].signal).at;
                return !stamp.has(own.lane, own.position);
            }
            world.knows_of(block, stamp, *other) <= missing.release as u32
        })
    }
}
