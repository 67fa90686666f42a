//! The walk: control flow and scalars.

use super::report::Report;
use super::state::{Outcome, State, Val};
use super::tiles::TypeFacts;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::edges::{Control, For, If, Select, While};
use tessera_ir::scalar::Constants;
use tessera_ir::{
    Arg, BlockId, Core, Func, Module, Op, OpKind, Operand, Runs, ScalarType, Sign, Type, ValueId, scalar,
};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::{Fault, Span};
use tessera_isa::inst::Inst;
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
    /// Integers that are the same whenever the program runs.
    pub constants: Constants,
    /// Addresses that TASSIGN gives to values before their definition (syntax.md 1).
    pub early: FxHashMap<ValueId, Option<i128>>,
    /// The number of the next automatic storage.
    pub next_auto: u32,
    /// The kind of core whose code is walked.
    pub core: Option<Core>,
    /// Whether it has micro instructions: pointers on the chip are byte addresses then.
    pub is_micro: bool,
    /// In code that is never reached no value means anything.
    pub dead: bool,
    /// In loops: what each instruction last passed as, since most turns ask the same.
    pub passed: FxHashMap<Span, Inst>,
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
            constants: Constants::default(),
            early: FxHashMap::default(),
            next_auto: 0,
            core: if let Runs::One(core) = func.runs() { Some(core) } else { None },
            is_micro: func.ops.iter().any(|op| matches!(op.kind, OpKind::Micro(_))),
            dead: false,
            passed: FxHashMap::default(),
            visited: vec![false; func.ops.len()],
            budget: BUDGET,
            frames: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        let broken = tessera_ir::verify(self.module, self.func);
        if !broken.is_empty() {
            return self.report.diagnostics.extend(broken);
        }
        self.constants = Constants::new(self.module, self.func);
        self.func.args.iter().for_each(|arg| self.set_by_type(*arg, true));
        self.block(self.func.body);
        self.dead = true;
        self.sweep(self.func.body);
    }

    pub(super) fn get(&self, value: ValueId) -> Val {
        self.state.env[value.index()]
    }

    pub(super) fn set(&mut self, value: ValueId, val: Val) {
        self.state.env[value.index()] = val;
    }

    pub(super) fn ty(&self, value: ValueId) -> &'a Type {
        self.module.types.get(self.func.value(value).ty)
    }

    pub(super) fn scalar_type(&self, value: ValueId) -> ScalarType {
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
        let Val::Scalar(Some(number)) = self.val(arg) else { return None };
        match (arg.value().map(|v| self.scalar_type(v)), number) {
            (Some(ScalarType::Int(n, Sign::Unsigned)), Number::Int(v)) => {
                Some(Number::Int(scalar::unsigned(v as i64, n.into()).into()))
            }
            _ => Some(number),
        }
    }

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

    pub(super) fn block(&mut self, block: BlockId) {
        let func = self.func;
        for id in &func.block(block).ops {
            self.visited[id.index()] = true;
            self.budget = self.budget.saturating_sub(1);
            self.op(func.op(*id));
        }
    }

    fn val(&self, arg: Arg) -> Val {
        match arg {
            Arg::Value(v) => self.get(v),
            Arg::Int(v) => Val::Scalar(Some(Number::Int(v.into()))),
        }
    }

    fn vals(&self, operands: &[Operand]) -> Values {
        operands.iter().map(|o| self.val(o.arg)).collect()
    }

    /// The integer at an operand's place as it is kept, whatever its type reads it as.
    fn bits(&self, arg: Arg) -> Option<i128> {
        match self.val(arg) {
            Val::Scalar(Some(Number::Int(v))) => Some(v),
            _ => None,
        }
    }

    fn truth(&self, condition: Arg) -> Option<bool> {
        self.bits(condition).map(|v| v != 0)
    }

    fn op(&mut self, op: &Op) {
        match &op.kind {
            OpKind::Pto(opcode, _) if self.is_micro && self.chip_pointer(op, *opcode) => {}
            OpKind::Pto(opcode, form) => self.instruction(op, *opcode, *form),
            OpKind::Micro(_) => self.micro(op),
            // What is not of the table changes tiles in unknown ways; its results are values of their types.
            OpKind::Other(_) | OpKind::Call(_) => self.set_unknowns(&op.results),
            OpKind::Constant(value) => self.constant(op, *value),
            OpKind::Dense(_) => op.results.iter().for_each(|vector| self.set_by_type(*vector, true)),
            OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Cast(_) => self.compute(op),
            OpKind::Float(_) | OpKind::CmpFloat(_) => self.set_unknowns(&op.results),
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => match Control::of(self.func, op) {
                Ok(Control::For(f)) => self.repeat(op, f),
                Ok(Control::If(i)) => {
                    let outside = self.core;
                    self.core = outside.or(op.section_core());
                    self.choose(i);
                    self.core = outside;
                }
                Ok(Control::While(w)) => self.repeat_while(op, w),
                Ok(Control::Select(s)) => self.select(s),
                Err(broken) => self.report.diagnostics.push(*broken),
            },
            OpKind::Yield | OpKind::Condition | OpKind::Return => {}
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
            (_, Number::Int(v)) => Number::Int(scalar::wrap(v as i64, ty.bits()).into()),
        };
        self.set(*result, Val::Scalar((!self.dead).then_some(value)));
    }

    fn compute(&mut self, op: &Op) {
        let Some(result) = op.results.first() else { return };
        let int = |arg: Arg| self.bits(arg).map(|v| v as i64);
        // What has no value is not known here; the run reports it.
        let value = scalar::compute(self.module, self.func, op, int).and_then(Result::ok).filter(|_| !self.dead);
        self.set(*result, Val::Scalar(value.map(|v| Number::Int(v.into()))));
    }

    fn select(&mut self, s: Select<'_>) {
        let [yes, no] = s.choices.map(|c| self.val(c.arg));
        let chosen = match self.truth(s.condition) {
            Some(true) => yes,
            Some(false) => no,
            None => self.state.either(yes, no),
        };
        self.set_all(s.results, &[chosen]);
    }

    fn set_all(&mut self, to: &[ValueId], values: &[Val]) {
        for (value, val) in to.iter().zip(values) {
            self.set(*value, *val);
        }
    }

    fn choose(&mut self, i: If<'_>) {
        let walk = |this: &mut Self, n: usize| {
            this.block(i.blocks[n]);
            this.vals(i.yields[n])
        };
        if let Some(yes) = self.truth(i.condition) {
            let values = walk(self, usize::from(!yes));
            return self.set_all(i.results, &values);
        }
        let (yes, then) = self.apart(|this| walk(this, 0));
        let (no, otherwise) = self.apart(|this| walk(this, 1));
        self.state.join(then, otherwise);
        let values: Values = yes.into_iter().zip(no).map(|(a, b)| self.state.either(a, b)).collect();
        self.set_all(i.results, &values);
    }

    /// Walks something and takes back what it changed.
    fn apart(&mut self, walk: impl FnOnce(&mut Self) -> Values) -> (Values, Outcome) {
        let mark = self.state.branch();
        let values = walk(self);
        (values, self.state.undo(&mark))
    }

    /// Is this a turn of a loop that is walked turn by turn?
    pub(super) fn in_turn(&self) -> bool {
        !self.frames.is_empty()
    }

    fn repeat(&mut self, op: &Op, f: For<'_>) {
        let known = (self.int(f.lower), self.int(f.upper), self.int(f.step));
        if let Some(step) = known.2.filter(|step| *step <= 0) {
            let fault = Fault::new("loop", format!("the loop steps by {step}")).help("a step is at least 1");
            self.report.fault(op, "never ends", fault);
        }
        let mut carried = self.vals(f.inits);
        if let (Some(lower), Some(upper), Some(step)) = known
            && step > 0
        {
            let mut i = lower;
            while i < upper && self.budget > 0 {
                // An empty body costs too.
                self.budget = self.budget.saturating_sub(1);
                self.set(f.variable, Val::Scalar(Some(Number::Int(i))));
                self.set_all(f.carried, &carried);
                self.frames.push(Frame { variable: f.variable, value: i, first: i == lower });
                self.block(f.body);
                self.frames.pop();
                carried = self.vals(f.yields);
                i = i.saturating_add(step);
            }
            if i >= upper {
                return self.set_all(f.results, &carried);
            }
        }
        let yielded = self.once(op, f.yields);
        let results: Values = carried.into_iter().zip(yielded).map(|(a, b)| self.state.either(a, b)).collect();
        self.set_all(f.results, &results);
    }

    fn repeat_while(&mut self, op: &Op, w: While<'_>) {
        let mut carried = self.vals(w.inits);
        while self.budget > 0 {
            self.set_all(w.carried, &carried);
            self.block(w.before);
            let handed = self.vals(w.handed);
            match self.truth(w.condition) {
                Some(true) => {
                    self.set_all(w.taken, &handed);
                    self.block(w.after);
                    carried = self.vals(w.yields);
                }
                Some(false) => return self.set_all(w.results, &handed),
                None => break,
            }
        }
        self.once(op, w.yields);
        // What the condition hands on at last need not be what is carried.
        self.set_unknowns(&op.results);
    }

    /// Walks the blocks of a loop once, for any iteration: what changes in it is unknown. Gives what it yields.
    fn once(&mut self, op: &Op, yields: &[Operand]) -> Values {
        let func = self.func;
        let (values, ran) = self.apart(|this| {
            for block in &op.blocks {
                this.forget(*block);
            }
            for block in &op.blocks {
                this.set_unknowns(&func.block(*block).args);
                this.block(*block);
            }
            this.vals(yields)
        });
        let (_, skipped) = self.apart(|_| Values::new());
        self.state.join(ran, skipped);
        values
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
            if matches!(op.opcode(), Some(Opcode::Setfmatrix | Opcode::SetImg2colPadding)) {
                self.forget_config();
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
        let entered = ops.first().is_none_or(|id| self.visited[id.index()]);
        if !entered {
            self.set_unknowns(&func.block(block).args);
            self.block(block);
        }
        for id in ops {
            for inner in &func.op(*id).blocks {
                self.sweep(*inner);
            }
        }
    }
}
