//! `valid-range` and `valid-unset`: run-time valid extents (tile-model.md 4), and `tile-fp4` for them.

use super::*;
use tessera_isa::ops::Opcode;

/// Checks that the tile type admits these run-time valid extents. Unknown extents are not reported. A static extent
/// can only be set to itself.
pub fn check_valid(tile: &Tile, valid: [Option<i128>; 2]) -> Option<Fault> {
    let axes = [("valid_row", tile.rows, tile.v_row, valid[0]), ("valid_col", tile.cols, tile.v_col, valid[1])];
    for (name, declared, extent, v) in axes {
        let Some(v) = v else { continue };
        if v < 0 || v > i128::from(declared) {
            let what = format!("{name}={v} is outside 0…{declared}, the tile's declared extent");
            return Some(Fault::new("valid-range", what).help(format!("{name} is 0 to {declared}")));
        }
        if let Extent::Static(fixed) = extent
            && v != i128::from(fixed)
        {
            let what = format!("{name}={v} is set, and the tile's type fixes it at {fixed}");
            return Some(Fault::new("valid-range", what).help("write the extent as `?` in the type"));
        }
    }
    fp4(tile, valid.map(|v| v.and_then(|v| u64::try_from(v).ok())))
}

/// `tile-fp4` for extents that the type does not know.
pub(crate) fn fp4(tile: &Tile, valid: [Option<u64>; 2]) -> Option<Fault> {
    if !tile.elem.is_fp4() {
        return None;
    }
    let odd = |v: Option<u64>| v.filter(|v| v % 2 == 1);
    let (name, v) = odd(valid[1])
        .map(|v| ("valid_col", v))
        .or_else(|| odd(valid[0]).filter(|_| tile.rows_share_bytes()).map(|v| ("valid_row", v)))?;
    let what = format!("{name}={v} is odd, and {} packs two elements into a byte", tile.elem);
    Some(Fault::new("tile-fp4", what).help(format!("{name} {v} → {}", v + 1)))
}

/// `valid-unset`, as the first use of the extent `name` reports it.
pub fn unset(op: Opcode, role: Role, name: &str) -> Fault {
    let what = format!("{} uses {name} of {role}, which is `?` and was never set", op.title());
    Fault::new("valid-unset", what).help("give it at alloc_tile, or with set_validshape before this instruction")
}
