//! Terms: what a byte can be, each with a number. Equal terms have equal numbers.

use super::function::{Function, Param, converted};
use crate::kernels::Conversion;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_isa::sem::Func;

/// The number of a term.
pub type TermId = u32;

/// The number of what was never written.
pub const UNDEFINED: TermId = 0;

/// The number of the constant byte 0; the others follow.
const CONSTANTS: TermId = 1;

/// More applications than this are not told apart.
const MAX_APPLIED: usize = 1 << 25;

/// What a byte is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Never written, or made undefined.
    Undefined,
    /// Always this value.
    Constant(u8),
    /// A byte of an input.
    Input {
        /// The number of the input.
        input: u32,
        /// Which byte of it.
        byte: u64,
    },
    /// Two halves of other bytes, the low one first.
    Nibbles([Nibble; 2]),
    /// A byte of the result of a function.
    Applied {
        /// The function.
        function: Function,
        /// The bytes of the element that it was applied to, then those of the parameter where that is data.
        operands: Vec<TermId>,
        /// Which byte of the result.
        byte: u8,
    },
}

/// Half a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nibble {
    /// The byte.
    pub of: TermId,
    /// Its upper half?
    pub high: bool,
}

/// Numbers that were given out together.
#[derive(Clone, Debug)]
enum Run {
    Input { input: u32, first: u64 },
    Nibbles([Nibble; 2]),
    Applied { function: Function, operands: SmallVec<[TermId; 8]> },
}

/// Every term of one or two programs, once.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// By first number.
    runs: Vec<(TermId, Run)>,
    /// How many numbers were given out, after those of the constants.
    given: TermId,
    /// By input: runs of its bytes as (first byte, length, first number), in the order they were asked for.
    inputs: FxHashMap<u32, Vec<(u64, u64, TermId)>>,
    applied: FxHashMap<(Function, SmallVec<[TermId; 8]>), TermId>,
    joined: FxHashMap<[Nibble; 2], TermId>,
    is_full: bool,
}

impl Terms {
    /// The number of a constant.
    pub fn constant(byte: u8) -> TermId {
        CONSTANTS + TermId::from(byte)
    }

    /// The constant of a number, if it is one.
    pub fn constant_of(id: TermId) -> Option<u8> {
        id.checked_sub(CONSTANTS).and_then(|n| u8::try_from(n).ok())
    }

    /// Were there too many terms to tell them apart?
    pub fn is_full(&self) -> bool {
        self.is_full
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
            let inside = known.iter().find(|(start, n, _)| (*start..start + n).contains(&at)).copied();
            let (start, n, base) = match inside {
                Some(run) => run,
                None => {
                    let next = known.iter().map(|r| r.0).filter(|s| *s > at).min();
                    let n = end.min(next.unwrap_or(u64::MAX)) - at;
                    let base = self.take(n, Run::Input { input, first: at });
                    if let Some(known) = self.inputs.get_mut(&input) {
                        known.push((at, n, base));
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

    fn take(&mut self, n: u64, run: Run) -> TermId {
        let base = CONSTANTS + 256 + self.given;
        let next = TermId::try_from(n).ok().and_then(|n| base.checked_add(n));
        let Some(next) = next.filter(|_| self.applied.len() < MAX_APPLIED) else {
            self.is_full = true;
            return UNDEFINED;
        };
        self.given += next - base;
        self.runs.push((base, run));
        base
    }

    /// What a number means.
    pub fn get(&self, id: TermId) -> Term {
        if id == UNDEFINED {
            return Term::Undefined;
        }
        if let Some(byte) = Terms::constant_of(id) {
            return Term::Constant(byte);
        }
        let at = self.runs.partition_point(|(base, _)| *base <= id);
        let Some((base, run)) = at.checked_sub(1).and_then(|n| self.runs.get(n)) else {
            return Term::Undefined;
        };
        match run {
            Run::Input { input, first } => Term::Input { input: *input, byte: first + u64::from(id - base) },
            Run::Nibbles(pair) => Term::Nibbles(*pair),
            Run::Applied { function, operands } => {
                Term::Applied { function: *function, operands: operands.to_vec(), byte: (id - base) as u8 }
            }
        }
    }

    /// Half of a byte, as directly as can be said.
    pub fn nibble(&self, of: TermId, high: bool) -> Nibble {
        match self.get(of) {
            Term::Nibbles(halves) => halves[usize::from(high)],
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
        if let Some(id) = self.joined.get(&pair) {
            return *id;
        }
        let id = self.take(1, Run::Nibbles(pair));
        self.joined.insert(pair, id);
        id
    }

    /// The origins of the bytes of a converted element.
    pub fn convert(
        &mut self,
        conversion: Conversion,
        element: &[TermId],
        param: Param,
        bytes: usize,
    ) -> SmallVec<[TermId; 8]> {
        let (function, param) = converted(conversion, param);
        let data: &[TermId] = match &param {
            Param::Data(ids) => ids,
            _ => &[],
        };
        let mut result = self.apply(function, element.iter().chain(data).copied().collect());
        result.truncate(bytes);
        result
    }

    /// The origins of the bytes of a function's result.
    pub(crate) fn apply(&mut self, function: Function, operands: SmallVec<[TermId; 8]>) -> SmallVec<[TermId; 8]> {
        let bytes = (function.to().bits() as usize / 8).max(1);
        if operands.contains(&UNDEFINED) {
            return SmallVec::from_elem(UNDEFINED, bytes);
        }
        let constants: Option<SmallVec<[u8; 8]>> = operands.iter().map(|id| Terms::constant_of(*id)).collect();
        if let Some(constants) = constants {
            let result = function.eval(&constants).to_le_bytes();
            return result.iter().take(bytes).map(|b| Terms::constant(*b)).collect();
        }
        let key = (function, self.continued(function, operands));
        let base = match self.applied.get(&key) {
            Some(base) => *base,
            None => {
                let base = self.take(bytes as u64, Run::Applied { function, operands: key.1.clone() });
                self.applied.insert(key, base);
                base
            }
        };
        (0..bytes as TermId).map(|k| base.saturating_add(k)).collect()
    }

    /// A fold that starts as the result of the same fold is the longer one, where nothing is rounded in between: a product
    /// cut along k is the whole product (matrix.md 1).
    fn continued(&self, function: Function, operands: SmallVec<[TermId; 8]>) -> SmallVec<[TermId; 8]> {
        let Function::Fold { to, .. } = function else {
            return operands;
        };
        let size = (Func::state(to).bits() / 8) as usize;
        let Some((start, steps)) = operands.split_at_checked(size).filter(|_| Func::state(to) == to) else {
            return operands;
        };
        let mut before = None;
        for (k, id) in start.iter().enumerate() {
            match self.get(*id) {
                Term::Applied { function: f, operands, byte } if f == function && usize::from(byte) == k => {
                    before = Some(operands);
                }
                _ => return operands,
            }
        }
        let first = start.first().copied().unwrap_or(UNDEFINED);
        let is_one = start.iter().zip(first..).all(|(id, expected)| *id == expected);
        match before.filter(|_| is_one) {
            Some(before) => before.into_iter().chain(steps.iter().copied()).collect(),
            None => operands,
        }
    }
}
