//! Instructions made ready, kept for the next time.

use crate::lower::{CompiledInst, Effect};
use rustc_hash::FxHashMap;
use tessera_isa::diag::Diagnostic;
use tessera_kernels::Failure;
use tessera_kernels::memory::Memories;

/// An instruction made ready for certain operands.
#[derive(Debug)]
pub struct Entry {
    pub key: Box<[u64]>,
    /// Copies the old contents into the result.
    pub init: Option<CompiledInst>,
    /// What the instruction moves; nothing for one that only binds.
    pub prepared: Option<CompiledInst>,
    /// What the rules have against it, though it is legal.
    pub warnings: Vec<Diagnostic>,
    /// When it last left something undefined.
    pub undefined_at: u64,
}

impl Entry {
    /// The warning of the last run about the contents of operands.
    pub fn warning(&self) -> Option<&Diagnostic> {
        self.prepared.as_ref()?.warning.as_deref()
    }
}

/// Variants of instructions, by everything that they depend on.
#[derive(Debug)]
pub struct Cache {
    pub entries: Vec<Entry>,
    /// When the current variant was chosen, in the engine's count.
    pub epoch: u64,
    /// More variants than this are not kept.
    most: usize,
    /// How often they were all given up.
    pub age: u64,
    last: usize,
    /// By variant, the one that was asked for after it: loops ask for them in the same order again and again.
    next: Vec<usize>,
    by_key: FxHashMap<Box<[u64]>, usize>,
}

impl Cache {
    pub fn new(most: usize) -> Self {
        Cache { entries: Vec::new(), epoch: 0, most, age: 0, last: 0, next: Vec::new(), by_key: FxHashMap::default() }
    }

    /// Makes the variant with this key the current one, if there is one.
    #[inline]
    pub fn find(&mut self, key: &[u64]) -> bool {
        let is = |n: usize| self.entries.get(n).is_some_and(|e| is_same(&e.key, key));
        let expected = self.next.get(self.last).copied().unwrap_or(0);
        if let Some(at) = [expected, self.last].into_iter().find(|n| is(*n)) {
            self.last = at;
            return true;
        }
        let known = self.by_key.get(key).copied();
        known.inspect(|at| self.follow(*at)).is_some()
    }

    /// Makes another variant the current one, and expects it after this one from now on.
    fn follow(&mut self, at: usize) {
        if let Some(next) = self.next.get_mut(self.last) {
            *next = at;
        }
        self.last = at;
    }

    pub fn current(&self) -> Option<&Entry> {
        self.entries.get(self.last)
    }

    /// The current variant, its number, and the age in which the number means it.
    pub fn current_at(&self) -> Option<(usize, &Entry, u64)> {
        Some((self.last, self.current()?, self.age))
    }

    /// The same, to be changed.
    #[inline]
    pub fn current_mut(&mut self) -> Option<(usize, &mut Entry)> {
        Some((self.last, self.entries.get_mut(self.last)?))
    }

    /// Makes the variant with this number of this age the current one, if it is there still.
    #[inline]
    pub fn choose(&mut self, at: usize, age: u64) -> bool {
        let is_there = age == self.age && at < self.entries.len();
        if is_there {
            self.last = at;
        }
        is_there
    }

    pub fn insert(&mut self, entry: Entry) {
        if self.entries.len() >= self.most {
            self.entries.clear();
            self.by_key.clear();
            self.next.clear();
            self.age += 1;
        }
        self.follow(self.entries.len());
        self.by_key.insert(entry.key.clone(), self.last);
        self.next.push(0);
        self.entries.push(entry);
    }

    /// What the current variant touches of its buffer, relative to the view's first byte.
    pub fn global_span(&self) -> Option<(i64, i64)> {
        self.current()?.prepared.as_ref()?.global_span()
    }

    #[inline]
    pub fn run(&mut self, memories: &mut Memories, start: usize, now: u64) -> Result<Effect, Failure> {
        let Some(entry) = self.entries.get_mut(self.last) else {
            return Ok(Effect::default());
        };
        if let Some(init) = &mut entry.init {
            init.run(memories, 0)?;
        }
        let Some(prepared) = &mut entry.prepared else {
            return Ok(Effect::default());
        };
        let effect = prepared.run(memories, start)?;
        if effect.has(Effect::LEFT_UNDEFINED) {
            entry.undefined_at = now;
        }
        Ok(effect)
    }
}

/// Are two keys the same? Word by word: a key was written just now, word by word, and who reads more at once waits until
/// everything that was stored before it, which is what the last instruction moved, has left for the cache.
#[inline]
fn is_same(a: &[u64], b: &[u64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
