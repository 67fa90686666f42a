//! Loops, and how long they may run.

use super::super::code::*;
use super::{Exec, Stop};
use std::sync::atomic::Ordering;
use tessera_ir::OpId;
use tessera_kernels::{Failure, failure};

/// The way out of the limit.
const MORE_STEPS: &str = "run fewer rounds, or allow more steps";

/// The number of steps between two looks at the limit, and between two reports of progress. An instruction on a large
/// tile takes a millisecond, and one that is followed takes ten of them.
pub(super) const STRIDE: u64 = 1 << 4;
const REPORT: u64 = 1 << 8;

impl Exec<'_> {
    pub(super) fn repeat(&mut self, f: &For) -> Result<(), Stop> {
        let (lower, upper, step) = (self.int(f.lower), self.int(f.upper), self.int(f.step));
        if step <= 0 {
            let what = format!("the loop steps by {step}");
            return Err(self.at(f.at, failure("loop", what, "a step is at least 1")).into());
        }
        // Nothing but the loop sets its variable, so it tells the round that waits.
        let mut is_resumed = !self.resume.is_empty();
        let mut i = if is_resumed { self.int(Int::Slot(f.iv)) } else { lower };
        if !is_resumed {
            self.ends(f, lower, upper, step)?;
            self.hand(&f.enter)?;
        }
        let level = self.depth;
        self.depth += 1;
        let mut strip = f.strip.as_deref().filter(|_| !is_resumed && self.runs_strips());
        let mut strip_state = None;
        while i < upper {
            if let Some(rounds) = strip.and_then(|strip| {
                let left = (upper as u64).wrapping_sub(i as u64).div_ceil(step as u64);
                if strip_state.is_none() {
                    strip_state = self.begin_strips(strip, left as usize);
                }
                self.strip(f, strip, strip_state.as_mut()?, (i, step, left))
            }) {
                self.strip_done(f, rounds)?;
                let Some(next) = (rounds as i64).checked_mul(step).and_then(|by| i.checked_add(by)) else { break };
                i = next;
                continue;
            }
            strip = None;
            if !std::mem::take(&mut is_resumed) {
                self.set(f.iv, i);
                self.watch_loop(Some(f.name), i);
                self.observe_round(level, f.at, i.wrapping_sub(lower) as u64 / step as u64);
            }
            self.code(&f.body).map_err(|stop| stop.noted(|| format!("{} = {i}", self.cx.name(f.name))))?;
            self.watch_loop_end(f.at);
            self.hand(&f.again)?;
            self.not_endless(f.at)?;
            let Some(next) = i.checked_add(step) else { break };
            i = next;
        }
        if strip_state.is_some() {
            self.end_strips(strip_state);
        }
        self.observe_loop_end(level, f.at);
        Ok(self.hand(&f.leave)?)
    }

    /// Whether so many more steps are within the limit.
    pub fn has_steps(&self, count: u64) -> bool {
        self.steps.saturating_add(count) < self.cx.limits.steps
    }

    /// Counts the steps of rounds that ran together.
    fn strip_done(&mut self, f: &For, rounds: usize) -> Result<(), Failure> {
        self.steps += rounds as u64 * (f.body.len() as u64 + 1);
        if self.steps < self.look { Ok(()) } else { self.look_at_limit(f.at) }
    }

    pub(super) fn repeat_while(&mut self, w: &While) -> Result<(), Stop> {
        // The position at which it waits: twice the round, plus one in the second block.
        let mut resumed = self.resume.pop();
        let mut round = resumed.map_or(0, |at| at / 2);
        if resumed.is_none() {
            self.hand(&w.enter)?;
        }
        let level = self.depth;
        // The first look at the condition is before the first round.
        self.depth += usize::from(resumed.is_some_and(|at| at > 0));
        loop {
            let note = |stop: Stop| stop.noted(|| format!("in round {round} of scf.while"));
            let in_second = resumed.is_some_and(|at| at % 2 == 1);
            if resumed.take().is_none() {
                self.watch_loop(None, round as i64);
            }
            if !in_second {
                self.code(&w.before).map_err(|stop| self.left_at(round * 2, note(stop)))?;
                if self.int(w.condition) == 0 {
                    self.watch_loop_end(w.at);
                    self.observe_loop_end(level, w.at);
                    return Ok(self.hand(&w.leave)?);
                }
                self.hand(&w.proceed)?;
                self.depth = level + 1;
                self.observe_round(level, w.at, round);
            }
            self.code(&w.after).map_err(|stop| self.left_at(round * 2 + 1, note(stop)))?;
            self.watch_loop_end(w.at);
            self.hand(&w.again)?;
            self.not_endless(w.at)?;
            round += 1;
        }
    }

    #[inline]
    pub(super) fn not_endless(&mut self, at: OpId) -> Result<(), Failure> {
        self.steps += 1;
        if self.steps < self.look { Ok(()) } else { self.look_at_limit(at) }
    }

    #[cold]
    pub(super) fn look_at_limit(&mut self, at: OpId) -> Result<(), Failure> {
        if self.steps - self.told >= REPORT || self.watch.is_some() {
            self.tell();
        }
        let limit = self.cx.limits.steps;
        self.look = self.steps.saturating_add(STRIDE).min(limit);
        if self.cx.progress.is_some_and(|progress| progress.stop.load(Ordering::Relaxed)) {
            let what = format!("the run was stopped after {} steps", self.steps);
            return Err(self.at(at, failure("loop", what, "let it run to its end")));
        }
        if self.steps < limit {
            return Ok(());
        }
        let what = format!("{limit} steps (operations, and rounds of loops) were run, and the loop has not ended");
        Err(self.at(at, failure("loop", what, MORE_STEPS)))
    }

    /// Refuses a loop, before its first round, whose rounds alone are more than may be run.
    #[inline]
    fn ends(&self, f: &For, lower: i64, upper: i64, step: i64) -> Result<(), Failure> {
        let rounds = (i128::from(upper) - i128::from(lower)).max(0) as u64 / step as u64;
        if rounds.saturating_mul(f.least) < self.cx.limits.steps { Ok(()) } else { self.too_long(f, rounds) }
    }

    #[cold]
    fn too_long(&self, f: &For, rounds: u64) -> Result<(), Failure> {
        let (least, limit) = (f.least, self.cx.limits.steps);
        let what = format!(
            "the loop has {rounds} rounds of at least {least} steps (operations, and rounds of loops), and a block may \
             run {limit}"
        );
        Err(self.at(f.at, failure("loop", what, MORE_STEPS)))
    }
}
