//! `tassign-range` and `tassign-align`: addresses of tiles (ops.md 10, tile-model.md 2).

use tessera_isa::diag::Fault;
use tessera_isa::profile::{Profile, TILE_ALIGN};
use tessera_isa::tile::Loc;

/// May a tile of `bytes` bytes lie at this address of its memory?
pub fn check_address(loc: Loc, bytes: u64, address: i128, profile: Profile) -> Option<Fault> {
    let memory = loc.memory_name();
    if address < 0 || address > i128::from(u64::MAX / 2) {
        let what = format!("{address} is no address of {memory}");
        return Some(Fault::new("tassign-range", what).help("addresses start at 0"));
    }
    let end = address.saturating_add(i128::from(bytes));
    if let Some(limit) = profile.memory(loc).and_then(|m| m.bytes).map(i128::from)
        && end > limit
    {
        let what = format!("the tile at {address:#x} ends at {end:#x}, and {memory} of {profile} ends at {limit:#x}");
        let fault = Fault::new("tassign-range", what);
        let last = (limit - i128::from(bytes)) / i128::from(TILE_ALIGN) * i128::from(TILE_ALIGN);
        return Some(if last >= 0 { fault.help(format!("its address is at most {last:#x}")) } else { fault });
    }
    if address % i128::from(TILE_ALIGN) != 0 {
        let down = address / i128::from(TILE_ALIGN) * i128::from(TILE_ALIGN);
        let what = format!("the address {address:#x} is no multiple of {TILE_ALIGN}");
        let up = down + i128::from(TILE_ALIGN);
        return Some(Fault::new("tassign-align", what).help(format!("use {down:#x} or {up:#x}")));
    }
    None
}
