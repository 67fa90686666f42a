//! Tiles and plain bytes that are walked round and round, so that they sit in the second-level cache.

use super::cases::Contents;
use super::{Case, Work};
use std::hint::black_box;
use tessera::{Diagnostic, Loc, Profile, Result, Role};
use tessera_exec::engine::{Engine, TileId};
use tessera_ir::Type;
use tessera_isa::codec::Overflow;
use tessera_isa::inst::{Inst, ScalarArg};

/// Bytes that one ring touches: several times the first-level cache, and two of them fit the second level.
const RING: usize = 256 << 10;

/// Tiles start at cache lines, as automatic placement puts them.
pub(super) const LINE: usize = 64;

/// The number of instructions of one lap.
pub(super) fn turns(case: &Case) -> usize {
    match case.work {
        Work::Bytes(bytes) => (RING / bytes).max(2),
        Work::MultiplyAdds(_) => 2,
    }
}

type Issue = (Inst, Vec<(Role, TileId)>);

/// An instruction on one set of tiles after another.
#[derive(Debug)]
pub struct Instructions {
    engine: Engine,
    ring: Vec<Issue>,
}

impl Instructions {
    /// Tiles with defined valid regions and undefined padding, and the instruction made ready on all of them.
    pub fn new(case: &Case, tracked: bool) -> Result<Self> {
        let mut engine = Engine::new(case.profile, tracked);
        // The address of the next tile of each location.
        let mut next = [0i64; Loc::ALL.len()];
        let mut ring = Vec::new();
        for _ in 0..turns(case) {
            let mut inst = Inst::new(case.op, case.form, case.profile);
            inst.attrs = case.attrs();
            let mut tiles = Vec::new();
            for (role, text) in case.operands() {
                let (tile, loc, bytes) = make(&mut engine, case.profile, text)?;
                if let Some(address) = next.get_mut(loc as usize) {
                    engine.assign(tile, *address)?;
                    *address += (bytes + beside(&engine, tile)).next_multiple_of(LINE) as i64;
                }
                fill(&mut engine, role, tile, case.contents)?;
                tiles.push((role, tile));
            }
            for (role, index) in [Role::Row, Role::Col].into_iter().zip(case.at.into_iter().flatten()) {
                inst.scalars.push(ScalarArg::new(role, index));
            }
            inst.scalars.extend(case.scalar.map(|value| ScalarArg::new(Role::Scalar, value)));
            ring.push((inst, tiles));
        }
        let mut instructions = Instructions { engine, ring };
        instructions.lap()?;
        Ok(instructions)
    }

    /// Issues every instruction once.
    pub fn lap(&mut self) -> Result<()> {
        for (inst, tiles) in &self.ring {
            self.engine.issue(black_box(inst), tiles)?;
        }
        Ok(())
    }

    /// Instructions of a lap.
    pub fn turns(&self) -> usize {
        self.ring.len()
    }
}

/// A tile of a type, its location and its bytes.
fn make(engine: &mut Engine, profile: Profile, text: &str) -> Result<(TileId, Loc, usize)> {
    let kind = if text.contains("NC1HWC0") { "conv_tile" } else { "tile_buf" };
    match tessera_asm::parse_type(&format!("!pto.{kind}<{text}>"))? {
        Type::Tile(ty) => Ok((engine.tile(&ty)?, ty.loc, ty.resolve(profile).bytes() as usize)),
        Type::Conv(ty) => Ok((engine.conv_tile(ty)?, ty.loc, ty.bytes() as usize)),
        _ => Err(Box::new(Diagnostic::error("type-mismatch", format!("{text} is no tile; write one"))).into()),
    }
}

/// Tiles whose rows begin at the same place of a page each begin beside one another, as windows of a wide array do: all at
/// the same place, a ring of them would not fit the second-level cache.
fn beside(engine: &Engine, tile: TileId) -> usize {
    let (Some(ty), [_, Some(columns)]) = (engine.type_of(tile), engine.valid(tile)) else { return 0 };
    let bytes = |columns: u64| ty.elem.bytes_of(columns) as usize;
    if bytes(ty.cols).is_multiple_of(4096) { bytes(columns) } else { 0 }
}

/// Gives sources contents: their own, or numbers that no conversion finds special. Destinations stay undefined.
fn fill(engine: &mut Engine, role: Role, tile: TileId, contents: Option<Contents>) -> Result<()> {
    let (false, Some(ty), [Some(rows), Some(cols)]) = (role.is_dst(), engine.type_of(tile), engine.valid(tile)) else {
        return Ok(());
    };
    let element = |k: u64| match (contents, role) {
        (Some(bits), _) => bits(role, k),
        // Signed 8-bit results, scale 0.5 and up (fixpipe.md 3).
        (None, Role::Fp) => 1 << 46 | u64::from((0.5 + k as f32 / 1024.0).to_bits()),
        // Small numbers, of which no function makes an infinity, and which shift by less than a word.
        _ if ty.elem.is_float() => ty.elem.encode_f64(0.25 + (k % 97) as f64 / 32.0, Overflow::Saturate),
        _ => ty.elem.encode_int(i128::from(k % 31), Overflow::Saturate),
    };
    let size = (ty.elem.bits() / 8) as usize;
    let elements: Vec<u8> = (0..rows * cols).flat_map(|k| element(k).to_le_bytes().into_iter().take(size)).collect();
    Ok(engine.write(tile, &elements)?)
}
