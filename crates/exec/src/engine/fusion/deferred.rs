//! Instructions that wait to be run together with those that follow.

use super::FusionPlan;
use crate::engine::Engine;
use crate::lower::Effect;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_kernels::memory::AlignedBytes;
use tessera_kernels::{Failure, FusedOp};

/// Instructions whose bytes wait for those of the next ones, and the chains that such became.
#[derive(Debug, Default)]
pub struct DeferredQueue {
    list: Vec<DeferredInst>,
    key: Vec<u64>,
    /// None of instructions that came together once.
    chains: FxHashMap<Box<[u64]>, Option<FusionPlan>>,
    /// The bytes that all of them touch.
    bytes: u64,
    /// Storage for strips of tiles that are dead after the chain.
    scratch: AlignedBytes,
}

/// An instruction that waits.
#[derive(Clone, Copy, Debug)]
struct DeferredInst {
    /// Its location: its cache and its number there.
    cache: usize,
    at: usize,
    /// By tile operand, a bit each: the operand is dead after this instruction.
    dead: u32,
}

impl DeferredQueue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Empties the queue without running it: an error came in between, and the results are not read.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes = 0;
    }
}

/// More instructions than this do not wait together.
const MOST: usize = 24;

/// The number of chains that are kept.
const CHAINS: usize = 256;

/// Instructions that touch so much each are worth a chain the first time.
const LARGE: u64 = 1 << 20;

/// An instruction that touches less has nothing to gain.
const WORTHWHILE: u64 = 64 << 10;

impl Engine {
    /// Lets the current variant of a cache wait, if its bytes can be moved later; its effect on defined bits is
    /// applied at once. Its view starts at byte `start` of its buffer, and the tile operands of `dead` (a bit each)
    /// are dead after it. Returns whether it waits.
    pub fn defer(&mut self, cache: usize, start: usize, dead: u32) -> Result<bool, Failure> {
        let Some((at, entry)) = self.caches.get_mut(cache).and_then(|c| c.current_mut()) else { return Ok(false) };
        // Small ones come along where something waits already.
        let least = if self.waiting.is_empty() { WORTHWHILE } else { 1 };
        let is_plain = entry.init.is_none();
        let Some(compiled) = entry.compiled.as_mut().filter(|p| p.shared >= least && is_plain) else {
            return Ok(false);
        };
        let Some(effect) = compiled.note(&mut self.memories, start) else { return Ok(false) };
        if effect.has(Effect::LEFT_UNDEFINED) {
            entry.undefined_at = self.issued;
        }
        self.waiting.bytes = self.waiting.bytes.saturating_add(compiled.shared);
        self.waiting.list.push(DeferredInst { cache, at, dead });
        if self.waiting.list.len() == MOST {
            self.settle()?;
        }
        Ok(true)
    }

    /// Moves the bytes of all instructions that wait.
    pub fn settle(&mut self) -> Result<(), Failure> {
        let mut list = std::mem::take(&mut self.waiting.list);
        let done = self.settle_all(&list);
        list.clear();
        self.waiting.list = list;
        done
    }

    fn settle_all(&mut self, list: &[DeferredInst]) -> Result<(), Failure> {
        let touched = std::mem::take(&mut self.waiting.bytes);
        let (caches, memories) = (&self.caches, &mut self.memories);
        let compiled = |w: &DeferredInst| caches.get(w.cache)?.entries.get(w.at)?.compiled.as_ref();
        if let [only] = list {
            return compiled(only).map_or(Ok(()), |p| p.move_bytes(memories));
        }
        let view = |n: usize| compiled(list.get(n)?)?.view();
        let mut key = std::mem::take(&mut self.waiting.key);
        key.clear();
        for (n, w) in list.iter().enumerate() {
            key.extend([w.cache as u64, w.at as u64, caches.get(w.cache).map_or(0, |c| c.age)]);
            // Views of one buffer may lie anywhere while they lie the same way to each other.
            if let Some(place) = view(n)
                && let Some(first) = (0..n).filter_map(view).find(|other| other.memory == place.memory)
            {
                key.push(place.at.wrapping_sub(first.at) as u64);
            }
        }
        let DeferredQueue { chains, scratch, .. } = &mut self.waiting;
        if chains.len() >= CHAINS {
            chains.clear();
        }
        let is_large = touched / list.len() as u64 >= LARGE;
        let done = match chains.get_mut(key.as_slice()) {
            Some(Some(chain)) => chain.run(memories, scratch, view),
            // The first occurrence of a sequence runs without a chain.
            None if !is_large => {
                chains.insert(key.as_slice().into(), None);
                list.iter().filter_map(compiled).try_for_each(|p| p.move_bytes(memories))
            }
            _ => {
                let link = |w: &DeferredInst| {
                    let p = compiled(w)?;
                    Some(FusedOp::new(p.plan.part()?, p.places.clone()))
                };
                let dead: SmallVec<[u32; MOST]> = list.iter().map(|w| w.dead).collect();
                let chain = FusionPlan::new(list.iter().filter_map(link).collect(), &dead);
                chains.entry(key.as_slice().into()).or_default().insert(chain).run(memories, scratch, view)
            }
        };
        self.waiting.key = key;
        done
    }
}
