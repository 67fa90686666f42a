//! Tiles and plain bytes that are walked round and round, so that they sit in the second-level cache.

use super::Case;
use std::hint::black_box;
use tessera::Result;
use tessera_exec::engine::machine::{Issue, Machine, TileId};
use tessera_exec::kernels::AlignedBytes;
use tessera_ir::Type;
use tessera_isa::codec::Overflow;
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::Role;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// Bytes that one ring touches: several times the first-level cache, and two of them fit the second level.
const RING: usize = 256 << 10;

/// Tiles start at cache lines, as automatic placement puts them.
const LINE: usize = 64;

/// How many instructions go once around.
fn turns(case: &Case) -> usize {
    (RING / case.bytes).max(2)
}

/// An instruction on one set of tiles after another.
#[derive(Debug)]
pub struct Instructions {
    machine: Machine,
    ring: Vec<Issue>,
}

impl Instructions {
    /// Tiles with defined valid regions and undefined padding, and the instruction made ready on all of them.
    pub fn new(case: &Case, tracked: bool) -> Result<Self> {
        let mut machine = Machine::with_tracking(Profile::Cpu, tracked);
        // Where the next tile of each location goes.
        let mut next = [0i64; Loc::ALL.len()];
        let mut ring = Vec::new();
        for _ in 0..turns(case) {
            let mut issue = Issue::new(case.op, case.form).attrs(case.attrs());
            for (role, text) in case.tiles {
                let (tile, loc, bytes) = make(&mut machine, text)?;
                if let Some(address) = next.get_mut(loc as usize) {
                    machine.assign(tile, *address)?;
                    *address += bytes.next_multiple_of(LINE) as i64;
                }
                fill(&mut machine, *role, tile)?;
                issue = issue.tile(*role, tile);
            }
            if let Some([row, col]) = case.at {
                issue = issue.index(Role::Row, row).index(Role::Col, col);
            }
            ring.push(issue);
        }
        let mut instructions = Instructions { machine, ring };
        instructions.lap()?;
        Ok(instructions)
    }

    /// Issues every instruction once.
    pub fn lap(&mut self) -> Result<()> {
        for issue in &self.ring {
            self.machine.issue(black_box(issue))?;
        }
        Ok(())
    }

    /// Instructions of a lap.
    pub fn turns(&self) -> usize {
        self.ring.len()
    }
}

/// A tile of a type, its location and its bytes.
fn make(machine: &mut Machine, text: &str) -> Result<(TileId, Loc, usize)> {
    let kind = if text.contains("NC1HWC0") { "conv_tile" } else { "tile_buf" };
    match tessera_asm::parse_type(&format!("!pto.{kind}<{text}>"))? {
        Type::Tile(ty) => Ok((machine.tile(&ty)?, ty.loc, ty.resolve(Profile::Cpu).bytes() as usize)),
        Type::Conv(ty) => Ok((machine.conv_tile(ty)?, ty.loc, ty.bytes() as usize)),
        _ => Err(Box::new(Diagnostic::error("type-mismatch", format!("{text} is no tile; write one"))).into()),
    }
}

/// Gives sources contents: numbers that no conversion finds special. Destinations stay undefined.
fn fill(machine: &mut Machine, role: Role, tile: TileId) -> Result<()> {
    let (Some(ty), [Some(rows), Some(cols)]) = (machine.type_of(tile), machine.valid(tile)) else {
        return Ok(());
    };
    if role.is_dst() {
        return Ok(());
    }
    let element = |k: u64| match role {
        // Signed 8-bit results, scale 0.5 and up (fixpipe.md 3).
        Role::Fp => 1 << 46 | u64::from((0.5 + k as f32 / 1024.0).to_bits()),
        _ => ty.elem.encode_int(i128::from(k % 100), Overflow::Saturate),
    };
    let size = (ty.elem.bits() / 8) as usize;
    let elements: Vec<u8> = (0..rows * cols).flat_map(|k| element(k).to_le_bytes().into_iter().take(size)).collect();
    Ok(machine.write(tile, &elements)?)
}

/// A memcpy that reads and writes as many bytes as an instruction, over as many places.
#[derive(Debug)]
pub struct Memcpy {
    bytes: AlignedBytes,
    len: usize,
    ring: Vec<usize>,
}

impl Memcpy {
    /// Bytes to copy: half of what the instruction reads and writes, and their copies behind them.
    pub fn new(case: &Case) -> Self {
        let len = case.bytes / 2;
        let step = 2 * len.next_multiple_of(LINE);
        let ring: Vec<usize> = (0..turns(case)).map(|k| k * step).collect();
        let bytes = AlignedBytes::from(vec![1; ring.len() * step].as_slice());
        Memcpy { bytes, len, ring }
    }

    /// Copies every place once.
    pub fn lap(&mut self) {
        let half = self.len.next_multiple_of(LINE);
        for at in &self.ring {
            let place = self.bytes.get_mut(*at..at + half + self.len);
            if let Some((from, to)) = place.and_then(|p| p.split_at_mut_checked(half)) {
                let from = from.get(..self.len).unwrap_or(&[]);
                black_box(to).copy_from_slice(black_box(from));
            }
        }
    }
}
