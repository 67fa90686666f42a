//! Integers of a program whose arguments are not known: a constant plus multiples of symbols.
//!
//! A symbol is an argument, something loaded, or an expression that is not linear; equal expressions are one symbol, so
//! equal forms are equal numbers (sync.md 4).

use crate::trace::Root;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::{ArithOp, CmpPred, OpId, ValueId};
use tessera_isa::ops::Opcode;

/// The symbols of a form with their factors, by number.
pub type Terms = SmallVec<[(u32, i64); 2]>;

/// `constant + Σ factor · symbol`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinearExpr {
    pub constant: i64,
    pub terms: Terms,
}

impl From<i64> for LinearExpr {
    fn from(constant: i64) -> Self {
        LinearExpr { constant, terms: Terms::new() }
    }
}

impl LinearExpr {
    /// One symbol.
    pub fn symbol(symbol: u32) -> Self {
        LinearExpr { constant: 0, terms: SmallVec::from_slice(&[(symbol, 1)]) }
    }

    /// The number, where there is no symbol in it.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The byte of so many bits, but for symbols.
    pub fn byte(&self) -> i64 {
        self.constant.div_euclid(8)
    }

    /// The sum.
    pub fn plus(&self, other: &LinearExpr) -> LinearExpr {
        let mut terms = self.terms.clone();
        for (symbol, factor) in &other.terms {
            match terms.binary_search_by_key(symbol, |t| t.0) {
                Ok(at) => terms[at].1 = terms[at].1.wrapping_add(*factor),
                Err(at) => terms.insert(at, (*symbol, *factor)),
            }
        }
        terms.retain(|t| t.1 != 0);
        LinearExpr { constant: self.constant.wrapping_add(other.constant), terms }
    }

    /// The expression times a factor.
    pub fn times(&self, factor: i64) -> LinearExpr {
        if factor == 0 {
            return LinearExpr::default();
        }
        let terms = self.terms.iter().map(|(s, f)| (*s, f.wrapping_mul(factor))).collect();
        LinearExpr { constant: self.constant.wrapping_mul(factor), terms }
    }

    /// With these symbols known.
    pub fn with(&self, values: &FxHashMap<u32, i64>) -> LinearExpr {
        let mut form = LinearExpr::from(self.constant);
        for (symbol, factor) in &self.terms {
            match values.get(symbol) {
                Some(value) => form.constant = form.constant.wrapping_add(value.wrapping_mul(*factor)),
                None => form.terms.push((*symbol, *factor)),
            }
        }
        form
    }

    /// The factor by which it is a multiple of another expression that has symbols.
    fn multiple_of(&self, other: &LinearExpr) -> Option<i64> {
        let (symbol, factor) = *other.terms.first()?;
        let own = self.terms.iter().find(|t| t.0 == symbol).map_or(0, |t| t.1);
        let times = own.checked_div(factor)?;
        (*self == other.times(times)).then_some(times)
    }

    /// The difference.
    pub fn minus(&self, other: &LinearExpr) -> LinearExpr {
        self.plus(&other.times(-1))
    }
}

/// The meaning of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// An unknown value: an argument, a block number.
    Value(ValueId),
    /// The result of an operation at run time: the number of the evaluation, and the vector core.
    Found(Option<OpId>, u32, u8),
    /// The contents of a place of global memory (in bits) that the process has not written, with its width in bits.
    Loaded(Root, LinearExpr, u32),
    Arith(ArithOp, u32, LinearExpr, LinearExpr),
    Cmp(CmpPred, u32, LinearExpr, LinearExpr),
    /// A conversion between widths.
    Cast(u32, bool, LinearExpr),
    Select(LinearExpr, LinearExpr, LinearExpr),
    /// A view with unknown strides: extents, strides, and start.
    View(Vec<LinearExpr>),
    /// A number of the running block.
    Block(Opcode),
}

/// The symbols of a program.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    numbers: FxHashMap<Expr, u32>,
    exprs: Vec<Expr>,
}

impl Symbols {
    /// The symbol of an expression.
    pub fn of(&mut self, expr: Expr) -> LinearExpr {
        let next = self.exprs.len() as u32;
        let exprs = &mut self.exprs;
        let number = *self.numbers.entry(expr).or_insert_with_key(|key| {
            exprs.push(key.clone());
            next
        });
        LinearExpr::symbol(number)
    }

    /// The symbol, if the expression is one symbol and nothing else.
    pub fn expr(&self, form: &LinearExpr) -> Option<&Expr> {
        match (form.constant, form.terms.as_slice()) {
            (0, [(symbol, 1)]) => self.exprs.get(*symbol as usize),
            _ => None,
        }
    }

    /// Arithmetic of a width that is not known to have a value.
    pub fn arith(&mut self, op: ArithOp, width: u32, a: &LinearExpr, b: &LinearExpr) -> LinearExpr {
        if let (ArithOp::Divsi, Some(n)) = (op, a.multiple_of(b)) {
            return n.into();
        }
        match (op, a.known(), b.known()) {
            (ArithOp::Addi, ..) => a.plus(b),
            (ArithOp::Subi, ..) => a.minus(b),
            (ArithOp::Muli, Some(n), _) => b.times(n),
            (ArithOp::Muli, _, Some(n)) => a.times(n),
            (ArithOp::Shli, _, Some(n)) if (0..32).contains(&n) => a.times(1 << n),
            _ => self.of(Expr::Arith(op, width, a.clone(), b.clone())),
        }
    }
}
