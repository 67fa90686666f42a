//! The period of a loop of unknown trip count (sync.md 4): the loop runs for a number of iterations, and the state is
//! then restored.

use super::choices::Repeats;
use super::{Explored, PathWalk};
use crate::Undecided;
use crate::trace::Bytes;
use rustc_hash::FxHashMap;
use tessera_ir::OpId;
use tessera_isa::diag::Span;

/// The longest period of a loop that is looked for.
const MAX_PERIOD: usize = 16;
/// Iterations that say all of a loop in which each one finds everything as the one before did.
const FEW: u64 = 2;
/// A loop is unrolled into at most this many instructions.
pub(super) const MAX_UNROLLED: u64 = 100_000;

/// Inner loops whose trip counts an outer one decides, while that is tried out.
#[derive(Clone, Default)]
pub(super) struct VaryingTrips {
    /// By inner loop: how often it ran in each turn of the outer one, at most.
    counts: FxHashMap<OpId, Vec<u64>>,
    /// The inner loops that now run equally often in every turn, and their periodic behaviour.
    even: FxHashMap<OpId, Option<Repeats>>,
}

impl VaryingTrips {
    /// A loop runs so often in this turn.
    pub fn note(&mut self, id: OpId, turn: usize, count: u64) {
        let counts = self.counts.entry(id).or_default();
        if counts.len() <= turn {
            counts.resize(turn + 1, 0);
        }
        counts[turn] = counts[turn].max(count);
    }

    /// Whether the periodic behaviour of a loop is known that is to run equally often; `None` for any other loop.
    pub fn is_even(&self, id: OpId) -> Option<bool> {
        self.even.get(&id).map(Option::is_some)
    }

    /// It repeats itself like this.
    pub fn learn(&mut self, id: OpId, repeats: Repeats) {
        self.even.insert(id, Some(repeats));
    }

    /// From now on loops that did not run equally often do; false where all did.
    fn level(&mut self) -> bool {
        let varies = |counts: &&Vec<u64>| counts.iter().any(|n| Some(n) != counts.first());
        self.even = self.counts.iter().filter(|(_, counts)| varies(counts)).map(|(id, _)| (*id, None)).collect();
        !self.even.is_empty()
    }

    /// The turn of the outer loop from which on every inner one runs as often as decides all greater counts, or as often as
    /// ever after; and what their periods have in common.
    fn settles(&self) -> Option<(u64, u64)> {
        let mut all = (0, 1);
        for (id, repeats) in &self.even {
            let (Some(Repeats { period, trips, .. }), Some(counts)) = (repeats, self.counts.get(id)) else {
                return None;
            };
            let enough = *trips.iter().max()?;
            let last = *counts.last()?;
            let late = counts.iter().rposition(|n| *n < enough && *n != last).map_or(0, |at| at as u64 + 1);
            let is_rising = last < enough && late as usize + 1 >= counts.len();
            let turn = match (is_rising, last.checked_sub(*counts.first()?)) {
                (false, _) => late,
                (true, None | Some(0)) => return None,
                (true, Some(by)) => enough * counts.len() as u64 / by + 1,
            };
            all = (all.0.max(turn), least_common(all.1, *period));
        }
        (all.0 <= MAX_UNROLLED).then_some(all)
    }
}

fn least_common(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

impl PathWalk<'_> {
    /// Finds the period of a loop: runs it for a number of iterations and restores the state. If there is no period
    /// because loops inside it run more and more often, these run equally often in a second attempt.
    pub(super) fn period(
        &mut self,
        span: Span,
        weight: u64,
        (peeled, is_alike): (u64, bool),
        rounds: impl Fn(&mut Self, u64) -> Explored,
    ) -> Result<Repeats, Undecided> {
        let before = std::mem::take(&mut self.uneven);
        let mut found = self.tried_out(span, weight, (peeled, is_alike), &rounds).map(|(p, q)| (p, q, 0));
        if found.is_err() && self.uneven.level() {
            let even = self.tried_out(span, weight, (peeled, false), &rounds);
            found = even.and_then(|(p, q)| match self.uneven.settles() {
                Some((turn, inner)) => Ok((least_common(p, inner), q, turn)),
                None => Err(no_period(span)),
            });
        }
        let uneven = std::mem::replace(&mut self.uneven, before).even.into_keys().collect();
        let (period, peeled, settled) = found?;
        let all = peeled + settled + 4 * period;
        // Flag insertion explores long runs and short ones only; its result is checked in full.
        let trips = match self.subject.brief {
            true => (all + 1 - period..=all).rev().chain((0..=period).rev()).collect(),
            false => (0..=all).collect(),
        };
        Ok(Repeats { trips, period, peeled, uneven })
    }

    /// The turn of the loop that is tried out.
    pub(super) fn trial_turn(&self) -> Option<usize> {
        self.marks.len().checked_sub(1).filter(|_| self.trial > 0)
    }

    /// The period, and the number of iterations before it begins. `is_alike`: the body uses no counter, and the loop
    /// carries no values.
    fn tried_out(
        &mut self,
        span: Span,
        weight: u64,
        (peeled, is_alike): (u64, bool),
        rounds: impl Fn(&mut Self, u64) -> Explored,
    ) -> Result<(u64, u64), Undecided> {
        // A long body is tried a few times only, and has a short period or none.
        let count = (MAX_UNROLLED / weight.max(1)).clamp(6, 3 * MAX_PERIOD as u64) + peeled;
        if count.saturating_mul(weight) > 8 * MAX_UNROLLED {
            let what = "a loop of unknown trip count compares its counter with a large constant, or has a long body";
            return Err(Undecided::at(span, what));
        }
        if is_alike
            && peeled == 0
            && let (Ok(found), true) = self.ran(span, FEW, peeled, &rounds)
        {
            return Ok(found);
        }
        let (found, _) = self.ran(span, count, peeled, &rounds);
        found
    }

    /// Runs `count` iterations and restores the state. Also returns whether the iterations left the state as it was.
    fn ran(
        &mut self,
        span: Span,
        count: u64,
        peeled: u64,
        rounds: impl Fn(&mut Self, u64) -> Explored,
    ) -> (Result<(u64, u64), Undecided>, bool) {
        // Values are those of the body, which sets them anew.
        let (arrays, early) = (self.arrays.clone(), self.state.early.clone());
        let (objects, views, mark) = (self.state.objects.len(), self.state.views.len(), self.state.branch());
        let counted = (self.found.clone(), self.counts.clone());
        let (turn, turn_id, marks) = (self.turn.clone(), self.turn_id, std::mem::take(&mut self.marks));
        let sizes =
            (self.trace.events.len(), self.trace.accesses.len(), self.trace.misuses.len(), self.trace.turns.len());
        let (ticks, flags) = (self.trace.ticks.len(), self.trace.flags.len());
        let (asked, misused) = (self.asked.clone(), self.misused.clone());
        self.trial += 1;
        let ran = rounds(self, count);
        self.trial -= 1;
        let mut marks = std::mem::replace(&mut self.marks, marks);
        marks.push(self.trace.events.len());
        let found = ran.and_then(|()| self.repeats(span, &marks, peeled as usize));
        if found.is_err() && self.trial == 0 {
            // A misuse in one of its iterations is one whatever the others do.
            self.choices.wrong = self.trace.misuses[sizes.2..].to_vec();
        }
        let is_same = (&self.found, &self.counts) == (&counted.0, &counted.1)
            && (&self.arrays, &self.state.early) == (&arrays, &early)
            && self.state.keeps_config(&mark)
            && self.state.changed(&mark).all(|object| object >= objects);
        self.state.undo(&mark);
        self.state.objects.truncate(objects);
        self.state.views.truncate(views);
        (self.arrays, self.state.early) = (arrays, early);
        (self.turn, self.turn_id, self.asked) = (turn, turn_id, asked);
        (self.found, self.counts) = counted;
        self.trace.events.truncate(sizes.0);
        self.trace.accesses.truncate(sizes.1);
        self.trace.misuses.truncate(sizes.2);
        self.misused = misused;
        self.trace.turns.truncate(sizes.3);
        self.trace.ticks.truncate(ticks);
        // Ids that only the trial could not tell are no flags of the path.
        if self.trace.flags.len() > flags {
            self.plain_flags.clear();
        }
        self.trace.flags.truncate(flags);
        self.flags.retain(|_, flag| (*flag as usize) < flags);
        self.trace.named.retain(|event, _| (*event as usize) < sizes.0);
        (found, is_same)
    }

    /// The least period of the iterations between marks: which bytes on the chip, which flags.
    fn repeats(&self, span: Span, marks: &[usize], peeled: usize) -> Result<(u64, u64), Undecided> {
        let turns = marks.len() - 1;
        let events = |i: usize| &self.trace.events[marks[i]..marks[i + 1]];
        let alike = |a: &crate::trace::Event, b: &crate::trace::Event| {
            let chip = |e: &crate::trace::Event| {
                let accesses = &self.trace.accesses[e.accesses.0 as usize..e.accesses.1 as usize];
                accesses.iter().filter(|a| !self.is_global(a.set)).map(|a| (a.set, a.writes)).collect::<Vec<_>>()
            };
            (a.op, a.pipe, a.kind) == (b.op, b.pipe, b.kind) && chip(a) == chip(b)
        };
        let same = |i: usize, j: usize| {
            let (a, b) = (events(i), events(j));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        };
        let holds = |p: usize, from: usize| (from..turns.saturating_sub(p)).all(|i| same(i, i + p));
        let periods = || 1..=MAX_PERIOD.min(turns.saturating_sub(1).max(1));
        // Comparisons of the counter bound the number of iterations that may differ; without one it is small.
        let few = turns / 3;
        let peels = (0..=peeled).map(|q| (q, usize::MAX)).chain((peeled + 1..=few).map(|q| (q, few)));
        let found = peels.flat_map(|(q, most)| periods().take_while(move |p| *p <= most).map(move |p| (p, q)));
        let (p, q) = found.into_iter().find(|(p, q)| holds(*p, *q)).ok_or_else(|| no_period(span))?;
        let p = self.moves_alike(marks, q, p).unwrap_or(p);
        Ok((p as u64, q as u64))
    }

    /// The least multiple of a period after which all places in global memory have moved as they do every time.
    fn moves_alike(&self, marks: &[usize], q: usize, p: usize) -> Option<usize> {
        let accesses = |turn: usize| {
            let all = (marks[turn]..marks[turn + 1]).flat_map(|e| self.trace.accesses_of(e));
            all.filter(|a| self.is_global(a.set)).map(|a| self.sets.get(a.set))
        };
        let moves = |i: usize, j: usize| {
            let same = |(a, b): &(&Bytes, &Bytes)| a.root == b.root && a.terms == b.terms;
            let by = |(a, b): (&Bytes, &Bytes)| b.span().0.wrapping_sub(a.span().0);
            accesses(i).zip(accesses(j)).filter(same).map(by)
        };
        let turns = marks.len() - 1;
        let alike = |p: usize| (q..turns.saturating_sub(2 * p)).all(|i| moves(i, i + p).eq(moves(i + p, i + 2 * p)));
        (1..).map(|n| n * p).take_while(|p| *p <= MAX_PERIOD && q + 3 * p <= turns).find(|p| alike(*p))
    }
}

fn no_period(span: Span) -> Undecided {
    let what = format!(
        "a loop of unknown trip count does not use the same on-chip bytes and flags again after 1 to {MAX_PERIOD} iterations"
    );
    Undecided::at(span, what)
}
