//! The inputs and outputs of a listing (syntax.md 1).

use super::Parser;
use crate::print::print_type;
use crate::sink::shown;
use rustc_hash::FxHashSet;
use tessera_ir::{Def, Func, OpKind, Type, TypeTable, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::Role;

impl Parser<'_> {
    /// The end of a listing: its inputs and outputs.
    pub(super) fn finish_listing(&mut self) {
        self.check_forward();
        self.check_named_first();
        self.end_block(tessera_ir::BlockId(0));
        self.module.is_listing = true;
        let of = |def: Def| -> Vec<ValueId> {
            let all = self.func.values.iter().enumerate().filter(|(_, v)| v.def == def);
            all.map(|(i, _)| ValueId(i as u32)).collect()
        };
        let (inputs, written) = (of(Def::Input), of(Def::ListingOut));
        self.func.outputs = outputs(&self.func, &self.module.types, &written);
        self.func.args = inputs.into_iter().chain(written).collect();
        self.end_function();
    }

    /// A value that a `tassign` has named before its definition is a tile.
    fn check_named_first(&mut self) {
        let mut found = Vec::new();
        let operands = self.func.ops.iter().flat_map(|op| op.operands.iter().map(move |o| (&op.kind, o)));
        for (kind, operand) in operands.filter(|(_, o)| o.role == Role::Tile) {
            let (OpKind::Pto(opcode, _), Some(value)) = (kind, operand.arg.value()) else { continue };
            let is_named_first = self.scope.named_first.contains(&value) && !self.scope.poisoned.contains(&value);
            if let Some(ty) = self.type_of_value(value).filter(|ty| is_named_first && !ty.plays(operand.role)) {
                let v = self.func.value(value);
                let (name, ty) = (shown(self.module.names.text(v.name)), print_type(ty));
                found.push(
                    Diagnostic::error("type-mismatch", format!("tile of {opcode} cannot be %{name}, which is {ty}"))
                        .at(operand.span, "no tile")
                        .and_at(v.span, "defined here")
                        .help("give an operand of the right kind"),
                );
            }
        }
        found.into_iter().for_each(|found| self.push(found));
    }
}

/// A tile, or a vector of counts.
fn is_data(ty: &Type) -> bool {
    ty.is_tile() || matches!(ty, Type::Vector(..))
}

/// Tiles that nothing reads, in the order of their definition, then those that the listing only writes.
fn outputs(func: &Func, types: &TypeTable, written: &[ValueId]) -> Vec<ValueId> {
    // Binding an address or a valid region consumes nothing.
    let reads = func.ops.iter().flat_map(|op| &op.operands).filter(|o| !o.role.is_dst() && o.role != Role::Tile);
    let read: FxHashSet<ValueId> = reads.filter_map(|o| o.arg.value()).collect();
    let top = func.block(func.body).ops.iter().flat_map(|id| &func.op(*id).results);
    let left = top.filter(|v| !read.contains(v) && is_data(types.get(func.value(**v).ty)));
    left.chain(written).copied().collect()
}
