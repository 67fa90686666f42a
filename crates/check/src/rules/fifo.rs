//! Rules of FIFOs between cores (isa/structure.md 5).

use crate::check;
use tessera_ir::fifo::part_of;
use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Inst, ScalarArg, TileArg};
use tessera_isa::ops::{Form, Opcode, Role, RuleKind};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Epilogue};
use tessera_isa::tile::{Extent, LayoutName, Loc, Tile};

/// The divisors of rows and columns under a split.
fn division(split: u8) -> [u64; 2] {
    match split {
        1 => [2, 1],
        2 => [1, 2],
        _ => [1, 1],
    }
}

const AXES: [&str; 2] = ["rows", "columns"];

/// `fifo-type` of what is pushed.
fn check_source(dir: Dir, tile: &Tile) -> Option<Fault> {
    let fits = match dir {
        Dir::C2v => tile.loc == Loc::Acc && matches!(tile.elem, Elem::F32 | Elem::I32),
        Dir::V2c => tile.loc == Loc::Vec,
    };
    let wanted = if dir == Dir::C2v { "an Acc tile of f32 or i32" } else { "a Vec tile" };
    (!fits).then(|| Fault::new("fifo-type", format!("{tile} is pushed {dir}")).help(format!("push {wanted}")))
}

/// `fifo-type` of what is popped.
pub fn check_result(dir: Dir, tile: &Tile, epilogue: Option<Epilogue>) -> Option<Fault> {
    let layout = epilogue.map_or(LayoutName::Nd, |epilogue| epilogue.layout.layout());
    let fits = match dir {
        Dir::C2v => tile.loc == Loc::Vec && tile.layout_name() == layout,
        Dir::V2c => tile.loc == Loc::Mat,
    };
    let wanted = if dir == Dir::C2v { format!("a Vec tile in {layout}") } else { "a Mat tile".into() };
    (!fits).then(|| Fault::new("fifo-type", format!("{tile} is popped {dir}")).help(format!("pop {wanted}")))
}

/// The rules of a push by itself: `fifo-type`, `fifo-slot`, and `acc-mode-split` of the tile and its valid region.
pub fn check_push(
    profile: Profile,
    dir: Dir,
    split: u8,
    slot_size: u64,
    tile: &Tile,
    valid: [u64; 2],
    epilogue: Option<Epilogue>,
) -> Option<Fault> {
    let of_whole = if dir == Dir::V2c && split != 0 { 2 } else { 1 };
    // What is converted on the way has the size that is popped.
    let slot = || check_slot(slot_size, tile, of_whole).filter(|_| epilogue.is_none());
    let is_even = || {
        let axis = usize::from(split == 4);
        let what = format!("{} valid {} are split, and split = {split} is for odd extents", valid[axis], AXES[axis]);
        let help = format!("write split = {}", split.saturating_sub(2));
        (split > 2 && valid[axis].is_multiple_of(2)).then(|| Fault::new("fifo-split", what).help(help))
    };
    check_source(dir, tile).or_else(slot).or_else(is_even).or_else(|| {
        let odd = |extent: [u64; 2]| extent.iter().zip(division(split)).any(|(n, by)| n % by != 0);
        let extents = [[tile.rows, tile.cols], valid];
        let [rows, cols] = extents.into_iter().find(|extent| dir == Dir::C2v && odd(*extent))?;
        let what = format!("{rows}x{cols} is split between two vector cores, and has no two equal halves");
        // Rules of modes do not exist on a2a3; there it is the shape that does not fit.
        let rule = if profile == Profile::A2a3 { "fifo-shape" } else { "acc-mode-split" };
        Some(Fault::new(rule, what).help("push an even extent, or do not split"))
    })
}

/// `fifo-slot`: the whole tile fits a slot.
pub fn check_slot(slot_size: u64, tile: &Tile, halves: u64) -> Option<Fault> {
    let bytes = tile.bytes().saturating_mul(halves);
    let what = || format!("{tile} makes a tile of {bytes} bytes, and a slot has {slot_size}");
    (bytes > slot_size).then(|| Fault::new("fifo-slot", what()).help(format!("slot_size = {bytes}")))
}

/// The rules of a push and its matching pop: `fifo-type`, and `fifo-shape` of the declared extents.
pub fn check_meet(
    profile: Profile,
    dir: Dir,
    split: u8,
    pushed: &Tile,
    popped: &Tile,
    epilogue: Option<Epilogue>,
) -> Option<Fault> {
    let types = check_result(dir, popped, epilogue).or_else(|| {
        if let Some(epilogue) = epilogue {
            let what = format!("{} is pushed by {}, and {} is popped", pushed.elem, epilogue.quant, popped.elem);
            let fits = epilogue.quant.takes(pushed.elem, popped.elem);
            return (!fits).then(|| {
                Fault::new("fifo-type", what).help(format!("{} takes {}", epilogue.quant, epilogue.quant.types()))
            });
        }
        if pushed.elem != popped.elem {
            let what = format!("{} is pushed, and {} is popped", pushed.elem, popped.elem);
            return Some(Fault::new("fifo-type", what).help("push and pop one element type"));
        }
        (dir == Dir::V2c).then(|| check_layouts(profile, pushed, popped)).flatten()
    });
    types.or_else(|| {
        if split > 2 {
            return check_odd(split, pushed, popped);
        }
        let [r, c] = division(split);
        let (whole, half, is_halved) = match dir {
            Dir::C2v => (pushed, popped, true),
            Dir::V2c => (popped, pushed, false),
        };
        let fits = [whole.rows, whole.cols] == [half.rows.saturating_mul(r), half.cols.saturating_mul(c)];
        let extent = |pushed: Extent, popped: Extent, by: u64| {
            let (whole, half) = if is_halved { (pushed, popped) } else { (popped, pushed) };
            whole.known().zip(half.known()).is_none_or(|(whole, half)| whole == half.saturating_mul(by))
        };
        let valid_fits = extent(pushed.v_row, popped.v_row, r) && extent(pushed.v_col, popped.v_col, c);
        if fits && valid_fits {
            return None;
        }
        let what = format!("{pushed} is pushed with split = {split}, and {popped} is popped");
        let wanted = if is_halved { [pushed.rows / r, pushed.cols / c] } else { [pushed.rows * r, pushed.cols * c] };
        Some(
            Fault::new("fifo-shape", what)
                .help(format!("pop {}x{}, and its valid region likewise", wanted[0], wanted[1])),
        )
    })
}

/// `fifo-shape` of halves of which the first is larger by one: the popped tile has room for it.
fn check_odd(split: u8, pushed: &Tile, popped: &Tile) -> Option<Fault> {
    let axis = usize::from(split == 4);
    let whole = [pushed.v_row.known().unwrap_or(1), pushed.v_col.known().unwrap_or(1)];
    let (from, to) = ([pushed.rows, pushed.cols], [popped.rows, popped.cols]);
    let fits = to[axis] >= whole[axis].div_ceil(2) && to[1 - axis] == from[1 - axis];
    let what = || format!("{pushed} is pushed with split = {split}, and {popped} is popped");
    (!fits).then(|| Fault::new("fifo-shape", what()).help("pop a tile with room for the larger half"))
}

/// `fifo-shape` of the valid region that one vector core pops of an odd one.
pub fn check_odd_part(split: u8, half: u64, pushed: [u64; 2], popped: [u64; 2]) -> Option<Fault> {
    let (_, [r, c]) = part_of(split, half, pushed);
    let what = || {
        let ([a, b], [x, y]) = (pushed, popped);
        format!("a valid region of {a}x{b} was pushed with split = {split}, and vector core {half} pops {x}x{y}")
    };
    ([r, c] != popped).then(|| Fault::new("fifo-shape", what()).help(format!("pop a valid region of {r}x{c}")))
}

/// `fifo-type`: layouts as TINSERT allows; through global memory (a2a3) as TSTORE and TLOAD do.
fn check_layouts(profile: Profile, pushed: &Tile, popped: &Tile) -> Option<Fault> {
    let refuse = || {
        let what = format!("{pushed} cannot go into {popped} on {profile}");
        Fault::new("fifo-type", what).help("push ND or NZ, and pop a layout that TINSERT writes")
    };
    if profile == Profile::A2a3 {
        let fits =
            pushed.layout_name() == LayoutName::Nd && matches!(popped.layout_name(), LayoutName::Nd | LayoutName::Nz);
        return (!fits).then(refuse);
    }
    let mut inst = Inst::new(Opcode::Tinsert, Form::Plain, profile);
    inst.tiles.push(TileArg::of_type(Role::Src, *pushed));
    inst.tiles.push(TileArg::of_type(Role::Dst, *popped));
    inst.scalars.extend([Role::Row, Role::Col].map(|role| ScalarArg::new(role, 0)));
    let asked = |fault: &Fault| {
        let kinds = inst.op.info().rules.iter().filter(|r| r.kind == RuleKind::InsertSignature);
        fault.is_error() && kinds.into_iter().any(|r| r.id == fault.rule)
    };
    check(&inst).iter().any(asked).then(refuse)
}

/// `fifo-shape` of valid regions: what was pushed, by half, and what is popped.
pub fn check_valid(dir: Dir, split: u8, pushed: impl IntoIterator<Item = [u64; 2]>, popped: [u64; 2]) -> Option<Fault> {
    let by = division(split);
    pushed.into_iter().find_map(|pushed| {
        let wanted = match dir {
            Dir::C2v => [pushed[0] / by[0], pushed[1] / by[1]],
            Dir::V2c => [pushed[0].saturating_mul(by[0]), pushed[1].saturating_mul(by[1])],
        };
        let [r, c] = pushed;
        let what = format!(
            "a valid region of {r}x{c} was pushed with split = {split}, and {}x{} is popped",
            popped[0], popped[1]
        );
        (wanted != popped)
            .then(|| Fault::new("fifo-shape", what).help(format!("pop a valid region of {}x{}", wanted[0], wanted[1])))
    })
}

/// `fifo-valid`: extents are given exactly where the type leaves both open, and lie in the tile.
pub fn check_popped(tile: &Tile, given: [Option<i128>; 2]) -> Option<Fault> {
    check_given(tile, given.map(|v| v.is_some())).or_else(|| {
        let sides = [("rows", given[0], tile.rows), ("columns", given[1], tile.cols)];
        sides.into_iter().find_map(|(name, given, most)| {
            let given = given.filter(|v| *v < 0 || *v > i128::from(most))?;
            let what = format!("a tile with {given} valid {name} is popped, and {tile} has {most}");
            Some(Fault::new("fifo-valid", what).help(format!("give 0 to {most} {name}")))
        })
    })
}

/// `fifo-valid`: are extents given only where the type leaves both open? Left out they are the declared ones
/// (isa/today.md 7.1).
pub fn check_given(tile: &Tile, given: [bool; 2]) -> Option<Fault> {
    let open = [tile.v_row, tile.v_col].map(|extent| extent == Extent::Dynamic);
    if given == [false; 2] || open[0] == open[1] && given == open {
        return None;
    }
    let what = match (open, given) {
        ([true, true], _) => "the type leaves both valid extents open, and the pop does not give both",
        ([false, false], _) => "the type says the valid region, and the pop gives extents, too",
        _ => "the type leaves one valid extent open, and a pop gives both or none",
    };
    Some(Fault::new("fifo-valid", what).help("write (%rows, %cols) with a type of valid=?x?, and only there"))
}
