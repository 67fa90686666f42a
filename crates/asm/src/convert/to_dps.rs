//! SSA or assembly to DPS.

use super::{Convert, replace};
use tessera_ir::{Arg, BlockId, Def, Op, OpId, OpKind, Operand, TextForm, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Bind, Form, Opcode, Role};
use tessera_isa::tile::Extent;

impl Convert<'_> {
    pub(super) fn outs_for_results(&mut self) {
        for (block, id) in self.all_ops() {
            let op = self.func.op(id);
            let is_instruction = self.form_of(op).is_some() && self.is_expressible(op) && !op.results.is_empty();
            if is_instruction && op.form != TextForm::Dps && self.names_are_plain(op) && self.stay_here(op) {
                self.results_to_outs(block, id);
            }
        }
    }

    /// Whether an equivalent DPS form exists. A scalar is no destination, and the last of several lists would be read
    /// as scratch (isa/irregular.md 9).
    fn is_expressible(&self, op: &Op) -> bool {
        let is_place = |v: &ValueId| !matches!(self.module.types.get(self.func.value(*v).ty), Type::Scalar(_));
        let lists_without_scratch = op.operand(Role::Src2).is_some()
            && self.form_of(op).and_then(|f| f.operand(Role::Tmp)).is_some_and(|o| o.dps_only);
        op.results.iter().all(is_place) && !lists_without_scratch
    }

    /// A pack `%0:2` has no names that could be written one by one.
    fn names_are_plain(&self, op: &Op) -> bool {
        let plain = |v: &ValueId| !self.module.names.text(self.func.value(*v).name).contains('#');
        op.results.iter().all(plain)
    }

    /// A result that a region or function hands on is a value, not a place.
    fn stay_here(&self, op: &Op) -> bool {
        let stays = |v: &ValueId| self.events.of_value(*v).iter().all(|e| self.func.op(e.op).opcode().is_some());
        op.results.iter().all(stays)
    }

    fn results_to_outs(&mut self, block: BlockId, id: OpId) {
        let op = self.func.op(id);
        let Some(form) = self.form_of(op) else { return };
        let results = op.results.clone();
        let span = op.span;
        let init = op.operand(Role::Init).and_then(|o| o.arg.value());
        let mut outs = results.clone();
        if let Some(old) = init {
            if !self.can_overwrite(block, id, old) {
                // The old contents are needed elsewhere; only the result's form is its own.
                if op.form == TextForm::Asm {
                    self.define_literals(block, id);
                }
                self.func.op_mut(id).form = TextForm::Ssa;
                return;
            }
            let Some(new) = results.first().copied() else { return };
            self.overwrite(old, new);
            if let Some(first) = outs.first_mut() {
                *first = old;
            }
            // The results after the destination with old contents are written wholly: counts.
            for value in results.iter().skip(1) {
                self.allocate(block, id, *value);
            }
        } else {
            for value in &results {
                self.allocate(block, id, *value);
            }
        }
        self.define_literals(block, id);
        let op = self.func.op_mut(id);
        op.form = TextForm::Dps;
        op.results.clear();
        op.operands.retain(|o| o.role != Role::Init);
        op.operands.extend(form.out_roles().zip(outs).map(|(role, value)| operand(role, value, span)));
    }

    /// An `alloc_tile` for a result, before its first use.
    fn allocate(&mut self, block: BlockId, id: OpId, value: ValueId) {
        // A listing's tassign may come first.
        let first = self.events.of_value(value).first().map(|e| (e.op, e.at, e.nested));
        let here = self.events.place(id).map_or(0, |(_, at)| at);
        let before = match first {
            Some((op, at, false)) if at < here => op,
            _ => id,
        };
        let kind = match self.module.types.get(self.func.value(value).ty) {
            Type::Vector(len, _) => OpKind::Dense(vec![Number::Int(0); *len as usize]),
            _ => OpKind::Pto(Opcode::AllocTile, Form::Plain),
        };
        let mut alloc = Op::new(kind, TextForm::Ssa, self.func.op(before).span);
        // A result's `?` extent is its declared extent (syntax.md 5).
        if let Type::Tile(t) = self.module.types.get(self.func.value(value).ty) {
            let extents = [(Role::ValidRow, t.v_row, t.rows), (Role::ValidCol, t.v_col, t.cols)];
            for (role, extent, declared) in extents {
                if extent == Extent::Dynamic {
                    let n = i64::try_from(declared).unwrap_or(i64::MAX);
                    let constant = self.constant(block, before, n);
                    alloc.operands.push(operand(role, constant, alloc.span));
                }
            }
        }
        alloc.results.push(value);
        let alloc = self.func.add_op(alloc);
        self.events.stands_with(alloc, before);
        self.before.entry(before).or_default().push(alloc);
        self.func.value_mut(value).def = Def::Result(alloc, 0);
    }

    /// Whether the instruction may write into the old tile. From there on, nothing else reads the tile or refers to
    /// its storage.
    fn can_overwrite(&self, block: BlockId, id: OpId, old: ValueId) -> bool {
        let Def::Result(def, _) = self.func.value(old).def else { return false };
        let home = self.events.place(def).map(|(block, _)| block);
        let Some((_, at)) = self.events.place(id) else { return false };
        let makes = self.func.op(def);
        let plain = match makes.opcode().and_then(|o| o.info().binds) {
            Some(Bind::New) => makes.operands.is_empty(),
            Some(_) => false,
            None => self.form_of(makes).is_some(),
        };
        let is_output = self.func.outputs.contains(&old);
        let events = self.events.of_value(old);
        let free = events.iter().filter(|e| e.op != id).all(|e| e.at < at && self.moves(self.func.op(e.op)));
        // Reading the old tile twice in one instruction is no overwriting.
        let once = events.iter().filter(|e| e.op == id).count() == 1;
        let results = &self.func.op(id).results;
        let same_type = results.first().is_some_and(|r| self.func.value(*r).ty == self.func.value(old).ty);
        // A listing's output is what nothing reads (syntax.md 1), so it cannot take the place of a tile that is read.
        let reads = |op: &Op| op.operands.iter().any(|o| !o.role.is_dst() && o.arg == Arg::Value(old));
        let is_read = events.iter().any(|e| e.op != id && reads(self.func.op(e.op)));
        let hides = is_read && results.iter().any(|r| self.func.outputs.contains(r));
        plain && home == Some(block) && !is_output && !hides && free && once && same_type
    }

    /// The old tile takes the new one's name and uses.
    fn overwrite(&mut self, old: ValueId, new: ValueId) {
        self.func.value_mut(old).name = self.func.value(new).name;
        for op in &mut self.func.ops {
            replace(op, new, old);
        }
        self.events.merge(old, new);
        self.replace_output(new, old);
    }
}

fn operand(role: Role, value: ValueId, span: Span) -> Operand {
    Operand { role, arg: Arg::Value(value), span, type_span: span }
}
