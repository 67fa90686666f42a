//! Values for a picture where a program has none: small indices, and data that decides something sensible.

use tessera_isa::codec::{Number, Overflow};
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::{Kind, Role};

/// The instruction with numbers for scalars and extents that are not known.
pub fn known(inst: &Inst) -> Inst {
    let mut inst = inst.clone();
    // A window lies off the corner where there is room.
    let shape = |t: Option<&TileArg>| t.map_or([0, 0], |t| [t.tile.rows, t.tile.cols]);
    let (src, dst) = (shape(inst.src()), shape(inst.dst()));
    let room = [0, 1].map(|n| if src[n].abs_diff(dst[n]) >= 16 { 16 } else { 0 });
    for scalar in &mut inst.scalars {
        let usual = match scalar.role {
            Role::Row => room[0],
            Role::Col => room[1],
            role if role.kind() == Kind::Index && role.in_brackets() => 0,
            _ => 2,
        };
        scalar.value.get_or_insert(Number::Int(usual));
    }
    for tile in &mut inst.tiles {
        let declared = [tile.tile.rows, tile.tile.cols];
        tile.valid = [0, 1].map(|n| tile.valid[n].or(Some(declared[n])));
    }
    if let Some(view) = &mut inst.global {
        view.offset.get_or_insert(0);
        // One row after the other, where nothing else is said.
        let mut dense = 1i64;
        for (stride, dim) in view.strides.iter_mut().zip(&view.dims).rev() {
            stride.get_or_insert(dense);
            dense = dense.saturating_mul(dim.and_then(|d| i64::try_from(d).ok()).unwrap_or(1));
        }
    }
    inst
}

/// The bits of the n-th element of a tile, by its offset: indices into what they point into, else numbers in disorder.
pub fn element(inst: &Inst, tile: usize, byte: i64, len: u64) -> Option<u64> {
    let arg = inst.tiles.get(tile)?;
    let n = byte.checked_div(len as i64)?;
    // Steps that share no factor with a power of two come everywhere.
    let value = match arg.role {
        Role::Idx0 | Role::Idx1 => (n % 3 + 1) * 4 * len as i64,
        Role::Idx => (n * 37 + 11).rem_euclid(pointed(inst, tile).max(1)),
        // Of two tiles now one has the greater element, now the other.
        _ => (n * 29 + 7 + tile as i64 * 53) % 101,
    };
    Some(arg.tile.elem.encode(Number::Int(value.into()), Overflow::Saturate))
}

/// The number of elements that an index may address: those of the tile or view that is not the index tile's.
fn pointed(inst: &Inst, tile: usize) -> i64 {
    let idx = inst.tiles.get(tile).map(|t| t.tile.cols);
    let view = inst.global.as_ref().and_then(|v| v.shape()[0].zip(v.shape()[1]));
    let (rows, cols) = view.or_else(|| inst.src().map(|s| (s.tile.rows, s.tile.cols))).unwrap_or((1, 1));
    let by_row = view.is_some() && idx.is_some_and(|c| c < cols);
    i64::try_from(if by_row { rows } else { rows.saturating_mul(cols) }).unwrap_or(1)
}
