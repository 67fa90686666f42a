//! `tile-*`: types of tiles and conv tiles, and what `tile-fp4` says about indices (tile-model.md 3, 5, 7).

use tessera_isa::diag::Fault;
use tessera_isa::inst::{ConvType, Inst};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Tile;

/// Is this a tile type on this profile? An inexact custom pad is a warning.
pub fn check_tile(tile: &Tile, profile: Profile) -> Option<Fault> {
    tile.fault(profile)
}

/// Is this a conv tile type on this profile?
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

/// The first broken `tile-*` rule of the operands.
pub(crate) fn check(inst: &Inst) -> Option<Fault> {
    let conv_at = inst.conv.and_then(|_| inst.tile_index(if inst.op == Opcode::Tload { Role::Dst } else { Role::Src }));
    if let Some(fault) = inst.conv.and_then(|conv| check_conv(&conv, inst.profile)) {
        return Some(Fault { operand: conv_at, ..fault });
    }
    let types = inst.tiles.iter().enumerate().filter(|(i, _)| Some(*i) != conv_at);
    for (i, arg) in types {
        let fault = arg.tile.fault(inst.profile).filter(Fault::is_error);
        if let Some(fault) = fault.or_else(|| super::valid::fp4(&arg.tile, arg.valid)) {
            return Some(fault.on(i));
        }
    }
    fp4_index(inst)
}

/// The index of a window of an fp4 tile is even where elements share bytes.
fn fp4_index(inst: &Inst) -> Option<Fault> {
    let (at, windows): (Role, &[(Role, Role)]) = match (inst.op, inst.form) {
        (Opcode::Textract, Form::TwoWindows) => (Role::Src, &[(Role::Row, Role::Col), (Role::Row1, Role::Col1)]),
        (Opcode::Textract | Opcode::TextractFp, _) => (Role::Src, &[(Role::Row, Role::Col)]),
        (Opcode::Tinsert | Opcode::TinsertFp, _) => (Role::Dst, &[(Role::Row, Role::Col)]),
        _ => return None,
    };
    let tile = &inst.tile(at)?.tile;
    if !tile.elem.is_fp4() {
        return None;
    }
    let odd = |role: &Role| inst.index(*role).filter(|v| v % 2 != 0).map(|v| (*role, v));
    let (role, v) =
        windows.iter().find_map(|(row, col)| odd(col).or_else(|| odd(row).filter(|_| tile.rows_share_bytes())))?;
    let what = format!("{}={v} is odd, and {} packs two elements into a byte", role.cpp(), tile.elem);
    let fault = Fault::new("tile-fp4", what).help(format!("{} {v} → {}", role.cpp(), v - 1));
    Some(Fault { operand: inst.tile_index(at), ..fault })
}
