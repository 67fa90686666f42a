//! Terms: what a byte can be, each with a number. Equal terms have equal numbers.
//!
//! Functions are applied to whole elements. An element is named by the number of its first byte where its bytes have
//! consecutive numbers, which they nearly always have, else by the number of a list of them.

use super::function::{Function, Param, converted};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use tessera_kernels::Conversion;

/// The number of a term.
pub type TermId = u32;

/// The number of what was never written.
pub const UNDEFINED: TermId = 0;

/// The number of the constant byte 0; the others follow.
const CONSTANTS: TermId = 1;

/// The bytes of an entry that numbers a term by its hash.
const INDEXED: usize = 2 * size_of::<(u64, u32)>();

/// The bounds of terms. Beyond one of them nothing is numbered any more ([`Terms::met`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The bytes that terms may take.
    pub memory: u64,
    /// The work that all programs of these terms may make: elements that are computed, with their operands.
    pub work: u64,
}

impl Bounds {
    /// The work unless more is allowed, some ten seconds.
    pub const WORK: u64 = 64_000_000;
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { memory: 1 << 29, work: Bounds::WORK }
    }
}

/// A bound that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The terms take too many bytes.
    Memory,
    /// The work was too much.
    Work,
}

/// The terms at one moment, to which a table can be rolled back.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    runs: usize,
    next: TermId,
    operands: usize,
    divisions: usize,
}

/// Elements by their numbers.
pub type Elements = SmallVec<[TermId; 4]>;

/// The bytes of an element.
pub type Bytes = SmallVec<[TermId; 8]>;

/// The meaning of a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term<'t> {
    /// Never written, or made undefined.
    Undefined,
    Constant(u8),
    /// A byte of an input.
    Input {
        /// The number of the input.
        input: u32,
        byte: u64,
    },
    /// Two halves of other bytes, the low one first.
    Nibbles([Nibble; 2]),
    /// A byte of the result of a function.
    Applied {
        function: Function,
        /// The elements that it was applied to.
        operands: &'t [TermId],
        /// The byte's number within the result.
        byte: u8,
    },
}

/// Half a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nibble {
    pub of: TermId,
    pub high: bool,
}

/// Numbers that were given out together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Run {
    Input {
        input: u32,
        first: u64,
    },
    Nibbles([Nibble; 2]),
    /// The bytes of an element.
    Element(Bytes),
    Applied {
        function: Function,
        operands: Elements,
    },
}

/// Every term of one or two programs, once.
#[derive(Clone, Debug)]
pub struct Terms {
    runs: Vec<(TermId, Run)>,
    next: TermId,
    /// By input, and by their first bytes: runs of its bytes as (length, first number).
    inputs: FxHashMap<u32, BTreeMap<u64, (u64, TermId)>>,
    /// By hash, or the next free number after it: where the run stands.
    known: FxHashMap<u64, u32>,
    /// The number of operands of all terms.
    operands: usize,
    /// Whether terms are normalized, so that more equal terms have one number.
    pub(super) is_normal: bool,
    /// The number of elements that one program has flattened.
    pub(super) gathered: usize,
    /// Integer divisions: inputs with a zero divisor are none that a program runs with.
    pub(super) divisions: Vec<TermId>,
    bounds: Bounds,
    /// The work so far.
    work: u64,
    met: Option<Bound>,
}

impl Default for Terms {
    fn default() -> Self {
        Terms {
            runs: Vec::new(),
            next: CONSTANTS + 256,
            inputs: FxHashMap::default(),
            known: FxHashMap::default(),
            operands: 0,
            is_normal: true,
            gathered: 0,
            divisions: Vec::new(),
            bounds: Bounds::default(),
            work: 0,
            met: None,
        }
    }
}

impl Terms {
    /// Terms that say what a program does as it does it, and are brought into no normal form.
    pub fn as_written() -> Terms {
        Terms { is_normal: false, ..Terms::default() }
    }

    /// Another program begins; equal programs are given equal means.
    pub(super) fn begin(&mut self) {
        self.gathered = 0;
    }

    /// The number of a constant.
    pub fn constant(byte: u8) -> TermId {
        CONSTANTS + TermId::from(byte)
    }

    /// The constant of a number, if it is one.
    pub fn constant_of(id: TermId) -> Option<u8> {
        id.checked_sub(CONSTANTS).and_then(|n| u8::try_from(n).ok())
    }

    /// The same with other bounds.
    pub fn within(self, bounds: Bounds) -> Terms {
        Terms { bounds, ..self }
    }

    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The bound that was met, after which terms mean nothing.
    pub fn met(&self) -> Option<Bound> {
        self.met
    }

    /// The work so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Counts work.
    pub fn spend(&mut self, work: u64) {
        self.work = self.work.saturating_add(work);
        if self.work > self.bounds.work {
            self.exceed(Bound::Work);
        }
    }

    /// A bound is met, here or outside.
    pub fn exceed(&mut self, bound: Bound) {
        self.met.get_or_insert(bound);
    }

    /// No terms, with the bounds and the work of these.
    pub fn emptied(&self) -> Terms {
        let met = self.met.filter(|bound| *bound == Bound::Work);
        Terms { is_normal: self.is_normal, bounds: self.bounds, work: self.work, met, ..Terms::default() }
    }

    /// This moment.
    pub fn mark(&self) -> Mark {
        Mark { runs: self.runs.len(), next: self.next, operands: self.operands, divisions: self.divisions.len() }
    }

    /// Forgets the terms since a moment, not the work.
    pub fn roll_back(&mut self, mark: &Mark) {
        if self.runs.len() > mark.runs {
            self.runs.truncate(mark.runs);
            // An entry stands behind older ones with its hash only, so those left are still found.
            self.known.retain(|_, at| (*at as usize) < mark.runs);
            self.inputs.values_mut().for_each(|runs| runs.retain(|_, (_, first)| *first < mark.next));
            self.divisions.truncate(mark.divisions);
        }
        (self.next, self.operands) = (mark.next, mark.operands);
        self.met = (self.work > self.bounds.work).then_some(Bound::Work);
    }

    /// The bytes that all terms take, about.
    fn bytes_taken(&self) -> u64 {
        (self.runs.len() * (size_of::<(TermId, Run)>() + INDEXED) + self.operands * size_of::<TermId>()) as u64
    }

    /// The number of a byte of an input.
    pub fn input(&mut self, input: u32, byte: u64) -> TermId {
        let mut found = UNDEFINED;
        self.input_run(input, byte, 1, &mut |_, id| found = id);
        found
    }

    /// Calls `f(k, number)` for each of `len` bytes of an input from `first` on.
    pub fn input_run(&mut self, input: u32, first: u64, len: u64, f: &mut impl FnMut(u64, TermId)) {
        let mut at = first;
        let end = first.saturating_add(len);
        while at < end {
            let known = self.inputs.entry(input).or_default();
            let before = known.range(..=at).next_back().map(|(start, (n, base))| (*start, *n, *base));
            let (start, n, base) = match before.filter(|(start, n, _)| at - start < *n) {
                Some(run) => run,
                None => {
                    let next = known.range(at..).next().map_or(u64::MAX, |(start, _)| *start);
                    let n = end.min(next) - at;
                    let base = self.take(n, Run::Input { input, first: at });
                    if let Some(known) = self.inputs.get_mut(&input) {
                        known.insert(at, (n, base));
                    }
                    (at, n, base)
                }
            };
            let stop = end.min(start + n);
            for byte in at..stop {
                f(byte - first, base + (byte - start) as TermId);
            }
            at = stop;
        }
    }

    /// New numbers.
    fn take(&mut self, n: u64, run: Run) -> TermId {
        let base = self.next;
        let next = TermId::try_from(n).ok().and_then(|n| base.checked_add(n));
        match next.filter(|_| self.bytes_taken() < self.bounds.memory) {
            Some(next) => {
                self.next = next;
                self.runs.push((base, run));
                base
            }
            None => {
                self.exceed(Bound::Memory);
                UNDEFINED
            }
        }
    }

    /// The number of something that may be known already; new ones get `n` numbers.
    fn intern(&mut self, n: usize, run: Run) -> TermId {
        let mut hasher = FxHasher::default();
        run.hash(&mut hasher);
        let mut key = hasher.finish();
        while let Some(at) = self.known.get(&key) {
            match self.runs.get(*at as usize) {
                Some((base, known)) if *known == run => return *base,
                _ => key = key.wrapping_add(1),
            }
        }
        let at = self.runs.len() as u32;
        let (operands, divides) = match &run {
            Run::Applied { function, operands } => (operands.len(), function.divides()),
            _ => (0, false),
        };
        let base = self.take(n as u64, run);
        if base != UNDEFINED {
            self.known.insert(key, at);
            self.operands += operands;
            if divides {
                self.divisions.push(base);
            }
        }
        base
    }

    /// The first of the numbers that were given out with this one, and what they are.
    fn run(&self, id: TermId) -> Option<(TermId, &Run)> {
        let at = self.runs.partition_point(|(base, _)| *base <= id);
        let (base, run) = self.runs.get(at.checked_sub(1)?)?;
        Some((*base, run))
    }

    /// The term of a number.
    pub fn get(&self, id: TermId) -> Term<'_> {
        if let Some(byte) = Terms::constant_of(id) {
            return Term::Constant(byte);
        }
        match self.run(id) {
            Some((base, Run::Input { input, first })) => {
                Term::Input { input: *input, byte: first + u64::from(id - base) }
            }
            Some((_, Run::Nibbles(pair))) => Term::Nibbles(*pair),
            Some((base, Run::Applied { function, operands })) => {
                Term::Applied { function: *function, operands, byte: (id - base) as u8 }
            }
            Some((_, Run::Element(_))) | None => Term::Undefined,
        }
    }

    /// The element of these bytes; one that is undefined anywhere is undefined.
    pub fn element(&mut self, bytes: &[TermId]) -> TermId {
        let Some(first) = bytes.first().filter(|_| !bytes.contains(&UNDEFINED)) else {
            return UNDEFINED;
        };
        if bytes.iter().zip(*first..).all(|(id, next)| *id == next) {
            return *first;
        }
        self.intern(1, Run::Element(Bytes::from_slice(bytes)))
    }

    /// The constant element of this size.
    pub fn constant_element(&mut self, bits: u64, bytes: usize) -> TermId {
        let bytes: Bytes = bits.to_le_bytes().into_iter().take(bytes).map(Terms::constant).collect();
        self.element(&bytes)
    }

    /// The bytes of an element of this size.
    pub fn bytes(&self, element: TermId, bytes: usize) -> Bytes {
        match self.run(element) {
            _ if element == UNDEFINED => SmallVec::from_elem(UNDEFINED, bytes),
            Some((base, Run::Element(list))) if base == element => list.clone(),
            _ => (0..bytes as TermId).map(|k| element.saturating_add(k)).collect(),
        }
    }

    /// The bits of a constant element of this size.
    pub fn constant_bits(&self, element: TermId, bytes: usize) -> Option<u64> {
        let constants = self.bytes(element, bytes).into_iter().map(Terms::constant_of);
        constants.rev().try_fold(0u64, |bits, byte| Some(bits << 8 | u64::from(byte?)))
    }

    /// The function and the operands of an element that is the whole result of one.
    pub fn applied(&self, element: TermId) -> Option<(Function, &[TermId])> {
        match self.get(element) {
            Term::Applied { function, operands, byte: 0 } => Some((function, operands)),
            _ => None,
        }
    }

    /// The element that a function makes of others, as it stands.
    pub(super) fn hold(&mut self, function: Function, operands: Elements) -> TermId {
        self.intern(function.bytes(), Run::Applied { function, operands })
    }

    /// Half of a byte, as directly as can be said.
    pub fn nibble(&self, of: TermId, high: bool) -> Nibble {
        match self.get(of) {
            Term::Nibbles([low, upper]) => {
                if high {
                    upper
                } else {
                    low
                }
            }
            // Halves of constants are told apart by value alone.
            Term::Constant(byte) => {
                let half = if high { byte >> 4 } else { byte & 15 };
                Nibble { of: Terms::constant(half * 0x11), high: false }
            }
            Term::Undefined => Nibble { of, high: false },
            _ => Nibble { of, high },
        }
    }

    /// The byte of two halves.
    pub fn join(&mut self, pair: [Nibble; 2]) -> TermId {
        let [low, high] = pair;
        if let (Some(a), Some(b)) = (Terms::constant_of(low.of), Terms::constant_of(high.of)) {
            return Terms::constant(a & 15 | b & 0xF0);
        }
        let whole = low.of == high.of && (low.of == UNDEFINED || (!low.high && high.high));
        if whole {
            return low.of;
        }
        self.intern(1, Run::Nibbles(pair))
    }

    /// The origins of the bytes of a converted element.
    pub fn convert(&mut self, conversion: Conversion, element: &[TermId], param: Param, bytes: usize) -> Bytes {
        let (function, param) = converted(conversion, param);
        let mut operands = Elements::from_iter([self.element(element)]);
        if let Param::Data(ids) = &param {
            operands.push(self.element(ids));
        }
        let result = self.apply(function, operands);
        let mut result = self.bytes(result, function.bytes());
        result.truncate(bytes);
        result
    }
}
