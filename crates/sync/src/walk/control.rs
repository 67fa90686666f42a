//! Control flow on one path: branches and loops whose values are not known are choices (sync.md 4).

use super::choices::{Key, MAX_PATHS, Open, Period, Repeats, condition};
use super::endless::Endless;
use super::{Core, Res, Val, Walk};
use crate::Undecided;
use crate::form::{Expr, Form};
use crate::trace::{Bytes, Root};
use tessera_ir::edges::{For, If, Select, While};
use tessera_ir::{Arg, ArithOp, Op, OpId, OpKind, ValueId};
use tessera_isa::diag::Span;

/// The longest period of a loop that is looked for.
const MAX_PERIOD: usize = 16;
/// A loop is unrolled into at most this many instructions.
const MAX_UNROLLED: u64 = 100_000;

impl<'a> Walk<'a> {
    fn truth(&mut self, id: OpId, op: &Op, arg: Arg) -> Result<bool, Undecided> {
        let Some(form) = self.form(arg) else {
            return Err(Undecided::at(op.span, "a branch depends on something that is no integer"));
        };
        if let Some(known) = form.known() {
            return Ok(known != 0);
        }
        if self.subject.costs.is_some() {
            return Err(self.needed(op.span, "which way this goes", &[form]));
        }
        let (key, meant) = condition(&self.symbols, &form);
        if let (true, Key::AtMost(terms, n) | Key::Equal(terms, n)) = (self.open_loops > 0, &key) {
            let asked = self.asked.entry(id).or_insert_with(|| (terms.clone(), *n));
            if asked.0 == *terms && asked.1 != *n {
                let what =
                    "a branch in a loop of unknown trip count compares its counter with a value that is not constant";
                return Err(Undecided::at(op.span, what));
            }
        }
        match self.choices.decide(key) {
            Some(holds) => Ok(holds == meant),
            None => {
                Err(Undecided::at(op.span, format!("the branches have more than {MAX_PATHS} combinations of arms")))
            }
        }
    }

    pub(super) fn branch(&mut self, id: OpId, op: &'a Op, i: If<'a>) -> Res {
        if let Some(section) = op.section() {
            let is_here = match self.subject.core {
                Core::Unsplit => true,
                Core::Cube => section.ends_with("cube"),
                Core::Vector(n) => section.ends_with("vector") && !(n == 1 && self.is_for_first(id, op)),
            };
            return if is_here { self.block(i.blocks[0]) } else { Ok(()) };
        }
        let arm = usize::from(!self.truth(id, op, i.condition)?);
        self.block(i.blocks[arm])?;
        let values = self.vals(i.yields[arm]);
        self.set_all(i.results, values);
        Ok(())
    }

    pub(super) fn select(&mut self, id: OpId, op: &Op, s: Select<'_>) -> Res {
        let [yes, no] = s.choices.map(|c| self.val(c.arg));
        let condition = self.form(s.condition);
        let chosen = match (condition.as_ref().and_then(Form::known), &yes, &no) {
            (Some(known), ..) => {
                if known != 0 {
                    yes
                } else {
                    no
                }
            }
            _ if yes == no => yes,
            (None, Val::Int(a), Val::Int(b)) => {
                let (a, b) = (a.clone(), b.clone());
                Val::Int(self.symbols.of(Expr::Select(condition.unwrap_or_default(), a, b)))
            }
            _ => {
                if self.truth(id, op, s.condition)? {
                    yes
                } else {
                    no
                }
            }
        };
        self.set_all(s.results, vec![chosen]);
        Ok(())
    }

    fn set_all(&mut self, to: &[ValueId], values: Vec<Val>) {
        for (value, val) in to.iter().zip(values) {
            self.set(*value, val);
        }
    }

    /// How many instructions a block comes to, with inner loops as often as constants say.
    fn weight(&self, block: tessera_ir::BlockId) -> u64 {
        let func = self.subject.func;
        let mut all = 1u64;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            let inner = op.blocks.iter().fold(0u64, |n, b| n.saturating_add(self.weight(*b)));
            let known = |n: usize| op.operands.get(n).and_then(|o| self.constants.get(o.arg));
            let times = match (&op.kind, known(0), known(1), known(2)) {
                (OpKind::For, Some(lower), Some(upper), Some(step)) => trip_count(lower, upper, step),
                _ => 1,
            };
            // A loop that is too long is not unrolled, and has few iterations then.
            let times = if inner.saturating_mul(times) > MAX_UNROLLED { 4 } else { times };
            all = all.saturating_add(u64::from(op.opcode().is_some())).saturating_add(inner.saturating_mul(times));
        }
        all
    }

    pub(super) fn repeat(&mut self, id: OpId, op: &'a Op, f: For<'a>) -> Res {
        let written = [f.lower, f.upper, f.step].map(|arg| self.written_form(arg).unwrap_or_default());
        // A loop that runs as often as one before it is as open as that one, whatever its choice told of the bounds.
        let bounds = match self.choices.is_made(&Key::Trips(written.clone())) {
            true => written.clone(),
            false => [f.lower, f.upper, f.step].map(|arg| self.form(arg).unwrap_or_default()),
        };
        let [lower, upper, step] = bounds.clone();
        let mut carried = self.vals(f.inits);
        let known = lower.known().zip(upper.known()).zip(step.known());
        let count = known.map(|((lower, upper), step)| trip_count(lower, upper, step));
        // As often as that, or more often, where a bound stands for greater ones.
        let least = count.and_then(|count| Some((count, self.stride(&written)?)));
        let weight = self.weight(f.body);
        let turn = |this: &mut Self, carried: &mut Vec<Val>, i: u64| -> Res {
            let at = lower.plus(&this.symbols.arith(ArithOp::Muli, 64, &step, &(i as i64).into()));
            this.set(f.variable, Val::Int(at));
            this.set_all(f.carried, std::mem::take(carried));
            this.turn.push((id, i));
            this.new_turn();
            let done = this.block(f.body);
            this.turn.pop();
            *carried = this.vals(f.yields);
            done
        };
        let unrolled = |n: &u64| n.saturating_mul(weight) <= MAX_UNROLLED || self.subject.costs.is_some();
        match count.filter(unrolled).filter(|_| least.is_none()) {
            Some(count) => {
                for i in 0..count {
                    self.count(op)?;
                    turn(self, &mut carried, i)?;
                }
            }
            None if self.subject.costs.is_some() => {
                return Err(self.needed(op.span, "how often this loop runs", &bounds));
            }
            None => {
                self.open_loops += 1;
                let peeled = self.peeled(&[f.body], &self.counters(&f, lower.known().zip(step.known())));
                let key = Key::Trips(if least.is_some() { written } else { bounds });
                let most = count.filter(|_| least.is_none());
                let trips = self.trips(id, op, key, (weight, peeled, most, least), |this, rounds| {
                    let mut carried = carried.clone();
                    (0..rounds).try_for_each(|i| {
                        this.marks.push(this.trace.events.len());
                        turn(this, &mut carried, i)
                    })
                })?;
                let before = carried.clone();
                for i in 0..trips.count {
                    turn(self, &mut carried, i)?;
                }
                self.open_loops -= 1;
                self.learn([&lower, &upper, &step], trips);
                if trips.tried.is_some() {
                    self.carried_on(f.results, &before, &mut carried, trips.period);
                }
            }
        }
        self.new_turn();
        self.set_all(f.results, carried);
        Ok(())
    }

    pub(super) fn repeat_while(&mut self, id: OpId, op: &'a Op, w: While<'a>) -> Res {
        let carried = self.vals(w.inits);
        let weight = self.weight(w.before).saturating_add(self.weight(w.after));
        let first = |this: &mut Self, carried: Vec<Val>| -> Res {
            this.set_all(w.carried, carried);
            this.block(w.before)
        };
        let turn = |this: &mut Self, i: u64| -> Res {
            let handed = this.vals(w.handed);
            this.set_all(w.taken, handed);
            this.turn.push((id, i));
            this.new_turn();
            let done = this.block(w.after);
            let carried = this.vals(w.yields);
            let done = done.and_then(|()| first(this, carried));
            this.turn.pop();
            done
        };
        // A run knows when it ends.
        if self.subject.costs.is_some() {
            first(self, carried)?;
            for i in 0.. {
                let holds = match self.known(w.condition) {
                    Some(holds) => holds != 0,
                    None => self.truth(id, op, w.condition)?,
                };
                if !holds {
                    break;
                }
                self.count(op)?;
                turn(self, i)?;
            }
            self.new_turn();
            let handed = self.vals(w.handed);
            self.set_all(w.results, handed);
            return Ok(());
        }
        self.open_loops += 1;
        let peeled = self.peeled(&[w.before, w.after], &self.while_counters(&w));
        let trips = self.trips(id, op, Key::While(id), (weight, peeled, None, None), |this, rounds| {
            first(this, carried.clone())?;
            (0..rounds).try_for_each(|i| {
                this.marks.push(this.trace.events.len());
                turn(this, i)
            })
        })?;
        first(self, carried)?;
        for i in 0..trips.count {
            turn(self, i)?;
        }
        self.open_loops -= 1;
        self.new_turn();
        let handed = self.vals(w.handed);
        self.set_all(w.results, handed);
        Ok(())
    }

    /// After a loop its trip count says what its upper bound is, or that it is at most the lower one. The last counts
    /// that are tried, up to the given one, stand for all greater ones.
    fn learn(&mut self, [lower, upper, step]: [&Form; 3], Trips { count: trips, tried, period }: Trips) {
        let over = upper.minus(lower);
        let ([(symbol, 1)], Some(1), 0) = (over.terms.as_slice(), step.known(), self.trial) else { return };
        let count = (trips as i64).wrapping_sub(over.constant);
        match trips {
            0 => self.choices.at_most(&over.terms, count),
            _ => {
                self.bound.insert(*symbol, count);
                let endless = |tried: u64| Endless { most: (tried as i64).wrapping_sub(over.constant), period };
                self.endless.extend(tried.map(|tried| (*symbol, endless(tried))));
            }
        }
    }

    /// An empty body costs too.
    fn count(&mut self, op: &Op) -> Res {
        self.steps += 1;
        match self.steps > self.subject.limits.steps {
            true => Err(self.too_long(op.span)),
            false => Ok(()),
        }
    }

    /// How often a loop runs on this path, of all the counts that decide every other one; the greatest of those, where it
    /// stands for greater ones.
    fn trips(
        &mut self,
        id: OpId,
        op: &Op,
        key: Key,
        (weight, peeled, most, least): (u64, u64, Option<u64>, Option<(u64, u64)>),
        rounds: impl FnOnce(&mut Self, u64) -> Res,
    ) -> Result<Trips, Undecided> {
        if self.trial > 0 {
            // What was chosen before the loop that is tried out holds in it.
            let chosen = self.settled.iter().find(|(known, _)| *known == key).map(|(_, trips)| *trips);
            let count = chosen.or(least.map(|(count, _)| count)).unwrap_or(2);
            return Ok(Trips { count, tried: None, period: 1 });
        }
        let at = (id, self.subject.core);
        // On a path that was the same so far, it repeats itself as it did.
        let is_known = self.choices.periods.get(&at).is_some_and(|known| self.choices.is_after(&key, &known.after));
        if !is_known {
            let after = self.choices.before(&key);
            self.settled.clone_from(&after);
            let repeats = self.period(op.span, weight, peeled, rounds)?;
            self.choices.periods.insert(at, Period { repeats, after });
        }
        let Repeats { trips, period, peeled } =
            self.choices.periods.get(&at).map(|p| p.repeats.clone()).unwrap_or_default();
        let tried = trips.iter().copied().max().unwrap_or(0);
        let trips = match least {
            Some((least, stride)) => {
                // Up to the first that is as long as any that is tried.
                let end = least.max(tried.saturating_add(stride));
                let all = (least..=end).step_by(usize::try_from(stride).unwrap_or(1).max(1));
                all.take_while(|n| *n == least || n - stride < tried).collect()
            }
            None => trips,
        };
        let trips = self.choices.trips(key.clone(), &trips, period);
        let stands_for_more = trips.saturating_add(period) > tried;
        let open = Open { op: id, key, period, peeled, tried, trips, most };
        if !self.trace.open.contains(&open) {
            self.trace.open.push(open);
        }
        Ok(Trips { count: trips, tried: stands_for_more.then_some(tried), period })
    }

    /// Runs a loop for a while and sees how it repeats itself; everything is then as it was before.
    fn period(
        &mut self,
        span: Span,
        weight: u64,
        peeled: u64,
        rounds: impl FnOnce(&mut Self, u64) -> Res,
    ) -> Result<Repeats, Undecided> {
        // A long body is tried a few times only, and has a short period or none.
        let count = (MAX_UNROLLED / weight.max(1)).clamp(6, 3 * MAX_PERIOD as u64) + peeled;
        if count.saturating_mul(weight) > 8 * MAX_UNROLLED {
            let what = "a loop of unknown trip count compares its counter with a large constant, or has a long body";
            return Err(Undecided::at(span, what));
        }
        let before = (self.env.clone(), self.objects.clone(), self.views.clone(), self.config.clone());
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
        (self.env, self.objects, self.views, self.config) = before;
        (self.turn, self.turn_id, self.asked) = (turn, turn_id, asked);
        (self.found, self.counts) = counted;
        self.trace.events.truncate(sizes.0);
        self.trace.accesses.truncate(sizes.1);
        self.trace.misuses.truncate(sizes.2);
        self.misused = misused;
        self.trace.turns.truncate(sizes.3);
        self.trace.ticks.truncate(ticks);
        // Ids that only the trial could not tell are no flags of the path.
        self.trace.flags.truncate(flags);
        self.flags.retain(|_, flag| (*flag as usize) < flags);
        self.trace.named.retain(|event, _| (*event as usize) < sizes.0);
        found
    }

    /// The least period of the iterations between marks: which bytes on the chip, which flags.
    fn repeats(&self, span: Span, marks: &[usize], peeled: usize) -> Result<Repeats, Undecided> {
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
        let found = periods().find(|p| holds(*p, 0)).map(|p| (p, 0));
        let found = found.or_else(|| (1..=peeled).find_map(|q| periods().find(|p| holds(*p, q)).map(|p| (p, q))));
        let Some((p, q)) = found else {
            let what = format!(
                "a loop of unknown trip count does not use the same on-chip bytes and flags again after 1 to {MAX_PERIOD} \
                 iterations"
            );
            return Err(Undecided::at(span, what));
        };
        let p = self.moves_alike(marks, q, p).unwrap_or(p);
        let (all, period, peeled) = ((q + 4 * p) as u64, p as u64, q as u64);
        if self.subject.brief {
            // Whoever inserts flags looks at long runs and at short ones, and has the result judged in full.
            let trips = (all + 1 - period..=all).rev().chain((0..=period).rev()).collect();
            return Ok(Repeats { trips, period, peeled });
        }
        Ok(Repeats { trips: (0..=all).collect(), period, peeled })
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

    fn is_global(&self, set: crate::trace::SetId) -> bool {
        matches!(self.sets.get(set).root, Root::Buffer(_) | Root::Anywhere)
    }
}

/// How often a loop runs on a path.
#[derive(Clone, Copy)]
pub(super) struct Trips {
    pub count: u64,
    /// The greatest count that was tried, where this one stands for greater ones.
    pub tried: Option<u64>,
    pub period: u64,
}

/// How often `scf.for` runs.
fn trip_count(lower: i64, upper: i64, step: i64) -> u64 {
    if step <= 0 {
        return 0;
    }
    let span = i128::from(upper) - i128::from(lower);
    u64::try_from((span + i128::from(step) - 1) / i128::from(step)).unwrap_or(0)
}
