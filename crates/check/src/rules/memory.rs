//! `tassign-range` and `tassign-align`: addresses of tiles (ops.md 10, tile-model.md 2).

use super::*;

/// Checks that a tile of `bytes` bytes may be at this address of its memory.
pub fn check_address(loc: Loc, bytes: u64, address: i128, profile: Profile) -> Option<Fault> {
    let memory = loc.memory_name();
    if address < 0 || address > i128::from(u64::MAX / 2) {
        let what = format!("{address} is no address of {memory}");
        return Some(Fault::new("tassign-range", what).help("addresses start at 0"));
    }
    let (bytes, align) = (i128::from(bytes), i128::from(TILE_ALIGN));
    let end = address.saturating_add(bytes);
    if let Some(limit) = profile.memory(loc).and_then(|m| m.bytes).map(i128::from)
        && end > limit
    {
        let what = format!("the tile at {address:#x} ends at {end:#x}, and {memory} of {profile} ends at {limit:#x}");
        let fault = Fault::new("tassign-range", what);
        let last = (limit - bytes) / align * align;
        return Some(if last >= 0 { fault.help(format!("its address is at most {last:#x}")) } else { fault });
    }
    let down = address / align * align;
    let up = (down != address).then_some(down + align)?;
    let what = format!("the address {address:#x} is no multiple of {TILE_ALIGN}");
    Some(Fault::new("tassign-align", what).help(format!("use {down:#x} or {up:#x}")))
}
