//! TLOAD and TSTORE: between views of global memory and tiles (tile-model.md 7).

use super::*;
use tessera_isa::inst::ViewTag;
use tessera_isa::tile::{BLayout, SLayout, TileType};

/// The view as a tile, so that legality tables need not know views: its tag stands for the layout of that name.
pub(super) fn view_tile(inst: &Inst) -> Option<Tile> {
    let view = inst.global.as_ref()?;
    let (b, s) = match view.tag {
        ViewTag::Nd => (BLayout::RowMajor, SLayout::NoneBox),
        ViewTag::Dn => (BLayout::ColMajor, SLayout::NoneBox),
        ViewTag::Nz => (BLayout::ColMajor, SLayout::RowMajor),
    };
    let ty = TileType::new(Loc::Vec, view.elem, 1, 1).with_layout(b, s, 512);
    Some(ty.resolve(inst.profile))
}

pub(super) fn load(inst: &Inst) -> Option<Fault> {
    let view = inst.global.as_ref()?;
    match &inst.conv {
        Some(conv) => load_conv(inst, view, conv),
        None => signature::check(inst).or_else(|| shape(inst, view, Role::Dst, "tload-shape")).or_else(|| bounds(view)),
    }
}

pub(super) fn store(inst: &Inst) -> Option<Fault> {
    let view = inst.global.as_ref()?;
    signature::check(inst).or_else(|| shape(inst, view, Role::Src, "tstore-shape")).or_else(|| bounds(view))
}

/// A conv tile is loaded densely, from a view of its own dimensions or from a pointer.
fn load_conv(inst: &Inst, view: &GlobalArg, conv: &ConvType) -> Option<Fault> {
    if inst.profile.is_npu() && !matches!(conv.loc, Loc::Vec | Loc::Mat) {
        let what =
            format!("{} TLOAD takes GM→Vec and GM→Mat, and the conv tile is in {}", inst.profile, conv.loc.cpp());
        return broken(inst, Role::Dst, "tload-loc", what, "put it into mat");
    }
    if view.elem != conv.elem {
        let what = format!("the view holds {} and the conv tile {}", view.elem, conv.elem);
        return broken(inst, Role::Dst, "tload-dtype", what, format!("make both {}", conv.elem));
    }
    let dims = conv.written_dims();
    let differs = view.dims.len() != dims.len()
        || view.dims.iter().zip(&dims).any(|(have, need)| have.is_some_and(|have| have != *need));
    if !view.dims.is_empty() && differs {
        let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
        let what = format!("the view is {} and the conv tile {}", extents(view), dims.join("x"));
        let help = "load from a view of the tile's dimensions, or from the pointer";
        return broken(inst, Role::Dst, "tload-shape", what, help);
    }
    if view.dims.is_empty() {
        let start = i128::from(view.offset?);
        let end = start.saturating_add(i128::from(conv.elements()));
        return outside(view, start, end - 1);
    }
    bounds(view)
}

fn extents(view: &GlobalArg) -> String {
    let dims = view.dims.iter().map(|d| d.map_or("?".into(), |d| d.to_string()));
    dims.collect::<Vec<String>>().join("x")
}

/// The view's rows × columns equal the tile's valid region.
fn shape(inst: &Inst, view: &GlobalArg, role: Role, rule: Rule) -> Option<Fault> {
    let tile = inst.tile(role)?;
    let fault = |what: String, help: String| broken(inst, role, rule, what, help);
    let counts: &[usize] = match view.tag {
        ViewTag::Nd => &[1, 2, 3, 4, 5],
        ViewTag::Dn => &[2, 3, 4, 5],
        ViewTag::Nz => &[5],
    };
    if view.dims.is_empty() {
        let what = "a pointer has no rows and columns to move a tile from or to".into();
        return fault(what, "make a view of it with pto.make_tensor_view".into());
    }
    if !counts.contains(&view.dims.len()) {
        let what =
            format!("an {} view has {} dimensions, and this one has {}", view.tag, join(counts, "or"), view.dims.len());
        return fault(what, "use another layout tag".into());
    }
    for ((have, need), name) in view.shape().into_iter().zip(tile.valid).zip(["rows", "columns"]) {
        if let (Some(have), Some(need)) = (have, need)
            && have != need
        {
            let (tag, dims) = (view.tag, extents(view));
            let what = format!("the {tag} view {dims} has {have} {name}, and the tile's valid region has {need}");
            let v = if name == "rows" { "v_row" } else { "v_col" };
            return fault(what, format!("{v} {need} → {have}, or partition the view"));
        }
    }
    None
}

/// Every element of the view lies inside the buffer, as far as both are known.
fn bounds(view: &GlobalArg) -> Option<Fault> {
    let mut low = i128::from(view.offset?);
    let mut high = low;
    for (dim, stride) in view.dims.iter().zip(&view.strides) {
        let (dim, stride) = ((*dim)?, (*stride)?);
        if dim == 0 {
            return None;
        }
        let reach = i128::from(dim - 1).saturating_mul(i128::from(stride));
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
    }
    outside(view, low, high)
}

fn outside(view: &GlobalArg, low: i128, high: i128) -> Option<Fault> {
    let touched = match view.buffer {
        _ if low < 0 => low,
        Some(n) if high >= i128::from(n) => high,
        _ => return None,
    };
    let holds = view.buffer.map_or("starts at 0".into(), |n| format!("has {n} elements"));
    let name =
        if view.dims.is_empty() { "the pointer".into() } else { format!("the {} view {}", view.tag, extents(view)) };
    let what = format!("{name} touches element {touched}, and its buffer {holds}");
    Some(Fault::new("gm-bounds", what).help("check the view's shape, strides and offsets"))
}
