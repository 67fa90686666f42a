//! Between views of global memory and tiles (isa/memory.md 1 to 4, isa/structure.md 8).

use super::*;
use tessera_isa::inst::{PadMode, ViewTag};
use tessera_isa::tile::{BLayout, Pad, SLayout, TileType};

/// The view as a tile, so that legality tables need not know views: its tag stands for the layout of that name.
pub(super) fn view_tile(inst: &Inst) -> Option<Tile> {
    Some(tile_of(inst.global.as_ref()?, inst.profile))
}

/// A view as signatures judge it.
pub(super) fn tile_of(view: &GlobalArg, profile: Profile) -> Tile {
    let (b, s) = match view.tag {
        ViewTag::Nd => (BLayout::RowMajor, SLayout::NoneBox),
        ViewTag::Dn => (BLayout::ColMajor, SLayout::NoneBox),
        ViewTag::Nz => (BLayout::ColMajor, SLayout::RowMajor),
    };
    let ty = TileType::new(Loc::Vec, view.elem, 1, 1).with_layout(b, s, 512);
    ty.resolve(profile)
}

/// TLOAD's signature; a conv tile has no layout.
pub(super) fn load_signature(inst: &Inst) -> Option<Fault> {
    let (Some(conv), Some(view)) = (&inst.conv, &inst.global) else { return signature::check(inst) };
    if inst.profile.is_npu() && !matches!(conv.loc, Loc::Vec | Loc::Mat) {
        let what =
            format!("{} TLOAD takes GM→Vec and GM→Mat, and the conv tile is in {}", inst.profile, conv.loc.cpp());
        return broken(inst, Role::Dst, "tload-loc", what, "put it into mat");
    }
    if view.elem != conv.elem {
        let what = format!("the view holds {} and the conv tile {}", view.elem, conv.elem);
        return broken(inst, Role::Dst, "tload-dtype", what, format!("make both {}", conv.elem));
    }
    None
}

fn extents(view: &GlobalArg) -> String {
    let dims = view.dims.iter().map(|d| d.map_or("?".into(), |d| d.to_string()));
    dims.collect::<Vec<String>>().join("x")
}

/// The operand that is loaded or stored.
fn moved(inst: &Inst) -> Option<(Role, &TileArg)> {
    let role = if inst.tile(Role::Dst).is_some() { Role::Dst } else { Role::Src };
    Some((role, inst.tile(role)?))
}

/// Whether the instruction names a window of its view (isa/memory.md 6).
fn is_window(inst: &Inst) -> bool {
    inst.form == Form::Window
}

/// A view has rows and columns: it is no pointer, and has as many dimensions as its layout requires (tile-model.md 7).
pub(super) fn dimensions(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (view, (role, _)) = (inst.global.as_ref()?, moved(inst)?);
    let counts: &[usize] = match view.tag {
        ViewTag::Nd => &[1, 2, 3, 4, 5],
        ViewTag::Dn => &[2, 3, 4, 5],
        ViewTag::Nz => &[5],
    };
    if view.dims.is_empty() {
        let what = "a pointer has no rows and columns to move a tile from or to";
        return broken(inst, role, rule, what, "make a view of it with pto.make_tensor_view");
    }
    if view.tag == ViewTag::Nz && is_window(inst) {
        let what = "a window by row and column is one of an nd or dn view, and this view is nz";
        return broken(inst, role, rule, what, "make the window with pto.partition_view");
    }
    if !counts.contains(&view.dims.len()) {
        let what =
            format!("an {} view has {} dimensions, and this one has {}", view.tag, join(counts, "or"), view.dims.len());
        return broken(inst, role, rule, what, "use another layout tag");
    }
    None
}

/// Both extents of the view and the tile's valid region, with their names, where both are known.
fn extents_of<'a>(view: &GlobalArg, tile: &'a TileArg) -> impl Iterator<Item = (usize, u64, u64)> + use<'a> {
    let shape = view.shape();
    let known = move |axis: usize| Some((axis, shape[axis]?, tile.valid[axis]?));
    [0, 1].into_iter().filter_map(known)
}

const AXES: [(&str, &str); 2] = [("rows", "v_row"), ("columns", "v_col")];

/// `tload-shape`: the view has the extents that the valid region requires, and hardware does not write past the tile.
pub(super) fn load_shape(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let view = inst.global.as_ref()?;
    if let Some(conv) = &inst.conv {
        return conv_shape(inst, view, conv);
    }
    if let Some(fault) = dimensions(inst, rule) {
        return Some(fault);
    }
    let tile = inst.tile(Role::Dst).filter(|_| !is_window(inst))?;
    let (tag, dims) = (view.tag, extents(view));
    for (axis, have, need) in extents_of(view, tile) {
        let (name, v) = AXES[axis];
        if have < need {
            let what = format!("the {tag} view {dims} has {have} {name}, and the tile's valid region has {need}");
            return broken(inst, Role::Dst, rule, what, format!("{v} {need} → {have}, or partition the view"));
        }
    }
    // Hardware takes the number of rows from the view, of columns where it is dn (structure.md 8).
    let axis = counted_axis(view);
    let (have, declared) = (view.shape()[axis]?, [tile.tile.rows, tile.tile.cols][axis]);
    if inst.profile.is_npu() && have > declared {
        let what = format!("the {tag} view {dims} has {have} {}, and the tile declares {declared}", AXES[axis].0);
        return broken(inst, Role::Dst, rule, what, "partition the view");
    }
    None
}

/// The axis whose extent hardware takes from the view: rows, or the columns of a dn view.
fn counted_axis(view: &GlobalArg) -> usize {
    usize::from(view.tag == ViewTag::Dn)
}

/// A conv tile is loaded densely, from a view of its own dimensions or from a pointer.
fn conv_shape(inst: &Inst, view: &GlobalArg, conv: &ConvType) -> Option<Fault> {
    let dims = conv.written_dims();
    let differs = view.dims.len() != dims.len()
        || view.dims.iter().zip(&dims).any(|(have, need)| have.is_some_and(|have| have != *need));
    if view.dims.is_empty() || !differs {
        return None;
    }
    let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
    let what = format!("the view is {} and the conv tile {}", extents(view), dims.join("x"));
    let help = "load from a view of the tile's dimensions, or from the pointer";
    broken(inst, Role::Dst, "tload-shape", what, help)
}

/// `tload-view`: only the leading part of a larger view is loaded.
pub(super) fn larger_view(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (view, tile) = (inst.global.as_ref()?, inst.tile(Role::Dst)?);
    if inst.conv.is_some() || is_window(inst) {
        return None;
    }
    let (axis, have, need) = extents_of(view, tile).find(|(_, have, need)| have > need)?;
    let (name, _) = AXES[axis];
    let what =
        format!("the {} view {} has {have} {name}, and the first {need} of them are loaded", view.tag, extents(view));
    broken(inst, Role::Dst, rule, what, "partition the view")
}

/// `tstore-shape`: the view's rows × columns equal the tile's valid region.
pub(super) fn store_shape(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (view, tile) = (inst.global.as_ref()?, inst.tile(Role::Src)?);
    if let Some(fault) = dimensions(inst, rule) {
        return Some(fault);
    }
    let (axis, have, need) =
        extents_of(view, tile).find(|(_, have, need)| have != need).filter(|_| !is_window(inst))?;
    let (name, v) = AXES[axis];
    let (tag, dims) = (view.tag, extents(view));
    let what = format!("the {tag} view {dims} has {have} {name}, and the tile's valid region has {need}");
    broken(inst, Role::Src, rule, what, format!("{v} {need} → {have}, or partition the view"))
}

/// `view-stride`: elements of a store that lie on each other; the last one stays.
pub(super) fn stride(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let view = inst.global.as_ref()?;
    let stands = |(dim, stride): (&Option<u64>, &Option<i64>)| dim.is_some_and(|d| d > 1) && *stride == Some(0);
    let n = view.dims.iter().zip(&view.strides).position(stands).filter(|_| !view.dims.contains(&Some(0)))?;
    let what = format!("dimension {n} of the view {} has stride 0, and the last element stays", extents(view));
    Some(Fault::new(rule, what).help("give every element a place of its own"))
}

/// `view-overlap`: two steps along different dimensions of a stored view end at the same element. Strides of 0 have a
/// rule of their own.
pub(super) fn rows_overlap(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let view = inst.global.as_ref().filter(|view| !view.dims.contains(&Some(0)))?;
    let known = |n: usize| view.dims.get(n).copied().flatten().zip(view.strides.get(n).copied().flatten());
    let pairs = (0..view.dims.len()).flat_map(|n| (n + 1..view.dims.len()).map(move |m| (n, m)));
    let (n, stride, dim, step) = pairs.into_iter().find_map(|(n, m)| {
        let ((outer, a), (inner, b)) = known(n).zip(known(m)).filter(|((_, a), (_, b))| *a != 0 && *b != 0)?;
        let (along, across) = (a.unsigned_abs(), b.unsigned_abs());
        let common = gcd(along, across);
        let meets = common > 0 && across / common < outer && along / common < inner;
        meets.then_some((n, along, inner, across))
    })?;
    let what = format!(
        "dimension {n} of the view {} steps by {stride} element{}, and {dim} elements at a distance of {step} lie \
         behind each: the same element is stored twice",
        extents(view),
        if stride == 1 { "" } else { "s" }
    );
    Some(Fault::new(rule, what).help(format!("step by at least {}, or store fewer elements", dim.saturating_mul(step))))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A layout that the instruction writes is the view's; if not, the view's counts (isa/memory.md 2).
pub(super) fn attribute(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (written, tag) = (inst.attrs.layout()?, inst.global.as_ref()?.tag);
    if written == tag {
        return None;
    }
    let what = format!("layout {written} is written, and the view is {tag}, which counts");
    Some(Fault::new(rule, what).help(format!("write {tag}, or leave it out")))
}

/// `tload-pad`: only padding whose meaning is settled (isa/memory.md 4).
pub(super) fn pad(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let by_value = inst.attrs.pad_mode() == Some(PadMode::PadValue);
    let has_value = inst.has_scalar(Role::Fill);
    let counted = [Role::LeftPadding, Role::RightPadding].into_iter().find(|role| {
        let count = inst.scalar_arg(*role);
        count.is_some_and(|count| count.value != Some(Number::Int(0)))
    });
    let (what, help) = if inst.attrs.pad_mode() == Some(PadMode::PadFirstElem) {
        ("PadFirstElem has no settled meaning".to_string(), "use PadValue with a pad_value")
    } else if let Some(role) = counted {
        (format!("{role} other than a constant 0 has no settled meaning"), "leave it out")
    } else if inst.has_scalar(Role::InitCondition) {
        ("init_condition has no settled meaning".into(), "leave it out")
    } else if inst.attrs.init_out_buffer() && !by_value {
        ("init_out_buffer = true belongs to pad_mode PadValue".into(), "add pad_mode PadValue and a pad_value")
    } else if has_value && !by_value {
        ("a pad_value belongs to pad_mode PadValue".into(), "add pad_mode = #pto.pad_mode<PadValue>")
    } else if by_value && !has_value {
        ("pad_mode PadValue has no pad_value".into(), "give it a pad_value")
    } else {
        return None;
    };
    broken(inst, Role::Dst, rule, what, help)
}

/// `tstore-range`: what a2a3's fixpipe counts up to.
pub(super) fn range(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let src = inst.src().filter(|s| s.tile.loc == Loc::Acc)?;
    let most = if inst.global.as_ref()?.tag == ViewTag::Nz { 65535 } else { 8192 };
    let limits = [
        ("columns declared", Some(src.tile.cols), 1, 4095),
        ("valid columns", src.valid[1], 1, 4095),
        ("rows declared", Some(src.tile.rows), 0, most),
    ];
    let outside = |(name, n, low, high): (&'static str, Option<u64>, u64, u64)| {
        n.filter(|n| !(low..=high).contains(n)).map(|n| (name, n, low, high))
    };
    let (name, n, low, high) = limits.into_iter().find_map(outside)?;
    let what = format!("a2a3 stores {low} to {high} {name} out of Acc, and this tile has {n}");
    broken(inst, Role::Src, rule, what, "store in several pieces")
}

/// `tstore-atomic`: the types that can be added.
pub(super) fn atomic(inst: &Inst, rule: &'static str) -> Option<Fault> {
    const ADDED: [Elem; 6] = [Elem::I8, Elem::I16, Elem::I32, Elem::F16, Elem::Bf16, Elem::F32];
    let elem = inst.global.as_ref()?.elem;
    if !inst.attrs.adds() || ADDED.contains(&elem) {
        return None;
    }
    let what = format!("atomic_add takes views of i8, i16, i32, f16, bf16 and f32, and this one holds {elem}");
    broken(inst, Role::Src, rule, what, "leave out atomicType, or use another type")
}

/// `gm-bounds`: every element that is touched lies inside the buffer, as far as both are known.
pub(super) fn bounds(inst: &Inst) -> Option<Fault> {
    let view = inst.global.as_ref()?;
    let start = i128::from(view.offset?);
    if let (Some(conv), true) = (&inst.conv, view.dims.is_empty()) {
        let end = start.saturating_add(i128::from(conv.elements()));
        return outside(view, start, end - 1);
    }
    if view.dims.is_empty() && reads_all(inst) && inst.tile(Role::Dst).is_some() {
        let what = "a pointer does not say how much of global memory is read ahead";
        return Some(Fault::new("gm-bounds", what).help("make a view of it with pto.make_tensor_view"));
    }
    let shape = [view.shape()[0]?, view.shape()[1]?];
    let at = [inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?];
    // TLOAD touches the leading part of its view; everything else, all of it.
    let touched = match moved(inst) {
        Some((Role::Dst, tile)) if inst.conv.is_none() && !reads_all(inst) => [tile.valid[0]?, tile.valid[1]?],
        Some((_, tile)) if is_window(inst) => [tile.valid[0]?, tile.valid[1]?],
        _ => shape,
    };
    if let Some(axis) = [0, 1].into_iter().find(|n| at[*n].saturating_add(touched[*n]) > shape[*n]) {
        let (name, end) = (AXES[axis].0, at[axis].saturating_add(touched[axis]));
        let (tag, dims) = (view.tag, extents(view));
        let what = format!("the window ends at {end} {name}, and the {tag} view {dims} has {}", shape[axis]);
        return Some(Fault::new("gm-bounds", what).help("move the window into the view"));
    }
    let (low, high) = view.layout()?.reach(at, touched)?;
    outside(view, start.saturating_add(low), start.saturating_add(high))
}

/// Whether it reads all of its view, whatever the tile holds (TPREFETCH).
fn reads_all(inst: &Inst) -> bool {
    !inst.op.info().rules.iter().any(|r| r.kind == RuleKind::LoadShape)
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

/// `tload-hw`, `tstore-hw`: what public documentation refuses (isa/memory.md 2).
pub(super) fn hardware(inst: &Inst, rule: &'static str) -> Option<Fault> {
    let (view, (role, tile)) = (inst.global.as_ref()?, moved(inst)?);
    if inst.conv.is_some() {
        return None;
    }
    let (is_load, name, tag) = (role == Role::Dst, tile.tile.layout_name(), view.tag);
    let wide = matches!(tile.tile.elem, Elem::I64 | Elem::U64);
    let plain = matches!((name, tag), (LayoutName::Nd, ViewTag::Nd) | (LayoutName::Dn, ViewTag::Dn));
    let boxes = is_load && matches!((name, tag), (LayoutName::Nz, ViewTag::Nd) | (LayoutName::Zn, ViewTag::Dn));
    let leading = view.dims.len().saturating_sub(2);
    let fills =
        inst.scalar(Role::Fill).map_or(!matches!(tile.tile.pad, Pad::Null | Pad::Zero), |v| v != Number::Int(0));
    let (what, help) = if wide && !plain {
        (format!("{} between {name} and {tag}", tile.tile.elem), "give the tile the layout of the view")
    } else if boxes && view.dims.iter().take(leading).any(|d| d.is_some_and(|d| d > 1)) {
        (
            format!("{name} out of the {tag} view {} with a leading dimension", extents(view)),
            "load one matrix at a time",
        )
    } else if boxes && tile.tile.fractal != 512 {
        (format!("{name} out of {tag} with fractal {}", tile.tile.fractal), "make the fractal 512")
    } else if view.dims.contains(&Some(0)) || !is_load && tile.valid.contains(&Some(0)) {
        // A load may take no rows or columns (isa/today.md 5.3).
        ("an empty region".into(), "guard it with scf.if")
    } else if is_load && wide && inst.profile == Profile::A5 && fills {
        (format!("{} with a pad other than null or zero", tile.tile.elem), "make the pad zero")
    } else if is_load && inst.profile == Profile::A2a3 && tile.tile.rows > 4095 {
        (format!("{} declared rows", tile.tile.rows), "load at most 4095 rows at a time")
    } else {
        return None;
    };
    let what =
        format!("the documentation of {} does not allow {what}; the simulator follows the formula", inst.profile);
    broken(inst, role, rule, what, help)
}
