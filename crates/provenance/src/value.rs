//! Evaluation of terms on given inputs.

use super::function::size;
use super::terms::{Term, TermId, Terms};
use rustc_hash::FxHashMap;
use tessera_isa::elem::Elem;

/// Terms worked out on inputs, each once.
pub struct Values<'t, F> {
    terms: &'t Terms,
    input: F,
    /// By first byte: the bits of a result; none where it is undefined.
    known: FxHashMap<TermId, Option<u64>>,
    is_by_zero: bool,
}

impl<'t, F: Fn(u32, u64) -> Option<u8>> Values<'t, F> {
    /// Terms on inputs that a function gives by number and byte.
    pub fn new(terms: &'t Terms, input: F) -> Self {
        Values { terms, input, known: FxHashMap::default(), is_by_zero: false }
    }

    /// The number of results computed so far.
    pub fn worked_out(&self) -> usize {
        self.known.len()
    }

    /// Whether an integer division of the programs has a zero divisor, so that one of them does not run.
    pub fn is_by_zero(&mut self) -> bool {
        for id in &self.terms.divisions {
            self.byte(*id);
        }
        self.is_by_zero
    }

    /// A byte; none where it is undefined.
    pub fn byte(&mut self, id: TermId) -> Option<u8> {
        // Operands first, without recursion: terms are as deep as programs are long.
        let mut waiting = vec![id];
        while let Some(id) = waiting.last().copied() {
            let before = waiting.len();
            match self.terms.get(id) {
                Term::Nibbles(pair) => waiting.extend(pair.iter().map(|n| n.of).filter(|id| !self.is_known(*id))),
                Term::Applied { function, operands, byte } if !self.is_known(id) => {
                    for (operand, elem) in operands.iter().zip(function.types()) {
                        let bytes = self.terms.bytes(*operand, size(elem));
                        waiting.extend(bytes.into_iter().filter(|id| !self.is_known(*id)));
                    }
                    if waiting.len() == before {
                        let typed = operands.iter().zip(function.types());
                        let args: Vec<(Elem, Option<u64>)> =
                            typed.map(|(operand, elem)| (elem, self.bits(*operand, size(elem)))).collect();
                        let value = self.result(function, &args);
                        self.known.insert(id - TermId::from(byte), value);
                    }
                }
                _ => {}
            }
            if waiting.len() == before {
                waiting.pop();
            }
        }
        self.ready(id)
    }

    fn result(&mut self, function: super::Function, args: &[(Elem, Option<u64>)]) -> Option<u64> {
        if let (super::Function::Mapped { func: tessera_isa::sem::Func::Select { bit }, .. }, [mask, x, y]) =
            (function, args)
        {
            return if mask.1? >> bit & 1 == 1 { x.1 } else { y.1 };
        }
        let args = args.iter().map(|(elem, bits)| Some((*elem, (*bits)?))).collect::<Option<Vec<_>>>()?;
        self.is_by_zero |= function.is_by_zero(&args);
        function.eval(&args)
    }

    /// Whether a byte needs no evaluation.
    fn is_known(&self, id: TermId) -> bool {
        match self.terms.get(id) {
            Term::Applied { byte, .. } => self.known.contains_key(&(id - TermId::from(byte))),
            Term::Nibbles(pair) => pair.iter().all(|n| self.is_known(n.of)),
            _ => true,
        }
    }

    /// A byte that needs no more work.
    fn ready(&self, id: TermId) -> Option<u8> {
        match self.terms.get(id) {
            Term::Undefined => None,
            Term::Constant(byte) => Some(byte),
            Term::Input { input, byte } => (self.input)(input, byte),
            Term::Nibbles([low, high]) => {
                let half = |n: super::Nibble| Some(self.ready(n.of)? >> if n.high { 4 } else { 0 } & 15);
                Some(half(low)? | half(high)? << 4)
            }
            Term::Applied { byte, .. } => {
                let bits = self.known.get(&(id - TermId::from(byte))).copied()??;
                Some((bits >> (8 * u32::from(byte))) as u8)
            }
        }
    }

    fn bits(&self, element: TermId, bytes: usize) -> Option<u64> {
        let bytes = self.terms.bytes(element, bytes).into_iter().rev();
        bytes.into_iter().try_fold(0u64, |bits, id| Some(bits << 8 | u64::from(self.ready(id)?)))
    }
}
