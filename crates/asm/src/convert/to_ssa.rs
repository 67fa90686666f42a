//! DPS to SSA or assembly.

use super::events::Event;
use super::writes::writes_all;
use super::{Convert, replace};
use tessera_ir::{BlockId, Def, OpId, OpKind, Operand, TextForm, Type, TypeId, ValueId};
use tessera_isa::inst::AccToVec;
use tessera_isa::ops::{Bind, Role};
use tessera_isa::sem::Sem;
use tessera_isa::tile::Extent;

/// The way in which a destination becomes a result.
enum Plan {
    /// The allocated tile is the result.
    Result(OpId),
    /// The allocated tile was loaded before: its contents are the result's old ones.
    Init,
}

impl Convert<'_> {
    pub(super) fn results_for_outs(&mut self) {
        for (block, id) in self.all_ops() {
            let op = self.func.op(id);
            if self.form_of(op).is_none() {
                continue;
            }
            if op.form == TextForm::Dps {
                self.outs_to_results(block, id);
            } else {
                self.func.op_mut(id).form = self.to;
                if self.to == TextForm::Ssa {
                    self.define_literals(block, id);
                }
            }
        }
    }

    fn outs_to_results(&mut self, block: BlockId, id: OpId) {
        let op = self.func.op(id);
        let outs: Vec<Operand> = op.operands.iter().filter(|o| o.role.is_dst()).copied().collect();
        let reads = |v: Option<ValueId>| op.operands.iter().any(|o| !o.role.is_dst() && o.arg.value() == v);
        // A mode that writes the other vector core says nothing about this one's copy (fixpipe.md 6).
        let other_core = op.known_attrs().acc_to_vec().is_some_and(|mode| mode != AccToVec::SingleModeVec0);
        // An operand that only DPS can write keeps the whole instruction in DPS (isa/irregular.md 9).
        let written = |role: Role| op.operand(role).is_some();
        let only_dps = self.form_of(op).is_some_and(|f| f.operands().any(|o| o.dps_only && written(o.role)));
        if outs.is_empty() || other_core || only_dps || outs.iter().any(|o| reads(o.arg.value())) {
            return;
        }
        let values: Vec<ValueId> = outs.iter().filter_map(|o| o.arg.value()).collect();
        let plans: Vec<Plan> = values.iter().filter_map(|v| self.plan(block, id, *v)).collect();
        if plans.len() != outs.len() {
            return;
        }
        match (plans.as_slice(), values.as_slice()) {
            ([Plan::Init], [old]) => self.with_init(id, *old),
            (plans, _) if plans.iter().any(|p| matches!(p, Plan::Init)) => {}
            _ => {
                self.gone.extend(plans.iter().filter_map(|p| if let Plan::Result(id) = p { Some(*id) } else { None }));
                self.drop_outs(id, &values);
            }
        }
    }

    /// The destinations become results, in order.
    fn drop_outs(&mut self, id: OpId, values: &[ValueId]) {
        for (n, value) in values.iter().enumerate() {
            self.func.value_mut(*value).def = Def::Result(id, n as u32);
        }
        let op = self.func.op_mut(id);
        op.form = self.to;
        op.operands.retain(|o| !o.role.is_dst());
        op.results.extend(values.iter().copied());
    }

    /// The plan by which `value`, which `id` writes, becomes a result, if there is one.
    fn plan(&self, block: BlockId, id: OpId, value: ValueId) -> Option<Plan> {
        let Def::Result(alloc, _) = self.func.value(value).def else { return None };
        let (home, _) = self.events.place(alloc)?;
        let (_, at) = self.events.place(id)?;
        let alloc_op = self.func.op(alloc);
        let is_made = alloc_op.opcode().and_then(|o| o.info().binds) == Some(Bind::New);
        // The old numbers of a vector of counts do not matter.
        let plain = (is_made || matches!(alloc_op.kind, OpKind::Dense(_)))
            && alloc_op.operands.is_empty()
            && alloc_op.attrs.as_ref().is_none_or(|a| a.unknown.is_empty())
            && home == block
            && self.is_static(self.func.value(value).ty);
        if !plain {
            return None;
        }
        let events = self.events.of_value(value);
        let others = || events.iter().filter(|e| e.op != id);
        if others().any(|e| self.writes(e) && e.at >= at) {
            return None;
        }
        if others().all(|e| e.at > at) {
            return Some(Plan::Result(alloc));
        }
        // Loaded, then partly overwritten: nothing else may hold on to the storage.
        let loaded = others().all(|e| {
            let before = e.at < at;
            if self.writes(e) { before && self.loads(e) } else { !before && self.only_reads(e) }
        });
        let partial = !writes_all(self.module, &self.func, self.func.op(id));
        let aliases = self.func.op(id).opcode().is_some_and(|o| o.info().binds.is_some());
        (loaded && partial && !aliases).then_some(Plan::Init)
    }

    fn is_static(&self, ty: TypeId) -> bool {
        match self.module.types.get(ty) {
            Type::Tile(t) => t.v_row != Extent::Dynamic && t.v_col != Extent::Dynamic,
            Type::Vector(..) => true,
            _ => false,
        }
    }

    /// Whether the use changes the tile, or may change it.
    fn writes(&self, event: &Event) -> bool {
        let opcode = self.func.op(event.op).opcode();
        let binds = event.role == Role::Tile && !opcode.is_some_and(|o| matches!(o.info().sem, Sem::Prints));
        event.role.is_dst() || event.role == Role::Tmp || binds || opcode.is_none()
    }

    fn loads(&self, event: &Event) -> bool {
        self.func.op(event.op).operand(Role::Global).is_some() && event.role.is_dst() && !event.nested
    }

    /// Whether the use reads elements and makes no view of the tile.
    fn only_reads(&self, event: &Event) -> bool {
        let op = self.func.op(event.op);
        self.moves(op) || op.opcode().is_some_and(|o| matches!(o.info().sem, Sem::Prints))
    }

    /// `outs(%d)` becomes `%d = … init(%d_0)`: the tile that was loaded gets the new name.
    fn with_init(&mut self, id: OpId, old: ValueId) {
        let (name, ty) = (self.func.value(old).name, self.func.value(old).ty);
        let span = self.func.op(id).span;
        let old_name = self.module.names.text(name).to_string();
        let renamed = self.fresh(&format!("{old_name}_old"));
        let new = self.new_value(name, ty, Def::Result(id, 0), span);
        self.func.value_mut(old).name = renamed;
        let at = self.events.place(id).map_or(0, |(_, at)| at);
        for event in self.events.of_value(old).iter().filter(|e| e.at > at) {
            replace(self.func.op_mut(event.op), old, new);
        }
        let op = self.func.op_mut(id);
        op.form = self.to;
        op.results.push(new);
        for operand in op.operands.iter_mut().filter(|o| o.role.is_dst()) {
            operand.role = Role::Init;
        }
        self.replace_output(old, new);
    }
}
