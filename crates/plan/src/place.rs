//! Addresses: lives in, addresses out, one memory at a time.
//!
//! First the blocks are placed in program order, each into the smallest hole that takes it, which is near linear and
//! almost always ends at the bytes that are alive anyway. Where it overflows although the living bytes fit, each stretch
//! of the program between two points without any living tile is placed again, offline, in better orders.

use crate::flow::Manual;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// Unlimited memory ends here, so that sums stay in range.
const UNLIMITED: u64 = 1 << 62;

/// Stretches with more blocks than this are not placed again: the offline orders compare every pair.
const MAX_OFFLINE: usize = 20_000;

/// Bytes for a time. Sizes are multiples of the alignment, so every address is.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub bytes: u64,
    pub start: u32,
    /// The last position, itself included.
    pub end: u32,
}

/// The room that automatic tiles may use.
#[derive(Clone, Debug)]
pub struct Space {
    holes: Vec<(u64, u64)>,
    manual_limit: u64,
}

impl Space {
    /// A memory without its reserved end and without the bytes of manual tiles.
    /// `kept` is left to others, too.
    pub fn new(
        profile: Profile,
        (loc, align): (Loc, u64),
        manual: &[Manual],
        kept: Vec<(u64, u64)>,
        computed: bool,
    ) -> Self {
        // A location that the profile lacks has its own error, `tile-loc`.
        let limit = profile.memory(loc).and_then(|m| m.room()).unwrap_or(UNLIMITED);
        let slots = manual.iter().map(|m| m.slot).filter(|slot| slot.loc == loc);
        let mut taken: Vec<(u64, u64)> = slots.map(|slot| (slot.addr, slot.limit())).collect();
        let manual_limit = taken.iter().fold(0, |limit, t| limit.max(t.1));
        taken.extend(kept);
        taken.sort_unstable();
        let mut holes = Vec::new();
        let mut at = 0;
        if computed {
            taken.insert(0, (0, manual_limit));
        }
        for (from, to) in taken {
            let from = from / align * align;
            if from.min(limit) > at {
                holes.push((at, from.min(limit)));
            }
            at = at.max(to.checked_next_multiple_of(align).unwrap_or(u64::MAX));
        }
        if at < limit {
            holes.push((at, limit));
        }
        Space { holes, manual_limit }
    }

    /// Bytes that automatic tiles may use.
    pub fn bytes(&self) -> u64 {
        self.holes.iter().map(|(from, to)| to - from).sum()
    }

    /// One past the last byte of a manual tile.
    pub fn manual_limit(&self) -> u64 {
        self.manual_limit
    }
}

/// The most bytes alive at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    pub bytes: u64,
    /// The first position where they are alive.
    pub at: u32,
}

impl Block {
    /// The length of its live range.
    fn life(&self) -> u64 {
        u64::from(self.end.saturating_sub(self.start)) + 1
    }
}

/// Why blocks do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// More bytes are alive than there are.
    Alive(Peak),
    /// The living bytes fit, but no order that was tried places them without gaps; this position would be too high.
    Scattered(Peak),
}

/// The most bytes alive at one point.
pub fn peak(blocks: &[Block]) -> Peak {
    let mut ending: BinaryHeap<Reverse<(u32, u64)>> = BinaryHeap::new();
    let (mut now, mut best) = (0u64, Peak::default());
    for i in by_start(blocks) {
        let b = &blocks[i];
        while let Some(Reverse((end, bytes))) = ending.peek().copied()
            && end < b.start
        {
            ending.pop();
            now = now.saturating_sub(bytes);
        }
        now = now.saturating_add(b.bytes);
        ending.push(Reverse((b.end, b.bytes)));
        if now > best.bytes {
            best = Peak { bytes: now, at: b.start };
        }
    }
    best
}

fn by_start(blocks: &[Block]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    // Of those that begin together the long ones first: they are what the others must fit around.
    order.sort_by_key(|i| (blocks[*i].start, Reverse(blocks[*i].end), Reverse(blocks[*i].bytes)));
    order
}

/// Places every block; the addresses are in the order of the blocks.
pub fn place(blocks: &[Block], space: &Space) -> Result<Vec<u64>, Overflow> {
    let order = by_start(blocks);
    if let Some(addrs) = best_fit(blocks, &order, space) {
        return Ok(addrs);
    }
    let peak = peak(blocks);
    if peak.bytes > space.bytes() {
        return Err(Overflow::Alive(peak));
    }
    let mut addrs = vec![0; blocks.len()];
    for stretch in stretches(blocks, &order) {
        let part: Vec<Block> = stretch.iter().map(|i| blocks[*i]).collect();
        let placed = best_fit(&part, &by_start(&part), space)
            .or_else(|| offline(&part, space, &|_, _| true))
            .ok_or(Overflow::Scattered(self::peak(&part)))?;
        for (i, addr) in stretch.iter().zip(placed) {
            addrs[*i] = addr;
        }
    }
    Ok(addrs)
}

/// Places every block; two of them share bytes only where their lives do not meet and `may_share` lets them.
pub fn place_where(
    blocks: &[Block],
    space: &Space,
    may_share: &dyn Fn(usize, usize) -> bool,
) -> Result<Vec<u64>, Overflow> {
    offline(blocks, space, may_share).ok_or_else(|| {
        let peak = peak(blocks);
        if peak.bytes > space.bytes() { Overflow::Alive(peak) } else { Overflow::Scattered(peak) }
    })
}

/// Holes by address and by size.
struct Holes {
    by_addr: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
}

impl Holes {
    fn add(&mut self, from: u64, bytes: u64) {
        self.by_addr.insert(from, bytes);
        self.by_size.insert((bytes, from));
    }

    fn remove(&mut self, from: u64, bytes: u64) {
        self.by_addr.remove(&from);
        self.by_size.remove(&(bytes, from));
    }

    /// The start of the smallest hole that takes the bytes.
    fn take(&mut self, bytes: u64) -> Option<u64> {
        let (size, from) = self.by_size.range((bytes, 0)..).next().copied()?;
        self.remove(from, size);
        if size > bytes {
            self.add(from + bytes, size - bytes);
        }
        Some(from)
    }

    /// Gives bytes back and joins them with the holes beside them.
    fn give(&mut self, mut from: u64, mut bytes: u64) {
        let before = self.by_addr.range(..from).next_back().map(|(a, s)| (*a, *s));
        if let Some((addr, size)) = before.filter(|(a, s)| a + s == from) {
            self.remove(addr, size);
            (from, bytes) = (addr, size + bytes);
        }
        if let Some(size) = self.by_addr.get(&(from + bytes)).copied() {
            self.remove(from + bytes, size);
            bytes += size;
        }
        self.add(from, bytes);
    }
}

/// Program order, smallest hole first.
fn best_fit(blocks: &[Block], order: &[usize], space: &Space) -> Option<Vec<u64>> {
    let mut holes = Holes { by_addr: BTreeMap::new(), by_size: BTreeSet::new() };
    space.holes.iter().for_each(|(from, to)| holes.add(*from, to - from));
    let mut ending: BinaryHeap<Reverse<(u32, u64, u64)>> = BinaryHeap::new();
    let mut addrs = vec![0; blocks.len()];
    for i in order {
        let b = &blocks[*i];
        // A tile that this operation uses last is still alive in it.
        while let Some(Reverse((end, addr, bytes))) = ending.peek().copied()
            && end < b.start
        {
            ending.pop();
            holes.give(addr, bytes);
        }
        let addr = holes.take(b.bytes)?;
        ending.push(Reverse((b.end, addr, b.bytes)));
        addrs[*i] = addr;
    }
    Some(addrs)
}

/// Parts of the program that share no living block, as positions of blocks.
fn stretches(blocks: &[Block], order: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut until = None;
    for i in order {
        match all.last_mut() {
            Some(last) if until >= Some(blocks[*i].start) => last.push(*i),
            _ => all.push(vec![*i]),
        }
        until = until.max(Some(blocks[*i].end));
    }
    all
}

/// Places blocks in orders that look at the whole stretch: each at the lowest address that is free for all its life.
fn offline(blocks: &[Block], space: &Space, may_share: &dyn Fn(usize, usize) -> bool) -> Option<Vec<u64>> {
    if blocks.len() > MAX_OFFLINE {
        return None;
    }
    let keys = [
        |b: &Block| (b.bytes, b.life()),
        |b: &Block| (b.life(), b.bytes),
        |b: &Block| (b.bytes.saturating_mul(b.life()), b.bytes),
        |b: &Block| (u64::from(u32::MAX - b.start), b.bytes),
    ];
    keys.into_iter().find_map(|key| {
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|i| Reverse(key(&blocks[*i])));
        lowest_fit(blocks, &order, space, may_share)
    })
}

fn lowest_fit(
    blocks: &[Block],
    order: &[usize],
    space: &Space,
    may_share: &dyn Fn(usize, usize) -> bool,
) -> Option<Vec<u64>> {
    let mut addrs = vec![0; blocks.len()];
    // Placed blocks by address: a block goes into the first gap between those that are alive with it.
    let mut placed: BTreeSet<(u64, usize)> = BTreeSet::new();
    for i in order {
        let b = &blocks[*i];
        let mut holes = space.holes.iter();
        let mut hole = *holes.next()?;
        let mut at = hole.0;
        for (addr, other) in &placed {
            let o = &blocks[*other];
            let apart = o.end < b.start || b.end < o.start;
            if addr + o.bytes <= at || apart && may_share(*i, *other) {
                continue;
            }
            while at + b.bytes > hole.1 {
                hole = *holes.next()?;
                at = at.max(hole.0);
            }
            if at + b.bytes <= *addr {
                break;
            }
            at = at.max(addr + o.bytes);
        }
        while at + b.bytes > hole.1 {
            hole = *holes.next()?;
            at = at.max(hole.0);
        }
        placed.insert((at, *i));
        addrs[*i] = at;
    }
    Some(addrs)
}
