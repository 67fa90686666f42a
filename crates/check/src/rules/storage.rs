//! Overlap of two tiles' declared areas (isa/notes.md).

use super::*;

/// One past the tile's last byte, in its root.
pub(super) fn end_of(arg: &TileArg) -> Option<u64> {
    let bytes = arg.tile.elem.bytes_of(arg.layout.footprint());
    Some(arg.place?.start.saturating_add(bytes))
}

/// Whether the two are in one storage and neither begins behind the other's end. Windows of one tile may do so side by
/// side.
pub(super) fn meets(a: &TileArg, b: &TileArg) -> Option<bool> {
    let (from, to) = (a.place?, b.place?);
    Some(from.root == to.root && from.start < end_of(b)? && to.start < end_of(a)?)
}

/// Whether the declared areas have a byte in common; `false` if a place is not known.
pub(super) fn shares(a: &TileArg, b: &TileArg) -> bool {
    meets(a, b).unwrap_or(false) && Runs::of(a).zip(Runs::of(b)).is_some_and(|(a, b)| a.meets(b))
}

/// An area as equally long runs of bits, equally far apart.
#[derive(Clone, Copy)]
struct Runs {
    start: u64,
    len: u64,
    pitch: u64,
    count: u64,
}

impl Runs {
    fn of(arg: &TileArg) -> Option<Runs> {
        let bits = u64::from(arg.tile.elem.bits());
        let (rows, cols) = (arg.tile.rows, arg.tile.cols);
        let (count, len, next) = match arg.tile.layout_name() {
            LayoutName::Nd => (rows, cols, (1, 0)),
            LayoutName::Dn => (cols, rows, (0, 1)),
            // Boxes are never a window of something larger.
            _ => (1, arg.layout.footprint(), (0, 0)),
        };
        let pitch = if count > 1 { u64::try_from(arg.layout.offset(next.0, next.1)).ok()? } else { 0 };
        Some(Runs { start: arg.place?.start * 8, len: len * bits, pitch: pitch * bits, count })
    }

    /// The first run that ends behind this bit.
    fn behind(self, bit: u64) -> u64 {
        let past = (bit + 1).saturating_sub(self.start + self.len);
        if self.pitch == 0 { u64::from(past > 0) } else { past.div_ceil(self.pitch) }
    }

    fn meets(self, other: Runs) -> bool {
        let mut n = 0;
        while n < self.count {
            let first = self.start + n * self.pitch;
            let k = other.behind(first);
            if k >= other.count {
                return false;
            }
            let theirs = other.start + k * other.pitch;
            if theirs < first + self.len {
                return true;
            }
            // On to the first run that ends behind where theirs starts.
            n = self.behind(theirs);
        }
        false
    }
}
