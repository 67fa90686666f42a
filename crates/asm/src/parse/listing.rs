//! What a listing takes in and puts out (syntax.md 1).

use super::Parser;
use rustc_hash::FxHashSet;
use tessera_ir::{Def, Func, ValueId};
use tessera_isa::diag::Span;
use tessera_isa::ops::Role;

impl Parser<'_> {
    /// The end of a listing: its inputs and outputs.
    pub(super) fn finish_listing(&mut self) {
        self.check_forward();
        self.end_block(tessera_ir::BlockId(0));
        self.module.is_listing = true;
        let placeholder = Func::new(self.func.name, Span::default());
        let mut func = std::mem::replace(&mut self.func, placeholder);
        let of = |def: Def| -> Vec<ValueId> {
            let all = func.values.iter().enumerate().filter(|(_, v)| v.def == def);
            all.map(|(i, _)| ValueId(i as u32)).collect()
        };
        let (inputs, written) = (of(Def::Input), of(Def::ListingOut));
        let outputs = outputs(&func, self, &written);
        func.args = inputs.into_iter().chain(written).collect();
        func.outputs = outputs;
        self.module.funcs.push(func);
        let ends = std::mem::take(&mut self.block_ends);
        self.trivia.block_ends.push(ends);
    }
}

/// Tiles that nothing reads, in the order of their definition, then those that the listing only writes.
fn outputs(func: &Func, parser: &Parser<'_>, written: &[ValueId]) -> Vec<ValueId> {
    // Binding an address or a valid region consumes nothing.
    let reads = func.ops.iter().flat_map(|op| &op.operands).filter(|o| !o.role.is_dst() && o.role != Role::Tile);
    let read: FxHashSet<ValueId> = reads.filter_map(|o| o.arg.value()).collect();
    let top = func.block(func.body).ops.iter().flat_map(|id| &func.op(*id).results);
    top.copied()
        .filter(|v| !read.contains(v) && parser.module.types.get(func.value(*v).ty).is_tile())
        .chain(written.iter().copied())
        .collect()
}
