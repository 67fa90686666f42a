//! What instructions cost (isa/cost.md): estimates in cycles, for reports. No result, order or legality depends on
//! them; an instruction without a figure has an unknown cost, and cpu has none.

mod table;

pub use table::PUBLISHED;

use crate::elem::Elem;
use crate::inst::{Inst, TileArg};
use crate::ops::{Effect, Opcode, Pipe};
use crate::profile::Profile;
use crate::sem::{Axis, Sem, ceil_to};
use crate::tile::Loc;
use std::borrow::Cow;

/// The element types that a figure is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    All,
    Floats,
    Integers,
    Type(Elem),
}

impl Of {
    /// Is the type one of them?
    pub fn has(self, elem: Elem) -> bool {
        match self {
            Of::All => true,
            Of::Floats => elem.is_float(),
            Of::Integers => !elem.is_float(),
            Of::Type(one) => one == elem,
        }
    }
}

/// A number of cycles, by element type; a type that none is for has no figure.
pub type Figure = Cow<'static, [(Of, u32)]>;

/// How long `n` repeats take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timing {
    /// `startup + completion + n · per_repeat + (n - 1) · interval`.
    Startup { startup: u32, completion: Figure, per_repeat: Figure, interval: u32 },
    /// `latency + (n - 1) · per_repeat`.
    Latency { latency: Figure, per_repeat: Figure },
}

/// The cost of some vector instructions on a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    pub on: Profile,
    pub ops: Cow<'static, [Opcode]>,
    /// Is it printed for the instruction, and not only for its class?
    pub published: bool,
    /// What one repeat is.
    pub repeat_bytes: u32,
    /// How long it takes; of a reduction each step (isa/cost.md 2).
    pub timing: Timing,
}

/// How fast a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub on: Profile,
    /// Where the bytes come from and go to; none is global memory.
    pub from: Option<Loc>,
    pub to: Option<Loc>,
    pub ops: Cow<'static, [Opcode]>,
    pub bytes_per_cycle: u32,
}

/// The cost of matrix products.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cube {
    pub on: Profile,
    pub ops: Cow<'static, [Opcode]>,
    pub startup: u32,
    /// Rows and columns of a fractal.
    pub fractal: [u32; 2],
    /// Its depth, in bytes of the left operand.
    pub k_bytes: u32,
    /// By the left operand's type.
    pub per_fractal: Figure,
}

/// All figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    pub vector: Cow<'static, [Cost]>,
    pub transfers: Cow<'static, [Transfer]>,
    pub cubes: Cow<'static, [Cube]>,
}

/// The published cost of a vector instruction on a profile, where there is one.
pub fn cost(op: Opcode, profile: Profile) -> Option<&'static Cost> {
    PUBLISHED.vector.iter().find(|c| c.on == profile && c.ops.contains(&op))
}

/// The number of a figure for a type.
pub fn figure(figure: &[(Of, u32)], elem: Elem) -> Option<u64> {
    figure.iter().find(|(of, _)| of.has(elem)).map(|(_, n)| (*n).into())
}

impl Timing {
    /// Cycles of so many repeats on elements of a type, where that is known; nothing to do costs nothing.
    pub fn cycles(&self, elem: Elem, repeats: u64) -> Option<u64> {
        match self {
            _ if repeats == 0 => Some(0),
            Timing::Startup { startup, .. } => Some(self.step(elem, repeats)?.saturating_add((*startup).into())),
            Timing::Latency { .. } => self.step(elem, repeats),
        }
    }

    /// Cycles of one step of a chain: all but the startup, which there is once.
    fn step(&self, elem: Elem, repeats: u64) -> Option<u64> {
        let between = repeats.saturating_sub(1);
        Some(match self {
            Timing::Startup { completion, per_repeat, interval, .. } => figure(completion, elem)?
                .saturating_add(repeats.saturating_mul(figure(per_repeat, elem)?))
                .saturating_add(between.saturating_mul((*interval).into())),
            Timing::Latency { latency, per_repeat } => {
                figure(latency, elem)?.saturating_add(between.saturating_mul(figure(per_repeat, elem)?))
            }
        })
    }
}

/// The chains of row reductions in which an addition of whole repeats replaces some steps: f32 on a2a3 (isa/cost.md 2).
const CHAINS: &[([u64; 2], &[u64])] = &[
    ([64, 128], &[128, 8, 8]),
    ([32, 256], &[128, 8, 4, 4]),
    ([16, 512], &[128, 16, 2]),
    ([8, 1024], &[128, 16, 8, 8]),
];

/// One 32-byte block becomes one value in a step of a row reduction.
const BLOCK_BITS: u64 = 256;

impl Costs {
    /// Cycles of an instruction, where they are known and its values are.
    pub fn cycles(&self, inst: &Inst) -> Option<u64> {
        self.transfer(inst).or_else(|| self.product(inst)).or_else(|| self.computed(inst))
    }

    /// A move: the bytes of the valid region, 32 to a block of each row (isa/cost.md 3).
    fn transfer(&self, inst: &Inst) -> Option<u64> {
        let (src, dst) = (inst.src(), inst.dst());
        let ends = (src.map(|t| t.tile.loc), dst.map(|t| t.tile.loc));
        let is_path = |t: &&Transfer| t.on == inst.profile && t.ops.contains(&inst.op) && (t.from, t.to) == ends;
        let found = self.transfers.iter().find(is_path)?;
        let tile = dst.or(src)?;
        let [rows, cols] = valid(tile)?;
        let bytes = rows.saturating_mul(ceil_to(tile.tile.elem.bytes_of(cols), 32));
        Some(bytes.div_ceil(u64::from(found.bytes_per_cycle).max(1)))
    }

    /// A matrix product: fractals, each with its depth (isa/cost.md 3).
    fn product(&self, inst: &Inst) -> Option<u64> {
        let found = self.cubes.iter().find(|c| c.on == inst.profile && c.ops.contains(&inst.op))?;
        let side = |loc: Loc| inst.tiles.iter().find(|t| t.tile.loc == loc);
        let (left, right) = (side(Loc::Left)?, side(Loc::Right)?);
        let ([m, k], [_, n]) = (valid(left)?, valid(right)?);
        if m == 0 || n == 0 || k == 0 {
            return Some(0);
        }
        let elem = left.tile.elem;
        let depth = (u64::from(found.k_bytes) * 8 / u64::from(elem.bits())).max(1);
        let [rows, cols] = found.fractal.map(|n| u64::from(n).max(1));
        let fractals = m.div_ceil(rows).saturating_mul(n.div_ceil(cols)).saturating_mul(k.div_ceil(depth));
        let cycles = fractals.saturating_mul(figure(&found.per_fractal, elem)?);
        Some(cycles.saturating_add(found.startup.into()))
    }

    /// A vector instruction: repeats over its domain (isa/cost.md 1 and 2).
    fn computed(&self, inst: &Inst) -> Option<u64> {
        let found = self.vector.iter().find(|c| c.on == inst.profile && c.ops.contains(&inst.op))?;
        let judged = inst.tiles.iter().map(|t| (t.role, t.tile));
        if inst.op.pipe(inst.form, inst.profile, judged) != Pipe::V {
            return None;
        }
        let src = inst.src().or_else(|| inst.dst())?;
        let elem = src.tile.elem;
        // "f32 to f16; other pairs are not published" (isa/cost.toml).
        if inst.op == Opcode::Tcvt && elem == Elem::F32 && inst.dst()?.tile.elem != Elem::F16 {
            return None;
        }
        let Cost { timing, repeat_bytes, .. } = found;
        let repeat_bits = u64::from(*repeat_bytes).max(1).saturating_mul(8);
        match inst.op.info().sem {
            Sem::Fold { each: Axis::Row, .. } => reduced(timing, inst.profile, src, repeat_bits),
            Sem::Fold { each: Axis::Col, .. } => {
                let [rows, cols] = valid(src)?;
                let one = cols.saturating_mul(elem.bits().into()).div_ceil(repeat_bits);
                Some(timing.cycles(elem, one)?.saturating_mul(rows.saturating_sub(1)))
            }
            _ => {
                let counts = |t: &&TileArg| {
                    !matches!(inst.op.effect(inst.form, t.role), Effect::Scratch | Effect::Unused | Effect::View)
                };
                let (mut dense, mut bits) = (true, 0);
                for tile in inst.tiles.iter().filter(counts) {
                    dense &= valid(tile)?[1] == tile.tile.cols;
                    bits = bits.max(u64::from(tile.tile.elem.bits()));
                }
                let domain = valid(inst.dst().unwrap_or(src))?;
                timing.cycles(elem, repeats(domain, dense, bits, repeat_bits))
            }
        }
    }
}

/// A row reduction: every step takes each block to one value, until a row is one (isa/cost.md 2).
fn reduced(timing: &Timing, profile: Profile, src: &TileArg, repeat_bits: u64) -> Option<u64> {
    let [rows, mut cols] = valid(src)?;
    if rows == 0 || cols == 0 {
        return Some(0);
    }
    let (elem, dense) = (src.tile.elem, cols == src.tile.cols);
    let published = CHAINS.iter().find(|c| c.0 == [rows, cols]);
    let chain = published.filter(|_| dense && profile == Profile::A2a3 && elem == Elem::F32);
    let mut cycles = if let Timing::Startup { startup, .. } = timing { u64::from(*startup) } else { 0 };
    if let Some((_, steps)) = chain {
        for step in *steps {
            cycles += timing.step(elem, *step)?;
        }
        return Some(cycles);
    }
    let bits = u64::from(elem.bits());
    let block = (BLOCK_BITS / bits).max(2);
    loop {
        cycles = cycles.saturating_add(timing.step(elem, repeats([rows, cols], dense, bits, repeat_bits))?);
        cols = cols.div_ceil(block);
        if cols == 1 {
            return Some(cycles);
        }
    }
}

/// How often the unit runs over a region: all of it in one piece, or row by row where rows are not full.
fn repeats([rows, cols]: [u64; 2], dense: bool, bits: u64, repeat_bits: u64) -> u64 {
    match dense {
        true => rows.saturating_mul(cols).saturating_mul(bits).div_ceil(repeat_bits),
        false => rows.saturating_mul(cols.saturating_mul(bits).div_ceil(repeat_bits)),
    }
}

fn valid(arg: &TileArg) -> Option<[u64; 2]> {
    Some([arg.valid[0]?, arg.valid[1]?])
}
