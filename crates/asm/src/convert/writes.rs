//! Does an instruction write all of its destination's declared area (ops.md)? Where the types do not say so, no.

use tessera_ir::{Func, Module, Op, OpKind};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::tile::{Extent, TileType};

fn whole(t: &TileType) -> bool {
    t.v_row == Extent::Static(t.rows) && t.v_col == Extent::Static(t.cols)
}

/// The tile type of the operand or result with a role.
fn tile<'m>(module: &'m Module, func: &Func, op: &Op, role: Role) -> Option<&'m TileType> {
    let value = match op.operand(role) {
        Some(operand) => operand.arg.value(),
        None => op.dsts().iter().find(|(r, _)| *r == role).map(|(_, v)| *v),
    };
    module.types.get(func.value(value?).ty).tile()
}

/// Are all elements of every destination's declared area written, whatever the run-time operands are?
pub(super) fn writes_all(module: &Module, func: &Func, op: &Op) -> bool {
    let OpKind::Pto(opcode, form) = op.kind else {
        return false;
    };
    let get = |role| tile(module, func, op, role);
    let dsts_whole = op.dsts().iter().all(|(role, _)| get(*role).is_some_and(whole));
    match (opcode, form) {
        // The fill writes whatever lies outside of the valid region, the instruction the rest.
        (Opcode::TmovFp | Opcode::TextractFp, Form::Fill) => true,
        (Opcode::Treshape | Opcode::Bitcast, _) => true,
        (Opcode::Tfillpad | Opcode::TfillpadExpand, Form::Plain) => true,
        (Opcode::Tmov | Opcode::TmovFp | Opcode::Tpack | Opcode::Timg2col, _) => dsts_whole,
        (Opcode::Textract | Opcode::TextractFp | Opcode::Tinterleave | Opcode::Tdeinterleave, _) => dsts_whole,
        (Opcode::Ttrans, _) => match (get(Role::Src), get(Role::Dst)) {
            (Some(src), Some(dst)) => whole(src) && whole(dst) && (src.rows, src.cols) == (dst.cols, dst.rows),
            _ => false,
        },
        // Indexed joins keep the rest of a row; a2a3 may join fewer columns than there are.
        (Opcode::Tconcat, Form::Plain) => match (get(Role::Src0), get(Role::Src1), get(Role::Dst)) {
            (Some(a), Some(b), Some(dst)) => {
                let joined = a.v_col.known().zip(b.v_col.known()).map(|(a, b)| a.saturating_add(b));
                let along_columns = op.known_attrs().is_none_or(|a| a.dim() == 1);
                dsts_whole && along_columns && joined == Some(dst.cols)
            }
            _ => false,
        },
        _ => false,
    }
}
