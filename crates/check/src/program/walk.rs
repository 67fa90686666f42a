//! The walk: control flow and scalars.

use super::report::Report;
use super::scalar;
use super::state::{Outcome, State, Val};
use super::tiles::TypeFacts;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::{Arg, BlockId, Func, Module, Op, OpKind, ScalarType, Sign, Type, ValueId};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::ops::Opcode;
use tessera_isa::profile::Profile;

/// How many operations are visited before loops are no longer walked iteration by iteration.
const BUDGET: usize = 100_000;

pub(super) type Values = SmallVec<[Val; 2]>;

/// A loop that is being walked iteration by iteration.
struct Frame {
    variable: ValueId,
    value: i128,
    first: bool,
}

pub(super) struct Walk<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    pub state: State,
    pub report: &'a mut Report,
    /// By type of the module.
    pub types: Vec<Option<TypeFacts>>,
    /// Addresses that TASSIGN gives to values before their definition (syntax.md 1).
    pub early: FxHashMap<ValueId, Option<i128>>,
    /// The number of the next automatic storage.
    pub next_auto: u32,
    /// In code that is never reached no value means anything.
    pub dead: bool,
    visited: Vec<bool>,
    budget: usize,
    frames: Vec<Frame>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(module: &'a Module, func: &'a Func, profile: Profile, report: &'a mut Report) -> Self {
        Walk {
            module,
            func,
            profile,
            state: State::new(func.values.len()),
            report,
            types: Vec::new(),
            early: FxHashMap::default(),
            next_auto: 0,
            dead: false,
            visited: vec![false; func.ops.len()],
            budget: BUDGET,
            frames: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        for arg in &self.func.args {
            let val = self.argument(*arg);
            self.set(*arg, val);
        }
        self.block(self.func.body);
        self.dead = true;
        self.sweep(self.func.body);
    }

    pub(super) fn get(&self, value: ValueId) -> Val {
        self.state.env.get(value.index()).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, value: ValueId, val: Val) {
        if let Some(slot) = self.state.env.get_mut(value.index()) {
            *slot = val;
        }
    }

    pub(super) fn ty(&self, value: ValueId) -> &'a Type {
        self.module.types.get(self.func.value(value).ty)
    }

    fn scalar_type(&self, value: ValueId) -> ScalarType {
        match self.ty(value) {
            Type::Scalar(ty) => *ty,
            _ => ScalarType::Index,
        }
    }

    /// The scalar at an operand's place, as its type reads it, where known.
    pub(super) fn number(&self, arg: Arg) -> Option<Number> {
        if self.dead {
            return None;
        }
        let value = match arg {
            Arg::Int(v) => return Some(Number::Int(v.into())),
            Arg::Value(value) => value,
        };
        let Val::Scalar(Some(number)) = self.get(value) else {
            return None;
        };
        match (self.scalar_type(value), number) {
            (ScalarType::Int(n, Sign::Unsigned), Number::Int(v)) => Some(Number::Int(scalar::unsigned(v, n.into()))),
            _ => Some(number),
        }
    }

    /// The integer at an operand's place, where known.
    pub(super) fn int(&self, arg: Arg) -> Option<i128> {
        match self.number(arg)? {
            Number::Int(v) => Some(v),
            Number::Float(_) => None,
        }
    }

    /// ", at iteration %i = 2", where a loop is past its first iteration.
    pub(super) fn iteration(&self) -> String {
        if self.frames.iter().all(|f| f.first) {
            return String::new();
        }
        let at = self.frames.iter().map(|f| {
            let name = self.module.names.text(self.func.value(f.variable).name);
            format!("%{name} = {}", f.value)
        });
        format!(", at iteration {}", at.collect::<Vec<_>>().join(", "))
    }

    /// Walks a block; gives the operands of its last operation.
    pub(super) fn block(&mut self, block: BlockId) -> Values {
        let func = self.func;
        let mut last = Values::new();
        for id in &func.block(block).ops {
            let op = func.op(*id);
            if let Some(seen) = self.visited.get_mut(id.index()) {
                *seen = true;
            }
            self.budget = self.budget.saturating_sub(1);
            match &op.kind {
                OpKind::Yield | OpKind::Condition | OpKind::Return => last = self.operands(op),
                _ => self.op(op),
            }
        }
        last
    }

    fn operands(&self, op: &Op) -> Values {
        op.operands
            .iter()
            .map(|o| match o.arg {
                Arg::Value(v) => self.get(v),
                Arg::Int(v) => Val::Scalar(Some(Number::Int(v.into()))),
            })
            .collect()
    }

    fn op(&mut self, op: &Op) {
        match &op.kind {
            OpKind::Pto(opcode, form) => self.instruction(op, *opcode, *form),
            OpKind::Other(_) | OpKind::Call(_) => self.stranger(op),
            OpKind::Constant(value) => self.constant(op, *value),
            OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Cast(_) => self.compute(op),
            OpKind::Select => self.select(op),
            OpKind::For => self.repeat(op),
            OpKind::If => self.choose(op),
            OpKind::While => self.repeat_while(op),
            OpKind::Yield | OpKind::Condition | OpKind::Return => {}
        }
    }

    /// What is not of the table changes tiles in unknown ways; its results are values of their types.
    fn stranger(&mut self, op: &Op) {
        for result in &op.results {
            let val = self.unknown(*result);
            self.set(*result, val);
        }
    }

    fn constant(&mut self, op: &Op, value: Number) {
        let Some(result) = op.results.first() else { return };
        let ty = self.scalar_type(*result);
        let value = match (ty, value) {
            (ScalarType::Float(elem), Number::Float(v)) if elem.encode_exact(&value).is_none() => {
                elem.decode(elem.encode_f64(v, Overflow::Infinity))
            }
            (ScalarType::Float(_), _) | (_, Number::Float(_)) => value,
            (_, Number::Int(v)) => Number::Int(scalar::wrap(v, ty.bits())),
        };
        self.set(*result, Val::Scalar((!self.dead).then_some(value)));
    }

    fn compute(&mut self, op: &Op) {
        let Some(result) = op.results.first() else { return };
        let raw = |n: usize| -> Option<i128> {
            match op.operands.get(n)?.arg {
                Arg::Int(v) => Some(v.into()),
                Arg::Value(v) => match self.get(v) {
                    Val::Scalar(Some(Number::Int(v))) => Some(v),
                    _ => None,
                },
            }
        };
        let from = op.operands.first().and_then(|o| o.arg.value()).map_or(64, |v| self.scalar_type(v).bits());
        let to = self.scalar_type(*result).bits();
        let compute = || match op.kind {
            OpKind::Arith(arith) => scalar::arith(arith, raw(0)?, raw(1)?, to),
            OpKind::Cmp(pred) => Some(-i128::from(scalar::compare(pred, raw(0)?, raw(1)?, from))),
            OpKind::Cast(cast) => Some(scalar::cast(cast, raw(0)?, from, to)),
            _ => None,
        };
        let value = compute().filter(|_| !self.dead).map(Number::Int);
        self.set(*result, Val::Scalar(value));
    }

    fn select(&mut self, op: &Op) {
        let values = self.operands(op);
        let [condition, yes, no] = values.as_slice() else {
            return;
        };
        let chosen = match truth(*condition) {
            Some(true) => *yes,
            Some(false) => *no,
            None => self.state.either(*yes, *no),
        };
        if let Some(result) = op.results.first() {
            self.set(*result, chosen);
        }
    }

    fn set_args(&mut self, block: BlockId, values: impl IntoIterator<Item = Val>) {
        let func = self.func;
        for (arg, val) in func.block(block).args.iter().zip(values) {
            self.set(*arg, val);
        }
    }

    fn set_results(&mut self, op: &Op, values: &[Val]) {
        for (result, val) in op.results.iter().zip(values) {
            self.set(*result, *val);
        }
    }

    fn choose(&mut self, op: &Op) {
        let condition = self.operands(op).first().copied().unwrap_or_default();
        let walk = |this: &mut Self, n: usize| op.blocks.get(n).map(|b| this.block(*b)).unwrap_or_default();
        if let Some(yes) = truth(condition) {
            let values = walk(self, if yes { 0 } else { 1 });
            return self.set_results(op, &values);
        }
        let (yes, then) = self.apart(|this| walk(this, 0));
        let (no, otherwise) = self.apart(|this| walk(this, 1));
        self.state.join(then, otherwise);
        let values: Values = yes.into_iter().zip(no).map(|(a, b)| self.state.either(a, b)).collect();
        self.set_results(op, &values);
    }

    /// Walks something and takes back what it changed.
    fn apart(&mut self, walk: impl FnOnce(&mut Self) -> Values) -> (Values, Outcome) {
        let mark = self.state.branch();
        let values = walk(self);
        (values, self.state.undo(&mark))
    }

    fn repeat(&mut self, op: &Op) {
        let (Some(block), Some(bounds)) = (op.blocks.first(), op.operands.get(..3)) else {
            return;
        };
        let bound = |n: usize| bounds.get(n).and_then(|o| self.int(o.arg));
        let known = (bound(0), bound(1), bound(2));
        let mut carried: Values = self.operands(op).into_iter().skip(3).collect();
        if let (Some(lower), Some(upper), Some(step)) = known
            && step > 0
        {
            let variable = self.func.block(*block).args.first().copied();
            let mut i = lower;
            while i < upper && self.budget > 0 {
                // An empty body costs too.
                self.budget = self.budget.saturating_sub(1);
                let iv = Val::Scalar(Some(Number::Int(i)));
                self.set_args(*block, std::iter::once(iv).chain(carried.iter().copied()));
                if let Some(variable) = variable {
                    self.frames.push(Frame { variable, value: i, first: i == lower });
                }
                carried = self.block(*block);
                self.frames.pop();
                i = i.saturating_add(step);
            }
            if i >= upper {
                return self.set_results(op, &carried);
            }
        }
        self.once(op, &carried);
    }

    fn repeat_while(&mut self, op: &Op) {
        let (Some(before), Some(after)) = (op.blocks.first(), op.blocks.get(1)) else {
            return;
        };
        let mut carried = self.operands(op);
        while self.budget > 0 {
            self.set_args(*before, carried.iter().copied());
            let mut handed = self.block(*before);
            let condition = if handed.is_empty() { Val::None } else { handed.remove(0) };
            match truth(condition) {
                Some(true) => {
                    self.set_args(*after, handed.iter().copied());
                    carried = self.block(*after);
                }
                Some(false) => return self.set_results(op, &handed),
                None => break,
            }
        }
        self.once(op, &carried);
    }

    /// Walks the blocks of a loop once, for any iteration: what changes in it is unknown.
    fn once(&mut self, op: &Op, carried: &[Val]) {
        let func = self.func;
        let (values, ran) = self.apart(|this| {
            for block in &op.blocks {
                this.forget(*block);
            }
            let mut last = Values::new();
            for block in &op.blocks {
                for arg in &func.block(*block).args {
                    let val = this.unknown(*arg);
                    this.set(*arg, val);
                }
                last = this.block(*block);
            }
            last
        });
        let (_, skipped) = self.apart(|_| Values::new());
        self.state.join(ran, skipped);
        let results: Values = op
            .results
            .iter()
            .enumerate()
            .map(|(n, result)| match (carried.get(n), values.get(n)) {
                // The results of a while are what its condition hands on, which need not be what is carried.
                (Some(a), Some(b)) if op.kind == OpKind::For => self.state.either(*a, *b),
                _ => self.unknown(*result),
            })
            .collect();
        self.set_results(op, &results);
    }

    /// What operations of a block change in tiles from outside it is no longer known.
    fn forget(&mut self, block: BlockId) {
        let func = self.func;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            for operand in &op.operands {
                if let (Some(opcode), Some(value)) = (op.opcode(), operand.arg.value())
                    && let Val::Tile(object) = self.get(value)
                {
                    self.forget_tile(object, opcode, operand.role);
                }
            }
            match op.opcode() {
                Some(Opcode::Setfmatrix) | Some(Opcode::SetImg2colPadding) => self.forget_config(),
                _ => {}
            }
            for inner in &op.blocks {
                self.forget(*inner);
            }
        }
    }

    /// Checks blocks that the walk never entered: nothing is known there but types.
    fn sweep(&mut self, block: BlockId) {
        let func = self.func;
        let ops = &func.block(block).ops;
        let entered = ops.first().is_none_or(|id| self.visited.get(id.index()).copied().unwrap_or(true));
        if !entered {
            for arg in &func.block(block).args {
                let val = self.unknown(*arg);
                self.set(*arg, val);
            }
            self.block(block);
        }
        for id in ops {
            for inner in &func.op(*id).blocks {
                self.sweep(*inner);
            }
        }
    }
}

fn truth(val: Val) -> Option<bool> {
    match val {
        Val::Scalar(Some(Number::Int(v))) => Some(v != 0),
        _ => None,
    }
}
