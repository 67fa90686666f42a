//! Affine dependence test for accesses of global memory in loops with symbolic trip counts (sync.md 9; compare the
//! Diophantine tests of Banerjee, *Dependence Analysis for Supercomputing*, 1988).
//!
//! A few iterations show how the address of every access moves. For two accesses the test solves for the smallest
//! iterations in which they share bytes: in the same iteration of their common loops, or with the second access in a
//! later one. If loops must run longer than they were tried, they are tried once more with that count.

use crate::explore::{ChoiceKey, PathChoices};
use crate::happens_before::HappensBefore;
use crate::trace::{Root, SetId, Sets, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::OpId;

/// A path that is made longer has no more events than this.
const MAX_EVENTS: u64 = 100_000;
/// The limit of accesses that move differently; above it not every pair is compared.
const MAX_POINTS: usize = 1500;
/// Attempts to find where two accesses meet.
const MAX_TRIES: u32 = 20_000;
/// The largest distance, in iterations, that is tested one by one; beyond it the nearest distance suffices.
const NEAR: i128 = 3;

/// A loop around an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LoopLevel {
    op: OpId,
    /// The choice that it is; none where its trip count is a constant.
    key: Option<ChoiceKey>,
    /// The turn in which the access is first seen, and after how many it is as it was.
    first: u64,
    period: u64,
    /// The greatest number of iterations.
    most: Option<u64>,
    /// Bytes from one turn to that a period later.
    step: i64,
}

/// An operand of an instruction, in every turn that is the same but for where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Point {
    process: usize,
    root: Root,
    terms: crate::linear_expr::Terms,
    /// First byte, and how many from the first to the last.
    start: i64,
    size: i64,
    writes: bool,
    adds: bool,
    around: Vec<LoopLevel>,
}

/// An occurrence of a program point: its iterations and its event.
type Seen = (SmallVec<[u64; 3]>, usize, SetId);

/// The invariant key of a program point: its operation, the access's number, and the phase of each loop's period.
type Class = (OpId, usize, SmallVec<[u64; 3]>);

/// A point, and where it was seen.
type Occurrences = (Point, Vec<Seen>);

/// Looks at one path on which every loop runs as often as it is tried, and asks for longer ones; the events that only an
/// unknown number of turns decides.
pub fn ask(
    traces: &[&Trace],
    sets: &Sets,
    order: Option<&HappensBefore>,
    choices: &mut PathChoices,
) -> Option<[(usize, usize); 2]> {
    let open = || traces.iter().flat_map(|t| &t.open);
    if open().next().is_none() || open().any(|loop_| loop_.trips < loop_.tried) {
        return None;
    }
    let mut written: FxHashSet<Root> = FxHashSet::default();
    for access in traces.iter().flat_map(|t| &t.accesses).filter(|a| a.writes) {
        written.insert(sets.get(access.set).root);
    }
    written.retain(|root| matches!(root, Root::Buffer(_) | Root::Anywhere));
    if written.is_empty() {
        return None;
    }
    let mut points: Vec<Occurrences> = Vec::new();
    let mut unclear = None;
    for (process, trace) in traces.iter().enumerate() {
        unclear = unclear.or(collect(process, trace, sets, &written, &mut points));
    }
    let mut known: FxHashSet<Point> = FxHashSet::default();
    points.retain(|(point, _)| known.insert(point.clone()));
    if points.len() > MAX_POINTS {
        let at = |n: usize| (points[n].0.process, points[n].1[0].1);
        return Some([at(0), at(points.len() - 1)]);
    }
    let events = traces.iter().map(|t| t.events.len() as u64).sum::<u64>();
    let mut runs: FxHashMap<ChoiceKey, (u64, u64)> = FxHashMap::default();
    for loop_ in open() {
        let (tried, now) = runs.entry(loop_.key.clone()).or_insert((0, 1));
        (*tried, *now) = ((*tried).max(loop_.tried), (*now).max(loop_.trips));
    }
    let mut meet = DependenceTest { order, choices, runs, events, unclear };
    for (n, x) in points.iter().enumerate() {
        for (m, y) in points.iter().enumerate() {
            let (a, b) = (&x.0, &y.0);
            let conflict = (a.writes || b.writes) && !(a.adds && b.adds);
            if conflict && a.root == b.root && a.terms == b.terms {
                meet.pair(x, y, n < m);
            }
        }
    }
    meet.unclear
}

/// The points of a process; an access that moves in no regular way is given back.
fn collect(
    process: usize,
    trace: &Trace,
    sets: &Sets,
    written: &FxHashSet<Root>,
    out: &mut Vec<Occurrences>,
) -> Option<[(usize, usize); 2]> {
    let loops: FxHashMap<OpId, &crate::explore::SymbolicLoop> = trace.open.iter().map(|o| (o.op, o)).collect();
    // A loop that is another one each time has no form.
    let mut ones: FxHashMap<OpId, bool> = FxHashMap::default();
    for open in &trace.open {
        ones.entry(open.op).and_modify(|one| *one = false).or_insert(true);
    }
    let is_one = |op: &OpId| ones.get(op).is_some_and(|one| *one);
    let mut rising: FxHashMap<OpId, &crate::explore::SymbolicLoop> = FxHashMap::default();
    for open in &trace.open {
        rising.extend(open.uneven.iter().map(|op| (*op, open)));
        rising.extend(trace.rising.iter().filter(|(_, outer)| **outer == open.op).map(|(op, _)| (*op, open)));
    }
    let mut counts: FxHashMap<OpId, u64> = FxHashMap::default();
    for (op, turn) in trace.turns.iter().flatten() {
        let count = counts.entry(*op).or_default();
        *count = (*count).max(turn + 1);
    }
    let mut groups: FxHashMap<Class, Vec<Seen>> = FxHashMap::default();
    for (n, event) in trace.events.iter().enumerate() {
        let turns = &trace.turns[event.turn as usize];
        for (which, access) in trace.accesses_of(n).iter().enumerate() {
            if !access.exact || !written.contains(&sets.get(access.set).root) {
                continue;
            }
            let class = |(op, turn): &(OpId, u64)| match loops.get(op) {
                Some(open) if *turn < open.peeled => *turn,
                Some(open) => open.peeled + (turn - open.peeled) % open.period.max(1),
                None => 0,
            };
            let key = (event.op, which, turns.iter().map(class).collect());
            groups.entry(key).or_default().push((turns.iter().map(|t| t.1).collect(), n, access.set));
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(_, seen)| (seen[0].1, seen[0].2));
    let mut unclear = None;
    for ((_, which, _), seen) in groups {
        let (first, event, set) = seen[0].clone();
        let turns = &trace.turns[trace.events[event].turn as usize];
        let access = &trace.accesses_of(event)[which];
        let bytes = sets.get(set);
        let (low, high) = bytes.span();
        let around = |(k, (op, turn)): (usize, &(OpId, u64))| {
            let open = loops.get(op).copied().filter(|open| *turn >= open.peeled && is_one(op));
            let period = open.map_or(1, |open| open.period.max(1));
            let rises = || rising.get(op).copied();
            let step = moves_by(&seen, k, period, sets);
            let most = match open {
                Some(open) => open.most,
                None => counts.get(op).copied().filter(|_| rises().is_none()),
            };
            let key = open.or_else(rises).map(|o| o.key.clone());
            // The position at which it would have occurred first; an inner loop may not run in the first iterations.
            let first = open.map_or(*turn, |open| open.peeled + (turn - open.peeled) % period);
            LoopLevel { op: *op, key, first, period, most, step }
        };
        let around: Vec<LoopLevel> = turns.iter().enumerate().map(around).collect();
        let early: i64 =
            first.iter().zip(&around).map(|(turn, a)| (turn - a.first) as i64 / a.period as i64 * a.step).sum();
        let (low, high) = (low - early, high - early);
        let (root, terms) = (bytes.root, bytes.terms.clone());
        let (writes, adds) = (access.writes, access.adds);
        let point = Point { process, root, terms, start: low, size: high - low, writes, adds, around };
        let moved = |s: &Seen| {
            let by =
                s.0.iter()
                    .zip(&point.around)
                    .map(|(turn, a)| (turn - a.first.min(*turn)) as i64 / a.period as i64 * a.step);
            by.sum::<i64>()
        };
        let is_regular = |s: &Seen| {
            let other = sets.get(s.2);
            other.terms != point.terms || other.span() == (low + moved(s), high + moved(s))
        };
        match seen.iter().find(|s| !is_regular(s)) {
            None => out.push((point, seen)),
            // With constants only, every turn was looked at.
            Some(_) if point.around.iter().all(|a| a.key.is_none()) => {}
            Some(odd) => unclear = unclear.or(Some([(process, event), (process, odd.1)])),
        }
    }
    unclear
}

/// The distance between an access and its counterpart one period earlier.
fn moves_by(seen: &[Seen], level: usize, period: u64, sets: &Sets) -> i64 {
    let start = |s: &Seen| sets.get(s.2).span().0;
    let is_later = |a: &Seen, b: &Seen| {
        a.0.iter().zip(&b.0).enumerate().all(|(l, (a, b))| *b == *a + if l == level { period } else { 0 })
    };
    let by = |a: &Seen, b: &Seen| start(b).wrapping_sub(start(a));
    let Some(first) = seen.first() else { return 0 };
    if let Some(next) = seen.iter().find(|s| is_later(first, s)) {
        return by(first, next);
    }
    // An inner loop may not run as often in the first turns.
    let all: FxHashMap<&[u64], &Seen> = seen.iter().map(|s| (s.0.as_slice(), s)).collect();
    let next = |s: &Seen| {
        let mut turns = s.0.clone();
        *turns.get_mut(level)? += period;
        all.get(turns.as_slice()).map(|next| by(s, next))
    };
    seen.iter().find_map(next).unwrap_or(0)
}

struct DependenceTest<'a> {
    order: Option<&'a HappensBefore>,
    choices: &'a mut PathChoices,
    /// By choice: how often its loops run at least, and how often they do on this path.
    runs: FxHashMap<ChoiceKey, (u64, u64)>,
    events: u64,
    unclear: Option<[(usize, usize); 2]>,
}

/// A number of turns: how many bytes one more is, and the most that there can be.
#[derive(Clone, Copy)]
struct Unknown {
    step: i128,
    most: i128,
}

/// The relation between the iterations of two accesses. The outermost `common` loops are in the same iteration; in the
/// next loop the second access is later, by this many periods if given.
#[derive(Clone, Copy)]
struct DependenceDistance {
    same: usize,
    later: Option<Option<i128>>,
}

impl DependenceTest<'_> {
    /// Looks where the first meets the second: in a later turn of each of the loops around both, or in the same turn of
    /// all of them (asked for once).
    fn pair(&mut self, x: &Occurrences, y: &Occurrences, once: bool) {
        let (a, b) = (&x.0, &y.0);
        let is_same = |(l, m): &(&LoopLevel, &LoopLevel)| match a.process == b.process {
            true => l.op == m.op,
            false => l.key.is_some() && l.key == m.key && l.period == m.period,
        };
        let common = a.around.iter().zip(&b.around).take_while(is_same).count();
        if once {
            self.look(x, y, DependenceDistance { same: common, later: None });
        }
        for same in 0..common {
            self.look(x, y, DependenceDistance { same, later: Some(None) });
            // Two accesses that move at different speeds may come close to each other late.
            if a.around[same].step != b.around[same].step {
                (0..NEAR).for_each(|t| self.look(x, y, DependenceDistance { same, later: Some(Some(t)) }));
            }
        }
    }

    /// The least turns in which the two meet, if there are any and nothing orders them; loops run as long as that later.
    fn look(&mut self, x: &Occurrences, y: &Occurrences, apart: DependenceDistance) {
        let (a, b) = (&x.0, &y.0);
        let same = apart.same;
        if a.around[..same].iter().zip(&b.around[..same]).any(|(l, m)| l.first != m.first) {
            return;
        }
        let most = |around: &LoopLevel| {
            around.most.map_or(i128::from(u32::MAX), |n| i128::from(n.saturating_sub(1 + around.first) / around.period))
        };
        let unknown = |step: i128, most: i128| Unknown { step, most };
        let own = |around: &LoopLevel, sign: i128| unknown(sign * i128::from(around.step), most(around));
        let both = |k: usize| {
            let (l, m) = (&a.around[k], &b.around[k]);
            unknown(i128::from(l.step) - i128::from(m.step), most(l).min(most(m)))
        };
        let mut unknowns: Vec<Unknown> = (0..same).map(both).collect();
        let mut offset = i128::from(a.start) - i128::from(b.start);
        let mut after = 0;
        let rest = match apart.later {
            None => same,
            Some(by) => {
                let (l, m) = (&a.around[same], &b.around[same]);
                after = i128::from(m.first <= l.first);
                offset -= after * i128::from(m.step);
                let mut far = own(m, -1);
                if let Some(ordered) = self.is_ordered_far(x, y, same) {
                    far.most = far.most.min(ordered - 1 - after);
                }
                if let Some(by) = by {
                    offset -= by * i128::from(m.step);
                    (far, after) = (unknown(0, far.most.min(by) - by), after + by);
                }
                if far.most < 0 {
                    return;
                }
                unknowns.extend([both(same), far]);
                same + 1
            }
        };
        if apart.later.is_none() && self.is_ordered_near(x, y, same) {
            return;
        }
        unknowns.extend(a.around[rest..].iter().map(|around| own(around, 1)));
        unknowns.extend(b.around[rest..].iter().map(|around| own(around, -1)));
        let window = (-i128::from(a.size) - offset, i128::from(b.size) - offset);
        let turns = match least(&unknowns, window) {
            Ok(Some(turns)) => turns,
            Ok(None) => return,
            Err(TooMany) => return self.give_up(x, y),
        };
        // The turns of each loop of the two.
        let (head, tail) = turns.split_at(if apart.later.is_some() { same + 2 } else { same });
        let (mut left, mut right) = (head.to_vec(), head.to_vec());
        if apart.later.is_some() {
            left.truncate(same + 1);
            let gap = right.pop().unwrap_or(0) + after;
            right.iter_mut().skip(same).for_each(|u| *u += gap);
        }
        left.extend(&tail[..a.around.len() - rest]);
        right.extend(&tail[a.around.len() - rest..]);
        self.run_longer(x, y, &left, &right);
    }

    /// Asks for runs in which both have as many turns.
    fn run_longer(&mut self, x: &Occurrences, y: &Occurrences, left: &[i128], right: &[i128]) {
        let mut needs: FxHashMap<&ChoiceKey, (u64, u64)> = FxHashMap::default();
        for (around, turns) in x.0.around.iter().zip(left).chain(y.0.around.iter().zip(right)) {
            let need = i128::from(around.first) + i128::from(around.period) * turns + 1;
            let Ok(need) = u64::try_from(need) else { return };
            if around.most.is_some_and(|most| need > most) {
                return;
            }
            if let Some(key) = &around.key {
                let (most, period) = needs.entry(key).or_default();
                (*most, *period) = ((*most).max(need), (*period).max(around.period));
            }
        }
        let tried = |key: &ChoiceKey| self.runs.get(key).map_or(0, |(tried, _)| *tried);
        needs.retain(|key, (need, _)| *need > tried(key));
        if needs.is_empty() {
            return;
        }
        // As many loops inside each other grow as have the same bounds.
        let now = |key: &ChoiceKey| self.runs.get(key).map_or(1, |(_, now)| *now);
        let depth = |key: &ChoiceKey| {
            let of = |point: &Point| point.around.iter().filter(|a| a.key.as_ref() == Some(key)).count();
            of(&x.0).max(of(&y.0))
        };
        let longer = needs.iter().fold(self.events, |events, (key, (need, period))| {
            let now = now(key);
            (0..depth(key)).fold(events, |events, _| events.saturating_mul((need + period).max(now)) / now)
        });
        if longer > MAX_EVENTS {
            return self.give_up(x, y);
        }
        for (key, (need, period)) in needs {
            (need..=need + period).for_each(|trips| self.choices.also(key, trips));
        }
    }

    fn give_up(&mut self, x: &Occurrences, y: &Occurrences) {
        self.unclear.get_or_insert([(x.0.process, x.1[0].1), (y.0.process, y.1[0].1)]);
    }

    /// The number of periods of a loop after which the first access always precedes the second, independent of inner
    /// loops. A predecessor of an event precedes everything later on that event's pipe.
    fn is_ordered_far(&self, x: &Occurrences, y: &Occurrences, level: usize) -> Option<i128> {
        let order = self.order?;
        // The first and the last event in each period, in the first turn of the loops around this one.
        let turns = |found: &Occurrences| -> Vec<Option<(usize, usize)>> {
            let LoopLevel { first, period, .. } = found.0.around[level];
            let mut found_at: Vec<Option<(usize, usize)>> = Vec::new();
            for (turns, event, _) in found.1.iter().filter(|seen| is_at(x, y, seen, level)) {
                let node = order.first[found.0.process] + event;
                let at = ((turns[level] - first) / period) as usize;
                if found_at.len() <= at {
                    found_at.resize(at + 1, None);
                }
                found_at[at] = Some((found_at[at].map_or(node, |(begin, _)| begin), node));
            }
            found_at
        };
        let (xs, ys) = (turns(x), turns(y));
        let at = xs.iter().position(Option::is_some)? + 1;
        let (begin, end) = xs.get(at).copied().flatten()?;
        let before =
            |y: &Option<(usize, usize)>| y.is_some_and(|y| order.precedes(begin, y.0) && order.precedes(end, y.0));
        ys.iter().skip(at).position(before).map(|periods| periods as i128)
    }

    /// Whether one of the two precedes the other in the same iteration of their common loops, independent of inner
    /// loops.
    fn is_ordered_near(&self, x: &Occurrences, y: &Occurrences, same: usize) -> bool {
        let Some(order) = self.order else { return false };
        let here = |found: &Occurrences| {
            let is = |s: &&Seen| is_at(x, y, s, same);
            let node = |s: &Seen| order.first[found.0.process] + s.1;
            let all = || found.1.iter().filter(is).map(node);
            all().min().zip(all().max())
        };
        let (Some((x0, x1)), Some((y0, y1))) = (here(x), here(y)) else { return false };
        order.precedes(x1, y0) || order.precedes(y1, x0)
    }
}

/// Whether this is the first iteration of the outer loops in which both occurred.
fn is_at(x: &Occurrences, y: &Occurrences, seen: &Seen, outer: usize) -> bool {
    (0..outer).all(|k| seen.0[k] == x.1[0].0[k].max(y.1[0].0[k]))
}

/// There were too many ways to try.
struct TooMany;

/// Numbers, the largest of them as small as can be, that bring the sum of all steps strictly between two bounds.
fn least(unknowns: &[Unknown], window: (i128, i128)) -> Result<Option<Vec<i128>>, TooMany> {
    // Large steps first: little is left for the others to make up.
    let mut by_step: Vec<usize> = (0..unknowns.len()).filter(|n| unknowns[*n].step != 0).collect();
    by_step.sort_by_key(|n| std::cmp::Reverse(unknowns[*n].step.abs()));
    let sorted: Vec<Unknown> = by_step.iter().map(|n| unknowns[*n]).collect();
    // Only multiples of what divides all steps are reached, and those not far away by small numbers.
    let unit = sorted.iter().fold(0, |unit, u| gcd(unit, u.step.abs())).max(1);
    if (window.1 - 1).div_euclid(unit) * unit <= window.0 {
        return Ok(None);
    }
    let largest = sorted.first().map_or(0, |u| u.step.abs());
    let enough = (2 * largest + window.0.abs().max(window.1.abs())) / unit + 1;
    let mut tries = MAX_TRIES;
    let mut within = |most: i128| {
        let bounded: Vec<Unknown> = sorted.iter().map(|u| Unknown { most: u.most.min(most), ..*u }).collect();
        let mut found = Vec::new();
        reach(&bounded, window, &mut found, &mut tries).map(|is| is.then_some(found))
    };
    let mut high = 0;
    let mut found = loop {
        match within(high)? {
            Some(found) => break found,
            None if high > enough.min(MAX_EVENTS.into()) => return Ok(None),
            None => high = 2 * high + 1,
        }
    };
    let mut low = high / 2;
    while low < high {
        let middle = (low + high) / 2;
        match within(middle)? {
            Some(better) => (found, high) = (better, middle),
            None => low = middle + 1,
        }
    }
    let mut all = vec![0; unknowns.len()];
    by_step.iter().zip(found).for_each(|(n, value)| all[*n] = value);
    Ok(Some(all))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The smallest values that bring the sum strictly between two bounds, if there are any.
fn reach(left: &[Unknown], (low, high): (i128, i128), found: &mut Vec<i128>, tries: &mut u32) -> Result<bool, TooMany> {
    *tries = tries.checked_sub(1).ok_or(TooMany)?;
    let Some((first, rest)) = left.split_first() else { return Ok(low < 0 && 0 < high) };
    // The range that the remaining terms can cover.
    let least: i128 = rest.iter().map(|u| (u.step * u.most).min(0)).sum();
    let most: i128 = rest.iter().map(|u| (u.step * u.most).max(0)).sum();
    // low - most < step · n < high - least
    let (low_end, high_end) = (low - most + 1, high - least - 1);
    let (from, to) = match first.step > 0 {
        true => (-(-low_end).div_euclid(first.step), high_end.div_euclid(first.step)),
        false => (-(high_end).div_euclid(-first.step), (-low_end).div_euclid(-first.step)),
    };
    for n in from.max(0)..=to.min(first.most) {
        found.push(n);
        let by = first.step * n;
        if reach(rest, (low - by, high - by), found, tries)? {
            return Ok(true);
        }
        found.pop();
    }
    Ok(false)
}
