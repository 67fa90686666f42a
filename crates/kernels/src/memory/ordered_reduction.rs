//! Arrays that blocks on several threads only combine with: one block after the other, in increasing number (isa/structure.md 4).
//!
//! Nobody sees such an array before the end, so there is one for all threads. The lowest block that has not ended combines
//! where the array is: it is its *turn*. The others keep logs, which go into the array when their turn comes, or after they
//! have ended. A block that finds no more room for its log waits for its turn. Blocks begin in increasing number, so the
//! lowest one always runs, and never waits.

use super::Memory;
use super::combine_log::{CombineLog, CombineOp};
use super::{AlignedBytes, SharedBytes};
use crate::memory::ByteSet;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Whose turn it is.
#[derive(Debug)]
pub struct OrderedReduction {
    /// The lowest block that has not ended. It alone touches the arrays.
    lowest: AtomicU32,
    /// The bytes that all logs take, and how many they may take.
    logged: AtomicUsize,
    room: usize,
    /// What blocks left that ended, and whose turn has not come.
    ended: Mutex<BTreeMap<u32, Vec<Log>>>,
    changed: Condvar,
}

/// What is to be combined with an array.
pub type Log = (Arc<SharedBytes>, CombineLog);

/// A block that runs; when this goes, the block has ended.
#[derive(Debug)]
pub struct RunningBlock<'a> {
    turns: &'a OrderedReduction,
    block: u32,
    pub logs: Vec<Log>,
}

impl OrderedReduction {
    /// All logs together may take so many bytes.
    pub fn new(room: usize) -> Self {
        OrderedReduction {
            lowest: AtomicU32::new(0),
            logged: AtomicUsize::new(0),
            room,
            ended: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// A block begins; those before it have begun.
    pub fn begin(&self, block: u32) -> RunningBlock<'_> {
        RunningBlock { turns: self, block, logs: Vec::new() }
    }

    fn is_turn_of(&self, block: u32) -> bool {
        self.lowest.load(Ordering::Acquire) == block
    }

    /// Nothing that is locked is left half done.
    fn ended(&self) -> MutexGuard<'_, BTreeMap<u32, Vec<Log>>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_turn_of(&self, block: u32) {
        let mut ended = self.ended();
        while !self.is_turn_of(block) {
            ended = self.changed.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Has the block room for so many bytes more in its log? Then they are taken.
    fn takes(&self, bytes: usize) -> bool {
        let fits = |logged: usize| logged.checked_add(bytes).filter(|sum| *sum <= self.room);
        self.logged.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// Puts a log into its array, in the turn of the block that it is of.
    fn put(&self, (array, mut log): Log) {
        self.logged.fetch_sub(log.bytes(), Ordering::Relaxed);
        log.put(&mut array.lend());
    }
}

impl Drop for RunningBlock<'_> {
    fn drop(&mut self) {
        let mut ended = self.turns.ended();
        ended.insert(self.block, std::mem::take(&mut self.logs));
        // Whoever ends in its turn sees to all those that ended before their turn came.
        let mut lowest = self.turns.lowest.load(Ordering::Relaxed);
        while let Some(logs) = ended.remove(&lowest) {
            logs.into_iter().for_each(|log| self.turns.put(log));
            lowest += 1;
            self.turns.lowest.store(lowest, Ordering::Release);
        }
        self.turns.changed.notify_all();
    }
}

/// An array that blocks take turns with, as one thread has it.
#[derive(Clone, Debug)]
pub struct ReductionTurn {
    turns: Arc<OrderedReduction>,
    array: Arc<SharedBytes>,
    pub block: u32,
    log: CombineLog,
}

impl ReductionTurn {
    /// Combines fresh elements with the array, which is `bytes`, now or later.
    pub fn combine(&mut self, bytes: &mut AlignedBytes, how: &Arc<CombineOp>, at: usize, fresh: &mut [u8]) {
        if !self.turns.is_turn_of(self.block) {
            if self.turns.takes(how.log_bytes()) {
                return self.log.push(how, at, fresh);
            }
            self.turns.wait_for_turn_of(self.block);
        }
        if !self.log.is_empty() {
            self.turns.put((self.array.clone(), std::mem::take(&mut self.log)));
        }
        how.apply(bytes, at, fresh);
    }

    /// What the block leaves to be combined with the array.
    pub fn leave(&mut self) -> Option<Log> {
        (!self.log.is_empty()).then(|| (self.array.clone(), std::mem::take(&mut self.log)))
    }
}

impl Memory {
    /// The array of all blocks, for one that only combines with it.
    pub fn combining(array: &Arc<SharedBytes>, defined: &ByteSet, turns: &Arc<OrderedReduction>) -> Memory {
        let turn = ReductionTurn { turns: turns.clone(), array: array.clone(), block: 0, log: CombineLog::default() };
        let mut memory = Memory::reading(array, defined);
        memory.turn = Some(Box::new(turn));
        memory
    }

    /// What a block that ends leaves to be combined with the array of all.
    pub fn take_log(&mut self) -> Option<Log> {
        self.turn.as_mut()?.leave()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_isa::elem::Elem;
    use tessera_isa::sem::Func;

    fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = seed;
        move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        }
    }

    /// What a block adds: where, and what.
    fn additions(block: u32) -> Vec<(usize, f32)> {
        let mut next = numbers(u64::from(block));
        (0..20 + next(400)).map(|_| (next(16), 1.0 / (1 + next(1000)) as f32)).collect()
    }

    /// Blocks on threads, with and without room for logs, come to what they come to one after the other. Some have nothing to
    /// add, and now and then nobody takes any more, as after an error.
    #[test]
    fn blocks_take_turns_in_order() {
        let one = Arc::new(CombineOp::one(Func::Add, Elem::F32));
        for round in 0..120usize {
            let (threads, room, blocks) = (1 + round % 5, [0, 100, 3000, 1 << 20][round % 4], 1 + round as u32 % 13);
            let last = if round % 7 == 0 { blocks / 2 } else { blocks };
            let array = Arc::new(SharedBytes::new(AlignedBytes::zeroed(64)));
            let (turns, next) = (Arc::new(OrderedReduction::new(room)), AtomicU32::new(0));
            let defined = ByteSet::default();
            let work = || {
                let mut memory = Memory::combining(&array, &defined, &turns);
                loop {
                    let block = next.fetch_add(1, Ordering::Relaxed);
                    if block >= last {
                        return;
                    }
                    let mut begun = turns.begin(block);
                    memory.turn.iter_mut().for_each(|turn| turn.block = block);
                    for (at, number) in additions(block).into_iter().filter(|_| block % 5 != 3) {
                        memory.combine(&one, at * 4, &mut number.to_le_bytes());
                    }
                    begun.logs.extend(memory.take_log());
                }
            };
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
            let mut expected = [0f32; 16];
            for block in (0..last).filter(|block| block % 5 != 3) {
                additions(block).into_iter().for_each(|(at, number)| expected[at] += number);
            }
            let (bytes, _) = Arc::into_inner(array).unwrap().into_parts();
            assert_eq!(bytes[..], expected.map(f32::to_le_bytes).as_flattened()[..]);
            assert_eq!(turns.logged.load(Ordering::Relaxed), 0);
        }
    }
}
