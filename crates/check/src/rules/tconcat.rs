//! TCONCAT, plain and indexed (ops.md 6).

use super::about;
use super::signature;
use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Form, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{LayoutName, Loc};

const INDEX_TYPES: &[Elem] = &[Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32];
const INDEX_TILES: [Role; 3] = [Role::Idx0, Role::Idx1, Role::DstIdx];

pub(super) fn signature(inst: &Inst) -> Option<Fault> {
    index_loc(inst).or_else(|| signature::check(inst))
}

pub(super) fn extents(inst: &Inst) -> Option<Fault> {
    if inst.form == Form::Plain { joined(inst) } else { same_rows(inst) }
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
    let fault = Fault::new("tconcat-dim", what);
    Some(if dim == 0 && inst.form == Form::Plain { fault.help("dim = 1, or use cpu") } else { fault.help("dim = 1") })
}

/// Index tiles of a2a3 and a5 are in Vec, like the others.
fn index_loc(inst: &Inst) -> Option<Fault> {
    if !inst.profile.is_npu() {
        return None;
    }
    let arg = INDEX_TILES.iter().find_map(|r| inst.tile(*r).filter(|t| t.tile.loc != Loc::Vec))?;
    let what = format!("{} TCONCAT takes tiles in Vec, and {} is in {}", inst.profile, arg.role, arg.tile.loc.cpp());
    Some(about(inst, arg.role, Fault::new("tconcat-loc", what).help("move it to Vec; cpu takes any location")))
}

/// Extents of the plain form: equal across, adding up along the joined dimension.
fn joined(inst: &Inst) -> Option<Fault> {
    let (src0, src1) = (inst.tile(Role::Src0)?, inst.tile(Role::Src1)?);
    let dst = inst.tile(Role::Dst)?;
    let by_rows = inst.attrs.dim() == 0;
    let (along, across) = if by_rows { (0, 1) } else { (1, 0) };
    let names = [("rows", "tconcat-rows"), ("columns", "tconcat-cols")];
    // `-rows` is asked before `-cols`, whichever is which here.
    for axis in [0, 1] {
        let (word, rule) = names[axis];
        if axis == across {
            let fault = equal(inst, &[Role::Src0, Role::Src1, Role::Dst], axis, rule, word);
            if fault.is_some() {
                return fault;
            }
            continue;
        }
        let (Some(a), Some(b)) = (src0.valid[along], src1.valid[along]) else {
            continue;
        };
        let sum = a.saturating_add(b);
        // a2a3 joins into the declared columns, whatever is valid.
        let (limit, declared) =
            if inst.profile == Profile::A2a3 { (Some(dst.tile.cols), true) } else { (dst.valid[along], false) };
        let Some(limit) = limit else { continue };
        if (declared && sum > limit) || (!declared && sum != limit) {
            let what = format!(
                "{a} and {b} valid {word} join to {sum}, and the destination has {limit} {} {word}",
                if declared { "declared" } else { "valid" }
            );
            let help = if declared {
                format!("declare at least {sum} {word} in the destination")
            } else {
                format!("set the destination's valid {word} to {sum}")
            };
            return Some(about(inst, Role::Dst, Fault::new(rule, what).help(help)));
        }
    }
    None
}

fn same_rows(inst: &Inst) -> Option<Fault> {
    equal(inst, &[Role::Src0, Role::Src1, Role::Dst], 0, "tconcat-rows", "rows")
}

fn equal(inst: &Inst, roles: &[Role], axis: usize, rule: &'static str, word: &str) -> Option<Fault> {
    let mut known = roles.iter().filter_map(|role| Some((*role, inst.tile(*role)?.valid[axis]?)));
    let (first, n) = known.next()?;
    let (role, other) = known.find(|(_, v)| *v != n)?;
    let what = format!("{first} has {n} valid {word} and {role} has {other}");
    Some(about(inst, role, Fault::new(rule, what).help(format!("make the valid {word} of all tiles equal"))))
}

pub(super) fn index_tiles(inst: &Inst) -> Option<Fault> {
    if inst.form == Form::Plain {
        return None;
    }
    let first = inst.tile(Role::Idx0)?.tile.elem;
    let dst_rows = inst.tile(Role::Dst)?.valid[0];
    for arg in INDEX_TILES.iter().filter_map(|r| inst.tile(*r)) {
        let (role, tile) = (arg.role, &arg.tile);
        let fault = |what: String, help: &str| Some(about(inst, role, Fault::new("tconcat-index", what).help(help)));
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
            return Some(about(inst, idx, Fault::new("tconcat-index", what).help(help)));
        }
    }
    None
}
