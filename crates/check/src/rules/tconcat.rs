//! TCONCAT, plain and indexed (ops.md 6).

use super::*;

const INDEX_TYPES: &[Elem] = &[Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32];
const AXES: [(&str, &str); 2] = [("rows", "tconcat-rows"), ("columns", "tconcat-cols")];
const INDEX_TILES: [Role; 3] = [Role::Idx0, Role::Idx1, Role::DstIdx];

pub(super) fn signature(inst: &Inst) -> Option<Fault> {
    index_loc(inst).or_else(|| signature::check(inst))
}

pub(super) fn extents(inst: &Inst) -> Option<Fault> {
    if inst.form == Form::Plain { joined(inst) } else { equal(inst, 0) }
}

pub(super) fn dim(inst: &Inst) -> Option<Fault> {
    let dim = inst.attrs.dim();
    let what = match dim {
        1 => return None,
        0 if inst.form != Form::Plain => "index tiles count columns, and dim = 0 joins rows".into(),
        0 if inst.profile == Profile::Cpu => return None,
        0 => format!("{} joins columns, and dim = 0 joins rows", inst.profile),
        dim => format!("a tile has no dimension {dim}"),
    };
    let help = if dim == 0 && inst.form == Form::Plain { "dim = 1, or use cpu" } else { "dim = 1" };
    Some(Fault::new("tconcat-dim", what).help(help))
}

/// Index tiles of a2a3 and a5 are in Vec, like the others.
fn index_loc(inst: &Inst) -> Option<Fault> {
    if !inst.profile.is_npu() {
        return None;
    }
    let arg = INDEX_TILES.iter().find_map(|r| inst.tile(*r).filter(|t| t.tile.loc != Loc::Vec))?;
    let what = format!("{} TCONCAT takes tiles in Vec, and {} is in {}", inst.profile, arg.role, arg.tile.loc.cpp());
    broken(inst, arg.role, "tconcat-loc", what, "move it to Vec; cpu takes any location")
}

/// Extents of the plain form: equal across, adding up along the joined dimension.
fn joined(inst: &Inst) -> Option<Fault> {
    let (src0, src1) = (inst.tile(Role::Src0)?, inst.tile(Role::Src1)?);
    let dst = inst.tile(Role::Dst)?;
    let by_rows = inst.attrs.dim() == 0;
    let (along, across) = if by_rows { (0, 1) } else { (1, 0) };
    let sums = || {
        let (word, rule) = AXES[along];
        let (a, b) = src0.valid[along].zip(src1.valid[along])?;
        let sum = a.saturating_add(b);
        // a2a3 joins into the declared columns, whatever is valid.
        let (limit, kind, help) = if inst.profile == Profile::A2a3 {
            (dst.tile.cols, "declared", format!("declare at least {sum} {word} in the destination"))
        } else {
            (dst.valid[along]?, "valid", format!("set the destination's valid {word} to {sum}"))
        };
        if sum == limit || kind == "declared" && sum < limit {
            return None;
        }
        let what = format!("{a} and {b} valid {word} join to {sum}, and the destination has {limit} {kind} {word}");
        broken(inst, Role::Dst, rule, what, help)
    };
    // `-rows` is checked before `-cols`, whichever is which here.
    if by_rows { sums().or_else(|| equal(inst, across)) } else { equal(inst, across).or_else(sums) }
}

fn equal(inst: &Inst, axis: usize) -> Option<Fault> {
    let (word, rule) = AXES[axis];
    let mut known =
        [Role::Src0, Role::Src1, Role::Dst].into_iter().filter_map(|role| Some((role, inst.tile(role)?.valid[axis]?)));
    let (first, n) = known.next()?;
    let (role, other) = known.find(|(_, v)| *v != n)?;
    let what = format!("{first} has {n} valid {word} and {role} has {other}");
    broken(inst, role, rule, what, format!("make the valid {word} of all tiles equal"))
}

pub(super) fn index_tiles(inst: &Inst) -> Option<Fault> {
    if inst.form == Form::Plain {
        return None;
    }
    let first = inst.tile(Role::Idx0)?.tile.elem;
    let dst_rows = inst.tile(Role::Dst)?.valid[0];
    for arg in INDEX_TILES.iter().filter_map(|r| inst.tile(*r)) {
        let (role, tile) = (arg.role, &arg.tile);
        let fault = |what: String, help: &str| broken(inst, role, "tconcat-index", what, help);
        if !INDEX_TYPES.contains(&tile.elem) {
            let what = format!("index tiles are i8, u8, i16, u16, i32 or u32, and {role} is {}", tile.elem);
            return fault(what, "use i32 counts");
        }
        if tile.elem != first {
            return fault(format!("idx0 is {first} and {role} is {}", tile.elem), "give all index tiles one type");
        }
        if tile.layout_name() != LayoutName::Nd {
            return fault(format!("index tiles are ND, and {role} is {}", signature::layout(tile)), "use an ND tile");
        }
        if let (Some(have), Some(need)) = (arg.valid[0], dst_rows)
            && have < need
        {
            let what = format!("{role} has counts for {have} rows, and the destination has {need} valid rows");
            return fault(what, "give it a count for every row");
        }
        if let Some(cols) = arg.valid[1].filter(|c| role == Role::DstIdx && *c != 1) {
            return fault(format!("dstIdx has one valid column, and this one has {cols}"), "v_col → 1");
        }
    }
    None
}

/// `tconcat-index` for the counts of one row, in bytes of the index type as they lie in `idx0` and `idx1`.
pub fn check_concat_counts(inst: &Inst, row: u64, counts: [i128; 2]) -> Option<Fault> {
    let sources = [(Role::Src0, Role::Idx0), (Role::Src1, Role::Idx1)];
    for ((src, idx), count) in sources.into_iter().zip(counts) {
        let unit = i128::from(inst.tile(idx)?.tile.elem.bytes_of(1).max(1));
        let cols = i128::from(inst.tile(src)?.valid[1]?);
        let n = count.div_euclid(unit);
        if count < 0 || n > cols {
            let what = format!("{idx}({row}, 0) = {count} bytes are {n} columns, and {src} has {cols} valid columns");
            let help = format!("counts are multiples of {unit} from 0 to {}", cols * unit);
            return broken(inst, idx, "tconcat-index", what, help);
        }
    }
    None
}
