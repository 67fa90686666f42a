//! The bytes that an instruction reads and writes (sync.md 4), derived from the steps of its row.

use smallvec::SmallVec;
use std::sync::Arc;
use tessera_isa::codec::Number;
use tessera_isa::inst::{GlobalArg, Inst, TileArg};
use tessera_isa::layout::Layout;
use tessera_isa::ops::{Kind, Role};
use tessera_isa::sem::{Img2col, Map, Rect, SCALE_BLOCK, Side, Step, Touch, effects, steps};

/// More elements than this are not looked at one by one: the range from the first to the last is meant.
const MAX_ELEMENTS: u64 = 1 << 22;

/// The range of an access that may lead anywhere.
const ANYWHERE: (i64, i64) = (0, i64::MAX / 16);

/// Ranges of bytes, counted from where an operand starts, sorted and apart.
pub type Ranges = Arc<[(i64, i64)]>;

/// The effect of an instruction on one operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandFootprint {
    /// The position of the tile; none for the view of global memory.
    pub tile: Option<usize>,
    /// The vector core whose memory is meant.
    pub core: u8,
    pub ranges: Ranges,
    pub writes: bool,
    /// Whether these are the exact bytes, not an upper bound.
    pub exact: bool,
    /// Whether they are those of all rows and columns, of which a run decides how many are valid.
    pub if_valid: bool,
}

/// The bytes of an instruction by operand: first what is read, then what is written.
pub fn parts(inst: &Inst) -> Vec<OperandFootprint> {
    let known = with_scalars(inst);
    match steps(&known) {
        Some(steps) => {
            let mut all = Parts::default();
            steps.iter().for_each(|step| all.step(&known, step));
            all.done()
        }
        None => most(known).unwrap_or_else(|| declared(inst)),
    }
}

/// The accesses of an instruction whose valid extents a run decides: those of all rows and columns, in tiles. Global
/// memory is bounded only.
fn most(mut inst: Inst) -> Option<Vec<OperandFootprint>> {
    inst.tiles.iter_mut().for_each(|arg| arg.valid = arg.most_valid().map(Some));
    let moved = inst.dst().or(inst.tile(Role::Src)).map(TileArg::most_valid);
    if let (Some(view), Some(extents)) = (&mut inst.global, moved) {
        fit(view, extents);
    }
    let steps = steps(&inst)?;
    let mut all = Parts::default();
    steps.iter().for_each(|step| all.step(&inst, step));
    let tiles = all.done().into_iter().filter(|part| part.tile.is_some());
    let tiles = tiles.map(|part| OperandFootprint { exact: false, if_valid: true, ..part });
    Some(tiles.chain(declared(&inst).into_iter().filter(|part| part.tile.is_none())).collect())
}

/// Gives the unknown extents of a view those that a region needs.
fn fit(view: &mut GlobalArg, extents: [u64; 2]) {
    let axes: SmallVec<[(bool, usize); 4]> = view.axes().collect();
    for (axis, wanted) in [(true, extents[0]), (false, extents[1])] {
        let dims = || axes.iter().filter(|(is_row, _)| *is_row == axis).map(|(_, dim)| *dim);
        let known = dims().filter_map(|dim| view.dims[dim]).fold(1u64, u64::saturating_mul);
        let mut left = wanted.div_ceil(known.max(1));
        for dim in dims() {
            let extent = &mut view.dims[dim];
            if extent.is_none() {
                (*extent, left) = (Some(left), 1);
            }
        }
    }
}

/// Numbers that decide no place are of no interest.
fn with_scalars(inst: &Inst) -> Inst {
    let mut known = inst.clone();
    for scalar in known.scalars.iter_mut().filter(|s| s.value.is_none() && s.role.kind() != Kind::Index) {
        scalar.value = Some(Number::Int(1));
    }
    known
}

/// The bounds of the accesses of an instruction whose extents or indices are unknown.
fn declared(inst: &Inst) -> Vec<OperandFootprint> {
    let all = |touch: &Touch| {
        let tile = inst.tiles.iter().position(|t| t.role == touch.role)?;
        let arg = inst.tiles.get(tile)?;
        let ranges: Ranges = [(0, bytes(&arg.layout, arg).1)].into();
        Some((tile, ranges, touch.reads(), touch.writes()))
    };
    let touched: Vec<_> = effects(inst).tiles.iter().filter_map(all).collect();
    let part = |(tile, ranges, ..): &(usize, Ranges, bool, bool), writes: bool| OperandFootprint {
        tile: Some(*tile),
        core: 0,
        ranges: ranges.clone(),
        writes,
        exact: false,
        if_valid: false,
    };
    let reads = touched.iter().filter(|t| t.2).map(|t| part(t, false));
    let writes = touched.iter().filter(|t| t.3).map(|t| part(t, true));
    let view = inst.global.as_ref().map(|_| OperandFootprint {
        tile: None,
        core: 0,
        ranges: [ANYWHERE].into(),
        writes: inst.dst().is_none(),
        exact: false,
        if_valid: false,
    });
    reads.chain(writes).chain(view).collect()
}

fn bytes(layout: &Layout, arg: &TileArg) -> (i64, i64) {
    (0, arg.tile.elem.bytes_of(layout.footprint()) as i64)
}

/// The bytes of a rectangle of a layout with elements of this many bits.
pub fn rect_ranges(layout: &Layout, bits: u64, rect: Rect) -> Vec<(i64, i64)> {
    let mut out = Vec::new();
    image(layout, bits, &Map::at(rect.row, rect.col), [rect.rows, rect.cols], &mut out);
    out
}

/// The bytes that a map reaches from a domain.
fn image<const N: usize>(layout: &Layout, bits: u64, map: &Map<N>, extent: [u64; N], out: &mut Vec<(i64, i64)>) {
    if extent.contains(&0) {
        return;
    }
    let byte = |offset: i64, end: i64| {
        let bits = bits as i64;
        (offset.saturating_mul(bits).div_euclid(8), end.saturating_mul(bits).saturating_add(7).div_euclid(8))
    };
    // Along indices that move neither row nor column nothing new is reached.
    let live: SmallVec<[usize; 3]> = (0..N).filter(|k| map.step[0][*k] != 0 || map.step[1][*k] != 0).collect();
    let count = live.iter().fold(1u64, |n, k| n.saturating_mul(extent[*k]));
    let plain_row = |k: usize| map.step[0][k] == 0 && map.step[1][k] == 1 && linear(layout, false);
    let plain_col = |k: usize| map.step[0][k] == 1 && map.step[1][k] == 0 && linear(layout, true);
    let run = live.iter().copied().find(|k| plain_row(*k) || plain_col(*k));
    let outer: SmallVec<[usize; 3]> = live.iter().copied().filter(|k| Some(*k) != run).collect();
    let length = run.map_or(1, |k| extent[k]);
    if count / length.max(1) > MAX_ELEMENTS {
        let (last, _) = (extent.map(|n| n - 1), ());
        let (r, c) = map.of(last);
        let ends = layout.reach([map.origin[0], map.origin[1]], [r - map.origin[0] + 1, c - map.origin[1] + 1]);
        let clamp = |v: i128| v.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        out.extend(ends.map(|(low, high)| byte(clamp(low), clamp(high).saturating_add(1))));
        return;
    }
    let mut index = [0u64; N];
    loop {
        let (r, c) = map.of(index);
        let at = layout.offset(r, c);
        push(out, byte(at, at.saturating_add(length as i64)));
        let mut k = outer.len();
        loop {
            let Some(next) = k.checked_sub(1) else { return };
            k = next;
            let axis = outer[k];
            index[axis] += 1;
            if index[axis] < extent[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Whether neighbours along an axis are contiguous over its whole length.
fn linear(layout: &Layout, rows: bool) -> bool {
    let axis = if rows { &layout.row } else { &layout.col };
    matches!(axis.digits.as_slice(), [digit] if digit.stride == 1)
}

/// Adds a range; neighbours become one.
fn push(out: &mut Vec<(i64, i64)>, range: (i64, i64)) {
    match out.last_mut() {
        Some(last) if last.1 == range.0 => last.1 = range.1,
        _ => out.push(range),
    }
}

/// The collected accesses of one operand: the tile, the core, whether it is written, the bytes.
type Collected = (Option<usize>, u8, bool, Vec<(i64, i64)>);

#[derive(Default)]
struct Parts(Vec<Collected>);

impl Parts {
    fn ranges(&mut self, tile: Option<usize>, core: u8, writes: bool) -> &mut Vec<(i64, i64)> {
        let at = self.0.iter().position(|p| (p.0, p.1, p.2) == (tile, core, writes)).unwrap_or_else(|| {
            self.0.push((tile, core, writes, Vec::new()));
            self.0.len() - 1
        });
        &mut self.0[at].3
    }

    fn elements<const N: usize>(
        &mut self,
        inst: &Inst,
        (side, core): (Side, u8),
        map: &Map<N>,
        extent: [u64; N],
        writes: bool,
    ) {
        match side {
            Side::Tile(n) => {
                if let Some(arg) = inst.tiles.get(n) {
                    let out = self.ranges(Some(n), core, writes);
                    image(&arg.layout, arg.tile.elem.bits().into(), map, extent, out);
                }
            }
            // Bytes of the tile's rows, whatever its type.
            Side::Bytes(n) => {
                if let Some(arg) = inst.tiles.get(n) {
                    let pitch = arg.tile.elem.bytes_of(arg.layout.offset(1, 0).unsigned_abs());
                    let bytes = Layout::row_major(arg.tile.rows, pitch, pitch);
                    image(&bytes, 8, map, extent, self.ranges(Some(n), core, writes));
                }
            }
            Side::Global => {
                if let Some((view, layout)) = inst.global.as_ref().and_then(|v| Some((v, v.layout()?))) {
                    let out = self.ranges(None, core, writes);
                    image(&layout, view.elem.bits().into(), map, extent, out);
                }
            }
        }
    }

    fn rect(&mut self, inst: &Inst, tile: usize, rect: Rect, writes: bool) {
        self.elements(inst, (Side::Tile(tile), 0), &Map::at(rect.row, rect.col), [rect.rows, rect.cols], writes);
    }

    fn whole(&mut self, inst: &Inst, tile: usize, writes: bool) {
        if let Some(arg) = inst.tiles.get(tile) {
            let rect = Rect { row: 0, col: 0, rows: arg.tile.rows, cols: arg.tile.cols };
            self.rect(inst, tile, rect, writes);
        }
    }

    /// All of the view: an index may lead anywhere in it. Where its extents are unknown, all of the memory.
    fn view(&mut self, inst: &Inst, writes: bool) {
        match inst.global.as_ref().map(|view| view.shape()) {
            Some([Some(rows), Some(cols)]) => {
                self.elements(inst, (Side::Global, 0), &Map::SAME, [rows, cols], writes);
            }
            Some(_) => self.ranges(None, 0, writes).push(ANYWHERE),
            None => {}
        }
    }

    fn step(&mut self, inst: &Inst, step: &Step) {
        match step {
            Step::Clobber { dst, core, rect } => {
                let map = Map::at(rect.row, rect.col);
                self.elements(inst, (Side::Tile(*dst), *core), &map, [rect.rows, rect.cols], true);
            }
            Step::Scratch { tile } => self.whole(inst, *tile, true),
            Step::Apply(apply) => {
                for (side, map) in apply.elements() {
                    self.elements(inst, (side, 0), &map, apply.extent, false);
                }
                self.elements(inst, (apply.dst.0, apply.core), &apply.dst.1, apply.extent, true);
            }
            Step::Reduce(reduce) => {
                let [rows, cols, depth] = reduce.extent;
                let once = [rows, cols, 1];
                for (tile, map) in &reduce.args {
                    self.elements(inst, (Side::Tile(*tile), 0), map, reduce.extent, false);
                }
                for (tile, map) in reduce.scales.iter().flatten() {
                    let extent = [rows, cols, depth.div_ceil(SCALE_BLOCK)];
                    self.elements(inst, (Side::Tile(*tile), 0), map, extent, false);
                }
                if let Some((tile, map)) = &reduce.start {
                    self.elements(inst, (Side::Tile(*tile), 0), map, once, false);
                }
                self.elements(inst, (Side::Tile(reduce.dst.0), 0), &reduce.dst.1, once, true);
            }
            Step::Pack { extent: [rows, cols], args, dst, row_bytes, .. } => {
                for tile in args.iter().filter_map(|arg| arg.tile()) {
                    self.rect(inst, tile, Rect { row: 0, col: 0, rows: *rows, cols: *cols }, false);
                }
                let (bytes, row) = (rows * cols.div_ceil(8), (*row_bytes).max(1));
                let full = [bytes / row, row];
                self.elements(inst, (Side::Bytes(*dst), 0), &Map::SAME, full, true);
                self.elements(inst, (Side::Bytes(*dst), 0), &Map::at(bytes / row, 0), [1, bytes % row], true);
            }
            Step::Gather { src, idx, dst, extent: [rows, cols] } => {
                let rect = Rect { row: 0, col: 0, rows: *rows, cols: *cols };
                self.whole(inst, *src, false);
                self.rect(inst, *idx, rect, false);
                self.rect(inst, *dst, rect, true);
            }
            Step::Routed(routed) => {
                routed.reads.iter().for_each(|(tile, rect)| self.rect(inst, *tile, *rect, false));
                routed.writes.iter().for_each(|(tile, rect)| self.rect(inst, *tile, *rect, true));
            }
            Step::Table(table) => {
                let rect = |[rows, cols]: [u64; 2]| Rect { row: 0, col: 0, rows, cols };
                self.rect(inst, table.idx, rect(table.indices), false);
                self.rect(inst, table.data, rect(table.extent), !table.scatters);
                self.view(inst, table.scatters);
            }
            Step::Join => {
                for (n, touch) in effects(inst).tiles.iter().enumerate() {
                    let Some([rows, cols]) = inst.tiles.get(n).map(TileArg::most_valid) else { continue };
                    let rect = Rect { row: 0, col: 0, rows, cols };
                    if touch.reads() {
                        self.rect(inst, n, rect, false);
                    }
                    if touch.writes() {
                        self.rect(inst, n, rect, true);
                    }
                }
            }
            Step::Fill { dst, rect, .. } => self.rect(inst, *dst, *rect, true),
            Step::Bytes { src, dst, len } => {
                let len = i64::try_from(*len).unwrap_or(i64::MAX);
                self.ranges(Some(*src), 0, false).push((0, len));
                self.ranges(Some(*dst), 0, true).push((0, len));
            }
            Step::LoadConv { dst, elements } => {
                let bytes = inst.conv.map_or(*elements, |c| c.bytes()) as i64;
                self.ranges(None, 0, false).push((0, bytes));
                self.ranges(Some(*dst), 0, true).push((0, bytes));
            }
            Step::Img2col { src, dst, conv } => {
                self.ranges(Some(*src), 0, false).extend(patches(conv));
                self.rect(inst, *dst, Rect { row: 0, col: 0, rows: conv.rows, cols: conv.cols }, true);
            }
        }
    }

    fn done(self) -> Vec<OperandFootprint> {
        let mut all = self.0;
        all.sort_by_key(|p| p.2);
        let part = |(tile, core, writes, mut ranges): Collected| {
            ranges.retain(|r| r.0 < r.1);
            let ranges = joined(ranges);
            (!ranges.is_empty()).then(|| OperandFootprint {
                tile,
                core,
                ranges: ranges.into(),
                writes,
                exact: true,
                if_valid: false,
            })
        };
        all.into_iter().filter_map(part).collect()
    }
}

/// The bytes of the image that TIMG2COL reads (ops.md 7): for each patch, the kernel positions inside the image.
fn patches(conv: &Img2col) -> Vec<(i64, i64)> {
    let all = (0, conv.image.bytes() as i64);
    if conv.rows.saturating_mul(conv.cols) > MAX_ELEMENTS || all.1 > i64::from(u32::MAX) {
        return vec![all];
    }
    let (lanes, bytes) = (conv.image.dims[5].max(1), i64::from(conv.image.elem.bits() / 8));
    let mut ranges = Vec::new();
    for row in 0..conv.rows {
        let mut col = 0;
        while col < conv.cols {
            let lane = conv.pos_k.saturating_add(col) % lanes;
            let count = (lanes - lane).min(conv.cols - col);
            ranges.extend(conv.element(row, col).map(|at| (at as i64 * bytes, (at + count) as i64 * bytes)));
            col += count;
        }
    }
    ranges
}

/// Sorted and apart.
fn joined(mut ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ranges.sort_unstable();
    let mut out: Vec<(i64, i64)> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.1 >= range.0 => last.1 = last.1.max(range.1),
            _ => out.push(range),
        }
    }
    out
}
