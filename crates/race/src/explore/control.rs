//! Control flow on one path: branches and loops whose values are not known are choices (sync.md 4).

use super::choices::{ChoiceKey, MAX_PATHS, Period, Repeats, SymbolicLoop, condition};
use super::period::MAX_UNROLLED;
use super::widening::Widened;
use super::{Core, Explored, PathWalk};
use crate::Undecided;
use crate::linear_expr::{Expr, LinearExpr};
use crate::trace::Root;
use tessera_absint::{Analysis, ControlFlow, Val, Vals};
use tessera_ir::edges::{Control, For, If, Select, While};
use tessera_ir::{Arg, ArithOp, Op, OpId, OpKind};

/// The trip count of a loop of unknown trip count while one around it is tried out.
const TRIED: u64 = 2;

impl<'a> PathWalk<'a> {
    fn decide(&mut self, id: OpId, op: &Op, arg: Arg) -> Result<bool, Undecided> {
        let Some(form) = self.read(arg) else {
            return Err(Undecided::at(op.span, "a branch depends on something that is no integer"));
        };
        if let Some(known) = form.known() {
            return Ok(known != 0);
        }
        if self.subject.costs.is_some() {
            return Err(self.needed(op.span, "which way this goes", &[form]));
        }
        let (key, meant) = condition(&self.symbols, &form);
        if let (true, ChoiceKey::AtMost(terms, n) | ChoiceKey::Equal(terms, n)) = (self.open_loops > 0, &key) {
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

    pub(super) fn branch(&mut self, id: OpId, op: &'a Op, i: If<'a>) -> Explored {
        if let Some(section) = op.section() {
            let is_here = match self.subject.core {
                Core::Unsplit => true,
                Core::Cube => section.ends_with("cube"),
                Core::Vector(n) => section.ends_with("vector") && !(n == 1 && self.is_for_first(id, op)),
            };
            return if is_here { self.block(i.blocks[0]) } else { Ok(()) };
        }
        let arm = usize::from(!self.decide(id, op, i.condition)?);
        self.block(i.blocks[arm])?;
        let values = self.vals(i.yields[arm]);
        self.state.set_all(i.results, values);
        Ok(())
    }

    pub(super) fn select(&mut self, id: OpId, op: &Op, s: Select<'_>) -> Explored {
        let [yes, no] = s.choices.map(|c| self.val(c.arg));
        let condition = self.read(s.condition);
        let chosen = match (condition.as_ref().and_then(LinearExpr::known), &yes, &no) {
            (Some(known), ..) => {
                if known != 0 {
                    yes
                } else {
                    no
                }
            }
            _ if yes == no => yes,
            (None, Val::Scalar(a), Val::Scalar(b)) => {
                let (a, b) = (a.clone(), b.clone());
                Val::Scalar(self.symbols.of(Expr::Select(condition.unwrap_or_default(), a, b)))
            }
            _ => {
                if self.decide(id, op, s.condition)? {
                    yes
                } else {
                    no
                }
            }
        };
        self.state.set_all(s.results, [chosen]);
        Ok(())
    }

    /// The number of instructions in a block, with inner loops as often as constants say.
    fn weight(&self, block: tessera_ir::BlockId) -> u64 {
        let func = self.subject.func;
        let mut all = 1u64;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            let inner = op.blocks.iter().fold(0u64, |n, b| n.saturating_add(self.weight(*b)));
            let known = |n: usize| op.operands.get(n).and_then(|o| self.state.constants.get(o.arg));
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

    pub(super) fn repeat(&mut self, id: OpId, op: &'a Op, f: For<'a>) -> Explored {
        let written = [f.lower, f.upper, f.step].map(|arg| self.raw(arg).unwrap_or_default());
        // A loop that runs as often as one before it is as open as that one, whatever its choice told of the bounds.
        let bounds = match self.choices.is_made(&ChoiceKey::Trips(written.clone())) {
            true => written.clone(),
            false => [f.lower, f.upper, f.step].map(|arg| self.read(arg).unwrap_or_default()),
        };
        let bounds = self.as_often(id, &written, bounds);
        let [lower, upper, step] = bounds.clone();
        let mut carried = self.vals(f.inits);
        let known = lower.known().zip(upper.known()).zip(step.known());
        let count = known.map(|((lower, upper), step)| trip_count(lower, upper, step));
        // As often as that, or more often, where a bound stands for greater ones.
        let least = count.and_then(|count| Some((count, self.stride(&written)?)));
        let weight = self.weight(f.body);
        let turn = |this: &mut Self, carried: &mut Vals<LinearExpr>, i: u64| -> Explored {
            let at = lower.plus(&this.symbols.arith(ArithOp::Muli, 64, &step, &(i as i64).into()));
            this.state.set(f.variable, Val::Scalar(at));
            this.state.set_all(f.carried, std::mem::take(carried));
            this.turn.push((id, i));
            this.new_turn();
            let done = this.block(f.body);
            this.turn.pop();
            *carried = this.vals(f.yields);
            done
        };
        let rounds = |this: &mut Self, rounds: u64| {
            let mut carried = carried.clone();
            (0..rounds).try_for_each(|i| {
                this.marks.push(this.trace.events.len());
                turn(this, &mut carried, i)
            })
        };
        // A loop that is tried out is alike in every turn but for how often the loops inside it run.
        if let Some((turn, count)) = self.trial_turn().zip(count) {
            self.uneven.note(id, turn, count);
        }
        let count = match self.uneven.is_even(id) {
            None => count,
            Some(true) => Some(TRIED),
            Some(false) => {
                let peeled = self.peeled(&[f.body], &self.counters(&f, lower.known().zip(step.known())));
                let repeats = self.period(op.span, weight, (peeled, false), rounds)?;
                self.uneven.learn(id, repeats);
                Some(TRIED)
            }
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
                let key = ChoiceKey::Trips(if least.is_some() { written } else { bounds });
                let most = count.filter(|_| least.is_none());
                let trips = self.trips(id, op, key, (weight, peeled, most, least), rounds)?;
                let before = carried.clone();
                let told = self.told([&lower, &upper, &step], trips.count).filter(|_| trips.count > 0);
                let outer = told.map(|(symbol, count)| (symbol, self.running.insert(symbol, (count, id))));
                for i in 0..trips.count {
                    turn(self, &mut carried, i)?;
                }
                match outer {
                    Some((symbol, Some(outer))) => drop(self.running.insert(symbol, outer)),
                    Some((symbol, None)) => drop(self.running.remove(&symbol)),
                    None => {}
                }
                self.open_loops -= 1;
                self.learn([&lower, &upper, &step], trips);
                if trips.tried.is_some() {
                    self.carried_on(f.results, &before, &mut carried, trips.period);
                }
            }
        }
        self.new_turn();
        self.state.set_all(f.results, carried);
        Ok(())
    }

    pub(super) fn repeat_while(&mut self, id: OpId, op: &'a Op, w: While<'a>) -> Explored {
        let carried = self.vals(w.inits);
        let weight = self.weight(w.before).saturating_add(self.weight(w.after));
        let first = |this: &mut Self, carried: Vals<LinearExpr>| -> Explored {
            this.state.set_all(w.carried, carried);
            this.block(w.before)
        };
        let turn = |this: &mut Self, i: u64| -> Explored {
            let handed = this.vals(w.handed);
            this.state.set_all(w.taken, handed);
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
                let holds = match self.known_at(w.condition) {
                    Some(holds) => holds != 0,
                    None => self.decide(id, op, w.condition)?,
                };
                if !holds {
                    break;
                }
                self.count(op)?;
                turn(self, i)?;
            }
            self.new_turn();
            let handed = self.vals(w.handed);
            self.state.set_all(w.results, handed);
            return Ok(());
        }
        self.open_loops += 1;
        let peeled = self.peeled(&[w.before, w.after], &self.while_counters(&w));
        let trips = self.trips(id, op, ChoiceKey::While(id), (weight, peeled, None, None), |this, rounds| {
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
        self.state.set_all(w.results, handed);
        Ok(())
    }

    /// A loop whose bound is another one in each turn of a loop around it runs in some turns as often as it chose, and in the
    /// others as often as in one of those: the choice that this one follows.
    fn kin(&mut self, id: OpId, key: &ChoiceKey, options: usize) -> Option<ChoiceKey> {
        if self.open_loops < 2 {
            return None;
        }
        let kin = self.kin.entry(id).or_default();
        let at = kin.iter().position(|known| known == key).unwrap_or_else(|| {
            kin.push(key.clone());
            kin.len() - 1
        });
        let free = if options <= 5 { 3 } else { 2 };
        (at >= free).then(|| kin[at % free].clone())
    }

    /// After a loop, its trip count determines its upper bound, or that the upper bound is at most the lower one. The
    /// last counts that are tried, up to the given one, stand for all greater ones.
    fn learn(&mut self, bounds: [&LinearExpr; 3], Trips { count: trips, tried, period }: Trips) {
        let Some((symbol, count)) = self.told(bounds, trips) else { return };
        let over = bounds[1].minus(bounds[0]);
        match trips {
            0 => self.choices.at_most(&over.terms, count),
            _ => {
                self.bound.insert(symbol, count);
                let endless = |tried: u64| Widened { most: (tried as i64).wrapping_sub(over.constant), period };
                self.endless.extend(tried.map(|tried| (symbol, endless(tried))));
            }
        }
    }

    /// The symbol whose number is known where it is known how often a loop runs, and that number.
    fn told(&self, [lower, upper, step]: [&LinearExpr; 3], trips: u64) -> Option<(u32, i64)> {
        let over = upper.minus(lower);
        let ([(symbol, 1)], Some(1), 0) = (over.terms.as_slice(), step.known(), self.trial) else { return None };
        Some((*symbol, (trips as i64).wrapping_sub(over.constant)))
    }

    /// The bounds of a loop inside one whose trip count is the same number.
    fn as_often(&mut self, id: OpId, written: &[LinearExpr; 3], bounds: [LinearExpr; 3]) -> [LinearExpr; 3] {
        let outer = written.iter().find_map(|form| self.bounds_around(form)).filter(|_| self.trial == 0);
        match outer {
            Some(outer) if !self.choices.is_made(&ChoiceKey::Trips(written.clone())) => {
                self.trace.rising.insert(id, outer);
                let known = self.running.iter().map(|(symbol, (count, _))| (*symbol, *count)).collect();
                bounds.map(|form| form.with(&known))
            }
            _ => bounds,
        }
    }

    /// The enclosing loop whose trip count determines a number of this form.
    pub(super) fn bounds_around(&self, form: &LinearExpr) -> Option<OpId> {
        form.terms.iter().find_map(|(symbol, _)| self.running.get(symbol)).map(|(_, outer)| *outer)
    }

    /// An empty body costs too.
    fn count(&mut self, op: &Op) -> Explored {
        self.steps += 1;
        match self.steps > self.subject.limits.steps {
            true => Err(self.too_long(op.span)),
            false => Ok(()),
        }
    }

    /// The trip count of a loop on this path, one of all the counts that decide every other one. It is the greatest of
    /// those if it stands for greater ones.
    fn trips(
        &mut self,
        id: OpId,
        op: &Op,
        key: ChoiceKey,
        (weight, peeled, most, least): (u64, u64, Option<u64>, Option<(u64, u64)>),
        rounds: impl Fn(&mut Self, u64) -> Explored,
    ) -> Result<Trips, Undecided> {
        if self.trial > 0 {
            // A choice made before the loop that is tried out holds in it.
            let chosen = self.settled.iter().find(|(known, _)| *known == key).map(|(_, trips)| *trips);
            let count = chosen.or(least.map(|(count, _)| count)).unwrap_or(TRIED);
            return Ok(Trips { count, tried: None, period: 1 });
        }
        let at = (id, self.subject.core);
        // On a path that was the same so far, it repeats itself as it did.
        let is_known = self.choices.periods.get(&at).is_some_and(|known| self.choices.is_after(&key, &known.after));
        if !is_known {
            let after = self.choices.before(&key);
            self.settled.clone_from(&after);
            let is_alike = self.is_alike(op);
            let repeats = self.period(op.span, weight, (peeled, is_alike), rounds)?;
            self.choices.periods.insert(at, Period { repeats, after });
        }
        let Repeats { trips, period, peeled, uneven } =
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
        let like = self.kin(id, &key, trips.len());
        let trips = self.choices.trips(key.clone(), &trips, period, like.as_ref());
        let stands_for_more = trips.saturating_add(period) > tried;
        let open = SymbolicLoop { op: id, key, period, peeled, tried, trips, most, uneven };
        if !self.trace.open.contains(&open) {
            self.trace.open.push(open);
        }
        Ok(Trips { count: trips, tried: stands_for_more.then_some(tried), period })
    }

    /// Whether it is a loop whose body does not use the induction variable and which carries no values.
    fn is_alike(&self, op: &Op) -> bool {
        let func = self.subject.func;
        let Ok(Control::For(f)) = Control::of(func, op) else { return false };
        let mut blocks = vec![f.body];
        while let Some(block) = blocks.pop() {
            for id in &func.block(block).ops {
                let op = func.op(*id);
                if op.values().any(|value| value == f.variable) {
                    return false;
                }
                blocks.extend(&op.blocks);
            }
        }
        f.carried.is_empty()
    }

    pub(super) fn is_global(&self, set: crate::trace::SetId) -> bool {
        matches!(self.sets.get(set).root, Root::Buffer(_) | Root::Anywhere)
    }
}

/// The trip count of a loop on a path.
#[derive(Clone, Copy)]
pub(super) struct Trips {
    pub count: u64,
    /// The greatest count that was tried, where this one stands for greater ones.
    pub tried: Option<u64>,
    pub period: u64,
}

/// The trip count of `scf.for`.
fn trip_count(lower: i64, upper: i64, step: i64) -> u64 {
    if step <= 0 {
        return 0;
    }
    let span = i128::from(upper) - i128::from(lower);
    u64::try_from((span + i128::from(step) - 1) / i128::from(step)).unwrap_or(0)
}
