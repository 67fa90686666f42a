//! MGATHER and MSCATTER: the shapes of data, indices and table, and the words of the modes (isa/memory.md 5).

use super::*;
use tessera_isa::inst::{Coalesce, ScatterAtomic};
use tessera_isa::sem::{coalesce, shape_of_indices};

/// The tile of data.
fn data(inst: &Inst) -> Option<(Role, &TileArg)> {
    let role = if inst.tile(Role::Dst).is_some() { Role::Dst } else { Role::Src };
    Some((role, inst.tile(role)?))
}

fn known([rows, cols]: [Option<u64>; 2]) -> Option<[u64; 2]> {
    Some([rows?, cols?])
}

/// `-shape`: the indices fit the data, as rows or as elements.
pub(super) fn shape(inst: &Inst, rule: &'static str) -> Option<Fault> {
    if let Some(fault) = global::dimensions(inst, rule) {
        return Some(fault);
    }
    let (role, data) = data(inst)?;
    let ([rows, cols], [r, c]) = (known(data.valid)?, shape_of_indices(inst)?);
    let mode = coalesce(inst)?;
    let fits = match mode {
        Coalesce::Elem => [r, c] == [rows, cols],
        Coalesce::Row => [r, c] == [rows, 1] || [r, c] == [1, rows],
    };
    if !fits {
        let by_element = format!("{rows}x{cols}");
        let by_row = format!("{rows}x1 or 1x{rows}");
        let wanted = match (inst.attrs.coalesce(), mode) {
            (Some(_), Coalesce::Elem) => by_element,
            (Some(_), Coalesce::Row) => by_row,
            _ => format!("{by_element}, {by_row}"),
        };
        let what = format!("{role} is {rows}x{cols} and wants {wanted} indices, and idx is {r}x{c}");
        return broken(inst, Role::Idx, rule, what, format!("set the valid region of idx to {wanted}"));
    }
    let width = inst.global.as_ref()?.shape()[1]?;
    if mode == Coalesce::Row && cols > width {
        let what = format!("{role} has {cols} valid columns, and a row of the table has {width}");
        return broken(inst, role, rule, what, "use a wider table, or fewer columns");
    }
    None
}

/// `-table`: hardware counts in the view.
pub(super) fn dense(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (view, (role, data)) = (inst.global.as_ref()?, data(inst)?);
    let by_row = coalesce(inst)? == Coalesce::Row;
    let mut next = Some(1i64);
    for (n, (dim, stride)) in view.dims.iter().zip(&view.strides).rev().enumerate() {
        if by_row && inst.profile == Profile::A2a3 && n > 0 {
            break;
        }
        // A dimension of one element has no stride worth knowing.
        if let (Some(wanted), Some(stride)) = (next, stride)
            && *dim != Some(1)
            && wanted != *stride
        {
            let at = view.dims.len() - 1 - n;
            let what = format!("dimension {at} of the view has stride {stride}, and a dense table has {wanted} there");
            return broken(inst, role, rule, what, format!("give dimension {at} of the view the stride {wanted}"));
        }
        next = next.zip(*dim).and_then(|(n, d)| n.checked_mul(i64::try_from(d).ok()?));
    }
    if !by_row || inst.profile != Profile::A5 {
        return None;
    }
    let leading = view.dims.len().saturating_sub(2);
    if let Some(n) = view.dims.iter().take(leading).position(|d| d.is_some_and(|d| d != 1)) {
        let what = format!("a5 takes rows of a table without leading dimensions, and dimension {n} is not 1");
        return broken(inst, role, rule, what, "use a view of two dimensions");
    }
    let (width, cols) = (view.shape()[1]?, data.valid[1]?);
    (width != cols).then_some(())?;
    let what = format!("a5 moves whole rows, and a row of the table has {width} elements, of {role} {cols}");
    broken(inst, role, rule, what, "give both as many columns")
}

/// `-scratch`, into Mat: elements pass through a dense view as large as dst (isa/today.md 6.7).
pub(super) fn scratch(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (dst, by_row) = (inst.dst()?, coalesce(inst)? == Coalesce::Row);
    inst.view(Role::IdxView)?;
    let need = dst.tile.rows.saturating_mul(dst.tile.cols);
    let (what, help) = match (inst.view(Role::ScratchView), by_row) {
        (None, true) => return None,
        (Some(_), true) => ("rows are gathered without scratch".to_string(), "leave the third operand out".to_string()),
        (None, false) => (
            "elements are gathered into Mat through scratch in global memory".into(),
            format!("give a view of {need} elements"),
        ),
        (Some(view), false) => {
            let count = view.dims.iter().try_fold(1u64, |n, d| Some(n.saturating_mul((*d)?)))?;
            let mut dense = 1i64;
            let is_dense = view.dims.iter().zip(&view.strides).rev().all(|(dim, stride)| {
                let fits = *dim == Some(1) || stride.is_none_or(|stride| stride == dense);
                dense = dense.saturating_mul(dim.map_or(1, |d| d as i64));
                fits
            });
            if !is_dense {
                ("the scratch view is not dense".into(), "give a dense view".into())
            } else if count < need {
                let what = format!("scratch has {count} elements, and dst declares {need}");
                (what, format!("give a view of {need} elements"))
            } else {
                return None;
            }
        }
    };
    Some(Fault::new(rule, what).help(help))
}

/// `-attr`: what is combined has a type that the row lists.
pub(super) fn attributes(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let src = inst.tile(Role::Src)?;
    let op = inst.attrs.scatter_atomic().filter(|op| *op != ScatterAtomic::None)?;
    use Elem::{Bf16, F16, F32, I8, I16, I32, U8, U16, U32};
    let types: &[Elem] = match (inst.profile, op) {
        (Profile::Cpu, _) => &[I8, U8, I16, U16, I32, U32, F16, Bf16, F32],
        (Profile::A2a3, ScatterAtomic::Add) => &[I8, I16, I32, F16, Bf16, F32],
        (Profile::A2a3, _) => &[],
        (Profile::A5, ScatterAtomic::Add) => &[I32, U32, F16, Bf16, F32],
        (Profile::A5, _) => &[I32, U32, F32],
    };
    if types.contains(&src.tile.elem) {
        return None;
    }
    let takes = if types.is_empty() { "nothing".into() } else { join(types, "and") };
    let what = format!("on {} {op} combines {takes}, and this is {}", inst.profile, src.tile.elem);
    broken(inst, Role::Src, rule, what, "leave out scatterAtomicOp, or use another type")
}

/// `tprint-tmp`: only what lies on the cube core goes through global memory to be printed (isa/today.md 6.8).
pub fn print_scratch(inst: &Inst, id: &'static str) -> Option<Fault> {
    let tile = inst.tile(Role::Tile)?.tile;
    let has_tmp = inst.views.iter().any(|(role, _)| *role == Role::ScratchView);
    if !has_tmp || matches!(tile.loc, Loc::Mat | Loc::Acc) {
        return None;
    }
    let what = format!("{tile} is printed where it lies, and scratch is given");
    broken(inst, Role::Tile, id, what, "leave the scratch out")
}
