//! Order operations: flags, barriers, buffers' tokens, events (sync.md 2 and 5).

use super::{Core, Explored, PathWalk};
use crate::Undecided;
use crate::causes::{Added, Extra};
use crate::linear_expr::LinearExpr;
use crate::sync_op::{SyncOp, SyncOpSite};
use crate::trace::{Flag, Kind, Line, Misuse};
use std::rc::Rc;
use tessera_absint::{Analysis, Origin, Val};
use tessera_ir::{Op, OpId, ValueId};
use tessera_isa::ops::{IdArray, Opcode, Order, Pipe};

impl Core {
    /// The pipes of a core (isa/structure.md 4).
    pub fn has(self, pipe: Pipe) -> bool {
        match self {
            Core::Unsplit => true,
            Core::Cube => pipe != Pipe::V,
            Core::Vector(_) => !matches!(pipe, Pipe::M | Pipe::Mte1 | Pipe::Fix),
        }
    }

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Core::Unsplit => "the core",
            Core::Cube => "C",
            Core::Vector(0) => "V0",
            Core::Vector(_) => "V1",
        }
    }
}

impl<'a> PathWalk<'a> {
    /// The number of the vector core, or of the block that runs, and how many there are (isa/structure.md 4).
    pub(super) fn core_number(&self, opcode: Opcode) -> Option<i64> {
        let mixed = !self.kinds.is_empty();
        match opcode {
            Opcode::GetSubblockIdx => Some(if let Core::Vector(n) = self.subject.core { n.into() } else { 0 }),
            Opcode::GetSubblockNum => Some(if mixed { 2 } else { 1 }),
            Opcode::GetBlockIdx => self.subject.block.map(|block| block[0]),
            Opcode::GetBlockNum => self.subject.block.map(|block| block[1]),
            _ => None,
        }
    }

    /// The event that a value is.
    pub(super) fn event_of(&self, value: ValueId) -> Option<u32> {
        match self.state.get(value) {
            Val::Event(event) => Some(*event),
            _ => None,
        }
    }

    /// The order operations that are tried at this place.
    pub(super) fn extra(&mut self, id: OpId, after: bool) {
        let here = |extra: &&Extra| {
            let is_core = std::mem::discriminant(&extra.core) == std::mem::discriminant(&self.subject.core);
            extra.at == id && extra.after == after && is_core
        };
        for extra in self.subject.extra.iter().filter(here).copied().collect::<Vec<_>>() {
            let (ends, id, sets) = match extra.adds {
                Added::Barrier(pipe) => {
                    self.event(id, pipe, Kind::Barrier, &[]);
                    continue;
                }
                Added::Flag { from, to, id, sets } => ((from, to), LinearExpr::from(id), sets),
                Added::Counterpart(of) => {
                    let func = self.subject.func;
                    let op = func.op(of);
                    let Some(order) = op.opcode().and_then(Opcode::order) else { continue };
                    let (core, profile) = (self.subject.core, self.subject.profile);
                    let ordering = SyncOpSite {
                        at: of,
                        op,
                        order,
                        core,
                        profile,
                        wide: op.is_wide_token(self.subject.module, profile),
                    };
                    let SyncOp::Flag { from, to, sets } = ordering.sync_op() else { continue };
                    let given = op.operands.first().and_then(|o| self.read(o.arg));
                    let id = ordering.written_id().map(LinearExpr::from).or(given);
                    let Some(id) = id else { continue };
                    ((from, to), id, !sets)
                }
            };
            let flag = self.flag_number(Flag::Pipes(ends.0, ends.1, id));
            let (pipe, kind) = if sets { (ends.0, Kind::Set(flag)) } else { (ends.1, Kind::Wait(flag)) };
            self.event(extra.at, Some(pipe), kind, &[]);
        }
    }

    pub(super) fn order(&mut self, id: OpId, op: &Op, order: Order) -> Explored {
        if let Some((pipe, kind)) = self.plain_flags.get(id.index()).copied().flatten() {
            self.event(id, Some(pipe), kind, &[]);
            return Ok(());
        }
        let (core, profile) = (self.subject.core, self.subject.profile);
        let wide = op.is_wide_token(self.subject.module, profile);
        let ordering = SyncOpSite { at: id, op, order, core, profile, wide };
        // Words are read once.
        let read = || Rc::new((ordering.sync_op(), ordering.written_id()));
        let sync_op = self.choices.deeds.entry((id, self.subject.core)).or_insert_with(read).clone();
        match &sync_op.0 {
            SyncOp::Flag { from, to, sets } => self.flag(&ordering, (*from, *to), *sets),
            SyncOp::Barrier(pipe) => _ = self.event(id, *pipe, Kind::Barrier, &[]),
            SyncOp::Events => {
                let recorded = op.values().filter_map(|v| self.event_of(v)).collect();
                let event = self.event(id, None, Kind::Joins, &[]);
                self.trace.named.insert(event, recorded);
            }
            SyncOp::Buffer { pipe, takes } => {
                let known = self.id(&ordering).known();
                match ordering.buffer_id(known) {
                    Ok(n) => {
                        _ = self.event(id, Some(*pipe), if *takes { Kind::Take(n) } else { Kind::Release(n) }, &[])
                    }
                    Err(misuse) => self.misuse(misuse),
                }
            }
            SyncOp::Token { pipe, sets } => self.core_flag(&ordering, *pipe, *sets)?,
            SyncOp::Fence(pipes) => {
                for pipe in *pipes {
                    self.event(id, *pipe, Kind::Barrier, &[]);
                }
            }
            SyncOp::Meet(group) => {
                if group.cores().contains(&self.subject.core) {
                    let line = Line::Meeting { group: *group, id: -1 };
                    self.event(id, Some(Pipe::S), Kind::Send(line), &[]);
                    self.event(id, Some(Pipe::S), Kind::Receive(line), &[]);
                }
            }
            SyncOp::Nothing => {}
            SyncOp::Wrong(misuse) => match ordering.ends() {
                // A flag that is wrong has an id all the same.
                Some(ends) => {
                    let id = self.id(&ordering);
                    self.misuse(Misuse { flag: format!("{ends} {id:?}"), ..(**misuse).clone() });
                    self.flag_id(&ordering, &ends, &id);
                }
                None => self.misuse((**misuse).clone()),
            },
        }
        Ok(())
    }

    /// Executes an operation on an array of ids. An element that was never set is unknown.
    pub(super) fn ids(&mut self, at: OpId, op: &Op) {
        let array = op.operands.first().and_then(|o| o.arg.value()).map(|v| self.state.get(v).clone());
        let shape = op.operands.first().and_then(|o| o.arg.value()).and_then(|v| self.state.ty(v).stack_slots());
        let places: Vec<Option<i64>> = op.places().iter().map(|o| self.known_at(o.arg)).collect();
        let places = places.into_iter().collect::<Option<Vec<i64>>>();
        let index = places.and_then(|places| match (places.as_slice(), shape?.element(&places)) {
            (_, Ok(n)) => i64::try_from(n).ok(),
            // An index outside of the array is reported below.
            ([place], Err(_)) => Some(*place),
            _ => None,
        });
        if let (Some(Val::Ids(array)), Some(index)) = (&array, index) {
            let count = self.arrays[*array].len();
            if !usize::try_from(index).is_ok_and(|n| n < count) {
                let what = format!("an array of {count} ids has none at index {index}{}", self.iteration());
                let help = "use an index inside the array".into();
                let flag = format!("index {index} of array {array}");
                self.misuse(Misuse { rule: "flag-id-range", op: at, flag, what, help, always: true });
            }
        }
        let index = index.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        match (op.id_array(), op.results.first().copied(), array) {
            (Some(IdArray::Declare), Some(result), _) => {
                let count = self.state.ty(result).stack_slots().map_or(0, |slots| slots.count());
                self.arrays.push(vec![None; count]);
                self.state.set(result, Val::Ids(self.arrays.len() - 1));
            }
            (Some(IdArray::Set), _, Some(Val::Ids(array))) => {
                let id = op.operands.last().and_then(|o| self.raw(o.arg));
                match index {
                    Some(index) => self.arrays[array].iter_mut().skip(index).take(1).for_each(|at| at.clone_from(&id)),
                    None => self.arrays[array].fill(None),
                }
            }
            (Some(IdArray::Get), Some(result), Some(Val::Ids(array))) => {
                match index.and_then(|index| self.arrays[array].get(index).cloned().flatten()) {
                    Some(id) => self.state.set(result, Val::Scalar(id)),
                    None => self.set_by_type(result, Origin::Found),
                }
            }
            _ => self.set_unknown(op),
        }
    }

    /// The id that an order operation names: a word, or the operand.
    fn id(&mut self, ordering: &SyncOpSite<'_>) -> LinearExpr {
        let given = ordering.op.operands.first().and_then(|o| self.read(o.arg));
        let written = self.choices.deeds.get(&(ordering.at, self.subject.core)).and_then(|sync_op| sync_op.1);
        written.map(LinearExpr::from).or(given).unwrap_or_else(|| self.fresh())
    }

    /// Each flag is reported once, at its first place, and so is each operation (sync.md 9).
    fn misuse(&mut self, misuse: Misuse) {
        let is_new_flag = self.misused.flags.insert((misuse.rule, misuse.flag.clone()));
        if self.misused.ops.insert((misuse.op, misuse.rule)) && is_new_flag {
            self.trace.misuses.push(misuse);
        }
    }

    fn flag(&mut self, ordering: &SyncOpSite<'_>, (from, to): (Pipe, Pipe), sets: bool) {
        let id = self.id(ordering);
        let is_wrong = id.known().is_some_and(|n| !ordering.has_flag(n));
        if is_wrong {
            self.flag_id(ordering, &format!("{from} → {to}"), &id);
        }
        let flag = self.flag_number(Flag::Pipes(from, to, id));
        let (pipe, kind) = if sets { (from, Kind::Set(flag)) } else { (to, Kind::Wait(flag)) };
        let event = self.event(ordering.at, Some(pipe), kind, &[]);
        // An operation without operands names the same flag every time.
        let (at, is_plain) = (ordering.at.index(), ordering.op.operands.is_empty() && ordering.op.results.is_empty());
        if is_plain && !is_wrong && !self.turn.is_empty() {
            self.plain_flags.resize(self.plain_flags.len().max(at + 1), None);
            self.plain_flags[at] = Some((pipe, kind));
        }
        if let Some(result) = ordering.op.results.first() {
            self.state.set(*result, Val::Event(event));
        }
    }

    /// Checks that the id of a flag between these pipes exists.
    fn flag_id(&mut self, ordering: &SyncOpSite<'_>, ends: &str, id: &LinearExpr) {
        let wrong = id.known().and_then(|n| ordering.flag_id(ends, n, &self.iteration()));
        wrong.into_iter().for_each(|misuse| self.misuse(misuse));
    }

    /// ", in iteration 8" inside a loop.
    fn iteration(&self) -> String {
        self.turn.last().map_or_else(String::new, |(_, n)| format!(" in iteration {n}"))
    }

    pub(super) fn flag_number(&mut self, flag: Flag) -> u32 {
        let next = self.flags.len() as u32;
        let flags = &mut self.trace.flags;
        *self.flags.entry(flag).or_insert_with_key(|flag| {
            flags.push(flag.clone());
            next
        })
    }

    /// `sync.set` and `sync.wait`; in an unsplit process a flag from one pipe to the other (sync.md 5).
    fn core_flag(&mut self, ordering: &SyncOpSite<'_>, pipe: Pipe, sets: bool) -> Explored {
        let (at, op) = (ordering.at, ordering.op);
        let id = self.id(ordering);
        if let Some(misuse) = id.known().and_then(|n| ordering.token_id(n, &self.iteration())) {
            self.misuse(misuse);
            return Ok(());
        }
        if self.subject.core == Core::Unsplit {
            if !(sets && id.known().is_some_and(|n| n >= 16)) {
                let flag = self.flag_number(Flag::Cores(id));
                self.event(at, Some(pipe), if sets { Kind::Set(flag) } else { Kind::Wait(flag) }, &[]);
            }
            return Ok(());
        }
        let Some(id) = id.known() else {
            return Err(Undecided::at(op.span, format!("the id of {} is not known", op.kind.name())));
        };
        let id = ordering.counter(id);
        let line = match ordering.crosses_blocks() {
            true => Line::Meeting { group: ordering.group(), id },
            false => Line::Token { id, meets: ordering.meets(), wide: ordering.wide },
        };
        self.event(at, Some(pipe), if sets { Kind::Send(line) } else { Kind::Receive(line) }, &[]);
        Ok(())
    }
}
