//! The layouts of views of global memory, as far as constants say them (isa/structure.md 8).

use crate::scalar::Constants;
use crate::{Func, Module, Op, Type};
use tessera_isa::inst::ViewTags;
use tessera_isa::ops::Role;

/// The layout of what `pto.make_tensor_view` makes, its tag aside.
pub fn inferred(module: &Module, func: &Func, known: &Constants, op: &Op) -> ViewTags {
    let elem = op.results.first().and_then(|v| module.types.get(func.value(*v).ty).global_elem());
    let numbers: Vec<Option<i64>> =
        op.operands.iter().filter(|o| o.role == Role::Number).map(|o| known.get(o.arg)).collect();
    let (dims, strides) = numbers.split_at(numbers.len() / 2);
    let dims: Vec<Option<u64>> = dims.iter().map(|d| d.and_then(|d| u64::try_from(d).ok())).collect();
    elem.map_or(ViewTags::ND, |elem| ViewTags::inferred(elem, &dims, strides))
}

/// The layout of what `pto.make_tensor_view` makes.
pub fn tags(module: &Module, func: &Func, known: &Constants, op: &Op) -> ViewTags {
    op.known_attrs().layout().map_or_else(|| inferred(module, func, known, op), ViewTags::written)
}

/// The layout of a view or memref of which its type says everything.
pub fn tags_of_type(ty: &Type) -> ViewTags {
    let (elem, dims, strided) = match ty {
        Type::View(view) => (view.elem, &view.dims, None),
        Type::Memref(memref) => (memref.elem, &memref.dims, memref.strided.as_ref()),
        _ => return ViewTags::ND,
    };
    let mut dense = Some(1i64);
    let mut strides: Vec<Option<i64>> = Vec::new();
    for dim in dims.iter().rev() {
        strides.push(dense);
        dense = dense.zip(*dim).and_then(|(s, d)| s.checked_mul(i64::try_from(d).ok()?));
    }
    strides.reverse();
    let strides = strided.map_or(strides.as_slice(), |s| &s.strides);
    ViewTags::inferred(elem, dims, strides)
}
