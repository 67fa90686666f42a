//! The values that control flow passes on. Only this module knows which operands of `scf.for` are bounds, which block
//! argument is the induction variable, and which operand of `scf.condition` is not passed on.
//!
//! [`Control::of`] reads an operation's parts; [`Control::edges`] lists its hand-overs, which all happen at once:
//!
//! | operation | [`Enter`](When::Enter) | [`Proceed`](When::Proceed) | [`Again`](When::Again) | [`Leave`](When::Leave) |
//! |---|---|---|---|---|
//! | `scf.for` | initial values → carried | – | yielded → carried | carried → results |
//! | `scf.while` | initial values → carried | handed on → arguments of `do` | yielded → carried | handed on → results |
//! | `scf.if` | – | – | – | yielded → results, per block |
//! | `arith.select` | – | – | – | either operand → result |
//!
//! A call passes its operands to the callee's arguments and takes the operands of `return`. [`crate::inline`] replaces
//! all calls, so no stage after it sees one.

use crate::{Arg, BlockId, Func, Op, OpId, OpKind, Operand, ValueId};
use smallvec::{SmallVec, smallvec};
use tessera_isa::diag::Diagnostic;

/// The number of operands of `scf.for` before the initial values: lower bound, upper bound, step.
pub const FOR_BOUNDS: usize = 3;
/// The number of operands of `scf.condition` before the values that it passes on: the condition.
pub const CONDITION_FLAGS: usize = 1;

/// `scf.for`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are MLIR's own words")]
pub struct For<'a> {
    pub lower: Arg,
    pub upper: Arg,
    pub step: Arg,
    pub body: BlockId,
    pub variable: ValueId,
    pub carried: &'a [ValueId],
    pub inits: &'a [Operand],
    pub yields: &'a [Operand],
    pub results: &'a [ValueId],
}

/// `scf.if`: what decides, the blocks then and else, what they yield, and the results.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are MLIR's own words")]
pub struct If<'a> {
    pub condition: Arg,
    pub blocks: [BlockId; 2],
    pub yields: [&'a [Operand]; 2],
    pub results: &'a [ValueId],
}

/// `scf.while`.
#[derive(Clone, Copy, Debug)]
pub struct While<'a> {
    pub before: BlockId,
    /// The block after `do`.
    pub after: BlockId,
    /// The values that enter the first block.
    pub inits: &'a [Operand],
    /// The arguments of the first block.
    pub carried: &'a [ValueId],
    /// The condition, at the end of the first block.
    pub condition: Arg,
    /// The values that go to the second block, or out.
    pub handed: &'a [Operand],
    /// The arguments of the second block.
    pub taken: &'a [ValueId],
    /// The values that the second block yields to the first one.
    pub yields: &'a [Operand],
    pub results: &'a [ValueId],
}

/// `arith.select`: what decides, what it is then and else, and the result.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are MLIR's own words")]
pub struct Select<'a> {
    pub condition: Arg,
    pub choices: [&'a Operand; 2],
    pub results: &'a [ValueId],
}

/// An operation that hands values on.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the variants are the operations")]
pub enum Control<'a> {
    For(For<'a>),
    If(If<'a>),
    While(While<'a>),
    Select(Select<'a>),
}

/// The moment when values are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Enter,
    /// The second block of `scf.while` begins.
    Proceed,
    /// A round of the loop is over.
    Again,
    Leave,
}

/// One hand-over: from these, by position, to those.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    pub when: When,
    /// The operands that are passed: of the operation, or of the one that ends its block.
    operands: &'a [Operand],
    /// The carried values that are passed unchanged.
    values: &'a [ValueId],
    pub to: &'a [ValueId],
}

impl<'a> Edge<'a> {
    /// The values that are passed, in order.
    pub fn args(self) -> impl Iterator<Item = Arg> + 'a {
        self.operands.iter().map(|o| o.arg).chain(self.values.iter().map(|v| Arg::Value(*v)))
    }

    /// Each receiving value, with the argument that it takes.
    pub fn pairs(self) -> impl Iterator<Item = (ValueId, Arg)> + 'a {
        self.to.iter().copied().zip(self.args())
    }
}

impl OpKind {
    /// Whether the operation passes values on, so that [`Control::of`] reads it.
    pub fn is_flow(&self) -> bool {
        matches!(self, OpKind::For | OpKind::If | OpKind::While | OpKind::Select)
    }

    /// Whether the operation can run its blocks more than once.
    pub fn is_loop(&self) -> bool {
        matches!(self, OpKind::For | OpKind::While)
    }

    /// Whether the operation ends a block.
    pub fn is_end(&self) -> bool {
        matches!(self, OpKind::Yield | OpKind::Condition | OpKind::Return)
    }
}

impl Func {
    /// The operation that ends a block, where one is written; a yield of nothing may be left out.
    pub fn end(&self, block: BlockId) -> Option<OpId> {
        let last = self.blocks.get(block.index())?.ops.last().copied()?;
        self.ops.get(last.index()).is_some_and(|op| op.kind.is_end()).then_some(last)
    }

    /// The values that the end of a block passes on: all operands but the condition of `scf.condition`.
    pub fn handed(&self, block: BlockId) -> &[Operand] {
        match self.end(block).map(|id| self.op(id)) {
            Some(op) if op.kind == OpKind::Condition => op.operands.get(CONDITION_FLAGS..).unwrap_or_default(),
            Some(op) => &op.operands,
            None => &[],
        }
    }
}

impl<'a> Control<'a> {
    /// The parts of an operation that hands values on; `internal` if it lacks one.
    pub fn of(func: &'a Func, op: &'a Op) -> Result<Control<'a>, Box<Diagnostic>> {
        Self::parts(func, op)
            .ok_or_else(|| Diagnostic::internal(op.span, "an operation of control flow lacks one of its parts"))
    }

    fn parts(func: &'a Func, op: &'a Op) -> Option<Control<'a>> {
        let arg = |n: usize| op.operands.get(n).map(|o| o.arg);
        let args = |block: BlockId| func.blocks.get(block.index()).map(|b| b.args.as_slice());
        let results = op.results.as_slice();
        Some(match (&op.kind, op.blocks.as_slice()) {
            (OpKind::For, [body]) => {
                let (variable, carried) = args(*body)?.split_first()?;
                Control::For(For {
                    lower: arg(0)?,
                    upper: arg(1)?,
                    step: arg(2)?,
                    body: *body,
                    variable: *variable,
                    carried,
                    inits: op.operands.get(FOR_BOUNDS..)?,
                    yields: func.handed(*body),
                    results,
                })
            }
            (OpKind::If, [then, other]) => Control::If(If {
                condition: arg(0)?,
                blocks: [*then, *other],
                yields: [func.handed(*then), func.handed(*other)],
                results,
            }),
            (OpKind::While, [before, after]) => {
                let end = func.op(func.end(*before)?);
                Control::While(While {
                    before: *before,
                    after: *after,
                    inits: &op.operands,
                    carried: args(*before)?,
                    condition: end.operands.first()?.arg,
                    handed: func.handed(*before),
                    taken: args(*after)?,
                    yields: func.handed(*after),
                    results,
                })
            }
            (OpKind::Select, []) => {
                let [condition, then, other] = op.operands.as_slice() else { return None };
                Control::Select(Select { condition: condition.arg, choices: [then, other], results: results.get(..1)? })
            }
            _ => return None,
        })
    }

    /// All edges, in the order in which they first happen.
    pub fn edges(&self) -> SmallVec<[Edge<'a>; 4]> {
        let edge = |when, operands, to| Edge { when, operands, values: &[], to };
        match *self {
            Control::For(f) => smallvec![
                edge(When::Enter, f.inits, f.carried),
                edge(When::Again, f.yields, f.carried),
                Edge { when: When::Leave, operands: &[], values: f.carried, to: f.results },
            ],
            Control::If(i) => i.yields.iter().map(|y| edge(When::Leave, y, i.results)).collect(),
            Control::While(w) => smallvec![
                edge(When::Enter, w.inits, w.carried),
                edge(When::Proceed, w.handed, w.taken),
                edge(When::Leave, w.handed, w.results),
                edge(When::Again, w.yields, w.carried),
            ],
            Control::Select(s) => {
                s.choices.iter().map(|c| edge(When::Leave, std::slice::from_ref(*c), s.results)).collect()
            }
        }
    }
}
