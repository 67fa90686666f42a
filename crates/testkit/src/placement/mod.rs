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

/// Runs all steps until no handle may refer to anything new.
fn follow(p: &Program, graph: &Graph) -> Vec<Facts> {
    let mut before: Vec<State> = vec![State::default(); graph.steps.len()];
    let mut work: BTreeSet<usize> = (0..graph.steps.len()).collect();
    while let Some(node) = work.pop_first() {
        let mut state = before[node].clone();
        p.run(graph.steps[node], &mut state);
        for next in &graph.next[node] {
            if before[*next].join(&state) {
                work.insert(*next);
            }
        }
    }
    let facts = before.into_iter().zip(&graph.steps).map(|(before, step)| {
        let mut after = before.clone();
        let effect = p.run(*step, &mut after);
        Facts { effect, before, after }
    });
    facts.collect()
}

/// Forward over all paths: `step` maps what holds before a node to what holds after it; gives what may hold before.
fn forward(graph: &Graph, entry: &Values, step: impl Fn(usize, &Values) -> Values) -> Vec<Values> {
    let mut into: Vec<Values> = vec![Values::new(); graph.steps.len()];
    if let Some(first) = into.first_mut() {
        *first = entry.clone();
    }
    let mut work: BTreeSet<usize> = (0..graph.steps.len()).collect();
    while let Some(node) = work.pop_first() {
        let out = step(node, &into[node]);
        for next in &graph.next[node] {
            if !out.is_subset(&into[*next]) {
                into[*next].extend(out.iter().copied());
                work.insert(*next);
            }
        }
    }
    into
}

/// Backward over all paths: what will be used before it is replaced, before and after each node.
fn live<'f>(
    graph: &Graph,
    facts: &'f [Facts],
    used: impl Fn(&'f Effect) -> &'f Values,
    replaced: impl Fn(&'f Effect) -> &'f Values,
) -> [Vec<Values>; 2] {
    let mut before: Vec<Values> = vec![Values::new(); graph.steps.len()];
    let after = |before: &[Values], node: usize| -> Values {
        graph.next[node].iter().flat_map(|n| before[*n].iter().copied()).collect()
    };
    let mut work: BTreeSet<usize> = (0..graph.steps.len()).collect();
    while let Some(node) = work.pop_last() {
        let effect = &facts[node].effect;
        let mut here = after(&before, node);
        here.retain(|v| !replaced(effect).contains(v));
        here.extend(used(effect));
        if here != before[node] {
            before[node] = here;
            work.extend(&graph.before[node]);
        }
    }
    let after = (0..graph.steps.len()).map(|n| after(&before, n)).collect();
    [before, after]
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
    let inputs: Values = p.inputs().collect();
    let started = forward(graph, &inputs, |node, before| touched(&facts[node].effect, before));
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
    let dirty = forward(graph, &all, |node, before| {
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
