//! Instructions on tiles: an `Inst` with what is known, its rules, and what it leaves behind.

use super::walk::Walk;
use smallvec::SmallVec;
use tessera_absint::{Ext, Operands, Tiles, Val};
use tessera_ir::{Op, Type};
use tessera_isa::diag::{Diagnostic, Fault, Span};
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::sem::effects;

impl<'a> Walk<'a> {
    pub(super) fn on_tiles(&mut self, op: &'a Op, opcode: Opcode, form: Form) {
        let Some(operands) = self.operands(op, opcode, form) else { return };
        self.bind_in_place(opcode, &operands);
        let inst = self.placed(op, opcode, form, &operands);
        self.report.meet(op.span, &inst);
        let broken = operands.iter().find_map(|o| self.state.objects[o.1].broken);
        if let Some(rule) = broken {
            self.report.refuse(op.span, rule);
        } else if let Some(fault) = self.unset(&inst, &operands) {
            self.found_on(op, &operands, fault);
        } else if !self.in_turn() || self.passed.get(&op.span) != Some(&inst) {
            let faults = crate::check(&inst);
            if faults.is_empty() && self.in_turn() {
                self.passed.insert(op.span, inst.clone());
            }
            for fault in faults {
                self.found_on(op, &operands, fault);
            }
        }
        self.check_pipe(op, &inst);
        self.alias(op, &inst, &operands);
        self.touch(op, &inst, &operands);
        self.is_popped(op, &operands);
        self.rebind(op, &inst, &operands);
    }

    /// The instruction with its view, and where its tiles lie.
    fn placed(&mut self, op: &Op, opcode: Opcode, form: Form, operands: &Operands) -> Inst {
        let mut inst = self.inst(op, opcode, form, operands);
        for (arg, (_, object)) in inst.tiles.iter_mut().zip(operands) {
            arg.place = self.place(*object).filter(|_| !self.dead);
            if self.dead {
                // In dead code only the type means anything.
                arg.valid = [arg.tile.v_row.known(), arg.tile.v_col.known()];
            }
        }
        for operand in op.operands.iter().filter(|o| o.role != Role::Init) {
            let Some(view) = operand.arg.value() else { continue };
            let Val::View(view) = *self.state.get(view) else { continue };
            if operand.role != Role::Global && operand.role.is_view() {
                inst.views.push((operand.role, self.view_arg(view)));
            } else {
                inst.set_view(self.view_arg(view), self.state.views[view].tags);
            }
        }
        inst
    }

    /// `valid-unset`: an extent that the instruction uses and that nothing ever set (tile-model.md 4).
    fn unset(&mut self, inst: &Inst, operands: &Operands) -> Option<Fault> {
        if self.dead || inst.tiles.iter().all(|t| !t.valid.contains(&None)) {
            return None;
        }
        for (n, ((role, id), touch)) in operands.iter().zip(effects(inst).tiles).enumerate() {
            let valid = self.state.objects[*id].valid;
            if !valid.contains(&Ext::Unset) || !touch.needs_valid {
                continue;
            }
            let name = if valid[0] == Ext::Unset { "v_row" } else { "v_col" };
            // Reported once: from here on it counts as set to something.
            self.state.change(*id).valid = valid.map(|e| if e == Ext::Unset { Ext::Unknown } else { e });
            return Some(crate::rules::valid::unset(inst.op, *role, name).on(n));
        }
        None
    }

    /// The spans of the tile operands' types.
    fn type_spans(&self, op: &Op) -> impl Iterator<Item = Span> {
        let func = self.state.func;
        let ins = op.operands.iter().filter(|o| o.role != Role::Init && self.state.tile(o.arg).is_some());
        let outs = op.results.iter().filter(|r| !matches!(self.state.ty(**r), Type::Scalar(_)));
        ins.map(|o| o.type_span).chain(outs.map(|r| func.value(*r).type_span))
    }

    /// Reports a fault of an operation.
    pub(super) fn found(&mut self, op: &Op, fault: Fault) {
        self.found_on(op, &Operands::new(), fault);
    }

    /// Reports a fault of an operation on tiles.
    pub(super) fn found_on(&mut self, op: &Op, operands: &Operands, mut fault: Fault) {
        if fault.is_error() {
            self.report.refuse(op.span, fault.rule);
        }
        if !self.report.is_new(op.span, fault.rule) {
            return;
        }
        fault.message.push_str(&self.iteration());
        let about = fault.operand;
        let named: SmallVec<[bool; 4]> = operands.iter().map(|o| mentions(&fault.message, o.0)).collect();
        let mut found = Diagnostic::from(fault).at(op.span, "");
        for (n, ((role, object), span)) in operands.iter().zip(self.type_spans(op)).enumerate() {
            let object = &self.state.objects[*object];
            // A sentence about one operand needs only that one, and those that it names.
            let is_named = named.get(n).copied().unwrap_or(false);
            if about.is_some_and(|about| about != n && !is_named) && role.is_dst() == is_dst(operands, about) {
                continue;
            }
            let what = match object.conv {
                Some(conv) => format!("{role}: a conv tile of {}", conv.elem),
                None => format!("{role}: {}", object.tile),
            };
            found = found.and_at(span, what);
        }
        for view in op.operands.iter().filter(|o| o.role == Role::Global) {
            found = found.and_at(view.type_span, "the view");
        }
        self.report.diagnostics.push(found);
    }
}

fn is_dst(operands: &Operands, n: Option<usize>) -> bool {
    n.and_then(|n| operands.get(n)).is_some_and(|o| o.0.is_dst())
}

/// Whether a message names an operand by its role.
fn mentions(message: &str, role: Role) -> bool {
    message.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == role.name())
}
