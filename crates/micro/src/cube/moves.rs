//! Into L1, to the bias table and the parameters, and from L1 to the operands' memories (cube.md 3 and 4).

use super::Read;
use super::fields::{Fields, Numbers};
use super::layout::{BOX, ROW, c0, pieces, row_of_box, up};
use crate::call::Attr;
use crate::check::{self, Refusal, broken};
use crate::footprint::{Touch, Whose};
use crate::run::{Core, Issue, Place};
use crate::table::{Cube, Space};
use tessera_isa::codec::Overflow;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;

const FIELD: i64 = 65535;
const LONG: i64 = (1 << 21) - 1;
const GLOBAL: i64 = (1 << 40) - 1;

/// Matrices that become boxes: all numbers of `mte_gm_l1_frac`.
struct Boxes {
    rows: i64,
    columns: i64,
    row_stride: i64,
    group_stride: i64,
    groups: i64,
    /// In pieces of 32 bytes: between rows, columns of boxes, groups.
    steps: [i64; 3],
    is_small: bool,
    by_columns: bool,
    size: i64,
}

impl Boxes {
    fn new(f: &Fields<'_>) -> Option<Boxes> {
        let so = if f.inst.call.group("src_layout")?.len() > 1 { f.in_group("src_layout", 1)? } else { 0 };
        Some(Boxes {
            rows: f.in_group("shape", 0)?,
            columns: f.in_group("shape", 1)?,
            row_stride: f.in_group("src_layout", 0)?,
            group_stride: so,
            groups: f.in_group("dst_group", 0)?,
            steps: [f.in_group("dst_group", 1)?, f.in_group("dst_group", 2)?, f.in_group("dst_group", 3)?],
            is_small: f.in_group("ctrl", 1)? != 0,
            by_columns: f.inst.call.word(0) == Some("dn2nz"),
            size: f.size(0),
        })
    }

    /// Elements of a piece.
    fn c0(&self) -> i64 {
        ROW / self.size
    }

    /// The number of columns of boxes.
    fn box_columns(&self) -> i64 {
        pieces(self.columns, self.c0())
    }

    /// Bytes that a small group writes.
    fn small_bytes(&self) -> i64 {
        up(4 * self.rows * self.size, ROW)
    }

    /// The pieces of a group, from its start on.
    fn pieces(&self) -> Vec<i64> {
        if self.is_small {
            return (0..self.small_bytes() / ROW).collect();
        }
        let [row, column, _] = self.steps;
        (0..self.box_columns()).flat_map(|j| (0..self.rows).map(move |i| j * column + i * row)).collect()
    }

    /// Source runs of a group: start and bytes.
    fn source(&self) -> (i64, i64) {
        if self.by_columns { (self.columns, self.rows * self.size) } else { (self.rows, self.columns * self.size) }
    }
}

pub(super) fn check_boxes(f: &Fields<'_>) -> Result<(), Refusal> {
    f.base(1, ROW)?;
    f.range("n", f.in_group("shape", 0), 1, FIELD)?;
    f.range("d", f.in_group("shape", 1), 1, LONG)?;
    for n in 0..f.inst.call.group("src_layout").map_or(0, |group| group.len()) {
        f.range("a source stride", f.in_group("src_layout", n), 0, GLOBAL)?;
    }
    f.range("groups", f.in_group("dst_group", 0), 1, FIELD)?;
    for n in 1..4 {
        f.range(&format!("l{}", n + 1), f.in_group("dst_group", n), 0, FIELD)?;
    }
    if let (Some(small), Some(d)) = (f.in_group("ctrl", 1), f.in_group("shape", 1))
        && small != 0
        && d > 4
    {
        return Err(broken(
            f.inst,
            "small",
            format!("rows have {d} elements, and small ones at most 4"),
            "leave small 0",
        ));
    }
    let Some(b) = Boxes::new(f) else { return Ok(()) };
    let [row, column, group] = b.steps;
    if !b.is_small {
        let (n, columns) = (b.rows, b.box_columns());
        let is_met = row == 0 && n > 1 || column == 0 && columns > 1 || {
            let common = gcd(row, column).max(1);
            row > 0 && column > 0 && column / common < n && row / common < columns
        };
        if is_met {
            let what = format!("rows are {row} and columns of boxes {column} pieces apart, and two of them meet");
            return Err(broken(f.inst, "overlap", what, "use l2 = 1 and l3 of at least n"));
        }
    }
    let last =
        if b.is_small { b.small_bytes() } else { ROW * ((b.box_columns() - 1) * column + (b.rows - 1) * row + 1) };
    f.bounds(1, f.at(1), Some(ROW * (b.groups - 1) * group + last))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Groups that write a common byte: the later one in order stays.
pub(super) fn overlapping_groups(f: &Fields<'_>) -> Option<Diagnostic> {
    const MOST: i64 = 1 << 18;
    let b = Boxes::new(f).filter(|b| b.groups > 1 && b.rows.saturating_mul(b.box_columns()) * b.groups <= MOST)?;
    let own = b.pieces();
    let mut all: Vec<i64> = (0..b.groups).flat_map(|g| own.iter().map(move |piece| piece + g * b.steps[2])).collect();
    all.sort_unstable();
    let piece = all.windows(2).find(|pair| pair[0] == pair[1])?[0];
    let rule = f.inst.call.row.rule(f.inst.call.name, "overlap");
    let what = format!("{}: two groups write byte {} from the destination on", f.inst.call.name, ROW * piece);
    Some(Diagnostic::warning(rule, what).help("the later one stays"))
}

pub(super) fn boxes(f: &Fields<'_>, issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<(), Refusal> {
    let Some(b) = Boxes::new(f) else { return Ok(()) };
    let ((from, src), (to, dst)) = (issue.ptr("src"), issue.ptr("dst"));
    let (runs, len) = b.source();
    let size = b.size as usize;
    for g in 0..b.groups {
        let mut source = Vec::new();
        for n in 0..runs {
            let at = src.wrapping_add(g * b.group_stride).wrapping_add(n * b.row_stride);
            core.memory.global(from, at, len as u64, false)?;
            source.push(Read::of(core, from, at, len as usize));
        }
        let place = |piece: &mut Read, at: usize, i: i64, j: i64| {
            let (run, n) = if b.by_columns { (j, i) } else { (i, j) };
            for k in 0..size {
                let bits = source.get(run as usize).and_then(|run| run.bits(n as usize * size + k, 1));
                piece.set(at + k, bits, 1);
            }
        };
        let start = dst + ROW * g * b.steps[2];
        if b.is_small {
            let mut packed = Read::zeros(b.small_bytes() as usize);
            for i in 0..b.rows {
                (0..b.columns).for_each(|j| place(&mut packed, size * (4 * i + j) as usize, i, j));
            }
            packed.write(core, to, start);
            continue;
        }
        for column in 0..b.box_columns() {
            for i in 0..b.rows {
                let mut piece = Read::zeros(ROW as usize);
                let elements = b.c0().min(b.columns - column * b.c0());
                (0..elements).for_each(|j| place(&mut piece, size * j as usize, i, column * b.c0() + j));
                piece.write(core, to, start + ROW * (column * b.steps[1] + i * b.steps[0]));
            }
        }
    }
    Ok(())
}

pub(super) fn touched_by_boxes(f: &Fields<'_>, most: usize) -> Option<Vec<Touch>> {
    let b = Boxes::new(f)?;
    let (runs, len) = b.source();
    if b.groups.checked_mul(runs.checked_add(b.rows.checked_mul(b.box_columns())?)?)? > most as i64 {
        return None;
    }
    let own = b.pieces();
    let mut out = Vec::new();
    for g in 0..b.groups {
        out.extend((0..runs).map(|n| f.touch(0, g * b.group_stride + n * b.row_stride, len, false)));
        out.extend(own.iter().map(|piece| f.touch(1, ROW * (piece + g * b.steps[2]), ROW, true)));
    }
    Some(out)
}

pub(super) fn check_fill(f: &Fields<'_>) -> Result<(), Refusal> {
    let start = f.at(0).zip(f.int("offset")).map(|(at, offset)| at.wrapping_add(offset));
    f.aligned(0, start, ROW)?;
    for name in ["n", "blocks", "gap"] {
        f.range(name, f.int(name), 0, 32767)?;
    }
    let (Some(n), Some(blocks), Some(gap)) = (f.int("n"), f.int("blocks"), f.int("gap")) else { return Ok(()) };
    let len = if n * blocks == 0 { 0 } else { ROW * ((n - 1) * (blocks + gap) + blocks) };
    f.bounds(0, start, Some(len))
}

pub(super) fn fill(f: &Fields<'_>, issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<(), Refusal> {
    let (place, at) = issue.ptr("dst");
    let (n, blocks, gap) = (issue.int("n"), issue.int("blocks"), issue.int("gap"));
    let width = if matches!(f.inst.call.attr("fill_word_bits"), Some(Attr::Int(32, _))) { 4 } else { 2 };
    let word = (issue.int("value") as u32).to_le_bytes();
    let bytes: Vec<u8> = word.iter().copied().take(width).cycle().take((ROW * blocks) as usize).collect();
    for r in 0..n {
        core.memory.put_all(place, (at + issue.int("offset") + ROW * r * (blocks + gap)) as u64, &bytes);
    }
    Ok(())
}

pub(super) fn touched_by_fill(f: &Fields<'_>, most: usize) -> Option<Vec<Touch>> {
    let (n, blocks, gap, offset) = (f.int("n")?, f.int("blocks")?, f.int("gap")?, f.int("offset")?);
    let rows = (n as usize <= most).then_some(0..n)?;
    Some(rows.map(|r| f.touch(0, offset + ROW * r * (blocks + gap), ROW * blocks, true)).collect())
}

/// Rows of a copy to the bias table or the parameters: source and destination bytes of a unit, and the numbers.
struct Rows {
    units: [i64; 2],
    len: i64,
    count: i64,
    gaps: [i64; 2],
}

impl Rows {
    fn new(f: &Fields<'_>, cube: Cube) -> Option<Rows> {
        let units = match cube {
            Cube::Parameters => [64, 64],
            _ => [ROW, ROW * 4 / f.size(0).max(1)],
        };
        let gaps = [f.in_group("nburst", 1)?, f.in_group("nburst", 2)?];
        Some(Rows { units, len: f.int("len")?, count: f.in_group("nburst", 0)?, gaps })
    }

    /// The start of row r on a side.
    fn start(&self, side: usize, r: i64) -> i64 {
        self.units[side] * r * (self.len + self.gaps[side])
    }

    /// The bytes of a row on a side.
    fn bytes(&self, side: usize) -> i64 {
        self.units[side] * self.len
    }
}

pub(super) fn check_rows(f: &Fields<'_>, cube: Cube) -> Result<(), Refusal> {
    f.base(0, ROW)?;
    f.base(1, 64)?;
    f.range("len", f.int("len"), 0, FIELD)?;
    for (n, name) in ["n", "the source gap", "the destination gap"].into_iter().enumerate() {
        f.range(name, f.in_group("nburst", n), 0, FIELD)?;
    }
    let Some(rows) = Rows::new(f, cube).filter(|rows| rows.len > 0 && rows.count > 0) else { return Ok(()) };
    for side in 0..2 {
        let len = rows.start(side, rows.count - 1) + rows.bytes(side);
        if side == 1 && cube == Cube::Parameters {
            parameters_in_bounds(f, 1, f.at(1), len)?;
        } else {
            f.bounds(side, f.at(side), Some(len))?;
        }
    }
    Ok(())
}

/// Bytes of the FIXPIPE buffer, whose two parts are 4 Ki each (cube.md 1).
pub(super) fn parameters_in_bounds(f: &Fields<'_>, n: usize, at: Option<i64>, len: i64) -> Result<(), Refusal> {
    const PART: i64 = 4 << 10;
    const SLOPES: i64 = 0x10000;
    let Some(at) = at else { return Ok(()) };
    let end = at.saturating_add(len);
    if (0..=PART).contains(&at) && end <= PART || at >= SLOPES && end <= SLOPES + PART {
        return Ok(());
    }
    let what = format!(
        "{} touches fb bytes {at:#x} to {:#x}, and fb has bytes 0 to 0xfff and 0x10000 to 0x10fff",
        f.inst.call.name,
        end - 1
    );
    let help = format!("stay inside one part (operand {n})");
    Err(Box::new(Diagnostic::error(Space::Fb.bounds_rule(), what).help(help)))
}

pub(super) fn rows(f: &Fields<'_>, cube: Cube, issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<(), Refusal> {
    let Some(rows) = Rows::new(f, cube) else { return Ok(()) };
    let ((from, src), (to, dst)) = (issue.ptr("src"), issue.ptr("dst"));
    let (elem, size) = (f.elem(0), f.size(0) as usize);
    for r in (0..rows.count).filter(|_| rows.len > 0) {
        let (at, put) = (src + rows.start(0, r), dst + rows.start(1, r));
        if rows.units[0] == rows.units[1] {
            core.memory.copy((from, at as u64), (to, put as u64), rows.bytes(0) as u64)?;
            continue;
        }
        let source = Read::of(core, from, at, rows.bytes(0) as usize);
        let mut wide = Read::zeros(rows.bytes(1) as usize);
        for n in 0..source.bytes.len() / size {
            let widened =
                source.bits(n * size, size).map(|bits| Elem::F32.encode(elem.decode(bits), Overflow::Infinity));
            wide.set(4 * n, widened, 4);
        }
        wide.write(core, to, put);
    }
    Ok(())
}

pub(super) fn touched_by_rows(f: &Fields<'_>, cube: Cube, most: usize) -> Option<Vec<Touch>> {
    let rows = Rows::new(f, cube)?;
    let count = (rows.count as usize <= most && rows.len > 0).then_some(0..rows.count)?;
    let of = |r: i64| [0, 1].map(|side| f.touch(side, rows.start(side, r), rows.bytes(side), side == 1));
    Some(count.flat_map(of).collect())
}

/// Boxes that move, in the full form.
#[derive(Clone, Copy, Debug)]
struct Load {
    start: [i64; 2],
    steps: [i64; 2],
    strides: [i64; 2],
    is_transposed: bool,
    elem: Elem,
}

impl Load {
    fn new(f: &Fields<'_>) -> Result<Option<Load>, Refusal> {
        let (elem, is_transposed) = (f.elem(0), f.is_on("transpose"));
        let extents = if f.is_right() { ["k", "n"] } else { ["m", "k"] };
        let full = ["m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride"];
        let numbers = f.numbers([extents[0], extents[1], "start_row", "start_col"], full)?;
        let Some([m_start, k_start, m_step, k_step, src, dst]) = filled(numbers, |[first, second]| {
            let (rows, k) = if f.is_right() { (second, first) } else { (first, second) };
            let c0 = c0(elem);
            if is_transposed {
                let q = c0.max(16);
                [up(k, q) / 16, up(rows, q) / c0, up(k, q) / 16, up(rows, q) / 16]
            } else {
                let boxes = pieces(rows, 16);
                [boxes, pieces(k, c0), boxes, boxes]
            }
        }) else {
            return Ok(None);
        };
        Ok(Some(Load { start: [m_start, k_start], steps: [m_step, k_step], strides: [src, dst], is_transposed, elem }))
    }

    /// Rows and columns of the source.
    fn extent(&self) -> [i64; 2] {
        [16 * self.steps[0], c0(self.elem) * self.steps[1]]
    }

    /// The source's first byte of a box.
    fn source(&self, row: i64, column: i64) -> i64 {
        BOX * ((self.start[1] + column) * self.strides[0] + self.start[0] + row)
    }

    /// The number of boxes of a column of the destination, and the number of columns.
    fn boxes(&self) -> [i64; 2] {
        let [rows, columns] = self.extent();
        if self.is_transposed { [columns / 16, rows / c0(self.elem)] } else { self.steps }
    }
}

/// All six numbers, those of the short form computed from its extents.
fn filled(numbers: Numbers, steps: impl Fn([i64; 2]) -> [i64; 4]) -> Option<[i64; 6]> {
    Some(match numbers {
        Numbers::Full(all) => [all[0]?, all[1]?, all[2]?, all[3]?, all[4]?, all[5]?],
        Numbers::Short { extents, start } => {
            let [a, b, c, d] = steps([extents[0]?.clamp(0, 1 << 30), extents[1]?.clamp(0, 1 << 30)]);
            [start[0]?, start[1]?, a, b, c, d]
        }
    })
}

/// The fields of a load: starts, steps, strides.
fn fields_of_load(f: &Fields<'_>, names: [&str; 6], values: [i64; 6]) -> Result<(), Refusal> {
    for (n, (name, value)) in names.into_iter().zip(values).enumerate() {
        let (least, most) = match n {
            0 | 1 => (0, FIELD),
            2 | 3 => (1, 255),
            _ => (1, FIELD),
        };
        f.range(name, Some(value), least, most)?;
    }
    Ok(())
}

pub(super) fn check_load(f: &Fields<'_>) -> Result<(), Refusal> {
    f.base(0, ROW)?;
    f.base(1, BOX)?;
    let Some(load) = Load::new(f)? else { return Ok(()) };
    let ([m, k], [ms, ks], [src, dst]) = (load.start, load.steps, load.strides);
    fields_of_load(
        f,
        ["m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride"],
        [m, k, ms, ks, src, dst],
    )?;
    if load.elem.is_fp4() && k != 0 {
        f.range("k_start of fp4", Some(k), 0, 0)?;
    }
    let unit = c0(load.elem).max(16);
    if let Some(odd) = load.extent().into_iter().find(|extent| load.is_transposed && extent % unit != 0) {
        let what = format!("{odd} rows or columns are transposed, and {} takes multiples of {unit}", load.elem);
        return Err(broken(f.inst, "range", what, "take whole pairs of boxes"));
    }
    f.bounds(0, f.at(0), Some(load.source(ms - 1, ks - 1) + BOX))?;
    let [rows, columns] = load.boxes();
    f.bounds(1, f.at(1), Some(BOX * ((columns - 1) * dst + rows)))
}

pub(super) fn load(f: &Fields<'_>, issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<(), Refusal> {
    let Some(load) = Load::new(f)? else { return Ok(()) };
    let ((from, src), (to, dst)) = (issue.ptr("src"), issue.ptr("dst"));
    let [rows, columns] = load.steps;
    if !load.is_transposed {
        for column in 0..columns {
            let (at, put) = (src + load.source(0, column), dst + BOX * column * load.strides[1]);
            core.memory.copy((from, at as u64), (to, put as u64), (BOX * rows) as u64)?;
        }
        return Ok(());
    }
    let mut source = Vec::new();
    for column in 0..columns {
        source.push(Read::of(core, from, src + load.source(0, column), (BOX * rows) as usize));
    }
    let (elem, c0) = (load.elem, c0(load.elem));
    // Row r of the source becomes column r.
    let [boxes, box_columns] = load.boxes();
    for column in 0..box_columns {
        let mut made = Read::zeros((BOX * boxes) as usize);
        for c in 0..16 * boxes {
            let Some(taken) = source.get((c / c0) as usize) else { continue };
            for n in 0..c0 {
                let r = column * c0 + n;
                let (at, put) = (row_of_box(r, 0, 1), row_of_box(c, 0, 1));
                let at = at + c % c0 * i64::from(elem.bits()) / 8;
                if elem.is_fp4() {
                    let bits = taken.bits(at as usize, 1).map(|byte| byte >> (4 * (c % 2)) & 15);
                    let to = (put + n / 2) as usize;
                    let old = if n % 2 == 0 { Some(0) } else { made.bits(to, 1) };
                    made.set(to, bits.zip(old).map(|(bits, old)| old | bits << (4 * (n % 2))), 1);
                } else {
                    let size = elem.bits() as usize / 8;
                    for k in 0..size {
                        made.set((put + n * size as i64) as usize + k, taken.bits(at as usize + k, 1), 1);
                    }
                }
            }
        }
        made.write(core, to, dst + BOX * column * load.strides[1]);
    }
    Ok(())
}

pub(super) fn touched_by_load(f: &Fields<'_>) -> Option<Vec<Touch>> {
    let load = Load::new(f).ok()??;
    let [rows, columns] = load.steps;
    let reads = (0..columns).map(|column| f.touch(0, load.source(0, column), BOX * rows, false));
    let [boxes, box_columns] = load.boxes();
    let writes = (0..box_columns).map(|column| f.touch(1, BOX * column * load.strides[1], BOX * boxes, true));
    Some(reads.chain(writes).collect())
}

/// The numbers of a load of scales.
fn scales(f: &Fields<'_>) -> Result<Option<[i64; 6]>, Refusal> {
    let extents = if f.is_right() { ["k", "n"] } else { ["m", "k"] };
    let full = ["x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride"];
    let numbers = f.numbers([extents[0], extents[1], "start_row", "start_col"], full)?;
    Ok(filled(numbers, |[first, second]| {
        let (rows, k) = if f.is_right() { (second, first) } else { (first, second) };
        let blocks = pieces(k, 64);
        [pieces(rows, 16), blocks, blocks, blocks]
    }))
}

pub(super) fn check_scales(f: &Fields<'_>) -> Result<(), Refusal> {
    f.base(0, ROW)?;
    f.base(1, BOX)?;
    let Some(numbers @ [x, y, xs, ys, src, dst]) = scales(f)? else { return Ok(()) };
    fields_of_load(f, ["x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride"], numbers)?;
    f.bounds(0, f.at(0), Some(ROW * ((x + xs - 1) * src + y + ys)))?;
    let Some(at) = f.at(1) else { return Ok(()) };
    check::bounds(f.inst, scale_space(f), at / 16, (ROW * ((xs - 1) * dst + ys)) as u64)
}

/// The memory of the scales of the destination's operand.
fn scale_space(f: &Fields<'_>) -> Space {
    if f.is_right() { Space::ScalesB } else { Space::ScalesA }
}

pub(super) fn load_scales(f: &Fields<'_>, issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<(), Refusal> {
    let Some([x, y, xs, ys, src, dst]) = scales(f)? else { return Ok(()) };
    let ((from, at), (_, operand)) = (issue.ptr("src"), issue.ptr("dst"));
    let to = Place { space: scale_space(f), unit: 0 };
    for n in 0..xs {
        let (from_at, put) = (at + ROW * ((x + n) * src + y), operand / 16 + ROW * n * dst);
        core.memory.copy((from, from_at as u64), (to, put as u64), (ROW * ys) as u64)?;
    }
    Ok(())
}

pub(super) fn touched_by_scales(f: &Fields<'_>) -> Option<Vec<Touch>> {
    let [x, y, xs, ys, src, dst] = scales(f).ok()??;
    let reads = (0..xs).map(|n| f.touch(0, ROW * ((x + n) * src + y), ROW * ys, false));
    let write = |n: i64| Touch { whose: Whose::Scales, ..f.touch(1, ROW * n * dst, ROW * ys, true) };
    Some(reads.chain((0..xs).map(write)).collect())
}
