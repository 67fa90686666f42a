//! Compiled instructions, by the words that stand for them.

use crate::lower::{CompiledInst, Effect};
use rustc_hash::FxHashMap;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::Inst;
use tessera_kernels::Failure;
use tessera_kernels::memory::Memories;

/// An instruction that was issued, and its compiled form.
#[derive(Debug)]
pub struct CachedInst {
    /// The instruction, whole. Its view is where it was the first time.
    pub inst: Box<Inst>,
    /// Copies the old contents into the result.
    pub init: Option<CompiledInst>,
    /// The compiled moves; `None` for an instruction that only binds.
    pub compiled: Option<CompiledInst>,
    /// The warnings of the rules.
    pub warnings: Vec<Diagnostic>,
    /// When it last left something undefined.
    pub undefined_at: u64,
    /// Whether issuing it again is no more than moving its bytes: it binds no tile, and there is nothing to report.
    pub is_repeatable: bool,
    /// Whether the valid region of its destination becomes the declared area.
    pub expands: bool,
}

impl CachedInst {
    pub fn new(
        inst: Inst,
        init: Option<CompiledInst>,
        compiled: Option<CompiledInst>,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        let binds = inst.op.binds(inst.profile).is_some();
        let is_repeatable = warnings.is_empty() && init.is_none() && compiled.is_some() && !binds;
        let expands = inst.op.info().expands;
        CachedInst { inst: Box::new(inst), init, compiled, warnings, undefined_at: 0, is_repeatable, expands }
    }

    /// The warning of the last run about the contents of operands.
    pub fn warning(&self) -> Option<&Diagnostic> {
        self.compiled.as_ref()?.warning.as_deref()
    }
}

/// Values by a list of words. One of them is the current one.
#[derive(Debug)]
pub struct Cache<T = CachedInst> {
    pub entries: Vec<T>,
    keys: Vec<Box<[u64]>>,
    /// When the current value was chosen, in the engine's count.
    pub epoch: u64,
    /// More values than this are not kept.
    most: usize,
    /// The number of times that all values were dropped.
    pub age: u64,
    last: usize,
    /// By value, the one that was requested after it: loops request them in the same order again and again.
    next: Vec<usize>,
    by_key: FxHashMap<Box<[u64]>, usize>,
}

impl<T> Cache<T> {
    pub fn new(most: usize) -> Self {
        let (entries, keys, next, by_key) = Default::default();
        Cache { entries, keys, epoch: 0, most, age: 0, last: 0, next, by_key }
    }

    /// Makes the value with this key the current one, if there is one.
    #[inline]
    pub fn find(&mut self, key: &[u64]) -> bool {
        let is = |n: usize| self.keys.get(n).is_some_and(|k| is_same(k, key));
        let expected = self.next.get(self.last).copied().unwrap_or(0);
        if let Some(at) = [expected, self.last].into_iter().find(|n| is(*n)) {
            self.last = at;
            return true;
        }
        let known = self.by_key.get(key).copied();
        known.inspect(|at| self.follow(*at)).is_some()
    }

    /// Makes another value the current one, and expects it after this one from now on.
    fn follow(&mut self, at: usize) {
        if let Some(next) = self.next.get_mut(self.last) {
            *next = at;
        }
        self.last = at;
    }

    pub fn current(&self) -> Option<&T> {
        self.entries.get(self.last)
    }

    /// The key of the current value.
    pub fn key(&self) -> Option<&[u64]> {
        self.keys.get(self.last).map(|key| &**key)
    }

    /// The current value, its number, and the age in which the number means it.
    pub fn current_at(&self) -> Option<(usize, &T, u64)> {
        Some((self.last, self.current()?, self.age))
    }

    /// The same, to be changed.
    #[inline]
    pub fn current_mut(&mut self) -> Option<(usize, &mut T)> {
        Some((self.last, self.entries.get_mut(self.last)?))
    }

    /// Makes the value with this number of this age the current one, if it is there still.
    #[inline]
    pub fn choose(&mut self, at: usize, age: u64) -> bool {
        let is_there = age == self.age && at < self.entries.len();
        if is_there {
            self.last = at;
        }
        is_there
    }

    /// Keeps a value under a key, in place of the one that is there, and makes it the current one.
    pub fn insert(&mut self, key: &[u64], value: T) {
        if self.find(key)
            && let Some((_, old)) = self.current_mut()
        {
            *old = value;
            return;
        }
        if self.entries.len() >= self.most {
            self.clear();
        }
        self.follow(self.entries.len());
        self.by_key.insert(key.into(), self.last);
        self.next.push(0);
        self.keys.push(key.into());
        self.entries.push(value);
    }

    /// Gives all values up.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.keys.clear();
        self.by_key.clear();
        self.next.clear();
        self.age += 1;
    }
}

impl Cache {
    /// The bytes of its buffer that the current instruction touches, relative to the view's first byte.
    pub fn global_span(&self) -> Option<(i64, i64)> {
        self.current()?.compiled.as_ref()?.global_span()
    }

    #[inline]
    pub fn run(&mut self, memories: &mut Memories, start: usize, now: u64) -> Result<Effect, Failure> {
        let Some(entry) = self.entries.get_mut(self.last) else {
            return Ok(Effect::default());
        };
        if let Some(init) = &mut entry.init {
            init.run(memories, 0)?;
        }
        let Some(compiled) = &mut entry.compiled else {
            return Ok(Effect::default());
        };
        let effect = compiled.run(memories, start)?;
        if effect.has(Effect::LEFT_UNDEFINED) {
            entry.undefined_at = now;
        }
        Ok(effect)
    }
}

/// Whether two keys are the same, compared word by word: a wider read of words that were just stored one by one defeats
/// store forwarding.
#[inline]
fn is_same(a: &[u64], b: &[u64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
