//! The rules of one micro instruction, with the numbers that the walk knows; pointers on the chip as byte addresses.

use super::walk::Walk;
use tessera_absint::{Analysis, Val};
use tessera_ir::{Arg, Def, Op, OpKind, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_isa::ops::{Opcode, Role, Text};
use tessera_micro::Space;
use tessera_micro::check::Known;

impl Walk<'_> {
    /// Whether a value is a pointer on the chip in a micro program.
    pub(super) fn is_chip_pointer(&self, value: ValueId) -> bool {
        self.is_micro && self.state.ty(value).space().is_some_and(|space| space != Space::Gm)
    }

    pub(super) fn micro(&mut self, op: &Op) {
        let Some(inst) = op.micro(self.state.module, self.state.func) else { return };
        let known: Vec<Known> = op.operands.iter().map(|operand| self.known_of(operand.arg)).collect();
        for mut found in tessera_micro::check::check(&inst, &known) {
            if found.severity == Severity::Error {
                self.report.refuse(op.span, found.rule);
            }
            if self.report.is_new(op.span, found.rule) {
                found.message.push_str(&self.iteration());
                self.report.diagnostics.push(found.at(op.span, ""));
            }
        }
        self.check_micro_pipe(op, inst.call);
        self.set_unknown(op);
        // A moved pointer, and what a count leaves, are numbers that masks do not decide.
        if let Some(rest) = self.rest(op) {
            self.state.set(rest.0, Val::Scalar(Some(Number::Int(rest.1.into()))));
        }
    }

    /// The rest that `plt` leaves of a known count.
    fn rest(&self, op: &Op) -> Option<(ValueId, i64)> {
        let OpKind::Micro(call) = &op.kind else { return None };
        let count = self.int(op.operands.first()?.arg)? as i64;
        Some((*op.results.get(1)?, tessera_micro::run::rest(call, count)?))
    }

    fn known_of(&self, arg: Arg) -> Known {
        match arg {
            Arg::Int(v) => Known::Int(v),
            Arg::Value(value) => match (self.state.ty(value), self.pattern(value)) {
                (_, Some(mask)) => Known::Mask(mask),
                (Type::Scalar(_), _) => self.int(arg).map_or(Known::No, |v| Known::Int(v as i64)),
                (Type::Ptr(..), _) if self.is_chip_pointer(value) => {
                    self.int(arg).map_or(Known::No, |v| Known::Int(v as i64))
                }
                _ => Known::No,
            },
        }
    }

    /// The mask of a pattern, which is the same whenever the program runs.
    fn pattern(&self, value: ValueId) -> Option<tessera_micro::Mask> {
        let Def::Result(id, _) = self.state.func.value(value).def else { return None };
        let op = self.state.func.op(id);
        let OpKind::Micro(call) = &op.kind else { return None };
        tessera_micro::run::pattern(call)
    }

    /// A pointer on the chip that is made, moved or used; tells whether the operation has one.
    pub(super) fn chip_pointer(&mut self, op: &Op, opcode: Opcode) -> bool {
        let result = op.results.first().copied();
        let first = op.values().next();
        let is_chip = |this: &Self, value: Option<ValueId>| value.is_some_and(|v| this.is_chip_pointer(v));
        let size = |this: &Self, v: ValueId| this.state.ty(v).global_elem().map_or(1, |e| e.bytes_of(1) as i128);
        match opcode.info().text {
            Text::AddPtr if is_chip(self, result) => {
                let (Some(result), [from, by, ..]) = (result, op.operands.as_slice()) else { return true };
                let moved = self.int(from.arg).zip(self.int(by.arg)).map(|(at, n)| at + n * size(self, result));
                self.set_address(result, moved);
                true
            }
            Text::Address(_) if is_chip(self, result) || is_chip(self, first) => {
                let Some(result) = result else { return true };
                let is_tile = first.is_some_and(|v| self.state.ty(v).is_tile());
                let at = op.operands.first().filter(|_| !is_tile).and_then(|o| self.int(o.arg));
                self.set_address(result, at);
                true
            }
            Text::LoadScalar | Text::StoreScalar => {
                let pointer = op.operand(Role::Global).and_then(|o| o.arg.value()).filter(|v| self.is_chip_pointer(*v));
                let Some(pointer) = pointer else { return false };
                let index = op.operand(Role::Number).and_then(|o| self.int(o.arg));
                let at = self.int(Arg::Value(pointer)).zip(index).map(|(at, n)| at + n * size(self, pointer));
                if let (Some(at), Some(space)) = (at, self.state.ty(pointer).space()) {
                    self.scalar_address(op, opcode, space, at, size(self, pointer));
                }
                self.set_unknown(op);
                true
            }
            _ => false,
        }
    }

    fn set_address(&mut self, value: ValueId, at: Option<i128>) {
        let at = at.and_then(|at| i64::try_from(at).ok()).filter(|_| !self.dead);
        self.state.set(value, Val::Scalar(at.map(|at| Number::Int(at.into()))));
    }

    /// A scalar on the chip at a known address: aligned, and inside its memory.
    fn scalar_address(&mut self, op: &Op, opcode: Opcode, space: Space, at: i128, size: i128) {
        let name = space.name();
        let found = if at.rem_euclid(size) != 0 {
            let rule = if opcode == Opcode::LoadScalar { "load_scalar-align" } else { "store_scalar-align" };
            let what = format!("the address is {name} byte {at}, which is no multiple of {size}");
            Diagnostic::error(rule, what).help("use an address that is one")
        } else if let Some(most) = space.size().filter(|most| at < 0 || at + size > i128::from(*most)) {
            let what = format!("{name} bytes {at} to {} are touched, and {name} has {most} bytes", at + size - 1);
            Diagnostic::error(space.bounds_rule(), what).help("stay inside the memory")
        } else {
            return;
        };
        self.report.refuse(op.span, found.rule);
        if self.report.is_new(op.span, found.rule) {
            self.report.diagnostics.push(found.at(op.span, ""));
        }
    }
}
