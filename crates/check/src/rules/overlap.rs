//! `overlap`: operands that share bytes, unless the result is the same as with disjoint ones (ops.md 1 rule 4).
//!
//! Derived from the index maps: byte ranges are compared first, and only where two of them meet are elements
//! enumerated. An element may be written where it is read (TMOV onto itself); nothing may be written where another
//! element is read, where another destination is written, or into scratch, parameters and indices. Conversions and
//! comparisons read an element before they write it and all that follow: they may also write over elements that they
//! have read (isa/today.md 5.4).

use super::storage::{end_of, meets, shares};
use super::*;
use std::borrow::Cow;
use tessera_isa::inst::{Place, Root, ScalarArg};
use tessera_isa::ops::Family;
use tessera_isa::sem::{Axis, Func, Map, Rect, Reduce, Routed, SCALE_BLOCK, Side, Step, full_operand, steps};

/// More units than this are not enumerated; only cpu has such tiles, and there the answer is the careful one.
const MAX_UNITS: u64 = 1 << 24;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    if inst.tiles.len() < 2 {
        return None;
    }
    let mut found = meeting(inst, |_| true)?;
    let steps = steps(&with_scalars(inst));
    if let Some(steps) = &steps {
        // Scratch that the profile does not use, and tiles that are only named, may lie anywhere.
        found = meeting(inst, |tile| steps.iter().any(|step| step.touches(tile)))?;
    }
    if steps.is_some() {
        found = at_fault(inst).unwrap_or(found);
    }
    let (a, b) = found;
    let is_one = |role: Role| a.role == role || b.role == role;
    let is_move = inst.op.info().by_flows();
    let careful = is_move && [Role::Fp, Role::Idx0, Role::Idx1, Role::DstIdx].into_iter().any(is_one);
    // Extents that are not known yet are silent; views move nothing, and sharing storage is what they are for.
    if !careful && steps.is_none_or(|steps| harmless(inst, &steps).unwrap_or(false)) {
        return None;
    }
    let (start, end) = (a.place?.start.max(b.place?.start), end_of(a)?.min(end_of(b)?));
    let (first, second, title) = (a.role, b.role, inst.op.title());
    let what =
        format!("{first} and {second} share bytes {start:#x} to {end:#x}, and {title} would read what it writes");
    broken(inst, second, "overlap", what, "give them disjoint addresses, or leave the addresses out")
}

/// The first two operands that may not share bytes even if no others did.
fn at_fault(inst: &Inst) -> Option<(&TileArg, &TileArg)> {
    let pairs = (0..inst.tiles.len()).flat_map(|i| (i + 1..inst.tiles.len()).map(move |j| [i, j]));
    let found = pairs.into_iter().find(|pair| {
        let mut alone = inst.clone();
        let others = alone.tiles.iter_mut().enumerate().filter(|(n, _)| !pair.contains(n));
        others.for_each(|(_, tile)| tile.place = None);
        let is_pair = |n: usize| pair.contains(&n);
        meeting(&alone, is_pair).is_some()
            && steps(&with_scalars(&alone)).is_some_and(|steps| !harmless(&alone, &steps).unwrap_or(false))
    })?;
    inst.tiles.get(found[0]).zip(inst.tiles.get(found[1]))
}

/// The addresses of bytes do not depend on the scalar operand.
fn with_scalars(inst: &Inst) -> Cow<'_, Inst> {
    let is_open = |s: &ScalarArg| s.role == Role::Scalar && s.value.is_none();
    if !inst.scalars.iter().any(is_open) {
        return Cow::Borrowed(inst);
    }
    let mut known = inst.clone();
    known.scalars.iter_mut().filter(|s| is_open(s)).for_each(|s| s.value = Some(Number::Int(0)));
    Cow::Owned(known)
}

/// Whether an element of the operand may be read where the result is written. In reductions and expansions this holds
/// only for elements of the full operand (isa/reduce.md 3).
fn works_in_place(inst: &Inst, tile: usize) -> bool {
    let role = inst.tiles.get(tile).map(|t| t.role);
    inst.op.info().family != Family::Reduce || role.is_some() && full_operand(inst) == role
}

/// Two operands that count, one of them written, whose byte ranges overlap; a pair with scratch or parameters first.
fn meeting(inst: &Inst, counts: impl Fn(usize) -> bool) -> Option<(&TileArg, &TileArg)> {
    let mut found = None;
    let tiles = || inst.tiles.iter().enumerate().filter(|(n, _)| counts(*n));
    for (i, a) in tiles() {
        for (_, b) in tiles().filter(|(n, _)| *n > i) {
            let reads = |t: &TileArg| inst.op.effect(inst.form, t.role) == Effect::Read;
            let may_be_dst = |t: &TileArg, other: &TileArg| {
                let row = inst.op.form(inst.form).and_then(|form| form.operand(t.role));
                row.is_some_and(|row| row.over_dst.has(inst.profile)) && other.role.is_dst()
            };
            if reads(a) && reads(b) || may_be_dst(a, b) || may_be_dst(b, a) || !shares(a, b) {
                continue;
            }
            let plain =
                |t: &TileArg| matches!(t.role, Role::Src | Role::Src0 | Role::Src1 | Role::Src2) || t.role.is_dst();
            if !plain(a) || !plain(b) {
                return Some((a, b));
            }
            found = found.or(Some((a, b)));
        }
    }
    found
}

/// Whether the result is the same as with disjoint operands; `None` if this is undecided.
fn harmless(inst: &Inst, steps: &[Step]) -> Option<bool> {
    let info = inst.op.info();
    // Of the irregular instructions only partial operations work in place (isa/irregular.md 1).
    let apart = info.family == Family::Irregular && !matches!(info.sem, Sem::Part(_));
    let outs = inst.tiles.iter().filter(|t| t.role.is_dst()).count();
    let may_stay = !apart && outs == 1;
    if may_stay && steps.iter().all(|step| in_place(inst, step).unwrap_or(false)) && fills_keep_reads(steps) {
        return Some(true);
    }
    if let [steps @ .., Step::Reduce(fold)] = steps
        && steps.iter().all(|step| matches!(step, Step::Clobber { .. }))
        && folds_onto_first_row(inst, fold)
    {
        return Some(true);
    }
    let forward = steps.iter().all(|step| match step {
        Step::Apply(apply) => matches!(apply.func, Func::Cvt { .. }),
        Step::Pack { .. } | Step::Scratch { .. } => true,
        _ => false,
    });
    let mut touched = Touched { apart, forward, ..Touched::new(inst)? };
    for (n, step) in steps.iter().enumerate() {
        touched.read(inst, n, step)?;
    }
    let clobbers = steps.iter().all(|step| touched.clobber(inst, step, steps).unwrap_or(false));
    let writes = steps.iter().enumerate().all(|(n, step)| touched.write(inst, n, step).unwrap_or(false));
    Some(clobbers && writes)
}

/// A step that leaves every element where it is, or touches one tile only.
fn in_place(inst: &Inst, step: &Step) -> Option<bool> {
    match step {
        Step::Apply(apply) => {
            let (Side::Tile(d), to) = apply.dst else { return Some(true) };
            let d = inst.tiles.get(d)?;
            Some(apply.elements().all(|(side, from)| match side {
                Side::Global => true,
                Side::Tile(n) | Side::Bytes(n) => inst.tiles.get(n).is_some_and(|s| {
                    let alike = is_alike(s, d) && matches!(side, Side::Tile(_)) && from == to;
                    alike && works_in_place(inst, n) || meets(s, d) == Some(false)
                }),
            }))
        }
        Step::Reduce(reduce) => {
            let (d, to) = (inst.tiles.get(reduce.dst.0)?, reduce.dst.1);
            let is_apart = |n: usize| inst.tiles.get(n).is_some_and(|s| meets(s, d) == Some(false));
            let is_same = |n: usize| inst.tiles.get(n).is_some_and(|s| is_alike(s, d)) && works_in_place(inst, n);
            let factors = reduce.args.iter().chain(reduce.scales.iter().flatten());
            let mut factors = factors.map(|(n, _)| *n);
            let starts = reduce.start.is_none_or(|(n, from)| is_same(n) && from == to || is_apart(n));
            Some(starts && factors.all(is_apart))
        }
        Step::Bytes { src, dst, .. } => Some(inst.tiles.get(*src)?.place == inst.tiles.get(*dst)?.place),
        Step::Fill { .. } | Step::Clobber { .. } => Some(true),
        _ => Some(false),
    }
}

/// Whether every column's fold lies where the column begins: what is read there is read first (isa/today.md 5.4).
fn folds_onto_first_row(inst: &Inst, fold: &Reduce) -> bool {
    let (d, to) = fold.dst;
    let by_column = matches!(inst.op.info().sem, Sem::Fold { each: Axis::Col, .. });
    let [(s, _)] = fold.args.as_slice() else { return false };
    let Some((src, dst)) = inst.tiles.get(*s).zip(inst.tiles.get(d)) else { return false };
    let columns = (0..fold.extent[1]).map(|j| to.of([0, j, 0]));
    by_column
        && inst.tiles.len() == 2
        && src.place == dst.place
        && src.tile.elem.bits() == dst.tile.elem.bits()
        && columns.into_iter().all(|(r, c)| r == 0 && src.layout.offset(0, c) == dst.layout.offset(0, c))
}

/// Whether two tiles have their elements at the same bytes.
fn is_alike(a: &TileArg, b: &TileArg) -> bool {
    a.place == b.place && a.layout == b.layout && a.tile.elem.bits() == b.tile.elem.bits()
}

/// Whether fills and clobbers stay off the elements that are read. With everything in place they are about the same
/// tile.
fn fills_keep_reads(steps: &[Step]) -> bool {
    let reads: Vec<Rect> = steps.iter().filter_map(window).collect();
    let meets = |a: &Rect, b: &Rect| {
        let apart = |x: u64, n: u64, y: u64, m: u64| x >= y.saturating_add(m) || y >= x.saturating_add(n);
        !a.is_empty() && !b.is_empty() && !apart(a.row, a.rows, b.row, b.rows) && !apart(a.col, a.cols, b.col, b.cols)
    };
    steps.iter().all(|step| match step {
        Step::Fill { rect, .. } => !reads.iter().any(|read| meets(read, rect)),
        _ => true,
    })
}

/// The rectangle that an identity move reads, or that sums start as.
fn window(step: &Step) -> Option<Rect> {
    match step {
        Step::Apply(apply) => apply.elements().next().map(|(_, from)| reached(&from, apply.extent)),
        Step::Reduce(reduce) => reduce.start.map(|(_, from)| reached(&from, reduce.extent)),
        _ => None,
    }
}

/// The rectangle of elements between the first and the last that a map reaches.
fn reached<const N: usize>(map: &Map<N>, extent: [u64; N]) -> Rect {
    let is_empty = extent.contains(&0);
    let along = |axis: usize| {
        let steps = map.step[axis].iter().zip(extent).map(|(s, n)| s.saturating_mul(n.saturating_sub(1)));
        if is_empty { 0 } else { steps.fold(1, u64::saturating_add) }
    };
    Rect { row: map.origin[0], col: map.origin[1], rows: along(0), cols: along(1) }
}

/// The reader and the writer of each unit of storage. A unit is a byte, or a nibble with fp4; each root has a zone of
/// its own.
struct Touched {
    unit: u64,
    /// The start of each operand, in units; `None` if its place is not known.
    starts: Vec<Option<u64>>,
    reader: Vec<u32>,
    writer: Vec<u32>,
    /// Whether all writes must be disjoint from all reads.
    apart: bool,
    /// Whether an element may be written over those that are read before it, in row-major order.
    forward: bool,
}

const NOBODY: u32 = 0;
const MANY: u32 = u32::MAX;

impl Touched {
    fn new(inst: &Inst) -> Option<Touched> {
        let unit = if inst.tiles.iter().any(|t| t.tile.elem.is_fp4()) { 4 } else { 8 };
        // Root, first byte, end.
        let mut zones: Vec<(Root, u64, u64)> = Vec::new();
        for arg in &inst.tiles {
            let Some(place) = arg.place else { continue };
            let end = end_of(arg)?;
            match zones.iter_mut().find(|z| z.0 == place.root) {
                Some(zone) => (zone.1, zone.2) = (zone.1.min(place.start), zone.2.max(end)),
                None => zones.push((place.root, place.start, end)),
            }
        }
        let start_of = |place: Place| {
            let mut at = 0u64;
            for (root, first, end) in &zones {
                if *root == place.root {
                    return Some((at + place.start - first) * (8 / unit));
                }
                at += end - first;
            }
            None
        };
        let bytes = zones.iter().fold(0u64, |n, z| n.saturating_add(z.2 - z.1));
        let units = bytes.saturating_mul(8 / unit);
        if units > MAX_UNITS {
            return None;
        }
        Some(Touched {
            apart: false,
            forward: false,
            unit,
            starts: inst.tiles.iter().map(|arg| arg.place.and_then(start_of)).collect(),
            reader: vec![NOBODY; units as usize],
            writer: vec![NOBODY; units as usize],
        })
    }

    /// The units of one element of operand `n`; empty where its place is not known.
    fn units(&self, n: usize, arg: &TileArg, r: u64, c: u64) -> Option<std::ops::Range<usize>> {
        let Some(start) = *self.starts.get(n)? else { return Some(0..0) };
        let bits = u64::from(arg.tile.elem.bits());
        let offset = u64::try_from(arg.layout.offset(r, c)).ok()?;
        let first = start + offset * bits / self.unit;
        Some(first as usize..(first + bits / self.unit) as usize)
    }

    /// Notes who reads what; `None` where a step reads what it likes.
    fn read(&mut self, inst: &Inst, n: usize, step: &Step) -> Option<()> {
        match step {
            Step::Apply(apply) => {
                for (side, map) in apply.elements() {
                    let s = match side {
                        Side::Tile(s) => s,
                        Side::Bytes(s) => {
                            domain(apply.extent).try_for_each(|index| self.get_byte(inst, s, map.of(index)))?;
                            continue;
                        }
                        Side::Global => continue,
                    };
                    // Only the low bytes matter to TPACK.
                    let part = match (apply.func, apply.dst.0) {
                        (Func::LowBytes, Side::Tile(d)) => d,
                        _ => s,
                    };
                    let in_place = works_in_place(inst, s);
                    for (k, index) in domain(apply.extent).enumerate() {
                        self.get(inst, s, map.of(index), part, if in_place { element(n, k) } else { MANY })?;
                    }
                }
            }
            Step::Pack { args, extent, .. } => {
                for s in args.iter().filter_map(|arg| arg.tile()) {
                    let mut elements = domain(*extent).enumerate();
                    elements.try_for_each(|(k, [i, j])| self.get(inst, s, (i, j), s, element(n, k)))?;
                }
            }
            Step::Reduce(reduce) => {
                let [rows, cols, depth] = reduce.extent;
                let scales = reduce.scales.iter().flatten().map(|scale| (*scale, depth.div_ceil(SCALE_BLOCK)));
                for ((s, map), depth) in reduce.args.iter().map(|arg| (*arg, depth)).chain(scales) {
                    // A factor has no more elements for more results along an axis that it does not follow.
                    let along = |axis: usize, extent: u64| {
                        if map.step.iter().all(|step| step[axis] == 0) { extent.min(1) } else { extent }
                    };
                    for [i, j] in domain([along(0, rows), along(1, cols)]) {
                        for k in 0..along(2, depth) {
                            self.get(inst, s, map.of([i, j, k]), s, MANY)?;
                        }
                    }
                }
                if let Some((s, map)) = reduce.start {
                    for (k, [i, j]) in domain([rows, cols]).enumerate() {
                        self.get(inst, s, map.of([i, j, 0]), s, element(n, k))?;
                    }
                }
            }
            Step::Routed(routed) => {
                for (s, rect) in &routed.reads {
                    for (r, c) in cells(rect) {
                        let id = place(n, routed, (r, c));
                        self.get(inst, *s, (r, c), *s, id)?;
                    }
                }
            }
            Step::Gather { src, idx, extent, .. } => {
                let tile = &inst.tiles.get(*src)?.tile;
                for (s, extent) in [(*src, [tile.rows, tile.cols]), (*idx, *extent)] {
                    for [i, j] in domain(extent) {
                        self.get(inst, s, (i, j), s, MANY)?;
                    }
                }
            }
            // Without coinciding places every byte moves to another one.
            Step::Bytes { .. } | Step::Img2col { .. } | Step::Join => return None,
            // MGATHER reads everything before it writes (isa/memory.md 1).
            Step::Table(_) => {}
            Step::Clobber { .. } | Step::Scratch { .. } | Step::Fill { .. } | Step::LoadConv { .. } => {}
        }
        Some(())
    }

    /// Reads of one element of operand `src` as many low bits as an element of operand `part` has.
    fn get(&mut self, inst: &Inst, src: usize, (r, c): (u64, u64), part: usize, id: u32) -> Option<()> {
        let units = self.units(src, inst.tiles.get(src)?, r, c)?;
        let bits = u64::from(inst.tiles.get(part)?.tile.elem.bits());
        for slot in self.reader.get_mut(units)?.iter_mut().take((bits / self.unit) as usize) {
            *slot = match *slot {
                _ if self.apart => MANY,
                last if self.forward => last.max(id),
                last if last == NOBODY || last == id => id,
                _ => MANY,
            };
        }
        Some(())
    }

    /// The unit, or two, of a byte of operand `n`'s rows.
    fn byte(&self, n: usize, arg: &TileArg, (r, c): (u64, u64)) -> Option<std::ops::Range<usize>> {
        let Some(start) = *self.starts.get(n)? else { return Some(0..0) };
        let pitch = arg.tile.elem.bytes_of(u64::try_from(arg.layout.offset(1.min(arg.tile.rows - 1), 0)).ok()?);
        let first = start + (r * pitch + c) * 8 / self.unit;
        Some(first as usize..(first + 8 / self.unit) as usize)
    }

    /// Reads a byte of a mask, which nothing may be written over.
    fn get_byte(&mut self, inst: &Inst, src: usize, at: (u64, u64)) -> Option<()> {
        let units = self.byte(src, inst.tiles.get(src)?, at)?;
        self.reader.get_mut(units)?.fill(MANY);
        Some(())
    }

    fn write(&mut self, inst: &Inst, n: usize, step: &Step) -> Option<bool> {
        match step {
            Step::Pack { extent: [rows, cols], dst, row_bytes, .. } => {
                let arg = inst.tiles.get(*dst)?;
                for k in 0..rows * cols.div_ceil(8) {
                    let at = (k / (*row_bytes).max(1), k % (*row_bytes).max(1));
                    let units = self.byte(*dst, arg, at)?;
                    // The byte is written for the last of its elements.
                    let blocks = cols.div_ceil(8).max(1);
                    let last = k / blocks * cols + (k % blocks * 8 + 7).min(cols - 1);
                    if !self.may_write(units, element(n, last as usize))? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            Step::Apply(apply) => {
                let (Side::Tile(d), map) = apply.dst else { return Some(true) };
                let written = domain(apply.extent).enumerate().map(|(k, index)| (map.of(index), element(n, k)));
                self.put_all(inst, d, written)
            }
            Step::Reduce(reduce) => {
                let ((d, map), [rows, cols, _]) = (reduce.dst, reduce.extent);
                let written = domain([rows, cols]).enumerate();
                self.put_all(inst, d, written.map(|(k, [i, j])| (map.of([i, j, 0]), element(n, k))))
            }
            Step::Routed(routed) => {
                for (d, rect) in &routed.writes {
                    if !self.put_all(inst, *d, cells(rect).map(|at| (at, place(n, routed, at))))? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            Step::Gather { dst, extent, .. } => self.put_all(inst, *dst, domain(*extent).map(|[i, j]| ((i, j), MANY))),
            Step::Fill { dst, rect, .. } => self.put_all(inst, *dst, cells(rect).map(|at| (at, MANY))),
            Step::Scratch { tile } => {
                let declared = &inst.tiles.get(*tile)?.tile;
                let all = domain([declared.rows, declared.cols]);
                self.put_all(inst, *tile, all.map(|[i, j]| ((i, j), MANY)))
            }
            _ => Some(true),
        }
    }

    fn put_all(&mut self, inst: &Inst, dst: usize, written: impl Iterator<Item = ((u64, u64), u32)>) -> Option<bool> {
        let arg = inst.tiles.get(dst)?;
        for ((r, c), id) in written {
            if !self.put(arg, dst, r, c, id)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether no other element is read there; forward, no later one.
    fn may_write(&self, units: std::ops::Range<usize>, id: u32) -> Option<bool> {
        let fits = |reader: u32| match reader {
            NOBODY => true,
            MANY => false,
            reader if self.forward => reader <= id,
            reader => reader == id && id != MANY,
        };
        Some(self.reader.get(units)?.iter().all(|reader| fits(*reader)))
    }

    /// Writes one element of operand `dst`; `false` if another element reads its bytes or another operand writes them.
    fn put(&mut self, arg: &TileArg, dst: usize, r: u64, c: u64, id: u32) -> Option<bool> {
        let units = self.units(dst, arg, r, c)?;
        if !self.may_write(units.clone(), id)? {
            return Some(false);
        }
        let owner = dst as u32 + 1;
        for slot in self.writer.get_mut(units)? {
            if *slot != NOBODY && *slot != owner {
                return Some(false);
            }
            *slot = owner;
        }
        Some(true)
    }

    /// Bytes that become undefined and are read, other than by the element written there.
    fn clobber(&self, inst: &Inst, step: &Step, steps: &[Step]) -> Option<bool> {
        let Step::Clobber { dst, rect, .. } = step else { return Some(true) };
        let arg = inst.tiles.get(*dst)?;
        let rewritten: Vec<Rect> = steps.iter().filter_map(|s| written(s, *dst)).collect();
        for (r, c) in cells(&rect.clip(arg.tile.rows, arg.tile.cols)) {
            let inside = |w: &Rect| r >= w.row && r - w.row < w.rows && c >= w.col && c - w.col < w.cols;
            if rewritten.iter().any(inside) {
                continue;
            }
            if self.reader.get(self.units(*dst, arg, r, c)?)?.iter().any(|reader| *reader != NOBODY) {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// The rectangle of a destination that a step fills.
fn written(step: &Step, dst: usize) -> Option<Rect> {
    match step {
        Step::Apply(apply) if apply.dst.0 == Side::Tile(dst) => Some(reached(&apply.dst.1, apply.extent)),
        Step::Reduce(reduce) if reduce.dst.0 == dst => Some(reached(&reduce.dst.1, reduce.extent)),
        _ => None,
    }
}

/// The element that acts on (r, c) of an operand: the one that every operand has there, or many.
fn place(step: usize, routed: &Routed, (r, c): (u64, u64)) -> u32 {
    let width = routed.writes.first().map_or(0, |(_, rect)| rect.cols);
    if routed.how.is_by_element() { element(step, (r * width + c) as usize) } else { MANY }
}

fn element(step: usize, k: usize) -> u32 {
    // Steps number elements apart; a tile that is enumerated has far fewer than 2^25 of them.
    ((step as u32) << 25 | (k as u32 & 0x1FF_FFFF)).wrapping_add(1)
}

fn domain([rows, cols]: [u64; 2]) -> impl Iterator<Item = [u64; 2]> + use<> {
    (0..rows).flat_map(move |i| (0..cols).map(move |j| [i, j]))
}

fn cells(rect: &Rect) -> impl Iterator<Item = (u64, u64)> + use<> {
    let rect = *rect;
    (rect.row..rect.row.saturating_add(rect.rows))
        .flat_map(move |r| (rect.col..rect.col.saturating_add(rect.cols)).map(move |c| (r, c)))
}
