//! What a listing takes in and puts out (syntax.md 1).

use super::Parser;
use rustc_hash::FxHashSet;
use tessera_ir::{Def, Func, Type, TypeTable, ValueId};
use tessera_isa::ops::Role;

impl Parser<'_> {
    /// The end of a listing: its inputs and outputs.
    pub(super) fn finish_listing(&mut self) {
        self.check_forward();
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
