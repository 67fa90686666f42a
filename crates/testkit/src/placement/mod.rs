//! An independent check of a placement: no shared code with the planner but the shape of the program.
//!
//! The planner thinks in intervals of program order; this checker walks the graph of all steps with its loops and
//! branches, follows every handle, and computes liveness by the textbook: a storage is occupied where it has been
//! touched since its contents began and will be touched again. It costs time quadratic in the program, and is meant for
//! tests only.

mod effect;
mod graph;

use effect::{Effect, Program, State};
use graph::{Graph, Step};
use std::collections::BTreeSet;
use tessera_ir::{Def, Func, Module, ValueId};
use tessera_isa::profile::Profile;
use tessera_plan::Placement;

type Values = BTreeSet<ValueId>;

/// Checks a placement of an inlined function: tiles that are occupied together do not overlap, contents are marked
/// undefined once and before their first use, addresses are aligned, inside the memory, and away from manual tiles.
/// The error says what is wrong.
pub fn validate(
    module: &Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
    keep: &[ValueId],
) -> Result<(), String> {
    let mut order = vec![0; func.ops.len()];
    let mut n = 0;
    func.walk(&mut |id, _, _| {
        n += 1;
        order[id.index()] = n;
    });
    let program =
        Program { module, func, profile, placement, order, keep: keep.iter().chain(&func.outputs).copied().collect() };
    addresses(&program)?;
    let graph = Graph::new(func);
    let facts = follow(&program, &graph);
    for effect in facts.iter().map(|f| &f.effect) {
        if let Some(v) = effect.stale {
            return Err(format!("{} is used after what it refers to was overwritten", program.name(v)));
        }
        if let Some(v) = effect.touch.iter().find(|v| placement.slot(**v).is_none()) {
            return Err(format!("{} is used and has no storage", program.name(*v)));
        }
    }
    let occupied = occupied(&program, &graph, &facts);
    overlaps(&program, &facts, &occupied)?;
    freshness(&program, &graph, &facts, &occupied)
}

/// Alignment, size, capacity, and distance from manual tiles: facts of single slots.
fn addresses(p: &Program) -> Result<(), String> {
    for (v, slot) in p.values().filter_map(|v| Some((v, p.placement.slot(v)?))) {
        let name = p.name(v);
        let (from, to) = (slot.addr, slot.limit());
        let tile = p.tile(v).ok_or(format!("{name} has storage and is no tile"))?;
        if tile.loc != slot.loc || tile.bytes() != slot.bytes {
            return Err(format!("{name} needs {} bytes of {}", tile.bytes(), tile.loc));
        }
        if from % slot.loc.align() != 0 {
            return Err(format!("{name} at {from:#x} is not aligned to {}", slot.loc.align()));
        }
        if let Some(m) = p.profile.memory(slot.loc)
            && m.bytes.is_some_and(|b| to > b - m.reserved)
        {
            return Err(format!("{name} ends at {to:#x}, past the end of {}", slot.loc));
        }
        if p.placement.high_water[slot.loc as usize] < to {
            return Err(format!("{name} ends at {to:#x}, above the high water mark"));
        }
        for m in p.placement.manual.iter().filter(|m| m.slot.loc == slot.loc) {
            let computed = p.placement.computed[slot.loc as usize];
            if from < m.slot.limit() && (m.slot.addr < to || computed) {
                let other = p.name(m.value);
                return Err(format!("{name} at {from:#x} overlaps the manual tile {other} at {:#x}", m.slot.addr));
            }
        }
    }
    Ok(())
}

/// A step with what holds before and after it.
struct Facts {
    effect: Effect,
    before: State,
    after: State,
}

/// What may hold where a node is reached, over all paths along `next`: `step` maps it to what holds behind the node, and
/// `join` adds that to what is known at another one and says whether it was news.
fn settle<S: Clone>(
    next: &[Vec<usize>],
    mut known: Vec<S>,
    step: impl Fn(usize, &S) -> S,
    join: impl Fn(&mut S, &S) -> bool,
) -> Vec<S> {
    let mut work: BTreeSet<usize> = (0..next.len()).collect();
    while let Some(node) = work.pop_first() {
        let out = step(node, &known[node]);
        work.extend(next[node].iter().copied().filter(|n| join(&mut known[*n], &out)));
    }
    known
}

/// Adds values; was one of them new?
fn add(into: &mut Values, more: &Values) -> bool {
    let known = into.len();
    into.extend(more);
    into.len() > known
}

/// Runs all steps until no handle may refer to anything new.
fn follow(p: &Program, graph: &Graph) -> Vec<Facts> {
    let run = |node: usize, before: &State| {
        let mut after = before.clone();
        let effect = p.run(graph.steps[node], &mut after);
        (effect, after)
    };
    let unknown = vec![State::default(); graph.steps.len()];
    let before = settle(&graph.next, unknown, |node, before| run(node, before).1, State::join);
    let facts = before.into_iter().enumerate().map(|(node, before)| {
        let (effect, after) = run(node, &before);
        Facts { effect, before, after }
    });
    facts.collect()
}

/// Forward over all paths: `step` maps what holds before a node to what holds after it; gives what may hold before.
fn forward(graph: &Graph, entry: Values, step: impl Fn(usize, &Values) -> Values) -> Vec<Values> {
    let mut into = vec![Values::new(); graph.steps.len()];
    into[0] = entry;
    settle(&graph.next, into, step, add)
}

/// Backward over all paths: what will be used before it is replaced, before and after each node.
fn live<'f>(
    graph: &Graph,
    facts: &'f [Facts],
    used: impl Fn(&'f Effect) -> &'f Values,
    replaced: impl Fn(&'f Effect) -> &'f Values,
) -> [Vec<Values>; 2] {
    let step = |node: usize, after: &Values| -> Values {
        let effect = &facts[node].effect;
        &(after - replaced(effect)) | used(effect)
    };
    let after = settle(&graph.before, vec![Values::new(); graph.steps.len()], step, add);
    [after.iter().enumerate().map(|(node, after)| step(node, after)).collect(), after]
}

/// The storages of tiles that are still needed, as seen through handles that are still needed.
fn storages(handles: &Values, tiles: &Values, state: &State) -> Values {
    let refs = handles.iter().filter_map(|v| state.refs.get(v)).flatten();
    let needed = refs.map(|(tile, _)| tile).filter(|tile| tiles.contains(tile));
    needed.filter_map(|tile| state.places.get(tile)).flatten().copied().collect()
}

/// The storages that were touched since their contents began, given those before a step.
fn touched(effect: &Effect, before: &Values) -> Values {
    let kept = before.iter().filter(|r| !effect.renew.contains(r));
    kept.chain(&effect.touch).copied().collect()
}

/// Before and after each step: the storages whose contents will be needed again.
fn occupied(p: &Program, graph: &Graph, facts: &[Facts]) -> Vec<[Values; 2]> {
    let handles = live(graph, facts, |e| &e.uses, |e| &e.binds);
    let tiles = live(graph, facts, |e| &e.reads, |e| &e.moves);
    let started = forward(graph, p.inputs().collect(), |node, before| touched(&facts[node].effect, before));
    let each = facts.iter().enumerate().map(|(node, f)| {
        let before = &storages(&handles[0][node], &tiles[0][node], &f.before) & &started[node];
        let after = &storages(&handles[1][node], &tiles[1][node], &f.after) & &touched(&f.effect, &started[node]);
        [before, after]
    });
    each.collect()
}

/// No two storages that are occupied at one step share a byte.
fn overlaps(p: &Program, facts: &[Facts], occupied: &[[Values; 2]]) -> Result<(), String> {
    for (f, [before, after]) in facts.iter().zip(occupied) {
        let here: Values = before.iter().chain(after).chain(&f.effect.touch).copied().collect();
        let slots: Vec<_> = here.iter().filter_map(|v| Some((*v, p.placement.slot(*v)?))).collect();
        for (i, (a, x)) in slots.iter().enumerate() {
            for (b, y) in slots.iter().skip(i + 1) {
                if x.loc == y.loc && x.addr < y.limit() && y.addr < x.limit() {
                    let (a, b) =
                        (format!("{} at {:#x}", p.name(*a), x.addr), format!("{} at {:#x}", p.name(*b), y.addr));
                    return Err(format!("{a} and {b} are alive together and overlap"));
                }
            }
        }
    }
    Ok(())
}

/// Every storage is marked undefined after its contents begin and before they are touched, and at no other time.
fn freshness(p: &Program, graph: &Graph, facts: &[Facts], occupied: &[[Values; 2]]) -> Result<(), String> {
    let marks = |node: usize| -> &[ValueId] {
        match graph.steps[node] {
            Step::Op(id) | Step::Enter(id) => p.placement.fresh.get(id.index()).map_or(&[], |list| list),
            _ => &[],
        }
    };
    // Buffers of carried values are filled by copies, all of their bytes at once.
    let marked = |v: &ValueId| !p.is_input(*v) && !matches!(p.func.value(*v).def, Def::BlockArg(..));
    let all: Values = p.values().filter(|v| p.placement.slot(*v).is_some() && marked(v)).collect();
    let dirty = forward(graph, all.clone(), |node, before| {
        let renewed = facts[node].effect.renew.iter().filter(|r| all.contains(r));
        let unmarked = before.iter().chain(renewed).filter(|r| !marks(node).contains(r));
        unmarked.copied().collect()
    });
    for (node, f) in facts.iter().enumerate() {
        let late = f.effect.sure.iter().find(|r| dirty[node].contains(r) && !marks(node).contains(r));
        // What is kept may not exist on every path to the exit.
        if let Some(r) = late.filter(|_| graph.steps[node] != Step::Exit) {
            return Err(format!("{} is used before it is marked undefined", p.name(*r)));
        }
        let lost = marks(node).iter().find(|r| occupied[node][0].contains(r) && !f.effect.renew.contains(r));
        if let Some(r) = lost {
            return Err(format!("{} is marked undefined while it holds contents", p.name(*r)));
        }
    }
    Ok(())
}
