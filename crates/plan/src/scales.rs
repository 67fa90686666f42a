//! Scales lie where hardware finds them: at a 16th of their operand's address (isa/matrix.md 3).
//!
//! An operand and its scales are placed as one: a block in the operand's memory that is large enough for both and alive
//! as long as one of them is. Blocks that share no byte there have scales that share none either.

use crate::binding::RootId;
use crate::life::Life;
use crate::place::Block;
use rustc_hash::FxHashMap;
use tessera_isa::sem::{SCALED_ALIGN, scale_address};
use tessera_isa::tile::Loc;

/// Scale bytes per operand byte, the other way round.
const RATIO: u64 = 16;

/// Larger groups are not made: every pair of tiles in one is compared.
const MAX: usize = 64;

/// Operands and scales that share an address, as positions of lives.
#[derive(Clone, Debug, Default)]
struct Group {
    operands: Vec<usize>,
    scales: Vec<usize>,
    /// The places of the operands, once they are known.
    addr: Option<u64>,
}

/// Every group, and what is in one.
#[derive(Debug, Default)]
pub struct Scales {
    groups: Vec<Group>,
    /// By life: its group, and whether it is a scale.
    of: FxHashMap<usize, (usize, bool)>,
}

impl Scales {
    /// Groups lives by the pairs (operand, scale) that the program uses together. Tiles that are alive at once cannot
    /// share an address, and tiles of other memories are no pair of hardware's: both are left to the rules.
    pub fn new(lives: &[Life], pairs: &[(RootId, RootId)]) -> Scales {
        let mut all = Scales::default();
        let positions: FxHashMap<RootId, usize> = lives.iter().enumerate().map(|(n, l)| (l.root, n)).collect();
        let mut pairs: Vec<(RootId, RootId)> = pairs.to_vec();
        pairs.sort_unstable();
        pairs.dedup();
        for (operand, scale) in pairs {
            if let (Some(operand), Some(scale)) = (positions.get(&operand), positions.get(&scale))
                && scale_memory(lives[*operand].loc) == Some(lives[*scale].loc)
            {
                all.join(lives, *operand, *scale);
            }
        }
        all
    }

    fn join(&mut self, lives: &[Life], operand: usize, scale: usize) {
        let mine = |all: &Self, n: usize| all.of.get(&n).map(|(group, _)| *group);
        let (a, b) = (mine(self, operand), mine(self, scale));
        let of = |all: &Self, group: Option<usize>| group.and_then(|g| all.groups.get(g)).cloned().unwrap_or_default();
        if a.is_some() && a == b {
            return;
        }
        let (mut joined, other) = (of(self, a), of(self, b));
        joined.operands.extend(other.operands);
        joined.scales.extend(other.scales);
        joined.operands.extend(a.is_none().then_some(operand));
        joined.scales.extend(b.is_none().then_some(scale));
        let apart = |list: &[usize]| {
            list.iter().enumerate().all(|(k, n)| {
                list.iter().skip(k + 1).all(|m| lives[*n].end < lives[*m].start || lives[*m].end < lives[*n].start)
            })
        };
        let mut said = joined.operands.iter().map(|n| lives[*n].manual.map(|(_, addr)| addr));
        let mut said: Vec<Option<u64>> = said.by_ref().flatten().collect();
        said.extend(
            joined
                .scales
                .iter()
                .filter_map(|n| lives[*n].manual.map(|(_, addr)| addr.map(|a| a.saturating_mul(RATIO)))),
        );
        let agrees = said.iter().all(|addr| addr.is_some() && *addr == said[0]);
        let is_large = joined.operands.len() + joined.scales.len() > MAX;
        if is_large || !apart(&joined.operands) || !apart(&joined.scales) || !agrees {
            return;
        }
        joined.addr = said.first().copied().flatten();
        let at = self.groups.len();
        self.of.extend(joined.operands.iter().map(|n| (*n, (at, false))));
        self.of.extend(joined.scales.iter().map(|n| (*n, (at, true))));
        self.groups.push(joined);
    }

    /// The alignment of a memory: operands lie so that their scales are aligned.
    pub fn align(&self, lives: &[Life], loc: Loc) -> u64 {
        let scaled = self.of.iter().any(|(n, (_, is_scale))| !is_scale && lives[*n].loc == loc);
        if scaled { SCALED_ALIGN } else { loc.align() }
    }

    /// The place of a live range, once it is known.
    pub fn addr(&self, life: usize) -> Option<u64> {
        let (group, is_scale) = self.of.get(&life)?;
        let addr = self.groups.get(*group)?.addr?;
        Some(if *is_scale { scale_address(addr) } else { addr })
    }

    /// The block that stands for a group, if this life is the first operand of one.
    pub fn block(&self, lives: &[Life], life: usize) -> Option<Block> {
        let group = self.groups.get(self.of.get(&life)?.0)?;
        let all = || group.operands.iter().chain(&group.scales).map(|n| &lives[*n]);
        let operand = group.operands.iter().map(|n| lives[*n].bytes).max()?;
        let scale = group.scales.iter().map(|n| lives[*n].bytes).max()?;
        Some(Block {
            bytes: operand.max(scale.saturating_mul(RATIO)).checked_next_multiple_of(SCALED_ALIGN).unwrap_or(u64::MAX),
            start: all().map(|l| l.start).min()?,
            end: all().map(|l| l.end).max()?,
        })
    }

    /// Whether it is in a group that another live range represents.
    pub fn follows(&self, life: usize) -> bool {
        let Some((group, is_scale)) = self.of.get(&life) else { return false };
        *is_scale || self.groups.get(*group).and_then(|g| g.operands.first()) != Some(&life)
    }

    /// A group's operands lie here.
    pub fn place(&mut self, life: usize, addr: u64) {
        if let Some((group, _)) = self.of.get(&life)
            && let Some(group) = self.groups.get_mut(*group)
        {
            group.addr = Some(addr);
        }
    }

    /// Whether a memory holds operands that have scales.
    fn has_operands(&self, lives: &[Life], loc: Loc) -> bool {
        self.of.iter().any(|(n, (_, is_scale))| !is_scale && lives[*n].loc == loc)
    }
}

/// The memory where hardware finds the scales of operands in a memory.
fn scale_memory(operand: Loc) -> Option<Loc> {
    match operand {
        Loc::Left => Some(Loc::ScaleLeft),
        Loc::Right => Some(Loc::ScaleRight),
        _ => None,
    }
}

/// Bytes of a memory that automatic tiles stay away from: scales at known addresses, and what they belong to.
pub fn taken(scales: &Scales, lives: &[Life], loc: Loc) -> Vec<(u64, u64)> {
    let known = (0..lives.len()).filter_map(|n| Some((&lives[n], scales.addr(n)?)));
    let mut all: Vec<(u64, u64)> =
        known.filter(|(l, _)| l.loc == loc).map(|(l, addr)| (addr, addr.saturating_add(l.bytes))).collect();
    if let Some(of) = scale_memory(loc).filter(|_| scales.has_operands(lives, loc)) {
        let manual = lives.iter().filter(|l| l.loc == of).filter_map(|l| Some((l.manual?.1?, l.bytes)));
        all.extend(manual.map(|(addr, bytes)| {
            let from = addr.saturating_mul(RATIO);
            (from, from.saturating_add(bytes.saturating_mul(RATIO)))
        }));
    }
    all
}
