//! Path choices: the arm of a branch and the trip count of a loop, if the program does not determine them (sync.md 4).

use super::Core;
use super::footprint_cache::{Known, Shape};
use super::tiles::{Alike, Seen};
use crate::linear_expr::{Expr, LinearExpr, Symbols, Terms};
use crate::sync_op::SyncOp;
use crate::trace::Misuse;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use tessera_ir::{CmpPred, OpId, ValueId};

/// The greatest number of combinations of arms that are explored.
pub(super) const MAX_PATHS: usize = 64;

/// The subject of a choice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChoiceKey {
    /// `terms ≤ n`.
    AtMost(Terms, i64),
    /// `terms = n`.
    Equal(Terms, i64),
    /// Any other condition.
    Holds(LinearExpr),
    /// The trip count of a loop: its bounds and step.
    Trips([LinearExpr; 3]),
    /// The trip count of `scf.while`.
    While(OpId),
}

/// The periodic behaviour of a loop with a symbolic trip count.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// The trip counts that decide all others, as far as memories of the chip and flags go.
    pub(super) trips: Vec<u64>,
    pub(super) period: u64,
    /// Iterations before it repeats itself.
    pub(super) peeled: u64,
    /// Loops inside it that run as often as its counter says.
    pub(super) uneven: Vec<OpId>,
}

/// The effect of a synchronisation operation, and the id that it writes.
pub(super) type Written = Rc<(SyncOp, Option<i64>)>;

/// The same, found after these choices.
#[derive(Clone, Debug, Default)]
pub(super) struct Period {
    pub(super) repeats: Repeats,
    /// The choices that were made when this was found.
    pub(super) after: Vec<(ChoiceKey, u64)>,
}

/// A loop that ran as often as was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicLoop {
    pub op: OpId,
    pub key: ChoiceKey,
    pub period: u64,
    /// Iterations before it repeats itself.
    pub peeled: u64,
    /// The most iterations that are tried whatever global memory is about.
    pub tried: u64,
    pub trips: u64,
    /// As often as it really runs, where that is known and too much to be unrolled.
    pub most: Option<u64>,
    /// Loops inside it that run as often as its counter says.
    pub uneven: Vec<OpId>,
}

/// The choices of one path, of which the last one changes first.
#[derive(Clone, Debug, Default)]
pub struct PathChoices {
    /// Each choice's key, its options, and the index of the chosen one.
    made: Vec<(ChoiceKey, Vec<u64>, usize)>,
    /// The constraints of the conditions so far on sums of symbols: lower bound, upper bound, excluded values.
    facts: FxHashMap<Terms, (i64, i64, Vec<i64>)>,
    paths: FxHashSet<Vec<(ChoiceKey, usize)>>,
    /// Further trip counts, for which accesses of global memory conflict that do not conflict for any other: those
    /// that are explored, and those that are pending.
    far: FxHashMap<ChoiceKey, Vec<u64>>,
    later: FxHashMap<ChoiceKey, Vec<u64>>,
    /// Whether everything is explored once more, so that only longer runs are new.
    pub again: bool,
    /// Arguments without whose numbers a run is not known.
    pub missing: Vec<ValueId>,
    /// The misuses in iterations of a loop that has no period.
    pub wrong: Vec<Misuse>,
    pub(super) periods: FxHashMap<(OpId, Core), Period>,
    /// The footprints of instructions that are the same except for the places of their tiles.
    pub(super) alike: FxHashMap<Alike, Vec<Seen>>,
    /// By operation, the same for those that come again on the same kinds of operands.
    pub(super) known: Vec<Option<Rc<Known>>>,
    pub(super) shapes: FxHashMap<Shape, u32>,
    /// The effects of synchronisation operations on a core, and the ids that they write.
    pub(super) deeds: FxHashMap<(OpId, Core), Written>,
    /// All processes and paths speak of the same symbols.
    pub(super) symbols: Symbols,
}

impl PathChoices {
    /// Makes the last choice that has another option otherwise; false where all was tried.
    pub fn advance(&mut self) -> bool {
        self.facts.clear();
        while let Some((_, options, chosen)) = self.made.last_mut() {
            if *chosen + 1 < options.len() {
                *chosen += 1;
                return true;
            }
            self.made.pop();
        }
        // Everything once more with what was found meanwhile.
        let more = !self.later.is_empty();
        self.again |= more;
        for (key, trips) in self.later.drain() {
            self.far.entry(key).or_default().extend(trips);
        }
        more
    }

    /// Requests that a later exploration also runs the loop `trips` times, unless this is known.
    pub fn also(&mut self, key: &ChoiceKey, trips: u64) {
        let is_known = |of: &FxHashMap<ChoiceKey, Vec<u64>>| of.get(key).is_some_and(|all| all.contains(&trips));
        if !is_known(&self.far) && !is_known(&self.later) {
            self.later.entry(key.clone()).or_default().push(trips);
        }
    }

    /// Whether loops have to run longer than they are tried independently of global memory.
    pub fn go_far(&self) -> bool {
        !self.far.is_empty() || !self.later.is_empty()
    }

    /// One of these trip counts, or of those that [`PathChoices::also`] added; that of another choice, where it can be.
    pub(super) fn trips(&mut self, key: ChoiceKey, options: &[u64], period: u64, like: Option<&ChoiceKey>) -> u64 {
        let far = self.far.get(&key).map_or(&[][..], Vec::as_slice);
        let mut options = self.possible(&key, [options, far].concat(), period);
        let like = like.and_then(|like| self.made.iter().find(|(known, ..)| known == like));
        if let Some(same) = like.and_then(|(_, options, chosen)| options.get(*chosen)).filter(|n| options.contains(n)) {
            options = vec![*same];
        }
        self.choose(key, &options)
    }

    /// The trip counts among `options` that the known bounds allow. If the bounds require more than all of them, the
    /// last period represents the required count.
    fn possible(&self, key: &ChoiceKey, options: Vec<u64>, period: u64) -> Vec<u64> {
        let ChoiceKey::Trips([lower, upper, step]) = key else { return options };
        let over = upper.minus(lower);
        let (Some((low, high, not)), Some(step)) = (self.facts.get(&over.terms), step.known()) else { return options };
        let i128s = [*low, *high, over.constant, step].map(i128::from);
        let [low, high, constant, step] = i128s;
        let (low, high) = (low + constant, high + constant);
        let is_possible = |trips: &&u64| {
            let (trips, least) = (i128::from(**trips) * step, (i128::from(**trips) - 1) * step);
            let is_known = trips > 0 && step == 1 && not.iter().any(|n| i128::from(*n) + constant == trips);
            (trips == 0 || high > least) && low <= trips && !is_known
        };
        let possible: Vec<u64> = options.iter().filter(is_possible).copied().collect();
        let most = options.iter().max().copied().unwrap_or(0);
        match possible.is_empty() {
            true => options.into_iter().filter(|trips| trips + period > most).collect(),
            false => possible,
        }
    }

    /// One of these options, the same for every call with this key: later calls may have more options.
    pub(super) fn choose(&mut self, key: ChoiceKey, options: &[u64]) -> u64 {
        let at = self.made.iter().position(|(known, ..)| *known == key).unwrap_or_else(|| {
            self.made.push((key, Vec::new(), 0));
            self.made.len() - 1
        });
        let (_, known, chosen) = &mut self.made[at];
        for option in options {
            if !known.contains(option) {
                known.push(*option);
            }
        }
        known.get(*chosen).copied().unwrap_or(0)
    }

    /// Whether the path already made this choice.
    pub(super) fn is_made(&self, key: &ChoiceKey) -> bool {
        self.made.iter().any(|(known, ..)| known == key)
    }

    /// The choices made before the first use of a key.
    pub(super) fn before(&self, key: &ChoiceKey) -> Vec<(ChoiceKey, u64)> {
        let made = self.made.iter().take_while(|(known, ..)| known != key);
        made.map(|(known, options, chosen)| (known.clone(), options.get(*chosen).copied().unwrap_or(0))).collect()
    }

    /// Whether exactly these choices were made before the first use of a key.
    pub(super) fn is_after(&self, key: &ChoiceKey, chosen: &[(ChoiceKey, u64)]) -> bool {
        let made = self.made.iter().take_while(|(known, ..)| known != key);
        let made = made.map(|(known, options, at)| (known, options.get(*at).copied().unwrap_or(0)));
        made.eq(chosen.iter().map(|(known, option)| (known, *option)))
    }

    /// The cost of remembering a path: each choice is compared with those before it.
    pub fn weight(&self) -> u64 {
        let made = self.made.len() as u64;
        made * made / 4
    }

    /// From here on a sum of symbols is at most this.
    pub(super) fn at_most(&mut self, terms: &Terms, n: i64) {
        let fact = self.facts.entry(terms.clone()).or_insert((i64::MIN, i64::MAX, Vec::new()));
        fact.1 = fact.1.min(n);
    }

    /// The most that a form is, as far as it is known.
    pub(super) fn most(&self, form: &LinearExpr) -> Option<i64> {
        let (_, high, _) = self.facts.get(&form.terms)?;
        Some(*high).filter(|h| *h < i64::MAX).map(|h| h.saturating_add(form.constant))
    }

    /// Whether the condition holds on this path; `None` if there are too many paths.
    pub(super) fn decide(&mut self, key: ChoiceKey) -> Option<bool> {
        let (low, high, not) = match &key {
            ChoiceKey::AtMost(terms, _) | ChoiceKey::Equal(terms, _) => {
                self.facts.get(terms).cloned().unwrap_or((i64::MIN, i64::MAX, Vec::new()))
            }
            _ => (i64::MIN, i64::MAX, Vec::new()),
        };
        let known = match &key {
            ChoiceKey::AtMost(_, n) if high <= *n => Some(true),
            ChoiceKey::AtMost(_, n) if low > *n => Some(false),
            ChoiceKey::Equal(_, n) if not.contains(n) || *n < low || *n > high => Some(false),
            ChoiceKey::Equal(_, n) if low == *n && high == *n => Some(true),
            _ => None,
        };
        if known.is_some() {
            return known;
        }
        let holds = self.choose(key.clone(), &[1, 0]) == 1;
        match key {
            ChoiceKey::AtMost(terms, n) => {
                let fact = self.facts.entry(terms).or_insert((i64::MIN, i64::MAX, Vec::new()));
                if holds { fact.1 = fact.1.min(n) } else { fact.0 = fact.0.max(n.saturating_add(1)) }
            }
            ChoiceKey::Equal(terms, n) => {
                let fact = self.facts.entry(terms).or_insert((i64::MIN, i64::MAX, Vec::new()));
                if holds { (fact.0, fact.1) = (n, n) } else { fact.2.push(n) }
            }
            _ => {}
        }
        let arms = self.made.iter().filter(|(key, ..)| !matches!(key, ChoiceKey::Trips(_) | ChoiceKey::While(_)));
        self.paths.insert(arms.map(|(key, _, chosen)| (key.clone(), *chosen)).collect());
        // A binary tree with `MAX_PATHS` leaves has `2 * MAX_PATHS - 2` arms.
        (self.paths.len() <= 2 * MAX_PATHS - 2).then_some(holds)
    }
}

/// The condition that a form is, with what it means that it holds.
pub(super) fn condition(symbols: &Symbols, form: &LinearExpr) -> (ChoiceKey, bool) {
    let Some(Expr::Cmp(pred, _, a, b)) = symbols.expr(form) else { return (ChoiceKey::Holds(form.clone()), true) };
    let mut difference = a.minus(b);
    let flipped = difference.terms.first().is_some_and(|t| t.1 < 0);
    if flipped {
        difference = difference.times(-1);
    }
    // terms + constant ? 0, with both sides negated where flipped.
    let (terms, n) = (difference.terms, difference.constant.wrapping_neg());
    match (pred, flipped) {
        (CmpPred::Eq, _) => (ChoiceKey::Equal(terms, n), true),
        (CmpPred::Ne, _) => (ChoiceKey::Equal(terms, n), false),
        (CmpPred::Sle, false) | (CmpPred::Sge, true) => (ChoiceKey::AtMost(terms, n), true),
        (CmpPred::Slt, false) | (CmpPred::Sgt, true) => (ChoiceKey::AtMost(terms, n.wrapping_sub(1)), true),
        (CmpPred::Sgt, false) | (CmpPred::Slt, true) => (ChoiceKey::AtMost(terms, n), false),
        (CmpPred::Sge, false) | (CmpPred::Sle, true) => (ChoiceKey::AtMost(terms, n.wrapping_sub(1)), false),
        _ => (ChoiceKey::Holds(form.clone()), true),
    }
}
