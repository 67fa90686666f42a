//! Instructions on tiles: what they touch, and what they make of their operands.

use super::footprint_cache::Touched;
use super::{Explored, PathWalk};
use crate::Undecided;
use crate::footprint;
use crate::trace::{Access, Flag, Kind, Place, Root};
use smallvec::SmallVec;
use std::rc::Rc;
use tessera_absint::{Analysis, Tiles, Val};
use tessera_ir::{Op, OpId, Type};
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Effect, Form as OpForm, Opcode, Phase, Phases, Pipe, Role};
use tessera_isa::sem::{Rect, Sem, stored};

/// An instruction, its form, and the shapes of its tiles.
pub(super) type Alike = (Opcode, OpForm, SmallVec<[u32; 4]>);

/// An instruction, and what it touches.
pub(super) type Seen = (Inst, Rc<[footprint::OperandFootprint]>);

/// The number of instructions remembered for tiles of the same shapes: they differ in numbers, attributes or views.
const MAX_ALIKE: usize = 8;

impl PathWalk<'_> {
    pub(super) fn core_numbers(&mut self, op: &Op, opcode: Opcode) {
        for result in &op.results {
            let val = match (self.core_number(opcode), opcode.info().sem) {
                (Some(n), _) => Val::Scalar(n.into()),
                // Every block is as good as another one.
                _ => Val::Scalar(self.symbols.of(crate::linear_expr::Expr::Block(opcode))),
            };
            self.state.set(*result, val);
        }
    }

    pub(super) fn on_tiles(&mut self, id: OpId, op: &Op, opcode: Opcode, form: OpForm) -> Explored {
        if self.again(id, op).is_some() {
            return Ok(());
        }
        let Some(operands) = self.operands(op, opcode, form) else {
            return Err(Undecided::at(op.span, format!("an operand of {opcode} is no tile that is known")));
        };
        self.bind_in_place(opcode, &operands);
        let view = op.operands.iter().find_map(|o| match self.val(o.arg) {
            Val::View(view) => Some(view),
            _ => None,
        });
        let mut inst = self.inst(op, opcode, form, &operands);
        let place = view.map(|view| self.meet(view, &mut inst));
        if !opcode.only_names(self.subject.profile) {
            self.touch(id, op, &inst, &operands, place);
        }
        self.rebind(op, &inst, &operands);
        Ok(())
    }

    /// The event of an instruction, with the bytes of its operands.
    fn touch(&mut self, id: OpId, op: &Op, inst: &Inst, operands: &[(Role, usize)], view: Option<Place>) {
        let opcode = inst.op;
        let prints = matches!(opcode.info().sem, Sem::Prints);
        let adds = inst.attrs.adds()
            || inst.attrs.scatter_atomic().is_some_and(|a| a == tessera_isa::inst::ScatterAtomic::Add);
        let mut parts = self.parts(inst, operands);
        // Counts in a vector are scalars: they lie in no memory.
        let is_vector = |role: Role| {
            let value = op.operand(role).and_then(|o| o.arg.value());
            value.is_some_and(|v| matches!(self.state.ty(v), Type::Vector(..)))
        };
        let counts = |part: &footprint::OperandFootprint| {
            part.tile.and_then(|n| operands.get(n)).is_some_and(|(role, _)| is_vector(*role))
        };
        if parts.iter().any(counts) {
            parts = parts.iter().filter(|part| !counts(part)).cloned().collect();
        }
        let touched = Touched { parts, adds, pipe: inst.pipe() };
        let mut accesses = self.accesses(&touched, operands, view.as_ref());
        let more = self.further_views(op);
        let has_more = !more.is_empty();
        accesses.extend(more);
        let pipe = touched.pipe;
        let phases = inst.phases();
        if !phases.hidden.is_empty() {
            return self.phased(id, inst, phases, pipe, &accesses);
        }
        if !has_more {
            self.remember(id, op, inst, operands, touched);
        }
        let event = match prints {
            true => self.event(id, Some(Pipe::S), Kind::Meets, &accesses),
            false if accesses.is_empty() && op.results.is_empty() => return,
            false => self.event(id, Some(pipe), Kind::Work, &accesses),
        };
        self.keep(event, inst);
        // The operations that an event operand recorded come before the instruction (sync.md 2).
        let recorded: SmallVec<[u32; 2]> = op.values().filter_map(|v| self.event_of(v)).collect();
        if !recorded.is_empty() {
            self.trace.named.insert(event, recorded);
        }
    }

    /// The accesses of views beside the first: indices that are read, scratch that is written (isa/today.md 6.7).
    fn further_views(&mut self, op: &Op) -> SmallVec<[Access; 4]> {
        let mut accesses = SmallVec::new();
        for operand in op.operands.iter().filter(|o| matches!(o.role, Role::IdxView | Role::ScratchView)) {
            let Val::View(view) = self.val(operand.arg) else { continue };
            let view = self.state.views[view].clone();
            let steps = view.dims.iter().zip(&*view.strides);
            let last = steps.map(|(dim, stride)| (dim.known()? - 1).max(0).checked_mul(stride.known()?));
            let last = last.sum::<Option<i64>>();
            let bytes = last.map(|last| view.elem.bytes_of(u64::try_from(last).unwrap_or(0) + 1) as i64);
            let ranges: footprint::Ranges = [(0, bytes.unwrap_or(i64::MAX / 16))].into();
            let (writes, exact) = (operand.role == Role::ScratchView, bytes.is_some());
            let (set, start) = (self.sets.of(&view.place, &ranges), view.place.at.byte());
            accesses.push(Access { set, writes, adds: false, exact, role: operand.role, start, if_valid: false });
        }
        accesses
    }

    /// The events of an instruction that uses flags inside: its phases, in order (isa/today.md 8.1).
    fn phased(&mut self, id: OpId, inst: &Inst, phases: &'static Phases, pipe: Pipe, accesses: &[Access]) {
        let first = phases.phases.first().map_or(pipe, |phase| phase.pipe);
        phases.before.iter().for_each(|from| self.inner_flag(id, *from, first));
        let begin = match phases.phases {
            [] => self.event(id, Some(pipe), Kind::Work, accesses),
            all => {
                let begin = self.trace.events.len() as u32;
                for (n, phase) in all.iter().enumerate() {
                    let kind = if n + 1 < all.len() { Kind::Phase } else { Kind::Work };
                    let own = of_phase(inst, phase, accesses);
                    let event = self.event(id, Some(phase.pipe), kind, &own);
                    self.keep(event, inst);
                }
                begin
            }
        };
        if phases.phases.is_empty() {
            self.keep(begin, inst);
        }
        self.trace.hidden.insert(begin, phases.hidden);
        phases.after.iter().for_each(|(from, to)| self.inner_flag(id, *from, *to));
    }

    /// A flag that is set and waited for inside of an instruction.
    pub(super) fn inner_flag(&mut self, id: OpId, from: Pipe, to: Pipe) {
        let flag = self.flag_number(Flag::Inner(from, to));
        self.event(id, Some(from), Kind::Set(flag), &[]);
        self.event(id, Some(to), Kind::Wait(flag), &[]);
    }

    /// The footprint of an instruction on its operands, computed once for all equal instructions.
    fn parts(&mut self, inst: &Inst, operands: &[(Role, usize)]) -> Rc<[footprint::OperandFootprint]> {
        let shapes = operands.iter().map(|(_, object)| self.shape(*object)).collect();
        let key = (inst.op, inst.form, shapes);
        let known = self.choices.alike.get(&key).and_then(|all| all.iter().find(|seen| seen.0 == *inst));
        if let Some((_, parts)) = known {
            return parts.clone();
        }
        let parts: Rc<[footprint::OperandFootprint]> = match inst.op.info().sem {
            Sem::Gets | Sem::Prints => self.element(inst).into(),
            _ => footprint::parts(inst).into(),
        };
        let all = self.choices.alike.entry(key).or_default();
        if all.len() >= MAX_ALIKE {
            all.clear();
        }
        all.push((inst.clone(), parts.clone()));
        parts
    }

    /// The bytes of an instruction where its operands lie.
    pub(super) fn accesses(
        &mut self,
        touched: &Touched,
        operands: &[(Role, usize)],
        view: Option<&Place>,
    ) -> SmallVec<[Access; 4]> {
        let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
        for part in touched.parts.iter() {
            let (place, role) = match part.tile {
                Some(n) => {
                    let Some((role, object)) = operands.get(n) else { continue };
                    let mut place = self.state.objects[*object].place.clone();
                    if let Root::Chip(loc, core) = &mut place.root {
                        *core = self.memory_of(*loc, part.core);
                    }
                    (place, *role)
                }
                None => {
                    let Some(place) = view.cloned() else { continue };
                    (place, Role::Global)
                }
            };
            let on_view = part.tile.is_none();
            // A sum is one access, which writes.
            if on_view && touched.adds && !part.writes {
                continue;
            }
            let set = self.sets.of(&place, &part.ranges);
            let adds = touched.adds && on_view;
            let (writes, exact, if_valid, start) = (part.writes, part.exact, part.if_valid, place.at.byte());
            accesses.push(Access { set, writes, adds, exact, if_valid, role, start });
        }
        accesses
    }

    /// The element that TGETVAL and TPRINT read.
    fn element(&self, inst: &Inst) -> Vec<footprint::OperandFootprint> {
        let Some(arg) = inst.tiles.first() else { return Vec::new() };
        let named = inst.index_u64(Role::Index).and_then(|n| stored(inst, 0, n));
        let (rect, exact) = match (inst.has_scalar(Role::Index), named) {
            (true, Some((row, col))) => (Rect { row, col, rows: 1, cols: 1 }, true),
            (is_one, _) => {
                let [rows, cols] = if is_one { [arg.tile.rows, arg.tile.cols] } else { arg.most_valid() };
                (Rect { row: 0, col: 0, rows, cols }, !is_one && arg.known_valid().is_some())
            }
        };
        let ranges = footprint::rect_ranges(&arg.layout, arg.tile.elem.bits().into(), rect);
        vec![footprint::OperandFootprint {
            tile: Some(0),
            core: 0,
            ranges: ranges.into(),
            writes: false,
            exact,
            if_valid: false,
        }]
    }
}

/// The accesses of a phase. Scratch that it reads is what another phase writes.
fn of_phase(inst: &Inst, phase: &Phase, accesses: &[Access]) -> SmallVec<[Access; 4]> {
    let is_scratch = |role: Role| inst.op.effect(inst.form, role) == Effect::Scratch;
    let mut own: SmallVec<[Access; 4]> = SmallVec::new();
    for access in accesses {
        let (reads, writes) = (phase.reads.contains(&access.role), phase.writes.contains(&access.role));
        if if access.writes { writes } else { reads } {
            own.push(*access);
        } else if access.writes && reads && (is_scratch(access.role) || access.role == Role::ScratchView) {
            own.push(Access { writes: false, ..*access });
        }
    }
    own
}
