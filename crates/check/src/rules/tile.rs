//! `tile-*`: types of tiles and conv tiles, and what `tile-fp4` says about indices (tile-model.md 3, 5, 7).

use super::*;
use tessera_isa::ops::Covers;
use tessera_isa::profile::Profiles;

/// Checks that this is a tile type on this profile. An inexact custom pad is a warning.
pub fn check_tile(tile: &Tile, profile: Profile) -> Option<Fault> {
    tile.fault(profile)
}

/// Checks that this is a conv tile type on this profile.
pub fn check_conv(conv: &ConvType, profile: Profile) -> Option<Fault> {
    let written = conv.written_dims();
    if let Some(zero) = written.iter().position(|d| *d == 0) {
        let what = format!("dimension {zero} of the {} tile is 0", conv.format());
        return Some(Fault::new("tile-shape", what).help("every dimension is at least 1"));
    }
    let Some(memory) = profile.memory(conv.loc) else {
        let what = format!("{profile} has no location {}", conv.loc);
        return Some(Fault::new("tile-loc", what).help(format!("a5 has {}", conv.loc)));
    };
    if profile != Profile::A5 && !conv.elem.info().on_cpu_and_a2a3 {
        let what = format!("{profile} has no element type {}", conv.elem);
        return Some(Fault::new("tile-dtype", what).help(format!("a5 has {}", conv.elem)));
    }
    if conv.elements() >= 1 << 32 {
        let what = format!("the {} tile has more than 2^32 elements", conv.format());
        return Some(Fault::new("tile-size", what).help("split the tile"));
    }
    let bytes = conv.bytes();
    let limit = memory.bytes.filter(|limit| bytes > *limit)?;
    let what = format!("the conv tile's {bytes} bytes exceed {}'s {limit} bytes on {profile}", conv.loc.memory_name());
    Some(Fault::new("tile-size", what).help("split the image into smaller ones"))
}

pub(crate) fn check(inst: &Inst) -> Option<Fault> {
    let conv_at = inst.conv.and_then(|_| inst.tile_index(if inst.global.is_some() { Role::Dst } else { Role::Src }));
    if let Some(fault) = inst.conv.and_then(|conv| check_conv(&conv, inst.profile)) {
        return Some(Fault { operand: conv_at, ..fault });
    }
    let types = inst.tiles.iter().enumerate().filter(|(i, _)| Some(*i) != conv_at);
    for (i, arg) in types {
        let fault = arg.tile.fault(inst.profile).filter(Fault::is_error);
        if let Some(fault) = fault.or_else(|| valid::fp4(&arg.tile, arg.valid)) {
            return Some(fault.on(i));
        }
    }
    fp4_index(inst)
}

/// The index of a window of an fp4 tile is even where elements share bytes.
fn fp4_index(inst: &Inst) -> Option<Fault> {
    // A view's window has rules of its own.
    if inst.op.binds(inst.profile).is_some() || !inst.has_scalar(Role::Row) {
        return None;
    }
    let windows = [(Role::Row, Role::Col), (Role::Row1, Role::Col1)];
    let mut windows = windows.iter().filter(|(row, _)| inst.has_scalar(*row));
    // The window is cut out of the side whose valid region does not count.
    let form = inst.op.form(inst.form)?;
    let cut = |role: Role| form.operand(role).is_some_and(|o| o.valid == Profiles::NONE || o.covers == Covers::Part);
    let at = [Role::Src, Role::Dst].into_iter().find(|role| cut(*role))?;
    let tile = &inst.tile(at)?.tile;
    if !tile.elem.is_fp4() {
        return None;
    }
    let odd = |role: &Role| inst.index(*role).filter(|v| v % 2 != 0).map(|v| (*role, v));
    let (role, v) = windows.find_map(|(row, col)| odd(col).or_else(|| odd(row).filter(|_| tile.rows_share_bytes())))?;
    let what = format!("{}={v} is odd, and {} packs two elements into a byte", role.cpp(), tile.elem);
    broken(inst, at, "tile-fp4", what, format!("{} {v} → {}", role.cpp(), v - 1))
}
