//! Chains: instructions that go through the data together, a share of the rows at a time.
//!
//! One after the other, instructions on tiles that do not fit the first-level cache send every tile to the second level
//! and back. A chain is cut into *strips*, and each strip goes through all of its instructions before the next one begins.
//! That is the same work in another order, and it may be done where in two different strips no two instructions touch the
//! same byte, one of them writing.

use super::Engine;
use super::memory::Memories;
use crate::kernels::{Part, Side, run_parts};
use crate::lower::{Failure, Prepared};
use crate::nest::Place;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Instructions whose bytes wait for those of the next ones, and the chains that such became.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Where each is kept: its cache and its number there.
    list: SmallVec<[(usize, usize); MOST]>,
    key: Vec<u64>,
    chains: FxHashMap<Box<[u64]>, Chain>,
}

impl Waiting {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Nothing waits: an error came in between, and nobody will look.
    pub fn clear(&mut self) {
        self.list.clear();
    }
}

/// More instructions than this do not wait together.
const MOST: usize = 16;

/// So many chains are kept.
const CHAINS: usize = 256;

/// What a strip touches: it stays in the first-level cache with room for the rest of the world.
const STRIP: u64 = 24 << 10;

/// With less than this, calling the kernels is what takes the time.
const LEAST: u64 = 4 << 10;

/// An instruction that touches less has nothing to gain.
const WORTHWHILE: u64 = 64 << 10;

/// Groups of instructions, one after the other.
#[derive(Debug)]
struct Chain(Vec<Group>);

/// Instructions that go through the data together, in so many strips.
#[derive(Debug)]
struct Group {
    strips: u64,
    links: Vec<Link>,
}

/// An instruction: the first of its parts, and where its operands lie.
type Link = (Part, SmallVec<[Place; 8]>);

/// The bytes of an operand in the first strip, and how far on it is in the next one.
#[derive(Clone, Copy)]
struct Bytes {
    memory: usize,
    first: i64,
    end: i64,
    step: i64,
    is_written: bool,
}

impl Bytes {
    /// Do no two different strips of these touch the same byte?
    fn is_apart(&self, other: &Bytes, strips: i64) -> bool {
        let all = |b: &Bytes| (b.first, b.end.saturating_add(b.step.saturating_mul(strips - 1)));
        let ((first, end), (others, its_end)) = (all(self), all(other));
        let together = self.end.max(other.end) - self.first.min(other.first);
        self.memory != other.memory
            || end <= others
            || its_end <= first
            || (self.step == other.step && together <= self.step)
    }
}

/// What an instruction touches.
fn bytes((part, places): &Link) -> impl Iterator<Item = Option<Bytes>> + '_ {
    part.sides.iter().enumerate().map(|(n, side)| {
        let Side { operand, span, step } = *side;
        let place = places.get(usize::from(operand))?;
        let at = i64::try_from(place.at).ok()?;
        let (first, end) = (at.checked_add(span.0)?, at.checked_add(span.1)?);
        let is_forward = step >= 0;
        is_forward.then_some(Bytes { memory: place.memory.index(), first, end, step, is_written: n == 0 })
    })
}

impl Group {
    fn alone(link: Link) -> Group {
        Group { strips: 1, links: vec![link] }
    }

    /// Whole instructions as one group, if they can be.
    fn new(links: &[Link]) -> Option<Group> {
        let rounds = links.iter().map(|link| link.0.rounds).reduce(gcd)?;
        let bytes = distinct(links)?;
        let most = links.iter().map(|link| link.0.rounds / link.0.least).min()?.max(1);
        let mut shares = (1..=rounds.min(most)).filter(|n| rounds.is_multiple_of(*n));
        let strips = shares.clone().find(|n| bytes / n <= STRIP).or_else(|| shares.next_back())?;
        let first: Vec<Link> =
            links.iter().map(|(part, places)| Some((part.first_of(strips)?, places.clone()))).collect::<Option<_>>()?;
        let is_worth_it = strips == 1 || bytes / strips >= LEAST;
        (is_worth_it && are_apart(&first, strips)?).then_some(Group { strips, links: first })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// How many bytes instructions touch, those that begin at the same place once.
fn distinct(links: &[Link]) -> Option<u64> {
    let mut seen: Vec<(usize, i64)> = Vec::new();
    let mut sum = 0u64;
    for link in links {
        for b in bytes(link) {
            let b = b?;
            if !seen.contains(&(b.memory, b.first)) {
                seen.push((b.memory, b.first));
                sum = sum.saturating_add(b.end.abs_diff(b.first));
            }
        }
    }
    Some(sum)
}

/// May the strips of these, of which the first parts are given, go through all of them one after the other?
fn are_apart(first: &[Link], strips: u64) -> Option<bool> {
    let strips = i64::try_from(strips).ok()?;
    let mut before: Vec<Bytes> = Vec::new();
    for link in first {
        let own: SmallVec<[Bytes; 4]> = bytes(link).collect::<Option<_>>()?;
        let meets = |a: &Bytes, b: &Bytes| (a.is_written || b.is_written) && !a.is_apart(b, strips);
        if own.iter().any(|b| before.iter().any(|a| meets(a, b))) {
            return Some(false);
        }
        before.extend(own);
    }
    Some(true)
}

impl Chain {
    fn new(links: impl IntoIterator<Item = Link>) -> Chain {
        let mut groups: Vec<Group> = Vec::new();
        // The whole instructions of the last group.
        let mut open: Vec<Link> = Vec::new();
        for link in links {
            open.push(link.clone());
            match (Group::new(&open).filter(|_| open.len() > 1), groups.last_mut()) {
                (Some(group), Some(last)) => *last = group,
                _ => {
                    open = vec![link.clone()];
                    groups.push(Group::alone(link));
                }
            }
        }
        Chain(groups)
    }

    fn run(&self, memories: &mut Memories) -> Result<(), Failure> {
        for group in &self.0 {
            let done = run_parts(&group.links, group.strips, memories.list_mut());
            done.map_err(|e| Prepared::outside(&e, false))?;
        }
        Ok(())
    }
}

impl Engine {
    /// Lets the current variant of a cache wait, if its bytes can be moved later: what it does to defined bits is done. Tells
    /// whether it waits.
    pub(crate) fn defer(&mut self, cache: usize) -> Result<bool, Failure> {
        let Some((at, entry)) = self.caches.get_mut(cache).and_then(|c| c.current_mut()) else { return Ok(false) };
        // Small ones come along where something waits already.
        let least = if self.waiting.is_empty() { WORTHWHILE } else { 1 };
        let is_plain = entry.init.is_none();
        let Some(prepared) = entry.prepared.as_mut().filter(|p| p.shared >= least && is_plain) else {
            return Ok(false);
        };
        let Some(effect) = prepared.note(&mut self.memories) else { return Ok(false) };
        if effect.left_undefined {
            entry.undefined_at = self.issued;
        }
        self.waiting.list.push((cache, at));
        if self.waiting.list.len() == MOST {
            self.settle()?;
        }
        Ok(true)
    }

    /// Moves the bytes of all instructions that wait.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        let list = std::mem::take(&mut self.waiting.list);
        let (caches, memories) = (&self.caches, &mut self.memories);
        let prepared = |(cache, at): &(usize, usize)| caches.get(*cache)?.entries.get(*at)?.prepared.as_ref();
        if let [only] = list.as_slice() {
            return prepared(only).map_or(Ok(()), |p| p.move_bytes(memories));
        }
        let mut key = std::mem::take(&mut self.waiting.key);
        key.clear();
        for (cache, at) in &list {
            key.extend([*cache as u64, *at as u64, caches.get(*cache).map_or(0, |c| c.age)]);
        }
        if !self.waiting.chains.contains_key(key.as_slice()) {
            if self.waiting.chains.len() >= CHAINS {
                self.waiting.chains.clear();
            }
            let link = |p: &Prepared| Some((p.plan.part()?, p.places.clone()));
            let chain = Chain::new(list.iter().filter_map(|at| link(prepared(at)?)));
            self.waiting.chains.insert(key.as_slice().into(), chain);
        }
        let done = self.waiting.chains.get(key.as_slice()).map_or(Ok(()), |chain| chain.run(memories));
        self.waiting.key = key;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_isa::elem::Elem;
    use tessera_isa::inst::Inst;
    use tessera_isa::ops::{Form, Opcode, Role};
    use tessera_isa::profile::Profile;
    use tessera_isa::tile::{Loc, TileType};

    /// So many rows of f32 go further with each of these: add what lies at two addresses to a third.
    fn strips(rows: u64, adds: &[[i64; 3]]) -> Vec<(u64, usize)> {
        let mut engine = Engine::new(Profile::Cpu, true);
        let mut links = Vec::new();
        let tadd = Inst::new(Opcode::parse("tadd").unwrap(), Form::Plain, Profile::Cpu);
        for add in adds {
            let tiles = [Role::Src0, Role::Src1, Role::Dst].into_iter().zip(add).map(|(role, address)| {
                let tile = engine.tile(&TileType::new(Loc::Vec, Elem::F32, rows, 128)).unwrap();
                engine.assign(tile, *address).unwrap();
                (role, tile)
            });
            let tiles: Vec<_> = tiles.collect();
            engine.issue(&tadd, &tiles).unwrap();
            let prepared = engine.caches[0].current().and_then(|entry| entry.prepared.as_ref()).unwrap();
            links.push((prepared.plan.part().unwrap(), prepared.places.clone()));
        }
        Chain::new(links).0.iter().map(|group| (group.strips, group.links.len())).collect()
    }

    #[test]
    fn strips_stay_in_the_first_level_cache() {
        let (a, b, c) = (0, 64 << 10, 128 << 10);
        assert_eq!(strips(128, &[[a, b, c], [c, b, c], [c, a, c]]), [(8, 3)], "three tiles of 64 KiB");
        assert_eq!(strips(4, &[[a, b, c], [c, b, c]]), [(1, 2)], "as they are");
    }

    #[test]
    fn what_lies_across_strips_is_another_group() {
        let (a, b, c) = (0, 64 << 10, 128 << 10);
        // The second one reads rows that the first one has not written when it reads them.
        assert_eq!(strips(128, &[[a, a, b], [b + 512, b + 512, c + 512]]), [(1, 1), (1, 1)]);
        // The second one writes rows that the first one has yet to read.
        assert_eq!(strips(128, &[[a + 512, a + 512, c], [c, c, a]]), [(1, 1), (1, 1)]);
        // Reading twice is nothing.
        assert_eq!(strips(128, &[[a, a + 512, b + 512], [a + 512, a + 512, c + 512]]).len(), 1);
    }
}
