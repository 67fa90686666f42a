//! `overlap`: operands that share bytes, unless the result is the same as with disjoint ones (ops.md 1 rule 4).
//!
//! Derived from the index maps: byte ranges are compared first, and only where two of them meet are elements
//! enumerated. An element may be written where it is read (TMOV onto itself); nothing may be written where another
//! element is read, where another destination is written, or into scratch, parameters and indices.

use super::about;
use tessera_isa::diag::Fault;
use tessera_isa::inst::{Inst, Place, Root, TileArg};
use tessera_isa::maps::{How, Move, Rect, Side, Step, steps};
use tessera_isa::ops::{Effect, Form, Opcode, Role};

/// More units than this are not enumerated; only cpu has such tiles, and there the answer is the careful one.
const MAX_UNITS: u64 = 1 << 24;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    if inst.tiles.len() < 2 || !moves_data(inst) {
        return None;
    }
    let (a, b) = meeting(inst)?;
    let meets = |role: Role| a.role == role || b.role == role;
    let aside = [Role::Tmp, Role::Fp, Role::Idx0, Role::Idx1, Role::DstIdx];
    let careful = aside.into_iter().any(meets);
    if !careful && harmless(inst).unwrap_or(false) {
        return None;
    }
    let (start, end) = (a.place?.start.max(b.place?.start), end_of(a)?.min(end_of(b)?));
    let what = format!(
        "{} and {} share bytes {start:#x} to {end:#x}, and {} would read what it writes",
        a.role,
        b.role,
        inst.op.title()
    );
    let fault = Fault::new("overlap", what).help("give them disjoint addresses, or leave the addresses out");
    Some(about(inst, b.role, fault))
}

/// Views move nothing: sharing storage is what they are for. On a2a3 and a5 TRESHAPE is one of them.
fn moves_data(inst: &Inst) -> bool {
    match inst.op {
        Opcode::Tsubview | Opcode::Subset => false,
        Opcode::Treshape | Opcode::Bitcast => !inst.profile.is_npu(),
        _ => true,
    }
}

/// One past the tile's last byte, in its root.
fn end_of(arg: &TileArg) -> Option<u64> {
    let bytes = arg.tile.elem.bytes_of(arg.layout.footprint());
    Some(arg.place?.start.saturating_add(bytes))
}

/// Two operands, one of them written, whose byte ranges meet; a pair with scratch or parameters first.
fn meeting(inst: &Inst) -> Option<(&TileArg, &TileArg)> {
    let mut found = None;
    for (i, a) in inst.tiles.iter().enumerate() {
        for b in inst.tiles.iter().skip(i + 1) {
            let (Some(pa), Some(pb)) = (a.place, b.place) else {
                continue;
            };
            let writes = a.role.effect() != Effect::Read || b.role.effect() != Effect::Read;
            let meets = pa.root == pb.root && pa.start < end_of(b)? && pb.start < end_of(a)?;
            if !writes || !meets || side_by_side(a, b) || side_by_side(b, a) {
                continue;
            }
            let plain = |t: &TileArg| matches!(t.role, Role::Src | Role::Src0 | Role::Src1) || t.role.is_dst();
            if !plain(a) || !plain(b) {
                return Some((a, b));
            }
            found = found.or(Some((a, b)));
        }
    }
    found
}

/// Two windows of one tile that share a pitch and no element, such as its left and right half; `b` starts behind `a`.
fn side_by_side(a: &TileArg, b: &TileArg) -> bool {
    // Stride and extent of the outer axis, extent of the inner one.
    let rectangle = |t: &TileArg| match (t.layout.row.digits.as_slice(), t.layout.col.digits.as_slice()) {
        ([row], [col]) if col.stride == 1 => Some((true, row.stride, t.layout.rows(), t.layout.cols())),
        ([row], [col]) if row.stride == 1 => Some((false, col.stride, t.layout.cols(), t.layout.rows())),
        _ => None,
    };
    let (Some((x, pitch, outer, inner)), Some((y, other, _, width))) = (rectangle(a), rectangle(b)) else {
        return false;
    };
    let (Some(from), Some(to)) = (a.place, b.place) else {
        return false;
    };
    let bits = u64::from(a.tile.elem.bits());
    let (Some(bytes), Ok(pitch)) = (to.start.checked_sub(from.start), u64::try_from(pitch)) else {
        return false;
    };
    let alike = x == y && i64::try_from(pitch) == Ok(other) && a.tile.elem.bits() == b.tile.elem.bits();
    if !alike || pitch == 0 || inner > pitch || !(bytes * 8).is_multiple_of(bits) {
        return false;
    }
    let behind = bytes * 8 / bits;
    let (down, along) = (behind / pitch, behind % pitch);
    along + width <= pitch && (down >= outer || along >= inner)
}

/// Is the result the same as with disjoint operands? `None` where the maps are not known.
fn harmless(inst: &Inst) -> Option<bool> {
    let Some(steps) = steps(inst) else {
        // Extents that are not known yet are silent; the counts of an indexed TCONCAT are never known.
        return Some(inst.op != Opcode::Tconcat || inst.form == Form::Plain);
    };
    if steps.iter().all(|step| in_place(inst, step).unwrap_or(false)) && fills_keep_reads(&steps) {
        return Some(true);
    }
    let mut touched = Touched::new(inst)?;
    for (n, step) in steps.iter().enumerate() {
        touched.read(inst, n, step)?;
    }
    let clobbers = steps.iter().all(|step| touched.clobber(inst, step, &steps).unwrap_or(false));
    let writes = steps.iter().enumerate().all(|(n, step)| touched.write(inst, n, step).unwrap_or(false));
    Some(clobbers && writes)
}

/// A step that leaves every element where it is, or touches one tile only.
fn in_place(inst: &Inst, step: &Step) -> Option<bool> {
    match step {
        Step::Move { src, dst, geometry, .. } => {
            let (Side::Tile(s), Side::Tile(d)) = (src, dst) else {
                return Some(true);
            };
            let (s, d) = (inst.tiles.get(*s)?, inst.tiles.get(*d)?);
            let same = s.place == d.place && s.layout == d.layout && s.tile.elem.bits() == d.tile.elem.bits();
            Some(same && geometry.src == geometry.dst)
        }
        Step::Bytes { src, dst, .. } => Some(inst.tiles.get(*src)?.place == inst.tiles.get(*dst)?.place),
        Step::Fill { .. } | Step::Clobber { .. } => Some(true),
        _ => Some(false),
    }
}

/// With everything in place, fills and clobbers are about the same tile: do they stay off what is read?
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

/// The rectangle that an identity move reads.
fn window(step: &Step) -> Option<Rect> {
    let Step::Move { geometry: Move { rows, cols, src, .. }, .. } = step else {
        return None;
    };
    Some(Rect { row: src.origin[0], col: src.origin[1], rows: *rows, cols: *cols })
}

/// Who reads and who writes each unit of storage. A unit is a byte, or a nibble with fp4; each root has a zone of its own.
struct Touched {
    unit: u64,
    /// Where each operand starts, in units; `None` where its place is not known.
    starts: Vec<Option<u64>>,
    reader: Vec<u32>,
    writer: Vec<u32>,
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
            unit,
            starts: inst.tiles.iter().map(|arg| arg.place.and_then(start_of)).collect(),
            reader: vec![NOBODY; units as usize],
            writer: vec![NOBODY; units as usize],
        })
    }

    /// The units of one element of operand `n`; empty where its place is not known.
    fn units(&self, n: usize, arg: &TileArg, r: u64, c: u64) -> Option<std::ops::Range<usize>> {
        let Some(start) = *self.starts.get(n)? else {
            return Some(0..0);
        };
        let bits = u64::from(arg.tile.elem.bits());
        let offset = u64::try_from(arg.layout.offset(r, c)).ok()?;
        let first = start + offset * bits / self.unit;
        Some(first as usize..(first + bits / self.unit) as usize)
    }

    fn read(&mut self, inst: &Inst, n: usize, step: &Step) -> Option<()> {
        let (s, how, dst, geometry) = match step {
            Step::Move { src: Side::Tile(s), how, dst, geometry, .. } => (*s, how, dst, geometry),
            // Without coinciding places every byte moves to another one.
            Step::Bytes { .. } | Step::Img2col { .. } => return None,
            _ => return Some(()),
        };
        let arg = inst.tiles.get(s)?;
        // Only the low bytes matter to TPACK.
        let bits = match (how, dst) {
            (How::LowBytes, Side::Tile(d)) => inst.tiles.get(*d)?.tile.elem.bits(),
            _ => arg.tile.elem.bits(),
        };
        let read = (u64::from(bits) / self.unit) as usize;
        for (k, (i, j)) in domain(geometry).enumerate() {
            let (r, c) = geometry.src.apply(i, j);
            let id = element(n, k);
            let units = self.units(s, arg, r, c)?;
            for slot in self.reader.get_mut(units)?.iter_mut().take(read) {
                *slot = if *slot == NOBODY { id } else { MANY };
            }
        }
        Some(())
    }

    fn write(&mut self, inst: &Inst, n: usize, step: &Step) -> Option<bool> {
        match step {
            Step::Move { dst: Side::Tile(d), geometry, .. } => {
                let arg = inst.tiles.get(*d)?;
                for (k, (i, j)) in domain(geometry).enumerate() {
                    let (r, c) = geometry.dst.apply(i, j);
                    if !self.put(arg, *d, r, c, element(n, k))? {
                        return Some(false);
                    }
                }
            }
            Step::Fill { dst, rect, .. } => {
                let arg = inst.tiles.get(*dst)?;
                for (r, c) in cells(rect) {
                    if !self.put(arg, *dst, r, c, MANY)? {
                        return Some(false);
                    }
                }
            }
            _ => {}
        }
        Some(true)
    }

    /// Writes one element of operand `dst`; `false` where somebody else reads or writes its bytes.
    fn put(&mut self, arg: &TileArg, dst: usize, r: u64, c: u64, id: u32) -> Option<bool> {
        let units = self.units(dst, arg, r, c)?;
        let readers = self.reader.get(units.clone())?;
        if readers.iter().any(|reader| *reader != NOBODY && (*reader != id || id == MANY)) {
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
        let Step::Clobber { dst, rect, .. } = step else {
            return Some(true);
        };
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

/// The rectangle of a destination that a move fills.
fn written(step: &Step, dst: usize) -> Option<Rect> {
    match step {
        Step::Move { dst: Side::Tile(d), geometry: g, .. } if *d == dst => {
            let transposed = g.dst.step == [[0, 1], [1, 0]];
            let (rows, cols) = if transposed { (g.cols, g.rows) } else { (g.rows, g.cols) };
            Some(Rect { row: g.dst.origin[0], col: g.dst.origin[1], rows, cols })
        }
        _ => None,
    }
}

fn element(step: usize, k: usize) -> u32 {
    // Steps number elements apart; a tile that is enumerated has far fewer than 2^25 of them.
    ((step as u32) << 25 | (k as u32 & 0x1FF_FFFF)).wrapping_add(1)
}

fn domain(g: &Move) -> impl Iterator<Item = (u64, u64)> + use<> {
    let (rows, cols) = (g.rows, g.cols);
    (0..rows).flat_map(move |i| (0..cols).map(move |j| (i, j)))
}

fn cells(rect: &Rect) -> impl Iterator<Item = (u64, u64)> + use<> {
    let rect = *rect;
    (rect.row..rect.row.saturating_add(rect.rows))
        .flat_map(move |r| (rect.col..rect.col.saturating_add(rect.cols)).map(move |c| (r, c)))
}
