//! Coverage of an instruction's writes. The row says how much of the declared area is written; the types say whether
//! that is all.

use tessera_ir::{Func, Module, Op, OpKind};
use tessera_isa::ops::{Covers, Effect, Role};
use tessera_isa::tile::{Extent, TileType};

/// The tile type of the operand or result with a role.
fn tile<'m>(module: &'m Module, func: &Func, op: &Op, role: Role) -> Option<&'m TileType> {
    let value = match op.operand(role) {
        Some(operand) => operand.arg.value(),
        None => op.dsts().iter().find(|(r, _)| *r == role).map(|(_, v)| *v),
    };
    module.types.get(func.value(value?).ty).tile()
}

/// Whether all elements of every destination's declared area are written, whatever the run-time operands are.
pub(super) fn writes_all(module: &Module, func: &Func, op: &Op) -> bool {
    let OpKind::Pto(opcode, form) = op.kind else { return false };
    let get = |role| tile(module, func, op, role);
    let whole = |t: &TileType| t.v_row == Extent::Static(t.rows) && t.v_col == Extent::Static(t.cols);
    let held = |role: Role| get(role).map_or(Some(0), |t| Some(t.v_row.known()? * t.v_col.known()?));
    let covers = |role: Role| match opcode.form(form).and_then(|f| f.operand(role)).map(|o| o.covers) {
        // An operand that is read before it is written depends on its old contents.
        _ if opcode.effect(form, role) == Effect::ReadWrite => false,
        Some(Covers::Declared) => true,
        Some(Covers::Valid) => get(role).is_some_and(whole),
        Some(Covers::Sources) => get(role).is_some_and(|dst| {
            let sources = [Role::Src, Role::Src0, Role::Src1].into_iter().map(held);
            whole(dst) && sources.sum::<Option<u64>>() == Some(dst.rows * dst.cols)
        }),
        Some(Covers::Part) | None => false,
    };
    op.dsts().iter().all(|(role, _)| covers(*role))
}
